#include "flatout/nn/recompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/recompute.h"

namespace flatout::nn {
namespace {

constexpr std::array<std::string_view, 3> kWords = {"none", "blocks", "auto"};

// "stage1_block2" of "stage1_block2_1_conv": up to the number after the first "block". Empty for
// names without one.
std::string BlockPrefix(std::string_view name) {
  constexpr std::string_view kWord = "block";
  for (size_t at = name.find(kWord); at != std::string_view::npos; at = name.find(kWord, at + 1)) {
    if (at > 0 && name[at - 1] != '_') continue;
    size_t end = at + kWord.size();
    if (end < name.size() && name[end] == '_') ++end;
    const size_t digits = end;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
    if (end == digits) continue;
    if (end == name.size() || name[end] == '_') return std::string(name.substr(0, end));
  }
  return "";
}

// Whether `text` fits `pattern`, in which '*' stands for any characters.
bool Fits(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  for (size_t at = star; at <= text.size(); ++at) {
    if (Fits(pattern.substr(star + 1), text.substr(at))) return true;
  }
  return false;
}

// --- what a model keeps -------------------------------------------------------------------------

// A model traced for training together with its gradient, nothing recomputed.
struct Traced {
  std::vector<std::vector<const ir::Node*>> nodes;  // of each call
  std::vector<std::set<ir::Node*>> kept;            // of each call: kept for the gradient
  std::vector<int> call_of;                         // by node id: the call that made it, or -1
};

// What the compiler keeps where a gradient asks for `value`: it does operations that cost nothing
// again, on the fly.
ir::Value Stored(ir::Value value) {
  if (value.node()->name() == "composite") value = value.node()->input(value.index());
  static const std::set<std::string_view> kFree = {"reshape",
                                                   "transpose",
                                                   "broadcast_in_dim",
                                                   "convert",
                                                   "compare",
                                                   "not",
                                                   "negate",
                                                   "slice",
                                                   "reverse",
                                                   "stop_gradient",
                                                   "select",
                                                   "and",
                                                   "optimization_barrier"};
  while (kFree.contains(value.node()->name())) {
    // The one operand of a size: masks and choices against constants.
    ir::Value from;
    for (const ir::Value& input : value.node()->inputs()) {
      const ir::Node* node = input.node();
      while (node->name() == "broadcast_in_dim" || node->name() == "convert") {
        node = node->input(0).node();
      }
      if (node->inputs().empty() && node->name() != "parameter") continue;
      if (from && from != input) return value;
      from = input;
    }
    if (!from) return value;
    value = from;
  }
  return value;
}

struct Trace {
  std::unique_ptr<ir::Graph> graph;
  Traced found;
};

Trace TraceWithGradient(const Model& model, const Policy& policy, int64_t rows) {
  Trace trace;
  trace.graph = std::make_unique<ir::Graph>("plan");
  ir::Graph& graph = *trace.graph;
  std::vector<Variable> variables;
  Context ctx(graph, {.training = true, .policy = policy, .replicas = 1}, &variables);
  std::vector<ir::Value> inputs;
  for (const Tensor& input : model.inputs()) {
    ir::Dims dims = input.shape().dims;
    dims.insert(dims.begin(), rows);
    inputs.push_back(graph.AddParameter(input.shape().WithDims(dims), "input"));
  }
  ctx.SetRowWeights(graph.AddParameter(ir::Shape(ir::DType::kF32, {rows}), "weight"));
  ctx.SetRandom(ir::MakeKey(graph, 0), ir::Value());
  std::vector<ir::Value> outputs, cotangents, weights;
  for (const ir::Value& output : model.Call(ctx, inputs)) {
    if (!ir::IsFloat(output.dtype())) continue;
    outputs.push_back(output);
    cotangents.push_back(graph.AddParameter(output.shape(), "cotangent"));
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].trainable) weights.push_back(ctx.Lookup(variables[i].path));
  }
  const size_t count = graph.nodes().size();
  std::vector<ir::Value> gradients;
  for (const ir::Value& gradient : ir::VectorJacobianProduct(outputs, cotangents, weights)) {
    if (gradient) gradients.push_back(gradient);
  }
  graph.SetOutputs(gradients);

  Traced& found = trace.found;
  found.call_of.assign(count, -1);
  found.nodes.resize(ctx.calls().size());
  found.kept.resize(ctx.calls().size());
  for (size_t call = 0; call < ctx.calls().size(); ++call) {
    for (size_t id = ctx.calls()[call].first; id < ctx.calls()[call].second; ++id) {
      found.call_of[id] = static_cast<int>(call);
      found.nodes[call].push_back(graph.nodes()[id].get());
    }
  }
  for (const ir::Value& value : ir::KeptFor(graph, count)) {
    ir::Node* node = Stored(value).node();
    const int call = found.call_of[node->id()];
    if (call >= 0 && !node->inputs().empty()) found.kept[call].insert(node);
  }
  return trace;
}

int64_t Bytes(const ir::Node& node) {
  int64_t bytes = 0;
  for (const ir::Shape& shape : node.shapes()) bytes += shape.bytes();
  return bytes;
}

// --- segments -----------------------------------------------------------------------------------

// Neighbouring calls behind which a single tensor goes on.
struct Unit {
  std::vector<int> calls;
  int64_t inside = 0;  // bytes kept for the gradient
  int64_t passed = 0;  // bytes of the tensor that goes on
};

std::vector<Unit> Units(const std::vector<LayerCall>& calls, const Traced& traced) {
  const int count = static_cast<int>(calls.size());
  std::vector<int> last_use(count);
  for (int i = 0; i < count; ++i) {
    last_use[i] = calls[i].is_output ? count : i;
    for (const int input : calls[i].inputs) {
      if (input >= 0) last_use[input] = std::max(last_use[input], i);
    }
  }
  std::vector<Unit> units;
  Unit unit;
  for (int i = 0; i < count; ++i) {
    if (!calls[i].is_output) {
      unit.calls.push_back(i);
      for (const ir::Node* node : traced.kept[i]) unit.inside += Bytes(*node);
    }
    int passing = 0;
    for (int k = 0; k <= i; ++k) passing += last_use[k] > i ? 1 : 0;
    if (passing > 1 || unit.calls.empty()) continue;
    if (!traced.nodes[i].empty()) unit.passed = traced.nodes[i].back()->shape().bytes();
    units.push_back(std::move(unit));
    unit = {};
  }
  if (!unit.calls.empty()) units.push_back(std::move(unit));
  return units;
}

// First unit of each segment, such that what is passed between segments and the largest inside
// are, together, least.
std::vector<size_t> Cut(const std::vector<Unit>& units) {
  const size_t count = units.size();
  std::vector<int64_t> before = {0};
  int64_t largest = 0;
  for (const Unit& unit : units) {
    before.push_back(before.back() + unit.inside);
    largest = std::max(largest, unit.inside);
  }
  constexpr int kLimits = 64;
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 2;
  int64_t best = kNever;
  std::vector<size_t> best_cuts = {0};
  for (int i = 0; i < kLimits; ++i) {
    const int64_t limit = largest + (before.back() - largest) * i / (kLimits - 1);
    // least[k]: bytes passed when the first k units are cut, no segment above the limit.
    std::vector<int64_t> least(count + 1, kNever);
    std::vector<size_t> from(count + 1, 0);
    least[0] = 0;
    for (size_t end = 1; end <= count; ++end) {
      for (size_t start = end; start-- > 0;) {
        if (before[end] - before[start] > limit) break;
        const int64_t passed = least[start] + units[end - 1].passed;
        if (passed < least[end]) {
          least[end] = passed;
          from[end] = start;
        }
      }
    }
    if (least[count] + limit >= best) continue;
    best = least[count] + limit;
    best_cuts.clear();
    for (size_t end = count; end > 0; end = from[end]) best_cuts.push_back(from[end]);
    std::reverse(best_cuts.begin(), best_cuts.end());
  }
  return best_cuts;
}

std::vector<Block> Segments(const Model& model, const std::vector<LayerCall>& calls) {
  constexpr int64_t kRows = 8;  // proportions are the same for any
  const Trace trace = TraceWithGradient(model, model.policy(), kRows);
  const std::vector<Unit> units = Units(calls, trace.found);
  if (units.empty()) return {};
  const std::vector<size_t> cuts = Cut(units);
  std::vector<Block> blocks;
  for (size_t i = 0; i < units.size(); ++i) {
    if (std::binary_search(cuts.begin(), cuts.end(), i)) {
      blocks.push_back({.name = fmt::format("segment{}", blocks.size() + 1)});
    }
    for (const int call : units[i].calls) {
      blocks.back().layers.push_back(calls[call].layer->name());
      blocks.back().calls.push_back(call);
    }
  }
  return blocks;
}

std::vector<Block> NamedBlocks(const std::vector<LayerCall>& calls) {
  std::vector<Block> blocks;
  std::map<std::string, size_t> latest;  // block of a prefix
  std::map<std::string, int> uses;
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string& layer = calls[i].layer->name();
    const std::string prefix = BlockPrefix(layer);
    if (prefix.empty() || calls[i].is_output) continue;
    const auto found = latest.find(prefix);
    // A layer that comes again begins the block's next use.
    if (found == latest.end() || std::count(blocks[found->second].layers.begin(),
                                            blocks[found->second].layers.end(), layer) > 0) {
      const int use = ++uses[prefix];
      latest[prefix] = blocks.size();
      blocks.push_back({.name = use == 1 ? prefix : fmt::format("{}#{}", prefix, use)});
    }
    Block& block = blocks[latest[prefix]];
    block.layers.push_back(layer);
    block.calls.push_back(static_cast<int>(i));
  }
  return blocks;
}

}  // namespace

std::string Recompute::ToString() const {
  if (kind == Kind::kBlocks && !names.empty()) {
    return fmt::format("blocks: {}", fmt::join(names, ", "));
  }
  return std::string(kWords[static_cast<size_t>(kind)]);
}

void ReadConfig(const Config& value, Recompute& field) {
  if (value.is_string()) {
    const auto word = std::find(kWords.begin(), kWords.end(), value.AsString());
    if (word == kWords.end()) {
      throw value.Complain(fmt::format(
          "expected \"none\", \"blocks\", \"auto\" or a list of blocks, found \"{}\"{}",
          value.AsString(), DidYouMean(value.AsString(), {kWords.begin(), kWords.end()})));
    }
    field = {.kind = static_cast<Recompute::Kind>(word - kWords.begin()), .names = {}};
    return;
  }
  if (!value.is_array()) {
    throw value.Complain(
        fmt::format("expected \"none\", \"blocks\", \"auto\" or a list of blocks such as "
                    "[\"block1\", \"stage2_*\"], found {}",
                    value.Describe()));
  }
  std::vector<std::string> names;
  ReadConfig(value, names);
  if (names.empty()) {
    throw value.Complain("the list of blocks is empty; say \"none\" to recompute nothing");
  }
  field = Recompute::Only(std::move(names));
}

std::vector<Block> Blocks(const Model& model) {
  const std::vector<LayerCall> calls = model.calls();
  std::vector<Block> blocks = NamedBlocks(calls);
  return blocks.empty() ? Segments(model, calls) : blocks;
}

std::vector<Block> ChosenBlocks(const Model& model, const Recompute& recompute) {
  if (recompute.kind != Recompute::Kind::kBlocks) return {};
  std::vector<Block> all = Blocks(model);
  if (recompute.names.empty()) return all;
  const std::vector<LayerCall> calls = model.calls();
  std::vector<std::string> known;
  for (const Block& block : all) known.push_back(block.name);
  const size_t num_blocks = known.size();
  for (const LayerPtr& layer : model.layers()) known.push_back(layer->name());

  std::set<size_t> chosen;
  std::set<int> single;  // calls chosen by their layers' names
  for (const std::string& name : recompute.names) {
    bool found = false;
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string base = all[i].name.substr(0, all[i].name.find('#'));
      if (!Fits(name, all[i].name) && !Fits(name, base)) continue;
      chosen.insert(i);
      found = true;
    }
    if (found) continue;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!Fits(name, calls[i].layer->name())) continue;
      single.insert(static_cast<int>(i));
      found = true;
    }
    if (found) continue;
    throw NotFound(
        "recompute: no block and no layer of model {} is called \"{}\"{} (blocks: {})",
        model.name(), name, DidYouMean(name, known),
        fmt::join(known.begin(), known.begin() + static_cast<int64_t>(num_blocks), ", "));
  }
  std::vector<Block> blocks;
  for (const size_t i : chosen) {
    for (const int call : all[i].calls) single.erase(call);
    blocks.push_back(std::move(all[i]));
  }
  int previous = -2;
  for (const int call : single) {
    const std::string& layer = calls[call].layer->name();
    if (call != previous + 1) blocks.push_back({.name = layer});
    blocks.back().layers.push_back(layer);
    blocks.back().calls.push_back(call);
    previous = call;
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.calls.front() < b.calls.front(); });
  return blocks;
}

std::vector<int> BlockOfNodes(const Model& model, const Recompute& recompute,
                              const Context& context) {
  const std::vector<Block> blocks = ChosenBlocks(model, recompute);
  if (blocks.empty() || context.calls().empty()) return {};
  const size_t num_calls = model.calls().size();
  if (context.calls().size() % num_calls != 0) {
    throw Internal("{} layer calls traced of a model of {}", context.calls().size(), num_calls);
  }
  std::vector<int> block_of_call(num_calls, -1);
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const int call : blocks[b].calls) block_of_call[call] = static_cast<int>(b);
  }
  std::vector<int> block_of_node(context.calls().back().second, -1);
  for (size_t i = 0; i < context.calls().size(); ++i) {
    const int block = block_of_call[i % num_calls];
    if (block < 0) continue;
    // A second trace of the model has blocks of its own.
    const int number = block + static_cast<int>(i / num_calls * blocks.size());
    std::fill(block_of_node.begin() + static_cast<int64_t>(context.calls()[i].first),
              block_of_node.begin() + static_cast<int64_t>(context.calls()[i].second), number);
  }
  return block_of_node;
}

int64_t RecomputePlan::BytesSaved(std::span<const std::string> names) const {
  // Backward, blocks are left one by one, the last first: when one is recomputed, what those behind
  // it kept is gone.
  int64_t all = 0, kept = 0, peak = 0;
  for (const BlockCost& block : blocks) {
    all += block.bytes;
    if (std::find(names.begin(), names.end(), block.name) == names.end()) {
      kept += block.bytes;
      peak = std::max(peak, kept);
    } else {
      peak = std::max(peak, kept + block.bytes);
    }
  }
  return all - peak;
}

double RecomputePlan::Flops(std::span<const std::string> names) const {
  double flops = 0;
  for (const BlockCost& block : blocks) {
    if (std::find(names.begin(), names.end(), block.name) != names.end()) flops += block.flops;
  }
  return flops;
}

Recompute RecomputePlan::Choose(int64_t bytes) const {
  if (bytes <= 0) return Recompute::None();
  std::vector<std::string> names;
  std::vector<const BlockCost*> left;
  for (const BlockCost& block : blocks) {
    if (block.bytes > 0) left.push_back(&block);
  }
  while (!left.empty() && BytesSaved(names) < bytes) {
    const auto saved_with = [&](const BlockCost& block) {
      std::vector<std::string> more = names;
      more.push_back(block.name);
      return static_cast<double>(BytesSaved(more) - BytesSaved(names)) / (block.flops + 1);
    };
    const auto best = std::max_element(left.begin(), left.end(), [&](const auto* a, const auto* b) {
      return saved_with(*a) < saved_with(*b);
    });
    names.push_back((*best)->name);
    left.erase(best);
  }
  if (names.empty()) return Recompute::None();
  if (names.size() == blocks.size()) return Recompute::AllBlocks();
  return Recompute::Only(std::move(names));
}

RecomputePlan PlanRecompute(const Model& model, const Policy& policy, int64_t rows) {
  const Trace trace = TraceWithGradient(model, policy, rows);
  const Traced& traced = trace.found;
  RecomputePlan plan;
  for (const Block& block : Blocks(model)) {
    const std::set<int> calls(block.calls.begin(), block.calls.end());
    const auto inside = [&](const ir::Node& node) {
      const auto id = static_cast<size_t>(node.id());
      return id < traced.call_of.size() && calls.contains(traced.call_of[id]);
    };
    // What other layers take is kept in any case.
    std::set<const ir::Node*> handed_on;
    for (size_t id = 0; id < traced.call_of.size(); ++id) {
      const ir::Node& node = *trace.graph->nodes()[id];
      if (inside(node)) continue;
      for (const ir::Value& input : node.inputs()) {
        if (inside(*input.node())) handed_on.insert(Stored(input).node());
      }
    }
    BlockCost cost{.name = block.name};
    std::set<const ir::Node*> computed;
    std::vector<const ir::Node*> stack;
    for (const int call : block.calls) {
      for (const ir::Node* node : traced.kept[call]) {
        stack.push_back(node);
        if (!handed_on.contains(node)) cost.bytes += Bytes(*node);
      }
    }
    while (!stack.empty()) {
      const ir::Node* node = stack.back();
      stack.pop_back();
      if (!inside(*node) || !computed.insert(node).second) continue;
      if (node->op().flops != nullptr) cost.flops += node->op().flops(*node);
      for (const ir::Value& input : node->inputs()) stack.push_back(input.node());
    }
    plan.blocks.push_back(std::move(cost));
  }
  return plan;
}

}  // namespace flatout::nn
