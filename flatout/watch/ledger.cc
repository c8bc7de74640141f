#include "flatout/watch/ledger.h"

#include <algorithm>

#include "flatout/base/clock.h"

namespace flatout::watch {

std::string_view Name(Cause cause) {
  static constexpr std::array<std::string_view, kNumCauses> kNames = {
      "start",         "compile",    "input",      "copy", "compute",
      "communication", "checkpoint", "evaluation", "host"};
  return kNames[static_cast<size_t>(cause)];
}

double LedgerReport::sum() const {
  double sum = 0;
  for (double part : seconds) sum += part;
  return sum;
}

double LedgerReport::training() const {
  return sum() - of(Cause::kStart) - of(Cause::kCompile) - of(Cause::kEvaluation);
}

std::optional<double> LedgerReport::full() const {
  if (of(Cause::kCompute) <= 0) return std::nullopt;
  return of(Cause::kCompute) / training();
}

Ledger::Ledger(double process_age)
    : born_(SteadySeconds() - process_age), phases_({{born_, Cause::kStart}}), settled_(born_) {}

double Ledger::Now() const { return SteadySeconds(); }

void Ledger::Enter(Cause cause) {
  const std::lock_guard lock(mutex_);
  if (phases_.back().cause == cause) return;
  phases_.push_back({Now(), cause});
  Advance();
}

Cause Ledger::phase() const {
  const std::lock_guard lock(mutex_);
  return phases_.back().cause;
}

int64_t Ledger::Launched(Cause cause) {
  const std::lock_guard lock(mutex_);
  launches_.push_back({next_id_, cause, Now(), std::nullopt});
  return next_id_++;
}

void Ledger::Completed(int64_t id) {
  const std::lock_guard lock(mutex_);
  for (Launch& launch : launches_) {
    if (launch.id == id && !launch.completed) launch.completed = Now();
  }
  Advance();
}

void Ledger::Reattribute(Cause from, Cause to, double seconds) {
  const std::lock_guard lock(mutex_);
  Advance();
  double& source = report_.seconds[static_cast<size_t>(from)];
  const double moved = std::clamp(seconds, 0.0, source);
  source -= moved;
  report_.seconds[static_cast<size_t>(to)] += moved;
}

int Ledger::in_flight() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(
      std::count_if(launches_.begin(), launches_.end(),
                    [](const Launch& launch) { return !launch.completed.has_value(); }));
}

void Ledger::SettleGap(double until, LedgerReport& report, double from) const {
  for (size_t i = 0; i < phases_.size(); ++i) {
    const double begin = std::max(from, phases_[i].begin);
    const double end = std::min(until, i + 1 < phases_.size() ? phases_[i + 1].begin : until);
    if (end > begin) report.seconds[static_cast<size_t>(phases_[i].cause)] += end - begin;
  }
}

void Ledger::Advance() {
  // Launches run in order on the device: the first one's busy time is final once it has completed.
  while (!launches_.empty() && launches_.front().completed) {
    const Launch& launch = launches_.front();
    const double begin = std::max(settled_, launch.launched);
    SettleGap(begin, report_, settled_);
    const double end = std::max(begin, *launch.completed);
    report_.seconds[static_cast<size_t>(launch.cause)] += end - begin;
    settled_ = end;
    launches_.pop_front();
  }
  if (launches_.empty()) {
    // Nothing in flight: everything up to the latest phase's beginning is a gap.
    const double until = phases_.back().begin;
    if (until > settled_) {
      SettleGap(until, report_, settled_);
      settled_ = until;
    }
  }
  while (phases_.size() > 1 && phases_[1].begin <= settled_) phases_.pop_front();
}

LedgerReport Ledger::Report() const {
  const std::lock_guard lock(mutex_);
  const double now = Now();
  LedgerReport report = report_;
  double settled = settled_;
  for (const Launch& launch : launches_) {
    const double begin = std::max(settled, std::min(launch.launched, now));
    SettleGap(begin, report, settled);
    const double end = std::max(begin, launch.completed.value_or(now));
    report.seconds[static_cast<size_t>(launch.cause)] += end - begin;
    settled = end;
  }
  SettleGap(now, report, settled);
  report.wall = now - born_;
  return report;
}

}  // namespace flatout::watch
