#include "flatout/data/formats/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
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

// The value as JSON without spaces, or the fault.
std::string Show(const JsonValue& value) {
  std::string out;
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kString:
      return "'" + value.text + "'";
    case JsonValue::Kind::kArray:
      for (const JsonValue& item : value.items) out += (out.empty() ? "" : ",") + Show(item);
      return "[" + out + "]";
    case JsonValue::Kind::kObject:
      for (const auto& [name, member] : value.members) {
        out += (out.empty() ? "" : ",") + name + ":" + Show(member);
      }
      return "{" + out + "}";
    default:
      return value.text;
  }
}
std::string Parse(std::string_view text) {
  JsonValue value;
  JsonFault fault;
  if (!ParseJson(text, value, fault)) return fmt::format("{}: {}", fault.at, fault.what);
  return Show(value);
}

TEST(ParseJson, WorkedOutByHand) {
  EXPECT_EQ(Parse(R"({"a":1,"b":[true,false,null],"c":{"d":"x"}})"),
            "{a:1,b:[true,false,null],c:{d:'x'}}");
  EXPECT_EQ(Parse(" \t{ } \r\n"), "{}");
  EXPECT_EQ(Parse("[ 1 , -2.5e+3 ,0,-0, 0.5E-7 ]"), "[1,-2.5e+3,0,-0,0.5E-7]");
  EXPECT_EQ(Parse(R"("\"\\\/\b\f\n\r\t\u0041\u00e4\u20ac\ud83d\ude00")"),
            "'\"\\/\b\f\n\r\tA\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'");
  EXPECT_EQ(Parse("\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""),
            "'\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'");
  EXPECT_EQ(Parse(R"("\u0000")"), std::string("'\0'", 3));
}

TEST(ParseJson, RefusesWhatRfc8259Does) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "0: expected a JSON value"},
           {"{", "1: expected a member"},
           {"[1,]", "3: expected a JSON value"},
           {"[1 2]", "3: expected ']'"},
           {"{\"a\":1,}", "7: expected a member"},
           {"{\"a\" 1}", "5: expected ':'"},
           {"{a:1}", "1: expected a member"},
           {"{'a':1}", "1: expected a member"},
           {"[01]", "1: expected a JSON number"},
           {"[+1]", "1: expected a JSON value"},
           {"[.5]", "1: expected a JSON value"},
           {"[1.]", "1: expected a JSON number"},
           {"[-]", "1: expected a JSON number"},
           {"[1e]", "1: expected a JSON number"},
           {"[1e+]", "1: expected a JSON number"},
           {"[1.2.3]", "1: expected a JSON number"},
           {"[0x10]", "2: expected ']'"},
           {"[NaN]", "1: expected a JSON value"},
           {"[nul]", "1: expected a JSON value"},
           {"[tru", "1: expected a JSON value"},
           {"\"a", "0: the string"},
           {"\"a\n\"", "0: the string"},
           {"\"a\\", "0: the string"},
           {"\"\t\"", "1: a control character"},
           {"\"\\x\"", "1: \"\\x\" is no JSON escape"},
           {"\"\\u12\"", "1: expected four"},
           {"\"\\ud83d\"", "1: \\ud83d is half"},
           {"\"\\ud83dx\"", "1: \\ud83d is half"},
           {"\"\\ude00\"", "1: \\ude00 is half"},
           {"\"\\ud83d\\u0041\"", "1: \\ud83d is half"},
           {"\"\xff\"", "1: byte 0xff"},
           {"\"\xc3\"", "1: byte 0xc3"},
           {"\"\xc0\x80\"", "1: byte 0xc0"},
           {"\"\xed\xa0\x80\"", "1: byte 0xed"},
           {"\"\xf4\x90\x80\x80\"", "1: byte 0xf4"},
           {"{} {}", "3: expected the line's end"},
           {"1 // one", "2: expected the line's end"},
           {std::string(1000, '['), "nested more than 200"},
           {std::string(100000, '['), "nested more than 200"}}) {
    EXPECT_THAT(Parse(text), HasSubstr(expected)) << text.substr(0, 40);
  }
  EXPECT_THAT(Parse(std::string(200, '[') + std::string(200, ']')), HasSubstr("[[[]]]"));
}

class JsonLinesTest : public ::testing::Test {
 protected:
  SourcePtr Open(const std::string& keys, std::string_view split = "train") {
    std::string toml = keys;
    if (toml.find("files = ") == std::string::npos) {
      toml = fmt::format("files = \"{}\"\n{}", scratch_ / "a.jsonl", keys);
    }
    table_ = Config::ParseToml(toml, "run.toml");
    FieldReader reader(table_, "data");
    auto open = OpenJsonLines(reader);
    reader.Finish();
    return open(split);
  }
  SourcePtr OpenText(const std::string& text, const std::string& keys = "") {
    scratch_.Write("a.jsonl", text);
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
  template <typename T>
  std::vector<T> Cell(const Block& block, size_t f, int64_t row) {
    std::span<const std::byte> bytes = block.bytes(f, row);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
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

TEST_F(JsonLinesTest, MembersAndTypesAreInferred) {
  SourcePtr source = OpenText(
      "\xef\xbb\xbf{\"id\": 1, \"user\": {\"age\": 30, \"name\": \"Ann\"}, \"w\": 0.5, \"ok\": "
      "true, "
      "\"rgb\": [1, 2, 3], \"tokens\": [5], \"tags\": [\"a\"], \"objects\": [{\"x\": 1}]}\r\n"
      "\n   \n"
      "{\"id\": 12345678901, \"user\": {\"age\": 31, \"name\": \"B\\u00f6b\"}, \"w\": 2, "
      "\"ok\": false, \"rgb\": [4, 5, 6], \"tokens\": [7, 8, 9], \"tags\": [], \"objects\": []}");
  ASSERT_EQ(source->size(), 2);
  EXPECT_EQ(DescribeFields(source->fields()),
            "id i64[], user.age i32[], user.name text[], w f32[], ok pred[], rgb i32[3], tokens "
            "i32[?], tags text[?]");
  const Block& block = Read(*source, {1, 0});
  EXPECT_THAT(Values<int64_t>(block, 0), ElementsAre(12345678901, 1));
  EXPECT_THAT(Values<int32_t>(block, 1), ElementsAre(31, 30));
  EXPECT_EQ(block.text(2, 0),
            "B\xc3\xb6"
            "b");
  EXPECT_EQ(block.text(2, 1), "Ann");
  EXPECT_THAT(Values<float>(block, 3), ElementsAre(2, 0.5));
  EXPECT_THAT(Values<uint8_t>(block, 4), ElementsAre(0, 1));
  EXPECT_THAT(Values<int32_t>(block, 5), ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(Cell<int32_t>(block, 6, 0), ElementsAre(7, 8, 9));
  EXPECT_THAT(Cell<int32_t>(block, 6, 1), ElementsAre(5));
  EXPECT_EQ(block.texts(7, 0).size(), 0u);
  EXPECT_THAT(block.texts(7, 1), ElementsAre("a"));
}

TEST_F(JsonLinesTest, DeclaredColumns) {
  SourcePtr source = OpenText(
      "{\"a\": {\"b\": 1, \"c.d\": 7}, \"m\": [[1, 2], [3, 4]], \"s\": \"cat\", \"x\": true, "
      "\"deep\": {\"skipped\": [{\"a\": [null]}]}}\n"
      "{\"x\": 0, \"m\": [[5, 6]], \"s\": null, \"a\": {\"b\": null}}\n",
      R"(
      [columns]
      m = { dtype = "i16", shape = ["?", 2] }
      kind = { from = "s", classes = ["dog", "cat"], missing = "dog" }
      x = { dtype = "i32" }
      both = { from = ["a.c.d", "a.b"], dtype = "f32", missing = -1.5 }
      late = { dtype = "i64", missing = 9 }
      again = { from = "s", dtype = "text", missing = "?" }
      )");
  EXPECT_EQ(DescribeFields(source->fields()),
            "m i16[?,2], kind i32[], x i32[], both f32[2], late i64[], again text[]");
  EXPECT_EQ(source->fields()[1].bound, 2);
  const Block& block = Read(*source);
  EXPECT_THAT(block.dims(0, 0), ElementsAre(2, 2));
  EXPECT_THAT(Cell<int16_t>(block, 0, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(block.dims(0, 1), ElementsAre(1, 2));
  EXPECT_THAT(Values<int32_t>(block, 1), ElementsAre(1, 0));
  EXPECT_THAT(Values<int32_t>(block, 2), ElementsAre(1, 0));
  EXPECT_THAT(Values<float>(block, 3), ElementsAre(7, 1, -1.5, -1.5));
  EXPECT_THAT(Values<int64_t>(block, 4), ElementsAre(9, 9));
  EXPECT_EQ(block.text(5, 0), "cat");
  EXPECT_EQ(block.text(5, 1), "?");
}

TEST_F(JsonLinesTest, MissingArrays) {
  SourcePtr source = OpenText(
      "{\"v\": [1, null], \"w\": [1], \"t\": [\"a\", null]}\n{\"v\": null}\n",
      "missing = 7\ncolumns = { v = { dtype = \"f32\", shape = [2] }, w = { dtype = \"f64\", shape "
      "= \"?\" }, t = { dtype = \"text\", shape = \"?\", missing = \"none\" } }");
  const Block& block = Read(*source);
  EXPECT_THAT(Values<float>(block, 0), ElementsAre(1, 7, 7, 7));
  EXPECT_THAT(Cell<double>(block, 1, 0), ElementsAre(1));
  EXPECT_THAT(block.dims(1, 1), ElementsAre(0));
  EXPECT_THAT(block.texts(2, 0), ElementsAre("a", "none"));
  EXPECT_EQ(block.texts(2, 1).size(), 0u);
}

TEST_F(JsonLinesTest, BadValuesAreNamedWithTheirPlace) {
  const std::string x =
      "columns = { x = \"f32\", i = \"i32\", s = { dtype = \"text\", missing = \"\" }, v = { dtype "
      "= \"u8\", shape = [2], missing = 0 } }";
  auto row = [](const std::string& record) { return "{\"x\": 1, \"i\": 2}\n\n" + record + "\n"; };
  EXPECT_THAT(Fault(row("{\"x\": \"1\", \"i\": 1}"), x),
              HasSubstr("a.jsonl:3:7: record 1: \"x\": expected a number (f32), found"));
  EXPECT_THAT(Fault(row("{\"x\": 1, \"i\": 1.5}"), x),
              AllOf(HasSubstr("a.jsonl:3:15: record 1: \"i\": expected an integer (i32), found "
                              "\"1.5\""),
                    HasSubstr("no integer")));
  EXPECT_THAT(Fault(row("{\"x\": 1, \"i\": 3000000000}"), x), HasSubstr("i32 cannot hold it"));
  EXPECT_THAT(Fault(row("{\"x\": 1e39, \"i\": 3}"), x), HasSubstr("f32 cannot hold it"));
  EXPECT_THAT(Fault(row("{\"x\": 1}"), x),
              AllOf(HasSubstr("\"i\": expected an integer (i32), found it absent"),
                    HasSubstr("missing = ")));
  EXPECT_THAT(Fault(row("{\"x\": null, \"i\": 1}"), x), HasSubstr(":3:7: record 1: \"x\""));
  EXPECT_THAT(Fault(row("{\"x\": [1], \"i\": 1}"), x), HasSubstr("found \"[1]"));
  EXPECT_THAT(Fault(row("{\"x\": {\"y\": 1}, \"i\": 1}"), x), HasSubstr("found \"{"));
  EXPECT_THAT(Fault(row("{\"x\": 1, \"i\": 1, \"s\": 3}"), x), HasSubstr("expected a string"));
  EXPECT_THAT(Fault(row("{\"x\": 1, \"i\": 1, \"v\": [1]}"), x), HasSubstr("found 1 values"));
  EXPECT_THAT(Fault(row("{\"x\": 1, \"i\": 1, \"v\": 1}"), x), HasSubstr("expected an array [2]"));
  EXPECT_THAT(Fault(row("{\"x\": 1, \"i\": 1, \"v\": [1, 256]}"), x),
              HasSubstr("u8 cannot hold it"));
  EXPECT_THAT(Fault(row("{\"x\": 1, \"x\": 2, \"i\": 1}"), x), HasSubstr("twice"));
  EXPECT_THAT(Fault(row("{\"x\": 1, \"i\": 1"), x), HasSubstr("expected '}'"));
  EXPECT_THAT(Fault(row("{\"x\": 1, \"i\": 1} {}"), x), HasSubstr("the line's end"));
  EXPECT_THAT(Fault(row("[1]"), x), AllOf(HasSubstr("expected a JSON object"), HasSubstr("jq")));
  EXPECT_THAT(Fault(row("{\"x\": 01, \"i\": 1}"), x), HasSubstr("expected a JSON number"));
  EXPECT_THAT(Fault(row("{\"z\": " + std::string(500, '[')), x), HasSubstr("nested"));
  EXPECT_THAT(Fault("{\"m\": [[1, 2], [3]]}\n",
                    "columns = { m = { dtype = \"i32\", shape = [\"?\", \"?\"] } }"),
              HasSubstr("ragged"));
  EXPECT_THAT(Fault("{\"k\": \"dgo\"}\n", "columns = { k = { classes = [\"cat\", \"dog\"] } }"),
              HasSubstr("did you mean \"dog\""));
  std::string many;
  for (int i = 0; i < 1200; ++i) many += "{\"n\": 1, \"v\": [1, 2]}\n";
  EXPECT_THAT(Fault(many + "{\"n\": \"x\", \"v\": [1, 2]}\n"),
              AllOf(HasSubstr("inferred"), HasSubstr("correct the record")));
  EXPECT_THAT(Fault(many + "{\"n\": 3000000000, \"v\": [1, 2]}\n"),
              HasSubstr("columns = { \"n\" = \"i64\" or \"f32\""));
  EXPECT_THAT(Fault(many + "{\"n\": 2, \"v\": [1]}\n"), HasSubstr("shape = "));
}

TEST_F(JsonLinesTest, WhatNoInferredTypeHoldsSaysWhatToDeclare) {
  struct Case {
    std::string text, fault, type;
  };
  const Case cases[] = {
      {"{\"a\": true}\n{\"a\": 2}\n", "holds \"true\" in record 0, \"2\" in record 1.", "i32"},
      {"{\"a\": 2.5}\n{\"a\": false}\n", "\"false\" in record 1, \"2.5\" in record 0.", "f32"},
      {"{\"a\": 1e300}\n{\"a\": true}\n", "\"true\" in record 1, \"1e300\" in record 0", "f64"},
      {"{\"a\": 12345678901234567890}\n", "\"12345678901234567890\" in record 0", "u64"},
      {"{\"a\": 12345678901234567890}\n{\"a\": -1.5}\n", "\"-1.5\" in record 1", "f64"},
      {"{\"a\": 123456789012345678901234567890}\n", "in record 0", "f64"},
      {"{\"a\": [1, true]}\n", "\"true\" in record 0, \"1\" in record 0", "i32"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.text);
    EXPECT_THAT(OptionFault(one.text, ""),
                AllOf(HasSubstr("a.jsonl: \"a\": no type can be inferred"), HasSubstr(one.fault),
                      HasSubstr("columns = { \"a\" = \"" + one.type + "\"")));
    // What it says to declare reads all the records.
    SourcePtr source = OpenText(one.text, "columns = { \"a\" = \"" + one.type + "\" }");
    Block block;
    ReadContext context;
    EXPECT_EQ(source->Open(0)->Next(context, 10, block), source->size());
  }
  EXPECT_THAT(OptionFault("{\"a\": 1}\n{\"a\": 1e999}\n", ""),
              AllOf(HasSubstr("record 1: \"a\" holds \"1e999\", which is too large for f64"),
                    Not(HasSubstr("Declare"))));
  // Strings make it text; what is none is bad.
  EXPECT_THAT(Fault("{\"a\": \"x\"}\n{\"a\": 2}\n"),
              AllOf(HasSubstr("record 1: \"a\": expected a string, found \"2"),
                    HasSubstr("as strings"), Not(HasSubstr("declare"))));
}

TEST_F(JsonLinesTest, FilesThatCannotBe) {
  EXPECT_THAT(OptionFault("", ""), HasSubstr("no records"));
  EXPECT_THAT(OptionFault("[{\"a\": 1},\n{\"a\": 2}]\n", ""), HasSubstr("expected"));
  EXPECT_THAT(OptionFault("{\n  \"a\": 1\n}\n", ""),
              HasSubstr("a.jsonl:1:2: record 0: expected a member's name"));
  EXPECT_THAT(OptionFault("[1, 2]\n", ""), HasSubstr("jq"));
  EXPECT_THAT(OptionFault("{\"age\": 1}\n", "columns = [\"aeg\"]"),
              AllOf(HasSubstr("run.toml:2:"), HasSubstr("did you mean \"age\"")));
  EXPECT_THAT(OptionFault("{\"a\": [{\"b\": 1}]}\n", "columns = [\"a\"]"),
              HasSubstr("array of objects"));
  EXPECT_THAT(OptionFault("{\"a\": 1}\n", "colums = [\"a\"]"), HasSubstr("columns"));
  EXPECT_THAT(OptionFault("{\"a\": [[[[[1]]]]]}\n", ""), HasSubstr("at most 4"));
}

TEST_F(JsonLinesTest, BadRecordsCanBeLeftOut) {
  SourcePtr source = OpenText("{\"a\": 1}\n{\"a\": \n{\"a\": 3}\n");
  BadRecords allowed(1);
  Block block;
  block.Reset(source->fields(), 3);
  block.set_bad_records(&allowed);
  ReadContext context(&allowed);
  source->Read(context, 0, std::vector<int64_t>{0, 1, 2}, block);
  EXPECT_EQ(allowed.count(), 1);
  EXPECT_TRUE(block.bad(1));
  EXPECT_EQ(block.as<int32_t>(0)[2], 3);
}

// Whatever the bytes are: a value or a fault within the text, never more.
TEST_F(JsonLinesTest, AnyChangeOfARecordIsReadOrRefused) {
  const std::string record =
      R"({"x":-1.5e3,"i":12,"s":"q\u00e4\ud83d\ude00","v":[1,2],"o":{"p":[{"q":null}]},"k":true})";
  Block block;
  CellType f32 = MakeCellType({.name = "x", .inferred = false}, Config());
  ColumnSpec text = {.name = "s", .inferred = false, .text = true};
  CellType string = MakeCellType(text, Config());
  ColumnSpec bytes = {.name = "v", .inferred = false, .dtype = ir::DType::kU8};
  CellType u8 = MakeCellType(bytes, Config());
  const std::vector<Field> fields = {MakeField(f32, {}), MakeField(string, {}),
                                     MakeField(u8, {kAny})};
  JsonRowParser parser;
  parser.Add("x", &f32, 0, {});
  parser.Add("s", &string, 1, {});
  parser.Add("v", &u8, 2, {kAny});
  std::mt19937_64 random(9);
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string changed = record;
    for (uint64_t i = random() % 3; i > 0; --i) {
      const size_t at = random() % changed.size();
      switch (random() % 3) {
        case 0:
          changed[at] = static_cast<char>(random());
          break;
        case 1:
          changed.erase(at, random() % 5);
          break;
        default:
          changed.insert(at, 1, "\"{}[],:\\0-.eu"[random() % 13]);
      }
      if (changed.empty()) changed = "x";
    }
    changed += '\n';
    block.Reset(fields, 1);
    RecordText record_text;
    record_text.text = changed;
    record_text.readable = changed.data() + changed.size();
    JsonRowParser::Scratch scratch;
    JsonFault fault;
    if (parser.Parse(record_text, block, scratch, fault)) {
      ++read;
      JsonValue value;
      // What the row parser takes is JSON.
      ASSERT_TRUE(ParseJson(changed, value, fault)) << changed << fault.what;
    } else {
      ASSERT_LE(fault.at, changed.size()) << changed;
      ASSERT_FALSE(fault.what.empty());
    }
  }
  EXPECT_GT(read, 6000);
}

// ---- lines ----

class LinesTest : public ::testing::Test {
 protected:
  std::vector<std::string> Lines(const std::string& text, const std::string& keys = "") {
    const std::string path = scratch_.Write("a.txt", text);
    Config table = Config::ParseToml(fmt::format("files = \"{}\"\n{}", path, keys), "run.toml");
    FieldReader reader(table, "data");
    SourcePtr source = FindSource("lines")(reader)("train");
    EXPECT_EQ(DescribeFields(source->fields()), "text text[]");
    Block block;
    block.Reset(source->fields(), source->size());
    std::vector<int64_t> records(static_cast<size_t>(source->size()));
    std::iota(records.rbegin(), records.rend(), 0);
    ReadContext context;
    source->Read(context, 0, records, block);
    std::vector<std::string> lines;
    for (int64_t row = source->size() - 1; row >= 0; --row) lines.emplace_back(block.text(0, row));
    return lines;
  }
  testing::Scratch scratch_;
};

TEST_F(LinesTest, WorkedOutByHand) {
  EXPECT_THAT(Lines("a\nb c\n"), ElementsAre("a", "b c"));
  EXPECT_THAT(Lines("\xef\xbb\xbf"
                    "a\r\nb\rc\r\n"),
              ElementsAre("a", "b\rc"));
  EXPECT_THAT(Lines("a\n\n \nb"), ElementsAre("a", "", " ", "b"));
  EXPECT_THAT(Lines("\na\n\r\n \t\nb\n\n", "skip_blank = true"), ElementsAre("a", "b"));
  EXPECT_THAT(Lines("!\xff\x80\n\"q\n"), ElementsAre("!\xff\x80", "\"q"));
  EXPECT_THAT(Lines(testing::Gzip("x\ny\n")), ElementsAre("x", "y"));
}

}  // namespace
}  // namespace flatout::data
