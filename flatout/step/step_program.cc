#include "flatout/step/step_program.h"

#include <functional>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"
#include "flatout/step/forward.h"
#include "flatout/step/loss_blocks.h"
#include "flatout/step/micro_batches.h"
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

// The step of a launch whose invariants begin with the fields and the weights.
StepInput InputOf(const StepSpec& spec, std::span<const Value> constants, Value index) {
  StepInput input;
  const size_t num_fields = spec.field_shapes.size();
  input.fields.assign(constants.begin(), constants.begin() + num_fields);
  input.weight = constants[num_fields];
  input.index = index;
  return input;
}

// Sums over a step's rows on one replica.
struct Scores {
  Value loss_sum, weight_sum;  // regularization and activity losses included
  std::vector<Value> metric_sums;
};

Scores RunEvaluation(const StepSpec& spec, ir::Graph& graph, std::span<const Value> variables,
                     const StepInput& input) {
  // Loss sum, weight sum, metric sums, activity losses (0 where there are none).
  const auto run = [&](ir::Graph& own, const Piece& piece, std::span<const Value> weights) {
    nn::Context ctx(own, {.training = false, .policy = spec.policy, .replicas = spec.replicas});
    for (size_t i = 0; i < weights.size(); ++i) {
      ctx.Bind(spec.model->variables()[i].path, weights[i]);
    }
    ctx.SetRowWeights(piece.weight);
    ctx.SetRandom(ir::MakeKey(own, spec.seed), piece.first_row);
    const Forward forward =
        DivideLoss(spec).count == 1
            ? RunForward(spec, ctx, piece.fields, piece.weight)
            : RunForwardInBlocks(spec, ctx, piece.fields, piece.weight, weights);
    std::vector<Value> sums = {forward.loss_sum, forward.weight_sum};
    sums.insert(sums.end(), forward.metric_sums.begin(), forward.metric_sums.end());
    sums.push_back(forward.activity ? forward.activity : ir::Scalar(own, DType::kF32, 0));
    return sums;
  };
  std::vector<Value> sums;
  if (Divide(spec).count == 1) {
    sums = run(graph, WholeBatch(spec, graph, input), variables);
  } else {
    const Shape scalar = Shape::Scalar(DType::kF32);
    std::vector<Value> zeros(2, ir::Full(graph, scalar, 0));
    for (const Shape& shape : MetricShapes(spec)) {
      zeros.push_back(ir::Full(graph, shape, 0));
    }
    zeros.push_back(ir::Full(graph, scalar, 0));
    PassInput pass_input;
    pass_input.variables.assign(variables.begin(), variables.end());
    sums = OverMicroBatches(
        spec, graph, input, pass_input, zeros, /*with_global_rows=*/false,
        [&](ir::Graph& loop, const Piece& piece, PassInput own, std::span<const Value> now) {
          std::vector<Value> next = run(loop, piece, own.variables);
          for (size_t i = 0; i < next.size(); ++i) next[i] = now[i] + next[i];
          return next;
        });
  }
  Scores scores;
  scores.weight_sum = sums[1];
  Value penalty = sums.back();
  if (const Value regularization = Regularization(graph, *spec.model, variables)) {
    penalty = penalty + regularization;
  }
  scores.loss_sum = sums[0] + penalty * sums[1];
  scores.metric_sums.assign(sums.begin() + 2, sums.end() - 1);
  return scores;
}

// FLOPs of one step on one replica as the model has them, however the batch is divided: rows that
// pad the last micro-batch or block are no work that anybody asked for.
double StepFlops(const StepSpec& spec, const ir::Graph& graph, Program (*build)(const StepSpec&)) {
  // The loop over steps counts its body once.
  if (Divide(spec).count == 1 && DivideLoss(spec).count == 1) return ir::Flops(graph);
  StepSpec whole = spec;
  whole.micro_rows = 0;
  whole.loss_blocks = 1;
  return build(whole).step_flops;
}

void LayOutMetrics(const StepSpec& spec, int first, ResultLayout& results) {
  for (int count : MetricCounts(spec)) {
    results.metrics.emplace_back(first, count);
    first += count;
  }
}

}  // namespace

std::vector<StateTensor> StateLayout(const nn::Model& model, const optim::Optimizer& optimizer,
                                     const optim::LossScale& loss_scale) {
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
  for (const optim::Slot& slot : optim::LossScaleCounters(loss_scale)) {
    layout.push_back({slot.name, StateTensor::Kind::kCounter, slot.shape, -1, slot.initial});
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
  const std::vector<StateTensor> layout =
      StateLayout(*spec.model, *spec.optimizer, spec.loss_scale);
  const LaunchArguments arguments = AddArguments(graph, spec, layout, /*with_rate=*/true);
  const size_t num_state = layout.size();

  // Carried: state, what is recorded of each step, sums.
  std::vector<Value> variant = arguments.state;
  const auto carry_zeros = [&](const Shape& shape) {
    variant.push_back(ir::Full(graph, shape, 0));
    return static_cast<int>(variant.size()) - 1;
  };
  ResultLayout& results = program.results;
  const Shape per_step(DType::kF32, {spec.steps_per_launch});
  results.losses = carry_zeros(per_step);
  results.rates = carry_zeros(per_step);
  if (spec.loss_scale.enabled()) {
    results.skipped = carry_zeros(per_step.WithDType(DType::kI32));
    results.scales = carry_zeros(per_step);
  }
  if (spec.gradient_norm) results.gradient_norms = carry_zeros(per_step);
  const Shape scalar = Shape::Scalar(DType::kF32);
  results.loss_sum = carry_zeros(scalar);
  results.weight_sum = carry_zeros(scalar);
  const size_t first_metric = variant.size();
  for (const Shape& shape : MetricShapes(spec)) carry_zeros(shape);
  LayOutMetrics(spec, static_cast<int>(first_metric), results);
  std::vector<Value> invariant = arguments.fields;
  invariant.push_back(arguments.weight);
  invariant.push_back(arguments.rate_factor);

  const std::vector<Value> final =
      Loop(graph, arguments.steps, variant, invariant,
           [&](Value i, std::span<const Value> now, std::span<const Value> constant) {
             const StepInput input = InputOf(spec, constant, i);
             const TrainStep step = RunTrainStep(spec, layout, i.graph(), now.first(num_state),
                                                 input, constant.back());
             std::vector<Value> next = step.state;
             const auto record = [&](Value value) {
               next.push_back(ir::DynamicUpdateIndex(now[next.size()], value, i));
             };
             const auto sum = [&](Value value) { next.push_back(now[next.size()] + value); };
             record(step.loss);
             record(step.rate);
             if (spec.loss_scale.enabled()) {
               record(step.skipped);
               record(step.scale);
             }
             if (spec.gradient_norm) record(step.gradient_norm);
             sum(step.loss_sum);
             sum(step.weight_sum);
             for (const Value& metric_sum : step.metric_sums) sum(metric_sum);
             return next;
           });
  graph.SetOutputs(final);
  program.num_state = static_cast<int>(num_state);
  for (int i = 0; i < program.num_state; ++i) graph.Donate(i, i);
  program.step_flops = StepFlops(spec, graph, BuildTrainProgram);
  return program;
}

Program BuildEvaluateProgram(const StepSpec& spec) {
  Program program;
  program.graph = std::make_unique<ir::Graph>("evaluate");
  ir::Graph& graph = *program.graph;
  const std::vector<StateTensor> layout = VariableLayout(*spec.model);
  const LaunchArguments arguments = AddArguments(graph, spec, layout, /*with_rate=*/false);
  // Carried: losses[K], loss sum, weight sum, metric sums.
  std::vector<Value> variant;
  const auto zeros = [&](const Shape& shape) { return ir::Full(graph, shape, 0); };
  variant.push_back(zeros(Shape(DType::kF32, {spec.steps_per_launch})));
  variant.push_back(zeros(Shape::Scalar(DType::kF32)));
  variant.push_back(zeros(Shape::Scalar(DType::kF32)));
  for (const Shape& shape : MetricShapes(spec)) variant.push_back(zeros(shape));
  std::vector<Value> invariant = arguments.state;
  invariant.insert(invariant.end(), arguments.fields.begin(), arguments.fields.end());
  invariant.push_back(arguments.weight);
  const size_t num_variables = layout.size();
  std::vector<Value> final =
      Loop(graph, arguments.steps, variant, invariant,
           [&](Value i, std::span<const Value> now, std::span<const Value> constant) {
             const auto variables = constant.first(num_variables);
             const StepInput input = InputOf(spec, constant.subspan(num_variables), i);
             const Scores scores = RunEvaluation(spec, i.graph(), variables, input);
             std::vector<Value> next;
             // A replica or step without real rows has no mean; its loss is reported as zero.
             next.push_back(ir::DynamicUpdateIndex(
                 now[0], scores.loss_sum / ir::Max(scores.weight_sum, 1.0), i));
             next.push_back(now[1] + scores.loss_sum);
             next.push_back(now[2] + scores.weight_sum);
             for (const Value& sum : scores.metric_sums) next.push_back(now[next.size()] + sum);
             return next;
           });
  if (spec.replicas > 1) final = ir::AllReduce(final, ir::Reduction::kSum, spec.replicas);
  graph.SetOutputs(final);
  program.num_state = static_cast<int>(num_variables);
  program.results.losses = 0;
  program.results.loss_sum = 1;
  program.results.weight_sum = 2;
  LayOutMetrics(spec, 3, program.results);
  program.step_flops = StepFlops(spec, graph, BuildEvaluateProgram);
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
