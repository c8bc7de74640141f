#include "flatout/watch/step_times.h"

#include <gtest/gtest.h>

namespace flatout::watch {
namespace {

LedgerReport Spent(double compute, double input, double evaluation = 0) {
  LedgerReport report;
  report.seconds[static_cast<size_t>(Cause::kCompute)] = compute;
  report.seconds[static_cast<size_t>(Cause::kInput)] = input;
  report.seconds[static_cast<size_t>(Cause::kEvaluation)] = evaluation;
  report.wall = report.sum();
  return report;
}

TEST(StepTimesTest, NothingIsKnownBeforeTheFirstStep) {
  StepTimes times;
  EXPECT_EQ(times.Quantile(0.5), std::nullopt);
  EXPECT_FALSE(times.slowest().has_value());
  times.Add(1, 0, Spent(1, 1));
  EXPECT_EQ(times.steps(), 0);
  EXPECT_EQ(times.Quantile(1), std::nullopt);
}

TEST(StepTimesTest, TheRareSlowStepIsFoundAndItsCause) {
  StepTimes times;
  for (int i = 0; i < 999; ++i) times.Add(i + 1, 1, Spent(0.01, 0.001));
  times.Add(1000, 1, Spent(0.01, 1));
  EXPECT_EQ(times.steps(), 1000);
  EXPECT_NEAR(*times.Quantile(0.5), 0.011, 0.0003);
  EXPECT_NEAR(*times.Quantile(0.95), 0.011, 0.0003);
  EXPECT_NEAR(*times.Quantile(1), 1.01, 0.03);
  ASSERT_TRUE(times.slowest().has_value());
  EXPECT_EQ(times.slowest()->step, 1000);
  EXPECT_EQ(times.slowest()->cause, Cause::kInput);
  EXPECT_DOUBLE_EQ(times.slowest()->seconds, 1.01);
}

TEST(StepTimesTest, ALaunchCountsWithItsStepsAndWithoutValidation) {
  StepTimes times;
  times.Add(1, 8, Spent(0.08, 0, 5));
  times.Add(9, 2, Spent(0.2, 0));
  EXPECT_EQ(times.steps(), 10);
  EXPECT_NEAR(*times.Quantile(0.5), 0.01, 0.0003);
  EXPECT_NEAR(*times.Quantile(0.9), 0.1, 0.003);
  EXPECT_EQ(times.slowest()->step, 9);
}

// Of nothing at all a logarithm would be infinite.
TEST(StepTimesTest, NoTimeAtAllIsNoTrouble) {
  StepTimes times;
  times.Add(1, 1, Spent(0, 0));
  times.Add(2, 1, Spent(-1, 0));
  EXPECT_EQ(times.steps(), 2);
  EXPECT_GE(*times.Quantile(0.5), 0);
  EXPECT_LT(*times.Quantile(1), 1e-8);
}

}  // namespace
}  // namespace flatout::watch
