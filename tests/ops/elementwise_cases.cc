// Cases of flatout/ir/ops/elementwise.cc.
#include <cmath>

#include "flatout/ir/gradient.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

using UnaryBuilder = Value (*)(Value);
using BinaryBuilder = Value (*)(Value, Value);

bool AddUnary(std::string_view op, UnaryBuilder builder, RecordedOptions options = {}) {
  return AddRecorded(
      op, [builder](const Recorded&, Graph&, Inputs x) -> Outputs { return {builder(x[0])}; },
      std::move(options));
}

bool AddBinary(std::string_view op, BinaryBuilder builder, RecordedOptions options = {}) {
  return AddRecorded(
      op, [builder](const Recorded&, Graph&, Inputs x) -> Outputs { return {builder(x[0], x[1])}; },
      std::move(options));
}

const RecordedOptions kSmooth = {.differentiable = true};
const RecordedOptions kPositive = {.differentiable = true, .gradient_low = 0.3, .gradient_high = 2};

const bool unary[] = {
    AddUnary("abs", ir::Abs, kSmooth),
    AddUnary("negate", ir::Neg, kSmooth),
    AddUnary("sign", ir::Sign),
    AddUnary("exponential", ir::Exp, kSmooth),
    AddUnary("exponential_minus_one", ir::Expm1, kSmooth),
    AddUnary("log", ir::Log, kPositive),
    AddUnary("log_plus_one", ir::Log1p, kPositive),
    AddUnary("sqrt", ir::Sqrt, kPositive),
    AddUnary("rsqrt", ir::Rsqrt, kPositive),
    AddUnary("cbrt", ir::Cbrt, kPositive),
    AddUnary("sine", ir::Sin, kSmooth),
    AddUnary("cosine", ir::Cos, kSmooth),
    AddUnary("tan", ir::Tan, kSmooth),
    AddUnary("tanh", ir::Tanh, kSmooth),
    AddUnary("logistic", ir::Logistic, kSmooth),
    AddUnary("erf", ir::Erf, kSmooth),
    AddUnary("floor", ir::Floor),
    AddUnary("ceil", ir::Ceil),
    AddUnary("round_nearest_even", ir::RoundNearestEven),
    AddUnary("is_finite", ir::IsFinite),
    AddUnary("not", ir::Not),
    AddUnary("popcnt", ir::Popcnt),
};

const bool binary[] = {
    AddBinary("add", ir::Add, kSmooth),
    AddBinary("subtract", ir::Sub, kSmooth),
    AddBinary("multiply", ir::Mul, kSmooth),
    AddBinary("divide", ir::Div, kPositive),
    AddBinary("maximum", ir::Max, kSmooth),
    AddBinary("minimum", ir::Min, kSmooth),
    AddBinary("power", ir::Pow, kPositive),
    AddBinary("remainder", ir::Rem, kPositive),
    AddBinary("atan2", ir::Atan2, kPositive),
    AddBinary("and", ir::And),
    AddBinary("or", ir::Or),
    AddBinary("xor", ir::Xor),
    AddBinary("shift_left", ir::ShiftLeft),
    AddBinary("shift_right_logical", ir::ShiftRightLogical),
    AddBinary("shift_right_arithmetic", ir::ShiftRightArithmetic),
};

const bool compare = AddRecorded("compare", [](const Recorded& r, Graph&, Inputs x) -> Outputs {
  constexpr std::string_view kNames[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  for (int i = 0; i < 6; ++i) {
    if (r.attrs.String("comparison_direction") == kNames[i]) {
      return {ir::Compare(x[0], x[1], static_cast<ir::Comparison>(i))};
    }
  }
  return {};
});

const bool select = AddRecorded(
    "select",
    [](const Recorded&, Graph&, Inputs x) -> Outputs { return {ir::Select(x[0], x[1], x[2])}; },
    {.differentiable = true, .mixed_inputs = true});

const bool clamp = AddRecorded(
    "clamp",
    [](const Recorded&, Graph&, Inputs x) -> Outputs { return {ir::Clamp(x[0], x[1], x[2])}; },
    {.differentiable = true, .keep_inputs = true});

const bool convert = AddRecorded("convert", [](const Recorded& r, Graph&, Inputs x) -> Outputs {
  return {ir::Convert(x[0], ir::ParseDType(r.attrs.String("dtype")))};
});

// dy by each of `inputs` for the outputs' sum.
Outputs GradientOfSum(Value output, Inputs inputs) {
  const Value one = ir::Full(output.graph(), output.shape(), 1);
  return ir::VectorJacobianProduct(std::span(&output, 1), std::span(&one, 1), inputs);
}

const bool convert_gradient = AddCase({
    .name = "convert_gradient",
    .op = "convert",
    .inputs = {Of(DType::kBF16, {3}, {1, -2, 0.5})},
    .build = [](Graph&,
                Inputs x) { return GradientOfSum(ir::Convert(x[0], DType::kF32) * 3.0, x); },
    .expected = {Of(DType::kBF16, {3}, {3, 3, 3})},
    .gradient_in_build = true,
});

const bool bitcast = AddCase({
    .name = "bitcast_convert_f32_u32",
    .op = "bitcast_convert",
    .inputs = {F32({3}, {1, -2, 0})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::BitcastConvert(x[0], DType::kU32)}; },
    .expected = {Of(DType::kU32, {3}, {0x3F800000, 0xC0000000, 0})},
});

const bool relu = AddCase({
    .name = "relu",
    .op = "relu",
    .inputs = {F32({5}, {-1, 0, 2, NAN, INFINITY})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::Relu(x[0])}; },
    .expected = {F32({5}, {0, 0, 2, NAN, INFINITY})},
    .differentiable = true,
});

// At 0 the derivative is 0, as in Keras.
const bool relu_gradient = AddCase({
    .name = "relu_gradient_at_zero",
    .op = "relu",
    .inputs = {F32({3}, {-1, 0, 2})},
    .build = [](Graph&, Inputs x) { return GradientOfSum(ir::Relu(x[0]), x); },
    .expected = {F32({3}, {0, 0, 1})},
    .gradient_in_build = true,
});

const bool maximum_ties = AddCase({
    .name = "maximum_gradient_at_ties",
    .op = "maximum",
    .inputs = {F32({3}, {1, 2, 3}), F32({3}, {2, 2, 2})},
    .build = [](Graph&, Inputs x) { return GradientOfSum(ir::Max(x[0], x[1]), x); },
    .expected = {F32({3}, {0, 0.5, 1}), F32({3}, {1, 0.5, 0})},
    .gradient_in_build = true,
});

const bool minimum_ties = AddCase({
    .name = "minimum_gradient_at_ties",
    .op = "minimum",
    .inputs = {F32({3}, {1, 2, 3}), F32({3}, {2, 2, 2})},
    .build = [](Graph&, Inputs x) { return GradientOfSum(ir::Min(x[0], x[1]), x); },
    .expected = {F32({3}, {1, 0.5, 0}), F32({3}, {0, 0.5, 1})},
    .gradient_in_build = true,
});

// A bound passes the gradient, as in TensorFlow's clip_by_value.
const bool clamp_bounds = AddCase({
    .name = "clamp_gradient_at_bounds",
    .op = "clamp",
    .inputs = {F32({5}, {-2, -1, 0, 1, 2})},
    .build =
        [](Graph&, Inputs x) {
          return GradientOfSum(ir::Clamp(ir::ScalarLike(x[0], -1), x[0], ir::ScalarLike(x[0], 1)),
                               x);
        },
    .expected = {F32({5}, {0, 1, 1, 1, 0})},
    .gradient_in_build = true,
});

// x^0 has derivative 0 by x even at x = 0, and x = 0 none by the exponent.
const bool power_zero = AddCase({
    .name = "power_gradient_at_zero",
    .op = "power",
    .inputs = {F32({3}, {0, 0, 2}), F32({3}, {0, 2, 0})},
    .build = [](Graph&, Inputs x) { return GradientOfSum(ir::Pow(x[0], x[1]), x); },
    .expected = {F32({3}, {0, 0, 0}), F32({3}, {0, 0, 0.69314718})},
    .gradient_in_build = true,
});

const bool broadcasting = AddCase({
    .name = "add_broadcasts",
    .op = "add",
    .inputs = {Random({2, 1, 3}, 1), Random({4, 1}, 2)},
    .build = [](Graph&, Inputs x) -> Outputs { return {x[0] + x[1]}; },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor sum(Shape(DType::kF32, {2, 4, 3}));
      for (int64_t i = 0; i < 24; ++i) {
        sum.Set(i, in[0].At(i / 12 * 3 + i % 3) + in[1].At(i / 3 % 4));
      }
      return {sum};
    },
    .differentiable = true,
});

const bool select_broadcasts = AddCase({
    .name = "select_broadcasts",
    .op = "select",
    .inputs = {Of(DType::kPred, {2, 1}, {1, 0}), F32({3}, {1, 2, 3}), F32({}, {9})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::Select(x[0], x[1], x[2])}; },
    .expected = {F32({2, 3}, {1, 2, 3, 9, 9, 9})},
    .differentiable = true,
});

// The scalar operators, and the numbers that have no short decimal form.
const bool operators = AddCase({
    .name = "scalar_operators",
    .op = "divide",
    .inputs = {F32({3}, {1, 2, 4})},
    .build = [](Graph&, Inputs in) -> Outputs {
      const Value x = in[0];
      return {1.0 / (x * 2.0 + 0.1) - (3.0 - x) / 3.0 + (1.0 + (-x - 1.0) * x),
              ir::Max(ir::Min(ir::Square(x), 3.3), 1.7),
              ir::Convert(ir::Eq(x, 2), DType::kF32),
              ir::Convert(ir::Gt(x, 2), DType::kF32),
              ir::Convert(ir::Ge(x, 2), DType::kF32),
              ir::Convert(ir::Lt(x, 2), DType::kF32)};
    },
    .reference = [](const Tensors& in) -> Tensors {
      Tensors out(6, Tensor(Shape(DType::kF32, {3})));
      for (int64_t i = 0; i < 3; ++i) {
        const double x = in[0].At(i);
        out[0].Set(i, 1 / (x * 2 + 0.1) - (3 - x) / 3 + (1 + (-x - 1) * x));
        out[1].Set(i, std::max(std::min(x * x, 3.3), 1.7));
        out[2].Set(i, x == 2);
        out[3].Set(i, x > 2);
        out[4].Set(i, x >= 2);
        out[5].Set(i, x < 2);
      }
      return out;
    },
});

}  // namespace
}  // namespace flatout::testing
