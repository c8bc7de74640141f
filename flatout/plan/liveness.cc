#include "flatout/plan/liveness.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "flatout/ir/op.h"

namespace flatout::plan {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

enum class OpClass {
  kAlias,      // result i is input i
  kCheap,      // computed where it is used, as often as it is used
  kExpensive,  // the same, but not twice
  kReduce,     // takes its input as it is computed; the result is in memory
  kUpdate,     // changes a part of input 0, in place where that ends
  kLoop,       // carries its inputs
  kHeavy,      // inputs and results are in memory
};

OpClass ClassOf(const Node& node) {
  static const std::map<std::string_view, OpClass> table = [] {
    std::map<std::string_view, OpClass> classes;
    for (const char* name :
         {"reshape", "stop_gradient", "optimization_barrier", "narrowed_softmax", "composite"}) {
      classes[name] = OpClass::kAlias;
    }
    for (const char* name : {"abs",
                             "negate",
                             "sign",
                             "floor",
                             "ceil",
                             "round_nearest_even",
                             "is_finite",
                             "not",
                             "popcnt",
                             "relu",
                             "add",
                             "subtract",
                             "multiply",
                             "maximum",
                             "minimum",
                             "and",
                             "or",
                             "xor",
                             "shift_left",
                             "shift_right_logical",
                             "shift_right_arithmetic",
                             "compare",
                             "select",
                             "clamp",
                             "convert",
                             "bitcast_convert",
                             "broadcast_in_dim",
                             "slice",
                             "pad",
                             "concatenate",
                             "reverse",
                             "transpose",
                             "dynamic_slice",
                             "gather",
                             "iota",
                             "constant",
                             "replica_id"}) {
      classes[name] = OpClass::kCheap;
    }
    // What XLA's InstructionFusion::IsExpensive names, and what lowers to such.
    for (const char* name : {"exponential", "exponential_minus_one", "log", "log_plus_one", "sqrt",
                             "rsqrt", "cbrt", "sine", "cosine", "tan", "tanh", "logistic", "erf",
                             "divide", "power", "remainder", "atan2"}) {
      classes[name] = OpClass::kExpensive;
    }
    for (const char* name : {"reduce", "argmax"}) classes[name] = OpClass::kReduce;
    for (const char* name : {"scatter_add", "dynamic_update_slice"}) {
      classes[name] = OpClass::kUpdate;
    }
    for (const char* name : {"while", "scan"}) classes[name] = OpClass::kLoop;
    return classes;
  }();
  const auto found = table.find(node.name());
  return found == table.end() ? OpClass::kHeavy : found->second;
}

bool IsFused(OpClass c) { return c == OpClass::kCheap || c == OpClass::kExpensive; }

// A walk over one graph. Memory comes in blocks; several values may share one.
class Walk {
 public:
  explicit Walk(const Graph& graph)
      : graph_(graph),
        live_(graph.LiveNodes()),
        readers_(graph.nodes().size()),
        in_memory_(graph.nodes().size(), false) {}

  Peak Run() {
    FindReaders();
    ChooseWhatIsInMemory();
    PlaceOutputs();
    for (const auto& node : graph_.nodes()) {
      if (live_[node->id()]) Visit(*node);
    }
    return HighestPoint();
  }

 private:
  struct Block {
    Value maker;
    int64_t bytes = 0;  // 0 for the memory of parameters, which is counted elsewhere
    bool owned = true;  // false for parameters
    int begin = 0, end = 0;
    std::vector<std::pair<int, Value>> sharers;  // what is written into it later, and when
  };
  struct Inner {  // what runs inside of a node
    int at;
    Peak peak;
  };

  // The value whose memory `value` shares by being the same bits.
  static Value Root(Value value) {
    while (ClassOf(*value.node()) == OpClass::kAlias) value = value.node()->input(value.index());
    return value;
  }

  void Use(Value value) { used_.emplace(value.node(), value.index()); }

  void FindReaders() {
    for (const Value& output : graph_.outputs()) Use(Root(output));
    for (const auto& node : graph_.nodes()) {
      if (!live_[node->id()] || ClassOf(*node) == OpClass::kAlias) continue;
      std::set<const Node*> seen;
      for (const Value& input : node->inputs()) {
        Use(Root(input));
        const Node* maker = Root(input).node();
        if (seen.insert(maker).second) readers_[maker->id()].push_back(node.get());
      }
    }
  }

  void ChooseWhatIsInMemory() {
    for (const Value& output : graph_.outputs()) in_memory_[Root(output).node()->id()] = true;
    for (const auto& node : graph_.nodes()) {
      if (!live_[node->id()]) continue;
      const OpClass c = ClassOf(*node);
      // A barrier is there until values have been fused: what it takes has been made by then.
      if (node->name() == "optimization_barrier") {
        for (const Value& input : node->inputs()) in_memory_[Root(input).node()->id()] = true;
      }
      if (c == OpClass::kAlias) continue;
      const std::vector<const Node*>& readers = readers_[node->id()];
      if (!IsFused(c)) {
        in_memory_[node->id()] = true;
      } else if (c == OpClass::kExpensive && readers.size() > 1) {
        in_memory_[node->id()] = true;
      } else {
        for (const Node* reader : readers) {
          const OpClass by = ClassOf(*reader);
          if (IsFused(by) || by == OpClass::kReduce) continue;
          // Matrix products take a transposed operand as it is.
          if (node->name() == "transpose" && node->shape().rank() == 2 &&
              reader->name() == "dot_general") {
            continue;
          }
          in_memory_[node->id()] = true;
        }
      }
    }
  }

  // Outputs that may be written over the parameter they replace: the next state of a loop, and
  // donated arguments.
  void PlaceOutputs() {
    const std::span<const Value> parameters = graph_.parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      int output = graph_.donated_output(i);
      if (loop_ != nullptr && output < 0) {
        output = static_cast<int>(i);
        if (loop_->name() == "scan") {
          output -= static_cast<int>(loop_->attrs().Int("constants"));
          if (output >= loop_->attrs().Int("carry")) output = -1;
        }
      }
      if (output < 0 || output >= static_cast<int>(graph_.outputs().size())) continue;
      const Value result = Root(graph_.outputs()[output]);
      if (result.shape().bytes() == parameters[i].shape().bytes()) {
        place_.emplace(std::pair(result.node(), result.index()), parameters[i]);
      }
    }
  }

  // The blocks that reading `value` reads: its own, or those of what it is computed from.
  const std::vector<int>& Reads(Value value) {
    value = Root(value);
    const auto key = std::pair<const Node*, int>(value.node(), value.index());
    const auto found = reads_.find(key);
    if (found != reads_.end()) return found->second;
    std::vector<int> blocks;
    if (const auto own = block_of_.find(key); own != block_of_.end()) {
      blocks = {own->second};
    } else {
      for (const Value& input : value.node()->inputs()) {
        const std::vector<int> of_input = Reads(input);
        blocks.insert(blocks.end(), of_input.begin(), of_input.end());
      }
      std::sort(blocks.begin(), blocks.end());
      blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    }
    return reads_[key] = std::move(blocks);
  }

  int NewBlock(Value value, int64_t bytes, bool owned, int at) {
    blocks_.push_back({value, bytes, owned, at, at});
    block_of_[{value.node(), value.index()}] = static_cast<int>(blocks_.size()) - 1;
    return static_cast<int>(blocks_.size()) - 1;
  }
  void Share(Value value, int block) { block_of_[{value.node(), value.index()}] = block; }

  // Last node that reads what is in `node`'s memory, through what is computed on the way.
  int LastRead(const Node& node) {
    const auto found = last_read_.find(&node);
    if (found != last_read_.end()) return found->second;
    int last = node.id();
    for (const Node* reader : readers_[node.id()]) {
      last = std::max(last, in_memory_[reader->id()] ? reader->id() : LastRead(*reader));
    }
    if (is_output_.empty()) {
      for (const Value& output : graph_.outputs()) is_output_.insert(Root(output).node());
    }
    if (is_output_.contains(&node)) last = static_cast<int>(graph_.nodes().size());
    return last_read_[&node] = last;
  }

  void Visit(const Node& node) {
    const OpClass c = ClassOf(node);
    if (c == OpClass::kAlias) return;
    const int at = node.id();
    if (node.name() == "parameter") {
      NewBlock(Value(const_cast<Node*>(&node), 0), 0, false, at);
      return;
    }
    if (!in_memory_[at]) return;
    const int end = LastRead(node);
    std::set<int> inputs;
    for (const Value& input : node.inputs()) {
      for (const int block : Reads(input)) inputs.insert(block);
    }
    for (const int block : inputs) blocks_[block].end = std::max(blocks_[block].end, at);
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      const Value value(const_cast<Node*>(&node), static_cast<int>(i));
      // Results that nobody reads (what a scan would save for its gradient) are not made.
      if (node.num_outputs() > 1 && !used_.contains({&node, value.index()})) continue;
      const int64_t bytes = value.shape().bytes();
      const int shared = SharedBlock(node, value, c, inputs, bytes);
      if (shared >= 0) {
        Share(value, shared);
        blocks_[shared].sharers.emplace_back(at, value);
        blocks_[shared].end = std::max(blocks_[shared].end, end);
      } else {
        blocks_[NewBlock(value, bytes, true, at)].end = end;
      }
    }
    Peak inner;
    for (size_t r = 0; r < node.num_regions(); ++r) {
      Walk walk(node.region(r));
      if (c == OpClass::kLoop) walk.loop_ = &node;
      Peak peak = walk.Run();
      if (peak.bytes > inner.bytes) inner = std::move(peak);
    }
    if (inner.bytes > 0) inner_.push_back({at, std::move(inner)});
  }

  // The block of an input that `value` can be written into, or -1.
  int SharedBlock(const Node& node, Value value, OpClass c, const std::set<int>& inputs,
                  int64_t bytes) {
    // The block of the parameter it replaces; a parameter that nobody reads has none.
    int place = -1;
    if (const auto replaced = place_.find({value.node(), value.index()});
        replaced != place_.end()) {
      const auto own = block_of_.find({replaced->second.node(), replaced->second.index()});
      if (own != block_of_.end()) place = own->second;
    }
    const auto ends_here = [&](int block) {
      return blocks_[block].owned && LastReadOfBlock(block) <= node.id();
    };
    switch (c) {
      case OpClass::kCheap:
      case OpClass::kExpensive:
        if (place >= 0 && inputs.contains(place)) return place;
        for (const int block : inputs) {
          if (ends_here(block) && blocks_[block].bytes == bytes) return block;
        }
        return -1;
      case OpClass::kUpdate: {
        const std::vector<int> operand = Reads(node.input(0));
        if (operand.size() != 1) return -1;
        if (place >= 0 && place == operand[0]) return place;
        if (ends_here(operand[0]) && blocks_[operand[0]].bytes == bytes) return operand[0];
        return -1;
      }
      case OpClass::kLoop: {
        // Carried: result i is input i changed; of a scan, the inputs after its constants. What a
        // scan stacks is new.
        size_t i = static_cast<size_t>(value.index());
        if (node.name() == "scan") {
          if (value.index() >= node.attrs().Int("carry")) return -1;
          i += static_cast<size_t>(node.attrs().Int("constants"));
        }
        const Value input = Root(node.input(i));
        const auto own = block_of_.find({input.node(), input.index()});
        if (own == block_of_.end() || input.shape() != value.shape()) return -1;
        const Block& block = blocks_[own->second];
        const bool passed_on =
            node.name() == "while" && node.region(1).outputs()[i] == node.region(1).parameters()[i];
        if (passed_on || !block.owned || ends_here(own->second)) return own->second;
        return -1;
      }
      default:
        return -1;
    }
  }

  // Last reader of anything in the block so far known: its maker's and its sharers'.
  int LastReadOfBlock(int block) {
    return std::max(blocks_[block].end, LastRead(*blocks_[block].maker.node()));
  }

  Peak HighestPoint() const {
    const int last = static_cast<int>(graph_.nodes().size());
    std::vector<int64_t> change(last + 2, 0);
    for (const Block& block : blocks_) {
      if (!block.owned || block.bytes == 0) continue;
      change[block.begin] += block.bytes;
      change[block.end + 1] -= block.bytes;
    }
    std::vector<const Peak*> inner(last + 1, nullptr);
    for (const Inner& each : inner_) inner[each.at] = &each.peak;
    Peak peak;
    int where = -1;
    int64_t now = 0;
    for (int at = 0; at <= last; ++at) {
      now += change[at];
      const int64_t here = now + (inner[at] == nullptr ? 0 : inner[at]->bytes);
      if (here > peak.bytes) {
        peak.bytes = here;
        where = at;
      }
    }
    if (where < 0) return peak;
    for (const Block& block : blocks_) {
      if (block.owned && block.bytes > 0 && block.begin <= where && where <= block.end) {
        Value holds = block.maker;
        for (const auto& [at, value] : block.sharers) {
          if (at <= where) holds = value;
        }
        peak.live.push_back({holds.node(), holds.index(), block.bytes});
      }
    }
    if (inner[where] != nullptr) {
      peak.live.insert(peak.live.end(), inner[where]->live.begin(), inner[where]->live.end());
    }
    return peak;
  }

  const Graph& graph_;
  const Node* loop_ = nullptr;  // whose body the graph is
  const std::vector<bool> live_;
  std::vector<std::vector<const Node*>> readers_;  // by node: those that are no aliases
  std::vector<bool> in_memory_;
  std::set<std::pair<const Node*, int>> used_;
  std::map<std::pair<const Node*, int>, Value> place_;
  std::vector<Block> blocks_;
  std::map<std::pair<const Node*, int>, int> block_of_;
  std::map<std::pair<const Node*, int>, std::vector<int>> reads_;
  std::unordered_map<const Node*, int> last_read_;
  std::set<const Node*> is_output_;
  std::vector<Inner> inner_;
};

}  // namespace

Peak PeakOfTemporaries(const Graph& graph) { return Walk(graph).Run(); }

}  // namespace flatout::plan
