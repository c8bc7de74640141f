// flatout checkpoint: what snapshots a run has, whether they are whole, their weights as one file,
// and what tells two of them apart.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"
#include "flatout/checkpoint/compare.h"
#include "flatout/checkpoint/safetensors.h"
#include "flatout/checkpoint/store.h"
#include "flatout/cli/command.h"
#include "flatout/train/saver.h"

namespace flatout::cli {
namespace {

using checkpoint::Condition;
using checkpoint::Inspection;
using checkpoint::TensorDifference;
using checkpoint::TensorFile;
using Json = nlohmann::ordered_json;

// As diff(1) has it.
constexpr int kExitDiffer = 1;

void PrintJson(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

bool IsFolder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// What a path on the command line is.
struct Target {
  std::string run;       // a run folder, or ""
  std::string folder;    // a folder of snapshots, or "": then `run` has none
  std::string snapshot;  // a single snapshot, or ""
  std::string file;      // a safetensors file, or ""

  // One snapshot or those of the folder, newest first; of the step alone, if given.
  std::vector<Inspection> Snapshots(std::optional<int64_t> step = std::nullopt) const {
    if (!snapshot.empty()) return {checkpoint::Inspect(snapshot)};
    if (folder.empty()) return {};
    std::vector<Inspection> found = checkpoint::Store(folder).List();
    if (!step) return found;
    std::string steps;
    for (const Inspection& one : found) {
      if (one.condition == Condition::kComplete) {
        steps += (steps.empty() ? "" : ", ") + std::to_string(one.info.step);
      }
    }
    std::erase_if(found, [&](const Inspection& one) {
      return one.condition != Condition::kComplete || one.info.step != *step;
    });
    if (found.empty()) {
      throw NotFound("{}: there is no snapshot of step {}; there are {}", folder, *step,
                     steps.empty() ? "none" : steps);
    }
    return found;
  }
};

Target FindTarget(const std::string& argument) {
  const std::string path = WithoutSlash(argument);
  if (!FileExists(path)) throw NotFound("there is no {}", path);
  Target target;
  if (!IsFolder(path)) {
    target.file = path;
    return target;
  }
  const std::string name = std::filesystem::path(path).filename().string();
  if (FileExists(path + "/manifest.json") || name.starts_with("step-")) {
    target.snapshot = path;
  } else if (IsFolder(train::CheckpointFolder(path))) {
    target.run = path;
    target.folder = train::CheckpointFolder(path);
  } else if (FileExists(path + "/run.toml") || FileExists(path + "/weights.safetensors")) {
    target.run = path;
  } else if (name == "checkpoints" || !checkpoint::Store(path).List().empty()) {
    target.folder = path;
  } else {
    throw NotFound(
        "{} is neither a run folder nor a snapshot: it has no run.toml, no checkpoints and no "
        "manifest.json",
        path);
  }
  return target;
}

// For commands that are about snapshots only.
Target FindSnapshots(const std::string& argument) {
  Target target = FindTarget(argument);
  if (!target.file.empty()) {
    throw Invalid("{} is a file; give a run folder or one of its snapshots", target.file);
  }
  if (target.snapshot.empty() && target.folder.empty()) {
    throw NotFound("{} has no snapshots (no folder checkpoints)", target.run);
  }
  return target;
}

// --- list ----------------------------------------------------------------------------------------

struct ListOptions {
  std::string path;
  bool json = false;
};

// Columns as wide as their widest cell; those of numbers to the right.
void PrintTable(const std::vector<std::vector<std::string>>& rows,
                const std::vector<bool>& to_the_right) {
  std::vector<size_t> widths(to_the_right.size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i > 0 ? "  " : "") + (to_the_right[i] ? space + row[i] : row[i] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

int List(const ListOptions& options) {
  const Target target = FindSnapshots(options.path);
  const std::vector<Inspection> found = target.Snapshots();
  const Inspection* best = checkpoint::Best(found);
  const auto newest = std::find_if(found.begin(), found.end(), [](const Inspection& one) {
    return one.condition == Condition::kComplete;
  });
  const auto is_newest = [&](const Inspection& one) {
    return newest != found.end() && &one == &*newest;
  };
  if (options.json) {
    Json json;
    json["path"] = target.snapshot.empty() ? target.folder : target.snapshot;
    json["snapshots"] = Json::array();
    for (const Inspection& one : found) {
      Json entry;
      entry["path"] = one.path;
      entry["condition"] = checkpoint::Name(one.condition);
      if (one.condition == Condition::kComplete) {
        entry["step"] = one.info.step;
        entry["epoch"] = one.info.epoch;
        entry["time"] = one.info.time;
        if (one.info.score) {
          entry["score"] = {{"metric", one.info.score->metric}, {"value", one.info.score->value}};
        }
        entry["newest"] = is_newest(one);
        entry["best"] = &one == best;
      } else {
        entry["problem"] = one.problem;
      }
      entry["bytes"] = one.bytes;
      json["snapshots"].push_back(std::move(entry));
    }
    PrintJson(json);
    return kExitDone;
  }
  if (found.empty()) {
    std::printf("%s: no snapshots\n", target.folder.c_str());
    return kExitDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"step", "epoch", "written", "size", "condition", "score", "", "folder"}};
  for (const Inspection& one : found) {
    const bool complete = one.condition == Condition::kComplete;
    const auto& score = one.info.score;
    const std::string marks = std::string(is_newest(one) ? "newest" : "") +
                              (is_newest(one) && &one == best ? ", " : "") +
                              (&one == best ? "best" : "");
    rows.push_back({complete ? HumanCount(one.info.step) : "-",
                    complete ? HumanCount(one.info.epoch) : "-", complete ? one.info.time : "-",
                    HumanBytes(one.bytes), std::string(checkpoint::Name(one.condition)),
                    score ? fmt::format("{} {:.5g}", score->metric, score->value) : "-", marks,
                    std::filesystem::path(one.path).filename().string()});
  }
  PrintTable(rows, {true, true, false, true, false, false, false, false});
  for (const Inspection& one : found) {
    if (!one.problem.empty()) std::printf("%s\n", one.problem.c_str());
  }
  return kExitDone;
}

// --- verify --------------------------------------------------------------------------------------

struct VerifyOptions {
  std::string path;
  std::optional<int64_t> step;
  bool json = false;
};

int Verify(const VerifyOptions& options) {
  const Target target = FindSnapshots(options.path);
  const std::vector<Inspection> found = target.Snapshots(options.step);
  if (found.empty()) throw NotFound("{}: no snapshots", target.folder);
  const Stopwatch clock;
  int64_t good = 0, bad = 0, bytes = 0;
  Json json;
  json["snapshots"] = Json::array();
  for (const Inspection& one : found) {
    std::vector<std::string> problems;
    const bool unfinished = one.condition == Condition::kUnfinished;
    if (unfinished) {
      problems.push_back(one.problem);
    } else {
      problems = checkpoint::Verify(one.path);
      bytes += one.bytes;
    }
    // One whose writer was killed is what such a folder looks like, and nothing is lost with it.
    const char* verdict = problems.empty() ? "good" : unfinished ? "unfinished" : "BAD";
    good += problems.empty();
    bad += !problems.empty() && !unfinished;
    if (options.json) {
      json["snapshots"].push_back({{"path", one.path},
                                   {"good", problems.empty()},
                                   {"condition", checkpoint::Name(one.condition)},
                                   {"problems", problems}});
    } else {
      std::printf("%s: %s\n", one.path.c_str(), verdict);
      for (const std::string& problem : problems) std::printf("  %s\n", problem.c_str());
    }
  }
  const int code = bad == 0 && good > 0 ? kExitDone : kExitBadData;
  if (options.json) {
    json["good"] = good;
    json["bad"] = bad;
    json["bytes"] = bytes;
    PrintJson(json);
  } else {
    std::printf("%lld good, %lld bad: %s read in %s\n", static_cast<long long>(good),
                static_cast<long long>(bad), HumanBytes(bytes).c_str(),
                HumanDuration(clock.Seconds()).c_str());
  }
  return code;
}

// --- export --------------------------------------------------------------------------------------

struct ExportOptions {
  std::string path;
  std::string output;
  std::string weights;
  std::optional<int64_t> step;
  std::string group = "weights";
  bool overwrite = false;
};

struct Exported {
  TensorFile tensors;
  std::string from;
};

Exported FromSnapshot(const Inspection& one, const std::string& group) {
  checkpoint::LoadedSnapshot loaded =
      checkpoint::Load(one.path, checkpoint::RealFileSystem(), {group});
  const auto found = loaded.groups.find(group);
  if (found == loaded.groups.end()) {
    std::string names;
    for (const checkpoint::SavedFile& file : loaded.info.files) {
      names += (names.empty() ? "" : ", ") + file.name;
    }
    throw NotFound("{} has no {}.safetensors; it has {}", one.path, group, names);
  }
  Exported exported{std::move(found->second), one.path};
  exported.tensors.metadata["step"] = std::to_string(loaded.info.step);
  exported.tensors.metadata["epoch"] = std::to_string(loaded.info.epoch);
  exported.tensors.metadata["format"] = "flatout";
  return exported;
}

int64_t StepOf(const TensorFile& tensors) {
  const auto found = tensors.metadata.find("step");
  return found == tensors.metadata.end() ? -1 : std::strtoll(found->second.c_str(), nullptr, 10);
}

// The newest that can be read; what cannot is told on standard error.
std::optional<Exported> Newest(const std::vector<Inspection>& snapshots, const std::string& group) {
  for (const Inspection& one : snapshots) {
    try {
      if (one.condition == Condition::kComplete) return FromSnapshot(one, group);
      std::fprintf(stderr, "skipped: %s\n", one.problem.c_str());
    } catch (const DataError& error) {
      std::fprintf(stderr, "skipped: %s\n", error.what());
    }
  }
  return std::nullopt;
}

// best.safetensors and weights.safetensors of a run folder: the trainer's last word on them.
std::optional<Exported> FromRun(const std::string& run, const std::string& name) {
  const std::string path = run + "/" + name;
  if (run.empty() || !FileExists(path)) return std::nullopt;
  try {
    return Exported{checkpoint::LoadSafetensors(path), path};
  } catch (const DataError& error) {
    std::fprintf(stderr, "skipped: %s\n", error.what());
    return std::nullopt;
  }
}

Exported FindWeights(const ExportOptions& options) {
  const Target target = FindTarget(options.path);
  if (!target.file.empty()) {
    throw Invalid("{} is a file already; give a run folder or a snapshot", target.file);
  }
  const std::vector<Inspection> snapshots = target.Snapshots(options.step);
  const bool weights = options.group == "weights";
  if (!target.snapshot.empty() || options.step) {
    return FromSnapshot(snapshots.front(), options.group);
  }
  if (options.weights != "last") {
    if (weights) {
      if (auto best = FromRun(target.run, "best.safetensors")) return std::move(*best);
    }
    if (const Inspection* best = checkpoint::Best(snapshots)) {
      return FromSnapshot(*best, options.group);
    }
    if (options.weights == "best") {
      throw NotFound("{}: no weights are known to be the best (nothing was validated)",
                     options.path);
    }
  }
  std::optional<Exported> last = Newest(snapshots, options.group);
  if (weights) {
    auto whole = FromRun(target.run, "weights.safetensors");
    if (whole && (!last || StepOf(whole->tensors) > StepOf(last->tensors))) last = std::move(whole);
  }
  if (!last) throw NotFound("{}: there is nothing to export; has the run saved any?", options.path);
  return std::move(*last);
}

int Export(const ExportOptions& options) {
  if (FileExists(options.output) && !options.overwrite) {
    throw UserError(Code::kAlreadyExists,
                    fmt::format("{} is there already; choose another --output, or --overwrite",
                                options.output));
  }
  const Exported exported = FindWeights(options);
  checkpoint::SaveSafetensors(options.output, exported.tensors);
  int64_t bytes = 0;
  for (const checkpoint::HostTensor& tensor : exported.tensors.tensors) {
    bytes += tensor.shape.bytes();
  }
  const int64_t step = StepOf(exported.tensors);
  std::printf("%s: %s tensors, %s%s, from %s\n", options.output.c_str(),
              HumanCount(static_cast<int64_t>(exported.tensors.tensors.size())).c_str(),
              HumanBytes(bytes).c_str(),
              step >= 0 ? fmt::format(", of step {}", HumanCount(step)).c_str() : "",
              exported.from.c_str());
  return kExitDone;
}

// --- diff ----------------------------------------------------------------------------------------

struct DiffOptions {
  std::string first, second;
  std::string group = "weights";
  bool all = false;
  bool json = false;
};

Exported ForDiff(const std::string& argument, const std::string& group) {
  const Target target = FindTarget(argument);
  if (!target.file.empty()) return {checkpoint::LoadSafetensors(target.file), target.file};
  if (!target.snapshot.empty()) return FromSnapshot(target.Snapshots().front(), group);
  ExportOptions options;
  options.path = argument;
  options.weights = "last";
  options.group = group;
  return FindWeights(options);
}

int Diff(const DiffOptions& options) {
  const Exported first = ForDiff(options.first, options.group);
  const Exported second = ForDiff(options.second, options.group);
  const std::vector<TensorDifference> differences =
      checkpoint::Compare(first.tensors, second.tensors);
  using Kind = TensorDifference::Kind;
  int64_t same = 0;
  for (const TensorDifference& one : differences) same += one.kind == Kind::kSame;
  const int code = same == std::ssize(differences) ? kExitDone : kExitDiffer;
  const auto shape = [](const std::optional<ir::Shape>& of) {
    return of ? of->ToString() : std::string("-");
  };
  if (options.json) {
    Json json;
    json["first"] = first.from;
    json["second"] = second.from;
    json["same"] = same;
    json["different"] = std::ssize(differences) - same;
    json["tensors"] = Json::array();
    for (const TensorDifference& one : differences) {
      Json entry = {{"name", one.name}, {"verdict", checkpoint::Name(one.kind)}};
      if (one.first) entry["first"] = one.first->ToString();
      if (one.second) entry["second"] = one.second->ToString();
      if (one.kind == Kind::kDiffers || one.kind == Kind::kDType) {
        // NaN becomes null.
        entry["max_difference"] = one.max_difference;
        entry["values_different"] = one.values_different;
      }
      json["tensors"].push_back(std::move(entry));
    }
    PrintJson(json);
    return code;
  }
  std::printf("first:  %s\nsecond: %s\n", first.from.c_str(), second.from.c_str());
  std::vector<std::vector<std::string>> rows;
  for (const TensorDifference& one : differences) {
    if (one.kind == Kind::kSame && !options.all) continue;
    std::string detail;
    if (one.kind == Kind::kDiffers || one.kind == Kind::kDType) {
      detail = fmt::format("max |difference| {:.3g}, {} of {} values", one.max_difference,
                           HumanCount(one.values_different), HumanCount(one.first->size()));
    }
    rows.push_back({std::string(checkpoint::Name(one.kind)), one.name, shape(one.first),
                    one.first == one.second ? "" : shape(one.second), detail});
  }
  PrintTable(rows, {false, false, false, false, false});
  std::printf("%s of %s tensors are the same, bit for bit\n", HumanCount(same).c_str(),
              HumanCount(std::ssize(differences)).c_str());
  return code;
}

void AddList(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand("list", "List the snapshots of a run");
  auto options = std::make_shared<ListOptions>();
  command->add_option("path", options->path, "A run folder, or a snapshot")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Manifests and sizes are looked at; flatout checkpoint verify reads everything.");
  command->callback([options, run] { *run = [options] { return List(*options); }; });
}

void AddVerify(CLI::App& app, Run* run) {
  CLI::App* command =
      app.add_subcommand("verify", "Read snapshots and hold every byte against its checksum");
  auto options = std::make_shared<VerifyOptions>();
  command->add_option("path", options->path, "A run folder (all its snapshots), or a snapshot")
      ->required();
  command->add_option("--step", options->step, "Only the snapshot of this step");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Exit codes: 0 all are good, 3 some are bad (or none is good), 2 there are none.\n"
      "An unfinished one, left by a run that was killed, is no bad one.");
  command->callback([options, run] { *run = [options] { return Verify(*options); }; });
}

void AddExport(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "export", "Write the weights of a run or snapshot as one safetensors file");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("path", options->path, "A run folder, or a snapshot")->required();
  command->add_option("--output", options->output, "The file to write")->required();
  command
      ->add_option("--weights", options->weights,
                   "Of a run: best or last (default: best if there is one)")
      ->check(CLI::IsMember({"best", "last"}));
  command->add_option("--step", options->step, "Of a run: the snapshot of this step");
  command
      ->add_option("--group", options->group, "What to export: weights, or optimizer (its slots)")
      ->capture_default_str();
  command->add_flag("--overwrite", options->overwrite, "Replace the file if it is there");
  command->footer(
      "Tensors are called as in weights.safetensors: dense/kernel and so on.\n"
      "Examples:\n"
      "  flatout checkpoint export runs/cnn --output cnn.safetensors\n"
      "  flatout checkpoint export runs/cnn --weights last --output last.safetensors");
  command->callback([options, run] { *run = [options] { return Export(*options); }; });
}

void AddDiff(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand("diff", "Compare two snapshots tensor by tensor");
  auto options = std::make_shared<DiffOptions>();
  const char* what = "A snapshot, a run folder (its newest) or a safetensors file";
  command->add_option("first", options->first, what)->required();
  command->add_option("second", options->second, what)->required();
  command->add_option("--group", options->group, "Which tensors: weights, or optimizer")
      ->capture_default_str();
  command->add_flag("--all", options->all, "List tensors that are the same, too");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Exit codes: 0 they are the same, bit for bit; 1 they differ.");
  command->callback([options, run] { *run = [options] { return Diff(*options); }; });
}

}  // namespace

void AddCheckpoint(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "checkpoint", "List, verify, export and compare the snapshots that a run keeps");
  command->require_subcommand(1);
  AddList(*command, run);
  AddVerify(*command, run);
  AddExport(*command, run);
  AddDiff(*command, run);
  command->footer(
      "Examples:\n"
      "  flatout checkpoint list runs/cnn\n"
      "  flatout checkpoint verify runs/cnn\n"
      "  flatout checkpoint export runs/cnn --output cnn.safetensors\n"
      "  flatout checkpoint diff runs/cnn/checkpoints/step-000001000 runs/cnn");
}

}  // namespace flatout::cli
