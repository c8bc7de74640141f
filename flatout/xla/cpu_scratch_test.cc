#include "flatout/xla/cpu_scratch.h"

#include <gtest/gtest.h>

#include <string>

namespace flatout::xla {
namespace {

// The machine that the figures below were measured on.
constexpr CpuFacts kMeasured = {.l1 = 49152, .l2 = 2097152, .l3 = 503316480, .threads = 2};

// What plugin cpu-0.81 was seen to allocate for row-major products of float32, whose m and n Eigen
// sees the other way round (malloc in front of the C library's, tests/count_allocations.h).
TEST(CpuScratchTest, ProductsAllocateWhatWasMeasured) {
  struct Case {
    int64_t m, k, n, bytes;
  };
  for (const Case& each : {Case{512, 512, 512, 2654272},
                           {512, 512, 1024, 4227136},
                           {512, 1024, 512, 2654272},
                           {1024, 512, 512, 4079680},
                           {128, 784, 512, 1926208},
                           {128, 512, 10, 69696},
                           {784, 128, 512, 811072},
                           {64, 64, 64, 32832},
                           {128, 128, 128, 172096},
                           {256, 256, 256, 688192},
                           {128, 512, 784, 2850880},
                           {2048, 256, 8192, 15163456},
                           {2048, 2048, 2048, 13071424},
                           {1000, 300, 77, 1647680}}) {
    EXPECT_EQ(ContractionScratch(each.n, each.m, each.k, kMeasured), each.bytes)
        << each.m << " x " << each.k << " x " << each.n;
  }
}

TEST(CpuScratchTest, NothingIsPackedForNothing) {
  EXPECT_EQ(ContractionScratch(0, 8, 8, kMeasured), 0);
  EXPECT_EQ(ContractionScratch(100, 1, 100, kMeasured), 0) << "a vector";
}

// Whatever the machine, a product packs no more than two slices of both operands and what threads
// have of their own.
TEST(CpuScratchTest, HoldsOnMachinesOfAllSizes) {
  for (const int threads : {1, 2, 3, 8, 64, 200}) {
    for (const int64_t l2 : {256 << 10, 1 << 20, 4 << 20}) {
      for (const int64_t m : {1, 7, 64, 1000, 20000}) {
        for (const int64_t n : {1, 9, 48, 3000}) {
          for (const int64_t k : {1, 10, 333, 5000}) {
            const CpuFacts cpu{.l1 = 32 << 10, .l2 = l2, .l3 = 32 << 20, .threads = threads};
            const int64_t bytes = ContractionScratch(m, n, k, cpu);
            EXPECT_GE(bytes, 0);
            const int64_t both = 4 * k * (m + n + 2 * 48) + 4096;
            EXPECT_LE(bytes, (threads + 2) * (both + 4 * m * n))
                << m << " x " << k << " x " << n << " on " << threads;
          }
        }
      }
    }
  }
}

TEST(CpuScratchTest, WhatIsNoProgramIsNotUnderstood) {
  EXPECT_EQ(CpuScratch("", kMeasured), std::nullopt);
  EXPECT_EQ(CpuScratch("no protocol buffer at all", kMeasured), std::nullopt);
  std::string bytes;
  for (int i = 0; i < 4000; ++i) bytes += static_cast<char>(i * 37 % 251);
  CpuScratch(bytes, kMeasured);  // anything but a crash
  // A message in a message with a field 6 that ends too early.
  EXPECT_EQ(CpuScratch(std::string("\x0a\x04\x32\x7f\x0a\x01", 6), kMeasured), std::nullopt);
}

}  // namespace
}  // namespace flatout::xla
