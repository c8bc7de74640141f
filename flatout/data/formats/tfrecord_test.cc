#include "flatout/data/formats/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Scratch;

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

std::string AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string FileContent(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One record as the format says.
std::string Framed(const std::string& data) {
  const auto number = [](auto value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const std::string length = number(static_cast<uint64_t>(data.size()));
  return length + number(MaskedCrc32c(AsBytes(length))) + data +
         number(MaskedCrc32c(AsBytes(data)));
}

class TfRecord : public ::testing::Test {
 protected:
  void SetUp() override { setenv("FLATOUT_CACHE", "off", 1); }
  void TearDown() override { unsetenv("FLATOUT_CACHE"); }

  std::shared_ptr<const TfRecordFile> Open(const std::string& content) {
    return TfRecordFile::Open(scratch_.Write("file", content));
  }
  // What the records are, "!" and the message where there is an error.
  std::vector<std::string> Records(const TfRecordFile& file) {
    std::vector<std::string> records;
    std::vector<std::byte> scratch;
    for (int64_t i = 0; i < file.size(); ++i) {
      try {
        records.push_back(AsText(file.Read(i, scratch)));
      } catch (const DataError& error) {
        records.push_back("!" + std::string(error.what()));
      }
    }
    return records;
  }

  Scratch scratch_;
};

TEST_F(TfRecord, ReadsAndWritesWhatTensorFlowWrites) {
  std::ifstream in(std::string(FLATOUT_SOURCE_DIR) + "/tests/recorded/tfrecords.json");
  const json recorded = json::parse(in);
  ASSERT_EQ(recorded["files"].size(), 3U);
  for (const json& c : recorded["files"]) {
    SCOPED_TRACE(c["packing"]);
    const std::string content = FromHex(c["content"]);
    const auto file = Open(content);
    EXPECT_EQ(file->file().packing(), c["packing"]);
    EXPECT_EQ(file->index().damage, TfRecordDamage::kNone);
    std::vector<std::string> records;
    for (const json& record : c["records"]) records.push_back(FromHex(record));
    EXPECT_EQ(Records(*file), records);

    const std::string path = scratch_ / "written";
    TfRecordWriter writer(path, c["packing"] == "gzip"   ? TfRecordPacking::kGzip
                                : c["packing"] == "zlib" ? TfRecordPacking::kZlib
                                                         : TfRecordPacking::kNone);
    for (const std::string& record : records) writer.Write(record);
    writer.Close();
    EXPECT_EQ(writer.records(), static_cast<int64_t>(records.size()));
    EXPECT_EQ(writer.bytes(), file->file().size());
    if (c["packing"] == "") {
      EXPECT_EQ(FileContent(path), content);
    } else {
      EXPECT_EQ(Records(*TfRecordFile::Open(path)), records);
    }
  }
}

TEST_F(TfRecord, FilesOfManySizes) {
  std::mt19937 random(1);
  for (size_t most : {1, 30, 5000, 300000}) {
    std::vector<std::string> records;
    std::string content;
    for (int i = 0; i < 50; ++i) {
      std::string data(random() % (most + 1), '\0');
      for (char& c : data) c = static_cast<char>(random());
      content += Framed(data);
      records.push_back(std::move(data));
    }
    EXPECT_TRUE(Records(*Open(content)) == records) << most;
    EXPECT_TRUE(Records(*Open(Gzip(content))) == records) << most;
    EXPECT_EQ(IndexTfRecords(AsBytes(content)).offsets, Open(content)->index().offsets);
  }
}

TEST_F(TfRecord, AnEmptyFileHasNoRecords) {
  EXPECT_EQ(Open("")->size(), 0);
  EXPECT_EQ(Open(Gzip(""))->size(), 0);
  EXPECT_EQ(Open("")->index().damage, TfRecordDamage::kNone);
}

TEST_F(TfRecord, AFileThatIsCutKeepsTheRecordsBefore) {
  const std::string whole = Framed("first") + Framed("second") + Framed("the third");
  const size_t third = whole.size() - (12 + 9 + 4);
  for (size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    const auto file = Open(whole.substr(0, size));
    // Lengths of whole records before the cut.
    const std::vector<size_t> ends = {21, 21 + 22, whole.size()};
    size_t good = 0;
    while (ends[good] <= size) ++good;
    const size_t begin = good == 0 ? 0 : ends[good - 1];
    const bool cut = size > begin;
    ASSERT_EQ(file->size(), static_cast<int64_t>(good + (cut ? 1 : 0)));
    EXPECT_EQ(file->index().damage, !cut                ? TfRecordDamage::kNone
                                    : size - begin < 12 ? TfRecordDamage::kCutHeader
                                                        : TfRecordDamage::kCutData);
    const std::vector<std::string> records = Records(*file);
    const std::vector<std::string> all = {"first", "second", "the third"};
    for (size_t i = 0; i < good; ++i) EXPECT_EQ(records[i], all[i]);
    if (cut) {
      EXPECT_THAT(records.back(),
                  AllOf(HasSubstr(scratch_ / "file"), HasSubstr(fmt::format("record {}", good)),
                        HasSubstr(fmt::format("at byte {}", begin)), HasSubstr("is cut")));
    }
  }
  EXPECT_THAT(Records(*Open(whole.substr(0, third + 15))).back(),
              AllOf(HasSubstr("expected 9 bytes of data and 4 of checksum"), HasSubstr("after 3."),
                    HasSubstr("max_bad_records")));
}

TEST_F(TfRecord, AFlippedDataByteIsOneBadRecord) {
  std::string content = Framed("first") + Framed("second") + Framed("third");
  for (size_t at = 21 + 12; at < 21 + 22; ++at) {  // data and checksum of the second
    std::string bad = content;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    const std::vector<std::string> records = Records(*Open(bad));
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0], "first");
    EXPECT_THAT(records[1], AllOf(HasSubstr("record 1 at byte 21"),
                                  HasSubstr("checksum of its 6 bytes of data is wrong")));
    EXPECT_EQ(records[2], "third");
  }
}

TEST_F(TfRecord, AFlippedLengthByteLosesTheRestOfTheFile) {
  std::string content = Framed("first") + Framed("second") + Framed("third");
  for (size_t at = 21; at < 21 + 12; ++at) {
    std::string bad = content;
    bad[at] = static_cast<char>(bad[at] ^ 0x81);
    const auto file = Open(bad);
    EXPECT_EQ(file->index().damage, TfRecordDamage::kLengthChecksum);
    const std::vector<std::string> records = Records(*file);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0], "first");
    EXPECT_THAT(records[1],
                AllOf(HasSubstr("record 1 at byte 21"), HasSubstr("checksum of its length"),
                      HasSubstr("remaining 43 bytes of the file are lost")));
  }
}

TEST_F(TfRecord, AHugeLengthIsNoReasonToAllocate) {
  // A length with the right checksum that no file can hold.
  for (uint64_t length : {~uint64_t{0}, uint64_t{1} << 63, ~uint64_t{0} - 15, uint64_t{1} << 40}) {
    std::string header(reinterpret_cast<const char*>(&length), 8);
    const uint32_t sum = MaskedCrc32c(AsBytes(header));
    header.append(reinterpret_cast<const char*>(&sum), 4);
    const auto file = Open(Framed("first") + header + "some data");
    EXPECT_EQ(file->index().damage, TfRecordDamage::kCutData);
    EXPECT_THAT(Records(*file)[1], HasSubstr(fmt::format("expected {} bytes of data", length)));
  }
}

TEST_F(TfRecord, TrailingBytesAreOneBadRecord) {
  EXPECT_THAT(Records(*Open(Framed("first") + "garbage")),
              ElementsAre("first", HasSubstr("cut inside a record's header")));
  EXPECT_THAT(Records(*Open(Framed("first") + std::string(100, '\0'))),
              ElementsAre("first", HasSubstr("remaining 100 bytes of the file are lost")));
}

TEST_F(TfRecord, OtherFilesAreRecognised) {
  EXPECT_THAT(Records(*Open("name,age\nann,3\nbob,4\n"))[0],
              AllOf(HasSubstr("is this a TFRecord file"), HasSubstr("like text")));
  EXPECT_THAT(Records(*Open("PK\x03\x04 and so on, some more"))[0], HasSubstr("a zip archive"));
  EXPECT_THAT(Records(*Open(Gzip("name,age\nann,3\nbob,4\n")))[0], HasSubstr("like text"));
}

TEST_F(TfRecord, APlainFileMayBeginLikeGzipOrZlib) {
  // Lengths whose first bytes are 1f 8b 08 and 78 5e.
  for (size_t length : {size_t{0x088b1f}, size_t{0x5e78}}) {
    const std::string data(length, 'x');
    const auto file = Open(Framed(data));
    EXPECT_EQ(file->file().packing(), "");
    ASSERT_EQ(file->size(), 1);
    EXPECT_TRUE(Records(*file)[0] == data);
  }
}

TEST_F(TfRecord, DamagedPackingIsAnErrorOfTheFile) {
  const std::string packed = Gzip(Framed(std::string(10000, 'x')) + Framed("second"));
  EXPECT_THAT(MessageOf<DataError>([&] { Open(packed.substr(0, packed.size() - 3)); }),
              AllOf(HasSubstr("gzip stream is cut"), HasSubstr("file")));
}

TEST_F(TfRecord, AnIndexIsKeptAndNoticesChanges) {
  setenv("FLATOUT_CACHE", (scratch_ / "cache").c_str(), 1);
  EXPECT_EQ(Open(Framed("one") + Framed("two"))->size(), 2);
  EXPECT_FALSE(fs::is_empty(scratch_ / "cache/index"));
  EXPECT_EQ(TfRecordFile::Open(scratch_ / "file")->size(), 2);
  EXPECT_EQ(Open(Framed("one"))->size(), 1);
  // Damage is remembered too.
  Open(Framed("one") + "x");
  EXPECT_EQ(TfRecordFile::Open(scratch_ / "file")->index().damage, TfRecordDamage::kCutHeader);
}

TEST_F(TfRecord, AFileThatChangesUnderItsIndexIsAnError) {
  const auto file = Open(Framed("one") + Framed("second"));
  // Written over in place, as long as before, with other lengths.
  std::fstream(scratch_ / "file", std::ios::binary | std::ios::in | std::ios::out)
      << Framed("second") << Framed("one");
  EXPECT_THAT(Records(*file)[0], HasSubstr("the file has changed"));
}

TEST_F(TfRecord, RandomBytesNeverDoHarm) {
  std::mt19937 random(5);
  const std::string whole = Framed("first") + Framed("") + Framed(std::string(300, 'y'));
  for (int round = 0; round < 3000; ++round) {
    std::string bad = whole;
    for (unsigned i = random() % 4; i > 0; --i) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    if (random() % 2 == 0) bad.resize(random() % bad.size());
    const TfRecordIndex index = IndexTfRecords(AsBytes(bad));
    EXPECT_EQ(index.offsets.back(), static_cast<int64_t>(bad.size()));
    EXPECT_TRUE(std::is_sorted(index.offsets.begin(), index.offsets.end()));
    EXPECT_LE(index.size(), 4);
  }
}

// ---- writing ----

TEST_F(TfRecord, NothingIsSeenBeforeClose) {
  const std::string path = scratch_ / "out.tfrecord";
  {
    TfRecordWriter writer(path);
    writer.Write("never finished");
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(fs::is_empty(scratch_.path()));
  scratch_.Write("out.tfrecord", "before");
  TfRecordWriter writer(path);
  for (int i = 0; i < 100000; ++i) writer.Write("some record");
  EXPECT_EQ(FileContent(path), "before");
  writer.Close();
  EXPECT_EQ(TfRecordFile::Open(path)->size(), 100000);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch_.path()), {}), 1);
  EXPECT_THROW(writer.Write("x"), InternalError);
}

TEST_F(TfRecord, WritersErrorsNameTheFile) {
  EXPECT_THAT(MessageOf<UserError>([&] { TfRecordWriter(scratch_ / "no/folder/x"); }),
              HasSubstr("no/folder/x"));
  // A folder stands where the file is to go.
  fs::create_directories(scratch_ / "folder/x");
  TfRecordWriter writer(scratch_ / "folder");
  writer.Write("x");
  EXPECT_THAT(MessageOf<UserError>([&] { writer.Close(); }), HasSubstr(scratch_ / "folder"));
}

TEST_F(TfRecord, LargeAndEmptyRecordsInEachPacking) {
  for (TfRecordPacking packing :
       {TfRecordPacking::kNone, TfRecordPacking::kGzip, TfRecordPacking::kZlib}) {
    TfRecordWriter writer(scratch_ / "w", packing);
    const std::string large(5 << 20, 'z');
    writer.Write("");
    writer.Write(large);
    writer.Write("");
    writer.Close();
    const auto file = TfRecordFile::Open(scratch_ / "w");
    EXPECT_TRUE(Records(*file) == (std::vector<std::string>{"", large, ""}));
    TfRecordWriter none(scratch_ / "none", packing);
    none.Close();
    EXPECT_EQ(TfRecordFile::Open(scratch_ / "none")->size(), 0);
  }
}

}  // namespace
}  // namespace flatout::data
