// Transforms of pictures: decode, crop, resize, flip, colour, normalise. By name in a run file
// (docs/data/images.md) or from C++:
//   dataset.Apply({images::Decode(), images::RandomResizedCrop({.size = {224, 224}}),
//                  images::RandomFlip(), images::Normalize({.mean = {0.485, 0.456, 0.406},
//                                                           .std = {0.229, 0.224, 0.225}})}, seed)
//
// The element type tells the scale of the values, as in tf.image.convert_image_dtype: u8 0 to 255,
// u16 0 to 65535, f32 0 to 1.
//
// Neighbours on one field become one stage, in which nothing is computed before it is needed: a
// crop decides which blocks of a JPEG are decoded, a flip is the order in which a resize writes, a
// normalisation the last thing that happens to a resized value on its way into the batch. What
// comes out is what the transforms one by one give, but for the last bit of a float and for
// DecodeStep::dct_scaling.
//
// Random ones draw from the record's key and their own name and options (and `seed`, for two that
// are otherwise equal), so the result is the same for any order of reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "flatout/data/image/image.h"
#include "flatout/data/image/resize.h"
#include "flatout/data/transform.h"

namespace flatout::data::images {

// Encoded bytes (text) to pixels [height, width, channels].
struct DecodeStep {
  DecodeOptions options;
  // Whether a JPEG may be decoded at 1/2, 1/4 or 1/8 of its size when a resize that averages
  // (ResizeMethod kArea, or antialias) then still halves it at least, in both directions. Values
  // differ from those of the full size by about one level of 255 in the mean, and no shift.
  bool dct_scaling = true;
};

struct ResizeStep {
  // Height and width; one number: of the shorter side, the longer in proportion (rounded down), as
  // torchvision's Resize.
  std::vector<int64_t> size;
  ResizeMethod method = ResizeMethod::kBilinear;
  bool antialias = true;
  // With two sizes: the largest picture of the same proportions that fits into them (as
  // tf.image.resize), or the centre of the picture that has their proportions (as Keras's
  // Resizing).
  bool preserve_aspect_ratio = false;
  bool crop_to_aspect_ratio = false;
  // kF32: results as they are, 0 to 1; else of the input's type, rounded.
  std::optional<ir::DType> dtype;
};

struct CropStep {
  std::vector<int64_t> size;   // height and width; one number: both
  bool random = false;         // else the centre
  int64_t padding = 0;         // zeros put around the picture first, on each side
  bool pad_if_needed = false;  // zeros around a picture that is too small; else that is an error
  int64_t seed = 0;
};

// torchvision's RandomResizedCrop: a part of random area and proportions, resized.
struct ResizedCropStep {
  ResizeStep resize;                               // two sizes, or one for both
  std::vector<double> scale = {0.08, 1};           // share of the picture's area
  std::vector<double> ratio = {3.0 / 4, 4.0 / 3};  // width / height
  int64_t seed = 0;
};

struct FlipStep {
  bool horizontal = true;
  bool vertical = false;
  double p = 0.5;  // of each
  int64_t seed = 0;
};

// Zeros (or `value`, in the element type's scale) around the picture up to this size. A larger
// picture is an error.
struct PadStep {
  std::vector<int64_t> size;
  double value = 0;
  bool center = true;  // else the picture stays in the top left corner
};

// (v * scale - mean) / std by channel, as f32.
struct NormalizeStep {
  std::vector<double> mean = {0};  // one, or one per channel
  std::vector<double> std = {1};
  std::optional<double> scale;  // default: what brings the element type to 0 to 1
};

// tf.image.rgb_to_grayscale: 0.2989 R + 0.5870 G + 0.1140 B, one channel.
struct GrayscaleStep {};

// tf.image.random_brightness, _contrast, _saturation and _hue. Integers are clamped to their range.
struct ColorStep {
  enum class Kind { kBrightness, kContrast, kSaturation, kHue } kind = Kind::kBrightness;
  double lower = 0, upper = 0;  // what is added (brightness, hue), or the factor
  int64_t seed = 0;
};

using Step = std::variant<DecodeStep, ResizeStep, CropStep, ResizedCropStep, FlipStep, PadStep,
                          NormalizeStep, GrayscaleStep, ColorStep>;

// One step on the field of that name. Throw UserError for options that make no sense.
TransformPtr Make(Step step, std::string field = "image");
inline TransformPtr Decode(const DecodeStep& step = {}, std::string field = "image") {
  return Make(step, std::move(field));
}
inline TransformPtr Resize(ResizeStep step, std::string field = "image") {
  return Make(std::move(step), std::move(field));
}
inline TransformPtr RandomResizedCrop(ResizedCropStep step, std::string field = "image") {
  return Make(std::move(step), std::move(field));
}
inline TransformPtr Crop(CropStep step, std::string field = "image") {
  return Make(std::move(step), std::move(field));
}
inline TransformPtr RandomFlip(const FlipStep& step = {}, std::string field = "image") {
  return Make(step, std::move(field));
}
inline TransformPtr Normalize(NormalizeStep step = {}, std::string field = "image") {
  return Make(std::move(step), std::move(field));
}

}  // namespace flatout::data::images
