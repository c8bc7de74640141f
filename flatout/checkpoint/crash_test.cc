// White-box crash test of the store, in the manner of RocksDB's db_crashtest: processes that write
// snapshots are killed, and disks lose power, at each call that changes something, one after the
// other and at random. What is expected to be there is kept beside (how far the writer came); what
// is found afterwards must be that, bit for bit, or newer. FLATOUT_CRASH_SEED=n replays a seed; a
// failure says which it was.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "flatout/checkpoint/memory_file_system.h"
#include "flatout/checkpoint/store.h"
#include "flatout/checkpoint/testing.h"

namespace flatout::checkpoint {
namespace {

using When = FaultFileSystem::When;

// How far the writer came. In memory that it shares with the test, so that it survives the writer.
struct Expected {
  std::atomic<int64_t> begun{0};      // the last step whose Write was called
  std::atomic<int64_t> completed{0};  // the last step whose Write returned
};

uint64_t FirstSeed() {
  const char* text = std::getenv("FLATOUT_CRASH_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}
uint64_t Seeds(uint64_t usual) { return std::getenv("FLATOUT_CRASH_SEED") != nullptr ? 1 : usual; }

// Prepares and writes snapshots, as a run does, until `calls` calls that change something were made
// (a write counts for two: its half, and its end); `stop` is called then. Returns normally after
// three snapshots.
void WriteUntil(FileSystem& disk, const std::string& folder, Expected& expected, int rename_error,
                int64_t rows, int64_t calls, const std::function<void()>& stop) {
  FaultFileSystem files(disk);
  files.SetRenameError(rename_error);
  std::atomic<int64_t> left{calls};
  files.SetHook([&](Call call, const std::string&, When when) {
    if (Changes(call) && when != When::kAfter && --left == 0) stop();
  });
  Store store(folder, files);
  store.Prepare();
  for (int i = 0; i < 3; ++i) {
    const int64_t step = ++expected.begun;
    store.Write(MakeSnapshot(step, rows));
    expected.completed = step;
    store.Retain({.keep_last = 2, .keep_best = false});
  }
}

// What is wrong with what is there, or "".
std::string Check(FileSystem& disk, const std::string& folder, Expected& expected, int64_t rows) {
  const Store store(folder, disk);
  const Newest newest = store.LoadNewest();
  if (!newest.snapshot) {
    if (expected.completed == 0) return "";
    return fmt::format("no snapshot is found after that of step {}: {}", expected.completed.load(),
                       newest.skipped.empty() ? "" : newest.skipped[0]);
  }
  const int64_t step = newest.snapshot->info.step;
  if (step < expected.completed) {
    return fmt::format("the newest is of step {}, after that of step {}: {}", step,
                       expected.completed.load(), newest.skipped.empty() ? "" : newest.skipped[0]);
  }
  if (step > expected.begun) return fmt::format("step {} was never written", step);
  return Difference(*newest.snapshot, step, rows);
}

// Besides: after a kill (not a power cut) nothing is ever there but complete ones and leftovers
// that are known for such.
std::string CheckAll(FileSystem& disk, const std::string& folder) {
  for (const Inspection& one : Store(folder, disk).List()) {
    if (one.condition == Condition::kUnfinished) continue;
    if (one.condition != Condition::kComplete) return one.problem;
    const std::vector<std::string> problems = Verify(one.path, disk);
    if (!problems.empty()) return problems[0];
  }
  return "";
}

struct Mode {
  int rename_error;
  int64_t rows;
};
constexpr int64_t kSmall = 5;
constexpr int64_t kLarge = (20 << 20) / 16;  // three pieces in each group: written by two threads
constexpr Mode kModes[] = {{0, kSmall}, {EXDEV, kSmall}};

class Kills : public ::testing::Test {
 protected:
  Kills()
      : expected_(new (mmap(nullptr, sizeof(Expected), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Expected) {}
  ~Kills() override {
    std::printf("%lld kills\n", static_cast<long long>(kills_));
    munmap(expected_, sizeof(Expected));
  }

  // A process that writes until it is killed; whether it was.
  bool Run(const std::string& folder, const Mode& mode, int64_t calls) {
    const pid_t pid = fork();
    if (pid == 0) {
      try {
        // Syncs are for power cuts; without, many more kills fit in a second.
        LyingFileSystem files(RealFileSystem());
        WriteUntil(files, folder, *expected_, mode.rename_error, mode.rows, calls,
                   [] { kill(getpid(), SIGKILL); });
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    EXPECT_TRUE(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << status;
    kills_ += killed;
    return killed;
  }

  Expected* const expected_;
  int64_t kills_ = 0;
};

TEST_F(Kills, AtEachCallInTurn) {
  for (const Mode& mode : kModes) {
    const ScratchFolder scratch("crash");
    const std::string folder = scratch.File("checkpoints");
    new (expected_) Expected;
    const int64_t before = kills_;
    for (int64_t calls = 1; Run(folder, mode, calls); ++calls) {
      ASSERT_EQ(Check(RealFileSystem(), folder, *expected_, mode.rows), "") << calls;
      ASSERT_EQ(CheckAll(RealFileSystem(), folder), "") << calls;
    }
    EXPECT_GT(kills_ - before, 60);
    EXPECT_GE(expected_->completed, 3);
  }
}

TEST_F(Kills, AtRandom) {
  constexpr int kRuns = 40;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Seeds(4); ++seed) {
    std::mt19937_64 random(seed);
    const Mode& mode = kModes[seed % std::size(kModes)];
    const ScratchFolder scratch("crash");
    const std::string folder = scratch.File("checkpoints");
    new (expected_) Expected;
    for (int run = 0; run < kRuns; ++run) {
      Run(folder, mode, 1 + static_cast<int64_t>(random() % 100));
      ASSERT_EQ(Check(RealFileSystem(), folder, *expected_, mode.rows), "")
          << "FLATOUT_CRASH_SEED=" << seed << ", run " << run;
      ASSERT_EQ(CheckAll(RealFileSystem(), folder), "") << "FLATOUT_CRASH_SEED=" << seed;
    }
  }
  EXPECT_GT(kills_, Seeds(4) * kRuns / 2);
}

TEST_F(Kills, WhileTwoThreadsWrite) {
  for (const int rename_error : {0, EXDEV}) {
    const ScratchFolder scratch("crash");
    const std::string folder = scratch.File("checkpoints");
    new (expected_) Expected;
    // Past Prepare, within the first snapshot's writes.
    for (int64_t calls = 10; calls < 22; ++calls) {
      ASSERT_TRUE(Run(folder, {rename_error, kLarge}, calls));
      ASSERT_EQ(Check(RealFileSystem(), folder, *expected_, kLarge), "") << calls;
      ASSERT_EQ(CheckAll(RealFileSystem(), folder), "") << calls;
    }
  }
}

// --- power ---------------------------------------------------------------------------------------

// Writes, loses power at call number `calls` (or is killed only: `power` stays), comes up again;
// whether it came so far.
bool RunAndCut(MemoryFileSystem& disk, FileSystem& seen, Expected& expected, const Mode& mode,
               int64_t calls, bool power, std::mt19937_64& random) {
  bool cut = false;
  try {
    WriteUntil(seen, "/checkpoints", expected, mode.rename_error, mode.rows, calls, [&] {
      cut = true;
      disk.CutPower();
    });
  } catch (const FileError& error) {
    EXPECT_TRUE(cut) << error.what();
  }
  if (power) {
    disk.PowerOn();
  } else {
    disk.Reboot(random);
  }
  return cut;
}

TEST(PowerCuts, AtEachCallInTurn) {
  int64_t cuts = 0;
  for (const Mode& mode : kModes) {
    for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Seeds(20); ++seed) {
      std::mt19937_64 random(seed);
      MemoryFileSystem disk;
      Expected expected;
      for (int64_t calls = 1; RunAndCut(disk, disk, expected, mode, calls, false, random);
           ++calls) {
        ++cuts;
        ASSERT_EQ(Check(disk, "/checkpoints", expected, mode.rows), "")
            << "FLATOUT_CRASH_SEED=" << seed << ", call " << calls;
      }
    }
  }
  EXPECT_GT(cuts, static_cast<int64_t>(Seeds(20)) * 120);
}

TEST(PowerCuts, AtRandom) {
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Seeds(100); ++seed) {
    std::mt19937_64 random(seed);
    const Mode& mode = kModes[seed % std::size(kModes)];
    MemoryFileSystem disk;
    Expected expected;
    for (int run = 0; run < 30; ++run) {
      RunAndCut(disk, disk, expected, mode, 1 + static_cast<int64_t>(random() % 100),
                random() % 3 == 0, random);
      ASSERT_EQ(Check(disk, "/checkpoints", expected, mode.rows), "")
          << "FLATOUT_CRASH_SEED=" << seed << ", run " << run;
    }
  }
}

// A disk that leaves out one of the syncs loses snapshots, and these tests see it: each is needed.
TEST(PowerCuts, EachSyncIsNeeded) {
  struct Case {
    std::string name;
    int rename_error;
    LyingFileSystem::Lies lies;
  };
  const auto file = [](const std::string& name) {
    return [name](Call call, const std::string& path) {
      return call == Call::kSync && path.ends_with("/" + name);
    };
  };
  const auto folder = [](const std::string& prefix) {
    return [prefix](Call call, const std::string& path) {
      return call == Call::kSyncFolder && path.starts_with("/checkpoints" + prefix);
    };
  };
  const auto store = [](Call call, const std::string& path) {
    return call == Call::kSyncFolder && path == "/checkpoints";
  };
  const std::vector<Case> cases = {{"weights", 0, file("weights.safetensors")},
                                   {"state", 0, file("state.json")},
                                   {"manifest", 0, file("manifest.json")},
                                   {"temporary folder", 0, folder("/tmp-")},
                                   {"store", 0, store},
                                   {"weights in place", EXDEV, file("weights.safetensors")},
                                   {"manifest in place", EXDEV, file("manifest.json")},
                                   {"folder in place", EXDEV, folder("/step-")},
                                   {"store in place", EXDEV, store}};
  for (const Case& one : cases) {
    int64_t lost = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      std::mt19937_64 random(seed);
      MemoryFileSystem disk;
      LyingFileSystem seen(disk, one.lies);
      Expected expected;
      for (int run = 0; run < 10; ++run) {
        RunAndCut(disk, seen, expected, {one.rename_error, kSmall},
                  1 + static_cast<int64_t>(random() % 100), false, random);
        if (Check(disk, "/checkpoints", expected, kSmall).empty()) continue;
        ++lost;
        break;
      }
    }
    EXPECT_GT(lost, 0) << one.name;
  }
}

}  // namespace
}  // namespace flatout::checkpoint
