// flatout evaluate and flatout predict: using what a run learned.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"
#include "flatout/cli/command.h"
#include "flatout/cli/console.h"
#include "flatout/cli/session.h"

namespace flatout::cli {
namespace {

struct Options {
  std::string run;
  std::string split = "test";
  std::string weights;
  std::vector<std::string> assignments;
  bool json = false;
  std::string output = "predictions.csv";
  std::optional<int64_t> limit;
};

void AddCommon(CLI::App* command, Options& options) {
  command->add_option("run", options.run, "Run folder, or a run file together with --weights")
      ->required();
  command->add_option("--split", options.split, "train, validation or test")
      ->capture_default_str()
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_option("--weights", options.weights,
                      "best, last, or a safetensors file (default: best if there is one)");
  command->add_option("--set", options.assignments, "Change a key of the run file")->take_all();
}

struct Opened {
  Session session;
  data::SourcePtr source;
  std::string weights_path;
};

Opened Open(const Options& options) {
  const TrainedRun run = FindTrainedRun(options.run, options.weights, options.assignments);
  const checkpoint::TensorFile weights = checkpoint::LoadSafetensors(run.weights_path);
  Opened opened{
      .session = MakeSession(run.config), .source = nullptr, .weights_path = run.weights_path};
  opened.source = options.split == "train"        ? opened.session.sources.train
                  : options.split == "validation" ? opened.session.sources.validation
                                                  : opened.session.sources.test;
  if (opened.source == nullptr) throw Invalid("[data] has no {} split", options.split);
  opened.session.trainer->LoadWeights(weights, run.weights_path);
  return opened;
}

int Evaluate(const Options& options) {
  Opened opened = Open(options);
  const auto console = MakeConsole(options.json ? "none" : "auto");
  const train::Scores scores = opened.session.trainer->Evaluate(opened.source, console.get());
  if (options.json) {
    nlohmann::ordered_json json;
    json["split"] = options.split;
    json["weights"] = opened.weights_path;
    json["rows"] = scores.rows;
    for (const auto& [name, value] : scores.All()) json["metrics"][name] = value;
    std::printf("%s\n", json.dump(2).c_str());
    return kExitDone;
  }
  std::string line = fmt::format("{} on {} rows with {}:", options.split, HumanCount(scores.rows),
                                 opened.weights_path);
  for (const auto& [name, value] : scores.All()) line += fmt::format(" {} {:.4f}", name, value);
  console->OnMessage(line);
  return kExitDone;
}

// One row per record, one column per output element.
std::string ToCsv(const checkpoint::HostTensor& output) {
  const int64_t rows = output.shape.dims[0];
  const int64_t columns = rows > 0 ? output.shape.size() / rows : 0;
  std::string text = "record";
  for (int64_t c = 0; c < columns; ++c) text += fmt::format(",output_{}", c);
  text += '\n';
  const auto* bytes = output.bytes.data();
  for (int64_t r = 0; r < rows; ++r) {
    text += std::to_string(r);
    for (int64_t c = 0; c < columns; ++c) {
      float value;
      std::memcpy(&value, bytes + (r * columns + c) * sizeof(float), sizeof(float));
      text += fmt::format(",{}", value);
    }
    text += '\n';
  }
  return text;
}

int Predict(const Options& options) {
  const bool csv = options.output.ends_with(".csv");
  if (!csv && !options.output.ends_with(".safetensors")) {
    throw Invalid("--output {}: predictions are written as .csv or .safetensors", options.output);
  }
  if (options.limit && *options.limit < 1) {
    throw Invalid("--limit must be at least 1, found {}", *options.limit);
  }
  Opened opened = Open(options);
  std::vector<checkpoint::HostTensor> outputs =
      opened.session.trainer->Predict(opened.source, options.limit.value_or(-1));
  const int64_t rows = outputs[0].shape.dims[0];
  if (csv) {
    AtomicWriteFile(options.output, ToCsv(outputs[0]));
  } else {
    checkpoint::TensorFile file;
    file.tensors = std::move(outputs);
    checkpoint::SaveSafetensors(options.output, file);
  }
  std::printf("%s predictions of the %s split written to %s\n", HumanCount(rows).c_str(),
              options.split.c_str(), options.output.c_str());
  return kExitDone;
}

}  // namespace

void AddEvaluate(CLI::App& app, Run* run) {
  CLI::App* command =
      app.add_subcommand("evaluate", "Score a trained model on a split of its data");
  auto options = std::make_shared<Options>();
  AddCommon(command, *options);
  command->add_flag("--json", options->json, "Print the scores as JSON");
  command->callback([options, run] { *run = [options] { return Evaluate(*options); }; });
}

void AddPredict(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand("predict", "Write a trained model's outputs for a split");
  auto options = std::make_shared<Options>();
  AddCommon(command, *options);
  command
      ->add_option("--output", options->output,
                   "A .csv or .safetensors file to write; one that is there is replaced")
      ->capture_default_str();
  command->add_option("--limit", options->limit, "Only the first so many records (default: all)");
  command->callback([options, run] { *run = [options] { return Predict(*options); }; });
}

}  // namespace flatout::cli
