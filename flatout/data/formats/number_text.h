// Numbers written as text, read exactly: a float is the one nearest to the text (ties to even), as
// strtof and strtod give it in the C locale. What CSV and JSON share.
//
// The fast functions take the usual short number in a few instructions and leave anything else to
// ParseFloat and ParseInteger, which take a whole text and say what is wrong with it.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace flatout::data {

enum class NumberFault {
  kNone,
  kSyntax,  // no number at all, or something before or after it
  kRange,   // a number that the type cannot hold
};

// The whole text as a finite number:
//   [+-] (digits [. [digits]] | . digits) [(e|E) [+-] digits]
// No spaces, no hexadecimal, no "inf" and "nan". Too large: kRange; too small: zero of that sign.
NumberFault ParseFloat(std::string_view text, float& value);
NumberFault ParseFloat(std::string_view text, double& value);
// The whole text as an integer: [+-] digits, in [-2^63, 2^63).
NumberFault ParseInteger(std::string_view text, int64_t& value);
// The same in [0, 2^64).
NumberFault ParseUnsigned(std::string_view text, uint64_t& value);

// ---- fast paths ----
// Each reads the number that begins at p and returns where it ends, or nullptr where it is not
// simple enough (or no number): ask the function above then. What follows the number is for the
// caller to judge. No byte at or after `end` is touched.

namespace number_text {

inline uint64_t Load8(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// How many of the 8 characters are digits before the first that is none. A byte of the first sum
// has its high bit set above '9', one of the difference below '0'; carries only reach later bytes.
inline int CountDigits(uint64_t word) {
  const uint64_t other =
      ((word + 0x4646464646464646) | (word - 0x3030303030303030)) & 0x8080808080808080;
  return other == 0 ? 8 : std::countr_zero(other) >> 3;
}

// The value of the first n digits, 1 <= n <= 8: moved behind leading zeros, then added up in pairs,
// fours and all eight.
inline uint64_t DigitsValue(uint64_t word, int n) {
  word = (word - 0x3030303030303030) << (64 - 8 * n);
  word = word * 10 + (word >> 8);
  constexpr uint64_t kMask = 0x000000ff000000ff;
  constexpr uint64_t kHigh = 100 + (uint64_t{1000000} << 32);
  constexpr uint64_t kLow = 1 + (uint64_t{10000} << 32);
  return ((word & kMask) * kHigh + ((word >> 16) & kMask) * kLow) >> 32;
}

inline constexpr uint64_t kPowersOfTen[] = {1,      10,      100,      1000,     10000,
                                            100000, 1000000, 10000000, 100000000};
// Exact in a double.
inline constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Appends the digits at p to `value` (modulo 2^64); returns where they end.
inline const char* AppendDigits(const char* p, const char* end, uint64_t& value) {
  while (end - p >= 8) {
    const uint64_t word = Load8(p);
    const int n = CountDigits(word);
    if (n == 0) return p;
    value = value * kPowersOfTen[n] + DigitsValue(word, n);
    p += n;
    if (n < 8) return p;
  }
  for (; p != end && static_cast<unsigned char>(*p - '0') <= 9; ++p) {
    value = value * 10 + static_cast<unsigned char>(*p - '0');
  }
  return p;
}
// The digits at p as a value.
inline const char* ScanDigits(const char* p, const char* end, uint64_t& value) {
  value = 0;
  if (end - p < 8) return AppendDigits(p, end, value);
  const uint64_t word = Load8(p);
  const int n = CountDigits(word);
  if (n == 0) return p;
  value = DigitsValue(word, n);
  return n < 8 ? p + n : AppendDigits(p + n, end, value);
}

// A decimal number: digits * 10^exponent. At most 18 digits, so that they fit.
struct Decimal {
  uint64_t digits = 0;
  int exponent = 0;
  bool negative = false;
};
inline const char* ScanDecimal(const char* p, const char* end, Decimal& d) {
  if (p == end) return nullptr;
  d.negative = *p == '-';
  p += d.negative;
  const char* begin = p;
  p = ScanDigits(p, end, d.digits);
  std::ptrdiff_t count = p - begin;
  if (p != end && *p == '.') {
    const char* point = p + 1;
    p = AppendDigits(point, end, d.digits);
    d.exponent = static_cast<int>(point - p);
    count += p - point;
  }
  if (count == 0 || count > 18) return nullptr;
  if (p != end && (*p | 0x20) == 'e') {
    ++p;
    const bool down = p != end && *p == '-';
    if (down || (p != end && *p == '+')) ++p;
    int exponent = 0;
    const char* digits = p;
    for (; p != end && static_cast<unsigned char>(*p - '0') <= 9; ++p) {
      if (p - digits == 3) return nullptr;
      exponent = exponent * 10 + (*p - '0');
    }
    if (p == digits) return nullptr;
    d.exponent += down ? -exponent : exponent;
  }
  return p;
}

}  // namespace number_text

// Exact: with at most 53 bits of digits and a power of ten that a double holds, one rounded
// operation gives the nearest double (W. D. Clinger, "How to read floating point numbers
// accurately", 1990).
inline const char* FastFloat(const char* p, const char* end, double& value) {
  number_text::Decimal d;
  p = number_text::ScanDecimal(p, end, d);
  if (p == nullptr || d.digits > (uint64_t{1} << 53) || d.exponent < -22 || d.exponent > 22) {
    return nullptr;
  }
  auto number = static_cast<double>(static_cast<int64_t>(d.digits));
  number = d.exponent < 0 ? number / number_text::kExactPowers[-d.exponent]
                          : number * number_text::kExactPowers[d.exponent];
  value = d.negative ? -number : number;
  return p;
}

// Exact: the double is off by less than two units of its last place, so it rounds to the same float
// as the text does unless it is about as near to the middle between two floats; those few are left
// out.
inline const char* FastFloat(const char* p, const char* end, float& value) {
  number_text::Decimal d;
  p = number_text::ScanDecimal(p, end, d);
  if (p == nullptr || d.exponent < -22 || d.exponent > 22) return nullptr;
  auto number = static_cast<double>(static_cast<int64_t>(d.digits));
  number = d.exponent < 0 ? number / number_text::kExactPowers[-d.exponent]
                          : number * number_text::kExactPowers[d.exponent];
  constexpr uint64_t kMiddle = uint64_t{1} << 28;  // of the 29 bits that a float lacks
  const uint64_t bits = std::bit_cast<uint64_t>(number);
  if (((bits - (kMiddle - 4)) & ((uint64_t{1} << 29) - 1)) <= 8) return nullptr;
  if (number > static_cast<double>(std::numeric_limits<float>::max())) return nullptr;
  const auto narrow = static_cast<float>(number);
  value = d.negative ? -narrow : narrow;
  return p;
}

inline const char* FastInteger(const char* p, const char* end, int64_t& value) {
  if (p == end) return nullptr;
  const bool negative = *p == '-';
  p += negative;
  uint64_t digits = 0;
  const char* begin = p;
  p = number_text::ScanDigits(p, end, digits);
  if (p == begin || p - begin > 18) return nullptr;
  value = negative ? -static_cast<int64_t>(digits) : static_cast<int64_t>(digits);
  return p;
}

}  // namespace flatout::data
