#include "flatout/data/image/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "flatout/data/image/codecs.h"
#include "flatout/data/image/image_testing.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Photo;
using testing::RecordedFile;
using testing::RecordedImages;
using testing::WriteJpeg;
using testing::WritePng;

std::vector<int> Values(const Image& image) {
  std::vector<int> values;
  const size_t count = image.data.size() / static_cast<size_t>(ir::ByteSize(image.dtype));
  for (size_t i = 0; i < count; ++i) {
    if (image.dtype == ir::DType::kU8) {
      values.push_back(static_cast<int>(image.data[i]));
    } else {
      uint16_t value;
      std::memcpy(&value, image.data.data() + 2 * i, 2);
      values.push_back(value);
    }
  }
  return values;
}

std::vector<float> Floats(const Image& image) {
  std::vector<float> values(image.data.size() / 4);
  std::memcpy(values.data(), image.data.data(), image.data.size());
  return values;
}

int Pixel(const Image& image, int64_t y, int64_t x, int c = 0) {
  return static_cast<int>(
      image.data[static_cast<size_t>((y * image.width + x) * image.channels + c)]);
}

Image Decode(const std::string& file, const DecodeOptions& options = {}) {
  return DecodeImage(Bytes(file), options);
}

// ---- against TensorFlow and Pillow ----

TEST(Decode, AsTensorFlowAndPillow) {
  int cases = 0;
  for (const nlohmann::json& c : RecordedImages().at("decodes")) {
    const std::string name = c.at("file");
    SCOPED_TRACE(name);
    DecodeOptions options;
    options.channels = c.at("channels");
    options.dtype = ir::ParseDType(c.at("dtype").get<std::string>());
    options.alpha = c.at("alpha") == "drop"                          ? AlphaPolicy::kDrop
                    : options.channels == 0 || options.channels == 4 ? AlphaPolicy::kKeep
                                                                     : AlphaPolicy::kAuto;
    const Image image = Decode(RecordedFile(name), options);
    const nlohmann::json& expected = c.at("expected");
    EXPECT_EQ((std::vector<int64_t>{image.height, image.width, image.channels}),
              expected.at("shape").get<std::vector<int64_t>>());
    EXPECT_EQ(Values(image), expected.at("data").get<std::vector<int>>());
    ++cases;
  }
  EXPECT_GE(cases, 20);
}

// ---- kinds of JPEG ----

TEST(Jpeg, YcckAndCmykWithAndWithoutAdobe) {
  // One colour per file: what is stored is exact at quality 100 (as good as).
  for (bool adobe : {true, false}) {
    for (J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
      if (stored == JCS_YCCK && !adobe) continue;  // nothing would say that it is YCCK
      std::vector<uint8_t> pixels;
      for (int i = 0; i < 64; ++i) pixels.insert(pixels.end(), {200, 40, 100, 150});
      testing::JpegKind kind;
      kind.in = JCS_CMYK;
      kind.stored = stored;
      kind.quality = 100;
      kind.sampling_x = kind.sampling_y = 1;
      kind.adobe = adobe;
      const std::string file = WriteJpeg(pixels, 8, 8, 4, kind);
      EXPECT_EQ(Probe(Bytes(file)).channels, 3);
      const Image image = Decode(file);
      ASSERT_EQ(image.channels, 3);
      for (int c = 0; c < 3; ++c) {
        const int ink = std::array{200, 40, 100}[static_cast<size_t>(c)];
        const int expected = adobe ? ink * 150 / 255 : (255 - ink) * 105 / 255;
        EXPECT_NEAR(Pixel(image, 3, 3, c), expected, 2) << adobe << stored << c;
      }
      DecodeOptions grey;
      grey.channels = 1;
      EXPECT_EQ(Decode(file, grey).data.size(), 64);
      grey.channels = 4;
      EXPECT_EQ(Pixel(Decode(file, grey), 0, 0, 3), 255);
    }
  }
}

// Every orientation, in every format, is seen alike: red left, green bottom.
TEST(Exif, RedLeftGreenBottom) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const char* format : {"jpeg", "png", "webp"}) {
      const std::string name = fmt::format("exif_{}_{}", orientation, format);
      SCOPED_TRACE(name);
      const std::string file = RecordedFile(name);
      EXPECT_EQ(Probe(Bytes(file)).orientation, orientation);
      const Image image = Decode(file);
      ASSERT_EQ(image.height, 8);
      ASSERT_EQ(image.width, 16);
      auto is = [&](int64_t y, int64_t x, int r, int g, int b) {
        EXPECT_NEAR(Pixel(image, y, x, 0), r, 8) << y << " " << x;
        EXPECT_NEAR(Pixel(image, y, x, 1), g, 8) << y << " " << x;
        EXPECT_NEAR(Pixel(image, y, x, 2), b, 8) << y << " " << x;
      };
      is(0, 0, 255, 0, 0);
      is(5, 3, 255, 0, 0);
      is(0, 4, 255, 255, 255);
      is(5, 15, 255, 255, 255);
      is(6, 0, 0, 255, 0);
      is(7, 15, 0, 255, 0);
      DecodeOptions stored;
      stored.exif = false;
      EXPECT_EQ(Decode(file, stored).height, orientation >= 5 ? 16 : 8);
    }
  }
}

TEST(Exif, PartsOfOrientedPictures) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string file = RecordedFile(fmt::format("exif_{}_png", orientation));
    const Image whole = Decode(file);
    ImageReader reader;
    reader.Open(Bytes(file), {});
    const ImageRect rect = {2, 3, 5, 4};
    const Pixels part = reader.Read(rect);
    ASSERT_EQ(part.height, 5);
    ASSERT_EQ(part.width, 4);
    std::vector<std::byte> into(60);
    for (int64_t y = 0; y < 5; ++y) {
      EXPECT_EQ(
          std::memcmp(part.row(y), &whole.data[static_cast<size_t>(((y + 2) * 16 + 3) * 3)], 12), 0)
          << orientation;
    }
    reader.ReadInto(rect, into.data(), 12);
    for (int64_t y = 0; y < 5; ++y) {
      EXPECT_EQ(std::memcmp(part.row(y), into.data() + y * 12, 12), 0) << orientation;
    }
  }
}

TEST(Exif, NonsenseIsNoOrientation) {
  auto tiff = [](std::string text) { return ExifOrientation(Bytes(text)); };
  const std::string entry("\x01\x12\0\x03\0\0\0\x01\0\x06\0\0", 12);
  const std::string head("MM\0*\0\0\0\x08\0\x01", 10);
  EXPECT_EQ(tiff(head + entry), 6);
  EXPECT_EQ(tiff(head + entry.substr(0, 9)), 1);
  EXPECT_EQ(tiff(std::string("MM\0*\xff\xff\xff\xff", 8)), 1);
  EXPECT_EQ(tiff(""), 1);
  EXPECT_EQ(tiff("MM"), 1);
  std::string nine = head + entry;
  nine[19] = 9;
  EXPECT_EQ(tiff(nine), 1);
  const std::string little("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x08\0\0\0", 22);
  EXPECT_EQ(tiff(little), 8);
}

// A part decoded alone has the whole picture's pixels, for every kind of sampling.
TEST(Jpeg, PartsAreEqual) {
  const int height = 150, width = 203;
  for (auto [sx, sy] :
       {std::pair(1, 1), std::pair(2, 1), std::pair(2, 2), std::pair(1, 2), std::pair(4, 1)}) {
    for (bool progressive : {false, true}) {
      testing::JpegKind kind;
      kind.sampling_x = sx;
      kind.sampling_y = sy;
      kind.progressive = progressive;
      const std::string file = WriteJpeg(Photo(height, width, 3), height, width, 3, kind);
      const Image whole = Decode(file);
      ImageReader reader;
      uint32_t seed = 7;
      auto below = [&](int64_t count) {
        seed = seed * 1664525 + 1013904223;
        return static_cast<int64_t>(seed >> 8) % count;
      };
      for (int i = 0; i < 60; ++i) {
        ImageRect rect;
        rect.height = 1 + below(height);
        rect.width = 1 + below(i % 2 == 0 ? 60 : width);
        rect.y = below(height - rect.height + 1);
        rect.x = below(width - rect.width + 1);
        reader.Open(Bytes(file), {});
        const Pixels part = reader.Read(rect);
        ASSERT_EQ(part.height, rect.height);
        ASSERT_EQ(part.width, rect.width);
        for (int64_t y = 0; y < rect.height; ++y) {
          ASSERT_EQ(
              std::memcmp(part.row(y),
                          &whole.data[static_cast<size_t>(((rect.y + y) * width + rect.x) * 3)],
                          static_cast<size_t>(rect.width * 3)),
              0)
              << sx << sy << progressive << " part " << rect.y << " " << rect.x << " "
              << rect.height << " " << rect.width << " row " << y;
        }
      }
    }
  }
}

// Decoded at 1/2, 1/4, 1/8: each pixel is about the mean of those it stands for.
TEST(Jpeg, Scaled) {
  const int height = 64, width = 96;
  std::vector<uint8_t> pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) pixels.push_back(static_cast<uint8_t>(2 * x + y / (c + 1)));
    }
  }
  const std::string file = WriteJpeg(pixels, height, width, 3, {.quality = 95});
  ImageReader reader;
  for (int eighths : {4, 2, 1}) {
    const int n = 8 / eighths;
    reader.Open(Bytes(file), {});
    const ImageRect rect = {24, 40, 32, 41};
    const Pixels part = reader.Read(rect, eighths);
    ASSERT_EQ(part.height, 32 / n);
    ASSERT_EQ(part.width, (81 + n - 1) / n - 40 / n);
    for (int64_t y = 0; y < part.height; ++y) {
      for (int64_t x = 0; x < part.width; ++x) {
        const double mean_x = static_cast<double>(40 / n * n + x * n) + (n - 1) / 2.0;
        const double mean_y = static_cast<double>(24 + y * n) + (n - 1) / 2.0;
        EXPECT_NEAR(static_cast<int>(part.row(y)[3 * x]), 2 * mean_x + mean_y, 4)
            << eighths << " " << y << " " << x;
      }
    }
  }
}

TEST(Jpeg, RestartMarkersAndOddSizes) {
  for (int height : {1, 7, 8, 17}) {
    for (int width : {1, 9, 33}) {
      const std::string file =
          WriteJpeg(Photo(height, width, 3), height, width, 3, {.quality = 95, .restart_rows = 1});
      const Image image = Decode(file);
      EXPECT_EQ(image.height, height);
      EXPECT_EQ(image.width, width);
    }
  }
}

TEST(Jpeg, CutAtEveryByte) {
  const std::string file = WriteJpeg(Photo(24, 40, 3), 24, 40, 3);
  for (size_t size = 0; size < file.size(); ++size) {
    const std::string message = MessageOf<DataError>([&] { Decode(file.substr(0, size)); });
    EXPECT_THAT(message,
                ::testing::AnyOf(HasSubstr("cut"), HasSubstr("empty"), HasSubstr("not a picture")))
        << size;
  }
}

TEST(Jpeg, CutBelowThePartIsNoticedToo) {
  const std::string file = WriteJpeg(Photo(64, 64, 3), 64, 64, 3);
  ImageReader reader;
  reader.Open(Bytes(file), {});
  reader.Read({0, 0, 8, 8});
  const std::string cut = file.substr(0, file.size() / 2);
  reader.Open(Bytes(cut), {});
  EXPECT_THAT(MessageOf<DataError>([&] { reader.Read({0, 0, 8, 8}); }), HasSubstr("cut"));
  // The reader is as good as new afterwards.
  reader.Open(Bytes(file), {});
  EXPECT_EQ(reader.Read({0, 0, 64, 64}).height, 64);
}

TEST(Jpeg, RecoverTruncated) {
  DecodeOptions options;
  options.try_recover_truncated = true;
  const Image image = Decode(RecordedFile("jpeg_cut"), options);
  EXPECT_EQ(image.height, 40);
  const Image whole = Decode(RecordedFile("jpeg_420"));
  EXPECT_EQ(std::memcmp(image.data.data(), whole.data.data(), 56 * 3 * 8), 0);
  EXPECT_THAT(MessageOf<DataError>([&] { Decode(RecordedFile("jpeg_cut")); }),
              AllOf(HasSubstr("56 by 40"), HasSubstr("is cut"), HasSubstr("Fetch it again")));
}

TEST(Jpeg, DamagedData) {
  std::string file = WriteJpeg(Photo(64, 64, 3), 64, 64, 3, {.quality = 95, .restart_rows = 1});
  // A restart marker of the wrong number: rows between are missing.
  const size_t at = file.find("\xff\xd1", 600);
  ASSERT_NE(at, file.npos);
  file[at + 1] = static_cast<char>(0xd5);
  EXPECT_THAT(MessageOf<DataError>([&] { Decode(file); }), HasSubstr("damaged"));
}

// A picture without its own tables is not decoded with those of the picture before it. (Found by
// fuzzing.)
TEST(Jpeg, MissingTables) {
  const std::string file = WriteJpeg(Photo(32, 32, 3), 32, 32, 3);
  const size_t at = file.find("\xff\xdb");
  ASSERT_NE(at, file.npos);
  const size_t length = static_cast<unsigned char>(file[at + 2]) * size_t{256} +
                        static_cast<unsigned char>(file[at + 3]);
  const std::string without = file.substr(0, at) + file.substr(at + 2 + length);
  ImageReader reader;
  for (int round = 0; round < 2; ++round) {
    reader.Open(Bytes(file), {});
    reader.Read({0, 0, 32, 32});
    reader.Open(Bytes(without), {});
    EXPECT_THAT(MessageOf<DataError>([&] {
                  reader.Read({0, 0, 32, 32});
                }),
                HasSubstr("Quantization table"));
  }
}

TEST(Jpeg, BytesBetweenMarkersDoNoHarm) {
  const std::string file = RecordedFile("jpeg_420");
  // Behind the first segment.
  const size_t at = 4 + static_cast<size_t>(file[4]) * 256 + static_cast<size_t>(file[5]);
  EXPECT_EQ(Decode(file.substr(0, at) + "xx" + file.substr(at)).data, Decode(file).data);
  EXPECT_EQ(Decode(file + std::string(100, 'x')).data, Decode(file).data);
}

// ---- kinds of PNG ----

TEST(Png, InterlacedIsTheSame) {
  for (int channels : {1, 2, 3, 4}) {
    for (int bits : {8, 16}) {
      const auto pixels = Photo(13, 11, channels * bits / 8);
      DecodeOptions options;
      options.channels = 0;
      options.dtype = bits == 16 ? ir::DType::kU16 : ir::DType::kU8;
      const Image straight = Decode(WritePng(pixels, 13, 11, channels, bits, false), options);
      const Image interlaced = Decode(WritePng(pixels, 13, 11, channels, bits, true), options);
      EXPECT_EQ(straight.channels, channels);
      EXPECT_EQ(straight.data, interlaced.data);
      if (bits == 8) {
        EXPECT_EQ(Values(straight), std::vector<int>(pixels.begin(), pixels.end()));
      }
    }
  }
}

TEST(Png, SixteenBitKeepsItsScale) {
  // 0, 1/3, 128.5/257 and 1 of the range, big-endian.
  const std::string file = WritePng({0, 0, 0x55, 0x55, 0x80, 0x80, 0xff, 0xff}, 1, 4, 1, 16, false);
  DecodeOptions options;
  options.channels = 1;
  EXPECT_THAT(Values(Decode(file, options)), ElementsAre(0, 85, 128, 255));
  options.dtype = ir::DType::kU16;
  EXPECT_THAT(Values(Decode(file, options)), ElementsAre(0, 0x5555, 0x8080, 65535));
  options.dtype = ir::DType::kF32;
  EXPECT_THAT(Floats(Decode(file, options)), ElementsAre(0, ::testing::FloatEq(21845 / 65535.0f),
                                                         ::testing::FloatEq(32896 / 65535.0f), 1));
  // And 8 bit as 16.
  options.dtype = ir::DType::kU16;
  EXPECT_THAT(Values(Decode(WritePng({0, 1, 128, 255}, 1, 4, 1, 8, false), options)),
              ElementsAre(0, 257, 128 * 257, 65535));
}

TEST(Png, AlphaPolicies) {
  const std::string file =
      WritePng({100, 150, 200, 255, 100, 150, 200, 0, 100, 150, 200, 51}, 1, 3, 4, 8, false);
  DecodeOptions options;
  EXPECT_THAT(Values(Decode(file)), ElementsAre(100, 150, 200, 255, 255, 255, 224, 234, 244));
  options.background = {0, 0, 255};
  EXPECT_THAT(Values(Decode(file, options)), ElementsAre(100, 150, 200, 0, 0, 255, 20, 30, 244));
  options.alpha = AlphaPolicy::kDrop;
  EXPECT_THAT(Values(Decode(file, options)),
              ElementsAre(100, 150, 200, 100, 150, 200, 100, 150, 200));
  options.channels = 4;
  options.alpha = AlphaPolicy::kAuto;
  EXPECT_THAT(Values(Decode(file, options)),
              ElementsAre(100, 150, 200, 255, 100, 150, 200, 0, 100, 150, 200, 51));
  options.channels = 0;
  options.alpha = AlphaPolicy::kDrop;
  EXPECT_EQ(Decode(file, options).channels, 3);
  options.channels = 1;
  options.alpha = AlphaPolicy::kAuto;
  // Rec. 601 luma of (100, 150, 200): 29.9 + 88.05 + 22.8.
  EXPECT_EQ(Pixel(Decode(file, options), 0, 0), 141);
  options.channels = 3;
  options.alpha = AlphaPolicy::kKeep;
  EXPECT_THAT(MessageOf<UserError>([&] { Decode(file, options); }), HasSubstr("channels = 4"));
}

TEST(Png, CutAtEveryByte) {
  const std::string file = WritePng(Photo(9, 9, 3), 9, 9, 3, 8, false);
  for (size_t size = 8; size < file.size(); ++size) {
    EXPECT_THAT(MessageOf<DataError>([&] { Decode(file.substr(0, size)); }), HasSubstr("cut"))
        << size;
  }
}

TEST(Png, ChecksumIsChecked) {
  std::string file = WritePng(Photo(9, 9, 3), 9, 9, 3, 8, false);
  file[file.find("IEND") - 9] ^= 1;  // in the checksum of the pixels' deflate stream
  EXPECT_THAT(MessageOf<DataError>([&] { Decode(file); }), HasSubstr("incorrect data check"));
}

// ---- GIF and WebP ----

TEST(Gif, CutAtEveryByte) {
  const std::string file = RecordedFile("gif_interlaced");
  for (size_t size = 6; size + 4 < file.size(); ++size) {
    EXPECT_THAT(MessageOf<DataError>([&] { Decode(file.substr(0, size)); }), HasSubstr("cut"))
        << size;
  }
}

TEST(Gif, FrameSmallerThanItsCanvas) {
  // A canvas of 3 by 2 with one red pixel at (1, 1): palette of 2, LZW codes of 3 bits: clear (4),
  // 1, end (5).
  const std::string file(
      "GIF89a\3\0\2\0\x80\0\0\0\0\0\xff\0\0\x2c\1\0\1\0\1\0\1\0\0\2\2\x4c\1\0\x3b", 35);
  EXPECT_THAT(Values(Decode(file)), ElementsAre(255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                                255, 255, 255, 0, 0, 255, 255, 255));
  DecodeOptions options;
  options.channels = 4;
  EXPECT_THAT(Values(Decode(file, options)), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                                         0, 0, 0, 0, 255, 0, 0, 255, 0, 0, 0, 0));
}

TEST(Webp, Cut) {
  for (const char* name : {"webp_lossy", "webp_lossless", "webp_alpha", "webp_animated"}) {
    const std::string file = RecordedFile(name);
    EXPECT_EQ(Probe(Bytes(file)).animated, std::string(name) == "webp_animated");
    for (size_t size = 12; size < file.size(); ++size) {
      EXPECT_THAT(MessageOf<DataError>([&] { Decode(file.substr(0, size)); }), HasSubstr("cut"))
          << name << " " << size;
    }
    // The size in the header made to fit: the decoder itself must notice.
    std::string cut = file.substr(0, file.size() / 2 / 2 * 2);
    const uint32_t claimed = static_cast<uint32_t>(cut.size() - 8);
    std::memcpy(cut.data() + 4, &claimed, 4);
    EXPECT_THAT(MessageOf<DataError>([&] { Decode(cut); }), HasSubstr("cut")) << name;
  }
}

// ---- what is no picture ----

TEST(Probe, NameDoesNotMatter) {
  EXPECT_EQ(Probe(Bytes(RecordedFile("png_rgb"))).format, ImageFormat::kPng);
  EXPECT_EQ(Probe(Bytes(RecordedFile("png_rgb"))).ToString(), "PNG 8x8, 3 channels of 8 bit");
  EXPECT_EQ(Probe(Bytes(RecordedFile("exif_6_jpeg"))).ToString(),
            "JPEG 8x16, 3 channels of 8 bit, orientation 6");
  EXPECT_EQ(Probe(Bytes(RecordedFile("png16_rgba"))).bits, 16);
  EXPECT_EQ(Probe(Bytes(RecordedFile("png_palette_trns"))).channels, 4);
  EXPECT_EQ(Probe(Bytes(RecordedFile("gif_transparent"))).channels, 4);
  EXPECT_EQ(Probe(Bytes(RecordedFile("gif_animated"))).format, ImageFormat::kGif);
}

TEST(Probe, OtherFiles) {
  auto message = [](const std::string& file) {
    return MessageOf<DataError>([&] { Probe(Bytes(file)); });
  };
  EXPECT_THAT(message(""), HasSubstr("empty (0 bytes)"));
  EXPECT_THAT(message(std::string(500, '\0')), HasSubstr("all 500 bytes are zero"));
  EXPECT_THAT(message("BM......"), HasSubstr("a BMP file"));
  EXPECT_THAT(message("<!DOCTYPE html>"), HasSubstr("a web page"));
  EXPECT_THAT(message(std::string("\0\0\0\x20"
                                  "ftypavif",
                                  12)),
              HasSubstr("an AVIF file"));
  EXPECT_THAT(message("version https://git-lfs.github.com/spec/v1"), HasSubstr("Git LFS pointer"));
  EXPECT_THAT(message("some text"), HasSubstr("found bytes 73 6f 6d 65"));
}

TEST(Bombs, AreRefusedBeforeMemoryIsTaken) {
  // A PNG that claims 60000 by 60000 pixels.
  std::string png = WritePng(Photo(2, 2, 1), 2, 2, 1, 8, false);
  png[18] = static_cast<char>(0xea);
  png[19] = 0x60;
  png[22] = static_cast<char>(0xea);
  png[23] = 0x60;
  EXPECT_THAT(MessageOf<DataError>([&] { Decode(png); }),
              AllOf(HasSubstr("cannot hold 60000 by 60000"), HasSubstr("cut")));
  std::string jpeg = WriteJpeg(Photo(8, 8, 3), 8, 8, 3);
  const size_t frame = jpeg.find("\xff\xc0");
  for (size_t i : {5, 6, 7, 8}) jpeg[frame + i] = static_cast<char>(0x7f);
  EXPECT_THAT(MessageOf<DataError>([&] { Decode(jpeg); }), HasSubstr("cut"));
  DecodeOptions options;
  options.max_pixels = 63;
  EXPECT_THAT(MessageOf<DataError>([&] { Decode(RecordedFile("png_rgb"), options); }),
              AllOf(HasSubstr("claims 8 by 8 pixels"), HasSubstr("at most 63")));
  options.max_pixels = 64;
  EXPECT_EQ(Decode(RecordedFile("png_rgb"), options).height, 8);
  std::string gif = RecordedFile("gif_animated");
  for (size_t i : {6, 7, 8, 9}) gif[i] = static_cast<char>(0xff);
  EXPECT_THAT(MessageOf<DataError>([&] { Decode(gif); }), HasSubstr("max_pixels"));
}

// Any byte of any kind of file changed: an error or a picture, never worse.
TEST(Decode, ChangedBytes) {
  for (const auto& [name, content] : RecordedImages().at("files").items()) {
    const std::string file = testing::Base64(content);
    DecodeOptions options;
    options.max_pixels = 1 << 20;
    int errors = 0;
    for (size_t i = 0; i<file.size(); i += file.size()> 1000 ? 7 : 1) {
      for (int change : {0x01, 0x80, 0xff}) {
        std::string changed = file;
        changed[i] = static_cast<char>(changed[i] ^ change);
        try {
          Decode(changed, options);
        } catch (const DataError&) {
          ++errors;
        }
      }
    }
    EXPECT_GT(errors, 0) << name;
  }
}

}  // namespace
}  // namespace flatout::data
