// What a gradient over recomputed blocks reads. Its bits, and what the compiler makes of it, are in
// flatout/step/recompute_test.cc.
#include "flatout/ir/recompute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/ir/verifier.h"

namespace flatout::ir {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using Values = std::vector<Value>;

Value Parameter(Graph& graph, Dims dims, const std::string& name = "p") {
  return graph.AddParameter(Shape(DType::kF32, std::move(dims)), name);
}

// A loss over two layers, tanh(x w) each, and a gradient by both weights.
struct TwoLayers {
  // Nodes of both layers are in block 0 and 1, or in none.
  explicit TwoLayers(bool recompute, bool scan = false) {
    x = Parameter(graph, {4, 8}, "x");
    w1 = Parameter(graph, {8, 8}, "w1");
    w2 = Parameter(graph, {8, 8}, "w2");
    std::vector<int> blocks;
    const auto layer = [&](const std::string& name, int block, Value in, Value weight) {
      blocks.resize(graph.nodes().size(), -1);
      const Scope scope(graph, name);
      hidden.push_back(MatMul(in, weight));
      Value out = Tanh(hidden.back()) * 3.0;
      if (scan) {
        out = Scan(
            graph, 5, {&weight, 1}, {&out, 1}, {},
            [](Graph&, std::span<const Value> a) -> Values { return {Tanh(MatMul(a[1], a[0]))}; })[0];
      }
      blocks.resize(graph.nodes().size(), recompute ? block : -1);
      return out;
    };
    between = layer("first", 0, x * 2.0, w1);
    last = layer("second", 1, between, w2);
    loss = ReduceSum(Square(last));
    count = graph.nodes().size();
    gradients = Gradient(loss, Values{w1, w2}, blocks);
    outputs = {loss, gradients[0], gradients[1]};
    graph.SetOutputs(outputs);
    Verify(graph);
  }

  Graph graph;
  Value x, w1, w2, between, last, loss;
  Values hidden, gradients, outputs;
  size_t count = 0;  // nodes before the gradient's
};

std::set<std::string> Scopes(const Values& values) {
  std::set<std::string> scopes;
  for (const Value& value : values) scopes.insert(value.node()->scope());
  return scopes;
}

bool DependsOn(Value value, Value on) {
  if (value == on) return true;
  for (const Value& input : value.node()->inputs()) {
    if (DependsOn(input, on)) return true;
  }
  return false;
}

std::vector<const Node*> LiveCopies(const Graph& graph, std::string_view op) {
  std::vector<const Node*> found;
  const std::vector<bool> live = graph.LiveNodes();
  for (const auto& node : graph.nodes()) {
    if (live[node->id()] && node->attrs().Has(kRecomputed) && node->name() == op) {
      found.push_back(node.get());
    }
  }
  return found;
}

TEST(Recompute, KeepsWhatBlocksTakeInAndNothingInside) {
  const TwoLayers plain(false);
  EXPECT_THAT(Scopes(KeptFor(plain.graph, plain.count)),
              UnorderedElementsAre("", "first", "second"));
  const TwoLayers recomputed(true);
  const Values kept = KeptFor(recomputed.graph, recomputed.count);
  EXPECT_THAT(kept, Contains(recomputed.between));
  EXPECT_THAT(kept, Contains(recomputed.last));  // outside of all blocks: the square's
  for (const Value& value : kept) {
    if (value.node()->scope().empty()) continue;
    EXPECT_TRUE(value == recomputed.between || value == recomputed.last) << value.node()->name();
  }
  EXPECT_EQ(recomputed.gradients[0].shape(), plain.gradients[0].shape());
}

TEST(Recompute, CopiesAreOfTheLayerAndDoneOnce) {
  const TwoLayers recomputed(true);
  std::multiset<std::string> dots;
  for (const Node* node : LiveCopies(recomputed.graph, "dot_general")) dots.insert(node->scope());
  EXPECT_THAT(dots, UnorderedElementsAre("first", "second"));
  EXPECT_THAT(LiveCopies(TwoLayers(false).graph, "dot_general"), IsEmpty());
}

// The first block waits for the gradient that comes down to it, and for that by the second's
// weight; the weight itself is read as it is.
TEST(Recompute, WaitsForTheGradientsBefore) {
  const TwoLayers recomputed(true);
  for (const Node* node : LiveCopies(recomputed.graph, "dot_general")) {
    const Value copy(const_cast<Node*>(node), 0);
    EXPECT_TRUE(DependsOn(copy, recomputed.last));
    EXPECT_EQ(DependsOn(copy, recomputed.gradients[1]), node->scope() == "first");
    EXPECT_EQ(node->input(1), node->scope() == "first" ? recomputed.w1 : recomputed.w2);
  }
}

TEST(Recompute, FlopsOfTheModelStayAndThoseOfRecomputingAreApart) {
  const TwoLayers plain(false), recomputed(true);
  EXPECT_EQ(Flops(recomputed.graph), Flops(plain.graph));
  EXPECT_EQ(RecomputedFlops(plain.graph), 0);
  // The products of both layers, and a little for what lies between.
  const double products = 2.0 * 2 * 4 * 8 * 8;
  EXPECT_GE(RecomputedFlops(recomputed.graph), products);
  EXPECT_LE(RecomputedFlops(recomputed.graph), 1.5 * products);
}

TEST(Recompute, FlopsInLoops) {
  Graph graph;
  const Value x = Parameter(graph, {4, 4});
  const auto body = [](Graph& inner, std::span<const Value> a) -> Values {
    const Value y = Tanh(MatMul(a[0], a[0]));
    std::vector<int> blocks(inner.nodes().size(), 0);
    blocks[0] = -1;
    return {Gradient(ReduceSum(Square(y)), Values{a[0]}, blocks)[0]};
  };
  const auto twice = [&](Graph&, std::span<const Value> a) -> Values {
    return Scan(a[0].graph(), 2, {}, {&a[0], 1}, {}, body);
  };
  graph.SetOutputs({Scan(graph, 1, {}, {&x, 1}, {}, body)[0]});
  const double once = RecomputedFlops(graph);
  EXPECT_GE(once, 2.0 * 4 * 4 * 4);
  graph.SetOutputs({Scan(graph, 3, {}, {&x, 1}, {}, twice)[0]});
  EXPECT_EQ(RecomputedFlops(graph), 6 * once);
}

// A recurrent layer's stack of carries, one for each step, is not kept but made again.
TEST(Recompute, ScansAreRunAgain) {
  const TwoLayers plain(false, /*scan=*/true), recomputed(true, /*scan=*/true);
  const auto stacks = [](const TwoLayers& net) {
    int64_t bytes = 0;
    for (const Value& value : KeptFor(net.graph, net.count)) {
      if (value.node()->name() == "scan" && value.index() > 0) bytes += value.shape().bytes();
    }
    return bytes;
  };
  EXPECT_EQ(stacks(plain), 2 * 5 * 4 * 8 * 4);
  EXPECT_EQ(stacks(recomputed), 0);
  EXPECT_EQ(LiveCopies(recomputed.graph, "scan").size(), 2u);
  EXPECT_THAT(ToStablehlo(recomputed.graph), HasSubstr("stablehlo.while"));
}

TEST(Recompute, CollectivesAreNotRepeated) {
  Graph graph;
  const Value x = Parameter(graph, {4, 8});
  const Value w = Parameter(graph, {8, 8});
  const Value hidden = Tanh(MatMul(x, w));
  const Value mean = AllReduce({&hidden, 1}, Reduction::kSum, 2)[0];
  const Value loss = ReduceSum(Exp(mean) * hidden);
  const std::vector<int> blocks(loss.node()->id(), 0);
  graph.SetOutputs(Gradient(loss, Values{w}, blocks));
  Verify(graph);
  EXPECT_THAT(LiveCopies(graph, "all_reduce"), IsEmpty());
  EXPECT_EQ(LiveCopies(graph, "exponential").size(), 1u);
}

TEST(Recompute, OfANodeInNoBlockOrBeyondTheList) {
  Graph graph;
  const Value x = Parameter(graph, {4});
  const Value loss = ReduceSum(Exp(Sin(x)));
  const std::vector<int> none(loss.node()->id() + 1, -1), few(1, -1);
  for (const std::vector<int>& blocks : {none, few, std::vector<int>()}) {
    const size_t before = graph.nodes().size();
    graph.SetOutputs(Gradient(loss, Values{x}, blocks));
    EXPECT_EQ(RecomputedFlops(graph), 0);
    EXPECT_THAT(KeptFor(graph, before), Not(IsEmpty()));
  }
  const std::vector<int> many(graph.nodes().size() + 1000, 0);
  EXPECT_THROW(Gradient(loss, Values{x}, many), InternalError);
}

// A gradient that does not depend on the data leaves nothing to wait for; the block is told from
// the forward pass all the same.
TEST(Recompute, AfterAConstantGradient) {
  Graph graph;
  const Value x = Parameter(graph, {4});
  const Value w = Parameter(graph, {4});
  const Value product = x * w;
  const Value y = Exp(Exp(product));
  std::vector<int> blocks(y.node()->id() + 1, 0);
  blocks[product.node()->id()] = -1;
  const Value loss = ReduceSum(y);
  graph.SetOutputs({loss, Gradient(loss, Values{w}, blocks)[0]});
  Verify(graph);
  const auto copies = LiveCopies(graph, "exponential");
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0]->input(0).node()->name(), "select");
}

}  // namespace
}  // namespace flatout::ir
