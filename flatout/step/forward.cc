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

Shape WithRows(const Shape& shape, int64_t rows) {
  ir::Dims dims = shape.dims;
  dims.at(0) = rows;
  return shape.WithDims(std::move(dims));
}

Value RowsOrOne(Value weight_sum) {
  return ir::Select(ir::Gt(weight_sum, 0), weight_sum, ir::ScalarLike(weight_sum, 1));
}

std::vector<Value> ModelInputs(const StepSpec& spec, std::span<const Value> fields) {
  std::vector<Value> inputs;
  for (int field : spec.input_fields) inputs.push_back(fields[field]);
  return inputs;
}

Forward RunForward(const StepSpec& spec, nn::Context& ctx, std::span<const Value> fields,
                   Value weight) {
  std::vector<Value> outputs = spec.model->Call(ctx, ModelInputs(spec, fields));
  Forward forward;
  if (spec.target_field >= 0) {
    forward = RunLoss(spec, ctx, fields[spec.target_field], outputs[0], weight);
  }
  forward.outputs = std::move(outputs);
  return forward;
}

Forward RunLoss(const StepSpec& spec, const nn::Context& ctx, Value target, Value output,
                Value weight) {
  ir::Graph& graph = output.graph();
  Forward forward;
  {
    const ir::Scope scope(graph, "loss");
    std::tie(forward.loss_sum, forward.weight_sum) = WithContext(
        "loss " + spec.loss->name(), [&] { return spec.loss->Sums(target, output, weight); });
  }
  forward.activity = ActivityLosses(ctx);
  for (const nn::Metric* metric : spec.metrics) {
    const ir::Scope scope(graph, "metric " + metric->name());
    const std::vector<Value> sums = WithContext("metric " + metric->name(), [&] {
      return metric->Sums(target, ir::StopGradient(output), weight);
    });
    forward.metric_sums.insert(forward.metric_sums.end(), sums.begin(), sums.end());
  }
  return forward;
}

Value ActivityLosses(const nn::Context& ctx) {
  Value total;
  for (const Value& loss : ctx.losses()) {
    const ir::Scope scope(loss.graph(), "loss");
    const Value one = ir::Convert(loss, DType::kF32);
    total = total ? total + one : one;
  }
  return total;
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
  const Value prediction = ir::Full(graph, OutputShape(spec, target.dim(0)), 0);
  const Value sum = spec.loss->Sums(target, prediction, weight).second;
  if (DependsOn(sum, prediction)) {
    throw Invalid(
        "loss {}: which elements count depends on the model's outputs, so that a batch cannot be "
        "divided into micro-batches; set micro_batch to the whole batch",
        spec.loss->name());
  }
  return sum;
}

Shape OutputShape(const StepSpec& spec, int64_t rows) {
  Shape shape = spec.model->outputs()[0].shape();
  shape.dims.insert(shape.dims.begin(), rows);
  return ir::IsFloat(shape.dtype) ? shape.WithDType(DType::kF32) : shape;
}

std::vector<Shape> MetricShapes(const StepSpec& spec) {
  if (spec.target_field < 0) return {};
  ir::Graph scratch("shapes");
  const nn::Context ctx(scratch, {});
  const Value target = scratch.AddParameter(spec.field_shapes.at(spec.target_field), "target");
  const Value output = scratch.AddParameter(OutputShape(spec, BatchRows(spec)), "output");
  const Value weight = scratch.AddParameter(Shape(DType::kF32, {BatchRows(spec)}), "weight");
  std::vector<Shape> shapes;
  for (const Value& sum : RunLoss(spec, ctx, target, output, weight).metric_sums) {
    shapes.push_back(sum.shape());
  }
  return shapes;
}

std::vector<int> MetricCounts(const StepSpec& spec) {
  std::vector<int> counts;
  for (const nn::Metric* metric : spec.metrics) {
    StepSpec one = spec;
    one.metrics = {metric};
    counts.push_back(static_cast<int>(MetricShapes(one).size()));
  }
  return counts;
}

Value FirstRow(ir::Graph& graph, const StepSpec& spec) {
  if (spec.replicas == 1) return Value();
  return ir::ReplicaId(graph) *
         ir::Scalar(graph, DType::kU32, static_cast<double>(BatchRows(spec)));
}

}  // namespace flatout::step
