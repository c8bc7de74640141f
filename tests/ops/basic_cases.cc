// Cases of flatout/ir/ops/basic.cc.
#include <cmath>
#include <cstring>
#include <numeric>

#include "flatout/ir/gradient.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

// Every dtype's extremes come back bit for bit.
const bool constants = AddCase({
    .name = "constant_dtypes",
    .op = "constant",
    .inputs = {F32({}, {0})},
    .build = [](Graph& graph, Inputs) -> Outputs {
      Outputs outputs;
      for (const Tensor& tensor :
           {F32({2, 3}, {0.1, -0.0, INFINITY, -INFINITY, NAN, 1e-45}),
            Of(DType::kF64, {2}, {1.0 / 3, 1e300}), Of(DType::kBF16, {2}, {0.1, 3e38}),
            Of(DType::kF16, {3}, {0.1, 65504, 6e-8}), Of(DType::kPred, {3}, {1, 0, 1}),
            I32({2}, {2147483647, -2147483648.0}), Of(DType::kI8, {2}, {-128, 127}),
            Of(DType::kU8, {2}, {0, 255}), Of(DType::kU32, {1}, {4294967295.0}),
            Of(DType::kI64, {1}, {-9007199254740993.0}), Of(DType::kF32, {0}, {})}) {
        outputs.push_back(
            ir::Constant(graph, {.shape = tensor.shape, .splat = false, .bytes = tensor.bytes}));
      }
      return outputs;
    },
    .expected = {F32({2, 3}, {0.1, -0.0, INFINITY, -INFINITY, NAN, 1e-45}),
                 Of(DType::kF64, {2}, {1.0 / 3, 1e300}), Of(DType::kBF16, {2}, {0.1, 3e38}),
                 Of(DType::kF16, {3}, {0.1, 65504, 6e-8}), Of(DType::kPred, {3}, {1, 0, 1}),
                 I32({2}, {2147483647, -2147483648.0}), Of(DType::kI8, {2}, {-128, 127}),
                 Of(DType::kU8, {2}, {0, 255}), Of(DType::kU32, {1}, {4294967295.0}),
                 Of(DType::kI64, {1}, {-9007199254740993.0}), Of(DType::kF32, {0}, {})},
    .tolerance = 0,
});

// Long enough to be written as raw bytes.
const bool large_constant = AddCase({
    .name = "constant_large",
    .op = "constant",
    .inputs = {F32({}, {0})},
    .build = [](Graph& graph, Inputs) -> Outputs {
      const Tensor values = Random({10, 10}, 7);
      std::vector<float> floats(100);
      std::memcpy(floats.data(), values.bytes.data(), 400);
      std::vector<int32_t> ints(100);
      std::iota(ints.begin(), ints.end(), -50);
      return {ir::ConstantF32(graph, {10, 10}, floats), ir::ConstantI32(graph, {100}, ints)};
    },
    .reference = [](const Tensors&) -> Tensors {
      std::vector<double> ints(100);
      std::iota(ints.begin(), ints.end(), -50);
      return {Random({10, 10}, 7), I32({100}, ints)};
    },
    .tolerance = 0,
});

const bool iota = AddRecorded("iota", [](const Recorded& r, Graph& graph, Inputs) -> Outputs {
  return {ir::Iota(graph, Shape(ir::ParseDType(r.attrs.String("dtype")), r.attrs.Ints("shape")),
                   r.attrs.Int("iota_dimension"))};
});

const bool stop_gradient = AddCase({
    .name = "stop_gradient",
    .op = "stop_gradient",
    .inputs = {F32({2}, {2, 3})},
    .build = [](Graph&, Inputs x) -> Outputs {
      const Value loss = ir::ReduceSum(x[0] * ir::StopGradient(x[0]));
      return {loss, ir::Gradient(loss, x)[0]};
    },
    .expected = {F32({}, {13}), F32({2}, {2, 3})},
});

const bool barrier = AddCase({
    .name = "optimization_barrier",
    .op = "optimization_barrier",
    .inputs = {Random({2}, 1), Random({3}, 2)},
    .build = [](Graph&, Inputs x) -> Outputs {
      const Outputs kept = ir::OptimizationBarrier(x);
      return {ir::Sin(kept[0]), kept[1]};
    },
    .reference = [](const Tensors& in) -> Tensors {
      Tensor sine = in[0];
      for (int64_t i = 0; i < 2; ++i) sine.Set(i, std::sin(in[0].At(i)));
      return {sine, in[1]};
    },
    .differentiable = true,
});

}  // namespace
}  // namespace flatout::testing
