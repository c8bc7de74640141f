#include "flatout/nn/layers/core.h"

#include <fmt/format.h>

#include <algorithm>

#include "flatout/ir/ops.h"
#include "flatout/nn/activation.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using Values = std::vector<ir::Value>;

// x times a kernel (or table) that gives `units` of each of its rows. Of the many units of a large
// vocabulary the operands may be narrower than the result.
ir::Value OutputProduct(Context& ctx, ir::Value x, ir::Value kernel, const ir::DotDims& dims,
                        int64_t units) {
  constexpr int64_t kMany = 1024;
  if (ctx.product_dtype() == ctx.compute_dtype() || units < kMany) {
    return ir::DotGeneral(x, kernel, dims);
  }
  return ir::DotGeneral(ir::Convert(x, ctx.product_dtype()),
                        ir::Convert(kernel, ctx.product_dtype()), dims, ctx.compute_dtype());
}

class DenseLayer : public Layer {
 public:
  explicit DenseLayer(DenseOptions options)
      : Layer(DenseOptions::kType, options.common), options_(std::move(options)) {}

  bool positionwise() const override { return options_.activity_regularizer.empty(); }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    CheckMinRank(*this, inputs[0], 2);
    const ir::Value x = ToCompute(ctx, inputs[0]);
    const ir::Value kernel = ctx.Weight("kernel", {x.dim(-1), options_.units},
                                        options_.kernel_initializer, options_.kernel_regularizer);
    ir::DotDims dims;
    dims.lhs_contract = {x.rank() - 1};
    dims.rhs_contract = {0};
    ir::Value y = OutputProduct(ctx, x, kernel, dims, options_.units);
    if (options_.use_bias) {
      y = y + ctx.Weight("bias", {options_.units}, options_.bias_initializer,
                         options_.bias_regularizer);
    }
    y = Activate(options_.activation, y);
    AddActivityPenalty(ctx, options_.activity_regularizer, y);
    return {y};
  }

 private:
  DenseOptions options_;
};

// Ids as the indices that Take wants.
ir::Value Ids(const Layer& layer, ir::Value x) {
  if (x.dtype() == ir::DType::kPred) {
    throw Invalid("{} needs integers, found {}", layer.type(), Shown(x));
  }
  return ir::ToIndex(x);
}

template <typename Options>
class EmbeddingLayer : public Layer {
 public:
  EmbeddingLayer(Options options, bool reversible)
      : Layer(Options::kType, options.common),
        options_(std::move(options)),
        reversible_(reversible) {}

  int64_t index_bound() const override { return options_.input_dim; }
  // Of the two, only the way back takes floats.
  bool positionwise() const override { return reversible_; }
  // Ids may come as floats, which a cast would round.
  bool autocast() const override { return false; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Dims dims = {options_.input_dim, options_.output_dim};
    if (reversible_ && ir::IsFloat(inputs[0].dtype())) {
      const ir::Value x = ToCompute(ctx, inputs[0]);
      CheckMinRank(*this, x, 2);
      if (x.dim(-1) != options_.output_dim) {
        throw Invalid("{} (backwards) needs inputs with {} features, found {}", type(),
                      options_.output_dim, Shown(x));
      }
      const ir::Value table = ctx.Weight("embeddings", dims, options_.embeddings_initializer,
                                         options_.embeddings_regularizer);
      ir::DotDims contract;
      contract.lhs_contract = {x.rank() - 1};
      contract.rhs_contract = {1};
      return {OutputProduct(ctx, x, table, contract, options_.input_dim)};
    }
    // The rows are converted, not the table, which may be large.
    const ir::Value table = ctx.StoredWeight("embeddings", dims, options_.embeddings_initializer,
                                             options_.embeddings_regularizer);
    return {ToCompute(ctx, ir::Take(table, Ids(*this, inputs[0]), 0))};
  }

 private:
  Options options_;
  bool reversible_;
};

class EmbeddingCollectionLayer : public Layer {
 public:
  explicit EmbeddingCollectionLayer(EmbeddingCollectionOptions options)
      : Layer(EmbeddingCollectionOptions::kType, options.common), options_(std::move(options)) {}

  int64_t index_bound() const override {
    return *std::min_element(options_.input_dim.begin(), options_.input_dim.end());
  }
  bool autocast() const override { return false; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value ids = Ids(*this, inputs[0]);
    CheckRank(*this, ids, 2);
    const int64_t columns = ids.dim(1);
    const std::vector<int64_t> rows =
        PerDimension(type(), "input_dim", options_.input_dim, columns);
    Values vectors;
    for (int64_t i = 0; i < columns; ++i) {
      const ir::Value table = ctx.StoredWeight(
          fmt::format("embeddings_{}", i), {rows[static_cast<size_t>(i)], options_.output_dim},
          options_.embeddings_initializer, options_.embeddings_regularizer);
      const ir::Value column = ir::Reshape(ir::SliceAxis(ids, 1, i, i + 1), {ids.dim(0)});
      vectors.push_back(ToCompute(ctx, ir::Take(table, column, 0)));
    }
    return {ir::Stack(vectors, 1)};
  }

 private:
  EmbeddingCollectionOptions options_;
};

class ActivationLayer : public Layer {
 public:
  explicit ActivationLayer(ActivationOptions options)
      : Layer(ActivationOptions::kType, options.common), options_(std::move(options)) {}

  bool positionwise() const override { return options_.activity_regularizer.empty(); }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value y = Activate(options_.activation, ToCompute(ctx, inputs[0]));
    AddActivityPenalty(ctx, options_.activity_regularizer, y);
    return {y};
  }

 private:
  ActivationOptions options_;
};

class ReLULayer : public Layer {
 public:
  explicit ReLULayer(ReLUOptions options)
      : Layer(ReLUOptions::kType, options.common), options_(std::move(options)) {}

  bool positionwise() const override { return true; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = ToCompute(ctx, inputs[0]);
    const double threshold = options_.threshold;
    const ir::Value zero = ir::ScalarLike(x, 0);
    // Plain max is what compilers fuse best, so the common case stays plain.
    ir::Value y = threshold == 0 ? ir::Max(x, 0.0) : ir::Select(ir::Gt(x, threshold), x, zero);
    if (options_.max_value) y = ir::Min(y, *options_.max_value);
    if (options_.negative_slope != 0) {
      const ir::Value below = (x - threshold) * options_.negative_slope;
      y = ir::Select(ir::Lt(x, threshold), below, y);
    }
    return {y};
  }

 private:
  ReLUOptions options_;
};

class LeakyReLULayer : public Layer {
 public:
  explicit LeakyReLULayer(LeakyReLUOptions options)
      : Layer(LeakyReLUOptions::kType, options.common), options_(std::move(options)) {}

  bool positionwise() const override { return true; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = ToCompute(ctx, inputs[0]);
    return {ir::Select(ir::Gt(x, 0.0), x, x * options_.negative_slope)};
  }

 private:
  LeakyReLUOptions options_;
};

class PReLULayer : public Layer {
 public:
  explicit PReLULayer(PReLUOptions options)
      : Layer(PReLUOptions::kType, options.common), options_(std::move(options)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = ToCompute(ctx, inputs[0]);
    CheckMinRank(*this, x, 2);
    ir::Dims dims(x.dims().begin() + 1, x.dims().end());
    for (const int64_t axis : options_.shared_axes) {
      dims[static_cast<size_t>(FeatureAxis(*this, x, axis) - 1)] = 1;
    }
    const ir::Value alpha =
        ctx.Weight("alpha", dims, options_.alpha_initializer, options_.alpha_regularizer);
    return {ir::Max(x, 0.0) + alpha * ir::Min(x, 0.0)};
  }

 private:
  PReLUOptions options_;
};

class ELULayer : public Layer {
 public:
  explicit ELULayer(ELUOptions options)
      : Layer(ELUOptions::kType, options.common), options_(std::move(options)) {}

  bool positionwise() const override { return true; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = ToCompute(ctx, inputs[0]);
    // The exponential sees no positive x: its overflow would spoil the gradient.
    const ir::Value negative = ir::Expm1(ir::Min(x, 0.0)) * options_.alpha;
    return {ir::Select(ir::Gt(x, 0.0), x, negative)};
  }

 private:
  ELUOptions options_;
};

class SoftmaxLayer : public Layer {
 public:
  explicit SoftmaxLayer(SoftmaxOptions options)
      : Layer(SoftmaxOptions::kType, options.common), options_(std::move(options)) {}

  bool positionwise() const override { return options_.axis == std::vector<int64_t>{-1}; }
  bool autocast() const override { return false; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = ir::Convert(inputs[0], ir::DType::kF32);
    ir::Dims axes;
    for (const int64_t axis : options_.axis) axes.push_back(FeatureAxis(*this, x, axis));
    if (axes.size() == 1) return {ToCompute(ctx, ir::Softmax(x, axes[0]))};
    const ir::Value shifted = ir::Exp(x - ir::StopGradient(ir::ReduceMax(x, axes, true)));
    return {ToCompute(ctx, shifted / ir::ReduceSum(shifted, axes, true))};
  }

 private:
  SoftmaxOptions options_;
};

class IdentityLayer : public Layer {
 public:
  explicit IdentityLayer(IdentityOptions options)
      : Layer(IdentityOptions::kType, std::move(options.common)) {}

  bool positionwise() const override { return true; }
  Values Call(Context&, std::span<const ir::Value> inputs) const override { return {inputs[0]}; }
};

}  // namespace

LayerPtr Dense(DenseOptions options) {
  CheckPositive("Dense", "units", options.units);
  CheckActivation(options.activation);
  return std::make_shared<DenseLayer>(std::move(options));
}

LayerPtr Embedding(EmbeddingOptions options) {
  CheckPositive("Embedding", "input_dim", options.input_dim);
  CheckPositive("Embedding", "output_dim", options.output_dim);
  return std::make_shared<EmbeddingLayer<EmbeddingOptions>>(std::move(options), false);
}

LayerPtr ReversibleEmbedding(ReversibleEmbeddingOptions options) {
  CheckPositive("ReversibleEmbedding", "input_dim", options.input_dim);
  CheckPositive("ReversibleEmbedding", "output_dim", options.output_dim);
  return std::make_shared<EmbeddingLayer<ReversibleEmbeddingOptions>>(std::move(options), true);
}

LayerPtr EmbeddingCollection(EmbeddingCollectionOptions options) {
  CheckPositive("EmbeddingCollection", "input_dim", options.input_dim);
  CheckPositive("EmbeddingCollection", "output_dim", options.output_dim);
  if (options.input_dim.empty()) throw Invalid("EmbeddingCollection: input_dim is missing");
  return std::make_shared<EmbeddingCollectionLayer>(std::move(options));
}

LayerPtr Activation(ActivationOptions options) {
  CheckActivation(options.activation);
  return std::make_shared<ActivationLayer>(std::move(options));
}

LayerPtr ReLU(ReLUOptions options) {
  if (options.max_value && *options.max_value < 0) {
    throw Invalid("ReLU: max_value must not be negative, found {}", *options.max_value);
  }
  if (options.negative_slope < 0 || options.threshold < 0) {
    throw Invalid("ReLU: negative_slope and threshold must not be negative, found {} and {}",
                  options.negative_slope, options.threshold);
  }
  return std::make_shared<ReLULayer>(std::move(options));
}

LayerPtr LeakyReLU(LeakyReLUOptions options) {
  return std::make_shared<LeakyReLULayer>(std::move(options));
}

LayerPtr PReLU(PReLUOptions options) { return std::make_shared<PReLULayer>(std::move(options)); }

LayerPtr ELU(ELUOptions options) { return std::make_shared<ELULayer>(std::move(options)); }

LayerPtr Softmax(SoftmaxOptions options) {
  if (options.axis.empty()) throw Invalid("Softmax: axis must name at least one axis");
  return std::make_shared<SoftmaxLayer>(std::move(options));
}

LayerPtr Identity(IdentityOptions options) {
  return std::make_shared<IdentityLayer>(std::move(options));
}

std::span<const LayerDef> CoreLayers() {
  static const std::vector<LayerDef> table = {
      MakeLayerDef<DenseOptions, &Dense>("Dense"),
      MakeLayerDef<EmbeddingOptions, &Embedding>("Embedding"),
      MakeLayerDef<ReversibleEmbeddingOptions, &ReversibleEmbedding>("ReversibleEmbedding"),
      MakeLayerDef<EmbeddingCollectionOptions, &EmbeddingCollection>("EmbeddingCollection"),
      MakeLayerDef<ActivationOptions, &Activation>("Activation"),
      MakeLayerDef<ReLUOptions, &ReLU>("ReLU"),
      MakeLayerDef<LeakyReLUOptions, &LeakyReLU>("LeakyReLU"),
      MakeLayerDef<PReLUOptions, &PReLU>("PReLU"),
      MakeLayerDef<ELUOptions, &ELU>("ELU"),
      MakeLayerDef<SoftmaxOptions, &Softmax>("Softmax"),
      MakeLayerDef<IdentityOptions, &Identity>("Identity"),
  };
  return table;
}

}  // namespace flatout::nn
