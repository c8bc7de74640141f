#include "flatout/ir/stablehlo.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/verifier.h"

namespace flatout::ir {
namespace {

// More elements than this are written as one hexadecimal string of the raw bytes.
constexpr int64_t kMaxListedElements = 64;

template <typename Range, typename Text>
std::string Join(const Range& range, const Text& text) {
  std::string joined;
  for (const auto& item : range) {
    if (!joined.empty()) joined += ", ";
    joined += text(item);
  }
  return joined;
}

std::string Types(std::span<const Shape> shapes) {
  return Join(shapes, [](const Shape& shape) { return shape.ToMlir(); });
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c >= ' ' ? c : ' ';
  }
  return quoted + '"';
}

template <typename T>
T Read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// The element's bits as MLIR reads them, most significant digit first.
std::string HexBits(DType dtype, const std::byte* bytes) {
  switch (ByteSize(dtype)) {
    case 2:
      return fmt::format("0x{:04X}", Read<uint16_t>(bytes));
    case 4:
      return fmt::format("0x{:08X}", Read<uint32_t>(bytes));
    default:
      return fmt::format("0x{:016X}", Read<uint64_t>(bytes));
  }
}

std::string ElementText(DType dtype, const std::byte* bytes) {
  switch (dtype) {
    case DType::kPred:
      return Read<uint8_t>(bytes) != 0 ? "true" : "false";
    case DType::kI8:
      return std::to_string(Read<int8_t>(bytes));
    case DType::kI16:
      return std::to_string(Read<int16_t>(bytes));
    case DType::kI32:
      return std::to_string(Read<int32_t>(bytes));
    case DType::kI64:
      return std::to_string(Read<int64_t>(bytes));
    case DType::kU8:
      return std::to_string(Read<uint8_t>(bytes));
    case DType::kU16:
      return std::to_string(Read<uint16_t>(bytes));
    case DType::kU32:
      return std::to_string(Read<uint32_t>(bytes));
    case DType::kU64:
      return std::to_string(Read<uint64_t>(bytes));
    default:
      break;
  }
  const double value = LoadElement(dtype, bytes);
  if (std::isfinite(value)) {
    std::string text = fmt::format("{:e}", value);
    // MLIR reads a decimal as a double first and then rounds to the element type; do the same.
    std::byte again[8];
    StoreElement(dtype, std::strtod(text.c_str(), nullptr), again);
    if (std::memcmp(again, bytes, ByteSize(dtype)) == 0) return text;
  }
  return HexBits(dtype, bytes);
}

// The elements [offset, offset + product of dims from `depth`) as nested lists.
void ListElements(const Literal& literal, size_t depth, int64_t& offset, std::string& text) {
  if (depth == literal.shape.dims.size()) {
    text += ElementText(literal.shape.dtype,
                        literal.bytes.data() + offset * ByteSize(literal.shape.dtype));
    ++offset;
    return;
  }
  text += '[';
  for (int64_t i = 0; i < literal.shape.dims[depth]; ++i) {
    if (i > 0) text += ", ";
    ListElements(literal, depth + 1, offset, text);
  }
  text += ']';
}

}  // namespace

std::string I64Array(const std::vector<int64_t>& values) {
  if (values.empty()) return "array<i64>";
  return "array<i64: " + Join(values, [](int64_t v) { return std::to_string(v); }) + ">";
}

std::string BoolArray(const std::vector<int64_t>& values) {
  if (values.empty()) return "array<i1>";
  return "array<i1: " +
         Join(values, [](int64_t v) { return std::string(v != 0 ? "true" : "false"); }) + ">";
}

std::string I64Matrix(const std::vector<int64_t>& values, int64_t columns) {
  const int64_t rows = columns == 0 ? 0 : static_cast<int64_t>(values.size()) / columns;
  std::string text = "dense<";
  if (!values.empty()) {
    text += '[';
    for (int64_t row = 0; row < rows; ++row) {
      text += row > 0 ? ", [" : "[";
      for (int64_t column = 0; column < columns; ++column) {
        if (column > 0) text += ", ";
        text += std::to_string(values[row * columns + column]);
      }
      text += ']';
    }
    text += ']';
  }
  return text + fmt::format("> : tensor<{}x{}xi64>", rows, columns);
}

std::string I64(int64_t value) { return std::to_string(value) + " : i64"; }

std::string ElementText(DType dtype, double value) {
  std::byte bytes[8];
  StoreElement(dtype, value, bytes);
  return ElementText(dtype, bytes);
}

std::string DenseText(const Literal& literal) {
  std::string text = "dense<";
  const int64_t size = literal.shape.size();
  if (size > 0) {
    if (literal.splat) {
      text += ElementText(literal.shape.dtype, literal.bytes.data());
    } else if (size > kMaxListedElements && literal.shape.dtype != DType::kPred) {
      // Bools have no agreed raw form (packed into bits by some versions of MLIR, not by others).
      text += "\"0x";
      for (const std::byte byte : literal.bytes) {
        constexpr char kDigits[] = "0123456789ABCDEF";
        text += kDigits[std::to_integer<int>(byte) >> 4];
        text += kDigits[std::to_integer<int>(byte) & 15];
      }
      text += '"';
    } else {
      int64_t offset = 0;
      ListElements(literal, 0, offset, text);
    }
  }
  return text + "> : " + literal.shape.ToMlir();
}

std::string StablehloWriter::Fresh() { return fmt::format("%{}", next_++); }

std::string StablehloWriter::Ref(Value value) const {
  const auto found = names_.find(value.node());
  if (found == names_.end()) {
    throw Internal("StableHLO writer: {} (node {}) is used before it is written",
                   value.node()->name(), value.node()->id());
  }
  return found->second.at(value.index());
}

void StablehloWriter::Alias(const Node& node, std::string_view ref) {
  names_[&node] = {std::string(ref)};
}

void StablehloWriter::Bind(const Node& node, std::string_view name) {
  std::vector<std::string> refs;
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    refs.push_back(node.num_outputs() == 1 ? std::string(name) : fmt::format("{}#{}", name, i));
  }
  names_[&node] = std::move(refs);
}

void StablehloWriter::Bind(const Node& node, std::vector<std::string> refs) {
  if (refs.size() != node.num_outputs()) {
    throw Internal("StableHLO writer: {} names for the {} results of {}", refs.size(),
                   node.num_outputs(), node.name());
  }
  names_[&node] = std::move(refs);
}

void StablehloWriter::Line(std::string_view text) {
  out_.append(2 * indent_, ' ');
  out_ += text;
  out_ += '\n';
}

void StablehloWriter::Emit(const Node& node, std::string_view op, std::string_view attributes,
                           const std::vector<std::string>& regions) {
  std::vector<std::string> operands;
  std::vector<Shape> operand_shapes;
  for (const Value& input : node.inputs()) {
    operands.push_back(Ref(input));
    operand_shapes.push_back(input.shape());
  }
  Bind(node, EmitRaw(op, operands, operand_shapes, {node.shapes().begin(), node.shapes().end()},
                     attributes, regions));
}

std::string StablehloWriter::EmitRaw(std::string_view op, const std::vector<std::string>& operands,
                                     const std::vector<Shape>& operand_shapes,
                                     const std::vector<Shape>& result_shapes,
                                     std::string_view attributes,
                                     const std::vector<std::string>& regions) {
  std::string name, line;
  if (!result_shapes.empty()) {
    name = Fresh();
    line = name;
    if (result_shapes.size() > 1) line += fmt::format(":{}", result_shapes.size());
    line += " = ";
  }
  const bool full_name = op.find('.') != std::string_view::npos;
  line += fmt::format("\"{}{}\"({})", full_name ? "" : "stablehlo.", op,
                      Join(operands, [](const std::string& operand) { return operand; }));
  if (!regions.empty()) {
    line += " (" + Join(regions, [](const std::string& region) { return region; }) + ")";
  }
  if (!attributes.empty()) line += fmt::format(" {{{}}}", attributes);
  line += " : (" + Types(operand_shapes) + ") -> ";
  line += result_shapes.size() == 1 ? result_shapes[0].ToMlir()
                                    : fmt::format("({})", Types(result_shapes));
  if (current_ != nullptr && !current_->scope().empty()) {
    line += " loc(" + Quoted(current_->scope() + "/" + std::string(current_->name())) + ")";
  }
  Line(line);
  return name;
}

std::string StablehloWriter::Splat(const Shape& shape, double value) {
  return EmitRaw(
      "constant", {}, {}, {shape},
      fmt::format("value = dense<{}> : {}", ElementText(shape.dtype, value), shape.ToMlir()));
}

std::string StablehloWriter::Region(
    const std::vector<Shape>& arguments,
    const std::function<Returns(std::span<const std::string>)>& body) {
  std::string outer;
  outer.swap(out_);
  std::vector<std::string> names;
  if (!arguments.empty()) {
    std::string header;
    for (const Shape& shape : arguments) {
      names.push_back(Fresh());
      if (!header.empty()) header += ", ";
      header += names.back() + ": " + shape.ToMlir();
    }
    Line("^bb0(" + header + "):");
  }
  ++indent_;
  const Returns returns = body(names);
  Line("\"stablehlo.return\"(" + Join(returns, [](const auto& item) { return item.first; }) +
       ") : (" + Join(returns, [](const auto& item) { return item.second.ToMlir(); }) + ") -> ()");
  --indent_;
  outer.swap(out_);
  return "{\n" + outer + std::string(2 * indent_, ' ') + "}";
}

std::string StablehloWriter::Region(const Graph& graph) {
  std::vector<Shape> shapes;
  for (const Value& parameter : graph.parameters()) shapes.push_back(parameter.shape());
  return Region(shapes, [&](std::span<const std::string> names) {
    for (size_t i = 0; i < names.size(); ++i) Alias(*graph.parameters()[i].node(), names[i]);
    Body(graph);
    Returns returns;
    for (const Value& output : graph.outputs()) returns.emplace_back(Ref(output), output.shape());
    return returns;
  });
}

std::string StablehloWriter::Region(const Graph& graph, const std::vector<std::string>& arguments) {
  return Region(std::vector<Shape>(), [&](std::span<const std::string>) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      Alias(*graph.parameters()[i].node(), arguments[i]);
    }
    Body(graph);
    Returns returns;
    for (const Value& output : graph.outputs()) returns.emplace_back(Ref(output), output.shape());
    return returns;
  });
}

std::vector<std::string> StablehloWriter::Inline(const Graph& graph,
                                                 const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    Alias(*graph.parameters()[i].node(), arguments[i]);
  }
  Body(graph);
  std::vector<std::string> outputs;
  for (const Value& output : graph.outputs()) outputs.push_back(Ref(output));
  return outputs;
}

std::string StablehloWriter::BinaryRegion(DType dtype, std::string_view op) {
  const Shape scalar = Shape::Scalar(dtype);
  return Region({scalar, scalar}, [&](std::span<const std::string> names) {
    return Returns{{EmitRaw(op, {names[0], names[1]}, {scalar, scalar}, {scalar}), scalar}};
  });
}

void StablehloWriter::Body(const Graph& graph) {
  const std::vector<bool> live = graph.LiveNodes();
  const Node* const outer = current_;
  for (const auto& node : graph.nodes()) {
    if (!live[node->id()] || node->name() == "parameter") continue;
    current_ = node.get();
    node->op().write(*this, *node);
  }
  current_ = outer;
}

std::string ToStablehlo(const Graph& graph, const StablehloOptions& options) {
  Verify(graph);
  StablehloWriter writer;
  std::string arguments;
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    const Value parameter = graph.parameters()[i];
    const std::string name = fmt::format("%arg{}", i);
    writer.Alias(*parameter.node(), name);
    if (i > 0) arguments += ", ";
    arguments += name + ": " + parameter.shape().ToMlir();
    if (graph.donated_output(i) >= 0) {
      arguments += fmt::format(" {{tf.aliasing_output = {} : i32}}", graph.donated_output(i));
    }
  }
  writer.Body(graph);
  const auto type = [](const Value& value) { return value.shape().ToMlir(); };
  const std::string results = Join(graph.outputs(), type);
  return fmt::format(
      "module @{} attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {} : i32}} {{\n"
      "  func.func @main({}) -> ({}) {{\n"
      "{}"
      "    \"func.return\"({}) : ({}) -> ()\n"
      "  }}\n"
      "}}\n",
      graph.name(), options.num_replicas, arguments, results, writer.out_,
      Join(graph.outputs(), [&](const Value& output) { return writer.Ref(output); }), results);
}

}  // namespace flatout::ir
