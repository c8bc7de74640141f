// The verifier: what must hold for every graph before it is compiled.
#pragma once

#include "flatout/ir/graph.h"

namespace flatout::ir {

// Throws InternalError naming the node where the graph is malformed: an input made later than its
// user or in another graph, a result shape that the op's rule does not give, a region whose
// parameters or outputs do not fit, a donation of differing shapes or to one output twice.
void Verify(const Graph& graph);

}  // namespace flatout::ir
