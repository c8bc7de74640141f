#include "flatout/data/launch.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "flatout/data/dataset.h"
#include "flatout/data/order.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

SourcePtr Numbers(int64_t size) {
  std::vector<int64_t> ids(static_cast<size_t>(size));
  std::iota(ids.begin(), ids.end(), 100);
  std::vector<uint8_t> pairs;
  for (int64_t id : ids) {
    pairs.push_back(static_cast<uint8_t>(id));
    pairs.push_back(static_cast<uint8_t>(255 - id));
  }
  return std::make_shared<ArraysSource>(
      "numbers", std::vector<Array>{MakeArray("id", ir::Shape::Scalar(ir::DType::kI64), ids),
                                    MakeArray("pair", ir::Shape(ir::DType::kU8, {2}), pairs)});
}

SourcePtr Shuffled(SourcePtr source) {
  return Dataset::FromSource(std::move(source)).Shuffle(8).source();
}

// Goes through `epochs` epochs, checking all that a launch promises, and returns for every step the
// ids of its global batch.
std::vector<std::vector<int64_t>> Steps(const SourcePtr& dataset, BatchLayout layout, int epochs) {
  LaunchReader reader(dataset, layout);
  HostLaunch launch(reader);
  ReadContext context;
  std::vector<std::vector<int64_t>> all;
  IteratorState state = reader.Start();
  int64_t steps = 0;
  while (state.epoch < epochs) {
    LaunchPlan plan = reader.Plan(state);
    reader.Assemble(plan, context, launch);
    EXPECT_EQ(plan.epoch, state.epoch);
    EXPECT_GE(plan.steps, 1);
    EXPECT_LE(plan.steps, layout.steps_per_launch);
    EXPECT_EQ(plan.ends_epoch, plan.next.epoch != plan.epoch);
    int64_t real = 0;
    for (int64_t k = 0; k < layout.steps_per_launch; ++k) {
      std::vector<int64_t> ids;
      bool padding = false;
      for (int64_t r = 0; r < layout.replicas; ++r) {
        auto replica = static_cast<size_t>(r);
        for (int64_t b = 0; b < layout.rows; ++b) {
          auto row = static_cast<size_t>(k * layout.rows + b);
          int64_t id = launch.Values<int64_t>("id", replica)[row];
          auto pair = launch.Values<uint8_t>("pair", replica).subspan(2 * row, 2);
          float weight = launch.Values<float>("weight", replica)[row];
          if (weight == 1) {
            EXPECT_FALSE(padding) << "a record after a padding row";
            EXPECT_EQ(pair[0], static_cast<uint8_t>(id));
            EXPECT_EQ(pair[1], static_cast<uint8_t>(255 - id));
            ids.push_back(id);
          } else {
            padding = true;
            EXPECT_EQ(weight, 0);
            EXPECT_EQ(id, 0);
            EXPECT_EQ(pair[0], 0);
            EXPECT_EQ(pair[1], 0);
          }
        }
      }
      real += static_cast<int64_t>(ids.size());
      if (k < plan.steps) {
        EXPECT_FALSE(ids.empty());
        all.push_back(ids);
      } else {
        EXPECT_TRUE(ids.empty());
      }
    }
    EXPECT_EQ(real, plan.rows);
    steps += plan.steps;
    state = plan.next;
  }
  EXPECT_EQ(steps, epochs * reader.steps_per_epoch());
  return all;
}

// Every record once per epoch, in the data set's order, for all ways to cut it.
TEST(Launch, ExactlyOnce) {
  for (int64_t replicas : {1, 2, 3}) {
    for (int64_t rows : {1, 2, 4}) {
      const int64_t batch = replicas * rows;
      std::set<int64_t> sizes = {1,         replicas - 1,  replicas,  batch - 1,    batch,
                                 batch + 1, 2 * batch - 1, 2 * batch, 5 * batch + 1};
      sizes.erase(0);
      for (int64_t size : sizes) {
        const SourcePtr dataset = Shuffled(Numbers(size));
        for (int64_t k : {1, 2, 3, 7}) {
          SCOPED_TRACE(fmt::format("N={} R={} B={} K={}", size, replicas, rows, k));
          std::vector<int64_t> ids;
          for (const auto& step : Steps(dataset, {k, replicas, rows}, 3)) {
            ids.insert(ids.end(), step.begin(), step.end());
          }
          std::vector<int64_t> expected;
          for (int64_t epoch = 0; epoch < 3; ++epoch) {
            const Permutation order(8, epoch, size);
            for (int64_t i = 0; i < size; ++i) expected.push_back(100 + order[i]);
          }
          ASSERT_EQ(ids, expected);
        }
      }
    }
  }
}

// The records of each step depend on the global batch only.
TEST(Launch, SameStepsForAnyCut) {
  const SourcePtr dataset = Shuffled(Numbers(53));
  auto expected = Steps(dataset, {1, 1, 12}, 2);
  EXPECT_EQ(expected.size(), 10u);
  for (int64_t k : {1, 2, 3, 100}) {
    for (int64_t replicas : {1, 2, 3, 4, 6, 12}) {
      EXPECT_EQ(Steps(dataset, {k, replicas, 12 / replicas}, 2), expected) << k << " " << replicas;
    }
  }
}

TEST(Launch, DropRemainder) {
  const SourcePtr dataset = Numbers(53);
  auto steps =
      Steps(dataset, {.steps_per_launch = 3, .replicas = 2, .rows = 6, .drop_remainder = true}, 2);
  EXPECT_EQ(steps.size(), 8u);
  for (const auto& step : steps) EXPECT_EQ(step.size(), 12u);
  // A saved position in the part that is left out goes on with the next epoch.
  LaunchReader reader(dataset, {.replicas = 2, .rows = 6, .drop_remainder = true});
  EXPECT_EQ(reader.CheckState({0, 0, 50, 53, {}}), (IteratorState{0, 1, 0, 53, {}}));
}

TEST(Launch, BuffersAndShapes) {
  LaunchReader reader(Numbers(10), {.steps_per_launch = 4, .replicas = 2, .rows = 3});
  EXPECT_EQ(reader.LaunchShape(0), ir::Shape(ir::DType::kI64, {4, 3}));
  EXPECT_EQ(reader.LaunchShape(1), ir::Shape(ir::DType::kU8, {4, 3, 2}));
  EXPECT_EQ(reader.LaunchShape(2), ir::Shape(ir::DType::kF32, {4, 3}));
  EXPECT_EQ(reader.fields()[2].name, "weight");
  EXPECT_EQ(reader.launch_bytes(), 2 * 12 * (8 + 2 + 4));
  HostLaunch launch(reader);
  for (size_t r = 0; r < 2; ++r) {
    for (size_t f = 0; f < 3; ++f) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(launch.data(r, f)) % 64, 0u);
    }
  }
}

// A bad record in its place is a row of zeros without weight, and nothing moves.
TEST(Launch, BadRecordsAreRowsWithoutWeight) {
  class Holed : public ArraysSource {
   public:
    using ArraysSource::ArraysSource;
    void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
              Block& out) const override {
      ArraysSource::Read(context, epoch, records, out);
      for (size_t i = 0; i < records.size(); ++i) {
        if (records[i] % 5 == 3) out.Bad(static_cast<int64_t>(i), BadData("hole {}", records[i]));
      }
    }
  };
  std::vector<int32_t> ids(20);
  std::iota(ids.begin(), ids.end(), 1);
  const auto source = std::make_shared<Holed>(
      "holed", std::vector<Array>{MakeArray("id", ir::Shape::Scalar(ir::DType::kI32), ids)});
  for (const BatchLayout layout : {BatchLayout{2, 1, 6}, BatchLayout{1, 3, 4}}) {
    const LaunchReader reader(source, layout);
    HostLaunch launch(reader);
    BadRecords bad(4);
    ReadContext context(&bad);
    const LaunchPlan plan = reader.Plan(reader.Start());
    reader.Assemble(plan, context, launch);
    EXPECT_EQ(plan.rows, 12);
    EXPECT_EQ(launch.bad_rows(), 2);
    EXPECT_EQ(bad.count(), 2);
    std::vector<int32_t> found;
    for (size_t r = 0; r < static_cast<size_t>(layout.replicas); ++r) {
      const auto values = launch.Values<int32_t>("id", r);
      const auto weights = launch.Values<float>("weight", r);
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(weights[i], values[i] == 0 ? 0 : 1);
        found.push_back(values[i]);
      }
    }
    EXPECT_THAT(found, ::testing::ElementsAre(1, 2, 3, 0, 5, 6, 7, 8, 0, 10, 11, 12));
  }
  // One more than is allowed ends it, and says how many were.
  BadRecords few(1);
  ReadContext context(&few);
  const LaunchReader reader(source, {.rows = 20});
  HostLaunch launch(reader);
  EXPECT_THAT(testing::MessageOf<DataError>(
                  [&] { reader.Assemble(reader.Plan(reader.Start()), context, launch); }),
              ::testing::AllOf(::testing::HasSubstr("max_bad_records = 1"),
                               ::testing::HasSubstr("hole 8")));
}

TEST(Launch, FieldsOfManySizesAreRefused) {
  class Words : public Source {
   public:
    int64_t size() const override { return 1; }
    const std::vector<Field>& fields() const override { return fields_; }
    const std::string& description() const override { return description_; }
    void Read(ReadContext&, int64_t, std::span<const int64_t>, Block&) const override {}

   private:
    std::vector<Field> fields_ = {TextField("word")};
    std::string description_ = "words";
  };
  EXPECT_THAT(
      testing::MessageOf<UserError>([&] { LaunchReader(std::make_shared<Words>(), {.rows = 1}); }),
      ::testing::HasSubstr("word text[] differs in size"));
}

TEST(Launch, Refused) {
  EXPECT_THROW(LaunchReader(Numbers(3), {.steps_per_launch = 0}), UserError);
  EXPECT_THROW(LaunchReader(Numbers(3), {.replicas = 0}), UserError);
  EXPECT_THROW(LaunchReader(Numbers(3), {.rows = -1}), UserError);
}

}  // namespace
}  // namespace flatout::data
