#include "flatout/watch/sampler.h"

#include <chrono>
#include <cstdlib>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/process.h"
#include "flatout/watch/nvml.h"

namespace flatout::watch {

void DeviceUse::Add(const DeviceSample& sample) {
  device = sample.device;
  if (!sample.name.empty()) name = sample.name;
  ++samples;
  utilization.Add(sample.utilization);
  memory_utilization.Add(sample.memory_utilization);
  if (sample.memory_used_bytes) {
    memory_used_bytes.Add(static_cast<double>(*sample.memory_used_bytes));
  }
  power_watts.Add(sample.power_watts);
  temperature_celsius.Add(sample.temperature_celsius);
  sm_clock_hertz.Add(sample.sm_clock_hertz);
  pcie_sent.Add(sample.pcie_sent);
  pcie_received.Add(sample.pcie_received);
  nvlink_sent.Add(sample.nvlink_sent);
  nvlink_received.Add(sample.nvlink_received);
  // What a driver says once stays known when it fails later.
  if (sample.memory_total_bytes) memory_total_bytes = sample.memory_total_bytes;
  if (sample.ecc_uncorrected) ecc_uncorrected = sample.ecc_uncorrected;
  if (sample.ecc_corrected) ecc_corrected = sample.ecc_corrected;
  if (sample.power_limit_watts) power_limit_watts = sample.power_limit_watts;
  if (sample.sm_clock_max_hertz) sm_clock_max_hertz = sample.sm_clock_max_hertz;
  if (sample.clock_limits) {
    ++clock_samples;
    for (const std::string& reason : *sample.clock_limits) ++clock_limits[reason];
  }
}

std::optional<double> DeviceUse::limited_by(const std::string& reason) const {
  if (clock_samples == 0) return std::nullopt;
  const auto found = clock_limits.find(reason);
  return found == clock_limits.end()
             ? 0
             : static_cast<double>(found->second) / static_cast<double>(clock_samples);
}

HostSample SampleHost(CgroupSource source) {
  HostSample sample;
  if (const char* root = std::getenv("FLATOUT_CGROUP_ROOT"); root != nullptr && *root != 0) {
    if (source.root.empty()) source.root = root;
  }
  sample.cpu_seconds = ProcessCpuSeconds();
  sample.throttled_seconds = ThrottledSeconds(source);
  if (const int64_t bytes = ResidentBytes(); bytes >= 0) sample.resident_bytes = bytes;
  const CpuLimit limit = ReadCgroup(source).cpu;
  sample.usable_cores = limit.usable;
  if (limit.quota > 0) sample.quota_cores = limit.quota;
  return sample;
}

struct Sampler::State {
  SamplerOptions options;
  NvmlProbe probe;
  mutable std::mutex mutex;
  std::condition_variable_any wake;
  Sample latest;
  std::vector<DeviceUse> total, interval;
  std::jthread thread;  // last: ends before what it uses

  void Take() {
    Sample sample;
    if (!options.uuids.empty()) {
      sample.devices = probe.Take(options.uuids);
      sample.why_no_devices = probe.why_not();
    }
    sample.host = SampleHost(options.cgroup);
    sample.time = SteadySeconds();
    const std::lock_guard lock(mutex);
    total.resize(sample.devices.size());
    interval.resize(sample.devices.size());
    for (size_t i = 0; i < sample.devices.size(); ++i) {
      total[i].Add(sample.devices[i]);
      interval[i].Add(sample.devices[i]);
    }
    latest = std::move(sample);
  }

  void Run(const std::stop_token& end) {
    const auto pause = std::chrono::duration<double>(options.seconds);
    auto next = std::chrono::steady_clock::now();
    while (!end.stop_requested()) {
      Take();
      // At a steady pace; a sample that took longer than that makes the next one late, not many.
      next = std::max(next + std::chrono::duration_cast<std::chrono::nanoseconds>(pause),
                      std::chrono::steady_clock::now());
      std::unique_lock lock(mutex);
      wake.wait_until(lock, end, next, [] { return false; });
    }
  }
};

Sampler::Sampler(SamplerOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  const auto known = [](const std::string& uuid) { return !uuid.empty(); };
  if (std::none_of(state_->options.uuids.begin(), state_->options.uuids.end(), known)) {
    state_->options.uuids.clear();
  }
  if (state_->options.seconds <= 0) return;
  State* state = state_.get();
  state_->thread = std::jthread([state](const std::stop_token& end) { state->Run(end); });
}

Sampler::~Sampler() = default;

Sample Sampler::latest() const {
  const std::lock_guard lock(state_->mutex);
  return state_->latest;
}

std::vector<DeviceUse> Sampler::total() const {
  const std::lock_guard lock(state_->mutex);
  return state_->total;
}

std::vector<DeviceUse> Sampler::TakeInterval() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->interval, {});
}

}  // namespace flatout::watch
