#include "flatout/ir/op.h"

#include <unordered_map>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"

namespace flatout::ir {

std::span<const OpDef* const> OpTable() {
  static const std::vector<const OpDef*> table = [] {
    std::vector<const OpDef*> rows;
    for (const auto& family : {BasicOps(), ElementwiseOps(), ShapeOps(), ReduceOps(), DotOps(),
                               ConvolutionOps(), WindowOps(), IndexOps(), SortOps(), ControlOps(),
                               CollectiveOps(), CustomOps(), CompositeOps()}) {
      rows.insert(rows.end(), family.begin(), family.end());
    }
    return rows;
  }();
  return table;
}

const OpDef* FindOp(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const OpDef*> map;
    for (const OpDef* row : OpTable()) {
      if (!map.emplace(row->name, row).second) throw Internal("two ops are called {}", row->name);
    }
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

Value OrZeros(Node& node, std::span<const Value> dy, int i) {
  return dy[i] ? dy[i] : Full(node.graph(), node.shape(i), 0);
}

}  // namespace flatout::ir
