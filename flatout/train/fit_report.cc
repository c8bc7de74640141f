// What Fit tells of a run: progress, lines of metrics.jsonl, the ceiling, the summary.
#include <algorithm>
#include <cmath>

#include "flatout/base/clock.h"
#include "flatout/base/process.h"
#include "flatout/train/fitting.h"

namespace flatout::train {
namespace {

// Progress is shown no more often than that.
constexpr double kProgressSeconds = 0.1;

}  // namespace

data::EngineStats Together(const data::EngineStats& earlier, const data::EngineStats& now) {
  data::EngineStats all = now;
  const auto of_earlier = static_cast<double>(earlier.items);
  if (earlier.items > 0) {
    all.fill = (earlier.fill * of_earlier + now.fill * static_cast<double>(now.items)) /
               (of_earlier + static_cast<double>(now.items));
  }
  all.items += earlier.items;
  all.records += earlier.records;
  all.wait += earlier.wait;
  all.busy += earlier.busy;
  all.cpu += earlier.cpu;
  all.queued += earlier.queued;
  all.full += earlier.full;
  all.most_bytes = std::max(all.most_bytes, earlier.most_bytes);
  for (const auto& [name, stage] : earlier.stages) {
    data::StageTime& sum = all.stages[name];
    sum.seconds += stage.seconds;
    sum.records += stage.records;
    sum.bytes += stage.bytes;
  }
  all.decisions.insert(all.decisions.begin(), earlier.decisions.begin(), earlier.decisions.end());
  return all;
}

using watch::Cause;
using watch::Phase;
using watch::Stage;

watch::LedgerReport Trainer::Fitting::ProcessLedger() const {
  return ended_ ? *ended_ : t_.ledger_->Report();
}

watch::LedgerReport Trainer::Fitting::Ledger() const {
  watch::LedgerReport all = ProcessLedger();
  all += earlier_ledger_;
  return all;
}

Progress Trainer::Fitting::MakeProgress() {
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
  progress.gradient_norm = gradient_norm_;
  progress.resident_bytes = ResidentBytes();
  if (const auto memory = t_.runtime_->devices()[0].memory_stats()) {
    progress.device_bytes = memory->bytes_in_use;
  }
  progress.epoch_seconds = EpochSeconds();
  const double seconds = SteadySeconds() - interval_begin_;
  progress.samples_per_second = seconds > 0 ? static_cast<double>(interval_rows_) / seconds : 0;
  const watch::LedgerReport now = ProcessLedger();
  progress.samples = result_.samples;
  progress.ledger = now.Since(interval_ledger_);
  progress.full = progress.ledger.full();
  progress.run_ledger = now;
  progress.run_ledger += earlier_ledger_;
  if (sampler_ != nullptr) progress.sample = sampler_->latest();
  return progress;
}

std::function<std::shared_ptr<const checkpoint::TensorFile>()>
Trainer::Fitting::WeightsForObserver() const {
  // Where the device has no room for weights that stay while the next step makes others, they are
  // copied now.
  const Phase phase(*t_.ledger_, Cause::kHost);
  if (!CanShare()) {
    return [file = std::make_shared<const checkpoint::TensorFile>(t_.Weights())] { return file; };
  }
  return [weights = t_.DeferredWeights()] {
    return std::make_shared<const checkpoint::TensorFile>(weights());
  };
}

void Trainer::Fitting::TellEnd() {
  RunEnd end;
  end.status = result_.summary.status;
  end.error = result_.summary.error;
  end.step = result_.steps;
  end.epochs = result_.epochs;
  if (result_.test) end.test = result_.test->All();
  end.full = result_.summary.full;
  end.samples_per_second = result_.summary.samples_per_second;
  end.mfu = result_.summary.mfu;
  end.verdict = result_.summary.verdict;
  end.ledger = ProcessLedger();
  observer_->OnDetails(Details());
  observer_->OnEnd(end);
}

void Trainer::Fitting::Report() {
  if (t_.config_.watch.advise) Consider();
  const double now = SteadySeconds();
  const bool log = now - interval_begin_ >= t_.config_.watch.log_seconds;
  if (!log && now - shown_ < kProgressSeconds && !observer_->WantsStep(result_.steps)) return;
  shown_ = now;
  Progress progress = MakeProgress();
  if (log) CloseInterval(progress);
  {
    const Phase phase(*t_.ledger_, Cause::kHost, Stage::kCallbacks);
    observer_->OnProgress(progress);
    if (observer_->WantsDetails()) observer_->OnDetails(Details());
    if (log) observer_->OnLog(progress);
  }
  if (!log) return;
  LogToFolder(progress);
  BeginInterval();
}

void Trainer::Fitting::LogPlan() {
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

void Trainer::Fitting::BeginInterval() {
  interval_begin_ = SteadySeconds();
  interval_rows_ = 0;
  interval_input_ = input_->stats();
}

void Trainer::Fitting::LogToFolder(const Progress& progress) {
  if (folder_ == nullptr) return;
  const Phase phase(*t_.ledger_, Cause::kHost, Stage::kLog);
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
  if (progress.gradient_norm) fields.emplace_back("gradient_norm", *progress.gradient_norm);
  if (progress.loss_scale) {
    fields.emplace_back("loss_scale", *progress.loss_scale);
    fields.emplace_back("skipped_steps", static_cast<double>(progress.skipped_steps));
  }
  for (const auto& [name, value] : progress.metrics) fields.emplace_back(name, value);
  AddInput(fields);
  AddWatched(progress, fields);
  folder_->Log("log", fields);
}

void Trainer::Fitting::AddInput(Fields& fields) {
  const data::EngineStats since = input_->stats().Since(interval_input_);
  const double wall = SteadySeconds() - interval_begin_;
  if (wall <= 0) return;
  fields.emplace_back("input_wait", std::min(since.wait / wall, 1.0));
  fields.emplace_back("input_workers", since.workers);
  fields.emplace_back("input_prefetch", since.depth);
  fields.emplace_back("input_queue_bytes", static_cast<double>(since.bytes));
  // A piece of work counts when it ends, also for what it did before the interval.
  fields.emplace_back("input_cores_busy", std::min(since.cpu / wall, static_cast<double>(cores_)));
  if (since.busy <= 0) return;
  for (const auto& [stage, time] : since.stages) {
    std::string name = stage;
    std::replace(name.begin(), name.end(), ' ', '_');
    // Transfers go on beside the threads.
    fields.emplace_back("input_share_" + name, std::min(time.seconds / since.busy, 1.0));
    fields.emplace_back("input_records_per_second_" + name,
                        static_cast<double>(time.records) / wall);
    if (time.bytes > 0) {
      fields.emplace_back("input_bytes_per_second_" + name, static_cast<double>(time.bytes) / wall);
    }
  }
}

void Trainer::Fitting::MeasureCeiling() {
  const watch::LedgerReport report = t_.ledger_->Report();
  const double per_launch =
      report.of(Cause::kCompute) / static_cast<double>(std::max<int64_t>(launches_, 1));
  const double seconds = std::min(1.0, 0.1 * report.of(Cause::kCompute));
  if (per_launch * 2 > seconds) return;
  // Measuring is not training: it counts as evaluation.
  const Phase phase(*t_.ledger_, Cause::kEvaluation, Stage::kCeiling);
  const double per_step = t_.MeasureCeiling(*last_, seconds, &launch_cost_.emplace());
  result_.summary.ceiling_samples_per_second =
      static_cast<double>(t_.config_.train.global_batch) / per_step;
}

void Trainer::Fitting::FillSummary() {
  FinishTrial();
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
  if (saver_ != nullptr) {
    saver_->Tell();
    summary.saves = saver_->stats();
  }
  // Here the account ends. All that is told of the run's end, wherever, is by these facts.
  ended_ = t_.ledger_->Report();
  const watch::RunFacts facts = Facts();
  summary.peak_device_bytes = facts.device_peak_bytes;
  result_.verdict = watch::Judge(facts);
  facts_ = facts;
  verdict_ = result_.verdict;
  if (folder_ != nullptr && saver_ != nullptr) folder_->WriteFacts(facts);
  summary.full = result_.verdict.full;
  summary.samples_per_second = result_.verdict.samples_per_second;
  summary.mfu = result_.verdict.mfu;
  summary.ceiling_samples_per_second = result_.verdict.ceiling_samples_per_second;
  summary.flops_per_sample = facts.flops_per_sample;
  summary.ledger = facts.ledger;
  double epochs = static_cast<double>(result_.epochs);
  if (steps_per_epoch_ > 0) {
    epochs += static_cast<double>(epoch_steps_) / static_cast<double>(steps_per_epoch_);
  }
  summary.cost = watch::CostOf(t_.config_.cost, facts.ledger, epochs);
  summary.input = facts.input;
  summary.bad_records = t_.bad_records_->count();
  summary.bad_record_messages = t_.bad_records_->messages();
  summary.communication_measured = facts.devices == 1;
  summary.verdict = result_.verdict.lines;
  summary.limit = result_.verdict.limit;
  summary.limit_stage = result_.verdict.stage;
  summary.kind = result_.verdict.kind;
  summary.advice = result_.verdict.advice;
  summary.predicted_gain = result_.verdict.predicted_gain;
  summary.facts = facts;
  summary.sessions = sessions_;
  summary.steps_per_launch = t_.steps_per_launch_;
  summary.devices = facts.devices;
  summary.device = facts.device_kind;
  summary.parameters = t_.model_.parameters();
  summary.peak_resident_bytes = PeakResidentBytes();
  const xla::CompileCache::Stats cache = t_.runtime_->cache().stats();
  summary.compiles = cache.misses;
  summary.compile_seconds = cache.compile_seconds;
}

data::EngineStats Trainer::Fitting::CurrentInput() const {
  // Those kept when it was stopped, or of the pipeline that is at work.
  return input_ended_ || input_ == nullptr ? input_stats_ : input_->stats();
}

data::EngineStats Trainer::Fitting::AllInput() const {
  return Together(earlier_input_, CurrentInput());
}

watch::InputFacts Trainer::Fitting::InputFacts() const { return FactsOf(AllInput()); }

watch::InputFacts Trainer::Fitting::FactsOf(const data::EngineStats& stats) const {
  watch::InputFacts facts;
  facts.workers = stats.workers;
  facts.workers_tuned = t_.config_.pipeline.worker_threads() == 0;
  facts.depth = stats.depth;
  facts.depth_tuned = t_.config_.pipeline.prefetch_depth() == 0;
  facts.idle = stats.full;
  facts.busy = stats.busy;
  facts.cpu = stats.cpu;
  facts.queued = stats.queued;
  if (stats.items > 0) facts.queue_fill = stats.fill;
  for (const auto& [name, time] : stats.stages) {
    facts.stages.push_back({name, time.seconds, time.records, time.bytes});
  }
  std::sort(facts.stages.begin(), facts.stages.end(),
            [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  facts.decisions = stats.decisions;
  return facts;
}

}  // namespace flatout::train
