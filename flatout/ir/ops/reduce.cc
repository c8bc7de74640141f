// Reductions, argmax and argmin, cumulative sums, and the compositions over them.
#include <algorithm>

#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/ops/common.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

Dims Without(const Dims& dims, const Dims& axes) {
  Dims result;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) {
      result.push_back(dims[i]);
    }
  }
  return result;
}

Dims WithOnes(Dims dims, const Dims& axes) {
  for (const int64_t axis : axes) dims[axis] = 1;
  return dims;
}

// A reduced value stretched back over the axes it lost.
Value Unreduce(Value y, const Dims& dims, const Dims& axes) {
  return BroadcastTo(Reshape(y, WithOnes(dims, axes)), dims);
}

// Products of all elements before (after) each one along the last axis, by doubling: log2(n) steps.
Value ExclusiveProduct(Value x, bool reverse) {
  const int64_t n = x.dim(-1);
  const Dims none(x.rank(), 0);
  const auto shift = [&](Value value, int64_t by) {
    Dims towards = none, away = none;
    towards.back() = by;
    away.back() = -by;
    return reverse ? Pad(value, 1, away, towards, none) : Pad(value, 1, towards, away, none);
  };
  Value product = shift(x, 1);
  for (int64_t step = 1; step < n; step *= 2) product = product * shift(product, step);
  return product;
}

// d prod / d x_i is the product of all the others, which division by x_i would get wrong at zeros.
Value ProductGradient(Value x, Value dy, const Dims& axes) {
  Dims order;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(i);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  const Value moved = Transpose(x, order);
  Dims flat = Without(x.dims(), axes);
  flat.push_back(-1);
  if (x.shape().size() == 0) return ZerosLike(x);
  const Value rows = Reshape(moved, flat);
  const Value others = ExclusiveProduct(rows, false) * ExclusiveProduct(rows, true);
  Dims inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int64_t>(i);
  return Transpose(Reshape(others, moved.dims()), inverse) * Unreduce(dy, x.dims(), axes);
}

const OpDef kReduce = {
    .name = "reduce",
    .infer =
        [](const Node& node) {
          const Shape& x = node.input(0).shape();
          const Reduction kind = ReductionOf(node.attrs().String("kind"));
          const bool logical = kind == Reduction::kAnd || kind == Reduction::kOr;
          if (logical && IsFloat(x.dtype)) {
            throw Invalid("\"{}\" needs pred or integers, found {}", node.attrs().String("kind"),
                          x.ToString());
          }
          if (!logical && x.dtype == DType::kPred) {
            throw Invalid("\"{}\" needs numbers, found {}; convert it or reduce with and, or",
                          node.attrs().String("kind"), x.ToString());
          }
          for (const int64_t axis : node.attrs().Ints("axes")) NormalizeAxis(x, axis);
          return std::vector<Shape>{x.WithDims(Without(x.dims, node.attrs().Ints("axes")))};
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          const Value x = node.input(0);
          const std::string& kind = node.attrs().String("kind");
          const Shape scalar = Shape::Scalar(x.dtype());
          const std::string init =
              writer.Splat(scalar, ReductionIdentity(ReductionOf(kind), x.dtype()));
          const std::string region = writer.BinaryRegion(x.dtype(), kind);
          writer.Bind(
              node,
              writer.EmitRaw("reduce", {writer.Ref(x), init}, {x.shape(), scalar}, {node.shape()},
                             "dimensions = " + I64Array(node.attrs().Ints("axes")), {region}));
        },
    .differentiability = Differentiability::kRule,
    .gradient = [](Node& node, std::span<const Value> dy) -> std::vector<Value> {
      const Value x = node.input(0);
      const Dims& axes = node.attrs().Ints("axes");
      switch (ReductionOf(node.attrs().String("kind"))) {
        case Reduction::kSum:
          return {Unreduce(dy[0], x.dims(), axes)};
        case Reduction::kProduct:
          return {ProductGradient(x, dy[0], axes)};
        case Reduction::kMax:
        case Reduction::kMin: {
          // Equal extremes share the gradient evenly.
          const Value hit = Compare(x, Unreduce(node.output(), x.dims(), axes), Comparison::kEq);
          const Value count = ReduceSum(Convert(hit, x.dtype()), axes);
          return {Select(hit, Unreduce(dy[0] / Reshape(count, dy[0].dims()), x.dims(), axes),
                         ZerosLike(x))};
        }
        case Reduction::kAnd:
        case Reduction::kOr:
          break;
      }
      return {Value()};
    },
    .flops =
        [](const Node& node) {
          const Shape& x = node.input(0).shape();
          return IsFloat(x.dtype) ? static_cast<double>(x.size() - node.shape().size()) : 0;
        },
};

// attr kind: "maximum" (argmax) or "minimum". One reduction over pairs of value and index.
void WriteArgReduce(StablehloWriter& writer, const Node& node) {
  const Value x = node.input(0);
  const bool is_max = node.attrs().String("kind") == "maximum";
  const Shape value = Shape::Scalar(x.dtype());
  const Shape index = Shape::Scalar(DType::kI32);
  const Shape pred = Shape::Scalar(DType::kPred);
  const int64_t axis = node.attrs().Int("axis");
  const Shape indices = x.shape().WithDType(DType::kI32);
  const std::string positions =
      writer.EmitRaw("iota", {}, {}, {indices}, "iota_dimension = " + I64(axis));
  const std::string init_value =
      writer.Splat(value, ReductionIdentity(is_max ? Reduction::kMax : Reduction::kMin, x.dtype()));
  const std::string init_index = writer.Splat(index, 0);
  const bool is_float = IsFloat(x.dtype());
  const std::string region =
      writer.Region({value, index, value, index}, [&](std::span<const std::string> names) {
        const auto compare = [&](const std::string& a, const std::string& b, const Shape& shape,
                                 std::string_view direction) {
          return writer.EmitRaw("compare", {a, b}, {shape, shape}, {pred},
                                fmt::format("comparison_direction = "
                                            "#stablehlo<comparison_direction {}>",
                                            direction));
        };
        const auto logic = [&](std::string_view op, const std::string& a, const std::string& b) {
          return writer.EmitRaw(op, {a, b}, {pred, pred}, {pred});
        };
        std::string better = compare(names[0], names[2], value, is_max ? "GT" : "LT");
        std::string equal = compare(names[0], names[2], value, "EQ");
        if (is_float) {
          // NaN beats every number and ties with NaN.
          const std::string nan0 = compare(names[0], names[0], value, "NE");
          const std::string nan1 = compare(names[2], names[2], value, "NE");
          const std::string number1 = compare(names[2], names[2], value, "EQ");
          better = logic("or", better, logic("and", nan0, number1));
          equal = logic("or", equal, logic("and", nan0, nan1));
        }
        const std::string first = compare(names[1], names[3], index, "LT");
        const std::string take = logic("or", better, logic("and", equal, first));
        const auto select = [&](const std::string& a, const std::string& b, const Shape& shape) {
          return writer.EmitRaw("select", {take, a, b}, {pred, shape, shape}, {shape});
        };
        const std::string best_value = select(names[0], names[2], value);
        const std::string best_index = select(names[1], names[3], index);
        return StablehloWriter::Returns{{best_value, value}, {best_index, index}};
      });
  const std::string pair = writer.EmitRaw(
      "reduce", {writer.Ref(x), positions, init_value, init_index},
      {x.shape(), indices, value, index}, {node.shape().WithDType(x.dtype()), node.shape()},
      "dimensions = " + I64Array({axis}), {region});
  writer.Alias(node, pair + "#1");
}

const OpDef kArgReduce = {
    .name = "argmax",
    .infer =
        [](const Node& node) {
          const Shape& x = node.input(0).shape();
          const int64_t axis = NormalizeAxis(x, node.attrs().Int("axis"));
          if (x.dtype == DType::kPred) throw Invalid("needs numbers, found {}", x.ToString());
          if (x.dims[axis] == 0) throw Invalid("axis {} of {} is empty", axis, x.ToString());
          return std::vector<Shape>{Shape(DType::kI32, Without(x.dims, {axis}))};
        },
    .write = WriteArgReduce,
};

const OpDef kCumulativeSum = {
    .name = "cumulative_sum",
    .infer =
        [](const Node& node) {
          NormalizeAxis(node.input(0).shape(), node.attrs().Int("axis"));
          if (node.input(0).dtype() == DType::kPred) throw Invalid("needs numbers, found pred");
          return std::vector<Shape>{node.input(0).shape()};
        },
    // A window over everything up to the element; XLA rewrites it into a tree of short windows.
    .write =
        [](StablehloWriter& writer, const Node& node) {
          const Value x = node.input(0);
          const int64_t axis = node.attrs().Int("axis");
          const int64_t n = x.dim(axis);
          if (n == 0) return writer.Alias(node, writer.Ref(x));
          const Shape scalar = Shape::Scalar(x.dtype());
          Dims window(x.rank(), 1), padding(2 * x.rank(), 0);
          const Dims ones(x.rank(), 1);
          window[axis] = n;
          padding[2 * axis + (node.attrs().Bool("reverse") ? 1 : 0)] = n - 1;
          const std::string init = writer.Splat(scalar, 0);
          const std::string region = writer.BinaryRegion(x.dtype(), "add");
          writer.Bind(node, writer.EmitRaw("reduce_window", {writer.Ref(x), init},
                                           {x.shape(), scalar}, {node.shape()},
                                           "base_dilations = " + I64Array(ones) +
                                               ", padding = " + I64Matrix(padding, 2) +
                                               ", window_dilations = " + I64Array(ones) +
                                               ", window_dimensions = " + I64Array(window) +
                                               ", window_strides = " + I64Array(ones),
                                           {region}));
        },
    .differentiability = Differentiability::kRule,
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          return std::vector<Value>{
              CumulativeSum(dy[0], node.attrs().Int("axis"), !node.attrs().Bool("reverse"))};
        },
    .flops = [](const Node& node) { return static_cast<double>(node.shape().size()); },
};

// (narrowed, x) -> narrowed = softmax(x) in fewer bits. The gradient by x is made from what is
// narrowed, dx = p (dp - sum(p dp)), and none goes through `narrowed` itself: so nothing as wide as
// x is kept for it. The barrier holds that up where compilers would rather take softmax(x) before
// it was narrowed, which excess precision allows them, and with it keep x.
const OpDef kNarrowedSoftmax = {
    .name = "narrowed_softmax",
    .infer =
        [](const Node& node) {
          const Shape &y = node.input(0).shape(), &x = node.input(1).shape();
          if (y.dims != x.dims) {
            throw Invalid("needs softmax(x) and x of one shape, found {} and {}", y.ToString(),
                          x.ToString());
          }
          NormalizeAxis(x, node.attrs().Int("axis"));
          return std::vector<Shape>{y};
        },
    .write = [](StablehloWriter& writer,
                const Node& node) { writer.Alias(node, writer.Ref(node.input(0))); },
    .differentiability = Differentiability::kRule,
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          const DType dtype = node.input(1).dtype();
          const Value y = node.output();
          const int64_t axis = node.attrs().Int("axis");
          const Value kept = OptimizationBarrier(std::span(&y, 1))[0];
          const Value p = Convert(kept, dtype), dp = Convert(dy[0], dtype);
          const Value dx = p * (dp - ReduceSum(p * dp, {axis}, true));
          if (axis + 1 != dx.rank()) return std::vector<Value>{Value(), dx};
          return std::vector<Value>{Value(), Composite("softmax_gradient", {dx}, {kept, dy[0]})[0]};
        },
};

Value ArgReduce(Reduction kind, Value x, int64_t axis) {
  axis = InOp(x.graph(), kArgReduce.name, [&] { return NormalizeAxis(x.shape(), axis); });
  return x.graph()
      .AddNode(kArgReduce, {x}, {{"kind", std::string(ReductionOp(kind))}, {"axis", axis}})
      .output();
}

}  // namespace

Value StableShift(Value x, int64_t axis, bool keepdims) {
  const Value max = StopGradient(ReduceMax(x, {axis}, keepdims));
  return Select(IsFinite(max), max, ZerosLike(max));
}

std::span<const OpDef* const> ReduceOps() {
  static const OpDef* const rows[] = {&kReduce, &kArgReduce, &kCumulativeSum, &kNarrowedSoftmax};
  return rows;
}

Value Reduce(Reduction reduction, Value x, const Dims& axes, bool keepdims) {
  const Dims sorted = InOp(x.graph(), kReduce.name, [&] { return NormalizeAxes(x.shape(), axes); });
  if (sorted.empty()) return x;
  const Value y =
      x.graph()
          .AddNode(kReduce, {x}, {{"kind", std::string(ReductionOp(reduction))}, {"axes", sorted}})
          .output();
  return keepdims ? Reshape(y, WithOnes(x.dims(), sorted)) : y;
}

Value ReduceSum(Value x, const Dims& axes, bool keepdims) {
  if (IsLowPrecision(x.dtype())) {
    return Convert(ReduceSum(Convert(x, DType::kF32), axes, keepdims), x.dtype());
  }
  return Reduce(Reduction::kSum, x, axes, keepdims);
}
Value ReduceMax(Value x, const Dims& axes, bool keepdims) {
  return Reduce(Reduction::kMax, x, axes, keepdims);
}
Value ReduceMin(Value x, const Dims& axes, bool keepdims) {
  return Reduce(Reduction::kMin, x, axes, keepdims);
}
Value ReduceProduct(Value x, const Dims& axes, bool keepdims) {
  return Reduce(Reduction::kProduct, x, axes, keepdims);
}

Value ReduceMean(Value x, const Dims& axes, bool keepdims) {
  // The sum may lie outside of the range whose mean is well inside.
  if (IsLowPrecision(x.dtype())) {
    return Convert(ReduceMean(Convert(x, DType::kF32), axes, keepdims), x.dtype());
  }
  const Value sum = ReduceSum(x, axes, keepdims);
  const int64_t count = sum.shape().size() == 0 ? 0 : x.shape().size() / sum.shape().size();
  return sum / static_cast<double>(count);
}

Value ArgMax(Value x, int64_t axis) { return ArgReduce(Reduction::kMax, x, axis); }
Value ArgMin(Value x, int64_t axis) { return ArgReduce(Reduction::kMin, x, axis); }

Value CumulativeSum(Value x, int64_t axis, bool reverse) {
  if (IsLowPrecision(x.dtype())) {
    return Convert(CumulativeSum(Convert(x, DType::kF32), axis, reverse), x.dtype());
  }
  axis = InOp(x.graph(), kCumulativeSum.name, [&] { return NormalizeAxis(x.shape(), axis); });
  return x.graph().AddNode(kCumulativeSum, {x}, {{"axis", axis}, {"reverse", reverse}}).output();
}

Value LogSumExp(Value x, int64_t axis, bool keepdims) {
  const Value shift = StableShift(x, axis, true);
  const Value result = Log(ReduceSum(Exp(x - shift), {axis}, true)) + shift;
  return keepdims ? result : Squeeze(result, axis);
}

Value Softmax(Value x, int64_t axis) {
  if (x.rank() > 0 && (axis == -1 || axis + 1 == x.rank())) return SoftmaxLast(x);
  const Value weights = Exp(x - StopGradient(ReduceMax(x, {axis}, true)));
  return weights / ReduceSum(weights, {axis}, true);
}

Value Softmax(Value x, int64_t axis, DType narrow) {
  axis = InOp(x.graph(), kNarrowedSoftmax.name, [&] { return NormalizeAxis(x.shape(), axis); });
  const Value narrowed = Convert(Softmax(x, axis), narrow);
  return x.graph().AddNode(kNarrowedSoftmax, {narrowed, x}, {{"axis", axis}}).output();
}

Value LogSoftmax(Value x, int64_t axis) {
  const Value shifted = x - StopGradient(ReduceMax(x, {axis}, true));
  return shifted - Log(ReduceSum(Exp(shifted), {axis}, true));
}

}  // namespace flatout::ir
