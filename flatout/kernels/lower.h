// The pass: which nodes of a graph become library calls, and how.
#pragma once

#include <memory>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/kernels/kernels.h"
#include "flatout/kernels/table.h"

namespace flatout::kernels {

std::unique_ptr<ir::Graph> LowerGraph(const ir::Graph& graph, Choice choice, const XlaFacts& xla,
                                      std::vector<Decision>* decisions);

}  // namespace flatout::kernels
