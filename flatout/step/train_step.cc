#include "flatout/step/train_step.h"

#include <algorithm>
#include <map>
#include <string>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/step/forward.h"
#include "flatout/step/loss_blocks.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Shape;
using ir::Value;

// Indices into model.variables() of those that are trained.
std::vector<size_t> Trainable(const nn::Model& model) {
  std::vector<size_t> trainable;
  for (size_t i = 0; i < model.variables().size(); ++i) {
    if (model.variables()[i].trainable) trainable.push_back(i);
  }
  return trainable;
}

Value AddTo(Value sum, Value gradient) {
  if (const auto rows = ir::MatchScatterAddIntoZeros(gradient)) {
    return ir::ScatterAdd(sum, rows->indices, rows->updates);
  }
  return sum + gradient;
}

// ---- one pass over rows ----

struct Pass {
  std::vector<Value> gradients;  // of the objective by each trained variable, f32
  Value loss_sum, weight_sum;
  Value activity;  // none: no layer adds losses
  std::vector<Value> metric_sums;
  // New values of the states that layers assigned (moving statistics), by index of the variable.
  std::map<size_t, Value> assigned;

  void SetSums(const Forward& forward) {
    loss_sum = forward.loss_sum;
    weight_sum = forward.weight_sum;
    activity = forward.activity;
    metric_sums = forward.metric_sums;
  }
};

Pass RunPass(const StepSpec& spec, ir::Graph& graph, const Piece& piece, const PassInput& input) {
  const std::vector<nn::Variable>& variables = spec.model->variables();
  nn::Context ctx(graph, {.training = true, .policy = spec.policy, .replicas = spec.replicas});
  // Weights of 16 bits are differentiated as float32, so that the gradients of several uses are
  // added up in float32.
  std::vector<Value> bound = input.variables;
  std::vector<Value> trained;
  for (size_t i : Trainable(*spec.model)) {
    bound[i] = ir::Convert(bound[i], DType::kF32);
    trained.push_back(bound[i]);
  }
  for (size_t i = 0; i < variables.size(); ++i) ctx.Bind(variables[i].path, bound[i]);
  ctx.SetRowWeights(piece.weight);
  ctx.SetRandom(ir::FoldIn(ir::MakeKey(graph, spec.seed), ir::Convert(input.step, DType::kU32)),
                piece.first_row);

  Pass pass;
  if (DivideLoss(spec).count == 1) {
    const Forward forward = RunForward(spec, ctx, piece.fields, piece.weight);
    pass.SetSums(forward);
    const Value rows = input.rows ? input.rows : forward.weight_sum;
    const Value objective = Objective(spec, forward, rows, input.scale);
    pass.gradients =
        ir::Gradient(objective, trained, nn::BlockOfNodes(*spec.model, spec.recompute, ctx));
  } else {
    const LossBlock head = {.x = spec.model->CallBody(ctx, ModelInputs(spec, piece.fields)),
                            .target = piece.fields[spec.target_field],
                            .weight = piece.weight};
    const Value rows = input.rows ? input.rows : WeightSum(spec, head.target, head.weight);
    HeadPass of_head = RunHeadPass(spec, head, bound, rows, input.scale);
    // The objective is a function of the body's result, and of the losses that its layers added.
    std::vector<Value> outputs = {head.x}, cotangents = {of_head.by_x};
    of_head.forward.activity = ActivityLosses(ctx);
    pass.SetSums(of_head.forward);
    if (pass.activity) {
      const Forward added = {.loss_sum = ir::ScalarLike(pass.loss_sum, 0),
                             .activity = pass.activity};
      outputs.push_back(Objective(spec, added, rows, input.scale));
      cotangents.push_back(ir::ScalarLike(outputs.back(), 1));
    }
    pass.gradients = ir::VectorJacobianProduct(outputs, cotangents, trained,
                                               nn::BlockOfNodes(*spec.model, spec.recompute, ctx));
    // A weight that the body uses, too, gets both parts.
    const std::vector<size_t> of_model = Trainable(*spec.model);
    const std::vector<size_t> head_variables = spec.model->HeadVariables();
    for (size_t i = 0; i < trained.size(); ++i) {
      const auto at = std::find(head_variables.begin(), head_variables.end(), of_model[i]);
      Value& gradient = pass.gradients[i];
      if (at != head_variables.end()) {
        const Value part = of_head.gradients[at - head_variables.begin()];
        gradient = gradient ? AddTo(part, gradient) : part;
      } else if (!gradient) {
        gradient = ir::ZerosLike(trained[i]);
      }
    }
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    const auto found = ctx.updates().find(variables[i].path);
    if (found != ctx.updates().end()) pass.assigned[i] = found->second;
  }
  return pass;
}

// ---- micro-batches ----

Value AllFinite(const std::map<size_t, Value>& values) {
  Value all;
  for (const auto& [i, value] : values) {
    const Value finite = ir::Reduce(ir::Reduction::kAnd, ir::IsFinite(value));
    all = all ? ir::And(all, finite) : finite;
  }
  return all;
}

// Below so many rows of a table for each row of its gradient, the rows of all micro-batches (or
// replicas) are not worth keeping: they are added up in an array of the table's size.
constexpr int64_t kTableRowsPerRow = 16;

// Whether the gradient is rows of a table that are few beside it, `times` as many as there are
// here.
bool IsFew(Value gradient, int64_t times) {
  const auto rows = ir::MatchScatterAddIntoZeros(gradient);
  return rows && rows->indices.shape().size() * times * kTableRowsPerRow <= gradient.dim(0);
}

// Whether such rows are kept as such over all micro-batches. The optimizers that update only the
// rows touched still can then.
bool KeepsRows(const StepSpec& spec, Value gradient) {
  return IsFew(gradient, Divide(spec).count * spec.replicas);
}

// The pass over all micro-batches of a step: sums of what the passes give, states as the last one
// left them.
Pass RunMicroBatches(const StepSpec& spec, ir::Graph& graph, const StepInput& step_input,
                     const PassInput& input) {
  Probe scratch(spec, input);
  const Pass probe = RunPass(spec, scratch.graph, scratch.piece, scratch.input);

  // Carried: dense gradients, loss sum, weight sum, activity losses, metric sums, states. Stacked:
  // indices and rows of the other gradients.
  std::vector<Value> carry;
  const auto zeros = [&](Value like) { carry.push_back(ir::Full(graph, like.shape(), 0)); };
  std::vector<bool> keeps_rows;
  for (const Value& gradient : probe.gradients) {
    keeps_rows.push_back(KeepsRows(spec, gradient));
    if (!keeps_rows.back()) zeros(gradient);
  }
  zeros(probe.loss_sum);
  zeros(probe.weight_sum);
  if (probe.activity) zeros(probe.activity);
  for (const Value& sum : probe.metric_sums) zeros(sum);
  for (const auto& [i, value] : probe.assigned) carry.push_back(input.variables[i]);

  const std::vector<Value> results = OverMicroBatches(
      spec, graph, step_input, input, carry, /*with_global_rows=*/!probe.assigned.empty(),
      [&](ir::Graph& loop, const Piece& piece, PassInput own, std::span<const Value> now) {
        // Each micro-batch goes on with the states that the one before it left.
        const size_t first_state = now.size() - probe.assigned.size();
        size_t at = first_state;
        for (const auto& [i, value] : probe.assigned) own.variables[i] = now[at++];
        const Pass pass = RunPass(spec, loop, piece, own);
        std::vector<Value> next, stacked;
        at = 0;
        for (size_t i = 0; i < pass.gradients.size(); ++i) {
          if (keeps_rows[i]) {
            const auto rows = ir::MatchScatterAddIntoZeros(pass.gradients[i]);
            stacked.push_back(rows->indices);
            stacked.push_back(rows->updates);
          } else {
            next.push_back(AddTo(now[at++], pass.gradients[i]));
          }
        }
        next.push_back(now[at++] + pass.loss_sum);
        next.push_back(now[at++] + pass.weight_sum);
        if (pass.activity) next.push_back(now[at++] + pass.activity);
        for (const Value& sum : pass.metric_sums) next.push_back(now[at++] + sum);
        if (!pass.assigned.empty()) {
          // A micro-batch without a real row changes no statistic, nor does one whose statistics
          // are not finite.
          const Value keep = ir::And(ir::Gt(piece.global_rows, 0), AllFinite(pass.assigned));
          for (const auto& [i, value] : pass.assigned) {
            next.push_back(ir::Select(keep, value, now[at++]));
          }
        }
        next.insert(next.end(), stacked.begin(), stacked.end());
        return next;
      });

  Pass pass;
  size_t next = 0, next_stack = carry.size();
  for (size_t i = 0; i < keeps_rows.size(); ++i) {
    if (!keeps_rows[i]) {
      pass.gradients.push_back(results[next++]);
      continue;
    }
    // [pieces, rows of a piece...]: the rows in the order of the whole batch.
    const Shape& shape = probe.gradients[i].shape();
    const Value indices = results[next_stack++], updates = results[next_stack++];
    const int64_t count = indices.shape().size();
    ir::Dims dims = shape.dims;
    dims[0] = count;
    pass.gradients.push_back(ir::ScatterAdd(
        ir::Full(graph, shape, 0), ir::Reshape(indices, {count}), ir::Reshape(updates, dims)));
  }
  pass.loss_sum = results[next++];
  pass.weight_sum = results[next++];
  if (probe.activity) pass.activity = results[next++];
  for (size_t i = 0; i < probe.metric_sums.size(); ++i) {
    pass.metric_sums.push_back(results[next++]);
  }
  for (const auto& [i, value] : probe.assigned) pass.assigned[i] = results[next++];
  return pass;
}

// ---- the update ----

// `condition`, but known only once all of `values` exist. The gradient with respect to a layer's
// input reads the layer's weights, and nothing but the dependency made here says that it does so
// before they are updated; without it XLA updates them from a copy, in every step.
Value After(std::span<const Value> values, Value condition) {
  std::vector<Value> first;
  for (Value value : values) {
    // Of an embedding's gradient only the rows exist; the table of zeros around them never should.
    if (const auto rows = ir::MatchScatterAddIntoZeros(value)) value = rows->updates;
    if (value.shape().size() == 0) continue;
    const ir::Dims ones(value.rank(), 1);
    first.push_back(ir::Reshape(ir::Slice(value, ir::Dims(value.rank(), 0), ones, ones), {1}));
  }
  if (first.empty()) return condition;
  // No absolute value is below -1, not even NaN's; compilers don't see that far.
  const Value least = ir::ReduceMin(ir::Abs(ir::Concatenate(first, 0)));
  const Value never = ir::Compare(least, ir::ScalarLike(least, -1), ir::Comparison::kLt);
  return ir::And(condition, ir::Not(never));
}

// The rows of all replicas, as one gradient.
Value CollectRows(Value gradient, int64_t replicas) {
  const auto rows = ir::MatchScatterAddIntoZeros(gradient);
  const int64_t count = rows->indices.shape().size();
  ir::Dims dims = gradient.dims();
  dims[0] = count;
  return ir::ScatterAdd(ir::Full(gradient.graph(), gradient.shape(), 0),
                        ir::AllGather(ir::Reshape(rows->indices, {count}), 0, replicas),
                        ir::AllGather(ir::Reshape(rows->updates, dims), 0, replicas));
}

// A step's sums over all replicas, ready for the update.
struct Reduced {
  std::vector<Value> gradients;  // of the loss, regularization not included; f32
  Value loss;                    // mean over the rows, with activity losses
  Value loss_sum, weight_sum;
  std::vector<Value> metric_sums;
  std::map<size_t, Value> assigned;
};

Reduced Reduce(const StepSpec& spec, const Pass& pass, Value scale) {
  Reduced reduced;
  reduced.metric_sums = pass.metric_sums;
  reduced.assigned = pass.assigned;
  if (spec.replicas == 1) {
    reduced.loss_sum = pass.loss_sum;
    reduced.weight_sum = pass.weight_sum;
    reduced.loss = pass.loss_sum / RowsOrOne(pass.weight_sum);
    if (pass.activity) reduced.loss = reduced.loss + pass.activity;
    reduced.gradients = scale ? optim::UnscaleGradients(pass.gradients, scale) : pass.gradients;
    return reduced;
  }
  // Gradients, sums, rows and statistics travel together. A replica's statistics count by its rows.
  // Of large tables the rows of all replicas are collected instead.
  std::vector<Value> travel;
  for (const Value& gradient : pass.gradients) {
    if (!IsFew(gradient, spec.replicas)) travel.push_back(gradient);
  }
  const size_t dense = travel.size();
  travel.push_back(pass.loss_sum);
  travel.push_back(pass.weight_sum);
  if (pass.activity) travel.push_back(pass.activity * pass.weight_sum);
  travel.insert(travel.end(), pass.metric_sums.begin(), pass.metric_sums.end());
  for (const auto& [i, value] : pass.assigned) {
    travel.push_back(ir::Convert(value, DType::kF32) * pass.weight_sum);
  }
  const std::vector<Value> summed = ir::AllReduce(travel, ir::Reduction::kSum, spec.replicas);
  size_t next = dense;
  reduced.loss_sum = summed[next++];
  reduced.weight_sum = summed[next++];
  const Value rows = RowsOrOne(reduced.weight_sum);
  reduced.loss = reduced.loss_sum / rows;
  if (pass.activity) reduced.loss = reduced.loss + summed[next++] / rows;
  for (Value& sum : reduced.metric_sums) sum = summed[next++];
  for (auto& [i, value] : reduced.assigned) {
    value = ir::Convert(summed[next++] / rows, value.dtype());
  }
  std::vector<Value> gradients;
  size_t next_dense = 0;
  for (const Value& gradient : pass.gradients) {
    gradients.push_back(IsFew(gradient, spec.replicas) ? CollectRows(gradient, spec.replicas)
                                                       : summed[next_dense++]);
  }
  if (scale) {
    reduced.gradients = optim::UnscaleGradients(gradients, scale * (rows * ObjectiveFactor(spec)));
  } else {
    for (const Value& gradient : gradients) {
      reduced.gradients.push_back(ir::MatchScatterAddIntoZeros(gradient)
                                      ? ir::ScaleScattered(gradient, 1.0 / rows)
                                      : gradient / rows);
    }
  }
  return reduced;
}

}  // namespace

TrainStep RunTrainStep(const StepSpec& spec, const std::vector<StateTensor>& layout,
                       ir::Graph& graph, std::span<const Value> state, const StepInput& input,
                       Value rate_factor) {
  const std::vector<nn::Variable>& variables = spec.model->variables();
  const size_t num_variables = variables.size();
  const size_t step_index = layout.size() - 2, halted_index = layout.size() - 1;
  const Value step = state[step_index], halted = state[halted_index];
  const bool scaled = spec.loss_scale.enabled();
  const size_t scale_index = step_index - optim::LossScaleCounters(spec.loss_scale).size();
  optim::LossScaleState loss_scale;
  if (scaled) {
    loss_scale = {.scale = state[scale_index],
                  .good_steps = state[scale_index + 1],
                  .skipped = state[scale_index + 2]};
  }

  PassInput pass_input;
  pass_input.variables.assign(state.begin(), state.begin() + num_variables);
  pass_input.step = step;
  pass_input.scale = loss_scale.scale;
  Pass pass;
  if (Divide(spec).count == 1) {
    pass = RunPass(spec, graph, WholeBatch(spec, graph, input), pass_input);
  } else {
    pass_input.rows =
        WeightSum(spec, ir::DynamicIndex(input.fields[spec.target_field], input.index),
                  ir::DynamicIndex(input.weight, input.index));
    pass = RunMicroBatches(spec, graph, input, pass_input);
  }
  Reduced reduced = Reduce(spec, pass, loss_scale.scale);

  // The regularizers see every variable once per step, whatever the rows and replicas.
  const std::vector<size_t> trainable = Trainable(*spec.model);
  std::vector<Value> weights;
  std::vector<const nn::Variable*> trained;
  for (size_t i : trainable) {
    weights.push_back(state[i]);
    trained.push_back(&variables[i]);
  }
  TrainStep result;
  result.loss = reduced.loss;
  std::vector<Value> float32;
  for (const Value& variable : pass_input.variables) {
    float32.push_back(ir::IsFloat(variable.dtype()) ? ir::Convert(variable, DType::kF32)
                                                    : variable);
  }
  const Value regularization = Regularization(graph, *spec.model, float32);
  if (regularization) {
    result.loss = result.loss + regularization;
    const Value one = ir::ScalarLike(regularization, 1);
    std::vector<Value> by;
    for (size_t i : trainable) by.push_back(float32[i]);
    const std::vector<Value> gradients =
        ir::VectorJacobianProduct(std::span(&regularization, 1), std::span(&one, 1), by);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (gradients[i]) reduced.gradients[i] = reduced.gradients[i] + gradients[i];
    }
  }

  // Once a loss was not finite nothing is updated any more; nor is it by a batch without rows, all
  // of whose records were bad.
  const Value finite_loss = ir::IsFinite(result.loss);
  const Value running = ir::Compare(halted, ir::ScalarLike(halted, 0), ir::Comparison::kEq);
  const Value counts = After(reduced.gradients, ir::And(running, ir::Gt(reduced.weight_sum, 0)));
  Value proceed, halts, keep_states;
  Value counted;  // none: the step's sums count
  if (!scaled) {
    proceed = ir::And(counts, finite_loss);
    halts = ir::Not(finite_loss);
    keep_states = proceed;
  } else {
    // float16 may overflow in the forward pass, too; the scale has no part in that, but a step that
    // can be skipped is not the end. At the least scale, or where the scale stands still, it is.
    Value finite = finite_loss;
    if (!trained.empty()) finite = ir::And(finite, optim::AllFinite(reduced.gradients));
    halts = ir::And(running, ir::Not(finite_loss));
    if (spec.loss_scale.kind == optim::LossScale::Kind::kDynamic) {
      const Value least =
          ir::Compare(loss_scale.scale, ir::ScalarLike(loss_scale.scale, optim::kLeastLossScale),
                      ir::Comparison::kLe);
      halts = ir::And(halts, least);
    }
    const Value attempted = ir::And(counts, ir::Not(halts));
    proceed = ir::And(attempted, finite);
    // As in Keras, where the forward pass moves them, statistics follow skipped steps, too.
    keep_states = attempted;
    const Value skipped = ir::And(attempted, ir::Not(finite));
    result.scale = loss_scale.scale;
    result.skipped = ir::Convert(skipped, DType::kI32);
    counted = ir::Not(ir::And(skipped, ir::Not(finite_loss)));
    loss_scale = optim::NextLossScale(spec.loss_scale, loss_scale, finite, attempted);
  }
  if (!reduced.assigned.empty()) keep_states = ir::And(keep_states, AllFinite(reduced.assigned));

  std::map<int, std::vector<Value>> slots_of;
  for (size_t i = num_variables; i < scale_index; ++i) {
    slots_of[layout[i].variable].push_back(state[i]);
  }
  std::vector<std::vector<Value>> slots;
  for (size_t i : trainable) slots.push_back(slots_of[static_cast<int>(i)]);
  const optim::Optimizer::Result update =
      spec.optimizer->Apply(trained, weights, reduced.gradients, slots, step, rate_factor, proceed);

  result.state.assign(state.begin(), state.begin() + num_variables);
  for (size_t i = 0; i < trainable.size(); ++i) result.state[trainable[i]] = update.values[i];
  for (const auto& [i, value] : reduced.assigned) {
    result.state[i] = ir::Select(keep_states, value, state[i]);
  }
  // Slots lie in the layout variable by variable, in the order of the trained ones.
  for (const std::vector<Value>& of_variable : update.slots) {
    result.state.insert(result.state.end(), of_variable.begin(), of_variable.end());
  }
  if (scaled) {
    result.state.push_back(loss_scale.scale);
    result.state.push_back(loss_scale.good_steps);
    result.state.push_back(loss_scale.skipped);
  }
  const Value one = ir::ScalarLike(step, 1), zero = ir::ScalarLike(step, 0);
  result.state.push_back(step + ir::Select(proceed, one, zero));
  result.state.push_back(ir::Select(halts, one, halted));
  if (result.state.size() != layout.size()) {
    throw Internal("a step gives {} tensors of state where there are {}", result.state.size(),
                   layout.size());
  }
  result.rate = update.learning_rate;
  result.gradient_norm = update.gradient_norm;
  // What an epoch reports is the mean with regularization, as in Keras.
  const bool penalized = regularization || pass.activity;
  result.loss_sum = penalized ? result.loss * reduced.weight_sum : reduced.loss_sum;
  result.weight_sum = reduced.weight_sum;
  result.metric_sums = std::move(reduced.metric_sums);
  if (counted) {
    const auto or_zero = [&](Value sum) { return ir::Select(counted, sum, ir::ZerosLike(sum)); };
    result.loss_sum = or_zero(result.loss_sum);
    result.weight_sum = or_zero(result.weight_sum);
    for (Value& sum : result.metric_sums) sum = or_zero(sum);
  }
  return result;
}

}  // namespace flatout::step
