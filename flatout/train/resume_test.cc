// Runs that are interrupted and go on, against the same runs without interruption: everything is
// equal to the bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "flatout/checkpoint/store.h"
#include "flatout/data/dataset.h"
#include "flatout/train/testing.h"

namespace flatout::train::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Asks for a stop once so many steps are done, or when a validation is under way.
class Stopper : public Observer {
 public:
  explicit Stopper(int64_t step, bool in_validation = false)
      : step_(step), in_validation_(in_validation) {}
  void OnProgress(const Progress& progress) override {
    if (!in_validation_ && progress.step >= step_) stop.Ask("the test");
  }
  void OnEvaluation(int64_t, int64_t) override {
    if (in_validation_) stop.Ask("the test");
  }
  void OnLog(const Progress& progress) override { OnProgress(progress); }
  void OnMessage(const std::string& message) override { messages.push_back(message); }
  StopRequest stop;
  std::vector<std::string> messages;

 private:
  int64_t step_;
  bool in_validation_;
};

struct Job {
  std::string train;
  std::string rest;
  std::function<nn::Model()> model = Mlp;
  int64_t train_rows = 40, validation_rows = 0;
  std::function<data::SourcePtr(int64_t rows)> source = [](int64_t rows) { return Source(rows); };
  // Whoever goes on wants more of a run that is done (the command finds that out).
  bool asks_for_more = false;
};

// Progress after every launch.
const std::string kLogAll = "[watch]\nlog_seconds = 1e-9\nceiling = false\n";

struct Ended {
  FitResult result;
  checkpoint::LoadedSnapshot snapshot;  // the newest
  checkpoint::TensorFile weights;
};

// One process's part of a run in `path`.
Ended Session(const Job& job, const std::string& path, Observer* observer = nullptr,
              StopRequest* stop = nullptr, int64_t devices = 1) {
  const bool resumes = FileExists(path + "/run.toml");
  RunFolder folder(path, resumes ? RunFolder::Existing::kResume : RunFolder::Existing::kRefuse);
  Sources sources{.train = job.source(job.train_rows)};
  if (job.validation_rows > 0) sources.validation = Source(job.validation_rows, 7);
  Trainer trainer(Options(job.train, kLogAll + job.rest), job.model(), sources, Devices(devices));
  const checkpoint::Store store(CheckpointFolder(path));
  if (resumes) {
    const checkpoint::Newest newest = store.LoadNewest();
    EXPECT_THAT(newest.skipped, IsEmpty());
    RunState state = RunState::FromJson(newest.snapshot->state, "state.json");
    if (job.asks_for_more) {
      EXPECT_TRUE(state.done);
      state.done = false;
    }
    trainer.Restore(*newest.snapshot, std::move(state));
  }
  Ended ended;
  ended.result = testing::Fit(trainer, &folder, observer, stop);
  ended.snapshot = *store.LoadNewest().snapshot;
  ended.weights = trainer.Weights();
  return ended;
}

// The part of a run until that step (or some few later), where it is told to stop.
Ended StoppedAt(int64_t step, const Job& job, const std::string& path) {
  Stopper stopper(step);
  return Session(job, path, &stopper, &stopper.stop);
}

// What must be equal, however often a run was interrupted.
void ExpectSame(const Ended& a, const Ended& b) {
  EXPECT_TRUE(SameBytes(a.weights, b.weights));
  for (const char* group : {kWeightsGroup, kOptimizerGroup}) {
    EXPECT_TRUE(SameBytes(a.snapshot.Group(group), b.snapshot.Group(group))) << group;
  }
  EXPECT_EQ(a.result.last_epoch, b.result.last_epoch);
  EXPECT_EQ(a.result.steps, b.result.steps);
  EXPECT_EQ(a.result.epochs, b.result.epochs);
  EXPECT_EQ(a.result.samples, b.result.samples);
  EXPECT_EQ(a.result.skipped_steps, b.result.skipped_steps);
  RunState first = RunState::FromJson(a.snapshot.state, "a");
  RunState second = RunState::FromJson(b.snapshot.state, "b");
  // What may differ: how long things took, and how many processes there were.
  for (RunState* state : {&first, &second}) {
    state->sessions = state->launches = state->metrics_bytes = 0;
    state->ledger = {};
    state->epoch_seconds = 0;
  }
  EXPECT_EQ(first.ToJson(), second.ToJson());
}

// The events of metrics.jsonl that say what was learned: each once, in order.
std::vector<std::string> EpochLines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    auto json = nlohmann::json::parse(line);
    if (json["event"] != "epoch") continue;
    json.erase("seconds");
    lines.push_back(json.dump());
  }
  return lines;
}

// At every step of the run, and at the ends of its epochs: shuffled data, dropout, a last batch
// that is not full, momentum, a schedule, metrics.
TEST(ResumeTest, AfterAnyStepEverythingIsAsIfNothingHadHappened) {
  const Job job{.train =
                    "epochs = 3\nglobal_batch = 8\nsteps_per_launch = 1\n"
                    "metrics = [\"accuracy\", \"sparse_top_k_categorical_accuracy\"]",
                .rest =
                    "[optimizer]\nclass = \"Adam\"\nlearning_rate = {class = "
                    "\"CosineDecay\", initial_learning_rate = 0.01, decay_steps = 20}\n",
                .train_rows = 37,
                .validation_rows = 11};
  const std::string whole_path = Fresh("whole");
  const Ended whole = Session(job, whole_path);
  ASSERT_EQ(whole.result.steps, 15);
  for (int64_t step = 1; step <= 15; ++step) {
    SCOPED_TRACE(step);
    const std::string path = Fresh("stopped");
    const Ended first = StoppedAt(step, job, path);
    EXPECT_LE(first.result.steps, std::min<int64_t>(step + 2, 15));  // launches under way
    const Ended second = Session(job, path);
    EXPECT_EQ(second.result.resumed_step, first.result.steps);
    ExpectSame(whole, second);
    EXPECT_EQ(EpochLines(path), EpochLines(whole_path));
  }
}

TEST(ResumeTest, ManyInterruptionsOfOneRun) {
  const Job job{.train = "epochs = 4\nglobal_batch = 4\nsteps_per_launch = 2",
                .train_rows = 30,
                .validation_rows = 5};
  const Ended whole = Session(job, Fresh("whole"));
  const std::string path = Fresh("often");
  for (int64_t step = 2;; step += 3) {
    const Ended part = StoppedAt(step, job, path);
    if (part.result.stopped) continue;
    ExpectSame(whole, part);
    EXPECT_GT(part.result.summary.sessions, 5);
    break;
  }
}

TEST(ResumeTest, StoppedInAValidation) {
  const Job job{.train =
                    "epochs = 2\nglobal_batch = 8\nsteps_per_launch = 1\n"
                    "early_stopping = {patience = 5, restore_best_weights = true}",
                .train_rows = 40,
                .validation_rows = 100};
  const Ended whole = Session(job, Fresh("whole"));
  const std::string path = Fresh("validation");
  Stopper stopper(0, /*in_validation=*/true);
  const Ended first = Session(job, path, &stopper, &stopper.stop);
  EXPECT_TRUE(first.result.stopped);
  EXPECT_EQ(first.result.epochs, 0);
  EXPECT_TRUE(RunState::FromJson(first.snapshot.state, "").epoch_ended);
  Stopper again(0, /*in_validation=*/true);
  EXPECT_TRUE(Session(job, path, &again, &again.stop).result.stopped);
  const Ended second = Session(job, path);
  ExpectSame(whole, second);
}

// The validation after the last of max_steps, in the middle of an epoch.
TEST(ResumeTest, StoppedInTheLastValidation) {
  const Job job{.train =
                    "epochs = 2\nglobal_batch = 8\nsteps_per_launch = 1\nmax_steps = 7\n"
                    "early_stopping = {patience = 5, restore_best_weights = true}",
                .train_rows = 40,
                .validation_rows = 100};
  const std::string whole_path = Fresh("whole");
  const Ended whole = Session(job, whole_path);
  EXPECT_TRUE(whole.result.last_epoch.contains("val_loss"));
  const std::string path = Fresh("last");
  struct Last : Stopper {
    Last() : Stopper(0) {}
    void OnProgress(const Progress&) override {}
    void OnEvaluation(int64_t, int64_t) override {
      if (epochs == 1) stop.Ask("the test");
    }
    void OnEpochEnd(const EpochEnd&) override { ++epochs; }
    int epochs = 0;
  } stopper;
  const Ended first = Session(job, path, &stopper, &stopper.stop);
  EXPECT_TRUE(first.result.stopped);
  EXPECT_EQ(first.result.steps, 7);
  const Ended second = Session(job, path);
  ExpectSame(whole, second);
  EXPECT_EQ(EpochLines(path), EpochLines(whole_path));
}

TEST(ResumeTest, CallbacksRemember) {
  const Job job{
      .train =
          "epochs = 12\nglobal_batch = 10\nsteps_per_launch = 1\nmetrics = [\"accuracy\"]\n"
          "early_stopping = {patience = 4, restore_best_weights = true, monitor = \"loss\"}\n"
          "reduce_lr_on_plateau = {patience = 1, factor = 0.5, monitor = \"loss\", "
          "min_delta = 0.05, cooldown = 1}",
      .rest = "[optimizer]\nclass = \"SGD\"\nlearning_rate = 0.8\nmomentum = 0.9\n",
      .train_rows = 60};
  const Ended whole = Session(job, Fresh("whole"));
  const std::string path = Fresh("callbacks");
  Ended part;
  for (int64_t step = 5;; step += 5) {
    part = StoppedAt(step, job, path);
    if (!part.result.stopped) break;
  }
  ExpectSame(whole, part);
  EXPECT_EQ(whole.result.summary.metrics, part.result.summary.metrics);
}

TEST(ResumeTest, TheLossScaleGoesOn) {
  const Job job{.train =
                    "epochs = 3\nglobal_batch = 8\nsteps_per_launch = 1\n"
                    "precision = \"mixed_float16\"\n"
                    "loss_scale = {initial = 1e9, growth_steps = 4}",
                .rest = "[optimizer]\nclass = \"Adam\"\n",
                .train_rows = 40};
  const Ended whole = Session(job, Fresh("whole"));
  EXPECT_GT(whole.result.skipped_steps, 0);
  for (const int64_t step : {1, 4, 9}) {
    const std::string path = Fresh("scale");
    StoppedAt(step, job, path);
    ExpectSame(whole, Session(job, path));
  }
}

TEST(ResumeTest, AStreamGoesOn) {
  Job job{.train = "epochs = 3\nglobal_batch = 4\nsteps_per_launch = 2",
          .rest = "[data]\nsource = \"arrays\"\nshuffle = false\n",
          .train_rows = 50};
  // Records pass a filter that only running it decides.
  job.source = [](int64_t rows) {
    return data::Dataset::FromSource(Source(rows))
        .Filter([](const data::Block& block, int64_t row) {
          int32_t label = 0;
          std::memcpy(&label, block.data(1, row), sizeof(label));
          return label != 1;
        })
        .source();
  };
  const Ended whole = Session(job, Fresh("whole"));
  const std::string path = Fresh("stream");
  EXPECT_TRUE(StoppedAt(11, job, path).result.stopped);
  ExpectSame(whole, Session(job, path));
}

TEST(ResumeTest, MoreEpochsAndStepsAreTheLongerRun) {
  Job shorter{.train = "epochs = 2\nglobal_batch = 8\nsteps_per_launch = 1",
              .train_rows = 40,
              .validation_rows = 9};
  Job longer = shorter;
  longer.train = "epochs = 4\nglobal_batch = 8\nsteps_per_launch = 1";
  const Ended whole = Session(longer, Fresh("whole"));
  const std::string path = Fresh("longer");
  Session(shorter, path);
  longer.asks_for_more = true;
  Ended again = Session(longer, path);
  RunState state = RunState::FromJson(again.snapshot.state, "");
  state.run_file = RunState::FromJson(whole.snapshot.state, "").run_file;
  again.snapshot.state = state.ToJson();
  ExpectSame(whole, again);
}

// Within rounding: sums over replicas come in another order.
TEST(ResumeTest, AnotherNumberOfDevicesAndRowsTakesTheSameRecords) {
  const Job job{.train = "epochs = 3\nglobal_batch = 8\nsteps_per_launch = 1",
                .rest = kSgd,
                .model = [] { return Linear(); },
                .train_rows = 40};
  const Ended whole = Session(job, Fresh("whole"));
  const std::string path = Fresh("devices");
  StoppedAt(6, job, path);
  const Ended second = Session(job, path, nullptr, nullptr, /*devices=*/2);
  EXPECT_EQ(second.result.steps, whole.result.steps);
  ExpectNear(whole.weights, second.weights, 1e-5);

  // Half the batch: twice the steps for what is left of the records.
  const std::string halves = Fresh("halves");
  const Ended first = StoppedAt(6, job, halves);
  Job half = job;
  half.train = "epochs = 3\nglobal_batch = 4\nsteps_per_launch = 1";
  const Ended rest = Session(half, halves);
  EXPECT_EQ(rest.result.steps, first.result.steps + 2 * (15 - first.result.steps));
  EXPECT_EQ(rest.result.samples, 3 * 40);
}

TEST(ResumeTest, AnotherModelOrOptimizerIsRefusedWithEveryTensor) {
  const Job job{.train = "epochs = 1\nglobal_batch = 8", .rest = "[optimizer]\nclass = \"Adam\"\n"};
  const std::string path = Fresh("other");
  Session(job, path);
  Job wide = job;
  wide.model = [] {
    return Chain(
        {nn::Dense({.units = 9}), nn::Dense({.units = kClasses}), nn::Dense({.units = kClasses})});
  };
  EXPECT_THAT(MessageOf([&] { Session(wide, path); }),
              AllOf(HasSubstr("dense/kernel"), HasSubstr("f32[4,9]"), HasSubstr("f32[4,8]"),
                    HasSubstr("dense_2/kernel"), HasSubstr("missing"), HasSubstr("dense_1/kernel"),
                    HasSubstr("--fresh")));
  Job sgd = job;
  sgd.rest = "[optimizer]\nclass = \"SGD\"\nmomentum = 0.9\n";
  EXPECT_THAT(
      MessageOf([&] { Session(sgd, path); }),
      AllOf(HasSubstr("dense/kernel/velocity f32[4,8] is not expected"), HasSubstr("--fresh")));
  // Nothing was lost by it.
  EXPECT_THAT(checkpoint::Store(CheckpointFolder(path)).LoadNewest().skipped, IsEmpty());
}

TEST(ResumeTest, OtherDataAreRefused) {
  Job job{.train = "epochs = 3\nglobal_batch = 8\nsteps_per_launch = 1"};
  const std::string path = Fresh("data");
  StoppedAt(3, job, path);
  job.train_rows = 44;
  EXPECT_THAT(MessageOf([&] { Session(job, path); }),
              AllOf(HasSubstr("40 records"), HasSubstr("44"), HasSubstr("start anew")));
}

TEST(ResumeTest, TheLedgerAndTheLogGoOn) {
  const Job job{.train = "epochs = 3\nglobal_batch = 8\nsteps_per_launch = 1"};
  const std::string path = Fresh("ledger");
  const Ended first = StoppedAt(7, job, path);
  // Lines of work that was lost.
  std::ofstream(path + "/metrics.jsonl", std::ios::app) << "{\"event\":\"log\",\"step\":99}\n";
  const Ended second = Session(job, path);
  const watch::LedgerReport& ledger = second.result.summary.ledger;
  EXPECT_GT(ledger.wall, first.result.summary.ledger.wall);
  EXPECT_NEAR(ledger.sum(), ledger.wall, 1e-6 * ledger.wall);
  EXPECT_EQ(second.result.summary.sessions, 2);
  EXPECT_THAT(ReadFile(path + "/metrics.jsonl"),
              AllOf(Not(HasSubstr("\"step\":99}")), HasSubstr("\"event\":\"resume\"")));
}

// The best weights of work that was lost are not those of the run that goes on from before it.
TEST(ResumeTest, BestWeightsKeepToTheSnapshots) {
  const Job job{.train = "epochs = 4\nglobal_batch = 8\nsteps_per_launch = 1",
                .rest = "[checkpoint]\nmonitor = \"loss\"\n"};
  const std::string path = Fresh("best");
  StoppedAt(7, job, path);  // 5 steps an epoch: the first epoch's are the best
  const std::string best = path + "/best.safetensors";
  const std::string of_first = ReadFile(best);
  EXPECT_THAT(of_first, HasSubstr("\"step\":\"5\""));
  const auto pending = [&](int64_t step) { return path + "/" + RunFolder::PendingBest(step); };
  std::ofstream(pending(10)) << "of an epoch that was lost with its process";
  Stopper again(8);
  Session(job, path, &again, &again.stop);
  EXPECT_EQ(ReadFile(best), of_first);
  EXPECT_FALSE(FileExists(pending(10)));
  // One that a snapshot has reached, before whose process could put it into its place.
  std::filesystem::rename(best, pending(5));
  Stopper third(9);
  Session(job, path, &third, &third.stop);
  EXPECT_EQ(ReadFile(best), of_first);
  EXPECT_FALSE(FileExists(pending(5)));
  // One that is gone is told.
  std::filesystem::remove(best);
  Stopper fourth(9);
  fourth.stop.Ask("the test");
  Session(job, path, &fourth, &fourth.stop);
  EXPECT_THAT(fourth.messages, Contains(HasSubstr("best.safetensors is not there any more")));
}

TEST(ResumeTest, WhatIsBeingSavedIsNotOverwritten) {
  // Snapshots of every step, of which each shares the device's buffers while the next steps run.
  const Job job{.train = "epochs = 2\nglobal_batch = 8\nsteps_per_launch = 1",
                .rest = "[checkpoint]\nevery_steps = 1\nkeep_last = 100\n",
                .model = [] {
                  return Chain({nn::Dense({.units = 3000, .activation = "relu"}),
                                nn::Dense({.units = kClasses})});
                }};
  const std::string path = Fresh("shared");
  Session(job, path);
  const auto snapshots = checkpoint::Store(CheckpointFolder(path)).List();
  ASSERT_EQ(snapshots.size(), 10u);
  for (const checkpoint::Inspection& one : snapshots) {
    SCOPED_TRACE(one.info.step);
    EXPECT_THAT(checkpoint::Verify(one.path), IsEmpty());
    // A run that is stopped there on its own has the same state.
    const checkpoint::LoadedSnapshot loaded = checkpoint::Load(one.path);
    Job alone = job;
    alone.rest = "";
    alone.train += "\nmax_steps = " + std::to_string(one.info.step);
    const Ended other = Session(alone, Fresh("alone"));
    for (const char* group : {kWeightsGroup, kOptimizerGroup}) {
      EXPECT_TRUE(SameBytes(loaded.Group(group), other.snapshot.Group(group))) << group;
    }
  }
}

TEST(ResumeTest, ABadRecordCountsOnceInAllSessions) {
  RunState state;
  data::BadRecords bad(2);
  bad.Report(BadData("record 3 is bad"));
  state.bad_records = bad.state();
  const RunState read = RunState::FromJson(state.ToJson(), "");
  data::BadRecords later(2);
  later.Restore(read.bad_records);
  later.Report(BadData("record 3 is bad"));
  EXPECT_EQ(later.count(), 1);
  later.Report(BadData("record 4 is bad"));
  EXPECT_EQ(later.count(), 2);
  EXPECT_THROW(later.Report(BadData("record 5 is bad")), Error);
}

TEST(ResumeTest, RunFilesAreCompared) {
  const auto compare = [](const std::string& before, const std::string& after) {
    return CompareRunFiles(Config::ParseToml(before, "a"), Config::ParseToml(after, "b"));
  };
  const std::string base =
      "[model]\nbuiltin = 'mlp'\nunits = 8\n[data]\nsource = 'csv'\nfiles = 'a.csv'\nworkers = 1\n"
      "[train]\nepochs = 2\nseed = 1\n[watch]\nlog_seconds = 3\n";
  RunFileChanges same = compare(base, base);
  EXPECT_THAT(same.noted, IsEmpty());
  EXPECT_THAT(same.refused, IsEmpty());
  const RunFileChanges other = compare(
      base,
      "[model]\nbuiltin = 'mlp'\nunits = 9\n[data]\nsource = 'csv'\nfiles = 'b.csv'\nworkers = 4\n"
      "shuffle = false\n[train]\nepochs = 3\n[optimizer]\nclass = 'SGD'\n");
  EXPECT_THAT(other.noted,
              ElementsAre("data.files: \"b.csv\", was \"a.csv\"", "train.epochs: 3, was 2"));
  EXPECT_THAT(other.refused,
              ElementsAre("model.units: 9, was 8", "data.shuffle: false, was true",
                          "train.seed: 0, was 1", "optimizer.class: \"SGD\", was not set"));
  // Defaults, spelled out; other ways to write the same; and a place within lists.
  const RunFileChanges spelled = compare(
      "optimizer = 'Adam'\n[model]\nlayers = [{class = 'Dense', units = 3}]\n[train]\nepochs = 1\n",
      "[model]\nlayers = [{class = 'Dense', units = 4}]\n[train]\nseed = 0\nprecision = "
      "'float32'\n[data]\nshuffle = true\n[optimizer]\nclass = 'Adam'\n");
  EXPECT_THAT(spelled.noted, IsEmpty());
  EXPECT_THAT(spelled.refused, ElementsAre("model.layers[0].units: 4, was 3"));
}

TEST(ResumeTest, AStateThatIsNoneSaysWhatIsWrong) {
  const auto message = [](const std::string& text) {
    return MessageOf([&] { RunState::FromJson(text, "here/state.json"); });
  };
  EXPECT_THAT(message("{"), HasSubstr("here/state.json: not the state of a run"));
  EXPECT_THAT(message("{\"steps\": 1}"), HasSubstr("epochs"));
  RunState state;
  state.totals.loss = std::numeric_limits<double>::infinity();
  state.totals.metrics = {{{1.0 / 3, std::nan("")}}};
  state.position.seed = ~uint64_t{0};
  state.rate_factor = 0.1 + 0.2;
  const RunState read = RunState::FromJson(state.ToJson(), "");
  EXPECT_EQ(read.totals.loss, state.totals.loss);
  EXPECT_EQ(read.totals.metrics[0][0][0], 1.0 / 3);
  EXPECT_TRUE(std::isnan(read.totals.metrics[0][0][1]));
  EXPECT_EQ(read.position, state.position);
  EXPECT_EQ(read.rate_factor, 0.1 + 0.2);
}

}  // namespace
}  // namespace flatout::train::testing
