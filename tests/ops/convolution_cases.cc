// Cases of flatout/ir/ops/convolution.cc.
#include <algorithm>
#include <string>

#include "flatout/ir/gradient.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

// "b01f" and the like from recorded dimension numbers.
std::string Letters(int64_t outer, char outer_letter, int64_t inner, char inner_letter,
                    const Dims& spatial) {
  std::string text(spatial.size() + 2, '?');
  text[outer] = outer_letter;
  text[inner] = inner_letter;
  for (size_t i = 0; i < spatial.size(); ++i) text[spatial[i]] = static_cast<char>('0' + i);
  return text;
}

const bool recorded = AddRecorded(
    "convolution",
    [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      const ir::Attributes& a = r.attrs;
      const std::string layout =
          Letters(a.Int("input_batch_dimension"), 'b', a.Int("input_feature_dimension"), 'f',
                  a.Ints("input_spatial_dimensions")) +
          "_" +
          Letters(a.Int("kernel_output_feature_dimension"), 'o',
                  a.Int("kernel_input_feature_dimension"), 'i',
                  a.Ints("kernel_spatial_dimensions")) +
          "->" +
          Letters(a.Int("output_batch_dimension"), 'b', a.Int("output_feature_dimension"), 'f',
                  a.Ints("output_spatial_dimensions"));
      return {ir::Convolution(x[0], x[1],
                              {.layout = layout,
                               .strides = a.Ints("window_strides"),
                               .lhs_dilation = a.Ints("lhs_dilation"),
                               .rhs_dilation = a.Ints("rhs_dilation"),
                               .padding = a.Ints("padding"),
                               .feature_group_count = a.Int("feature_group_count"),
                               .batch_group_count = a.Int("batch_group_count")})};
    },
    {.differentiable = true});

// Convolution straight from its definition, for two spatial dimensions.
Tensors Naive(const Tensors& in, const ir::ConvolutionDims& d, const Shape& out_shape) {
  const std::string input = d.layout.substr(0, 4), kernel = d.layout.substr(5, 4),
                    output = d.layout.substr(11, 4);
  const auto place = [](const std::string& letters, char letter) -> size_t {
    return std::min<size_t>(letters.find(letter), 3);  // all letters are there
  };
  const auto flat = [](const Shape& shape, const Dims& index) {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i) at = at * shape.dims[i] + index[i];
    return at;
  };
  Tensor result(out_shape);
  const Shape &xs = in[0].shape, &ws = in[1].shape;
  const int64_t per_group = ws.dims[place(kernel, 'i')];
  const int64_t out_per_group = ws.dims[place(kernel, 'o')] / d.feature_group_count;
  Dims n(4, 0);
  for (int64_t at = 0; at < result.size(); ++at) {
    int64_t rest = at;
    for (size_t i = 4; i-- > 0;) {
      n[i] = rest % out_shape.dims[i];
      rest /= out_shape.dims[i];
    }
    const int64_t feature = n[place(output, 'f')];
    double sum = 0;
    for (int64_t k0 = 0; k0 < ws.dims[place(kernel, '0')]; ++k0) {
      for (int64_t k1 = 0; k1 < ws.dims[place(kernel, '1')]; ++k1) {
        const int64_t p0 =
            n[place(output, '0')] * d.strides[0] + k0 * d.rhs_dilation[0] - d.padding[0];
        const int64_t p1 =
            n[place(output, '1')] * d.strides[1] + k1 * d.rhs_dilation[1] - d.padding[2];
        if (p0 < 0 || p1 < 0 || p0 % d.lhs_dilation[0] != 0 || p1 % d.lhs_dilation[1] != 0) {
          continue;
        }
        if (p0 / d.lhs_dilation[0] >= xs.dims[place(input, '0')]) continue;
        if (p1 / d.lhs_dilation[1] >= xs.dims[place(input, '1')]) continue;
        for (int64_t i = 0; i < per_group; ++i) {
          Dims x(4), w(4);
          x[place(input, 'b')] = n[place(output, 'b')];
          x[place(input, 'f')] = feature / out_per_group * per_group + i;
          x[place(input, '0')] = p0 / d.lhs_dilation[0];
          x[place(input, '1')] = p1 / d.lhs_dilation[1];
          w[place(kernel, 'o')] = feature;
          w[place(kernel, 'i')] = i;
          w[place(kernel, '0')] = k0;
          w[place(kernel, '1')] = k1;
          sum += in[0].At(flat(xs, x)) * in[1].At(flat(ws, w));
        }
      }
    }
    result.Set(at, sum);
  }
  return {result};
}

bool Add2d(std::string name, Dims input, Dims kernel, Dims output, ir::ConvolutionDims dims) {
  return AddCase({
      .name = "convolution_" + name,
      .op = "convolution",
      .inputs = {Random(std::move(input), 1), Random(std::move(kernel), 2)},
      .build = [dims](Graph&, Inputs x) -> Outputs { return {ir::Convolution(x[0], x[1], dims)}; },
      .reference = [dims, output](const Tensors& in) -> Tensors {
        return Naive(in, dims, Shape(DType::kF32, output));
      },
      .differentiable = true,
  });
}

const bool more[] = {
    Add2d("channels_first", {2, 3, 5, 4}, {4, 3, 3, 2}, {2, 4, 3, 3},
          {.layout = "bf01_oi01->bf01",
           .strides = {2, 1},
           .lhs_dilation = {1, 1},
           .rhs_dilation = {1, 1},
           .padding = {1, 1, 0, 0}}),
    Add2d("layout_change_groups", {2, 4, 5, 4}, {6, 2, 3, 2}, {2, 3, 4, 6},
          {.layout = "bf01_oi01->b01f",
           .strides = {2, 1},
           .lhs_dilation = {1, 1},
           .rhs_dilation = {1, 1},
           .padding = {1, 1, 1, 0},
           .feature_group_count = 2}),
    // The stride leaves rows and columns at the end that no window touches.
    Add2d("stride_remainder", {2, 6, 8, 2}, {2, 2, 2, 3}, {2, 2, 2, 3},
          {.layout = "b01f_01io->b01f",
           .strides = {3, 5},
           .lhs_dilation = {1, 1},
           .rhs_dilation = {1, 1},
           .padding = {0, 0, 0, 0}}),
    Add2d("depthwise_stride_dilation", {2, 6, 7, 3}, {3, 2, 1, 6}, {2, 3, 6, 6},
          {.layout = "b01f_01io->b01f",
           .strides = {2, 1},
           .lhs_dilation = {1, 1},
           .rhs_dilation = {1, 3},
           .padding = {1, 1, 1, 1},
           .feature_group_count = 3}),
    Add2d("transposed_groups", {2, 3, 3, 4}, {3, 3, 2, 4}, {2, 6, 6, 4},
          {.layout = "b01f_01io->b01f",
           .strides = {1, 1},
           .lhs_dilation = {2, 2},
           .rhs_dilation = {1, 1},
           .padding = {1, 2, 2, 1},
           .feature_group_count = 2}),
    // 1x1: written as a product where it is one.
    Add2d("pointwise", {2, 3, 4, 3}, {1, 1, 3, 5}, {2, 3, 4, 5},
          {.layout = "b01f_01io->b01f",
           .strides = {1, 1},
           .lhs_dilation = {1, 1},
           .rhs_dilation = {1, 1},
           .padding = {0, 0, 0, 0}}),
    Add2d("pointwise_oi", {2, 3, 4, 3}, {5, 3, 1, 1}, {2, 3, 4, 5},
          {.layout = "b01f_oi01->b01f",
           .strides = {1, 1},
           .lhs_dilation = {1, 1},
           .rhs_dilation = {2, 1},
           .padding = {0, 0, 0, 0}}),
    Add2d("pointwise_stride", {2, 4, 5, 3}, {1, 1, 3, 2}, {2, 2, 3, 2},
          {.layout = "b01f_01io->b01f",
           .strides = {2, 2},
           .lhs_dilation = {1, 1},
           .rhs_dilation = {1, 1},
           .padding = {0, 0, 0, 0}}),
};

// The gradients are convolutions with rules of their own.
const bool second_order = AddCase({
    .name = "convolution_second_order",
    .op = "convolution",
    .inputs = {Random({1, 5, 4, 2}, 1), Random({3, 2, 1, 4}, 2)},
    .build = [](Graph&, Inputs x) -> Outputs {
      const Value y = ir::Convolution(x[0], x[1],
                                      {.layout = "b01f_01io->b01f",
                                       .strides = {2, 1},
                                       .lhs_dilation = {1, 1},
                                       .rhs_dilation = {1, 2},
                                       .padding = {1, 1, 1, 0},
                                       .feature_group_count = 2});
      return ir::Gradient(ir::ReduceSum(ir::Sin(y)), x);
    },
    .differentiable = true,
});

const bool bf16 = AddCase({
    .name = "convolution_bf16",
    .op = "convolution",
    .inputs = {Of(DType::kBF16, {1, 3, 1}, {1, 2, 3}), Of(DType::kBF16, {2, 1, 1}, {0.5, -2})},
    .build = [](Graph&, Inputs x) -> Outputs {
      return {ir::Convolution(x[0], x[1],
                              {.layout = "b0f_0io->b0f",
                               .strides = {1},
                               .lhs_dilation = {1},
                               .rhs_dilation = {1},
                               .padding = {0, 0}})};
    },
    .expected = {Of(DType::kBF16, {1, 2, 1}, {-3.5, -5})},
});

}  // namespace
}  // namespace flatout::testing
