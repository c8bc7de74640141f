#include "flatout/data/formats/number_text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <random>
#include <string>

namespace flatout::data {
namespace {

// Bit for bit, so that -0 and 0 differ.
template <typename Float>
bool Same(Float a, Float b) {
  return std::memcmp(&a, &b, sizeof(Float)) == 0;
}

// Both ways of reading against the C library's.
void Check(const std::string& text) {
  SCOPED_TRACE(text);
  const float want32 = std::strtof(text.c_str(), nullptr);
  const double want64 = std::strtod(text.c_str(), nullptr);
  float value32 = 77;
  double value64 = 77;
  const NumberFault fault32 = ParseFloat(text, value32);
  const NumberFault fault64 = ParseFloat(text, value64);
  if (std::isinf(want32)) {
    ASSERT_EQ(fault32, NumberFault::kRange);
  } else {
    ASSERT_EQ(fault32, NumberFault::kNone);
    ASSERT_TRUE(Same(value32, want32)) << value32 << " " << want32;
  }
  if (std::isinf(want64)) {
    ASSERT_EQ(fault64, NumberFault::kRange);
  } else {
    ASSERT_EQ(fault64, NumberFault::kNone);
    ASSERT_TRUE(Same(value64, want64)) << value64 << " " << want64;
  }
  // The fast paths: at the very end of memory, and with more after them.
  for (const std::string& padded : {text, text + ",12345678"}) {
    const char* end = padded.data() + padded.size();
    const char* stop = padded.data() + text.size();
    if (const char* p = FastFloat(padded.data(), end, value32)) {
      ASSERT_EQ(p, stop);
      ASSERT_TRUE(Same(value32, want32)) << value32 << " " << want32;
    }
    if (const char* p = FastFloat(padded.data(), end, value64)) {
      ASSERT_EQ(p, stop);
      ASSERT_TRUE(Same(value64, want64)) << value64 << " " << want64;
    }
  }
}

TEST(NumberText, FloatsOfEveryForm) {
  for (const char* text : {"0",
                           "-0",
                           "0.0",
                           "-0.0",
                           "1",
                           "-1",
                           "1.",
                           ".5",
                           "-.5",
                           "+1",
                           "+.25",
                           "00012",
                           "1e5",
                           "1E5",
                           "1e+05",
                           "1e-05",
                           "123456789",
                           "1234567890123456789",
                           "12345678901234567890123456789",
                           "0.1",
                           "0.123456",
                           "3.4028234663852886e38",
                           "3.4028235677973366e38",
                           "3.4028235677973365e38",
                           "-3.5e38",
                           "1e38",
                           "1e39",
                           "1e308",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "1e309",
                           "1e400",
                           "1e-400",
                           "-1e-400",
                           "1e99999999999999999999",
                           "1e-99999999999999999999",
                           "0e99999999999",
                           "0.000e-5",
                           "1.1754943508222875e-38",
                           "1.1754942e-38",
                           "1e-45",
                           "7e-46",
                           "7.1e-46",
                           "4.9e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "2.2250738585072011e-308",
                           "9007199254740993",
                           "9007199254740992",
                           "16777217",
                           "16777219",
                           "33554433",
                           "0.000000000000000000000001",
                           "8388608.5",
                           "8388609.5",
                           "1.00000005960464477539062",
                           "1.000000059604644775390625",
                           "1.00000005960464477539063",
                           "1e22",
                           "1e23",
                           "123e20",
                           "9007199254740991e22",
                           "179769313486231580793728971405301e277",
                           "0.3e1000000000000000",
                           "6.1e-5",
                           "1e010",
                           "000000000000000000000000000000000001",
                           "0.00000000000000000000000000000000000001e38"}) {
    Check(text);
  }
}

TEST(NumberText, RandomFloatsAgreeWithTheCLibrary) {
  std::mt19937_64 random(1);
  char buffer[400];
  for (int i = 0; i < 400000; ++i) {
    // All bit patterns of floats and doubles, as printed with few and with all digits.
    const auto bits = random();
    const auto narrow = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const auto wide = std::bit_cast<double>(bits);
    if (!std::isfinite(narrow) || !std::isfinite(wide)) continue;
    const int digits = static_cast<int>(random() % 22);
    std::snprintf(buffer, sizeof(buffer), "%.*g", digits, static_cast<double>(narrow));
    Check(buffer);
    std::snprintf(buffer, sizeof(buffer), "%.*g", digits, wide);
    Check(buffer);
    // Numbers as tables have them.
    const double usual = static_cast<double>(static_cast<int64_t>(bits)) / 9e18 *
                         std::pow(10.0, static_cast<double>(random() % 12));
    std::snprintf(buffer, sizeof(buffer), "%.*f", digits, usual);
    Check(buffer);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// The texts that fast paths could get wrong: the middle between two neighbouring floats, exactly,
// and a little to each side.
TEST(NumberText, MiddlesBetweenFloats) {
  std::mt19937_64 random(2);
  char buffer[400];
  for (int i = 0; i < 100000; ++i) {
    auto bits = static_cast<uint32_t>(random());
    if (i % 2 == 0) bits = (bits & 0x807fffff) | (uint32_t{110} + random() % 40) << 23;
    const auto low = std::bit_cast<float>(bits);
    const float high = std::nextafterf(low, INFINITY);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const double middle = (static_cast<double>(low) + static_cast<double>(high)) / 2;
    const int digits = 17 + static_cast<int>(random() % 100);
    for (const double value :
         {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300)}) {
      std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
      Check(buffer);
      std::snprintf(buffer, sizeof(buffer), "%.15g", value);
      Check(buffer);
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(NumberText, WhatIsNoFloat) {
  for (const char* text :
       {"",    "-",   "+",     ".",     "-.",   "e5",  "1e",       "1e+",      "1e-",   "0x10",
        "1,5", " 1",  "1 ",    "inf",   "-inf", "nan", "NaN",      "Infinity", "1_000", "--1",
        "+-1", "-+1", "1.2.3", "1e5.0", "1f",   "12a", "\xc2\xbd", "1e5e5",    "$5",    "5%"}) {
    float value32;
    double value64;
    EXPECT_EQ(ParseFloat(text, value32), NumberFault::kSyntax) << text;
    EXPECT_EQ(ParseFloat(text, value64), NumberFault::kSyntax) << text;
    const std::string copy = text;
    const char* end = copy.data() + copy.size();
    const char* p = FastFloat(copy.data(), end, value32);
    EXPECT_NE(p, end) << text;  // nothing, or the number is followed by something
    p = FastFloat(copy.data(), end, value64);
    EXPECT_NE(p, end) << text;
  }
}

TEST(NumberText, Integers) {
  struct Case {
    const char* text;
    NumberFault fault;
    int64_t value = 0;
  };
  for (const Case& c : {Case{"0", NumberFault::kNone, 0},
                        {"-0", NumberFault::kNone, 0},
                        {"7", NumberFault::kNone, 7},
                        {"+7", NumberFault::kNone, 7},
                        {"-7", NumberFault::kNone, -7},
                        {"007", NumberFault::kNone, 7},
                        {"12345678", NumberFault::kNone, 12345678},
                        {"123456789", NumberFault::kNone, 123456789},
                        {"999999999999999999", NumberFault::kNone, 999999999999999999},
                        {"9223372036854775807", NumberFault::kNone, INT64_MAX},
                        {"-9223372036854775808", NumberFault::kNone, INT64_MIN},
                        {"9223372036854775808", NumberFault::kRange},
                        {"-9223372036854775809", NumberFault::kRange},
                        {"99999999999999999999999", NumberFault::kRange},
                        {"", NumberFault::kSyntax},
                        {"-", NumberFault::kSyntax},
                        {"+-1", NumberFault::kSyntax},
                        {"1.0", NumberFault::kSyntax},
                        {"1e3", NumberFault::kSyntax},
                        {"0x1f", NumberFault::kSyntax},
                        {" 1", NumberFault::kSyntax},
                        {"1 ", NumberFault::kSyntax},
                        {"1,000", NumberFault::kSyntax}}) {
    SCOPED_TRACE(c.text);
    int64_t value = 0;
    EXPECT_EQ(ParseInteger(c.text, value), c.fault);
    const std::string copy = c.text;
    const char* end = copy.data() + copy.size();
    if (c.fault == NumberFault::kNone) {
      EXPECT_EQ(value, c.value);
      int64_t fast = 0;
      if (const char* p = FastInteger(copy.data(), end, fast)) {
        EXPECT_EQ(p, end);
        EXPECT_EQ(fast, c.value);
      }
    } else {
      int64_t fast = 0;
      EXPECT_NE(FastInteger(copy.data(), end, fast), end);
    }
  }
  uint64_t value = 0;
  EXPECT_EQ(ParseUnsigned("18446744073709551615", value), NumberFault::kNone);
  EXPECT_EQ(value, UINT64_MAX);
  EXPECT_EQ(ParseUnsigned("18446744073709551616", value), NumberFault::kRange);
  EXPECT_EQ(ParseUnsigned("-1", value), NumberFault::kRange);
  EXPECT_EQ(ParseUnsigned("-0", value), NumberFault::kNone);
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(ParseUnsigned("-x", value), NumberFault::kSyntax);
}

TEST(NumberText, RandomIntegers) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const auto want = static_cast<int64_t>(random()) >> (random() % 64);
    const std::string text = std::to_string(want) + ",";
    int64_t value = 0;
    ASSERT_EQ(ParseInteger(text.substr(0, text.size() - 1), value), NumberFault::kNone);
    ASSERT_EQ(value, want);
    if (const char* p = FastInteger(text.data(), text.data() + text.size(), value)) {
      ASSERT_EQ(*p, ',');
      ASSERT_EQ(value, want);
    }
  }
}

}  // namespace
}  // namespace flatout::data
