// Training with recomputed blocks: the bits of training without, in less memory.
#include "flatout/ir/recompute.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/nn/layers.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/model.h"
#include "flatout/nn/recompute.h"
#include "flatout/optim/optimizer.h"
#include "flatout/step/step_program.h"
#include "flatout/xla/pjrt.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Shape;
using nn::Recompute;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// A model and what it takes: x below `x_end`, classes y below `classes`.
struct Case {
  std::string name;
  std::string model;  // the run file's [model] table
  Shape x, y;
  double x_end = 1;
  double classes = 10;
};

const Case kMlp = {"mlp", "builtin = \"mlp\"\nlayers = 8\nunits = 256\ndropout = 0.2",
                   Shape(DType::kU8, {64, 28, 28}), Shape(DType::kI32, {64}), 256};
const Case kCnn = {"cnn", "builtin = \"cnn\"\ndropout = 0.25", Shape(DType::kU8, {32, 28, 28}),
                   Shape(DType::kI32, {32}), 256};
const Case kResNet = {"resnet18", "builtin = \"resnet18\"\nwidth = 8",
                      Shape(DType::kU8, {8, 16, 16, 3}), Shape(DType::kI32, {8}), 256};
const Case kTransformer = {
    "transformer",
    "builtin = \"transformer\"\nvocabulary = 32\nlayers = 2\nwidth = 32\nheads = 2\n"
    "dropout = 0.1",
    Shape(DType::kI32, {8, 32}),
    Shape(DType::kI32, {8, 32}),
    32,
    32};
const Case kRecurrent = {
    "recurrent",
    "layers = [{class = \"Embedding\", input_dim = 64, output_dim = 32},"
    "{class = \"LSTM\", units = 48, return_sequences = true, name = \"block1_lstm\"},"
    "{class = \"Dense\", units = 48, activation = \"gelu\", name = \"block1_dense\"},"
    "{class = \"GRU\", units = 48, name = \"block2_gru\"},"
    "{class = \"Dense\", units = 32, activation = \"tanh\", name = \"block2_dense\"},"
    "{class = \"Dense\", units = 10}]",
    Shape(DType::kI32, {16, 24}), Shape(DType::kI32, {16}), 64};
const Case kChain = {"chain",
                     "layers = [{class = \"Flatten\"},"
                     "{class = \"Dense\", units = 128, activation = \"gelu\"},"
                     "{class = \"Dense\", units = 128, activation = \"silu\"},"
                     "{class = \"LayerNormalization\"},"
                     "{class = \"Dense\", units = 128, activation = \"tanh\"},"
                     "{class = \"BatchNormalization\"},"
                     "{class = \"Dense\", units = 128, activation = \"gelu\"},"
                     "{class = \"Dense\", units = 128, activation = \"elu\"},"
                     "{class = \"Dropout\", rate = 0.3},"
                     "{class = \"Dense\", units = 128, activation = \"gelu\"},"
                     "{class = \"Dense\", units = 10}]",
                     Shape(DType::kF32, {64, 8, 8}), Shape(DType::kI32, {64})};

nn::Model ModelOf(const std::string& table, Shape x) {
  x.dims.erase(x.dims.begin());
  const Config config = Config::ParseToml("[model]\n" + table, "x.toml");
  return nn::Model::FromConfig(*config.Find("model"), {"x"}, {x});
}

// A layer that is used three times, by hand: run files have no such models.
nn::Model Shared(int64_t width) {
  const nn::Tensor input = nn::Input({width}, DType::kF32, "x");
  const nn::LayerPtr dense =
      nn::Dense({.units = width, .activation = "gelu", .common = {.name = "block1_shared"}});
  nn::Tensor x = dense(input);
  x = nn::LayerNormalization({.common = {.name = "block1_norm"}})(x);
  x = dense(x);
  x = nn::Dense({.units = width, .activation = "tanh", .common = {.name = "block2_dense"}})(x);
  x = nn::Add({.common = {.name = "block2_add"}})({dense(x), x});
  return nn::Model({input}, {nn::Dense({.units = 10})(x)}, "shared");
}

const xla::Client& ClientOf(const std::string& plugin, int64_t devices) {
  static std::map<std::pair<std::string, int64_t>, std::shared_ptr<xla::Client>> clients;
  auto& client = clients[{plugin, devices}];
  if (!client) {
    client = xla::Client::Create(xla::Plugin::Load(plugin),
                                 {.cpu_device_count = static_cast<int>(devices)});
  }
  return *client;
}

// A training program of a model, run on data that depend on the shapes alone.
class Training {
 public:
  Training(const nn::Model& model, const Shape& x, const Shape& y) : model_(model) {
    optimizer_ = optim::OptimizerFromConfig(Config(std::string("Adam")));
    Config loss = Config::Table();
    loss.Set("class", Config(std::string("SparseCategoricalCrossentropy")));
    loss.Set("from_logits", Config(true));
    loss_ = nn::LossFromConfig(loss);
    spec_.model = &model_;
    spec_.optimizer = optimizer_.get();
    spec_.loss = loss_.get();
    spec_.policy = model_.policy();
    spec_.field_shapes = {x, y};
    spec_.field_names = {"x", "y"};
    spec_.input_fields = {0};
    spec_.target_field = 1;
    spec_.seed = 5;
    spec_.steps_per_launch = 2;
  }

  StepSpec& spec() { return spec_; }
  Program Build() const { return BuildTrainProgram(spec_); }

  // With the options that training has: what they make of bits and bytes is the question here.
  // Compiling takes the time, so each program is compiled once.
  std::shared_ptr<xla::Executable> Compile(const std::string& plugin) const {
    static std::map<std::pair<std::string, std::string>, std::shared_ptr<xla::Executable>> compiled;
    const int replicas = static_cast<int>(spec_.replicas);
    const std::string text = ir::ToStablehlo(*Build().graph, {.num_replicas = replicas});
    auto& executable = compiled[{plugin, text}];
    if (!executable) {
      executable = ClientOf(plugin, replicas).Compile(text, {.num_replicas = replicas});
    }
    return executable;
  }

  // The bytes of all results of one launch of all steps: new state, losses and sums.
  std::vector<std::vector<std::byte>> Run(const std::string& plugin, double x_end,
                                          double classes) const {
    const xla::Client& client = ClientOf(plugin, spec_.replicas);
    std::mt19937 random(11);
    std::vector<xla::Buffer> buffers;
    for (int64_t replica = 0; replica < spec_.replicas; ++replica) {
      AddArguments(client, client.devices()[replica], random, x_end, classes, buffers);
    }
    std::vector<const xla::Buffer*> arguments;
    for (const xla::Buffer& buffer : buffers) arguments.push_back(&buffer);
    const xla::Execution run = Compile(plugin)->Execute(arguments);
    run.Await();
    std::vector<std::vector<std::byte>> results;
    for (const xla::Buffer& output : run.outputs[0]) {
      results.push_back(output.ToVector<std::byte>());
    }
    return results;
  }

  // Trains without and with recomputation of all blocks and expects the same bits.
  void ExpectSameBits(const std::string& plugin, double x_end, double classes) {
    spec_.recompute = Recompute::None();
    const auto kept = Run(plugin, x_end, classes);
    spec_.recompute = Recompute::AllBlocks();
    EXPECT_GT(ir::RecomputedFlops(*Build().graph), 0);
    const auto recomputed = Run(plugin, x_end, classes);
    ASSERT_EQ(kept.size(), recomputed.size());
    const auto layout = StateLayout(model_, *optimizer_, spec_.loss_scale);
    for (size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(kept[i], recomputed[i])
          << (i < layout.size() ? layout[i].name : fmt::format("result {}", i));
    }
  }

 private:
  // One replica's: state, batches of all steps, weights of rows, number of steps, learning rate's
  // factor.
  void AddArguments(const xla::Client& client, const xla::Device& device, std::mt19937& random,
                    double x_end, double classes, std::vector<xla::Buffer>& buffers) const {
    const auto add = [&](const Shape& shape, const std::function<double(int64_t)>& element) {
      std::vector<std::byte> bytes(static_cast<size_t>(shape.bytes()));
      for (int64_t i = 0; i < shape.size(); ++i) {
        ir::StoreElement(shape.dtype, element(i), bytes.data() + i * ir::ByteSize(shape.dtype));
      }
      buffers.push_back(client.FromHost(bytes.data(), shape, device));
    };
    for (const StateTensor& tensor : StateLayout(model_, *optimizer_, spec_.loss_scale)) {
      std::vector<float> values(static_cast<size_t>(tensor.shape.size()),
                                static_cast<float>(tensor.initial));
      if (tensor.kind == StateTensor::Kind::kVariable) {
        nn::Initialize(model_.variables()[tensor.variable].initializer, tensor.shape, 3,
                       tensor.name, values);
      }
      add(tensor.shape, [&](int64_t i) { return values[i]; });
    }
    const int64_t steps = spec_.steps_per_launch;
    const auto stacked = [&](Shape shape) {
      shape.dims.insert(shape.dims.begin(), steps);
      return shape;
    };
    const Shape &x = spec_.field_shapes[0], &y = spec_.field_shapes[1];
    const auto draw = [&](double end) {
      return static_cast<double>(random()) / std::pow(2.0, 32) * end;
    };
    add(stacked(x), [&](int64_t) {
      const double value = draw(x_end);
      return ir::IsInteger(x.dtype) ? std::floor(value) : value;
    });
    add(stacked(y), [&](int64_t) { return std::floor(draw(classes)); });
    // The last row is padding.
    const int64_t rows = x.dim(0);
    add(Shape(DType::kF32, {steps, rows}), [&](int64_t i) { return i % rows == rows - 1 ? 0 : 1; });
    add(Shape::Scalar(DType::kI32), [&](int64_t) { return static_cast<double>(steps); });
    add(Shape::Scalar(DType::kF32), [&](int64_t) { return 1; });
  }

  const nn::Model& model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<nn::Loss> loss_;
  StepSpec spec_;
};

// What a model is trained in, and where.
struct Setting {
  Case one;
  std::string plugin, policy;
  int64_t replicas = 1;
  int64_t micro_rows = 0;
};

std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << setting.one.name << " on " << setting.plugin << " in " << setting.policy << ", "
             << setting.replicas << " replicas, micro-batches of " << setting.micro_rows;
}

class SameBits : public ::testing::TestWithParam<Setting> {};

// Losses and state after several steps. docs/recompute.md says where XLA does not keep them.
TEST_P(SameBits, AfterSteps) {
  const Setting& setting = GetParam();
  nn::Model model = ModelOf(setting.one.model, setting.one.x);
  model.SetPolicy(nn::Policy::Named(setting.policy));
  Training training(model, setting.one.x, setting.one.y);
  training.spec().replicas = setting.replicas;
  training.spec().micro_rows = setting.micro_rows;
  training.ExpectSameBits(setting.plugin, setting.one.x_end, setting.one.classes);
}

INSTANTIATE_TEST_SUITE_P(Models, SameBits,
                         ::testing::Values(Setting{kMlp, "cpu-0.81", "float32"},
                                           Setting{kCnn, "cpu-0.81", "float32"},
                                           Setting{kResNet, "cpu-0.81", "float32"},
                                           Setting{kResNet, "cpu-0.81", "mixed_bfloat16"},
                                           Setting{kChain, "cpu-0.81", "float32"},
                                           Setting{kChain, "cpu-0.81", "float32", 2, 24},
                                           Setting{kCnn, "cpu-0.115", "float32", 2},
                                           Setting{kRecurrent, "cpu-0.115", "float32"},
                                           Setting{kTransformer, "cpu-0.115", "float32"}));

TEST(SharedLayersSameBits, AfterSteps) {
  for (const char* plugin : {"cpu-0.81", "cpu-0.115"}) {
    SCOPED_TRACE(plugin);
    const nn::Model model = Shared(24);
    Training training(model, Shape(DType::kF32, {16, 24}), Shape(DType::kI32, {16}));
    training.ExpectSameBits(plugin, 1, 10);
  }
}

// Uses of one layer are blocks of their own, the last of them within another block.
TEST(Recompute, SharedLayers) {
  const nn::Model model = Shared(24);
  const std::vector<nn::Block> blocks = nn::Blocks(model);
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_THAT(blocks[0].layers, ElementsAre("block1_shared", "block1_norm"));
  EXPECT_EQ(blocks[1].name, "block1#2");
  EXPECT_THAT(blocks[1].layers, ElementsAre("block1_shared"));
  EXPECT_THAT(blocks[2].layers, ElementsAre("block2_dense", "block2_add"));  // around the next one
  EXPECT_THAT(blocks[3].layers, ElementsAre("block1_shared"));
}

TEST(Recompute, ReportsFlopsApart) {
  const Case& one = kResNet;
  const nn::Model model = ModelOf(one.model, one.x);
  Training training(model, one.x, one.y);
  const Program plain = training.Build();
  training.spec().recompute = Recompute::AllBlocks();
  const Program recomputed = training.Build();
  EXPECT_EQ(recomputed.step_flops, plain.step_flops);
  EXPECT_EQ(ir::RecomputedFlops(*plain.graph), 0);
  // Forward is a third of a step; the blocks are most of it, and the last convolution of each block
  // need not be done again.
  const double again = ir::RecomputedFlops(*recomputed.graph);
  EXPECT_GT(again, 0.1 * plain.step_flops);
  EXPECT_LT(again, 0.34 * plain.step_flops);
  // What the plan says is what the program has.
  const nn::RecomputePlan plan = nn::PlanRecompute(model, {}, one.x.dim(0));
  double planned = 0;
  for (const nn::BlockCost& block : plan.blocks) planned += block.flops;
  EXPECT_NEAR(planned, again, 0.1 * again);
}

int64_t TempBytes(const Training& training, const std::string& plugin) {
  return training.Compile(plugin)->memory().value().temp;
}

TEST(Recompute, TakesLessMemory) {
  const struct {
    Case one;
    std::string plugin;
    double at_most;  // of the bytes without recomputation
  } sizes[] = {
      {kTransformer, "cpu-0.115", 0.65},
      {kResNet, "cpu-0.81", 0.85},
      {kRecurrent, "cpu-0.115", 0.9},
  };
  for (const auto& size : sizes) {
    const nn::Model model = ModelOf(size.one.model, size.one.x);
    Training training(model, size.one.x, size.one.y);
    const int64_t kept = TempBytes(training, size.plugin);
    training.spec().recompute = Recompute::AllBlocks();
    const int64_t recomputed = TempBytes(training, size.plugin);
    EXPECT_LE(static_cast<double>(recomputed), size.at_most * static_cast<double>(kept))
        << size.one.name << ": " << kept << " bytes, recomputed " << recomputed;
  }
}

TEST(Recompute, BlocksOfModels) {
  const auto names = [](const nn::Model& model, const Recompute& recompute) {
    std::vector<std::string> names;
    for (const nn::Block& block : nn::ChosenBlocks(model, recompute)) names.push_back(block.name);
    return names;
  };
  const nn::Model transformer = ModelOf(kTransformer.model, kTransformer.x);
  EXPECT_THAT(names(transformer, Recompute::AllBlocks()), ElementsAre("block1", "block2"));
  EXPECT_THAT(names(transformer, Recompute::None()), IsEmpty());
  EXPECT_THAT(names(transformer, {.kind = Recompute::Kind::kAuto}), IsEmpty());
  EXPECT_THAT(names(transformer, Recompute::Only({"block2", "block1"})),
              ElementsAre("block1", "block2"));
  EXPECT_THAT(names(transformer, Recompute::Only({"*_attention", "block2"})),
              ElementsAre("block1_attention", "block2"));
  const nn::Model resnet = ModelOf(kResNet.model, kResNet.x);
  EXPECT_EQ(names(resnet, Recompute::AllBlocks()).size(), 8u);
  EXPECT_THAT(names(resnet, Recompute::Only({"stage2_*"})),
              ElementsAre("stage2_block1", "stage2_block2"));
  // A chain has segments; the layer that gives the output is in none.
  const nn::Model mlp = ModelOf("builtin = \"mlp\"\nlayers = 16\nunits = 64\n", kMlp.x);
  const std::vector<nn::Block> segments = nn::Blocks(mlp);
  EXPECT_GE(segments.size(), 2u);
  EXPECT_LE(segments.size(), 10u);
  size_t layers = 0;
  for (const nn::Block& segment : segments) layers += segment.layers.size();
  EXPECT_EQ(layers, mlp.layers().size() - 1);
}

TEST(Recompute, UnknownNamesGetTheNearest) {
  const nn::Model resnet = ModelOf(kResNet.model, kResNet.x);
  EXPECT_THAT([&] { nn::ChosenBlocks(resnet, Recompute::Only({"stage1_blok1"})); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("no layer of model resnet18"),
                                             HasSubstr("did you mean \"stage1_block1\"?"),
                                             HasSubstr("stage4_block2"))));
  const auto read = [](const std::string& text) {
    nn::Recompute recompute;
    ReadConfig(*Config::ParseToml("r = " + text, "x.toml").Find("r"), recompute);
    return recompute;
  };
  EXPECT_EQ(read("\"none\""), Recompute::None());
  EXPECT_EQ(read("\"blocks\""), Recompute::AllBlocks());
  EXPECT_EQ(read("\"auto\"").kind, Recompute::Kind::kAuto);
  EXPECT_EQ(read("[\"a\", \"b_*\"]"), Recompute::Only({"a", "b_*"}));
  EXPECT_EQ(read("[\"a\", \"b_*\"]").ToString(), "blocks: a, b_*");
  EXPECT_EQ(read("\"auto\"").ToString(), "auto");
  const auto error = [&](const std::string& text) -> std::string {
    try {
      read(text);
    } catch (const UserError& complaint) {
      return complaint.what();
    }
    return "no error";
  };
  EXPECT_THAT(error("\"block\""),
              AllOf(HasSubstr("x.toml:1:1: r:"), HasSubstr("did you mean \"blocks\"?")));
  EXPECT_THAT(error("3"), HasSubstr("the integer 3"));
  EXPECT_THAT(error("[]"), HasSubstr("\"none\""));
  EXPECT_THAT(error("[3]"), HasSubstr("expected a string"));
}

TEST(Recompute, PlansWhatIsWorthIt) {
  nn::RecomputePlan plan;
  plan.blocks = {{"a", 100, 1000}, {"b", 100, 10}, {"c", 50, 10}, {"d", 0, 10}};
  const auto saved = [&](std::vector<std::string> names) { return plan.BytesSaved(names); };
  EXPECT_EQ(saved({}), 0);
  EXPECT_EQ(saved({"a"}), 100);
  // When the last one is recomputed, all before it is still kept.
  EXPECT_EQ(saved({"c"}), 0);
  EXPECT_EQ(saved({"b", "c"}), 50);
  EXPECT_EQ(saved({"a", "b", "c"}), 150);
  EXPECT_EQ(plan.Choose(0), Recompute::None());
  EXPECT_EQ(plan.Choose(1), Recompute::Only({"b"}));
  EXPECT_EQ(plan.Choose(60), Recompute::Only({"b", "a"}));
  EXPECT_EQ(plan.Choose(1000), Recompute::Only({"b", "a", "c"}));
  EXPECT_EQ(plan.Flops(std::vector<std::string>{"a", "b"}), 1010);

  const Case& one = kTransformer;
  const nn::Model model = ModelOf(one.model, one.x);
  const nn::RecomputePlan of_model = nn::PlanRecompute(model, {}, one.x.dim(0));
  ASSERT_EQ(of_model.blocks.size(), 2u);
  // Blocks of equal layers cost and save the same; those in front are worth the most.
  EXPECT_EQ(of_model.blocks[0].bytes, of_model.blocks[1].bytes);
  EXPECT_EQ(of_model.blocks[0].flops, of_model.blocks[1].flops);
  EXPECT_GT(of_model.blocks[0].bytes, 0);
  EXPECT_EQ(of_model.Choose(1), Recompute::Only({"block1"}));
  // But for the causal mask, activations grow with the rows.
  const auto bytes = static_cast<double>(of_model.blocks[0].bytes);
  const nn::RecomputePlan twice = nn::PlanRecompute(model, {}, 2 * one.x.dim(0));
  EXPECT_NEAR(static_cast<double>(twice.blocks[0].bytes), 2 * bytes, 0.01 * bytes);
}

}  // namespace
}  // namespace flatout::step
