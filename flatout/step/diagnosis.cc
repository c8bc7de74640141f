#include <fmt/format.h>

#include <algorithm>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/step/forward.h"
#include "flatout/step/loss_blocks.h"
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
  void Append(const Checks& more) {
    for (size_t i = 0; i < more.names.size(); ++i)
      Add(more.names[i], more.sound[i], more.in_data[i]);
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

// Checks the layers that the nodes from `begin` on belong to, and returns them.
std::vector<LayerOutput> CheckLayers(const ir::Graph& graph, size_t begin, Checks& checks) {
  std::vector<LayerOutput> layers = LayerOutputs(graph, begin, graph.nodes().size());
  for (const LayerOutput& output : layers) {
    checks.AddFinite("the output of layer " + output.layer + Limit(output.value), output.value);
  }
  return layers;
}

// The mean loss of a part of the rows; a replica may hold padding only.
Value MeanLoss(const Forward& forward) {
  return forward.loss_sum / ir::Max(forward.weight_sum, 1e-30);
}

void CheckClasses(const StepSpec& spec, Value target, Value loss, Checks& checks) {
  if (!spec.loss->name().starts_with("sparse") || !ir::IsInteger(target.dtype())) return;
  // Losses give NaN for a class that the outputs do not have.
  const int64_t classes = OutputShape(spec, 1).dim(-1);
  const Value index = ir::ToIndex(target);
  const Value known = ir::And(ir::Ge(index, 0), ir::Lt(index, static_cast<double>(classes)));
  checks.Add(fmt::format("the data's field {} holds a class outside 0 to {}",
                         spec.field_names[spec.target_field], classes - 1),
             ir::Or(ir::Reduce(ir::Reduction::kAnd, known), ir::IsFinite(loss)), true);
}

// A weight of the model, and what it is bound to.
struct Weight {
  std::string path;
  Value value;
};

std::vector<Weight> TrainedWeights(const StepSpec& spec, std::span<const size_t> variables,
                                   std::span<const Value> values) {
  std::vector<Weight> weights;
  for (size_t i = 0; i < variables.size(); ++i) {
    const nn::Variable& variable = spec.model->variables()[variables[i]];
    if (variable.trainable) weights.push_back({variable.path, values[i]});
  }
  return weights;
}

// Checks the gradients of `outputs` by what the layers gave and by their weights, in the order in
// which they are computed, from the last layer to the first. Returns the gradient by `x`, if one
// is given.
Value CheckGradients(std::span<const Value> outputs, std::span<const Value> cotangents,
                     std::span<const LayerOutput> layers, std::span<const Weight> weights,
                     bool scaled, Value x, Checks& checks) {
  std::vector<Value> by;
  for (const LayerOutput& output : layers) by.push_back(output.value);
  for (const Weight& weight : weights) by.push_back(weight.value);
  if (x) by.push_back(x);
  const std::vector<Value> gradients = ir::VectorJacobianProduct(outputs, cotangents, by);
  const auto check = [&](const std::string& what, Value gradient) {
    checks.AddFinite(what + Limit(gradient) + (scaled ? ", of the scaled loss" : ""), gradient);
  };
  const auto check_weights_of = [&](const std::string& layer) {
    for (size_t k = weights.size(); k-- > 0;) {
      const std::string& path = weights[k].path;
      const Value gradient = gradients[layers.size() + k];
      if (gradient && path.substr(0, path.find('/')) == layer) {
        check("the gradient of " + path, gradient);
      }
    }
  };
  std::vector<std::string> done;
  for (size_t k = layers.size(); k-- > 0;) {
    if (gradients[k]) check("the gradient by the output of layer " + layers[k].layer, gradients[k]);
    if (std::find(done.begin(), done.end(), layers[k].layer) != done.end()) continue;
    check_weights_of(layers[k].layer);
    done.push_back(layers[k].layer);
  }
  if (!x) return {};
  return gradients.back() ? gradients.back() : ir::ZerosLike(x);
}

// `now`, and, where all of it is still sound, what is `found` next.
std::vector<Value> FirstUnsound(std::span<const Value> now, std::span<const Value> found) {
  Value so_far = now[0];
  for (const Value& one : now) so_far = ir::And(so_far, one);
  std::vector<Value> next;
  for (size_t i = 0; i < now.size(); ++i) next.push_back(ir::Select(so_far, found[i], now[i]));
  return next;
}

std::vector<Value> AllSound(ir::Graph& graph, size_t count) {
  return std::vector<Value>(count, ir::Full(graph, Shape::Scalar(DType::kPred), 1));
}

// The head's part of a pass, over one block of its rows.
struct HeadChecks {
  Checks checks;
  Forward forward;
  Value by_x;
};

HeadChecks CheckHead(const StepSpec& spec, ir::Graph& graph, const LossBlock& block,
                     std::span<const Value> weights, Value rows, Value scale) {
  HeadChecks result;
  const size_t begin = graph.nodes().size();
  result.forward = RunHead(spec, graph, block, weights, /*training=*/true);
  const std::vector<LayerOutput> layers = CheckLayers(graph, begin, result.checks);
  const Value loss = MeanLoss(result.forward);
  CheckClasses(spec, block.target, loss, result.checks);
  result.checks.AddFinite("the loss " + spec.loss->name(), loss);
  const Value objective = Objective(spec, result.forward, rows, scale);
  const Value one = ir::ScalarLike(objective, 1);
  result.by_x = CheckGradients(std::span(&objective, 1), std::span(&one, 1), layers,
                               TrainedWeights(spec, spec.model->HeadVariables(), weights),
                               static_cast<bool>(scale), block.x, result.checks);
  return result;
}

// The same over all blocks: of the first one with anything wrong.
HeadChecks CheckHeadInBlocks(const StepSpec& spec, const LossBlock& pass, const PassInput& input) {
  ir::Graph& graph = pass.x.graph();
  std::vector<Value> constants;
  for (const size_t i : spec.model->HeadVariables()) constants.push_back(input.variables[i]);
  const size_t num_weights = constants.size();
  constants.push_back(input.rows);
  if (input.scale) constants.push_back(input.scale);
  const auto check = [&](ir::Graph& own, const LossBlock& block, std::span<const Value> values) {
    return CheckHead(spec, own, block, values.first(num_weights), values[num_weights],
                     input.scale ? values.back() : Value());
  };
  ir::Graph scratch("probe");
  const auto parameter = [&](Value like) { return scratch.AddParameter(like.shape(), ""); };
  std::vector<Value> probe_constants;
  for (const Value& constant : constants) probe_constants.push_back(parameter(constant));
  // What is checked does not depend on how many rows there are.
  const LossBlock probe_block = {
      .x = parameter(pass.x), .target = parameter(pass.target), .weight = parameter(pass.weight)};
  HeadChecks result = check(scratch, probe_block, probe_constants);

  const size_t count = result.checks.names.size();
  std::vector<Value> carry = AllSound(graph, count);
  carry.resize(count + 2, ir::Full(graph, Shape::Scalar(DType::kF32), 0));
  const std::vector<Value> found =
      OverLossBlocks(spec, pass, constants, carry,
                     [&](ir::Graph& loop, const LossBlock& block,
                         std::span<const Value> own_constants, std::span<const Value> now) {
                       const HeadChecks own = check(loop, block, own_constants);
                       std::vector<Value> next = FirstUnsound(now.first(count), own.checks.sound);
                       next.push_back(now[count] + own.forward.loss_sum);
                       next.push_back(now[count + 1] + own.forward.weight_sum);
                       next.push_back(own.by_x);
                       return next;
                     });
  result.checks.sound.assign(found.begin(), found.begin() + static_cast<int64_t>(count));
  result.forward = {.loss_sum = found[count], .weight_sum = found[count + 1]};
  result.by_x = found.back();
  return result;
}

// One pass forward and backward: layers in order, the loss, then gradients.
Checks CheckPass(const StepSpec& spec, ir::Graph& graph, const Piece& piece,
                 const PassInput& input) {
  const std::vector<nn::Variable>& variables = spec.model->variables();
  Checks checks;
  nn::Context ctx(graph, {.training = true, .policy = spec.policy, .replicas = 1});
  std::vector<size_t> all(variables.size());
  for (size_t i = 0; i < variables.size(); ++i) {
    ctx.Bind(variables[i].path, input.variables[i]);
    all[i] = i;
  }
  ctx.SetRowWeights(piece.weight);
  ctx.SetRandom(ir::FoldIn(ir::MakeKey(graph, spec.seed), ir::Convert(input.step, DType::kU32)),
                piece.first_row);
  const size_t begin = graph.nodes().size();
  const Value target = piece.fields[spec.target_field];
  const bool in_blocks = DivideLoss(spec).count > 1;
  Forward forward;
  std::vector<LayerOutput> layers;
  std::vector<Value> outputs, cotangents;
  if (in_blocks) {
    const Value x = spec.model->CallBody(ctx, ModelInputs(spec, piece.fields));
    layers = CheckLayers(graph, begin, checks);
    const HeadChecks head =
        CheckHeadInBlocks(spec, {.x = x, .target = target, .weight = piece.weight}, input);
    checks.Append(head.checks);
    forward = head.forward;
    forward.activity = ActivityLosses(ctx);
    outputs = {x};
    cotangents = {head.by_x};
  } else {
    forward = RunForward(spec, ctx, piece.fields, piece.weight);
    layers = CheckLayers(graph, begin, checks);
  }

  Value loss = MeanLoss(forward);
  if (forward.activity) loss = loss + forward.activity;
  if (const Value penalty = Regularization(graph, *spec.model, input.variables)) {
    loss = loss + penalty;
  }
  if (!in_blocks) CheckClasses(spec, target, loss, checks);
  checks.AddFinite("the loss " + spec.loss->name(), loss);

  if (!in_blocks || forward.activity) {
    // Of what the head has not differentiated.
    if (in_blocks) forward.loss_sum = ir::ScalarLike(forward.loss_sum, 0);
    outputs.push_back(Objective(spec, forward, input.rows, input.scale));
    cotangents.push_back(ir::ScalarLike(outputs.back(), 1));
  }
  CheckGradients(outputs, cotangents, layers, TrainedWeights(spec, all, input.variables),
                 static_cast<bool>(input.scale), Value(), checks);
  return checks;
}

}  // namespace

DiagnosisProgram BuildDiagnosisProgram(const StepSpec& spec) {
  DiagnosisProgram program;
  program.graph = std::make_unique<ir::Graph>("diagnosis");
  ir::Graph& graph = *program.graph;
  Checks checks;
  PassInput input;
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
  if (pieces.count == 1) {
    Piece whole;
    whole.fields = fields;
    whole.weight = weight;
    checks.Append(CheckPass(spec, graph, whole, input));
  } else {
    // Launches of one step, so that the loop is the training step's.
    const auto stacked = [](Value value) { return ir::ExpandDims(value, 0); };
    StepInput step_input;
    for (const Value& field : fields) step_input.fields.push_back(stacked(field));
    step_input.weight = stacked(weight);
    step_input.index = ir::Scalar(graph, DType::kI32, 0);
    Probe probe(spec, input);
    Checks found = CheckPass(spec, probe.graph, probe.piece, probe.input);
    // Only the first micro-batch with anything wrong counts.
    found.sound = OverMicroBatches(
        spec, graph, step_input, input, AllSound(graph, found.names.size()),
        /*with_global_rows=*/false,
        [&](ir::Graph& loop, const Piece& piece, PassInput own_input, std::span<const Value> now) {
          return FirstUnsound(now, CheckPass(spec, loop, piece, own_input).sound);
        });
    checks.Append(found);
  }
  program.names = std::move(checks.names);
  program.in_data = std::move(checks.in_data);
  graph.SetOutputs(checks.sound);
  return program;
}

}  // namespace flatout::step
