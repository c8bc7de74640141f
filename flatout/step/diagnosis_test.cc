// Which tensor of a step is the first that is not finite.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flatout/nn/layers.h"
#include "flatout/step/testing.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Shape;
using optim::LossScale;
using testing::Batch;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Ints;
using testing::Recipe;
using testing::Trainee;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Three dense layers whose kernels are ones.
Recipe Deep(const std::string& policy, int64_t micro_rows, const LossScale& scale = {}) {
  const auto layer = [](int64_t units) {
    return nn::Dense({.units = units, .kernel_initializer = "ones"});
  };
  Recipe recipe{.model = nn::Model::Sequential(nn::Input({4}, DType::kF32, "x"),
                                               {layer(8), layer(8), layer(3)})};
  recipe.policy = policy;
  recipe.rows = 5;
  recipe.micro_rows = micro_rows;
  recipe.fields = {Shape(DType::kF32, {4}), Shape::Scalar(DType::kI32)};
  recipe.loss_scale = scale;
  return recipe;
}

Batch Rows(float x) {
  return {.fields = {Floats(20, x), Ints{0, 1, 2, 0, 1}}, .weight = Floats(5, 1)};
}

std::string Found(Recipe recipe, const Batch& batch,
                  const std::vector<std::pair<std::string, Floats>>& state = {}) {
  Trainee trainee(std::move(recipe));
  for (const auto& [name, values] : state) trainee.SetState(name, values);
  return trainee.Diagnose(batch);
}

TEST(DiagnosisTest, FiniteStepsAreFine) {
  for (const char* policy : {"float32", "bfloat16"}) {
    EXPECT_EQ(Found(Deep(policy, 2), Rows(1)), "");
  }
  EXPECT_EQ(Found(Deep("mixed_float16", 2, LossScale::Dynamic()), Rows(1)), "");
}

TEST(DiagnosisTest, NamesWeightsDataAndClasses) {
  for (int64_t micro_rows : {0, 2}) {
    EXPECT_EQ(Found(Deep("float32", micro_rows), Rows(1), {{"dense_1/bias", Floats(8, kNaN)}}),
              "the first that is not finite is the weight dense_1/bias");
    Batch batch = Rows(1);
    std::get<Floats>(batch.fields[0])[19] = kInfinity;
    EXPECT_EQ(Found(Deep("float32", micro_rows), batch),
              "the first that is not finite is the data's field field0");
    batch = Rows(1);
    std::get<Ints>(batch.fields[1])[4] = 3;
    EXPECT_EQ(Found(Deep("float32", micro_rows), batch),
              "the data's field field1 holds a class outside 0 to 2");
  }
}

// 4 x 8 = 32 times the input reaches the second layer: float16 ends at 65504.
TEST(DiagnosisTest, NamesTheLayerThatOverflowsFloat16) {
  for (int64_t micro_rows : {0, 2}) {
    SCOPED_TRACE(micro_rows);
    EXPECT_EQ(Found(Deep("mixed_float16", micro_rows), Rows(3000)),
              "the first that is not finite is the output of layer dense_1 (float16, whose largest "
              "finite value is 65504)");
    EXPECT_EQ(Found(Deep("mixed_float16", micro_rows), Rows(30000)),
              "the first that is not finite is the output of layer dense (float16, whose largest "
              "finite value is 65504)");
    EXPECT_EQ(Found(Deep("mixed_bfloat16", micro_rows), Rows(30000)), "");
    // One row is enough, in whichever micro-batch; the last is in one that is not full.
    for (int64_t row : {0, 4}) {
      Batch batch = Rows(1);
      for (int f = 0; f < 4; ++f) std::get<Floats>(batch.fields[0])[row * 4 + f] = 3000;
      EXPECT_THAT(Found(Deep("mixed_float16", micro_rows), batch), HasSubstr("layer dense_1"));
    }
  }
}

// Gradients overflow on their way back: the last layer's come first. That layer is float32, so that
// its gradients stay finite; the one by its float16 input does not.
TEST(DiagnosisTest, NamesGradientsFromTheEnd) {
  Floats kernel;  // of [8, 3]: all goes to the first class
  for (int i = 0; i < 24; ++i) kernel.push_back(i % 3 == 0 ? 1 : 0);
  for (int64_t micro_rows : {0, 2}) {
    SCOPED_TRACE(micro_rows);
    const auto found = [&](float scale) {
      return Found(Deep("mixed_float16", micro_rows, LossScale::Dynamic()), Rows(1),
                   {{"dense_2/kernel", kernel}, {"loss_scale", {scale}}});
    };
    EXPECT_EQ(found(std::ldexp(1.0f, 30)),
              "the first that is not finite is the gradient by the output of layer dense_1 "
              "(float16, whose largest finite value is 65504), of the scaled loss");
    EXPECT_EQ(found(1024), "");
  }
}

}  // namespace
}  // namespace flatout::step
