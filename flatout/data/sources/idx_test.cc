#include "flatout/data/sources/idx.h"

#include <gmock/gmock.h>

#include "flatout/data/loading.h"
#include "flatout/data/pipeline.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::BigEndian;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::IdxHeader;
using testing::MessageOf;
using testing::Scratch;

template <typename T>
std::vector<T> Column(const Source& source, std::vector<int64_t> indices, size_t field) {
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> out;
  for (const Field& f : source.fields()) {
    memory.emplace_back(indices.size() * static_cast<size_t>(f.shape.bytes()));
  }
  for (auto& m : memory) out.push_back(m.data());
  testing::ReadInto(source, indices, out);
  std::vector<T> values(memory[field].size() / sizeof(T));
  std::memcpy(values.data(), memory[field].data(), memory[field].size());
  return values;
}

Config Table(const std::string& toml) { return Config::ParseToml(toml, "run.toml"); }

TEST(FashionMnist, FirstLabelsAndCounts) {
  Config table = Table("source = 'fashion_mnist'\nvalidation_split = 5000\n");
  SourcePtr train = OpenSource(table, "train");
  SourcePtr validation = OpenSource(table, "validation");
  SourcePtr test = OpenSource(table, "test");
  EXPECT_EQ(train->size(), 55000);
  EXPECT_EQ(validation->size(), 5000);
  EXPECT_EQ(test->size(), 10000);
  EXPECT_EQ(train->fields()[0], (Field{"image", ir::Shape(ir::DType::kU8, {28, 28, 1}), 0}));
  EXPECT_EQ(train->fields()[1], (Field{"label", ir::Shape::Scalar(ir::DType::kI32), 10}));
  EXPECT_THAT(Column<int32_t>(*train, {0, 1, 2, 3, 4, 5, 6, 7}, 1),
              ElementsAre(9, 0, 0, 3, 0, 2, 7, 2));
  EXPECT_THAT(Column<int32_t>(*test, {0, 1, 2, 3, 4}, 1), ElementsAre(9, 2, 1, 1, 6));
  // Sum of the first training image's pixels and of the first test image's, by NumPy.
  auto sum = [](const Source& source) {
    int total = 0;
    for (uint8_t pixel : Column<uint8_t>(source, {0}, 0)) total += pixel;
    return total;
  };
  EXPECT_EQ(sum(*train), 76247);
  EXPECT_EQ(sum(*test), 33456);
  // The validation split is the end of the training files.
  SourcePtr whole = OpenSource(Table("source = 'fashion_mnist'"), "train");
  EXPECT_EQ(whole->size(), 60000);
  EXPECT_EQ(OpenSource(Table("source = 'fashion_mnist'"), "validation"), nullptr);
  EXPECT_EQ(Column<uint8_t>(*whole, {55000, 59999}, 0), Column<uint8_t>(*validation, {0, 4999}, 0));
}

TEST(FashionMnist, LimitAndShare) {
  Config table = Table("source = 'fashion_mnist'\nvalidation_split = 0.1\nlimit = 100\n");
  EXPECT_EQ(OpenSource(table, "train")->size(), 100);
  EXPECT_EQ(OpenSource(table, "validation")->size(), 100);
  EXPECT_THAT(OpenSource(table, "test")->description(), HasSubstr("100 records"));
}

TEST(FashionMnist, MissingNamesThePackage) {
  Scratch scratch;
  scratch.Write("train-images-idx3-ubyte.zip", "x");
  Config table = Table("source = 'fashion_mnist'\npath = '" + scratch.path() + "'");
  EXPECT_THAT(
      MessageOf<DataError>([&] { OpenSource(table, "train"); }),
      AllOf(HasSubstr("train-images-idx3-ubyte.gz: no such file"),
            HasSubstr("apt-get install dataset-fashion-mnist"),
            HasSubstr("nearest name there is " + scratch.path() + "/train-images-idx3-ubyte.zip")));
}

TEST(OpenSource, WrongTables) {
  EXPECT_THAT(MessageOf<UserError>(
                  [] { OpenSource(Table("source = 'fashion_mnist'\nlimt = 5"), "train"); }),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("limt"), HasSubstr("limit")));
  EXPECT_THAT(MessageOf<UserError>([] { OpenSource(Table("source = 'fashion_mnst'"), "train"); }),
              AllOf(HasSubstr("run.toml:1"), HasSubstr("did you mean \"fashion_mnist\"")));
  EXPECT_THAT(
      MessageOf<UserError>([] { OpenSource(Table("source = 'fashion_mnist'"), "validaton"); }),
      HasSubstr("did you mean \"validation\""));
  EXPECT_THAT(MessageOf<UserError>(
                  [] { OpenSource(Table("source = 'fashion_mnist'\nlimit = -1"), "train"); }),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("found the integer -1")));
  EXPECT_THAT(MessageOf<UserError>([] {
                OpenSource(Table("source = 'fashion_mnist'\nvalidation_split = 1.5"), "train");
              }),
              HasSubstr("validation_split"));
  EXPECT_THAT(MessageOf<UserError>(
                  [] { OpenSource(Table("source = 'fashion_mnist'\nprefetch = 0"), "train"); }),
              HasSubstr("prefetch"));
  EXPECT_THAT(MessageOf<UserError>([] { OpenSource(Table("source = 'idx'"), "train"); }),
              HasSubstr("train_images"));
}

TEST(OpenSource, RegisteredKind) {
  RegisterSource("idx_test_kind", [](FieldReader& reader) {
    int64_t records = 1;
    reader("records", records);
    return [records](std::string_view split) -> SourcePtr {
      if (split != "train") return nullptr;
      return std::make_shared<ArraysSource>(
          "mine", std::vector<Array>{MakeArray("x", ir::Shape::Scalar(ir::DType::kI64),
                                               std::vector<int64_t>(records, 7))});
    };
  });
  Config table = Table("source = 'idx_test_kind'\nrecords = 3");
  EXPECT_EQ(OpenSource(table, "train")->size(), 3);
  EXPECT_EQ(OpenSource(table, "test"), nullptr);
  EXPECT_THROW(RegisterSource("idx_test_kind", {}), UserError);
}

// ---- every element type, plain and packed, whatever the name ----

template <typename T>
void ExpectIdx(int type, ir::DType dtype, const std::vector<T>& values) {
  Scratch scratch;
  std::string content =
      IdxHeader(type, {2, static_cast<uint32_t>(values.size() / 2)}) + BigEndian(values);
  size_t half = content.size() / 2;
  // Named the wrong way round on purpose; the last has several members and tape padding.
  for (const std::string& path :
       {scratch.Write("plain.gz", content), scratch.Write("packed.idx", Gzip(content)),
        scratch.Write("members", Gzip(content.substr(0, half)) + Gzip(content.substr(half)) +
                                     std::string(7, '\0'))}) {
    IdxFile file = ReadIdx(path);
    EXPECT_EQ(file.shape, ir::Shape(dtype, {2, static_cast<int64_t>(values.size() / 2)})) << path;
    std::vector<T> found(values.size());
    std::memcpy(found.data(), file.data.get(), values.size() * sizeof(T));
    EXPECT_EQ(found, values) << path;
  }
}

TEST(Idx, EveryElementType) {
  ExpectIdx<uint8_t>(0x08, ir::DType::kU8, {0, 1, 200, 255});
  ExpectIdx<int8_t>(0x09, ir::DType::kI8, {0, -1, 127, -128});
  ExpectIdx<int16_t>(0x0b, ir::DType::kI16, {0, -1, 258, -32768});
  ExpectIdx<int32_t>(0x0c, ir::DType::kI32, {0, -1, 16909060, -2147483647});
  ExpectIdx<float>(0x0d, ir::DType::kF32, {0, -1.5f, 3.25e10f, 1e-30f});
  ExpectIdx<double>(0x0e, ir::DType::kF64, {0, -1.5, 3.25e100, 1e-300});
}

TEST(Idx, SharedUntilItChanges) {
  Scratch scratch;
  std::string path = scratch.Write("a", IdxHeader(8, {3}) + "abc");
  IdxFile first = ReadIdx(path);
  EXPECT_EQ(ReadIdx(path).data.get(), first.data.get());
  scratch.Write("a", IdxHeader(8, {4}) + "abcd");
  EXPECT_EQ(ReadIdx(path).shape.dims[0], 4);
}

// ---- bad files ----

std::string IdxError(const std::string& content, const std::string& name = "file") {
  Scratch scratch;
  std::string path = scratch.Write(name, content);
  std::string message = MessageOf<DataError>([&] { ReadIdx(path); });
  EXPECT_THAT(message, HasSubstr(path));
  return message;
}

TEST(BadIdx, ExitCode) {
  try {
    ReadIdx("/nowhere/at-all");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitBadData);
    EXPECT_THAT(error.what(), HasSubstr("the folder /nowhere does not exist either"));
  }
}

TEST(BadIdx, Folder) {
  Scratch scratch;
  EXPECT_THAT(MessageOf<DataError>([&] { ReadIdx(scratch.path()); }), HasSubstr("found a folder"));
}

TEST(BadIdx, Header) {
  EXPECT_THAT(IdxError(""), HasSubstr("empty (0 bytes)"));
  EXPECT_THAT(IdxError("ab"), HasSubstr("short"));
  EXPECT_THAT(
      IdxError("\x89PNG\r\n\x1a\n and so on"),
      AllOf(HasSubstr("not an idx file"), HasSubstr("at byte 0"), HasSubstr("found 89 50 4e 47")));
  EXPECT_THAT(IdxError(IdxHeader(0x0a, {1}) + "a"), HasSubstr("found 00 00 0a 01"));
  EXPECT_THAT(IdxError(IdxHeader(8, {})), HasSubstr("found 0"));
  EXPECT_THAT(IdxError(IdxHeader(8, {1, 2, 3}).substr(0, 9)),
              AllOf(HasSubstr("header of 16 bytes"), HasSubstr("found 9 bytes")));
  EXPECT_THAT(IdxError(IdxHeader(8, {0})), HasSubstr("no records"));
  EXPECT_THAT(IdxError(IdxHeader(8, {4, 0, 3})),
              AllOf(HasSubstr("dimension 1 (byte 8)"), HasSubstr("no values")));
}

TEST(BadIdx, HugeClaimsTakeNoMemory) {
  EXPECT_THAT(IdxError(IdxHeader(8, {0xffffffff, 0xffffffff, 2}) + "abc"),
              HasSubstr("header is corrupt"));
  EXPECT_THAT(IdxError(IdxHeader(8, {0xffffffff, 1000}) + "abc"),
              AllOf(HasSubstr("short"), HasSubstr("found 15 bytes")));
  EXPECT_THAT(IdxError(Gzip(IdxHeader(8, {0xffffffff, 1000}) + "abc")),
              HasSubstr("15 bytes (unpacked)"));
}

TEST(BadIdx, ShortAndLong) {
  EXPECT_THAT(IdxError(IdxHeader(8, {4, 2}) + "1234567"),
              AllOf(HasSubstr("short"), HasSubstr("u8[4,2] (20 bytes in all), found 19 bytes"),
                    HasSubstr("record 3")));
  EXPECT_THAT(IdxError(IdxHeader(8, {4, 2}) + "123456789"),
              AllOf(HasSubstr("trailing bytes"), HasSubstr("ends at byte 20")));
  // Longer than one read, and a bomb: stops at the size that the header states.
  EXPECT_THAT(IdxError(Gzip(IdxHeader(8, {4, 2}) + std::string(50000000, 'x'))),
              HasSubstr("trailing bytes"));
}

TEST(BadIdx, CutGzip) {
  std::string packed = Gzip(IdxHeader(8, {3000}) + std::string(3000, 'x'));
  for (size_t size : {packed.size() - 1, packed.size() - 9, size_t{12}, size_t{3}}) {
    EXPECT_THAT(IdxError(packed.substr(0, size)),
                AllOf(HasSubstr("cut"), HasSubstr("after byte " + std::to_string(size))));
  }
}

TEST(BadIdx, CorruptGzip) {
  std::string noise;
  for (int i = 0; i < 3000; ++i) noise += static_cast<char>(i * i % 251);
  std::string packed = Gzip(IdxHeader(8, {3000}) + noise);
  std::string sum = packed;
  sum[sum.size() - 7] ^= 1;
  EXPECT_THAT(IdxError(sum),
              AllOf(HasSubstr("corrupt"), HasSubstr("its checksum or its length does not match")));
  std::string length = packed;
  length[length.size() - 2] ^= 1;
  EXPECT_THAT(IdxError(length), HasSubstr("its checksum or its length does not match"));
  EXPECT_THAT(IdxError(packed + "rubbish"),
              AllOf(HasSubstr("trailing bytes after gzip member 1"),
                    HasSubstr("at byte " + std::to_string(packed.size())), HasSubstr("found 72")));
  std::string middle = packed;
  for (size_t i = 40; i < 60; ++i) middle[i] = static_cast<char>(0xff);
  EXPECT_THAT(IdxError(middle), HasSubstr("corrupt"));
}

TEST(BadIdx, MissingFileNamesTheNearest) {
  Scratch scratch;
  scratch.Write("train-labels", "x");
  EXPECT_THAT(MessageOf<DataError>([&] { ReadIdx(scratch / "train-lables"); }),
              AllOf(HasSubstr("no such file"), HasSubstr("nearest name there is"),
                    HasSubstr("train-labels")));
  EXPECT_THAT(MessageOf<DataError>([&] { ReadIdx(scratch / "zzz"); }),
              HasSubstr("nothing in " + scratch.path()));
}

// ---- images and labels together ----

struct Pair {
  Scratch scratch;
  IdxOptions options;
  Pair(const std::string& images, const std::string& labels) {
    options.train_images = scratch.Write("images", images);
    options.train_labels = scratch.Write("labels", labels);
  }
};

TEST(IdxSource, ShapesAndLabels) {
  Pair pair(IdxHeader(8, {3, 2, 2}) + "abcdefghijkl",
            IdxHeader(0x0b, {3}) + BigEndian<int16_t>({5, 0, 300}));
  SourcePtr source = OpenIdxSplit("idx", pair.options, "train");
  EXPECT_EQ(source->fields()[0].shape, ir::Shape(ir::DType::kU8, {2, 2, 1}));
  EXPECT_THAT(Column<int32_t>(*source, {2, 0, 2}, 1), ElementsAre(300, 5, 300));
  EXPECT_THAT(Column<char>(*source, {1}, 0), ElementsAre('e', 'f', 'g', 'h'));
  pair.options.image_shape = {4};
  EXPECT_EQ(OpenIdxSplit("idx", pair.options, "train")->fields()[0].shape,
            ir::Shape(ir::DType::kU8, {4}));
  pair.options.image_shape = {5};
  EXPECT_THAT(MessageOf<DataError>([&] { OpenIdxSplit("idx", pair.options, "train"); }),
              AllOf(HasSubstr("[5] has 5 values"), HasSubstr("[2,2] have 4")));
  EXPECT_EQ(OpenIdxSplit("idx", pair.options, "test"), nullptr);
}

// The images come in while other things begin.
TEST(IdxSource, WhatIsWrongInTheImagesIsFoundByTheFirstRead) {
  const std::string labels = IdxHeader(8, {3000}) + std::string(3000, '\1');
  const std::string images = Gzip(IdxHeader(8, {3000, 2}) + std::string(6000, 'x'));
  std::string corrupt = images;
  corrupt[corrupt.size() - 7] ^= 1;
  for (const auto& [content, says] :
       {std::pair(images.substr(0, images.size() - 9), "cut"), std::pair(corrupt, "corrupt")}) {
    Pair pair(content, labels);
    const SourcePtr source = OpenIdxSplit("idx", pair.options, "train");
    EXPECT_EQ(source->size(), 3000);
    EXPECT_THAT(MessageOf<DataError>([] { FinishLoads(); }), HasSubstr(says));
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(MessageOf<DataError>([&] { Column<char>(*source, {0}, 0); }), HasSubstr(says));
    }
  }
  // Nobody holds them any more.
  FinishLoads();
}

TEST(IdxSource, DifferentCounts) {
  Pair pair(IdxHeader(8, {3, 1}) + "abc", IdxHeader(8, {2}) + std::string(2, '\1'));
  EXPECT_THAT(MessageOf<DataError>([&] { OpenIdxSplit("idx", pair.options, "train"); }),
              AllOf(HasSubstr("images holds 3 images"), HasSubstr("labels holds 2 labels")));
}

TEST(IdxSource, LabelOutsideTheClasses) {
  Pair pair(IdxHeader(8, {3, 1}) + "abc", IdxHeader(9, {3}) + std::string("\0\1\xff", 3));
  pair.options.classes = 2;
  EXPECT_THAT(MessageOf<DataError>([&] { OpenIdxSplit("idx", pair.options, "train"); }),
              AllOf(HasSubstr("labels: record 2: label -1"), HasSubstr("expected 0 to 1")));
  pair.options.classes = 1;
  EXPECT_THAT(MessageOf<DataError>([&] { OpenIdxSplit("idx", pair.options, "train"); }),
              HasSubstr("record 1: label 1"));
}

TEST(IdxSource, ValidationNeedsRoom) {
  Pair pair(IdxHeader(8, {3, 1}) + "abc", IdxHeader(8, {3}) + std::string(3, '\1'));
  for (double split : {3.0, 4.0, 0.01, 0.99}) {
    pair.options.validation_split = split;
    EXPECT_THAT(MessageOf<DataError>([&] { OpenIdxSplit("idx", pair.options, "train"); }),
                HasSubstr("both splits need at least one"))
        << split;
  }
  pair.options.validation_split = 1;
  EXPECT_EQ(OpenIdxSplit("idx", pair.options, "train")->size(), 2);
  EXPECT_THAT(Column<char>(*OpenIdxSplit("idx", pair.options, "validation"), {0}, 0),
              ElementsAre('c'));
}

}  // namespace
}  // namespace flatout::data
