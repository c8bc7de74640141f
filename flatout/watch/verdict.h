// The verdict: how full the device ran, what limits it, one change, and the gain it predicts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flatout/watch/ledger.h"

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
  bool workers_tuned = false;          // by Flatout, not by the run file
  int depth = 0;                       // items made ahead
  double busy = 0;                     // seconds of all workers in stages
  double cpu = 0;                      // of that, on a processor
  double queued = 0;                   // of that, waiting for one that others had
  std::optional<double> queue_fill;    // mean share of depth that was ready, 0..1
  std::vector<InputStage> stages;      // the one that took longest first
  std::vector<std::string> decisions;  // of tuning
};

// What a verdict is made from. Unknown figures stay empty and are said to be unknown.
struct RunFacts {
  LedgerReport ledger;
  int64_t steps = 0;
  int64_t samples = 0;  // real rows trained on
  int64_t launches = 0;
  int64_t steps_per_launch = 1;
  int64_t steps_per_epoch = 0;  // 0: not known
  int64_t cores = 1;            // usable by this process
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
};

struct Verdict {
  std::optional<double> full;                // 0..1
  std::optional<double> samples_per_second;  // over training time
  std::optional<double> mfu;                 // 0..1; only where the peak is known
  std::string limit;          // "compute", "input", "host", "checkpoint", "copy", "communication"
  std::string stage;          // the part of it: "read", "assemble", ...; may be empty
  std::string advice;         // one change
  double predicted_gain = 1;  // samples/s after the change over now, at best
  // The whole as lines for the console, without colours.
  std::vector<std::string> lines;
};

Verdict Judge(const RunFacts& facts);

}  // namespace flatout::watch
