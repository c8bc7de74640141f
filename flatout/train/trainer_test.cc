#include "flatout/train/trainer.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/data/arrays.h"
#include "flatout/data/dataset.h"
#include "flatout/nn/layers.h"
#include "flatout/train/testing.h"

namespace flatout::train {
namespace {

using ir::DType;
using ir::Shape;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using namespace testing;  // NOLINT: flatout/train/testing.h

// ---- the same by hand ---------------------------------------------------------------------------

// Softmax regression on the host in float64.
struct ByHand {
  std::vector<double> kernel, bias;  // [kFeatures, kClasses], [kClasses]

  explicit ByHand(const checkpoint::TensorFile& weights) {
    for (float value : Values(weights.tensors[0])) kernel.push_back(value);
    for (float value : Values(weights.tensors[1])) bias.push_back(value);
  }
  std::vector<double> Probabilities(const float* x) const {
    std::vector<double> p(bias);
    double sum = 0;
    for (int64_t c = 0; c < kClasses; ++c) {
      for (int64_t f = 0; f < kFeatures; ++f) p[c] += x[f] * kernel[f * kClasses + c];
      sum += p[c] = std::exp(p[c]);
    }
    for (double& value : p) value /= sum;
    return p;
  }
  double Loss(const Rows& rows, int64_t begin, int64_t end) const {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) {
      sum -= std::log(Probabilities(&rows.x[i * kFeatures])[rows.y[i]]);
    }
    return sum / static_cast<double>(end - begin);
  }
  // One update of gradient descent on rows begin..end-1; the loss before it.
  double Step(const Rows& rows, int64_t begin, int64_t end, double rate) {
    const double loss = Loss(rows, begin, end);
    std::vector<double> dk(kernel.size()), db(bias.size());
    for (int64_t i = begin; i < end; ++i) {
      std::vector<double> p = Probabilities(&rows.x[i * kFeatures]);
      p[rows.y[i]] -= 1;
      for (int64_t c = 0; c < kClasses; ++c) {
        db[c] += p[c];
        for (int64_t f = 0; f < kFeatures; ++f) {
          dk[f * kClasses + c] += p[c] * rows.x[i * kFeatures + f];
        }
      }
    }
    const double n = static_cast<double>(end - begin);
    for (size_t i = 0; i < kernel.size(); ++i) kernel[i] -= rate * dk[i] / n;
    for (size_t i = 0; i < bias.size(); ++i) bias[i] -= rate * db[i] / n;
    return loss;
  }
};

// ---- the same bits ------------------------------------------------------------------------------

TEST(TrainerTest, OneSeedGivesTheSameBits) {
  const auto train = [](int seed) {
    return Train(Options("epochs = 2\nglobal_batch = 8\nseed = " + std::to_string(seed)), Mlp(),
                 {.train = Source(50)});
  };
  const Trained first = train(3), second = train(3), other = train(4);
  EXPECT_EQ(first.result.losses, second.result.losses);
  EXPECT_TRUE(SameBytes(first.weights, second.weights));
  EXPECT_EQ(first.result.steps, 14);
  EXPECT_EQ(first.result.samples, 100);
  EXPECT_EQ(first.result.losses.size(), 14u);
  EXPECT_NE(first.result.losses, other.result.losses);
  EXPECT_FALSE(SameBytes(first.weights, other.weights));
}

TEST(TrainerTest, StepsPerLaunchChangesNoBit) {
  const auto normalized = [] {
    return Chain({nn::Dense({.units = 6}), nn::BatchNormalization(),
                  nn::Dense({.units = kClasses, .kernel_regularizer = {.l2 = 0.01}})});
  };
  for (const auto& model :
       {std::function<nn::Model()>(Mlp), std::function<nn::Model()>(normalized)}) {
    std::optional<Trained> expected;
    // 13 steps per epoch: a remainder for 3 and 7; 20 is more than an epoch.
    for (const char* k : {"1", "3", "7", "20", "\"auto\""}) {
      SCOPED_TRACE(k);
      Trained trained =
          Train(Options(std::string("epochs = 2\nglobal_batch = 4\nsteps_per_launch = ") + k),
                model(), {.train = Source(50)});
      EXPECT_EQ(trained.result.steps, 26);
      EXPECT_EQ(trained.result.samples, 100);
      if (expected) {
        EXPECT_EQ(trained.result.losses, expected->result.losses);
        EXPECT_TRUE(SameBytes(trained.weights, expected->weights));
      } else {
        expected = std::move(trained);
      }
    }
  }
}

// ---- several devices ----------------------------------------------------------------------------

// Dropout's masks and synchronised statistics are those of the global batch.
TEST(TrainerTest, DevicesAgree) {
  const auto model = [] {
    return Chain({nn::Dense({.units = 8, .activation = "relu"}),
                  nn::BatchNormalization({.synchronized = true}), nn::Dropout({.rate = 0.5}),
                  nn::Dense({.units = kClasses})});
  };
  const RunConfig config = Options("epochs = 3\nglobal_batch = 8\nmetrics = [\"accuracy\"]", kSgd);
  std::optional<Trained> expected;
  for (int64_t devices : {1, 2, 4}) {
    SCOPED_TRACE(devices);
    Trained trained = Train(config, model(), {.train = Source(45)}, devices);
    EXPECT_EQ(trained.result.samples, 3 * 45);
    if (expected) {
      ExpectNear(trained.result.losses, expected->result.losses, 2e-4);
      ExpectNear(trained.weights, expected->weights, 2e-3);
      EXPECT_NEAR(trained.result.last_epoch.at("loss"), expected->result.last_epoch.at("loss"),
                  2e-4);
      EXPECT_NEAR(trained.result.last_epoch.at("accuracy"),
                  expected->result.last_epoch.at("accuracy"), 1e-6);
    } else {
      expected = std::move(trained);
    }
  }
}

// By default each replica normalizes by its own rows, as Keras does, so that curves may differ; but
// a replica that has only padding must harm neither weights nor statistics.
TEST(TrainerTest, BatchNormalizationOfOneReplicaSurvivesPadding) {
  for (bool synchronized : {false, true}) {
    SCOPED_TRACE(synchronized);
    const Trained trained =
        Train(Options("epochs = 2\nglobal_batch = 8", kSgd),
              Chain({nn::BatchNormalization({.momentum = 0.5, .synchronized = synchronized}),
                     nn::Dense({.units = kClasses})}),
              {.train = Source(9), .validation = Source(9)}, 2);  // the last batch is one row
    for (const checkpoint::HostTensor& tensor : trained.weights.tensors) {
      for (float value : Values(tensor)) EXPECT_TRUE(std::isfinite(value)) << tensor.name;
    }
    EXPECT_TRUE(std::isfinite(trained.result.last_epoch.at("val_loss")));
  }
}

// cases.md A20: any number of rows on any number of devices gives the loss of the rows there are.
TEST(TrainerTest, UnevenLastBatchIsTheMeanOfItsRows) {
  constexpr int64_t kBatch = 6;
  for (int64_t devices : {1, 2, 3}) {
    std::set<int64_t> counts = {1,      devices - 1, devices,       kBatch - 1,
                                kBatch, kBatch + 1,  2 * kBatch - 1};
    counts.erase(0);
    for (int64_t n : counts) {
      SCOPED_TRACE("rows " + std::to_string(n) + ", devices " + std::to_string(devices));
      const Rows rows = MakeRows(n);
      Trainer trainer(Options("global_batch = 6\nsteps_per_launch = 2",
                              kSgd + "[data]\nsource = \"arrays\"\nshuffle = false"),
                      Linear(), {.train = Source(rows)}, Devices(devices));
      ByHand by_hand(trainer.Weights());
      const FitResult result = Fit(trainer);
      EXPECT_EQ(result.samples, n);
      ASSERT_EQ(result.losses.size(), static_cast<size_t>((n + kBatch - 1) / kBatch));
      double total = 0;
      for (size_t step = 0; step < result.losses.size(); ++step) {
        const int64_t begin = static_cast<int64_t>(step) * kBatch;
        const int64_t end = std::min(begin + kBatch, n);
        const double loss = by_hand.Step(rows, begin, end, 0.5);
        EXPECT_NEAR(result.losses[step], loss, 1e-5);
        total += loss * static_cast<double>(end - begin);
      }
      EXPECT_NEAR(result.last_epoch.at("loss"), total / static_cast<double>(n), 1e-5);
      const checkpoint::TensorFile weights = trainer.Weights();
      for (int64_t i = 0; i < kFeatures * kClasses; ++i) {
        EXPECT_NEAR(Values(weights.tensors[0])[i], by_hand.kernel[i], 1e-5);
      }
      for (int64_t i = 0; i < kClasses; ++i) {
        EXPECT_NEAR(Values(weights.tensors[1])[i], by_hand.bias[i], 1e-5);
      }
    }
  }
}

// cases.md A21: 21 rows on 2 devices are 21 rows.
TEST(TrainerTest, EvaluationCountsEachRowOnce) {
  const Rows rows = MakeRows(21, 9);
  for (int64_t devices : {1, 2}) {
    SCOPED_TRACE(devices);
    Trainer trainer(Options("global_batch = 8\nmetrics = [\"accuracy\"]"), Linear(),
                    {.train = Source(8)}, Devices(devices));
    const ByHand by_hand(trainer.Weights());
    const Scores scores = trainer.Evaluate(Source(rows));
    EXPECT_EQ(scores.rows, 21);
    EXPECT_NEAR(scores.loss, by_hand.Loss(rows, 0, 21), 1e-5);
    int64_t right = 0;
    for (int64_t i = 0; i < 21; ++i) {
      const std::vector<double> p = by_hand.Probabilities(&rows.x[i * kFeatures]);
      right += std::max_element(p.begin(), p.end()) - p.begin() == rows.y[i];
    }
    EXPECT_NEAR(scores.metrics.at("accuracy"), static_cast<double>(right) / 21, 1e-6);
  }
}

// Every record is read once per epoch, whatever the devices and steps per launch.
TEST(TrainerTest, EverySampleIsSeenOnce) {
  class Counting : public data::ArraysSource {
   public:
    using ArraysSource::ArraysSource;
    void Read(data::ReadContext& context, int64_t epoch, std::span<const int64_t> indices,
              data::Block& out) const override {
      {
        const std::lock_guard lock(mutex);
        for (int64_t index : indices) ++seen[index];
      }
      ArraysSource::Read(context, epoch, indices, out);
    }
    mutable std::mutex mutex;
    mutable std::map<int64_t, int> seen;
  };
  const Rows rows = MakeRows(23);
  for (int64_t devices : {1, 2, 4}) {
    SCOPED_TRACE(devices);
    const auto source = std::make_shared<Counting>(
        "rows",
        std::vector<data::Array>{data::MakeArray("x", Shape(DType::kF32, {kFeatures}), rows.x),
                                 data::MakeArray("y", Shape::Scalar(DType::kI32), rows.y)});
    Train(Options("epochs = 3\nglobal_batch = 4\nsteps_per_launch = 2"), Linear(),
          {.train = source}, devices);
    EXPECT_EQ(source->seen.size(), 23u);
    for (const auto& [index, count] : source->seen) EXPECT_EQ(count, 3) << "record " << index;
  }
}

// ---- programs -----------------------------------------------------------------------------------

// cases.md A46: one padded shape, so one program; a second run compiles nothing.
TEST(TrainerTest, CompilesOnceAndThenNever) {
  const auto run = [](const Sources& sources) {
    TrainOptions options;
    const auto runtime = std::make_shared<Runtime>(options);
    Trainer trainer(Options("epochs = 2\nglobal_batch = 7\nsteps_per_launch = 4"),
                    Chain({nn::Dense({.units = 5}), nn::Dense({.units = kClasses})}), sources,
                    runtime);
    const FitResult result = Fit(trainer);
    EXPECT_EQ(result.summary.compiles, runtime->cache().stats().misses);
    return runtime->cache().stats();
  };
  // 50 rows: 8 batches, the last of one row.
  xla::CompileCache::Stats stats = run({.train = Source(50)});
  EXPECT_EQ(stats.misses, 1);
  EXPECT_EQ(stats.hits, 0);
  stats = run({.train = Source(50)});
  EXPECT_EQ(stats.misses, 0);
  EXPECT_EQ(stats.hits, 1);
  // Validation and test share one more program.
  stats = run({.train = Source(50), .validation = Source(10), .test = Source(11)});
  EXPECT_EQ(stats.misses, 1);
  stats = run({.train = Source(50), .validation = Source(10), .test = Source(11)});
  EXPECT_EQ(stats.misses, 0);
}

TEST(TrainerTest, TheStateIsUpdatedInPlace) {
  for (int64_t devices : {1, 2}) {
    SCOPED_TRACE(devices);
    Trainer trainer(Options("global_batch = 8"), Mlp(), {.train = Source(16)}, Devices(devices));
    const std::optional<xla::ProgramMemory> memory = trainer.TrainProgramMemory();
    ASSERT_TRUE(memory.has_value());
    // Weights 4*8+8 + 8*3+3 = 67 floats, Adam keeps two more of each, and two counters.
    EXPECT_EQ(trainer.state_bytes(), 3 * 67 * 4 + 2 * 4);
    EXPECT_EQ(memory->alias, trainer.state_bytes());
  }
}

// ---- what a loss means --------------------------------------------------------------------------

// Keras adds l2 * sum(w^2) to the loss of every batch, to an epoch's loss, and to the validation's.
TEST(TrainerTest, MovingAveragesBecomeTheWeightsAtTheEnd) {
  // The average of the weights after steps 1, 2 and 3, which shorter runs give.
  const auto weights_after = [](int steps, const std::string& ema) {
    const RunConfig config =
        Options(fmt::format("global_batch = 4\nmax_steps = {}\n", steps), kSgd + ema);
    const Trained trained = Train(config, Linear(), {.train = Source(12)});
    std::vector<float> values(trained.weights.tensors.at(0).bytes.size() / sizeof(float));
    std::memcpy(values.data(), trained.weights.tensors[0].bytes.data(),
                values.size() * sizeof(float));
    return values;
  };
  const std::vector<float> first = weights_after(1, ""), second = weights_after(2, ""),
                           third = weights_after(3, "");
  const std::vector<float> averaged = weights_after(3, "use_ema = true\nema_momentum = 0.75\n");
  ASSERT_EQ(averaged.size(), first.size());
  for (size_t i = 0; i < averaged.size(); ++i) {
    const float after_two = 0.75f * first[i] + 0.25f * second[i];
    EXPECT_NEAR(averaged[i], 0.75f * after_two + 0.25f * third[i], 1e-6) << i;
    EXPECT_NE(averaged[i], third[i]) << i;
  }
}

TEST(TrainerTest, RegularizationIsPartOfTheLoss) {
  const Rows rows = MakeRows(6);
  for (int64_t devices : {1, 2}) {
    SCOPED_TRACE(devices);
    Trainer trainer(
        Options("global_batch = 6", kSgd + "[data]\nsource = \"arrays\"\nshuffle = false"),
        Linear(0.1), {.train = Source(rows), .validation = Source(rows)}, Devices(devices));
    const auto penalty = [](const ByHand& by_hand) {
      double sum = 0;
      for (double w : by_hand.kernel) sum += w * w;
      return 0.1 * sum;
    };
    const ByHand before(trainer.Weights());
    const double expected = before.Loss(rows, 0, 6) + penalty(before);
    EXPECT_NEAR(trainer.Evaluate(Source(rows)).loss, expected, 1e-5);
    const FitResult result = Fit(trainer);
    EXPECT_NEAR(result.losses.at(0), expected, 1e-5);
    EXPECT_NEAR(result.last_epoch.at("loss"), expected, 1e-5);
    const ByHand after(trainer.Weights());
    EXPECT_NEAR(result.last_epoch.at("val_loss"), after.Loss(rows, 0, 6) + penalty(after), 1e-5);
    // The gradient of l2 w^2 is 2 l2 w.
    ByHand plain = before;
    plain.Step(rows, 0, 6, 0.5);
    for (size_t i = 0; i < plain.kernel.size(); ++i) {
      EXPECT_NEAR(after.kernel[i], plain.kernel[i] - 0.5 * 2 * 0.1 * before.kernel[i], 1e-5);
    }
  }
}

TEST(TrainerTest, PredictIsTheModelThatEvaluateScores) {
  const Rows rows = MakeRows(21, 5);
  for (int64_t devices : {1, 2}) {
    SCOPED_TRACE(devices);
    Trainer trainer(Options("global_batch = 8\nepochs = 2"), Mlp(), {.train = Source(40)},
                    Devices(devices));
    Fit(trainer);
    const std::vector<checkpoint::HostTensor> outputs = trainer.Predict(Source(rows));
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(outputs[0].shape, Shape(DType::kF32, {21, kClasses}));
    const std::vector<float> logits = Values(outputs[0]);
    double loss = 0;
    for (int64_t i = 0; i < 21; ++i) {
      double sum = 0;
      for (int64_t c = 0; c < kClasses; ++c) sum += std::exp(logits[i * kClasses + c]);
      loss += std::log(sum) - logits[i * kClasses + rows.y[i]];
    }
    EXPECT_NEAR(trainer.Evaluate(Source(rows)).loss, loss / 21, 1e-5);
    const std::vector<checkpoint::HostTensor> first = trainer.Predict(Source(rows), 9);
    EXPECT_EQ(first[0].shape, Shape(DType::kF32, {9, kClasses}));
    EXPECT_EQ(Values(first[0]), std::vector<float>(logits.begin(), logits.begin() + 9 * kClasses));
    EXPECT_EQ(trainer.Predict(Source(rows), 1000)[0].shape.dims[0], 21);
  }
}

TEST(TrainerTest, LearnsWhatCanBeLearned) {
  const Trained trained =
      Train(Options("epochs = 30\nglobal_batch = 16\nmetrics = [\"accuracy\"]",
                    "[optimizer]\nclass = \"Adam\"\nlearning_rate = 0.03\n"),
            Mlp(), {.train = Source(200), .validation = Source(100, 2), .test = Source(100, 3)});
  EXPECT_GT(trained.result.test->metrics.at("accuracy"), 0.9);
  EXPECT_EQ(trained.result.test->rows, 100);
  EXPECT_LT(trained.result.last_epoch.at("loss"), trained.result.losses.front());
}

// ---- weights ------------------------------------------------------------------------------------

TEST(TrainerTest, WeightsGoOutAndIn) {
  const RunConfig config = Options("global_batch = 8\nepochs = 2");
  Trainer first(config, Mlp(), {.train = Source(40)}, Devices(1));
  Fit(first);
  Trainer second(Options("global_batch = 8\nseed = 77"), Mlp(), {.train = Source(40)}, Devices(2));
  EXPECT_FALSE(SameBytes(first.Weights(), second.Weights()));
  second.LoadWeights(first.Weights(), "memory");
  EXPECT_TRUE(SameBytes(first.Weights(), second.Weights()));
  EXPECT_NEAR(second.Evaluate(Source(21)).loss, first.Evaluate(Source(21)).loss, 1e-5);
}

TEST(TrainerTest, WeightsThatDoNotFitAreListed) {
  Trainer trainer(Options("global_batch = 8"), Mlp(), {.train = Source(40)}, Devices(1));
  const checkpoint::TensorFile before = trainer.Weights();
  checkpoint::TensorFile wrong = before;
  wrong.tensors[0].shape = Shape(DType::kF32, {8, 4});
  wrong.tensors[1].name = "dense/offset";
  try {
    trainer.LoadWeights(wrong, "old.safetensors");
    ADD_FAILURE() << "no error was thrown";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("old.safetensors does not fit the model"),
                                    HasSubstr("dense/kernel is f32[8,4], the model has f32[4,8]"),
                                    HasSubstr("dense/bias f32[8] is missing"),
                                    HasSubstr("dense/offset f32[8] is not in the model")));
  }
  EXPECT_TRUE(SameBytes(trainer.Weights(), before));
}

// ---- a loss that is not finite ------------------------------------------------------------------

// The error of training, and what it leaves in the folder.
TEST(TrainerTest, AnOverflowNamesLayerAndStepAndKeepsTheWeights) {
  for (int64_t devices : {1, 2}) {
    for (const char* k : {"1", "5"}) {
      SCOPED_TRACE(std::string(k) + " steps per launch, devices " + std::to_string(devices));
      const auto model = [] {
        return Chain({nn::Dense({.units = 8}), nn::Dense({.units = kClasses})});
      };
      const std::string sgd = "[optimizer]\nclass = \"SGD\"\nlearning_rate = 1e25\n";
      const std::string train =
          std::string("epochs = 3\nglobal_batch = 8\nsteps_per_launch = ") + k;
      const Failed failed = Fail(Options(train, sgd), model(), {.train = Source(40)}, devices);
      EXPECT_THAT(failed.message,
                  AllOf(HasSubstr("step 2"), HasSubstr("epoch 1"),
                        HasSubstr("the output of layer dense_1"), HasSubstr("weights.safetensors"),
                        HasSubstr("learning_rate"), HasSubstr("clipnorm")));
      EXPECT_EQ(failed.exit_code, kExitUsage);
      EXPECT_EQ(failed.summary["status"], "failed");
      EXPECT_EQ(failed.summary["exit_code"], kExitUsage);
      EXPECT_THAT(failed.summary["error"].get<std::string>(), HasSubstr("dense_1"));
      EXPECT_EQ(failed.summary["steps"], 1);
      EXPECT_EQ(failed.weights.metadata.at("step"), "1");
      // Kept is what one step alone gives.
      const Trained one =
          Train(Options(train + "\nmax_steps = 1", sgd), model(), {.train = Source(40)}, devices);
      EXPECT_TRUE(SameBytes(failed.weights, one.weights));
    }
  }
}

TEST(TrainerTest, NotANumberInTheDataIsBadData) {
  for (int64_t devices : {1, 2}) {
    SCOPED_TRACE(devices);
    Rows rows = MakeRows(20);
    rows.x[13 * kFeatures + 2] = std::numeric_limits<float>::quiet_NaN();
    const Failed failed =
        Fail(Options("global_batch = 4", "[data]\nsource = \"arrays\"\nshuffle = false"), Mlp(),
             {.train = Source(rows)}, devices);
    EXPECT_THAT(failed.message, AllOf(HasSubstr("step 4"), HasSubstr("the data's field x"),
                                      HasSubstr("Mend the data"), Not(HasSubstr("learning_rate"))));
    EXPECT_EQ(failed.exit_code, kExitBadData);
    EXPECT_EQ(failed.summary["exit_code"], kExitBadData);
    EXPECT_EQ(failed.summary["steps"], 3);
  }
}

TEST(TrainerTest, ALabelOutsideTheClassesIsBadData) {
  for (int32_t label : {-1, 3, 1000000}) {
    for (int64_t devices : {1, 2}) {
      SCOPED_TRACE(label);
      Rows rows = MakeRows(9);  // with 2 devices the last batch has a device with padding only
      rows.y[8] = label;
      const Failed failed =
          Fail(Options("global_batch = 4", "[data]\nsource = \"arrays\"\nshuffle = false"), Mlp(),
               {.train = Source(rows)}, devices);
      EXPECT_THAT(
          failed.message,
          AllOf(HasSubstr("step 3"), HasSubstr("the data's field y holds a class outside 0 to 2")));
      EXPECT_EQ(failed.exit_code, kExitBadData);
    }
  }
}

// ---- stopping -----------------------------------------------------------------------------------

TEST(TrainerTest, MaxStepsIsExact) {
  for (int64_t most : {1, 4, 5, 9, 10, 11, 23}) {
    SCOPED_TRACE(most);
    // 10 steps an epoch, in launches of 4, 4 and 2.
    const Trained trained =
        Train(Options("epochs = 3\nglobal_batch = 5\nsteps_per_launch = 4\nmax_steps = " +
                      std::to_string(most)),
              Linear(), {.train = Source(48)});
    EXPECT_EQ(trained.result.steps, most);
    EXPECT_EQ(trained.result.losses.size(), static_cast<size_t>(most));
    EXPECT_EQ(trained.result.epochs, most / 10);
    EXPECT_EQ(trained.result.samples, most / 10 * 48 + most % 10 * 5);
    EXPECT_FALSE(trained.result.stopped);
  }
}

// Raises the flag after a number of launches.
class StopAfter : public Observer {
 public:
  StopAfter(int64_t epoch, StopRequest* stop) : epoch_(epoch), stop_(stop) {}
  void OnEpochEnd(const EpochEnd& end) override {
    ends.push_back(end);
    if (end.epoch == epoch_) stop_->Ask("the test");
  }
  std::vector<EpochEnd> ends;

 private:
  int64_t epoch_;
  StopRequest* stop_;
};

TEST(TrainerTest, TheStopFlagEndsTrainingAndKeepsWhatWasLearned) {
  StopRequest stop;
  StopAfter observer(2, &stop);
  RunFolder folder(Fresh("stopped"));
  Trainer trainer(Options("epochs = 100\nglobal_batch = 8"), Mlp(),
                  {.train = Source(40), .validation = Source(10), .test = Source(10)}, Devices(1));
  const FitResult result = Fit(trainer, &folder, &observer, &stop);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(result.steps, 10);
  EXPECT_EQ(result.summary.exit_code, kExitPreempted);
  EXPECT_TRUE(SameBytes(checkpoint::LoadSafetensors(folder.File("weights.safetensors")),
                        trainer.Weights()));
  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  EXPECT_EQ(summary["status"], "stopped");
  EXPECT_EQ(summary["exit_code"], kExitPreempted);
}

TEST(TrainerTest, AFlagThatIsUpBeforehandStopsBeforeAnyStep) {
  StopRequest stop;
  stop.asked = true;
  Trainer trainer(Options("epochs = 100\nglobal_batch = 8\nsteps_per_launch = 2"), Mlp(),
                  {.train = Source(40)}, Devices(1));
  const checkpoint::TensorFile before = trainer.Weights();
  const FitResult result = Fit(trainer, nullptr, nullptr, &stop);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.steps, 0);
  EXPECT_EQ(result.epochs, 0);
  EXPECT_TRUE(SameBytes(before, trainer.Weights()));
}

TEST(TrainerTest, AValidationThatIsCutShortSaysNothing) {
  // Raises the flag at the first sign of a validation.
  struct StopValidation : Observer {
    void OnEvaluation(int64_t, int64_t) override { stop.Ask("the test"); }
    StopRequest stop;
  } observer;
  Trainer trainer(Options("epochs = 3\nglobal_batch = 8\nsteps_per_launch = 1"), Mlp(),
                  {.train = Source(40), .validation = Source(400), .test = Source(8)}, Devices(1));
  const FitResult result = Fit(trainer, nullptr, &observer, &observer.stop);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.epochs, 0);
  EXPECT_EQ(result.steps, 5);
  EXPECT_TRUE(result.last_epoch.contains("loss"));
  EXPECT_FALSE(result.last_epoch.contains("val_loss"));
  EXPECT_FALSE(result.test.has_value());
}

// What is validated gets worse from the beginning: the labels are shifted.
data::SourcePtr Contrary() {
  Rows rows = MakeRows(60);
  for (int32_t& label : rows.y) label = (label + 1) % kClasses;
  return Source(rows);
}

TEST(TrainerTest, EarlyStoppingRestoresTheBestWeights) {
  StopRequest stop;
  StopAfter observer(-1, &stop);
  Trainer trainer(
      Options(
          "epochs = 50\nglobal_batch = 10\nearly_stopping = {patience = 3, restore_best_weights = "
          "true}",
          kSgd),
      Linear(), {.train = Source(60), .validation = Contrary()}, Devices(1));
  const FitResult result = Fit(trainer, nullptr, &observer, nullptr);
  EXPECT_EQ(result.epochs, 4);  // the first is the best, then three that are not
  ASSERT_EQ(observer.ends.size(), 4u);
  EXPECT_THAT(observer.ends.back().note, HasSubstr("stopping early: val_loss"));
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.summary.exit_code, kExitDone);
  EXPECT_NEAR(trainer.Evaluate(Contrary()).loss, observer.ends[0].logs.at("val_loss"), 1e-6);
  EXPECT_GT(observer.ends[3].logs.at("val_loss"), observer.ends[0].logs.at("val_loss"));
}

TEST(TrainerTest, TheBestWeightsAreKeptApart) {
  RunFolder folder(Fresh("best"));
  StopRequest stop;
  StopAfter observer(-1, &stop);
  Trainer trainer(Options("epochs = 4\nglobal_batch = 10", kSgd), Linear(),
                  {.train = Source(60), .validation = Contrary()}, Devices(1));
  Fit(trainer, &folder, &observer);
  const auto best = checkpoint::LoadSafetensors(folder.File("best.safetensors"));
  EXPECT_EQ(best.metadata.at("step"), "6");
  EXPECT_EQ(checkpoint::LoadSafetensors(folder.File("weights.safetensors")).metadata.at("step"),
            "24");
  trainer.LoadWeights(best, "best");
  EXPECT_NEAR(trainer.Evaluate(Contrary()).loss, observer.ends[0].logs.at("val_loss"), 1e-6);
}

TEST(TrainerTest, PlateauLowersTheRate) {
  StopRequest stop;
  class Rates : public Observer {
   public:
    void OnLog(const Progress& progress) override { rates.push_back(progress.learning_rate); }
    std::vector<double> rates;
  } observer;
  Train(Options("epochs = 6\nglobal_batch = 60", kSgd), Linear(), {.train = Source(60)});
  Trainer trainer(Options("epochs = 6\nglobal_batch = 60\nreduce_lr_on_plateau = {factor = 0.5, "
                          "patience = 2, min_lr = 0.2}",
                          kSgd + "[watch]\nlog_seconds = 1e-9\n"),
                  Linear(), {.train = Source(60), .validation = Contrary()}, Devices(1));
  Fit(trainer, nullptr, &observer);
  // Worse from epoch 2 on: lowered after epochs 3 and 5, the second time only to min_lr.
  ASSERT_EQ(observer.rates.size(), 6u);
  const double expected[] = {0.5, 0.5, 0.5, 0.25, 0.25, 0.2};
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(observer.rates[i], expected[i], 1e-6) << "epoch " << i + 1;
}

TEST(TrainerTest, WatchingWhatIsNeverValidatedIsAnError) {
  for (const char* key : {"early_stopping", "reduce_lr_on_plateau"}) {
    Trainer trainer(Options(std::string("global_batch = 8\n") + key + " = {patience = 1}"),
                    Linear(), {.train = Source(16)}, Devices(1));
    try {
      Fit(trainer);
      ADD_FAILURE() << "no error was thrown";
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr(key), HasSubstr("\"val_loss\""), HasSubstr("validation_split")));
    }
  }
}

TEST(TrainerTest, AMonitorThatNobodyMeasuresIsAnError) {
  Trainer trainer(Options("global_batch = 8", "[checkpoint]\nmonitor = \"val_acuracy\""), Linear(),
                  {.train = Source(16), .validation = Source(5)}, Devices(1));
  try {
    Fit(trainer);
    ADD_FAILURE() << "no error was thrown";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("val_acuracy"), HasSubstr("val_loss")));
  }
}

TEST(TrainerTest, ValidationComesAsOftenAsAsked) {
  StopRequest stop;
  StopAfter observer(-1, &stop);
  Trainer trainer(Options("epochs = 5\nglobal_batch = 8\nevaluate_every = 2"), Linear(),
                  {.train = Source(16), .validation = Source(5)}, Devices(1));
  Fit(trainer, nullptr, &observer);
  std::vector<int64_t> validated;
  for (const EpochEnd& end : observer.ends) {
    if (end.logs.contains("val_loss")) validated.push_back(end.epoch);
  }
  EXPECT_THAT(validated, ElementsAre(2, 4, 5));
}

// ---- the run folder -----------------------------------------------------------------------------

std::vector<nlohmann::json> Lines(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(ReadFile(path));
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(TrainerTest, TheRunFolderTellsTheRun) {
  RunFolder folder(Fresh("told"));
  const RunConfig config = Options("epochs = 2\nglobal_batch = 8\nmetrics = [\"accuracy\"]");
  Trainer trainer(config, Mlp(),
                  {.train = Source(40), .validation = Source(10, 2), .test = Source(21, 3)},
                  Devices(1));
  const FitResult result = Fit(trainer, &folder);
  EXPECT_THAT(FilesIn(folder.path()),
              UnorderedElementsAre("run.toml", "facts.json", "metrics.jsonl", "summary.json",
                                   "weights.safetensors", "best.safetensors", "checkpoints"));
  EXPECT_EQ(Config::LoadToml(folder.File("run.toml")), config.tree);

  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  EXPECT_EQ(summary["status"], "done");
  EXPECT_EQ(summary["exit_code"], 0);
  EXPECT_EQ(summary["steps"], 10);
  EXPECT_EQ(summary["epochs"], 2);
  EXPECT_EQ(summary["samples"], 80);
  EXPECT_EQ(summary["devices"], 1);
  EXPECT_EQ(summary["parameters"], 67);
  EXPECT_EQ(summary["metrics"]["test"]["accuracy"], result.test->metrics.at("accuracy"));
  EXPECT_EQ(summary["metrics"]["test"]["loss"], result.test->loss);
  EXPECT_EQ(summary["metrics"]["train"]["loss"], result.last_epoch.at("loss"));
  EXPECT_EQ(summary["metrics"]["validation"]["accuracy"], result.last_epoch.at("val_accuracy"));
  EXPECT_GT(summary["full"].get<double>(), 0);
  EXPECT_LE(summary["full"].get<double>(), 1);
  EXPECT_GT(summary["samples_per_second"].get<double>(), 0);
  EXPECT_GT(summary["first_step_seconds"].get<double>(), 0);
  EXPECT_GT(summary["peak_resident_bytes"].get<int64_t>(), 0);
  EXPECT_TRUE(summary["mfu"].is_null()) << "the peak of a CPU is not known";
  EXPECT_GE(summary["verdict"].size(), 4u);
  double sum = 0;
  for (const auto& [cause, seconds] : summary["ledger"].items()) sum += seconds.get<double>();
  EXPECT_EQ(summary["ledger"].size(), static_cast<size_t>(watch::kNumCauses));
  const double wall = summary["wall_seconds"];
  EXPECT_NEAR(sum, wall, 0.005 * wall);

  std::vector<std::string> epochs;
  for (const nlohmann::json& line : Lines(folder.File("metrics.jsonl"))) {
    if (line["event"] == "epoch") {
      EXPECT_EQ(line["step"], 5 * line["epoch"].get<int>());
      for (const char* key : {"loss", "accuracy", "val_loss", "val_accuracy", "seconds"}) {
        EXPECT_TRUE(line[key].is_number()) << key;
      }
    }
    if (line["event"] == "log") {
      EXPECT_GE(line["epoch"], 1);
      EXPECT_LE(line["epoch"], 2) << "a log line at an epoch's end belongs to that epoch";
    }
    if (line["event"] == "test") {
      EXPECT_EQ(line["rows"], 21);
      EXPECT_EQ(line["test_loss"], result.test->loss);
    }
    if (line["event"] == "plan") {
      EXPECT_EQ(line["micro_batch"], 8);
      EXPECT_EQ(line["micro_batches"], 1);
      EXPECT_EQ(line["planned_bytes"], trainer.PlanBatch().bytes());
    }
    if (line["event"] != "log") epochs.push_back(line["event"]);
  }
  EXPECT_THAT(epochs, ElementsAre("plan", "epoch", "epoch", "test", "end"));
}

TEST(TrainerTest, WithSeveralDevicesCommunicationIsUnknownNotZero) {
  RunFolder folder(Fresh("two"));
  Trainer trainer(Options("global_batch = 8"), Mlp(), {.train = Source(40)}, Devices(2));
  Fit(trainer, &folder);
  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  EXPECT_TRUE(summary["ledger"]["communication"].is_null());
  EXPECT_EQ(summary["devices"], 2);
}

TEST(TrainerTest, CheckpointsComeEverySoManySteps) {
  RunFolder folder(Fresh("every"));
  Trainer trainer(Options("epochs = 1\nglobal_batch = 4\nsteps_per_launch = 1",
                          "[checkpoint]\nevery_steps = 3\nkeep_last = 9\n"),
                  Linear(), {.train = Source(40)}, Devices(1));
  const FitResult result = Fit(trainer, &folder);
  std::vector<int64_t> steps;
  for (const auto& snapshot : checkpoint::Store(CheckpointFolder(folder.path())).List()) {
    EXPECT_EQ(snapshot.condition, checkpoint::Condition::kComplete) << snapshot.problem;
    steps.push_back(snapshot.info.step);
  }
  EXPECT_THAT(steps, ElementsAre(10, 9, 6, 3));
  EXPECT_EQ(result.summary.saves.saves, 4);
  EXPECT_EQ(result.summary.saves.last_step, 10);
  EXPECT_EQ(checkpoint::LoadSafetensors(folder.File("weights.safetensors")).metadata.at("step"),
            "10");
}

// With plain SGD the weights move by the rate times the gradient.
TEST(TrainerTest, TheGradientsNormIsTold) {
  class Norms : public Observer {
   public:
    void OnProgress(const Progress& progress) override { norm = progress.gradient_norm; }
    std::optional<double> norm;
  };
  for (const bool asked : {true, false}) {
    for (const int64_t devices : {1, 2}) {
      const std::string watch =
          fmt::format("[watch]\ngradient_norm = {}\nlog_seconds = 1e-9\n", asked);
      Trainer trainer(Options("global_batch = 8\nmax_steps = 1", kSgd + watch), Linear(),
                      {.train = Source(8)}, Devices(devices));
      RunFolder folder(Fresh("norm"));
      Norms norms;
      trainer.PlanBatch();
      const checkpoint::TensorFile before = trainer.Weights();
      trainer.Fit(&folder, &norms);
      const checkpoint::TensorFile after = trainer.Weights();
      const bool in_log =
          ReadFile(folder.File("metrics.jsonl")).find("gradient_norm") != std::string::npos;
      EXPECT_EQ(in_log, asked);
      ASSERT_EQ(norms.norm.has_value(), asked);
      if (!asked) continue;
      double squares = 0;
      for (size_t i = 0; i < before.tensors.size(); ++i) {
        std::vector<float> a(before.tensors[i].bytes.size() / 4), b(a.size());
        std::memcpy(a.data(), before.tensors[i].bytes.data(), 4 * a.size());
        std::memcpy(b.data(), after.tensors[i].bytes.data(), 4 * a.size());
        for (size_t k = 0; k < a.size(); ++k) squares += std::pow((a[k] - b[k]) / 0.5, 2);
      }
      EXPECT_NEAR(*norms.norm, std::sqrt(squares), 1e-5 * std::sqrt(squares));
    }
  }
}

TEST(TrainerTest, AFolderWithARunIsRefused) {
  const std::string path = Fresh("taken");
  {
    RunFolder folder(path);
    folder.Log("log", {{"step", 1}});
  }
  try {
    RunFolder folder(path);
    ADD_FAILURE() << "no error was thrown";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kAlreadyExists);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(path), HasSubstr("--overwrite")));
  }
  EXPECT_TRUE(FileExists(path + "/metrics.jsonl"));
  std::ofstream(path + "/notes.txt") << "the user's own";
  RunFolder folder(path, RunFolder::Existing::kOverwrite);
  folder.Begin(Config::Table());
  EXPECT_THAT(FilesIn(path), UnorderedElementsAre("notes.txt", "run.toml"));
}

// A process that was killed holds its locks for a moment longer.
TEST(RunFolderTest, AHolderThatIsAboutToGoIsWaitedFor) {
  const std::string path = Fresh("going");
  auto first = std::make_unique<RunFolder>(path);
  EXPECT_THROW(RunFolder::CheckFree(path), UserError);
  std::jthread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first.reset();
  });
  RunFolder second(path);
}

TEST(RunFolderTest, UnknownNumbersBecomeNull) {
  RunFolder folder(Fresh("null"));
  folder.Log("log", {{"step", 3}, {"loss", std::nan("")}, {"rate", 0.5}, {"big", INFINITY}});
  EXPECT_EQ(ReadFile(folder.File("metrics.jsonl")),
            "{\"event\":\"log\",\"step\":3,\"loss\":null,\"rate\":0.5,\"big\":null}\n");
  Summary summary;
  summary.metrics["train"]["loss"] = std::nan("");
  summary.peak_resident_bytes = -1;
  folder.WriteSummary(summary);
  const auto json = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  for (const char* key : {"full", "samples_per_second", "ceiling_samples_per_second", "mfu",
                          "first_step_seconds", "peak_resident_bytes", "flops_per_sample"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_TRUE(json["metrics"]["train"]["loss"].is_null());
}

// As a full disk does it: writes past a size fail. SIGXFSZ is ignored, so that write() says so.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(TrainerTest, ADiskThatFillsUpLeavesNothingHalfWritten) {
  RunFolder folder(Fresh("full"));
  Trainer trainer(Options("epochs = 3\nglobal_batch = 8"),
                  Chain({nn::Dense({.units = 600}), nn::Dense({.units = kClasses})}),
                  {.train = Source(40)}, Devices(1));
  trainer.TrainProgramMemory();  // the compile cache is not what is tested
  {
    const FileSizeLimit limit(8 << 10);  // less than the weights, more than everything else
    const FitResult result = Fit(trainer, &folder);
    EXPECT_THAT(result.summary.error,
                AllOf(HasSubstr("neither the weights of step 15 nor the last checkpoint"),
                      HasSubstr("weights.safetensors"), HasSubstr("File too large")));
    EXPECT_EQ(result.summary.exit_code, kExitUsage);
  }
  EXPECT_THAT(FilesIn(folder.path()),
              UnorderedElementsAre("facts.json", "run.toml", "metrics.jsonl", "summary.json",
                                   "checkpoints"));
  EXPECT_THAT(FilesIn(folder.File("checkpoints")), ElementsAre());
  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  EXPECT_EQ(summary["status"], "failed");
  EXPECT_EQ(summary["checkpoints"]["saved"], 0);
  EXPECT_THAT(summary["checkpoints"]["error"].get<std::string>(), HasSubstr("File too large"));
  EXPECT_EQ(summary["steps"], 15) << "training itself went on to the end";
  // With room again the same trainer can still save what it learned.
  checkpoint::SaveSafetensors(folder.File("weights.safetensors"), trainer.Weights());
}

TEST(TrainerTest, NoRoomForAnythingIsStillOneClearError) {
  RunFolder folder(Fresh("none"));
  Trainer trainer(Options("epochs = 1\nglobal_batch = 8"), Mlp(), {.train = Source(40)},
                  Devices(1));
  trainer.TrainProgramMemory();
  try {
    const FileSizeLimit limit(0);
    Fit(trainer, &folder);
    ADD_FAILURE() << "no error was thrown";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("run.toml"), HasSubstr("File too large")));
  }
  EXPECT_THAT(FilesIn(folder.path()), ElementsAre());
}

TEST(TrainerTest, ALossThatIsNotFiniteIsSaidEvenOnAFullDisk) {
  RunFolder folder(Fresh("fullnan"));
  Trainer trainer(Options("epochs = 3\nglobal_batch = 8\nsteps_per_launch = 1",
                          "[optimizer]\nclass = \"SGD\"\nlearning_rate = 1e25\n"),
                  Chain({nn::Dense({.units = 600}), nn::Dense({.units = kClasses})}),
                  {.train = Source(40)}, Devices(1));
  trainer.TrainProgramMemory();
  try {
    const FileSizeLimit limit(8 << 10);
    Fit(trainer, &folder);
    ADD_FAILURE() << "no error was thrown";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("step 2"), HasSubstr("dense_1"), Not(HasSubstr("are kept in"))));
  }
}

// ---- where the time went ------------------------------------------------------------------------

// Takes a while for every read.
class Slow : public data::ArraysSource {
 public:
  Slow(const Rows& rows, double seconds)
      : ArraysSource("slow rows", {data::MakeArray("x", Shape(DType::kF32, {kFeatures}), rows.x),
                                   data::MakeArray("y", Shape::Scalar(DType::kI32), rows.y)}),
        seconds_(seconds) {}
  void Read(data::ReadContext& context, int64_t epoch, std::span<const int64_t> indices,
            data::Block& out) const override {
    const data::ReadContext::Stage stage(context, stage_, static_cast<int64_t>(indices.size()));
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
    ArraysSource::Read(context, epoch, indices, out);
  }

 private:
  double seconds_;
  std::string stage_ = "slow read";
};

TEST(TrainerTest, TheLedgerOfARunAddsUpToItsWallTime) {
  for (int64_t devices : {1, 2}) {
    RunFolder folder(Fresh("ledger"));
    Trainer trainer(Options("epochs = 3\nglobal_batch = 8"), Mlp(),
                    {.train = Source(100), .validation = Source(30), .test = Source(30)},
                    Devices(devices));
    const FitResult result = Fit(trainer, &folder);
    const watch::LedgerReport& ledger = result.summary.ledger;
    EXPECT_NEAR(ledger.sum(), ledger.wall, 0.005 * ledger.wall);
    for (watch::Cause cause :
         {watch::Cause::kStart, watch::Cause::kCompile, watch::Cause::kCompute,
          watch::Cause::kEvaluation, watch::Cause::kCheckpoint, watch::Cause::kHost}) {
      EXPECT_GT(ledger.of(cause), 0) << watch::Name(cause);
    }
    EXPECT_EQ(trainer.ledger().in_flight(), 0);
  }
}

// The lines of metrics.jsonl share the process's time among them, each second in one line.
TEST(TrainerTest, TheLogsIntervalsAddUpToTheRun) {
  RunFolder folder(Fresh("intervals"));
  Trainer trainer(Options("epochs = 3\nglobal_batch = 8", "[watch]\nlog_seconds = 0.001\n"), Mlp(),
                  {.train = Source(100), .validation = Source(30), .test = Source(30)}, Devices(1),
                  std::make_shared<watch::Ledger>(0));
  const FitResult result = Fit(trainer, &folder);
  std::map<std::string, double> sums;
  int64_t lines = 0;
  std::istringstream log(ReadFile(folder.File("metrics.jsonl")));
  for (std::string line; std::getline(log, line);) {
    const nlohmann::json event = nlohmann::json::parse(line);
    if (event["event"] != "log" && event["event"] != "end") continue;
    ++lines;
    for (const auto& [key, value] : event.items()) {
      if (!key.starts_with("seconds_")) continue;
      EXPECT_GE(value.get<double>(), -1e-9) << key;
      sums[key.substr(8)] += value.get<double>();
    }
  }
  EXPECT_GT(lines, 4);
  const watch::LedgerReport& ledger = result.summary.ledger;
  for (int i = 0; i < watch::kNumCauses; ++i) {
    const auto cause = static_cast<watch::Cause>(i);
    // The last line comes a little after the summary.
    if (cause == watch::Cause::kHost) {
      EXPECT_GE(sums["host"], ledger.of(cause) - 1e-6);
    } else {
      EXPECT_NEAR(sums[std::string(watch::Name(cause))], ledger.of(cause), 1e-6)
          << watch::Name(cause);
    }
  }
  EXPECT_NEAR(sums["evaluation_validation"], ledger.of(watch::Stage::kValidation), 1e-6);
  EXPECT_GT(ledger.of(watch::Stage::kValidation), 0);
  EXPECT_GT(ledger.of(watch::Stage::kTest), 0);
  EXPECT_GT(ledger.of(watch::Stage::kWeights), 0);
  // What doctor reads is what was judged.
  const watch::RunFacts facts =
      watch::RunFacts::FromJson(ReadFile(folder.File("facts.json")), "facts.json");
  EXPECT_EQ(facts.steps, result.steps);
  EXPECT_EQ(watch::Judge(facts).limit, result.verdict.limit);
  EXPECT_EQ(facts.step_times.median, result.summary.facts.step_times.median);
}

// A disk that is full when a line is written: training goes on, the line is left out whole, and
// what can be written later is.
TEST(RunFolderTest, ALineThatTheDiskCannotTakeIsLeftOutWhole) {
  RunFolder folder(Fresh("full"));
  folder.Begin(Config::ParseToml("a = 1\n", "run.toml"));
  folder.Log("log", {{"step", 1}});
  const std::string before = ReadFile(folder.File("metrics.jsonl"));
  struct rlimit old {};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = old;
  small.rlim_cur = before.size() + 10;  // room for a part of the next line
  setrlimit(RLIMIT_FSIZE, &small);
  folder.Log("log", {{"step", 2}});
  folder.WriteFacts({});
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(ReadFile(folder.File("metrics.jsonl")), before);
  folder.Log("log", {{"step", 3}});
  EXPECT_EQ(ReadFile(folder.File("metrics.jsonl")), before + "{\"event\":\"log\",\"step\":3}\n");
}

// ---- changes that a run makes by itself ----

struct Messages : Observer {
  void OnMessage(const std::string& message) override { all.push_back(message); }
  std::vector<std::string> all;
};

// One worker that sleeps is too few; more of them are tried, and what they gave is said. The bits
// learned are those of a run that changes nothing.
TEST(TrainerTest, AdviceIsFollowedAndHeldToItsPrediction) {
  const auto run = [&](bool advise, Messages& messages) {
    Trainer trainer(Options("epochs = 8\nglobal_batch = 8\nsteps_per_launch = 1",
                            fmt::format("[data]\nsource = \"arrays\"\nworkers = 1\n"
                                        "[watch]\nlog_seconds = 0.3\nadvise = {}\n",
                                        advise)),
                    Mlp(), {.train = std::make_shared<Slow>(MakeRows(160), 0.02)}, Devices(1));
    Trained trained;
    trained.result = Fit(trainer, nullptr, &messages);
    trained.weights = trainer.Weights();
    return trained;
  };
  Messages messages, silent;
  const Trained advised = run(true, messages), plain = run(false, silent);
  EXPECT_TRUE(SameBytes(advised.weights, plain.weights));
  EXPECT_EQ(advised.result.losses, plain.result.losses);
  EXPECT_TRUE(plain.result.summary.advised.empty());
  ASSERT_FALSE(advised.result.summary.advised.empty());
  const Summary::Advice& first = advised.result.summary.advised[0];
  EXPECT_EQ(first.change, "data.workers = \"auto\"");
  EXPECT_EQ(first.limit, "input (slow read)");
  EXPECT_GT(first.predicted_gain, 1.05);
  ASSERT_TRUE(first.obtained_gain.has_value());
  EXPECT_THAT(messages.all, ::testing::Contains(HasSubstr("advice at step")));
  EXPECT_THAT(messages.all, ::testing::Contains(AllOf(HasSubstr("gave"), HasSubstr("predicted"))));
}

// A run that ends soon after a change: what it gave until then is measured, and the limit is that
// of the run as it is now. The whole stays the whole.
TEST(TrainerTest, ARunThatEndsWithinATrialSaysWhatItObtained) {
  Messages messages;
  RunFolder folder(Fresh("within"));
  Trainer trainer(Options("epochs = 1\nglobal_batch = 8\nsteps_per_launch = 1",
                          "[data]\nsource = \"arrays\"\nworkers = 1\n"
                          "[watch]\nlog_seconds = 1.5\nadvise = true\n"),
                  Mlp(), {.train = std::make_shared<Slow>(MakeRows(320), 0.1)}, Devices(1),
                  std::make_shared<watch::Ledger>(0));
  const FitResult result = Fit(trainer, &folder, &messages);
  ASSERT_FALSE(result.summary.advised.empty());
  const watch::Advised& first = result.summary.advised[0];
  EXPECT_EQ(first.change, "data.workers = \"auto\"");
  ASSERT_TRUE(first.obtained_gain.has_value());
  EXPECT_THAT(messages.all, ::testing::Contains(AllOf(HasSubstr("gave"), HasSubstr("predicted"))));
  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  EXPECT_TRUE(summary["advised"][0]["obtained_gain"].is_number());
  const watch::RunFacts& facts = result.summary.facts;
  EXPECT_EQ(facts.steps, 40);
  EXPECT_EQ(facts.launches, 40);
  ASSERT_TRUE(facts.part.has_value());
  EXPECT_LT(facts.part->steps, facts.steps);
  EXPECT_LT(facts.part->launches, facts.launches);
  EXPECT_LT(facts.part->ledger.training(), facts.ledger.training());
  EXPECT_THAT(facts.part->when, HasSubstr("since data.workers = \"auto\" at step"));
  EXPECT_THAT(result.verdict.lines, ::testing::Contains(AllOf(::testing::StartsWith("input since "),
                                                              HasSubstr("(tuned)"))));
  // Of all pipelines together.
  int64_t records = 0;
  for (const watch::InputStage& stage : facts.input.stages) {
    if (stage.name == "slow read") records = stage.records;
  }
  EXPECT_GE(records, 320);
}

// What is told of a run's end is told by one account, wherever it is read.
TEST(TrainerTest, TheEndOfARunIsToldByOneAccount) {
  struct Ends : Observer {
    void OnEnd(const RunEnd& end) override { last = end; }
    void OnDetails(const RunDetails& now) override { details = now; }
    RunEnd last;
    RunDetails details;
  } ends;
  RunFolder folder(Fresh("account"));
  Trainer trainer(Options("epochs = 3\nglobal_batch = 8", "[watch]\nlog_seconds = 0.001\n"), Mlp(),
                  {.train = Source(400)}, Devices(1), std::make_shared<watch::Ledger>(0));
  const FitResult result = Fit(trainer, &folder, &ends);
  const auto facts = watch::RunFacts::FromJson(ReadFile(folder.File("facts.json")), "facts.json");
  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  EXPECT_EQ(watch::Judge(facts).lines, result.verdict.lines);
  EXPECT_EQ(facts.ledger.full(), result.summary.full);
  EXPECT_EQ(facts.ledger.wall, summary["wall_seconds"].get<double>());
  EXPECT_EQ(ends.last.ledger.wall, result.summary.ledger.wall);
  EXPECT_EQ(ends.last.ledger.full(), result.summary.full);
  EXPECT_EQ(watch::Judge(ends.details.facts).lines, result.verdict.lines);
  // And the intervals of the log are its parts.
  double intervals = 0;
  std::istringstream log(ReadFile(folder.File("metrics.jsonl")));
  for (std::string line; std::getline(log, line);) {
    const auto event = nlohmann::json::parse(line);
    for (const auto& [key, value] : event.items()) {
      for (int i = 0; i < watch::kNumCauses; ++i) {
        if (key == fmt::format("seconds_{}", watch::Name(static_cast<watch::Cause>(i)))) {
          intervals += value.get<double>();
        }
      }
    }
  }
  EXPECT_NEAR(intervals, result.summary.ledger.sum(), 1e-6);
  // The ceiling is known or not, in words and in figures.
  const bool told =
      result.verdict.lines[1].find("the device alone, fed from memory") != std::string::npos;
  EXPECT_EQ(result.summary.ceiling_samples_per_second.has_value(), told);
  EXPECT_EQ(summary["ceiling_samples_per_second"].is_null(), !told);
}

// cases.md A2: a stage that sleeps is named as what the device waits for; the same sleep in another
// stage moves the name.
TEST(TrainerTest, ASlowStageIsTheLimitThatTheVerdictNames) {
  const data::SourcePtr slow_reader = std::make_shared<Slow>(MakeRows(160), 0.1);
  const data::Dataset rows = data::Dataset::FromSource(Source(160));
  const data::SourcePtr slow_map =
      rows.Map(
              rows.fields(),
              [](const data::Block& in, data::Block& out) {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                for (size_t f = 0; f < in.fields().size(); ++f) out.ShareColumn(f, in, f);
              },
              "decode")
          .source();
  // So short a run would be slow by compiling.
  const RunConfig config =
      Options("global_batch = 8\nsteps_per_launch = 1", "[data]\nsource = \"arrays\"\nworkers = 1");
  Train(config, Linear(), {.train = Source(8)});
  for (const auto& [source, stage] : {std::pair(slow_reader, "slow read"), {slow_map, "decode"}}) {
    SCOPED_TRACE(stage);
    // What this process did before is no part of the run.
    Trainer trainer(config, Linear(), {.train = source}, Devices(1),
                    std::make_shared<watch::Ledger>(0));
    const FitResult result = Fit(trainer);
    EXPECT_EQ(result.verdict.limit, "input");
    EXPECT_EQ(result.verdict.stage, stage);
    EXPECT_THAT(result.verdict.lines.back(),
                AllOf(HasSubstr(fmt::format("limit: input ({})", stage)),
                      HasSubstr("of the training time"), HasSubstr("data.workers = \"auto\"")));
    const watch::LedgerReport& ledger = result.summary.ledger;
    EXPECT_NEAR(ledger.sum(), ledger.wall, 0.005 * ledger.wall);
    // 20 reads of 100 ms, of which only those made while the program was compiled cost nothing.
    EXPECT_GT(ledger.of(watch::Cause::kInput), 0.2);
    EXPECT_GT(ledger.of(watch::Cause::kInput) / ledger.training(), 0.5);
    EXPECT_LT(result.verdict.full.value(), 0.5);
    ASSERT_FALSE(result.summary.input.stages.empty());
    EXPECT_EQ(result.summary.input.stages[0].name, stage);
    EXPECT_EQ(result.summary.input.stages[0].records, 160);
  }
}

TEST(TrainerTest, BadRecordsAreLeftOutUpToTheDeclaredNumberAndCounted) {
  class Holed : public data::ArraysSource {
   public:
    explicit Holed(const Rows& rows)
        : ArraysSource("holed rows", {data::MakeArray("x", Shape(DType::kF32, {kFeatures}), rows.x),
                                      data::MakeArray("y", Shape::Scalar(DType::kI32), rows.y)}) {}
    void Read(data::ReadContext& context, int64_t epoch, std::span<const int64_t> indices,
              data::Block& out) const override {
      ArraysSource::Read(context, epoch, indices, out);
      for (size_t i = 0; i < indices.size(); ++i) {
        if (indices[i] % 10 == 7) {
          out.Bad(static_cast<int64_t>(i), BadData("rows.bin: record {} is damaged", indices[i]));
        }
      }
    }
  };
  const auto run = [](int64_t allowed, RunFolder* folder) {
    Trainer trainer(
        Options("epochs = 3\nglobal_batch = 8",
                fmt::format("[data]\nsource = \"arrays\"\nmax_bad_records = {}", allowed)),
        Linear(),
        {.train = std::make_shared<Holed>(MakeRows(40)),
         .test = std::make_shared<Holed>(MakeRows(20))},
        Devices(1));
    return Fit(trainer, folder);
  };
  RunFolder folder(Fresh("holed"));
  const FitResult result = run(4, &folder);
  EXPECT_EQ(result.samples, 3 * 36);
  EXPECT_EQ(result.test->rows, 18);
  // The same record again, in a later epoch or another split of the same name, is not another one.
  EXPECT_EQ(result.summary.bad_records, 4);
  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  EXPECT_EQ(summary["bad_records"], 4);
  EXPECT_EQ(summary["bad_record_messages"].size(), 4u);
  EXPECT_THROW(run(3, nullptr), DataError);
  EXPECT_THROW(run(0, nullptr), DataError);
}

// A batch all of whose records are bad changes nothing; a split of only such records is an error.
TEST(TrainerTest, BatchesOfOnlyBadRecordsChangeNothing) {
  class Stretch : public data::ArraysSource {
   public:
    Stretch(const Rows& rows, int64_t begin, int64_t end)
        : ArraysSource("stretch", {data::MakeArray("x", Shape(DType::kF32, {kFeatures}), rows.x),
                                   data::MakeArray("y", Shape::Scalar(DType::kI32), rows.y)}),
          begin_(begin),
          end_(end) {}
    void Read(data::ReadContext& context, int64_t epoch, std::span<const int64_t> indices,
              data::Block& out) const override {
      ArraysSource::Read(context, epoch, indices, out);
      for (size_t i = 0; i < indices.size(); ++i) {
        if (indices[i] >= begin_ && indices[i] < end_) {
          out.Bad(static_cast<int64_t>(i), BadData("record {} is damaged", indices[i]));
        }
      }
    }

   private:
    int64_t begin_, end_;
  };
  const auto run = [](int64_t begin, int64_t end, int64_t records, int64_t devices,
                      bool bad_test = false) {
    Sources sources = {.train = std::make_shared<Stretch>(MakeRows(records), begin, end)};
    if (bad_test) sources.test = std::make_shared<Stretch>(MakeRows(8), 0, 8);
    Trainer trainer(Options("global_batch = 8\nsteps_per_launch = 2",
                            "[data]\nsource = \"arrays\"\nshuffle = false\n"
                            "max_bad_records = 100\n"
                            "[optimizer]\nclass = \"Adam\"\nweight_decay = 0.1"),
                    Mlp(), sources, Devices(devices));
    FitResult result = Fit(trainer);
    return std::pair(std::move(result), trainer.Weights().tensors.at(0).bytes);
  };
  for (const int64_t devices : {1, 2}) {
    // The third of five batches is all bad; what it holds must not matter, nor that it was there.
    const auto [with, weights] = run(16, 24, 40, devices);
    EXPECT_EQ(with.samples, 32);
    EXPECT_EQ(with.summary.bad_records, 8);
    for (const float loss : with.losses) EXPECT_TRUE(std::isfinite(loss));
    // At the end of the epoch it is as if it had not been.
    EXPECT_EQ(run(16, 40, 40, devices).second, run(16, 16, 16, devices).second);
    EXPECT_THROW(run(0, 40, 40, devices), DataError);
    EXPECT_THROW(run(0, 0, 40, devices, /*bad_test=*/true), DataError);
  }
}

// A class that i32 cannot hold is outside of the classes; it is not the class that its lower bits
// say.
TEST(TrainerTest, LargeClassesAreNotCutToSmallOnes) {
  for (const int64_t label : {int64_t{1} << 32, (int64_t{1} << 32) + 1, -(int64_t{1} << 32)}) {
    const Rows rows = MakeRows(16);
    std::vector<int64_t> labels(16, 1);
    labels[5] = label;
    const auto source = std::make_shared<data::ArraysSource>(
        "rows",
        std::vector<data::Array>{data::MakeArray("x", Shape(DType::kF32, {kFeatures}), rows.x),
                                 data::MakeArray("y", Shape::Scalar(DType::kI64), labels)});
    Trainer trainer(Options("global_batch = 8"), Linear(), {.train = source}, Devices(1));
    try {
      Fit(trainer);
      ADD_FAILURE() << "no error for the class " << label;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), kExitBadData) << label;
      EXPECT_THAT(error.what(), HasSubstr("a class outside 0 to")) << label;
    }
  }
}

TEST(TrainerTest, AnErrorOfTheReaderEndsTheRunWithItsCode) {
  class Broken : public data::ArraysSource {
   public:
    explicit Broken(const Rows& rows)
        : ArraysSource("broken rows",
                       {data::MakeArray("x", Shape(DType::kF32, {kFeatures}), rows.x),
                        data::MakeArray("y", Shape::Scalar(DType::kI32), rows.y)}) {}
    void Read(data::ReadContext& context, int64_t epoch, std::span<const int64_t> indices,
              data::Block& out) const override {
      for (int64_t index : indices) {
        if (index == 30) throw BadData("rows.bin: byte 480: record 30 is damaged");
      }
      ArraysSource::Read(context, epoch, indices, out);
    }
  };
  RunFolder folder(Fresh("broken"));
  Trainer trainer(Options("global_batch = 8\nsteps_per_launch = 1",
                          "[data]\nsource = \"arrays\"\nshuffle = false"),
                  Linear(), {.train = std::make_shared<Broken>(MakeRows(40))}, Devices(1));
  try {
    Fit(trainer, &folder);
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitBadData);
    EXPECT_THAT(error.what(), HasSubstr("record 30 is damaged"));
  }
  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  EXPECT_EQ(summary["status"], "failed");
  EXPECT_EQ(summary["exit_code"], kExitBadData);
}

// ---- what does not fit --------------------------------------------------------------------------

TEST(TrainerTest, WhatDoesNotFitIsSaidBeforeTraining) {
  const auto make = [](const std::string& train, nn::Model model, int64_t devices = 1) {
    return MessageOf([&] {
      Trainer trainer(Options(train), std::move(model), {.train = Source(20)}, Devices(devices));
    });
  };
  EXPECT_THAT(make("global_batch = 7", Linear(), 2),
              AllOf(HasSubstr("global_batch = 7"), HasSubstr("2 devices"), HasSubstr("6 or 8")));
  EXPECT_THAT(make("global_batch = 1", Linear(), 4), HasSubstr("4"));
  EXPECT_THAT(make("target = \"label\"", Linear()),
              AllOf(HasSubstr("train.target"), HasSubstr("\"label\""), HasSubstr("x f32[4]")));
  EXPECT_THAT(make("inputs = [\"xx\"]", Linear()),
              AllOf(HasSubstr("train.inputs"), HasSubstr("\"xx\""), HasSubstr("x f32[4]")));
  EXPECT_THAT(make("inputs = [\"y\"]\ntarget = \"x\"", Linear()), HasSubstr("y"));
  const nn::Model wide =
      nn::Model::Sequential(nn::Input({5}, DType::kF32, "x"), {nn::Dense({.units = kClasses})});
  EXPECT_THAT(make("", wide), AllOf(HasSubstr("f32[5]"), HasSubstr("f32[4]"), HasSubstr("\"x\"")));
  EXPECT_THAT(MessageOf([] {
                Trainer trainer(Options(""), Linear(), {.validation = Source(4)}, Devices(1));
                Fit(trainer);
              }),
              HasSubstr("no training split"));
  Trainer trainer(Options(""), Linear(), {.train = Source(4)}, Devices(1));
  const auto other = std::make_shared<data::ArraysSource>(
      "others", std::vector<data::Array>{
                    data::MakeArray("x", Shape(DType::kF32, {2}), std::vector<float>(8)),
                    data::MakeArray("y", Shape::Scalar(DType::kI32), std::vector<int32_t>(4))});
  EXPECT_THAT(MessageOf([&] { trainer.Evaluate(other); }),
              AllOf(HasSubstr("others"), HasSubstr("x f32[4]")));
}

TEST(TrainerTest, ClassesThatTheOutputsLackAreSaidBeforeTraining) {
  data::Array y = data::MakeArray("y", Shape::Scalar(DType::kI32), MakeRows(20).y);
  y.field.bound = 10;
  const auto source = std::make_shared<data::ArraysSource>(
      "rows", std::vector<data::Array>{
                  data::MakeArray("x", Shape(DType::kF32, {kFeatures}), MakeRows(20).x), y});
  EXPECT_THAT(
      MessageOf([&] { Trainer trainer(Options(""), Linear(), {.train = source}, Devices(1)); }),
      AllOf(HasSubstr("\"y\""), HasSubstr("10 classes (0 to 9)"), HasSubstr("10 units")));
}

TEST(RunFolderTest, OneRunAtATime) {
  const std::string path = Fresh("locked");
  const RunFolder first(path);
  EXPECT_THAT(MessageOf([&] { RunFolder second(path, RunFolder::Existing::kOverwrite); }),
              AllOf(HasSubstr(path), HasSubstr("another run is writing")));
}

TEST(RunFolderTest, AnOldRunStaysUntilTheNewOneBegins) {
  const std::string path = Fresh("old");
  const Config tree = Config::ParseToml("a = 1", "old.toml");
  {
    RunFolder folder(path);
    folder.Begin(tree);
    folder.Log("log", {{"step", 1}});
    folder.WriteSummary({.status = "done"});
  }
  {
    RunFolder folder(path, RunFolder::Existing::kOverwrite);
    folder.WriteSummary({.status = "failed"});  // before it began
  }
  EXPECT_THAT(ReadFile(path + "/summary.json"), HasSubstr("done"));
  EXPECT_TRUE(FileExists(path + "/metrics.jsonl"));
  {
    RunFolder folder(path, RunFolder::Existing::kOverwrite);
    folder.Begin(tree);
  }
  EXPECT_FALSE(FileExists(path + "/summary.json"));
  EXPECT_FALSE(FileExists(path + "/metrics.jsonl"));
}

TEST(TrainerTest, ABadRecordOfAnySplitIsNamed) {
  Rows rows = MakeRows(20);
  rows.y[7] = 9;
  const auto message = [&](Sources sources) {
    Trainer trainer(Options("global_batch = 8", kSgd), Linear(), std::move(sources), Devices(1));
    try {
      Fit(trainer);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), kExitBadData);
      return std::string(error.what());
    }
    return std::string("no error was thrown");
  };
  EXPECT_THAT(message({.train = Source(20), .validation = Source(rows)}),
              AllOf(HasSubstr("record 7"), HasSubstr("\"y\" holds 9"), HasSubstr("0 to 2")));
  EXPECT_THAT(message({.train = Source(20), .test = Source(rows)}), HasSubstr("record 7"));
  rows = MakeRows(20);
  rows.x[3 * kFeatures] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(message({.train = Source(20), .validation = Source(rows)}),
              AllOf(HasSubstr("record 3"), HasSubstr("\"x\" holds inf")));
}

TEST(TrainerTest, MetricsOfOneNameGetNumbers) {
  const RunConfig config = Options(
      "global_batch = 8\nmetrics = [{class = \"SparseTopKCategoricalAccuracy\", k = 1}, "
      "{class = \"SparseTopKCategoricalAccuracy\", k = 3}]",
      kSgd);
  const Trained trained = Train(config, Linear(), {.train = Source(40)});
  const std::string name = "sparse_top_k_categorical_accuracy";
  ASSERT_TRUE(trained.result.last_epoch.contains(name));
  ASSERT_TRUE(trained.result.last_epoch.contains(name + "_1"));
  EXPECT_EQ(trained.result.last_epoch.at(name + "_1"), 1);  // all three classes
  EXPECT_LT(trained.result.last_epoch.at(name), 1);
}

TEST(TrainerTest, AStateThatMemoryCannotHoldIsSaidBeforeItIsTaken) {
  // 2^40 bytes of weights: the message must come at once and name the layer.
  const auto model = [] {
    return Chain({nn::Dense({.units = int64_t{1} << 36}), nn::Dense({.units = kClasses})});
  };
  try {
    Trainer trainer(Options("global_batch = 8"), model(), {.train = Source(20)}, Devices(1));
    ADD_FAILURE() << "no error was thrown";
  } catch (const UserError& error) {
    EXPECT_EQ(error.exit_code(), kExitOutOfMemory);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("dense/kernel"), HasSubstr("TiB")));
  }
}

TEST(TrainerTest, IndicesThatATableLacksAreSaidBeforeTraining) {
  // XLA would clamp them, and train a wrong model without a word.
  std::vector<int32_t> ids(20);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
  data::Array x = data::MakeArray("ids", Shape(DType::kI32, {1}), ids);
  x.field.bound = 20;
  const auto source = std::make_shared<data::ArraysSource>(
      "rows", std::vector<data::Array>{
                  x, data::MakeArray("y", Shape::Scalar(DType::kI32), MakeRows(20).y)});
  const auto model = [](int64_t rows) {
    return nn::Model::Sequential(nn::Input({1}, DType::kI32, "ids"),
                                 {nn::Embedding({.input_dim = rows, .output_dim = 2}),
                                  nn::Flatten({}), nn::Dense({.units = kClasses})});
  };
  EXPECT_THAT(
      MessageOf([&] { Trainer trainer(Options(""), model(19), {.train = source}, Devices(1)); }),
      AllOf(HasSubstr("\"ids\""), HasSubstr("0 to 19"), HasSubstr("layer embedding"),
            HasSubstr("19 rows"), HasSubstr("give it 20")));
  Trainer fits(Options(""), model(20), {.train = source}, Devices(1));
}

}  // namespace
}  // namespace flatout::train
