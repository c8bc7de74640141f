#include "flatout/ir/op.h"

namespace flatout::ir {

std::span<const OpDef* const> DotOps() { return {}; }

}  // namespace flatout::ir
