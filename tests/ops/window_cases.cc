// Cases of flatout/ir/ops/window.cc.
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops/common.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

ir::Window RecordedWindow(const ir::Attributes& a) {
  ir::Window window;
  window.size = a.Ints("window_dimensions");
  window.strides = a.Ints("window_strides");
  window.padding = a.Ints("padding");
  if (a.Has("window_dilations")) window.dilation = a.Ints("window_dilations");
  if (a.Has("base_dilations")) window.base_dilation = a.Ints("base_dilations");
  return window;
}

const bool reduce_window =
    AddRecorded("reduce_window",
                [](const Recorded& r, Graph&, Inputs x) -> Outputs {
                  return {ir::ReduceWindow(ir::ReductionOf(r.attrs.String("reducer")), x[0],
                                           RecordedWindow(r.attrs))};
                },
                {.differentiable = true});

const bool select_and_scatter =
    AddRecorded("select_and_scatter", [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      return {ir::SelectAndScatterAdd(x[0], x[1], RecordedWindow(r.attrs))};
    });

bool Add(std::string name, ir::Reduction reduction, Dims dims, ir::Window window) {
  return AddCase({
      .name = "reduce_window_" + name,
      .op = "reduce_window",
      .inputs = {Random(std::move(dims), 1)},
      .build = [=](Graph&, Inputs x) -> Outputs {
        return {ir::ReduceWindow(reduction, x[0], window)};
      },
      .differentiable = true,
  });
}

// Every road the gradient can take: tiling windows of few and of many taps, padded and with a
// remainder; overlapping ones, gaps between windows, many taps in two dimensions and in one.
const bool gradients[] = {
    Add("sum_tiles_remainder", ir::Reduction::kSum, {2, 5, 7, 2},
        {.size = {1, 2, 3, 1}, .strides = {1, 2, 3, 1}}),
    Add("sum_tiles_padded", ir::Reduction::kSum, {2, 5, 5, 2},
        {.size = {1, 2, 3, 1}, .strides = {1, 2, 3, 1}, .padding = {0, 0, 1, 0, 1, 1, 0, 0}}),
    Add("sum_gaps", ir::Reduction::kSum, {2, 8, 7, 2},
        {.size = {1, 2, 2, 1}, .strides = {1, 3, 4, 1}}),
    Add("max_tiles_remainder", ir::Reduction::kMax, {2, 5, 7, 2},
        {.size = {1, 2, 3, 1}, .strides = {1, 2, 3, 1}}),
    Add("max_tiles_padded", ir::Reduction::kMax, {2, 5, 5, 2},
        {.size = {1, 2, 3, 1}, .strides = {1, 2, 3, 1}, .padding = {0, 0, 1, 0, 1, 1, 0, 0}}),
    Add("max_whole_image", ir::Reduction::kMax, {2, 5, 7, 2},
        {.size = {1, 5, 7, 1}, .strides = {1, 5, 7, 1}}),
    Add("max_3x3_stride2_padded", ir::Reduction::kMax, {2, 7, 6, 2},
        {.size = {1, 3, 3, 1}, .strides = {1, 2, 2, 1}, .padding = {0, 0, 1, 1, 0, 1, 0, 0}}),
    Add("max_gaps", ir::Reduction::kMax, {2, 8, 7, 2},
        {.size = {1, 2, 2, 1}, .strides = {1, 3, 4, 1}}),
    Add("max_7x7_overlap", ir::Reduction::kMax, {1, 12, 11, 2},
        {.size = {1, 7, 7, 1}, .strides = {1, 2, 2, 1}, .padding = {0, 0, 3, 3, 3, 3, 0, 0}}),
    Add("min_7x7_overlap", ir::Reduction::kMin, {1, 10, 9, 1},
        {.size = {1, 7, 7, 1}, .strides = {1, 2, 2, 1}, .padding = {0, 0, 3, 3, 3, 3, 0, 0}}),
    Add("max_1d_long", ir::Reduction::kMax, {2, 90},
        {.size = {1, 40}, .strides = {1, 7}, .padding = {0, 0, 3, 3}}),
    Add("min_1d_long", ir::Reduction::kMin, {2, 90},
        {.size = {1, 40}, .strides = {1, 7}, .padding = {0, 0, 3, 3}}),
};

const bool integers = AddCase({
    .name = "reduce_window_i32",
    .op = "reduce_window",
    .inputs = {I32({4}, {-5, 3, 7, -2})},
    .build = [](Graph&, Inputs x) -> Outputs {
      const ir::Window window = {.size = {3}, .strides = {2}, .padding = {1, 1}};
      return {ir::ReduceWindow(ir::Reduction::kSum, x[0], window),
              ir::ReduceWindow(ir::Reduction::kMax, x[0], window),
              ir::ReduceWindow(ir::Reduction::kMin, x[0], window)};
    },
    .expected = {I32({2}, {-2, 8}), I32({2}, {3, 7}), I32({2}, {-5, -2})},
});

// The gradient of max pooling goes to the first of equal maxima (row-major within the window), and
// to it alone, as in TensorFlow and PyTorch.
bool AddTies(std::string name, Dims dims, std::vector<double> x, ir::Window window,
             std::vector<double> dy, std::vector<double> dx) {
  return AddCase({
      .name = "reduce_window_ties_" + name,
      .op = "reduce_window",
      .inputs = {F32(dims, std::move(x))},
      .build = [window, dy](Graph& graph, Inputs x) -> Outputs {
        const Value y = ir::ReduceWindow(ir::Reduction::kMax, x[0], window);
        const std::vector<float> weights(dy.begin(), dy.end());
        const Value weight = ir::ConstantF32(graph, y.dims(), weights);
        return ir::Gradient(ir::ReduceSum(y * weight), x);
      },
      .expected = {F32(dims, std::move(dx))},
      .gradient_in_build = true,
  });
}

const bool ties[] = {
    AddTies("2x2", {4, 4},
            {0, 0, 1, 5,  //
             0, 0, 5, 5,  //
             2, 3, 0, 0,  //
             3, 3, 0, 0},
            {.size = {2, 2}, .strides = {2, 2}}, {1, 2, 3, 4},
            {1, 0, 0, 2,  //
             0, 0, 0, 0,  //
             0, 3, 4, 0,  //
             0, 0, 0, 0}),
    AddTies("5x5_tiles", {5, 5}, std::vector<double>(25, 7), {.size = {5, 5}, .strides = {5, 5}},
            {2}, {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
    AddTies("overlap", {3, 5},
            {0, 0, 0, 0, 0,  //
             0, 0, 0, 1, 1,  //
             0, 0, 0, 0, 0},
            {.size = {3, 3}, .strides = {1, 2}}, {1, 2},
            {1, 0, 0, 0, 0,  //
             0, 0, 0, 2, 0,  //
             0, 0, 0, 0, 0}),
    // More taps than one chain of selects takes: one dimension after the other.
    AddTies("7x7_overlap", {8, 8}, std::vector<double>(64, 0), {.size = {7, 7}, .strides = {1, 1}},
            {1, 2, 3, 4}, {1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                           0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                           0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
};

}  // namespace
}  // namespace flatout::testing
