#include "flatout/checkpoint/interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "flatout/base/error.h"

namespace flatout::checkpoint {
namespace {

// The interval that loses least, found by looking at all of them.
double Least(double cost, double between, double restart) {
  double best = 0, least = 1;
  for (double interval = cost / 100; interval < 20 * between; interval *= 1.001) {
    const double lost = LostShare(interval, cost, between, restart);
    if (lost < least) {
      least = lost;
      best = interval;
    }
  }
  return best;
}

// For short costs it is Young's sqrt(2 c m); for long ones Young's is far off, and Daly's is not.
TEST(DalyInterval, LosesLeast) {
  EXPECT_NEAR(DalyInterval(1, 1e6) / std::sqrt(2e6), 1, 1e-3);
  for (const double between : {60.0, 3600.0, 86400.0}) {
    for (const double share : {1e-5, 1e-3, 0.01, 0.1, 0.3, 1.0}) {
      const double cost = between * share;
      const double chosen = DalyInterval(cost, between);
      EXPECT_GT(chosen, 0);
      const double least = LostShare(Least(cost, between, 5), cost, between, 5);
      EXPECT_NEAR(LostShare(chosen, cost, between, 5), least, 1e-3) << cost << " " << between;
    }
  }
}

// Daly 2006: for costs of twice the mean time between interruptions and more, that time itself.
TEST(DalyInterval, GoesOverToTheMeanTime) {
  EXPECT_EQ(DalyInterval(120, 60), 60);
  EXPECT_EQ(DalyInterval(1000, 60), 60);
  EXPECT_NEAR(DalyInterval(119.99, 60), 60 * (2 + 2.0 / 3 + 2.0 / 9) - 120, 0.1);
}

TEST(DalyInterval, WantsPositiveNumbers) {
  EXPECT_THROW(DalyInterval(0, 60), InternalError);
  EXPECT_THROW(DalyInterval(1, -1), InternalError);
  EXPECT_THROW(DalyInterval(std::nan(""), 60), InternalError);
}

TEST(LostShare, IsWhatItSays) {
  // Without interruptions only the cost.
  EXPECT_NEAR(LostShare(99, 1, 1e12, 5), 0.01, 1e-4);
  // Interruptions every minute, an interval of a minute, free snapshots: e - 1 times the work.
  EXPECT_NEAR(LostShare(60, 0, 60, 0), 1 - 1 / (std::exp(1) - 1), 1e-12);
}

TEST(TimeBetweenInterruptions, StartsFromWhatIsAssumed) {
  EXPECT_EQ(TimeBetweenInterruptions(0, 0, 3600), 3600);
  EXPECT_EQ(TimeBetweenInterruptions(0, 1800, 3600), 3600);
  EXPECT_EQ(TimeBetweenInterruptions(0, 7200, 3600), 7200);
}

TEST(TimeBetweenInterruptions, BelievesWhatItSees) {
  EXPECT_NEAR(TimeBetweenInterruptions(1, 60, 3600), 240 / 1.05, 1e-9);
  EXPECT_NEAR(TimeBetweenInterruptions(5, 300, 3600), 60, 40);
  EXPECT_NEAR(TimeBetweenInterruptions(1000, 60000, 3600), 60, 1);
  // One within the first minute of what then is a quiet day.
  EXPECT_GT(TimeBetweenInterruptions(1, 86400, 3600), 80000);
}

TEST(AutomaticSeconds, IsDalysWithinWhatTheDiskCan) {
  EXPECT_EQ(AutomaticSeconds({}), 2);
  EXPECT_EQ(AutomaticSeconds({.cost = 0.5, .save_seconds = 3, .between = 3600}),
            DalyInterval(0.5, 3600));
  EXPECT_EQ(AutomaticSeconds({.cost = 0.01, .save_seconds = 60, .between = 60}), 120);
  EXPECT_EQ(AutomaticSeconds({.cost = 1e-9, .save_seconds = 1e-3, .between = 1}), 0.25);
  // More interruptions or cheaper snapshots: more often.
  const IntervalFacts some{.cost = 1, .save_seconds = 1, .between = 3600};
  EXPECT_LT(AutomaticSeconds({.cost = 0.1, .save_seconds = 1, .between = 3600}),
            AutomaticSeconds(some));
  EXPECT_LT(AutomaticSeconds({.cost = 1, .save_seconds = 1, .between = 600}),
            AutomaticSeconds(some));
}

TEST(SaveDue, BySteps) {
  const IntervalOptions options{.every_steps = 100};
  EXPECT_FALSE(SaveDue(options, {}, 0, 0, 1e9));
  EXPECT_FALSE(SaveDue(options, {}, 99, 0, 1e9));
  EXPECT_TRUE(SaveDue(options, {}, 100, 0, 0));
  EXPECT_FALSE(SaveDue(options, {}, 100, 100, 0));
  // Eight steps per launch: 104 is the first that has passed 100; 200 counts from 100 on.
  EXPECT_TRUE(SaveDue(options, {}, 104, 96, 0));
  EXPECT_FALSE(SaveDue(options, {}, 192, 104, 0));
  EXPECT_TRUE(SaveDue(options, {}, 200, 104, 0));
}

TEST(SaveDue, BySeconds) {
  const IntervalOptions options{.every_seconds = 30};
  EXPECT_FALSE(SaveDue(options, {}, 5, 0, 29.9));
  EXPECT_TRUE(SaveDue(options, {}, 5, 0, 30));
  EXPECT_FALSE(SaveDue(options, {}, 5, 5, 1000));
}

TEST(SaveDue, Automatic) {
  const IntervalOptions options{.automatic = true};
  EXPECT_FALSE(SaveDue(options, {}, 5, 0, 1.9));
  EXPECT_TRUE(SaveDue(options, {}, 5, 0, 2));
  const IntervalFacts facts{.cost = 0.5, .save_seconds = 1, .between = 3600};
  EXPECT_FALSE(SaveDue(options, facts, 5, 0, 59));
  EXPECT_TRUE(SaveDue(options, facts, 5, 0, 61));
}

TEST(SaveDue, EitherIsEnoughAndNoneIsNever) {
  EXPECT_TRUE(SaveDue({.every_steps = 100, .every_seconds = 30}, {}, 5, 0, 30));
  EXPECT_TRUE(SaveDue({.every_steps = 5, .every_seconds = 30}, {}, 5, 0, 1));
  EXPECT_FALSE(SaveDue({}, {}, 1 << 30, 0, 1e9));
}

}  // namespace
}  // namespace flatout::checkpoint
