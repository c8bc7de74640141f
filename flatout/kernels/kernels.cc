#include "flatout/kernels/kernels.h"

#include <cstdlib>
#include <mutex>
#include <set>

#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/ir/ops.h"
#include "flatout/kernels/calls.h"
#include "flatout/kernels/lower.h"
#include "flatout/kernels/onednn.h"

namespace flatout::kernels {
namespace {

// A program of one call into each handler, so that a plugin that refused one (which it does without
// an error) is found out here and not in the middle of a user's program.
void Prove(const xla::Client& client) {
  ir::Graph graph("kernels_proof");
  const ir::Value x = graph.AddParameter(ir::Shape(ir::DType::kF32, {1}), "x");
  std::vector<ir::Value> outputs;
  for (const Handler& handler : Handlers()) {
    outputs.push_back(ir::CustomCall(graph, std::string(handler.target), {&x, 1},
                                     {ir::Shape(ir::DType::kF32, {1})},
                                     {{"numbers", ir::Dims{}}})[0]);
  }
  graph.SetOutputs(outputs);
  client.Compile(ir::ToStablehlo(graph), {});
}

// "" or why the plugin of `client` cannot call us.
std::string Register(const xla::Client& client) {
  static std::mutex mutex;
  static auto& known = *new std::map<const PJRT_Api*, std::string>();
  const std::lock_guard lock(mutex);
  const auto found = known.find(client.plugin().api());
  if (found != known.end()) return found->second;
  std::string& why = known[client.plugin().api()];
  try {
    // Loaded plugins are shared; this gives the one that the client has.
    const auto plugin = xla::Plugin::Load(client.plugin().path());
    for (const Handler& handler : Handlers()) {
      plugin->RegisterFfiHandler(handler.target, handler.function);
    }
    Prove(client);
  } catch (const Error& error) {
    why = fmt::format("plugin {} does not call our kernels ({})", client.plugin().path(),
                      error.message());
  }
  return why;
}

void WarnOnce(const std::string& why) {
  static std::mutex mutex;
  static auto& said = *new std::set<std::string>();
  const std::lock_guard lock(mutex);
  if (!said.insert(why).second) return;
  LogWarning(
      "XLA does all the arithmetic: {}. Convolutions and large products are slower so; "
      "FLATOUT_KERNELS=xla says that this is wanted",
      why);
}

}  // namespace

Choice ParseChoice(std::string_view text) {
  if (text == "xla") return Choice::kXla;
  if (text == "onednn") return Choice::kOneDnn;
  if (text == "auto") return Choice::kAuto;
  throw Invalid("FLATOUT_KERNELS is \"{}\"; expected xla, onednn or auto", text);
}

Choice ChoiceFromEnvironment() {
  const char* set = std::getenv("FLATOUT_KERNELS");
  return set == nullptr || *set == '\0' ? Choice::kAuto : ParseChoice(set);
}

Lowering::Lowering(const xla::Client& client, Choice choice) : choice_(choice) {
  if (!client.is_cpu()) {
    description_ = "XLA alone (not a CPU)";
    return;
  }
  if (choice == Choice::kXla) {
    description_ = "XLA alone (FLATOUT_KERNELS=xla)";
    return;
  }
  const OneDnn* library = OneDnn::Get();
  const std::string why = library == nullptr ? OneDnn::why_not() : Register(client);
  if (!why.empty()) {
    WarnOnce(why);
    description_ = "XLA alone (" + why.substr(0, why.find('\n')) + ")";
    return;
  }
  active_ = true;
  constexpr int kFirstMinorWithYnnpack = 115;  // of those tested
  ynnpack_ = client.plugin().version().minor >= kFirstMinorWithYnnpack;
  description_ = fmt::format("oneDNN {} ({}, {} thread{})", library->version_text, library->isa,
                             library->threads, library->threads == 1 ? "" : "s");
  cache_salt_ =
      fmt::format("kernels 4: {} {}", choice == Choice::kAuto ? "auto" : "onednn", description_);
}

std::unique_ptr<ir::Graph> Lowering::Lower(const ir::Graph& graph,
                                           std::vector<Decision>* decisions) const {
  if (!active_) return ir::Clone(graph);
  return LowerGraph(graph, choice_, {.ynnpack = ynnpack_}, decisions);
}

std::string Lowering::ToStablehlo(const ir::Graph& graph,
                                  const ir::StablehloOptions& options) const {
  if (!active_) return ir::ToStablehlo(graph, options);
  return ir::ToStablehlo(*LowerGraph(graph, choice_, {.ynnpack = ynnpack_}, nullptr), options);
}

}  // namespace flatout::kernels
