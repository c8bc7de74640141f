#include "flatout/watch/tensorboard/event_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/watch/tensorboard/event.h"

namespace flatout::watch::tensorboard {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;  // NOLINT
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

class EventWriterTest : public ::testing::Test {
 protected:
  EventWriterTest() {
    folder_ = fs::temp_directory_path() /
              ("flatout_events_" + std::to_string(getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    SetLogSink(
        [](LogLevel level, const std::string& line, void* context) {
          if (level >= LogLevel::kWarning) {
            static_cast<EventWriterTest*>(context)->warnings_.push_back(line);
          }
        },
        this);
  }
  ~EventWriterTest() override {
    SetLogSink({}, nullptr);
    fs::remove_all(folder_);
  }

  std::string Folder(const std::string& run = "") const {
    return run.empty() ? folder_.string() : (folder_ / run).string();
  }
  static std::vector<fs::path> Files(const std::string& folder) {
    std::vector<fs::path> files;
    if (!fs::exists(folder)) return files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  // "step: tag tag", of every event of every file; the events that say version or start are those
  // without tags. Checks lengths and checksums on the way.
  static std::vector<std::string> Read(const std::string& folder) {
    std::vector<std::string> events;
    for (const fs::path& path : Files(folder)) {
      const std::string bytes = ReadFile(path.string());
      size_t at = 0;
      while (at < bytes.size()) {
        uint64_t size = 0;
        std::memcpy(&size, bytes.data() + at, 8);
        EXPECT_LE(at + 16 + size, bytes.size()) << path << " ends within an event";
        if (at + 16 + size > bytes.size()) break;
        const std::string data = bytes.substr(at + 12, size);
        EXPECT_EQ(FrameRecord(data), bytes.substr(at, 16 + size));
        at += 16 + size;
        const ReadEvent event = DecodeEvent(data);
        std::string line = std::to_string(event.step) + ":";
        for (const std::string& tag : event.tags) line += " " + tag;
        events.push_back(line);
      }
    }
    return events;
  }
  static std::string Scalar(const std::string& tag, int64_t step) {
    Event event(1.7e9, step);
    event.Scalar(tag, 0.25);
    return event.Encode();
  }

  fs::path folder_;
  std::vector<std::string> warnings_;
};

// The first bytes of every event file that TensorFlow writes: the length 24 and its checksum.
TEST(FrameRecord, HasTheBytesOfTensorFlow) {
  const std::string framed = FrameRecord(Event::FileVersion(0));
  EXPECT_THAT(framed, StartsWith("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09"s));
  EXPECT_THAT(framed, SizeIs(24 + 16));
}

TEST_F(EventWriterTest, WritesAFileForEachRun) {
  {
    EventWriter writer(Folder());
    writer.Write("train", Scalar("batch_loss", 1));
    writer.Write("validation", Scalar("epoch_loss", 0));
    writer.Write("train", Scalar("batch_loss", 2));
    writer.Write("", Scalar("x", 3));
  }
  EXPECT_THAT(Read(Folder("train")), ElementsAre("0:", "1: batch_loss", "2: batch_loss"));
  EXPECT_THAT(Read(Folder("validation")), ElementsAre("0:", "0: epoch_loss"));
  EXPECT_THAT(Read(Folder()), ElementsAre("0:", "3: x"));
  ASSERT_THAT(Files(Folder("train")), SizeIs(1));
  EXPECT_THAT(Files(Folder("train"))[0].filename().string(),
              MatchesRegex("events\\.out\\.tfevents\\.[0-9]{10}\\..+\\.v2"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(EventWriterTest, MakesNothingWithoutEvents) {
  { EventWriter writer(Folder("new")); }
  EXPECT_FALSE(fs::exists(Folder("new")));
}

TEST_F(EventWriterTest, WritesWithoutBeingAsked) {
  EventWriter writer(Folder(), {.flush_seconds = 0.01});
  writer.Write("train", Scalar("a", 1));
  while (Files(Folder("train")).empty() || Read(Folder("train")).size() < 2) usleep(1000);
  writer.Write("train", Scalar("a", 2));
  while (Read(Folder("train")).size() < 3) usleep(1000);
}

TEST_F(EventWriterTest, FlushWaitsForWhatWasPosted) {
  EventWriter writer(Folder(), {.flush_seconds = 60});
  writer.Write("", Scalar("first", 1));
  writer.Post([&] {
    EXPECT_THAT(Read(Folder()), ElementsAre("0:", "1: first")) << "in order";
    writer.Write("", Scalar("posted", 2));
  });
  writer.Flush();
  EXPECT_THAT(Read(Folder()), ElementsAre("0:", "1: first", "2: posted"));
}

TEST_F(EventWriterTest, AFileIsLaterThanThoseThereAre) {
  // A clock that has gone backwards.
  std::ofstream(Folder() + "/events.out.tfevents.4000000000.host.1.0.v2") << "";
  {
    EventWriter writer(Folder());
    writer.Write("", Scalar("x", 1));
  }
  ASSERT_THAT(Files(Folder()), SizeIs(2));
  EXPECT_THAT(Files(Folder())[1].filename().string(),
              StartsWith("events.out.tfevents.4000000001."));
}

// ---- what goes wrong ----

TEST_F(EventWriterTest, AFolderThatCannotBeMadeIsSaidOnce) {
  std::ofstream(Folder() + "/file") << "no folder";
  EventWriter writer(Folder() + "/file", {.flush_seconds = 0});
  for (int i = 0; i < 3; ++i) {
    writer.Write("train", Scalar("a", i));
    writer.Write("validation", Scalar("a", i));
    writer.Flush();
  }
  EXPECT_THAT(writer.trouble(), HasSubstr("/file"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("training goes on")));
  EXPECT_EQ(writer.lost(), 6);
}

TEST_F(EventWriterTest, NoPermissionIsSaidOnce) {
  int opened = 0;
  EventWriter writer(Folder(), {.flush_seconds = 0, .open = [&](const std::string&, int& error) {
                                  ++opened;
                                  error = EACCES;
                                  return std::unique_ptr<EventSink>();
                                }});
  for (int i = 0; i < 3; ++i) {
    writer.Write("", Scalar("a", i));
    writer.Flush();
  }
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("Permission denied (change the permissions")));
  EXPECT_EQ(opened, 1) << "nobody gives it meanwhile";
  EXPECT_EQ(writer.lost(), 3);
}

// A disk that fails as told, in memory.
struct Disk {
  std::string bytes;
  int error = 0;
  bool breaks = false;
  int files = 0;
};
class DiskSink : public EventSink {
 public:
  explicit DiskSink(Disk& disk) : disk_(disk) {}
  int Append(std::string_view bytes) override {
    if (disk_.error != 0) {
      broken_ = disk_.breaks;
      return disk_.error;
    }
    disk_.bytes += bytes;
    return 0;
  }
  bool broken() const override { return broken_; }

 private:
  Disk& disk_;
  bool broken_ = false;
};
OpenSink On(Disk& disk) {
  return [&disk](const std::string&, int&) {
    ++disk.files;
    return std::make_unique<DiskSink>(disk);
  };
}

TEST_F(EventWriterTest, AFullDiskIsSaidOnceAndWrittenToAgainWhenThereIsRoom) {
  Disk disk;
  EventWriter writer(Folder(), {.flush_seconds = 0, .open = On(disk)});
  writer.Write("", Scalar("a", 1));
  writer.Flush();
  const size_t before = disk.bytes.size();
  disk.error = ENOSPC;
  for (int i = 2; i < 5; ++i) {
    writer.Write("", Scalar("a", i));
    writer.Flush();
  }
  EXPECT_EQ(disk.bytes.size(), before);
  EXPECT_EQ(writer.lost(), 3);
  disk.error = 0;
  writer.Write("", Scalar("a", 5));
  writer.Flush();
  EXPECT_GT(disk.bytes.size(), before);
  EXPECT_EQ(disk.files, 1) << "the same file";
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("No space left on device")));
}

TEST_F(EventWriterTest, AFileThatIsBrokenIsFollowedByAnother) {
  Disk disk;
  EventWriter writer(Folder(), {.flush_seconds = 0, .open = On(disk)});
  writer.Write("", Scalar("a", 1));
  writer.Flush();
  disk.error = EIO;
  disk.breaks = true;
  writer.Write("", Scalar("a", 2));
  writer.Flush();
  disk.error = 0;
  writer.Write("", Scalar("a", 3));
  writer.Flush();
  EXPECT_EQ(disk.files, 2);
  EXPECT_EQ(writer.lost(), 1);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("Input/output error")));
}

TEST_F(EventWriterTest, NeverWaitsForASlowDisk) {
  std::promise<void> go;
  std::shared_future<void> gate = go.get_future().share();
  Disk disk;
  const std::string event = Scalar("a", 1);
  EventWriter writer(Folder(), {.flush_seconds = 0,
                                .queue_bytes = 4 * (event.size() + 16),
                                .open = [&](const std::string&, int&) {
                                  gate.wait();
                                  return std::make_unique<DiskSink>(disk);
                                }});
  for (int i = 0; i < 10; ++i) writer.Write("", event);
  EXPECT_EQ(writer.lost(), 6) << "four may wait";
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("too slowly")));
  go.set_value();
  writer.Flush();
  EXPECT_EQ(writer.lost(), 6);
}

TEST_F(EventWriterTest, WhatIsPostedMayFail) {
  EventWriter writer(Folder(), {.flush_seconds = 0});
  writer.Post([] { throw Invalid("no pictures"); });
  writer.Write("", Scalar("a", 1));
  writer.Flush();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("no pictures")));
  EXPECT_THAT(Read(Folder()), ElementsAre("0:", "1: a"));
}

// The real thing: a file system that takes only part of a write.
TEST_F(EventWriterTest, AWriteThatEndsHalfwayIsTakenBack) {
  std::signal(SIGXFSZ, SIG_IGN);
  const std::string path = Folder() + "/events.out.tfevents.1";
  int error = 0;
  const std::unique_ptr<EventSink> sink = OpenEventFile(path, error);
  ASSERT_NE(sink, nullptr);
  const std::string record = FrameRecord(Scalar("a", 1));
  ASSERT_EQ(sink->Append(record), 0);
  rlimit old = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = old;
  small.rlim_cur = record.size() + record.size() / 2;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const int failed = sink->Append(record);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(failed, EFBIG);
  EXPECT_FALSE(sink->broken());
  EXPECT_EQ(FileSize(path), static_cast<int64_t>(record.size()));
  EXPECT_EQ(sink->Append(record), 0);
  EXPECT_THAT(Read(Folder()), ElementsAre("1: a", "1: a"));
  EXPECT_EQ(OpenEventFile(path, error), nullptr);
  EXPECT_EQ(error, EEXIST);
}

// ---- going on ----

TEST_F(EventWriterTest, TrimKeepsWhatWasDoneBeforeTheSnapshot) {
  {
    EventWriter writer(Folder());
    for (int step = 1; step <= 6; ++step) {
      writer.Write("train", Scalar("batch_loss", step));
      if (step % 2 == 0) writer.Write("train", Scalar("epoch_loss", step / 2 - 1));
    }
    Event graph(1, 0), parameters(1, 0);
    graph.Graph("graph");
    parameters.HParams({}, "run");
    writer.Write("train", graph.Encode());
    writer.Write("train", parameters.Encode());
    writer.Write("train", Scalar("dense/kernel/histogram", 2));
  }
  // The snapshot: after step 4, two epochs.
  EXPECT_EQ(TrimEvents(Folder("train"), {.step = 4, .epochs = 2}), 6);
  EXPECT_THAT(Read(Folder("train")),
              ElementsAre("0:", "1: batch_loss", "2: batch_loss", "0: epoch_loss", "3: batch_loss",
                          "4: batch_loss", "1: epoch_loss"));
  EXPECT_EQ(TrimEvents(Folder("train"), {.step = 4, .epochs = 2}), 0) << "there is nothing left";
  EXPECT_EQ(TrimEvents(Folder("nothing"), {}), 0) << "a run that was never there";
}

TEST_F(EventWriterTest, TrimCutsOffHalfAnEvent) {
  {
    EventWriter writer(Folder());
    for (int step = 1; step <= 3; ++step) writer.Write("", Scalar("a", step));
  }
  const std::string path = Files(Folder())[0].string();
  const std::string whole = ReadFile(path);
  const size_t last = FrameRecord(Scalar("a", 3)).size();
  for (size_t cut = 1; cut < last; ++cut) {
    AtomicWriteFile(path, whole.substr(0, whole.size() - cut));
    EXPECT_EQ(TrimEvents(Folder(), {.step = 10}), 0);
    EXPECT_EQ(ReadFile(path), whole.substr(0, whole.size() - last)) << cut;
  }
  // A bit that has tipped: what comes behind it is lost, what stands before it stays.
  std::string tipped = whole;
  tipped[whole.size() - last + 14] ^= 1;
  AtomicWriteFile(path, tipped);
  TrimEvents(Folder(), {.step = 10});
  EXPECT_EQ(ReadFile(path), whole.substr(0, whole.size() - last));
  // A length that no file has.
  std::string absurd = "\xff\xff\xff\xff\xff\xff\xff\x7f"s;
  const uint32_t sum = MaskedCrc32c(absurd);
  absurd.append(reinterpret_cast<const char*>(&sum), 4);
  AtomicWriteFile(path, whole + absurd);
  TrimEvents(Folder(), {.step = 10});
  EXPECT_EQ(ReadFile(path), whole);
}

TEST_F(EventWriterTest, OthersFilesStay) {
  std::ofstream(Folder() + "/notes.txt") << "mine";
  std::ofstream(Folder() + "/events.out.tfevents.1.host") << "";
  EXPECT_EQ(TrimEvents(Folder(), {}), 0);
  RemoveEvents(Folder());
  ASSERT_THAT(Files(Folder()), SizeIs(1));
  EXPECT_EQ(Files(Folder())[0].filename(), "notes.txt");
  RemoveEvents(Folder("nothing"));
}

TEST(Tags, SayWhetherTheyCountEpochs) {
  EXPECT_TRUE(CountsEpochs("epoch_loss"));
  EXPECT_TRUE(CountsEpochs("dense/kernel/histogram"));
  EXPECT_FALSE(CountsEpochs("batch_loss"));
  EXPECT_FALSE(CountsEpochs("evaluation_loss_vs_iterations"));
  EXPECT_FALSE(CountsEpochs("performance/full_percent"));
}

}  // namespace
}  // namespace flatout::watch::tensorboard
