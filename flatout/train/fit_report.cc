// What Fit tells of a run: progress, lines of metrics.jsonl, the ceiling, the summary.
#include <algorithm>
#include <cmath>

#include "flatout/base/cgroup.h"
#include "flatout/base/clock.h"
#include "flatout/base/process.h"
#include "flatout/train/fitting.h"
#include "flatout/xla/cards.h"

namespace flatout::train {
namespace {

// Progress is shown no more often than that.
constexpr double kProgressSeconds = 0.1;

}  // namespace

using watch::Cause;
using watch::Phase;

watch::LedgerReport Trainer::Fitting::Ledger() const {
  watch::LedgerReport all = t_.ledger_->Report();
  for (int i = 0; i < watch::kNumCauses; ++i) all.seconds[i] += earlier_ledger_.seconds[i];
  all.wall += earlier_ledger_.wall;
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

void Trainer::Fitting::Report() {
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
  interval_ledger_ = t_.ledger_->Report();
  interval_input_ = input_->stats();
}

void Trainer::Fitting::LogToFolder(const Progress& progress) {
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

void Trainer::Fitting::AddInput(Fields& fields) {
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

void Trainer::Fitting::MeasureCeiling() {
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

void Trainer::Fitting::FillSummary() {
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

watch::InputFacts Trainer::Fitting::InputFacts() const {
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

}  // namespace flatout::train
