#include "flatout/data/prefetch.h"

#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::HasSubstr;

// Record i holds i. Reading a record at or above `bad` fails; reads wait while the gate is shut.
class GatedSource : public Source {
 public:
  explicit GatedSource(int64_t size, int64_t bad = -1) : size_(size), bad_(bad) {}
  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }
  void Read(ReadContext& context, int64_t, std::span<const int64_t> indices,
            Block& out) const override {
    const ReadContext::Stage stage(context, stage_, static_cast<int64_t>(indices.size()));
    {
      std::unique_lock lock(mutex_);
      ++reads_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return open_; });
    }
    for (size_t i = 0; i < indices.size(); ++i) {
      if (bad_ >= 0 && indices[i] >= bad_) throw BadData("record {} is bad", indices[i]);
      out.as<int64_t>(0)[i] = indices[i];
    }
  }
  void Open(bool open) const {
    std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void AwaitReads(int64_t count) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reads_ >= count; });
  }
  int64_t reads() const {
    std::lock_guard lock(mutex_);
    return reads_;
  }

 private:
  int64_t size_, bad_;
  std::vector<Field> fields_ = {Field{"id", ir::Shape::Scalar(ir::DType::kI64)}};
  std::string description_ = "gated", stage_ = "read";
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable bool open_ = true;
  mutable int64_t reads_ = 0;
};

LaunchReader Reader(const std::shared_ptr<GatedSource>& source, BatchLayout layout) {
  return LaunchReader(source, layout);
}

std::vector<int64_t> Ids(const Prefetcher::Item& item) {
  auto values = item.host->Values<int64_t>("id");
  return {values.begin(), values.begin() + item.plan.rows};
}

TEST(Prefetcher, OrderForAnyThreadsAndDepth) {
  auto source = std::make_shared<GatedSource>(101);
  for (int workers : {1, 2, 5}) {
    for (int depth : {1, 3, 16}) {
      LaunchReader reader = Reader(source, {.steps_per_launch = 3, .rows = 4});
      Prefetcher prefetcher(reader, reader.Start(),
                            {.depth = depth, .workers = workers, .end_epoch = 3});
      std::vector<int64_t> ids, expected;
      for (int64_t i = 0; i < 303; ++i) expected.push_back(i % 101);
      int ends = 0;
      while (auto item = prefetcher.Next()) {
        for (int64_t id : Ids(*item)) ids.push_back(id);
        ends += item->plan.ends_epoch;
      }
      EXPECT_EQ(ids, expected) << workers << " " << depth;
      EXPECT_EQ(ends, 3);
      EXPECT_FALSE(prefetcher.Next());
      const EngineStats stats = prefetcher.stats();
      EXPECT_EQ(stats.items, 27);
      EXPECT_EQ(stats.records, 303);
      EXPECT_EQ(stats.depth, depth);
      EXPECT_GE(stats.fill, 0);
      EXPECT_LE(stats.fill, 1);
      EXPECT_EQ(stats.stages.at("read").records, 303);
      EXPECT_GT(stats.stages.at("read").seconds, 0);
      EXPECT_GT(stats.stages.at("assemble").seconds, 0);
    }
  }
}

TEST(Prefetcher, StartsAnywhere) {
  auto source = std::make_shared<GatedSource>(10);
  LaunchReader reader = Reader(source, {.rows = 4});
  Prefetcher prefetcher(reader, {0, 1, 7, 10, {}}, {.end_epoch = 3});
  EXPECT_THAT(Ids(*prefetcher.Next()), ::testing::ElementsAre(7, 8, 9));
  EXPECT_THAT(Ids(*prefetcher.Next()), ::testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THROW(Prefetcher(reader, {0, 0, 0, 9, {}}, {}), UserError);
  EXPECT_THROW(Prefetcher(reader, reader.Start(), {.depth = -1}), UserError);
}

// The next epoch's launches are read before this epoch's are asked for, and no more than `depth`.
TEST(Prefetcher, AheadOverTheEpochBorderAndBounded) {
  auto source = std::make_shared<GatedSource>(4);
  LaunchReader reader = Reader(source, {.rows = 4});
  Prefetcher prefetcher(reader, reader.Start(), {.depth = 3, .workers = 2});
  source->AwaitReads(3);
  EXPECT_EQ(prefetcher.Next()->plan.epoch, 0);
  source->AwaitReads(4);
  // Nothing lets the workers go further: the fifth launch may not begin.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(source->reads(), 4);
}

TEST(Prefetcher, BoundedByBytes) {
  auto source = std::make_shared<GatedSource>(1000);
  LaunchReader reader = Reader(source, {.rows = 10});
  int64_t one = reader.launch_bytes();
  EXPECT_EQ(one, 120);
  for (const int64_t budget : {3 * one, int64_t{1}, 100 * one}) {
    Prefetcher prefetcher(reader, reader.Start(),
                          {.depth = 8, .bytes = budget, .workers = 2, .end_epoch = 1});
    int64_t rows = 0;
    while (auto item = prefetcher.Next()) rows += item->plan.rows;
    EXPECT_EQ(rows, 1000);
    // One is made whatever it takes.
    EXPECT_LE(prefetcher.stats().most_bytes, std::max(one, std::min(budget, 8 * one)));
    EXPECT_EQ(prefetcher.stats().budget, budget);
  }
}

TEST(Prefetcher, HostMemoryIsReused) {
  auto source = std::make_shared<GatedSource>(1000);
  LaunchReader reader = Reader(source, {.rows = 1});
  Prefetcher prefetcher(reader, reader.Start(), {.depth = 2, .workers = 1, .end_epoch = 1});
  std::set<const std::byte*> seen;
  while (auto item = prefetcher.Next()) seen.insert(item->host->data(0, 0));
  // Two ahead, one being used, and one that came back too late.
  EXPECT_LE(seen.size(), 4u);
}

TEST(Prefetcher, LaunchesOutliveIt) {
  auto source = std::make_shared<GatedSource>(8);
  LaunchReader reader = Reader(source, {.rows = 4});
  std::optional<Prefetcher::Item> item;
  {
    Prefetcher prefetcher(reader, reader.Start(), {});
    item = prefetcher.Next();
  }
  EXPECT_THAT(Ids(*item), ::testing::ElementsAre(0, 1, 2, 3));
}

TEST(Prefetcher, ErrorComesInItsPlace) {
  for (int workers : {1, 4}) {
    auto source = std::make_shared<GatedSource>(100, 50);
    LaunchReader reader = Reader(source, {.rows = 4});
    Prefetcher prefetcher(reader, reader.Start(), {.depth = 6, .workers = workers});
    for (int i = 0; i < 12; ++i) EXPECT_EQ(Ids(*prefetcher.Next())[0], 4 * i);
    for (int again = 0; again < 2; ++again) {
      EXPECT_THAT(testing::MessageOf<DataError>([&] { prefetcher.Next(); }),
                  HasSubstr("record 50 is bad"));
    }
  }
}

TEST(Prefetcher, UploadErrorReachesTheConsumer) {
  auto source = std::make_shared<GatedSource>(100);
  LaunchReader reader = Reader(source, {.rows = 4});
  Prefetcher throwing(reader, reader.Start(), {}, [](auto, const auto&) -> std::shared_ptr<void> {
    throw Invalid("no room on the device");
  });
  EXPECT_THROW(throwing.Next(), UserError);
  // One that fails after it was handed over.
  std::shared_ptr<Prefetcher::TransferLog> kept;
  Prefetcher late(reader, reader.Start(), {.depth = 1}, [&](auto host, const auto& log) {
    if (!kept) kept = log;  // from the first launch; the test reads it after that one
    return std::static_pointer_cast<void>(host);
  });
  ASSERT_TRUE(late.Next());
  kept->Add(1.5);
  kept->Fail(std::make_exception_ptr(Invalid("lost")));
  EXPECT_THROW(late.Next(), UserError);
  EXPECT_GE(late.stats().stages.at("transfer").seconds, 1.5);
}

// A transfer may be over late, on a thread of the very device that `upload` holds.
TEST(Prefetcher, TransfersUnderWayDoNotHoldTheDevice) {
  auto device = std::make_shared<int>();
  const std::weak_ptr<int> alive = device;
  std::shared_ptr<Prefetcher::TransferLog> under_way;
  {
    LaunchReader reader = Reader(std::make_shared<GatedSource>(100), {.rows = 4});
    Prefetcher prefetcher(reader, reader.Start(), {.depth = 1},
                          [&, device = std::move(device)](auto host, const auto& log) {
                            if (!under_way) under_way = log;
                            return std::static_pointer_cast<void>(host);
                          });
    ASSERT_TRUE(prefetcher.Next());
    EXPECT_FALSE(alive.expired());
  }
  EXPECT_TRUE(alive.expired());
  under_way->Add(1);
}

TEST(Prefetcher, StopWhileTheConsumerWaits) {
  auto source = std::make_shared<GatedSource>(100);
  source->Open(false);
  LaunchReader reader = Reader(source, {.rows = 4});
  Prefetcher prefetcher(reader, reader.Start(), {.workers = 2});
  source->AwaitReads(2);
  std::optional<Prefetcher::Item> item = std::nullopt;
  std::atomic<bool> returned = false;
  std::thread consumer([&] {
    item = prefetcher.Next();
    returned = true;
  });
  std::thread stopper([&] { prefetcher.Stop(); });
  // The consumer comes back although the reads still hang.
  consumer.join();
  EXPECT_TRUE(returned);
  EXPECT_FALSE(item);
  source->Open(true);
  stopper.join();
  EXPECT_FALSE(prefetcher.Next());
}

TEST(Prefetcher, StopWhileTheWorkersAreFull) {
  auto source = std::make_shared<GatedSource>(100);
  LaunchReader reader = Reader(source, {.rows = 4});
  Prefetcher prefetcher(reader, reader.Start(), {.depth = 2, .workers = 2});
  source->AwaitReads(2);
  prefetcher.Stop();
  prefetcher.Stop();
  EXPECT_FALSE(prefetcher.Next());
}

}  // namespace
}  // namespace flatout::data
