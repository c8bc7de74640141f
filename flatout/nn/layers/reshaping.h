// Layers that move, repeat, pad or cut elements. Spatial ones take [batch, spatial..., channels].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flatout/nn/layer.h"
#include "flatout/nn/layers/convolution.h"

namespace flatout::nn {

// [batch, ...] -> [batch, product of the others].
struct FlattenOptions {
  static constexpr std::string_view kType = "Flatten";
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("data_format", data_format);
    common.Visit(v);
  }
};
LayerPtr Flatten(FlattenOptions options = {});

// target_shape is without the batch; one -1 is worked out.
struct ReshapeOptions {
  static constexpr std::string_view kType = "Reshape";
  std::vector<int64_t> target_shape;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("target_shape", target_shape);
    common.Visit(v);
  }
};
LayerPtr Reshape(ReshapeOptions options);

// dims counts from 1: {2, 1} swaps the first two dimensions after the batch.
struct PermuteOptions {
  static constexpr std::string_view kType = "Permute";
  std::vector<int64_t> dims;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("dims", dims);
    common.Visit(v);
  }
};
LayerPtr Permute(PermuteOptions options);

// [batch, features] -> [batch, n, features].
struct RepeatVectorOptions {
  static constexpr std::string_view kType = "RepeatVector";
  int64_t n = 0;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("n", n);
    common.Visit(v);
  }
};
LayerPtr RepeatVector(RepeatVectorOptions options);

// How many cells at the low and high end of each spatial dimension: one number for all, one for
// each dimension, or {low, high} for each. In one dimension {low, high} as it is.
using SpatialAmounts = std::vector<std::vector<int64_t>>;

template <int kRank>
struct ZeroPaddingOptions {
  static constexpr std::string_view kType =
      OfRank(kRank, "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D");
  SpatialAmounts padding = {{1}};
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("padding", padding);
    v("data_format", data_format);
    common.Visit(v);
  }
};
using ZeroPadding1DOptions = ZeroPaddingOptions<1>;
using ZeroPadding2DOptions = ZeroPaddingOptions<2>;
using ZeroPadding3DOptions = ZeroPaddingOptions<3>;
LayerPtr ZeroPadding1D(ZeroPadding1DOptions options = {});
LayerPtr ZeroPadding2D(ZeroPadding2DOptions options = {});
LayerPtr ZeroPadding3D(ZeroPadding3DOptions options = {});

template <int kRank>
struct CroppingOptions {
  static constexpr std::string_view kType = OfRank(kRank, "Cropping1D", "Cropping2D", "Cropping3D");
  // Keras's defaults: one cell from each end of a sequence or a volume, nothing from an image.
  SpatialAmounts cropping = {{kRank == 2 ? 0 : 1}};
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("cropping", cropping);
    if constexpr (kRank > 1) v("data_format", data_format);
    common.Visit(v);
  }
};
using Cropping1DOptions = CroppingOptions<1>;
using Cropping2DOptions = CroppingOptions<2>;
using Cropping3DOptions = CroppingOptions<3>;
LayerPtr Cropping1D(Cropping1DOptions options = {});
LayerPtr Cropping2D(Cropping2DOptions options = {});
LayerPtr Cropping3D(Cropping3DOptions options = {});

// Each cell becomes `size` cells: repeated ("nearest") or, for images, between the centres of the
// old ones ("bilinear", half-pixel centres, edges clamped).
template <int kRank>
struct UpSamplingOptions {
  static constexpr std::string_view kType =
      OfRank(kRank, "UpSampling1D", "UpSampling2D", "UpSampling3D");
  std::vector<int64_t> size = {2};
  std::string data_format = "channels_last";
  std::string interpolation = "nearest";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("size", size);
    if constexpr (kRank > 1) v("data_format", data_format);
    if constexpr (kRank == 2) v("interpolation", interpolation);
    common.Visit(v);
  }
};
using UpSampling1DOptions = UpSamplingOptions<1>;
using UpSampling2DOptions = UpSamplingOptions<2>;
using UpSampling3DOptions = UpSamplingOptions<3>;
LayerPtr UpSampling1D(UpSampling1DOptions options = {});
LayerPtr UpSampling2D(UpSampling2DOptions options = {});
LayerPtr UpSampling3D(UpSampling3DOptions options = {});

}  // namespace flatout::nn
