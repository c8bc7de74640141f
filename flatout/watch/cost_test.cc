#include "flatout/watch/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flatout::watch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LedgerReport SomeLedger() {
  LedgerReport ledger;
  const auto set = [&](Cause cause, double seconds) {
    ledger.seconds[static_cast<size_t>(cause)] = seconds;
  };
  set(Cause::kStart, 100);
  set(Cause::kCompile, 260);
  set(Cause::kInput, 1800);
  set(Cause::kCompute, 5400);
  set(Cause::kEvaluation, 359.5);
  set(Cause::kHost, 0.5);
  ledger.wall = ledger.sum();
  return ledger;
}

TEST(Cost, NothingWithoutAPrice) { EXPECT_FALSE(CostOf({}, SomeLedger(), 2)); }

TEST(Cost, ByCauseAddsUpToTheWhole) {
  const auto cost = CostOf({.price_per_hour = 3.6}, SomeLedger(), 2);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->total, 7.92);  // 2.2 hours
  double sum = 0;
  for (const double part : cost->by_cause) sum += part;
  EXPECT_NEAR(sum, cost->total, 1e-12);
  EXPECT_DOUBLE_EQ(cost->of(Cause::kInput), 1.8);
  EXPECT_DOUBLE_EQ(cost->lost(), 7.92 - 5.4);
  EXPECT_NEAR(*cost->per_epoch, (7.92 - 0.36) / 2, 1e-12);  // without start and compile
}

TEST(Cost, FreeIsAPriceToo) {
  const auto cost = CostOf({.price_per_hour = 0}, SomeLedger(), 0);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->total, 0);
  EXPECT_FALSE(cost->per_epoch);  // none has begun
  EXPECT_THAT(DescribeCost(*cost), HasSubstr("0 USD so far"));
}

TEST(Cost, InWords) {
  const auto cost = CostOf({.price_per_hour = 3.6, .currency = "EUR"}, SomeLedger(), 2);
  const std::string text = DescribeCost(*cost);
  EXPECT_THAT(text, HasSubstr("7.92 EUR so far at 3.60 EUR per hour (3.78 EUR per epoch)"));
  EXPECT_THAT(text, HasSubstr("of that for input 1.80 EUR (23 %), evaluation"));
  EXPECT_THAT(text, Not(HasSubstr("compute")));
  EXPECT_THAT(text, Not(HasSubstr("host")));  // not worth a word
}

TEST(Money, ThreeFiguresOfSmallAmounts) {
  EXPECT_EQ(Money(1234.567, "USD"), "1234.57 USD");
  EXPECT_EQ(Money(1, "USD"), "1.00 USD");
  EXPECT_EQ(Money(0.1234, "USD"), "0.123 USD");
  EXPECT_EQ(Money(0.01234, "USD"), "0.0123 USD");
  EXPECT_EQ(Money(1e-30, "USD"), "0.000000000 USD");
  EXPECT_EQ(Money(0, "USD"), "0 USD");
}

std::string Complaint(const std::string& toml) {
  try {
    ReadCostOptions(Config::ParseToml(toml, "run.toml"));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(CostOptions, WhatIsWrong) {
  EXPECT_EQ(Complaint("price_per_hour = 2.5\ncurrency = \"CHF\""), "");
  EXPECT_THAT(Complaint("price_per_hour = -1"),
              HasSubstr("run.toml:1:1: price_per_hour: must be a price"));
  EXPECT_THAT(Complaint("price_per_hour = nan"), HasSubstr("must be a price"));
  EXPECT_THAT(Complaint("price_per_hour = inf"), HasSubstr("must be a price"));
  EXPECT_THAT(Complaint("price_per_hour = 1e308"), HasSubstr("from 0 to 1,000,000,000"));
  EXPECT_THAT(Complaint("currency = \"US Dollars, please\""), HasSubstr("must be a short word"));
  EXPECT_THAT(Complaint("currency = \"\""), HasSubstr("must be a short word"));
  EXPECT_THAT(Complaint("price = 1"), HasSubstr("price_per_hour"));
}

}  // namespace
}  // namespace flatout::watch
