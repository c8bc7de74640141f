#include "flatout/base/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace flatout::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Trace, RecordsNothingUnlessAsked) {
  { const Span span("ignored"); }
  Add("device 0", "ignored", 1, 2);
  Start();
  const Recording recording = Stop();
  EXPECT_THAT(recording.tracks, IsEmpty());
}

TEST(Trace, HasATrackForEachThreadAndName) {
  Start();
  NameThread("training thread");
  {
    const Span outer("step");
    const Span inner("launch");
  }
  std::thread([] {
    NameThread("input 0");
    const Span span("decode");
  }).join();
  const double now = SteadySeconds();
  Add("device 0", "compute", now, now + 1);
  const Recording recording = Stop();
  ASSERT_THAT(recording.tracks,
              ElementsAre(Field(&Track::name, "device 0"), Field(&Track::name, "input 0"),
                          Field(&Track::name, "training thread")));
  const Track& training = recording.tracks[2];
  ASSERT_THAT(training.events, SizeIs(2));
  EXPECT_EQ(training.events[0].name, "launch") << "the inner one ends first";
  EXPECT_LE(training.events[1].begin, training.events[0].begin);
  EXPECT_GE(training.events[1].end, training.events[0].end);
  EXPECT_EQ(recording.tracks[0].events[0].end - recording.tracks[0].events[0].begin, 1);
}

TEST(Trace, WhatBeganBeforeIsCutOff) {
  const double before = SteadySeconds();
  Start();
  AddHere("wait", before - 5, SteadySeconds());
  const Recording recording = Stop();
  ASSERT_THAT(recording.tracks, SizeIs(1));
  EXPECT_EQ(recording.tracks[0].events[0].begin, recording.begin);
}

TEST(Trace, EachRecordingBeginsEmptyAndIsBounded) {
  Start(2);
  for (int i = 0; i < 5; ++i) const Span span("x");
  Recording recording = Stop();
  ASSERT_THAT(recording.tracks, SizeIs(1));
  EXPECT_THAT(recording.tracks[0].events, SizeIs(2));
  EXPECT_EQ(recording.tracks[0].lost, 3);
  Start();
  EXPECT_THAT(Stop().tracks, IsEmpty());
}

TEST(Trace, WritesChromesFormat) {
  Recording recording;
  recording.begin = 10;
  recording.end = 11;
  recording.tracks = {{"input \"0\"", {{"read", 10.5, 10.75}}, 0}};
  const std::string text = ToChromeTrace(recording, "flatout");
  EXPECT_THAT(text, HasSubstr(R"("args": {"name": "input \"0\""})"));
  EXPECT_THAT(text, HasSubstr(R"({"ph": "X", "pid": 1, "tid": 1, "name": "read", )"
                              R"("ts": 500000.000, "dur": 250000.000})"));
}

TEST(Trace, ThreadsMayRecordWhileItIsStopped) {
  std::atomic<bool> end = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&end] {
      while (!end) {
        const Span span("work");
        Add("shared", "work", 1, 2);
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    Start(100);
    for (const Track& track : Stop().tracks) EXPECT_LE(track.events.size(), 100u);
  }
  end = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace flatout::trace
