#include "tests/recorded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

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

std::vector<std::vector<HostTensor>> Run(const xla::Client& client, const ir::Graph& graph,
                                         std::span<const std::vector<HostTensor>> arguments) {
  ir::Verify(graph);
  const auto program =
      client.Compile(ir::ToStablehlo(graph), {.num_replicas = static_cast<int>(arguments.size())});
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
