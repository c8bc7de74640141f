#include "flatout/data/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "flatout/base/error.h"
#include "flatout/base/text.h"

namespace flatout::data {
namespace {

bool IsAuto(const Config& value) { return value.is_string() && value.AsString() == "auto"; }

}  // namespace

void PipelineOptions::Check(const Config& table) const {
  const auto check = [&](const char* key, bool right, const char* rule) {
    if (const Config* value = table.Find(key); value != nullptr && !right) {
      throw value->Complain(fmt::format("expected {}, found {}", rule, value->Describe()));
    }
  };
  const auto count = [](const Config& value) {
    return IsAuto(value) ||
           (value.kind() == Config::Kind::kInt && value.AsInt() >= 1 && value.AsInt() <= 1024);
  };
  check("prefetch", count(prefetch), "1 to 1024 launches, or \"auto\"");
  check("workers", count(workers), "1 to 1024 threads, or \"auto\"");
  check("prefetch_memory",
        IsAuto(prefetch_memory) || (prefetch_memory.is_string() &&
                                    ParseBytes(prefetch_memory.AsString()).value_or(0) > 0),
        "a size such as \"256MiB\", or \"auto\"");
  check("shuffle_window", shuffle_window >= 0, "a number of records, or 0");
  check("max_bad_records", max_bad_records >= 0, "a number of records, or 0");
}

int PipelineOptions::prefetch_depth() const {
  return IsAuto(prefetch) ? 0 : static_cast<int>(prefetch.AsInt());
}
int PipelineOptions::worker_threads() const {
  return IsAuto(workers) ? 0 : static_cast<int>(workers.AsInt());
}
int64_t PipelineOptions::prefetch_bytes() const {
  return IsAuto(prefetch_memory) ? 0 : ParseBytes(prefetch_memory.AsString()).value_or(0);
}

PipelineOptions ReadPipelineOptions(const Config& table) {
  PipelineOptions options;
  FieldReader reader(table, "data");
  options.Visit(reader);
  options.Check(table);
  return options;
}

SourcePtr OpenSource(const Config& table, std::string_view split, uint64_t) {
  if (std::find(std::begin(kSplits), std::end(kSplits), split) == std::end(kSplits)) {
    throw Invalid("no split is called \"{}\"{} The splits are train, validation and test.", split,
                  DidYouMean(split, {std::begin(kSplits), std::end(kSplits)}));
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
  PipelineOptions options;
  options.Visit(reader);
  reader.Finish();
  options.Check(table);
  return open(split);
}

}  // namespace flatout::data
