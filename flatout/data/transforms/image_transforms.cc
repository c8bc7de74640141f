#include "flatout/data/transforms/image_transforms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/order.h"
#include "flatout/data/register.h"

namespace flatout::data::images {
namespace {

// ---- types ----

// What a field holds on the way through the steps. Dimensions may be kAny.
struct Type {
  bool encoded = false;
  int64_t height = kAny, width = kAny, channels = kAny;
  ir::DType dtype = ir::DType::kU8;
};

float Largest(ir::DType dtype) {
  return dtype == ir::DType::kU8 ? 255.0f : dtype == ir::DType::kU16 ? 65535.0f : 1.0f;
}

// ---- random draws ----

class Draws {
 public:
  Draws(uint64_t key, uint64_t salt) : key_(Mix(key ^ salt)) {}
  // In [0, 1).
  double Uniform() { return static_cast<double>(Mix(key_ + ++count_) >> 11) * 0x1p-53; }
  double Between(double low, double high) { return low + (high - low) * Uniform(); }
  // In [0, count).
  int64_t Below(int64_t count) {
    return std::min(static_cast<int64_t>(Uniform() * static_cast<double>(count)), count - 1);
  }

 private:
  uint64_t key_;
  uint64_t count_ = 0;
};

// FNV-1a of a text.
uint64_t HashText(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// ---- a picture on its way ----

// Memory and decoder of one thread.
struct Scratch {
  ImageReader reader;
  ResizeScratch resize;
  PixelBuffer buffers[2];
  PixelBuffer nearest;
  std::vector<double> scale, shift;
  std::vector<float> row_scale, row_shift;
};

Scratch& ThreadScratch() {
  thread_local Scratch scratch;
  return scratch;
}

// Where a result goes.
struct Target {
  std::byte* data;
  int64_t stride;
};

// A picture of which as little as possible is computed. In this order:
//   source (encoded, or pixels), of it the part `part`
//   [resized to `resized`, of which only `window` is wanted]
//   mirrored as flip_y and flip_x say
//   [scaled: v * scale + shift by channel, to f32]
class Picture {
 public:
  Picture(Scratch& scratch, bool dct_scaling) : scratch_(scratch), dct_scaling_(dct_scaling) {}

  void Open(std::span<const std::byte> bytes, const DecodeOptions& options) {
    scratch_.reader.Open(bytes, options);
    encoded_ = true;
    part_ = {0, 0, scratch_.reader.height(), scratch_.reader.width()};
    channels_ = scratch_.reader.channels();
    dtype_ = scratch_.reader.dtype();
  }
  void Set(const Pixels& pixels) {
    pixels_ = pixels;
    encoded_ = false;
    resize_ = nullptr;
    scaled_ = flip_y_ = flip_x_ = false;
    part_ = {0, 0, pixels.height, pixels.width};
    channels_ = pixels.channels;
    dtype_ = pixels.dtype;
  }

  int64_t height() const { return resize_ ? window_.height : part_.height; }
  int64_t width() const { return resize_ ? window_.width : part_.width; }
  int channels() const { return channels_; }
  // Of the result.
  ir::DType dtype() const { return scaled_ ? ir::DType::kF32 : dtype_; }

  void Crop(ImageRect rect) {
    if (flip_y_) rect.y = height() - rect.y - rect.height;
    if (flip_x_) rect.x = width() - rect.x - rect.width;
    ImageRect& into = resize_ ? window_ : part_;
    into = {into.y + rect.y, into.x + rect.x, rect.height, rect.width};
  }
  void Flip(bool y, bool x) {
    flip_y_ ^= y;
    flip_x_ ^= x;
  }
  void Resize(const ResizeStep& step, int64_t height, int64_t width) {
    // A resize of what is resized, mirrored and cut, or scaled already needs its values.
    // So does the nearest pixel, whose rule is not the same from both sides.
    const bool mirrored = flip_y_ || flip_x_;
    if (resize_ || scaled_ || (mirrored && step.method == ResizeMethod::kNearest)) ToScratch();
    resize_ = &step;
    resized_height_ = height;
    resized_width_ = width;
    window_ = {0, 0, height, width};
    if (step.dtype == ir::DType::kF32 && dtype_ != ir::DType::kF32) {
      rounds_ = false;
      const std::vector<double> scale = {1 / static_cast<double>(Largest(dtype_))};
      Scale(scale, {0});
    } else {
      rounds_ = dtype_ != ir::DType::kF32 && step.method != ResizeMethod::kNearest;
    }
  }
  // v * scale + shift; one value for all channels or one for each.
  void Scale(const std::vector<double>& scale, const std::vector<double>& shift) {
    const auto channels = static_cast<size_t>(channels_);
    if (!scaled_) {
      scratch_.scale.assign(channels, 1);
      scratch_.shift.assign(channels, 0);
    }
    scaled_ = true;
    for (size_t c = 0; c < channels; ++c) {
      const double by = scale[scale.size() == 1 ? 0 : c];
      scratch_.scale[c] *= by;
      scratch_.shift[c] = scratch_.shift[c] * by + shift[shift.size() == 1 ? 0 : c];
    }
  }

  // Computes it all, into memory of this thread's that may be changed.
  Pixels ToScratch() {
    const int64_t stride = (width() * channels_ * ir::ByteSize(dtype()) + 63) / 64 * 64;
    const int next = using_ == 0 ? 1 : 0;
    std::byte* out = scratch_.buffers[next].Get(stride * height());
    const Pixels result = Into({out, stride});
    using_ = next;
    return result;
  }
  // Room in the scratch memory that the picture does not lie in; becomes its place by Set.
  std::byte* Other(int64_t bytes) {
    using_ = using_ == 0 ? 1 : 0;
    return scratch_.buffers[using_].Get(bytes);
  }

  // Computes it all, into `target`, where it then is.
  Pixels Into(const Target& target) {
    Pixels result;
    result.data = target.data;
    result.stride = target.stride;
    result.height = height();
    result.width = width();
    result.channels = channels_;
    result.dtype = dtype();
    ResizeOutput output;
    output.dtype = result.dtype;
    if (scaled_) {
      scratch_.row_scale.assign(scratch_.scale.begin(), scratch_.scale.end());
      scratch_.row_shift.assign(scratch_.shift.begin(), scratch_.shift.end());
      output.scale = scratch_.row_scale;
      output.shift = scratch_.row_shift;
    }
    if (resize_ == nullptr) {
      if (encoded_ && !scaled_ && !flip_y_ && !flip_x_) {
        scratch_.reader.ReadInto(part_, target.data, target.stride);
      } else {
        Rows(encoded_ ? scratch_.reader.Read(part_) : Part(), output, target);
      }
    } else if (resize_->method == ResizeMethod::kNearest) {
      Nearest(output, target);
    } else {
      if (rounds_) output.round_to = Largest(dtype_);
      Averaged(output, target);
    }
    Set(result);
    return result;
  }

 private:
  Pixels Part() const {
    Pixels part = pixels_;
    part.data = pixels_.row(part_.y) + part_.x * pixels_.pixel_bytes();
    part.height = part_.height;
    part.width = part_.width;
    return part;
  }

  void Rows(const Pixels& in, const ResizeOutput& output, const Target& target) {
    if (scaled_) {
      ScaleRows(in, flip_y_, flip_x_, output, target.data, target.stride);
      return;
    }
    const int64_t bytes = in.pixel_bytes();
    for (int64_t y = 0; y < in.height; ++y) {
      const std::byte* from = in.row(y);
      std::byte* to = target.data + (flip_y_ ? in.height - 1 - y : y) * target.stride;
      if (!flip_x_) {
        std::memcpy(to, from, static_cast<size_t>(in.width * bytes));
        continue;
      }
      for (int64_t x = 0; x < in.width; ++x) {
        std::memcpy(to + (in.width - 1 - x) * bytes, from + x * bytes, static_cast<size_t>(bytes));
      }
    }
  }

  void Averaged(const ResizeOutput& output, const Target& target) {
    const bool averages = Averages(resize_->method, resize_->antialias);
    int eighths = 8;
    if (encoded_ && averages && dct_scaling_ && scratch_.reader.can_scale()) {
      while (eighths > 1 && part_.height * (eighths / 2) >= resized_height_ * 8 * kOversample &&
             part_.width * (eighths / 2) >= resized_width_ * 8 * kOversample) {
        eighths /= 2;
      }
    }
    // Along each axis: the part in pixels of the size it is decoded at. It may begin and end within
    // one of those.
    struct Axis {
      int64_t first, count;   // pixels that the part touches
      double from, length;    // the part, counted from `first`
      int64_t begin, wanted;  // of them, what the window's results take in
    };
    auto axis = [&](int64_t at, int64_t size, ResizeTaps& taps, int64_t resized, int64_t window_at,
                    int64_t window_size, bool flip) {
      Axis a;
      a.first = at * eighths / 8;
      a.count = ((at + size) * eighths + 7) / 8 - a.first;
      a.from = static_cast<double>(at) * eighths / 8 - static_cast<double>(a.first);
      a.length = static_cast<double>(size) * eighths / 8;
      taps.Make(resize_->method, resize_->antialias, a.count, a.from, a.length, resized, window_at,
                window_size, flip);
      const auto [least, most] = std::minmax(taps.begin.front(), taps.begin.back());
      a.begin = least;
      a.wanted = most + taps.count - least;
      return a;
    };
    const Axis y = axis(part_.y, part_.height, scratch_.resize.vertical, resized_height_, window_.y,
                        window_.height, flip_y_);
    const Axis x = axis(part_.x, part_.width, scratch_.resize.horizontal, resized_width_, window_.x,
                        window_.width, flip_x_);
    Pixels source;
    if (encoded_) {
      ImageRect rect = {(y.first + y.begin) * 8 / eighths, (x.first + x.begin) * 8 / eighths,
                        y.wanted * 8 / eighths, x.wanted * 8 / eighths};
      // The last pixel of a scaled picture may stand for fewer than the others.
      rect.height = std::min(rect.height, scratch_.reader.height() - rect.y);
      rect.width = std::min(rect.width, scratch_.reader.width() - rect.x);
      source = scratch_.reader.Read(rect, eighths);
    } else {
      source = pixels_;
      source.data = pixels_.row(part_.y + y.begin) + (part_.x + x.begin) * pixels_.pixel_bytes();
      source.height = y.wanted;
      source.width = x.wanted;
    }
    // Taps count from the first row and column that are there.
    for (int32_t& begin : scratch_.resize.vertical.begin) begin -= static_cast<int32_t>(y.begin);
    for (int32_t& begin : scratch_.resize.horizontal.begin) begin -= static_cast<int32_t>(x.begin);
    data::Resize(source, scratch_.resize, window_.height, window_.width, output, target.data,
                 target.stride);
  }

  void Nearest(const ResizeOutput& output, const Target& target) {
    // The part is decoded whole, and the window cut out by indices.
    const Pixels source = encoded_ ? scratch_.reader.Read(part_) : Part();
    const bool direct = !scaled_;
    const int64_t bytes = source.pixel_bytes();
    Target to = target;
    if (!direct) {
      to.stride = window_.width * bytes;
      to.data = scratch_.nearest.Get(to.stride * window_.height);
    }
    ResizeNearest(source, resized_height_, resized_width_, window_, flip_y_, flip_x_, to.data,
                  to.stride);
    if (direct) return;
    Pixels picked = source;
    picked.data = to.data;
    picked.stride = to.stride;
    picked.height = window_.height;
    picked.width = window_.width;
    ScaleRows(picked, false, false, output, target.data, target.stride);
  }

  // How many times larger than the result a picture stays that is decoded smaller, per axis.
  static constexpr int64_t kOversample = 2;

  Scratch& scratch_;
  const bool dct_scaling_;
  bool encoded_ = false;
  Pixels pixels_;
  int using_ = -1;  // which scratch buffer pixels_ lies in; -1: none
  int channels_ = 0;
  ir::DType dtype_ = ir::DType::kU8;
  ImageRect part_;
  const ResizeStep* resize_ = nullptr;
  int64_t resized_height_ = 0, resized_width_ = 0;
  ImageRect window_;
  bool rounds_ = false;
  bool flip_y_ = false, flip_x_ = false, scaled_ = false;
};

// ---- names and types of steps ----

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

std::string_view StepName(const Step& step) {
  return std::visit(
      Overloaded{[](const DecodeStep&) -> std::string_view { return "decode_image"; },
                 [](const ResizeStep&) -> std::string_view { return "resize"; },
                 [](const CropStep& s) -> std::string_view {
                   return s.random ? "random_crop" : "center_crop";
                 },
                 [](const ResizedCropStep&) -> std::string_view { return "random_resized_crop"; },
                 [](const FlipStep&) -> std::string_view { return "random_flip"; },
                 [](const PadStep&) -> std::string_view { return "pad_to"; },
                 [](const NormalizeStep&) -> std::string_view { return "normalize_image"; },
                 [](const GrayscaleStep&) -> std::string_view { return "rgb_to_grayscale"; },
                 [](const ColorStep& s) -> std::string_view {
                   switch (s.kind) {
                     case ColorStep::Kind::kBrightness:
                       return "random_brightness";
                     case ColorStep::Kind::kContrast:
                       return "random_contrast";
                     case ColorStep::Kind::kSaturation:
                       return "random_saturation";
                     default:
                       return "random_hue";
                   }
                 }},
      step);
}

bool IsRandom(const Step& step) {
  return std::visit(
      Overloaded{[](const CropStep& s) { return s.random; },
                 [](const ResizedCropStep&) { return true; }, [](const FlipStep&) { return true; },
                 [](const ColorStep&) { return true; }, [](const auto&) { return false; }},
      step);
}

// What two random steps must share to draw the same numbers.
uint64_t SaltOf(const Step& step) {
  std::string text(StepName(step));
  std::visit(
      Overloaded{
          [&](const CropStep& s) {
            text += fmt::format("{} {} {} {}", s.size.front(), s.size.back(), s.padding, s.seed);
          },
          [&](const ResizedCropStep& s) {
            text += fmt::format("{} {} {} {} {} {} {}", s.resize.size.front(), s.resize.size.back(),
                                s.scale.front(), s.scale.back(), s.ratio.front(), s.ratio.back(),
                                s.seed);
          },
          [&](const FlipStep& s) {
            text += fmt::format("{} {} {} {}", s.horizontal, s.vertical, s.p, s.seed);
          },
          [&](const ColorStep& s) { text += fmt::format("{} {} {}", s.lower, s.upper, s.seed); },
          [](const auto&) {}},
      step);
  return HashText(text);
}

void CheckSize(const std::vector<int64_t>& size) {
  constexpr int64_t kMost = 65536;
  if (size.empty() || size.size() > 2) {
    throw Invalid("size: expected one number or [height, width], found {} numbers", size.size());
  }
  for (int64_t s : size) {
    if (s < 1 || s > kMost) throw Invalid("size: expected 1 to {}, found {}", kMost, s);
  }
}

void CheckResize(const ResizeStep& step) {
  CheckSize(step.size);
  if (step.preserve_aspect_ratio && step.crop_to_aspect_ratio) {
    throw Invalid("preserve_aspect_ratio and crop_to_aspect_ratio exclude each other");
  }
  if (step.size.size() == 1 && (step.preserve_aspect_ratio || step.crop_to_aspect_ratio)) {
    throw Invalid(
        "size: expected [height, width] with preserve_aspect_ratio or "
        "crop_to_aspect_ratio, found one number (of the shorter side, which keeps the "
        "proportions by itself)");
  }
  if (step.dtype && *step.dtype != ir::DType::kF32) {
    throw Invalid("dtype: expected f32 (or nothing: the input's), found {}", ir::Name(*step.dtype));
  }
}

void CheckRange(std::string_view name, const std::vector<double>& range, double most) {
  if (range.size() != 2 || !(range[0] <= range[1]) || !(range[0] > 0) || !(range[1] <= most)) {
    std::string found;
    for (double v : range) found += fmt::format("{}{}", found.empty() ? "" : ", ", v);
    throw Invalid("{}: expected [low, high] with 0 < low <= high <= {}, found [{}]", name, most,
                  found);
  }
}

void CheckStep(const Step& step) {
  std::visit(
      Overloaded{
          [](const DecodeStep& s) { CheckDecodeOptions(s.options); },
          [](const ResizeStep& s) { CheckResize(s); },
          [](const CropStep& s) {
            CheckSize(s.size);
            if (s.padding < 0 || s.padding > 65536) {
              throw Invalid("padding: expected 0 to 65536, found {}", s.padding);
            }
          },
          [](const ResizedCropStep& s) {
            CheckResize(s.resize);
            if (s.resize.preserve_aspect_ratio || s.resize.crop_to_aspect_ratio) {
              throw Invalid("a random resized crop has the proportions that `ratio` says");
            }
            CheckRange("scale", s.scale, 1);
            CheckRange("ratio", s.ratio, 1000);
          },
          [](const FlipStep& s) {
            if (!(s.p >= 0 && s.p <= 1)) throw Invalid("p: expected 0 to 1, found {}", s.p);
            if (!s.horizontal && !s.vertical) {
              throw Invalid("neither horizontal nor vertical: nothing would ever be flipped");
            }
          },
          [](const PadStep& s) {
            CheckSize(s.size);
            if (!std::isfinite(s.value))
              throw Invalid("value: expected a number, found {}", s.value);
          },
          [](const NormalizeStep& s) {
            if (s.mean.empty() || s.std.empty()) throw Invalid("mean and std must not be empty");
            if (s.mean.size() > 1 && s.std.size() > 1 && s.mean.size() != s.std.size()) {
              throw Invalid("mean has {} numbers and std {}: expected one for each channel",
                            s.mean.size(), s.std.size());
            }
            for (double v : s.std) {
              if (!(v > 0)) throw Invalid("std: expected numbers above 0, found {}", v);
            }
          },
          [](const GrayscaleStep&) {},
          [](const ColorStep& s) {
            const bool factor =
                s.kind == ColorStep::Kind::kContrast || s.kind == ColorStep::Kind::kSaturation;
            if (!(s.lower <= s.upper) || !std::isfinite(s.upper - s.lower) ||
                (factor && s.lower < 0)) {
              throw Invalid("expected {}lower <= upper, found {} and {}", factor ? "0 <= " : "",
                            s.lower, s.upper);
            }
            if (s.kind == ColorStep::Kind::kHue && !(s.lower >= -0.5 && s.upper <= 0.5)) {
              throw Invalid("max_delta: expected 0 to 0.5 (half the circle), found {}", s.upper);
            }
          }},
      step);
}

// Height and width that a resize gives; kAny where the input's must be known and is not.
std::pair<int64_t, int64_t> ResizedSize(const ResizeStep& step, int64_t height, int64_t width) {
  const bool known = height != kAny && width != kAny;
  if (step.size.size() == 1) {
    if (!known) return {kAny, kAny};
    const int64_t size = step.size[0];
    if (height <= width) return {size, std::max<int64_t>(1, size * width / height)};
    return {std::max<int64_t>(1, size * height / width), size};
  }
  if (!step.preserve_aspect_ratio) return {step.size[0], step.size[1]};
  if (!known) return {kAny, kAny};
  // In float, rounded to even, as tf.image.resize does.
  const float scale = std::min(static_cast<float>(step.size[0]) / static_cast<float>(height),
                               static_cast<float>(step.size[1]) / static_cast<float>(width));
  auto scaled = [&](int64_t n) {
    return std::max<int64_t>(1, std::lrintf(scale * static_cast<float>(n)));
  };
  return {scaled(height), scaled(width)};
}

void NeedChannels(const Type& type, std::initializer_list<int64_t> allowed,
                  std::string_view expected) {
  if (type.channels == kAny) return;
  for (int64_t c : allowed) {
    if (c == type.channels) return;
  }
  throw Invalid("expected {} channels, found {}", expected, type.channels);
}

// What a step makes of a field. Throws UserError where it does not suit.
Type After(const Step& step, const Type& in) {
  Type out = in;
  if (std::holds_alternative<DecodeStep>(step) != in.encoded) {
    throw Invalid("{}", in.encoded
                            ? "expected pixels, found encoded bytes; put decode_image before it"
                            : "expected encoded bytes (text), found pixels");
  }
  std::visit(
      Overloaded{[&](const DecodeStep& s) {
                   out = Type{};
                   out.channels = s.options.channels == 0 ? kAny : s.options.channels;
                   out.dtype = s.options.dtype;
                 },
                 [&](const ResizeStep& s) {
                   std::tie(out.height, out.width) = ResizedSize(s, in.height, in.width);
                   if (s.dtype) out.dtype = *s.dtype;
                 },
                 [&](const CropStep& s) {
                   out.height = s.size.front();
                   out.width = s.size.back();
                   auto check = [&](std::string_view what, int64_t has, int64_t wants) {
                     if (has != kAny && has + 2 * s.padding < wants && !s.pad_if_needed) {
                       throw Invalid(
                           "expected pictures of {} at least {}, found {}; pad_if_needed = true "
                           "puts zeros around smaller ones",
                           what, wants, has + 2 * s.padding);
                     }
                   };
                   check("height", in.height, out.height);
                   check("width", in.width, out.width);
                 },
                 [&](const ResizedCropStep& s) {
                   out.height = s.resize.size.front();
                   out.width = s.resize.size.back();
                   if (s.resize.dtype) out.dtype = *s.resize.dtype;
                 },
                 [](const FlipStep&) {},
                 [&](const PadStep& s) {
                   out.height = s.size.front();
                   out.width = s.size.back();
                   if (in.height > out.height || in.width > out.width) {
                     throw Invalid(
                         "expected pictures of at most {} by {} (height by width), found {} by "
                         "{}; crop or resize first",
                         out.height, out.width, in.height, in.width);
                   }
                 },
                 [&](const NormalizeStep& s) {
                   const auto count = static_cast<int64_t>(std::max(s.mean.size(), s.std.size()));
                   if (count > 1) {
                     NeedChannels(in, {count}, std::to_string(count) + " (as mean and std have)");
                     out.channels = count;
                   }
                   out.dtype = ir::DType::kF32;
                 },
                 [&](const GrayscaleStep&) {
                   NeedChannels(in, {1, 3}, "3");
                   out.channels = 1;
                 },
                 [&](const ColorStep& s) {
                   if (s.kind == ColorStep::Kind::kSaturation || s.kind == ColorStep::Kind::kHue) {
                     NeedChannels(in, {3}, "3");
                     out.channels = 3;
                   }
                 }},
      step);
  return out;
}

// ---- steps that look at values ----

// tf.image.convert_image_dtype(x, dtype, saturate=True) from float.
template <typename T>
T FromFloat(float v) {
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else {
    constexpr float most = std::numeric_limits<T>::max();
    const float scaled = v * (most + 0.5f);
    return static_cast<T>(scaled < 0 ? 0 : scaled > most ? most : scaled);
  }
}

template <typename T>
float ToFloat(T v) {
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else {
    return static_cast<float>(v) * (1.0f / std::numeric_limits<T>::max());
  }
}

// Changes pixels in place.
template <typename T>
T* RowOf(const Pixels& pixels, int64_t y) {
  return reinterpret_cast<T*>(const_cast<std::byte*>(pixels.row(y)));
}

// v * scale + shift by channel, through a table of all values where those are few.
template <typename T>
void ScaleInPlace(const Pixels& pixels, const std::vector<float>& scale,
                  const std::vector<float>& shift, bool about_shift) {
  auto value = [&](T v, size_t c) {
    const float x = ToFloat(v);
    return FromFloat<T>(about_shift ? (x - shift[c]) * scale[c] + shift[c]
                                    : x * scale[c] + shift[c]);
  };
  const auto channels = static_cast<size_t>(pixels.channels);
  if constexpr (sizeof(T) == 1) {
    std::vector<std::array<T, 256>> tables(channels);
    for (size_t c = 0; c < channels; ++c) {
      for (size_t v = 0; v < 256; ++v) tables[c][v] = value(static_cast<T>(v), c);
    }
    for (int64_t y = 0; y < pixels.height; ++y) {
      T* row = RowOf<T>(pixels, y);
      for (int64_t x = 0; x < pixels.width; ++x) {
        for (size_t c = 0; c < channels; ++c, ++row) *row = tables[c][*row];
      }
    }
  } else {
    for (int64_t y = 0; y < pixels.height; ++y) {
      T* row = RowOf<T>(pixels, y);
      for (int64_t x = 0; x < pixels.width; ++x) {
        for (size_t c = 0; c < channels; ++c, ++row) *row = value(*row, c);
      }
    }
  }
}

template <typename T>
std::vector<float> Means(const Pixels& pixels) {
  std::vector<double> sums(static_cast<size_t>(pixels.channels), 0);
  for (int64_t y = 0; y < pixels.height; ++y) {
    const T* row = RowOf<T>(pixels, y);
    for (int64_t x = 0; x < pixels.width; ++x) {
      for (double& sum : sums) sum += ToFloat(*row++);
    }
  }
  std::vector<float> means;
  means.reserve(sums.size());
  for (double sum : sums) {
    means.push_back(static_cast<float>(
        sum / static_cast<double>(std::max<int64_t>(1, pixels.height * pixels.width))));
  }
  return means;
}

// Hue (in sixths of the circle), saturation and value, as tf.image.rgb_to_hsv has them, changed and
// turned back.
template <typename T>
void HueSaturation(const Pixels& pixels, float hue_delta, float saturation) {
  for (int64_t y = 0; y < pixels.height; ++y) {
    T* p = RowOf<T>(pixels, y);
    for (int64_t x = 0; x < pixels.width; ++x, p += 3) {
      const float r = ToFloat(p[0]), g = ToFloat(p[1]), b = ToFloat(p[2]);
      const float value = std::max({r, g, b});
      const float range = value - std::min({r, g, b});
      float s = value > 0 ? range / value : 0;
      float h = 0;
      if (range > 0) {
        if (r == value) {
          h = (g - b) / range;
        } else if (g == value) {
          h = (b - r) / range + 2;
        } else {
          h = (r - g) / range + 4;
        }
      }
      h = h / 6 + hue_delta;
      h -= std::floor(h);
      s = std::clamp(s * saturation, 0.0f, 1.0f);
      const float h6 = h * 6;
      auto channel = [&](float v) { return (1 - s + s * std::clamp(v, 0.0f, 1.0f)) * value; };
      p[0] = FromFloat<T>(channel(std::abs(h6 - 3) - 1));
      p[1] = FromFloat<T>(channel(2 - std::abs(h6 - 2)));
      p[2] = FromFloat<T>(channel(2 - std::abs(h6 - 4)));
    }
  }
}

template <typename T>
void ChangeColor(const Pixels& pixels, ColorStep::Kind kind, float amount) {
  const auto channels = static_cast<size_t>(pixels.channels);
  switch (kind) {
    case ColorStep::Kind::kBrightness:
      return ScaleInPlace<T>(pixels, std::vector<float>(channels, 1),
                             std::vector<float>(channels, amount), false);
    case ColorStep::Kind::kContrast:
      return ScaleInPlace<T>(pixels, std::vector<float>(channels, amount), Means<T>(pixels), true);
    case ColorStep::Kind::kSaturation:
      return HueSaturation<T>(pixels, 0, amount);
    case ColorStep::Kind::kHue:
      return HueSaturation<T>(pixels, amount, 1);
  }
}

template <typename T>
void Grayscale(const Pixels& in, std::byte* out, int64_t stride) {
  for (int64_t y = 0; y < in.height; ++y) {
    const T* from = RowOf<T>(in, y);
    T* to = reinterpret_cast<T*>(out + y * stride);
    for (int64_t x = 0; x < in.width; ++x, from += 3) {
      to[x] = FromFloat<T>(0.2989f * ToFloat(from[0]) + 0.5870f * ToFloat(from[1]) +
                           0.1140f * ToFloat(from[2]));
    }
  }
}

template <typename F>
void WithType(ir::DType dtype, F f) {
  switch (dtype) {
    case ir::DType::kU8:
      return f(uint8_t{});
    case ir::DType::kU16:
      return f(uint16_t{});
    default:
      return f(float{});
  }
}

// Fills the frame around the part `inner` of a picture of height by width.
void FillAround(std::byte* out, int64_t stride, int64_t height, int64_t width, int64_t channels,
                ir::DType dtype, const ImageRect& inner, double value) {
  WithType(dtype, [&](auto zero) {
    using T = decltype(zero);
    T fill;
    if constexpr (std::is_same_v<T, float>) {
      fill = static_cast<float>(value);
    } else {
      fill = static_cast<T>(
          std::clamp(std::nearbyint(value), 0.0, double{std::numeric_limits<T>::max()}));
    }
    for (int64_t y = 0; y < height; ++y) {
      T* row = reinterpret_cast<T*>(out + y * stride);
      if (y < inner.y || y >= inner.y + inner.height) {
        std::fill_n(row, width * channels, fill);
        continue;
      }
      std::fill_n(row, inner.x * channels, fill);
      std::fill(row + (inner.x + inner.width) * channels, row + width * channels, fill);
    }
  });
}

// ---- the transform ----

class ImageTransform : public Transform {
 public:
  ImageTransform(std::string field, std::vector<Step> steps)
      : field_(std::move(field)), steps_(std::move(steps)) {
    for (const Step& step : steps_) {
      if (!name_.empty()) name_ += "+";
      name_ += StepName(step);
      random_ |= IsRandom(step);
      salts_.push_back(SaltOf(step));
    }
  }

  const std::string& name() const override { return name_; }
  bool random() const override { return random_; }

  std::vector<Field> Fields(const std::vector<Field>& in) const override {
    return WithContext(name_, [&] {
      const size_t f = FindField(in, field_);
      Type type = TypeOf(in[f]);
      for (const Step& step : steps_) {
        type = WithContext(
            fmt::format("{} of field \"{}\" ({})", StepName(step), field_, in[f].ToString()),
            [&] { return After(step, type); });
      }
      std::vector<Field> out = in;
      out[f].text = false;
      out[f].bound = 0;
      out[f].shape = ir::Shape(type.dtype, {type.height, type.width, type.channels});
      return out;
    });
  }

  void Apply(const Block& in, Block& out, std::span<const uint64_t> keys) const override {
    const std::vector<Field>& fields = in.fields();
    const size_t f = FindField(fields, field_);
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i != f) out.ShareColumn(i, in, i);
    }
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      try {
        One(in, out, f, row, random_ ? keys[static_cast<size_t>(row)] : 0);
      } catch (DataError& error) {
        error.AddContext(fmt::format("field \"{}\"", field_));
        out.Bad(row, error);
      }
    }
  }

  TransformPtr FuseWith(const TransformPtr& next) const override {
    const auto* other = dynamic_cast<const ImageTransform*>(next.get());
    if (other == nullptr || other->field_ != field_) return nullptr;
    std::vector<Step> both = steps_;
    both.insert(both.end(), other->steps_.begin(), other->steps_.end());
    return std::make_shared<ImageTransform>(field_, std::move(both));
  }

 private:
  static Type TypeOf(const Field& field) {
    Type type;
    if (field.text) {
      if (field.shape.rank() != 0) {
        throw Invalid("expected one encoded picture per record, found {}", field.ToString());
      }
      type.encoded = true;
      return type;
    }
    const ir::DType dtype = field.shape.dtype;
    if (field.shape.rank() != 3 ||
        (dtype != ir::DType::kU8 && dtype != ir::DType::kU16 && dtype != ir::DType::kF32)) {
      throw Invalid(
          "expected encoded bytes (text) or pixels [height, width, channels] of u8, u16 "
          "or f32, found {}",
          field.ToString());
    }
    type.height = field.shape.dims[0];
    type.width = field.shape.dims[1];
    type.channels = field.shape.dims[2];
    type.dtype = dtype;
    return type;
  }

  // The place of the result in the batch.
  static Target Final(Block& out, size_t f, int64_t row, int64_t height, int64_t width,
                      int64_t channels, ir::DType dtype) {
    const Field& field = out.fields()[f];
    const int64_t dims[] = {height, width, channels};
    for (size_t i = 0; i < 3; ++i) {
      if (field.shape.dims[i] != kAny && field.shape.dims[i] != dims[i]) {
        throw BadData("expected a picture {} (height, width, channels), found {}",
                      ir::DimsToString(field.shape.dims),
                      ir::DimsToString({height, width, channels}));
      }
    }
    const int64_t stride = width * channels * ir::ByteSize(dtype);
    if (field.fixed()) return {out.data(f, row), stride};
    return {out.SetCell(f, row, dims), stride};
  }

  void One(const Block& in, Block& out, size_t f, int64_t row, uint64_t key) const {
    const auto* decode = std::get_if<DecodeStep>(&steps_.front());
    Scratch& scratch = ThreadScratch();
    Picture picture(scratch, decode != nullptr && decode->dct_scaling);
    if (decode != nullptr) {
      picture.Open(in.bytes(f, row), decode->options);
    } else {
      const std::span<const int64_t> dims = in.dims(f, row);
      Pixels pixels;
      pixels.data = in.bytes(f, row).data();
      pixels.height = dims[0];
      pixels.width = dims[1];
      pixels.channels = static_cast<int>(dims[2]);
      pixels.dtype = in.fields()[f].shape.dtype;
      pixels.stride = pixels.width * pixels.pixel_bytes();
      if (pixels.height == 0 || pixels.width == 0 || pixels.channels == 0) {
        throw BadData("the picture has no pixels: {} by {} by {}", dims[0], dims[1], dims[2]);
      }
      picture.Set(pixels);
    }
    bool done = false;
    for (size_t i = decode != nullptr ? 1 : 0; i < steps_.size(); ++i) {
      const bool last = i + 1 == steps_.size();
      // Where a step computes its result: in the batch when it is the last.
      auto place = [&](int64_t height, int64_t width, int64_t channels, ir::DType dtype) {
        if (last) {
          done = true;
          return Final(out, f, row, height, width, channels, dtype);
        }
        const int64_t stride = (width * channels * ir::ByteSize(dtype) + 63) / 64 * 64;
        return Target{picture.Other(stride * height), stride};
      };
      WithContext(StepName(steps_[i]),
                  [&] { Run(steps_[i], picture, Draws(key, salts_[i]), place); });
    }
    if (done) return;
    picture.Into(
        Final(out, f, row, picture.height(), picture.width(), picture.channels(), picture.dtype()));
  }

  template <typename Place>
  static void Run(const Step& step, Picture& picture, Draws draws, const Place& place) {
    std::visit(
        Overloaded{[](const DecodeStep&) {}, [&](const ResizeStep& s) { RunResize(s, picture); },
                   [&](const CropStep& s) { RunCrop(s, picture, draws, place); },
                   [&](const ResizedCropStep& s) { RunResizedCrop(s, picture, draws); },
                   [&](const FlipStep& s) {
                     // Both are drawn whatever the options, one after the other.
                     const bool x = draws.Uniform() < s.p;
                     const bool y = draws.Uniform() < s.p;
                     picture.Flip(s.vertical && y, s.horizontal && x);
                   },
                   [&](const PadStep& s) {
                     const int64_t height = s.size.front(), width = s.size.back();
                     if (picture.height() > height || picture.width() > width) {
                       throw BadData(
                           "expected at most {} by {} pixels (height by width), found {} by "
                           "{}; crop or resize first",
                           height, width, picture.height(), picture.width());
                     }
                     const int64_t y = s.center ? (height - picture.height()) / 2 : 0;
                     const int64_t x = s.center ? (width - picture.width()) / 2 : 0;
                     Pad(picture, height, width, y, x, s.value, place);
                   },
                   [&](const NormalizeStep& s) { RunNormalize(s, picture); },
                   [&](const GrayscaleStep&) { RunGrayscale(picture, place); },
                   [&](const ColorStep& s) {
                     const auto amount = static_cast<float>(draws.Between(s.lower, s.upper));
                     RunColor(s.kind, amount, picture, place);
                   }},
        step);
  }

  static void RunResize(const ResizeStep& step, Picture& picture) {
    if (step.crop_to_aspect_ratio) {
      // Keras's smart_resize: the largest centred part of the wanted proportions.
      const int64_t height = picture.height(), width = picture.width();
      const int64_t want_height = step.size[0], want_width = step.size[1];
      const int64_t part_height = std::clamp<int64_t>(width * want_height / want_width, 1, height);
      const int64_t part_width = std::clamp<int64_t>(height * want_width / want_height, 1, width);
      picture.Crop({(height - part_height) / 2, (width - part_width) / 2, part_height, part_width});
    }
    const auto [height, width] = ResizedSize(step, picture.height(), picture.width());
    picture.Resize(step, height, width);
  }

  template <typename Place>
  static void RunCrop(const CropStep& step, Picture& picture, Draws& draws, const Place& place) {
    const int64_t height = step.size.front(), width = step.size.back();
    // Of the picture with its frame of zeros; nothing of the frame is made that is cut off again.
    const int64_t pad_y = PadOf(picture.height(), height, step, "height");
    const int64_t pad_x = PadOf(picture.width(), width, step, "width");
    const int64_t spare_y = std::max<int64_t>(0, picture.height() + 2 * pad_y - height);
    const int64_t spare_x = std::max<int64_t>(0, picture.width() + 2 * pad_x - width);
    const int64_t y = (step.random ? draws.Below(spare_y + 1) : spare_y / 2) - pad_y;
    const int64_t x = (step.random ? draws.Below(spare_x + 1) : spare_x / 2) - pad_x;
    const int64_t top = std::max<int64_t>(y, 0), left = std::max<int64_t>(x, 0);
    const int64_t bottom = std::min(y + height, picture.height());
    const int64_t right = std::min(x + width, picture.width());
    if (bottom <= top || right <= left) {
      // Nothing but frame.
      const Target target = place(height, width, picture.channels(), picture.dtype());
      Pixels zeros = {target.data,        height,        width,
                      picture.channels(), target.stride, picture.dtype()};
      FillAround(target.data, target.stride, height, width, picture.channels(), picture.dtype(), {},
                 0);
      picture.Set(zeros);
      return;
    }
    picture.Crop({top, left, bottom - top, right - left});
    if (bottom - top == height && right - left == width) return;
    Pad(picture, height, width, top - y, left - x, 0, place);
  }

  // Zeros on each side of a picture of `has` pixels, of which `wants` are to be cut out.
  static int64_t PadOf(int64_t has, int64_t wants, const CropStep& step, std::string_view what) {
    const int64_t missing = wants - has - 2 * step.padding;
    if (missing > 0 && !step.pad_if_needed) {
      throw BadData(
          "expected a {} of at least {} pixels, found {}; resize first, or set pad_if_needed = "
          "true",
          what, wants, has + 2 * step.padding);
    }
    return step.padding + (missing > 0 ? (missing + 1) / 2 : 0);
  }

  static void RunResizedCrop(const ResizedCropStep& step, Picture& picture, Draws& draws) {
    constexpr int kTries = 10;
    const int64_t height = picture.height(), width = picture.width();
    const double area = static_cast<double>(height) * static_cast<double>(width);
    ImageRect rect;
    bool found = false;
    for (int i = 0; i < kTries && !found; ++i) {
      const double target = area * draws.Between(step.scale[0], step.scale[1]);
      const double ratio =
          std::exp(draws.Between(std::log(step.ratio[0]), std::log(step.ratio[1])));
      const double w = std::nearbyint(std::sqrt(target * ratio));
      const double h = std::nearbyint(std::sqrt(target / ratio));
      if (w < 1 || h < 1 || w > static_cast<double>(width) || h > static_cast<double>(height)) {
        continue;
      }
      rect.height = static_cast<int64_t>(h);
      rect.width = static_cast<int64_t>(w);
      rect.y = draws.Below(height - rect.height + 1);
      rect.x = draws.Below(width - rect.width + 1);
      found = true;
    }
    if (!found) {
      // The centre, as much of it as the proportions allow.
      const double ratio = static_cast<double>(width) / static_cast<double>(height);
      rect.height = height;
      rect.width = width;
      if (ratio < step.ratio[0]) {
        rect.height = std::llround(static_cast<double>(width) / step.ratio[0]);
      } else if (ratio > step.ratio[1]) {
        rect.width = std::llround(static_cast<double>(height) * step.ratio[1]);
      }
      rect.height = std::clamp<int64_t>(rect.height, 1, height);
      rect.width = std::clamp<int64_t>(rect.width, 1, width);
      rect.y = (height - rect.height) / 2;
      rect.x = (width - rect.width) / 2;
    }
    picture.Crop(rect);
    picture.Resize(step.resize, step.resize.size.front(), step.resize.size.back());
  }

  template <typename Place>
  static void Pad(Picture& picture, int64_t height, int64_t width, int64_t y, int64_t x,
                  double value, const Place& place) {
    const int64_t channels = picture.channels();
    const ir::DType dtype = picture.dtype();
    const ImageRect inner = {y, x, picture.height(), picture.width()};
    // The picture may lie in the memory that `place` is about to give.
    const Target target = place(height, width, channels, dtype);
    picture.Into(
        {target.data + y * target.stride + x * channels * ir::ByteSize(dtype), target.stride});
    FillAround(target.data, target.stride, height, width, channels, dtype, inner, value);
    picture.Set({target.data, height, width, static_cast<int>(channels), target.stride, dtype});
  }

  static void RunNormalize(const NormalizeStep& step, Picture& picture) {
    const size_t count = std::max(step.mean.size(), step.std.size());
    if (count > 1 && count != static_cast<size_t>(picture.channels())) {
      throw BadData("expected a picture of {} channels (as mean and std have), found {}", count,
                    picture.channels());
    }
    const double by = step.scale ? *step.scale : 1 / static_cast<double>(Largest(picture.dtype()));
    std::vector<double> scale, shift;
    for (size_t c = 0; c < count; ++c) {
      const double mean = step.mean[step.mean.size() == 1 ? 0 : c];
      const double std = step.std[step.std.size() == 1 ? 0 : c];
      scale.push_back(by / std);
      shift.push_back(-mean / std);
    }
    picture.Scale(scale, shift);
  }

  template <typename Place>
  static void RunGrayscale(Picture& picture, const Place& place) {
    if (picture.channels() == 1) return;
    if (picture.channels() != 3) {
      throw BadData("expected a picture of 3 channels, found {}", picture.channels());
    }
    const Pixels rgb = picture.ToScratch();
    const Target target = place(rgb.height, rgb.width, 1, rgb.dtype);
    WithType(rgb.dtype,
             [&](auto zero) { Grayscale<decltype(zero)>(rgb, target.data, target.stride); });
    picture.Set({target.data, rgb.height, rgb.width, 1, target.stride, rgb.dtype});
  }

  template <typename Place>
  static void RunColor(ColorStep::Kind kind, float amount, Picture& picture, const Place& place) {
    if ((kind == ColorStep::Kind::kSaturation || kind == ColorStep::Kind::kHue) &&
        picture.channels() != 3) {
      throw BadData("expected a picture of 3 channels, found {}", picture.channels());
    }
    const Pixels pixels =
        picture.Into(place(picture.height(), picture.width(), picture.channels(), picture.dtype()));
    WithType(pixels.dtype, [&](auto zero) { ChangeColor<decltype(zero)>(pixels, kind, amount); });
  }

  const std::string field_;
  const std::vector<Step> steps_;
  std::vector<uint64_t> salts_;
  std::string name_;
  bool random_ = false;
};

// ---- by name ----

// Reads keys and remembers where they stand, so that CheckStep's complaints get their place.
class Keys {
 public:
  explicit Keys(FieldReader& reader) : reader_(reader) { (*this)("field", field_); }

  template <typename T>
  bool operator()(const char* name, T& value) {
    const Config* config = Take(name);
    if (config != nullptr) ReadConfig(*config, value);
    return config != nullptr;
  }
  const Config* Take(const char* name) {
    const Config* config = reader_.Take(name);
    if (config != nullptr) taken_.emplace_back(name, config);
    return config;
  }
  // A text that `parse` makes a value of, throwing UserError.
  template <typename F>
  void Parse(const char* name, F parse) {
    const Config* config = Take(name);
    if (config == nullptr) return;
    const std::string& text = config->AsString();
    try {
      parse(text);
    } catch (const UserError& error) {
      throw config->Complain(error.what());
    }
  }
  template <typename T>
  const Config* Required(const char* name, T& value) {
    reader_.Required(name, value);
    return Take(name);
  }

  TransformPtr Finish(Step step) {
    try {
      return Make(std::move(step), field_);
    } catch (const UserError& error) {
      std::string_view message = error.what();
      for (const auto& [name, config] : taken_) {
        const std::string start = name + ": ";
        if (message.starts_with(start)) {
          throw config->Complain(message.substr(start.size()));
        }
      }
      if (!taken_.empty()) throw taken_.back().second->Complain(message);
      throw;
    }
  }

 private:
  FieldReader& reader_;
  std::string field_ = "image";
  std::vector<std::pair<std::string, const Config*>> taken_;
};

TransformPtr MakeDecode(FieldReader& reader) {
  Keys keys(reader);
  DecodeStep step;
  int64_t channels = step.options.channels;
  keys("channels", channels);
  step.options.channels = static_cast<int>(std::clamp<int64_t>(channels, -1, 5));
  keys.Parse("dtype", [&](const std::string& text) { step.options.dtype = ir::ParseDType(text); });
  keys.Parse("alpha", [&](const std::string& text) {
    static const std::vector<std::pair<std::string, AlphaPolicy>> policies = {
        {"auto", AlphaPolicy::kAuto},
        {"drop", AlphaPolicy::kDrop},
        {"composite", AlphaPolicy::kComposite},
        {"keep", AlphaPolicy::kKeep}};
    std::vector<std::string> names;
    for (const auto& [name, policy] : policies) {
      if (name == text) step.options.alpha = policy;
      names.push_back(name);
    }
    if (std::find(names.begin(), names.end(), text) == names.end()) {
      throw Invalid("expected auto, drop, composite or keep, found \"{}\"{}", text,
                    DidYouMean(text, names));
    }
  });
  std::vector<int64_t> background;
  if (keys("background", background)) {
    if (background.size() == 1) background.assign(3, background[0]);
    if (background.size() != 3 || *std::min_element(background.begin(), background.end()) < 0 ||
        *std::max_element(background.begin(), background.end()) > 255) {
      throw keys.Take("background")
          ->Complain("expected [red, green, blue], each 0 to 255, or one number for all three");
    }
    for (size_t i = 0; i < 3; ++i) step.options.background[i] = static_cast<uint8_t>(background[i]);
  }
  keys("exif", step.options.exif);
  keys("try_recover_truncated", step.options.try_recover_truncated);
  keys("max_pixels", step.options.max_pixels);
  keys("dct_scaling", step.dct_scaling);
  return keys.Finish(step);
}

void ReadResize(Keys& keys, ResizeStep& step) {
  keys.Required("size", step.size);
  keys.Parse("method", [&](const std::string& text) { step.method = ParseResizeMethod(text); });
  keys("antialias", step.antialias);
  keys.Parse("dtype", [&](const std::string& text) { step.dtype = ir::ParseDType(text); });
}

TransformPtr MakeResize(FieldReader& reader) {
  Keys keys(reader);
  ResizeStep step;
  ReadResize(keys, step);
  keys("preserve_aspect_ratio", step.preserve_aspect_ratio);
  keys("crop_to_aspect_ratio", step.crop_to_aspect_ratio);
  return keys.Finish(step);
}

TransformPtr MakeCenterCrop(FieldReader& reader) {
  Keys keys(reader);
  CropStep step;
  keys.Required("size", step.size);
  keys("pad_if_needed", step.pad_if_needed);
  return keys.Finish(step);
}

TransformPtr MakeRandomCrop(FieldReader& reader) {
  Keys keys(reader);
  CropStep step;
  step.random = true;
  keys.Required("size", step.size);
  keys("padding", step.padding);
  keys("pad_if_needed", step.pad_if_needed);
  keys("seed", step.seed);
  return keys.Finish(step);
}

TransformPtr MakeRandomResizedCrop(FieldReader& reader) {
  Keys keys(reader);
  ResizedCropStep step;
  ReadResize(keys, step.resize);
  keys("scale", step.scale);
  keys("ratio", step.ratio);
  keys("seed", step.seed);
  return keys.Finish(step);
}

TransformPtr MakeRandomFlip(FieldReader& reader) {
  Keys keys(reader);
  FlipStep step;
  keys("horizontal", step.horizontal);
  keys("vertical", step.vertical);
  keys("p", step.p);
  keys("seed", step.seed);
  return keys.Finish(step);
}

TransformPtr MakePadTo(FieldReader& reader) {
  Keys keys(reader);
  PadStep step;
  keys.Required("size", step.size);
  keys("value", step.value);
  keys.Parse("position", [&](const std::string& text) {
    if (text != "center" && text != "top_left") {
      throw Invalid("expected center or top_left, found \"{}\"", text);
    }
    step.center = text == "center";
  });
  return keys.Finish(step);
}

TransformPtr MakeNormalize(FieldReader& reader) {
  Keys keys(reader);
  NormalizeStep step;
  keys("mean", step.mean);
  keys("std", step.std);
  double scale;
  if (keys("scale", scale)) step.scale = scale;
  return keys.Finish(step);
}

TransformPtr MakeToFloat(FieldReader& reader) { return Keys(reader).Finish(NormalizeStep{}); }

TransformPtr MakeGrayscale(FieldReader& reader) { return Keys(reader).Finish(GrayscaleStep{}); }

TransformPtr MakeDelta(FieldReader& reader, ColorStep::Kind kind) {
  Keys keys(reader);
  ColorStep step;
  step.kind = kind;
  double delta = 0;
  const Config* config = keys.Required("max_delta", delta);
  if (!(delta >= 0)) throw config->Complain("expected 0 or more");
  step.lower = -delta;
  step.upper = delta;
  keys("seed", step.seed);
  return keys.Finish(step);
}

TransformPtr MakeFactor(FieldReader& reader, ColorStep::Kind kind) {
  Keys keys(reader);
  ColorStep step;
  step.kind = kind;
  keys.Required("lower", step.lower);
  keys.Required("upper", step.upper);
  keys("seed", step.seed);
  return keys.Finish(step);
}

}  // namespace

TransformPtr Make(Step step, std::string field) {
  CheckStep(step);
  return std::make_shared<ImageTransform>(std::move(field), std::vector<Step>{std::move(step)});
}

}  // namespace flatout::data::images

namespace flatout::data {

FLATOUT_REGISTER(image_transforms) {
  using images::ColorStep;
  RegisterTransform("decode_image", images::MakeDecode);
  RegisterTransform("resize", images::MakeResize);
  RegisterTransform("center_crop", images::MakeCenterCrop);
  RegisterTransform("random_crop", images::MakeRandomCrop);
  RegisterTransform("random_resized_crop", images::MakeRandomResizedCrop);
  RegisterTransform("random_flip", images::MakeRandomFlip);
  RegisterTransform("pad_to", images::MakePadTo);
  RegisterTransform("normalize_image", images::MakeNormalize);
  RegisterTransform("to_float", images::MakeToFloat);
  RegisterTransform("rgb_to_grayscale", images::MakeGrayscale);
  RegisterTransform("random_brightness", [](FieldReader& reader) {
    return images::MakeDelta(reader, ColorStep::Kind::kBrightness);
  });
  RegisterTransform("random_contrast", [](FieldReader& reader) {
    return images::MakeFactor(reader, ColorStep::Kind::kContrast);
  });
  RegisterTransform("random_saturation", [](FieldReader& reader) {
    return images::MakeFactor(reader, ColorStep::Kind::kSaturation);
  });
  RegisterTransform("random_hue", [](FieldReader& reader) {
    return images::MakeDelta(reader, ColorStep::Kind::kHue);
  });
}

}  // namespace flatout::data
