#include "flatout/data/formats/csv_write.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "flatout/data/pipeline.h"
#include "flatout/data/testing.h"
#include "flatout/ir/graph.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What is written is read back by the source "csv" with the columns that are declared for it.
TEST(CsvWrite, RoundTrip) {
  const std::vector<Field> fields = {Field{"x", ir::Shape(ir::DType::kF32, {3})},
                                     Field{"big", ir::Shape::Scalar(ir::DType::kI64)},
                                     Field{"picture", ir::Shape(ir::DType::kU8, {2, 2})},
                                     Field{"label", ir::Shape::Scalar(ir::DType::kI32), 5},
                                     Field{"yes", ir::Shape::Scalar(ir::DType::kPred)},
                                     TextField("name, of it")};
  const std::vector<std::string> names = {
      "plain", "with, comma", "with \"quotes\"", "two\nlines", " spaces ", "", "# no comment"};
  const float floats[] = {0.1f, -0.0f, 1e-42f, 3.4028235e38f, 1.0f / 3, 16777217.0f, -2.5e-10f};
  const auto rows = static_cast<int64_t>(names.size());
  Block block;
  block.Reset(fields, rows);
  std::string text = CsvHeader(fields);
  for (int64_t row = 0; row < rows; ++row) {
    for (int i = 0; i < 3; ++i) block.as<float>(0, row)[i] = floats[(row + i) % 7];
    *block.as<int64_t>(1, row) = std::numeric_limits<int64_t>::max() - row;
    for (int i = 0; i < 4; ++i) block.as<uint8_t>(2, row)[i] = static_cast<uint8_t>(255 - row - i);
    *block.as<int32_t>(3, row) = static_cast<int32_t>(row % 5);
    *block.as<uint8_t>(4, row) = row % 2;
    block.SetText(5, row, names[static_cast<size_t>(row)]);
    AppendCsvRow(block, row, text);
  }
  const testing::Scratch scratch;
  Config table = Config::Table({{"source", Config(std::string("csv"))},
                                {"files", Config(scratch.Write("table.csv", text))},
                                {"columns", CsvColumnsFor(fields)}});
  const SourcePtr source = OpenSource(table, "train");
  EXPECT_EQ(source->fields(), fields);
  ASSERT_EQ(source->size(), rows);
  ReadContext context;
  Block found;
  ASSERT_EQ(source->Open(0)->Next(context, rows, found), rows);
  for (size_t f = 0; f + 1 < fields.size(); ++f) {
    EXPECT_EQ(std::memcmp(found.data(f), block.data(f),
                          static_cast<size_t>(rows * fields[f].shape.bytes())),
              0)
        << fields[f].ToString();
  }
  for (int64_t row = 0; row < rows; ++row) EXPECT_EQ(found.text(5, row), block.text(5, row)) << row;
}

TEST(CsvWrite, WhatIsNotFiniteIsRefused) {
  for (const ir::DType dtype : {ir::DType::kF32, ir::DType::kF64, ir::DType::kBF16}) {
    const std::vector<Field> fields = {Field{"x", ir::Shape(dtype, {2})}};
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
      Block block;
      block.Reset(fields, 1);
      ir::StoreElement(dtype, 1, block.data(0));
      ir::StoreElement(dtype, value, block.data(0) + ir::ByteSize(dtype));
      std::string text;
      EXPECT_THAT(
          testing::MessageOf<UserError>([&] { AppendCsvRow(block, 0, text); }),
          AllOf(HasSubstr("x "), HasSubstr(fmt::format("holds {}", value)), HasSubstr("TFRecord")));
    }
  }
}

TEST(CsvWrite, WhatNoColumnHoldsIsRefused) {
  EXPECT_THAT(testing::MessageOf<UserError>([] {
                CsvHeader({Field{"words", ir::Shape(ir::DType::kI32, {kAny})}});
              }),
              HasSubstr("words i32[?] cannot be written as CSV"));
  EXPECT_THROW(CsvColumnsFor({TextField("texts", {2})}), UserError);
}

}  // namespace
}  // namespace flatout::data
