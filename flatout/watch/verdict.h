// The verdict: how full the device ran, what limits it, one change, and the gain it predicts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flatout/watch/ledger.h"

namespace flatout::watch {

// What a verdict is made from. Unknown figures stay empty and are said to be unknown.
struct RunFacts {
  LedgerReport ledger;
  int64_t steps = 0;
  int64_t samples = 0;  // real rows trained on
  int64_t launches = 0;
  int64_t steps_per_launch = 1;
  int64_t steps_per_epoch = 0;  // 0: not known
  int64_t input_workers = 1;
  int64_t cores = 1;  // usable by this process
  int devices = 1;
  bool device_is_cpu = true;
  std::string device_kind;           // "cpu", "NVIDIA H100 80GB HBM3"
  double flops_per_sample = 0;       // forward and backward, from our own graph
  std::optional<double> peak_flops;  // dense peak of all devices, for the compute dtype
  std::string compute_dtype = "float32";
  std::optional<double> ceiling_samples_per_second;  // one cached batch replayed
  // Seconds that input workers spent, by stage, and how full the queue was (0..1).
  double read_seconds = 0, assemble_seconds = 0, transfer_seconds = 0;
  std::optional<double> queue_fill;
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
