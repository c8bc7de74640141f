// What training costs: prices per GPU-hour, hours and money per epoch and run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "flatout/plan/estimate.h"

namespace flatout::plan {

// Prices of one GPU for one hour.
class Prices {
 public:
  Prices() = default;
  // Reads what --price takes, several texts or one with commas: "2.5" (all cards),
  // "h100=2.5,l4=0.8" (some), "2.5,h100=4" (all, but one), with a currency before or after the
  // number: "2.5 EUR",
  // "$2.50", "h100=2.5EUR". Cards by name or alias. Throws UserError for what is no number, is
  // negative, not finite or above 10,000, for a card that does not exist (naming the nearest) or is
  // priced twice, and for two currencies.
  static Prices Parse(const std::vector<std::string>& texts);

  bool empty() const { return !all_ && by_card_.empty(); }
  // The cards that have a price of their own, by name.
  std::vector<std::string> cards() const;
  // Of the card called `card` (its own name, no alias); nullopt where no price is known.
  std::optional<double> Of(const std::string& card) const;
  // "USD", "$", or "" where none was named.
  const std::string& currency() const { return currency_; }
  // "12.50 USD", "$12.50", "0.0021", with as many digits as an estimate deserves.
  std::string Money(double amount) const;

 private:
  void Add(const std::string& text);

  std::optional<double> all_;
  std::map<std::string, double> by_card_;
  std::string currency_;
};

// Of one epoch or run, by wall time of training steps alone: no start, compile, evaluation,
// checkpoints, nor waiting for input.
struct Cost {
  Range hours;                 // of wall time
  std::optional<Range> money;  // hours x gpus x price; nullopt without a price
};

// `steps` at `seconds` each on `gpus` cards at `price` per card and hour.
Cost CostOf(double steps, const Range& seconds, int64_t gpus, std::optional<double> price);

// Two significant digits, as estimates deserve: "0.0021", "0.45", "12", "3,400".
std::string Rough(double value);
// "2.1 ms", "45 us", "3.2 s", "12 min", "4.5 h", "3.1 d": two digits.
std::string RoughDuration(double seconds);

}  // namespace flatout::plan
