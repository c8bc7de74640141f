// Sorting and what is built on it.
#include <limits>
#include <string>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

// Results: the sorted operands and, last, the permutation: the index (i32) along the axis that each
// element came from. The writer leaves the permutation out where nobody reads it.
std::vector<Shape> InferSort(const Node& node) {
  const int64_t axis = node.attrs().Int("axis");
  if (node.inputs().empty()) throw Invalid("nothing to sort");
  const Shape& keys = node.input(0).shape();
  if (axis < 0 || axis >= keys.rank()) {
    throw Invalid("axis {} is outside of {}", axis, keys.ToString());
  }
  std::vector<Shape> shapes;
  for (const Value& input : node.inputs()) {
    if (input.dims() != keys.dims) {
      throw Invalid("operands sorted together must have the same dimensions, found {} and {}",
                    keys.ToString(), input.shape().ToString());
    }
    shapes.push_back(input.shape());
  }
  shapes.push_back(keys.WithDType(DType::kI32));
  return shapes;
}

bool PermutationIsRead(const Node& node) {
  const Graph& graph = node.graph();
  const std::vector<bool> live = graph.LiveNodes();
  const auto reads = [&](const Value& value) {
    return value.node() == &node && value.index() + 1 == static_cast<int>(node.num_outputs());
  };
  for (size_t i = node.id() + 1; i < graph.nodes().size(); ++i) {
    if (!live[i]) continue;
    for (const Value& input : graph.nodes()[i]->inputs()) {
      if (reads(input)) return true;
    }
  }
  for (const Value& output : graph.outputs()) {
    if (reads(output)) return true;
  }
  return false;
}

// Floats are ordered totally (-inf ... inf, NaN), with both zeros, and all NaNs, equal.
std::string Canonical(StablehloWriter& writer, const std::string& x, const Shape& scalar) {
  const Shape pred = Shape::Scalar(DType::kPred);
  const auto replace = [&](const std::string& value, const std::string& by,
                           const std::string& when) {
    return writer.EmitRaw("select", {when, by, value}, {pred, scalar, scalar}, {scalar});
  };
  const auto compare = [&](const std::string& a, const std::string& b, const char* direction) {
    return writer.EmitRaw("compare", {a, b}, {scalar, scalar}, {pred},
                          fmt::format("comparison_direction = #stablehlo<comparison_direction {}>, "
                                      "compare_type = #stablehlo<comparison_type FLOAT>",
                                      direction));
  };
  const std::string zero = writer.Splat(scalar, 0);
  const std::string nan = writer.Splat(scalar, std::numeric_limits<double>::quiet_NaN());
  const std::string signless = replace(x, zero, compare(x, zero, "EQ"));
  return replace(signless, nan, compare(x, x, "NE"));
}

void WriteSort(StablehloWriter& writer, const Node& node) {
  std::vector<std::string> operands;
  std::vector<Shape> shapes;
  for (const Value& input : node.inputs()) {
    operands.push_back(writer.Ref(input));
    shapes.push_back(input.shape());
  }
  const int64_t axis = node.attrs().Int("axis");
  if (PermutationIsRead(node)) {
    shapes.push_back(node.shapes().back());
    operands.push_back(
        writer.EmitRaw("iota", {}, {}, {node.shapes().back()}, "iota_dimension = " + I64(axis)));
  }
  std::vector<Shape> scalars;
  for (const Shape& shape : shapes) {
    scalars.insert(scalars.end(), 2, Shape::Scalar(shape.dtype));
  }
  const std::string comparator =
      writer.Region(scalars, [&](std::span<const std::string> names) -> StablehloWriter::Returns {
        const Shape& scalar = scalars[0];
        std::string a = names[0], b = names[1];
        std::string type =
            IsUnsigned(scalar.dtype) || scalar.dtype == DType::kPred ? "UNSIGNED" : "SIGNED";
        if (IsFloat(scalar.dtype)) {
          a = Canonical(writer, a, scalar);
          b = Canonical(writer, b, scalar);
          type = "TOTALORDER";
        }
        const Shape pred = Shape::Scalar(DType::kPred);
        return {{writer.EmitRaw(
                     "compare", {a, b}, {scalar, scalar}, {pred},
                     fmt::format("comparison_direction = #stablehlo<comparison_direction {}>, "
                                 "compare_type = #stablehlo<comparison_type {}>",
                                 node.attrs().Bool("descending") ? "GT" : "LT", type)),
                 pred}};
      });
  const std::string name =
      writer.EmitRaw("sort", operands, shapes, shapes,
                     fmt::format("dimension = {}, is_stable = true", I64(axis)), {comparator});
  std::vector<std::string> refs(node.num_outputs());
  for (size_t i = 0; i < shapes.size(); ++i) {
    refs[i] = shapes.size() == 1 ? name : fmt::format("{}#{}", name, i);
  }
  writer.Bind(node, refs);
}

// Sorting the gradients by where their elements came from puts them back in place.
std::vector<Value> SortGradient(Node& node, std::span<const Value> dy) {
  const size_t operands = node.inputs().size();
  std::vector<Value> sorted = {node.output(static_cast<int>(operands))};
  std::vector<size_t> places;
  for (size_t i = 0; i < operands; ++i) {
    if (!dy[i]) continue;
    sorted.push_back(dy[i]);
    places.push_back(i);
  }
  std::vector<Value> gradients(operands);
  if (places.empty()) return gradients;
  const std::vector<Value> back = Sort(sorted, node.attrs().Int("axis"));
  for (size_t k = 0; k < places.size(); ++k) gradients[places[k]] = back[k + 1];
  return gradients;
}

const OpDef kSort = {
    .name = "sort",
    .infer = InferSort,
    .write = WriteSort,
    .differentiability = Differentiability::kRule,
    .gradient = SortGradient,
};

Node& AddSort(std::span<const Value> operands, int64_t axis, bool descending) {
  if (operands.empty()) throw Invalid("sort: nothing to sort");
  if (axis < 0) axis += operands[0].rank();
  return operands[0].graph().AddNode(kSort, {operands.begin(), operands.end()},
                                     {{"axis", axis}, {"descending", descending}});
}

}  // namespace

std::span<const OpDef* const> SortOps() {
  static const OpDef* const table[] = {&kSort};
  return table;
}

std::vector<Value> Sort(std::span<const Value> operands, int64_t axis, bool descending) {
  Node& node = AddSort(operands, axis, descending);
  std::vector<Value> results;
  for (size_t i = 0; i < operands.size(); ++i) results.push_back(node.output(static_cast<int>(i)));
  return results;
}

std::pair<Value, Value> TopK(Value x, int64_t k) {
  if (x.rank() == 0 || k < 1 || k > x.dim(-1)) {
    throw Invalid("top_k: k must be between 1 and the last dimension of {}, found {}",
                  x.shape().ToString(), k);
  }
  Node& node = AddSort({&x, 1}, -1, /*descending=*/true);
  return {SliceAxis(node.output(0), -1, 0, k), SliceAxis(node.output(1), -1, 0, k)};
}

}  // namespace flatout::ir
