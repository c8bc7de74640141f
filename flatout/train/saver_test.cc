// When snapshots are made, and what is done about one under way when time is short.
#include "flatout/train/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "flatout/checkpoint/testing.h"

namespace flatout::train {
namespace {

using checkpoint::Call;
using checkpoint::FaultFileSystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SaverTest : public ::testing::Test {
 protected:
  SaverTest() {
    files_.SetHook([](Call call, const std::string&, FaultFileSystem::When when) {
      if (call == Call::kWrite && when == FaultFileSystem::When::kMiddle) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
      }
    });
    saver_.Prepare(1);
    saver_.Save(checkpoint::MakeSnapshot(1), 1);
    saver_.Finish();
    alone_ = saver_.EstimateSeconds(checkpoint::MakeSnapshot(2).bytes()).value();
    saver_.Save(checkpoint::MakeSnapshot(2), 2);
  }
  // The steps that have complete snapshots, the newest first.
  std::vector<int64_t> Steps() const {
    std::vector<int64_t> steps;
    for (const checkpoint::Inspection& one :
         checkpoint::Store(CheckpointFolder(scratch_.path())).List()) {
      if (one.condition == checkpoint::Condition::kComplete) steps.push_back(one.info.step);
    }
    return steps;
  }

  checkpoint::ScratchFolder scratch_{"saver"};
  FaultFileSystem files_;
  std::vector<std::string> said_;
  Saver saver_{scratch_.path(), CheckpointOptions{.every_steps = 1000, .keep_last = 5},
               [this](const std::string& line) { said_.push_back(line); }, files_};
  double alone_ = 0;  // seconds that a snapshot takes
};

TEST_F(SaverTest, WithTimeBothAreSaved) {
  saver_.SaveNow(checkpoint::MakeSnapshot(3), 3, 1000);
  EXPECT_THAT(Steps(), ElementsAre(3, 2, 1));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(SaverTest, WhereOnlyOneFitsItIsTheLast) {
  const double both = saver_.EstimateSeconds(checkpoint::MakeSnapshot(3).bytes()).value();
  ASSERT_GT(both, alone_);
  saver_.SaveNow(checkpoint::MakeSnapshot(3), 3, alone_);
  EXPECT_THAT(Steps(), ElementsAre(3, 1));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("that of step 2 is given up for that of step 3")));
  EXPECT_EQ(saver_.stats().failures, 0);
  EXPECT_EQ(saver_.stats().error, "");
}

// The one under way is the better bet.
TEST_F(SaverTest, WhereNoneFitsNothingIsGivenUp) {
  saver_.SaveNow(checkpoint::MakeSnapshot(3), 3, alone_ / 1000);
  EXPECT_THAT(Steps(), ElementsAre(3, 2, 1));
  EXPECT_THAT(said_, IsEmpty());
}

// Steps beside a save are compared with steps without one, all of them together.
TEST_F(SaverTest, SlownessIsSummedUpOverASave) {
  saver_.Finish();
  saver_.NoteSteps(1, 1.0);  // the save had ended
  files_.SetHook({});
  checkpoint::ScratchFolder scratch("saver");
  std::atomic<bool> go_on = false;
  files_.SetHook([&](Call call, const std::string&, FaultFileSystem::When) {
    while (call == Call::kWrite && !go_on) std::this_thread::yield();
  });
  Saver saver(
      scratch.path(), {}, [](const std::string&) {}, files_);
  EXPECT_EQ(saver.NoteSteps(10, 1.0), 0);  // 0.1 s a step
  saver.Save(checkpoint::MakeSnapshot(1), 1);
  EXPECT_EQ(saver.NoteSteps(1, 0.05), 0);
  EXPECT_EQ(saver.NoteSteps(1, 0.20), 0);
  EXPECT_EQ(saver.NoteSteps(2, 0.30), 0);
  go_on = true;
  saver.Finish();
  EXPECT_NEAR(saver.NoteSteps(1, 0.1), 0.15, 1e-9);
  EXPECT_NEAR(saver.stats().slowed, 0.15, 1e-9);
  EXPECT_EQ(saver.NoteSteps(1, 0.2), 0);
  EXPECT_NEAR(saver.stats().slowed, 0.15, 1e-9);
  // One that is over before the first step beside it is, slows that step.
  saver.Save(checkpoint::MakeSnapshot(2), 2);
  saver.Finish();
  EXPECT_NEAR(saver.NoteSteps(1, 0.21), 0.1, 1e-9);  // 0.11 s a step by now
  EXPECT_EQ(saver.NoteSteps(1, 0.3), 0);
  // A save beside which steps were faster than others takes back what was noise.
  saver.Save(checkpoint::MakeSnapshot(3), 3);
  saver.Finish();
  EXPECT_EQ(saver.NoteSteps(2, 0.058), 0);  // 0.2 s less than usual
  saver.Save(checkpoint::MakeSnapshot(4), 4);
  saver.Finish();
  EXPECT_EQ(saver.NoteSteps(1, 0.229), 0);  // 0.1 s more
  EXPECT_NEAR(saver.stats().slowed, 0.25, 1e-9);
}

}  // namespace
}  // namespace flatout::train
