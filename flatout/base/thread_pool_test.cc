#include "flatout/base/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "flatout/base/error.h"

namespace flatout {
namespace {

TEST(ThreadPool, SubmitReturnsTheValue) {
  ThreadPool pool(3);
  EXPECT_EQ(pool.size(), 3);
  std::vector<std::future<int>> results;
  for (int i = 0; i < 100; ++i) results.push_back(pool.Submit([i] { return i * i; }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(results[static_cast<size_t>(i)].get(), i * i);
}

TEST(ThreadPool, TasksMayBeMoveOnly) {
  ThreadPool pool(1);
  auto value = std::make_unique<int>(5);
  EXPECT_EQ(pool.Submit([value = std::move(value)] { return *value; }).get(), 5);
}

TEST(ThreadPool, ExceptionsReachTheFuture) {
  ThreadPool pool(1);
  auto failed = pool.Submit([]() -> int { throw BadData("record 7 is torn"); });
  EXPECT_THROW(failed.get(), DataError);
  EXPECT_EQ(pool.Submit([] { return 1; }).get(), 1) << "the thread goes on after an exception";
}

TEST(ThreadPool, ParallelForCoversEachIndexOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
      pool.ParallelFor(count, [&](int64_t i) { ++hits[static_cast<size_t>(i)]; });
      for (const auto& hit : hits) ASSERT_EQ(hit.load(), 1);
    }
  }
}

TEST(ThreadPool, ParallelForUsesThePoolsThreads) {
  ThreadPool pool(1);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::promise<void> both;
  std::shared_future<void> met = both.get_future().share();
  // Each of the two indices waits until the other has begun: one thread alone would never end.
  pool.ParallelFor(2, [&](int64_t) {
    bool last = false;
    {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
      last = ids.size() == 2;
    }
    if (last) both.set_value();
    met.wait();
  });
  EXPECT_EQ(ids.size(), 2U);
}

TEST(ThreadPool, ParallelForThrowsTheFirstExceptionAndStopsEarly) {
  ThreadPool pool(2);
  std::atomic<int64_t> ran = 0;
  try {
    pool.ParallelFor(1000000, [&](int64_t i) {
      ++ran;
      if (i == 10) throw std::runtime_error("ten");
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "ten");
  }
  const int64_t after = ran;
  EXPECT_GT(after, 10);
  EXPECT_LT(after, 1000000);
  // Nothing runs any more once the call is back: the body's captures may be gone.
  EXPECT_EQ(pool.Submit([&] { return ran.load(); }).get(), after);
}

TEST(ThreadPool, EveryBodyMayThrow) {
  ThreadPool pool(4);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.ParallelFor(64, [](int64_t) { throw Invalid("each"); }), UserError);
  }
}

TEST(ThreadPool, ParallelForMayNest) {
  ThreadPool pool(2);
  std::atomic<int> inner = 0;
  pool.ParallelFor(8, [&](int64_t) { pool.ParallelFor(8, [&](int64_t) { ++inner; }); });
  EXPECT_EQ(inner, 64);
}

TEST(ThreadPool, DestructionDropsWhatHasNotBegun) {
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::future<void> dropped;
  std::thread opener;
  {
    ThreadPool pool(1);
    std::promise<void> began;
    pool.Submit([&began, open] {
      began.set_value();
      open.wait();
    });
    began.get_future().wait();
    dropped = pool.Submit([] {});
    opener = std::thread([&] {
      // The destructor has emptied the queue when the dropped task's promise is broken.
      dropped.wait();
      gate.set_value();
    });
  }
  opener.join();
  EXPECT_THROW(dropped.get(), std::future_error);
}

TEST(ThreadPool, NeedsAThread) { EXPECT_THROW(ThreadPool(0), InternalError); }

}  // namespace
}  // namespace flatout
