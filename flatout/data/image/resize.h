// Resizing, by tf.image.resize's methods and with its values.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "flatout/data/image/image.h"

namespace flatout::data {

enum class ResizeMethod {
  kNearest,
  kBilinear,
  kBicubic,  // Keys, a = -0.5
  kArea,     // the mean of what a pixel of the result covers; what antialias means is in it
  kLanczos3,
  kLanczos5,
  kGaussian,
  kMitchellCubic,
};
// "nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic".
// Throws UserError naming them.
ResizeMethod ParseResizeMethod(std::string_view name);
std::string_view Name(ResizeMethod method);
// Whether the method, antialiased or not, takes the mean over what a pixel of the result covers, so
// that shrinking first (as a scaled inverse DCT does) keeps it right.
bool Averages(ResizeMethod method, bool antialias);

// Along one axis: result i is the sum over t of weights[i * count + t] * input[begin[i] + t].
struct ResizeTaps {
  int64_t count = 0;
  std::vector<int32_t> begin;
  std::vector<float> weights;

  // For results [first, first + wanted) of `out` from `in` inputs, of which [from, from + length)
  // (which may begin and end within a pixel) is stretched over all `out`; nothing outside of
  // [0, in) is taken. Formulas, in
  // float as there: TensorFlow's ScaleAndTranslate where antialiased and for the last four methods,
  // else ResizeBilinear and ResizeBicubic (with half_pixel_centers; cubic weights in 1024 steps)
  // and ResizeArea. `flip`: results in reverse order. Weights that are zero fill up to `count`.
  void Make(ResizeMethod method, bool antialias, int64_t in, double from, double length,
            int64_t out, int64_t first, int64_t wanted, bool flip);
};

// Memory and tables that resizing uses again; one per thread.
struct ResizeScratch {
  ResizeTaps vertical, horizontal;
  std::vector<float> row, factors;
  std::vector<const float*> rows;
};

// What becomes of a resized value v (in the input's scale) on its way out.
struct ResizeOutput {
  ir::DType dtype = ir::DType::kF32;
  // Of the whole chain of steps that follow the sum: rounded to the nearest integer (ties to even)
  // and clamped to [0, round_to] first, if that is > 0; then multiplied and shifted by channel;
  // then, for integers, rounded and clamped to the type's range. Empty: 1 and 0.
  float round_to = 0;
  std::span<const float> scale, shift;
};

// Resizes the whole of `in` (u8, u16 or f32; any channels) to out_height rows of out_width pixels,
// `stride` bytes apart, as scratch's taps say, which were made for these sizes. Vertically first;
// sums are taken in the order of the taps, without fused multiply-add, so that every processor
// gives the same bits.
void Resize(const Pixels& in, ResizeScratch& scratch, int64_t out_height, int64_t out_width,
            const ResizeOutput& output, std::byte* out, int64_t stride);

// For each pixel of the part `window` of a result of out_height by out_width the nearest of `in`
// (TensorFlow's half_pixel_centers rule); the element type stays.
void ResizeNearest(const Pixels& in, int64_t out_height, int64_t out_width, const ImageRect& window,
                   bool flip_y, bool flip_x, std::byte* out, int64_t stride);

// out = in * scale + shift by channel, elementwise, u8, u16 or f32 to f32; rows may be mirrored.
// Rounded as ResizeOutput says.
void ScaleRows(const Pixels& in, bool flip_y, bool flip_x, const ResizeOutput& output,
               std::byte* out, int64_t stride);

}  // namespace flatout::data
