#include "flatout/nn/layers/normalization.h"

#include <algorithm>

#include "flatout/ir/ops.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using Values = std::vector<ir::Value>;

ir::Value Float32(ir::Value x) { return ir::Convert(x, ir::DType::kF32); }

// As it is, if that is float32 or less, so that narrow arrays need not be widened in memory.
ir::Value Given(ir::Value x) { return ir::IsLowPrecision(x.dtype()) ? x : Float32(x); }

// Axes counted from 0, in rising order, each once.
ir::Dims FeatureAxes(const Layer& layer, ir::Value x, const std::vector<int64_t>& axes) {
  ir::Dims result;
  for (const int64_t axis : axes) result.push_back(FeatureAxis(layer, x, axis));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    throw Invalid("{}: axis names a dimension twice: {}", layer.type(), ir::DimsToString(axes));
  }
  return result;
}

// Sizes of x along `axes`, and a shape of x's rank that has them there and 1 elsewhere.
ir::Dims SizesOf(ir::Value x, const ir::Dims& axes) {
  ir::Dims result;
  for (const int64_t axis : axes) result.push_back(x.dim(axis));
  return result;
}
ir::Dims BroadcastDims(ir::Value x, const ir::Dims& axes) {
  ir::Dims result(static_cast<size_t>(x.rank()), 1);
  for (const int64_t axis : axes) result[static_cast<size_t>(axis)] = x.dim(axis);
  return result;
}

// normal * gamma + beta, as far as the options ask for them, in float32.
template <typename Options>
ir::Value ScaleAndCenter(Context& ctx, const Options& options, ir::Value normal,
                         const ir::Dims& sizes, const ir::Dims& broadcast) {
  if (options.scale) {
    normal = normal * ir::Reshape(ctx.Float32Weight("gamma", sizes, options.gamma_initializer,
                                                    options.gamma_regularizer),
                                  broadcast);
  }
  if (options.center) {
    normal = normal + ir::Reshape(ctx.Float32Weight("beta", sizes, options.beta_initializer,
                                                    options.beta_regularizer),
                                  broadcast);
  }
  return normal;
}

// x minus its mean, over the square root of its variance, over `axes`.
ir::Value Normalize(ir::Value x, const ir::Dims& axes, double epsilon) {
  const ir::Value centered = x - ir::ReduceMean(x, axes, true);
  const ir::Value variance = ir::ReduceMean(ir::Square(centered), axes, true);
  return centered * ir::Rsqrt(variance + epsilon);
}

class BatchNormalizationLayer : public Layer {
 public:
  explicit BatchNormalizationLayer(BatchNormalizationOptions options)
      : Layer(BatchNormalizationOptions::kType, options.common), options_(std::move(options)) {}

  bool autocast() const override { return false; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    CheckMinRank(*this, inputs[0], 2);
    const ir::Value x = Float32(inputs[0]);
    const int64_t axis = FeatureAxis(*this, x, options_.axis);
    const ir::Dims sizes = {x.dim(axis)};
    const ir::Dims broadcast = BroadcastDims(x, {axis});
    // Keras's order of weights: gamma, beta, then the moving ones.
    ir::Value gamma, beta;
    if (options_.scale) {
      gamma =
          ctx.Float32Weight("gamma", sizes, options_.gamma_initializer, options_.gamma_regularizer);
    }
    if (options_.center) {
      beta = ctx.Float32Weight("beta", sizes, options_.beta_initializer, options_.beta_regularizer);
    }
    const ir::Value moving_mean = ctx.State("moving_mean", sizes, options_.moving_mean_initializer);
    const ir::Value moving_variance =
        ctx.State("moving_variance", sizes, options_.moving_variance_initializer);

    ir::Value mean = moving_mean;
    ir::Value variance = moving_variance;
    const bool of_batch = ctx.training() && ctx.trainable();
    const bool global = options_.synchronized && ctx.replicas() > 1;
    if (of_batch && !global && axis + 1 == x.rank()) {
      const ir::Shape shape(ir::DType::kF32, sizes);
      Moments moments;
      double cells = 1;
      for (int64_t i = 1; i < axis; ++i) cells *= static_cast<double>(x.dim(i));
      ir::Value weight = ctx.row_weights();
      if (weight) {
        moments.rows = ir::ReduceSum(weight);
      } else {
        weight = ir::Full(ctx.graph(), ir::Shape(ir::DType::kF32, {x.dim(0)}), 1);
      }
      const ir::Value rows =
          moments.rows ? moments.rows
                       : ir::Scalar(ctx.graph(), ir::DType::kF32, static_cast<double>(x.dim(0)));
      // A replica may hold padding only: its sums are 0, and so are its moments.
      const std::vector<ir::Value> results =
          ir::BatchNormalization(Given(inputs[0]), gamma ? gamma : ir::Full(ctx.graph(), shape, 1),
                                 beta ? beta : ir::Full(ctx.graph(), shape, 0), weight,
                                 ir::Max(rows, 1.0) * cells, options_.epsilon, ctx.compute_dtype());
      moments.mean = results[1];
      moments.variance = results[2];
      Follow(ctx, moments, moving_mean, moving_variance);
      return {results[0]};
    }
    if (of_batch) {
      const Moments moments = BatchMoments(ctx, x, axis);
      mean = moments.mean;
      variance = moments.variance;
      Follow(ctx, moments, moving_mean, moving_variance);
    }
    ir::Value factor = ir::Rsqrt(variance + options_.epsilon);
    if (gamma) factor = factor * gamma;
    ir::Value y = (x - ir::Reshape(mean, broadcast)) * ir::Reshape(factor, broadcast);
    if (beta) y = y + ir::Reshape(beta, broadcast);
    return {ToCompute(ctx, y)};
  }

 private:
  struct Moments {
    ir::Value mean, variance;  // [features]
    ir::Value rows;            // f32 scalar: how many real rows they are of; none: all
    bool global = false;       // over all replicas
  };

  Moments BatchMoments(Context& ctx, ir::Value x, int64_t axis) const {
    ir::Dims axes;
    double cells = 1;  // of one row and feature
    for (int64_t i = 0; i < x.rank(); ++i) {
      if (i == axis) continue;
      axes.push_back(i);
      if (i > 0) cells *= static_cast<double>(x.dim(i));
    }
    const ir::Dims broadcast = BroadcastDims(x, {axis});
    const ir::Value mask = RowMask(ctx, x);
    Moments moments;
    moments.global = options_.synchronized && ctx.replicas() > 1;
    if (!mask && !moments.global) {
      moments.mean = ir::ReduceMean(x, axes);
      const ir::Value centered = x - ir::Reshape(moments.mean, broadcast);
      moments.variance = ir::ReduceMean(ir::Square(centered), axes);
      return moments;
    }
    const auto sum = [&](ir::Value value) {
      return ir::ReduceSum(mask ? value * mask : value, axes);
    };
    moments.rows =
        mask ? ir::ReduceSum(ctx.row_weights()) : ir::ScalarLike(x, static_cast<double>(x.dim(0)));
    ir::Value total = sum(x);
    if (moments.global) {
      const Values summed = ctx.CrossReplicaSum(std::vector<ir::Value>{total, moments.rows});
      total = summed[0];
      moments.rows = summed[1];
    }
    // A replica may hold padding only: its sums are 0, and so are its moments.
    const ir::Value count = ir::Max(moments.rows, 1.0) * cells;
    moments.mean = total / count;
    ir::Value squares = sum(ir::Square(x - ir::Reshape(moments.mean, broadcast)));
    if (moments.global) squares = ctx.CrossReplicaSum(squares);
    moments.variance = squares / count;
    return moments;
  }

  // Moves the moving statistics towards the batch's. All replicas get the same values: theirs are
  // weighed by their real rows.
  void Follow(Context& ctx, const Moments& moments, ir::Value moving_mean,
              ir::Value moving_variance) const {
    ir::Value mean = moments.mean;
    ir::Value variance = moments.variance;
    ir::Value rows = moments.rows;
    if (ctx.replicas() > 1 && !moments.global) {
      const ir::Value weight = rows ? rows : ir::ScalarLike(mean, 1);
      const Values summed =
          ctx.CrossReplicaSum(std::vector<ir::Value>{mean * weight, variance * weight, weight});
      rows = rows ? summed[2] : rows;
      mean = summed[0] / ir::Max(summed[2], 1.0);
      variance = summed[1] / ir::Max(summed[2], 1.0);
    }
    const double momentum = options_.momentum;
    const auto follow = [&](ir::Value moving, ir::Value batch) {
      const ir::Value next = moving * momentum + batch * (1 - momentum);
      // Without a single real row there is nothing to follow.
      return rows ? ir::Select(ir::Gt(rows, 0.0), next, moving) : next;
    };
    ctx.Assign("moving_mean", follow(moving_mean, mean));
    ctx.Assign("moving_variance", follow(moving_variance, variance));
  }

  BatchNormalizationOptions options_;
};

class LayerNormalizationLayer : public Layer {
 public:
  explicit LayerNormalizationLayer(LayerNormalizationOptions options)
      : Layer(LayerNormalizationOptions::kType, options.common), options_(std::move(options)) {}

  bool autocast() const override { return false; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = Float32(inputs[0]);
    const ir::Dims axes = FeatureAxes(*this, x, options_.axis);
    if (axes == ir::Dims{x.rank() - 1} && options_.scale && options_.center) {
      const ir::Dims sizes = SizesOf(x, axes);
      // Keras's order of weights: gamma, beta.
      const ir::Value gamma =
          ctx.Float32Weight("gamma", sizes, options_.gamma_initializer, options_.gamma_regularizer);
      const ir::Value beta =
          ctx.Float32Weight("beta", sizes, options_.beta_initializer, options_.beta_regularizer);
      return {ir::LayerNormalization(Given(inputs[0]), gamma, beta, options_.epsilon,
                                     ctx.compute_dtype())};
    }
    const ir::Value y = Normalize(x, axes, options_.epsilon);
    return {
        ToCompute(ctx, ScaleAndCenter(ctx, options_, y, SizesOf(x, axes), BroadcastDims(x, axes)))};
  }

 private:
  LayerNormalizationOptions options_;
};

class GroupNormalizationLayer : public Layer {
 public:
  explicit GroupNormalizationLayer(GroupNormalizationOptions options)
      : Layer(GroupNormalizationOptions::kType, options.common), options_(std::move(options)) {}

  bool autocast() const override { return false; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = Float32(inputs[0]);
    const int64_t axis = FeatureAxis(*this, x, options_.axis);
    const int64_t channels = x.dim(axis);
    const int64_t groups = options_.groups == -1 ? channels : options_.groups;
    if (channels % groups != 0) {
      throw Invalid("{}: dimension {} of {} must divide into groups = {}", type(), axis, Shown(x),
                    groups);
    }
    // [.., channels, ..] -> [.., groups, channels / groups, ..], normalized over all but batch and
    // groups.
    ir::Dims split = x.dims();
    split[static_cast<size_t>(axis)] = groups;
    split.insert(split.begin() + axis + 1, channels / groups);
    ir::Dims axes;
    for (int64_t i = 1; i < static_cast<int64_t>(split.size()); ++i) {
      if (i != axis) axes.push_back(i);
    }
    const ir::Value normal = Normalize(ir::Reshape(x, split), axes, options_.epsilon);
    return {ToCompute(ctx, ScaleAndCenter(ctx, options_, ir::Reshape(normal, x.dims()), {channels},
                                          BroadcastDims(x, {axis})))};
  }

 private:
  GroupNormalizationOptions options_;
};

class RMSNormalizationLayer : public Layer {
 public:
  explicit RMSNormalizationLayer(RMSNormalizationOptions options)
      : Layer(RMSNormalizationOptions::kType, options.common), options_(std::move(options)) {}

  bool autocast() const override { return false; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = Float32(inputs[0]);
    const ir::Dims axes = FeatureAxes(*this, x, options_.axis);
    const ir::Value scale = ctx.Float32Weight("scale", SizesOf(x, axes), "ones");
    const ir::Value mean = ir::ReduceMean(ir::Square(x), axes, true);
    return {ToCompute(
        ctx, x * ir::Rsqrt(mean + options_.epsilon) * ir::Reshape(scale, BroadcastDims(x, axes)))};
  }

 private:
  RMSNormalizationOptions options_;
};

class UnitNormalizationLayer : public Layer {
 public:
  explicit UnitNormalizationLayer(UnitNormalizationOptions options)
      : Layer(UnitNormalizationOptions::kType, options.common), options_(std::move(options)) {}

  bool autocast() const override { return false; }
  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const ir::Value x = Float32(inputs[0]);
    return {ToCompute(ctx, L2Normalize(x, FeatureAxes(*this, x, options_.axis)))};
  }

 private:
  UnitNormalizationOptions options_;
};

void CheckEpsilon(std::string_view type, double epsilon) {
  if (!(epsilon > 0)) throw Invalid("{}: epsilon must be positive, found {}", type, epsilon);
}

void CheckAxes(std::string_view type, const std::vector<int64_t>& axis) {
  if (axis.empty()) throw Invalid("{}: axis must name at least one axis", type);
}

}  // namespace

LayerPtr BatchNormalization(BatchNormalizationOptions options) {
  CheckEpsilon("BatchNormalization", options.epsilon);
  CheckRate("BatchNormalization", "momentum", options.momentum, true);
  return std::make_shared<BatchNormalizationLayer>(std::move(options));
}

LayerPtr LayerNormalization(LayerNormalizationOptions options) {
  CheckEpsilon("LayerNormalization", options.epsilon);
  CheckAxes("LayerNormalization", options.axis);
  return std::make_shared<LayerNormalizationLayer>(std::move(options));
}

LayerPtr GroupNormalization(GroupNormalizationOptions options) {
  CheckEpsilon("GroupNormalization", options.epsilon);
  if (options.groups != -1) CheckPositive("GroupNormalization", "groups", options.groups);
  return std::make_shared<GroupNormalizationLayer>(std::move(options));
}

LayerPtr RMSNormalization(RMSNormalizationOptions options) {
  CheckEpsilon("RMSNormalization", options.epsilon);
  CheckAxes("RMSNormalization", options.axis);
  return std::make_shared<RMSNormalizationLayer>(std::move(options));
}

LayerPtr UnitNormalization(UnitNormalizationOptions options) {
  CheckAxes("UnitNormalization", options.axis);
  return std::make_shared<UnitNormalizationLayer>(std::move(options));
}

std::span<const LayerDef> NormalizationLayers() {
  static const std::vector<LayerDef> table = {
      MakeLayerDef<BatchNormalizationOptions, &BatchNormalization>("BatchNormalization"),
      MakeLayerDef<LayerNormalizationOptions, &LayerNormalization>("LayerNormalization"),
      MakeLayerDef<GroupNormalizationOptions, &GroupNormalization>("GroupNormalization"),
      MakeLayerDef<RMSNormalizationOptions, &RMSNormalization>("RMSNormalization"),
      MakeLayerDef<UnitNormalizationOptions, &UnitNormalization>("UnitNormalization"),
  };
  return table;
}

}  // namespace flatout::nn
