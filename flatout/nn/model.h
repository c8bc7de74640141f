// Models: graphs of layers.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/nn/context.h"
#include "flatout/nn/layer.h"

namespace flatout::nn {

struct CallNode;

// A symbolic tensor: what a layer gave when it was called on other symbolic tensors. Shapes are
// without the batch dimension.
class Tensor {
 public:
  const ir::Shape& shape() const;

  std::shared_ptr<const CallNode> node;
  int index = 0;
};

// An input of a model. `shape` is without the batch dimension; `dtype` what the data delivers
// (integers are fine: Rescaling, Embedding and the like convert).
Tensor Input(ir::Dims shape, ir::DType dtype = ir::DType::kF32, std::string name = "");

// One use of a layer by a model.
struct LayerCall {
  LayerPtr layer;
  std::vector<int> inputs;  // calls whose results it takes; -1 - i is the model's input i
  bool is_output = false;   // a result of the model
};

class Model {
 public:
  // A functional model from inputs to outputs. Names unnamed layers ("dense", "dense_1"), traces
  // the model once, and so finds every shape error, naming the layer. Throws UserError for inputs
  // that nothing uses and for two layers of one name.
  Model(std::vector<Tensor> inputs, std::vector<Tensor> outputs, std::string name = "model");
  // A chain of layers.
  static Model Sequential(Tensor input, std::vector<LayerPtr> layers,
                          std::string name = "sequential");
  // From a run file's [model] table: {layers = [{class = "Dense", ...}, ...]} or {builtin = "cnn",
  // ...its options}. A layer's `inputs = ["name", ...]` names earlier layers or model inputs and
  // defaults to the layer before it. `inputs` are the data's fields: name and shape without batch.
  static Model FromConfig(const Config& table, const std::vector<std::string>& input_names,
                          const std::vector<ir::Shape>& input_shapes);

  // What layers without a dtype of their own compute in and keep their weights in; float32 where
  // this was not called. Traces and steps of the model must be given the same policy. Sets the
  // dtype of variables(). Throws UserError, naming the layer, for layers that cannot compute so.
  void SetPolicy(const Policy& policy);
  const Policy& policy() const { return policy_; }
  // Whether any layer computes in `dtype`, by the policy or by a dtype of its own.
  bool computes_in(ir::DType dtype) const { return computed_in_.contains(dtype); }

  const std::string& name() const { return name_; }
  // In order of first use; Keras's order within a layer.
  const std::vector<Variable>& variables() const { return variables_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  const std::vector<LayerPtr>& layers() const { return layers_; }
  // Uses of the layers in the order in which Call traces them.
  std::vector<LayerCall> calls() const;

  // Adds the forward computation: one value per model input, batch first. Layers that give outputs
  // compute in float32 whatever the policy, unless they have a dtype of their own; where such a
  // layer has no weights and looks at one element or row at a time (a softmax on its own), so does
  // the one before it. Float outputs are float32.
  std::vector<ir::Value> Call(Context& ctx, std::span<const ir::Value> inputs) const;

  // The model's head: its last layers, where they alone give its only output and each works on
  // every position by itself (Layer::positionwise), from the last one with weights on. How many of
  // calls() they are; 0: it has none. Then Call is CallHead of CallBody's result, which has the
  // batch first and is float: [batch, ..., features]. CallHead may be given any part of it, or its
  // positions as rows [positions, features], in a context and graph of its own.
  int head_calls() const { return head_calls_; }
  ir::Value CallBody(Context& ctx, std::span<const ir::Value> inputs) const;
  ir::Value CallHead(Context& ctx, ir::Value x) const;
  // Indices into variables() of the head's.
  std::vector<size_t> HeadVariables() const;

  // What Keras's summary() prints: layer (type), output shape, parameters, and totals.
  std::string Summary() const;
  int64_t trainable_parameters() const;
  int64_t parameters() const;
  // FLOPs of the forward pass for one sample.
  double ForwardFlops() const;
  // The layer with the smallest index_bound() that takes model input `input` directly; none where
  // no layer there has one.
  LayerPtr IndexedBy(int input) const;
  // Layers that must see data before training (Normalization without mean and variance), and the
  // model input that feeds each. Throws UserError where one is fed by another layer.
  std::vector<std::pair<LayerPtr, int>> LayersToAdapt() const;

 private:
  void Trace();  // finds variables_ and computed_in_
  std::set<const CallNode*> OutputNodes() const;
  int CountHeadCalls() const;
  using Values = std::map<const CallNode*, std::vector<ir::Value>>;
  // Traces a use of a layer whose inputs are in `values`, and adds its results.
  void CallNodeOf(Context& ctx, const CallNode& node, Values& values) const;
  Values BindInputs(std::span<const ir::Value> inputs) const;
  ir::Value Result(const Tensor& output, const Values& values) const;
  std::vector<const CallNode*> Calls() const;  // of order_, without the inputs

  std::string name_;
  Policy policy_;
  std::set<ir::DType> computed_in_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<std::shared_ptr<const CallNode>> order_;  // topological
  std::set<const CallNode*> float32_;                   // nodes that compute in float32
  std::vector<LayerPtr> layers_;
  std::vector<Variable> variables_;
  int head_calls_ = 0;
};

// The models that `builtin = "..."` names.
struct BuiltinModel {
  std::string_view name;
  std::string_view summary;  // one line for `flatout models`
  Model (*make)(const Config& options, const std::vector<std::string>& input_names,
                const std::vector<ir::Shape>& input_shapes);
};
std::span<const BuiltinModel> BuiltinModels();  // builtin.cc

}  // namespace flatout::nn
