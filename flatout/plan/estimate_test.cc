#include "flatout/plan/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"

namespace flatout::plan {
namespace {

using ir::DType;
using ir::Graph;
using ir::Shape;
using ir::Value;

constexpr int64_t kN = 1024;
constexpr double kMatrix = 4.0 * kN * kN;  // bytes of f32[kN, kN]

Value Parameter(Graph& graph) { return graph.AddParameter(Shape(DType::kF32, {kN, kN}), "x"); }

TEST(MeasureWorkTest, AChainOfElementwiseOpsIsOneKernel) {
  Graph graph;
  const Value x = Parameter(graph), y = Parameter(graph);
  graph.SetOutputs({ir::Tanh(ir::Exp(x * y) + 1.0) * x});
  const StepWork work = MeasureWork(graph);
  EXPECT_EQ(work.kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(work.bytes, 3 * kMatrix) << "x and y read once, the result written";
  EXPECT_DOUBLE_EQ(work.launches, 1);
  EXPECT_DOUBLE_EQ(work.matrix_flops, 0);
}

TEST(MeasureWorkTest, AProductReadsItsOperandsFromMemory) {
  Graph graph;
  const Value x = Parameter(graph), y = Parameter(graph);
  graph.SetOutputs({ir::Tanh(ir::MatMul(x, ir::Exp(y)))});
  const StepWork work = MeasureWork(graph);
  EXPECT_EQ(work.kernels.size(), 3u) << "exp, product, tanh";
  EXPECT_DOUBLE_EQ(work.bytes, (2 + 3 + 2) * kMatrix);
  EXPECT_DOUBLE_EQ(work.matrix_flops, 2.0 * kN * kN * kN);
  EXPECT_GT(work.flops, work.matrix_flops);
}

TEST(MeasureWorkTest, TransposedOperandsAreReadAsTheyAre) {
  Graph graph;
  const Value x = Parameter(graph), y = Parameter(graph);
  graph.SetOutputs({ir::MatMul(x, ir::Transpose(y, {1, 0}))});
  EXPECT_DOUBLE_EQ(MeasureWork(graph).bytes, 3 * kMatrix);
}

TEST(MeasureWorkTest, AReductionTakesWhatItReadsWithIt) {
  Graph graph;
  graph.SetOutputs({ir::ReduceSum(ir::Exp(Parameter(graph)), {1})});
  const StepWork work = MeasureWork(graph);
  EXPECT_EQ(work.kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(work.bytes, kMatrix + 4 * kN);
}

TEST(MeasureWorkTest, ResultsOfOneShapeFromOneInputShareAKernel) {
  // As Adam's two moments and variable.
  Graph graph;
  const Value g = Parameter(graph), m = Parameter(graph), v = Parameter(graph);
  const Value p = Parameter(graph);
  const Value next_m = m * 0.9 + g * 0.1;
  const Value next_v = v * 0.999 + ir::Square(g) * 0.001;
  graph.SetOutputs({p - next_m / ir::Sqrt(next_v), next_m, next_v});
  const StepWork work = MeasureWork(graph);
  EXPECT_EQ(work.kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(work.bytes, 7 * kMatrix);
}

TEST(MeasureWorkTest, ASliceReadsOnlyItsPart) {
  Graph graph;
  graph.SetOutputs({ir::Exp(ir::SliceAxis(Parameter(graph), 0, 0, kN / 4))});
  EXPECT_DOUBLE_EQ(MeasureWork(graph).bytes, kMatrix / 2);
}

TEST(MeasureWorkTest, AScanRunsItsBodyManyTimes) {
  const auto work_of = [](int64_t length) {
    Graph graph;
    const Value start = Parameter(graph), w = Parameter(graph);
    const std::vector<Value> constants = {w}, carry = {start};
    graph.SetOutputs({ir::Scan(graph, length, constants, carry, {},
                               [](Graph&, std::span<const Value> arguments) {
                                 return std::vector<Value>{ir::MatMul(arguments[1], arguments[0])};
                               })[0]});
    return MeasureWork(graph);
  };
  EXPECT_DOUBLE_EQ(work_of(7).matrix_flops, 7 * work_of(1).matrix_flops);
  EXPECT_DOUBLE_EQ(work_of(7).launches, 7 * work_of(1).launches);
}

TEST(MeasureWorkTest, AllReducesAreCountedNotTimedAsKernels) {
  Graph graph;
  const std::vector<Value> values = {Parameter(graph), Parameter(graph)};
  const std::vector<Value> summed = ir::AllReduce(values, ir::Reduction::kSum, 8);
  graph.SetOutputs({summed[0], summed[1]});
  const StepWork work = MeasureWork(graph);
  EXPECT_DOUBLE_EQ(work.all_reduce_bytes, 2 * kMatrix);
  EXPECT_DOUBLE_EQ(work.all_reduces, 1);
  EXPECT_TRUE(work.kernels.empty());
}

// A card with round numbers.
xla::Card Card() {
  xla::Card card;
  card.name = "round";
  card.memory_bandwidth = 1e12;
  card.peak_flops = {{DType::kF32, 1e13}, {DType::kBF16, 4e14}, {DType::kF16, 4e14}};
  card.tf32_flops = 1e14;
  card.link_bandwidth = 1e11;
  card.cores = 100;
  return card;
}

StepWork Work(double matrix_flops, double bytes, DType dtype = DType::kF32) {
  StepWork work;
  KernelWork kernel;
  kernel.matrix_flops = matrix_flops;
  kernel.bytes = bytes;
  kernel.dtype = dtype;
  kernel.tiles = 1e6;
  work.kernels = {kernel};
  work.matrix_flops = work.flops = matrix_flops;
  work.bytes = bytes;
  work.launches = 1;
  return work;
}

StepEstimate Estimate(const xla::Card& card, const StepWork& work, StepQuestion ask = {}) {
  ask.card = &card;
  if (ask.samples == 0) ask.samples = 100;
  return EstimateStep(work, ask);
}

TEST(EstimateStepTest, ArithmeticAtTheCardsPeakForTheDtype) {
  const xla::Card card = Card();
  const StepEstimate tf32 = Estimate(card, Work(1e13, 1e6));
  EXPECT_EQ(tf32.limit, Limit::kArithmetic);
  EXPECT_NEAR(tf32.arithmetic, 0.1 / Efficiency().matrix.likely, 1e-9);
  const StepEstimate bf16 = Estimate(card, Work(1e13, 1e6, DType::kBF16));
  EXPECT_NEAR(tf32.arithmetic / bf16.arithmetic, 4, 1e-9);
  EXPECT_EQ(ArithmeticName(card, DType::kF32), "tf32");
  EXPECT_EQ(ArithmeticName(card, DType::kBF16), "bf16");
}

TEST(EstimateStepTest, TheSlowerOfArithmeticAndMemoryCounts) {
  const xla::Card card = Card();
  const StepEstimate estimate = Estimate(card, Work(1e9, 1e12));
  EXPECT_EQ(estimate.limit, Limit::kMemory);
  EXPECT_NEAR(estimate.memory, 1 / Efficiency().memory.likely, 1e-9);
  EXPECT_EQ(estimate.arithmetic, 0);
}

TEST(EstimateStepTest, PartsAddUpAndTheRangeHoldsTheLikely) {
  const xla::Card card = Card();
  StepWork work = Work(1e11, 1e8);
  work.launches = 500;
  work.all_reduce_bytes = 1e8;
  const StepEstimate estimate = Estimate(card, work, {.gpus = 8, .samples = 800});
  EXPECT_NEAR(estimate.seconds.likely,
              estimate.arithmetic + estimate.memory + estimate.launches + estimate.all_reduce,
              1e-12);
  EXPECT_LT(estimate.seconds.low, estimate.seconds.likely);
  EXPECT_GT(estimate.seconds.high, estimate.seconds.likely);
  EXPECT_DOUBLE_EQ(estimate.samples_per_second.likely, 800 / estimate.seconds.likely);
  EXPECT_DOUBLE_EQ(estimate.samples_per_second.low, 800 / estimate.seconds.high);
}

TEST(EstimateStepTest, ManySmallKernelsWaitForTheirStart) {
  const xla::Card card = Card();
  StepWork work = Work(1e6, 1e4);
  work.launches = 1000;
  EXPECT_EQ(Estimate(card, work).limit, Limit::kLaunches);
}

TEST(EstimateStepTest, ASmallProductDoesNotFillTheCard) {
  const xla::Card card = Card();
  StepWork small = Work(1e10, 1e3);
  small.kernels[0].tiles = 10;
  EXPECT_NEAR(Estimate(card, small).arithmetic / Estimate(card, Work(1e10, 1e3)).arithmetic, 10,
              1e-6)
      << "10 pieces on 100 multiprocessors";
}

TEST(EstimateStepTest, MfuIsOfTheModelsFlopsAndAllCards) {
  const xla::Card card = Card();
  const StepQuestion ask{.gpus = 2, .samples = 100, .flops_per_sample = 1e11};
  const StepEstimate estimate = Estimate(card, Work(1e13, 1e6), ask);
  EXPECT_DOUBLE_EQ(estimate.peak_flops, 2e14);
  EXPECT_NEAR(estimate.mfu.likely, 1e13 / estimate.seconds.likely / 2e14, 1e-9);
  EXPECT_LE(estimate.mfu.high, 1);
}

TEST(EstimateStepTest, TheCompilersTrafficReplacesOurs) {
  const xla::Card card = Card();
  const StepEstimate ours = Estimate(card, Work(0, 1e11));
  const StepEstimate theirs = Estimate(card, Work(0, 1e11), {.compiler_bytes = 2e11});
  EXPECT_NEAR(theirs.memory, 2 * ours.memory, 1e-9);
  const StepEstimate absurd = Estimate(card, Work(0, 1e11), {.compiler_bytes = 1e15});
  EXPECT_NEAR(absurd.memory, 3 * ours.memory, 1e-9) << "within a factor of 3";
}

TEST(AllReduceTest, ARingSendsEverythingAlmostTwice) {
  Efficiency ideal;
  ideal.link = {1, 1, 1};
  ideal.hop = {0, 0, 0};
  EXPECT_DOUBLE_EQ(AllReduceSeconds(1e9, 1, 1e11, ideal).likely, 0);
  EXPECT_DOUBLE_EQ(AllReduceSeconds(1e9, 2, 1e11, ideal).likely, 0.01);
  EXPECT_DOUBLE_EQ(AllReduceSeconds(1e9, 8, 1e11, ideal).likely, 2 * 7.0 / 8 * 0.01);
  const Range real = AllReduceSeconds(1e9, 8, 1e11);
  EXPECT_LT(real.low, real.likely);
  EXPECT_LT(real.likely, real.high);
}

TEST(EstimateStepTest, ACardWithoutBf16ComputesItInF32) {
  xla::Card card = Card();
  card.peak_flops.erase(DType::kBF16);
  card.tf32_flops = 0;
  EXPECT_EQ(ArithmeticName(card, DType::kBF16), "f32 (no bf16 units)");
  EXPECT_EQ(ArithmeticName(card, DType::kF32), "f32");
  EXPECT_NEAR(Estimate(card, Work(1e13, 1e6, DType::kBF16)).arithmetic,
              Estimate(card, Work(1e13, 1e6)).arithmetic, 1e-9);
}

}  // namespace
}  // namespace flatout::plan
