#include "flatout/data/formats/number_text.h"

#include <charconv>
#include <system_error>

namespace flatout::data {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether the text is a number by our grammar; from_chars knows another one. `small`: whether its
// first digit that is not zero, with its exponent, stands after the decimal point.
bool IsNumber(std::string_view text, bool& small) {
  size_t i = 0;
  const size_t n = text.size();
  if (i < n && text[i] == '-') ++i;
  int64_t magnitude = 0;  // of the leading digit: 10^(magnitude - 1) <= |x|
  bool seen = false;
  size_t digits = 0;
  for (; i < n && IsDigit(text[i]); ++i, ++digits) {
    seen = seen || text[i] != '0';
    magnitude += seen;
  }
  if (i < n && text[i] == '.') {
    for (++i; i < n && IsDigit(text[i]); ++i, ++digits) {
      if (!seen && text[i] == '0') --magnitude;
      seen = seen || text[i] != '0';
    }
  }
  if (digits == 0) return false;
  if (i < n && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    const bool down = i < n && text[i] == '-';
    if (i < n && (text[i] == '-' || text[i] == '+')) ++i;
    const size_t begin = i;
    int64_t exponent = 0;
    // Bounded: no text has 10^15 digits that could weigh against such an exponent.
    for (; i < n && IsDigit(text[i]); ++i) {
      if (exponent < int64_t{1000000000000000}) exponent = exponent * 10 + (text[i] - '0');
    }
    if (i == begin) return false;
    magnitude += down ? -exponent : exponent;
  }
  small = !seen || magnitude <= 0;
  return i == n;
}

template <typename Float>
NumberFault Parse(std::string_view text, Float& value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return NumberFault::kSyntax;
  }
  bool small = false;
  if (!IsNumber(text, small)) return NumberFault::kSyntax;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    if (!small) return NumberFault::kRange;
    value = text.front() == '-' ? Float{-0.0} : Float{0};
    return NumberFault::kNone;
  }
  if (error != std::errc() || end != text.data() + text.size()) return NumberFault::kSyntax;
  // Some versions of from_chars give infinity instead of an error.
  return std::isfinite(value) ? NumberFault::kNone : NumberFault::kRange;
}

template <typename Integer>
NumberFault ParseWhole(std::string_view text, Integer& value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return NumberFault::kSyntax;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return NumberFault::kSyntax;
  }
  return error == std::errc() ? NumberFault::kNone : NumberFault::kRange;
}

}  // namespace

NumberFault ParseFloat(std::string_view text, float& value) { return Parse(text, value); }
NumberFault ParseFloat(std::string_view text, double& value) { return Parse(text, value); }

NumberFault ParseInteger(std::string_view text, int64_t& value) { return ParseWhole(text, value); }
NumberFault ParseUnsigned(std::string_view text, uint64_t& value) {
  // A negative number is a number all the same: out of range.
  int64_t negative = 0;
  if (text.starts_with('-')) {
    const NumberFault fault = ParseWhole(text, negative);
    if (fault == NumberFault::kNone && negative == 0) {
      value = 0;
      return fault;
    }
    return fault == NumberFault::kNone ? NumberFault::kRange : fault;
  }
  return ParseWhole(text, value);
}

}  // namespace flatout::data
