#include "flatout/train/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace flatout::train {
namespace {

using ::testing::HasSubstr;
using watch::Cause;

void Sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

const trace::Track& TrackOf(const Profile& profile, const std::string& name) {
  for (const trace::Track& track : profile.recording.tracks) {
    if (track.name == name) return track;
  }
  static const trace::Track none;
  ADD_FAILURE() << "no track " << name;
  return none;
}

double Seconds(const trace::Track& track, const std::string& name) {
  double seconds = 0;
  for (const trace::Event& event : track.events) {
    if (event.name == name) seconds += event.end - event.begin;
  }
  return seconds;
}

// Waiting for results is the device's time, not the host's; what the host does while no device
// computes is its own.
TEST(ProfileObserver, WaitingForResultsIsNoWorkOfTheHost) {
  watch::Ledger ledger(0);
  StopRequest stop;
  ProfileObserver observer(/*steps=*/2, ledger, stop, nullptr);
  ledger.Enter(Cause::kHost);
  Progress progress;
  for (progress.step = 1; progress.step <= 2; ++progress.step) observer.OnProgress(progress);
  for (; progress.step <= 4; ++progress.step) {
    const int64_t launch = ledger.Launched(Cause::kCompute);
    Sleep();  // waits
    ledger.Completed(launch);
    Sleep();  // works
    {
      const watch::Phase phase(ledger, Cause::kHost, watch::Stage::kResults);
      Sleep();
    }
    observer.OnProgress(progress);
  }
  ASSERT_TRUE(observer.profile());
  const Profile& profile = *observer.profile();
  EXPECT_EQ(profile.steps, 2);
  EXPECT_TRUE(stop.asked);
  const trace::Track& thread = TrackOf(profile, "training thread");
  const double device = Seconds(TrackOf(profile, "device 0"), "compute");
  EXPECT_GE(device, 0.04);
  EXPECT_NEAR(Seconds(thread, "wait for device"), device, 1e-9);
  EXPECT_GE(Seconds(thread, "host"), 0.02);
  EXPECT_GE(Seconds(thread, "results"), 0.02);
  // Nothing is told twice, and nothing is left out.
  double all = 0;
  for (const trace::Event& event : thread.events) all += event.end - event.begin;
  EXPECT_LE(all, profile.seconds + 1e-9);
  EXPECT_THAT(TimeTable(profile), HasSubstr("wait for device"));
}

}  // namespace
}  // namespace flatout::train
