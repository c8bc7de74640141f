#include "flatout/plan/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/plan/liveness.h"

namespace flatout::plan {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using step::StateTensor;

enum class Kind { kGradient, kActivation, kWorkspace };

// Bytes of XLA's own for a run and for each array of a CPU program (measured).
constexpr int64_t kRunRecords = 20000, kArrayRecords = 1000;

// "block1" of "block1/attention/query": the layer as the model names it.
std::string LayerOf(std::string_view scope) {
  return std::string(scope.substr(0, scope.find('/')));
}
bool IsAlias(const Node& node) {
  return node.name() == "reshape" || node.name() == "stop_gradient" ||
         node.name() == "optimization_barrier" || node.name() == "narrowed_softmax" ||
         node.name() == "composite";
}
Value Root(Value value) {
  while (IsAlias(*value.node())) value = value.node()->input(value.index());
  return value;
}

bool IsOptimizer(std::string_view scope) {
  return scope == "optimizer" || scope.starts_with("optimizer/");
}
bool IsLoss(std::string_view scope) { return scope == "loss" || scope.starts_with("loss/"); }
bool IsMetric(std::string_view scope) { return scope.starts_with("metric "); }

// What the values of a step's graph are for.
class Meaning {
 public:
  Meaning(const Graph& graph, const nn::Model& model) {
    for (const nn::Variable& variable : model.variables()) {
      variables_[variable.path] = &variable;
    }
    Walk(graph, false);
  }

  struct Of {
    Kind kind = Kind::kWorkspace;
    std::string layer, what;
  };
  Of Explain(const Node& node, int output) const {
    Of of;
    const Value value(const_cast<Node*>(&node), output);
    if (const auto found = gradients_.find({&node, output}); found != gradients_.end()) {
      of.kind = Kind::kGradient;
      of.layer = LayerOf(found->second);
      of.what = "the gradient of " + found->second;
      return of;
    }
    const std::string& scope = node.scope();
    if (IsOptimizer(scope)) {
      of.layer = "optimizer";
      of.what = scope == "optimizer" ? "the optimizer's values"
                                     : "values in the update of " + scope.substr(10);
      return of;
    }
    if (scope.empty()) {
      of.layer = "step";
      of.what = fmt::format("values of the step itself ({})", node.name());
      return of;
    }
    if (IsLoss(scope) || IsMetric(scope)) {
      of.layer = IsLoss(scope) ? "loss" : "metrics";
      of.what =
          fmt::format("values inside the {} ({})", IsLoss(scope) ? "loss" : scope, node.name());
      return of;
    }
    of.layer = LayerOf(scope);
    const bool backward = backward_.contains(&node);
    if (node.name() == "convert") {
      const Value from = Root(node.input(0));
      if (from.node()->name() == "parameter") {
        const auto& names = names_.at(&node.graph());
        const std::string& name = names[from.node()->attrs().Int("index")];
        if (!name.empty()) {
          of.what = fmt::format("{} as {}", name, ir::Name(value.dtype()));
          return of;
        }
      }
    }
    if (!backward) {
      of.kind = Kind::kActivation;
      of.what = handed_on_.contains(&node)
                    ? fmt::format("the output of layer {}", scope)
                    : fmt::format("values inside layer {} ({})", scope, node.name());
    } else {
      of.what = handed_on_.contains(&node)
                    ? fmt::format("the gradient of the input of layer {}", scope)
                    : fmt::format("backward values inside layer {} ({})", scope, node.name());
    }
    return of;
  }
  // Layers in the order in which the step comes to them.
  const std::vector<std::string>& layers() const { return layers_; }

 private:
  void NoteLayer(const std::string& scope) {
    if (scope.empty() || IsOptimizer(scope) || IsLoss(scope) || IsMetric(scope)) return;
    const std::string layer = LayerOf(scope);
    if (seen_.insert(layer).second) layers_.push_back(layer);
  }

  // Names of a graph's parameters: a loop's are those of what it starts from.
  std::vector<std::string> NamesOf(const Graph& graph, const Node* loop) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < graph.parameters().size(); ++i) {
      std::string name = graph.parameter_name(i);
      if (loop != nullptr && i < loop->inputs().size()) {
        const Value start = Root(loop->input(i));
        if (start.node()->name() == "parameter") {
          name = names_.at(&loop->graph())[start.node()->attrs().Int("index")];
        }
      }
      names.push_back(std::move(name));
    }
    return names;
  }

  void Walk(const Graph& graph, bool backward, const Node* loop = nullptr) {
    names_[&graph] = NamesOf(graph, loop);
    const std::vector<bool> live = graph.LiveNodes();
    int loss = static_cast<int>(graph.nodes().size());
    for (const auto& node : graph.nodes()) {
      if (live[node->id()] && IsLoss(node->scope())) {
        loss = node->id();
        break;
      }
    }
    for (const auto& node : graph.nodes()) {
      if (!live[node->id()]) continue;
      NoteLayer(node->scope());
      const bool after = backward || node->id() > loss;
      if (after) backward_.insert(node.get());
      for (const Value& input : node->inputs()) {
        const Node* maker = Root(input).node();
        if (maker->scope() != node->scope() && !maker->scope().empty() &&
            !node->scope().starts_with(maker->scope() + "/") &&
            (node->id() > loss) == (maker->id() > loss)) {
          handed_on_.insert(maker);
        }
      }
      if (node->scope().starts_with("optimizer/")) {
        const std::string path = node->scope().substr(10);
        const auto variable = variables_.find(path);
        if (variable == variables_.end()) continue;
        for (const Value& input : node->inputs()) {
          if (input.dims() == variable->second->shape.dims) MarkGradient(input, path, loss);
        }
      }
      const bool is_loop = node->name() == "while" || node->name() == "scan";
      for (size_t r = 0; r < node->num_regions(); ++r) {
        Walk(node->region(r), after, is_loop ? node.get() : nullptr);
      }
    }
  }

  // `value` is the gradient of `path`, and so are what it is summed and scaled from.
  void MarkGradient(Value value, const std::string& path, int loss) {
    value = Root(value);
    Node& node = *value.node();
    if (node.name() == "parameter" || IsOptimizer(node.scope())) return;
    if (node.id() < loss && loss < static_cast<int>(node.graph().nodes().size())) return;
    if (!gradients_.emplace(std::pair(&node, value.index()), path).second) return;
    if (node.name() == "all_reduce") {
      MarkGradient(node.input(value.index()), path, loss);
    } else if (node.name() == "while") {
      MarkGradient(node.input(value.index()), path, loss);
      const Graph& body = node.region(1);
      MarkGradient(body.outputs()[value.index()], path, static_cast<int>(body.nodes().size()));
    } else if (node.name() == "scan" && value.index() < node.attrs().Int("carry")) {
      MarkGradient(node.input(node.attrs().Int("constants") + value.index()), path, loss);
      const Graph& body = node.region(0);
      MarkGradient(body.outputs()[value.index()], path, static_cast<int>(body.nodes().size()));
    } else if (node.name() == "add" || node.name() == "subtract" || node.name() == "multiply" ||
               node.name() == "divide" || node.name() == "convert" || node.name() == "select") {
      for (const Value& input : node.inputs()) {
        if (input.dims() == value.dims() && ir::IsFloat(input.dtype())) {
          MarkGradient(input, path, loss);
        }
      }
    }
  }

  std::map<std::string, const nn::Variable*> variables_;
  std::map<const Graph*, std::vector<std::string>> names_;
  std::set<const Node*> backward_, handed_on_;
  std::map<std::pair<const Node*, int>, std::string> gradients_;
  std::set<std::string> seen_;
  std::vector<std::string> layers_;
};

std::string SlotTitle(const StateTensor& tensor, const nn::Model& model) {
  const std::string& variable = model.variables()[tensor.variable].path;
  return fmt::format("{}'s {}", variable, tensor.name.substr(variable.size() + 1));
}

// Adds up plans; shared by training and evaluation.
class Planner {
 public:
  Planner(const step::StepSpec& spec, int64_t batches_in_flight) : spec_(spec) {
    if (batches_in_flight < 1) {
      throw Internal("a plan needs at least one batch in flight, found {}", batches_in_flight);
    }
    plan_.rows = spec.field_shapes.at(0).dim(0);
    plan_.micro_rows = spec.micro_rows > 0 ? std::min(spec.micro_rows, plan_.rows) : plan_.rows;
    plan_.loss_blocks = step::NumLossBlocks(spec);
    plan_.replicas = spec.replicas;
    plan_.batches_in_flight = batches_in_flight;
    plan_.policy = spec.policy.name;
  }

  MemoryPlan Run(std::string title, const step::Program& program,
                 const std::vector<StateTensor>& layout,
                 const std::optional<xla::ProgramMemory>& compiled) {
    plan_.program = std::move(title);
    const Meaning meaning(*program.graph, *spec_.model);
    for (const std::string& layer : meaning.layers()) Layer(layer);
    AddState(layout);
    AddBatch();
    AddResults(*program.graph, program.num_state);
    AddTemporaries(PeakOfTemporaries(*program.graph), meaning);
    if (compiled) UseCompiled(*compiled, *program.graph);
    Finish();
    return std::move(plan_);
  }

 private:
  LayerBytes& Layer(const std::string& name) {
    const auto [found, added] = index_.emplace(name, plan_.layers.size());
    if (added) plan_.layers.push_back({.layer = name});
    return plan_.layers[found->second];
  }

  void AddTensor(std::string what, std::string layer, const ir::Shape& shape, int64_t bytes) {
    if (bytes > 0) plan_.largest.push_back({std::move(what), std::move(layer), shape, bytes});
  }

  void AddState(const std::vector<StateTensor>& layout) {
    for (const StateTensor& tensor : layout) {
      const int64_t bytes = tensor.shape.bytes();
      if (tensor.kind == StateTensor::Kind::kCounter) {
        plan_.parameters += bytes;
        continue;
      }
      const std::string layer = LayerOf(spec_.model->variables()[tensor.variable].path);
      if (tensor.kind == StateTensor::Kind::kVariable) {
        plan_.parameters += bytes;
        Layer(layer).parameters += bytes;
        AddTensor(tensor.name, layer, tensor.shape, bytes);
      } else {
        plan_.optimizer += bytes;
        Layer(layer).optimizer += bytes;
        AddTensor(SlotTitle(tensor, *spec_.model), layer, tensor.shape, bytes);
      }
    }
  }

  void AddBatch() {
    const int64_t k = spec_.steps_per_launch;
    for (size_t i = 0; i < spec_.field_shapes.size(); ++i) {
      ir::Shape shape = spec_.field_shapes[i];
      shape.dims.insert(shape.dims.begin(), k);
      launch_batch_ += shape.bytes();
      for (int64_t flight = 0; flight < plan_.batches_in_flight; ++flight) {
        AddTensor("the batch's field " + spec_.field_names[i], "", shape, shape.bytes());
      }
    }
    launch_batch_ += 4 * k * plan_.rows;  // weight
    plan_.batch = launch_batch_ * plan_.batches_in_flight;
  }

  void AddResults(const Graph& graph, int num_state) {
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      bool donated = false;
      for (size_t p = 0; p < graph.parameters().size(); ++p) {
        donated = donated || graph.donated_output(p) == static_cast<int>(i);
      }
      if (!donated) launch_results_ += graph.outputs()[i].shape().bytes();
    }
    // Scalars: the number of steps and the like.
    for (size_t p = static_cast<size_t>(num_state); p < graph.parameters().size(); ++p) {
      if (graph.parameters()[p].shape().rank() == 0) {
        launch_results_ += graph.parameters()[p].shape().bytes();
      }
    }
    plan_.results = launch_results_ * plan_.batches_in_flight;
  }

  void AddTemporaries(const Peak& peak, const Meaning& meaning) {
    for (const LiveValue& live : peak.live) {
      Meaning::Of of = meaning.Explain(*live.node, live.output);
      LayerBytes& layer = Layer(of.layer);
      switch (of.kind) {
        case Kind::kGradient:
          plan_.gradients += live.bytes;
          layer.gradients += live.bytes;
          break;
        case Kind::kActivation:
          plan_.activations += live.bytes;
          layer.activations += live.bytes;
          break;
        case Kind::kWorkspace:
          plan_.workspace += live.bytes;
          layer.workspace += live.bytes;
          break;
      }
      AddTensor(std::move(of.what), of.layer, live.node->shape(live.output), live.bytes);
    }
  }

  // The compiler's totals. Its arguments and results are ours to the byte but for padding, which
  // counts as workspace; of its temporaries it gives the sum, and our split is scaled to that.
  void UseCompiled(const xla::ProgramMemory& memory, const Graph& graph) {
    plan_.compiled = memory;
    plan_.code = memory.code;
    if (memory.scratch > 0) {
      const size_t arrays = graph.parameters().size() + graph.outputs().size();
      plan_.scratch = memory.scratch + kRunRecords + kArrayRecords * static_cast<int64_t>(arrays);
    }
    int64_t arguments = 0;
    for (const Value& parameter : graph.parameters()) arguments += parameter.shape().bytes();
    int64_t results = 0, donated = 0;
    for (const Value& output : graph.outputs()) results += output.shape().bytes();
    for (size_t p = 0; p < graph.parameters().size(); ++p) {
      if (graph.donated_output(p) >= 0) donated += graph.parameters()[p].shape().bytes();
    }
    const int64_t beyond =
        memory.argument + memory.output - memory.alias - (arguments + results - donated);
    const int64_t temporaries = memory.temp;
    const int64_t ours = plan_.temporaries();
    const auto scaled = [&](int64_t bytes) {
      return ours == 0 ? 0
                       : static_cast<int64_t>(static_cast<double>(bytes) *
                                              static_cast<double>(temporaries) /
                                              static_cast<double>(ours));
    };
    for (LayerBytes& layer : plan_.layers) {
      layer.gradients = scaled(layer.gradients);
      layer.activations = scaled(layer.activations);
      layer.workspace = scaled(layer.workspace);
    }
    plan_.gradients = scaled(plan_.gradients);
    plan_.activations = scaled(plan_.activations);
    plan_.workspace = temporaries - plan_.gradients - plan_.activations + beyond;
  }

  void Finish() {
    std::erase_if(plan_.layers, [](const LayerBytes& layer) { return layer.total() == 0; });
    std::stable_sort(plan_.largest.begin(), plan_.largest.end(),
                     [](const TensorBytes& a, const TensorBytes& b) { return a.bytes > b.bytes; });
    if (plan_.largest.size() > 10) plan_.largest.resize(10);
  }

  const step::StepSpec& spec_;
  MemoryPlan plan_;
  std::map<std::string, size_t> index_;
  int64_t launch_batch_ = 0, launch_results_ = 0;
};

std::string Percent(int64_t part, int64_t whole) {
  return fmt::format(
      "{:.1f} %",
      whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::string Bytes(int64_t bytes) {
  const char* sign = bytes < 0 ? "-" : "";
  const double size = bytes < 0 ? -static_cast<double>(bytes) : static_cast<double>(bytes);
  if (size < 1024) return fmt::format("{}{} B", sign, static_cast<int64_t>(size));
  double in_unit = size;
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (in_unit < 1024) break;
    in_unit /= 1024;
    unit = next;
  }
  return fmt::format("{}{:.{}f} {}", sign, in_unit, in_unit < 10 ? 2 : in_unit < 100 ? 1 : 0, unit);
}

MemoryPlan PlanMemory(const step::StepSpec& spec, int64_t batches_in_flight,
                      std::optional<xla::ProgramMemory> compiled) {
  const step::Program program = step::BuildTrainProgram(spec);
  return Planner(spec, batches_in_flight)
      .Run("training", program, step::StateLayout(*spec.model, *spec.optimizer, spec.loss_scale),
           compiled);
}

MemoryPlan PlanEvaluation(const step::StepSpec& spec, int64_t batches_in_flight,
                          std::optional<xla::ProgramMemory> compiled) {
  const step::Program program = step::BuildEvaluateProgram(spec);
  std::vector<StateTensor> layout;
  if (spec.optimizer != nullptr) {
    layout = step::StateLayout(*spec.model, *spec.optimizer, spec.loss_scale);
  } else {
    for (size_t i = 0; i < spec.model->variables().size(); ++i) {
      const nn::Variable& variable = spec.model->variables()[i];
      layout.push_back({.name = variable.path,
                        .kind = StateTensor::Kind::kVariable,
                        .shape = variable.shape,
                        .variable = static_cast<int>(i)});
    }
  }
  return Planner(spec, batches_in_flight).Run("evaluation", program, layout, compiled);
}

std::string MemoryPlan::ToString(std::optional<int64_t> limit) const {
  std::string text = fmt::format("memory of {} on one device: {} rows", program, rows);
  if (micro_rows < rows) text += fmt::format(" in micro-batches of {}", micro_rows);
  if (loss_blocks > 1) text += fmt::format(", the loss in {} blocks", loss_blocks);
  text += fmt::format(", {}", policy);
  text += compiled ? ", by the compiler's account\n" : ", estimated from the graph\n";
  const auto line = [&](std::string_view name, int64_t bytes, std::string_view note = "") {
    if (bytes == 0) return;
    text += fmt::format("  {:<16}{:>10}  {:>7}", name, Bytes(bytes), Percent(bytes, total()));
    if (!note.empty()) text += fmt::format("  {}", note);
    text += '\n';
  };
  line("parameters", parameters);
  line("optimizer", optimizer);
  line("gradients", gradients);
  line("activations", activations);
  line("workspace", workspace);
  line("batch", batch,
       batches_in_flight == 1 ? "" : fmt::format("{} launches in flight", batches_in_flight));
  line("results", results);
  line("code", code);
  line("scratch", scratch, "of the CPU's libraries, while they multiply");
  text += fmt::format("  {:<16}{:>10}", "total", Bytes(total()));
  if (limit) {
    const int64_t left = *limit - total();
    text += left >= 0 ? fmt::format("  of {}: {} left", Bytes(*limit), Bytes(left))
                      : fmt::format("  of {}: {} too much", Bytes(*limit), Bytes(-left));
  }
  text += '\n';

  // The layers that take most, in the model's order; the rest in one row.
  constexpr size_t kMostLayers = 16;
  std::vector<size_t> shown(layers.size());
  for (size_t i = 0; i < shown.size(); ++i) shown[i] = i;
  LayerBytes rest{.layer = "all others"};
  if (shown.size() > kMostLayers) {
    std::stable_sort(shown.begin(), shown.end(),
                     [&](size_t a, size_t b) { return layers[a].total() > layers[b].total(); });
    for (size_t i = kMostLayers - 1; i < shown.size(); ++i) {
      const LayerBytes& layer = layers[shown[i]];
      rest.parameters += layer.parameters;
      rest.gradients += layer.gradients;
      rest.optimizer += layer.optimizer;
      rest.activations += layer.activations;
      rest.workspace += layer.workspace;
    }
    shown.resize(kMostLayers - 1);
    std::sort(shown.begin(), shown.end());
  }
  size_t width = std::string_view("all others").size();
  for (const size_t i : shown) width = std::max(width, layers[i].layer.size());
  const auto cell = [](int64_t bytes) { return bytes == 0 ? std::string("-") : Bytes(bytes); };
  const auto row = [&](const LayerBytes& layer) {
    text += fmt::format("  {:<{}} {:>10} {:>10} {:>10} {:>11} {:>10}\n", layer.layer, width,
                        cell(layer.parameters), cell(layer.optimizer), cell(layer.gradients),
                        cell(layer.activations), cell(layer.workspace));
  };
  if (!shown.empty()) {
    text += fmt::format("  {:<{}} {:>10} {:>10} {:>10} {:>11} {:>10}\n", "by layer", width,
                        "parameters", "optimizer", "gradients", "activations", "workspace");
    for (const size_t i : shown) row(layers[i]);
    if (rest.total() > 0) row(rest);
  }
  if (!largest.empty()) {
    text += "  largest tensors at the peak\n";
    for (const TensorBytes& tensor : largest) {
      text += fmt::format("  {:>10}  {}  {}\n", Bytes(tensor.bytes), tensor.what,
                          tensor.shape.ToString());
    }
  }
  return text;
}

std::string FormatOutOfMemory(const MemoryPlan& plan, const OutOfMemory& failure) {
  std::string text =
      fmt::format("{} has no memory left for {}",
                  failure.device.empty() ? "the device" : failure.device, plan.program);
  if (failure.limit) {
    text += fmt::format(": it needs {}, of which there are {}", Bytes(plan.total()),
                        Bytes(*failure.limit));
  } else {
    text += fmt::format(": it needs {}", Bytes(plan.total()));
  }
  if (failure.others && *failure.others > 0) {
    text += fmt::format("; other processes hold {}", Bytes(*failure.others));
  }
  text += '\n';
  if (!failure.said.empty()) text += fmt::format("  the runtime said: {}\n", failure.said);
  text += plan.ToString(failure.limit);
  if (failure.rows_that_fit) {
    if (*failure.rows_that_fit > 0) {
      text += fmt::format(
          "  what would fit: train.micro_batch = {} (the same gradients, one piece of {} of the "
          "{} rows at a time)",
          *failure.rows_that_fit, *failure.rows_that_fit, plan.rows);
    } else {
      text += "  not even one row would fit";
    }
  } else {
    text += "  what would help: train.micro_batch = \"auto\", or train.recompute = \"auto\"";
  }
  return text;
}

}  // namespace flatout::plan
