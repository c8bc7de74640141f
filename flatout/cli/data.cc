// flatout data: what the data is, whether it can be read, how fast, and in another format.
#include "flatout/cli/data.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/data/elements.h"
#include "flatout/data/files.h"
#include "flatout/data/image/image.h"

namespace flatout::cli {

namespace fs = std::filesystem;

void AddDataArguments(CLI::App* command, DataArguments& arguments) {
  command
      ->add_option("data", arguments.what,
                   "A run file (or any TOML file with a table [data]), a run folder, or data files "
                   "(told by content)")
      ->take_all();
  command->add_option("--source", arguments.source,
                      "A source by name, as in a run file; see docs/data.md");
  command
      ->add_option("--files", arguments.files,
                   "Files, patterns or folders of that source (may be repeated)")
      ->take_all();
  command
      ->add_option("--set", arguments.assignments,
                   "Set a key: --set data.validation_split=0.1 (may be repeated)")
      ->take_all();
}

namespace {

// The TOML file that is meant, if it is one.
std::string RunFileOf(const std::string& what) {
  std::error_code error;
  if (fs::is_directory(what, error)) {
    for (const char* name : {"run.toml", "data.toml"}) {
      const std::string path = (fs::path(what) / name).string();
      if (FileExists(path)) return path;
    }
    return "";
  }
  return what.ends_with(".toml") ? what : "";
}

Config StringList(const std::vector<std::string>& values) {
  std::vector<Config> items;
  for (const std::string& value : values) items.emplace_back(value);
  return Config::Array(std::move(items));
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

namespace {

// A folder that convert or write filled may have been moved since: its files are those beside its
// data.toml, wherever that was written.
void TakePathsFromFolder(const std::string& folder, Config& tree) {
  const Config* data = tree.Find("data");
  if (data == nullptr || !data->is_table() || FileExists(folder + "/run.toml")) return;
  Config moved = *data;
  for (const char* key : {"files", "validation_files", "test_files"}) {
    const Config* files = data->Find(key);
    if (files == nullptr || !files->is_array()) continue;
    std::vector<std::string> here;
    for (const Config& file : files->items()) {
      here.push_back((fs::path(folder) / fs::path(file.AsString()).filename()).string());
    }
    moved.Set(key, StringList(here));
  }
  tree.Set("data", std::move(moved));
}

}  // namespace

DataInput FindDataInput(const DataArguments& arguments) {
  DataInput input;
  const bool named = !arguments.source.empty() || !arguments.files.empty();
  if (named && !arguments.what.empty()) {
    throw Invalid("say what to read either as {} or with --source and --files, not both",
                  Join(arguments.what));
  }
  if (!named && arguments.what.empty()) {
    throw Invalid(
        "say what to read: a run file, data files, or --source NAME --files PATTERN; see "
        "flatout data --help");
  }
  input.tree = Config::Table();
  if (arguments.what.size() == 1 && !RunFileOf(arguments.what[0]).empty()) {
    input.origin = RunFileOf(arguments.what[0]);
    input.tree = Config::LoadToml(input.origin);
    if (input.origin != arguments.what[0]) TakePathsFromFolder(arguments.what[0], input.tree);
  } else if (!arguments.source.empty()) {
    input.origin = "source " + arguments.source;
    Config table = Config::Table({{"source", Config(arguments.source)}});
    if (!arguments.files.empty()) table.Set("files", StringList(arguments.files));
    input.tree.Set("data", std::move(table));
  } else {
    const std::vector<std::string>& files = named ? arguments.files : arguments.what;
    input.origin = Join(files);
    input.tree.Set("data", GuessSource(files));
  }
  for (const std::string& assignment : arguments.assignments) {
    input.tree.SetFromArgument(assignment);
  }
  const Config* table = input.tree.Find("data");
  if (table == nullptr || !table->is_table()) {
    throw Invalid("{}: expected a table [data], such as [data] source = \"fashion_mnist\"",
                  input.origin);
  }
  input.pipeline = data::ReadPipelineOptions(*table);
  if (const Config* seed = input.tree.FindPath("train.seed")) {
    input.seed = static_cast<uint64_t>(seed->AsInt());
  }
  if (const Config* batch = input.tree.FindPath("train.global_batch")) {
    input.global_batch = batch->AsInt();
    if (input.global_batch < 1) throw batch->Complain("must be at least 1");
  }
  return input;
}

Config WithoutKeys(Config table, const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) {
    if (table.Find(key) != nullptr) table = WithoutKey(table, key);
  }
  return table;
}

Config SourceKeys(const Config& table) {
  return WithoutKeys(table, {"shuffle", "shuffle_window", "prefetch", "prefetch_memory", "workers",
                             "max_bad_records", "cache", "filter", "transforms"});
}

NamedSplits OpenNamedSplits(const DataInput& input, const std::string& split, bool transforms) {
  NamedSplits splits;
  for (const std::string_view name : data::kSplits) {
    if (!split.empty() && split != name) continue;
    data::SourcePtr source = transforms ? data::OpenSource(input.table(), name, input.seed)
                                        : data::OpenPlainSource(input.table(), name);
    if (source != nullptr) splits.emplace_back(name, std::move(source));
  }
  if (splits.empty()) {
    throw Invalid("{}: [data] defines no {}split", input.origin, split.empty() ? "" : split + " ");
  }
  return splits;
}

// ---- values -------------------------------------------------------------------------------------

namespace {

constexpr int64_t kShortValues = 8;
constexpr size_t kShortText = 60;

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text.substr(0, kShortText)) {
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '"' || c == '\\') {
      quoted += std::string("\\") + c;
    } else {
      quoted += c;
    }
  }
  quoted += "\"";
  if (text.size() > kShortText) quoted += fmt::format("... ({} bytes)", text.size());
  return quoted;
}

// Text that a terminal can show: no control characters but line ends and tabs.
bool Printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 ? byte != 0x7f : byte == '\n' || byte == '\t' || byte == '\r';
  });
}

std::string DescribeBytes(std::string_view bytes) {
  if (bytes.size() > 16) {
    try {
      const auto info = data::Probe(std::as_bytes(std::span(bytes.data(), bytes.size())));
      return fmt::format("{}, {}", info.ToString(), HumanBytes(static_cast<int64_t>(bytes.size())));
    } catch (const DataError&) {
      // Not a picture.
    }
  }
  if (Printable(bytes.substr(0, 4096))) return Quoted(bytes);
  std::string text = fmt::format("{} bytes:", bytes.size());
  for (const char c : bytes.substr(0, 8)) {
    text += fmt::format(" {:02x}", static_cast<unsigned char>(c));
  }
  return text + (bytes.size() > 8 ? " ..." : "");
}

std::string DescribeNumbers(const ir::Shape& shape, const std::byte* memory,
                            std::span<const int64_t> dims) {
  int64_t count = 1;
  std::string size;
  for (const int64_t dim : dims) {
    count *= dim;
    size += (size.empty() ? "" : "x") + std::to_string(dim);
  }
  if (dims.empty()) return data::ElementToString(shape.dtype, memory, 0);
  if (count <= kShortValues) {
    std::string text = "[";
    for (int64_t i = 0; i < count; ++i) {
      text += (i > 0 ? ", " : "") + data::ElementToString(shape.dtype, memory, i);
    }
    return text + "]" + (dims.size() > 1 ? " " + size : "");
  }
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
  int64_t numbers = 0;
  data::WithElementType(shape.dtype, [&]<typename T>(T) {
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>(data::Number(data::Load<T>(memory, i)));
      if (std::isnan(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
      sum += value;
      ++numbers;
    }
  });
  if (numbers == 0) return fmt::format("{}, all missing", size);
  std::string text = fmt::format("{}, {:.6g} to {:.6g}, mean {:.4g}", size, least, most,
                                 sum / static_cast<double>(numbers));
  if (numbers < count) text += fmt::format(", {} missing", count - numbers);
  return text;
}

}  // namespace

std::string DescribeValue(const data::Block& block, size_t field, int64_t row) {
  const data::Field& of = block.fields()[field];
  if (of.text) {
    if (of.shape.rank() == 0) return DescribeBytes(block.text(field, row));
    const std::span<const std::string_view> texts = block.texts(field, row);
    std::string text = "[";
    for (size_t i = 0; i < std::min<size_t>(texts.size(), kShortValues); ++i) {
      text += (i > 0 ? ", " : "") + DescribeBytes(texts[i]);
    }
    if (texts.size() > kShortValues) text += fmt::format(", ... {} in all", texts.size());
    return text + "]";
  }
  return DescribeNumbers(of.shape, block.bytes(field, row).data(), block.dims(field, row));
}

// ---- progress -----------------------------------------------------------------------------------

namespace {

constexpr double kShowSeconds = 0.1;
constexpr size_t kBarWidth = 24;

void LogAboveLine(LogLevel, const std::string& line, void* context) {
  static_cast<ProgressLine*>(context)->Clear();
  std::fprintf(stderr, "%s\n", line.c_str());
}

bool OnTerminal() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace

ProgressLine::ProgressLine() : terminal_(OnTerminal()) {
  if (terminal_) SetLogSink(&LogAboveLine, this);
}

ProgressLine::~ProgressLine() {
  Clear();
  if (terminal_) SetLogSink(nullptr, nullptr);
}

void ProgressLine::Show(const std::string& left, double share, const std::string& right) {
  const double now = SteadySeconds();
  std::lock_guard lock(mutex_);
  if (!terminal_ || now - shown_ < kShowSeconds) return;
  shown_ = now;
  winsize size{};
  const size_t columns =
      ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
  const auto filled = static_cast<size_t>(std::floor(std::clamp(share, 0.0, 1.0) * kBarWidth));
  std::string line = left + " [";
  for (size_t i = 0; i < kBarWidth; ++i) line += i < filled ? '=' : i == filled ? '>' : ' ';
  line += "] " + right;
  if (line.size() >= columns) line.resize(columns - 1);
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::Clear() {
  std::lock_guard lock(mutex_);
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

std::string Throughput(int64_t bytes, double seconds) {
  if (seconds <= 0) return "n/a";
  const double rate = static_cast<double>(bytes) / seconds;
  if (rate >= 1e9) return fmt::format("{:.2f} GB/s", rate / 1e9);
  return fmt::format("{:.{}f} MB/s", rate / 1e6, rate < 1e7 ? 2 : rate < 1e8 ? 1 : 0);
}

void AddData(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "data", "Look at data, check it, index it, convert it, and time the input pipeline");
  command->require_subcommand(1);
  AddDataInspect(*command, run);
  AddDataIndex(*command, run);
  AddDataVerify(*command, run);
  AddDataConvert(*command, run);
  AddDataBench(*command, run);
  command->footer(
      "Examples:\n"
      "  flatout data inspect train.csv\n"
      "  flatout data verify run.toml\n"
      "  flatout data convert run.toml --to shards --shard-size 100MiB\n"
      "  flatout data bench run.toml --step-ms 5");
}

}  // namespace flatout::cli
