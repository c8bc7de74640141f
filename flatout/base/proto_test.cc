#include "flatout/base/proto.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "flatout/base/error.h"

namespace flatout {
namespace {

using namespace std::string_literals;  // NOLINT

// The examples of the encoding's own documentation: field 1 = 150; field 2 = "testing"; field 3 = a
// message with field 1 = 150.
TEST(Proto, WritesTheBytesOfItsDocumentation) {
  ProtoWriter number;
  number.Int(1, 150);
  EXPECT_EQ(number.bytes(), "\x08\x96\x01"s);
  ProtoWriter text;
  text.Bytes(2, "testing");
  EXPECT_EQ(text.bytes(), "\x12\x07testing"s);
  ProtoWriter outer;
  outer.Message(3, number);
  EXPECT_EQ(outer.bytes(), "\x1a\x03\x08\x96\x01"s);
}

TEST(Proto, WritesNegativeNumbersAsTenBytes) {
  ProtoWriter writer;
  writer.Int(1, -2);
  EXPECT_EQ(writer.bytes(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
}

TEST(Proto, WritesNumbersOfFixedSize) {
  ProtoWriter writer;
  writer.Double(1, 1.0);
  writer.Float(2, 1.0F);
  EXPECT_EQ(writer.bytes(), "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x15\x00\x00\x80\x3f"s);
}

TEST(Proto, WritesPackedDoublesAndMapEntries) {
  ProtoWriter packed;
  packed.Doubles(6, std::array{1.0});
  EXPECT_EQ(packed.bytes(), "\x32\x08\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
  ProtoWriter value, map;
  value.Int(3, 1);
  map.Entry(5, "k", value);
  EXPECT_EQ(map.bytes(), "\x2a\x07\x0a\x01k\x12\x02\x18\x01"s);
}

TEST(Proto, ReadsWhatItWrote) {
  ProtoWriter inner, writer;
  inner.Bytes(1, "text");
  writer.Int(1, std::numeric_limits<int64_t>::min());
  writer.Double(2, -0.5);
  writer.Float(3, 2.5F);
  writer.Message(4, inner);
  writer.Bool(1000, true);
  ProtoReader reader(writer.bytes());
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 1);
  EXPECT_EQ(reader.Int(), std::numeric_limits<int64_t>::min());
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.Double(), -0.5);
  EXPECT_EQ(reader.Int(), 0) << "a double read as an integer";
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.Float(), 2.5F);
  ASSERT_TRUE(reader.Next());
  ProtoReader in(reader.Bytes());
  ASSERT_TRUE(in.Next());
  EXPECT_EQ(in.Bytes(), "text");
  EXPECT_FALSE(in.Next());
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 1000);
  EXPECT_TRUE(reader.Bool());
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.position(), writer.bytes().size());
}

TEST(Proto, RefusesWhatIsNoMessage) {
  for (const std::string& bytes :
       {"\x08"s, "\x08\xff"s, "\x12\x05"s + "abc", "\x09\x00"s, "\x15\x00\x00"s, "\x00"s, "\x0b"s,
        "\x0e"s, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s}) {
    ProtoReader reader(bytes);
    EXPECT_THROW(
        {
          while (reader.Next()) {
          }
        },
        DataError)
        << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace flatout
