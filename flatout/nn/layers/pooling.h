// Pooling over windows and over whole images. Inputs are [batch, spatial..., channels].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flatout/nn/layer.h"
#include "flatout/nn/layers/convolution.h"

namespace flatout::nn {

// The largest of each window. Padding counts as minus infinity. strides default to pool_size.
template <int kRank>
struct MaxPoolingOptions {
  static constexpr std::string_view kType =
      OfRank(kRank, "MaxPooling1D", "MaxPooling2D", "MaxPooling3D");
  std::vector<int64_t> pool_size = {2};
  std::vector<int64_t> strides;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("pool_size", pool_size);
    v("strides", strides);
    v("padding", padding);
    v("data_format", data_format);
    common.Visit(v);
  }
};
// The mean of each window; with padding "same" only cells inside the input count.
template <int kRank>
struct AveragePoolingOptions {
  static constexpr std::string_view kType =
      OfRank(kRank, "AveragePooling1D", "AveragePooling2D", "AveragePooling3D");
  std::vector<int64_t> pool_size;
  std::vector<int64_t> strides;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("pool_size", pool_size);
    v("strides", strides);
    v("padding", padding);
    v("data_format", data_format);
    common.Visit(v);
  }
};
// The largest (mean) over all spatial dimensions: [batch, channels], or [batch, 1..., channels]
// with keepdims.
template <int kRank, bool kMax>
struct GlobalPoolingOptions {
  static constexpr std::string_view kType =
      kMax ? OfRank(kRank, "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D")
           : OfRank(kRank, "GlobalAveragePooling1D", "GlobalAveragePooling2D",
                    "GlobalAveragePooling3D");
  std::string data_format = "channels_last";
  bool keepdims = false;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("data_format", data_format);
    v("keepdims", keepdims);
    common.Visit(v);
  }
};

using MaxPooling1DOptions = MaxPoolingOptions<1>;
using MaxPooling2DOptions = MaxPoolingOptions<2>;
using MaxPooling3DOptions = MaxPoolingOptions<3>;
LayerPtr MaxPooling1D(MaxPooling1DOptions options = {});
LayerPtr MaxPooling2D(MaxPooling2DOptions options = {});
LayerPtr MaxPooling3D(MaxPooling3DOptions options = {});

using AveragePooling1DOptions = AveragePoolingOptions<1>;
using AveragePooling2DOptions = AveragePoolingOptions<2>;
using AveragePooling3DOptions = AveragePoolingOptions<3>;
LayerPtr AveragePooling1D(AveragePooling1DOptions options);
LayerPtr AveragePooling2D(AveragePooling2DOptions options);
LayerPtr AveragePooling3D(AveragePooling3DOptions options);

using GlobalMaxPooling1DOptions = GlobalPoolingOptions<1, true>;
using GlobalMaxPooling2DOptions = GlobalPoolingOptions<2, true>;
using GlobalMaxPooling3DOptions = GlobalPoolingOptions<3, true>;
LayerPtr GlobalMaxPooling1D(GlobalMaxPooling1DOptions options = {});
LayerPtr GlobalMaxPooling2D(GlobalMaxPooling2DOptions options = {});
LayerPtr GlobalMaxPooling3D(GlobalMaxPooling3DOptions options = {});

using GlobalAveragePooling1DOptions = GlobalPoolingOptions<1, false>;
using GlobalAveragePooling2DOptions = GlobalPoolingOptions<2, false>;
using GlobalAveragePooling3DOptions = GlobalPoolingOptions<3, false>;
LayerPtr GlobalAveragePooling1D(GlobalAveragePooling1DOptions options = {});
LayerPtr GlobalAveragePooling2D(GlobalAveragePooling2DOptions options = {});
LayerPtr GlobalAveragePooling3D(GlobalAveragePooling3DOptions options = {});

}  // namespace flatout::nn
