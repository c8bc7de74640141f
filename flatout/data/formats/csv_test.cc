#include "flatout/data/formats/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "flatout/base/file.h"
#include "flatout/data/formats/json_lines.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;

std::vector<std::string> Split(std::string_view text, const CsvDialect& dialect = {}) {
  std::vector<CsvCell> cells;
  CsvFault fault;
  std::vector<std::string> fields;
  if (!SplitCsv(text, dialect, cells, fault)) return {fmt::format("{}: {}", fault.at, fault.what)};
  for (const CsvCell& cell : cells) fields.push_back(CsvText(cell, dialect.quote));
  return fields;
}

TEST(SplitCsv, WorkedOutByHand) {
  EXPECT_THAT(Split("a,b,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Split("a,b,c\r\nd"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Split(""), ElementsAre(""));
  EXPECT_THAT(Split(",\n"), ElementsAre("", ""));
  EXPECT_THAT(Split("\"a\",\"b,c\",\"d\"\"e\"\n"), ElementsAre("a", "b,c", "d\"e"));
  EXPECT_THAT(Split("\"\",\"\"\"\",\"\"\"\"\"\"\r"), ElementsAre("", "\"", "\"\""));
  EXPECT_THAT(Split("\"two\r\nlines\",1\n"), ElementsAre("two\r\nlines", "1"));
  EXPECT_THAT(Split(" a , b"), ElementsAre(" a ", " b"));
  EXPECT_THAT(Split(" a , \"b\" \t,c \n", {.trim = true}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Split("a\tb c\t\n", {.delimiter = '\t', .trim = true}), ElementsAre("a", "b c", ""));
  EXPECT_THAT(Split("5\" disk;b", {.delimiter = ';', .quote = 0}), ElementsAre("5\" disk", "b"));
  EXPECT_THAT(Split("'a,b','it''s'", {.quote = '\''}), ElementsAre("a,b", "it's"));
  const std::string longer(100, 'x');
  EXPECT_THAT(Split(longer + "," + longer + "\n"), ElementsAre(longer, longer));
}

TEST(SplitCsv, FaultsAreWhereTheyAre) {
  EXPECT_THAT(Split("a,5\" disk\n")[0], AllOf(HasSubstr("3: "), HasSubstr("\"5\"\"")));
  EXPECT_THAT(Split("a,\"b\"c,d\n")[0], AllOf(HasSubstr("5: "), HasSubstr("closing quote")));
  EXPECT_THAT(Split("a,\"b,c\nd")[0], AllOf(HasSubstr("2: "), HasSubstr("never closed")));
  EXPECT_THAT(Split("\"")[0], HasSubstr("never closed"));
}

TEST(Csv, Guesses) {
  auto guess = [](std::vector<std::string> records) { return GuessDelimiter(records, {}); };
  EXPECT_EQ(guess({"a,b,c", "1,2,3"}), ',');
  EXPECT_EQ(guess({"a\tb\tc", "1,5\t2,5\t3,5"}), '\t');
  EXPECT_EQ(guess({"a;b", "1,5;2,5"}), ';');
  EXPECT_EQ(guess({"a|b", "1|2"}), '|');
  EXPECT_EQ(guess({"\"a;b;c;d\",x", "\"1;2;3;4\",5"}), ',');
  EXPECT_EQ(guess({"a", "1"}), ',');
  EXPECT_EQ(guess({"a;b;c", "1;2"}), ';');  // ragged
  auto header = [](std::vector<std::string> fields) { return LooksLikeHeader(fields); };
  EXPECT_TRUE(header({"age", "x (%)"}));
  EXPECT_FALSE(header({"age", "7"}));
  EXPECT_FALSE(header({"age", ""}));
  EXPECT_FALSE(header({"1e5", " 2"}));
}

class CsvTest : public ::testing::Test {
 protected:
  // [data] with these lines, `files` being the file "a.csv" unless they say.
  SourcePtr Open(const std::string& keys, std::string_view split = "train") {
    std::string toml = keys;
    if (toml.find("files = ") == std::string::npos) {
      toml = fmt::format("files = \"{}\"\n{}", scratch_ / "a.csv", keys);
    }
    table_ = Config::ParseToml(toml, "run.toml");
    FieldReader reader(table_, "data");
    auto open = OpenCsv(reader);
    reader.Finish();
    return open(split);
  }
  SourcePtr OpenText(const std::string& text, const std::string& keys = "") {
    scratch_.Write("a.csv", text);
    return Open(keys);
  }
  Block& Read(const Source& source, std::vector<int64_t> records = {}) {
    if (records.empty()) {
      records.resize(static_cast<size_t>(source.size()));
      std::iota(records.begin(), records.end(), 0);
    }
    block_.Reset(source.fields(), static_cast<int64_t>(records.size()));
    ReadContext context;
    source.Read(context, 0, records, block_);
    return block_;
  }
  template <typename T>
  std::vector<T> Values(const Block& block, size_t f) {
    const int64_t count = block.rows() * block.fields()[f].shape.size();
    return {block.as<T>(f), block.as<T>(f) + count};
  }
  std::vector<std::string> Texts(const Block& block, size_t f) {
    std::vector<std::string> texts;
    for (int64_t row = 0; row < block.rows(); ++row) texts.emplace_back(block.text(f, row));
    return texts;
  }
  // What reading everything complains about.
  std::string Fault(const std::string& text, const std::string& keys = "") {
    std::string message = MessageOf<DataError>([&] { Read(*OpenText(text, keys)); });
    const std::string path = scratch_.path() + "/";
    EXPECT_THAT(message, HasSubstr(path)) << "the message names no file";
    const size_t at = message.find(path);
    return at == std::string::npos ? message : message.substr(at + path.size());
  }
  std::string OptionFault(const std::string& text, const std::string& keys) {
    return MessageOf<UserError>([&] { OpenText(text, keys); });
  }

  testing::Scratch scratch_;
  Config table_;
  Block block_;
};

TEST_F(CsvTest, TypesAreInferred) {
  SourcePtr source = OpenText(
      "id,age,big,income,name,member\n"
      "1,39,12345678901,1.5,Ann,true\n"
      "2,-7,2,3,\"B, ob\",false\n");
  EXPECT_EQ(DescribeFields(source->fields()),
            "id i32[], age i32[], big i64[], income f32[], name text[], member pred[]");
  const Block& block = Read(*source);
  EXPECT_THAT(Values<int32_t>(block, 0), ElementsAre(1, 2));
  EXPECT_THAT(Values<int32_t>(block, 1), ElementsAre(39, -7));
  EXPECT_THAT(Values<int64_t>(block, 2), ElementsAre(12345678901, 2));
  EXPECT_THAT(Values<float>(block, 3), ElementsAre(1.5f, 3.0f));
  EXPECT_THAT(Texts(block, 4), ElementsAre("Ann", "B, ob"));
  EXPECT_THAT(Values<uint8_t>(block, 5), ElementsAre(1, 0));
}

// Every kind of cases.md A38 that is right: byte-order mark, all line ends, quoted line ends,
// delimiters and quotes, blank lines, a last line without end; and what the index says of them.
TEST_F(CsvTest, EveryFormOfTheSameTable) {
  const std::string forms[] = {
      "x,s\n1,a\n2,b\n",
      "\xef\xbb\xbfx,s\n1,a\n2,b\n",
      "x,s\r\n1,a\r\n2,b\r\n",
      "x,s\r1,a\r2,b\r",
      "x,s\n1,a\n2,b",
      "x,s\r\n1,a\r\n2,b",
      "\n\nx,s\n\n\n1,a\n\r\n2,b\n\n",
      "\"x\",\"s\"\n\"1\",\"a\"\n\"2\",\"b\"\n",
      "\xef\xbb\xbf\"x\",\"s\"\r\n\"1\",a\r\n2,\"b\"",
      "x;s\n1;a\n2;b\n",
      "x\ts\n1\ta\n2\tb\n",
      "x|s\n1|a\n2|b\n",
      testing::Gzip("x,s\n1,a\n2,b\n"),
  };
  for (const std::string& form : forms) {
    SCOPED_TRACE(form);
    SourcePtr source = OpenText(form);
    ASSERT_EQ(source->size(), 2);
    EXPECT_EQ(DescribeFields(source->fields()), "x i32[], s text[]");
    const Block& block = Read(*source, {1, 0, 1});
    EXPECT_THAT(Values<int32_t>(block, 0), ElementsAre(2, 1, 2));
    EXPECT_THAT(Texts(block, 1), ElementsAre("b", "a", "b"));
  }
}

TEST_F(CsvTest, QuotedFieldsHoldAnything) {
  SourcePtr source = OpenText(
      "n,text\n"
      "1,\"two\nlines\"\n"
      "2,\"CR\r\nLF, \"\"quoted\"\"\"\n"
      "3,\"\"\n"
      "4,\"\"\"\"\n");
  ASSERT_EQ(source->size(), 4);
  const Block& block = Read(*source);
  EXPECT_THAT(Values<int32_t>(block, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Texts(block, 1), ElementsAre("two\nlines", "CR\r\nLF, \"quoted\"", "", "\""));
}

TEST_F(CsvTest, OddColumnNames) {
  SourcePtr source = OpenText("#id,% (of) a:b;c,\"x,y\"\n1,2,3\n",
                              "columns = { \"% (of) a:b;c\" = \"f32\", xy = { from = \"x,y\" } }");
  EXPECT_EQ(DescribeFields(source->fields()), "% (of) a:b;c f32[], xy i32[]");
  const Block& block = Read(*source);
  EXPECT_THAT(Values<float>(block, 0), ElementsAre(2.0f));
  EXPECT_THAT(Values<int32_t>(block, 1), ElementsAre(3));
  // A name that looks like a pattern is that column.
  source = OpenText("a*,ab\n1,2\n", "columns = [\"a*\"]");
  EXPECT_EQ(DescribeFields(source->fields()), "a* i32[]");
  // Columns without a name, such as an index that was written along.
  source = OpenText(",a\n1,2\n", "header = true");
  EXPECT_EQ(DescribeFields(source->fields()), "column1 i32[], a i32[]");
}

TEST_F(CsvTest, DeclaredColumns) {
  SourcePtr source = OpenText(
      "label,b1,b2,b3,skipped,kind,pick,score\n"
      "1,1,2,3,\"x,y\",cat,255,1e-3\n"
      ",4,,6,z,dog,0,\n",
      R"(
      missing_values = ["NA"]
      [columns]
      score = { dtype = "f64", missing = nan }
      dense = { from = ["b1", "b3", "b2"], dtype = "f32", missing = -1 }
      again = { from = "b1", dtype = "text" }
      kind = { classes = ["dog", "cat"] }
      label = { dtype = "i32", bound = 2, missing = 0 }
      pick = "u8"
      grid = { from = "b?", dtype = "i16", missing = 9, shape = [3, 1] }
      )");
  EXPECT_EQ(DescribeFields(source->fields()),
            "score f64[], dense f32[3], again text[], kind i32[], label i32[], pick u8[], grid "
            "i16[3,1]");
  EXPECT_EQ(source->fields()[3].bound, 2);
  EXPECT_EQ(source->fields()[4].bound, 2);
  const Block& block = Read(*source);
  EXPECT_EQ(Values<double>(block, 0)[0], 1e-3);
  EXPECT_TRUE(std::isnan(Values<double>(block, 0)[1]));
  EXPECT_THAT(Values<float>(block, 1), ElementsAre(1, 3, 2, 4, 6, -1));
  EXPECT_THAT(Texts(block, 2), ElementsAre("1", "4"));
  EXPECT_THAT(Values<int32_t>(block, 3), ElementsAre(1, 0));
  EXPECT_THAT(Values<int32_t>(block, 4), ElementsAre(1, 0));
  EXPECT_THAT(Values<uint8_t>(block, 5), ElementsAre(255, 0));
  EXPECT_THAT(Values<int16_t>(block, 6), ElementsAre(1, 2, 3, 4, 9, 6));
}

TEST_F(CsvTest, PatternsAndRanges) {
  const std::string text = "y,I1,I2,C1,C2\n1,2,3,a,b\n0,,5,,d\n";
  SourcePtr source = OpenText(text, R"(
      missing = 0
      [columns]
      "*" = "auto"
      ints = { from = "I1..I2", dtype = "i32" }
      words = { from = "C*", dtype = "text" }
      )");
  EXPECT_EQ(DescribeFields(source->fields()), "y i32[], ints i32[2], words text[2]");
  const Block& block = Read(*source);
  EXPECT_THAT(Values<int32_t>(block, 1), ElementsAre(2, 3, 0, 5));
  EXPECT_THAT(block.texts(2, 0), ElementsAre("a", "b"));
  EXPECT_THAT(block.texts(2, 1), ElementsAre("", "d"));
  source = OpenText(text, "columns = { \"I*\" = { dtype = \"f32\", missing = 7 }, y = \"f32\" }");
  EXPECT_EQ(DescribeFields(source->fields()), "I1 f32[], I2 f32[], y f32[]");
  EXPECT_THAT(Values<float>(Read(*source), 0), ElementsAre(2, 7));
  source = OpenText(text, "columns = [\"C*\", \"y\"]");
  EXPECT_EQ(DescribeFields(source->fields()), "C1 text[], C2 text[], y i32[]");
  EXPECT_THAT(ExpandRange("p08..p11"), ElementsAre("p08", "p09", "p10", "p11"));
  EXPECT_THAT(ExpandRange("a..b"), ElementsAre("a..b"));
  EXPECT_THAT(ExpandRange("a3..a1"), ElementsAre("a3..a1"));
}

TEST_F(CsvTest, FilesWithoutHeader) {
  SourcePtr source = OpenText("1,2.5,x\n3,4,y\n");
  EXPECT_EQ(DescribeFields(source->fields()), "column1 i32[], column2 f32[], column3 text[]");
  EXPECT_EQ(source->size(), 2);
  source = OpenText("1\t2.5\tx\n3\t4\ty\n", "names = [\"a1..a2\", \"s\"]");
  EXPECT_EQ(DescribeFields(source->fields()), "a1 i32[], a2 f32[], s text[]");
  EXPECT_EQ(source->size(), 2);
  // Words only: the first record is a header unless said otherwise.
  EXPECT_EQ(OpenText("a,b\nc,d\n")->size(), 1);
  EXPECT_EQ(OpenText("a,b\nc,d\n", "header = false")->size(), 2);
  EXPECT_EQ(OpenText("a,b\nc,d\n", "names = [\"p\", \"q\"]")->size(), 2);
  // Names of numbers: a header all the same, when one of them is asked for.
  source = OpenText("id,2019\n1,2\n", "columns = [\"2019\"]");
  EXPECT_EQ(source->size(), 1);
  EXPECT_EQ(DescribeFields(source->fields()), "2019 i32[]");
  // Names that replace those of the file.
  source = OpenText("a,a\nc,d\n", "names = [\"p\", \"q\"]\nheader = true");
  EXPECT_EQ(source->size(), 1);
  EXPECT_EQ(DescribeFields(source->fields()), "p text[], q text[]");
}

TEST_F(CsvTest, CommentsAndTrim) {
  SourcePtr source = OpenText("# it's \"here\nx, y\n1, 2 \n#3,4\n 5,\"6\"\n# end\n",
                              "comment = \"#\"\ntrim = true");
  ASSERT_EQ(source->size(), 2);
  EXPECT_EQ(DescribeFields(source->fields()), "x i32[], y i32[]");
  EXPECT_THAT(Values<int32_t>(Read(*source), 1), ElementsAre(2, 6));
}

TEST_F(CsvTest, SeveralFilesAreMatchedByName) {
  scratch_.Write("1.csv", "a,b\n1,2\n3,4");
  scratch_.Write("2.csv", testing::Gzip("b,extra,a\n6,x,5\n"));
  scratch_.Write("3.csv", "a,b\n");
  const std::string keys =
      fmt::format("columns = [\"a\", \"b\"]\nfiles = \"{}/*.csv\"\n", scratch_.path());
  SourcePtr source = Open(keys);
  ASSERT_EQ(source->size(), 3);
  EXPECT_THAT(Values<int32_t>(Read(*source, {2, 0, 1}), 0), ElementsAre(5, 1, 3));
  EXPECT_THAT(Values<int32_t>(block_, 1), ElementsAre(6, 2, 4));
  scratch_.Write("4.csv", "a,c\n1,2\n");
  EXPECT_THAT(MessageOf<DataError>([&] { Open(keys); }),
              AllOf(HasSubstr("4.csv:1:1"), HasSubstr("lacks"), HasSubstr("\"b\"")));
}

// Types come from the training files, so that all splits agree.
TEST_F(CsvTest, SplitsShareTheTypes) {
  scratch_.Write("train.csv", "x\n1\n2.5\n3\n4\n");
  scratch_.Write("test.csv", "x\n1\n2\n");
  const std::string keys =
      fmt::format("files = \"{}\"\ntest_files = \"{}\"\nvalidation_split = 0.25\n",
                  scratch_ / "train.csv", scratch_ / "test.csv");
  EXPECT_EQ(DescribeFields(Open(keys, "test")->fields()), "x f32[]");
  SourcePtr train = Open(keys, "train");
  EXPECT_EQ(train->size(), 3);
  SourcePtr validation = Open(keys, "validation");
  EXPECT_THAT(Values<float>(Read(*validation), 0), ElementsAre(4));
}

TEST_F(CsvTest, BadValuesAreNamedWithTheirPlace) {
  const std::string x = "columns = { x = \"f32\", i = \"i32\", s = \"text\" }";
  auto row = [](const std::string& record) { return "x,i,s\n1,2,\"a\nb\"\n\n" + record + "\n"; };
  EXPECT_THAT(Fault(row("12a,1,s"), x),
              AllOf(HasSubstr("a.csv:5:1: record 1: column \"x\": expected a number (f32), found "
                              "\"12a\"")));
  EXPECT_THAT(Fault(row("1,x,s"), x), HasSubstr("a.csv:5:3: record 1: column \"i\": expected an "
                                                "integer (i32), found \"x\""));
  EXPECT_THAT(Fault(row("\"1,5\",1,s"), x),
              AllOf(HasSubstr(":5:2:"), HasSubstr("found \"1,5\""), HasSubstr("comma")));
  EXPECT_THAT(Fault(row("0x1F,1,s"), x), HasSubstr("found \"0x1F\""));
  EXPECT_THAT(Fault(row(" 1,1,s"), x), AllOf(HasSubstr("found \" 1\""), HasSubstr("trim = true")));
  EXPECT_THAT(Fault(row("1,1 ,s"), x), AllOf(HasSubstr("found \"1 \""), HasSubstr("trim = true")));
  EXPECT_THAT(Fault(row("1e39,1,s"), x), HasSubstr("f32 cannot hold it"));
  EXPECT_THAT(Fault(row("1,2147483648,s"), x), HasSubstr("i32 cannot hold it"));
  EXPECT_THAT(Fault(row("1,99999999999999999999,s"), x), HasSubstr("i32 cannot hold it"));
  EXPECT_THAT(Fault(row("1,1.0,s"), x), HasSubstr("it is no integer"));
  EXPECT_THAT(Fault(row("nan,1,s"), x), HasSubstr("missing_values = [\"nan\"]"));
  EXPECT_THAT(Fault(row("-inf,1,s"), x), HasSubstr("finite"));
  EXPECT_THAT(Fault(row("1_000,1,s"), x), HasSubstr("found \"1_000\""));
  EXPECT_THAT(Fault(row("1,,s"), x),
              AllOf(HasSubstr(":5:3:"), HasSubstr("found no value"), HasSubstr("missing = ")));
  EXPECT_THAT(Fault("x\n7\n-1\n", "columns = { x = { dtype = \"i32\", bound = 7 } }"),
              AllOf(HasSubstr("a.csv:2:1"), HasSubstr("[0, 7)"), HasSubstr("found \"7\"")));
  EXPECT_THAT(Fault("x\n300\n", "columns = { x = \"u8\" }"), HasSubstr("u8 cannot hold it"));
  EXPECT_THAT(Fault("x\n-1\n", "columns = { x = \"u32\" }"), HasSubstr("u32 cannot hold it"));
  EXPECT_THAT(Fault("x\nyes\n", "columns = { x = \"pred\" }"), HasSubstr("true, false, 0 or 1"));
  EXPECT_THAT(Fault("x\ndgo\n", "columns = { x = { classes = [\"cat\", \"dog\"] } }"),
              AllOf(HasSubstr("one of the 2 classes"), HasSubstr("did you mean \"dog\"")));
  // Columns count characters, not bytes.
  EXPECT_THAT(Fault("s,x\n\xc3\xa4\xc3\xb6,z\n", "columns = { x = \"f32\" }"), HasSubstr(":2:4:"));
}

TEST_F(CsvTest, ALaterValueUnlikeTheInferredType) {
  std::string text = "x\n";
  for (int i = 0; i < 1500; ++i) text += "1\n";
  EXPECT_THAT(Fault(text + "1.5\n"), AllOf(HasSubstr(":1502:1"), HasSubstr("Declare \"x\"")));
  EXPECT_THAT(Fault(text + "abc\n"), AllOf(HasSubstr("inferred"), HasSubstr("columns = {")));
  EXPECT_THAT(Fault(text + "9999999999\n"), HasSubstr("inferred"));
}

TEST_F(CsvTest, RaggedRecords) {
  EXPECT_THAT(Fault("a,b,c\n1,2,3\n4,5\n"),
              AllOf(HasSubstr("a.csv:3:4: record 1: expected 3 fields"), HasSubstr("found 2"),
                    HasSubstr("\"c\" is the first that is missing"), HasSubstr("\"4,5\"")));
  EXPECT_THAT(Fault("a,b,c\n1,2,3,4\n"), AllOf(HasSubstr("a.csv:2:7: record 0: expected 3 fields"),
                                               HasSubstr("found 4"), HasSubstr("\"1,2,3,4\"")));
  EXPECT_THAT(Fault("a,b\n1,2,\n"), HasSubstr("found 3"));
  EXPECT_THAT(Fault("a,b\nx\n", "columns = { a = \"f32\" }"), HasSubstr("found 1"));
  EXPECT_THAT(Fault("a,b,c\n1,2,3\n \n", "columns = [\"c\"]"), HasSubstr("found 1"));
}

TEST_F(CsvTest, BrokenQuotes) {
  EXPECT_THAT(Fault("a,b\n1,\"x\n2,y\n3,z\n"),
              AllOf(HasSubstr("a.csv:2:3: record 0"), HasSubstr("never closed")));
  EXPECT_THAT(Fault("a,b\n1,5\" disk\n2,x\n"), AllOf(HasSubstr("a.csv:2:4:"), HasSubstr("quote")));
  EXPECT_THAT(Fault("a,b\n1,5\" disk\n2,7\" disk\n3,x\n", "columns = [\"a\"]"),
              AllOf(HasSubstr("a.csv:2:4:"), HasSubstr("quote = \"\"")));
  EXPECT_THAT(Fault("a,b\n\"1\"x,2\n"), AllOf(HasSubstr("a.csv:2:4:"), HasSubstr("closing quote")));
  SourcePtr source = OpenText("a,b\n1,5\" disk\n2,x\n", "quote = \"\"");
  EXPECT_THAT(Texts(Read(*source), 1), ElementsAre("5\" disk", "x"));
}

TEST_F(CsvTest, BadRecordsCanBeLeftOut) {
  SourcePtr source =
      OpenText("a,b\n1,x\nq,y\n3\n4,z\n\"5", "columns = { a = \"i32\", b = \"text\" }");
  ASSERT_EQ(source->size(), 5);
  BadRecords allowed(3);
  ReadContext context(&allowed);
  Block block;
  block.Reset(source->fields(), 5);
  block.set_bad_records(&allowed);
  source->Read(context, 0, std::vector<int64_t>{0, 1, 2, 3, 4}, block);
  EXPECT_EQ(allowed.count(), 3);
  std::vector<bool> bad;
  for (int64_t row = 0; row < 5; ++row) bad.push_back(block.bad(row));
  EXPECT_THAT(bad, ElementsAre(false, true, true, false, true));
  EXPECT_EQ(block.as<int32_t>(0)[3], 4);
  EXPECT_EQ(block.text(1, 3), "z");
}

TEST_F(CsvTest, HeadersThatCannotBe) {
  EXPECT_THAT(OptionFault("a,b,a\n1,2,3\n", ""),
              AllOf(HasSubstr("\"a\""), HasSubstr("fields 1 and 3"), HasSubstr("names")));
  // Unless nobody asks for it.
  EXPECT_EQ(OpenText("a,b,a\n1,2,3\n", "columns = [\"b\"]")->fields().size(), 1u);
  EXPECT_THAT(OptionFault("age,b\n1,2\n", "columns = { agee = \"f32\" }"),
              AllOf(HasSubstr("run.toml:2:"), HasSubstr("did you mean \"age\""),
                    HasSubstr("\"age\", \"b\"")));
  EXPECT_THAT(OptionFault("a,b\n1,2\n", "columns = { x = { from = \"I*\" } }"),
              HasSubstr("matched by \"I*\""));
  EXPECT_THAT(OptionFault("a,b\n1,2\n", "names = [\"x\"]"), HasSubstr("found 2"));
  EXPECT_THAT(OptionFault("a,\"b\n1,2\n", "header = true"), HasSubstr("never closed"));
  EXPECT_THAT(OptionFault("", ""), HasSubstr("neither a header nor records"));
  EXPECT_THAT(OptionFault("a,b\n", ""), HasSubstr("no records"));
}

TEST_F(CsvTest, WrongOptions) {
  const std::string text = "a,b\n1,2\n";
  for (const auto& [keys, expected] : std::vector<std::pair<std::string, std::string>>{
           {"delimiter = \"ab\"", "one ASCII character"},
           {"delimiter = \"5\"", "no part of a number"},
           {"delimiter = \"\"", "one character"},
           {"quote = \"ab\"", "one ASCII character"},
           {"comment = \"//\"", "one ASCII character"},
           {"header = 3", "\"auto\""},
           {"header = \"yes\"", "\"auto\""},
           {"names = [\"a\", \"a\"]", "twice"},
           {"columns = []", "at least one column"},
           {"columns = { a = 3 }", "expected a type"},
           {"columns = { a = \"f31\" }", "\"f32\""},
           {"columns = { a = \"bf16\" }", "transform"},
           {"columns = { a = { dtype = \"f32\", bound = 3 } }", "for integers"},
           {"columns = { a = { bound = 0 } }", "positive"},
           {"columns = { a = { dtype = \"u8\", bound = 257 } }", "wider"},
           {"columns = { a = { dtype = \"i32\", missing = \"x\" } }", "expected an integer"},
           {"columns = { a = { dtype = \"i32\", bound = 2, missing = 2 } }", "[0, 2)"},
           {"columns = { a = { classes = [] } }", "at least one class"},
           {"columns = { a = { classes = [\"x\", \"x\"] } }", "twice"},
           {"columns = { a = { dtype = \"f32\", classes = [\"x\"] } }", "integers"},
           {"columns = { a = { classes = [\"x\"], missing = \"y\" } }", "one of the 1 classes"},
           {"columns = { p = { from = [\"a\", \"b\"], shape = [3] } }", "2 columns"},
           {"columns = { a = { dtyp = \"f32\" } }", "dtyp"},
           {"columns = { a = { from = [] } }", "at least one column"},
           {"columns = [\"a\", \"a\"]", "two fields"}}) {
    EXPECT_THAT(OptionFault(text, keys), AllOf(HasSubstr("run.toml:2:"), HasSubstr(expected)))
        << keys;
  }
}

// Any order, any number at a time, several files: the same values.
TEST_F(CsvTest, EveryOrderGivesTheSame) {
  std::mt19937_64 random(8);
  std::vector<float> want;
  std::vector<std::string> names;
  for (int file = 0; file < 3; ++file) {
    std::string text = "v,s\n";
    for (int i = 0; i < 3000; ++i) {
      char buffer[32];
      const auto value = static_cast<float>(random()) / 1e15f - 3000;
      const auto [end, error] = std::to_chars(buffer, buffer + 32, value);
      want.push_back(value);
      names.push_back(std::string(random() % 40, 'q') + (i % 5 == 0 ? "\n" : ""));
      text += fmt::format("{},\"{}\"\n{}", std::string(buffer, end), names.back(),
                          i % 11 == 0 ? "\r\n" : "");
    }
    scratch_.Write(fmt::format("{}.csv", file), text);
  }
  SourcePtr source = Open(fmt::format("files = \"{}/?.csv\"", scratch_.path()));
  ASSERT_EQ(source->size(), 9000);
  std::vector<int64_t> order(9000);
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < 4; ++round) {
    for (size_t at = 0; at < order.size();) {
      const size_t count = std::min<size_t>(order.size() - at, 1 + random() % 2000);
      const std::vector<int64_t> some(order.begin() + static_cast<std::ptrdiff_t>(at),
                                      order.begin() + static_cast<std::ptrdiff_t>(at + count));
      const Block& block = Read(*source, some);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(block.as<float>(0)[i], want[static_cast<size_t>(some[i])]);
        ASSERT_EQ(block.text(1, static_cast<int64_t>(i)), names[static_cast<size_t>(some[i])]);
      }
      at += count;
    }
    std::shuffle(order.begin(), order.end(), random);
  }
}

// ---- tests/recorded/tables.json ----

const JsonValue& Member(const JsonValue& object, std::string_view name) {
  for (const auto& [key, value] : object.members) {
    if (key == name) return value;
  }
  throw Internal("tables.json: no {}", name);
}

JsonValue Recorded() {
  JsonValue value;
  JsonFault fault;
  const std::string text = ReadFile(FLATOUT_SOURCE_DIR "/tests/recorded/tables.json");
  if (!ParseJson(text, value, fault)) throw Internal("tables.json: {}: {}", fault.at, fault.what);
  return value;
}

TEST_F(CsvTest, SplitsAsPythonsCsvModule) {
  const JsonValue recorded = Recorded();
  int cases = 0;
  for (const JsonValue& recorded_case : Member(recorded, "splits").items) {
    const std::string& text = Member(recorded_case, "text").text;
    SCOPED_TRACE(ShowText(text, 1000));
    const std::string& delimiter = Member(recorded_case, "delimiter").text;
    SourcePtr source = OpenText(
        text,
        fmt::format("header = false\ndelimiter = \"{}\"\nquote = '''{}'''\ncolumns = {{ "
                    "\"*\" = \"text\" }}",
                    delimiter == "\t" ? "tab" : delimiter, Member(recorded_case, "quote").text));
    const std::vector<JsonValue>& rows = Member(recorded_case, "rows").items;
    ASSERT_EQ(source->size(), static_cast<int64_t>(rows.size()));
    const Block& block = Read(*source);
    for (size_t row = 0; row < rows.size(); ++row) {
      ASSERT_EQ(rows[row].items.size(), source->fields().size());
      for (size_t c = 0; c < rows[row].items.size(); ++c) {
        EXPECT_EQ(block.text(c, static_cast<int64_t>(row)), rows[row].items[c].text);
      }
    }
    ++cases;
  }
  EXPECT_EQ(cases, 48);
}

TEST_F(CsvTest, ValuesAsTensorFlowsCsvDataset) {
  const JsonValue recorded = Recorded();
  for (const JsonValue& recorded_case : Member(recorded, "datasets").items) {
    SourcePtr source = OpenText(Member(recorded_case, "text").text, R"(
        [columns]
        i = { dtype = "i32", missing = -5 }
        f = { dtype = "f32", missing = 0.25 }
        d = { dtype = "f64", missing = 0.125 }
        l = { dtype = "i64", missing = -6 }
        s = "text"
        )");
    ASSERT_EQ(source->size(), 40);
    const Block& block = Read(*source);
    for (int64_t row = 0; row < 40; ++row) {
      auto value = [&](const char* column) {
        const JsonValue& values = Member(recorded_case, column);
        const auto at = static_cast<size_t>(row);
        return values.kind == JsonValue::Kind::kArray ? values.items[at].text
                                                      : Member(values, "data").items[at].text;
      };
      EXPECT_EQ(block.as<int32_t>(0, row)[0], std::stol(value("i")));
      EXPECT_EQ(block.as<float>(1, row)[0], std::stof(value("f")));
      EXPECT_EQ(block.as<double>(2, row)[0], std::stod(value("d")));
      EXPECT_EQ(block.as<int64_t>(3, row)[0], std::stoll(value("l")));
      EXPECT_EQ(block.text(4, row), value("s"));
    }
  }
}

// Whatever the bytes are: fields or a fault within the text, and the index agrees with the splitter
// on where well-formed records end.
TEST_F(CsvTest, AnyTextIsReadOrRefused) {
  std::mt19937_64 random(10);
  const std::string letters = "a1.-e,;\"\"\n\r \t#\xff";
  const CsvDialect dialect;
  ColumnSpec number = {.name = "x", .inferred = false};
  const CellType f32 = MakeCellType(number, Config());
  ColumnSpec words = {.name = "s", .inferred = false, .text = true};
  const CellType text_type = MakeCellType(words, Config());
  const std::vector<Field> fields = {MakeField(f32, {}), MakeField(text_type, {})};
  CsvRowParser parser(dialect, {"x", "skipped", "s"}, {});
  parser.Add(0, &f32, 0, 0);
  parser.Add(2, &text_type, 1, 0);
  Block block;
  CsvRowParser::Scratch scratch;
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = random() % 3 == 0 ? "1.5,," : "";
    for (uint64_t i = random() % 24; i > 0; --i) text += letters[random() % letters.size()];
    RecordIndex index = IndexRecords(text, dialect.scan());
    for (int64_t i = 0; i < index.size(); ++i) {
      std::string record = text.substr(static_cast<size_t>(index.begin(i)),
                                       static_cast<size_t>(index.end(i) - index.begin(i)));
      if (record.back() != '\n' && record.back() != '\r') record += '\n';
      std::vector<CsvCell> cells;
      CsvFault fault;
      const bool split = SplitCsv(record, dialect, cells, fault);
      block.Reset(fields, 1);
      parser.Prepare(block, scratch);
      RecordText record_text;
      record_text.text = record;
      record_text.readable = record.data() + record.size();
      CsvFault row_fault;
      if (parser.Parse(record_text, block, scratch, row_fault)) {
        ++read;
        ASSERT_TRUE(split) << record << fault.what;
        ASSERT_EQ(cells.size(), 3u);
        ASSERT_EQ(block.text(1, 0), CsvText(cells[2], '"'));
      } else {
        ASSERT_LE(row_fault.at, record.size());
        ASSERT_FALSE(row_fault.what.empty());
      }
      if (!split) continue;
      // After the last field there are only line ends.
      const std::string_view last = cells.back().text;
      std::string_view rest = std::string_view(record).substr(
          static_cast<size_t>(last.data() + last.size() - record.data()));
      if (rest.starts_with('"')) rest.remove_prefix(1);
      ASSERT_EQ(rest.find_first_not_of("\r\n"), std::string_view::npos) << ShowText(record);
    }
  }
  EXPECT_GT(read, 300);
}

}  // namespace
}  // namespace flatout::data
