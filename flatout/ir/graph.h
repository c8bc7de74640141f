// The graph: Flatout's own intermediate representation of a tensor program.
//
// A Graph is a list of Nodes in the order they were made, which is a topological order. A Node is
// one operation: a row of the op table (op.h), input Values, attributes, perhaps regions (the
// bodies of while, scan, conditional), and the shapes of its results. A Value is one result of one
// node. Builders for every op are in ops.h; reverse-mode gradients in gradient.h; the verifier in
// verifier.h; StableHLO text in stablehlo.h. Everything here is single-threaded: one graph, one
// thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flatout/ir/shape.h"

namespace flatout::ir {

class Graph;
class Node;
struct OpDef;

// One result of one node; a cheap handle. The default-made Value is "none": tests false.
class Value {
 public:
  Value() = default;
  Value(Node* node, int index) : node_(node), index_(index) {}

  explicit operator bool() const { return node_ != nullptr; }
  Node* node() const { return node_; }
  int index() const { return index_; }
  const Shape& shape() const;
  DType dtype() const { return shape().dtype; }
  const std::vector<int64_t>& dims() const { return shape().dims; }
  int64_t rank() const { return shape().rank(); }
  int64_t dim(int64_t i) const { return shape().dim(i); }
  Graph& graph() const;
  bool operator==(const Value&) const = default;

 private:
  Node* node_ = nullptr;
  int index_ = 0;
};

// One element at `from` as a double, and `value` rounded to the nearest element (ties to even) at
// `to`. Integers beyond 2^53 lose bits in a double; a float outside an integer type's range
// saturates and NaN becomes 0.
double LoadElement(DType dtype, const std::byte* from);
void StoreElement(DType dtype, double value, std::byte* to);

// Host data of a constant. A splat holds one element that stands for all.
struct Literal {
  Shape shape;
  bool splat = false;
  std::vector<std::byte> bytes;  // row-major, shape.bytes() long, or one element for a splat

  // Element i as a double (integers beyond 2^53 lose bits; use bytes for those).
  double At(int64_t i) const;
};

// An attribute of a node. Lists of integers carry dimensions, strides, permutations and the like.
using Attribute = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>,
                               std::shared_ptr<const Literal>>;

class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string_view, Attribute>> items);

  void Set(std::string_view name, Attribute value);
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  const Attribute* Find(std::string_view name) const;
  // Typed access; a missing or differently typed attribute is an InternalError.
  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  double Double(std::string_view name) const;
  const std::string& String(std::string_view name) const;
  const std::vector<int64_t>& Ints(std::string_view name) const;
  DType Type(std::string_view name) const;
  const Literal& Data(std::string_view name) const;

  const std::vector<std::pair<std::string, Attribute>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, Attribute>> items_;
};

class Node {
 public:
  const OpDef& op() const { return *op_; }
  std::string_view name() const;  // of the op: "dot_general"
  int id() const { return id_; }  // position in the graph
  Graph& graph() const { return *graph_; }
  std::span<const Value> inputs() const { return inputs_; }
  Value input(size_t i) const { return inputs_[i]; }
  size_t num_outputs() const { return shapes_.size(); }
  Value output(int i = 0) { return Value(this, i); }
  const Shape& shape(int i = 0) const { return shapes_[i]; }
  std::span<const Shape> shapes() const { return shapes_; }
  const Attributes& attrs() const { return attrs_; }
  // Bodies of while ("cond", "body"), conditional (one per branch) and scan ("body").
  size_t num_regions() const { return regions_.size(); }
  Graph& region(size_t i) const { return *regions_[i]; }
  // The layer this node belongs to ("conv2d_1"), or "".
  const std::string& scope() const { return *scope_; }

 private:
  friend class Graph;
  friend struct NodeSurgery;  // verifier_test.cc breaks nodes with it
  Node() = default;

  const OpDef* op_ = nullptr;
  Graph* graph_ = nullptr;
  int id_ = 0;
  std::vector<Value> inputs_;
  std::vector<Shape> shapes_;
  Attributes attrs_;
  std::vector<std::unique_ptr<Graph>> regions_;
  std::shared_ptr<const std::string> scope_;
};

class Graph {
 public:
  explicit Graph(std::string name = "main");
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  const std::string& name() const { return name_; }

  // A new input of the graph. `name` is for people ("dense/kernel"), not unique by force.
  Value AddParameter(Shape shape, std::string name);
  // A new node: infers its result shapes by the op's rule. Throws UserError naming the op, the
  // scope and both shapes when they do not fit.
  Node& AddNode(const OpDef& op, std::vector<Value> inputs, Attributes attrs = {},
                std::vector<std::unique_ptr<Graph>> regions = {});
  void SetOutputs(std::vector<Value> outputs);

  std::span<const std::unique_ptr<Node>> nodes() const { return nodes_; }
  std::span<const Value> parameters() const { return parameters_; }
  const std::string& parameter_name(size_t i) const { return parameter_names_[i]; }
  std::span<const Value> outputs() const { return outputs_; }

  // Parameter `parameter` is consumed by a launch and its memory becomes output `output`.
  void Donate(int parameter, int output);
  // Output that takes parameter i's memory, or -1.
  int donated_output(size_t i) const { return donated_[i]; }

  // The scope that new nodes get. Nested scopes join with '/'.
  const std::string& scope() const { return *scope_; }

  // nodes()[i] is needed for the outputs (directly or through other nodes, or has a side effect).
  std::vector<bool> LiveNodes() const;

 private:
  friend class Scope;

  std::string name_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Value> parameters_;
  std::vector<std::string> parameter_names_;
  std::vector<int> donated_;
  std::vector<Value> outputs_;
  std::shared_ptr<const std::string> scope_;
};

// While it lives, new nodes of `graph` belong to scope `name` (below the current one).
class Scope {
 public:
  Scope(Graph& graph, std::string_view name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Replaces the whole scope instead of nesting: gradients work under the name of their layer.
  static Scope Exactly(Graph& graph, const std::string& name);

 private:
  struct ExactTag {};
  Scope(Graph& graph, const std::string& name, ExactTag);
  Graph& graph_;
  std::shared_ptr<const std::string> previous_;
};

// Copies the nodes of `from` that its outputs need into `to`, with `arguments` in place of its
// parameters; returns the values that stand for its outputs. The copies have the attributes `marks`
// besides their own.
std::vector<Value> Inline(const Graph& from, Graph& to, std::span<const Value> arguments,
                          const Attributes& marks = {});
// A deep copy.
std::unique_ptr<Graph> Clone(const Graph& graph);

// The graph as text for people: one node a line, layers named, regions indented.
std::string Dump(const Graph& graph);

// FLOPs of one run of the graph's live nodes: the sum of the op table's counts; a scan counts its
// body `length` times; a while with unknown trip count counts its body once, a conditional its
// largest branch. Nodes that only compute again what was known (recompute.h) do not count.
double Flops(const Graph& graph);

}  // namespace flatout::ir
