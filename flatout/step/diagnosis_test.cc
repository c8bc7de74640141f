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
using testing::Setup;
using testing::Trainee;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Three dense layers whose kernels are ones.
Setup Deep(const std::string& policy, int64_t micro_rows, const LossScale& scale = {}) {
  const auto layer = [](int64_t units) {
    return nn::Dense({.units = units, .kernel_initializer = "ones"});
  };
  Setup setup{.model = nn::Model::Sequential(nn::Input({4}, DType::kF32, "x"),
                                             {layer(8), layer(8), layer(3)})};
  setup.policy = policy;
  setup.rows = 5;
  setup.micro_rows = micro_rows;
  setup.fields = {Shape(DType::kF32, {4}), Shape::Scalar(DType::kI32)};
  setup.loss_scale = scale;
  return setup;
}

Batch Rows(float x) {
  return {.fields = {Floats(20, x), Ints{0, 1, 2, 0, 1}}, .weight = Floats(5, 1)};
}

std::string Found(Setup setup, const Batch& batch,
                  const std::vector<std::pair<std::string, Floats>>& state = {}) {
  Trainee trainee(std::move(setup));
  for (const auto& [name, values] : state) trainee.SetState(name, values);
  return trainee.Diagnose(batch);
}

TEST(DiagnosisTest, FiniteStepsAreFine) {
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16", "bfloat16"}) {
    for (int64_t micro_rows : {0, 2}) EXPECT_EQ(Found(Deep(policy, micro_rows), Rows(1)), "");
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
  for (int64_t micro_rows : {0, 2, 3}) {
    SCOPED_TRACE(micro_rows);
    EXPECT_EQ(Found(Deep("mixed_float16", micro_rows), Rows(3000)),
              "the first that is not finite is the output of layer dense_1 (float16, whose largest "
              "finite value is 65504)");
    EXPECT_EQ(Found(Deep("mixed_float16", micro_rows), Rows(30000)),
              "the first that is not finite is the output of layer dense (float16, whose largest "
              "finite value is 65504)");
    EXPECT_EQ(Found(Deep("mixed_bfloat16", micro_rows), Rows(30000)), "");
    // One row is enough, in whichever micro-batch; the last is in one that is not full.
    for (int64_t row = 0; row < 5; ++row) {
      Batch batch = Rows(1);
      for (int f = 0; f < 4; ++f) std::get<Floats>(batch.fields[0])[row * 4 + f] = 3000;
      EXPECT_THAT(Found(Deep("mixed_float16", micro_rows), batch), HasSubstr("layer dense_1"));
    }
  }
}

// Gradients overflow on their way back: the last layer's come first.
TEST(DiagnosisTest, NamesGradientsFromTheEnd) {
  for (int64_t micro_rows : {0, 2}) {
    SCOPED_TRACE(micro_rows);
    // The output layer is float32: its gradient stays, that of its float16 input does not.
    const std::string scaled = Found(Deep("mixed_float16", micro_rows, LossScale::Dynamic()),
                                     Rows(1), {{"loss_scale", {std::ldexp(1.0f, 30)}}});
    EXPECT_THAT(scaled, HasSubstr("the gradient"));
    EXPECT_THAT(scaled, HasSubstr("dense_1"));
    EXPECT_THAT(scaled, HasSubstr("of the scaled loss"));
    EXPECT_EQ(Found(Deep("mixed_float16", micro_rows, LossScale::Dynamic()), Rows(1),
                    {{"loss_scale", {1024}}}),
              "");
  }
}

}  // namespace
}  // namespace flatout::step
