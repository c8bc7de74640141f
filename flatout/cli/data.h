// What the subcommands of `flatout data` share. Internal to flatout/cli.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/cli/command.h"
#include "flatout/data/block.h"
#include "flatout/data/field.h"
#include "flatout/data/pipeline.h"

namespace flatout::cli {

void AddDataInspect(CLI::App& app, Run* run);  // data_inspect.cc
void AddDataIndex(CLI::App& app, Run* run);    // data_index.cc
void AddDataVerify(CLI::App& app, Run* run);   // data_verify.cc
void AddDataConvert(CLI::App& app, Run* run);  // data_convert.cc; convert and write
void AddDataBench(CLI::App& app, Run* run);    // data_bench.cc

// How the command line says which data is meant: a run file, a run folder or a folder that convert
// wrote; files, whose kind is told by content; or a source with its keys.
struct DataArguments {
  std::vector<std::string> what;
  std::string source;
  std::vector<std::string> files;
  std::vector<std::string> assignments;
};
void AddDataArguments(CLI::App* command, DataArguments& arguments);

struct DataInput {
  std::string origin;  // for people: "run.toml", "train.csv", "source clicks"
  Config tree;         // the run file with every --set, or a table [data] alone
  data::PipelineOptions pipeline;
  uint64_t seed = 0;          // train.seed
  int64_t global_batch = 32;  // train.global_batch

  const Config& table() const { return *tree.Find("data"); }
};
// Throws UserError and DataError with what is wrong with the arguments. Opens no data but to tell
// the kind of files.
DataInput FindDataInput(const DataArguments& arguments);

// The table [data] for these files, by content. Throws DataError where no source is for them.
Config GuessSource(const std::vector<std::string>& files);

// How the file is packed: "", "gzip" or "zlib".
std::string PackingOf(const std::string& path);

// The table without those keys.
Config WithoutKeys(Config table, const std::vector<std::string_view>& keys);
// The keys that are not the source's own.
Config SourceKeys(const Config& table);

// All defined splits, by name; those that `split` names only unless it is empty. `transforms`: with
// filter, cache and transforms, else what the files hold. Throws when there is none.
using NamedSplits = std::vector<std::pair<std::string, data::SourcePtr>>;
NamedSplits OpenNamedSplits(const DataInput& input, const std::string& split, bool transforms);

// A row's value of a field for people: short ones in full, long ones as size and range, pictures in
// files by their header, other bytes as size and beginning.
std::string DescribeValue(const data::Block& block, size_t field, int64_t row);

// One line on standard error that is drawn again and again, on a terminal only. Thread-safe; log
// lines go above it.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // "left [====>   ] right"; no more often than a person can see.
  void Show(const std::string& left, double share, const std::string& right);
  void Clear();

 private:
  const bool terminal_;
  std::mutex mutex_;
  bool drawn_ = false;
  double shown_ = 0;
};

// "1,234 records/s, 38.1 MB/s" and the like: bytes per second in decimal units, as disks are sold.
std::string Throughput(int64_t bytes, double seconds);

}  // namespace flatout::cli
