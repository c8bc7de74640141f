// Attention and position embeddings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/nn/initializer.h"
#include "flatout/nn/layer.h"

namespace flatout::nn {

// Multi-head attention (Vaswani et al. 2017). Inputs query [batch, T, d], value [batch, S, dv] and
// key [batch, S, dk] (default: value); a single input attends to itself. Result [batch, T, d], or
// the last dimensions that output_shape names. Softmax in float32. Weights as Keras has them:
// query/kernel [d, heads, key_dim], query/bias [heads, key_dim], key/..., value/...,
// attention_output/kernel [heads, value_dim, d], attention_output/bias [d]; gate/... with use_gate.
// Inputs of higher rank attend over attention_axes (default: all between batch and features).
struct MultiHeadAttentionOptions {
  static constexpr std::string_view kType = "MultiHeadAttention";
  int64_t num_heads = 0;
  int64_t key_dim = 0;
  std::optional<int64_t> value_dim;
  double dropout = 0;
  bool use_bias = true;
  std::vector<int64_t> output_shape;
  std::vector<int64_t> attention_axes;
  std::optional<int64_t> sliding_window;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer, bias_regularizer, activity_regularizer;
  bool use_gate = false;
  std::optional<int64_t> seed;
  // Keras passes this when calling; a run file has no calls, so it stands with the arguments:
  // position t sees positions 0..t only.
  bool use_causal_mask = false;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("num_heads", num_heads);
    v.Required("key_dim", key_dim);
    v("value_dim", value_dim);
    v("dropout", dropout);
    v("use_bias", use_bias);
    v("output_shape", output_shape);
    v("attention_axes", attention_axes);
    v("sliding_window", sliding_window);
    v("kernel_initializer", kernel_initializer);
    v("bias_initializer", bias_initializer);
    v("kernel_regularizer", kernel_regularizer);
    v("bias_regularizer", bias_regularizer);
    v("activity_regularizer", activity_regularizer);
    v("use_gate", use_gate);
    v("seed", seed);
    v("use_causal_mask", use_causal_mask);
    common.Visit(v);
  }
};
LayerPtr MultiHeadAttention(MultiHeadAttentionOptions options);

// Attention whose key and value heads are shared by groups of query heads (Ainslie et al. 2023).
// Inputs as above, rank 3. Weights query/kernel [d, query heads, head_dim], key/kernel and
// value/kernel [d, key-value heads, head_dim], attention_output/kernel [query heads, head_dim, d].
// Keras's class GroupedQueryAttention, which it exports as GroupQueryAttention: both names work.
struct GroupQueryAttentionOptions {
  static constexpr std::string_view kType = "GroupQueryAttention";
  int64_t head_dim = 0;
  int64_t num_query_heads = 0;
  int64_t num_key_value_heads = 0;
  double dropout = 0;
  bool use_bias = true;
  std::optional<int64_t> sliding_window;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer, bias_regularizer, activity_regularizer;
  bool use_gate = false;
  std::optional<int64_t> seed;
  bool use_causal_mask = false;  // see MultiHeadAttention
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("head_dim", head_dim);
    v.Required("num_query_heads", num_query_heads);
    v.Required("num_key_value_heads", num_key_value_heads);
    v("dropout", dropout);
    v("use_bias", use_bias);
    v("sliding_window", sliding_window);
    v("kernel_initializer", kernel_initializer);
    v("bias_initializer", bias_initializer);
    v("kernel_regularizer", kernel_regularizer);
    v("bias_regularizer", bias_regularizer);
    v("activity_regularizer", activity_regularizer);
    v("use_gate", use_gate);
    v("seed", seed);
    v("use_causal_mask", use_causal_mask);
    common.Visit(v);
  }
};
LayerPtr GroupQueryAttention(GroupQueryAttentionOptions options);

// KerasHub's layer: adds the learned vectors of positions 0..T-1, [batch, T, d] -> [batch, T, d].
// Unlike KerasHub's, whose result must be added by the caller, the sum is returned: a chain of
// layers has no place for it otherwise. Weight embeddings [sequence_length, d], T <=
// sequence_length.
struct PositionEmbeddingOptions {
  static constexpr std::string_view kType = "PositionEmbedding";
  int64_t sequence_length = 0;
  Initializer initializer = "glorot_uniform";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("sequence_length", sequence_length);
    v("initializer", initializer);
    common.Visit(v);
  }
};
LayerPtr PositionEmbedding(PositionEmbeddingOptions options);

}  // namespace flatout::nn
