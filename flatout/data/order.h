// The order in which records are visited: a permutation computed per index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace flatout::data {

// splitmix64's finalizer (Steele, Lea, Flood 2014): a bijection of 64-bit words that mixes well.
inline uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A permutation of 0..size-1 that depends on (seed, epoch) only. Nothing is stored for large sizes:
// a Feistel network over the next power of two, walked until it falls into the range (on average
// fewer than two steps; Black and Rogaway 2002). Up to kTableSize records, where a Feistel network
// would be far from uniform, it is a table of at most 16 kB shuffled by Fisher and Yates.
class Permutation {
 public:
  static constexpr int64_t kTableSize = 4096;

  Permutation(uint64_t seed, int64_t epoch, int64_t size);

  int64_t size() const { return size_; }
  // The record at `position`, both in [0, size).
  int64_t operator[](int64_t position) const {
    return table_.empty() ? Walk(position) : table_[static_cast<size_t>(position)];
  }
  // Replaces each position by its record.
  void Apply(std::span<int64_t> positions) const;

 private:
  static constexpr int kRounds = 8;

  int64_t Walk(int64_t position) const;

  int64_t size_;
  std::vector<int32_t> table_;
  int left_bits_ = 0;
  int right_bits_ = 0;
  uint64_t keys_[kRounds] = {};
};

// A permutation of 0..size-1 in which records stay near each other: the records are cut into runs
// of `window` (the last one may be shorter), the runs are put into a random order, and each is
// permuted within itself. Depends on (seed, epoch, window) only; little is stored.
class WindowPermutation {
 public:
  WindowPermutation(uint64_t seed, int64_t epoch, int64_t size, int64_t window);

  int64_t size() const { return size_; }
  // Replaces each position, in [0, size), by its record. Fast where neighbours fall into one run.
  void Apply(std::span<int64_t> positions) const;
  // The order within run `run` alone, of `size` records: what a stream's window is permuted by.
  static Permutation Within(uint64_t seed, int64_t epoch, int64_t run, int64_t size);

 private:
  uint64_t seed_;
  int64_t epoch_, size_, window_;
  int64_t runs_;      // whole ones
  int64_t short_at_;  // where the short run stands among the others; -1: there is none
  std::vector<Permutation> order_;  // of the whole runs; none or one
};

}  // namespace flatout::data
