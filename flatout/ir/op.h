// The op table: one row per operation, which holds everything Flatout knows of it.
//
// A new op is one row and one builder: write both in one file of flatout/ir/ops/, declare the
// builder in ops.h, and name the row in that file's table function (op.cc lists the tables). The
// tests in tests/ops_test.cc walk the whole table and fail for a row without cases.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/ir/graph.h"

namespace flatout::ir {

class StablehloWriter;

// What the gradient does at this op.
enum class Differentiability {
  kRule,  // `gradient` says how
  kZero,  // the derivative is zero wherever it exists (floor, compare, iota, integers)
  kNone,  // asking for it is an error (while with a trip count unknown before it runs, custom
          // calls)
};

struct OpDef {
  std::string_view name;
  // Shapes of the results, from node.inputs(), attrs and regions. Throws Invalid(...) with both
  // shapes when they do not fit; AddNode puts op name and scope in front.
  std::vector<Shape> (*infer)(const Node& node);
  // Writes the node as StableHLO (stablehlo.h).
  void (*write)(StablehloWriter& writer, const Node& node);
  Differentiability differentiability = Differentiability::kZero;
  // Given the gradient of the loss by each result (none where nothing depends on it), builds the
  // gradient by each input in node.graph(); none means zero.
  std::vector<Value> (*gradient)(Node& node, std::span<const Value> dy) = nullptr;
  // Floating-point operations of one execution; nullptr counts nothing (data movement).
  double (*flops)(const Node& node) = nullptr;
  // Kept even when nobody uses its results.
  bool has_side_effect = false;
};

// Every row, in table order; and the row called `name`, or nullptr.
std::span<const OpDef* const> OpTable();
const OpDef* FindOp(std::string_view name);

// One table per file of flatout/ir/ops/; op.cc joins them.
std::span<const OpDef* const> BasicOps();        // basic.cc: parameter, constant, iota, barrier...
std::span<const OpDef* const> ElementwiseOps();  // elementwise.cc
std::span<const OpDef* const> ShapeOps();        // shape_ops.cc: broadcast to reverse
std::span<const OpDef* const> ReduceOps();       // reduce.cc: reduce, argmax, cumulative
std::span<const OpDef* const> DotOps();          // dot.cc
std::span<const OpDef* const> ConvolutionOps();  // convolution.cc
std::span<const OpDef* const> WindowOps();       // window.cc: reduce_window, select_and_scatter
std::span<const OpDef* const> IndexOps();        // index.cc: gather, scatter, dynamic slices
std::span<const OpDef* const> SortOps();         // sort.cc
std::span<const OpDef* const> ControlOps();      // control.cc: while, scan, conditional
std::span<const OpDef* const> CollectiveOps();   // collective.cc
std::span<const OpDef* const> CustomOps();       // custom.cc: custom_call
std::span<const OpDef* const> CompositeOps();    // composite.cc: composite

// dy[i], or zeros of the result's shape.
Value OrZeros(Node& node, std::span<const Value> dy, int i);

}  // namespace flatout::ir
