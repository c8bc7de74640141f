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

// Training is over, and so is what follows it.
bool HasEnded(const std::string& folder) {
  try {
    const auto json =
        nlohmann::json::parse(ReadFile(folder + "/summary.json"), nullptr, /*exceptions=*/false);
    return json.is_object() && json.value("status", "") == "done";
  } catch (const Error&) {
    return false;
  }
}

bool HoldsRun(const std::string& folder) { return FileExists(folder + "/run.toml"); }

// Training without a snapshot that left nothing else either was killed right after its start.
bool HoldsNothingOfValue(const std::string& folder) {
  return !FileExists(folder + "/weights.safetensors") && !FileExists(folder + "/best.safetensors");
}

// How long a run is to be; asking for more of it is no other run.
bool IsLength(const std::string& change) {
  return change.starts_with("train.epochs:") || change.starts_with("train.max_steps:");
}

train::RunFileChanges Changes(const train::RunState& state, const train::RunConfig& config) {
  return train::CompareRunFiles(Config::ParseToml(state.run_file, "run.toml"), config.tree);
}

RunChoice InFolder(const train::RunConfig& config, const RunWishes& wishes) {
  RunChoice choice{.path = wishes.run_dir};
  if (wishes.overwrite) {
    choice.existing = Existing::kOverwrite;
    return choice;
  }
  if (!HoldsRun(choice.path)) return choice;
  if (wishes.fresh) {
    throw UserError(Code::kAlreadyExists,
                    fmt::format("{} holds a run already, and --fresh does not replace it; choose "
                                "another --run-dir, or add --overwrite",
                                choice.path));
  }
  // Whoever is at work there is told of by the lock.
  if (IsLocked(choice.path)) return choice;
  const std::optional<train::RunState> state = PeekState(choice.path);
  if (!state) {
    const checkpoint::Store store(train::CheckpointFolder(choice.path));
    const auto snapshots = store.List();
    const bool any = std::any_of(snapshots.begin(), snapshots.end(), [](const auto& one) {
      return one.condition != checkpoint::Condition::kUnfinished;
    });
    if (!any && HoldsNothingOfValue(choice.path)) {
      choice.existing = Existing::kOverwrite;
      choice.messages.push_back(fmt::format(
          "{} holds a run that ended before its first checkpoint; it begins again", choice.path));
    } else if (any) {
      choice.existing = Existing::kResume;  // loading says what is wrong with them
    }
    return choice;
  }
  const train::RunFileChanges changes = Changes(*state, config);
  if (!changes.refused.empty()) {
    throw Invalid(
        "the run in {} cannot go on with this run file, which makes another run of it ({}). Bring "
        "these keys back, choose another --run-dir, or replace the run with --fresh --overwrite",
        choice.path, fmt::join(changes.refused, "; "));
  }
  choice.existing = Existing::kResume;
  choice.done = state->done && changes.noted.empty() && HasEnded(choice.path);
  choice.changed = !changes.noted.empty();
  for (const std::string& change : changes.noted) {
    choice.messages.push_back("the run file has changed, and the run goes on with it: " + change);
  }
  return choice;
}

RunChoice ByName(const train::RunConfig& config, const RunWishes& wishes) {
  RunChoice choice{.path = train::RunFolder::NewPath(config.name)};
  if (wishes.fresh) return choice;
  // The latest of them.
  std::string latest = "runs/" + config.name;
  for (int i = 2; FileExists(fmt::format("runs/{}-{}", config.name, i)); ++i) {
    latest = fmt::format("runs/{}-{}", config.name, i);
  }
  if (!HoldsRun(latest) || IsLocked(latest)) return choice;
  const std::optional<train::RunState> state = PeekState(latest);
  if (!state) return choice;
  const train::RunFileChanges changes = Changes(*state, config);
  const bool same =
      changes.refused.empty() && std::all_of(changes.noted.begin(), changes.noted.end(), IsLength);
  if (state->done && changes.noted.empty() && HasEnded(latest)) return choice;
  if (!same) {
    if (state->done) return choice;
    std::vector<std::string> all = changes.refused;
    all.insert(all.end(), changes.noted.begin(), changes.noted.end());
    choice.messages.push_back(fmt::format(
        "{} holds an unfinished run of a run file that has changed since ({}); this is a new run "
        "in {}{}",
        latest, fmt::join(all, "; "), choice.path,
        changes.refused.empty() ? ". --run-dir " + latest + " would go on with it" : ""));
    return choice;
  }
  choice.path = latest;
  choice.existing = Existing::kResume;
  choice.changed = !changes.noted.empty();
  for (const std::string& change : changes.noted) choice.messages.push_back(change);
  return choice;
}

}  // namespace

std::optional<train::RunState> PeekState(const std::string& run_folder) {
  const checkpoint::Store store(train::CheckpointFolder(run_folder));
  for (const checkpoint::Inspection& snapshot : store.List()) {
    if (snapshot.condition != checkpoint::Condition::kComplete) continue;
    const std::string path = snapshot.path + "/state.json";
    try {
      return train::RunState::FromJson(ReadFile(path), path);
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
