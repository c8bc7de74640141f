#include "flatout/train/model_graph.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "flatout/ir/graph.h"
#include "flatout/nn/context.h"
#include "flatout/nn/layer.h"

namespace flatout::train {
namespace {

using watch::tensorboard::GraphNode;

// Names of TensorFlow's nodes have no blanks and the like; TensorBoard cuts them at '/'.
std::string Clean(std::string_view name) {
  std::string clean(name);
  for (char& c : clean) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit && c != '_' && c != '.' && c != '/' && c != '-') c = '_';
  }
  return clean;
}

class Names {
 public:
  std::string Unique(const std::string& name) {
    std::string unique = name;
    for (int i = 1; !taken_.insert(unique).second; ++i) unique = fmt::format("{}_{}", name, i);
    return unique;
  }

 private:
  std::set<std::string> taken_;
};

std::vector<int64_t> Dims(const ir::Shape& shape) {
  std::vector<int64_t> dims(shape.dims.begin(), shape.dims.end());
  // The batch, and what Reshape made of it with other dimensions.
  for (int64_t& dim : dims) {
    if (dim > 0 && dim % nn::kProbeBatch == 0) dim = -1;
  }
  return dims;
}

}  // namespace

std::vector<GraphNode> ModelGraph(const nn::Model& model) {
  ir::Graph graph(model.name());
  std::vector<nn::Variable> variables;
  nn::Context context(graph, {.training = true, .policy = model.policy()}, &variables);
  std::vector<ir::Value> inputs;
  std::set<const ir::Node*> is_input;
  for (const nn::Tensor& input : model.inputs()) {
    ir::Shape shape = input.shape();
    shape.dims.insert(shape.dims.begin(), nn::kProbeBatch);
    inputs.push_back(graph.AddParameter(
        std::move(shape), inputs.empty() ? "input" : fmt::format("input_{}", inputs.size())));
    is_input.insert(inputs.back().node());
  }
  const std::vector<ir::Value> outputs = model.Call(context, inputs);

  std::map<const ir::Node*, std::string> parameter_names;
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    parameter_names[graph.parameters()[i].node()] = graph.parameter_name(i);
  }
  Names names;
  std::map<const ir::Node*, std::string> name_of;
  std::vector<GraphNode> nodes;
  const auto add_input = [&](GraphNode& node, ir::Value value) {
    const std::string& name = name_of.at(value.node());
    node.inputs.push_back(value.index() == 0 ? name : fmt::format("{}:{}", name, value.index()));
  };
  for (const auto& node : graph.nodes()) {
    GraphNode& shown = nodes.emplace_back();
    const auto parameter = parameter_names.find(node.get());
    if (is_input.contains(node.get())) {
      shown.op = "Placeholder";
      shown.name = names.Unique(Clean(parameter->second));
    } else if (parameter != parameter_names.end()) {
      shown.op = "Variable";
      shown.name = names.Unique(Clean(parameter->second));
    } else {
      shown.op = std::string(node->name());
      shown.name =
          names.Unique(Clean(node->scope().empty() ? shown.op : node->scope() + "/" + shown.op));
    }
    name_of[node.get()] = shown.name;
    for (const ir::Value& input : node->inputs()) add_input(shown, input);
    std::string types;
    for (const ir::Shape& shape : node->shapes()) {
      shown.output_shapes.push_back(Dims(shape));
      types += (types.empty() ? "" : ", ") + std::string(ir::Name(shape.dtype));
    }
    shown.attributes.emplace_back("dtype", types);
  }
  for (const ir::Value& output : outputs) {
    GraphNode& shown = nodes.emplace_back();
    shown.op = "Output";
    shown.name = names.Unique("output");
    add_input(shown, output);
    shown.output_shapes.push_back(Dims(output.shape()));
  }
  return nodes;
}

}  // namespace flatout::train
