#include "flatout/nn/layers/convolution.h"

#include <algorithm>

#include "flatout/ir/ops.h"
#include "flatout/nn/activation.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using Values = std::vector<ir::Value>;

// "b01f_01io->b01f" for two dimensions; `kernel_features` is "io" or "oi".
std::string Layout(int rank, std::string_view kernel_features) {
  std::string spatial;
  for (int i = 0; i < rank; ++i) spatial += static_cast<char>('0' + i);
  return "b" + spatial + "f_" + spatial + std::string(kernel_features) + "->b" + spatial + "f";
}

// The arguments all kinds share, one number per dimension.
struct Geometry {
  std::vector<int64_t> kernel, strides, dilation;
  std::string padding;

  // Extent of the kernel in dimension i.
  int64_t window(size_t i) const { return (kernel[i] - 1) * dilation[i] + 1; }
  std::vector<int64_t> windows() const {
    std::vector<int64_t> result;
    for (size_t i = 0; i < kernel.size(); ++i) result.push_back(window(i));
    return result;
  }
};

template <typename Options>
Geometry MakeGeometry(const Options& options, int rank, const std::vector<std::string>& paddings) {
  constexpr std::string_view kType = Options::kType;
  if (options.kernel_size.empty()) throw Invalid("{}: kernel_size is missing", kType);
  CheckOneOf(kType, "padding", options.padding, paddings);
  CheckChannelsLast(kType, options.data_format);
  CheckActivation(options.activation);
  return {.kernel = PerDimension(kType, "kernel_size", options.kernel_size, rank),
          .strides = PerDimension(kType, "strides", options.strides, rank),
          .dilation = PerDimension(kType, "dilation_rate", options.dilation_rate, rank),
          .padding = options.padding};
}

ir::Value Convolve(const Layer& layer, ir::Value x, ir::Value kernel, const Geometry& geometry,
                   int64_t groups) {
  CheckWindowFits(layer, x, "kernel_size", geometry.padding, geometry.windows());
  ir::ConvolutionDims dims;
  const size_t rank = geometry.kernel.size();
  dims.layout = Layout(static_cast<int>(rank), "io");
  dims.strides = geometry.strides;
  dims.lhs_dilation.assign(rank, 1);
  dims.rhs_dilation = geometry.dilation;
  dims.feature_group_count = groups;
  for (size_t i = 0; i < rank; ++i) {
    const auto [low, high] = WindowPadding(geometry.padding, x.dim(static_cast<int64_t>(i) + 1),
                                           geometry.window(i), geometry.strides[i]);
    dims.padding.push_back(low);
    dims.padding.push_back(high);
  }
  return ir::Convolution(x, kernel, dims);
}

// Kernel [spatial..., channels, multiplier] seen as one of `channels` groups.
ir::Value ConvolveDepthwise(const Layer& layer, ir::Value x, ir::Value kernel,
                            const Geometry& geometry) {
  ir::Dims dims = geometry.kernel;
  const int64_t channels = kernel.dim(-2);
  dims.push_back(1);
  dims.push_back(channels * kernel.dim(-1));
  return Convolve(layer, x, ir::Reshape(kernel, dims), geometry, channels);
}

// Bias, activation and activity penalty.
template <typename Options>
Values Finish(Context& ctx, const Options& options, ir::Value y) {
  if (options.use_bias) {
    y = y + ctx.Weight("bias", {y.dim(-1)}, options.bias_initializer, options.bias_regularizer);
  }
  y = Activate(options.activation, y);
  AddActivityPenalty(ctx, options.activity_regularizer, y);
  return {y};
}

template <int kRank>
class ConvLayer : public Layer {
 public:
  ConvLayer(ConvOptions<kRank> options, Geometry geometry)
      : Layer(options.kType, options.common),
        options_(std::move(options)),
        geometry_(std::move(geometry)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    CheckRank(*this, inputs[0], kRank + 2);
    const ir::Value x = ToCompute(ctx, inputs[0]);
    if (x.dim(-1) % options_.groups != 0) {
      throw Invalid("{}: the input's channels must divide into groups = {}, found {}", type(),
                    options_.groups, Shown(x));
    }
    ir::Dims dims = geometry_.kernel;
    dims.push_back(x.dim(-1) / options_.groups);
    dims.push_back(options_.filters);
    const ir::Value kernel =
        ctx.Weight("kernel", dims, options_.kernel_initializer, options_.kernel_regularizer);
    return Finish(ctx, options_, Convolve(*this, x, kernel, geometry_, options_.groups));
  }

 private:
  ConvOptions<kRank> options_;
  Geometry geometry_;
};

template <int kRank>
class DepthwiseConvLayer : public Layer {
 public:
  DepthwiseConvLayer(DepthwiseConvOptions<kRank> options, Geometry geometry)
      : Layer(options.kType, options.common),
        options_(std::move(options)),
        geometry_(std::move(geometry)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    CheckRank(*this, inputs[0], kRank + 2);
    const ir::Value x = ToCompute(ctx, inputs[0]);
    ir::Dims dims = geometry_.kernel;
    dims.push_back(x.dim(-1));
    dims.push_back(options_.depth_multiplier);
    const ir::Value kernel =
        ctx.Weight("kernel", dims, options_.depthwise_initializer, options_.depthwise_regularizer);
    return Finish(ctx, options_, ConvolveDepthwise(*this, x, kernel, geometry_));
  }

 private:
  DepthwiseConvOptions<kRank> options_;
  Geometry geometry_;
};

template <int kRank>
class SeparableConvLayer : public Layer {
 public:
  SeparableConvLayer(SeparableConvOptions<kRank> options, Geometry geometry)
      : Layer(options.kType, options.common),
        options_(std::move(options)),
        geometry_(std::move(geometry)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    CheckRank(*this, inputs[0], kRank + 2);
    const ir::Value x = ToCompute(ctx, inputs[0]);
    ir::Dims dims = geometry_.kernel;
    dims.push_back(x.dim(-1));
    dims.push_back(options_.depth_multiplier);
    const ir::Value depthwise = ctx.Weight("depthwise_kernel", dims, options_.depthwise_initializer,
                                           options_.depthwise_regularizer);
    const int64_t middle = x.dim(-1) * options_.depth_multiplier;
    dims.assign(kRank, 1);
    dims.push_back(middle);
    dims.push_back(options_.filters);
    const ir::Value pointwise = ctx.Weight("pointwise_kernel", dims, options_.pointwise_initializer,
                                           options_.pointwise_regularizer);
    const ir::Value y = ConvolveDepthwise(*this, x, depthwise, geometry_);
    // A 1x1 convolution is a product over the channels.
    ir::DotDims contract;
    contract.lhs_contract = {kRank + 1};
    contract.rhs_contract = {0};
    return Finish(ctx, options_,
                  ir::DotGeneral(y, ir::Reshape(pointwise, {middle, options_.filters}), contract));
  }

 private:
  SeparableConvOptions<kRank> options_;
  Geometry geometry_;
};

template <int kRank>
class ConvTransposeLayer : public Layer {
 public:
  ConvTransposeLayer(ConvTransposeOptions<kRank> options, Geometry geometry)
      : Layer(options.kType, options.common),
        options_(std::move(options)),
        geometry_(std::move(geometry)) {}

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    CheckRank(*this, inputs[0], kRank + 2);
    const ir::Value x = ToCompute(ctx, inputs[0]);
    ir::Dims dims = geometry_.kernel;
    dims.push_back(options_.filters);
    dims.push_back(x.dim(-1));
    const ir::Value kernel =
        ctx.Weight("kernel", dims, options_.kernel_initializer, options_.kernel_regularizer);

    ir::ConvolutionDims conv;
    conv.layout = Layout(kRank, "oi");
    conv.strides.assign(kRank, 1);
    conv.lhs_dilation = geometry_.strides;
    conv.rhs_dilation = geometry_.dilation;
    ir::Dims spatial;
    for (int i = 0; i < kRank; ++i) {
      spatial.push_back(i);
      const int64_t size = x.dim(i + 1);
      const int64_t window = geometry_.window(i);
      const int64_t stride = geometry_.strides[i];
      const int64_t output = OutputSize(i, size);
      // The convolution whose gradient this is has an input of size `output`.
      const int64_t low =
          window - 1 - WindowPadding(options_.padding, output, window, stride).first;
      const int64_t high = output - ((size - 1) * stride + 1) - low + window - 1;
      conv.padding.push_back(low);
      conv.padding.push_back(high);
    }
    return Finish(ctx, options_, ir::Convolution(x, ir::Reverse(kernel, spatial), conv));
  }

 private:
  // Keras 3, layers/convolutional: sizes without and with output_padding.
  int64_t OutputSize(int i, int64_t size) const {
    const int64_t window = geometry_.window(i);
    const int64_t stride = geometry_.strides[i];
    if (options_.padding == "valid") {
      return (size - 1) * stride + (options_.output_padding.empty()
                                        ? std::max(window, stride)
                                        : window + options_.output_padding[i]);
    }
    if (options_.output_padding.empty()) return size * stride;
    return (size - 1) * stride + window % 2 + options_.output_padding[i];
  }

  ConvTransposeOptions<kRank> options_;
  Geometry geometry_;
};

template <int kRank>
LayerPtr MakeConv(ConvOptions<kRank> options) {
  CheckPositive(options.kType, "filters", options.filters);
  CheckPositive(options.kType, "groups", options.groups);
  if (options.filters % options.groups != 0) {
    throw Invalid("{}: filters must divide into groups, found filters = {}, groups = {}",
                  options.kType, options.filters, options.groups);
  }
  std::vector<std::string> paddings = {"valid", "same"};
  if (kRank == 1) paddings.emplace_back("causal");
  Geometry geometry = MakeGeometry(options, kRank, paddings);
  return std::make_shared<ConvLayer<kRank>>(std::move(options), std::move(geometry));
}

template <int kRank>
LayerPtr MakeDepthwiseConv(DepthwiseConvOptions<kRank> options) {
  CheckPositive(options.kType, "depth_multiplier", options.depth_multiplier);
  Geometry geometry = MakeGeometry(options, kRank, {"valid", "same"});
  return std::make_shared<DepthwiseConvLayer<kRank>>(std::move(options), std::move(geometry));
}

template <int kRank>
LayerPtr MakeSeparableConv(SeparableConvOptions<kRank> options) {
  CheckPositive(options.kType, "filters", options.filters);
  CheckPositive(options.kType, "depth_multiplier", options.depth_multiplier);
  std::vector<std::string> paddings = {"valid", "same"};
  if (kRank == 1) paddings.emplace_back("causal");
  Geometry geometry = MakeGeometry(options, kRank, paddings);
  return std::make_shared<SeparableConvLayer<kRank>>(std::move(options), std::move(geometry));
}

template <int kRank>
LayerPtr MakeConvTranspose(ConvTransposeOptions<kRank> options) {
  CheckPositive(options.kType, "filters", options.filters);
  Geometry geometry = MakeGeometry(options, kRank, {"valid", "same"});
  if (!options.output_padding.empty()) {
    std::vector<int64_t>& extra = options.output_padding;
    if (extra.size() == 1) extra.assign(kRank, extra[0]);
    for (size_t i = 0; i < extra.size(); ++i) {
      if (extra.size() != kRank || extra[i] < 0 || extra[i] >= geometry.strides[i]) {
        throw Invalid(
            "{}: output_padding needs one number or {}, each from 0 to stride - 1; found "
            "{} with strides {}",
            options.kType, kRank, ir::DimsToString(extra), ir::DimsToString(geometry.strides));
      }
    }
  }
  return std::make_shared<ConvTransposeLayer<kRank>>(std::move(options), std::move(geometry));
}

}  // namespace

LayerPtr Conv1D(Conv1DOptions options) { return MakeConv(std::move(options)); }
LayerPtr Conv2D(Conv2DOptions options) { return MakeConv(std::move(options)); }
LayerPtr Conv3D(Conv3DOptions options) { return MakeConv(std::move(options)); }
LayerPtr DepthwiseConv1D(DepthwiseConv1DOptions options) {
  return MakeDepthwiseConv(std::move(options));
}
LayerPtr DepthwiseConv2D(DepthwiseConv2DOptions options) {
  return MakeDepthwiseConv(std::move(options));
}
LayerPtr SeparableConv1D(SeparableConv1DOptions options) {
  return MakeSeparableConv(std::move(options));
}
LayerPtr SeparableConv2D(SeparableConv2DOptions options) {
  return MakeSeparableConv(std::move(options));
}
LayerPtr Conv1DTranspose(Conv1DTransposeOptions options) {
  return MakeConvTranspose(std::move(options));
}
LayerPtr Conv2DTranspose(Conv2DTransposeOptions options) {
  return MakeConvTranspose(std::move(options));
}
LayerPtr Conv3DTranspose(Conv3DTransposeOptions options) {
  return MakeConvTranspose(std::move(options));
}

std::span<const LayerDef> ConvolutionLayers() {
  static const std::vector<LayerDef> table = {
      MakeLayerDef<Conv1DOptions, &Conv1D>("Conv1D"),
      MakeLayerDef<Conv2DOptions, &Conv2D>("Conv2D"),
      MakeLayerDef<Conv3DOptions, &Conv3D>("Conv3D"),
      MakeLayerDef<DepthwiseConv1DOptions, &DepthwiseConv1D>("DepthwiseConv1D"),
      MakeLayerDef<DepthwiseConv2DOptions, &DepthwiseConv2D>("DepthwiseConv2D"),
      MakeLayerDef<SeparableConv1DOptions, &SeparableConv1D>("SeparableConv1D"),
      MakeLayerDef<SeparableConv2DOptions, &SeparableConv2D>("SeparableConv2D"),
      MakeLayerDef<Conv1DTransposeOptions, &Conv1DTranspose>("Conv1DTranspose"),
      MakeLayerDef<Conv2DTransposeOptions, &Conv2DTranspose>("Conv2DTranspose"),
      MakeLayerDef<Conv3DTransposeOptions, &Conv3DTranspose>("Conv3DTranspose"),
  };
  return table;
}

}  // namespace flatout::nn
