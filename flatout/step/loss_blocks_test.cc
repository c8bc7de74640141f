// Head and loss gone over in blocks against the whole at once.
#include "flatout/step/loss_blocks.h"

#include <fmt/format.h>
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
using ::testing::AllOf;
using testing::Batch;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Ints;
using testing::Recipe;
using testing::Trainee;

constexpr int64_t kRows = 5, kPositions = 4, kWidth = 6, kVocabulary = 11;

// A body over tokens [positions], without a head.
nn::Tensor Body(const nn::Tensor& embedded, const nn::Regularizer& activity = {}) {
  nn::Tensor x = nn::Dense({.units = 2 * kWidth,
                            .activation = "gelu",
                            .activity_regularizer = activity,
                            .common = {.name = "block1_wide"}})(embedded);
  x = nn::Dropout({.rate = 0.25, .common = {.name = "block1_dropout"}})(x);
  x = nn::Dense({.units = kWidth, .common = {.name = "block1_narrow"}})(x);
  x = nn::Add({.common = {.name = "block1_add"}})({x, embedded});
  return nn::LayerNormalization({.common = {.name = "norm"}})(x);
}

nn::Model DenseHead(const std::string& activation = "", const nn::Regularizer& activity = {}) {
  const nn::Tensor tokens = nn::Input({kPositions}, DType::kI32, "tokens");
  const nn::Tensor x =
      Body(nn::Embedding({.input_dim = kVocabulary, .output_dim = kWidth})(tokens), activity);
  return nn::Model({tokens}, {nn::Dense({.units = kVocabulary,
                                         .activation = activation,
                                         .kernel_regularizer = {.l2 = 0.01},
                                         .common = {.name = "head"}})(x)});
}

nn::Model TiedHead() {
  const nn::Tensor tokens = nn::Input({kPositions}, DType::kI32, "tokens");
  const nn::LayerPtr table =
      nn::ReversibleEmbedding({.input_dim = kVocabulary, .output_dim = kWidth});
  return nn::Model({tokens}, {table(Body(table(tokens)))});
}

// A frozen head whose outputs go through two more layers.
nn::Model FrozenHead() {
  const nn::Tensor tokens = nn::Input({kPositions}, DType::kI32, "tokens");
  nn::Tensor x = Body(nn::Embedding({.input_dim = kVocabulary, .output_dim = kWidth})(tokens));
  x = nn::Dense({.units = kVocabulary, .common = {.name = "head", .trainable = false}})(x);
  x = nn::LeakyReLU({.negative_slope = 0.1})(x);
  return nn::Model({tokens}, {nn::Softmax()(x)});
}

Recipe Of(nn::Model model, int64_t loss_blocks) {
  Recipe recipe{.model = std::move(model)};
  recipe.rows = kRows;
  recipe.loss_blocks = loss_blocks;
  recipe.metrics = {"accuracy", "sparse_top_k_categorical_accuracy"};
  recipe.fields = {Shape(DType::kI32, {kPositions}), Shape(DType::kI32, {kPositions})};
  return recipe;
}

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  double operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 40) / (1 << 24);
  }
  int32_t Below(int64_t end) { return static_cast<int32_t>((*this)() * static_cast<double>(end)); }

 private:
  uint64_t state_;
};

// `rows` rows, of which some count more and one in four not at all.
Batch Tokens(int64_t rows, uint64_t seed, double weight = 1) {
  Numbers next(seed);
  Ints x, y;
  Batch batch;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t t = 0; t < kPositions; ++t) {
      x.push_back(next.Below(kVocabulary));
      y.push_back(next.Below(kVocabulary));
    }
    batch.weight.push_back(i % 4 == 2 ? 0 : static_cast<float>(weight * (1 + i % 3)));
  }
  batch.fields = {x, y};
  return batch;
}

void ExpectNear(const Floats& a, const Floats& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0F, std::abs(b[i]))) << "at " << i;
  }
}

void ExpectSameRun(const Trainee& a, const Trainee& b, double tolerance) {
  for (const StateTensor& tensor : a.layout()) {
    SCOPED_TRACE(tensor.name);
    ExpectNear(a.State(tensor.name), b.State(tensor.name), tolerance);
  }
  ExpectNear(a.losses, b.losses, tolerance);
  EXPECT_EQ(a.skipped, b.skipped);
  ASSERT_EQ(a.sums.size(), b.sums.size());
  for (size_t i = 0; i < a.sums.size(); ++i) {
    SCOPED_TRACE(fmt::format("sum {}", i));
    ExpectNear({a.sums[i].begin(), a.sums[i].end()}, {b.sums[i].begin(), b.sums[i].end()},
               tolerance);
  }
}

struct Case {
  std::string name;
  nn::Model (*model)();
  std::function<void(Recipe&)> change;
  double tolerance = 2e-6;
};

std::vector<Case> Cases() {
  const auto dense = [] { return DenseHead(); };
  return {
      {"Dense", dense, [](Recipe&) {}},
      {"Tied", TiedHead, [](Recipe&) {}},
      {"Frozen", FrozenHead,
       [](Recipe& recipe) { recipe.loss = "class = \"SparseCategoricalCrossentropy\""; }},
      {"Probabilities", [] { return DenseHead("softmax"); },
       [](Recipe& recipe) { recipe.loss = "class = \"SparseCategoricalCrossentropy\""; }},
      {"ActivityLosses", [] { return DenseHead("", {.l2 = 0.03}); }, [](Recipe&) {}},
      {"IgnoredClass", dense, [](Recipe& recipe) { recipe.loss += "\nignore_class = 3"; }},
      {"MicroBatches", TiedHead, [](Recipe& recipe) { recipe.micro_rows = 2; }},
      {"Replicas", dense, [](Recipe& recipe) { recipe.replicas = 2; }},
      {"ReplicasAndActivityLosses", [] { return DenseHead("", {.l2 = 0.03}); },
       [](Recipe& recipe) {
         recipe.replicas = 2;
         recipe.micro_rows = 3;
       }},
      {"Recomputed", TiedHead,
       [](Recipe& recipe) { recipe.recompute = nn::Recompute::AllBlocks(); }},
      {"SeveralSteps", TiedHead, [](Recipe& recipe) { recipe.steps_per_launch = 2; }},
      {"MixedFloat16", TiedHead,
       [](Recipe& recipe) {
         recipe.policy = "mixed_float16";
         recipe.loss_scale = LossScale::Dynamic();
       },
       5e-3},
      {"MixedFloat16Replicas", dense,
       [](Recipe& recipe) {
         recipe.policy = "mixed_float16";
         recipe.loss_scale = LossScale::Static(1024);
         recipe.replicas = 2;
       },
       5e-3},
      {"BFloat16", TiedHead, [](Recipe& recipe) { recipe.policy = "bfloat16"; }, 3e-2},
  };
}

class LossBlocksTest : public ::testing::TestWithParam<Case> {};

TEST_P(LossBlocksTest, BlocksGiveTheWhole) {
  const Case& c = GetParam();
  std::unique_ptr<Trainee> whole;
  std::vector<Floats> evaluated;
  // 20 positions: in blocks of 7, of which the last shares one, and in halves or one by one.
  std::vector<int64_t> numbers = {1, 3};
  if (c.name == "Dense") numbers = {1, 2, 3, 20};
  for (const int64_t blocks : numbers) {
    SCOPED_TRACE(fmt::format("{} blocks", blocks));
    Recipe recipe = Of(c.model(), blocks);
    c.change(recipe);
    const int64_t rows = kRows * recipe.replicas;
    auto trainee = std::make_unique<Trainee>(std::move(recipe));
    trainee->Train({Tokens(rows, 1), Tokens(rows, 2, 0.5), Tokens(rows, 3)});
    const std::vector<Floats> scores = trainee->Evaluate({Tokens(rows, 4)});
    if (whole == nullptr) {
      ASSERT_EQ(NumLossBlocks(trainee->spec()), 1);
      whole = std::move(trainee);
      evaluated = scores;
      continue;
    }
    EXPECT_GT(NumLossBlocks(trainee->spec()), 1);
    ExpectSameRun(*trainee, *whole, c.tolerance);
    ASSERT_EQ(scores.size(), evaluated.size());
    for (size_t i = 0; i < scores.size(); ++i) ExpectNear(scores[i], evaluated[i], c.tolerance);
    // No work is counted twice, nor any that pads the last block.
    EXPECT_EQ(trainee->train_program().step_flops, whole->train_program().step_flops);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LossBlocksTest, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

// A head on [batch, features].
TEST(LossBlocks, RowsWithoutPositions) {
  const auto train = [](int64_t blocks) {
    Recipe recipe{.model =
                      nn::Model::Sequential(nn::Input({3}, DType::kF32, "x"),
                                            {nn::Dense({.units = 4, .activation = "tanh"}),
                                             nn::BatchNormalization(), nn::Dense({.units = 2})})};
    recipe.rows = kRows;
    recipe.loss_blocks = blocks;
    recipe.loss = "class = \"MeanSquaredError\"";
    recipe.metrics = {"mae", "root_mean_squared_error"};
    recipe.fields = {Shape(DType::kF32, {3}), Shape(DType::kF32, {2})};
    auto trainee = std::make_unique<Trainee>(std::move(recipe));
    Numbers next(5);
    Batch batch;
    Floats x, y;
    for (int64_t i = 0; i < 3 * kRows; ++i) x.push_back(static_cast<float>(next()));
    for (int64_t i = 0; i < 2 * kRows; ++i) y.push_back(static_cast<float>(next()));
    batch.fields = {x, y};
    batch.weight = {1, 0, 2, 1, 1};
    trainee->Train({batch, batch});
    return trainee;
  };
  const auto whole = train(1);
  for (const int64_t blocks : {2, 5, 100}) {
    const auto trainee = train(blocks);
    EXPECT_EQ(NumLossBlocks(trainee->spec()), std::min(blocks, kRows));
    ExpectSameRun(*trainee, *whole, 1e-6);
  }
}

// The spec of a model that is not run.
class Plan {
 public:
  explicit Plan(Recipe recipe) : trainee_(std::move(recipe)) {}
  LossBlocks blocks() const { return DivideLoss(trainee_.spec()); }
  std::string error() const {
    try {
      blocks();
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  Trainee trainee_;
};

TEST(LossBlocks, LossesTellWhetherTheirRowsMayBePositions) {
  const auto plan = [](const std::string& loss, const std::string& metric = "mse") {
    Recipe recipe = Of(DenseHead(), 4);
    recipe.loss = loss;
    recipe.metrics = {metric};
    recipe.fields[1] = Shape(DType::kF32, {kPositions, kVocabulary});
    return Plan(std::move(recipe));
  };
  for (const char* loss :
       {"class = \"MeanSquaredError\"", "class = \"CosineSimilarity\"", "class = \"KLDivergence\"",
        "class = \"BinaryCrossentropy\"\nfrom_logits = true",
        "class = \"CategoricalCrossentropy\"\nfrom_logits = true\nlabel_smoothing = 0.1"}) {
    const LossBlocks blocks = plan(loss).blocks();
    EXPECT_TRUE(blocks.by_position) << loss;
    EXPECT_EQ(blocks.rows, kRows) << loss;  // a fourth of 20 positions
    EXPECT_EQ(blocks.count, 4) << loss;
  }
  // Over the positions of a row, and so not for each by itself.
  const LossBlocks rows = plan("class = \"CosineSimilarity\"\naxis = 1").blocks();
  EXPECT_FALSE(rows.by_position);
  EXPECT_EQ(rows.rows, 2);
  EXPECT_EQ(rows.count, 3);
  EXPECT_TRUE(plan("class = \"MeanSquaredError\"", "precision").blocks().by_position);
  EXPECT_TRUE(plan("class = \"MeanSquaredError\"", "auc").blocks().by_position);
  // Whether labels are 0 and 1 is asked of the whole batch.
  EXPECT_THAT(plan("class = \"Hinge\"").error(),
              AllOf(HasSubstr("loss_blocks = 4"), HasSubstr("loss hinge is no sum over rows")));
  EXPECT_THAT(plan("class = \"MeanSquaredError\"", "hinge").error(),
              HasSubstr("metric hinge is no sum over rows"));
}

TEST(LossBlocks, OtherModelsAreRefused) {
  const auto error = [](std::vector<nn::LayerPtr> layers, int64_t blocks = 2) {
    Recipe recipe{.model = nn::Model::Sequential(nn::Input({4, 3}, DType::kF32, "x"), layers)};
    recipe.rows = 4;
    recipe.loss_blocks = blocks;
    recipe.fields = {Shape(DType::kF32, {4, 3}), Shape(DType::kI32, {})};
    return Plan(std::move(recipe)).error();
  };
  EXPECT_EQ(error({nn::Flatten(), nn::Dense({.units = 3})}), "no error");
  EXPECT_THAT(error({nn::Dense({.units = 3}), nn::GlobalAveragePooling1D()}),
              AllOf(HasSubstr("loss_blocks = 2"), HasSubstr("each position by itself")));
  EXPECT_THAT(error({nn::Flatten(), nn::Dense({.units = 3, .activity_regularizer = {.l2 = 0.1}})}),
              HasSubstr("activity_regularizer"));
  EXPECT_THAT(error({nn::Flatten(), nn::Dense({.units = 3}), nn::Dropout({.rate = 0.5})}),
              HasSubstr("each position by itself"));
  EXPECT_THAT(error({nn::Flatten(), nn::Dense({.units = 3})}, -1), HasSubstr("-1"));
}

TEST(LossBlocks, ChosenBySize) {
  const auto plan = [](int64_t rows, int64_t positions, int64_t width, int64_t vocabulary,
                       int64_t micro_rows = 0) {
    const nn::Tensor tokens = nn::Input({positions}, DType::kI32, "tokens");
    const nn::LayerPtr table = nn::ReversibleEmbedding(
        {.input_dim = vocabulary, .output_dim = width, .embeddings_initializer = "zeros"});
    const nn::Tensor x = nn::LayerNormalization()(table(tokens));
    Recipe recipe{.model = nn::Model({tokens}, {table(x)})};
    recipe.rows = rows;
    recipe.micro_rows = micro_rows;
    recipe.fields = {Shape(DType::kI32, {positions}), Shape(DType::kI32, {positions})};
    return Plan(std::move(recipe)).blocks();
  };
  // 32 MiB of logits are divided, in blocks of 16; less are not.
  EXPECT_EQ(plan(8, 128, 16, 8192).count, 2);
  EXPECT_EQ(plan(8, 127, 16, 8192).count, 1);
  const LossBlocks blocks = plan(32, 128, 16, 8192);
  EXPECT_EQ(blocks.count, 8);
  EXPECT_EQ(blocks.rows, 512);
  EXPECT_TRUE(blocks.by_position);
  // Of a pass.
  EXPECT_EQ(plan(32, 128, 16, 8192, 8).count, 2);
  // 62 MiB, 2032 positions: the size next to 508 that divides them is that itself.
  EXPECT_EQ(plan(16, 127, 16, 8192).rows, 508);
  // No block is smaller than the head's weights, 32 MiB here.
  EXPECT_EQ(plan(32, 128, 1024, 8192).count, 4);
}

TEST(LossBlocks, TheDiagnosisFindsTheSame) {
  const auto diagnose = [](int64_t blocks, int64_t micro_rows, const std::string& policy,
                           const std::function<void(Trainee&, Batch&)>& spoil) {
    Recipe recipe = Of(DenseHead(), blocks);
    recipe.micro_rows = micro_rows;
    recipe.policy = policy;
    if (policy == "mixed_float16") recipe.loss_scale = LossScale::Static(1024);
    Trainee trainee(std::move(recipe));
    Batch batch = Tokens(kRows, 6);
    batch.weight.assign(kRows, 1);
    spoil(trainee, batch);
    return trainee.Diagnose(batch);
  };
  const auto nothing = [](Trainee&, Batch&) {};
  const auto bad_class = [](Trainee&, Batch& batch) {
    std::get<Ints>(batch.fields[1])[17] = kVocabulary;
  };
  const auto large_head = [](Trainee& trainee, Batch&) {
    trainee.SetState("head/kernel", Floats(kWidth * kVocabulary, 3e38F));
  };
  const auto large_body = [](Trainee& trainee, Batch&) {
    trainee.SetState("block1_wide/kernel", Floats(2 * kWidth * kWidth, 60000));
    trainee.SetState("embedding/embeddings", Floats(kVocabulary * kWidth, 1));
  };
  // Gradients by the head's input overflow float16 by the loss scale.
  const auto steep_head = [](Trainee& trainee, Batch&) {
    Floats kernel(kWidth * kVocabulary);
    for (size_t i = 0; i < kernel.size(); ++i) kernel[i] = i % 2 == 0 ? 5000 : -5000;
    trainee.SetState("head/kernel", kernel);
  };
  struct Expected {
    std::string policy;
    std::function<void(Trainee&, Batch&)> spoil;
    std::string found;
  };
  const Expected cases[] = {
      {"float32", nothing, ""},
      {"float32", bad_class, "holds a class outside 0 to 10"},
      {"float32", large_head, "the output of layer head"},
      {"mixed_float16", nothing, ""},
      {"mixed_float16", large_body, "the output of layer block1_wide"},
      {"mixed_float16", steep_head, "the gradient by the output of layer norm (float16"},
  };
  for (const Expected& c : cases) {
    for (const int64_t micro_rows : {0, 2}) {
      if (micro_rows > 0 && c.found != "the output of layer head") continue;
      SCOPED_TRACE(fmt::format("{}, \"{}\", {}", c.policy, c.found, micro_rows));
      const std::string whole = diagnose(1, micro_rows, c.policy, c.spoil);
      EXPECT_THAT(whole, HasSubstr(c.found));
      EXPECT_EQ(whole.empty(), c.found.empty());
      EXPECT_EQ(diagnose(3, micro_rows, c.policy, c.spoil), whole);
    }
  }
}

TEST(LossBlocks, LogitsExistForOneBlockAtATime) {
  constexpr int64_t kWords = 2048, kLength = 64, kBatch = 16;
  const auto temporaries = [](int64_t blocks, bool evaluation) {
    const nn::Tensor tokens = nn::Input({kLength}, DType::kI32, "tokens");
    const nn::LayerPtr table = nn::ReversibleEmbedding({.input_dim = kWords, .output_dim = 16});
    Recipe recipe{.model = nn::Model({tokens}, {table(nn::LayerNormalization()(table(tokens)))})};
    recipe.rows = kBatch;
    recipe.loss_blocks = blocks;
    recipe.metrics = {"accuracy"};
    recipe.fields = {Shape(DType::kI32, {kLength}), Shape(DType::kI32, {kLength})};
    const Trainee trainee(std::move(recipe));
    const Program program =
        evaluation ? BuildEvaluateProgram(trainee.spec()) : BuildTrainProgram(trainee.spec());
    return trainee.client().Compile(ir::ToStablehlo(*program.graph), {})->memory()->temp;
  };
  const int64_t logits = kBatch * kLength * kWords * 4;
  for (const bool evaluation : {false, true}) {
    const int64_t whole = temporaries(1, evaluation), blocks = temporaries(8, evaluation);
    EXPECT_GT(whole, logits);
    EXPECT_LT(blocks, logits / 2) << "of " << whole;
  }
}

}  // namespace
}  // namespace flatout::step
