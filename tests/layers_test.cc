// Behaviour of layers that no recording shows: padding rows, randomness, dtypes, shared weights,
// and the layers that are not Keras's.
#include "flatout/nn/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/activation.h"
#include "flatout/nn/model.h"
#include "tests/recorded.h"

namespace flatout::testing {
namespace {

using ::testing::ElementsAre;

HostTensor F32(ir::Dims dims, std::vector<double> data) {
  return {ir::Shape(ir::DType::kF32, std::move(dims)), std::move(data)};
}

// Values that are all different and neither all of one sign nor large.
HostTensor Ramp(ir::Dims dims) {
  HostTensor result{ir::Shape(ir::DType::kF32, std::move(dims)), {}};
  for (int64_t i = 0; i < result.shape.size(); ++i) {
    result.data.push_back(std::sin(static_cast<double>(i) * 1.7) + 0.1);
  }
  return result;
}

// One trace, its arguments kept by the names of the graph's parameters. Weights that no Set gives a
// value are a ramp.
class Trace {
 public:
  explicit Trace(nn::ContextOptions options = {}) : context_(graph_, options, &variables_) {}

  nn::Context& context() { return context_; }
  ir::Graph& graph() { return graph_; }
  ir::Value Input(const std::string& name, const HostTensor& value) {
    Set(name, value);
    return graph_.AddParameter(value.shape, name);
  }
  void Set(const std::string& name, const HostTensor& value) { values_[name] = value; }
  std::vector<HostTensor> Run(std::vector<ir::Value> outputs) {
    graph_.SetOutputs(std::move(outputs));
    return RunGraph(graph_, Arguments());
  }
  // On two replicas whose arguments differ in `name` only.
  std::vector<std::vector<HostTensor>> RunOnTwo(std::vector<ir::Value> outputs,
                                                const std::string& name, const HostTensor& second) {
    graph_.SetOutputs(std::move(outputs));
    std::vector<std::vector<HostTensor>> arguments = {Arguments()};
    Set(name, second);
    arguments.push_back(Arguments());
    return testing::RunOnTwo(graph_, arguments);
  }
  // The key of a step, and which row of the global batch comes first.
  void SetRandom(uint64_t seed, int64_t first_row) {
    context_.SetRandom(ir::MakeKey(graph_, seed),
                       ir::Scalar(graph_, ir::DType::kU32, static_cast<double>(first_row)));
  }

 private:
  std::vector<HostTensor> Arguments() const {
    std::vector<HostTensor> arguments;
    for (size_t i = 0; i < graph_.parameters().size(); ++i) {
      const auto found = values_.find(graph_.parameter_name(i));
      arguments.push_back(found != values_.end() ? found->second
                                                 : Ramp(graph_.parameters()[i].dims()));
    }
    return arguments;
  }

  ir::Graph graph_{"main"};
  std::vector<nn::Variable> variables_;
  nn::Context context_;
  std::map<std::string, HostTensor> values_;
};

TEST(BatchNormalizationTest, PaddingRowsDoNotCount) {
  const HostTensor small = Ramp({3, 2, 4});
  HostTensor padded = small;
  padded.shape.dims[0] = 5;
  padded.data.insert(padded.data.end(), 16, 99.0);

  const auto run = [](const HostTensor& x, bool weights) {
    Trace trace({.training = true});
    const nn::LayerPtr layer = nn::BatchNormalization({.momentum = 0.5, .common = {.name = "bn"}});
    trace.Set("bn/moving_variance", F32({4}, {1, 2, 3, 4}));
    const ir::Value input = trace.Input("x", x);
    if (weights) trace.context().SetRowWeights(trace.Input("rows", F32({5}, {1, 1, 1, 0, 0})));
    const ir::Value y = trace.context().Call(*layer, input);
    // Only real rows reach the loss, as in training.
    const ir::Value loss = ir::ReduceSum(ir::SliceAxis(ir::Square(y) * y, 0, 0, 3));
    const ir::Value dx = ir::Gradient(loss, std::vector<ir::Value>{input})[0];
    return trace.Run({ir::SliceAxis(y, 0, 0, 3), trace.context().Lookup("bn/moving_mean"),
                      trace.context().Lookup("bn/moving_variance"), ir::SliceAxis(dx, 0, 0, 3)});
  };
  const auto expected = run(small, false);
  const auto found = run(padded, true);
  for (size_t i = 0; i < expected.size(); ++i) {
    ExpectClose(found[i], expected[i], 1e-5, fmt::format("result {}", i));
  }
}

TEST(BatchNormalizationTest, OnlyPaddingLeavesTheStatistics) {
  Trace trace({.training = true});
  const nn::LayerPtr layer = nn::BatchNormalization({.common = {.name = "bn"}});
  trace.Set("bn/moving_mean", F32({2}, {1, 2}));
  trace.Set("bn/moving_variance", F32({2}, {3, 4}));
  const ir::Value x = trace.Input("x", F32({2, 2}, {5, 6, 7, 8}));
  trace.context().SetRowWeights(trace.Input("rows", F32({2}, {0, 0})));
  const ir::Value y = trace.context().Call(*layer, x);
  const auto results = trace.Run(
      {trace.context().Lookup("bn/moving_mean"), trace.context().Lookup("bn/moving_variance"), y});
  EXPECT_THAT(results[0].data, ElementsAre(1, 2));
  EXPECT_THAT(results[1].data, ElementsAre(3, 4));
  for (const double value : results[2].data) EXPECT_TRUE(std::isfinite(value));
}

TEST(BatchNormalizationTest, FrozenUsesTheMovingStatistics) {
  const auto run = [](bool training) {
    Trace trace({.training = training});
    const nn::LayerPtr layer =
        nn::BatchNormalization({.common = {.name = "bn", .trainable = !training}});
    trace.Set("bn/moving_variance", F32({3}, {1, 2, 3}));
    const ir::Value y = trace.context().Call(*layer, trace.Input("x", Ramp({4, 3})));
    EXPECT_TRUE(trace.context().updates().empty());
    return trace.Run({y});
  };
  ExpectClose(run(true)[0], run(false)[0], 0, "frozen in training");
}

TEST(BatchNormalizationTest, OnReplicas) {
  const HostTensor all = Ramp({6, 3});
  const auto part = [&](int64_t first) {
    return F32({3, 3}, {all.data.begin() + first * 3, all.data.begin() + (first + 3) * 3});
  };
  // y, moving mean, moving variance and the gradient by x.
  const auto trace = [](Trace& trace, const HostTensor& x, bool synchronized) {
    const nn::LayerPtr layer =
        nn::BatchNormalization({.synchronized = synchronized, .common = {.name = "bn"}});
    const ir::Value input = trace.Input("x", x);
    const ir::Value y = trace.context().Call(*layer, input);
    const ir::Value loss = ir::ReduceSum(ir::Square(y) * y);
    return std::vector<ir::Value>{y, trace.context().Lookup("bn/moving_mean"),
                                  trace.context().Lookup("bn/moving_variance"),
                                  ir::Gradient(loss, std::vector<ir::Value>{input})[0]};
  };
  Trace whole({.training = true});
  const auto expected = whole.Run(trace(whole, all, false));
  for (const bool synchronized : {false, true}) {
    Trace replicas({.training = true, .replicas = 2});
    const auto outputs = trace(replicas, part(0), synchronized);
    const auto found = replicas.RunOnTwo(outputs, "x", part(3));
    // Both replicas keep the same statistics; the mean is that of all rows either way.
    for (size_t i = 1; i <= 2; ++i) EXPECT_EQ(found[0][i].data, found[1][i].data);
    ExpectClose(found[0][1], expected[1], 1e-6, "moving mean");
    if (!synchronized) {
      Trace alone({.training = true});
      const auto first = alone.Run(trace(alone, part(0), false));
      ExpectClose(found[0][0], first[0], 1e-5, "a replica by itself");
      continue;
    }
    ExpectClose(found[0][2], expected[2], 1e-6, "moving variance");
    for (const size_t i : {0, 3}) {
      HostTensor both = expected[i];
      both.data = found[0][i].data;
      both.data.insert(both.data.end(), found[1][i].data.begin(), found[1][i].data.end());
      ExpectClose(both, expected[i], 1e-5, i == 0 ? "output" : "gradient");
    }
  }
}

// Runs a layer in training on rows of ones, numbered from first_row.
HostTensor Draw(const nn::LayerPtr& layer, ir::Dims dims, int64_t first_row, uint64_t seed = 7) {
  Trace trace({.training = true});
  trace.SetRandom(seed, first_row);
  HostTensor ones{ir::Shape(ir::DType::kF32, dims), {}};
  ones.data.assign(static_cast<size_t>(ones.shape.size()), 1.0);
  return trace.Run({trace.context().Call(*layer, trace.Input("x", ones))})[0];
}

std::vector<double> Rows(const HostTensor& tensor, int64_t first, int64_t count) {
  const int64_t width = tensor.shape.size() / tensor.shape.dim(0);
  return {tensor.data.begin() + first * width, tensor.data.begin() + (first + count) * width};
}

TEST(RandomLayersTest, ARowsBitsDoNotDependOnTheReplica) {
  const std::vector<nn::LayerPtr> layers = {
      nn::Dropout({.rate = 0.5}), nn::SpatialDropout1D({.rate = 0.5}),
      nn::GaussianNoise({.stddev = 1}), nn::GaussianDropout({.rate = 0.5}),
      nn::AlphaDropout({.rate = 0.5})};
  for (const nn::LayerPtr& layer : layers) {
    const HostTensor all = Draw(layer, {8, 3, 5}, 0);
    EXPECT_EQ(Rows(all, 4, 4), Draw(layer, {4, 3, 5}, 4).data) << layer->type();
    EXPECT_EQ(Rows(all, 5, 1), Draw(layer, {1, 3, 5}, 5).data) << layer->type();
    EXPECT_NE(Rows(all, 0, 4), Rows(all, 4, 4)) << layer->type();
    EXPECT_NE(all.data, Draw(layer, {8, 3, 5}, 0, 8).data) << layer->type();
  }
}

TEST(RandomLayersTest, SharedNoiseIsTheSameOnAllReplicas) {
  const nn::LayerPtr layer = nn::Dropout({.rate = 0.5, .noise_shape = {1, -1}});
  const HostTensor first = Draw(layer, {2, 64}, 0);
  EXPECT_EQ(first.data, Draw(layer, {2, 64}, 2).data);
  EXPECT_EQ(Rows(first, 0, 1), Rows(first, 1, 1));
}

TEST(RandomLayersTest, SeedsGiveStreamsOfTheirOwn) {
  const auto with = [](std::optional<int64_t> seed) {
    return Draw(nn::Dropout({.rate = 0.5, .seed = seed}), {4, 32}, 0).data;
  };
  EXPECT_EQ(with(3), with(3));
  EXPECT_NE(with(3), with(4));
  EXPECT_NE(with(3), with(std::nullopt));
}

TEST(RandomLayersTest, DropoutKeepsTheMean) {
  const HostTensor y = Draw(nn::Dropout({.rate = 0.25}), {200, 100}, 0);
  int64_t kept = 0;
  for (const double value : y.data) {
    if (value != 0) {
      EXPECT_NEAR(value, 1 / 0.75, 1e-6);
      ++kept;
    }
  }
  // Binomial(20000, 0.75): five standard deviations are 306.
  EXPECT_NEAR(static_cast<double>(kept), 15000, 306);
}

TEST(RandomLayersTest, SpatialDropoutDropsWholeChannels) {
  const HostTensor y = Draw(nn::SpatialDropout2D({.rate = 0.5}), {6, 3, 3, 10}, 0);
  int64_t dropped = 0;
  for (int64_t row = 0; row < 6; ++row) {
    for (int64_t channel = 0; channel < 10; ++channel) {
      const double first = y.data[static_cast<size_t>(row * 90 + channel)];
      for (int64_t cell = 1; cell < 9; ++cell) {
        EXPECT_EQ(y.data[static_cast<size_t>(row * 90 + cell * 10 + channel)], first);
      }
      if (first == 0) ++dropped;
    }
  }
  EXPECT_GT(dropped, 10);
  EXPECT_LT(dropped, 50);
}

TEST(RandomLayersTest, GaussianNoiseAndAlphaDropoutHaveTheirMoments) {
  const auto moments = [](const HostTensor& y) {
    const auto n = static_cast<double>(y.data.size());
    const double mean = std::accumulate(y.data.begin(), y.data.end(), 0.0) / n;
    double squares = 0;
    for (const double value : y.data) squares += (value - mean) * (value - mean);
    return std::pair(mean, std::sqrt(squares / n));
  };
  // 20000 draws: the mean's standard error is 0.014, the deviation's 0.01.
  const auto [mean, deviation] = moments(Draw(nn::GaussianNoise({.stddev = 2}), {200, 100}, 0));
  EXPECT_NEAR(mean, 1, 0.08);
  EXPECT_NEAR(deviation, 2, 0.06);
  const auto [product, spread] = moments(Draw(nn::GaussianDropout({.rate = 0.5}), {200, 100}, 0));
  EXPECT_NEAR(product, 1, 0.04);
  EXPECT_NEAR(spread, 1, 0.03);
}

TEST(ContextTest, StatesGiveWhatWasAssigned) {
  class Counter : public nn::Layer {
   public:
    Counter() : Layer("Counter", {.name = "counter"}) {}
    std::vector<ir::Value> Call(nn::Context& ctx,
                                std::span<const ir::Value> inputs) const override {
      ctx.Assign("count", ctx.State("count", {1}, "zeros") + 1.0);
      return {inputs[0] + ctx.State("count", {1}, "zeros")};
    }
  };
  Trace trace({.training = true});
  trace.Set("counter/count", F32({1}, {5}));
  const Counter layer;
  const ir::Value x = trace.Input("x", F32({1, 1}, {0}));
  const ir::Value once = trace.context().Call(layer, x);
  const ir::Value twice = trace.context().Call(layer, x);
  const auto results = trace.Run({once, twice, trace.context().updates().at("counter/count")});
  EXPECT_EQ(results[0].data[0], 6);
  EXPECT_EQ(results[1].data[0], 7);
  EXPECT_EQ(results[2].data[0], 7);
}

TEST(ModelTest, SharedLayersShareTheirWeights) {
  nn::Tensor a = nn::Input({3}, ir::DType::kF32, "a");
  nn::Tensor b = nn::Input({3}, ir::DType::kF32, "b");
  const nn::LayerPtr dense = nn::Dense({.units = 2, .use_bias = false});
  const nn::Model model({a, b}, {nn::Subtract()({dense(a), dense(b)})});
  EXPECT_EQ(model.parameters(), 6);
  Trace trace;
  const ir::Value one = trace.Input("a", Ramp({4, 3}));
  const ir::Value two = trace.Input("b", Ramp({4, 3}));
  const auto outputs = model.Call(trace.context(), std::vector<ir::Value>{one, two});
  const auto results = trace.Run(outputs);
  for (const double value : results[0].data) EXPECT_EQ(value, 0);
}

TEST(PrecisionTest, LayersComputeInThePolicyAndTheLastInFloat32) {
  nn::Tensor x = nn::Input({8}, ir::DType::kF32, "x");
  const nn::Model model(
      {x}, {nn::Dense({.units = 3})(nn::Dense({.units = 5, .common = {.dtype = "float32"}})(
               nn::Dense({.units = 4, .activation = "relu"})(x)))});
  Trace trace({.policy = nn::Policy::Named("mixed_bfloat16")});
  const auto outputs =
      model.Call(trace.context(), std::vector<ir::Value>{trace.Input("x", Ramp({2, 8}))});
  EXPECT_EQ(outputs[0].dtype(), ir::DType::kF32);
  std::map<std::string, ir::DType> dots;
  for (const auto& node : trace.graph().nodes()) {
    if (node->name() == "dot_general") dots[node->scope()] = node->shape().dtype;
  }
  EXPECT_EQ(dots.at("dense"), ir::DType::kBF16);
  EXPECT_EQ(dots.at("dense_1"), ir::DType::kF32);
  EXPECT_EQ(dots.at("dense_2"), ir::DType::kF32);
  for (const nn::Variable& variable : model.variables()) {
    EXPECT_EQ(variable.shape.dtype, ir::DType::kF32);
  }
  EXPECT_EQ(trace.Run(outputs)[0].shape.dims, (ir::Dims{2, 3}));
}

TEST(IntegerInputTest, BytesBecomeTheComputeDType) {
  Trace trace;
  const HostTensor bytes{ir::Shape(ir::DType::kU8, {2, 2, 2, 1}),
                         {0, 50, 100, 150, 200, 255, 1, 2}};
  HostTensor floats = bytes;
  floats.shape.dtype = ir::DType::kF32;
  const nn::LayerPtr conv =
      nn::Conv2D({.filters = 2, .kernel_size = {2}, .common = {.name = "conv"}});
  const ir::Value a = trace.context().Call(*conv, trace.Input("bytes", bytes));
  const ir::Value b = trace.context().Call(*conv, trace.Input("floats", floats));
  const auto results = trace.Run({a, b});
  EXPECT_EQ(results[0].data, results[1].data);
}

TEST(ReversibleEmbeddingTest, BackwardsIsTheTranspose) {
  Trace trace;
  const nn::LayerPtr layer =
      nn::ReversibleEmbedding({.input_dim = 3, .output_dim = 2, .common = {.name = "tokens"}});
  trace.Set("tokens/embeddings", F32({3, 2}, {1, 2, 3, 4, 5, 6}));
  const HostTensor ids{ir::Shape(ir::DType::kI32, {1, 2}), {2, 0}};
  const ir::Value rows = trace.context().Call(*layer, trace.Input("ids", ids));
  const ir::Value logits = trace.context().Call(*layer, rows);
  const auto results = trace.Run({rows, logits});
  EXPECT_THAT(results[0].data, ElementsAre(5, 6, 1, 2));
  EXPECT_THAT(results[1].data, ElementsAre(17, 39, 61, 5, 11, 17));
}

TEST(EmbeddingCollectionTest, OneTableForEachColumn) {
  Trace trace;
  const nn::LayerPtr layer =
      nn::EmbeddingCollection({.input_dim = {2, 3}, .output_dim = 2, .common = {.name = "tables"}});
  trace.Set("tables/embeddings_0", F32({2, 2}, {1, 2, 3, 4}));
  trace.Set("tables/embeddings_1", F32({3, 2}, {10, 20, 30, 40, 50, 60}));
  const HostTensor ids{ir::Shape(ir::DType::kI32, {2, 2}), {1, 2, 0, 1}};
  const auto results = trace.Run({trace.context().Call(*layer, trace.Input("ids", ids))});
  EXPECT_EQ(results[0].shape.dims, (ir::Dims{2, 2, 2}));
  EXPECT_THAT(results[0].data, ElementsAre(3, 4, 50, 60, 1, 2, 30, 40));
}

TEST(DotInteractionTest, LowerTriangleRowByRow) {
  Trace trace;
  const std::vector<ir::Value> inputs = {trace.Input("a", F32({1, 2}, {1, 2})),
                                         trace.Input("b", F32({1, 2, 2}, {3, 4, 5, 6}))};
  const nn::LayerPtr plain = nn::DotInteraction();
  const nn::LayerPtr with_self = nn::DotInteraction({.self_interaction = true});
  const auto results = trace.Run(
      {trace.context().Call(*plain, inputs)[0], trace.context().Call(*with_self, inputs)[0]});
  EXPECT_THAT(results[0].data, ElementsAre(11, 17, 39));
  EXPECT_THAT(results[1].data, ElementsAre(5, 11, 25, 17, 39, 61));
}

TEST(PositionEmbeddingTest, AddsTheTablesFirstRows) {
  Trace trace;
  const nn::LayerPtr layer =
      nn::PositionEmbedding({.sequence_length = 3, .common = {.name = "positions"}});
  const ir::Value zeros = trace.Input("x", F32({2, 2, 2}, std::vector<double>(8, 0.0)));
  const ir::Value y = trace.context().Call(*layer, zeros);
  const auto results = trace.Run({y});
  const HostTensor table = Ramp({3, 2});
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(results[0].data[i], table.data[i % 4], 1e-6);
}

// The two cases where we differ from Keras (recorded_layers_test.cc).
TEST(DeviationsTest, SparsemaxSumsToOne) {
  Trace trace;
  const auto results = trace.Run(
      {nn::Activate("sparsemax", trace.Input("x", F32({2, 3}, {2, 1.5, -1, 0.1, 0.2, 0.3})))});
  const std::vector<double> expected = {0.75, 0.25, 0, 0.7 / 3, 1.0 / 3, 1.3 / 3};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(results[0].data[i], expected[i], 1e-6);
}

// As Keras's documentation says it: the largest window of the target's aspect, resized.
TEST(DeviationsTest, RandomCropResizesWithoutTraining) {
  Trace trace;
  const nn::LayerPtr layer = nn::RandomCrop({.height = 1, .width = 2});
  const auto results = trace.Run({trace.context().Call(
      *layer, trace.Input("x", F32({1, 2, 4, 1}, {0, 1, 2, 3, 4, 5, 6, 7})))});
  EXPECT_THAT(results[0].data, ElementsAre(2.5, 4.5));
}

struct SmallModel {
  std::string toml;
  std::vector<std::string> names;
  std::vector<HostTensor> inputs;
};

HostTensor Integers(ir::DType dtype, ir::Dims dims, int64_t limit) {
  HostTensor result{ir::Shape(dtype, std::move(dims)), {}};
  for (int64_t i = 0; i < result.shape.size(); ++i) {
    result.data.push_back(static_cast<double>(i * 7 % limit));
  }
  return result;
}

// Every built-in model, small, with padding: forward and all gradients are finite in every policy,
// and close to float32's.
TEST(BuiltinTest, TrainInEveryPolicy) {
  const HostTensor image = Integers(ir::DType::kU8, {3, 8, 8, 3}, 256);
  const std::vector<SmallModel> models = {
      {"builtin = \"mlp\"\nunits = 6\ndropout = 0.2", {"x"}, {image}},
      {"builtin = \"cnn\"\nfilters = [3, 4]\nunits = 5\ndropout = 0.2", {"x"}, {image}},
      {"builtin = \"resnet18\"\nwidth = 2", {"x"}, {image}},
      {"builtin = \"transformer\"\nvocabulary = 11\nwidth = 8\nheads = 2\nlayers = 1\n"
       "dropout = 0.1\ntied = true",
       {"x"},
       {Integers(ir::DType::kI32, {3, 5}, 11)}},
      {"builtin = \"dlrm\"\ntable_size = 9\nwidth = 4\nbottom_units = 3\ntop_units = 5",
       {"dense", "sparse"},
       {Ramp({3, 13}), Integers(ir::DType::kI32, {3, 2}, 9)}},
  };
  for (const SmallModel& one : models) {
    const Config config = Config::ParseToml("[model]\n" + one.toml + "\n", "small.toml");
    std::vector<ir::Shape> shapes;
    for (const HostTensor& input : one.inputs) {
      shapes.push_back(input.shape);
      shapes.back().dims.erase(shapes.back().dims.begin());
    }
    const nn::Model model = nn::Model::FromConfig(*config.Find("model"), one.names, shapes);
    double exact = 0;
    // Of the 18 layers each policy takes long to compile.
    std::vector<const char*> policies = {"float32", "mixed_float16"};
    if (model.name() != "resnet18") policies.push_back("mixed_bfloat16");
    for (const char* policy : policies) {
      Trace trace({.training = true, .policy = nn::Policy::Named(policy)});
      trace.SetRandom(3, 0);
      trace.context().SetRowWeights(trace.Input("rows", F32({3}, {1, 1, 0})));
      std::vector<ir::Value> inputs, weights;
      for (size_t i = 0; i < one.inputs.size(); ++i) {
        inputs.push_back(trace.Input(one.names[i], one.inputs[i]));
      }
      for (const nn::Variable& variable : model.variables()) {
        HostTensor value = Ramp(variable.shape.dims);
        for (double& element : value.data) element = element * 0.3 + (variable.trainable ? 0 : 1);
        const ir::Value weight = trace.Input(variable.path, value);
        trace.context().Bind(variable.path, weight);
        if (variable.trainable) weights.push_back(weight);
      }
      const ir::Value y = model.Call(trace.context(), inputs)[0];
      EXPECT_EQ(y.dtype(), ir::DType::kF32);
      const ir::Value loss = ir::ReduceMean(ir::Tanh(ir::SliceAxis(y, 0, 0, 2)));
      std::vector<ir::Value> outputs = ir::Gradient(loss, weights);
      for (const ir::Value gradient : outputs) EXPECT_EQ(gradient.dtype(), ir::DType::kF32);
      outputs.push_back(loss);
      for (const auto& [path, value] : trace.context().updates()) outputs.push_back(value);
      const auto results = trace.Run(outputs);
      for (const HostTensor& result : results) {
        for (const double value : result.data) {
          ASSERT_TRUE(std::isfinite(value)) << one.toml << " " << policy;
        }
      }
      const double found = results[weights.size()].data[0];
      if (exact == 0) exact = found;
      EXPECT_NEAR(found, exact, 0.1) << one.toml << " " << policy;
    }
  }
}

}  // namespace
}  // namespace flatout::testing
