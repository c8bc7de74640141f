// What the tests of pictures share: the recorded files, and a JPEG and PNG writer for kinds that
// nobody else writes.
#pragma once

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace flatout::data::testing {

inline std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

// tests/recorded/images.json.
inline const nlohmann::json& RecordedImages() {
  static const nlohmann::json recorded = [] {
    std::ifstream file(FLATOUT_SOURCE_DIR "/tests/recorded/images.json");
    return nlohmann::json::parse(file);
  }();
  return recorded;
}

inline std::string Base64(const std::string& text) {
  auto value = [](char c) {
    const std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return digits.find(c);
  };
  std::string out;
  uint32_t bits = 0, have = 0;
  for (char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(value(c));
    have += 6;
    if (have >= 8) {
      have -= 8;
      out += static_cast<char>(bits >> have & 0xff);
    }
  }
  return out;
}

inline std::string RecordedFile(const std::string& name) {
  return Base64(RecordedImages().at("files").at(name).get<std::string>());
}

struct JpegKind {
  J_COLOR_SPACE in = JCS_RGB;
  J_COLOR_SPACE stored = JCS_YCbCr;
  int quality = 90;
  int sampling_x = 2, sampling_y = 2;  // of the first component
  bool progressive = false;
  int restart_rows = 0;
  bool adobe = true;  // write the Adobe marker where the colour space asks for one
};

// `pixels` has height * width * channels values.
inline std::string WriteJpeg(const std::vector<uint8_t>& pixels, int height, int width,
                             int channels, const JpegKind& kind = {}) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : kind.in;
  jpeg_set_defaults(&info);
  if (channels > 1) {
    jpeg_set_colorspace(&info, kind.stored);
    if (kind.stored == JCS_YCbCr || kind.stored == JCS_YCCK) {
      info.comp_info[0].h_samp_factor = kind.sampling_x;
      info.comp_info[0].v_samp_factor = kind.sampling_y;
      if (channels == 4) {
        info.comp_info[3].h_samp_factor = kind.sampling_x;
        info.comp_info[3].v_samp_factor = kind.sampling_y;
      }
    }
  }
  info.write_Adobe_marker = info.write_Adobe_marker && kind.adobe;
  info.restart_in_rows = kind.restart_rows;
  jpeg_set_quality(&info, kind.quality, TRUE);
  if (kind.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < height; ++y) {
    auto* row = const_cast<uint8_t*>(pixels.data()) + static_cast<size_t>(y) * width * channels;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string file(reinterpret_cast<char*>(memory), size);
  jpeg_destroy_compress(&info);
  free(memory);
  return file;
}

// `pixels` are big-endian where bits is 16.
inline std::string WritePng(const std::vector<uint8_t>& pixels, int height, int width, int channels,
                            int bits, bool interlaced) {
  constexpr int kTypes[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  std::string file;
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep data, size_t count) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), bits,
               kTypes[channels], interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const auto stride = static_cast<size_t>(width * channels * bits / 8);
  std::vector<png_bytep> rows;
  for (int y = 0; y < height; ++y) {
    rows.push_back(const_cast<uint8_t*>(pixels.data()) + static_cast<size_t>(y) * stride);
  }
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

// Smooth shapes and noise: what JPEG is made for.
inline std::vector<uint8_t> Photo(int height, int width, int channels, uint32_t seed = 1) {
  std::vector<uint8_t> pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        seed = seed * 1664525 + 1013904223;
        const int noise = static_cast<int>(seed >> 28);
        const int wave = (x * (3 + c) / 2 + y * (5 - c)) % 256;
        const int tent = wave < 128 ? wave : 255 - wave;
        pixels.push_back(static_cast<uint8_t>(30 + tent + noise + (x > y ? 60 : 0)));
      }
    }
  }
  return pixels;
}

}  // namespace flatout::data::testing
