// Calls into libraries: XLA FFI custom calls.
#include <string>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

// The results' shapes cannot be inferred: they are kept as attributes "result0", "result1"... (the
// dimensions) and "dtype0", "dtype1"...; entries of backend_config carry the prefix "config.".
constexpr std::string_view kConfig = "config.";

std::vector<Shape> InferCustomCall(const Node& node) {
  if (node.attrs().String("target").empty()) throw Invalid("the call target has no name");
  std::vector<Shape> shapes;
  for (int64_t i = 0; i < node.attrs().Int("results"); ++i) {
    shapes.emplace_back(node.attrs().Type(fmt::format("dtype{}", i)),
                        node.attrs().Ints(fmt::format("result{}", i)));
  }
  return shapes;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') {
      quoted += fmt::format("\\{:02X}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string ConfigText(std::string_view name, const Attribute& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const int64_t* number = std::get_if<int64_t>(&value)) return I64(*number);
  if (const double* number = std::get_if<double>(&value)) {
    return ElementText(DType::kF64, *number) + " : f64";
  }
  if (const std::string* text = std::get_if<std::string>(&value)) return Quoted(*text);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return I64Array(*list);
  throw Invalid(
      "configuration \"{}\" of a custom call must be a bool, an integer, a number, a "
      "string or a list of integers",
      name);
}

// Row-major layouts, which FFI handlers expect: minor dimension first.
std::string Layouts(std::span<const Shape> shapes) {
  std::string text;
  for (const Shape& shape : shapes) {
    if (!text.empty()) text += ", ";
    std::string order;
    for (int64_t i = shape.rank() - 1; i >= 0; --i) {
      if (!order.empty()) order += ", ";
      order += std::to_string(i);
    }
    if (shape.rank() > 0) order = "[" + order + "]";
    text += fmt::format("dense<{}> : tensor<{}xindex>", order, shape.rank());
  }
  return "[" + text + "]";
}

void WriteCustomCall(StablehloWriter& writer, const Node& node) {
  std::string config;
  for (const auto& [name, value] : node.attrs().items()) {
    if (!name.starts_with(kConfig)) continue;
    const std::string key = name.substr(kConfig.size());
    if (!config.empty()) config += ", ";
    config += fmt::format("{} = {}", Quoted(key), ConfigText(key, value));
  }
  std::vector<Shape> operands;
  for (const Value& input : node.inputs()) operands.push_back(input.shape());
  writer.Emit(
      node, "custom_call",
      fmt::format("call_target_name = {}, api_version = 4 : i32, backend_config = {{{}}}, "
                  "has_side_effect = {}, operand_layouts = {}, result_layouts = {}",
                  Quoted(node.attrs().String("target")), config,
                  node.attrs().Bool("has_side_effect"), Layouts(operands), Layouts(node.shapes())));
}

const OpDef kCustomCall = {
    .name = "custom_call",
    .infer = InferCustomCall,
    .write = WriteCustomCall,
    .differentiability = Differentiability::kNone,
};

}  // namespace

std::span<const OpDef* const> CustomOps() {
  static const OpDef* const table[] = {&kCustomCall};
  return table;
}

std::vector<Value> CustomCall(Graph& graph, std::string target, std::span<const Value> operands,
                              std::vector<Shape> results, Attributes config, bool has_side_effect) {
  Attributes attrs{{"target", std::move(target)},
                   {"results", static_cast<int64_t>(results.size())},
                   {"has_side_effect", has_side_effect}};
  for (size_t i = 0; i < results.size(); ++i) {
    attrs.Set(fmt::format("result{}", i), results[i].dims);
    attrs.Set(fmt::format("dtype{}", i), results[i].dtype);
  }
  for (const auto& [name, value] : config.items()) {
    attrs.Set(std::string(kConfig) + name, value);
  }
  Node& node = graph.AddNode(kCustomCall, {operands.begin(), operands.end()}, std::move(attrs));
  std::vector<Value> values;
  for (size_t i = 0; i < results.size(); ++i) values.push_back(node.output(static_cast<int>(i)));
  return values;
}

}  // namespace flatout::ir
