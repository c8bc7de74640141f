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
  ir::Value loss_sum;    // sum of weighted losses over the rows given
  ir::Value weight_sum;  // of those rows
  ir::Value activity;    // losses that layers added, f32 scalar: sums over the rows; none: none did
  std::vector<ir::Value> metric_sums;  // of all metrics, one after the other
};

// Of `fields` ([rows, ...], in the spec's order), those that the model takes.
std::vector<ir::Value> ModelInputs(const StepSpec& spec, std::span<const ir::Value> fields);
// Traces the model, its loss and the metrics over `fields` into ctx.graph(). weight: f32[rows].
// Without a target only the outputs are there.
Forward RunForward(const StepSpec& spec, nn::Context& ctx, std::span<const ir::Value> fields,
                   ir::Value weight);
// The same from the model's first output on; `outputs` stay empty. `ctx` is that of the model.
Forward RunLoss(const StepSpec& spec, const nn::Context& ctx, ir::Value target, ir::Value output,
                ir::Value weight);
// What Forward::activity is once the model has been traced.
ir::Value ActivityLosses(const nn::Context& ctx);

// What each replica's objective is multiplied by besides the loss scale. On one device the
// objective is the mean loss; of several, each differentiates the sum over its own rows, since only
// the sum of all of them knows how many rows there are. With a loss scale that sum must not
// overflow where the mean would not: it is brought to about the mean's size by a power of two,
// which changes no bits of float32.
double ObjectiveFactor(const StepSpec& spec);
// What a replica differentiates. `rows`: its weight sum over the whole step. scale: the loss scale,
// f32 scalar; none: 1. f32 scalar.
ir::Value Objective(const StepSpec& spec, const Forward& forward, ir::Value rows, ir::Value scale);

// The regularizers' losses, a function of the variables (in the model's order): f32 scalar, none
// where the model has none.
ir::Value Regularization(ir::Graph& graph, const nn::Model& model,
                         std::span<const ir::Value> variables);

// What RunForward's weight_sum is for these targets ([rows, ...]) and row weights, without running
// the model. Throws UserError where the loss's weights depend on the model's outputs.
ir::Value WeightSum(const StepSpec& spec, ir::Value target, ir::Value weight);

// Whether `value` is made from `other`.
bool DependsOn(ir::Value value, ir::Value other);

// What sums over the batch are divided by: its rows, or 1 where it has none.
ir::Value RowsOrOne(ir::Value weight_sum);

// The model's first output for `rows` rows as the loss sees it: float32 where it is float.
ir::Shape OutputShape(const StepSpec& spec, int64_t rows);
// Shapes of Forward::metric_sums.
std::vector<ir::Shape> MetricShapes(const StepSpec& spec);
// Number of values that each metric's Sums gives.
std::vector<int> MetricCounts(const StepSpec& spec);

// Number of the first row of this replica in the step's global batch: u32 scalar, none for one.
ir::Value FirstRow(ir::Graph& graph, const StepSpec& spec);

// `shape` with another size of dimension 0.
ir::Shape WithRows(const ir::Shape& shape, int64_t rows);

}  // namespace flatout::step
