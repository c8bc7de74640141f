// flatout data index: makes the record indices now, so that no run waits for them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"
#include "flatout/cli/data.h"
#include "flatout/data/files.h"

namespace flatout::cli {
namespace {

struct Options {
  DataArguments data;
  bool json = false;
};

struct FileLine {
  std::string path, packing;
  int64_t bytes = 0;
  std::optional<int64_t> records;
};

// The patterns of the keys that name data files.
std::vector<std::string> Patterns(const Config& table) {
  std::vector<std::string> patterns;
  for (const char* key : {"files", "validation_files", "test_files"}) {
    const Config* value = table.Find(key);
    if (value == nullptr) continue;
    std::vector<std::string> some;
    ReadConfig(*value, some);
    patterns.insert(patterns.end(), some.begin(), some.end());
  }
  return patterns;
}

// Indexes each file by itself, in parallel; opening them together finds the indices made.
std::vector<FileLine> IndexFiles(const DataInput& input) {
  const std::vector<std::string> patterns = Patterns(input.table());
  if (patterns.empty()) return {};
  const std::vector<std::string> files = data::ExpandFiles(patterns);
  const Config own = WithoutKeys(
      SourceKeys(input.table()),
      {"files", "validation_files", "test_files", "validation_split", "test_split", "limit"});
  std::vector<FileLine> lines(files.size());
  ProgressLine progress;
  std::atomic<int64_t> done = 0;
  data::ForEachFile(files.size(), [&](size_t i) {
    FileLine& line = lines[i];
    line.path = files[i];
    line.bytes = FileSize(files[i]);
    Config table = own;
    table.Set("files", Config::Array({Config(files[i])}));
    try {
      line.records = data::OpenPlainSource(table, "train")->size();
    } catch (const DataError&) {
      throw;
    } catch (const UserError&) {
      // A kind of source that takes its files together.
    }
    line.packing = PackingOf(files[i]);
    const int64_t now = ++done;
    progress.Show("indexing", static_cast<double>(now) / static_cast<double>(files.size()),
                  fmt::format("{}/{} files", now, files.size()));
  });
  return lines;
}

int Index(const Options& options) {
  const DataInput input = FindDataInput(options.data);
  const Stopwatch clock;
  const std::vector<FileLine> files = IndexFiles(input);
  const NamedSplits splits = OpenNamedSplits(input, "", /*transforms=*/false);
  // A filter has an index too.
  if (!input.pipeline.filter.empty()) {
    DataInput filtered = input;
    Config table = WithoutKeys(input.table(), {"cache", "transforms"});
    filtered.tree.Set("data", std::move(table));
    OpenNamedSplits(filtered, "", /*transforms=*/true);
  }
  const double seconds = clock.Seconds();
  int64_t bytes = 0;
  for (const FileLine& file : files) bytes += file.bytes;
  if (options.json) {
    nlohmann::ordered_json json;
    json["data"] = input.origin;
    json["files"] = nlohmann::ordered_json::array();
    for (const FileLine& file : files) {
      json["files"].push_back({{"path", file.path},
                               {"packing", file.packing},
                               {"bytes", file.bytes},
                               {"records", file.records ? nlohmann::ordered_json(*file.records)
                                                        : nlohmann::ordered_json(nullptr)}});
    }
    for (const auto& [name, source] : splits) json["splits"][name]["records"] = source->size();
    json["bytes"] = bytes;
    json["seconds"] = seconds;
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return kExitDone;
  }
  size_t width = 4;
  for (const FileLine& file : files) width = std::max(width, file.path.size());
  if (!files.empty()) {
    std::printf("%-*s  %-7s  %10s  %14s\n", static_cast<int>(width), "file", "packing", "size",
                "records");
  }
  for (const FileLine& file : files) {
    std::printf("%-*s  %-7s  %10s  %14s\n", static_cast<int>(width), file.path.c_str(),
                file.packing.empty() ? "plain" : file.packing.c_str(),
                HumanBytes(file.bytes).c_str(),
                file.records ? HumanCount(*file.records).c_str() : "n/a");
  }
  for (const auto& [name, source] : splits) {
    std::printf("%s: %s records\n", name.c_str(), HumanCount(source->size()).c_str());
  }
  std::printf("%s in %s\n",
              files.empty()
                  ? "opened"
                  : fmt::format("{} files, {}", HumanCount(static_cast<int64_t>(files.size())),
                                HumanBytes(bytes))
                        .c_str(),
              HumanDuration(seconds).c_str());
  return kExitDone;
}

}  // namespace

void AddDataIndex(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "index",
      "Make the record indices now; they are kept in the cache folder and made again when "
      "a file changes");
  auto options = std::make_shared<Options>();
  AddDataArguments(command, options->data);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n"
      "  flatout data index run.toml\n"
      "  flatout data index 'shards/train-*.tfrecord'");
  command->callback([options, run] { *run = [options] { return Index(*options); }; });
}

}  // namespace flatout::cli
