#include "flatout/nn/layers/reshaping.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "flatout/ir/ops.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using Values = std::vector<ir::Value>;

class FlattenLayer : public Layer {
 public:
  explicit FlattenLayer(FlattenOptions options)
      : Layer(FlattenOptions::kType, std::move(options.common)) {}

  Values Call(Context&, std::span<const ir::Value> inputs) const override {
    const ir::Value x = inputs[0];
    return {ir::Reshape(x, {x.dim(0), x.shape().size() / x.dim(0)})};
  }
};

class ReshapeLayer : public Layer {
 public:
  explicit ReshapeLayer(ReshapeOptions options)
      : Layer(ReshapeOptions::kType, options.common), options_(std::move(options)) {}

  Values Call(Context&, std::span<const ir::Value> inputs) const override {
    const ir::Value x = inputs[0];
    const int64_t size = x.shape().size() / x.dim(0);
    int64_t known = 1;
    bool infer = false;
    for (const int64_t dim : options_.target_shape) {
      if (dim == -1) {
        infer = true;
      } else {
        known *= dim;
      }
    }
    if (infer ? size % known != 0 : size != known) {
      throw Invalid("Reshape: target_shape {} does not hold the {} elements of a row of {}",
                    ir::DimsToString(options_.target_shape), size, Shown(x));
    }
    ir::Dims dims = {x.dim(0)};
    for (const int64_t dim : options_.target_shape) dims.push_back(dim == -1 ? size / known : dim);
    return {ir::Reshape(x, dims)};
  }

 private:
  ReshapeOptions options_;
};

class PermuteLayer : public Layer {
 public:
  explicit PermuteLayer(PermuteOptions options)
      : Layer(PermuteOptions::kType, options.common), options_(std::move(options)) {}

  Values Call(Context&, std::span<const ir::Value> inputs) const override {
    CheckRank(*this, inputs[0], static_cast<int64_t>(options_.dims.size()) + 1);
    ir::Dims permutation = options_.dims;
    permutation.insert(permutation.begin(), 0);
    return {ir::Transpose(inputs[0], permutation)};
  }

 private:
  PermuteOptions options_;
};

class RepeatVectorLayer : public Layer {
 public:
  explicit RepeatVectorLayer(RepeatVectorOptions options)
      : Layer(RepeatVectorOptions::kType, options.common), options_(std::move(options)) {}

  Values Call(Context&, std::span<const ir::Value> inputs) const override {
    const ir::Value x = inputs[0];
    CheckRank(*this, x, 2);
    return {ir::BroadcastInDim(x, {x.dim(0), options_.n, x.dim(1)}, {0, 2})};
  }

 private:
  RepeatVectorOptions options_;
};

// {low, high} of each spatial dimension.
using Amounts = std::vector<std::pair<int64_t, int64_t>>;

Amounts ReadAmounts(std::string_view type, std::string_view argument, const SpatialAmounts& given,
                    int rank) {
  const auto complain = [&] {
    std::string found;
    for (const auto& part : given) found += (found.empty() ? "" : ",") + ir::DimsToString(part);
    return Invalid("{}: {} must be one number, {}, none of them negative; found [{}]", type,
                   argument,
                   rank == 1 ? "or [low, high]"
                             : "one for each dimension, or [low, high] "
                               "for each dimension",
                   found);
  };
  Amounts result;
  for (const auto& part : given) {
    if (part.empty() || part.size() > 2) throw complain();
    result.emplace_back(part.front(), part.back());
  }
  if (rank == 1 && given.size() == 2 && given[0].size() == 1 && given[1].size() == 1) {
    result = {{given[0][0], given[1][0]}};
  }
  if (result.size() == 1) result.assign(static_cast<size_t>(rank), result[0]);
  if (static_cast<int>(result.size()) != rank) throw complain();
  for (const auto& [low, high] : result) {
    if (low < 0 || high < 0) throw complain();
    if (std::max(low, high) > kMostSize) {
      throw Invalid("{}: {} must be at most {}, found {}", type, argument, kMostSize,
                    std::max(low, high));
    }
  }
  return result;
}

// Pads by the amounts times `sign`: cropping is padding by less than nothing.
ir::Value PadSpatial(ir::Value x, const Amounts& amounts, int64_t sign) {
  ir::Dims low(x.dims().size(), 0), high = low;
  const ir::Dims interior = low;
  for (size_t i = 0; i < amounts.size(); ++i) {
    low[i + 1] = sign * amounts[i].first;
    high[i + 1] = sign * amounts[i].second;
  }
  return ir::Pad(x, 0, low, high, interior);
}

class ZeroPaddingLayer : public Layer {
 public:
  ZeroPaddingLayer(std::string_view type, CommonOptions common, Amounts amounts)
      : Layer(type, std::move(common)), amounts_(std::move(amounts)) {}

  Values Call(Context&, std::span<const ir::Value> inputs) const override {
    CheckRank(*this, inputs[0], static_cast<int64_t>(amounts_.size()) + 2);
    return {PadSpatial(inputs[0], amounts_, 1)};
  }

 private:
  Amounts amounts_;
};

class CroppingLayer : public Layer {
 public:
  CroppingLayer(std::string_view type, CommonOptions common, Amounts amounts)
      : Layer(type, std::move(common)), amounts_(std::move(amounts)) {}

  Values Call(Context&, std::span<const ir::Value> inputs) const override {
    const ir::Value x = inputs[0];
    CheckRank(*this, x, static_cast<int64_t>(amounts_.size()) + 2);
    ir::Dims start(x.dims().size(), 0), limit = x.dims();
    const ir::Dims strides(x.dims().size(), 1);
    for (size_t i = 0; i < amounts_.size(); ++i) {
      start[i + 1] = amounts_[i].first;
      limit[i + 1] -= amounts_[i].second;
      if (start[i + 1] >= limit[i + 1]) {
        throw Invalid("{}: cropping {} and {} cells leaves nothing of dimension {} of {}", type(),
                      amounts_[i].first, amounts_[i].second, i + 1, Shown(x));
      }
    }
    return {ir::Slice(x, start, limit, strides)};
  }

 private:
  Amounts amounts_;
};

// Repeats each index of `axis` `times` times.
ir::Value RepeatAxis(ir::Value x, int64_t axis, int64_t times) {
  if (times == 1) return x;
  ir::Dims wide = x.dims();
  wide.insert(wide.begin() + axis + 1, times);
  ir::Dims from;
  for (int64_t i = 0; i < x.rank(); ++i) from.push_back(i <= axis ? i : i + 1);
  ir::Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] *= times;
  return ir::Reshape(ir::BroadcastInDim(x, wide, from), dims);
}

// Linear interpolation along `axis` to `times` as many cells, as a product with a fixed matrix.
ir::Value InterpolateAxis(ir::Value x, int64_t axis, int64_t times) {
  if (times == 1) return x;
  const int64_t from = x.dim(axis);
  const int64_t to = from * times;
  std::vector<float> matrix(static_cast<size_t>(to * from), 0);
  for (int64_t i = 0; i < to; ++i) {
    const double at = std::clamp((static_cast<double>(i) + 0.5) / static_cast<double>(times) - 0.5,
                                 0.0, static_cast<double>(from - 1));
    const auto low = static_cast<int64_t>(std::floor(at));
    const int64_t high = std::min(low + 1, from - 1);
    const double share = at - static_cast<double>(low);
    matrix[static_cast<size_t>(i * from + low)] += static_cast<float>(1 - share);
    matrix[static_cast<size_t>(i * from + high)] += static_cast<float>(share);
  }
  ir::DotDims contract;
  contract.lhs_contract = {axis};
  contract.rhs_contract = {1};
  const ir::Value weights = ir::Convert(ir::ConstantF32(x.graph(), {to, from}, matrix), x.dtype());
  // The product puts the new cells last: bring them back to their place.
  const ir::Value y = ir::DotGeneral(x, weights, contract);
  ir::Dims permutation;
  for (int64_t i = 0; i < x.rank(); ++i) {
    permutation.push_back(i < axis ? i : i == axis ? x.rank() - 1 : i - 1);
  }
  return ir::Transpose(y, permutation);
}

class UpSamplingLayer : public Layer {
 public:
  UpSamplingLayer(std::string_view type, CommonOptions common, std::vector<int64_t> size,
                  bool bilinear)
      : Layer(type, std::move(common)), size_(std::move(size)), bilinear_(bilinear) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    CheckRank(*this, inputs[0], static_cast<int64_t>(size_.size()) + 2);
    ir::Value x = bilinear_ ? ToCompute(ctx, inputs[0]) : inputs[0];
    for (size_t i = 0; i < size_.size(); ++i) {
      const auto axis = static_cast<int64_t>(i) + 1;
      x = bilinear_ ? InterpolateAxis(x, axis, size_[i]) : RepeatAxis(x, axis, size_[i]);
    }
    return {x};
  }

 private:
  std::vector<int64_t> size_;
  bool bilinear_;
};

template <int kRank>
LayerPtr MakeZeroPadding(ZeroPaddingOptions<kRank> options) {
  CheckChannelsLast(options.kType, options.data_format);
  Amounts amounts = ReadAmounts(options.kType, "padding", options.padding, kRank);
  return std::make_shared<ZeroPaddingLayer>(options.kType, std::move(options.common),
                                            std::move(amounts));
}

template <int kRank>
LayerPtr MakeCropping(CroppingOptions<kRank> options) {
  CheckChannelsLast(options.kType, options.data_format);
  Amounts amounts = ReadAmounts(options.kType, "cropping", options.cropping, kRank);
  return std::make_shared<CroppingLayer>(options.kType, std::move(options.common),
                                         std::move(amounts));
}

template <int kRank>
LayerPtr MakeUpSampling(UpSamplingOptions<kRank> options) {
  CheckChannelsLast(options.kType, options.data_format);
  CheckOneOf(options.kType, "interpolation", options.interpolation, {"nearest", "bilinear"});
  std::vector<int64_t> size = PerDimension(options.kType, "size", options.size, kRank);
  return std::make_shared<UpSamplingLayer>(options.kType, std::move(options.common),
                                           std::move(size), options.interpolation == "bilinear");
}

}  // namespace

LayerPtr Flatten(FlattenOptions options) {
  CheckChannelsLast("Flatten", options.data_format);
  return std::make_shared<FlattenLayer>(std::move(options));
}

LayerPtr Reshape(ReshapeOptions options) {
  const std::vector<int64_t>& shape = options.target_shape;
  if (std::count(shape.begin(), shape.end(), -1) > 1) {
    throw Invalid("Reshape: target_shape may hold one -1, found {}", ir::DimsToString(shape));
  }
  for (const int64_t dim : shape) {
    if (dim != -1 && dim <= 0) {
      throw Invalid("Reshape: target_shape must hold positive sizes or one -1, found {}",
                    ir::DimsToString(shape));
    }
  }
  return std::make_shared<ReshapeLayer>(std::move(options));
}

LayerPtr Permute(PermuteOptions options) {
  std::vector<int64_t> sorted = options.dims;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> expected(sorted.size());
  std::iota(expected.begin(), expected.end(), 1);
  if (sorted.empty() || sorted != expected) {
    throw Invalid("Permute: dims must hold each of 1..{} once (the batch is not counted), found {}",
                  options.dims.size(), ir::DimsToString(options.dims));
  }
  return std::make_shared<PermuteLayer>(std::move(options));
}

LayerPtr RepeatVector(RepeatVectorOptions options) {
  CheckPositive("RepeatVector", "n", options.n);
  return std::make_shared<RepeatVectorLayer>(std::move(options));
}

LayerPtr ZeroPadding1D(ZeroPadding1DOptions options) { return MakeZeroPadding(std::move(options)); }
LayerPtr ZeroPadding2D(ZeroPadding2DOptions options) { return MakeZeroPadding(std::move(options)); }
LayerPtr ZeroPadding3D(ZeroPadding3DOptions options) { return MakeZeroPadding(std::move(options)); }
LayerPtr Cropping1D(Cropping1DOptions options) { return MakeCropping(std::move(options)); }
LayerPtr Cropping2D(Cropping2DOptions options) { return MakeCropping(std::move(options)); }
LayerPtr Cropping3D(Cropping3DOptions options) { return MakeCropping(std::move(options)); }
LayerPtr UpSampling1D(UpSampling1DOptions options) { return MakeUpSampling(std::move(options)); }
LayerPtr UpSampling2D(UpSampling2DOptions options) { return MakeUpSampling(std::move(options)); }
LayerPtr UpSampling3D(UpSampling3DOptions options) { return MakeUpSampling(std::move(options)); }

std::span<const LayerDef> ReshapingLayers() {
  static const std::vector<LayerDef> table = {
      MakeLayerDef<FlattenOptions, &Flatten>("Flatten"),
      MakeLayerDef<ReshapeOptions, &Reshape>("Reshape"),
      MakeLayerDef<PermuteOptions, &Permute>("Permute"),
      MakeLayerDef<RepeatVectorOptions, &RepeatVector>("RepeatVector"),
      MakeLayerDef<ZeroPadding1DOptions, &ZeroPadding1D>("ZeroPadding1D"),
      MakeLayerDef<ZeroPadding2DOptions, &ZeroPadding2D>("ZeroPadding2D"),
      MakeLayerDef<ZeroPadding3DOptions, &ZeroPadding3D>("ZeroPadding3D"),
      MakeLayerDef<Cropping1DOptions, &Cropping1D>("Cropping1D"),
      MakeLayerDef<Cropping2DOptions, &Cropping2D>("Cropping2D"),
      MakeLayerDef<Cropping3DOptions, &Cropping3D>("Cropping3D"),
      MakeLayerDef<UpSampling1DOptions, &UpSampling1D>("UpSampling1D"),
      MakeLayerDef<UpSampling2DOptions, &UpSampling2D>("UpSampling2D"),
      MakeLayerDef<UpSampling3DOptions, &UpSampling3D>("UpSampling3D"),
  };
  return table;
}

}  // namespace flatout::nn
