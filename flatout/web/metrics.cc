#include "flatout/web/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include "flatout/base/error.h"

namespace flatout::web {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using watch::kNumCauses;
using watch::RunStatus;

// Series of one metric at most: a run with more metrics, stages or devices than that shows the
// first ones.
constexpr size_t kMostSeries = 64;
// Characters of a label's value at most.
constexpr size_t kLongestLabel = 128;

constexpr const char* kStates[] = {"starting", "training", "evaluating",
                                   "done",     "stopped",  "failed"};

double UnixNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

using Labels = std::vector<ClientMetric::Label>;

// Metric families in the order of AllMetrics.
class Families {
 public:
  Families() {
    for (const MetricInfo& info : AllMetrics()) {
      MetricFamily& family = families_.emplace_back();
      family.name = info.name;
      family.help = info.help;
      family.type = info.type == "counter" ? MetricType::Counter : MetricType::Gauge;
    }
  }

  void Set(const std::string& name, double value, Labels labels = {}) {
    MetricFamily& family = Find(name);
    if (family.metric.size() >= kMostSeries) return;
    ClientMetric& metric = family.metric.emplace_back();
    for (ClientMetric::Label& label : labels) {
      if (label.value.size() > kLongestLabel) label.value.resize(Cut(label.value));
    }
    metric.label = std::move(labels);
    if (family.type == MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
  }
  void Set(const std::string& name, const std::optional<double>& value, Labels labels = {}) {
    if (value) Set(name, *value, std::move(labels));
  }
  void Set(const std::string& name, const std::optional<int64_t>& value, Labels labels = {}) {
    if (value) Set(name, static_cast<double>(*value), std::move(labels));
  }
  void Set(const std::string& name, int64_t value, Labels labels = {}) {
    Set(name, static_cast<double>(value), std::move(labels));
  }

  std::string Text() const {
    std::vector<MetricFamily> known;
    for (const MetricFamily& family : families_) {
      if (!family.metric.empty()) known.push_back(family);
    }
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, known);
    return out.str();
  }

 private:
  // Not within a character.
  static size_t Cut(const std::string& text) {
    size_t end = kLongestLabel;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return end;
  }

  MetricFamily& Find(const std::string& name) {
    const auto found = std::find_if(families_.begin(), families_.end(),
                                    [&](const MetricFamily& f) { return f.name == name; });
    if (found == families_.end()) throw Internal("there is no metric {}", name);
    return *found;
  }

  std::vector<MetricFamily> families_;
};

}  // namespace

const std::vector<MetricInfo>& AllMetrics() {
  static const std::vector<MetricInfo> all = {
      {"flatout_run_info", "gauge", "run, device, model, optimizer, precision, version",
       "What is being trained, and on what; always 1."},
      {"flatout_run_state", "gauge", "state", "1 for the state that the run is in, 0 for others."},
      {"flatout_last_progress_timestamp_seconds", "gauge", "",
       "When the last step was done, in seconds since 1970."},
      {"flatout_step", "gauge", "", "Updates of the weights since the run began."},
      {"flatout_planned_steps", "gauge", "", "Updates that the whole run will have."},
      {"flatout_epoch", "gauge", "", "Epoch under way, counted from 1."},
      {"flatout_planned_epochs", "gauge", "", "Epochs that the whole run will have."},
      {"flatout_eta_seconds", "gauge", "", "Time left, by the pace of late."},
      {"flatout_steps_total", "counter", "", "Updates of the weights by this process."},
      {"flatout_samples_total", "counter", "", "Records trained on by this process."},
      {"flatout_skipped_steps", "gauge", "", "Steps that the loss scale skipped in this run."},
      {"flatout_samples_per_second", "gauge", "", "Records trained on per second of late."},
      {"flatout_loss", "gauge", "", "Training loss, mean over the epoch so far."},
      {"flatout_metric", "gauge", "metric",
       "The run file's metrics on training data, over the epoch so far."},
      {"flatout_validation_loss", "gauge", "", "Loss of the last validation."},
      {"flatout_validation_metric", "gauge", "metric", "Metrics of the last validation."},
      {"flatout_learning_rate", "gauge", "", "Learning rate of the last step."},
      {"flatout_loss_scale", "gauge", "", "Loss scale of the last step."},
      {"flatout_full_ratio", "gauge", "",
       "Share of the training time of late in which the device ran training steps."},
      {"flatout_run_full_ratio", "gauge", "", "The same over the whole run."},
      {"flatout_mfu_ratio", "gauge", "",
       "Model FLOPs utilisation over the run, of the card's dense peak; absent if that is "
       "unknown."},
      {"flatout_limiting_cause", "gauge", "cause",
       "1 for the cause that limits the run by the verdict so far, 0 for others."},
      {"flatout_time_seconds_total", "counter", "cause",
       "Wall time of this process by cause; the causes add up to it."},
      {"flatout_input_workers", "gauge", "", "Threads of the input pipeline."},
      {"flatout_input_queue_fill_ratio", "gauge", "",
       "How full the queue in front of the device was when it asked, mean over the run."},
      {"flatout_input_queue_bytes", "gauge", "", "Memory of the input that is made ahead."},
      {"flatout_input_queue_limit_bytes", "gauge", "", "Memory that it may take."},
      {"flatout_input_wait_seconds_total", "counter", "", "Time that training waited for input."},
      {"flatout_input_stage_seconds_total", "counter", "stage",
       "Time of all input threads in each stage."},
      {"flatout_input_stage_records_total", "counter", "stage", "Records that each stage did."},
      {"flatout_input_stage_bytes_total", "counter", "stage", "Bytes that each stage read."},
      {"flatout_bad_records", "gauge", "", "Different bad records left out in this run."},
      {"flatout_device_memory_used_bytes", "gauge", "device", "Memory of a device in use."},
      {"flatout_device_memory_limit_bytes", "gauge", "device", "Memory of a device in all."},
      {"flatout_device_memory_peak_bytes", "gauge", "device", "Most memory that was in use."},
      {"flatout_device_memory_planned_bytes", "gauge", "", "Memory of one device by the plan."},
      {"flatout_device_kernel_active_ratio", "gauge", "device",
       "Share of the time in which some kernel ran, by the driver; no measure of how full the "
       "device was, see flatout_full_ratio."},
      {"flatout_device_power_watts", "gauge", "device", "Power that a device draws."},
      {"flatout_device_power_limit_watts", "gauge", "device", "Power that it may draw."},
      {"flatout_device_temperature_celsius", "gauge", "device", "Temperature of a device."},
      {"flatout_device_clock_hertz", "gauge", "device", "Clock of its processors."},
      {"flatout_device_throttled", "gauge", "device",
       "1 where a device runs below its clock, for heat, power or the like."},
      {"flatout_device_uncorrected_errors", "gauge", "device",
       "Memory errors that ECC could not correct since the driver was loaded."},
      {"flatout_checkpoint_saves_total", "counter", "", "Snapshots written by this process."},
      {"flatout_checkpoint_failures_total", "counter", "", "Snapshots that could not be written."},
      {"flatout_checkpoint_last_step", "gauge", "", "Step of the newest snapshot on the disk."},
      {"flatout_checkpoint_age_seconds", "gauge", "",
       "Time since the newest snapshot, or since the process started while there is none."},
      {"flatout_checkpoint_interval_seconds", "gauge", "",
       "Time between snapshots, where Flatout chooses it."},
      {"flatout_checkpoint_size_bytes", "gauge", "", "Size of the newest snapshot."},
      {"flatout_checkpoint_blocked_seconds_total", "counter", "",
       "Time for which training stood still for snapshots."},
      {"flatout_checkpoint_write_seconds_total", "counter", "",
       "Time of writing snapshots beside training."},
      {"flatout_run_folder_free_bytes", "gauge", "", "Free space of the run folder's disk."},
      {"flatout_run_folder_size_bytes", "gauge", "", "Size of that disk."},
      {"flatout_compiles", "gauge", "", "Programs that were compiled, not taken from the cache."},
      {"flatout_compile_seconds_total", "counter", "", "Time of compiling them."},
      {"flatout_cpu_usable_cores", "gauge", "", "Cores that the process may use."},
      {"flatout_cpu_throttled_seconds_total", "counter", "",
       "Core-seconds by which the CPU quota held the process back."},
      {"flatout_cost", "gauge", "currency", "Cost of the run so far."},
      {"flatout_cost_per_hour", "gauge", "currency", "Price of an hour, from the run file."},
      {"flatout_cost_per_epoch", "gauge", "currency", "Cost of an epoch in the mean."},
      {"flatout_cost_by_cause", "gauge", "cause, currency", "Cost of the run so far by cause."},
      {"process_cpu_seconds_total", "counter", "", "Total user and system CPU time spent."},
      {"process_resident_memory_bytes", "gauge", "", "Resident memory size."},
      {"process_start_time_seconds", "gauge", "", "Start time of the process since 1970."},
  };
  return all;
}

double MetricsWriter::Rising(const std::string& key, double value) {
  double& highest = highest_.try_emplace(key, 0).first->second;
  highest = std::max(highest, value);
  return highest;
}

std::string MetricsWriter::Write(const RunStatus& status) {
  const std::lock_guard lock(mutex_);
  const double now = UnixNow();
  Families all;
  all.Set("flatout_run_info", 1.0,
          {{"run", status.name},
           {"device", status.device},
           {"model", status.model},
           {"optimizer", status.optimizer},
           {"precision", status.precision},
           {"version", "0.1.0"}});
  for (const char* state : kStates) {
    all.Set("flatout_run_state", status.state == state ? 1.0 : 0.0, {{"state", state}});
  }
  // Ages come from a clock that never jumps; only here do they become moments of the wall clock.
  if (status.progress_age_seconds) {
    all.Set("flatout_last_progress_timestamp_seconds", now - *status.progress_age_seconds);
  }
  all.Set("flatout_step", status.step);
  all.Set("flatout_planned_steps", status.steps_in_all());
  if (status.epoch > 0) all.Set("flatout_epoch", status.epoch);
  if (status.epochs > 0) all.Set("flatout_planned_epochs", status.epochs);
  all.Set("flatout_eta_seconds", status.eta_seconds);
  all.Set("flatout_steps_total", status.process_steps);
  all.Set("flatout_samples_total", status.process_samples);
  all.Set("flatout_skipped_steps", status.skipped_steps);
  all.Set("flatout_samples_per_second", status.samples_per_second);
  all.Set("flatout_loss", status.loss);
  for (const auto& [name, value] : status.metrics) {
    all.Set("flatout_metric", value, {{"metric", name}});
  }
  for (const auto& [name, value] : status.last_epoch) {
    if (name == "val_loss") {
      all.Set("flatout_validation_loss", value);
    } else if (name.starts_with("val_")) {
      all.Set("flatout_validation_metric", value, {{"metric", name.substr(4)}});
    }
  }
  all.Set("flatout_learning_rate", status.learning_rate);
  all.Set("flatout_loss_scale", status.loss_scale);
  all.Set("flatout_full_ratio", status.full);
  all.Set("flatout_run_full_ratio", status.run_full);
  all.Set("flatout_mfu_ratio", status.mfu);
  for (int i = 0; i < kNumCauses; ++i) {
    const auto cause = static_cast<watch::Cause>(i);
    const std::string name(Name(cause));
    if (status.limit) {
      all.Set("flatout_limiting_cause", *status.limit == name ? 1.0 : 0.0, {{"cause", name}});
    }
    if (cause == watch::Cause::kCommunication && !status.communication_measured) continue;
    if (!status.ledger_known) continue;
    all.Set("flatout_time_seconds_total", Rising("time/" + name, status.process_ledger.seconds[i]),
            {{"cause", name}});
  }
  if (status.input_known) {
    all.Set("flatout_input_workers", static_cast<int64_t>(status.input.workers));
    all.Set("flatout_input_queue_fill_ratio", status.input.queue_fill);
    all.Set("flatout_input_queue_bytes", status.queue_bytes);
    if (status.queue_budget_bytes > 0) {
      all.Set("flatout_input_queue_limit_bytes", status.queue_budget_bytes);
    }
    all.Set("flatout_input_wait_seconds_total", Rising("wait", status.input_wait_seconds));
    for (const watch::InputStage& stage : status.input.stages) {
      const Labels label = {{"stage", stage.name}};
      all.Set("flatout_input_stage_seconds_total", Rising("stage/" + stage.name, stage.seconds),
              label);
      // Of a transfer nobody counts the records.
      if (stage.records > 0) all.Set("flatout_input_stage_records_total", stage.records, label);
      if (stage.bytes > 0) all.Set("flatout_input_stage_bytes_total", stage.bytes, label);
    }
  }
  all.Set("flatout_bad_records", status.bad_records);
  for (const watch::DeviceStatus& device : status.devices) {
    const Labels label = {{"device", std::to_string(device.index)}};
    all.Set("flatout_device_memory_used_bytes", device.memory_used_bytes, label);
    all.Set("flatout_device_memory_limit_bytes", device.memory_limit_bytes, label);
    all.Set("flatout_device_memory_peak_bytes", device.memory_peak_bytes, label);
    all.Set("flatout_device_kernel_active_ratio", device.kernel_active, label);
    all.Set("flatout_device_power_watts", device.power_watts, label);
    all.Set("flatout_device_power_limit_watts", device.power_limit_watts, label);
    all.Set("flatout_device_temperature_celsius", device.temperature_celsius, label);
    all.Set("flatout_device_clock_hertz", device.clock_hertz, label);
    if (device.throttled) {
      all.Set("flatout_device_throttled", device.throttled->empty() ? 0.0 : 1.0, label);
    }
    all.Set("flatout_device_uncorrected_errors", device.uncorrected_errors, label);
  }
  all.Set("flatout_device_memory_planned_bytes", status.planned_bytes);
  const watch::CheckpointStatus& saves = status.checkpoints;
  all.Set("flatout_checkpoint_saves_total", saves.saved);
  all.Set("flatout_checkpoint_failures_total", saves.failed);
  all.Set("flatout_checkpoint_last_step", saves.last_step);
  all.Set("flatout_checkpoint_age_seconds", saves.age_seconds);
  all.Set("flatout_checkpoint_interval_seconds", saves.interval_seconds);
  if (saves.bytes > 0) all.Set("flatout_checkpoint_size_bytes", saves.bytes);
  all.Set("flatout_checkpoint_blocked_seconds_total", Rising("blocked", saves.blocked_seconds));
  all.Set("flatout_checkpoint_write_seconds_total", Rising("write", saves.write_seconds));
  all.Set("flatout_run_folder_free_bytes", status.disk_free_bytes);
  all.Set("flatout_run_folder_size_bytes", status.disk_bytes);
  all.Set("flatout_compiles", status.compiles);
  all.Set("flatout_compile_seconds_total", Rising("compile", status.compile_seconds));
  all.Set("flatout_cpu_usable_cores", status.usable_cores);
  if (status.throttled_seconds) {
    all.Set("flatout_cpu_throttled_seconds_total", Rising("throttled", *status.throttled_seconds));
  }
  if (const auto cost = status.cost(); cost && status.ledger_known) {
    const ClientMetric::Label currency{"currency", cost->currency};
    all.Set("flatout_cost", cost->total, {currency});
    all.Set("flatout_cost_per_hour", cost->per_hour, {currency});
    all.Set("flatout_cost_per_epoch", cost->per_epoch, {currency});
    for (int i = 0; i < kNumCauses; ++i) {
      all.Set("flatout_cost_by_cause", cost->by_cause[i],
              {{"cause", std::string(Name(static_cast<watch::Cause>(i)))}, currency});
    }
  }
  all.Set("process_cpu_seconds_total", Rising("cpu", status.cpu_seconds));
  all.Set("process_resident_memory_bytes", status.resident_bytes);
  if (status.uptime_seconds > 0) {
    all.Set("process_start_time_seconds", now - status.uptime_seconds);
  }
  return all.Text();
}

}  // namespace flatout::web
