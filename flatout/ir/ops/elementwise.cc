#include "flatout/ir/op.h"

namespace flatout::ir {

std::span<const OpDef* const> ElementwiseOps() { return {}; }

}  // namespace flatout::ir
