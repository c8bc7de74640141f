#include "flatout/train/saver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"

namespace flatout::train {
namespace {

// The weight of the latest launch in the mean time of a step.
constexpr double kNewStepsShare = 0.1;
// Saves that what earlier processes measured counts for.
constexpr double kEarlierSaves = 4;
// The chosen interval is told again when it has changed by that factor.
constexpr double kWorthTelling = 2;

}  // namespace

std::string CheckpointFolder(const std::string& run_folder) { return run_folder + "/checkpoints"; }

Saver::Saver(const std::string& run_folder, const CheckpointOptions& options, Say say,
             checkpoint::FileSystem& files)
    : options_(options),
      interval_{.every_steps = options.every_steps,
                .every_seconds = options.every_seconds,
                .automatic = options.saves_automatically()},
      say_(std::move(say)),
      store_(CheckpointFolder(run_folder), files),
      begun_(SteadySeconds()),
      last_handed_over_(begun_) {
  checkpoint::SaverOptions saver;
  saver.retention = {.keep_last = options.keep_last,
                     .keep_best = options.keep_best,
                     .keep_every = options.keep_every};
  saver.done = [this](const checkpoint::SaveResult& result) {
    const std::lock_guard lock(mutex_);
    news_.push_back(result);
  };
  saver_ = std::make_unique<checkpoint::AsyncSaver>(store_, std::move(saver));
}

void Saver::Prepare(int64_t bytes) {
  preparing_ = std::async(std::launch::async, [this, bytes] { return store_.Prepare(bytes); });
}

void Saver::FinishPreparing() {
  if (!preparing_.valid()) return;
  try {
    for (const std::string& line : preparing_.get()) say_("checkpoints: " + line);
  } catch (const Error& error) {
    LogWarning("this run cannot be saved: {}; training goes on, and every save will be tried",
               error.what());
    stats_.error = error.what();
  }
}

SaveCosts Saver::Costs() const {
  SaveCosts costs = earlier_costs_;
  if (handed_over_ > 0) {
    const double earlier = earlier_costs_.save > 0 ? kEarlierSaves : 0;
    costs.training = (earlier * earlier_costs_.training + stats_.blocked + stats_.slowed) /
                     (earlier + static_cast<double>(handed_over_));
  }
  if (save_seconds_ > 0) costs.save = save_seconds_;
  return costs;
}

checkpoint::IntervalFacts Saver::Facts() const {
  checkpoint::IntervalFacts facts;
  facts.between = checkpoint::TimeBetweenInterruptions(
      interruptions_, earlier_seconds_ + SteadySeconds() - begun_, options_.between_interruptions);
  const SaveCosts costs = Costs();
  facts.cost = costs.training;
  facts.save_seconds = costs.save;
  return facts;
}

bool Saver::Due(int64_t step) const {
  if (step == last_step_) return false;
  return checkpoint::SaveDue(interval_, Facts(), step, last_step_,
                             SteadySeconds() - last_handed_over_);
}

void Saver::Save(checkpoint::Snapshot snapshot, int64_t step) {
  FinishPreparing();
  last_step_ = step;
  ++handed_over_;
  saver_->Save(std::move(snapshot), checkpoint::AsyncSaver::WhenBusy::kWait);
  last_handed_over_ = SteadySeconds();
  was_busy_ = true;  // even if it is over before the next steps are
}

void Saver::Finish() {
  FinishPreparing();
  saver_->Wait();
  Tell();
}

void Saver::SaveNow(checkpoint::Snapshot snapshot, int64_t step, double seconds) {
  if (saver_->busy()) {
    const std::optional<double> both = saver_->EstimateSeconds(snapshot.bytes());
    const std::optional<double> alone = saver_->EstimateSeconds(snapshot.bytes(), /*alone=*/true);
    if (both && *both > seconds && *alone <= seconds) {
      given_up_ = saver_->status().step;
      say_(
          fmt::format("checkpoints: time is short, that of step {} is given up for that of step {}",
                      *given_up_, step));
      saver_->Cancel();
    }
  }
  Save(std::move(snapshot), step);
  Finish();
}

double Saver::NoteSteps(int64_t steps, double seconds) {
  if (steps <= 0) return 0;
  const double per_step = seconds / static_cast<double>(steps);
  const bool busy = saver_->busy();
  const bool beside = std::exchange(was_busy_, busy) || busy;
  if (!beside) {
    step_seconds_ =
        step_seconds_ ? *step_seconds_ + kNewStepsShare * (per_step - *step_seconds_) : per_step;
    return 0;
  }
  if (step_seconds_) slowing_ += seconds - static_cast<double>(steps) * *step_seconds_;
  if (busy) return 0;
  const double slowed = std::max(0.0, slowing_ - stats_.slowed);
  stats_.slowed += slowed;
  return slowed;
}

void Saver::NoteBlocked(double seconds) { stats_.blocked += seconds; }

void Saver::Tell() {
  if (preparing_.valid() &&
      preparing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    FinishPreparing();
  }
  std::vector<checkpoint::SaveResult> news;
  {
    const std::lock_guard lock(mutex_);
    news.swap(news_);
  }
  for (const checkpoint::SaveResult& result : news) {
    save_seconds_ = result.seconds;
    stats_.write_seconds += result.write_seconds;
    // The same again and again is said once; that it has ended, too.
    const bool failed_before = !stats_.error.empty();
    if (!result.ok) {
      if (given_up_ == result.step) continue;
      last_failed_ = true;
      ++stats_.failures;
      stats_.error = result.error;
      if (failed_before) continue;
      LogWarning(
          "the checkpoint of step {} was not saved: {}; training goes on, the last good one stays",
          result.step, result.error);
      continue;
    }
    last_failed_ = false;
    ++stats_.saves;
    stats_.last_step = result.step;
    stats_.bytes = result.bytes;
    stats_.error.clear();
    if (failed_before) say_(fmt::format("checkpoints can be saved again (step {})", result.step));
    for (const std::string& note : result.notes) say_("checkpoints: " + note);
  }
  if (news.empty() || !interval_.automatic) return;
  const checkpoint::IntervalFacts facts = Facts();
  const double seconds = checkpoint::AutomaticSeconds(facts);
  const double change = told_interval_ > 0 ? seconds / told_interval_ : kWorthTelling;
  if (change >= kWorthTelling || change <= 1 / kWorthTelling) {
    told_interval_ = seconds;
    say_(
        fmt::format("checkpoints: one every {} from now on; one costs {} of training ({} on the "
                    "disk after {})",
                    HumanDuration(seconds), HumanDuration(facts.cost),
                    HumanBytes(news.back().bytes), HumanDuration(facts.save_seconds)));
  }
}

Saver::Stats Saver::stats() const {
  Stats stats = stats_;
  stats.costs = Costs();
  stats.automatic_seconds = checkpoint::AutomaticSeconds(Facts());
  if (interval_.automatic && stats.saves > 0) {
    stats.interval = stats.automatic_seconds;
  } else if (interval_.every_seconds > 0) {
    stats.interval = interval_.every_seconds;
  }
  return stats;
}

}  // namespace flatout::train
