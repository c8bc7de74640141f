// flatout/data/image: pictures in files to arrays of pixels.
//
// JPEG, PNG, GIF and WebP, told apart by content, never by name. What comes out is what a person
// sees: CMYK and YCCK become RGB, the EXIF orientation is applied, palettes are looked up,
// transparency follows a stated policy, and 16 bit keep their scale. A file that is cut, empty or
// damaged is a DataError, never a grey picture.
//
//   image.h    Probe (the header), ImageReader and DecodeImage (the pixels)
//   codecs.h   one decoder per format, for image.cc
//   resize.h   tf.image.resize's methods
//
// All arrays are [height, width, channels], row-major. Everything here is a pure function of its
// bytes and safe to call from several threads; an ImageReader belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/ir/shape.h"

namespace flatout::data {

enum class ImageFormat { kJpeg, kPng, kGif, kWebp };
// "JPEG", "PNG", "GIF", "WebP".
std::string_view Name(ImageFormat format);

// What a file's header says.
struct ImageInfo {
  ImageFormat format = ImageFormat::kJpeg;
  int64_t height = 0;  // as stored, before the EXIF orientation is applied
  int64_t width = 0;
  // After a palette is looked up and CMYK turned into RGB: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA.
  int channels = 0;
  int bits = 8;           // per channel, 8 or 16 (fewer are widened to 8)
  int orientation = 1;    // EXIF, 1 to 8; 5 to 8 exchange height and width
  bool animated = false;  // WebP: more than one frame (GIF: only reading it through would tell)
  int64_t data_at = 0;    // JPEG: the byte at which the first scan's data begins

  bool alpha() const { return channels == 2 || channels == 4; }
  // As a person sees it.
  int64_t oriented_height() const { return orientation >= 5 ? width : height; }
  int64_t oriented_width() const { return orientation >= 5 ? height : width; }
  // "JPEG 500x375, 3 channels of 8 bit, orientation 6": width first, as stored.
  std::string ToString() const;
};

// Reads the header only. Throws DataError: empty, all zero, another kind of file (named where it is
// known), a header that is cut or makes no sense.
ImageInfo Probe(std::span<const std::byte> bytes);

enum class AlphaPolicy {
  kAuto,       // keep where the result has room for it (channels 0 and 4), else composite
  kDrop,       // the colours as stored, as TensorFlow and PIL's convert("RGB") give them
  kComposite,  // over the background, as viewers show it
  kKeep,       // as a channel; only with channels 0 and 4
};

struct DecodeOptions {
  // 1 grey, 3 RGB, 4 RGBA; 0: as many as the file has (ImageInfo::channels; without alpha when the
  // policy is drop or composite).
  int channels = 3;
  // kU8: 0 to 255 (16 bit scaled, not cut); kU16: 0 to 65535 (8 bit times 257); kF32: 0 to 1.
  ir::DType dtype = ir::DType::kU8;
  AlphaPolicy alpha = AlphaPolicy::kAuto;
  std::array<uint8_t, 3> background = {255, 255, 255};
  bool exif = true;  // apply the EXIF orientation
  // JPEG: take what there is of a cut or damaged file, grey where nothing is, instead of an error.
  bool try_recover_truncated = false;
  // Larger pictures are refused before memory is taken for them (PIL's limit).
  int64_t max_pixels = 178956970;
};

// Pixels somewhere in memory.
struct Pixels {
  const std::byte* data = nullptr;
  int64_t height = 0, width = 0;
  int channels = 0;
  int64_t stride = 0;  // bytes from row to row
  ir::DType dtype = ir::DType::kU8;

  int64_t pixel_bytes() const { return channels * ir::ByteSize(dtype); }
  const std::byte* row(int64_t y) const { return data + y * stride; }
};

// Memory that is used again and only grows; 64-byte aligned, not initialised, with 64 bytes to
// spare at the end so that vector code may read past it.
class PixelBuffer {
 public:
  std::byte* Get(int64_t bytes);
  int64_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  int64_t capacity_ = 0;
};

// A part of a picture, in pixels.
struct ImageRect {
  int64_t y = 0, x = 0, height = 0, width = 0;
};

// Decodes one file after the other, with memory that is used again. Not thread-safe.
class ImageReader {
 public:
  ImageReader();
  ~ImageReader();
  ImageReader(const ImageReader&) = delete;
  ImageReader& operator=(const ImageReader&) = delete;

  // Reads the header of `bytes`, which must stay until Read. Throws as Probe, and DataError for
  // more than max_pixels. The options must make sense (CheckDecodeOptions).
  void Open(std::span<const std::byte> bytes, const DecodeOptions& options);
  const ImageInfo& info() const { return info_; }
  // Of the decoded picture, in which orientation and channels are as the options want them.
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  int channels() const { return channels_; }
  ir::DType dtype() const { return options_.dtype; }
  // Whether Read can shrink while it decodes: JPEG, and if it is turned or mirrored only where the
  // smaller pixels' grid is the same from both ends.
  bool can_scale() const {
    return info_.format == ImageFormat::kJpeg &&
           (info_.orientation == 1 || (info_.height % 8 == 0 && info_.width % 8 == 0));
  }

  // Decodes the part `rect` of the decoded picture. `eighths` in {1, 2, 4, 8}: at that many eighths
  // of its size; a pixel of the result is then the mean of 8 / eighths by 8 / eighths of the
  // picture's (by the inverse DCT of the lowest frequencies), and the result covers all of them
  // that `rect` touches: its rows are floor(y * eighths / 8) to ceil((y + height) * eighths / 8).
  // The result is the reader's memory, valid until the next call. Where only a part is wanted, JPEG
  // decodes only that part's blocks, with equal pixels; damage elsewhere may go unnoticed then.
  // Throws DataError.
  Pixels Read(const ImageRect& rect, int eighths = 8);
  // The same at full size into the caller's memory, rows `stride` bytes apart.
  void ReadInto(const ImageRect& rect, std::byte* out, int64_t stride);

 private:
  struct Codecs;
  Pixels ReadStored(const ImageRect& stored, int eighths, std::byte* out, int64_t out_stride);

  std::unique_ptr<Codecs> codecs_;
  std::span<const std::byte> bytes_;
  DecodeOptions options_;
  ImageInfo info_;
  int64_t height_ = 0, width_ = 0;
  int channels_ = 0;
  PixelBuffer converted_, oriented_;
};

// Throws UserError saying which options do not go together.
void CheckDecodeOptions(const DecodeOptions& options);

// A picture of its own.
struct Image {
  int64_t height = 0, width = 0;
  int channels = 0;
  ir::DType dtype = ir::DType::kU8;
  std::vector<std::byte> data;  // [height, width, channels]
};
// Decodes the first frame. Throws DataError as Probe does and for damage anywhere in the picture.
Image DecodeImage(std::span<const std::byte> bytes, const DecodeOptions& options = {});

}  // namespace flatout::data
