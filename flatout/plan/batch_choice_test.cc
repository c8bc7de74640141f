#include "flatout/plan/batch_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "flatout/base/error.h"

namespace flatout::plan {
namespace {

using ::testing::HasSubstr;

using Memory = std::function<int64_t(int64_t)>;

int64_t TrueMost(const Memory& memory, int64_t rows, int64_t limit) {
  for (int64_t r = rows; r > 0; --r) {
    if (memory(r) <= limit) return r;
  }
  return 0;
}

// The choice among `rows` rows whose program takes memory(rows), with `estimate` to go by.
BatchChoice Choose(int64_t rows, int64_t limit, const Memory& memory, const Memory& estimate,
                   bool even_split, int64_t fixed = 0, int64_t split_extra = 0) {
  return ChooseMicroBatch({.rows = rows,
                           .memory_limit = limit,
                           .estimate = estimate,
                           .compile = memory,
                           .fixed = fixed,
                           .split_extra = split_extra,
                           .even_split = even_split});
}

// What is asked of every choice, whatever the memory does: its program was compiled and fits.
void CheckSound(const BatchChoice& choice, const Memory& memory, int64_t limit) {
  ASSERT_TRUE(choice.fits);
  EXPECT_LE(memory(choice.micro_rows), limit);
  EXPECT_EQ(choice.bytes, memory(choice.micro_rows));
  EXPECT_THAT(choice.tried,
              ::testing::Contains(std::pair(choice.micro_rows, memory(choice.micro_rows))));
  EXPECT_EQ(choice.compiles, static_cast<int>(choice.tried.size()));
}

constexpr int64_t kMiB = 1 << 20;

TEST(ChooseMicroBatchTest, TakesTheWholeBatchWithOneCompileWhereItFits) {
  const Memory memory = [](int64_t rows) { return 100 * kMiB + rows * kMiB; };
  const BatchChoice choice = Choose(256, 400 * kMiB, memory, memory, true);
  CheckSound(choice, memory, 400 * kMiB);
  EXPECT_EQ(choice.micro_rows, 256);
  EXPECT_EQ(choice.micro_batches, 1);
  EXPECT_EQ(choice.largest_rows, 256);
  EXPECT_EQ(choice.compiles, 1);
}

TEST(ChooseMicroBatchTest, SplitsEvenly) {
  const Memory memory = [](int64_t rows) { return 100 * kMiB + rows * kMiB; };
  // 600 rows fit; two pieces of 500 do the same work as 600 and 400, with less padding.
  const BatchChoice choice = Choose(1000, 700 * kMiB, memory, memory, true);
  CheckSound(choice, memory, 700 * kMiB);
  EXPECT_EQ(choice.micro_batches, 2);
  EXPECT_GE(choice.micro_rows, 500);
  EXPECT_LE(choice.micro_rows, 504);
  EXPECT_LE(choice.compiles, 3);
}

// Over affine memory and estimates that are wrong by up to a factor of three in what grows, the
// choice takes at least 95 % of the most rows that fit, or as few pieces, in three compiles.
TEST(ChooseMicroBatchTest, FindsTheMostRowsFromARoughEstimate) {
  std::mt19937_64 random(1);
  const auto between = [&](double low, double high) {
    return low * std::pow(high / low, static_cast<double>(random() % 100001) / 100000);
  };
  for (int i = 0; i < 2000; ++i) {
    const int64_t rows = static_cast<int64_t>(between(1, 5000));
    const double fixed = between(1e5, 1e9), per_row = between(1e3, 1e7);
    const double wrong = between(1.0 / 3, 3);
    const Memory memory = [&](int64_t r) {
      return static_cast<int64_t>(fixed + per_row * static_cast<double>(r));
    };
    const Memory estimate = [&](int64_t r) {
      return static_cast<int64_t>(fixed + wrong * per_row * static_cast<double>(r));
    };
    const int64_t limit =
        static_cast<int64_t>(fixed + per_row * between(1, 1.3 * static_cast<double>(rows) + 1) + 1);
    const bool even = i % 2 == 0;
    SCOPED_TRACE(::testing::Message() << rows << " rows, " << fixed << " + " << per_row
                                      << " r, estimate x " << wrong << ", limit " << limit);
    const BatchChoice choice =
        Choose(rows, limit, memory, estimate, even, static_cast<int64_t>(fixed));
    const int64_t most = TrueMost(memory, rows, limit);
    if (most == 0) {
      EXPECT_FALSE(choice.fits);
      continue;
    }
    CheckSound(choice, memory, limit);
    EXPECT_LE(choice.compiles, 3);
    if (even) {
      const int64_t pieces = (rows + most - 1) / most;
      EXPECT_TRUE(choice.micro_rows * 100 >= most * 95 || choice.micro_batches == pieces)
          << choice.micro_rows << " of " << most;
    } else {
      EXPECT_GE(choice.micro_rows * 100, most * 95) << choice.micro_rows << " of " << most;
    }
  }
}

// Memory as compilers make it: padded to tiles, with jumps where another algorithm is taken, and
// with less of it at the whole batch, which needs no sums of gradients.
TEST(ChooseMicroBatchTest, FindsTheMostRowsOfUnevenMemory) {
  std::mt19937_64 random(2);
  int misses = 0, cases = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t rows = 64 + static_cast<int64_t>(random() % 4000);
    const double per_row = 1e4 + static_cast<double>(random() % 1000000);
    const double fixed = 1e6 + static_cast<double>(random() % 100000000);
    const int64_t tile = int64_t{1} << (random() % 3);
    const int64_t jump_at = 1 + static_cast<int64_t>(random() % (2 * rows));
    const double jump = static_cast<double>(random() % 10) / 100;
    const double wiggle = static_cast<double>(random() % 100) / 10000;
    const double sums = fixed / 4;
    const Memory memory = [&](int64_t r) {
      double of_rows = per_row * static_cast<double>((r + tile - 1) / tile * tile);
      if (r > jump_at) of_rows *= 1 + jump;
      of_rows *= 1 + wiggle * std::sin(static_cast<double>(r));
      return static_cast<int64_t>(fixed + of_rows + (r < rows ? sums : 0));
    };
    const double wrong = 0.5 + static_cast<double>(random() % 150) / 100;
    const Memory estimate = [&](int64_t r) {
      return static_cast<int64_t>(fixed + wrong * per_row * static_cast<double>(r) +
                                  (r < rows ? sums : 0));
    };
    const int64_t target = std::min(rows, 40 + static_cast<int64_t>(random() % rows));
    const int64_t limit = memory(target);
    SCOPED_TRACE(::testing::Message() << rows << " rows, limit at " << target << ", tile " << tile
                                      << ", jump " << jump << " at " << jump_at);
    const BatchChoice choice = Choose(rows, limit, memory, estimate, false,
                                      static_cast<int64_t>(fixed), static_cast<int64_t>(sums));
    const int64_t most = TrueMost(memory, rows, limit);
    ++cases;
    if (!choice.fits) {
      // Only the whole batch, which needs no sums, fits: not found where the estimate denies it.
      EXPECT_GT(memory(1), limit);
      ++misses;
      continue;
    }
    CheckSound(choice, memory, limit);
    EXPECT_LE(choice.compiles, 4);
    misses += choice.compiles > 3 || choice.micro_rows * 100 < most * 95 - 100;
  }
  // A jump of up to 10 % just where the limit lies cannot be seen from three programs.
  EXPECT_LE(misses * 50, cases);
}

TEST(ChooseMicroBatchTest, NeverFailsWhateverTheMemoryDoes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const int64_t rows = 1 + static_cast<int64_t>(random() % 500);
    std::vector<int64_t> bytes;
    for (int64_t r = 0; r <= rows; ++r) bytes.push_back(static_cast<int64_t>(random() % 1000));
    const bool refuses = i % 3 == 0;
    const Memory memory = [&](int64_t r) { return bytes.at(static_cast<size_t>(r)); };
    const Memory compile = [&](int64_t r) {
      if (refuses && memory(r) > 700) throw UserError(Code::kResourceExhausted, "too big");
      return memory(r);
    };
    const int64_t wrong = static_cast<int64_t>(random() % 1000);
    const Memory estimate = [&](int64_t r) { return wrong * r; };
    const int64_t limit = static_cast<int64_t>(random() % 900);
    const BatchChoice choice = Choose(rows, limit, compile, estimate, i % 2 == 0);
    EXPECT_LE(choice.compiles, 15);
    if (choice.fits) {
      EXPECT_LE(memory(choice.micro_rows), limit);
      EXPECT_EQ(choice.bytes, memory(choice.micro_rows));
    } else {
      EXPECT_TRUE(memory(1) > limit || (refuses && memory(1) > 700));
    }
  }
}

TEST(ChooseMicroBatchTest, AnEstimateThatIsFarTooLowCostsCompilesButDoesNotFail) {
  const Memory memory = [](int64_t rows) { return 1000 * rows * rows; };
  const Memory estimate = [](int64_t rows) { return rows; };
  const BatchChoice choice = Choose(100000, 1000000, memory, estimate, false);
  CheckSound(choice, memory, 1000000);
  EXPECT_LE(choice.compiles, 12);
}

TEST(ChooseMicroBatchTest, AnEstimateThatIsFarTooHighDoesNotHide) {
  const Memory memory = [](int64_t rows) { return 1000 + rows; };
  const Memory estimate = [](int64_t rows) { return 1000000 * rows; };
  const BatchChoice choice = Choose(512, 2000, memory, estimate, false);
  CheckSound(choice, memory, 2000);
  EXPECT_EQ(choice.micro_rows, 512);
  EXPECT_LE(choice.compiles, 3);
}

TEST(ChooseMicroBatchTest, SaysWhenNothingFits) {
  const Memory memory = [](int64_t rows) { return 5000 + rows; };
  const BatchChoice choice = Choose(64, 5000, memory, memory, true);
  EXPECT_FALSE(choice.fits);
  EXPECT_EQ(choice.micro_rows, 0);
  EXPECT_EQ(choice.bytes, 5001);
  EXPECT_EQ(choice.compiles, 1);
  EXPECT_THAT(choice.ToString(), HasSubstr("not even 1 row fits: it needs 4.88 KiB"));
}

TEST(ChooseMicroBatchTest, OtherErrorsOfTheCompilerPass) {
  const Memory compile = [](int64_t) -> int64_t { throw Invalid("a bad program"); };
  EXPECT_THROW(Choose(
                   64, 5000, compile, [](int64_t r) { return r; }, true),
               UserError);
}

TEST(ChooseMicroBatchTest, RoundsToTilesWhereThatIsCheap) {
  const Memory memory = [](int64_t rows) { return 1000 * rows; };
  const BatchChoice choice = Choose(100000, 1029 * 1000, memory, memory, false);
  CheckSound(choice, memory, 1029 * 1000);
  EXPECT_EQ(choice.micro_rows, 1024);
  EXPECT_EQ(choice.compiles, 1);
}

}  // namespace
}  // namespace flatout::plan
