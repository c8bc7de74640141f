#include "flatout/step/step_program.h"

#include <functional>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"
#include "flatout/step/forward.h"
#include "flatout/step/train_step.h"

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

}  // namespace flatout::step
