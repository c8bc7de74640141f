#include "flatout/watch/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "flatout/base/clock.h"

namespace flatout::watch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kFirst = "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f";

// Waits until the sampler has taken so many samples of the first device.
std::vector<DeviceUse> Await(const Sampler& sampler, int64_t samples) {
  for (;;) {
    std::vector<DeviceUse> total = sampler.total();
    if (!total.empty() && total[0].samples >= samples) return total;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class SamplerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("FLATOUT_NVML_LIBRARY", FAKE_NVIDIA, 1);
    for (const char* name : {"FAKE_GPUS", "FAKE_NVML_INIT", "FAKE_NVML_DENY"}) unsetenv(name);
  }
};

TEST_F(SamplerTest, SumsUpWhatItSees) {
  setenv("FAKE_GPUS", "name=A|total=15360|used=1000|busy=50|clock=990|limits=0x20", 1);
  Sampler sampler({.seconds = 0.001, .uuids = {kFirst}});
  const std::vector<DeviceUse> total = Await(sampler, 3);
  ASSERT_THAT(total, SizeIs(1));
  EXPECT_EQ(total[0].name, "A");
  EXPECT_EQ(total[0].utilization.mean(), 0.5);
  EXPECT_EQ(total[0].sm_clock_hertz.mean(), 990e6);
  EXPECT_EQ(total[0].sm_clock_max_hertz, 1980e6);
  EXPECT_EQ(total[0].limited_by("thermal"), 1.0);
  EXPECT_EQ(total[0].limited_by("power cap"), 0.0);
  EXPECT_EQ(total[0].nvlink_sent.mean(), std::nullopt);
  const Sample latest = sampler.latest();
  EXPECT_GT(latest.time, 0);
  EXPECT_LE(latest.time, SteadySeconds());
  EXPECT_THAT(latest.why_no_devices, IsEmpty());
  EXPECT_GE(latest.host.usable_cores, 1);
  EXPECT_GT(latest.host.resident_bytes.value(), 0);
  // An interval holds what came since the one before, the total everything.
  EXPECT_GE(sampler.TakeInterval().at(0).samples, 3);
  const int64_t before = sampler.total().at(0).samples;
  Await(sampler, before + 2);
  const int64_t interval = sampler.TakeInterval().at(0).samples;
  EXPECT_GE(interval, 1);
  EXPECT_LT(interval, sampler.total().at(0).samples);
}

TEST_F(SamplerTest, AFailingDriverEndsNothing) {
  setenv("FAKE_NVML_DENY", "nvml", 1);
  Sampler sampler({.seconds = 0.001, .uuids = {kFirst}});
  std::vector<DeviceUse> total = Await(sampler, 2);
  EXPECT_EQ(total[0].utilization.mean(), std::nullopt);
  EXPECT_EQ(total[0].limited_by("thermal"), std::nullopt) << "unknown, not never";
  EXPECT_THAT(sampler.latest().why_no_devices, HasSubstr("permission"));
  unsetenv("FAKE_NVML_DENY");
  Await(sampler, total[0].samples + 2);
  EXPECT_TRUE(sampler.total()[0].utilization.mean().has_value());
}

TEST_F(SamplerTest, WithoutGpusOnlyTheHostIsSampled) {
  setenv("FLATOUT_NVML_LIBRARY", "/no/such/library", 1);
  Sampler sampler({.seconds = 0.001, .uuids = {"", ""}});
  while (sampler.latest().time == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(sampler.latest().devices, IsEmpty());
  EXPECT_THAT(sampler.latest().why_no_devices, IsEmpty()) << "nobody was asked";
  EXPECT_THAT(sampler.total(), IsEmpty());
}

TEST_F(SamplerTest, SwitchedOffItStartsNothing) {
  const Sampler sampler({.seconds = 0, .uuids = {kFirst}});
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(sampler.latest().time, 0);
  EXPECT_THAT(sampler.total(), IsEmpty());
}

// It waits for a second between samples, but not at its end.
TEST_F(SamplerTest, EndsAtOnce) {
  const double begin = SteadySeconds();
  { const Sampler sampler({.seconds = 3600, .uuids = {kFirst}}); }
  EXPECT_LT(SteadySeconds() - begin, 1800);
}

TEST_F(SamplerTest, TheQuotaAndItsThrottlingAreTheGroups) {
  const std::string root = ::testing::TempDir() + "/sampler" + std::to_string(getpid());
  std::filesystem::create_directories(root + "/proc/self");
  std::filesystem::create_directories(root + "/sys/fs/cgroup/job");
  std::ofstream(root + "/proc/self/cgroup") << "0::/job\n";
  std::ofstream(root + "/proc/self/mountinfo")
      << "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  std::ofstream(root + "/sys/fs/cgroup/job/cpu.max") << "150000 100000\n";
  std::ofstream(root + "/sys/fs/cgroup/job/cpu.stat")
      << "usage_usec 5\nnr_throttled 7\nthrottled_usec 2500000\n";
  const HostSample sample = SampleHost({.root = root, .host_cores = 8, .affinity_cores = 8});
  EXPECT_EQ(sample.throttled_seconds, 2.5);
  EXPECT_EQ(sample.quota_cores, 1.5);
  EXPECT_GE(sample.usable_cores, 1);
  EXPECT_LE(sample.usable_cores, 2);
  std::filesystem::remove(root + "/sys/fs/cgroup/job/cpu.stat");
  std::filesystem::remove(root + "/sys/fs/cgroup/job/cpu.max");
  const HostSample unknown = SampleHost({.root = root, .host_cores = 8, .affinity_cores = 8});
  EXPECT_EQ(unknown.throttled_seconds, std::nullopt);
  EXPECT_EQ(unknown.quota_cores, std::nullopt);
  EXPECT_EQ(unknown.usable_cores, 8);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace flatout::watch
