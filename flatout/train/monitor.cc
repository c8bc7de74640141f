#include "flatout/train/monitor.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "flatout/base/error.h"

namespace flatout::train {

bool HigherIsBetter(const std::string& monitor, const std::string& mode) {
  if (mode == "min" || mode == "max") return mode == "max";
  if (mode != "auto") {
    throw Invalid("the mode to monitor {} in must be \"min\", \"max\" or \"auto\", found \"{}\"",
                  monitor, mode);
  }
  for (const char* ending : {"accuracy", "auc", "precision", "recall", "f1_score", "similarity"}) {
    if (monitor.ends_with(ending)) return true;
  }
  return false;
}

bool Best::Beats(double value, double reference) const {
  return higher_ ? value - min_delta_ > reference : value + min_delta_ < reference;
}

bool Best::Improves(double value) {
  const bool better = !std::isnan(value) && (!best_ || Beats(value, *best_));
  if (better) best_ = value;
  return better;
}

bool Best::Restore(const MonitorState& state) {
  if (!state.monitor.empty() && (state.monitor != monitor_ || state.higher != higher_)) {
    return false;
  }
  best_ = state.best;
  return true;
}

namespace {

void CheckNotNegative(std::string_view callback, std::string_view name, double value) {
  if (!(value >= 0)) throw Invalid("{}: {} must not be negative, found {}", callback, name, value);
}

}  // namespace

EarlyStopper::EarlyStopper(const EarlyStopping& options)
    : options_(options), best_(options.monitor, options.mode, options.min_delta) {
  CheckNotNegative("early_stopping", "patience", static_cast<double>(options.patience));
  CheckNotNegative("early_stopping", "start_from_epoch",
                   static_cast<double>(options.start_from_epoch));
}

EarlyStopper::Decision EarlyStopper::Observe(int64_t epoch, double value) {
  if (epoch < options_.start_from_epoch) return {};
  // Something must be there to restore, even if the first value is not a number.
  Decision decision{.keep = best_epoch_ < 0};
  if (decision.keep) best_epoch_ = epoch;
  ++wait_;
  if (best_.Improves(value)) {
    decision.keep = true;
    best_epoch_ = epoch;
    if (!options_.baseline || best_.Beats(value, *options_.baseline)) wait_ = 0;
    return decision;
  }
  // The first epoch of all never stops a run.
  decision.stop = wait_ >= options_.patience && epoch > 0;
  return decision;
}

MonitorState EarlyStopper::state() const {
  MonitorState state = best_.state();
  state.best_epoch = best_epoch_;
  state.wait = wait_;
  return state;
}

bool EarlyStopper::Restore(const MonitorState& state) {
  if (!best_.Restore(state)) return false;
  best_epoch_ = state.best_epoch;
  wait_ = state.wait;
  return true;
}

PlateauReducer::PlateauReducer(const ReduceLrOnPlateau& options)
    : options_(options), best_(options.monitor, options.mode, options.min_delta) {
  if (!(options.factor > 0 && options.factor < 1)) {
    throw Invalid("reduce_lr_on_plateau: factor must lie between 0 and 1, found {}",
                  options.factor);
  }
  CheckNotNegative("reduce_lr_on_plateau", "patience", static_cast<double>(options.patience));
  CheckNotNegative("reduce_lr_on_plateau", "cooldown", static_cast<double>(options.cooldown));
  CheckNotNegative("reduce_lr_on_plateau", "min_lr", options.min_lr);
}

MonitorState PlateauReducer::state() const {
  MonitorState state = best_.state();
  state.wait = wait_;
  state.cooldown = cooldown_;
  return state;
}

bool PlateauReducer::Restore(const MonitorState& state) {
  if (!best_.Restore(state)) return false;
  wait_ = state.wait;
  cooldown_ = state.cooldown;
  return true;
}

double PlateauReducer::Observe(double value, double rate) {
  if (cooldown_ > 0) {
    --cooldown_;
    wait_ = 0;
  }
  if (best_.Improves(value)) {
    wait_ = 0;
    return rate;
  }
  // A rate travels as a float32, so min_lr is compared as one.
  if (cooldown_ > 0 || ++wait_ < options_.patience ||
      rate <= static_cast<double>(static_cast<float>(options_.min_lr))) {
    return rate;
  }
  wait_ = 0;
  cooldown_ = options_.cooldown;
  return std::max(rate * options_.factor, options_.min_lr);
}

}  // namespace flatout::train
