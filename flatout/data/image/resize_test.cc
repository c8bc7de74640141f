#include "flatout/data/image/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "flatout/data/image/image_testing.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::HasSubstr;
using testing::MessageOf;
using testing::RecordedImages;

// A picture that owns its pixels.
struct Owned {
  std::vector<std::byte> data;
  Pixels pixels;
};

Owned FromRecorded(const nlohmann::json& tensor) {
  Owned owned;
  const auto shape = tensor.at("shape").get<std::vector<int64_t>>();
  owned.pixels.height = shape[0];
  owned.pixels.width = shape[1];
  owned.pixels.channels = static_cast<int>(shape[2]);
  const auto values = tensor.at("data").get<std::vector<double>>();
  const bool integer = tensor.at("dtype") == "uint8";
  owned.pixels.dtype = integer ? ir::DType::kU8 : ir::DType::kF32;
  for (double value : values) {
    if (integer) {
      owned.data.push_back(static_cast<std::byte>(value));
    } else {
      const auto single = static_cast<float>(value);
      const auto* bytes = reinterpret_cast<const std::byte*>(&single);
      owned.data.insert(owned.data.end(), bytes, bytes + 4);
    }
  }
  owned.pixels.stride = owned.pixels.width * owned.pixels.pixel_bytes();
  owned.pixels.data = owned.data.data();
  return owned;
}

std::vector<float> Resized(const Pixels& in, ResizeMethod method, bool antialias, int64_t height,
                           int64_t width, const ImageRect& window, bool flip_y = false,
                           bool flip_x = false) {
  std::vector<float> out(static_cast<size_t>(window.height * window.width * in.channels));
  const int64_t stride = window.width * in.channels * 4;
  ResizeScratch scratch;
  scratch.vertical.Make(method, antialias, in.height, 0, static_cast<double>(in.height), height,
                        window.y, window.height, flip_y);
  scratch.horizontal.Make(method, antialias, in.width, 0, static_cast<double>(in.width), width,
                          window.x, window.width, flip_x);
  Resize(in, scratch, window.height, window.width, {}, reinterpret_cast<std::byte*>(out.data()),
         stride);
  return out;
}

TEST(Resize, AsTensorFlow) {
  int cases = 0;
  for (const nlohmann::json& c : RecordedImages().at("resizes")) {
    SCOPED_TRACE(c.at("method").get<std::string>() + (c.at("antialias") ? " antialias " : " ") +
                 c.at("input").get<std::string>() + c.at("size").dump());
    const Owned in =
        FromRecorded(RecordedImages().at("resize_inputs").at(c.at("input").get<std::string>()));
    const ResizeMethod method = ParseResizeMethod(c.at("method").get<std::string>());
    const auto size = c.at("size").get<std::vector<int64_t>>();
    const auto expected = c.at("expected").at("data").get<std::vector<double>>();
    const ImageRect whole = {0, 0, size[0], size[1]};
    std::vector<float> found;
    if (method == ResizeMethod::kNearest) {
      std::vector<std::byte> picked(
          static_cast<size_t>(size[0] * size[1] * in.pixels.pixel_bytes()));
      ResizeNearest(in.pixels, size[0], size[1], whole, false, false, picked.data(),
                    size[1] * in.pixels.pixel_bytes());
      for (size_t i = 0; i < expected.size(); ++i) {
        float value;
        if (in.pixels.dtype == ir::DType::kU8) {
          value = static_cast<float>(picked[i]);
        } else {
          std::memcpy(&value, &picked[4 * i], 4);
        }
        found.push_back(value);
      }
    } else {
      found = Resized(in.pixels, method, c.at("antialias"), size[0], size[1], whole);
    }
    ASSERT_EQ(found.size(), expected.size());
    const double tolerance = in.pixels.dtype == ir::DType::kU8 ? 2e-4 : 1e-5;
    for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance) << i;
    ++cases;
  }
  EXPECT_EQ(cases, 80);
}

Owned Noise(int64_t height, int64_t width, int channels, ir::DType dtype, uint32_t seed = 1) {
  Owned owned;
  owned.pixels = {nullptr, height, width, channels, 0, dtype};
  owned.pixels.stride = width * owned.pixels.pixel_bytes();
  for (int64_t i = 0; i < height * width * channels; ++i) {
    seed = seed * 1664525 + 1013904223;
    if (dtype == ir::DType::kF32) {
      const float value = static_cast<float>(seed >> 8) * 0x1p-24f;
      const auto* bytes = reinterpret_cast<const std::byte*>(&value);
      owned.data.insert(owned.data.end(), bytes, bytes + 4);
    } else {
      for (int64_t b = 0; b < ir::ByteSize(dtype); ++b) {
        owned.data.push_back(static_cast<std::byte>(seed >> (24 - 8 * b)));
      }
    }
  }
  owned.pixels.data = owned.data.data();
  return owned;
}

// A part of the result is what the whole has there, mirrored or not.
TEST(Resize, WindowsAndFlips) {
  for (ResizeMethod method : {ResizeMethod::kBilinear, ResizeMethod::kBicubic, ResizeMethod::kArea,
                              ResizeMethod::kLanczos3}) {
    for (bool antialias : {false, true}) {
      for (auto [height, width] :
           {std::pair<int64_t, int64_t>(9, 7), std::pair<int64_t, int64_t>(40, 50)}) {
        for (int channels : {1, 2, 3, 4, 5}) {
          const Owned in = Noise(23, 31, channels, ir::DType::kU8);
          const auto whole =
              Resized(in.pixels, method, antialias, height, width, {0, 0, height, width});
          const ImageRect window = {2, 3, height - 4, width - 3};
          const auto part =
              Resized(in.pixels, method, antialias, height, width, window, true, true);
          size_t i = 0;
          for (int64_t y = window.height - 1; y >= 0; --y) {
            for (int64_t x = window.width - 1; x >= 0; --x) {
              for (int c = 0; c < channels; ++c) {
                ASSERT_EQ(part[i++],
                          whole[static_cast<size_t>(((y + 2) * width + x + 3) * channels + c)])
                    << Name(method) << antialias << " " << y << " " << x;
              }
            }
          }
        }
      }
    }
  }
}

// Weights add up to one, so a flat picture stays flat, at any size; nothing is read outside.
TEST(Resize, FlatStaysFlat) {
  for (int m = static_cast<int>(ResizeMethod::kBilinear);
       m <= static_cast<int>(ResizeMethod::kMitchellCubic); ++m) {
    for (bool antialias : {false, true}) {
      for (int64_t in : {1, 2, 3, 7, 64}) {
        for (int64_t out : {1, 2, 5, 33}) {
          ResizeTaps taps;
          taps.Make(static_cast<ResizeMethod>(m), antialias, in, 0, static_cast<double>(in), out, 0,
                    out, false);
          ASSERT_LE(taps.count, in);
          for (int64_t i = 0; i < out; ++i) {
            float sum = 0;
            for (int64_t t = 0; t < taps.count; ++t) {
              sum += taps.weights[static_cast<size_t>(i * taps.count + t)];
            }
            ASSERT_NEAR(sum, 1, 1e-5) << m << antialias << " " << in << " to " << out;
            ASSERT_GE(taps.begin[static_cast<size_t>(i)], 0);
            ASSERT_LE(taps.begin[static_cast<size_t>(i)] + taps.count, in);
          }
        }
      }
    }
  }
}

// The part [0.5, 3.5) of four pixels, in two: each is the mean of one and a half.
TEST(Resize, PartsThatEndWithinPixels) {
  ResizeTaps taps;
  taps.Make(ResizeMethod::kArea, false, 4, 0.5, 3, 2, 0, 2, false);
  const float values[] = {1, 2, 4, 8};
  std::vector<float> sums;
  for (size_t i = 0; i < 2; ++i) {
    float sum = 0;
    for (int64_t t = 0; t < taps.count; ++t) {
      sum += values[taps.begin[i] + t] *
             taps.weights[i * static_cast<size_t>(taps.count) + static_cast<size_t>(t)];
    }
    sums.push_back(sum);
  }
  EXPECT_NEAR(sums[0], (0.5 * 1 + 2) / 1.5, 1e-6);
  EXPECT_NEAR(sums[1], (4 + 0.5 * 8) / 1.5, 1e-6);
}

TEST(Resize, RoundsAndScales) {
  const Owned in = Noise(16, 16, 3, ir::DType::kU8);
  const auto exact = Resized(in.pixels, ResizeMethod::kArea, true, 5, 5, {0, 0, 5, 5});
  ResizeScratch scratch;
  scratch.vertical.Make(ResizeMethod::kArea, true, 16, 0, 16, 5, 0, 5, false);
  scratch.horizontal.Make(ResizeMethod::kArea, true, 16, 0, 16, 5, 0, 5, false);
  std::vector<uint8_t> rounded(75);
  ResizeOutput output;
  output.dtype = ir::DType::kU8;
  output.round_to = 255;
  Resize(in.pixels, scratch, 5, 5, output, reinterpret_cast<std::byte*>(rounded.data()), 15);
  std::vector<float> scaled(75), both(75);
  output.dtype = ir::DType::kF32;
  const float scale[] = {2, 3, 4}, shift[] = {-1, -2, -3};
  output.scale = scale;
  output.shift = shift;
  Resize(in.pixels, scratch, 5, 5, output, reinterpret_cast<std::byte*>(both.data()), 60);
  output.round_to = 0;
  Resize(in.pixels, scratch, 5, 5, output, reinterpret_cast<std::byte*>(scaled.data()), 60);
  for (size_t i = 0; i < 75; ++i) {
    EXPECT_EQ(rounded[i], std::nearbyint(exact[i]));
    EXPECT_EQ(both[i], static_cast<float>(rounded[i]) * scale[i % 3] + shift[i % 3]);
    EXPECT_EQ(scaled[i], exact[i] * scale[i % 3] + shift[i % 3]);
  }
}

TEST(Resize, UnknownMethod) {
  EXPECT_THAT(MessageOf<UserError>([] { ParseResizeMethod("bilinar"); }),
              HasSubstr("did you mean \"bilinear\""));
}

}  // namespace
}  // namespace flatout::data
