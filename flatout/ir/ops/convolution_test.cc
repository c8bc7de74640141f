// What needs no plugin: FLOP counts, shapes and errors. Values and gradients are in tests/ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"

namespace flatout::ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ConvolutionDims Plain(int64_t stride = 1, int64_t groups = 1) {
  return {.layout = "b01f_01io->b01f",
          .strides = {stride, stride},
          .lhs_dilation = {1, 1},
          .rhs_dilation = {1, 1},
          .padding = {1, 1, 1, 1},
          .feature_group_count = groups};
}

TEST(Convolution, FlopsAreTwoPerMultiplyAdd) {
  Graph graph;
  const Value x = graph.AddParameter(Shape(DType::kF32, {8, 14, 14, 16}), "x");
  const Value w = graph.AddParameter(Shape(DType::kF32, {3, 3, 4, 32}), "w");
  const Value y = Convolution(x, w, Plain(2, 4));
  ASSERT_EQ(y.shape(), Shape(DType::kF32, {8, 7, 7, 32}));
  graph.SetOutputs({y});
  const double forward = 2.0 * 8 * 7 * 7 * 32 * 3 * 3 * 4;
  EXPECT_EQ(Flops(graph), forward);
}

// Each gradient does the work of the forward convolution, strided or not.
TEST(Convolution, GradientsCountAsTheForward) {
  for (const int64_t stride : {1, 2}) {
    Graph graph;
    const Value x = graph.AddParameter(Shape(DType::kF32, {8, 14, 14, 16}), "x");
    const Value w = graph.AddParameter(Shape(DType::kF32, {3, 3, 16, 32}), "w");
    const Value y = Convolution(x, w, Plain(stride));
    const Value dy = graph.AddParameter(y.shape(), "dy");
    graph.SetOutputs({y});
    const double forward = Flops(graph);
    const Value inputs[] = {x, w};
    graph.SetOutputs(VectorJacobianProduct({&y, 1}, {&dy, 1}, inputs));
    EXPECT_EQ(Flops(graph), 2 * forward) << "stride " << stride;
  }
}

TEST(Convolution, ErrorsNameBothShapesAndTheLayer) {
  Graph graph;
  const Value x = graph.AddParameter(Shape(DType::kF32, {8, 14, 14, 3}), "x");
  const Value w = graph.AddParameter(Shape(DType::kF32, {3, 3, 4, 32}), "w");
  const Scope scope(graph, "conv2d_1");
  EXPECT_THAT(([&] { Convolution(x, w, Plain()); }),
              ThrowsMessage<UserError>(AllOf(HasSubstr("conv2d_1"), HasSubstr("f32[8,14,14,3]"),
                                             HasSubstr("f32[3,3,4,32]"), HasSubstr("takes 4"))));
  ConvolutionDims dims = Plain();
  dims.layout = "b01f_01io->b0f";
  EXPECT_THAT(([&] { Convolution(x, w, dims); }),
              ThrowsMessage<UserError>(HasSubstr("same number of spatial dimensions")));
  dims.layout = "b00f_01io->b01f";
  EXPECT_THAT(([&] { Convolution(x, w, dims); }), ThrowsMessage<UserError>(HasSubstr("each once")));
  dims = Plain();
  dims.strides = {0, 1};
  EXPECT_THAT(([&] { Convolution(x, w, dims); }), ThrowsMessage<UserError>(HasSubstr("strides")));
  dims = Plain();
  dims.padding = {-9, -9, 0, 0};
  EXPECT_THAT(([&] {
                Convolution(x, graph.AddParameter(Shape(DType::kF32, {3, 3, 3, 1}), "w"), dims);
              }),
              ThrowsMessage<UserError>(HasSubstr("cuts more")));
}

}  // namespace
}  // namespace flatout::ir
