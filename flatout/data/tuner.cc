#include "flatout/data/tuner.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace flatout::data {
namespace {

constexpr double kInterval = 0.1;   // seconds, at least
constexpr int64_t kLeastItems = 4;  // in an interval: fewer say nothing about the rate
constexpr double kLongest = 2;      // seconds, after which an interval ends with fewer items too
constexpr double kWaits = 0.01;     // share of the time; the aim is to keep below
constexpr double kBetter = 1.02;    // rate, for a change to be kept
constexpr double kFirstHold = 1, kLongestHold = 30;  // seconds
constexpr int kIdleIntervals = 10;

}  // namespace

Tuner::Setting Tuner::Start(const Limits& limits) {
  Setting start;
  // The queue fills while programs compile; it costs nothing to have all cores at it. Those that
  // are not needed go when the step runs.
  start.workers = limits.fixed_workers > 0 ? limits.fixed_workers
                                           : std::clamp(limits.cores, 1, limits.max_workers);
  start.depth = limits.fixed_depth > 0 ? limits.fixed_depth : std::max(4, start.workers + 1);
  return start;
}

Tuner::Tuner(const Limits& limits) : limits_(limits), current_(Start(limits)) {}

std::optional<Tuner::Setting> Tuner::Observe(const Measured& now) {
  if (!last_) {
    last_ = now;
    return std::nullopt;
  }
  const double seconds = now.seconds - last_->seconds;
  const int64_t items = now.items - last_->items;
  if (seconds < kInterval || (items < kLeastItems && seconds < kLongest)) return std::nullopt;
  std::optional<Setting> setting;
  if (settle_ > 0) {
    --settle_;  // what is measured now was partly made under the old setting
  } else {
    setting = Decide(now);
  }
  last_ = now;
  if (!setting || (setting->workers == current_.workers && setting->depth == current_.depth)) {
    return std::nullopt;
  }
  current_ = *setting;
  settle_ = 1;
  return current_;
}

Tuner::Setting Tuner::Change(int workers, int depth, std::string why) {
  Setting next;
  next.workers = limits_.fixed_workers > 0 ? limits_.fixed_workers
                                           : std::clamp(workers, 1, limits_.max_workers);
  next.depth = limits_.fixed_depth > 0 ? limits_.fixed_depth : std::clamp(depth, 1, kMostDepth);
  if (next.workers != current_.workers) {
    next.reason = fmt::format("workers {} -> {}", current_.workers, next.workers);
  }
  if (next.depth != current_.depth) {
    next.reason += fmt::format("{}depth {} -> {}", next.reason.empty() ? "" : ", ", current_.depth,
                               next.depth);
  }
  next.reason += ": " + std::move(why);
  return next;
}

std::optional<Tuner::Setting> Tuner::Decide(const Measured& now) {
  const double seconds = now.seconds - last_->seconds;
  const double rate = static_cast<double>(now.records - last_->records) / seconds;
  const double wait = (now.wait - last_->wait) / seconds;
  const double busy = now.busy - last_->busy;
  const double computes = now.cpu - last_->cpu + now.queued - last_->queued;  // or would
  const double full = now.full - last_->full;
  if (trial_) {
    const Trial trial = *std::exchange(trial_, std::nullopt);
    if (rate < kBetter * trial.rate && wait > kWaits) {
      hold_seconds_ = std::min(kLongestHold, std::max(kFirstHold, 2 * hold_seconds_));
      hold_until_ = now.seconds + hold_seconds_;
      return Change(trial.before.workers, std::max(current_.depth, trial.before.depth),
                    fmt::format("{:.0f} records/s with them, {:.0f} before", rate, trial.rate));
    }
    hold_seconds_ = 0;
  }
  if (wait > kWaits) {
    idle_intervals_ = 0;
    // Full and empty within one interval: the queue is too short for how the times vary.
    if (limits_.fixed_depth == 0 && full > kWaits * seconds &&
        current_.depth < std::min(kMostDepth, now.most_depth)) {
      return Change(current_.workers, std::min(2 * current_.depth, now.most_depth),
                    fmt::format("the step waited {:.0f} % of the time although the queue had been "
                                "full",
                                100 * wait));
    }
    if (limits_.fixed_workers > 0 || now.seconds < hold_until_) return std::nullopt;
    // Workers that would keep all cores busy at the share of time that they compute now.
    const double share = busy > 0 ? std::clamp(computes / busy, 0.01, 1.0) : 1;
    const int wanted = static_cast<int>(std::ceil(0.9 * limits_.cores / share));
    const int next = std::min(
        {std::max(wanted, current_.workers + 1), 2 * current_.workers, limits_.max_workers});
    if (next <= current_.workers) return std::nullopt;
    trial_ = Trial{current_, rate};
    return Change(next, std::max(current_.depth, std::min(next + 1, now.most_depth)),
                  fmt::format("the step waited {:.0f} % of the time", 100 * wait));
  }
  // More than one worker's worth of idle time: one of them is not needed.
  if (limits_.fixed_workers == 0 && current_.workers > 1 && full > 1.2 * seconds) {
    if (++idle_intervals_ >= kIdleIntervals) {
      idle_intervals_ = 0;
      return Change(current_.workers - 1, current_.depth,
                    fmt::format("workers were idle {:.0f} % of their time",
                                100 * full / (seconds * current_.workers)));
    }
  } else {
    idle_intervals_ = 0;
  }
  return std::nullopt;
}

}  // namespace flatout::data
