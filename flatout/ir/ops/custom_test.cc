// What needs no plugin: what keeps a call alive, and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

TEST(CustomCall, WithASideEffectStaysAlive) {
  for (const bool side_effect : {false, true}) {
    Graph graph;
    const Value x = graph.AddParameter(Shape(DType::kF32, {2}), "x");
    CustomCall(graph, "flatout.log", {&x, 1}, {Shape(DType::kF32, {})}, {}, side_effect);
    graph.SetOutputs({x});
    if (side_effect) {
      EXPECT_THAT(ToStablehlo(graph), HasSubstr("flatout.log"));
    } else {
      EXPECT_THAT(ToStablehlo(graph), Not(HasSubstr("flatout.log")));
    }
  }
}

TEST(CustomCall, Errors) {
  Graph graph;
  const Value x = graph.AddParameter(Shape(DType::kF32, {2}), "x");
  EXPECT_THAT(
      [&] {
        CustomCall(graph, "", {&x, 1}, {});
      },
      ThrowsMessage<UserError>(HasSubstr("no name")));
  const Value y = CustomCall(graph, "flatout.f", {&x, 1}, {Shape(DType::kF32, {})})[0];
  EXPECT_THAT([&] { Gradient(y, {&x, 1}); }, ThrowsMessage<UserError>(HasSubstr("custom_call")));
}

}  // namespace
}  // namespace flatout::ir
