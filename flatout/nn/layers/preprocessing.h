// Preprocessing layers: what turns raw fields into numbers a model can use.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/nn/layer.h"

namespace flatout::nn {

// A layer whose state is found from data before training (Keras's adapt). Whoever trains asks every
// layer by dynamic_cast, feeds what reaches the layer from the training split, and stores what
// Finish gives as the layer's states ("<layer path>/mean").
class Adaptable {
 public:
  class Accumulator {
   public:
    virtual ~Accumulator() = default;
    // `values` holds `rows` samples, row-major.
    virtual void Add(std::span<const float> values, int64_t rows) = 0;
    // Name and value of each state. Throws UserError when nothing was added.
    virtual std::vector<std::pair<std::string, std::vector<float>>> Finish() const = 0;
  };
  virtual ~Adaptable() = default;
  // False when the arguments gave the state.
  virtual bool needs_data() const = 0;
  // `sample` is the shape of one input without the batch.
  virtual std::unique_ptr<Accumulator> StartAdapt(const ir::Shape& sample) const = 0;
};

// y = x * scale + offset. Integer inputs become the compute dtype.
struct RescalingOptions {
  static constexpr std::string_view kType = "Rescaling";
  std::vector<double> scale;  // one number, or one per entry of the last dimension
  std::vector<double> offset = {0.0};
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("scale", scale);
    v("offset", offset);
    common.Visit(v);
  }
};
LayerPtr Rescaling(RescalingOptions options);

// (x - mean) / sqrt(variance), per entry of `axis` (an empty list, Keras's None, for one pair of
// numbers over everything). Without mean and variance it is Adaptable: states mean and variance of
// the kept axes' dimensions, 0 and 1 until adapted.
struct NormalizationOptions {
  static constexpr std::string_view kType = "Normalization";
  std::vector<int64_t> axis = {-1};
  std::optional<std::vector<double>> mean, variance;
  bool invert = false;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("axis", axis);
    v("mean", mean);
    v("variance", variance);
    v("invert", invert);
    common.Visit(v);
  }
};
LayerPtr Normalization(NormalizationOptions options);

// Integers in [0, num_tokens) as vectors of num_tokens. "multi_hot" (1 for each token in the last
// dimension), "count" (how often; an optional second input holds weights), "one_hot" (a new last
// dimension, unless the last one is of size 1, which it replaces). Tokens out of range count
// nowhere.
struct CategoryEncodingOptions {
  static constexpr std::string_view kType = "CategoryEncoding";
  int64_t num_tokens = 0;
  std::string output_mode = "multi_hot";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("num_tokens", num_tokens);
    v("output_mode", output_mode);
    common.Visit(v);
  }
};
LayerPtr CategoryEncoding(CategoryEncodingOptions options);

// The number of the bin that x falls into: n boundaries in rising order make n + 1 bins, a value on
// a boundary belongs to the upper one. "int" gives i32 of x's shape; other modes encode as
// CategoryEncoding does.
struct DiscretizationOptions {
  static constexpr std::string_view kType = "Discretization";
  std::vector<double> bin_boundaries;
  std::string output_mode = "int";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("bin_boundaries", bin_boundaries);
    v("output_mode", output_mode);
    common.Visit(v);
  }
};
LayerPtr Discretization(DiscretizationOptions options);

// Images [batch, H, W, C] -> [batch, height, width, C], "bilinear" or "nearest", pixel centres at
// half numbers, no antialiasing. crop_to_aspect_ratio cuts the largest centred window of the
// target's aspect first.
struct ResizingOptions {
  static constexpr std::string_view kType = "Resizing";
  int64_t height = 0, width = 0;
  std::string interpolation = "bilinear";
  bool crop_to_aspect_ratio = false;
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("height", height);
    v.Required("width", width);
    v("interpolation", interpolation);
    v("crop_to_aspect_ratio", crop_to_aspect_ratio);
    v("data_format", data_format);
    common.Visit(v);
  }
};
LayerPtr Resizing(ResizingOptions options);

// The centre height x width pixels; images that are smaller in either direction are resized as
// Resizing with crop_to_aspect_ratio does.
struct CenterCropOptions {
  static constexpr std::string_view kType = "CenterCrop";
  int64_t height = 0, width = 0;
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("height", height);
    v.Required("width", width);
    v("data_format", data_format);
    common.Visit(v);
  }
};
LayerPtr CenterCrop(CenterCropOptions options);

// The computation of Resizing, for other layers.
ir::Value ResizeImages(ir::Value images, int64_t height, int64_t width,
                       const std::string& interpolation, bool crop_to_aspect_ratio);

}  // namespace flatout::nn
