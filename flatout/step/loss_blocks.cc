#include "flatout/step/loss_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Shape;
using ir::Value;

// What a block's head output should take, where the head's weights are not larger: each block also
// reads the weights, and reads and writes their gradient.
constexpr int64_t kBlockBytes = int64_t{16} << 20;

// ---- what can be divided ----

// Sizes of the dimensions of rows and positions in probes: primes that no other size has as a
// factor, so that a value's size tells over which of the two it goes.
constexpr int64_t kProbeRows = 99991;
constexpr int64_t kProbePositions = 99989;

// Whether every one of `sums`, made from the parameters of a probe's graph, is a sum of what is
// computed for each element of the dimensions `over` by itself: on the way to it all of them go at
// once, and nothing is computed for elements from what was reduced over them.
bool AreSums(std::span<const Value> sums, std::span<const int64_t> over) {
  const ir::Graph& graph = sums[0].graph();
  constexpr int kConstant = -1;
  const int all = (1 << over.size()) - 1;
  std::vector<int> goes_over(graph.nodes().size(), kConstant);  // bits; of nodes made from data
  for (const auto& node : graph.nodes()) {
    int of = 0;
    for (size_t i = 0; i < over.size(); ++i) {
      if (node->shape().size() % over[i] == 0) of |= 1 << i;
    }
    bool from_data = node->name() == "parameter";
    for (const Value& input : node->inputs()) {
      const int before = goes_over[input.node()->id()];
      if (before == kConstant) continue;
      from_data = true;
      if (before == 0 && of != 0) return false;
      if ((before & ~of) != 0 && (before != all || of != 0)) return false;
    }
    if (from_data && node->num_regions() > 0) return false;
    if (from_data) goes_over[node->id()] = of;
  }
  return std::all_of(sums.begin(), sums.end(), [&](const Value& sum) {
    const int of = goes_over[sum.node()->id()];
    return of == kConstant || of == 0;
  });
}

Shape WithLeading(Shape shape, std::initializer_list<int64_t> dims, int64_t instead_of) {
  shape.dims.erase(shape.dims.begin(), shape.dims.begin() + instead_of);
  shape.dims.insert(shape.dims.begin(), dims);
  return shape;
}

// Traces the loss (metric: none) or a metric over parameters of these shapes, whose first
// dimensions are `over`, and checks its sums. Each of those elements has a weight of its own:
// losses and metrics take weights of any first dimensions of what they sum. Returns the shapes of
// the sums; none where they are no sums.
std::vector<Shape> SumShapes(const StepSpec& spec, const nn::Metric* metric, const Shape& target,
                             const Shape& output, std::span<const int64_t> over) {
  ir::Graph probe("probe");
  const Value y_true = probe.AddParameter(target, "");
  const Value y_pred = probe.AddParameter(output, "");
  const Value weight =
      probe.AddParameter(Shape(DType::kF32, ir::Dims(over.begin(), over.end())), "");
  std::vector<Value> sums;
  if (metric != nullptr) {
    sums = metric->Sums(y_true, y_pred, weight);
  } else {
    const auto [loss_sum, weight_sum] = spec.loss->Sums(y_true, y_pred, weight);
    // It must be known before any block is differentiated.
    if (DependsOn(weight_sum, y_pred)) return {};
    sums = {loss_sum, weight_sum};
  }
  if (sums.empty() || !AreSums(sums, over)) return {};
  std::vector<Shape> shapes;
  for (const Value& sum : sums) shapes.push_back(sum.shape());
  return shapes;
}

bool SumsOverRows(const StepSpec& spec, const nn::Metric* metric) {
  const int64_t rows[] = {kProbeRows};
  return !SumShapes(spec, metric, WithRows(spec.field_shapes[spec.target_field], kProbeRows),
                    OutputShape(spec, kProbeRows), rows)
              .empty();
}

// Whether rows may also be positions of [batch, positions, features].
bool SumsOverPositions(const StepSpec& spec, const nn::Metric* metric) {
  const Shape& target = spec.field_shapes[spec.target_field];
  const Shape output = OutputShape(spec, kProbeRows);
  if (output.rank() != 3 || target.rank() < 2 || target.dim(1) != output.dim(1)) return false;
  const int64_t both[] = {kProbeRows, kProbePositions};
  try {
    const std::vector<Shape> apart =
        SumShapes(spec, metric, WithLeading(target, {kProbeRows, kProbePositions}, 2),
                  WithLeading(output, {kProbeRows, kProbePositions}, 2), both);
    return !apart.empty() &&
           apart == SumShapes(spec, metric, WithLeading(target, {kProbeRows}, 2),
                              WithLeading(output, {kProbeRows}, 2), std::span(both).first(1));
  } catch (const UserError&) {
    return false;  // it takes no weights of positions, or no predictions of one dimension less
  }
}

// "" where head, loss and metrics can be computed by blocks of rows.
std::string Obstacle(const StepSpec& spec) {
  if (spec.model->head_calls() == 0) {
    return "the model's only output must come from a layer with weights that works on each "
           "position by itself (Dense, ReversibleEmbedding), perhaps with activations behind it, "
           "none of them with an activity_regularizer";
  }
  if (!SumsOverRows(spec, nullptr)) {
    return fmt::format(
        "the loss {} is no sum over rows whose weights depend on nothing but the target",
        spec.loss->name());
  }
  for (const nn::Metric* metric : spec.metrics) {
    if (!SumsOverRows(spec, metric)) {
      return fmt::format("the metric {} is no sum over rows", metric->name());
    }
  }
  return "";
}

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// ---- blocks ----

// `values` [rows, ...] of every block, stacked, for all `rows` rows.
Value PutTogether(Value stacked, int64_t rows) {
  const int64_t count = stacked.dim(0), of_block = stacked.dim(1);
  ir::Dims dims(stacked.dims().begin() + 1, stacked.dims().end());
  dims[0] = count * of_block;
  const Value all = ir::Reshape(stacked, dims);
  const int64_t shared = count * of_block - rows;
  if (shared == 0) return all;
  const int64_t last = (count - 1) * of_block;
  const Value parts[] = {ir::SliceAxis(all, 0, 0, last),
                         ir::SliceAxis(all, 0, last + shared, count * of_block)};
  return ir::Concatenate(parts, 0);
}

// Zeros to carry: loss sum, weight sum, metric sums.
std::vector<Value> ZeroSums(const StepSpec& spec, ir::Graph& graph) {
  std::vector<Value> zeros(2, ir::Full(graph, Shape::Scalar(DType::kF32), 0));
  for (const Shape& shape : MetricShapes(spec)) zeros.push_back(ir::Full(graph, shape, 0));
  return zeros;
}

void AddSums(const Forward& forward, std::span<const Value> sums, std::vector<Value>& next) {
  next.push_back(sums[0] + forward.loss_sum);
  next.push_back(sums[1] + forward.weight_sum);
  for (size_t i = 0; i < forward.metric_sums.size(); ++i) {
    next.push_back(sums[2 + i] + forward.metric_sums[i]);
  }
}

Forward FromSums(std::span<const Value> sums) {
  Forward forward;
  forward.loss_sum = sums[0];
  forward.weight_sum = sums[1];
  forward.metric_sums.assign(sums.begin() + 2, sums.end());
  return forward;
}

std::vector<Value> HeadWeights(const StepSpec& spec, std::span<const Value> variables) {
  std::vector<Value> weights;
  for (const size_t i : spec.model->HeadVariables()) weights.push_back(variables[i]);
  return weights;
}

}  // namespace

LossBlocks DivideLoss(const StepSpec& spec) {
  const int64_t batch = Divide(spec).rows;
  const LossBlocks whole = {.rows = batch};
  if (spec.loss_blocks < 0) {
    throw Invalid("loss_blocks must not be negative, found {}", spec.loss_blocks);
  }
  if (spec.loss_blocks == 1 || spec.target_field < 0) return whole;
  const bool chosen = spec.loss_blocks == 0;
  const Shape output = OutputShape(spec, batch);
  int64_t block_bytes = kBlockBytes;
  if (chosen) {
    int64_t weights = 0;
    for (const size_t i : spec.model->HeadVariables()) {
      weights += spec.model->variables()[i].shape.WithDType(DType::kF32).bytes();
    }
    block_bytes = std::max(block_bytes, weights);
    if (output.bytes() < 2 * block_bytes) return whole;
  }
  if (const std::string obstacle = Obstacle(spec); !obstacle.empty()) {
    if (chosen) return whole;
    throw Invalid("loss_blocks = {}: head and loss cannot be computed in blocks: {}; leave it out",
                  spec.loss_blocks, obstacle);
  }
  LossBlocks blocks;
  blocks.by_position =
      SumsOverPositions(spec, nullptr) &&
      std::all_of(spec.metrics.begin(), spec.metrics.end(),
                  [&](const nn::Metric* metric) { return SumsOverPositions(spec, metric); });
  const int64_t rows = blocks.by_position ? batch * output.dim(1) : batch;
  const int64_t wanted = chosen ? CeilDivide(output.bytes(), block_bytes) : spec.loss_blocks;
  blocks.rows = CeilDivide(rows, wanted);
  if (chosen) {
    // Blocks that share no rows, where a size near by gives such.
    for (int64_t size = blocks.rows; 2 * size > blocks.rows; --size) {
      if (rows % size != 0) continue;
      blocks.rows = size;
      break;
    }
  }
  blocks.count = CeilDivide(rows, blocks.rows);
  return blocks.count == 1 ? whole : blocks;
}

int64_t NumLossBlocks(const StepSpec& spec) { return DivideLoss(spec).count; }

std::vector<Value> OverLossBlocks(const StepSpec& spec, const LossBlock& pass,
                                  std::span<const Value> constants, std::span<const Value> carry,
                                  const LossBlockBody& body) {
  const LossBlocks blocks = DivideLoss(spec);
  ir::Graph& graph = pass.x.graph();
  const ir::Scope scope(graph, "loss");
  LossBlock all = pass;
  ir::Dims leading = {pass.x.dim(0)};
  if (blocks.by_position) {
    leading.push_back(pass.x.dim(1));
    const auto flat = [&](Value value) {
      ir::Dims dims(value.dims().begin() + 1, value.dims().end());
      dims[0] = leading[0] * leading[1];
      return ir::Reshape(value, dims);
    };
    all.x = flat(pass.x);
    all.target = flat(pass.target);
    all.weight = flat(ir::BroadcastInDim(pass.weight, leading, {0}));
  }
  const int64_t rows = all.x.dim(0);
  std::vector<Value> all_constants(constants.begin(), constants.end());
  all_constants.insert(all_constants.end(), {all.x, all.target, all.weight});
  const Value xs[] = {ir::Iota(graph, Shape(DType::kI32, {blocks.count}), 0)};
  const auto run = [&](ir::Graph& loop, std::span<const Value> arguments) {
    const ir::Scope none = ir::Scope::Exactly(loop, "");
    const auto pieces = arguments.subspan(constants.size(), 3);
    const PieceOfRows of(arguments.back(), blocks.rows, rows);
    const LossBlock block = {
        .x = of.Of(pieces[0]), .target = of.Of(pieces[1]), .weight = of.NewOnly(of.Of(pieces[2]))};
    return body(loop, block, arguments.first(constants.size()),
                arguments.subspan(all_constants.size(), carry.size()));
  };
  std::vector<Value> results = ir::Scan(graph, blocks.count, all_constants, carry, xs, run);
  for (size_t i = carry.size(); i < results.size(); ++i) {
    const Value together = PutTogether(results[i], rows);
    ir::Dims dims = leading;
    dims.insert(dims.end(), together.dims().begin() + 1, together.dims().end());
    results[i] = ir::Reshape(together, dims);
  }
  return results;
}

Forward RunHead(const StepSpec& spec, ir::Graph& graph, const LossBlock& block,
                std::span<const Value> weights, bool training) {
  nn::Context ctx(graph, {.training = training, .policy = spec.policy, .replicas = spec.replicas});
  const std::vector<size_t> variables = spec.model->HeadVariables();
  for (size_t i = 0; i < variables.size(); ++i) {
    ctx.Bind(spec.model->variables()[variables[i]].path, weights[i]);
  }
  ctx.SetRowWeights(block.weight);
  const Value output = spec.model->CallHead(ctx, block.x);
  Forward forward = RunLoss(spec, ctx, block.target, output, block.weight);
  forward.outputs = {output};
  return forward;
}

Forward RunForwardInBlocks(const StepSpec& spec, nn::Context& ctx, std::span<const Value> fields,
                           Value weight, std::span<const Value> variables) {
  const Value x = spec.model->CallBody(ctx, ModelInputs(spec, fields));
  const std::vector<Value> sums =
      OverLossBlocks(spec, {.x = x, .target = fields[spec.target_field], .weight = weight},
                     HeadWeights(spec, variables), ZeroSums(spec, x.graph()),
                     [&](ir::Graph& loop, const LossBlock& block, std::span<const Value> weights,
                         std::span<const Value> now) {
                       std::vector<Value> next;
                       AddSums(RunHead(spec, loop, block, weights, ctx.training()), now, next);
                       return next;
                     });
  Forward forward = FromSums(sums);
  forward.activity = ActivityLosses(ctx);
  return forward;
}

HeadPass RunHeadPass(const StepSpec& spec, const LossBlock& pass, std::span<const Value> variables,
                     Value rows, Value scale) {
  ir::Graph& graph = pass.x.graph();
  const std::vector<size_t> head = spec.model->HeadVariables();
  std::vector<Value> constants = HeadWeights(spec, variables);
  constants.push_back(rows);
  if (scale) constants.push_back(scale);
  std::vector<size_t> trained;  // of the head's variables
  std::vector<Value> carry;
  for (size_t i = 0; i < head.size(); ++i) {
    const nn::Variable& variable = spec.model->variables()[head[i]];
    if (!variable.trainable) continue;
    trained.push_back(i);
    carry.push_back(ir::Full(graph, variable.shape.WithDType(DType::kF32), 0));
  }
  const std::vector<Value> zeros = ZeroSums(spec, graph);
  carry.insert(carry.end(), zeros.begin(), zeros.end());

  const std::vector<Value> results = OverLossBlocks(
      spec, pass, constants, carry,
      [&](ir::Graph& loop, const LossBlock& block, std::span<const Value> own,
          std::span<const Value> now) {
        const auto weights = own.first(head.size());
        const Forward forward = RunHead(spec, loop, block, weights, /*training=*/true);
        const Value objective =
            Objective(spec, forward, own[head.size()], scale ? own.back() : Value());
        std::vector<Value> by = {block.x};
        for (const size_t i : trained) by.push_back(weights[i]);
        const std::vector<Value> gradients = ir::Gradient(objective, by);
        std::vector<Value> next;
        for (size_t i = 0; i < trained.size(); ++i) next.push_back(now[i] + gradients[1 + i]);
        AddSums(forward, now.subspan(trained.size()), next);
        next.push_back(gradients[0]);
        return next;
      });
  HeadPass result;
  result.forward =
      FromSums(std::span(results).subspan(trained.size(), results.size() - trained.size() - 1));
  result.by_x = results.back();
  result.gradients.resize(head.size());
  for (size_t i = 0; i < trained.size(); ++i) result.gradients[trained[i]] = results[i];
  return result;
}

}  // namespace flatout::step
