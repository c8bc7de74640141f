#include "flatout/ir/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {

// Breaks what Graph never would.
struct NodeSurgery {
  static void SetInput(Node& node, size_t i, Value value) { node.inputs_[i] = value; }
  static void SetShape(Node& node, Shape shape) { node.shapes_[0] = std::move(shape); }
  static void SetId(Node& node, int id) { node.id_ = id; }
};

namespace {

using ::testing::HasSubstr;

std::string Fault(const Graph& graph) {
  try {
    Verify(graph);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

class Verifier : public ::testing::Test {
 protected:
  Verifier() {
    x_ = graph_.AddParameter(Shape(DType::kF32, {2, 3}), "x");
    const Scope scope(graph_, "layer");
    y_ = Exp(x_);
    z_ = y_ * y_;
    graph_.SetOutputs({z_, x_});
  }
  Graph graph_{"g"};
  Value x_, y_, z_;
};

TEST_F(Verifier, AcceptsASoundGraph) {
  graph_.Donate(0, 0);
  EXPECT_EQ(Fault(graph_), "");
}

TEST_F(Verifier, InputMadeLater) {
  NodeSurgery::SetInput(*y_.node(), 0, z_);
  EXPECT_THAT(Fault(graph_), HasSubstr("graph \"g\", node %1 exponential of layer layer: uses %2, "
                                       "which is made later"));
}

TEST_F(Verifier, InputOfAnotherGraph) {
  Graph other("other");
  NodeSurgery::SetInput(*y_.node(), 0, other.AddParameter(x_.shape(), ""));
  EXPECT_THAT(Fault(graph_), HasSubstr("a value belongs to graph \"other\""));
}

TEST_F(Verifier, InputNone) {
  NodeSurgery::SetInput(*y_.node(), 0, Value());
  EXPECT_THAT(Fault(graph_), HasSubstr("a value is none"));
}

TEST_F(Verifier, InputIsAResultThatDoesNotExist) {
  NodeSurgery::SetInput(*z_.node(), 0, Value(y_.node(), 1));
  EXPECT_THAT(Fault(graph_), HasSubstr("uses result 1 of %1, which has 1"));
}

TEST_F(Verifier, ShapeThatTheRuleDoesNotGive) {
  NodeSurgery::SetShape(*z_.node(), Shape(DType::kF32, {6}));
  EXPECT_THAT(Fault(graph_), HasSubstr("node %2 multiply of layer layer: has results (f32[6]), the "
                                       "op's rule gives (f32[2,3])"));
}

TEST_F(Verifier, OperandsThatTheRuleRefuses) {
  NodeSurgery::SetShape(*y_.node(), Shape(DType::kI32, {2, 3}));
  EXPECT_THAT(Fault(graph_), HasSubstr("node %1 exponential"));
  NodeSurgery::SetShape(*y_.node(), x_.shape());
  NodeSurgery::SetInput(*z_.node(), 0, ReduceSum(x_));
  EXPECT_NE(Fault(graph_), "");
}

TEST_F(Verifier, NodeOutOfPlace) {
  NodeSurgery::SetId(*z_.node(), 7);
  EXPECT_THAT(Fault(graph_), HasSubstr("is at position 2"));
}

TEST_F(Verifier, OutputOfAnotherGraph) {
  Graph other("other");
  graph_.SetOutputs({other.AddParameter(x_.shape(), "")});
  EXPECT_THAT(Fault(graph_), HasSubstr("graph \"g\", output 0: a value belongs to graph"));
  graph_.SetOutputs({Value()});
  EXPECT_THAT(Fault(graph_), HasSubstr("output 0: a value is none"));
}

TEST_F(Verifier, Donations) {
  graph_.Donate(0, 5);
  EXPECT_THAT(Fault(graph_), HasSubstr("parameter 0 is donated to output 5 of 2"));
  graph_.SetOutputs({ReduceSum(z_)});
  graph_.Donate(0, 0);
  EXPECT_THAT(Fault(graph_),
              HasSubstr("parameter 0 \"x\" f32[2,3] is donated to output 0, which is f32[]"));
  graph_.AddParameter(x_.shape(), "second");
  graph_.SetOutputs({z_});
  graph_.Donate(1, 0);
  EXPECT_THAT(Fault(graph_), HasSubstr("parameters 0 and 1 are both donated to output 0"));
}

TEST_F(Verifier, RegionThatNoLongerFits) {
  const auto state = While(
      std::array{x_},
      [](Graph&, std::span<const Value> s) { return std::vector<Value>{Lt(ReduceSum(s[0]), 10)}; },
      [](Graph&, std::span<const Value> s) { return std::vector<Value>{s[0] * 2.0}; });
  graph_.SetOutputs(state);
  EXPECT_EQ(Fault(graph_), "");
  Graph& body = state[0].node()->region(1);
  body.SetOutputs({ReduceSum(body.parameters()[0])});
  EXPECT_NE(Fault(graph_), "");
  body.SetOutputs({Value()});
  EXPECT_THAT(Fault(graph_), HasSubstr("while"));
}

TEST_F(Verifier, RunsBeforeEveryText) {
  NodeSurgery::SetShape(*z_.node(), Shape(DType::kF32, {6}));
  EXPECT_THROW(ToStablehlo(graph_), InternalError);
}

}  // namespace
}  // namespace flatout::ir
