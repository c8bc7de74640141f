// Reading and writing at positions known only at run time.
#include <string>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

// --- gather and scatter along one axis ----------------------------------------------------------

// x.dims[:axis] + indices.dims + x.dims[axis + 1:].
Dims TakenDims(const Shape& x, const Shape& indices, int64_t axis) {
  if (!IsInteger(indices.dtype)) {
    throw Invalid("indices must be integers, found {}", indices.ToString());
  }
  if (axis < 0 || axis >= x.rank()) {
    throw Invalid("axis {} is outside of {}", axis, x.ToString());
  }
  Dims dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  return dims;
}

// The dimensions of the taken tensor that come from x: all but the indices'.
Dims WindowAxes(const Shape& x, const Shape& indices, int64_t axis) {
  Dims axes;
  for (int64_t i = 0; i + 1 < x.rank(); ++i) {
    axes.push_back(i < axis ? i : i + indices.rank());
  }
  return axes;
}

std::vector<Shape> InferGather(const Node& node) {
  const Shape& x = node.input(0).shape();
  const int64_t axis = node.attrs().Int("axis");
  const Dims dims = TakenDims(x, node.input(1).shape(), axis);
  if (x.dims[axis] == 0 && node.input(1).shape().size() > 0) {
    throw Invalid("cannot take from an empty axis {} of {}", axis, x.ToString());
  }
  return {x.WithDims(dims)};
}

void WriteGather(StablehloWriter& writer, const Node& node) {
  const Shape& x = node.input(0).shape();
  const Shape& indices = node.input(1).shape();
  const int64_t axis = node.attrs().Int("axis");
  Dims sizes = x.dims;
  sizes[axis] = 1;
  writer.Emit(node, "gather",
              fmt::format("dimension_numbers = #stablehlo.gather<offset_dims = {}, "
                          "collapsed_slice_dims = [{}], start_index_map = [{}], "
                          "index_vector_dim = {}>, slice_sizes = {}, indices_are_sorted = false",
                          DimsToString(WindowAxes(x, indices, axis)), axis, axis, indices.rank(),
                          I64Array(sizes)));
}

std::vector<Value> GatherGradient(Node& node, std::span<const Value> dy) {
  return {ScatterAdd(ZerosLike(node.input(0)), node.input(1), dy[0], node.attrs().Int("axis")),
          Value()};
}

std::vector<Shape> InferScatter(const Node& node) {
  const Shape& x = node.input(0).shape();
  const Shape& indices = node.input(1).shape();
  const Shape& updates = node.input(2).shape();
  const Shape expected = x.WithDims(TakenDims(x, indices, node.attrs().Int("axis")));
  if (updates != expected) {
    throw Invalid("updates must be {} for {} and indices {}, found {}", expected.ToString(),
                  x.ToString(), indices.ToString(), updates.ToString());
  }
  return {x};
}

void WriteScatter(StablehloWriter& writer, const Node& node) {
  const Shape& x = node.input(0).shape();
  const Shape& indices = node.input(1).shape();
  const int64_t axis = node.attrs().Int("axis");
  writer.Emit(node, "scatter",
              fmt::format("scatter_dimension_numbers = #stablehlo.scatter<"
                          "update_window_dims = {}, inserted_window_dims = [{}], "
                          "scatter_dims_to_operand_dims = [{}], index_vector_dim = {}>, "
                          "indices_are_sorted = false, unique_indices = false",
                          DimsToString(WindowAxes(x, indices, axis)), axis, axis, indices.rank()),
              {writer.BinaryRegion(x.dtype, "add")});
}

std::vector<Value> ScatterGradient(Node& node, std::span<const Value> dy) {
  return {dy[0], Value(), Take(dy[0], node.input(1), node.attrs().Int("axis"))};
}

double ScatterFlops(const Node& node) {
  return IsFloat(node.shape().dtype) ? static_cast<double>(node.input(2).shape().size()) : 0;
}

// --- slices at run-time offsets -----------------------------------------------------------------

void CheckStarts(const Node& node, size_t from, int64_t rank) {
  const auto starts = node.inputs().subspan(from);
  if (static_cast<int64_t>(starts.size()) != rank) {
    throw Invalid("wants {} start indices for {}, found {}", rank, node.input(0).shape().ToString(),
                  starts.size());
  }
  for (const Value& start : starts) {
    if (start.rank() != 0 || !IsInteger(start.dtype()) || start.dtype() != starts[0].dtype()) {
      throw Invalid("start indices must be integer scalars of one type, found {}",
                    start.shape().ToString());
    }
  }
}

void CheckWithin(const Shape& x, const Dims& sizes) {
  bool fits = sizes.size() == x.dims.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    fits = sizes[i] >= 0 && sizes[i] <= x.dims[i];
  }
  if (!fits) {
    throw Invalid("a slice of sizes {} does not fit into {}", DimsToString(sizes), x.ToString());
  }
}

std::vector<Shape> InferDynamicSlice(const Node& node) {
  const Shape& x = node.input(0).shape();
  CheckStarts(node, 1, x.rank());
  CheckWithin(x, node.attrs().Ints("sizes"));
  return {x.WithDims(node.attrs().Ints("sizes"))};
}

void WriteDynamicSlice(StablehloWriter& writer, const Node& node) {
  writer.Emit(node, "dynamic_slice", "slice_sizes = " + I64Array(node.attrs().Ints("sizes")));
}

std::vector<Value> DynamicSliceGradient(Node& node, std::span<const Value> dy) {
  std::vector<Value> grads(node.inputs().size());
  grads[0] = DynamicUpdateSlice(ZerosLike(node.input(0)), dy[0], node.inputs().subspan(1));
  return grads;
}

std::vector<Shape> InferDynamicUpdateSlice(const Node& node) {
  const Shape& x = node.input(0).shape();
  const Shape& update = node.input(1).shape();
  CheckStarts(node, 2, x.rank());
  if (x.dtype != update.dtype) {
    throw Invalid("operand and update must be of one type, found {} and {}", x.ToString(),
                  update.ToString());
  }
  CheckWithin(x, update.dims);
  return {x};
}

void WriteDynamicUpdateSlice(StablehloWriter& writer, const Node& node) {
  writer.Emit(node, "dynamic_update_slice");
}

std::vector<Value> DynamicUpdateSliceGradient(Node& node, std::span<const Value> dy) {
  const auto starts = node.inputs().subspan(2);
  std::vector<Value> grads(node.inputs().size());
  grads[0] = DynamicUpdateSlice(dy[0], ZerosLike(node.input(1)), starts);
  grads[1] = DynamicSlice(dy[0], starts, node.input(1).dims());
  return grads;
}

const OpDef kGather = {
    .name = "gather",
    .infer = InferGather,
    .write = WriteGather,
    .differentiability = Differentiability::kRule,
    .gradient = GatherGradient,
};

const OpDef kScatterAdd = {
    .name = "scatter_add",
    .infer = InferScatter,
    .write = WriteScatter,
    .differentiability = Differentiability::kRule,
    .gradient = ScatterGradient,
    .flops = ScatterFlops,
};

const OpDef kDynamicSlice = {
    .name = "dynamic_slice",
    .infer = InferDynamicSlice,
    .write = WriteDynamicSlice,
    .differentiability = Differentiability::kRule,
    .gradient = DynamicSliceGradient,
};

const OpDef kDynamicUpdateSlice = {
    .name = "dynamic_update_slice",
    .infer = InferDynamicUpdateSlice,
    .write = WriteDynamicUpdateSlice,
    .differentiability = Differentiability::kRule,
    .gradient = DynamicUpdateSliceGradient,
};

// Start indices of one element of the leading axis.
std::vector<Value> LeadingStart(Value x, Value index) {
  std::vector<Value> start(x.rank(), ScalarLike(index, 0));
  if (x.rank() == 0) throw Invalid("a scalar has no leading axis to index");
  start[0] = index;
  return start;
}

}  // namespace

std::span<const OpDef* const> IndexOps() {
  static const OpDef* const table[] = {&kGather, &kScatterAdd, &kDynamicSlice,
                                       &kDynamicUpdateSlice};
  return table;
}

Value Take(Value x, Value indices, int64_t axis) {
  if (axis < 0) axis += x.rank();
  return x.graph().AddNode(kGather, {x, indices}, {{"axis", axis}}).output();
}

Value ScatterAdd(Value x, Value indices, Value updates, int64_t axis) {
  if (axis < 0) axis += x.rank();
  return x.graph().AddNode(kScatterAdd, {x, indices, updates}, {{"axis", axis}}).output();
}

Value HitsOfLast(Value x, Value index) {
  const Value classes = Iota(x.graph(), x.shape().WithDType(index.dtype()), x.rank() - 1);
  return Compare(classes, ExpandDims(index, -1), Comparison::kEq);
}

Value PickLast(Value x, Value indices) {
  Dims leading = x.dims();
  if (leading.empty()) throw Invalid("pick_last needs a dimension to pick from, found a scalar");
  leading.pop_back();
  if (!IsInteger(indices.dtype()) || indices.dims() != leading) {
    throw Invalid("pick_last from {} wants integer indices of dimensions {}, found {}",
                  x.shape().ToString(), DimsToString(leading), indices.shape().ToString());
  }
  const Value hit = HitsOfLast(x, indices);
  return ReduceSum(Select(hit, x, ScalarLike(x, 0)), {-1});
}

Value OneHot(Value indices, int64_t depth, DType dtype) {
  if (!IsInteger(indices.dtype()) || depth < 1) {
    throw Invalid("one_hot wants integer indices and a positive depth, found {} and {}",
                  indices.shape().ToString(), depth);
  }
  Dims dims = indices.dims();
  dims.push_back(depth);
  const Value classes =
      Iota(indices.graph(), Shape(indices.dtype(), dims), static_cast<int64_t>(dims.size()) - 1);
  return Convert(Compare(classes, ExpandDims(indices, -1), Comparison::kEq), dtype);
}

Value DynamicSlice(Value x, std::span<const Value> start, const Dims& sizes) {
  std::vector<Value> inputs = {x};
  inputs.insert(inputs.end(), start.begin(), start.end());
  return x.graph().AddNode(kDynamicSlice, std::move(inputs), {{"sizes", sizes}}).output();
}

Value DynamicUpdateSlice(Value x, Value update, std::span<const Value> start) {
  std::vector<Value> inputs = {x, update};
  inputs.insert(inputs.end(), start.begin(), start.end());
  return x.graph().AddNode(kDynamicUpdateSlice, std::move(inputs)).output();
}

Value DynamicIndex(Value x, Value index) {
  const std::vector<Value> start = LeadingStart(x, index);
  Dims sizes = x.dims();
  sizes[0] = 1;
  return Squeeze(DynamicSlice(x, start, sizes), 0);
}

Value DynamicUpdateIndex(Value x, Value update, Value index) {
  const std::vector<Value> start = LeadingStart(x, index);
  return DynamicUpdateSlice(x, ExpandDims(update, 0), start);
}

std::optional<ScatteredRows> MatchScatterAddIntoZeros(Value x) {
  const Node& node = *x.node();
  if (&node.op() != &kScatterAdd || node.attrs().Int("axis") != 0) return std::nullopt;
  const Node& target = *node.input(0).node();
  if (target.name() != "constant") return std::nullopt;
  const Literal& literal = target.attrs().Data("value");
  if (!literal.splat || literal.At(0) != 0) return std::nullopt;
  return ScatteredRows{node.input(1), node.input(2)};
}

Value ScaleScattered(Value x, Value factor) {
  const auto rows = MatchScatterAddIntoZeros(x);
  if (!rows) return x * factor;
  return ScatterAdd(x.node()->input(0), rows->indices, rows->updates * factor);
}

}  // namespace flatout::ir
