#include "flatout/plan/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/shape.h"

namespace flatout::plan {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// A product counts as this many independent pieces of work for the card's multiprocessors: blocks
// of 64 x 64 results, long sums divided (split-K) every 512 terms. cuBLAS takes larger tiles where
// there is enough work.
constexpr double kTileResults = 64 * 64;
constexpr double kTileTerms = 512;
// Element-wise kernels smaller than this are fused with their neighbours (XLA's horizontal fusion),
// up to so many into one.
constexpr double kSmallKernelBytes = 1 << 20;
constexpr double kHorizontalFusion = 8;

enum class Kind {
  kSource,   // parameter, constant: there already, or made where it is used
  kAlias,    // reshape and the like: another name for its input
  kFused,    // element-wise and data movement that compilers fuse into whoever uses it
  kReduce,   // fuses what it reads, ends a kernel
  kMatrix,   // library calls: operands and results in memory
  kInPlace,  // writes a part of its first input: dynamic_update_slice, scatter_add
  kSort,     // several passes over operands and results
  kOther,    // one kernel of its own
  kControl,  // while, scan, conditional: their regions are walked
  kCollective,
};

Kind KindOf(std::string_view op) {
  static const std::map<std::string_view, Kind> kinds = {
      {"parameter", Kind::kSource},
      {"constant", Kind::kSource},
      {"replica_id", Kind::kSource},
      {"reshape", Kind::kAlias},
      {"stop_gradient", Kind::kAlias},
      {"optimization_barrier", Kind::kAlias},
      {"narrowed_softmax", Kind::kAlias},
      {"composite", Kind::kAlias},
      {"reduce", Kind::kReduce},
      {"reduce_window", Kind::kReduce},
      {"argmax", Kind::kReduce},
      {"dot_general", Kind::kMatrix},
      {"convolution", Kind::kMatrix},
      {"scatter_add", Kind::kInPlace},
      {"dynamic_update_slice", Kind::kInPlace},
      {"sort", Kind::kSort},
      {"cumulative_sum", Kind::kOther},
      {"select_and_scatter", Kind::kOther},
      {"custom_call", Kind::kOther},
      {"while", Kind::kControl},
      {"scan", Kind::kControl},
      {"conditional", Kind::kControl},
      {"all_reduce", Kind::kCollective},
      {"all_gather", Kind::kCollective},
      {"reduce_scatter", Kind::kCollective},
      {"collective_permute", Kind::kCollective},
  };
  const auto found = kinds.find(op);
  return found == kinds.end() ? Kind::kFused : found->second;
}

// Made again in every kernel that needs it rather than written to memory once.
bool CheapToRepeat(std::string_view op) {
  static const std::set<std::string_view> cheap = {"broadcast_in_dim",
                                                   "iota",
                                                   "convert",
                                                   "slice",
                                                   "dynamic_slice",
                                                   "compare",
                                                   "negate",
                                                   "not",
                                                   "and",
                                                   "or",
                                                   "pad",
                                                   "select",
                                                   "transpose",
                                                   "gather",
                                                   "relu",
                                                   "bitcast_convert",
                                                   "xor",
                                                   "shift_left",
                                                   "shift_right_logical",
                                                   "shift_right_arithmetic"};
  return cheap.contains(op);
}

// Reads of its first input only what it gives.
bool ReadsAPart(std::string_view op) {
  return op == "slice" || op == "dynamic_slice" || op == "gather";
}

// A result of a node, as a key.
using ValueKey = std::pair<const Node*, int>;

// The value that `value` is another name for.
Value Canonical(Value value) {
  for (;;) {
    if (KindOf(value.node()->name()) != Kind::kAlias) return value;
    value = value.node()->input(value.index());
  }
}

ValueKey KeyOf(Value value) { return {value.node(), value.index()}; }

class Walk {
 public:
  explicit Walk(const Graph& graph) : graph_(graph) {}

  // Adds the work of one run of the graph, `times` over, to `work`.
  void AddTo(StepWork& work, double times);

 private:
  struct Kernel {
    const Node* root = nullptr;
    Kind kind = Kind::kFused;
    int level = 0;
    int64_t elements = 0;              // that it goes over
    std::map<ValueKey, double> reads;  // bytes of each value that comes from memory
    double writes = 0;
    int group = 0;
  };

  void FindConsumers();
  void ChooseKernels();
  void CollectReads();
  void MergeSiblings();
  int Find(int kernel);
  bool InMemory(const Node& node) const { return kernel_of_.contains(&node); }

  const Graph& graph_;
  std::vector<bool> live_;
  std::vector<int> level_;
  std::vector<std::vector<const Node*>> consumers_;  // by node id, without aliases
  std::vector<bool> forced_;                         // must be in memory: results, barriers
  std::vector<std::set<int>> owners_;                // kernels that a fused node is part of
  std::vector<Kernel> kernels_;
  std::unordered_map<const Node*, int> kernel_of_;
};

void Walk::FindConsumers() {
  live_ = graph_.LiveNodes();
  const size_t count = graph_.nodes().size();
  level_.assign(count, 0);
  consumers_.resize(count);
  forced_.assign(count, false);
  for (const auto& node : graph_.nodes()) {
    if (!live_[node->id()]) continue;
    const Kind kind = KindOf(node->name());
    if (kind == Kind::kAlias) {
      if (node->name() != "optimization_barrier") continue;
      for (const Value& input : node->inputs()) forced_[Canonical(input).node()->id()] = true;
      continue;
    }
    for (const Value& input : node->inputs()) {
      const Node* source = Canonical(input).node();
      auto& list = consumers_[source->id()];
      if (list.empty() || list.back() != node.get()) list.push_back(node.get());
      const Kind before = KindOf(source->name());
      const bool hard = before != Kind::kFused && before != Kind::kSource;
      level_[node->id()] = std::max(level_[node->id()], level_[source->id()] + (hard ? 1 : 0));
    }
  }
  for (const Value& output : graph_.outputs()) forced_[Canonical(output).node()->id()] = true;
}

// From the results backwards: a fused node belongs to the kernel of whoever uses it; one that
// several kernels use is written to memory once, unless it is cheap enough to be repeated.
void Walk::ChooseKernels() {
  owners_.resize(graph_.nodes().size());
  for (auto it = graph_.nodes().rbegin(); it != graph_.nodes().rend(); ++it) {
    const Node& node = **it;
    const int id = node.id();
    const Kind kind = KindOf(node.name());
    if (!live_[id] || kind == Kind::kSource || kind == Kind::kAlias || kind == Kind::kControl) {
      continue;
    }
    bool root = kind != Kind::kFused || forced_[id];
    std::set<int> owners;
    for (const Node* consumer : consumers_[id]) {
      const Kind by = KindOf(consumer->name());
      if (by == Kind::kFused || by == Kind::kReduce) {
        owners.insert(owners_[consumer->id()].begin(), owners_[consumer->id()].end());
      } else if (by == Kind::kMatrix && node.name() == "transpose") {
        // Libraries read transposed operands as they are.
        owners.insert(kernel_of_.at(consumer));
      } else if (by == Kind::kInPlace && !consumer->inputs().empty()) {
        owners.insert(kernel_of_.at(consumer));  // what is written is computed on the way
      } else {
        root = true;
      }
    }
    if (owners.size() > 1 && !CheapToRepeat(node.name())) root = true;
    if (!root && !owners.empty()) {
      owners_[id] = std::move(owners);
      continue;
    }
    const int index = static_cast<int>(kernels_.size());
    Kernel kernel;
    kernel.root = &node;
    kernel.kind = kind;
    kernel.level = level_[id];
    kernel.group = index;
    kernel.elements =
        kind == Kind::kReduce ? Canonical(node.input(0)).shape().size() : node.shape().size();
    kernels_.push_back(std::move(kernel));
    kernel_of_[&node] = index;
    owners_[id] = {index};
  }
}

void Walk::CollectReads() {
  for (const auto& owned : graph_.nodes()) {
    const Node& node = *owned;
    if (!live_[node.id()] || owners_[node.id()].empty()) continue;
    const Kind kind = KindOf(node.name());
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Value source = Canonical(node.input(i));
      const Node& from = *source.node();
      if (from.name() == "constant" || from.name() == "replica_id") continue;
      const bool in_memory =
          from.name() == "parameter" || KindOf(from.name()) == Kind::kControl || InMemory(from);
      if (!in_memory) continue;
      double bytes = static_cast<double>(source.shape().bytes());
      if (i == 0 && ReadsAPart(node.name())) {
        bytes = std::min(bytes, static_cast<double>(node.shape().bytes()));
      }
      // The rows that a scatter adds to are read, the rest of the table is not touched; an update
      // in place reads nothing of what it replaces.
      if (i == 0 && kind == Kind::kInPlace) {
        bytes = node.name() == "scatter_add"
                    ? static_cast<double>(node.inputs().back().shape().bytes())
                    : 0;
      }
      for (const int owner : owners_[node.id()]) {
        double& read = kernels_[owner].reads[KeyOf(source)];
        read = std::max(read, bytes);
      }
    }
  }
  for (Kernel& kernel : kernels_) {
    const Node& root = *kernel.root;
    if (kernel.kind == Kind::kInPlace) {
      const size_t update = root.name() == "scatter_add" ? root.inputs().size() - 1 : 1;
      kernel.writes = static_cast<double>(root.input(update).shape().bytes());
      // Into zeros or anything else made on the way: all of it has to be written first.
      const Node& target = *Canonical(root.input(0)).node();
      if (target.name() != "parameter" && KindOf(target.name()) != Kind::kControl &&
          !InMemory(target)) {
        kernel.writes += static_cast<double>(root.shape().bytes());
      }
      continue;
    }
    for (const ir::Shape& shape : root.shapes()) {
      kernel.writes += static_cast<double>(shape.bytes());
    }
  }
}

int Walk::Find(int kernel) {
  while (kernels_[kernel].group != kernel) kernel = kernels_[kernel].group;
  return kernel;
}

// Kernels that go over the same elements and read the same values, or one the other's, become one
// with several results. With equal levels no path between them leads through a kernel that cannot
// be fused, so that no cycle comes of it.
void Walk::MergeSiblings() {
  const auto fusible = [](const Kernel& kernel) {
    return kernel.kind == Kind::kFused || kernel.kind == Kind::kReduce;
  };
  const auto unite = [&](int a, int b) {
    a = Find(a);
    b = Find(b);
    if (a != b) kernels_[std::max(a, b)].group = std::min(a, b);
  };
  using Class = std::pair<int, int64_t>;  // level, elements
  std::map<std::pair<ValueKey, Class>, int> readers;
  for (int i = 0; i < static_cast<int>(kernels_.size()); ++i) {
    const Kernel& kernel = kernels_[i];
    if (!fusible(kernel)) continue;
    const Class of{kernel.level, kernel.elements};
    for (const auto& [value, bytes] : kernel.reads) {
      // Scalars and small vectors are read by everybody.
      if (bytes < static_cast<double>(kernel.elements)) continue;
      const auto [first, added] = readers.try_emplace({value, of}, i);
      if (!added) unite(first->second, i);
      const auto producer = kernel_of_.find(value.first);
      if (producer == kernel_of_.end()) continue;
      const Kernel& before = kernels_[producer->second];
      if (before.kind == Kind::kFused && before.level == kernel.level &&
          before.elements == kernel.elements) {
        unite(producer->second, i);
      }
    }
  }
}

// Adds what the regions of a loop or branch do.
void AddControl(const Node& node, StepWork& work, double times) {
  if (node.name() != "conditional") {
    if (node.name() == "scan") times *= static_cast<double>(node.attrs().Int("length"));
    Walk(node.region(node.num_regions() - 1)).AddTo(work, times);
    return;
  }
  StepWork most;
  for (size_t i = 0; i < node.num_regions(); ++i) {
    StepWork branch;
    Walk(node.region(i)).AddTo(branch, times);
    if (i == 0 || branch.bytes > most.bytes) most = std::move(branch);
  }
  work.kernels.insert(work.kernels.end(), most.kernels.begin(), most.kernels.end());
  work.flops += most.flops;
  work.matrix_flops += most.matrix_flops;
  work.bytes += most.bytes;
  work.launches += most.launches;
  work.all_reduce_bytes += most.all_reduce_bytes;
  work.all_reduces += most.all_reduces;
}

// How many pieces a product can be divided into.
double Tiles(const Node& node, double flops) {
  const auto results = static_cast<double>(node.shape().size());
  const double terms = flops / std::max(1.0, 2 * results);
  return std::ceil(results / kTileResults) * std::max(1.0, std::floor(terms / kTileTerms));
}

void Walk::AddTo(StepWork& work, double times) {
  FindConsumers();
  ChooseKernels();
  CollectReads();
  MergeSiblings();

  for (const auto& node : graph_.nodes()) {
    if (!live_[node->id()]) continue;
    const Kind kind = KindOf(node->name());
    if (kind == Kind::kControl) {
      AddControl(*node, work, times);
      continue;
    }
    if (node->op().flops != nullptr) work.flops += times * node->op().flops(*node);
    if (kind == Kind::kCollective) {
      if (node->name() == "all_reduce") {
        for (const ir::Shape& shape : node->shapes()) {
          work.all_reduce_bytes += times * static_cast<double>(shape.bytes());
        }
      }
      work.all_reduces += times;
    }
  }

  // One piece of work for each group of merged kernels.
  struct Group {
    std::set<const Node*> roots;
    std::map<ValueKey, double> reads;
    double writes = 0;
    const Kernel* first = nullptr;
  };
  std::map<int, Group> groups;
  for (int i = 0; i < static_cast<int>(kernels_.size()); ++i) {
    if (kernels_[i].kind == Kind::kCollective) continue;
    Group& group = groups[Find(i)];
    if (group.first == nullptr) group.first = &kernels_[i];
    group.roots.insert(kernels_[i].root);
  }
  double small = 0;
  for (auto& [index, group] : groups) {
    for (const Node* root : group.roots) {
      const Kernel& kernel = kernels_[kernel_of_.at(root)];
      for (const auto& [value, bytes] : kernel.reads) {
        if (group.roots.contains(value.first)) continue;
        double& read = group.reads[value];
        read = std::max(read, bytes);
      }
      // A result that nobody outside the group needs stays in registers.
      const auto& consumers = consumers_[root->id()];
      const bool inside =
          !forced_[root->id()] && !consumers.empty() && group.roots.size() > 1 &&
          std::all_of(consumers.begin(), consumers.end(), [&](const Node* consumer) {
            const std::set<int>& owners = owners_[consumer->id()];
            return !owners.empty() && std::all_of(owners.begin(), owners.end(),
                                                  [&](int owner) { return Find(owner) == index; });
          });
      if (!inside) group.writes += kernel.writes;
    }
    KernelWork item;
    item.bytes = group.writes;
    for (const auto& [value, bytes] : group.reads) item.bytes += bytes;
    const Node& root = *group.first->root;
    if (group.first->kind == Kind::kSort) {
      // Merge or radix passes over keys and values.
      item.bytes *=
          std::max(1.0, std::ceil(std::log2(static_cast<double>(root.shape().size())) / 8));
    }
    item.times = times;
    item.layer = root.scope();
    double launches = 1;
    if (group.first->kind == Kind::kMatrix) {
      item.matrix_flops = root.op().flops(root);
      item.dtype = root.input(0).dtype();
      item.tiles = Tiles(root, item.matrix_flops);
      work.matrix_flops += times * item.matrix_flops;
    } else if (group.first->kind == Kind::kFused && item.bytes < kSmallKernelBytes) {
      small += times;
      launches = 0;
    }
    if (item.bytes == 0 && item.matrix_flops == 0) continue;
    work.bytes += times * item.bytes;
    work.launches += times * launches;
    work.kernels.push_back(std::move(item));
  }
  work.launches += std::ceil(small / kHorizontalFusion);
}

}  // namespace

StepWork MeasureWork(const Graph& program) {
  StepWork work;
  Walk(program).AddTo(work, 1);
  return work;
}

std::string_view LimitName(Limit limit) {
  switch (limit) {
    case Limit::kArithmetic:
      return "arithmetic";
    case Limit::kMemory:
      return "memory bandwidth";
    case Limit::kLaunches:
      return "kernel launches";
    case Limit::kAllReduce:
      return "all-reduce";
  }
  throw Internal("limit {}", static_cast<int>(limit));
}

Range AllReduceSeconds(double bytes, int64_t gpus, double link_bandwidth,
                       const Efficiency& efficiency) {
  if (gpus <= 1) return {};
  const auto n = static_cast<double>(gpus);
  const double sent = 2 * (n - 1) / n * bytes;
  const double hops = 2 * (n - 1);
  const auto at = [&](double share, double hop) {
    return sent / (link_bandwidth * share) + hops * hop;
  };
  // Efficiency goes from the pessimist's view to the optimist's, seconds the other way.
  return {at(efficiency.link.high, efficiency.hop.high),
          at(efficiency.link.likely, efficiency.hop.likely),
          at(efficiency.link.low, efficiency.hop.low)};
}

StepEstimate EstimateStep(const StepWork& work, const StepQuestion& question,
                          const Efficiency& efficiency) {
  const xla::Card& card = *question.card;
  StepEstimate result;
  const auto gpus = static_cast<double>(question.gpus);
  result.peak_flops = card.MatmulPeak(question.compute) * gpus;

  // The compiler's fusion decisions differ from our model's; its total is the better one. Products
  // read and write what they must in either.
  double fused_bytes = 0;
  for (const KernelWork& kernel : work.kernels) {
    if (kernel.matrix_flops == 0) fused_bytes += kernel.bytes * kernel.times;
  }
  double scale = 1;
  if (question.compiler_bytes && fused_bytes > 0) {
    const double rest = *question.compiler_bytes - (work.bytes - fused_bytes);
    scale = std::clamp(rest / fused_bytes, 1.0 / 3, 3.0);
  }

  struct Parts {
    double arithmetic = 0, memory = 0;
  };
  const auto kernels = [&](double matrix_share, double memory_share, bool full) {
    Parts parts;
    for (const KernelWork& kernel : work.kernels) {
      const double moved = kernel.bytes * (kernel.matrix_flops == 0 ? scale : 1);
      const double memory = moved / (card.memory_bandwidth * memory_share);
      double arithmetic = 0;
      if (kernel.matrix_flops > 0) {
        const auto cores = static_cast<double>(std::max<int64_t>(1, card.cores));
        const double filled = full ? 1 : std::min(1.0, kernel.tiles / cores);
        arithmetic = kernel.matrix_flops / (card.MatmulPeak(kernel.dtype) * matrix_share * filled);
      }
      (arithmetic > memory ? parts.arithmetic : parts.memory) +=
          kernel.times * std::max(arithmetic, memory);
    }
    return parts;
  };
  const Range reduce =
      AllReduceSeconds(work.all_reduce_bytes, question.gpus, card.link_bandwidth, efficiency);
  const auto started = [&](double launch, double step) { return work.launches * launch + step; };
  const Parts best = kernels(efficiency.matrix.high, efficiency.memory.high, true);
  const Parts likely = kernels(efficiency.matrix.likely, efficiency.memory.likely, false);
  const Parts worst = kernels(efficiency.matrix.low, efficiency.memory.low, false);

  result.arithmetic = likely.arithmetic;
  result.memory = likely.memory;
  result.launches = started(efficiency.launch.likely, efficiency.step.likely);
  result.all_reduce = reduce.likely;
  result.seconds.likely = result.arithmetic + result.memory + result.launches + result.all_reduce;
  // The optimist lets kernels be queued while others run, and the all-reduce hide behind the
  // backward pass, about two thirds of the arithmetic.
  const double busy = best.arithmetic + best.memory;
  result.seconds.low = std::max(busy, started(efficiency.launch.high, efficiency.step.high)) +
                       std::max(0.0, reduce.low - busy * 2 / 3);
  result.seconds.high = worst.arithmetic + worst.memory +
                        started(efficiency.launch.low, efficiency.step.low) + reduce.high;

  const std::pair<double, Limit> parts[] = {{result.arithmetic, Limit::kArithmetic},
                                            {result.memory, Limit::kMemory},
                                            {result.launches, Limit::kLaunches},
                                            {result.all_reduce, Limit::kAllReduce}};
  result.limit = std::max_element(std::begin(parts), std::end(parts))->second;
  result.samples_per_second = result.seconds.Inverse(question.samples);
  if (result.peak_flops > 0) {
    result.mfu = result.samples_per_second * (question.flops_per_sample / result.peak_flops);
  }
  return result;
}

std::string ArithmeticName(const xla::Card& card, ir::DType dtype) {
  if (dtype == ir::DType::kF32) return card.tf32_flops > 0 ? "tf32" : "f32";
  if (card.peak_flops.contains(dtype)) return std::string(ir::Name(dtype));
  return fmt::format("f32 (no {} units)", ir::Name(dtype));
}

}  // namespace flatout::plan
