// Cases of flatout/ir/ops/reduce.cc.
#include <cmath>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops/common.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

const bool reduce = AddRecorded("reduce",
                                [](const Recorded& r, Graph&, Inputs x) -> Outputs {
                                  return {ir::Reduce(ir::ReductionOf(r.attrs.String("reducer")),
                                                     x[0], r.attrs.Ints("dimensions"))};
                                },
                                {.differentiable = true});

const bool keepdims = AddCase({
    .name = "reduce_mean_keepdims",
    .op = "reduce",
    .inputs = {F32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::ReduceMean(x[0], {0, -1}, true), ir::ReduceMean(x[0])};
    },
    .expected = {F32({1, 2, 1}, {3.5, 5.5}), F32({}, {4.5})},
    .differentiable = true,
});

const bool integers = AddCase({
    .name = "reduce_i32",
    .op = "reduce",
    .inputs = {I32({4}, {-5, 3, 7, -2})},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::ReduceSum(x[0]),
              ir::ReduceMax(x[0]),
              ir::ReduceMin(x[0]),
              ir::ReduceProduct(x[0]),
              ir::Reduce(ir::Reduction::kAnd, x[0]),
              ir::Reduce(ir::Reduction::kOr, x[0])};
    },
    .expected = {I32({}, {3}), I32({}, {7}), I32({}, {-5}), I32({}, {210}), I32({}, {2}),
                 I32({}, {-1})},
});

// Equal extremes share; a product's gradient is right at zeros.
const bool ties = AddCase({
    .name = "reduce_gradient_at_ties_and_zeros",
    .op = "reduce",
    .inputs = {F32({2, 3}, {1, 3, 3, 2, 2, 2}), F32({3, 3}, {2, 0, 5, 0, 0, 3, 2, 3, 4})},
    .build = [](Graph&, Inputs x) -> Outputs {
      const Value loss =
          ir::ReduceSum(ir::ReduceMax(x[0], {1})) + ir::ReduceSum(ir::ReduceProduct(x[1], {1}));
      return ir::Gradient(loss, x);
    },
    .expected = {F32({2, 3}, {0, 0.5, 0.5, 1.0 / 3, 1.0 / 3, 1.0 / 3}),
                 F32({3, 3}, {0, 10, 0, 0, 0, 0, 12, 8, 6})},
    .gradient_in_build = true,
});

const bool argmax = AddRecorded("argmax", [](const Recorded& r, Graph&, Inputs x) -> Outputs {
  return {ir::ArgMax(x[0], r.attrs.Int("axis"))};
});
const bool argmin = AddRecorded("argmin",
                                [](const Recorded& r, Graph&, Inputs x) -> Outputs {
                                  return {ir::ArgMin(x[0], r.attrs.Int("axis"))};
                                },
                                {.row = "argmax"});

const bool argmax_edges = AddCase({
    .name = "argmax_nan_and_infinity",
    .op = "argmax",
    .inputs = {F32({4, 4}, {1, NAN, 3, NAN, -INFINITY, -INFINITY, -INFINITY, -INFINITY, INFINITY, 1,
                            INFINITY, 2, -INFINITY, 5, 5, 4})},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::ArgMax(x[0], 1), ir::ArgMin(x[0], 1)};
    },
    .expected = {I32({4}, {1, 0, 0, 1}), I32({4}, {1, 0, 1, 0})},
});

const bool argmax_integers = AddCase({
    .name = "argmax_i32_last_axis",
    .op = "argmax",
    .inputs = {I32({2, 3}, {1, 7, 7, -1, -3, -2})},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::ArgMax(x[0], -1), ir::ArgMin(x[0], -1)};
    },
    .expected = {I32({2}, {1, 0}), I32({2}, {0, 1})},
});

const bool cumsum =
    AddRecorded("cumsum",
                [](const Recorded& r, Graph&, Inputs x) -> Outputs {
                  return {ir::CumulativeSum(x[0], r.attrs.Int("axis"), r.attrs.Bool("reverse"))};
                },
                {.differentiable = true, .row = "cumulative_sum"});

const bool softmax = AddCase({
    .name = "softmax_family",
    .op = "softmax",
    .inputs = {F32({2, 3}, {1, 2, 4, 1000, 1001, 999})},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::Softmax(x[0], -1), ir::LogSoftmax(x[0], 1), ir::LogSumExp(x[0], 1),
              ir::LogSumExp(x[0], 0, true)};
    },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor soft(Shape(DType::kF32, {2, 3})), log_soft = soft;
      Tensor rows(Shape(DType::kF32, {2})), columns(Shape(DType::kF32, {1, 3}));
      for (int64_t r = 0; r < 2; ++r) {
        double sum = 0;
        const double base = in[0].At(3 * r);
        for (int64_t c = 0; c < 3; ++c) sum += std::exp(in[0].At(3 * r + c) - base);
        rows.Set(r, base + std::log(sum));
        for (int64_t c = 0; c < 3; ++c) {
          const double log_p = in[0].At(3 * r + c) - base - std::log(sum);
          log_soft.Set(3 * r + c, log_p);
          soft.Set(3 * r + c, std::exp(log_p));
        }
      }
      for (int64_t c = 0; c < 3; ++c) columns.Set(c, in[0].At(3 + c));
      return {soft, log_soft, rows, columns};
    },
    .differentiable = true,
});

const bool narrowed_softmax = AddCase({
    .name = "narrowed_softmax",
    .op = "narrowed_softmax",
    .inputs = {Random({3, 4}, 5)},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::Softmax(x[0], 0, x[0].dtype())}; },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor soft = in[0];
      for (int64_t c = 0; c < 4; ++c) {
        double sum = 0;
        for (int64_t r = 0; r < 3; ++r) sum += std::exp(in[0].At(4 * r + c));
        for (int64_t r = 0; r < 3; ++r) soft.Set(4 * r + c, std::exp(in[0].At(4 * r + c)) / sum);
      }
      return {soft};
    },
    .differentiable = true,
});

// A third is 0.33398 in bf16, and the gradient is made from that: of (2, 1, 1) times softmax it is
// p (c - sum(p c)) with sum(p c) = 4 * 0.33398.
const bool bf16_softmax = AddCase({
    .name = "narrowed_softmax_bf16",
    .op = "narrowed_softmax",
    .inputs = {F32({3}, {7, 7, 7}), F32({3}, {2, 1, 1})},
    .build = [](Graph&, Inputs x) -> Outputs {
      const Value p = ir::Softmax(x[0], -1, DType::kBF16);
      const Value loss = ir::ReduceSum(ir::Convert(p, DType::kF32) * x[1]);
      return {ir::Convert(p, DType::kF32), ir::Gradient(loss, std::span(&x[0], 1))[0]};
    },
    .expected = {F32({3}, {0.333984375, 0.333984375, 0.333984375}),
                 F32({3}, {0.22178650, -0.11219788, -0.11219788})},
    .gradient_in_build = true,
});

const bool masked = AddCase({
    .name = "logsumexp_of_nothing",
    .op = "logsumexp",
    .inputs = {F32({2, 2}, {-INFINITY, -INFINITY, 0, -INFINITY})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::LogSumExp(x[0], 1)}; },
    .expected = {F32({2}, {-INFINITY, 0})},
});

}  // namespace
}  // namespace flatout::testing
