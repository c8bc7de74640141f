// How a step is made to fit its device: worked out before the first one runs, shown at the start
// and at the end, and kept for the message of a real failure. And what is known of launches before
// any has run, for the trainer and for whoever plans a run without one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flatout/data/pipeline.h"
#include "flatout/nn/recompute.h"
#include "flatout/plan/memory_plan.h"
#include "flatout/train/options.h"

namespace flatout::train {

struct BatchPlan {
  int64_t rows = 0;        // of one step, on each device
  int64_t micro_rows = 0;  // of them at once; rows where the batch is not split
  nn::Recompute recompute;
  // Bytes that one device can give this run, with what the run has there already; nothing where
  // neither the device nor the system says.
  std::optional<int64_t> room;
  int compiles = 0;           // it took so many to find micro_rows
  plan::MemoryPlan training;  // of the compiled program, where the compiler says; else our estimate
  std::optional<plan::MemoryPlan> evaluation;

  int64_t micro_batches() const { return (rows + micro_rows - 1) / micro_rows; }
  // What one device must give: the larger of training and evaluation.
  int64_t bytes() const;
  // "memory: 1.90 GiB of 24.0 GiB; micro-batch 64 x 4 (batch 256)"; where evaluation is the larger
  // of the two, with what training alone takes.
  std::string ToString() const;
};

// Launches of training whose fields are on a device at once: those that run or wait to, the one
// that the ceiling is measured with, and those that the input pipeline has ready. While a run
// evaluates there are as many of evaluation beside them.
int64_t LaunchesOnDevice(const data::PipelineOptions& pipeline);

// What train.steps_per_launch = "auto" goes by.
struct LaunchQuestion {
  double row_flops = 0;            // of a step, forward and backward, for each of its rows
  int64_t rows = 0;                // of a step on one device
  int64_t row_bytes = 0;           // of the fields of one row, without its weight
  bool cpu = false;                // the device is a CPU
  std::optional<int64_t> room;     // bytes that a device can give the run
  std::optional<int64_t> records;  // of an epoch
  int64_t global_batch = 0;        // records of a step on all devices
};
// Steps of one launch: what the options say, else so many that launches take about 30 ms, 64 steps
// and 16 MiB of input (and no more than a fiftieth of `room`) at most, and no more than an epoch
// has. At least 1; 1 where every step is checked.
int64_t StepsPerLaunch(const TrainOptions& options, const LaunchQuestion& question);

}  // namespace flatout::train
