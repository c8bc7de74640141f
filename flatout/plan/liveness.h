// Lifetimes: which values of a graph need memory of their own, and when.
//
// The walk follows what XLA does with a graph without asking it. Values that XLA computes where
// they are used (elementwise chains, broadcasts, slices and the like: fusion) take no memory, but
// what they read stays alive until they are read. Reshapes and barriers share their input's memory.
// The result of an elementwise chain may overwrite an input that ends there. What a loop carries is
// updated in place where it can be. Nodes run in the graph's order.
#pragma once

#include <cstdint>
#include <vector>

#include "flatout/ir/graph.h"

namespace flatout::plan {

// A value that is in memory.
struct LiveValue {
  const ir::Node* node = nullptr;
  int output = 0;
  int64_t bytes = 0;
};

struct Peak {
  int64_t bytes = 0;            // of all temporaries at once
  std::vector<LiveValue> live;  // those temporaries, in graph order, inner graphs after outer
};

// The moment of `graph` in which most memory is taken beside its parameters and its donated
// outputs. Bodies of loops and branches count as part of their node.
Peak PeakOfTemporaries(const ir::Graph& graph);

}  // namespace flatout::plan
