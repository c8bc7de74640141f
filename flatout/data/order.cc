#include "flatout/data/order.h"

#include <bit>
#include <numeric>
#include <utility>

#include "flatout/base/error.h"

namespace flatout::data {

Permutation::Permutation(uint64_t seed, int64_t epoch, int64_t size) : size_(size) {
  if (size < 1) throw Internal("a permutation of {} records was asked for", size);
  uint64_t key = Mix(Mix(seed) ^ Mix(static_cast<uint64_t>(epoch) + 0x5bd1e995u));
  if (size <= kTableSize) {
    table_.resize(static_cast<size_t>(size));
    std::iota(table_.begin(), table_.end(), 0);
    for (int64_t i = size - 1; i > 0; --i) {
      key = Mix(key);
      // The high half of a 64 x 64 bit product maps a word to 0..i with a bias below 2^-51.
      auto j = static_cast<size_t>(
          (static_cast<unsigned __int128>(key) * static_cast<unsigned __int128>(i + 1)) >> 64);
      std::swap(table_[static_cast<size_t>(i)], table_[j]);
    }
    return;
  }
  int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  left_bits_ = bits / 2;
  right_bits_ = bits - left_bits_;
  for (uint64_t& k : keys_) k = key = Mix(key);
}

int64_t Permutation::Walk(int64_t position) const {
  const uint64_t left_mask = (uint64_t{1} << left_bits_) - 1;
  const uint64_t right_mask = (uint64_t{1} << right_bits_) - 1;
  auto x = static_cast<uint64_t>(position);
  do {
    uint64_t left = x >> right_bits_;
    uint64_t right = x & right_mask;
    for (int round = 0; round < kRounds; round += 2) {
      left ^= Mix(right ^ keys_[round]) & left_mask;
      right ^= Mix(left ^ keys_[round + 1]) & right_mask;
    }
    x = left << right_bits_ | right;
  } while (x >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(x);
}

void Permutation::Apply(std::span<int64_t> positions) const {
  for (int64_t& position : positions) position = (*this)[position];
}

}  // namespace flatout::data
