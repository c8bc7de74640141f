// How a step is made to fit its device: worked out before the first one runs, shown at the start
// and at the end, and kept for the message of a real failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flatout/nn/recompute.h"
#include "flatout/plan/memory_plan.h"

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
  // "memory: 1.90 GiB of 24.0 GiB; micro-batch 64 x 4 (batch 256)".
  std::string ToString() const;
};

}  // namespace flatout::train
