#include "flatout/checkpoint/async_saver.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <future>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "flatout/checkpoint/testing.h"

namespace flatout::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using When = FaultFileSystem::When;
using WhenBusy = AsyncSaver::WhenBusy;

class AsyncSaverTest : public ::testing::Test {
 protected:
  AsyncSaverTest() : store_(scratch_.File("checkpoints"), files_) { store_.Prepare(); }

  SaverOptions Options() {
    SaverOptions options;
    options.done = [this](const SaveResult& result) {
      const std::lock_guard lock(mutex_);
      results_.push_back(result);
    };
    return options;
  }
  std::vector<SaveResult> Results() const {
    const std::lock_guard lock(mutex_);
    return results_;
  }
  // One whose copying out begins only when `go` is there.
  static Snapshot Held(int64_t step, std::shared_ptr<std::latch> go, int64_t rows = 5) {
    Snapshot snapshot = MakeSnapshot(step, rows);
    auto& read = snapshot.groups[0].tensors[0].read;
    read = [go, under = read](int64_t offset, std::span<std::byte> to) {
      go->wait();
      under(offset, to);
    };
    return snapshot;
  }
  int64_t Newest() const {
    const checkpoint::Newest newest = store_.LoadNewest();
    if (!newest.snapshot) return -1;
    EXPECT_EQ(Difference(*newest.snapshot, newest.snapshot->info.step), "");
    return newest.snapshot->info.step;
  }

  ScratchFolder scratch_;
  FaultFileSystem files_;
  Store store_;
  mutable std::mutex mutex_;
  std::vector<SaveResult> results_;
};

TEST_F(AsyncSaverTest, HandsOverAndGoesOn) {
  AsyncSaver saver(store_, Options());
  EXPECT_FALSE(saver.busy());
  EXPECT_FALSE(saver.EstimateSeconds(100));
  auto go = std::make_shared<std::latch>(1);
  EXPECT_TRUE(saver.Save(Held(1, go), WhenBusy::kSkip));
  // The disk has nothing yet, and we are here.
  EXPECT_TRUE(saver.busy());
  EXPECT_EQ(Newest(), -1);
  EXPECT_FALSE(saver.Save(MakeSnapshot(2), WhenBusy::kSkip));
  EXPECT_FALSE(saver.Wait(0.01));
  EXPECT_TRUE(saver.status().busy);
  EXPECT_EQ(saver.status().step, 1);
  go->count_down();
  EXPECT_TRUE(saver.Wait());
  EXPECT_FALSE(saver.busy());
  EXPECT_EQ(Newest(), 1);
  ASSERT_THAT(Results(), SizeIs(1));
  const SaveResult result = Results()[0];
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.step, 1);
  EXPECT_EQ(result.path, store_.folder() + "/step-000000001");
  EXPECT_GT(result.bytes, 0);
  EXPECT_GE(result.seconds, result.copy_seconds);
  EXPECT_GT(result.write_seconds, 0);
}

// A disk that hangs: whoever saves and looks does not.
TEST_F(AsyncSaverTest, ASlowDiskIsNotWaitedFor) {
  std::latch go(1);
  files_.SetHook([&](Call call, const std::string&, When when) {
    if (call == Call::kSync && when == When::kBefore) go.wait();
  });
  AsyncSaver saver(store_, Options());
  EXPECT_TRUE(saver.Save(MakeSnapshot(1), WhenBusy::kSkip));
  while (saver.status().bytes_done == 0) std::this_thread::yield();
  EXPECT_FALSE(saver.Save(MakeSnapshot(2), WhenBusy::kSkip));
  EXPECT_FALSE(saver.Wait(0));
  EXPECT_EQ(saver.status().saves, 0);
  EXPECT_EQ(Newest(), -1);
  go.count_down();
  EXPECT_TRUE(saver.Wait());
  EXPECT_EQ(Newest(), 1);
}

TEST_F(AsyncSaverTest, ASecondOneWaits) {
  AsyncSaver saver(store_, Options());
  auto go = std::make_shared<std::latch>(1);
  saver.Save(Held(1, go), WhenBusy::kWait);
  std::future<bool> second =
      std::async(std::launch::async, [&] { return saver.Save(MakeSnapshot(2), WhenBusy::kWait); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  go->count_down();
  EXPECT_TRUE(second.get());
  EXPECT_TRUE(saver.Wait());
  EXPECT_EQ(Newest(), 2);
  EXPECT_EQ(saver.status().saves, 2);
}

TEST_F(AsyncSaverTest, ItsEndWaits) {
  auto go = std::make_shared<std::latch>(1);
  std::jthread later;
  {
    AsyncSaver saver(store_, Options());
    saver.Save(Held(1, go), WhenBusy::kWait);
    later = std::jthread([&] { go->count_down(); });
  }
  EXPECT_EQ(Newest(), 1);
}

TEST_F(AsyncSaverTest, SourcesAreLetGo) {
  AsyncSaver saver(store_, Options());
  auto kept = std::make_shared<int>(1);
  Snapshot snapshot = MakeSnapshot(1);
  auto& read = snapshot.groups[0].tensors[0].read;
  read = [kept, under = read](int64_t offset, std::span<std::byte> to) { under(offset, to); };
  saver.Save(std::move(snapshot), WhenBusy::kWait);
  saver.Wait();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(AsyncSaverTest, FailuresAreReportedAndOver) {
  AsyncSaver saver(store_, Options());
  saver.Save(MakeSnapshot(1), WhenBusy::kWait);
  saver.Wait();
  for (const int error : {ENOSPC, EIO}) {
    files_.SetHook([&](Call call, const std::string& path, When when) {
      if (call == Call::kWrite && when == When::kMiddle) throw FileError("write", path, error);
    });
    saver.Save(MakeSnapshot(2), WhenBusy::kWait);
    saver.Wait();
    const SaverStatus status = saver.status();
    EXPECT_THAT(status.last_error,
                AllOf(HasSubstr("weights.safetensors"), HasSubstr(strerror(error))));
    EXPECT_FALSE(Results().back().ok);
    EXPECT_EQ(Results().back().no_space, error == ENOSPC);
    EXPECT_EQ(Results().back().error, status.last_error);
    EXPECT_EQ(Newest(), 1);
  }
  files_.SetHook(nullptr);
  saver.Save(MakeSnapshot(3), WhenBusy::kWait);
  saver.Wait();
  EXPECT_EQ(Newest(), 3);
  EXPECT_THAT(saver.status().last_error, IsEmpty());
  EXPECT_EQ(saver.status().saves, 2);
  EXPECT_EQ(saver.status().failures, 2);
}

TEST_F(AsyncSaverTest, WhateverIsThrownIsReported) {
  SaverOptions options = Options();
  options.done = [inner = options.done](const SaveResult& result) {
    inner(result);
    throw std::runtime_error("from the callback");
  };
  AsyncSaver saver(store_, std::move(options));
  const std::vector<std::pair<std::function<void()>, std::string>> cases = {
      {[] { throw UserError(Code::kUnavailable, "the device is gone"); }, "the device is gone"},
      {[] { throw std::runtime_error("something"); }, "something"},
      {[] { throw std::bad_alloc(); }, "out of memory"},
      {[] { throw 5; }, "unknown"}};
  for (const int64_t rows : {int64_t{5}, int64_t{3} << 20}) {
    for (const auto& [act, message] : cases) {
      Snapshot snapshot = MakeSnapshot(1);
      snapshot.groups[1].tensors.push_back({"bad", ir::Shape(ir::DType::kF32, {rows}),
                                            [act](int64_t, std::span<std::byte>) { act(); }});
      saver.Save(std::move(snapshot), WhenBusy::kWait);
      saver.Wait();
      EXPECT_THAT(saver.status().last_error, HasSubstr(message));
    }
  }
  EXPECT_EQ(saver.status().failures, 8);
  EXPECT_THAT(RealFileSystem().List(store_.folder()), IsEmpty());
}

TEST_F(AsyncSaverTest, OldOnesAreRemoved) {
  SaverOptions options = Options();
  options.retention = {.keep_last = 2, .keep_best = false};
  AsyncSaver saver(store_, std::move(options));
  for (int64_t step = 1; step <= 5; ++step) saver.Save(MakeSnapshot(step), WhenBusy::kWait);
  saver.Wait();
  EXPECT_THAT(RealFileSystem().List(store_.folder()),
              ElementsAre("step-000000004", "step-000000005"));
  EXPECT_THAT(Results().back().notes, IsEmpty());
  EXPECT_THAT(Results().back().removed, ElementsAre(store_.folder() + "/step-000000003"));
}

// A disk with room for two and not for three.
TEST_F(AsyncSaverTest, OldOnesMakeRoom) {
  SaverOptions options = Options();
  options.retention = {.keep_last = 2, .keep_best = false};
  AsyncSaver saver(store_, std::move(options));
  for (int64_t step = 1; step <= 2; ++step) saver.Save(MakeSnapshot(step), WhenBusy::kWait);
  saver.Wait();
  EXPECT_THAT(Results().back().notes, IsEmpty());
  files_.SetFreeBytes(1);
  saver.Save(MakeSnapshot(3), WhenBusy::kWait);
  saver.Wait();
  EXPECT_THAT(RealFileSystem().List(store_.folder()),
              ElementsAre("step-000000002", "step-000000003"));
  EXPECT_THAT(Results().back().removed, ElementsAre(store_.folder() + "/step-000000001"));
  EXPECT_THAT(Results().back().notes, ElementsAre(HasSubstr("too little room")));
}

TEST_F(AsyncSaverTest, CanBeGivenUp) {
  AsyncSaver saver(store_, Options());
  saver.Cancel();  // nothing in flight: nothing happens, now or later
  auto go = std::make_shared<std::latch>(1);
  saver.Save(Held(1, go, 1 << 20), WhenBusy::kWait);
  saver.Cancel();
  go->count_down();
  saver.Wait();
  EXPECT_THAT(saver.status().last_error, HasSubstr("given up"));
  EXPECT_EQ(Newest(), -1);
  saver.Save(MakeSnapshot(2), WhenBusy::kWait);
  saver.Wait();
  EXPECT_EQ(Newest(), 2);
}

TEST_F(AsyncSaverTest, ALimitCanBeLifted) {
  SaverOptions options = Options();
  options.bytes_per_second = 1;  // would take months
  AsyncSaver saver(store_, std::move(options));
  saver.Save(MakeSnapshot(1, 1 << 20), WhenBusy::kWait);
  while (saver.status().bytes_done == 0) std::this_thread::yield();
  EXPECT_FALSE(saver.Wait(0.05));
  EXPECT_GT(saver.status().bytes_total, saver.status().bytes_done);
  saver.SetBytesPerSecond(0);
  EXPECT_TRUE(saver.Wait());
  EXPECT_EQ(saver.status().saves, 1);
}

// At full speed, from what was measured: waiting for a limit is in neither.
TEST_F(AsyncSaverTest, EstimatesHowLongASaveTakes) {
  AsyncSaver saver(store_, Options());
  saver.Save(MakeSnapshot(1), WhenBusy::kWait);
  saver.Wait();
  const SaveResult last = *saver.status().last;
  const double expected = last.copy_seconds + last.write_seconds;
  EXPECT_DOUBLE_EQ(*saver.EstimateSeconds(last.bytes), expected);
  // Fixed costs do not shrink; the rest grows.
  EXPECT_DOUBLE_EQ(*saver.EstimateSeconds(1), expected);
  EXPECT_DOUBLE_EQ(*saver.EstimateSeconds(10 * last.bytes), 10 * expected);
  EXPECT_GT(*saver.status().bytes_per_second, 0);
  // With one in flight its rest is to be written first.
  auto go = std::make_shared<std::latch>(1);
  saver.Save(Held(2, go), WhenBusy::kWait);
  EXPECT_GT(*saver.EstimateSeconds(last.bytes), expected);
  go->count_down();
}

TEST_F(AsyncSaverTest, GivesWayToTraining) {
  AsyncSaver saver(store_, Options());
  const int mine = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
  int in_copy = mine, in_write = mine;
  files_.SetHook([&](Call call, const std::string&, When) {
    if (call == Call::kSync) in_write = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
  });
  Snapshot snapshot = MakeSnapshot(1, 1 << 20);
  auto& read = snapshot.groups[0].tensors[0].read;
  read = [&in_copy, under = read](int64_t offset, std::span<std::byte> to) {
    in_copy = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
    under(offset, to);
  };
  saver.Save(std::move(snapshot), WhenBusy::kWait);
  saver.Wait();
  EXPECT_GT(in_write, mine);
  EXPECT_EQ(in_copy, in_write);
}

}  // namespace
}  // namespace flatout::checkpoint
