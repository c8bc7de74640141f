// Trainer::Fit: the loop that feeds the training program, takes in its results, and does what comes
// after epochs and at the end.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/base/process.h"
#include "flatout/base/text.h"
#include "flatout/data/dataset.h"
#include "flatout/data/loading.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/train/fitting.h"

namespace flatout::train {
namespace {

using Bytes = std::vector<std::byte>;
using watch::Cause;
using watch::Phase;
using watch::Stage;

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
  const Phase phase(*ledger_, Cause::kHost, Stage::kLaunch);
  // Of a launch whose input has not arrived the devices wait for that first. CPU devices take it
  // where it is.
  std::vector<xla::Event> arriving;
  if (!runtime_->client().is_cpu()) {
    for (const std::vector<xla::Buffer>& buffers : launch.input.buffers) {
      for (const xla::Buffer& buffer : buffers) {
        xla::Event event = buffer.ReadyEvent();
        if (!event.IsReady()) arriving.push_back(std::move(event));
      }
    }
  }
  const int64_t id = ledger_->Launched(Cause::kCompute, static_cast<int>(runtime_->replicas()),
                                       /*awaits_input=*/!arriving.empty());
  auto left = std::make_shared<std::atomic<size_t>>(arriving.size());
  for (const xla::Event& event : arriving) {
    event.OnReady([ledger = ledger_, id, left] {
      if (left->fetch_sub(1) == 1) ledger->InputArrived(id);
    });
  }
  try {
    ExecuteTraining(launch, launch.run);
  } catch (...) {
    ledger_->Abandoned(id);
    throw;
  }
  TrackCompletion(ledger_, id, launch.run.done);
}

Trainer::Fitting::Fitting(Trainer& trainer, RunFolder* folder, Observer* observer,
                          StopRequest* stop)
    : t_(trainer),
      folder_(folder),
      observer_(observer != nullptr ? observer : &silent_),
      stop_(stop),
      totals_(t_.metrics_, t_.metric_names_),
      best_(t_.config_.checkpoint.monitor, t_.config_.checkpoint.mode) {
  if (const auto& early = t_.config_.train.early_stopping) early_.emplace(*early);
  if (const auto& plateau = t_.config_.train.reduce_lr_on_plateau) plateau_.emplace(*plateau);
}

FitResult Trainer::Fitting::Run() {
  Start();
  watch::Ledger& ledger = *t_.ledger_;
  ledger.Enter(Cause::kHost);
  // A run that was stopped while it validated goes on with that.
  bool ended = epoch_ended_ ? EndEpoch(/*complete=*/true) : was_done_;
  // All steps had been done, but not what follows them.
  if (was_done_ && epoch_steps_ > 0) EndEpoch(/*complete=*/false);
  while (!ended && !MaxStepsReached()) {
    std::optional<data::DeviceLaunch> input;
    if (t_.config_.watch.advise && !StopAsked()) {
      TakeBack();
      Advise();
    }
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

void Trainer::Fitting::Fail(const Error& error, bool state_lost) {
  result_.summary.status = "failed";
  result_.summary.error = error.what();
  result_.summary.exit_code = error.exit_code();
  FillSummary();
  TellEnd();
  // Of a run whose data turned out to be none there is nothing to tell in its folder.
  if (folder_ == nullptr || data_failed_) return;
  PromoteBest(launched_steps_);
  // What was learned before the error is worth keeping, unless that has been done already.
  if (result_.steps > 0 && !kept_ && !state_lost) SaveOrWarn("weights.safetensors");
  try {
    folder_->WriteSummary(result_.summary);
  } catch (const Error& second) {
    LogWarning("{}", second.what());
  }
}

void Trainer::Fitting::Start() {
  t_.AdaptLayers();
  CheckMonitor("checkpoint.monitor", best_.monitor(), /*may_lack=*/true);
  if (early_) CheckMonitor("train.early_stopping", early_->monitor(), false);
  if (plateau_) CheckMonitor("train.reduce_lr_on_plateau", plateau_->monitor(), false);
  const data::LaunchReader reader = MakeReader();
  steps_per_epoch_ = reader.steps_per_epoch();
  position_ = t_.resumed_ ? reader.CheckState(t_.resumed_->position) : reader.Start();
  // The first launches are read while the programs compile.
  BeginInput();
  if (stop_ != nullptr) {
    stop_watch_ = std::jthread([this](const std::stop_token& end) { Watch(end); });
  }
  t_.CompileTraining();
  result_.summary.plan = t_.batch_plan_;
  try {
    data::FinishLoads();
  } catch (const Error&) {
    data_failed_ = true;
    throw;
  }
  // From here on nothing but training itself can fail: an old run may make room.
  if (stop_ != nullptr) stop_->nothing_to_lose = false;
  const std::optional<RunState> resumed = std::exchange(t_.resumed_, std::nullopt);
  if (folder_ != nullptr) {
    folder_->Begin(t_.config_.tree, resumed ? std::optional(resumed->metrics_bytes) : std::nullopt);
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
  info.resumed_step = result_.resumed_step;
  info.resumed_epochs = result_.epochs;
  observer_->OnStart(info);
  observer_->OnMessage(t_.batch_plan_.ToString());
  // oneDNN computes in bfloat16 where the processor can.
  const bool pays = t_.policy_.compute == ir::DType::kF32 ||
                    (t_.policy_.compute == ir::DType::kBF16 && t_.runtime_->lowering().active());
  if (!pays && t_.runtime_->client().is_cpu()) {
    observer_->OnMessage(fmt::format(
        "precision: {} does not pay on CPU devices, where it is slower than float32 as a rule; "
        "flatout train --compare-precision measures it",
        t_.policy_.name));
  }
  LogPlan();
  epoch_begin_ = interval_begin_ = SteadySeconds();
  BeginWatching();
  computed_ = launch_ledger_.of(Cause::kCompute);
}

data::IteratorState Trainer::Fitting::After(const Launch& launch) const {
  const data::LaunchPlan& plan = launch.input.plan;
  if (launch.steps == plan.steps || !t_.sources_.train->indexed()) return plan.next;
  data::IteratorState state = plan.start;
  state.position += launch.steps * t_.config_.train.global_batch;
  return state;
}

data::SourcePtr Trainer::Fitting::InOrder() const {
  const data::Dataset all = data::Dataset::FromSource(t_.sources_.train);
  const data::PipelineOptions& pipeline = t_.config_.pipeline;
  if (!pipeline.shuffle) return all.source();
  const uint64_t seed = t_.config_.train.seed;
  return pipeline.shuffle_window > 0 ? all.ShuffleWindow(seed, pipeline.shuffle_window).source()
                                     : all.Shuffle(seed).source();
}

data::LaunchReader Trainer::Fitting::MakeReader() const {
  return {InOrder(),
          {.steps_per_launch = t_.steps_per_launch_,
           .replicas = t_.runtime_->replicas(),
           .rows = t_.rows_}};
}

void Trainer::Fitting::BeginInput() {
  const std::lock_guard lock(input_mutex_);
  if (input_ != nullptr) earlier_input_ = Together(earlier_input_, input_->stats());
  input_.reset();  // gives its memory back first
  interval_input_ = {};
  input_ = std::make_unique<data::DevicePrefetcher>(t_.runtime_->shared_client(),
                                                    t_.runtime_->devices(), MakeReader(), position_,
                                                    t_.PrefetchFor(t_.config_.train.epochs));
}

void Trainer::Fitting::Watch(const std::stop_token& end) {
  while (!end.stop_requested()) {
    if (stop_->asked) {
      const std::lock_guard lock(input_mutex_);
      input_->Stop();
      return;
    }
    std::this_thread::sleep_for(kStopPoll);
  }
}

std::optional<data::DeviceLaunch> Trainer::Fitting::WaitForInput() {
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

Trainer::Launch Trainer::Fitting::Plan(data::DeviceLaunch input) {
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

bool Trainer::Fitting::MaxStepsReached() const {
  const auto& most = t_.config_.train.max_steps;
  return most && launched_steps_ - result_.skipped_steps >= *most;
}

bool Trainer::Fitting::StopAsked() {
  if (stop_ != nullptr && stop_->asked) result_.stopped = true;
  return result_.stopped;
}

void Trainer::Fitting::RetireAll() {
  while (!in_flight_.empty()) Retire();
}

void Trainer::Fitting::Retire() {
  Launch launch = std::move(in_flight_.front());
  in_flight_.pop_front();
  launch.run.Await();
  const Phase phase(*t_.ledger_, Cause::kHost, Stage::kResults);
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
  if (layout.gradient_norms >= 0) {
    gradient_norm_ = results[layout.gradient_norms - first].ToVector<float>()[launch.steps - 1];
  }
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
  watch::LedgerReport now = t_.ledger_->Report();
  if (saver_ != nullptr) {
    saver_->Tell();
    PromoteBest(saver_->last_saved_step());
    // Launches behind this one may have ended, too, as some have before it was their turn.
    const int64_t ahead = StepsEndedInFlight();
    const int64_t steps = launch.steps - noted_ahead_ + ahead;
    noted_ahead_ = ahead;
    if (steps > 0) {
      const double computed = now.of(Cause::kCompute);
      const double slowed = saver_->NoteSteps(steps, computed - computed_);
      if (slowed > 0) {
        t_.ledger_->Reattribute(Cause::kCompute, Cause::kCheckpoint, slowed, Stage::kSlowed);
        now = t_.ledger_->Report();
      }
      computed_ = computed - slowed;
    }
  }
  NoteLaunch(launch, now);
  if (result_.summary.first_step_seconds == 0) {
    result_.summary.first_step_seconds = SecondsSinceProcessStart();
  }
  Report();
  // Kept for the ceiling: the latest full launch.
  if (launch.steps == t_.steps_per_launch_) last_ = std::move(launch);
}

int64_t Trainer::Fitting::StepsEndedInFlight() const {
  int64_t steps = 0;
  for (const Launch& launch : in_flight_) {
    const auto ended = [](const xla::Event& event) { return event.IsReady(); };
    if (!std::ranges::all_of(launch.run.done, ended)) break;
    steps += launch.steps;
  }
  return steps;
}

int64_t Trainer::Fitting::RowsOfStep(const Launch& launch, int64_t index) const {
  const int64_t batch = t_.config_.train.global_batch;
  return std::clamp<int64_t>(launch.input.plan.rows - index * batch, 0, batch);
}

void Trainer::Fitting::NotFinite(const Launch& launch, int64_t index, float loss) {
  // Launches behind this one change nothing: the program stands still after such a step.
  for (Launch& later : in_flight_) later.run.Await();
  in_flight_.clear();
  Trainer::Finding first = t_.Diagnose(launch, index);
  if (first.what.empty()) {
    first.what = "every part of it is finite, but the sum over all devices is not";
  }
  Diverged(fmt::format("the loss is {}", std::isnan(loss) ? "NaN" : "infinite"), launch, first);
}

void Trainer::Fitting::EndlessSkips(const Launch& launch, int64_t index, float scale) {
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

void Trainer::Fitting::CheckFinite(const Launch& launch) {
  RetireAll();
  const Trainer::Finding first = t_.Diagnose(launch, 0);
  if (first.what.empty()) return;
  // Gradients that overflow are what a loss scale is there for.
  if (first.in_gradient && t_.loss_scale_.enabled()) return;
  Diverged("something is not finite", launch, first);
}

void Trainer::Fitting::Diverged(const std::string& what, const Launch& launch,
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

bool Trainer::Fitting::EndEpoch(bool complete) {
  if (complete && epoch_rows_ == 0) {
    throw BadData("{}: all records are bad", t_.sources_.train->description());
  }
  EpochEnd end;
  Progress progress = MakeProgress();  // before the count goes on
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
    if (!StopAsked()) {
      const Phase phase(*t_.ledger_, Cause::kEvaluation, Stage::kValidation);
      scores = t_.Evaluate(t_.sources_.validation, observer_, stop_);
    }
    if (scores.complete) {
      ++validations_;
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
  // A run that was stopped goes on from before the epoch is summed up: what part of it gave is
  // nothing to be measured by.
  const double* watched =
      complete || !result_.stopped ? Monitored(end.logs, best_.monitor()) : nullptr;
  if (const double* value = watched) {
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
        const Phase phase(*t_.ledger_, Cause::kCheckpoint, Stage::kWeights);
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
  CloseInterval(progress);
  end.progress = progress;
  if (observer_->WantsWeights(end.epoch)) end.weights = WeightsForObserver();
  {
    const Phase phase(*t_.ledger_, Cause::kHost, Stage::kCallbacks);
    observer_->OnEpochEnd(end);
  }
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

void Trainer::Fitting::CheckMonitor(std::string_view key, const std::string& monitor,
                                    bool may_lack) const {
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

const double* Trainer::Fitting::Monitored(const std::map<std::string, double>& logs,
                                          const std::string& name) {
  const auto found = logs.find(name);
  return found == logs.end() ? nullptr : &found->second;
}

void Trainer::Fitting::UseAverages() {
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

FitResult Trainer::Fitting::Finish() {
  watch::Ledger& ledger = *t_.ledger_;
  FinishBest();
  stop_watch_ = {};
  input_stats_ = input_->stats();
  input_ended_ = true;
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
    const Phase phase(*t_.ledger_, Cause::kEvaluation, Stage::kTest);
    Scores scores = t_.Evaluate(t_.sources_.test, observer_, stop_);
    if (scores.complete) {
      result_.test = std::move(scores);
    } else if (StopAsked()) {
      observer_->OnMessage(fmt::format("{}: training is done; the test is made at the next start",
                                       stop_->reason.load()));
    }
    if (folder_ != nullptr && result_.test) {
      Fields fields = {{"step", static_cast<double>(result_.steps)},
                       {"rows", static_cast<double>(result_.test->rows)}};
      for (const auto& [name, value] : result_.test->All("test_")) {
        fields.emplace_back(name, value);
      }
      folder_->Log("test", fields);
    }
  }
  PromoteBest(launched_steps_);
  // A disk that takes nothing more is no reason not to say what became of the run.
  const auto write = [&](const auto& act) {
    try {
      act();
    } catch (const Error& error) {
      NotWritten(error);
    }
  };
  if (folder_ != nullptr) write([&] { Save("weights.safetensors"); });
  if (t_.config_.watch.ceiling && !result_.stopped && last_) MeasureCeiling();
  ledger.Enter(Cause::kHost);
  if (result_.summary.error.empty()) {
    result_.summary.status = result_.stopped ? "stopped" : "done";
    result_.summary.exit_code = result_.stopped ? kExitPreempted : kExitDone;
  }
  CheckLastSnapshot();
  FillSummary();
  LogEnd();
  if (folder_ != nullptr) write([&] { folder_->WriteSummary(result_.summary); });
  TellEnd();
  return std::move(result_);
}

void Trainer::Fitting::NotWritten(const Error& error) {
  Summary& summary = result_.summary;
  // The first says what is wrong with the disk.
  if (!summary.error.empty()) return;
  summary.error = error.what();
  summary.status = result_.stopped ? "stopped" : "failed";
  summary.exit_code = result_.stopped ? kExitPreempted : error.exit_code();
}

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

Trainer::Finding Trainer::Diagnose(const Launch& launch, int64_t index) {
  if (diagnosis_ == nullptr) {
    step::StepSpec spec = SpecFor(rows_, 1);
    spec.micro_rows = batch_plan_.micro_rows;
    diagnosis_program_ = step::BuildDiagnosisProgram(spec);
    diagnosis_ = runtime_->CompileForOne(*diagnosis_program_.graph);
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
