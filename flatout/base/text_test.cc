#include "flatout/base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace flatout {
namespace {

TEST(HumanBytes, ThreeDigitsAndBinaryUnits) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.00 KiB");
  EXPECT_EQ(HumanBytes(int64_t{3} << 29), "1.50 GiB");
  EXPECT_EQ(HumanBytes((int64_t{1} << 20) - 1), "1.00 MiB");
  EXPECT_EQ(HumanBytes(int64_t{12} << 20), "12.0 MiB");
  EXPECT_EQ(HumanBytes(int64_t{640} << 30), "640 GiB");
  EXPECT_EQ(HumanBytes(-2048), "-2.00 KiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<int64_t>::max()), "8.00 EiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<int64_t>::min()), "-8.00 EiB");
}

TEST(HumanDuration, FromMicrosecondsToDays) {
  EXPECT_EQ(HumanDuration(0), "0 us");
  EXPECT_EQ(HumanDuration(850e-6), "850 us");
  EXPECT_EQ(HumanDuration(0.0123), "12.3 ms");
  EXPECT_EQ(HumanDuration(0.9999), "1.00 s");
  EXPECT_EQ(HumanDuration(4.21), "4.21 s");
  EXPECT_EQ(HumanDuration(59.97), "1 min 00 s");
  EXPECT_EQ(HumanDuration(192), "3 min 12 s");
  EXPECT_EQ(HumanDuration(7500), "2 h 05 min");
  EXPECT_EQ(HumanDuration(3599.7), "1 h 00 min");
  EXPECT_EQ(HumanDuration(3 * 86400 + 4 * 3600), "3 d 04 h");
  EXPECT_EQ(HumanDuration(-2), "-2.00 s");
  EXPECT_EQ(HumanDuration(std::nan("")), "unknown");
  EXPECT_EQ(HumanDuration(std::numeric_limits<double>::infinity()), "unknown");
}

TEST(HumanCount, ThousandsApart) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(999), "999");
  EXPECT_EQ(HumanCount(1000), "1,000");
  EXPECT_EQ(HumanCount(60000), "60,000");
  EXPECT_EQ(HumanCount(-123), "-123");
  EXPECT_EQ(HumanCount(-1234567), "-1,234,567");
}

TEST(ParseBytes, UnitsOfBothKinds) {
  EXPECT_EQ(ParseBytes("4096"), 4096);
  EXPECT_EQ(ParseBytes("10GiB"), int64_t{10} << 30);
  EXPECT_EQ(ParseBytes(" 1.5 GiB "), int64_t{3} << 29);
  EXPECT_EQ(ParseBytes("512 mib"), int64_t{512} << 20);
  EXPECT_EQ(ParseBytes("2GB"), 2000000000);
  EXPECT_EQ(ParseBytes("7 B"), 7);
  EXPECT_EQ(ParseBytes("1TiB"), int64_t{1} << 40);
  for (const char* bad :
       {"", "GiB", "-1GiB", "1 GiBs", "1 X", "1 G", "nan", "inf", "1e30", "1 g b"}) {
    EXPECT_EQ(ParseBytes(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace flatout
