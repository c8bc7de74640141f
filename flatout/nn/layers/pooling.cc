#include "flatout/nn/layers/pooling.h"

#include <algorithm>

#include "flatout/ir/ops.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using Values = std::vector<ir::Value>;

struct PoolGeometry {
  std::vector<int64_t> size, strides;
  std::string padding;
};

template <typename Options>
PoolGeometry MakeGeometry(const Options& options, int rank) {
  if (options.pool_size.empty()) throw Invalid("{}: pool_size is missing", Options::kType);
  CheckOneOf(Options::kType, "padding", options.padding, {"valid", "same"});
  CheckChannelsLast(Options::kType, options.data_format);
  PoolGeometry geometry;
  geometry.size = PerDimension(Options::kType, "pool_size", options.pool_size, rank);
  geometry.strides = options.strides.empty()
                         ? geometry.size
                         : PerDimension(Options::kType, "strides", options.strides, rank);
  geometry.padding = options.padding;
  return geometry;
}

class PoolingLayer : public Layer {
 public:
  PoolingLayer(std::string_view type, CommonOptions common, PoolGeometry geometry, bool max)
      : Layer(type, std::move(common)), geometry_(std::move(geometry)), max_(max) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const size_t rank = geometry_.size.size();
    CheckRank(*this, inputs[0], static_cast<int64_t>(rank) + 2);
    const ir::Value x = ToCompute(ctx, inputs[0]);
    CheckWindowFits(*this, x, "pool_size", geometry_.padding, geometry_.size);
    ir::Window window;
    window.size = {1};
    window.strides = {1};
    window.padding = {0, 0};
    for (size_t i = 0; i < rank; ++i) {
      const auto [low, high] = WindowPadding(geometry_.padding, x.dim(static_cast<int64_t>(i) + 1),
                                             geometry_.size[i], geometry_.strides[i]);
      window.size.push_back(geometry_.size[i]);
      window.strides.push_back(geometry_.strides[i]);
      window.padding.push_back(low);
      window.padding.push_back(high);
    }
    window.size.push_back(1);
    window.strides.push_back(1);
    window.padding.push_back(0);
    window.padding.push_back(0);
    window.dilation.assign(rank + 2, 1);
    if (max_) return {ir::ReduceWindow(ir::Reduction::kMax, x, window)};
    const ir::Value sum =
        ir::ReduceWindow(ir::Reduction::kSum, ir::Convert(x, ir::DType::kF32), window);
    return {ToCompute(ctx, sum * Shares(x, sum, window))};
  }

 private:
  // 1 / number of cells of the input that each window holds, to be broadcast to the sums.
  static ir::Value Shares(ir::Value x, ir::Value sum, const ir::Window& window) {
    ir::Dims dims(sum.dims().size(), 1);
    std::vector<float> shares = {1};
    for (size_t i = 1; i + 1 < dims.size(); ++i) {
      const auto axis = static_cast<int64_t>(i);
      bool equal = true;
      std::vector<float> along;
      for (int64_t k = 0; k < sum.dim(axis); ++k) {
        const int64_t start = k * window.strides[i] - window.padding[2 * i];
        const int64_t cells =
            std::min(start + window.size[i], x.dim(axis)) - std::max<int64_t>(start, 0);
        along.push_back(1.0F / static_cast<float>(cells));
        equal = equal && along.back() == along.front();
      }
      if (equal) along.resize(1);
      dims[i] = static_cast<int64_t>(along.size());
      std::vector<float> next;
      for (const float before : shares) {
        for (const float here : along) next.push_back(before * here);
      }
      shares = std::move(next);
    }
    if (shares.size() == 1) return ir::ScalarLike(sum, shares[0]);
    return ir::ConstantF32(sum.graph(), dims, shares);
  }

  PoolGeometry geometry_;
  bool max_;
};

class GlobalPoolingLayer : public Layer {
 public:
  GlobalPoolingLayer(std::string_view type, CommonOptions common, int rank, bool max, bool keepdims)
      : Layer(type, std::move(common)), rank_(rank), max_(max), keepdims_(keepdims) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    CheckRank(*this, inputs[0], rank_ + 2);
    const ir::Value x = ToCompute(ctx, inputs[0]);
    ir::Dims axes;
    for (int64_t i = 1; i <= rank_; ++i) axes.push_back(i);
    if (max_) return {ir::ReduceMax(x, axes, keepdims_)};
    return {ToCompute(ctx, ir::ReduceMean(ir::Convert(x, ir::DType::kF32), axes, keepdims_))};
  }

 private:
  int64_t rank_;
  bool max_;
  bool keepdims_;
};

template <int kRank>
LayerPtr MakeMax(MaxPoolingOptions<kRank> options) {
  PoolGeometry geometry = MakeGeometry(options, kRank);
  return std::make_shared<PoolingLayer>(options.kType, std::move(options.common),
                                        std::move(geometry), true);
}

template <int kRank>
LayerPtr MakeAverage(AveragePoolingOptions<kRank> options) {
  PoolGeometry geometry = MakeGeometry(options, kRank);
  return std::make_shared<PoolingLayer>(options.kType, std::move(options.common),
                                        std::move(geometry), false);
}

template <int kRank, bool kMax>
LayerPtr MakeGlobal(GlobalPoolingOptions<kRank, kMax> options) {
  CheckChannelsLast(options.kType, options.data_format);
  return std::make_shared<GlobalPoolingLayer>(options.kType, std::move(options.common), kRank, kMax,
                                              options.keepdims);
}

}  // namespace

LayerPtr MaxPooling1D(MaxPooling1DOptions options) { return MakeMax(std::move(options)); }
LayerPtr MaxPooling2D(MaxPooling2DOptions options) { return MakeMax(std::move(options)); }
LayerPtr MaxPooling3D(MaxPooling3DOptions options) { return MakeMax(std::move(options)); }
LayerPtr AveragePooling1D(AveragePooling1DOptions options) {
  return MakeAverage(std::move(options));
}
LayerPtr AveragePooling2D(AveragePooling2DOptions options) {
  return MakeAverage(std::move(options));
}
LayerPtr AveragePooling3D(AveragePooling3DOptions options) {
  return MakeAverage(std::move(options));
}
LayerPtr GlobalMaxPooling1D(GlobalMaxPooling1DOptions options) {
  return MakeGlobal(std::move(options));
}
LayerPtr GlobalMaxPooling2D(GlobalMaxPooling2DOptions options) {
  return MakeGlobal(std::move(options));
}
LayerPtr GlobalMaxPooling3D(GlobalMaxPooling3DOptions options) {
  return MakeGlobal(std::move(options));
}
LayerPtr GlobalAveragePooling1D(GlobalAveragePooling1DOptions options) {
  return MakeGlobal(std::move(options));
}
LayerPtr GlobalAveragePooling2D(GlobalAveragePooling2DOptions options) {
  return MakeGlobal(std::move(options));
}
LayerPtr GlobalAveragePooling3D(GlobalAveragePooling3DOptions options) {
  return MakeGlobal(std::move(options));
}

std::span<const LayerDef> PoolingLayers() {
  static const std::vector<LayerDef> table = {
      MakeLayerDef<MaxPooling1DOptions, &MaxPooling1D>("MaxPooling1D"),
      MakeLayerDef<MaxPooling2DOptions, &MaxPooling2D>("MaxPooling2D"),
      MakeLayerDef<MaxPooling3DOptions, &MaxPooling3D>("MaxPooling3D"),
      MakeLayerDef<AveragePooling1DOptions, &AveragePooling1D>("AveragePooling1D"),
      MakeLayerDef<AveragePooling2DOptions, &AveragePooling2D>("AveragePooling2D"),
      MakeLayerDef<AveragePooling3DOptions, &AveragePooling3D>("AveragePooling3D"),
      MakeLayerDef<GlobalMaxPooling1DOptions, &GlobalMaxPooling1D>("GlobalMaxPooling1D"),
      MakeLayerDef<GlobalMaxPooling2DOptions, &GlobalMaxPooling2D>("GlobalMaxPooling2D"),
      MakeLayerDef<GlobalMaxPooling3DOptions, &GlobalMaxPooling3D>("GlobalMaxPooling3D"),
      MakeLayerDef<GlobalAveragePooling1DOptions, &GlobalAveragePooling1D>(
          "GlobalAveragePooling1D"),
      MakeLayerDef<GlobalAveragePooling2DOptions, &GlobalAveragePooling2D>(
          "GlobalAveragePooling2D"),
      MakeLayerDef<GlobalAveragePooling3DOptions, &GlobalAveragePooling3D>(
          "GlobalAveragePooling3D"),
  };
  return table;
}

}  // namespace flatout::nn
