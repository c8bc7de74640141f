// What several op families share: errors that name op and layer, axes, reductions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/ir/graph.h"
#include "flatout/ir/ops.h"

namespace flatout::ir {

// "layer conv2d_1: add" or, outside of any layer, "add".
std::string OpContext(const Graph& graph, std::string_view op);

// Runs `body` and puts layer and op in front of any error that leaves it, as Graph::AddNode does
// for shape rules. For the checks that builders make before they have a node; do not wrap AddNode.
template <typename Body>
decltype(auto) InOp(const Graph& graph, std::string_view op, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& error) {
    error.AddContext(OpContext(graph, op));
    throw;
  }
}

// `axis` counted from the front; throws Invalid when it is out of range for `shape`.
int64_t NormalizeAxis(const Shape& shape, int64_t axis);
// The same for a list, sorted; empty means all axes. Throws when one comes twice.
Dims NormalizeAxes(const Shape& shape, const Dims& axes);

// The dims that `a` and `b` broadcast to by NumPy's rule; throws Invalid naming both shapes.
Dims BroadcastDims(const Shape& a, const Shape& b);

// A product that compilers do not contract with a sum it is added to (gradient.cc says why): a
// select that changes nothing.
Value Rounded(Value product);
// The largest element along `axis` to subtract before exp. 0 where it is infinite, so that a row of
// only -inf gives log(0) = -inf and not NaN. No gradient goes through it.
Value StableShift(Value x, int64_t axis, bool keepdims);
// Where `index` points to, along the last axis: booleans of x's dimensions.
Value HitsOfLast(Value x, Value index);

// A composite node (composite.cc) of that kind; its results.
std::vector<Value> Composite(std::string_view kind, std::vector<Value> results,
                             std::vector<Value> operands, Attributes attrs = {});
// softmax(x) over the last axis, as one.
Value SoftmaxLast(Value x);

// "add", "maximum"...: the StableHLO op of a reduction's body, and back.
std::string_view ReductionOp(Reduction reduction);
Reduction ReductionOf(std::string_view op);
// The value that changes nothing: 0, 1, -inf or the lowest integer...
double ReductionIdentity(Reduction reduction, DType dtype);

}  // namespace flatout::ir
