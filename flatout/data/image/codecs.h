// The decoders behind image.h, one per format. Each gives the pixels as they are stored: not yet
// oriented, with the channels of ImageInfo (but JPEG, whose library converts better by itself).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "flatout/data/image/image.h"

namespace flatout::data {

// Bytes of a header, with what every parser of them needs. Reads past the end give 0 and set `cut`.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }
  bool cut() const { return cut_; }
  void Seek(size_t position);
  void Skip(size_t count);
  unsigned U8();
  unsigned BigU16();
  uint32_t BigU32();
  unsigned LittleU16();
  uint32_t LittleU24();
  uint32_t LittleU32();
  std::span<const std::byte> Take(size_t count);

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  bool cut_ = false;
};

bool StartsWith(std::span<const std::byte> bytes, std::string_view text);
// The orientation that EXIF data (a TIFF header and what follows) names; 1 where it names none.
int ExifOrientation(std::span<const std::byte> tiff);

ImageInfo ProbeJpeg(std::span<const std::byte> bytes);
ImageInfo ProbePng(std::span<const std::byte> bytes);
ImageInfo ProbeGif(std::span<const std::byte> bytes);
ImageInfo ProbeWebp(std::span<const std::byte> bytes);

class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  // Decodes `rect` (as stored, at full size) at `eighths` eighths of its size to 1 (luma), 3 (RGB)
  // or 4 (RGB and 255) channels of 8 bit. Into `out` if it is given, else into memory of its own.
  Pixels Read(std::span<const std::byte> bytes, const ImageInfo& info, const ImageRect& rect,
              int eighths, int channels, bool recover, std::byte* out, int64_t out_stride);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The whole picture, first frame, info.channels channels of info.bits bit, into `buffer`.
Pixels ReadPng(std::span<const std::byte> bytes, const ImageInfo& info, PixelBuffer& buffer);
Pixels ReadGif(std::span<const std::byte> bytes, const ImageInfo& info, PixelBuffer& buffer);
Pixels ReadWebp(std::span<const std::byte> bytes, const ImageInfo& info, PixelBuffer& buffer);

}  // namespace flatout::data
