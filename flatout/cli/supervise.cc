// flatout supervise: keeps a training run going through crashes, and says what they cost.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"
#include "flatout/cli/choose_run.h"
#include "flatout/cli/command.h"
#include "flatout/cli/signals.h"
#include "flatout/watch/ledger.h"

namespace flatout::cli {
namespace {

struct Options {
  std::vector<std::string> command;  // train run.toml ...
  int64_t max_restarts = 10;         // in a row that bring no progress
  double wait_seconds = 1;           // before a restart after no progress; doubles with each
  double most_wait_seconds = 60;
};

// ---- the child ----

std::atomic<pid_t> child{0};
std::atomic<int> signalled{0};

// Signals go to the child, which saves and ends.
void Forward(int signal) {
  signalled = signal;
  if (const pid_t pid = child; pid > 0) kill(pid, signal);
}

// How a process ended.
struct End {
  int exit_code = 0;
  int signal = 0;  // 0: it exited
};

pid_t Start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw Invalid("cannot start {}: {}", command[0], std::strerror(errno));
  if (pid > 0) return pid;
  // Nobody would be left to look after it: it saves and ends when this process is gone.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kExitPreempted);
  // Ctrl-C reaches the whole group of the terminal: once is enough, and a second is "at once".
  setpgid(0, 0);
  execv("/proc/self/exe", arguments.data());
  _exit(127);
}

End WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

std::string Describe(const End& end) {
  if (end.signal != 0) {
    const char* name = sigabbrev_np(end.signal);
    return fmt::format("was ended by signal {} (SIG{})", end.signal, name ? name : "?");
  }
  switch (end.exit_code) {
    case kExitDone:
      return "is done";
    case kExitUsage:
      return "could not go on (exit code 2; it says why above)";
    case kExitBadData:
      return "found bad data";
    case kExitOutOfMemory:
      return "ran out of memory";
    case kExitPeerLost:
      return "lost a peer";
    case kExitPreempted:
      return "was stopped, and saved";
    default:
      return fmt::format("failed with exit code {}", end.exit_code);
  }
}

// Starting again would give the same.
bool IsFinal(const End& end) {
  return end.signal == 0 && (end.exit_code == kExitDone || end.exit_code == kExitUsage ||
                             end.exit_code == kExitBadData);
}

// ---- what became of the time ----

struct Account {
  watch::LedgerReport before;  // what the run had behind it when supervise began
  int64_t steps_before = 0;
  double wall = 0;    // seconds since supervise began
  double waited = 0;  // between a crash and the next start
  int64_t restarts = 0;
  int64_t steps = 0;         // that count
  watch::LedgerReport kept;  // of all the time whose work was kept
};

// From summary.json of a run that came to its end, else from the newest snapshot.
void ReadKept(const std::string& folder, bool ended, Account& account) {
  if (ended) {
    try {
      const auto json = nlohmann::json::parse(ReadRegularFile(folder + "/summary.json"));
      account.steps = json.at("steps");
      account.kept.wall = json.at("wall_seconds");
      for (int i = 0; i < watch::kNumCauses; ++i) {
        const auto& seconds =
            json.at("ledger").at(std::string(watch::Name(static_cast<watch::Cause>(i))));
        if (seconds.is_number()) account.kept.seconds[i] = seconds;
      }
      return;
    } catch (const std::exception&) {
      // A summary that is not there or not whole: the snapshot knows, too.
    }
  }
  if (const auto state = PeekState(folder)) {
    account.steps = state->steps;
    account.kept = state->ledger;
  }
}

void Print(Account account, const std::string& folder) {
  for (int i = 0; i < watch::kNumCauses; ++i) {
    double& seconds = account.kept.seconds[i];
    seconds = std::max(0.0, seconds - account.before.seconds[i]);
  }
  account.kept.wall = std::max(0.0, account.kept.wall - account.before.wall);
  account.steps = std::max<int64_t>(0, account.steps - account.steps_before);
  using watch::Cause;
  const double wall = std::max(account.wall, 1e-9);
  const auto share = [&](double seconds) {
    return fmt::format("{} ({:.1f} %)", HumanDuration(seconds), 100 * seconds / wall);
  };
  const double useful = account.kept.of(Cause::kCompute) + account.kept.of(Cause::kCommunication) +
                        account.kept.of(Cause::kEvaluation);
  // Work since the last snapshot that was done again, and whatever the crash itself took.
  const double lost = std::max(0.0, wall - account.kept.wall - account.waited);
  std::printf("goodput: %.1f %% of %s; %s useful steps, %.2f/s of wall time; %s restart%s\n",
              100 * std::min(1.0, useful / wall), HumanDuration(wall).c_str(),
              HumanCount(account.steps).c_str(), static_cast<double>(account.steps) / wall,
              HumanCount(account.restarts).c_str(), account.restarts == 1 ? "" : "s");
  std::string line = "  the rest: ";
  for (const Cause cause : {Cause::kStart, Cause::kCompile, Cause::kInput, Cause::kCopy,
                            Cause::kCheckpoint, Cause::kHost}) {
    line += fmt::format("{} {}, ", watch::Name(cause), share(account.kept.of(cause)));
  }
  line += account.restarts == 0 ? fmt::format("before and after training {}", share(lost))
                                : fmt::format("work lost in crashes {}, waiting to restart {}",
                                              share(lost), share(account.waited));
  std::printf("%s\n", line.c_str());
  std::printf("  run folder: %s\n", folder.c_str());
}

// ---- the command ----

// The run file, the folder that every start is to use, and the child's command line with it.
struct Plan {
  std::string folder;
  bool goes_on = false;                   // with a run that is there
  bool done = false;                      // which has nothing left to do
  std::vector<std::string> first, again;  // command lines
};

Plan MakePlan(const Options& options) {
  const std::vector<std::string>& words = options.command;
  if (words.empty() || words[0] != "train") {
    throw Invalid("supervise looks after training: flatout supervise -- train run.toml; found {}",
                  words.empty() ? "nothing" : "\"" + words[0] + "\"");
  }
  // As `train` itself reads them, only for what is needed here.
  std::string run_file;
  std::vector<std::string> assignments;
  RunWishes wishes;
  Plan plan;
  plan.again = {"flatout", "train"};
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&](const std::string& name) -> std::optional<std::string> {
      if (word.starts_with(name + "=")) return word.substr(name.size() + 1);
      if (word == name && i + 1 < words.size()) return words[++i];
      return std::nullopt;
    };
    const size_t at = i;
    if (const auto folder = value("--run-dir")) {
      wishes.run_dir = *folder;
      continue;  // added below
    }
    if (const auto assignment = value("--set")) {
      assignments.push_back(*assignment);
    } else if (word == "--fresh" || word == "--overwrite") {
      (word == "--fresh" ? wishes.fresh : wishes.overwrite) = true;
      continue;  // for the first start alone
    } else if (const auto weights = value("--weights")) {
      // A run that goes on has its own.
      plan.first.insert(plan.first.end(), {"--weights", *weights});
      continue;
    } else if (!word.starts_with("-") && run_file.empty()) {
      run_file = word;
    }
    for (size_t k = at; k <= i; ++k) plan.again.push_back(words[k]);
  }
  if (run_file.empty()) throw Invalid("supervise: which run file? flatout supervise -- train FILE");
  const RunChoice choice = ChooseRun(train::LoadRunConfig(run_file, assignments), wishes);
  plan.folder = choice.path;
  plan.goes_on = choice.existing == train::RunFolder::Existing::kResume;
  plan.done = choice.done;
  plan.again.insert(plan.again.end(), {"--run-dir", plan.folder});
  const std::vector<std::string> only_first = plan.first;
  plan.first = plan.again;
  plan.first.insert(plan.first.end(), only_first.begin(), only_first.end());
  if (wishes.fresh) plan.first.emplace_back("--fresh");
  if (wishes.overwrite) plan.first.emplace_back("--overwrite");
  return plan;
}

int Supervise(const Options& options) {
  const Plan plan = MakePlan(options);
  struct sigaction action {};
  action.sa_handler = Forward;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  if (!HangUpIsIgnored()) sigaction(SIGHUP, &action, nullptr);

  Account account;
  if (plan.goes_on) {
    if (const auto state = PeekState(plan.folder)) {
      account.before = state->ledger;
      account.steps_before = state->steps;
    }
  }
  const double begin = SteadySeconds();
  int64_t in_vain = 0, progress = -1;
  double wait = options.wait_seconds;
  End end;
  bool stopped_waiting = false;  // there was no child to pass a signal on to
  for (bool first = true;; first = false) {
    std::fflush(stdout);
    child = Start(first ? plan.first : plan.again);
    if (signalled != 0) kill(child, signalled);  // it came before there was a child
    end = WaitFor(child);
    child = 0;
    if (IsFinal(end) || signalled != 0) break;
    const auto state = PeekState(plan.folder);
    const int64_t now = state ? state->steps + state->skipped_steps : 0;
    const bool further = now > progress;
    if (further) {
      in_vain = 0;
      wait = options.wait_seconds;
    }
    progress = std::max(progress, now);
    // The cloud takes the machine away: there is nobody to start it again for.
    if (end.signal == 0 && end.exit_code == kExitPreempted) break;
    if (++in_vain > options.max_restarts) {
      std::fprintf(stderr,
                   "flatout: training %s, and %lld starts in a row brought no step further; "
                   "giving up\n",
                   Describe(end).c_str(), static_cast<long long>(in_vain));
      break;
    }
    // Whatever came in the way of a run that got on is likely over.
    const double pause = further ? 0 : wait;
    std::fprintf(stderr, "flatout: training %s; starting it again %s, from step %lld\n",
                 Describe(end).c_str(),
                 further ? "at once" : ("in " + HumanDuration(pause)).c_str(),
                 static_cast<long long>(now));
    const double from = SteadySeconds();
    while (SteadySeconds() - from < pause && signalled == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    account.waited += SteadySeconds() - from;
    if (signalled != 0) {
      end = {kExitPreempted, 0};
      stopped_waiting = true;
      break;
    }
    if (!further) wait = std::min(2 * wait, options.most_wait_seconds);
    ++account.restarts;
  }
  account.wall = SteadySeconds() - begin;
  ReadKept(plan.folder, end.signal == 0, account);
  if (stopped_waiting) {
    std::printf("\nstopped while training waited to be started again; the same command goes on\n");
  } else {
    std::printf("\ntraining %s\n", Describe(end).c_str());
  }
  if (!plan.done) Print(account, plan.folder);
  return end.exit_code;
}

// Seconds, or how often: CLI::Range takes NaN for a number in every range.
const CLI::Validator kNotNegative(
    [](std::string& text) {
      const double value = std::atof(text.c_str());
      return value >= 0 && value <= 1e9 ? "" : "expected a number from 0 to 1e9, found " + text;
    },
    "NUMBER");

}  // namespace

void AddSupervise(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "supervise", "Run `flatout train`, start it again after crashes, and tell what they cost");
  auto options = std::make_shared<Options>();
  command
      ->add_option("--max-restarts", options->max_restarts,
                   "Starts in a row that bring no step further before giving up (10)")
      ->check(kNotNegative);
  command
      ->add_option("--wait", options->wait_seconds,
                   "Seconds before a restart after a start that brought no step further; each "
                   "further one waits twice as long (1)")
      ->check(kNotNegative);
  command->add_option("--most-wait", options->most_wait_seconds, "And never longer than this (60)")
      ->check(kNotNegative);
  command
      ->add_option("command", options->command,
                   "After --: the training command, train run.toml ...")
      ->required();
  command->footer(
      "Example: flatout supervise -- train run.toml --run-dir runs/night\n"
      "Signals are passed on: training saves, and supervise ends with its exit code. A run file\n"
      "that is wrong and bad data end it, too; out of memory, signals and faults are restarted.");
  command->callback([options, run] { *run = [options] { return Supervise(*options); }; });
}

}  // namespace flatout::cli
