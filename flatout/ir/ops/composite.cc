// Computations that have a name: what is written is ordinary nodes, and a `composite` node around
// them says what they are together, so that a library can compute the whole in one pass over
// memory (flatout/kernels) and its gradient is the one a person would write.
//
//   composite(results..., operands...) -> results...
//
// Result i is another name of input i, nothing is written for it. The other inputs are what the
// results are made of. Whoever replaces the node by a call with those operands leaves the ordinary
// nodes without a reader.
#include <numbers>
#include <numeric>
#include <string>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/ops/common.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

size_t NumResults(const Node& node) { return static_cast<size_t>(node.attrs().Int("results")); }
Value Operand(const Node& node, size_t i) { return node.input(NumResults(node) + i); }

Value Wide(Value x) { return IsLowPrecision(x.dtype()) ? Convert(x, DType::kF32) : x; }

Dims AllButLast(Value x) {
  Dims axes(static_cast<size_t>(x.rank()) - 1);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// One number per element of x's first axis, to be multiplied with x.
Value PerRow(Value numbers, Value x) {
  Dims dims(static_cast<size_t>(x.rank()), 1);
  dims[0] = numbers.dim(0);
  return Reshape(numbers, dims);
}

// ---- gradients ----------------------------------------------------------------------------------
// By the operands; dy may be none for a result.

// d loss / d logits = softmax(logits) - onehot(index), times dy of the row.
std::vector<Value> SparseCrossEntropyGradient(Node& node, std::span<const Value> dy) {
  const Value logits = Operand(node, 0), index = Operand(node, 1);
  const Value shift = node.output(1), sum = node.output(2);
  const Value x = Wide(logits);
  const Value shares = Exp(x - ExpandDims(shift, -1)) / ExpandDims(sum, -1);
  const Value error = shares - Convert(HitsOfLast(x, index), x.dtype());
  const Value dx = Convert(error * ExpandDims(dy[0], -1), logits.dtype());
  return {Composite("sparse_cross_entropy_gradient", {dx}, {logits, index, shift, sum, dy[0]})[0],
          Value()};
}

// dx = p (dp - sum(p dp)).
std::vector<Value> SoftmaxGradient(Node& node, std::span<const Value> dy) {
  const Value p = node.output();
  const Value sum = ReduceSum(p * dy[0], {-1}, true);
  return {Composite("softmax_gradient", {p * (dy[0] - sum)}, {p, dy[0]})[0]};
}

// With normal = (x - mean) deviation and g = dy gamma:
// dx = deviation (g - mean(g) - normal mean(g normal)).
std::vector<Value> LayerNormalizationGradient(Node& node, std::span<const Value> dy) {
  const Value given = Operand(node, 0), gamma = Operand(node, 1);
  const Value mean = node.output(1), deviation = node.output(2);
  const Value x = Wide(given), d = Convert(dy[0], x.dtype());
  const Dims rows = AllButLast(x);
  const Value normal = (x - ExpandDims(mean, -1)) * ExpandDims(deviation, -1);
  const Value g = d * gamma;
  const Value centered = Rounded(g) - ReduceMean(g, {-1}, true);
  const Value dx =
      (centered - normal * ReduceMean(g * normal, {-1}, true)) * ExpandDims(deviation, -1);
  const auto over_rows = [&](Value value) { return rows.empty() ? value : ReduceSum(value, rows); };
  return Composite("layer_normalization_gradient",
                   {Convert(dx, given.dtype()), over_rows(d * normal), over_rows(d)},
                   {given, gamma, mean, deviation, dy[0]});
}

// The derivative of x F(x), F being the normal distribution: F(x) + x f(x).
std::vector<Value> GeluGradient(Node& node, std::span<const Value> dy) {
  const Value given = Operand(node, 0), x = Wide(given);
  const Value below = Erf(x * (0.5 * std::numbers::sqrt2)) * 0.5 + 0.5;
  const Value density =
      Exp(Square(x) * -0.5) * (0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
  const Value dx = Convert(dy[0], x.dtype()) * (below + x * density);
  return {Composite("gelu_gradient", {Convert(dx, given.dtype())}, {given, dy[0]})[0]};
}

// With normal = (x - mean) deviation, f = gamma deviation, w the weight of a row and n the sum of
// weights over the elements of a channel:
// dx = f dy - w f / n (sum(dy) + normal sum(dy normal)).
std::vector<Value> BatchNormalizationGradient(Node& node, std::span<const Value> dy) {
  const Value given = Operand(node, 0), gamma = Operand(node, 1), weight = Operand(node, 3);
  const Value count = Operand(node, 4);
  const Value mean = node.output(1), variance = node.output(2);
  const Value by = OrZeros(node, dy, 0);
  const Value x = Wide(given), d = Convert(by, x.dtype());
  const Value deviation = Rsqrt(variance + node.attrs().Double("epsilon"));
  const Dims rows = AllButLast(x);
  const Value w = PerRow(weight, x);
  const Value normal = (x - mean) * deviation;
  const Value by_beta = ReduceSum(d, rows), by_gamma = ReduceSum(d * normal, rows);
  const Value factor = gamma * deviation;
  const Value dx = Rounded(factor * d) - w * ((by_beta + normal * by_gamma) * (factor / count));
  std::vector<Value> gradients =
      Composite("batch_normalization_gradient", {Convert(dx, given.dtype()), by_gamma, by_beta},
                {given, gamma, weight, count, mean, variance, by},
                {{"epsilon", node.attrs().Double("epsilon")}});
  // Seldom: somebody wants the moments' own gradient.
  if (dy[1]) gradients[0] = gradients[0] + Convert(w * (dy[1] / count), given.dtype());
  if (dy[2]) {
    gradients[0] = gradients[0] + Convert(w * ((x - mean) * (dy[2] * 2.0 / count)), given.dtype());
  }
  gradients.resize(5);
  return gradients;
}

struct Kind {
  std::string_view name;
  std::vector<Value> (*gradient)(Node& node, std::span<const Value> dy);
};
constexpr Kind kKinds[] = {
    {"sparse_cross_entropy", SparseCrossEntropyGradient}, {"softmax", SoftmaxGradient},
    {"layer_normalization", LayerNormalizationGradient},  {"gelu", GeluGradient},
    {"batch_normalization", BatchNormalizationGradient},
};

const OpDef kComposite = {
    .name = "composite",
    .infer =
        [](const Node& node) {
          const size_t count = NumResults(node);
          if (count < 1 || count > node.inputs().size()) {
            throw Invalid("has {} inputs for {} results", node.inputs().size(), count);
          }
          std::vector<Shape> shapes;
          for (size_t i = 0; i < count; ++i) shapes.push_back(node.input(i).shape());
          return shapes;
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          std::vector<std::string> names;
          for (size_t i = 0; i < NumResults(node); ++i) names.push_back(writer.Ref(node.input(i)));
          writer.Bind(node, std::move(names));
        },
    .differentiability = Differentiability::kRule,
    .gradient = [](Node& node, std::span<const Value> dy) -> std::vector<Value> {
      std::vector<Value> gradients(node.inputs().size());
      const size_t count = NumResults(node);
      for (const Kind& kind : kKinds) {
        if (kind.name != node.attrs().String("kind")) continue;
        const std::vector<Value> by = kind.gradient(node, dy);
        for (size_t i = 0; i < by.size(); ++i) gradients[count + i] = by[i];
        return gradients;
      }
      // Without a rule of its own: through the nodes that compute it.
      for (size_t i = 0; i < count; ++i) gradients[i] = dy[i];
      return gradients;
    },
};

}  // namespace

std::span<const OpDef* const> CompositeOps() {
  static const OpDef* const rows[] = {&kComposite};
  return rows;
}

std::vector<Value> Composite(std::string_view kind, std::vector<Value> results,
                             std::vector<Value> operands, Attributes attrs) {
  const auto count = static_cast<int64_t>(results.size());
  attrs.Set("kind", std::string(kind));
  attrs.Set("results", count);
  Graph& graph = results[0].graph();
  std::vector<Value> inputs = std::move(results);
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  Node& node = graph.AddNode(kComposite, std::move(inputs), std::move(attrs));
  std::vector<Value> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(node.output(static_cast<int>(i)));
  return values;
}

Value SparseCrossEntropy(Value logits, Value index) {
  const Value x = Wide(logits);
  const Value shift = StableShift(x, -1, false);
  const Value sum = ReduceSum(Exp(x - ExpandDims(shift, -1)), {-1});
  const Value loss = Log(sum) + shift - PickLast(x, index);
  return Composite("sparse_cross_entropy", {loss, shift, sum}, {logits, index})[0];
}

Value SoftmaxLast(Value x) {
  const Value weights = Exp(x - StopGradient(ReduceMax(x, {-1}, true)));
  return Composite("softmax", {weights / ReduceSum(weights, {-1}, true)}, {x})[0];
}

Value LayerNormalization(Value x, Value gamma, Value beta, double epsilon, DType result) {
  const Value wide = Wide(x);
  const Value mean = ReduceMean(wide, {-1});
  const Value centered = wide - ExpandDims(mean, -1);
  const Value deviation = Rsqrt(ReduceMean(Square(centered), {-1}) + epsilon);
  const Value y = centered * ExpandDims(deviation, -1) * gamma + beta;
  return Composite("layer_normalization", {Convert(y, result), mean, deviation}, {x, gamma, beta},
                   {{"epsilon", epsilon}})[0];
}

Value Gelu(Value x) {
  // Halved before it meets x, which may be float16's largest.
  const Value y = x * ((Erf(x * std::numbers::sqrt2 * 0.5) + 1.0) * 0.5);
  return Composite("gelu", {y}, {x})[0];
}

std::vector<Value> BatchNormalization(Value x, Value gamma, Value beta, Value weight, Value count,
                                      double epsilon, DType result) {
  const Value wide = Wide(x);
  const Dims rows = AllButLast(x);
  const Value w = PerRow(weight, x);
  const Value mean = ReduceSum(wide * w, rows) / count;
  const Value centered = wide - mean;
  const Value variance = ReduceSum(Square(centered) * w, rows) / count;
  const Value y = centered * (Rsqrt(variance + epsilon) * gamma) + beta;
  return Composite("batch_normalization", {Convert(y, result), mean, variance},
                   {x, gamma, beta, weight, count}, {{"epsilon", epsilon}});
}

}  // namespace flatout::ir
