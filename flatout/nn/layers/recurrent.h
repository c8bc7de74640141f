// Recurrent layers and the wrappers around them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/nn/initializer.h"
#include "flatout/nn/layer.h"

namespace flatout::nn {

// A layer from its table {class = "...", ...}: the `layer` argument of wrappers.
void ReadConfig(const Config& value, LayerPtr& field);

// Arguments that all recurrent layers have. Input [batch, T, d]; result [batch, units] of the last
// step, or with return_sequences [batch, T, units] in the order in which steps were taken (so
// reversed with go_backwards), as in Keras. The input's product with the kernel is taken for all
// steps at once, before the loop.
struct RecurrentOptions {
  int64_t units = 0;
  std::string activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer, recurrent_regularizer, bias_regularizer, activity_regularizer;
  // One mask of the inputs and one per gate of the states, the same at every step.
  double dropout = 0;
  double recurrent_dropout = 0;
  std::optional<int64_t> seed;
  bool return_sequences = false;
  bool go_backwards = false;
  bool unroll = false;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("units", units);
    v("activation", activation);
    v("use_bias", use_bias);
    v("kernel_initializer", kernel_initializer);
    v("recurrent_initializer", recurrent_initializer);
    v("bias_initializer", bias_initializer);
    v("kernel_regularizer", kernel_regularizer);
    v("recurrent_regularizer", recurrent_regularizer);
    v("bias_regularizer", bias_regularizer);
    v("activity_regularizer", activity_regularizer);
    v("dropout", dropout);
    v("recurrent_dropout", recurrent_dropout);
    v("seed", seed);
    v("return_sequences", return_sequences);
    v("go_backwards", go_backwards);
    v("unroll", unroll);
    common.Visit(v);
  }
};

// Hochreiter and Schmidhuber 1997. Weights lstm_cell/kernel [d, 4 units],
// lstm_cell/recurrent_kernel [units, 4 units], lstm_cell/bias [4 units]; gates in the order input,
// forget, candidate, output.
struct LSTMOptions : RecurrentOptions {
  static constexpr std::string_view kType = "LSTM";
  std::string recurrent_activation = "sigmoid";
  bool unit_forget_bias = true;

  template <class V>
  void Visit(V& v) {
    RecurrentOptions::Visit(v);
    v("recurrent_activation", recurrent_activation);
    v("unit_forget_bias", unit_forget_bias);
  }
};
LayerPtr LSTM(LSTMOptions options);

// Cho et al. 2014. Weights gru_cell/kernel [d, 3 units], gru_cell/recurrent_kernel [units, 3
// units], gru_cell/bias [2, 3 units] (reset_after) or [3 units]; gates in the order update, reset,
// candidate.
struct GRUOptions : RecurrentOptions {
  static constexpr std::string_view kType = "GRU";
  std::string recurrent_activation = "sigmoid";
  bool reset_after = true;

  template <class V>
  void Visit(V& v) {
    RecurrentOptions::Visit(v);
    v("recurrent_activation", recurrent_activation);
    v("reset_after", reset_after);
  }
};
LayerPtr GRU(GRUOptions options);

// h = activation(x kernel + h recurrent_kernel + bias). Weights below simple_rnn_cell.
struct SimpleRNNOptions : RecurrentOptions {
  static constexpr std::string_view kType = "SimpleRNN";
};
LayerPtr SimpleRNN(SimpleRNNOptions options);

// Runs a recurrent layer over the sequence in both directions and merges the results: "concat",
// "sum", "mul" or "ave". backward_layer defaults to the same layer with go_backwards turned round.
// Weights stand below forward_<name> and backward_<name>.
struct BidirectionalOptions {
  static constexpr std::string_view kType = "Bidirectional";
  LayerPtr layer;
  LayerPtr backward_layer;
  std::string merge_mode = "concat";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("layer", layer);
    v("backward_layer", backward_layer);
    v("merge_mode", merge_mode);
    common.Visit(v);
  }
};
LayerPtr Bidirectional(BidirectionalOptions options);

// Applies `layer` to every step of [batch, T, ...]. The layer sees [batch * T, ...].
struct TimeDistributedOptions {
  static constexpr std::string_view kType = "TimeDistributed";
  LayerPtr layer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("layer", layer);
    common.Visit(v);
  }
};
LayerPtr TimeDistributed(TimeDistributedOptions options);

}  // namespace flatout::nn
