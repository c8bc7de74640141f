#include "flatout/watch/step_times.h"

#include <algorithm>
#include <cmath>

namespace flatout::watch {
namespace {

// A bucket is that much wider than the one below it.
const double kWidth = std::log(1.02);
constexpr double kLeast = 1e-9;

}  // namespace

void StepTimes::Add(int64_t first, int64_t steps, const LedgerReport& spent) {
  if (steps <= 0) return;
  const double seconds = std::max(spent.training(), kLeast) / static_cast<double>(steps);
  buckets_[static_cast<int>(std::lround(std::log(seconds) / kWidth))] += steps;
  steps_ += steps;
  if (slowest_ && seconds <= slowest_->seconds) return;
  Slowest slowest{.step = first, .seconds = seconds, .cause = Cause::kCompute};
  for (Cause cause :
       {Cause::kInput, Cause::kCopy, Cause::kCommunication, Cause::kCheckpoint, Cause::kHost}) {
    if (spent.of(cause) > spent.of(slowest.cause)) slowest.cause = cause;
  }
  slowest_ = slowest;
}

std::optional<double> StepTimes::Quantile(double share) const {
  if (steps_ == 0) return std::nullopt;
  const double wanted = std::clamp(share, 0.0, 1.0) * static_cast<double>(steps_);
  int64_t below = 0;
  for (const auto& [bucket, steps] : buckets_) {
    below += steps;
    if (static_cast<double>(below) >= wanted) return std::exp(bucket * kWidth);
  }
  return slowest_->seconds;
}

}  // namespace flatout::watch
