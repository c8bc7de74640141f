// RunStatus: what is known of a run now, as plain values. A running training publishes it on a
// StatusBoard, from which whoever shows it (the live page, Prometheus) takes copies, so that nobody
// who looks on touches the trainer. The same struct is read back from a run folder
// (run_record.h), so a report, `flatout top` and the live page show one thing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "flatout/watch/cost.h"
#include "flatout/watch/ledger.h"
#include "flatout/watch/verdict.h"

namespace flatout::watch {

// One moment on a run's curves. What is not known stays empty.
struct RunPoint {
  int64_t step = 0;
  double epoch = 0;            // done so far, with the part of the one under way
  double seconds = 0;          // of wall time, all processes of the run together
  std::optional<double> loss;  // mean over the epoch so far
  std::map<std::string, double> metrics;
  std::optional<double> learning_rate, samples_per_second, full;
  std::optional<LedgerReport> ledger;  // of the whole run up to here
  std::optional<double> queue_fill;    // of the input, since the point before
  std::optional<double> input_wait;    // share of the time since the point before
  std::optional<double> resident_bytes, device_bytes;
};

// The end of an epoch.
struct RunEpoch {
  int64_t epoch = 0, step = 0;         // epoch counts from 1
  double seconds = 0;                  // that it took
  std::map<std::string, double> logs;  // "loss", "val_loss", ...
};

// The points of a curve, never more than so many: when they are, every second one goes, and of
// those that follow only as many are kept. The last one is always there.
class RunHistory {
 public:
  explicit RunHistory(size_t most = 600) : most_(most) {}
  void Add(RunPoint point);
  const std::vector<RunPoint>& points() const { return points_; }
  bool empty() const { return points_.empty(); }

 private:
  size_t most_;
  size_t stride_ = 1;  // of the points added, each such one is kept for good
  size_t added_ = 0;
  bool temporary_ = false;  // the last one gives way to the next
  std::vector<RunPoint> points_;
};

struct DeviceStatus {
  int index = 0;
  std::string name;  // "NVIDIA H100 80GB HBM3", "cpu"
  std::optional<double> memory_used_bytes, memory_limit_bytes, memory_peak_bytes;
  // Share of the time in which a kernel ran, as the driver says. No measure of how full it was.
  std::optional<double> kernel_active;
  std::optional<double> power_watts, power_limit_watts, temperature_celsius, clock_hertz;
  std::optional<double> pcie_bytes_per_second, nvlink_bytes_per_second;
  std::optional<int64_t> uncorrected_errors;
  // Why it runs below its clock, by the driver; empty and known: it does not.
  std::optional<std::vector<std::string>> throttled;
};

struct CheckpointStatus {
  int64_t saved = 0, failed = 0;
  std::optional<int64_t> last_step;        // that is on the disk
  std::optional<double> age_seconds;       // of that one
  std::optional<double> interval_seconds;  // where it is chosen
  double bytes = 0;                        // of the last
  double blocked_seconds = 0, slowed_seconds = 0, write_seconds = 0;
  std::string error;  // of the last, if it failed
};

struct RunStatus {
  // --- the run ---
  std::string name, folder, host, device, model, optimizer, learning_rate_schedule, precision,
      loss_name;
  int64_t pid = 0;
  int64_t parameters = 0;
  int64_t epochs = 0;                      // asked for
  std::optional<int64_t> steps_per_epoch;  // nothing: the data do not say
  std::optional<int64_t> max_steps;
  int64_t global_batch = 0, replicas = 1, steps_per_launch = 1;
  std::string run_file;  // TOML, where it is known

  // --- where it is ---
  // "starting", "training", "evaluating", "done", "stopped", "failed", "running" (in another
  // process), "ended" (killed: nobody wrote how it ended).
  std::string state = "starting";
  std::string error;  // of a failed run
  int64_t step = 0;
  int64_t epoch = 0;  // under way, from 1; 0: not begun
  int64_t step_in_epoch = 0;
  int64_t samples = 0, skipped_steps = 0, sessions = 1;
  int64_t process_steps = 0, process_samples = 0;  // of this process
  std::optional<double> loss, learning_rate, loss_scale, samples_per_second, full;
  std::map<std::string, double> metrics;
  std::map<std::string, double> last_epoch;  // "loss", "val_loss", ...
  std::map<std::string, double> test;        // scores of the test split
  std::optional<double> eta_seconds;         // left, by the pace of late
  // Since the last step whose result is known. Counted on a clock that never jumps.
  std::optional<double> progress_age_seconds;
  double uptime_seconds = 0;  // of the process

  // --- where the time went ---
  LedgerReport ledger;          // of the run, all its processes
  LedgerReport earlier_ledger;  // of those before this one
  LedgerReport process_ledger;  // of this process
  bool ledger_known = false;
  bool communication_measured = true;
  std::optional<double> run_full, run_samples_per_second, mfu, ceiling_samples_per_second;
  std::optional<std::string> limit;  // the verdict's: "input"
  std::string stage;
  std::vector<std::string> verdict;  // lines
  std::string advice;                // its one change
  std::vector<Advised> advised;      // of a run that has ended: what it changed by itself
  bool facts_known = false;          // of a run folder: the verdict is by its facts.json
  InputFacts input;
  bool input_known = false;
  double input_wait_seconds = 0;  // of the training thread, in this process
  double queue_bytes = 0, queue_budget_bytes = 0;

  // --- what it takes ---
  std::vector<DeviceStatus> devices;
  std::optional<double> planned_bytes, resident_bytes, peak_resident_bytes;
  double cpu_seconds = 0;  // of the process
  std::optional<double> usable_cores, throttled_seconds;
  std::optional<double> disk_free_bytes, disk_bytes;  // of the run folder's file system
  CheckpointStatus checkpoints;
  int64_t bad_records = 0;
  std::optional<int64_t> compiles;  // programs that were not in the cache
  double compile_seconds = 0;
  CostOptions price;

  // --- how it went ---
  RunHistory history;
  std::vector<RunEpoch> epoch_history;
  std::deque<std::string> log;     // the last lines
  std::vector<std::string> notes;  // what could not be read

  // Epochs done, with the part of the one under way.
  double epochs_done() const;
  // Steps in all, where that is known.
  std::optional<int64_t> steps_in_all() const;
  // Share done in [0, 1].
  std::optional<double> progress() const;
  std::optional<Cost> cost() const { return CostOf(price, ledger, epochs_done()); }
  // Whether a process is at work on it.
  bool alive() const;
};

// Lines of a log that are kept for showing.
inline constexpr size_t kLogLines = 200;
// Epochs that are kept for showing.
inline constexpr size_t kMostEpochs = 2000;

// Appends, and drops the first where there are too many.
void AddLogLine(RunStatus& status, std::string line);
void AddEpoch(RunStatus& status, RunEpoch epoch);

// Room on the disk of the run's folder, and its size; both stay as they are where the system does
// not say.
void ReadDisk(const std::string& folder, RunStatus& status);
// What is left by the pace of the last quarter of the points (at least a few seconds of them);
// nothing where the end or the pace is not known.
std::optional<double> EstimateEta(const RunStatus& status);

// Where a training thread puts its status and others take it. Neither waits for the other longer
// than exchanging a pointer takes.
class StatusBoard {
 public:
  // `refresh` brings into a copy what goes on between two publications: the ledger, ages, the
  // process's memory. It is called on the threads of those who read.
  using Refresh = std::function<void(RunStatus&)>;
  explicit StatusBoard(Refresh refresh = nullptr);

  void Publish(const RunStatus& status);
  RunStatus Read() const;

 private:
  const Refresh refresh_;
  mutable std::mutex mutex_;
  std::shared_ptr<const RunStatus> status_;
};

}  // namespace flatout::watch
