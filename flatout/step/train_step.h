// One step of training: forward, gradients, sync and update. Internal to flatout/step.
#pragma once

#include <span>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/step/step_program.h"

namespace flatout::step {

// New state, and what to record of the step.
struct TrainStep {
  std::vector<ir::Value> state;
  ir::Value loss, rate;
  ir::Value loss_sum, weight_sum;
  std::vector<ir::Value> metric_sums;
};

// Adds the step to `graph`. `state` in the order of `layout`; fields [B, ...]; weight f32[B];
// rate_factor f32 scalar.
TrainStep RunTrainStep(const StepSpec& spec, const std::vector<StateTensor>& layout,
                       ir::Graph& graph, std::span<const ir::Value> state,
                       std::span<const ir::Value> fields, ir::Value weight, ir::Value rate_factor);

}  // namespace flatout::step
