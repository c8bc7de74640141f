#include "flatout/cli/doctor_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "flatout/base/error.h"
#include "flatout/cli/top.h"
#include "flatout/watch/run_record.h"
#include "flatout/watch/verdict.h"

namespace flatout::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DoctorRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "flatout-doctor-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    Write("run.toml", "[train]\nepochs = 4\nglobal_batch = 8\n[watch]\nlog_seconds = 5\n");
    std::string log = "{\"event\":\"plan\",\"planned_bytes\":1000}\n";
    for (int i = 1; i <= 8; ++i) log += LogLine(i, i <= 4 ? 0.5 : 4);
    Write("metrics.jsonl", log);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // An interval of 10 s of compute and so many of input.
  static std::string LogLine(int i, double input) {
    return fmt::format(
        "{{\"event\":\"log\",\"step\":{},\"epoch\":1,\"loss\":0.5,\"wall_seconds\":{},"
        "\"seconds_compute\":10,\"seconds_input\":{},\"seconds_host\":0.1,\"input_workers\":1,"
        "\"input_share_read\":0.9,\"input_share_decode\":0.1}}\n",
        100 * i, 15 * i, input);
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  void WriteFacts() const {
    watch::RunFacts facts;
    facts.ledger.seconds[static_cast<size_t>(watch::Cause::kCompute)] = 60;
    facts.ledger.seconds[static_cast<size_t>(watch::Cause::kCheckpoint)] = 40;
    facts.ledger.wall = 100;
    facts.steps = 800;
    facts.samples = 6400;
    facts.launches = 800;
    facts.device_kind = "cpu";
    Write("facts.json", facts.ToJson());
  }
  std::string Explain() const {
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(ExplainRun(folder_), kExitDone);
    return ::testing::internal::GetCapturedStdout();
  }

  std::string folder_;
};

TEST_F(DoctorRunTest, ARunThatWasKilled) {
  WriteFacts();
  const std::string text = Explain();
  EXPECT_THAT(text,
              AllOf(HasSubstr("ended without a word after step 800"),
                    HasSubstr("It has no checkpoint"), HasSubstr("Is the device running full?"),
                    HasSubstr("full: 60.0 % of the training time"),
                    HasSubstr("limit: checkpoint, 40.0 % of the training time"),
                    HasSubstr("checkpoint.auto = true"), HasSubstr("predicted gain")));
  // Where in its course it changed, by the log.
  EXPECT_THAT(text, AllOf(HasSubstr("course: full"), HasSubstr("where input took")));
  EXPECT_THAT(text, Not(HasSubstr("note:")));
}

TEST_F(DoctorRunTest, ALastLineThatWasCut) {
  WriteFacts();
  std::ofstream(folder_ + "/metrics.jsonl", std::ios::app) << LogLine(9, 1).substr(0, 40);
  EXPECT_THAT(Explain(), AllOf(HasSubstr("after step 800"), HasSubstr("limit: checkpoint"),
                               Not(HasSubstr("note:"))));
}

TEST_F(DoctorRunTest, WithoutFactsItIsJudgedByItsLog) {
  EXPECT_THAT(Explain(), AllOf(HasSubstr("limit: input (read)"), HasSubstr("note: there is no "
                                                                           "facts.json")));
  // Cut short, as by a disk that was full.
  WriteFacts();
  std::filesystem::resize_file(folder_ + "/facts.json", 100);
  EXPECT_THAT(Explain(), AllOf(HasSubstr("limit: input (read)"), HasSubstr("cut short")));
}

TEST_F(DoctorRunTest, ARunBeforeItsFirstStep) {
  Write("metrics.jsonl", "");
  EXPECT_THAT(Explain(), AllOf(HasSubstr("full: not available"), Not(HasSubstr("course")),
                               HasSubstr("next: train for at least one step")));
}

TEST_F(DoctorRunTest, ARunAtWorkThatIsSilent) {
  WriteFacts();
  const int lock = open(folder_.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
  EXPECT_THAT(Explain(), AllOf(HasSubstr("is at work"), HasSubstr("at step 800"),
                               Not(HasSubstr("It has written nothing"))));
  std::filesystem::last_write_time(
      folder_ + "/metrics.jsonl",
      std::filesystem::file_time_type::clock::now() - std::chrono::minutes(30));
  EXPECT_THAT(Explain(), AllOf(HasSubstr("It has written nothing for 30"), HasSubstr("every 5 s"),
                               HasSubstr("proves nothing")));
  close(lock);
}

TEST_F(DoctorRunTest, RunsThatEndedByThemselves) {
  WriteFacts();
  Write(
      "summary.json",
      "{\"status\":\"done\",\"steps\":800,\"advised\":[{\"change\":\"data.workers = \\\"auto\\\"\","
      "\"step\":120,\"predicted_gain\":1.5,\"obtained_gain\":1.4,\"taken_back\":false},"
      "{\"change\":\"x\",\"step\":1,\"predicted_gain\":2,\"obtained_gain\":null,"
      "\"taken_back\":true}]}");
  EXPECT_THAT(Explain(),
              AllOf(HasSubstr("is done, after step 800"),
                    HasSubstr("advised: data.workers = \"auto\" at step 120, predicted 1.50x, "
                              "obtained 1.40x\n"),
                    HasSubstr("x at step 1, predicted 2.00x, obtained n/a (the run ended before it "
                              "showed), taken back")));
  Write("summary.json", "{\"status\":\"stopped\",\"steps\":800}");
  EXPECT_THAT(Explain(), HasSubstr("was stopped at step 800"));
  Write("summary.json",
        "{\"status\":\"stopped\",\"steps\":800,\"checkpoints\":{\"error\":\"disk full\"}}");
  EXPECT_THAT(Explain(),
              HasSubstr("goes on from the newest checkpoint, since the last one could not "
                        "be saved (disk full)"));
  Write("summary.json", "{\"status\":\"failed\",\"steps\":800,\"error\":\"the loss is NaN\"}");
  EXPECT_THAT(Explain(), HasSubstr("failed at step 800: the loss is NaN"));
}

// One source: what the run itself said at its end, for everybody who asks later.
TEST_F(DoctorRunTest, SaysWhatTopSays) {
  WriteFacts();
  Write("run.toml", "[cost]\nprice_per_hour = 3600\ncurrency = \"EUR\"\n");
  const auto top = [&] {
    std::string all;
    for (const std::string& line : TopLines(watch::ReadRunFolder(folder_), {200, 0}, false)) {
      all += line + "\n";
    }
    return all;
  };
  // A run that was killed, by its facts; without them, by its log.
  for (const char* full : {"full: 60.0 %", "full: 80.9 %"}) {
    EXPECT_THAT(Explain(), HasSubstr(full));
    EXPECT_THAT(top(), AllOf(HasSubstr(full), HasSubstr(fmt::format("full {}", full + 6))));
    std::filesystem::remove(folder_ + "/facts.json");
  }
  // One that ended by itself.
  WriteFacts();
  Write("summary.json",
        "{\"status\":\"done\",\"steps\":800,\"epochs\":1,\"full\":0.6179,\"wall_seconds\":2,"
        "\"ledger\":{\"compute\":1,\"input\":1},\"verdict\":[\"full: 61.7 % of it\"]}");
  EXPECT_THAT(Explain(), AllOf(HasSubstr("full: 61.7 % of it"), HasSubstr("cost: 2.00 EUR so far"),
                               Not(HasSubstr("60.0 %"))));
  EXPECT_THAT(top(), AllOf(HasSubstr("full 61.7 %"), HasSubstr("cost: 2.00 EUR so far")));
}

// Of a run that ended before it had written any facts, what is not known is not made up.
TEST_F(DoctorRunTest, WhatIsNotKnownIsNotToldAsZero) {
  const std::string text = Explain();
  EXPECT_THAT(text, AllOf(HasSubstr("input: 1 worker; of the workers' time read 90.0 %, decode"),
                          Not(HasSubstr("records/s each")), Not(HasSubstr("core busy")),
                          Not(HasSubstr("cores busy")), Not(HasSubstr("(now 1"))));
}

// Pipes and devices in place of files: nothing is waited for, and it is said.
TEST_F(DoctorRunTest, FilesThatAreNone) {
  WriteFacts();
  for (const char* name : {"facts.json", "summary.json", "metrics.jsonl", "run.log", "run.toml"}) {
    for (const bool pipe : {true, false}) {
      SCOPED_TRACE(fmt::format("{} {}", name, pipe));
      const std::string path = folder_ + "/" + name, aside = folder_ + "/aside";
      std::error_code ignored;
      std::filesystem::rename(path, aside, ignored);
      if (pipe) {
        ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
      } else {
        std::filesystem::create_directory(path);
      }
      EXPECT_THAT(Explain(), AllOf(HasSubstr("note: "), HasSubstr(name)));
      std::filesystem::remove_all(path);
      std::filesystem::rename(aside, path, ignored);
    }
    std::filesystem::create_symlink("/dev/zero", folder_ + "/device");
    const std::string path = folder_ + "/" + name, aside = folder_ + "/aside";
    std::error_code ignored;
    std::filesystem::rename(path, aside, ignored);
    std::filesystem::rename(folder_ + "/device", path);
    EXPECT_THAT(Explain(), AllOf(HasSubstr("note: "), HasSubstr(name)));
    std::filesystem::remove(path);
    std::filesystem::rename(aside, path, ignored);
  }
}

// Other types than a run writes, at each key: file and key are named, and nothing of it is used.
TEST_F(DoctorRunTest, ASummaryOfWrongTypes) {
  WriteFacts();
  const std::pair<const char*, const char*> wrong[] = {
      {"status", "3"},
      {"error", "[]"},
      {"steps", "\"many\""},
      {"steps", "-1"},
      {"steps", "1.5"},
      {"steps", "1e300"},
      {"epochs", "true"},
      {"samples", "{}"},
      {"full", "\"1\""},
      {"full", "7"},
      {"full", "-0.1"},
      {"mfu", "[1]"},
      {"samples_per_second", "\"x\""},
      {"device", "1"},
      {"devices", "\"two\""},
      {"metrics", "[]"},
      {"metrics", "{\"train\": 3}"},
      {"metrics", "{\"test\": {\"loss\": \"low\"}}"},
      {"ledger", "\"x\""},
      {"ledger", "{\"compute\": \"long\"}"},
      {"wall_seconds", "[]"},
      {"input", "1"},
      {"input", "{\"stages\": []}"},
      {"input", "{\"stages\": {\"read\": 3}}"},
      {"input", "{\"queue_fill\": 3}"},
      {"memory", "3"},
      {"checkpoints", "[3]"},
      {"checkpoints", "{\"last_step\": \"x\"}"},
      {"verdict", "\"full\""},
      {"verdict", "[3]"},
      {"advised", "{}"},
      {"advised", "[3]"},
      {"advised", "[{\"taken_back\": 1}]"},
      {"limit", "0"},
      {"sessions", "\"2\""},
      {"compiles", "\"no\""}};
  for (const auto& [key, value] : wrong) {
    SCOPED_TRACE(fmt::format("{}: {}", key, value));
    std::string text = "{\"steps\": 123";
    if (std::string(key) == "steps") text = "{\"epochs\": 1";
    if (std::string(key) != "status") text += ", \"status\": \"done\"";
    Write("summary.json", fmt::format("{}, \"{}\": {}}}", text, key, value));
    EXPECT_THAT(
        Explain(),
        AllOf(HasSubstr("note: summary.json is left out: " + folder_ + "/summary.json: " + key),
              HasSubstr("expected"), HasSubstr("ended without a word after step 800")));
  }
}

TEST_F(DoctorRunTest, WhatIsNoRunIsRefused) {
  EXPECT_THROW(ExplainRun(folder_ + "/nowhere"), Error);
  std::filesystem::create_directories(folder_ + "/empty");
  EXPECT_THROW(ExplainRun(folder_ + "/empty"), Error);
}

}  // namespace
}  // namespace flatout::cli
