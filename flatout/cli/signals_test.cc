#include "flatout/cli/signals.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "flatout/base/error.h"

namespace flatout::cli {
namespace {

// Each case runs in a process of its own: handlers and what they remember are the process's.
class Signals : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  [[noreturn]] static void End(const StopRequest& stop) {
    std::fprintf(stderr, "asked by %s", stop.asked ? stop.reason.load() : "nobody");
    _exit(42);
  }
};

TEST_F(Signals, TheFirstAsksAndItsEchoesAreTheSameRequest) {
  const auto run = [] {
    const StopRequest* stop = StopOnSignals();
    raise(SIGTERM);
    raise(SIGTERM);
    raise(SIGHUP);
    End(*stop);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(42), "saving; once more.*asked by SIGTERM");
}

TEST_F(Signals, ASecondOneEndsAtOnce) {
  const auto run = [] {
    const StopRequest* stop = StopOnSignals();
    raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::duration<double>(1.01 * kEchoSeconds));
    raise(SIGTERM);
    End(*stop);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(128 + SIGTERM), "stopped at once");
}

// The machine that a cloud has announced to take away shuts down: that is no second request.
TEST_F(Signals, TheFirstAfterANoticeDoesNotEndWhatIsBeingSaved) {
  const auto run = [] {
    StopRequest* stop = StopOnSignals();
    stop->Ask("a notice");
    raise(SIGTERM);
    raise(SIGTERM);
    End(*stop);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(42), "asked by a notice");
}

TEST_F(Signals, WithNothingToLoseTheFirstEndsTheProcess) {
  const auto run = [] {
    StopRequest* stop = StopOnSignals();
    stop->nothing_to_lose = true;
    raise(SIGTERM);
    End(*stop);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(kExitPreempted), "nothing is lost");
}

// nohup(1) has the hang-up ignored before the program begins.
TEST_F(Signals, AHangUpThatIsIgnoredStaysSo) {
  const auto run = [] {
    signal(SIGHUP, SIG_IGN);
    const StopRequest* stop = StopOnSignals();
    raise(SIGHUP);
    End(*stop);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(42), "asked by nobody");
}

// What is waited for then is nothing that would be lost.
TEST_F(Signals, OnceTheRunIsOverOneEndsTheProcessWithItsCode) {
  const auto done = [] {
    const StopRequest* stop = StopOnSignals();
    EndOnSignals(3);
    raise(SIGTERM);
    End(*stop);
  };
  EXPECT_EXIT(done(), ::testing::ExitedWithCode(3), "^$");
  const auto stopped = [] {
    const StopRequest* stop = StopOnSignals();
    raise(SIGTERM);
    EndOnSignals(kExitPreempted);
    raise(SIGTERM);  // an echo
    std::fprintf(stderr, "still there");
    std::this_thread::sleep_for(std::chrono::duration<double>(1.01 * kEchoSeconds));
    raise(SIGTERM);
    End(*stop);
  };
  EXPECT_EXIT(stopped(), ::testing::ExitedWithCode(kExitPreempted), "still there$");
}

}  // namespace
}  // namespace flatout::cli
