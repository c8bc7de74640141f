#include "flatout/cli/doctor_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "flatout/base/error.h"
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
      "\"taken_back\":true},3]}");
  EXPECT_THAT(Explain(),
              AllOf(HasSubstr("is done, after step 800"),
                    HasSubstr("advised: data.workers = \"auto\" at step 120, predicted 1.50x, "
                              "obtained 1.40x\n"),
                    HasSubstr("x at step 1, predicted 2.00x, obtained n/a, taken back")));
  Write("summary.json", "{\"status\":\"stopped\",\"steps\":800}");
  EXPECT_THAT(Explain(), HasSubstr("was stopped at step 800"));
  Write("summary.json", "{\"status\":\"failed\",\"steps\":800,\"error\":\"the loss is NaN\"}");
  EXPECT_THAT(Explain(), HasSubstr("failed at step 800: the loss is NaN"));
}

TEST_F(DoctorRunTest, WhatIsNoRunIsRefused) {
  EXPECT_THROW(ExplainRun(folder_ + "/nowhere"), Error);
  std::filesystem::create_directories(folder_ + "/empty");
  EXPECT_THROW(ExplainRun(folder_ + "/empty"), Error);
}

}  // namespace
}  // namespace flatout::cli
