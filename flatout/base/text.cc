#include "flatout/base/text.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

namespace flatout {

std::string HumanBytes(int64_t bytes) {
  if (bytes < 0) return "-" + (bytes == INT64_MIN ? "8.00 EiB" : HumanBytes(-bytes));
  if (bytes < 1024) return fmt::format("{} B", bytes);
  static constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB",
                                                             "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.5 and up would print as a four-digit number; that is 1.00 of the next unit.
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

std::string HumanDuration(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds < 0) return "-" + HumanDuration(-seconds);
  const auto three = [](double value) {
    return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  };
  if (seconds < 999.5e-6) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.9995) return three(seconds * 1e3) + " ms";
  if (seconds < 59.95) return three(seconds) + " s";
  if (seconds > 1e15) return fmt::format("{:.3g} d", seconds / 86400);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  const int64_t minutes = (whole + 30) / 60;
  if (minutes < 24 * 60) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  const int64_t hours = (minutes + 30) / 60;
  return fmt::format("{} d {:02} h", hours / 24, hours % 24);
}

std::string HumanCount(int64_t count) {
  std::string digits = fmt::format("{}", count);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::optional<int64_t> ParseBytes(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  std::string unit;
  for (const char c : text.substr(static_cast<size_t>(end - text.data()))) {
    if (c != ' ' || !unit.empty()) unit += static_cast<char>(std::tolower(c));
  }
  double factor = 0;
  if (unit.empty() || unit == "b") {
    factor = 1;
  } else {
    static constexpr std::string_view kPrefixes = "kmgt";
    const size_t power = kPrefixes.find(unit[0]);
    if (power == std::string_view::npos) return std::nullopt;
    const std::string rest = unit.substr(1);
    if (rest == "ib") {
      factor = std::pow(1024.0, static_cast<double>(power + 1));
    } else if (rest == "b") {
      factor = std::pow(1000.0, static_cast<double>(power + 1));
    } else {
      return std::nullopt;
    }
  }
  const double bytes = value * factor;
  if (bytes >= 9.2e18) return std::nullopt;
  return static_cast<int64_t>(std::llround(bytes));
}

}  // namespace flatout
