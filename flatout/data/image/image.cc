#include "flatout/data/image/image.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "flatout/base/error.h"
#include "flatout/data/file_bytes.h"
#include "flatout/data/image/codecs.h"

namespace flatout::data {
namespace {

// Kinds of file that are met where pictures are expected.
struct Known {
  std::string_view start;
  std::string_view what;
};
constexpr Known kOthers[] = {
    {"BM", "a BMP file"},
    {std::string_view("II*\0", 4), "a TIFF file"},
    {std::string_view("MM\0*", 4), "a TIFF file"},
    {std::string_view("\0\0\0\x0cjP  ", 8), "a JPEG 2000 file"},
    {"\xff\x0a", "a JPEG XL file"},
    {std::string_view("\0\0\0\x0cJXL ", 8), "a JPEG XL file"},
    {"%PDF", "a PDF file"},
    {"<!DOCTYPE", "a web page"},
    {"<html", "a web page"},
    {"<?xml", "XML text"},
    {"<svg", "an SVG file"},
    {"PK\x03\x04", "a zip archive"},
    {"\x1f\x8b", "a gzip file"},
    {"8BPS", "a Photoshop file"},
    {std::string_view("\0\0\x01\0", 4), "an icon file"},
    {"version https://git-lfs", "a Git LFS pointer (the file itself was never fetched)"},
};

std::string WhatItIs(std::span<const std::byte> bytes) {
  for (const Known& known : kOthers) {
    if (StartsWith(bytes, known.start)) return std::string(known.what);
  }
  if (bytes.size() >= 12 && StartsWith(bytes.subspan(4), "ftyp")) {
    std::span<const std::byte> brand = bytes.subspan(8);
    if (StartsWith(brand, "avif") || StartsWith(brand, "avis")) return "an AVIF file";
    if (StartsWith(brand, "heic") || StartsWith(brand, "heix") || StartsWith(brand, "mif1")) {
      return "a HEIC file";
    }
    return "an MP4 file";
  }
  return "bytes " + HexBytes(bytes.first(std::min<size_t>(bytes.size(), 8)));
}

ImageFormat FormatOf(std::span<const std::byte> bytes) {
  if (bytes.empty()) throw BadData("empty (0 bytes): expected a JPEG, PNG, GIF or WebP file");
  if (StartsWith(bytes, "\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (StartsWith(bytes, "\x89PNG\r\n\x1a\n")) return ImageFormat::kPng;
  if (StartsWith(bytes, "GIF87a") || StartsWith(bytes, "GIF89a")) return ImageFormat::kGif;
  if (StartsWith(bytes, "RIFF") && bytes.size() >= 12 && StartsWith(bytes.subspan(8), "WEBP")) {
    return ImageFormat::kWebp;
  }
  if (std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; })) {
    throw BadData(
        "all {} bytes are zero: expected a JPEG, PNG, GIF or WebP file. The file was not written "
        "to its end; fetch it again",
        bytes.size());
  }
  throw BadData("not a picture: expected a JPEG, PNG, GIF or WebP file, found {} ({} bytes)",
                WhatItIs(bytes), bytes.size());
}

// ---- channels and element types ----

template <typename T>
constexpr uint32_t kMost = std::is_same_v<T, uint8_t> ? 255 : 65535;

// round(v * 255 / 65535); 65535 = 257 * 255.
inline uint8_t To8(uint32_t v) { return static_cast<uint8_t>((v + 128) / 257); }

template <typename In, typename Out>
inline Out ConvertValue(uint32_t v) {
  if constexpr (std::is_same_v<Out, float>) {
    return static_cast<float>(v) * (1.0f / kMost<In>);
  } else if constexpr (std::is_same_v<In, Out>) {
    return static_cast<Out>(v);
  } else if constexpr (std::is_same_v<Out, uint8_t>) {
    return To8(v);
  } else {
    return static_cast<Out>(v * 257);
  }
}

// Rows from `in_channels` to `out_channels` channels. `background`: composite over it; nullptr: the
// colours as they are.
template <typename In, typename Out>
void ConvertRow(const In* in, int in_channels, int64_t pixels, const uint8_t* background,
                int out_channels, Out* out) {
  if (in_channels == out_channels && (background == nullptr || in_channels % 2 == 1)) {
    if constexpr (std::is_same_v<In, Out>) {
      std::memcpy(out, in, static_cast<size_t>(pixels * in_channels) * sizeof(In));
    } else {
      for (int64_t i = 0; i < pixels * in_channels; ++i) out[i] = ConvertValue<In, Out>(in[i]);
    }
    return;
  }
  const bool grey_in = in_channels <= 2;
  const bool alpha_in = in_channels % 2 == 0;
  constexpr uint32_t most = kMost<In>;
  for (int64_t i = 0; i < pixels; ++i, in += in_channels, out += out_channels) {
    uint32_t color[3] = {in[0], grey_in ? in[0] : in[1], grey_in ? in[0] : in[2]};
    uint32_t alpha = alpha_in ? in[in_channels - 1] : most;
    if (background != nullptr && alpha != most) {
      for (int c = 0; c < 3; ++c) {
        const uint32_t behind = background[c] * (most / 255);
        // Fits: 65535 * 65535 + 32767 < 2^32.
        color[c] = (color[c] * alpha + behind * (most - alpha) + most / 2) / most;
      }
      alpha = most;
    }
    if (out_channels <= 2) {
      uint32_t grey = color[0];
      if (color[1] != grey || color[2] != grey) {
        // Rec. 601, as JPEG's luma; 65536 = 19595 + 38470 + 7471.
        grey = static_cast<uint32_t>((uint64_t{19595} * color[0] + uint64_t{38470} * color[1] +
                                      uint64_t{7471} * color[2] + 32768) >>
                                     16);
      }
      out[0] = ConvertValue<In, Out>(grey);
    } else {
      for (int c = 0; c < 3; ++c) out[c] = ConvertValue<In, Out>(color[c]);
    }
    if (out_channels % 2 == 0) out[out_channels - 1] = ConvertValue<In, Out>(alpha);
  }
}

template <typename In>
void ConvertRowTo(const Pixels& in, int64_t y, const uint8_t* background, int out_channels,
                  ir::DType dtype, std::byte* out) {
  const In* row = reinterpret_cast<const In*>(in.row(y));
  switch (dtype) {
    case ir::DType::kU8:
      return ConvertRow(row, in.channels, in.width, background, out_channels,
                        reinterpret_cast<uint8_t*>(out));
    case ir::DType::kU16:
      return ConvertRow(row, in.channels, in.width, background, out_channels,
                        reinterpret_cast<uint16_t*>(out));
    default:
      return ConvertRow(row, in.channels, in.width, background, out_channels,
                        reinterpret_cast<float*>(out));
  }
}

// ---- orientation ----

// How EXIF orientations map a pixel of the oriented picture to the stored one: exchange x and y
// first, then mirror in the stored picture's directions.
struct Turn {
  bool transpose, flip_y, flip_x;
};
constexpr Turn kTurns[9] = {{},
                            {false, false, false},
                            {false, false, true},
                            {false, true, true},
                            {false, true, false},
                            {true, false, false},
                            {true, true, false},
                            {true, true, true},
                            {true, false, true}};

ImageRect ToStored(const ImageRect& rect, const ImageInfo& info, int orientation) {
  const Turn turn = kTurns[orientation];
  ImageRect stored = rect;
  if (turn.transpose) stored = {rect.x, rect.y, rect.width, rect.height};
  if (turn.flip_y) stored.y = info.height - stored.y - stored.height;
  if (turn.flip_x) stored.x = info.width - stored.x - stored.width;
  return stored;
}

template <int64_t kBytes>
void OrientAs(const Pixels& in, Turn turn, std::byte* out, int64_t stride) {
  const int64_t height = turn.transpose ? in.width : in.height;
  const int64_t width = turn.transpose ? in.height : in.width;
  const int64_t bytes = kBytes > 0 ? kBytes : in.pixel_bytes();
  // Byte steps in the stored picture for one step in y and in x of the oriented one.
  const int64_t down = turn.flip_y ? -in.stride : in.stride;
  const int64_t across = turn.flip_x ? -bytes : bytes;
  const std::byte* origin = in.data + (turn.flip_y ? (in.height - 1) * in.stride : 0) +
                            (turn.flip_x ? (in.width - 1) * bytes : 0);
  const int64_t step_y = turn.transpose ? across : down;
  const int64_t step_x = turn.transpose ? down : across;
  for (int64_t y = 0; y < height; ++y) {
    const std::byte* from = origin + y * step_y;
    std::byte* to = out + y * stride;
    for (int64_t x = 0; x < width; ++x, from += step_x, to += bytes) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    }
  }
}

void Orient(const Pixels& in, Turn turn, std::byte* out, int64_t stride) {
  switch (in.pixel_bytes()) {
    case 1:
      return OrientAs<1>(in, turn, out, stride);
    case 3:
      return OrientAs<3>(in, turn, out, stride);
    case 4:
      return OrientAs<4>(in, turn, out, stride);
    default:
      return OrientAs<0>(in, turn, out, stride);
  }
}

void CopyRows(const Pixels& in, std::byte* out, int64_t stride) {
  for (int64_t y = 0; y < in.height; ++y) {
    std::memcpy(out + y * stride, in.row(y), static_cast<size_t>(in.width * in.pixel_bytes()));
  }
}

Pixels Part(const Pixels& in, const ImageRect& rect) {
  Pixels part = in;
  part.data = in.row(rect.y) + rect.x * in.pixel_bytes();
  part.height = rect.height;
  part.width = rect.width;
  return part;
}

}  // namespace

// ---- ByteCursor and what reads through it ----

void ByteCursor::Seek(size_t position) {
  if (position > bytes_.size()) {
    cut_ = true;
    position = bytes_.size();
  }
  position_ = position;
}

void ByteCursor::Skip(size_t count) {
  if (count > left()) {
    cut_ = true;
    count = left();
  }
  position_ += count;
}

unsigned ByteCursor::U8() {
  if (left() == 0) {
    cut_ = true;
    return 0;
  }
  return static_cast<unsigned>(bytes_[position_++]);
}

unsigned ByteCursor::BigU16() {
  const unsigned high = U8();
  return high << 8 | U8();
}

uint32_t ByteCursor::BigU32() {
  const uint32_t high = BigU16();
  return high << 16 | BigU16();
}

unsigned ByteCursor::LittleU16() {
  const unsigned low = U8();
  return low | U8() << 8;
}

uint32_t ByteCursor::LittleU24() {
  const uint32_t low = LittleU16();
  return low | U8() << 16;
}

uint32_t ByteCursor::LittleU32() {
  const uint32_t low = LittleU16();
  return low | static_cast<uint32_t>(LittleU16()) << 16;
}

std::span<const std::byte> ByteCursor::Take(size_t count) {
  if (count > left()) {
    cut_ = true;
    count = left();
  }
  std::span<const std::byte> taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

bool StartsWith(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

int ExifOrientation(std::span<const std::byte> tiff) {
  constexpr unsigned kOrientation = 0x0112, kShort = 3, kLong = 4;
  const bool little = StartsWith(tiff, std::string_view("II*\0", 4));
  if (!little && !StartsWith(tiff, std::string_view("MM\0*", 4))) return 1;
  ByteCursor in(tiff);
  auto u16 = [&] { return little ? in.LittleU16() : in.BigU16(); };
  auto u32 = [&] { return little ? in.LittleU32() : in.BigU32(); };
  in.Skip(4);
  in.Seek(u32());
  const unsigned entries = u16();
  for (unsigned i = 0; i < entries && !in.cut(); ++i) {
    const unsigned tag = u16();
    const unsigned type = u16();
    const uint32_t count = u32();
    const size_t value_at = in.position();
    if (tag == kOrientation && count == 1 && (type == kShort || type == kLong)) {
      const uint32_t value = type == kShort ? u16() : u32();
      return !in.cut() && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
    }
    in.Seek(value_at + 4);
  }
  return 1;
}

// ---- image.h ----

std::string_view Name(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kGif:
      return "GIF";
    case ImageFormat::kWebp:
      return "WebP";
  }
  return "?";
}

std::string ImageInfo::ToString() const {
  std::string text = fmt::format("{} {}x{}, {} channel{} of {} bit", Name(format), width, height,
                                 channels, channels == 1 ? "" : "s", bits);
  if (orientation != 1) text += fmt::format(", orientation {}", orientation);
  if (animated) text += ", animated";
  return text;
}

ImageInfo Probe(std::span<const std::byte> bytes) {
  switch (FormatOf(bytes)) {
    case ImageFormat::kJpeg:
      return ProbeJpeg(bytes);
    case ImageFormat::kPng:
      return ProbePng(bytes);
    case ImageFormat::kGif:
      return ProbeGif(bytes);
    default:
      return ProbeWebp(bytes);
  }
}

void CheckDecodeOptions(const DecodeOptions& options) {
  if (options.channels != 0 && options.channels != 1 && options.channels != 3 &&
      options.channels != 4) {
    throw Invalid("channels: expected 0 (as the file), 1 (grey), 3 (RGB) or 4 (RGBA), found {}",
                  options.channels);
  }
  if (options.dtype != ir::DType::kU8 && options.dtype != ir::DType::kU16 &&
      options.dtype != ir::DType::kF32) {
    throw Invalid("dtype: expected u8, u16 or f32, found {}", ir::Name(options.dtype));
  }
  if (options.alpha == AlphaPolicy::kKeep && options.channels != 0 && options.channels != 4) {
    throw Invalid(
        "alpha = \"keep\" needs a channel for it: expected channels = 4 (or 0, as the file), found "
        "{}",
        options.channels);
  }
  if (options.max_pixels < 1) {
    throw Invalid("max_pixels: expected at least 1, found {}", options.max_pixels);
  }
}

void PixelBuffer::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{64});
}

std::byte* PixelBuffer::Get(int64_t bytes) {
  if (bytes > capacity_ || memory_ == nullptr) {
    memory_.reset();  // first: both at once might be too much
    capacity_ = 0;
    memory_.reset(static_cast<std::byte*>(
        ::operator new[](static_cast<size_t>(bytes) + 64, std::align_val_t{64})));
    capacity_ = bytes;
  }
  return memory_.get();
}

struct ImageReader::Codecs {
  JpegDecoder jpeg;
  PixelBuffer whole;
};

ImageReader::ImageReader() : codecs_(std::make_unique<Codecs>()) {}
ImageReader::~ImageReader() = default;

void ImageReader::Open(std::span<const std::byte> bytes, const DecodeOptions& options) {
  info_ = Probe(bytes);
  // No format's height times width overflows: each is below 2^32.
  if (info_.height > options.max_pixels / info_.width) {
    throw BadData("the {} file claims {} by {} pixels: expected at most {} in all (max_pixels)",
                  Name(info_.format), info_.width, info_.height, options.max_pixels);
  }
  bytes_ = bytes;
  options_ = options;
  if (!options.exif) info_.orientation = 1;
  height_ = info_.oriented_height();
  width_ = info_.oriented_width();
  if (options_.alpha == AlphaPolicy::kAuto) {
    options_.alpha = options.channels == 0 || options.channels == 4 ? AlphaPolicy::kKeep
                                                                    : AlphaPolicy::kComposite;
  }
  channels_ = options.channels;
  if (channels_ == 0) {
    channels_ = info_.channels;
    if (options_.alpha != AlphaPolicy::kKeep && info_.alpha()) --channels_;
  }
}

Pixels ImageReader::ReadStored(const ImageRect& stored, int eighths, std::byte* out,
                               int64_t out_stride) {
  Pixels raw;
  if (info_.format == ImageFormat::kJpeg) {
    const bool as_is = options_.dtype == ir::DType::kU8;
    raw = codecs_->jpeg.Read(bytes_, info_, stored, eighths, channels_,
                             options_.try_recover_truncated, as_is ? out : nullptr, out_stride);
    if (as_is) return raw;
  } else {
    switch (info_.format) {
      case ImageFormat::kPng:
        raw = ReadPng(bytes_, info_, codecs_->whole);
        break;
      case ImageFormat::kGif:
        raw = ReadGif(bytes_, info_, codecs_->whole);
        break;
      default:
        raw = ReadWebp(bytes_, info_, codecs_->whole);
    }
    raw = Part(raw, stored);
  }
  const uint8_t* background =
      options_.alpha == AlphaPolicy::kComposite ? options_.background.data() : nullptr;
  if (raw.channels == channels_ && raw.dtype == options_.dtype &&
      (background == nullptr || raw.channels % 2 == 1)) {
    if (out == nullptr) return raw;
    CopyRows(raw, out, out_stride);
    raw.data = out;
    raw.stride = out_stride;
    return raw;
  }
  Pixels result = raw;
  result.channels = channels_;
  result.dtype = options_.dtype;
  if (out == nullptr) {
    out_stride = (raw.width * result.pixel_bytes() + 63) / 64 * 64;
    out = converted_.Get(out_stride * raw.height);
  }
  for (int64_t y = 0; y < raw.height; ++y) {
    if (raw.dtype == ir::DType::kU8) {
      ConvertRowTo<uint8_t>(raw, y, background, channels_, options_.dtype, out + y * out_stride);
    } else {
      ConvertRowTo<uint16_t>(raw, y, background, channels_, options_.dtype, out + y * out_stride);
    }
  }
  result.data = out;
  result.stride = out_stride;
  return result;
}

Pixels ImageReader::Read(const ImageRect& rect, int eighths) {
  const Pixels stored =
      ReadStored(ToStored(rect, info_, info_.orientation), can_scale() ? eighths : 8, nullptr, 0);
  if (info_.orientation == 1) return stored;
  const Turn turn = kTurns[info_.orientation];
  Pixels result = stored;
  if (turn.transpose) std::swap(result.height, result.width);
  result.stride = (result.width * result.pixel_bytes() + 63) / 64 * 64;
  std::byte* out = oriented_.Get(result.stride * result.height);
  Orient(stored, turn, out, result.stride);
  result.data = out;
  return result;
}

void ImageReader::ReadInto(const ImageRect& rect, std::byte* out, int64_t stride) {
  const ImageRect stored = ToStored(rect, info_, info_.orientation);
  if (info_.orientation == 1) {
    ReadStored(stored, 8, out, stride);
  } else {
    Orient(ReadStored(stored, 8, nullptr, 0), kTurns[info_.orientation], out, stride);
  }
}

Image DecodeImage(std::span<const std::byte> bytes, const DecodeOptions& options) {
  CheckDecodeOptions(options);
  ImageReader reader;
  reader.Open(bytes, options);
  Image image;
  image.height = reader.height();
  image.width = reader.width();
  image.channels = reader.channels();
  image.dtype = options.dtype;
  const int64_t stride = image.width * image.channels * ir::ByteSize(image.dtype);
  // Decoded first, then copied: the file may turn out to be cut, and then there is no need of it.
  const Pixels pixels = reader.Read({0, 0, image.height, image.width});
  image.data.resize(static_cast<size_t>(stride * image.height));
  CopyRows(pixels, image.data.data(), stride);
  return image;
}

}  // namespace flatout::data
