#include "flatout/plan/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "flatout/base/config.h"
#include "flatout/nn/layers.h"
#include "flatout/plan/batch_choice.h"

namespace flatout::plan {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

// 64 features, two hidden layers of 256 and 128, 10 classes; Adam.
struct Net {
  explicit Net(int64_t rows, const std::string& policy = "float32")
      : model(nn::Model::Sequential(nn::Input({64}, ir::DType::kF32, "x"),
                                    {nn::Dense({.units = 256, .activation = "relu"}),
                                     nn::Dense({.units = 128, .activation = "tanh"}),
                                     nn::Dense({.units = 10, .common = {.name = "head"}})})),
        optimizer(optim::OptimizerFromConfig(Config(std::string("Adam")))),
        loss(nn::LossFromConfig(
            Config::Table({{"class", Config(std::string("SparseCategoricalCrossentropy"))},
                           {"from_logits", Config(true)}}))) {
    spec.model = &model;
    spec.optimizer = optimizer.get();
    spec.loss = loss.get();
    spec.policy = nn::Policy::Named(policy);
    spec.field_shapes = {ir::Shape(ir::DType::kF32, {rows, 64}),
                         ir::Shape(ir::DType::kI32, {rows})};
    spec.field_names = {"x", "y"};
    spec.input_fields = {0};
    spec.target_field = 1;
  }
  nn::Model model;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<nn::Loss> loss;
  step::StepSpec spec;
};

constexpr int64_t kWeights = 4 * (64 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10);

const LayerBytes& Layer(const MemoryPlan& plan, const std::string& name) {
  for (const LayerBytes& layer : plan.layers) {
    if (layer.layer == name) return layer;
  }
  throw std::runtime_error("no layer " + name);
}

// The logits of a large vocabulary are there at the peak, or one block of them.
TEST(MemoryPlanTest, TheLossInBlocksNeedsOneBlockOfLogits) {
  constexpr int64_t kRows = 8, kLength = 128, kWords = 8192;
  const nn::Tensor tokens = nn::Input({kLength}, ir::DType::kI32, "tokens");
  const nn::LayerPtr table =
      nn::ReversibleEmbedding({.input_dim = kWords, .output_dim = 16, .common = {.name = "table"}});
  const nn::Model model(
      {tokens}, {table(nn::LayerNormalization({.common = {.name = "norm"}})(table(tokens)))});
  Net net(kRows);
  net.spec.model = &model;
  net.spec.field_shapes.assign(2, ir::Shape(ir::DType::kI32, {kRows, kLength}));
  net.spec.loss_blocks = 1;
  const MemoryPlan whole = PlanMemory(net.spec);
  net.spec.loss_blocks = 0;  // 32 MiB: two of 16
  const MemoryPlan blocks = PlanMemory(net.spec);
  EXPECT_EQ(whole.loss_blocks, 1);
  EXPECT_EQ(blocks.loss_blocks, 2);
  EXPECT_THAT(whole.ToString(), Not(HasSubstr("blocks")));
  EXPECT_THAT(blocks.ToString(), HasSubstr("8 rows, the loss in 2 blocks, float32"));
  const int64_t logits = kRows * kLength * kWords * 4;
  EXPECT_GE(whole.temporaries(), logits);
  EXPECT_LE(blocks.temporaries(), whole.temporaries() - logits / 3);
  EXPECT_EQ(Layer(blocks, "table").parameters, kWords * 16 * 4);
  // What is there at the peak is the layers' and the loss's.
  for (const LayerBytes& layer : blocks.layers) {
    EXPECT_THAT(layer.layer, ::testing::AnyOf("table", "norm", "loss", "optimizer", "step"));
  }
}

TEST(MemoryPlanTest, StateAndBatchAreExact) {
  Net net(512);
  net.spec.steps_per_launch = 3;
  const MemoryPlan plan = PlanMemory(net.spec, 2);
  EXPECT_EQ(plan.program, "training");
  EXPECT_EQ(plan.rows, 512);
  EXPECT_EQ(plan.micro_rows, 512);
  EXPECT_EQ(plan.parameters, kWeights + 8);  // and the counters step and halted
  EXPECT_EQ(plan.optimizer, 2 * kWeights);
  EXPECT_EQ(plan.batch, 2 * 3 * 512 * (4 * 64 + 4 + 4));
  EXPECT_EQ(Layer(plan, "dense").parameters, 4 * (64 * 256 + 256));
  EXPECT_EQ(Layer(plan, "dense").optimizer, 8 * (64 * 256 + 256));
  EXPECT_EQ(Layer(plan, "head").parameters, 4 * (128 * 10 + 10));
}

TEST(MemoryPlanTest, ActivationsGrowWithTheRows) {
  const MemoryPlan one = PlanMemory(Net(512).spec), two = PlanMemory(Net(1024).spec);
  // The first hidden layer's output is kept for the gradients; the second's is there, or has been
  // overwritten by its gradient.
  EXPECT_GE(one.activations, 4 * 512 * 256);
  EXPECT_GE(one.temporaries(), 4 * 512 * (256 + 128));
  EXPECT_LE(one.temporaries(), 3 * 4 * 512 * (256 + 128));
  EXPECT_NEAR(static_cast<double>(two.activations), 2.0 * static_cast<double>(one.activations),
              0.05 * static_cast<double>(two.activations));
  EXPECT_EQ(one.parameters, two.parameters);
  EXPECT_GE(Layer(one, "dense").activations, 4 * 512 * 256);
}

TEST(MemoryPlanTest, ThePartsAddUp) {
  const MemoryPlan plan = PlanMemory(Net(512).spec);
  LayerBytes sum;
  for (const LayerBytes& layer : plan.layers) {
    sum.parameters += layer.parameters;
    sum.optimizer += layer.optimizer;
    sum.gradients += layer.gradients;
    sum.activations += layer.activations;
    sum.workspace += layer.workspace;
  }
  EXPECT_EQ(sum.parameters + 8, plan.parameters);
  EXPECT_EQ(sum.optimizer, plan.optimizer);
  EXPECT_EQ(sum.gradients, plan.gradients);
  EXPECT_EQ(sum.activations, plan.activations);
  EXPECT_EQ(sum.workspace, plan.workspace);
  EXPECT_EQ(plan.total(), plan.parameters + plan.optimizer + plan.gradients + plan.activations +
                              plan.workspace + plan.batch + plan.results + plan.code);
}

TEST(MemoryPlanTest, TheLargestTensorsAreNamed) {
  const MemoryPlan plan = PlanMemory(Net(4096).spec);
  ASSERT_EQ(plan.largest.size(), 10U);
  SCOPED_TRACE(plan.ToString());
  EXPECT_THAT(plan.largest, Contains(AllOf(Field(&TensorBytes::what, "the output of layer dense"),
                                           Field(&TensorBytes::layer, "dense"),
                                           Field(&TensorBytes::bytes, 4 * 4096 * 256))));
  EXPECT_THAT(plan.largest, Contains(Field(&TensorBytes::what, "the batch's field x")));
  for (size_t i = 1; i < plan.largest.size(); ++i) {
    EXPECT_GE(plan.largest[i - 1].bytes, plan.largest[i].bytes);
  }
  const MemoryPlan small = PlanMemory(Net(8).spec);
  EXPECT_THAT(small.largest, Contains(Field(&TensorBytes::what, "dense_1/kernel")));
  EXPECT_THAT(small.largest, Contains(Field(&TensorBytes::what, "dense_1/kernel's velocity")));
  EXPECT_THAT(small.largest,
              Contains(AllOf(Field(&TensorBytes::what, "the gradient of dense_1/kernel"),
                             Field(&TensorBytes::layer, "dense_1"))));
}

TEST(MemoryPlanTest, MicroBatchesTakeTheMemoryOfOne) {
  Net whole(4096), split(4096);
  split.spec.micro_rows = 256;
  const MemoryPlan a = PlanMemory(whole.spec), b = PlanMemory(split.spec);
  EXPECT_EQ(b.micro_rows, 256);
  EXPECT_EQ(a.batch, b.batch);
  EXPECT_LT(b.activations, a.activations / 8);
  EXPECT_GE(b.gradients, kWeights);  // the sums
}

TEST(MemoryPlanTest, SixteenBitsHalveTheActivations) {
  const MemoryPlan a = PlanMemory(Net(8192).spec);
  const MemoryPlan b = PlanMemory(Net(8192, "mixed_bfloat16").spec);
  EXPECT_LT(b.temporaries(), a.temporaries());
  EXPECT_LE(Layer(b, "dense").activations, Layer(a, "dense").activations * 65 / 100);
  EXPECT_EQ(a.parameters, b.parameters);
}

TEST(MemoryPlanTest, WithTheCompilersAccountTheTotalIsTheCompilers) {
  const Net net(512);
  const MemoryPlan estimate = PlanMemory(net.spec);
  xla::ProgramMemory memory;
  memory.argument = estimate.parameters + estimate.optimizer + estimate.batch + 8;
  memory.output = estimate.parameters + estimate.optimizer + estimate.results - 8;
  memory.alias = estimate.parameters + estimate.optimizer;
  memory.temp = 10 << 20;
  memory.code = 1000;
  const MemoryPlan plan = PlanMemory(net.spec, 1, memory);
  EXPECT_EQ(plan.total(), memory.total());
  EXPECT_EQ(plan.temporaries(), memory.temp);
  EXPECT_EQ(plan.batch, estimate.batch);
  // The second launch in flight brings its batch and its results.
  const MemoryPlan two = PlanMemory(net.spec, 2, memory);
  EXPECT_EQ(two.total(), memory.total() + plan.batch + plan.results);
}

TEST(MemoryPlanTest, EvaluationKeepsTheOptimizersState) {
  const Net net(512);
  const MemoryPlan plan = PlanEvaluation(net.spec);
  EXPECT_EQ(plan.program, "evaluation");
  EXPECT_EQ(plan.parameters, kWeights + 8);
  EXPECT_EQ(plan.optimizer, 2 * kWeights);
  EXPECT_EQ(plan.gradients, 0);
  EXPECT_LT(plan.total(), PlanMemory(net.spec).total());
}

TEST(MemoryPlanTest, PrintsATable) {
  const std::string text = PlanMemory(Net(512).spec, 2).ToString(int64_t{1} << 30);
  EXPECT_THAT(text, HasSubstr("memory of training on one device: 512 rows, float32, estimated"));
  EXPECT_THAT(text, HasSubstr("2 launches in flight"));
  EXPECT_THAT(text, HasSubstr("of 1.00 GiB: 1"));
  EXPECT_THAT(text, HasSubstr(" left"));
  EXPECT_THAT(text, HasSubstr("by layer"));
  EXPECT_THAT(text, HasSubstr("dense_1"));
  EXPECT_THAT(PlanMemory(Net(512).spec).ToString(1000), HasSubstr("too much"));
}

TEST(MemoryPlanTest, AFailureShowsPlanTensorsAndWhatWouldFit) {
  const MemoryPlan plan = PlanMemory(Net(4096).spec);
  const std::string text =
      FormatOutOfMemory(plan, {.device = "cuda:0 (NVIDIA L4)",
                               .said = "Out of memory while trying to allocate 4194304 bytes",
                               .limit = 4 << 20,
                               .others = 3 << 20,
                               .rows_that_fit = 128});
  EXPECT_THAT(text, HasSubstr("cuda:0 (NVIDIA L4) has no memory left for training: it needs"));
  EXPECT_THAT(text, HasSubstr("other processes hold 3.00 MiB"));
  EXPECT_THAT(text, HasSubstr("the output of layer dense"));
  EXPECT_THAT(text, HasSubstr("train.micro_batch = 128"));
  EXPECT_THAT(FormatOutOfMemory(plan, {}), HasSubstr("train.micro_batch = \"auto\""));
  EXPECT_THAT(FormatOutOfMemory(plan, {.rows_that_fit = 0}), HasSubstr("not even one row"));
}

TEST(MemoryPlanTest, BytesForPeople) {
  EXPECT_EQ(Bytes(0), "0 B");
  EXPECT_EQ(Bytes(1023), "1023 B");
  EXPECT_EQ(Bytes(1536), "1.50 KiB");
  EXPECT_EQ(Bytes(int64_t{96} << 20), "96.0 MiB");
  EXPECT_EQ(Bytes(int64_t{312} << 30), "312 GiB");
  EXPECT_EQ(Bytes(-2048), "-2.00 KiB");
}

// A compiler that takes 1.4 times what the graph says.
xla::ProgramMemory Compile(const step::StepSpec& spec) {
  const MemoryPlan plan = PlanMemory(spec);
  xla::ProgramMemory memory;
  memory.argument = plan.parameters + plan.optimizer + plan.batch + 8;
  memory.output = plan.parameters + plan.optimizer + plan.results - 8;
  memory.alias = plan.parameters + plan.optimizer;
  memory.temp = plan.temporaries() * 7 / 5;
  return memory;
}

TEST(MemoryPlanTest, AMicroBatchIsChosenForASpec) {
  const Net net(4096);
  const int64_t whole = PlanMemory(net.spec, 1, Compile(net.spec)).total();
  const BatchChoice all = ChooseMicroBatch(net.spec, whole, 1, Compile);
  EXPECT_TRUE(all.fits);
  EXPECT_EQ(all.micro_rows, 4096);
  const BatchChoice half = ChooseMicroBatch(net.spec, whole * 6 / 10, 1, Compile);
  ASSERT_TRUE(half.fits);
  EXPECT_LE(half.bytes, whole * 65 / 100);
  EXPECT_LT(half.micro_rows, 4096);
  EXPECT_LE(half.compiles, 3);
  const BatchChoice none = ChooseMicroBatch(net.spec, 1000, 1, Compile);
  EXPECT_FALSE(none.fits);
  const std::string help = WhatWouldFit(net.spec, 1000, 1);
  EXPECT_THAT(help, HasSubstr("even one row at a time needs"));
  EXPECT_THAT(help, HasSubstr("an optimizer without state"));
  EXPECT_THAT(help, HasSubstr("a smaller global_batch"));
  EXPECT_THAT(help, HasSubstr("or a device with"));
  EXPECT_THAT(help, Not(HasSubstr("would fit: ")));
}

// Where weights are what is too large, only a policy that keeps them in 16 bits helps, and the
// bytes are those of a model that does.
TEST(MemoryPlanTest, WhatWouldFitCountsWeightsAsThePolicyKeepsThem) {
  const auto least = [](const std::string& policy) {
    Net net(8, policy);
    net.model.SetPolicy(net.spec.policy);
    net.spec.micro_rows = 1;
    return PlanMemory(net.spec).total();
  };
  const int64_t in_float32 = least("float32"), mixed = least("mixed_bfloat16"),
                in_bfloat16 = least("bfloat16");
  ASSERT_LT(in_bfloat16, mixed);
  ASSERT_LT(in_bfloat16 + kWeights / 4, in_float32);
  const Net net(8);
  const std::string help = WhatWouldFit(net.spec, in_bfloat16, 1);
  EXPECT_THAT(help,
              HasSubstr("what would fit: precision = \"bfloat16\", which keeps weights in 16 bits, "
                        "too, (about " +
                        Bytes(in_bfloat16) + ")"));
  EXPECT_THAT(WhatWouldFit(Net(8, "mixed_bfloat16").spec, in_bfloat16, 1),
              AllOf(HasSubstr("precision = \"bfloat16\""),
                    Not(HasSubstr("precision = \"mixed_bfloat16\""))));
  EXPECT_EQ(net.model.policy().name, "float32");
}

}  // namespace
}  // namespace flatout::plan
