#include "flatout/data/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace flatout::data {
namespace {

float ToHalf(float value) { return static_cast<float>(Half(value)); }

TEST(ElementsTest, HalvesRoundToTheNearestEven) {
  EXPECT_EQ(ToHalf(1.0f), 1.0f);
  EXPECT_EQ(Half(1.0f).bits, 0x3c00);
  EXPECT_EQ(ToHalf(65504.0f), 65504.0f);
  EXPECT_EQ(ToHalf(65519.0f), 65504.0f);
  EXPECT_EQ(ToHalf(65520.0f), std::numeric_limits<float>::infinity());
  EXPECT_EQ(ToHalf(2049.0f), 2048.0f);  // a tie, to the even one
  EXPECT_EQ(ToHalf(2051.0f), 2052.0f);
  EXPECT_EQ(ToHalf(0x1p-24f), 0x1p-24f);
  EXPECT_EQ(ToHalf(0x1p-25f), 0.0f);  // a tie, to zero
  EXPECT_EQ(ToHalf(0x1.8p-25f), 0x1p-24f);
  EXPECT_EQ(Half(-0.0f).bits, 0x8000);
  EXPECT_TRUE(std::isnan(ToHalf(std::nanf(""))));
}

TEST(ElementsTest, EveryHalfComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half;
    half.bits = static_cast<uint16_t>(bits);
    const auto value = static_cast<float>(half);
    if (std::isnan(value)) continue;
    ASSERT_EQ(Half(value).bits, bits) << value;
  }
}

TEST(ElementsTest, BFloat16RoundsToTheNearestEven) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(static_cast<float>(BFloat16(257.0f)), 256.0f);
  EXPECT_EQ(static_cast<float>(BFloat16(259.0f)), 260.0f);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::nanf("")))));
}

TEST(ElementsTest, ConvertsWhatFits) {
  EXPECT_EQ(Convert<int32_t>(int64_t{2147483647}), 2147483647);
  EXPECT_FALSE(Convert<int32_t>(int64_t{2147483648}));
  EXPECT_FALSE(Convert<uint8_t>(-1));
  EXPECT_EQ(Convert<uint8_t>(255.9f), 255);
  EXPECT_EQ(Convert<uint8_t>(-0.9f), 0);
  EXPECT_FALSE(Convert<uint8_t>(256.0f));
  EXPECT_FALSE(Convert<int64_t>(0x1p63));
  EXPECT_EQ(Convert<int64_t>(-0x1p63), std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(Convert<int32_t>(std::nan("")));
  EXPECT_EQ(Convert<bool>(0.5f), true);
  EXPECT_EQ(Convert<float>(true), 1.0f);
}

TEST(ElementsTest, SaysWhichElementDoesNotFit) {
  const std::vector<int64_t> from = {1, 2, int64_t{1} << 40, 4};
  std::vector<int32_t> to(4, -1);
  EXPECT_EQ(ConvertElements(ir::DType::kI64, reinterpret_cast<const std::byte*>(from.data()),
                            ir::DType::kI32, reinterpret_cast<std::byte*>(to.data()), 4),
            2);
  EXPECT_EQ(to, (std::vector<int32_t>{1, 2, -1, -1}));
}

TEST(ElementsTest, FindsWhatIsOutOfBound) {
  const std::vector<int32_t> ints = {0, 9, 10};
  EXPECT_EQ(
      FirstOutOfBound(ir::DType::kI32, reinterpret_cast<const std::byte*>(ints.data()), 3, 10), 2);
  EXPECT_EQ(
      FirstOutOfBound(ir::DType::kI32, reinterpret_cast<const std::byte*>(ints.data()), 3, 11), 3);
  const std::vector<float> floats = {1, 0.5f};
  EXPECT_EQ(
      FirstOutOfBound(ir::DType::kF32, reinterpret_cast<const std::byte*>(floats.data()), 2, 2), 1);
}

TEST(ElementsTest, SwapsBytes) {
  std::vector<uint32_t> words = {0x01020304, 0xff000000};
  SwapBytes(ir::DType::kF32, reinterpret_cast<std::byte*>(words.data()), 2);
  EXPECT_EQ(words, (std::vector<uint32_t>{0x04030201, 0x000000ff}));
}

}  // namespace
}  // namespace flatout::data
