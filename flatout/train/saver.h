// Saver: when a run's snapshots are made, what they cost it, and what is said when one fails.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "flatout/checkpoint/async_saver.h"
#include "flatout/checkpoint/interval.h"
#include "flatout/checkpoint/store.h"
#include "flatout/train/options.h"

namespace flatout::train {

// The folder of snapshots in a run folder.
std::string CheckpointFolder(const std::string& run_folder);

// What snapshots of a run have cost it so far, as far as it is known.
struct SaveCosts {
  double training = 0;  // seconds of training that one costs: blocked and slowed
  double save = 0;      // seconds from handing one over to being on the disk
};

class Saver {
 public:
  // Says things to the user; called on the training thread.
  using Say = std::function<void(const std::string&)>;

  Saver(const std::string& run_folder, const CheckpointOptions& options, Say say,
        checkpoint::FileSystem& files = checkpoint::RealFileSystem());

  // Before the first step: begins to clear away what a killed writer left and to try the disk out,
  // which training need not wait for. What comes of it, a disk that cannot take snapshots of
  // `bytes`, is told by the next Tell after that; training goes on, and so do the attempts.
  void Prepare(int64_t bytes);
  // Whether a snapshot should be made now, after so many steps (skipped ones too).
  bool Due(int64_t step) const;
  // The run goes on after that step, which has a snapshot. It has been interrupted so many times
  // in so many seconds, and its snapshots have cost that much.
  void StartAt(int64_t step, int64_t interruptions, double seconds, const SaveCosts& costs) {
    last_step_ = step;
    interruptions_ = interruptions;
    earlier_seconds_ = seconds;
    earlier_costs_ = costs;
  }
  // Hands a snapshot to the writer's thread. With another still being written it waits for that
  // one. Failures are told by Tell.
  void Save(checkpoint::Snapshot snapshot, int64_t step);
  // The last one of a run: everything else can wait until it is on the disk, or has failed. With
  // `seconds` left until the process is ended, one under way is given up where both together would
  // take longer than that and this one alone would not.
  void SaveNow(checkpoint::Snapshot snapshot, int64_t step,
               double seconds = std::numeric_limits<double>::infinity());
  // Waits until nothing is being written any more.
  void Finish();
  // After some steps took `seconds` of the device. Returns the seconds by which the last save
  // slowed steps, once it has ended. (Summed up over all steps beside all saves before it is taken
  // for slowness: steps vary without a save, too, and only what is faster makes up for that.)
  double NoteSteps(int64_t steps, double seconds);
  // From now on as often as pays, whatever the options say.
  void ChooseInterval() { interval_ = {.automatic = true}; }
  // Seconds for which the training thread stood still for a save.
  void NoteBlocked(double seconds);
  // Takes in what the writer's thread has found out since the last call, and tells the user.
  void Tell();

  // How long a snapshot of so many bytes takes, as far as that was measured.
  std::optional<double> EstimateSeconds(int64_t bytes) const {
    return saver_->EstimateSeconds(bytes);
  }

  struct Stats {
    int64_t saves = 0, failures = 0;
    int64_t bytes = 0;               // of the last
    int64_t last_step = -1;          // of the last that is on the disk
    double blocked = 0, slowed = 0;  // seconds of training that saves cost
    double write_seconds = 0;        // behind it
    std::optional<double> interval;  // seconds between snapshots, where they are chosen
    double automatic_seconds = 0;    // what they would be with automatic
    SaveCosts costs;                 // of one, earlier processes' included
    std::string error;               // of the last save, if it failed
  };
  // As of the last Tell.
  Stats stats() const;
  // Whether the last snapshot that was handed over could not be written; as of the last Tell.
  bool last_failed() const { return last_failed_; }
  // The step of the newest snapshot on the disk, negative: none; as of the last Tell.
  int64_t last_saved_step() const { return stats_.last_step; }

 private:
  // Waits for what Prepare began, and tells what came of it.
  void FinishPreparing();
  SaveCosts Costs() const;
  checkpoint::IntervalFacts Facts() const;

  CheckpointOptions options_;
  checkpoint::IntervalOptions interval_;
  Say say_;
  checkpoint::Store store_;
  double begun_;               // SteadySeconds() when it was made
  double last_handed_over_;    // and when the last snapshot was
  int64_t interruptions_ = 0;  // before this process
  double earlier_seconds_ = 0;
  SaveCosts earlier_costs_;
  int64_t last_step_ = 0;  // of that
  int64_t handed_over_ = 0;
  double save_seconds_ = 0;             // of the last save that has ended
  std::optional<double> step_seconds_;  // of a step without a save beside it
  bool was_busy_ = false;               // after the last steps
  double slowing_ = 0;                  // of the steps beside all saves so far; may be negative
  std::optional<int64_t> given_up_;     // the step whose save was
  double told_interval_ = 0;
  bool last_failed_ = false;

  Stats stats_;

  std::mutex mutex_;  // of what the writer's thread adds to
  std::vector<checkpoint::SaveResult> news_;

  std::future<std::vector<std::string>> preparing_;
  std::unique_ptr<checkpoint::AsyncSaver> saver_;  // last: its thread uses the rest
};

}  // namespace flatout::train
