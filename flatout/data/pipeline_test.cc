#include "flatout/data/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "flatout/data/scan.h"
#include "flatout/data/source_testing.h"
#include "flatout/data/testing.h"
#include "flatout/data/transform.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::ColumnOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::ReadAll;
using testing::Scratch;
using ::testing::SizeIs;
using ::testing::StartsWith;

// How many records were read from files, as it were.
std::atomic<int64_t> records_read = 0;

// Record i of `records`: value i, half i / 2. Records that `bad` lists cannot be read; those that
// `thrown` lists make the whole read throw.
class Numbers : public Source {
 public:
  Numbers(int64_t size, std::vector<int64_t> bad, std::vector<int64_t> thrown, bool extra)
      : size_(size), bad_(std::move(bad)), thrown_(std::move(thrown)) {
    fields_ = {{"value", ir::Shape::Scalar(ir::DType::kI32)},
               {"half", ir::Shape::Scalar(ir::DType::kF32)}};
    if (extra) fields_.push_back({"extra", ir::Shape::Scalar(ir::DType::kF32)});
  }
  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }
  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    static const std::string kStage = "read";
    ReadContext::Stage stage(context, kStage, static_cast<int64_t>(records.size()));
    stage.AddBytes(10 * static_cast<int64_t>(records.size()));
    for (size_t i = 0; i < records.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const auto is = [&](const std::vector<int64_t>& list) {
        return std::find(list.begin(), list.end(), records[i]) != list.end();
      };
      if (is(thrown_)) throw BadData("numbers: record {} takes all with it", records[i]);
      if (is(bad_)) {
        out.Bad(row, BadData("numbers: record {} is bad", records[i]));
        continue;
      }
      *out.as<int32_t>(0, row) = static_cast<int32_t>(records[i]);
      *out.as<float>(1, row) = static_cast<float>(records[i]) / 2;
    }
    records_read += static_cast<int64_t>(records.size());
  }

 private:
  const int64_t size_;
  const std::vector<int64_t> bad_, thrown_;
  std::vector<Field> fields_;
  const std::string description_ = "numbers";
};

// value + `by`, or with `by` 0 a random value.
class Add : public Transform {
 public:
  explicit Add(int64_t by) : by_(by) {}
  const std::string& name() const override { return name_; }
  std::vector<Field> Fields(const std::vector<Field>& in) const override {
    FindField(in, "value");
    return in;
  }
  void Apply(const Block& in, Block& out, std::span<const uint64_t> keys) const override {
    const size_t value = FindField(in.fields(), "value");
    for (size_t f = 0; f < in.fields().size(); ++f) {
      if (f != value) out.ShareColumn(f, in, f);
    }
    for (int64_t row = 0; row < in.rows(); ++row) {
      *out.as<int32_t>(value, row) =
          random() ? static_cast<int32_t>(keys[static_cast<size_t>(row)] >> 33)
                   : *in.as<int32_t>(value, row) + static_cast<int32_t>(by_);
    }
  }
  bool random() const override { return by_ == 0; }

 private:
  const int64_t by_;
  const std::string name_ = "test_add";
};

// Leaves only the field "value".
class Only : public Transform {
 public:
  const std::string& name() const override { return name_; }
  std::vector<Field> Fields(const std::vector<Field>& in) const override {
    return {in[FindField(in, "value")]};
  }
  void Apply(const Block& in, Block& out, std::span<const uint64_t>) const override {
    out.ShareColumn(0, in, FindField(in.fields(), "value"));
  }

 private:
  const std::string name_ = "test_only";
};

class Pipeline : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    RegisterSource("test_numbers", [](FieldReader& reader) {
      int64_t records = 10, validation = 4, test = 0;
      std::vector<std::string> files;
      std::vector<int64_t> bad, thrown;
      bool test_extra = false;
      reader("records", records);
      reader("validation_records", validation);
      reader("test_records", test);
      reader("files", files);
      reader("bad", bad);
      reader("thrown", thrown);
      reader("test_extra", test_extra);
      return [=](std::string_view split) -> SourcePtr {
        const int64_t size = split == "train" ? records : split == "validation" ? validation : test;
        if (size < 0) return std::make_shared<Numbers>(0, bad, thrown, false);
        if (size == 0) return nullptr;
        return std::make_shared<Numbers>(size, bad, thrown, test_extra && split == "test");
      };
    });
    RegisterTransform("test_add", [](FieldReader& reader) -> TransformPtr {
      int64_t by = 0;
      reader("by", by);
      return std::make_shared<Add>(by);
    });
    RegisterTransform("test_only",
                      [](FieldReader&) -> TransformPtr { return std::make_shared<Only>(); });
  }
  void SetUp() override { setenv("FLATOUT_CACHE", (scratch_ / "cache").c_str(), 1); }
  void TearDown() override { unsetenv("FLATOUT_CACHE"); }

  static Config Table(const std::string& keys) {
    return Config::ParseToml("source = \"test_numbers\"\n" + keys, "run.toml");
  }
  static std::vector<int32_t> Values(const SourcePtr& source) {
    return ColumnOf<int32_t>(ReadAll(*source), 0);
  }
  static std::string Wrong(const std::string& keys, std::string_view split = "train") {
    return MessageOf<UserError>([&] { OpenSource(Table(keys), split); });
  }

  Scratch scratch_;
};

// ---- keys ----

TEST_F(Pipeline, Options) {
  const PipelineOptions defaults = ReadPipelineOptions(Table("other = 1"));
  EXPECT_TRUE(defaults.shuffle);
  EXPECT_EQ(defaults.prefetch_depth(), 0);
  EXPECT_EQ(defaults.prefetch_bytes(), 0);
  EXPECT_EQ(defaults.worker_threads(), 0);
  const PipelineOptions set = ReadPipelineOptions(
      Table("prefetch = 8\nprefetch_memory = \"2MiB\"\nworkers = 3\nmax_bad_records = 5"));
  EXPECT_EQ(set.prefetch_depth(), 8);
  EXPECT_EQ(set.prefetch_bytes(), 2 << 20);
  EXPECT_EQ(set.worker_threads(), 3);
  EXPECT_EQ(set.max_bad_records, 5);
  EXPECT_EQ(ReadPipelineOptions(Table("prefetch_memory = 4096")).prefetch_bytes(), 4096);
  EXPECT_EQ(ReadPipelineOptions(Table("workers = \"auto\"")).worker_threads(), 0);
}

TEST_F(Pipeline, WrongValuesHaveTheirPlace) {
  EXPECT_THAT(Wrong("prefetch = 0"),
              AllOf(StartsWith("run.toml:2:"), HasSubstr("prefetch"), HasSubstr("1 to 1024")));
  EXPECT_THAT(Wrong("workers = 1025"), HasSubstr("1 to 1024 threads, or \"auto\""));
  EXPECT_THAT(Wrong("workers = \"many\""), HasSubstr("\"many\""));
  EXPECT_THAT(Wrong("workers = 1.5"), HasSubstr("1.5"));
  EXPECT_THAT(Wrong("prefetch_memory = \"lots\""), HasSubstr("256MiB"));
  EXPECT_THAT(Wrong("prefetch_memory = \"0MiB\""), HasSubstr("256MiB"));
  EXPECT_THAT(Wrong("max_bad_records = -1"), HasSubstr("found the integer -1"));
  EXPECT_THAT(Wrong("shuffle_window = -1"), HasSubstr("shuffle_window"));
  EXPECT_THAT(Wrong("shufle = true"),
              AllOf(StartsWith("run.toml:2:"), HasSubstr("did you mean \"shuffle\"?")));
  EXPECT_THAT(MessageOf<UserError>([] {
                OpenSource(Config::ParseToml("source = \"test_number\"", "run.toml"), "train");
              }),
              AllOf(StartsWith("run.toml:1:"), HasSubstr("did you mean \"test_numbers\"?")));
  EXPECT_THAT(Wrong("", "tset"), HasSubstr("did you mean \"test\"?"));
}

TEST_F(Pipeline, SplitsThatAreNotThere) {
  EXPECT_EQ(OpenSource(Table(""), "train")->size(), 10);
  EXPECT_EQ(OpenSource(Table(""), "test"), nullptr);
  const Splits splits = OpenSplits(Table("test_records = 3"));
  EXPECT_EQ(splits.train->size(), 10);
  EXPECT_EQ(splits.validation->size(), 4);
  EXPECT_EQ(splits.test->size(), 3);
  EXPECT_THAT(MessageOf<DataError>([] { OpenSource(Table("records = -1"), "train"); }),
              HasSubstr("the train split holds no records"));
}

TEST_F(Pipeline, AllSplitsHaveTheSameFields) {
  EXPECT_THAT(
      MessageOf<UserError>([] { OpenSplits(Table("test_records = 3\ntest_extra = true")); }),
      AllOf(HasSubstr("the splits train and test have different fields"),
            HasSubstr("2 and 3 fields")));
}

// ---- filter ----

TEST_F(Pipeline, FilterKeepsRecordsInOrder) {
  const Config table = Table("filter = \"value in [7, 2, 5] or half > 4\"");
  EXPECT_THAT(Values(OpenSource(table, "train")), ElementsAre(2, 5, 7, 9));
  EXPECT_THAT(Values(OpenSource(table, "validation")), ElementsAre(2));
  EXPECT_EQ(OpenPlainSource(table, "train")->size(), 10);
  EXPECT_EQ(OpenSource(Table("filter = \"value >= 0\""), "train")->size(), 10);
}

TEST_F(Pipeline, FilterErrors) {
  EXPECT_THAT(Wrong("filter = \"value <\""),
              AllOf(StartsWith("run.toml:2:"), HasSubstr("column 8")));
  EXPECT_THAT(Wrong("filter = \"valu < 5\""),
              AllOf(StartsWith("run.toml:2:"), HasSubstr("did you mean \"value\"?")));
  EXPECT_THAT(Wrong("filter = \"value > 100\""),
              AllOf(StartsWith("run.toml:2:"), HasSubstr("keeps none of the 10 records"),
                    HasSubstr("value > 100")));
  // Found without opening anything.
  EXPECT_THAT(MessageOf<UserError>([] { ReadPipelineOptions(Table("filter = \"a = b\"")); }),
              HasSubstr("column 3"));
}

TEST_F(Pipeline, FilterOfBadRecordsLeavesThemToTheRun) {
  const SourcePtr source =
      OpenSource(Table("filter = \"value < 3\"\nbad = [1, 8]\nthrown = [6]"), "train");
  EXPECT_EQ(source->size(), 5);  // 0, 1, 2, 6, 8
  BadRecords bad(10, [](const DataError&) {});
  const Block block = testing::ReadRecords(*source, {0, 1, 2, 4}, &bad);
  EXPECT_TRUE(block.bad(1));
  EXPECT_TRUE(block.bad(3));
  EXPECT_THAT(bad.messages(), ElementsAre("numbers: record 1 is bad", "numbers: record 8 is bad"));
  EXPECT_THROW(testing::ReadRecords(*source, {3}, &bad), DataError);
}

TEST_F(Pipeline, FilterIsRememberedUntilAFileChanges) {
  const std::string file = scratch_.Write("numbers.bin", "1");
  const auto open = [&](const std::string& keys) {
    records_read = 0;
    return OpenSource(Table("files = [\"" + file + "\"]\n" + keys), "train")->size();
  };
  EXPECT_EQ(open("filter = \"value < 3\""), 3);
  EXPECT_EQ(records_read, 10);
  EXPECT_EQ(open("filter = \"value < 3\"\nworkers = 2\nshuffle = false"), 3);
  EXPECT_EQ(records_read, 0) << "known";
  EXPECT_EQ(open("filter = \"value < 4\""), 4);
  EXPECT_EQ(records_read, 10) << "another filter";
  EXPECT_EQ(open("filter = \"value < 3\"\nrecords = 5"), 3);
  EXPECT_EQ(records_read, 5) << "other keys";
  scratch_.Write("numbers.bin", "12");
  EXPECT_EQ(open("filter = \"value < 3\""), 3);
  EXPECT_EQ(records_read, 10) << "the file changed";
}

TEST_F(Pipeline, FilterIsRememberedForPatternsAndFolders) {
  const std::string folder = scratch_ / "numbers";
  std::filesystem::create_directories(folder + "/more");
  const auto write = [&](const std::string& name) {
    std::ofstream(folder + "/" + name) << "numbers";
  };
  write("a.bin");
  for (const std::string& named : {folder + "/*.bin", folder}) {
    SCOPED_TRACE(named);
    const auto read = [&] {
      records_read = 0;
      OpenSource(Table("files = [\"" + named + "\"]\nfilter = \"value < 3\""), "train");
      return records_read.load();
    };
    EXPECT_EQ(read(), 10);
    EXPECT_EQ(read(), 0);
    write("b" + std::to_string(named.size()) + ".bin");
    EXPECT_EQ(read(), 10) << "one more file";
    EXPECT_EQ(read(), 0);
  }
  const auto read = [&] {
    records_read = 0;
    OpenSource(Table("files = [\"" + folder + "\"]\nfilter = \"value < 3\""), "train");
    return records_read.load();
  };
  write("more/c.bin");
  EXPECT_EQ(read(), 10) << "a file further down";
}

// ---- transforms ----

TEST_F(Pipeline, TransformsInTheirOrder) {
  const Config table = Table(
      "records = 3\n[[transforms]]\nop = \"test_add\"\nby = 10\n"
      "[[transforms]]\nop = \"test_only\"\n[[transforms]]\nop = \"test_add\"\nby = 5\n");
  const SourcePtr source = OpenSource(table, "train");
  EXPECT_THAT(source->fields(), SizeIs(1));
  EXPECT_THAT(Values(source), ElementsAre(15, 16, 17));
  EXPECT_THAT(Values(OpenPlainSource(table, "train")), ElementsAre(0, 1, 2));
}

TEST_F(Pipeline, TransformsForSomeSplits) {
  const Config table = Table(
      "records = 2\nvalidation_records = 2\ntest_records = 2\n"
      "[[transforms]]\nop = \"test_add\"\nby = 10\nsplits = [\"train\", \"test\"]\n"
      "[[transforms]]\nop = \"test_add\"\nby = 100\nsplits = \"validation\"\n");
  const Splits splits = OpenSplits(table);
  EXPECT_THAT(Values(splits.train), ElementsAre(10, 11));
  EXPECT_THAT(Values(splits.validation), ElementsAre(100, 101));
  EXPECT_THAT(Values(splits.test), ElementsAre(10, 11));
}

TEST_F(Pipeline, RandomTransformsAreForTrainingUnlessSaidOtherwise) {
  const std::string random = "[[transforms]]\nop = \"test_add\"\n";
  const Splits splits = OpenSplits(Table("validation_records = 10\n" + random), /*seed=*/7);
  EXPECT_THAT(Values(splits.validation), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_NE(Values(splits.train), Values(splits.validation));
  EXPECT_EQ(Values(splits.train), Values(OpenSource(Table(random), "train", 7)));
  EXPECT_NE(Values(splits.train), Values(OpenSource(Table(random), "train", 8)));
  const SourcePtr asked = OpenSource(
      Table("validation_records = 10\n" + random + "splits = [\"validation\"]\n"), "validation", 7);
  EXPECT_NE(Values(asked), Values(splits.validation));
}

TEST_F(Pipeline, TransformErrors) {
  EXPECT_THAT(Wrong("[[transforms]]\nop = \"tset_add\"\n"),
              AllOf(StartsWith("run.toml:3:"), HasSubstr("did you mean \"test_add\"?")));
  EXPECT_THAT(Wrong("[[transforms]]\nby = 1\n"), HasSubstr("needs the key \"op\""));
  EXPECT_THAT(Wrong("transforms = [3]\n"), HasSubstr("expected a transform such as"));
  EXPECT_THAT(Wrong("[[transforms]]\nop = \"test_add\"\nbye = 1\n"),
              AllOf(StartsWith("run.toml:4:"), HasSubstr("did you mean \"by\"?")));
  EXPECT_THAT(Wrong("[[transforms]]\nop = \"test_add\"\nsplits = [\"tain\"]\n"),
              AllOf(StartsWith("run.toml:4:"), HasSubstr("did you mean \"train\"?")));
  EXPECT_THAT(Wrong("[[transforms]]\nop = \"test_add\"\nsplits = []\n"),
              HasSubstr("expected at least one of train"));
  // Found without opening anything.
  EXPECT_THAT(MessageOf<UserError>(
                  [] { ReadPipelineOptions(Table("[[transforms]]\nop = \"tset_add\"\n")); }),
              HasSubstr("test_add"));
}

// ---- cache ----

TEST_F(Pipeline, CacheHoldsWhatComesBeforeChance) {
  for (const std::string& cache : {std::string("memory"), scratch_ / "kept"}) {
    const Config table = Table("records = 6\ncache = \"" + cache +
                               "\"\n[[transforms]]\nop = \"test_add\"\nby = 10\n"
                               "[[transforms]]\nop = \"test_add\"\n");
    const SourcePtr source = OpenSource(table, "train", 7);
    records_read = 0;
    ReadContext context;
    std::vector<std::vector<int32_t>> epochs;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      Block block;
      block.Reset(source->fields(), 6);
      const std::vector<int64_t> all = {0, 1, 2, 3, 4, 5};
      source->Read(context, epoch, all, block);
      epochs.push_back(ColumnOf<int32_t>(block, 0));
    }
    EXPECT_LE(records_read, 6) << cache;
    EXPECT_NE(epochs[0], epochs[1]) << "chance is not cached";
    EXPECT_NE(epochs[1], epochs[2]);
  }
}

TEST_F(Pipeline, CacheFilesAreOfOneFilterAndOneList) {
  const std::string keys = "cache = \"" + scratch_ / "kept" + "\"\n";
  EXPECT_THAT(Values(OpenSource(Table(keys + "filter = \"value < 2\""), "train")),
              ElementsAre(0, 1));
  EXPECT_THAT(Values(OpenSource(Table(keys + "filter = \"value > 7\""), "train")),
              ElementsAre(8, 9));
  EXPECT_THAT(Values(OpenSource(Table(keys + "filter = \"value > 7\"\n[[transforms]]\n"
                                             "op = \"test_add\"\nby = 1\n"),
                                "train")),
              ElementsAre(9, 10));
  records_read = 0;
  EXPECT_THAT(Values(OpenSource(Table(keys + "filter = \"value < 2\""), "train")),
              ElementsAre(0, 1));
  EXPECT_EQ(records_read, 10) << "for the filter only: no file tells whether it is still right";
}

// ---- scan ----

TEST(ScanTest, ReadsEachRecordOnce) {
  const Numbers source(5000, {}, {}, false);
  for (const int workers : {1, 3}) {
    std::vector<std::atomic<int>> seen(5000);
    ScanOptions options;
    options.workers = workers;
    int64_t done = 0;
    options.progress = [&](const ScanProgress& progress) {
      EXPECT_EQ(progress.total, 5000);
      done = progress.done;
      return true;
    };
    const ScanResult result =
        Scan(source, options, [&](std::span<const int64_t> records, const Block& block) {
          for (size_t i = 0; i < records.size(); ++i) {
            EXPECT_EQ(*block.as<int32_t>(0, static_cast<int64_t>(i)), records[i]);
            ++seen[static_cast<size_t>(records[i])];
          }
        });
    EXPECT_TRUE(
        std::all_of(seen.begin(), seen.end(), [](const auto& count) { return count == 1; }));
    EXPECT_EQ(done, 5000);
    EXPECT_EQ(result.records, 5000);
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.bytes(), 50000);
  }
}

TEST(ScanTest, OnlySomeRecords) {
  const Numbers source(100, {}, {}, false);
  const std::vector<int64_t> wanted = {7, 3, 99};
  std::mutex mutex;
  int64_t sum = 0;
  ScanOptions options;
  options.records = wanted;
  Scan(source, options, [&](std::span<const int64_t> records, const Block&) {
    std::lock_guard lock(mutex);
    for (const int64_t record : records) sum += record;
  });
  EXPECT_EQ(sum, 109);
}

TEST(ScanTest, BadRecordsDoNotEndIt) {
  const Numbers source(100, {4, 50}, {20, 21}, false);
  BadRecords bad(1000, [](const DataError&) {});
  std::mutex mutex;
  std::vector<int64_t> failed, good;
  ScanOptions options;
  options.bad = &bad;
  options.failed = [&](int64_t record, const DataError&) { failed.push_back(record); };
  Scan(source, options, [&](std::span<const int64_t> records, const Block& block) {
    std::lock_guard lock(mutex);
    for (size_t i = 0; i < records.size(); ++i) {
      if (!block.bad(static_cast<int64_t>(i))) good.push_back(records[i]);
    }
  });
  EXPECT_THAT(failed, ::testing::UnorderedElementsAre(20, 21));
  EXPECT_EQ(bad.count(), 2);
  EXPECT_THAT(good, SizeIs(96));
}

TEST(ScanTest, EndsWithAnErrorOrWhenAsked) {
  const auto nothing = [](std::span<const int64_t>, const Block&) {};
  EXPECT_THAT(MessageOf<DataError>([&] { Scan(Numbers(100, {4}, {}, false), {}, nothing); }),
              HasSubstr("record 4 is bad"));
  ScanOptions options;
  options.workers = 1;
  options.progress = [](const ScanProgress&) { return false; };
  EXPECT_THROW(
      Scan(Numbers(100, {}, {}, false), options,
           [](std::span<const int64_t>, const Block&) -> void { throw Invalid("enough"); }),
      UserError);
  // Progress is asked at the end at the latest.
  EXPECT_THAT(Scan(Numbers(100, {}, {}, false), options, nothing).records, Ge(100));
}

}  // namespace
}  // namespace flatout::data
