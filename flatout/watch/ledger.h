// flatout/watch: where the time went, and what to do about it.
//
// The Ledger gives every moment of the process's life to one cause. Two records feed it: what the
// training thread is doing (phases), and when the device was busy (launches, from completion
// events). While the device is busy, the time is the device's: compute, or evaluation. In the gaps
// it is charged to what the training thread was doing. So the parts add up to wall time by
// construction. Unknown is never shown as 0: see LedgerReport.
//
// Communication between replicas of one process happens inside the compiled step and is part of
// compute; it is reported as not measured there.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flatout::watch {

enum class Cause {
  kStart,          // from process start until training could begin, without what follows
  kCompile,        // compiling programs, or loading them from the cache
  kInput,          // waiting for the input pipeline to read and assemble
  kCopy,           // waiting for a transfer to the device
  kCompute,        // the device runs training steps
  kCommunication,  // waiting for other processes
  kCheckpoint,     // saving
  kEvaluation,     // validation and test
  kHost,           // anything else: logging, launching, callbacks
};
inline constexpr int kNumCauses = 9;
std::string_view Name(Cause cause);  // "input"

// Seconds by cause since process start.
struct LedgerReport {
  std::array<double, kNumCauses> seconds{};
  double wall = 0;  // since process start
  double of(Cause cause) const { return seconds[static_cast<size_t>(cause)]; }
  double sum() const;
  // Training time: everything but start, compile and evaluation, and from the first step on.
  double training() const;
  // Share of the training time in which the device ran training steps, in [0, 1]; nothing before
  // the first step.
  std::optional<double> full() const;
};

class Ledger {
 public:
  // `process_age`: seconds that the process has already lived; they count as start.
  explicit Ledger(double process_age);

  // What the training thread does from now on. Thread-safe, but phases describe one thread.
  void Enter(Cause cause);
  Cause phase() const;

  // A program was launched on the device now; it counts as `cause` (compute or evaluation) while it
  // runs. Returns an id for Completed, which may be called from any thread, in any order.
  int64_t Launched(Cause cause);
  void Completed(int64_t id);
  // A launch that will never complete (it failed).
  void Abandoned(int64_t id) { Completed(id); }
  // The device is waited for input that is being copied, not read: moves `seconds` of the latest
  // input phase's charge to copy, as far as there is any.
  void Reattribute(Cause from, Cause to, double seconds);

  // The account up to now. Launches in flight count as busy from when they could start.
  LedgerReport Report() const;
  // Number of launches in flight.
  int in_flight() const;

 private:
  struct Launch {
    int64_t id;
    Cause cause;
    double launched;
    std::optional<double> completed;
  };
  struct Span {
    double begin;
    Cause cause;
  };

  double Now() const;
  // Gives [settled_, until) to causes: gaps by phase, busy time by launch. Needs mutex_.
  void SettleGap(double until, LedgerReport& report, double from) const;
  void Advance();

  const double born_;  // steady-clock time of process start
  mutable std::mutex mutex_;
  std::deque<Span> phases_;      // phases that reach past settled_; never empty
  std::deque<Launch> launches_;  // not settled yet, in launch order
  double settled_;               // time up to which report_ is final
  LedgerReport report_;
  int64_t next_id_ = 0;
};

// Enters a phase and goes back to the one before.
class Phase {
 public:
  Phase(Ledger& ledger, Cause cause) : ledger_(ledger), previous_(ledger.phase()) {
    ledger.Enter(cause);
  }
  ~Phase() { ledger_.Enter(previous_); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  Ledger& ledger_;
  Cause previous_;
};

}  // namespace flatout::watch
