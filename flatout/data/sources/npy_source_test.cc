// The sources "numpy" and "safetensors".
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "flatout/data/formats/npy_testing.h"
#include "flatout/data/source_testing.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::BigEndian;
using testing::BytesOf;
using testing::ColumnOf;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Npy;
using testing::OpenKind;
using testing::ReadAll;
using testing::ReadRecords;
using testing::RowOf;
using testing::Scratch;
using testing::Zip;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

std::string Quoted(const std::string& path) { return "'" + path + "'"; }

class NumpySourceTest : public ::testing::Test {
 protected:
  std::string Refused(const std::string& toml, const std::string& kind = "numpy") {
    return MessageOf<DataError>([&] { OpenKind(kind, toml); });
  }
  Scratch scratch_;
};

TEST_F(NumpySourceTest, ReadsArraysSideBySide) {
  const std::string x =
      scratch_.Write("x.npy", Npy("<f4", "(3, 2)", BytesOf(Floats{1, 2, 3, 4, 5, 6})));
  const std::string y =
      scratch_.Write("y.npy", Npy("<i8", "(3,)", BytesOf(std::vector<int64_t>{7, -8, 9})));
  SourcePtr source = OpenKind("numpy", "fields = { x = " + Quoted(x) + ", y = " + Quoted(y) + " }");
  EXPECT_EQ(source->description(), "numpy train: 3 records, x f32[2], y i32[]");
  const Block block = ReadRecords(*source, {2, 0, 0});
  EXPECT_THAT(ColumnOf<float>(block, 0), ElementsAre(5, 6, 1, 2, 1, 2));
  EXPECT_THAT(ColumnOf<int32_t>(block, 1), ElementsAre(9, 7, 7));
  EXPECT_EQ(OpenKind("numpy", "fields = { x = " + Quoted(x) + " }", "validation"), nullptr);
  EXPECT_EQ(OpenKind("numpy", "fields = { x = " + Quoted(x) + " }", "test"), nullptr);
}

TEST_F(NumpySourceTest, TurnsByteOrderAndLayoutRound) {
  const std::string big =
      scratch_.Write("big.npy", Npy(">f8", "(2, 2)", BigEndian(std::vector<double>{1, 2, 3, 4})));
  const std::string big16 =
      scratch_.Write("big16.npy", Npy(">i2", "(2,)", BigEndian(std::vector<int16_t>{-2, 300})));
  // Column by column: element (i, j, k) has the value 100 i + 10 j + k.
  Ints columns;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) columns.push_back(100 * i + 10 * j + k);
    }
  }
  const std::string fortran =
      scratch_.Write("fortran.npy", Npy("<i4", "(2, 3, 4)", BytesOf(columns), true));
  SourcePtr source =
      OpenKind("numpy", "fields = { big = " + Quoted(big) + ", big16 = " + Quoted(big16) +
                            ", fortran = " + Quoted(fortran) + " }");
  const Block block = ReadAll(*source);
  EXPECT_THAT(ColumnOf<float>(block, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ColumnOf<int16_t>(block, 1), ElementsAre(-2, 300));
  EXPECT_THAT(RowOf<int32_t>(block, 2, 1),
              ElementsAre(100, 101, 102, 103, 110, 111, 112, 113, 120, 121, 122, 123));
}

TEST_F(NumpySourceTest, ConvertsAsAsked) {
  const std::string x =
      scratch_.Write("x.npy", Npy("<f8", "(2,)", BytesOf(std::vector<double>{0.1, 255})));
  auto open = [&](const std::string& dtype) {
    return OpenKind("numpy",
                    "fields = { x = " + Quoted(x) + " }\ndtypes = { x = '" + dtype + "' }");
  };
  EXPECT_EQ(open("keep")->fields()[0].shape.dtype, ir::DType::kF64);
  EXPECT_THAT(ColumnOf<double>(ReadAll(*open("keep")), 0), ElementsAre(0.1, 255));
  EXPECT_THAT(ColumnOf<float>(ReadAll(*open("f32")), 0), ElementsAre(0.1f, 255));
  EXPECT_THAT(ColumnOf<uint8_t>(ReadAll(*open("uint8")), 0), ElementsAre(0, 255));
  EXPECT_THAT(MessageOf<DataError>([&] { open("i8"); }),
              AllOf(HasSubstr("x.npy: record 1: field x has the value 255"),
                    HasSubstr("does not fit i8 (-128 to 127)"), HasSubstr("\"keep\"")));
  EXPECT_THAT(MessageOf<UserError>([&] { open("f31"); }), HasSubstr("run.toml:2:"));
}

TEST_F(NumpySourceTest, ChecksRanges) {
  const std::string y =
      scratch_.Write("y.npy", Npy("<i8", "(3,)", BytesOf(std::vector<int64_t>{0, 9, 1ll << 33})));
  EXPECT_THAT(Refused("fields = { y = " + Quoted(y) + " }"),
              AllOf(HasSubstr("record 2: field y has the value 8589934592"),
                    HasSubstr("does not fit i32 (-2147483648 to 2147483647)")));
  const std::string z = scratch_.Write("z.npy", Npy("|u1", "(3,)", "\1\2\3"));
  SourcePtr source = OpenKind("numpy", "fields = { z = " + Quoted(z) + " }\nbound = { z = 4 }");
  EXPECT_EQ(source->fields()[0].bound, 4);
  EXPECT_THAT(Refused("fields = { z = " + Quoted(z) + " }\nbound = { z = 3 }"),
              AllOf(HasSubstr("record 2: field z has the value 3"), HasSubstr("expected 0 to 2")));
  EXPECT_THAT(MessageOf<UserError>([&] {
                OpenKind("numpy", "fields = { z = " + Quoted(z) + " }\nbound = { zz = 3 }");
              }),
              HasSubstr("there is no field \"zz\""));
}

TEST_F(NumpySourceTest, ReadsArchives) {
  const std::string x = Npy("<f4", "(4, 1)", BytesOf(Floats{1, 2, 3, 4}));
  const std::string y = Npy("|b1", "(4,)", std::string("\0\1\2\0", 4));
  for (bool deflated : {false, true}) {
    const std::string path = scratch_.Write(
        "a.npz", Zip({{"x.npy", x, deflated}, {"y.npy", y, deflated}, {"t.npy", x, deflated}}));
    const std::string file = "file = " + Quoted(path) + "\n";
    SourcePtr source = OpenKind("numpy", file + "fields = { image = 'x', flag = 'y' }");
    const Block block = ReadAll(*source);
    EXPECT_THAT(ColumnOf<float>(block, 0), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(ColumnOf<uint8_t>(block, 1), ElementsAre(0, 1, 1, 0));
    EXPECT_EQ(DescribeFields(OpenKind("numpy", file)->fields()), "x f32[1], y pred[], t f32[1]");
    EXPECT_EQ(
        OpenKind("numpy", file + "fields = { image = 'x' }\ntest_fields = { image = 't' }", "test")
            ->size(),
        4);
    EXPECT_THAT(Refused(file + "fields = { image = 'z' }"),
                AllOf(HasSubstr("no array \"z\""), HasSubstr("\"x\", \"y\", \"t\"")));
  }
}

TEST_F(NumpySourceTest, ReadsWhatNumPyPacks) {
  // numpy.savez_compressed(x=[[1.5, 2], [3, -4]] of float32, y=[7, 300] of int64), NumPy 2.4.6.
  const std::string hex =
      "504b03042d0000000800000021009f8f21d9ffffffffffffffff05001400782e6e7079010010009000000000"
      "00000053000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f5452"
      "9498179f5f94920a12774bcc294e058a17672416a402f91a463a0a469a3a0ab50a64032e068603f60c0c0c0e"
      "4004c40d0700504b03042d00000008000000210038ee06f0ffffffffffffffff05001400792e6e7079010010"
      "0090000000000000004b000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3"
      "a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e760608d0"
      "6184d000504b01022d032d0000000800000021009f8f21d95300000090000000050000000000000000000000"
      "800100000000782e6e7079504b01022d032d00000008000000210038ee06f04b000000900000000500000000"
      "0000000000000080018a000000792e6e7079504b05060000000002000200660000000c0100000000";
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  const std::string path = scratch_.Write("numpy.npz", bytes);
  const Block block = ReadAll(*OpenKind("numpy", "file = " + Quoted(path)));
  EXPECT_THAT(ColumnOf<float>(block, 0), ElementsAre(1.5, 2, 3, -4));
  EXPECT_THAT(ColumnOf<int32_t>(block, 1), ElementsAre(7, 300));
}

TEST_F(NumpySourceTest, JoinsSeveralFiles) {
  scratch_.Write("x-0.npy", Npy("<i4", "(2, 2)", BytesOf(Ints{1, 2, 3, 4})));
  scratch_.Write("x-1.npy.gz", Gzip(Npy("<i4", "(1, 2)", BytesOf(Ints{5, 6}))));
  SourcePtr source = OpenKind("numpy", "fields = { x = " + Quoted(scratch_ / "x-*") + " }");
  EXPECT_EQ(source->size(), 3);
  EXPECT_THAT(ColumnOf<int32_t>(ReadRecords(*source, {2, 1, 2, 0}), 0),
              ElementsAre(5, 6, 3, 4, 5, 6, 1, 2));
  scratch_.Write("x-2.npy", Npy("<i4", "(1, 3)", BytesOf(Ints{5, 6, 7})));
  EXPECT_THAT(Refused("fields = { x = " + Quoted(scratch_ / "x-*") + " }"),
              AllOf(HasSubstr("[2] in "), HasSubstr("[3] in "), HasSubstr("x-2.npy")));
}

TEST_F(NumpySourceTest, ReadsLargeArraysInPlace) {
  // 320 MB, of which only the ends take room on the disk.
  constexpr int64_t kRecords = 20'000'000;
  const std::string header = Npy(">f8", "(20000000, 2)", "");
  const std::string path = scratch_.Write("x.npy", header);
  std::filesystem::resize_file(path, header.size() + kRecords * 16);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(header.size() + (kRecords - 2) * 16));
  file << BigEndian(std::vector<double>{1, 2, 300, 4});
  file.close();
  const std::string fields = "fields = { x = " + Quoted(path) + " }\n";
  SourcePtr source = OpenKind("numpy", fields);
  EXPECT_EQ(source->size(), kRecords);
  EXPECT_THAT(
      ColumnOf<float>(ReadRecords(*source, {kRecords - 2, kRecords - 1, 0, kRecords - 1}), 0),
      ElementsAre(1, 2, 300, 4, 0, 0, 300, 4));
  // What does not fit is a bad record; the others of its run are read.
  SourcePtr bytes = OpenKind("numpy", fields + "dtypes = { x = 'u8' }\nbound = { x = 4 }");
  BadRecords bad(5);
  const Block block = ReadRecords(*bytes, {kRecords - 3, kRecords - 2, kRecords - 1}, &bad);
  EXPECT_THAT(ColumnOf<uint8_t>(block, 0), ElementsAre(0, 0, 1, 2, 0, 0));
  EXPECT_TRUE(block.bad(2));
  EXPECT_FALSE(block.bad(1));
  EXPECT_THAT(bad.messages(), ElementsAre(HasSubstr("record 19999999: field x has the value 300")));
}

TEST_F(NumpySourceTest, ManyFilesAreAsLargeAsTheyAreTogether) {
  constexpr int64_t kRecords = 40'000'000;
  const std::string header = Npy("<i4", "(40000000,)", "");
  for (int32_t part = 0; part < 2; ++part) {
    const std::string path = scratch_.Write("x-" + std::to_string(part) + ".npy", header);
    std::filesystem::resize_file(path, header.size() + (kRecords - 1) * 4);
    std::ofstream(path, std::ios::app | std::ios::binary) << BytesOf(Ints{part + 7});
  }
  SourcePtr source = OpenKind("numpy", "fields = { x = " + Quoted(scratch_ / "x-*") + " }");
  EXPECT_THAT(
      ColumnOf<int32_t>(ReadRecords(*source, {2 * kRecords - 1, kRecords - 1, kRecords, 0}), 0),
      ElementsAre(8, 7, 0, 0));
}

TEST_F(NumpySourceTest, SplitsAndLimits) {
  const std::string x =
      scratch_.Write("x.npy", Npy("<i4", "(10,)", BytesOf(Ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})));
  const std::string keys = "fields = { x = " + Quoted(x) + " }\nvalidation_split = 0.3\nlimit = 5";
  EXPECT_THAT(ColumnOf<int32_t>(ReadAll(*OpenKind("numpy", keys)), 0), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(ColumnOf<int32_t>(ReadAll(*OpenKind("numpy", keys, "validation")), 0),
              ElementsAre(7, 8, 9));
  EXPECT_THAT(Refused("fields = { x = " + Quoted(x) + " }\nvalidation_split = 10"),
              HasSubstr("takes 10 of the 10 training records"));
  EXPECT_THAT(MessageOf<UserError>(
                  [&] { OpenKind("numpy", "fields = { x = 'x' }\nvalidation_split = 1.5"); }),
              HasSubstr("run.toml:2:1: validation_split"));
}

TEST_F(NumpySourceTest, RefusesWrongFiles) {
  const std::string good = Npy("<i4", "(3, 2)", BytesOf(Ints{1, 2, 3, 4, 5, 6}));
  auto refused = [&](const std::string& content) {
    return Refused("fields = { x = " + Quoted(scratch_.Write("x.npy", content)) + " }");
  };
  EXPECT_THAT(refused(good.substr(0, good.size() - 6)),
              AllOf(HasSubstr("x.npy: the file is short: its header says i32[3,2] (152 bytes in "
                              "all), found 146 bytes, which end in record 2")));
  EXPECT_THAT(refused(good + "x"), HasSubstr("trailing bytes"));
  EXPECT_THAT(refused(""), HasSubstr("x.npy"));
  EXPECT_THAT(refused("PK\5\6"), HasSubstr("short"));
  EXPECT_THAT(refused(Npy("<i4", "(1000000000, 1000)", "abcd")), HasSubstr("the file is short"));
  const std::string x = scratch_.Write("x.npy", good);
  const std::string y = scratch_.Write("y.npy", Npy("<i4", "(2,)", BytesOf(Ints{1, 2})));
  EXPECT_THAT(Refused("fields = { x = " + Quoted(x) + ", y = " + Quoted(y) + " }"),
              AllOf(HasSubstr("field x has 3 records"), HasSubstr("field y has 2")));
  EXPECT_THAT(Refused("fields = { x = " + Quoted(scratch_ / "xx.npy") + " }"),
              HasSubstr("no such file"));
  EXPECT_THAT(Refused("file = " + Quoted(x) + "\nfields = { x = 'a' }"),
              HasSubstr("the file is one npy array without a name"));
  EXPECT_THAT(MessageOf<UserError>([] { OpenKind("numpy", ""); }), HasSubstr("needs fields"));
  EXPECT_THAT(MessageOf<UserError>([] { OpenKind("numpy", "fields = 3"); }),
              HasSubstr("expected a table of field names and arrays"));
}

// ---- safetensors ----

std::string Safetensors(const std::string& json, const std::string& data) {
  return testing::Little(static_cast<uint64_t>(json.size())) + json + data;
}

TEST_F(NumpySourceTest, ReadsSafetensors) {
  const std::string data = BytesOf(Floats{1, 2, 3, 4}) + BytesOf(std::vector<int64_t>{5, 6});
  const std::string path = scratch_.Write(
      "a.safetensors", Safetensors(R"({"__metadata__":{"a":"b"},)"
                                   R"("y":{"dtype":"I64","shape":[2],"data_offsets":[16,32]},)"
                                   R"("x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})",
                                   data));
  SourcePtr source =
      OpenKind("safetensors", "file = " + Quoted(path) + "\nfields = { image = 'x', label = 'y' }");
  const Block block = ReadAll(*source);
  EXPECT_THAT(ColumnOf<float>(block, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ColumnOf<int32_t>(block, 1), ElementsAre(5, 6));
  EXPECT_EQ(DescribeFields(OpenKind("safetensors", "file = " + Quoted(path))->fields()),
            "x f32[2], y i32[]");
  EXPECT_THAT(Refused("file = " + Quoted(path) + "\nfields = { x = 'xx' }", "safetensors"),
              HasSubstr("there is no tensor \"xx\""));
}

TEST_F(NumpySourceTest, RefusesWrongSafetensors) {
  auto refused = [&](const std::string& content) {
    return Refused("file = " + Quoted(scratch_.Write("a.safetensors", content)), "safetensors");
  };
  auto one = [](const std::string& rest) { return "{\"x\":{" + rest + "}}"; };
  const std::string x = one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])");
  EXPECT_THAT(refused("abc"), HasSubstr("the file is short"));
  EXPECT_THAT(refused(std::string(8, '\x7f') + "{}"), HasSubstr("expected 2 to 104857600"));
  EXPECT_THAT(refused(Safetensors(x, "12345678").substr(0, 30)), HasSubstr("it is cut"));
  EXPECT_THAT(refused(Safetensors(x, "1234567")), HasSubstr("it is cut"));
  EXPECT_THAT(refused(Safetensors(x, "123456789")), HasSubstr("the tensors end at byte"));
  EXPECT_THAT(refused(Safetensors("{\"x\":", "")), HasSubstr("no JSON"));
  EXPECT_THAT(refused(Safetensors(std::string(100000, '['), "")), HasSubstr("no JSON"));
  EXPECT_THAT(refused(Safetensors("[1,2]", "")), HasSubstr("expected a JSON object"));
  EXPECT_THAT(
      refused(Safetensors(one(R"("dtype":"F4","shape":[2],"data_offsets":[0,8])"), "12345678")),
      AllOf(HasSubstr("tensor \"x\""), HasSubstr("dtype is \"F4\"")));
  EXPECT_THAT(
      refused(Safetensors(one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), "12345678")),
      HasSubstr("does not take the 8 bytes"));
  EXPECT_THAT(
      refused(Safetensors(one(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), "12345678")),
      HasSubstr("expected integers from 0 on"));
  EXPECT_THAT(
      refused(Safetensors(
          one(R"("dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,8])"),
          "12345678")),
      HasSubstr("does not take"));
  EXPECT_THAT(refused(Safetensors(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                                  R"("y":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                                  "123456")),
              HasSubstr("without gaps or overlap"));
  EXPECT_THAT(
      refused(Safetensors(R"({"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", "1234")),
      HasSubstr("single number"));
}

}  // namespace
}  // namespace flatout::data
