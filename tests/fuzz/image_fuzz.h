// What holds for pictures of any format. Each format is a target of its own, so that each has its
// seeds and its time.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "flatout/data/image/image.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

// Reads every byte of the rows, so that a sanitizer sees memory that is not there or not set.
inline std::vector<std::byte> Rows(const data::Pixels& pixels) {
  std::vector<std::byte> all;
  const auto row = static_cast<size_t>(pixels.width * pixels.pixel_bytes());
  all.reserve(row * static_cast<size_t>(pixels.height));
  for (int64_t y = 0; y < pixels.height; ++y) {
    all.insert(all.end(), pixels.row(y), pixels.row(y) + row);
  }
  return all;
}

inline void DecodePicture(std::span<const std::byte> bytes, data::ImageFormat format) {
  bool probed = false;
  data::ImageInfo info;
  probed = Accepts([&] { info = data::Probe(bytes); });
  if (!probed || info.format != format) return;
  FUZZ_CHECK(info.height > 0 && info.width > 0 && info.channels >= 1 && info.channels <= 4);
  FUZZ_CHECK(info.orientation >= 1 && info.orientation <= 8);
  FUZZ_CHECK(!info.ToString().empty());

  // The options follow from the bytes too (FNV-1a), without being part of the file.
  uint64_t hash = 14695981039346656037u;
  for (std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 1099511628211u;
  const auto choose = [&](uint64_t count) {
    const uint64_t chosen = (hash >> 33) % count;
    hash = hash * 6364136223846793005u + 1442695040888963407u;
    return chosen;
  };
  data::DecodeOptions options;
  constexpr int kChannels[] = {3, 3, 1, 4, 0};
  constexpr ir::DType kTypes[] = {ir::DType::kU8, ir::DType::kU8, ir::DType::kU16, ir::DType::kF32};
  constexpr data::AlphaPolicy kPolicies[] = {data::AlphaPolicy::kAuto, data::AlphaPolicy::kDrop,
                                             data::AlphaPolicy::kComposite,
                                             data::AlphaPolicy::kKeep};
  options.channels = kChannels[choose(5)];
  options.dtype = kTypes[choose(4)];
  options.alpha = kPolicies[choose(4)];
  options.exif = choose(4) != 0;
  options.try_recover_truncated = choose(4) == 0;
  options.max_pixels = int64_t{1} << 21;
  if (!Accepts([&] { data::CheckDecodeOptions(options); }))
    options.alpha = data::AlphaPolicy::kAuto;

  static data::ImageReader reader;  // used again, as the pipeline does
  if (!Accepts([&] { reader.Open(bytes, options); })) return;
  const int64_t height = reader.height(), width = reader.width();
  FUZZ_CHECK(height > 0 && width > 0 && height <= options.max_pixels / width);
  const data::ImageRect everything{0, 0, height, width};
  std::vector<std::byte> whole;
  const bool full = Accepts([&] {
    const data::Pixels pixels = reader.Read(everything);
    FUZZ_CHECK(pixels.height == height && pixels.width == width);
    FUZZ_CHECK(pixels.channels == reader.channels() && pixels.dtype == reader.dtype());
    whole = Rows(pixels);
  });
  const auto pixel = static_cast<size_t>(reader.channels() * ir::ByteSize(reader.dtype()));

  // A part is the same pixels.
  data::ImageRect part;
  part.y = static_cast<int64_t>(choose(static_cast<uint64_t>(height)));
  part.x = static_cast<int64_t>(choose(static_cast<uint64_t>(width)));
  part.height = 1 + static_cast<int64_t>(choose(static_cast<uint64_t>(height - part.y)));
  part.width = 1 + static_cast<int64_t>(choose(static_cast<uint64_t>(width - part.x)));
  const bool partial = Accepts([&] {
    const data::Pixels pixels = reader.Read(part);
    FUZZ_CHECK(pixels.height == part.height && pixels.width == part.width);
    for (int64_t y = 0; y < part.height && full; ++y) {
      const std::byte* expected =
          whole.data() + static_cast<size_t>((part.y + y) * width + part.x) * pixel;
      FUZZ_CHECK(std::memcmp(pixels.row(y), expected, static_cast<size_t>(part.width) * pixel) ==
                 0);
    }
  });
  FUZZ_CHECK(partial || !full);
  Accepts([&] {
    const size_t stride = static_cast<size_t>(part.width) * pixel + 3 * pixel;
    std::vector<std::byte> out(stride * static_cast<size_t>(part.height));
    reader.ReadInto(part, out.data(), static_cast<int64_t>(stride));
    for (int64_t y = 0; y < part.height && full; ++y) {
      const std::byte* expected =
          whole.data() + static_cast<size_t>((part.y + y) * width + part.x) * pixel;
      FUZZ_CHECK(std::memcmp(out.data() + static_cast<size_t>(y) * stride, expected,
                             static_cast<size_t>(part.width) * pixel) == 0);
    }
  });
  if (!reader.can_scale()) return;
  const int eighths = 1 << choose(3);
  Accepts([&] {
    const data::Pixels pixels = reader.Read(part, eighths);
    // The scaled picture's pixels are counted from its first row as stored. Where the orientation
    // turns that to the other end, the same part may touch one more.
    const int64_t turned = options.exif && info.orientation != 1 ? 1 : 0;
    const auto touched = [&](int64_t at, int64_t count) {
      return ((at + count) * eighths + 7) / 8 - at * eighths / 8;
    };
    const int64_t more_rows = pixels.height - touched(part.y, part.height);
    const int64_t more_columns = pixels.width - touched(part.x, part.width);
    FUZZ_CHECK(more_rows >= -turned && more_rows <= turned);
    FUZZ_CHECK(more_columns >= -turned && more_columns <= turned);
    Rows(pixels);
  });
}

}  // namespace flatout::fuzz
