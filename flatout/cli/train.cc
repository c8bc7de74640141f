// flatout train: from a run file to trained weights and a verdict.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/checkpoint/safetensors.h"
#include "flatout/checkpoint/store.h"
#include "flatout/cli/choose_run.h"
#include "flatout/cli/command.h"
#include "flatout/cli/compare_precision.h"
#include "flatout/cli/console.h"
#include "flatout/cli/live.h"
#include "flatout/cli/save_tuned.h"
#include "flatout/cli/session.h"
#include "flatout/cli/signals.h"
#include "flatout/data/source.h"
#include "flatout/train/preemption.h"
#include "flatout/train/tensorboard.h"

namespace flatout::cli {
namespace {

struct Options {
  std::string run_file;
  std::vector<std::string> assignments;
  std::string run_dir;
  std::string weights;
  bool advise = false;
  bool check_finite = false;
  bool compare_precision = false;
  bool fresh = false;
  bool overwrite = false;
  bool save_tuned = false;
  std::optional<int> port;
};

// Writes what was tuned into the run file. The run is over and its results are kept: what cannot be
// written is said, no error.
void SaveTuned(const Options& options, const train::RunConfig& config,
               const train::FitResult& result) {
  std::vector<std::pair<std::string, int64_t>> keys;
  const watch::InputFacts& input = result.summary.input;
  if (config.pipeline.worker_threads() == 0 && input.workers > 0) {
    keys.emplace_back("workers", input.workers);
  }
  if (config.pipeline.prefetch_depth() == 0 && input.depth > 0) {
    keys.emplace_back("prefetch", input.depth);
  }
  if (keys.empty()) {
    std::printf("nothing to save: data.workers and data.prefetch were set, not tuned\n");
    return;
  }
  try {
    SaveDataKeys(options.run_file, keys);
    std::string line = "saved in " + options.run_file + ":";
    for (const auto& [key, value] : keys) line += fmt::format(" data.{} = {}", key, value);
    std::printf("%s\n", line.c_str());
  } catch (const Error& error) {
    LogWarning("not saved: {}", error.what());
  }
}

// After the run: what it shows of itself stays to be looked at for as long as is asked for; of a
// run that was told to stop, for what is left of the time until whoever told it ends the process.
int Linger(Live& live, const train::RunConfig& config, const StopRequest& stop, int exit_code) {
  // For the process to end in.
  constexpr double kEndSeconds = 1;
  std::fflush(stdout);
  EndOnSignals(exit_code);
  live.PushLast();
  double seconds = live.linger_seconds();
  if (stop.asked) {
    const double deadline = std::isfinite(stop.deadline.load())
                                ? stop.deadline.load()
                                : stop.asked_at + config.checkpoint.grace_seconds;
    seconds = std::min(seconds, deadline - SteadySeconds() - kEndSeconds);
  }
  if (seconds <= 0) return exit_code;
  std::printf("live page: served for another %s (watch.http.linger_seconds); a signal ends it\n",
              HumanDuration(seconds).c_str());
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return exit_code;
}

void PrintResult(const train::FitResult& result, const data::SourcePtr& test,
                 const train::RunFolder& folder) {
  if (result.test) {
    std::string line = fmt::format("test on {} rows ({} weights):", HumanCount(result.test->rows),
                                   result.restored_best ? "best" : "last");
    for (const auto& [name, value] : result.test->All()) {
      line += fmt::format(" {} {:.4f}", name, value);
    }
    std::printf("%s\n", line.c_str());
    if (const auto best = test->best_score()) {
      std::printf("the best that any model can reach on it: log loss %.4f, AUC %.4f\n",
                  best->log_loss, best->auc);
    }
  }
  const train::Saver::Stats& saves = result.summary.saves;
  if (result.stopped) {
    std::optional<int64_t> last = result.resumed_step;
    if (saves.last_step >= 0) last = saves.last_step;
    std::printf("stopped after %s steps; %s\n", HumanCount(result.steps).c_str(),
                saves.last_step == result.steps ? "the same command goes on from there"
                : last ? fmt::format("they were not saved: the same command goes on from step {}",
                                     HumanCount(*last))
                             .c_str()
                       : "there is no checkpoint to go on from; the weights are kept");
  }
  if (!saves.error.empty()) {
    std::printf("checkpoints: %lld of %lld could not be saved, the last one: %s\n",
                static_cast<long long>(saves.failures),
                static_cast<long long>(saves.saves + saves.failures), saves.error.c_str());
  }
  std::printf("\nIs the device running full?\n");
  for (const std::string& line : result.verdict.lines) std::printf("  %s\n", line.c_str());
  for (const watch::Advised& advised : result.summary.advised) {
    std::printf("  advised: %s\n", advised.ToString().c_str());
  }
  if (result.summary.cost) {
    std::printf("  cost: %s\n", watch::DescribeCost(*result.summary.cost).c_str());
  }
  std::printf("kept in %s: run.toml, metrics.jsonl, summary.json, weights.safetensors%s%s\n",
              folder.path().c_str(), saves.last_step >= 0 ? ", checkpoints/" : "",
              FileExists(folder.File("best.safetensors")) ? ", best.safetensors" : "");
}

// The newest snapshot that can be loaded, and says which; throws where none can.
checkpoint::LoadedSnapshot LoadSnapshot(const std::string& run_folder) {
  const checkpoint::Store store(train::CheckpointFolder(run_folder));
  checkpoint::Newest newest = store.LoadNewest();
  for (const std::string& line : newest.skipped) LogWarning("{}", line);
  if (!newest.snapshot) {
    throw BadData(
        "{}: no checkpoint there can be loaded ({}). To train anew use --fresh --overwrite",
        store.folder(), fmt::join(newest.skipped, "; "));
  }
  const checkpoint::SnapshotInfo& info = newest.snapshot->info;
  std::printf("going on with the run in %s after step %s, from the checkpoint of %s\n",
              run_folder.c_str(), HumanCount(info.step).c_str(), info.time.c_str());
  return std::move(*newest.snapshot);
}

int Train(const Options& options) {
  std::vector<std::string> assignments = options.assignments;
  if (options.check_finite) assignments.emplace_back("train.check_finite=true");
  if (options.advise) assignments.emplace_back("watch.advise=true");
  if (options.port) assignments.push_back(fmt::format("watch.http.port={}", *options.port));
  const train::RunConfig config = train::LoadRunConfig(options.run_file, assignments);
  if (options.compare_precision) return ComparePrecision(config);
  // Until the first step a signal may end the process on the spot.
  StopRequest* stop = StopOnSignals();
  stop->nothing_to_lose = true;
  const RunChoice choice = ChooseRun(
      config, {.run_dir = options.run_dir, .fresh = options.fresh, .overwrite = options.overwrite});
  for (const std::string& message : choice.messages) std::printf("%s\n", message.c_str());
  if (choice.done) {
    std::printf(
        "the run in %s is done%s; there is nothing left to do. %sTo train anew use --fresh "
        "--overwrite\n",
        choice.path.c_str(), choice.stopped_early ? ", early stopping ended it" : "",
        choice.stopped_early ? "" : "For more of it raise train.epochs. ");
    return kExitDone;
  }
  const bool resumes = choice.existing == train::RunFolder::Existing::kResume;
  if (resumes && !options.weights.empty()) {
    throw Invalid(
        "--weights is for new runs, but {} holds one to go on with; use --fresh, or another "
        "--run-dir",
        choice.path);
  }
  std::optional<checkpoint::TensorFile> weights;
  if (!options.weights.empty()) weights = checkpoint::LoadSafetensors(options.weights);
  std::optional<train::RunFolder> folder;
  std::optional<checkpoint::LoadedSnapshot> snapshot;
  if (resumes) {
    folder.emplace(choice.path, choice.existing);
    snapshot = LoadSnapshot(choice.path);
  }
  const auto preemption = train::WatchForPreemption(config.checkpoint, stop);
  // Everything that can be wrong is found before a new run's folder is made.
  Session session = MakeSession(config);
  if (weights) session.trainer->LoadWeights(*weights, options.weights);
  if (snapshot) {
    train::RunState state =
        train::RunState::FromJson(snapshot->state, snapshot->info.path + "/state.json");
    if (choice.changed) state.done = false;
    session.trainer->Restore(*snapshot, std::move(state));
    snapshot.reset();
  }
  Live live(config, session.ledger, choice.path, resumes);
  for (const std::string& message : live.messages()) std::printf("%s\n", message.c_str());
  std::fflush(stdout);  // it can be looked at while the programs compile
  if (!folder) folder.emplace(choice.path, choice.existing);
  auto console = MakeConsole(config.watch.progress);
  auto tensorboard = std::make_unique<train::TensorBoardObserver>(config, session.trainer->model(),
                                                                  session.sources);
  train::Observers observers;
  observers.Add(console.get());
  observers.Add(tensorboard.get());
  observers.Add(&live);
  // Before anything is waited for: a clean line, and whole files.
  const auto end = [&] {
    console.reset();
    tensorboard.reset();
  };
  std::optional<train::FitResult> result;
  try {
    result = session.trainer->Fit(&*folder, &observers, stop);
  } catch (const Error& error) {
    end();
    PrintError(error.what());
    return Linger(live, config, *stop, error.exit_code());
  }
  end();
  PrintResult(*result, session.sources.test, *folder);
  if (options.save_tuned) SaveTuned(options, config, *result);
  if (!result->summary.error.empty()) PrintError(result->summary.error);
  return Linger(live, config, *stop, result->summary.exit_code);
}

}  // namespace

void AddTrain(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand("train", "Train the model that a run file describes");
  auto options = std::make_shared<Options>();
  command
      ->add_option("run_file", options->run_file,
                   "Run file (TOML), for example "
                   "examples/fashion_mnist/cnn.toml")
      ->required();
  command
      ->add_option("--set", options->assignments,
                   "Change a key of the run file: --set train.epochs=3 (may be repeated)")
      ->take_all();
  command->add_option(
      "--run-dir", options->run_dir,
      "Folder for what the run leaves behind (default: runs/<name of the run file>). An "
      "interrupted run that it holds is gone on with");
  command->add_option(
      "--weights", options->weights,
      "Start from the weights of this safetensors file, with the loss scale kept in "
      "it, and not from new ones");
  command->add_flag("--advise", options->advise,
                    "While training make changes that promise more speed and change nothing of "
                    "what is learned (input threads and depth, steps per launch, how often to "
                    "save), one at a time, and say what each gave; the same as --set "
                    "watch.advise=true");
  command->add_flag("--check-finite", options->check_finite,
                    "Look into every step for the first value that is not finite, and name its "
                    "layer (slow); the same as --set train.check_finite=true");
  command->add_flag("--compare-precision", options->compare_precision,
                    "Do not train: measure the training step in each precision on this device, and "
                    "say which is the fastest, by how much and why");
  command->add_option("--port", options->port,
                      "Serve a live page and Prometheus's /metrics on this port while the run "
                      "lasts; the same as --set watch.http.port=PORT");
  command->add_flag("--overwrite", options->overwrite,
                    "Replace a run that --run-dir holds already");
  command->add_flag("--fresh", options->fresh,
                    "Begin a new run where an interrupted one would be gone on with (with "
                    "--overwrite in its folder, else in another)");
  command->add_flag("--save-tuned", options->save_tuned,
                    "At the end, write the data.workers and data.prefetch that were tuned into the "
                    "run file");
  command->footer(
      "Exit codes: 0 done, 2 bad arguments or run file, 3 bad data, 4 out of memory,\n"
      "6 stopped and saved (the same command goes on), 70 a fault in Flatout.");
  command->callback([options, run] { *run = [options] { return Train(*options); }; });
}

}  // namespace flatout::cli
