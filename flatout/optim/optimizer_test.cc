#include "flatout/optim/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using ::testing::Not;
using Floats = std::vector<float>;
using OnCpu = testing::CpuProgram<float>;

std::unique_ptr<Optimizer> FromToml(const std::string& text) {
  return OptimizerFromConfig(
      *Config::ParseToml("[optimizer]\n" + text, "x.toml").Find("optimizer"));
}

std::string ErrorOf(const std::string& text) {
  try {
    FromToml(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

nn::Variable MakeVariable(ir::Dims dims, const std::string& path = "dense/kernel") {
  return {.path = path, .shape = Shape(DType::kF32, std::move(dims))};
}

TEST(OptimizerConfigTest, DefaultsAreKeras) {
  for (const std::string& name : OptimizerNames()) {
    const auto optimizer = OptimizerFromConfig(Config(name));
    EXPECT_EQ(optimizer->type(), name);
    EXPECT_TRUE(optimizer->schedule().constant());
    EXPECT_FALSE(optimizer->uses_ema());
  }
  EXPECT_EQ(FromToml("class = \"adamw\"")->type(), "AdamW");  // as Keras's optimizers.get reads it
}

TEST(OptimizerConfigTest, NamesTheNearestOptimizer) {
  EXPECT_THAT(ErrorOf("class = \"Adma\""),
              AllOf(HasSubstr("x.toml:2:"), HasSubstr("no optimizer is called \"Adma\""),
                    HasSubstr("did you mean \"Adam\"?")));
  // Without a class it is Adam.
  EXPECT_EQ(FromToml("learning_rate = 0.1")->type(), "Adam");
  EXPECT_THAT(ErrorOf("momentum = 0.9"), HasSubstr("optimizer Adam"));
  EXPECT_THAT(ErrorOf("class = 3"), HasSubstr("expected a string"));
}

TEST(OptimizerConfigTest, NamesTheNearestArgument) {
  EXPECT_THAT(ErrorOf("class = \"Adam\"\nbeta1 = 0.9"),
              AllOf(HasSubstr("x.toml:3:"), HasSubstr("optimizer Adam"), HasSubstr("beta1"),
                    HasSubstr("did you mean \"beta_1\"?")));
  EXPECT_THAT(ErrorOf("class = \"SGD\"\nbeta_1 = 0.9"), HasSubstr("beta_1"));
  EXPECT_THAT(ErrorOf("class = \"SGD\"\nlearning_rates = 0.9"),
              HasSubstr("did you mean \"learning_rate\"?"));
}

TEST(OptimizerConfigTest, RefusesWhatCannotTrain) {
  const std::pair<const char*, const char*> cases[] = {
      {"class = \"SGD\"\nclipnorm = 1\nclipvalue = 1", "at most one of clipnorm"},
      {"class = \"SGD\"\nclipnorm = 0", "a clip limit must be positive, found 0"},
      {"class = \"SGD\"\nglobal_clipnorm = -1.0", "a clip limit must be positive, found -1"},
      {"class = \"SGD\"\nlearning_rate = -0.1", "finite and not negative"},
      {"class = \"SGD\"\nlearning_rate = nan", "finite and not negative"},
      {"class = \"SGD\"\nlearning_rate = inf", "finite and not negative"},
      {"class = \"SGD\"\nlearning_rate = \"fast\"", "expected a number or a schedule"},
      {"class = \"SGD\"\nmomentum = 1.5", "momentum must lie in [0, 1], found 1.5"},
      {"class = \"SGD\"\nweight_decay = -0.1", "weight_decay must not be negative"},
      {"class = \"SGD\"\nweight_decay = nan", "weight_decay must not be negative"},
      {"class = \"SGD\"\nuse_ema = true\nema_momentum = 1.1", "ema_momentum must lie in [0, 1]"},
      {"class = \"SGD\"\nuse_ema = true\nema_overwrite_frequency = 0", "must be at least 1"},
      {"class = \"Adam\"\nbeta_1 = 1.0", "beta_1 must lie in [0, 1), found 1"},
      {"class = \"Adam\"\nbeta_2 = -0.1", "beta_2 must lie in [0, 1), found -0.1"},
      {"class = \"Adam\"\nepsilon = -1e-7", "epsilon must not be negative"},
      {"class = \"Lion\"\nbeta_1 = 0.0", "beta_1 must be positive"},
      {"class = \"RMSprop\"\nrho = 1.0", "rho must lie in [0, 1)"},
      {"class = \"Adagrad\"\ninitial_accumulator_value = -1.0", "must not be negative"},
      {"class = \"Ftrl\"\nlearning_rate_power = 0.5", "must not be positive, found 0.5"},
      {"class = \"Ftrl\"\nl1_regularization_strength = -1.0", "must not be negative, found -1"},
      {"class = \"Adafactor\"\nclip_threshold = 0", "clip_threshold must be positive"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ErrorOf(text), AllOf(HasSubstr(message), HasSubstr("x.toml:"))) << text;
  }
}

TEST(ScheduleConfigTest, RefusesWhatIsNoSchedule) {
  const auto with = [](const std::string& schedule) {
    return ErrorOf("class = \"SGD\"\nlearning_rate = {" + schedule + "}");
  };
  EXPECT_THAT(with("decay_steps = 3"),
              AllOf(HasSubstr("x.toml:3:"), HasSubstr("a schedule needs its class")));
  EXPECT_THAT(with("class = \"CosineDeca\""), HasSubstr("did you mean \"CosineDecay\"?"));
  EXPECT_THAT(with("class = \"CosineDecay\", initial_learning_rate = 0.1"),
              HasSubstr("decay_steps"));
  EXPECT_THAT(with("class = \"CosineDecay\", initial_learning_rate = 0.1, decay_step = 3"),
              HasSubstr("decay_step"));
  EXPECT_THAT(with("class = \"CosineDecay\", initial_learning_rate = 0.1, decay_steps = 0"),
              HasSubstr("decay_steps must be positive, found 0"));
  EXPECT_THAT(with("class = \"CosineDecay\", initial_learning_rate = 0.1, decay_steps = 5, "
                   "warmup_steps = 2"),
              HasSubstr("needs warmup_target"));
  EXPECT_THAT(with("class = \"PiecewiseConstantDecay\", boundaries = [2, 1], values = [3, 2, 1]"),
              HasSubstr("boundaries must rise"));
  EXPECT_THAT(with("class = \"PiecewiseConstantDecay\", boundaries = [1, 2], values = [3, 2]"),
              HasSubstr("one value more than boundaries"));
  EXPECT_THAT(with("class = \"CosineDecayRestarts\", initial_learning_rate = 0.1, "
                   "first_decay_steps = 5, t_mul = 0.5"),
              HasSubstr("t_mul must be >= 1"));
}

TEST(OptimizerTest, SlotsFollowTheVariable) {
  const nn::Variable kernel = MakeVariable({3, 4});
  const auto shown = [&](const std::string& text) {
    std::vector<std::string> names;
    for (const Slot& slot : FromToml(text)->Slots(kernel)) {
      names.push_back(slot.name + " " + slot.shape.ToString());
    }
    return names;
  };
  EXPECT_THAT(shown("class = \"SGD\""), ElementsAre());
  EXPECT_THAT(shown("class = \"SGD\"\nmomentum = 0.9"), ElementsAre("momentum f32[3,4]"));
  EXPECT_THAT(shown("class = \"Adafactor\""), ElementsAre("r f32[3]", "c f32[4]"));
  EXPECT_THAT(shown("class = \"Adam\"\nuse_ema = true"),
              ElementsAre("momentum f32[3,4]", "velocity f32[3,4]", "average f32[3,4]"));
}

// One update of one variable with `proceed` as an argument (f32: 0 or 1): value and slots after it.
// `step` updates came before. The gradient is dense, or rows scattered into zeros.
struct OneUpdate {
  ir::Graph graph{"main"};
  nn::Variable variable = MakeVariable({3, 2}, "embedding/embeddings");
  std::vector<Slot> slots;

  OneUpdate(const Optimizer& optimizer, bool rows, double steps) {
    slots = optimizer.Slots(variable);
    const Value value = graph.AddParameter(variable.shape, "value");
    std::vector<Value> state;
    for (const Slot& slot : slots) state.push_back(graph.AddParameter(slot.shape, slot.name));
    Value gradient;
    if (rows) {
      const Value updates = graph.AddParameter(Shape(DType::kF32, {4, 2}), "rows");
      const Value indices = graph.AddParameter(Shape(DType::kF32, {4}), "indices");
      gradient = ir::ScatterAdd(ir::ZerosLike(value), ir::Convert(indices, DType::kI32), updates);
    } else {
      gradient = graph.AddParameter(variable.shape, "gradient");
    }
    const Value proceed = ir::Gt(graph.AddParameter(Shape::Scalar(DType::kF32), "proceed"), 0.5);
    const nn::Variable* pointer = &variable;
    const auto result = optimizer.Apply({&pointer, 1}, {&value, 1}, {&gradient, 1}, {&state, 1},
                                        ir::Scalar(graph, DType::kI32, steps), {}, proceed);
    std::vector<Value> outputs = result.values;
    outputs.insert(outputs.end(), result.slots[0].begin(), result.slots[0].end());
    graph.SetOutputs(outputs);
  }

  // Distinct, odd, falling numbers for every element of the state (so that amsgrad's maximum
  // moves).
  std::vector<Floats> State() const {
    std::vector<Floats> state;
    float next = 4.3137F;
    const auto add = [&](int64_t size) {
      Floats& tensor = state.emplace_back();
      for (int64_t i = 0; i < size; ++i) tensor.push_back(next -= 0.0917F);
    };
    add(variable.shape.size());
    for (const Slot& slot : slots) add(slot.shape.size());
    return state;
  }
};

const float kNan = std::numeric_limits<float>::quiet_NaN();

// Step 3 is the fourth update: an overwriting average would overwrite now.
std::vector<std::string> Everything() {
  std::vector<std::string> texts;
  for (const std::string& name : OptimizerNames()) {
    texts.push_back("class = \"" + name + "\"");
    texts.push_back("class = \"" + name +
                    "\"\nweight_decay = 0.1\nglobal_clipnorm = 0.5\nuse_ema = true\n"
                    "ema_overwrite_frequency = 4");
  }
  texts.push_back("class = \"SGD\"\nmomentum = 0.9\nnesterov = true");
  texts.push_back("class = \"SGD\"\nweight_decay = 0.1");
  texts.push_back("class = \"SGD\"\nuse_ema = true\nema_overwrite_frequency = 4");
  texts.push_back("class = \"RMSprop\"\nmomentum = 0.9\ncentered = true");
  texts.push_back("class = \"Adam\"\namsgrad = true");
  return texts;
}

class GuardTest : public ::testing::TestWithParam<bool> {};

TEST_P(GuardTest, AHaltedStepLeavesEveryBit) {
  const bool rows = GetParam();
  for (const std::string& text : Everything()) {
    SCOPED_TRACE(text);
    const OneUpdate update(*FromToml(text), rows, 3);
    const std::vector<Floats> state = update.State();
    std::vector<Floats> arguments = state;
    if (rows) {
      arguments.push_back({1, 2, kNan, 4, 5, 6, 7, 8});
      arguments.push_back({0, 2, 2, 1});
    } else {
      arguments.push_back({1, kNan, 3, 4, 5, 6});
    }
    arguments.push_back({0});
    const OnCpu program(update.graph);
    EXPECT_EQ(program.Run(arguments), state);
    // And the same program does move everything when it may.
    arguments.back() = {1};
    for (size_t i = arguments.size() - 2; i >= state.size(); --i) {
      for (float& number : arguments[i]) number = std::isnan(number) ? 3 : number;
    }
    const std::vector<Floats> moved = program.Run(arguments);
    for (size_t i = 0; i < state.size(); ++i) EXPECT_NE(moved[i], state[i]) << "tensor " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Gradients, GuardTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Rows" : "Dense"; });

// --- embeddings ----------------------------------------------------------------------------------

// The update of a table of `vocabulary` rows of 2, and of its slots, by the gradient of sum(weight
// * take(table, ids)).
struct EmbeddingUpdate {
  ir::Graph graph{"main"};
  nn::Variable table;

  EmbeddingUpdate(const Optimizer& optimizer, int64_t vocabulary, bool dense)
      : table(MakeVariable({vocabulary, 2}, "embedding/embeddings")) {
    const Value value = graph.AddParameter(table.shape, "table");
    const Value ids = ir::Convert(graph.AddParameter(Shape(DType::kF32, {5}), "ids"), DType::kI32);
    const Value weight = graph.AddParameter(Shape(DType::kF32, {5, 2}), "weight");
    std::vector<Value> slots;
    for (const Slot& slot : optimizer.Slots(table)) {
      slots.push_back(ir::Full(graph, slot.shape, slot.initial));
      slots.back() = slots.back() + graph.AddParameter(Shape::Scalar(DType::kF32), slot.name);
    }
    const size_t before = graph.nodes().size();
    const Value target = ir::ReduceSum(ir::Take(value, ids, 0) * weight);
    Value gradient = ir::Gradient(target, std::vector<Value>{value})[0];
    if (dense) gradient = ir::OptimizationBarrier(std::vector<Value>{gradient})[0];
    const nn::Variable* pointer = &table;
    const auto result =
        optimizer.Apply({&pointer, 1}, {&value, 1}, {&gradient, 1}, {&slots, 1},
                        ir::Scalar(graph, DType::kI32, 0), {}, ir::IsFinite(target));
    std::vector<Value> outputs = result.values;
    outputs.insert(outputs.end(), result.slots[0].begin(), result.slots[0].end());
    graph.SetOutputs(outputs);
    const std::vector<bool> live = graph.LiveNodes();
    for (size_t i = before; i < graph.nodes().size(); ++i) {
      const ir::Node& node = *graph.nodes()[i];
      if (live[i] && node.shape().dims == table.shape.dims) table_sized.emplace_back(node.name());
    }
  }

  std::vector<std::string> table_sized;  // live ops of the update whose result is a whole table
};

TEST(SparseTest, SgdScattersRowsIntoTheTable) {
  const auto sgd = FromToml("class = \"SGD\"\nlearning_rate = 0.5");
  const EmbeddingUpdate sparse(*sgd, 7, /*dense=*/false);
  const EmbeddingUpdate dense(*sgd, 7, /*dense=*/true);
  // The one table-sized value is the table with the rows added, in place of the old one.
  EXPECT_THAT(sparse.table_sized, ElementsAre("scatter_add"));
  EXPECT_THAT(dense.table_sized,
              AllOf(::testing::Contains("subtract"), ::testing::Contains("select")));

  Floats table(14);
  for (size_t i = 0; i < table.size(); ++i) table[i] = 0.25F * static_cast<float>(i);
  const std::vector<Floats> arguments = {
      table, {6, 1, 1, 0, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};  // a row of duplicates
  const Floats found = OnCpu(sparse.graph).Run(arguments)[0];
  EXPECT_EQ(found, OnCpu(dense.graph).Run(arguments)[0]);
  Floats expected = table;
  expected[0] -= 3.5F, expected[1] -= 4;    // id 0
  expected[2] -= 8.5F, expected[3] -= 10;   // id 1: 3 + 5 + 9, 4 + 6 + 10
  expected[12] -= 0.5F, expected[13] -= 1;  // id 6
  EXPECT_EQ(found, expected);
}

TEST(SparseTest, AdagradAddsUpDuplicatesAndScattersRows) {
  const auto adagrad = FromToml("class = \"Adagrad\"\nlearning_rate = 0.5");
  const EmbeddingUpdate sparse(*adagrad, 200, /*dense=*/false);
  const EmbeddingUpdate dense(*adagrad, 200, /*dense=*/true);
  EXPECT_THAT(sparse.table_sized, ElementsAre("scatter_add", "scatter_add"));
  EXPECT_THAT(dense.table_sized, ::testing::Contains("sqrt"));
  // A small table is not worth the sorting.
  EXPECT_THAT(EmbeddingUpdate(*adagrad, 20, false).table_sized, ::testing::Contains("sqrt"));

  Floats table(400);
  for (size_t i = 0; i < table.size(); ++i) table[i] = 0.37F * static_cast<float>(i % 11) - 1;
  const OnCpu run_sparse(sparse.graph), run_dense(dense.graph);
  const std::vector<Floats> ids = {
      {199, 3, 3, 0, 3}, {0, 1, 2, 3, 4}, {7, 7, 7, 7, 7}, {5, 4, 5, 4, 5}};
  for (const Floats& five : ids) {
    Floats weight = {1.3F, 2.7F, -3.1F, 4.9F, 5.7F, 6.1F, 7.3F, 8.9F, 9.1F, -10.3F};
    std::vector<Floats> arguments = {table, five, weight, {0.25F}};
    const std::vector<Floats> found = run_sparse.Run(arguments);
    // Apart from roundings: the dense kernel fuses multiplications and additions.
    const std::vector<Floats> expected = run_dense.Run(arguments);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_THAT(found[i], ::testing::Pointwise(::testing::FloatEq(), expected[i]));
    }
    EXPECT_NE(found[0], table);
    // Nothing moves where the target is not finite.
    arguments[2][4] = kNan;
    const std::vector<Floats> halted = run_sparse.Run(arguments);
    EXPECT_EQ(halted[0], table);
    EXPECT_THAT(halted[1], Each(0.1F + 0.25F));
  }
}

// Rows that the batch touches move as they do when every row moves; all others, and what is
// remembered of them, stand still.
TEST(SparseTest, LazyMovesWhatIsTouched) {
  for (const char* text :
       {"class = \"Adam\"", "class = \"Adam\"\namsgrad = true", "class = \"SGD\"\nmomentum = 0.9",
        "class = \"SGD\"\nmomentum = 0.9\nnesterov = true",
        "class = \"AdamW\"\nweight_decay = 0.0"}) {
    // Small tables, too: what is meant must not depend on their size.
    for (const int64_t vocabulary : {7, 200}) {
      SCOPED_TRACE(fmt::format("{}, {} rows", text, vocabulary));
      const std::string rate = "\nlearning_rate = 0.25";
      const EmbeddingUpdate lazy(*FromToml(text + rate + "\nlazy = true"), vocabulary, false);
      const EmbeddingUpdate dense(*FromToml(text + rate), vocabulary, true);
      EXPECT_THAT(lazy.table_sized, ::testing::Each("scatter_add"));
      Floats table(static_cast<size_t>(2 * vocabulary));
      for (size_t i = 0; i < table.size(); ++i) table[i] = 0.37F * static_cast<float>(i % 11) - 1;
      std::vector<Floats> arguments = {
          table, {6, 3, 3, 0, 3}, {1.3F, 2.7F, -3.1F, 4.9F, 5.7F, 6.1F, 7.3F, 8.9F, 9.1F, -1.3F}};
      const size_t num_slots = dense.graph.parameters().size() - 3;
      for (size_t i = 0; i < num_slots; ++i) arguments.push_back({0.125F});
      const OnCpu run(lazy.graph);
      const std::vector<Floats> found = run.Run(arguments);
      const std::vector<Floats> all = OnCpu(dense.graph).Run(arguments);
      for (size_t result = 0; result < found.size(); ++result) {
        const Floats before = result == 0 ? table : Floats(table.size(), 0.125F);
        for (size_t i = 0; i < table.size(); ++i) {
          const bool touched = i / 2 == 0 || i / 2 == 3 || i / 2 == 6;
          if (touched) {
            EXPECT_NEAR(found[result][i], all[result][i], 2e-6F * std::abs(all[result][i])) << i;
          } else {
            EXPECT_EQ(found[result][i], before[i]) << i;
          }
        }
      }
      arguments[2][4] = kNan;
      const std::vector<Floats> halted = run.Run(arguments);
      EXPECT_EQ(halted[0], table);
      for (size_t i = 1; i < halted.size(); ++i) EXPECT_THAT(halted[i], Each(0.125F));
    }
  }
}

// Norms and limits are of the sums of duplicate rows; no table is made for them.
TEST(SparseTest, ClippingLooksAtRows) {
  for (const char* clip : {"clipnorm = 0.125", "global_clipnorm = 0.25", "clipvalue = 4.0"}) {
    for (const char* type : {"SGD", "Adagrad"}) {
      const auto optimizer =
          FromToml(fmt::format("class = \"{}\"\nlearning_rate = 0.5\n{}", type, clip));
      const EmbeddingUpdate sparse(*optimizer, 200, /*dense=*/false);
      const EmbeddingUpdate dense(*optimizer, 200, /*dense=*/true);
      EXPECT_THAT(sparse.table_sized, ::testing::Each("scatter_add")) << clip;
      std::vector<Floats> arguments = {
          Floats(400, 1), {6, 1, 1, 0, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
      if (sparse.graph.parameters().size() > 3) arguments.push_back({0.25F});
      const std::vector<Floats> found = OnCpu(sparse.graph).Run(arguments);
      const std::vector<Floats> expected = OnCpu(dense.graph).Run(arguments);
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_THAT(found[i], ::testing::Pointwise(::testing::FloatNear(1e-6F), expected[i]));
      }
      EXPECT_NE(found[0], arguments[0]);
    }
  }
}

TEST(SparseTest, WhatNeedsTheWholeGradientStaysRight) {
  // Decay moves every row; a norm needs duplicate rows added up.
  for (const char* extra : {"weight_decay = 0.5", "clipnorm = 0.125", "clipvalue = 4.0"}) {
    const auto sgd = FromToml(std::string("class = \"SGD\"\nlearning_rate = 0.5\n") + extra);
    const EmbeddingUpdate sparse(*sgd, 7, /*dense=*/false);
    const EmbeddingUpdate dense(*sgd, 7, /*dense=*/true);
    const std::vector<Floats> arguments = {
        Floats(14, 1), {6, 1, 1, 0, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
    const Floats found = OnCpu(sparse.graph).Run(arguments)[0];
    EXPECT_THAT(found, ::testing::Pointwise(::testing::FloatNear(1e-6F),
                                            OnCpu(dense.graph).Run(arguments)[0]))
        << extra;
  }
}

TEST(OptimizerTest, RateFactorMultipliesTheSchedule) {
  const auto sgd = FromToml("class = \"SGD\"\nlearning_rate = 0.5");
  ir::Graph graph("main");
  const nn::Variable variable = MakeVariable({2});
  const nn::Variable* pointer = &variable;
  const Value value = graph.AddParameter(variable.shape, "value");
  const Value gradient = graph.AddParameter(variable.shape, "gradient");
  const Value factor = graph.AddParameter(Shape::Scalar(DType::kF32), "factor");
  const std::vector<Value> none;
  const auto result = sgd->Apply({&pointer, 1}, {&value, 1}, {&gradient, 1}, {&none, 1},
                                 ir::Scalar(graph, DType::kI32, 0), factor);
  graph.SetOutputs({result.values[0], result.learning_rate, result.gradient_norm});
  const auto found = OnCpu(graph).Run({{1, 2}, {3, 4}, {0.25F}});
  EXPECT_THAT(found[0], ElementsAre(0.625F, 1.5F));
  EXPECT_THAT(found[1], ElementsAre(0.125F));
  EXPECT_THAT(found[2], ElementsAre(5));
}

}  // namespace
}  // namespace flatout::optim
