// dot_general and matmul.
#include <algorithm>
#include <numeric>

#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/ops/common.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

DotDims DimsOf(const Node& node) {
  const Attributes& attrs = node.attrs();
  return {.lhs_batch = attrs.Ints("lhs_batch"),
          .rhs_batch = attrs.Ints("rhs_batch"),
          .lhs_contract = attrs.Ints("lhs_contract"),
          .rhs_contract = attrs.Ints("rhs_contract")};
}

bool Contains(const Dims& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The dimensions that are neither batch nor contracted.
Dims Free(int64_t rank, const Dims& batch, const Dims& contract) {
  Dims free;
  for (int64_t i = 0; i < rank; ++i) {
    if (!Contains(batch, i) && !Contains(contract, i)) free.push_back(i);
  }
  return free;
}

Dims Range(int64_t start, int64_t count) {
  Dims range(count);
  std::iota(range.begin(), range.end(), start);
  return range;
}

void CheckDims(const Shape& shape, const Dims& batch, const Dims& contract) {
  Dims all = batch;
  all.insert(all.end(), contract.begin(), contract.end());
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] < 0 || all[i] >= shape.rank() || std::count(all.begin(), all.end(), all[i]) != 1) {
      throw Invalid("batch {} and contracting {} dimensions must be different ones of {}",
                    DimsToString(batch), DimsToString(contract), shape.ToString());
    }
  }
}

void CheckPairs(std::string_view what, const Shape& lhs, const Dims& lhs_dims, const Shape& rhs,
                const Dims& rhs_dims) {
  if (lhs_dims.size() != rhs_dims.size()) {
    throw Invalid("{} dimensions {} of {} and {} of {} differ in number", what,
                  DimsToString(lhs_dims), lhs.ToString(), DimsToString(rhs_dims), rhs.ToString());
  }
  for (size_t i = 0; i < lhs_dims.size(); ++i) {
    const int64_t a = lhs.dims[lhs_dims[i]], b = rhs.dims[rhs_dims[i]];
    if (a != b) {
      throw Invalid(
          "{} and {} do not fit: {} dimension {} of the first is {}, {} of the second is "
          "{}",
          lhs.ToString(), rhs.ToString(), what, lhs_dims[i], a, rhs_dims[i], b);
    }
  }
}

std::vector<Shape> InferDot(const Node& node) {
  const Shape& lhs = node.input(0).shape();
  const Shape& rhs = node.input(1).shape();
  const DotDims dims = DimsOf(node);
  if (lhs.dtype != rhs.dtype) {
    throw Invalid("operands {} and {} differ in dtype; convert one of them first", lhs.ToString(),
                  rhs.ToString());
  }
  CheckDims(lhs, dims.lhs_batch, dims.lhs_contract);
  CheckDims(rhs, dims.rhs_batch, dims.rhs_contract);
  CheckPairs("batch", lhs, dims.lhs_batch, rhs, dims.rhs_batch);
  CheckPairs("contracting", lhs, dims.lhs_contract, rhs, dims.rhs_contract);
  Shape result(node.attrs().Type("accumulate"), {});
  if (IsFloat(result.dtype) != IsFloat(lhs.dtype) || ByteSize(result.dtype) < ByteSize(lhs.dtype)) {
    throw Invalid("operands {} cannot accumulate in {}", lhs.ToString(), Name(result.dtype));
  }
  for (const int64_t i : dims.lhs_batch) result.dims.push_back(lhs.dims[i]);
  for (const int64_t i : Free(lhs.rank(), dims.lhs_batch, dims.lhs_contract)) {
    result.dims.push_back(lhs.dims[i]);
  }
  for (const int64_t i : Free(rhs.rank(), dims.rhs_batch, dims.rhs_contract)) {
    result.dims.push_back(rhs.dims[i]);
  }
  return {result};
}

void WriteDot(StablehloWriter& writer, const Node& node) {
  const DotDims dims = DimsOf(node);
  writer.Emit(node, "dot_general",
              fmt::format("dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {}, "
                          "rhs_batching_dimensions = {}, lhs_contracting_dimensions = {}, "
                          "rhs_contracting_dimensions = {}>, precision_config = "
                          "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]",
                          DimsToString(dims.lhs_batch), DimsToString(dims.rhs_batch),
                          DimsToString(dims.lhs_contract), DimsToString(dims.rhs_contract)));
}

// Brings result dimensions that stand for operand dimensions `stands_for` into operand order.
Value IntoOrder(Value value, const Dims& stands_for) {
  Dims permutation(stands_for.size());
  for (size_t i = 0; i < stands_for.size(); ++i) {
    permutation[stands_for[i]] = static_cast<int64_t>(i);
  }
  return Transpose(value, permutation);
}

// `contract` in the order in which the dimensions `partner` (its counterparts) ascend: the order in
// which they come out of a product where the partner is an operand's free part.
Dims InPartnerOrder(const Dims& contract, const Dims& partner) {
  Dims order = Range(0, static_cast<int64_t>(contract.size()));
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return partner[a] < partner[b]; });
  Dims result;
  for (const int64_t i : order) result.push_back(contract[i]);
  return result;
}

Dims Joined(Dims a, const Dims& b, const Dims& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

// d lhs = dy x rhs over rhs's free dimensions, d rhs = lhs x dy over lhs's free dimensions; both
// multiply in the operands' own dtype and accumulate as the forward product did.
std::vector<Value> DotGradient(Node& node, std::span<const Value> dy) {
  const Value lhs = node.input(0), rhs = node.input(1);
  const DotDims dims = DimsOf(node);
  const DType accumulate = node.attrs().Type("accumulate");
  const Dims lhs_free = Free(lhs.rank(), dims.lhs_batch, dims.lhs_contract);
  const Dims rhs_free = Free(rhs.rank(), dims.rhs_batch, dims.rhs_contract);
  const auto batch = static_cast<int64_t>(dims.lhs_batch.size());
  const auto lhs_count = static_cast<int64_t>(lhs_free.size());
  const Value g = Convert(dy[0], lhs.dtype());

  const Value dlhs = DotGeneral(g, rhs,
                                {.lhs_batch = Range(0, batch),
                                 .rhs_batch = dims.rhs_batch,
                                 .lhs_contract = Range(batch + lhs_count, rhs_free.size()),
                                 .rhs_contract = rhs_free},
                                accumulate);
  const Value drhs = DotGeneral(lhs, g,
                                {.lhs_batch = dims.lhs_batch,
                                 .rhs_batch = Range(0, batch),
                                 .lhs_contract = lhs_free,
                                 .rhs_contract = Range(batch, lhs_count)},
                                accumulate);
  return {Convert(IntoOrder(dlhs, Joined(dims.lhs_batch, lhs_free,
                                         InPartnerOrder(dims.lhs_contract, dims.rhs_contract))),
                  lhs.dtype()),
          Convert(IntoOrder(drhs,
                            Joined(dims.rhs_batch,
                                   InPartnerOrder(dims.rhs_contract, dims.lhs_contract), rhs_free)),
                  rhs.dtype())};
}

const OpDef kDotGeneral = {
    .name = "dot_general",
    .infer = InferDot,
    .write = WriteDot,
    .differentiability = Differentiability::kRule,
    .gradient = DotGradient,
    // One multiplication and one addition per product.
    .flops =
        [](const Node& node) {
          double flops = 2.0 * static_cast<double>(node.shape().size());
          for (const int64_t i : node.attrs().Ints("lhs_contract")) {
            flops *= static_cast<double>(node.input(0).dim(i));
          }
          return flops;
        },
};

}  // namespace

std::span<const OpDef* const> DotOps() {
  static const OpDef* const rows[] = {&kDotGeneral};
  return rows;
}

Value DotGeneral(Value lhs, Value rhs, const DotDims& dims) {
  return DotGeneral(lhs, rhs, dims, lhs.dtype());
}

Value DotGeneral(Value lhs, Value rhs, const DotDims& dims, DType accumulate) {
  return lhs.graph()
      .AddNode(kDotGeneral, {lhs, rhs},
               {{"lhs_batch", dims.lhs_batch},
                {"rhs_batch", dims.rhs_batch},
                {"lhs_contract", dims.lhs_contract},
                {"rhs_contract", dims.rhs_contract},
                {"accumulate", accumulate}})
      .output();
}

Value MatMul(Value lhs, Value rhs) {
  constexpr std::string_view kName = "matmul";
  Graph& graph = lhs.graph();
  const Dims batch = InOp(graph, kName, [&] {
    if (lhs.rank() < 2 || rhs.rank() < 2) {
      throw Invalid("operands need two dimensions or more, found {} and {}", lhs.shape().ToString(),
                    rhs.shape().ToString());
    }
    if (lhs.dim(-1) != rhs.dim(-2)) {
      throw Invalid("{} and {} do not multiply: {} columns against {} rows", lhs.shape().ToString(),
                    rhs.shape().ToString(), lhs.dim(-1), rhs.dim(-2));
    }
    const auto leading = [](Value value) {
      return Shape(value.dtype(), Dims(value.dims().begin(), value.dims().end() - 2));
    };
    return BroadcastDims(leading(lhs), leading(rhs));
  });
  // One matrix for all of lhs: its rows are one long matrix, no batch dimension is needed.
  if (rhs.rank() == 2) {
    return DotGeneral(
        lhs, rhs,
        {.lhs_batch = {}, .rhs_batch = {}, .lhs_contract = {lhs.rank() - 1}, .rhs_contract = {0}});
  }
  const auto stretch = [&](Value value) {
    Dims dims = batch;
    dims.push_back(value.dim(-2));
    dims.push_back(value.dim(-1));
    return BroadcastTo(value, dims);
  };
  const auto n = static_cast<int64_t>(batch.size());
  return DotGeneral(stretch(lhs), stretch(rhs),
                    {.lhs_batch = Range(0, n),
                     .rhs_batch = Range(0, n),
                     .lhs_contract = {n + 1},
                     .rhs_contract = {n}});
}

}  // namespace flatout::ir
