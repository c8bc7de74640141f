// Lower precision: every layer in every policy against what Keras recorded in float32, whole models
// against Keras under the same policy, the loss scale against Keras's, and the places where 16 bits
// would lose what matters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "flatout/ir/gradient.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/activation.h"
#include "flatout/nn/layers.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/metric.h"
#include "flatout/nn/model.h"
#include "flatout/optim/loss_scale.h"
#include "tests/recorded.h"

namespace flatout::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::StartsWith;

// Relative to the largest element of a result: 16 roundings of half a last place each. Ten or so
// stand behind a result (its operands, what the layer keeps on its way, the same backwards, the
// result), and half as much again is for sums whose terms cancel. The most that is seen is 12.9:
// the gradient of attention's query bias, where the terms' absolute values add up to five times
// the largest sum. Computed in float64 with 16-bit operands, all else exact, it is as far off.
// So this says that a layer computes the right thing; that it adds up in float32 what must be is
// for LowPrecisionArithmetic to say: over few elements, sums of 16 bits are no further off.
double ToleranceOf(const nn::Policy& policy) {
  return 16 * std::ldexp(1.0, policy.compute == ir::DType::kBF16 ? -8 : -11);
}

// Compiling takes the time, and with larger programs it grows faster than they do.
constexpr int64_t kCasesPerProgram = 16;

HostTensor Tensor(ir::DType dtype, ir::Dims dims, std::vector<double> data) {
  return {ir::Shape(dtype, std::move(dims)), std::move(data)};
}

HostTensor F32(ir::Dims dims, std::vector<double> data) {
  return Tensor(ir::DType::kF32, std::move(dims), std::move(data));
}

// Values that are all different, between -scale and scale.
HostTensor Ramp(ir::Dims dims, double scale = 1) {
  HostTensor result = F32(std::move(dims), {});
  for (int64_t i = 0; i < result.shape.size(); ++i) {
    result.data.push_back(std::sin(static_cast<double>(i) * 1.7 + 0.3) * scale);
  }
  return result;
}

// One trace in a policy, its arguments by the names of the graph's parameters.
class Trace {
 public:
  explicit Trace(const std::string& policy, bool training = false)
      : context_(graph_, {.training = training, .policy = nn::Policy::Named(policy)}, &variables_) {
    context_.SetRandom(ir::MakeKey(graph_, 3), ir::Value());
  }

  ir::Graph& graph() { return graph_; }
  nn::Context& context() { return context_; }
  const std::vector<nn::Variable>& variables() const { return variables_; }
  ir::Value Input(const std::string& name, const HostTensor& value) {
    values_[name] = value;
    return graph_.AddParameter(value.shape, name);
  }
  void Set(const std::string& name, const HostTensor& value) { values_[name] = value; }
  // The parameters that weights below `layer` were made of, trainable ones only.
  std::vector<ir::Value> Weights(const std::string& layer) const {
    std::vector<ir::Value> weights;
    for (const nn::Variable& variable : variables_) {
      if (!variable.path.starts_with(layer + "/")) continue;
      for (size_t i = 0; i < graph_.parameters().size(); ++i) {
        const bool same = graph_.parameter_name(i) == variable.path;
        if (variable.trainable && same) weights.push_back(graph_.parameters()[i]);
      }
    }
    return weights;
  }
  std::vector<HostTensor> Run(std::vector<ir::Value> outputs) {
    graph_.SetOutputs(std::move(outputs));
    std::vector<HostTensor> arguments;
    for (size_t i = 0; i < graph_.parameters().size(); ++i) {
      const auto found = values_.find(graph_.parameter_name(i));
      arguments.push_back(found != values_.end() ? found->second
                                                 : Ramp(graph_.parameters()[i].dims(), 0.5));
    }
    return RunGraph(graph_, arguments);
  }

 private:
  ir::Graph graph_{"main"};
  std::vector<nn::Variable> variables_;
  nn::Context context_;
  std::map<std::string, HostTensor> values_;
};

nn::LayerPtr LayerFromToml(const std::string& text) {
  const Config config = Config::ParseToml("layer = " + text + "\n", "x.toml");
  return nn::LayerFromConfig(*config.Find("layer"));
}

// --- what may not be done in 16 bits, forward or backward
// -------------------------------------------------------------------------

// Nodes of `graph` that do in 16 bits what docs/precision.md says is float32: sums and products of
// many elements, within a node or from step to step of a loop. With `steep` also exponentials,
// logarithms, roots and quotients, which softmax and normalizations are made of.
std::vector<std::string> LowPrecisionArithmetic(const ir::Graph& graph, bool steep) {
  static const std::set<std::string_view> sums = {"reduce", "reduce_window", "cumulative_sum",
                                                  "scatter_add"};
  static const std::set<std::string_view> functions = {"exponential", "exponential_minus_one",
                                                       "log",         "log_plus_one",
                                                       "sqrt",        "rsqrt",
                                                       "cbrt",        "power",
                                                       "divide"};
  std::vector<std::string> found;
  const auto say = [&](const ir::Node& node, std::string_view how) {
    found.push_back(
        fmt::format("{} in {}{} ({})", node.name(), node.shape().ToString(), how, node.scope()));
  };
  const std::vector<bool> live = graph.LiveNodes();
  for (const auto& node : graph.nodes()) {
    if (!live[static_cast<size_t>(node->id())]) continue;
    if (ir::IsLowPrecision(node->shape().dtype)) {
      const ir::Attribute* kind =
          node->attrs().Find(node->name() == "reduce_window" ? "reduction" : "kind");
      const bool picks = kind != nullptr && (std::get<std::string>(*kind).starts_with("max") ||
                                             std::get<std::string>(*kind).starts_with("min"));
      if (sums.contains(node->name()) && !picks) say(*node, "");
      if (steep && functions.contains(node->name())) say(*node, "");
    }
    for (size_t i = 0; i < node->num_regions(); ++i) {
      const ir::Graph& region = node->region(i);
      for (std::string& inner : LowPrecisionArithmetic(region, steep)) {
        found.push_back(std::move(inner));
      }
      for (const ir::Value& output : region.outputs()) {
        const ir::Node& last = *output.node();
        if (last.name() != "add" || !ir::IsLowPrecision(output.dtype())) continue;
        const bool carries =
            std::any_of(last.inputs().begin(), last.inputs().end(),
                        [](const ir::Value& input) { return input.node()->name() == "parameter"; });
        if (carries) say(last, " from step to step");
      }
    }
  }
  return found;
}

TEST(LowPrecisionArithmeticTest, IsSeen) {
  ir::Graph graph("main");
  const ir::Value x = graph.AddParameter(ir::Shape(ir::DType::kBF16, {2, 8}), "x");
  // A softmax that nobody thought about.
  const ir::Value e = ir::Exp(x - ir::ReduceMax(x, {1}, true));
  const ir::Value sum =
      graph
          .AddNode(*ir::FindOp("reduce"), {e},
                   {{"kind", std::string("add")}, {"axes", std::vector<int64_t>{1}}})
          .output();
  const ir::Value y = e / ir::BroadcastTo(ir::Reshape(sum, {2, 1}), {2, 8});
  // A loop that adds up its input's rows.
  const ir::Value start = ir::Full(graph, ir::Shape(ir::DType::kBF16, {8}), 0);
  const auto total =
      ir::Scan(graph, 2, {}, {&start, 1}, {&y, 1}, [](ir::Graph&, std::span<const ir::Value> in) {
        return std::vector<ir::Value>{in[0] + in[1]};
      });
  graph.SetOutputs({total[0]});
  EXPECT_THAT(LowPrecisionArithmetic(graph, false),
              ElementsAre(StartsWith("reduce in "), HasSubstr("from step to step")));
  EXPECT_THAT(LowPrecisionArithmetic(graph, true),
              ElementsAre(StartsWith("exponential in "), StartsWith("reduce in "),
                          StartsWith("divide in "), HasSubstr("from step to step")));
  graph.SetOutputs({nn::Activate("softmax", x)});
  EXPECT_THAT(LowPrecisionArithmetic(graph, true), IsEmpty());
}

class ArithmeticTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ArithmeticTest, OfLayersIsFloat32WhereItMustBe) {
  const std::set<std::string> steep = {"BatchNormalization",
                                       "LayerNormalization",
                                       "GroupNormalization",
                                       "RMSNormalization",
                                       "UnitNormalization",
                                       "Normalization",
                                       "Softmax",
                                       "MultiHeadAttention",
                                       "AveragePooling1D",
                                       "AveragePooling2D",
                                       "AveragePooling3D",
                                       "GroupedQueryAttention",
                                       "Average",
                                       "Dot",
                                       "GlobalAveragePooling2D",
                                       "Rescaling"};
  for (const auto& [layer, cases] : RecordedLayers()) {
    // A table of 16 bits gets its gradient in the dtype that asks for it, and a training step asks
    // in float32.
    if (layer == "Embedding" && !std::string_view(GetParam()).starts_with("mixed")) continue;
    LayerProgram program(nn::Policy::Named(GetParam()));
    for (const json& one : cases) program.Add(one);
    EXPECT_THAT(LowPrecisionArithmetic(program.graph(), steep.contains(layer)), IsEmpty()) << layer;
  }
}

TEST_P(ArithmeticTest, OfActivationsIsFloat32WhereItMustBe) {
  for (const char* name : {"softmax", "log_softmax", "sparsemax", "softplus", "log_sigmoid", "mish",
                           "squareplus", "tanh_shrink"}) {
    ir::Graph graph("main");
    const ir::DType dtype = nn::Policy::Named(GetParam()).compute;
    const ir::Value x = graph.AddParameter(ir::Shape(dtype, {3, 4}), "x");
    const ir::Value y = nn::Activate(name, x);
    const ir::Value seed = graph.AddParameter(y.shape(), "seed");
    graph.SetOutputs({y, ir::Gradient(ir::ReduceSum(ir::Convert(y * seed, ir::DType::kF32)),
                                      std::vector<ir::Value>{x})[0]});
    EXPECT_THAT(LowPrecisionArithmetic(graph, true), IsEmpty()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, ArithmeticTest,
                         ::testing::Values("mixed_bfloat16", "mixed_float16", "bfloat16",
                                           "float16"),
                         [](const auto& info) { return std::string(info.param); });

// --- every layer against its recording in float32
// -------------------------------------------------

class LayerPrecisionTest : public ::testing::TestWithParam<const char*> {};

// In float16, whose roundings are the finer ones, up to four cases of a layer; what the other
// policies change are dtypes, and for them one case of each layer with weights must do. (In
// bfloat16 some others would not be close: an element in front of a relu crosses 0.)
TEST_P(LayerPrecisionTest, IsCloseToKerasInFloat32) {
  const nn::Policy policy = nn::Policy::Named(GetParam());
  auto program = std::make_unique<LayerProgram>(policy);
  int64_t in_program = 0;
  for (const auto& [layer, cases] : RecordedLayers()) {
    size_t count = layer == "Activation" ? cases.size() : 4;
    if (policy.compute == ir::DType::kBF16) count = 1;
    for (const json& one : std::span(cases).first(std::min(count, cases.size()))) {
      if (one.at("weights").empty() && policy.compute == ir::DType::kBF16) continue;
      ASSERT_NO_FATAL_FAILURE(
          WithContext(one.at("name").get<std::string>(), [&] { program->Add(one); }));
      if (++in_program < kCasesPerProgram) continue;
      program->RunAndCompare(ToleranceOf(policy));
      program = std::make_unique<LayerProgram>(policy);
      in_program = 0;
    }
  }
  if (in_program > 0) program->RunAndCompare(ToleranceOf(policy));
}

INSTANTIATE_TEST_SUITE_P(Keras, LayerPrecisionTest,
                         ::testing::Values("mixed_bfloat16", "mixed_float16", "bfloat16"),
                         [](const auto& info) { return std::string(info.param); });

// --- layers in training, and those that no recording has, against themselves in float32
// -----------

struct OwnCase {
  std::string layer;
  std::vector<HostTensor> inputs;
};

std::vector<OwnCase> OwnCases() {
  const HostTensor vectors = Ramp({4, 6}), sequence = Ramp({3, 5, 4});
  const HostTensor images = Ramp({2, 6, 6, 3});
  const HostTensor ids = Tensor(ir::DType::kI32, {3, 4}, {0, 8, 2, 3, 4, 5, 6, 7, 8, 0, 1, 1});
  return {
      {"{class = 'ReversibleEmbedding', input_dim = 9, output_dim = 4}", {ids}},
      {"{class = 'ReversibleEmbedding', input_dim = 9, output_dim = 4}", {sequence}},
      {"{class = 'EmbeddingCollection', input_dim = 9, output_dim = 4}", {ids}},
      {"{class = 'DotInteraction'}", {vectors, Ramp({4, 3, 6})}},
      {"{class = 'DotInteraction', self_interaction = true}", {vectors, Ramp({4, 3, 6})}},
      {"{class = 'PositionEmbedding', sequence_length = 7}", {sequence}},
      {"{class = 'RandomCrop', height = 4, width = 3}", {images}},
      {"{class = 'RandomFlip'}", {images}},
      {"{class = 'RandomTranslation', height_factor = 0.3, width_factor = 0.2}", {images}},
      {"{class = 'RandomRotation', factor = 0.2}", {images}},
      {"{class = 'RandomZoom', height_factor = 0.3}", {images}},
      {"{class = 'RandomContrast', factor = 0.4, value_range = [-5, 5]}", {images}},
      {"{class = 'RandomBrightness', factor = 0.3, value_range = [-3, 3]}", {images}},
      {"{class = 'Dropout', rate = 0.4}", {vectors}},
      {"{class = 'SpatialDropout1D', rate = 0.4}", {sequence}},
      {"{class = 'SpatialDropout2D', rate = 0.4}", {images}},
      {"{class = 'GaussianNoise', stddev = 0.5}", {vectors}},
      {"{class = 'GaussianDropout', rate = 0.4}", {vectors}},
      {"{class = 'AlphaDropout', rate = 0.4}", {vectors}},
      {"{class = 'ActivityRegularization', l1 = 0.1, l2 = 0.1}", {vectors}},
      {"{class = 'MultiHeadAttention', num_heads = 2, key_dim = 3, dropout = 0.3, use_gate = true,"
       " sliding_window = 2}",
       {sequence}},
      {"{class = 'LSTM', units = 3, dropout = 0.3, recurrent_dropout = 0.3}", {sequence}},
      {"{class = 'GRU', units = 3, dropout = 0.3, recurrent_dropout = 0.3}", {sequence}},
      {"{class = 'GRU', units = 3, recurrent_dropout = 0.3, reset_after = false}", {sequence}},
      {"{class = 'SimpleRNN', units = 3, unroll = true, return_sequences = true}", {sequence}},
      {"{class = 'LSTM', units = 3, unroll = true, return_sequences = true}", {sequence}},
      {"{class = 'TimeDistributed', layer = {class = 'Dense', units = 3}}", {sequence}},
      {"{class = 'Bidirectional', merge_mode = 'mul', layer = {class = 'GRU', units = 3}}",
       {sequence}},
      {"{class = 'Activation', activation = 'sparsemax'}", {vectors}},
  };
}

// Programs that are too large take longer to compile than their parts.
constexpr size_t kLayersPerProgram = 8;

// Trains all cases, a few in one program: for each the gradients of its inputs and weights, and its
// output last. Inputs are multiplied by `scale`.
std::vector<std::vector<HostTensor>> RunOwn(const std::vector<OwnCase>& cases,
                                            const std::string& policy, double scale = 1) {
  if (cases.size() > kLayersPerProgram) {
    const auto middle = cases.begin() + kLayersPerProgram;
    auto results = RunOwn({cases.begin(), middle}, policy, scale);
    for (auto& result : RunOwn({middle, cases.end()}, policy, scale)) {
      results.push_back(std::move(result));
    }
    return results;
  }
  Trace trace(policy, /*training=*/true);
  std::vector<ir::Value> outputs;
  std::vector<size_t> counts;
  for (size_t c = 0; c < cases.size(); ++c) {
    const OwnCase& one = cases[c];
    const nn::LayerPtr layer = LayerFromToml(one.layer).Named(fmt::format("case_{}", c));
    std::vector<ir::Value> inputs, sources;
    for (size_t i = 0; i < one.inputs.size(); ++i) {
      HostTensor input = one.inputs[i];
      if (ir::IsFloat(input.shape.dtype)) {
        for (double& value : input.data) value *= scale;
      }
      inputs.push_back(trace.Input(fmt::format("input {} {}", c, i), input));
      if (ir::IsFloat(input.shape.dtype)) sources.push_back(inputs.back());
    }
    const size_t earlier_losses = trace.context().losses().size();
    const ir::Value y = trace.context().Call(*layer, inputs).at(0);
    EXPECT_EQ(y.dtype(), nn::Policy::Named(policy).compute) << one.layer;
    for (const ir::Value weight : trace.Weights(layer->name())) sources.push_back(weight);
    const ir::Value seed = trace.Input(fmt::format("seed {}", c), Ramp(y.dims()));
    ir::Value target = ir::ReduceSum(ir::Convert(y, ir::DType::kF32) * seed);
    for (const ir::Value loss : trace.context().losses().subspan(earlier_losses)) {
      EXPECT_EQ(loss.dtype(), ir::DType::kF32);
      target = target + loss;
    }
    for (const ir::Value gradient : ir::Gradient(target, sources)) outputs.push_back(gradient);
    outputs.push_back(y);
    counts.push_back(sources.size() + 1);
  }
  const std::vector<HostTensor> results = trace.Run(outputs);
  for (const std::string& sum : LowPrecisionArithmetic(trace.graph(), false)) {
    // The pixels of a moved image give back what they took from a few neighbours.
    EXPECT_THAT(sum, StartsWith("scatter_add in "));
  }
  std::vector<std::vector<HostTensor>> by_case;
  size_t next = 0;
  for (const size_t count : counts) {
    by_case.emplace_back(results.begin() + static_cast<std::ptrdiff_t>(next),
                         results.begin() + static_cast<std::ptrdiff_t>(next + count));
    next += count;
  }
  return by_case;
}

TEST(OwnLayersTest, In16BitsAreCloseToFloat32) {
  const std::vector<OwnCase> cases = OwnCases();
  const auto exact = RunOwn(cases, "float32");
  const auto found = RunOwn(cases, "mixed_float16");
  const double tolerance = ToleranceOf(nn::Policy::Named("mixed_float16"));
  for (size_t c = 0; c < cases.size(); ++c) {
    ASSERT_EQ(found[c].size(), exact[c].size());
    for (size_t i = 0; i < found[c].size(); ++i) {
      const std::string what = fmt::format("{} result {}", cases[c].layer, i);
      ExpectFinite(found[c][i], what);
      ExpectClose(found[c][i], exact[c][i], tolerance, what);
    }
  }
}

// --- large numbers
// --------------------------------------------------------------------------------

// What is finite in float32, and no larger than float16's largest number, is finite in float16.
void ExpectFiniteWhereFloat32Is(const HostTensor& found, const HostTensor& exact,
                                const std::string& what) {
  ASSERT_EQ(found.data.size(), exact.data.size()) << what;
  for (size_t i = 0; i < found.data.size(); ++i) {
    if (!std::isfinite(exact.data[i]) || std::abs(exact.data[i]) > 60000) continue;
    ASSERT_TRUE(std::isfinite(found.data[i]))
        << what << ": element " << i << " is " << found.data[i] << ", in float32 " << exact.data[i];
  }
}

TEST(LargeNumbersTest, AreNoInfinitiesInFloat16) {
  std::vector<std::string> layers = {
      "{class = 'BatchNormalization'}",
      "{class = 'LayerNormalization'}",
      "{class = 'GroupNormalization', groups = 2}",
      "{class = 'RMSNormalization'}",
      "{class = 'UnitNormalization'}",
      "{class = 'Softmax'}",
      "{class = 'Softmax', axis = [1, 2]}",
      "{class = 'GlobalAveragePooling2D'}",
      "{class = 'GlobalMaxPooling2D'}",
      "{class = 'AveragePooling2D', pool_size = 3, strides = 1}",
      "{class = 'MaxPooling2D'}",
      "{class = 'ELU'}",
      "{class = 'ReLU'}",
      "{class = 'LeakyReLU'}",
      "{class = 'ActivityRegularization', l2 = 0.01}",
      "{class = 'Rescaling', scale = 0.001}",
      "{class = 'Normalization', mean = 1000.0, variance = 1e6}",
  };
  for (const std::string& name : nn::ActivationNames()) {
    // exp(12) is no float16, whatever it is computed in.
    if (name == "exponential") continue;
    layers.push_back("{class = 'Activation', activation = '" + name + "'}");
  }
  std::vector<OwnCase> cases;
  for (const std::string& layer : layers) cases.push_back({layer, {Ramp({2, 6, 6, 4})}});
  for (const double scale : {100.0, 1e4, 6e4}) {
    const auto exact = RunOwn(cases, "float32", scale);
    const auto found = RunOwn(cases, "mixed_float16", scale);
    for (size_t c = 0; c < cases.size(); ++c) {
      for (size_t i = 0; i < found[c].size(); ++i) {
        ExpectFiniteWhereFloat32Is(found[c][i], exact[c][i],
                                   fmt::format("{} at {} result {}", cases[c].layer, scale, i));
      }
    }
  }
}

TEST(LargeNumbersTest, AveragesDotsAndAttention) {
  const HostTensor x = Ramp({3, 8}, 5e4), y = Ramp({3, 8}, 5.5e4);
  const std::vector<OwnCase> cases = {
      {"{class = 'Average'}", {x, y}},
      {"{class = 'Dot', axes = 1, normalize = true}", {x, y}},
      // Scores beyond float16's range, and masked ones.
      {"{class = 'MultiHeadAttention', num_heads = 2, key_dim = 8, use_causal_mask = true}",
       {Ramp({2, 5, 8}, 300)}}};
  const auto exact = RunOwn(cases, "float32"), found = RunOwn(cases, "mixed_float16");
  for (size_t c = 0; c < cases.size(); ++c) {
    for (size_t i = 0; i < found[c].size(); ++i) {
      ExpectFiniteWhereFloat32Is(found[c][i], exact[c][i], cases[c].layer);
    }
  }
  ExpectClose(found[0].back(), exact[0].back(), 6e-3, cases[0].layer);
  ExpectClose(found[1].back(), exact[1].back(), 6e-3, cases[1].layer);
}

// Losses and metrics get the model's output, which may be 16 bit where a layer says so itself.
TEST(LargeNumbersTest, LossesAndMetricsAreFloat32) {
  // Probabilities and large numbers, all losses in one program.
  const auto run = [](ir::DType dtype) {
    ir::Graph graph("main");
    const ir::Value large = graph.AddParameter(ir::Shape(dtype, {4, 8}), "large");
    const ir::Value shares = graph.AddParameter(ir::Shape(dtype, {4, 8}), "shares");
    const ir::Value ones = graph.AddParameter(ir::Shape(ir::DType::kF32, {4, 8}), "ones");
    const ir::Value classes = graph.AddParameter(ir::Shape(ir::DType::kI32, {4}), "classes");
    std::vector<ir::Value> outputs;
    for (const std::string& name : nn::LossNames()) {
      const auto loss = nn::LossFromConfig(Config(name));
      const ir::Value p = name.find("crossentropy") == std::string::npos ? large : shares;
      const auto [sum, weight] = loss->Sums(name.starts_with("sparse") ? classes : ones, p, {});
      EXPECT_EQ(sum.dtype(), ir::DType::kF32) << name;
      EXPECT_EQ(weight.dtype(), ir::DType::kF32) << name;
      outputs.push_back(sum);
      outputs.push_back(ir::Gradient(sum, std::vector<ir::Value>{p})[0]);
    }
    for (const char* name : {"accuracy", "mean", "root_mean_squared_error", "cosine_similarity",
                             "mean_absolute_error"}) {
      const auto metric = nn::MetricFromConfig(Config(std::string(name)), "mean_squared_error");
      for (const ir::Value sum : metric->Sums(ones, large, {})) {
        EXPECT_EQ(sum.dtype(), ir::DType::kF32) << name;
        outputs.push_back(sum);
      }
    }
    // Logits under every loss that takes them.
    for (const char* name :
         {"BinaryCrossentropy", "BinaryFocalCrossentropy", "CategoricalCrossentropy",
          "CategoricalFocalCrossentropy", "SparseCategoricalCrossentropy"}) {
      Config table = Config::Table();
      table.Set("class", Config(std::string(name)));
      table.Set("from_logits", Config(true));
      const auto loss = nn::LossFromConfig(table);
      const bool sparse = std::string_view(name).starts_with("Sparse");
      const ir::Value sum = loss->Sums(sparse ? classes : ones, large, {}).first;
      outputs.push_back(sum);
      outputs.push_back(ir::Gradient(sum, std::vector<ir::Value>{large})[0]);
    }
    graph.SetOutputs(outputs);
    // Numbers that float16 has: what it rounds on the way in is not what this is about.
    HostTensor numbers = Ramp({4, 8}, 1e4);
    for (double& value : numbers.data) value = std::round(value / 8) * 8;
    HostTensor probabilities = Ramp({4, 8});
    for (double& value : probabilities.data) value = 0.5 + 0.49 * value;
    return RunGraph(graph, std::vector<HostTensor>{numbers, probabilities,
                                                   F32({4, 8}, std::vector<double>(32, 1)),
                                                   Tensor(ir::DType::kI32, {4}, {0, 7, 3, 2})});
  };
  const auto exact = run(ir::DType::kF32), found = run(ir::DType::kF16);
  ASSERT_EQ(found.size(), exact.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string what = fmt::format("result {}", i);
    ExpectFiniteWhereFloat32Is(found[i], exact[i], what);
    // Sums are float32 and may be large; they differ by the rounding of what went in.
    if (found[i].data.size() == 1 && std::isfinite(exact[i].data[0])) {
      ASSERT_TRUE(std::isfinite(found[i].data[0])) << what;
      EXPECT_NEAR(found[i].data[0], exact[i].data[0], 0.01 * std::abs(exact[i].data[0]) + 0.02)
          << what;
    }
  }
}

// --- numbers that 16 bits do not hold
// -------------------------------------------------------------

TEST(IntegersTest, AreNeverRoundedOnTheirWayIn) {
  const HostTensor counts = Tensor(ir::DType::kI32, {1, 4}, {257, 1001, 70000, 1000000});
  for (const char* policy : {"mixed_bfloat16", "mixed_float16"}) {
    const ir::DType compute = nn::Policy::Named(policy).compute;
    const auto rounded = [&](double value) {
      std::vector<std::byte> bytes(2);
      ir::StoreElement(compute, value, bytes.data());
      return ir::LoadElement(compute, bytes.data());
    };
    Trace trace(policy);
    const ir::Value x = trace.Input("x", counts);
    const ir::Value floats = trace.Input("floats", F32({1, 4}, counts.data));
    const nn::LayerPtr rescaling =
        LayerFromToml("{class = 'Rescaling', scale = 0.001, offset = -1.0}");
    const nn::LayerPtr normalization =
        LayerFromToml("{class = 'Normalization', mean = 1000.0, variance = 4.0}");
    const auto results = trace.Run(
        {trace.context().Call(*rescaling, x), trace.context().Call(*rescaling, floats),
         trace.context().Call(*normalization, x), trace.context().Call(*normalization, floats)});
    EXPECT_THAT(results[0].data, ElementsAre(rounded(-0.743), rounded(0.001F * 1001 - 1.0F),
                                             rounded(69), rounded(999)));
    EXPECT_EQ(results[0].data, results[1].data);
    EXPECT_EQ(results[2].data[1], 0.5);
    EXPECT_EQ(results[2].data, results[3].data);
  }
}

TEST(IntegersTest, IdsAndTokensMayComeAsFloats) {
  // In bfloat16, 257 is 256 and 301 is 302.
  const HostTensor ids = F32({1, 3}, {257, 301, 2});
  Trace trace("mixed_bfloat16");
  const ir::Value x = trace.Input("x", ids);
  std::vector<double> table(400);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<double>(i % 128);
  trace.Set("rows/embeddings", F32({400, 1}, table));
  trace.Set("back/embeddings", F32({400, 1}, table));
  trace.Set("columns/embeddings_0", F32({400, 1}, table));
  trace.Set("columns/embeddings_1", F32({400, 1}, table));
  trace.Set("columns/embeddings_2", F32({400, 1}, table));
  const auto results = trace.Run(
      {trace.context().Call(
           *LayerFromToml("{class = 'Embedding', input_dim = 400, output_dim = 1, name = 'rows'}"),
           x),
       trace.context().Call(*LayerFromToml("{class = 'EmbeddingCollection', input_dim = 400, "
                                           "output_dim = 1, name = 'columns'}"),
                            x),
       trace.context().Call(
           *LayerFromToml("{class = 'CategoryEncoding', num_tokens = 400, output_mode = 'count'}"),
           x),
       trace.context().Call(
           *LayerFromToml("{class = 'Discretization', bin_boundaries = [256.5, 300.5]}"), x)});
  EXPECT_THAT(results[0].data, ElementsAre(1, 45, 2));
  EXPECT_THAT(results[1].data, ElementsAre(1, 45, 2));
  EXPECT_EQ(results[2].data[257], 1);
  EXPECT_EQ(results[2].data[301], 1);
  EXPECT_THAT(results[3].data, ElementsAre(1, 2, 0));
}

TEST(SumsTest, AreKeptInFloat32) {
  // 3000 ones: bfloat16 stops counting at 256, float16 at 2048.
  for (const char* policy : {"mixed_bfloat16", "mixed_float16"}) {
    Trace trace(policy);
    const ir::Value tokens =
        trace.Input("tokens", Tensor(ir::DType::kI32, {1, 3000}, std::vector<double>(3000, 1)));
    const ir::Value ones = trace.Input("ones", F32({3000, 2}, std::vector<double>(6000, 1)));
    const ir::Value counts = trace.context().Call(
        *LayerFromToml("{class = 'CategoryEncoding', num_tokens = 2, output_mode = 'count'}"),
        tokens);
    const nn::LayerPtr dense =
        LayerFromToml("{class = 'Dense', units = 2, name = 'dense', use_bias = true}");
    const ir::Value y = trace.context().Call(*dense, ones);
    const ir::Value loss = ir::ReduceSum(ir::Convert(y, ir::DType::kF32));
    const std::vector<ir::Value> gradients = ir::Gradient(loss, trace.Weights("dense"));
    const auto results = trace.Run({counts, gradients[0], gradients[1]});
    // 3008 is what 3000 is in bfloat16.
    const auto right = Each(AllOf(Ge(3000), Le(3008)));
    EXPECT_EQ(results[0].data[0], 0) << policy;
    EXPECT_THAT(results[0].data.back(), AllOf(Ge(3000), Le(3008))) << policy;
    // Kernel: the product over the batch. Bias: the sum over it.
    EXPECT_THAT(results[1].data, right) << policy;
    EXPECT_THAT(results[2].data, right) << policy;
  }
}

TEST(SumsTest, RecurrentStatesGoOnAddingUp) {
  // 600 steps that each move the state by about a thousandth.
  const HostTensor x = F32({1, 600, 1}, std::vector<double>(600, 0));
  const auto run = [&](const std::string& policy) {
    Trace trace(policy);
    const ir::Value input = trace.Input("x", x);
    const auto none = [](ir::Dims dims) {
      const int64_t size = ir::Shape(ir::DType::kF32, dims).size();
      return F32(std::move(dims), std::vector<double>(static_cast<size_t>(size), 0));
    };
    trace.Set("lstm/lstm_cell/kernel", none({1, 4}));
    trace.Set("lstm/lstm_cell/recurrent_kernel", none({1, 4}));
    // Gates: input 0.0067, forget 1, candidate 0.15, output 1.
    trace.Set("lstm/lstm_cell/bias", F32({4}, {-5, 20, 0.15, 20}));
    trace.Set("gru/gru_cell/kernel", none({1, 3}));
    trace.Set("gru/gru_cell/recurrent_kernel", none({1, 3}));
    // z = 0.9991: the state moves by 0.0009 of what is left.
    trace.Set("gru/gru_cell/bias", F32({2, 3}, {7, 0, 3, 0, 0, 0}));
    const auto results = trace.Run(
        {trace.context().Call(*LayerFromToml("{class = 'LSTM', units = 1, name = 'lstm'}"), input),
         trace.context().Call(*LayerFromToml("{class = 'GRU', units = 1, name = 'gru'}"), input)});
    return std::vector<double>{results[0].data[0], results[1].data[0]};
  };
  const std::vector<double> exact = run("float32");
  EXPECT_GT(exact[0], 0.4);
  EXPECT_GT(exact[1], 0.3);
  for (const char* policy : {"mixed_bfloat16", "mixed_float16"}) {
    const std::vector<double> found = run(policy);
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], exact[i], 0.05) << policy;
  }
}

// A variance of 1e-8 and an epsilon of 1e-7 are nothing in float16.
TEST(SumsTest, SmallVariancesAndEpsilonsDoNotVanish) {
  std::vector<OwnCase> cases;
  for (const char* layer :
       {"{class = 'LayerNormalization', epsilon = 1e-7}",
        "{class = 'BatchNormalization', epsilon = 1e-7}",
        "{class = 'GroupNormalization', groups = 1, epsilon = 1e-7}",
        "{class = 'RMSNormalization', epsilon = 1e-7}", "{class = 'UnitNormalization'}"}) {
    cases.push_back({layer, {Ramp({8, 16}, 1e-4)}});
  }
  const auto exact = RunOwn(cases, "float32"), found = RunOwn(cases, "mixed_float16");
  for (size_t c = 0; c < cases.size(); ++c) {
    ExpectClose(found[c].back(), exact[c].back(), 6e-3, cases[c].layer);
  }
}

// --- policies of layers and models
// ----------------------------------------------------------------

// dtype of the products of each layer.
std::map<std::string, ir::DType> ProductDTypes(const ir::Graph& graph) {
  std::map<std::string, ir::DType> found;
  const auto walk = [&](const auto& self, const ir::Graph& g) -> void {
    for (const auto& node : g.nodes()) {
      if (node->name() == "dot_general" || node->name() == "convolution") {
        const std::string& scope = node->scope();
        found[scope] = node->input(0).dtype();
      }
      for (size_t i = 0; i < node->num_regions(); ++i) self(self, node->region(i));
    }
  };
  walk(walk, graph);
  return found;
}

TEST(PolicyTest, NamesAreKeras) {
  for (const std::string& name : nn::Policy::Names()) {
    EXPECT_EQ(nn::Policy::Named(name).name, name);
  }
  const auto dtypes = [](const char* name) {
    const nn::Policy policy = nn::Policy::Named(name);
    return std::pair(policy.compute, policy.variable);
  };
  EXPECT_EQ(dtypes("float32"), std::pair(ir::DType::kF32, ir::DType::kF32));
  EXPECT_EQ(dtypes("mixed_bfloat16"), std::pair(ir::DType::kBF16, ir::DType::kF32));
  EXPECT_EQ(dtypes("mixed_float16"), std::pair(ir::DType::kF16, ir::DType::kF32));
  EXPECT_EQ(dtypes("bfloat16"), std::pair(ir::DType::kBF16, ir::DType::kBF16));
  EXPECT_EQ(dtypes("float16"), std::pair(ir::DType::kF16, ir::DType::kF16));
}

std::string ErrorOf(const std::string& layer) {
  try {
    LayerFromToml(layer);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PolicyTest, WrongNamesAreRefusedAtTheirPlace) {
  EXPECT_THAT(ErrorOf("{class = 'Dense', units = 2, dtype = 'mixed_bfloat61'}"),
              AllOf(StartsWith("x.toml:1:38: layer.dtype: "),
                    HasSubstr("did you mean \"mixed_bfloat16\"")));
  EXPECT_THAT(ErrorOf("{class = 'TimeDistributed', layer = {class = 'Dense', units = 2,"
                      " dtype = 'half'}}"),
              AllOf(StartsWith("x.toml:1:"), HasSubstr("layer.layer.dtype"), HasSubstr("half")));
  EXPECT_THAT(ErrorOf("{class = 'Dense', units = 2, dtype = 16}"), HasSubstr("layer.dtype"));
  EXPECT_THROW(nn::Dense({.units = 2, .common = {.dtype = "float8"}}), UserError);
}

TEST(PolicyTest, LayersWithinLayersTakeTheirsFromAround) {
  const auto dtypes = [](const std::string& policy, const std::string& layer) {
    Trace trace(policy);
    const ir::Value y =
        trace.context().Call(*LayerFromToml(layer), trace.Input("x", Ramp({2, 3, 4})));
    const auto products = ProductDTypes(trace.graph());
    std::set<ir::DType> kinds;
    for (const auto& [scope, dtype] : products) kinds.insert(dtype);
    trace.Run({y});
    return std::pair(kinds, std::pair(y.dtype(), trace.variables()[0].shape.dtype));
  };
  using Kinds = std::set<ir::DType>;
  constexpr auto kF32 = ir::DType::kF32, kBF16 = ir::DType::kBF16, kF16 = ir::DType::kF16;
  const std::string dense = "{class = 'TimeDistributed', layer = {class = 'Dense', units = 2";
  EXPECT_EQ(dtypes("mixed_bfloat16", dense + "}}"),
            std::pair(Kinds{kBF16}, std::pair(kBF16, kF32)));
  EXPECT_EQ(dtypes("mixed_bfloat16", dense + ", dtype = 'float32'}}"),
            std::pair(Kinds{kF32}, std::pair(kF32, kF32)));
  EXPECT_EQ(dtypes("mixed_bfloat16", dense + "}, dtype = 'float16'}"),
            std::pair(Kinds{kF16}, std::pair(kF16, kF16)));
  const std::string lstm = "{class = 'Bidirectional', layer = {class = 'LSTM', units = 2";
  EXPECT_EQ(dtypes("bfloat16", lstm + "}}"), std::pair(Kinds{kBF16}, std::pair(kBF16, kBF16)));
  // The wrapper joins the results in its own dtype.
  EXPECT_EQ(dtypes("mixed_bfloat16", lstm + ", dtype = 'float32'}}"),
            std::pair(Kinds{kF32}, std::pair(kBF16, kF32)));
  EXPECT_EQ(dtypes("float32", lstm + "}, dtype = 'mixed_float16'}"),
            std::pair(Kinds{kF16}, std::pair(kF16, kF32)));
}

struct TracedModel {
  std::map<std::string, ir::DType> products;
  std::vector<ir::DType> outputs;
};

TracedModel TraceModel(nn::Model& model, const std::string& policy,
                       const std::vector<HostTensor>& inputs) {
  model.SetPolicy(nn::Policy::Named(policy));
  Trace trace(policy, /*training=*/true);
  std::vector<ir::Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(trace.Input(fmt::format("input {}", i), inputs[i]));
  }
  TracedModel traced;
  const std::vector<ir::Value> outputs = model.Call(trace.context(), values);
  for (const ir::Value output : outputs) traced.outputs.push_back(output.dtype());
  traced.products = ProductDTypes(trace.graph());
  for (const HostTensor& result : trace.Run(outputs)) ExpectFinite(result, policy);
  return traced;
}

TEST(OutputLayersTest, ComputeInFloat32) {
  const nn::Tensor x = nn::Input({6}, ir::DType::kF32, "x");
  const nn::Tensor hidden = nn::Dense({.units = 5, .common = {.name = "hidden"}})(x);
  const nn::Tensor head = nn::Dense({.units = 3, .common = {.name = "head"}})(hidden);
  const nn::Tensor softmax = nn::Activation({.activation = "softmax"})(head);
  const nn::Tensor reshaped = nn::Reshape({.target_shape = {2, 2}})(
      nn::Dense({.units = 4, .common = {.name = "map"}})(hidden));
  const nn::Tensor own =
      nn::Dense({.units = 2, .common = {.name = "own", .dtype = "mixed_bfloat16"}})(hidden);
  nn::Model model({x}, {softmax, reshaped, own});
  for (const char* policy : {"mixed_bfloat16", "bfloat16"}) {
    const TracedModel traced = TraceModel(model, policy, {Ramp({2, 6})});
    EXPECT_THAT(traced.outputs, Each(ir::DType::kF32));
    EXPECT_EQ(traced.products.at("hidden"), ir::DType::kBF16);
    EXPECT_EQ(traced.products.at("head"), ir::DType::kF32);
    EXPECT_EQ(traced.products.at("map"), ir::DType::kF32);
    EXPECT_EQ(traced.products.at("own"), ir::DType::kBF16);
  }
}

TEST(OutputLayersTest, TiedEmbeddingsToo) {
  const Config config = Config::ParseToml(
      "[model]\nbuiltin = \"transformer\"\nvocabulary = 11\nwidth = 8\nheads = 2\nlayers = 1\n"
      "tied = true\n",
      "x.toml");
  nn::Model model =
      nn::Model::FromConfig(*config.Find("model"), {"x"}, {ir::Shape(ir::DType::kI32, {5})});
  const HostTensor ids = Tensor(ir::DType::kI32, {2, 5}, {0, 1, 2, 3, 4, 10, 9, 8, 7, 6});
  const TracedModel traced = TraceModel(model, "bfloat16", {ids});
  EXPECT_EQ(traced.products.at("tokens"), ir::DType::kF32);
  EXPECT_EQ(traced.products.at("block1_wide"), ir::DType::kBF16);
  EXPECT_THAT(traced.outputs, ElementsAre(ir::DType::kF32));
  for (const nn::Variable& variable : model.variables()) {
    EXPECT_EQ(variable.shape.dtype, ir::DType::kBF16) << variable.path;
  }
}

TEST(ModelPolicyTest, SetsTheVariablesDType) {
  const nn::Tensor x = nn::Input({4, 4, 2}, ir::DType::kF32, "x");
  nn::Tensor y = nn::Conv2D({.filters = 3, .kernel_size = {3}})(x);
  y = nn::BatchNormalization()(y);
  y = nn::Dense({.units = 2, .common = {.dtype = "mixed_float16"}})(nn::Flatten()(y));
  nn::Model model({x}, {nn::Dense({.units = 2})(y)});
  EXPECT_TRUE(model.computes_in(ir::DType::kF16));
  EXPECT_FALSE(model.computes_in(ir::DType::kBF16));
  EXPECT_THAT(model.Summary(), HasSubstr("Total params: 101 (404.00 B)"));
  model.SetPolicy(nn::Policy::Named("bfloat16"));
  EXPECT_EQ(model.policy().name, "bfloat16");
  EXPECT_TRUE(model.computes_in(ir::DType::kBF16));
  std::map<std::string, ir::DType> dtypes;
  for (const nn::Variable& variable : model.variables()) {
    dtypes[variable.path] = variable.shape.dtype;
  }
  EXPECT_EQ(dtypes.at("conv2d/kernel"), ir::DType::kBF16);
  EXPECT_EQ(dtypes.at("batch_normalization/gamma"), ir::DType::kBF16);
  // Statistics that move by a hundredth in each step would stand still in 8 bits.
  EXPECT_EQ(dtypes.at("batch_normalization/moving_mean"), ir::DType::kF32);
  EXPECT_EQ(dtypes.at("dense/kernel"), ir::DType::kF32);
  EXPECT_EQ(dtypes.at("dense_1/kernel"), ir::DType::kBF16);
  model.SetPolicy(nn::Policy::Named("float32"));
  for (const nn::Variable& variable : model.variables()) {
    EXPECT_EQ(variable.shape.dtype, ir::DType::kF32);
  }
}

// --- whole models and the loss scale against Keras
// ------------------------------------------------

const json& Recorded() {
  static const json recorded = LoadRecorded("precision.json");
  return recorded;
}

class ModelPrecisionTest : public ::testing::TestWithParam<size_t> {};

TEST_P(ModelPrecisionTest, EqualsKerasUnderTheSamePolicy) {
  const json& recorded = Recorded().at("cases")[GetParam()];
  static const json models = LoadRecorded("models.json");
  const json* found = nullptr;
  for (const json& one : models.at("cases")) {
    if (one.at("name") == recorded.at("model")) found = &one;
  }
  ASSERT_NE(found, nullptr);
  const HostTensor x = ReadTensor(found->at("x"));
  nn::Model model = BuildModel(*found, x.shape);
  const nn::Policy policy = nn::Policy::Named(recorded.at("policy").get<std::string>());
  model.SetPolicy(policy);

  ir::Graph graph("main");
  nn::Context context(graph, {.policy = policy});
  std::vector<HostTensor> arguments = {x};
  const ir::Value input = graph.AddParameter(x.shape, "x");
  for (const nn::Variable& variable : model.variables()) {
    for (const json& weight : found->at("weights")) {
      if (weight.at("name") != variable.path) continue;
      arguments.push_back(ReadTensor(weight.at("value")));
      context.Bind(variable.path, graph.AddParameter(variable.shape, variable.path));
    }
    // The head was told to be float32 altogether, and moving statistics are ours to keep so.
    const auto theirs =
        ir::ParseDType(recorded.at("variable_dtypes").at(variable.path).get<std::string>());
    const bool head =
        variable.path.starts_with(found->at("layers").back().at("name").get<std::string>() + "/");
    if (!variable.trainable) {
      EXPECT_EQ(variable.shape.dtype, ir::DType::kF32) << variable.path;
    } else if (!head) {
      EXPECT_EQ(variable.shape.dtype, theirs) << variable.path;
    }
  }
  const ir::Value output = model.Call(context, std::vector<ir::Value>{input})[0];
  EXPECT_EQ(output.dtype(), ir::DType::kF32);
  size_t compared = 0;
  for (const auto& [scope, dtype] : ProductDTypes(graph)) {
    const std::string layer = scope.substr(0, scope.find('/'));
    const auto theirs = ir::ParseDType(recorded.at("compute_dtypes").at(layer).get<std::string>());
    EXPECT_EQ(dtype, theirs) << layer;
    ++compared;
  }
  EXPECT_GE(compared, 2U);
  graph.SetOutputs({output});
  const HostTensor result = RunGraph(graph, arguments)[0];
  ExpectFinite(result, "output");
  ExpectClose(result, ReadTensor(recorded.at("output")), ToleranceOf(policy), "output");
}

INSTANTIATE_TEST_SUITE_P(Keras, ModelPrecisionTest,
                         ::testing::Range(size_t{0}, Recorded().at("cases").size()),
                         [](const auto& info) {
                           const json& one = Recorded().at("cases")[info.param];
                           return one.at("model").template get<std::string>() + "_" +
                                  one.at("policy").template get<std::string>();
                         });

TEST(LossScaleTest, EqualsKeras) {
  const json& recorded = Recorded().at("loss_scale");
  optim::LossScale options = optim::LossScale::Dynamic();
  options.initial = recorded.at("initial").get<double>();
  options.growth_steps = recorded.at("growth_steps").get<int64_t>();
  Config table = Config::Table();
  table.Set("class", Config(std::string("SGD")));
  table.Set("learning_rate", Config(recorded.at("learning_rate").get<double>()));
  const auto optimizer = optim::OptimizerFromConfig(table);

  // All updates in one program.
  const HostTensor start = ReadTensor(recorded.at("start"));
  ir::Graph graph("main");
  std::vector<HostTensor> arguments = {start};
  ir::Value value = graph.AddParameter(start.shape, "v");
  ir::Value step = ir::Scalar(graph, ir::DType::kI32, 0);
  const std::vector<optim::Slot> counters = optim::LossScaleCounters(options);
  ASSERT_EQ(counters.size(), 3U);
  optim::LossScaleState state = {
      .scale = ir::Full(graph, counters[0].shape, counters[0].initial),
      .good_steps = ir::Full(graph, counters[1].shape, counters[1].initial),
      .skipped = ir::Full(graph, counters[2].shape, counters[2].initial)};
  const nn::Variable variable{.path = "v", .shape = start.shape};
  const nn::Variable* variables[] = {&variable};
  std::vector<ir::Value> outputs;
  for (const json& gradient : recorded.at("gradients")) {
    arguments.push_back(ReadTensor(gradient));
    const std::vector<ir::Value> scaled = {graph.AddParameter(start.shape, "gradient")};
    const std::vector<ir::Value> gradients = optim::UnscaleGradients(scaled, state.scale);
    const ir::Value finite = optim::AllFinite(gradients);
    const optim::Optimizer::Result result =
        optimizer->Apply(variables, std::vector<ir::Value>{value}, gradients,
                         std::vector<std::vector<ir::Value>>(1), step, {}, finite);
    state = optim::NextLossScale(options, state, finite);
    value = result.values[0];
    step = step + ir::Convert(finite, ir::DType::kI32);
    outputs.push_back(value);
    outputs.push_back(state.scale);
    outputs.push_back(step);
  }
  outputs.push_back(state.skipped);
  graph.SetOutputs(outputs);
  const std::vector<HostTensor> results = RunGraph(graph, arguments);
  for (size_t i = 0; i < recorded.at("scales").size(); ++i) {
    const std::string what = fmt::format("update {}", i);
    ExpectClose(results[3 * i], ReadTensor(recorded.at("values")[i]), 1e-6, what);
    EXPECT_EQ(results[3 * i + 1].data[0], recorded.at("scales")[i].get<double>()) << what;
    EXPECT_EQ(results[3 * i + 2].data[0], recorded.at("steps")[i].get<double>()) << what;
  }
  EXPECT_EQ(results.back().data[0], 3);
}

}  // namespace
}  // namespace flatout::testing
