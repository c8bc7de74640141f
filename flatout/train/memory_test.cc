// The batch that fits: planned before the first step, split where it must be, and explained where
// nothing helps.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/checkpoint/store.h"
#include "flatout/nn/layers.h"
#include "flatout/train/testing.h"
#include "flatout/train/trainer.h"

namespace flatout::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;  // NOLINT: flatout/train/testing.h

constexpr int64_t kMiB = int64_t{1} << 20;

// Half a MiB of weights, and at least 3 KiB of activations a row.
nn::Model Wide(int64_t layers = 3) {
  std::vector<nn::LayerPtr> chain;
  for (int64_t i = 0; i < layers; ++i) {
    chain.push_back(nn::Dense({.units = 256, .activation = "tanh"}));
  }
  chain.push_back(nn::Dense({.units = kClasses}));
  return Chain(std::move(chain));
}

// Logical CPU devices that plans may give so much each.
std::shared_ptr<Runtime> Capped(const std::string& memory, int64_t devices = 1) {
  TrainOptions options;
  options.memory = Config(memory);
  options.devices = Config(devices);
  return std::make_shared<Runtime>(options);
}

RunConfig Large(const std::string& more = "", const std::string& rest = kSgd) {
  return Options("global_batch = 4096\nsteps_per_launch = 1\n" + more, rest);
}

struct Messages : Observer {
  void OnMessage(const std::string& message) override { all += message + "\n"; }
  std::string all;
};

TEST(MemoryTest, AWholeBatchThatFitsIsNotSplit) {
  Trainer trainer(Large(), Wide(), {.train = Source(5000)}, Devices(1));
  const BatchPlan& plan = trainer.PlanBatch();
  EXPECT_EQ(plan.micro_rows, 4096);
  EXPECT_EQ(plan.micro_batches(), 1);
  EXPECT_EQ(plan.compiles, 1);
  EXPECT_EQ(plan.recompute, nn::Recompute::None());
  EXPECT_THAT(plan.ToString(), HasSubstr("the whole batch of 4096 at once"));
}

TEST(MemoryTest, TheBatchIsSplitToFitTheCapAndTrainsTheSame) {
  const Sources sources = {.train = Source(5000), .validation = Source(4500, 2)};
  Trainer whole(Large("epochs = 2"), Wide(), sources, Devices(1));
  const FitResult expected = Fit(whole);
  ASSERT_GT(whole.PlanBatch().bytes(), 14 * kMiB) << "the cap below would split nothing";

  Trainer trainer(Large("epochs = 2"), Wide(), sources, Capped("10MiB"));
  RunFolder folder(Fresh("split"));
  Messages messages;
  const FitResult result = Fit(trainer, &folder, &messages);
  const BatchPlan& plan = trainer.PlanBatch();
  EXPECT_LT(plan.micro_rows, 4096);
  EXPECT_EQ(plan.room, 10 * kMiB);
  EXPECT_LE(plan.bytes(), 10 * kMiB);
  EXPECT_GT(plan.bytes(), 4 * kMiB) << "more would have fitted";
  EXPECT_LE(plan.compiles, 3);
  ASSERT_TRUE(plan.evaluation.has_value());
  EXPECT_LE(plan.evaluation->total(), 10 * kMiB);
  EXPECT_THAT(messages.all, HasSubstr(fmt::format("of 10.0 MiB; micro-batch {} x {} (batch 4096)",
                                                  plan.micro_rows, plan.micro_batches())));

  ASSERT_EQ(result.losses.size(), expected.losses.size());
  for (size_t i = 0; i < result.losses.size(); ++i) {
    EXPECT_NEAR(result.losses[i], expected.losses[i], 1e-5);
  }
  EXPECT_NEAR(result.last_epoch.at("val_loss"), expected.last_epoch.at("val_loss"), 1e-5);
  ExpectNear(trainer.Weights(), whole.Weights(), 1e-4);

  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  const auto& memory = summary["memory"];
  EXPECT_EQ(memory["micro_batch"], plan.micro_rows);
  EXPECT_EQ(memory["micro_batches"], plan.micro_batches());
  EXPECT_EQ(memory["planned_bytes"], plan.bytes());
  EXPECT_EQ(memory["limit_bytes"], 10 * kMiB);
  EXPECT_EQ(memory["recompute"], "none");
  EXPECT_TRUE(memory["peak_bytes"].is_null()) << "CPU devices do not say";
  EXPECT_GT(memory["parameters"].get<int64_t>(), 0);
  EXPECT_GT(memory["batch"].get<int64_t>(), 0);
  EXPECT_THAT(ReadFile(folder.File("metrics.jsonl")),
              AllOf(HasSubstr("\"event\":\"plan\""),
                    HasSubstr(fmt::format("\"micro_batch\":{}", plan.micro_rows))));
  EXPECT_THAT(fmt::format("{}", fmt::join(result.verdict.lines, "\n")),
              AllOf(HasSubstr("memory: planned"), HasSubstr("the whole process took")));
}

TEST(MemoryTest, TheLossInBlocksTrainsTheSameAndIsSaid) {
  const Sources sources = {.train = Source(5000), .validation = Source(4500, 2)};
  Trainer whole(Large(), Wide(), sources, Devices(1));
  const FitResult expected = Fit(whole);
  EXPECT_THAT(whole.PlanBatch().ToString(), ::testing::Not(HasSubstr("blocks")));

  Trainer trainer(Large("loss_blocks = 5"), Wide(), sources, Devices(1));
  const FitResult result = Fit(trainer);
  EXPECT_THAT(trainer.PlanBatch().ToString(),
              HasSubstr("the whole batch of 4096 at once; the loss in 5 blocks"));
  ASSERT_EQ(result.losses.size(), expected.losses.size());
  for (size_t i = 0; i < result.losses.size(); ++i) {
    EXPECT_NEAR(result.losses[i], expected.losses[i], 1e-5);
  }
  EXPECT_NEAR(result.last_epoch.at("val_loss"), expected.last_epoch.at("val_loss"), 1e-5);
  ExpectNear(trainer.Weights(), whole.Weights(), 1e-4);
}

TEST(MemoryTest, AnEvaluationLargerThanTheMemoryIsSplitToo) {
  const auto source = Source(4500, 2);
  Trainer whole(Large(), Wide(), {.validation = source}, Devices(1));
  Trainer trainer(Large(), Wide(), {.validation = source}, Capped("6MiB"));
  const Scores expected = whole.Evaluate(source), scores = trainer.Evaluate(source);
  EXPECT_EQ(scores.rows, 4500);
  EXPECT_NEAR(scores.loss, expected.loss, 1e-5);
  const auto predicted = trainer.Predict(source), wanted = whole.Predict(source);
  ASSERT_EQ(predicted[0].shape.dims, (ir::Dims{4500, kClasses}));
  ExpectNear(Values(predicted[0]), Values(wanted[0]), 1e-5);
}

TEST(MemoryTest, MicroBatchesOfAnySizeGiveTheGradientsOfTheWhole) {
  // 50 rows in batches of 16: the last has 2, and the last piece of 5 has 1.
  const auto train = [](const std::string& micro, int64_t devices) {
    return Train(Options("epochs = 2\nglobal_batch = 16\nmetrics = [\"accuracy\"]\n" + micro, kSgd),
                 Linear(0.01), {.train = Source(50), .validation = Source(21, 5)}, devices);
  };
  const Trained whole = train("", 1);
  for (const char* micro : {"1", "5", "8", "15", "16"}) {
    for (int64_t devices : {1, 2}) {
      SCOPED_TRACE(fmt::format("{} rows on {} devices", micro, devices));
      const Trained trained = train(std::string("micro_batch = ") + micro, devices);
      ExpectNear(trained.weights, whole.weights, 2e-6);
      ExpectNear(trained.result.losses, whole.result.losses, 2e-6);
      for (const char* name : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
        EXPECT_NEAR(trained.result.last_epoch.at(name), whole.result.last_epoch.at(name), 2e-6);
      }
    }
  }
}

TEST(MemoryTest, EveryDeviceSplitsItsPart) {
  Trainer trainer(Large(), Wide(), {.train = Source(5000)}, Capped("7MiB", 2));
  const BatchPlan& plan = trainer.PlanBatch();
  EXPECT_EQ(plan.rows, 2048);
  EXPECT_LT(plan.micro_rows, 2048);
  EXPECT_LE(plan.bytes(), 7 * kMiB);
  EXPECT_THAT(plan.ToString(), HasSubstr("(batch 2048 on each device)"));
}

TEST(MemoryTest, RecomputationComesBeforeMicroBatchesOfAFewRows) {
  // Deep and narrow, so that a row's activations are what counts.
  const auto deep = [] {
    std::vector<nn::LayerPtr> chain;
    for (int64_t i = 0; i < 12; ++i) {
      chain.push_back(nn::Dense({.units = 64, .activation = "tanh"}));
      chain.push_back(nn::LayerNormalization());
    }
    chain.push_back(nn::Dense({.units = kClasses}));
    return Chain(std::move(chain));
  };
  const auto plan = [&](const std::string& more, const std::shared_ptr<Runtime>& runtime) {
    Trainer trainer(
        Options("global_batch = 1024\nsteps_per_launch = 1\nmicro_batch = 1024\n" + more, kSgd),
        deep(), {.train = Source(2000)}, runtime);
    return trainer.PlanBatch();
  };
  const BatchPlan without = plan("recompute = \"none\"", Devices(1));
  const BatchPlan blocks = plan("recompute = \"blocks\"", Devices(1));
  EXPECT_LT(blocks.training.total(), without.training.total());
  EXPECT_EQ(blocks.recompute, nn::Recompute::AllBlocks());
  // In between only some kind of recomputation can fit. Plans keep some room for input.
  const int64_t between = (blocks.training.total() + without.training.total()) / 2;
  const auto cap = Capped(fmt::format("{}B", between * 10 / 9));
  const BatchPlan automatic = plan("", cap);
  EXPECT_EQ(automatic.recompute.kind, nn::Recompute::Kind::kBlocks);
  EXPECT_THAT(automatic.ToString(), HasSubstr("recomputed"));
  EXPECT_LE(automatic.bytes(), between * 10 / 9);
  EXPECT_THAT(MessageOf([&] { plan("recompute = \"none\"", cap); }),
              HasSubstr("train.micro_batch = 1024"));
}

// Recomputing is work: our graph's estimate, which may be too high, is no reason for it.
TEST(MemoryTest, NothingIsRecomputedWhereMicroBatchesFitWithout) {
  for (const char* cap : {"9MiB", "16MiB"}) {
    SCOPED_TRACE(cap);
    Trainer trainer(Large("recompute = \"auto\""), Wide(8), {.train = Source(5000)}, Capped(cap));
    const BatchPlan& plan = trainer.PlanBatch();
    EXPECT_EQ(plan.recompute.kind, nn::Recompute::Kind::kNone) << plan.ToString();
    EXPECT_GE(plan.micro_rows, 8);
    EXPECT_LT(plan.micro_rows, 4096);
  }
}

// ---- what does not fit --------------------------------------------------------------------------

// An error that must end with exit code 4.
std::string OutOfMemoryMessage(const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError& error) {
    EXPECT_EQ(error.exit_code(), kExitOutOfMemory) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

TEST(MemoryTest, ACapBelowTheWeightsIsSaidBeforeAnythingIsTaken) {
  const auto runtime = Capped("300KiB");
  EXPECT_THAT(
      OutOfMemoryMessage([&] { Trainer trainer(Large(), Wide(), {.train = Source(20)}, runtime); }),
      AllOf(HasSubstr("the weights and the optimizer's state"), HasSubstr("300 KiB"),
            HasSubstr("dense_1/kernel"), HasSubstr("256 KiB")));
}

TEST(MemoryTest, WhatFitsNowhereSaysWhatWouldHelp) {
  // The weights fit, their gradients do not.
  const std::string message = OutOfMemoryMessage([&] {
    Trainer trainer(Large(), Wide(), {.train = Source(20)}, Capped("700KiB"));
    RunFolder folder(Fresh("nowhere"));
    Fit(trainer, &folder);
  });
  EXPECT_THAT(message, AllOf(HasSubstr("nothing has been run"), HasSubstr("dense_1"),
                             HasSubstr("even one row")));
}

TEST(MemoryTest, AMicroBatchThatDoesNotFitSaysWhichWould) {
  const std::string message = OutOfMemoryMessage([&] {
    Trainer trainer(Large("micro_batch = 4096\nrecompute = \"none\""), Wide(),
                    {.train = Source(20)}, Capped("12MiB"));
    trainer.PlanBatch();
  });
  EXPECT_THAT(message, AllOf(HasSubstr("train.micro_batch = 4096 does not fit"),
                             HasSubstr("what would fit: train.micro_batch = ")));
}

// A device that runs out of memory while training, as another process may make it: what the plugin
// then throws comes out of a launch.
struct FailsAtStep : Observer {
  explicit FailsAtStep(int64_t step) : step(step) {}
  void OnEpochEnd(const EpochEnd& end) override {
    if (end.step < step) return;
    throw UserError(Code::kResourceExhausted,
                    "the device has too little free memory (while launching; XLA says: Out of "
                    "memory allocating 77777 bytes)");
  }
  int64_t step;
};

TEST(MemoryTest, ARealFailureShowsThePlanAndKeepsWhatWasSaved) {
  RunFolder folder(Fresh("real"));
  Trainer trainer(
      Options("epochs = 5\nglobal_batch = 16", kSgd + "[checkpoint]\nevery_steps = 2\n"), Wide(),
      {.train = Source(32)}, Devices(1));
  FailsAtStep fails(4);  // the second epoch
  const std::string message = OutOfMemoryMessage([&] { Fit(trainer, &folder, &fails); });
  EXPECT_THAT(message, AllOf(HasSubstr("77777 bytes"), HasSubstr("dense_1"),
                             HasSubstr("train.micro_batch = 8"), HasSubstr("parameters")));
  const checkpoint::Newest saved = checkpoint::Store(CheckpointFolder(folder.path())).LoadNewest();
  ASSERT_TRUE(saved.snapshot);
  EXPECT_EQ(saved.snapshot->info.step, 2);
  const auto summary = nlohmann::json::parse(ReadFile(folder.File("summary.json")));
  EXPECT_EQ(summary["status"], "failed");
  EXPECT_EQ(summary["exit_code"], kExitOutOfMemory);
  EXPECT_GT(summary["memory"]["planned_bytes"].get<int64_t>(), 0);
}

TEST(MemoryTest, LackOfHostMemoryIsNotTakenForTheDevices) {
  struct Fails : Observer {
    void OnEpochEnd(const EpochEnd&) override {
      throw UserError(Code::kResourceExhausted, "the cache is full");
    }
  } fails;
  Trainer trainer(Options("global_batch = 16", kSgd), Linear(), {.train = Source(32)}, Devices(1));
  EXPECT_EQ(OutOfMemoryMessage([&] { Fit(trainer, nullptr, &fails); }), "the cache is full");
}

}  // namespace
}  // namespace flatout::train
