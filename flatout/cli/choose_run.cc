#include "flatout/cli/choose_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/checkpoint/store.h"
#include "flatout/train/saver.h"

namespace flatout::cli {
namespace {

using Existing = train::RunFolder::Existing;

bool IsLocked(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool locked = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return locked;
}

// Training is over, and so is what follows it: a summary says so of as many steps. (That of a run
// which has been trained further since, and was killed before it wrote its own, does not count.)
bool HasEnded(const std::string& folder, const train::RunState& state) {
  try {
    const auto json = nlohmann::json::parse(ReadRegularFile(folder + "/summary.json"), nullptr,
                                            /*exceptions=*/false);
    // Of whatever type it is.
    return json.is_object() && json.contains("status") && json["status"] == "done" &&
           json.contains("steps") && json["steps"] == state.steps;
  } catch (const Error&) {
    return false;
  }
}

std::vector<checkpoint::Inspection> SnapshotsOf(const std::string& folder) {
  return checkpoint::Store(train::CheckpointFolder(folder)).List();
}

bool HoldsRun(const std::string& folder) {
  return FileExists(folder + "/run.toml") || !SnapshotsOf(folder).empty();
}

// Whether training that left no snapshot left something else that somebody may want.
bool HoldsWeights(const std::string& folder) {
  return FileExists(folder + "/weights.safetensors") || FileExists(folder + "/best.safetensors");
}

// How long a run is to be; asking for more of it is no other run.
bool IsLength(const std::string& change) {
  return change.starts_with("train.epochs:") || change.starts_with("train.max_steps:");
}

// What is there of a run, beside the run file that is to go on with it.
struct Found {
  std::optional<train::RunState> state;
  train::RunFileChanges changes;
  bool only_length = true;  // nothing has changed but how long it is to be
  bool nothing_left = false;
};

Found LookInto(const std::string& folder, const train::RunConfig& config) {
  Found found;
  found.state = PeekState(folder);
  if (!found.state) return found;
  const train::RunState& state = *found.state;
  found.changes =
      train::CompareRunFiles(Config::ParseToml(state.run_file, "run.toml"), config.tree);
  found.only_length = found.changes.refused.empty() &&
                      std::all_of(found.changes.noted.begin(), found.changes.noted.end(), IsLength);
  const train::TrainOptions& train = config.train;
  const bool long_enough = state.epochs >= train.epochs || state.stopped_early ||
                           (train.max_steps && state.steps >= *train.max_steps);
  found.nothing_left = state.done && found.only_length && long_enough && HasEnded(folder, state);
  return found;
}

RunChoice InFolder(const train::RunConfig& config, const RunWishes& wishes) {
  RunChoice choice{.path = wishes.run_dir};
  if (train::RunFolder::IsBeingReplaced(choice.path)) {
    train::RunFolder::CheckFree(choice.path);
    choice.existing = Existing::kOverwrite;
    choice.messages.push_back(fmt::format(
        "{} was about to be replaced by another run when that ended; this run begins there",
        choice.path));
    return choice;
  }
  const bool holds_run = HoldsRun(choice.path);
  if (wishes.overwrite) {
    choice.existing = Existing::kOverwrite;
    if (holds_run) train::RunFolder::CheckFree(choice.path);
    const std::optional<train::RunState> state = holds_run ? PeekState(choice.path) : std::nullopt;
    if (state && !HasEnded(choice.path, *state)) {
      choice.messages.push_back(
          fmt::format("replacing the run in {}, which had been interrupted after step {}",
                      choice.path, state->steps));
    }
    return choice;
  }
  if (!holds_run) return choice;
  if (wishes.fresh) {
    throw UserError(Code::kAlreadyExists,
                    fmt::format("{} holds a run already, and --fresh does not replace it; choose "
                                "another --run-dir, or add --overwrite",
                                choice.path));
  }
  train::RunFolder::CheckFree(choice.path);
  const Found found = LookInto(choice.path, config);
  if (!found.state) {
    const auto snapshots = SnapshotsOf(choice.path);
    if (std::any_of(snapshots.begin(), snapshots.end(), [](const auto& one) {
          return one.condition != checkpoint::Condition::kUnfinished;
        })) {
      choice.existing = Existing::kResume;  // loading says what is wrong with them
    } else if (!HoldsWeights(choice.path)) {
      choice.existing = Existing::kOverwrite;
      choice.messages.push_back(fmt::format(
          "{} holds a run that ended before its first checkpoint; it begins again", choice.path));
    } else {
      throw UserError(
          Code::kAlreadyExists,
          fmt::format(
              "{} holds a run already, without a checkpoint to go on from but with weights; "
              "choose another --run-dir, or replace that run with --overwrite",
              choice.path));
    }
    return choice;
  }
  if (!found.changes.refused.empty()) {
    throw Invalid(
        "the run in {} cannot go on with this run file, which makes another run of it ({}). Bring "
        "these keys back, choose another --run-dir, or replace the run with --fresh --overwrite",
        choice.path, fmt::join(found.changes.refused, "; "));
  }
  choice.existing = Existing::kResume;
  choice.done = found.nothing_left;
  choice.stopped_early = found.state->stopped_early;
  choice.changed = !found.changes.noted.empty();
  if (choice.done) return choice;
  for (const std::string& change : found.changes.noted) {
    choice.messages.push_back("the run file has changed, and the run goes on with it: " + change);
  }
  return choice;
}

RunChoice ByName(const train::RunConfig& config, const RunWishes& wishes) {
  RunChoice choice{.path = train::RunFolder::NewPath(config.name)};
  if (wishes.fresh) return choice;
  std::vector<std::string> folders = {"runs/" + config.name};
  for (int i = 2; FileExists(fmt::format("runs/{}-{}", config.name, i)); ++i) {
    folders.push_back(fmt::format("runs/{}-{}", config.name, i));
  }
  std::reverse(folders.begin(), folders.end());  // the latest first
  for (const std::string& folder : folders) {
    if (IsLocked(folder) || train::RunFolder::IsBeingReplaced(folder) || !HoldsRun(folder)) {
      continue;
    }
    const Found found = LookInto(folder, config);
    if (!found.state || found.nothing_left) continue;
    const bool ended = found.state->done && HasEnded(folder, *found.state);
    if (found.only_length) {
      choice.path = folder;
      choice.existing = Existing::kResume;
      choice.changed = !found.changes.noted.empty();
      choice.messages = found.changes.noted;
      return choice;
    }
    if (ended) continue;
    std::vector<std::string> all = found.changes.refused;
    all.insert(all.end(), found.changes.noted.begin(), found.changes.noted.end());
    choice.messages.push_back(fmt::format(
        "{} holds an unfinished run of a run file that has changed since ({}){}", folder,
        fmt::join(all, "; "),
        found.changes.refused.empty() ? "; --run-dir " + folder + " would go on with it" : ""));
  }
  return choice;
}

}  // namespace

std::optional<train::RunState> PeekState(const std::string& run_folder) {
  const checkpoint::Store store(train::CheckpointFolder(run_folder));
  for (const checkpoint::Inspection& snapshot : store.List()) {
    if (snapshot.condition != checkpoint::Condition::kComplete) continue;
    const std::string path = snapshot.path + "/state.json";
    try {
      return train::RunState::FromJson(ReadRegularFile(path), path);
    } catch (const Error&) {
      continue;  // the next is tried; loading will say what is wrong with this one
    }
  }
  return std::nullopt;
}

RunChoice ChooseRun(const train::RunConfig& config, const RunWishes& wishes) {
  return wishes.run_dir.empty() ? ByName(config, wishes) : InFolder(config, wishes);
}

}  // namespace flatout::cli
