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
#include <random>

#include "tests/small_run.h"

namespace flatout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using testing::ReadAll;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

uint64_t Seed() {
  return static_cast<uint64_t>(
      FromEnvironment("FLATOUT_CRASH_SEED", static_cast<int64_t>(std::random_device()())));
}

class Crash : public testing::SmallRun {
 protected:
  // What a killed run left is sound; `step` is that of the newest snapshot that was ever complete,
  // and becomes that of the newest one.
  void ExpectSound(const std::string& folder, int64_t& step) const {
    const checkpoint::Store store = StoreOf(folder);
    for (const checkpoint::Inspection& one : store.List()) {
      EXPECT_NE(one.condition, checkpoint::Condition::kDamaged) << one.problem;
    }
    const checkpoint::Newest newest = store.LoadNewest();
    EXPECT_THAT(newest.skipped, IsEmpty());
    const int64_t found = newest.snapshot ? newest.snapshot->info.step : 0;
    EXPECT_GE(found, step) << "a complete snapshot is gone";
    step = found;
  }
};

TEST_F(Crash, KilledAtRandomTimes) {
  const int64_t kills = FromEnvironment("FLATOUT_CRASH_KILLS", 300);
  const uint64_t seed = Seed();
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
      ExpectSound(folder, expected);
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

// At each call in turn that changes something in the run folder: files made, half of a write,
// syncs, renames, removals; of the snapshots, the best weights and all other files.
// FLATOUT_CRASH_STRIDE=1 (as `make crashtest` has it) leaves none out.
TEST_F(Crash, KilledAtCallsThatChangeTheDisk) {
  const int64_t stride = FromEnvironment("FLATOUT_CRASH_STRIDE", 8);
  const uint64_t seed = Seed();
  SCOPED_TRACE(fmt::format("FLATOUT_CRASH_SEED={} repeats this", seed));
  const auto train = [&](const std::string& folder) {
    std::vector<std::string> command = Train(folder);
    command.insert(command.end(), {"--set", "train.epochs=3"});
    return command;
  };
  ASSERT_EQ(Run(train("whole")).exit_code, 0);
  int64_t kills = 0, runs = 0;
  int64_t call = 1 + static_cast<int64_t>(seed % static_cast<uint64_t>(stride));
  for (bool all = false; !all;) {
    const std::string folder = fmt::format("killed{}", runs++);
    int64_t expected = 0;
    for (bool fresh = true;; fresh = false, call += stride) {
      const Outcome outcome =
          Run(train(folder), Faults(folder, {"=kill", fmt::format("_FROM={}", call)}));
      if (outcome.exit_code == 0) {
        // A whole run has no more calls than that.
        all = fresh;
        break;
      }
      ASSERT_EQ(outcome.exit_code, -SIGKILL) << call << ": " << outcome.out << outcome.err;
      ++kills;
      ExpectSound(folder, expected);
      if (HasFailure()) return;
    }
    ExpectSame("whole", folder);
    std::filesystem::remove_all(Path(folder));
    ASSERT_FALSE(HasFailure()) << "call " << call;
  }
  fmt::print("{} kills in {} runs, up to call {}\n", kills, runs, call);
  EXPECT_GT(kills, 80 / stride);
}

// A run that takes another's folder: whenever it is killed, what begins there next is that run, and
// nothing of the old one.
TEST_F(Crash, KilledWhileItReplacesAnotherRun) {
  const auto train = [&](const std::string& folder, const std::string& seed) {
    std::vector<std::string> command = Train(folder);
    command.insert(command.end(), {"--set", "train.epochs=2", "--set", "train.seed=" + seed});
    return command;
  };
  ASSERT_EQ(Run(train("old", "0")).exit_code, 0);
  ASSERT_EQ(Run(train("new", "1")).exit_code, 0);
  int64_t kills = 0;
  for (int64_t call = 1;; call += call < 24 ? 1 : 10) {
    const std::string folder = fmt::format("replaced{}", call);
    std::filesystem::copy(Path("old"), Path(folder), std::filesystem::copy_options::recursive);
    std::vector<std::string> command = train(folder, "1");
    command.emplace_back("--overwrite");
    const Outcome outcome = Run(command, Faults(folder, {"=kill", fmt::format("_FROM={}", call)}));
    if (outcome.exit_code == 0) break;
    ASSERT_EQ(outcome.exit_code, -SIGKILL) << outcome.err;
    ++kills;
    const bool untouched =
        ReadAll(Path(folder) / "run.toml") == ReadAll(Path("old") / "run.toml") &&
        !std::filesystem::exists(Path(folder) / "replacing");
    const Outcome next = Run(train(folder, "1"));
    if (untouched) {
      // Killed before it had begun to replace anything.
      EXPECT_EQ(next.exit_code, 2) << call;
      EXPECT_THAT(next.err, HasSubstr("train.seed"));
    } else {
      ASSERT_EQ(next.exit_code, 0) << call << ": " << next.err;
      ExpectSame("new", folder);
    }
    ASSERT_FALSE(HasFailure()) << "call " << call;
    std::filesystem::remove_all(Path(folder));
  }
  EXPECT_GT(kills, 24);
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

// The summary of the shorter run says "done", and so does the last snapshot of the longer one; what
// follows training, weights and summary, is still to be done.
TEST_F(Crash, ALongerRunKilledBeforeItsEndIsNotTakenForTheShorterOne) {
  ASSERT_EQ(Run(Train("longer")).exit_code, 0);
  const std::string shorter = ReadAll(Path("longer") / "summary.json");
  std::vector<std::string> command = Train("longer");
  command.insert(command.end(), {"--set", "train.epochs=13"});
  ASSERT_EQ(Run(command).exit_code, 0);
  const std::string weights = ReadAll(Path("longer") / "weights.safetensors");
  AtomicWriteFile((Path("longer") / "summary.json").string(), shorter);
  std::filesystem::remove(Path("longer") / "weights.safetensors");
  const Outcome outcome = Run(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("nothing left to do")));
  EXPECT_EQ(ReadAll(Path("longer") / "weights.safetensors"), weights);
  EXPECT_EQ(Summary("longer")["epochs"], 13);
  EXPECT_THAT(Run(command).out, HasSubstr("nothing left to do"));
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
  for (const auto& [option, value] :
       {std::pair("--wait", "nan"), std::pair("--wait", "-1"), std::pair("--max-restarts", "x")}) {
    const Outcome nonsense = Run({"supervise", option, value, "--", "train", "run.toml"});
    EXPECT_EQ(nonsense.exit_code, 2);
    EXPECT_THAT(nonsense.err, HasSubstr(option));
  }
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
