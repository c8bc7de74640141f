#include "flatout/ir/gradient.h"

#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/ops/common.h"
#include "flatout/ir/recompute.h"

namespace flatout::ir {
namespace {

struct ValueHash {
  size_t operator()(Value value) const {
    return std::hash<const void*>()(value.node()) * 31 + static_cast<size_t>(value.index());
  }
};

bool IsProduct(Value value) {
  while (value.node()->name() == "composite") value = value.node()->input(value.index());
  return value.node()->name() == "multiply";
}

// a + b. Of two products in one loop, LLVM contracts either with the sum to a fused multiply-add,
// whichever it meets first: the bits would depend on what else XLA puts into the loop, and with it
// on whether values are kept or recomputed. So one of them is made no product: a select that
// changes nothing (what is not finite becomes NaN, and stays not finite).
Value Sum(Value a, Value b) {
  if (!IsProduct(a) || !IsProduct(b)) return Add(a, b);
  return Add(Rounded(a), b);
}

}  // namespace

Value Rounded(Value product) {
  return Select(IsFinite(product), product,
                ScalarLike(product, std::numeric_limits<double>::quiet_NaN()));
}

std::vector<Value> VectorJacobianProduct(std::span<const Value> outputs,
                                         std::span<const Value> cotangents,
                                         std::span<const Value> inputs,
                                         std::span<const int> block_of_node) {
  if (outputs.size() != cotangents.size()) {
    throw Internal("{} outputs against {} cotangents", outputs.size(), cotangents.size());
  }
  std::vector<Value> results(inputs.size());
  if (outputs.empty()) return results;
  Graph& graph = outputs[0].graph();
  // Rules append nodes; those that were there before are walked.
  const size_t count = graph.nodes().size();

  // Which results depend on an input by a differentiable path, and which nodes must hand on.
  std::vector<std::vector<bool>> on_path(count);
  std::vector<bool> hands_on(count, false);
  for (size_t i = 0; i < count; ++i) {
    const Node& node = *graph.nodes()[i];
    for (const Value& input : node.inputs()) {
      if (on_path[input.node()->id()][input.index()]) hands_on[i] = true;
    }
    if (node.op().differentiability == Differentiability::kZero) hands_on[i] = false;
    on_path[i].assign(node.num_outputs(), false);
    for (size_t k = 0; k < node.num_outputs(); ++k) {
      on_path[i][k] = hands_on[i] && IsFloat(node.shape(static_cast<int>(k)).dtype);
    }
    for (const Value& input : inputs) {
      if (input.node() == &node && IsFloat(input.dtype())) on_path[i][input.index()] = true;
    }
  }

  // Gradients of `inputs` that changed since a block was last recomputed. The next one waits for
  // them, or the compiler might put them off, and with them keep all that they are made of.
  std::vector<Value> changed;
  const std::unordered_set<Value, ValueHash> wanted(inputs.begin(), inputs.end());
  std::unordered_map<Value, Value, ValueHash> gradients;
  const auto accumulate = [&](Value value, Value gradient) {
    if (!gradient || !on_path[value.node()->id()][value.index()]) return;
    if (gradient.shape() != value.shape()) {
      throw Internal("the gradient of a {} result is {}, the result itself {}",
                     value.node()->name(), gradient.shape().ToString(), value.shape().ToString());
    }
    Value& sum = gradients[value];
    sum = sum ? Sum(sum, gradient) : gradient;
    if (!block_of_node.empty() && wanted.contains(value)) changed.push_back(value);
  };
  for (size_t i = 0; i < outputs.size(); ++i) accumulate(outputs[i], cotangents[i]);

  Recomputer recomputer(graph, block_of_node, inputs);
  for (size_t i = count; i-- > 0;) {
    if (!hands_on[i]) continue;
    Node& node = *graph.nodes()[i];
    std::vector<Value> dy(node.num_outputs());
    bool any = false;
    for (size_t k = 0; k < dy.size(); ++k) {
      const auto found = gradients.find(node.output(static_cast<int>(k)));
      if (found == gradients.end()) continue;
      dy[k] = found->second;
      any = true;
    }
    if (!any) continue;
    const Scope scope = Scope::Exactly(graph, node.scope());
    if (node.op().differentiability == Differentiability::kNone) {
      throw Invalid(
          "{} has no gradient, and the loss depends on a variable through it; put "
          "StopGradient around it or use a differentiable op (scan instead of while)",
          OpContext(graph, node.name()));
    }
    std::vector<Value> ready;
    if (recomputer.Starts(node)) {
      for (const Value& value : dy) {
        if (value) ready.push_back(value);
      }
      for (const Value& value : changed) ready.push_back(gradients.at(value));
      changed.clear();
    }
    const std::vector<Value> dx = recomputer.Gradient(node, dy, ready);
    if (dx.size() != node.inputs().size()) {
      throw Internal("the gradient rule of {} gave {} values for {} inputs", node.name(), dx.size(),
                     node.inputs().size());
    }
    for (size_t k = 0; k < dx.size(); ++k) accumulate(node.input(k), dx[k]);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto found = gradients.find(inputs[i]);
    if (found != gradients.end()) results[i] = found->second;
  }
  return results;
}

std::vector<Value> Gradient(Value loss, std::span<const Value> inputs,
                            std::span<const int> block_of_node) {
  if (loss.rank() != 0 || !IsFloat(loss.dtype())) {
    throw Invalid("a gradient needs a float scalar as loss, found {}", loss.shape().ToString());
  }
  const Value one = ScalarLike(loss, 1);
  std::vector<Value> gradients =
      VectorJacobianProduct(std::span(&loss, 1), std::span(&one, 1), inputs, block_of_node);
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) gradients[i] = ZerosLike(inputs[i]);
  }
  return gradients;
}

}  // namespace flatout::ir
