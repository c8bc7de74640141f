// Control flow: while, scan and conditional.
//
// Bodies are graphs of their own (regions) that see nothing but their arguments. A scan is a while
// loop over slices with a fixed trip count, which is what makes it differentiable: besides the
// final carry and the stacked ys it has one hidden result per carry, the stack of values that the
// carry had when each step began. The backward scan reads those and recomputes the body; the writer
// leaves out every stack that nobody reads, so a scan without a gradient pays nothing for them.
#include <algorithm>
#include <string>

#include "flatout/base/error.h"
#include "flatout/ir/gradient.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/recompute.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

std::unique_ptr<Graph> MakeRegion(const Graph& outer, std::string name,
                                  std::span<const Shape> arguments, const Body& body) {
  auto region = std::make_unique<Graph>(std::move(name));
  const Scope scope = Scope::Exactly(*region, outer.scope());
  std::vector<Value> parameters;
  for (size_t i = 0; i < arguments.size(); ++i) {
    parameters.push_back(region->AddParameter(arguments[i], fmt::format("argument{}", i)));
  }
  region->SetOutputs(body(*region, parameters));
  for (const Value& output : region->outputs()) {
    if (!output) throw Internal("a result of the body \"{}\" is none", region->name());
    if (&output.graph() != region.get()) {
      throw Invalid(
          "a result of the body \"{}\" belongs to the graph \"{}\": bodies may use only "
          "their arguments; pass outer values in as state, constants or arguments",
          region->name(), output.graph().name());
    }
  }
  return region;
}

std::vector<Shape> ShapesOf(std::span<const Value> values) {
  std::vector<Shape> shapes;
  for (const Value& value : values) shapes.push_back(value.shape());
  return shapes;
}

std::string ShapesText(std::span<const Shape> shapes) {
  std::string text;
  for (const Shape& shape : shapes) {
    if (!text.empty()) text += ", ";
    text += shape.ToString();
  }
  return "(" + text + ")";
}

void CheckShapes(std::string_view what, std::span<const Shape> expected,
                 std::span<const Shape> found) {
  if (!std::equal(expected.begin(), expected.end(), found.begin(), found.end())) {
    throw Invalid("{} must be {}, found {}", what, ShapesText(expected), ShapesText(found));
  }
}

Shape Stacked(const Shape& shape, int64_t length) {
  Dims dims = shape.dims;
  dims.insert(dims.begin(), length);
  return shape.WithDims(dims);
}

// --- while --------------------------------------------------------------------------------------

std::vector<Shape> InferWhile(const Node& node) {
  const std::vector<Shape> state = ShapesOf(node.inputs());
  const Graph& cond = node.region(0);
  const Graph& body = node.region(1);
  const Shape pred = Shape::Scalar(DType::kPred);
  if (state.empty()) throw Invalid("a loop needs at least one state value");
  CheckShapes("arguments of the condition", state, ShapesOf(cond.parameters()));
  CheckShapes("result of the condition", {&pred, 1}, ShapesOf(cond.outputs()));
  CheckShapes("arguments of the body", state, ShapesOf(body.parameters()));
  CheckShapes("results of the body", state, ShapesOf(body.outputs()));
  return state;
}

void WriteWhile(StablehloWriter& writer, const Node& node) {
  const std::string cond = writer.Region(node.region(0));
  const std::string body = writer.Region(node.region(1));
  writer.Emit(node, "while", "", {cond, body});
}

// The trip count is not known: one trip is counted.
double WhileFlops(const Node& node) { return Flops(node.region(0)) + Flops(node.region(1)); }

// --- scan ---------------------------------------------------------------------------------------

// How a scan's inputs, results and body arguments are divided.
struct ScanParts {
  explicit ScanParts(const Node& node)
      : length(node.attrs().Int("length")),
        constants(node.attrs().Int("constants")),
        carry(node.attrs().Int("carry")),
        xs(node.inputs().size() - constants - carry),
        ys(node.region(0).outputs().size() - carry),
        reverse(node.attrs().Bool("reverse")) {}

  int64_t length;
  size_t constants, carry, xs, ys;
  bool reverse;
};

std::vector<Shape> InferScan(const Node& node) {
  const int64_t length = node.attrs().Int("length");
  const size_t constants = node.attrs().Int("constants");
  const size_t carry = node.attrs().Int("carry");
  const Graph& body = node.region(0);
  if (length < 1) throw Invalid("a scan needs a length of at least 1, found {}", length);
  std::vector<Shape> expected;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    Shape shape = node.input(i).shape();
    if (i >= constants + carry) {
      if (shape.rank() == 0 || shape.dims[0] != length) {
        throw Invalid("a scan of length {} wants xs with that leading dimension, found {}", length,
                      shape.ToString());
      }
      shape.dims.erase(shape.dims.begin());
    }
    expected.push_back(shape);
  }
  CheckShapes("arguments of the body", expected, ShapesOf(body.parameters()));
  const std::span<const Shape> carries(expected.data() + constants, carry);
  const std::vector<Shape> results = ShapesOf(body.outputs());
  CheckShapes("carry that the body returns", carries,
              std::span<const Shape>(results.data(), std::min(results.size(), carry)));
  std::vector<Shape> shapes(carries.begin(), carries.end());
  for (size_t i = carry; i < results.size(); ++i) shapes.push_back(Stacked(results[i], length));
  for (const Shape& shape : carries) shapes.push_back(Stacked(shape, length));
  return shapes;
}

// Which results of the node anything live reads.
std::vector<bool> UsedResults(const Node& node) {
  std::vector<bool> used(node.num_outputs(), false);
  const Graph& graph = node.graph();
  const std::vector<bool> live = graph.LiveNodes();
  const auto mark = [&](const Value& value) {
    if (value.node() == &node) used[value.index()] = true;
  };
  for (size_t i = node.id() + 1; i < graph.nodes().size(); ++i) {
    if (!live[i]) continue;
    for (const Value& input : graph.nodes()[i]->inputs()) mark(input);
  }
  for (const Value& output : graph.outputs()) mark(output);
  return used;
}

// A stablehlo.while over (step, constants, carry, xs, stacks that are read).
void WriteScan(StablehloWriter& writer, const Node& node) {
  using Names = std::vector<std::string>;
  const ScanParts parts(node);
  const Graph& body = node.region(0);
  const Shape index = Shape::Scalar(DType::kI32);
  const std::vector<bool> used = UsedResults(node);
  std::vector<size_t> stacks;  // results that are stacks and read
  for (size_t i = parts.carry; i < node.num_outputs(); ++i) {
    if (used[i]) stacks.push_back(i);
  }

  Names state = {writer.Splat(index, 0)};
  std::vector<Shape> shapes = {index};
  for (const Value& input : node.inputs()) {
    state.push_back(writer.Ref(input));
    shapes.push_back(input.shape());
  }
  for (size_t stack : stacks) {
    const Shape& shape = node.shape(static_cast<int>(stack));
    const Shape scalar = Shape::Scalar(shape.dtype);
    state.push_back(writer.EmitRaw("broadcast_in_dim", {writer.Splat(scalar, 0)}, {scalar}, {shape},
                                   "broadcast_dimensions = " + I64Array({})));
    shapes.push_back(shape);
  }
  const size_t first_carry = 1 + parts.constants;
  const size_t first_x = first_carry + parts.carry;
  const size_t first_stack = first_x + parts.xs;

  const auto start_of = [&](const std::string& at, const Shape& shape) {
    Names start(shape.dims.size(), at);
    const std::string zero = shape.rank() > 1 ? writer.Splat(index, 0) : "";
    for (size_t i = 1; i < start.size(); ++i) start[i] = zero;
    return start;
  };
  const std::string cond =
      writer.Region(shapes, [&](std::span<const std::string> names) -> StablehloWriter::Returns {
        const Shape pred = Shape::Scalar(DType::kPred);
        const std::string end = writer.Splat(index, static_cast<double>(parts.length));
        return {{writer.EmitRaw("compare", {names[0], end}, {index, index}, {pred},
                                "comparison_direction = #stablehlo<comparison_direction LT>, "
                                "compare_type = #stablehlo<comparison_type SIGNED>"),
                 pred}};
      });
  const std::string step =
      writer.Region(shapes, [&](std::span<const std::string> names) -> StablehloWriter::Returns {
        std::string at = names[0];
        if (parts.reverse) {
          const std::string last = writer.Splat(index, static_cast<double>(parts.length - 1));
          at = writer.EmitRaw("subtract", {last, at}, {index, index}, {index});
        }
        Names arguments(names.begin() + 1, names.begin() + first_x);
        for (size_t i = first_x; i < first_stack; ++i) {
          const Shape& row = body.parameters()[i - 1].shape();
          const Shape slice = Stacked(row, 1);
          Names operands = start_of(at, shapes[i]);
          operands.insert(operands.begin(), names[i]);
          std::vector<Shape> types(operands.size(), index);
          types[0] = shapes[i];
          const std::string cut = writer.EmitRaw("dynamic_slice", operands, types, {slice},
                                                 "slice_sizes = " + I64Array(slice.dims));
          arguments.push_back(writer.EmitRaw("reshape", {cut}, {slice}, {row}));
        }
        const Names results = writer.Inline(body, arguments);
        StablehloWriter::Returns next;
        const std::string one = writer.Splat(index, 1);
        next.emplace_back(writer.EmitRaw("add", {names[0], one}, {index, index}, {index}), index);
        for (size_t i = 1; i < first_stack; ++i) {
          const bool is_carry = i >= first_carry && i < first_x;
          next.emplace_back(is_carry ? results[i - first_carry] : names[i], shapes[i]);
        }
        for (size_t k = 0; k < stacks.size(); ++k) {
          const size_t y = stacks[k];
          // A saved carry is what the step began with.
          const std::string& value = y < parts.carry + parts.ys
                                         ? results[y]
                                         : names[first_carry + y - parts.carry - parts.ys];
          const Shape& shape = shapes[first_stack + k];
          Shape row = shape;
          row.dims.erase(row.dims.begin());
          const Shape slice = Stacked(row, 1);
          Names operands = start_of(at, shape);
          const std::string update = writer.EmitRaw("reshape", {value}, {row}, {slice});
          operands.insert(operands.begin(), {names[first_stack + k], update});
          std::vector<Shape> types(operands.size(), index);
          types[0] = shape;
          types[1] = slice;
          next.emplace_back(writer.EmitRaw("dynamic_update_slice", operands, types, {shape}),
                            shape);
        }
        return next;
      });
  const std::string name = writer.EmitRaw("while", state, shapes, shapes, "", {cond, step});
  const auto result = [&](size_t i) {
    return shapes.size() == 1 ? name : fmt::format("{}#{}", name, i);
  };
  Names refs(node.num_outputs());
  for (size_t i = 0; i < parts.carry; ++i) refs[i] = result(first_carry + i);
  for (size_t k = 0; k < stacks.size(); ++k) refs[stacks[k]] = result(first_stack + k);
  writer.Bind(node, refs);
}

double ScanFlops(const Node& node) {
  return static_cast<double>(node.attrs().Int("length")) * Flops(node.region(0));
}

Node& AddScan(Graph& graph, int64_t length, std::span<const Value> constants,
              std::span<const Value> carry, std::span<const Value> xs, std::unique_ptr<Graph> body,
              bool reverse) {
  static const OpDef* const op = FindOp("scan");
  std::vector<Value> inputs(constants.begin(), constants.end());
  inputs.insert(inputs.end(), carry.begin(), carry.end());
  inputs.insert(inputs.end(), xs.begin(), xs.end());
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(std::move(body));
  return graph.AddNode(*op, std::move(inputs),
                       {{"length", length},
                        {"constants", static_cast<int64_t>(constants.size())},
                        {"carry", static_cast<int64_t>(carry.size())},
                        {"reverse", reverse}},
                       std::move(regions));
}

// The gradient of one application of `body` by each of its arguments, given those by its results
// (none: zero). What it needs of the body is computed once more; those nodes are marked, since no
// model asks for that work: Flops leaves them out.
std::vector<Value> BodyGradient(const Graph& body, Graph& graph, std::span<const Value> arguments,
                                std::span<const Value> cotangents) {
  const std::vector<Value> results = Inline(body, graph, arguments, {{kRecomputed, true}});
  std::vector<Value> outputs, dy;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!cotangents[i]) continue;
    outputs.push_back(results[i]);
    dy.push_back(cotangents[i]);
  }
  std::vector<Value> wanted, gradients(arguments.size());
  std::vector<size_t> places;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!IsFloat(arguments[i].dtype())) continue;
    wanted.push_back(arguments[i]);
    places.push_back(i);
  }
  if (outputs.empty() || wanted.empty()) return gradients;
  const std::vector<Value> found = VectorJacobianProduct(outputs, dy, wanted);
  for (size_t i = 0; i < places.size(); ++i) gradients[places[i]] = found[i];
  return gradients;
}

// Which arguments of `body` the results that have a cotangent depend on, differentiably.
std::vector<bool> Reached(const Graph& body, const std::vector<bool>& has_cotangent) {
  Graph probe("probe");
  std::vector<Value> arguments, cotangents(has_cotangent.size());
  for (const Value& parameter : body.parameters()) {
    arguments.push_back(probe.AddParameter(parameter.shape(), ""));
  }
  for (size_t i = 0; i < has_cotangent.size(); ++i) {
    if (has_cotangent[i]) cotangents[i] = probe.AddParameter(body.outputs()[i].shape(), "");
  }
  std::vector<bool> reached;
  for (const Value& gradient : BodyGradient(body, probe, arguments, cotangents)) {
    reached.push_back(static_cast<bool>(gradient));
  }
  return reached;
}

// Backward scan, in the other direction: its carry is the gradient by the carry and the sums of the
// gradients by the constants; its xs are the forward xs, the saved carries and the gradients by the
// ys and (in a gradient of a gradient) by the saved carries; its ys are the gradients by the xs.
std::vector<Value> ScanGradient(Node& node, std::span<const Value> dy) {
  const ScanParts parts(node);
  const Graph& body = node.region(0);
  Graph& graph = node.graph();
  const size_t first_y = parts.carry, first_saved = parts.carry + parts.ys;

  // A gradient may reach any float carry at some step, whichever results it starts from.
  std::vector<bool> has_cotangent;
  for (size_t i = 0; i < parts.carry; ++i) {
    has_cotangent.push_back(IsFloat(body.outputs()[i].dtype()));
  }
  for (size_t i = 0; i < parts.ys; ++i) {
    has_cotangent.push_back(static_cast<bool>(dy[first_y + i]));
  }
  const std::vector<bool> reached = Reached(body, has_cotangent);

  const auto inputs = node.inputs();
  const auto constants = inputs.first(parts.constants);
  std::vector<Value> carry, xs(inputs.begin() + parts.constants + parts.carry, inputs.end());
  for (size_t i = 0; i < parts.carry; ++i) {
    if (has_cotangent[i]) carry.push_back(OrZeros(node, dy, static_cast<int>(i)));
  }
  // Sums over all steps: in float32 where the constant, a recurrent kernel maybe, has 16 bits.
  for (size_t i = 0; i < parts.constants; ++i) {
    if (!reached[i]) continue;
    const bool low = IsLowPrecision(constants[i].dtype());
    carry.push_back(ZerosLike(low ? Convert(constants[i], DType::kF32) : constants[i]));
  }
  for (size_t i = 0; i < parts.carry; ++i) {
    xs.push_back(node.output(static_cast<int>(first_saved + i)));
  }
  for (size_t i = first_y; i < node.num_outputs(); ++i) {
    if (dy[i]) xs.push_back(dy[i]);
  }

  std::vector<Shape> arguments = ShapesOf(constants);
  for (const Value& value : carry) arguments.push_back(value.shape());
  for (const Value& value : xs) {
    Shape row = value.shape();
    row.dims.erase(row.dims.begin());
    arguments.push_back(row);
  }

  const auto step = [&](Graph& back, std::span<const Value> in) -> std::vector<Value> {
    const auto in_constants = in.first(parts.constants);
    const auto in_carry = in.subspan(parts.constants, carry.size());
    const auto in_xs = in.subspan(parts.constants + carry.size());
    std::vector<Value> forward(in_constants.begin(), in_constants.end());
    const auto saved = in_xs.subspan(parts.xs, parts.carry);
    forward.insert(forward.end(), saved.begin(), saved.end());
    forward.insert(forward.end(), in_xs.begin(), in_xs.begin() + parts.xs);
    size_t next_carry = 0, next_x = parts.xs + parts.carry;
    std::vector<Value> cotangents(parts.carry + parts.ys);
    for (size_t i = 0; i < parts.carry; ++i) {
      if (has_cotangent[i]) cotangents[i] = in_carry[next_carry++];
    }
    for (size_t i = 0; i < parts.ys; ++i) {
      if (dy[first_y + i]) cotangents[first_y + i] = in_xs[next_x++];
    }
    const std::vector<Value> gradients = [&] {
      // Inlined nodes bring their own scopes along.
      const Scope none = Scope::Exactly(back, "");
      return BodyGradient(body, back, forward, cotangents);
    }();
    std::vector<Value> out;
    for (size_t i = 0; i < parts.carry; ++i) {
      const Value extra = dy[first_saved + i] ? in_xs[next_x++] : Value();
      if (!has_cotangent[i]) continue;
      Value gradient = gradients[parts.constants + i];
      if (extra) gradient = gradient ? Add(gradient, extra) : extra;
      out.push_back(gradient ? gradient : ZerosLike(forward[parts.constants + i]));
    }
    for (size_t i = 0; i < parts.constants; ++i) {
      if (!reached[i]) continue;
      const Value sum = in_carry[next_carry++];
      out.push_back(Add(sum, Convert(gradients[i], sum.dtype())));
    }
    for (size_t i = 0; i < parts.xs; ++i) {
      const Value& gradient = gradients[parts.constants + parts.carry + i];
      if (gradient) out.push_back(gradient);
    }
    return out;
  };
  Node& back =
      AddScan(graph, parts.length, constants, carry, xs,
              MakeRegion(graph, body.name() + "_gradient", arguments, step), !parts.reverse);

  std::vector<Value> gradients(inputs.size());
  int next = 0;
  for (size_t i = 0; i < parts.carry; ++i) {
    if (has_cotangent[i]) gradients[parts.constants + i] = back.output(next++);
  }
  for (size_t i = 0; i < parts.constants; ++i) {
    if (reached[i]) gradients[i] = Convert(back.output(next++), constants[i].dtype());
  }
  for (size_t i = parts.constants + parts.carry; i < inputs.size(); ++i) {
    if (reached[i]) gradients[i] = back.output(next++);
  }
  return gradients;
}

// --- conditional --------------------------------------------------------------------------------

std::vector<Shape> InferConditional(const Node& node) {
  const Shape& pred = node.input(0).shape();
  if (pred != Shape::Scalar(DType::kPred)) {
    throw Invalid("the condition must be a pred scalar, found {}", pred.ToString());
  }
  const std::vector<Shape> arguments = ShapesOf(node.inputs().subspan(1));
  const std::vector<Shape> results = ShapesOf(node.region(0).outputs());
  if (results.empty()) throw Invalid("the branches must return something");
  CheckShapes("arguments of the first branch", arguments, ShapesOf(node.region(0).parameters()));
  CheckShapes("arguments of the second branch", arguments, ShapesOf(node.region(1).parameters()));
  CheckShapes("results of the second branch", results, ShapesOf(node.region(1).outputs()));
  return results;
}

void WriteConditional(StablehloWriter& writer, const Node& node) {
  std::vector<std::string> arguments;
  for (const Value& input : node.inputs().subspan(1)) arguments.push_back(writer.Ref(input));
  const std::string on_true = writer.Region(node.region(0), arguments);
  const std::string on_false = writer.Region(node.region(1), arguments);
  writer.Bind(
      node, writer.EmitRaw("if", {writer.Ref(node.input(0))}, {node.input(0).shape()},
                           {node.shapes().begin(), node.shapes().end()}, "", {on_true, on_false}));
}

double ConditionalFlops(const Node& node) {
  return std::max(Flops(node.region(0)), Flops(node.region(1)));
}

Node& AddConditional(Value pred, std::span<const Value> arguments, std::unique_ptr<Graph> on_true,
                     std::unique_ptr<Graph> on_false) {
  static const OpDef* const op = FindOp("conditional");
  std::vector<Value> inputs = {pred};
  inputs.insert(inputs.end(), arguments.begin(), arguments.end());
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(std::move(on_true));
  regions.push_back(std::move(on_false));
  return pred.graph().AddNode(*op, std::move(inputs), {}, std::move(regions));
}

// A conditional over the gradients of the branches.
std::vector<Value> ConditionalGradient(Node& node, std::span<const Value> dy) {
  const auto inputs = node.inputs().subspan(1);
  std::vector<bool> has_cotangent;
  std::vector<Value> arguments(inputs.begin(), inputs.end());
  for (const Value& value : dy) {
    has_cotangent.push_back(static_cast<bool>(value));
    if (value) arguments.push_back(value);
  }
  const std::vector<bool> first = Reached(node.region(0), has_cotangent);
  const std::vector<bool> second = Reached(node.region(1), has_cotangent);
  std::vector<Value> gradients(node.inputs().size());
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i) any = any || first[i] || second[i];
  if (!any) return gradients;
  const auto branch = [&](const Graph& body) {
    return MakeRegion(node.graph(), body.name() + "_gradient", ShapesOf(arguments),
                      [&](Graph& back, std::span<const Value> in) {
                        std::vector<Value> cotangents(dy.size());
                        size_t next = inputs.size();
                        for (size_t i = 0; i < dy.size(); ++i) {
                          if (dy[i]) cotangents[i] = in[next++];
                        }
                        const std::vector<Value> found = [&] {
                          const Scope none = Scope::Exactly(back, "");
                          return BodyGradient(body, back, in.first(inputs.size()), cotangents);
                        }();
                        std::vector<Value> out;
                        for (size_t i = 0; i < inputs.size(); ++i) {
                          if (!first[i] && !second[i]) continue;
                          out.push_back(found[i] ? found[i] : ZerosLike(in[i]));
                        }
                        return out;
                      });
  };
  Node& back =
      AddConditional(node.input(0), arguments, branch(node.region(0)), branch(node.region(1)));
  int next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (first[i] || second[i]) gradients[i + 1] = back.output(next++);
  }
  return gradients;
}

const OpDef kWhile = {
    .name = "while",
    .infer = InferWhile,
    .write = WriteWhile,
    .differentiability = Differentiability::kNone,
    .flops = WhileFlops,
};

const OpDef kScan = {
    .name = "scan",
    .infer = InferScan,
    .write = WriteScan,
    .differentiability = Differentiability::kRule,
    .gradient = ScanGradient,
    .flops = ScanFlops,
};

const OpDef kConditional = {
    .name = "conditional",
    .infer = InferConditional,
    .write = WriteConditional,
    .differentiability = Differentiability::kRule,
    .gradient = ConditionalGradient,
    .flops = ConditionalFlops,
};

std::vector<Value> Results(Node& node, size_t count) {
  std::vector<Value> results;
  for (size_t i = 0; i < count; ++i) results.push_back(node.output(static_cast<int>(i)));
  return results;
}

}  // namespace

std::span<const OpDef* const> ControlOps() {
  static const OpDef* const table[] = {&kWhile, &kScan, &kConditional};
  return table;
}

std::vector<Value> While(std::span<const Value> state, const Body& cond, const Body& body) {
  if (state.empty()) throw Invalid("a loop needs at least one state value");
  Graph& graph = state[0].graph();
  const std::vector<Shape> shapes = ShapesOf(state);
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(MakeRegion(graph, "cond", shapes, cond));
  regions.push_back(MakeRegion(graph, "body", shapes, body));
  Node& node = graph.AddNode(kWhile, {state.begin(), state.end()}, {}, std::move(regions));
  return Results(node, node.num_outputs());
}

std::vector<Value> Scan(Graph& graph, int64_t length, std::span<const Value> constants,
                        std::span<const Value> carry, std::span<const Value> xs, const Body& body,
                        bool reverse) {
  std::vector<Shape> arguments = ShapesOf(constants);
  for (const Value& value : carry) arguments.push_back(value.shape());
  for (const Value& x : xs) {
    Shape row = x.shape();
    if (row.rank() == 0) throw Invalid("xs of a scan need a leading dimension, found a scalar");
    row.dims.erase(row.dims.begin());
    arguments.push_back(row);
  }
  Node& node = AddScan(graph, length, constants, carry, xs,
                       MakeRegion(graph, "body", arguments, body), reverse);
  return Results(node, node.num_outputs() - carry.size());
}

std::vector<Value> Conditional(Value pred, std::span<const Value> arguments, const Body& on_true,
                               const Body& on_false) {
  const std::vector<Shape> shapes = ShapesOf(arguments);
  Node& node = AddConditional(pred, arguments, MakeRegion(pred.graph(), "on_true", shapes, on_true),
                              MakeRegion(pred.graph(), "on_false", shapes, on_false));
  return Results(node, node.num_outputs());
}

}  // namespace flatout::ir
