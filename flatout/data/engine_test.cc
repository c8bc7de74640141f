#include "flatout/data/engine.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::HasSubstr;

// Item i is the number i, made of pieces that each add their share.
class NumberJob : public Job {
 public:
  NumberJob(int64_t number, int pieces, int64_t bytes)
      : number(number), pieces_(pieces), bytes_(bytes) {}
  int pieces() const override { return pieces_; }
  void Run(int piece, ReadContext& context) override {
    static const std::string kName = "count";
    const ReadContext::Stage stage(context, kName, 1);
    made.fetch_or(uint64_t{1} << piece);
    if (on_run) on_run(piece);
  }
  void Finish(ReadContext&) override { finished = true; }
  int64_t records() const override { return 1; }
  int64_t bytes() const override { return finished ? bytes_ : 0; }

  const int64_t number;
  std::atomic<uint64_t> made = 0;
  std::atomic<bool> finished = false;
  std::function<void(int)> on_run;

 private:
  const int pieces_;
  const int64_t bytes_;
};

class Numbers : public JobSource {
 public:
  explicit Numbers(int64_t count) : count(count) {}
  std::shared_ptr<Job> Next(ReadContext&) override {
    EXPECT_FALSE(inside.exchange(true)) << "two threads plan at once";
    std::shared_ptr<NumberJob> job;
    if (planned < count) {
      job = std::make_shared<NumberJob>(planned, pieces, bytes ? bytes(planned) : 8);
      if (on_run) {
        job->on_run = [this, number = planned.load()](int piece) { on_run(number, piece); };
      }
      ++planned;
    }
    inside = false;
    return job;
  }
  const int64_t count;
  std::atomic<int64_t> planned = 0;
  int pieces = 1;
  std::function<int64_t(int64_t)> bytes;
  std::function<void(int64_t, int)> on_run;
  std::atomic<bool> inside = false;
};

TEST(Engine, OrderAndPiecesForAnyThreads) {
  for (const int workers : {0, 1, 3, 8}) {
    for (const int depth : {0, 1, 5}) {
      for (const int pieces : {1, 7}) {
        auto numbers = std::make_shared<Numbers>(200);
        numbers->pieces = pieces;
        Engine engine(numbers, {.workers = workers, .depth = depth});
        for (int64_t i = 0; i < 200; ++i) {
          const auto job = std::static_pointer_cast<NumberJob>(engine.Next());
          ASSERT_NE(job, nullptr);
          ASSERT_EQ(job->number, i);
          ASSERT_EQ(job->made, (uint64_t{1} << pieces) - 1);
          ASSERT_TRUE(job->finished);
        }
        EXPECT_EQ(engine.Next(), nullptr);
        EXPECT_EQ(engine.Next(), nullptr);
        const EngineStats stats = engine.stats();
        EXPECT_EQ(stats.items, 200);
        EXPECT_EQ(stats.records, 200);
        EXPECT_EQ(stats.stages.at("count").records, 200 * pieces);
      }
    }
  }
}

// More threads than processors, and pieces of no length: what passed is shared out, never more.
TEST(Engine, TimesOfWorkersNeverExceedWhatPassed) {
  auto numbers = std::make_shared<Numbers>(3000);
  numbers->pieces = 3;
  numbers->on_run = [](int64_t number, int) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(number % 50);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  Engine engine(numbers, {.workers = 16, .depth = 32});
  EngineStats before;
  for (int64_t i = 1; engine.Next() != nullptr; ++i) {
    if (i % 100 != 0) continue;
    const EngineStats now = engine.stats();
    for (const EngineStats& stats : {now, now.Since(before)}) {
      EXPECT_GE(stats.queued, 0);
      EXPECT_LE(stats.cpu + stats.queued, stats.busy + 1e-9);
      double stages = 0;
      for (const auto& [name, stage] : stats.stages) stages += stage.seconds;
      EXPECT_LE(stages, stats.busy + 1e-9);
    }
    before = now;
  }
}

// Items whose size shows only when they are made: never more of them than the budget and one each
// of the workers that began before it was known.
TEST(Engine, BytesAreBounded) {
  auto numbers = std::make_shared<Numbers>(500);
  numbers->bytes = [](int64_t i) { return i % 50 == 0 ? 1000 : 1 + i % 7; };
  Engine engine(numbers, {.workers = 4, .depth = 64, .bytes = 3000});
  int64_t count = 0;
  while (engine.Next()) ++count;
  EXPECT_EQ(count, 500);
  const EngineStats stats = engine.stats();
  EXPECT_LE(stats.most_bytes, 3000);
  EXPECT_EQ(stats.bytes, 0);
}

TEST(Engine, AnItemLargerThanTheBudgetIsMadeAlone) {
  auto numbers = std::make_shared<Numbers>(20);
  numbers->bytes = [](int64_t) { return 5000; };
  Engine engine(numbers, {.workers = 4, .depth = 64, .bytes = 1000});
  int64_t count = 0;
  while (engine.Next()) ++count;
  EXPECT_EQ(count, 20);
}

TEST(Engine, AnErrorComesInItsPlaceAndAgain) {
  for (const int workers : {1, 4}) {
    auto numbers = std::make_shared<Numbers>(100);
    numbers->pieces = 3;
    numbers->on_run = [](int64_t number, int piece) {
      if (number == 40 && piece != 1) throw BadData("number {} is bad", number);
    };
    Engine engine(numbers, {.workers = workers, .depth = 8});
    for (int i = 0; i < 40; ++i) ASSERT_NE(engine.Next(), nullptr);
    for (int again = 0; again < 2; ++again) {
      EXPECT_THAT(testing::MessageOf<DataError>([&] { engine.Next(); }),
                  HasSubstr("number 40 is bad"));
    }
  }
}

TEST(Engine, AnErrorOfPlanningComesInItsPlace) {
  class Failing : public Numbers {
   public:
    using Numbers::Numbers;
    std::shared_ptr<Job> Next(ReadContext& context) override {
      if (planned == 5) throw BadData("no sixth");
      return Numbers::Next(context);
    }
  };
  Engine engine(std::make_shared<Failing>(10), {.workers = 2});
  for (int i = 0; i < 5; ++i) ASSERT_NE(engine.Next(), nullptr);
  EXPECT_THROW(engine.Next(), DataError);
}

TEST(Engine, AFailureFromElsewhereReachesTheConsumer) {
  Engine engine(std::make_shared<Numbers>(1000), {.workers = 2, .depth = 2});
  ASSERT_NE(engine.Next(), nullptr);
  engine.Fail(std::make_exception_ptr(Invalid("lost")));
  EXPECT_THROW(engine.Next(), UserError);
}

TEST(Engine, StopWhileWaiting) {
  std::atomic<bool> hold = true;
  auto numbers = std::make_shared<Numbers>(1000);
  numbers->on_run = [&](int64_t, int) {
    while (hold) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Engine engine(numbers, {.workers = 2});
  std::thread stopper([&] { engine.Stop(); });
  EXPECT_EQ(engine.Next(), nullptr);  // comes back although the pieces still run
  hold = false;
  stopper.join();
  engine.Stop();
}

TEST(Engine, StagesInsideStagesAreNotCountedTwice) {
  static const std::string kOuter = "outer", kInner = "inner";
  ReadContext context;
  {
    const ReadContext::Stage outer(context, kOuter, 3);
    for (int i = 0; i < 2; ++i) {
      ReadContext::Stage inner(context, kInner, 1);
      inner.AddBytes(10);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  const auto times = context.TakeTimes();
  EXPECT_GE(times.at("inner").seconds, 0.04);
  EXPECT_EQ(times.at("inner").bytes, 20);
  EXPECT_EQ(times.at("inner").records, 2);
  EXPECT_LT(times.at("outer").seconds, times.at("inner").seconds);
  EXPECT_EQ(times.at("outer").records, 3);
  EXPECT_TRUE(context.TakeTimes().empty());
}

// Workers that only wait are added until the consumer need not: far more of them than cores.
TEST(Engine, TunesItselfToASlowMedium) {
  auto numbers = std::make_shared<Numbers>(1 << 30);
  numbers->on_run = [](int64_t, int) { std::this_thread::sleep_for(std::chrono::milliseconds(4)); };
  Engine engine(numbers, {.max_workers = 16});
  const int before = engine.stats().workers;
  // As many items as it takes: no clock decides.
  for (int i = 0; i < 200000 && engine.stats().workers <= before; ++i) engine.Next();
  EXPECT_GT(engine.stats().workers, before);
  EXPECT_THAT(engine.stats().decisions, ::testing::Contains(HasSubstr("workers")));
}

}  // namespace
}  // namespace flatout::data
