#include "flatout/ir/recompute.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"

namespace flatout::ir {
namespace {

bool IsRecomputed(const Node& node) { return node.attrs().Has(kRecomputed); }

// Whether a node may be done twice. Not those that do something besides their results, those that
// other replicas take part in.
bool CanRepeat(const Node& node) {
  if (node.op().has_side_effect) return false;
  if (const Attribute* effect = node.attrs().Find("has_side_effect")) {
    if (std::get<bool>(*effect)) return false;
  }
  for (const OpDef* collective : CollectiveOps()) {
    if (&node.op() == collective) return false;
  }
  for (size_t i = 0; i < node.num_regions(); ++i) {
    for (const auto& inner : node.region(i).nodes()) {
      if (!CanRepeat(*inner)) return false;
    }
  }
  return true;
}

std::vector<std::unique_ptr<Graph>> CloneRegions(const Node& node) {
  std::vector<std::unique_ptr<Graph>> regions;
  for (size_t i = 0; i < node.num_regions(); ++i) regions.push_back(Clone(node.region(i)));
  return regions;
}

// `node` once more, with other inputs, marked as recomputation.
Node& Again(Graph& graph, const Node& node, std::vector<Value> inputs) {
  const Scope scope = Scope::Exactly(graph, node.scope());
  Attributes attrs = node.attrs();
  attrs.Set(kRecomputed, true);
  return graph.AddNode(node.op(), std::move(inputs), std::move(attrs), CloneRegions(node));
}

bool DependsOnParameter(Value value) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack = {value.node()};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second) continue;
    if (node->name() == "parameter") return true;
    for (const Value& input : node->inputs()) stack.push_back(input.node());
  }
  return false;
}

// A pred scalar, false, that is known only once all of `values` (floats) exist. Compilers cannot
// tell that it is false. None where no value has an element, or all are constants.
Value Never(Graph& graph, std::span<const Value> values) {
  // Built apart, so that it can be marked as recomputation as a whole.
  Graph scratch("never");
  std::vector<Value> first, arguments;
  for (Value value : values) {
    // Of an embedding's gradient only the rows exist; the table of zeros around them never should.
    if (const auto rows = MatchScatterAddIntoZeros(value)) value = rows->updates;
    if (value.shape().size() == 0) continue;
    arguments.push_back(value);
    const Value argument = scratch.AddParameter(value.shape(), "");
    const Dims ones(value.rank(), 1);
    first.push_back(
        Convert(Reshape(Slice(argument, Dims(value.rank(), 0), ones, ones), {1}), DType::kF32));
  }
  if (std::none_of(arguments.begin(), arguments.end(), DependsOnParameter)) return {};
  // No absolute value is below -1, not even NaN's; compilers don't see that far.
  const Value least = ReduceMin(Abs(first.size() == 1 ? first[0] : Concatenate(first, 0)));
  const Value never = Compare(least, ScalarLike(least, -1), Comparison::kLt);

  std::unordered_map<const Node*, Node*> copies;
  for (size_t i = 0; i < arguments.size(); ++i) {
    copies[scratch.parameters()[i].node()] = arguments[i].node();
  }
  for (const auto& node : scratch.nodes()) {
    if (node->name() == "parameter") continue;
    std::vector<Value> inputs;
    for (const Value& input : node->inputs()) {
      const auto at = std::find(scratch.parameters().begin(), scratch.parameters().end(), input);
      inputs.push_back(at != scratch.parameters().end()
                           ? arguments[at - scratch.parameters().begin()]
                           : copies.at(input.node())->output(input.index()));
    }
    copies[node.get()] = &Again(graph, *node, std::move(inputs));
  }
  return copies.at(never.node())->output();
}

}  // namespace

double RecomputedFlops(const Graph& graph) {
  double total = 0;
  const std::vector<bool> live = graph.LiveNodes();
  for (const auto& node : graph.nodes()) {
    if (!live[node->id()]) continue;
    if (IsRecomputed(*node)) {
      if (node->op().flops != nullptr) total += node->op().flops(*node);
      continue;
    }
    double inside = 0;
    for (size_t i = 0; i < node->num_regions(); ++i) {
      const double region = RecomputedFlops(node->region(i));
      inside = node->name() == "conditional" ? std::max(inside, region) : inside + region;
    }
    if (node->name() == "scan") inside *= static_cast<double>(node->attrs().Int("length"));
    total += inside;
  }
  return total;
}

Recomputer::Recomputer(Graph& graph, std::span<const int> block_of_node,
                       std::span<const Value> weights)
    : graph_(graph), block_of_node_(block_of_node), weights_(weights) {
  if (block_of_node_.size() > graph.nodes().size()) {
    throw Internal("blocks of {} nodes given for a graph of {}", block_of_node_.size(),
                   graph.nodes().size());
  }
  int blocks = 0;
  for (const int block : block_of_node_) blocks = std::max(blocks, block + 1);
  copied_.assign(blocks, false);
}

int Recomputer::BlockOf(const Node& node) const {
  const auto id = static_cast<size_t>(node.id());
  return id < block_of_node_.size() ? block_of_node_[id] : -1;
}

bool Recomputer::Starts(const Node& node) const {
  const int block = BlockOf(node);
  return block >= 0 && !copied_[block];
}

std::vector<Value> Recomputer::Gradient(Node& node, std::span<const Value> dy,
                                        std::span<const Value> ready) {
  const int block = BlockOf(node);
  if (block >= 0 && !copied_[block]) Copy(block, ready);
  const auto found = copies_.find(&node);
  if (found == copies_.end()) return node.op().gradient(node, dy);
  Node& copy = *found->second;

  // Most rules read only inputs. Those that the block takes in are there anyway, and reading them
  // as they are spares their copies behind the select.
  std::vector<Value> inputs;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const auto inside = copies_.find(node.input(i).node());
    const bool copied = inside != copies_.end() && BlockOf(*inside->first) == block;
    inputs.push_back(copied ? copy.input(i) : node.input(i));
  }
  if (std::equal(inputs.begin(), inputs.end(), copy.inputs().begin())) {
    return copy.op().gradient(copy, dy);
  }
  Node& view = Again(graph_, node, std::move(inputs));
  std::vector<Value> gradients = view.op().gradient(view, dy);
  // The result of that node would be the forward pass's, and keep it.
  for (size_t i = view.id() + 1; i < graph_.nodes().size(); ++i) {
    for (const Value& input : graph_.nodes()[i]->inputs()) {
      if (input.node() == &view) return copy.op().gradient(copy, dy);
    }
  }
  for (const Value& gradient : gradients) {
    if (gradient && gradient.node() == &view) return copy.op().gradient(copy, dy);
  }
  return gradients;
}

void Recomputer::Copy(int block, std::span<const Value> ready) {
  copied_[block] = true;
  std::vector<Node*> nodes;
  std::unordered_set<const Node*> inside;
  for (size_t i = 0; i < block_of_node_.size(); ++i) {
    Node& node = *graph_.nodes()[i];
    if (block_of_node_[i] != block || node.inputs().empty() || !CanRepeat(node)) continue;
    nodes.push_back(&node);
    inside.insert(&node);
  }

  // Weights are there anyway, and so are other parameters (frozen weights, counters), unless the
  // block has nothing else to start from.
  const auto is_weight = [&](Value value) {
    return std::find(weights_.begin(), weights_.end(), value) != weights_.end();
  };
  bool only_parameters = true;
  for (const Node* node : nodes) {
    for (const Value& input : node->inputs()) {
      const Node& from = *input.node();
      if (!inside.contains(&from) && !from.inputs().empty()) only_parameters = false;
    }
  }
  Value never;
  std::unordered_map<const Node*, std::vector<Value>> tied;
  const auto tie = [&](Value value) {
    const Node& from = *value.node();
    if (from.name() == "parameter" ? !only_parameters || is_weight(value)
                                   : from.inputs().empty() || is_weight(value)) {
      return value;
    }
    std::vector<Value>& results = tied[&from];
    results.resize(from.num_outputs());
    Value& result = results[value.index()];
    if (!result) {
      if (!never) never = Never(graph_, ready);
      // A gradient that does not depend on the data: what the block takes in must do.
      if (!never) never = Never(graph_, {&value, 1});
      if (!never) return value;
      const Scope scope = Scope::Exactly(graph_, from.scope());
      result = graph_
                   .AddNode(*FindOp("select"),
                            {BroadcastTo(never, value.dims()), ZerosLike(value), value},
                            {{kRecomputed, true}})
                   .output();
    }
    return result;
  };
  for (Node* node : nodes) {
    std::vector<Value> inputs;
    for (const Value& input : node->inputs()) {
      const auto copy = copies_.find(input.node());
      inputs.push_back(copy != copies_.end() && inside.contains(input.node())
                           ? copy->second->output(input.index())
                           : tie(input));
    }
    copies_[node] = &Again(graph_, *node, std::move(inputs));
  }
}

std::vector<Value> KeptFor(const Graph& graph, size_t first) {
  std::vector<Value> kept;
  const std::vector<bool> live = graph.LiveNodes();
  std::vector<std::vector<bool>> seen(first);
  for (size_t i = first; i < graph.nodes().size(); ++i) {
    if (!live[i]) continue;
    for (const Value& input : graph.nodes()[i]->inputs()) {
      const Node& from = *input.node();
      if (static_cast<size_t>(from.id()) >= first || from.inputs().empty()) continue;
      std::vector<bool>& results = seen[from.id()];
      results.resize(from.num_outputs());
      if (results[input.index()]) continue;
      results[input.index()] = true;
      kept.push_back(input);
    }
  }
  return kept;
}

}  // namespace flatout::ir
