#include "flatout/base/process.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "flatout/base/clock.h"

namespace flatout {
namespace {

TEST(Process, ResidentMemoryFollowsWhatIsTouched) {
  const int64_t before = ResidentBytes();
  ASSERT_GT(before, 0);
  constexpr size_t kSize = size_t{64} << 20;
  void* block = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, kSize);
  const int64_t held = ResidentBytes();
  munmap(block, kSize);
  EXPECT_GT(held - before, int64_t{56} << 20);
  EXPECT_LT(ResidentBytes(), held - (int64_t{32} << 20));
  EXPECT_GE(PeakResidentBytes(), held - (int64_t{4} << 20)) << "the peak stays";
}

TEST(Process, TimesAdvance) {
  const Stopwatch watch;
  const double cpu = ProcessCpuSeconds();
  const double age = SecondsSinceProcessStart();
  ASSERT_GE(age, 0);
  while (ProcessCpuSeconds() <= cpu) {
  }
  while (watch.Seconds() <= 0.02) {
  }
  EXPECT_GT(SecondsSinceProcessStart(), age);
}

}  // namespace
}  // namespace flatout
