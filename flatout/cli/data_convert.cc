// flatout data convert and write: records of any source as TFRecord or CSV files.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "flatout/base/cgroup.h"
#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/base/thread_pool.h"
#include "flatout/cli/data.h"
#include "flatout/cli/signals.h"
#include "flatout/data/formats/csv_write.h"
#include "flatout/data/formats/example.h"
#include "flatout/data/formats/tfrecord.h"
#include "flatout/data/scan.h"
#include "flatout/data/transform.h"

namespace flatout::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostShards = 100'000;
constexpr int64_t kChunkBytes = 4 << 20;  // of serialized records that one task makes
constexpr int64_t kMostChunk = 4096;      // records
constexpr int64_t kSampled = 256;         // records, to learn how large they are
constexpr const char* kSnippet = "data.toml";
// The snippet's first line; a folder without it was not written by this command.
constexpr const char* kMark = "# Written by flatout data ";

struct Options {
  DataArguments data;
  std::string split;
  std::string to;
  std::optional<int64_t> shards;
  std::string shard_size;
  std::string format = "tfrecord";  // or csv
  bool gzip = false;
  bool overwrite = false;
  bool transforms = false;
  int workers = 0;
  bool json = false;
  std::string command;  // convert or write
};

// ---- where the files go -------------------------------------------------------------------------

struct Destination {
  std::string folder;
  std::string pattern;  // file names, with one "*"; empty: "SPLIT-*.tfrecord"
};

Destination ParseDestination(const std::string& to) {
  fs::path path(to);
  if (!path.has_filename()) path = path.parent_path();  // a slash at the end
  Destination destination;
  const std::string name = path.filename().string();
  if (name.find_first_of("*?[") == std::string::npos) {
    destination.folder = path.string();
  } else {
    if (std::count(name.begin(), name.end(), '*') != 1 ||
        name.find_first_of("?[") != std::string::npos) {
      throw Invalid(
          "--to {}: a pattern of file names has one * for the shard's number, as in "
          "shards/train-*.tfrecord",
          to);
    }
    destination.folder = path.parent_path().string();
    destination.pattern = name;
  }
  if (destination.folder.empty() || destination.folder == "." || destination.folder == ".." ||
      destination.folder == "/") {
    throw Invalid(
        "--to {}: name a folder of its own for the shards, as in --to shards; it must be new", to);
  }
  return destination;
}

// Whether everything in the folder is what this command writes.
bool IsOurs(const fs::path& folder) {
  std::error_code error;
  const fs::path snippet = folder / kSnippet;
  if (!fs::is_regular_file(snippet, error)) return false;
  if (!ReadFile(snippet.string()).starts_with(kMark)) return false;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!it->is_regular_file(error)) return false;
    if (name != kSnippet && name.find("-of-") == std::string::npos) return false;
  }
  return !error;
}

// Refuses a destination that holds what is to be read: it would go when the result takes its place.
void CheckNotRead(const Config& value, const fs::path& folder) {
  if (value.is_table()) {
    for (const auto& [key, entry] : value.entries()) {
      if (key != "source") CheckNotRead(entry, folder);
    }
  } else if (value.is_array()) {
    for (const Config& item : value.items()) CheckNotRead(item, folder);
  } else if (value.is_string()) {
    std::error_code error;
    const fs::path path = fs::weakly_canonical(value.AsString(), error);
    if (error || value.AsString().empty()) return;
    const auto [mine, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    if (mine != folder.end()) return;
    throw Invalid("--to {} holds what is to be read ({}); choose another folder", folder.string(),
                  value.AsString());
  }
}

// Files are written into a folder beside the destination, which takes its place at the end: all or
// nothing, whatever ends the program.
class Staging {
 public:
  Staging(std::string folder, bool overwrite) : folder_(std::move(folder)) {
    std::error_code error;
    exists_ = fs::exists(folder_, error);
    const bool empty = exists_ && fs::is_directory(folder_, error) && fs::is_empty(folder_, error);
    if (exists_ && !empty) {
      if (!overwrite) {
        throw Invalid(
            "{} exists already; choose another folder, or --overwrite what {} wrote there", folder_,
            "flatout data convert");
      }
      if (!IsOurs(folder_)) {
        throw Invalid(
            "{} holds other things than what flatout data convert writes; it is left alone. Choose "
            "another folder, or remove it yourself",
            folder_);
      }
    }
    const fs::path parent = fs::absolute(folder_).parent_path();
    MakeDirs(parent.string());
    std::string name =
        (parent / fmt::format(".{}.part-XXXXXX", fs::absolute(folder_).filename().string()))
            .string();
    if (mkdtemp(name.data()) == nullptr) {
      throw UserError(Code::kInvalidArgument,
                      SystemMessage("make a folder beside", folder_, errno));
    }
    path_ = name;
    // mkdtemp's folders are for one user only; this one is to be like any other.
    const mode_t mask = umask(0);
    umask(mask);
    chmod(path_.c_str(), 0777 & ~mask);
  }
  ~Staging() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::string File(const std::string& name) const { return path_ + "/" + name; }

  // What was written becomes the destination.
  void Publish() {
    Sync(path_);
    // With an old folder there the two are exchanged in one step, and the old one goes.
    const unsigned flags = exists_ ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, folder_.c_str(), flags) != 0) {
      const int reason = errno;
      // Some network file systems know no flags.
      if (reason != EINVAL && reason != ENOSYS) Fail(reason);
      if (exists_) {
        const std::string old = path_ + ".old";
        if (rename(folder_.c_str(), old.c_str()) != 0) Fail(errno);
        if (rename(path_.c_str(), folder_.c_str()) != 0) {
          const int second = errno;
          rename(old.c_str(), folder_.c_str());
          Fail(second);
        }
        path_ = old;
      } else if (rename(path_.c_str(), folder_.c_str()) != 0) {
        Fail(errno);
      } else {
        path_.clear();
      }
    } else if (!exists_) {
      path_.clear();
    }
    Sync(fs::absolute(folder_).parent_path().string());
  }

 private:
  [[noreturn]] void Fail(int error) const {
    throw UserError(Code::kInvalidArgument, SystemMessage("write", folder_, error));
  }
  static void Sync(const std::string& folder) {
    const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
  }

  std::string folder_;
  bool exists_ = false;
  std::string path_;  // to be removed at the end
};

// ---- what is written ----------------------------------------------------------------------------

// The table without what convert does not do (all transforms) or with those only that write does:
// the ones before the first random one, as far as their result can be written so that it reads the
// same. The rest is left for the run that reads the result.
struct Plan {
  Config table;              // to read with
  std::vector<Config> left;  // transforms that are not applied
  std::vector<std::string> applied;
  std::string note;  // why it is not more of them; may be empty
};

// Whether TFRecord features hold these fields with all their dimensions: one may differ from record
// to record, more are lost.
bool CanBeWritten(const std::vector<data::Field>& fields) {
  return std::all_of(fields.begin(), fields.end(), [](const data::Field& field) {
    return std::count(field.shape.dims.begin(), field.shape.dims.end(), data::kAny) <= 1;
  });
}

Plan MakePlan(const DataInput& input, const std::string& split, bool transforms) {
  Plan plan;
  plan.table = WithoutKeys(input.table(), {"cache", "transforms"});
  const std::vector<Config>& all = input.pipeline.transforms;
  size_t applied = 0;
  if (transforms && !all.empty()) {
    std::vector<std::pair<std::string, std::vector<data::Field>>> fields;
    for (const auto& [name, source] : OpenNamedSplits(input, split, /*transforms=*/false)) {
      fields.emplace_back(name, source->fields());
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const data::TransformPtr transform = data::MakeTransform(all[i]);
      if (transform->random()) break;
      bool writable = true;
      for (auto& [name, of] : fields) {
        if (data::IsForSplit(all[i], *transform, name)) of = transform->Fields(of);
        writable = writable && CanBeWritten(of);
      }
      if (writable) {
        applied = i + 1;
        plan.note.clear();
      } else if (plan.note.empty()) {
        plan.note = fmt::format(
            "{} gives {}, whose size is another for each record; with a resize after it, before "
            "the "
            "first random transform, it could be written",
            transform->name(), data::DescribeFields(fields.front().second));
      }
    }
  }
  for (size_t i = 0; i < applied; ++i) plan.applied.push_back(all[i].Find("op")->AsString());
  if (applied > 0) {
    plan.table.Set("transforms",
                   Config::Array({all.begin(), all.begin() + static_cast<int64_t>(applied)}));
  }
  plan.left.assign(all.begin() + static_cast<int64_t>(applied), all.end());
  return plan;
}

enum class Format { kTfRecord, kCsv };

// Record `record`, row `row` of the block, as it stands in a file, without its frame.
void Serialize(Format format, const data::Block& block, int64_t row, int64_t record,
               std::string& out) {
  if (format == Format::kTfRecord) {
    data::SerializeExample(block, row, out);
    return;
  }
  out.clear();
  try {
    data::AppendCsvRow(block, row, out);
  } catch (Error& error) {
    error.AddContext(fmt::format("record {}", record));
    throw;
  }
}

// Bytes of a file around each record.
int64_t FrameBytes(Format format) {
  return format == Format::kTfRecord ? data::kTfRecordHeader + data::kTfRecordFooter : 0;
}

// A file that is being written, in the staging folder.
class ShardFile {
 public:
  virtual ~ShardFile() = default;
  virtual void Write(std::string_view record) = 0;
  // Ends and syncs the file.
  virtual void Close() = 0;
};

class TfRecordShard : public ShardFile {
 public:
  TfRecordShard(std::string path, bool gzip)
      : writer_(std::move(path),
                gzip ? data::TfRecordPacking::kGzip : data::TfRecordPacking::kNone) {}
  void Write(std::string_view record) override { writer_.Write(record); }
  void Close() override { writer_.Close(); }

 private:
  data::TfRecordWriter writer_;
};

class CsvShard : public ShardFile {
 public:
  CsvShard(std::string path, const std::vector<data::Field>& fields)
      : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wbe")) {
    if (file_ == nullptr) Fail();
    Write(data::CsvHeader(fields));
  }
  ~CsvShard() override {
    if (file_ != nullptr) std::fclose(file_);
  }
  CsvShard(const CsvShard&) = delete;
  CsvShard& operator=(const CsvShard&) = delete;

  void Write(std::string_view record) override {
    if (std::fwrite(record.data(), 1, record.size(), file_) != record.size()) Fail();
  }
  void Close() override {
    if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) Fail();
    if (std::fclose(std::exchange(file_, nullptr)) != 0) Fail();
  }

 private:
  [[noreturn]] void Fail() const {
    throw UserError(Code::kInvalidArgument, SystemMessage("write", path_, errno));
  }

  const std::string path_;
  std::FILE* file_;
};

struct Shard {
  int64_t begin = 0, end = 0;  // records
  std::string name;
};

struct SplitPlan {
  std::string name;
  data::SourcePtr source;
  std::string pattern;  // of its files, within the folder
  std::vector<Shard> shards;
  int64_t written = 0;  // records, once they are read back
};

struct Totals {
  std::atomic<int64_t> records = 0;  // written
  std::atomic<int64_t> done = 0;     // written or left out
  std::atomic<int64_t> bytes = 0;    // of the records with their frames, before packing
};

// Records one after the other, serialized.
struct Chunk {
  std::string bytes;
  std::vector<size_t> ends;  // of each record in bytes
  int64_t left_out = 0;
};

// Reads and serializes records of one source. Each thread's context goes from task to task.
class Serializer {
 public:
  Serializer(data::SourcePtr source, Format format, data::BadRecords* bad)
      : source_(std::move(source)), format_(format), bad_(bad) {}

  Chunk Make(int64_t begin, int64_t end) {
    std::unique_ptr<Worker> worker = Take();
    std::vector<int64_t> records(static_cast<size_t>(end - begin));
    std::iota(records.begin(), records.end(), begin);
    data::Block& block = worker->block;
    block.Reset(source_->fields(), end - begin);
    block.set_bad_records(bad_);
    source_->Read(worker->context, /*epoch=*/0, records, block);
    Chunk chunk;
    for (int64_t row = 0; row < block.rows(); ++row) {
      if (block.bad(row)) {
        ++chunk.left_out;
        continue;
      }
      Serialize(format_, block, row, begin + row, worker->record);
      chunk.bytes += worker->record;
      chunk.ends.push_back(chunk.bytes.size());
    }
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(worker));
    return chunk;
  }

 private:
  struct Worker {
    explicit Worker(data::BadRecords* bad) : context(bad) {}
    data::ReadContext context;
    data::Block block;
    std::string record;
  };
  std::unique_ptr<Worker> Take() {
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Worker> worker = std::move(free_.back());
        free_.pop_back();
        return worker;
      }
    }
    return std::make_unique<Worker>(bad_);
  }

  const data::SourcePtr source_;
  const Format format_;
  data::BadRecords* const bad_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> free_;
};

// Mean bytes of a record in the file, from a few spread over the source.
double BytesPerRecord(const data::SourcePtr& source, Format format) {
  const int64_t size = source->size();
  const int64_t wanted = std::min(size, kSampled);
  std::vector<int64_t> records;
  for (int64_t i = 0; i < wanted; ++i) records.push_back(i * (size / wanted));
  data::BadRecords bad(std::numeric_limits<int64_t>::max(), [](const DataError&) {});
  std::mutex mutex;
  int64_t bytes = 0, count = 0;
  data::ScanOptions options;
  options.records = records;
  options.bad = &bad;
  options.failed = [](int64_t, const DataError&) {};
  data::Scan(*source, options, [&](std::span<const int64_t> numbers, const data::Block& block) {
    std::string record;
    int64_t own = 0, good = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (block.bad(static_cast<int64_t>(i))) continue;
      Serialize(format, block, static_cast<int64_t>(i), numbers[i], record);
      own += static_cast<int64_t>(record.size()) + FrameBytes(format);
      ++good;
    }
    std::lock_guard lock(mutex);
    bytes += own;
    count += good;
  });
  return count > 0 ? static_cast<double>(bytes) / static_cast<double>(count) : 0;
}

void MakeShards(SplitPlan& split, int64_t count) {
  const int64_t size = split.source->size();
  for (int64_t i = 0; i < count; ++i) {
    std::string name = split.pattern;
    name.replace(name.find('*'), 1, fmt::format("{:05}-of-{:05}", i, count));
    // 128 bits: records times shards can be more than 2^63.
    const auto border = [&](int64_t k) {
      return static_cast<int64_t>(static_cast<unsigned __int128>(size) *
                                  static_cast<unsigned __int128>(k) /
                                  static_cast<unsigned __int128>(count));
    };
    split.shards.push_back({border(i), border(i + 1), std::move(name)});
  }
}

class Stopped {};  // thrown when a signal asks to stop

// Writes one shard: chunks are made on the pool, some ahead, and written here in order.
void WriteShard(const Shard& shard, ShardFile& file, Serializer& serializer, int64_t chunk_records,
                int ahead, int64_t frame_bytes, ThreadPool& pool, Totals& totals,
                const std::function<void()>& progress) {
  std::deque<std::future<Chunk>> waiting;
  int64_t next = shard.begin;
  const auto submit = [&] {
    const int64_t begin = next, end = std::min(shard.end, next + chunk_records);
    next = end;
    waiting.push_back(
        pool.Submit([&serializer, begin, end] { return serializer.Make(begin, end); }));
  };
  // The tasks use what lives here: none may outlast an error.
  const auto drain = [&] {
    for (std::future<Chunk>& future : waiting) future.wait();
  };
  try {
    while (next < shard.end || !waiting.empty()) {
      while (next < shard.end && static_cast<int>(waiting.size()) < ahead) submit();
      std::future<Chunk> oldest = std::move(waiting.front());
      waiting.pop_front();
      const Chunk chunk = oldest.get();
      size_t begin = 0;
      for (const size_t end : chunk.ends) {
        file.Write(std::string_view(chunk.bytes).substr(begin, end - begin));
        begin = end;
      }
      totals.records += static_cast<int64_t>(chunk.ends.size());
      totals.done += static_cast<int64_t>(chunk.ends.size()) + chunk.left_out;
      totals.bytes += static_cast<int64_t>(chunk.bytes.size()) +
                      static_cast<int64_t>(chunk.ends.size()) * frame_bytes;
      progress();
    }
    file.Close();
  } catch (...) {
    drain();
    throw;
  }
}

// The table [data] that reads what was written.
Config ResultTable(Format format, const Destination& destination,
                   const std::vector<SplitPlan>& splits, const std::vector<Config>& left) {
  const bool csv = format == Format::kCsv;
  Config table = Config::Table({{"source", Config(std::string(csv ? "csv" : "tfrecord"))}});
  for (const SplitPlan& split : splits) {
    const std::string key = split.name == "train" ? "files" : split.name + "_files";
    const std::string pattern = (fs::path(destination.folder) / split.pattern).string();
    table.Set(key, Config::Array({Config(pattern)}));
  }
  const std::vector<data::Field>& fields = splits.front().source->fields();
  if (csv) {
    table.Set("columns", data::CsvColumnsFor(fields));
  } else {
    table.Set("features", data::FeatureSpecsFor(fields));
  }
  if (!left.empty()) table.Set("transforms", Config::Array(left));
  return table;
}

std::string TomlKey(const std::string& name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
  return bare ? name : Config(name).ToToml();
}

// One line for each entry, in their order: the fields of the result stand in the order of these
// lines, and the last one is what a model is to predict if nothing else is said.
std::string TomlLines(const Config& table) {
  std::string lines;
  for (const auto& [key, value] : table.entries()) {
    // In an array a table is written in one line.
    const std::string list = Config::Array({value}).ToToml();
    lines += TomlKey(key) + " = " + list.substr(1, list.size() - 2) + "\n";
  }
  return lines;
}

std::string Snippet(const Config& table) {
  std::string text =
      "[data]\n" + TomlLines(WithoutKeys(table, {"features", "columns", "transforms"}));
  for (const char* key : {"features", "columns"}) {
    if (const Config* fields = table.Find(key)) {
      text += fmt::format("\n[data.{}]\n", key) + TomlLines(*fields);
    }
  }
  if (const Config* transforms = table.Find("transforms")) {
    for (const Config& transform : transforms->items()) {
      text += "\n[[data.transforms]]\n" + TomlLines(transform);
    }
  }
  return text;
}

int Convert(const Options& options) {
  if (options.to.empty()) throw Invalid("--to is needed: the folder for the shards");
  if (options.shards && (*options.shards < 1 || *options.shards > kMostShards)) {
    throw Invalid("--shards takes 1 to {}, found {}", kMostShards, *options.shards);
  }
  if (options.workers < 0) {
    throw Invalid("--workers must be at least 1, or 0 for as many as there are cores, found {}",
                  options.workers);
  }
  if (options.shards && !options.shard_size.empty()) {
    throw Invalid("give --shards or --shard-size, not both");
  }
  const std::optional<int64_t> shard_bytes =
      ParseBytes(options.shard_size.empty() ? "100MiB" : options.shard_size);
  if (!shard_bytes || *shard_bytes <= 0) {
    throw Invalid("--shard-size {}: expected a size such as 100MiB", options.shard_size);
  }
  const Format format = options.format == "csv" ? Format::kCsv : Format::kTfRecord;
  if (format == Format::kCsv && options.gzip) {
    throw Invalid(
        "--gzip is for TFRecord files; pack CSV files yourself (they are read packed too)");
  }
  const Destination destination = ParseDestination(options.to);
  const DataInput input = FindDataInput(options.data);
  if (FileExists(destination.folder)) {
    CheckNotRead(input.table(), fs::weakly_canonical(destination.folder));
  }
  Staging staging(destination.folder, options.overwrite);
  const Plan plan = MakePlan(input, options.split, options.transforms);
  DataInput planned = input;
  planned.tree.Set("data", plan.table);
  std::vector<SplitPlan> splits;
  for (auto& [name, source] : OpenNamedSplits(planned, options.split, /*transforms=*/true)) {
    const std::string ending = "." + options.format + (options.gzip ? ".gz" : "");
    if (format == Format::kCsv) data::CsvHeader(source->fields());  // refuses what it cannot hold
    splits.push_back({name,
                      source,
                      destination.pattern.empty() ? name + "-*" + ending : destination.pattern,
                      {}});
  }
  if (!destination.pattern.empty() && splits.size() > 1) {
    throw Invalid(
        "--to {}: the data has {} splits, which cannot share one pattern; name a folder, or one "
        "split with --split",
        options.to, splits.size());
  }
  int64_t total = 0;
  std::vector<int64_t> chunk_records;
  for (SplitPlan& split : splits) {
    const double each = std::max(1.0, BytesPerRecord(split.source, format));
    const auto size = static_cast<double>(split.source->size());
    int64_t shards = options.shards.value_or(0);
    if (!options.shards) {
      shards = static_cast<int64_t>(std::ceil(size * each / static_cast<double>(*shard_bytes)));
    }
    MakeShards(split, std::clamp<int64_t>(shards, 1, std::min(split.source->size(), kMostShards)));
    chunk_records.push_back(std::clamp<int64_t>(
        static_cast<int64_t>(static_cast<double>(kChunkBytes) / each), 1, kMostChunk));
    total += split.source->size();
  }

  const Stopwatch clock;
  data::BadRecords bad(input.pipeline.max_bad_records);
  Totals totals;
  const int cores = options.workers > 0 ? options.workers : std::max(1, ReadCgroup().cpu.usable);
  const StopRequest* stop = StopOnSignals();
  {
    ProgressLine line;
    const auto progress = [&] {
      if (stop->asked) throw Stopped();
      line.Show(options.command + "ing",
                static_cast<double>(totals.done) / static_cast<double>(total),
                fmt::format("{}/{} records, {}", HumanCount(totals.done), HumanCount(total),
                            Throughput(totals.bytes, clock.Seconds())));
    };
    struct Task {
      size_t split, shard;
    };
    std::vector<Task> tasks;
    for (size_t s = 0; s < splits.size(); ++s) {
      for (size_t i = 0; i < splits[s].shards.size(); ++i) tasks.push_back({s, i});
    }
    std::vector<std::unique_ptr<Serializer>> serializers;
    for (const SplitPlan& split : splits) {
      serializers.push_back(std::make_unique<Serializer>(split.source, format, &bad));
    }
    const auto writers = std::min<int64_t>(cores, static_cast<int64_t>(tasks.size()));
    ThreadPool makers(cores, "convert");
    // Chunks ahead of each writer, so that the makers never rest and memory stays small.
    const int ahead = static_cast<int>(std::max<int64_t>(2, 2 * cores / writers));
    const auto write = [&](int64_t i) {
      const Task& task = tasks[static_cast<size_t>(i)];
      const Shard& shard = splits[task.split].shards[task.shard];
      std::unique_ptr<ShardFile> file;
      if (format == Format::kCsv) {
        file = std::make_unique<CsvShard>(staging.File(shard.name),
                                          splits[task.split].source->fields());
      } else {
        file = std::make_unique<TfRecordShard>(staging.File(shard.name), options.gzip);
      }
      WriteShard(shard, *file, *serializers[task.split], chunk_records[task.split], ahead,
                 FrameBytes(format), makers, totals, progress);
    };
    try {
      if (writers == 1) {
        for (size_t i = 0; i < tasks.size(); ++i) write(static_cast<int64_t>(i));
      } else {
        ThreadPool(static_cast<int>(writers) - 1, "shards")
            .ParallelFor(static_cast<int64_t>(tasks.size()), write);
      }
    } catch (const Stopped&) {
      line.Clear();
      std::fprintf(stderr, "flatout: stopped on request; nothing was written\n");
      return kExitPreempted;
    }
  }
  if (totals.records == 0)
    throw BadData("{}: all records are bad; nothing was written", input.origin);
  const Config table = ResultTable(format, destination, splits, plan.left);
  std::string snippet = fmt::format(
      "{}{} from {}.\n# Copy this table into a run file. Paths are relative to the folder that "
      "flatout runs in.\n",
      kMark, options.command, input.origin);
  snippet += Snippet(table);
  AtomicWriteFile(staging.File(kSnippet), snippet);
  staging.Publish();
  // Opening the result makes its index, and shows that it can be read.
  int64_t reread = 0;
  for (SplitPlan& split : splits) {
    const data::SourcePtr written = data::OpenPlainSource(table, split.name);
    if (written != nullptr) split.written = written->size();
    reread += split.written;
  }
  if (reread != totals.records) {
    throw Internal("{} records were written to {}, but {} are there", totals.records.load(),
                   destination.folder, reread);
  }
  const double seconds = clock.Seconds();
  int64_t files = 0, on_disk = 0;
  for (const SplitPlan& split : splits) {
    for (const Shard& shard : split.shards) {
      ++files;
      on_disk += FileSize((fs::path(destination.folder) / shard.name).string());
    }
  }
  const std::string snippet_path = (fs::path(destination.folder) / kSnippet).string();
  if (options.json) {
    nlohmann::ordered_json json;
    json["data"] = input.origin;
    json["folder"] = destination.folder;
    json["records"] = totals.records.load();
    json["left_out"] = bad.count();
    json["files"] = files;
    json["bytes"] = on_disk;
    json["seconds"] = seconds;
    json["applied"] = plan.applied;
    if (!plan.note.empty()) json["note"] = plan.note;
    for (const SplitPlan& split : splits) {
      json["splits"][split.name] = {
          {"records", split.written}, {"files", split.shards.size()}, {"pattern", split.pattern}};
    }
    json["table"] = snippet_path;
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return kExitDone;
  }
  std::printf("%s records in %s file%s (%s) in %s: %s, %s\n", HumanCount(totals.records).c_str(),
              HumanCount(files).c_str(), files == 1 ? "" : "s", HumanBytes(on_disk).c_str(),
              destination.folder.c_str(), HumanDuration(seconds).c_str(),
              Throughput(totals.bytes, seconds).c_str());
  for (const SplitPlan& split : splits) {
    std::printf("  %-10s  %s records in %zu file%s %s\n", split.name.c_str(),
                HumanCount(split.written).c_str(), split.shards.size(),
                split.shards.size() == 1 ? "" : "s",
                (fs::path(destination.folder) / split.pattern).c_str());
  }
  if (!plan.applied.empty()) {
    std::printf("applied: %s\n", fmt::format("{}", fmt::join(plan.applied, ", ")).c_str());
  }
  if (options.transforms && !plan.left.empty()) {
    std::printf("left for the run: %zu of %zu transforms%s%s\n", plan.left.size(),
                input.pipeline.transforms.size(), plan.note.empty() ? "" : "; ", plan.note.c_str());
  }
  if (bad.count() > 0) {
    std::printf("%s bad records were left out (data.max_bad_records = %lld)\n",
                HumanCount(bad.count()).c_str(), static_cast<long long>(bad.allowed()));
  }
  std::printf("the table [data] for a run file: %s\n", snippet_path.c_str());
  return kExitDone;
}

void AddOne(CLI::App& app, Run* run, const std::string& name, const std::string& what,
            const std::string& examples, bool transforms) {
  CLI::App* command = app.add_subcommand(name, what);
  auto options = std::make_shared<Options>();
  options->command = name;
  options->transforms = transforms;
  AddDataArguments(command, options->data);
  command->add_option("--to", options->to,
                      "New folder for the shards and data.toml; or FOLDER/NAME-*.tfrecord for one "
                      "split");
  command->add_option("--split", options->split, "Only this split (train, validation or test)")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_option("--shards", options->shards, "Files per split (default: by --shard-size)");
  command->add_option("--shard-size", options->shard_size,
                      "About that much in a file, before packing (default: 100MiB)");
  command
      ->add_option("--format", options->format,
                   "tfrecord, or csv for records of numbers and single texts")
      ->check(CLI::IsMember({"tfrecord", "csv"}))
      ->capture_default_str();
  command->add_flag("--gzip", options->gzip, "Pack the files; saves disk, costs time at each read");
  command->add_flag("--overwrite", options->overwrite,
                    "Replace what an earlier convert or write left in that folder");
  if (!transforms) {
    command->add_flag(
        "--apply-transforms", options->transforms,
        "Apply the transforms up to the first random one, as flatout data write does");
  }
  command->add_option("--workers", options->workers, "Threads; 0: as many as there are cores")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "The order of the records stays. All files appear at once when everything is written, or "
      "none\n"
      "does; what was read is never changed. FOLDER/data.toml holds the table [data] that reads "
      "the\n"
      "result.\n"
      "Examples:\n" +
      examples);
  command->callback([options, run] { *run = [options] { return Convert(*options); }; });
}

}  // namespace

void AddDataConvert(CLI::App& app, Run* run) {
  AddOne(app, run, "convert", "Write records of any source as TFRecord or CSV files",
         "  flatout data convert run.toml --to shards --shard-size 100MiB\n"
         "  flatout data convert 'logs/*.csv' --to shards --shards 8 --gzip\n"
         "  flatout data convert run.toml --to tables --format csv\n"
         "  flatout data convert run.toml --split train --to 'shards/train-*.tfrecord'",
         /*transforms=*/false);
  AddOne(app, run, "write",
         "Write what the transforms make of the records (up to the first random one): decode and "
         "resize once, not in each epoch",
         "  flatout data write run.toml --to resized\n"
         "  flatout data write run.toml --to resized --shards 16 --set data.workers=2",
         /*transforms=*/true);
}

}  // namespace flatout::cli
