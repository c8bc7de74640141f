#include "flatout/nn/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <set>

#include "flatout/base/text.h"
#include "flatout/ir/graph.h"
#include "flatout/nn/layers/preprocessing.h"

namespace flatout::nn {

// One use of a layer, or a model input (then `layer` is empty).
struct CallNode {
  LayerPtr layer;
  std::vector<Tensor> inputs;
  std::vector<ir::Shape> shapes;  // of the results, without the batch
  std::string input_name;
  int64_t number = 0;  // in order of making: inputs of a node have smaller numbers
};

namespace {

int64_t NextNumber() {
  static std::atomic<int64_t> next{0};
  return next++;
}

ir::Shape WithBatch(const ir::Shape& shape, int64_t batch) {
  ir::Dims dims = shape.dims;
  dims.insert(dims.begin(), batch);
  return {shape.dtype, std::move(dims)};
}

// Runs `body`, a trace with the probe's batch; in its error messages the batch reads "None".
template <typename Body>
auto Probe(Body&& body) {
  try {
    return body();
  } catch (const UserError& error) {
    const std::string number = fmt::format("{}", kProbeBatch);
    const auto renamed = [&](std::string text) {
      for (size_t at = text.find(number); at != std::string::npos; at = text.find(number, at)) {
        text.replace(at, number.size(), "None");
      }
      return text;
    };
    UserError clean(error.code(), renamed(error.message()));
    clean.set_exit_code(error.exit_code());
    for (auto it = error.context().rbegin(); it != error.context().rend(); ++it) {
      clean.AddContext(renamed(*it));
    }
    throw clean;
  }
}

std::vector<ir::Shape> InferShapes(const Layer& layer, const std::vector<Tensor>& inputs) {
  return Probe([&] {
    ir::Graph graph("probe");
    std::vector<Variable> variables;
    Context context(graph, {}, &variables);
    std::vector<ir::Value> values;
    for (const Tensor& input : inputs) {
      if (input.node == nullptr)
        throw Invalid("layer {} was called on an empty Tensor", layer.type());
      values.push_back(graph.AddParameter(WithBatch(input.shape(), kProbeBatch), "input"));
    }
    std::vector<ir::Shape> shapes;
    for (const ir::Value output : context.Call(layer, values)) {
      if (output.rank() == 0 || output.dim(0) != kProbeBatch) {
        throw Invalid("layer {}: {} changes the first dimension, which is the batch: result {}",
                      layer.name().empty() ? SnakeCase(layer.type()) : layer.name(), layer.type(),
                      output.shape().ToString());
      }
      ir::Shape shape = output.shape();
      shape.dims.erase(shape.dims.begin());
      shapes.push_back(std::move(shape));
    }
    return shapes;
  });
}

// Makes names as Keras does: "dense", "dense_1", "dense_2".
class Namer {
 public:
  void Reserve(const std::string& name) { taken_.insert(name); }
  std::string Make(std::string_view type) {
    const std::string base = SnakeCase(type);
    while (true) {
      const int64_t number = counts_[base]++;
      std::string name = number == 0 ? base : fmt::format("{}_{}", base, number);
      if (taken_.insert(name).second) return name;
    }
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int64_t> counts_;
};

}  // namespace

const ir::Shape& Tensor::shape() const {
  if (node == nullptr) throw Invalid("an empty Tensor has no shape");
  return node->shapes[static_cast<size_t>(index)];
}

Tensor Input(ir::Dims shape, ir::DType dtype, std::string name) {
  for (const int64_t dim : shape) {
    if (dim <= 0) {
      throw Invalid(
          "input {} has the shape {} (without the batch); every dimension must be "
          "positive",
          name, ir::DimsToString(shape));
    }
  }
  auto node = std::make_shared<CallNode>();
  node->shapes = {ir::Shape(dtype, std::move(shape))};
  node->input_name = std::move(name);
  node->number = NextNumber();
  return {.node = std::move(node), .index = 0};
}

Tensor LayerPtr::operator()(const Tensor& input) const {
  return (*this)(std::vector<Tensor>{input});
}

Tensor LayerPtr::operator()(const std::vector<Tensor>& inputs) const {
  auto node = std::make_shared<CallNode>();
  node->layer = *this;
  node->inputs = inputs;
  node->shapes = InferShapes(**this, inputs);
  node->number = NextNumber();
  return {.node = std::move(node), .index = 0};
}

Model::Model(std::vector<Tensor> inputs, std::vector<Tensor> outputs, std::string name)
    : name_(std::move(name)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  if (outputs_.empty()) throw Invalid("model {} has no outputs", name_);
  std::set<const CallNode*> seen;
  const std::function<void(const std::shared_ptr<const CallNode>&)> visit =
      [&](const std::shared_ptr<const CallNode>& node) {
        if (!seen.insert(node.get()).second) return;
        for (const Tensor& input : node->inputs) visit(input.node);
        order_.push_back(node);
      };
  for (const Tensor& output : outputs_) {
    if (output.node == nullptr) throw Invalid("model {}: an output is an empty Tensor", name_);
    visit(output.node);
  }
  std::sort(order_.begin(), order_.end(),
            [](const auto& a, const auto& b) { return a->number < b->number; });

  std::set<const CallNode*> declared;
  for (const Tensor& input : inputs_) {
    const std::string& label = input.node == nullptr ? name_ : input.node->input_name;
    if (input.node == nullptr || input.node->layer) {
      throw Invalid("model {}: inputs must come from Input()", name_);
    }
    if (!declared.insert(input.node.get()).second) {
      throw Invalid("model {}: the input \"{}\" is listed twice", name_, label);
    }
    if (!seen.contains(input.node.get())) {
      throw Invalid("model {}: nothing uses the input \"{}\"; leave it out or connect it", name_,
                    label);
    }
  }
  Namer namer;
  std::set<const Layer*> known;
  for (const auto& node : order_) {
    if (!node->layer) {
      if (!declared.contains(node.get())) {
        throw Invalid(
            "model {}: the outputs need the input \"{}\", which is not among the "
            "model's inputs",
            name_, node->input_name);
      }
      continue;
    }
    if (!known.insert(node->layer.get()).second) continue;
    for (const LayerPtr& other : layers_) {
      if (!other->name().empty() && other->name() == node->layer->name()) {
        throw Invalid(
            "model {}: two layers are called \"{}\" ({} and {}); names must differ, "
            "because weights go by them",
            name_, other->name(), other->type(), node->layer->type());
      }
    }
    if (!node->layer->name().empty()) namer.Reserve(node->layer->name());
    layers_.push_back(node->layer);
  }
  for (const LayerPtr& layer : layers_) {
    if (layer->name().empty()) layer->set_name(namer.Make(layer->type()));
  }

  float32_ = OutputNodes();
  Trace();
  head_calls_ = CountHeadCalls();
}

void Model::SetPolicy(const Policy& policy) {
  policy_ = policy;
  Trace();
}

std::set<const CallNode*> Model::OutputNodes() const {
  // Layers that hand on what the layer before them gives, one element or row at a time.
  static const std::set<std::string_view> kHandOn = {"Activation", "ActivityRegularization",
                                                     "ELU",        "Flatten",
                                                     "Identity",   "LeakyReLU",
                                                     "Permute",    "ReLU",
                                                     "Reshape",    "Softmax"};
  std::set<const CallNode*> found;
  for (const Tensor& output : outputs_) {
    const CallNode* node = output.node.get();
    while (node->layer && found.insert(node).second && kHandOn.contains(node->layer->type())) {
      node = node->inputs[0].node.get();
    }
  }
  return found;
}

// Variables and states, and errors that only a trace of the whole (in training) can show.
void Model::Trace() {
  Probe([&] {
    ir::Graph graph("probe");
    std::vector<Variable> variables;
    Context context(graph, {.training = true, .policy = policy_}, &variables);
    std::vector<ir::Value> values;
    for (const Tensor& input : inputs_) {
      values.push_back(
          graph.AddParameter(WithBatch(input.shape(), kProbeBatch), input.node->input_name));
    }
    Call(context, values);
    variables_ = std::move(variables);
    computed_in_ = context.computed_in();
  });
}

Model Model::Sequential(Tensor input, std::vector<LayerPtr> layers, std::string name) {
  if (layers.empty()) throw Invalid("model {} has no layers", name);
  // Names first: then even the errors of the chain's own shape inference carry them.
  Namer namer;
  for (const LayerPtr& layer : layers) {
    if (layer == nullptr) throw Invalid("model {}: a layer is empty", name);
    if (!layer->name().empty()) namer.Reserve(layer->name());
  }
  Tensor x = input;
  for (const LayerPtr& layer : layers) {
    if (layer->name().empty()) layer->set_name(namer.Make(layer->type()));
    x = layer(x);
  }
  return Model({std::move(input)}, {std::move(x)}, std::move(name));
}

namespace {

Model FromLayers(const Config& table, const std::vector<std::string>& input_names,
                 const std::vector<ir::Shape>& input_shapes) {
  Config layers;
  std::string name;
  std::vector<std::string> output_names;
  FieldReader reader(table, "model");
  reader.Required("layers", layers);
  reader("name", name);
  reader("outputs", output_names);
  reader.Finish();
  if (!layers.is_array()) {
    throw layers.Complain(fmt::format("expected a list of layers, found {}", layers.Describe()));
  }
  if (layers.items().empty()) throw layers.Complain("the list of layers is empty");

  std::map<std::string, Tensor> by_name;
  std::vector<std::string> names;  // in order, for messages
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < input_names.size(); ++i) {
    inputs.push_back(Input(input_shapes[i].dims, input_shapes[i].dtype, input_names[i]));
    by_name[input_names[i]] = inputs.back();
    names.push_back(input_names[i]);
  }
  // Given names are taken before any is made.
  Namer namer;
  for (const Config& item : layers.items()) {
    if (!item.is_table()) continue;
    if (const Config* given = item.Find("name")) namer.Reserve(given->AsString());
  }
  const auto find = [&](const Config& where, const std::string& wanted) -> const Tensor& {
    const auto found = by_name.find(wanted);
    if (found == by_name.end()) {
      throw where.Complain(
          fmt::format("no earlier layer or model input is called \"{}\"{} (so far: {})", wanted,
                      DidYouMean(wanted, names), fmt::join(names, ", ")));
    }
    return found->second;
  };

  std::optional<Tensor> last;
  if (inputs.size() == 1) last = inputs[0];
  bool plain = inputs.size() == 1;
  for (const Config& item : layers.items()) {
    if (!item.is_table()) {
      throw item.Complain(fmt::format(
          "expected a layer such as {{class = \"Dense\", units = 10}}, found {}", item.Describe()));
    }
    LayerPtr layer = LayerFromConfig(WithoutKey(item, "inputs"));
    if (layer->name().empty()) layer->set_name(namer.Make(layer->type()));
    if (by_name.contains(layer->name())) {
      throw item.Complain(fmt::format(
          "the name \"{}\" is already taken by an earlier layer or input", layer->name()));
    }
    std::vector<Tensor> arguments;
    if (const Config* given = item.Find("inputs")) {
      plain = false;
      std::vector<std::string> wanted;
      ReadConfig(*given, wanted);
      if (wanted.empty()) throw given->Complain("a layer needs at least one input");
      for (const std::string& one : wanted) arguments.push_back(find(*given, one));
    } else if (last) {
      arguments.push_back(*last);
    } else {
      throw item.Complain(fmt::format(
          "the first layer must say which of the model's inputs it takes, as in inputs = [\"{}\"] "
          "(inputs: {})",
          input_names.empty() ? "x" : input_names[0], fmt::join(input_names, ", ")));
    }
    Tensor result = WithContext(item.place().ToString(), [&] { return layer(arguments); });
    by_name[layer->name()] = result;
    names.push_back(layer->name());
    last = std::move(result);
  }
  std::vector<Tensor> outputs;
  if (output_names.empty()) {
    outputs.push_back(*last);
  } else {
    const Config& where = *table.Find("outputs");
    for (const std::string& one : output_names) outputs.push_back(find(where, one));
  }
  if (name.empty()) name = plain ? "sequential" : "functional";
  return WithContext(table.place().ToString(),
                     [&] { return Model(std::move(inputs), std::move(outputs), std::move(name)); });
}

}  // namespace

Model Model::FromConfig(const Config& table, const std::vector<std::string>& input_names,
                        const std::vector<ir::Shape>& input_shapes) {
  if (!table.is_table()) {
    throw table.Complain(
        fmt::format("expected a model: {{builtin = \"cnn\"}} or {{layers = [...]}}, found {}",
                    table.Describe()));
  }
  if (input_names.size() != input_shapes.size()) {
    throw Internal("{} input names, {} shapes", input_names.size(), input_shapes.size());
  }
  const Config* builtin = table.Find("builtin");
  if (builtin == nullptr) {
    if (table.Find("layers") == nullptr) {
      std::vector<std::string> names;
      for (const BuiltinModel& model : BuiltinModels()) names.emplace_back(model.name);
      throw table.Complain(
          fmt::format("a model needs \"builtin\" (one of {}) or \"layers\" (a list of layers)",
                      fmt::join(names, ", ")));
    }
    return FromLayers(table, input_names, input_shapes);
  }
  // A number of layers is an option of some built-in models.
  if (const Config* layers = table.Find("layers"); layers != nullptr && layers->is_array()) {
    throw layers->Complain("a model has \"builtin\" or \"layers\", not both");
  }
  std::vector<std::string> names;
  for (const BuiltinModel& model : BuiltinModels()) {
    if (model.name == builtin->AsString()) {
      return WithContext(table.place().ToString(), [&] {
        return model.make(WithoutKey(table, "builtin"), input_names, input_shapes);
      });
    }
    names.emplace_back(model.name);
  }
  throw builtin->Complain(fmt::format("no model is called \"{}\"{} (known: {})",
                                      builtin->AsString(), DidYouMean(builtin->AsString(), names),
                                      fmt::join(names, ", ")));
}

Model::Values Model::BindInputs(std::span<const ir::Value> inputs) const {
  if (inputs.size() != inputs_.size()) {
    throw Invalid("model {} takes {} inputs, found {}", name_, inputs_.size(), inputs.size());
  }
  Values values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Shape& expected = inputs_[i].shape();
    const ir::Value value = inputs[i];
    if (value.rank() == 0 || value.shape() != WithBatch(expected, value.dim(0))) {
      throw Invalid("model {}: input \"{}\" is {}, expected {} with a batch in front", name_,
                    inputs_[i].node->input_name, value.shape().ToString(), expected.ToString());
    }
    values[inputs_[i].node.get()] = {value};
  }
  return values;
}

void Model::CallNodeOf(Context& ctx, const CallNode& node, Values& values) const {
  std::vector<ir::Value> arguments;
  for (const Tensor& input : node.inputs) {
    arguments.push_back(values.at(input.node.get())[static_cast<size_t>(input.index)]);
  }
  ctx.ForceFloat32(float32_.contains(&node));
  const size_t first = ctx.graph().nodes().size();
  values[&node] = ctx.Call(*node.layer, arguments);
  ctx.NoteCall(first);
  ctx.ForceFloat32(false);
}

ir::Value Model::Result(const Tensor& output, const Values& values) const {
  const ir::Value value = values.at(output.node.get())[static_cast<size_t>(output.index)];
  return ir::IsFloat(value.dtype()) ? ir::Convert(value, ir::DType::kF32) : value;
}

std::vector<const CallNode*> Model::Calls() const {
  std::vector<const CallNode*> calls;
  for (const auto& node : order_) {
    if (node->layer) calls.push_back(node.get());
  }
  return calls;
}

std::vector<ir::Value> Model::Call(Context& ctx, std::span<const ir::Value> inputs) const {
  Values values = BindInputs(inputs);
  for (const CallNode* node : Calls()) CallNodeOf(ctx, *node, values);
  std::vector<ir::Value> results;
  for (const Tensor& output : outputs_) results.push_back(Result(output, values));
  return results;
}

// Whatever else the model has feeds its output through the head, so that the head's calls are the
// last ones.
int Model::CountHeadCalls() const {
  if (outputs_.size() != 1) return 0;
  int count = 0;
  for (const CallNode* node = outputs_[0].node.get();
       node->layer && node->layer->positionwise() && node->inputs.size() == 1 &&
       ir::IsFloat(node->inputs[0].shape().dtype) && node->inputs[0].shape().rank() > 0;
       node = node->inputs[0].node.get()) {
    ++count;
    const std::string prefix = node->layer->name() + "/";
    for (const Variable& variable : variables_) {
      if (variable.path.starts_with(prefix)) return count;
    }
  }
  return 0;
}

ir::Value Model::CallBody(Context& ctx, std::span<const ir::Value> inputs) const {
  const std::vector<const CallNode*> calls = Calls();
  const size_t body = calls.size() - static_cast<size_t>(head_calls_);
  Values values = BindInputs(inputs);
  for (size_t i = 0; i < body; ++i) CallNodeOf(ctx, *calls[i], values);
  // The head's calls are elsewhere.
  for (size_t i = body; i < calls.size(); ++i) ctx.NoteCall(ctx.graph().nodes().size());
  const Tensor& x = head_calls_ == 0 ? outputs_[0] : calls[body]->inputs[0];
  return values.at(x.node.get())[static_cast<size_t>(x.index)];
}

ir::Value Model::CallHead(Context& ctx, ir::Value x) const {
  const std::vector<const CallNode*> calls = Calls();
  const size_t body = calls.size() - static_cast<size_t>(head_calls_);
  const Tensor& input = head_calls_ == 0 ? outputs_[0] : calls[body]->inputs[0];
  Values values;
  values[input.node.get()].assign(static_cast<size_t>(input.index) + 1, x);
  for (size_t i = body; i < calls.size(); ++i) CallNodeOf(ctx, *calls[i], values);
  return Result(outputs_[0], values);
}

std::vector<size_t> Model::HeadVariables() const {
  const std::vector<const CallNode*> calls = Calls();
  std::vector<size_t> found;
  for (size_t i = 0; i < variables_.size(); ++i) {
    for (size_t c = calls.size() - static_cast<size_t>(head_calls_); c < calls.size(); ++c) {
      if (!variables_[i].path.starts_with(calls[c]->layer->name() + "/")) continue;
      found.push_back(i);
      break;
    }
  }
  return found;
}

std::vector<LayerCall> Model::calls() const {
  std::vector<LayerCall> calls;
  std::map<const CallNode*, int> numbers;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    numbers[inputs_[i].node.get()] = -1 - static_cast<int>(i);
  }
  for (const auto& node : order_) {
    if (!node->layer) continue;
    numbers[node.get()] = static_cast<int>(calls.size());
    LayerCall& call = calls.emplace_back(node->layer);
    for (const Tensor& input : node->inputs) call.inputs.push_back(numbers.at(input.node.get()));
    for (const Tensor& output : outputs_) call.is_output |= output.node == node;
  }
  return calls;
}

int64_t Model::parameters() const {
  int64_t total = 0;
  for (const Variable& variable : variables_) total += variable.shape.size();
  return total;
}

int64_t Model::trainable_parameters() const {
  int64_t total = 0;
  for (const Variable& variable : variables_) {
    if (variable.trainable) total += variable.shape.size();
  }
  return total;
}

LayerPtr Model::IndexedBy(int input) const {
  LayerPtr tightest;
  for (const auto& node : order_) {
    if (node->layer == nullptr || node->layer->index_bound() == 0) continue;
    for (const Tensor& fed_by : node->inputs) {
      if (fed_by.node != inputs_[input].node) continue;
      if (!tightest || node->layer->index_bound() < tightest->index_bound()) tightest = node->layer;
    }
  }
  return tightest;
}

std::vector<std::pair<LayerPtr, int>> Model::LayersToAdapt() const {
  std::vector<std::pair<LayerPtr, int>> found;
  for (const auto& node : order_) {
    const auto* adaptable = dynamic_cast<const Adaptable*>(node->layer.get());
    if (adaptable == nullptr || !adaptable->needs_data()) continue;
    const Tensor& fed_by = node->inputs.at(0);
    const auto input = std::find_if(inputs_.begin(), inputs_.end(), [&](const Tensor& tensor) {
      return tensor.node == fed_by.node;
    });
    if (input == inputs_.end()) {
      throw Invalid(
          "layer {}: {} learns mean and variance from the data, so it must take a model "
          "input directly; put it first, or give it mean and variance",
          node->layer->name(), node->layer->type());
    }
    found.emplace_back(node->layer, static_cast<int>(input - inputs_.begin()));
  }
  return found;
}

double Model::ForwardFlops() const {
  ir::Graph graph("flops");
  std::vector<Variable> variables;
  Context context(graph, {}, &variables);
  std::vector<ir::Value> values;
  for (const Tensor& input : inputs_) {
    values.push_back(graph.AddParameter(WithBatch(input.shape(), 1), input.node->input_name));
  }
  graph.SetOutputs(Call(context, values));
  return ir::Flops(graph);
}

namespace {

// "(None, 28, 28, 1)".
std::string ShapeText(const ir::Shape& shape) {
  std::string result = "(None";
  for (const int64_t dim : shape.dims) result += fmt::format(", {}", dim);
  return result + ")";
}

// Keras's readable_memory_size: powers of 1024 under their everyday names.
std::string MemoryText(int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f} {}", amount, kUnits[unit]);
}

// Cells of one row, and the table of them with the lines Keras draws.
using Row = std::vector<std::string>;

std::string Repeat(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

// Columns of a terminal that UTF-8 text takes; all our characters take one.
size_t Columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string DrawTable(const std::vector<Row>& rows, std::vector<size_t> widths,
                      size_t right_aligned) {
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  const auto line = [&](std::string_view left, std::string_view middle, std::string_view right,
                        std::string_view fill) {
    std::string result(left);
    for (size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) result += middle;
      result += Repeat(fill, widths[i] + 2);
    }
    return result + std::string(right) + "\n";
  };
  const auto cells = [&](const Row& row, std::string_view bar) {
    std::string result;
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string space(widths[i] - Columns(row[i]), ' ');
      result += std::string(bar) + " ";
      result += i == right_aligned ? space + row[i] : row[i] + space;
      result += " ";
    }
    return result + std::string(bar) + "\n";
  };
  std::string result = line("┏", "┳", "┓", "━") + cells(rows[0], "┃") + line("┡", "╇", "┩", "━");
  for (size_t i = 1; i < rows.size(); ++i) {
    if (i > 1) result += line("├", "┼", "┤", "─");
    result += cells(rows[i], "│");
  }
  return result + line("└", "┴", "┘", "─");
}

}  // namespace

std::string Model::Summary() const {
  // A chain needs no column of connections.
  std::map<const CallNode*, int64_t> uses;
  bool chain = inputs_.size() == 1 && outputs_.size() == 1;
  for (const auto& node : order_) {
    if (node->inputs.size() > 1) chain = false;
    for (const Tensor& input : node->inputs) {
      if (++uses[input.node.get()] > 1) chain = false;
    }
  }
  if (static_cast<size_t>(layers_.size()) + inputs_.size() != order_.size()) chain = false;

  const auto label = [](const CallNode& node) {
    return node.layer ? node.layer->name() : node.input_name;
  };
  std::vector<Row> rows;
  rows.push_back(chain ? Row{"Layer (type)", "Output Shape", "Param #"}
                       : Row{"Layer (type)", "Output Shape", "Param #", "Connected to"});
  std::set<const Layer*> shown;
  for (const auto& node : order_) {
    if (chain && !node->layer) continue;
    if (node->layer && !shown.insert(node->layer.get()).second) continue;
    int64_t count = 0;
    if (node->layer) {
      const std::string prefix = node->layer->name() + "/";
      for (const Variable& variable : variables_) {
        if (variable.path.starts_with(prefix)) count += variable.shape.size();
      }
    }
    Row row = {fmt::format("{} ({})", label(*node),
                           node->layer ? node->layer->type() : std::string("InputLayer")),
               ShapeText(node->shapes[0]), HumanCount(count)};
    if (!chain) {
      std::string from;
      for (const auto& use : order_) {
        if (use->layer != node->layer || (!node->layer && use != node)) continue;
        for (const Tensor& input : use->inputs) {
          if (!from.empty()) from += ", ";
          from += label(*input.node);
        }
      }
      row.push_back(from.empty() ? "-" : from);
    }
    rows.push_back(std::move(row));
  }
  const int64_t all = parameters();
  const int64_t trained = trainable_parameters();
  int64_t all_bytes = 0, trained_bytes = 0;
  for (const Variable& variable : variables_) {
    all_bytes += variable.shape.bytes();
    if (variable.trainable) trained_bytes += variable.shape.bytes();
  }
  const auto total = [](std::string_view what, int64_t count, int64_t bytes) {
    return fmt::format(" {} params: {} ({})\n", what, HumanCount(count), MemoryText(bytes));
  };
  return fmt::format("Model: \"{}\"\n", name_) +
         (chain ? DrawTable(rows, {31, 22, 13}, 2) : DrawTable(rows, {19, 17, 10, 17}, 2)) +
         total("Total", all, all_bytes) + total("Trainable", trained, trained_bytes) +
         total("Non-trainable", all - trained, all_bytes - trained_bytes);
}

}  // namespace flatout::nn
