// The verdict: how full the device ran, what limits it, one change, and the gain it predicts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flatout/watch/ledger.h"
#include "flatout/watch/sample.h"

namespace flatout::watch {

// What one stage of the input pipeline did, all workers together.
struct InputStage {
  std::string name;    // "read", "decode_image", "assemble", "transfer"
  double seconds = 0;  // without the stages inside it
  int64_t records = 0;
  int64_t bytes = 0;  // read from files, where the stage does that

  // Of all workers, where the stage does it all the time.
  double records_per_second() const {
    return seconds > 0 ? static_cast<double>(records) / seconds : 0;
  }
};

struct InputFacts {
  int workers = 1;
  bool workers_tuned = false;  // by Flatout, not by the run file
  int depth = 0;               // items made ahead
  bool depth_tuned = false;
  double idle = 0;                     // seconds of all workers, because enough was waiting
  double busy = 0;                     // seconds of all workers in stages
  double cpu = 0;                      // of that, on a processor
  double queued = 0;                   // of that, waiting for one that others had
  std::optional<double> queue_fill;    // mean share of depth that was ready, 0..1
  std::vector<InputStage> stages;      // the one that took longest first
  std::vector<std::string> decisions;  // of tuning
};

// What a launch costs on this device, measured by replaying one: without any step, and each step in
// it. Seconds.
struct LaunchCost {
  double per_launch = 0, per_step = 0;
};

// Where the time of a step goes by the card's data sheet (plan/estimate.h), seconds. The parts add
// up to a step.
struct Roofline {
  double arithmetic = 0, memory = 0, launches = 0, all_reduce = 0;
  // How many times faster the card multiplies in bfloat16 than as the run does now; 0: it cannot,
  // or does already.
  double bf16_speedup = 0;
  double step() const { return arithmetic + memory + launches + all_reduce; }
};

struct CheckpointFacts {
  int64_t saves = 0;
  bool automatic = false;                   // how often is chosen, not told
  std::optional<double> automatic_seconds;  // between snapshots, were it chosen
};

struct EvaluationFacts {
  int64_t validations = 0;  // done
  int64_t epochs = 0;       // done or begun
  int64_t every = 0;        // train.evaluate_every; 0: never
};

// How long single steps took.
struct StepFacts {
  std::optional<double> median, p99;  // seconds
  int64_t slowest_step = 0;
  double slowest_seconds = 0;
  std::string slowest_cause;
};

// A stretch of a run in which none of its settings was changed. What limits a run that changed some
// by itself (watch.advise) is judged by one: losses from before a change say nothing of the run as
// it is now.
struct RunPart {
  std::string when;  // "since train.steps_per_launch = 64 at step 120"
  std::string made;  // the change after it, where what came then is too little to be judged by
  LedgerReport ledger;
  int64_t steps = 0, samples = 0, launches = 0, steps_per_launch = 1;
  InputFacts input;
  double cpu_seconds = 0;
  std::optional<double> throttled_seconds;
  std::vector<double> replica_busy;
  CheckpointFacts checkpoint;
};

// What a verdict is made from. Unknown figures stay empty and are said to be unknown.
struct RunFacts {
  LedgerReport ledger;
  int64_t steps = 0;
  int64_t samples = 0;   // real rows trained on
  int64_t launches = 0;  // 0: not known
  int64_t steps_per_launch = 1;
  int64_t steps_per_epoch = 0;   // 0: not known
  std::optional<int64_t> cores;  // usable by this process
  int devices = 1;
  bool device_is_cpu = true;
  std::string device_kind;           // "cpu", "NVIDIA H100 80GB HBM3"
  double flops_per_sample = 0;       // forward and backward, from our own graph
  std::optional<double> peak_flops;  // dense peak of all devices, for the compute dtype
  std::string card;                  // whose peak that is, "NVIDIA H100 SXM5 80 GB"
  std::string compute_dtype = "float32";
  std::optional<double> ceiling_samples_per_second;  // one cached batch replayed
  // Bytes of one device by the plan, and at most in use by what its allocator says; the most that
  // the whole process had in memory.
  std::optional<int64_t> planned_bytes, device_peak_bytes, process_peak_bytes;
  // Of a run with a loss scale: steps that changed nothing because their gradients overflowed (they
  // are not among `steps`), and the scale at the end.
  int64_t skipped_steps = 0;
  std::optional<double> loss_scale;
  InputFacts input;
  std::optional<LaunchCost> launch_cost;
  std::optional<Roofline> roofline;
  std::vector<double> replica_busy;   // Ledger::ReplicaBusy
  std::vector<DeviceUse> device_use;  // while it trained
  std::string why_no_device_use;      // why that is not known, or ""
  // While it trained: processor seconds of all threads, and core-seconds that the CPU quota held
  // them back; nothing where nobody counts.
  double cpu_seconds = 0;
  std::optional<double> throttled_seconds;
  CheckpointFacts checkpoint;
  EvaluationFacts evaluation;
  std::optional<int64_t> compiles;  // programs that were not in the cache
  StepFacts step_times;
  std::optional<RunPart> part;  // by which the limit is judged; nothing: by all of it

  // As JSON text, all of it.
  std::string ToJson() const;
  // Reads that back. What is missing stays as it is by default, so that files of other versions
  // can be read. Throws DataError naming `origin` where it is no such text.
  static RunFacts FromJson(const std::string& text, const std::string& origin);
};

// A change that can be made while a run goes on, without changing what it learns.
struct Change {
  enum class Kind {
    kWorkers,             // data.workers = "auto"
    kPrefetch,            // data.prefetch = "auto"
    kStepsPerLaunch,      // train.steps_per_launch = value
    kCheckpointInterval,  // checkpoint.auto = true
  };
  Kind kind = Kind::kWorkers;
  int64_t value = 0;
  std::string ToString() const;  // "train.steps_per_launch = 32"
};

// A change that a run made by itself, and what came of it.
struct Advised {
  std::string change, limit;  // "data.workers = \"auto\"", "input (read)"
  int64_t step = 0;
  double predicted_gain = 1;
  std::optional<double> obtained_gain = std::nullopt;  // nothing: the run ended before it showed
  bool taken_back = false;
  // "data.workers = "auto" at step 120, predicted 1.50x, obtained 1.40x, taken back".
  std::string ToString() const;
};

struct Verdict {
  std::optional<double> full;                // 0..1
  std::optional<double> samples_per_second;  // over training time
  std::optional<double> mfu;                 // 0..1; only where the peak is known
  // The device alone. Nothing where it was not measured, or came out below what was achieved: then
  // something else took the machine meanwhile.
  std::optional<double> ceiling_samples_per_second;
  // The cause that costs most: "compute" where no other is worth naming, "input", "host",
  // "checkpoint", "copy", "communication", and of the whole run "evaluation", "compile", "start".
  std::string limit;
  std::string stage;  // the part of it: "read", "callbacks", "memory bandwidth"; may be empty
  // In a word: "compute-bound", "memory-bound", "launch-bound", "communication-bound",
  // "input-bound", "copy-bound", "checkpoint-bound", "host-bound", "evaluation-bound",
  // "compile-bound", "start-bound", "straggler" (one replica is slower), "throttled" (the CPU quota
  // or a card's clocks), "slowed" (by other work on the machine), "unknown".
  std::string kind;
  std::string advice;            // one change
  std::optional<Change> change;  // the same, where it can be made while running
  // Speed after the change over now: samples/s of training, or of the whole run (of_run). At best:
  // what then limits may not have shown yet.
  double predicted_gain = 1;
  bool of_run = false;
  // The whole as lines for the console, without colours.
  std::vector<std::string> lines;
};

Verdict Judge(const RunFacts& facts);

// "12.3 %", never rounded up: 99.96 % is not full.
std::string Percent(double share);

}  // namespace flatout::watch
