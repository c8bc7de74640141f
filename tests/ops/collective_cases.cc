// Cases of flatout/ir/ops/collective.cc, over 2 and 4 devices.
#include <algorithm>

#include "flatout/ir/gradient.h"
#include "tests/op_harness.h"

namespace flatout::testing {
namespace {

// Replica r holds row r; the dims of a row, and what each replica should get of it.
struct Rows {
  int replicas;
  Dims dims;
  std::vector<double> values;
};

Tensor Stacked(const Rows& rows) {
  Dims dims = rows.dims;
  dims.insert(dims.begin(), rows.replicas);
  return F32(dims, rows.values);
}

bool Add(std::string name, std::string op, const Rows& in, const std::vector<Rows>& out,
         std::function<Outputs(Graph&, Inputs)> build, bool gradient = false) {
  Tensors expected;
  for (const Rows& rows : out) expected.push_back(Stacked(rows));
  return AddCase({
      .name = name + "_" + std::to_string(in.replicas) + "_replicas",
      .op = std::move(op),
      .inputs = {Stacked(in)},
      .build = std::move(build),
      .expected = std::move(expected),
      .gradient_in_build = gradient,
      .replicas = in.replicas,
  });
}

// The gradient of sum(y^2) over all replicas, y = f(x).
std::function<Outputs(Graph&, Inputs)> GradientOfSquares(std::function<Value(Value)> f) {
  return [f = std::move(f)](Graph&, Inputs x) -> Outputs {
    const Value y = f(x[0]);
    return ir::Gradient(ir::ReduceSum(y * y), x);
  };
}

bool AddAll(int n) {
  // x = {10 r + 1, 10 r + 2}.
  Rows x{n, {2}, {}};
  double sum0 = 0, sum1 = 0;
  for (int r = 0; r < n; ++r) {
    x.values.insert(x.values.end(), {10.0 * r + 1, 10.0 * r + 2});
    sum0 += 10 * r + 1;
    sum1 += 10 * r + 2;
  }
  const auto same = [&](Dims dims, const std::vector<double>& row) {
    Rows rows{n, std::move(dims), {}};
    for (int r = 0; r < n; ++r) {
      rows.values.insert(rows.values.end(), row.begin(), row.end());
    }
    return rows;
  };
  const double last = 10 * (n - 1);

  // Three operands travel together, a fourth of another type beside them.
  Add("all_reduce_sum", "all_reduce", x,
      {same({2}, {sum0, sum1}), same({2}, {2 * sum0, 2 * sum1}), same({}, {sum0 + sum1}),
       same({2}, {sum0, sum1})},
      [n](Graph&, Inputs in) -> Outputs {
        const Value values[] = {in[0], in[0] * 2.0, ir::ReduceSum(in[0]),
                                ir::Convert(in[0], DType::kI32)};
        Outputs out = ir::AllReduce(values, ir::Reduction::kSum, n);
        out[3] = ir::Convert(out[3], DType::kF32);
        return out;
      });
  Add("all_reduce_max", "all_reduce", x, {same({2}, {last + 1, last + 2})},
      [n](Graph&, Inputs in) { return ir::AllReduce(in, ir::Reduction::kMax, n); });
  Add("all_reduce_min", "all_reduce", x, {same({2}, {1, 2})},
      [n](Graph&, Inputs in) { return ir::AllReduce(in, ir::Reduction::kMin, n); });
  // Every replica's loss has the same y: n times 2 y.
  Add("all_reduce_sum_gradient", "all_reduce", x, {same({2}, {2 * n * sum0, 2 * n * sum1})},
      GradientOfSquares([n](Value v) {
        return ir::AllReduce({&v, 1}, ir::Reduction::kSum, n)[0];
      }),
      true);
  {
    Rows dx{n, {2}, std::vector<double>(2 * n, 0)};
    dx.values[2 * n - 2] = 2 * n * (last + 1);
    dx.values[2 * n - 1] = 2 * n * (last + 2);
    Add("all_reduce_max_gradient", "all_reduce", x, {dx}, GradientOfSquares([n](Value v) {
          return ir::AllReduce({&v, 1}, ir::Reduction::kMax, n)[0];
        }),
        true);
  }

  Add("all_gather", "all_gather", x, {same({2 * n}, x.values), same({n, 2}, x.values)},
      [n](Graph&, Inputs in) -> Outputs {
        return {ir::AllGather(in[0], 0, n), ir::AllGather(ir::Reshape(in[0], {1, 2}), -2, n)};
      });
  {
    // Along the second axis: columns side by side.
    std::vector<double> row;
    for (int column : {0, 1}) {
      for (int r = 0; r < n; ++r) row.push_back(x.values[2 * r + column]);
    }
    Add("all_gather_axis1", "all_gather", x, {same({2, n}, row)},
        [n](Graph&, Inputs in) -> Outputs {
          return {ir::AllGather(ir::Reshape(in[0], {2, 1}), 1, n)};
        });
  }
  {
    Rows dx = x;
    for (double& value : dx.values) value *= 2 * n;
    Add("all_gather_gradient", "all_gather", x, {dx},
        GradientOfSquares([n](Value v) { return ir::AllGather(v, 0, n); }), true);
  }

  // Replica r gets row r of the n x 2 outer sums.
  const auto widen = [n](Value v) {
    return v + ir::Convert(ir::Iota(v.graph(), Shape(DType::kI32, {n, 1}), 0), v.dtype());
  };
  {
    Rows y{n, {1, 2}, {}};
    std::vector<double> total(2, 0);
    for (int r = 0; r < n; ++r) {
      y.values.insert(y.values.end(), {sum0 + n * r, sum1 + n * r});
      total[0] += 2 * (sum0 + n * r);
      total[1] += 2 * (sum1 + n * r);
    }
    Add("reduce_scatter", "reduce_scatter", x, {y}, [n, widen](Graph&, Inputs in) -> Outputs {
      return {ir::ReduceScatter(widen(in[0]), 0, n)};
    });
    Add("reduce_scatter_gradient", "reduce_scatter", x, {same({2}, total)},
        GradientOfSquares([n, widen](Value v) { return ir::ReduceScatter(widen(v), 0, n); }), true);
  }

  // 0 -> 1 -> ... -> n - 1; replica 0 receives nothing.
  Dims pairs;
  for (int r = 0; r + 1 < n; ++r) pairs.insert(pairs.end(), {r, r + 1});
  {
    Rows y{n, {2}, {0, 0}}, dx{n, {2}, {}};
    for (int r = 0; r + 1 < n; ++r) {
      y.values.insert(y.values.end(), {x.values[2 * r], x.values[2 * r + 1]});
      dx.values.insert(dx.values.end(), {2 * x.values[2 * r], 2 * x.values[2 * r + 1]});
    }
    dx.values.insert(dx.values.end(), {0, 0});
    Add("collective_permute", "collective_permute", x, {y},
        [pairs](Graph&, Inputs in) -> Outputs { return {ir::CollectivePermute(in[0], pairs)}; });
    Add("collective_permute_gradient", "collective_permute", x, {dx},
        GradientOfSquares([pairs](Value v) { return ir::CollectivePermute(v, pairs); }), true);
  }

  Rows ids{n, {2}, {}};
  for (int r = 0; r < n; ++r) ids.values.insert(ids.values.end(), {11.0 * r + 1, 11.0 * r + 2});
  return Add("replica_id", "replica_id", x, {ids}, [](Graph& graph, Inputs in) -> Outputs {
    return {in[0] + ir::Convert(ir::ReplicaId(graph), DType::kF32)};
  });
}

const bool collectives[] = {AddAll(2), AddAll(4)};

}  // namespace
}  // namespace flatout::testing
