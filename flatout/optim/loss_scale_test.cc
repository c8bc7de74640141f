#include "flatout/optim/loss_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/optim/testing.h"

namespace flatout::optim {
namespace {

using ir::DType;
using ir::Shape;
using ir::Value;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Numbers = std::vector<double>;
using OnCpu = testing::CpuProgram<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

LossScale FromToml(const std::string& value) {
  const Config config = Config::ParseToml("scale = " + value, "x.toml");
  LossScale scale;
  ReadConfig(*config.Find("scale"), scale);
  return scale;
}

std::string ErrorOf(const std::string& value) {
  try {
    FromToml(value);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LossScaleConfigTest, Forms) {
  EXPECT_EQ(FromToml("'dynamic'"), LossScale::Dynamic());
  EXPECT_EQ(FromToml("'none'"), LossScale::None());
  EXPECT_EQ(FromToml("1024"), LossScale::Static(1024));
  EXPECT_EQ(FromToml("1.5"), LossScale::Static(1.5));
  LossScale scale = LossScale::Dynamic();
  scale.initial = 256;
  scale.growth_steps = 10;
  EXPECT_EQ(FromToml("{initial = 256, growth_steps = 10}"), scale);
  EXPECT_EQ(FromToml("{}"), LossScale::Dynamic());
  EXPECT_EQ(LossScale::Dynamic().initial, 32768);
  EXPECT_EQ(LossScale::Dynamic().growth_steps, 2000);
  EXPECT_EQ(LossScale::Auto(true), LossScale::Dynamic());
  EXPECT_EQ(LossScale::Auto(false), LossScale::None());
  EXPECT_EQ(LossScale::None().ToString(), "none");
  EXPECT_EQ(LossScale::Static(8).ToString(), "static 8");
  EXPECT_EQ(LossScale::Dynamic().ToString(), "dynamic");
  EXPECT_EQ(scale.ToString(), "dynamic, from 256, doubled every 10 steps");
}

TEST(LossScaleConfigTest, NonsenseIsRefusedAtItsPlace) {
  EXPECT_THAT(ErrorOf("'dinamic'"),
              AllOf(StartsWith("x.toml:1:"), HasSubstr("did you mean \"dynamic\"")));
  EXPECT_THAT(ErrorOf("0.5"),
              AllOf(StartsWith("x.toml:1:"), HasSubstr("at least 1"), HasSubstr("found 0.5")));
  EXPECT_THAT(ErrorOf("nan"), HasSubstr("at least 1"));
  EXPECT_THAT(ErrorOf("1e30"), HasSubstr("at most 2^64"));
  EXPECT_THAT(ErrorOf("{initial = -2}"), AllOf(HasSubstr("scale.initial"), HasSubstr("found -2")));
  EXPECT_THAT(ErrorOf("{growth_steps = 0}"), HasSubstr("scale.growth_steps"));
  EXPECT_THAT(ErrorOf("{growth = 4}"), HasSubstr("growth_steps"));
  EXPECT_THAT(ErrorOf("true"), HasSubstr("expected a loss scale"));
}

TEST(LossScaleConfigTest, Counters) {
  EXPECT_TRUE(LossScaleCounters(LossScale::None()).empty());
  const std::vector<Slot> counters = LossScaleCounters(LossScale::Static(64));
  ASSERT_EQ(counters.size(), 3U);
  EXPECT_EQ(counters[0].name, "loss_scale");
  EXPECT_EQ(counters[0].shape, Shape::Scalar(DType::kF32));
  EXPECT_EQ(counters[0].initial, 64);
  EXPECT_EQ(counters[1].name, "loss_scale_good_steps");
  EXPECT_EQ(counters[2].name, "loss_scale_skipped");
  EXPECT_EQ(counters[2].shape, Shape::Scalar(DType::kI32));
}

// One step of the state: scale, good steps, skipped.
class StateMachine {
 public:
  explicit StateMachine(const LossScale& options) {
    for (const Slot& slot : LossScaleCounters(options)) {
      parameters_.push_back(graph_.AddParameter(slot.shape, slot.name));
      state_.push_back(slot.initial);
    }
    const Value finite = graph_.AddParameter(Shape::Scalar(DType::kPred), "finite");
    const Value counts = graph_.AddParameter(Shape::Scalar(DType::kPred), "counts");
    const LossScaleState next =
        NextLossScale(options, {parameters_[0], parameters_[1], parameters_[2]}, finite, counts);
    graph_.SetOutputs({next.scale, next.good_steps, next.skipped});
    program_ = std::make_unique<OnCpu>(graph_);
  }
  Numbers& state() { return state_; }
  const Numbers& Step(bool finite, bool counts = true) {
    const auto results = program_->Run(
        {{state_[0]}, {state_[1]}, {state_[2]}, {finite ? 1.0 : 0.0}, {counts ? 1.0 : 0.0}});
    for (size_t i = 0; i < 3; ++i) state_[i] = results[i][0];
    return state_;
  }

 private:
  ir::Graph graph_{"main"};
  std::vector<Value> parameters_;
  Numbers state_;
  std::unique_ptr<OnCpu> program_;
};

TEST(LossScaleStateTest, GrowsAfterSoManyFiniteStepsInARow) {
  LossScale options = LossScale::Dynamic();
  options.initial = 8;
  options.growth_steps = 3;
  StateMachine machine(options);
  EXPECT_THAT(machine.Step(true), ElementsAre(8, 1, 0));
  EXPECT_THAT(machine.Step(true), ElementsAre(8, 2, 0));
  EXPECT_THAT(machine.Step(true), ElementsAre(16, 0, 0));
  EXPECT_THAT(machine.Step(true), ElementsAre(16, 1, 0));
  EXPECT_THAT(machine.Step(true), ElementsAre(16, 2, 0));
  EXPECT_THAT(machine.Step(false), ElementsAre(8, 0, 1));
  EXPECT_THAT(machine.Step(true), ElementsAre(8, 1, 1));
  EXPECT_THAT(machine.Step(false), ElementsAre(4, 0, 2));
  EXPECT_THAT(machine.Step(false), ElementsAre(2, 0, 3));
}

TEST(LossScaleStateTest, GrowsInEveryStepWhereOneIsEnough) {
  LossScale options = LossScale::Dynamic();
  options.initial = 4;
  options.growth_steps = 1;
  StateMachine machine(options);
  EXPECT_THAT(machine.Step(true), ElementsAre(8, 0, 0));
  EXPECT_THAT(machine.Step(true), ElementsAre(16, 0, 0));
}

TEST(LossScaleStateTest, StaysBetweenItsBounds) {
  LossScale options = LossScale::Dynamic();
  options.initial = 3;
  options.growth_steps = 1;
  StateMachine machine(options);
  EXPECT_THAT(machine.Step(false), ElementsAre(1.5, 0, 1));
  EXPECT_THAT(machine.Step(false), ElementsAre(1, 0, 2));
  EXPECT_THAT(machine.Step(false), ElementsAre(1, 0, 3));
  machine.state() = {std::ldexp(1.0, 63), 0, 3};
  EXPECT_THAT(machine.Step(true), ElementsAre(kMostLossScale, 0, 3));
  EXPECT_THAT(machine.Step(true), ElementsAre(kMostLossScale, 0, 3));
}

TEST(LossScaleStateTest, StepsThatAreNoneChangeNothing) {
  LossScale options = LossScale::Dynamic();
  options.growth_steps = 1;
  StateMachine machine(options);
  EXPECT_THAT(machine.Step(true, false), ElementsAre(32768, 0, 0));
  EXPECT_THAT(machine.Step(false, false), ElementsAre(32768, 0, 0));
}

TEST(LossScaleStateTest, StaticScaleStaysAndCountsWhatIsSkipped) {
  StateMachine machine(LossScale::Static(100));
  EXPECT_THAT(machine.Step(true), ElementsAre(100, 0, 0));
  EXPECT_THAT(machine.Step(false), ElementsAre(100, 0, 1));
  EXPECT_THAT(machine.Step(true), ElementsAre(100, 0, 1));
}

TEST(GradientsTest, FiniteMeansEveryElementOfAll) {
  ir::Graph graph;
  const std::vector<Value> gradients = {graph.AddParameter(Shape(DType::kF32, {3}), "a"),
                                        graph.AddParameter(Shape(DType::kF16, {2}), "b")};
  graph.SetOutputs({AllFinite(gradients)});
  const OnCpu program(graph);
  const auto finite = [&](const Numbers& a, const Numbers& b) {
    return program.Run({a, b})[0][0] != 0;
  };
  EXPECT_TRUE(finite({1, -3e38, 0}, {65504, 0}));
  EXPECT_FALSE(finite({1, 2, kNaN}, {1, 1}));
  EXPECT_FALSE(finite({1, -kInfinity, 0}, {1, 1}));
  EXPECT_FALSE(finite({1, 2, 3}, {1, kInfinity}));
}

TEST(GradientsTest, AreDividedInFloat32) {
  ir::Graph graph;
  const Value scale = graph.AddParameter(Shape::Scalar(DType::kF32), "scale");
  const std::vector<Value> gradients = {graph.AddParameter(Shape(DType::kF16, {2}), "a"),
                                        graph.AddParameter(Shape(DType::kBF16, {1}), "b")};
  const std::vector<Value> unscaled = UnscaleGradients(gradients, scale);
  for (const Value& gradient : unscaled) EXPECT_EQ(gradient.dtype(), DType::kF32);
  graph.SetOutputs(unscaled);
  // 2^-24 is float16's smallest number: divided in float16 it would be gone.
  const auto results = OnCpu(graph).Run({{32768}, {std::ldexp(1.0, -24), 3}, {-1}});
  EXPECT_THAT(results[0], ElementsAre(std::ldexp(1.0, -39), 3.0 / 32768));
  EXPECT_THAT(results[1], ElementsAre(-1.0 / 32768));
}

// A scale of 2^15 saves what float16 cannot hold: the gradient of a mean over many elements.
TEST(GradientsTest, SmallOnesSurvive) {
  const auto gradient_of = [](bool scaled) {
    ir::Graph graph;
    const Value w = graph.AddParameter(Shape(DType::kF32, {4}), "w");
    const Value half = ir::Convert(w, DType::kF16);
    Value loss = ir::ReduceSum(ir::Convert(half * half, DType::kF32)) * 1e-9;
    const Value scale = ir::Scalar(graph, DType::kF32, 32768);
    if (scaled) loss = ScaleLoss(loss, scale);
    std::vector<Value> gradients = ir::Gradient(loss, std::vector<Value>{w});
    if (scaled) gradients = UnscaleGradients(gradients, scale);
    graph.SetOutputs(gradients);
    return OnCpu(graph).Run({{1, 2, 3, 4}})[0];
  };
  EXPECT_THAT(gradient_of(false), Each(0));
  const Numbers kept = gradient_of(true);
  for (size_t i = 0; i < kept.size(); ++i) {
    const double expected = 2e-9 * static_cast<double>(i + 1);
    EXPECT_NEAR(kept[i], expected, expected * 2e-3);
  }
}

TEST(GradientsTest, RowsOfAnEmbeddingStayRows) {
  ir::Graph graph;
  const Value table = graph.AddParameter(Shape(DType::kF32, {100, 2}), "table");
  const Value ids = graph.AddParameter(Shape(DType::kI32, {3}), "ids");
  const Value scale = graph.AddParameter(Shape::Scalar(DType::kF32), "scale");
  const Value loss = ir::ReduceSum(ir::Take(table, ids, 0)) * scale;
  const std::vector<Value> unscaled =
      UnscaleGradients(ir::Gradient(loss, std::vector<Value>{table}), scale);
  EXPECT_TRUE(ir::MatchScatterAddIntoZeros(unscaled[0]));
  graph.SetOutputs({ir::SliceAxis(unscaled[0], 0, 4, 7), AllFinite(unscaled)});
  const auto results = OnCpu(graph).Run({Numbers(200, 0.5), {5, 99, 5}, {1024}});
  EXPECT_THAT(results[0], ElementsAre(0, 0, 2, 2, 0, 0));
  EXPECT_EQ(results[1][0], 1);
}

// The whole of a scaled step: new values, slots and state from scaled gradients.
struct ScaledStep {
  std::unique_ptr<Optimizer> optimizer;
  nn::Variable variable;
  std::vector<Slot> slots;
  ir::Graph graph{"main"};
  std::unique_ptr<OnCpu> program;

  ScaledStep(const std::string& options, DType dtype, bool scaled)
      : optimizer(OptimizerFromConfig(
            *Config::ParseToml("[optimizer]\n" + options, "x.toml").Find("optimizer"))),
        variable{.path = "dense/kernel", .shape = Shape(dtype, {2, 2})},
        slots(optimizer->Slots(variable)) {
    const Value value = graph.AddParameter(variable.shape, "value");
    std::vector<Value> gradients = {
        graph.AddParameter(variable.shape.WithDType(DType::kF32), "gradient")};
    std::vector<std::vector<Value>> state(1);
    for (const Slot& slot : slots) state[0].push_back(graph.AddParameter(slot.shape, slot.name));
    const Value step = graph.AddParameter(Shape::Scalar(DType::kI32), "step");
    Value proceed;
    if (scaled) {
      const Value scale = ir::Scalar(graph, DType::kF32, 1024);
      gradients = UnscaleGradients(gradients, scale);
      proceed = AllFinite(gradients);
    }
    const nn::Variable* variables[] = {&variable};
    const Optimizer::Result result =
        optimizer->Apply(variables, std::vector<Value>{value}, gradients, state, step,
                         ir::Scalar(graph, DType::kF32, 1), proceed);
    std::vector<Value> outputs = {result.values[0]};
    outputs.insert(outputs.end(), result.slots[0].begin(), result.slots[0].end());
    graph.SetOutputs(outputs);
  }

  // Gradients `g`; slots hold 0.25, the step is the third.
  std::vector<Numbers> Run(const Numbers& g) {
    std::vector<Numbers> arguments = {{1, -2, 0.5, 3}, g};
    for (const Slot& slot : slots) {
      arguments.emplace_back(static_cast<size_t>(slot.shape.size()), 0.25);
    }
    arguments.push_back({2});
    if (program == nullptr) program = std::make_unique<OnCpu>(graph);
    return program->Run(arguments);
  }
};

class EveryOptimizerTest : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryOptimizerTest, SkippedStepsChangeNoBit) {
  const std::string options = "class = \"" + GetParam() +
                              "\"\nuse_ema = true\nweight_decay = 0.1\n" +
                              "learning_rate = 1.0\n";  // large enough for 16-bit weights to move
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    ScaledStep step(options, dtype, true);
    for (const double bad : {kInfinity, -kInfinity, kNaN}) {
      const auto results = step.Run({1, bad, 1, 1});
      EXPECT_THAT(results[0], ElementsAre(1, -2, 0.5, 3));
      for (size_t i = 1; i < results.size(); ++i) EXPECT_THAT(results[i], Each(0.25));
    }
    EXPECT_NE(step.Run({1024, 1024, 1024, 1024})[0][1], -2);
  }
}

TEST(ScaledStepTest, ClippingSeesTheUnscaledGradients) {
  for (const char* clip : {"clipnorm = 0.5", "global_clipnorm = 0.5", "clipvalue = 0.3"}) {
    const std::string options = std::string("class = \"Adam\"\n") + clip + "\n";
    const Numbers gradients = {0.5, -1, 2, 0.25};
    Numbers scaled = gradients;
    for (double& gradient : scaled) gradient *= 1024;
    EXPECT_EQ(ScaledStep(options, DType::kF32, true).Run(scaled),
              ScaledStep(options, DType::kF32, false).Run(gradients))
        << clip;
  }
}

// 16-bit variables: slots as for float32 ones, values rounded once from what float32 ones become.
TEST_P(EveryOptimizerTest, SixteenBitVariablesAreRoundedOnce) {
  const std::string options = "class = \"" + GetParam() + "\"\nlearning_rate = 0.01\n";
  const Numbers gradients = {0.5, -1, 2, 0.25};
  const auto wide = ScaledStep(options, DType::kF32, false).Run(gradients);
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    ScaledStep step(options, dtype, false);
    for (const Slot& slot : step.slots) EXPECT_EQ(slot.shape.dtype, DType::kF32) << slot.name;
    const auto results = step.Run(gradients);
    ASSERT_EQ(results.size(), wide.size());
    for (size_t i = 1; i < wide.size(); ++i) {
      for (size_t k = 0; k < wide[i].size(); ++k) EXPECT_FLOAT_EQ(results[i][k], wide[i][k]);
    }
    for (size_t k = 0; k < wide[0].size(); ++k) {
      std::array<std::byte, 2> rounded;
      ir::StoreElement(dtype, wide[0][k], rounded.data());
      EXPECT_EQ(results[0][k], ir::LoadElement(dtype, rounded.data()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LossScale, EveryOptimizerTest, ::testing::ValuesIn(OptimizerNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace flatout::optim
