#include "flatout/data/transforms/image_transforms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "flatout/data/image/image_testing.h"
#include "flatout/data/order.h"
#include "flatout/data/testing.h"

namespace flatout::data::images {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Photo;
using testing::RecordedFile;
using testing::RecordedImages;
using testing::WriteJpeg;
using testing::WritePng;

const Field kPixels = {"image", ir::Shape(ir::DType::kU8, {kAny, kAny, kAny})};

// Encoded files as records.
Block Encoded(const std::vector<std::string>& files) {
  Block block;
  block.Reset({TextField("image"), Field{"label", ir::Shape::Scalar(ir::DType::kI32)}},
              static_cast<int64_t>(files.size()));
  for (size_t i = 0; i < files.size(); ++i) {
    block.SetText(0, static_cast<int64_t>(i), files[i]);
    *block.as<int32_t>(1, static_cast<int64_t>(i)) = static_cast<int32_t>(i);
  }
  return block;
}

template <typename T>
Block PixelBlock(const std::vector<T>& values, std::vector<int64_t> dims, ir::DType dtype) {
  Block block;
  block.Reset({Field{"image", ir::Shape(dtype, {kAny, kAny, kAny})}}, 1);
  std::memcpy(block.SetCell(0, 0, dims), values.data(), values.size() * sizeof(T));
  return block;
}

Block Applied(const Transform& transform, const Block& in, uint64_t key = 0,
              BadRecords* bad = nullptr) {
  Block out;
  out.Reset(transform.Fields(in.fields()), in.rows());
  out.set_bad_records(bad);
  std::vector<uint64_t> keys;
  for (int64_t row = 0; row < in.rows(); ++row)
    keys.push_back(Mix(key + static_cast<uint64_t>(row)));
  transform.Apply(in, out, keys);
  out.TakeBad(in);
  return out;
}

template <typename T>
std::vector<T> Values(const Block& block, int64_t row = 0) {
  const std::span<const std::byte> bytes = block.bytes(0, row);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<int64_t> Dims(const Block& block, int64_t row = 0) {
  const auto dims = block.dims(0, row);
  return {dims.begin(), dims.end()};
}

TransformPtr FromToml(const std::string& toml) {
  return MakeTransform(Config::ParseToml(toml, "run.toml"));
}

// One after the other, each by itself.
Block RunAll(const std::vector<TransformPtr>& transforms, const Block& in, uint64_t key = 0) {
  Block current = Applied(*transforms.front(), in, key);
  std::vector<Block> before;  // cells may lie in them
  for (size_t i = 1; i < transforms.size(); ++i) {
    Block next = Applied(*transforms[i], current, key);
    before.push_back(std::move(current));
    current = std::move(next);
  }
  Block own;
  own.Reset(current.fields(), current.rows());
  for (int64_t row = 0; row < current.rows(); ++row) own.CopyRow(row, current, row);
  return own;
}

// ---- fields ----

TEST(ImageTransforms, Fields) {
  const std::vector<Field> encoded = {TextField("image"), TextField("path")};
  auto after = [&](const std::string& toml, const std::vector<Field>& in) {
    return FromToml(toml)->Fields(in)[0].ToString();
  };
  EXPECT_EQ(after("op = 'decode_image'", encoded), "image u8[?,?,3]");
  EXPECT_EQ(after("op = 'decode_image'\nchannels = 0\ndtype = 'f32'", encoded), "image f32[?,?,?]");
  const std::vector<Field> pixels = {Field{"image", ir::Shape(ir::DType::kU8, {kAny, kAny, 3})}};
  EXPECT_EQ(after("op = 'resize'\nsize = [20, 30]", pixels), "image u8[20,30,3]");
  EXPECT_EQ(after("op = 'resize'\nsize = 20", pixels), "image u8[?,?,3]");
  EXPECT_EQ(after("op = 'resize'\nsize = [20, 30]\ndtype = 'f32'", pixels), "image f32[20,30,3]");
  EXPECT_EQ(after("op = 'center_crop'\nsize = 20", pixels), "image u8[20,20,3]");
  EXPECT_EQ(after("op = 'random_resized_crop'\nsize = 20", pixels), "image u8[20,20,3]");
  EXPECT_EQ(after("op = 'normalize_image'", pixels), "image f32[?,?,3]");
  EXPECT_EQ(after("op = 'rgb_to_grayscale'", pixels), "image u8[?,?,1]");
  EXPECT_EQ(after("op = 'pad_to'\nsize = [4, 5]", pixels), "image u8[4,5,3]");
  const std::vector<Field> known = {Field{"image", ir::Shape(ir::DType::kU8, {40, 80, 3})}};
  EXPECT_EQ(after("op = 'resize'\nsize = 20", known), "image u8[20,40,3]");
  EXPECT_EQ(after("op = 'resize'\nsize = [30, 30]\npreserve_aspect_ratio = true", known),
            "image u8[15,30,3]");
  EXPECT_EQ(after("op = 'random_flip'", known), "image u8[40,80,3]");
}

TEST(ImageTransforms, FieldsThatDoNotSuit) {
  auto message = [](const std::string& toml, const std::vector<Field>& in) {
    return MessageOf<UserError>([&] { FromToml(toml)->Fields(in); });
  };
  const std::vector<Field> encoded = {TextField("image")};
  EXPECT_THAT(message("op = 'resize'\nsize = 5", encoded),
              AllOf(HasSubstr("resize of field \"image\""), HasSubstr("put decode_image before")));
  EXPECT_THAT(message("op = 'decode_image'", {kPixels}), HasSubstr("expected encoded bytes"));
  EXPECT_THAT(message("op = 'decode_image'\nfield = 'imge'", encoded), HasSubstr("image"));
  EXPECT_THAT(message("op = 'resize'\nsize = 5", {Field{"image", ir::Shape(ir::DType::kI32, {5})}}),
              HasSubstr("found image i32[5]"));
  const std::vector<Field> grey = {Field{"image", ir::Shape(ir::DType::kU8, {40, 80, 1})}};
  EXPECT_THAT(message("op = 'random_hue'\nmax_delta = 0.1", grey),
              HasSubstr("expected 3 channels"));
  EXPECT_THAT(message("op = 'normalize_image'\nmean = [1, 2, 3]", grey),
              HasSubstr("expected 3 (as mean and std have) channels, found 1"));
  EXPECT_THAT(message("op = 'center_crop'\nsize = 41", grey), HasSubstr("height at least 41"));
  EXPECT_THAT(message("op = 'pad_to'\nsize = 50", grey), HasSubstr("at most 50 by 50"));
}

TEST(ImageTransforms, WrongKeys) {
  auto message = [](const std::string& toml) {
    return MessageOf<UserError>([&] { FromToml(toml); });
  };
  EXPECT_THAT(message("op = 'decode_image'\nchannels = 2"),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("expected 0 (as the file), 1")));
  EXPECT_THAT(message("op = 'decode_image'\ndtype = 'f64'"),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("u8, u16 or f32")));
  EXPECT_THAT(message("op = 'decode_image'\nalpha = 'blend'"),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("composite")));
  EXPECT_THAT(message("op = 'decode_image'\nbackground = [1, 2]"),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("[red, green, blue]")));
  EXPECT_THAT(message("op = 'decode_image'\nchanels = 3"), HasSubstr("channels"));
  EXPECT_THAT(message("op = 'resize'"), HasSubstr("size"));
  EXPECT_THAT(message("op = 'resize'\nsize = [5, 5, 5]"),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("[height, width]")));
  EXPECT_THAT(message("op = 'resize'\nsize = 0"), HasSubstr("found 0"));
  EXPECT_THAT(message("op = 'resize'\nsize = 5\nmethod = 'bilinar'"),
              AllOf(HasSubstr("run.toml:3"), HasSubstr("did you mean \"bilinear\"")));
  EXPECT_THAT(message("op = 'random_resized_crop'\nsize = 5\nscale = [0.5, 2]"),
              AllOf(HasSubstr("run.toml:3"), HasSubstr("found [0.5, 2]")));
  EXPECT_THAT(message("op = 'random_flip'\np = 2"), HasSubstr("found 2"));
  EXPECT_THAT(message("op = 'normalize_image'\nstd = [1, 0, 1]"), HasSubstr("above 0"));
  EXPECT_THAT(message("op = 'random_contrast'\nlower = 0.5"), HasSubstr("upper"));
  EXPECT_THAT(message("op = 'random_contrast'\nlower = 2\nupper = 1"), HasSubstr("found 2 and 1"));
  EXPECT_THAT(message("op = 'random_hue'\nmax_delta = 0.6"), HasSubstr("half the circle"));
}

// ---- values ----

TEST(ImageTransforms, ResizeAsTensorFlow) {
  for (const nlohmann::json& c : RecordedImages().at("resizes")) {
    const nlohmann::json& input =
        RecordedImages().at("resize_inputs").at(c.at("input").get<std::string>());
    if (input.at("dtype") != "uint8") continue;
    const auto in =
        PixelBlock(input.at("data").get<std::vector<uint8_t>>(), input.at("shape"), ir::DType::kU8);
    ResizeStep step;
    step.size = c.at("size").get<std::vector<int64_t>>();
    step.method = ParseResizeMethod(c.at("method").get<std::string>());
    step.antialias = c.at("antialias");
    const auto expected = c.at("expected").at("data").get<std::vector<double>>();
    const auto rounded = Values<uint8_t>(Applied(*Resize(step), in));
    step.dtype = ir::DType::kF32;
    const auto exact = Values<float>(Applied(*Resize(step), in));
    ASSERT_EQ(rounded.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(exact[i] * 255, expected[i], 2e-4) << c.at("method") << " " << i;
      ASSERT_NEAR(rounded[i], std::clamp(expected[i], 0.0, 255.0), 0.501) << c.at("method");
    }
  }
}

TEST(ImageTransforms, ColorsAsTensorFlow) {
  int cases = 0;
  for (const nlohmann::json& c : RecordedImages().at("colors")) {
    const std::string key = c.at("input");
    const std::string kind = c.at("kind");
    SCOPED_TRACE(key + " " + kind + c.at("amount").dump());
    const nlohmann::json& input = RecordedImages().at("color_inputs").at(key);
    Step step = GrayscaleStep{};
    if (kind != "grayscale") {
      ColorStep color;
      color.kind = kind == "brightness"   ? ColorStep::Kind::kBrightness
                   : kind == "contrast"   ? ColorStep::Kind::kContrast
                   : kind == "saturation" ? ColorStep::Kind::kSaturation
                                          : ColorStep::Kind::kHue;
      color.lower = color.upper = c.at("amount");
      step = color;
    }
    const TransformPtr transform = Make(step);
    auto check = [&](auto zero, ir::DType dtype, double tolerance) {
      using T = decltype(zero);
      const auto values = input.at("data").get<std::vector<T>>();
      const auto found =
          Values<T>(Applied(*transform, PixelBlock(values, input.at("shape"), dtype)));
      const auto expected = c.at("expected").at("data").get<std::vector<double>>();
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(found[i]), expected[i], tolerance) << i;
      }
    };
    // Integers are cut, not rounded, so that the last bit of a float may move one by one.
    if (key == "u8") check(uint8_t{}, ir::DType::kU8, 1);
    if (key == "u16") check(uint16_t{}, ir::DType::kU16, 1);
    if (key == "f32") check(float{}, ir::DType::kF32, 2e-6);
    ++cases;
  }
  EXPECT_EQ(cases, 27);
}

TEST(ImageTransforms, CropsAndPads) {
  // 3 rows of 4 grey pixels: 0 to 11.
  std::vector<uint8_t> values;
  for (uint8_t i = 0; i < 12; ++i) values.push_back(i);
  const Block in = PixelBlock(values, {3, 4, 1}, ir::DType::kU8);
  auto run = [&](const std::string& toml) { return Values<uint8_t>(Applied(*FromToml(toml), in)); };
  EXPECT_THAT(run("op = 'center_crop'\nsize = [1, 2]"), ElementsAre(5, 6));
  EXPECT_THAT(run("op = 'center_crop'\nsize = [2, 3]"), ElementsAre(0, 1, 2, 4, 5, 6));
  EXPECT_THAT(run("op = 'center_crop'\nsize = [5, 2]\npad_if_needed = true"),
              ElementsAre(0, 0, 1, 2, 5, 6, 9, 10, 0, 0));
  EXPECT_THAT(run("op = 'pad_to'\nsize = [3, 6]\nvalue = 7"),
              ElementsAre(7, 0, 1, 2, 3, 7, 7, 4, 5, 6, 7, 7, 7, 8, 9, 10, 11, 7));
  EXPECT_THAT(run("op = 'pad_to'\nsize = [4, 5]\nposition = 'top_left'"),
              ElementsAre(0, 1, 2, 3, 0, 4, 5, 6, 7, 0, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(run("op = 'random_crop'\nsize = [3, 4]"), ::testing::ElementsAreArray(values));
  EXPECT_THAT(MessageOf<DataError>([&] { run("op = 'center_crop'\nsize = 4"); }),
              AllOf(HasSubstr("height of at least 4 pixels, found 3"), HasSubstr("pad_if_needed")));
  EXPECT_THAT(MessageOf<DataError>([&] { run("op = 'pad_to'\nsize = 3"); }),
              HasSubstr("at most 3 by 3"));
  // The size of the crop is cut out at any place of the padded picture, all of them equally often.
  std::set<std::pair<int, int>> seen;
  const TransformPtr random = FromToml("op = 'random_crop'\nsize = [1, 2]\npadding = 1");
  for (uint64_t key = 0; key < 2000; ++key) {
    const auto crop = Values<uint8_t>(Applied(*random, in, key));
    ASSERT_EQ(crop.size(), 2);
    seen.emplace(crop[0], crop[1]);
  }
  // Of 5 by 5 places the 10 above and below give two zeros, as the first pixel and the frame beside
  // it do: 14 and one.
  EXPECT_EQ(seen.size(), 15);
  // A frame wider than the crop: what is cut out may be all frame.
  const TransformPtr wide = FromToml("op = 'random_crop'\nsize = [1, 1]\npadding = 3");
  for (uint64_t key = 0; key < 200; ++key) {
    ASSERT_EQ(Values<uint8_t>(Applied(*wide, in, key)).size(), 1);
  }
}

TEST(ImageTransforms, Flips) {
  const std::vector<uint8_t> values = {1, 2, 3, 4, 5, 6};
  const Block in = PixelBlock(values, {2, 3, 1}, ir::DType::kU8);
  auto run = [&](const std::string& toml) { return Values<uint8_t>(Applied(*FromToml(toml), in)); };
  EXPECT_THAT(run("op = 'random_flip'\np = 1"), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(run("op = 'random_flip'\np = 1\nhorizontal = false\nvertical = true"),
              ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(run("op = 'random_flip'\np = 1\nvertical = true"), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(run("op = 'random_flip'\np = 0"), ::testing::ElementsAreArray(values));
  int flipped = 0;
  for (uint64_t key = 0; key < 4000; ++key) {
    flipped += Values<uint8_t>(Applied(*RandomFlip(), in, key)) != values;
  }
  EXPECT_NEAR(flipped, 2000, 150);  // four standard deviations are 126
}

TEST(ImageTransforms, Normalize) {
  const Block in = PixelBlock<uint8_t>({0, 51, 255, 255, 102, 0}, {1, 2, 3}, ir::DType::kU8);
  auto run = [&](const std::string& toml) { return Values<float>(Applied(*FromToml(toml), in)); };
  EXPECT_THAT(run("op = 'to_float'"),
              ElementsAre(0, ::testing::FloatEq(0.2f), 1, 1, ::testing::FloatEq(0.4f), 0));
  const auto found = run("op = 'normalize_image'\nmean = [0.5, 0.1, 0.2]\nstd = [0.5, 0.1, 2]");
  const float expected[] = {-1, 1, 0.4f, 1, 3, -0.1f};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(found[i], expected[i], 1e-6);
  EXPECT_THAT(run("op = 'normalize_image'\nscale = 2\nmean = 10"),
              ElementsAre(-10, 92, 500, 500, 194, -10));
  // f32 is in 0 to 1 already, u16 is divided by 65535.
  EXPECT_THAT(
      Values<float>(Applied(*Normalize(), PixelBlock<float>({0.25f}, {1, 1, 1}, ir::DType::kF32))),
      ElementsAre(0.25f));
  EXPECT_THAT(Values<float>(Applied(
                  *Normalize(), PixelBlock<uint16_t>({65535, 13107}, {2, 1, 1}, ir::DType::kU16))),
              ElementsAre(1, ::testing::FloatEq(0.2f)));
}

TEST(ImageTransforms, KeepingProportions) {
  const Block in = PixelBlock(Photo(30, 60, 3), {30, 60, 3}, ir::DType::kU8);
  auto dims = [&](const std::string& toml) { return Dims(Applied(*FromToml(toml), in)); };
  EXPECT_THAT(dims("op = 'resize'\nsize = 15"), ElementsAre(15, 30, 3));
  EXPECT_THAT(dims("op = 'resize'\nsize = [20, 20]\npreserve_aspect_ratio = true"),
              ElementsAre(10, 20, 3));
  EXPECT_THAT(dims("op = 'resize'\nsize = [20, 20]\ncrop_to_aspect_ratio = true"),
              ElementsAre(20, 20, 3));
  // The centre only: what is left of column 15 and right of 45 plays no part.
  std::vector<uint8_t> sides = Photo(30, 60, 3);
  for (size_t y = 0; y < 30; ++y) {
    for (size_t x = 0; x < 60; ++x) {
      if (x < 15 || x >= 45) std::fill_n(&sides[(y * 60 + x) * 3], 3, 0);
    }
  }
  const TransformPtr crop = FromToml("op = 'resize'\nsize = [20, 20]\ncrop_to_aspect_ratio = true");
  EXPECT_EQ(Values<uint8_t>(Applied(*crop, in)),
            Values<uint8_t>(Applied(*crop, PixelBlock(sides, {30, 60, 3}, ir::DType::kU8))));
}

// ---- random ----

TEST(ImageTransforms, RandomResizedCrop) {
  // The area and proportions of what is cut out, seen through a picture that is its own
  // coordinates.
  std::vector<float> values;
  for (int y = 0; y < 100; ++y) {
    for (int x = 0; x < 150; ++x) {
      values.push_back(static_cast<float>(x));
      values.push_back(static_cast<float>(y));
    }
  }
  const Block in = PixelBlock(values, {100, 150, 2}, ir::DType::kF32);
  ResizedCropStep step;
  step.resize.size = {2};
  step.resize.method = ResizeMethod::kArea;
  const TransformPtr transform = RandomResizedCrop(step);
  EXPECT_TRUE(transform->random());
  double least = 1, most = 0, sum = 0;
  constexpr int kDraws = 1000;
  for (uint64_t key = 0; key < kDraws; ++key) {
    const auto v = Values<float>(Applied(*transform, in, key));
    const double width = 2 * (v[2] - v[0]), height = 2 * (v[5] - v[1]);
    const double area = width * height / 15000;
    least = std::min(least, area);
    most = std::max(most, area);
    sum += area;
    ASSERT_GT(width / height, 0.70);
    ASSERT_LT(width / height, 1.40);
    // Its centre is within.
    ASSERT_GE((v[0] + v[2]) / 2 - width / 2, -0.6);
    ASSERT_LE((v[0] + v[2]) / 2 + width / 2, 149.6);
  }
  EXPECT_LT(least, 0.1);
  EXPECT_GT(most, 0.75);
  EXPECT_NEAR(sum / kDraws, 0.392, 0.03);  // the mean of those that fit, by simulation
}

TEST(ImageTransforms, DrawsDependOnKeyNameOptionsAndSeed) {
  const Block in = PixelBlock(Photo(20, 20, 1), {20, 20, 1}, ir::DType::kU8);
  auto run = [&](const std::string& toml, uint64_t key) {
    return Values<uint8_t>(Applied(*FromToml(toml), in, key));
  };
  const std::string crop = "op = 'random_crop'\nsize = 5\n";
  EXPECT_EQ(run(crop, 1), run(crop, 1));
  EXPECT_NE(run(crop, 1), run(crop, 2));
  EXPECT_NE(run(crop, 1), run(crop + "seed = 1", 1));
  // Horizontal and vertical flips of two transforms do not always go together.
  int equal = 0;
  for (uint64_t key = 0; key < 64; ++key) {
    const bool x = run("op = 'random_flip'", key) != run("op = 'random_flip'\np = 0", key);
    const bool y = run("op = 'random_flip'\nhorizontal = false\nvertical = true", key) !=
                   run("op = 'random_flip'\np = 0", key);
    equal += x == y;
  }
  EXPECT_GT(equal, 16);
  EXPECT_LT(equal, 48);
}

// ---- fused ----

std::vector<TransformPtr> Chain(const std::vector<std::string>& tomls) {
  std::vector<TransformPtr> chain;
  for (const std::string& toml : tomls) chain.push_back(FromToml(toml));
  return chain;
}

TEST(Fused, EqualsOneByOne) {
  const std::string decode = "op = 'decode_image'\ndct_scaling = false";
  const std::vector<std::vector<std::string>> chains = {
      {decode, "op = 'random_flip'\np = 1"},
      {decode, "op = 'center_crop'\nsize = [30, 31]"},
      {decode, "op = 'random_crop'\nsize = [30, 31]", "op = 'random_flip'", "op = 'to_float'"},
      {decode, "op = 'random_resized_crop'\nsize = 24", "op = 'random_flip'",
       "op = 'normalize_image'\nmean = [0.485, 0.456, 0.406]\nstd = [0.229, 0.224, 0.225]"},
      {decode, "op = 'random_resized_crop'\nsize = 24\ndtype = 'f32'", "op = 'random_flip'",
       "op = 'normalize_image'\nmean = [0.485, 0.456, 0.406]\nstd = [0.229, 0.224, 0.225]"},
      {decode, "op = 'resize'\nsize = 40", "op = 'center_crop'\nsize = 32", "op = 'to_float'"},
      {decode, "op = 'random_flip'\np = 1\nvertical = true", "op = 'center_crop'\nsize = [20, 40]",
       "op = 'resize'\nsize = [33, 21]\nmethod = 'bicubic'"},
      {decode, "op = 'random_flip'\np = 1", "op = 'resize'\nsize = [33, 21]\nmethod = 'nearest'",
       "op = 'random_flip'\np = 1\nseed = 2", "op = 'center_crop'\nsize = 15", "op = 'to_float'"},
      {decode, "op = 'resize'\nsize = 50", "op = 'resize'\nsize = [20, 20]\nmethod = 'area'",
       "op = 'rgb_to_grayscale'", "op = 'random_contrast'\nlower = 0.5\nupper = 1.5",
       "op = 'pad_to'\nsize = [30, 24]\nvalue = 9", "op = 'random_flip'\nvertical = true"},
      {decode, "op = 'random_brightness'\nmax_delta = 0.3",
       "op = 'random_saturation'\nlower = 0.5\nupper = 2", "op = 'random_hue'\nmax_delta = 0.2",
       "op = 'random_crop'\nsize = 60\npadding = 4\npad_if_needed = true",
       "op = 'normalize_image'\nmean = 0.5\nstd = 0.25"},
      {decode + "\ndtype = 'u16'", "op = 'resize'\nsize = [20, 20]\nmethod = 'area'",
       "op = 'to_float'"},
      {decode + "\ndtype = 'f32'\nchannels = 1", "op = 'center_crop'\nsize = 20",
       "op = 'resize'\nsize = 12", "op = 'normalize_image'\nmean = 0.5"},
  };
  const Block in = Encoded({WriteJpeg(Photo(71, 90, 3), 71, 90, 3),
                            WritePng(Photo(64, 48, 4), 64, 48, 4, 8, false),
                            WritePng(Photo(50, 61, 2), 50, 61, 1, 16, false)});
  int number = 0;
  for (const auto& tomls : chains) {
    const std::vector<TransformPtr> chain = Chain(tomls);
    const std::vector<TransformPtr> fused = Fuse(chain);
    ASSERT_EQ(fused.size(), 1);
    for (uint64_t key = 0; key < 20; ++key) {
      const Block expected = RunAll(chain, in, key);
      const Block found = Applied(*fused[0], in, key);
      ASSERT_EQ(found.fields(), expected.fields());
      for (int64_t row = 0; row < in.rows(); ++row) {
        ASSERT_EQ(Dims(found, row), Dims(expected, row));
        if (found.fields()[0].shape.dtype == ir::DType::kF32) {
          const auto a = Values<float>(found, row), b = Values<float>(expected, row);
          for (size_t i = 0; i < a.size(); ++i) {
            ASSERT_NEAR(a[i], b[i], 2e-6 * std::max(1.0f, std::abs(b[i]))) << number << " " << i;
          }
        } else {
          ASSERT_EQ(std::memcmp(found.bytes(0, row).data(), expected.bytes(0, row).data(),
                                found.bytes(0, row).size()),
                    0)
              << number << " row " << row;
        }
        ASSERT_EQ(*found.as<int32_t>(1, row), row);
      }
    }
    ++number;
  }
}

TEST(Fused, OnlyNeighboursOnOneField) {
  std::vector<TransformPtr> chain =
      Chain({"op = 'decode_image'", "op = 'resize'\nsize = 5\nfield = 'other'"});
  EXPECT_EQ(Fuse(chain).size(), 2);
  chain = Chain({"op = 'decode_image'", "op = 'resize'\nsize = 5"});
  ASSERT_EQ(Fuse(chain).size(), 1);
  EXPECT_EQ(Fuse(chain)[0]->name(), "decode_image+resize");
  EXPECT_FALSE(Fuse(chain)[0]->random());
}

// Decoded at a fraction of the size: near the exact values, at the same place.
TEST(Fused, DctScaling) {
  const Block in = Encoded({WriteJpeg(Photo(400, 600, 3), 400, 600, 3, {.quality = 92})});
  for (const char* crop :
       {"op = 'center_crop'\nsize = [400, 600]", "op = 'random_crop'\nsize = [301, 417]"}) {
    auto run = [&](bool scaling, uint64_t key) {
      const auto chain = Fuse(Chain({fmt::format("op = 'decode_image'\ndct_scaling = {}", scaling),
                                     crop, "op = 'resize'\nsize = [25, 30]\ndtype = 'f32'"}));
      return Values<float>(Applied(*chain.at(0), in, key));
    };
    for (uint64_t key = 0; key < 5; ++key) {
      const auto exact = run(false, key), scaled = run(true, key);
      ASSERT_NE(exact, scaled);
      double sum = 0, most = 0, bias = 0;
      for (size_t i = 0; i < exact.size(); ++i) {
        const double difference = 255.0 * (scaled[i] - exact[i]);
        sum += std::abs(difference);
        bias += difference;
        most = std::max(most, std::abs(difference));
      }
      const auto count = static_cast<double>(exact.size());
      EXPECT_LT(sum / count, 1.5) << crop;  // much of this picture is noise
      EXPECT_LT(std::abs(bias / count), 0.1) << crop;
      EXPECT_LT(most, 10) << crop;
    }
  }
  // Not twice as large as the result afterwards: decoded in full.
  auto small = [&](bool scaling) {
    const auto chain = Fuse(Chain({fmt::format("op = 'decode_image'\ndct_scaling = {}", scaling),
                                   "op = 'resize'\nsize = [76, 151]"}));
    return Values<uint8_t>(Applied(*chain.at(0), in));
  };
  EXPECT_EQ(small(false), small(true));
}

// Turned and mirrored pictures too, whether or not their size is a multiple of eight.
TEST(Fused, DctScalingOfOrientedPictures) {
  for (auto [height, width] : {std::pair(400, 600), std::pair(397, 603)}) {
    const std::string plain = WriteJpeg(Photo(height, width, 3), height, width, 3, {.quality = 92});
    for (char orientation = 1; orientation <= 8; ++orientation) {
      std::string exif(
          "\xff\xe1\0\x22"
          "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0",
          29);
      exif += orientation;
      exif += std::string(6, '\0');
      const std::string file = plain.substr(0, 2) + exif + plain.substr(2);
      ASSERT_EQ(Probe(testing::Bytes(file)).orientation, orientation);
      const Block in = Encoded({file});
      auto run = [&](bool scaling) {
        const auto chain = Fuse(Chain(
            {fmt::format("op = 'decode_image'\ndct_scaling = {}", scaling),
             "op = 'random_crop'\nsize = [317, 319]",
             "op = 'resize'\nsize = [40, 41]\ndtype = 'f32'", "op = 'center_crop'\nsize = 32"}));
        return Values<float>(Applied(*chain.at(0), in, 3));
      };
      const auto exact = run(false), scaled = run(true);
      double sum = 0;
      for (size_t i = 0; i < exact.size(); ++i) sum += 255.0 * std::abs(scaled[i] - exact[i]);
      EXPECT_LT(sum / static_cast<double>(exact.size()), 1.5) << int{orientation};
    }
  }
}

// ---- bad records ----

TEST(ImageTransforms, BadRecordsAreNamedAndLeftOut) {
  Block in =
      Encoded({RecordedFile("png_rgb"), RecordedFile("jpeg_cut"), "", RecordedFile("png_grey")});
  in.set_origin([](int64_t row) { return fmt::format("folder/{}.jpg", row); });
  const TransformPtr transform =
      Fuse(Chain({"op = 'decode_image'", "op = 'resize'\nsize = [4, 4]"})).at(0);
  BadRecords bad(2);
  Block out;
  out.Reset(transform->Fields(in.fields()), in.rows());
  out.set_bad_records(&bad);
  out.TakeOrigin(in);
  transform->Apply(in, out, {});
  EXPECT_FALSE(out.bad(0));
  EXPECT_TRUE(out.bad(1));
  EXPECT_TRUE(out.bad(2));
  EXPECT_FALSE(out.bad(3));
  ASSERT_EQ(bad.messages().size(), 2);
  EXPECT_THAT(bad.messages()[0],
              AllOf(HasSubstr("folder/1.jpg"), HasSubstr("field \"image\""), HasSubstr("is cut")));
  EXPECT_THAT(bad.messages()[1], AllOf(HasSubstr("folder/2.jpg"), HasSubstr("empty (0 bytes)")));
  // Rows that were bad before stay alone.
  Block again;
  again.Reset(FromToml("op = 'random_flip'")->Fields(out.fields()), out.rows());
  FromToml("op = 'random_flip'")->Apply(out, again, std::vector<uint64_t>(4, 1));
  again.TakeBad(out);
  EXPECT_TRUE(again.bad(1));
  // Without a count the first is thrown.
  EXPECT_THAT(MessageOf<DataError>([&] { Applied(*transform, in); }), HasSubstr("is cut"));
}

}  // namespace
}  // namespace flatout::data::images
