#include "flatout/data/dataset.h"

#include <gmock/gmock.h>

#include <numeric>

#include "flatout/data/launch.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;

// Record i holds the number i, and three bytes made of it.
Dataset Numbers(int64_t size) {
  std::vector<int64_t> ids(static_cast<size_t>(size));
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<uint8_t> bytes;
  for (int64_t id : ids) {
    for (int64_t j = 1; j <= 3; ++j) bytes.push_back(static_cast<uint8_t>(id * j));
  }
  return Dataset::FromTensorSlices({MakeArray("id", ir::Shape::Scalar(ir::DType::kI64), ids),
                                    MakeArray("bytes", ir::Shape(ir::DType::kU8, {3}), bytes)});
}

std::vector<int64_t> Order(const Dataset& dataset, int64_t epoch = 0) {
  std::vector<int64_t> positions(static_cast<size_t>(dataset.size()));
  std::iota(positions.begin(), positions.end(), 0);
  dataset.order().Map(epoch, positions);
  return positions;
}

std::vector<int64_t> Sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<int64_t> Epoch(Iterator& it) {
  std::vector<int64_t> ids;
  while (const HostLaunch* batch = it.Next()) {
    auto values = batch->Values<int64_t>("id");
    ids.insert(ids.end(), values.begin(), values.begin() + batch->plan().rows);
  }
  return ids;
}

// ---- verbs ----

TEST(Verbs, InOrder) {
  EXPECT_THAT(Order(Numbers(4)), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(Numbers(4).size(), 4);
}

TEST(Verbs, Shuffle) {
  Dataset shuffled = Numbers(50).Shuffle(3);
  std::vector<int64_t> first = Order(shuffled, 0), second = Order(shuffled, 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, Order(shuffled, 0));
  EXPECT_EQ(Sorted(first), Order(Numbers(50)));
  EXPECT_EQ(Sorted(second), Order(Numbers(50)));
  EXPECT_NE(first, Order(Numbers(50).Shuffle(4), 0));
}

TEST(Verbs, TakeAndSkip) {
  EXPECT_THAT(Order(Numbers(5).Take(2)), ElementsAre(0, 1));
  EXPECT_THAT(Order(Numbers(5).Take(9)), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(Order(Numbers(5).Skip(3)), ElementsAre(3, 4));
  EXPECT_EQ(Numbers(5).Skip(7).size(), 0);
  EXPECT_THAT(Order(Numbers(9).Skip(2).Take(3)), ElementsAre(2, 3, 4));
  EXPECT_THROW(Numbers(5).Take(-1), UserError);
  EXPECT_THROW(Numbers(5).Skip(-1), UserError);
}

TEST(Verbs, Shard) {
  EXPECT_THAT(Order(Numbers(7).Shard(3, 0)), ElementsAre(0, 3, 6));
  EXPECT_THAT(Order(Numbers(7).Shard(3, 1)), ElementsAre(1, 4));
  EXPECT_THAT(Order(Numbers(7).Shard(3, 2)), ElementsAre(2, 5));
  EXPECT_EQ(Numbers(2).Shard(3, 2).size(), 0);
  EXPECT_THROW(Numbers(5).Shard(3, 3), UserError);
  EXPECT_THROW(Numbers(5).Shard(0, 0), UserError);
  // Sharding after the shuffle: disjoint and complete in every epoch.
  std::vector<int64_t> all;
  for (int i = 0; i < 4; ++i) {
    std::vector<int64_t> part = Order(Numbers(50).Shuffle(1).Shard(4, i), 2);
    all.insert(all.end(), part.begin(), part.end());
  }
  EXPECT_EQ(Sorted(all), Order(Numbers(50)));
}

TEST(Verbs, Repeat) {
  EXPECT_THAT(Order(Numbers(3).Repeat(2)), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_EQ(Numbers(3).Repeat(0).size(), 0);
  EXPECT_EQ(Numbers(3).Repeat().size(), kInfinite);
  EXPECT_THAT(Order(Numbers(3).Repeat().Skip(2).Take(5)), ElementsAre(2, 0, 1, 2, 0));
  // Every pass is shuffled anew, and epoch e of Repeat(2) goes through passes 2e and 2e + 1.
  Dataset once = Numbers(30).Shuffle(1);
  for (int64_t epoch : {0, 3}) {
    std::vector<int64_t> expected = Order(once, 2 * epoch);
    for (int64_t id : Order(once, 2 * epoch + 1)) expected.push_back(id);
    EXPECT_EQ(Order(once.Repeat(2), epoch), expected);
  }
  EXPECT_THROW(Numbers(3).Repeat().Shuffle(1), UserError);
  // Shuffled after Repeat(2): each record twice.
  std::vector<int64_t> twice = Sorted(Order(Numbers(3).Repeat(2).Shuffle(1)));
  EXPECT_THAT(twice, ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(Verbs, EndlessIterator) {
  Iterator it = Numbers(3).Repeat().Batch(2).MakeIterator();
  std::vector<int64_t> ids;
  for (int i = 0; i < 4; ++i) {
    for (int64_t id : it.Next()->Values<int64_t>("id")) ids.push_back(id);
  }
  EXPECT_THAT(ids, ElementsAre(0, 1, 2, 0, 1, 2, 0, 1));
  EXPECT_EQ(Numbers(3).Repeat().Batch(2).size(), kInfinite);
}

TEST(Verbs, Map) {
  Dataset squares = Numbers(100000).Map(
      {Field{"square", ir::Shape(ir::DType::kF32, {2})}}, [](const Chunk& in, const Chunk& out) {
        const auto* ids = reinterpret_cast<const int64_t*>(in.fields[0]);
        auto* squares = reinterpret_cast<float*>(out.fields[0]);
        for (int64_t i = 0; i < in.records; ++i) {
          squares[2 * i] = static_cast<float>(ids[i]);
          squares[2 * i + 1] = static_cast<float>(in.fields[1][3 * i + 1]);
        }
      });
  EXPECT_EQ(squares.size(), 100000);
  // More records than one chunk holds.
  Iterator it = squares.Skip(7).Batch(50000).MakeIterator();
  auto values = it.Next()->Values<float>("square");
  for (int64_t i = 0; i < 50000; ++i) {
    ASSERT_EQ(values[static_cast<size_t>(2 * i)], static_cast<float>(i + 7));
    ASSERT_EQ(values[static_cast<size_t>(2 * i + 1)], static_cast<float>((2 * (i + 7)) & 255));
  }
}

// ---- batches ----

TEST(Batch, PaddedAndMasked) {
  Iterator it = Numbers(5).Batch(3).MakeIterator();
  const HostLaunch* batch = it.Next();
  EXPECT_THAT(batch->Values<int64_t>("id"), ElementsAre(0, 1, 2));
  EXPECT_THAT(batch->Values<float>("weight"), ElementsAre(1, 1, 1));
  EXPECT_FALSE(batch->plan().ends_epoch);
  batch = it.Next();
  EXPECT_EQ(batch->shape(1), ir::Shape(ir::DType::kU8, {1, 3, 3}));
  EXPECT_THAT(batch->Values<int64_t>("id"), ElementsAre(3, 4, 0));
  EXPECT_THAT(batch->Values<uint8_t>("bytes"), ElementsAre(3, 6, 9, 4, 8, 12, 0, 0, 0));
  EXPECT_THAT(batch->Values<float>("weight"), ElementsAre(1, 1, 0));
  EXPECT_EQ(batch->plan().rows, 2);
  EXPECT_TRUE(batch->plan().ends_epoch);
  EXPECT_EQ(it.Next(), nullptr);
  EXPECT_THAT(it.Next()->Values<int64_t>("id"), ElementsAre(0, 1, 2));
}

TEST(Batch, DropRemainder) {
  BatchedDataset dataset = Numbers(5).Batch(2, true);
  EXPECT_EQ(dataset.size(), 2);
  Iterator it = dataset.MakeIterator();
  EXPECT_THAT(Epoch(it), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Epoch(it), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(Numbers(5).Batch(2).size(), 3);
  EXPECT_THAT(MessageOf<UserError>([] { Numbers(5).Batch(6, true).MakeIterator(); }),
              AllOf(HasSubstr("5 records"), HasSubstr("global batch 6")));
}

TEST(Batch, Refused) {
  EXPECT_THROW(Numbers(5).Batch(0), UserError);
  EXPECT_THROW(Numbers(5).Batch(1).Prefetch(1, 0), UserError);
  EXPECT_THROW(Numbers(5).Take(0).Batch(1).MakeIterator(), DataError);
  EXPECT_THROW(Numbers(5).Batch(int64_t{1} << 62).MakeIterator(), UserError);
  Dataset weighted = Dataset::FromTensorSlices(
      {MakeArray("weight", ir::Shape::Scalar(ir::DType::kF32), std::vector<float>{1})});
  EXPECT_THAT(MessageOf<UserError>([&] { weighted.Batch(1).MakeIterator(); }),
              HasSubstr("\"weight\""));
}

TEST(Batch, WrongField) {
  Iterator it = Numbers(5).Batch(3).MakeIterator();
  const HostLaunch* batch = it.Next();
  EXPECT_THAT(MessageOf<UserError>([&] { batch->Values<int64_t>("ids"); }),
              AllOf(HasSubstr("\"ids\""), HasSubstr("id i64[]")));
  EXPECT_THROW(batch->Values<int32_t>("id"), UserError);
}

TEST(Arrays, Refused) {
  ir::Shape scalar = ir::Shape::Scalar(ir::DType::kI32);
  std::vector<int32_t> two = {1, 2}, three = {1, 2, 3}, none;
  EXPECT_THAT(
      MessageOf<DataError>([&] {
        Dataset::FromTensorSlices({MakeArray("a", scalar, two), MakeArray("b", scalar, three)});
      }),
      AllOf(HasSubstr("field a has 2 records"), HasSubstr("field b has 3")));
  EXPECT_THAT(
      MessageOf<DataError>([&] { Dataset::FromTensorSlices({MakeArray("a", scalar, none)}); }),
      HasSubstr("no records"));
  EXPECT_THROW(Dataset::FromTensorSlices({}), UserError);
  EXPECT_THROW(
      Dataset::FromTensorSlices({MakeArray("a", scalar, two), MakeArray("a", scalar, two)}),
      UserError);
  EXPECT_THROW(MakeArray("a", ir::Shape(ir::DType::kI32, {2}), three), UserError);
  EXPECT_THROW(MakeArray("a", ir::Shape::Scalar(ir::DType::kI64), three), UserError);
  EXPECT_THROW(Dataset::FromSource(nullptr), UserError);
}

// ---- prefetch and restore ----

TEST(Iterator, PrefetchKeepsTheOrder) {
  Dataset dataset = Numbers(103).Shuffle(5);
  Iterator plain = dataset.Batch(7).MakeIterator();
  std::vector<std::vector<int64_t>> expected;
  for (int epoch = 0; epoch < 4; ++epoch) expected.push_back(Epoch(plain));
  for (int depth : {1, 2, 8}) {
    for (int workers : {1, 3}) {
      Iterator it = dataset.Batch(7).Prefetch(depth, workers).MakeIterator();
      for (int epoch = 0; epoch < 4; ++epoch) {
        EXPECT_EQ(Epoch(it), expected[static_cast<size_t>(epoch)]) << depth << " " << workers;
      }
    }
  }
}

TEST(Iterator, RestoreAnywhere) {
  Dataset dataset = Numbers(20).Shuffle(5);
  Iterator whole = dataset.Batch(3).MakeIterator();
  std::vector<int64_t> ids;
  std::vector<IteratorState> states = {whole.state()};
  std::vector<size_t> counts = {0};
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (const HostLaunch* batch = whole.Next()) {
      auto values = batch->Values<int64_t>("id");
      ids.insert(ids.end(), values.begin(), values.begin() + batch->plan().rows);
      states.push_back(whole.state());
      counts.push_back(ids.size());
    }
  }
  ASSERT_EQ(ids.size(), 60u);
  for (size_t s = 0; s < states.size(); ++s) {
    // Another batch size and other prefetching go on with the same records.
    for (int64_t batch : {3, 4}) {
      for (int depth : {0, 2}) {
        Iterator it = dataset.Batch(batch).Prefetch(depth).MakeIterator();
        it.Next();
        it.Restore(states[s]);
        EXPECT_EQ(it.state(), states[s]);
        std::vector<int64_t> rest;
        while (rest.size() < ids.size() - counts[s]) {
          for (int64_t id : Epoch(it)) rest.push_back(id);
        }
        EXPECT_EQ(rest,
                  std::vector<int64_t>(ids.begin() + static_cast<int64_t>(counts[s]), ids.end()))
            << s << " " << batch << " " << depth;
      }
    }
  }
}

TEST(Iterator, RestoreAtAnyRecord) {
  Dataset dataset = Numbers(20).Shuffle(5);
  for (int64_t position = 0; position <= 20; ++position) {
    Iterator it = dataset.Batch(6).MakeIterator();
    it.Restore({5, 2, position, 20});
    std::vector<int64_t> expected = Order(dataset, position == 20 ? 3 : 2);
    if (position < 20) expected.erase(expected.begin(), expected.begin() + position);
    EXPECT_EQ(Epoch(it), expected);
  }
}

TEST(Iterator, RestoreRefusesOtherData) {
  Iterator it = Numbers(20).Shuffle(5).Batch(6).MakeIterator();
  EXPECT_THAT(MessageOf<UserError>([&] {
                it.Restore({5, 0, 0, 21});
              }),
              AllOf(HasSubstr("21 records"), HasSubstr("found 20")));
  EXPECT_THAT(MessageOf<UserError>([&] {
                it.Restore({6, 0, 0, 20});
              }),
              AllOf(HasSubstr("seed 6"), HasSubstr("seed 5")));
  EXPECT_THROW(it.Restore({5, 0, 21, 20}), UserError);
  EXPECT_THROW(it.Restore({5, -1, 0, 20}), UserError);
  EXPECT_THROW(it.Restore({5, 0, -1, 20}), UserError);
}

TEST(PipelineOptions, Read) {
  PipelineOptions options = ReadPipelineOptions(
      Config::ParseToml("source = 'x'\nshuffle = false\nprefetch_memory = '1MiB'", "run.toml"));
  EXPECT_FALSE(options.shuffle);
  EXPECT_EQ(options.prefetch_bytes(), 1 << 20);
  for (const char* bad :
       {"prefetch = 0", "workers = 0", "prefetch_memory = 'much'", "prefetch_memory = '0'"}) {
    EXPECT_THAT(
        MessageOf<UserError>([&] { ReadPipelineOptions(Config::ParseToml(bad, "run.toml")); }),
        HasSubstr("run.toml:1"));
  }
}

}  // namespace
}  // namespace flatout::data
