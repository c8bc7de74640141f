#include "tests/op_harness.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/kernels/kernels.h"
#include "flatout/xla/pjrt.h"

namespace flatout::testing {
namespace {

using nlohmann::json;

std::vector<OpCase>& MutableCases() {
  static std::vector<OpCase> cases;
  return cases;
}

std::set<std::string>& UsedRecorded() {
  static std::set<std::string> used;
  return used;
}

double Number(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

Tensor TensorOf(const json& value) {
  Tensor tensor(
      Shape(ir::ParseDType(value.at("dtype").get<std::string>()), value.at("shape").get<Dims>()));
  int64_t i = 0;
  for (const json& element : value.at("data")) {
    if (tensor.shape.dtype == DType::kI64 && element.is_number_integer()) {
      const auto exact = element.get<int64_t>();
      std::memcpy(tensor.bytes.data() + 8 * i, &exact, 8);
    } else if (tensor.shape.dtype == DType::kU64 && element.is_number_integer()) {
      const auto exact = element.get<uint64_t>();
      std::memcpy(tensor.bytes.data() + 8 * i, &exact, 8);
    } else {
      tensor.Set(i, Number(element));
    }
    ++i;
  }
  return tensor;
}

void Flatten(const json& value, Dims& list) {
  for (const json& item : value) {
    if (item.is_array()) {
      Flatten(item, list);
    } else {
      list.push_back(item.get<int64_t>());
    }
  }
}

ir::Attributes AttributesOf(const json& object) {
  ir::Attributes attrs;
  for (const auto& [name, value] : object.items()) {
    if (value.is_boolean()) {
      attrs.Set(name, value.get<bool>());
    } else if (value.is_number_integer()) {
      attrs.Set(name, value.get<int64_t>());
    } else if (value.is_number()) {
      attrs.Set(name, value.get<double>());
    } else if (value.is_string()) {
      attrs.Set(name, value.get<std::string>());
    } else if (value.is_array()) {
      Dims list;
      Flatten(value, list);
      attrs.Set(name, list);
    }
  }
  return attrs;
}

const std::vector<Recorded>& RecordedCases() {
  static const std::vector<Recorded> cases = [] {
    std::ifstream file(FLATOUT_SOURCE_DIR "/tests/recorded/ops.json");
    const json all = json::parse(file);
    std::vector<Recorded> result;
    for (const json& entry : all.at("cases")) {
      Recorded recorded;
      recorded.name = entry.at("name").get<std::string>();
      recorded.op = entry.at("op").get<std::string>();
      recorded.attrs = AttributesOf(entry.at("attrs"));
      for (const json& input : entry.at("inputs")) recorded.inputs.push_back(TensorOf(input));
      for (const json& output : entry.at("outputs")) recorded.outputs.push_back(TensorOf(output));
      result.push_back(std::move(recorded));
    }
    return result;
  }();
  return cases;
}

const xla::Client& ClientOf(std::string_view plugin) {
  static std::map<std::string, std::shared_ptr<xla::Client>, std::less<>> clients;
  auto found = clients.find(plugin);
  if (found == clients.end()) {
    xla::ClientOptions options;
    options.cpu_device_count = 4;
    found =
        clients
            .emplace(std::string(plugin), xla::Client::Create(xla::Plugin::Load(plugin), options))
            .first;
  }
  return *found->second;
}

// The shape of one replica's part of a stacked tensor.
Shape PartOf(const Shape& shape, int replicas) {
  if (replicas == 1) return shape;
  return Shape(shape.dtype, Dims(shape.dims.begin() + 1, shape.dims.end()));
}

std::unique_ptr<Graph> BuildGraph(const OpCase& op_case) {
  auto graph = std::make_unique<Graph>(op_case.name);
  std::vector<Value> inputs;
  for (const Tensor& input : op_case.inputs) {
    inputs.push_back(graph->AddParameter(PartOf(input.shape, op_case.replicas), ""));
  }
  graph->SetOutputs(op_case.build(*graph, inputs));
  return graph;
}

std::string IndexText(const Shape& shape, int64_t flat) {
  Dims index(shape.dims.size());
  for (size_t i = shape.dims.size(); i-- > 0;) {
    index[i] = flat % shape.dims[i];
    flat /= shape.dims[i];
  }
  return ir::DimsToString(index);
}

}  // namespace

Tensor::Tensor(Shape of_shape) : shape(std::move(of_shape)), bytes(shape.bytes()) {}

Tensor::Tensor(Shape of_shape, std::span<const double> values) : Tensor(std::move(of_shape)) {
  if (static_cast<int64_t>(values.size()) != size()) {
    throw Invalid("a test tensor {} got {} values", shape.ToString(), values.size());
  }
  for (int64_t i = 0; i < size(); ++i) Set(i, values[i]);
}

double Tensor::At(int64_t i) const {
  return ir::LoadElement(shape.dtype, bytes.data() + i * ir::ByteSize(shape.dtype));
}

void Tensor::Set(int64_t i, double value) {
  ir::StoreElement(shape.dtype, value, bytes.data() + i * ir::ByteSize(shape.dtype));
}

Tensor F32(Dims dims, std::vector<double> values) {
  return Of(DType::kF32, std::move(dims), std::move(values));
}
Tensor I32(Dims dims, std::vector<double> values) {
  return Of(DType::kI32, std::move(dims), std::move(values));
}
Tensor Of(DType dtype, Dims dims, std::vector<double> values) {
  return Tensor(Shape(dtype, std::move(dims)), values);
}

Tensor Random(Dims dims, uint64_t seed, double low, double high) {
  Tensor tensor(Shape(DType::kF32, std::move(dims)));
  std::mt19937_64 engine(seed);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    // Not std::uniform_real_distribution, whose values differ between libraries.
    tensor.Set(i, low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53);
  }
  return tensor;
}

const std::vector<OpCase>& Cases() { return MutableCases(); }

bool AddCase(OpCase op_case) {
  MutableCases().push_back(std::move(op_case));
  return true;
}

bool AddRecorded(
    std::string_view op,
    std::function<Outputs(const Recorded& recorded, Graph& graph, Inputs inputs)> build,
    RecordedOptions options) {
  bool any = false;
  for (const Recorded& recorded : RecordedCases()) {
    if (recorded.op != op) continue;
    any = true;
    UsedRecorded().insert(recorded.name);
    if (std::find(options.except.begin(), options.except.end(), recorded.name) !=
        options.except.end()) {
      continue;
    }
    const bool all_float =
        std::all_of(recorded.inputs.begin(), recorded.inputs.end(),
                    [](const Tensor& input) { return ir::IsFloat(input.shape.dtype); });
    OpCase op_case;
    op_case.name = recorded.name;
    op_case.op = options.row.empty() ? recorded.op : options.row;
    op_case.inputs = recorded.inputs;
    op_case.expected = recorded.outputs;
    op_case.build = [&recorded, build](Graph& graph, Inputs inputs) {
      return build(recorded, graph, inputs);
    };
    op_case.tolerance = options.tolerance;
    op_case.differentiable = options.differentiable && (all_float || options.mixed_inputs);
    op_case.gradient_low = options.gradient_low;
    op_case.gradient_high = options.gradient_high;
    op_case.keep_inputs = options.keep_inputs;
    AddCase(std::move(op_case));
  }
  if (!any) {
    std::fprintf(stderr, "tests/recorded/ops.json has no case of op %s\n", std::string(op).c_str());
    std::exit(1);
  }
  return true;
}

std::vector<std::string> UnusedRecorded() {
  std::vector<std::string> names;
  for (const Recorded& recorded : RecordedCases()) {
    if (!UsedRecorded().contains(recorded.name)) names.push_back(recorded.name);
  }
  return names;
}

Tensors Run(std::string_view plugin, const Graph& graph, const Tensors& inputs, int replicas) {
  const xla::Client& client = ClientOf(plugin);
  xla::CompileOptions options;
  options.num_replicas = replicas;
  // Some versions of XLA:CPU default to a maximum and minimum that may lose a NaN.
  options.env_overrides["xla_cpu_enable_fast_min_max"] = "false";
  const auto executable =
      client.Compile(ir::ToStablehlo(graph, {.num_replicas = replicas}), options);
  std::vector<xla::Buffer> buffers;
  for (int replica = 0; replica < replicas; ++replica) {
    for (const Tensor& input : inputs) {
      const Shape part = PartOf(input.shape, replicas);
      buffers.push_back(client.FromHost(input.bytes.data() + replica * part.bytes(), part,
                                        executable->device(replica)));
    }
  }
  std::vector<const xla::Buffer*> arguments;
  for (const xla::Buffer& buffer : buffers) arguments.push_back(&buffer);
  const xla::Execution execution = executable->Execute(arguments);
  execution.Await();
  Tensors outputs;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Shape part = graph.outputs()[i].shape();
    Shape whole = part;
    if (replicas > 1) whole.dims.insert(whole.dims.begin(), replicas);
    Tensor output(whole);
    for (int replica = 0; replica < replicas; ++replica) {
      const xla::Buffer& buffer = execution.outputs[replica].at(i);
      if (buffer.shape() != part) {
        throw Invalid("output {} is {} on {}, but {} in the graph", i, buffer.shape().ToString(),
                      plugin, part.ToString());
      }
      buffer.ToHost(output.bytes.data() + replica * part.bytes(), part.bytes());
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::string CheckGolden(const OpCase& op_case) {
  const std::string text =
      ir::ToStablehlo(*BuildGraph(op_case), {.num_replicas = op_case.replicas});
  const std::string path = FLATOUT_SOURCE_DIR "/tests/golden/" + op_case.name + ".mlir";
  if (std::getenv("FLATOUT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return "";
  }
  std::ifstream file(path);
  if (!file) return path + " is missing; make it with FLATOUT_UPDATE_GOLDEN=1. Text:\n" + text;
  std::stringstream golden;
  golden << file.rdbuf();
  if (golden.str() == text) return "";
  return "differs from " + path + ". Found:\n" + text + "\nexpected:\n" + golden.str();
}

std::string CheckValues(const OpCase& op_case, std::string_view plugin) {
  const auto graph = BuildGraph(op_case);
  const Tensors found = Run(plugin, *graph, op_case.inputs, op_case.replicas);
  const Tensors expected = op_case.reference ? op_case.reference(op_case.inputs) : op_case.expected;
  if (expected.empty()) {
    return op_case.differentiable ? "" : "the case has no expected values";
  }
  if (found.size() != expected.size()) {
    return fmt::format("{} outputs, expected {}", found.size(), expected.size());
  }
  for (size_t k = 0; k < found.size(); ++k) {
    if (found[k].shape != expected[k].shape) {
      return fmt::format("output {} is {}, expected {}", k, found[k].shape.ToString(),
                         expected[k].shape.ToString());
    }
    if (!ir::IsFloat(found[k].shape.dtype)) {
      if (found[k].bytes == expected[k].bytes) continue;
    }
    for (int64_t i = 0; i < found[k].size(); ++i) {
      const double a = found[k].At(i), b = expected[k].At(i);
      const bool same = a == b || (std::isnan(a) && std::isnan(b));
      const bool close = ir::IsFloat(found[k].shape.dtype) && std::isfinite(b) &&
                         std::fabs(a - b) <= op_case.tolerance * std::max(std::fabs(b), 0.1);
      if (same || close) continue;
      return fmt::format("output {} at {} is {:.9g}, expected {:.9g}", k,
                         IndexText(found[k].shape, i), a, b);
    }
  }
  return "";
}

std::string CheckGradient(const OpCase& op_case, std::string_view plugin) {
  constexpr double kStep = 1e-5;
  Tensors inputs;
  uint64_t seed = 1;
  for (const Tensor& input : op_case.inputs) {
    if (!ir::IsFloat(input.shape.dtype)) {
      inputs.push_back(input);
      continue;
    }
    Tensor wide(input.shape.WithDType(DType::kF64));
    const Tensor random =
        Random(input.shape.dims, seed++, op_case.gradient_low, op_case.gradient_high);
    for (int64_t i = 0; i < wide.size(); ++i) {
      wide.Set(i, op_case.keep_inputs ? input.At(i) : random.At(i));
    }
    inputs.push_back(std::move(wide));
  }

  // Outputs: loss = sum of <cotangent, output>, then its gradients.
  Graph graph(op_case.name);
  std::vector<Value> parameters, wrt;
  std::vector<size_t> wrt_input;
  for (size_t i = 0; i < inputs.size(); ++i) {
    parameters.push_back(graph.AddParameter(inputs[i].shape, ""));
    if (ir::IsFloat(inputs[i].shape.dtype)) {
      wrt.push_back(parameters.back());
      wrt_input.push_back(i);
    }
  }
  if (wrt.empty()) return "no input is a float, there is nothing to differentiate";
  const Outputs outputs = op_case.build(graph, parameters);
  std::vector<Value> float_outputs, cotangents;
  Value loss = ir::Scalar(graph, DType::kF64, 0);
  for (const Value& output : outputs) {
    if (!ir::IsFloat(output.dtype())) continue;
    if (output.dtype() != DType::kF64) return "an output is not f64 although the inputs are";
    Tensor wide(output.shape());
    const Tensor random = Random(output.dims(), seed++);
    for (int64_t i = 0; i < wide.size(); ++i) wide.Set(i, random.At(i));
    const Value cotangent = graph.AddParameter(wide.shape, "");
    inputs.push_back(std::move(wide));
    float_outputs.push_back(output);
    cotangents.push_back(cotangent);
    loss = loss + ReduceSum(output * cotangent);
  }
  std::vector<Value> results{loss};
  std::vector<bool> has_gradient;
  for (const Value& gradient : ir::VectorJacobianProduct(float_outputs, cotangents, wrt)) {
    has_gradient.push_back(static_cast<bool>(gradient));
    if (gradient) results.push_back(gradient);
  }
  graph.SetOutputs(results);

  const xla::Client& client = ClientOf(plugin);
  const auto executable = client.Compile(ir::ToStablehlo(graph), {});
  std::vector<xla::Buffer> buffers;
  for (const Tensor& input : inputs) {
    buffers.push_back(client.FromHost(input.bytes.data(), input.shape, client.devices()[0]));
  }
  xla::Execution execution;
  const auto run = [&] {
    std::vector<const xla::Buffer*> arguments;
    for (const xla::Buffer& buffer : buffers) arguments.push_back(&buffer);
    executable->Execute(arguments, execution);
    execution.Await();
  };
  run();
  Tensors gradients;
  for (size_t i = 1; i < results.size(); ++i) {
    Tensor gradient(results[i].shape());
    execution.outputs[0][i].ToHost(gradient.bytes.data(), gradient.bytes.size());
    gradients.push_back(std::move(gradient));
  }
  const auto loss_at = [&](size_t input, int64_t element, double value) {
    Tensor moved = inputs[input];
    moved.Set(element, value);
    xla::Buffer kept = std::move(buffers[input]);
    buffers[input] = client.FromHost(moved.bytes.data(), moved.shape, client.devices()[0]);
    run();
    buffers[input] = std::move(kept);
    return execution.outputs[0][0].ToVector<double>()[0];
  };
  size_t next = 0;
  for (size_t k = 0; k < wrt.size(); ++k) {
    const Tensor* gradient = has_gradient[k] ? &gradients[next++] : nullptr;
    const Tensor& input = inputs[wrt_input[k]];
    for (int64_t i = 0; i < input.size(); ++i) {
      const double x = input.At(i);
      const double numeric =
          (loss_at(wrt_input[k], i, x + kStep) - loss_at(wrt_input[k], i, x - kStep)) / (2 * kStep);
      const double found = gradient == nullptr ? 0 : gradient->At(i);
      const double scale = std::max({1.0, std::fabs(numeric), std::fabs(found)});
      if (std::fabs(numeric - found) <= op_case.gradient_tolerance * scale) continue;
      return fmt::format("d loss / d input {} at {} is {:.9g}, central differences give {:.9g}",
                         wrt_input[k], IndexText(input.shape, i), found, numeric);
    }
  }
  return "";
}

std::string CheckKernels(const OpCase& op_case, std::string_view plugin, DType dtype, int* calls) {
  // Products are summed in another order, and narrow results rounded from other sums.
  const double tolerance = dtype == DType::kBF16 ? 3e-2 : 2e-5;
  Tensors inputs;
  uint64_t seed = 1;
  for (const Tensor& input : op_case.inputs) {
    if (input.shape.dtype != DType::kF32) {
      inputs.push_back(input);
      continue;
    }
    Tensor cast(input.shape.WithDType(dtype));
    for (int64_t i = 0; i < cast.size(); ++i) cast.Set(i, input.At(i));
    inputs.push_back(std::move(cast));
  }
  Graph graph(op_case.name);
  std::vector<Value> parameters, wrt, outputs;
  for (const Tensor& input : inputs) {
    parameters.push_back(graph.AddParameter(PartOf(input.shape, op_case.replicas), ""));
    if (ir::IsFloat(input.shape.dtype)) wrt.push_back(parameters.back());
  }
  try {
    outputs = op_case.build(graph, parameters);
  } catch (const UserError&) {
    // A case whose dtypes are fixed in its `build` exists in those only.
    if (dtype != DType::kF32) return "";
    throw;
  }
  std::vector<Value> float_outputs, cotangents, results = outputs;
  if (op_case.differentiable && !wrt.empty()) {
    for (const Value& output : outputs) {
      if (!ir::IsFloat(output.dtype())) continue;
      const Tensor random = Random(output.dims(), seed++);
      std::vector<double> values;
      for (int64_t i = 0; i < random.size(); ++i) values.push_back(random.At(i));
      Shape stacked = output.shape();
      if (op_case.replicas > 1) {
        stacked.dims.insert(stacked.dims.begin(), op_case.replicas);
        const size_t part = values.size();
        for (int r = 1; r < op_case.replicas; ++r) {
          for (size_t i = 0; i < part; ++i) values.push_back(values[i]);
        }
      }
      float_outputs.push_back(output);
      cotangents.push_back(graph.AddParameter(output.shape(), ""));
      inputs.emplace_back(stacked, values);
    }
    for (const Value& gradient : ir::VectorJacobianProduct(float_outputs, cotangents, wrt)) {
      if (gradient) results.push_back(gradient);
    }
  }
  graph.SetOutputs(results);

  const kernels::Lowering lowering(ClientOf(plugin), kernels::Choice::kOneDnn);
  if (!lowering.active()) return "library kernels are not in use: " + lowering.description();
  std::vector<kernels::Decision> decisions;
  const std::unique_ptr<Graph> lowered = lowering.Lower(graph, &decisions);
  const auto in_library = std::count_if(decisions.begin(), decisions.end(),
                                        [](const kernels::Decision& d) { return d.library; });
  if (calls != nullptr) *calls += static_cast<int>(in_library);
  if (in_library == 0) {
    return ir::ToStablehlo(*lowered) == ir::ToStablehlo(graph)
               ? ""
               : "the graph has changed, although the library computes nothing of it";
  }
  const Tensors found = Run(plugin, *lowered, inputs, op_case.replicas);
  const Tensors expected = Run(plugin, graph, inputs, op_case.replicas);
  for (size_t k = 0; k < found.size(); ++k) {
    if (!ir::IsFloat(found[k].shape.dtype)) {
      if (found[k].bytes != expected[k].bytes) return fmt::format("result {} differs", k);
      continue;
    }
    double scale = 0.1;
    for (int64_t i = 0; i < found[k].size(); ++i) {
      if (std::isfinite(expected[k].At(i))) scale = std::max(scale, std::fabs(expected[k].At(i)));
    }
    for (int64_t i = 0; i < found[k].size(); ++i) {
      const double a = found[k].At(i), b = expected[k].At(i);
      if (a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= tolerance * scale) {
        continue;
      }
      return fmt::format("result {} at {} is {:.9g} with library kernels, {:.9g} without", k,
                         IndexText(found[k].shape, i), a, b);
    }
  }
  return "";
}

}  // namespace flatout::testing
