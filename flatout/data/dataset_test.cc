// Datasets and iterators as such; the verbs are in verbs/*_test.cc.
#include "flatout/data/dataset.h"

#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>

#include "flatout/data/order.h"
#include "flatout/data/testing.h"
#include "flatout/data/verbs/verbs_testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Epoch;
using testing::ExpectOneOrder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using testing::Rest;
using testing::Values;

// Record i holds the number i, and three bytes made of it.
Dataset Numbers(int64_t size) {
  std::vector<int64_t> ids(static_cast<size_t>(size));
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<uint8_t> bytes;
  for (int64_t id : ids) {
    for (int64_t j = 1; j <= 3; ++j) bytes.push_back(static_cast<uint8_t>(id * j));
  }
  return Dataset::FromTensorSlices({MakeArray("value", ir::Shape::Scalar(ir::DType::kI64), ids),
                                    MakeArray("bytes", ir::Shape(ir::DType::kU8, {3}), bytes)});
}

const Field kValue{"value", ir::Shape::Scalar(ir::DType::kI64)};

// ---- where records come from ----

TEST(From, Arrays) {
  EXPECT_THAT(Epoch(Numbers(2)),
              ElementsAre("value 0, bytes [3] 0 0 0", "value 1, bytes [3] 1 2 3"));
  EXPECT_EQ(Numbers(2).size(), 2);
  ir::Shape scalar = ir::Shape::Scalar(ir::DType::kI32);
  std::vector<int32_t> two = {1, 2}, three = {1, 2, 3}, none;
  EXPECT_THAT(
      MessageOf<DataError>([&] {
        Dataset::FromTensorSlices({MakeArray("a", scalar, two), MakeArray("b", scalar, three)});
      }),
      AllOf(HasSubstr("field a has 2 records"), HasSubstr("field b has 3")));
  EXPECT_THROW(Dataset::FromTensorSlices({MakeArray("a", scalar, none)}), DataError);
  EXPECT_THROW(Dataset::FromTensorSlices({}), UserError);
  EXPECT_THROW(
      Dataset::FromTensorSlices({MakeArray("a", scalar, two), MakeArray("a", scalar, two)}),
      UserError);
  EXPECT_THROW(MakeArray("a", ir::Shape(ir::DType::kI32, {2}), three), UserError);
  EXPECT_THROW(MakeArray("a", ir::Shape::Scalar(ir::DType::kI64), three), UserError);
  EXPECT_THROW(Dataset::FromSource(nullptr), UserError);
}

TEST(From, Range) {
  EXPECT_THAT(Values(Dataset::Range(0, 3)), ElementsAre(0, 1, 2));
  EXPECT_THAT(Values(Dataset::Range(2, 9, 3)), ElementsAre(2, 5, 8));
  EXPECT_THAT(Values(Dataset::Range(2, 8, 3)), ElementsAre(2, 5));
  EXPECT_THAT(Values(Dataset::Range(5, 1, -2)), ElementsAre(5, 3));
  EXPECT_THAT(Values(Dataset::Range(5, 0, -2)), ElementsAre(5, 3, 1));
  EXPECT_THAT(Values(Dataset::Range(3, 3)), IsEmpty());
  EXPECT_THAT(Values(Dataset::Range(3, 1)), IsEmpty());
  EXPECT_THROW(Dataset::Range(0, 3, 0), UserError);
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Dataset::Range(least, -5, int64_t{1} << 62).size(), 2);  // least and least / 2
  EXPECT_THROW(Dataset::Range(least, std::numeric_limits<int64_t>::max()), UserError);
}

TEST(From, Function) {
  const Dataset words =
      Dataset::FromFunction({TextField("word"), Field{"list", ir::Shape(ir::DType::kI32, {kAny})}},
                            3, [](int64_t record, Block& out, int64_t row) {
                              out.SetText(0, row, std::string(static_cast<size_t>(record), 'a'));
                              const int64_t dims[] = {record};
                              auto* list = reinterpret_cast<int32_t*>(out.SetCell(1, row, dims));
                              for (int64_t i = 0; i < record; ++i)
                                list[i] = static_cast<int32_t>(10 * record + i);
                            });
  EXPECT_THAT(Epoch(words), ElementsAre("word \"\", list [0]", "word \"a\", list [1] 10",
                                        "word \"aa\", list [2] 20 21"));
  ExpectOneOrder(words.Shuffle(3), 10);
  EXPECT_THROW(Dataset::FromFunction({}, 3, [](int64_t, Block&, int64_t) {}), UserError);
  EXPECT_THROW(Dataset::FromFunction({kValue}, -1, [](int64_t, Block&, int64_t) {}), UserError);
  EXPECT_THROW(Dataset::FromFunction({kValue}, 1, nullptr), UserError);
  EXPECT_THROW(Dataset::FromFunction({kValue, kValue}, 1, [](int64_t, Block&, int64_t) {}),
               UserError);
}

// Epoch e gives e, e + 1, ..., 5 + e.
Dataset Generated() {
  return Dataset::FromGenerator({kValue}, [](int64_t epoch) -> Dataset::Generator {
    return [epoch, next = epoch](Block& out, int64_t row) mutable {
      if (next == epoch + 6) return false;
      *out.as<int64_t>(0, row) = next++;
      return true;
    };
  });
}

TEST(From, Generator) {
  EXPECT_EQ(Generated().size(), kUnknown);
  EXPECT_THAT(Values(Generated()), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(Values(Generated(), 2), ElementsAre(2, 3, 4, 5, 6, 7));
  ExpectOneOrder(Generated(), 20);
  // On demand means that it is asked for one record at a time.
  int calls = 0;
  const Dataset counted = Dataset::FromGenerator({kValue}, [&](int64_t) -> Dataset::Generator {
    return [&](Block& out, int64_t row) {
      *out.as<int64_t>(0, row) = calls;
      return ++calls < 5;
    };
  });
  Iterator it = counted.MakeIterator();
  it.Next();
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(Dataset::FromGenerator({kValue}, nullptr), UserError);
  const Dataset nothing =
      Dataset::FromGenerator({kValue}, [](int64_t) { return Dataset::Generator(); });
  EXPECT_THROW(Values(nothing), UserError);
}

TEST(From, GeneratorThatGotShorter) {
  int64_t records = 5;
  const Dataset changing = Dataset::FromGenerator({kValue}, [&](int64_t) -> Dataset::Generator {
    return [n = records](Block& out, int64_t row) mutable {
      *out.as<int64_t>(0, row) = n;
      return n-- > 0;
    };
  });
  Iterator it = changing.MakeIterator();
  for (int i = 0; i < 4; ++i) it.Next();
  const IteratorState state = it.state();
  records = 2;
  Iterator again = changing.MakeIterator();
  again.Restore(state);
  EXPECT_THAT(MessageOf<UserError>([&] { again.Next(); }), HasSubstr("found only 2"));
}

// ---- elements ----

TEST(Element, WrongField) {
  Iterator it = Numbers(3).MakeIterator();
  const Element* element = it.Next();
  EXPECT_THAT(MessageOf<UserError>([&] { element->Values<int64_t>("values"); }),
              AllOf(HasSubstr("\"values\""), HasSubstr("value")));
  EXPECT_THROW(element->Values<int32_t>("value"), UserError);
  EXPECT_THROW(element->Text("value"), UserError);
  EXPECT_THROW(element->Texts("value"), UserError);
  EXPECT_THAT(element->Dims("bytes"), ElementsAre(3));
  const Dataset words =
      Dataset::FromFunction({TextField("word")}, 1,
                            [](int64_t, Block& out, int64_t row) { out.SetText(0, row, "hello"); });
  Iterator text = words.MakeIterator();
  element = text.Next();
  EXPECT_EQ(element->Text("word"), "hello");
  EXPECT_THAT(element->Texts("word"), ElementsAre("hello"));
  EXPECT_THROW(element->Values<uint8_t>("word"), UserError);
}

// ---- iterators ----

TEST(Iterator, EndsEachEpochOnce) {
  Iterator it = Numbers(2).MakeIterator();
  EXPECT_THAT(testing::Following(it, 5),
              ElementsAre("value 0, bytes [3] 0 0 0", "value 1, bytes [3] 1 2 3", "end",
                          "value 0, bytes [3] 0 0 0", "value 1, bytes [3] 1 2 3"));
  for (const bool ahead : {false, true}) {
    Dataset empty = Numbers(2).Take(0);
    if (ahead) empty = empty.Prefetch();
    Iterator none = empty.MakeIterator();
    EXPECT_EQ(none.Next(), nullptr);
    EXPECT_EQ(none.Next(), nullptr);
    EXPECT_EQ(none.state().epoch, 2);
  }
}

TEST(Iterator, StateCountsElements) {
  Iterator it = Numbers(3).Shuffle(5).MakeIterator();
  EXPECT_EQ(it.state(), (IteratorState{5, 0, 0, 3, {}}));
  it.Next();
  EXPECT_EQ(it.state(), (IteratorState{5, 0, 1, 3, {}}));
  it.Next();
  it.Next();
  EXPECT_EQ(it.state(), (IteratorState{5, 0, 3, 3, {}}));
  EXPECT_EQ(it.Next(), nullptr);
  EXPECT_EQ(it.state(), (IteratorState{5, 1, 0, 3, {}}));
}

TEST(Iterator, OneOrderHoweverItIsRead) {
  ExpectOneOrder(Numbers(23), 80, 3);
  ExpectOneOrder(Numbers(23).Shuffle(4), 80, 3);
  ExpectOneOrder(Numbers(23).Shuffle(4).Batch(4), 25);
  ExpectOneOrder(Numbers(23).Shuffle(4).Repeat(), 100, 7);
  // More than one chunk.
  ExpectOneOrder(Numbers(3000).Shuffle(4), 7000, 997);
}

TEST(Iterator, RestoresWithoutReadingAgain) {
  std::atomic<int> reads = 0;
  const Dataset counted =
      Dataset::FromFunction({kValue}, 100000, [&](int64_t record, Block& out, int64_t row) {
        ++reads;
        *out.as<int64_t>(0, row) = record;
      });
  Iterator it = counted.Shuffle(1).Batch(10).MakeIterator();
  it.Restore({1, 7, 5000, 10000, {}});
  EXPECT_EQ(reads, 0);
  const std::vector<int64_t> order = [&] {
    std::vector<int64_t> positions(10);
    std::iota(positions.begin(), positions.end(), 50000);
    Permutation(1, 7, 100000).Apply(positions);
    return positions;
  }();
  const auto values = it.Next()->Values<int64_t>("value");
  EXPECT_EQ(std::vector<int64_t>(values.begin(), values.end()), order);
  EXPECT_LT(reads, 100000 / 4);  // one chunk
}

TEST(Iterator, RestoreRefusesOtherData) {
  Iterator it = Numbers(20).Shuffle(5).MakeIterator();
  EXPECT_THAT(MessageOf<UserError>([&] {
                it.Restore({5, 0, 0, 21, {}});
              }),
              AllOf(HasSubstr("21 records"), HasSubstr("found 20")));
  EXPECT_THAT(MessageOf<UserError>([&] {
                it.Restore({6, 0, 0, 20, {}});
              }),
              AllOf(HasSubstr("seed 6"), HasSubstr("seed 5")));
  EXPECT_THROW(it.Restore({5, 0, 21, 20, {}}), UserError);
  EXPECT_THROW(it.Restore({5, -1, 0, 20, {}}), UserError);
  EXPECT_THROW(it.Restore({5, 0, -1, 20, {}}), UserError);
  EXPECT_THROW(it.Restore({5, 0, 1, 20, {1}}), UserError);
  EXPECT_THROW(it.Restore({5, 0, 0, kUnknown, {}}), UserError);
  // Of streams: numbers that are missing, too many or out of range.
  Iterator stream = testing::AsStream(Numbers(20)).MakeIterator();
  for (int i = 0; i < 7; ++i) stream.Next();
  const IteratorState good = stream.state();
  EXPECT_THROW(stream.Restore({0, 0, 7, kUnknown, {}}), UserError);
  for (size_t i = 0; i < good.stream.size(); ++i) {
    IteratorState bad = good;
    bad.stream.resize(i);
    EXPECT_THROW(stream.Restore(bad), UserError) << i;
    bad = good;
    bad.stream[i] = -7;
    EXPECT_THROW(stream.Restore(bad), UserError) << i;
  }
  IteratorState longer = good;
  longer.stream.push_back(1);
  EXPECT_THAT(MessageOf<UserError>([&] { stream.Restore(longer); }), HasSubstr("1 numbers more"));
  stream.Restore(good);
  EXPECT_EQ(Rest(stream).size(), 13u);
}

TEST(Iterator, OptionsAreChecked) {
  EXPECT_THROW(Numbers(2).Prefetch(-1), UserError);
  EXPECT_THROW(Numbers(2).WithOptions({.workers = -1}), UserError);
  EXPECT_THROW(Numbers(2).WithOptions({.memory_budget = -1}), UserError);
  EXPECT_THROW(Numbers(2).WithOptions({.max_bad_records = -1}), UserError);
}

// Every record once in every epoch, whatever the sizes and threads.
TEST(Iterator, ExactlyOnce) {
  for (int64_t n : {1, 2, 5, 31, 32, 33, 100}) {
    for (int64_t batch : {1, 2, 7, 32, 200}) {
      for (int workers : {1, 2, 4}) {
        DatasetOptions options;
        options.workers = workers;
        Iterator it =
            Numbers(n).Shuffle(9).Batch(batch).Prefetch().WithOptions(options).MakeIterator();
        for (int epoch = 0; epoch < 3; ++epoch) {
          std::multiset<int64_t> seen;
          int64_t batches = 0;
          while (const Element* element = it.Next()) {
            ++batches;
            const auto values = element->Values<int64_t>("value");
            const auto weights = element->Values<float>("weight");
            ASSERT_EQ(values.size(), static_cast<size_t>(batch));
            for (size_t i = 0; i < values.size(); ++i) {
              if (weights[i] != 0) seen.insert(values[i]);
            }
          }
          ASSERT_EQ(batches, (n + batch - 1) / batch);
          ASSERT_EQ(seen.size(), static_cast<size_t>(n));
          int64_t next = 0;
          for (int64_t value : seen) ASSERT_EQ(value, next++) << n << " " << batch;
        }
      }
    }
  }
}

// No pause at an epoch's border: while the last elements of an epoch are being used, records of the
// next epoch have been read already.
TEST(Iterator, NextEpochBeginsBeforeThisOneEnds) {
  for (const bool stream : {false, true}) {
    std::mutex mutex;
    std::condition_variable changed;
    int64_t reads = 0;
    Dataset counted =
        Dataset::FromFunction({kValue}, 20, [&](int64_t record, Block& out, int64_t row) {
          *out.as<int64_t>(0, row) = record;
          std::lock_guard lock(mutex);
          ++reads;
          changed.notify_all();
        });
    if (stream) counted = testing::AsStream(counted);
    Iterator it = counted.Batch(2).Prefetch(4).MakeIterator();
    for (int i = 0; i < 9; ++i) ASSERT_NE(it.Next(), nullptr);
    // Nobody asks for more, and yet: the tenth batch and then those of the next epoch are read.
    // (If they were not, this would wait until the test's time is over.)
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return reads > 20; });
    }
    ASSERT_NE(it.Next(), nullptr);
    EXPECT_EQ(it.Next(), nullptr);
    EXPECT_THAT(testing::RenderNumbers(kValue, std::as_bytes(it.Next()->Values<int64_t>("value"))),
                "0 1");
  }
}

// Where records differ in size, how many are read at once follows what they take: large ones do not
// go over the budget because small ones were expected.
TEST(Iterator, LargeRecordsKeepToTheBudget) {
  std::atomic<int64_t> made = 0;
  const Dataset large = Dataset::FromFunction({Field{"list", ir::Shape(ir::DType::kU8, {kAny})}},
                                              200, [&](int64_t, Block& out, int64_t row) {
                                                ++made;
                                                const int64_t dims[] = {1 << 20};
                                                std::memset(out.SetCell(0, row, dims), 1, 1 << 20);
                                              });
  for (const Dataset& dataset : {large, testing::AsStream(large)}) {
    made = 0;
    Iterator it =
        dataset.Prefetch().WithOptions({.workers = 1, .memory_budget = 8 << 20}).MakeIterator();
    for (int64_t given = 1; given <= 100; ++given) {
      ASSERT_NE(it.Next(), nullptr);
      // 8 MiB of them wait, and chunks are at hand here and there.
      ASSERT_LE(made, given + 8 + 16);
    }
    EXPECT_LE(it.stats().most_bytes, 16 << 20);
  }
}

TEST(Iterator, StatsNameTheStages) {
  const auto same = [](const Block& in, Block& out) { out.ShareColumn(0, in, 0); };
  const Dataset numbers = Dataset::Range(0, 5000).Map({kValue}, same, "first");
  const Dataset stream = testing::AsStream(numbers).Map({kValue}, same, "second");
  for (const Dataset& dataset : {numbers, stream, stream.Batch(10)}) {
    Iterator it = dataset.Prefetch().MakeIterator();
    Rest(it);
    Rest(it);
    const EngineStats stats = it.stats();
    EXPECT_GE(stats.stages.at("first").records, 10000);
    if (dataset.size() == kUnknown) {
      EXPECT_GE(stats.stages.at("all").records, 10000);
      EXPECT_GE(stats.stages.at("second").records, 10000);
    }
    EXPECT_GT(stats.items, 0);
  }
  Iterator plain = numbers.MakeIterator();
  plain.Next();
  EXPECT_EQ(plain.stats().items, 0);
}

// ---- errors and bad records ----

// Record 7 throws what `fail` does.
Dataset Failing(const std::function<void()>& fail) {
  return Dataset::FromFunction({kValue}, 20, [fail](int64_t record, Block& out, int64_t row) {
    if (record == 7) fail();
    *out.as<int64_t>(0, row) = record;
  });
}

TEST(Errors, ReachNextInTheirPlace) {
  const auto fail = [] { throw std::runtime_error("seven"); };
  const auto map = [&](const Block& in, Block& out) {
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (*in.as<int64_t>(0, row) == 7) fail();
      *out.as<int64_t>(0, row) = *in.as<int64_t>(0, row);
    }
  };
  const auto predicate = [&](const Block& in, int64_t row) {
    if (*in.as<int64_t>(0, row) == 7) fail();
    return true;
  };
  const Dataset generator = Dataset::FromGenerator({kValue}, [&](int64_t) -> Dataset::Generator {
    return [&, next = 0](Block& out, int64_t row) mutable {
      if (next == 7) fail();
      *out.as<int64_t>(0, row) = next++;
      return true;
    };
  });
  const Dataset range = Dataset::Range(0, 20);
  const std::vector<Dataset> failing = {
      Failing(fail),
      range.Map({kValue}, map),
      range.Filter(predicate),
      testing::AsStream(range).Map({kValue}, map),
      testing::AsStream(range).Take(15).Filter(predicate),
      generator,
      generator.Map({kValue}, [](const Block& in, Block& out) { out.ShareColumn(0, in, 0); }),
      generator.Skip(0),
      generator.Repeat(2),
      range.Map({kValue}, map).Cache(),
      generator.Cache(),
      generator.ShuffleWindow(1, 1),
      generator.Concatenate(range),
      range.Take(3).Concatenate(Failing(fail).Skip(3)),
  };
  for (const Dataset& dataset : failing) {
    SCOPED_TRACE(dataset.source()->description());
    for (const bool ahead : {false, true}) {
      Iterator it = (ahead ? dataset.Prefetch() : dataset).MakeIterator();
      for (int64_t i = 0; i < 7; ++i) {
        ASSERT_EQ(it.Next()->Values<int64_t>("value")[0], i) << ahead;
      }
      const IteratorState state = it.state();
      EXPECT_THROW(it.Next(), std::runtime_error);
      EXPECT_THROW(it.Next(), std::runtime_error);
      EXPECT_EQ(it.state().position, 7);
      // What is saved now goes on before the record that failed.
      Iterator again = dataset.MakeIterator();
      again.Restore(state);
      EXPECT_THROW(again.Next(), std::runtime_error);
    }
  }
  // Several records in one element: the element fails.
  for (const Dataset& dataset : failing) {
    Iterator it = dataset.Batch(4).Prefetch().MakeIterator();
    ASSERT_NE(it.Next(), nullptr);
    EXPECT_THROW(it.Next(), std::runtime_error);
  }
}

TEST(Errors, BadRecordsAreLeftOut) {
  const Dataset bad = Failing([] { throw BadData("record 7 is broken"); });
  EXPECT_THAT(MessageOf<DataError>([&] { Values(bad); }), HasSubstr("record 7 is broken"));
  const Dataset allowed = bad.WithOptions({.max_bad_records = 1});
  std::vector<int64_t> left(20);
  std::iota(left.begin(), left.end(), 0);
  left.erase(left.begin() + 7);
  const auto plus = [](const Block& in, Block& out) {
    for (int64_t row = 0; row < in.rows(); ++row) {
      *out.as<int64_t>(0, row) = *in.as<int64_t>(0, row);
      if (*in.as<int64_t>(0, row) == 7) throw std::logic_error("a function met a bad record");
    }
  };
  const Dataset filtered = testing::AsStream(allowed);
  const auto all = [&]() -> std::vector<Dataset> {
    return {allowed,
            allowed.Map({kValue}, plus),
            allowed.Map({kValue}, plus).Map({kValue}, plus),
            filtered,
            filtered.Map({kValue}, plus),
            allowed.Cache(),
            allowed.Repeat(1),
            allowed.Take(10).Concatenate(allowed.Skip(10)),
            Dataset::Interleave({allowed.Skip(0)}, 1),
            filtered.Cache(),
            filtered.Batch(3).Unbatch(),
            allowed.Batch(20, true).Unbatch()};
  };
  for (const bool ahead : {false, true}) {
    for (const Dataset& dataset : all()) {
      SCOPED_TRACE(dataset.source()->description());
      Iterator it = (ahead ? dataset.Prefetch() : dataset).MakeIterator();
      for (int epoch = 0; epoch < 3; ++epoch) {
        std::vector<int64_t> values;
        while (const Element* element = it.Next()) {
          values.push_back(element->Values<int64_t>("value")[0]);
        }
        EXPECT_EQ(values, left);
      }
      // The same record in every epoch is one bad record.
      EXPECT_EQ(it.bad_records(), 1);
    }
  }
  // In a zip with good records the pair is left out.
  const Dataset other =
      Dataset::Range(100, 120).Map({Field{"other", kValue.shape}},
                                   [](const Block& in, Block& out) { out.ShareColumn(0, in, 0); });
  EXPECT_EQ(Epoch(Dataset::Zip({allowed, other}))[7], "value 8, other 108");
  EXPECT_EQ(Epoch(Dataset::Zip({other, allowed}).WithOptions({.max_bad_records = 1}))[7],
            "other 108, value 8");
}

TEST(Errors, BadRecordsInBatches) {
  const Dataset bad = Failing([] { throw BadData("record 7 is broken"); });
  const Dataset allowed = bad.WithOptions({.max_bad_records = 1});
  EXPECT_THAT(Epoch(allowed.Batch(6)),
              ElementsAre("value [6] 0 1 2 3 4 5, weight [6] 1 1 1 1 1 1",
                          "value [6] 6 0 8 9 10 11, weight [6] 1 0 1 1 1 1",
                          "value [6] 12 13 14 15 16 17, weight [6] 1 1 1 1 1 1",
                          "value [6] 18 19 0 0 0 0, weight [6] 1 1 0 0 0 0"));
  // Without a weight nothing would tell.
  EXPECT_THAT(MessageOf<UserError>([&] { Epoch(allowed.Batch(6, true)); }), HasSubstr("weight"));
  EXPECT_THROW(Epoch(allowed.Window(4)), UserError);
  // Behind a filter the record is gone before batches are made.
  EXPECT_EQ(Epoch(testing::AsStream(allowed).Batch(6))[1],
            "value [6] 6 8 9 10 11 12, weight [6] 1 1 1 1 1 1");
  // One more is one too many.
  const Dataset two =
      Dataset::FromFunction({kValue}, 20, [](int64_t record, Block& out, int64_t row) {
        if (record % 7 == 6) throw BadData("record {}", record);
        *out.as<int64_t>(0, row) = record;
      });
  EXPECT_THAT(
      MessageOf<DataError>([&] { Epoch(two.WithOptions({.max_bad_records = 1}).Batch(20)); }),
      AllOf(HasSubstr("max_bad_records = 1"), HasSubstr("record 13")));
}

}  // namespace
}  // namespace flatout::data
