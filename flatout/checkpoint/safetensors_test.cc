#include "flatout/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "flatout/base/error.h"
#include "flatout/base/file.h"

namespace flatout::checkpoint {
namespace {

using ir::DType;
using ir::Shape;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Safetensors : public ::testing::Test {
 protected:
  Safetensors() {
    std::string name =
        (std::filesystem::temp_directory_path() / "flatout-safetensors-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Internal("mkdtemp failed");
    folder_ = name;
  }
  ~Safetensors() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name = "t.safetensors") const {
    return (folder_ / name).string();
  }
  // A file of this header and data.
  std::string Write(const std::string& header, const std::string& data) const {
    std::string content(8, '\0');
    const uint64_t length = header.size();
    std::memcpy(content.data(), &length, 8);
    return WriteRaw(content + header + data);
  }
  std::string WriteRaw(const std::string& content) const {
    std::ofstream(Path(), std::ios::binary) << content;
    return Path();
  }
  // What loading says; a failed test unless it is a DataError.
  static std::string MessageOf(const std::string& path) {
    try {
      LoadSafetensors(path);
    } catch (const DataError& error) {
      EXPECT_EQ(error.exit_code(), kExitBadData);
      EXPECT_THAT(error.what(), HasSubstr(path));
      return error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "another kind of error: " << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error was thrown";
    return "";
  }

  std::filesystem::path folder_;
};

HostTensor Counting(const std::string& name, const Shape& shape) {
  HostTensor tensor{name, shape, std::vector<std::byte>(shape.bytes())};
  for (size_t i = 0; i < tensor.bytes.size(); ++i) {
    tensor.bytes[i] = static_cast<std::byte>(i * 7 + name.size());
  }
  return tensor;
}

TEST_F(Safetensors, EveryDTypeComesBack) {
  TensorFile file;
  for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
    const auto dtype = static_cast<DType>(i);
    file.tensors.push_back(
        Counting("tensor/" + std::string(ir::Name(dtype)), Shape(dtype, {2, 3})));
  }
  file.tensors.push_back(Counting("scalar", Shape::Scalar(DType::kF32)));
  file.tensors.push_back(Counting("empty", Shape(DType::kF32, {3, 0, 2})));
  file.tensors.push_back(Counting("a \"quoted\" näme", Shape(DType::kU8, {1})));
  file.metadata = {{"step", "12"}, {"format", "flatout"}};
  SaveSafetensors(Path(), file);
  const TensorFile loaded = LoadSafetensors(Path());
  EXPECT_EQ(loaded.metadata, file.metadata);
  ASSERT_EQ(loaded.tensors.size(), file.tensors.size());
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    EXPECT_EQ(loaded.tensors[i].name, file.tensors[i].name);
    EXPECT_EQ(loaded.tensors[i].shape, file.tensors[i].shape);
    EXPECT_EQ(loaded.tensors[i].bytes, file.tensors[i].bytes) << file.tensors[i].name;
  }
  EXPECT_EQ(loaded.Find("scalar"), &loaded.tensors[13]);
  EXPECT_EQ(loaded.Find("nothing"), nullptr);
}

TEST_F(Safetensors, AFileWithoutTensorsIsAFile) {
  SaveSafetensors(Path(), {});
  EXPECT_TRUE(LoadSafetensors(Path()).tensors.empty());
}

// The bytes as the format's description has them: length, JSON padded with spaces to a multiple of
// 8 bytes, then the tensors one after the other.
TEST_F(Safetensors, WritesTheLayoutThatOtherToolsRead) {
  TensorFile file;
  const float value = 1.5f;
  HostTensor tensor{"w", Shape(DType::kF32, {1, 1}), std::vector<std::byte>(4)};
  std::memcpy(tensor.bytes.data(), &value, 4);
  file.tensors.push_back(tensor);
  SaveSafetensors(Path(), file);
  const std::string header =
      "{\"__metadata__\":{\"crc32c\":\"ad74e709\"},\"w\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_"
      "offsets\":[0,4]}}";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  std::string expected(8, '\0');
  expected[0] = static_cast<char>(padded.size());
  expected += padded + std::string("\x00\x00\xc0\x3f", 4);
  EXPECT_EQ(ReadFile(Path()), expected);
}

// Order of keys, of tensors in the data, spaces and metadata as other writers choose them.
TEST_F(Safetensors, ReadsWhatOtherToolsWrite) {
  const std::string path = Write(
      "{\"__metadata__\": {\"format\": \"pt\"}, \"second\": {\"data_offsets\": [2, 6], \"shape\": "
      "[2], \"dtype\": \"BF16\"}, \"first\": {\"dtype\": \"U8\", \"shape\": [2, 1], "
      "\"data_offsets\": [0, 2]}}   ",
      std::string("\x01\x02\x80\x3f\x00\x40", 6));
  const TensorFile file = LoadSafetensors(path);
  EXPECT_EQ(file.metadata.at("format"), "pt");
  ASSERT_EQ(file.tensors.size(), 2u);
  const HostTensor* first = file.Find("first");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->shape, Shape(DType::kU8, {2, 1}));
  EXPECT_EQ(first->bytes, (std::vector<std::byte>{std::byte{1}, std::byte{2}}));
  const HostTensor* second = file.Find("second");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->shape, Shape(DType::kBF16, {2}));
  EXPECT_EQ(second->bytes[3], std::byte{0x40});
}

TEST_F(Safetensors, AFileCutAnywhereIsBadData) {
  TensorFile file;
  file.tensors.push_back(Counting("a", Shape(DType::kF32, {3})));
  file.tensors.push_back(Counting("b", Shape(DType::kI8, {5})));
  file.metadata["step"] = "3";
  SaveSafetensors(Path(), file);
  const std::string content = ReadFile(Path());
  for (size_t length = 0; length < content.size(); ++length) {
    SCOPED_TRACE(length);
    MessageOf(WriteRaw(content.substr(0, length)));
  }
  EXPECT_THAT(MessageOf(WriteRaw(content.substr(0, 5))),
              HasSubstr("5 bytes long, expected at least 8"));
  EXPECT_THAT(MessageOf(WriteRaw(content.substr(0, 20))), HasSubstr("cut"));
  EXPECT_THAT(MessageOf(WriteRaw(content.substr(0, content.size() - 1))),
              AllOf(HasSubstr("tensor b"), HasSubstr("end at byte 17"), HasSubstr("only 16")));
  EXPECT_THAT(MessageOf(WriteRaw(content + "x")), HasSubstr("1 bytes follow the last tensor"));
}

// No byte of length or header can be wrong so that loading crashes or gives other shapes silently.
TEST_F(Safetensors, NoFlippedByteOfTheHeaderCrashes) {
  TensorFile file;
  file.tensors.push_back(Counting("a", Shape(DType::kF32, {2, 3})));
  SaveSafetensors(Path(), file);
  const std::string content = ReadFile(Path());
  const size_t header = content.size() - 24;
  for (size_t at = 0; at < header; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = content;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      WriteRaw(flipped);
      try {
        const TensorFile loaded = LoadSafetensors(Path());
        for (const HostTensor& tensor : loaded.tensors) {
          EXPECT_EQ(static_cast<int64_t>(tensor.bytes.size()), tensor.shape.bytes());
        }
      } catch (const DataError&) {
      }
    }
  }
}

TEST_F(Safetensors, AFlippedByteOfTheTensorsIsFound) {
  const TensorFile file{.tensors = {{"kernel", ir::Shape(ir::DType::kU8, {40}),
                                     std::vector<std::byte>(40, std::byte{7})}},
                        .metadata = {{"step", "3"}}};
  const std::string path = Path("sum.safetensors");
  SaveSafetensors(path, file);
  EXPECT_EQ(LoadSafetensors(path).metadata, file.metadata);
  const std::string good = ReadFile(path);
  for (size_t i = good.size() - 40; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 16;
    AtomicWriteFile(path, bad);
    EXPECT_THROW(LoadSafetensors(path), DataError) << i;
  }
  // A file of another program has no checksum.
  std::string without = good;
  without.replace(without.find("crc32c"), 6, "crcxxx");
  AtomicWriteFile(path, without);
  EXPECT_EQ(LoadSafetensors(path).tensors[0].bytes, file.tensors[0].bytes);
}

TEST_F(Safetensors, SaysWhatIsWrongWithAnEntry) {
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return "{\"w\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
           "}}";
  };
  const std::string data(8, 'x');
  const auto message = [&](const std::string& header) { return MessageOf(Write(header, data)); };
  EXPECT_THAT(message(entry("\"F8\"", "[2]", "[0,8]")),
              AllOf(HasSubstr("tensor w"), HasSubstr("unknown dtype"), HasSubstr("F8")));
  EXPECT_THAT(message(entry("7", "[2]", "[0,8]")), HasSubstr("\"dtype\""));
  EXPECT_THAT(message(entry("\"F32\"", "[3]", "[0,8]")),
              HasSubstr("f32[3] does not take the 8 bytes"));
  EXPECT_THAT(message(entry("\"F32\"", "[-2]", "[0,8]")), HasSubstr("found -2"));
  EXPECT_THAT(message(entry("\"F32\"", "[2.0]", "[0,8]")), HasSubstr("found 2.0"));
  EXPECT_THAT(message(entry("\"F32\"", "\"2\"", "[0,8]")), HasSubstr("array \"shape\""));
  EXPECT_THAT(message(entry("\"F32\"", "[2]", "[0,16]")), HasSubstr("end at byte 16"));
  EXPECT_THAT(message(entry("\"F32\"", "[2]", "[8,0]")), HasSubstr("begin at byte 8"));
  EXPECT_THAT(message(entry("\"F32\"", "[2]", "[-8,0]")), HasSubstr("found -8"));
  EXPECT_THAT(message(entry("\"F32\"", "[2]", "[8]")), HasSubstr("two data_offsets, found 1"));
  EXPECT_THAT(message(entry("\"F32\"", "[2]", "[0,8,8]")), HasSubstr("two data_offsets, found 3"));
  // Sizes whose product does not fit 64 bits and would come out as 0 or as the right number.
  EXPECT_THAT(message(entry("\"F32\"", "[4294967296,4294967296]", "[0,0]")),
              HasSubstr("does not take the 0 bytes"));
  EXPECT_THAT(message(entry("\"U8\"", "[9223372036854775807,3]", "[0,8]")),
              HasSubstr("does not take the 8 bytes"));
  EXPECT_THAT(message("{\"w\":[1,2]}"), HasSubstr("expected an object"));
  EXPECT_THAT(message("{\"w\":{\"dtype\":\"F32\",\"shape\":[2]}}"), HasSubstr("data_offsets"));
  EXPECT_THAT(message("[1,2]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(message("{\"w\""), HasSubstr("not a JSON object"));
  EXPECT_THAT(message("{\"__metadata__\":{\"step\":3}}"), HasSubstr("strings only"));
  EXPECT_THAT(message("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                      "\"b\":{\"dtype\":\"U8\",\"shape\":[6],\"data_offsets\":[2,8]}}"),
              HasSubstr("overlap at byte 2"));
  EXPECT_THAT(message("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                      "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,8]}}"),
              HasSubstr("leave a hole at byte 2"));
}

TEST_F(Safetensors, AHeaderLongerThanTheFileIsBadData) {
  EXPECT_THAT(MessageOf(WriteRaw(std::string(8, '\xff') + "{}")),
              AllOf(HasSubstr("byte 0"), HasSubstr("only 2 follow")));
  // A gzip file, a zip file, text.
  MessageOf(WriteRaw("\x1f\x8b\x08\x04 this is something else altogether"));
  MessageOf(WriteRaw("PK\x03\x04 this is something else altogether"));
  MessageOf(WriteRaw("this is something else altogether"));
}

TEST_F(Safetensors, AMissingFileIsNamed) {
  try {
    LoadSafetensors(Path("none.safetensors"));
    ADD_FAILURE() << "no error was thrown";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("none.safetensors"), HasSubstr("No such file")));
  }
}

TEST_F(Safetensors, AFailedSaveLeavesTheOldFile) {
  TensorFile file;
  file.tensors.push_back(Counting("a", Shape(DType::kF32, {3})));
  EXPECT_THROW(SaveSafetensors(Path("no/such/folder/t.safetensors"), file), UserError);
  SaveSafetensors(Path(), file);
  const std::string before = ReadFile(Path());
  HostTensor wrong = Counting("b", Shape(DType::kF32, {3}));
  wrong.bytes.resize(4);
  TensorFile other;
  other.tensors.push_back(wrong);
  EXPECT_THROW(SaveSafetensors(Path(), other), InternalError);
  EXPECT_EQ(ReadFile(Path()), before);
}

}  // namespace
}  // namespace flatout::checkpoint
