// Every layer against Keras: tests/recorded/layers.json. Cases of one class share one program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/layer.h"
#include "flatout/nn/model.h"
#include "tests/recorded.h"

namespace flatout::testing {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-5;

// Where we differ from Keras on purpose; tests/layers_test.cc says what we do instead.
const std::map<std::string, std::string>& Deviations() {
  static const std::map<std::string, std::string> names = {
      {"activation_sparsemax", "Keras's rows do not sum to 1, as sparsemax's do by definition"},
      {"random_crop_infer", "Keras leaves the image whole, so its shape would depend on the mode"},
  };
  return names;
}

const std::map<std::string, std::vector<json>>& CasesByLayer() {
  static const std::map<std::string, std::vector<json>> cases = [] {
    std::map<std::string, std::vector<json>> result;
    const json recorded = LoadRecorded("layers.json");
    for (const json& one : recorded.at("cases")) {
      if (Deviations().contains(one.at("name").get<std::string>())) continue;
      result[one.at("layer").get<std::string>()].push_back(one);
    }
    return result;
  }();
  return cases;
}

// Keras numbers the layers inside of wrappers ("forward_lstm_3"); the number says nothing here.
std::string WithoutNumbers(const std::string& path) {
  return std::regex_replace(path, std::regex("_[0-9]+(/|$)"), "$1");
}

// What one case adds to the program, and what should come back.
struct Expected {
  std::string what;
  HostTensor value;
};

class Program {
 public:
  void AddCase(const json& one) {
    const auto name = one.at("name").get<std::string>();
    Config config = ToConfig(one.at("config"));
    for (const auto& [key, value] : one.at("call").items()) config.Set(key, ToConfig(value));
    config.Set("class", Config(one.at("layer").get<std::string>()));
    config.Set("name", Config(name));
    const nn::LayerPtr layer = nn::LayerFromConfig(config);

    std::vector<ir::Value> inputs;
    for (const json& input : one.at("inputs")) {
      arguments_.push_back(ReadTensor(input));
      inputs.push_back(graph_.AddParameter(arguments_.back().shape, name + "/input"));
    }
    const bool training = one.at("training").get<bool>();
    std::vector<nn::Variable> variables;
    nn::Context context(graph_, {.training = training}, &variables);
    const size_t first_weight = graph_.parameters().size();
    const std::vector<ir::Value> results = context.Call(*layer, inputs);
    ASSERT_EQ(results.size(), 1U) << name;

    // Weights: ours in order, each found among Keras's by its name.
    struct Bound {
      ir::Value value;
      size_t recorded;
    };
    std::vector<Bound> bound;
    std::set<size_t> used;
    for (size_t i = 0; i < variables.size(); ++i) {
      const nn::Variable& variable = variables[i];
      const std::string path = variable.path.substr(name.size() + 1);
      size_t found = one.at("weights").size();
      for (size_t k = 0; k < one.at("weights").size(); ++k) {
        const auto theirs = one.at("weights")[k].at("name").get<std::string>();
        if (WithoutNumbers(theirs) == WithoutNumbers(path)) found = k;
      }
      ASSERT_LT(found, one.at("weights").size()) << name << ": Keras has no weight " << path;
      const json& weight = one.at("weights")[found];
      EXPECT_EQ(weight.at("trainable").get<bool>(), variable.trainable) << variable.path;
      arguments_.push_back(ReadTensor(weight.at("value")));
      bound.push_back({graph_.parameters()[first_weight + i], found});
      // Keras's order within a layer, so that weight files match.
      EXPECT_TRUE(used.empty() || *used.rbegin() < found) << name << ": order of " << path;
      used.insert(found);
    }
    for (size_t k = 0; k < one.at("weights").size(); ++k) {
      // Keras keeps the number of samples that adapt saw; nothing is computed from it.
      const auto theirs = one.at("weights")[k].at("name").get<std::string>();
      EXPECT_TRUE(used.contains(k) || theirs == "count") << name << ": no weight " << theirs;
    }

    outputs_.push_back(ir::Convert(results[0], ir::DType::kF32));
    expected_.push_back({name + ": output", ReadTensor(one.at("output"))});
    if (training) {
      for (size_t i = 0; i < bound.size(); ++i) {
        const json& updated = one.at("updated_weights")[bound[i].recorded];
        if (updated.is_null()) continue;
        outputs_.push_back(context.Lookup(variables[i].path));
        expected_.push_back({variables[i].path + " after", ReadTensor(updated)});
      }
    }

    std::vector<ir::Value> sources;
    std::vector<Expected> gradients;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const json& gradient = one.at("input_gradients")[i];
      if (gradient.is_null()) continue;
      sources.push_back(inputs[i]);
      gradients.push_back({fmt::format("{}: gradient of input {}", name, i), ReadTensor(gradient)});
    }
    for (size_t i = 0; i < bound.size(); ++i) {
      const json& gradient = one.at("weight_gradients")[bound[i].recorded];
      if (gradient.is_null()) continue;
      sources.push_back(bound[i].value);
      gradients.push_back({variables[i].path + ": gradient", ReadTensor(gradient)});
    }
    if (sources.empty()) return;
    const HostTensor cotangent = ReadTensor(one.at("output_cotangent"));
    arguments_.push_back(cotangent);
    const ir::Value seed = graph_.AddParameter(cotangent.shape, name + "/cotangent");
    const ir::Value target = ir::ReduceSum(ir::Convert(results[0], ir::DType::kF32) * seed);
    const std::vector<ir::Value> found = ir::Gradient(target, sources);
    for (size_t i = 0; i < found.size(); ++i) {
      outputs_.push_back(found[i]);
      expected_.push_back(std::move(gradients[i]));
    }
  }

  void RunAndCompare() {
    graph_.SetOutputs(outputs_);
    const std::vector<HostTensor> results = RunGraph(graph_, arguments_);
    ASSERT_EQ(results.size(), expected_.size());
    for (size_t i = 0; i < results.size(); ++i) {
      ExpectClose(results[i], expected_[i].value, kTolerance, expected_[i].what);
    }
  }

 private:
  ir::Graph graph_{"main"};
  std::vector<HostTensor> arguments_;
  std::vector<ir::Value> outputs_;
  std::vector<Expected> expected_;
};

class RecordedLayerTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedLayerTest, EqualsKeras) {
  Program program;
  for (const json& one : CasesByLayer().at(GetParam())) {
    ASSERT_NO_FATAL_FAILURE(
        WithContext(one.at("name").get<std::string>(), [&] { program.AddCase(one); }));
  }
  program.RunAndCompare();
}

std::vector<std::string> RecordedLayers() {
  std::vector<std::string> names;
  for (const auto& [name, cases] : CasesByLayer()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedLayerTest, ::testing::ValuesIn(RecordedLayers()),
                         [](const auto& info) { return info.param; });

TEST(LayerTableTest, EveryRowIsRecorded) {
  // Not Keras's own; tests/layers_test.cc and flatout/nn have tests of their own for them.
  const std::set<std::string> kOthers = {"ReversibleEmbedding", "EmbeddingCollection",
                                         "DotInteraction", "PositionEmbedding", "RandomCrop"};
  // Keras's class goes by two names, and so do we.
  const std::map<std::string, std::string> kAliases = {
      {"GroupQueryAttention", "GroupedQueryAttention"}};
  for (const nn::LayerDef& def : nn::LayerTable()) {
    std::string type(def.type);
    if (kAliases.contains(type)) type = kAliases.at(type);
    EXPECT_TRUE(CasesByLayer().contains(type) || kOthers.contains(type))
        << type << " has no case in tests/recorded/layers.json";
  }
}

TEST(RegularizerTest, EqualKeras) {
  ir::Graph graph("main");
  std::vector<HostTensor> arguments;
  std::vector<ir::Value> outputs;
  std::vector<Expected> expected;
  const json recorded = LoadRecorded("regularizers.json");
  for (const json& one : recorded.at("cases")) {
    if (one.at("regularizer") == "OrthogonalRegularizer") continue;  // not one of ours
    Config config = ToConfig(one.at("config"));
    config.Set("class", Config(one.at("regularizer").get<std::string>()));
    nn::Regularizer regularizer;
    nn::ReadConfig(config, regularizer);
    arguments.push_back(ReadTensor(one.at("input")));
    const ir::Value x = graph.AddParameter(arguments.back().shape, "x");
    const ir::Value value =
        regularizer.empty() ? ir::ReduceSum(x) * 0.0 : nn::Penalty(regularizer, x);
    const auto name = one.at("name").get<std::string>();
    outputs.push_back(value);
    expected.push_back(
        {name, {ir::Shape::Scalar(ir::DType::kF32), {one.at("value").get<double>()}}});
    outputs.push_back(ir::Gradient(value, std::vector<ir::Value>{x})[0]);
    expected.push_back({name + " gradient", ReadTensor(one.at("gradient"))});
  }
  graph.SetOutputs(outputs);
  const std::vector<HostTensor> results = RunGraph(graph, arguments);
  for (size_t i = 0; i < results.size(); ++i) {
    ExpectClose(results[i], expected[i].value, kTolerance, expected[i].what);
  }
}

}  // namespace
}  // namespace flatout::testing
