// Library kernels inside compiled programs, held against the same programs without them. Every op
// of the op table goes through tests/ops_test.cc besides.
#include "flatout/kernels/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"

namespace flatout::kernels {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

using ir::DType;
using ir::Graph;
using ir::Shape;
using ir::Value;
using Dims = std::vector<int64_t>;

constexpr int kDevices = 3;

const xla::Client& ClientOf(const std::string& plugin) {
  static auto& clients = *new std::map<std::string, std::shared_ptr<xla::Client>>();
  std::shared_ptr<xla::Client>& client = clients[plugin];
  if (client == nullptr) {
    client = xla::Client::Create(xla::Plugin::Load(plugin), {.cpu_device_count = kDevices});
  }
  return *client;
}

class Kernels : public ::testing::TestWithParam<std::string> {
 protected:
  const xla::Client& client() const { return ClientOf(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Plugins, Kernels, ::testing::Values("cpu-0.81", "cpu-0.115"),
                         [](const auto& info) {
                           return info.param == "cpu-0.81" ? "Cpu081" : "Cpu0115";
                         });

using Array = std::vector<std::byte>;

Array RandomArray(const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  Array bytes(shape.bytes());
  for (int64_t i = 0; i < shape.size(); ++i) {
    ir::StoreElement(shape.dtype, static_cast<double>(random() >> 11) * 0x1p-52 - 1,
                     bytes.data() + i * ir::ByteSize(shape.dtype));
  }
  return bytes;
}

std::vector<Array> RandomArguments(const Graph& graph) {
  std::vector<Array> arguments;
  for (const Value& parameter : graph.parameters()) {
    arguments.push_back(RandomArray(parameter.shape(), arguments.size() + 1));
  }
  return arguments;
}

// The outputs on each of the replicas, one after the other.
std::vector<Array> RunProgram(const xla::Client& client, const std::string& text,
                              const Graph& graph, const std::vector<Array>& arguments,
                              int replicas = 1) {
  const auto executable = client.Compile(text, {.num_replicas = replicas});
  std::vector<xla::Buffer> buffers;
  for (int replica = 0; replica < replicas; ++replica) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      buffers.push_back(client.FromHost(arguments[i].data(), graph.parameters()[i].shape(),
                                        executable->device(replica)));
    }
  }
  std::vector<const xla::Buffer*> pointers;
  for (const xla::Buffer& buffer : buffers) pointers.push_back(&buffer);
  const xla::Execution execution = executable->Execute(pointers);
  execution.Await();
  std::vector<Array> outputs;
  for (int replica = 0; replica < replicas; ++replica) {
    for (const xla::Buffer& buffer : execution.outputs[replica]) {
      Array bytes(buffer.shape().bytes());
      buffer.ToHost(bytes.data(), bytes.size());
      outputs.push_back(std::move(bytes));
    }
  }
  return outputs;
}

// The largest difference of any output from XLA's, as a part of that output's largest element.
double Difference(const xla::Client& client, const Graph& graph, std::string* library = nullptr) {
  const Lowering lowering(client, Choice::kOneDnn);
  std::vector<Decision> decisions;
  const auto lowered = lowering.Lower(graph, &decisions);
  for (const Decision& decision : decisions) {
    if (library != nullptr) {
      *library += fmt::format("{}: {}{}\n", decision.what, decision.implementation, decision.why);
    }
    EXPECT_TRUE(decision.library) << decision.what << ": " << decision.why;
  }
  const std::vector<Array> arguments = RandomArguments(graph);
  const auto found = RunProgram(client, ir::ToStablehlo(*lowered), graph, arguments);
  const auto expected = RunProgram(client, ir::ToStablehlo(graph), graph, arguments);
  double worst = 0;
  for (size_t k = 0; k < found.size(); ++k) {
    const Shape& shape = graph.outputs()[k].shape();
    // Of what should be 0, as of an only feature's gradient, rounding may leave something.
    double largest = 1e-2, difference = 0;
    for (int64_t i = 0; i < shape.size(); ++i) {
      const int64_t at = i * ir::ByteSize(shape.dtype);
      const double a = ir::LoadElement(shape.dtype, found[k].data() + at);
      const double b = ir::LoadElement(shape.dtype, expected[k].data() + at);
      largest = std::max(largest, std::fabs(b));
      difference = std::max(difference, std::isnan(a - b) ? 1e30 : std::fabs(a - b));
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}

// y = f(parameters) with its gradients by all of them, for a random cotangent.
void AddGradients(Graph& graph, Value y) {
  std::vector<Value> wrt(graph.parameters().begin(), graph.parameters().end());
  const Value cotangent = graph.AddParameter(y.shape(), "dy");
  const Value outputs[] = {y}, cotangents[] = {cotangent};
  std::vector<Value> results = {y};
  for (const Value& gradient : ir::VectorJacobianProduct(outputs, cotangents, wrt)) {
    results.push_back(gradient);
  }
  graph.SetOutputs(results);
}

// ---- convolutions -------------------------------------------------------------------------------

struct Conv {
  std::string name;
  Dims input, kernel;  // channels last; kernel [spatial, in / groups, out]
  Dims strides, dilation, padding;
  int64_t groups = 1;
};

void PrintTo(const Conv& conv, std::ostream* os) { *os << conv.name; }

std::vector<Conv> Convs() {
  return {
      {"Plain3x3", {4, 12, 12, 16}, {3, 3, 16, 32}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {"OneChannel", {4, 14, 14, 1}, {3, 3, 1, 32}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {"Stride2Remainder", {3, 11, 14, 16}, {3, 3, 16, 24}, {2, 2}, {1, 1}, {1, 1, 0, 1}},
      {"Stride2Same", {3, 16, 16, 16}, {3, 3, 16, 32}, {2, 2}, {1, 1}, {0, 1, 0, 1}},
      {"Pointwise", {2, 8, 8, 32}, {1, 1, 32, 48}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
      {"PointwiseStride2", {2, 8, 8, 32}, {1, 1, 32, 48}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {"Dilated", {2, 16, 16, 16}, {3, 3, 16, 16}, {1, 1}, {2, 2}, {2, 2, 2, 2}},
      {"Large", {2, 20, 20, 3}, {7, 7, 3, 16}, {2, 2}, {1, 1}, {3, 3, 3, 3}},
      {"Grouped", {2, 10, 10, 32}, {3, 3, 8, 64}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 4},
      {"GroupedStride2", {2, 10, 10, 32}, {3, 3, 16, 32}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 2},
      {"Depthwise", {2, 10, 10, 32}, {3, 3, 1, 32}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 32},
      {"DepthwiseStride2", {2, 11, 11, 32}, {3, 3, 1, 32}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 32},
      {"OneDimension", {4, 33, 16}, {5, 16, 32}, {1}, {1}, {2, 2}},
      {"Causal", {4, 33, 16}, {3, 16, 16}, {1}, {4}, {8, 0}},
      {"ThreeDimensions",
       {2, 6, 7, 8, 16},
       {3, 3, 3, 16, 16},
       {1, 1, 1},
       {1, 1, 1},
       {1, 1, 1, 1, 1, 1}},
      {"OddChannels", {3, 9, 9, 5}, {3, 3, 5, 7}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {"OneElement", {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
  };
}

Value AddConvolution(Graph& graph, const Conv& conv, DType dtype) {
  const Value x = graph.AddParameter(Shape(dtype, conv.input), "x");
  const Value w = graph.AddParameter(Shape(dtype, conv.kernel), "w");
  const std::string digits = std::string("012").substr(0, conv.strides.size());
  return ir::Convolution(x, w,
                         {.layout = fmt::format("b{0}f_{0}io->b{0}f", digits),
                          .strides = conv.strides,
                          .lhs_dilation = Dims(conv.strides.size(), 1),
                          .rhs_dilation = conv.dilation,
                          .padding = conv.padding,
                          .feature_group_count = conv.groups});
}

class Convolutions : public ::testing::TestWithParam<Conv> {};
INSTANTIATE_TEST_SUITE_P(All, Convolutions, ::testing::ValuesIn(Convs()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Convolutions, ForwardAndGradientsEqualXla) {
  for (const char* plugin : {"cpu-0.81", "cpu-0.115"}) {
    Graph graph;
    AddGradients(graph, AddConvolution(graph, GetParam(), DType::kF32));
    std::string library;
    EXPECT_LE(Difference(ClientOf(plugin), graph, &library), 2e-5) << plugin << "\n" << library;
  }
}

TEST_P(Convolutions, NarrowOnesEqualXla) {
  Graph graph;
  AddGradients(graph, AddConvolution(graph, GetParam(), DType::kBF16));
  std::vector<Decision> decisions;
  const xla::Client& client = ClientOf("cpu-0.115");
  const auto lowered = Lowering(client, Choice::kOneDnn).Lower(graph, &decisions);
  if (!decisions[0].library) {
    // A processor without instructions for bf16.
    EXPECT_THAT(decisions[0].why, HasSubstr("oneDNN has"));
    return;
  }
  EXPECT_LE(Difference(client, graph), 2e-2);
}

TEST_P(Kernels, ConvolutionWithBiasAndReluIsOneCall) {
  Graph graph;
  const Conv conv = {"", {2, 10, 10, 16}, {3, 3, 16, 32}, {1, 1}, {1, 1}, {1, 1, 1, 1}};
  const Value y = AddConvolution(graph, conv, DType::kF32);
  const Value bias = graph.AddParameter(Shape(DType::kF32, {32}), "bias");
  AddGradients(graph, ir::Relu(y + bias));
  EXPECT_LE(Difference(client(), graph), 2e-5);
  EXPECT_THAT(ir::Dump(*Lowering(client(), Choice::kOneDnn).Lower(graph)),
              AllOf(Not(HasSubstr("add(")), Not(HasSubstr("relu("))));
}

TEST_P(Kernels, WhatOthersReadIsKept) {
  // The sum before the relu is a result, too, so the call may not swallow it.
  Graph graph;
  const Value x = graph.AddParameter(Shape(DType::kF32, {8, 16}), "x");
  const Value w = graph.AddParameter(Shape(DType::kF32, {16, 8}), "w");
  const Value bias = graph.AddParameter(Shape(DType::kF32, {8}), "bias");
  const Value sum = ir::MatMul(x, w) + bias;
  graph.SetOutputs({ir::Relu(sum), sum});
  EXPECT_LE(Difference(client(), graph), 2e-5);
  EXPECT_THAT(ir::Dump(*Lowering(client(), Choice::kOneDnn).Lower(graph)),
              AllOf(Not(HasSubstr("add(")), HasSubstr("relu(")));
}

TEST_P(Kernels, TransposedConvolutionAndItsGradientsEqualXla) {
  Graph graph;
  const Value x = graph.AddParameter(Shape(DType::kF32, {2, 7, 7, 16}), "x");
  const Value w = graph.AddParameter(Shape(DType::kF32, {3, 3, 24, 16}), "w");
  AddGradients(graph, ir::Convolution(x, ir::Reverse(w, {0, 1}),
                                      {.layout = "b01f_01oi->b01f",
                                       .strides = {1, 1},
                                       .lhs_dilation = {2, 2},
                                       .rhs_dilation = {1, 1},
                                       .padding = {1, 2, 1, 2}}));
  EXPECT_LE(Difference(client(), graph), 2e-5);
}

TEST_P(Kernels, OtherLayoutsAreTransposed) {
  Graph graph;
  const Value x = graph.AddParameter(Shape(DType::kF32, {2, 16, 9, 10}), "x");
  const Value w = graph.AddParameter(Shape(DType::kF32, {8, 16, 3, 3}), "w");
  graph.SetOutputs({ir::Convolution(x, w,
                                    {.layout = "bf01_oi01->bf01",
                                     .strides = {1, 1},
                                     .lhs_dilation = {1, 1},
                                     .rhs_dilation = {1, 1},
                                     .padding = {1, 1, 1, 1}})});
  EXPECT_LE(Difference(client(), graph), 2e-5);
}

// ---- products -----------------------------------------------------------------------------------

TEST_P(Kernels, DenseLayersWithBiasEqualXla) {
  for (const Dims& rows : {Dims{37}, Dims{4, 9}, Dims{1}}) {
    Graph graph;
    Dims dims = rows;
    dims.push_back(24);
    const Value x = graph.AddParameter(Shape(DType::kF32, dims), "x");
    const Value w = graph.AddParameter(Shape(DType::kF32, {24, 40}), "w");
    const Value b = graph.AddParameter(Shape(DType::kF32, {40}), "b");
    AddGradients(graph, ir::Relu(ir::MatMul(x, w) + b));
    EXPECT_LE(Difference(client(), graph), 2e-5) << rows.size();
    // One call computes product, bias and relu.
    const auto lowered = Lowering(client(), Choice::kOneDnn).Lower(graph);
    EXPECT_THAT(ir::Dump(*lowered), AllOf(Not(HasSubstr("add(")), Not(HasSubstr("relu("))));
  }
}

TEST_P(Kernels, AttentionReadsAndWritesTransposedArraysWhereTheyLie) {
  Graph graph;
  const auto heads = [&](const char* name) {
    const Value x = graph.AddParameter(Shape(DType::kF32, {3, 10, 4 * 8}), name);
    return ir::Transpose(ir::Reshape(x, {3, 10, 4, 8}), {0, 2, 1, 3});
  };
  const Value q = heads("q"), k = heads("k"), v = heads("v");
  const Value scores = ir::MatMul(q, ir::Transpose(k, {0, 1, 3, 2}));
  const Value mixed = ir::MatMul(ir::Softmax(scores, -1), v);
  AddGradients(graph, ir::Reshape(ir::Transpose(mixed, {0, 2, 1, 3}), {3, 10, 32}));
  std::string library;
  EXPECT_LE(Difference(client(), graph, &library), 2e-5) << library;
  const auto lowered = Lowering(client(), Choice::kOneDnn).Lower(graph);
  EXPECT_THAT(ir::Dump(*lowered), Not(HasSubstr("= transpose(")));
}

TEST_P(Kernels, NarrowOperandsGiveWideResults) {
  Graph graph;
  const Value a = graph.AddParameter(Shape(DType::kBF16, {2, 33, 64}), "a");
  const Value b = graph.AddParameter(Shape(DType::kBF16, {2, 64, 48}), "b");
  const ir::DotDims dims = {
      .lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {2}, .rhs_contract = {1}};
  graph.SetOutputs({ir::DotGeneral(a, b, dims, DType::kF32), ir::DotGeneral(a, b, dims)});
  std::vector<Decision> decisions;
  Lowering(client(), Choice::kOneDnn).Lower(graph, &decisions);
  if (!decisions[0].library) {
    // A processor without instructions for bf16.
    EXPECT_THAT(decisions[0].why, HasSubstr("oneDNN has"));
    return;
  }
  EXPECT_LE(Difference(client(), graph), 1e-2);
}

// ---- loops of our own ---------------------------------------------------------------------------

// Sizes of rows and columns: whole vectors, parts of one, several at once, and one element.
const std::pair<int64_t, int64_t> kLoopSizes[] = {{37, 64}, {5, 83}, {300, 130}, {1, 1}, {700, 3}};

// In float32 and, where the loops take both, bf16.
void ExpectLoopsEqualXla(const xla::Client& client, const std::function<Value(Value x)>& build) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const auto& [rows, columns] : kLoopSizes) {
      Graph graph;
      const Value x = graph.AddParameter(Shape(dtype, {rows, columns}), "x");
      AddGradients(graph, build(x));
      std::string library;
      EXPECT_LE(Difference(client, graph, &library), dtype == DType::kF32 ? 2e-5 : 2e-2)
          << rows << " x " << columns << " " << ir::Name(dtype) << "\n"
          << library;
      EXPECT_THAT(library, HasSubstr("own loop"));
    }
  }
}

Value F32Parameter(Graph& graph, Dims dims, const char* name) {
  return graph.AddParameter(Shape(DType::kF32, std::move(dims)), name);
}

TEST_P(Kernels, CrossEntropyEqualsXla) {
  ExpectLoopsEqualXla(client(), [](Value x) {
    const Value row = ir::Iota(x.graph(), Shape(DType::kI32, {x.dim(0)}), 0);
    // The last classes are out of range.
    const Value index = ir::Rem(row * 7.0, ir::ScalarLike(row, static_cast<double>(x.dim(1)) + 2));
    return ir::SparseCrossEntropy(x, index);
  });
}

TEST_P(Kernels, SoftmaxEqualsXla) {
  ExpectLoopsEqualXla(client(), [](Value x) {
    const Value wide = ir::Convert(x, DType::kF32) * 8.0;
    return x.dtype() == DType::kF32 ? ir::Softmax(wide, -1) : ir::Softmax(wide, -1, x.dtype());
  });
}

TEST_P(Kernels, GeluEqualsXla) {
  ExpectLoopsEqualXla(client(), [](Value x) { return ir::Gelu(x); });
}

TEST_P(Kernels, LayerNormalizationEqualsXla) {
  ExpectLoopsEqualXla(client(), [](Value x) {
    Graph& graph = x.graph();
    return ir::LayerNormalization(x, F32Parameter(graph, {x.dim(1)}, "gamma"),
                                  F32Parameter(graph, {x.dim(1)}, "beta"), 1e-3, x.dtype());
  });
}

TEST_P(Kernels, GradientsOfBiasesEqualXla) {
  ExpectLoopsEqualXla(client(), [](Value x) {
    const Value bias = x.graph().AddParameter(Shape(x.dtype(), {x.dim(1)}), "bias");
    return ir::Gelu(x + bias);
  });
}

// y of a batch's x [batch, height, width, channels], of which the last row does not count.
Value BatchNormalized(Value x) {
  Graph& graph = x.graph();
  const int64_t batch = x.dim(0), channels = x.dim(3);
  const Value row = ir::Iota(graph, Shape(DType::kF32, {batch}), 0);
  const Value weight = ir::Convert(ir::Lt(row, static_cast<double>(batch - 1)), DType::kF32);
  return ir::BatchNormalization(
      x, F32Parameter(graph, {channels}, "gamma"), F32Parameter(graph, {channels}, "beta"), weight,
      ir::Scalar(graph, DType::kF32, static_cast<double>((batch - 1) * x.dim(1) * x.dim(2))), 1e-3,
      x.dtype())[0];
}

TEST_P(Kernels, BatchNormalizationEqualsXla) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const int64_t channels : {3, 64, 83, 2000}) {
      Graph graph;
      const Value x = graph.AddParameter(Shape(dtype, {5, 3, 3, channels}), "x");
      AddGradients(graph, BatchNormalized(x * 2.0 + 0.5));
      EXPECT_LE(Difference(client(), graph), dtype == DType::kF32 ? 5e-5 : 3e-2) << channels;
    }
  }
}

TEST_P(Kernels, BatchNormalizationTakesReluAndResidualAlong) {
  for (const bool residual : {false, true}) {
    Graph graph;
    const Value x = graph.AddParameter(Shape(DType::kF32, {4, 3, 3, 32}), "x");
    Value y = BatchNormalized(x);
    // Of two normalizations that are added, one takes the other along.
    if (residual) {
      const Value z = graph.AddParameter(Shape(DType::kF32, {4, 3, 3, 32}), "z");
      y = y + BatchNormalized(z);
    }
    AddGradients(graph, ir::Relu(y));
    EXPECT_LE(Difference(client(), graph), 5e-5);
    const std::string text = ir::Dump(*Lowering(client(), Choice::kOneDnn).Lower(graph));
    EXPECT_THAT(text, Not(HasSubstr("relu(")));
    if (!residual) {
      EXPECT_THAT(text, Not(HasSubstr("select(")));
    }
  }
}

TEST_P(Kernels, WhatNormalizedValuesAreReadForBesidesIsKept) {
  Graph graph;
  const Value x = graph.AddParameter(Shape(DType::kF32, {4, 3, 3, 32}), "x");
  const Value y = BatchNormalized(x);
  graph.SetOutputs({ir::Relu(y), y});
  EXPECT_LE(Difference(client(), graph), 5e-5);
}

TEST_P(Kernels, CausalSoftmaxHidesItsMask) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    Graph graph;
    const Value q = graph.AddParameter(Shape(dtype, {2, 2, 21, 16}), "q");
    const Value k = graph.AddParameter(Shape(dtype, {2, 2, 21, 16}), "k");
    const Value v = graph.AddParameter(Shape(dtype, {2, 2, 21, 16}), "v");
    const Value scores = ir::DotGeneral(q, k, {{0, 1}, {0, 1}, {3}, {3}}, DType::kF32);
    const Shape square(DType::kI32, {21, 21});
    const Value mask =
        ir::Compare(ir::Iota(graph, square, 0), ir::Iota(graph, square, 1), ir::Comparison::kGe);
    const Value seen = ir::Select(ir::BroadcastTo(mask, scores.dims()), scores,
                                  ir::Full(graph, scores.shape(), -1e30));
    const Value shares =
        dtype == DType::kF32 ? ir::Softmax(seen, -1) : ir::Softmax(seen, -1, dtype);
    AddGradients(graph, ir::DotGeneral(shares, v, {{0, 1}, {0, 1}, {3}, {2}}));
    const std::vector<Decision> decisions = [&] {
      std::vector<Decision> found;
      Lowering(client(), Choice::kOneDnn).Lower(graph, &found);
      return found;
    }();
    // A processor without instructions for bf16 multiplies by XLA.
    const bool products = std::all_of(decisions.begin(), decisions.end(),
                                      [](const Decision& decision) { return decision.library; });
    if (products) {
      EXPECT_LE(Difference(client(), graph), dtype == DType::kF32 ? 2e-5 : 2e-2);
    }
    EXPECT_THAT(ir::Dump(*Lowering(client(), Choice::kOneDnn).Lower(graph)),
                AllOf(Not(HasSubstr("select(")), Not(HasSubstr("exponential("))));
  }
}

TEST_P(Kernels, LoopsKeepWhatIsNotANumber) {
  const auto outputs_with_nan = [&](const std::function<Value(Value)>& build) {
    Graph graph;
    const Value x = graph.AddParameter(Shape(DType::kF32, {6, 3, 3, 20}), "x");
    graph.SetOutputs({ir::ReduceSum(build(x))});
    std::vector<Array> arguments = RandomArguments(graph);
    ir::StoreElement(DType::kF32, std::nan(""), arguments[0].data() + 4 * 101);
    const auto outputs = RunProgram(
        client(), Lowering(client(), Choice::kOneDnn).ToStablehlo(graph), graph, arguments);
    return ir::LoadElement(DType::kF32, outputs[0].data());
  };
  EXPECT_TRUE(std::isnan(outputs_with_nan([](Value x) { return ir::Softmax(x, -1); })));
  EXPECT_TRUE(std::isnan(outputs_with_nan([](Value x) { return ir::Gelu(x); })));
  EXPECT_TRUE(std::isnan(outputs_with_nan([](Value x) { return ir::Relu(BatchNormalized(x)); })));
  EXPECT_TRUE(std::isnan(outputs_with_nan([](Value x) {
    return ir::SparseCrossEntropy(x, ir::Full(x.graph(), Shape(DType::kI32, {6, 3, 3}), 4));
  })));
  EXPECT_TRUE(std::isnan(outputs_with_nan([](Value x) {
    Graph& graph = x.graph();
    return ir::LayerNormalization(x, F32Parameter(graph, {20}, "gamma"),
                                  F32Parameter(graph, {20}, "beta"), 1e-3, DType::kF32);
  })));
}

TEST_P(Kernels, LoopsGiveTheSameBitsAgain) {
  Graph graph;
  const Value x = graph.AddParameter(Shape(DType::kF32, {64, 8, 8, 96}), "x");
  AddGradients(graph, ir::Relu(BatchNormalized(ir::Gelu(x))));
  const std::string text = Lowering(client(), Choice::kOneDnn).ToStablehlo(graph);
  const std::vector<Array> arguments = RandomArguments(graph);
  const auto first = RunProgram(client(), text, graph, arguments);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(RunProgram(client(), text, graph, arguments), first);
}

// ---- edges --------------------------------------------------------------------------------------

std::vector<Decision> Decisions(const xla::Client& client, const Graph& graph,
                                Choice choice = Choice::kOneDnn) {
  std::vector<Decision> decisions;
  Lowering(client, choice).Lower(graph, &decisions);
  return decisions;
}

TEST_P(Kernels, ArraysOfNothingAreLeftToXla) {
  Graph graph;
  const Value a = graph.AddParameter(Shape(DType::kF32, {0, 8}), "a");
  const Value b = graph.AddParameter(Shape(DType::kF32, {8, 4}), "b");
  const Value c = graph.AddParameter(Shape(DType::kF32, {3, 0}), "c");
  const Value d = graph.AddParameter(Shape(DType::kF32, {0, 5}), "d");
  graph.SetOutputs({ir::MatMul(a, b), ir::MatMul(c, d)});
  for (const Decision& decision : Decisions(client(), graph)) {
    EXPECT_FALSE(decision.library);
    EXPECT_THAT(decision.why, HasSubstr("nothing to compute"));
  }
  // The sum of nothing is 0.
  const auto outputs = RunProgram(client(), Lowering(client(), Choice::kOneDnn).ToStablehlo(graph),
                                  graph, RandomArguments(graph));
  EXPECT_EQ(outputs[1], Array(15 * sizeof(float)));
}

TEST_P(Kernels, OneElementIsMultiplied) {
  Graph graph;
  const Value a = graph.AddParameter(Shape(DType::kF32, {1, 1}), "a");
  const Value b = graph.AddParameter(Shape(DType::kF32, {1, 1}), "b");
  graph.SetOutputs({ir::MatMul(a, b)});
  EXPECT_LE(Difference(client(), graph), 1e-6);
}

TEST_P(Kernels, SizesBeyond32BitsAreLeftToXla) {
  Graph graph;
  const Value a = graph.AddParameter(Shape(DType::kF32, {int64_t{1} << 20, 1 << 12}), "a");
  const Value b = graph.AddParameter(Shape(DType::kF32, {1 << 12, 8}), "b");
  const Value x = graph.AddParameter(Shape(DType::kF32, {int64_t{1} << 33, 1, 1, 1}), "x");
  const Value w = graph.AddParameter(Shape(DType::kF32, {1, 1, 1, 1}), "w");
  graph.SetOutputs({ir::MatMul(a, b), ir::Convolution(x, w,
                                                      {.layout = "b01f_01io->b01f",
                                                       .strides = {1, 1},
                                                       .lhs_dilation = {1, 1},
                                                       .rhs_dilation = {1, 1},
                                                       .padding = {0, 0, 0, 0}})});
  const std::vector<Decision> decisions = Decisions(client(), graph);
  ASSERT_EQ(decisions.size(), 2U);
  for (const Decision& decision : decisions) {
    EXPECT_FALSE(decision.library);
    EXPECT_THAT(decision.why, HasSubstr("32-bit"));
  }
  EXPECT_EQ(Lowering(client(), Choice::kOneDnn).ToStablehlo(graph), ir::ToStablehlo(graph));
}

TEST_P(Kernels, OtherTypesAreLeftToXla) {
  Graph graph;
  const Value a = graph.AddParameter(Shape(DType::kF64, {8, 8}), "a");
  graph.SetOutputs({ir::MatMul(a, a)});
  EXPECT_THAT(Decisions(client(), graph)[0].why, HasSubstr("f64"));
}

// ---- the same bits ------------------------------------------------------------------------------

// Training of a small network in miniature: `steps` (an argument) rounds of product, convolution,
// gradients and update in a loop, the state donated.
std::unique_ptr<Graph> LoopGraph() {
  auto graph = std::make_unique<Graph>("loop");
  const Value w = graph->AddParameter(Shape(DType::kF32, {3, 3, 16, 16}), "w");
  const Value d = graph->AddParameter(Shape(DType::kF32, {16, 24}), "d");
  const Value x = graph->AddParameter(Shape(DType::kF32, {4, 12, 12, 16}), "x");
  const Value steps = graph->AddParameter(Shape(DType::kI32, {}), "steps");
  const Value state[] = {ir::Scalar(*graph, DType::kI32, 0), steps, w, d, x};
  const std::vector<Value> results = ir::While(
      state,
      [](Graph&, std::span<const Value> s) {
        return std::vector<Value>{ir::Compare(s[0], s[1], ir::Comparison::kLt)};
      },
      [](Graph&, std::span<const Value> s) {
        const Value y = ir::Convolution(s[4], s[2],
                                        {.layout = "b01f_01io->b01f",
                                         .strides = {1, 1},
                                         .lhs_dilation = {1, 1},
                                         .rhs_dilation = {1, 1},
                                         .padding = {1, 1, 1, 1}});
        const Value z = ir::MatMul(ir::Tanh(y), s[3]);
        const Value loss = ir::ReduceMean(z * z);
        const Value wrt[] = {s[2], s[3]};
        const std::vector<Value> gradients = ir::Gradient(loss, wrt);
        return std::vector<Value>{s[0] + 1.0, s[1], s[2] - gradients[0] * 0.1,
                                  s[3] - gradients[1] * 0.1, s[4]};
      });
  graph->SetOutputs({results[2], results[3]});
  graph->Donate(0, 0);
  graph->Donate(1, 1);
  return graph;
}

std::vector<Array> LoopArguments(const Graph& graph, int32_t steps) {
  std::vector<Array> arguments;
  for (size_t i = 0; i < 3; ++i) {
    arguments.push_back(RandomArray(graph.parameters()[i].shape(), i + 1));
  }
  arguments.emplace_back(sizeof(steps));
  std::memcpy(arguments.back().data(), &steps, sizeof(steps));
  return arguments;
}

TEST_P(Kernels, LoopsGiveTheSameBitsHoweverTheyAreDivided) {
  const auto graph = LoopGraph();
  std::vector<Decision> decisions;
  const std::string text =
      ir::ToStablehlo(*Lowering(client(), Choice::kOneDnn).Lower(*graph, &decisions));
  // The product and the convolution, and their gradients by kernels; by data only the product's.
  ASSERT_EQ(decisions.size(), 5U);
  for (const Decision& decision : decisions) EXPECT_TRUE(decision.library) << decision.what;
  EXPECT_THAT(text, HasSubstr("tf.aliasing_output"));

  const auto whole = RunProgram(client(), text, *graph, LoopArguments(*graph, 6));
  EXPECT_EQ(RunProgram(client(), text, *graph, LoopArguments(*graph, 6)), whole);
  // 1 + 2 + 3 rounds.
  std::vector<Array> arguments = LoopArguments(*graph, 0);
  for (const int32_t steps : {1, 2, 3}) {
    std::memcpy(arguments[3].data(), &steps, sizeof(steps));
    const auto part = RunProgram(client(), text, *graph, arguments);
    arguments[0] = part[0];
    arguments[1] = part[1];
  }
  EXPECT_EQ((std::vector<Array>{arguments[0], arguments[1]}), whole);
}

TEST_P(Kernels, ReplicasAndThreadsGiveTheSameBits) {
  const auto graph = LoopGraph();
  const Lowering lowering(client(), Choice::kOneDnn);
  const auto one =
      RunProgram(client(), lowering.ToStablehlo(*graph), *graph, LoopArguments(*graph, 4));
  const std::string text = lowering.ToStablehlo(*graph, {.num_replicas = kDevices});
  const auto all = RunProgram(client(), text, *graph, LoopArguments(*graph, 4), kDevices);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], one[i % one.size()]) << i;

  // Programs that are lowered, compiled and run at the same time.
  std::vector<std::vector<Array>> found(4);
  std::vector<std::thread> threads;
  for (auto& result : found) {
    threads.emplace_back([&] {
      const Lowering mine(client(), Choice::kOneDnn);
      result = RunProgram(client(), mine.ToStablehlo(*graph), *graph, LoopArguments(*graph, 4));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : found) EXPECT_EQ(result, one);
}

TEST_P(Kernels, NotANumberStaysOne) {
  // A training step looks for it in its loss.
  Graph graph;
  const Value a = graph.AddParameter(Shape(DType::kF32, {8, 16}), "a");
  const Value b = graph.AddParameter(Shape(DType::kF32, {16, 8}), "b");
  const Value bias = graph.AddParameter(Shape(DType::kF32, {8}), "bias");
  graph.SetOutputs({ir::ReduceSum(ir::Relu(ir::MatMul(a, b) + bias))});
  EXPECT_THAT(ir::Dump(*Lowering(client(), Choice::kOneDnn).Lower(graph)), Not(HasSubstr("relu(")));
  std::vector<Array> arguments = RandomArguments(graph);
  ir::StoreElement(DType::kF32, std::nan(""), arguments[1].data());
  const auto outputs = RunProgram(client(), Lowering(client(), Choice::kOneDnn).ToStablehlo(graph),
                                  graph, arguments);
  EXPECT_TRUE(std::isnan(ir::LoadElement(DType::kF32, outputs[0].data())));
}

// ---- choosing -----------------------------------------------------------------------------------

std::unique_ptr<Graph> ProductGraph(int64_t size) {
  auto graph = std::make_unique<Graph>("product");
  const Value a = graph->AddParameter(Shape(DType::kF32, {size, size}), "a");
  const Value b = graph->AddParameter(Shape(DType::kF32, {size, size}), "b");
  graph->SetOutputs({ir::MatMul(a, b)});
  return graph;
}

TEST_P(Kernels, SmallWorkIsLeftToXla) {
  EXPECT_FALSE(Decisions(client(), *ProductGraph(8), Choice::kAuto)[0].library);
  EXPECT_THAT(Decisions(client(), *ProductGraph(8), Choice::kAuto)[0].why, HasSubstr("too few"));
  EXPECT_TRUE(Decisions(client(), *ProductGraph(8), Choice::kOneDnn)[0].library);
  EXPECT_TRUE(Decisions(client(), *ProductGraph(1024), Choice::kAuto)[0].library);
  // In between it depends on what XLA has: the newer plugin multiplies as fast itself.
  EXPECT_EQ(Decisions(client(), *ProductGraph(400), Choice::kAuto)[0].library,
            GetParam() == "cpu-0.81");
  const Lowering xla(client(), Choice::kXla);
  EXPECT_FALSE(xla.active());
  EXPECT_EQ(xla.cache_salt(), "");
  EXPECT_EQ(xla.ToStablehlo(*ProductGraph(512)), ir::ToStablehlo(*ProductGraph(512)));
}

TEST_P(Kernels, TheCacheKeyKnowsLibraryAndChoice) {
  const Lowering all(client(), Choice::kOneDnn), some(client(), Choice::kAuto);
  EXPECT_THAT(all.cache_salt(), HasSubstr(all.description()));
  EXPECT_THAT(all.description(), AllOf(HasSubstr("oneDNN 3."), HasSubstr("thread")));
  EXPECT_NE(all.cache_salt(), some.cache_salt());
}

TEST(Choices, AreReadAndCheckedFor) {
  EXPECT_EQ(ParseChoice("xla"), Choice::kXla);
  EXPECT_EQ(ParseChoice("onednn"), Choice::kOneDnn);
  EXPECT_EQ(ParseChoice("auto"), Choice::kAuto);
  EXPECT_THAT(
      [] { ParseChoice("mkl"); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("\"mkl\""), HasSubstr("xla, onednn or auto"))));
}

// Runs in a process of its own (a death test), where the library has not been looked for yet.
[[noreturn]] void WithoutLibrary(const char* path) {
  setenv("FLATOUT_ONEDNN", path, 1);
  SetLogLevel(LogLevel::kInfo);
  static int lines = 0;
  SetLogSink(
      [](LogLevel, const std::string& line, void*) {
        ++lines;
        std::fputs(line.c_str(), stderr);
      },
      nullptr);
  const xla::Client& client = ClientOf("cpu");
  const Lowering first(client, Choice::kAuto), second(client, Choice::kOneDnn);
  const bool same = first.ToStablehlo(*ProductGraph(512)) == ir::ToStablehlo(*ProductGraph(512)) &&
                    !first.active() && !second.active() && first.cache_salt().empty();
  std::_Exit(same && lines == 1 ? 0 : 1);
}

TEST(MissingLibraryDeathTest, FallsBackToXlaAndSaysSoOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(WithoutLibrary("nowhere/libdnnl.so.3"), ::testing::ExitedWithCode(0),
              "XLA does all the arithmetic: FLATOUT_ONEDNN is \"nowhere/libdnnl.so.3\"");
}

TEST(MissingLibraryDeathTest, AnotherLibraryIsNotTaken) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(WithoutLibrary("/proc/self/exe"), ::testing::ExitedWithCode(0),
              "XLA does all the arithmetic: /proc/self/exe cannot be loaded");
}

}  // namespace
}  // namespace flatout::kernels
