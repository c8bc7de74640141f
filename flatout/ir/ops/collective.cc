// Operations between the replicas of a launch.
//
// Every replica runs the same graph, and what a gradient differentiates is the sum of all replicas'
// losses. So the gradient of a sum over replicas is the sum over replicas of the gradients, that of
// a gather is a scatter of sums, and so on.
#include <algorithm>
#include <map>
#include <string>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

// One group of all replicas.
std::string ReplicaGroups(int64_t replicas) {
  Dims all;
  for (int64_t i = 0; i < replicas; ++i) all.push_back(i);
  return "replica_groups = " + I64Matrix(all, replicas);
}

void CheckReplicas(const Node& node) {
  const int64_t replicas = node.attrs().Int("replicas");
  if (replicas < 1) throw Invalid("needs at least one replica, found {}", replicas);
}

std::vector<Shape> InferAllReduce(const Node& node) {
  CheckReplicas(node);
  std::vector<Shape> shapes;
  for (const Value& input : node.inputs()) {
    if (input.dtype() != node.input(0).dtype()) {
      throw Invalid("operands of one reduction must be of one type, found {} and {}",
                    node.input(0).shape().ToString(), input.shape().ToString());
    }
    shapes.push_back(input.shape());
  }
  return shapes;
}

void WriteAllReduce(StablehloWriter& writer, const Node& node) {
  const std::string& reduction = node.attrs().String("reduction");
  const std::string_view op = reduction == "sum"   ? "add"
                              : reduction == "max" ? "maximum"
                                                   : "minimum";
  writer.Emit(node, "all_reduce", ReplicaGroups(node.attrs().Int("replicas")),
              {writer.BinaryRegion(node.input(0).dtype(), op)});
}

// A maximum belongs to the replicas that hold it, in equal shares.
std::vector<Value> AllReduceGradient(Node& node, std::span<const Value> dy) {
  const int64_t replicas = node.attrs().Int("replicas");
  std::vector<Value> have;
  std::vector<size_t> places;
  for (size_t i = 0; i < dy.size(); ++i) {
    if (!dy[i]) continue;
    have.push_back(dy[i]);
    places.push_back(i);
  }
  const std::vector<Value> sums = AllReduce(have, Reduction::kSum, replicas);
  std::vector<Value> gradients(dy.size());
  for (size_t k = 0; k < places.size(); ++k) {
    const size_t i = places[k];
    gradients[i] = sums[k];
    if (node.attrs().String("reduction") == "sum") continue;
    const Value held = Convert(
        Compare(node.input(i), node.output(static_cast<int>(i)), Comparison::kEq), dy[i].dtype());
    const Value holders = AllReduce({&held, 1}, Reduction::kSum, replicas)[0];
    gradients[i] = Div(Mul(held, sums[k]), holders);
  }
  return gradients;
}

int64_t CheckedAxis(const Node& node) {
  CheckReplicas(node);
  const int64_t axis = node.attrs().Int("axis");
  if (axis < 0 || axis >= node.input(0).rank()) {
    throw Invalid("axis {} is outside of {}", axis, node.input(0).shape().ToString());
  }
  return axis;
}

std::vector<Shape> InferAllGather(const Node& node) {
  const int64_t axis = CheckedAxis(node);
  Shape shape = node.input(0).shape();
  shape.dims[axis] *= node.attrs().Int("replicas");
  return {shape};
}

void WriteAllGather(StablehloWriter& writer, const Node& node) {
  writer.Emit(node, "all_gather",
              fmt::format("all_gather_dim = {}, {}", I64(node.attrs().Int("axis")),
                          ReplicaGroups(node.attrs().Int("replicas"))));
}

std::vector<Value> AllGatherGradient(Node& node, std::span<const Value> dy) {
  return {ReduceScatter(dy[0], node.attrs().Int("axis"), node.attrs().Int("replicas"))};
}

std::vector<Shape> InferReduceScatter(const Node& node) {
  const int64_t axis = CheckedAxis(node);
  const int64_t replicas = node.attrs().Int("replicas");
  Shape shape = node.input(0).shape();
  if (shape.dims[axis] % replicas != 0) {
    throw Invalid("{} replicas do not divide axis {} of {}", replicas, axis, shape.ToString());
  }
  shape.dims[axis] /= replicas;
  return {shape};
}

void WriteReduceScatter(StablehloWriter& writer, const Node& node) {
  writer.Emit(node, "reduce_scatter",
              fmt::format("scatter_dimension = {}, {}", I64(node.attrs().Int("axis")),
                          ReplicaGroups(node.attrs().Int("replicas"))),
              {writer.BinaryRegion(node.input(0).dtype(), "add")});
}

std::vector<Value> ReduceScatterGradient(Node& node, std::span<const Value> dy) {
  return {AllGather(dy[0], node.attrs().Int("axis"), node.attrs().Int("replicas"))};
}

std::vector<Shape> InferCollectivePermute(const Node& node) {
  const Dims& pairs = node.attrs().Ints("pairs");
  if (pairs.size() % 2 != 0 ||
      std::any_of(pairs.begin(), pairs.end(), [](int64_t v) { return v < 0; })) {
    throw Invalid("pairs must be source, target, source, target..., found {}", DimsToString(pairs));
  }
  for (size_t side = 0; side < 2; ++side) {
    Dims seen;
    for (size_t i = side; i < pairs.size(); i += 2) seen.push_back(pairs[i]);
    std::sort(seen.begin(), seen.end());
    if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) {
      throw Invalid("a replica is named twice as {} in the pairs {}",
                    side == 0 ? "source" : "target", DimsToString(pairs));
    }
  }
  return {node.input(0).shape()};
}

void WriteCollectivePermute(StablehloWriter& writer, const Node& node) {
  writer.Emit(node, "collective_permute",
              "source_target_pairs = " + I64Matrix(node.attrs().Ints("pairs"), 2));
}

std::vector<Value> CollectivePermuteGradient(Node& node, std::span<const Value> dy) {
  Dims back = node.attrs().Ints("pairs");
  for (size_t i = 0; i + 1 < back.size(); i += 2) std::swap(back[i], back[i + 1]);
  return {CollectivePermute(dy[0], back)};
}

std::vector<Shape> InferReplicaId(const Node&) { return {Shape::Scalar(DType::kU32)}; }

void WriteReplicaId(StablehloWriter& writer, const Node& node) { writer.Emit(node, "replica_id"); }

const OpDef kAllReduce = {
    .name = "all_reduce",
    .infer = InferAllReduce,
    .write = WriteAllReduce,
    .differentiability = Differentiability::kRule,
    .gradient = AllReduceGradient,
};

const OpDef kAllGather = {
    .name = "all_gather",
    .infer = InferAllGather,
    .write = WriteAllGather,
    .differentiability = Differentiability::kRule,
    .gradient = AllGatherGradient,
};

const OpDef kReduceScatter = {
    .name = "reduce_scatter",
    .infer = InferReduceScatter,
    .write = WriteReduceScatter,
    .differentiability = Differentiability::kRule,
    .gradient = ReduceScatterGradient,
};

const OpDef kCollectivePermute = {
    .name = "collective_permute",
    .infer = InferCollectivePermute,
    .write = WriteCollectivePermute,
    .differentiability = Differentiability::kRule,
    .gradient = CollectivePermuteGradient,
};

const OpDef kReplicaId = {
    .name = "replica_id",
    .infer = InferReplicaId,
    .write = WriteReplicaId,
};

}  // namespace

std::span<const OpDef* const> CollectiveOps() {
  static const OpDef* const table[] = {&kAllReduce, &kAllGather, &kReduceScatter,
                                       &kCollectivePermute, &kReplicaId};
  return table;
}

std::vector<Value> AllReduce(std::span<const Value> values, Reduction reduction, int64_t replicas) {
  std::string name;
  switch (reduction) {
    case Reduction::kSum:
      name = "sum";
      break;
    case Reduction::kMax:
      name = "max";
      break;
    case Reduction::kMin:
      name = "min";
      break;
    default:
      throw Invalid("all_reduce reduces by sum, max or min only");
  }
  std::vector<Value> results(values.begin(), values.end());
  if (replicas == 1) return results;
  std::map<DType, std::vector<size_t>> by_dtype;  // one operation carries one type
  for (size_t i = 0; i < values.size(); ++i) by_dtype[values[i].dtype()].push_back(i);
  for (const auto& [dtype, places] : by_dtype) {
    std::vector<Value> inputs;
    for (size_t place : places) inputs.push_back(values[place]);
    Graph& graph = inputs[0].graph();
    Node& node =
        graph.AddNode(kAllReduce, std::move(inputs), {{"reduction", name}, {"replicas", replicas}});
    for (size_t k = 0; k < places.size(); ++k) {
      results[places[k]] = node.output(static_cast<int>(k));
    }
  }
  return results;
}

Value AllGather(Value x, int64_t axis, int64_t replicas) {
  if (axis < 0) axis += x.rank();
  return x.graph().AddNode(kAllGather, {x}, {{"axis", axis}, {"replicas", replicas}}).output();
}

Value ReduceScatter(Value x, int64_t axis, int64_t replicas) {
  if (axis < 0) axis += x.rank();
  return x.graph().AddNode(kReduceScatter, {x}, {{"axis", axis}, {"replicas", replicas}}).output();
}

Value CollectivePermute(Value x, const Dims& pairs) {
  return x.graph().AddNode(kCollectivePermute, {x}, {{"pairs", pairs}}).output();
}

Value ReplicaId(Graph& graph) { return graph.AddNode(kReplicaId, {}).output(); }

}  // namespace flatout::ir
