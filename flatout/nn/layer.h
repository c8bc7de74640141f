// Layers and the table of them.
//
// flatout/nn holds what Keras calls layers, models, losses, metrics and initializers, with Keras's
// names, argument names and defaults. Data is channels-last; the first dimension is the batch.
//
// A layer is added in one place: its options struct and factory are declared in layers.h, class and
// table row stand in one file of flatout/nn/layers/. The row makes it known to run files, to
// `flatout models` and to the tests against Keras.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/graph.h"
#include "flatout/nn/context.h"

namespace flatout::nn {

// Arguments that every layer has.
struct CommonOptions {
  std::string name;  // empty: made from the class ("dense", "dense_1")
  bool trainable = true;
  // A policy's name, as Keras's dtype; empty: that of the layer around it, or the model's.
  std::string dtype;

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("trainable", trainable);
    v("dtype", dtype);
  }
};

class Layer {
 public:
  Layer(std::string_view type, CommonOptions common);
  virtual ~Layer() = default;

  // Keras's class name: "Conv2D".
  const std::string& type() const { return type_; }
  const std::string& name() const { return common_.name; }
  void set_name(std::string name) { common_.name = std::move(name); }
  const CommonOptions& common() const { return common_; }

  // Adds the layer's computation to ctx.graph(). Inputs have the batch as dimension 0. Weights come
  // from ctx.Weight(...) and are declared by that very call. Throws Invalid(...) when input shapes
  // do not fit; ctx.Call adds the layer's name. Called once per trace per use; must not keep
  // Values.
  virtual std::vector<ir::Value> Call(Context& ctx, std::span<const ir::Value> inputs) const = 0;

  // Whether float inputs come in the compute dtype. False: as they are, for layers that look at
  // them in float32, or hand them on.
  virtual bool autocast() const { return true; }
  // Whether the result at each position (an index into all dimensions but the last) comes from the
  // input at that position and from weights alone, for any number of positions, and the layer draws
  // no random values, adds no losses and assigns no state. It can then be computed in parts.
  virtual bool positionwise() const { return false; }
  // Integer inputs must lie in [0, index_bound()); 0: no such limit. Compilers clamp what is
  // outside.
  virtual int64_t index_bound() const { return 0; }
  // How many inputs it takes: exactly one by default; merging layers take several.
  virtual int64_t min_inputs() const { return 1; }
  virtual int64_t max_inputs() const { return 1; }

 private:
  std::string type_;
  CommonOptions common_;
};

// "conv2d" of "Conv2D", "multi_head_attention" of "MultiHeadAttention": how Keras names layers.
std::string SnakeCase(std::string_view type);
// A value's shape for messages, its batch dimension unnamed: "f32[None,28,28,1]".
std::string Shown(ir::Value value);

// Batch dimension of traces that only look for shapes. Messages about such traces show it as None.
inline constexpr int64_t kProbeBatch = 99991;

class Tensor;

// A shared layer that can be called on symbolic tensors, as Keras's functional models do:
//   Tensor x = Input({28, 28, 1});
//   x = Dense({.units = 10})(Flatten()(x));
class LayerPtr : public std::shared_ptr<Layer> {
 public:
  using std::shared_ptr<Layer>::shared_ptr;
  LayerPtr(std::shared_ptr<Layer> layer) : std::shared_ptr<Layer>(std::move(layer)) {}  // NOLINT

  Tensor operator()(const Tensor& input) const;
  Tensor operator()(const std::vector<Tensor>& inputs) const;
  // The same layer, named.
  LayerPtr Named(std::string name) const;
};

// One row of the layer table.
struct LayerDef {
  std::string_view type;
  // Makes the layer from a table of Keras arguments; the key "class" has been taken out.
  LayerPtr (*make)(const Config& table);
  // Names of all arguments, for help and messages.
  std::vector<std::string> (*arguments)();
};

// Collects the keys that a Visit method names.
class KeyLister {
 public:
  template <typename T>
  void operator()(std::string_view name, T&) {
    keys.emplace_back(name);
  }
  template <typename T>
  void Required(std::string_view name, T&) {
    keys.emplace_back(name);
  }
  std::vector<std::string> keys;
};

// The row for a layer whose factory takes `Options` (a default-constructible struct with Visit).
template <typename Options, LayerPtr (*factory)(Options)>
LayerDef MakeLayerDef(std::string_view type) {
  // The type name is needed in `make`, which cannot capture: Options carries it for messages.
  return {type,
          [](const Config& table) {
            Options options;
            ReadOptions(table, std::string(Options::kType), options);
            return WithContext(table.place().ToString(), [&] { return factory(options); });
          },
          [] {
            Options options;
            KeyLister lister;
            options.Visit(lister);
            return lister.keys;
          }};
}

// The whole table, and the row called `type` or nullptr.
std::span<const LayerDef> LayerTable();
const LayerDef* FindLayer(std::string_view type);
// A layer from {class = "Dense", units = 10, ...}. Unknown classes and arguments are UserErrors
// with file:line and the nearest known name.
LayerPtr LayerFromConfig(const Config& table);

// One table per file of flatout/nn/layers/; layer.cc joins them.
std::span<const LayerDef> CoreLayers();           // core.cc: Dense, Embedding, Activation, ...
std::span<const LayerDef> ConvolutionLayers();    // convolution.cc
std::span<const LayerDef> PoolingLayers();        // pooling.cc
std::span<const LayerDef> NormalizationLayers();  // normalization.cc
std::span<const LayerDef>
RegularizationLayers();                       // regularization.cc: Dropout, SpatialDropout, noise
std::span<const LayerDef> ReshapingLayers();  // reshaping.cc: Flatten, Reshape, padding, cropping
std::span<const LayerDef> MergingLayers();    // merging.cc
std::span<const LayerDef> AttentionLayers();  // attention.cc
std::span<const LayerDef> RecurrentLayers();  // recurrent.cc
std::span<const LayerDef> PreprocessingLayers();  // preprocessing.cc: Rescaling, Normalization, ...
std::span<const LayerDef> AugmentationLayers();   // augmentation.cc

}  // namespace flatout::nn
