#include "flatout/data/formats/example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing::MessageOf;

const json& Recorded() {
  static const json& recorded = *new json([] {
    std::ifstream file(std::string(FLATOUT_SOURCE_DIR) + "/tests/recorded/tfrecords.json");
    return json::parse(file);
  }());
  return recorded;
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  std::string hex;
  for (char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

FeatureKind KindOf(const json& feature) {
  for (FeatureKind kind : {FeatureKind::kBytes, FeatureKind::kFloat, FeatureKind::kInt64}) {
    if (feature["kind"] == Name(kind)) return kind;
  }
  return FeatureKind::kNone;
}

FeatureSpec Spec(const std::string& name, FeatureKind kind, std::vector<int64_t> shape = {},
                 bool sequence = false) {
  FeatureSpec spec;
  spec.name = name;
  spec.kind = kind;
  spec.shape = std::move(shape);
  spec.sequence = sequence;
  if (kind == FeatureKind::kInt64) spec.as = ir::DType::kI64;
  return spec;
}

// Parses one record into a block of one row.
Block ParseOne(const std::string& record, std::vector<FeatureSpec> specs,
               ExampleFormat format = ExampleFormat::kExample) {
  const ExampleParser parser(format, std::move(specs));
  Block block;
  block.Reset(parser.fields(), 1);
  ExampleParser::Scratch scratch;
  parser.Parse(AsBytes(record), block, 0, scratch);
  return block;
}

// The values of field f as tests/recorded writes them.
json Values(const Block& block, size_t f) {
  json values = json::array();
  const Field& field = block.fields()[f];
  if (field.text) {
    for (std::string_view text : block.texts(f, 0)) values.push_back(ToHex(text));
    return values;
  }
  const std::span<const std::byte> bytes = block.bytes(f, 0);
  if (field.shape.dtype == ir::DType::kF32) {
    for (size_t i = 0; i < bytes.size(); i += 4) {
      uint32_t bits;
      std::memcpy(&bits, bytes.data() + i, 4);
      values.push_back(bits);
    }
  } else {
    for (size_t i = 0; i < bytes.size(); i += 8) {
      int64_t value;
      std::memcpy(&value, bytes.data() + i, 8);
      values.push_back(value);
    }
  }
  return values;
}

TEST(ExampleRecorded, ReadsWhatProtobufReads) {
  ASSERT_GT(Recorded()["examples"].size(), 50U);
  for (const json& c : Recorded()["examples"]) {
    SCOPED_TRACE(c["name"]);
    const std::string record = FromHex(c["record"]);
    std::vector<FeatureSpec> specs;
    std::vector<std::string> names;
    for (const auto& [name, feature] : c["features"].items()) {
      names.push_back(name);
      if (KindOf(feature) == FeatureKind::kNone) continue;
      specs.push_back(Spec(name, KindOf(feature), {kAny}));
    }
    const Block block = ParseOne(record, specs);
    for (size_t f = 0; f < specs.size(); ++f) {
      const json& values = c["features"][specs[f].name]["values"];
      EXPECT_EQ(Values(block, f), values) << specs[f].name;
      EXPECT_EQ(block.dims(f, 0)[0], static_cast<int64_t>(values.size()));
      // The same with the length declared.
      const auto count = static_cast<int64_t>(values.size());
      const Block fixed = ParseOne(record, {Spec(specs[f].name, specs[f].kind, {count})});
      EXPECT_EQ(Values(fixed, 0), values) << specs[f].name;
      EXPECT_THAT(MessageOf<DataError>(
                      [&] { ParseOne(record, {Spec(specs[f].name, specs[f].kind, {count + 1})}); }),
                  AllOf(HasSubstr(fmt::format("feature {}", specs[f].name)),
                        HasSubstr(fmt::format("expected {} value", count + 1)),
                        HasSubstr(fmt::format("found {}", count))));
    }
    // Inference sees the same features and types.
    ExampleInference inference;
    ASSERT_TRUE(inference.Add(AsBytes(record)));
    EXPECT_THAT(inference.Names(false), ElementsAreArray(names));
    const std::vector<FeatureSpec> inferred = inference.Specs();
    ASSERT_EQ(inferred.size(), specs.size());
    for (size_t f = 0; f < specs.size(); ++f) {
      EXPECT_EQ(inferred[f].name, specs[f].name);
      EXPECT_EQ(inferred[f].kind, specs[f].kind);
      const size_t count = c["features"][specs[f].name]["values"].size();
      EXPECT_EQ(inferred[f].shape, count == 1 ? std::vector<int64_t>{}
                                   : count == 0
                                       ? std::vector<int64_t>{kAny}
                                       : std::vector<int64_t>{static_cast<int64_t>(count)});
    }
  }
}

TEST(ExampleRecorded, WritesWhatProtobufWrites) {
  int compared = 0;
  for (const json& c : Recorded()["examples"]) {
    const std::string name = c["name"];
    if (!name.starts_with("drawn") && name != "all kinds" && name != "empty lists") continue;
    SCOPED_TRACE(name);
    std::vector<FeatureSpec> specs;
    for (const auto& [key, feature] : c["features"].items()) {
      specs.push_back(Spec(key, KindOf(feature), {kAny}));
    }
    std::string written;
    SerializeExample(ParseOne(FromHex(c["record"]), specs), 0, written);
    // An Example without features is no bytes for protobuf.
    EXPECT_EQ(ToHex(written), specs.empty() ? "0a00" : std::string(c["record"]));
    ++compared;
  }
  EXPECT_EQ(compared, 42);
}

TEST(ExampleRecorded, ReadsSequencesAsProtobufDoes) {
  for (const json& c : Recorded()["sequences"]) {
    SCOPED_TRACE(c["name"]);
    const std::string record = FromHex(c["record"]);
    for (const auto& [name, feature] : c["features"].items()) {
      const Block block =
          ParseOne(record, {Spec(name, KindOf(feature), {kAny})}, ExampleFormat::kSequenceExample);
      EXPECT_EQ(Values(block, 0), feature["values"]) << name;
    }
    for (const auto& [name, frames] : c["lists"].items()) {
      const FeatureKind kind = frames.empty() ? FeatureKind::kInt64 : KindOf(frames[0]);
      const auto values = frames.empty() ? 1 : static_cast<int64_t>(frames[0]["values"].size());
      bool even = true;
      json expected = json::array();
      for (const json& frame : frames) {
        even = even && static_cast<int64_t>(frame["values"].size()) == values;
        expected.insert(expected.end(), frame["values"].begin(), frame["values"].end());
      }
      const FeatureSpec spec =
          Spec(name, kind, values == 1 ? std::vector<int64_t>{} : std::vector{values}, true);
      if (!even) {
        EXPECT_THAT(MessageOf<DataError>(
                        [&] { ParseOne(record, {spec}, ExampleFormat::kSequenceExample); }),
                    AllOf(HasSubstr("feature " + name), HasSubstr("frame 1"),
                          HasSubstr("expected 0 values, found 1")));
        continue;
      }
      const Block block = ParseOne(record, {spec}, ExampleFormat::kSequenceExample);
      EXPECT_EQ(Values(block, 0), expected) << name;
      EXPECT_EQ(block.dims(0, 0)[0], static_cast<int64_t>(frames.size()));
      if (values > 1) {
        EXPECT_EQ(block.dims(0, 0)[1], values);
      }
    }
    // A list that is not there has no frames.
    const Block none = ParseOne(record, {Spec("absent", FeatureKind::kFloat, {3}, true)},
                                ExampleFormat::kSequenceExample);
    EXPECT_THAT(none.dims(0, 0), ElementsAre(0, 3));
  }
}

TEST(ExampleRecorded, DefaultsAndRawBytesAreThoseOfTensorFlow) {
  for (const json& c : Recorded()["parsed"]) {
    SCOPED_TRACE(c["name"]);
    const std::string record = FromHex(c["record"]);
    FeatureSpec a = Spec("a", FeatureKind::kInt64, {2});
    a.default_numbers = {7, 8};
    FeatureSpec f = Spec("f", FeatureKind::kFloat);
    f.default_numbers = {2.5};
    FeatureSpec s = Spec("s", FeatureKind::kBytes);
    s.default_text = "absent";
    const Block block = ParseOne(record, {a, f, s});
    EXPECT_EQ(Values(block, 0), c["a"]);
    EXPECT_EQ(*block.as<float>(1), c["f"]);
    EXPECT_EQ(block.text(2, 0), c["s"]);
    EXPECT_EQ(Values(ParseOne(record, {Spec("a", FeatureKind::kInt64, {kAny})}), 0),
              c["any_length"]);
    const Block pairs = ParseOne(record, {Spec("a", FeatureKind::kInt64, {kAny, 2})});
    EXPECT_THAT(pairs.dims(0, 0), ElementsAre(c["pairs"][0], c["pairs"][1]));
    if (c.contains("raw_int16")) {
      FeatureSpec raw = Spec("raw", FeatureKind::kBytes, {2});
      raw.as = ir::DType::kI16;
      const Block fixed = ParseOne(record, {raw});
      EXPECT_EQ(json({fixed.as<int16_t>(0)[0], fixed.as<int16_t>(0)[1]}), c["raw_int16"]);
      raw.shape = {kAny};
      EXPECT_THAT(ParseOne(record, {raw}).dims(0, 0), ElementsAre(2));
      raw.shape = {3};
      EXPECT_THAT(MessageOf<DataError>([&] { ParseOne(record, {raw}); }),
                  HasSubstr("expected a string of 6 bytes (i16[3]), found 4"));
    }
  }
}

// ---- messages written by hand ----

std::string Field(int number, const std::string& payload) {
  std::string size;
  size_t rest = payload.size();
  for (; rest >= 0x80; rest >>= 7) size += static_cast<char>((rest & 0x7f) | 0x80);
  size += static_cast<char>(rest);
  return std::string(1, static_cast<char>(number << 3 | 2)) + size + payload;
}
std::string Entry(const std::string& name, const std::string& feature) {
  return Field(1, Field(1, name) + Field(2, feature));
}
std::string Packed(const std::string& varints) { return Field(3, Field(1, varints)); }
std::string OneFeature(const std::string& name, const std::string& feature) {
  return Field(1, Entry(name, feature));
}

TEST(Example, IntegersBecomeTheDeclaredType) {
  const std::string record = OneFeature("a", Packed(std::string("\x05\x80\x01\x00", 4)));
  for (ir::DType type : {ir::DType::kI16, ir::DType::kI32, ir::DType::kI64, ir::DType::kU8,
                         ir::DType::kU16, ir::DType::kU32, ir::DType::kU64, ir::DType::kF32}) {
    FeatureSpec spec = Spec("a", FeatureKind::kInt64, {3});
    spec.as = type;
    const Block block = ParseOne(record, {spec});
    EXPECT_EQ(block.fields()[0].shape.dtype, type);
    std::vector<double> values;
    for (int i = 0; i < 3; ++i) {
      const std::byte* at = block.data(0) + i * ir::ByteSize(type);
      if (type == ir::DType::kF32) {
        float value;
        std::memcpy(&value, at, 4);
        values.push_back(value);
      } else {
        uint64_t value = 0;
        std::memcpy(&value, at, static_cast<size_t>(ir::ByteSize(type)));
        values.push_back(static_cast<double>(value));
      }
    }
    EXPECT_THAT(values, ElementsAre(5, 128, 0)) << Name(type);
  }
  // i32 where nothing is said.
  FeatureSpec spec = Spec("a", FeatureKind::kInt64, {3});
  spec.as.reset();
  EXPECT_EQ(spec.ToField().ToString(), "a i32[3]");
}

TEST(Example, IntegersThatDoNotFitAreErrors) {
  FeatureSpec spec = Spec("a", FeatureKind::kInt64, {kAny});
  const auto error = [&](ir::DType type, const std::string& varints) {
    spec.as = type;
    return MessageOf<DataError>([&] { ParseOne(OneFeature("a", Packed(varints)), {spec}); });
  };
  EXPECT_THAT(error(ir::DType::kI8, "\x80\x01"), HasSubstr("the value 128 does not fit i8"));
  EXPECT_THAT(error(ir::DType::kI32, "\x80\x80\x80\x80\x08"),
              AllOf(HasSubstr("2147483648"), HasSubstr("as = \"i64\"")));
  EXPECT_THAT(error(ir::DType::kU8, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
              HasSubstr("the value -1 does not fit u8"));
  EXPECT_THAT(error(ir::DType::kPred, "\x01\x02"), HasSubstr("2 does not fit pred"));
  EXPECT_THAT(error(ir::DType::kPred, "\x01\x01\x01\x01\x01\x02\x01\x01"),
              HasSubstr("2 does not fit pred"));
  EXPECT_THAT(error(ir::DType::kI8, "\x01\x01\x01\x01\x01\x02\x01\x01\xc8\x01\x01\x01\x01\x01\x01"),
              HasSubstr("the value 200 does not fit i8"));
}

TEST(Example, VarintsOfAllLengthsInAllPlaces) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int64_t> values(random() % 40);
    std::string varints;
    for (int64_t& value : values) {
      value = static_cast<int64_t>(random() >> (random() % 64));
      if (random() % 8 == 0) value = -value;
      auto rest = static_cast<uint64_t>(value);
      for (; rest >= 0x80; rest >>= 7) varints += static_cast<char>((rest & 0x7f) | 0x80);
      varints += static_cast<char>(rest);
    }
    const Block block =
        ParseOne(OneFeature("a", Packed(varints)), {Spec("a", FeatureKind::kInt64, {kAny})});
    EXPECT_EQ(Values(block, 0), json(values));
  }
}

TEST(Example, ValuesOutsideOfTheBoundAreErrors) {
  FeatureSpec spec = Spec("label", FeatureKind::kInt64);
  spec.bound = 10;
  EXPECT_EQ(spec.ToField().bound, 10);
  EXPECT_EQ(*ParseOne(OneFeature("label", Packed("\x09")), {spec}).as<int64_t>(0), 9);
  EXPECT_THAT(MessageOf<DataError>([&] { ParseOne(OneFeature("label", Packed("\x0a")), {spec}); }),
              AllOf(HasSubstr("feature label"), HasSubstr("value 10"), HasSubstr("[0, 10)")));
  EXPECT_THROW(
      ParseOne(OneFeature("label", Packed("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), {spec}),
      DataError);
}

TEST(Example, MissingAndWrongFeaturesSayWhatIsThere) {
  const std::string record = OneFeature("a", Packed("\x01"));
  EXPECT_THAT(
      MessageOf<DataError>([&] { ParseOne(record, {Spec("b", FeatureKind::kFloat, {13})}); }),
      AllOf(HasSubstr("feature b"), HasSubstr("expected b f32[13]"), HasSubstr("no such feature"),
            HasSubstr("default")));
  EXPECT_THAT(MessageOf<DataError>([&] { ParseOne(record, {Spec("a", FeatureKind::kFloat)}); }),
              AllOf(HasSubstr("feature a"), HasSubstr("expected float, found int64")));
  EXPECT_THAT(MessageOf<DataError>([&] {
                ParseOne(record, {Spec("a", FeatureKind::kInt64, {kAny, 2})});
              }),
              HasSubstr("expected a multiple of 2 values"));
  // No value at all is not a missing feature.
  EXPECT_THAT(MessageOf<DataError>([&] {
                FeatureSpec spec = Spec("a", FeatureKind::kInt64);
                spec.default_numbers = {5};
                ParseOne(OneFeature("a", Packed("")), {spec});
              }),
              HasSubstr("expected 1 value, found 0"));
}

TEST(Example, TextPointsIntoTheRecordWhereThatLives) {
  const std::string record = OneFeature("t", Field(1, Field(1, "a text")));
  const ExampleParser parser(ExampleFormat::kExample, {Spec("t", FeatureKind::kBytes)});
  Block block;
  block.Reset(parser.fields(), 2);
  ExampleParser::Scratch scratch;
  parser.Parse(AsBytes(record), block, 0, scratch, true);
  parser.Parse(AsBytes(record), block, 1, scratch, false);
  EXPECT_EQ(block.text(0, 0), "a text");
  EXPECT_EQ(block.text(0, 1), "a text");
  const char* end = record.data() + record.size();
  EXPECT_TRUE(block.text(0, 0).data() > record.data() && block.text(0, 0).data() < end);
  EXPECT_FALSE(block.text(0, 1).data() > record.data() && block.text(0, 1).data() < end);
}

TEST(Example, FeaturesInAnyOrderAndAmongOthers) {
  const ExampleParser parser(ExampleFormat::kExample,
                             {Spec("a", FeatureKind::kInt64), Spec("b", FeatureKind::kInt64),
                              Spec("long_name", FeatureKind::kInt64)});
  const std::vector<std::string> entries = {
      Entry("a", Packed("\x01")),         Entry("b", Packed("\x02")),
      Entry("long_name", Packed("\x03")), Entry("c", Packed("\x04")),
      Entry("other_one", Packed("\x05")), Entry("", Packed("\x06"))};
  Block block;
  block.Reset(parser.fields(), 1);
  ExampleParser::Scratch scratch;
  std::vector<size_t> order = {0, 1, 2, 3, 4, 5};
  do {
    std::string record;
    for (size_t i : order) record += entries[i];
    parser.Parse(AsBytes(Field(1, record)), block, 0, scratch);
    EXPECT_EQ(*block.as<int64_t>(0), 1);
    EXPECT_EQ(*block.as<int64_t>(1), 2);
    EXPECT_EQ(*block.as<int64_t>(2), 3);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Example, BrokenMessagesSayAtWhichByte) {
  const std::vector<FeatureSpec> specs = {Spec("a", FeatureKind::kInt64, {kAny}),
                                          Spec("f", FeatureKind::kFloat, {kAny})};
  const auto error = [&](const std::string& record) {
    return MessageOf<DataError>([&] { ParseOne(record, specs); });
  };
  EXPECT_THAT(error("plain text, no Example at all"), HasSubstr("not a tf.train.Example"));
  EXPECT_THAT(error("\x0a\x7f"),
              AllOf(HasSubstr("at byte 1"), HasSubstr("expected 127 bytes, found 0")));
  EXPECT_THAT(error(std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
              HasSubstr("expected 18446744073709551615 bytes"));
  EXPECT_THAT(error(std::string("\x00\x01", 2)), HasSubstr("field tag 0"));
  EXPECT_THAT(error("\x80"), HasSubstr("ends too early"));
  EXPECT_THAT(error(std::string(11, '\x80')), HasSubstr("more than 10 bytes"));
  EXPECT_THAT(error("\x0f"), HasSubstr("wire type 7"));
  EXPECT_THAT(error(OneFeature("f", Field(2, Field(1, "12345")))),
              AllOf(HasSubstr("feature f"), HasSubstr("no multiple of 4")));
  EXPECT_THAT(error(OneFeature("a", Packed("\x80"))), HasSubstr("ends too early"));
  // Groups within groups.
  EXPECT_THAT(error(std::string(100000, '\x0b')), HasSubstr("nested too deeply"));
  // Every prefix of a right message is right or an error, never anything else.
  const std::string whole =
      Field(1, Entry("a", Packed("\x01\x80\x02")) + Entry("f", Field(2, Field(1, "12345678"))));
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_THROW(ParseOne(whole.substr(0, size), specs), DataError) << size;
  }
}

TEST(Example, DamagedMessagesNeverDoHarm) {
  std::mt19937 random(3);
  const std::vector<FeatureSpec> specs = {
      Spec("a", FeatureKind::kInt64, {kAny}), Spec("f", FeatureKind::kFloat, {2}),
      Spec("t", FeatureKind::kBytes, {kAny}), Spec("s", FeatureKind::kFloat, {1000, 1000}, true)};
  const std::string whole =
      Field(1, Entry("a", Packed("\x01\x80\x02")) + Entry("f", Field(2, Field(1, "12345678"))) +
                   Entry("t", Field(1, Field(1, "text") + Field(1, "more")))) +
      Field(2, Entry("s", Field(1, "")));
  int good = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string record = whole;
    for (unsigned i = random() % 4; i > 0; --i) {
      record[random() % record.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) record.resize(random() % record.size());
    try {
      ParseOne(record, specs, ExampleFormat::kSequenceExample);
      ++good;
    } catch (const DataError&) {
    }
    ExampleInference inference;
    if (inference.Add(AsBytes(record))) {
      try {
        inference.Specs();
      } catch (const DataError&) {
      }
    }
  }
  EXPECT_LT(good, 20000);
}

TEST(Example, FramesAreNotAllocatedBeforeTheirValuesAreSeen) {
  // 100000 frames of nothing, each said to be 40 MB.
  std::string frames;
  for (int i = 0; i < 100000; ++i) frames += Field(1, "");
  EXPECT_THAT(MessageOf<DataError>([&] {
                ParseOne(Field(2, Entry("s", frames)),
                         {Spec("s", FeatureKind::kFloat, {10'000'000}, true)},
                         ExampleFormat::kSequenceExample);
              }),
              HasSubstr("frame 0"));
}

TEST(Example, SequencesOfTextAndRawBytes) {
  FeatureSpec words = Spec("w", FeatureKind::kBytes, {2}, true);
  FeatureSpec raw = Spec("r", FeatureKind::kBytes, {2, 2}, true);
  raw.as = ir::DType::kU8;
  const std::string record = Field(
      2,
      Entry("w", Field(1, Field(1, Field(1, "a") + Field(1, "b"))) +
                     Field(1, Field(1, Field(1, "c") + Field(1, "")))) +
          Entry("r", Field(1, Field(1, Field(1, "0123"))) + Field(1, Field(1, Field(1, "4567")))));
  const Block block = ParseOne(record, {words, raw}, ExampleFormat::kSequenceExample);
  EXPECT_THAT(block.dims(0, 0), ElementsAre(2, 2));
  EXPECT_THAT(block.texts(0, 0), ElementsAre("a", "b", "c", ""));
  EXPECT_THAT(block.dims(1, 0), ElementsAre(2, 2, 2));
  EXPECT_EQ(std::memcmp(block.bytes(1, 0).data(), "01234567", 8), 0);
}

// ---- inference ----

TEST(ExampleInference, SettlesShapesOverRecords) {
  ExampleInference inference;
  EXPECT_TRUE(inference.Add(
      AsBytes(Field(1, Entry("one", Packed("\x01")) + Entry("three", Packed("\x01\x02\x03")) +
                           Entry("any", Packed("\x01")) + Entry("some", Packed("\x01")) +
                           Entry("text", Field(1, Field(1, "x"))) + Entry("nothing", "")))));
  EXPECT_TRUE(inference.Add(AsBytes(Field(
      1, Entry("one", Packed("\x80\x80\x80\x80\x08")) + Entry("three", Packed("\x01\x02\x03")) +
             Entry("any", Packed("\x01\x02")) + Entry("text", Field(1, Field(1, "yy")))))));
  EXPECT_FALSE(inference.Add(AsBytes("no Example")));
  EXPECT_EQ(inference.records(), 2);
  EXPECT_FALSE(inference.sequence());
  std::vector<data::Field> fields;
  for (const FeatureSpec& spec : inference.Specs()) fields.push_back(spec.ToField());
  EXPECT_EQ(DescribeFields(fields),
            "any i32[?], one i64[], some i32[?], text text[], three i32[3]");
  inference.Add(AsBytes(OneFeature("one", Field(2, Field(1, "1234")))));
  EXPECT_THAT(MessageOf<DataError>([&] { inference.Specs(); }),
              AllOf(HasSubstr("feature one"), HasSubstr("int64"), HasSubstr("float"),
                    HasSubstr("declare")));
}

TEST(ExampleInference, KnowsSequences) {
  ExampleInference inference;
  inference.Add(
      AsBytes(OneFeature("label", Packed("\x01")) +
              Field(2, Entry("s", Field(1, Packed("\x01\x02")) + Field(1, Packed("\x03\x04"))) +
                           Entry("empty", ""))));
  EXPECT_TRUE(inference.sequence());
  std::vector<data::Field> fields;
  for (const FeatureSpec& spec : inference.Specs()) fields.push_back(spec.ToField());
  EXPECT_EQ(DescribeFields(fields), "label i32[], s i32[?,2]");
}

// ---- declarations ----

std::vector<FeatureSpec> Declared(const std::string& toml, bool sequence = false) {
  const Config config = Config::ParseToml(toml, "run.toml");
  return ReadFeatureSpecs(*config.Find("features"), sequence);
}

TEST(FeatureSpecs, AreReadFromARunFile) {
  const std::vector<FeatureSpec> specs = Declared(R"(
    [features]
    image = "bytes"
    label = "int64"
    weights = { dtype = "float", shape = [13] }
    tokens = { dtype = "int64", shape = [-1] }
    class = { dtype = "int64", default = 0, bound = 10, as = "i64" }
    pixels = { dtype = "bytes", as = "u8", shape = [28, 28, 1] }
    name = { dtype = "bytes", default = "none" }
    pair = { dtype = "float", shape = 2, default = [0.5, 1] }
  )");
  std::map<std::string, std::string> fields;
  for (const FeatureSpec& spec : specs) fields[spec.name] = spec.ToField().ToString();
  EXPECT_EQ(fields["image"], "image text[]");
  EXPECT_EQ(fields["label"], "label i32[]");
  EXPECT_EQ(fields["weights"], "weights f32[13]");
  EXPECT_EQ(fields["tokens"], "tokens i32[?]");
  EXPECT_EQ(fields["class"], "class i64[]");
  EXPECT_EQ(fields["pixels"], "pixels u8[28,28,1]");
  EXPECT_EQ(fields["pair"], "pair f32[2]");
  EXPECT_EQ(Declared("features.frames = 'float'", true)[0].ToField().ToString(), "frames f32[?]");
}

TEST(FeatureSpecs, WrongDeclarationsAreComplainedOfAtTheirPlace) {
  const auto error = [](const std::string& spec, bool sequence = false) {
    const std::string message =
        MessageOf<UserError>([&] { Declared("[features]\na = " + spec, sequence); });
    EXPECT_THAT(message, HasSubstr("run.toml:2"));
    return message;
  };
  EXPECT_THAT(error("'int32'"), HasSubstr("\"int64\""));
  EXPECT_THAT(error("3"), HasSubstr("expected the type"));
  EXPECT_THAT(error("{ shape = [2] }"), HasSubstr("dtype"));
  EXPECT_THAT(error("{ dtype = 'int64', shapes = [2] }"), HasSubstr("shape"));
  EXPECT_THAT(error("{ dtype = 'int64', shape = [-1, -1] }"), HasSubstr("only one"));
  EXPECT_THAT(error("{ dtype = 'int64', shape = [-2] }"), HasSubstr("-2"));
  EXPECT_THAT(error("{ dtype = 'int64', shape = [4000000000, 4000000000] }"),
              HasSubstr("too many"));
  EXPECT_THAT(error("{ dtype = 'int64', shape = [-1] }", true), HasSubstr("one shape"));
  EXPECT_THAT(error("{ dtype = 'int64', as = 'int' }"), HasSubstr("int"));
  EXPECT_THAT(error("{ dtype = 'int64', as = 'f64' }"), HasSubstr("as:"));
  EXPECT_THAT(error("{ dtype = 'float', as = 'i32' }"), HasSubstr("as:"));
  EXPECT_THAT(error("{ dtype = 'float', bound = 3 }"), HasSubstr("bound"));
  EXPECT_THAT(error("{ dtype = 'int64', bound = -3 }"), HasSubstr("bound"));
  EXPECT_THAT(error("{ dtype = 'int64', default = 'x' }"), HasSubstr("default"));
  EXPECT_THAT(error("{ dtype = 'bytes', default = 3 }"), HasSubstr("default"));
  EXPECT_THAT(error("{ dtype = 'int64', default = 1.5 }"), HasSubstr("1.5"));
  EXPECT_THAT(error("{ dtype = 'int64', default = 3000000000 }"), HasSubstr("does not fit i32"));
  EXPECT_THAT(error("{ dtype = 'int64', default = 10, bound = 10 }"), HasSubstr("outside"));
  EXPECT_THAT(error("{ dtype = 'int64', default = [1, 2], shape = [3] }"), HasSubstr("1 or 3"));
  EXPECT_THAT(error("{ dtype = 'int64', default = [] }"), HasSubstr("default"));
  EXPECT_THAT(error("{ dtype = 'int64', default = 1 }", true), HasSubstr("default"));
  EXPECT_THAT(error("{ dtype = 'bytes', shape = [1, 1, 1, 1, 1] }"), HasSubstr("at most 4"));
  EXPECT_THROW(ExampleParser(ExampleFormat::kExample,
                             {Spec("a", FeatureKind::kFloat), Spec("a", FeatureKind::kFloat)}),
               UserError);
}

// ---- writing ----

TEST(SerializeExample, IsReadBackByItsOwnDeclaration) {
  using ir::DType;
  const std::vector<data::Field> fields = {
      {"label", ir::Shape(DType::kI32, {}), 10},
      {"wide", ir::Shape(DType::kI64, {2})},
      {"small", ir::Shape(DType::kU8, {})},
      {"pixels", ir::Shape(DType::kU8, {2, 2, 1})},
      {"weights", ir::Shape(DType::kF32, {3})},
      {"exact", ir::Shape(DType::kF64, {2})},
      {"flag", ir::Shape(DType::kPred, {})},
      {"tokens", ir::Shape(DType::kI32, {kAny})},
      {"rows", ir::Shape(DType::kF32, {kAny, 2})},
      TextField("name"),
      TextField("words", {kAny}),
      {"picture", ir::Shape(DType::kU8, {kAny, kAny, 3})},
  };
  Block block;
  block.Reset(fields, 1);
  *block.as<int32_t>(0) = 9;
  block.as<int64_t>(1)[0] = -5;
  block.as<int64_t>(1)[1] = int64_t{1} << 60;
  *block.as<uint8_t>(2) = 200;
  for (uint8_t i = 0; i < 4; ++i) block.as<uint8_t>(3)[i] = static_cast<uint8_t>(250 + i);
  for (int i = 0; i < 3; ++i) block.as<float>(4)[i] = static_cast<float>(i) / 3;
  block.as<double>(5)[0] = 1.0 / 3;
  block.as<double>(5)[1] = -1e300;
  *block.as<bool>(6) = true;
  const std::vector<int32_t> tokens = {1, 300, 70000, -1};
  std::memcpy(block.SetCell(7, 0, std::vector<int64_t>{4}), tokens.data(), 16);
  std::memset(block.SetCell(8, 0, std::vector<int64_t>{0, 2}), 0, 0);
  block.SetText(9, 0, std::string_view("a\0b", 3));
  block.SetTexts(10, 0, std::vector<int64_t>{2}, std::vector<std::string_view>{"", "word"});
  std::memset(block.SetCell(11, 0, std::vector<int64_t>{1, 2, 3}), 7, 6);

  std::string record;
  SerializeExample(block, 0, record);
  const Config table = FeatureSpecsFor(fields);
  const Block again = ParseOne(record, ReadFeatureSpecs(table, false));
  ASSERT_EQ(again.fields().size(), fields.size());
  for (size_t f = 0; f + 1 < fields.size(); ++f) {
    EXPECT_EQ(again.fields()[f], fields[f]);
    SCOPED_TRACE(fields[f].name);
    const auto dims = block.dims(f, 0);
    EXPECT_THAT(again.dims(f, 0), ElementsAreArray(dims.begin(), dims.end()));
    if (fields[f].text && fields[f].shape.rank() > 0) {
      EXPECT_THAT(again.texts(f, 0), ElementsAreArray(block.texts(f, 0)));
    } else {
      const auto bytes = block.bytes(f, 0);
      EXPECT_THAT(again.bytes(f, 0), ElementsAreArray(bytes.begin(), bytes.end()));
    }
  }
  // Two unknown dimensions: the values in a row, the dimensions in a feature beside it.
  EXPECT_THAT(again.dims(11, 0), ElementsAre(6));
  const Block shape = ParseOne(record, {Spec("picture/shape", FeatureKind::kInt64, {3})});
  EXPECT_EQ(Values(shape, 0), json({1, 2, 3}));
  // The table survives being written into a run file.
  Config file = Config::Table();
  file.Set("features", table);
  const Config read = Config::ParseToml(file.ToToml(), "run.toml");
  EXPECT_EQ(ReadFeatureSpecs(*read.Find("features"), false).size(), fields.size());
}

}  // namespace
}  // namespace flatout::data
