// Cases of flatout/ir/ops/dot.cc.
#include "flatout/ir/gradient.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

const bool dot = AddRecorded("dot_general",
                             [](const Recorded& r, Graph&, Inputs x) -> Outputs {
                               const ir::DotDims dims = {
                                   .lhs_batch = r.attrs.Ints("lhs_batching_dimensions"),
                                   .rhs_batch = r.attrs.Ints("rhs_batching_dimensions"),
                                   .lhs_contract = r.attrs.Ints("lhs_contracting_dimensions"),
                                   .rhs_contract = r.attrs.Ints("rhs_contracting_dimensions")};
                               return {ir::DotGeneral(x[0], x[1], dims)};
                             },
                             {.differentiable = true});

// Leading dimensions 2x1 and 3 broadcast to 2x3.
const bool matmul = AddCase({
    .name = "matmul_broadcasts",
    .op = "matmul",
    .inputs = {Random({2, 1, 2, 4}, 1), Random({3, 4, 2}, 2)},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::MatMul(x[0], x[1])}; },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor out(Shape(DType::kF32, {2, 3, 2, 2}));
      for (int64_t i = 0; i < out.size(); ++i) {
        const int64_t a = i / 12, b = i / 4 % 3, row = i / 2 % 2, column = i % 2;
        double sum = 0;
        for (int64_t k = 0; k < 4; ++k) {
          sum += in[0].At((a * 2 + row) * 4 + k) * in[1].At((b * 4 + k) * 2 + column);
        }
        out.Set(i, sum);
      }
      return {out};
    },
    .differentiable = true,
});

const bool matmul_dense = AddCase({
    .name = "matmul_one_matrix",
    .op = "matmul",
    .inputs = {Random({2, 3, 4}, 1), Random({4, 2}, 2)},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::MatMul(x[0], x[1])}; },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor out(Shape(DType::kF32, {2, 3, 2}));
      for (int64_t i = 0; i < out.size(); ++i) {
        double sum = 0;
        for (int64_t k = 0; k < 4; ++k) sum += in[0].At(i / 2 * 4 + k) * in[1].At(k * 2 + i % 2);
        out.Set(i, sum);
      }
      return {out};
    },
    .differentiable = true,
});

// bf16 operands, f32 result; gradients come back as bf16.
const bool mixed = AddCase({
    .name = "dot_general_bf16_accumulates_f32",
    .op = "dot_general",
    .inputs = {Of(DType::kBF16, {1, 3}, {1, 2, 3}),
               Of(DType::kBF16, {3, 1}, {0.5, -1, 0.00390625})},
    .build = [](Graph&, Inputs x) -> Outputs {
      const Value y = ir::DotGeneral(
          x[0], x[1], {.lhs_batch = {}, .rhs_batch = {}, .lhs_contract = {1}, .rhs_contract = {0}},
          DType::kF32);
      Outputs outputs = ir::Gradient(ir::ReduceSum(y), x);
      outputs.push_back(y);
      return outputs;
    },
    .expected = {Of(DType::kBF16, {1, 3}, {0.5, -1, 0.00390625}),
                 Of(DType::kBF16, {3, 1}, {1, 2, 3}), F32({1, 1}, {-1.48828125})},
    .tolerance = 0,
    .gradient_in_build = true,
});

}  // namespace
}  // namespace flatout::testing
