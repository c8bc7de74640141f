#include "flatout/watch/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

namespace flatout::watch {
namespace {

// ISO 4217 has three letters; "credits" and the like are allowed.
constexpr size_t kLongestCurrency = 12;
// The dearest machines cost some thousands an hour, in currencies of small worth some millions.
constexpr double kHighestPrice = 1e9;
// A cause that costs less than this share is not worth a word.
constexpr double kWorthNaming = 0.005;

}  // namespace

CostOptions ReadCostOptions(const Config& table) {
  CostOptions options;
  ReadOptions(table, "[cost]", options);
  if (options.price_per_hour &&
      !(*options.price_per_hour >= 0 && *options.price_per_hour <= kHighestPrice)) {
    throw table.Find("price_per_hour")
        ->Complain(fmt::format("must be a price per hour from 0 to 1,000,000,000, found {}",
                               *options.price_per_hour));
  }
  const std::string& currency = options.currency;
  const bool word = !currency.empty() && currency.size() <= kLongestCurrency &&
                    std::all_of(currency.begin(), currency.end(),
                                [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; });
  if (!word) {
    throw table.Find("currency")
        ->Complain(
            fmt::format("must be a short word such as \"USD\" or \"EUR\", found \"{}\"", currency));
  }
  return options;
}

std::optional<Cost> CostOf(const CostOptions& options, const LedgerReport& ledger, double epochs) {
  if (!options.price_per_hour) return std::nullopt;
  Cost cost;
  cost.per_hour = *options.price_per_hour;
  cost.currency = options.currency;
  const double per_second = cost.per_hour / 3600;
  cost.total = ledger.wall * per_second;
  for (int i = 0; i < kNumCauses; ++i) cost.by_cause[i] = ledger.seconds[i] * per_second;
  if (epochs > 0) {
    cost.per_epoch =
        std::max(0.0, cost.total - cost.of(Cause::kStart) - cost.of(Cause::kCompile)) / epochs;
  }
  return cost;
}

std::string Money(double amount, const std::string& currency) {
  const double size = std::abs(amount);
  if (size == 0) return "0 " + currency;
  if (size >= 1) return fmt::format("{:.2f} {}", amount, currency);
  // Three figures: 0.124, 0.0124, 0.00124.
  const int decimals = std::min(9, 2 - static_cast<int>(std::floor(std::log10(size))));
  return fmt::format("{:.{}f} {}", amount, decimals, currency);
}

std::string DescribeCost(const Cost& cost) {
  std::string line = fmt::format("{} so far at {} per hour", Money(cost.total, cost.currency),
                                 Money(cost.per_hour, cost.currency));
  if (cost.per_epoch) line += fmt::format(" ({} per epoch)", Money(*cost.per_epoch, cost.currency));
  std::vector<int> causes;
  for (int i = 0; i < kNumCauses; ++i) {
    if (static_cast<Cause>(i) == Cause::kCompute) continue;
    if (cost.by_cause[i] > kWorthNaming * cost.total) causes.push_back(i);
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [&](int a, int b) { return cost.by_cause[a] > cost.by_cause[b]; });
  if (causes.size() > 3) causes.resize(3);
  for (size_t i = 0; i < causes.size(); ++i) {
    const double money = cost.by_cause[causes[i]];
    line += fmt::format("{} {} {} ({:.0f} %)", i == 0 ? "; of that for" : ",",
                        Name(static_cast<Cause>(causes[i])), Money(money, cost.currency),
                        100 * money / cost.total);
  }
  return line;
}

}  // namespace flatout::watch
