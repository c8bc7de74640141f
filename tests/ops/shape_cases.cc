// Cases of flatout/ir/ops/shape_ops.cc.
#include "flatout/ir/op.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

const RecordedOptions kSmooth = {.differentiable = true};

const bool broadcast = AddRecorded(
    "broadcast_in_dim",
    [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      return {
          ir::BroadcastInDim(x[0], r.attrs.Ints("shape"), r.attrs.Ints("broadcast_dimensions"))};
    },
    kSmooth);

// The map may permute: operand dimension 0 becomes result dimension 2.
const bool broadcast_permutes = AddCase({
    .name = "broadcast_in_dim_permutes",
    .op = "broadcast_in_dim",
    .inputs = {Random({2, 1, 3}, 1)},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::BroadcastInDim(x[0], {3, 4, 2, 5}, {2, 1, 0})};
    },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor out(Shape(DType::kF32, {3, 4, 2, 5}));
      for (int64_t i = 0; i < out.size(); ++i) {
        out.Set(i, in[0].At(i / 5 % 2 * 3 + i / 40));
      }
      return {out};
    },
    .differentiable = true,
});

const bool reshape = AddRecorded(
    "reshape",
    [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      return {ir::Reshape(x[0], r.attrs.Ints("shape"))};
    },
    kSmooth);

const bool transpose = AddRecorded(
    "transpose",
    [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      return {ir::Transpose(x[0], r.attrs.Ints("permutation"))};
    },
    kSmooth);

const bool slice = AddRecorded(
    "slice",
    [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      return {ir::Slice(x[0], r.attrs.Ints("start_indices"), r.attrs.Ints("limit_indices"),
                        r.attrs.Ints("strides"))};
    },
    kSmooth);

// The recorded padding value is 0, 1... as an input; the builder takes a number.
const bool pad = AddRecorded(
    "pad",
    [](const Recorded& r, Graph& graph, Inputs x) -> Outputs {
      return {graph
                  .AddNode(*ir::FindOp("pad"), {x[0], x[1]},
                           {{"low", r.attrs.Ints("edge_padding_low")},
                            {"high", r.attrs.Ints("edge_padding_high")},
                            {"interior", r.attrs.Ints("interior_padding")}})
                  .output()};
    },
    kSmooth);

const bool pad_builder = AddCase({
    .name = "pad_builder",
    .op = "pad",
    .inputs = {F32({2}, {1, 2})},
    .build = [](Graph&, Inputs x) -> Outputs { return {ir::Pad(x[0], -1, {1}, {0}, {1})}; },
    .expected = {F32({4}, {-1, 1, -1, 2})},
    .differentiable = true,
});

const bool concatenate = AddRecorded(
    "concatenate",
    [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      return {ir::Concatenate(x, r.attrs.Int("dimension"))};
    },
    kSmooth);

const bool reverse = AddRecorded(
    "reverse",
    [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      return {ir::Reverse(x[0], r.attrs.Ints("dimensions"))};
    },
    kSmooth);

const bool stack_split = AddCase({
    .name = "stack_and_split",
    .op = "stack",
    .inputs = {F32({2}, {1, 2}), F32({2}, {3, 4})},
    .build = [](Graph&, Inputs x) -> Outputs {
      const Value stacked = ir::Stack(x, -1);
      Outputs outputs = ir::Split(stacked, 2, 0);
      outputs.push_back(stacked);
      outputs.push_back(ir::Squeeze(ir::SliceAxis(stacked, -1, 1, 2), 1));
      return outputs;
    },
    .expected = {F32({1, 2}, {1, 3}), F32({1, 2}, {2, 4}), F32({2, 2}, {1, 3, 2, 4}),
                 F32({2}, {3, 4})},
    .differentiable = true,
});

}  // namespace
}  // namespace flatout::testing
