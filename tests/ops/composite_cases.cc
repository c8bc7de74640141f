// Compositions that go by a name (flatout/ir/ops/composite.cc).
#include <cmath>
#include <limits>

#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

// Of 16-bit arrays the parameters of a normalization are float32.
Value Wide(Value x) { return ir::IsLowPrecision(x.dtype()) ? ir::Convert(x, DType::kF32) : x; }

const bool cross_entropy = AddCase({
    .name = "composite_cross_entropy",
    .op = "composite",
    .inputs = {Random({3, 5}, 11, -2, 2), I32({3}, {4, 0, 2})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::SparseCrossEntropy(x[0], x[1])}; },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor loss(Shape(DType::kF32, {3}));
      for (int64_t r = 0; r < 3; ++r) {
        double sum = 0;
        for (int64_t c = 0; c < 5; ++c) sum += std::exp(in[0].At(5 * r + c));
        loss.Set(r, std::log(sum) - in[0].At(5 * r + static_cast<int64_t>(in[1].At(r))));
      }
      return {loss};
    },
    .differentiable = true,
});

// An index out of range picks 0; infinities are not taken for shifts.
const bool cross_entropy_edges = AddCase({
    .name = "composite_cross_entropy_edges",
    .op = "composite",
    .inputs = {F32({4, 2}, {1, 1, 1, 1, -INFINITY, -INFINITY, INFINITY, 0}),
               I32({4}, {-1, 7, 5, 3})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::SparseCrossEntropy(x[0], x[1])}; },
    .expected = {F32({4}, {1 + std::log(2.0), 1 + std::log(2.0), -INFINITY, INFINITY})},
});

const bool softmax = AddCase({
    .name = "composite_softmax",
    .op = "composite",
    .inputs = {Random({4, 7}, 12, -3, 3)},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::Softmax(x[0], -1)}; },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor y = in[0];
      for (int64_t r = 0; r < 4; ++r) {
        double sum = 0;
        for (int64_t c = 0; c < 7; ++c) sum += std::exp(in[0].At(7 * r + c));
        for (int64_t c = 0; c < 7; ++c) y.Set(7 * r + c, std::exp(in[0].At(7 * r + c)) / sum);
      }
      return {y};
    },
    .differentiable = true,
});

const bool gelu = AddCase({
    .name = "composite_gelu",
    .op = "composite",
    .inputs = {Random({3, 6}, 13, -4, 4)},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::Gelu(x[0])}; },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor y = in[0];
      for (int64_t i = 0; i < y.size(); ++i) {
        y.Set(i, in[0].At(i) * 0.5 * std::erfc(-in[0].At(i) * std::sqrt(0.5)));
      }
      return {y};
    },
    .differentiable = true,
});

const bool layer_normalization = AddCase({
    .name = "composite_layer_normalization",
    .op = "composite",
    .inputs = {Random({2, 3, 5}, 14), Random({5}, 15), Random({5}, 16)},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::LayerNormalization(x[0], Wide(x[1]), Wide(x[2]), 1e-3, x[0].dtype())};
    },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor y = in[0];
      for (int64_t r = 0; r < 6; ++r) {
        double mean = 0, variance = 0;
        for (int64_t c = 0; c < 5; ++c) mean += in[0].At(5 * r + c) / 5;
        for (int64_t c = 0; c < 5; ++c) variance += std::pow(in[0].At(5 * r + c) - mean, 2) / 5;
        for (int64_t c = 0; c < 5; ++c) {
          y.Set(5 * r + c, (in[0].At(5 * r + c) - mean) / std::sqrt(variance + 1e-3) * in[1].At(c) +
                               in[2].At(c));
        }
      }
      return {y};
    },
    .differentiable = true,
});

// Three rows of four cells, the second of which does not count.
const bool batch_normalization = AddCase({
    .name = "composite_batch_normalization",
    .op = "composite",
    .inputs = {Random({3, 2, 2, 5}, 17), Random({5}, 18), Random({5}, 19)},
    .build = [](Graph& graph, Inputs x) -> Outputs {
      const Value gamma = Wide(x[1]);
      const Value weight = ir::Square(ir::Iota(graph, Shape(gamma.dtype(), {3}), 0) - 1.0);
      return ir::BatchNormalization(x[0], gamma, Wide(x[2]), weight, ir::ScalarLike(gamma, 8), 1e-3,
                                    x[0].dtype());
    },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor y = in[0], mean(Shape(DType::kF32, {5})), variance = mean;
      const auto counts = [](int64_t cell) { return cell / 4 != 1; };
      for (int64_t c = 0; c < 5; ++c) {
        double m = 0, v = 0;
        for (int64_t i = 0; i < 12; ++i) m += counts(i) ? in[0].At(5 * i + c) / 8 : 0;
        for (int64_t i = 0; i < 12; ++i) {
          v += counts(i) ? std::pow(in[0].At(5 * i + c) - m, 2) / 8 : 0;
        }
        mean.Set(c, m);
        variance.Set(c, v);
        for (int64_t i = 0; i < 12; ++i) {
          y.Set(5 * i + c,
                (in[0].At(5 * i + c) - m) / std::sqrt(v + 1e-3) * in[1].At(c) + in[2].At(c));
        }
      }
      return {y, mean, variance};
    },
    .differentiable = true,
});

}  // namespace
}  // namespace flatout::testing
