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

std::vector<HostTensor> RunGraph(const ir::Graph& graph, std::span<const HostTensor> arguments) {
  static const std::shared_ptr<xla::Client> client =
      xla::Client::Create(xla::Plugin::Load("cpu"), {});
  if (arguments.size() != graph.parameters().size()) {
    throw Internal("{} arguments for {} parameters", arguments.size(), graph.parameters().size());
  }
  ir::Verify(graph);
  const auto program = client->Compile(ir::ToStablehlo(graph), {});
  std::vector<xla::Buffer> buffers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::Shape& shape = graph.parameters()[i].shape();
    if (shape.dims != arguments[i].shape.dims) {
      throw Internal("parameter {} is {}, its argument {}", graph.parameter_name(i),
                     shape.ToString(), arguments[i].shape.ToString());
    }
    std::vector<std::byte> bytes(static_cast<size_t>(shape.bytes()));
    const auto step = static_cast<size_t>(ir::ByteSize(shape.dtype));
    for (size_t k = 0; k < arguments[i].data.size(); ++k) {
      ir::StoreElement(shape.dtype, arguments[i].data[k], bytes.data() + k * step);
    }
    buffers.push_back(client->FromHost(bytes.data(), shape, client->devices()[0]));
  }
  std::vector<xla::Buffer*> pointers;
  for (xla::Buffer& buffer : buffers) pointers.push_back(&buffer);
  const xla::Execution run = program->Execute(pointers);
  run.Await();
  std::vector<HostTensor> results;
  for (const xla::Buffer& output : run.outputs[0]) {
    HostTensor result{output.shape(), {}};
    const auto bytes = output.ToVector<std::byte>();
    const auto step = static_cast<size_t>(ir::ByteSize(result.shape.dtype));
    for (int64_t k = 0; k < result.shape.size(); ++k) {
      result.data.push_back(
          ir::LoadElement(result.shape.dtype, bytes.data() + static_cast<size_t>(k) * step));
    }
    results.push_back(std::move(result));
  }
  return results;
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

}  // namespace flatout::testing
