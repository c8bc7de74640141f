// StableHLO text from a Graph, in MLIR's generic form (pretty forms have no compatibility promise).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flatout/ir/graph.h"

namespace flatout::ir {

struct StablehloOptions {
  int num_replicas = 1;
};

// The module text of `graph` with @main as its only function: parameters in order, donated ones
// with tf.aliasing_output. Only live nodes are written. Verifies the graph first.
std::string ToStablehlo(const Graph& graph, const StablehloOptions& options = {});

// What an op's `write` works with. Names are unique in the module.
class StablehloWriter {
 public:
  // "%12", or "%12#1" for one of several results.
  std::string Ref(Value value) const;
  // Makes the node's only result another name of `value` (identity ops write nothing).
  void Alias(const Node& node, std::string_view ref);
  // The whole line for a node that is one StableHLO op:
  //   %id = "stablehlo.<op>"(operands) ({regions}) {attributes} : (operand types) -> result types
  // `attributes` is the text between the braces; `regions` are region texts as Region makes them.
  // An op name with a dot in it ("chlo.erf") is taken whole.
  void Emit(const Node& node, std::string_view op, std::string_view attributes = "",
            const std::vector<std::string>& regions = {});
  // The same with other operands and result types; returns the new name ("%12"; result i of several
  // is "%12#i"). For nodes that lower to several ops; finish with Emit, Bind or Alias.
  std::string EmitRaw(std::string_view op, const std::vector<std::string>& operands,
                      const std::vector<Shape>& operand_shapes,
                      const std::vector<Shape>& result_shapes, std::string_view attributes = "",
                      const std::vector<std::string>& regions = {});
  // Gives the node's results the name that EmitRaw returned (all results, in order).
  void Bind(const Node& node, std::string_view name);
  // Gives each result of the node its own name.
  void Bind(const Node& node, std::vector<std::string> refs);
  // A constant of one element repeated; returns its name.
  std::string Splat(const Shape& shape, double value);

  // "{ ^bb0(%a: T, ...): ... "stablehlo.return"(...) : ... }" over `graph`: its parameters become
  // block arguments, its outputs the operands of the terminator.
  std::string Region(const Graph& graph);
  // The same without block arguments (the branches of if and case): `arguments` are the names that
  // stand for the parameters.
  std::string Region(const Graph& graph, const std::vector<std::string>& arguments);
  // A region written by hand: `body` gets the names of the block arguments, emits with EmitRaw and
  // Splat, and returns the names and shapes of what the region returns.
  using Returns = std::vector<std::pair<std::string, Shape>>;
  std::string Region(const std::vector<Shape>& arguments,
                     const std::function<Returns(std::span<const std::string>)>& body);
  // Writes the nodes of `graph` here, `arguments` standing for its parameters; returns the names of
  // its outputs. For use within a region written by hand.
  std::vector<std::string> Inline(const Graph& graph, const std::vector<std::string>& arguments);
  // {^bb0(%a: tensor<dtype>, %b: tensor<dtype>): %c = "stablehlo.<op>"(%a, %b); return %c}.
  std::string BinaryRegion(DType dtype, std::string_view op);
  // A fresh name, "%7".
  std::string Fresh();

 private:
  friend std::string ToStablehlo(const Graph& graph, const StablehloOptions& options);
  void Body(const Graph& graph);
  void Line(std::string_view text);

  std::string out_;
  int indent_ = 2;
  int next_ = 0;
  const Node* current_ = nullptr;  // whose name and layer the lines carry as location
  std::unordered_map<const Node*, std::vector<std::string>> names_;
};

// Attribute texts: "array<i64: 1, 2>", "array<i1: true>", "dense<[[0, 1]]> : tensor<1x2xi64>".
std::string I64Array(const std::vector<int64_t>& values);
std::string BoolArray(const std::vector<int64_t>& values);
// `values` as a rows x columns matrix.
std::string I64Matrix(const std::vector<int64_t>& values, int64_t columns);
std::string I64(int64_t value);  // "3 : i64"
// "dense<...> : tensor<...>" with the elements written so that every bit survives.
std::string DenseText(const Literal& literal);
// One element: "1.000000e+00", "0x7FC00000", "true", "12".
std::string ElementText(DType dtype, double value);

}  // namespace flatout::ir
