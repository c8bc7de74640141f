#include "flatout/checkpoint/compare.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace flatout::checkpoint {
namespace {

using ir::DType;
using ir::Shape;
using Kind = TensorDifference::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <typename T>
HostTensor Make(const std::string& name, DType dtype, const std::vector<T>& values) {
  HostTensor tensor{name, Shape(dtype, {static_cast<int64_t>(values.size())}), {}};
  tensor.bytes.resize(values.size() * sizeof(T));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}
HostTensor Floats(const std::string& name, const std::vector<float>& values) {
  return Make(name, DType::kF32, values);
}
TensorDifference Of(const HostTensor& first, const HostTensor& second) {
  return Compare({{first}, {}}, {{second}, {}}).at(0);
}

TEST(Compare, TellsEveryKindApart) {
  TensorFile first, second;
  first.tensors = {Floats("same", {1, 2}), Floats("differs", {1, 2, 3}), Floats("gone", {1}),
                   Floats("longer", {1, 2}), Floats("dtype", {1, 2.5f})};
  second.tensors = {Floats("new", {5}), Make<double>("dtype", DType::kF64, {1, 2.75}),
                    Floats("longer", {1, 2, 3}), Floats("differs", {1, 2.5f, 2}),
                    Floats("same", {1, 2})};
  const std::vector<TensorDifference> found = Compare(first, second);
  std::vector<std::pair<std::string, Kind>> kinds;
  for (const TensorDifference& one : found) kinds.emplace_back(one.name, one.kind);
  EXPECT_THAT(kinds,
              ElementsAre(std::pair("same", Kind::kSame), std::pair("differs", Kind::kDiffers),
                          std::pair("gone", Kind::kMissing), std::pair("longer", Kind::kShape),
                          std::pair("dtype", Kind::kDType), std::pair("new", Kind::kExtra)));
  EXPECT_EQ(found[1].max_difference, 1);
  EXPECT_EQ(found[1].values_different, 2);
  EXPECT_EQ(found[4].max_difference, 0.25);
  EXPECT_EQ(found[4].values_different, 1);
  EXPECT_FALSE(found[2].second);
  EXPECT_EQ(found[5].second->ToString(), "f32[1]");
}

TEST(Compare, EveryDTypeHasItsValues) {
  const auto difference = [](const HostTensor& a, const HostTensor& b) {
    EXPECT_EQ(Of(a, b).values_different, 1);
    return Of(a, b).max_difference;
  };
  EXPECT_EQ(
      difference(Make<uint8_t>("x", DType::kPred, {0}), Make<uint8_t>("x", DType::kPred, {1})), 1);
  EXPECT_EQ(difference(Make<int8_t>("x", DType::kI8, {-100}), Make<int8_t>("x", DType::kI8, {100})),
            200);
  EXPECT_EQ(
      difference(Make<int16_t>("x", DType::kI16, {-3}), Make<int16_t>("x", DType::kI16, {300})),
      303);
  EXPECT_EQ(
      difference(Make<int32_t>("x", DType::kI32, {-3}), Make<int32_t>("x", DType::kI32, {70000})),
      70003);
  EXPECT_EQ(difference(Make<int64_t>("x", DType::kI64, {-1}),
                       Make<int64_t>("x", DType::kI64, {1ll << 40})),
            0x1p40 + 1);
  EXPECT_EQ(difference(Make<uint8_t>("x", DType::kU8, {0}), Make<uint8_t>("x", DType::kU8, {255})),
            255);
  EXPECT_EQ(
      difference(Make<uint16_t>("x", DType::kU16, {0}), Make<uint16_t>("x", DType::kU16, {65535})),
      65535);
  EXPECT_EQ(difference(Make<uint32_t>("x", DType::kU32, {0}),
                       Make<uint32_t>("x", DType::kU32, {1u << 31})),
            0x1p31);
  EXPECT_EQ(difference(Make<uint64_t>("x", DType::kU64, {0}),
                       Make<uint64_t>("x", DType::kU64, {1ull << 63})),
            0x1p63);
  // 1.0 and -2.0; the smallest float16 above 0, which is subnormal, and 0.
  EXPECT_EQ(difference(Make<uint16_t>("x", DType::kF16, {0x3c00}),
                       Make<uint16_t>("x", DType::kF16, {0xc000})),
            3);
  EXPECT_EQ(
      difference(Make<uint16_t>("x", DType::kF16, {1}), Make<uint16_t>("x", DType::kF16, {0})),
      0x1p-24);
  EXPECT_EQ(
      difference(Make<uint16_t>("x", DType::kF16, {0x7c00}), Make<uint16_t>("x", DType::kF16, {0})),
      std::numeric_limits<double>::infinity());
  EXPECT_EQ(difference(Make<uint16_t>("x", DType::kBF16, {0x3f80}),
                       Make<uint16_t>("x", DType::kBF16, {0xc000})),
            3);
  EXPECT_EQ(difference(Make<double>("x", DType::kF64, {1}),
                       Make<double>("x", DType::kF64, {1 + 0x1p-52})),
            0x1p-52);
}

TEST(Compare, NaNsAreSeen) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Of(Floats("x", {nan, 1}), Floats("x", {nan, 1})).kind, Kind::kSame);
  const TensorDifference found = Of(Floats("x", {5, 0, 3}), Floats("x", {nan, 1, 9}));
  EXPECT_TRUE(std::isnan(found.max_difference));
  EXPECT_EQ(found.values_different, 3);
}

// Bits tell them apart, though they compare equal.
TEST(Compare, ZerosOfBothSignsDiffer) {
  const TensorDifference found = Of(Floats("x", {0.0f}), Floats("x", {-0.0f}));
  EXPECT_EQ(found.kind, Kind::kDiffers);
  EXPECT_EQ(found.max_difference, 0);
  EXPECT_EQ(found.values_different, 1);
}

TEST(Misfits, NameEachTensor) {
  const TensorFile found{{Floats("a", {1}), Floats("b", {1, 2}), Floats("d", {1})}, {}};
  const Shape one(DType::kF32, {1});
  EXPECT_THAT(Misfits(found, {{"a", one}, {"b", one}, {"c", one}}),
              ElementsAre("b is f32[2], expected f32[1]", "c f32[1] is missing",
                          "d f32[1] is not expected"));
  EXPECT_THAT(
      Misfits(found, {{"a", one.WithDType(DType::kBF16)}, {"b", one.WithDims({2})}, {"d", one}}),
      ElementsAre("a is f32[1], expected bf16[1]"));
  EXPECT_THAT(Misfits(found, {{"d", one}, {"a", one}, {"b", one.WithDims({2})}}), IsEmpty());
}

}  // namespace
}  // namespace flatout::checkpoint
