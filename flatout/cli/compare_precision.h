// flatout train --compare-precision: the run's training step under each precision policy, measured
// on this device.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flatout/ir/shape.h"
#include "flatout/train/run_config.h"

namespace flatout::cli {

// What was measured of one policy.
struct PolicyTiming {
  std::string policy;
  ir::DType compute = ir::DType::kF32;
  std::vector<double> seconds_per_step;  // of each timed launch
  std::optional<int64_t> memory;         // bytes of the compiled program, where the compiler tells
  int64_t micro_rows = 0, rows = 0;      // of the batch plan
  double loss = 0;                       // mean of the last launch
  int64_t steps = 0, skipped = 0;
  std::string error;  // why it could not be measured; empty otherwise

  double median() const;
  // Half of what lies between the quartiles, as a part of the median.
  double spread() const;
};

// Where it was measured.
struct PrecisionSetting {
  std::string device;  // Runtime::Describe()
  bool is_cpu = false;
  // Peak of matrix products in each dtype, FLOP/s; empty where the card is not known.
  std::vector<std::pair<ir::DType, double>> peaks;
  int64_t global_batch = 0;
  int64_t rounds = 0, launches = 0, steps_per_launch = 0;  // launches of each round and policy
  std::string current;                                     // the run file's policy
};

// The table, and one sentence: which policy is the fastest, by how much, why, and what to write
// into the run file. float32 must be among `timings`, measured.
std::string PrecisionReport(const PrecisionSetting& setting,
                            const std::vector<PolicyTiming>& timings);

// Trains each policy in turns on the run's own batches, for some 20 seconds and the time it takes
// to compile, and prints the report. No run folder is made. Returns the exit code.
struct ComparePrecisionOptions {
  int64_t rounds = 5;
  double round_seconds = 0.7;  // of one policy, about
};
int ComparePrecision(const train::RunConfig& config, const ComparePrecisionOptions& options = {});

}  // namespace flatout::cli
