#include "flatout/step/train_step.h"

#include <map>
#include <string>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/step/forward.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Value;

std::vector<const nn::Variable*> Trainable(const nn::Model& model) {
  std::vector<const nn::Variable*> trainable;
  for (const nn::Variable& variable : model.variables()) {
    if (variable.trainable) trainable.push_back(&variable);
  }
  return trainable;
}

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

}  // namespace

TrainStep RunTrainStep(const StepSpec& spec, const std::vector<StateTensor>& layout,
                       ir::Graph& graph, std::span<const Value> state,
                       std::span<const Value> fields, Value weight, Value rate_factor) {
  const size_t num_variables = spec.model->variables().size();
  const size_t step_index = layout.size() - 2, halted_index = layout.size() - 1;
  const Value step = state[step_index], halted = state[halted_index];

  nn::Context ctx(graph, {.training = true, .policy = spec.policy, .replicas = spec.replicas});
  for (size_t i = 0; i < num_variables; ++i) ctx.Bind(layout[i].name, state[i]);
  ctx.SetRowWeights(weight);
  ctx.SetRandom(ir::FoldIn(ir::MakeKey(graph, spec.seed), ir::Convert(step, DType::kU32)),
                FirstRow(graph, spec));
  const Forward forward = RunForward(spec, ctx, fields, weight);

  const std::vector<const nn::Variable*> trainable = Trainable(*spec.model);
  std::vector<Value> weights;
  for (const nn::Variable* variable : trainable) {
    for (size_t i = 0; i < num_variables; ++i) {
      if (layout[i].name == variable->path) weights.push_back(state[i]);
    }
  }

  TrainStep result;
  std::vector<Value> gradients;
  Value loss_sum = forward.loss_sum, weight_sum = forward.weight_sum;
  std::vector<Value> metric_sums;
  for (const auto& sums : forward.metric_sums) {
    metric_sums.insert(metric_sums.end(), sums.begin(), sums.end());
  }
  // Updates that layers made themselves (moving statistics), in order of their paths.
  std::vector<std::string> assigned;
  std::vector<Value> assignments;
  for (const auto& [path, value] : ctx.updates()) {
    assigned.push_back(path);
    assignments.push_back(ir::Convert(value, DType::kF32));
  }

  Value penalty = forward.penalty;
  if (spec.replicas == 1) {
    const Value mean = loss_sum / RowsOrOne(weight_sum);
    result.loss = penalty ? mean + penalty : mean;
    gradients = ir::Gradient(result.loss, weights);
  } else {
    // Each replica differentiates the sum over its own rows; sums of gradients, rows and statistics
    // travel together, and dividing by the rows of all replicas gives the global mean, also when
    // some have only padding.
    const Value local = penalty ? loss_sum + penalty * weight_sum : loss_sum;
    gradients = ir::Gradient(local, weights);
    std::vector<Value> travel = gradients;
    travel.push_back(local);
    travel.push_back(loss_sum);
    travel.push_back(weight_sum);
    travel.insert(travel.end(), metric_sums.begin(), metric_sums.end());
    for (const Value& value : assignments) travel.push_back(value * weight_sum);
    const std::vector<Value> summed = ctx.CrossReplicaSum(travel);
    size_t next = gradients.size();
    const Value local_sum = summed[next++];
    loss_sum = summed[next++];
    weight_sum = summed[next++];
    for (Value& value : metric_sums) value = summed[next++];
    const Value rows = RowsOrOne(weight_sum);
    for (Value& value : assignments) value = summed[next++] / rows;
    result.loss = local_sum / rows;
    for (size_t i = 0; i < gradients.size(); ++i) gradients[i] = summed[i] / rows;
  }

  // Once a loss was not finite nothing is updated any more; nor is it by a batch without rows, all
  // of whose records were bad.
  const Value sound = ir::And(ir::IsFinite(result.loss),
                              ir::Compare(halted, ir::ScalarLike(halted, 0), ir::Comparison::kEq));
  const Value proceed = After(gradients, ir::And(sound, ir::Gt(weight_sum, 0)));

  std::map<std::string, std::vector<Value>> slots_of;
  for (size_t i = num_variables; i < step_index; ++i) {
    slots_of[layout[layout[i].variable].name].push_back(state[i]);
  }
  std::vector<std::vector<Value>> slots;
  for (const nn::Variable* variable : trainable) slots.push_back(slots_of[variable->path]);
  optim::Optimizer::Result update =
      spec.optimizer->Apply(trainable, weights, gradients, slots, step, rate_factor, proceed);

  std::map<std::string, Value> new_values;
  std::map<std::string, std::vector<Value>> new_slots;
  for (size_t i = 0; i < trainable.size(); ++i) {
    new_values[trainable[i]->path] = update.values[i];
    new_slots[trainable[i]->path] = update.slots[i];
  }
  for (size_t i = 0; i < assigned.size(); ++i) {
    new_values[assigned[i]] = ir::Select(proceed, assignments[i], ctx.Lookup(assigned[i]));
  }
  std::map<std::string, size_t> slots_taken;
  for (size_t i = 0; i < step_index; ++i) {
    const StateTensor& tensor = layout[i];
    if (tensor.kind == StateTensor::Kind::kVariable) {
      const auto found = new_values.find(tensor.name);
      result.state.push_back(found == new_values.end() ? state[i] : found->second);
    } else {
      const std::string& variable = layout[tensor.variable].name;
      result.state.push_back(new_slots[variable][slots_taken[variable]++]);
    }
  }
  const Value one = ir::ScalarLike(step, 1), zero = ir::ScalarLike(step, 0);
  result.state.push_back(step + ir::Select(proceed, one, zero));
  result.state.push_back(ir::Select(sound, halted, one));
  result.rate = update.learning_rate;
  // What an epoch reports is the mean with regularization, as in Keras.
  result.loss_sum = penalty ? result.loss * weight_sum : loss_sum;
  result.weight_sum = weight_sum;
  result.metric_sums = std::move(metric_sums);
  return result;
}

}  // namespace flatout::step
