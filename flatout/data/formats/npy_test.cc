#include "flatout/data/formats/npy.h"

#include <gmock/gmock.h>

#include <random>

#include "flatout/base/error.h"
#include "flatout/data/formats/npy_testing.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::BytesOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Npy;
using testing::Zip;

NpyHeader Parse(const std::string& file) {
  return ParseNpyHeader("x.npy", std::as_bytes(std::span(file)));
}
std::string Refused(const std::string& file) {
  return MessageOf<DataError>([&] { Parse(file); });
}
std::string RefusedLiteral(const std::string& literal) { return Refused(Npy(literal, "")); }

TEST(NpyHeaderTest, ReadsWhatNumPyWrites) {
  const NpyHeader header = Parse(Npy("<f4", "(60000, 28, 28)", ""));
  EXPECT_EQ(header.shape, ir::Shape(ir::DType::kF32, {60000, 28, 28}));
  EXPECT_EQ(header.size, 128);
  EXPECT_FALSE(header.swap);
  EXPECT_FALSE(header.fortran);
}

TEST(NpyHeaderTest, KnowsEveryNumberType) {
  using ir::DType;
  const std::pair<const char*, DType> cases[] = {
      {"|b1", DType::kPred}, {"|i1", DType::kI8},  {"<i2", DType::kI16}, {"<i4", DType::kI32},
      {"<i8", DType::kI64},  {"|u1", DType::kU8},  {"<u2", DType::kU16}, {"<u4", DType::kU32},
      {"<u8", DType::kU64},  {"<f2", DType::kF16}, {"=f4", DType::kF32}, {"f8", DType::kF64}};
  for (const auto& [descr, dtype] : cases) {
    EXPECT_EQ(Parse(Npy(descr, "(3,)", "")).shape.dtype, dtype) << descr;
  }
}

TEST(NpyHeaderTest, TellsByteOrderAndLayout) {
  EXPECT_TRUE(Parse(Npy(">i4", "(3, 2)", "")).swap);
  EXPECT_FALSE(Parse(Npy(">u1", "(3, 2)", "")).swap);
  EXPECT_TRUE(Parse(Npy("<i4", "(3, 2)", "", true)).fortran);
  EXPECT_FALSE(Parse(Npy("<i4", "(3,)", "", true)).fortran);
}

TEST(NpyHeaderTest, TakesOtherSpellings) {
  for (int version : {1, 2, 3}) {
    const NpyHeader header = Parse(
        Npy("{\"shape\": (10L, 2L),\"descr\":\"<f8\" , 'fortran_order' :False}", "", version));
    EXPECT_EQ(header.shape, ir::Shape(ir::DType::kF64, {10, 2})) << version;
  }
}

TEST(NpyHeaderTest, RefusesWhatIsNoNumber) {
  EXPECT_THAT(Refused(Npy("|O", "(3,)", "")), HasSubstr("Python objects"));
  EXPECT_THAT(Refused(Npy("<U5", "(3,)", "")),
              AllOf(HasSubstr("x.npy: the elements are strings (descr '<U5')"), HasSubstr("csv")));
  EXPECT_THAT(Refused(Npy("<c8", "(3,)", "")), HasSubstr("complex"));
  EXPECT_THAT(Refused(Npy("<f16", "(3,)", "")), HasSubstr("astype(numpy.float32)"));
  EXPECT_THAT(Refused(Npy("<M8[ns]", "(3,)", "")), HasSubstr("dates"));
  EXPECT_THAT(Refused(Npy("<V2", "(3,)", "")), HasSubstr("bfloat16"));
  EXPECT_THAT(RefusedLiteral("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}"),
              AllOf(HasSubstr("structured"), HasSubstr("'a'")));
}

TEST(NpyHeaderTest, RefusesShapesThatCountNoRecords) {
  EXPECT_THAT(Refused(Npy("<f4", "()", "")), HasSubstr("single number"));
  EXPECT_THAT(Refused(Npy("<f4", "(0, 3)", "")), HasSubstr("holds no records"));
  EXPECT_THAT(Refused(Npy("<f4", "(3, 0)", "")), HasSubstr("hold no values"));
  EXPECT_THAT(Refused(Npy("<f4", "(4611686018427387904, 8)", "")), HasSubstr("any file can hold"));
  EXPECT_THAT(Refused(Npy("<f4", "(99999999999999999999,)", "")), HasSubstr("below 2^63"));
  std::string many = "(";
  for (int i = 0; i < 40; ++i) many += "1, ";
  EXPECT_THAT(Refused(Npy("<f4", many + ")", "")), HasSubstr("at most 32 dimensions"));
}

TEST(NpyHeaderTest, RefusesDamagedHeaders) {
  const std::string good = Npy("<f4", "(3,)", "");
  EXPECT_THAT(Refused("\x93NUM"), HasSubstr("file is short"));
  EXPECT_THAT(Refused("PK\3\4aaaaaaaaaaaaa"), HasSubstr("expected at byte 0 the magic"));
  EXPECT_THAT(Refused(good.substr(0, 60)), HasSubstr("header of 128 bytes, found 60"));
  std::string version = good;
  version[6] = 9;
  EXPECT_THAT(Refused(version), HasSubstr("version of 1, 2 or 3, found 9"));
  std::string huge = Npy("{}", "", 2);
  huge[11] = 0x7f;
  EXPECT_THAT(Refused(huge), HasSubstr("expected at most 1048576"));
  EXPECT_THAT(RefusedLiteral("{'descr': '<f4', 'shape': (3,)}"),
              HasSubstr("lacks 'fortran_order'"));
  EXPECT_THAT(RefusedLiteral("{'descr': '<f4', 'descr': '<f4'}"), HasSubstr("the key 'descr'"));
  EXPECT_THAT(RefusedLiteral("{'descr': '<f4"), HasSubstr("a string that ends"));
  EXPECT_THAT(RefusedLiteral("{'descr': '<f4', 'shape': (3 4)}"), HasSubstr("',' or ')'"));
  EXPECT_THAT(RefusedLiteral("{'fortran_order': 0}"), HasSubstr("True or False"));
  EXPECT_THAT(RefusedLiteral("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x"),
              HasSubstr("nothing after the dict"));
}

TEST(NpyHeaderTest, EveryCutAndFlippedByteIsAnErrorOrAHeader) {
  const std::string good = Npy("<f4", "(3, 4)", "");
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(Refused(good.substr(0, size)), "") << size;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string file = good;
    file[random() % file.size()] = static_cast<char>(random());
    file[random() % file.size()] = static_cast<char>(random());
    try {
      EXPECT_GT(Parse(file).shape.size(), 0);
    } catch (const DataError&) {
    }
  }
}

// ---- zip ----

ReadBytes Reader(const std::string& file) {
  return [&file](int64_t offset, int64_t count, std::vector<std::byte>&) {
    if (offset < 0 || count < 0 || offset + count > static_cast<int64_t>(file.size())) {
      throw Internal("read of {} bytes at {} of {}", count, offset, file.size());
    }
    return std::as_bytes(std::span(file))
        .subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
  };
}
std::vector<ZipMember> Directory(const std::string& file) {
  return ReadZipDirectory("x.npz", static_cast<int64_t>(file.size()), Reader(file));
}
std::string Unpack(const std::string& file, const ZipMember& member) {
  auto content = UnpackZipMember("x.npz", static_cast<int64_t>(file.size()), Reader(file), member);
  return {reinterpret_cast<const char*>(content.get()), static_cast<size_t>(member.size)};
}
std::string Refused(const std::string& file, const ZipMember& member) {
  return MessageOf<DataError>([&] { Unpack(file, member); });
}

const std::string kContent(3000, 'a');

TEST(ZipTest, ReadsMembersOfEveryKind) {
  for (bool deflated : {false, true}) {
    for (bool zip64 : {false, true}) {
      for (bool descriptor : {false, true}) {
        const std::string file = Zip({{"first.npy", kContent, deflated, zip64, descriptor},
                                      {"second.npy", "short", deflated, zip64, descriptor},
                                      {"empty", "", deflated, zip64, descriptor}},
                                     "a comment");
        const std::vector<ZipMember> members = Directory(file);
        ASSERT_EQ(members.size(), 3u);
        EXPECT_EQ(members[1].name, "second.npy");
        EXPECT_EQ(Unpack(file, members[0]), kContent);
        EXPECT_EQ(Unpack(file, members[1]), "short");
        EXPECT_EQ(Unpack(file, members[2]), "");
      }
    }
  }
}

TEST(ZipTest, ReadsZip64Directories) {
  std::string file = Zip({{"x", kContent, true, true, false}});
  // The end record says all ones; a zip64 end record and its locator stand before it.
  const size_t end = file.size() - 22;
  uint32_t length = 0, offset = 0;
  std::memcpy(&length, file.data() + end + 12, 4);
  std::memcpy(&offset, file.data() + end + 16, 4);
  using testing::Little;
  const std::string end64 = "PK\6\6" + Little(uint64_t{44}) + Little(uint32_t{0x002d002d}) +
                            Little(uint32_t{0}) + Little(uint32_t{0}) + Little(uint64_t{1}) +
                            Little(uint64_t{1}) + Little(uint64_t{length}) +
                            Little(uint64_t{offset});
  const std::string locator =
      "PK\6\7" + Little(uint32_t{0}) + Little(static_cast<uint64_t>(end)) + Little(uint32_t{1});
  std::string ones = file.substr(end);
  for (size_t i = 8; i < 20; ++i) ones[i] = static_cast<char>(0xff);
  const std::string whole = file.substr(0, end) + end64 + locator + ones;
  const std::vector<ZipMember> members = Directory(whole);
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(Unpack(whole, members[0]), kContent);
}

TEST(ZipTest, RefusesDamage) {
  const std::string file = Zip({{"x.npy", kContent, true}});
  EXPECT_THAT(MessageOf<DataError>([&] { Directory("PK"); }), HasSubstr("file is short"));
  EXPECT_THAT(MessageOf<DataError>([&] { Directory(file.substr(0, file.size() - 5)); }),
              HasSubstr("directory, which stands at its end, is missing"));
  const std::vector<ZipMember> members = Directory(file);
  std::string flipped = file;
  flipped[40] = static_cast<char>(flipped[40] ^ 0x10);
  EXPECT_THAT(Refused(flipped, members[0]), HasSubstr("x.npz: "));
  std::string stored = Zip({{"x.npy", kContent}});
  stored[50] = 'b';
  EXPECT_THAT(Refused(stored, Directory(stored)[0]),
              AllOf(HasSubstr("member x.npy (from byte 35) has the checksum"),
                    HasSubstr("content is damaged")));
  ZipMember longer = members[0];
  longer.size -= 1;
  EXPECT_THAT(Refused(file, longer), HasSubstr("unpacks to more than the 2999"));
  ZipMember shorter = members[0];
  shorter.size += 1;
  EXPECT_THAT(Refused(file, shorter),
              HasSubstr("unpacks to 3000 bytes, but the directory says 3001"));
  ZipMember cut = members[0];
  cut.packed -= 3;
  EXPECT_THAT(Refused(file, cut), HasSubstr("ends early"));
  ZipMember beyond = members[0];
  beyond.packed += 10000;
  EXPECT_THAT(Refused(file, beyond), HasSubstr("it is cut"));
}

TEST(ZipTest, RefusesSizesThatCannotBe) {
  const std::string file = Zip({{"x.npy", kContent, true}});
  const size_t entry = file.find("PK\1\2");
  std::string size = file;
  for (size_t i = 24; i < 28; ++i) size[entry + i] = 0x7f;
  EXPECT_THAT(MessageOf<DataError>([&] { Directory(size); }), HasSubstr("member's size is"));
  std::string method = file;
  method[entry + 10] = 12;
  EXPECT_THAT(MessageOf<DataError>([&] { Directory(method); }), HasSubstr("zip method 12"));
  std::string encrypted = file;
  encrypted[entry + 8] = 1;
  EXPECT_THAT(MessageOf<DataError>([&] { Directory(encrypted); }), HasSubstr("encrypted"));
}

TEST(ZipTest, EveryFlippedByteIsAnErrorOrRead) {
  const std::string good = Zip({{"x.npy", kContent, true, true}, {"y.npy", "short"}}, "c");
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    std::string file = good;
    file[random() % file.size()] = static_cast<char>(random());
    file[random() % file.size()] = static_cast<char>(random());
    try {
      for (const ZipMember& member : Directory(file)) Unpack(file, member);
    } catch (const DataError&) {
    }
  }
}

}  // namespace
}  // namespace flatout::data
