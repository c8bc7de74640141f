// What a run tells whoever shows it: the progress bar, plain log lines, tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
  double samples_per_second = 0;        // since the last log line
  std::optional<double> full;           // share of device-busy time since the last log line
  int64_t resident_bytes = 0;           // of the process on the host; negative: not known
  std::optional<int64_t> device_bytes;  // in use on the first device, where it says
  double epoch_seconds = 0;
};

struct EpochEnd {
  int64_t epoch = 0, epochs = 0, step = 0;
  double seconds = 0;
  std::map<std::string, double> logs;  // "loss", "accuracy", "val_loss", "val_accuracy"...
  std::string note;                    // "best so far", "learning rate 0.0001"...
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
};

}  // namespace flatout::train
