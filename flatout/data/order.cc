#include "flatout/data/order.h"

#include <algorithm>
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

WindowPermutation::WindowPermutation(uint64_t seed, int64_t epoch, int64_t size, int64_t window)
    : seed_(seed), epoch_(epoch), size_(size), window_(std::min(window, size)), short_at_(-1) {
  if (size < 1 || window < 1) {
    throw Internal("a permutation of {} records in runs of {} was asked for", size, window);
  }
  runs_ = size_ / window_;
  order_.emplace_back(seed, epoch, runs_);
  if (size_ % window_ != 0) {
    const uint64_t word = Mix(Mix(seed ^ 0x73686f7274u) ^ static_cast<uint64_t>(epoch));
    short_at_ = static_cast<int64_t>(word % static_cast<uint64_t>(runs_ + 1));
  }
}

Permutation WindowPermutation::Within(uint64_t seed, int64_t epoch, int64_t run, int64_t size) {
  return Permutation(Mix(seed ^ Mix(static_cast<uint64_t>(run) + 0x72756eu)), epoch, size);
}

void WindowPermutation::Apply(std::span<int64_t> positions) const {
  std::vector<Permutation> within;  // of `current`; none or one
  int64_t current = -1;
  for (int64_t& position : positions) {
    int64_t run = position / window_, at = position % window_;
    if (short_at_ >= 0 && position >= short_at_ * window_) {
      // From the short run on, all stand that much earlier.
      const int64_t rest = size_ % window_, after = position - short_at_ * window_;
      if (after < rest) {
        run = runs_;
        at = after;
      } else {
        run = short_at_ + (after - rest) / window_;
        at = (after - rest) % window_;
      }
    }
    const int64_t record_run = run == runs_ ? runs_ : order_[0][run];
    if (record_run != current) {
      within.clear();
      within.push_back(
          Within(seed_, epoch_, record_run, record_run == runs_ ? size_ % window_ : window_));
      current = record_run;
    }
    position = record_run * window_ + within[0][at];
  }
}

}  // namespace flatout::data
