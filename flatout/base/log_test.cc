#include "flatout/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "flatout/base/error.h"

namespace flatout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

using Lines = std::vector<std::pair<LogLevel, std::string>>;

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    SetLogLevel(LogLevel::kInfo);
    SetLogSink([](LogLevel level, const std::string& line,
                  void* context) { static_cast<Lines*>(context)->emplace_back(level, line); },
               &lines_);
  }
  ~LogTest() override {
    SetLogSink(nullptr, nullptr);
    SetLogLevel(LogLevel::kInfo);
  }
  Lines lines_;
};

TEST_F(LogTest, LevelsBelowTheSetOneAreSilent) {
  LogDebug("hidden {}", 1);
  LogInfo("step {}", 2);
  LogWarning("slow");
  SetLogLevel(LogLevel::kError);
  LogWarning("hidden");
  LogError("{}", "bad {braces}");
  SetLogLevel(LogLevel::kOff);
  LogError("hidden");
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::kInfo, "step 2"), Pair(LogLevel::kWarning, "slow"),
                                  Pair(LogLevel::kError, "bad {braces}")));
}

TEST_F(LogTest, LevelNames) {
  EXPECT_EQ(ParseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("off"), LogLevel::kOff);
  try {
    ParseLogLevel("warnin");
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"warning\"?"));
  }
}

TEST_F(LogTest, ManyThreadsMayLog) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) LogInfo("line {}", i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines_.size(), 400U);
}

TEST_F(LogTest, LinesGoToStandardError) {
  SetLogSink(nullptr, nullptr);
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  LogWarning("to the error stream");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("warning to the error stream\n"));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

// The variable is read once, so each value needs a process of its own.
TEST(LogDeathTest, EnvironmentSetsTheLevel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("FLATOUT_LOG", "error", 1);
        LogWarning("not shown");
        LogError("shown");
        std::_Exit(GetLogLevel() == LogLevel::kError ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "error shown");
  EXPECT_EXIT(
      {
        setenv("FLATOUT_LOG", "loud", 1);
        LogInfo("shown");
        std::_Exit(GetLogLevel() == LogLevel::kInfo ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "FLATOUT_LOG: \"loud\" is no log level.*\n.*info shown");
}

}  // namespace
}  // namespace flatout
