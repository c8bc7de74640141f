// flatout/watch: where the time went, and what to do about it.
//
// The Ledger gives every moment of the process's life to one cause. Two records feed it: what the
// training thread is doing (phases), and when the device was busy (launches, from completion
// events). While the device is busy, the time is the device's: compute, or evaluation. In the gaps
// it is charged to what the training thread was doing. So the parts add up to wall time by
// construction. Unknown is never shown as 0: see LedgerReport.
//
// Within a cause a Stage says more: what the training thread did in the host's gaps, which part of
// saving or of evaluation it was. The stages of a cause add up to no more than the cause.
//
// Communication between replicas of one process happens inside the compiled step and is part of
// compute; it is reported as not measured there. How long each replica's device was busy is known:
// one that takes longer than the others is what they wait for.
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

enum class Stage {
  kNone,
  kLaunch,      // host: handing a program and its arguments to the device
  kResults,     // host: reading losses and metrics back
  kCallbacks,   // host: whoever observes the run
  kLog,         // host: metrics.jsonl and the like
  kSnapshot,    // checkpoint: handing a snapshot over, or waiting for the one before
  kWeights,     // checkpoint: the last and the best weights
  kSlowed,      // checkpoint: steps that were slower beside a save
  kValidation,  // evaluation
  kTest,        // evaluation
  kCeiling,     // evaluation: what the device does alone
};
inline constexpr int kNumStages = 11;
std::string_view Name(Stage stage);  // "callbacks"
Cause CauseOf(Stage stage);          // kHost for kNone

// Seconds by cause since process start.
struct LedgerReport {
  std::array<double, kNumCauses> seconds{};
  std::array<double, kNumStages> stages{};  // of these, by stage; kNone stays 0
  double wall = 0;                          // since process start
  double of(Cause cause) const { return seconds[static_cast<size_t>(cause)]; }
  double of(Stage stage) const { return stages[static_cast<size_t>(stage)]; }
  // The stage that took most of a cause; kNone where what no stage says took more.
  Stage LongestStage(Cause cause) const;
  double sum() const;
  // What came after `before`.
  LedgerReport Since(const LedgerReport& before) const;
  LedgerReport& operator+=(const LedgerReport& other);
  // Training time: everything but start, compile and evaluation, and from the first step on.
  double training() const;
  // Share of the training time in which the device ran training steps, in [0, 1]; nothing before
  // the first step.
  std::optional<double> full() const;
};

// What one thread or device did for a while, in SteadySeconds().
struct LedgerSpan {
  double begin = 0, end = 0;
  Cause cause = Cause::kHost;
  Stage stage = Stage::kNone;
  int replica = -1;     // whose device; -1: the training thread
  int64_t launch = -1;  // of a device's span
};

class Ledger {
 public:
  // `process_age`: seconds that the process has already lived; they count as start.
  explicit Ledger(double process_age);

  // What the training thread does from now on. Thread-safe, but phases describe one thread.
  void Enter(Cause cause, Stage stage = Stage::kNone);
  Cause phase() const;
  Stage stage() const;

  // A program was launched on the devices of so many replicas now; it counts as `cause` (compute or
  // evaluation) until it has ended on all of them. Returns an id for Completed, which may be called
  // from any thread, in any order, once for each replica. With `awaits_input` its input is still on
  // its way: until InputArrived the devices wait for it, which counts as copy.
  int64_t Launched(Cause cause, int replicas = 1, bool awaits_input = false);
  void InputArrived(int64_t id);
  void Completed(int64_t id, int replica = 0);
  // A launch that will never complete (it failed).
  void Abandoned(int64_t id);
  // Moves `seconds` of what was charged to a cause to another, as far as there is any: waiting for
  // input that was being copied, not read; steps that were slower beside a save.
  void Reattribute(Cause from, Cause to, double seconds, Stage to_stage = Stage::kNone);

  // The account up to now. Launches in flight count as busy from when they could start.
  LedgerReport Report() const;
  // Number of launches in flight.
  int in_flight() const;
  // Seconds that each replica's device was busy with training, from the later of a launch and its
  // own end of the one before until its own end.
  std::vector<double> ReplicaBusy() const;

  // Keeps what thread and devices do from now on, no more than so many spans; 0 ends it.
  void KeepTrace(size_t most);
  // The spans kept so far, in the order in which they ended, and forgets them.
  std::vector<LedgerSpan> TakeTrace();

 private:
  struct Launch {
    int64_t id;
    Cause cause;
    Stage stage;
    double launched;
    bool awaits_input;
    double arrived;  // its input; 0: not yet
    int left;        // replicas that have not ended
    std::optional<double> completed;
    std::vector<double> ends;  // by replica; 0: not yet. Empty for one replica.
  };
  struct Span {
    double begin;
    Cause cause;
    Stage stage;
  };

  double Now() const;
  // Gives [settled_, until) to causes: gaps by phase, busy time by launch. Needs mutex_.
  void SettleGap(double until, LedgerReport& report, double from) const;
  void Advance();
  void Charge(LedgerReport& report, Cause cause, Stage stage, double seconds) const;
  void ChargeLaunch(LedgerReport& report, const Launch& launch, double begin, double end) const;
  void End(Launch& launch, int replica, double now);
  void Keep(const LedgerSpan& span);

  const double born_;  // steady-clock time of process start
  mutable std::mutex mutex_;
  std::deque<Span> phases_;      // phases that reach past settled_; never empty
  std::deque<Launch> launches_;  // not settled yet, in launch order
  double settled_;               // time up to which report_ is final
  LedgerReport report_;
  int64_t next_id_ = 0;
  std::vector<double> busy_;       // by replica
  std::vector<double> last_ends_;  // of a launch of each replica's device
  size_t most_spans_ = 0;
  std::vector<LedgerSpan> trace_;
};

// Enters a phase and goes back to the one before. Without a stage, inside of the same cause, the
// stage stays.
class Phase {
 public:
  Phase(Ledger& ledger, Cause cause, Stage stage = Stage::kNone)
      : ledger_(ledger), previous_(ledger.phase()), previous_stage_(ledger.stage()) {
    ledger.Enter(cause, stage == Stage::kNone && cause == previous_ ? previous_stage_ : stage);
  }
  ~Phase() { ledger_.Enter(previous_, previous_stage_); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  Ledger& ledger_;
  Cause previous_;
  Stage previous_stage_;
};

}  // namespace flatout::watch
