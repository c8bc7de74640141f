// Cases of flatout/ir/ops/control.cc.
#include <cmath>

#include "flatout/ir/gradient.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

Tensor Pred(bool value) { return Of(DType::kPred, {}, {value ? 1.0 : 0.0}); }

// The trip count is an argument.
bool AddWhile(int trips) {
  return AddCase({
      .name = "while_" + std::to_string(trips) + "_trips",
      .op = "while",
      .inputs = {I32({}, {static_cast<double>(trips)}), F32({2}, {1, 3})},
      .build = [](Graph&, Inputs x) -> Outputs {
        const Value state[] = {ir::ScalarLike(x[0], 0), x[0], x[1]};
        const auto out = ir::While(
            state,
            [](Graph&, Inputs s) -> Outputs {
              return {ir::Compare(s[0], s[1], ir::Comparison::kLt)};
            },
            [](Graph&, Inputs s) -> Outputs {
              return {s[0] + 1.0, s[1], s[2] * 2.0};
            });
        return {out[0], out[2]};
      },
      .expected = {I32({}, {static_cast<double>(trips)}),
                   F32({2}, {std::exp2(trips), 3 * std::exp2(trips)})},
  });
}
const bool loops[] = {AddWhile(0), AddWhile(1), AddWhile(5)};

// A recurrent cell: h = tanh(h W + x + b), y = h x.
Value Cell(Value w, Value b, Value h, Value x) { return ir::Tanh(ir::MatMul(h, w) + x + b); }

Outputs Scanned(Graph& graph, Inputs x, bool reverse) {
  return ir::Scan(
      graph, 4, x.first(2), x.subspan(2, 1), x.subspan(3, 1),
      [](Graph&, Inputs a) -> Outputs {
        const Value h = Cell(a[0], a[1], a[2], a[3]);
        return {h, h * a[3]};
      },
      reverse);
}

Outputs Unrolled(Inputs x, bool reverse) {
  Value h = x[2];
  Outputs ys(4);
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t i = reverse ? 3 - k : k;
    const Value row = ir::Squeeze(ir::SliceAxis(x[3], 0, i, i + 1), 0);
    h = Cell(x[0], x[1], h, row);
    ys[i] = h * row;
  }
  return {h, ir::Stack(ys, 0)};
}

Tensors CellInputs(DType dtype) {
  Tensors inputs;
  uint64_t seed = 1;
  for (const Dims& dims : {Dims{2, 2}, Dims{2}, Dims{3, 2}, Dims{4, 3, 2}}) {
    const Tensor random = Random(dims, seed++);
    Tensor input(Shape(dtype, dims));
    for (int64_t i = 0; i < input.size(); ++i) input.Set(i, random.At(i));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// Constants, carry, xs and ys in both directions.
bool AddScan(bool reverse) {
  return AddCase({
      .name = reverse ? "scan_reverse" : "scan",
      .op = "scan",
      .inputs = CellInputs(DType::kF32),
      .build = [reverse](Graph& graph, Inputs x) { return Scanned(graph, x, reverse); },
      .reference = [reverse](const Tensors& in) -> Tensors {
        Tensor h = in[2], ys(in[3].shape);
        for (int64_t k = 0; k < 4; ++k) {
          const int64_t i = reverse ? 3 - k : k;
          Tensor next = h;
          for (int64_t at = 0; at < 6; ++at) {
            const int64_t row = at / 2, column = at % 2;
            const double x = in[3].At(i * 6 + at);
            const double sum = h.At(row * 2) * in[0].At(column) +
                               h.At(row * 2 + 1) * in[0].At(2 + column) + x + in[1].At(column);
            next.Set(at, std::tanh(sum));
            ys.Set(i * 6 + at, std::tanh(sum) * x);
          }
          h = next;
        }
        return {h, ys};
      },
      .differentiable = true,
  });
}
const bool scans[] = {AddScan(false), AddScan(true)};

// Values, gradients and gradients of gradients are those of the unrolled loop to the last digits.
bool AddAgainstUnrolled(bool reverse) {
  return AddCase({
      .name = reverse ? "scan_equals_unrolled_reverse" : "scan_equals_unrolled",
      .op = "scan",
      .inputs = CellInputs(DType::kF64),
      .build = [reverse](Graph& graph, Inputs x) -> Outputs {
        Outputs all[2];
        for (const bool unrolled : {false, true}) {
          Outputs& out = all[unrolled ? 1 : 0];
          out = unrolled ? Unrolled(x, reverse) : Scanned(graph, x, reverse);
          const Value loss = ir::ReduceSum(ir::Sin(out[0])) + ir::ReduceSum(ir::Cos(out[1]));
          const Outputs first = ir::Gradient(loss, x);
          const Value penalty =
              ir::ReduceSum(ir::Sin(first[0])) + ir::ReduceSum(first[3] * first[3]);
          const Outputs second = ir::Gradient(penalty, x);
          out.insert(out.end(), first.begin(), first.end());
          out.insert(out.end(), second.begin(), second.end());
        }
        Outputs differences;
        for (size_t i = 0; i < all[0].size(); ++i) {
          differences.push_back(ir::ReduceMax(ir::Abs(all[0][i] - all[1][i])));
        }
        return differences;
      },
      .expected = Tensors(10, Of(DType::kF64, {}, {0})),
      .tolerance = 1e-11,  // of 0.1: 1e-12
      .gradient_in_build = true,
  });
}
const bool unrolled[] = {AddAgainstUnrolled(false), AddAgainstUnrolled(true)};

// An integer in the carry picks rows of a constant; a float carry goes through unchanged.
const bool integer_carry = AddCase({
    .name = "scan_integer_carry",
    .op = "scan",
    .inputs = {F32({3, 2}, {1, 2, 3, 4, 5, 6}), I32({}, {1}), F32({2}, {0.5, -0.5}),
               F32({2}, {2, 3})},
    .build = [](Graph& graph, Inputs x) -> Outputs {
      return ir::Scan(graph, 4, x.first(1), x.subspan(1), {}, [](Graph&, Inputs a) -> Outputs {
        const Value row = ir::DynamicIndex(a[0], ir::Rem(a[1], ir::ScalarLike(a[1], 3)));
        return {a[1] + 1.0, a[2] * 0.5 + row, a[3], a[1]};
      });
    },
    // Rows 1, 2, 0, 1.
    .expected = {I32({}, {5}), F32({2}, {5.15625, 6.96875}), F32({2}, {2, 3}),
                 I32({4}, {1, 2, 3, 4})},
    .differentiable = true,
});

const bool nested = AddCase({
    .name = "scan_nested",
    .op = "scan",
    .inputs = {Random({3}, 1), Random({2}, 2), Random({3, 2}, 3)},
    .build = [](Graph& graph, Inputs x) -> Outputs {
      return ir::Scan(graph, 3, x.first(1), x.subspan(1, 1), x.subspan(2),
                      [](Graph& body, Inputs a) -> Outputs {
                        const Value constants[] = {a[2]}, carry[] = {a[1]}, xs[] = {a[0]};
                        return ir::Scan(body, 3, constants, carry, xs,
                                        [](Graph&, Inputs b) -> Outputs {
                                          const Value next = ir::Sin(b[1] * b[2]) + b[0];
                                          return {next, next * next};
                                        });
                      });
    },
    .differentiable = true,
});

const bool map = AddCase({
    .name = "scan_without_carry",
    .op = "scan",
    .inputs = {F32({3, 2}, {1, 2, 3, 4, 5, 6})},
    .build = [](Graph& graph, Inputs x) -> Outputs {
      return ir::Scan(graph, 3, {}, {}, x,
                      [](Graph&, Inputs a) -> Outputs { return {ir::ReduceSum(a[0] * a[0])}; });
    },
    .expected = {F32({3}, {5, 25, 61})},
    .differentiable = true,
});

// The second branch has a result that depends on nothing.
bool AddConditional(bool pred) {
  return AddCase({
      .name = pred ? "conditional_true" : "conditional_false",
      .op = "conditional",
      .inputs = {Pred(pred), F32({2}, {2, 3}), F32({2}, {5, 7})},
      .build = [](Graph&, Inputs x) -> Outputs {
        return ir::Conditional(
            x[0], x.subspan(1),
            [](Graph&, Inputs a) -> Outputs {
              return {a[0] * a[1], a[0] * a[0]};
            },
            [](Graph& body, Inputs a) -> Outputs {
              return {a[0] - a[1], ir::Full(body, a[0].shape(), 4)};
            });
      },
      .expected = pred ? Tensors{F32({2}, {10, 21}), F32({2}, {4, 9})}
                       : Tensors{F32({2}, {-3, -4}), F32({2}, {4, 4})},
      .differentiable = true,
  });
}
const bool conditionals[] = {AddConditional(true), AddConditional(false)};

// Both branches are taken on the way.
const bool conditional_in_scan = AddCase({
    .name = "conditional_in_scan",
    .op = "conditional",
    .inputs = {F32({2}, {1, 2}), F32({3, 2}, {1, 1, -1, -2, 2, 3})},
    .build = [](Graph& graph, Inputs x) -> Outputs {
      return ir::Scan(graph, 3, {}, x.first(1), x.subspan(1), [](Graph&, Inputs a) -> Outputs {
        return ir::Conditional(
            ir::Gt(ir::ReduceSum(a[1]), 0), a,
            [](Graph&, Inputs b) -> Outputs { return {b[0] * b[1]}; },
            [](Graph&, Inputs b) -> Outputs { return {b[0] + b[1]}; });
      });
    },
    .expected = {F32({2}, {0, 0})},
    .differentiable = true,
    .keep_inputs = true,
});

}  // namespace
}  // namespace flatout::testing
