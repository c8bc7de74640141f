// StepTimer: how long the training step of a run takes on its device, without all that stands
// around it. What `flatout train --compare-precision` measures with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "flatout/data/device_prefetch.h"
#include "flatout/train/trainer.h"

namespace flatout::train {

class StepTimer {
 public:
  // Compiles the trainer's training program and lets its layers adapt. The trainer, which must live
  // longer, is used up: its weights change with every Run. It needs a training split; evaluation is
  // compiled too where there are other splits. Throws what Trainer::PlanBatch throws.
  explicit StepTimer(Trainer& trainer);
  ~StepTimer();
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

  // Trains on the next `launches` launches of real batches, after one more that is not timed, and
  // returns the seconds per step of each: from when its batches are on the device until all devices
  // have ended. Between calls the training state lies in host memory, so that several timers can
  // take turns on one device. Launches that an epoch's end cuts short are run, not timed.
  std::vector<double> Run(int64_t launches);

  // Seconds that the untimed launch of the last Run took, and the steps that a full launch has.
  double warm_up_seconds() const { return warm_up_seconds_; }
  int64_t steps_per_launch() const;
  // Steps trained so far, those skipped by a loss scale included, and how many were skipped.
  int64_t steps() const { return steps_; }
  int64_t skipped() const { return skipped_; }
  // Mean loss of the steps of the last launch; NaN before any.
  double loss() const { return loss_; }
  const BatchPlan& plan() const;
  // The compiled program's memory, where the compiler tells.
  std::optional<xla::ProgramMemory> memory() const;

 private:
  double RunOne(data::DeviceLaunch input);

  Trainer& trainer_;
  data::SourcePtr source_;
  data::IteratorState next_;
  std::vector<std::vector<std::byte>> state_;  // between calls
  int64_t steps_ = 0, skipped_ = 0;
  double warm_up_seconds_ = 0, loss_;
};

}  // namespace flatout::train
