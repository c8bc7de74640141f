#include <fmt/format.h>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/step/forward.h"
#include "flatout/step/step_program.h"

namespace flatout::step {

using ir::DType;
using ir::Shape;
using ir::Value;

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
