// What a run tells whoever shows it: the progress bar, plain log lines, tests.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flatout/watch/ledger.h"
#include "flatout/watch/run_status.h"
#include "flatout/watch/verdict.h"

namespace flatout::checkpoint {
struct TensorFile;
}

namespace flatout::train {

struct RunStart {
  std::string name, device, model;
  int64_t parameters = 0;
  int64_t epochs = 0, steps_per_epoch = 0;
  int64_t global_batch = 0, replicas = 1, rows_per_replica = 0;
  int64_t train_rows = 0, validation_rows = 0, test_rows = 0;
  std::string learning_rate;  // "0.001", "CosineDecay"
  std::string optimizer, precision, loss;
  int64_t steps_per_launch = 1;
  std::string folder;
  // Of a run that goes on from a snapshot: the updates and epochs that it had done.
  std::optional<int64_t> resumed_step;
  int64_t resumed_epochs = 0;
};

struct Progress {
  int64_t epoch = 0, epochs = 0;  // epoch counts from 1
  int64_t step = 0;               // updates in all
  int64_t step_in_epoch = 0, steps_per_epoch = 0;
  double loss = 0;  // mean over the epoch so far
  std::map<std::string, double> metrics;
  double learning_rate = 0;
  // Of a run with a loss scale: steps it skipped so far, and the scale of the last step.
  int64_t skipped_steps = 0;
  std::optional<double> loss_scale;
  std::optional<double> gradient_norm;  // of the last step, before clipping, where it is asked for
  double samples_per_second = 0;        // since the last log line
  std::optional<double> full;           // share of device-busy time since the last log line
  int64_t resident_bytes = 0;           // of the process on the host; negative: not known
  std::optional<int64_t> device_bytes;  // in use on the first device, where it says
  double epoch_seconds = 0;
  int64_t samples = 0;             // of the run
  watch::LedgerReport ledger;      // where the time went since the last log line
  watch::LedgerReport run_ledger;  // and since the run began, all its processes together
  watch::Sample sample;            // devices and host, as sampled last; time 0: not yet
  // Only with OnLog and OnEpochEnd: the devices since the last log line, and what is known of the
  // run so far with the verdict on it (of this process and those before it).
  std::vector<watch::DeviceUse> device_use;
  watch::RunFacts facts;
  watch::Verdict verdict;
};

// The run as a whole so far, for an observer that WantsDetails.
struct RunDetails {
  watch::RunFacts facts;               // of all its processes; a verdict can be made from them
  watch::LedgerReport earlier_ledger;  // of the processes before this one
  int64_t sessions = 1;                // processes, this one included
  double input_wait = 0;               // seconds that training waited for input
  int64_t queue_bytes = 0, queue_budget = 0;  // of input that is made ahead
  std::vector<watch::DeviceStatus> devices;
  watch::CheckpointStatus checkpoints;  // their age is for the observer to tell
  int64_t bad_records = 0, compiles = 0;
  double compile_seconds = 0;
};

struct EpochEnd {
  int64_t epoch = 0, epochs = 0, step = 0;
  double seconds = 0;
  std::map<std::string, double> logs;  // "loss", "accuracy", "val_loss", "val_accuracy"...
  std::string note;                    // "best so far", "learning rate 0.0001"...
  Progress progress;                   // of the epoch's last step
  // For an observer that WantsWeights: copies the model's variables out, once, on any thread, while
  // training goes on.
  std::function<std::shared_ptr<const checkpoint::TensorFile>()> weights;
};

struct RunEnd {
  std::string status;  // "done", "stopped", "failed"
  std::string error;   // of a failed run
  int64_t step = 0, epochs = 0;
  std::map<std::string, double> test;  // "loss", "accuracy", ... of the test split, where scored
  std::optional<double> full, samples_per_second, mfu;
  std::vector<std::string> verdict;
  watch::LedgerReport ledger;  // of this process, as its summary has it
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnStart(const RunStart&) {}
  // After each launch whose results are known; cheap calls, the observer decides what to show.
  virtual void OnProgress(const Progress&) {}
  // Once per log interval.
  virtual void OnLog(const Progress&) {}
  virtual void OnEvaluation(int64_t step, int64_t steps) { (void)step, (void)steps; }
  virtual void OnEpochEnd(const EpochEnd&) {}
  virtual void OnMessage(const std::string&) {}
  // After OnProgress, where WantsDetails.
  virtual void OnDetails(const RunDetails&) {}
  // Whether OnDetails is to come after this OnProgress: they take some time to put together, so not
  // more often than once a second.
  virtual bool WantsDetails() { return false; }
  // The run is over, however it ended; after everything else.
  virtual void OnEnd(const RunEnd&) {}
  // OnProgress comes at most ten times a second, but also for a launch after which this is true.
  virtual bool WantsStep(int64_t step) { return (void)step, false; }
  // Whether OnEpochEnd of this epoch (from 1) is to have the weights.
  virtual bool WantsWeights(int64_t epoch) { return (void)epoch, false; }
};

// Several observers as one, told in the order in which they were added. They must live longer.
class Observers : public Observer {
 public:
  // nullptr is left out.
  void Add(Observer* observer) {
    if (observer != nullptr) all_.push_back(observer);
  }

  void OnStart(const RunStart& start) override {
    for (Observer* one : all_) one->OnStart(start);
  }
  void OnProgress(const Progress& progress) override {
    for (Observer* one : all_) one->OnProgress(progress);
  }
  void OnLog(const Progress& progress) override {
    for (Observer* one : all_) one->OnLog(progress);
  }
  void OnEvaluation(int64_t step, int64_t steps) override {
    for (Observer* one : all_) one->OnEvaluation(step, steps);
  }
  void OnEpochEnd(const EpochEnd& end) override {
    for (Observer* one : all_) one->OnEpochEnd(end);
  }
  void OnMessage(const std::string& message) override {
    for (Observer* one : all_) one->OnMessage(message);
  }
  void OnEnd(const RunEnd& end) override {
    for (Observer* one : all_) one->OnEnd(end);
  }
  void OnDetails(const RunDetails& details) override {
    for (Observer* one : all_) one->OnDetails(details);
  }
  bool WantsDetails() override {
    bool wants = false;
    for (Observer* one : all_) wants |= one->WantsDetails();
    return wants;
  }
  bool WantsStep(int64_t step) override {
    bool wants = false;
    for (Observer* one : all_) wants |= one->WantsStep(step);
    return wants;
  }
  bool WantsWeights(int64_t epoch) override {
    bool wants = false;
    for (Observer* one : all_) wants |= one->WantsWeights(epoch);
    return wants;
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace flatout::train
