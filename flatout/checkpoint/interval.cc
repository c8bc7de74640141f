#include "flatout/checkpoint/interval.h"

#include <algorithm>
#include <cmath>

#include "flatout/base/error.h"

namespace flatout::checkpoint {
namespace {

constexpr double kFirstAutomatic = 2;
// Interruptions that the assumption counts for.
constexpr double kBelief = 0.05;
constexpr double kLeastAutomatic = 0.25;

}  // namespace

double DalyInterval(double cost, double between) {
  if (!(cost > 0) || !(between > 0)) {
    throw Internal("DalyInterval({}, {}): both must be positive", cost, between);
  }
  const double part = cost / (2 * between);
  if (part >= 1) return between;
  return std::sqrt(2 * cost * between) * (1 + std::sqrt(part) / 3 + part / 9) - cost;
}

double LostShare(double interval, double cost, double between, double restart) {
  const double wall =
      between / interval * std::exp(restart / between) * std::expm1((interval + cost) / between);
  return 1 - 1 / wall;
}

double TimeBetweenInterruptions(int64_t interruptions, double seconds, double assumed) {
  const double seen =
      (kBelief * assumed + seconds) / (kBelief + static_cast<double>(interruptions));
  return std::min(seen, std::max(assumed, seconds));
}

double AutomaticSeconds(const IntervalFacts& facts) {
  if (facts.cost <= 0 && facts.save_seconds <= 0) return kFirstAutomatic;
  // A snapshot that cost nothing measurable still has its price: the disk was busy.
  const double cost = std::max(facts.cost, 1e-3);
  return std::max({DalyInterval(cost, facts.between), 2 * facts.save_seconds, kLeastAutomatic});
}

bool SaveDue(const IntervalOptions& options, const IntervalFacts& facts, int64_t step,
             int64_t last_step, double seconds) {
  if (step <= last_step) return false;
  if (options.every_steps > 0 && step / options.every_steps > last_step / options.every_steps) {
    return true;
  }
  if (options.every_seconds > 0 && seconds >= options.every_seconds) return true;
  return options.automatic && seconds >= AutomaticSeconds(facts);
}

}  // namespace flatout::checkpoint
