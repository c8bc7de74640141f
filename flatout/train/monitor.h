// Watching one figure from evaluation to evaluation: is it better than before?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flatout/train/options.h"

namespace flatout::train {

// Which way is better: "min", "max", or "auto", which takes max for names that end in accuracy,
// auc, precision, recall, f1_score or similarity, and min otherwise.
bool HigherIsBetter(const std::string& monitor, const std::string& mode);

// What a monitor remembers from evaluation to evaluation, so that a resumed run goes on with it.
struct MonitorState {
  std::string monitor;  // "val_loss"; "": not known
  bool higher = false;  // is better
  std::optional<double> best;
  int64_t best_epoch = -1, wait = 0, cooldown = 0;
};

class Best {
 public:
  Best(std::string monitor, const std::string& mode, double min_delta = 0)
      : monitor_(std::move(monitor)),
        higher_(HigherIsBetter(monitor_, mode)),
        min_delta_(min_delta < 0 ? -min_delta : min_delta) {}

  const std::string& monitor() const { return monitor_; }
  // True if `value` beats the best so far by more than min_delta; then it is the best. NaN never
  // is.
  bool Improves(double value);
  const std::optional<double>& value() const { return best_; }
  // False, and nothing is restored, where the state is of another figure or another way is better.
  bool Restore(const MonitorState& state);
  MonitorState state() const { return {monitor_, higher_, best_}; }
  bool higher_is_better() const { return higher_; }
  // Whether `value` beats `reference` by more than min_delta; NaN never does.
  bool Beats(double value, double reference) const;

 private:
  std::string monitor_;
  bool higher_;
  double min_delta_;
  std::optional<double> best_;
};

// Keras's EarlyStopping: what to do after each evaluation.
class EarlyStopper {
 public:
  // Throws UserError for a negative patience or start_from_epoch and for an unknown mode.
  explicit EarlyStopper(const EarlyStopping& options);

  struct Decision {
    bool keep = false;  // the weights are the best so far
    bool stop = false;
  };
  // `epoch` counts from 0. The wait only starts anew when both the best so far and the baseline,
  // where there is one, are beaten; epochs before start_from_epoch do not count.
  Decision Observe(int64_t epoch, double value);

  const std::string& monitor() const { return best_.monitor(); }
  const std::optional<double>& best() const { return best_.value(); }
  int64_t best_epoch() const { return best_epoch_; }
  // Evaluations since the wait last started anew.
  int64_t wait() const { return wait_; }
  MonitorState state() const;
  bool Restore(const MonitorState& state);  // as Best::Restore

 private:
  EarlyStopping options_;
  Best best_;
  int64_t best_epoch_ = -1;  // none yet
  int64_t wait_ = 0;
};

// Keras's ReduceLROnPlateau: the learning rate after each evaluation.
class PlateauReducer {
 public:
  // Throws UserError for a factor outside (0, 1), negative patience, cooldown or min_lr, and for an
  // unknown mode.
  explicit PlateauReducer(const ReduceLrOnPlateau& options);

  // The rate to go on with, where it is `rate` now. Never raises it, and never lowers it below
  // min_lr.
  double Observe(double value, double rate);

  const std::string& monitor() const { return best_.monitor(); }
  MonitorState state() const;
  bool Restore(const MonitorState& state);  // as Best::Restore

 private:
  ReduceLrOnPlateau options_;
  Best best_;
  int64_t wait_ = 0;
  int64_t cooldown_ = 0;
};

}  // namespace flatout::train
