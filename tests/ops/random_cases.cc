// Cases of flatout/ir/ops/random.cc. Bits are recorded from JAX (jax_threefry_partitionable).
#include <cmath>

#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

// Word i of a key or counter kept as u32[2].
Value Word(Value words, int64_t i) { return ir::Reshape(ir::SliceAxis(words, 0, i, i + 1), {}); }
ir::Key KeyOf(Value words) { return {Word(words, 0), Word(words, 1)}; }

// The known answers published with Random123.
const bool known = AddRecorded("threefry2x32", [](const Recorded&, Graph&, Inputs x) -> Outputs {
  const ir::Key block = ir::Threefry2x32(KeyOf(x[0]), KeyOf(x[1]));
  return {ir::Stack(block, 0)};
});

const bool pairs =
    AddRecorded("threefry2x32_pairs", [](const Recorded&, Graph&, Inputs x) -> Outputs {
      const ir::Key block = ir::Threefry2x32(KeyOf(x[0]), {x[1], x[2]});
      return {block[0], block[1]};
    });

const bool bits =
    AddRecorded("random_bits",
                [](const Recorded& r, Graph&, Inputs x) -> Outputs {
                  return {ir::RandomBits(KeyOf(x[0]), r.attrs.Ints("shape"))};
                },
                // JAX's older layout of counters, which depends on the number of elements.
                {.except = {"random_bits_8_original", "random_bits_3x4_original"}});

const bool uniform = AddRecorded(
    "random_uniform",
    [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      return {ir::RandomUniform(KeyOf(x[0]), r.attrs.Ints("shape"))};
    },
    // We keep one bit more than JAX does: up to 2^-24 apart.
    {.tolerance = 1e-6, .except = {"random_uniform_8_original", "random_uniform_3x4_original"}});

const bool normal = AddRecorded(
    "random_normal",
    [](const Recorded& r, Graph&, Inputs x) -> Outputs {
      return {ir::RandomNormal(KeyOf(x[0]), r.attrs.Ints("shape"))};
    },
    {.tolerance = 1e-5, .except = {"random_normal_8_original", "random_normal_3x4_original"}});

// jax.random.fold_in(key, 11) and bits of it; a seed of 64 bits.
const bool fold = AddCase({
    .name = "random_fold_in",
    .op = "random_bits",
    .inputs = {Of(DType::kU32, {}, {11})},
    .build = [](Graph& graph, Inputs x) -> Outputs {
      const ir::Key key = ir::MakeKey(graph, (uint64_t{3} << 32) | 7);
      return {ir::RandomBits(ir::FoldIn(key, x[0]), {4}), ir::RandomBits(ir::FoldIn(key, 11), {4})};
    },
    .expected = {Of(DType::kU32, {4}, {2911030874, 2465779869, 2978511090, 1131453545}),
                 Of(DType::kU32, {4}, {2911030874, 2465779869, 2978511090, 1131453545})},
});

// Rows made in two parts are the rows made at once.
const bool rows = AddCase({
    .name = "random_bits_at",
    .op = "random_bits",
    .inputs = {Of(DType::kU32, {}, {2})},
    .build = [](Graph& graph, Inputs x) -> Outputs {
      const ir::Key key = ir::MakeKey(graph, 5);
      const Value whole = ir::RandomBitsAt(key, {5, 2, 3}, ir::Scalar(graph, DType::kU32, 0));
      const Value part = ir::RandomBitsAt(key, {3, 2, 3}, x[0]);
      const Value equal = ir::Compare(ir::SliceAxis(whole, 0, 2, 5), part, ir::Comparison::kEq);
      const Value same_row = ir::Compare(ir::SliceAxis(whole, 0, 0, 1),
                                         ir::SliceAxis(whole, 0, 1, 2), ir::Comparison::kEq);
      const auto count = [](Value pred) { return ir::ReduceSum(ir::Convert(pred, DType::kI32)); };
      return {count(equal), count(same_row)};
    },
    .expected = {I32({}, {18}), I32({}, {0})},
});

// Mean, variance, skewness and kurtosis of a million; one is added where zero is expected.
Outputs Moments(Value x) {
  const Value mean = ir::ReduceMean(x);
  const Value centred = x - mean;
  const Value square = centred * centred;
  const Value variance = ir::ReduceMean(square);
  const Value skewness = ir::ReduceMean(square * centred) / (variance * ir::Sqrt(variance)) + 1.0;
  return {mean + 1.0, variance, skewness, ir::ReduceMean(square * square) / (variance * variance)};
}

const bool uniform_moments = AddCase({
    .name = "random_uniform_moments",
    .op = "random_uniform",
    .build = [](Graph& graph, Inputs) -> Outputs {
      const Value x = ir::RandomUniform(ir::MakeKey(graph, 1), {1000, 1001}, -2, 3);
      Outputs outputs = Moments(x);
      // Inside of [-2, 3), and close to both ends.
      outputs.push_back(ir::ReduceMin(x));
      outputs.push_back(ir::Convert(ir::Lt(ir::ReduceMax(x), 3), DType::kF32));
      return outputs;
    },
    .expected = {F32({}, {1.5}), F32({}, {25.0 / 12}), F32({}, {1}), F32({}, {1.8}), F32({}, {-2}),
                 F32({}, {1})},
    .tolerance = 5e-3,
});

const bool normal_moments = AddCase({
    .name = "random_normal_moments",
    .op = "random_normal",
    .build = [](Graph& graph, Inputs) -> Outputs {
      const Value x = ir::RandomNormal(ir::MakeKey(graph, 2), {1001, 1000});
      return Moments(x);
    },
    .expected = {F32({}, {1}), F32({}, {1}), F32({}, {1}), F32({}, {3})},
    .tolerance = 0.01,
});

// Beyond two and three standard deviations lie 4.55 % and 0.27 %.
const bool normal_tails = AddCase({
    .name = "random_normal_tails",
    .op = "random_normal",
    .build = [](Graph& graph, Inputs) -> Outputs {
      const Value x = ir::RandomNormal(ir::MakeKey(graph, 2), {4, 1000000});
      const auto beyond = [&](double z) {
        return ir::ReduceMean(ir::Convert(ir::Gt(ir::Abs(x), z), DType::kF32));
      };
      return {beyond(2), beyond(3)};
    },
    .expected = {F32({}, {0.0455003}), F32({}, {0.0026998})},
    .tolerance = 3e-3,  // of 0.1: 3e-4, three standard deviations of the first
});

const bool from_bits = AddRecorded(
    "bits_to_uniform",
    [](const Recorded&, Graph&, Inputs x) -> Outputs { return {ir::UniformFromBits(x[0])}; },
    {.tolerance = 1e-6});

const bool quantile =
    AddRecorded("erf_inv_sqrt2", [](const Recorded&, Graph&, Inputs x) -> Outputs {
      return {ir::ErfInv(x[0]) * std::sqrt(2.0)};
    });

const bool bernoulli = AddCase({
    .name = "random_bernoulli",
    .op = "random_bernoulli",
    .build = [](Graph& graph, Inputs) -> Outputs {
      const auto mean = [&](double p) {
        const Value drawn = ir::RandomBernoulli(ir::MakeKey(graph, 3), p, {1000, 1000});
        return ir::ReduceMean(ir::Convert(drawn, DType::kF32));
      };
      return {mean(0), mean(0.3), mean(0.999), mean(1)};
    },
    .expected = {F32({}, {0}), F32({}, {0.3}), F32({}, {0.999}), F32({}, {1})},
    .tolerance = 5e-3,
});

}  // namespace
}  // namespace flatout::testing
