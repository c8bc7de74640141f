#include "flatout/checkpoint/snapshot.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <random>
#include <regex>

#include "flatout/base/file.h"
#include "flatout/checkpoint/manifest.h"
#include "flatout/checkpoint/store.h"
#include "flatout/checkpoint/testing.h"

namespace flatout::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// In place: syncs, and closing a file that was emptied, would take most of the time.
void WriteText(const std::string& path, const std::string& text) {
  if (!FileExists(path)) std::ofstream(path, std::ios::binary) << text;
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << text;
  std::filesystem::resize_file(path, text.size());
}

class SnapshotTest : public ::testing::Test {
 protected:
  SnapshotTest() : store_(scratch_.File("checkpoints")) { store_.Prepare(); }

  std::string Write(int64_t step, int64_t rows = 5) {
    return store_.Write(MakeSnapshot(step, rows)).path;
  }
  // What Load says; a failed test unless it is a DataError.
  static std::string MessageOf(const std::string& path, FileSystem& files = RealFileSystem()) {
    try {
      Load(path, files);
    } catch (const DataError& error) {
      EXPECT_EQ(error.exit_code(), kExitBadData);
      return error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "another kind of error: " << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error was thrown";
    return "";
  }

  ScratchFolder scratch_;
  Store store_;
};

TEST_F(SnapshotTest, ComesBackBitForBit) {
  Snapshot snapshot = MakeSnapshot(1200);
  snapshot.epoch = 7;
  snapshot.score = Score{"val_loss", 0.1, false};
  const SnapshotInfo info = store_.Write(std::move(snapshot));
  EXPECT_EQ(info.path, scratch_.File("checkpoints/step-000001200"));
  const LoadedSnapshot loaded = Load(info.path);
  EXPECT_EQ(Difference(loaded, 1200), "");
  EXPECT_EQ(loaded.info.epoch, 7);
  ASSERT_TRUE(loaded.info.score);
  EXPECT_EQ(loaded.info.score->metric, "val_loss");
  EXPECT_EQ(loaded.info.score->value, 0.1);
  EXPECT_EQ(loaded.info.version, 1);
  EXPECT_TRUE(std::regex_match(loaded.info.time,
                               std::regex("20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ")))
      << loaded.info.time;
  EXPECT_EQ(loaded.Group("weights").metadata.at("of"), "1200");
  EXPECT_THROW(loaded.Group("nothing"), DataError);
  EXPECT_THAT(Verify(info.path), IsEmpty());
}

// Nothing but what the format says, and each file as others read it.
TEST_F(SnapshotTest, TheFolderHoldsWhatTheFormatSays) {
  const std::string path = Write(3);
  EXPECT_THAT(RealFileSystem().List(path), ElementsAre("manifest.json", "optimizer.safetensors",
                                                       "state.json", "weights.safetensors"));
  const TensorFile weights = LoadSafetensors(path + "/weights.safetensors");
  EXPECT_EQ(weights.Find("dense/kernel")->bytes, BytesOf(1, 3, 0, 5 * 4 * 4));
  EXPECT_EQ(ReadFile(path + "/state.json"), StateOf(1, 3));
  const std::string manifest = ReadFile(path + "/manifest.json");
  EXPECT_THAT(manifest, AllOf(HasSubstr("\"version\": 1"), HasSubstr("\"step\": 3"),
                              HasSubstr("\"name\": \"weights.safetensors\"")));
  EXPECT_THAT(RealFileSystem().List(store_.folder()), ElementsAre("step-000000003"));
}

TEST_F(SnapshotTest, ASnapshotWithoutTensorsIsOne) {
  Snapshot snapshot;
  snapshot.state = "";
  const LoadedSnapshot loaded = Load(store_.Write(std::move(snapshot)).path);
  EXPECT_THAT(loaded.groups, IsEmpty());
  EXPECT_EQ(loaded.state, "");
}

// Larger than a piece: copied out on one thread and written on another; pieces end within tensors,
// and tensors within pieces. 3 pieces and a bit in each group.
TEST_F(SnapshotTest, LargeOnesComeBackBitForBit) {
  const int64_t rows = 3 * kPieceBytes / 16 + 77;
  for (const int64_t staging : {int64_t{0}, int64_t{1} << 40}) {
    WriteOptions options;
    options.staging_bytes = staging;
    WriteProgress progress;
    const SnapshotInfo info = store_.Write(MakeSnapshot(5, rows), options, &progress);
    ASSERT_NE(info.Find("weights.safetensors"), nullptr);
    EXPECT_THAT(info.Find("weights.safetensors")->crc32c, SizeIs(4));
    EXPECT_EQ(progress.bytes_done, info.bytes());
    EXPECT_EQ(progress.bytes_total, info.bytes());
    EXPECT_GT(progress.copy_seconds, 0);
    EXPECT_GT(progress.write_seconds, 0);
    EXPECT_EQ(Difference(Load(info.path), 5, rows), "");
  }
}

// The room that is asked for before a snapshot is written is enough, blocks and folder included.
TEST_F(SnapshotTest, TheDiskBytesSuffice) {
  for (const int64_t rows : {1, 1000, 1 << 20}) {
    Snapshot snapshot = MakeSnapshot(7, rows);
    const int64_t bytes = snapshot.disk_bytes();
    Store store(scratch_.File(fmt::format("room{}", rows)));
    const std::string path = store.Write(std::move(snapshot)).path;
    int64_t taken = 4096;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      struct stat info {};
      ASSERT_EQ(stat(entry.path().c_str(), &info), 0);
      taken += 512 * static_cast<int64_t>(info.st_blocks);
    }
    EXPECT_LE(taken, bytes) << rows;
    EXPECT_LE(bytes, taken + (128 << 10)) << rows;
  }
}

// Somebody would have to write into it for ever.
TEST_F(SnapshotTest, APipeIsNotWaitedFor) {
  Store store(scratch_.File("pipe"));
  const std::string path = store.Write(MakeSnapshot(7)).path;
  const std::string file = path + "/weights.safetensors";
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_THAT(Verify(path), Not(IsEmpty()));
}

TEST_F(SnapshotTest, PartsCanBeLoadedAlone) {
  const std::string path = Write(9);
  // What is not asked for is not read.
  WriteText(path + "/optimizer.safetensors",
            std::string(std::filesystem::file_size(path + "/optimizer.safetensors"), 'x'));
  const LoadedSnapshot loaded = Load(path, RealFileSystem(), {"weights"});
  EXPECT_EQ(loaded.groups.size(), 1u);
  EXPECT_EQ(loaded.state, StateOf(1, 9));
  EXPECT_THAT(MessageOf(path), HasSubstr("optimizer.safetensors"));
}

// Sources are asked in order, for each byte once, and let go as soon as they are copied.
TEST_F(SnapshotTest, SourcesAreReadOnceAndLetGo) {
  const int64_t size = kPieceBytes + 1000;
  auto kept = std::make_shared<int>(0);
  std::weak_ptr<int> first = kept;
  int64_t at = 0;
  bool gone_when_second_is_read = false;
  Snapshot snapshot;
  TensorGroup& group = snapshot.groups.emplace_back();
  group.name = "weights";
  group.tensors.push_back({"a", ir::Shape(ir::DType::kU8, {size}),
                           [&at, kept](int64_t offset, std::span<std::byte> to) {
                             EXPECT_EQ(offset, at);
                             at += std::ssize(to);
                             std::fill(to.begin(), to.end(), std::byte{1});
                           }});
  kept.reset();
  int fetched = 0;
  group.tensors.push_back(
      WholeSource("b", ir::Shape(ir::DType::kU8, {size}), [&](std::span<std::byte> whole) {
        ++fetched;
        gone_when_second_is_read = first.expired();
        ASSERT_EQ(std::ssize(whole), size);
        std::fill(whole.begin(), whole.end(), std::byte{2});
      }));
  const LoadedSnapshot loaded = Load(store_.Write(std::move(snapshot)).path);
  EXPECT_EQ(at, size);
  EXPECT_EQ(fetched, 1);
  EXPECT_TRUE(gone_when_second_is_read);
  const TensorFile& weights = loaded.Group("weights");
  EXPECT_EQ(weights.tensors[0].bytes, std::vector<std::byte>(size, std::byte{1}));
  EXPECT_EQ(weights.tensors[1].bytes, std::vector<std::byte>(size, std::byte{2}));
}

TEST_F(SnapshotTest, AWrongSourceIsAFaultOfOurs) {
  EXPECT_THROW(
      HostSource("w", ir::Shape(ir::DType::kF32, {2}), std::make_shared<std::vector<std::byte>>(7)),
      InternalError);
  Snapshot snapshot = MakeSnapshot(1);
  snapshot.groups[0].tensors[1].name = snapshot.groups[0].tensors[0].name;
  EXPECT_THROW(store_.Write(std::move(snapshot)), InternalError);
  EXPECT_THAT(RealFileSystem().List(store_.folder()), IsEmpty());
}

// Every byte of every file, with every bit and with all of them: nothing is ever loaded, Verify
// says it, and says it of the right file.
TEST_F(SnapshotTest, EveryFlippedByteIsFound) {
  const std::string path = Write(42);
  int64_t flips = 0;
  for (const std::string& name : RealFileSystem().List(path)) {
    const std::string file = path + "/" + name;
    const std::string good = ReadFile(file);
    ASSERT_FALSE(good.empty());
    const int fd = open(file.c_str(), O_WRONLY);
    ASSERT_GE(fd, 0);
    for (size_t i = 0; i < good.size(); ++i) {
      for (const int mask : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
        const char bad = static_cast<char>(good[i] ^ mask);
        ASSERT_EQ(pwrite(fd, &bad, 1, static_cast<off_t>(i)), 1);
        ++flips;
        const std::vector<std::string> problems = Verify(path);
        ASSERT_THAT(problems, SizeIs(1)) << name << " byte " << i << " mask " << mask;
        ASSERT_THAT(problems[0], HasSubstr(name));
        if (mask == 1 || mask == 255) {
          ASSERT_THAT(MessageOf(path), HasSubstr(name)) << "byte " << i << " mask " << mask;
        }
      }
      ASSERT_EQ(pwrite(fd, &good[i], 1, static_cast<off_t>(i)), 1);
    }
    close(fd);
  }
  EXPECT_GT(flips, 10000);
  EXPECT_THAT(Verify(path), IsEmpty());
}

TEST_F(SnapshotTest, AFlippedByteIsToldByPlaceAndTensor) {
  const std::string path = Write(4, 2 * kPieceBytes / 16 + 10);
  const std::string file = path + "/weights.safetensors";
  const int fd = open(file.c_str(), O_WRONLY);
  ASSERT_EQ(pwrite(fd, "?!", 2, kPieceBytes + 5), 2);
  close(fd);
  const std::string where = fmt::format("bytes {} to {}", kPieceBytes, 2 * kPieceBytes - 1);
  EXPECT_THAT(Verify(path), ElementsAre(AllOf(HasSubstr(file), HasSubstr(where),
                                              HasSubstr("in which lie dense/kernel)"))));
  EXPECT_THAT(MessageOf(path), AllOf(HasSubstr(file), HasSubstr(where)));
}

TEST_F(SnapshotTest, AFileCutAnywhereIsFound) {
  const std::string path = Write(42);
  for (const std::string& name : RealFileSystem().List(path)) {
    const std::string file = path + "/" + name;
    const std::string good = ReadFile(file);
    for (size_t size = 0; size <= good.size() + 1; ++size) {
      if (size == good.size()) continue;
      std::filesystem::resize_file(file, size);
      ASSERT_THAT(MessageOf(path), HasSubstr(name)) << size;
      ASSERT_THAT(Verify(path), Not(IsEmpty())) << size;
      EXPECT_EQ(Inspect(path).condition, Condition::kDamaged);
      WriteText(file, good);
    }
  }
  EXPECT_THAT(Verify(path), IsEmpty());
}

TEST_F(SnapshotTest, AMissingFileIsFound) {
  const std::string path = Write(42);
  for (const std::string& name : RealFileSystem().List(path)) {
    const std::string file = path + "/" + name;
    const std::string good = ReadFile(file);
    std::filesystem::remove(file);
    EXPECT_THAT(MessageOf(path), AllOf(HasSubstr(name), HasSubstr("missing")));
    EXPECT_THAT(Verify(path), Not(IsEmpty()));
    const Inspection found = Inspect(path);
    EXPECT_EQ(found.condition, Condition::kDamaged);
    EXPECT_THAT(found.problem, AllOf(HasSubstr(name), HasSubstr("missing")));
    WriteText(file, good);
  }
  EXPECT_THAT(Verify(path), IsEmpty());
}

// Sealed anew with a later version's number.
TEST_F(SnapshotTest, ANewerFormatIsToldFromDamage) {
  const std::string path = Write(42);
  std::string text = ReadFile(path + "/manifest.json");
  const std::string seal = text.substr(text.rfind("  \"crc32c\""));
  text.resize(text.size() - seal.size());
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 7");
  text += fmt::format("  \"crc32c\": \"{:08x}\"\n}}\n", Crc32c(text));
  WriteText(path + "/manifest.json", text);
  const Inspection found = Inspect(path);
  EXPECT_EQ(found.condition, Condition::kNewerFormat);
  EXPECT_THAT(found.problem,
              AllOf(HasSubstr("version 7"), HasSubstr("up to 1"), HasSubstr("newer Flatout")));
  EXPECT_THAT(MessageOf(path), HasSubstr("version 7"));
  EXPECT_THAT(Verify(path), ElementsAre(HasSubstr("version 7")));
}

// A manifest whose checksum is right and whose content is not.
TEST_F(SnapshotTest, AManifestThatMakesNoSenseIsRefused) {
  const std::string path = Write(42);
  const std::string good = ReadFile(path + "/manifest.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good.substr(0, good.rfind("  \"crc32c\""));
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    text += fmt::format("  \"crc32c\": \"{:08x}\"\n}}\n", Crc32c(text));
    WriteText(path + "/manifest.json", text);
    return MessageOf(path);
  };
  EXPECT_THAT(with("flatout-checkpoint", "something"), HasSubstr("\"format\""));
  EXPECT_THAT(with("\"version\": 1", "\"version\": 0"), HasSubstr("\"version\""));
  EXPECT_THAT(with("\"step\": 42", "\"step\": -42"), HasSubstr("\"step\""));
  EXPECT_THAT(with("\"step\": 42", "\"stop\": 42"), HasSubstr("\"step\" is missing"));
  EXPECT_THAT(with("\"step\": 42", "\"step\": 1e3"), HasSubstr("\"step\""));
  EXPECT_THAT(with("\"piece_bytes\": 8388608", "\"piece_bytes\": 0"), HasSubstr("piece_bytes"));
  EXPECT_THAT(with("\"piece_bytes\": 8388608", "\"piece_bytes\": 16"), HasSubstr("checksums"));
  EXPECT_THAT(with("\"state.json\"", "\"../state.json\""), HasSubstr("no name of a file"));
  EXPECT_THAT(with("\"state.json\"", "5"), HasSubstr("\"name\""));
  EXPECT_THAT(with("\"files\": [", "\"files\": [[],"), HasSubstr("\"name\" is missing"));
  EXPECT_THAT(with("{\n", "[\n"), HasSubstr("JSON"));
}

// Sealed anew after any change: it is read, or refused as bad data, and nothing else happens.
TEST_F(SnapshotTest, NoManifestCrashes) {
  const std::string path = Write(42);
  const std::string good = ReadFile(path + "/manifest.json");
  const std::string body = good.substr(0, good.rfind("  \"crc32c\""));
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = body;
    for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % text.size();
      const size_t length = random() % 12;
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), length));
          break;
        default:
          text[at] = "{}[]\",:-0.e"[random() % 11];
      }
    }
    text += fmt::format("  \"crc32c\": \"{:08x}\"\n}}\n", Crc32c(text));
    try {
      ParseManifest("manifest.json", text);
    } catch (const DataError& error) {
      ++refused;
      ASSERT_THAT(error.what(), ::testing::StartsWith("manifest.json: "));
    }
  }
  EXPECT_GT(refused, 2500);
}

TEST_F(SnapshotTest, WhatCannotBeReadIsToldFromDamage) {
  const std::string path = Write(42);
  FaultFileSystem files;
  for (const int error : {EACCES, EIO}) {
    for (const std::string& name : RealFileSystem().List(path)) {
      files.SetHook([&](Call call, const std::string& at, FaultFileSystem::When) {
        if (call == Call::kOpen && at == path + "/" + name) throw FileError("read", at, error);
      });
      try {
        Load(path, files);
        ADD_FAILURE() << name;
      } catch (const UserError& caught) {
        EXPECT_THAT(caught.what(), AllOf(HasSubstr(name), HasSubstr(strerror(error))));
        EXPECT_NE(caught.exit_code(), kExitBadData);
      }
      EXPECT_THAT(Verify(path, files), Not(IsEmpty()));
    }
    files.SetHook([&](Call call, const std::string& at, FaultFileSystem::When) {
      if (call == Call::kList) throw FileError("read", at, error);
    });
    EXPECT_EQ(Inspect(path, files).condition, Condition::kUnreadable);
  }
}

TEST(Score, IsComparedWithinItsMetric) {
  const Score low{"val_loss", 0.1, false}, high{"val_loss", 0.2, false};
  EXPECT_TRUE(low.BetterThan(high));
  EXPECT_FALSE(high.BetterThan(low));
  EXPECT_FALSE(low.BetterThan(low));
  const Score good{"val_accuracy", 0.9, true}, poor{"val_accuracy", 0.8, true};
  EXPECT_TRUE(good.BetterThan(poor));
  EXPECT_FALSE(poor.BetterThan(good));
  EXPECT_FALSE(good.BetterThan(high));
  const Score nan{"val_loss", std::numeric_limits<double>::quiet_NaN(), false};
  EXPECT_FALSE(nan.BetterThan(high));
}

TEST_F(SnapshotTest, AScoreThatIsNoNumberIsNone) {
  Snapshot snapshot = MakeSnapshot(1);
  snapshot.score = Score{"val_loss", std::numeric_limits<double>::quiet_NaN(), false};
  EXPECT_FALSE(Load(store_.Write(std::move(snapshot)).path).info.score);
}

}  // namespace
}  // namespace flatout::checkpoint
