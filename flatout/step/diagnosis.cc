#include <fmt/format.h>

#include <algorithm>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/step/forward.h"
#include "flatout/step/micro_batches.h"
#include "flatout/step/step_program.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Shape;
using ir::Value;

// What is looked at: pred scalars, false where the name says what is wrong.
struct Checks {
  std::vector<std::string> names;
  std::vector<bool> in_data;
  std::vector<Value> sound;

  void Add(std::string name, Value value, bool data = false) {
    names.push_back(std::move(name));
    in_data.push_back(data);
    sound.push_back(value);
  }
  void AddFinite(const std::string& what, Value value, bool data = false) {
    if (!ir::IsFloat(value.dtype())) return;
    Add("the first that is not finite is " + what,
        ir::Reduce(ir::Reduction::kAnd, ir::IsFinite(value)), data);
  }
};

// " (float16, whose largest finite value is 65504)", where that is little.
std::string Limit(Value value) {
  return value.dtype() == DType::kF16 ? " (float16, whose largest finite value is 65504)" : "";
}

struct LayerOutput {
  std::string layer;
  Value value;
};

// What each layer gives, in the order in which layers end, of the nodes [begin, end): the last
// float value of its scope.
std::vector<LayerOutput> LayerOutputs(const ir::Graph& graph, size_t begin, size_t end) {
  std::vector<LayerOutput> layers;
  for (size_t i = begin; i < end; ++i) {
    ir::Node& node = *graph.nodes()[i];
    const std::string layer = node.scope().substr(0, node.scope().find('/'));
    if (layer.empty() || layer == "loss" || layer.starts_with("metric ")) continue;
    if (!ir::IsFloat(node.shape().dtype)) continue;
    if (layers.empty() || layers.back().layer != layer) {
      layers.push_back({layer, node.output()});
    } else {
      layers.back().value = node.output();
    }
  }
  return layers;
}

struct DiagnosisInput {
  std::vector<Value> variables;
  Value scale, step, rows;  // scale: none without a loss scale; rows: weights of the whole step
};

// One pass forward and backward: layers in order, the loss, then gradients in the order in which
// they are computed, from the last layer to the first.
Checks CheckPass(const StepSpec& spec, ir::Graph& graph, const Piece& piece,
                 const DiagnosisInput& input) {
  const std::vector<nn::Variable>& variables = spec.model->variables();
  Checks checks;
  nn::Context ctx(graph, {.training = true, .policy = spec.policy, .replicas = 1});
  for (size_t i = 0; i < variables.size(); ++i) ctx.Bind(variables[i].path, input.variables[i]);
  ctx.SetRowWeights(piece.weight);
  ctx.SetRandom(ir::FoldIn(ir::MakeKey(graph, spec.seed), ir::Convert(input.step, DType::kU32)),
                piece.first_row);
  const size_t begin = graph.nodes().size();
  const Forward forward = RunForward(spec, ctx, piece.fields, piece.weight);
  const std::vector<LayerOutput> layers = LayerOutputs(graph, begin, graph.nodes().size());
  for (const LayerOutput& output : layers) {
    checks.AddFinite("the output of layer " + output.layer + Limit(output.value), output.value);
  }

  // A replica may hold padding only.
  Value loss = forward.loss_sum / ir::Max(forward.weight_sum, 1e-30);
  if (forward.activity) loss = loss + forward.activity;
  if (const Value penalty = Regularization(graph, *spec.model, input.variables)) {
    loss = loss + penalty;
  }
  const Value target = piece.fields[spec.target_field];
  if (spec.loss->name().starts_with("sparse") && ir::IsInteger(target.dtype())) {
    // Losses give NaN for a class that the outputs do not have.
    const int64_t classes = forward.outputs[0].dim(-1);
    const Value index = ir::ToIndex(target);
    const Value known = ir::And(ir::Ge(index, 0), ir::Lt(index, static_cast<double>(classes)));
    checks.Add(fmt::format("the data's field {} holds a class outside 0 to {}",
                           spec.field_names[spec.target_field], classes - 1),
               ir::Or(ir::Reduce(ir::Reduction::kAnd, known), ir::IsFinite(loss)), true);
  }
  checks.AddFinite("the loss " + spec.loss->name(), loss);

  std::vector<Value> by;
  for (const LayerOutput& output : layers) by.push_back(output.value);
  std::vector<size_t> trained;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i].trainable) continue;
    trained.push_back(i);
    by.push_back(input.variables[i]);
  }
  const Value objective = Objective(spec, forward, input.rows, input.scale);
  const Value one = ir::ScalarLike(objective, 1);
  const std::vector<Value> gradients =
      ir::VectorJacobianProduct(std::span(&objective, 1), std::span(&one, 1), by);
  const std::string scaled = input.scale ? ", of the scaled loss" : "";
  const auto check_weights_of = [&](const std::string& layer) {
    for (size_t k = trained.size(); k-- > 0;) {
      const std::string& path = variables[trained[k]].path;
      const Value gradient = gradients[layers.size() + k];
      if (gradient && path.substr(0, path.find('/')) == layer) {
        checks.AddFinite("the gradient of " + path + Limit(gradient) + scaled, gradient);
      }
    }
  };
  std::vector<std::string> done;
  for (size_t k = layers.size(); k-- > 0;) {
    if (gradients[k]) {
      checks.AddFinite(
          "the gradient by the output of layer " + layers[k].layer + Limit(gradients[k]) + scaled,
          gradients[k]);
    }
    if (std::find(done.begin(), done.end(), layers[k].layer) != done.end()) continue;
    check_weights_of(layers[k].layer);
    done.push_back(layers[k].layer);
  }
  return checks;
}

}  // namespace

DiagnosisProgram BuildDiagnosisProgram(const StepSpec& spec) {
  DiagnosisProgram program;
  program.graph = std::make_unique<ir::Graph>("diagnosis");
  ir::Graph& graph = *program.graph;
  Checks checks;
  DiagnosisInput input;
  for (const nn::Variable& variable : spec.model->variables()) {
    input.variables.push_back(graph.AddParameter(variable.shape, variable.path));
    checks.AddFinite("the weight " + variable.path, input.variables.back());
  }
  if (spec.loss_scale.enabled()) {
    input.scale = graph.AddParameter(Shape::Scalar(DType::kF32), "loss_scale");
  }
  input.step = graph.AddParameter(Shape::Scalar(DType::kI32), "step");
  std::vector<Value> fields;
  for (size_t i = 0; i < spec.field_shapes.size(); ++i) {
    fields.push_back(graph.AddParameter(spec.field_shapes[i], spec.field_names[i]));
    checks.AddFinite("the data's field " + spec.field_names[i], fields.back(), true);
  }
  const Value weight = graph.AddParameter(Shape(DType::kF32, {BatchRows(spec)}), "weight");
  input.rows = WeightSum(spec, fields[spec.target_field], weight);

  const MicroBatches pieces = Divide(spec);
  const auto append = [&](const Checks& more, std::span<const Value> sound) {
    for (size_t i = 0; i < more.names.size(); ++i) {
      checks.Add(more.names[i], sound[i], more.in_data[i]);
    }
  };
  if (pieces.count == 1) {
    Piece whole;
    whole.fields = fields;
    whole.weight = weight;
    const Checks found = CheckPass(spec, graph, whole, input);
    append(found, found.sound);
  } else {
    // Launches of one step, so that the loop is the training step's.
    const auto stacked = [](Value value) { return ir::ExpandDims(value, 0); };
    StepInput step_input;
    for (const Value& field : fields) step_input.fields.push_back(stacked(field));
    step_input.weight = stacked(weight);
    step_input.index = ir::Scalar(graph, DType::kI32, 0);
    std::vector<Value> constants = input.variables;
    constants.push_back(input.step);
    constants.push_back(input.rows);
    if (input.scale) constants.push_back(input.scale);
    const auto own_input = [&](std::span<const Value> values) {
      DiagnosisInput own;
      const size_t n = input.variables.size();
      own.variables.assign(values.begin(), values.begin() + n);
      own.step = values[n];
      own.rows = values[n + 1];
      if (input.scale) own.scale = values[n + 2];
      return own;
    };
    // A pass in a graph of its own tells how many checks there are.
    ir::Graph scratch("shapes");
    std::vector<Value> probe;
    for (const Value& constant : constants) {
      probe.push_back(scratch.AddParameter(constant.shape(), ""));
    }
    Piece probe_piece;
    for (const Shape& shape : spec.field_shapes) {
      probe_piece.fields.push_back(scratch.AddParameter(WithRows(shape, pieces.rows), ""));
    }
    probe_piece.weight = scratch.AddParameter(Shape(DType::kF32, {pieces.rows}), "");
    const Checks found = CheckPass(spec, scratch, probe_piece, own_input(probe));
    // Only the first micro-batch with anything wrong counts.
    const std::vector<Value> all_sound(found.names.size(),
                                       ir::Full(graph, Shape::Scalar(DType::kPred), 1));
    const std::vector<Value> sound = OverMicroBatches(
        spec, graph, step_input, constants, all_sound, /*with_global_rows=*/false,
        [&](ir::Graph& loop, const Piece& piece, std::span<const Value> own_constants,
            std::span<const Value> now) {
          Value so_far = now[0];
          for (const Value& one : now) so_far = ir::And(so_far, one);
          const Checks own = CheckPass(spec, loop, piece, own_input(own_constants));
          std::vector<Value> next;
          for (size_t i = 0; i < own.sound.size(); ++i) {
            next.push_back(ir::Select(so_far, own.sound[i], now[i]));
          }
          return next;
        });
    append(found, sound);
  }
  program.names = std::move(checks.names);
  program.in_data = std::move(checks.in_data);
  graph.SetOutputs(checks.sound);
  return program;
}

}  // namespace flatout::step
