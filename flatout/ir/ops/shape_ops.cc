#include "flatout/ir/op.h"

namespace flatout::ir {

std::span<const OpDef* const> ShapeOps() { return {}; }

}  // namespace flatout::ir
