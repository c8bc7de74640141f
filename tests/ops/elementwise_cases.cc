// Cases of flatout/ir/ops/elementwise.cc.
#include <cmath>

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
    {.differentiable = true});

const bool convert = AddRecorded("convert", [](const Recorded& r, Graph&, Inputs x) -> Outputs {
  return {ir::Convert(x[0], ir::ParseDType(r.attrs.String("dtype")))};
});

}  // namespace
}  // namespace flatout::testing
