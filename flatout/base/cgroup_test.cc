#include "flatout/base/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "flatout/base/file.h"

namespace flatout {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A made-up machine of 12 cores and 64 GiB under a folder.
class CgroupTest : public ::testing::Test {
 protected:
  CgroupTest()
      : root_(::testing::TempDir() + "flatout_cgroup_" + std::to_string(getpid()) + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    Put("/proc/meminfo", "MemTotal:       67108864 kB\nMemFree:        1 kB\n");
  }
  ~CgroupTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  void Put(const std::string& path, const std::string& text) const {
    MakeDirs(std::filesystem::path(root_ + path).parent_path().string());
    AtomicWriteFile(root_ + path, text);
  }
  void PutV2(const std::string& group) const {
    Put("/proc/self/cgroup", "0::" + group + "\n");
    Put("/proc/self/mountinfo",
        "30 1 0:26 / / rw - overlay overlay rw\n"
        "31 30 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
  }
  CgroupSource Source(int affinity = 12) const {
    return {.root = root_, .host_cores = 12, .affinity_cores = affinity};
  }
  std::string root_;
};

TEST_F(CgroupTest, QuotaOfVersion2) {
  PutV2("/");
  Put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  const CgroupReading reading = ReadCgroup(Source());
  EXPECT_EQ(reading.cpu.usable, 4);
  EXPECT_EQ(reading.cpu.quota, 4.0);
  EXPECT_EQ(reading.cpu.ToString(), "cores usable: 4 (quota) of 12");
  EXPECT_THAT(reading.warnings, IsEmpty());
}

TEST_F(CgroupTest, NoQuotaMeansTheHost) {
  PutV2("/");
  Put("/sys/fs/cgroup/cpu.max", "max 100000\n");
  const CgroupReading reading = ReadCgroup(Source());
  EXPECT_EQ(reading.cpu.usable, 12);
  EXPECT_EQ(reading.cpu.quota, 0);
  EXPECT_EQ(reading.cpu.ToString(), "cores usable: 12 of 12");
  EXPECT_THAT(reading.warnings, IsEmpty());
}

TEST_F(CgroupTest, MissingFilesMeanTheHost) {
  const CgroupReading reading = ReadCgroup(Source());
  EXPECT_EQ(reading.cpu.usable, 12);
  EXPECT_EQ(reading.memory.usable, int64_t{64} << 30);
  EXPECT_EQ(reading.memory.group, -1);
  EXPECT_THAT(reading.warnings, IsEmpty());
  EXPECT_FALSE(ThrottledSeconds(Source()).has_value());
}

TEST_F(CgroupTest, GarbageMeansTheHostAndAWarning) {
  PutV2("/");
  for (const char* garbage : {"garbage", "", "400000", "-5 100000", "4 0", "0 100000", "max",
                              "1 2 3", "400000 100000x", "max max"}) {
    Put("/sys/fs/cgroup/cpu.max", garbage);
    const CgroupReading reading = ReadCgroup(Source());
    EXPECT_EQ(reading.cpu.usable, 12) << garbage;
    ASSERT_THAT(reading.warnings, SizeIs(1)) << garbage;
    EXPECT_THAT(reading.warnings[0], HasSubstr("/sys/fs/cgroup/cpu.max"));
    EXPECT_THAT(reading.warnings[0], HasSubstr(std::string("found \"") + garbage + "\""));
  }
  Put("/sys/fs/cgroup/cpu.max", "max 100000");
  Put("/sys/fs/cgroup/memory.max", "lots");
  const CgroupReading reading = ReadCgroup(Source());
  EXPECT_EQ(reading.memory.usable, int64_t{64} << 30);
  EXPECT_THAT(reading.warnings, SizeIs(1));
}

TEST_F(CgroupTest, TheTightestGroupOnTheWayUpCounts) {
  PutV2("/kubepods/pod7/main");
  Put("/sys/fs/cgroup/kubepods/pod7/main/cpu.max", "max 100000\n");
  Put("/sys/fs/cgroup/kubepods/pod7/cpu.max", "250000 100000\n");
  Put("/sys/fs/cgroup/kubepods/cpu.max", "1100000 100000\n");
  Put("/sys/fs/cgroup/kubepods/pod7/main/memory.max", "17179869184\n");
  Put("/sys/fs/cgroup/kubepods/pod7/memory.max", "8589934592\n");
  Put("/sys/fs/cgroup/kubepods/memory.max", "max\n");
  const CgroupReading reading = ReadCgroup(Source());
  EXPECT_EQ(reading.cpu.quota, 2.5);
  EXPECT_EQ(reading.cpu.usable, 2);
  EXPECT_EQ(reading.memory.usable, int64_t{8} << 30);
  EXPECT_EQ(reading.memory.ToString(), "memory usable: 8.00 GiB (limit) of 64.0 GiB");
}

TEST_F(CgroupTest, QuotaBelowOneCoreLeavesOneThread) {
  PutV2("/");
  Put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(ReadCgroup(Source()).cpu.usable, 1);
}

TEST_F(CgroupTest, AffinityAndQuotaTogether) {
  PutV2("/");
  EXPECT_EQ(ReadCgroup(Source(3)).cpu.ToString(), "cores usable: 3 (affinity) of 12");
  Put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(ReadCgroup(Source(3)).cpu.usable, 3);
  EXPECT_EQ(ReadCgroup(Source(8)).cpu.ToString(), "cores usable: 4 (quota) of 12");
}

TEST_F(CgroupTest, Version1WithAContainersMounts) {
  // Inside a container the mount's root is the container's group, and so is the process's path.
  Put("/proc/self/cgroup", "5:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc/job\n0::/\n");
  Put("/proc/self/mountinfo",
      "40 30 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
      "41 30 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "600000\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/cpu.stat",
      "nr_periods 10\nnr_throttled 3\nthrottled_time 2500000000\n");
  Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4294967296\n");
  const CgroupReading reading = ReadCgroup(Source());
  EXPECT_EQ(reading.cpu.usable, 6);
  EXPECT_EQ(reading.memory.usable, int64_t{4} << 30);
  EXPECT_THAT(reading.warnings, IsEmpty());
  EXPECT_DOUBLE_EQ(ThrottledSeconds(Source()).value(), 2.5);
}

TEST_F(CgroupTest, Version1SaysNoLimitWithHugeNumbers) {
  Put("/proc/self/cgroup", "5:memory:/\n");
  Put("/proc/self/mountinfo", "41 30 0:31 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  for (const char* none : {"9223372036854771712", "18446744073709551615", "-1"}) {
    Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", none);
    const CgroupReading reading = ReadCgroup(Source());
    EXPECT_EQ(reading.memory.usable, int64_t{64} << 30) << none;
    EXPECT_THAT(reading.warnings, IsEmpty()) << none;
  }
}

TEST_F(CgroupTest, ThrottledTimeOfVersion2) {
  PutV2("/a");
  Put("/sys/fs/cgroup/a/cpu.stat", "usage_usec 99\nthrottled_usec 1500000\n");
  EXPECT_DOUBLE_EQ(ThrottledSeconds(Source()).value(), 1.5);
}

TEST_F(CgroupTest, PathsOutsideTheNamespaceFallBackToTheMount) {
  PutV2("/../../elsewhere");
  Put("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(ReadCgroup(Source()).cpu.usable, 3);
}

TEST(Cgroup, ThisMachineGivesSensibleNumbers) {
  const CgroupReading reading = ReadCgroup();
  EXPECT_GE(reading.cpu.usable, 1);
  EXPECT_LE(reading.cpu.usable, reading.cpu.host);
  EXPECT_GT(reading.memory.usable, int64_t{64} << 20);
  EXPECT_LE(reading.memory.usable, reading.memory.host);
  EXPECT_THAT(reading.warnings, IsEmpty());
}

}  // namespace
}  // namespace flatout
