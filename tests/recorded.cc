#include "tests/recorded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/ir/verifier.h"
#include "flatout/xla/pjrt.h"

namespace flatout::testing {

nlohmann::json LoadRecorded(const std::string& name) {
  const std::string path = std::string(FLATOUT_SOURCE_DIR) + "/tests/recorded/" + name;
  std::ifstream file(path);
  if (!file) throw NotFound("cannot read {}", path);
  return nlohmann::json::parse(file);
}

HostTensor ReadTensor(const nlohmann::json& tensor) {
  HostTensor result;
  result.shape = ir::Shape(ir::ParseDType(tensor.at("dtype").get<std::string>()),
                           tensor.at("shape").get<std::vector<int64_t>>());
  for (const auto& element : tensor.at("data")) {
    if (element.is_string()) {
      const auto text = element.get<std::string>();
      result.data.push_back(text == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                          : (text == "inf" ? 1 : -1) *
                                                std::numeric_limits<double>::infinity());
    } else {
      result.data.push_back(element.get<double>());
    }
  }
  if (static_cast<int64_t>(result.data.size()) != result.shape.size()) {
    throw Internal("a recorded tensor of {} holds {} elements", result.shape.ToString(),
                   result.data.size());
  }
  return result;
}

Config ToConfig(const nlohmann::json& value) {
  if (value.is_null()) return Config::Array();
  if (value.is_boolean()) return Config(value.get<bool>());
  if (value.is_number_integer()) return Config(value.get<int64_t>());
  if (value.is_number()) return Config(value.get<double>());
  if (value.is_string()) return Config(value.get<std::string>());
  if (value.is_array()) {
    std::vector<Config> items;
    for (const auto& item : value) items.push_back(ToConfig(item));
    return Config::Array(std::move(items));
  }
  Config table = Config::Table();
  if (value.contains("class_name")) {
    table = ToConfig(value.at("config"));
    table.Set("class", Config(value.at("class_name").get<std::string>()));
    return table;
  }
  for (const auto& [key, item] : value.items()) table.Set(key, ToConfig(item));
  return table;
}

namespace {

xla::Buffer ToDevice(const xla::Client& client, const xla::Device& device, const ir::Graph& graph,
                     size_t parameter, const HostTensor& value) {
  const ir::Shape& shape = graph.parameters()[parameter].shape();
  if (shape.dims != value.shape.dims) {
    throw Internal("parameter {} is {}, its argument {}", graph.parameter_name(parameter),
                   shape.ToString(), value.shape.ToString());
  }
  std::vector<std::byte> bytes(static_cast<size_t>(shape.bytes()));
  const auto step = static_cast<size_t>(ir::ByteSize(shape.dtype));
  for (size_t k = 0; k < value.data.size(); ++k) {
    ir::StoreElement(shape.dtype, value.data[k], bytes.data() + k * step);
  }
  return client.FromHost(bytes.data(), shape, device);
}

HostTensor FromDevice(const xla::Buffer& buffer) {
  HostTensor result{buffer.shape(), {}};
  const auto bytes = buffer.ToVector<std::byte>();
  const auto step = static_cast<size_t>(ir::ByteSize(result.shape.dtype));
  for (int64_t k = 0; k < result.shape.size(); ++k) {
    result.data.push_back(
        ir::LoadElement(result.shape.dtype, bytes.data() + static_cast<size_t>(k) * step));
  }
  return result;
}

// These programs run for microseconds: what counts is how long they take to compile. Some come
// again with other arguments.
std::shared_ptr<xla::Executable> Compiled(const xla::Client& client, const std::string& text,
                                          int replicas) {
  constexpr size_t kKept = 32;
  static std::map<std::pair<int, std::string>, std::shared_ptr<xla::Executable>> compiled;
  if (compiled.size() > kKept) compiled.clear();
  auto& executable = compiled[{replicas, text}];
  if (!executable) {
    executable =
        client.Compile(text, {.num_replicas = replicas,
                              .env_overrides = {{"xla_backend_optimization_level", "0"},
                                                {"xla_llvm_disable_expensive_passes", "true"}}});
  }
  return executable;
}

std::vector<std::vector<HostTensor>> Run(const xla::Client& client, const ir::Graph& graph,
                                         std::span<const std::vector<HostTensor>> arguments) {
  ir::Verify(graph);
  const auto program = Compiled(client, ir::ToStablehlo(graph), static_cast<int>(arguments.size()));
  std::vector<xla::Buffer> buffers;
  for (size_t replica = 0; replica < arguments.size(); ++replica) {
    if (arguments[replica].size() != graph.parameters().size()) {
      throw Internal("{} arguments for {} parameters", arguments[replica].size(),
                     graph.parameters().size());
    }
    for (size_t i = 0; i < arguments[replica].size(); ++i) {
      buffers.push_back(ToDevice(client, program->device(static_cast<int>(replica)), graph, i,
                                 arguments[replica][i]));
    }
  }
  std::vector<const xla::Buffer*> pointers;
  for (const xla::Buffer& buffer : buffers) pointers.push_back(&buffer);
  const xla::Execution run = program->Execute(pointers);
  run.Await();
  std::vector<std::vector<HostTensor>> results;
  for (const auto& outputs : run.outputs) {
    auto& result = results.emplace_back();
    for (const xla::Buffer& output : outputs) result.push_back(FromDevice(output));
  }
  return results;
}

}  // namespace

std::vector<HostTensor> RunGraph(const ir::Graph& graph, std::span<const HostTensor> arguments) {
  static const std::shared_ptr<xla::Client> client =
      xla::Client::Create(xla::Plugin::Load("cpu"), {});
  const std::vector<HostTensor> one(arguments.begin(), arguments.end());
  return Run(*client, graph, std::span(&one, 1))[0];
}

std::vector<std::vector<HostTensor>> RunOnTwo(const ir::Graph& graph,
                                              std::span<const std::vector<HostTensor>> arguments) {
  static const std::shared_ptr<xla::Client> client =
      xla::Client::Create(xla::Plugin::Load("cpu"), {.cpu_device_count = 2});
  if (arguments.size() != 2) throw Internal("arguments of {} replicas, not 2", arguments.size());
  return Run(*client, graph, arguments);
}

const std::map<std::string, std::vector<nlohmann::json>>& RecordedLayers() {
  // Keras's sparsemax gives rows that do not sum to 1, as sparsemax's do by definition; its
  // RandomCrop leaves an image whole at inference, so that shapes would depend on the mode.
  static const std::set<std::string> deviations = {"activation_sparsemax", "random_crop_infer"};
  static const std::map<std::string, std::vector<nlohmann::json>> cases = [] {
    std::map<std::string, std::vector<nlohmann::json>> result;
    const nlohmann::json recorded = LoadRecorded("layers.json");
    for (const nlohmann::json& one : recorded.at("cases")) {
      if (deviations.contains(one.at("name").get<std::string>())) continue;
      result[one.at("layer").get<std::string>()].push_back(one);
    }
    return result;
  }();
  return cases;
}

namespace {

// Keras numbers the layers inside of wrappers ("forward_lstm_3"); the number says nothing here.
std::string WithoutNumbers(const std::string& path) {
  static const std::regex number("_[0-9]+(/|$)");
  return std::regex_replace(path, number, "$1");
}

}  // namespace

void LayerProgram::Add(const nlohmann::json& one) {
  const auto name = one.at("name").get<std::string>();
  Config config = ToConfig(one.at("config"));
  for (const auto& [key, value] : one.at("call").items()) config.Set(key, ToConfig(value));
  config.Set("class", Config(one.at("layer").get<std::string>()));
  config.Set("name", Config(name));
  const nn::LayerPtr layer = nn::LayerFromConfig(config);

  std::vector<ir::Value> inputs;
  for (const auto& input : one.at("inputs")) {
    arguments_.push_back(ReadTensor(input));
    inputs.push_back(graph_.AddParameter(arguments_.back().shape, name + "/input"));
  }
  const bool training = one.at("training").get<bool>();
  std::vector<nn::Variable> variables;
  nn::Context context(graph_, {.training = training, .policy = policy_}, &variables);
  const size_t first_weight = graph_.parameters().size();
  const std::vector<ir::Value> results = context.Call(*layer, inputs);
  ASSERT_EQ(results.size(), 1U) << name;
  const ir::Value output = results[0];
  if (ir::IsFloat(output.dtype())) {
    EXPECT_EQ(output.dtype(), policy_.compute) << name << ": the output's dtype";
  }

  // Weights: ours in order, each found among Keras's by its name.
  struct Bound {
    ir::Value value;
    size_t recorded;
  };
  std::vector<Bound> bound;
  std::set<size_t> used;
  const auto& weights = one.at("weights");
  for (size_t i = 0; i < variables.size(); ++i) {
    const nn::Variable& variable = variables[i];
    // Moving statistics stay float32.
    EXPECT_EQ(variable.shape.dtype, variable.trainable ? policy_.variable : ir::DType::kF32)
        << variable.path;
    const std::string path = variable.path.substr(name.size() + 1);
    size_t found = weights.size();
    for (size_t k = 0; k < weights.size(); ++k) {
      const auto theirs = weights[k].at("name").get<std::string>();
      if (WithoutNumbers(theirs) == WithoutNumbers(path)) found = k;
    }
    ASSERT_LT(found, weights.size()) << name << ": Keras has no weight " << path;
    EXPECT_EQ(weights[found].at("trainable").get<bool>(), variable.trainable) << variable.path;
    arguments_.push_back(ReadTensor(weights[found].at("value")));
    bound.push_back({graph_.parameters()[first_weight + i], found});
    // Keras's order within a layer, so that weight files match.
    EXPECT_TRUE(used.empty() || *used.rbegin() < found) << name << ": order of " << path;
    used.insert(found);
  }
  for (size_t k = 0; k < weights.size(); ++k) {
    // Keras keeps the number of samples that adapt saw; nothing is computed from it.
    const auto theirs = weights[k].at("name").get<std::string>();
    EXPECT_TRUE(used.contains(k) || theirs == "count") << name << ": no weight " << theirs;
  }

  const auto expect = [&](ir::Value value, std::string what, const nlohmann::json& recorded) {
    outputs_.push_back(value);
    expected_.emplace_back(std::move(what), ReadTensor(recorded));
  };
  expect(output, name + ": output", one.at("output"));
  if (training) {
    for (size_t i = 0; i < bound.size(); ++i) {
      const auto& updated = one.at("updated_weights")[bound[i].recorded];
      if (updated.is_null()) continue;
      expect(context.Lookup(variables[i].path), variables[i].path + " after", updated);
    }
  }

  std::vector<ir::Value> sources;
  std::vector<std::pair<std::string, const nlohmann::json*>> gradients;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& gradient = one.at("input_gradients")[i];
    if (gradient.is_null()) continue;
    sources.push_back(inputs[i]);
    gradients.emplace_back(fmt::format("{}: gradient of input {}", name, i), &gradient);
  }
  for (size_t i = 0; i < bound.size(); ++i) {
    const auto& gradient = one.at("weight_gradients")[bound[i].recorded];
    if (gradient.is_null()) continue;
    sources.push_back(bound[i].value);
    gradients.emplace_back(variables[i].path + ": gradient", &gradient);
  }
  if (sources.empty()) return;
  const HostTensor cotangent = ReadTensor(one.at("output_cotangent"));
  arguments_.push_back(cotangent);
  const ir::Value seed = graph_.AddParameter(cotangent.shape, name + "/cotangent");
  const ir::Value target = ir::ReduceSum(ir::Convert(output, ir::DType::kF32) * seed);
  const std::vector<ir::Value> found = ir::Gradient(target, sources);
  for (size_t i = 0; i < found.size(); ++i)
    expect(found[i], gradients[i].first, *gradients[i].second);
}

const ir::Graph& LayerProgram::graph() {
  graph_.SetOutputs(outputs_);
  return graph_;
}

void LayerProgram::RunAndCompare(double tolerance) {
  const std::vector<HostTensor> results = RunGraph(graph(), arguments_);
  ASSERT_EQ(results.size(), expected_.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const auto& [what, expected] = expected_[i];
    ExpectFinite(results[i], what);
    ExpectClose(results[i], expected, tolerance, what);
  }
}

void ExpectFinite(const HostTensor& found, const std::string& what) {
  for (size_t i = 0; i < found.data.size(); ++i) {
    ASSERT_TRUE(std::isfinite(found.data[i]))
        << what << ": element " << i << " is " << found.data[i];
  }
}

void ExpectClose(const HostTensor& found, const HostTensor& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(ir::DimsToString(found.shape.dims), ir::DimsToString(expected.shape.dims)) << what;
  double largest = 1;
  for (const double value : expected.data) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < expected.data.size(); ++i) {
    const double a = found.data[i];
    const double b = expected.data[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double error = std::abs(a - b);
    if (!(error <= worst)) {
      worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      where = i;
    }
  }
  EXPECT_LE(worst, tolerance * largest)
      << what << ": element " << where << " of " << ir::DimsToString(expected.shape.dims) << " is "
      << found.data[where] << ", expected " << expected.data[where];
}

nn::Model BuildModel(const nlohmann::json& one, const ir::Shape& input) {
  std::vector<Config> layers;
  for (const nlohmann::json& row : one.at("layers")) {
    Config layer = ToConfig(row.at("config"));
    for (const auto& [key, value] : row.at("call").items()) layer.Set(key, ToConfig(value));
    layer.Set("class", ToConfig(row.at("class")));
    layer.Set("name", ToConfig(row.at("name")));
    layer.Set("inputs", ToConfig(row.at("inputs")));
    layers.push_back(std::move(layer));
  }
  Config table = Config::Table();
  table.Set("layers", Config::Array(std::move(layers)));
  ir::Shape row = input;
  row.dims.erase(row.dims.begin());
  return nn::Model::FromConfig(table, {"input"}, {row});
}

}  // namespace flatout::testing
