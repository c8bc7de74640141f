// One step of training: forward, gradients, sync and update. Internal to flatout/step.
//
// A pass goes over rows forward and backward; a step is one pass over its batch, or one for each
// micro-batch, whose gradients and sums are added up in float32. Then come, once per step: the sum
// over replicas, division by the rows of all of them and by the loss scale, the regularizers'
// gradients, and the update.
#pragma once

#include <span>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/step/micro_batches.h"
#include "flatout/step/step_program.h"

namespace flatout::step {

// New state, and what to record of the step.
struct TrainStep {
  std::vector<ir::Value> state;
  ir::Value loss, rate;      // f32 scalars
  ir::Value skipped, scale;  // i32 and f32 scalars; none without a loss scale
  ir::Value gradient_norm;   // f32 scalar
  ir::Value loss_sum, weight_sum;
  std::vector<ir::Value> metric_sums;
};

// Adds the step to `graph`. `state` in the order of `layout`; rate_factor f32 scalar.
TrainStep RunTrainStep(const StepSpec& spec, const std::vector<StateTensor>& layout,
                       ir::Graph& graph, std::span<const ir::Value> state, const StepInput& input,
                       ir::Value rate_factor);

}  // namespace flatout::step
