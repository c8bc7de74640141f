#include "flatout/step/forward.h"

#include <bit>
#include <tuple>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"

namespace flatout::step {

using ir::DType;
using ir::Shape;
using ir::Value;

namespace {

// A stand-in for the first output's values, [rows, ...] f32.
Shape PredictionShape(const StepSpec& spec, int64_t rows) {
  ir::Dims dims = spec.model->outputs()[0].shape().dims;
  dims.insert(dims.begin(), rows);
  return Shape(DType::kF32, std::move(dims));
}

bool DependsOn(Value value, Value other) {
  std::vector<bool> seen(value.graph().nodes().size(), false);
  std::vector<const ir::Node*> todo = {value.node()};
  while (!todo.empty()) {
    const ir::Node* node = todo.back();
    todo.pop_back();
    if (node == other.node()) return true;
    if (seen[node->id()]) continue;
    seen[node->id()] = true;
    for (const Value& input : node->inputs()) todo.push_back(input.node());
  }
  return false;
}

}  // namespace

Shape WithRows(const Shape& shape, int64_t rows) {
  ir::Dims dims = shape.dims;
  dims.at(0) = rows;
  return shape.WithDims(std::move(dims));
}

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
    for (const Value& loss : ctx.losses()) {
      const Value one = ir::Convert(loss, DType::kF32);
      forward.activity = forward.activity ? forward.activity + one : one;
    }
  }
  for (const nn::Metric* metric : spec.metrics) {
    const ir::Scope scope(ctx.graph(), "metric " + metric->name());
    const std::vector<Value> sums = WithContext("metric " + metric->name(), [&] {
      return metric->Sums(target, ir::StopGradient(forward.outputs[0]), weight);
    });
    forward.metric_sums.insert(forward.metric_sums.end(), sums.begin(), sums.end());
  }
  return forward;
}

double ObjectiveFactor(const StepSpec& spec) {
  if (spec.replicas == 1 || !spec.loss_scale.enabled()) return 1;
  const ir::Dims& output = spec.model->outputs()[0].shape().dims;
  int64_t most = BatchRows(spec);  // weights of a replica's step: rows, or positions in them
  for (size_t i = 0; i + 1 < output.size(); ++i) most *= output[i];
  return 1.0 / static_cast<double>(std::bit_floor(static_cast<uint64_t>(most)));
}

Value Objective(const StepSpec& spec, const Forward& forward, Value rows, Value scale) {
  Value objective;
  if (spec.replicas == 1) {
    objective = forward.loss_sum / RowsOrOne(rows);
    if (forward.activity) objective = objective + forward.activity;
  } else {
    // Dividing by the rows of all replicas will give the global mean, also when some have only
    // padding; of the losses that layers add, the mean over the replicas by their rows.
    objective = forward.loss_sum;
    if (forward.activity) objective = objective + forward.activity * rows;
  }
  if (!scale) return objective;
  return optim::ScaleLoss(objective * ObjectiveFactor(spec), scale);
}

Value Regularization(ir::Graph& graph, const nn::Model& model, std::span<const Value> variables) {
  const ir::Scope scope(graph, "loss");
  Value total;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Value penalty = nn::Penalty(model.variables()[i].regularizer, variables[i]);
    if (penalty) total = total ? total + penalty : penalty;
  }
  return total;
}

Value WeightSum(const StepSpec& spec, Value target, Value weight) {
  ir::Graph& graph = target.graph();
  const ir::Scope scope(graph, "loss");
  const Value prediction = ir::Full(graph, PredictionShape(spec, target.dim(0)), 0);
  const Value sum = spec.loss->Sums(target, prediction, weight).second;
  if (DependsOn(sum, prediction)) {
    throw Invalid(
        "loss {}: which elements count depends on the model's outputs, so that a batch cannot be "
        "divided into micro-batches; set micro_batch to the whole batch",
        spec.loss->name());
  }
  return sum;
}

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
  for (const Value& sum : RunForward(spec, ctx, fields, weight).metric_sums) {
    shapes.push_back(sum.shape());
  }
  return shapes;
}

std::vector<int> MetricCounts(const StepSpec& spec) {
  std::vector<int> counts;
  ir::Graph scratch("counts");
  const Value target = scratch.AddParameter(spec.field_shapes.at(spec.target_field), "target");
  const Value prediction =
      scratch.AddParameter(PredictionShape(spec, BatchRows(spec)), "prediction");
  const Value weight = scratch.AddParameter(Shape(DType::kF32, {BatchRows(spec)}), "weight");
  for (const nn::Metric* metric : spec.metrics) {
    counts.push_back(static_cast<int>(metric->Sums(target, prediction, weight).size()));
  }
  return counts;
}

Value FirstRow(ir::Graph& graph, const StepSpec& spec) {
  if (spec.replicas == 1) return Value();
  return ir::ReplicaId(graph) *
         ir::Scalar(graph, DType::kU32, static_cast<double>(BatchRows(spec)));
}

}  // namespace flatout::step
