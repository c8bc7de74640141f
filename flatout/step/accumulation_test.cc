// A batch gone over in micro-batches against the same batch at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "flatout/nn/layers.h"
#include "flatout/step/testing.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Shape;
using testing::Batch;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Ints;
using testing::Recipe;
using testing::Trainee;

constexpr int64_t kFeatures = 5, kClasses = 3;

// Numbers in [0, 1).
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  float operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(state_ >> 40) / static_cast<float>(1 << 24);
  }

 private:
  uint64_t state_;
};

// `rows` rows of which those from `real` on, and the third, are padding.
Batch MakeBatch(int64_t rows, int64_t real, uint64_t seed, double scale = 1) {
  Numbers next(seed);
  Floats x;
  Ints y;
  Batch batch;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t f = 0; f < kFeatures; ++f)
      x.push_back(static_cast<float>(scale) * (next() - 0.5f));
    y.push_back(static_cast<int32_t>(next() * kClasses));
    batch.weight.push_back(i < real && i != 2 ? 1 : 0);
  }
  batch.fields = {x, y};
  return batch;
}

nn::Model Chain(std::vector<nn::LayerPtr> layers) {
  return nn::Model::Sequential(nn::Input({kFeatures}, DType::kF32, "x"), std::move(layers));
}

// Dropout, all kinds of penalties.
nn::Model Penalized() {
  return Chain({nn::Dense({.units = 8,
                           .activation = "relu",
                           .kernel_regularizer = {.l1 = 0.01, .l2 = 0.02},
                           .activity_regularizer = {.l2 = 0.03}}),
                nn::Dropout({.rate = 0.3}), nn::Dense({.units = kClasses})});
}
nn::Model Plain() {
  return Chain({nn::Dense({.units = 8, .activation = "relu"}), nn::Dense({.units = kClasses})});
}

Recipe Of(nn::Model model, int64_t rows, int64_t micro_rows) {
  Recipe recipe{.model = std::move(model)};
  recipe.rows = rows;
  recipe.micro_rows = micro_rows;
  recipe.fields = {Shape(DType::kF32, {kFeatures}), Shape::Scalar(DType::kI32)};
  return recipe;
}

void ExpectNear(const Floats& a, const Floats& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << "at " << i;
}

void ExpectSameState(const Trainee& a, const Trainee& b, double tolerance) {
  for (const StateTensor& tensor : a.layout()) {
    SCOPED_TRACE(tensor.name);
    ExpectNear(a.State(tensor.name), b.State(tensor.name), tolerance);
  }
}

TEST(AccumulationTest, AnySplitGivesTheBatch) {
  constexpr int64_t kRows = 7;
  for (int64_t replicas : {1, 2}) {
    std::unique_ptr<Trainee> whole;
    // Each program takes a second to compile: replicas get the splits with an uneven last piece.
    for (int64_t micro_rows :
         replicas == 1 ? std::vector<int64_t>{0, 1, 3, 5, 7} : std::vector<int64_t>{0, 2, 5}) {
      SCOPED_TRACE(fmt::format("{} replicas, micro-batches of {}", replicas, micro_rows));
      Recipe recipe = Of(Penalized(), kRows, micro_rows);
      recipe.replicas = replicas;
      recipe.metrics = {"accuracy", "sparse_top_k_categorical_accuracy"};
      auto trainee = std::make_unique<Trainee>(std::move(recipe));
      // The last batch leaves a second replica nothing but padding.
      trainee->Train({MakeBatch(kRows * replicas, kRows * replicas, 1),
                      MakeBatch(kRows * replicas, kRows * replicas - 2, 2),
                      MakeBatch(kRows * replicas, 4, 3)});
      if (whole == nullptr) {
        whole = std::move(trainee);
        continue;
      }
      ExpectSameState(*trainee, *whole, 1e-6);
      ExpectNear(trainee->losses, whole->losses, 1e-6);
      ASSERT_EQ(trainee->sums.size(), whole->sums.size());
      for (size_t i = 0; i < whole->sums.size(); ++i) {
        for (size_t e = 0; e < whole->sums[i].size(); ++e) {
          EXPECT_NEAR(trainee->sums[i][e], whole->sums[i][e], 1e-5);
        }
      }
      EXPECT_EQ(trainee->State("step"), Floats{3});
    }
  }
}

// Masks are drawn by rows: all that is left of a row by a micro-batch is what the big batch leaves.
TEST(AccumulationTest, DropoutHasTheBatchsBits) {
  // The weight of x[f] gets the sum over rows of what dropout left of x[f].
  const auto gradient = [](int64_t replicas, int64_t rows, int64_t micro_rows) {
    Recipe recipe = Of(
        Chain({nn::Dropout({.rate = 0.5}), nn::Dense({.units = 1, .kernel_initializer = "zeros"})}),
        rows, micro_rows);
    recipe.fields[1] = Shape(DType::kF32, {1});
    recipe.loss = "class = \"MeanAbsoluteError\"";
    recipe.optimizer = "class = \"SGD\"\nlearning_rate = 1.0";
    recipe.replicas = replicas;
    Trainee trainee(std::move(recipe));
    Batch batch;
    Floats x, y(12, 1000);
    for (int64_t i = 0; i < 12; ++i) {
      // Powers of two: which rows were left can be read off the sum.
      for (int64_t f = 0; f < kFeatures; ++f) x.push_back(std::ldexp(12.0f, static_cast<int>(i)));
    }
    batch.fields = {x, y};
    batch.weight.assign(12, 1);
    trainee.Train({batch});
    return trainee.State("dense/kernel");
  };
  const Floats whole = gradient(1, 12, 0);
  EXPECT_GT(std::set<float>(whole.begin(), whole.end()).size(), 1u);
  for (int64_t micro_rows : {1, 5}) EXPECT_EQ(gradient(1, 12, micro_rows), whole);
  for (int64_t micro_rows : {0, 4}) EXPECT_EQ(gradient(2, 6, micro_rows), whole);
}

// What an optimizer gets is the same whichever it is; so one of each kind: rows of tables or not,
// no slots, slots, norms over a variable.
TEST(AccumulationTest, OptimizersTakeTheSameStep) {
  for (const std::string name : {"SGD", "Adagrad", "Adam", "Lamb"}) {
    SCOPED_TRACE(name);
    std::unique_ptr<Trainee> whole;
    for (int64_t micro_rows : {0, 3}) {
      Recipe recipe = Of(Plain(), 7, micro_rows);
      recipe.optimizer = "class = \"" + name + "\"\nglobal_clipnorm = 0.5";
      auto trainee = std::make_unique<Trainee>(std::move(recipe));
      trainee->Train({MakeBatch(7, 7, 1)});
      if (whole == nullptr) {
        whole = std::move(trainee);
      } else {
        ExpectSameState(*trainee, *whole, 1e-6);
      }
    }
  }
}

// Where positions count, not rows (ignore_class), the mean is over all positions of the batch, not
// the mean of the micro-batches' means.
TEST(AccumulationTest, PositionsThatCountAreCountedOverTheBatch) {
  constexpr int64_t kLength = 4, kVocabulary = 6, kRows = 5;
  std::unique_ptr<Trainee> whole;
  for (int64_t micro_rows : {0, 1, 4}) {
    SCOPED_TRACE(micro_rows);
    Recipe recipe{
        .model = nn::Model::Sequential(nn::Input({kLength}, DType::kI32, "x"),
                                       {nn::Embedding({.input_dim = kVocabulary, .output_dim = 3}),
                                        nn::Dense({.units = kVocabulary})})};
    recipe.rows = kRows;
    recipe.micro_rows = micro_rows;
    recipe.fields = {Shape(DType::kI32, {kLength}), Shape(DType::kI32, {kLength})};
    recipe.loss = "class = \"SparseCategoricalCrossentropy\"\nfrom_logits = true\nignore_class = 0";
    auto trainee = std::make_unique<Trainee>(std::move(recipe));
    Numbers next(4);
    Ints x, y;
    for (int64_t i = 0; i < kRows * kLength; ++i) {
      x.push_back(static_cast<int32_t>(next() * kVocabulary));
      // The first rows have one position that counts, the last ones four.
      y.push_back(i < 2 * kLength && i % kLength > 0 ? 0 : 1 + static_cast<int32_t>(next() * 5));
    }
    Batch batch{.fields = {x, y}, .weight = Floats(kRows, 1)};
    trainee->Train({batch, batch});
    if (whole == nullptr) {
      EXPECT_EQ(trainee->sums[1][0], 2 * 14);
      whole = std::move(trainee);
      continue;
    }
    ExpectSameState(*trainee, *whole, 1e-6);
    ExpectNear(trainee->losses, whole->losses, 1e-6);
    EXPECT_EQ(trainee->sums[1][0], 2 * 14);
  }
}

// A table's gradient stays the rows that the batch touches: no sums of the table's size, and the
// rows are added in the order of the big batch.
TEST(AccumulationTest, TablesGetRows) {
  constexpr int64_t kTable = 100000, kWidth = 8, kRows = 12;
  std::unique_ptr<Trainee> whole;
  struct Split {
    int64_t micro_rows, replicas;
  };
  for (const char* optimizer :
       {"class = \"SGD\"", "class = \"SGD\"\nclipnorm = 0.01", "class = \"Adagrad\"",
        "class = \"Adam\"\nlazy = true", "class = \"SGD\"\nmomentum = 0.9\nlazy = true"}) {
    for (const auto [micro_rows, replicas] : {Split{0, 1}, {4, 1}, {5, 1}, {0, 2}, {4, 2}}) {
      SCOPED_TRACE(
          fmt::format("{}, micro-batches of {}, {} replicas", optimizer, micro_rows, replicas));
      Recipe recipe{.model = nn::Model::Sequential(
                        nn::Input({2}, DType::kI32, "x"),
                        {nn::Embedding({.input_dim = kTable, .output_dim = kWidth}), nn::Flatten(),
                         nn::Dense({.units = kClasses})})};
      recipe.rows = kRows;
      recipe.micro_rows = micro_rows;
      recipe.replicas = replicas;
      recipe.rows /= replicas;
      recipe.optimizer = fmt::format("{}\nlearning_rate = 0.5", optimizer);
      recipe.fields = {Shape(DType::kI32, {2}), Shape::Scalar(DType::kI32)};
      auto trainee = std::make_unique<Trainee>(std::move(recipe));
      Ints x, y;
      for (int32_t i = 0; i < 2 * kRows; ++i) x.push_back(i % 5 == 0 ? 77 : i * 4001 % kTable);
      for (int32_t i = 0; i < kRows; ++i) y.push_back(i % kClasses);
      trainee->Train({{.fields = {x, y}, .weight = Floats(kRows, 1)}});
      const auto memory = trainee->train().memory();
      ASSERT_TRUE(memory.has_value());
      EXPECT_LT(memory->temp, kTable * kWidth * 4);
      EXPECT_EQ(memory->alias, trainee->state_bytes());
      if (micro_rows == 0 && replicas == 1) {
        whole = std::move(trainee);
      } else {
        ExpectSameState(*trainee, *whole, 1e-6);
      }
    }
  }
}

TEST(AccumulationTest, EvaluationOfMicroBatchesIsThatOfTheBatch) {
  for (int64_t replicas : {1, 2}) {
    std::vector<Floats> whole;
    for (int64_t micro_rows : {0, 3}) {
      SCOPED_TRACE(fmt::format("{} replicas, micro-batches of {}", replicas, micro_rows));
      Recipe recipe = Of(Penalized(), 7, micro_rows);
      recipe.replicas = replicas;
      recipe.steps_per_launch = 2;
      recipe.metrics = {"accuracy"};
      Trainee trainee(std::move(recipe));
      const std::vector<Floats> results = trainee.Evaluate(
          {MakeBatch(7 * replicas, 7 * replicas, 1), MakeBatch(7 * replicas, 5, 2)});
      if (whole.empty()) {
        whole = results;
        EXPECT_EQ(results[1], Floats{static_cast<float>(7 * replicas - 1 + 4)});
        continue;
      }
      ASSERT_EQ(results.size(), whole.size());
      for (size_t i = 0; i < whole.size(); ++i) ExpectNear(results[i], whole[i], 1e-5);
    }
  }
}

// ---- moving statistics
// ----------------------------------------------------------------------------

nn::Model Normalized(bool synchronized = false) {
  return Chain({nn::BatchNormalization({.momentum = 0.5, .synchronized = synchronized}),
                nn::Dense({.units = kClasses})});
}

// Statistics follow micro-batch by micro-batch, as they would follow steps of that size.
TEST(AccumulationTest, StatisticsFollowEachMicroBatch) {
  const Batch batch = MakeBatch(6, 6, 1);
  Recipe whole_recipe = Of(Normalized(), 6, 2);
  whole_recipe.optimizer = "class = \"SGD\"\nlearning_rate = 0.0";
  Trainee accumulated(std::move(whole_recipe));
  accumulated.Train({batch});
  Recipe small_recipe = Of(Normalized(), 2, 0);
  small_recipe.optimizer = "class = \"SGD\"\nlearning_rate = 0.0";
  Trainee one_by_one(std::move(small_recipe));
  const auto& x = std::get<Floats>(batch.fields[0]);
  const auto& y = std::get<Ints>(batch.fields[1]);
  for (int64_t i = 0; i < 6; i += 2) {
    Batch part;
    part.fields = {Floats(x.begin() + i * kFeatures, x.begin() + (i + 2) * kFeatures),
                   Ints(y.begin() + i, y.begin() + i + 2)};
    part.weight.assign(batch.weight.begin() + i, batch.weight.begin() + i + 2);
    one_by_one.Train({part});
  }
  for (const char* name :
       {"batch_normalization/moving_mean", "batch_normalization/moving_variance"}) {
    ExpectNear(accumulated.State(name), one_by_one.State(name), 1e-6);
  }
}

// Two micro-batches with rows and two without are two.
TEST(AccumulationTest, MicroBatchesWithoutRowsChangeNoStatistic) {
  for (bool synchronized : {false, true}) {
    for (int64_t replicas : {1, 2}) {
      if (synchronized && replicas == 1) continue;  // the same program
      SCOPED_TRACE(fmt::format("synchronized {}, {} replicas", synchronized, replicas));
      const auto train = [&](int64_t rows, int64_t real_per_replica) {
        Recipe recipe = Of(Normalized(synchronized), rows, 2);
        recipe.replicas = replicas;
        auto trainee = std::make_unique<Trainee>(std::move(recipe));
        const Batch source = MakeBatch(8 * replicas, 8 * replicas, 1);
        Batch batch;
        Floats x;
        Ints y;
        for (int64_t r = 0; r < replicas; ++r) {
          for (int64_t i = 0; i < rows; ++i) {
            const int64_t from = r * real_per_replica + std::min(i, real_per_replica - 1);
            for (int64_t f = 0; f < kFeatures; ++f) {
              x.push_back(std::get<Floats>(source.fields[0])[from * kFeatures + f]);
            }
            y.push_back(std::get<Ints>(source.fields[1])[from]);
            batch.weight.push_back(i < real_per_replica ? 1 : 0);
          }
        }
        batch.fields = {x, y};
        trainee->Train({batch, batch});
        return trainee;
      };
      // Four rows in two micro-batches, and the same followed by padding.
      ExpectSameState(*train(8, 4), *train(4, 4), 1e-6);
      // A replica whose last micro-batch is padding where the other's is not.
      const auto uneven = train(7, 3);
      for (const StateTensor& tensor : uneven->layout()) {
        for (float value : uneven->State(tensor.name)) EXPECT_TRUE(std::isfinite(value));
      }
    }
  }
}

// ---- steps per launch, memory
// ---------------------------------------------------------------------

TEST(AccumulationTest, StepsPerLaunchChangeNoBit) {
  const auto normalized = [] {
    return Chain({nn::Dense({.units = 6, .kernel_regularizer = {.l2 = 0.01}}),
                  nn::BatchNormalization(), nn::Dropout({.rate = 0.2}),
                  nn::Dense({.units = kClasses})});
  };
  std::vector<Batch> batches;
  for (uint64_t i = 0; i < 7; ++i) batches.push_back(MakeBatch(7, i == 3 ? 2 : 7, i));
  for (int64_t micro_rows : {3, 6}) {
    std::unique_ptr<Trainee> one;
    for (int64_t k : {1, 3}) {
      SCOPED_TRACE(fmt::format("micro-batches of {}, {} per launch", micro_rows, k));
      Recipe recipe = Of(normalized(), 7, micro_rows);
      recipe.optimizer = "class = \"Adam\"";
      recipe.steps_per_launch = k;
      if (micro_rows == 6) recipe.loss_scale = {optim::LossScale::Kind::kDynamic, 1024, 3};
      auto trainee = std::make_unique<Trainee>(std::move(recipe));
      trainee->Train(batches);
      if (one == nullptr) {
        one = std::move(trainee);
        EXPECT_EQ(one->State("step"), Floats{7});
      } else {
        EXPECT_EQ(trainee->losses, one->losses);
        EXPECT_EQ(trainee->rates, one->rates);
        EXPECT_TRUE(trainee->state() == one->state());
      }
    }
  }
}

// The program needs what the program of one micro-batch needs, the sums of the gradients, and
// nothing else: no copy of the batch, of the float32 state or of the sums.
TEST(AccumulationTest, NeedsTheMemoryOfOneMicroBatch) {
  constexpr int64_t kMicro = 32, kPieces = 8, kWidth = 300, kInput = 200;
  const auto model = [&] {
    return nn::Model::Sequential(
        nn::Input({kInput}, DType::kF32, "x"),
        {nn::Dense({.units = kWidth, .activation = "gelu"}),
         nn::Dense({.units = kWidth, .activation = "gelu"}), nn::BatchNormalization(),
         nn::Dropout({.rate = 0.1}), nn::Dense({.units = kWidth, .activation = "gelu"}),
         nn::Dense({.units = kClasses})});
  };
  for (const char* policy : {"float32", "mixed_float16", "bfloat16"}) {
    SCOPED_TRACE(policy);
    const auto memory_of = [&](int64_t rows, int64_t micro_rows) {
      Recipe recipe{.model = model()};
      recipe.policy = policy;
      recipe.rows = rows;
      recipe.micro_rows = micro_rows;
      recipe.optimizer = "class = \"Adam\"";
      recipe.steps_per_launch = 2;
      recipe.fields = {Shape(DType::kF32, {kInput}), Shape::Scalar(DType::kI32)};
      if (std::string(policy) == "mixed_float16") recipe.loss_scale = optim::LossScale::Dynamic();
      Trainee trainee(std::move(recipe));
      const auto memory = trainee.train().memory();
      EXPECT_TRUE(memory.has_value());
      EXPECT_EQ(memory->alias, trainee.state_bytes());
      return memory->temp;
    };
    const int64_t gradients =
        4 * ((kInput + 1) * kWidth + 2 * (kWidth + 1) * kWidth + (kWidth + 1) * kClasses);
    // XLA converts weights to 16 bits once per step, before the loop.
    const int64_t copies = std::string(policy) == "float32" ? 0 : gradients / 2;
    const int64_t one = memory_of(kMicro, 0), whole = memory_of(kMicro * kPieces, 0);
    std::vector<int64_t> all_rows = {kMicro * kPieces};
    if (std::string(policy) == "float32") all_rows.push_back(kMicro * kPieces - 5);
    for (const int64_t rows : all_rows) {
      const int64_t accumulated = memory_of(rows, kMicro);
      const std::string figures = fmt::format("one {}, accumulated {}, whole {}, gradients {}", one,
                                              accumulated, whole, gradients);
      EXPECT_LE(accumulated, one + gradients + gradients / 20 + copies) << figures;
      EXPECT_LT(accumulated, whole) << figures;
    }
  }
}

TEST(AccumulationTest, ImpossibleMicroBatches) {
  Recipe recipe = Of(Plain(), 4, -1);
  Trainee trainee(std::move(recipe));
  try {
    trainee.train();
    ADD_FAILURE() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at least one row"));
  }
}

}  // namespace
}  // namespace flatout::step
