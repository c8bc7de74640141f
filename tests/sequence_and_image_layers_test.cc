// Attention, recurrent, preprocessing and augmentation layers, beyond what Keras records:
// randomness, geometry against plain loops, equal ways of computing the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/layers/attention.h"
#include "flatout/nn/layers/augmentation.h"
#include "flatout/nn/layers/core.h"
#include "flatout/nn/layers/preprocessing.h"
#include "flatout/nn/layers/recurrent.h"
#include "tests/recorded.h"

namespace flatout::nn {
namespace {

using ::testing::HasSubstr;
using testing::HostTensor;

struct RunOptions {
  bool training = false;
  int64_t first_row = 0;
  uint64_t seed = 1;
  bool gradients = false;  // of the sum of squares, by the first input and every weight
};

// The layer's result, then the gradients. Weights are drawn by their initializers.
std::vector<HostTensor> RunLayer(const LayerPtr& layer, const std::vector<HostTensor>& inputs,
                                 const RunOptions& options = {}) {
  ir::Graph graph;
  std::vector<ir::Value> values;
  for (const HostTensor& input : inputs) values.push_back(graph.AddParameter(input.shape, "x"));
  std::vector<Variable> variables;
  ContextOptions context_options;
  context_options.training = options.training;
  Context context(graph, context_options, &variables);
  context.SetRandom(ir::MakeKey(graph, options.seed),
                    ir::Scalar(graph, ir::DType::kU32, static_cast<double>(options.first_row)));
  layer->set_name("layer");
  std::vector<ir::Value> outputs = context.Call(*layer, values);
  std::vector<HostTensor> arguments = inputs;
  std::vector<ir::Value> sources = {values[0]};
  for (size_t i = inputs.size(); i < graph.parameters().size(); ++i) {
    const Variable& variable = variables[i - inputs.size()];
    std::vector<float> drawn(static_cast<size_t>(variable.shape.size()));
    Initialize(variable.initializer, variable.shape, 7, variable.path, drawn);
    arguments.push_back({variable.shape, {drawn.begin(), drawn.end()}});
    sources.push_back(graph.parameters()[i]);
  }
  if (options.gradients) {
    const std::vector<ir::Value> gradients =
        ir::Gradient(ir::ReduceSum(ir::Square(outputs[0])), sources);
    outputs.insert(outputs.end(), gradients.begin(), gradients.end());
  }
  graph.SetOutputs(outputs);
  return testing::RunGraph(graph, arguments);
}

HostTensor Make(const ir::Dims& dims, const std::function<double(int64_t)>& at) {
  HostTensor tensor{ir::Shape(ir::DType::kF32, dims), {}};
  for (int64_t i = 0; i < tensor.shape.size(); ++i) tensor.data.push_back(at(i));
  return tensor;
}
// Values that look random and differ.
HostTensor Noise(const ir::Dims& dims) {
  return Make(dims, [](int64_t i) { return std::sin(static_cast<double>(i) * 12.9898); });
}

// --- attention
// --------------------------------------------------------------------------------------

TEST(AttentionTest, AxesFoldIntoTheBatch) {
  // [2, 3, 4, 6] attending over axis 2 is six independent sequences of [4, 6].
  const HostTensor x = Noise({2, 3, 4, 6});
  const HostTensor folded = {ir::Shape(ir::DType::kF32, {6, 4, 6}), x.data};
  const HostTensor a =
      RunLayer(MultiHeadAttention({.num_heads = 2, .key_dim = 3, .attention_axes = {2}}), {x})[0];
  const HostTensor b = RunLayer(MultiHeadAttention({.num_heads = 2, .key_dim = 3}), {folded})[0];
  EXPECT_EQ(a.shape.dims, x.shape.dims);
  testing::ExpectClose({b.shape, a.data}, b, 1e-6, "attention over axis 2");
  // All axes by default: one sequence of 12.
  const HostTensor c = RunLayer(MultiHeadAttention({.num_heads = 2, .key_dim = 3}), {x})[0];
  const HostTensor flat = {ir::Shape(ir::DType::kF32, {2, 12, 6}), x.data};
  const HostTensor d = RunLayer(MultiHeadAttention({.num_heads = 2, .key_dim = 3}), {flat})[0];
  testing::ExpectClose({d.shape, c.data}, d, 1e-6, "attention over all axes");
}

TEST(AttentionTest, CausalRowsIgnoreTheFuture) {
  HostTensor x = Noise({1, 5, 4});
  const auto layer = [] {
    return MultiHeadAttention({.num_heads = 2, .key_dim = 3, .use_causal_mask = true});
  };
  const HostTensor before = RunLayer(layer(), {x})[0];
  for (size_t i = 12; i < 20; ++i) x.data[i] += 1;  // positions 3 and 4
  const HostTensor after = RunLayer(layer(), {x})[0];
  for (size_t i = 0; i < 12; ++i) EXPECT_FLOAT_EQ(before.data[i], after.data[i]) << i;
  EXPECT_NE(before.data[12], after.data[12]);
}

TEST(AttentionTest, SlidingWindowSeesItsNeighboursOnly) {
  HostTensor x = Noise({1, 6, 4});
  const auto layer = [] {
    return MultiHeadAttention({.num_heads = 1, .key_dim = 3, .sliding_window = 2});
  };
  const HostTensor before = RunLayer(layer(), {x})[0];
  for (size_t i = 20; i < 24; ++i) x.data[i] += 1;  // position 5
  const HostTensor after = RunLayer(layer(), {x})[0];
  for (size_t i = 0; i < 16; ++i) EXPECT_FLOAT_EQ(before.data[i], after.data[i]) << i;
  EXPECT_NE(before.data[16], after.data[16]);
}

TEST(AttentionTest, DropoutOnlyWhenTraining) {
  const HostTensor x = Noise({4, 5, 4});
  const auto layer = [] {
    return MultiHeadAttention({.num_heads = 2, .key_dim = 3, .dropout = 0.5});
  };
  EXPECT_EQ(RunLayer(layer(), {x})[0].data,
            RunLayer(MultiHeadAttention({.num_heads = 2, .key_dim = 3}), {x})[0].data);
  const HostTensor one = RunLayer(layer(), {x}, {.training = true})[0];
  EXPECT_NE(one.data, RunLayer(layer(), {x})[0].data);
  EXPECT_EQ(one.data, RunLayer(layer(), {x}, {.training = true})[0].data);
  EXPECT_NE(one.data, RunLayer(layer(), {x}, {.training = true, .seed = 2})[0].data);
}

TEST(AttentionTest, PositionsAreAdded) {
  const auto layer = [](int64_t length) { return PositionEmbedding({.sequence_length = length}); };
  const HostTensor zeros = Make({2, 3, 4}, [](int64_t) { return 0; });
  const HostTensor a = RunLayer(layer(3), {zeros})[0];
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(a.data[i], a.data[12 + i]);  // both rows alike
  EXPECT_NE(a.data[0], a.data[4]);
  const HostTensor ones = Make({2, 3, 4}, [](int64_t) { return 1; });
  EXPECT_FLOAT_EQ(RunLayer(layer(3), {ones})[0].data[5], 1 + a.data[5]);
  EXPECT_THROW(RunLayer(layer(2), {zeros}), UserError);
}

TEST(AttentionTest, BadArgumentsAreNamed) {
  EXPECT_THROW(MultiHeadAttention({.num_heads = 0, .key_dim = 3}), UserError);
  EXPECT_THROW(GroupQueryAttention({.head_dim = 2, .num_query_heads = 3, .num_key_value_heads = 2}),
               UserError);
  EXPECT_THROW(RunLayer(MultiHeadAttention({.num_heads = 1, .key_dim = 2}), {Noise({2, 4})}),
               UserError);
  EXPECT_THROW(RunLayer(MultiHeadAttention({.num_heads = 1, .key_dim = 2}),
                        {Noise({2, 4, 3}), Noise({2, 5, 3}), Noise({2, 6, 3})}),
               UserError);
}

// --- recurrent
// ----------------------------------------------------------------------------------------

template <typename Options>
Options Recurrent(bool unroll, bool backwards) {
  Options options;
  options.units = 3;
  options.return_sequences = true;
  options.go_backwards = backwards;
  options.unroll = unroll;
  options.dropout = 0.3;
  options.recurrent_dropout = 0.4;
  return options;
}

template <typename Make>
void ExpectUnrolledEqualsScanned(Make make) {
  const HostTensor x = Noise({2, 3, 4});
  for (bool training : {false, true}) {
    const bool backwards = !training;
    const RunOptions options = {.training = training, .gradients = true};
    const std::vector<HostTensor> scanned = RunLayer(make(false, backwards), {x}, options);
    const std::vector<HostTensor> unrolled = RunLayer(make(true, backwards), {x}, options);
    ASSERT_EQ(scanned.size(), unrolled.size());
    for (size_t i = 0; i < scanned.size(); ++i) {
      testing::ExpectClose(unrolled[i], scanned[i], 1e-5, "result " + std::to_string(i));
    }
  }
}

TEST(RecurrentTest, UnrolledEqualsScanned) {
  ExpectUnrolledEqualsScanned(
      [](bool unroll, bool backwards) { return LSTM(Recurrent<LSTMOptions>(unroll, backwards)); });
  ExpectUnrolledEqualsScanned(
      [](bool unroll, bool backwards) { return GRU(Recurrent<GRUOptions>(unroll, backwards)); });
  ExpectUnrolledEqualsScanned([](bool unroll, bool backwards) {
    GRUOptions options = Recurrent<GRUOptions>(unroll, backwards);
    options.reset_after = false;
    return GRU(options);
  });
  ExpectUnrolledEqualsScanned([](bool unroll, bool backwards) {
    return SimpleRNN(Recurrent<SimpleRNNOptions>(unroll, backwards));
  });
}

TEST(RecurrentTest, DropoutOnlyWhenTraining) {
  const HostTensor x = Noise({2, 3, 4});
  for (double dropout : {0.0, 0.5}) {
    LSTMOptions options;
    options.units = 3;
    options.dropout = dropout;
    options.recurrent_dropout = 0.5 - dropout;
    const HostTensor still = RunLayer(LSTM(options), {x})[0];
    EXPECT_NE(RunLayer(LSTM(options), {x}, {.training = true})[0].data, still.data);
    options.dropout = options.recurrent_dropout = 0;
    EXPECT_EQ(RunLayer(LSTM(options), {x})[0].data, still.data);
  }
}

TEST(RecurrentTest, BidirectionalWantsOppositeRecurrentLayers) {
  const auto lstm = [](bool backwards) {
    LSTMOptions options;
    options.units = 2;
    options.go_backwards = backwards;
    return LSTM(options);
  };
  EXPECT_THROW(Bidirectional({.layer = Dense({.units = 2})}), UserError);
  EXPECT_THROW(Bidirectional({.layer = lstm(false), .backward_layer = lstm(false)}), UserError);
  EXPECT_THROW(Bidirectional({.layer = lstm(false), .merge_mode = "max"}), UserError);
  EXPECT_THROW(Bidirectional({}), UserError);
  const HostTensor x = Noise({2, 4, 5});
  EXPECT_EQ(
      RunLayer(Bidirectional({.layer = lstm(false), .backward_layer = lstm(true)}), {x})[0].data,
      RunLayer(Bidirectional({.layer = lstm(false)}), {x})[0].data);
}

TEST(RecurrentTest, TimeDistributedEqualsTheLayerOnEachStep) {
  const HostTensor x = Noise({2, 4, 5});
  const HostTensor wrapped = RunLayer(TimeDistributed({.layer = Dense({.units = 3})}), {x})[0];
  EXPECT_EQ(wrapped.shape.dims, (ir::Dims{2, 4, 3}));
  const auto step = [&](size_t row, size_t t) {
    const auto begin = x.data.begin() + static_cast<std::ptrdiff_t>((row * 4 + t) * 5);
    return std::vector<double>(begin, begin + 5);
  };
  // A linear map without bias at the start: equal steps give equal results, sums give sums.
  HostTensor sum = x;
  for (size_t i = 0; i < 5; ++i) sum.data[i] = step(0, 1)[i] + step(1, 3)[i];
  const HostTensor other = RunLayer(TimeDistributed({.layer = Dense({.units = 3})}), {sum})[0];
  for (size_t u = 0; u < 3; ++u) {
    EXPECT_NEAR(other.data[u], wrapped.data[3 + u] + wrapped.data[21 + u], 1e-5);
  }
}

// --- preprocessing
// --------------------------------------------------------------------------------------

TEST(PreprocessingTest, NormalizationAdaptsInPieces) {
  const LayerPtr layer = Normalization({});
  const auto& adaptable = dynamic_cast<const Adaptable&>(*layer);
  EXPECT_TRUE(adaptable.needs_data());
  const auto accumulator = adaptable.StartAdapt(ir::Shape(ir::DType::kF32, {2, 3}));
  EXPECT_THROW(accumulator->Finish(), UserError);
  // A large mean beside a small spread: one pass over squares would lose it.
  std::vector<float> values;
  for (int i = 0; i < 10 * 6; ++i) {
    values.push_back(static_cast<float>(1000 * (i % 3) + std::sin(i * 1.7)));
  }
  accumulator->Add(std::span<const float>(values).first(4 * 6), 4);
  accumulator->Add(std::span<const float>(values).subspan(4 * 6), 6);
  const auto states = accumulator->Finish();
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[0].first, "mean");
  EXPECT_EQ(states[1].first, "variance");
  for (size_t c = 0; c < 3; ++c) {
    double mean = 0, variance = 0;
    for (size_t i = c; i < values.size(); i += 3) mean += values[i] / 20;
    for (size_t i = c; i < values.size(); i += 3) variance += std::pow(values[i] - mean, 2) / 20;
    EXPECT_NEAR(states[0].second[c], mean, 1e-4);
    EXPECT_NEAR(states[1].second[c], variance, 1e-5 * variance);
  }
  NormalizationOptions given;
  given.mean = {0.0};
  EXPECT_THROW(Normalization(given), UserError);
  given.variance = {1.0};
  EXPECT_FALSE(dynamic_cast<const Adaptable&>(*Normalization(given)).needs_data());
}

TEST(PreprocessingTest, DiscretizationBins) {
  const HostTensor x = Make({7}, [](int64_t i) {
    return std::vector<double>{-5, -1, -0.5, 0, 1.9, 2, 99}[static_cast<size_t>(i)];
  });
  DiscretizationOptions options;
  options.bin_boundaries = {-1, 0, 2};
  EXPECT_EQ(RunLayer(Discretization(options), {x})[0].data,
            (std::vector<double>{0, 1, 1, 2, 2, 3, 3}));
  options.output_mode = "one_hot";
  EXPECT_EQ(RunLayer(Discretization(options), {x})[0].shape.dims, (ir::Dims{7, 4}));
  options.bin_boundaries = {1, 1};
  EXPECT_THROW(Discretization(options), UserError);
}

TEST(PreprocessingTest, ResizingInterpolates) {
  const HostTensor x = Make({1, 2, 2, 1}, [](int64_t i) { return static_cast<double>(i); });
  const HostTensor y = RunLayer(Resizing({.height = 4, .width = 4}), {x})[0];
  const double share[] = {0, 0.25, 0.75, 1};
  for (size_t r = 0; r < 4; ++r) {
    for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(y.data[4 * r + c], 2 * share[r] + share[c], 1e-6);
  }
  const HostTensor back =
      RunLayer(Resizing({.height = 2, .width = 2, .interpolation = "nearest"}),
               {Make({1, 4, 4, 1}, [](int64_t i) { return static_cast<double>(i); })})[0];
  EXPECT_EQ(back.data, (std::vector<double>{5, 7, 13, 15}));
}

TEST(PreprocessingTest, CenterCropCuts) {
  const HostTensor x = Make({1, 5, 6, 1}, [](int64_t i) { return static_cast<double>(i); });
  EXPECT_EQ(RunLayer(CenterCrop({.height = 2, .width = 2}), {x})[0].data,
            (std::vector<double>{8, 9, 14, 15}));
  EXPECT_EQ(RunLayer(CenterCrop({.height = 8, .width = 8}), {x})[0].shape.dims,
            (ir::Dims{1, 8, 8, 1}));
}

// --- augmentation
// -----------------------------------------------------------------------------------------

constexpr int64_t kRows = 200, kHeight = 6, kWidth = 5, kChannels = 2;
HostTensor Images() { return Noise({kRows, kHeight, kWidth, kChannels}); }

double At(const HostTensor& images, int64_t b, int64_t y, int64_t x, int64_t c) {
  const ir::Dims& d = images.shape.dims;
  return images.data[static_cast<size_t>(((b * d[1] + y) * d[2] + x) * d[3] + c)];
}

// How many of `rows` have exactly the pixels that `pixel(b, y, x, c)` says.
int64_t RowsLike(const HostTensor& images,
                 const std::function<double(int64_t, int64_t, int64_t, int64_t)>& pixel) {
  int64_t rows = 0;
  for (int64_t b = 0; b < images.shape.dim(0); ++b) {
    bool same = true;
    for (int64_t y = 0; y < images.shape.dim(1); ++y) {
      for (int64_t x = 0; x < images.shape.dim(2); ++x) {
        for (int64_t c = 0; c < images.shape.dim(3); ++c) {
          same = same && static_cast<float>(pixel(b, y, x, c)) ==
                             static_cast<float>(At(images, b, y, x, c));
        }
      }
    }
    rows += same ? 1 : 0;
  }
  return rows;
}

TEST(AugmentationTest, IdentityWhenNotTraining) {
  const HostTensor x = Images();
  RandomTranslationOptions translation;
  translation.height_factor = translation.width_factor = {0.3};
  RandomRotationOptions rotation;
  rotation.factor = {0.3};
  RandomZoomOptions zoom;
  zoom.height_factor = {0.3};
  for (const LayerPtr& layer :
       {RandomFlip(), RandomTranslation(translation), RandomRotation(rotation), RandomZoom(zoom),
        RandomContrast({.factor = {0.3}}), RandomBrightness({.factor = {0.3}})}) {
    const HostTensor y = RunLayer(layer, {x})[0];
    for (size_t i = 0; i < y.data.size(); ++i) {
      ASSERT_EQ(static_cast<float>(x.data[i]), static_cast<float>(y.data[i])) << layer->type();
    }
    EXPECT_NE(RunLayer(layer, {x}, {.training = true})[0].data, y.data) << layer->type();
  }
}

TEST(AugmentationTest, FlipsHalfOfTheImagesExactly) {
  const HostTensor x = Images();
  for (const char* mode : {"horizontal", "vertical", "horizontal_and_vertical"}) {
    const HostTensor y = RunLayer(RandomFlip({.mode = mode}), {x}, {.training = true})[0];
    const bool across = std::string(mode) != "vertical", down = std::string(mode) != "horizontal";
    const int64_t kept =
        RowsLike(y, [&](auto b, auto r, auto c, auto f) { return At(x, b, r, c, f); });
    const int64_t turned = RowsLike(y, [&](auto b, auto r, auto c, auto f) {
      return At(x, b, down ? kHeight - 1 - r : r, across ? kWidth - 1 - c : c, f);
    });
    EXPECT_EQ(kept + turned, kRows) << mode;
    // Five deviations of a binomial of 200 by 1/2.
    EXPECT_NEAR(static_cast<double>(turned), 100, 5 * std::sqrt(50)) << mode;
  }
}

TEST(AugmentationTest, RowsDrawTheSameOnAnyReplica) {
  // The second half of the batch on its own, told where it begins, as a second replica is.
  const HostTensor x = Images();
  const auto half = static_cast<std::ptrdiff_t>(x.data.size() / 2);
  const HostTensor second = {ir::Shape(ir::DType::kF32, {kRows / 2, kHeight, kWidth, kChannels}),
                             {x.data.begin() + half, x.data.end()}};
  RandomRotationOptions rotation;
  rotation.factor = {0.2};
  for (const LayerPtr& layer : {RandomFlip(), RandomRotation(rotation)}) {
    const HostTensor whole = RunLayer(layer, {x}, {.training = true})[0];
    const HostTensor part =
        RunLayer(layer, {second}, {.training = true, .first_row = kRows / 2})[0];
    testing::ExpectClose(part, {second.shape, {whole.data.begin() + half, whole.data.end()}}, 1e-6,
                         layer->type());
  }
}

// Reads an image by plain loops: indices of whole pixels folded one by one.
double Read(const HostTensor& x, int64_t b, double y, double col, int64_t c,
            const std::string& mode, const std::string& interpolation, double fill) {
  const auto fold = [&](int64_t i, int64_t n) -> int64_t {
    if (mode == "constant") return i < 0 || i >= n ? -1 : i;
    if (mode == "nearest") return std::clamp<int64_t>(i, 0, n - 1);
    if (mode == "wrap") return ((i % n) + n) % n;
    const int64_t p = ((i % (2 * n)) + 2 * n) % (2 * n);
    return p < n ? p : 2 * n - 1 - p;
  };
  const auto pixel = [&](double r, double q) {
    const int64_t row = fold(static_cast<int64_t>(r), kHeight);
    const int64_t column = fold(static_cast<int64_t>(q), kWidth);
    return row < 0 || column < 0 ? fill : At(x, b, row, column, c);
  };
  if (interpolation == "nearest") return pixel(std::floor(y + 0.5), std::floor(col + 0.5));
  const double r = std::floor(y), q = std::floor(col), down = y - r, right = col - q;
  return (pixel(r, q) * (1 - right) + pixel(r, q + 1) * right) * (1 - down) +
         (pixel(r + 1, q) * (1 - right) + pixel(r + 1, q + 1) * right) * down;
}

void ExpectSampled(const LayerPtr& layer, const SamplingOptions& options,
                   const std::function<std::pair<double, double>(double y, double x)>& source) {
  const HostTensor x = Noise({2, kHeight, kWidth, kChannels});
  const HostTensor found = RunLayer(layer, {x}, {.training = true})[0];
  HostTensor expected{found.shape, {}};
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t row = 0; row < kHeight; ++row) {
      for (int64_t column = 0; column < kWidth; ++column) {
        const auto [y, c] = source(static_cast<double>(row), static_cast<double>(column));
        for (int64_t channel = 0; channel < kChannels; ++channel) {
          expected.data.push_back(Read(x, b, y, c, channel, options.fill_mode,
                                       options.interpolation, options.fill_value));
        }
      }
    }
  }
  testing::ExpectClose(found, expected, 1e-5, layer->type() + " " + options.fill_mode);
}

TEST(AugmentationTest, GeometryEqualsPlainLoops) {
  for (const char* interpolation : {"bilinear", "nearest"}) {
    for (const char* mode : {"reflect", "nearest", "constant"}) {
      RandomTranslationOptions translation;
      translation.fill_mode = mode;
      translation.interpolation = interpolation;
      translation.fill_value = 0.5;
      translation.height_factor = {0.45, 0.45};
      translation.width_factor = {-0.31, -0.31};
      ExpectSampled(RandomTranslation(translation), translation, [](double y, double x) {
        return std::pair(y - 0.45 * kHeight, x + 0.31 * kWidth);
      });
      RandomRotationOptions rotation;
      static_cast<SamplingOptions&>(rotation) = translation;
      rotation.factor = {0.1, 0.1};
      ExpectSampled(RandomRotation(rotation), rotation, [](double y, double x) {
        const double angle = 0.2 * std::numbers::pi;
        const double dy = y - (kHeight - 1) / 2.0, dx = x - (kWidth - 1) / 2.0;
        return std::pair(std::sin(angle) * dx + std::cos(angle) * dy + (kHeight - 1) / 2.0,
                         std::cos(angle) * dx - std::sin(angle) * dy + (kWidth - 1) / 2.0);
      });
      RandomZoomOptions zoom;
      static_cast<SamplingOptions&>(zoom) = translation;
      zoom.height_factor = {0.37, 0.37};
      zoom.width_factor = {-0.21, -0.21};
      ExpectSampled(RandomZoom(zoom), zoom, [](double y, double x) {
        return std::pair((y - (kHeight - 1) / 2.0) * 1.37 + (kHeight - 1) / 2.0,
                         (x - (kWidth - 1) / 2.0) * 0.79 + (kWidth - 1) / 2.0);
      });
    }
  }
  // Whole pixels, where wrapping leaves no gap between the last and the first.
  RandomTranslationOptions wrap;
  wrap.fill_mode = "wrap";
  wrap.interpolation = "nearest";
  wrap.height_factor = {0.5, 0.5};
  wrap.width_factor = {-0.4, -0.4};
  ExpectSampled(RandomTranslation(wrap), wrap,
                [](double y, double x) { return std::pair(y - 3, x + 2); });
}

TEST(AugmentationTest, QuarterTurnIsExact) {
  const HostTensor x = Noise({1, 4, 4, 1});
  RandomRotationOptions rotation;
  rotation.factor = {0.25, 0.25};
  const HostTensor y = RunLayer(RandomRotation(rotation), {x}, {.training = true})[0];
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t c = 0; c < 4; ++c) {
      // Counter-clockwise: the right column becomes the top row.
      EXPECT_NEAR(At(y, 0, r, c, 0), At(x, 0, c, 3 - r, 0), 1e-5) << r << "," << c;
    }
  }
}

TEST(AugmentationTest, CropsWindowsEverywhere) {
  // Each pixel tells its own place.
  const HostTensor x =
      Make({kRows, 4, 5, 1}, [](int64_t i) { return static_cast<double>(i % 20); });
  const HostTensor y = RunLayer(RandomCrop({.height = 2, .width = 3}), {x}, {.training = true})[0];
  ASSERT_EQ(y.shape.dims, (ir::Dims{kRows, 2, 3, 1}));
  std::vector<int64_t> counts(20, 0);
  for (int64_t b = 0; b < kRows; ++b) {
    const double corner = At(y, b, 0, 0, 0);
    ++counts[static_cast<size_t>(corner)];
    for (int64_t r = 0; r < 2; ++r) {
      for (int64_t c = 0; c < 3; ++c) {
        EXPECT_EQ(At(y, b, r, c, 0), corner + 5 * static_cast<double>(r) + static_cast<double>(c));
      }
    }
  }
  for (size_t r = 0; r < 4; ++r) {
    for (size_t c = 0; c < 5; ++c) {
      // Nine places, each about 22 of 200 times.
      if (r < 3 && c < 3) {
        EXPECT_GT(counts[5 * r + c], 3) << r << "," << c;
      } else {
        EXPECT_EQ(counts[5 * r + c], 0) << r << "," << c;
      }
    }
  }
  const HostTensor centre = RunLayer(RandomCrop({.height = 2, .width = 2}),
                                     {Make({1, 4, 4, 1}, [](int64_t i) { return double(i); })})[0];
  EXPECT_EQ(centre.shape.dims, (ir::Dims{1, 2, 2, 1}));
}

TEST(AugmentationTest, ContrastAndBrightnessKeepTheirRange) {
  const HostTensor x = Make({kRows, 2, 2, 1}, [](int64_t i) { return i % 2 == 0 ? 0.25 : 0.75; });
  RandomContrastOptions contrast;
  contrast.factor = {0.4};
  contrast.value_range = {0, 1};
  const HostTensor y = RunLayer(RandomContrast(contrast), {x}, {.training = true})[0];
  double low = 10, high = -10;
  for (int64_t b = 0; b < kRows; ++b) {
    const double factor = (At(y, b, 0, 1, 0) - At(y, b, 0, 0, 0)) / 0.5;
    low = std::min(low, factor);
    high = std::max(high, factor);
    EXPECT_NEAR(At(y, b, 0, 0, 0) + At(y, b, 0, 1, 0), 1, 1e-5);  // the mean stays
  }
  EXPECT_GE(low, 0.6 - 1e-5);
  EXPECT_LT(low, 0.65);
  EXPECT_LE(high, 1.4 + 1e-5);
  EXPECT_GT(high, 1.35);

  RandomBrightnessOptions brightness;
  brightness.factor = {0.5, 0.5};
  brightness.value_range = {0, 1};
  const HostTensor z = RunLayer(RandomBrightness(brightness), {x}, {.training = true})[0];
  EXPECT_NEAR(At(z, 0, 0, 0, 0), 0.75, 1e-6);
  EXPECT_NEAR(At(z, 0, 0, 1, 0), 1, 1e-6);  // clipped
}

TEST(AugmentationTest, BadArgumentsAreNamed) {
  const auto message = [](const std::function<void()>& make) -> std::string {
    try {
      make();
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message([] { RandomFlip({.mode = "sideways"}); }), HasSubstr("sideways"));
  EXPECT_THAT(message([] { RandomContrast({.factor = {2.0}}); }), HasSubstr("factor"));
  EXPECT_THAT(message([] { RandomCrop({.height = 0, .width = 3}); }), HasSubstr("height"));
  RandomZoomOptions zoom;
  zoom.height_factor = {-1.0, 0.0};
  EXPECT_THAT(message([&] { RandomZoom(zoom); }), HasSubstr("larger than -1"));
  RandomRotationOptions rotation;
  rotation.factor = {0.1, 0.2, 0.3};
  EXPECT_THAT(message([&] { RandomRotation(rotation); }), HasSubstr("two"));
  rotation.factor = {0.1};
  rotation.fill_mode = "mirror";
  EXPECT_THAT(message([&] { RandomRotation(rotation); }), HasSubstr("mirror"));
}

}  // namespace
}  // namespace flatout::nn
