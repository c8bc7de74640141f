// Reverse-mode differentiation, graph to graph.
#pragma once

#include <span>
#include <vector>

#include "flatout/ir/graph.h"

namespace flatout::ir {

// Adds nodes to the graph of `outputs` that compute, for each x in `inputs`,
//   sum_i <cotangents[i], d outputs[i] / d x>,
// the vector-Jacobian product. A none where nothing in `outputs` depends on x by a differentiable
// path. `inputs` may be any values of the same graph, not only parameters. New nodes carry the
// scope of the node they differentiate. Throws UserError naming op and layer where an op on the
// path has no gradient.
//
// `block_of_node`, where given, holds for each node (by id; those beyond its end: none) the number
// of the block in which its values are recomputed instead of kept, or -1 (recompute.h). Gradients
// are the same to the bit, as far as the compiler rounds both computations alike.
std::vector<Value> VectorJacobianProduct(std::span<const Value> outputs,
                                         std::span<const Value> cotangents,
                                         std::span<const Value> inputs,
                                         std::span<const int> block_of_node = {});

// d loss / d x for a scalar `loss`; zeros (not none) for an x that loss does not depend on.
std::vector<Value> Gradient(Value loss, std::span<const Value> inputs,
                            std::span<const int> block_of_node = {});

}  // namespace flatout::ir
