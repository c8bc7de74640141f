#include "flatout/nn/activation.h"

#include <cmath>
#include <numbers>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/ir/ops.h"

namespace flatout::nn {
namespace {

using ir::Value;

struct Row {
  std::string_view name;
  Value (*apply)(Value x);
};

Value Relu6(Value x) {
  // Gradient 0 outside (0, 6), both ends included, as TensorFlow has it.
  Value six = ir::ScalarLike(x, 6);
  return ir::Select(ir::Gt(x, 0), ir::Select(ir::Lt(x, 6), x, six), ir::ZerosLike(x));
}

Value LeakyRelu(Value x) { return ir::Select(ir::Gt(x, 0), x, x * 0.2); }

// exp(x) - 1 for x <= 0; the argument is cut off above so that no infinity meets a zero gradient.
Value NegativeExpm1(Value x) { return ir::Expm1(ir::Select(ir::Gt(x, 0), ir::ZerosLike(x), x)); }

Value Elu(Value x) { return ir::Select(ir::Gt(x, 0), x, NegativeExpm1(x)); }

// alpha 1: celu and elu are the same function.
Value Celu(Value x) { return Elu(x); }

// Klambauer et al. 2017: the two constants keep mean 0 and variance 1.
Value Selu(Value x) {
  constexpr double kAlpha = 1.6732632423543772, kScale = 1.0507009873554805;
  return ir::Select(ir::Gt(x, 0), x, NegativeExpm1(x) * kAlpha) * kScale;
}

Value Silu(Value x) { return x * ir::Logistic(x); }

// Computes in float32 whatever the dtype.
Value InFloat32(Value x, Value (*body)(Value)) {
  return ir::Convert(body(ir::Convert(x, ir::DType::kF32)), x.dtype());
}

// log(1 + exp(x)) = (x + |x|) / 2 + log1p(exp(-|x|)): exact at both ends, derivative 1/2 at 0. The
// sum may lie outside of float16, and compilers halve it last however it is written.
Value Softplus(Value x) {
  return InFloat32(x, [](Value y) {
    Value magnitude = ir::Abs(y);
    return (y + magnitude) * 0.5 + ir::Log1p(ir::Exp(-magnitude));
  });
}

Value Mish(Value x) { return x * ir::Tanh(Softplus(x)); }

Value Softsign(Value x) { return x / (ir::Abs(x) + 1.0); }

Value LogSigmoid(Value x) { return -Softplus(-x); }

// min(max(x + 3, 0), 6) / 6.
Value HardSigmoid(Value x) { return Relu6(x + 3.0) * (1.0 / 6.0); }

Value HardSilu(Value x) { return x * HardSigmoid(x); }

Value HardTanh(Value x) { return ir::Clamp(ir::ScalarLike(x, -1), x, ir::ScalarLike(x, 1)); }

Value HardShrink(Value x) { return ir::Select(ir::Gt(ir::Abs(x), 0.5), x, ir::ZerosLike(x)); }

Value SoftShrink(Value x) {
  Value zero = ir::ZerosLike(x);
  return ir::Select(ir::Gt(x, 0.5), x - 0.5, ir::Select(ir::Lt(x, -0.5), x + 0.5, zero));
}

// Near 0 the two differ in the third order only.
Value TanhShrink(Value x) {
  return InFloat32(x, [](Value y) { return y - ir::Tanh(y); });
}

// (x + sqrt(x^2 + b)) / 2 with b = 4. The square leaves float16's range at 256.
Value Squareplus(Value x) {
  return InFloat32(x, [](Value y) { return (y + ir::Sqrt(ir::Square(y) + 4.0)) * 0.5; });
}

// 0 below -1, (x + 1)^2 / 4 up to 1, x above.
Value SparsePlus(Value x) {
  Value middle = ir::Square(x + 1.0) * 0.25;
  return ir::Select(ir::Gt(x, -1), ir::Select(ir::Lt(x, 1), middle, x), ir::ZerosLike(x));
}

// 0 below -1, (x + 1) / 2 up to 1, 1 above.
Value SparseSigmoid(Value x) {
  Value one = ir::Full(x.graph(), x.shape(), 1);
  return ir::Select(ir::Gt(x, -1), ir::Select(ir::Lt(x, 1), (x + 1.0) * 0.5, one),
                    ir::ZerosLike(x));
}

Value Softmax(Value x) {
  return InFloat32(x, [](Value y) { return ir::Softmax(y, -1); });
}

Value LogSoftmax(Value x) {
  return InFloat32(x, [](Value y) { return ir::LogSoftmax(y, -1); });
}

// Martins and Astudillo 2016: the projection on the simplex, max(x - tau, 0) with tau such that the
// result sums to 1. The support comes from the sorted row and is constant almost everywhere, so
// only tau's dependence on the supported elements carries a gradient.
Value Sparsemax(Value x) {
  return InFloat32(x, [](Value logits) {
    Value fixed = ir::StopGradient(logits);
    const Value operands[] = {fixed};
    Value sorted = ir::Sort(operands, -1, /*descending=*/true)[0];
    Value rank = ir::Iota(logits.graph(), logits.shape(), logits.rank() - 1) + 1.0;
    Value in_support =
        ir::Compare(sorted * rank + 1.0, ir::CumulativeSum(sorted, -1), ir::Comparison::kGt);
    Value zeros = ir::ZerosLike(logits);
    Value count = ir::ReduceSum(ir::Convert(in_support, ir::DType::kF32), {-1}, true);
    Value smallest = ir::ReduceMin(
        ir::Select(in_support, sorted, ir::Full(logits.graph(), logits.shape(), 3.0e38)), {-1},
        true);
    Value member = ir::Compare(fixed, smallest, ir::Comparison::kGe);
    Value tau = (ir::ReduceSum(ir::Select(member, logits, zeros), {-1}, true) - 1.0) / count;
    return ir::Relu(logits - tau);
  });
}

// The first half of the last axis times the sigmoid of the second.
Value Glu(Value x) {
  if (x.rank() == 0 || x.dim(-1) % 2 != 0) {
    throw Invalid("glu splits the last axis in two: its size must be even, found {}",
                  x.shape().ToString());
  }
  std::vector<Value> halves = ir::Split(x, 2, -1);
  return halves[0] * ir::Logistic(halves[1]);
}

Value Linear(Value x) { return x; }

constexpr Row kRows[] = {
    {"relu", [](Value x) { return ir::Relu(x); }},
    {"relu6", Relu6},
    {"leaky_relu", LeakyRelu},
    {"elu", Elu},
    {"celu", Celu},
    {"selu", Selu},
    // The exact form, Keras's default.
    {"gelu", [](Value x) { return ir::Gelu(x); }},
    {"silu", Silu},
    {"swish", Silu},
    {"mish", Mish},
    {"softplus", Softplus},
    {"softsign", Softsign},
    {"sigmoid", [](Value x) { return ir::Logistic(x); }},
    {"log_sigmoid", LogSigmoid},
    {"hard_sigmoid", HardSigmoid},
    {"hard_silu", HardSilu},
    {"hard_swish", HardSilu},
    {"hard_tanh", HardTanh},
    {"hard_shrink", HardShrink},
    {"soft_shrink", SoftShrink},
    {"tanh_shrink", TanhShrink},
    {"squareplus", Squareplus},
    {"sparse_plus", SparsePlus},
    {"sparse_sigmoid", SparseSigmoid},
    {"sparsemax", Sparsemax},
    {"tanh", [](Value x) { return ir::Tanh(x); }},
    {"exponential", [](Value x) { return ir::Exp(x); }},
    {"softmax", Softmax},
    {"log_softmax", LogSoftmax},
    {"glu", Glu},
    {"linear", Linear},
};

const Row* Find(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

Value Activate(std::string_view name, Value x) {
  if (name.empty()) return x;
  CheckActivation(name);
  return Find(name)->apply(x);
}

void CheckActivation(std::string_view name) {
  if (name.empty() || Find(name) != nullptr) return;
  std::string all;
  for (const Row& row : kRows) all += (all.empty() ? "" : ", ") + std::string(row.name);
  throw Invalid("unknown activation \"{}\"{}; known are {}", name,
                DidYouMean(name, ActivationNames()), all);
}

std::vector<std::string> ActivationNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace flatout::nn
