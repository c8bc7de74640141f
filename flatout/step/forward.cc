#include "flatout/step/forward.h"

#include <tuple>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"

namespace flatout::step {

using ir::DType;
using ir::Shape;
using ir::Value;

namespace {

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

}  // namespace

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

Value FirstRow(ir::Graph& graph, const StepSpec& spec) {
  if (spec.replicas == 1) return Value();
  return ir::ReplicaId(graph) *
         ir::Scalar(graph, DType::kU32, static_cast<double>(BatchRows(spec)));
}

}  // namespace flatout::step
