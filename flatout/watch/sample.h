// What devices and host are doing, as sampled beside a run, and what a stretch of a run comes to.
//
// Every figure may be unknown: a driver may not tell, a machine may have no card. Unknown is absent
// ("n/a" where it is shown), never 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace flatout::watch {

// One device at one moment.
struct DeviceSample {
  int device = 0;    // of the run, counted from 0
  std::string name;  // "NVIDIA H100 80GB HBM3"
  // Shares, 0..1, of the driver's last sampling period (1/6 s to 1 s): in which some kernel ran,
  // and in which device memory was read or written. "A kernel ran" is not "the device was full":
  // one busy thread makes it 1. Never to be shown or judged on its own (cases.md A31).
  std::optional<double> utilization, memory_utilization;
  std::optional<int64_t> memory_used_bytes, memory_total_bytes;  // of all processes
  std::optional<double> power_watts, power_limit_watts;
  std::optional<double> temperature_celsius;
  std::optional<double> sm_clock_hertz, sm_clock_max_hertz, memory_clock_hertz;
  // Why the clocks are lower than they could be: "power cap", "thermal", "hardware thermal",
  // "hardware slowdown", "power brake", "application clocks", "sync boost", "display clocks". Empty
  // and known: for no reason. An idle device is no reason.
  std::optional<std::vector<std::string>> clock_limits;
  std::optional<int64_t> ecc_uncorrected, ecc_corrected;  // errors since the driver was loaded
  // Bytes a second, all lanes or links together.
  std::optional<double> pcie_sent, pcie_received, nvlink_sent, nvlink_received;
};

// The process and its control group at one moment; the counters are since its start.
struct HostSample {
  double cpu_seconds = 0;  // of all threads
  // Core-seconds that the CPU quota held the control group back; nothing where nobody counts.
  std::optional<double> throttled_seconds;
  std::optional<int64_t> resident_bytes;
  int usable_cores = 1;
  std::optional<double> quota_cores;  // nothing without a quota
};

struct Sample {
  double time = 0;  // SteadySeconds(); 0: nothing was sampled yet
  std::vector<DeviceSample> devices;
  HostSample host;
  std::string why_no_devices;  // why nothing is known of them, or ""
};

// Many values of one figure.
struct Figure {
  int64_t count = 0;
  double sum = 0, least = 0, most = 0;

  void Add(double value) {
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    sum += value;
    ++count;
  }
  void Add(const std::optional<double>& value) {
    if (value) Add(*value);
  }
  std::optional<double> mean() const {
    return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
  }
  std::optional<double> max() const { return count > 0 ? std::optional(most) : std::nullopt; }
};

// One device over a stretch of time.
struct DeviceUse {
  int device = 0;
  std::string name;
  int64_t samples = 0;
  Figure utilization, memory_utilization, memory_used_bytes, power_watts, temperature_celsius,
      sm_clock_hertz, pcie_sent, pcie_received, nvlink_sent, nvlink_received;
  std::optional<int64_t> memory_total_bytes, ecc_uncorrected, ecc_corrected;
  std::optional<double> power_limit_watts, sm_clock_max_hertz;
  int64_t clock_samples = 0;                    // in which the reasons were known
  std::map<std::string, int64_t> clock_limits;  // samples by reason

  void Add(const DeviceSample& sample);
  // Share of the samples in which this held the clocks back; nothing where that is not known.
  std::optional<double> limited_by(const std::string& reason) const;
};

}  // namespace flatout::watch
