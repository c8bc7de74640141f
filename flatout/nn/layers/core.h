// Dense, Embedding and the activation layers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/nn/initializer.h"
#include "flatout/nn/layer.h"

namespace flatout::nn {

// y = activation(x kernel + bias) over the last dimension: [batch, ..., in] -> [batch, ..., units].
// Weights kernel [in, units], bias [units].
struct DenseOptions {
  static constexpr std::string_view kType = "Dense";
  int64_t units = 0;
  std::string activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer, bias_regularizer, activity_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("units", units);
    v("activation", activation);
    v("use_bias", use_bias);
    v("kernel_initializer", kernel_initializer);
    v("bias_initializer", bias_initializer);
    v("kernel_regularizer", kernel_regularizer);
    v("bias_regularizer", bias_regularizer);
    v("activity_regularizer", activity_regularizer);
    common.Visit(v);
  }
};
LayerPtr Dense(DenseOptions options);

// Rows of a table: integers [batch, ...] in [0, input_dim) -> [batch, ..., output_dim]. Weight
// embeddings [input_dim, output_dim]. Ids out of range are clamped by the compiler: the data must
// be checked where it is read.
struct EmbeddingOptions {
  static constexpr std::string_view kType = "Embedding";
  int64_t input_dim = 0;
  int64_t output_dim = 0;
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("input_dim", input_dim);
    v.Required("output_dim", output_dim);
    v("embeddings_initializer", embeddings_initializer);
    v("embeddings_regularizer", embeddings_regularizer);
    common.Visit(v);
  }
};
LayerPtr Embedding(EmbeddingOptions options);

// An embedding that also works backwards (KerasHub's ReversibleEmbedding with tied weights):
// integers are looked up as Embedding does; floats [batch, ..., output_dim] are multiplied by the
// table's transpose: logits [batch, ..., input_dim].
struct ReversibleEmbeddingOptions {
  static constexpr std::string_view kType = "ReversibleEmbedding";
  int64_t input_dim = 0;
  int64_t output_dim = 0;
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("input_dim", input_dim);
    v.Required("output_dim", output_dim);
    v("embeddings_initializer", embeddings_initializer);
    v("embeddings_regularizer", embeddings_regularizer);
    common.Visit(v);
  }
};
LayerPtr ReversibleEmbedding(ReversibleEmbeddingOptions options);

// One table for each column of its input (TorchRec's EmbeddingCollection): integers
// [batch, columns] -> [batch, columns, output_dim]. input_dim is the rows of each table: one number
// for all, or one for each column. Weights embeddings_0, embeddings_1, ... [input_dim, output_dim].
struct EmbeddingCollectionOptions {
  static constexpr std::string_view kType = "EmbeddingCollection";
  std::vector<int64_t> input_dim;
  int64_t output_dim = 0;
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("input_dim", input_dim);
    v.Required("output_dim", output_dim);
    v("embeddings_initializer", embeddings_initializer);
    v("embeddings_regularizer", embeddings_regularizer);
    common.Visit(v);
  }
};
LayerPtr EmbeddingCollection(EmbeddingCollectionOptions options);

// Applies a named activation (activation.h).
struct ActivationOptions {
  static constexpr std::string_view kType = "Activation";
  std::string activation;
  Regularizer activity_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("activation", activation);
    v("activity_regularizer", activity_regularizer);
    common.Visit(v);
  }
};
LayerPtr Activation(ActivationOptions options);

// max(x, 0), with slope and threshold: negative_slope * (x - threshold) below `threshold`, at most
// max_value.
struct ReLUOptions {
  static constexpr std::string_view kType = "ReLU";
  std::optional<double> max_value;
  double negative_slope = 0;
  double threshold = 0;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("max_value", max_value);
    v("negative_slope", negative_slope);
    v("threshold", threshold);
    common.Visit(v);
  }
};
LayerPtr ReLU(ReLUOptions options = {});

struct LeakyReLUOptions {
  static constexpr std::string_view kType = "LeakyReLU";
  double negative_slope = 0.3;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("negative_slope", negative_slope);
    common.Visit(v);
  }
};
LayerPtr LeakyReLU(LeakyReLUOptions options = {});

// Leaky ReLU whose slopes are learned: weight alpha of the input's shape without the batch, size 1
// along `shared_axes` (counted with the batch as 0).
struct PReLUOptions {
  static constexpr std::string_view kType = "PReLU";
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer;
  std::vector<int64_t> shared_axes;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("alpha_initializer", alpha_initializer);
    v("alpha_regularizer", alpha_regularizer);
    v("shared_axes", shared_axes);
    common.Visit(v);
  }
};
LayerPtr PReLU(PReLUOptions options = {});

struct ELUOptions {
  static constexpr std::string_view kType = "ELU";
  double alpha = 1;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("alpha", alpha);
    common.Visit(v);
  }
};
LayerPtr ELU(ELUOptions options = {});

// Softmax over one axis or several together, in float32.
struct SoftmaxOptions {
  static constexpr std::string_view kType = "Softmax";
  std::vector<int64_t> axis = {-1};
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("axis", axis);
    common.Visit(v);
  }
};
LayerPtr Softmax(SoftmaxOptions options = {});

// The input itself.
struct IdentityOptions {
  static constexpr std::string_view kType = "Identity";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    common.Visit(v);
  }
};
LayerPtr Identity(IdentityOptions options = {});

}  // namespace flatout::nn
