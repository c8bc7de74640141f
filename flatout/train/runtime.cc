#include "flatout/train/runtime.h"

#include <fmt/format.h>

#include <algorithm>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/base/process.h"
#include "flatout/base/text.h"
#include "flatout/watch/nvml.h"

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
  const bool cuda = xla::IsCudaPlugin(*plugin_);
  xla::ClientOptions client_options;
  if (cuda) {
    // A client takes memory on each GPU it sees, so it sees no others.
    if (ordinal) client_options.visible_devices = {*ordinal};
    for (int64_t i = 0; !ordinal && i < wanted; ++i) client_options.visible_devices.push_back(i);
    const xla::CudaDriver driver = xla::ReadCudaDriver();
    const auto there = static_cast<int64_t>(driver.devices.size());
    if (there > 0 && ordinal && *ordinal >= there) {
      throw NotFound("device \"{}\": this machine has {} device{} of that kind, numbered from 0",
                     options.device, there, there == 1 ? "" : "s");
    }
    if (there > 0 && wanted > there) {
      throw options.devices.Complain(
          fmt::format("asks for {} devices of \"{}\", found {}", wanted, options.device, there));
    }
    client_options.memory = GpuOptions(driver, client_options.visible_devices, options.memory);
  } else {
    // Logical CPU devices are made to order; "all" is one per usable core. A plugin under another
    // name may be for CPU too; one that is not has the devices it has.
    const int64_t count = all ? std::max<int64_t>(1, static_cast<int64_t>(ReadCgroup().cpu.usable))
                              : std::max(wanted, ordinal.value_or(0) + 1);
    if (ordinal.value_or(0) >= kMostCpuDevices) {
      throw Invalid("device \"{}\": at most {} logical CPU devices make sense, numbered from 0",
                    options.device, kMostCpuDevices);
    }
    if (count > kMostCpuDevices) {
      throw options.devices.Complain(fmt::format(
          "at most {} logical CPU devices make sense, found {}", kMostCpuDevices, count));
    }
    client_options.cpu_device_count = static_cast<int>(count);
  }
  if (cuda) {
    CreateCudaClient(client_options);
  } else {
    client_ = xla::Client::Create(plugin_, client_options);
  }
  const std::vector<xla::Device>& available = client_->devices();
  if (ordinal && !cuda) {
    if (*ordinal >= static_cast<int64_t>(available.size())) {
      throw NotFound("device \"{}\": this machine has {} device{} of that kind, numbered from 0",
                     options.device, available.size(), available.size() == 1 ? "" : "s");
    }
    devices_ = {available[*ordinal]};
  } else {
    if (!all && wanted > static_cast<int64_t>(available.size())) {
      throw options.devices.Complain(fmt::format("asks for {} devices of \"{}\", found {}", wanted,
                                                 options.device, available.size()));
    }
    const auto count = all ? available.size() : static_cast<size_t>(wanted);
    devices_.assign(available.begin(), available.begin() + static_cast<int64_t>(count));
  }
  lowering_ = std::make_unique<kernels::Lowering>(*client_);
  if (cuda) {
    CheckGpuMemory(client_options.memory, options.memory);
  } else if (client_->is_cpu()) {
    PlanCpuMemory(options.memory);
  } else if (memory_ != xla::MemoryOptions{}) {
    throw options.memory.Complain(
        fmt::format("plugin {} is neither for CPU nor for CUDA; how much memory it takes cannot be "
                    "set. Leave the key out",
                    plugin_->name()));
  }
}

// ---- memory ----

xla::MemoryOptions Runtime::GpuOptions(const xla::CudaDriver& driver,
                                       const std::vector<int64_t>& ordinals, const Config& asked) {
  std::vector<xla::CudaDevice> chosen;
  for (const xla::CudaDevice& device : driver.devices) {
    if (ordinals.empty() ||
        std::find(ordinals.begin(), ordinals.end(), device.ordinal) != ordinals.end()) {
      chosen.push_back(device);
    }
  }
  if (chosen.empty()) return memory_;  // the client says what is wrong, or knows better
  const watch::NvmlReading nvml = watch::ReadNvml();
  xla::MemoryOptions given = memory_;
  // Without a cap, on cards that others use, what is left is taken: the smallest part of all cards.
  std::optional<double> part_left;
  for (const xla::CudaDevice& device : chosen) {
    GpuMemory gpu;
    gpu.label = fmt::format("cuda:{}", device.ordinal);
    gpu.uuid = device.uuid;
    gpu.total = device.total_bytes;
    if (memory_.limit_bytes && gpu.total > 0 && *memory_.limit_bytes > gpu.total) {
      throw asked.Complain(fmt::format("a cap of {} is more than {} ({}) has, which is {}",
                                       HumanBytes(*memory_.limit_bytes), gpu.label, device.name,
                                       HumanBytes(gpu.total)));
    }
    const watch::NvmlCard* card = nvml.Find(device.uuid);
    if (card != nullptr && card->free_bytes && gpu.total > 0) {
      gpu.others = watch::WhoUses(*card);
      const int64_t free = *card->free_bytes;
      const int64_t reserve = xla::GpuReserveBytes(gpu.total, static_cast<int>(chosen.size()));
      std::optional<int64_t> cap = memory_.limit_bytes;
      if (memory_.fraction) {
        cap = static_cast<int64_t>(*memory_.fraction * static_cast<double>(gpu.total));
      }
      const int64_t needed = cap.value_or(reserve);
      if (needed > free) {
        const std::string message = fmt::format(
            "{} ({}) has {} free of {}, but {}; it is used by {}", gpu.label, device.name,
            HumanBytes(free), HumanBytes(gpu.total),
            cap ? fmt::format("{} {}", HumanBytes(*cap),
                              memory_.grow ? "may be needed" : "are to be taken at once")
                : fmt::format("the driver and libraries alone may need {}", HumanBytes(reserve)),
            gpu.others.empty() ? "nobody that NVML shows" : gpu.others);
        if (!memory_.grow || !cap) {
          throw UserError(
              Code::kResourceExhausted,
              asked.Complain(message + ". End those programs, choose another GPU or a smaller cap")
                  .message());
        }
        LogWarning("{}: the run may end for lack of memory", message);
      }
      if (!cap && !memory_.grow && !gpu.others.empty()) {
        const double part = static_cast<double>(free - reserve) / static_cast<double>(gpu.total);
        part_left = std::min(part_left.value_or(1), std::max(part, 1e-3));
      }
    }
    gpus_.push_back(std::move(gpu));
  }
  // Cards nobody uses are still left their reserve.
  if (part_left) {
    if (const auto part = xla::GpuMemoryFraction(memory_, chosen)) {
      part_left = std::min(*part_left, static_cast<double>(*part));
    }
    given.fraction = part_left;
  }
  return given;
}

std::optional<int64_t> Runtime::Most(size_t i) const {
  if (memory_.limit_bytes) return memory_.limit_bytes;
  if (!memory_.fraction || i >= gpus_.size() || gpus_[i].total == 0) return std::nullopt;
  return static_cast<int64_t>(*memory_.fraction * static_cast<double>(gpus_[i].total));
}

void Runtime::CreateCudaClient(xla::ClientOptions& options) {
  client_ = xla::Client::Create(plugin_, options);
  double excess = 1;
  for (size_t i = 0; i < client_->devices().size() && i < gpus_.size(); ++i) {
    const auto stats = client_->devices()[i].memory_stats();
    const std::optional<int64_t> most = Most(i);
    if (!stats || !stats->bytes_limit || !most) continue;
    excess =
        std::max(excess, static_cast<double>(*stats->bytes_limit) / static_cast<double>(*most));
  }
  // Nothing has been taken yet. A large excess means a plugin that does not listen.
  constexpr double kMostExcess = 1.05;
  if (excess <= 1 || excess > kMostExcess) return;
  double part = options.memory.fraction.value_or(1);
  if (options.memory.limit_bytes) {
    for (const GpuMemory& gpu : gpus_) {
      part = std::min(
          part, static_cast<double>(*options.memory.limit_bytes) / static_cast<double>(gpu.total));
    }
  }
  client_.reset();
  options.memory.limit_bytes.reset();
  constexpr double kBelow = 1 - 1e-6;  // what rounding may add
  options.memory.fraction = part / excess * kBelow;
  client_ = xla::Client::Create(plugin_, options);
}

void Runtime::CheckGpuMemory(const xla::MemoryOptions& given, const Config& asked) {
  // Where the driver said nothing, the plugin's own numbers are all there is.
  if (gpus_.size() != devices_.size()) {
    gpus_.assign(devices_.size(), GpuMemory{});
    for (size_t i = 0; i < devices_.size(); ++i) {
      gpus_[i].label = fmt::format("cuda:{}", devices_[i].local_hardware_id());
    }
  }
  for (size_t i = 0; i < devices_.size(); ++i) {
    GpuMemory& gpu = gpus_[i];
    const xla::Device& device = devices_[i];
    // The allocator takes its memory with the first array, so there has to be one.
    const float zero = 0;
    const xla::Buffer first =
        WithContext(fmt::format("taking memory on {} ({})", gpu.label, device.kind()), [&] {
          xla::Buffer buffer = client_->FromHost(&zero, ir::Shape::Scalar(ir::DType::kF32), device);
          buffer.ReadyEvent().Await();
          return buffer;
        });
    const std::optional<xla::DeviceMemoryStats> stats = device.memory_stats();
    const bool capped = memory_.fraction || memory_.limit_bytes;
    if (!stats || !stats->bytes_limit) {
      if (capped) {
        LogWarning(
            "plugin {} does not say how much memory it may take on {}; whether it keeps to "
            "{} cannot be checked",
            plugin_->name(), gpu.label, memory_.ToString());
      }
      continue;
    }
    gpu.limit = stats->bytes_limit;
    if (!memory_.grow && stats->pool_bytes && *stats->pool_bytes > 0) gpu.got = stats->pool_bytes;
    const std::optional<int64_t> most = Most(i);
    std::optional<int64_t> expected = most;
    if (!most && given.fraction && gpu.total > 0) {
      expected = static_cast<int64_t>(*given.fraction * static_cast<double>(gpu.total));
    }
    const int64_t taken = std::max(*gpu.limit, gpu.got.value_or(0));
    if (most && taken > *most) {
      throw UserError(
          Code::kFailedPrecondition,
          asked
              .Complain(fmt::format(
                  "the cap is {}, but plugin {} would take up to {} on {}; it does not keep to "
                  "memory_fraction. Use the plugin that flatout plugin install cuda13 brings",
                  HumanBytes(*most), plugin_->path(), HumanBytes(taken), gpu.label))
              .message());
    }
    // One part for all cards gives the smaller of different ones less than they could have.
    if (expected && *gpu.limit < *expected / 100 * 99) {
      LogWarning("{} ({}): {} of the {} asked for may be taken{}", gpu.label, device.kind(),
                 HumanBytes(*gpu.limit), HumanBytes(*expected),
                 devices_.size() > 1
                     ? "; a cap in bytes is the same part of each card's memory, and "
                       "these cards differ"
                     : "");
    }
    if (gpu.got && *gpu.got < *gpu.limit / 100 * 98) {
      LogWarning("{} ({}): {} were to be taken at once, but only {} could be had{}", gpu.label,
                 device.kind(), HumanBytes(*gpu.limit), HumanBytes(*gpu.got),
                 gpu.others.empty() ? "" : "; it is used by " + gpu.others);
    }
  }
}

void Runtime::PlanCpuMemory(const Config& asked) {
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
        "a cap of {} is more than a device has: this process may use {} for {} device{}{}",
        HumanBytes(*cpu_limit_), HumanBytes(usable), replicas(), replicas() == 1 ? "" : "s",
        replicas() == 1 ? "" : fmt::format(", {} each", HumanBytes(whole))));
  }
}

std::optional<int64_t> Runtime::memory_limit() const {
  if (client_->is_cpu()) return cpu_limit_;
  std::optional<int64_t> least;
  for (const xla::Device& device : devices_) {
    const size_t i = static_cast<size_t>(&device - devices_.data());
    std::optional<int64_t> bytes;
    if (i < gpus_.size()) {
      bytes = gpus_[i].got ? std::min(gpus_[i].got, gpus_[i].limit) : gpus_[i].limit;
    } else if (const auto stats = device.memory_stats()) {
      bytes = stats->bytes_limit;
    }
    if (!bytes) return std::nullopt;
    least = std::min(least.value_or(INT64_MAX), *bytes);
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
  // With `grow` the allocator still has to get its memory from the card.
  const watch::NvmlReading nvml =
      gpus_.empty() || !memory_.grow ? watch::NvmlReading{} : watch::ReadNvml();
  std::optional<int64_t> least;
  for (size_t i = 0; i < devices_.size(); ++i) {
    const auto stats = devices_[i].memory_stats();
    if (!stats || !stats->bytes_limit || !stats->bytes_in_use) return std::nullopt;
    int64_t limit = *stats->bytes_limit;
    if (i < gpus_.size() && gpus_[i].got) limit = std::min(limit, *gpus_[i].got);
    int64_t free = limit - *stats->bytes_in_use;
    const watch::NvmlCard* card = i < gpus_.size() ? nvml.Find(gpus_[i].uuid) : nullptr;
    if (card != nullptr && card->free_bytes) {
      const int64_t pool = stats->pool_bytes.value_or(*stats->bytes_in_use);
      free = std::min(free, std::max<int64_t>(0, pool - *stats->bytes_in_use) + *card->free_bytes);
    }
    least = std::min(least.value_or(INT64_MAX), std::max<int64_t>(0, free));
  }
  return least;
}

std::string Runtime::DescribeMemory() const {
  if (client_->is_cpu()) {
    if (!cpu_limit_ || (!memory_.fraction && !memory_.limit_bytes)) return "";
    return fmt::format("plans with {} a device, to which XLA does not hold on CPU",
                       HumanBytes(*cpu_limit_));
  }
  // Equal cards are described once.
  std::vector<std::string> texts;
  for (const GpuMemory& gpu : gpus_) {
    const std::optional<int64_t> bytes = gpu.got ? gpu.got : gpu.limit;
    std::string text = bytes ? HumanBytes(*bytes) : "unknown";
    if (gpu.total > 0) text += " of " + HumanBytes(gpu.total);
    if (!gpu.others.empty()) text += ", others there: " + gpu.others;
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  if (texts.empty()) return "";
  return fmt::format("memory: {}{}{}", fmt::join(texts, "; "), gpus_.size() > 1 ? " each" : "",
                     memory_.grow ? ", on demand" : "");
}

std::string Runtime::Describe() const {
  std::string more;
  if (client_->is_cpu()) more = "; " + lowering_->description();
  if (const std::string memory = DescribeMemory(); !memory.empty()) more += "; " + memory;
  return fmt::format("{} x {} (plugin {}, PJRT {}{})", devices_.size(), devices_[0].kind(),
                     plugin_->name(), plugin_->version().ToString(), more);
}

std::shared_ptr<xla::Executable> Runtime::Compile(const ir::Graph& graph) {
  xla::CompileOptions options;
  options.num_replicas = static_cast<int>(devices_.size());
  for (const xla::Device& device : devices_) options.device_ids.push_back(device.id());
  options.cache_salt = lowering_->cache_salt();
  return cache_.Compile(
      *client_, lowering_->ToStablehlo(graph, {.num_replicas = options.num_replicas}), options);
}

std::shared_ptr<xla::Executable> Runtime::CompileForOne(const ir::Graph& graph) {
  xla::CompileOptions options;
  options.device_ids = {devices_[0].id()};
  options.cache_salt = lowering_->cache_salt();
  return cache_.Compile(*client_, lowering_->ToStablehlo(graph), options);
}

}  // namespace flatout::train
