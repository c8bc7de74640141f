#include "flatout/watch/ledger.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "flatout/base/clock.h"

namespace flatout::watch {
namespace {

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Every part counts, none is negative, and together they are the wall time.
void ExpectWhole(const LedgerReport& report) {
  EXPECT_GT(report.wall, 0);
  EXPECT_NEAR(report.sum(), report.wall, 0.005 * report.wall);
  for (int i = 0; i < kNumCauses; ++i) {
    EXPECT_GE(report.seconds[i], 0) << Name(static_cast<Cause>(i));
    EXPECT_LE(report.seconds[i], report.wall * 1.000001) << Name(static_cast<Cause>(i));
  }
}

TEST(LedgerTest, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (int i = 0; i < kNumCauses; ++i) names.insert(Name(static_cast<Cause>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kNumCauses));
  EXPECT_EQ(names.count(""), 0u);
}

TEST(LedgerTest, TheProcessesAgeIsStart) {
  const Ledger ledger(100);
  const LedgerReport report = ledger.Report();
  ExpectWhole(report);
  EXPECT_GE(report.of(Cause::kStart), 100);
  EXPECT_EQ(report.of(Cause::kStart), report.sum());
  EXPECT_EQ(report.full(), std::nullopt);
}

TEST(LedgerTest, WithoutLaunchesEverythingIsThePhases) {
  Ledger ledger(0);
  const double begin = SteadySeconds();
  ledger.Enter(Cause::kInput);
  Sleep(0.02);
  ledger.Enter(Cause::kCheckpoint);
  Sleep(0.01);
  ledger.Enter(Cause::kHost);
  const double elapsed = SteadySeconds() - begin;
  const LedgerReport report = ledger.Report();
  ExpectWhole(report);
  EXPECT_GE(report.of(Cause::kInput), 0.02);
  EXPECT_GE(report.of(Cause::kCheckpoint), 0.01);
  EXPECT_LE(report.of(Cause::kInput) + report.of(Cause::kCheckpoint), elapsed);
  EXPECT_EQ(report.of(Cause::kCompute), 0);
  EXPECT_EQ(report.full(), std::nullopt) << "unknown, not 0";
}

// Busy from the later of launch and the completion before it, until completion.
TEST(LedgerTest, BusyTimeIsTheDevicesAndGapsAreThePhases) {
  Ledger ledger(0);
  ledger.Enter(Cause::kInput);
  Sleep(0.02);
  const double launched = SteadySeconds();
  const int64_t first = ledger.Launched(Cause::kCompute);
  const int64_t second = ledger.Launched(Cause::kCompute);
  Sleep(0.02);  // still in the phase input, but the device is busy
  ledger.Completed(first);
  Sleep(0.02);
  ledger.Completed(second);
  const double completed = SteadySeconds();
  ledger.Enter(Cause::kHost);
  Sleep(0.01);
  const LedgerReport report = ledger.Report();
  ExpectWhole(report);
  EXPECT_GE(report.of(Cause::kCompute), 0.04);
  EXPECT_LE(report.of(Cause::kCompute), completed - launched);
  EXPECT_GE(report.of(Cause::kInput), 0.02);
  EXPECT_GE(report.of(Cause::kHost), 0.01);
  EXPECT_EQ(ledger.in_flight(), 0);
}

TEST(LedgerTest, LaunchesInFlightCountAsBusy) {
  Ledger ledger(0);
  ledger.Enter(Cause::kHost);
  const int64_t id = ledger.Launched(Cause::kCompute);
  Sleep(0.02);
  const LedgerReport report = ledger.Report();
  ExpectWhole(report);
  EXPECT_GE(report.of(Cause::kCompute), 0.02);
  EXPECT_EQ(ledger.in_flight(), 1);
  ledger.Completed(id);
  ledger.Completed(id);    // twice is once
  ledger.Completed(9999);  // nobody's
  EXPECT_EQ(ledger.in_flight(), 0);
  ExpectWhole(ledger.Report());
}

TEST(LedgerTest, EvaluationIsNotCompute) {
  Ledger ledger(0);
  ledger.Enter(Cause::kHost);
  const int64_t train = ledger.Launched(Cause::kCompute);
  const int64_t evaluate = ledger.Launched(Cause::kEvaluation);
  Sleep(0.02);
  ledger.Completed(train);
  Sleep(0.04);
  ledger.Completed(evaluate);
  const LedgerReport report = ledger.Report();
  ExpectWhole(report);
  EXPECT_GE(report.of(Cause::kEvaluation), 0.04);
  EXPECT_GE(report.of(Cause::kCompute), 0.02);
  EXPECT_NEAR(report.training(),
              report.wall - report.of(Cause::kStart) - report.of(Cause::kEvaluation), 1e-6);
}

TEST(LedgerTest, FullIsTheDevicesShareOfTraining) {
  LedgerReport report;
  report.seconds[static_cast<int>(Cause::kStart)] = 10;
  report.seconds[static_cast<int>(Cause::kCompile)] = 20;
  report.seconds[static_cast<int>(Cause::kEvaluation)] = 30;
  report.seconds[static_cast<int>(Cause::kCompute)] = 6;
  report.seconds[static_cast<int>(Cause::kInput)] = 3;
  report.seconds[static_cast<int>(Cause::kHost)] = 1;
  EXPECT_DOUBLE_EQ(report.sum(), 70);
  EXPECT_DOUBLE_EQ(report.training(), 10);
  EXPECT_DOUBLE_EQ(report.full().value(), 0.6);
}

TEST(LedgerTest, PhasesNest) {
  Ledger ledger(0);
  ledger.Enter(Cause::kHost);
  {
    const Phase outer(ledger, Cause::kEvaluation);
    {
      const Phase inner(ledger, Cause::kCompile);
      EXPECT_EQ(ledger.phase(), Cause::kCompile);
    }
    EXPECT_EQ(ledger.phase(), Cause::kEvaluation);
  }
  EXPECT_EQ(ledger.phase(), Cause::kHost);
}

TEST(LedgerTest, ReattributeMovesWhatThereIs) {
  Ledger ledger(0);
  ledger.Enter(Cause::kInput);
  Sleep(0.02);
  ledger.Enter(Cause::kHost);
  const double before = ledger.Report().of(Cause::kInput);
  ledger.Reattribute(Cause::kInput, Cause::kCopy, 0.005);
  EXPECT_NEAR(ledger.Report().of(Cause::kInput), before - 0.005, 1e-9);
  EXPECT_NEAR(ledger.Report().of(Cause::kCopy), 0.005, 1e-9);
  ledger.Reattribute(Cause::kInput, Cause::kCopy, 1000);
  ledger.Reattribute(Cause::kInput, Cause::kCopy, -5);
  const LedgerReport report = ledger.Report();
  EXPECT_EQ(report.of(Cause::kInput), 0);
  EXPECT_NEAR(report.of(Cause::kCopy), before, 1e-9);
  ExpectWhole(report);
}

// Random phases, launches of both kinds that complete on other threads in any order, reports in
// between: always whole, and no part ever shrinks.
TEST(LedgerTest, AddsUpInAnyScenario) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
    Ledger ledger(0.001 * below(50));
    std::vector<int64_t> in_flight;
    std::vector<std::thread> threads;
    LedgerReport last = ledger.Report();
    for (int action = 0; action < 60; ++action) {
      switch (below(6)) {
        case 0:
        case 1:
          ledger.Enter(static_cast<Cause>(below(kNumCauses)));
          break;
        case 2:
          in_flight.push_back(
              ledger.Launched(below(3) == 0 ? Cause::kEvaluation : Cause::kCompute));
          break;
        case 3:
          if (!in_flight.empty()) {
            const size_t which =
                static_cast<size_t>(below(static_cast<uint32_t>(in_flight.size())));
            const int64_t id = in_flight[which];
            in_flight.erase(in_flight.begin() + static_cast<int64_t>(which));
            threads.emplace_back([&ledger, id] { ledger.Completed(id); });
          }
          break;
        case 4:
          Sleep(1e-4 * below(5));
          break;
        default: {
          const LedgerReport report = ledger.Report();
          ExpectWhole(report);
          EXPECT_GE(report.wall, last.wall);
          last = report;
        }
      }
    }
    for (std::thread& thread : threads) thread.join();
    ExpectWhole(ledger.Report());
    for (int64_t id : in_flight) ledger.Abandoned(id);
    ExpectWhole(ledger.Report());
    EXPECT_EQ(ledger.in_flight(), 0);
  }
}

TEST(LedgerTest, ManyThreadsAtOnce) {
  Ledger ledger(0);
  ledger.Enter(Cause::kHost);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&ledger] {
      for (int i = 0; i < 500; ++i) {
        const int64_t id = ledger.Launched(Cause::kCompute);
        ledger.Completed(id);
        if (i % 50 == 0) ExpectWhole(ledger.Report());
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    ledger.Enter(i % 2 == 0 ? Cause::kInput : Cause::kHost);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.in_flight(), 0);
  ExpectWhole(ledger.Report());
}

TEST(LedgerTest, StagesSayMoreOfACause) {
  Ledger ledger(0);
  ledger.Enter(Cause::kHost);
  {
    const Phase phase(ledger, Cause::kHost, Stage::kCallbacks);
    Sleep(0.02);
    {
      // The same cause, but another stage; and back.
      const Phase inner(ledger, Cause::kHost, Stage::kLog);
      Sleep(0.01);
    }
    EXPECT_EQ(ledger.stage(), Stage::kCallbacks);
  }
  EXPECT_EQ(ledger.stage(), Stage::kNone);
  {
    const Phase phase(ledger, Cause::kEvaluation, Stage::kValidation);
    {
      // Who evaluates does not know for whom: the stage stays.
      const Phase inner(ledger, Cause::kEvaluation);
      const int64_t id = ledger.Launched(Cause::kEvaluation);
      Sleep(0.01);
      ledger.Completed(id);
    }
  }
  const int64_t id = ledger.Launched(Cause::kCompute);
  Sleep(0.01);
  ledger.Completed(id);
  ledger.Reattribute(Cause::kCompute, Cause::kCheckpoint, 0.001, Stage::kSlowed);
  const LedgerReport report = ledger.Report();
  ExpectWhole(report);
  EXPECT_GE(report.of(Stage::kCallbacks), 0.02);
  EXPECT_GE(report.of(Stage::kLog), 0.01);
  EXPECT_GE(report.of(Stage::kValidation), 0.01);
  EXPECT_NEAR(report.of(Stage::kSlowed), 0.001, 1e-9);
  EXPECT_LE(report.of(Stage::kCallbacks) + report.of(Stage::kLog), report.of(Cause::kHost) + 1e-9);
  EXPECT_LE(report.of(Stage::kValidation), report.of(Cause::kEvaluation) + 1e-9);
  EXPECT_EQ(report.LongestStage(Cause::kHost), Stage::kCallbacks);
  EXPECT_EQ(report.LongestStage(Cause::kEvaluation), Stage::kValidation);
  EXPECT_EQ(report.LongestStage(Cause::kInput), Stage::kNone);
}

TEST(LedgerTest, EveryStageHasANameAndACause) {
  std::set<std::string_view> names;
  for (int i = 0; i < kNumStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    names.insert(Name(stage));
    EXPECT_NE(CauseOf(stage), Cause::kCompute);
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kNumStages));
}

TEST(LedgerTest, IntervalsAddUpToTheWhole) {
  Ledger ledger(0.01);
  LedgerReport sum, before;
  for (int i = 0; i < 20; ++i) {
    ledger.Enter(i % 2 == 0 ? Cause::kInput : Cause::kHost,
                 i % 2 == 0 ? Stage::kNone : Stage::kLog);
    const int64_t id = ledger.Launched(Cause::kCompute);
    Sleep(0.001);
    if (i % 3 != 0) ledger.Completed(id);
    const LedgerReport now = ledger.Report();
    const LedgerReport interval = now.Since(before);
    EXPECT_NEAR(interval.sum(), interval.wall, 1e-6);
    sum += interval;
    before = now;
  }
  EXPECT_NEAR(sum.wall, before.wall, 1e-9);
  for (int i = 0; i < kNumCauses; ++i) EXPECT_NEAR(sum.seconds[i], before.seconds[i], 1e-9);
  for (int i = 0; i < kNumStages; ++i) EXPECT_NEAR(sum.stages[i], before.stages[i], 1e-9);
}

// The devices of a launch wait for its input, not for arithmetic.
TEST(LedgerTest, WaitingForInputOnItsWayIsCopy) {
  Ledger ledger(0);
  ledger.Enter(Cause::kHost);
  const int64_t id = ledger.Launched(Cause::kCompute, 1, /*awaits_input=*/true);
  Sleep(0.03);
  ExpectWhole(ledger.Report());
  EXPECT_GE(ledger.Report().of(Cause::kCopy), 0.03);
  EXPECT_EQ(ledger.Report().of(Cause::kCompute), 0);
  ledger.InputArrived(id);
  ledger.InputArrived(id);  // twice is once
  ledger.InputArrived(77);  // nobody's
  Sleep(0.02);
  ledger.Completed(id);
  const LedgerReport report = ledger.Report();
  ExpectWhole(report);
  EXPECT_GE(report.of(Cause::kCopy), 0.03);
  EXPECT_GE(report.of(Cause::kCompute), 0.02);
  EXPECT_GE(ledger.ReplicaBusy().at(0), 0.02);
  EXPECT_LT(ledger.ReplicaBusy().at(0), report.wall - 0.03);
  // While a launch before it runs, an input on its way costs nothing.
  const int64_t first = ledger.Launched(Cause::kCompute);
  const int64_t second = ledger.Launched(Cause::kCompute, 1, true);
  Sleep(0.02);
  ledger.InputArrived(second);
  ledger.Completed(first);
  Sleep(0.01);
  ledger.Completed(second);
  EXPECT_NEAR(ledger.Report().of(Cause::kCopy), report.of(Cause::kCopy), 1e-9);
  // One that nobody saw arrive has.
  const int64_t unseen = ledger.Launched(Cause::kCompute, 1, true);
  Sleep(0.01);
  ledger.Completed(unseen);
  EXPECT_NEAR(ledger.Report().of(Cause::kCopy), report.of(Cause::kCopy), 1e-9);
  ExpectWhole(ledger.Report());
}

// The fast replica runs ahead of the slow one; what each was busy counts, not when it ended.
TEST(LedgerTest, EachReplicaIsBusyForItself) {
  Ledger ledger(0);
  ledger.Enter(Cause::kHost);
  for (int i = 0; i < 3; ++i) {
    const int64_t id = ledger.Launched(Cause::kCompute, 2);
    Sleep(0.01);
    ledger.Completed(id, 0);
    ledger.Completed(id, 0);   // twice is once
    ledger.Completed(id, 17);  // nobody's
    EXPECT_EQ(ledger.in_flight(), 1);
    Sleep(0.02);
    ledger.Completed(id, 1);
    EXPECT_EQ(ledger.in_flight(), 0);
  }
  const std::vector<double> busy = ledger.ReplicaBusy();
  ASSERT_EQ(busy.size(), 2u);
  EXPECT_GE(busy[0], 0.03);
  EXPECT_GE(busy[1], 0.09);
  EXPECT_GE(busy[1] - busy[0], 0.06);
  const LedgerReport report = ledger.Report();
  ExpectWhole(report);
  EXPECT_NEAR(report.of(Cause::kCompute), busy[1], 0.01 * busy[1]);
  // Evaluation is no training.
  const int64_t id = ledger.Launched(Cause::kEvaluation, 2);
  Sleep(0.005);
  ledger.Completed(id, 0);
  ledger.Completed(id, 1);
  EXPECT_EQ(ledger.ReplicaBusy(), busy);
}

TEST(LedgerTest, KeepsATraceWhereAskedTo) {
  Ledger ledger(0);
  ledger.Enter(Cause::kInput);
  EXPECT_TRUE(ledger.TakeTrace().empty());
  ledger.KeepTrace(4);
  ledger.Enter(Cause::kHost, Stage::kLaunch);  // ends input
  const int64_t id = ledger.Launched(Cause::kCompute, 2);
  Sleep(0.002);
  ledger.Completed(id, 1);
  ledger.Completed(id, 0);
  ledger.Enter(Cause::kInput);  // ends host
  ledger.Enter(Cause::kHost);   // one too many
  const std::vector<LedgerSpan> trace = ledger.TakeTrace();
  ASSERT_EQ(trace.size(), 4u);
  EXPECT_EQ(trace[0].cause, Cause::kInput);
  EXPECT_EQ(trace[0].replica, -1);
  EXPECT_EQ(trace[1].cause, Cause::kCompute);
  EXPECT_EQ(trace[1].replica, 1);
  EXPECT_EQ(trace[1].launch, id);
  EXPECT_GE(trace[1].end - trace[1].begin, 0.002);
  EXPECT_EQ(trace[2].replica, 0);
  EXPECT_EQ(trace[3].stage, Stage::kLaunch);
  EXPECT_TRUE(ledger.TakeTrace().empty());
}

}  // namespace
}  // namespace flatout::watch
