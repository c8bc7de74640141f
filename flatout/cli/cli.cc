#include "flatout/cli/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/cli/command.h"
#include "flatout/xla/cuda_driver.h"
#include "flatout/xla/pjrt.h"

namespace flatout::cli {
namespace {

constexpr const char* kVersion = "flatout 0.1.0";

// What is wrong with the command line, with the nearest command or option, and where help is.
std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  // The innermost command that was named.
  const CLI::App* innermost = &app;
  std::string path = "flatout";
  while (!innermost->get_subcommands().empty()) {
    innermost = innermost->get_subcommands().front();
    path += " " + innermost->get_name();
  }
  const CLI::App& command = *innermost;
  const std::string help = path + " --help";
  const std::vector<std::string> rest = app.remaining(true);
  std::vector<std::string> names;
  for (const CLI::App* inner : command.get_subcommands(nullptr)) {
    names.push_back(inner->get_name());
  }
  for (const std::string& word : rest) {
    if (names.empty() || word.starts_with("-")) continue;
    return fmt::format("there is no command \"{}\"{}; known are {}; see {}", word,
                       DidYouMean(word, names), fmt::join(names, ", "), help);
  }
  std::vector<std::string> options;
  for (const CLI::App* owner : {&command, &app}) {
    for (const CLI::Option* option : owner->get_options()) {
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    }
  }
  for (const std::string& word : rest) {
    if (!word.starts_with("-") || word == "--") continue;
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("there is no option {}{}; see {}", name, DidYouMean(name, options), help);
  }
  return fmt::format("{}; see {}", error.what(), help);
}

}  // namespace

void PrintError(const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "flatout: %s\n", message.c_str());
}

int Main(int argc, char** argv) {
  // A file-size limit or a closed pipe is an error like others, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  // Without a GPU it is the CPU that computes.
  if (!xla::HasNvidiaDriver()) xla::KeepMemoryBetweenLaunches();
  CLI::App app(
      "Flatout trains deep models and says how full the device ran.\n"
      "Start with: flatout train examples/fashion_mnist/cnn.toml");
  app.name("flatout");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  std::string log_level;
  app.add_option("--log", log_level, "Log level: debug, info, warning, error, off");
  Run run;
  AddTrain(app, &run);
  AddSupervise(app, &run);
  AddEvaluate(app, &run);
  AddPredict(app, &run);
  AddPlan(app, &run);
  AddProfile(app, &run);
  AddData(app, &run);
  AddCheckpoint(app, &run);
  AddDevices(app, &run);
  AddModels(app, &run);
  AddDoctor(app, &run);
  AddPlugin(app, &run);
  AddReport(app, &run);
  AddTop(app, &run);
  try {
    app.parse(argc, argv);
    if (!log_level.empty()) {
      SetLogLevel(ParseLogLevel(log_level));
    } else {
      GetLogLevel();  // says at once, and not only with the first line, what FLATOUT_LOG is not
    }
    const int code = run();
    // A reader that went away (| head) has seen what it wanted.
    if (std::fflush(stdout) != 0 && errno != EPIPE) {
      PrintError("standard output could not be written");
      return kExitUsage;
    }
    return code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    PrintError(Explain(app, error));
    return kExitUsage;
  } catch (const Error& error) {
    PrintError(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    PrintError(
        "out of memory on the host; a smaller train.global_batch or data.prefetch_memory "
        "needs less");
    return kExitOutOfMemory;
  } catch (const std::system_error& error) {
    // A thread whose stack finds no room, or that is one too many.
    if (error.code() != std::errc::resource_unavailable_try_again) {
      PrintError(InternalError(error.what()).what());
      return kExitInternal;
    }
    PrintError(
        "a thread could not be started: there is no memory for its stack (ulimit -v and -s, the "
        "container's limit) or there are too many threads (ulimit -u, the container's pids.max); "
        "raise the limit, or set data.workers to fewer");
    return kExitOutOfMemory;
  } catch (const std::exception& error) {
    PrintError(InternalError(error.what()).what());
    return kExitInternal;
  }
}

}  // namespace flatout::cli
