// What a run costs: the price of the machine by the hour, over the ledger.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "flatout/base/config.h"
#include "flatout/watch/ledger.h"

namespace flatout::watch {

// The [cost] table of a run file.
struct CostOptions {
  std::optional<double> price_per_hour;  // of all that the run occupies, whether it is used or not
  std::string currency = "USD";

  template <class V>
  void Visit(V& v) {
    v("price_per_hour", price_per_hour);
    v("currency", currency);
  }
};
// Throws UserError, at its place, for a negative price and a currency that is no short word.
CostOptions ReadCostOptions(const Config& table);

struct Cost {
  double per_hour = 0;
  std::string currency;
  double total = 0;                           // of the ledger's wall time
  std::array<double, kNumCauses> by_cause{};  // adds up to total
  std::optional<double> per_epoch;            // in the mean, without start and compile
  double of(Cause cause) const { return by_cause[static_cast<size_t>(cause)]; }
  // What was paid while the device did not train: all but compute.
  double lost() const { return total - of(Cause::kCompute); }
};

// Nothing without a price. `epochs`: done so far, parts of one too.
std::optional<Cost> CostOf(const CostOptions& options, const LedgerReport& ledger, double epochs);

// "12.40 USD", "0.0124 USD": two decimals from 1 on, else three figures.
std::string Money(double amount, const std::string& currency);

// "cost 12.40 USD so far at 2.50 USD per hour (0.31 USD per epoch); lost to input 3.10 USD (25 %),
// evaluation 0.40 USD (3 %)": the three causes that cost most beside compute.
std::string DescribeCost(const Cost& cost);

}  // namespace flatout::watch
