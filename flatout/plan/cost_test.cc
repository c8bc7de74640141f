#include "flatout/plan/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flatout/base/error.h"

namespace flatout::plan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

Prices Parse(const std::string& text) { return Prices::Parse({text}); }

std::string Complaint(const std::string& text) {
  try {
    Parse(text);
  } catch (const UserError& error) {
    EXPECT_EQ(error.exit_code(), kExitUsage) << text;
    return error.what();
  }
  return "";
}

TEST(PricesTest, OneForAllOrOneEach) {
  EXPECT_TRUE(Prices().empty());
  EXPECT_THAT(Parse("2.5").Of("h100"), Optional(2.5));
  const Prices some = Parse("h100=2.5, a100-80 = 1.8");
  EXPECT_THAT(some.Of("h100"), Optional(2.5));
  EXPECT_THAT(some.Of("a100-80"), Optional(1.8));
  EXPECT_EQ(some.Of("l4"), std::nullopt);
  const Prices both = Prices::Parse({"1", "h100=4"});
  EXPECT_THAT(both.Of("h100"), Optional(4.0));
  EXPECT_THAT(both.Of("t4"), Optional(1.0));
  EXPECT_THAT(Parse("0").Of("t4"), Optional(0.0)) << "a machine of one's own";
}

TEST(PricesTest, CardsGoByAliasesToo) {
  EXPECT_THAT(Parse("H100-SXM=3").Of("h100"), Optional(3.0));
}

TEST(PricesTest, CurrenciesStandBeforeOrBehind) {
  EXPECT_EQ(Parse("2.5").currency(), "");
  EXPECT_EQ(Parse("2.5").Money(12.34), "12");
  EXPECT_EQ(Parse("2.5 EUR").Money(1.234), "1.2 EUR");
  EXPECT_EQ(Parse("h100=2.5EUR").currency(), "EUR");
  EXPECT_EQ(Parse("$2.50").Money(0.0456), "$0.046");
  EXPECT_THAT(Parse("USD 2.50").Of("l4"), Optional(2.5));
  EXPECT_EQ(Parse("h100=2 USD,l4=1").currency(), "USD");
}

TEST(PricesTest, NonsenseIsRefused) {
  EXPECT_THAT(Complaint("cheap"), AllOf(HasSubstr("--price"), HasSubstr("no number")));
  EXPECT_THAT(Complaint(""), HasSubstr("no number"));
  EXPECT_THAT(Complaint("2.5,"), HasSubstr("no number"));
  EXPECT_THAT(Complaint("h100="), HasSubstr("no number"));
  EXPECT_THAT(Complaint("=2"), HasSubstr("no card"));
  EXPECT_THAT(Complaint("-1"), HasSubstr("negative"));
  EXPECT_THAT(Complaint("1e999"), HasSubstr("no price"));
  EXPECT_THAT(Complaint("nan"), HasSubstr("no number"));
  EXPECT_THAT(Complaint("1000000"), HasSubstr("10,000"));
  EXPECT_THAT(Complaint("2.5.1"), HasSubstr("neither a number nor a currency"));
  EXPECT_THAT(Complaint("$2 USD"), HasSubstr("either side"));
  EXPECT_THAT(Complaint("h100=2 USD,l4=1 EUR"), HasSubstr("one currency"));
  for (const char* text : {"1,2", "1,000"}) {
    EXPECT_THAT(Complaint(text), AllOf(HasSubstr("two prices for all"), HasSubstr("a comma")));
  }
  EXPECT_THAT(Complaint("h100=1,h100-sxm=2"), HasSubstr("two prices for h100"));
  EXPECT_THAT(Complaint("h1000=1"), AllOf(HasSubstr("h1000"), HasSubstr("h100")));
}

TEST(CostTest, HoursAndMoneyOfTheSteps) {
  const Cost cost = CostOf(7200, {0.25, 0.5, 1}, 8, 2.5);
  EXPECT_DOUBLE_EQ(cost.hours.low, 0.5);
  EXPECT_DOUBLE_EQ(cost.hours.likely, 1);
  EXPECT_DOUBLE_EQ(cost.hours.high, 2);
  ASSERT_TRUE(cost.money);
  EXPECT_DOUBLE_EQ(cost.money->likely, 20) << "an hour of eight cards at 2.5 each";
  EXPECT_EQ(CostOf(7200, {0.25, 0.5, 1}, 8, std::nullopt).money, std::nullopt);
}

TEST(RoughTest, TwoDigits) {
  EXPECT_EQ(Rough(0), "0");
  EXPECT_EQ(Rough(0.002149), "0.0021");
  EXPECT_EQ(Rough(0.0998), "0.10");
  EXPECT_EQ(Rough(1.26), "1.3");
  EXPECT_EQ(Rough(9.96), "10");
  EXPECT_EQ(Rough(126), "130");
  EXPECT_EQ(Rough(34567), "35,000");
}

TEST(RoughTest, Durations) {
  EXPECT_EQ(RoughDuration(45.6e-6), "46 us");
  EXPECT_EQ(RoughDuration(2.13e-3), "2.1 ms");
  EXPECT_EQ(RoughDuration(3.2), "3.2 s");
  EXPECT_EQ(RoughDuration(720), "12 min");
  EXPECT_EQ(RoughDuration(16200), "4.5 h");
  EXPECT_EQ(RoughDuration(270000), "3.1 d");
}

}  // namespace
}  // namespace flatout::plan
