#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

// png.h comes after setjmp.h.
#include <png.h>

#include "flatout/base/error.h"
#include "flatout/data/image/codecs.h"

namespace flatout::data {
namespace {

// What libpng's callbacks share with the code that called libpng.
struct Reading {
  const unsigned char* data;
  size_t size;
  size_t at;
  std::jmp_buf jump;
  char message[256];
};

[[noreturn]] void OnError(png_structp png, png_const_charp message) {
  auto* reading = static_cast<Reading*>(png_get_error_ptr(png));
  std::snprintf(reading->message, sizeof(reading->message), "%s (near byte %zu)", message,
                reading->at);
  std::longjmp(reading->jump, 1);
}

void OnWarning(png_structp png, png_const_charp message) {
  // Chunks beside the pixels that are odd; the pixels are right.
  (void)png;
  (void)message;
}

void OnRead(png_structp png, png_bytep out, size_t count) {
  auto* reading = static_cast<Reading*>(png_get_io_ptr(png));
  if (count > reading->size - reading->at) {
    reading->at = reading->size;
    png_error(png, "the file is cut");
  }
  std::memcpy(out, reading->data + reading->at, count);
  reading->at += count;
}

// Everything of libpng that leaves by longjmp; no object with a destructor lives in here. Returns
// false with reading->message set.
struct PngState {
  png_structp png = nullptr;
  png_infop info = nullptr;
  size_t row_bytes = 0;

  bool Create(Reading* reading) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reading, OnError, OnWarning);
    if (png == nullptr) return false;
    if (setjmp(reading->jump) != 0) return false;
    info = png_create_info_struct(png);
    if (info == nullptr) return false;
    png_set_read_fn(png, reading, OnRead);
    return true;
  }

  // To `channels` channels of `bits` bit, host byte order.
  bool Start(Reading* reading, bool alpha_chunk) {
    if (setjmp(reading->jump) != 0) return false;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // max_pixels was checked before
    png_read_info(png, info);
    png_set_expand(png);  // palettes to RGB, fewer bits to 8, tRNS to alpha
    if (!alpha_chunk) png_set_strip_alpha(png);
    const uint16_t probe = 1;
    unsigned char low;
    std::memcpy(&low, &probe, 1);
    if (low == 1) png_set_swap(png);  // this host is little-endian; PNG is not
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    row_bytes = png_get_rowbytes(png, info);
    return true;
  }

  bool Decode(Reading* reading, png_bytepp rows) {
    if (setjmp(reading->jump) != 0) return false;
    png_read_image(png, rows);
    png_read_end(png, nullptr);
    return true;
  }

  ~PngState() {
    if (png != nullptr) png_destroy_read_struct(&png, &info, nullptr);
  }
};

}  // namespace

ImageInfo ProbePng(std::span<const std::byte> bytes) {
  ImageInfo info;
  info.format = ImageFormat::kPng;
  ByteCursor in(bytes);
  in.Skip(8);
  bool first = true, palette = false;
  for (;;) {
    const size_t begin = in.position();
    const uint32_t length = in.BigU32();
    const std::span<const std::byte> type = in.Take(4);
    if (in.cut() || length > in.left()) {
      throw BadData(
          "the PNG file is cut: chunk at byte {}: expected {} bytes, found {} up to the "
          "end. Fetch it again",
          begin, length, in.left());
    }
    ByteCursor chunk(in.Take(length));
    if (first != StartsWith(type, "IHDR")) {
      throw BadData(
          "the PNG file is damaged: expected one chunk IHDR, first in the file; found "
          "another order at byte {}",
          begin);
    }
    if (first) {
      first = false;
      info.width = chunk.BigU32();
      info.height = chunk.BigU32();
      const unsigned depth = chunk.U8();
      const unsigned color = chunk.U8();
      // 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA.
      if (chunk.cut() || info.width == 0 || info.height == 0 || info.width > PNG_UINT_31_MAX ||
          info.height > PNG_UINT_31_MAX || color > 6 || color == 1 || color == 5) {
        throw BadData("the PNG file's header makes no sense: {} by {} pixels of color type {}",
                      info.width, info.height, color);
      }
      palette = color == 3;
      info.bits = depth == 16 ? 16 : 8;
      info.channels = color == 0 ? 1 : color == 4 ? 2 : color == 6 ? 4 : 3;
      // deflate packs at most 1032 to 1 (a match of 258 bytes in two bits).
      const uint64_t row_bits = static_cast<uint64_t>(info.width) * depth *
                                (palette ? 1 : static_cast<unsigned>(info.channels));
      const unsigned __int128 total =
          static_cast<unsigned __int128>((row_bits + 7) / 8) * static_cast<uint64_t>(info.height);
      if (total > static_cast<unsigned __int128>(bytes.size()) * 1032) {
        throw BadData("the PNG file is cut: {} bytes cannot hold {} by {} pixels", bytes.size(),
                      info.width, info.height);
      }
    } else if (StartsWith(type, "tRNS")) {
      if (info.channels == 1 || info.channels == 3) ++info.channels;
    } else if (StartsWith(type, "eXIf")) {
      info.orientation = ExifOrientation(chunk.Take(chunk.left()));
    } else if (StartsWith(type, "IDAT")) {
      return info;
    } else if (StartsWith(type, "IEND")) {
      throw BadData("the PNG file ends at byte {} before any picture (no chunk IDAT)", begin);
    }
    in.Skip(4);  // checksum
  }
}

Pixels ReadPng(std::span<const std::byte> bytes, const ImageInfo& image, PixelBuffer& buffer) {
  Reading reading = {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), 0, {}, {}};
  PngState state;
  auto fail = [&] {
    throw BadData("the PNG file ({} by {}, {} bytes) cannot be decoded: {}. Fetch it again",
                  image.width, image.height, bytes.size(), reading.message);
  };
  if (!state.Create(&reading) || !state.Start(&reading, image.alpha())) fail();
  Pixels pixels;
  pixels.height = image.height;
  pixels.width = image.width;
  pixels.channels = image.channels;
  pixels.dtype = image.bits == 16 ? ir::DType::kU16 : ir::DType::kU8;
  pixels.stride = (pixels.width * pixels.pixel_bytes() + 63) / 64 * 64;
  if (state.row_bytes != static_cast<size_t>(pixels.width * pixels.pixel_bytes()) ||
      png_get_image_height(state.png, state.info) != static_cast<png_uint_32>(image.height)) {
    throw BadData(
        "the PNG file is damaged: its chunks contradict each other ({} bytes per row, "
        "expected {})",
        state.row_bytes, pixels.width * pixels.pixel_bytes());
  }
  std::byte* out = buffer.Get(pixels.stride * pixels.height);
  std::vector<png_bytep> rows(static_cast<size_t>(pixels.height));
  for (int64_t y = 0; y < pixels.height; ++y) {
    rows[static_cast<size_t>(y)] = reinterpret_cast<png_bytep>(out + y * pixels.stride);
  }
  if (!state.Decode(&reading, rows.data())) fail();
  pixels.data = out;
  return pixels;
}

}  // namespace flatout::data
