#include "flatout/step/step_program.h"

#include <map>
#include <set>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Shape;
using ir::Value;

Shape Stacked(const Shape& shape, int64_t k) {
  ir::Dims dims = shape.dims;
  dims.insert(dims.begin(), k);
  return shape.WithDims(std::move(dims));
}

std::vector<const nn::Variable*> Trainable(const nn::Model& model) {
  std::vector<const nn::Variable*> trainable;
  for (const nn::Variable& variable : model.variables()) {
    if (variable.trainable) trainable.push_back(&variable);
  }
  return trainable;
}

// Rows of the batch in a launch's field shapes.
int64_t BatchRows(const StepSpec& spec) { return spec.field_shapes.at(0).dim(0); }

// The model's forward pass, loss and metrics of one step.
struct Forward {
  std::vector<Value> outputs;
  Value loss_sum;    // sum of weighted losses over this replica's rows
  Value weight_sum;  // of this replica
  Value penalty;     // regularization and activity losses; none when there are none
  std::vector<std::vector<Value>> metric_sums;
};

Value Penalty(nn::Context& ctx, const nn::Model& model) {
  Value total;
  const auto add = [&](Value value) { total = total ? total + value : value; };
  for (const Value& loss : ctx.losses()) add(ir::Convert(loss, DType::kF32));
  for (const nn::Variable& variable : model.variables()) {
    const nn::Regularizer& regularizer = variable.regularizer;
    const Value weight = ctx.Lookup(variable.path);
    if (!regularizer.empty()) add(nn::Penalty(regularizer, weight));
  }
  return total;
}

// What sums over the batch are divided by: its rows, or 1 where it has none.
Value RowsOrOne(Value weight_sum) {
  return ir::Select(ir::Gt(weight_sum, 0), weight_sum, ir::ScalarLike(weight_sum, 1));
}

Forward RunForward(const StepSpec& spec, nn::Context& ctx, std::span<const Value> fields,
                   Value weight) {
  Forward forward;
  std::vector<Value> inputs;
  for (int field : spec.input_fields) inputs.push_back(fields[field]);
  forward.outputs = spec.model->Call(ctx, inputs);
  if (spec.target_field < 0) return forward;
  const Value target = fields[spec.target_field];
  {
    const ir::Scope scope(ctx.graph(), "loss");
    std::tie(forward.loss_sum, forward.weight_sum) = WithContext("loss " + spec.loss->name(), [&] {
      return spec.loss->Sums(target, forward.outputs[0], weight);
    });
    forward.penalty = Penalty(ctx, *spec.model);
  }
  for (const nn::Metric* metric : spec.metrics) {
    const ir::Scope scope(ctx.graph(), "metric " + metric->name());
    forward.metric_sums.push_back(WithContext("metric " + metric->name(), [&] {
      return metric->Sums(target, ir::StopGradient(forward.outputs[0]), weight);
    }));
  }
  return forward;
}

// Zeros to start the sums from, found by tracing the step once in a graph of its own.
std::vector<Shape> MetricShapes(const StepSpec& spec, bool training) {
  ir::Graph scratch("shapes");
  nn::ContextOptions options{.training = training, .policy = spec.policy, .replicas = 1};
  nn::Context ctx(scratch, options);
  for (const nn::Variable& variable : spec.model->variables()) {
    ctx.Bind(variable.path, scratch.AddParameter(variable.shape, variable.path));
  }
  std::vector<Value> fields;
  for (const Shape& shape : spec.field_shapes) fields.push_back(scratch.AddParameter(shape, ""));
  const Value weight = scratch.AddParameter(Shape(DType::kF32, {BatchRows(spec)}), "weight");
  ctx.SetRowWeights(weight);
  ctx.SetRandom(ir::MakeKey(scratch, 0), Value());
  std::vector<Shape> shapes;
  for (const auto& sums : RunForward(spec, ctx, fields, weight).metric_sums) {
    for (const Value& sum : sums) shapes.push_back(sum.shape());
  }
  return shapes;
}

// Number of values that each metric's Sums gives, found like MetricShapes.
std::vector<int> MetricCounts(const StepSpec& spec) {
  std::vector<int> counts;
  ir::Graph scratch("counts");
  std::vector<Value> fields;
  const Value target = scratch.AddParameter(spec.field_shapes.at(spec.target_field), "target");
  Shape output = spec.model->outputs()[0].shape();
  output.dims.insert(output.dims.begin(), BatchRows(spec));
  output.dtype = DType::kF32;
  const Value prediction = scratch.AddParameter(output, "prediction");
  const Value weight = scratch.AddParameter(Shape(DType::kF32, {BatchRows(spec)}), "weight");
  for (const nn::Metric* metric : spec.metrics) {
    counts.push_back(static_cast<int>(metric->Sums(target, prediction, weight).size()));
  }
  return counts;
}

// Number of the first row of this replica in the step's global batch: u32 scalar, none for one.
Value FirstRow(ir::Graph& graph, const StepSpec& spec) {
  if (spec.replicas == 1) return Value();
  return ir::ReplicaId(graph) *
         ir::Scalar(graph, DType::kU32, static_cast<double>(BatchRows(spec)));
}

// One step of training inside `body`: new state, and what to record of it.
struct TrainStep {
  std::vector<Value> state;
  Value loss, rate;
  Value loss_sum, weight_sum;
  std::vector<Value> metric_sums;
};

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

struct LaunchArguments {
  std::vector<Value> state, fields;
  Value weight, steps, rate_factor;
};

LaunchArguments AddArguments(ir::Graph& graph, const StepSpec& spec,
                             const std::vector<StateTensor>& state, bool with_rate) {
  LaunchArguments arguments;
  for (const StateTensor& tensor : state) {
    arguments.state.push_back(graph.AddParameter(tensor.shape, tensor.name));
  }
  for (size_t i = 0; i < spec.field_shapes.size(); ++i) {
    arguments.fields.push_back(graph.AddParameter(
        Stacked(spec.field_shapes[i], spec.steps_per_launch), spec.field_names[i]));
  }
  arguments.weight =
      graph.AddParameter(Shape(DType::kF32, {spec.steps_per_launch, BatchRows(spec)}), "weight");
  arguments.steps = graph.AddParameter(Shape::Scalar(DType::kI32), "steps");
  if (with_rate) {
    arguments.rate_factor = graph.AddParameter(Shape::Scalar(DType::kF32), "rate_factor");
  }
  return arguments;
}

// Runs `body` for i = 0..steps-1. Carried: `variant` (changes), `invariant` (passed through). body
// gets (i, variant, invariant) and returns the new variant.
using LoopBody = std::function<std::vector<Value>(Value i, std::span<const Value> variant,
                                                  std::span<const Value> invariant)>;
std::vector<Value> Loop(ir::Graph& graph, Value steps, std::vector<Value> variant,
                        std::vector<Value> invariant, const LoopBody& body) {
  const size_t num_variant = variant.size();
  std::vector<Value> carry;
  carry.push_back(ir::Scalar(graph, DType::kI32, 0));
  carry.insert(carry.end(), variant.begin(), variant.end());
  carry.insert(carry.end(), invariant.begin(), invariant.end());
  carry.push_back(steps);
  std::vector<Value> final = ir::While(
      carry,
      [](ir::Graph&, std::span<const Value> arguments) {
        return std::vector<Value>{
            ir::Compare(arguments.front(), arguments.back(), ir::Comparison::kLt)};
      },
      [&](ir::Graph&, std::span<const Value> arguments) {
        std::vector<Value> next;
        next.push_back(arguments[0] + 1.0);
        for (Value& value :
             body(arguments[0], arguments.subspan(1, num_variant),
                  arguments.subspan(1 + num_variant, arguments.size() - 2 - num_variant))) {
          next.push_back(value);
        }
        for (size_t i = next.size(); i < arguments.size(); ++i) next.push_back(arguments[i]);
        return next;
      });
  return {final.begin() + 1, final.begin() + 1 + static_cast<int64_t>(num_variant)};
}

std::vector<StateTensor> VariableLayout(const nn::Model& model) {
  std::vector<StateTensor> layout;
  for (size_t i = 0; i < model.variables().size(); ++i) {
    layout.push_back({model.variables()[i].path, StateTensor::Kind::kVariable,
                      model.variables()[i].shape, static_cast<int>(i), 0});
  }
  return layout;
}

void LayOutMetrics(const StepSpec& spec, int first, ResultLayout& results) {
  for (int count : MetricCounts(spec)) {
    results.metrics.emplace_back(first, count);
    first += count;
  }
}

}  // namespace

std::vector<StateTensor> StateLayout(const nn::Model& model, const optim::Optimizer& optimizer,
                                     const optim::LossScale&) {
  std::vector<StateTensor> layout = VariableLayout(model);
  const size_t num_variables = layout.size();
  for (size_t i = 0; i < num_variables; ++i) {
    const nn::Variable& variable = model.variables()[i];
    if (!variable.trainable) continue;
    for (const optim::Slot& slot : optimizer.Slots(variable)) {
      layout.push_back({variable.path + "/" + slot.name, StateTensor::Kind::kSlot, slot.shape,
                        static_cast<int>(i), slot.initial});
    }
  }
  const Shape counter = Shape::Scalar(DType::kI32);
  layout.push_back({"step", StateTensor::Kind::kCounter, counter, -1, 0});
  layout.push_back({"halted", StateTensor::Kind::kCounter, counter, -1, 0});
  return layout;
}

Program BuildTrainProgram(const StepSpec& spec) {
  Program program;
  program.graph = std::make_unique<ir::Graph>("train");
  ir::Graph& graph = *program.graph;
  const std::vector<StateTensor> layout = StateLayout(*spec.model, *spec.optimizer);
  const LaunchArguments arguments = AddArguments(graph, spec, layout, /*with_rate=*/true);

  // Carried: state, losses[K], rates[K], loss sum, weight sum, metric sums.
  std::vector<Value> variant = arguments.state;
  const auto zeros = [&](const Shape& shape) { return ir::Full(graph, shape, 0); };
  const Shape per_step(DType::kF32, {spec.steps_per_launch});
  variant.push_back(zeros(per_step));
  variant.push_back(zeros(per_step));
  variant.push_back(zeros(Shape::Scalar(DType::kF32)));
  variant.push_back(zeros(Shape::Scalar(DType::kF32)));
  for (const Shape& shape : MetricShapes(spec, true)) variant.push_back(zeros(shape));
  std::vector<Value> invariant = arguments.fields;
  invariant.push_back(arguments.weight);
  invariant.push_back(arguments.rate_factor);

  const size_t num_state = layout.size();
  const std::vector<Value> final =
      Loop(graph, arguments.steps, variant, invariant,
           [&](Value i, std::span<const Value> now, std::span<const Value> constant) {
             ir::Graph& body = i.graph();
             std::vector<Value> fields;
             for (size_t f = 0; f < spec.field_shapes.size(); ++f) {
               fields.push_back(ir::DynamicIndex(constant[f], i));
             }
             fields.push_back(ir::DynamicIndex(constant[spec.field_shapes.size()], i));
             // For K = 1 the slice is the whole; XLA would move what depends on nothing else out of
             // the loop and fuse the rest in another way, which changes bits. Tied to i, it stays.
             fields.push_back(i);
             fields = ir::OptimizationBarrier(fields);
             fields.pop_back();
             const Value weight = fields.back();
             fields.pop_back();
             const TrainStep step = RunTrainStep(spec, layout, body, now.first(num_state), fields,
                                                 weight, constant[spec.field_shapes.size() + 1]);
             std::vector<Value> next = step.state;
             next.push_back(ir::DynamicUpdateIndex(now[num_state], step.loss, i));
             next.push_back(ir::DynamicUpdateIndex(now[num_state + 1], step.rate, i));
             next.push_back(now[num_state + 2] + step.loss_sum);
             next.push_back(now[num_state + 3] + step.weight_sum);
             for (size_t m = 0; m < step.metric_sums.size(); ++m) {
               next.push_back(now[num_state + 4 + m] + step.metric_sums[m]);
             }
             return next;
           });
  graph.SetOutputs(final);
  program.num_state = static_cast<int>(num_state);
  for (int i = 0; i < program.num_state; ++i) graph.Donate(i, i);
  ResultLayout& results = program.results;
  results.losses = program.num_state;
  results.rates = program.num_state + 1;
  results.loss_sum = program.num_state + 2;
  results.weight_sum = program.num_state + 3;
  LayOutMetrics(spec, program.num_state + 4, results);
  program.step_flops = ir::Flops(graph);  // a loop of unknown length counts its body once
  return program;
}

Program BuildEvaluateProgram(const StepSpec& spec) {
  Program program;
  program.graph = std::make_unique<ir::Graph>("evaluate");
  ir::Graph& graph = *program.graph;
  const std::vector<StateTensor> layout = VariableLayout(*spec.model);
  const LaunchArguments arguments = AddArguments(graph, spec, layout, /*with_rate=*/false);
  std::vector<Value> variant;
  const auto zeros = [&](const Shape& shape) { return ir::Full(graph, shape, 0); };
  variant.push_back(zeros(Shape(DType::kF32, {spec.steps_per_launch})));
  variant.push_back(zeros(Shape::Scalar(DType::kF32)));
  variant.push_back(zeros(Shape::Scalar(DType::kF32)));
  for (const Shape& shape : MetricShapes(spec, false)) variant.push_back(zeros(shape));
  std::vector<Value> invariant = arguments.state;
  invariant.insert(invariant.end(), arguments.fields.begin(), arguments.fields.end());
  invariant.push_back(arguments.weight);
  const size_t num_variables = layout.size();
  std::vector<Value> final =
      Loop(graph, arguments.steps, variant, invariant,
           [&](Value i, std::span<const Value> now, std::span<const Value> constant) {
             ir::Graph& body = i.graph();
             nn::Context ctx(body,
                             {.training = false, .policy = spec.policy, .replicas = spec.replicas});
             for (size_t v = 0; v < num_variables; ++v) ctx.Bind(layout[v].name, constant[v]);
             std::vector<Value> fields;
             for (size_t f = 0; f < spec.field_shapes.size(); ++f) {
               fields.push_back(ir::DynamicIndex(constant[num_variables + f], i));
             }
             const Value weight = ir::DynamicIndex(constant.back(), i);
             ctx.SetRowWeights(weight);
             ctx.SetRandom(ir::MakeKey(body, spec.seed), Value());
             const Forward forward = RunForward(spec, ctx, fields, weight);
             std::vector<Value> next;
             const Value loss_sum = forward.penalty
                                        ? forward.loss_sum + forward.penalty * forward.weight_sum
                                        : forward.loss_sum;
             // A replica or step without real rows has no mean; its loss is reported as zero.
             next.push_back(
                 ir::DynamicUpdateIndex(now[0], loss_sum / ir::Max(forward.weight_sum, 1.0), i));
             next.push_back(now[1] + loss_sum);
             next.push_back(now[2] + forward.weight_sum);
             size_t at = 3;
             for (const auto& sums : forward.metric_sums) {
               for (const Value& sum : sums) {
                 next.push_back(now[at] + sum);
                 ++at;
               }
             }
             return next;
           });
  if (spec.replicas > 1) final = ir::AllReduce(final, ir::Reduction::kSum, spec.replicas);
  graph.SetOutputs(final);
  program.num_state = static_cast<int>(num_variables);
  program.results.losses = 0;
  program.results.loss_sum = 1;
  program.results.weight_sum = 2;
  LayOutMetrics(spec, 3, program.results);
  program.step_flops = ir::Flops(graph);
  return program;
}

Program BuildPredictProgram(const StepSpec& spec) {
  Program program;
  program.graph = std::make_unique<ir::Graph>("predict");
  ir::Graph& graph = *program.graph;
  const std::vector<StateTensor> layout = VariableLayout(*spec.model);
  nn::Context ctx(graph, {.training = false, .policy = spec.policy, .replicas = spec.replicas});
  for (const StateTensor& tensor : layout) {
    ctx.Bind(tensor.name, graph.AddParameter(tensor.shape, tensor.name));
  }
  ctx.SetRandom(ir::MakeKey(graph, spec.seed), Value());
  std::vector<Value> inputs;
  for (int field : spec.input_fields) {
    inputs.push_back(graph.AddParameter(spec.field_shapes[field], spec.field_names[field]));
  }
  std::vector<Value> outputs;
  for (const Value& output : spec.model->Call(ctx, inputs)) {
    outputs.push_back(ir::Convert(output, DType::kF32));
  }
  graph.SetOutputs(outputs);
  program.num_state = static_cast<int>(layout.size());
  program.results.outputs = 0;
  program.results.num_outputs = static_cast<int>(outputs.size());
  program.step_flops = ir::Flops(graph);
  return program;
}

DiagnosisProgram BuildDiagnosisProgram(const StepSpec& spec) {
  DiagnosisProgram program;
  program.graph = std::make_unique<ir::Graph>("diagnosis");
  ir::Graph& graph = *program.graph;
  std::vector<Value> finite;
  const auto check = [&](const std::string& name, Value value, bool in_data = false) {
    if (!ir::IsFloat(value.dtype())) return;
    program.names.push_back("the first that is not finite is " + name);
    program.in_data.push_back(in_data);
    finite.push_back(ir::Reduce(ir::Reduction::kAnd, ir::IsFinite(value)));
  };

  nn::Context ctx(graph, {.training = true, .policy = spec.policy, .replicas = 1});
  std::vector<Value> weights;
  std::vector<std::string> weight_names;
  for (const nn::Variable& variable : spec.model->variables()) {
    const Value value = graph.AddParameter(variable.shape, variable.path);
    ctx.Bind(variable.path, value);
    check("the weight " + variable.path, value);
    if (variable.trainable) {
      weights.push_back(value);
      weight_names.push_back(variable.path);
    }
  }
  const Value step = graph.AddParameter(Shape::Scalar(DType::kI32), "step");
  std::vector<Value> fields;
  for (size_t i = 0; i < spec.field_shapes.size(); ++i) {
    fields.push_back(graph.AddParameter(spec.field_shapes[i], spec.field_names[i]));
    check("the data's field " + spec.field_names[i], fields.back(), true);
  }
  const Value weight = graph.AddParameter(Shape(DType::kF32, {BatchRows(spec)}), "weight");
  ctx.SetRowWeights(weight);
  ctx.SetRandom(ir::FoldIn(ir::MakeKey(graph, spec.seed), ir::Convert(step, DType::kU32)), Value());
  const size_t before = graph.nodes().size();
  const Forward forward = RunForward(spec, ctx, fields, weight);
  const size_t after = graph.nodes().size();
  // The last value of each layer's scope is what the layer gives; layers in order of their ends.
  std::vector<std::pair<std::string, Value>> layers;
  for (size_t i = before; i < after; ++i) {
    ir::Node& node = *graph.nodes()[i];
    const std::string layer = node.scope().substr(0, node.scope().find('/'));
    if (layer.empty() || layer == "loss" || layer.starts_with("metric ")) continue;
    if (!ir::IsFloat(node.shape().dtype)) continue;
    if (layers.empty() || layers.back().first != layer) {
      layers.emplace_back(layer, node.output());
    } else {
      layers.back().second = node.output();
    }
  }
  for (const auto& [layer, value] : layers) check("the output of layer " + layer, value);
  // A replica may hold padding only.
  const Value mean = forward.loss_sum / ir::Max(forward.weight_sum, 1e-30);
  const Value loss = forward.penalty ? mean + forward.penalty : mean;
  const Value target = fields[spec.target_field];
  if (spec.loss->name().starts_with("sparse") && ir::IsInteger(target.dtype())) {
    // Losses give NaN for a class that the outputs do not have.
    const int64_t classes = forward.outputs[0].dim(-1);
    const Value index = ir::ToIndex(target);
    const Value known = ir::And(ir::Ge(index, 0), ir::Lt(index, static_cast<double>(classes)));
    program.names.push_back(fmt::format("the data's field {} holds a class outside 0 to {}",
                                        spec.field_names[spec.target_field], classes - 1));
    program.in_data.push_back(true);
    finite.push_back(ir::Or(ir::Reduce(ir::Reduction::kAnd, known), ir::IsFinite(loss)));
  }
  check("the loss " + spec.loss->name(), loss);
  const std::vector<Value> gradients = ir::Gradient(loss, weights);
  for (size_t i = 0; i < gradients.size(); ++i) {
    check("the gradient of " + weight_names[i], gradients[i]);
  }
  graph.SetOutputs(finite);
  return program;
}

}  // namespace flatout::step
