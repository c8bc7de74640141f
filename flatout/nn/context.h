// Context: one trace of a model into a graph. Layers get their weights, randomness, mode and dtype
// from it, so that one method per layer both declares its variables and computes with them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/initializer.h"

namespace flatout::nn {

class Layer;

// Penalty on a weight, added to the loss: l1 * sum|w| + l2 * sum w^2 (Keras's L1, L2, L1L2).
struct Regularizer {
  double l1 = 0;
  double l2 = 0;
  bool empty() const { return l1 == 0 && l2 == 0; }
};
// "l1", "l2", "l1_l2" (each with Keras's default 0.01), or a table {l1 = ..., l2 = ...}.
void ReadConfig(const Config& value, Regularizer& field);
// The penalty on `value` as an f32 scalar; none for an empty regularizer.
ir::Value Penalty(const Regularizer& regularizer, ir::Value value);

// One weight of a model. Weights have the dtype that the policy of their layer names; state that
// layers keep for themselves (moving statistics) is float32 whatever the policy.
struct Variable {
  std::string path;  // "conv2d_1/kernel", unique in the model
  ir::Shape shape;
  bool trainable = true;
  Initializer initializer;
  Regularizer regularizer;
};

// Element types as Keras's policies name them: what layers compute in, and what weights are kept
// in. docs/precision.md says what stays float32 in any case.
struct Policy {
  std::string name = "float32";
  ir::DType compute = ir::DType::kF32;
  ir::DType variable = ir::DType::kF32;
  // "float32", "mixed_bfloat16", "mixed_float16" (weights float32), "bfloat16", "float16" (weights
  // too); throws UserError for others.
  static Policy Named(std::string_view name);
  static const std::vector<std::string>& Names();
};

struct ContextOptions {
  bool training = false;
  Policy policy;
  // Replicas that run the same program on their share of the global batch.
  int64_t replicas = 1;
};

// How random values are drawn.
struct RandomOptions {
  // dims[0] is the batch. False: every replica draws the same values whatever its rows.
  bool by_row = true;
  // A layer's own `seed` argument, mixed into the stream.
  std::optional<int64_t> seed;
};

class Context {
 public:
  // Traces into `graph`. Weights must have been bound, unless `collect` is given: then unknown
  // weights become parameters of the graph and are recorded there.
  Context(ir::Graph& graph, ContextOptions options, std::vector<Variable>* collect = nullptr);

  ir::Graph& graph() { return graph_; }
  bool training() const { return options_.training; }
  int64_t replicas() const { return options_.replicas; }
  const Policy& policy() const { return options_.policy; }
  // What the current layer should compute in.
  ir::DType compute_dtype() const { return compute_dtype_; }
  // What the operands of its large products may be narrowed to, whose sums and results are of
  // compute_dtype(): bfloat16 in an output layer of a policy that computes in it, whose own compute
  // dtype is float32; otherwise compute_dtype().
  ir::DType product_dtype() const { return product_dtype_; }
  // "encoder/dense_1": the layer being traced.
  const std::string& path() const { return path_; }

  // --- for layers -----------------------------------------------------------------------------
  // The weight `name` of the current layer, made on first use, in the compute dtype. Throws
  // UserError for zero or negative dims.
  ir::Value Weight(std::string_view name, ir::Dims dims, const Initializer& initializer,
                   const Regularizer& regularizer = {});
  // The same as float32, and in the dtype it was bound in (large tables are not to be converted).
  ir::Value Float32Weight(std::string_view name, ir::Dims dims, const Initializer& initializer,
                          const Regularizer& regularizer = {});
  ir::Value StoredWeight(std::string_view name, ir::Dims dims, const Initializer& initializer,
                         const Regularizer& regularizer = {});
  // State that the optimizer does not train: float32 whatever the policy.
  ir::Value State(std::string_view name, ir::Dims dims, const Initializer& initializer);
  // New value of a State for the next step. Only when training.
  void Assign(std::string_view name, ir::Value value);
  // Calls `layer` as a part of the current one: its weights go below its name. Its own dtype, where
  // it has one, is what it and the layers within it compute in. Casts float inputs to the layer's
  // compute dtype, unless it looks after them itself (Layer::autocast). The error context names the
  // layer.
  std::vector<ir::Value> Call(const Layer& layer, std::span<const ir::Value> inputs);
  ir::Value Call(const Layer& layer, ir::Value input);
  // Adds a scalar to the loss (activity penalties): a sum over this replica's real rows.
  void AddLoss(ir::Value loss) { losses_.push_back(loss); }

  // Randomness: each call in a trace has its own stream, a pure function of (seed, step, order of
  // calls). dims[0] is the batch: rows are numbered over the global batch, so that the same sample
  // gets the same bits on any number of replicas. f32.
  ir::Value RandomUniform(const ir::Dims& dims, double low = 0, double high = 1,
                          const RandomOptions& options = {});
  ir::Value RandomNormal(const ir::Dims& dims, const RandomOptions& options = {});
  // pred, true with probability p.
  ir::Value RandomBernoulli(double p, const ir::Dims& dims, const RandomOptions& options = {});

  // f32[batch], 1 for real rows and 0 for padding; none when every row is real.
  ir::Value row_weights() const { return row_weights_; }
  // Sum over all replicas; the value itself on one.
  ir::Value CrossReplicaSum(ir::Value value);
  std::vector<ir::Value> CrossReplicaSum(std::span<const ir::Value> values);

  // --- for whoever traces -----------------------------------------------------------------------
  // `value` may be wider than the variable: training binds 16-bit weights as float32, so that
  // gradients of several uses are added up in float32.
  void Bind(const std::string& path, ir::Value value) { weights_[path] = value; }
  void SetRowWeights(ir::Value weights) { row_weights_ = weights; }
  // Key of this step, and the number of the first row of this replica (u32 scalar; none: 0).
  void SetRandom(const ir::Key& key, ir::Value first_row);
  // While true, layers compute in float32 whatever the policy, unless they have a dtype of their
  // own (the output layers).
  void ForceFloat32(bool force) { force_float32_ = force; }
  // What layers of this trace computed in.
  const std::set<ir::DType>& computed_in() const { return computed_in_; }
  ir::Value Lookup(const std::string& path) const;  // current value of a weight
  // Values that Assign left, by path.
  const std::map<std::string, ir::Value>& updates() const { return updates_; }
  std::span<const ir::Value> losses() const { return losses_; }
  // Says that the nodes of the graph from `first` on are those of one layer call of a model; and
  // what has been said: first node and one past the last of each call, in order.
  void NoteCall(size_t first) { calls_.emplace_back(first, graph_.nodes().size()); }
  std::span<const std::pair<size_t, size_t>> calls() const { return calls_; }
  // Sets whether weights made from now on are trainable (a frozen layer's are not).
  bool trainable() const { return trainable_; }

 private:
  ir::Value GetWeight(std::string_view name, ir::Dims dims, const Initializer& initializer,
                      const Regularizer& regularizer, ir::DType dtype, bool trainable);
  ir::Value Bits(const ir::Dims& dims, const RandomOptions& options);

  ir::Graph& graph_;
  ContextOptions options_;
  std::vector<Variable>* collect_;
  std::map<std::string, ir::Value> weights_;
  std::map<std::string, ir::Value> updates_;
  std::vector<ir::Value> losses_;
  std::vector<std::pair<size_t, size_t>> calls_;
  std::string path_;
  ir::DType compute_dtype_, product_dtype_, variable_dtype_;
  std::set<ir::DType> computed_in_;
  bool force_float32_ = false;
  bool trainable_ = true;
  ir::Value row_weights_;
  std::optional<ir::Key> key_;
  ir::Value first_row_;
  uint32_t next_stream_ = 0;
};

}  // namespace flatout::nn
