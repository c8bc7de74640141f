#include "flatout/ir/ops/common.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flatout::ir {

std::string OpContext(const Graph& graph, std::string_view op) {
  return graph.scope().empty() ? std::string(op) : fmt::format("layer {}: {}", graph.scope(), op);
}

int64_t NormalizeAxis(const Shape& shape, int64_t axis) {
  const int64_t index = axis < 0 ? axis + shape.rank() : axis;
  if (index < 0 || index >= shape.rank()) {
    throw Invalid("axis {} is out of range for {}", axis, shape.ToString());
  }
  return index;
}

Dims NormalizeAxes(const Shape& shape, const Dims& axes) {
  Dims result;
  if (axes.empty()) {
    for (int64_t i = 0; i < shape.rank(); ++i) result.push_back(i);
    return result;
  }
  for (const int64_t axis : axes) result.push_back(NormalizeAxis(shape, axis));
  std::sort(result.begin(), result.end());
  const auto twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end()) {
    throw Invalid("axis {} of {} is given twice in {}", *twice, shape.ToString(),
                  DimsToString(axes));
  }
  return result;
}

Dims BroadcastDims(const Shape& a, const Shape& b) {
  const int64_t rank = std::max(a.rank(), b.rank());
  Dims dims(rank);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t ia = i - (rank - a.rank());
    const int64_t ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a.dims[ia];
    const int64_t db = ib < 0 ? 1 : b.dims[ib];
    if (da != db && da != 1 && db != 1) {
      throw Invalid("shapes {} and {} do not broadcast: dimension {} is {} against {}",
                    a.ToString(), b.ToString(), i, da, db);
    }
    dims[i] = da == 1 ? db : da;
  }
  return dims;
}

std::string_view ReductionOp(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return "add";
    case Reduction::kProduct:
      return "multiply";
    case Reduction::kMax:
      return "maximum";
    case Reduction::kMin:
      return "minimum";
    case Reduction::kAnd:
      return "and";
    case Reduction::kOr:
      return "or";
  }
  return "";
}

Reduction ReductionOf(std::string_view op) {
  for (const Reduction reduction : {Reduction::kSum, Reduction::kProduct, Reduction::kMax,
                                    Reduction::kMin, Reduction::kAnd, Reduction::kOr}) {
    if (op == ReductionOp(reduction)) return reduction;
  }
  throw Internal("no reduction is called {}", op);
}

double ReductionIdentity(Reduction reduction, DType dtype) {
  // Beyond every type's range; StoreElement saturates it to the extreme integers.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Reduction::kSum:
    case Reduction::kOr:
      return 0;
    case Reduction::kProduct:
      return 1;
    case Reduction::kMax:
      return dtype == DType::kPred ? 0 : -kInfinity;
    case Reduction::kMin:
      return dtype == DType::kPred ? 1 : kInfinity;
    case Reduction::kAnd:
      // All bits set.
      if (dtype == DType::kPred) return 1;
      return IsUnsigned(dtype) ? kInfinity : -1;
  }
  return 0;
}

}  // namespace flatout::ir
