#include "flatout/nn/layers/attention.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using ir::Dims;
using ir::Value;

// What both kinds of attention share.
struct Heads {
  int64_t query_heads, key_value_heads, key_dim, value_dim;
  double dropout;
  bool use_bias, use_gate, use_causal_mask;
  std::optional<int64_t> sliding_window, seed;
  Initializer kernel_initializer, bias_initializer;
  Regularizer kernel_regularizer, bias_regularizer, activity_regularizer;
};

// x [batch, T, d] -> [batch, T, heads, dim], by weights name/kernel and name/bias.
Value Project(Context& ctx, const Heads& h, const std::string& name, Value x, int64_t heads,
              int64_t dim) {
  Value kernel = ctx.Weight(name + "/kernel", {x.dim(-1), heads, dim}, h.kernel_initializer,
                            h.kernel_regularizer);
  Value y = ir::DotGeneral(x, kernel, {{}, {}, {2}, {0}});
  if (h.use_bias) {
    y = y + ctx.Weight(name + "/bias", {heads, dim}, h.bias_initializer, h.bias_regularizer);
  }
  AddActivityPenalty(ctx, h.activity_regularizer, y);
  return y;
}

// pred [T, S]: which positions each may see; none: all.
Value Mask(Context& ctx, const Heads& h, int64_t t, int64_t s) {
  if (!h.use_causal_mask && !h.sliding_window) return {};
  const ir::Shape shape(ir::DType::kI32, {t, s});
  Value row = ir::Iota(ctx.graph(), shape, 0), column = ir::Iota(ctx.graph(), shape, 1);
  Value mask;
  if (h.use_causal_mask) mask = ir::Compare(row, column, ir::Comparison::kGe);
  if (h.sliding_window) {
    Value near = ir::Lt(ir::Abs(row - column), static_cast<double>(*h.sliding_window));
    mask = mask ? ir::And(mask, near) : near;
  }
  return mask;
}

// softmax(q k^T / sqrt(key_dim)) v, projected to `output`'s dimensions. Query heads stand in groups
// that share a key-value head; with groups of one this is plain multi-head attention. No key or
// value is repeated: the group is one more free dimension of the products.
Value Attend(Context& ctx, const Heads& h, Value query_in, Value value_in, Value key_in,
             const Dims& output) {
  const int64_t batch = query_in.dim(0), t = query_in.dim(1), s = value_in.dim(1);
  const int64_t groups = h.query_heads / h.key_value_heads, kv = h.key_value_heads;
  Value gate;
  Value query = Project(ctx, h, "query", query_in, h.query_heads, h.key_dim);
  Value key = Project(ctx, h, "key", key_in, kv, h.key_dim);
  Value value = Project(ctx, h, "value", value_in, kv, h.value_dim);
  if (h.use_gate) {
    gate = ir::Logistic(Project(ctx, h, "gate", query_in, h.query_heads, h.value_dim));
  }
  query = query * (1 / std::sqrt(static_cast<double>(h.key_dim)));
  if (groups > 1) query = ir::Reshape(query, {batch, t, kv, groups, h.key_dim});

  // [batch, kv, T, (groups,) S], in float32 whatever the operands.
  const int64_t last = query.rank() - 1;
  Value scores = ir::DotGeneral(query, key, {{0, 2}, {0, 2}, {last}, {3}}, ir::DType::kF32);
  if (Value mask = Mask(ctx, h, t, s)) {
    // Finite, so that a row that sees nothing gives numbers.
    if (groups > 1) mask = ir::Reshape(mask, {t, 1, s});
    scores = ir::Select(ir::BroadcastTo(mask, scores.dims()), scores,
                        ir::Full(ctx.graph(), scores.shape(), -1e30));
  }
  // In 16 bits, too, softmax is computed in float32, but only its narrowed result is kept for the
  // gradient: the scores are as large as all else that attention keeps together.
  Value shares = value.dtype() == ir::DType::kF32 ? ir::Softmax(scores, -1)
                                                  : ir::Softmax(scores, -1, value.dtype());
  if (ctx.training() && h.dropout > 0) {
    Value keep = ctx.RandomBernoulli(1 - h.dropout, shares.dims(), {.seed = h.seed});
    shares = ir::Convert(shares, ir::DType::kF32);
    shares = ir::Select(keep, shares * (1 / (1 - h.dropout)), ir::ZerosLike(shares));
  }
  shares = ir::Convert(shares, value.dtype());
  // [batch, kv, T, (groups,) value_dim].
  Value mixed = ir::DotGeneral(shares, value, {{0, 1}, {0, 2}, {last}, {1}});
  if (gate) {
    Dims by_head = {batch, t, kv};
    Dims order = {0, 2, 1, 3};
    if (groups > 1) {
      by_head.push_back(groups);
      order = {0, 2, 1, 3, 4};
    }
    by_head.push_back(h.value_dim);
    mixed = mixed * ir::Transpose(ir::Reshape(gate, by_head), order);
  }

  Dims kernel_dims = {h.query_heads, h.value_dim};
  kernel_dims.insert(kernel_dims.end(), output.begin(), output.end());
  Value kernel = ctx.Weight("attention_output/kernel", kernel_dims, h.kernel_initializer,
                            h.kernel_regularizer);
  ir::DotDims dims = {{}, {}, {1, 3}, {0, 1}};
  if (groups > 1) {
    kernel_dims.insert(kernel_dims.begin() + 1, groups);
    kernel_dims[0] = kv;
    kernel = ir::Reshape(kernel, kernel_dims);
    dims = {{}, {}, {1, 3, 4}, {0, 1, 2}};
  }
  Value y = ir::DotGeneral(mixed, kernel, dims);
  if (h.use_bias) {
    y = y + ctx.Weight("attention_output/bias", output, h.bias_initializer, h.bias_regularizer);
  }
  AddActivityPenalty(ctx, h.activity_regularizer, y);
  return y;
}

void CheckHeads(std::string_view type, const Heads& h) {
  CheckRate(type, "dropout", h.dropout);
  if (h.sliding_window) CheckPositive(type, "sliding_window", *h.sliding_window);
}

void CheckSequences(const Layer& layer, Value query, Value value, Value key) {
  const Value all[] = {query, value, key};
  for (const Value& x : all) {
    if (x.rank() != query.rank() || x.rank() < 3) {
      throw Invalid(
          "{} needs query, value and key of one rank, at least 3 ([batch, positions, features]), "
          "found {}, {} and {}",
          layer.type(), Shown(query), Shown(value), Shown(key));
    }
  }
  for (int64_t i = 1; i + 1 < key.rank(); ++i) {
    if (key.dim(i) != value.dim(i)) {
      throw Invalid("{} needs as many keys as values, found value {} and key {}", layer.type(),
                    Shown(value), Shown(key));
    }
  }
}

class MultiHeadAttentionLayer : public Layer {
 public:
  explicit MultiHeadAttentionLayer(MultiHeadAttentionOptions options)
      : Layer(MultiHeadAttentionOptions::kType, options.common), options_(std::move(options)) {
    CheckPositive(type(), "num_heads", options_.num_heads);
    CheckPositive(type(), "key_dim", options_.key_dim);
    if (options_.value_dim) CheckPositive(type(), "value_dim", *options_.value_dim);
    CheckPositive(type(), "output_shape", options_.output_shape);
    heads_ = {options_.num_heads,
              options_.num_heads,
              options_.key_dim,
              options_.value_dim.value_or(options_.key_dim),
              options_.dropout,
              options_.use_bias,
              options_.use_gate,
              options_.use_causal_mask,
              options_.sliding_window,
              options_.seed,
              options_.kernel_initializer,
              options_.bias_initializer,
              options_.kernel_regularizer,
              options_.bias_regularizer,
              options_.activity_regularizer};
    CheckHeads(type(), heads_);
  }
  int64_t max_inputs() const override { return 3; }

  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value query = ToCompute(ctx, inputs[0]);
    Value value = inputs.size() > 1 ? ToCompute(ctx, inputs[1]) : query;
    Value key = inputs.size() > 2 ? ToCompute(ctx, inputs[2]) : value;
    CheckSequences(*this, query, value, key);
    Dims output = options_.output_shape;
    if (output.empty()) output = {query.dim(-1)};
    if (query.rank() == 3 && options_.attention_axes.empty()) {
      return {Attend(ctx, heads_, query, value, key, output)};
    }
    // Axes that attention does not run over join the batch; the others become one.
    std::vector<bool> attends(static_cast<size_t>(query.rank()), options_.attention_axes.empty());
    for (int64_t axis : options_.attention_axes) {
      const int64_t a = axis < 0 ? axis + query.rank() : axis;
      if (a < 1 || a > query.rank() - 2) {
        throw Invalid(
            "{}: attention_axes must lie between the batch and the features, found {} for {}",
            type(), axis, Shown(query));
      }
      attends[static_cast<size_t>(a)] = true;
    }
    Dims order = {0};
    for (int64_t i = 1; i + 1 < query.rank(); ++i) {
      if (attends[static_cast<size_t>(i)]) continue;
      order.push_back(i);
      if (query.dim(i) != value.dim(i)) {
        throw Invalid(
            "{}: axis {} is not attended over, so query and value must agree there, "
            "found {} and {}",
            type(), i, Shown(query), Shown(value));
      }
    }
    const auto beside = static_cast<int64_t>(order.size());
    for (int64_t i = 1; i + 1 < query.rank(); ++i) {
      if (attends[static_cast<size_t>(i)]) order.push_back(i);
    }
    const int64_t inner = static_cast<int64_t>(order.size());
    order.push_back(query.rank() - 1);
    const auto flatten = [&](Value x) {
      Value moved = ir::Transpose(x, order);
      int64_t rows = 1, positions = 1;
      for (int64_t i = 0; i < beside; ++i) rows *= moved.dim(i);
      for (int64_t i = beside; i < inner; ++i) positions *= moved.dim(i);
      return ir::Reshape(moved, {rows, positions, x.dim(-1)});
    };
    Value y = Attend(ctx, heads_, flatten(query), flatten(value), flatten(key), output);
    Dims moved_dims, back(order.size() - 1);
    for (int64_t i = 0; i < inner; ++i) {
      moved_dims.push_back(query.dim(order[static_cast<size_t>(i)]));
      back[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
    }
    for (size_t i = 0; i < output.size(); ++i) {
      moved_dims.push_back(output[i]);
      back.push_back(inner + static_cast<int64_t>(i));
    }
    return {ir::Transpose(ir::Reshape(y, moved_dims), back)};
  }

 private:
  MultiHeadAttentionOptions options_;
  Heads heads_;
};

class GroupQueryAttentionLayer : public Layer {
 public:
  explicit GroupQueryAttentionLayer(GroupQueryAttentionOptions options)
      : Layer("GroupedQueryAttention", options.common), options_(std::move(options)) {
    CheckPositive(type(), "head_dim", options_.head_dim);
    CheckPositive(type(), "num_query_heads", options_.num_query_heads);
    CheckPositive(type(), "num_key_value_heads", options_.num_key_value_heads);
    if (options_.num_query_heads % options_.num_key_value_heads != 0) {
      throw Invalid(
          "{}: num_query_heads must be a multiple of num_key_value_heads, found {} and {}", type(),
          options_.num_query_heads, options_.num_key_value_heads);
    }
    heads_ = {options_.num_query_heads,
              options_.num_key_value_heads,
              options_.head_dim,
              options_.head_dim,
              options_.dropout,
              options_.use_bias,
              options_.use_gate,
              options_.use_causal_mask,
              options_.sliding_window,
              options_.seed,
              options_.kernel_initializer,
              options_.bias_initializer,
              options_.kernel_regularizer,
              options_.bias_regularizer,
              options_.activity_regularizer};
    CheckHeads(type(), heads_);
  }
  int64_t max_inputs() const override { return 3; }

  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value query = ToCompute(ctx, inputs[0]);
    Value value = inputs.size() > 1 ? ToCompute(ctx, inputs[1]) : query;
    Value key = inputs.size() > 2 ? ToCompute(ctx, inputs[2]) : value;
    CheckRank(*this, query, 3);
    CheckSequences(*this, query, value, key);
    return {Attend(ctx, heads_, query, value, key, {query.dim(-1)})};
  }

 private:
  GroupQueryAttentionOptions options_;
  Heads heads_;
};

class PositionEmbeddingLayer : public Layer {
 public:
  explicit PositionEmbeddingLayer(PositionEmbeddingOptions options)
      : Layer(PositionEmbeddingOptions::kType, options.common), options_(std::move(options)) {
    CheckPositive(type(), "sequence_length", options_.sequence_length);
  }
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value x = ToCompute(ctx, inputs[0]);
    CheckMinRank(*this, x, 3);
    const int64_t t = x.dim(-2), features = x.dim(-1);
    if (t > options_.sequence_length) {
      throw Invalid("{}: the input has {} positions, but sequence_length is {}; found {}", type(),
                    t, options_.sequence_length, Shown(x));
    }
    Value table =
        ctx.Weight("embeddings", {options_.sequence_length, features}, options_.initializer);
    if (t < options_.sequence_length) table = ir::SliceAxis(table, 0, 0, t);
    return {x + table};
  }

 private:
  PositionEmbeddingOptions options_;
};

}  // namespace

LayerPtr MultiHeadAttention(MultiHeadAttentionOptions options) {
  return std::make_shared<MultiHeadAttentionLayer>(std::move(options));
}
LayerPtr GroupQueryAttention(GroupQueryAttentionOptions options) {
  return std::make_shared<GroupQueryAttentionLayer>(std::move(options));
}
LayerPtr PositionEmbedding(PositionEmbeddingOptions options) {
  return std::make_shared<PositionEmbeddingLayer>(std::move(options));
}

std::span<const LayerDef> AttentionLayers() {
  static const LayerDef table[] = {
      MakeLayerDef<MultiHeadAttentionOptions, &MultiHeadAttention>("MultiHeadAttention"),
      MakeLayerDef<GroupQueryAttentionOptions, &GroupQueryAttention>("GroupQueryAttention"),
      MakeLayerDef<GroupQueryAttentionOptions, &GroupQueryAttention>("GroupedQueryAttention"),
      MakeLayerDef<PositionEmbeddingOptions, &PositionEmbedding>("PositionEmbedding"),
  };
  return table;
}

}  // namespace flatout::nn
