// Cases for the ops of flatout/ir, and what is checked of each: the test program is
// tests/ops_test.cc, the cases are in tests/ops/<family>_cases.cc (found by CMake; one file per
// family).
//
// How to add cases: in a *_cases.cc file, at namespace scope,
//
//   // Every recorded case of tests/recorded/ops.json with "op": "clamp".
//   const bool clamp = AddRecorded("clamp", [](const Recorded& r, Graph&, Inputs x) -> Outputs {
//     return {Clamp(x[0], x[1], x[2])};          // r.attrs holds the recorded attributes
//   }, {.differentiable = true});
//
//   // A case with expected values of its own.
//   const bool softmax = AddCase({
//       .name = "softmax_rows",                  // unique; names tests/golden/softmax_rows.mlir
//       .op = "softmax",                         // the row it covers, or what the composition is
//       called .inputs = {Random({3, 5}, 1)},           // become parameters of the graph, in order
//       .build = [](Graph&, Inputs x) -> Outputs { return {Softmax(x[0], -1)}; },
//       .reference = [](const Tensors& in) -> Tensors { ... },  // or .expected = {...}
//       .differentiable = true,
//   });
//
// What is checked of each case:
//   Golden     its StableHLO text equals tests/golden/<name>.mlir. Rewrite the files after a change
//              that was meant to change them with FLATOUT_UPDATE_GOLDEN=1, and read the difference.
//   Values     it compiles on both CPU plugins, and its outputs there equal `expected` or
//              `reference(inputs)` within `tolerance`.
//   Gradient   if differentiable: the vector-Jacobian product with random cotangents equals central
//              differences by every element of every float input. Both run in float64: the graph is
//              built again with the float inputs as f64, so a `build` must take its dtypes from its
//              inputs. The inputs' float values are replaced by random ones of
//              [gradient_low, gradient_high), so recorded edge values (0, NaN) do no harm; set
//              `keep_inputs` where the values matter.
//   Kernels    with library kernels in place of whatever the library can compute (small or not),
//   its
//              outputs and, if differentiable, its vector-Jacobian product equal those of XLA
//              alone, in float32 and with bf16 inputs; a graph without such ops comes out as it
//              went in.
// Besides, every row of the op table must have a case, and every row with a gradient rule a
// differentiable one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/ir/ops.h"

namespace flatout::testing {

using ir::Dims;
using ir::DType;
using ir::Graph;
using ir::Shape;
using ir::Value;

// Host data of one array.
struct Tensor {
  Shape shape;
  std::vector<std::byte> bytes;  // row-major

  Tensor() = default;
  explicit Tensor(Shape shape);                         // zeros
  Tensor(Shape shape, std::span<const double> values);  // rounded to the dtype
  double At(int64_t i) const;                           // by flat index
  void Set(int64_t i, double value);
  int64_t size() const { return shape.size(); }
};
using Tensors = std::vector<Tensor>;
using Inputs = std::span<const Value>;
using Outputs = std::vector<Value>;

Tensor F32(Dims dims, std::vector<double> values);
Tensor I32(Dims dims, std::vector<double> values);
Tensor Of(DType dtype, Dims dims, std::vector<double> values);
// Uniform in [low, high), seeded, f32.
Tensor Random(Dims dims, uint64_t seed, double low = -1, double high = 1);

struct OpCase {
  std::string name;
  std::string op;
  Tensors inputs;
  std::function<Outputs(Graph& graph, Inputs inputs)> build;
  // One of the two, unless `golden_only` or differentiable.
  Tensors expected;
  std::function<Tensors(const Tensors& inputs)> reference;
  // |found - expected| <= tolerance * max(|expected|, 0.1) for floats; integers must be equal.
  double tolerance = 1e-5;
  bool differentiable = false;
  double gradient_low = -1, gradient_high = 1;
  double gradient_tolerance = 1e-6;  // relative to the larger of both and 1
  bool keep_inputs = false;
  // `build` itself takes a gradient and `expected` holds its values: for what central differences
  // cannot see (ties, kinks, dtypes). Counts as a gradient case of its row.
  bool gradient_in_build = false;
  // Text only: nothing is compiled (custom calls, whose handler another test registers).
  bool golden_only = false;
  // Runs on that many devices. Then the inputs and expected outputs of all replicas are stacked
  // along a new leading dimension of that size; `build` sees those of one replica.
  int replicas = 1;
};

// Both return true, for use in initializers.
bool AddCase(OpCase op_case);

// One entry of tests/recorded/ops.json.
struct Recorded {
  std::string name, op;
  // Lists of numbers are Ints (lists of pairs flattened), texts String, the rest Int, Double, Bool.
  ir::Attributes attrs;
  Tensors inputs, outputs;
};
struct RecordedOptions {
  double tolerance = 1e-5;
  // Only the cases with all inputs float are checked for gradients unless `mixed_inputs`.
  bool differentiable = false;
  bool mixed_inputs = false;
  double gradient_low = -1, gradient_high = 1;
  bool keep_inputs = false;
  // Recorded names to leave out, because they are not what our op does; say why at the place.
  std::vector<std::string> except;
  // The row covered, where it has another name than the recorded op.
  std::string row;
};
// Adds every recorded case whose "op" is `op`; fails the program if there is none.
bool AddRecorded(
    std::string_view op,
    std::function<Outputs(const Recorded& recorded, Graph& graph, Inputs inputs)> build,
    RecordedOptions options = {});

const std::vector<OpCase>& Cases();
// Names of recorded cases that no AddRecorded took or excepted.
std::vector<std::string> UnusedRecorded();

// The checks; "" or what is wrong.
std::string CheckGolden(const OpCase& op_case);
std::string CheckValues(const OpCase& op_case, std::string_view plugin);
std::string CheckGradient(const OpCase& op_case, std::string_view plugin);
// The check of library kernels with float inputs as `dtype`. `calls`, if given, is increased by the
// number of calls into the library.
std::string CheckKernels(const OpCase& op_case, std::string_view plugin, DType dtype,
                         int* calls = nullptr);

// Builds, compiles and runs any graph on `plugin` ("cpu-0.81", "cpu-0.115"): the outputs (of
// replica 0...n-1 stacked, if replicas > 1).
Tensors Run(std::string_view plugin, const Graph& graph, const Tensors& inputs, int replicas = 1);

}  // namespace flatout::testing
