// The run as a whole so far, for observers that show it while it goes on: the live page,
// Prometheus.
#include "flatout/train/fitting.h"

namespace flatout::train {
namespace {

watch::DeviceStatus DeviceStatusOf(const watch::DeviceSample& sample) {
  watch::DeviceStatus status;
  status.index = sample.device;
  status.name = sample.name;
  if (sample.memory_used_bytes) {
    status.memory_used_bytes = static_cast<double>(*sample.memory_used_bytes);
  }
  if (sample.memory_total_bytes) {
    status.memory_limit_bytes = static_cast<double>(*sample.memory_total_bytes);
  }
  status.kernel_active = sample.utilization;
  status.power_watts = sample.power_watts;
  status.power_limit_watts = sample.power_limit_watts;
  status.temperature_celsius = sample.temperature_celsius;
  status.clock_hertz = sample.sm_clock_hertz;
  if (sample.pcie_sent && sample.pcie_received) {
    status.pcie_bytes_per_second = *sample.pcie_sent + *sample.pcie_received;
  }
  if (sample.nvlink_sent && sample.nvlink_received) {
    status.nvlink_bytes_per_second = *sample.nvlink_sent + *sample.nvlink_received;
  }
  status.uncorrected_errors = sample.ecc_uncorrected;
  status.throttled = sample.clock_limits;
  return status;
}

watch::CheckpointStatus CheckpointStatusOf(const Saver::Stats& stats) {
  watch::CheckpointStatus status;
  status.saved = stats.saves;
  status.failed = stats.failures;
  if (stats.last_step >= 0) status.last_step = stats.last_step;
  status.interval_seconds = stats.interval;
  status.bytes = static_cast<double>(stats.bytes);
  status.blocked_seconds = stats.blocked;
  status.slowed_seconds = stats.slowed;
  status.write_seconds = stats.write_seconds;
  status.error = stats.error;
  return status;
}

}  // namespace

RunDetails Trainer::Fitting::Details() {
  const data::EngineStats input = AllInput();
  RunDetails details;
  details.facts = ended_ ? result_.summary.facts : Facts();
  details.earlier_ledger = earlier_ledger_;
  details.sessions = sessions_;
  details.input_wait = input.wait;
  details.queue_bytes = input.bytes;
  details.queue_budget = input.budget;
  if (sampler_ != nullptr) {
    for (const watch::DeviceSample& sample : sampler_->latest().devices) {
      details.devices.push_back(DeviceStatusOf(sample));
    }
  }
  // What the device's allocator says is of this process alone; it comes where the driver says
  // nothing.
  const std::vector<xla::Device>& devices = t_.runtime_->devices();
  for (size_t i = 0; i < devices.size(); ++i) {
    if (details.devices.size() <= i) {
      watch::DeviceStatus& status = details.devices.emplace_back();
      status.index = static_cast<int>(i);
      status.name = devices[i].kind();
    }
    watch::DeviceStatus& status = details.devices[i];
    const auto memory = devices[i].memory_stats();
    if (!memory) continue;
    if (!status.memory_used_bytes && memory->bytes_in_use) {
      status.memory_used_bytes = static_cast<double>(*memory->bytes_in_use);
    }
    if (memory->peak_bytes_in_use) {
      status.memory_peak_bytes = static_cast<double>(*memory->peak_bytes_in_use);
    }
    if (!status.memory_limit_bytes && memory->bytes_limit) {
      status.memory_limit_bytes = static_cast<double>(*memory->bytes_limit);
    }
  }
  if (saver_ != nullptr) details.checkpoints = CheckpointStatusOf(saver_->stats());
  details.bad_records = t_.bad_records_->count();
  const xla::CompileCache::Stats cache = t_.runtime_->cache().stats();
  details.compiles = cache.misses;
  details.compile_seconds = cache.compile_seconds;
  return details;
}

}  // namespace flatout::train
