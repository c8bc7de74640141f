// Training on disks that do not work: it goes on, with the same results; the last good snapshot
// stays; the user is told when it happens and at the end. A run whose last snapshot is missing
// would do again what it has done, so it does not say that it is done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/small_run.h"

namespace flatout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;

class DiskFaults : public testing::SmallRun {
 protected:
  DiskFaults() { EXPECT_EQ(Run(Train("whole")).exit_code, 0); }

  // A run whose snapshots' disk fails as `plan` says.
  Outcome TrainWithFaults(const std::string& folder, const std::vector<std::string>& plan) const {
    return Run(Train(folder), Faults(folder + "/checkpoints", plan));
  }
  nlohmann::json Saves(const std::string& folder) const { return Summary(folder)["checkpoints"]; }
  void ExpectSameWeights(const std::string& a, const std::string& b) const {
    EXPECT_EQ(testing::ReadAll(Path(a) / "weights.safetensors"),
              testing::ReadAll(Path(b) / "weights.safetensors"));
    EXPECT_EQ(Epochs(a), Epochs(b));
    EXPECT_EQ(Summary(a)["metrics"], Summary(b)["metrics"]);
  }
  static int64_t Count(const std::string& text, const std::string& what) {
    int64_t count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++count;
    }
    return count;
  }
};

struct Fault {
  const char* error;
  const char* calls;
  const char* says;  // of it
  int later;         // the first such call of a later snapshot
};
constexpr Fault kFaults[] = {
    {"ENOSPC", "write", "No space left on device", 30},
    {"EIO", "sync", "Input/output error", 30},
    {"EROFS", "open", "Read-only file system", 15},
    {"EROFS", "mkdir", "Read-only file system", 6},
    {"EACCES", "open", "Permission denied", 15},
};

// From the beginning on: nothing can be saved.
TEST_F(DiskFaults, NothingCanBeSaved) {
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fmt::format("{} at {}", fault.error, fault.calls));
    const std::string folder = fmt::format("{}-{}", fault.error, fault.calls);
    const Outcome outcome = TrainWithFaults(
        folder, {fmt::format("={}", fault.error), fmt::format("_CALLS={}", fault.calls)});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("cannot be saved"), HasSubstr(fault.says)));
    // At the end, too.
    EXPECT_THAT(outcome.out, HasSubstr("27 of 27 could not be saved"));
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("flatout: training is done"),
                                   HasSubstr("weights.safetensors, but the last checkpoint could "
                                             "not be saved"),
                                   HasSubstr("There is no other")));
    EXPECT_EQ(Summary(folder)["status"], "failed");
    EXPECT_EQ(Summary(folder)["exit_code"], 2);
    EXPECT_EQ(Saves(folder)["saved"], 0);
    EXPECT_GT(Saves(folder)["failed"], 5);
    ExpectSameWeights("whole", folder);
  }
}

// After some were saved: the last good one stays, and is gone on from.
TEST_F(DiskFaults, TheLastGoodSnapshotStays) {
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fmt::format("{} at {}", fault.error, fault.calls));
    const std::string folder = fmt::format("{}-{}", fault.error, fault.calls);
    const Outcome outcome = TrainWithFaults(
        folder, {fmt::format("={}", fault.error), fmt::format("_CALLS={}", fault.calls),
                 fmt::format("_FROM={}", fault.later)});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("was not saved"), HasSubstr(fault.says),
                                   HasSubstr("the last good one stays")));
    EXPECT_THAT(outcome.err, HasSubstr("The same command trains again from step "));
    EXPECT_EQ(Summary(folder)["status"], "failed");
    EXPECT_EQ(Count(outcome.err, "was not saved"), 1) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("could not be saved, the last one: "));
    ExpectSameWeights("whole", folder);
    const checkpoint::Newest newest = StoreOf(folder).LoadNewest();
    ASSERT_TRUE(newest.snapshot);
    EXPECT_THAT(newest.skipped, IsEmpty());
    EXPECT_LT(newest.snapshot->info.step, Summary("whole")["steps"]);
    // The disk works again: what is missing is done.
    const Outcome again = Run(Train(folder));
    EXPECT_EQ(again.exit_code, 0) << again.err;
    ExpectSame("whole", folder);
    EXPECT_EQ(Summary(folder)["status"], "done");
  }
}

// For a while only.
TEST_F(DiskFaults, SavingBeginsAgain) {
  const Outcome outcome =
      TrainWithFaults("while", {"=ENOSPC", "_CALLS=write", "_FROM=20", "_COUNT=12"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("was not saved"));
  EXPECT_GT(Saves("while")["failed"], 0);
  EXPECT_GT(Saves("while")["saved"], 0);
  ExpectSame("whole", "while");
}

// Object storage that is mounted as a file system cannot rename folders.
TEST_F(DiskFaults, WithoutRename) {
  const Outcome outcome = TrainWithFaults("mounted", {"=EXDEV", "_CALLS=rename"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_EQ(Saves("mounted")["failed"], 0);
  ExpectSame("whole", "mounted");
}

TEST_F(DiskFaults, Slow) {
  const Outcome outcome = TrainWithFaults("slow", {"=slow"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Saves("slow")["failed"], 0);
  ExpectSame("whole", "slow");
}

// Nor can anything else be written in the run folder: what was learned is lost, which is said, with
// an exit code, and training itself is not disturbed.
TEST_F(DiskFaults, TheWholeRunFolderIsFull) {
  const Outcome outcome =
      Run(Train("full"), Faults("full", {"=ENOSPC", "_CALLS=write", "_FROM=40"}));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("No space left on device"));
  const checkpoint::Newest newest = StoreOf("full").LoadNewest();
  ASSERT_TRUE(newest.snapshot);
  EXPECT_THAT(newest.skipped, IsEmpty());
  // With room again the run goes on.
  const Outcome again = Run(Train("full"));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  ExpectSame("whole", "full");
}

}  // namespace
}  // namespace flatout
