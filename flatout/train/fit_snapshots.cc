// What Fit keeps of a run, and how it goes on from there: snapshots, and files of weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/train/fitting.h"

namespace flatout::train {

using watch::Cause;
using watch::Phase;

void Trainer::Fitting::GoOnFrom(const RunState& state) {
  result_.steps = state.steps;
  result_.epochs = state.epochs;
  result_.samples = state.samples;
  result_.skipped_steps = state.skipped_steps;
  launched_steps_ = state.steps + state.skipped_steps;
  launches_ = state.launches;
  sessions_ = state.sessions + 1;
  epoch_steps_ = state.epoch_steps;
  epoch_rows_ = state.epoch_rows;
  epoch_ended_ = state.epoch_ended;
  epoch_seconds_ = state.epoch_seconds;
  // With another batch the same records are another number of steps.
  if (const auto& source = t_.sources_.train; source->indexed() && epoch_steps_ > 0) {
    const int64_t batch = t_.config_.train.global_batch;
    epoch_steps_ = (epoch_ended_ ? source->size() : position_.position) / batch;
  }
  // Metrics that the run file has since been given begin now.
  if (state.totals.metrics.size() == t_.metrics_.size()) totals_.Restore(state.totals);
  rate_factor_ = state.rate_factor;
  learning_rate_ = state.learning_rate;
  const auto restore = [&](std::string_view key, auto& watcher, const MonitorState& remembered) {
    if (watcher.Restore(remembered)) return true;
    if (remembered.best) {
      observer_->OnMessage(fmt::format(
          "{} watches {} from now on; the best so far was of {} ({:.7g}, {} is better) and does "
          "not count any more",
          key, watcher.monitor(), remembered.monitor, *remembered.best,
          remembered.higher ? "more" : "less"));
    }
    return false;
  };
  restore("checkpoint.monitor", best_, state.best);
  bool early_goes_on = true;
  if (early_ && state.early_stopping) {
    early_goes_on = restore("train.early_stopping", *early_, *state.early_stopping);
  }
  if (plateau_ && state.reduce_lr_on_plateau) {
    restore("train.reduce_lr_on_plateau", *plateau_, *state.reduce_lr_on_plateau);
  }
  if (!t_.resumed_best_.empty() && early_goes_on) {
    early_best_ = std::make_shared<const std::vector<Bytes>>(std::move(t_.resumed_best_));
  }
  t_.resumed_best_.clear();
  last_scale_ = state.last_scale;
  skips_in_row_ = state.skips_in_row;
  result_.last_epoch = state.last_epoch;
  earlier_ledger_ = state.ledger;
  result_.resumed_step = state.steps;
  was_done_ = state.done;
  if (saver_ != nullptr) {
    saver_->StartAt(launched_steps_, state.sessions, state.ledger.wall, state.save_costs);
  }
  saved_ = Now(state.done);
  if (folder_ != nullptr) {
    FindPendingBest();
    folder_->Log("resume", {{"step", static_cast<double>(state.steps)},
                            {"epoch", static_cast<double>(state.epochs)},
                            {"session", static_cast<double>(sessions_)}});
  }
}

RunState Trainer::Fitting::MakeState(bool done) {
  RunState state;
  state.steps = result_.steps;
  state.epochs = result_.epochs;
  state.samples = result_.samples;
  state.skipped_steps = result_.skipped_steps;
  state.launches = launches_;
  state.sessions = sessions_;
  state.done = done;
  state.stopped_early = stopped_early_;
  state.position = position_;
  state.epoch_steps = epoch_steps_;
  state.epoch_rows = epoch_rows_;
  state.epoch_ended = epoch_ended_;
  state.epoch_seconds = EpochSeconds();
  state.totals = totals_.sums();
  state.rate_factor = rate_factor_;
  state.learning_rate = learning_rate_;
  state.best = best_.state();
  if (early_) state.early_stopping = early_->state();
  if (plateau_) state.reduce_lr_on_plateau = plateau_->state();
  state.early_best = early_best_ != nullptr;
  state.last_scale = last_scale_;
  state.skips_in_row = skips_in_row_;
  state.last_epoch = result_.last_epoch;
  state.ledger = Ledger();
  state.save_costs = saver_->stats().costs;
  state.bad_records = t_.bad_records_->state();
  state.metrics_bytes = folder_->log_bytes();
  state.run_file = t_.config_.tree.ToToml();
  return state;
}

bool Trainer::Fitting::CanShare() const {
  if (t_.runtime_->client().is_cpu() || !t_.room_) return true;
  return t_.batch_plan_.bytes() + t_.state_bytes() <= *t_.room_;
}

checkpoint::Snapshot Trainer::Fitting::MakeSnapshot(bool done, bool share,
                                                    std::optional<checkpoint::Score> score) {
  checkpoint::Snapshot snapshot;
  snapshot.step = result_.steps;
  snapshot.epoch = result_.epochs;
  snapshot.groups = t_.StateGroups(share);
  snapshot.groups[0].metadata["step"] = std::to_string(result_.steps);
  if (early_best_ != nullptr) {
    checkpoint::TensorGroup& best = snapshot.groups.emplace_back();
    best.name = kEarlyBestGroup;
    for (size_t i = 0; i < t_.layout_.size(); ++i) {
      std::shared_ptr<const Bytes> bytes(early_best_, &(*early_best_)[i]);
      best.tensors.push_back(
          checkpoint::HostSource(t_.layout_[i].name, t_.layout_[i].shape, std::move(bytes)));
    }
  }
  snapshot.state = MakeState(done).ToJson();
  snapshot.score = std::move(score);
  return snapshot;
}

void Trainer::Fitting::SaveSnapshot(std::optional<checkpoint::Score> score) {
  if (saver_ == nullptr) return;
  saved_ = Now(/*done=*/false);
  const double begin = SteadySeconds();
  {
    const Phase phase(*t_.ledger_, Cause::kCheckpoint, watch::Stage::kSnapshot);
    saver_->Save(MakeSnapshot(/*done=*/false, CanShare(), std::move(score)), launched_steps_);
  }
  saver_->NoteBlocked(SteadySeconds() - begin);
}

void Trainer::Fitting::SaveLastSnapshot(bool done, std::optional<checkpoint::Score> score) {
  // What follows an epoch that ended early is not to be gone on from.
  if (saver_ == nullptr || ended_within_epoch_) return;
  const Phase phase(*t_.ledger_, Cause::kCheckpoint, watch::Stage::kSnapshot);
  if (saved_ == Now(done)) {
    saver_->Finish();
    return;
  }
  saved_ = Now(done);
  double seconds = std::numeric_limits<double>::infinity();
  if (result_.stopped) {
    seconds = GraceLeft();
    TellGrace(seconds);
  }
  saver_->SaveNow(MakeSnapshot(done, /*share=*/true, std::move(score)), launched_steps_, seconds);
}

void Trainer::Fitting::CheckLastSnapshot() {
  // Of a run that was stopped its exit code says that it is to go on, from wherever it can.
  if (saver_ == nullptr || !saver_->last_failed() || result_.stopped) return;
  std::optional<int64_t> last = result_.resumed_step;
  if (saver_->last_saved_step() >= 0) last = saver_->last_saved_step();
  Summary& summary = result_.summary;
  const std::string done =
      summary.error.empty()
          ? fmt::format(
                "training is done, and the weights of step {} are kept in {}, but the last "
                "checkpoint could not be saved",
                HumanCount(result_.steps), folder_->File("weights.safetensors"))
          : fmt::format(
                "training is done, but neither the weights of step {} nor the last checkpoint "
                "could be saved",
                HumanCount(result_.steps));
  summary.status = "failed";
  summary.exit_code = kExitUsage;
  summary.error = fmt::format(
      "{}: {}. {}", done, saver_->stats().error,
      last ? fmt::format("The same command trains again from step {} on", HumanCount(*last))
           : "There is no other: the run cannot be gone on with");
}

double Trainer::Fitting::GraceLeft() const {
  const double deadline = stop_->deadline;
  return std::isfinite(deadline) ? deadline - SteadySeconds() : t_.config_.checkpoint.grace_seconds;
}

void Trainer::Fitting::TellGrace(double left) {
  std::string line = fmt::format("{}: saving step {}", stop_->reason.load(), result_.steps);
  const std::optional<double> needed = saver_->EstimateSeconds(t_.state_bytes());
  if (needed) {
    line += fmt::format(", which takes about {}; {} are left", HumanDuration(*needed),
                        HumanDuration(std::max(left, 0.0)));
    const int64_t last = saver_->last_saved_step();
    if (*needed > left && last >= 0) {
      line += fmt::format(". Should that be too little, the run goes on from step {}", last);
    }
  }
  observer_->OnMessage(line);
}

void Trainer::Fitting::EndWithinEpoch() {
  SaveLastSnapshot(/*done=*/MaxStepsReached() && !result_.stopped);
  if (epoch_steps_ == 0) return;
  ended_within_epoch_ = true;
  EndEpoch(/*complete=*/false);
}

void Trainer::Fitting::SaveWeights(const std::string& path, checkpoint::TensorFile file,
                                   int64_t step) {
  file.metadata["step"] = std::to_string(step);
  checkpoint::SaveSafetensors(path, file);
}

void Trainer::Fitting::Save(const std::string& name) {
  const Phase phase(*t_.ledger_, Cause::kCheckpoint, watch::Stage::kWeights);
  SaveWeights(folder_->File(name), t_.Weights(), result_.steps);
}

void Trainer::Fitting::SaveBest() {
  if (folder_ == nullptr) return;
  const Phase phase(*t_.ledger_, Cause::kCheckpoint, watch::Stage::kWeights);
  FinishBest();
  const std::string name = RunFolder::PendingBest(launched_steps_);
  pending_best_.push_back(launched_steps_);
  if (!CanShare()) {
    SaveOrWarn(name);
    return;
  }
  best_saving_ = std::async(std::launch::async,
                            [weights = t_.DeferredWeights(), path = folder_->File(name),
                             step = result_.steps] { SaveWeights(path, weights(), step); });
}

void Trainer::Fitting::PromoteBest(int64_t step) {
  const auto end = std::upper_bound(pending_best_.begin(), pending_best_.end(), step);
  if (end == pending_best_.begin()) return;
  FinishBest();
  std::error_code ignored;  // what could not be written was told, and the one before stays
  for (auto one = pending_best_.begin(); one + 1 != end; ++one) {
    std::filesystem::remove(folder_->File(RunFolder::PendingBest(*one)), ignored);
  }
  std::filesystem::rename(folder_->File(RunFolder::PendingBest(*(end - 1))),
                          folder_->File(kBestFile), ignored);
  pending_best_.erase(pending_best_.begin(), end);
}

void Trainer::Fitting::FindPendingBest() {
  for (const int64_t step : folder_->PendingBests()) {
    if (step <= launched_steps_) {
      pending_best_.push_back(step);
    } else {
      std::error_code ignored;
      std::filesystem::remove(folder_->File(RunFolder::PendingBest(step)), ignored);
    }
  }
  PromoteBest(launched_steps_);
  if (best_.value() && !FileExists(folder_->File(kBestFile))) {
    observer_->OnMessage(
        fmt::format("{} is not there any more; there is one again when {} gets "
                    "better than {:.7g}",
                    folder_->File(kBestFile), best_.monitor(), *best_.value()));
  }
}

void Trainer::Fitting::FinishBest() {
  if (!best_saving_.valid()) return;
  try {
    best_saving_.get();
  } catch (const Error& error) {
    // A disk that is full stays so, as a rule: it is said once.
    if (!best_failed_) {
      LogWarning("the best weights were not saved: {}; training goes on", error.what());
    }
    best_failed_ = true;
    return;
  }
  best_failed_ = false;
}

void Trainer::Fitting::SaveOrWarn(const std::string& name) {
  try {
    Save(name);
    save_error_.clear();
  } catch (const Error& error) {
    LogWarning("weights not saved: {}; training goes on", error.what());
    save_error_ = error.what();
  }
}

}  // namespace flatout::train
