// Learning-rate schedules, with Keras's names, arguments and defaults, computed inside the step
// from the count of updates applied so far.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/graph.h"

namespace flatout::optim {

class Schedule {
 public:
  virtual ~Schedule() = default;
  // Learning rate (f32 scalar) for the update after `step` (f32 scalar, counted from 0) others.
  virtual ir::Value Rate(ir::Value step) const = 0;
  // A rate that never changes by itself: what ReduceLROnPlateau needs, and Adafactor asks.
  virtual bool constant() const { return false; }
  // "0.001", "CosineDecay": for people.
  virtual std::string ToString() const = 0;
};

// A number, or a table {class = "CosineDecay", initial_learning_rate = 0.1, decay_steps = 1000}.
// Classes: ExponentialDecay, PiecewiseConstantDecay, PolynomialDecay, InverseTimeDecay, CosineDecay
// (with warmup_target and warmup_steps), CosineDecayRestarts.
std::shared_ptr<const Schedule> ScheduleFromConfig(const Config& value);
std::shared_ptr<const Schedule> ConstantSchedule(double rate);
std::vector<std::string> ScheduleNames();

}  // namespace flatout::optim
