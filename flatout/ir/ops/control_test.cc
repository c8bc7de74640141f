// What needs no plugin: FLOP counts, what the writer leaves out, and errors. Values and gradients
// are in tests/ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/recompute.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;
using Values = std::vector<Value>;

Value Parameter(Graph& graph, Dims dims, DType dtype = DType::kF32) {
  return graph.AddParameter(Shape(dtype, std::move(dims)), "p");
}

Values Square(Graph& graph, Value start, int64_t length) {
  return Scan(graph, length, {}, {&start, 1}, {}, [](Graph&, std::span<const Value> a) -> Values {
    return {a[0] * a[0], a[0]};
  });
}

TEST(Scan, FlopsAreThoseOfEveryStep) {
  Graph graph;
  graph.SetOutputs({Square(graph, Parameter(graph, {5}), 7)[0]});
  EXPECT_EQ(Flops(graph), 7 * 5);
}

// The backward scan computes the body once more to differentiate it: work that the model does not
// ask for.
TEST(Scan, RunningTheBodyAgainForItsGradientIsRecomputation) {
  constexpr double kSteps = 7, kProduct = 2 * 16 * 16 * 16, kElements = 16 * 16;
  Graph graph;
  const Value start = Parameter(graph, {16, 16}), weights = Parameter(graph, {16, 16});
  const Values out = Scan(graph, kSteps, {&weights, 1}, {&start, 1}, {},
                          [](Graph&, std::span<const Value> a) -> Values {
                            return {Square(MatMul(a[1], a[0]))};
                          });
  graph.SetOutputs({out[0]});
  const double forward = Flops(graph);
  EXPECT_EQ(forward, kSteps * (kProduct + kElements));
  EXPECT_EQ(RecomputedFlops(graph), 0);
  graph.SetOutputs(Gradient(ReduceSum(out[0]), Values{start, weights}));
  // The product, and the two of its gradients.
  EXPECT_GE(Flops(graph), 3 * kSteps * kProduct);
  EXPECT_LE(Flops(graph), 3 * kSteps * kProduct + 8 * kSteps * kElements);
  EXPECT_GE(RecomputedFlops(graph), kSteps * kProduct);
  EXPECT_LE(RecomputedFlops(graph), forward);
}

TEST(Conditional, RunningABranchAgainForItsGradientIsRecomputation) {
  constexpr double kProduct = 2 * 16 * 16 * 16, kElements = 16 * 16;
  Graph graph;
  const Value pred = Parameter(graph, {}, DType::kPred), x = Parameter(graph, {16, 16});
  const Body branch = [](Graph&, std::span<const Value> a) -> Values {
    return {Square(MatMul(a[0], a[0]))};
  };
  const Values out = Conditional(pred, {&x, 1}, branch, branch);
  graph.SetOutputs(Gradient(ReduceSum(out[0]), {&x, 1}));
  EXPECT_LE(Flops(graph), 2 * kProduct + 8 * kElements);
  EXPECT_GE(RecomputedFlops(graph), kProduct);
}

// The carries are kept for the backward pass only where there is one, and ys only where read.
TEST(Scan, WritesOnlyTheStacksThatAreRead) {
  Graph graph;
  const Value start = Parameter(graph, {5});
  const Values out = Square(graph, start, 7);
  graph.SetOutputs({out[0]});
  EXPECT_THAT(ToStablehlo(graph), Not(HasSubstr("tensor<7x5xf32>")));
  graph.SetOutputs({out[0], out[1]});
  EXPECT_THAT(ToStablehlo(graph), HasSubstr("tensor<7x5xf32>"));
  graph.SetOutputs(Gradient(ReduceSum(out[0]), {&start, 1}));
  EXPECT_THAT(ToStablehlo(graph), HasSubstr("tensor<7x5xf32>"));
}

TEST(Scan, Errors) {
  Graph graph;
  const Value carry = Parameter(graph, {5});
  const Value xs = Parameter(graph, {3, 5});
  const auto scan = [&](int64_t length, const Body& body) {
    Scan(graph, length, {}, {&carry, 1}, {&xs, 1}, body);
  };
  const Body good = [](Graph&, std::span<const Value> a) -> Values { return {a[0] + a[1]}; };
  EXPECT_THAT([&] { scan(4, good); }, ThrowsMessage<UserError>(HasSubstr("f32[3,5]")));
  EXPECT_THAT([&] { scan(0, good); }, ThrowsMessage<UserError>(HasSubstr("at least 1")));
  EXPECT_THAT(([&] {
                scan(3,
                     [](Graph&, std::span<const Value> a) -> Values { return {ReduceSum(a[0])}; });
              }),
              ThrowsMessage<UserError>(HasSubstr("carry that the body returns")));
  EXPECT_THAT(([&] { scan(3, [&](Graph&, std::span<const Value>) -> Values { return {carry}; }); }),
              ThrowsMessage<UserError>(HasSubstr("only their arguments")));
}

// Nodes of a body belong to the layer that made it, and so do those of its gradient.
TEST(Scan, BodiesKeepTheLayer) {
  Graph graph;
  const Value start = Parameter(graph, {5});
  Value last;
  {
    const Scope scope(graph, "rnn");
    last = Square(graph, start, 3)[0];
  }
  graph.SetOutputs(Gradient(ReduceSum(last), {&start, 1}));
  const std::string dump = Dump(graph);
  EXPECT_THAT(dump, HasSubstr("// rnn\n"));
  EXPECT_THAT(dump, Not(HasSubstr("rnn/rnn")));
}

TEST(While, CountsOneTripAndHasNoGradient) {
  Graph graph;
  const Value x = Parameter(graph, {5});
  const Values out = While(
      {&x, 1},
      [](Graph&, std::span<const Value> a) -> Values {
        return {Lt(Reshape(SliceAxis(a[0], 0, 0, 1), {}), 9)};
      },
      [](Graph&, std::span<const Value> a) -> Values { return {a[0] * a[0]}; });
  graph.SetOutputs(out);
  EXPECT_GE(Flops(graph), 5);
  EXPECT_LE(Flops(graph), 6);  // comparing may count
  EXPECT_THAT(
      [&] {
        Gradient(ReduceSum(out[0]), {&x, 1});
      },
      ThrowsMessage<UserError>(HasSubstr("while")));
}

TEST(Conditional, CountsTheLargerBranchAndChecksBoth) {
  Graph graph;
  const Value pred = Parameter(graph, {}, DType::kPred);
  const Value x = Parameter(graph, {5});
  const Body once = [](Graph&, std::span<const Value> a) -> Values { return {a[0] * a[0]}; };
  const Body twice = [](Graph&, std::span<const Value> a) -> Values {
    return {a[0] * a[0] * a[0]};
  };
  const Body sum = [](Graph&, std::span<const Value> a) -> Values { return {ReduceSum(a[0])}; };
  graph.SetOutputs(Conditional(pred, {&x, 1}, once, twice));
  EXPECT_EQ(Flops(graph), 10);
  EXPECT_THAT(
      [&] {
        Conditional(pred, {&x, 1}, once, sum);
      },
      ThrowsMessage<UserError>(HasSubstr("results of the second branch")));
  EXPECT_THAT(
      [&] {
        Conditional(x, {&x, 1}, once, twice);
      },
      ThrowsMessage<UserError>(HasSubstr("pred scalar")));
}

}  // namespace
}  // namespace flatout::ir
