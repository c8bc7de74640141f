#include "flatout/data/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>

#include "flatout/data/file_bytes.h"
#include "flatout/data/testing.h"
#include "flatout/data/unpack.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::MessageOf;
using ::testing::Not;
using testing::Scratch;

std::string Zlib(const std::string& content) {
  uLongf size = compressBound(content.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(content.data()), content.size(), 6);
  packed.resize(size);
  return packed;
}

std::string Random(size_t bytes, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::string Content(const ByteFile& file) {
  std::vector<std::byte> scratch;
  const std::span<const std::byte> bytes = file.Read(0, file.size(), scratch);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Gives the tests a cache folder of their own.
class Files : public ::testing::Test {
 protected:
  void SetUp() override { setenv("FLATOUT_CACHE", (scratch_ / "cache").c_str(), 1); }
  void TearDown() override { unsetenv("FLATOUT_CACHE"); }
  std::vector<std::string> Expand(const std::vector<std::string>& patterns) {
    std::vector<std::string> names;
    for (std::string pattern : patterns) names.push_back(scratch_ / pattern);
    std::vector<std::string> files = ExpandFiles(names);
    for (std::string& file : files) file = file.substr(scratch_.path().size() + 1);
    return files;
  }
  std::string ExpandError(const std::string& pattern) {
    return MessageOf<DataError>([&] { Expand({pattern}); });
  }

  Scratch scratch_;
};

TEST_F(Files, PatternsGiveNamesSortedAndOnce) {
  fs::create_directories(scratch_ / "d/e/f");
  for (const char* name : {"d/b.csv", "d/a.csv", "d/c.txt", "d/e/g.csv", "d/e/f/h.csv", "d/.hidden",
                           "d/_SUCCESS", "d/[1].csv"}) {
    scratch_.Write(name, "x");
  }
  EXPECT_THAT(Expand({"d/b.csv"}), ElementsAre("d/b.csv"));
  EXPECT_THAT(Expand({"d/*.csv"}), ElementsAre("d/[1].csv", "d/a.csv", "d/b.csv"));
  EXPECT_THAT(Expand({"d/?.csv"}), ElementsAre("d/a.csv", "d/b.csv"));
  EXPECT_THAT(Expand({"d/[ac].*"}), ElementsAre("d/a.csv", "d/c.txt"));
  EXPECT_THAT(Expand({"d/**/*.csv"}),
              ElementsAre("d/[1].csv", "d/a.csv", "d/b.csv", "d/e/f/h.csv", "d/e/g.csv"));
  EXPECT_THAT(Expand({"*/e/**"}), ElementsAre("d/e/f/h.csv", "d/e/g.csv"));
  EXPECT_THAT(Expand({"d"}), ElementsAre("d/[1].csv", "d/a.csv", "d/b.csv", "d/c.txt"));
  EXPECT_THAT(Expand({"d/[1].csv"}), ElementsAre("d/[1].csv"));
  EXPECT_THAT(Expand({"d/b.csv", "d/*.csv", "d/./b.csv"}),
              ElementsAre("d/[1].csv", "d/a.csv", "d/b.csv"));
}

TEST_F(Files, PatternsThatNameNothingSayWhatIsThere) {
  fs::create_directories(scratch_ / "train/sub");
  fs::create_directories(scratch_ / "empty");
  fs::create_directories(scratch_ / "nested/sub");
  scratch_.Write("train/part-0.tfrecord", "x");
  EXPECT_THAT(ExpandError("train/part-0.tfrecords"), HasSubstr("nearest name there is"));
  EXPECT_THAT(ExpandError("train/part-*.tfrecords"),
              AllOf(HasSubstr("names no file"), HasSubstr("part-0.tfrecord")));
  EXPECT_THAT(ExpandError("trian/part-*"), AllOf(HasSubstr("has no trian"), HasSubstr("train")));
  EXPECT_THAT(ExpandError("train/**/*.csv"), HasSubstr("names no file"));
  EXPECT_THAT(ExpandError("empty"), HasSubstr("holds no files"));
  EXPECT_THAT(ExpandError("empty/*"), HasSubstr("is empty"));
  EXPECT_THAT(ExpandError("nested"), HasSubstr("nested/**"));
  EXPECT_THAT(ExpandError("none/x"), HasSubstr("does not exist either"));
  EXPECT_THAT(MessageOf<DataError>([] { ExpandFiles({"gs://bucket/train.tfrecord"}); }),
              HasSubstr("looks like an address"));
  EXPECT_THAT(MessageOf<DataError>([] { ExpandFiles({""}); }), HasSubstr("empty"));
}

TEST_F(Files, LinksInCirclesEnd) {
  fs::create_directories(scratch_ / "d");
  scratch_.Write("d/a.csv", "x");
  fs::create_directory_symlink(scratch_ / "d", scratch_ / "d/again");
  EXPECT_GE(Expand({"d/**/*.csv"}).size(), 1U);
}

TEST_F(Files, ReadsPlainGzipAndZlibByContent) {
  const std::string text = Random(100000) + std::string(50000, 'x');
  // Names say the wrong thing on purpose.
  for (const auto& [name, content, packing] :
       {std::tuple("plain.gz", text, ""), std::tuple("packed", Gzip(text), "gzip"),
        std::tuple("z.txt", Zlib(text), "zlib"),
        std::tuple("two", Gzip(text.substr(0, 70000)) + Gzip(text.substr(70000)), "gzip"),
        std::tuple("padded", Gzip(text) + std::string(512, '\0'), "gzip")}) {
    const auto file = ByteFile::Open(scratch_.Write(name, content));
    EXPECT_EQ(file->packing(), packing) << name;
    EXPECT_EQ(file->size(), static_cast<int64_t>(text.size())) << name;
    EXPECT_TRUE(Content(*file) == text) << name;
    EXPECT_EQ(file->resident(), *packing != '\0') << name;
    std::vector<std::byte> scratch;
    const auto part = file->Read(99990, 20, scratch);
    EXPECT_EQ(std::memcmp(part.data(), text.data() + 99990, 20), 0) << name;
    std::vector<std::byte> into(20);
    file->ReadInto(99990, into);
    EXPECT_EQ(std::memcmp(into.data(), text.data() + 99990, 20), 0) << name;
    EXPECT_EQ(file->Read(file->size(), 0, scratch).size(), 0U);
    EXPECT_THROW(file->Read(file->size() - 3, 4, scratch), InternalError);
    EXPECT_THROW(file->Read(-1, 1, scratch), InternalError);
  }
}

// Members of all lengths, so that they end at every place relative to the pieces that are read.
TEST_F(Files, ManyMembersAreOneContent) {
  std::string content, packed;
  for (int i = 0; packed.size() < (size_t{1} << 20); ++i) {
    const std::string part = Random(static_cast<size_t>(i % 97));
    content += part;
    packed += Gzip(part);
  }
  const auto file = ByteFile::Open(scratch_.Write("many", packed));
  EXPECT_EQ(file->size(), static_cast<int64_t>(content.size()));
  EXPECT_TRUE(Content(*file) == content);
  // Zeros may follow, wherever the last member ends.
  for (size_t zeros = 1; zeros < 12; ++zeros) {
    packed = Gzip(content.substr(0, 1000 + zeros)) + std::string(zeros, '\0');
    EXPECT_TRUE(Content(*ByteFile::Open(scratch_.Write("zeros", packed))) ==
                content.substr(0, 1000 + zeros));
  }
}

TEST_F(Files, ShortAndEmptyFilesAreFiles) {
  EXPECT_EQ(ByteFile::Open(scratch_.Write("empty", ""))->size(), 0);
  EXPECT_EQ(ByteFile::Open(scratch_.Write("one", "\x1f"))->size(), 1);
  EXPECT_EQ(ByteFile::Open(scratch_.Write("packed", Gzip("")))->size(), 0);
  EXPECT_EQ(ByteFile::Open(scratch_.Write("z", Zlib("")))->packing(), "zlib");
}

TEST_F(Files, TextThatBeginsLikeZlibIsText) {
  // 78 5e, 48 2c and 68 43 are right zlib headers.
  std::string lines = "x^2 + y^2 = 1\n";
  for (std::string start : {"x^2 + y^2\n", "H,W,C\n1,2,3\n", "hC;"}) {
    EXPECT_EQ(ByteFile::Open(scratch_.Write("text", start))->packing(), "") << start;
    std::string longer = start;
    while (longer.size() < 10000) longer += lines;
    EXPECT_EQ(ByteFile::Open(scratch_.Write("text", longer))->packing(), "") << start;
  }
  // Compressed content of any length is recognised.
  for (size_t size : {1, 10, 100, 1000, 10000}) {
    EXPECT_EQ(ByteFile::Open(scratch_.Write("z", Zlib(Random(size))))->packing(), "zlib") << size;
  }
}

TEST_F(Files, ThePlainTestComesFirst) {
  const std::string path = scratch_.Write("file", Gzip("content"));
  EXPECT_EQ(ByteFile::Open(path, [](std::span<const std::byte>) { return true; })->packing(), "");
  EXPECT_EQ(ByteFile::Open(path, [](std::span<const std::byte>) { return false; })->packing(),
            "gzip");
}

std::string OpenError(const std::string& path) {
  return MessageOf<DataError>([&] { ByteFile::Open(path); });
}

TEST_F(Files, DamagedStreamsSayWhere) {
  const std::string text = Random(10000);
  const std::string gz = Gzip(text);
  const auto cut = [&](const std::string& packed, size_t size) {
    return OpenError(scratch_.Write("file", packed.substr(0, size)));
  };
  EXPECT_THAT(cut(gz, 6000), AllOf(HasSubstr("gzip stream is cut"), HasSubstr("byte 6000")));
  EXPECT_THAT(cut(gz, gz.size() - 1), HasSubstr("gzip stream is cut"));
  EXPECT_THAT(cut(gz, 5), HasSubstr("gzip stream is cut"));
  EXPECT_THAT(cut(Zlib(text), 6000), AllOf(HasSubstr("zlib stream is cut"), HasSubstr("6000")));
  EXPECT_THAT(cut(gz + gz, gz.size() + 100), HasSubstr("member 2"));
  std::string flipped = gz;
  flipped[5000] = static_cast<char>(flipped[5000] ^ 0x10);
  EXPECT_THAT(cut(flipped, flipped.size()), HasSubstr("gzip stream is corrupt"));
  EXPECT_THAT(cut(gz + "garbage", gz.size() + 7),
              AllOf(HasSubstr("trailing bytes"), HasSubstr(std::to_string(gz.size()))));
  EXPECT_THAT(cut(Zlib(text) + "x", 1 << 20), HasSubstr("trailing bytes"));
}

TEST_F(Files, MissingFilesAndFoldersAreErrors) {
  scratch_.Write("train.csv", "x");
  EXPECT_THAT(OpenError(scratch_ / "trian.csv"),
              AllOf(HasSubstr("no such file"), HasSubstr("train.csv")));
  EXPECT_THAT(OpenError(scratch_.path()), HasSubstr("found a folder"));
  EXPECT_THAT(OpenError(scratch_ / "train.csv/x"), HasSubstr("no such file"));
}

TEST_F(Files, AFileThatBecomesShorterIsAnError) {
  const std::string path = scratch_.Write("file", Random(1000));
  const auto file = ByteFile::Open(path);
  fs::resize_file(path, 300);
  std::vector<std::byte> scratch;
  EXPECT_EQ(file->Read(0, 300, scratch).size(), 300U);
  EXPECT_THAT(MessageOf<DataError>([&] { file->Read(200, 200, scratch); }),
              AllOf(HasSubstr("become shorter"), HasSubstr("expected 1000 bytes, found 300")));
}

TEST_F(Files, LargeContentIsUnpackedToDisk) {
  // More than 64 MiB, quickly packed.
  std::string text(size_t{70} << 20, 'a');
  for (size_t i = 0; i < text.size(); i += 4096) text[i] = static_cast<char>(i / 4096);
  const std::string path = scratch_.Write("large", Gzip(text));
  const auto file = ByteFile::Open(path);
  EXPECT_FALSE(file->resident());
  EXPECT_EQ(file->packing(), "gzip");
  EXPECT_TRUE(Content(*file) == text);
  // Nothing with a name is left to be cleaned up.
  EXPECT_TRUE(fs::is_empty(scratch_ / "cache/unpacked"));
  // Whoever opens it meanwhile gets the same content without unpacking.
  EXPECT_EQ(ByteFile::Open(path).get(), file.get());
}

TEST_F(Files, MoreFilesThanMayBeOpenCanBeRead) {
  // In a process of its own, since the limit is asked for only once.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto read_all = [&] {
    constexpr int kFiles = 300;
    const rlimit few{64, 64};
    bool right = setrlimit(RLIMIT_NOFILE, &few) == 0;
    std::vector<std::shared_ptr<const ByteFile>> files;
    for (int i = 0; i < kFiles; ++i) {
      files.push_back(ByteFile::Open(scratch_.Write(fmt::format("f{}", i), std::to_string(i))));
    }
    for (int i = 0; i < kFiles; ++i) {
      right = right && Content(*files[static_cast<size_t>(i)]) == std::to_string(i);
    }
    fs::remove_all(scratch_.path());
    std::exit(right ? 0 : 1);
  };
  EXPECT_EXIT(read_all(), ::testing::ExitedWithCode(0), "");
}

// Neither read without end nor waited for.
TEST_F(Files, PipesAndDevicesAreRefused) {
  const std::string path = scratch_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (const std::string& name : {path, std::string("/dev/zero")}) {
    EXPECT_THAT(MessageOf<DataError>([&] { ByteFile::Open(name); }),
                HasSubstr("expected a file, found a pipe or device"));
    EXPECT_THAT(MessageOf<DataError>([&] { LoadFile(name); }),
                HasSubstr("expected a file, found a pipe or device"));
  }
}

class Index : public Files {
 protected:
  std::vector<int64_t> Get(std::string_view kind = "test") {
    return CachedIndex(path_, kind, [&] {
      ++built_;
      return std::vector<int64_t>{fs::file_size(path_) > 0 ? 1 : 0, -5, built_};
    });
  }
  std::vector<std::string> Entries() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(scratch_ / "cache/index")) {
      names.push_back(entry.path());
    }
    return names;
  }

  std::string path_ = scratch_.Write("data", "content");
  int64_t built_ = 0;
};

TEST_F(Index, IsBuiltOnceForAFileAndKind) {
  EXPECT_THAT(Get(), ElementsAre(1, -5, 1));
  EXPECT_THAT(Get(), ElementsAre(1, -5, 1));
  EXPECT_THAT(Get("other"), ElementsAre(1, -5, 2));
  EXPECT_THAT(Get(), ElementsAre(1, -5, 1));
  EXPECT_EQ(Entries().size(), 2U);
  // The same file by another name.
  const fs::path here = fs::current_path();
  fs::current_path(scratch_.path());
  EXPECT_THAT(CachedIndex("./data", "test", [] { return std::vector<int64_t>{9}; }),
              ElementsAre(1, -5, 1));
  fs::current_path(here);
}

TEST_F(Index, IsBuiltAgainWhenTheFileChanges) {
  Get();
  scratch_.Write("data", "changed");  // as long as before
  EXPECT_THAT(Get(), ElementsAre(1, -5, 2));
  scratch_.Write("data", "changed and longer");
  EXPECT_THAT(Get(), ElementsAre(1, -5, 3));
  EXPECT_EQ(Entries().size(), 1U);
}

TEST_F(Index, ADamagedEntryIsMadeAgain) {
  Get();
  const std::string entry = Entries().front();
  std::ifstream in(entry, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    std::ofstream(entry, std::ios::binary) << bad;
    const int64_t before = built_;
    EXPECT_EQ(Get()[2], before + 1) << "byte " << i;
    std::ofstream(entry, std::ios::binary) << good.substr(0, i);
    EXPECT_EQ(Get()[2], before + 2) << "cut at " << i;
  }
}

TEST_F(Index, WorksWithoutAFolder) {
  setenv("FLATOUT_CACHE", "off", 1);
  EXPECT_THAT(Get(), ElementsAre(1, -5, 1));
  EXPECT_THAT(Get(), ElementsAre(1, -5, 2));
  // A file where the folder should be.
  setenv("FLATOUT_CACHE", path_.c_str(), 1);
  EXPECT_THAT(Get(), ElementsAre(1, -5, 3));
}

TEST_F(Index, ErrorsOfBuildingAreNotKept) {
  EXPECT_THROW(CachedIndex(path_, "k", []() -> std::vector<int64_t> { throw BadData("broken"); }),
               DataError);
  EXPECT_THAT(CachedIndex(path_, "k", [] { return std::vector<int64_t>{7}; }), ElementsAre(7));
}

TEST(ForEachFile, RunsEachOnceAndThrowsTheFirstFilesError) {
  std::vector<std::atomic<int>> runs(100);
  ForEachFile(100, [&](size_t i) { ++runs[i]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  ForEachFile(0, [](size_t) { FAIL(); });
  for (int round = 0; round < 20; ++round) {
    EXPECT_THAT(MessageOf<DataError>([] {
                  ForEachFile(50, [](size_t i) {
                    if (i >= 7) throw BadData("file {}", i);
                  });
                }),
                "file 7");
  }
}

// Record i holds i.
class Counting : public Source {
 public:
  explicit Counting(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void Read(ReadContext&, int64_t, std::span<const int64_t> records, Block& out) const override {
    for (size_t i = 0; i < records.size(); ++i) {
      *out.as<int64_t>(0, static_cast<int64_t>(i)) = records[i];
    }
  }
  const std::string& description() const override { return description_; }

 private:
  const int64_t size_;
  const std::vector<Field> fields_ = {Field{"value", ir::Shape(ir::DType::kI64, {})}};
  const std::string description_ = "counting";
};

class Splits : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    for (const char* name : {"a", "b", "c"}) scratch_.Write(name, "x");
  }
  SourcePtr Open(const SplitOptions& options, std::string_view split, int64_t size = 100) {
    return OpenSplit("counting", options, split, [&](const std::vector<std::string>& files) {
      opened_ = files;
      return std::make_shared<Counting>(size);
    });
  }
  // First and last value, and how many.
  static std::vector<int64_t> Ends(const SourcePtr& source) {
    ReadContext context;
    Block block;
    std::vector<int64_t> records(static_cast<size_t>(source->size()));
    std::iota(records.begin(), records.end(), 0);
    block.Reset(source->fields(), source->size());
    source->Read(context, 0, records, block);
    for (int64_t i = 1; i < block.rows(); ++i) {
      EXPECT_EQ(*block.as<int64_t>(0, i), *block.as<int64_t>(0, i - 1) + 1);
    }
    return {*block.as<int64_t>(0), *block.as<int64_t>(0, block.rows() - 1), source->size()};
  }
  SplitOptions Options(double validation_split = 0, int64_t limit = 0) {
    SplitOptions options;
    options.files = {scratch_ / "a"};
    options.validation_split = validation_split;
    options.limit = limit;
    return options;
  }

  std::vector<std::string> opened_;
};

TEST_F(Splits, ValidationTakesTheLastRecords) {
  EXPECT_THAT(Ends(Open(Options(), "train")), ElementsAre(0, 99, 100));
  EXPECT_EQ(Open(Options(), "validation"), nullptr);
  EXPECT_EQ(Open(Options(), "test"), nullptr);
  EXPECT_THAT(Ends(Open(Options(0.1), "train")), ElementsAre(0, 89, 90));
  EXPECT_THAT(Ends(Open(Options(0.1), "validation")), ElementsAre(90, 99, 10));
  EXPECT_THAT(Ends(Open(Options(25), "train")), ElementsAre(0, 74, 75));
  EXPECT_THAT(Ends(Open(Options(25), "validation")), ElementsAre(75, 99, 25));
  EXPECT_THAT(Ends(Open(Options(0.1, 7), "train")), ElementsAre(0, 6, 7));
  EXPECT_THAT(Ends(Open(Options(0.1, 7), "validation")), ElementsAre(90, 96, 7));
  EXPECT_THAT(Ends(Open(Options(0, 1000), "train")), ElementsAre(0, 99, 100));
  EXPECT_THAT(Open(Options(0.1), "validation")->description(),
              AllOf(HasSubstr("counting validation: 10 records"), HasSubstr("value i64[]")));
}

TEST_F(Splits, FilesOfTheirOwn) {
  SplitOptions options = Options();
  options.validation_files = {scratch_ / "b"};
  options.test_files = {scratch_ / "[bc]"};
  EXPECT_THAT(Ends(Open(options, "validation")), ElementsAre(0, 99, 100));
  EXPECT_THAT(opened_, ElementsAre(scratch_ / "b"));
  Open(options, "test");
  EXPECT_THAT(opened_, ElementsAre(scratch_ / "b", scratch_ / "c"));
}

TEST_F(Splits, ImpossibleSplitsAreErrors) {
  EXPECT_THAT(MessageOf<DataError>([&] { Open(Options(0.001), "train"); }),
              HasSubstr("both splits need at least one"));
  EXPECT_THAT(MessageOf<DataError>([&] { Open(Options(100), "validation"); }),
              HasSubstr("takes 100 of the 100"));
  EXPECT_THAT(MessageOf<DataError>([&] { Open(Options(), "train", 0); }), HasSubstr("no records"));
  EXPECT_THAT(MessageOf<UserError>([&] { Open(Options(0.5), "train", kUnknown); }),
              HasSubstr("known number of records"));
}

std::string CheckError(const std::string& toml) {
  return MessageOf<UserError>([&] {
    const Config table = Config::ParseToml(toml, "run.toml");
    SplitOptions options;
    FieldReader reader(table, "data");
    options.Visit(reader);
    options.Check(reader);
  });
}

TEST_F(Splits, WrongValuesAreComplainedOfAtTheirPlace) {
  EXPECT_THAT(CheckError("files = 'a'\nvalidation_split = 1.5"),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("a share")));
  EXPECT_THAT(CheckError("files = 'a'\nvalidation_split = -1"), HasSubstr("run.toml:2"));
  EXPECT_THAT(CheckError("files = 'a'\nlimit = -1"), HasSubstr("run.toml:2"));
  EXPECT_THAT(CheckError("files = []"), HasSubstr("run.toml:1"));
  EXPECT_THAT(CheckError("files = ['a', '']"), HasSubstr("none of them empty"));
  EXPECT_THAT(CheckError("test_files = 'a'\nvalidation_split = 0.1"), HasSubstr("no training"));
  EXPECT_THAT(CheckError("files = 'a'\nvalidation_files = 'b'\nvalidation_split = 0.1"),
              AllOf(HasSubstr("run.toml:3"), HasSubstr("one of the two")));
  EXPECT_THAT(CheckError("limit = 1"), HasSubstr("expected `files`"));
}

}  // namespace
}  // namespace flatout::data
