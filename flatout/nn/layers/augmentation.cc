#include "flatout/nn/layers/augmentation.h"

#include <algorithm>
#include <numbers>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/layers/common.h"
#include "flatout/nn/layers/preprocessing.h"

namespace flatout::nn {
namespace {

using ir::Dims;
using ir::Value;

struct Range {
  double low = 0, high = 0;
};

// [-f, f] for one number, else the pair in order. All ends must lie in [least, most].
Range ReadRange(std::string_view type, std::string_view argument,
                const std::vector<double>& numbers, double least, double most) {
  if (numbers.empty() || numbers.size() > 2) {
    throw Invalid("{}: {} must be one number or two (low, high), found {}", type, argument,
                  numbers.size());
  }
  for (double number : numbers) {
    if (!(number >= least && number <= most)) {
      throw Invalid("{}: {} must lie in [{}, {}], found {}", type, argument, least, most, number);
    }
  }
  if (numbers.size() == 1) {
    const double size = std::abs(numbers[0]);
    return {std::max(-size, least), size};
  }
  return {std::min(numbers[0], numbers[1]), std::max(numbers[0], numbers[1])};
}

// Common to all: identity unless training.
class AugmentationLayer : public Layer {
 public:
  using Layer::Layer;
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value x = ToCompute(ctx, inputs[0]);
    CheckRank(*this, x, 4);
    return {ctx.training() ? Augment(ctx, x) : Keep(x)};
  }

 protected:
  virtual Value Augment(Context& ctx, Value x) const = 0;
  virtual Value Keep(Value x) const { return x; }
  // One number per image, [batch, 1, 1].
  static Value Draw(Context& ctx, Value x, Range range, std::optional<int64_t> seed) {
    if (range.low == range.high) {
      return ir::Full(ctx.graph(), ir::Shape(ir::DType::kF32, {x.dim(0), 1, 1}), range.low);
    }
    return ctx.RandomUniform({x.dim(0), 1, 1}, range.low, range.high, {.seed = seed});
  }
};

class RandomFlipLayer : public AugmentationLayer {
 public:
  explicit RandomFlipLayer(RandomFlipOptions options)
      : AugmentationLayer(RandomFlipOptions::kType, options.common), options_(std::move(options)) {
    CheckOneOf(type(), "mode", options_.mode,
               {"horizontal", "vertical", "horizontal_and_vertical"});
    CheckChannelsLast(type(), options_.data_format);
  }

 protected:
  Value Augment(Context& ctx, Value x) const override {
    Dims axes;
    if (options_.mode != "horizontal") axes.push_back(1);
    if (options_.mode != "vertical") axes.push_back(2);
    Value flip = ctx.RandomBernoulli(0.5, {x.dim(0)}, {.seed = options_.seed});
    return ir::Select(ir::BroadcastInDim(flip, x.dims(), {0}), ir::Reverse(x, axes), x);
  }

 private:
  RandomFlipOptions options_;
};

class RandomCropLayer : public AugmentationLayer {
 public:
  explicit RandomCropLayer(RandomCropOptions options)
      : AugmentationLayer(RandomCropOptions::kType, options.common), options_(std::move(options)) {
    CheckPositive(type(), "height", options_.height);
    CheckPositive(type(), "width", options_.width);
    CheckChannelsLast(type(), options_.data_format);
  }

 protected:
  Value Augment(Context& ctx, Value x) const override {
    const int64_t height = options_.height, width = options_.width;
    if (x.dim(1) <= height || x.dim(2) <= width) return Keep(x);
    const Dims dims = {x.dim(0), height, width};
    // Whole pixels: floor of a uniform number in [0, places).
    const auto start = [&](int64_t places) {
      return ir::Min(ir::Floor(Draw(ctx, x, {0, static_cast<double>(places)}, options_.seed)),
                     static_cast<double>(places - 1));
    };
    const ir::Shape shape(ir::DType::kF32, dims);
    Value top = start(x.dim(1) - height + 1), left = start(x.dim(2) - width + 1);
    Value y = ir::Iota(ctx.graph(), shape, 1) + ir::BroadcastTo(top, dims);
    Value column = ir::Iota(ctx.graph(), shape, 2) + ir::BroadcastTo(left, dims);
    return SampleImages(x, y, column, "nearest", "nearest", 0);
  }
  Value Keep(Value x) const override {
    return ResizeImages(x, options_.height, options_.width, "bilinear", true);
  }

 private:
  RandomCropOptions options_;
};

// Layers that read the image at other places: an affine map from the result's pixels to the
// input's.
class SamplingLayer : public AugmentationLayer {
 public:
  SamplingLayer(std::string_view type, const SamplingOptions& options)
      : AugmentationLayer(type, options.common), sampling_(options) {
    CheckOneOf(type, "fill_mode", options.fill_mode, {"reflect", "wrap", "constant", "nearest"});
    CheckOneOf(type, "interpolation", options.interpolation, {"bilinear", "nearest"});
    CheckChannelsLast(type, options.data_format);
  }

 protected:
  // Rows and columns of the result's pixels, [batch, H, W].
  struct Grid {
    Value y, x;
  };
  // Where each pixel of the result is read.
  virtual Grid Source(Context& ctx, Value images, const Grid& target) const = 0;

  Value Augment(Context& ctx, Value images) const override {
    const ir::Shape shape(ir::DType::kF32, {images.dim(0), images.dim(1), images.dim(2)});
    Grid target = {ir::Iota(ctx.graph(), shape, 1), ir::Iota(ctx.graph(), shape, 2)};
    Grid source = Source(ctx, images, target);
    return SampleImages(images, source.y, source.x, sampling_.interpolation, sampling_.fill_mode,
                        sampling_.fill_value);
  }
  const std::optional<int64_t>& seed() const { return sampling_.seed; }

 private:
  SamplingOptions sampling_;
};

class RandomTranslationLayer : public SamplingLayer {
 public:
  explicit RandomTranslationLayer(const RandomTranslationOptions& options)
      : SamplingLayer(RandomTranslationOptions::kType, options),
        height_(ReadRange(type(), "height_factor", options.height_factor, -1, 1)),
        width_(ReadRange(type(), "width_factor", options.width_factor, -1, 1)) {}

 protected:
  Grid Source(Context& ctx, Value images, const Grid& target) const override {
    Value down = Draw(ctx, images, height_, seed()) * static_cast<double>(images.dim(1));
    Value right = Draw(ctx, images, width_, seed()) * static_cast<double>(images.dim(2));
    return {target.y - down, target.x - right};
  }

 private:
  Range height_, width_;
};

class RandomRotationLayer : public SamplingLayer {
 public:
  explicit RandomRotationLayer(const RandomRotationOptions& options)
      : SamplingLayer(RandomRotationOptions::kType, options),
        factor_(ReadRange(type(), "factor", options.factor, -1, 1)) {}

 protected:
  Grid Source(Context& ctx, Value images, const Grid& target) const override {
    Value angle = Draw(ctx, images, factor_, seed()) * (2 * std::numbers::pi);
    Value cos = ir::Cos(angle), sin = ir::Sin(angle);
    const double centre_y = static_cast<double>(images.dim(1) - 1) / 2;
    const double centre_x = static_cast<double>(images.dim(2) - 1) / 2;
    Value y = target.y - centre_y, x = target.x - centre_x;
    return {sin * x + cos * y + centre_y, cos * x - sin * y + centre_x};
  }

 private:
  Range factor_;
};

class RandomZoomLayer : public SamplingLayer {
 public:
  explicit RandomZoomLayer(const RandomZoomOptions& options)
      : SamplingLayer(RandomZoomOptions::kType, options),
        height_(ReadRange(type(), "height_factor", options.height_factor, -1, 1)) {
    if (!options.width_factor.empty()) {
      width_ = ReadRange(type(), "width_factor", options.width_factor, -1, 1);
    }
    if (height_.low <= -1 || (width_ && width_->low <= -1)) {
      throw Invalid("{}: factors must be larger than -1, which would show nothing", type());
    }
  }

 protected:
  Grid Source(Context& ctx, Value images, const Grid& target) const override {
    Value zoom_y = Draw(ctx, images, height_, seed()) + 1.0;
    Value zoom_x = width_ ? Draw(ctx, images, *width_, seed()) + 1.0 : zoom_y;
    const double centre_y = static_cast<double>(images.dim(1) - 1) / 2;
    const double centre_x = static_cast<double>(images.dim(2) - 1) / 2;
    return {(target.y - centre_y) * zoom_y + centre_y, (target.x - centre_x) * zoom_x + centre_x};
  }

 private:
  Range height_;
  std::optional<Range> width_;
};

Range ReadValueRange(std::string_view type, const std::vector<double>& numbers) {
  if (numbers.size() != 2) {
    throw Invalid("{}: value_range must be two numbers (low, high), found {}", type,
                  numbers.size());
  }
  return {std::min(numbers[0], numbers[1]), std::max(numbers[0], numbers[1])};
}

Value Clip(Value x, Range range) {
  return ir::Clamp(ir::ScalarLike(x, range.low), x, ir::ScalarLike(x, range.high));
}

class RandomContrastLayer : public AugmentationLayer {
 public:
  explicit RandomContrastLayer(const RandomContrastOptions& options)
      : AugmentationLayer(RandomContrastOptions::kType, options.common),
        values_(ReadValueRange(type(), options.value_range)),
        seed_(options.seed) {
    const std::vector<double>& factor = options.factor;
    if (factor.empty() || factor.size() > 2) {
      throw Invalid("{}: factor must be one number or two (low, high), found {}", type(),
                    factor.size());
    }
    for (double f : factor) {
      if (!(f >= 0 && f <= 1)) {
        throw Invalid("{}: factor must lie in [0, 1], found {}", type(), f);
      }
    }
    factor_ = {1 - factor.front(), 1 + factor.back()};
  }

 protected:
  Value Augment(Context& ctx, Value x) const override {
    // In float32: the mean of many pixels.
    Value wide = ir::Convert(x, ir::DType::kF32);
    Value mean = ir::ReduceMean(wide, {1, 2}, true);
    Value contrast = ir::ExpandDims(Draw(ctx, x, factor_, seed_), -1);
    return ir::Convert(Clip((wide - mean) * contrast + mean, values_), x.dtype());
  }

 private:
  Range factor_, values_;
  std::optional<int64_t> seed_;
};

class RandomBrightnessLayer : public AugmentationLayer {
 public:
  explicit RandomBrightnessLayer(const RandomBrightnessOptions& options)
      : AugmentationLayer(RandomBrightnessOptions::kType, options.common),
        factor_(ReadRange(type(), "factor", options.factor, -1, 1)),
        values_(ReadValueRange(type(), options.value_range)),
        seed_(options.seed) {}

 protected:
  Value Augment(Context& ctx, Value x) const override {
    Value delta = ir::ExpandDims(Draw(ctx, x, factor_, seed_), -1) * (values_.high - values_.low);
    return Clip(x + ir::Convert(delta, x.dtype()), values_);
  }

 private:
  Range factor_, values_;
  std::optional<int64_t> seed_;
};

// x modulo `period`, in [0, period).
Value FloorMod(Value x, double period) { return x - ir::Floor(x * (1 / period)) * period; }

// Brings a coordinate into [0, size - 1] as the fill mode says; "constant" leaves it.
Value Fold(Value c, int64_t size, const std::string& fill_mode) {
  const auto n = static_cast<double>(size);
  if (fill_mode == "constant") return c;
  if (fill_mode == "reflect") {
    // Mirrors stand at -1/2 and n - 1/2.
    Value p = FloorMod(c + 0.5, 2 * n);
    c = ir::Min(p, 2 * n - p) - 0.5;
  } else if (fill_mode == "wrap") {
    c = FloorMod(c, n);
  }
  return ir::Max(ir::Min(c, n - 1), 0.0);
}

}  // namespace

Value SampleImages(Value images, Value y, Value x, const std::string& interpolation,
                   const std::string& fill_mode, double fill_value) {
  ir::Graph& graph = images.graph();
  const int64_t batch = images.dim(0), height = images.dim(1), width = images.dim(2);
  const int64_t channels = images.dim(3);
  y = Fold(y, height, fill_mode);
  x = Fold(x, width, fill_mode);
  const Dims grid = y.dims();
  const bool constant = fill_mode == "constant";
  // One row per pixel; the first row of each image.
  Value pixels = ir::Reshape(images, {batch * height * width, channels});
  Value base =
      ir::Iota(graph, ir::Shape(ir::DType::kI32, grid), 0) * static_cast<double>(height * width);
  // The pixels at whole rows and columns (f32).
  const auto read = [&](Value row, Value column) {
    const auto inside = [](Value c, int64_t size) {
      return ir::Max(ir::Min(c, static_cast<double>(size - 1)), 0.0);
    };
    Value r = inside(row, height), c = inside(column, width);
    Value index = base + ir::Convert(r * static_cast<double>(width) + c, ir::DType::kI32);
    Value value = ir::Take(pixels, index, 0);
    if (!constant) return value;
    Value real = ir::And(ir::Compare(r, row, ir::Comparison::kEq),
                         ir::Compare(c, column, ir::Comparison::kEq));
    return ir::Select(ir::BroadcastInDim(real, value.dims(), {0, 1, 2}), value,
                      ir::Full(graph, value.shape(), fill_value));
  };
  if (interpolation == "nearest") return read(ir::Floor(y + 0.5), ir::Floor(x + 0.5));
  Value top = ir::Floor(y), left = ir::Floor(x);
  const auto share = [&](Value s) { return ir::ExpandDims(ir::Convert(s, images.dtype()), -1); };
  Value down = share(y - top), right = share(x - left);
  const auto mix = [](Value a, Value b, Value s) { return a + (b - a) * s; };
  Value above = mix(read(top, left), read(top, left + 1.0), right);
  Value below = mix(read(top + 1.0, left), read(top + 1.0, left + 1.0), right);
  return mix(above, below, down);
}

LayerPtr RandomFlip(RandomFlipOptions options) {
  return std::make_shared<RandomFlipLayer>(std::move(options));
}
LayerPtr RandomCrop(RandomCropOptions options) {
  return std::make_shared<RandomCropLayer>(std::move(options));
}
LayerPtr RandomTranslation(RandomTranslationOptions options) {
  return std::make_shared<RandomTranslationLayer>(options);
}
LayerPtr RandomRotation(RandomRotationOptions options) {
  return std::make_shared<RandomRotationLayer>(options);
}
LayerPtr RandomZoom(RandomZoomOptions options) {
  return std::make_shared<RandomZoomLayer>(options);
}
LayerPtr RandomContrast(RandomContrastOptions options) {
  return std::make_shared<RandomContrastLayer>(options);
}
LayerPtr RandomBrightness(RandomBrightnessOptions options) {
  return std::make_shared<RandomBrightnessLayer>(options);
}

std::span<const LayerDef> AugmentationLayers() {
  static const LayerDef table[] = {
      MakeLayerDef<RandomFlipOptions, &RandomFlip>("RandomFlip"),
      MakeLayerDef<RandomCropOptions, &RandomCrop>("RandomCrop"),
      MakeLayerDef<RandomTranslationOptions, &RandomTranslation>("RandomTranslation"),
      MakeLayerDef<RandomRotationOptions, &RandomRotation>("RandomRotation"),
      MakeLayerDef<RandomZoomOptions, &RandomZoom>("RandomZoom"),
      MakeLayerDef<RandomContrastOptions, &RandomContrast>("RandomContrast"),
      MakeLayerDef<RandomBrightnessOptions, &RandomBrightness>("RandomBrightness"),
  };
  return table;
}

}  // namespace flatout::nn
