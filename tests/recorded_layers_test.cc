// Every layer against Keras: tests/recorded/layers.json. Cases of one class share one program.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
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

class RecordedLayerTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedLayerTest, EqualsKeras) {
  LayerProgram program(nn::Policy::Named("float32"));
  for (const json& one : RecordedLayers().at(GetParam())) {
    ASSERT_NO_FATAL_FAILURE(
        WithContext(one.at("name").get<std::string>(), [&] { program.Add(one); }));
  }
  program.RunAndCompare(kTolerance);
}

std::vector<std::string> LayerNames() {
  std::vector<std::string> names;
  for (const auto& [name, cases] : RecordedLayers()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedLayerTest, ::testing::ValuesIn(LayerNames()),
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
    EXPECT_TRUE(RecordedLayers().contains(type) || kOthers.contains(type))
        << type << " has no case in tests/recorded/layers.json";
  }
}

TEST(RegularizerTest, EqualKeras) {
  ir::Graph graph("main");
  std::vector<HostTensor> arguments;
  std::vector<ir::Value> outputs;
  std::vector<std::pair<std::string, HostTensor>> expected;
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
    expected.emplace_back(
        name, HostTensor{ir::Shape::Scalar(ir::DType::kF32), {one.at("value").get<double>()}});
    outputs.push_back(ir::Gradient(value, std::vector<ir::Value>{x})[0]);
    expected.emplace_back(name + " gradient", ReadTensor(one.at("gradient")));
  }
  graph.SetOutputs(outputs);
  const std::vector<HostTensor> results = RunGraph(graph, arguments);
  for (size_t i = 0; i < results.size(); ++i) {
    ExpectClose(results[i], expected[i].second, kTolerance, expected[i].first);
  }
}

}  // namespace
}  // namespace flatout::testing
