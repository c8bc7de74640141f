#include "flatout/plan/liveness.h"

#include <gtest/gtest.h>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"

namespace flatout::plan {
namespace {

using ir::DType;
using ir::Graph;
using ir::Shape;
using ir::Value;

Value Parameter(Graph& graph, ir::Dims dims) {
  return graph.AddParameter(Shape(DType::kF32, std::move(dims)), "");
}

TEST(LivenessTest, ElementwiseChainsTakeNoMemoryButTheirResult) {
  Graph graph;
  const Value x = Parameter(graph, {1000});
  graph.SetOutputs({ir::Relu(x * 2.0 + 1.0) - x});
  EXPECT_EQ(PeakOfTemporaries(graph).bytes, 4000);
}

TEST(LivenessTest, WhatADotReadsIsInMemory) {
  Graph graph;
  const Value x = Parameter(graph, {10, 20}), w = Parameter(graph, {20, 30});
  const Value y = ir::MatMul(ir::Relu(x), w);
  graph.SetOutputs({ir::ReduceSum(y)});
  const Peak peak = PeakOfTemporaries(graph);
  EXPECT_EQ(peak.bytes, 4 * (10 * 20 + 10 * 30));
  ASSERT_EQ(peak.live.size(), 2U);
  EXPECT_EQ(peak.live[0].node->name(), "relu");
  EXPECT_EQ(peak.live[1].node->name(), "dot_general");
}

TEST(LivenessTest, MemoryIsUsedAgain) {
  Graph graph;
  Value x = Parameter(graph, {100, 100});
  const Value w = Parameter(graph, {100, 100});
  for (int i = 0; i < 10; ++i) x = ir::MatMul(x, w);
  graph.SetOutputs({x});
  EXPECT_EQ(PeakOfTemporaries(graph).bytes, 2 * 40000);
}

TEST(LivenessTest, ValuesForTheGradientStay) {
  Graph graph;
  Value x = Parameter(graph, {100, 100});
  const Value w = Parameter(graph, {100, 100});
  for (int i = 0; i < 10; ++i) x = ir::Tanh(ir::MatMul(x, w));
  const Value loss = ir::ReduceSum(x);
  graph.SetOutputs(ir::Gradient(loss, std::vector<Value>{w}));
  // Ten results of tanh, and something to compute with.
  EXPECT_GE(PeakOfTemporaries(graph).bytes, 10 * 40000);
  EXPECT_LE(PeakOfTemporaries(graph).bytes, 15 * 40000);
}

TEST(LivenessTest, ReshapesAndBarriersShareMemory) {
  Graph graph;
  const Value x = Parameter(graph, {100, 100});
  const Value y = ir::MatMul(x, x);
  const Value z = ir::Reshape(y, {10000});
  graph.SetOutputs({ir::OptimizationBarrier(std::vector<Value>{z})[0]});
  EXPECT_EQ(PeakOfTemporaries(graph).bytes, 40000);
}

TEST(LivenessTest, DonatedArgumentsAreUpdatedInPlace) {
  Graph graph;
  const Value w = Parameter(graph, {1000}), g = Parameter(graph, {1000});
  graph.SetOutputs({w - g * 0.1});
  EXPECT_EQ(PeakOfTemporaries(graph).bytes, 4000);
  graph.Donate(0, 0);
  EXPECT_EQ(PeakOfTemporaries(graph).bytes, 0);
}

TEST(LivenessTest, LoopsCarryInPlaceAndTheirBodiesCount) {
  Graph graph;
  const Value x = Parameter(graph, {100, 100});
  const Value start = ir::Full(graph, x.shape(), 0);
  const std::vector<Value> carry = {ir::Scalar(graph, DType::kI32, 0), start, x};
  const std::vector<Value> end = ir::While(
      carry, [](Graph&, std::span<const Value> a) { return std::vector<Value>{ir::Lt(a[0], 3.0)}; },
      [](Graph&, std::span<const Value> a) {
        const Value product = ir::MatMul(a[2], a[2]);
        return std::vector<Value>{a[0] + 1.0, a[1] + product, a[2]};
      });
  graph.SetOutputs({end[1]});
  // The counter, the sum and one product.
  EXPECT_EQ(PeakOfTemporaries(graph).bytes, 4 + 2 * 40000);
}

TEST(LivenessTest, AnEmptyGraphTakesNothing) {
  Graph graph;
  const Value x = Parameter(graph, {100});
  graph.SetOutputs({x});
  EXPECT_EQ(PeakOfTemporaries(graph).bytes, 0);
  EXPECT_TRUE(PeakOfTemporaries(graph).live.empty());
}

}  // namespace
}  // namespace flatout::plan
