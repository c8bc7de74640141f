#include "flatout/watch/ledger.h"

#include <algorithm>
#include <utility>

#include "flatout/base/clock.h"

namespace flatout::watch {

std::string_view Name(Cause cause) {
  static constexpr std::array<std::string_view, kNumCauses> kNames = {
      "start",         "compile",    "input",      "copy", "compute",
      "communication", "checkpoint", "evaluation", "host"};
  return kNames[static_cast<size_t>(cause)];
}

std::string_view Name(Stage stage) {
  static constexpr std::array<std::string_view, kNumStages> kNames = {
      "",        "launch", "results",    "callbacks", "log",    "snapshot",
      "weights", "slowed", "validation", "test",      "ceiling"};
  return kNames[static_cast<size_t>(stage)];
}

Cause CauseOf(Stage stage) {
  switch (stage) {
    case Stage::kSnapshot:
    case Stage::kWeights:
    case Stage::kSlowed:
      return Cause::kCheckpoint;
    case Stage::kValidation:
    case Stage::kTest:
    case Stage::kCeiling:
      return Cause::kEvaluation;
    default:
      return Cause::kHost;
  }
}

double LedgerReport::sum() const {
  double sum = 0;
  for (double part : seconds) sum += part;
  return sum;
}

Stage LedgerReport::LongestStage(Cause cause) const {
  Stage longest = Stage::kNone;
  double most = 0, rest = of(cause);
  for (int i = 1; i < kNumStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (CauseOf(stage) != cause) continue;
    rest -= of(stage);
    if (of(stage) > most) {
      most = of(stage);
      longest = stage;
    }
  }
  return most > rest ? longest : Stage::kNone;
}

LedgerReport LedgerReport::Since(const LedgerReport& before) const {
  LedgerReport since = *this;
  for (int i = 0; i < kNumCauses; ++i) since.seconds[i] -= before.seconds[i];
  for (int i = 0; i < kNumStages; ++i) since.stages[i] -= before.stages[i];
  since.wall -= before.wall;
  return since;
}

LedgerReport& LedgerReport::operator+=(const LedgerReport& other) {
  for (int i = 0; i < kNumCauses; ++i) seconds[i] += other.seconds[i];
  for (int i = 0; i < kNumStages; ++i) stages[i] += other.stages[i];
  wall += other.wall;
  return *this;
}

double LedgerReport::training() const {
  return sum() - of(Cause::kStart) - of(Cause::kCompile) - of(Cause::kEvaluation);
}

std::optional<double> LedgerReport::full() const {
  if (of(Cause::kCompute) <= 0) return std::nullopt;
  return of(Cause::kCompute) / training();
}

Ledger::Ledger(double process_age)
    : born_(SteadySeconds() - process_age),
      phases_({{born_, Cause::kStart, Stage::kNone}}),
      settled_(born_) {}

double Ledger::Now() const { return SteadySeconds(); }

void Ledger::Enter(Cause cause, Stage stage) {
  const std::lock_guard lock(mutex_);
  const Span last = phases_.back();
  if (last.cause == cause && last.stage == stage) return;
  const double now = Now();
  Keep({.begin = last.begin, .end = now, .cause = last.cause, .stage = last.stage});
  phases_.push_back({now, cause, stage});
  Advance();
}

Cause Ledger::phase() const {
  const std::lock_guard lock(mutex_);
  return phases_.back().cause;
}

Stage Ledger::stage() const {
  const std::lock_guard lock(mutex_);
  return phases_.back().stage;
}

int64_t Ledger::Launched(Cause cause, int replicas, bool awaits_input) {
  const std::lock_guard lock(mutex_);
  Launch& launch = launches_.emplace_back();
  launch.id = next_id_++;
  launch.cause = cause;
  const Span& phase = phases_.back();
  launch.stage = phase.cause == cause ? phase.stage : Stage::kNone;
  launch.launched = Now();
  launch.awaits_input = awaits_input;
  launch.arrived = 0;
  launch.left = replicas;
  if (replicas > 1) launch.ends.resize(static_cast<size_t>(replicas));
  return launch.id;
}

void Ledger::InputArrived(int64_t id) {
  const std::lock_guard lock(mutex_);
  for (Launch& launch : launches_) {
    if (launch.id == id && launch.arrived == 0) launch.arrived = Now();
  }
}

void Ledger::End(Launch& launch, int replica, double now) {
  const auto index = static_cast<size_t>(replica);
  if (!launch.ends.empty()) {
    if (index >= launch.ends.size() || launch.ends[index] > 0) return;
    launch.ends[index] = now;
  }
  // A device's span begins when it can: after the launch, and after what it did before.
  if (last_ends_.size() <= index) last_ends_.resize(index + 1, born_);
  if (busy_.size() <= index) busy_.resize(index + 1);
  const double begin = std::max({launch.launched, launch.arrived, last_ends_[index]});
  if (now > begin) {
    if (launch.cause == Cause::kCompute) busy_[index] += now - begin;
    Keep({begin, now, launch.cause, launch.stage, replica, launch.id});
    last_ends_[index] = now;
  }
  if (--launch.left == 0) launch.completed = now;
}

void Ledger::Completed(int64_t id, int replica) {
  const std::lock_guard lock(mutex_);
  const double now = Now();
  for (Launch& launch : launches_) {
    if (launch.id == id && !launch.completed && replica >= 0) End(launch, replica, now);
  }
  Advance();
}

void Ledger::Abandoned(int64_t id) {
  const std::lock_guard lock(mutex_);
  for (Launch& launch : launches_) {
    if (launch.id == id && !launch.completed) launch.completed = Now();
  }
  Advance();
}

void Ledger::Charge(LedgerReport& report, Cause cause, Stage stage, double seconds) const {
  report.seconds[static_cast<size_t>(cause)] += seconds;
  if (stage != Stage::kNone && CauseOf(stage) == cause) {
    report.stages[static_cast<size_t>(stage)] += seconds;
  }
}

void Ledger::ChargeLaunch(LedgerReport& report, const Launch& launch, double begin,
                          double end) const {
  double computes = begin;
  // An input that nobody has seen arrive has: its launch has ended.
  if (launch.awaits_input && (launch.arrived > 0 || !launch.completed)) {
    computes = std::clamp(launch.arrived > 0 ? launch.arrived : end, begin, end);
  }
  Charge(report, Cause::kCopy, Stage::kNone, computes - begin);
  Charge(report, launch.cause, launch.stage, end - computes);
}

void Ledger::Reattribute(Cause from, Cause to, double seconds, Stage to_stage) {
  const std::lock_guard lock(mutex_);
  Advance();
  double& source = report_.seconds[static_cast<size_t>(from)];
  const double moved = std::clamp(seconds, 0.0, source);
  source -= moved;
  Charge(report_, to, to_stage, moved);
}

int Ledger::in_flight() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(
      std::count_if(launches_.begin(), launches_.end(),
                    [](const Launch& launch) { return !launch.completed.has_value(); }));
}

std::vector<double> Ledger::ReplicaBusy() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

void Ledger::KeepTrace(size_t most) {
  const std::lock_guard lock(mutex_);
  most_spans_ = most;
}

std::vector<LedgerSpan> Ledger::TakeTrace() {
  const std::lock_guard lock(mutex_);
  return std::exchange(trace_, {});
}

void Ledger::Keep(const LedgerSpan& span) {
  if (trace_.size() < most_spans_) trace_.push_back(span);
}

void Ledger::SettleGap(double until, LedgerReport& report, double from) const {
  for (size_t i = 0; i < phases_.size(); ++i) {
    const double begin = std::max(from, phases_[i].begin);
    const double end = std::min(until, i + 1 < phases_.size() ? phases_[i + 1].begin : until);
    if (end > begin) Charge(report, phases_[i].cause, phases_[i].stage, end - begin);
  }
}

void Ledger::Advance() {
  // Launches run in order on the device: the first one's busy time is final once it has completed.
  while (!launches_.empty() && launches_.front().completed) {
    const Launch& launch = launches_.front();
    const double begin = std::max(settled_, launch.launched);
    SettleGap(begin, report_, settled_);
    const double end = std::max(begin, *launch.completed);
    ChargeLaunch(report_, launch, begin, end);
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
    ChargeLaunch(report, launch, begin, end);
    settled = end;
  }
  SettleGap(now, report, settled);
  report.wall = now - born_;
  return report;
}

}  // namespace flatout::watch
