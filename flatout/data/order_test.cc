#include "flatout/data/order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace flatout::data {
namespace {

std::vector<int64_t> All(const Permutation& permutation) {
  std::vector<int64_t> all(static_cast<size_t>(permutation.size()));
  std::iota(all.begin(), all.end(), 0);
  permutation.Apply(all);
  return all;
}

void ExpectBijection(uint64_t seed, int64_t epoch, int64_t size) {
  Permutation permutation(seed, epoch, size);
  std::vector<int64_t> all = All(permutation);
  std::vector<bool> seen(static_cast<size_t>(size));
  for (int64_t record : all) {
    ASSERT_GE(record, 0) << size;
    ASSERT_LT(record, size) << size;
    ASSERT_FALSE(seen[static_cast<size_t>(record)]) << size << " gives " << record << " twice";
    seen[static_cast<size_t>(record)] = true;
  }
  for (int64_t i = 0; i < std::min<int64_t>(size, 100); ++i) {
    ASSERT_EQ(permutation[i], all[static_cast<size_t>(i)]);
  }
}

TEST(Permutation, BijectionForSmallSizes) {
  for (int64_t size = 1; size <= 600; ++size) ExpectBijection(5, size % 3, size);
  for (int64_t size : {4095, 4096}) ExpectBijection(0, 0, size);
}

TEST(Permutation, BijectionForFeistelSizes) {
  for (int64_t size = 4097; size <= 4400; ++size) ExpectBijection(1, 2, size);
  // Around powers of two, where the walk is shortest and longest, and odd widths.
  for (int64_t size : {8191, 8192, 8193, 16384, 16385, 32769, 60000, 65536, 65537, 131073}) {
    ExpectBijection(7, 3, size);
  }
}

TEST(Permutation, LargeSizesStayInRange) {
  for (int64_t size : {(int64_t{1} << 32) + 1, int64_t{1} << 50, (int64_t{1} << 61) + 12345}) {
    Permutation permutation(3, 0, size);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < 1000; ++i) {
      ASSERT_GE(permutation[i], 0);
      ASSERT_LT(permutation[i], size);
      seen.insert(permutation[i]);
      seen.insert(permutation[size - 1 - i]);
    }
    EXPECT_EQ(seen.size(), 2000u);
  }
}

TEST(Permutation, DependsOnSeedAndEpochOnly) {
  for (int64_t size : {50, 5000}) {
    EXPECT_EQ(All(Permutation(1, 2, size)), All(Permutation(1, 2, size)));
    EXPECT_NE(All(Permutation(1, 2, size)), All(Permutation(1, 3, size)));
    EXPECT_NE(All(Permutation(1, 2, size)), All(Permutation(2, 2, size)));
    EXPECT_NE(All(Permutation(1, 2, size)), All(Permutation(2, 1, size)));
  }
}

// These must never change: resumed runs of older versions depend on them.
TEST(Permutation, PinnedValues) {
  Permutation small(1, 0, 10);
  EXPECT_EQ(All(small), (std::vector<int64_t>{1, 5, 7, 0, 3, 8, 2, 4, 6, 9}));
  Permutation large(1, 0, 60000);
  std::vector<int64_t> first;
  for (int64_t i = 0; i < 5; ++i) first.push_back(large[i]);
  EXPECT_EQ(first, (std::vector<int64_t>{31958, 14953, 9192, 52083, 57062}));
}

// Chi-square's mean is the degrees of freedom and its variance twice that; 5 standard deviations.
void ExpectUniform(const std::vector<int64_t>& counts, const char* what) {
  double total = 0, chi = 0;
  for (int64_t count : counts) total += static_cast<double>(count);
  double mean = total / static_cast<double>(counts.size());
  for (int64_t count : counts) chi += std::pow(static_cast<double>(count) - mean, 2) / mean;
  double freedom = static_cast<double>(counts.size()) - 1;
  EXPECT_LT(std::abs(chi - freedom), 5 * std::sqrt(2 * freedom))
      << what << ": " << chi << " of " << freedom;
}

TEST(Permutation, AllOrdersOfFourEquallyLikely) {
  std::map<std::vector<int64_t>, int64_t> orders;
  for (int epoch = 0; epoch < 24000; ++epoch) ++orders[All(Permutation(9, epoch, 4))];
  EXPECT_EQ(orders.size(), 24u);
  std::vector<int64_t> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  ExpectUniform(counts, "orders");
}

// Where a pair of neighbouring positions lands, over epochs (between) and over positions (within),
// in 16 x 16 cells.
void ExpectPairsUniform(int64_t size) {
  constexpr int64_t kCells = 16;
  std::vector<int64_t> between(kCells * kCells), within(kCells * kCells), steps(kCells);
  for (int epoch = 0; epoch < 20000; ++epoch) {
    Permutation permutation(11, epoch, size);
    int64_t a = permutation[5] * kCells / size, b = permutation[6] * kCells / size;
    ++between[static_cast<size_t>(a * kCells + b)];
  }
  Permutation permutation(12, 0, size);
  for (int64_t i = 0; i + 1 < size; i += 2) {
    int64_t a = permutation[i], b = permutation[i + 1];
    ++within[static_cast<size_t>(a * kCells / size * kCells + b * kCells / size)];
    // The distance from one to the next around the circle.
    ++steps[static_cast<size_t>((b - a + size) % size * kCells / size)];
  }
  ExpectUniform(between, "between epochs");
  ExpectUniform(within, "within an epoch");
  ExpectUniform(steps, "distances");
}

TEST(Permutation, PairsOfATable) { ExpectPairsUniform(4096); }
TEST(Permutation, PairsOfAFeistelNetwork) {
  ExpectPairsUniform(4097);
  ExpectPairsUniform(60000);
  ExpectPairsUniform(65536);
}

TEST(Permutation, NoOrderKept) {
  // Expected number of fixed points is 1, of ascents half of all.
  Permutation permutation(13, 0, 60000);
  int fixed = 0, ascents = 0;
  for (int64_t i = 0; i < 59999; ++i) {
    fixed += permutation[i] == i;
    ascents += permutation[i] < permutation[i + 1];
  }
  EXPECT_LT(fixed, 8);
  EXPECT_NEAR(ascents, 30000, 5 * std::sqrt(60000 / 12.0));
}

std::vector<int64_t> All(const WindowPermutation& permutation) {
  std::vector<int64_t> all(static_cast<size_t>(permutation.size()));
  std::iota(all.begin(), all.end(), 0);
  permutation.Apply(all);
  return all;
}

TEST(WindowPermutation, Bijection) {
  for (int64_t size : {1, 2, 9, 10, 11, 19, 20, 21, 999, 5000}) {
    for (int64_t window : {1, 2, 10, 64, 4500, 10000}) {
      for (int64_t epoch : {0, 1, 2}) {
        std::vector<int64_t> all = All(WindowPermutation(7, epoch, size, window));
        std::sort(all.begin(), all.end());
        for (int64_t i = 0; i < size; ++i) ASSERT_EQ(all[static_cast<size_t>(i)], i);
      }
    }
  }
}

TEST(WindowPermutation, RunsStayTogether) {
  // 10 whole runs and one of 5 records, which stands anywhere among them.
  std::set<int64_t> short_at, first;
  for (int64_t epoch = 0; epoch < 200; ++epoch) {
    const std::vector<int64_t> all = All(WindowPermutation(7, epoch, 205, 20));
    int64_t position = 0;
    while (position < 205) {
      const int64_t run = all[static_cast<size_t>(position)] / 20;
      if (run == 10) short_at.insert(position);
      const int64_t length = run == 10 ? 5 : 20;
      for (int64_t i = 0; i < length; ++i) {
        ASSERT_EQ(all[static_cast<size_t>(position + i)] / 20, run);
      }
      position += length;
    }
    first.insert(all[0]);
  }
  EXPECT_EQ(short_at.size(), 11u);
  EXPECT_GT(first.size(), 100u);
}

TEST(WindowPermutation, PositionsOneByOne) {
  const WindowPermutation permutation(3, 1, 1234, 100);
  const std::vector<int64_t> all = All(permutation);
  for (int64_t position = 0; position < 1234; ++position) {
    int64_t one = position;
    permutation.Apply({&one, 1});
    ASSERT_EQ(one, all[static_cast<size_t>(position)]);
  }
}

// These must never change: resumed runs of older versions depend on them.
TEST(WindowPermutation, PinnedValues) {
  EXPECT_EQ(All(WindowPermutation(1, 0, 10, 4)),
            (std::vector<int64_t>{1, 0, 3, 2, 7, 4, 5, 6, 8, 9}));
}

}  // namespace
}  // namespace flatout::data
