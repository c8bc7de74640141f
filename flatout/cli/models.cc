// flatout models: the built-in models, and summaries as Keras prints them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/cli/command.h"
#include "flatout/cli/session.h"
#include "flatout/nn/model.h"
#include "flatout/optim/optimizer.h"
#include "flatout/optim/schedule.h"

namespace flatout::cli {
namespace {

struct Options {
  std::string run_file;
  bool summary = false;
  bool layers = false;
  std::vector<std::string> assignments;
};

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void ListLayers() {
  std::printf("Layers ([[model.layers]] class = ...):\n");
  for (const nn::LayerDef& layer : nn::LayerTable()) {
    std::printf("  %s(%s)\n", std::string(layer.type).c_str(), Join(layer.arguments()).c_str());
  }
  std::printf("Losses: %s\n", Join(nn::LossNames()).c_str());
  std::printf("Metrics: %s\n", Join(nn::MetricNames()).c_str());
  std::printf("Optimizers: %s\n", Join(optim::OptimizerNames()).c_str());
  std::printf("Learning-rate schedules: %s\n", Join(optim::ScheduleNames()).c_str());
}

int Models(const Options& options) {
  if (options.layers) {
    ListLayers();
    return kExitDone;
  }
  if (options.run_file.empty()) {
    if (options.summary) {
      throw Invalid(
          "--summary needs a run file, which says what data the model is for: flatout models "
          "examples/fashion_mnist/cnn.toml --summary");
    }
    std::printf("Built-in models ([model] builtin = ...):\n");
    for (const nn::BuiltinModel& model : nn::BuiltinModels()) {
      std::printf("  %-12s %s\n", std::string(model.name).c_str(),
                  std::string(model.summary).c_str());
    }
    std::printf("Or list layers in a run file: see flatout models --layers.\n");
    return kExitDone;
  }
  const train::RunConfig config = train::LoadRunConfig(options.run_file, options.assignments);
  data::SourcePtr source;
  for (std::string_view split : data::kSplits) {
    if (source == nullptr) source = data::OpenSource(config.data, split);
  }
  if (source == nullptr) throw Invalid("{}: no split of [data] holds records", options.run_file);
  const nn::Model model = MakeModel(config, source->fields());
  std::printf("%s", model.Summary().c_str());
  std::printf("Forward FLOPs per sample: %s\n",
              HumanCount(static_cast<int64_t>(model.ForwardFlops())).c_str());
  return kExitDone;
}

}  // namespace

void AddModels(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "models", "List built-in models and layers, or summarize a run file's model");
  auto options = std::make_shared<Options>();
  command->add_option("run_file", options->run_file, "Run file whose model to summarize");
  command->add_flag("--summary", options->summary,
                    "Print the summary (the default with a run file)");
  command->add_flag("--layers", options->layers,
                    "List all layers with their arguments, losses, metrics, optimizers, schedules");
  command->add_option("--set", options->assignments, "Change a key of the run file")->take_all();
  command->callback([options, run] { *run = [options] { return Models(*options); }; });
}

}  // namespace flatout::cli
