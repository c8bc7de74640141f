// Cases of flatout/ir/ops/index.cc.
#include "flatout/ir/gradient.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

const bool gather = AddRecorded(
    "gather",
    [](const Recorded&, Graph&, Inputs x) -> Outputs { return {ir::Take(x[0], x[1], 0)}; },
    {.differentiable = true});

const bool scatter = AddRecorded(
    "scatter",
    [](const Recorded&, Graph&, Inputs x) -> Outputs { return {ir::ScatterAdd(x[0], x[1], x[2])}; },
    {.row = "scatter_add"});

// Left out: starts below zero, which JAX counts from the end and XLA (so we) clamps to 0.
const bool dynamic_slice =
    AddRecorded("dynamic_slice",
                [](const Recorded& r, Graph&, Inputs x) -> Outputs {
                  return {ir::DynamicSlice(x[0], x.subspan(1), r.attrs.Ints("slice_sizes"))};
                },
                {.differentiable = true, .mixed_inputs = true, .except = {"dynamic_slice_5"}});

const bool dynamic_update_slice = AddRecorded(
    "dynamic_update_slice",
    [](const Recorded&, Graph&, Inputs x) -> Outputs {
      return {ir::DynamicUpdateSlice(x[0], x[1], x.subspan(2))};
    },
    {.differentiable = true, .mixed_inputs = true, .except = {"dynamic_update_slice_5"}});

const bool clamped = AddCase({
    .name = "dynamic_slice_clamps",
    .op = "dynamic_slice",
    .inputs = {F32({4}, {1, 2, 3, 4}), F32({2}, {8, 9}), I32({}, {-3}), I32({}, {5})},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::DynamicSlice(x[0], x.subspan(2, 1), {2}),
              ir::DynamicSlice(x[0], x.subspan(3, 1), {2}),
              ir::DynamicUpdateSlice(x[0], x[1], x.subspan(2, 1)),
              ir::DynamicUpdateSlice(x[0], x[1], x.subspan(3, 1))};
    },
    .expected = {F32({2}, {1, 2}), F32({2}, {3, 4}), F32({4}, {8, 9, 3, 4}),
                 F32({4}, {1, 2, 8, 9})},
    .differentiable = true,
});

// Every axis, indices with duplicates; as it is and as seen by NumPy's definition.
bool AddTake(int64_t axis) {
  Dims taken = {3, 4, 2};
  taken.erase(taken.begin() + axis);
  taken.insert(taken.begin() + axis, {2, 2});
  const bool take = AddCase({
      .name = "gather_axis" + std::to_string(axis),
      .op = "gather",
      .inputs = {Random({3, 4, 2}, 1), I32({2, 2}, {1, 0, 1, 1})},
      .build = [axis](Graph&, Inputs x) -> Outputs { return {ir::Take(x[0], x[1], axis)}; },
      .reference = [axis, taken](const Tensors& in) -> Tensors {
        Tensor out(Shape(DType::kF32, taken));
        int64_t inner = 1;
        for (int64_t i = axis + 1; i < 3; ++i) inner *= in[0].shape.dims[i];
        const int64_t size = in[0].shape.dims[axis];
        for (int64_t at = 0; at < out.size(); ++at) {
          const int64_t outer = at / (4 * inner), k = at / inner % 4;
          const auto index = static_cast<int64_t>(in[1].At(k));
          out.Set(at, in[0].At((outer * size + index) * inner + at % inner));
        }
        return {out};
      },
      .differentiable = true,
  });
  return take && AddCase({
                     .name = "scatter_add_axis" + std::to_string(axis),
                     .op = "scatter_add",
                     .inputs = {Random({3, 4, 2}, 1), I32({2, 2}, {1, 0, 1, 1}), Random(taken, 2)},
                     .build = [axis](Graph&, Inputs x) -> Outputs {
                       return {ir::ScatterAdd(x[0], x[1], x[2], axis)};
                     },
                     .reference = [axis](const Tensors& in) -> Tensors {
                       Tensor out = in[0];
                       int64_t inner = 1;
                       for (int64_t i = axis + 1; i < 3; ++i) inner *= out.shape.dims[i];
                       const int64_t size = out.shape.dims[axis];
                       for (int64_t at = 0; at < in[2].size(); ++at) {
                         const int64_t outer = at / (4 * inner), k = at / inner % 4;
                         const auto index = static_cast<int64_t>(in[1].At(k));
                         const int64_t to = (outer * size + index) * inner + at % inner;
                         out.Set(to, out.At(to) + in[2].At(at));
                       }
                       return {out};
                     },
                     .differentiable = true,
                 });
}

const bool take[] = {AddTake(0), AddTake(1), AddTake(2)};

const bool take_scalar = AddCase({
    .name = "gather_scalar_index",
    .op = "gather",
    .inputs = {F32({3, 2}, {1, 2, 3, 4, 5, 6}), Of(DType::kI64, {}, {2})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::Take(x[0], x[1], -2)}; },
    .expected = {F32({2}, {5, 6})},
    .differentiable = true,
});

const bool pick = AddCase({
    .name = "pick_last",
    .op = "pick_last",
    .inputs = {F32({2, 3}, {1, 2, 3, 4, 5, 6}), I32({2}, {2, 0})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::PickLast(x[0], x[1])}; },
    .expected = {F32({2}, {3, 4})},
    .differentiable = true,
});

const bool one_hot = AddCase({
    .name = "one_hot",
    .op = "one_hot",
    .inputs = {I32({2, 2}, {2, 0, 1, 5})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::OneHot(x[0], 3, DType::kF32)}; },
    .expected = {F32({2, 2, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0})},
});

const bool leading = AddCase({
    .name = "dynamic_index",
    .op = "dynamic_slice",
    .inputs = {F32({3, 2}, {1, 2, 3, 4, 5, 6}), F32({2}, {8, 9}), I32({}, {1})},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::DynamicIndex(x[0], x[2]), ir::DynamicUpdateIndex(x[0], x[1], x[2])};
    },
    .expected = {F32({2}, {3, 4}), F32({3, 2}, {1, 2, 8, 9, 5, 6})},
    .differentiable = true,
});

}  // namespace
}  // namespace flatout::testing
