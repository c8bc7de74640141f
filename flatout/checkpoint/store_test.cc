#include "flatout/checkpoint/store.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

#include "flatout/base/clock.h"
#include "flatout/base/file.h"
#include "flatout/checkpoint/testing.h"

namespace flatout::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using When = FaultFileSystem::When;

class StoreTest : public ::testing::Test {
 protected:
  StoreTest()
      : unsynced_(RealFileSystem()),
        files_(static_cast<FileSystem&>(unsynced_)),
        folder_(scratch_.File("checkpoints")),
        store_(folder_, files_) {}

  void Write(int64_t step, std::optional<double> loss = std::nullopt) {
    Snapshot snapshot = MakeSnapshot(step);
    if (loss) snapshot.score = Score{"val_loss", *loss, false};
    store_.Write(std::move(snapshot));
  }
  std::vector<int64_t> Steps() const {
    std::vector<int64_t> steps;
    for (const Inspection& one : store_.List()) {
      EXPECT_EQ(one.condition, Condition::kComplete) << one.problem;
      steps.push_back(one.info.step);
    }
    return steps;
  }
  std::vector<std::string> Names() const { return RealFileSystem().List(folder_); }
  // Changes a byte in the middle of the weights.
  void Damage(const std::string& name) const {
    const std::string path = folder_ + "/" + name + "/weights.safetensors";
    std::string content = ReadFile(path);
    content[content.size() / 2] ^= 1;
    AtomicWriteFile(path, content);
  }
  // The newest must be this step, and be what was saved.
  void ExpectNewest(int64_t step) const {
    const Newest newest = store_.LoadNewest();
    ASSERT_TRUE(newest.snapshot) << fmt::format("{}", newest.skipped.size());
    EXPECT_EQ(Difference(*newest.snapshot, step), "");
  }

  ScratchFolder scratch_;
  LyingFileSystem unsynced_;  // quick: nothing here loses power
  FaultFileSystem files_;
  const std::string folder_;
  Store store_;
};

TEST_F(StoreTest, TheNewestIsLoaded) {
  EXPECT_THAT(store_.List(), IsEmpty());
  EXPECT_FALSE(store_.LoadNewest().snapshot);
  EXPECT_THAT(store_.Prepare(), IsEmpty());
  EXPECT_FALSE(store_.LoadNewest().snapshot);
  for (const int64_t step : {9, 100, 20}) Write(step);
  EXPECT_THAT(Steps(), ElementsAre(100, 20, 9));
  ExpectNewest(100);
  EXPECT_THAT(store_.LoadNewest().skipped, IsEmpty());
}

TEST_F(StoreTest, StepsOfAnySizeAreSorted) {
  store_.Prepare();
  for (const int64_t step :
       {int64_t{0}, int64_t{999999999}, int64_t{1000000000}, std::numeric_limits<int64_t>::max()}) {
    Write(step);
  }
  EXPECT_THAT(Steps(), ElementsAre(std::numeric_limits<int64_t>::max(), 1000000000, 999999999, 0));
}

// A run that went on from an older snapshot comes to the same step again.
TEST_F(StoreTest, AStepIsNeverWrittenOver) {
  store_.Prepare();
  store_.Write(MakeSnapshot(5, 5, 1));
  store_.Write(MakeSnapshot(5, 5, 2));
  EXPECT_EQ(store_.Write(MakeSnapshot(5, 5, 3)).path, folder_ + "/step-000000005-3");
  EXPECT_THAT(Names(), ElementsAre("step-000000005", "step-000000005-2", "step-000000005-3"));
  EXPECT_EQ(Difference(*store_.LoadNewest().snapshot, 5, 5, 3), "");
  store_.Retain({.keep_last = 1, .keep_best = true, .keep_every = 5});
  EXPECT_THAT(Names(), ElementsAre("step-000000005-3"));
}

TEST_F(StoreTest, DamagedOnesAreSkippedAndTold) {
  store_.Prepare();
  for (const int64_t step : {1, 2, 3, 4}) Write(step);
  Damage("step-000000004");
  std::filesystem::remove(folder_ + "/step-000000003/state.json");
  ExpectNewest(2);
  EXPECT_THAT(
      store_.LoadNewest().skipped,
      ElementsAre(AllOf(HasSubstr("step-000000004/weights.safetensors"), HasSubstr("checksum")),
                  AllOf(HasSubstr("step-000000003/state.json"), HasSubstr("missing"))));
  Damage("step-000000001");
  Damage("step-000000002");
  const Newest none = store_.LoadNewest();
  EXPECT_FALSE(none.snapshot);
  EXPECT_THAT(none.skipped, SizeIs(4));
}

TEST_F(StoreTest, AFolderWithAnotherStepsNameIsNotTrusted) {
  for (const int64_t step : {202, 300}) Write(step);
  std::filesystem::rename(folder_ + "/step-000000202", folder_ + "/step-000000999");
  const Newest newest = store_.LoadNewest();
  ASSERT_TRUE(newest.snapshot);
  EXPECT_EQ(newest.snapshot->info.step, 300);
  EXPECT_THAT(newest.skipped, ElementsAre(AllOf(HasSubstr("step-000000999"), HasSubstr("202"))));
}

TEST_F(StoreTest, OtherNamesAreLeftAlone) {
  store_.Prepare();
  Write(1);
  for (const char* name : {"step-1", "step-000000001-1", "step-", "step-x", "step-000000001.bak",
                           "notes", "step--00000001", "step-000000002-02"}) {
    std::filesystem::create_directory(folder_ + "/" + name);
  }
  AtomicWriteFile(folder_ + "/tmp-file", "x");
  const std::vector<std::string> before = Names();
  EXPECT_THAT(Steps(), ElementsAre(1));
  EXPECT_THAT(store_.Prepare(), IsEmpty());
  store_.Retain({.keep_last = 1});
  EXPECT_EQ(Names(), before);
}

// --- what is kept --------------------------------------------------------------------------------

TEST_F(StoreTest, TheLastTheBestAndEveryNthAreKept) {
  store_.Prepare();
  const std::vector<double> losses = {0.9, 0.5, 0.7, 0.3, 0.3, 0.4, 0.6, 0.8};
  for (size_t i = 0; i < losses.size(); ++i) Write(static_cast<int64_t>(i) + 1, losses[i]);
  // Of the two best, the first.
  EXPECT_EQ(Best(store_.List())->info.step, 4);
  const Retained retained = store_.Retain({.keep_last = 2, .keep_best = true, .keep_every = 3});
  EXPECT_THAT(Steps(), ElementsAre(8, 7, 6, 4, 3));
  EXPECT_THAT(retained.removed,
              ElementsAre(folder_ + "/step-000000005", folder_ + "/step-000000002",
                          folder_ + "/step-000000001"));
  EXPECT_THAT(retained.problems, IsEmpty());
  store_.Retain({.keep_last = 1, .keep_best = false});
  EXPECT_THAT(Steps(), ElementsAre(8));
  ExpectNewest(8);
}

// Runs do several steps at a time: it is the first one after a multiple that is kept.
TEST_F(StoreTest, StepsNeedNotBeMultiplesToBeKept) {
  store_.Prepare();
  for (int64_t step = 63; step <= 630; step += 63) {
    Write(step);
    store_.Retain({.keep_last = 1, .keep_best = false, .keep_every = 200});
  }
  EXPECT_THAT(Steps(), ElementsAre(630, 441, 252));
}

TEST_F(StoreTest, AtLeastOneIsKept) {
  store_.Prepare();
  Write(1);
  Write(2);
  store_.Retain({.keep_last = 0, .keep_best = false});
  EXPECT_THAT(Steps(), ElementsAre(2));
  EXPECT_THAT(Store(scratch_.File("none")).Retain({}).removed, IsEmpty());
}

TEST_F(StoreTest, TheBestIsThatOfTheNewestMetric) {
  store_.Prepare();
  Write(1, 0.01);
  Write(2);
  for (const auto& [step, value] : {std::pair<int64_t, double>{3, 0.9}, {4, 0.8}, {5, 0.85}}) {
    Snapshot snapshot = MakeSnapshot(step);
    snapshot.score = Score{"val_accuracy", value, true};
    store_.Write(std::move(snapshot));
  }
  EXPECT_EQ(Best(store_.List())->info.step, 3);
  EXPECT_EQ(Best({}), nullptr);
}

// Newer ones that look complete and are damaged inside do not push out the last good one.
TEST_F(StoreTest, TheLastGoodOneStays) {
  store_.Prepare();
  for (int64_t step = 1; step <= 5; ++step) Write(step);
  for (const char* name : {"step-000000003", "step-000000004", "step-000000005"}) Damage(name);
  Store other(folder_);
  const Retained retained = other.Retain({.keep_last = 1, .keep_best = false});
  EXPECT_THAT(retained.problems,
              Contains(AllOf(HasSubstr("step-000000005"), HasSubstr("checksum"))));
  ExpectNewest(2);
  EXPECT_THAT(Names(), ElementsAre("step-000000002", "step-000000005"));
}

TEST_F(StoreTest, NothingIsRemovedWhenNoneIsGood) {
  store_.Prepare();
  for (int64_t step = 1; step <= 3; ++step) {
    Write(step);
    Damage(fmt::format("step-{:09}", step));
  }
  EXPECT_THAT(Store(folder_).Retain({.keep_last = 1}).problems,
              Contains(HasSubstr("none is removed")));
  EXPECT_THAT(Names(), SizeIs(3));
}

TEST_F(StoreTest, RoomIsMadeOfOldOnes) {
  EXPECT_THAT(store_.MakeRoom(1, {}).removed, IsEmpty());
  store_.Prepare();
  for (int64_t step = 1; step <= 5; ++step) Write(step, step == 2 ? 0.1 : 0.2);
  files_.SetFreeBytes(1000);
  const Retention retention{.keep_last = 5, .keep_best = true, .keep_every = 4};
  EXPECT_THAT(store_.MakeRoom(1000, retention).removed, IsEmpty());
  EXPECT_THAT(store_.MakeRoom(1001, retention).removed, SizeIs(2));
  EXPECT_THAT(Steps(), ElementsAre(5, 4, 2));
  Damage("step-000000005");
  Store(folder_, files_).MakeRoom(1001, {.keep_last = 5, .keep_best = false});
  ExpectNewest(4);
}

// What cannot be taken for a snapshot is not in the count, and is not removed.
TEST_F(StoreTest, DamagedOnesNeitherCountNorGo) {
  store_.Prepare();
  for (int64_t step = 1; step <= 4; ++step) Write(step);
  std::filesystem::remove(folder_ + "/step-000000004/state.json");
  Store(folder_).Retain({.keep_last = 2, .keep_best = false});
  EXPECT_THAT(Names(), ElementsAre("step-000000002", "step-000000003", "step-000000004"));
}

TEST_F(StoreTest, AnOldOneThatCannotBeRemovedIsTold) {
  store_.Prepare();
  Write(1);
  Write(2);
  files_.SetHook([](Call call, const std::string& path, When) {
    if (call == Call::kRename) throw FileError("rename", path, EACCES);
  });
  EXPECT_THAT(store_.Retain({.keep_last = 1}).problems,
              ElementsAre(AllOf(HasSubstr("stays"), HasSubstr("Permission denied"))));
  EXPECT_THAT(Steps(), ElementsAre(2, 1));
}

// --- before the first step -----------------------------------------------------------------------

TEST_F(StoreTest, LeftoversAreRemoved) {
  store_.Prepare();
  Write(1);
  std::filesystem::create_directory(folder_ + "/step-000000002");  // in place, just begun
  std::filesystem::create_directories(folder_ + "/tmp-step-000000003/more");
  AtomicWriteFile(folder_ + "/tmp-step-000000003/weights.safetensors", "half");
  std::filesystem::create_directory(folder_ + "/step-000000004");
  AtomicWriteFile(folder_ + "/step-000000004/unfinished", "");
  AtomicWriteFile(folder_ + "/step-000000004/manifest.json", "{\"format\"");
  EXPECT_THAT(
      store_.Prepare(),
      ElementsAre(HasSubstr("step-000000002: left by a writer that was stopped"),
                  HasSubstr("step-000000004: left"), HasSubstr("tmp-step-000000003: left")));
  EXPECT_THAT(Names(), ElementsAre("step-000000001"));
}

TEST_F(StoreTest, AFullDiskIsToldBeforehand) {
  files_.SetFreeBytes(int64_t{3} << 30);
  EXPECT_THAT(store_.Prepare(int64_t{1} << 30), IsEmpty());
  EXPECT_THAT(store_.Prepare(int64_t{5} << 30),
              ElementsAre(AllOf(HasSubstr("takes about 5.00 GiB"), HasSubstr("only 3.00 GiB"))));
}

TEST_F(StoreTest, AFolderThatCannotBeWrittenIsToldBeforehand) {
  for (const int error : {EROFS, EACCES, ENOSPC, EIO}) {
    files_.SetHook([&](Call call, const std::string& path, When when) {
      if (call == Call::kCreate && when == When::kBefore) throw FileError("write", path, error);
    });
    try {
      store_.Prepare();
      ADD_FAILURE();
    } catch (const FileError& caught) {
      EXPECT_EQ(caught.error(), error);
      EXPECT_THAT(caught.what(), AllOf(HasSubstr(folder_), HasSubstr(strerror(error))));
    }
    EXPECT_THAT(Names(), IsEmpty());
  }
  files_.SetHook(nullptr);
  EXPECT_THAT(store_.Prepare(), IsEmpty());
}

// --- disks that fail -----------------------------------------------------------------------------

// One after the other, each call of a save fails; what was there before stays, what was begun goes,
// and the next save works.
TEST_F(StoreTest, AnErrorAnywhereLosesNothing) {
  for (const int rename_error : {0, EXDEV}) {
    files_.SetRenameError(rename_error);
    for (const int error : {ENOSPC, EIO, EROFS}) {
      files_.SetHook(nullptr);
      std::filesystem::remove_all(folder_);
      store_.Prepare();
      Write(1);
      int64_t good = 1;
      int failures = 0;
      for (int fail_at = 0;; ++fail_at) {
        int calls = 0;
        files_.SetHook([&](Call call, const std::string& path, When when) {
          if (!Changes(call) || when == When::kAfter) return;
          // All that follow fail, too: a disk that is full stays full. Only room can be made.
          const bool makes_room = call == Call::kRemoveFile || call == Call::kRemoveFolder;
          if (calls++ >= fail_at && !(makes_room && error == ENOSPC)) {
            throw FileError("write", path, error);
          }
        });
        const int64_t step = good + 1;
        try {
          Write(step);
          good = step;
        } catch (const FileError& caught) {
          EXPECT_EQ(caught.error(), error);
          ++failures;
        }
        const bool through = calls <= fail_at;
        files_.SetHook(nullptr);
        const Newest newest = store_.LoadNewest();
        ASSERT_TRUE(newest.snapshot) << fail_at;
        // One whose last sync failed may be there or not; if it is, it is whole.
        const int64_t found = newest.snapshot->info.step;
        ASSERT_TRUE(found == good || found == step) << fail_at;
        ASSERT_EQ(Difference(*newest.snapshot, found), "") << fail_at;
        good = found;
        // The disk works again.
        Write(++good);
        ExpectNewest(good);
        store_.Retain({.keep_last = 2});
        if (through) break;
      }
      EXPECT_GT(failures, 15);
      store_.Prepare();
      for (const Inspection& one : store_.List()) {
        EXPECT_EQ(one.condition, Condition::kComplete) << one.problem;
      }
    }
  }
}

// Object storage that is mounted as a file system.
TEST_F(StoreTest, WithoutRenameItIsWrittenInPlace) {
  for (const int error : {EXDEV, EPERM, ENOTSUP, ENOSYS, EMFILE}) {
    std::filesystem::remove_all(folder_);
    files_.SetRenameError(error);
    EXPECT_THAT(store_.Prepare(), ElementsAre(HasSubstr("cannot be renamed")));
    Write(1);
    Write(2);
    Write(3);
    EXPECT_THAT(RealFileSystem().List(folder_ + "/step-000000003"),
                Not(Contains(HasSubstr("unfinished"))));
    ExpectNewest(3);
    store_.Retain({.keep_last = 1});
    EXPECT_THAT(Names(), ElementsAre("step-000000003"));
  }
}

// The same found out at the first save only: the files are copied.
TEST_F(StoreTest, WithoutRenameItIsCopied) {
  store_.Prepare();
  Write(1);
  files_.SetRenameError(EXDEV);
  Write(2);
  ExpectNewest(2);
  Write(3);
  ExpectNewest(3);
  EXPECT_THAT(Names(), ElementsAre("step-000000001", "step-000000002", "step-000000003"));
  store_.Retain({.keep_last = 1});
  EXPECT_THAT(Names(), ElementsAre("step-000000003"));
}

TEST_F(StoreTest, ASourceThatThrowsFailsTheSave) {
  store_.Prepare();
  Write(1);
  for (const int64_t size : {int64_t{100}, int64_t{40} << 20}) {
    Snapshot snapshot = MakeSnapshot(2);
    snapshot.groups[0].tensors.push_back(
        {"bad", ir::Shape(ir::DType::kU8, {size}), [](int64_t, std::span<std::byte>) {
           throw UserError(Code::kResourceExhausted, "the device was lost");
         }});
    try {
      store_.Write(std::move(snapshot));
      ADD_FAILURE();
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the device was lost"));
    }
    EXPECT_THAT(Names(), ElementsAre("step-000000001"));
  }
}

TEST_F(StoreTest, AWriteCanBeGivenUp) {
  store_.Prepare();
  Write(1);
  WriteProgress progress;
  Snapshot snapshot = MakeSnapshot(2, (40 << 20) / 16);
  const auto read = snapshot.groups[0].tensors[0].read;
  snapshot.groups[0].tensors[0].read = [&](int64_t offset, std::span<std::byte> to) {
    if (offset > (16 << 20)) progress.cancel = true;
    read(offset, to);
  };
  try {
    store_.Write(std::move(snapshot), {}, &progress);
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kCancelled);
  }
  EXPECT_THAT(Names(), ElementsAre("step-000000001"));
}

// 24 MiB at 48 MiB/s: the third piece may go half a second after the first at the soonest, unless
// the limit is lifted meanwhile.
TEST_F(StoreTest, AWriteKeepsToItsLimit) {
  store_.Prepare();
  const int64_t rows = (24 << 20) / 16 / 2;
  const auto seconds = [&](int64_t step) {
    WriteProgress progress;
    progress.bytes_per_second = 48 << 20;
    const Stopwatch clock;
    store_.Write(MakeSnapshot(step, rows), {}, &progress);
    return clock.Seconds();
  };
  EXPECT_GT(seconds(1), 0.3);
  // At 1 byte/s it would take a year.
  WriteProgress progress;
  progress.bytes_per_second = 1;
  std::jthread other([&] {
    while (progress.bytes_done == 0) std::this_thread::yield();
    progress.bytes_per_second = 0;
  });
  store_.Write(MakeSnapshot(2, rows), {}, &progress);
  EXPECT_EQ(Difference(*store_.LoadNewest().snapshot, 2, rows), "");
}

TEST_F(StoreTest, AFolderThatWentAwayIsMadeAgain) {
  store_.Prepare();
  Write(1);
  std::filesystem::remove_all(folder_);
  Write(2);
  ExpectNewest(2);
}

// However a file is cut into pieces and wherever these lie in memory: past the page cache or not,
// the bytes are those written.
TEST(RealFileSystem, WritesWhatItIsGivenPastTheCacheAndThroughIt) {
  constexpr size_t kMegabyte = size_t{1} << 20;
  const ScratchFolder scratch("direct");
  std::vector<std::byte> data(9 * kMegabyte + 4097);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 2654435761 >> 13);
  const size_t page = 4096 - reinterpret_cast<uintptr_t>(data.data()) % 4096;  // to the next one
  const std::span<const std::byte> whole(data);
  const std::vector<std::vector<size_t>> cases = {
      {2 * kMegabyte},                                   // one piece of whole blocks
      {2 * kMegabyte + 5},                               // with a tail
      {2 * kMegabyte, 3 * kMegabyte, kMegabyte + 4095},  // several
      {kMegabyte + 1, 2 * kMegabyte, 100, kMegabyte},    // from the second on between blocks
      {7, 2 * kMegabyte, 4096},
  };
  int number = 0;
  for (const size_t start : {page, page + 8}) {
    for (const std::vector<size_t>& pieces : cases) {
      const std::string path = fmt::format("{}/{}", scratch.path(), number++);
      size_t at = start;
      const auto file = RealFileSystem().Create(path);
      for (const size_t piece : pieces) {
        file->Write(whole.subspan(at, piece));
        at += piece;
      }
      file->Sync();
      file->Close();
      const std::string text = ReadFile(path);
      ASSERT_EQ(text.size(), at - start) << path;
      EXPECT_EQ(std::memcmp(text.data(), data.data() + start, text.size()), 0) << path;
    }
  }
}

}  // namespace
}  // namespace flatout::checkpoint
