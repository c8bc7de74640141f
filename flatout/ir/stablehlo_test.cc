#include "flatout/ir/stablehlo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"

namespace flatout::ir {
namespace {

Literal Make(DType dtype, Dims dims, const std::vector<double>& values, bool splat = false) {
  Literal literal{.shape = Shape(dtype, std::move(dims)), .splat = splat, .bytes = {}};
  literal.bytes.resize(values.size() * ByteSize(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(dtype, values[i], literal.bytes.data() + i * ByteSize(dtype));
  }
  return literal;
}

TEST(ElementText, DecimalWhereExactElseHex) {
  EXPECT_EQ(ElementText(DType::kF32, 1), "1.000000e+00");
  EXPECT_EQ(ElementText(DType::kF32, 0.1), "1.000000e-01");
  EXPECT_EQ(ElementText(DType::kF32, 1.0 / 3), "0x3EAAAAAB");
  EXPECT_EQ(ElementText(DType::kF32, -0.0), "-0.000000e+00");
  EXPECT_EQ(ElementText(DType::kF32, INFINITY), "0x7F800000");
  EXPECT_EQ(ElementText(DType::kF32, -INFINITY), "0xFF800000");
  EXPECT_EQ(ElementText(DType::kF32, NAN), "0x7FC00000");
  EXPECT_EQ(ElementText(DType::kF64, 0.1), "1.000000e-01");
  EXPECT_EQ(ElementText(DType::kF64, 1.0 / 3), "0x3FD5555555555555");
  EXPECT_EQ(ElementText(DType::kBF16, INFINITY), "0x7F80");
  EXPECT_EQ(ElementText(DType::kF16, -INFINITY), "0xFC00");
  EXPECT_EQ(ElementText(DType::kPred, 1), "true");
  EXPECT_EQ(ElementText(DType::kI32, -12), "-12");
  EXPECT_EQ(ElementText(DType::kU8, 200), "200");
}

TEST(DenseText, SplatsListsAndBytes) {
  EXPECT_EQ(DenseText(Make(DType::kF32, {2, 2}, {2}, true)),
            "dense<2.000000e+00> : tensor<2x2xf32>");
  EXPECT_EQ(DenseText(Make(DType::kI32, {2, 2}, {1, 2, 3, 4})),
            "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>");
  EXPECT_EQ(DenseText(Make(DType::kF32, {}, {5})), "dense<5.000000e+00> : tensor<f32>");
  EXPECT_EQ(DenseText(Make(DType::kF32, {0, 3}, {})), "dense<> : tensor<0x3xf32>");
  EXPECT_EQ(DenseText(Make(DType::kPred, {2}, {1, 0})), "dense<[true, false]> : tensor<2xi1>");
  const std::string large = DenseText(Make(DType::kI16, {65}, std::vector<double>(65, 0x1234)));
  EXPECT_THAT(large, ::testing::StartsWith("dense<\"0x34123412"));
  EXPECT_THAT(large, ::testing::EndsWith("3412\"> : tensor<65xi16>"));
  // Bools have no raw form.
  EXPECT_THAT(DenseText(Make(DType::kPred, {65}, std::vector<double>(65, 1))),
              ::testing::StartsWith("dense<[true, true"));
}

TEST(DenseText, IntegersBeyondDoubles) {
  Literal literal{.shape = Shape(DType::kU64, {1}), .splat = false, .bytes = {}};
  literal.bytes.resize(8, std::byte{0xFF});
  EXPECT_EQ(DenseText(literal), "dense<[18446744073709551615]> : tensor<1xui64>");
}

TEST(AttributeText, Arrays) {
  EXPECT_EQ(I64Array({1, -2}), "array<i64: 1, -2>");
  EXPECT_EQ(I64Array({}), "array<i64>");
  EXPECT_EQ(BoolArray({1, 0}), "array<i1: true, false>");
  EXPECT_EQ(BoolArray({}), "array<i1>");
  EXPECT_EQ(I64Matrix({0, 1, 2, 3}, 2), "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>");
  EXPECT_EQ(I64Matrix({}, 2), "dense<> : tensor<0x2xi64>");
  EXPECT_EQ(I64(3), "3 : i64");
}

TEST(ToStablehlo, SmallGraph) {
  Graph graph("step");
  const Value x = graph.AddParameter(Shape(DType::kF32, {2, 3}), "x");
  const Value w = graph.AddParameter(Shape(DType::kF32, {3}), "w");
  Exp(x);  // dead
  Value sum;
  {
    const Scope scope(graph, "head");
    sum = ReduceSum(StopGradient(x), {0});
  }
  const Value updated = w - sum;
  graph.SetOutputs({sum, updated});
  graph.Donate(1, 1);
  EXPECT_EQ(
      ToStablehlo(graph, {.num_replicas = 2}),
      R"(module @step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32> loc("head/reduce")
    %4 = "stablehlo.reduce"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.add"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("head/reduce")
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32> loc("head/reduce")
    %5 = "stablehlo.subtract"(%arg1, %4) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%4, %5) : (tensor<3xf32>, tensor<3xf32>) -> ()
  }
}
)");
}

TEST(ToStablehlo, SeveralResultsAndNoOutputs) {
  Graph graph("g");
  const Value x = graph.AddParameter(Shape(DType::kF32, {}), "x");
  const auto kept = OptimizationBarrier(std::array{x, x});
  graph.SetOutputs({kept[1]});
  EXPECT_THAT(ToStablehlo(graph),
              ::testing::HasSubstr("%0:2 = \"stablehlo.optimization_barrier\"(%arg0, %arg0) : "
                                   "(tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)\n"
                                   "    \"func.return\"(%0#1) : (tensor<f32>) -> ()"));
  graph.SetOutputs({});
  EXPECT_THAT(ToStablehlo(graph),
              ::testing::HasSubstr("-> () {\n    \"func.return\"() : () -> ()"));
}

TEST(ToStablehlo, IsDeterministic) {
  const auto text = [] {
    Graph graph("g");
    const Value x = graph.AddParameter(Shape(DType::kF32, {4, 4}), "x");
    graph.SetOutputs({Softmax(x, -1), LogSumExp(x, 0)});
    return ToStablehlo(graph);
  };
  EXPECT_EQ(text(), text());
}

TEST(ToStablehlo, LayerNamesAreQuoted) {
  Graph graph("g");
  const Value x = graph.AddParameter(Shape(DType::kF32, {}), "x");
  const Scope scope(graph, "a\"b\\c\n");
  graph.SetOutputs({Exp(x)});
  EXPECT_THAT(ToStablehlo(graph), ::testing::HasSubstr(R"(loc("a\"b\\c /exponential"))"));
}

}  // namespace
}  // namespace flatout::ir
