// Element-wise ops: one line per op with its operand types and derivative.
//
// Nodes take operands of equal dims; the builders insert the broadcasts. Derivatives are textbook
// ones; where a choice exists it is said at the row.
#include <cmath>
#include <limits>
#include <numbers>

#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/ops/common.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

// --- operand types
// --------------------------------------------------------------------------------

enum Types : unsigned {
  kFloat = 1,
  kSigned = 2,
  kUnsigned = 4,
  kBool = 8,
  kInteger = kSigned | kUnsigned,
  kNumber = kFloat | kInteger,
  kBits = kInteger | kBool,
  kAny = kNumber | kBool,
};

unsigned TypeOf(DType dtype) {
  if (IsFloat(dtype)) return kFloat;
  if (dtype == DType::kPred) return kBool;
  return IsUnsigned(dtype) ? kUnsigned : kSigned;
}

void CheckType(const Shape& shape, unsigned types) {
  if ((TypeOf(shape.dtype) & types) != 0) return;
  std::string expected;
  for (const auto& [bit, name] : {std::pair<unsigned, const char*>{kFloat, "float"},
                                  {kSigned, "signed integer"},
                                  {kUnsigned, "unsigned integer"},
                                  {kBool, "pred"}}) {
    if ((types & bit) == 0) continue;
    if (!expected.empty()) expected += " or ";
    expected += name;
  }
  throw Invalid("operand must be {}, found {}", expected, shape.ToString());
}

void CheckSame(const Shape& a, const Shape& b) {
  if (a.dtype != b.dtype) {
    throw Invalid("operands {} and {} differ in dtype; convert one of them first", a.ToString(),
                  b.ToString());
  }
  if (a.dims != b.dims) {
    throw Invalid("operands {} and {} differ in shape", a.ToString(), b.ToString());
  }
}

template <unsigned kTypes>
std::vector<Shape> InferUnary(const Node& node) {
  CheckType(node.input(0).shape(), kTypes);
  return {node.input(0).shape()};
}

template <unsigned kTypes>
std::vector<Shape> InferBinary(const Node& node) {
  CheckType(node.input(0).shape(), kTypes);
  CheckSame(node.input(0).shape(), node.input(1).shape());
  return {node.input(0).shape()};
}

std::vector<Shape> InferPred(const Node& node) {
  CheckType(node.input(0).shape(), kFloat);
  return {node.input(0).shape().WithDType(DType::kPred)};
}

// --- rows
// -----------------------------------------------------------------------------------------

void WriteSameName(StablehloWriter& writer, const Node& node) { writer.Emit(node, node.name()); }

double OnePerElement(const Node& node) {
  return IsFloat(node.shape().dtype) ? static_cast<double>(node.shape().size()) : 0;
}

using GradientRule = std::vector<Value> (*)(Node& node, std::span<const Value> dy);

// rule(x, y, dy) -> dx, for y = op(x).
template <auto kRule>
std::vector<Value> D1(Node& node, std::span<const Value> dy) {
  return {kRule(node.input(0), node.output(), dy[0])};
}

// rule(a, b, y, dy) -> {da, db}, for y = op(a, b).
template <auto kRule>
std::vector<Value> D2(Node& node, std::span<const Value> dy) {
  const std::pair<Value, Value> result = kRule(node.input(0), node.input(1), node.output(), dy[0]);
  return {result.first, result.second};
}

using Infer = std::vector<Shape> (*)(const Node& node);
using Pair = std::pair<Value, Value>;
using V = Value;

OpDef Row(std::string_view name, Infer infer, GradientRule gradient) {
  return {.name = name,
          .infer = infer,
          .write = WriteSameName,
          .differentiability = Differentiability::kRule,
          .gradient = gradient,
          .flops = OnePerElement};
}

// The derivative is zero almost everywhere, or the results are no floats.
OpDef ZeroRow(std::string_view name, Infer infer) {
  return {.name = name,
          .infer = infer,
          .write = WriteSameName,
          .differentiability = Differentiability::kZero,
          .gradient = nullptr,
          .flops = OnePerElement};
}

// Where pred holds `value`, elsewhere 0.
Value Where(Value pred, Value value) { return Select(pred, value, ZerosLike(value)); }

// The share of dy that operand x of y = max(x, other) or min(x, other) gets: equal operands get
// half each, as in JAX.
Value ExtremumShare(Value x, Value other, Value y, Value dy) {
  return Where(Compare(x, y, Comparison::kEq),
               Select(Compare(other, y, Comparison::kEq), dy * 0.5, dy));
}

const OpDef kAbs =
    Row("abs", InferUnary<kFloat | kSigned>, D1<[](V x, V, V dy) { return dy * Sign(x); }>);
const OpDef kNegate = Row("negate", InferUnary<kNumber>, D1<[](V, V, V dy) { return Neg(dy); }>);
const OpDef kSign = ZeroRow("sign", InferUnary<kFloat | kSigned>);
const OpDef kExponential =
    Row("exponential", InferUnary<kFloat>, D1<[](V, V y, V dy) { return dy * y; }>);
// y + 1 would cancel for very negative x.
const OpDef kExpm1 =
    Row("exponential_minus_one", InferUnary<kFloat>, D1<[](V x, V, V dy) { return dy * Exp(x); }>);
const OpDef kLog = Row("log", InferUnary<kFloat>, D1<[](V x, V, V dy) { return dy / x; }>);
const OpDef kLog1p =
    Row("log_plus_one", InferUnary<kFloat>, D1<[](V x, V, V dy) { return dy / (x + 1.0); }>);
const OpDef kSqrt = Row("sqrt", InferUnary<kFloat>, D1<[](V, V y, V dy) { return dy * 0.5 / y; }>);
const OpDef kRsqrt =
    Row("rsqrt", InferUnary<kFloat>, D1<[](V x, V y, V dy) { return dy * -0.5 * (y / x); }>);
const OpDef kCbrt =
    Row("cbrt", InferUnary<kFloat>, D1<[](V, V y, V dy) { return dy / (y * y * 3.0); }>);
const OpDef kSine = Row("sine", InferUnary<kFloat>, D1<[](V x, V, V dy) { return dy * Cos(x); }>);
const OpDef kCosine =
    Row("cosine", InferUnary<kFloat>, D1<[](V x, V, V dy) { return -(dy * Sin(x)); }>);
const OpDef kTan =
    Row("tan", InferUnary<kFloat>, D1<[](V, V y, V dy) { return dy * (y * y + 1.0); }>);
// (1 + y)(1 - y) rather than 1 - y*y: exact where y is close to 1.
const OpDef kTanh =
    Row("tanh", InferUnary<kFloat>, D1<[](V, V y, V dy) { return dy * ((1.0 + y) * (1.0 - y)); }>);
const OpDef kLogistic =
    Row("logistic", InferUnary<kFloat>, D1<[](V, V y, V dy) { return dy * (y * (1.0 - y)); }>);
const OpDef kFloor = ZeroRow("floor", InferUnary<kFloat>);
const OpDef kCeil = ZeroRow("ceil", InferUnary<kFloat>);
const OpDef kRound = ZeroRow("round_nearest_even", InferUnary<kFloat>);
const OpDef kIsFinite = ZeroRow("is_finite", InferPred);
const OpDef kNot = ZeroRow("not", InferUnary<kBits>);
const OpDef kPopcnt = ZeroRow("popcnt", InferUnary<kInteger>);

// StableHLO proper has no erf; CHLO, which every XLA plugin reads as well, has.
const OpDef kErf = {
    .name = "erf",
    .infer = InferUnary<kFloat>,
    .write = [](StablehloWriter& writer, const Node& node) { writer.Emit(node, "chlo.erf"); },
    .differentiability = Differentiability::kRule,
    .gradient =
        D1<[](V x, V, V dy) { return dy * (Exp(-(x * x)) * (2 * std::numbers::inv_sqrtpi)); }>,
    .flops = OnePerElement,
};

// max(x, 0), NaN stays NaN; the derivative at 0 is 0 (Keras, TensorFlow, JAX), where that of
// maximum would be 1/2. Written by y rather than x, which then need not be kept.
const OpDef kRelu = {
    .name = "relu",
    .infer = InferUnary<kNumber>,
    .write =
        [](StablehloWriter& writer, const Node& node) {
          const Shape& shape = node.shape();
          const std::string zero = writer.Splat(shape, 0);
          writer.Bind(node, writer.EmitRaw("maximum", {writer.Ref(node.input(0)), zero},
                                           {shape, shape}, {shape}));
        },
    .differentiability = Differentiability::kRule,
    .gradient = D1<[](V, V y, V dy) { return Where(Gt(y, 0), dy); }>,
    .flops = OnePerElement,
};

const OpDef kAdd = Row("add", InferBinary<kAny>, D2<[](V, V, V, V dy) { return Pair{dy, dy}; }>);
const OpDef kSubtract = Row("subtract", InferBinary<kNumber>, D2<[](V, V, V, V dy) {
                              return Pair{dy, -dy};
                            }>);
const OpDef kMultiply = Row("multiply", InferBinary<kAny>, D2<[](V a, V b, V, V dy) {
                              return Pair{dy * b, dy * a};
                            }>);
const OpDef kDivide = Row("divide", InferBinary<kNumber>, D2<[](V, V b, V y, V dy) {
                            return Pair{dy / b, -(dy * y / b)};
                          }>);
const OpDef kMaximum = Row("maximum", InferBinary<kAny>, D2<[](V a, V b, V y, V dy) {
                             return Pair{ExtremumShare(a, b, y, dy), ExtremumShare(b, a, y, dy)};
                           }>);
const OpDef kMinimum = Row("minimum", InferBinary<kAny>, D2<[](V a, V b, V y, V dy) {
                             return Pair{ExtremumShare(a, b, y, dy), ExtremumShare(b, a, y, dy)};
                           }>);
// a^b: by a it is b a^(b-1), 0 for b = 0 even at a = 0; by b it is y log a, 0 for a = 0.
const OpDef kPower = Row("power", InferBinary<kNumber>, D2<[](V a, V b, V y, V dy) {
                           const Value one = Full(a.graph(), a.shape(), 1);
                           const Value da = b * Pow(a, Select(Eq(b, 0), one, b - 1.0));
                           const Value db = y * Log(Select(Eq(a, 0), one, a));
                           return Pair{dy * da, dy * db};
                         }>);
// a - b trunc(a / b).
const OpDef kRemainder = Row("remainder", InferBinary<kNumber>, D2<[](V a, V b, V, V dy) {
                               const Value quotient = a / b;
                               return Pair{dy, -(dy * (Sign(quotient) * Floor(Abs(quotient))))};
                             }>);
const OpDef kAtan2 = Row("atan2", InferBinary<kFloat>, D2<[](V a, V b, V, V dy) {
                           const Value scaled = dy / (a * a + b * b);
                           return Pair{scaled * b, -(scaled * a)};
                         }>);
const OpDef kAnd = ZeroRow("and", InferBinary<kBits>);
const OpDef kOr = ZeroRow("or", InferBinary<kBits>);
const OpDef kXor = ZeroRow("xor", InferBinary<kBits>);
const OpDef kShiftLeft = ZeroRow("shift_left", InferBinary<kInteger>);
const OpDef kShiftRightLogical = ZeroRow("shift_right_logical", InferBinary<kInteger>);
const OpDef kShiftRightArithmetic = ZeroRow("shift_right_arithmetic", InferBinary<kInteger>);

const OpDef kCompare = {
    .name = "compare",
    .infer =
        [](const Node& node) {
          CheckSame(node.input(0).shape(), node.input(1).shape());
          return std::vector<Shape>{node.input(0).shape().WithDType(DType::kPred)};
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          const unsigned type = TypeOf(node.input(0).dtype());
          writer.Emit(node, "compare",
                      fmt::format("comparison_direction = #stablehlo<comparison_direction {}>, "
                                  "compare_type = #stablehlo<comparison_type {}>",
                                  node.attrs().String("direction"),
                                  type == kFloat    ? "FLOAT"
                                  : type == kSigned ? "SIGNED"
                                                    : "UNSIGNED"));
        },
};

const OpDef kSelect = {
    .name = "select",
    .infer =
        [](const Node& node) {
          const Shape& pred = node.input(0).shape();
          CheckType(pred, kBool);
          CheckSame(node.input(1).shape(), node.input(2).shape());
          if (pred.dims != node.input(1).dims()) {
            throw Invalid("condition {} and branches {} differ in shape", pred.ToString(),
                          node.input(1).shape().ToString());
          }
          return std::vector<Shape>{node.input(1).shape()};
        },
    .write = WriteSameName,
    .differentiability = Differentiability::kRule,
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          const Value zero = ZerosLike(dy[0]);
          return std::vector<Value>{Value(), Select(node.input(0), dy[0], zero),
                                    Select(node.input(0), zero, dy[0])};
        },
};

const OpDef kClamp = {
    .name = "clamp",
    .infer =
        [](const Node& node) {
          CheckType(node.input(1).shape(), kNumber);
          CheckSame(node.input(0).shape(), node.input(1).shape());
          CheckSame(node.input(1).shape(), node.input(2).shape());
          return std::vector<Shape>{node.input(1).shape()};
        },
    .write = WriteSameName,
    .differentiability = Differentiability::kRule,
    // x on a bound still gets the gradient, as in TensorFlow's clip_by_value.
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          const Value low = node.input(0), x = node.input(1), high = node.input(2);
          const Value below = Compare(x, low, Comparison::kLt);
          const Value above = Compare(x, high, Comparison::kGt);
          return std::vector<Value>{Where(below, dy[0]), Where(Not(Or(below, above)), dy[0]),
                                    Where(above, dy[0])};
        },
    .flops = OnePerElement,
};

const OpDef kConvert = {
    .name = "convert",
    .infer =
        [](const Node& node) {
          return std::vector<Shape>{node.input(0).shape().WithDType(node.attrs().Type("dtype"))};
        },
    .write = WriteSameName,
    .differentiability = Differentiability::kRule,
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          const DType dtype = node.input(0).dtype();
          return std::vector<Value>{IsFloat(dtype) ? Convert(dy[0], dtype) : Value()};
        },
};

const OpDef kBitcastConvert = {
    .name = "bitcast_convert",
    .infer =
        [](const Node& node) {
          const Shape& from = node.input(0).shape();
          const DType to = node.attrs().Type("dtype");
          if (ByteSize(from.dtype) != ByteSize(to) ||
              (from.dtype == DType::kPred) != (to == DType::kPred)) {
            throw Invalid("{} has elements of another width than {}", from.ToString(), Name(to));
          }
          return std::vector<Shape>{from.WithDType(to)};
        },
    .write = WriteSameName,
};

// --- builders
// -------------------------------------------------------------------------------------

Value Unary(const OpDef& op, Value x) { return x.graph().AddNode(op, {x}).output(); }

Value Binary(const OpDef& op, Value a, Value b, Attributes attrs = {}) {
  if (a.dims() != b.dims()) {
    const Dims dims = InOp(a.graph(), op.name, [&] { return BroadcastDims(a.shape(), b.shape()); });
    a = BroadcastTo(a, dims);
    b = BroadcastTo(b, dims);
  }
  return a.graph().AddNode(op, {a, b}, std::move(attrs)).output();
}

Value FullLike(Value like, double value) { return Full(like.graph(), like.shape(), value); }

std::string_view DirectionName(Comparison comparison) {
  constexpr std::string_view kNames[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  return kNames[static_cast<int>(comparison)];
}

}  // namespace

std::span<const OpDef* const> ElementwiseOps() {
  static const OpDef* const rows[] = {&kAbs,
                                      &kNegate,
                                      &kSign,
                                      &kExponential,
                                      &kExpm1,
                                      &kLog,
                                      &kLog1p,
                                      &kSqrt,
                                      &kRsqrt,
                                      &kCbrt,
                                      &kSine,
                                      &kCosine,
                                      &kTan,
                                      &kTanh,
                                      &kLogistic,
                                      &kErf,
                                      &kRelu,
                                      &kFloor,
                                      &kCeil,
                                      &kRound,
                                      &kIsFinite,
                                      &kNot,
                                      &kPopcnt,
                                      &kAdd,
                                      &kSubtract,
                                      &kMultiply,
                                      &kDivide,
                                      &kMaximum,
                                      &kMinimum,
                                      &kPower,
                                      &kRemainder,
                                      &kAtan2,
                                      &kAnd,
                                      &kOr,
                                      &kXor,
                                      &kShiftLeft,
                                      &kShiftRightLogical,
                                      &kShiftRightArithmetic,
                                      &kCompare,
                                      &kSelect,
                                      &kClamp,
                                      &kConvert,
                                      &kBitcastConvert};
  return rows;
}

Value Abs(Value x) { return Unary(kAbs, x); }
Value Neg(Value x) { return Unary(kNegate, x); }
Value Sign(Value x) { return Unary(kSign, x); }
Value Exp(Value x) { return Unary(kExponential, x); }
Value Expm1(Value x) { return Unary(kExpm1, x); }
Value Log(Value x) { return Unary(kLog, x); }
Value Log1p(Value x) { return Unary(kLog1p, x); }
Value Sqrt(Value x) { return Unary(kSqrt, x); }
Value Rsqrt(Value x) { return Unary(kRsqrt, x); }
Value Cbrt(Value x) { return Unary(kCbrt, x); }
Value Sin(Value x) { return Unary(kSine, x); }
Value Cos(Value x) { return Unary(kCosine, x); }
Value Tan(Value x) { return Unary(kTan, x); }
Value Tanh(Value x) { return Unary(kTanh, x); }
Value Logistic(Value x) { return Unary(kLogistic, x); }
Value Erf(Value x) { return Unary(kErf, x); }
Value Relu(Value x) { return Unary(kRelu, x); }
Value Floor(Value x) { return Unary(kFloor, x); }
Value Ceil(Value x) { return Unary(kCeil, x); }
Value RoundNearestEven(Value x) { return Unary(kRound, x); }
Value IsFinite(Value x) { return Unary(kIsFinite, x); }
Value Not(Value x) { return Unary(kNot, x); }
Value Popcnt(Value x) { return Unary(kPopcnt, x); }

Value Add(Value a, Value b) { return Binary(kAdd, a, b); }
Value Sub(Value a, Value b) { return Binary(kSubtract, a, b); }
Value Mul(Value a, Value b) { return Binary(kMultiply, a, b); }
Value Div(Value a, Value b) { return Binary(kDivide, a, b); }
Value Max(Value a, Value b) { return Binary(kMaximum, a, b); }
Value Min(Value a, Value b) { return Binary(kMinimum, a, b); }
Value Pow(Value a, Value b) { return Binary(kPower, a, b); }
Value Rem(Value a, Value b) { return Binary(kRemainder, a, b); }
Value Atan2(Value a, Value b) { return Binary(kAtan2, a, b); }
Value And(Value a, Value b) { return Binary(kAnd, a, b); }
Value Or(Value a, Value b) { return Binary(kOr, a, b); }
Value Xor(Value a, Value b) { return Binary(kXor, a, b); }
Value ShiftLeft(Value a, Value b) { return Binary(kShiftLeft, a, b); }
Value ShiftRightLogical(Value a, Value b) { return Binary(kShiftRightLogical, a, b); }
Value ShiftRightArithmetic(Value a, Value b) { return Binary(kShiftRightArithmetic, a, b); }

Value Compare(Value a, Value b, Comparison comparison) {
  return Binary(kCompare, a, b, {{"direction", std::string(DirectionName(comparison))}});
}

Value Select(Value pred, Value on_true, Value on_false) {
  const Dims dims = InOp(pred.graph(), kSelect.name, [&] {
    const Dims branches = BroadcastDims(on_true.shape(), on_false.shape());
    return BroadcastDims(pred.shape(), on_true.shape().WithDims(branches));
  });
  return pred.graph()
      .AddNode(kSelect,
               {BroadcastTo(pred, dims), BroadcastTo(on_true, dims), BroadcastTo(on_false, dims)})
      .output();
}

Value Clamp(Value low, Value x, Value high) {
  const Dims dims = InOp(x.graph(), kClamp.name, [&] {
    const Dims bounded = BroadcastDims(low.shape(), x.shape());
    return BroadcastDims(x.shape().WithDims(bounded), high.shape());
  });
  return x.graph()
      .AddNode(kClamp, {BroadcastTo(low, dims), BroadcastTo(x, dims), BroadcastTo(high, dims)})
      .output();
}

Value Convert(Value x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.graph().AddNode(kConvert, {x}, {{"dtype", dtype}}).output();
}

Value ToIndex(Value x) {
  constexpr double kLargest = std::numeric_limits<int32_t>::max();
  if (x.dtype() == DType::kI64) x = Max(Min(x, kLargest), -kLargest - 1);
  if (x.dtype() == DType::kU32 || x.dtype() == DType::kU64) x = Min(x, kLargest);
  return Convert(x, DType::kI32);
}

Value BitcastConvert(Value x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.graph().AddNode(kBitcastConvert, {x}, {{"dtype", dtype}}).output();
}

Value operator+(Value a, Value b) { return Add(a, b); }
Value operator-(Value a, Value b) { return Sub(a, b); }
Value operator*(Value a, Value b) { return Mul(a, b); }
Value operator/(Value a, Value b) { return Div(a, b); }
Value operator-(Value a) { return Neg(a); }
Value operator+(Value a, double b) { return Add(a, FullLike(a, b)); }
Value operator-(Value a, double b) { return Sub(a, FullLike(a, b)); }
Value operator*(Value a, double b) { return Mul(a, FullLike(a, b)); }
Value operator/(Value a, double b) { return Div(a, FullLike(a, b)); }
Value operator+(double a, Value b) { return Add(FullLike(b, a), b); }
Value operator-(double a, Value b) { return Sub(FullLike(b, a), b); }
Value operator*(double a, Value b) { return Mul(FullLike(b, a), b); }
Value operator/(double a, Value b) { return Div(FullLike(b, a), b); }
Value Square(Value x) { return Mul(x, x); }
Value Eq(Value a, double b) { return Compare(a, FullLike(a, b), Comparison::kEq); }
Value Gt(Value a, double b) { return Compare(a, FullLike(a, b), Comparison::kGt); }
Value Ge(Value a, double b) { return Compare(a, FullLike(a, b), Comparison::kGe); }
Value Lt(Value a, double b) { return Compare(a, FullLike(a, b), Comparison::kLt); }
Value Max(Value a, double b) { return Max(a, FullLike(a, b)); }
Value Min(Value a, double b) { return Min(a, FullLike(a, b)); }

}  // namespace flatout::ir
