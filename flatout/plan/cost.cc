#include "flatout/plan/cost.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/xla/cards.h"

namespace flatout::plan {
namespace {

constexpr double kMostPrice = 10000;

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool StartsNumber(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+'; }

}  // namespace

Prices Prices::Parse(const std::vector<std::string>& texts) {
  Prices prices;
  for (const std::string& text : texts) {
    for (size_t at = 0; at <= text.size();) {
      const size_t comma = std::min(text.find(',', at), text.size());
      prices.Add(text.substr(at, comma - at));
      at = comma + 1;
    }
  }
  return prices;
}

void Prices::Add(const std::string& text) {
  std::string_view rest = Trim(text);
  const auto wrong = [&](const std::string& why) {
    return Invalid(
        "--price \"{}\": {}; give what one GPU costs per hour, for all cards (2.5), for some "
        "(h100=2.5,l4=0.8) or both, with a currency if you like (2.5 EUR)",
        text, why);
  };
  std::string card;
  if (const size_t equals = rest.find('='); equals != std::string_view::npos) {
    const std::string_view name = Trim(rest.substr(0, equals));
    if (name.empty()) throw wrong("there is no card before the =");
    card =
        WithContext(fmt::format("--price \"{}\"", text), [&] { return xla::FindCard(name).name; });
    rest = Trim(rest.substr(equals + 1));
  }
  std::string currency;
  size_t begin = 0;
  while (begin < rest.size() && !StartsNumber(rest[begin])) ++begin;
  currency = std::string(Trim(rest.substr(0, begin)));
  rest.remove_prefix(begin);
  if (rest.starts_with('+')) rest.remove_prefix(1);
  double price = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), price);
  if (error == std::errc::invalid_argument) throw wrong("there is no number in it");
  if (error != std::errc() || !std::isfinite(price)) throw wrong("that is no price");
  const std::string_view after =
      Trim(std::string_view(end, static_cast<size_t>(rest.data() + rest.size() - end)));
  if (!after.empty() && !currency.empty()) throw wrong("it has a currency on either side");
  if (!after.empty()) currency = std::string(after);
  if (currency.size() > 8 || currency.find_first_of("0123456789=.;:/") != std::string::npos) {
    throw wrong(fmt::format("\"{}\" is neither a number nor a currency", currency));
  }
  if (price < 0) throw wrong("a price cannot be negative");
  if (price > kMostPrice) {
    throw wrong(fmt::format("no GPU costs more than {} an hour",
                            HumanCount(static_cast<int64_t>(kMostPrice))));
  }
  if (!currency.empty()) {
    if (!currency_.empty() && currency_ != currency) {
      throw wrong(fmt::format("another price is in {}; all must be in one currency", currency_));
    }
    currency_ = currency;
  }
  if (card.empty()) {
    if (all_) {
      throw wrong(
          "there are two prices for all cards (a comma separates prices; thousands are written "
          "without one, and a decimal point is .)");
    }
    all_ = price;
  } else if (!by_card_.emplace(card, price).second) {
    throw wrong(fmt::format("there are two prices for {}", card));
  }
}

std::vector<std::string> Prices::cards() const {
  std::vector<std::string> names;
  for (const auto& [card, price] : by_card_) names.push_back(card);
  return names;
}

std::optional<double> Prices::Of(const std::string& card) const {
  const auto found = by_card_.find(card);
  return found != by_card_.end() ? found->second : all_;
}

std::string Prices::Money(double amount) const {
  const std::string number = amount >= 100 ? fmt::format("{:.0f}", amount) : Rough(amount);
  if (currency_.empty()) return number;
  // Letters are a code, which stands behind; anything else is a sign.
  const char first = currency_.front();
  const bool code = (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
  return code ? number + " " + currency_ : currency_ + number;
}

Cost CostOf(double steps, const Range& seconds, int64_t gpus, std::optional<double> price) {
  Cost cost;
  cost.hours = seconds * (steps / 3600);
  if (price) cost.money = cost.hours * (static_cast<double>(gpus) * *price);
  return cost;
}

std::string Rough(double value) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return "not known";
  const double magnitude = std::pow(10, std::floor(std::log10(std::abs(value))) - 1);
  const double rounded = std::round(value / magnitude) * magnitude;
  const int digits = static_cast<int>(-std::floor(std::log10(std::abs(rounded)))) + 1;
  if (std::abs(rounded) >= 1000) return HumanCount(std::llround(rounded));
  return fmt::format("{:.{}f}", rounded, std::max(0, digits));
}

std::string RoughDuration(double seconds) {
  if (seconds < 1e-3) return Rough(seconds * 1e6) + " us";
  if (seconds < 1) return Rough(seconds * 1e3) + " ms";
  if (seconds < 120) return Rough(seconds) + " s";
  if (seconds < 2 * 3600) return Rough(seconds / 60) + " min";
  if (seconds < 48 * 3600) return Rough(seconds / 3600) + " h";
  return Rough(seconds / 86400) + " d";
}

}  // namespace flatout::plan
