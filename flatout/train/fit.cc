// Trainer::Fit: the loop that feeds the training program, takes in its results, and does what comes
// after epochs and at the end.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <stop_token>
#include <thread>
#include <tuple>

#include "flatout/base/cgroup.h"
#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/base/process.h"
#include "flatout/base/text.h"
#include "flatout/data/dataset.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/train/launch.h"
#include "flatout/train/monitor.h"
#include "flatout/train/saver.h"
#include "flatout/train/trainer.h"
#include "flatout/xla/cards.h"

namespace flatout::train {
namespace {

using Bytes = std::vector<std::byte>;
using watch::Cause;
using watch::Phase;

// Progress is shown no more often than that.
constexpr double kProgressSeconds = 0.1;
// How soon a stop is noticed while waiting for input.
constexpr std::chrono::milliseconds kStopPoll(20);
// Steps skipped one after the other although the loss scale cannot help any more.
constexpr int64_t kMostSkipsInRow = 50;

// -1: not known.
int64_t Rows(const data::SourcePtr& source) {
  if (source == nullptr) return 0;
  return source->indexed() ? source->size() : -1;
}

// The device's memory did not suffice. (Host memory that does not is told apart by its message.)
bool IsDeviceOutOfMemory(const Error& error) {
  return error.code() == Code::kResourceExhausted &&
         error.message().find("XLA says") != std::string::npos;
}

double StageSeconds(const data::EngineStats& stats, const std::string& stage) {
  const auto found = stats.stages.find(stage);
  return found == stats.stages.end() ? 0 : found->second.seconds;
}

}  // namespace

std::vector<const xla::Buffer*> Trainer::TrainArguments(const Launch& launch) {
  std::vector<const xla::Buffer*> args;
  for (int64_t r = 0; r < runtime_->replicas(); ++r) {
    for (const auto& buffer : state_[r]) args.push_back(buffer.get());
    for (const xla::Buffer& buffer : launch.input.buffers[r]) args.push_back(&buffer);
    args.push_back(&ScalarI32(r, static_cast<int32_t>(launch.steps)));
    args.push_back(&ScalarF32(r, launch.rate_factor));
  }
  return args;
}

void Trainer::ExecuteTraining(const Launch& launch, xla::Execution& execution) {
  const std::vector<const xla::Buffer*> args = TrainArguments(launch);
  std::vector<int64_t> shared;
  for (size_t i = 0; i < layout_.size(); ++i) {
    if (state_[0][i].use_count() > 1) shared.push_back(static_cast<int64_t>(i));
  }
  train_->Execute(args, execution, {.non_donatable = shared});
  for (int64_t r = 0; r < runtime_->replicas(); ++r) {
    std::vector<xla::Buffer>& outputs = execution.outputs[r];
    for (size_t i = 0; i < layout_.size(); ++i) {
      state_[r][i] = std::make_shared<xla::Buffer>(std::move(outputs[i]));
    }
    outputs.erase(outputs.begin(), outputs.begin() + static_cast<int64_t>(layout_.size()));
  }
}

void Trainer::LaunchTraining(Launch& launch) {
  const int64_t id = ledger_->Launched(Cause::kCompute);
  try {
    ExecuteTraining(launch, launch.run);
  } catch (...) {
    ledger_->Abandoned(id);
    throw;
  }
  TrackCompletion(ledger_, id, launch.run.done);
}

// Everything that lives as long as one Fit.
class Trainer::Fitting {
 public:
  Fitting(Trainer& trainer, RunFolder* folder, Observer* observer, StopRequest* stop)
      : t_(trainer),
        folder_(folder),
        observer_(observer != nullptr ? observer : &silent_),
        stop_(stop),
        totals_(t_.metrics_, t_.metric_names_),
        best_(t_.config_.checkpoint.monitor, t_.config_.checkpoint.mode) {
    if (const auto& early = t_.config_.train.early_stopping) early_.emplace(*early);
    if (const auto& plateau = t_.config_.train.reduce_lr_on_plateau) plateau_.emplace(*plateau);
  }

  FitResult Run() {
    Start();
    watch::Ledger& ledger = *t_.ledger_;
    ledger.Enter(Cause::kHost);
    // A run that was stopped while it validated goes on with that.
    bool ended = epoch_ended_ ? EndEpoch(/*complete=*/true) : was_done_;
    // All steps had been done, but not what follows them.
    if (was_done_ && epoch_steps_ > 0) EndEpoch(/*complete=*/false);
    while (!ended && !MaxStepsReached()) {
      std::optional<data::DeviceLaunch> input;
      if (!StopAsked()) input = WaitForInput();
      if (!input) {
        // The end, or a stop while waiting.
        RetireAll();
        if (StopAsked()) EndWithinEpoch();
        break;
      }
      Launch launch = Plan(std::move(*input));
      position_ = After(launch);
      // max_steps may cut the epoch's last launch short.
      bool ends_epoch = launch.input.plan.ends_epoch && launch.steps == launch.input.plan.steps;
      const bool ends_input = launch.input.plan.ends_epoch;
      if (t_.config_.train.check_finite) CheckFinite(launch);
      t_.LaunchTraining(launch);
      launched_steps_ += launch.steps;
      in_flight_.push_back(std::move(launch));
      if (in_flight_.size() >= kLaunchesInFlight) Retire();
      // Of the steps launched some may turn out to have been skipped.
      if (MaxStepsReached() && t_.loss_scale_.enabled()) RetireAll();
      const bool last = MaxStepsReached() || StopAsked();
      // Where more steps are needed after all, the rows that were cut off are left out.
      if (!last) ends_epoch = ends_input;
      if (ends_epoch) {
        RetireAll();
        ended = EndEpoch(/*complete=*/true) || last;
      } else if (last) {
        RetireAll();
        EndWithinEpoch();
        ended = true;
      } else if (saver_ != nullptr && saver_->Due(launched_steps_)) {
        RetireAll();
        SaveSnapshot();
      }
    }
    RetireAll();
    return Finish();
  }

  // What Fit does when something throws: the weights and the summary are kept all the same. A
  // device that ran out of memory takes the weights with it; those saved last stay.
  void Fail(const Error& error, bool state_lost = false) {
    result_.summary.status = "failed";
    result_.summary.error = error.what();
    result_.summary.exit_code = error.exit_code();
    FillSummary();
    if (folder_ == nullptr) return;
    // What was learned before the error is worth keeping, unless that has been done already.
    if (result_.steps > 0 && !kept_ && !state_lost) SaveOrWarn("weights.safetensors");
    try {
      folder_->WriteSummary(result_.summary);
    } catch (const Error& second) {
      LogWarning("{}", second.what());
    }
  }

 private:
  void Start() {
    t_.AdaptLayers();
    const data::SourcePtr source = InOrder();
    CheckMonitor("checkpoint.monitor", best_.monitor(), /*may_lack=*/true);
    if (early_) CheckMonitor("train.early_stopping", early_->monitor(), false);
    if (plateau_) CheckMonitor("train.reduce_lr_on_plateau", plateau_->monitor(), false);
    // The first launches are read while the programs compile.
    data::LaunchReader reader(source, {.steps_per_launch = t_.steps_per_launch_,
                                       .replicas = t_.runtime_->replicas(),
                                       .rows = t_.rows_});
    steps_per_epoch_ = reader.steps_per_epoch();
    const data::DevicePrefetchOptions options = t_.PrefetchFor(t_.config_.train.epochs);
    position_ = t_.resumed_ ? reader.CheckState(t_.resumed_->position) : reader.Start();
    const data::IteratorState start = position_;
    input_ = std::make_unique<data::DevicePrefetcher>(
        t_.runtime_->shared_client(), t_.runtime_->devices(), std::move(reader), start, options);
    if (stop_ != nullptr) {
      stop_watch_ = std::jthread([this](const std::stop_token& end) { Watch(end); });
    }
    t_.CompileTraining();
    result_.summary.plan = t_.batch_plan_;
    // From here on nothing but training itself can fail: an old run may make room.
    if (stop_ != nullptr) stop_->nothing_to_lose = false;
    const std::optional<RunState> resumed = std::exchange(t_.resumed_, std::nullopt);
    if (folder_ != nullptr) {
      folder_->Begin(t_.config_.tree,
                     resumed ? std::optional(resumed->metrics_bytes) : std::nullopt);
      saver_ = std::make_unique<Saver>(
          folder_->path(), t_.config_.checkpoint,
          [this](const std::string& message) { observer_->OnMessage(message); });
      saver_->Prepare(t_.state_bytes());
    }
    if (resumed) GoOnFrom(*resumed);

    RunStart info;
    info.name = t_.config_.name;
    info.device = t_.runtime_->Describe();
    info.model = t_.model_.name();
    info.parameters = t_.model_.parameters();
    info.epochs = t_.config_.train.epochs;
    info.steps_per_epoch = steps_per_epoch_;
    info.global_batch = t_.config_.train.global_batch;
    info.replicas = t_.runtime_->replicas();
    info.rows_per_replica = t_.rows_;
    info.train_rows = Rows(t_.sources_.train);
    info.validation_rows = Rows(t_.sources_.validation);
    info.test_rows = Rows(t_.sources_.test);
    info.optimizer = t_.optimizer_->type();
    info.learning_rate = t_.optimizer_->schedule().ToString();
    info.precision = t_.policy_.name;
    info.loss = t_.loss_->name();
    info.steps_per_launch = t_.steps_per_launch_;
    info.folder = folder_ != nullptr ? folder_->path() : "";
    observer_->OnStart(info);
    observer_->OnMessage(t_.batch_plan_.ToString());
    if (t_.policy_.compute != ir::DType::kF32 && t_.runtime_->client().is_cpu()) {
      observer_->OnMessage(fmt::format(
          "precision: {} does not pay on CPU devices, where it is slower than float32 as a rule; "
          "flatout train --compare-precision measures it",
          t_.policy_.name));
    }
    LogPlan();
    epoch_begin_ = interval_begin_ = SteadySeconds();
    interval_ledger_ = t_.ledger_->Report();
    computed_ = interval_ledger_.of(Cause::kCompute);
  }

  // ---- going on from a snapshot, and making one ----

  void GoOnFrom(const RunState& state) {
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
    best_.Restore(state.best);
    if (early_ && state.early_stopping) early_->Restore(*state.early_stopping);
    if (plateau_ && state.reduce_lr_on_plateau) plateau_->Restore(*state.reduce_lr_on_plateau);
    if (!t_.resumed_best_.empty()) {
      early_best_ = std::make_shared<const std::vector<Bytes>>(std::move(t_.resumed_best_));
      t_.resumed_best_.clear();
    }
    last_scale_ = state.last_scale;
    skips_in_row_ = state.skips_in_row;
    result_.last_epoch = state.last_epoch;
    earlier_ledger_ = state.ledger;
    result_.resumed_step = state.steps;
    was_done_ = state.done;
    if (saver_ != nullptr) saver_->StartAt(launched_steps_, state.sessions, state.ledger.wall);
    saved_ = Now(state.done);
    if (folder_ != nullptr) {
      folder_->Log("resume", {{"step", static_cast<double>(state.steps)},
                              {"epoch", static_cast<double>(state.epochs)},
                              {"session", static_cast<double>(sessions_)}});
    }
  }

  // Where the records after a launch begin.
  data::IteratorState After(const Launch& launch) const {
    const data::LaunchPlan& plan = launch.input.plan;
    if (launch.steps == plan.steps || !t_.sources_.train->indexed()) return plan.next;
    data::IteratorState state = plan.start;
    state.position += launch.steps * t_.config_.train.global_batch;
    return state;
  }

  RunState MakeState(bool done) {
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
    state.best = best_.value();
    if (early_) state.early_stopping = early_->state();
    if (plateau_) state.reduce_lr_on_plateau = plateau_->state();
    state.early_best = early_best_ != nullptr;
    state.last_scale = last_scale_;
    state.skips_in_row = skips_in_row_;
    state.last_epoch = result_.last_epoch;
    state.ledger = Ledger();
    state.bad_records = t_.bad_records_->state();
    state.metrics_bytes = folder_->log_bytes();
    state.run_file = t_.config_.tree.ToToml();
    return state;
  }

  // Whether the device has room for a second state beside the step while one is written out.
  bool CanShare() const {
    if (t_.runtime_->client().is_cpu() || !t_.room_) return true;
    return t_.batch_plan_.bytes() + t_.state_bytes() <= *t_.room_;
  }

  checkpoint::Snapshot MakeSnapshot(bool done, bool share, std::optional<checkpoint::Score> score) {
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

  // All launches have been retired.
  void SaveSnapshot(std::optional<checkpoint::Score> score = std::nullopt) {
    if (saver_ == nullptr) return;
    saved_ = Now(/*done=*/false);
    const double begin = SteadySeconds();
    {
      const Phase phase(*t_.ledger_, Cause::kCheckpoint);
      saver_->Save(MakeSnapshot(/*done=*/false, CanShare(), std::move(score)), launched_steps_);
    }
    saver_->NoteBlocked(SteadySeconds() - begin);
  }

  // The last one: when this returns it is on the disk, or the user has been told why not.
  void SaveLastSnapshot(bool done, std::optional<checkpoint::Score> score = std::nullopt) {
    // What follows an epoch that ended early is not to be gone on from.
    if (saver_ == nullptr || ended_within_epoch_) return;
    const Phase phase(*t_.ledger_, Cause::kCheckpoint);
    if (saved_ == Now(done)) {
      saver_->Finish();
      return;
    }
    saved_ = Now(done);
    if (result_.stopped) TellGrace();
    saver_->SaveNow(MakeSnapshot(done, /*share=*/true, std::move(score)), launched_steps_);
  }

  // What tells one moment of a run from another: two snapshots of one would be the same.
  using Moment = std::tuple<int64_t, int64_t, bool, bool>;
  Moment Now(bool done) const { return {launched_steps_, result_.epochs, epoch_ended_, done}; }

  void TellGrace() {
    std::string line = fmt::format("{}: saving step {}", stop_->reason.load(), result_.steps);
    const double deadline = stop_->deadline;
    const double left =
        std::isfinite(deadline) ? deadline - SteadySeconds() : t_.config_.checkpoint.grace_seconds;
    const std::optional<double> needed = saver_->EstimateSeconds(t_.state_bytes());
    if (needed) {
      line += fmt::format(", which takes about {}; {} are left", HumanDuration(*needed),
                          HumanDuration(std::max(left, 0.0)));
      const int64_t last = saver_->stats().last_step;
      if (*needed > left && last >= 0) {
        line += fmt::format(". Should that be too little, the run goes on from step {}", last);
      }
    }
    observer_->OnMessage(line);
  }

  // A stop, or the last of max_steps, between the epoch's first step and its last. The snapshot
  // comes before the epoch is summed up, so that a run that goes on sums up all of it.
  void EndWithinEpoch() {
    SaveLastSnapshot(/*done=*/MaxStepsReached() && !result_.stopped);
    if (epoch_steps_ == 0) return;
    ended_within_epoch_ = true;
    EndEpoch(/*complete=*/false);
  }

  double EpochSeconds() const { return epoch_seconds_ + SteadySeconds() - epoch_begin_; }

  // Of this process and those before it.
  watch::LedgerReport Ledger() const {
    watch::LedgerReport all = t_.ledger_->Report();
    for (int i = 0; i < watch::kNumCauses; ++i) all.seconds[i] += earlier_ledger_.seconds[i];
    all.wall += earlier_ledger_.wall;
    return all;
  }

  // The training records in the order of the run file's shuffle.
  data::SourcePtr InOrder() const {
    const data::Dataset all = data::Dataset::FromSource(t_.sources_.train);
    const data::PipelineOptions& pipeline = t_.config_.pipeline;
    if (!pipeline.shuffle) return all.source();
    const uint64_t seed = t_.config_.train.seed;
    return pipeline.shuffle_window > 0 ? all.ShuffleWindow(seed, pipeline.shuffle_window).source()
                                       : all.Shuffle(seed).source();
  }

  // Ends a wait for input when a stop is asked for meanwhile.
  void Watch(const std::stop_token& end) {
    while (!end.stop_requested()) {
      if (stop_->asked) {
        input_->Stop();
        return;
      }
      std::this_thread::sleep_for(kStopPoll);
    }
  }

  std::optional<data::DeviceLaunch> WaitForInput() {
    const Phase phase(*t_.ledger_, Cause::kInput);
    if (t_.runtime_->client().is_cpu()) return input_->Next();
    const data::EngineStats before = input_->stats();
    std::optional<data::DeviceLaunch> input = input_->Next();
    // Of the time waited, the share in which workers were sending is copy.
    const data::EngineStats after = input_->stats();
    const double transfer = StageSeconds(after, "transfer") - StageSeconds(before, "transfer");
    const double work = after.busy - before.busy + transfer;
    if (work > 0) {
      t_.ledger_->Reattribute(Cause::kInput, Cause::kCopy,
                              (after.wait - before.wait) * transfer / work);
    }
    return input;
  }

  Launch Plan(data::DeviceLaunch input) {
    Launch launch;
    launch.steps = input.plan.steps;
    launch.rows = input.plan.rows - input.bad_rows;
    if (const auto& most = t_.config_.train.max_steps) {
      launch.steps = std::min(launch.steps, *most - (launched_steps_ - result_.skipped_steps));
      launch.rows = std::min(launch.rows, launch.steps * t_.config_.train.global_batch);
    }
    launch.rate_factor = static_cast<float>(rate_factor_);
    launch.input = std::move(input);
    return launch;
  }

  bool MaxStepsReached() const {
    const auto& most = t_.config_.train.max_steps;
    return most && launched_steps_ - result_.skipped_steps >= *most;
  }

  bool StopAsked() {
    if (stop_ != nullptr && stop_->asked) result_.stopped = true;
    return result_.stopped;
  }

  void RetireAll() {
    while (!in_flight_.empty()) Retire();
  }

  // Waits for the oldest launch and takes in its results.
  void Retire() {
    Launch launch = std::move(in_flight_.front());
    in_flight_.pop_front();
    launch.run.Await();
    const step::ResultLayout& layout = t_.train_program_.results;
    const int first = t_.train_program_.num_state;
    const std::vector<xla::Buffer>& results = launch.run.outputs[0];
    const std::vector<float> losses = results[layout.losses - first].ToVector<float>();
    std::vector<int32_t> skipped(losses.size(), 0);
    std::vector<float> scales;
    if (layout.skipped >= 0) {
      skipped = results[layout.skipped - first].ToVector<int32_t>();
      scales = results[layout.scales - first].ToVector<float>();
    }
    int64_t skips = 0;
    int64_t rows = launch.rows;
    for (int64_t i = 0; i < launch.steps; ++i) {
      if (skipped[i] != 0) {
        ++skips;
        ++skips_in_row_;
        rows -= RowsOfStep(launch, i);
        const bool least = t_.loss_scale_.kind == optim::LossScale::Kind::kStatic ||
                           scales[i] <= optim::kLeastLossScale;
        if (least && skips_in_row_ >= kMostSkipsInRow) {
          result_.skipped_steps += skips;
          EndlessSkips(launch, i, scales[i]);
        }
        continue;
      }
      skips_in_row_ = 0;
      if (!std::isfinite(losses[i])) NotFinite(launch, i, losses[i]);
      result_.losses.push_back(losses[i]);
      ++result_.steps;
    }
    totals_.Add(layout, results, first);
    learning_rate_ = results[layout.rates - first].ToVector<float>()[launch.steps - 1];
    if (!scales.empty()) last_scale_ = scales[launch.steps - 1];
    if (skips > 0) {
      result_.skipped_steps += skips;
      observer_->OnMessage(fmt::format(
          "step {}: {} step{} skipped, the gradients had overflowed at loss scale {:.7g} ({} so "
          "far)",
          result_.steps + 1, skips, skips == 1 ? "" : "s", *last_scale_, result_.skipped_steps));
    }
    rows = std::max<int64_t>(rows, 0);
    result_.samples += rows;
    epoch_steps_ += launch.steps;  // a place in the epoch, which skipped steps move on too
    interval_rows_ += rows;
    epoch_rows_ += launch.rows;
    ++launches_;
    if (saver_ != nullptr) {
      saver_->Tell();
      const double computed = t_.ledger_->Report().of(Cause::kCompute);
      const double slowed = saver_->NoteSteps(launch.steps, computed - computed_);
      if (slowed > 0) t_.ledger_->Reattribute(Cause::kCompute, Cause::kCheckpoint, slowed);
      computed_ = computed - slowed;
    }
    if (result_.summary.first_step_seconds == 0) {
      result_.summary.first_step_seconds = SecondsSinceProcessStart();
    }
    Report();
    // Kept for the ceiling: the latest full launch.
    if (launch.steps == t_.steps_per_launch_) last_ = std::move(launch);
  }

  // Real rows of a step of the launch, bad records included.
  int64_t RowsOfStep(const Launch& launch, int64_t index) const {
    const int64_t batch = t_.config_.train.global_batch;
    return std::clamp<int64_t>(launch.input.plan.rows - index * batch, 0, batch);
  }

  [[noreturn]] void NotFinite(const Launch& launch, int64_t index, float loss) {
    // Launches behind this one change nothing: the program stands still after such a step.
    for (Launch& later : in_flight_) later.run.Await();
    in_flight_.clear();
    Trainer::Finding first = t_.Diagnose(launch, index);
    if (first.what.empty()) {
      first.what = "every part of it is finite, but the sum over all devices is not";
    }
    Diverged(fmt::format("the loss is {}", std::isnan(loss) ? "NaN" : "infinite"), launch, first);
  }

  [[noreturn]] void EndlessSkips(const Launch& launch, int64_t index, float scale) {
    // Launches behind this one may have done a step; the diagnosis is of the weights as they are.
    for (Launch& later : in_flight_) later.run.Await();
    in_flight_.clear();
    Trainer::Finding first = t_.Diagnose(launch, index);
    if (first.what.empty()) first.what = "the sum over all devices is not finite";
    Diverged(fmt::format("{} steps in a row were skipped, the last at loss scale {:.7g}, because "
                         "the gradients are not finite",
                         skips_in_row_, scale),
             launch, first);
  }

  // Looks at a step before it is done.
  void CheckFinite(const Launch& launch) {
    RetireAll();
    const Trainer::Finding first = t_.Diagnose(launch, 0);
    if (first.what.empty()) return;
    // Gradients that overflow are what a loss scale is there for.
    if (first.in_gradient && t_.loss_scale_.enabled()) return;
    Diverged("something is not finite", launch, first);
  }

  // Ends the run at the step after those done.
  [[noreturn]] void Diverged(const std::string& what, const Launch& launch,
                             const Trainer::Finding& first) {
    std::string kept;
    if (folder_ != nullptr) {
      SaveOrWarn("weights.safetensors");
      kept_ = true;
      if (save_error_.empty()) {
        kept = fmt::format(" The weights before that step are kept in {}.",
                           folder_->File("weights.safetensors"));
      }
    }
    UserError error(
        Code::kFailedPrecondition,
        fmt::format("{} at step {} (epoch {}): {}.{} {}", what, result_.steps + 1,
                    launch.input.plan.epoch + 1, first.what, kept,
                    first.in_data ? "Mend the data."
                                  : "Lower optimizer.learning_rate, clip gradients "
                                    "(optimizer.global_clipnorm = 1.0), or look at that layer."));
    if (first.in_data) error.set_exit_code(kExitBadData);
    throw error;
  }

  Progress MakeProgress() {
    Progress progress;
    progress.epoch = result_.epochs + 1;
    progress.epochs = t_.config_.train.epochs;
    progress.step = result_.steps;
    progress.step_in_epoch = epoch_steps_;
    progress.steps_per_epoch = steps_per_epoch_;
    progress.loss = totals_.loss();
    progress.metrics = totals_.Metrics();
    progress.learning_rate = learning_rate_;
    progress.skipped_steps = result_.skipped_steps;
    progress.loss_scale = last_scale_;
    progress.resident_bytes = ResidentBytes();
    if (const auto memory = t_.runtime_->devices()[0].memory_stats()) {
      progress.device_bytes = memory->bytes_in_use;
    }
    progress.epoch_seconds = EpochSeconds();
    const double seconds = SteadySeconds() - interval_begin_;
    progress.samples_per_second = seconds > 0 ? static_cast<double>(interval_rows_) / seconds : 0;
    const watch::LedgerReport now = t_.ledger_->Report();
    watch::LedgerReport since = now;
    for (int i = 0; i < watch::kNumCauses; ++i) since.seconds[i] -= interval_ledger_.seconds[i];
    progress.full = since.full();
    return progress;
  }

  // Shows progress, not more often than a person can see; logs once per interval.
  void Report() {
    const double now = SteadySeconds();
    const bool log = now - interval_begin_ >= t_.config_.watch.log_seconds;
    if (!log && now - shown_ < kProgressSeconds) return;
    shown_ = now;
    const Progress progress = MakeProgress();
    observer_->OnProgress(progress);
    if (!log) return;
    observer_->OnLog(progress);
    LogToFolder(progress);
    BeginInterval();
  }

  void LogPlan() {
    if (folder_ == nullptr) return;
    const BatchPlan& plan = t_.batch_plan_;
    const plan::MemoryPlan& training = plan.training;
    const auto number = [](int64_t value) { return static_cast<double>(value); };
    Fields fields = {
        {"planned_bytes", number(plan.bytes())},
        {"limit_bytes", plan.room ? number(*plan.room) : std::nan("")},
        {"training_bytes", number(training.total())},
        {"evaluation_bytes", plan.evaluation ? number(plan.evaluation->total()) : std::nan("")},
        {"parameters_bytes", number(training.parameters)},
        {"gradients_bytes", number(training.gradients)},
        {"optimizer_bytes", number(training.optimizer)},
        {"activations_bytes", number(training.activations)},
        {"workspace_bytes", number(training.workspace)},
        {"scratch_bytes", number(training.scratch)},
        {"batch_bytes", number(training.batch)},
        {"results_bytes", number(training.results)},
        {"code_bytes", number(training.code)},
        {"micro_batch", number(plan.micro_rows)},
        {"micro_batches", number(plan.micro_batches())},
        {"loss_blocks", number(training.loss_blocks)},
        {"recompute", plan.recompute.kind == nn::Recompute::Kind::kBlocks ? 1.0 : 0.0}};
    folder_->Log("plan", fields);
  }

  void BeginInterval() {
    interval_begin_ = SteadySeconds();
    interval_rows_ = 0;
    interval_ledger_ = t_.ledger_->Report();
    interval_input_ = input_->stats();
  }

  void LogToFolder(const Progress& progress) {
    if (folder_ == nullptr) return;
    Fields fields = {{"step", static_cast<double>(progress.step)},
                     {"epoch", static_cast<double>(progress.epoch)},
                     {"loss", progress.loss},
                     {"learning_rate", progress.learning_rate},
                     {"samples_per_second", progress.samples_per_second},
                     {"full", progress.full.value_or(std::nan(""))},
                     {"resident_bytes", static_cast<double>(progress.resident_bytes)},
                     {"wall_seconds", SecondsSinceProcessStart()}};
    if (progress.device_bytes) {
      fields.emplace_back("device_bytes", static_cast<double>(*progress.device_bytes));
    }
    if (progress.loss_scale) {
      fields.emplace_back("loss_scale", *progress.loss_scale);
      fields.emplace_back("skipped_steps", static_cast<double>(progress.skipped_steps));
    }
    for (const auto& [name, value] : progress.metrics) fields.emplace_back(name, value);
    AddInput(fields);
    folder_->Log("log", fields);
  }

  // What the input pipeline did since the last log line: how each stage shares the workers' time.
  void AddInput(Fields& fields) {
    const data::EngineStats now = input_->stats();
    const double wall = SteadySeconds() - interval_begin_;
    const double busy = now.busy - interval_input_.busy;
    if (wall <= 0) return;
    fields.emplace_back("input_wait", (now.wait - interval_input_.wait) / wall);
    fields.emplace_back("input_workers", now.workers);
    fields.emplace_back("input_prefetch", now.depth);
    fields.emplace_back("input_queue_bytes", static_cast<double>(now.bytes));
    fields.emplace_back("input_cores_busy", (now.cpu - interval_input_.cpu) / wall);
    if (busy <= 0) return;
    for (const auto& [stage, time] : now.stages) {
      const auto before = interval_input_.stages.find(stage);
      std::string name = stage;
      std::replace(name.begin(), name.end(), ' ', '_');
      const data::StageTime then =
          before == interval_input_.stages.end() ? data::StageTime() : before->second;
      fields.emplace_back("input_share_" + name, (time.seconds - then.seconds) / busy);
      fields.emplace_back("input_records_per_second_" + name,
                          static_cast<double>(time.records - then.records) / wall);
      if (time.bytes > then.bytes) {
        fields.emplace_back("input_bytes_per_second_" + name,
                            static_cast<double>(time.bytes - then.bytes) / wall);
      }
    }
  }

  // Validates and runs what happens after an epoch; true when training is to end.
  bool EndEpoch(bool complete) {
    if (complete && epoch_rows_ == 0) {
      throw BadData("{}: all records are bad", t_.sources_.train->description());
    }
    EpochEnd end;
    const Progress progress = MakeProgress();  // before the count goes on
    end.epoch = result_.epochs + 1;
    end.epochs = t_.config_.train.epochs;
    end.step = result_.steps;
    end.logs["loss"] = totals_.loss();
    for (const auto& [name, value] : totals_.Metrics()) end.logs[name] = value;
    const int64_t every = t_.config_.train.evaluate_every;
    const bool evaluates = t_.sources_.validation != nullptr && every > 0 &&
                           (end.epoch % every == 0 || end.epoch == end.epochs || !complete);
    if (evaluates) {
      Scores scores{.complete = false};
      if (!StopAsked()) scores = t_.Evaluate(t_.sources_.validation, observer_, stop_);
      if (scores.complete) {
        for (const auto& [name, value] : scores.All("val_")) end.logs[name] = value;
      } else if (complete && StopAsked()) {
        // A validation that was cut short says nothing; the run will go on with it.
        epoch_ended_ = true;
        SaveLastSnapshot(/*done=*/false);
        result_.last_epoch = end.logs;
        return true;
      }
    }
    epoch_ended_ = false;
    if (complete) ++result_.epochs;
    end.seconds = EpochSeconds();
    bool stop = false;
    const auto note = [&](const std::string& text) {
      end.note += end.note.empty() ? text : ", " + text;
    };
    std::optional<checkpoint::Score> score;
    if (const double* value = Monitored(end.logs, best_.monitor())) {
      score = {best_.monitor(), *value, best_.higher_is_better()};
      if (best_.Improves(*value)) {
        note(fmt::format("best {} so far", best_.monitor()));
        SaveBest();
      }
    }
    if (early_) {
      if (const double* value = Monitored(end.logs, early_->monitor())) {
        const EarlyStopper::Decision decision = early_->Observe(end.epoch - 1, *value);
        if (decision.keep && t_.config_.train.early_stopping->restore_best_weights) {
          const Phase phase(*t_.ledger_, Cause::kCheckpoint);
          early_best_ = std::make_shared<const std::vector<Bytes>>(t_.SnapshotState());
        }
        if (decision.stop) {
          note(fmt::format("stopping early: {} has not got better for {} evaluations",
                           early_->monitor(), early_->wait()));
          stop = stopped_early_ = true;
        }
      }
    }
    if (plateau_ && learning_rate_ > 0) {
      if (const double* value = Monitored(end.logs, plateau_->monitor())) {
        const double rate = plateau_->Observe(*value, learning_rate_);
        if (rate != learning_rate_) {
          rate_factor_ *= rate / learning_rate_;
          note(fmt::format("learning rate lowered to {:.3g}", rate));
        }
      }
    }
    observer_->OnEpochEnd(end);
    LogToFolder(progress);
    if (folder_ != nullptr) {
      Fields fields = {{"epoch", static_cast<double>(end.epoch)},
                       {"step", static_cast<double>(end.step)},
                       {"seconds", end.seconds}};
      for (const auto& [name, value] : end.logs) fields.emplace_back(name, value);
      folder_->Log("epoch", fields);
    }
    result_.last_epoch = end.logs;
    totals_ = Totals(t_.metrics_, t_.metric_names_);
    epoch_steps_ = 0;
    epoch_rows_ = 0;
    epoch_seconds_ = 0;
    epoch_begin_ = SteadySeconds();
    BeginInterval();
    const bool over = stop || (complete && end.epoch >= end.epochs) || MaxStepsReached();
    if (complete) {
      if (over || StopAsked()) {
        SaveLastSnapshot(/*done=*/over, std::move(score));
      } else if (saver_ != nullptr && saver_->Due(launched_steps_)) {
        SaveSnapshot(std::move(score));
      }
    }
    return stop || StopAsked();
  }

  // Throws unless `monitor` is a figure that this run will have; one from validation needs a
  // validation split, unless `may_lack` it.
  void CheckMonitor(std::string_view key, const std::string& monitor, bool may_lack) const {
    std::vector<std::string> names = {"loss"};
    names.insert(names.end(), t_.metric_names_.begin(), t_.metric_names_.end());
    for (size_t i = 0, trained = names.size(); i < trained; ++i) names.push_back("val_" + names[i]);
    if (std::find(names.begin(), names.end(), monitor) == names.end()) {
      throw Invalid("{}: nothing called \"{}\" is measured{}; there are {}", key, monitor,
                    DidYouMean(monitor, names), fmt::join(names, ", "));
    }
    if (may_lack || !monitor.starts_with("val_")) return;
    if (t_.sources_.validation != nullptr && t_.config_.train.evaluate_every > 0) return;
    throw Invalid(
        "{} watches \"{}\", but nothing is validated; set data.validation_split (and "
        "train.evaluate_every), or monitor = \"loss\"",
        key, monitor);
  }

  // The monitored figure; nullptr when this epoch has none, for want of a validation.
  static const double* Monitored(const std::map<std::string, double>& logs,
                                 const std::string& name) {
    const auto found = logs.find(name);
    return found == logs.end() ? nullptr : &found->second;
  }

  static void SaveWeights(const std::string& path, checkpoint::TensorFile file, int64_t step) {
    file.metadata["step"] = std::to_string(step);
    checkpoint::SaveSafetensors(path, file);
  }

  void Save(const std::string& name) {
    const Phase phase(*t_.ledger_, Cause::kCheckpoint);
    SaveWeights(folder_->File(name), t_.Weights(), result_.steps);
  }

  // The best weights, written behind the steps that follow. At most one such file is under way.
  void SaveBest() {
    if (folder_ == nullptr) return;
    const Phase phase(*t_.ledger_, Cause::kCheckpoint);
    FinishBest();
    if (!CanShare()) {
      SaveOrWarn("best.safetensors");
      return;
    }
    best_saving_ =
        std::async(std::launch::async,
                   [weights = t_.DeferredWeights(), path = folder_->File("best.safetensors"),
                    step = result_.steps] { SaveWeights(path, weights(), step); });
  }

  void FinishBest() {
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

  // A disk that cannot take the weights does not end training; the last good file stays.
  void SaveOrWarn(const std::string& name) {
    try {
      Save(name);
      save_error_.clear();
    } catch (const Error& error) {
      LogWarning("weights not saved: {}; training goes on", error.what());
      save_error_ = error.what();
    }
  }

  // What Keras's finalize_variable_values does at the end of fit: each trained variable becomes its
  // moving average. Not after a stop, whose run is to go on from where it was.
  void UseAverages() {
    std::vector<Bytes> state = t_.SnapshotState();
    for (size_t i = 0; i < t_.layout_.size(); ++i) {
      const step::StateTensor& tensor = t_.layout_[i];
      if (tensor.kind == step::StateTensor::Kind::kSlot && tensor.name.ends_with("/average")) {
        state[tensor.variable] =
            ConvertFloats(state[i], tensor.shape.dtype, t_.layout_[tensor.variable].shape.dtype);
      }
    }
    t_.UploadState(state);
    observer_->OnMessage("the weights are now their moving averages");
  }

  FitResult Finish() {
    watch::Ledger& ledger = *t_.ledger_;
    FinishBest();
    stop_watch_ = {};
    input_stats_ = input_->stats();
    input_->Stop();
    if (result_.stopped) {
      // The stop may have come too late to be seen by what ended the loop.
      SaveLastSnapshot(/*done=*/false);
    } else {
      // As in Keras, also when training ends without having been stopped early.
      if (early_best_ != nullptr) {
        t_.UploadState(*early_best_);
        result_.restored_best = true;
        observer_->OnMessage("restored the weights of the best evaluation");
      } else if (t_.optimizer_->uses_ema()) {
        UseAverages();
      }
    }
    if (t_.sources_.test != nullptr && t_.config_.train.evaluate_test && !result_.stopped) {
      Scores scores = t_.Evaluate(t_.sources_.test, observer_, stop_);
      if (scores.complete) result_.test = std::move(scores);
      if (folder_ != nullptr && result_.test) {
        Fields fields = {{"step", static_cast<double>(result_.steps)},
                         {"rows", static_cast<double>(result_.test->rows)}};
        for (const auto& [name, value] : result_.test->All("test_")) {
          fields.emplace_back(name, value);
        }
        folder_->Log("test", fields);
      }
    }
    if (folder_ != nullptr) Save("weights.safetensors");
    if (t_.config_.watch.ceiling && !result_.stopped && last_) MeasureCeiling();
    ledger.Enter(Cause::kHost);
    result_.summary.status = result_.stopped ? "stopped" : "done";
    result_.summary.exit_code = result_.stopped ? kExitPreempted : kExitDone;
    FillSummary();
    if (folder_ != nullptr) folder_->WriteSummary(result_.summary);
    return std::move(result_);
  }

  // At most a second, and at most a tenth of what training took.
  void MeasureCeiling() {
    const watch::LedgerReport report = t_.ledger_->Report();
    const double per_launch =
        report.of(Cause::kCompute) / static_cast<double>(std::max<int64_t>(launches_, 1));
    const double seconds = std::min(1.0, 0.1 * report.of(Cause::kCompute));
    if (per_launch * 2 > seconds) return;
    // Measuring is not training: it counts as evaluation.
    const Phase phase(*t_.ledger_, Cause::kEvaluation);
    const double per_step = t_.MeasureCeiling(*last_, seconds);
    result_.summary.ceiling_samples_per_second =
        static_cast<double>(t_.config_.train.global_batch) / per_step;
  }

  void FillSummary() {
    Summary& summary = result_.summary;
    summary.steps = result_.steps;
    summary.epochs = result_.epochs;
    summary.samples = result_.samples;
    for (const auto& [name, value] : result_.last_epoch) {
      if (name.starts_with("val_")) {
        summary.metrics["validation"][name.substr(4)] = value;
      } else {
        summary.metrics["train"][name] = value;
      }
    }
    if (result_.test) summary.metrics["test"] = result_.test->All();
    summary.skipped_steps = result_.skipped_steps;
    summary.loss_scale = last_scale_;
    const double rows = static_cast<double>(t_.rows_);
    watch::RunFacts facts;
    facts.ledger = Ledger();
    facts.steps = result_.steps;
    facts.samples = result_.samples;
    facts.launches = launches_;
    facts.steps_per_launch = t_.steps_per_launch_;
    facts.steps_per_epoch = steps_per_epoch_;
    facts.input = InputFacts();
    facts.cores = ReadCgroup().cpu.usable;
    facts.devices = static_cast<int>(t_.runtime_->replicas());
    facts.device_is_cpu = t_.runtime_->client().is_cpu();
    facts.device_kind = t_.runtime_->devices()[0].kind();
    facts.flops_per_sample = t_.model_flops_ / rows;
    facts.compute_dtype = std::string(ir::Name(t_.policy_.compute));
    if (const xla::Card* card = xla::CardOfDevice(facts.device_kind)) {
      if (const double peak = card->MatmulPeak(t_.policy_.compute); peak > 0) {
        facts.peak_flops = peak * static_cast<double>(facts.devices);
        facts.card = card->title;
      }
    }
    if (summary.plan) facts.planned_bytes = summary.plan->bytes();
    for (const xla::Device& device : t_.runtime_->devices()) {
      const auto memory = device.memory_stats();
      if (!memory || !memory->peak_bytes_in_use) continue;
      facts.device_peak_bytes =
          std::max(facts.device_peak_bytes.value_or(0), *memory->peak_bytes_in_use);
    }
    summary.peak_device_bytes = facts.device_peak_bytes;
    if (const int64_t peak = PeakResidentBytes(); peak >= 0) facts.process_peak_bytes = peak;
    facts.skipped_steps = result_.skipped_steps;
    facts.loss_scale = last_scale_;
    facts.ceiling_samples_per_second = summary.ceiling_samples_per_second;
    result_.verdict = watch::Judge(facts);
    summary.full = result_.verdict.full;
    summary.samples_per_second = result_.verdict.samples_per_second;
    summary.mfu = result_.verdict.mfu;
    summary.flops_per_sample = facts.flops_per_sample;
    summary.ledger = facts.ledger;
    summary.input = facts.input;
    summary.bad_records = t_.bad_records_->count();
    summary.bad_record_messages = t_.bad_records_->messages();
    summary.communication_measured = facts.devices == 1;
    summary.verdict = result_.verdict.lines;
    summary.sessions = sessions_;
    if (saver_ != nullptr) {
      saver_->Tell();
      summary.saves = saver_->stats();
    }
    summary.steps_per_launch = t_.steps_per_launch_;
    summary.devices = facts.devices;
    summary.device = facts.device_kind;
    summary.parameters = t_.model_.parameters();
    summary.peak_resident_bytes = PeakResidentBytes();
    const xla::CompileCache::Stats cache = t_.runtime_->cache().stats();
    summary.compiles = cache.misses;
    summary.compile_seconds = cache.compile_seconds;
  }

  watch::InputFacts InputFacts() const {
    watch::InputFacts facts;
    facts.workers = input_stats_.workers;
    facts.workers_tuned = t_.config_.pipeline.worker_threads() == 0;
    facts.depth = input_stats_.depth;
    facts.busy = input_stats_.busy;
    facts.cpu = input_stats_.cpu;
    facts.queued = input_stats_.queued;
    if (input_stats_.items > 0) facts.queue_fill = input_stats_.fill;
    for (const auto& [name, time] : input_stats_.stages) {
      facts.stages.push_back({name, time.seconds, time.records, time.bytes});
    }
    std::sort(facts.stages.begin(), facts.stages.end(),
              [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    facts.decisions = input_stats_.decisions;
    return facts;
  }

  Trainer& t_;
  RunFolder* folder_;
  Observer silent_;
  Observer* observer_;
  StopRequest* stop_;
  FitResult result_;
  std::unique_ptr<data::DevicePrefetcher> input_;
  data::EngineStats input_stats_;
  std::deque<Launch> in_flight_;
  std::optional<Launch> last_;
  Totals totals_;
  Best best_;
  std::optional<EarlyStopper> early_;
  std::optional<PlateauReducer> plateau_;
  std::shared_ptr<const std::vector<Bytes>> early_best_;
  bool was_done_ = false;  // in an earlier session, but for what follows the last epoch
  double rate_factor_ = 1;
  double learning_rate_ = 0;
  int64_t steps_per_epoch_ = 0, launched_steps_ = 0, epoch_steps_ = 0, launches_ = 0;
  std::string save_error_;
  bool kept_ = false;  // the weights, by whoever threw
  int64_t skips_in_row_ = 0;
  std::optional<double> last_scale_;  // that a step used
  double epoch_begin_ = 0, interval_begin_ = 0, shown_ = 0;
  int64_t interval_rows_ = 0, epoch_rows_ = 0;
  data::EngineStats interval_input_;
  watch::LedgerReport interval_ledger_;
  data::IteratorState position_;  // of the record after the last that was launched
  bool epoch_ended_ = false;      // but not what follows it
  double epoch_seconds_ = 0;      // of this epoch, in sessions before this one
  int64_t sessions_ = 1;
  watch::LedgerReport earlier_ledger_;  // of those sessions
  double computed_ = 0;                 // device seconds when the last launch was retired
  bool ended_within_epoch_ = false;
  bool stopped_early_ = false;
  std::optional<Moment> saved_;  // of the snapshot handed over last
  std::unique_ptr<Saver> saver_;
  std::future<void> best_saving_;
  bool best_failed_ = false;
  std::jthread stop_watch_;  // last: ends before what it uses
};

FitResult Trainer::Fit(RunFolder* folder, Observer* observer, StopRequest* stop) {
  if (sources_.train == nullptr) throw Invalid("[data] has no training split");
  Fitting fitting(*this, folder, observer, stop);
  try {
    return fitting.Run();
  } catch (const Error& error) {
    if (IsDeviceOutOfMemory(error)) {
      const UserError explained = OutOfMemory(error);
      fitting.Fail(explained, /*state_lost=*/true);
      throw explained;
    }
    fitting.Fail(error);
    throw;
  }
}

double Trainer::MeasureCeiling(Launch& launch, double seconds) {
  // Replaying changes the state; it is put back afterwards.
  const std::vector<Bytes> state = SnapshotState();
  const double begin = SteadySeconds();
  int64_t steps = 0;
  do {
    xla::Execution run;
    ExecuteTraining(launch, run);
    run.Await();
    steps += launch.steps;
  } while (SteadySeconds() - begin < seconds);
  const double per_step = (SteadySeconds() - begin) / static_cast<double>(steps);
  UploadState(state);
  return per_step;
}

Trainer::Finding Trainer::Diagnose(const Launch& launch, int64_t index) {
  if (diagnosis_ == nullptr) {
    step::StepSpec spec = SpecFor(rows_, 1);
    spec.micro_rows = batch_plan_.micro_rows;
    diagnosis_program_ = step::BuildDiagnosisProgram(spec);
    diagnosis_ = runtime_->CompileForOne(ir::ToStablehlo(*diagnosis_program_.graph));
  }
  const xla::Device& device = runtime_->devices()[0];
  std::vector<const xla::Buffer*> state;
  for (size_t i = 0; i < model_.variables().size(); ++i) state.push_back(state_[0][i].get());
  if (loss_scale_.enabled()) state.push_back(state_[0][CounterIndex("loss_scale")].get());
  state.push_back(state_[0][CounterIndex("step")].get());
  const size_t num_names = diagnosis_program_.names.size();
  size_t earliest = num_names;
  for (const std::vector<xla::Buffer>& buffers : launch.input.buffers) {
    std::vector<xla::Buffer> slices;
    for (const xla::Buffer& buffer : buffers) {
      Bytes bytes(buffer.shape().bytes());
      buffer.ToHost(bytes.data(), bytes.size());
      ir::Shape shape = buffer.shape();
      const int64_t step_bytes = shape.bytes() / shape.dims[0];
      shape.dims.erase(shape.dims.begin());
      slices.push_back(
          runtime_->client().FromHost(bytes.data() + index * step_bytes, shape, device));
    }
    std::vector<const xla::Buffer*> args = state;
    for (const xla::Buffer& slice : slices) args.push_back(&slice);
    const xla::Execution run = diagnosis_->Execute(args);
    for (size_t i = 0; i < earliest; ++i) {
      if (run.outputs[0][i].ToVector<uint8_t>().at(0) == 0) earliest = i;
    }
  }
  Finding finding;
  if (earliest == num_names) return finding;
  finding.what = diagnosis_program_.names[earliest];
  finding.in_data = diagnosis_program_.in_data[earliest];
  finding.in_gradient = finding.what.find("the gradient ") != std::string::npos;
  return finding;
}

}  // namespace flatout::train
