#include "flatout/data/sources/tfrecord_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <thread>

#include "flatout/data/formats/tfrecord.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Scratch;

std::string FileContent(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Zlib(const std::string& content) {
  uLongf size = compressBound(content.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(content.data()), content.size(), 6);
  packed.resize(size);
  return packed;
}

class TfRecordSource : public ::testing::Test {
 protected:
  void SetUp() override { setenv("FLATOUT_CACHE", (scratch_ / "cache").c_str(), 1); }
  void TearDown() override { unsetenv("FLATOUT_CACHE"); }

  // The content of a file of `count` Examples from number `first` on: label i, name "record i",
  // weights [i, i + 0.5].
  std::string Examples(int first, int count) {
    Block block;
    block.Reset({Field{"label", ir::Shape(ir::DType::kI32, {})}, TextField("name"),
                 Field{"weights", ir::Shape(ir::DType::kF32, {2})}},
                count);
    TfRecordWriter writer(scratch_ / "examples");
    std::string record;
    for (int i = 0; i < count; ++i) {
      *block.as<int32_t>(0, i) = first + i;
      block.SetText(1, i, fmt::format("record {}", first + i));
      block.as<float>(2, i)[0] = static_cast<float>(first + i);
      block.as<float>(2, i)[1] = static_cast<float>(first + i) + 0.5F;
      SerializeExample(block, i, record);
      writer.Write(record);
    }
    writer.Close();
    const std::string content = FileContent(scratch_ / "examples");
    fs::remove(scratch_ / "examples");
    return content;
  }
  SourcePtr Open(const std::vector<std::string>& files, const std::string& format = "auto") {
    return OpenTfRecordFiles(files, format);
  }
  // Reads these records; a bad one is -1.
  std::vector<int> Labels(const Source& source, const std::vector<int64_t>& records,
                          BadRecords* bad = nullptr) {
    ReadContext context(bad);
    Block block;
    block.Reset(source.fields(), static_cast<int64_t>(records.size()));
    block.set_bad_records(bad);
    source.Read(context, 0, records, block);
    std::vector<int> labels;
    const size_t label = FindField(source.fields(), "label");
    const size_t name = FindField(source.fields(), "name");
    for (int64_t row = 0; row < block.rows(); ++row) {
      if (block.bad(row)) {
        labels.push_back(-1);
        continue;
      }
      labels.push_back(*block.as<int32_t>(label, row));
      EXPECT_EQ(block.text(name, row), fmt::format("record {}", labels.back()));
    }
    return labels;
  }
  std::vector<int> All(const Source& source, BadRecords* bad = nullptr) {
    std::vector<int64_t> records(static_cast<size_t>(source.size()));
    std::iota(records.begin(), records.end(), 0);
    return Labels(source, records, bad);
  }
  static std::vector<int> Range(int begin, int end) {
    std::vector<int> range(static_cast<size_t>(end - begin));
    std::iota(range.begin(), range.end(), begin);
    return range;
  }

  Scratch scratch_;
};

TEST_F(TfRecordSource, InfersWhatIsThere) {
  const SourcePtr source = Open({scratch_.Write("a", Examples(0, 10))});
  EXPECT_EQ(DescribeFields(source->fields()), "label i32[], name text[], weights f32[2]");
  EXPECT_THAT(source->description(), HasSubstr("tfrecord: 10 records in 1 file"));
  EXPECT_EQ(All(*source), Range(0, 10));
}

TEST_F(TfRecordSource, MixedPackingsByContent) {
  const std::string two = Examples(20, 6);
  const SourcePtr source = Open(
      {scratch_.Write("plain.gz", Examples(0, 10)), scratch_.Write("gz", Gzip(Examples(10, 5))),
       scratch_.Write("z.tfrecord", Zlib(Examples(15, 5))),
       scratch_.Write("two", Gzip(two.substr(0, 100)) + Gzip(two.substr(100))),
       scratch_.Write("empty", ""), scratch_.Write("last", Examples(26, 4))});
  EXPECT_EQ(All(*source), Range(0, 30));
}

TEST_F(TfRecordSource, AnyOrderAndRepeatsGiveTheSameRecords) {
  const SourcePtr source =
      Open({scratch_.Write("a", Examples(0, 1000)), scratch_.Write("b", Gzip(Examples(1000, 500))),
            scratch_.Write("c", Examples(1500, 500))});
  ASSERT_EQ(source->size(), 2000);
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<int64_t> records(random() % 300);
    for (int64_t& record : records) record = static_cast<int64_t>(random() % 2000);
    if (round % 3 == 0) std::sort(records.begin(), records.end());
    std::vector<int> expected(records.begin(), records.end());
    EXPECT_EQ(Labels(*source, records), expected);
  }
}

TEST_F(TfRecordSource, SeveralThreadsReadAtOnce) {
  const SourcePtr source = Open({scratch_.Write("a", Examples(0, 3000))});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) EXPECT_EQ(All(*source), Range(0, 3000));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TfRecordSource, BytesAreTheRecordsThemselves) {
  TfRecordWriter writer(scratch_ / "a");
  for (const char* text : {"one", "", "three"}) writer.Write(std::string_view(text));
  writer.Close();
  for (const char* format : {"auto", "bytes"}) {
    const SourcePtr source = Open({scratch_ / "a"}, format);
    EXPECT_EQ(DescribeFields(source->fields()), "record text[]");
    ReadContext context;
    Block block;
    block.Reset(source->fields(), 3);
    source->Read(context, 0, std::vector<int64_t>{2, 0, 1}, block);
    EXPECT_EQ(block.text(0, 0), "three");
    EXPECT_EQ(block.text(0, 1), "one");
    EXPECT_EQ(block.text(0, 2), "");
  }
  EXPECT_THAT(MessageOf<DataError>([&] { Open({scratch_ / "a"}, "example"); }),
              HasSubstr("format = \"bytes\""));
  EXPECT_THAT(MessageOf<UserError>([&] { Open({scratch_ / "a"}, "bites"); }), HasSubstr("bites"));
}

TEST_F(TfRecordSource, RecordsLargerThanAPiece) {
  TfRecordWriter writer(scratch_ / "a");
  std::vector<std::string> texts;
  for (int i = 0; i < 5; ++i) {
    texts.push_back(std::string(static_cast<size_t>(400000 * i + 1), static_cast<char>('a' + i)));
    writer.Write(texts.back());
  }
  writer.Close();
  const SourcePtr source = Open({scratch_ / "a"}, "bytes");
  ReadContext context;
  Block block;
  block.Reset(source->fields(), 5);
  source->Read(context, 0, std::vector<int64_t>{4, 3, 2, 1, 0}, block);
  for (int64_t row = 0; row < 5; ++row) {
    EXPECT_TRUE(block.text(0, row) == texts[static_cast<size_t>(4 - row)]);
  }
}

// ---- damage ----

TEST_F(TfRecordSource, TheFirstBadRecordIsAnErrorUnlessAllowed) {
  std::string content = Examples(0, 10);
  const size_t record = content.size() / 10;
  content[3 * record + 20] = static_cast<char>(content[3 * record + 20] ^ 1);
  const SourcePtr source =
      Open({scratch_.Write("a", content), scratch_.Write("b", Examples(10, 3))});
  const std::string message = MessageOf<DataError>([&] { All(*source); });
  EXPECT_THAT(message, AllOf(HasSubstr(scratch_ / "a"), HasSubstr("record 3"),
                             HasSubstr(fmt::format("byte {}", 3 * record)), HasSubstr("checksum")));
  BadRecords bad(5);
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_THAT(All(*source, &bad), ElementsAre(0, 1, 2, -1, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  }
  EXPECT_EQ(bad.count(), 1);
  EXPECT_THAT(bad.messages(), ElementsAre(message));
}

TEST_F(TfRecordSource, ABrokenLengthLosesTheFileAndTheNextGoesOn) {
  std::string content = Examples(0, 10);
  const size_t record = content.size() / 10;
  content[6 * record] = static_cast<char>(content[6 * record] ^ 1);
  const SourcePtr source =
      Open({scratch_.Write("a", content), scratch_.Write("b", Examples(10, 3))});
  EXPECT_THROW(All(*source), DataError);
  BadRecords bad(1);
  EXPECT_THAT(All(*source, &bad), ElementsAre(0, 1, 2, 3, 4, 5, -1, 10, 11, 12));
  EXPECT_THAT(bad.messages(),
              ElementsAre(AllOf(HasSubstr("record 6"), HasSubstr("checksum of its length"),
                                HasSubstr(fmt::format("remaining {} bytes", 4 * record)))));
}

TEST_F(TfRecordSource, ACutFileKeepsTheRecordsBefore) {
  const std::string content = Examples(0, 10);
  const size_t cut = content.size() - 10;
  const SourcePtr source =
      Open({scratch_.Write("a", content.substr(0, cut)), scratch_.Write("b", Examples(10, 3))});
  BadRecords bad(1);
  EXPECT_THAT(All(*source, &bad), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, -1, 10, 11, 12));
  EXPECT_THAT(bad.messages(), ElementsAre(AllOf(HasSubstr("record 9"), HasSubstr("is cut"))));
  // One more than is allowed.
  BadRecords none(0);
  EXPECT_THROW(All(*source, &none), DataError);
}

TEST_F(TfRecordSource, ACutPackedFileIsAnError) {
  const std::string packed = Gzip(Examples(0, 10));
  EXPECT_THAT(MessageOf<DataError>(
                  [&] { Open({scratch_.Write("a", packed.substr(0, packed.size() / 2))}); }),
              AllOf(HasSubstr(scratch_ / "a"), HasSubstr("gzip stream is cut")));
}

TEST_F(TfRecordSource, AFileThatBecomesShorterIsBadRecordsNotACrash) {
  const std::string content = Examples(0, 100);
  const SourcePtr source = Open({scratch_.Write("a", content)});
  fs::resize_file(scratch_ / "a", content.size() / 2 + 3);
  EXPECT_THAT(MessageOf<DataError>([&] { All(*source); }), HasSubstr("become shorter"));
  BadRecords bad(100);
  const std::vector<int> labels = All(*source, &bad);
  EXPECT_EQ(std::vector<int>(labels.begin(), labels.begin() + 49), Range(0, 49));
  EXPECT_THAT(std::vector<int>(labels.begin() + 51, labels.end()), Each(-1));
}

TEST_F(TfRecordSource, FeaturesThatDoNotFitNameFileRecordAndFeature) {
  TfRecordWriter writer(scratch_ / "a");
  Block block;
  std::string record;
  const auto add = [&](Field field, auto set) {
    block.Reset({std::move(field)}, 1);
    set();
    SerializeExample(block, 0, record);
    writer.Write(record);
  };
  add(Field{"label", ir::Shape(ir::DType::kI32, {})}, [&] { *block.as<int32_t>(0) = 3; });
  add(Field{"label", ir::Shape(ir::DType::kI64, {})},
      [&] { *block.as<int64_t>(0) = int64_t{1} << 40; });
  add(Field{"label", ir::Shape(ir::DType::kF32, {})}, [&] { *block.as<float>(0) = 3; });
  add(Field{"label", ir::Shape(ir::DType::kI32, {2})}, [&] { std::memset(block.data(0), 0, 8); });
  add(TextField("other"), [&] { block.SetText(0, 0, "x"); });
  writer.Close();
  FeatureSpec spec;
  spec.name = "label";
  spec.kind = FeatureKind::kInt64;
  const SourcePtr source = OpenTfRecordFiles({scratch_ / "a"}, "example", {spec});
  ReadContext context;
  BadRecords bad(10);
  block.Reset(source->fields(), 5);
  block.set_bad_records(&bad);
  source->Read(context, 0, std::vector<int64_t>{0, 1, 2, 3, 4}, block);
  EXPECT_EQ(*block.as<int32_t>(0, 0), 3);
  EXPECT_THAT(bad.messages(),
              ElementsAre(HasSubstr("1099511627776 does not fit i32"),
                          HasSubstr("expected int64, found float"),
                          HasSubstr("expected 1 value, found 2"), HasSubstr("no such feature")));
  EXPECT_THAT(bad.messages(), Each(AllOf(HasSubstr(scratch_ / "a"), HasSubstr("record "),
                                         HasSubstr("at byte "), HasSubstr("feature label"))));
}

TEST_F(TfRecordSource, MisspeltFeaturesAreFoundAtOnce) {
  const std::string path = scratch_.Write("a", Examples(0, 10));
  const auto error = [&](const std::string& name, std::vector<int64_t> shape, bool sequence) {
    FeatureSpec spec;
    spec.name = name;
    spec.kind = FeatureKind::kInt64;
    spec.shape = std::move(shape);
    spec.sequence = sequence;
    return MessageOf<DataError>([&] { OpenTfRecordFiles({path}, "auto", {spec}); });
  };
  EXPECT_THAT(error("lable", {kAny}, false),
              AllOf(HasSubstr("none of the first 10 records"), HasSubstr("label")));
  EXPECT_THAT(error("something", {}, false), HasSubstr("they have label, name, weights"));
  EXPECT_THAT(error("label", {}, true), HasSubstr("declare it under `features`"));
}

TEST_F(TfRecordSource, NothingToInferFromIsAnError) {
  EXPECT_THAT(MessageOf<DataError>([&] { Open({scratch_.Write("a", "no TFRecord file")}); }),
              HasSubstr("is this a TFRecord file"));
}

// ---- run files ----

SourcePtr FromToml(const std::string& toml, std::string_view split = "train") {
  const Config table = Config::ParseToml(toml, "run.toml");
  FieldReader reader(table, "data");
  const auto open = OpenTfRecord(reader);
  reader.Finish();
  return open(split);
}

TEST_F(TfRecordSource, RunFilesDeclareFilesSplitsAndFeatures) {
  scratch_.Write("train-0", Examples(0, 60));
  scratch_.Write("train-1", Examples(60, 40));
  const std::string toml = fmt::format(
      "files = '{}'\nvalidation_split = 0.1\n[features]\nname = 'bytes'\n"
      "label = {{ dtype = 'int64', bound = 100 }}\n",
      scratch_ / "train-*");
  const SourcePtr train = FromToml(toml);
  EXPECT_EQ(All(*train), Range(0, 90));
  EXPECT_EQ(train->fields()[FindField(train->fields(), "label")].bound, 100);
  EXPECT_THAT(train->description(), HasSubstr("tfrecord train: 90 records from 2 files"));
  EXPECT_EQ(All(*FromToml(toml, "validation")), Range(90, 100));
  EXPECT_EQ(FromToml(toml, "test"), nullptr);
}

TEST_F(TfRecordSource, WrongKeysAreComplainedOfAtTheirPlace) {
  scratch_.Write("a", Examples(0, 10));
  const std::string files = fmt::format("files = '{}'\n", scratch_ / "a");
  const auto error = [&](const std::string& toml) {
    const std::string message = MessageOf<UserError>([&] { FromToml(files + toml); });
    EXPECT_THAT(message, HasSubstr("run.toml:2"));
    return message;
  };
  EXPECT_THAT(error("format = 'exampel'"), HasSubstr("did you mean \"example\""));
  EXPECT_THAT(error("features = 'label'"), HasSubstr("expected a table"));
  EXPECT_THAT(error("features = {}"), HasSubstr("at least one"));
  EXPECT_THAT(error("sequence_features = { a = 'int64' }\nformat = 'example'"),
              HasSubstr("only sequence_example"));
  EXPECT_THAT(error("features = { a = 'int64' }\nformat = 'bytes'"), HasSubstr("bytes"));
  EXPECT_THAT(error("sequence_features = { a = 'int64' }\nfeatures = { a = 'int64' }"),
              HasSubstr("names of their own"));
  EXPECT_THAT(error("feature = { a = 'int64' }"), HasSubstr("features"));
}

}  // namespace
}  // namespace flatout::data
