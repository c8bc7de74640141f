#include "flatout/watch/run_record.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "flatout/base/error.h"

namespace flatout::watch {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char* const kLog =
    R"({"event":"plan","planned_bytes":1000000}
{"event":"log","step":50,"epoch":1,"loss":2.0,"learning_rate":0.001,"samples_per_second":900,"full":0.9,"resident_bytes":100,"wall_seconds":15,"accuracy":0.3,"seconds_start":3,"seconds_compile":2,"seconds_compute":9,"seconds_input":1,"seconds_host_launch":0.1,"input_wait":0.1,"input_workers":2,"input_prefetch":4,"input_queue_bytes":77,"input_share_read":0.25,"input_share_decode_image":0.75,"device_0_power_watts":300}
{"event":"log","step":100,"epoch":1,"loss":1.0,"learning_rate":0.001,"samples_per_second":1000,"full":0.8,"resident_bytes":200,"wall_seconds":25,"accuracy":0.5,"seconds_compute":8,"seconds_input":2}
{"event":"epoch","epoch":1,"step":100,"seconds":20,"loss":1.0,"accuracy":0.5,"val_loss":1.1,"val_accuracy":0.45}
)";

class Folder {
 public:
  Folder() : path_(::testing::TempDir() + "flatout_record_" + std::to_string(getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(RunRecord, OfARunThatWasKilled) {
  const Folder folder;
  folder.Write("run.toml",
               "[model]\nbuiltin = \"cnn\"\n[train]\nepochs = 4\nglobal_batch = 10\n[cost]\n"
               "price_per_hour = 3600\n");
  folder.Write("metrics.jsonl", kLog);
  folder.Write("run.log", "one\ntwo\n");
  const RunStatus run = ReadRunFolder(folder.path() + "/");
  EXPECT_EQ(run.state, "ended");
  EXPECT_EQ(run.name, fs::path(folder.path()).filename());
  EXPECT_EQ(run.model, "cnn");
  EXPECT_EQ(run.epochs, 4);
  EXPECT_EQ(run.step, 100);
  EXPECT_EQ(run.steps_per_epoch, 100);
  EXPECT_EQ(run.epochs_done(), 1);
  EXPECT_EQ(run.loss, 1.0);
  EXPECT_THAT(run.metrics, ElementsAre(std::pair("accuracy", 0.5)));  // nothing of Flatout's own
  EXPECT_EQ(run.planned_bytes, 1e6);
  ASSERT_EQ(run.history.points().size(), 2u);
  EXPECT_EQ(run.history.points()[0].seconds, 15);
  EXPECT_EQ(run.ledger.of(Cause::kCompute), 17);
  EXPECT_EQ(run.ledger.wall, 25);
  ASSERT_TRUE(run.cost());
  EXPECT_DOUBLE_EQ(run.cost()->total, 25);
  ASSERT_EQ(run.input.stages.size(), 2u);
  EXPECT_EQ(run.input.stages[0].name, "decode_image");
  EXPECT_EQ(run.last_epoch.at("val_accuracy"), 0.45);
  EXPECT_THAT(run.log, ElementsAre("one", "two"));
  ASSERT_EQ(run.devices.size(), 1u);
  EXPECT_EQ(run.devices[0].power_watts, 300);
  EXPECT_THAT(run.notes, IsEmpty());
}

TEST(RunRecord, OfARunThatIsDone) {
  const Folder folder;
  folder.Write("metrics.jsonl", kLog);
  folder.Write("summary.json", R"({"status": "done", "exit_code": 0, "steps": 400, "epochs": 4,
    "metrics": {"train": {"loss": 0.5}, "validation": {"loss": 0.6}, "test": {"loss": 0.7}},
    "full": 0.93, "samples_per_second": 1234, "mfu": null, "wall_seconds": 50,
    "ledger": {"compute": 40, "input": 10, "communication": null},
    "input": {"workers": 3, "queue_fill": 0.5, "stages": {"read": {"seconds": 2, "records": 10}}},
    "checkpoints": {"saved": 2, "failed": 1, "last_step": 400, "error": "disk full"},
    "verdict": ["full 93 %"], "sessions": 2})");
  const RunStatus run = ReadRunFolder(folder.path());
  EXPECT_EQ(run.state, "done");
  EXPECT_EQ(run.step, 400);
  EXPECT_EQ(run.run_full, 0.93);
  EXPECT_FALSE(run.mfu);
  EXPECT_FALSE(run.communication_measured);
  EXPECT_EQ(run.ledger.of(Cause::kInput), 10);
  EXPECT_EQ(run.last_epoch.at("val_loss"), 0.6);
  EXPECT_EQ(run.test.at("loss"), 0.7);
  EXPECT_EQ(run.checkpoints.last_step, 400);
  EXPECT_EQ(run.checkpoints.error, "disk full");
  EXPECT_EQ(run.input.stages[0].records, 10);
  EXPECT_THAT(run.verdict, ElementsAre("full 93 %"));
}

TEST(RunRecord, CutAnywhere) {
  const Folder folder;
  const std::string log = kLog;
  for (size_t length = 0; length <= log.size(); length += 3) {
    folder.Write("metrics.jsonl", log.substr(0, length));
    const RunStatus run = ReadRunFolder(folder.path());
    // The last line may be in the writing; the others are whole.
    EXPECT_THAT(run.notes, IsEmpty()) << length;
  }
  const std::string summary = R"({"status": "done", "steps": 4})";
  folder.Write("metrics.jsonl", log);
  for (size_t length = 0; length < summary.size(); ++length) {
    folder.Write("summary.json", summary.substr(0, length));
    const RunStatus run = ReadRunFolder(folder.path());
    EXPECT_EQ(run.state, "ended");
    EXPECT_EQ(run.notes.size(), 1u);
  }
}

TEST(RunRecord, LinesThatAreNone) {
  const Folder folder;
  folder.Write(
      "metrics.jsonl",
      std::string("{\"event\":\"log\",\"step\":1,\"loss\":3}\n") + "garbage\n" +
          std::string("\0\0\0\n", 4) + "[1,2]\n\n{\"event\":\"log\",\"step\":\"x\"}\n" +
          "{\"event\":7}\n{\"event\":\"log\",\"step\":1e300,\"loss\":null,\"epoch\":-5}\n" +
          std::string(2 << 20, 'x') + "\n" +
          "{\"event\":\"epoch\",\"epoch\":1,\"step\":1e99,\"loss\":\"a\"}\n" +
          "{\"event\":\"log\",\"step\":9,\"loss\":1}\n");
  const RunStatus run = ReadRunFolder(folder.path());
  EXPECT_EQ(run.step, 9);
  EXPECT_EQ(run.loss, 1.0);
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_THAT(run.notes[0], HasSubstr("4 lines of metrics.jsonl were not readable"));
}

TEST(RunRecord, ARunThatWentOn) {
  const Folder folder;
  // The second process begins its own wall time; steps after the snapshot are done again.
  folder.Write("metrics.jsonl", std::string(kLog) +
                                    R"({"event":"resume","step":100,"epoch":1,"session":2}
{"event":"log","step":150,"epoch":2,"loss":0.8,"wall_seconds":12,"seconds_start":4,"seconds_compute":8}
)");
  const RunStatus run = ReadRunFolder(folder.path());
  EXPECT_EQ(run.sessions, 2);
  EXPECT_EQ(run.step, 150);
  EXPECT_EQ(run.history.points().back().seconds, 37);
  EXPECT_EQ(run.ledger.of(Cause::kStart), 7);
  EXPECT_EQ(run.ledger.of(Cause::kCompute), 25);
}

TEST(RunRecord, AClockThatWasSetBack) {
  const Folder folder;
  folder.Write("metrics.jsonl", R"({"event":"log","step":1,"epoch":1,"wall_seconds":100}
{"event":"log","step":2,"epoch":1,"wall_seconds":3}
{"event":"log","step":3,"epoch":1,"wall_seconds":104}
)");
  const RunStatus run = ReadRunFolder(folder.path());
  EXPECT_EQ(run.history.points()[1].seconds, 100);
  EXPECT_EQ(run.history.points()[2].seconds, 104);
}

TEST(RunRecord, WhoIsAtWorkThere) {
  const Folder folder;
  folder.Write("metrics.jsonl", kLog);
  // Of an earlier process: it says nothing while another is at work.
  folder.Write("summary.json", R"({"status": "stopped", "steps": 100})");
  EXPECT_EQ(ReadRunFolder(folder.path()).state, "stopped");
  const int lock = open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
  const RunStatus run = ReadRunFolder(folder.path());
  EXPECT_EQ(run.state, "running");
  EXPECT_EQ(run.pid, getpid());
  EXPECT_TRUE(run.alive());
  // Having looked holds nobody up.
  EXPECT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
  close(lock);
  EXPECT_EQ(ReadRunFolder(folder.path()).state, "stopped");
}

TEST(RunRecord, FoldersThatHoldNoRun) {
  const Folder folder;
  const auto complaint = [](const std::string& path) -> std::string {
    try {
      ReadRunFolder(path);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint(folder.path()), HasSubstr("holds no run"));
  EXPECT_THAT(complaint(folder.path() + "/none"), HasSubstr("there is no run folder"));
  folder.Write("file", "x");
  EXPECT_THAT(complaint(folder.path() + "/file"), HasSubstr("is no folder"));
}

TEST(RunRecord, ARunFileThatIsNone) {
  const Folder folder;
  folder.Write("run.toml", "[train\nepochs = ");
  folder.Write("metrics.jsonl", kLog);
  const RunStatus run = ReadRunFolder(folder.path());
  EXPECT_EQ(run.step, 100);
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_THAT(run.notes[0], HasSubstr("run.toml"));
}

}  // namespace
}  // namespace flatout::watch
