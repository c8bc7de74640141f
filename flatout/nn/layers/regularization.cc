#include "flatout/nn/layers/regularization.h"

#include <cmath>

#include "flatout/ir/ops.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using Values = std::vector<ir::Value>;

// Shape of the random choice, and how it is drawn. A choice that all rows share must not depend on
// which rows a replica has.
struct Noise {
  ir::Dims dims;
  RandomOptions random;
};

Noise MakeNoise(const Layer& layer, ir::Value x, const std::vector<int64_t>& noise_shape,
                std::optional<int64_t> seed) {
  Noise noise{x.dims(), {.by_row = true, .seed = seed}};
  if (noise_shape.empty()) return noise;
  const bool fits = static_cast<int64_t>(noise_shape.size()) == x.rank();
  for (size_t i = 0; i < noise_shape.size(); ++i) {
    const int64_t wanted = noise_shape[i];
    if (!fits || (wanted != -1 && wanted != 1 && (i == 0 || wanted != x.dims()[i]))) {
      throw Invalid(
          "{}: noise_shape {} does not fit {}: it needs {} numbers, each 1 (shared) or -1 "
          "(the input's size)",
          layer.type(), ir::DimsToString(noise_shape), Shown(x), x.rank());
    }
    if (wanted == 1) noise.dims[i] = 1;
  }
  noise.random.by_row = noise_shape[0] != 1;
  return noise;
}

// pred of noise.dims, broadcast to x: true for elements to keep.
ir::Value Keep(Context& ctx, ir::Value x, double rate, const Noise& noise) {
  return ir::BroadcastTo(ctx.RandomBernoulli(1 - rate, noise.dims, noise.random), x.dims());
}

ir::Value DropElements(Context& ctx, ir::Value x, double rate, const Noise& noise) {
  if (rate == 0) return x;
  if (rate == 1) return x * 0.0;
  return ir::Select(Keep(ctx, x, rate, noise), x * (1 / (1 - rate)), ir::ScalarLike(x, 0));
}

class DropoutLayer : public Layer {
 public:
  explicit DropoutLayer(DropoutOptions options)
      : Layer(DropoutOptions::kType, options.common), options_(std::move(options)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = ToCompute(ctx, inputs[0]);
    const Noise noise = MakeNoise(*this, x, options_.noise_shape, options_.seed);
    if (!ctx.training()) return {x};
    return {DropElements(ctx, x, options_.rate, noise)};
  }

 private:
  DropoutOptions options_;
};

template <int kRank>
class SpatialDropoutLayer : public Layer {
 public:
  explicit SpatialDropoutLayer(SpatialDropoutOptions<kRank> options)
      : Layer(options.kType, options.common), options_(std::move(options)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    CheckRank(*this, inputs[0], kRank + 2);
    const ir::Value x = ToCompute(ctx, inputs[0]);
    if (!ctx.training()) return {x};
    Noise noise{x.dims(), {.by_row = true, .seed = options_.seed}};
    for (size_t i = 1; i <= kRank; ++i) noise.dims[i] = 1;
    return {DropElements(ctx, x, options_.rate, noise)};
  }

 private:
  SpatialDropoutOptions<kRank> options_;
};

class GaussianNoiseLayer : public Layer {
 public:
  explicit GaussianNoiseLayer(GaussianNoiseOptions options)
      : Layer(GaussianNoiseOptions::kType, options.common), options_(std::move(options)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = ToCompute(ctx, inputs[0]);
    if (!ctx.training() || options_.stddev == 0) return {x};
    const ir::Value noise = ctx.RandomNormal(x.dims(), {.seed = options_.seed});
    return {x + ir::Convert(noise * options_.stddev, x.dtype())};
  }

 private:
  GaussianNoiseOptions options_;
};

class GaussianDropoutLayer : public Layer {
 public:
  explicit GaussianDropoutLayer(GaussianDropoutOptions options)
      : Layer(GaussianDropoutOptions::kType, options.common), options_(std::move(options)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = ToCompute(ctx, inputs[0]);
    if (!ctx.training() || options_.rate == 0) return {x};
    const double stddev = std::sqrt(options_.rate / (1 - options_.rate));
    const ir::Value noise = ctx.RandomNormal(x.dims(), {.seed = options_.seed});
    return {x * ir::Convert(noise * stddev + 1.0, x.dtype())};
  }

 private:
  GaussianDropoutOptions options_;
};

class AlphaDropoutLayer : public Layer {
 public:
  explicit AlphaDropoutLayer(AlphaDropoutOptions options)
      : Layer(AlphaDropoutOptions::kType, options.common), options_(std::move(options)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = ToCompute(ctx, inputs[0]);
    const Noise noise = MakeNoise(*this, x, options_.noise_shape, options_.seed);
    const double rate = options_.rate;
    if (!ctx.training() || rate == 0) return {x};
    // Dropped elements take SELU's limit at minus infinity, -alpha * scale; the affine map after it
    // brings mean 0 and variance 1 back.
    constexpr double kAlpha = 1.6732632423543772;
    constexpr double kScale = 1.0507009873554805;
    constexpr double kLimit = -kAlpha * kScale;
    const double a = 1 / std::sqrt((1 - rate) * (1 + rate * kLimit * kLimit));
    const double b = -a * kLimit * rate;
    const ir::Value kept = ir::Select(Keep(ctx, x, rate, noise), x, ir::ScalarLike(x, kLimit));
    return {kept * a + b};
  }

 private:
  AlphaDropoutOptions options_;
};

class ActivityRegularizationLayer : public Layer {
 public:
  explicit ActivityRegularizationLayer(ActivityRegularizationOptions options)
      : Layer(ActivityRegularizationOptions::kType, options.common),
        regularizer_{.l1 = options.l1, .l2 = options.l2} {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    AddActivityPenalty(ctx, regularizer_, inputs[0]);
    return {inputs[0]};
  }

 private:
  Regularizer regularizer_;
};

template <int kRank>
LayerPtr MakeSpatialDropout(SpatialDropoutOptions<kRank> options) {
  CheckRate(options.kType, "rate", options.rate, true);
  CheckChannelsLast(options.kType, options.data_format);
  return std::make_shared<SpatialDropoutLayer<kRank>>(std::move(options));
}

}  // namespace

LayerPtr Dropout(DropoutOptions options) {
  CheckRate("Dropout", "rate", options.rate, true);
  return std::make_shared<DropoutLayer>(std::move(options));
}

LayerPtr SpatialDropout1D(SpatialDropout1DOptions options) {
  return MakeSpatialDropout(std::move(options));
}
LayerPtr SpatialDropout2D(SpatialDropout2DOptions options) {
  return MakeSpatialDropout(std::move(options));
}
LayerPtr SpatialDropout3D(SpatialDropout3DOptions options) {
  return MakeSpatialDropout(std::move(options));
}

LayerPtr GaussianNoise(GaussianNoiseOptions options) {
  if (!(options.stddev >= 0)) {
    throw Invalid("GaussianNoise: stddev must not be negative, found {}", options.stddev);
  }
  return std::make_shared<GaussianNoiseLayer>(std::move(options));
}

LayerPtr GaussianDropout(GaussianDropoutOptions options) {
  CheckRate("GaussianDropout", "rate", options.rate);
  return std::make_shared<GaussianDropoutLayer>(std::move(options));
}

LayerPtr AlphaDropout(AlphaDropoutOptions options) {
  CheckRate("AlphaDropout", "rate", options.rate);
  return std::make_shared<AlphaDropoutLayer>(std::move(options));
}

LayerPtr ActivityRegularization(ActivityRegularizationOptions options) {
  if (!(options.l1 >= 0) || !(options.l2 >= 0)) {
    throw Invalid("ActivityRegularization: l1 and l2 must not be negative, found {} and {}",
                  options.l1, options.l2);
  }
  return std::make_shared<ActivityRegularizationLayer>(std::move(options));
}

std::span<const LayerDef> RegularizationLayers() {
  static const std::vector<LayerDef> table = {
      MakeLayerDef<DropoutOptions, &Dropout>("Dropout"),
      MakeLayerDef<SpatialDropout1DOptions, &SpatialDropout1D>("SpatialDropout1D"),
      MakeLayerDef<SpatialDropout2DOptions, &SpatialDropout2D>("SpatialDropout2D"),
      MakeLayerDef<SpatialDropout3DOptions, &SpatialDropout3D>("SpatialDropout3D"),
      MakeLayerDef<GaussianNoiseOptions, &GaussianNoise>("GaussianNoise"),
      MakeLayerDef<GaussianDropoutOptions, &GaussianDropout>("GaussianDropout"),
      MakeLayerDef<AlphaDropoutOptions, &AlphaDropout>("AlphaDropout"),
      MakeLayerDef<ActivityRegularizationOptions, &ActivityRegularization>(
          "ActivityRegularization"),
  };
  return table;
}

}  // namespace flatout::nn
