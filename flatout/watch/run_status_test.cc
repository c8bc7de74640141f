#include "flatout/watch/run_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace flatout::watch {
namespace {

RunPoint At(int64_t step, double seconds) {
  RunPoint point;
  point.step = step;
  point.seconds = seconds;
  return point;
}

TEST(RunHistory, KeepsAllWhileTheyAreFew) {
  RunHistory history(10);
  for (int i = 0; i < 10; ++i) history.Add(At(i, i));
  ASSERT_EQ(history.points().size(), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(history.points()[i].step, i);
}

TEST(RunHistory, StaysSmallEvenAndUpToDate) {
  for (const size_t most : {2u, 3u, 10u, 11u}) {
    RunHistory history(most);
    for (int i = 0; i < 5000; ++i) {
      history.Add(At(i, i));
      const auto& points = history.points();
      ASSERT_LE(points.size(), most + 1) << i;
      ASSERT_EQ(points.front().step, 0) << i;
      ASSERT_EQ(points.back().step, i);
      // As far from each other, but for the last.
      for (size_t k = 2; k + 1 < points.size(); ++k) {
        ASSERT_EQ(points[k].step - points[k - 1].step, points[1].step - points[0].step) << i;
      }
      if (i > 100 && most > 3) ASSERT_GE(points.size(), most / 2) << i;
    }
  }
}

RunStatus Training() {
  RunStatus status;
  status.state = "training";
  status.epochs = 10;
  status.steps_per_epoch = 100;
  return status;
}

TEST(RunStatus, Progress) {
  RunStatus status = Training();
  EXPECT_EQ(status.epochs_done(), 0);
  EXPECT_EQ(status.progress(), 0);
  status.step = 250;
  status.epoch = 3;
  status.step_in_epoch = 50;
  EXPECT_DOUBLE_EQ(status.epochs_done(), 2.5);
  EXPECT_DOUBLE_EQ(*status.progress(), 0.25);
  status.max_steps = 500;
  EXPECT_EQ(status.steps_in_all(), 500);
  EXPECT_DOUBLE_EQ(*status.progress(), 0.5);
  status.max_steps.reset();
  status.steps_per_epoch.reset();  // a stream
  EXPECT_FALSE(status.progress());
  EXPECT_DOUBLE_EQ(status.epochs_done(), 2);
  status.state = "done";
  EXPECT_EQ(status.progress(), 1);
  EXPECT_FALSE(status.alive());
}

TEST(Eta, ByThePaceOfLate) {
  RunStatus status = Training();
  EXPECT_FALSE(EstimateEta(status));
  // Ten steps a second, later one.
  for (int i = 0; i <= 20; ++i) status.history.Add(At(i * 10, i));
  status.step = 200;
  EXPECT_NEAR(*EstimateEta(status), 80, 1e-9);
  for (int i = 1; i <= 100; ++i) status.history.Add(At(200 + i, 20 + i));
  status.step = 300;
  EXPECT_NEAR(*EstimateEta(status), 700, 1e-9);
  status.state = "done";
  EXPECT_FALSE(EstimateEta(status));
}

TEST(Eta, WithoutAPaceOrAnEnd) {
  RunStatus status = Training();
  status.history.Add(At(5, 10));
  status.history.Add(At(5, 20));  // stands still
  EXPECT_FALSE(EstimateEta(status));
  status.history.Add(At(6, 3));  // a clock that went back
  EXPECT_FALSE(EstimateEta(status));
  status.history.Add(At(50, 60));
  EXPECT_TRUE(EstimateEta(status));
  status.steps_per_epoch.reset();
  EXPECT_FALSE(EstimateEta(status));
}

TEST(RunStatus, LogAndEpochsHaveAnEnd) {
  RunStatus status;
  for (int i = 0; i < 10000; ++i) {
    AddLogLine(status, std::to_string(i));
    AddEpoch(status, {.epoch = i});
  }
  EXPECT_EQ(status.log.size(), kLogLines);
  EXPECT_EQ(status.log.back(), "9999");
  EXPECT_EQ(status.epoch_history.size(), kMostEpochs);
  EXPECT_EQ(status.epoch_history.back().epoch, 9999);
}

TEST(StatusBoard, ReadersGetWholeStatuses) {
  std::atomic<int> refreshed = 0;
  StatusBoard board([&](RunStatus& status) {
    ++refreshed;
    status.uptime_seconds = 7;
  });
  EXPECT_EQ(board.Read().state, "starting");
  std::atomic<bool> end = false;
  std::thread reader([&] {
    while (!end) {
      const RunStatus status = board.Read();
      EXPECT_EQ(status.step, status.samples);
      EXPECT_EQ(status.name, std::string(static_cast<size_t>(status.step % 50), 'x'));
    }
  });
  RunStatus status;
  for (int i = 0; i < 2000; ++i) {
    status.step = status.samples = i;
    status.name = std::string(static_cast<size_t>(i % 50), 'x');
    board.Publish(status);
  }
  end = true;
  reader.join();
  EXPECT_EQ(board.Read().step, 1999);
  EXPECT_EQ(board.Read().uptime_seconds, 7);
  EXPECT_GT(refreshed, 2);
}

}  // namespace
}  // namespace flatout::watch
