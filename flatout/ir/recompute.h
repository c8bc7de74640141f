// Recomputation in reverse mode: within a block of nodes, gradient rules read values that are
// computed again from what the block took in, instead of the values of the forward pass.
//
// VectorJacobianProduct (gradient.h) does it for nodes that the caller has sorted into blocks. The
// second computation must not be merged with the first by the compiler, and must not run before
// the gradient has come down to the block. An optimization_barrier does not hold that on all
// backends: XLA:CPU takes barriers out before its last CSE. So it is in the data: what the block
// takes in comes through a select whose condition needs the gradients that must be there first. The
// condition is always false, but no compiler knows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flatout/ir/graph.h"

namespace flatout::ir {

// The attribute that marks nodes of recomputation.
inline constexpr std::string_view kRecomputed = "recomputed";

// FLOPs of one run that Flops leaves out, because they are of recomputation and train nothing.
double RecomputedFlops(const Graph& graph);

// What VectorJacobianProduct works with; of use to nobody else.
class Recomputer {
 public:
  // `block_of_node[id]`: the block of that node, or -1; nodes beyond its end are in none. `weights`
  // are there all the time anyway: they are read as they are.
  Recomputer(Graph& graph, std::span<const int> block_of_node, std::span<const Value> weights);

  // What the gradient rule of `node` gives, from values that are there or recomputed. The first
  // call for a block makes all its copies, to be computed after `ready`.
  std::vector<Value> Gradient(Node& node, std::span<const Value> dy, std::span<const Value> ready);
  // Gradient(node, ...) would be the first call for a block, and so read `ready`.
  bool Starts(const Node& node) const;

 private:
  int BlockOf(const Node& node) const;
  void Copy(int block, std::span<const Value> ready);

  Graph& graph_;
  std::span<const int> block_of_node_;
  std::span<const Value> weights_;
  std::vector<bool> copied_;  // by block
  std::unordered_map<const Node*, Node*> copies_;
};

// Values that nodes before `first` compute, other than parameters and constants, and that live
// nodes from `first` on read: what is kept for a gradient that was added to a graph of `first`
// nodes.
std::vector<Value> KeptFor(const Graph& graph, size_t first);

}  // namespace flatout::ir
