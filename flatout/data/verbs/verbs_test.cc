// Each verb against values worked out by hand, from any saved state on, and what it refuses.
// Verbs that tf.data has are also held against it: verbs_recorded_test.cc.
#include <gmock/gmock.h>

#include <cmath>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "flatout/data/order.h"
#include "flatout/data/testing.h"
#include "flatout/data/verbs/verbs_testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::AsStream;
using ::testing::ElementsAre;
using testing::Epoch;
using testing::ExpectOneOrder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using testing::Values;

Dataset Range(int64_t end) { return Dataset::Range(0, end); }

std::vector<int64_t> Sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

// Record i: a text of i letters, a list of i numbers i, i + 1, ..., and the number i.
Dataset Ragged(int64_t size) {
  return Dataset::FromFunction(
      {TextField("text"), Field{"list", ir::Shape(ir::DType::kI32, {kAny})},
       Field{"value", ir::Shape::Scalar(ir::DType::kI64)}},
      size,
      [](int64_t record, Block& out, int64_t row) {
        out.SetText(0, row, std::string(static_cast<size_t>(record), 'x'));
        const int64_t dims[] = {record};
        auto* list = reinterpret_cast<int32_t*>(out.SetCell(1, row, dims));
        for (int64_t i = 0; i < record; ++i) {
          list[i] = static_cast<int32_t>(record + i);
        }
        *out.as<int64_t>(2, row) = record;
      },
      "ragged");
}

Dataset Renamed(const Dataset& dataset, const std::string& name) {
  return dataset.Map({Field{name, dataset.fields()[0].shape}},
                     [](const Block& in, Block& out) { out.ShareColumn(0, in, 0); });
}

bool Odd(const Block& block, int64_t row) {
  return *block.as<int64_t>(FindField(block.fields(), "value"), row) % 2 != 0;
}

// ---- each record by itself ----

TEST(Map, ChangesEachRecord) {
  const Dataset squares = Range(100000).Map(
      {Field{"square", ir::Shape(ir::DType::kF32, {2})}}, [](const Block& in, Block& out) {
        for (int64_t i = 0; i < in.rows(); ++i) {
          out.as<float>(0, i)[0] = static_cast<float>(*in.as<int64_t>(0, i));
          out.as<float>(0, i)[1] = static_cast<float>(*in.as<int64_t>(0, i) % 7);
        }
      });
  // More records than one chunk holds.
  Iterator it = squares.Skip(7).Batch(50000).MakeIterator();
  const auto values = it.Next()->Values<float>("square");
  for (int64_t i = 0; i < 50000; ++i) {
    ASSERT_EQ(values[static_cast<size_t>(2 * i)], static_cast<float>(i + 7));
    ASSERT_EQ(values[static_cast<size_t>(2 * i + 1)], static_cast<float>((i + 7) % 7));
  }
  EXPECT_THROW(Range(3).Map({}, [](const Block&, Block&) {}), UserError);
  EXPECT_THROW(Range(3).Map(Range(3).fields(), nullptr), UserError);
}

TEST(Map, OfAStream) {
  const auto twice = [](const Block& in, Block& out) {
    for (int64_t i = 0; i < in.rows(); ++i) *out.as<int64_t>(0, i) = 2 * *in.as<int64_t>(0, i);
  };
  const Dataset mapped = Range(10).Filter(Odd).Map(Range(1).fields(), twice);
  EXPECT_THAT(Values(mapped), ElementsAre(2, 6, 10, 14, 18));
  ExpectOneOrder(mapped, 20);
  ExpectOneOrder(Range(10).Filter(Odd).Skip(1).Map(Range(1).fields(), twice), 20);
  // Filters and maps in a row, and columns of any kind handed on.
  const Dataset handed = Ragged(9).Filter(Odd).Map({TextField("text"), Range(1).fields()[0]},
                                                   [](const Block& in, Block& out) {
                                                     out.ShareColumn(0, in, 0);
                                                     out.ShareColumn(1, in, 2);
                                                   });
  EXPECT_THAT(
      Epoch(handed.Filter(
          [](const Block& block, int64_t row) { return block.text(0, row).size() > 1; })),
      ElementsAre("text \"xxx\", value 3", "text \"xxxxx\", value 5", "text \"xxxxxxx\", value 7"));
  ExpectOneOrder(handed, 15);
}

// Adds a random digit from the key in front of each value.
class RandomDigit : public Transform {
 public:
  const std::string& name() const override { return name_; }
  std::vector<Field> Fields(const std::vector<Field>& in) const override { return in; }
  void Apply(const Block& in, Block& out, std::span<const uint64_t> keys) const override {
    for (int64_t i = 0; i < in.rows(); ++i) {
      const uint64_t digit = keys[static_cast<size_t>(i)] % 1000000;
      *out.as<int64_t>(0, i) = *in.as<int64_t>(0, i) + 100 * static_cast<int64_t>(digit);
    }
  }
  bool random() const override { return true; }

 private:
  std::string name_ = "random_digit";
};

TEST(Apply, RandomTransformsFollowSeedEpochAndRecord) {
  const auto digit = std::make_shared<RandomDigit>();
  const Dataset once = Range(50).Apply(digit, 3);
  EXPECT_EQ(Values(once), Values(once));
  EXPECT_NE(Values(once, 0), Values(once, 1));
  EXPECT_NE(Values(once), Values(Range(50).Apply(digit, 4)));
  const std::vector<int64_t> first = Values(once);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 50u);
  ExpectOneOrder(once.Shuffle(1), 120, 11);
  ExpectOneOrder(Range(50).Filter(Odd).Apply(digit, 3), 80, 7);
  ExpectOneOrder(Range(50).Filter(Odd).Take(20).Apply(digit, 3), 60, 7);
  // Two in a row do not draw the same.
  const std::vector<int64_t> both = Values(once.Apply(digit, 3));
  int same = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    same += both[i] - first[i] == first[i] - static_cast<int64_t>(i) ? 1 : 0;
  }
  EXPECT_LT(same, 3);
  EXPECT_THROW(Range(5).Apply(TransformPtr()), UserError);
}

TEST(Filter, GivesAStream) {
  const Dataset odd = Range(10).Filter(Odd);
  EXPECT_EQ(odd.size(), kUnknown);
  EXPECT_THAT(Values(odd), ElementsAre(1, 3, 5, 7, 9));
  ExpectOneOrder(odd, 20);
  ExpectOneOrder(Range(3000).Shuffle(2).Filter(Odd).Batch(7), 500, 83);
  EXPECT_THAT(Values(Range(10).Filter([](const Block&, int64_t) { return false; })), IsEmpty());
  EXPECT_THROW(Range(10).Filter(nullptr), UserError);
  // Shuffled behind the filter: the records before it are, in another order each epoch.
  const Dataset shuffled = odd.Shuffle(4);
  EXPECT_EQ(shuffled.source()->seed(), 4u);
  EXPECT_EQ(Values(shuffled), Values(Range(10).Shuffle(4).Filter(Odd)));
  EXPECT_EQ(Sorted(Values(shuffled, 1)), Values(odd));
  ExpectOneOrder(shuffled, 20);
}

TEST(Filter, NowKeepsNumbers) {
  const Dataset odd = Range(3001).FilterNow(Odd);
  EXPECT_EQ(odd.size(), 1500);
  EXPECT_EQ(Values(odd), Values(Range(3001).Filter(Odd)));
  ExpectOneOrder(Range(10).FilterNow(Odd).Shuffle(1), 20);
  EXPECT_THROW(Range(10).Repeat().FilterNow(Odd), UserError);
  EXPECT_THROW(Range(10).Filter(Odd).FilterNow(Odd), UserError);
  EXPECT_THROW(Range(10).FilterNow(nullptr), UserError);
  EXPECT_THROW(
      Range(10).FilterNow([](const Block&, int64_t) -> bool { throw std::runtime_error("no"); }),
      std::runtime_error);
  // A record that cannot be read is kept, so that reading it says why.
  const Dataset bad =
      Dataset::FromFunction(Range(1).fields(), 6, [](int64_t record, Block& out, int64_t row) {
        if (record == 2) throw BadData("record 2");
        *out.as<int64_t>(0, row) = record;
      });
  EXPECT_EQ(bad.FilterNow(Odd).size(), 4);
  EXPECT_THROW(Values(bad.FilterNow(Odd)), DataError);
  EXPECT_THAT(Values(bad.FilterNow(Odd).WithOptions({.max_bad_records = 1})), ElementsAre(1, 3, 5));
}

TEST(Select, TakesRecordsByNumber) {
  EXPECT_THAT(Values(Range(5).Select({4, 0, 0, 2})), ElementsAre(4, 0, 0, 2));
  EXPECT_THAT(Values(Range(5).Select({})), IsEmpty());
  EXPECT_THROW(Range(5).Select({5}), UserError);
  EXPECT_THROW(Range(5).Select({-1}), UserError);
  EXPECT_THROW(Range(5).Filter(Odd).Select({0}), UserError);
}

// ---- order ----

TEST(Shuffle, IsAnotherPermutationInEachEpoch) {
  const Dataset shuffled = Range(50).Shuffle(3);
  EXPECT_NE(Values(shuffled, 0), Values(shuffled, 1));
  EXPECT_EQ(Values(shuffled, 1), Values(shuffled, 1));
  EXPECT_EQ(Sorted(Values(shuffled, 0)), Values(Range(50)));
  EXPECT_EQ(Sorted(Values(shuffled, 1)), Values(Range(50)));
  EXPECT_NE(Values(shuffled), Values(Range(50).Shuffle(4)));
  EXPECT_EQ(Range(0).Shuffle(1).size(), 0);
  EXPECT_THROW(Range(3).Repeat().Shuffle(1), UserError);
  EXPECT_THAT(MessageOf<UserError>([] { Range(9).Filter(Odd).Take(2).Shuffle(1); }),
              HasSubstr("ShuffleWindow"));
}

TEST(ShuffleWindow, StaysNear) {
  for (int64_t n : {1, 9, 10, 11, 29, 30, 100}) {
    const Dataset shuffled = Range(n).ShuffleWindow(3, 10);
    for (int64_t epoch : {0, 1}) {
      const std::vector<int64_t> values = Values(shuffled, epoch);
      ASSERT_EQ(Sorted(values), Values(Range(n)));
    }
    if (n > 10) {
      EXPECT_NE(Values(shuffled, 0), Values(shuffled, 1));
    }
  }
  // Records that are neighbours in the order are of one run, but for where runs meet.
  const std::vector<int64_t> values = Values(Range(10000).ShuffleWindow(3, 100));
  int far = 0;
  for (size_t i = 1; i < values.size(); ++i) far += values[i] / 100 != values[i - 1] / 100 ? 1 : 0;
  EXPECT_EQ(far, 99);
  EXPECT_NE(values[0] / 100, 0);  // the runs are in another order too
  ExpectOneOrder(Range(33).ShuffleWindow(3, 10), 100, 7);
  EXPECT_THROW(Range(3).ShuffleWindow(1, 0), UserError);
  EXPECT_THROW(Range(3).Repeat().ShuffleWindow(1, 2), UserError);
}

TEST(ShuffleWindow, OfAStream) {
  const Dataset shuffled = AsStream(Range(33)).Take(32).ShuffleWindow(3, 10);
  for (int64_t epoch : {0, 1}) {
    const std::vector<int64_t> values = Values(shuffled, epoch);
    ASSERT_EQ(values.size(), 32u);
    for (size_t i = 0; i < 32; ++i) EXPECT_EQ(values[i] / 10, static_cast<int64_t>(i) / 10);
    EXPECT_EQ(Sorted(values), Values(Range(32)));
  }
  EXPECT_NE(Values(shuffled, 0), Values(shuffled, 1));
  EXPECT_EQ(shuffled.source()->seed(), 3u);
  ExpectOneOrder(shuffled, 100, 3);
  ExpectOneOrder(AsStream(Ragged(20)).ShuffleWindow(3, 6), 50, 3);
  // A window that is larger than the stream costs no more than the stream.
  EXPECT_EQ(Sorted(Values(AsStream(Range(5)).ShuffleWindow(1, int64_t{1} << 40))),
            Values(Range(5)));
}

TEST(Repeat, PassesAreShuffledAnew) {
  const Dataset once = Range(30).Shuffle(1);
  for (const bool stream : {false, true}) {
    const Dataset twice = stream ? AsStream(once).Repeat(2) : once.Repeat(2);
    for (int64_t epoch : {0, 3}) {
      std::vector<int64_t> expected = Values(once, 2 * epoch);
      for (int64_t value : Values(once, 2 * epoch + 1)) expected.push_back(value);
      EXPECT_EQ(Values(twice, epoch), expected);
    }
    ExpectOneOrder(twice, 150, 13);
  }
  EXPECT_EQ(Range(3).Repeat().size(), kInfinite);
  EXPECT_EQ(Range(3).Repeat().Repeat(2).size(), kInfinite);
  EXPECT_EQ(Range(3).Repeat(int64_t{1} << 62).size(), kInfinite);
  EXPECT_EQ(Range(3).Repeat().Batch(2).size(), kInfinite);
  EXPECT_EQ(Range(0).Repeat().size(), 0);
  EXPECT_THAT(Sorted(Values(Range(3).Repeat(2).Shuffle(1))), ElementsAre(0, 0, 1, 1, 2, 2));
  ExpectOneOrder(AsStream(Range(3)).Repeat(), 40, 3);
  ExpectOneOrder(AsStream(Range(3)).Repeat().Take(7), 40, 3);
  // Of nothing there is no end of repeating; it ends.
  EXPECT_THAT(Values(AsStream(Range(0)).Repeat()), IsEmpty());
  EXPECT_THAT(Values(AsStream(Range(4)).Repeat(0)), IsEmpty());
}

TEST(TakeSkipShard, Refused) {
  for (const Dataset& dataset : {Range(5), AsStream(Range(5))}) {
    EXPECT_THROW(dataset.Take(-1), UserError);
    EXPECT_THROW(dataset.Skip(-1), UserError);
    EXPECT_THROW(dataset.Shard(3, 3), UserError);
    EXPECT_THROW(dataset.Shard(3, -1), UserError);
    EXPECT_THROW(dataset.Shard(0, 0), UserError);
  }
}

TEST(TakeSkipShard, FromAnyState) {
  for (const Dataset& dataset :
       {Range(23).Shuffle(2), AsStream(Range(23).Shuffle(2)), AsStream(Ragged(23)).Repeat(2)}) {
    ExpectOneOrder(dataset.Take(9), 25, 2);
    ExpectOneOrder(dataset.Skip(5), 50, 5);
    ExpectOneOrder(dataset.Shard(3, 1), 30, 3);
    ExpectOneOrder(dataset.Skip(2).Shard(2, 1).Take(6), 20, 2);
  }
}

TEST(Shard, PartsAreDisjointAndComplete) {
  for (const bool stream : {false, true}) {
    for (int64_t epoch : {0, 2}) {
      std::vector<int64_t> all;
      for (int i = 0; i < 4; ++i) {
        const Dataset order = Range(50).Shuffle(1);
        const std::vector<int64_t> part =
            Values((stream ? AsStream(order) : order).Shard(4, i), epoch);
        all.insert(all.end(), part.begin(), part.end());
      }
      EXPECT_EQ(Sorted(all), Values(Range(50)));
    }
  }
}

// ---- several inputs ----

TEST(Concatenate, FromAnyState) {
  const Dataset both = Range(7).Concatenate(Dataset::Range(10, 15));
  EXPECT_EQ(both.size(), 12);
  ExpectOneOrder(both, 30);
  ExpectOneOrder(both.Shuffle(1).Batch(5), 20);
  ExpectOneOrder(AsStream(Range(7)).Concatenate(Dataset::Range(10, 15)), 30);
  ExpectOneOrder(Range(7).Concatenate(AsStream(Dataset::Range(10, 15))), 30);
  ExpectOneOrder(Ragged(9).Concatenate(Ragged(5)).Shuffle(3), 30, 3);
  // What comes after an endless one is never reached.
  EXPECT_EQ(Range(2).Repeat().Concatenate(Range(3)).size(), kInfinite);
  EXPECT_THAT(Values(Range(1).Concatenate(Range(2).Repeat()).Concatenate(Range(9)).Take(5)),
              ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(MessageOf<UserError>([] { Range(2).Concatenate(Ragged(2)); }),
              AllOf(HasSubstr("the same fields"), HasSubstr("list i32[?]")));
}

TEST(Zip, FromAnyState) {
  const Dataset zipped = Dataset::Zip({Ragged(9), Renamed(Range(7), "number")});
  EXPECT_EQ(zipped.size(), 7);
  EXPECT_EQ(Epoch(zipped)[2], "text \"xx\", list [2] 2 3, value 2, number 2");
  ExpectOneOrder(zipped.Shuffle(1), 20, 2);
  ExpectOneOrder(
      Dataset::Zip({AsStream(Ragged(9)).Skip(1), Renamed(Range(20), "number").Shuffle(1)}), 30, 2);
  EXPECT_EQ(Dataset::Zip({Range(3).Repeat(), Renamed(Range(7), "b")}).size(), 7);
  EXPECT_THAT(MessageOf<UserError>([] {
                Dataset::Zip({Range(1), Range(1)});
              }),
              HasSubstr("\"value\""));
  EXPECT_THROW(Dataset::Zip({}), UserError);
  // Zips of zips, of the same records.
  const Dataset nested = Dataset::Zip(
      {Dataset::Zip({Renamed(Range(5), "a"), Renamed(Range(5), "b")}), Renamed(Range(5), "c")});
  EXPECT_EQ(Epoch(nested)[3], "a 3, b 3, c 3");
}

std::vector<Dataset> Parts(const std::vector<int64_t>& sizes, bool stream) {
  std::vector<Dataset> parts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto begin = static_cast<int64_t>(100 * i);
    parts.push_back(Dataset::Range(begin, begin + sizes[i]));
    if (stream) parts.back() = AsStream(parts.back());
  }
  return parts;
}

TEST(Interleave, FromAnyState) {
  for (const bool stream : {false, true}) {
    ExpectOneOrder(Dataset::Interleave(Parts({3, 6, 2, 8, 4, 4, 1}, stream), 3, 2), 60, 3);
    ExpectOneOrder(Dataset::Interleave(Parts({1, 9, 0, 9}, stream), 2, 4), 40, 3);
    EXPECT_THROW(Dataset::Interleave(Parts({1}, stream), 0), UserError);
    EXPECT_THROW(Dataset::Interleave(Parts({1}, stream), 1, 0), UserError);
  }
  EXPECT_THROW(Dataset::Interleave({}, 1), UserError);
  ExpectOneOrder(Dataset::Interleave({Ragged(6), AsStream(Ragged(9))}, 2), 30, 2);
  // Endless ones share what is left when the others have ended.
  const std::vector<Dataset> endless = {Range(2).Repeat(), Dataset::Range(10, 13),
                                        Dataset::Range(20, 21).Repeat()};
  EXPECT_EQ(Dataset::Interleave(endless, 3).size(), kInfinite);
  EXPECT_THAT(Values(Dataset::Interleave(endless, 3).Take(14)),
              ElementsAre(0, 10, 20, 1, 11, 20, 0, 12, 20, 1, 20, 0, 20, 1));
}

TEST(Sample, FollowsTheWeights) {
  const std::vector<Dataset> parts = {Range(100000), Dataset::Range(200000, 300000),
                                      Dataset::Range(400000, 500000)};
  const Dataset mixed = Dataset::SampleFromDatasets(parts, {0.5, 0.3, 0.2}, 1);
  const std::vector<int64_t> values = Values(mixed.Take(25600));
  std::map<int64_t, int64_t> next = {{0, 0}, {1, 200000}, {2, 400000}};
  std::vector<int64_t> in_block(3);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t part = values[i] / 200000;
    // Each gives its records in its own order.
    ASSERT_EQ(values[i], next[part]++);
    ++in_block[static_cast<size_t>(part)];
    if (i % 256 != 255) continue;
    EXPECT_NEAR(static_cast<double>(in_block[0]), 128, 1);
    EXPECT_NEAR(static_cast<double>(in_block[1]), 76.8, 1);
    EXPECT_NEAR(static_cast<double>(in_block[2]), 51.2, 1);
    in_block.assign(3, 0);
  }
  EXPECT_NEAR(static_cast<double>(next[1] - 200000), 0.3 * 25600, 3);
  // Ends where the first is asked for one more than it has: nearly when half are gone.
  EXPECT_NEAR(static_cast<double>(mixed.size()), 200000, 10);
  EXPECT_NE(values, Values(Dataset::SampleFromDatasets(parts, {0.5, 0.3, 0.2}, 2).Take(25600)));
}

TEST(Sample, StreamsAreMixedTheSame) {
  const std::vector<int64_t> sizes = {5, 40, 0, 13};
  for (const bool stop : {true, false}) {
    for (const std::vector<double>& weights :
         {std::vector<double>{1, 2, 0, 1}, {0.2, 0.2, 0.2, 0.2}, {1, 0, 0, 0}, {0.001, 5, 0, 1}}) {
      const Dataset mixed = Dataset::SampleFromDatasets(Parts(sizes, false), weights, 7, stop);
      const Dataset stream = Dataset::SampleFromDatasets(Parts(sizes, true), weights, 7, stop);
      const std::vector<int64_t> values = Values(mixed);
      EXPECT_EQ(static_cast<int64_t>(values.size()), mixed.size());
      EXPECT_EQ(Values(stream), values);
      if (!stop) {
        std::vector<int64_t> all;
        for (size_t d = 0; d < sizes.size(); ++d) {
          if (weights[d] == 0) continue;
          for (int64_t value : Values(Parts(sizes, false)[d])) all.push_back(value);
        }
        EXPECT_EQ(Sorted(values), all);
      }
      ExpectOneOrder(mixed, 100, 9);
      ExpectOneOrder(stream, 100, 9);
    }
  }
}

TEST(Sample, EndlessOnes) {
  const std::vector<Dataset> endless = {Range(10).Repeat(), Dataset::Range(10, 13).Repeat()};
  const Dataset mixed = Dataset::SampleFromDatasets(endless, {3, 1}, 1);
  EXPECT_EQ(mixed.size(), kInfinite);
  const auto at = [&](int64_t position) { return testing::ReadOne(mixed, 0, position); };
  // Far out, by number: exactly a quarter of all before are of the second.
  std::map<bool, int64_t> seen;
  const int64_t far = int64_t{256} * 4096 * 1000000;
  for (int64_t i = 0; i < 256; ++i) ++seen[at(far + i).size() > std::string("value 9").size()];
  EXPECT_EQ(seen[true], 64);
  // One that ends and one that does not.
  const Dataset half =
      Dataset::SampleFromDatasets({Range(10), Range(1).Repeat()}, {1, 1}, 1, false);
  EXPECT_EQ(half.size(), kInfinite);
  EXPECT_EQ(testing::ReadOne(half, 0, 1000), "value 0");
}

TEST(Sample, Refused) {
  const std::vector<Dataset> two = {Range(3), Range(3)};
  EXPECT_THROW(Dataset::SampleFromDatasets(two, {1}, 0), UserError);
  EXPECT_THROW(Dataset::SampleFromDatasets(two, {1, -1}, 0), UserError);
  EXPECT_THROW(Dataset::SampleFromDatasets(two, {0, 0}, 0), UserError);
  EXPECT_THROW(Dataset::SampleFromDatasets(two, {1, std::nan("")}, 0), UserError);
  EXPECT_THROW(Dataset::SampleFromDatasets(two, {1, 1e-9}, 0), UserError);
  EXPECT_THROW(Dataset::SampleFromDatasets({}, {}, 0), UserError);
  EXPECT_THROW(Dataset::SampleFromDatasets({Range(3), Ragged(3)}, {1, 1}, 0), UserError);
}

// ---- several records in one ----

TEST(Batch, PadsAndWeighs) {
  EXPECT_THAT(Epoch(Range(5).Batch(3)), ElementsAre("value [3] 0 1 2, weight [3] 1 1 1",
                                                    "value [3] 3 4 0, weight [3] 1 1 0"));
  EXPECT_THAT(Epoch(Range(5).Batch(2, true)), ElementsAre("value [2] 0 1", "value [2] 2 3"));
  EXPECT_EQ(Range(5).Batch(6, true).size(), 0);
  for (const Dataset& dataset : {Range(5), AsStream(Range(5))}) {
    EXPECT_THROW(dataset.Batch(0), UserError);
    EXPECT_THROW(dataset.Batch(int64_t{1} << 62), UserError);
    EXPECT_THAT(MessageOf<UserError>([&] { dataset.Batch(2).Batch(2); }), HasSubstr("\"weight\""));
  }
  // Batches of batches.
  EXPECT_THAT(Epoch(Range(5).Batch(2, true).Batch(2)),
              ElementsAre("value [2,2] 0 1 2 3, weight [2] 1 1"));
}

TEST(Batch, OfTextsAndLists) {
  for (const Dataset& dataset : {Ragged(5).Take(3), AsStream(Ragged(5)).Take(3)}) {
    EXPECT_THAT(
        Epoch(dataset
                  .Map({TextField("text")},
                       [](const Block& in, Block& out) { out.ShareColumn(0, in, 0); })
                  .Batch(2)),
        ElementsAre("text [2] \"\" \"x\", weight [2] 1 1", "text [2] \"xx\" \"\", weight [2] 1 0"));
    EXPECT_THAT(MessageOf<UserError>([&] { Epoch(dataset.Batch(2)); }),
                AllOf(HasSubstr("[0] and [1]"), HasSubstr("PaddedBatch")));
  }
  // Lists that are equally long may come together.
  const Dataset pairs =
      Dataset::FromFunction({Field{"value", ir::Shape(ir::DType::kI64, {kAny})}}, 3,
                            [](int64_t record, Block& out, int64_t row) {
                              const int64_t dims[] = {2};
                              auto* to = reinterpret_cast<int64_t*>(out.SetCell(0, row, dims));
                              to[0] = to[1] = record;
                            });
  EXPECT_THAT(Epoch(pairs.Batch(2)), ElementsAre("value [2,2] 0 0 1 1, weight [2] 1 1",
                                                 "value [2,2] 2 2 0 0, weight [2] 1 0"));
}

TEST(Batch, ReadsStraightIntoPlace) {
  // The memory that Read was given is what the source's function writes to.
  const std::byte* seen = nullptr;
  const Dataset watched =
      Dataset::FromFunction(Range(1).fields(), 8, [&](int64_t record, Block& out, int64_t row) {
        if (record == 4) seen = out.data(0, row);
        *out.as<int64_t>(0, row) = record;
      });
  const Dataset batches = watched.Shuffle(1).Batch(4).Unbatch().Batch(4, true);
  for (const Dataset& dataset : {watched.Batch(4), batches}) {
    ReadContext context;
    Block block;
    block.Reset(dataset.fields(), 2);
    const int64_t records[] = {0, 1};
    dataset.source()->Read(context, 0, records, block);
    EXPECT_GE(seen, block.data(0));
    EXPECT_LT(seen, block.data(0) + 64);
  }
}

TEST(PaddedBatch, PadsToTheLongest) {
  PaddedBatchOptions options;
  options.size = 2;
  options.values = {{"list", -1}};
  for (const Dataset& dataset : {Ragged(4).Skip(1), AsStream(Ragged(4)).Skip(1)}) {
    EXPECT_THAT(Epoch(dataset.PaddedBatch(options)),
                ElementsAre("text [2] \"x\" \"xx\", list [2,2] 1 -1 2 3, value [2] 1 2, "
                            "weight [2] 1 1",
                            "text [2] \"xxx\" \"\", list [2,3] 3 4 5 -1 -1 -1, value [2] 3 0, "
                            "weight [2] 1 0"));
  }
  options.shapes = {{"list", {4}}};
  const Dataset fixed = Ragged(4).PaddedBatch(options);
  EXPECT_TRUE(fixed.fields()[1].fixed());
  EXPECT_EQ(
      Epoch(fixed)[1],
      "text [2] \"xx\" \"xxx\", list [2,4] 2 3 -1 -1 3 4 5 -1, value [2] 2 3, weight [2] 1 1");
  EXPECT_THAT(MessageOf<UserError>([&] { Epoch(Ragged(6).PaddedBatch(options)); }),
              AllOf(HasSubstr("[5]"), HasSubstr("[4]")));
  ExpectOneOrder(fixed, 10);
  ExpectOneOrder(Ragged(5).Shuffle(1).PaddedBatch(options), 10);
}

TEST(PaddedBatch, Refused) {
  const auto refused = [](const auto& change) {
    PaddedBatchOptions options;
    options.size = 2;
    change(options);
    EXPECT_THROW(Ragged(4).PaddedBatch(options), UserError);
  };
  refused([](auto& o) { o.size = 0; });
  refused([](auto& o) { o.values = {{"lists", 1}}; });
  refused([](auto& o) { o.shapes = {{"lists", {1}}}; });
  refused([](auto& o) { o.shapes = {{"list", {1, 2}}}; });
  refused([](auto& o) { o.shapes = {{"list", {-3}}}; });
  refused([](auto& o) { o.shapes = {{"value", {3}}}; });
  refused([](auto& o) { o.values = {{"list", 0.5}}; });
  refused([](auto& o) { o.values = {{"list", 1e12}}; });
  refused([](auto& o) { o.values = {{"text", 1}}; });
}

// A padding value in every kind of number.
TEST(PaddedBatch, ValuesOfEveryType) {
  const auto padded = [](ir::DType dtype, double value) {
    PaddedBatchOptions options;
    options.size = 2;
    options.values = {{"x", value}};
    const Dataset lists = Dataset::FromFunction({Field{"x", ir::Shape(dtype, {kAny})}}, 2,
                                                [](int64_t record, Block& out, int64_t row) {
                                                  const int64_t dims[] = {record};
                                                  out.SetCell(0, row, dims);
                                                });
    Iterator it = lists.PaddedBatch(options).MakeIterator();
    const Element* element = it.Next();
    const auto bytes = element->block().bytes(0, element->row());
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size() / 2);
    return word;
  };
  EXPECT_EQ(padded(ir::DType::kI8, -2), 0xfeu);
  EXPECT_EQ(padded(ir::DType::kI16, -2), 0xfffeu);
  EXPECT_EQ(padded(ir::DType::kI32, -2), 0xfffffffeu);
  EXPECT_EQ(padded(ir::DType::kI64, -2), ~uint64_t{1});
  EXPECT_EQ(padded(ir::DType::kU8, 255), 0xffu);
  EXPECT_EQ(padded(ir::DType::kU16, 65535), 0xffffu);
  EXPECT_EQ(padded(ir::DType::kU32, 7), 7u);
  EXPECT_EQ(padded(ir::DType::kU64, 7), 7u);
  EXPECT_EQ(padded(ir::DType::kPred, 1), 1u);
  EXPECT_EQ(padded(ir::DType::kF32, 1.5), 0x3fc00000u);
  EXPECT_EQ(padded(ir::DType::kF64, 1.5), 0x3ff8000000000000u);
  EXPECT_EQ(padded(ir::DType::kBF16, 1.5), 0x3fc0u);
  EXPECT_EQ(padded(ir::DType::kBF16, -1.0), 0xbf80u);
  EXPECT_EQ(padded(ir::DType::kBF16, 1.00390625), 0x3f80u);  // half way: to even
  EXPECT_EQ(padded(ir::DType::kBF16, 1e39), 0x7f80u);
  EXPECT_EQ(padded(ir::DType::kF16, 1.5), 0x3e00u);
  EXPECT_EQ(padded(ir::DType::kF16, 65504), 0x7bffu);
  EXPECT_EQ(padded(ir::DType::kF16, 65520), 0x7c00u);
  EXPECT_EQ(padded(ir::DType::kF16, 5.9604644775390625e-08), 0x0001u);  // the smallest
  EXPECT_EQ(padded(ir::DType::kF16, 6.103515625e-05), 0x0400u);         // the smallest normal one
  EXPECT_EQ(padded(ir::DType::kF16, -0.0), 0x8000u);
  EXPECT_EQ(padded(ir::DType::kF16, 2047.5), 0x6800u);  // rounds up into the next exponent
}

TEST(Window, FromAnyState) {
  for (const Dataset& dataset :
       {Range(11), AsStream(Range(11)), AsStream(Range(3000)).Skip(2989)}) {
    for (const bool drop : {false, true}) {
      ExpectOneOrder(dataset.Window(3, 0, 1, drop), 15);
      ExpectOneOrder(dataset.Window(4, 2, 2, drop), 15);
      ExpectOneOrder(dataset.Window(2, 5, 1, drop), 10);
      ExpectOneOrder(dataset.Window(2, 1, 3, drop), 25);
    }
  }
  EXPECT_FALSE(Range(9).Window(3).fields()[0].fixed());
  EXPECT_TRUE(Range(9).Window(3, 0, 1, true).fields()[0].fixed());
  EXPECT_THROW(Range(3).Window(0), UserError);
  EXPECT_THROW(Range(3).Window(1, -1), UserError);
  EXPECT_THROW(Range(3).Window(1, 1, 0), UserError);
  EXPECT_THROW(Range(3).Window(int64_t{1} << 40, 1, int64_t{1} << 40), UserError);
}

TEST(Unbatch, OfBatchesIsWhatWasBatched) {
  const Dataset order = Range(11).Shuffle(1);
  EXPECT_EQ(order.Batch(4).Unbatch().source(), order.source());
  EXPECT_EQ(Values(order.Batch(4, true).Unbatch()), Values(order.Take(8)));
  EXPECT_EQ(order.Batch(4, true).Unbatch().size(), 8);
  // Of records that have rows of their own it is arithmetic too.
  const Dataset rows =
      Range(12).Batch(3, true).Map({Field{"value", ir::Shape(ir::DType::kI64, {3})}},
                                   [](const Block& in, Block& out) { out.ShareColumn(0, in, 0); });
  EXPECT_EQ(rows.Unbatch().size(), 12);
  EXPECT_EQ(Values(rows.Unbatch()), Values(Range(12)));
  ExpectOneOrder(rows.Unbatch().Shuffle(2), 40, 5);
  EXPECT_THROW(Range(3).Unbatch(), UserError);
}

TEST(Unbatch, OfAStream) {
  ExpectOneOrder(AsStream(Range(11)).Batch(4).Unbatch(), 30);
  EXPECT_EQ(Values(AsStream(Range(11)).Batch(4).Unbatch()), Values(Range(11)));
  EXPECT_EQ(Values(AsStream(Range(11).Batch(4)).Unbatch()), Values(Range(11)));
  EXPECT_EQ(Values(Range(11).Batch(4).Skip(1).Repeat(2).Unbatch()),
            (std::vector<int64_t>{4, 5, 6, 7, 8, 9, 10, 4, 5, 6, 7, 8, 9, 10}));
  // A field of the user's that is called weight is a field like any other.
  const Dataset own = Dataset::FromTensorSlices(
      {MakeArray("weight", ir::Shape(ir::DType::kF32, {2}), std::vector<float>{0, 1, 2, 0})});
  EXPECT_THAT(Epoch(own.Unbatch()), ElementsAre("weight 0", "weight 1", "weight 2", "weight 0"));
  // Fields that do not agree about their rows.
  const Dataset uneven = Dataset::FromFunction({Field{"a", ir::Shape(ir::DType::kU8, {kAny})},
                                                Field{"b", ir::Shape(ir::DType::kU8, {kAny})}},
                                               1, [](int64_t, Block& out, int64_t row) {
                                                 const int64_t two[] = {2}, three[] = {3};
                                                 std::memset(out.SetCell(0, row, two), 0, 2);
                                                 std::memset(out.SetCell(1, row, three), 0, 3);
                                               });
  EXPECT_THROW(Epoch(uneven.Unbatch()), DataError);
}

TEST(Rebatch, FromAnyState) {
  ExpectOneOrder(Range(11).Batch(4).Rebatch(3), 15);
  ExpectOneOrder(AsStream(Range(11)).Batch(4).Rebatch(3), 15);
  EXPECT_EQ(Epoch(AsStream(Range(5)).Batch(4).Rebatch(3, true)),
            (std::vector<std::string>{"value [3] 0 1 2"}));
}

BucketOptions Buckets() {
  BucketOptions options;
  options.length = [](const Block& block, int64_t row) {
    return static_cast<int64_t>(block.text(0, row).size());
  };
  options.boundaries = {3, 6};
  options.batch_sizes = {2, 3, 2};
  return options;
}

TEST(BucketByLength, GivesFullBucketsAtOnceAndTheRestAtTheEnd) {
  const Dataset some = Ragged(9).Select({7, 1, 4, 0, 8, 2, 5, 6});
  const Dataset buckets =
      some.BucketByLength(Buckets()).Map({Field{"value", ir::Shape(ir::DType::kI64, {kAny})},
                                          Field{"weight", ir::Shape(ir::DType::kF32, {kAny})}},
                                         [](const Block& in, Block& out) {
                                           out.ShareColumn(0, in, 2);
                                           out.ShareColumn(1, in, 3);
                                         });
  EXPECT_THAT(Epoch(buckets),
              ElementsAre("value [2] 1 0, weight [2] 1 1", "value [2] 7 8, weight [2] 1 1",
                          "value [2] 2 0, weight [2] 1 0", "value [3] 4 5 0, weight [3] 1 1 0",
                          "value [2] 6 0, weight [2] 1 0"));
  EXPECT_EQ(Sorted(Values(buckets.Unbatch())), (std::vector<int64_t>{0, 1, 2, 4, 5, 6, 7, 8}));
}

TEST(BucketByLength, FromAnyState) {
  ExpectOneOrder(Ragged(23).Shuffle(5).BucketByLength(Buckets()), 50);
  BucketOptions options = Buckets();
  options.drop_remainder = true;
  options.boundaries = {10, 20};
  options.batch_sizes = {3, 4, 2};
  ExpectOneOrder(Ragged(30).Shuffle(5).BucketByLength(options), 40);
  ExpectOneOrder(AsStream(Ragged(30)).Shard(2, 1).Repeat(3).BucketByLength(options), 40, 3);
}

TEST(BucketByLength, StateStaysSmall) {
  Iterator it = Ragged(200).Shuffle(5).BucketByLength(Buckets()).MakeIterator();
  size_t most = 0;
  while (it.Next() != nullptr) most = std::max(most, it.state().stream.size());
  EXPECT_LT(most, 25u);
}

TEST(BucketByLength, Refused) {
  const auto refused = [](const auto& change) {
    BucketOptions options = Buckets();
    change(options);
    EXPECT_THROW(Ragged(4).BucketByLength(options), UserError);
  };
  refused([](auto& o) { o.length = nullptr; });
  refused([](auto& o) { o.batch_sizes.pop_back(); });
  refused([](auto& o) { o.batch_sizes[1] = 0; });
  refused([](auto& o) { o.boundaries[1] = 3; });
  refused([](auto& o) { o.boundaries[0] = 0; });
  BucketOptions options = Buckets();
  options.pad_to_boundary = true;
  EXPECT_THAT(MessageOf<UserError>([&] { Epoch(Ragged(9).BucketByLength(options)); }),
              AllOf(HasSubstr("length 6"), HasSubstr("longest is 5")));
  EXPECT_EQ(Epoch(Ragged(6).BucketByLength(options)).size(), 3u);
}

// ---- sources from elsewhere ----

// A stream that is not made of verbs.
class Countdown : public Source {
 public:
  int64_t size() const override { return kUnknown; }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }
  void Read(ReadContext&, int64_t, std::span<const int64_t>, Block&) const override {}
  std::unique_ptr<Cursor> Open(int64_t) const override {
    class Down : public Cursor {
     public:
      explicit Down(const Countdown& source) : source_(source) {}
      int64_t Next(ReadContext&, int64_t, Block& out) override {
        out.Reset(source_.fields(), left_ > 0 ? 1 : 0);
        if (left_ == 0) return 0;
        *out.as<int64_t>(0, 0) = --left_;
        return 1;
      }
      void Save(std::vector<int64_t>& state) const override { state.push_back(left_); }
      void Restore(std::span<const int64_t>& state) override {
        left_ = state[0];
        state = state.subspan(1);
      }

     private:
      const Countdown& source_;
      int64_t left_ = 9;
    };
    return std::make_unique<Down>(*this);
  }

 private:
  std::vector<Field> fields_ = {Field{"value", ir::Shape::Scalar(ir::DType::kI64)}};
  std::string description_ = "countdown";
};

TEST(OtherStreams, TakeVerbs) {
  const Dataset countdown = Dataset::FromSource(std::make_shared<Countdown>());
  EXPECT_THAT(Values(countdown.Filter(Odd)), ElementsAre(7, 5, 3, 1));
  ExpectOneOrder(countdown, 25);
  ExpectOneOrder(countdown.Filter(Odd).Repeat(2).Batch(3), 15);
}

// A stream without its options: what the trainer opens.
TEST(OtherStreams, AreOpenedByTheTrainer) {
  const Dataset odd = Range(3000).Filter(Odd);
  const std::unique_ptr<Cursor> cursor = odd.source()->Open(0);
  ReadContext context;
  Block block;
  std::vector<int64_t> values, state;
  while (const int64_t rows = cursor->Next(context, 100, block)) {
    for (int64_t row = 0; row < rows; ++row) values.push_back(*block.as<int64_t>(0, row));
    if (values.size() < 500) {
      state.clear();
      cursor->Save(state);
    }
  }
  EXPECT_EQ(values, Values(odd));
  const std::unique_ptr<Cursor> again = odd.source()->Open(0);
  std::span<const int64_t> saved = state;
  again->Restore(saved);
  EXPECT_TRUE(saved.empty());
  again->Next(context, 1, block);
  EXPECT_GE(*block.as<int64_t>(0, 0), 2 * 400 + 1);
}

// ---- not in order ----

TEST(NotDeterministic, GivesEveryRecordOnce) {
  DatasetOptions options;
  options.deterministic = false;
  options.workers = 4;
  const Dataset chunks = Range(30000).Filter(Odd).WithOptions(options).Prefetch();
  Iterator it = chunks.MakeIterator();
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int64_t> values;
    while (const Element* element = it.Next()) {
      values.push_back(element->Values<int64_t>("value")[0]);
    }
    EXPECT_EQ(Sorted(values), Values(Range(30000).Filter(Odd)));
    EXPECT_THAT(MessageOf<UserError>([&] { it.state(); }), HasSubstr("deterministic = true"));
  }
  // On demand nothing runs at once, so there is an order.
  Iterator plain = Range(9).Filter(Odd).WithOptions(options).MakeIterator();
  plain.Next();
  EXPECT_EQ(plain.state().position, 1);
}

TEST(NotDeterministic, WaitsForNoSlowChunk) {
  // The first chunk waits until the others have been given out.
  std::mutex mutex;
  std::condition_variable changed;
  bool go = false;
  const Dataset slow = Range(3000).Filter([&](const Block& block, int64_t row) {
    if (*block.as<int64_t>(0, row) == 0) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return go; });
    }
    return true;
  });
  Iterator it = slow.WithOptions({.deterministic = false, .workers = 2}).Prefetch(1).MakeIterator();
  const int64_t first = it.Next()->Values<int64_t>("value")[0];
  EXPECT_GT(first, 0);
  {
    std::lock_guard lock(mutex);
    go = true;
    changed.notify_all();
  }
  int64_t count = 1;
  while (it.Next() != nullptr) ++count;
  EXPECT_EQ(count, 3000);
}

TEST(NotDeterministic, ErrorsReachNext) {
  const DatasetOptions options{.deterministic = false, .workers = 2};
  const Dataset failing = Range(5000).Filter([](const Block& block, int64_t row) {
    if (*block.as<int64_t>(0, row) == 4000) throw std::runtime_error("no");
    return true;
  });
  for (const Dataset& dataset :
       {failing, failing.Take(4999),
        failing.Skip(1).Map(Range(1).fields(),
                            [](const Block&in, Block&out) { out.ShareColumn(0, in, 0); })}) {
    Iterator it = dataset.WithOptions(options).Prefetch().MakeIterator();
    EXPECT_THROW(
        {
          while (it.Next() != nullptr) {
          }
        },
        std::runtime_error);
    EXPECT_THROW(it.Next(), std::runtime_error);
  }
}

}  // namespace
}  // namespace flatout::data
