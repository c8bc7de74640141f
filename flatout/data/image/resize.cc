#include "flatout/data/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "flatout/base/config.h"
#include "flatout/base/error.h"

namespace flatout::data {
namespace {

struct Named {
  ResizeMethod method;
  std::string_view name;
};
constexpr Named kMethods[] = {
    {ResizeMethod::kNearest, "nearest"},   {ResizeMethod::kBilinear, "bilinear"},
    {ResizeMethod::kBicubic, "bicubic"},   {ResizeMethod::kArea, "area"},
    {ResizeMethod::kLanczos3, "lanczos3"}, {ResizeMethod::kLanczos5, "lanczos5"},
    {ResizeMethod::kGaussian, "gaussian"}, {ResizeMethod::kMitchellCubic, "mitchellcubic"},
};

// ---- kernels: value at distance x, in pixels of the smaller scale ----

float Radius(ResizeMethod method) {
  switch (method) {
    case ResizeMethod::kBilinear:
      return 1;
    case ResizeMethod::kBicubic:
    case ResizeMethod::kMitchellCubic:
      return 2;
    case ResizeMethod::kLanczos3:
      return 3;
    case ResizeMethod::kLanczos5:
      return 5;
    default:
      return 1.5f;  // gaussian, of which sigma is a third
  }
}

float Lanczos(float x, float radius) {
  constexpr float kPi = 3.14159265359f;
  x = std::abs(x);
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

float Kernel(ResizeMethod method, float x) {
  x = std::abs(x);
  switch (method) {
    case ResizeMethod::kBilinear:
      return std::max(0.0f, 1 - x);
    case ResizeMethod::kBicubic:  // Keys 1981, a = -1/2
      if (x >= 2) return 0;
      if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f;
      return (1.5f * x - 2.5f) * x * x + 1.0f;
    case ResizeMethod::kMitchellCubic:  // Mitchell and Netravali 1988, B = C = 1/3
      if (x >= 2) return 0;
      if (x >= 1) {
        return (((-7.0f / 18) * x + 2.0f) * x - 10.0f / 3) * x + 16.0f / 9;
      }
      return ((7.0f / 6) * x - 2.0f) * x * x + 8.0f / 9;
    case ResizeMethod::kLanczos3:
      return Lanczos(x, 3);
    case ResizeMethod::kLanczos5:
      return Lanczos(x, 5);
    default: {
      const float sigma = Radius(method) / 3;
      return x >= Radius(method) ? 0 : std::exp(-x * x / (2 * sigma * sigma));
    }
  }
}

// Cubic weights of the taps at -1, 0, 1 and 2, for a fraction in steps of 1/1024 as ResizeBicubic's
// table has them.
void CubicWeights(float fraction, float weights[4]) {
  constexpr int kSteps = 1024;
  const auto step = static_cast<float>(std::lrintf(fraction * kSteps)) / kSteps;
  const float x[4] = {1 + step, step, 1 - step, 2 - step};
  for (int i = 0; i < 4; ++i) weights[i] = Kernel(ResizeMethod::kBicubic, x[i]);
}

// ---- the two passes ----

// Each of these is compiled for several instruction sets; without fused multiply-add (which
// -std=c++23 leaves off) and with sums in a fixed order they give the same bits.
#if defined(__x86_64__) && defined(__GNUC__)
#define FLATOUT_RESIZE_VARIANTS 1
#endif
#define FLATOUT_INLINE [[gnu::always_inline]] inline

using Float16 [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;

template <typename T>
FLATOUT_INLINE void WidenBody(const T* __restrict in, int64_t values, float* __restrict out) {
  for (int64_t i = 0; i < values; ++i) out[i] = static_cast<float>(in[i]);
}

template <int kTaps>
FLATOUT_INLINE void SumRowsOf(const float* const* rows, const float* weights, int64_t taps,
                              int64_t values, float* out) {
  const int64_t count = kTaps > 0 ? kTaps : taps;
  int64_t i = 0;
  for (; i + 16 <= values; i += 16) {
    Float16 sum = *reinterpret_cast<const Float16*>(rows[0] + i) * weights[0];
    for (int64_t t = 1; t < count; ++t) {
      sum = sum + *reinterpret_cast<const Float16*>(rows[t] + i) * weights[t];
    }
    *reinterpret_cast<Float16*>(out + i) = sum;
  }
  for (; i < values; ++i) {
    float sum = rows[0][i] * weights[0];
    for (int64_t t = 1; t < count; ++t) sum = sum + rows[t][i] * weights[t];
    out[i] = sum;
  }
}

FLATOUT_INLINE void SumRowsBody(const float* const* rows, const float* weights, int64_t taps,
                                int64_t values, float* out) {
  switch (taps) {
    case 1:
      return SumRowsOf<1>(rows, weights, taps, values, out);
    case 2:
      return SumRowsOf<2>(rows, weights, taps, values, out);
    case 3:
      return SumRowsOf<3>(rows, weights, taps, values, out);
    case 4:
      return SumRowsOf<4>(rows, weights, taps, values, out);
    case 5:
      return SumRowsOf<5>(rows, weights, taps, values, out);
    default:
      return SumRowsOf<0>(rows, weights, taps, values, out);
  }
}

using Float4 [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

// `in` and `out` have room for four values at any pixel. kChannels 3 and 4 take a pixel as one
// vector; the fourth value is whatever follows, and is overwritten by the next pixel.
template <int kChannels, int kTaps>
FLATOUT_INLINE void SumColumnsBody(const float* in, const int32_t* begin, const float* weights,
                                   int64_t taps, int64_t pixels, float* out) {
  const int64_t count = kTaps > 0 ? kTaps : taps;
  for (int64_t x = 0; x < pixels; ++x) {
    const float* from = in + static_cast<int64_t>(begin[x]) * kChannels;
    const float* w = weights + x * count;
    if constexpr (kChannels >= 3) {
      Float4 sum = *reinterpret_cast<const Float4*>(from) * w[0];
      for (int64_t t = 1; t < count; ++t) {
        sum = sum + *reinterpret_cast<const Float4*>(from + t * kChannels) * w[t];
      }
      *reinterpret_cast<Float4*>(out + x * kChannels) = sum;
    } else {
      for (int c = 0; c < kChannels; ++c) {
        float sum = from[c] * w[0];
        for (int64_t t = 1; t < count; ++t) sum = sum + from[t * kChannels + c] * w[t];
        out[x * kChannels + c] = sum;
      }
    }
  }
}

template <int kChannels>
FLATOUT_INLINE void SumColumnsOf(const float* in, const int32_t* begin, const float* weights,
                                 int64_t taps, int64_t pixels, float* out) {
  switch (taps) {
    case 1:
      return SumColumnsBody<kChannels, 1>(in, begin, weights, taps, pixels, out);
    case 2:
      return SumColumnsBody<kChannels, 2>(in, begin, weights, taps, pixels, out);
    case 3:
      return SumColumnsBody<kChannels, 3>(in, begin, weights, taps, pixels, out);
    case 4:
      return SumColumnsBody<kChannels, 4>(in, begin, weights, taps, pixels, out);
    case 5:
      return SumColumnsBody<kChannels, 5>(in, begin, weights, taps, pixels, out);
    default:
      return SumColumnsBody<kChannels, 0>(in, begin, weights, taps, pixels, out);
  }
}

FLATOUT_INLINE void SumColumnsAnyBody(const float* in, int channels, const int32_t* begin,
                                      const float* weights, int64_t taps, int64_t pixels,
                                      float* out) {
  switch (channels) {
    case 1:
      return SumColumnsOf<1>(in, begin, weights, taps, pixels, out);
    case 2:
      return SumColumnsOf<2>(in, begin, weights, taps, pixels, out);
    case 3:
      return SumColumnsOf<3>(in, begin, weights, taps, pixels, out);
    case 4:
      return SumColumnsOf<4>(in, begin, weights, taps, pixels, out);
    default:
      for (int64_t x = 0; x < pixels; ++x) {
        const float* from = in + static_cast<int64_t>(begin[x]) * channels;
        for (int c = 0; c < channels; ++c) {
          float sum = 0;
          for (int64_t t = 0; t < taps; ++t) {
            sum = sum + from[t * channels + c] * weights[x * taps + t];
          }
          out[x * channels + c] = sum;
        }
      }
  }
}

// Adding and taking away 1.5 * 2^23 rounds to the nearest integer, ties to even; exact for
// |v| < 2^22.
FLATOUT_INLINE float Rounded(float v, float most) {
  v = v < 0 ? 0 : v;
  v = v > most ? most : v;
  constexpr float kMagic = 12582912.0f;
  return (v + kMagic) - kMagic;
}

// One row of values by `scale` and `shift`, which are as long as the row (nullptr: as they are).
template <typename In, typename Out>
FLATOUT_INLINE void FinishBody(const In* __restrict in, int64_t values, float round_to,
                               const float* __restrict scale, const float* __restrict shift,
                               Out* __restrict out) {
  constexpr bool integer = !std::is_same_v<Out, float>;
  auto store = [&](int64_t i, float v) {
    if constexpr (integer) {
      constexpr float most = std::is_same_v<Out, uint8_t> ? 255.0f : 65535.0f;
      out[i] = static_cast<Out>(static_cast<int32_t>(Rounded(v, most)));
    } else {
      out[i] = v;
    }
  };
  if (scale == nullptr) {
    if (round_to > 0 && !integer) {
      for (int64_t i = 0; i < values; ++i) store(i, Rounded(static_cast<float>(in[i]), round_to));
    } else {
      for (int64_t i = 0; i < values; ++i) store(i, static_cast<float>(in[i]));
    }
  } else if (round_to > 0) {
    for (int64_t i = 0; i < values; ++i) {
      store(i, Rounded(static_cast<float>(in[i]), round_to) * scale[i] + shift[i]);
    }
  } else {
    for (int64_t i = 0; i < values; ++i) {
      store(i, static_cast<float>(in[i]) * scale[i] + shift[i]);
    }
  }
}

template <typename In>
FLATOUT_INLINE void FinishAnyBody(const In* in, int64_t values, float round_to, const float* scale,
                                  const float* shift, ir::DType dtype, std::byte* out) {
  switch (dtype) {
    case ir::DType::kU8:
      return FinishBody(in, values, round_to, scale, shift, reinterpret_cast<uint8_t*>(out));
    case ir::DType::kU16:
      return FinishBody(in, values, round_to, scale, shift, reinterpret_cast<uint16_t*>(out));
    default:
      return FinishBody(in, values, round_to, scale, shift, reinterpret_cast<float*>(out));
  }
}

struct Kernels {
  void (*widen_u8)(const uint8_t*, int64_t, float*);
  void (*widen_u16)(const uint16_t*, int64_t, float*);
  void (*sum_rows)(const float* const*, const float*, int64_t, int64_t, float*);
  void (*sum_columns)(const float*, int, const int32_t*, const float*, int64_t, int64_t, float*);
  void (*finish_u8)(const uint8_t*, int64_t, float, const float*, const float*, ir::DType,
                    std::byte*);
  void (*finish_u16)(const uint16_t*, int64_t, float, const float*, const float*, ir::DType,
                     std::byte*);
  void (*finish_f32)(const float*, int64_t, float, const float*, const float*, ir::DType,
                     std::byte*);
};

// The bodies above as functions of a struct, compiled as `attributes` say.
// NOLINTBEGIN(bugprone-macro-parentheses): attributes cannot stand in parentheses.
#define FLATOUT_KERNELS(name, attributes)                                                          \
  struct name {                                                                                    \
    template <typename T>                                                                          \
    attributes static void Widen(const T* in, int64_t values, float* out) {                        \
      WidenBody(in, values, out);                                                                  \
    }                                                                                              \
    attributes static void SumRows(const float* const* rows, const float* weights, int64_t taps,   \
                                   int64_t values, float* out) {                                   \
      SumRowsBody(rows, weights, taps, values, out);                                               \
    }                                                                                              \
    attributes static void SumColumns(const float* in, int channels, const int32_t* begin,         \
                                      const float* weights, int64_t taps, int64_t pixels,          \
                                      float* out) {                                                \
      SumColumnsAnyBody(in, channels, begin, weights, taps, pixels, out);                          \
    }                                                                                              \
    template <typename T>                                                                          \
    attributes static void Finish(const T* in, int64_t values, float round_to, const float* scale, \
                                  const float* shift, ir::DType dtype, std::byte* out) {           \
      FinishAnyBody(in, values, round_to, scale, shift, dtype, out);                               \
    }                                                                                              \
    static constexpr Kernels All() {                                                               \
      return {Widen<uint8_t>,  Widen<uint16_t>,  SumRows,      SumColumns,                         \
              Finish<uint8_t>, Finish<uint16_t>, Finish<float>};                                   \
    }                                                                                              \
  };

// NOLINTEND(bugprone-macro-parentheses)

FLATOUT_KERNELS(Baseline, )
#if FLATOUT_RESIZE_VARIANTS
FLATOUT_KERNELS(V3, [[gnu::target("arch=x86-64-v3")]])
#ifdef __clang__
FLATOUT_KERNELS(V4, [[gnu::target("arch=x86-64-v4")]])
#else
FLATOUT_KERNELS(V4, [[gnu::target("arch=x86-64-v4,prefer-vector-width=512")]])
#endif
#endif

const Kernels& Best() {
  static const Kernels kernels = [] {
#if FLATOUT_RESIZE_VARIANTS
    if (__builtin_cpu_supports("x86-64-v4")) return V4::All();
    if (__builtin_cpu_supports("x86-64-v3")) return V3::All();
#endif
    return Baseline::All();
  }();
  return kernels;
}

// scale and shift by channel, repeated over a row. Nothing where both are the identity.
struct RowFactors {
  const float* scale = nullptr;
  const float* shift = nullptr;
};

RowFactors RepeatFactors(const ResizeOutput& output, int64_t pixels, int channels,
                         std::vector<float>& memory) {
  if (output.scale.empty()) return {};
  const auto values = static_cast<size_t>(pixels * channels);
  if (memory.size() < 2 * values) memory.resize(2 * values);
  const auto period = static_cast<size_t>(channels);
  for (size_t i = 0; i < values; ++i) {
    memory[i] = output.scale[output.scale.size() == 1 ? 0 : i % period];
    memory[values + i] = output.shift[output.shift.size() == 1 ? 0 : i % period];
  }
  return {memory.data(), memory.data() + values};
}

}  // namespace

ResizeMethod ParseResizeMethod(std::string_view name) {
  std::vector<std::string> names;
  std::string known;
  for (const Named& named : kMethods) {
    if (named.name == name) return named.method;
    names.emplace_back(named.name);
    known += (known.empty() ? "" : ", ") + names.back();
  }
  throw Invalid("unknown method \"{}\"{}; known: {}", name, DidYouMean(name, names), known);
}

std::string_view Name(ResizeMethod method) {
  for (const Named& named : kMethods) {
    if (named.method == method) return named.name;
  }
  return "?";
}

bool Averages(ResizeMethod method, bool antialias) {
  return method == ResizeMethod::kArea || (antialias && method != ResizeMethod::kNearest);
}

void ResizeTaps::Make(ResizeMethod method, bool antialias, int64_t in, double from, double length,
                      int64_t out, int64_t first_wanted, int64_t wanted, bool flip) {
  begin.resize(static_cast<size_t>(wanted));
  const int64_t end_wanted = first_wanted + wanted;
  const float scale = static_cast<float>(length) / static_cast<float>(out);
  const auto origin = static_cast<float>(from);
  const auto last = static_cast<int32_t>(in - 1);
  auto place = [&](int64_t i) {
    return static_cast<size_t>(flip ? end_wanted - 1 - i : i - first_wanted);
  };
  // Weights are made at the most that any result can have, and moved together at the end.
  if (method == ResizeMethod::kArea) {
    count = static_cast<int64_t>(std::ceil(scale)) + 1;
    count = std::min(count, in);
    weights.assign(static_cast<size_t>(wanted * count), 0);
    for (int64_t i = first_wanted; i < end_wanted; ++i) {
      const float low = origin + static_cast<float>(i) * scale;
      const float high = origin + static_cast<float>(i + 1) * scale;
      const auto first = static_cast<int32_t>(std::floor(low));
      const auto end = static_cast<int32_t>(std::ceil(high));
      const int32_t start = std::clamp<int32_t>(
          first, 0, std::max<int32_t>(0, last + 1 - static_cast<int32_t>(count)));
      float* w = weights.data() + place(i) * static_cast<size_t>(count);
      for (int32_t j = first; j < end; ++j) {
        float part;
        if (static_cast<float>(j) < low) {
          part = static_cast<float>(j + 1) > high ? scale : static_cast<float>(j + 1) - low;
        } else {
          part = static_cast<float>(j + 1) > high ? high - static_cast<float>(j) : 1.0f;
        }
        const int64_t t = std::clamp<int64_t>(std::clamp(j, 0, last) - start, 0, count - 1);
        w[t] += part / scale;
      }
      begin[place(i)] = start;
    }
    return;
  }
  const bool spans = antialias || Radius(method) == 3 || Radius(method) == 5 ||
                     method == ResizeMethod::kGaussian || method == ResizeMethod::kMitchellCubic;
  if (spans) {
    const float kernel_scale = antialias ? std::max(scale, 1.0f) : 1.0f;
    const float radius = Radius(method) * kernel_scale;
    count = std::min(in, static_cast<int64_t>(std::ceil(2 * radius)) + 1);
    weights.assign(static_cast<size_t>(wanted * count), 0);
    const float inverse = 1.0f / kernel_scale;
    int64_t most = 1;
    for (int64_t i = first_wanted; i < end_wanted; ++i) {
      const float sample = origin + (static_cast<float>(i) + 0.5f) * scale;
      const int64_t first =
          std::clamp<int64_t>(static_cast<int64_t>(std::ceil(sample - radius - 0.5f)), 0, last);
      const int64_t end = std::clamp<int64_t>(
          static_cast<int64_t>(std::floor(sample + radius - 0.5f)), first, last);
      float* w = weights.data() + place(i) * static_cast<size_t>(count);
      const int64_t taps = std::min(end - first + 1, count);
      float sum = 0;
      for (int64_t t = 0; t < taps; ++t) {
        const float x = static_cast<float>(first + t) + 0.5f - sample;
        w[t] = Kernel(method, x * inverse);
        sum += w[t];
      }
      // A span of nothing but zeros is as good as its first pixel.
      if (std::abs(sum) < 1e-30f) {
        w[0] = 1;
      } else {
        const float one = 1.0f / sum;
        for (int64_t t = 0; t < taps; ++t) w[t] *= one;
      }
      begin[place(i)] = static_cast<int32_t>(first);
      int64_t used = taps;
      while (used > 1 && w[used - 1] == 0) --used;
      most = std::max(most, used);
    }
    if (most < count) {
      for (int64_t i = 0; i < wanted; ++i) {
        std::memmove(weights.data() + i * most, weights.data() + i * count,
                     static_cast<size_t>(most) * sizeof(float));
      }
      count = most;
      weights.resize(static_cast<size_t>(wanted * count));
    }
    // Keep every span within the input, zeros included.
    for (int64_t i = 0; i < wanted; ++i) {
      const int64_t over = begin[static_cast<size_t>(i)] + count - in;
      if (over <= 0) continue;
      float* w = weights.data() + i * count;
      std::memmove(w + over, w, static_cast<size_t>(count - over) * sizeof(float));
      std::fill(w, w + over, 0.0f);
      begin[static_cast<size_t>(i)] -= static_cast<int32_t>(over);
    }
    return;
  }
  const bool cubic = method == ResizeMethod::kBicubic;
  count = std::min<int64_t>(in, cubic ? 4 : 2);
  weights.assign(static_cast<size_t>(wanted * count), 0);
  for (int64_t i = first_wanted; i < end_wanted; ++i) {
    const float center = origin + (static_cast<float>(i) + 0.5f) * scale - 0.5f;
    const float floor = std::floor(center);
    const auto low = static_cast<int32_t>(floor);
    float* w = weights.data() + place(i) * static_cast<size_t>(count);
    const int32_t start =
        std::clamp<int32_t>(cubic ? low - 1 : low, 0, last + 1 - static_cast<int32_t>(count));
    begin[place(i)] = start;
    auto add = [&](int32_t j, float weight) { w[std::clamp(j, 0, last) - start] += weight; };
    if (!cubic) {
      const float fraction = center - floor;
      add(low, 1 - fraction);
      add(low + 1, fraction);
      continue;
    }
    // Taps beyond the border count for nothing, and the others for that much more.
    float taps[4];
    CubicWeights(center - floor, taps);
    float sum = 0;
    for (int32_t t = 0; t < 4; ++t) {
      if (low - 1 + t < 0 || low - 1 + t > last) taps[t] = 0;
      sum += taps[t];
    }
    const float one = std::abs(sum) < 1000 * std::numeric_limits<float>::min() ? 1.0f : 1.0f / sum;
    for (int32_t t = 0; t < 4; ++t) {
      if (taps[t] != 0) add(low - 1 + t, taps[t] * one);
    }
  }
}

void Resize(const Pixels& in, ResizeScratch& scratch, int64_t out_height, int64_t out_width,
            const ResizeOutput& output, std::byte* out, int64_t stride) {
  const Kernels& kernels = Best();
  const ResizeTaps& down = scratch.vertical;
  const ResizeTaps& across = scratch.horizontal;
  const int64_t values = in.width * in.channels;
  const int64_t out_values = out_width * in.channels;
  // Behind the values there is room for a vector that begins at the last one.
  constexpr int64_t kSpare = 16;
  // Rows of floats: the sums of rows, the sums of their columns, and those of the input that are
  // still needed, each made once; input row r lies in place r % count.
  const bool widen = in.dtype != ir::DType::kF32;
  const int64_t row_floats = (values + kSpare + 15) / 16 * 16;
  const int64_t out_floats = (out_values + kSpare + 15) / 16 * 16;
  const auto floats =
      static_cast<size_t>(row_floats + out_floats + (widen ? down.count * row_floats : 0));
  if (scratch.row.size() < floats) scratch.row.resize(floats);
  float* row = scratch.row.data();
  float* sums = row + row_floats;
  float* widened = sums + out_floats;
  std::fill(row + values, row + row_floats, 0.0f);
  const RowFactors factors = RepeatFactors(output, out_width, in.channels, scratch.factors);
  const bool as_is =
      output.dtype == ir::DType::kF32 && output.round_to == 0 && factors.scale == nullptr;
  std::vector<const float*>& rows = scratch.rows;
  rows.resize(static_cast<size_t>(down.count));
  // From the top of the input down, also where the result is upside down.
  const bool upward = out_height > 1 && down.begin.front() > down.begin[out_height - 1];
  int64_t next = 0;  // the first input row that is not widened yet
  for (int64_t i = 0; i < out_height; ++i) {
    const int64_t y = upward ? out_height - 1 - i : i;
    const int64_t first = down.begin[static_cast<size_t>(y)];
    for (next = std::max(next, first); widen && next < first + down.count; ++next) {
      float* to = widened + next % down.count * row_floats;
      if (in.dtype == ir::DType::kU8) {
        kernels.widen_u8(reinterpret_cast<const uint8_t*>(in.row(next)), values, to);
      } else {
        kernels.widen_u16(reinterpret_cast<const uint16_t*>(in.row(next)), values, to);
      }
    }
    for (int64_t t = 0; t < down.count; ++t) {
      rows[static_cast<size_t>(t)] = widen ? widened + (first + t) % down.count * row_floats
                                           : reinterpret_cast<const float*>(in.row(first + t));
    }
    kernels.sum_rows(rows.data(), down.weights.data() + y * down.count, down.count, values, row);
    kernels.sum_columns(row, in.channels, across.begin.data(), across.weights.data(), across.count,
                        out_width, sums);
    std::byte* to = out + y * stride;
    if (as_is) {
      std::memcpy(to, sums, static_cast<size_t>(out_values) * sizeof(float));
    } else {
      kernels.finish_f32(sums, out_values, output.round_to, factors.scale, factors.shift,
                         output.dtype, to);
    }
  }
}

void ResizeNearest(const Pixels& in, int64_t out_height, int64_t out_width, const ImageRect& window,
                   bool flip_y, bool flip_x, std::byte* out, int64_t stride) {
  auto nearest = [](int64_t size, int64_t results, int64_t i) {
    const float scale = static_cast<float>(size) / static_cast<float>(results);
    const float at = (static_cast<float>(i) + 0.5f) * scale;
    return std::min(static_cast<int64_t>(std::floor(at)), size - 1);
  };
  const int64_t bytes = in.pixel_bytes();
  for (int64_t i = 0; i < window.height; ++i) {
    const std::byte* row = in.row(nearest(in.height, out_height, window.y + i));
    std::byte* to = out + (flip_y ? window.height - 1 - i : i) * stride;
    for (int64_t j = 0; j < window.width; ++j) {
      const int64_t from = nearest(in.width, out_width, window.x + j);
      std::memcpy(to + (flip_x ? window.width - 1 - j : j) * bytes, row + from * bytes,
                  static_cast<size_t>(bytes));
    }
  }
}

void ScaleRows(const Pixels& in, bool flip_y, bool flip_x, const ResizeOutput& output,
               std::byte* out, int64_t stride) {
  const Kernels& kernels = Best();
  thread_local std::vector<float> memory;
  thread_local PixelBuffer mirrored;
  const RowFactors factors = RepeatFactors(output, in.width, in.channels, memory);
  const int64_t values = in.width * in.channels;
  const int64_t bytes = in.pixel_bytes();
  for (int64_t y = 0; y < in.height; ++y) {
    const std::byte* row = in.row(y);
    if (flip_x) {
      std::byte* turned = mirrored.Get(in.width * bytes);
      for (int64_t x = 0; x < in.width; ++x) {
        std::memcpy(turned + x * bytes, row + (in.width - 1 - x) * bytes,
                    static_cast<size_t>(bytes));
      }
      row = turned;
    }
    std::byte* to = out + (flip_y ? in.height - 1 - y : y) * stride;
    switch (in.dtype) {
      case ir::DType::kU8:
        kernels.finish_u8(reinterpret_cast<const uint8_t*>(row), values, output.round_to,
                          factors.scale, factors.shift, output.dtype, to);
        break;
      case ir::DType::kU16:
        kernels.finish_u16(reinterpret_cast<const uint16_t*>(row), values, output.round_to,
                           factors.scale, factors.shift, output.dtype, to);
        break;
      default:
        kernels.finish_f32(reinterpret_cast<const float*>(row), values, output.round_to,
                           factors.scale, factors.shift, output.dtype, to);
    }
  }
}

}  // namespace flatout::data
