#include "flatout/ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"

namespace flatout::ir {
namespace {

using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

uint64_t Bits(DType dtype, double value) {
  std::byte bytes[8] = {};
  StoreElement(dtype, value, bytes);
  uint64_t bits;
  std::memcpy(&bits, bytes, 8);
  return bits;
}

TEST(StoreElement, RoundsHalvesToEven) {
  EXPECT_EQ(Bits(DType::kBF16, 1), 0x3F80);
  // 1 + 2^-8 lies half-way between 0x3F80 and 0x3F81, 1 + 3 * 2^-8 between 0x3F81 and 0x3F82.
  EXPECT_EQ(Bits(DType::kBF16, 1 + 0x1p-8), 0x3F80);
  EXPECT_EQ(Bits(DType::kBF16, 1 + 3 * 0x1p-8), 0x3F82);
  // Once rounded to float this would be half-way; directly it is above.
  EXPECT_EQ(Bits(DType::kBF16, 1 + 0x1p-8 + 0x1p-40), 0x3F81);
  EXPECT_EQ(Bits(DType::kF16, 1 + 0x1p-11), 0x3C00);
  EXPECT_EQ(Bits(DType::kF16, 1 + 3 * 0x1p-11), 0x3C02);
}

TEST(StoreElement, KeepsSmallNumbersAndExtremes) {
  EXPECT_EQ(Bits(DType::kF16, 0x1p-24), 1);       // smallest subnormal
  EXPECT_EQ(Bits(DType::kF16, 0x1p-25), 0);       // half of it, to even
  EXPECT_EQ(Bits(DType::kF16, 0x1p-14), 0x0400);  // smallest normal
  EXPECT_EQ(Bits(DType::kF16, 0x1p-14 - 0x1p-25), 0x0400);
  EXPECT_EQ(Bits(DType::kF16, 65504), 0x7BFF);
  EXPECT_EQ(Bits(DType::kF16, 65520), 0x7C00);  // rounds up to infinity
  EXPECT_EQ(Bits(DType::kF16, -kInfinity), 0xFC00);
  EXPECT_EQ(Bits(DType::kF16, -0.0), 0x8000);
  EXPECT_EQ(Bits(DType::kBF16, 0x1p-133), 1);
  EXPECT_EQ(Bits(DType::kBF16, 1e39), 0x7F80);
  EXPECT_EQ(Bits(DType::kBF16, NAN) & 0x7FFF, 0x7FC0);
  EXPECT_EQ(Bits(DType::kF16, NAN) & 0x7FFF, 0x7E00);
}

TEST(StoreElement, EveryHalfSurvives) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<uint16_t>(bits);
      std::byte bytes[2];
      std::memcpy(bytes, &half, 2);
      const double value = LoadElement(dtype, bytes);
      if (std::isnan(value)) continue;
      ASSERT_EQ(Bits(dtype, value), bits) << Name(dtype);
    }
  }
}

TEST(StoreElement, SaturatesIntegers) {
  EXPECT_EQ(Bits(DType::kI8, 1000), 127);
  EXPECT_EQ(Bits(DType::kI8, -1000), 0x80);
  EXPECT_EQ(Bits(DType::kU8, -1), 0);
  EXPECT_EQ(Bits(DType::kI32, kInfinity), 0x7FFFFFFF);
  EXPECT_EQ(Bits(DType::kI64, -kInfinity), 0x8000000000000000);
  EXPECT_EQ(Bits(DType::kU64, kInfinity), 0xFFFFFFFFFFFFFFFF);
  EXPECT_EQ(Bits(DType::kI32, NAN), 0);
  EXPECT_EQ(Bits(DType::kPred, 0.5), 1);
}

TEST(Shape, Text) {
  const Shape shape(DType::kBF16, {64, 28, 28, 1});
  EXPECT_EQ(shape.ToString(), "bf16[64,28,28,1]");
  EXPECT_EQ(shape.ToMlir(), "tensor<64x28x28x1xbf16>");
  EXPECT_EQ(Shape::Scalar(DType::kPred).ToMlir(), "tensor<i1>");
  EXPECT_EQ(shape.size(), 50176);
  EXPECT_EQ(shape.bytes(), 100352);
  EXPECT_EQ(shape.dim(-2), 28);
  EXPECT_THROW(shape.dim(4), UserError);
  EXPECT_THROW(shape.dim(-5), UserError);
}

TEST(DType, EverySpelling) {
  for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(ParseDType(Name(dtype)), dtype);
    EXPECT_EQ(ParseDType(MlirName(dtype)), dtype);
  }
  EXPECT_EQ(ParseDType("bfloat16"), DType::kBF16);
  EXPECT_EQ(ParseDType("bool"), DType::kPred);
  EXPECT_THROW(ParseDType("float"), UserError);
}

TEST(Attributes, TypedAccess) {
  Attributes attrs{{"n", int64_t{3}}, {"list", Dims{1, 2}}};
  attrs.Set("n", int64_t{4});
  EXPECT_EQ(attrs.Int("n"), 4);
  EXPECT_THAT(attrs.Ints("list"), ElementsAre(1, 2));
  EXPECT_FALSE(attrs.Has("m"));
  EXPECT_THROW(attrs.Int("m"), InternalError);
  EXPECT_THROW(attrs.Double("n"), InternalError);
}

// A dense layer with a donated parameter, a dead node and a scope.
std::unique_ptr<Graph> DenseGraph() {
  auto graph = std::make_unique<Graph>("step");
  const Value x = graph->AddParameter(Shape(DType::kF32, {2, 3}), "x");
  const Value w = graph->AddParameter(Shape(DType::kF32, {3, 4}), "kernel");
  Value y;
  {
    const Scope outer(*graph, "mlp");
    const Scope inner(*graph, "dense_1");
    y = MatMul(x, w);
    Exp(y);  // nobody uses it
  }
  const Value updated = w * 0.5;
  graph->SetOutputs({y, updated});
  graph->Donate(1, 1);
  return graph;
}

TEST(Dump, IsReadable) {
  EXPECT_EQ(Dump(*DenseGraph()),
            R"(step(%0: f32[2,3] x, %1: f32[3,4] kernel donated to 1) {
  %2: f32[2,4] = dot_general(%0, %1) lhs_batch=[] rhs_batch=[] lhs_contract=[1] rhs_contract=[0] accumulate=f32  // mlp/dense_1
  %4: f32[3,4] = constant() value=splat(0.5)
  %5: f32[3,4] = multiply(%1, %4)
  return %2, %5
}
)");
}

TEST(Graph, CloneIsEqualButForDeadNodes) {
  const auto graph = DenseGraph();
  const auto copy = Clone(*graph);
  EXPECT_EQ(copy->nodes().size(), graph->nodes().size() - 1);
  EXPECT_EQ(copy->donated_output(1), 1);
  EXPECT_EQ(copy->parameter_name(1), "kernel");
  EXPECT_EQ(copy->outputs()[0].node()->scope(), "mlp/dense_1");
  EXPECT_EQ(Dump(*Clone(*copy)), Dump(*copy));
}

TEST(Graph, InlineChecksArguments) {
  const auto graph = DenseGraph();
  Graph other("other");
  const Value x = other.AddParameter(Shape(DType::kF32, {2, 3}), "x");
  EXPECT_THROW(Inline(*graph, other, std::array{x}), InternalError);
  const Value w = other.AddParameter(Shape(DType::kF32, {3, 4}), "w");
  const std::vector<Value> outputs = Inline(*graph, other, std::array{x, w});
  EXPECT_EQ(&outputs[0].graph(), &other);
  EXPECT_EQ(outputs[1].shape(), Shape(DType::kF32, {3, 4}));
}

TEST(Graph, RefusesForeignAndMissingInputs) {
  Graph a("a"), b("b");
  const Value x = a.AddParameter(Shape(DType::kF32, {2}), "x");
  const Value y = b.AddParameter(Shape(DType::kF32, {2}), "y");
  EXPECT_THROW(Add(x, y), InternalError);
  EXPECT_THROW(a.AddNode(*FindOp("add"), {x, Value()}), InternalError);
}

TEST(Graph, ScopesNestAndEnd) {
  Graph graph;
  EXPECT_EQ(graph.scope(), "");
  {
    const Scope a(graph, "a");
    {
      const Scope b(graph, "b");
      EXPECT_EQ(graph.scope(), "a/b");
      const Scope exact = Scope::Exactly(graph, "c");
      EXPECT_EQ(graph.scope(), "c");
    }
    EXPECT_EQ(graph.scope(), "a");
  }
  EXPECT_EQ(graph.scope(), "");
}

TEST(Flops, CountLiveArithmetic) {
  const auto graph = DenseGraph();
  // 2 * 2*3*4 of the product and 12 of the multiplication; the dead exponential not.
  EXPECT_EQ(Flops(*graph), 48 + 12);
  Graph moves;
  const Value x = moves.AddParameter(Shape(DType::kF32, {4, 4}), "x");
  moves.SetOutputs({Transpose(x, {1, 0}), Convert(x, DType::kF64)});
  EXPECT_EQ(Flops(moves), 0);
  Graph sum;
  const Value y = sum.AddParameter(Shape(DType::kF32, {4, 4}), "y");
  sum.SetOutputs({ReduceSum(y)});
  EXPECT_EQ(Flops(sum), 15);
}

}  // namespace
}  // namespace flatout::ir
