#include "flatout/data/filter_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;
using ::testing::Not;

const std::vector<Field> kFields = {
    {"label", ir::Shape::Scalar(ir::DType::kI32)},
    {"age", ir::Shape::Scalar(ir::DType::kF32)},
    {"big", ir::Shape::Scalar(ir::DType::kU64)},
    {"id", ir::Shape(ir::DType::kI64, {1})},
    {"ok", ir::Shape::Scalar(ir::DType::kPred)},
    TextField("lang"),
    TextField("image/class"),
    {"tokens", ir::Shape(ir::DType::kI32, {kAny})},
    {"pixels", ir::Shape(ir::DType::kU8, {2, 3})},
    {"half", ir::Shape::Scalar(ir::DType::kF16)},
    {"brain", ir::Shape::Scalar(ir::DType::kBF16)},
};

// Record 0: label 7, age 31.5, big 2^63 + 5, id 2^53 + 1, ok, lang "en", image/class "a\"b",
// 4 tokens, half 0.5, brain -2. Record 1: label -1, age NaN, the rest 0 and empty.
Block Records() {
  Block block;
  block.Reset(kFields, 2);
  for (int64_t row = 0; row < 2; ++row) block.ClearRow(row);
  *block.as<int32_t>(0, 0) = 7;
  *block.as<int32_t>(0, 1) = -1;
  *block.as<float>(1, 0) = 31.5f;
  *block.as<float>(1, 1) = std::nanf("");
  *block.as<uint64_t>(2, 0) = (uint64_t{1} << 63) + 5;
  *block.as<int64_t>(3, 0) = (int64_t{1} << 53) + 1;
  *block.as<uint8_t>(4, 0) = 1;
  block.SetText(5, 0, "en");
  block.SetText(6, 0, "a\"b");
  const int64_t four[] = {4};
  block.SetCell(7, 0, four);
  *block.as<uint16_t>(9, 0) = 0x3800;
  *block.as<uint16_t>(10, 0) = 0xc000;
  return block;
}

// Which of the two records it keeps: "10", say.
std::string Kept(const std::string& text) {
  const Block block = Records();
  const auto keep = FilterExpression::Parse(text).Bind(kFields);
  return std::string(keep(block, 0) ? "1" : "0") + (keep(block, 1) ? "1" : "0");
}

std::string Wrong(const std::string& text) {
  return MessageOf<UserError>([&] { FilterExpression::Parse(text).Bind(kFields); });
}

TEST(FilterExpression, ComparesNumbers) {
  EXPECT_EQ(Kept("label == 7"), "10");
  EXPECT_EQ(Kept("label != 7"), "01");
  EXPECT_EQ(Kept("label < 7"), "01");
  EXPECT_EQ(Kept("label <= 7"), "11");
  EXPECT_EQ(Kept("label > -1"), "10");
  EXPECT_EQ(Kept("label >= -1"), "11");
  EXPECT_EQ(Kept("7 == label"), "10");
  EXPECT_EQ(Kept("label == 7.0"), "10");
  EXPECT_EQ(Kept("label < +7.5e0"), "11");
  EXPECT_EQ(Kept("age == 31.5"), "10");
  EXPECT_EQ(Kept("half == .5"), "10");
  EXPECT_EQ(Kept("brain == -2"), "10");
  EXPECT_EQ(Kept("label == label"), "11");
  EXPECT_EQ(Kept("age > label"), "10");
  EXPECT_EQ(Kept("label < 1_000"), "11");
}

TEST(FilterExpression, WholeNumbersAreExact) {
  EXPECT_EQ(Kept("id == 9007199254740993"), "10");  // 2^53 + 1, which float64 does not have
  EXPECT_EQ(Kept("id == 9007199254740992"), "00");
  EXPECT_EQ(Kept("big > 9_000_000_000_000_000_000"), "10");
}

TEST(FilterExpression, NotANumberIsInNoRange) {
  EXPECT_EQ(Kept("age < 100"), "10");
  EXPECT_EQ(Kept("age >= 100"), "00");
  EXPECT_EQ(Kept("not age < 100"), "01");
  EXPECT_EQ(Kept("age != 3"), "11");
}

TEST(FilterExpression, Missing) {
  EXPECT_EQ(Kept("age is missing"), "01");
  EXPECT_EQ(Kept("age is not missing"), "10");
  EXPECT_EQ(Kept("age == missing"), "01");
  EXPECT_EQ(Kept("missing != age"), "10");
  EXPECT_EQ(Kept("lang is missing"), "01");
}

TEST(FilterExpression, Text) {
  EXPECT_EQ(Kept("lang == \"en\""), "10");
  EXPECT_EQ(Kept("lang == 'en'"), "10");
  EXPECT_EQ(Kept("lang < 'en'"), "01");
  EXPECT_EQ(Kept("lang != 'de'"), "11");
  EXPECT_EQ(Kept("image/class == 'a\"b'"), "10");
  EXPECT_EQ(Kept("image/class == \"a\\\"b\""), "10");
  EXPECT_EQ(Kept("`image/class` != ''"), "10");
  EXPECT_EQ(Kept("length(image/class) == 3"), "10");
}

TEST(FilterExpression, Lists) {
  EXPECT_EQ(Kept("label in [1, 7]"), "10");
  EXPECT_EQ(Kept("label not in [1, 7]"), "01");
  EXPECT_EQ(Kept("label in [-1.0]"), "01");
  EXPECT_EQ(Kept("lang in ['de', 'en']"), "10");
}

TEST(FilterExpression, Lengths) {
  EXPECT_EQ(Kept("length(tokens) >= 4"), "10");
  EXPECT_EQ(Kept("length(tokens) == 0"), "01");
  EXPECT_EQ(Kept("length(pixels) == 6"), "11");
}

TEST(FilterExpression, Truth) {
  EXPECT_EQ(Kept("ok"), "10");
  EXPECT_EQ(Kept("not ok"), "01");
  EXPECT_EQ(Kept("ok == true"), "10");
  EXPECT_EQ(Kept("ok == false"), "01");
  EXPECT_EQ(Kept("label"), "11");
}

TEST(FilterExpression, BindsLikePython) {
  EXPECT_EQ(Kept("label == 7 or label == -1 and ok"), "10");
  EXPECT_EQ(Kept("(label == 7 or label == -1) and ok"), "10");
  EXPECT_EQ(Kept("label == -1 or label == 7 and ok"), "11");
  EXPECT_EQ(Kept("not label == 7 and label == -1"), "01");
  EXPECT_EQ(Kept("not (label == 7 or ok)"), "01");
  EXPECT_EQ(Kept("not not ok"), "10");
  EXPECT_EQ(Kept("0 <= label < 8"), "10");
  EXPECT_EQ(Kept("-1 <= label <= 7 and ok"), "10");
}

TEST(FilterExpression, NamesItsFields) {
  EXPECT_THAT(FilterExpression::Parse("a < 3 and (not b or length(c) > 1) and a > 0").FieldNames(),
              ElementsAre("a", "b", "c"));
}

TEST(FilterExpression, ErrorsHaveTheirColumn) {
  EXPECT_THAT(Wrong(""), HasSubstr("column 1: the filter is empty"));
  EXPECT_THAT(Wrong("lable < 5"),
              AllOf(HasSubstr("column 1: no field is called \"lable\""),
                    HasSubstr("did you mean \"label\"?"), HasSubstr("age f32[]")));
  EXPECT_THAT(Wrong("label < 5 and"), HasSubstr("column 14: expected a field, a number or a text, "
                                                "found the end"));
  EXPECT_THAT(Wrong("label = 5"), HasSubstr("column 7: \"=\" is not known here; write =="));
  EXPECT_THAT(Wrong("ok && ok"), HasSubstr("column 4: \"&&\" is not known here; write and"));
  EXPECT_THAT(Wrong("!ok"), HasSubstr("write not"));
  EXPECT_THAT(Wrong("label <> 5"), HasSubstr("write !="));
  EXPECT_THAT(Wrong("label $ 5"), HasSubstr("column 7: \"$\" has no meaning"));
  EXPECT_THAT(Wrong("label < 5 ok"), HasSubstr("column 11: expected \"and\", \"or\" or the end, "
                                               "found \"ok\""));
  EXPECT_THAT(Wrong("(label < 5"), HasSubstr("column 11: expected \")\", found the end"));
  EXPECT_THAT(Wrong("label < 5x"), HasSubstr("column 9: \"5x\" is no number"));
  EXPECT_THAT(Wrong("label < 1e999"), HasSubstr("is no number"));
  EXPECT_THAT(Wrong("lang == \"en"), HasSubstr("column 9: the text that begins here has no end"));
  EXPECT_THAT(Wrong("lang == 'a\\q'"), HasSubstr("column 11: expected one of"));
  EXPECT_THAT(Wrong("label in 5"), HasSubstr("column 10: expected \"[\", found \"5\""));
  EXPECT_THAT(Wrong("label in []"), HasSubstr("column 11: expected a field, a number"));
  EXPECT_THAT(Wrong("label in [5; 6]"), HasSubstr("column 12"));
  EXPECT_THAT(Wrong("label in [age]"), HasSubstr("column 11: expected a number or a text"));
  EXPECT_THAT(Wrong("label not 5"), HasSubstr("expected \"in\" after \"not\""));
  EXPECT_THAT(Wrong("age is 5"), HasSubstr("column 8: expected \"missing\""));
  EXPECT_THAT(Wrong("5"), HasSubstr("column 1: expected a comparison"));
  EXPECT_THAT(Wrong("and"), HasSubstr("column 1: expected a field"));
  EXPECT_THAT(Wrong("age < missing"), HasSubstr("column 5: missing can only"));
  EXPECT_THAT(Wrong("missing in [1]"), HasSubstr("column 1: missing can only"));
  EXPECT_THAT(Wrong("label in [missing]"), HasSubstr("missing can only"));
}

TEST(FilterExpression, TypesMustAgree) {
  EXPECT_THAT(Wrong("label == 'a'"),
              HasSubstr("column 7: the field label i32[] cannot be compared with the text \"a\""));
  EXPECT_THAT(Wrong("lang < 5"), HasSubstr("cannot be compared with the number 5"));
  EXPECT_THAT(Wrong("lang in ['a', 5]"), HasSubstr("column 15"));
  EXPECT_THAT(Wrong("lang"), HasSubstr("\"lang\" is text: compare it"));
  EXPECT_THAT(Wrong("label is missing"), HasSubstr("the field label i32[] is never missing"));
  EXPECT_THAT(Wrong("tokens == 5"), HasSubstr("only length(tokens) can be compared"));
  EXPECT_THAT(Wrong("pixels == 5"), HasSubstr("neither a single number nor a single text"));
}

TEST(FilterExpression, DepthHasALimit) {
  const std::string open(5000, '('), close(5000, ')');
  EXPECT_THAT(Wrong(open + "ok" + close), HasSubstr("column 101: more than 100"));
  std::string nots;
  for (int i = 0; i < 5000; ++i) nots += "not ";
  EXPECT_THAT(Wrong(nots + "ok"), HasSubstr("more than 100"));
  EXPECT_EQ(Kept(std::string(50, '(') + "ok" + std::string(50, ')')), "10");
}

}  // namespace
}  // namespace flatout::data
