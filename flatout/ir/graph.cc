#include "flatout/ir/graph.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"

namespace flatout::ir {

const Shape& Value::shape() const { return node_->shape(index_); }
Graph& Value::graph() const { return node_->graph(); }
std::string_view Node::name() const { return op_->name; }

namespace {

template <typename T>
double Load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

template <typename T>
void Store(std::byte* bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

template <typename T>
T Saturate(double value) {
  if (std::isnan(value)) return 0;
  // The largest T may round up to a double just outside of T, hence >=.
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

// `value` as an IEEE-like 16-bit float with the given field widths, rounded once, ties to even.
uint16_t RoundToSmallFloat(double value, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint16_t infinity = ((1 << exponent_bits) - 1) << fraction_bits;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | infinity | (1 << (fraction_bits - 1));
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  // Count in units of the last place; below the smallest normal number that unit is fixed.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const auto units =
      static_cast<int64_t>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
  // The exponent field starts at 1 for normal numbers, whose hidden bit `units` contains; a carry
  // out of the fraction runs into the exponent by itself, up to infinity.
  const int64_t bits = (static_cast<int64_t>(exponent + bias - 1) << fraction_bits) + units;
  return sign | static_cast<uint16_t>(std::min<int64_t>(bits, infinity));
}

double LoadHalf(const std::byte* bytes) {
  uint16_t bits;
  std::memcpy(&bits, bytes, 2);
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace

double LoadElement(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::kPred:
      return Load<uint8_t>(from) != 0 ? 1 : 0;
    case DType::kI8:
      return Load<int8_t>(from);
    case DType::kI16:
      return Load<int16_t>(from);
    case DType::kI32:
      return Load<int32_t>(from);
    case DType::kI64:
      return Load<int64_t>(from);
    case DType::kU8:
      return Load<uint8_t>(from);
    case DType::kU16:
      return Load<uint16_t>(from);
    case DType::kU32:
      return Load<uint32_t>(from);
    case DType::kU64:
      return Load<uint64_t>(from);
    case DType::kF16:
      return LoadHalf(from);
    case DType::kBF16: {
      uint16_t bits;
      std::memcpy(&bits, from, 2);
      return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    }
    case DType::kF32:
      return Load<float>(from);
    case DType::kF64:
      return Load<double>(from);
  }
  return 0;
}

void StoreElement(DType dtype, double value, std::byte* to) {
  switch (dtype) {
    case DType::kPred:
      return Store<uint8_t>(to, value != 0 ? 1 : 0);
    case DType::kI8:
      return Store(to, Saturate<int8_t>(value));
    case DType::kI16:
      return Store(to, Saturate<int16_t>(value));
    case DType::kI32:
      return Store(to, Saturate<int32_t>(value));
    case DType::kI64:
      return Store(to, Saturate<int64_t>(value));
    case DType::kU8:
      return Store(to, Saturate<uint8_t>(value));
    case DType::kU16:
      return Store(to, Saturate<uint16_t>(value));
    case DType::kU32:
      return Store(to, Saturate<uint32_t>(value));
    case DType::kU64:
      return Store(to, Saturate<uint64_t>(value));
    case DType::kF16:
      return Store(to, RoundToSmallFloat(value, 5, 10));
    case DType::kBF16:
      return Store(to, RoundToSmallFloat(value, 8, 7));
    case DType::kF32:
      return Store(to, static_cast<float>(value));
    case DType::kF64:
      return Store(to, value);
  }
}

double Literal::At(int64_t i) const {
  return LoadElement(shape.dtype, bytes.data() + (splat ? 0 : i * ByteSize(shape.dtype)));
}

Attributes::Attributes(std::initializer_list<std::pair<std::string_view, Attribute>> items) {
  for (const auto& [name, value] : items) Set(name, value);
}

void Attributes::Set(std::string_view name, Attribute value) {
  for (auto& [key, existing] : items_) {
    if (key == name) {
      existing = std::move(value);
      return;
    }
  }
  items_.emplace_back(std::string(name), std::move(value));
}

const Attribute* Attributes::Find(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (key == name) return &value;
  }
  return nullptr;
}

namespace {

template <typename T>
const T& Get(const Attributes& attributes, std::string_view name) {
  const Attribute* attribute = attributes.Find(name);
  const T* value = attribute == nullptr ? nullptr : std::get_if<T>(attribute);
  if (value == nullptr) throw Internal("attribute \"{}\" is missing or of another type", name);
  return *value;
}

}  // namespace

bool Attributes::Bool(std::string_view name) const { return Get<bool>(*this, name); }
int64_t Attributes::Int(std::string_view name) const { return Get<int64_t>(*this, name); }
double Attributes::Double(std::string_view name) const { return Get<double>(*this, name); }
const std::string& Attributes::String(std::string_view name) const {
  return Get<std::string>(*this, name);
}
const std::vector<int64_t>& Attributes::Ints(std::string_view name) const {
  return Get<std::vector<int64_t>>(*this, name);
}
DType Attributes::Type(std::string_view name) const { return Get<DType>(*this, name); }
const Literal& Attributes::Data(std::string_view name) const {
  return *Get<std::shared_ptr<const Literal>>(*this, name);
}

namespace {

// Larger tensors than that are a slip in a run file, and bytes of smaller ones do not overflow.
constexpr double kMostElements = 1e17;

void CheckSize(const Shape& shape) {
  double size = 1;
  for (int64_t dim : shape.dims) {
    if (dim < 0) throw Invalid("{} would have a negative dimension", shape.ToString());
    size *= static_cast<double>(dim);
  }
  if (size > kMostElements) {
    throw Invalid("{} would be too large: {:.3g} elements", shape.ToString(), size);
  }
}

}  // namespace

Graph::Graph(std::string name)
    : name_(std::move(name)), scope_(std::make_shared<const std::string>()) {}
Graph::~Graph() = default;

Value Graph::AddParameter(Shape shape, std::string name) {
  static const OpDef* const op = FindOp("parameter");
  CheckSize(shape);
  Attributes attrs{{"index", static_cast<int64_t>(parameters_.size())}};
  std::unique_ptr<Node> node(new Node());
  node->op_ = op;
  node->graph_ = this;
  node->id_ = static_cast<int>(nodes_.size());
  node->shapes_ = {std::move(shape)};
  node->attrs_ = std::move(attrs);
  node->scope_ = scope_;
  nodes_.push_back(std::move(node));
  parameters_.push_back(nodes_.back()->output());
  parameter_names_.push_back(std::move(name));
  donated_.push_back(-1);
  return parameters_.back();
}

Node& Graph::AddNode(const OpDef& op, std::vector<Value> inputs, Attributes attrs,
                     std::vector<std::unique_ptr<Graph>> regions) {
  std::unique_ptr<Node> node(new Node());
  node->op_ = &op;
  node->graph_ = this;
  node->id_ = static_cast<int>(nodes_.size());
  node->inputs_ = std::move(inputs);
  node->attrs_ = std::move(attrs);
  node->regions_ = std::move(regions);
  node->scope_ = scope_;
  for (const Value& input : node->inputs_) {
    if (!input) throw Internal("an input of {} is none", op.name);
    if (&input.graph() != this) {
      throw Internal("an input of {} belongs to graph \"{}\", not to \"{}\"", op.name,
                     input.graph().name(), name_);
    }
  }
  try {
    node->shapes_ = op.infer(*node);
    for (const Shape& shape : node->shapes_) CheckSize(shape);
  } catch (Error& error) {
    error.AddContext(scope_->empty() ? std::string(op.name)
                                     : fmt::format("layer {}: {}", *scope_, op.name));
    throw;
  }
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

void Graph::SetOutputs(std::vector<Value> outputs) { outputs_ = std::move(outputs); }

void Graph::Donate(int parameter, int output) { donated_.at(parameter) = output; }

std::vector<bool> Graph::LiveNodes() const {
  std::vector<bool> live(nodes_.size(), false);
  for (const Value& output : outputs_) live[output.node()->id()] = true;
  for (size_t i = nodes_.size(); i-- > 0;) {
    const Node& node = *nodes_[i];
    if (node.op().has_side_effect) live[i] = true;
    if (const Attribute* effect = node.attrs().Find("has_side_effect")) {
      if (std::get<bool>(*effect)) live[i] = true;
    }
    if (!live[i]) continue;
    for (const Value& input : node.inputs()) live[input.node()->id()] = true;
  }
  return live;
}

Scope::Scope(Graph& graph, std::string_view name) : graph_(graph), previous_(graph.scope_) {
  std::string joined = *previous_;
  if (!joined.empty() && !name.empty()) joined += '/';
  joined += name;
  graph.scope_ = std::make_shared<const std::string>(std::move(joined));
}

Scope::Scope(Graph& graph, const std::string& name, ExactTag)
    : graph_(graph), previous_(graph.scope_) {
  graph.scope_ = std::make_shared<const std::string>(name);
}

Scope Scope::Exactly(Graph& graph, const std::string& name) {
  return Scope(graph, name, ExactTag{});
}

Scope::~Scope() { graph_.scope_ = previous_; }

namespace {

std::vector<std::unique_ptr<Graph>> CloneRegions(const Node& node) {
  std::vector<std::unique_ptr<Graph>> regions;
  for (size_t i = 0; i < node.num_regions(); ++i) regions.push_back(Clone(node.region(i)));
  return regions;
}

}  // namespace

std::vector<Value> Inline(const Graph& from, Graph& to, std::span<const Value> arguments,
                          const Attributes& marks) {
  if (arguments.size() != from.parameters().size()) {
    throw Internal("graph \"{}\" has {} parameters, found {} arguments", from.name(),
                   from.parameters().size(), arguments.size());
  }
  const std::vector<bool> live = from.LiveNodes();
  std::vector<Node*> copies(from.nodes().size(), nullptr);
  std::unordered_map<const Node*, Value> parameters;
  for (size_t i = 0; i < arguments.size(); ++i) {
    parameters[from.parameters()[i].node()] = arguments[i];
  }
  const auto copy_of = [&](Value value) {
    const auto found = parameters.find(value.node());
    if (found != parameters.end()) return found->second;
    return Value(copies[value.node()->id()], value.index());
  };
  for (const auto& node : from.nodes()) {
    if (!live[node->id()] || parameters.contains(node.get())) continue;
    std::vector<Value> inputs;
    for (const Value& input : node->inputs()) inputs.push_back(copy_of(input));
    const Scope scope(to, node->scope());
    Attributes attrs = node->attrs();
    for (const auto& [name, value] : marks.items()) attrs.Set(name, value);
    copies[node->id()] =
        &to.AddNode(node->op(), std::move(inputs), std::move(attrs), CloneRegions(*node));
  }
  std::vector<Value> outputs;
  for (const Value& output : from.outputs()) outputs.push_back(copy_of(output));
  return outputs;
}

std::unique_ptr<Graph> Clone(const Graph& graph) {
  auto copy = std::make_unique<Graph>(graph.name());
  std::vector<Value> arguments;
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    arguments.push_back(copy->AddParameter(graph.parameters()[i].shape(), graph.parameter_name(i)));
  }
  copy->SetOutputs(Inline(graph, *copy, arguments));
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    if (graph.donated_output(i) >= 0) copy->Donate(static_cast<int>(i), graph.donated_output(i));
  }
  return copy;
}

namespace {

std::string AttributeText(const Attribute& attribute) {
  struct Visitor {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return "\"" + value + "\""; }
    std::string operator()(DType value) const { return std::string(Name(value)); }
    std::string operator()(const std::vector<int64_t>& value) const { return DimsToString(value); }
    std::string operator()(const std::shared_ptr<const Literal>& value) const {
      std::string text = value->splat ? "splat(" : "(";
      const int64_t count = value->splat ? 1 : std::min<int64_t>(value->shape.size(), 8);
      for (int64_t i = 0; i < count; ++i) {
        if (i > 0) text += ", ";
        text += fmt::format("{}", value->At(i));
      }
      if (!value->splat && value->shape.size() > count) text += ", ...";
      return text + ")";
    }
  };
  return std::visit(Visitor{}, attribute);
}

void DumpInto(const Graph& graph, int indent, std::string& text) {
  const std::string pad(indent, ' ');
  text += pad + graph.name() + "(";
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    if (i > 0) text += ", ";
    const Value parameter = graph.parameters()[i];
    text += fmt::format("%{}: {}", parameter.node()->id(), parameter.shape().ToString());
    if (!graph.parameter_name(i).empty()) text += " " + graph.parameter_name(i);
    if (graph.donated_output(i) >= 0)
      text += fmt::format(" donated to {}", graph.donated_output(i));
  }
  text += ") {\n";
  const auto reference = [](Value value) {
    std::string name = fmt::format("%{}", value.node()->id());
    if (value.node()->num_outputs() > 1) name += fmt::format("#{}", value.index());
    return name;
  };
  const std::vector<bool> live = graph.LiveNodes();
  for (const auto& node : graph.nodes()) {
    if (!live[node->id()] || node->name() == "parameter") continue;
    text += fmt::format("{}  %{}: ", pad, node->id());
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      if (i > 0) text += ", ";
      text += node->shape(static_cast<int>(i)).ToString();
    }
    text += fmt::format(" = {}(", node->name());
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      if (i > 0) text += ", ";
      text += reference(node->input(i));
    }
    text += ")";
    for (const auto& [name, value] : node->attrs().items()) {
      text += fmt::format(" {}={}", name, AttributeText(value));
    }
    if (!node->scope().empty()) text += "  // " + node->scope();
    text += '\n';
    for (size_t i = 0; i < node->num_regions(); ++i) DumpInto(node->region(i), indent + 4, text);
  }
  text += pad + "  return ";
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (i > 0) text += ", ";
    text += reference(graph.outputs()[i]);
  }
  text += "\n" + pad + "}\n";
}

}  // namespace

std::string Dump(const Graph& graph) {
  std::string text;
  DumpInto(graph, 0, text);
  return text;
}

double Flops(const Graph& graph) {
  double total = 0;
  const std::vector<bool> live = graph.LiveNodes();
  for (const auto& node : graph.nodes()) {
    if (!live[node->id()] || node->op().flops == nullptr || node->attrs().Has("recomputed"))
      continue;
    total += node->op().flops(*node);
  }
  return total;
}

}  // namespace flatout::ir
