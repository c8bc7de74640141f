// NVML as played by xla/testdata/fake_nvidia.c.
#include "flatout/watch/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

namespace flatout::watch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int64_t kMiB = int64_t{1} << 20;

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("FLATOUT_NVML_LIBRARY", FAKE_NVIDIA, 1);
    for (const char* name : {"FAKE_GPUS", "FAKE_NVML_INIT", "FAKE_NVML_DENY"}) unsetenv(name);
  }
};

TEST_F(NvmlTest, WithoutTheLibraryItSaysWhy) {
  setenv("FLATOUT_NVML_LIBRARY", "/no/such/libnvidia-ml.so.1", 1);
  const NvmlReading reading = ReadNvml();
  EXPECT_THAT(reading.why_not,
              AllOf(HasSubstr("no NVIDIA driver"), HasSubstr("/no/such/libnvidia-ml.so.1")));
  EXPECT_THAT(reading.cards, IsEmpty());
  const std::string text = ::testing::TempDir() + "/not_a_library" + std::to_string(getpid());
  std::ofstream(text) << "text";
  setenv("FLATOUT_NVML_LIBRARY", text.c_str(), 1);
  EXPECT_THAT(ReadNvml().why_not, HasSubstr(text));
  std::remove(text.c_str());
}

TEST_F(NvmlTest, TwoIdleCards) {
  const NvmlReading reading = ReadNvml();
  EXPECT_THAT(reading.why_not, IsEmpty());
  EXPECT_EQ(reading.driver_version, "580.65.06");
  EXPECT_EQ(reading.cuda_version, 13010);
  ASSERT_THAT(reading.cards, SizeIs(2));
  const NvmlCard& card = reading.cards[0];
  EXPECT_EQ(card.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(card.uuid, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
  EXPECT_EQ(card.pci_bus_id, "00000000:17:00.0");
  EXPECT_EQ(card.total_bytes, 81559 * kMiB);
  EXPECT_EQ(card.reserved_bytes, 551 * kMiB);
  EXPECT_EQ(card.used_bytes, 0);
  EXPECT_EQ(card.free_bytes, (81559 - 551) * kMiB);
  EXPECT_EQ(card.busy_percent, 0);
  EXPECT_EQ(card.temperature_c, 41);
  EXPECT_EQ(card.power_w, 71.5);
  EXPECT_EQ(card.power_limit_w, 700);
  EXPECT_EQ(card.ecc, true);
  EXPECT_EQ(card.uncorrected_errors, 0);
  EXPECT_EQ(card.persistence, true);
  EXPECT_EQ(card.mig, false);
  EXPECT_EQ(card.compute_major, 9);
  EXPECT_EQ(card.compute_mode, "default");
  EXPECT_THAT(card.processes, IsEmpty());
  EXPECT_THAT(WhoUses(card), IsEmpty());
  EXPECT_EQ(reading.cards[1].persistence, false);
  EXPECT_EQ(reading.cards[1].uncorrected_errors, 1);
  // By uuid, as CUDA writes it and as NVML does.
  EXPECT_EQ(reading.Find("10111213-1415-1617-1819-1a1b1c1d1e1f"), &reading.cards[0]);
  EXPECT_EQ(reading.Find(reading.cards[1].uuid), &reading.cards[1]);
  EXPECT_EQ(reading.Find("GPU-"), nullptr);
  EXPECT_EQ(reading.Find("00000000-0000-0000-0000-000000000000"), nullptr);
}

TEST_F(NvmlTest, WhoUsesTheCard) {
  setenv("FAKE_GPUS",
         "name=T4|total=15360|reserved=440|used=9000|proc=77::1000|proc=4321:python3:7000|"
         "proc=5:trainer:?",
         1);
  const NvmlCard card = ReadNvml().cards.at(0);
  ASSERT_THAT(card.processes, SizeIs(3));
  // Most memory first, unknown last; the program's name without path and arguments.
  EXPECT_EQ(card.processes[0].pid, 4321);
  EXPECT_EQ(card.processes[0].name, "python3");
  EXPECT_EQ(card.processes[0].bytes, 7000 * kMiB);
  EXPECT_EQ(card.processes[1].pid, 77);
  EXPECT_EQ(card.processes[2].bytes, std::nullopt);
  EXPECT_EQ(card.used_bytes, 9000 * kMiB);
  EXPECT_EQ(card.free_bytes, (15360 - 440 - 9000) * kMiB);
  EXPECT_EQ(card.busy_percent, 37);
  EXPECT_THAT(WhoUses(card), AllOf(HasSubstr("python3 (pid 4321) 6.84 GiB"), HasSubstr("1000 MiB"),
                                   HasSubstr("trainer (pid 5)"), HasSubstr("others 1000 MiB")));
}

TEST_F(NvmlTest, ThisProcessIsNoOther) {
  const std::string own = std::to_string(getpid());
  setenv("FAKE_GPUS",
         ("name=T4|total=15360|reserved=440|used=5000|proc=" + own + ":me:4990").c_str(), 1);
  EXPECT_THAT(WhoUses(ReadNvml().cards.at(0)), IsEmpty());
}

TEST_F(NvmlTest, WhatIsUsedByNobodyVisible) {
  setenv("FAKE_GPUS", "name=T4|total=15360|reserved=440|used=5000", 1);
  EXPECT_EQ(WhoUses(ReadNvml().cards.at(0)), "programs not visible from here 4.88 GiB");
}

TEST_F(NvmlTest, ManyProcesses) {
  std::string gpus = "name=T4|total=15360|used=9000";
  for (int i = 0; i < 40; ++i) gpus += "|proc=" + std::to_string(100 + i) + ":p:1";
  setenv("FAKE_GPUS", gpus.c_str(), 1);
  EXPECT_THAT(ReadNvml().cards.at(0).processes, SizeIs(40));
}

TEST_F(NvmlTest, AnOldDriverLacksFunctions) {
  setenv("FLATOUT_NVML_LIBRARY", FAKE_NVIDIA_OLD, 1);
  setenv("FAKE_GPUS", "name=K80|total=11441|reserved=41|used=400|proc=9:x:400", 1);
  const NvmlReading reading = ReadNvml();
  EXPECT_THAT(reading.why_not, IsEmpty());
  EXPECT_EQ(reading.cuda_version, 0);
  ASSERT_THAT(reading.cards, SizeIs(1));
  const NvmlCard& card = reading.cards[0];
  EXPECT_EQ(card.total_bytes, 11441 * kMiB);
  EXPECT_EQ(card.reserved_bytes, std::nullopt);
  EXPECT_EQ(card.free_bytes, 11000 * kMiB);
  ASSERT_THAT(card.processes, SizeIs(1));
  EXPECT_EQ(card.processes[0].bytes, 400 * kMiB);
  EXPECT_EQ(card.mig, std::nullopt);
  EXPECT_EQ(card.temperature_c, std::nullopt);
  EXPECT_THAT(card.compute_mode, IsEmpty());
}

TEST_F(NvmlTest, AStartThatFailsIsExplainedAndTriedAgain) {
  // Another library object, since one that has started stays so.
  const std::string copy = ::testing::TempDir() + "/nvml" + std::to_string(getpid()) + ".so";
  std::ofstream(copy, std::ios::binary) << std::ifstream(FAKE_NVIDIA, std::ios::binary).rdbuf();
  setenv("FLATOUT_NVML_LIBRARY", copy.c_str(), 1);
  for (const auto& [result, text] : {std::pair{"9", "not loaded"},
                                     {"18", "different versions"},
                                     {"4", "permission"},
                                     {"999", "error 999"}}) {
    setenv("FAKE_NVML_INIT", result, 1);
    const NvmlReading reading = ReadNvml();
    EXPECT_THAT(reading.why_not, HasSubstr(text));
    EXPECT_THAT(reading.cards, IsEmpty());
  }
  unsetenv("FAKE_NVML_INIT");
  EXPECT_THAT(ReadNvml().cards, SizeIs(2));
  std::remove(copy.c_str());
}

TEST_F(NvmlTest, WhatIsDeniedIsAbsent) {
  setenv("FAKE_GPUS", "name=T4|total=15360|reserved=440|used=5000|proc=7:x:10", 1);
  setenv("FAKE_NVML_DENY", "Processes", 1);
  NvmlCard card = ReadNvml().cards.at(0);
  EXPECT_THAT(card.processes, IsEmpty());
  EXPECT_THAT(card.processes_why_not, HasSubstr("permission"));
  EXPECT_EQ(card.used_bytes, 5000 * kMiB);
  setenv("FAKE_NVML_DENY", "MemoryInfo", 1);
  card = ReadNvml().cards.at(0);
  EXPECT_EQ(card.total_bytes, std::nullopt);
  EXPECT_EQ(card.free_bytes, std::nullopt);
  EXPECT_THAT(card.processes, SizeIs(1));
  setenv("FAKE_NVML_DENY", "Count", 1);
  EXPECT_THAT(ReadNvml().why_not, HasSubstr("counted"));
  setenv("FAKE_NVML_DENY", "nvml", 1);  // all of them
  EXPECT_THAT(ReadNvml().why_not, Not(IsEmpty()));
}

TEST_F(NvmlTest, ALostCardLeavesTheOthers) {
  setenv("FAKE_GPUS", "name=A|total=100;name=B|total=100|lost=1;name=C|total=100", 1);
  const NvmlReading reading = ReadNvml();
  ASSERT_THAT(reading.cards, SizeIs(2));
  EXPECT_EQ(reading.cards[1].name, "C");
  EXPECT_EQ(reading.cards[1].index, 2);
  ASSERT_THAT(reading.warnings, SizeIs(1));
  EXPECT_THAT(reading.warnings[0], AllOf(HasSubstr("card 1"), HasSubstr("fallen off the bus")));
}

TEST_F(NvmlTest, SlicesOfASplitCard) {
  setenv("FAKE_GPUS", "name=A100|total=40960|mig=1|used=100", 1);
  const NvmlReading reading = ReadNvml();
  const NvmlCard& card = reading.cards.at(0);
  EXPECT_EQ(card.mig, true);
  ASSERT_THAT(card.slices, SizeIs(1));
  EXPECT_EQ(card.slices[0].index, 1);
  EXPECT_EQ(card.slices[0].name, "MIG 3g.40gb");
  EXPECT_EQ(card.slices[0].total_bytes, 20480 * kMiB);
  EXPECT_THAT(card.slices[0].uuid, HasSubstr("MIG-"));
  EXPECT_EQ(reading.Find(card.slices[0].uuid.substr(4)), &card.slices[0]);
}

// ---- what is sampled while a run trains ----

constexpr const char* kFirst = "10111213-1415-1617-1819-1a1b1c1d1e1f";
constexpr const char* kSecond = "GPU-20212223-2425-2627-2829-2a2b2c2d2e2f";

TEST_F(NvmlTest, SamplesAreOfTheRunsDevicesInItsOrder) {
  setenv("FAKE_GPUS",
         "name=A|total=15360|reserved=440|used=1000|busy=97|clock=1200|limits=0x25|corrected=3;"
         "name=B|total=81559|used=2000|busy=0",
         1);
  NvmlProbe probe;
  const std::vector<DeviceSample> samples = probe.Take({kSecond, kFirst});
  EXPECT_THAT(probe.why_not(), IsEmpty());
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[0].device, 0);
  EXPECT_EQ(samples[0].name, "B");
  EXPECT_EQ(samples[0].utilization, 0.0);  // known to be 0
  EXPECT_EQ(samples[0].clock_limits, std::vector<std::string>());
  const DeviceSample& sample = samples[1];
  EXPECT_EQ(sample.device, 1);
  EXPECT_EQ(sample.name, "A");
  EXPECT_EQ(sample.utilization, 0.97);
  EXPECT_EQ(sample.memory_utilization, 0.12);
  EXPECT_EQ(sample.memory_used_bytes, 1000 * kMiB);
  EXPECT_EQ(sample.memory_total_bytes, 15360 * kMiB);
  EXPECT_EQ(sample.power_watts, 71.5);
  EXPECT_EQ(sample.power_limit_watts, 700);
  EXPECT_EQ(sample.temperature_celsius, 41);
  EXPECT_EQ(sample.sm_clock_hertz, 1200e6);
  EXPECT_EQ(sample.sm_clock_max_hertz, 1980e6);
  EXPECT_EQ(sample.memory_clock_hertz, 2619e6);
  // That it is idle (0x1) holds no clock back.
  EXPECT_THAT(*sample.clock_limits, ::testing::ElementsAre("power cap", "thermal"));
  EXPECT_EQ(sample.ecc_uncorrected, 0);
  EXPECT_EQ(sample.ecc_corrected, 3);
  EXPECT_EQ(sample.pcie_sent, 250e6);
  EXPECT_EQ(sample.pcie_received, 1500e6);
  EXPECT_EQ(sample.nvlink_sent, std::nullopt);
}

TEST_F(NvmlTest, TrafficOnNvlinkIsARateAndThatOnPcieIsAskedForMoreRarely) {
  setenv("FAKE_GPUS", "name=A|total=15360|nvlink=512", 1);
  NvmlProbe probe;
  DeviceSample first = probe.Take({kFirst}).at(0);
  EXPECT_EQ(first.nvlink_sent, std::nullopt) << "a rate needs two readings";
  EXPECT_TRUE(first.pcie_sent.has_value());
  const DeviceSample second = probe.Take({kFirst}).at(0);
  EXPECT_GT(second.nvlink_sent.value(), 512.0 * kMiB) << "512 MiB more in less than a second";
  EXPECT_EQ(second.pcie_sent, std::nullopt);
}

TEST_F(NvmlTest, WhatTheDriverDoesNotSayIsAbsentNotZero) {
  setenv("FAKE_GPUS", "name=A|total=15360|used=100", 1);
  setenv("FAKE_NVML_DENY", "Get", 1);
  NvmlProbe probe;
  const auto nothing = [](const DeviceSample& sample) {
    return !sample.utilization && !sample.memory_used_bytes && !sample.power_watts &&
           !sample.temperature_celsius && !sample.sm_clock_hertz && !sample.clock_limits &&
           !sample.ecc_uncorrected && !sample.pcie_sent && !sample.nvlink_sent;
  };
  std::vector<DeviceSample> samples = probe.Take({kFirst});
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_TRUE(nothing(samples[0]));
  EXPECT_THAT(probe.why_not(), Not(IsEmpty()));
  // Permission that comes back is noticed.
  unsetenv("FAKE_NVML_DENY");
  EXPECT_FALSE(nothing(probe.Take({kFirst}).at(0)));
  EXPECT_THAT(probe.why_not(), IsEmpty());
  // Some figures only.
  setenv("FAKE_NVML_DENY", "Clocks", 1);
  samples = probe.Take({kFirst});
  EXPECT_EQ(samples[0].clock_limits, std::nullopt);
  EXPECT_TRUE(samples[0].sm_clock_hertz.has_value());
}

TEST_F(NvmlTest, ProbesWithoutALibraryOrWithAnOldOneSayWhatTheyCan) {
  setenv("FLATOUT_NVML_LIBRARY", "/no/such/libnvidia-ml.so.1", 1);
  NvmlProbe probe;
  std::vector<DeviceSample> samples = probe.Take({kFirst, ""});
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[1].device, 1);
  EXPECT_EQ(samples[0].utilization, std::nullopt);
  EXPECT_THAT(probe.why_not(), HasSubstr("no NVIDIA driver"));
  setenv("FLATOUT_NVML_LIBRARY", FAKE_NVIDIA_OLD, 1);
  setenv("FAKE_GPUS", "name=K80|total=11441|used=400", 1);
  samples = probe.Take({kFirst});
  EXPECT_THAT(probe.why_not(), IsEmpty());
  EXPECT_EQ(samples[0].memory_used_bytes, 400 * kMiB);
  EXPECT_EQ(samples[0].temperature_celsius, std::nullopt);
  EXPECT_EQ(samples[0].clock_limits, std::nullopt);
}

TEST_F(NvmlTest, ADeviceThatIsLostWhileTrainingIsSaid) {
  setenv("FAKE_GPUS", "name=A|total=100|lost=1;name=B|total=100", 1);
  NvmlProbe probe;
  const std::vector<DeviceSample> samples = probe.Take({kFirst, kSecond});
  EXPECT_EQ(samples[0].memory_total_bytes, std::nullopt);
  EXPECT_EQ(samples[1].memory_total_bytes, 100 * kMiB);
  EXPECT_THAT(probe.why_not(), HasSubstr("fallen off the bus"));
  EXPECT_EQ(probe.Take({"no-such-uuid", kSecond}).at(0).name, "");
}

}  // namespace
}  // namespace flatout::watch
