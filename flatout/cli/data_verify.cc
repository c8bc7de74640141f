// flatout data verify: reads everything and lists what is bad.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/cli/data.h"
#include "flatout/data/elements.h"
#include "flatout/data/files.h"
#include "flatout/data/scan.h"

namespace flatout::cli {
namespace {

struct Options {
  DataArguments data;
  std::string split;
  bool plain = false;
  int64_t max_errors = 100;
  int workers = 0;
  bool json = false;
};

struct Problem {
  std::string split;
  std::string message;
};

struct SplitResult {
  std::string name;
  int64_t records = 0, bad = 0, bytes = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, int64_t>> not_finite;  // by field: records
};

class Verifier {
 public:
  Verifier(const DataInput& input, const Options& options) : input_(input), options_(options) {}

  void Split(std::string_view name) {
    data::SourcePtr source;
    try {
      source = Open(input_.table(), name);
    } catch (const DataError& error) {
      OpenSingly(name, error);
      return;
    }
    if (source != nullptr) Read(std::string(name), *source);
  }

  const std::vector<SplitResult>& splits() const { return splits_; }
  const std::vector<Problem>& problems() const { return problems_; }  // the first max_errors
  int64_t bad() const { return bad_; }
  bool empty() const { return splits_.empty() && bad_ == 0; }
  // What a run asks beside each split's records: that the splits agree.
  void Together() {
    if (bad_ > 0 || options_.plain || !options_.split.empty()) return;
    try {
      data::OpenSplits(WithoutKeys(input_.table(), {"cache"}), input_.seed);
    } catch (const Error& error) {
      Bad("all", error.what());
    }
  }

 private:
  data::SourcePtr Open(const Config& table, std::string_view name) const {
    if (options_.plain) return data::OpenPlainSource(table, name);
    // A cache would only hide the files.
    return data::OpenSource(WithoutKeys(table, {"cache"}), name, input_.seed);
  }

  // A split that cannot be opened as a whole: each of its files by itself, so that one bad file
  // does not hide what is in the others.
  void OpenSingly(std::string_view name, const DataError& whole) {
    const std::string key = name == "train" ? "files" : std::string(name) + "_files";
    const Config* patterns = input_.table().Find(key);
    const int64_t start = bad_;
    std::vector<std::string> files;
    if (patterns != nullptr) {
      std::vector<std::string> all;
      ReadConfig(*patterns, all);
      for (const std::string& pattern : all) {
        try {
          for (std::string& file : data::ExpandFiles({pattern})) files.push_back(std::move(file));
        } catch (const DataError& error) {
          Bad(std::string(name), error.what());
        }
      }
    }
    const bool told = bad_ > start;
    if (files.empty() || (files.size() == 1 && !told)) {
      if (!told) Bad(std::string(name), whole.what());
      return;
    }
    for (const std::string& file : files) {
      Config table = WithoutKeys(input_.table(), {"files", "validation_files", "test_files",
                                                  "validation_split", "test_split", "limit"});
      table.Set(key, Config::Array({Config(file)}));
      try {
        const data::SourcePtr source = Open(table, name);
        if (source != nullptr) Read(std::string(name), *source);
      } catch (const DataError& error) {
        Bad(std::string(name), error.what());
      }
    }
    // Each is good by itself, but together they are not.
    if (bad_ == start) Bad(std::string(name), whole.what());
  }

  void Read(const std::string& name, const data::Source& source) {
    if (splits_.empty() || splits_.back().name != name) splits_.push_back({.name = name});
    SplitResult& result = splits_.back();
    data::BadRecords bad(std::numeric_limits<int64_t>::max(),
                         [&](const DataError& error) { Note(name, error.what()); });
    std::vector<int64_t> not_finite(source.fields().size());
    std::mutex mutex;
    ProgressLine line;
    const Stopwatch clock;
    data::ScanOptions scan;
    scan.bad = &bad;
    scan.workers = options_.workers;
    scan.failed = [&](int64_t, const DataError& error) { bad.Report(error); };
    scan.progress = [&](const data::ScanProgress& progress) {
      const double seconds = clock.Seconds();
      const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
      line.Show("verifying " + name, share,
                fmt::format("{}/{} records, {} bad, {}", HumanCount(progress.done),
                            HumanCount(progress.total), HumanCount(bad.count()),
                            Throughput(progress.bytes, seconds)));
      return true;
    };
    const data::ScanResult scanned =
        data::Scan(source, scan, [&](std::span<const int64_t> records, const data::Block& block) {
          for (size_t f = 0; f < block.fields().size(); ++f) {
            const ir::Shape& shape = block.fields()[f].shape;
            if (block.fields()[f].text || shape.dtype != ir::DType::kF32) continue;
            int64_t count = 0;
            for (size_t i = 0; i < records.size(); ++i) {
              const auto row = static_cast<int64_t>(i);
              if (block.bad(row)) continue;
              const std::span<const std::byte> bytes = block.bytes(f, row);
              const auto values = static_cast<int64_t>(bytes.size() / sizeof(float));
              for (int64_t v = 0; v < values; ++v) {
                if (std::isfinite(data::Load<float>(bytes.data(), v))) continue;
                ++count;
                break;
              }
            }
            if (count == 0) continue;
            std::lock_guard lock(mutex);
            not_finite[f] += count;
          }
        });
    result.records += scanned.records;
    result.bad += bad.count();
    result.bytes += scanned.bytes();
    result.seconds += clock.Seconds();
    bad_ += bad.count();
    for (size_t f = 0; f < not_finite.size(); ++f) {
      if (not_finite[f] > 0) result.not_finite.emplace_back(source.fields()[f].name, not_finite[f]);
    }
  }

  void Bad(const std::string& split, const std::string& message) {
    ++bad_;
    Note(split, message);
  }
  void Note(const std::string& split, const std::string& message) {
    if (options_.max_errors > 0 && static_cast<int64_t>(problems_.size()) >= options_.max_errors) {
      return;
    }
    problems_.push_back({split, message});
  }

  const DataInput& input_;
  const Options& options_;
  std::vector<SplitResult> splits_;
  std::vector<Problem> problems_;
  int64_t bad_ = 0;
};

// What the message says of the place, in parts.
nlohmann::ordered_json ProblemJson(const Problem& problem) {
  nlohmann::ordered_json json;
  json["split"] = problem.split;
  std::smatch match;
  const std::string& message = problem.message;
  if (std::regex_search(message, match, std::regex("^(.+?)(:([0-9]+))?(:([0-9]+))?: "))) {
    json["file"] = match[1].str();
    if (match[3].matched) json["line"] = std::stoll(match[3]);
  }
  if (std::regex_search(message, match, std::regex("record ([0-9]{1,18})"))) {
    json["record"] = std::stoll(match[1]);
  }
  if (std::regex_search(message, match, std::regex("byte ([0-9]{1,18})"))) {
    json["byte"] = std::stoll(match[1]);
  }
  json["message"] = message;
  return json;
}

int Verify(const Options& options) {
  if (options.max_errors < 0) throw Invalid("--max-errors takes a number from 0 (all) on");
  const DataInput input = FindDataInput(options.data);
  Verifier verifier(input, options);
  const Stopwatch clock;
  for (const std::string_view name : data::kSplits) {
    if (options.split.empty() || options.split == name) verifier.Split(name);
  }
  verifier.Together();
  if (verifier.empty()) {
    throw Invalid("{}: [data] defines no {}split", input.origin,
                  options.split.empty() ? "" : options.split + " ");
  }
  int64_t records = 0, bytes = 0;
  for (const SplitResult& split : verifier.splits()) {
    records += split.records;
    bytes += split.bytes;
  }
  const double seconds = clock.Seconds();
  const int code = verifier.bad() == 0 ? kExitDone : kExitBadData;
  if (options.json) {
    nlohmann::ordered_json json;
    json["data"] = input.origin;
    json["records"] = records;
    json["bad"] = verifier.bad();
    json["bytes"] = bytes;
    json["seconds"] = seconds;
    for (const SplitResult& split : verifier.splits()) {
      nlohmann::ordered_json& one = json["splits"][split.name];
      one = {{"records", split.records}, {"bad", split.bad}, {"bytes", split.bytes}};
      for (const auto& [field, count] : split.not_finite) one["not_finite"][field] = count;
    }
    json["problems"] = nlohmann::ordered_json::array();
    for (const Problem& problem : verifier.problems()) {
      json["problems"].push_back(ProblemJson(problem));
    }
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return code;
  }
  for (const Problem& problem : verifier.problems()) {
    std::printf("bad (%s): %s\n", problem.split.c_str(), problem.message.c_str());
  }
  const auto listed = static_cast<int64_t>(verifier.problems().size());
  if (listed < verifier.bad()) {
    std::printf("... %s more; --max-errors 0 lists all\n",
                HumanCount(verifier.bad() - listed).c_str());
  }
  for (const SplitResult& split : verifier.splits()) {
    std::printf("%s: %s records read, %s bad\n", split.name.c_str(),
                HumanCount(split.records).c_str(), HumanCount(split.bad).c_str());
    for (const auto& [field, count] : split.not_finite) {
      std::printf("  note: %s of them have a NaN or an infinity in \"%s\"\n",
                  HumanCount(count).c_str(), field.c_str());
    }
  }
  std::printf("%s: %s records%s in %s\n", verifier.bad() == 0 ? "all good" : "BAD DATA",
              HumanCount(records).c_str(),
              bytes > 0
                  ? fmt::format(", {} at {}", HumanBytes(bytes), Throughput(bytes, seconds)).c_str()
                  : "",
              HumanDuration(seconds).c_str());
  return code;
}

}  // namespace

void AddDataVerify(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "verify", "Read all records, through all transforms, and list every bad one");
  auto options = std::make_shared<Options>();
  AddDataArguments(command, options->data);
  command->add_option("--split", options->split, "Only this split (train, validation or test)")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_flag("--plain", options->plain,
                    "Only what the files hold: no filter, no transforms");
  command
      ->add_option("--max-errors", options->max_errors,
                   "List at most so many; all are counted. 0: list all")
      ->capture_default_str();
  command->add_option("--workers", options->workers, "Threads; 0: as many as there are cores")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Each line names file, place (byte offset or line), record number and what is wrong. Files "
      "are\n"
      "never changed.\n"
      "Exit codes: 0 all records are good, 3 some are bad, 2 bad arguments or run file.\n"
      "Examples:\n"
      "  flatout data verify run.toml\n"
      "  flatout data verify 'shards/*.tfrecord' --json\n"
      "  flatout data verify run.toml --split train --max-errors 0");
  command->callback([options, run] { *run = [options] { return Verify(*options); }; });
}

}  // namespace flatout::cli
