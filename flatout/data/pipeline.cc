#include "flatout/data/pipeline.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/data/files.h"
#include "flatout/data/filter_expression.h"
#include "flatout/data/require.h"
#include "flatout/data/scan.h"
#include "flatout/data/transform.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostLaunches = 1024;
constexpr int64_t kMostThreads = 1024;

bool IsAuto(const Config& value) { return value.is_string() && value.AsString() == "auto"; }

// ---- splits ----

std::vector<std::string> SplitNames() { return {std::begin(kSplits), std::end(kSplits)}; }

bool IsSplit(std::string_view name) {
  return std::find(std::begin(kSplits), std::end(kSplits), name) != std::end(kSplits);
}

// The splits that a transform's table names; nothing where it names none.
std::optional<std::vector<std::string>> SplitsOf(const Config& transform) {
  const Config* value = transform.Find("splits");
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> splits;
  ReadConfig(*value, splits);
  if (splits.empty()) throw value->Complain("expected at least one of train, validation and test");
  for (const std::string& split : splits) {
    if (IsSplit(split)) continue;
    throw value->Complain(
        fmt::format("no split is called \"{}\"{} The splits are train, validation "
                    "and test.",
                    split, DidYouMean(split, SplitNames())));
  }
  return splits;
}

// ---- transforms ----

struct Step {
  const Config* table;
  TransformPtr transform;

  bool IsFor(std::string_view split) const { return IsForSplit(*table, *transform, split); }
};

std::vector<Step> MakeSteps(const PipelineOptions& options) {
  std::vector<Step> steps;
  for (const Config& table : options.transforms) {
    steps.push_back({&table, MakeTransform(table)});
  }
  return steps;
}

// Whether the steps for that split suit the fields, one after the other: each complains at its
// place in the run file.
void CheckSteps(std::vector<Field> fields, const std::vector<Step>& steps, std::string_view split) {
  for (const Step& step : steps) {
    if (!step.IsFor(split)) continue;
    try {
      fields = step.transform->Fields(fields);
    } catch (const UserError& error) {
      throw step.table->Complain(fmt::format("{}: {}", step.transform->name(), error.what()));
    }
  }
}

// The first way in which two splits' fields differ for a model; "" when they do not. What values
// may occur (Field::bound) is each split's own affair.
std::string Difference(const std::vector<Field>& a, const std::vector<Field>& b) {
  if (a.size() != b.size()) {
    return fmt::format("{} and {} fields", a.size(), b.size());
  }
  for (size_t f = 0; f < a.size(); ++f) {
    if (a[f].name != b[f].name || a[f].shape != b[f].shape || a[f].text != b[f].text) {
      return fmt::format("{} and {}", a[f].ToString(), b[f].ToString());
    }
  }
  return "";
}

// Two splits have different fields: says so at the transform that is for one of them only, if there
// is one.
[[noreturn]] void ComplainOfDifference(const Config& table, std::string_view first,
                                       std::string_view second, const std::string& difference) {
  const PipelineOptions options = ReadPipelineOptions(table);
  for (const Step& step : MakeSteps(options)) {
    if (step.IsFor(first) == step.IsFor(second)) continue;
    throw step.table->Complain(fmt::format(
        "the splits {} and {} have different fields: {}. \"{}\" is for one of them only: give the "
        "other a transform that ends in the same fields (beside a random crop, say, center_crop "
        "with splits = [\"validation\", \"test\"])",
        first, second, difference, step.transform->name()));
  }
  throw table.Complain(fmt::format(
      "the splits {} and {} have different fields: {}. They are to hold the same kind of "
      "records; look at both with flatout data inspect --split",
      first, second, difference));
}

// ---- what the files look like ----

class Stamps {
 public:
  // Whatever strings of the tree name files.
  void Add(const Config& value) {
    switch (value.kind()) {
      case Config::Kind::kString:
        AddName(value.AsString());
        break;
      case Config::Kind::kArray:
        for (const Config& item : value.items()) Add(item);
        break;
      case Config::Kind::kTable:
        for (const auto& [key, entry] : value.entries()) Add(entry);
        break;
      default:
        break;
    }
  }
  // The first file found; "" when there is none.
  const std::string& first() const { return first_; }
  std::string HexDigest() { return sum_.HexDigest(); }

 private:
  void AddName(const std::string& name) {
    std::error_code error;
    if (name.empty() || name.size() > 4096 || name.find('\0') != std::string::npos) return;
    if (fs::is_directory(name, error)) {
      std::vector<std::string> files;
      fs::recursive_directory_iterator it(name, fs::directory_options::follow_directory_symlink,
                                          error);
      for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        if (it->is_regular_file(error)) files.push_back(it->path().string());
        // Links may lead in circles.
        if (it.depth() > 64) it.disable_recursion_pending();
      }
      std::sort(files.begin(), files.end());
      for (const std::string& file : files) AddFile(file);
    } else if (fs::exists(name, error)) {
      AddFile(name);
    } else if (name.find_first_of("*?[") != std::string::npos) {
      try {
        for (const std::string& file : ExpandFiles({name})) AddFile(file);
      } catch (const Error&) {
        // A text that only looks like a pattern.
        return;
      }
    }
  }
  void AddFile(const std::string& path) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) return;
    std::error_code error;
    const fs::path full = fs::absolute(path, error);
    if (first_.empty()) first_ = path;
    sum_.Field(full.string());
    // The inode and its time of change too: copies and archives keep the content's.
    sum_.Field(fmt::format("{} {}.{} {} {}.{}", info.st_size, info.st_mtim.tv_sec,
                           info.st_mtim.tv_nsec, info.st_ino, info.st_ctim.tv_sec,
                           info.st_ctim.tv_nsec));
  }

  Sha256 sum_;
  std::string first_;
};

// The table without the keys that do not change what the records are.
Config WithoutPipelineKeys(Config table) {
  for (const char* key : {"shuffle", "shuffle_window", "prefetch", "prefetch_memory", "workers",
                          "max_bad_records", "cache", "filter", "transforms"}) {
    table = WithoutKey(table, key);
  }
  return table;
}

// ---- filter ----

// The numbers of the records that the filter keeps. Records that cannot be read are kept: the run
// that reads them decides what becomes of them.
std::vector<int64_t> RecordsToKeep(const Source& source, const FilterExpression::Predicate& keep) {
  BadRecords bad(std::numeric_limits<int64_t>::max(), [](const DataError&) {});
  std::vector<uint8_t> kept(static_cast<size_t>(source.size()));
  ScanOptions options;
  options.bad = &bad;
  options.failed = [&](int64_t record, const DataError&) { kept[static_cast<size_t>(record)] = 1; };
  Scan(source, options, [&](std::span<const int64_t> records, const Block& block) {
    for (size_t i = 0; i < records.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      kept[static_cast<size_t>(records[i])] = block.bad(row) || keep(block, row) ? 1 : 0;
    }
  });
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] != 0) numbers.push_back(static_cast<int64_t>(i));
  }
  return numbers;
}

Dataset Filter(const Dataset& dataset, const Config& table, const PipelineOptions& options,
               std::string_view split) {
  const SourcePtr& source = dataset.source();
  const Config& place = *table.Find("filter");
  FilterExpression::Predicate keep;
  try {
    keep = FilterExpression::Parse(options.filter).Bind(source->fields());
  } catch (const UserError& error) {
    throw place.Complain(error.what());
  }
  const auto build = [&] { return RecordsToKeep(*source, keep); };
  Stamps stamps;
  const Config named = WithoutPipelineKeys(table);
  stamps.Add(named);
  std::vector<int64_t> kept;
  if (stamps.first().empty()) {
    kept = build();
  } else {
    Sha256 kind;
    kind.Field(named.ToToml()).Field(split).Field(options.filter).Field(source->description());
    const std::string first = stamps.first();
    kind.Field(stamps.HexDigest());
    kept = CachedIndex(first, "filter " + kind.HexDigest(), build);
    if (!std::is_sorted(kept.begin(), kept.end()) ||
        (!kept.empty() && (kept.front() < 0 || kept.back() >= source->size()))) {
      kept = build();
    }
  }
  if (kept.empty()) {
    throw place.Complain(fmt::format("the filter keeps none of the {} records of the {} split: {}",
                                     source->size(), split, options.filter));
  }
  LogDebug("{} split: the filter keeps {} of {} records", split, kept.size(), source->size());
  if (static_cast<int64_t>(kept.size()) == source->size()) return dataset;
  return dataset.Select(std::move(kept));
}

// ---- cache ----

Dataset Cached(const Dataset& dataset, const Config& table, const PipelineOptions& options,
               std::string_view split, const std::vector<const Config*>& transforms) {
  if (options.cache == "memory") return dataset.Cache();
  Stamps stamps;
  const Config named = WithoutPipelineKeys(table);
  Sha256 name;
  name.Field(named.ToToml()).Field(split).Field(options.filter);
  stamps.Add(named);
  for (const Config* transform : transforms) {
    name.Field(transform->ToToml());
    stamps.Add(*transform);
  }
  name.Field(stamps.HexDigest());
  MakeDirs(options.cache);
  return dataset.Cache(
      fmt::format("{}/{}-{}.cache", options.cache, split, name.HexDigest().substr(0, 16)));
}

// ---- all of it ----

struct Opened {
  SourcePtr plain;
  PipelineOptions options;
};

Opened OpenPlain(const Config& table, std::string_view split) {
  if (!IsSplit(split)) {
    throw Invalid("no split is called \"{}\"{} The splits are train, validation and test.", split,
                  DidYouMean(split, SplitNames()));
  }
  FieldReader reader(table, "data");
  std::string name;
  reader.Required("source", name);
  const SourceOpener opener = FindSource(name);
  if (!opener) {
    const std::vector<std::string> kinds = SourceKinds();
    throw table.Find("source")->Complain(fmt::format("no source is called \"{}\"{} (known: {})",
                                                     name, DidYouMean(name, kinds),
                                                     fmt::join(kinds, ", ")));
  }
  const std::function<SourcePtr(std::string_view)> open = opener(reader);
  Opened opened;
  opened.options.Visit(reader);
  reader.Finish();
  opened.options.Check(table);
  opened.plain = open(split);
  if (opened.plain == nullptr) return opened;
  const int64_t size = opened.plain->size();
  if (size == kUnknown || size == kInfinite) {
    throw Internal("the source {} has no number of records", opened.plain->description());
  }
  if (size == 0) {
    throw BadData("the {} split holds no records: {}", split, opened.plain->description());
  }
  return opened;
}

}  // namespace

void PipelineOptions::Check(const Config& table) const {
  const auto check = [&](const char* key, bool right, const char* rule) {
    Require(table.Find(key), right, rule);
  };
  const auto auto_or_count = [](const Config& value, int64_t most) {
    if (IsAuto(value)) return true;
    return value.kind() == Config::Kind::kInt && value.AsInt() >= 1 && value.AsInt() <= most;
  };
  check("shuffle_window", shuffle_window >= 0, "a number of records, or 0 for all");
  check("prefetch", auto_or_count(prefetch, kMostLaunches), "1 to 1024 launches, or \"auto\"");
  check("workers", auto_or_count(workers, kMostThreads), "1 to 1024 threads, or \"auto\"");
  check(
      "prefetch_memory",
      IsAuto(prefetch_memory) ||
          (prefetch_memory.is_string() && ParseBytes(prefetch_memory.AsString()).value_or(0) > 0) ||
          (prefetch_memory.kind() == Config::Kind::kInt && prefetch_memory.AsInt() > 0),
      "a size such as \"256MiB\", or \"auto\"");
  check("max_bad_records", max_bad_records >= 0, "a number of records");
  if (const Config* place = table.Find("filter"); place != nullptr && !filter.empty()) {
    try {
      FilterExpression::Parse(filter);
    } catch (const UserError& error) {
      throw place->Complain(error.what());
    }
  }
  const std::vector<std::string> kinds = TransformKinds();
  for (const Config& transform : transforms) {
    if (!transform.is_table()) {
      throw transform.Complain(fmt::format(
          "expected a transform such as {{ op = \"resize\", size = [224, 224] }}, found {}",
          transform.Describe()));
    }
    const Config* op = transform.Find("op");
    if (op == nullptr) {
      throw transform.Complain("a transform needs the key \"op\", its name");
    }
    if (std::find(kinds.begin(), kinds.end(), op->AsString()) == kinds.end()) {
      throw op->Complain(fmt::format("no transform is called \"{}\"{} (known: {})", op->AsString(),
                                     DidYouMean(op->AsString(), kinds), fmt::join(kinds, ", ")));
    }
    SplitsOf(transform);
  }
}

int PipelineOptions::prefetch_depth() const {
  return IsAuto(prefetch) ? 0 : static_cast<int>(prefetch.AsInt());
}

int64_t PipelineOptions::prefetch_bytes() const {
  if (IsAuto(prefetch_memory)) return 0;
  if (prefetch_memory.kind() == Config::Kind::kInt) return prefetch_memory.AsInt();
  return ParseBytes(prefetch_memory.AsString()).value_or(0);
}

int PipelineOptions::worker_threads() const {
  return IsAuto(workers) ? 0 : static_cast<int>(workers.AsInt());
}

PipelineOptions ReadPipelineOptions(const Config& table) {
  PipelineOptions options;
  FieldReader reader(table, "data");
  options.Visit(reader);
  options.Check(table);
  return options;
}

SourcePtr OpenPlainSource(const Config& table, std::string_view split) {
  return OpenPlain(table, split).plain;
}

SourcePtr OpenSource(const Config& table, std::string_view split, uint64_t seed) {
  const auto [plain, options] = OpenPlain(table, split);
  if (plain == nullptr) return nullptr;
  const std::vector<Step> steps = MakeSteps(options);
  CheckSteps(plain->fields(), steps, split);
  Dataset dataset = Dataset::FromSource(plain);
  if (!options.filter.empty()) dataset = Filter(dataset, table, options, split);
  // What does not depend on chance comes before the cache.
  std::vector<TransformPtr> before, after;
  std::vector<const Config*> before_tables;
  for (const Step& step : steps) {
    if (!step.IsFor(split)) continue;
    if (after.empty() && !step.transform->random()) {
      before.push_back(step.transform);
      before_tables.push_back(step.table);
    } else {
      after.push_back(step.transform);
    }
  }
  if (options.cache.empty()) {
    before.insert(before.end(), after.begin(), after.end());
    after.clear();
  }
  if (!before.empty()) dataset = dataset.Apply(std::move(before), seed);
  if (!options.cache.empty()) dataset = Cached(dataset, table, options, split, before_tables);
  if (!after.empty()) dataset = dataset.Apply(std::move(after), seed);
  return dataset.source();
}

bool IsForSplit(const Config& transform_table, const Transform& transform, std::string_view split) {
  if (const std::optional<std::vector<std::string>> splits = SplitsOf(transform_table)) {
    return std::find(splits->begin(), splits->end(), split) != splits->end();
  }
  return split == "train" || !transform.random();
}

Splits OpenSplits(const Config& table, uint64_t seed) {
  Splits splits = {OpenSource(table, "train", seed), OpenSource(table, "validation", seed),
                   OpenSource(table, "test", seed)};
  const std::pair<std::string_view, SourcePtr*> all[] = {
      {"train", &splits.train}, {"validation", &splits.validation}, {"test", &splits.test}};
  std::string_view first;
  const Source* reference = nullptr;
  for (const auto& [name, source] : all) {
    if (*source == nullptr) continue;
    if (reference == nullptr) {
      first = name;
      reference = source->get();
      continue;
    }
    const std::string difference = Difference(reference->fields(), (*source)->fields());
    if (!difference.empty()) ComplainOfDifference(table, first, name, difference);
  }
  return splits;
}

}  // namespace flatout::data
