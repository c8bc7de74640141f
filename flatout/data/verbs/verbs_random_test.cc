// Random chains of verbs against a plain implementation of each, written here: lists of numbers,
// one element after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <random>

#include "flatout/data/order.h"
#include "flatout/data/verbs/verbs_testing.h"

namespace flatout::data {
namespace {

using Numbers = std::vector<int64_t>;
// What an epoch gives.
using Plain = std::function<Numbers(int64_t epoch)>;
struct Pair {
  Dataset dataset;
  Plain plain;
};

const std::vector<Field> kFields = {Field{"value", ir::Shape::Scalar(ir::DType::kI64)}};

bool Keep(int64_t value) { return value % 3 != 1; }
int64_t Change(int64_t value) { return 5 * value + 2; }

Numbers Interleaved(std::vector<Numbers> inputs, size_t cycle, int64_t block) {
  struct Slot {
    bool open = false;
    std::deque<int64_t> rest;
  };
  std::vector<Slot> slots(cycle);
  std::deque<Numbers> waiting(inputs.begin(), inputs.end());
  Numbers all;
  const auto any_open = [&] {
    return std::any_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.open; });
  };
  for (size_t at = 0; !waiting.empty() || any_open(); at = (at + 1) % cycle) {
    Slot& slot = slots[at];
    if (!slot.open) {
      if (waiting.empty()) continue;
      slot.open = true;
      slot.rest.assign(waiting.front().begin(), waiting.front().end());
      waiting.pop_front();
    }
    for (int64_t i = 0; i < block; ++i) {
      if (slot.rest.empty()) {
        slot.open = false;
        break;
      }
      all.push_back(slot.rest.front());
      slot.rest.pop_front();
    }
  }
  return all;
}

class Chains {
 public:
  explicit Chains(uint64_t seed) : random_(seed) {}

  // A data set behind `verbs` verbs.
  Pair Make(int verbs) {
    Pair pair = Begin();
    for (int i = 0; i < verbs; ++i) pair = Add(pair);
    return pair;
  }
  int64_t Draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

 private:
  Pair Begin() {
    const int64_t begin = 1000 * next_++, size = Draw(0, 3) == 0 ? Draw(0, 3) : Draw(4, 40);
    if (Draw(0, 3) == 0) {
      // One that depends on the epoch.
      return {Dataset::FromGenerator(kFields,
                                     [=](int64_t epoch) -> Dataset::Generator {
                                       return [=, i = int64_t{0}](Block& out, int64_t row) mutable {
                                         *out.as<int64_t>(0, row) = begin + epoch % 2 + i;
                                         return i++ < size;
                                       };
                                     }),
              [=](int64_t epoch) {
                Numbers all(static_cast<size_t>(size));
                std::iota(all.begin(), all.end(), begin + epoch % 2);
                return all;
              }};
    }
    return {Dataset::Range(begin, begin + size), [=](int64_t) {
              Numbers all(static_cast<size_t>(size));
              std::iota(all.begin(), all.end(), begin);
              return all;
            }};
  }

  Pair Add(const Pair& in) {
    const Dataset& dataset = in.dataset;
    const Plain plain = in.plain;
    const bool indexed = dataset.size() != kUnknown;
    switch (Draw(0, 15)) {
      case 0: {
        const int64_t n = Draw(0, 50);
        return {dataset.Take(n), [=](int64_t epoch) {
                  Numbers all = plain(epoch);
                  all.resize(std::min(all.size(), static_cast<size_t>(n)));
                  return all;
                }};
      }
      case 1: {
        const int64_t n = Draw(0, 10);
        return {dataset.Skip(n), [=](int64_t epoch) {
                  Numbers all = plain(epoch);
                  all.erase(all.begin(),
                            all.begin() + std::min<int64_t>(n, static_cast<int64_t>(all.size())));
                  return all;
                }};
      }
      case 2: {
        const int64_t shards = Draw(1, 4), index = Draw(0, shards - 1);
        return {dataset.Shard(shards, index), [=](int64_t epoch) {
                  const Numbers all = plain(epoch);
                  Numbers some;
                  for (size_t i = static_cast<size_t>(index); i < all.size();
                       i += static_cast<size_t>(shards)) {
                    some.push_back(all[i]);
                  }
                  return some;
                }};
      }
      case 3: {
        const int64_t count = Draw(0, 3);
        return {dataset.Repeat(count), [=](int64_t epoch) {
                  Numbers all;
                  for (int64_t pass = 0; pass < count; ++pass) {
                    for (int64_t value : plain(epoch * count + pass)) all.push_back(value);
                  }
                  return all;
                }};
      }
      case 4: {
        const Pair other = Make(static_cast<int>(Draw(0, 1)));
        return {dataset.Concatenate(other.dataset), [=](int64_t epoch) {
                  Numbers all = plain(epoch);
                  for (int64_t value : other.plain(epoch)) all.push_back(value);
                  return all;
                }};
      }
      case 5: {
        std::vector<Pair> inputs = {in};
        for (int64_t i = Draw(0, 3); i > 0; --i) {
          inputs.push_back(Make(static_cast<int>(Draw(0, 1))));
        }
        const int64_t cycle = Draw(1, 4), block = Draw(1, 5);
        std::vector<Dataset> datasets;
        for (const Pair& input : inputs) datasets.push_back(input.dataset);
        return {Dataset::Interleave(datasets, cycle, block), [=](int64_t epoch) {
                  std::vector<Numbers> lists;
                  for (const Pair& input : inputs) lists.push_back(input.plain(epoch));
                  return Interleaved(lists, static_cast<size_t>(cycle), block);
                }};
      }
      case 6:
        return {dataset.Filter([](const Block& block, int64_t row) {
                  return Keep(*block.as<int64_t>(0, row));
                }),
                [=](int64_t epoch) {
                  Numbers all = plain(epoch);
                  std::erase_if(all, [](int64_t value) { return !Keep(value); });
                  return all;
                }};
      case 7:
      case 8:
        return {dataset.Map(kFields,
                            [](const Block& from, Block& to) {
                              for (int64_t i = 0; i < from.rows(); ++i) {
                                *to.as<int64_t>(0, i) = Change(*from.as<int64_t>(0, i));
                              }
                            }),
                [=](int64_t epoch) {
                  Numbers all = plain(epoch);
                  for (int64_t& value : all) value = Change(value);
                  return all;
                }};
      case 9: {
        if (!indexed) return in;
        const auto seed = static_cast<uint64_t>(Draw(1, 99));
        return {dataset.Shuffle(seed), [=](int64_t epoch) {
                  const Numbers all = plain(epoch);
                  Numbers shuffled;
                  if (all.empty()) return shuffled;
                  const Permutation order(seed, epoch, static_cast<int64_t>(all.size()));
                  for (size_t i = 0; i < all.size(); ++i) {
                    shuffled.push_back(all[static_cast<size_t>(order[static_cast<int64_t>(i)])]);
                  }
                  return shuffled;
                }};
      }
      case 10: {
        if (indexed) return in;
        const auto seed = static_cast<uint64_t>(Draw(1, 99));
        const int64_t window = Draw(1, 20);
        return {dataset.ShuffleWindow(seed, window), [=](int64_t epoch) {
                  const Numbers all = plain(epoch);
                  const auto size = static_cast<int64_t>(all.size());
                  Numbers shuffled;
                  for (int64_t begin = 0; begin < size; begin += window) {
                    const int64_t count = std::min(window, size - begin);
                    const Permutation order =
                        WindowPermutation::Within(seed, epoch, begin / window, count);
                    for (int64_t i = 0; i < count; ++i) {
                      shuffled.push_back(all[static_cast<size_t>(begin + order[i])]);
                    }
                  }
                  return shuffled;
                }};
      }
      case 11: {
        const int64_t size = Draw(1, 7);
        const bool drop = Draw(0, 1) == 1;
        return {dataset.Batch(size, drop).Unbatch(), [=](int64_t epoch) {
                  Numbers all = plain(epoch);
                  const auto n = static_cast<int64_t>(all.size());
                  if (drop) all.resize(static_cast<size_t>(n / size * size));
                  return all;
                }};
      }
      case 12: {
        const int64_t size = Draw(1, 5), shift = Draw(1, 6), stride = Draw(1, 3);
        const bool drop = Draw(0, 1) == 1;
        return {dataset.Window(size, shift, stride, drop).Unbatch(), [=](int64_t epoch) {
                  const Numbers all = plain(epoch);
                  const auto n = static_cast<int64_t>(all.size());
                  Numbers windows;
                  for (int64_t begin = 0; begin < n; begin += shift) {
                    if (drop && begin + (size - 1) * stride >= n) break;
                    for (int64_t j = 0; j < size && begin + j * stride < n; ++j) {
                      windows.push_back(all[static_cast<size_t>(begin + j * stride)]);
                    }
                  }
                  return windows;
                }};
      }
      case 13:
        return {dataset.Cache(), [=](int64_t) { return plain(0); }};
      case 14: {
        const Pair other = Make(static_cast<int>(Draw(0, 1)));
        const auto named = [](const Dataset& numbers) {
          return numbers.Map({Field{"other", kFields[0].shape}},
                             [](const Block& from, Block& to) { to.ShareColumn(0, from, 0); });
        };
        return {Dataset::Zip({dataset, named(other.dataset)})
                    .Map(kFields,
                         [](const Block& from, Block& to) {
                           for (int64_t i = 0; i < from.rows(); ++i) {
                             *to.as<int64_t>(0, i) =
                                 *from.as<int64_t>(0, i) - *from.as<int64_t>(1, i);
                           }
                         }),
                [=](int64_t epoch) {
                  const Numbers a = plain(epoch), b = other.plain(epoch);
                  Numbers all;
                  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
                    all.push_back(a[i] - b[i]);
                  }
                  return all;
                }};
      }
      default: {
        BucketOptions options;
        options.length = [](const Block& block, int64_t row) {
          return std::abs(*block.as<int64_t>(0, row)) % 10;
        };
        options.boundaries = {3, 7};
        options.batch_sizes = {Draw(1, 4), Draw(1, 4), Draw(1, 4)};
        return {dataset.BucketByLength(options).Unbatch(), [=](int64_t epoch) {
                  std::vector<Numbers> buckets(3);
                  Numbers all;
                  const auto give = [&](Numbers& bucket) {
                    for (int64_t value : bucket) all.push_back(value);
                    bucket.clear();
                  };
                  for (int64_t value : plain(epoch)) {
                    const int64_t length = std::abs(value) % 10;
                    const size_t b = length < 3 ? 0 : length < 7 ? 1 : 2;
                    buckets[b].push_back(value);
                    if (static_cast<int64_t>(buckets[b].size()) == options.batch_sizes[b]) {
                      give(buckets[b]);
                    }
                  }
                  for (Numbers& bucket : buckets) give(bucket);
                  return all;
                }};
      }
    }
  }

  std::mt19937_64 random_;
  int64_t next_ = 0;
};

TEST(RandomChains, EqualThePlainOnes) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Chains chains(seed);
    const Pair pair = chains.Make(static_cast<int>(chains.Draw(1, 6)));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, pair.dataset.source()->description()));
    for (const bool ahead : {false, true}) {
      if (ahead && seed % 4 != 0) continue;
      Iterator it = (ahead ? pair.dataset.Prefetch(3).WithOptions({.workers = 1}) : pair.dataset)
                        .MakeIterator();
      for (int64_t epoch = 0; epoch < 3; ++epoch) {
        Numbers found;
        while (const Element* element = it.Next()) {
          found.push_back(element->Values<int64_t>("value")[0]);
        }
        ASSERT_EQ(found, pair.plain(epoch)) << "epoch " << epoch << ", ahead: " << ahead;
      }
    }
    if (pair.dataset.size() != kUnknown) {
      EXPECT_EQ(pair.dataset.size(), static_cast<int64_t>(pair.plain(0).size()));
    }
  }
}

// From a state in the middle of an epoch on, in another iterator.
TEST(RandomChains, GoOnFromAnyState) {
  for (uint64_t seed = 1000; seed < 1300; ++seed) {
    Chains chains(seed);
    Pair pair = chains.Make(static_cast<int>(chains.Draw(1, 6)));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, pair.dataset.source()->description()));
    Iterator it = pair.dataset.MakeIterator();
    testing::Following(it, static_cast<size_t>(chains.Draw(0, 60)));
    const IteratorState state = it.state();
    const std::vector<std::string> rest = testing::Following(it, 50);
    Iterator again = pair.dataset.MakeIterator();
    again.Restore(state);
    ASSERT_EQ(testing::Following(again, 50), rest);
    // A state that was restored and not used is as good.
    Iterator third = pair.dataset.MakeIterator();
    third.Restore(state);
    const IteratorState same = third.state();
    ASSERT_EQ(same, state);
    if (seed % 5 != 0) continue;
    Iterator ahead = pair.dataset.Prefetch(2).WithOptions({.workers = 2}).MakeIterator();
    ahead.Restore(state);
    ASSERT_EQ(testing::Following(ahead, 50), rest);
    const IteratorState later = ahead.state();
    const std::vector<std::string> last = testing::Following(it, 20);
    again.Restore(later);
    ASSERT_EQ(testing::Following(again, 20), last);
  }
}

}  // namespace
}  // namespace flatout::data
