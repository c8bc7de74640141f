// Shape rules and error texts of the builders; values and gradients are in tests/ops_test.cc.
#include "flatout/ir/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"

namespace flatout::ir {
namespace {

using ::testing::ElementsAre;

class Builders : public ::testing::Test {
 protected:
  Value P(DType dtype, Dims dims) { return graph_.AddParameter(Shape(dtype, std::move(dims)), ""); }
  Value F(Dims dims) { return P(DType::kF32, std::move(dims)); }

  // The message of the UserError that `body` must throw.
  template <typename Body>
  std::string Message(Body&& body) {
    try {
      body();
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  Graph graph_;
};

TEST_F(Builders, BroadcastAsNumPy) {
  EXPECT_THAT((F({4, 1}) + F({3})).dims(), ElementsAre(4, 3));
  EXPECT_THAT((F({}) * F({2, 3})).dims(), ElementsAre(2, 3));
  EXPECT_THAT(Add(F({2, 1, 3}), F({4, 1})).dims(), ElementsAre(2, 4, 3));
  EXPECT_THAT((F({0}) + F({1})).dims(), ElementsAre(0));
  EXPECT_THAT(Compare(F({2, 1}), F({1, 5}), Comparison::kLt).shape(), Shape(DType::kPred, {2, 5}));
  EXPECT_THAT(Clamp(F({}), F({3}), F({2, 1})).dims(), ElementsAre(2, 3));
}

TEST_F(Builders, BroadcastErrorsNameLayerOpShapesAndDimension) {
  const Scope scope(graph_, "dense_1");
  const Value a = F({4, 3}), b = F({4, 5});
  EXPECT_EQ(Message([&] { Add(a, b); }),
            "layer dense_1: add: shapes f32[4,3] and f32[4,5] do not broadcast: dimension 1 is 3 "
            "against 5");
  EXPECT_EQ(Message([&] { Select(Gt(a, 0), a, F({5})); }),
            "layer dense_1: select: shapes f32[4,3] and f32[5] do not broadcast: dimension 1 is 3 "
            "against 5");
}

TEST_F(Builders, TypeErrors) {
  EXPECT_EQ(Message([&] { Add(F({2}), P(DType::kBF16, {2})); }),
            "add: operands f32[2] and bf16[2] differ in dtype; convert one of them first");
  EXPECT_EQ(Message([&] { Exp(P(DType::kI32, {2})); }),
            "exponential: operand must be float, found i32[2]");
  EXPECT_EQ(Message([&] { And(F({2}), F({2})); }),
            "and: operand must be signed integer or unsigned integer or pred, found f32[2]");
  EXPECT_EQ(Message([&] { Select(F({2}), F({2}), F({2})); }),
            "select: operand must be pred, found f32[2]");
  EXPECT_EQ(Message([&] { BitcastConvert(F({2}), DType::kI64); }),
            "bitcast_convert: f32[2] has elements of another width than i64");
  EXPECT_EQ(Message([&] { Reduce(Reduction::kAnd, F({2})); }),
            "reduce: \"and\" needs pred or integers, found f32[2]");
  EXPECT_EQ(Message([&] { ReduceSum(P(DType::kPred, {2})); }),
            "reduce: \"add\" needs numbers, found pred[2]; convert it or reduce with and, or");
}

TEST_F(Builders, ShapeOps) {
  const Value x = F({2, 3, 4});
  EXPECT_THAT(Reshape(x, {-1, 4}).dims(), ElementsAre(6, 4));
  EXPECT_THAT(Transpose(x, {2, 0, 1}).dims(), ElementsAre(4, 2, 3));
  EXPECT_THAT(ExpandDims(x, -1).dims(), ElementsAre(2, 3, 4, 1));
  EXPECT_THAT(ExpandDims(x, 1).dims(), ElementsAre(2, 1, 3, 4));
  EXPECT_THAT(Squeeze(F({2, 1, 3}), -2).dims(), ElementsAre(2, 3));
  EXPECT_THAT(SliceAxis(x, -1, 0, 4, 3).dims(), ElementsAre(2, 3, 2));
  EXPECT_THAT(Pad(x, 0, {1, 0, -1}, {0, 0, 0}, {0, 2, 0}).dims(), ElementsAre(3, 7, 3));
  EXPECT_THAT(Concatenate(std::array{x, F({2, 1, 4})}, 1).dims(), ElementsAre(2, 4, 4));
  EXPECT_THAT(Stack(std::array{x, x}, -1).dims(), ElementsAre(2, 3, 4, 2));
  EXPECT_THAT(Split(x, 2, -1)[1].dims(), ElementsAre(2, 3, 2));
  EXPECT_THAT(BroadcastInDim(F({3}), {2, 3, 4}, {1}).dims(), ElementsAre(2, 3, 4));
}

TEST_F(Builders, ShapeOpErrors) {
  const Value x = F({2, 3, 4});
  EXPECT_EQ(Message([&] {
              Reshape(x, {5, -1});
            }),
            "reshape: no size for the -1 in [5,-1] fits the 24 elements of f32[2,3,4]");
  EXPECT_EQ(Message([&] {
              Reshape(x, {5, 5});
            }),
            "reshape: f32[2,3,4] has 24 elements, f32[5,5] has 25");
  EXPECT_EQ(Message([&] {
              Transpose(x, {0, 0, 1});
            }),
            "transpose: [0,0,1] is not a permutation of the 3 dimensions of f32[2,3,4]");
  EXPECT_EQ(Message([&] { SliceAxis(x, 1, 1, 4); }),
            "slice: [1, 4) by 1 is no range of dimension 1 of f32[2,3,4]");
  EXPECT_EQ(Message([&] { SliceAxis(x, 3, 0, 1); }),
            "slice: axis 3 is out of range for f32[2,3,4]");
  EXPECT_EQ(Message([&] { Squeeze(x, 0); }), "squeeze: dimension 0 of f32[2,3,4] is not 1");
  EXPECT_EQ(Message([&] { Split(x, 2, 1); }),
            "split: dimension 1 of f32[2,3,4] does not split into 2 equal parts");
  EXPECT_EQ(Message([&] {
              Concatenate(std::array{x, F({2, 3})}, 1);
            }),
            "concatenate: operands f32[2,3,4] and f32[2,3] differ outside of axis 1");
  EXPECT_EQ(Message([&] {
              Concatenate(std::array{x, F({1, 3, 4})}, 1);
            }),
            "concatenate: operands f32[2,3,4] and f32[1,3,4] differ outside of axis 1");
  EXPECT_EQ(Message([&] {
              BroadcastTo(x, {3, 4});
            }),
            "broadcast_in_dim: f32[2,3,4] does not broadcast to the lower rank of [3,4]");
  EXPECT_EQ(Message([&] {
              BroadcastTo(x, {2, 5, 4});
            }),
            "broadcast_in_dim: f32[2,3,4] does not broadcast to [2,5,4]: dimension 1 is 3 against "
            "5");
  EXPECT_EQ(Message([&] {
              Pad(x, 0, {-3, 0, 0}, {0, 0, 0}, {0, 0, 0});
            }),
            "pad: padding of -3 low, 0 high, 0 between leaves no size for dimension 0 of "
            "f32[2,3,4]");
  EXPECT_EQ(Message([&] { Pad(x, 0, {0}, {0}, {0}); }),
            "pad: low [0] must have one entry per dimension of f32[2,3,4]");
  EXPECT_EQ(Message([&] {
              Reverse(x, {0, -3});
            }),
            "reverse: axis 0 of f32[2,3,4] is given twice in [0,-3]");
}

TEST_F(Builders, FoldOnlyWhatChangesNothing) {
  const Value x = F({2, 3});
  EXPECT_EQ(Convert(x, DType::kF32), x);
  EXPECT_EQ(BitcastConvert(x, DType::kF32), x);
  EXPECT_EQ(Reshape(x, {2, 3}), x);
  EXPECT_EQ(Transpose(x, {0, 1}), x);
  EXPECT_EQ(BroadcastTo(x, {2, 3}), x);
  EXPECT_EQ(Pad(x, 1, {0, 0}, {0, 0}, {0, 0}), x);
  EXPECT_EQ(Slice(x, {0, 0}, {2, 3}, {1, 1}), x);
  EXPECT_EQ(Concatenate(std::array{x}, 0), x);
  EXPECT_EQ(ReduceSum(F({})).rank(), 0);
  // -0 + 0 is +0: adding zeros is not folded.
  EXPECT_NE(x + 0.0, x);
}

TEST_F(Builders, Reductions) {
  const Value x = F({2, 3, 4});
  EXPECT_THAT(ReduceSum(x).dims(), ElementsAre());
  EXPECT_THAT(ReduceMean(x, {-1, 0}).dims(), ElementsAre(3));
  EXPECT_THAT(ReduceMax(x, {1}, true).dims(), ElementsAre(2, 1, 4));
  EXPECT_EQ(ArgMax(x, -1).shape(), Shape(DType::kI32, {2, 3}));
  EXPECT_THAT(LogSumExp(x, 1).dims(), ElementsAre(2, 4));
  EXPECT_THAT(Softmax(x, -1).dims(), ElementsAre(2, 3, 4));
  EXPECT_EQ(Message([&] { ReduceSum(x, {3}); }), "reduce: axis 3 is out of range for f32[2,3,4]");
  EXPECT_EQ(Message([&] {
              ReduceSum(x, {1, -2});
            }),
            "reduce: axis 1 of f32[2,3,4] is given twice in [1,-2]");
  EXPECT_EQ(Message([&] { ArgMax(F({2, 0}), 1); }), "argmax: axis 1 of f32[2,0] is empty");
}

TEST_F(Builders, Products) {
  EXPECT_THAT(MatMul(F({5, 1, 2, 3}), F({7, 3, 4})).dims(), ElementsAre(5, 7, 2, 4));
  EXPECT_THAT(MatMul(F({5, 2, 3}), F({3, 4})).dims(), ElementsAre(5, 2, 4));
  const DotDims attention = {
      .lhs_batch = {0, 2}, .rhs_batch = {0, 2}, .lhs_contract = {3}, .rhs_contract = {3}};
  EXPECT_THAT(DotGeneral(F({2, 5, 3, 4}), F({2, 6, 3, 4}), attention).dims(),
              ElementsAre(2, 3, 5, 6));
  const Scope scope(graph_, "dense");
  EXPECT_EQ(Message([&] {
              MatMul(F({2, 3}), F({4, 5}));
            }),
            "layer dense: matmul: f32[2,3] and f32[4,5] do not multiply: 3 columns against 4 rows");
  EXPECT_EQ(Message([&] {
              MatMul(F({3}), F({3, 5}));
            }),
            "layer dense: matmul: operands need two dimensions or more, found f32[3] and f32[3,5]");
  EXPECT_EQ(Message([&] {
              DotGeneral(
                  F({2, 3}), F({4, 5}),
                  {.lhs_batch = {}, .rhs_batch = {}, .lhs_contract = {1}, .rhs_contract = {0}});
            }),
            "layer dense: dot_general: f32[2,3] and f32[4,5] do not fit: contracting dimension 1 "
            "of the first is 3, 0 of the second is 4");
  EXPECT_EQ(Message([&] {
              DotGeneral(
                  F({2, 3}), F({3, 5}),
                  {.lhs_batch = {1}, .rhs_batch = {0}, .lhs_contract = {1}, .rhs_contract = {0}});
            }),
            "layer dense: dot_general: batch [1] and contracting [1] dimensions must be different "
            "ones of f32[2,3]");
  EXPECT_EQ(Message([&] {
              DotGeneral(
                  F({2, 3}), F({3, 5}),
                  {.lhs_batch = {}, .rhs_batch = {}, .lhs_contract = {1}, .rhs_contract = {0}},
                  DType::kBF16);
            }),
            "layer dense: dot_general: operands f32[2,3] cannot accumulate in bf16");
}

TEST_F(Builders, SumsOfLowPrecisionAreKeptInFloat32) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const Value result :
         {ReduceSum(P(dtype, {2, 3}), {1}), ReduceMean(P(dtype, {2, 3}), {1}, true)}) {
      EXPECT_EQ(result.dtype(), dtype);
      EXPECT_EQ(result.node()->name(), "convert");
      EXPECT_EQ(result.node()->input(0).dtype(), DType::kF32);
    }
  }
  EXPECT_EQ(ReduceSum(F({2, 3})).node()->name(), "reduce");
}

TEST_F(Builders, Constants) {
  EXPECT_EQ(Full(graph_, Shape(DType::kBF16, {3}), 2.5).node()->attrs().Data("value").At(2), 2.5);
  const std::vector<int32_t> values = {1, 2, 3};
  EXPECT_EQ(ConstantI32(graph_, {3}, values).node()->attrs().Data("value").At(1), 2);
  EXPECT_EQ(Message([&] { ConstantI32(graph_, {2}, values); }),
            "a constant of shape i32[2] needs 2 values, found 3");
  EXPECT_EQ(Message([&] {
              Constant(graph_, {.shape = Shape(DType::kF32, {2}), .splat = true, .bytes = {}});
            }),
            "constant: f32[2] needs 4 bytes of data, found 0");
  EXPECT_EQ(Iota(graph_, Shape(DType::kI32, {2, 3}), -1).node()->attrs().Int("axis"), 1);
  EXPECT_EQ(Message([&] { Iota(graph_, Shape(DType::kI32, {2}), 1); }),
            "iota: axis 1 is out of range for i32[2]");
}

}  // namespace
}  // namespace flatout::ir
