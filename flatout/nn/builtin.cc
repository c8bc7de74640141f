// The models that `builtin = "..."` names. All give logits: losses take from_logits = true.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "flatout/nn/layers.h"
#include "flatout/nn/model.h"

namespace flatout::nn {
namespace {

// A rate of dropout that leaves nothing is no model.
void CheckDropout(double rate) {
  if (!(rate >= 0 && rate < 1)) throw Invalid("dropout must be in [0, 1), found {}", rate);
}

void CheckSize(std::string_view argument, int64_t value) {
  if (value <= 0) throw Invalid("{} must be positive, found {}", argument, value);
}

// The one input of a model that takes one.
Tensor SingleInput(std::string_view model, const std::vector<std::string>& names,
                   const std::vector<ir::Shape>& shapes) {
  if (names.size() != 1) {
    throw Invalid("model {} takes one input, the data has {}: {}", model, names.size(),
                  fmt::join(names, ", "));
  }
  return Input(shapes[0].dims, shapes[0].dtype, names[0]);
}

// Bytes 0..255 become 0..1; floats are taken as they are.
Tensor Rescaled(Tensor x) {
  if (x.shape().dtype == ir::DType::kU8) return Rescaling({.scale = {1.0 / 255}})(x);
  return x;
}

// Images [height, width, channels]; a missing channel dimension is added.
Tensor Images(std::string_view model, const Tensor& input) {
  const ir::Dims& dims = input.shape().dims;
  if (dims.size() == 3) return Rescaled(input);
  if (dims.size() == 2) return Rescaled(Reshape({.target_shape = {dims[0], dims[1], 1}})(input));
  throw Invalid("model {} takes images [height, width, channels], the data has {}", model,
                input.shape().ToString());
}

// --- mlp ----------------------------------------------------------------------------------------

struct MlpOptions {
  static constexpr std::string_view kType = "mlp";
  int64_t layers = 2;
  int64_t units = 512;
  int64_t classes = 10;
  std::string activation = "relu";
  double dropout = 0;

  template <class V>
  void Visit(V& v) {
    v("layers", layers);
    v("units", units);
    v("classes", classes);
    v("activation", activation);
    v("dropout", dropout);
  }
};

Model Mlp(const MlpOptions& options, const std::vector<std::string>& names,
          const std::vector<ir::Shape>& shapes) {
  if (options.layers < 0) {
    throw Invalid("layers must not be negative, found {}", options.layers);
  }
  CheckSize("units", options.units);
  CheckSize("classes", options.classes);
  CheckDropout(options.dropout);
  const Tensor input = SingleInput("mlp", names, shapes);
  Tensor x = Rescaled(input);
  if (x.shape().rank() != 1) x = Flatten()(x);
  for (int64_t i = 0; i < options.layers; ++i) {
    x = Dense({.units = options.units, .activation = options.activation})(x);
    if (options.dropout > 0) x = Dropout({.rate = options.dropout})(x);
  }
  x = Dense({.units = options.classes})(x);
  return Model({input}, {x}, "mlp");
}

// --- cnn ----------------------------------------------------------------------------------------

struct CnnOptions {
  static constexpr std::string_view kType = "cnn";
  std::vector<int64_t> filters = {32, 64};
  int64_t units = 128;
  int64_t classes = 10;
  double dropout = 0;

  template <class V>
  void Visit(V& v) {
    v("filters", filters);
    v("units", units);
    v("classes", classes);
    v("dropout", dropout);
  }
};

Model Cnn(const CnnOptions& options, const std::vector<std::string>& names,
          const std::vector<ir::Shape>& shapes) {
  CheckSize("units", options.units);
  CheckSize("classes", options.classes);
  CheckDropout(options.dropout);
  const Tensor input = SingleInput("cnn", names, shapes);
  Tensor x = Images("cnn", input);
  for (const int64_t filters : options.filters) {
    x = Conv2D({.filters = filters, .kernel_size = {3}, .padding = "same", .activation = "relu"})(
        x);
  }
  x = MaxPooling2D()(x);
  x = Flatten()(x);
  if (options.dropout > 0) x = Dropout({.rate = options.dropout})(x);
  x = Dense({.units = options.units, .activation = "relu"})(x);
  if (options.dropout > 0) x = Dropout({.rate = options.dropout})(x);
  x = Dense({.units = options.classes})(x);
  return Model({input}, {x}, "cnn");
}

// --- resnet18 -----------------------------------------------------------------------------------

struct ResNetOptions {
  static constexpr std::string_view kType = "resnet18";
  int64_t width = 64;
  int64_t classes = 10;
  double momentum = 0.9;  // of the moving statistics

  template <class V>
  void Visit(V& v) {
    v("width", width);
    v("classes", classes);
    v("momentum", momentum);
  }
};

// ResNet-18 (He et al. 2016). Images of up to 64 pixels get the paper's CIFAR stem (one 3x3
// convolution), larger ones the ImageNet stem (7x7 with stride 2, then pooling).
Model ResNet18(const ResNetOptions& options, const std::vector<std::string>& names,
               const std::vector<ir::Shape>& shapes) {
  CheckSize("width", options.width);
  CheckSize("classes", options.classes);
  const Tensor input = SingleInput("resnet18", names, shapes);
  const auto convolve = [&](const Tensor& x, int64_t filters, int64_t kernel, int64_t stride,
                            const std::string& name) {
    const Tensor y = Conv2D({.filters = filters,
                             .kernel_size = {kernel},
                             .strides = {stride},
                             .padding = "same",
                             .use_bias = false,
                             .kernel_initializer = "he_normal",
                             .common = {.name = name + "_conv"}})(x);
    return BatchNormalization(
        {.momentum = options.momentum, .epsilon = 1e-5, .common = {.name = name + "_bn"}})(y);
  };
  const auto relu = [](const Tensor& x, const std::string& name) {
    return ReLU({.common = {.name = name + "_relu"}})(x);
  };
  Tensor x = Images("resnet18", input);
  if (std::max(x.shape().dim(0), x.shape().dim(1)) > 64) {
    x = relu(convolve(x, options.width, 7, 2, "stem"), "stem");
    x = MaxPooling2D(
        {.pool_size = {3}, .strides = {2}, .padding = "same", .common = {.name = "stem_pool"}})(x);
  } else {
    x = relu(convolve(x, options.width, 3, 1, "stem"), "stem");
  }
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t filters = options.width << stage;
    for (int64_t block = 0; block < 2; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      const std::string name = fmt::format("stage{}_block{}", stage + 1, block + 1);
      Tensor y = relu(convolve(x, filters, 3, stride, name + "_1"), name + "_1");
      y = convolve(y, filters, 3, 1, name + "_2");
      if (stride != 1 || x.shape().dim(-1) != filters) {
        x = convolve(x, filters, 1, stride, name + "_shortcut");
      }
      x = relu(Add({.common = {.name = name + "_add"}})({x, y}), name + "_2");
    }
  }
  x = GlobalAveragePooling2D({.common = {.name = "pool"}})(x);
  x = Dense({.units = options.classes, .common = {.name = "head"}})(x);
  return Model({input}, {x}, "resnet18");
}

// --- transformer --------------------------------------------------------------------------------

struct TransformerOptions {
  static constexpr std::string_view kType = "transformer";
  int64_t vocabulary = 256;
  int64_t layers = 4;
  int64_t width = 256;
  int64_t heads = 4;
  int64_t length = 0;  // of the table of positions; 0: the data's length
  double dropout = 0;
  bool tied = false;  // the output multiplies by the token embedding's transpose

  template <class V>
  void Visit(V& v) {
    v("vocabulary", vocabulary);
    v("layers", layers);
    v("width", width);
    v("heads", heads);
    v("length", length);
    v("dropout", dropout);
    v("tied", tied);
  }
};

// A decoder that predicts the next token at each position: pre-norm blocks of causal attention and
// an MLP four times as wide (Radford et al. 2019).
Model Transformer(const TransformerOptions& options, const std::vector<std::string>& names,
                  const std::vector<ir::Shape>& shapes) {
  CheckSize("vocabulary", options.vocabulary);
  CheckSize("layers", options.layers);
  CheckSize("width", options.width);
  CheckSize("heads", options.heads);
  CheckDropout(options.dropout);
  if (options.width % options.heads != 0) {
    throw Invalid("width must divide by heads, found width = {}, heads = {}", options.width,
                  options.heads);
  }
  const Tensor input = SingleInput("transformer", names, shapes);
  if (input.shape().rank() != 1 || !ir::IsInteger(input.shape().dtype)) {
    throw Invalid("model transformer takes tokens, integers [length]; the data has {}",
                  input.shape().ToString());
  }
  const int64_t length = options.length == 0 ? input.shape().dim(0) : options.length;
  const Initializer normal = [] {
    Initializer result = "random_normal";
    result.stddev = 0.02;
    return result;
  }();
  const auto norm = [](const Tensor& x, const std::string& name) {
    return LayerNormalization({.epsilon = 1e-5, .common = {.name = name}})(x);
  };
  const auto dropout = [&](const Tensor& x, const std::string& name) {
    if (options.dropout == 0) return x;
    return Dropout({.rate = options.dropout, .common = {.name = name}})(x);
  };
  const LayerPtr tokens = options.tied ? ReversibleEmbedding({.input_dim = options.vocabulary,
                                                              .output_dim = options.width,
                                                              .embeddings_initializer = normal,
                                                              .common = {.name = "tokens"}})
                                       : Embedding({.input_dim = options.vocabulary,
                                                    .output_dim = options.width,
                                                    .embeddings_initializer = normal,
                                                    .common = {.name = "tokens"}});
  Tensor x = tokens(input);
  x = PositionEmbedding(
      {.sequence_length = length, .initializer = normal, .common = {.name = "positions"}})(x);
  x = dropout(x, "dropout");
  for (int64_t i = 1; i <= options.layers; ++i) {
    const std::string name = fmt::format("block{}", i);
    Tensor h = norm(x, name + "_norm_1");
    h = MultiHeadAttention({.num_heads = options.heads,
                            .key_dim = options.width / options.heads,
                            .dropout = options.dropout,
                            .use_causal_mask = true,
                            .common = {.name = name + "_attention"}})(h);
    x = Add({.common = {.name = name + "_add_1"}})({x, dropout(h, name + "_dropout_1")});
    h = norm(x, name + "_norm_2");
    h = Dense(
        {.units = 4 * options.width, .activation = "gelu", .common = {.name = name + "_wide"}})(h);
    h = Dense({.units = options.width, .common = {.name = name + "_narrow"}})(h);
    x = Add({.common = {.name = name + "_add_2"}})({x, dropout(h, name + "_dropout_2")});
  }
  x = norm(x, "norm");
  x = options.tied ? tokens(x)
                   : Dense({.units = options.vocabulary, .common = {.name = "head"}})(x);
  return Model({input}, {x}, "transformer");
}

// --- dlrm ---------------------------------------------------------------------------------------

struct DlrmOptions {
  static constexpr std::string_view kType = "dlrm";
  int64_t table_size = 100000;
  int64_t width = 32;
  std::vector<int64_t> bottom_units = {64};
  std::vector<int64_t> top_units = {256};

  template <class V>
  void Visit(V& v) {
    v("table_size", table_size);
    v("width", width);
    v("bottom_units", bottom_units);
    v("top_units", top_units);
  }
};

// DLRM (Naumov et al. 2019): numbers through a bottom MLP, ids through one table per column, dot
// products of all pairs, a top MLP to one logit.
Model Dlrm(const DlrmOptions& options, const std::vector<std::string>& names,
           const std::vector<ir::Shape>& shapes) {
  CheckSize("table_size", options.table_size);
  CheckSize("width", options.width);
  std::vector<Tensor> inputs;
  Tensor dense, sparse;
  for (size_t i = 0; i < names.size(); ++i) {
    inputs.push_back(Input(shapes[i].dims, shapes[i].dtype, names[i]));
    if (shapes[i].rank() != 1) continue;
    (ir::IsFloat(shapes[i].dtype) ? dense : sparse) = inputs.back();
  }
  if (names.size() != 2 || dense.node == nullptr || sparse.node == nullptr) {
    std::string found;
    for (size_t i = 0; i < names.size(); ++i) {
      found += fmt::format("{}{} {}", i == 0 ? "" : ", ", names[i], shapes[i].ToString());
    }
    throw Invalid(
        "model dlrm takes two inputs, numbers (floats [count]) and ids (integers "
        "[tables]); the data has {}",
        found);
  }
  Tensor bottom = dense;
  for (size_t i = 0; i < options.bottom_units.size(); ++i) {
    bottom = Dense({.units = options.bottom_units[i],
                    .activation = "relu",
                    .common = {.name = fmt::format("bottom_{}", i + 1)}})(bottom);
  }
  bottom =
      Dense({.units = options.width, .activation = "relu", .common = {.name = "bottom"}})(bottom);
  const Tensor vectors = EmbeddingCollection({.input_dim = {options.table_size},
                                              .output_dim = options.width,
                                              .common = {.name = "tables"}})(sparse);
  const Tensor pairs = DotInteraction({.common = {.name = "pairs"}})({bottom, vectors});
  Tensor top = Concatenate({.common = {.name = "all"}})({bottom, pairs});
  for (size_t i = 0; i < options.top_units.size(); ++i) {
    top = Dense({.units = options.top_units[i],
                 .activation = "relu",
                 .common = {.name = fmt::format("top_{}", i + 1)}})(top);
  }
  top = Dense({.units = 1, .common = {.name = "head"}})(top);
  return Model(std::move(inputs), {top}, "dlrm");
}

template <typename Options, Model (*make)(const Options&, const std::vector<std::string>&,
                                          const std::vector<ir::Shape>&)>
BuiltinModel Row(std::string_view summary) {
  return {Options::kType, summary,
          [](const Config& table, const std::vector<std::string>& names,
             const std::vector<ir::Shape>& shapes) {
            Options options;
            ReadOptions(table, fmt::format("model {}", Options::kType), options);
            return make(options, names, shapes);
          }};
}

}  // namespace

std::span<const BuiltinModel> BuiltinModels() {
  static const std::vector<BuiltinModel> table = {
      Row<MlpOptions, &Mlp>("dense layers over the flattened input (784-512-512-10)"),
      Row<CnnOptions, &Cnn>("two 3x3 convolutions, pooling, two dense layers"),
      Row<ResNetOptions, &ResNet18>("ResNet-18 with batch normalization"),
      Row<TransformerOptions, &Transformer>(
          "decoder-only transformer that predicts the next token"),
      Row<DlrmOptions, &Dlrm>("recommender: embedding tables, pair interactions, two MLPs"),
  };
  return table;
}

}  // namespace flatout::nn
