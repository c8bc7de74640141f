#include "flatout/data/tuner.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace flatout::data {
namespace {

// A pipeline and a step on paper: item times, cores, waits; and the tuner's view of them.
struct World {
  int cores = 4;
  double cpu_seconds = 0.01;    // of a worker for one item, on a core
  double disk_seconds = 0;      // and waiting
  double step_seconds = 0.005;  // of the consumer for one item

  double Rate(int workers) const {  // items per second
    const double wall = cpu_seconds + disk_seconds;
    const double workers_rate = std::min(workers / wall, cores / cpu_seconds);
    return std::min(workers_rate, 1 / step_seconds);
  }
};

class Simulation {
 public:
  Simulation(World world, Tuner::Limits limits)
      : world(world), limits(limits), tuner(limits), setting(Tuner::Start(limits)) {}

  // Seconds of the run on paper, in small steps.
  void For(double seconds) {
    for (double end = now.seconds + seconds; now.seconds < end;) {
      constexpr double kStep = 0.02;
      const double rate = world.Rate(setting.workers);
      const double items = rate * kStep;
      made += items;
      now.seconds += kStep;
      now.items = now.records = static_cast<int64_t>(made);
      now.wait += std::max(0.0, kStep - items * world.step_seconds);
      const double wall = world.cpu_seconds + world.disk_seconds;
      now.busy += items * wall;
      now.cpu += items * world.cpu_seconds;
      // Without a wait the queue is full, and workers stand idle.
      if (rate >= 0.999 / world.step_seconds) {
        now.full += std::max(0.0, kStep * setting.workers - items * wall);
      }
      if (const auto change = tuner.Observe(now)) {
        setting = *change;
        ++changes;
      }
    }
  }

  World world;
  Tuner::Limits limits;
  Tuner tuner;
  Tuner::Setting setting;
  Tuner::Measured now;
  double made = 0;
  int changes = 0;
};

TEST(Tuner, WorkersThatComputeGetTheCores) {
  Simulation run({}, {.cores = 4, .max_workers = 16});
  run.For(5);
  EXPECT_GE(run.world.Rate(run.setting.workers), 0.98 * run.world.Rate(16));
  EXPECT_LE(run.setting.workers, 5);
}

TEST(Tuner, WorkersThatWaitForADiskBecomeMoreThanCores) {
  Simulation run({.cores = 2, .cpu_seconds = 0.001, .disk_seconds = 0.019, .step_seconds = 0.001},
                 {.cores = 2, .max_workers = 32});
  run.For(5);
  EXPECT_GE(run.world.Rate(run.setting.workers), 0.98 * run.world.Rate(32));
  EXPECT_GT(run.setting.workers, 8);
}

TEST(Tuner, WorkersThatAreNotNeededGo) {
  Simulation run({.cores = 8, .cpu_seconds = 0.001, .step_seconds = 0.01},
                 {.cores = 8, .max_workers = 32});
  EXPECT_EQ(run.setting.workers, 8);
  run.For(30);
  EXPECT_LE(run.setting.workers, 2);
  // And the step never waited for it.
  EXPECT_LT(run.now.wait, 0.01 * run.now.seconds);
}

TEST(Tuner, FollowsAChangeOfTheLoad) {
  Simulation run({.cores = 8, .cpu_seconds = 0.001, .step_seconds = 0.01},
                 {.cores = 8, .max_workers = 32});
  run.For(30);
  run.world.cpu_seconds = 0.04;  // now four workers are needed
  run.For(10);
  EXPECT_GE(run.setting.workers, 4);
  EXPECT_LE(run.setting.workers, 6);
}

TEST(Tuner, WhatDoesNotHelpIsTakenBackAndTriedSeldom) {
  // One core's worth of work is all there is: a lock, say.
  Simulation run({.cores = 1, .cpu_seconds = 0.01, .step_seconds = 0.001},
                 {.cores = 4, .max_workers = 16});
  run.For(60);
  EXPECT_EQ(run.setting.workers, 4);
  EXPECT_LT(run.changes, 30);
}

TEST(Tuner, WhatTheUserSetStays) {
  Simulation run({.cores = 8, .cpu_seconds = 0.05},
                 {.cores = 8, .max_workers = 32, .fixed_workers = 3, .fixed_depth = 7});
  run.For(10);
  EXPECT_EQ(run.setting.workers, 3);
  EXPECT_EQ(run.setting.depth, 7);
  EXPECT_EQ(run.changes, 0);
}

TEST(Tuner, AQueueThatIsFullAndEmptyInTurnBecomesLonger) {
  Tuner tuner({.cores = 2, .max_workers = 8});
  Tuner::Measured now;
  int depth = Tuner::Start({.cores = 2, .max_workers = 8}).depth;
  const int before = depth;
  for (int i = 0; i < 100; ++i) {
    now.seconds += 0.05;
    now.items += 10;
    now.records += 10;
    now.wait += 0.01;  // a fifth of the time
    now.full += 0.01;
    now.busy += 0.08;
    now.cpu += 0.08;
    now.most_depth = 12;
    if (const auto change = tuner.Observe(now)) depth = change->depth;
  }
  EXPECT_GT(depth, before);
  EXPECT_LE(depth, 12);
}

}  // namespace
}  // namespace flatout::data
