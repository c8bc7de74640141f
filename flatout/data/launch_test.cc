#include "flatout/data/launch.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

Dataset Numbers(int64_t size) {
  std::vector<int64_t> ids(static_cast<size_t>(size));
  std::iota(ids.begin(), ids.end(), 100);
  std::vector<uint8_t> pairs;
  for (int64_t id : ids) {
    pairs.push_back(static_cast<uint8_t>(id));
    pairs.push_back(static_cast<uint8_t>(255 - id));
  }
  return Dataset::FromTensorSlices({MakeArray("id", ir::Shape::Scalar(ir::DType::kI64), ids),
                                    MakeArray("pair", ir::Shape(ir::DType::kU8, {2}), pairs)});
}

// Goes through `epochs` epochs, checking all that a launch promises, and returns for every step the
// ids of its global batch.
std::vector<std::vector<int64_t>> Steps(const Dataset& dataset, BatchLayout layout, int epochs) {
  LaunchReader reader(dataset, layout);
  HostLaunch launch(reader);
  std::vector<std::vector<int64_t>> all;
  IteratorState state = reader.Start();
  int64_t steps = 0;
  while (state.epoch < epochs) {
    LaunchPlan plan = reader.Plan(state);
    reader.Assemble(plan, launch);
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
        Dataset dataset = Numbers(size).Shuffle(8);
        for (int64_t k : {1, 2, 3, 7}) {
          SCOPED_TRACE(fmt::format("N={} R={} B={} K={}", size, replicas, rows, k));
          std::vector<int64_t> ids;
          for (const auto& step : Steps(dataset, {k, replicas, rows}, 3)) {
            ids.insert(ids.end(), step.begin(), step.end());
          }
          std::vector<int64_t> expected;
          for (int64_t epoch = 0; epoch < 3; ++epoch) {
            std::vector<int64_t> order(static_cast<size_t>(size));
            std::iota(order.begin(), order.end(), 0);
            dataset.order().Map(epoch, order);
            for (int64_t i : order) expected.push_back(100 + i);
          }
          ASSERT_EQ(ids, expected);
        }
      }
    }
  }
}

// The records of each step depend on the global batch only.
TEST(Launch, SameStepsForAnyCut) {
  Dataset dataset = Numbers(53).Shuffle(8);
  auto expected = Steps(dataset, {1, 1, 12}, 2);
  EXPECT_EQ(expected.size(), 10u);
  for (int64_t k : {1, 2, 3, 100}) {
    for (int64_t replicas : {1, 2, 3, 4, 6, 12}) {
      EXPECT_EQ(Steps(dataset, {k, replicas, 12 / replicas}, 2), expected) << k << " " << replicas;
    }
  }
}

TEST(Launch, DropRemainder) {
  Dataset dataset = Numbers(53);
  auto steps =
      Steps(dataset, {.steps_per_launch = 3, .replicas = 2, .rows = 6, .drop_remainder = true}, 2);
  EXPECT_EQ(steps.size(), 8u);
  for (const auto& step : steps) EXPECT_EQ(step.size(), 12u);
  // A saved position in the part that is left out goes on with the next epoch.
  LaunchReader reader(dataset, {.replicas = 2, .rows = 6, .drop_remainder = true});
  EXPECT_EQ(reader.CheckState({0, 0, 50, 53}), (IteratorState{0, 1, 0, 53}));
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

TEST(Launch, Refused) {
  EXPECT_THROW(LaunchReader(Numbers(3), {.steps_per_launch = 0}), UserError);
  EXPECT_THROW(LaunchReader(Numbers(3), {.replicas = 0}), UserError);
  EXPECT_THROW(LaunchReader(Numbers(3), {.rows = -1}), UserError);
}

}  // namespace
}  // namespace flatout::data
