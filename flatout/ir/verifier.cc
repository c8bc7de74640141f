#include "flatout/ir/verifier.h"

#include <algorithm>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"

namespace flatout::ir {
namespace {

std::string Place(const Graph& graph, const Node& node) {
  std::string place =
      fmt::format("graph \"{}\", node %{} {}", graph.name(), node.id(), node.name());
  if (!node.scope().empty()) place += " of layer " + node.scope();
  return place;
}

std::string ShapesText(std::span<const Shape> shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + shape.ToString();
  return "(" + text + ")";
}

void VerifyValue(const Graph& graph, Value value, const std::string& place, size_t limit) {
  if (!value) throw Internal("{}: a value is none", place);
  if (&value.graph() != &graph) {
    throw Internal("{}: a value belongs to graph \"{}\"", place, value.graph().name());
  }
  const auto id = static_cast<size_t>(value.node()->id());
  if (id >= graph.nodes().size() || graph.nodes()[id].get() != value.node()) {
    throw Internal("{}: a value's node is not in the graph", place);
  }
  if (id >= limit) throw Internal("{}: uses %{}, which is made later", place, id);
  if (value.index() < 0 || static_cast<size_t>(value.index()) >= value.node()->num_outputs()) {
    throw Internal("{}: uses result {} of %{}, which has {}", place, value.index(), id,
                   value.node()->num_outputs());
  }
}

void VerifyNode(const Graph& graph, const Node& node, size_t position) {
  const std::string place = Place(graph, node);
  if (&node.graph() != &graph || static_cast<size_t>(node.id()) != position) {
    throw Internal("{}: is at position {} of graph \"{}\"", place, position, graph.name());
  }
  for (const Value& input : node.inputs()) VerifyValue(graph, input, place, position);
  // Regions first: shape rules read them.
  for (size_t i = 0; i < node.num_regions(); ++i) {
    try {
      Verify(node.region(i));
    } catch (Error& error) {
      error.AddContext(place);
      throw;
    }
  }
  std::vector<Shape> shapes;
  try {
    shapes = node.op().infer(node);
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    throw Internal("{}: {}", place, error.what());
  }
  if (!std::equal(shapes.begin(), shapes.end(), node.shapes().begin(), node.shapes().end())) {
    throw Internal("{}: has results {}, the op's rule gives {}", place, ShapesText(node.shapes()),
                   ShapesText(shapes));
  }
}

}  // namespace

void Verify(const Graph& graph) {
  for (size_t i = 0; i < graph.nodes().size(); ++i) VerifyNode(graph, *graph.nodes()[i], i);
  const std::string place = fmt::format("graph \"{}\"", graph.name());
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    VerifyValue(graph, graph.outputs()[i], fmt::format("{}, output {}", place, i),
                graph.nodes().size());
  }
  std::vector<int> taken(graph.outputs().size(), -1);
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    const int output = graph.donated_output(i);
    if (output < 0) continue;
    if (static_cast<size_t>(output) >= taken.size()) {
      throw Internal("{}: parameter {} is donated to output {} of {}", place, i, output,
                     taken.size());
    }
    if (taken[output] >= 0) {
      throw Internal("{}: parameters {} and {} are both donated to output {}", place, taken[output],
                     i, output);
    }
    taken[output] = static_cast<int>(i);
    const Shape& from = graph.parameters()[i].shape();
    const Shape& to = graph.outputs()[output].shape();
    if (from != to) {
      throw Internal("{}: parameter {} \"{}\" {} is donated to output {}, which is {}", place, i,
                     graph.parameter_name(i), from.ToString(), output, to.ToString());
    }
  }
}

}  // namespace flatout::ir
