// The source "parquet", against files that Arrow wrote (tests/recorded/parquet.json).
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "flatout/base/file.h"
#include "flatout/data/formats/bpe.h"
#include "flatout/data/source_testing.h"
#include "flatout/data/testing.h"
#include "flatout/data/transforms/field_transform.h"

namespace flatout::data {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::ColumnOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::OpenKind;
using testing::ReadAll;
using testing::ReadRecords;
using testing::RowOf;
using testing::Scratch;

class ParquetTest : public ::testing::Test {
 protected:
  ParquetTest()
      : recorded_(json::parse(
            ReadFile(std::string(FLATOUT_SOURCE_DIR) + "/tests/recorded/parquet.json"))) {}

  // The file of a case, by its bytes in base64.
  std::string Bytes(const std::string& name) const {
    for (const json& one : recorded_["cases"]) {
      if (one["name"] == name) {
        return ParseTiktoken(name, one["file"].get<std::string>() + " 0").front().first;
      }
    }
    throw Internal("no case {}", name);
  }
  std::string Write(const std::string& name) {
    return scratch_.Write(name + ".parquet", Bytes(name));
  }
  std::string Files(const std::string& path) const { return "files = '" + path + "'\n"; }

  static void ExpectValue(const json& expected, const Block& block, size_t f, int64_t row,
                          int64_t i) {
    const Field& field = block.fields()[f];
    if (field.text) {
      std::string_view single;
      const std::string_view found = StringsOf(block, f, row, single)[static_cast<size_t>(i)];
      EXPECT_EQ(found, expected.is_null() ? "" : expected.get<std::string>());
      return;
    }
    double value = 0;
    ConvertElements(field.shape.dtype,
                    ElementsOf(block, f, row).data + i * ir::ByteSize(field.shape.dtype),
                    ir::DType::kF64, reinterpret_cast<std::byte*>(&value), 1);
    if (expected.is_null()) {
      EXPECT_TRUE(ir::IsFloat(field.shape.dtype) ? std::isnan(value) : value == -1) << value;
    } else if (expected.is_boolean()) {
      EXPECT_EQ(value, expected.get<bool>() ? 1 : 0);
    } else if (field.shape.dtype == ir::DType::kF32) {
      EXPECT_EQ(value, static_cast<double>(expected.get<float>()));
    } else {
      EXPECT_EQ(value, expected.get<double>());
    }
  }

  const json recorded_;
  Scratch scratch_;
};

TEST_F(ParquetTest, ReadsWhatArrowWrites) {
  ASSERT_GE(recorded_["cases"].size(), 16u);
  for (const json& one : recorded_["cases"]) {
    const std::string name = one["name"];
    if (name == "others") continue;
    SCOPED_TRACE(name);
    std::string missing = "missing = { ";
    for (const auto& [column, values] : one["columns"].items()) {
      if (name.starts_with("nulls") && column == "i") missing += "i = -1, ";
      if (name == "many_rows" && column == "i") missing += "i = -1, ";
      if (name.starts_with("lists") && column == "v") missing += "v = -1, ";
    }
    if (missing.ends_with(", ")) missing.resize(missing.size() - 2);
    SourcePtr source = OpenKind("parquet", Files(Write(name)) + missing + " }");
    std::vector<int64_t> records;
    for (int64_t r = source->size(); r-- > 0;) records.push_back(r);
    const Block block = ReadRecords(*source, records);
    ASSERT_EQ(block.fields().size(), one["columns"].size());
    for (size_t f = 0; f < block.fields().size(); ++f) {
      const json& column = one["columns"][block.fields()[f].name];
      ASSERT_EQ(column.size(), records.size());
      for (int64_t row = 0; row < block.rows(); ++row) {
        SCOPED_TRACE(block.fields()[f].name + " " + std::to_string(row));
        const json& expected = column[static_cast<size_t>(records[static_cast<size_t>(row)])];
        if (block.fields()[f].shape.rank() == 0) {
          ExpectValue(expected, block, f, row, 0);
          continue;
        }
        ASSERT_EQ(block.dims(f, row)[0], static_cast<int64_t>(expected.size()));
        for (size_t i = 0; i < expected.size(); ++i) {
          ExpectValue(expected[i], block, f, row, static_cast<int64_t>(i));
        }
      }
    }
  }
}

TEST_F(ParquetTest, DescribesItsColumns) {
  EXPECT_EQ(DescribeFields(OpenKind("parquet", Files(Write("plain_zstd")))->fields()),
            "flag pred[], i8 i8[], u8 u8[], i16 i16[], u16 u16[], i32 i32[], u32 i32[], i64 i32[], "
            "f16 f16[], f32 f32[], f64 f32[], text text[]");
  EXPECT_EQ(DescribeFields(OpenKind("parquet", Files(Write("lists")))->fields()),
            "v i32[?], w text[?], e f32[?]");
  const std::string others = Files(Write("others"));
  SourcePtr source = OpenKind("parquet", others +
                                             "columns = ['point.y', 'when', 'a']\n"
                                             "dtypes = { when = 'keep' }");
  EXPECT_EQ(DescribeFields(source->fields()), "point.y i32[], when i64[], a i32[]");
  EXPECT_THAT(ColumnOf<int32_t>(ReadAll(*source), 0), ElementsAre(2, 4));
  EXPECT_THAT(ColumnOf<int64_t>(ReadAll(*source), 1),
              ElementsAre(1577836800000000, 1609459200000000));
  EXPECT_THAT(MessageOf<DataError>([&] { OpenKind("parquet", others); }),
              HasSubstr("the column \"price\" holds decimal numbers"));
  EXPECT_THAT(MessageOf<DataError>([&] { OpenKind("parquet", others + "columns = 'nested'"); }),
              HasSubstr("lists of lists"));
  EXPECT_THAT(MessageOf<DataError>([&] { OpenKind("parquet", others + "columns = 'b'"); }),
              HasSubstr("there is no column \"b\""));
}

TEST_F(ParquetTest, TellsBadValues) {
  const std::string nulls = Files(Write("nulls_in_row_groups"));
  SourcePtr source = OpenKind("parquet", nulls + "bound = { i = 4 }");
  BadRecords bad(9);
  const Block block = ReadAll(*source, &bad);
  EXPECT_THAT(bad.messages(),
              ElementsAre(AllOf(HasSubstr("record 1 (row 1 of row group 0): column i has no value"),
                                HasSubstr("missing = { i = -1 }")),
                          HasSubstr("record 3 (row 3 of row group 0): column i has the value 4"),
                          HasSubstr("record 4 (row 0 of row group 1)"), HasSubstr("record 5")));
  EXPECT_TRUE(block.bad(3));
  EXPECT_FALSE(block.bad(2));
  SourcePtr small = OpenKind("parquet", Files(Write("plain_none")) +
                                            "columns = 'i64'\n"
                                            "dtypes = { i64 = 'i8' }");
  BadRecords more(9);
  EXPECT_THAT(ColumnOf<int8_t>(ReadAll(*small, &more), 0), ElementsAre(-5, 0, 1, 2, 0));
  EXPECT_THAT(more.messages(), ElementsAre(HasSubstr("does not fit i8")));
}

TEST_F(ParquetTest, SeveralFilesAndSplits) {
  scratch_.Write("a-0.parquet", Bytes("nulls"));
  scratch_.Write("a-1.parquet", Bytes("nulls_in_row_groups"));
  const std::string keys =
      Files(scratch_ / "a-*") + "columns = 'x'\nmissing = { x = 0 }\nvalidation_split = 3";
  EXPECT_THAT(ColumnOf<float>(ReadAll(*OpenKind("parquet", keys)), 0),
              ElementsAre(1.5f, 0, 2.5f, 0, 0, 3.5f, 1.5f, 0, 2.5f));
  EXPECT_THAT(ColumnOf<float>(ReadAll(*OpenKind("parquet", keys, "validation")), 0),
              ElementsAre(0, 0, 3.5f));
  scratch_.Write("a-2.parquet", Bytes("lists"));
  EXPECT_THAT(MessageOf<DataError>([&] { OpenKind("parquet", keys); }),
              AllOf(HasSubstr("a-2.parquet: expected a column \"x\""), HasSubstr("found none")));
}

TEST_F(ParquetTest, ManyThreadsReadTheSame) {
  SourcePtr source = OpenKind("parquet", Files(Write("many_rows")) + "missing = { i = -1 }");
  const Block whole = ReadAll(*source);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int time = 0; time < 20; ++time) {
        std::vector<int64_t> records;
        for (int i = 0; i < 50; ++i) records.push_back(static_cast<int64_t>(random() % 1000));
        const Block block = ReadRecords(*source, records);
        for (int64_t row = 0; row < block.rows(); ++row) {
          const int64_t record = records[static_cast<size_t>(row)];
          if (RowOf<int32_t>(block, 0, row) != RowOf<int32_t>(whole, 0, record) ||
              RowOf<int16_t>(block, 1, row) != RowOf<int16_t>(whole, 1, record)) {
            ++wrong[t];
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

TEST_F(ParquetTest, RefusesDamagedFiles) {
  const std::string good = Bytes("plain_snappy");
  auto refused = [&](const std::string& content) {
    return MessageOf<DataError>(
        [&] { OpenKind("parquet", Files(scratch_.Write("x.parquet", content))); });
  };
  EXPECT_THAT(refused(""), HasSubstr("x.parquet"));
  EXPECT_THAT(refused("no parquet file"), HasSubstr("no Parquet file, or a damaged one"));
  EXPECT_THAT(refused(good.substr(0, good.size() / 2)), HasSubstr("x.parquet"));
  // A page that does not unpack: its records are bad, those of other row groups are read.
  const std::string pages = Bytes("row_groups");
  std::mt19937 random(1);
  int unreadable = 0;
  for (int i = 0; i < 300; ++i) {
    std::string content = pages;
    content[4 + random() % (content.size() - 8)] = static_cast<char>(random());
    scratch_.Write("x.parquet", content);
    try {
      SourcePtr source = OpenKind("parquet", Files(scratch_ / "x.parquet"));
      BadRecords bad(1000);
      ReadAll(*source, &bad);
      unreadable += bad.count() > 0 ? 1 : 0;
    } catch (const UserError&) {
      ++unreadable;
    }
  }
  EXPECT_GT(unreadable, 0);
}

}  // namespace
}  // namespace flatout::data
