// How long steps took, and which was the slowest and why: a mean hides one step in a thousand that
// takes a second, and one slow step is another trouble than a thousand that are a little slow.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "flatout/watch/ledger.h"

namespace flatout::watch {

class StepTimes {
 public:
  // A launch of `steps` steps ended, of which `first` is the first. `spent`: the training thread's
  // and the devices' account since the launch before ended. Start, compile and evaluation between
  // two launches are no step's time.
  void Add(int64_t first, int64_t steps, const LedgerReport& spent);

  int64_t steps() const { return steps_; }
  // Seconds of a step that so many of the steps did not exceed, 0 <= share <= 1, to 2 %; each step
  // of a launch counts with the launch's mean. Nothing before the first step.
  std::optional<double> Quantile(double share) const;

  struct Slowest {
    int64_t step = 0;  // the launch's first
    double seconds = 0;
    Cause cause = Cause::kCompute;  // on which most of it went
  };
  const std::optional<Slowest>& slowest() const { return slowest_; }

 private:
  std::map<int, int64_t> buckets_;  // steps by the logarithm of their seconds
  int64_t steps_ = 0;
  std::optional<Slowest> slowest_;
};

}  // namespace flatout::watch
