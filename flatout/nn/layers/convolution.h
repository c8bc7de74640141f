// Convolutions over one, two and three spatial dimensions.
//
// Inputs are [batch, spatial..., channels]. kernel_size, strides and dilation_rate take one number
// for all spatial dimensions or one for each. padding "same" is TensorFlow's: as many outputs as
// ceil(input / stride), the odd cell of padding goes to the high end. "causal" (one dimension only)
// pads at the low end, so that output t sees no input after t.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flatout/nn/initializer.h"
#include "flatout/nn/layer.h"

namespace flatout::nn {

// The name for 1, 2 or 3 spatial dimensions.
constexpr std::string_view OfRank(int rank, std::string_view one, std::string_view two,
                                  std::string_view three) {
  return rank == 1 ? one : rank == 2 ? two : three;
}

// Weights kernel [spatial..., channels / groups, filters], bias [filters].
template <int kRank>
struct ConvOptions {
  static constexpr std::string_view kType = OfRank(kRank, "Conv1D", "Conv2D", "Conv3D");
  int64_t filters = 0;
  std::vector<int64_t> kernel_size;
  std::vector<int64_t> strides = {1};
  std::string padding = "valid";
  std::string data_format = "channels_last";
  std::vector<int64_t> dilation_rate = {1};
  int64_t groups = 1;
  std::string activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer, bias_regularizer, activity_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("filters", filters);
    v.Required("kernel_size", kernel_size);
    v("strides", strides);
    v("padding", padding);
    v("data_format", data_format);
    v("dilation_rate", dilation_rate);
    v("groups", groups);
    v("activation", activation);
    v("use_bias", use_bias);
    v("kernel_initializer", kernel_initializer);
    v("bias_initializer", bias_initializer);
    v("kernel_regularizer", kernel_regularizer);
    v("bias_regularizer", bias_regularizer);
    v("activity_regularizer", activity_regularizer);
    common.Visit(v);
  }
};
using Conv1DOptions = ConvOptions<1>;
using Conv2DOptions = ConvOptions<2>;
using Conv3DOptions = ConvOptions<3>;
LayerPtr Conv1D(Conv1DOptions options);
LayerPtr Conv2D(Conv2DOptions options);
LayerPtr Conv3D(Conv3DOptions options);

// Each channel is convolved by itself, giving depth_multiplier channels. Weights kernel
// [spatial..., channels, depth_multiplier], bias [channels * depth_multiplier].
template <int kRank>
struct DepthwiseConvOptions {
  static constexpr std::string_view kType =
      OfRank(kRank, "DepthwiseConv1D", "DepthwiseConv2D", "DepthwiseConv3D");
  std::vector<int64_t> kernel_size;
  std::vector<int64_t> strides = {1};
  std::string padding = "valid";
  int64_t depth_multiplier = 1;
  std::string data_format = "channels_last";
  std::vector<int64_t> dilation_rate = {1};
  std::string activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer, bias_regularizer, activity_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("kernel_size", kernel_size);
    v("strides", strides);
    v("padding", padding);
    v("depth_multiplier", depth_multiplier);
    v("data_format", data_format);
    v("dilation_rate", dilation_rate);
    v("activation", activation);
    v("use_bias", use_bias);
    v("depthwise_initializer", depthwise_initializer);
    v("bias_initializer", bias_initializer);
    v("depthwise_regularizer", depthwise_regularizer);
    v("bias_regularizer", bias_regularizer);
    v("activity_regularizer", activity_regularizer);
    common.Visit(v);
  }
};
using DepthwiseConv1DOptions = DepthwiseConvOptions<1>;
using DepthwiseConv2DOptions = DepthwiseConvOptions<2>;
LayerPtr DepthwiseConv1D(DepthwiseConv1DOptions options);
LayerPtr DepthwiseConv2D(DepthwiseConv2DOptions options);

// A depthwise convolution, then a 1x1 one that mixes the channels. Weights depthwise_kernel
// [spatial..., channels, depth_multiplier], pointwise_kernel [1..., channels * depth_multiplier,
// filters], bias [filters].
template <int kRank>
struct SeparableConvOptions {
  static constexpr std::string_view kType =
      OfRank(kRank, "SeparableConv1D", "SeparableConv2D", "SeparableConv3D");
  int64_t filters = 0;
  std::vector<int64_t> kernel_size;
  std::vector<int64_t> strides = {1};
  std::string padding = "valid";
  std::string data_format = "channels_last";
  std::vector<int64_t> dilation_rate = {1};
  int64_t depth_multiplier = 1;
  std::string activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("filters", filters);
    v.Required("kernel_size", kernel_size);
    v("strides", strides);
    v("padding", padding);
    v("data_format", data_format);
    v("dilation_rate", dilation_rate);
    v("depth_multiplier", depth_multiplier);
    v("activation", activation);
    v("use_bias", use_bias);
    v("depthwise_initializer", depthwise_initializer);
    v("pointwise_initializer", pointwise_initializer);
    v("bias_initializer", bias_initializer);
    v("depthwise_regularizer", depthwise_regularizer);
    v("pointwise_regularizer", pointwise_regularizer);
    v("bias_regularizer", bias_regularizer);
    v("activity_regularizer", activity_regularizer);
    common.Visit(v);
  }
};
using SeparableConv1DOptions = SeparableConvOptions<1>;
using SeparableConv2DOptions = SeparableConvOptions<2>;
LayerPtr SeparableConv1D(SeparableConv1DOptions options);
LayerPtr SeparableConv2D(SeparableConv2DOptions options);

// The gradient of a convolution by its input, as a layer: strides enlarge. Output sizes are
// Keras's: "valid" (n - 1) stride + max(kernel, stride), or + kernel + output_padding where that is
// given; "same" n * stride, or (n - 1) stride + kernel % 2 + output_padding. Weights kernel
// [spatial..., filters, channels], bias [filters].
template <int kRank>
struct ConvTransposeOptions {
  static constexpr std::string_view kType =
      OfRank(kRank, "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose");
  int64_t filters = 0;
  std::vector<int64_t> kernel_size;
  std::vector<int64_t> strides = {1};
  std::string padding = "valid";
  std::vector<int64_t> output_padding;  // empty: Keras's None
  std::string data_format = "channels_last";
  std::vector<int64_t> dilation_rate = {1};
  std::string activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer, bias_regularizer, activity_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("filters", filters);
    v.Required("kernel_size", kernel_size);
    v("strides", strides);
    v("padding", padding);
    v("output_padding", output_padding);
    v("data_format", data_format);
    v("dilation_rate", dilation_rate);
    v("activation", activation);
    v("use_bias", use_bias);
    v("kernel_initializer", kernel_initializer);
    v("bias_initializer", bias_initializer);
    v("kernel_regularizer", kernel_regularizer);
    v("bias_regularizer", bias_regularizer);
    v("activity_regularizer", activity_regularizer);
    common.Visit(v);
  }
};
using Conv1DTransposeOptions = ConvTransposeOptions<1>;
using Conv2DTransposeOptions = ConvTransposeOptions<2>;
using Conv3DTransposeOptions = ConvTransposeOptions<3>;
LayerPtr Conv1DTranspose(Conv1DTransposeOptions options);
LayerPtr Conv2DTranspose(Conv2DTransposeOptions options);
LayerPtr Conv3DTranspose(Conv3DTransposeOptions options);

}  // namespace flatout::nn
