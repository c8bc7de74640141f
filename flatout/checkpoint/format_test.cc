// Every format that there ever was can be read. testdata/format-N holds a snapshot as a Flatout
// that wrote version N left it; testdata/record makes the one of the version of today.
#include <gmock/gmock.h>

#include <cstdlib>

#include "flatout/checkpoint/snapshot.h"
#include "flatout/checkpoint/store.h"
#include "flatout/checkpoint/testing.h"

namespace flatout::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

const std::string kTestData = std::string(FLATOUT_SOURCE_DIR) + "/flatout/checkpoint/testdata";
constexpr int64_t kStep = 1234;

std::string FolderOf(int version) { return fmt::format("{}/format-{}", kTestData, version); }

TEST(Format, EveryVersionIsRead) {
  if (std::getenv("FLATOUT_RECORD_SNAPSHOT") != nullptr) {
    ScratchFolder scratch;
    Store store(scratch.path());
    Snapshot snapshot = MakeSnapshot(kStep);
    snapshot.score = Score{"val_accuracy", 0.875, true};
    const SnapshotInfo info = store.Write(std::move(snapshot));
    ASSERT_FALSE(fs::exists(FolderOf(kFormatVersion))) << "a recorded format never changes";
    fs::copy(info.path, FolderOf(kFormatVersion), fs::copy_options::recursive);
  }
  for (int version = 1; version <= kFormatVersion; ++version) {
    const std::string path = FolderOf(version);
    ASSERT_TRUE(fs::exists(path)) << "run flatout/checkpoint/testdata/record";
    const LoadedSnapshot loaded = Load(path);
    EXPECT_EQ(loaded.info.version, version);
    EXPECT_EQ(Difference(loaded, kStep), "");
    EXPECT_EQ(loaded.info.epoch, kStep / 10);
    ASSERT_TRUE(loaded.info.score);
    EXPECT_EQ(loaded.info.score->metric, "val_accuracy");
    EXPECT_EQ(loaded.info.score->value, 0.875);
    EXPECT_TRUE(loaded.info.score->larger_is_better);
    EXPECT_THAT(Verify(path), IsEmpty());
  }
}

}  // namespace
}  // namespace flatout::checkpoint
