// flatout profile: some steps of training, moment by moment.
#include "flatout/train/profile.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/trace.h"
#include "flatout/cli/command.h"
#include "flatout/cli/console.h"
#include "flatout/cli/session.h"
#include "flatout/cli/signals.h"
#include "flatout/watch/profile/xspace.h"
#include "flatout/xla/profiler.h"

namespace flatout::cli {
namespace {

namespace profile = watch::profile;

struct Options {
  std::string run_file;
  std::vector<std::string> assignments;
  std::string out;
  int64_t steps = 20;
  int64_t kernels = 20;
};

// The profiler of the plugin that trains; says why there is none.
std::unique_ptr<xla::Profiler> MakeProfiler(const std::shared_ptr<xla::Plugin>& plugin,
                                            std::string& why_not) {
  if (!xla::Profiler::Has(*plugin)) {
    why_not = "this plugin has no profiler";
    return nullptr;
  }
  try {
    return std::make_unique<xla::Profiler>(plugin);
  } catch (const Error& error) {
    why_not = error.what();
    return nullptr;
  }
}

int RunProfile(const Options& options) {
  train::RunConfig config = train::LoadRunConfig(options.run_file, options.assignments);
  // Steps, and nothing that a run does besides: none is kept.
  config.train.epochs = std::max<int64_t>(config.train.epochs, 1'000'000);
  config.train.max_steps.reset();
  config.train.evaluate_every = 0;
  config.train.evaluate_test = false;
  config.train.early_stopping.reset();
  config.train.reduce_lr_on_plateau.reset();
  config.watch.ceiling = false;
  const std::string folder = options.out.empty() ? "runs/" + config.name + "-profile" : options.out;
  MakeDirs(folder);  // before anything is waited for

  StopRequest* stop = StopOnSignals();
  Session session = MakeSession(config);
  std::string why_no_kernels;
  const xla::Client& client = session.trainer->runtime().client();
  auto profiler = MakeProfiler(xla::Plugin::Load(client.plugin().path()), why_no_kernels);
  train::ProfileObserver observer(options.steps, *session.ledger, *stop, std::move(profiler));
  auto console = MakeConsole(config.watch.progress);
  train::Observers observers;
  observers.Add(console.get());
  observers.Add(&observer);
  session.trainer->Fit(nullptr, &observers, stop);
  console.reset();
  if (!observer.profile()) {
    throw UserError(Code::kAborted,
                    "the run was stopped before the steps to profile had been done");
  }

  const train::Profile& made = *observer.profile();
  const std::string session_name = profile::NewSession();
  const std::string where = folder + "/plugins/profile/" + session_name;
  MakeDirs(where);
  const std::string trace = where + "/trace.json";
  AtomicWriteFile(trace, trace::ToChromeTrace(made.recording, "flatout " + config.name));
  std::printf("\nSteps %lld to %lld of %s on %s\n", static_cast<long long>(made.first_step + 1),
              static_cast<long long>(made.first_step + made.steps), config.name.c_str(),
              session.trainer->runtime().Describe().c_str());
  std::fputs(train::TimeTable(made).c_str(), stdout);
  if (!made.xspace.empty()) {
    const std::string xplane = profile::WriteProfile(folder, session_name, made.xspace);
    std::fputs(profile::KernelTable(profile::ReadDevices(made.xspace),
                                    static_cast<size_t>(options.kernels))
                   .c_str(),
               stdout);
    std::printf("kernels: %s (tensorboard --logdir %s, with its profile plugin)\n", xplane.c_str(),
                folder.c_str());
  } else {
    if (why_no_kernels.empty()) why_no_kernels = made.why_no_kernels;
    std::printf("kernels: n/a (%s)\n", why_no_kernels.c_str());
  }
  int64_t lost = 0;
  for (const trace::Track& track : made.recording.tracks) lost += track.lost;
  if (lost > 0) {
    LogWarning("{} spans were too many to keep; profile fewer steps (--steps)", lost);
  }
  std::printf("threads: %s (open it at ui.perfetto.dev, or in chrome://tracing)\n", trace.c_str());
  return kExitDone;
}

}  // namespace

void AddProfile(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "profile", "Train some steps and show what threads, devices and kernels did meanwhile");
  auto options = std::make_shared<Options>();
  command->add_option("run_file", options->run_file, "Run file (TOML)")->required();
  command
      ->add_option("--steps", options->steps,
                   "Steps to record, after those that warm up; whole launches are recorded")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}))
      ->capture_default_str();
  command
      ->add_option("--set", options->assignments,
                   "Change a key of the run file: --set train.global_batch=64 (may be repeated)")
      ->take_all();
  command->add_option("--out", options->out,
                      "Folder for the trace (default: runs/<name of the run file>-profile)");
  command->add_option("--kernels", options->kernels, "How many kernels the table shows, on GPUs")
      ->check(CLI::Range(int64_t{1}, int64_t{10'000}))
      ->capture_default_str();
  command->footer(
      "Nothing of the training is kept. docs/tensorboard.md says what the files hold.\n"
      "Exit codes as of flatout train.");
  command->callback([options, run] { *run = [options] { return RunProfile(*options); }; });
}

}  // namespace flatout::cli
