// flatout_kernels_bench: products and convolutions of many sizes, by XLA alone and by the library,
// in turn. The break-even points of flatout/kernels/table.cc come from it.
//
//   flatout_kernels_bench                     all of it, as a Markdown table
//   flatout_kernels_bench --only product --plugin cpu-0.81
//
// Each is run in a loop inside one program, as training steps are, many times over; the time of one
// is the least of several runs of that loop, less that of a loop that does nothing but carry its
// array. Rates are 2 operations per multiply-add.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/kernels/kernels.h"
#include "flatout/xla/pjrt.h"

namespace flatout {
namespace {

using ir::DType;
using ir::Shape;
using ir::Value;
using Dims = std::vector<int64_t>;
using Clock = std::chrono::steady_clock;

struct Case {
  std::string name;
  Shape lhs, rhs;
  double flops;
  std::function<Value(Value, Value)> build;
};

Case Product(int64_t m, int64_t k, int64_t n, DType dtype) {
  return {fmt::format("product {}x{}x{} {}", m, k, n, ir::Name(dtype)), Shape(dtype, {m, k}),
          Shape(dtype, {k, n}), 2.0 * static_cast<double>(m * k * n),
          [](Value a, Value b) { return ir::MatMul(a, b); }};
}

enum class Direction { kForward, kByData, kByWeights };

Case Conv(int64_t batch, int64_t size, int64_t in, int64_t out, int64_t kernel, Direction direction,
          DType dtype) {
  const ir::ConvolutionDims dims = {.layout = "b01f_01io->b01f",
                                    .strides = {1, 1},
                                    .lhs_dilation = {1, 1},
                                    .rhs_dilation = {1, 1},
                                    .padding = Dims(4, (kernel - 1) / 2)};
  Case result;
  const char* what = direction == Direction::kForward  ? "convolution"
                     : direction == Direction::kByData ? "by data"
                                                       : "by weights";
  result.name = fmt::format("{} {}x{}x{}x{} to {}, {}x{} {}", what, batch, size, size, in, out,
                            kernel, kernel, ir::Name(dtype));
  result.flops = 2.0 * static_cast<double>(batch * size * size * in * out * kernel * kernel);
  const Shape x(dtype, {batch, size, size, in}), w(dtype, {kernel, kernel, in, out});
  const Shape y(dtype, {batch, size, size, out});
  // The gradient's graph holds the forward convolution, too; nothing needs it, so it isn't written.
  const auto gradient = [=](Value x_value, Value w_value, Value dy, int which) {
    const Value outputs[] = {ir::Convolution(x_value, w_value, dims)};
    const Value cotangents[] = {dy}, wrt[] = {x_value, w_value};
    return ir::VectorJacobianProduct(outputs, cotangents, wrt)[which];
  };
  switch (direction) {
    case Direction::kForward:
      result.lhs = x;
      result.rhs = w;
      result.build = [=](Value a, Value b) { return ir::Convolution(a, b, dims); };
      break;
    case Direction::kByData:
      result.lhs = y;
      result.rhs = w;
      result.build = [=](Value a, Value b) { return gradient(ir::Full(a.graph(), x, 0), b, a, 0); };
      break;
    case Direction::kByWeights:
      result.lhs = x;
      result.rhs = y;
      result.build = [=](Value a, Value b) { return gradient(a, ir::Full(a.graph(), w, 0), b, 1); };
      break;
  }
  return result;
}

// `rounds` (an argument) times: something of the result is added to lhs, so that no round can be
// left out or moved out of the loop.
std::unique_ptr<ir::Graph> LoopOf(const Case& of, bool empty) {
  auto graph = std::make_unique<ir::Graph>("loop");
  const Value lhs = graph->AddParameter(of.lhs, "lhs"), rhs = graph->AddParameter(of.rhs, "rhs");
  const Value rounds = graph->AddParameter(Shape::Scalar(DType::kI32), "rounds");
  const Value state[] = {ir::Scalar(*graph, DType::kI32, 0), rounds, lhs, rhs};
  const std::vector<Value> results = ir::While(
      state,
      [](ir::Graph&, std::span<const Value> s) {
        return std::vector<Value>{ir::Compare(s[0], s[1], ir::Comparison::kLt)};
      },
      [&](ir::Graph&, std::span<const Value> s) {
        Value y = empty ? s[2] : of.build(s[2], s[3]);
        const auto rank = static_cast<size_t>(y.rank());
        const Value one = ir::Slice(y, Dims(rank, 0), Dims(rank, 1), Dims(rank, 1));
        const Value next = s[2] * 0.999 + ir::Reshape(one, {}) * 1e-9;
        return std::vector<Value>{s[0] + 1.0, s[1], next, s[3]};
      });
  graph->SetOutputs({results[2]});
  return graph;
}

// Milliseconds of one round.
double Time(const xla::Client& client, const kernels::Lowering& lowering, const ir::Graph& graph,
            double flops) {
  const auto executable = client.Compile(lowering.ToStablehlo(graph), {});
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<xla::Buffer> buffers;
  for (size_t i = 0; i < 2; ++i) {
    const Shape& shape = graph.parameters()[i].shape();
    std::vector<std::byte> bytes(shape.bytes());
    for (int64_t e = 0; e < shape.size(); ++e) {
      ir::StoreElement(shape.dtype, uniform(random), bytes.data() + e * ir::ByteSize(shape.dtype));
    }
    buffers.push_back(client.FromHost(bytes.data(), shape, client.devices()[0]));
  }
  // About 20 ms at 50 GFLOP/s.
  const auto rounds = static_cast<int32_t>(std::clamp(1e9 / flops, 2.0, 2000.0));
  const xla::Buffer count =
      client.FromVector(std::vector<int32_t>{rounds}, Shape::Scalar(DType::kI32));
  double least = 1e30;
  for (int run = 0; run < 6; ++run) {
    const auto begin = Clock::now();
    executable->Execute({&buffers[0], &buffers[1], &count}).Await();
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin;
    if (run > 0) least = std::min(least, elapsed.count() / rounds);
  }
  return least;
}

int Main(int argc, char** argv) {
  std::string plugin = "cpu", only;
  CLI::App app("Times products and convolutions by XLA alone and by the library.");
  app.add_option("--plugin", plugin, "cpu, cpu-0.81, cpu-0.115 or a path")->capture_default_str();
  app.add_option("--only", only, "those whose name has this in it");
  CLI11_PARSE(app, argc, argv);
  std::vector<Case> cases;
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const int64_t n : {16, 32, 64, 128, 256, 512, 1024}) {
      cases.push_back(Product(n, n, n, dtype));
    }
    cases.push_back(Product(1024, 256, 8192, dtype));
    cases.push_back(Product(1024, 8192, 256, dtype));
    cases.push_back(Product(8, 784, 512, dtype));
    cases.push_back(Product(128, 784, 512, dtype));
    for (const Direction direction :
         {Direction::kForward, Direction::kByData, Direction::kByWeights}) {
      cases.push_back(Conv(1, 8, 4, 8, 3, direction, dtype));
      cases.push_back(Conv(4, 14, 16, 16, 3, direction, dtype));
      cases.push_back(Conv(64, 28, 1, 32, 3, direction, dtype));
      cases.push_back(Conv(64, 28, 32, 64, 3, direction, dtype));
      cases.push_back(Conv(32, 8, 256, 256, 3, direction, dtype));
      cases.push_back(Conv(32, 16, 64, 128, 1, direction, dtype));
    }
  }
  const auto client = xla::Client::Create(xla::Plugin::Load(plugin), {});
  const kernels::Lowering library(*client, kernels::Choice::kOneDnn);
  const kernels::Lowering xla(*client, kernels::Choice::kXla);
  fmt::print("{}, plugin {} (PJRT {})\n\n", library.description(), client->plugin().name(),
             client->plugin().version().ToString());
  fmt::print("| | MFLOP | XLA, ms | oneDNN, ms | XLA / oneDNN | oneDNN, GFLOP/s | with |\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  for (const Case& of : cases) {
    if (of.name.find(only) == std::string::npos) continue;
    const auto graph = LoopOf(of, false);
    std::vector<kernels::Decision> decisions;
    library.Lower(*graph, &decisions);
    const double nothing = Time(*client, xla, *LoopOf(of, true), of.flops);
    const double by_xla = std::max(1e-6, Time(*client, xla, *graph, of.flops) - nothing);
    const double by_library = std::max(1e-6, Time(*client, library, *graph, of.flops) - nothing);
    fmt::print("| {} | {:.3g} | {:.4f} | {:.4f} | {:.2f} | {:.0f} | {} |\n", of.name,
               of.flops / 1e6, by_xla, by_library, by_xla / by_library, of.flops / by_library / 1e6,
               decisions.empty() || !decisions[0].library ? "XLA" : decisions[0].implementation);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace flatout

int main(int argc, char** argv) {
  try {
    return flatout::Main(argc, argv);
  } catch (const flatout::Error& error) {
    fmt::print(stderr, "flatout_kernels_bench: {}\n", error.what());
    return error.exit_code();
  }
}
