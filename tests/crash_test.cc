// Runs of the command that are killed at random times, over and over, until they are done: in the
// manner of RocksDB's db_crashtest. No snapshot is ever unreadable, no run goes back behind one
// that was complete, and in the end everything is what it is without a kill, to the bit.
//
// FLATOUT_CRASH_KILLS sets how many kills there are (`make crashtest`: 3000), FLATOUT_CRASH_SEED
// when they come; a failure prints the seed that repeats it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "flatout/base/file.h"
#include "flatout/checkpoint/compare.h"
#include "flatout/checkpoint/store.h"
#include "flatout/checkpoint/testing.h"
#include "tests/command.h"

namespace flatout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using testing::Process;
using testing::ReadAll;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// Long enough for a kill to find it in any phase: 12 epochs with a validation after each, a
// snapshot every few steps, everything that a run remembers.
constexpr const char* kRunFile = R"(
[model]
builtin = "mlp"
units = 32
dropout = 0.2
[data]
source = "csv"
files = "train.csv"
validation_split = 40
columns = {x = {from = ["a", "b", "c", "d"], dtype = "f32"}, y = {dtype = "i32", bound = 3}}
[train]
epochs = 12
global_batch = 16
steps_per_launch = 2
metrics = ["accuracy"]
early_stopping = {monitor = "loss", patience = 50, restore_best_weights = true}
reduce_lr_on_plateau = {monitor = "val_loss", patience = 3, factor = 0.7}
[optimizer]
class = "Adam"
learning_rate = 0.003
use_ema = true
[checkpoint]
every_steps = 9
keep_last = 3
[watch]
ceiling = false
progress = "none"
)";

std::string Table(int64_t rows) {
  std::mt19937_64 random(5);
  std::string text = "a,b,c,d,y\n";
  for (int64_t i = 0; i < rows; ++i) {
    const uint64_t label = random() % 3;
    for (uint64_t k = 0; k < 4; ++k) {
      text +=
          fmt::format("{},", static_cast<double>(random() % 1000) / 1000 + (k == label ? 1 : 0));
    }
    text += fmt::format("{}\n", label);
  }
  return text;
}

class Crash : public ::testing::Test {
 protected:
  Crash() {
    setenv("FLATOUT_CACHE", scratch_.File("cache").c_str(), 1);
    setenv("FLATOUT_DEPS", FLATOUT_DEPS_FOLDER, 0);
    std::filesystem::create_directory(work_);
    AtomicWriteFile(Path("run.toml"), kRunFile);
    AtomicWriteFile(Path("train.csv"), Table(360));
  }
  std::filesystem::path Path(const std::string& name) const { return work_ / name; }
  Process Start(std::vector<std::string> arguments) const { return {work_, std::move(arguments)}; }
  Outcome Run(std::vector<std::string> arguments) const {
    return testing::RunFlatout(work_, std::move(arguments));
  }
  std::vector<std::string> Train(const std::string& folder) const {
    return {"train", "run.toml", "--run-dir", folder};
  }
  checkpoint::Store StoreOf(const std::string& folder) const {
    return checkpoint::Store((Path(folder) / "checkpoints").string());
  }
  nlohmann::json Summary(const std::string& folder) const {
    return nlohmann::json::parse(ReadAll(Path(folder) / "summary.json"));
  }
  // Every file and figure that a user keeps.
  void ExpectSame(const std::string& a, const std::string& b) const {
    for (const char* file : {"weights.safetensors", "best.safetensors"}) {
      EXPECT_EQ(ReadAll(Path(a) / file), ReadAll(Path(b) / file)) << file;
    }
    EXPECT_EQ(Summary(a)["metrics"], Summary(b)["metrics"]);
    EXPECT_EQ(Summary(a)["steps"], Summary(b)["steps"]);
    EXPECT_EQ(Summary(a)["samples"], Summary(b)["samples"]);
    EXPECT_EQ(Epochs(a), Epochs(b));
    const checkpoint::Newest first = StoreOf(a).LoadNewest(), second = StoreOf(b).LoadNewest();
    for (const auto& [name, group] : first.snapshot->groups) {
      for (const auto& tensor : checkpoint::Compare(group, second.snapshot->Group(name))) {
        EXPECT_EQ(tensor.kind, checkpoint::TensorDifference::Kind::kSame) << tensor.name;
      }
    }
  }
  // The epochs of metrics.jsonl without their times.
  std::vector<std::string> Epochs(const std::string& folder) const {
    std::vector<std::string> lines;
    std::istringstream file(ReadAll(Path(folder) / "metrics.jsonl"));
    for (std::string line; std::getline(file, line);) {
      nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!json.is_object() || json["event"] != "epoch") continue;
      json.erase("seconds");
      lines.push_back(json.dump());
    }
    return lines;
  }

  const checkpoint::ScratchFolder scratch_{"crash"};
  const std::filesystem::path work_ = scratch_.File("work");
};

TEST_F(Crash, KilledAtRandomTimes) {
  const int64_t kills = FromEnvironment("FLATOUT_CRASH_KILLS", 300);
  const auto seed = static_cast<uint64_t>(
      FromEnvironment("FLATOUT_CRASH_SEED", static_cast<int64_t>(std::random_device()())));
  SCOPED_TRACE(fmt::format("FLATOUT_CRASH_SEED={} repeats this", seed));
  std::mt19937_64 random(seed);

  const Outcome whole = Run(Train("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  // How long a start takes (the compiled programs are in the cache now), and a run after it.
  const auto begin = std::chrono::steady_clock::now();
  const Outcome second = Run(Train("second"));
  ASSERT_EQ(second.exit_code, 0) << second.err;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double to_first_step = Summary("second")["first_step_seconds"];
  ExpectSame("whole", "second");

  int64_t done = 0, runs = 0;
  while (done < kills) {
    const std::string folder = fmt::format("killed{}", runs++);
    int64_t expected = 0;  // the step of the newest snapshot that was ever complete
    for (;;) {
      auto process = Start(Train(folder));
      // Half of them soon after the first steps, where snapshots follow each other closely.
      const double from = 0.6 * to_first_step;
      const double span = random() % 2 == 0 ? 0.5 * seconds : 0.8 * to_first_step;
      const double at = from + span * static_cast<double>(random() % 1000) / 1000;
      std::this_thread::sleep_for(std::chrono::duration<double>(at));
      const Outcome outcome = process.End(SIGKILL);
      if (outcome.exit_code == 0) break;
      ASSERT_EQ(outcome.exit_code, -SIGKILL) << outcome.out << outcome.err;
      ++done;
      const checkpoint::Store store = StoreOf(folder);
      for (const checkpoint::Inspection& one : store.List()) {
        EXPECT_NE(one.condition, checkpoint::Condition::kDamaged) << one.problem;
      }
      const checkpoint::Newest newest = store.LoadNewest();
      EXPECT_THAT(newest.skipped, IsEmpty());
      const int64_t step = newest.snapshot ? newest.snapshot->info.step : 0;
      EXPECT_GE(step, expected) << "a complete snapshot is gone";
      expected = step;
      if (::testing::Test::HasFailure()) return;
      if (done >= kills) {
        const Outcome last = Run(Train(folder));
        ASSERT_EQ(last.exit_code, 0) << last.out << last.err;
        break;
      }
    }
    ExpectSame("whole", folder);
    std::filesystem::remove_all(Path(folder));
    if (::testing::Test::HasFailure()) return;
  }
  fmt::print("{} kills in {} runs\n", done, runs);
}

// The first signal saves, whatever the run is doing; the same command goes on.
TEST_F(Crash, StoppedInEveryPhase) {
  ASSERT_EQ(Run(Train("whole")).exit_code, 0);
  std::mt19937_64 random(11);
  const double to_first_step = Summary("whole")["first_step_seconds"];
  int64_t stops = 0;
  for (int64_t round = 0; stops < 8; ++round) {
    const std::string folder = fmt::format("stopped{}", round);
    for (;;) {
      auto process = Start(Train(folder));
      const double at = 1.6 * to_first_step * static_cast<double>(random() % 1000) / 1000;
      std::this_thread::sleep_for(std::chrono::duration<double>(0.05 + at));
      const Outcome outcome = process.End(random() % 2 == 0 ? SIGTERM : SIGINT);
      if (outcome.exit_code == 0) break;
      // Before main has begun the signal ends the process as ever; there was nothing to save.
      if (outcome.exit_code == -SIGTERM || outcome.exit_code == -SIGINT) continue;
      ASSERT_EQ(outcome.exit_code, 6) << outcome.out << outcome.err;
      ++stops;
      if (outcome.out.find("stopped after") != std::string::npos) {
        EXPECT_THAT(outcome.out, HasSubstr("the same command goes on from there"));
        EXPECT_THAT(StoreOf(folder).LoadNewest().skipped, IsEmpty());
      } else {
        EXPECT_THAT(outcome.err, HasSubstr("nothing is lost"));
      }
    }
    ExpectSame("whole", folder);
  }
}

TEST_F(Crash, ASecondSignalEndsAtOnceAndLosesNothing) {
  ASSERT_EQ(Run(Train("whole")).exit_code, 0);
  std::vector<std::string> command = Train("twice");
  command.insert(command.end(), {"--set", "watch.progress=plain"});
  auto process = Start(command);
  ASSERT_TRUE(process.WaitFor("epoch 3/"));
  process.Signal(SIGTERM);
  const Outcome outcome = process.End(SIGTERM);
  EXPECT_THAT(outcome.exit_code, ::testing::AnyOf(128 + SIGTERM, 6));
  ASSERT_EQ(Run(Train("twice")).exit_code, 0);
  ExpectSame("whole", "twice");
}

TEST_F(Crash, SuperviseStartsAgainAndTellsTheGoodput) {
  ASSERT_EQ(Run(Train("whole")).exit_code, 0);
  auto process = Start({"supervise", "--wait", "0.01", "--", "train", "run.toml", "--run-dir",
                        "supervised", "--set", "watch.progress=plain"});
  // The training process is the child; it is killed twice.
  for (const char* line : {"epoch 3/", "epoch 7/"}) {
    ASSERT_TRUE(process.WaitFor(line)) << process.err();
    std::istringstream children(ReadAll(fmt::format("/proc/{0}/task/{0}/children", process.pid())));
    pid_t child = 0;
    ASSERT_TRUE(children >> child);
    kill(child, SIGKILL);
  }
  const Outcome outcome = process.Wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("was ended by signal 9 (SIGKILL); starting it again at once"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("training is done"), HasSubstr("goodput: "),
                                 HasSubstr("2 restarts"), HasSubstr("work lost in crashes")));
  ExpectSame("whole", "supervised");
}

TEST_F(Crash, SuperviseDoesNotRepeatWhatCannotHelp) {
  const Outcome wrong = Run({"supervise", "--", "train", "run.toml", "--run-dir", "wrong", "--set",
                             "train.loss=\"Hinge\""});
  EXPECT_EQ(wrong.exit_code, 2) << wrong.err;
  EXPECT_THAT(wrong.err, Not(HasSubstr("starting it again")));
  const Outcome nothing = Run({"supervise", "--", "evaluate", "runs/a"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("supervise looks after training"));
}

TEST_F(Crash, SupervisePassesSignalsOn) {
  auto process = Start({"supervise", "--", "train", "run.toml", "--run-dir", "told", "--set",
                        "watch.progress=plain"});
  ASSERT_TRUE(process.WaitFor("epoch 2/"));
  const Outcome outcome = process.End(SIGTERM);
  EXPECT_EQ(outcome.exit_code, 6) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("was stopped, and saved"));
  EXPECT_TRUE(StoreOf("told").LoadNewest().snapshot);
}

}  // namespace
}  // namespace flatout
