// The structure of gradients; their values are checked in tests/ops_test.cc.
#include "flatout/ir/gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/verifier.h"

namespace flatout::ir {
namespace {

Shape F32(Dims dims) { return Shape(DType::kF32, std::move(dims)); }

std::vector<Value> Vjp(Value y, std::vector<Value> inputs) {
  const Value one = Full(y.graph(), y.shape(), 1);
  return VectorJacobianProduct(std::span(&y, 1), std::span(&one, 1), inputs);
}

TEST(VectorJacobianProduct, NoneWithoutADifferentiablePath) {
  Graph graph;
  const Value x = graph.AddParameter(F32({3}), "x");
  const Value unused = graph.AddParameter(F32({3}), "unused");
  const Value ints = graph.AddParameter(Shape(DType::kI32, {3}), "ints");
  const std::vector<Value> gradients = Vjp(x * Convert(ints, DType::kF32), {x, unused, ints});
  EXPECT_TRUE(gradients[0]);
  EXPECT_FALSE(gradients[1]);
  EXPECT_FALSE(gradients[2]);
  EXPECT_FALSE(Vjp(Floor(x) * 2.0, {x})[0]);
  EXPECT_FALSE(Vjp(StopGradient(x) * 2.0, {x})[0]);
  EXPECT_FALSE(Vjp(Convert(Convert(x, DType::kI32), DType::kF32), {x})[0]);
  EXPECT_FALSE(Vjp(Convert(Gt(x, 0), DType::kF32), {x})[0]);
}

TEST(VectorJacobianProduct, OfAnOutputItself) {
  Graph graph;
  const Value x = graph.AddParameter(F32({3}), "x");
  const Value one = Full(graph, x.shape(), 1);
  EXPECT_EQ(VectorJacobianProduct(std::array{x}, std::array{one}, std::array{x})[0], one);
}

TEST(VectorJacobianProduct, InnerValuesGetTheirWholeGradientAndNothingBelowIsBuilt) {
  Graph graph;
  const Value x = graph.AddParameter(F32({3}), "x");
  const Value hidden = Exp(x);
  const Value y = hidden * 2.0 + Sin(hidden);
  const size_t before = graph.nodes().size();
  const Value gradient = Vjp(y, {hidden})[0];
  ASSERT_TRUE(gradient);
  // Both uses of `hidden` add up.
  EXPECT_EQ(gradient.node()->name(), "add");
  for (size_t i = before; i < graph.nodes().size(); ++i) {
    for (const Value& input : graph.nodes()[i]->inputs()) EXPECT_NE(input, x);
  }
}

TEST(VectorJacobianProduct, SeveralOutputsAddUp) {
  Graph graph;
  const Value x = graph.AddParameter(F32({}), "x");
  const Value one = Scalar(graph, DType::kF32, 1);
  const std::vector<Value> gradients =
      VectorJacobianProduct(std::array{x * 2.0, x * 3.0}, std::array{one, one}, std::array{x});
  EXPECT_EQ(gradients[0].node()->name(), "add");
}

TEST(VectorJacobianProduct, NodesCarryTheScopeTheyDifferentiate) {
  Graph graph;
  const Value x = graph.AddParameter(F32({2, 3}), "x");
  const Value w = graph.AddParameter(F32({3, 4}), "w");
  Value y;
  {
    const Scope scope(graph, "dense_1");
    y = MatMul(x, w);
  }
  const Scope scope(graph, "backward");
  const Value loss = ReduceSum(y);
  const Value gradient = Gradient(loss, std::array{w})[0];
  EXPECT_EQ(gradient.node()->scope(), "dense_1");
  EXPECT_EQ(graph.scope(), "backward");
}

TEST(Gradient, ZerosForWhatTheLossDoesNotDependOn) {
  Graph graph;
  const Value x = graph.AddParameter(F32({3}), "x");
  const Value unused = graph.AddParameter(F32({2, 2}), "unused");
  const std::vector<Value> gradients = Gradient(ReduceSum(x * x), std::array{x, unused});
  EXPECT_EQ(gradients[1].shape(), unused.shape());
  EXPECT_EQ(gradients[1].node()->name(), "constant");
  EXPECT_EQ(gradients[1].node()->attrs().Data("value").At(0), 0);
  graph.SetOutputs(gradients);
  Verify(graph);
}

TEST(Gradient, OfAGradient) {
  Graph graph;
  const Value x = graph.AddParameter(F32({}), "x");
  const Value first = Gradient(x * x * x, std::array{x})[0];
  const Value second = Gradient(first, std::array{x})[0];
  EXPECT_EQ(second.shape(), x.shape());
  graph.SetOutputs({second});
  Verify(graph);
}

TEST(Gradient, RefusesALossThatIsNoFloatScalar) {
  Graph graph;
  const Value x = graph.AddParameter(F32({3}), "x");
  EXPECT_THROW(Gradient(x, std::array{x}), UserError);
  EXPECT_THROW(Gradient(ReduceSum(Convert(x, DType::kI32)), std::array{x}), UserError);
}

TEST(Gradient, NamesTheOpAndLayerWithoutGradient) {
  Graph graph;
  const Value x = graph.AddParameter(F32({}), "x");
  Value y;
  {
    const Scope scope(graph, "loop");
    y = While(
        std::array{x},
        [](Graph&, std::span<const Value> state) { return std::vector<Value>{Lt(state[0], 10)}; },
        [](Graph&, std::span<const Value> state) { return std::vector<Value>{state[0] * 2.0}; })[0];
  }
  try {
    Gradient(y, std::array{x});
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("layer loop: while"));
  }
  // Not on the path: no error.
  EXPECT_TRUE(Gradient(x * StopGradient(y), std::array{x})[0]);
}

std::vector<Shape> SameShape(const Node& node) { return {node.input(0).shape()}; }
std::vector<Value> WrongGradient(Node& node, std::span<const Value>) {
  return {Scalar(node.graph(), DType::kF32, 1)};
}

TEST(VectorJacobianProduct, RefusesARuleOfTheWrongShape) {
  static const OpDef kBroken = {.name = "broken",
                                .infer = SameShape,
                                .write = nullptr,
                                .differentiability = Differentiability::kRule,
                                .gradient = WrongGradient};
  Graph graph;
  const Value x = graph.AddParameter(F32({3}), "x");
  const Value y = graph.AddNode(kBroken, {x}).output();
  EXPECT_THROW(Vjp(y, {x}), InternalError);
}

}  // namespace
}  // namespace flatout::ir
