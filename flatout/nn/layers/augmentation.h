// Random augmentation of images [batch, H, W, C]. All of them change nothing when not training
// (except that integers become the compute dtype, and RandomCrop crops the centre), and draw for
// each image of the global batch on its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/nn/layer.h"

namespace flatout::nn {

// Mirrors each image with probability 1/2: "horizontal", "vertical", or "horizontal_and_vertical",
// which as in Keras turns both ways at once or not at all.
struct RandomFlipOptions {
  static constexpr std::string_view kType = "RandomFlip";
  std::string mode = "horizontal_and_vertical";
  std::optional<int64_t> seed;
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("mode", mode);
    v("seed", seed);
    v("data_format", data_format);
    common.Visit(v);
  }
};
LayerPtr RandomFlip(RandomFlipOptions options = {});

// A window of height x width pixels at a random place; the centre when not training. Images that
// are not larger in both directions are cropped to the window's aspect and resized.
struct RandomCropOptions {
  static constexpr std::string_view kType = "RandomCrop";
  int64_t height = 0, width = 0;
  std::optional<int64_t> seed;
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("height", height);
    v.Required("width", width);
    v("seed", seed);
    v("data_format", data_format);
    common.Visit(v);
  }
};
LayerPtr RandomCrop(RandomCropOptions options);

// What lies outside the image: "reflect" (d c b a | a b c d | d c b a), "wrap", "nearest", or
// "constant" (fill_value). Between pixels: "bilinear" or "nearest".
struct SamplingOptions {
  std::string fill_mode = "reflect";
  std::string interpolation = "bilinear";
  std::optional<int64_t> seed;
  double fill_value = 0;
  std::string data_format = "channels_last";
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("fill_mode", fill_mode);
    v("interpolation", interpolation);
    v("seed", seed);
    v("fill_value", fill_value);
    v("data_format", data_format);
    common.Visit(v);
  }
};

// Moves by a share of height and width drawn from [-f, f] or [low, high]; positive is down, right.
struct RandomTranslationOptions : SamplingOptions {
  static constexpr std::string_view kType = "RandomTranslation";
  std::vector<double> height_factor, width_factor;

  template <class V>
  void Visit(V& v) {
    v.Required("height_factor", height_factor);
    v.Required("width_factor", width_factor);
    SamplingOptions::Visit(v);
  }
};
LayerPtr RandomTranslation(RandomTranslationOptions options);

// Turns about the centre by a share of the full circle drawn from [-f, f] or [low, high]; positive
// is counter-clockwise.
struct RandomRotationOptions : SamplingOptions {
  static constexpr std::string_view kType = "RandomRotation";
  std::vector<double> factor;

  template <class V>
  void Visit(V& v) {
    v.Required("factor", factor);
    SamplingOptions::Visit(v);
  }
};
LayerPtr RandomRotation(RandomRotationOptions options);

// Scales about the centre: a positive factor f shows 1 + f times as much (zooms out), a negative
// one zooms in. Without width_factor the aspect is kept.
struct RandomZoomOptions : SamplingOptions {
  static constexpr std::string_view kType = "RandomZoom";
  std::vector<double> height_factor, width_factor;

  template <class V>
  void Visit(V& v) {
    v.Required("height_factor", height_factor);
    v("width_factor", width_factor);
    SamplingOptions::Visit(v);
  }
};
LayerPtr RandomZoom(RandomZoomOptions options);

// (x - mean) * c + mean with the mean of each channel of each image and c from [1 - f, 1 + f] or
// [1 - low, 1 + high]; clipped to value_range.
struct RandomContrastOptions {
  static constexpr std::string_view kType = "RandomContrast";
  std::vector<double> factor;
  std::vector<double> value_range = {0.0, 255.0};
  std::optional<int64_t> seed;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("factor", factor);
    v("value_range", value_range);
    v("seed", seed);
    common.Visit(v);
  }
};
LayerPtr RandomContrast(RandomContrastOptions options);

// Adds a share of value_range's width drawn from [-f, f] or [low, high]; clipped to value_range.
struct RandomBrightnessOptions {
  static constexpr std::string_view kType = "RandomBrightness";
  std::vector<double> factor;
  std::vector<double> value_range = {0.0, 255.0};
  std::optional<int64_t> seed;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("factor", factor);
    v("value_range", value_range);
    v("seed", seed);
    common.Visit(v);
  }
};
LayerPtr RandomBrightness(RandomBrightnessOptions options);

// images [batch, H, W, C] read at rows y and columns x, both f32[batch, h, w] in pixels (0 is the
// centre of the first): [batch, h, w, C]. fill_mode and interpolation as in SamplingOptions.
ir::Value SampleImages(ir::Value images, ir::Value y, ir::Value x, const std::string& interpolation,
                       const std::string& fill_mode, double fill_value);

}  // namespace flatout::nn
