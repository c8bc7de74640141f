// The forward pass of one step: model, loss and metrics. Internal to flatout/step.
#pragma once

#include <span>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/nn/context.h"
#include "flatout/step/step_program.h"

namespace flatout::step {

// Rows of the batch in a launch's field shapes.
inline int64_t BatchRows(const StepSpec& spec) { return spec.field_shapes.at(0).dim(0); }

struct Forward {
  std::vector<ir::Value> outputs;
  ir::Value loss_sum;    // sum of weighted losses over this replica's rows
  ir::Value weight_sum;  // of this replica
  ir::Value penalty;     // regularization and activity losses; none when there are none
  std::vector<std::vector<ir::Value>> metric_sums;
};

// Traces the model, its loss and the metrics over `fields` ([B, ...], in the spec's order) into
// ctx.graph(). weight: f32[B]. Without a target only the outputs are there.
Forward RunForward(const StepSpec& spec, nn::Context& ctx, std::span<const ir::Value> fields,
                   ir::Value weight);

// What sums over the batch are divided by: its rows, or 1 where it has none.
ir::Value RowsOrOne(ir::Value weight_sum);

// Shapes of all metric sums, one after the other, found by tracing the step in a graph of its own.
std::vector<ir::Shape> MetricShapes(const StepSpec& spec, bool training);
// Number of values that each metric's Sums gives.
std::vector<int> MetricCounts(const StepSpec& spec);

// Number of the first row of this replica in the step's global batch: u32 scalar, none for one.
ir::Value FirstRow(ir::Graph& graph, const StepSpec& spec);

}  // namespace flatout::step
