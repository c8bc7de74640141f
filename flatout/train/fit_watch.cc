// What a run is watched by: samples of devices and host, the times of its steps, what the card's
// data sheet promises; and the facts that a verdict is made from.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "flatout/base/cgroup.h"
#include "flatout/base/clock.h"
#include "flatout/base/process.h"
#include "flatout/plan/estimate.h"
#include "flatout/train/fitting.h"
#include "flatout/xla/cards.h"
#include "flatout/xla/cuda_driver.h"

namespace flatout::train {
namespace {

using watch::Cause;

// A launch without steps is tried that often.
constexpr int kEmptyLaunches = 5;
constexpr size_t kLeastReplays = 3;  // of one with steps
// Facts and verdict are made anew no more often than that.
constexpr double kJudgeSeconds = 1;

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The devices' names for NVML; "" where the driver does not tell. Empty: no devices of NVIDIA's.
std::vector<std::string> Uuids(Runtime& runtime) {
  std::vector<std::string> uuids;
  if (!xla::IsCudaPlugin(runtime.client().plugin())) return uuids;
  const xla::CudaDriver driver = xla::ReadCudaDriver();
  for (const xla::Device& device : runtime.devices()) {
    std::string& uuid = uuids.emplace_back();
    for (const xla::CudaDevice& known : driver.devices) {
      if (known.ordinal == device.local_hardware_id()) uuid = known.uuid;
    }
  }
  return uuids;
}

// The parts of a step by the data sheet of the devices' card; nothing where no card is known.
std::optional<watch::Roofline> RooflineOf(const ir::Graph& program, const xla::Card& card,
                                          int64_t devices, double rows, double flops_per_sample,
                                          ir::DType compute) {
  const plan::StepWork work = plan::MeasureWork(program);
  plan::StepQuestion question;
  question.card = &card;
  question.gpus = devices;
  question.samples = rows;
  question.flops_per_sample = flops_per_sample;
  question.compute = compute;
  const plan::StepEstimate estimate = plan::EstimateStep(work, question);
  watch::Roofline roofline;
  roofline.arithmetic = estimate.arithmetic;
  roofline.memory = estimate.memory;
  roofline.launches = estimate.launches;
  roofline.all_reduce = estimate.all_reduce;
  const double now = card.MatmulPeak(compute), bf16 = card.MatmulPeak(ir::DType::kBF16);
  if (compute == ir::DType::kF32 && now > 0 && bf16 > now) roofline.bf16_speedup = bf16 / now;
  if (!std::isfinite(roofline.step()) || roofline.step() <= 0) return std::nullopt;
  return roofline;
}

}  // namespace

void Trainer::Fitting::BeginWatching() {
  watch::SamplerOptions options;
  options.seconds = t_.config_.watch.sample_seconds;
  options.uuids = Uuids(*t_.runtime_);
  sampler_ = std::make_unique<watch::Sampler>(std::move(options));
  host_at_start_ = watch::SampleHost();
  cores_ = host_at_start_.usable_cores;
  epochs_at_start_ = result_.epochs;
  launch_ledger_ = t_.ledger_->Report();
  BeginWindow();
  BeginStretch("");
  const std::string& kind = t_.runtime_->devices()[0].kind();
  if (const xla::Card* card = xla::CardOfDevice(kind)) {
    const double rows = static_cast<double>(t_.rows_);
    roofline_ = RooflineOf(*t_.train_program_.graph, *card, t_.runtime_->replicas(),
                           rows * static_cast<double>(t_.runtime_->replicas()),
                           t_.model_flops_ / rows, t_.policy_.compute);
  }
}

void Trainer::Fitting::NoteLaunch(const Launch& launch, const watch::LedgerReport& now) {
  step_times_.Add(result_.steps - launch.steps + 1, launch.steps, now.Since(launch_ledger_));
  launch_ledger_ = now;
}

watch::RunFacts Trainer::Fitting::Facts() const {
  watch::RunFacts facts;
  facts.ledger = Ledger();
  facts.steps = result_.steps;
  facts.samples = result_.samples;
  facts.launches = launches_;
  facts.steps_per_launch = t_.steps_per_launch_;
  facts.steps_per_epoch = std::max<int64_t>(steps_per_epoch_, 0);
  facts.input = InputFacts();
  facts.cores = cores_;
  facts.devices = static_cast<int>(t_.runtime_->replicas());
  facts.device_is_cpu = t_.runtime_->client().is_cpu();
  facts.device_kind = t_.runtime_->devices()[0].kind();
  facts.flops_per_sample = t_.model_flops_ / static_cast<double>(t_.rows_);
  facts.compute_dtype = std::string(ir::Name(t_.policy_.compute));
  if (const xla::Card* card = xla::CardOfDevice(facts.device_kind)) {
    if (const double peak = card->MatmulPeak(t_.policy_.compute); peak > 0) {
      facts.peak_flops = peak * static_cast<double>(facts.devices);
      facts.card = card->title;
    }
  }
  if (result_.summary.plan) facts.planned_bytes = result_.summary.plan->bytes();
  for (const xla::Device& device : t_.runtime_->devices()) {
    const auto memory = device.memory_stats();
    if (!memory || !memory->peak_bytes_in_use) continue;
    facts.device_peak_bytes =
        std::max(facts.device_peak_bytes.value_or(0), *memory->peak_bytes_in_use);
  }
  if (const int64_t peak = PeakResidentBytes(); peak >= 0) facts.process_peak_bytes = peak;
  facts.skipped_steps = result_.skipped_steps;
  facts.loss_scale = last_scale_;
  facts.ceiling_samples_per_second = result_.summary.ceiling_samples_per_second;
  facts.launch_cost = launch_cost_;
  facts.roofline = roofline_;
  facts.replica_busy = t_.ledger_->ReplicaBusy();
  if (sampler_ != nullptr) {
    facts.device_use = sampler_->total();
    facts.why_no_device_use = sampler_->latest().why_no_devices;
    const watch::HostSample host = watch::SampleHost();
    facts.cpu_seconds = host.cpu_seconds - host_at_start_.cpu_seconds;
    if (host.throttled_seconds && host_at_start_.throttled_seconds) {
      facts.throttled_seconds = *host.throttled_seconds - *host_at_start_.throttled_seconds;
    }
  }
  if (saver_ != nullptr) {
    const Saver::Stats stats = saver_->stats();
    facts.checkpoint.saves = stats.saves;
    facts.checkpoint.automatic = t_.config_.checkpoint.saves_automatically();
    if (stats.saves > 0) facts.checkpoint.automatic_seconds = stats.automatic_seconds;
  }
  facts.checkpoint.automatic |= chose_interval_;
  facts.evaluation.validations = validations_;
  facts.evaluation.epochs = std::max<int64_t>(result_.epochs - epochs_at_start_, validations_);
  facts.evaluation.every = t_.sources_.validation != nullptr ? t_.config_.train.evaluate_every : 0;
  facts.compiles = t_.runtime_->cache().stats().misses;
  facts.step_times.median = step_times_.Quantile(0.5);
  facts.step_times.p99 = step_times_.Quantile(0.99);
  if (const auto& slowest = step_times_.slowest()) {
    facts.step_times.slowest_step = slowest->step;
    facts.step_times.slowest_seconds = slowest->seconds;
    facts.step_times.slowest_cause = watch::Name(slowest->cause);
  }
  facts.part = JudgedPart(facts);
  return facts;
}

void Trainer::Fitting::CloseInterval(Progress& progress) {
  const watch::LedgerReport now = ProcessLedger();
  progress.ledger = now.Since(interval_ledger_);
  interval_ledger_ = now;
  if (sampler_ != nullptr) progress.device_use = sampler_->TakeInterval();
  // Short epochs may follow each other faster than that is worth.
  if (!ended_ && SteadySeconds() - judged_ >= kJudgeSeconds) {
    facts_ = Facts();
    verdict_ = watch::Judge(facts_);
    if (folder_ != nullptr) folder_->WriteFacts(facts_);
    judged_ = SteadySeconds();
  }
  progress.facts = facts_;
  progress.verdict = verdict_;
}

void Trainer::Fitting::LogEnd() {
  if (folder_ == nullptr) return;
  Progress progress = MakeProgress();
  CloseInterval(progress);
  Fields fields = {{"step", static_cast<double>(progress.step)},
                   {"wall_seconds", SecondsSinceProcessStart()}};
  AddWatched(progress, fields);
  folder_->Log("end", fields);
}

void Trainer::Fitting::AddWatched(const Progress& progress, Fields& fields) {
  for (int i = 0; i < watch::kNumCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    // What is not measured is not told as 0.
    if (cause == Cause::kCommunication && t_.runtime_->replicas() > 1) continue;
    fields.emplace_back(fmt::format("seconds_{}", watch::Name(cause)), progress.ledger.of(cause));
  }
  for (int i = 1; i < watch::kNumStages; ++i) {
    const auto stage = static_cast<watch::Stage>(i);
    const double seconds = progress.ledger.of(stage);
    if (seconds <= 0) continue;
    fields.emplace_back(
        fmt::format("seconds_{}_{}", watch::Name(watch::CauseOf(stage)), watch::Name(stage)),
        seconds);
  }
  for (const watch::DeviceUse& use : progress.device_use) {
    const auto add = [&](const char* what, const std::optional<double>& value) {
      if (value) fields.emplace_back(fmt::format("device_{}_{}", use.device, what), *value);
    };
    add("kernel_active", use.utilization.mean());
    add("memory_active", use.memory_utilization.mean());
    add("memory_used_bytes", use.memory_used_bytes.max());
    add("power_watts", use.power_watts.mean());
    add("temperature_celsius", use.temperature_celsius.max());
    add("sm_clock_hertz", use.sm_clock_hertz.mean());
    add("pcie_sent_bytes_per_second", use.pcie_sent.mean());
    add("pcie_received_bytes_per_second", use.pcie_received.mean());
    add("nvlink_sent_bytes_per_second", use.nvlink_sent.mean());
    add("nvlink_received_bytes_per_second", use.nvlink_received.mean());
    if (use.ecc_uncorrected) {
      add("uncorrected_errors", static_cast<double>(*use.ecc_uncorrected));
    }
    for (const auto& [reason, count] : use.clock_limits) {
      std::string name = reason;
      std::replace(name.begin(), name.end(), ' ', '_');
      add(("clock_limited_" + name).c_str(), use.limited_by(reason));
    }
  }
  const watch::HostSample& host = progress.sample.host;
  if (progress.sample.time > interval_sample_.time && interval_sample_.time > 0) {
    const watch::HostSample& before = interval_sample_.host;
    fields.emplace_back("cpu_cores_busy", (host.cpu_seconds - before.cpu_seconds) /
                                              (progress.sample.time - interval_sample_.time));
    if (host.throttled_seconds && before.throttled_seconds) {
      fields.emplace_back("cpu_throttled_seconds",
                          *host.throttled_seconds - *before.throttled_seconds);
    }
  }
  interval_sample_ = progress.sample;
}

double Trainer::MeasureCeiling(Launch& launch, double seconds, watch::LaunchCost* cost) {
  // Replaying changes the state; it is put back afterwards.
  const std::vector<std::vector<std::byte>> state = SnapshotState();
  const auto replay = [&] {
    const double begin = SteadySeconds();
    xla::Execution run;
    ExecuteTraining(launch, run);
    run.Await();
    return SteadySeconds() - begin;
  };
  std::vector<double> full, empty;
  const double begin = SteadySeconds();
  do {
    full.push_back(replay());
  } while (full.size() < kLeastReplays || SteadySeconds() - begin < seconds);
  const auto steps = static_cast<double>(launch.steps);
  const double all = SteadySeconds() - begin;
  // The same program runs any number of steps; without any it is what a launch costs.
  const int64_t real_steps = std::exchange(launch.steps, 0);
  replay();  // the argument "no steps" has to reach the device first
  for (int i = 0; i < kEmptyLaunches; ++i) empty.push_back(replay());
  launch.steps = real_steps;
  cost->per_launch = Median(empty);
  cost->per_step = std::max(Median(full) - cost->per_launch, 0.0) / steps;
  const double per_step = all / (steps * static_cast<double>(full.size()));
  UploadState(state);
  return per_step;
}

}  // namespace flatout::train
