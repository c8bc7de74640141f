#include "flatout/train/runtime.h"

#include <algorithm>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/process.h"
#include "flatout/base/text.h"

namespace flatout::train {
namespace {

// More logical CPU devices than this serve no purpose and cost threads.
constexpr int64_t kMostCpuDevices = 256;

}  // namespace

Runtime::Runtime(const TrainOptions& options) {
  plugin_ = xla::Plugin::Load(options.device);
  // "cuda:1" picks one device of the plugin; a path has no such part.
  std::optional<int64_t> ordinal;
  const size_t colon = options.device.rfind(':');
  if (colon != std::string::npos && options.device.find('/') == std::string::npos) {
    const std::string digits = options.device.substr(colon + 1);
    if (digits.empty() || digits.size() > 4 ||
        !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      throw Invalid("device \"{}\": after the colon comes the number of a device, as in \"cuda:0\"",
                    options.device);
    }
    ordinal = std::stoll(digits);
  }
  const bool all = options.devices.is_string();
  const int64_t wanted = all ? 0 : options.devices.AsInt();
  if (ordinal && (all || wanted > 1)) {
    throw options.devices.Complain(
        fmt::format("device \"{}\" names one device; it cannot be {} at once", options.device,
                    all ? "all" : std::to_string(wanted)));
  }
  ReadConfig(options.memory, memory_);
  xla::ClientOptions client_options;
  if (plugin_->name().starts_with("cuda")) client_options.memory = memory_;
  if (!plugin_->name().starts_with("cuda")) {
    // Logical CPU devices are made to order; "all" is one per usable core. A plugin under another
    // name may be for CPU too; one that is not has the devices it has.
    const int64_t count = all ? std::max<int64_t>(1, static_cast<int64_t>(ReadCgroup().cpu.usable))
                              : std::max(wanted, ordinal.value_or(0) + 1);
    if (count > kMostCpuDevices) {
      throw options.devices.Complain(fmt::format(
          "at most {} logical CPU devices make sense, found {}", kMostCpuDevices, count));
    }
    client_options.cpu_device_count = static_cast<int>(count);
  }
  client_ = xla::Client::Create(plugin_, client_options);
  const std::vector<xla::Device>& available = client_->devices();
  if (ordinal) {
    if (*ordinal >= static_cast<int64_t>(available.size())) {
      throw NotFound("device \"{}\": this machine has {} device{} of that kind, numbered from 0",
                     options.device, available.size(), available.size() == 1 ? "" : "s");
    }
    devices_ = {available[*ordinal]};
    PlanCpuMemory(options.memory);
    return;
  }
  if (!all && wanted > static_cast<int64_t>(available.size())) {
    throw options.devices.Complain(fmt::format("asks for {} devices of \"{}\", found {}", wanted,
                                               options.device, available.size()));
  }
  const auto count = all ? available.size() : static_cast<size_t>(wanted);
  devices_.assign(available.begin(), available.begin() + static_cast<int64_t>(count));
  PlanCpuMemory(options.memory);
}

void Runtime::PlanCpuMemory(const Config& asked) {
  if (!client_->is_cpu()) return;
  const int64_t usable = ReadCgroup().memory.usable;
  if (usable < 0) {
    cpu_limit_ = memory_.limit_bytes;
    return;
  }
  const int64_t whole = usable / replicas();
  cpu_limit_ = memory_.limit_bytes.value_or(
      static_cast<int64_t>(memory_.fraction.value_or(1) * static_cast<double>(whole)));
  if (*cpu_limit_ > whole) {
    throw asked.Complain(fmt::format(
        "a device may take {}, but this process may use {} for {} device{}; give at most {}",
        HumanBytes(*cpu_limit_), HumanBytes(usable), replicas(), replicas() == 1 ? "" : "s",
        HumanBytes(whole)));
  }
}

std::optional<int64_t> Runtime::memory_limit() const {
  if (client_->is_cpu()) return cpu_limit_;
  std::optional<int64_t> least;
  for (const xla::Device& device : devices_) {
    const auto stats = device.memory_stats();
    if (!stats || !stats->bytes_limit) return std::nullopt;
    least = std::min(least.value_or(INT64_MAX), *stats->bytes_limit);
  }
  return least;
}

std::optional<int64_t> Runtime::free_memory() const {
  if (client_->is_cpu()) {
    if (!cpu_limit_) return std::nullopt;
    const int64_t usable = ReadCgroup().memory.usable;
    const int64_t resident = std::max<int64_t>(0, ResidentBytes());
    if (usable < 0) return cpu_limit_;
    return std::min(*cpu_limit_, std::max<int64_t>(0, usable - resident) / replicas());
  }
  std::optional<int64_t> least;
  for (const xla::Device& device : devices_) {
    const auto stats = device.memory_stats();
    if (!stats || !stats->bytes_limit || !stats->bytes_in_use) return std::nullopt;
    least = std::min(least.value_or(INT64_MAX),
                     std::max<int64_t>(0, *stats->bytes_limit - *stats->bytes_in_use));
  }
  return least;
}

std::string Runtime::Describe() const {
  return fmt::format("{} x {} (plugin {}, PJRT {})", devices_.size(), devices_[0].kind(),
                     plugin_->name(), plugin_->version().ToString());
}

std::shared_ptr<xla::Executable> Runtime::Compile(const std::string& stablehlo) {
  xla::CompileOptions options;
  options.num_replicas = static_cast<int>(devices_.size());
  for (const xla::Device& device : devices_) options.device_ids.push_back(device.id());
  return cache_.Compile(*client_, stablehlo, options);
}

std::shared_ptr<xla::Executable> Runtime::CompileForOne(const std::string& stablehlo) {
  xla::CompileOptions options;
  options.device_ids = {devices_[0].id()};
  return cache_.Compile(*client_, stablehlo, options);
}

}  // namespace flatout::train
