// Steps with a loss scale: skipped steps, the scale's way, and what moves meanwhile.
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
using ::testing::Each;
using ::testing::ElementsAre;
using testing::Floats;
using testing::Ints;
using testing::Recipe;
using testing::Trainee;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

LossScale Dynamic(double initial, int64_t growth_steps = 2000) {
  return {.kind = LossScale::Kind::kDynamic, .initial = initial, .growth_steps = growth_steps};
}

void ExpectFinite(const Trainee& trainee) {
  for (const StateTensor& tensor : trainee.layout()) {
    for (float value : trainee.State(tensor.name)) {
      EXPECT_TRUE(std::isfinite(value)) << tensor.name;
    }
  }
}

// y = w x, mean absolute error: the gradient is -x times the loss scale as long as y is larger.
Recipe OneWeight(const LossScale& loss_scale) {
  Recipe recipe{.model = nn::Model::Sequential(
                    nn::Input({1}, DType::kF32, "x"),
                    {nn::Dense({.units = 1, .use_bias = false, .kernel_initializer = "ones"})})};
  recipe.loss = "class = \"MeanAbsoluteError\"";
  recipe.optimizer = "class = \"SGD\"\nlearning_rate = 1.0\nmomentum = 0.5";
  recipe.rows = 1;
  recipe.fields = {Shape(DType::kF32, {1}), Shape(DType::kF32, {1})};
  recipe.loss_scale = loss_scale;
  return recipe;
}
// x times the scale overflows float32 for scales of 2^29 and more, and only then.
constexpr float kLarge = 8e29f;
Batch OneRow(float x) {
  return {.fields = {Floats{x}, Floats{16 * std::abs(x) + 1e3f}}, .weight = {1}};
}

TEST(LossScaleTest, StateHasItsCountersBeforeTheStep) {
  const Trainee trainee(OneWeight(Dynamic(1024)));
  std::vector<std::string> names;
  for (const StateTensor& tensor : trainee.layout()) names.push_back(tensor.name);
  EXPECT_THAT(names, ElementsAre("dense/kernel", "dense/kernel/momentum", "loss_scale",
                                 "loss_scale_good_steps", "loss_scale_skipped", "step", "halted"));
  EXPECT_EQ(trainee.State("loss_scale"), Floats{1024});
  Trainee none(OneWeight({}));
  EXPECT_EQ(none.layout().size(), 4u);
  EXPECT_EQ(none.train_program().results.skipped, -1);
  EXPECT_EQ(none.train_program().results.scales, -1);
}

// Keras's LossScaleOptimizer with dynamic_growth_steps = 3, by hand: a finite step counts; the
// third in a row doubles the scale and the count begins anew; a step that is not finite halves the
// scale, begins the count anew, and changes nothing else.
TEST(LossScaleTest, ScaleGoesKerassWay) {
  const double k2_27 = std::ldexp(1.0, 27);
  Trainee trainee(OneWeight(Dynamic(k2_27, 3)));
  struct Expected {
    float x;             // of the row
    double used, after;  // scale, in units of 2^27
    int good, skipped;   // after the step
    int step;
  };
  const std::vector<Expected> sequence = {
      {1, 1, 1, 1, 0, 1},       {1, 1, 1, 2, 0, 2},       {1, 1, 2, 0, 0, 3},
      {kLarge, 2, 2, 1, 0, 4},  {1, 2, 2, 2, 0, 5},       {1, 2, 4, 0, 0, 6},
      {1, 4, 4, 1, 0, 7},       {kLarge, 4, 2, 0, 1, 7},  // 2^29: too much
      {1, 2, 2, 1, 1, 8},       {1, 2, 2, 2, 1, 9},       {1, 2, 4, 0, 1, 10},
      {kLarge, 4, 2, 0, 2, 10}, {-kLarge, 2, 2, 1, 2, 11}};
  for (size_t i = 0; i < sequence.size(); ++i) {
    SCOPED_TRACE(i);
    const Expected& expected = sequence[i];
    const Floats weight = trainee.State("dense/kernel");
    const Floats momentum = trainee.State("dense/kernel/momentum");
    trainee.Train({OneRow(expected.x)});
    EXPECT_EQ(trainee.scales.back(), static_cast<float>(expected.used * k2_27));
    EXPECT_EQ(trainee.State("loss_scale")[0], static_cast<float>(expected.after * k2_27));
    EXPECT_EQ(trainee.State("loss_scale_good_steps")[0], static_cast<float>(expected.good));
    EXPECT_EQ(trainee.State("loss_scale_skipped")[0], static_cast<float>(expected.skipped));
    EXPECT_EQ(trainee.State("step")[0], static_cast<float>(expected.step));
    EXPECT_EQ(trainee.State("halted")[0], 0);
    const bool skipped = i > 0 && expected.step == sequence[i - 1].step;
    EXPECT_EQ(trainee.skipped.back(), skipped ? 1 : 0);
    EXPECT_EQ(trainee.State("dense/kernel") == weight, skipped);
    EXPECT_EQ(trainee.State("dense/kernel/momentum") == momentum, skipped);
    EXPECT_TRUE(std::isfinite(trainee.losses.back()));
    // The weight is taken back from where a large row has brought it.
    trainee.SetState("dense/kernel", {1});
    trainee.SetState("dense/kernel/momentum", {0.25});
  }
}

TEST(LossScaleTest, GradientsAreThoseWithoutAScale) {
  for (const LossScale& scale : {LossScale::Static(1000), Dynamic(65536)}) {
    for (int64_t replicas : {1, 2}) {
      for (int64_t micro_rows : {0, 2}) {
        SCOPED_TRACE(fmt::format("{}, {} replicas, micro-batches of {}", scale.ToString(), replicas,
                                 micro_rows));
        const auto train = [&](const LossScale& loss_scale) {
          Recipe recipe{
              .model = nn::Model::Sequential(nn::Input({3}, DType::kF32, "x"),
                                             {nn::Dense({.units = 6,
                                                         .activation = "tanh",
                                                         .kernel_regularizer = {.l2 = 0.01},
                                                         .activity_regularizer = {.l1 = 0.01}}),
                                              nn::Dense({.units = 3})})};
          recipe.optimizer = "class = \"SGD\"\nlearning_rate = 0.5\nglobal_clipnorm = 0.5";
          recipe.rows = 5;
          recipe.micro_rows = micro_rows;
          recipe.replicas = replicas;
          recipe.fields = {Shape(DType::kF32, {3}), Shape::Scalar(DType::kI32)};
          recipe.loss_scale = loss_scale;
          auto trainee = std::make_unique<Trainee>(std::move(recipe));
          Floats x;
          Ints y;
          for (int i = 0; i < 5 * replicas; ++i) {
            for (int f = 0; f < 3; ++f) x.push_back(std::sin(static_cast<float>(7 * i + f)));
            y.push_back(i % 3);
          }
          const Batch batch{.fields = {x, y}, .weight = Floats(5 * replicas, 1)};
          trainee->Train({batch, batch, batch});
          return trainee;
        };
        const auto scaled = train(scale), plain = train({});
        EXPECT_THAT(scaled->skipped, ElementsAre(0, 0, 0));
        for (const StateTensor& tensor : plain->layout()) {
          const Floats a = scaled->State(tensor.name), b = plain->State(tensor.name);
          for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-6) << tensor.name;
        }
        EXPECT_EQ(scaled->losses.size(), plain->losses.size());
      }
    }
  }
}

// ---- steps that are not finite ------------------------------------------------------------------

TEST(LossScaleTest, StaticScaleSkipsAndStays) {
  Trainee trainee(OneWeight(LossScale::Static(std::ldexp(1.0, 30))));
  trainee.Train({OneRow(1), OneRow(kLarge), OneRow(kLarge), OneRow(1)});
  EXPECT_THAT(trainee.skipped, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(trainee.scales, Each(std::ldexp(1.0f, 30)));
  EXPECT_EQ(trainee.State("loss_scale_skipped"), Floats{2});
  EXPECT_EQ(trainee.State("step"), Floats{2});
  EXPECT_EQ(trainee.State("halted"), Floats{0});
  // What was skipped for its gradients alone still counts in the epoch's mean.
  EXPECT_EQ(trainee.sums[1][0], 4);
}

// A loss that is not finite is no fault of the scale, but only at the least scale is it the end.
TEST(LossScaleTest, InfiniteLossHaltsAtTheLeastScale) {
  Trainee trainee(OneWeight(Dynamic(4)));
  trainee.Train({OneRow(1), OneRow(kInfinity), OneRow(2), OneRow(kInfinity)});
  EXPECT_THAT(trainee.skipped, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(trainee.State("loss_scale"), Floats{1});
  EXPECT_EQ(trainee.State("halted"), Floats{0});
  // Sums have what was finite.
  EXPECT_TRUE(std::isfinite(trainee.sums[0][0]));
  EXPECT_EQ(trainee.sums[1][0], 2);
  const Floats weight = trainee.State("dense/kernel");
  trainee.Train({OneRow(kInfinity), OneRow(1)});
  EXPECT_THAT(trainee.skipped, ElementsAre(0, 1, 0, 1, 0, 0));
  EXPECT_EQ(trainee.State("halted"), Floats{1});
  EXPECT_EQ(trainee.State("step"), Floats{2});
  EXPECT_EQ(trainee.State("loss_scale_skipped"), Floats{2});
  EXPECT_EQ(trainee.State("dense/kernel"), weight);
}

TEST(LossScaleTest, InfiniteLossHaltsWithoutADynamicScale) {
  for (const LossScale& scale : {LossScale::None(), LossScale::Static(1024)}) {
    SCOPED_TRACE(scale.ToString());
    Trainee trainee(OneWeight(scale));
    trainee.Train({OneRow(1)});
    const Floats weight = trainee.State("dense/kernel");
    trainee.Train({OneRow(kInfinity), OneRow(1)});
    EXPECT_EQ(trainee.State("halted"), Floats{1});
    EXPECT_EQ(trainee.State("step"), Floats{1});
    EXPECT_EQ(trainee.State("dense/kernel"), weight);
    for (int skipped : trainee.skipped) EXPECT_EQ(skipped, 0);
  }
}

// A batch without rows is no step: neither progress nor skipped, and no reason to grow.
TEST(LossScaleTest, BatchWithoutRowsIsNoStep) {
  Trainee trainee(OneWeight(Dynamic(8, 2)));
  Batch empty = OneRow(1);
  empty.weight = {0};
  trainee.Train({OneRow(1), empty, empty, OneRow(1)});
  EXPECT_THAT(trainee.skipped, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(trainee.scales, ElementsAre(8, 8, 8, 8));
  EXPECT_EQ(trainee.State("loss_scale"), Floats{16});
  EXPECT_EQ(trainee.State("step"), Floats{2});
}

// One micro-batch that overflows is enough to skip the step, whichever it is.
TEST(LossScaleTest, OneMicroBatchSkipsTheStep) {
  for (int64_t replicas : {1, 2}) {
    for (int64_t bad = 0; bad < 3 * replicas; ++bad) {
      Recipe recipe = OneWeight(Dynamic(std::ldexp(1.0, 31)));
      recipe.rows = 3;
      recipe.micro_rows = 1;
      recipe.replicas = replicas;
      Trainee trainee(std::move(recipe));
      Floats x(3 * replicas, 1), y(3 * replicas, 1e3f);
      x[bad] = 3 * kLarge;
      y[bad] = 1e31f;
      trainee.Train({{.fields = {x, y}, .weight = Floats(3 * replicas, 1)}});
      EXPECT_THAT(trainee.skipped, ElementsAre(1));
      EXPECT_EQ(trainee.State("dense/kernel"), Floats{1});
      EXPECT_EQ(trainee.State("loss_scale"), Floats{std::ldexp(1.0f, 30)});
    }
  }
}

// Moving statistics follow skipped steps too, as in Keras, whose forward pass moves them; but one
// that is not finite is never kept, and a halted step keeps none.
TEST(LossScaleTest, StatisticsFollowSkippedSteps) {
  const auto normalized = [](const LossScale& scale, int64_t micro_rows) {
    Recipe recipe{.model = nn::Model::Sequential(
                      nn::Input({1}, DType::kF32, "x"),
                      {nn::BatchNormalization({.momentum = 0.5}), nn::Dense({.units = 1})})};
    recipe.loss = "class = \"MeanAbsoluteError\"";
    recipe.rows = 4;
    recipe.micro_rows = micro_rows;
    recipe.fields = {Shape(DType::kF32, {1}), Shape(DType::kF32, {1})};
    recipe.loss_scale = scale;
    return std::make_unique<Trainee>(std::move(recipe));
  };
  const std::string mean = "batch_normalization/moving_mean";
  const Batch fine{.fields = {Floats{1, 2, 3, 4}, Floats(4, 100)}, .weight = Floats(4, 1)};
  // Its mean is finite, its variance is not, and its outputs are zeros: the loss is finite.
  const Batch wide{.fields = {Floats{3e37f, -1e37f, 2e37f, -2e37f}, Floats(4, 100)},
                   .weight = Floats(4, 1)};
  for (int64_t micro_rows : {0, 4, 2}) {
    SCOPED_TRACE(micro_rows);
    const auto skips = normalized(LossScale::Static(std::ldexp(1.0, 64)), micro_rows);
    skips->SetState("dense/kernel", {1e20f});
    skips->SetState("loss_scale", {3e38f});
    skips->Train({fine});
    EXPECT_THAT(skips->skipped, ElementsAre(1));
    EXPECT_EQ(skips->State("dense/kernel"), Floats{1e20f});
    EXPECT_NE(skips->State(mean), Floats{0});
    for (const LossScale& scale : {LossScale::None(), Dynamic(1024)}) {
      const auto trainee = normalized(scale, micro_rows);
      trainee->Train({fine});
      const Floats before = trainee->State(mean);
      trainee->Train({wide});
      ExpectFinite(*trainee);
      EXPECT_EQ(trainee->State(mean), before);
      EXPECT_EQ(trainee->State("halted"), Floats{0});
    }
    // A loss that is not finite: the state before it is kept whole.
    const auto halts = normalized(LossScale::None(), micro_rows);
    Batch infinite = fine;
    infinite.fields[1] = Floats{1, kInfinity, 1, 1};
    halts->Train({fine});
    const Floats before = halts->State(mean);
    halts->Train({infinite});
    EXPECT_EQ(halts->State("halted"), Floats{1});
    EXPECT_EQ(halts->State(mean), before);
  }
}

// ---- training in float16 ------------------------------------------------------------------------

Batch Xor() {
  return {.fields = {Floats{0, 0, 0, 1, 1, 0, 1, 1}, Floats{0, 1, 1, 0}}, .weight = Floats(4, 1)};
}

TEST(LossScaleTest, XorTrainsInEveryPolicy) {
  for (const char* policy : {"mixed_float16", "float16", "mixed_bfloat16", "bfloat16"}) {
    for (int64_t micro_rows : {0, 3}) {
      SCOPED_TRACE(fmt::format("{}, micro-batches of {}", policy, micro_rows));
      Recipe recipe{.model = nn::Model::Sequential(
                        nn::Input({2}, DType::kF32, "x"),
                        {nn::Dense({.units = 16, .activation = "tanh"}), nn::Dense({.units = 1})})};
      recipe.policy = policy;
      recipe.loss = "class = \"BinaryCrossentropy\"\nfrom_logits = true";
      recipe.optimizer = "class = \"Adam\"\nlearning_rate = 0.05";
      recipe.rows = 4;
      recipe.micro_rows = micro_rows;
      recipe.steps_per_launch = 50;
      recipe.fields = {Shape(DType::kF32, {2}), Shape(DType::kF32, {1})};
      recipe.loss_scale = LossScale::Auto(std::string(policy).ends_with("float16") &&
                                          !std::string(policy).ends_with("bfloat16"));
      Trainee trainee(std::move(recipe));
      trainee.Train(std::vector<Batch>(200, Xor()));
      EXPECT_THAT(trainee.losses, Each(::testing::Truly([](float x) { return std::isfinite(x); })));
      EXPECT_LT(trainee.losses.back(), 0.1);
      ExpectFinite(trainee);
    }
  }
}

// 2^60 overflows every gradient: the scale falls to where training begins, and training is as good
// as ever.
TEST(LossScaleTest, FarTooLargeScaleBacksOff) {
  Recipe recipe{.model = nn::Model::Sequential(
                    nn::Input({2}, DType::kF32, "x"),
                    {nn::Dense({.units = 16, .activation = "tanh"}), nn::Dense({.units = 1})})};
  recipe.policy = "mixed_float16";
  recipe.loss = "class = \"BinaryCrossentropy\"\nfrom_logits = true";
  recipe.optimizer = "class = \"Adam\"\nlearning_rate = 0.05";
  recipe.rows = 4;
  recipe.steps_per_launch = 50;
  recipe.fields = {Shape(DType::kF32, {2}), Shape(DType::kF32, {1})};
  recipe.loss_scale = Dynamic(std::ldexp(1.0, 60), 50);
  Trainee trainee(std::move(recipe));
  trainee.Train(std::vector<Batch>(250, Xor()));
  const Floats skipped = trainee.State("loss_scale_skipped");
  EXPECT_GE(skipped[0], 38);  // gradients below 65504 need a scale of about 2^20
  EXPECT_LE(skipped[0], 60);
  for (int i = 0; i < 38; ++i) {
    EXPECT_EQ(trainee.skipped[i], 1);
    EXPECT_EQ(trainee.scales[i], std::ldexp(1.0f, 60 - i));
  }
  EXPECT_EQ(trainee.State("step")[0], 250 - skipped[0]);
  EXPECT_LT(trainee.losses.back(), 0.02);
  ExpectFinite(trainee);
}

// A tiny convolutional net with normalization and dropout, on several replicas.
TEST(LossScaleTest, ConvolutionsTrainInFloat16) {
  for (int64_t replicas : {1, 2}) {
    SCOPED_TRACE(replicas);
    Recipe recipe{.model = nn::Model::Sequential(
                      nn::Input({6, 6, 1}, DType::kF32, "x"),
                      {nn::Conv2D({.filters = 4, .kernel_size = {3}, .activation = "relu"}),
                       nn::BatchNormalization(), nn::Flatten(), nn::Dropout({.rate = 0.1}),
                       nn::Dense({.units = 2})})};
    recipe.policy = "mixed_float16";
    recipe.optimizer = "class = \"Adam\"\nlearning_rate = 0.01";
    recipe.rows = 8 / replicas;
    recipe.micro_rows = 3;
    recipe.replicas = replicas;
    recipe.fields = {Shape(DType::kF32, {6, 6, 1}), Shape::Scalar(DType::kI32)};
    recipe.loss_scale = LossScale::Dynamic();
    Trainee trainee(std::move(recipe));
    Floats x;
    Ints y;
    // Horizontal and vertical stripes.
    for (int i = 0; i < 8; ++i) {
      for (int p = 0; p < 36; ++p) {
        const int at = i % 2 == 0 ? p / 6 : p % 6;
        x.push_back((at + i / 2) % 2 == 0 ? 1.0f : -1.0f);
      }
      y.push_back(i % 2);
    }
    trainee.Train(std::vector<Batch>(60, {.fields = {x, y}, .weight = Floats(8, 1)}));
    EXPECT_LT(trainee.losses.back(), 0.3);
    ExpectFinite(trainee);
  }
}

}  // namespace
}  // namespace flatout::step
