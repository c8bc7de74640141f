// RunFolder: what a run leaves behind. run.toml (the run file as used), metrics.jsonl (one JSON
// object a line, written as things happen), checkpoints/ (snapshots to go on from, saver.h),
// summary.json (at the end, also of a failed run), weights.safetensors (the last) and
// best.safetensors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/train/batch_plan.h"
#include "flatout/train/saver.h"
#include "flatout/watch/cost.h"
#include "flatout/watch/ledger.h"
#include "flatout/watch/verdict.h"

namespace flatout::train {

inline constexpr const char* kBestFile = "best.safetensors";

// Values for a line of metrics.jsonl; numbers that are NaN or infinite become null.
using Fields = std::vector<std::pair<std::string, double>>;

// What summary.json says.
struct Summary {
  std::string status;  // "done", "stopped", "failed"
  std::string error;   // of a failed run
  int exit_code = 0;
  int64_t steps = 0;
  int64_t epochs = 0;
  std::optional<watch::Cost> cost;  // where the run file has a price
  int64_t samples = 0;
  // metrics.<split>.<name>
  std::map<std::string, std::map<std::string, double>> metrics;
  std::optional<double> full;
  std::optional<double> samples_per_second;
  std::optional<double> ceiling_samples_per_second;
  std::optional<double> mfu;
  double flops_per_sample = 0;
  watch::LedgerReport ledger;
  watch::InputFacts input;
  int64_t bad_records = 0;                       // left out (data.max_bad_records)
  std::vector<std::string> bad_record_messages;  // the first hundred
  bool communication_measured = true;
  std::vector<std::string> verdict;
  std::string limit, limit_stage, kind, advice;  // of the verdict
  double predicted_gain = 1;
  watch::RunFacts facts;  // that it was made from
  using Advice = watch::Advised;
  std::vector<Advice> advised;    // what the run changed by itself (watch.advise)
  double first_step_seconds = 0;  // from process start to the end of the first launch
  int64_t steps_per_launch = 1;
  int64_t devices = 1;
  std::string device;
  int64_t parameters = 0;
  int64_t peak_resident_bytes = 0;
  std::optional<BatchPlan> plan;             // of the devices' memory; nothing before it was made
  std::optional<int64_t> peak_device_bytes;  // of the fullest device, where its allocator says
  int64_t skipped_steps = 0;                 // by the loss scale
  std::optional<double> loss_scale;          // of the last step; nothing without one
  int64_t sessions = 1;                      // processes that worked on the run
  Saver::Stats saves;                        // snapshots, of this process
  int64_t compiles = 0;                      // programs compiled, not taken from the cache
  double compile_seconds = 0;
};

class RunFolder {
 public:
  // What to do with a run that the folder holds already.
  enum class Existing { kRefuse, kOverwrite, kResume };
  // Makes the folder and locks it: while this lives, no other process can write a run there. With
  // kOverwrite the old run's files stay until Begin; a folder made here goes again without that.
  // Throws UserError naming path and reason, and who holds the lock where the system says; not
  // before two seconds have passed, since a process that was killed takes a moment to go.
  explicit RunFolder(std::string path, Existing existing = Existing::kRefuse);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  // Throws the same where another process works in the folder, which exists.
  static void CheckFree(const std::string& path);
  // A folder under runs/ that does not exist yet: runs/<name>, runs/<name>-2...
  static std::string NewPath(const std::string& name);

  // The name of best weights that no snapshot has reached yet, after so many launched steps.
  static std::string PendingBest(int64_t step);
  // The steps of those that are there, ascending.
  std::vector<int64_t> PendingBests() const;
  // Whether a run was about to take this folder's place when its process ended: what else lies
  // there is of neither run.
  static bool IsBeingReplaced(const std::string& path);

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  // The run begins: removes what an old run left and writes the run file as used. With
  // `resumed_log_bytes` it goes on: everything stays, but of metrics.jsonl only so many bytes, what
  // comes after them was written by steps that are about to be done again.
  void Begin(const Config& tree, std::optional<int64_t> resumed_log_bytes = std::nullopt);
  // How long metrics.jsonl is.
  int64_t log_bytes() const;
  // Appends {"event": event, ...} to metrics.jsonl. A disk that cannot take it is reported once and
  // never ends a run.
  void Log(const std::string& event, const Fields& fields);
  // Writes facts.json, so that a run that does not come to its summary can be judged all the same.
  // Does not wait for the disk, and fails in silence: metrics.jsonl says that the disk is full.
  void WriteFacts(const watch::RunFacts& facts);
  // Does nothing where an old run is still in place because the new one never began.
  void WriteSummary(const Summary& summary);

 private:
  std::string path_;
  int lock_ = -1;  // file descriptor
  bool holds_old_run_ = false;
  std::vector<std::string> made_;  // folders, the innermost first; none once the run has begun
  bool log_failed_ = false;
};

}  // namespace flatout::train
