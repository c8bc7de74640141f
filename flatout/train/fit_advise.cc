// What Fit changes by itself where watch.advise is set: what a verdict on the last seconds advises
// and what changes nothing of what is learned, one change at a time, each held to its prediction.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/train/fitting.h"

namespace flatout::train {
namespace {

using watch::Cause;
using watch::Change;

// Windows are judged that long, or as long as the log's intervals where those are shorter.
constexpr double kMostWindowSeconds = 5;
// And hold so many launches. Those that come first after a change belong to it.
constexpr int64_t kLeastLaunches = 4;
constexpr int64_t kSettlingLaunches = 2;
// A change is tried where it promises that much, and taken back where it costs that much.
constexpr double kLeastGain = 1.05;
constexpr double kLoss = 0.97;
constexpr int64_t kMostLaunchBytes = int64_t{64} << 20;
// Launches that take longer than that are not to be made longer.
constexpr double kLongLaunch = 0.25;  // seconds

}  // namespace

void Trainer::Fitting::BeginWindow() {
  window_ = {.begun = SteadySeconds(),
             .ledger = t_.ledger_->Report(),
             .steps = result_.steps,
             .samples = result_.samples,
             .launches = launches_,
             .input = input_->stats()};
}

watch::RunFacts Trainer::Fitting::WindowFacts() const {
  watch::RunFacts facts = Facts();
  facts.part.reset();
  facts.ledger = t_.ledger_->Report().Since(window_.ledger);
  facts.steps = result_.steps - window_.steps;
  facts.samples = result_.samples - window_.samples;
  facts.launches = launches_ - window_.launches;
  facts.input = FactsOf(input_->stats().Since(window_.input));
  facts.replica_busy.clear();  // of the whole run
  facts.throttled_seconds.reset();
  return facts;
}

void Trainer::Fitting::Consider() {
  const double wanted = std::min(t_.config_.watch.log_seconds, kMostWindowSeconds);
  if (trial_ && trial_->settling && launches_ - window_.launches >= kSettlingLaunches) {
    trial_->settling = false;
    BeginWindow();
    return;
  }
  if (pending_change_ || (trial_ && trial_->settling) || SteadySeconds() - window_.begun < wanted ||
      launches_ - window_.launches < kLeastLaunches) {
    return;
  }
  const watch::RunFacts facts = WindowFacts();
  const double speed = static_cast<double>(facts.samples) / std::max(facts.ledger.training(), 1e-9);
  if (trial_) {
    EndTrial(speed, /*over=*/false);
    BeginWindow();
    return;
  }
  const watch::Verdict verdict = watch::Judge(facts);
  const double per_launch =
      facts.ledger.of(Cause::kCompute) / static_cast<double>(std::max<int64_t>(facts.launches, 1));
  if (verdict.change && verdict.predicted_gain >= kLeastGain &&
      !tried_changes_.contains(verdict.change->kind)) {
    pending_change_ = verdict.change;
    pending_prediction_ = verdict.predicted_gain;
    pending_speed_ = speed;
    pending_limit_ =
        fmt::format("{}{}", verdict.limit, verdict.stage.empty() ? "" : " (" + verdict.stage + ")");
  } else if (!launch_cost_ && last_ && per_launch < kLongLaunch) {
    // Steps that are short may wait for launches without anything that shows it.
    measure_launches_ = true;
  }
  BeginWindow();
}

void Trainer::Fitting::Advise() {
  if (measure_launches_ && last_) {
    measure_launches_ = false;
    RetireAll();
    const watch::Phase phase(*t_.ledger_, Cause::kEvaluation, watch::Stage::kCeiling);
    t_.MeasureCeiling(*last_, /*seconds=*/0, &launch_cost_.emplace());
    BeginWindow();
  }
  if (!pending_change_) return;
  const Change change = *std::exchange(pending_change_, std::nullopt);
  tried_changes_.insert(change.kind);
  RetireAll();
  Trial trial{.change = change,
              .steps_per_launch = t_.steps_per_launch_,
              .workers = t_.config_.pipeline.workers,
              .prefetch = t_.config_.pipeline.prefetch,
              .before = pending_speed_};
  watch::Advised advice{.change = change.ToString(),
                        .limit = pending_limit_,
                        .step = result_.steps,
                        .predicted_gain = pending_prediction_};
  watch::RunPart before = StretchPart(Facts());
  try {
    if (!Apply(change)) return;
  } catch (const Error& error) {
    observer_->OnMessage(
        fmt::format("advice: {} was not possible: {}", advice.change, error.what()));
    return;
  }
  observer_->OnMessage(
      fmt::format("advice at step {}: the limit is {}; {} from now on, predicted "
                  "gain {:.2f}x",
                  result_.steps, advice.limit, advice.change, advice.predicted_gain));
  before_change_ = std::move(before);
  before_change_->when = fmt::format("until step {}", HumanCount(advice.step));
  before_change_->made = advice.change;
  BeginStretch(fmt::format("since {} at step {}", advice.change, HumanCount(advice.step)));
  result_.summary.advised.push_back(std::move(advice));
  // How often snapshots are made shows at once; a pipeline has to fill first.
  trial.settling = change.kind != Change::Kind::kCheckpointInterval;
  BeginWindow();
  trial.begun = window_;
  trial_ = std::move(trial);
}

void Trainer::Fitting::BeginStretch(std::string when) {
  stretch_ = {};  // Facts are of the whole run now
  const watch::RunFacts facts = Facts();
  stretch_ = {.when = std::move(when),
              .ledger = t_.ledger_->Report(),
              .steps = facts.steps,
              .samples = facts.samples,
              .launches = facts.launches,
              .saves = facts.checkpoint.saves,
              .input = CurrentInput(),
              .cpu_seconds = facts.cpu_seconds,
              .throttled_seconds = facts.throttled_seconds,
              .replica_busy = facts.replica_busy};
}

watch::RunPart Trainer::Fitting::StretchPart(const watch::RunFacts& facts) const {
  watch::RunPart part;
  part.when = stretch_.when;
  // What comes after the last launch, as the last snapshot, belongs to no setting.
  part.ledger = launch_ledger_.Since(stretch_.ledger);
  part.steps = facts.steps - stretch_.steps;
  part.samples = facts.samples - stretch_.samples;
  part.launches = facts.launches - stretch_.launches;
  part.steps_per_launch = facts.steps_per_launch;
  part.input = FactsOf(CurrentInput().Since(stretch_.input));
  part.cpu_seconds = facts.cpu_seconds - stretch_.cpu_seconds;
  if (facts.throttled_seconds && stretch_.throttled_seconds) {
    part.throttled_seconds = *facts.throttled_seconds - *stretch_.throttled_seconds;
  }
  part.replica_busy = facts.replica_busy;
  const size_t known = std::min(part.replica_busy.size(), stretch_.replica_busy.size());
  for (size_t i = 0; i < known; ++i) part.replica_busy[i] -= stretch_.replica_busy[i];
  part.checkpoint = facts.checkpoint;
  part.checkpoint.saves -= stretch_.saves;
  return part;
}

std::optional<watch::RunPart> Trainer::Fitting::JudgedPart(const watch::RunFacts& facts) const {
  if (stretch_.when.empty()) return std::nullopt;
  watch::RunPart part = StretchPart(facts);
  if (part.launches >= kLeastLaunches && part.ledger.full()) return part;
  return before_change_;
}

void Trainer::Fitting::FinishTrial() {
  if (!trial_) return;
  // Of a trial whose first launches are all there was they count.
  const Window& from =
      launches_ - window_.launches >= kLeastLaunches && !trial_->settling ? window_ : trial_->begun;
  const double seconds = launch_ledger_.Since(from.ledger).training();
  const int64_t samples = result_.samples - from.samples;
  if (samples <= 0 || seconds <= 0) return;
  EndTrial(static_cast<double>(samples) / seconds, /*over=*/true);
}

bool Trainer::Fitting::Apply(const Change& change) {
  switch (change.kind) {
    case Change::Kind::kWorkers:
      t_.config_.pipeline.workers = Config(std::string("auto"));
      BeginInput();
      return true;
    case Change::Kind::kPrefetch:
      t_.config_.pipeline.prefetch = Config(std::string("auto"));
      BeginInput();
      return true;
    case Change::Kind::kStepsPerLaunch:
      return SetStepsPerLaunch(change.value);
    default:
      if (saver_ == nullptr) return false;
      saver_->ChooseInterval();
      chose_interval_ = true;
      return true;
  }
}

void Trainer::Fitting::EndTrial(double speed, bool over) {
  const Trial trial = *std::exchange(trial_, std::nullopt);
  watch::Advised& advice = result_.summary.advised.back();
  advice.obtained_gain = speed / std::max(trial.before, 1e-9);
  advice.taken_back = !over && advice.obtained_gain < kLoss;
  observer_->OnMessage(fmt::format("advice: {} gave {:.2f}x ({:.2f}x was predicted){}",
                                   advice.change, *advice.obtained_gain, advice.predicted_gain,
                                   advice.taken_back ? "; it is taken back" : ""));
  if (folder_ != nullptr) {
    folder_->Log("advice", {{"step", static_cast<double>(advice.step)},
                            {"predicted_gain", advice.predicted_gain},
                            {"obtained_gain", *advice.obtained_gain}});
  }
  if (advice.taken_back) taking_back_ = trial;
}

void Trainer::Fitting::TakeBack() {
  if (!taking_back_) return;
  const Trial trial = *std::exchange(taking_back_, std::nullopt);
  RetireAll();
  watch::RunPart before = StretchPart(Facts());
  switch (trial.change.kind) {
    case Change::Kind::kWorkers:
      t_.config_.pipeline.workers = trial.workers;
      BeginInput();
      break;
    case Change::Kind::kPrefetch:
      t_.config_.pipeline.prefetch = trial.prefetch;
      BeginInput();
      break;
    case Change::Kind::kStepsPerLaunch:
      SetStepsPerLaunch(trial.steps_per_launch);
      break;
    default:
      return;  // saving as often as pays is never worse in the long run
  }
  const std::string change = trial.change.ToString();
  before_change_ = std::move(before);
  before_change_->when = "with " + change;
  BeginStretch(
      fmt::format("since {} was taken back at step {}", change, HumanCount(result_.steps)));
  BeginWindow();
}

bool Trainer::Fitting::SetStepsPerLaunch(int64_t steps) {
  // As many as the input of a launch may take, and an epoch has.
  const int64_t step_bytes = t_.LaunchBytes() / t_.steps_per_launch_;
  steps =
      std::min(steps, std::max<int64_t>(kMostLaunchBytes / std::max<int64_t>(step_bytes, 1), 1));
  if (steps_per_epoch_ > 0) steps = std::min(steps, steps_per_epoch_);
  if (steps == t_.steps_per_launch_) return false;
  const auto old_steps = t_.steps_per_launch_;
  const BatchPlan plan = t_.batch_plan_;
  step::Program program = std::move(t_.train_program_),
                evaluation = std::move(t_.evaluate_program_);
  auto train = std::exchange(t_.train_, nullptr);
  auto evaluate = std::exchange(t_.evaluate_, nullptr);
  const auto put_back = [&] {
    t_.steps_per_launch_ = old_steps;
    t_.batch_plan_ = plan;
    t_.train_program_ = std::move(program);
    t_.evaluate_program_ = std::move(evaluation);
    t_.train_ = std::move(train);
    t_.evaluate_ = std::move(evaluate);
  };
  t_.steps_per_launch_ = steps;
  try {
    t_.CompileTraining();
  } catch (...) {
    put_back();
    throw;
  }
  // Other micro-batches would be other roundings.
  if (t_.batch_plan_.micro_rows != plan.micro_rows) {
    put_back();
    return false;
  }
  last_.reset();
  BeginInput();
  return true;
}

}  // namespace flatout::train
