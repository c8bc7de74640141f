#include "flatout/watch/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>

#include "flatout/base/clock.h"
#include "flatout/base/text.h"

namespace flatout::watch {
namespace {

// The part of NVML's C interface that is used here (NVML API reference; nvml.h is not needed and is
// in no Debian package). Handles are opaque, results are ints, 0 is success.
using Handle = void*;
constexpr int kNotSupported = 3, kNoPermission = 4, kInsufficientSize = 7;

struct MemoryV1 {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24;
struct Utilization {
  unsigned gpu, memory;
};
struct Pci {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct ProcessV1 {
  unsigned pid;
  unsigned long long bytes;
};
struct ProcessV2 {  // also what the functions ending in _v3 fill
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned long long kUnknownBytes = ~0ULL;
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int result;
  union {
    double d;
    unsigned u;
    unsigned long u_long;
    unsigned long long u_long_long;
    long long s_long_long;
  } value;
};
// Bytes sent and received over all NVLinks of a card since some start, in KiB.
constexpr unsigned kNvlinkSent = 138, kNvlinkReceived = 139, kAllLinks = ~0U;
constexpr int kClockSm = 1, kClockMemory = 2;
constexpr int kPcieSent = 0, kPcieReceived = 1;
// Of so many Takes one asks for the traffic on PCIe.
constexpr int64_t kPcieEvery = 5;

struct ClockLimit {
  unsigned long long bit;
  const char* name;
};
// Bits of nvmlDeviceGetCurrentClocksEventReasons. 0x1, that the card is idle, limits nothing.
constexpr ClockLimit kClockLimits[] = {{0x2, "application clocks"}, {0x4, "power cap"},
                                       {0x8, "hardware slowdown"},  {0x10, "sync boost"},
                                       {0x20, "thermal"},           {0x40, "hardware thermal"},
                                       {0x80, "power brake"},       {0x100, "display clocks"}};

std::string Explain(int result) {
  switch (result) {
    case kNotSupported:
      return "the card does not support it";
    case kNoPermission:
      return "no permission; a container needs access to the GPU's device files";
    case 9:  // NVML_ERROR_DRIVER_NOT_LOADED
      return "the NVIDIA driver is installed but not loaded; its kernel module is missing or does "
             "not fit this kernel (see dmesg)";
    case 12:  // NVML_ERROR_LIBRARY_NOT_FOUND
      return "a library that NVML needs is missing; install the NVIDIA driver anew";
    case 13:  // NVML_ERROR_FUNCTION_NOT_FOUND
      return "this driver's NVML is too old for it";
    case 15:  // NVML_ERROR_GPU_IS_LOST
      return "the GPU has fallen off the bus; the machine must be restarted, and if it comes "
             "again, "
             "the card exchanged";
    case 16:  // NVML_ERROR_RESET_REQUIRED
      return "the GPU must be reset before it can be used (nvidia-smi --gpu-reset)";
    case 18:  // NVML_ERROR_LIB_RM_VERSION_MISMATCH
      return "the driver's library and its kernel module are of different versions; restart the "
             "machine after a driver update";
    default:
      return fmt::format("NVML error {}", result);
  }
}

class Nvml {
 public:
  // Loads and starts the library at `path`; never unloads it.
  explicit Nvml(const std::string& path) {
    library_ = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (library_ == nullptr) {
      const char* why = dlerror();
      why_not_ = fmt::format("no NVIDIA driver is installed here ({})",
                             why != nullptr ? why : path + " cannot be loaded");
      return;
    }
    if (!Has("nvmlInit_v2") && !Has("nvmlInit")) {
      why_not_ = path + " is not NVML: it lacks nvmlInit";
      return;
    }
    const int result = Has("nvmlInit_v2") ? Call("nvmlInit_v2") : Call("nvmlInit");
    if (result != 0) why_not_ = Explain(result);
  }

  const std::string& why_not() const { return why_not_; }
  bool Has(const char* name) { return Find(name) != nullptr; }

  // The function's result; 13 (function not found) where the library lacks it.
  template <typename... Args>
  int Call(const char* name, Args... args) {
    void* function = Find(name);
    if (function == nullptr) return 13;
    return reinterpret_cast<int (*)(Args...)>(function)(args...);
  }

 private:
  void* Find(const char* name) {
    const auto [at, is_new] = functions_.try_emplace(name, nullptr);
    if (is_new) at->second = dlsym(library_, name);
    return at->second;
  }

  void* library_ = nullptr;
  std::string why_not_;
  std::map<std::string, void*> functions_;
};

// The text that a function (..., char*, unsigned) gives, or "".
template <typename... Args>
std::string Text(Nvml& nvml, const char* name, Args... args) {
  std::array<char, 512> text{};
  const int result = nvml.Call(name, args..., text.data(), static_cast<unsigned>(text.size() - 1));
  return result == 0 ? std::string(text.data()) : "";
}

template <typename T>
std::optional<T> Number(Nvml& nvml, const char* name, Handle handle) {
  unsigned value = 0;
  if (nvml.Call(name, handle, &value) != 0) return std::nullopt;
  return static_cast<T>(value);
}

// The first of two, the mode that is in force now; the other comes with the next restart.
std::optional<bool> Mode(Nvml& nvml, const char* name, Handle handle) {
  unsigned current = 0, pending = 0;
  if (nvml.Call(name, handle, &current, &pending) != 0) return std::nullopt;
  return current == 1;
}

void ReadMemory(Nvml& nvml, Handle handle, NvmlCard& card) {
  MemoryV2 v2{};
  v2.version = kMemoryV2;
  if (nvml.Call("nvmlDeviceGetMemoryInfo_v2", handle, &v2) == 0) {
    card.total_bytes = static_cast<int64_t>(v2.total);
    card.reserved_bytes = static_cast<int64_t>(v2.reserved);
    card.free_bytes = static_cast<int64_t>(v2.free);
    // Drivers differ in whether `used` has the reserved part in it; what is neither free nor
    // reserved is programs'.
    card.used_bytes =
        std::max<int64_t>(0, *card.total_bytes - *card.reserved_bytes - *card.free_bytes);
    return;
  }
  MemoryV1 v1{};
  if (nvml.Call("nvmlDeviceGetMemoryInfo", handle, &v1) == 0) {
    card.total_bytes = static_cast<int64_t>(v1.total);
    card.free_bytes = static_cast<int64_t>(v1.free);
    card.used_bytes = static_cast<int64_t>(v1.used);
  }
}

std::string ProcessName(Nvml& nvml, unsigned pid) {
  std::string name = Text(nvml, "nvmlSystemGetProcessName", pid);
  if (name.empty()) {
    std::ifstream file(fmt::format("/proc/{}/comm", pid));
    std::getline(file, name);
  }
  // A command line or a path; the program's own name is what one looks for.
  name = name.substr(0, name.find(' '));
  return name.substr(name.rfind('/') + 1);
}

// Adds what one list of processes holds. Returns the function's result.
template <typename Process>
int ReadProcessList(Nvml& nvml, const char* name, Handle handle, NvmlCard& card) {
  std::vector<Process> list(16);
  int result = kInsufficientSize;
  // The number may grow between two calls.
  for (int tries = 0; tries < 8 && result == kInsufficientSize; ++tries) {
    auto count = static_cast<unsigned>(list.size());
    result = nvml.Call(name, handle, &count, list.data());
    if (result == kInsufficientSize) {
      list.resize(std::max<size_t>(count, list.size()) * 2);
    } else {
      list.resize(result == 0 ? std::min<size_t>(count, list.size()) : 0);
    }
  }
  for (const Process& found : list) {
    const bool known =
        std::any_of(card.processes.begin(), card.processes.end(),
                    [&](const NvmlProcess& process) { return process.pid == found.pid; });
    if (known) continue;  // one that computes and draws is in both lists
    NvmlProcess process;
    process.pid = found.pid;
    if (found.bytes != kUnknownBytes) process.bytes = static_cast<int64_t>(found.bytes);
    process.name = ProcessName(nvml, found.pid);
    card.processes.push_back(std::move(process));
  }
  return result;
}

int ReadProcessesOfKind(Nvml& nvml, const std::string& kind, Handle handle, NvmlCard& card) {
  const std::string base = "nvmlDeviceGet" + kind + "RunningProcesses";
  for (const char* version : {"_v3", "_v2"}) {
    if (!nvml.Has((base + version).c_str())) continue;
    return ReadProcessList<ProcessV2>(nvml, (base + version).c_str(), handle, card);
  }
  return ReadProcessList<ProcessV1>(nvml, base.c_str(), handle, card);
}

void ReadProcesses(Nvml& nvml, Handle handle, NvmlCard& card) {
  const int result = ReadProcessesOfKind(nvml, "Compute", handle, card);
  ReadProcessesOfKind(nvml, "Graphics", handle, card);
  if (nvml.Has("nvmlDeviceGetMPSComputeRunningProcesses_v3")) {
    ReadProcessesOfKind(nvml, "MPSCompute", handle, card);
  }
  if (result != 0 && card.processes.empty()) card.processes_why_not = Explain(result);
  std::stable_sort(card.processes.begin(), card.processes.end(),
                   [](const NvmlProcess& a, const NvmlProcess& b) {
                     return a.bytes.value_or(-1) > b.bytes.value_or(-1);
                   });
}

std::optional<int64_t> EccErrors(Nvml& nvml, Handle handle, int kind) {
  unsigned long long errors = 0;
  if (nvml.Call("nvmlDeviceGetTotalEccErrors", handle, kind, 0 /* since the driver was loaded */,
                &errors) != 0) {
    return std::nullopt;
  }
  return static_cast<int64_t>(errors);
}

NvmlCard ReadCard(Nvml& nvml, Handle handle, int index) {
  NvmlCard card;
  card.index = index;
  card.name = Text(nvml, "nvmlDeviceGetName", handle);
  card.uuid = Text(nvml, "nvmlDeviceGetUUID", handle);
  Pci pci{};
  if (nvml.Call("nvmlDeviceGetPciInfo_v3", handle, &pci) == 0) {
    card.pci_bus_id.assign(pci.bus_id, strnlen(pci.bus_id, sizeof(pci.bus_id)));
  }
  ReadMemory(nvml, handle, card);
  Utilization busy{};
  if (nvml.Call("nvmlDeviceGetUtilizationRates", handle, &busy) == 0) {
    card.busy_percent = static_cast<int>(busy.gpu);
    card.memory_busy_percent = static_cast<int>(busy.memory);
  }
  unsigned degrees = 0;
  if (nvml.Call("nvmlDeviceGetTemperature", handle, 0 /* of the chip */, &degrees) == 0) {
    card.temperature_c = static_cast<int>(degrees);
  }
  if (const auto milliwatts = Number<double>(nvml, "nvmlDeviceGetPowerUsage", handle)) {
    card.power_w = *milliwatts / 1000;
  }
  if (const auto milliwatts = Number<double>(nvml, "nvmlDeviceGetEnforcedPowerLimit", handle)) {
    card.power_limit_w = *milliwatts / 1000;
  }
  card.ecc = Mode(nvml, "nvmlDeviceGetEccMode", handle);
  card.uncorrected_errors = EccErrors(nvml, handle, /*kind=*/1);
  if (const auto mode = Number<int>(nvml, "nvmlDeviceGetPersistenceMode", handle)) {
    card.persistence = *mode == 1;
  }
  int major = 0, minor = 0;
  if (nvml.Call("nvmlDeviceGetCudaComputeCapability", handle, &major, &minor) == 0) {
    card.compute_major = major;
    card.compute_minor = minor;
  }
  if (const auto mode = Number<int>(nvml, "nvmlDeviceGetComputeMode", handle)) {
    constexpr std::array<const char*, 4> kModes = {"default", "exclusive thread", "prohibited",
                                                   "exclusive process"};
    if (*mode >= 0 && *mode < 4) card.compute_mode = kModes[static_cast<size_t>(*mode)];
  }
  ReadProcesses(nvml, handle, card);
  card.mig = Mode(nvml, "nvmlDeviceGetMigMode", handle);
  if (card.mig.value_or(false)) {
    const unsigned slots =
        Number<unsigned>(nvml, "nvmlDeviceGetMaxMigDeviceCount", handle).value_or(0);
    for (unsigned slot = 0; slot < slots; ++slot) {
      Handle slice = nullptr;
      if (nvml.Call("nvmlDeviceGetMigDeviceHandleByIndex", handle, slot, &slice) != 0) continue;
      NvmlCard part;
      part.index = static_cast<int>(slot);
      part.name = Text(nvml, "nvmlDeviceGetName", slice);
      part.uuid = Text(nvml, "nvmlDeviceGetUUID", slice);
      ReadMemory(nvml, slice, part);
      ReadProcesses(nvml, slice, part);
      card.slices.push_back(std::move(part));
    }
  }
  return card;
}

std::string_view WithoutPrefix(std::string_view uuid) {
  if (uuid.starts_with("GPU-") || uuid.starts_with("MIG-")) uuid.remove_prefix(4);
  return uuid;
}

// The library, started once per process: starting takes long, and the cards may be busy. The lock
// is for the table of functions: one caller at a time.
struct Opened {
  std::unique_lock<std::mutex> lock;
  Nvml* nvml;
};

Opened Open() {
  const char* set = std::getenv("FLATOUT_NVML_LIBRARY");
  const std::string path = set == nullptr || *set == 0 ? "libnvidia-ml.so.1" : set;
  static std::mutex mutex;
  static auto& started = *new std::map<std::string, std::unique_ptr<Nvml>>();
  std::unique_lock lock(mutex);
  std::unique_ptr<Nvml>& entry = started[path];
  // What failed may work later: a driver can be loaded while this runs.
  if (entry == nullptr || !entry->why_not().empty()) entry = std::make_unique<Nvml>(path);
  return {std::move(lock), entry.get()};
}

// Calls `visit` with the handle of each card and returns why there is none, or "". `failed` is
// told of cards that give no answer.
template <typename Visit, typename Failed>
std::string ForEachCard(Nvml& nvml, const Visit& visit, const Failed& failed) {
  if (!nvml.why_not().empty()) return nvml.why_not();
  const bool second = nvml.Has("nvmlDeviceGetCount_v2");
  unsigned count = 0;
  if (const int result = nvml.Call(second ? "nvmlDeviceGetCount_v2" : "nvmlDeviceGetCount", &count);
      result != 0) {
    return "the cards cannot be counted: " + Explain(result);
  }
  const char* get = nvml.Has("nvmlDeviceGetHandleByIndex_v2") ? "nvmlDeviceGetHandleByIndex_v2"
                                                              : "nvmlDeviceGetHandleByIndex";
  for (unsigned i = 0; i < count; ++i) {
    Handle handle = nullptr;
    if (const int result = nvml.Call(get, i, &handle); result != 0) {
      failed(i, result);
    } else {
      visit(handle, static_cast<int>(i));
    }
  }
  return count == 0 ? "the NVIDIA driver sees no card" : "";
}

std::optional<double> Clock(Nvml& nvml, const char* name, Handle handle, int kind) {
  unsigned megahertz = 0;
  if (nvml.Call(name, handle, kind, &megahertz) != 0) return std::nullopt;
  return 1e6 * megahertz;
}

std::optional<std::vector<std::string>> ClockLimits(Nvml& nvml, Handle handle) {
  unsigned long long bits = 0;
  // Drivers before 535 know the older name only.
  const char* name = nvml.Has("nvmlDeviceGetCurrentClocksEventReasons")
                         ? "nvmlDeviceGetCurrentClocksEventReasons"
                         : "nvmlDeviceGetCurrentClocksThrottleReasons";
  if (nvml.Call(name, handle, &bits) != 0) return std::nullopt;
  std::vector<std::string> reasons;
  for (const ClockLimit& limit : kClockLimits) {
    if ((bits & limit.bit) != 0) reasons.emplace_back(limit.name);
  }
  return reasons;
}

std::optional<double> PcieRate(Nvml& nvml, Handle handle, int direction) {
  unsigned kilobytes = 0;
  if (nvml.Call("nvmlDeviceGetPcieThroughput", handle, direction, &kilobytes) != 0) {
    return std::nullopt;
  }
  return 1e3 * kilobytes;
}

std::optional<double> NvlinkBytes(Nvml& nvml, Handle handle, unsigned field) {
  FieldValue value{};
  value.field = field;
  value.scope = kAllLinks;
  if (nvml.Call("nvmlDeviceGetFieldValues", handle, 1, &value) != 0 || value.result != 0) {
    return std::nullopt;
  }
  return 1024 * static_cast<double>(value.value.u_long_long);
}

// What NVML says of a card now, without its traffic.
DeviceSample SampleCard(Nvml& nvml, Handle handle) {
  DeviceSample sample;
  sample.name = Text(nvml, "nvmlDeviceGetName", handle);
  Utilization busy{};
  if (nvml.Call("nvmlDeviceGetUtilizationRates", handle, &busy) == 0) {
    sample.utilization = busy.gpu / 100.0;
    sample.memory_utilization = busy.memory / 100.0;
  }
  NvmlCard memory;
  ReadMemory(nvml, handle, memory);
  sample.memory_used_bytes = memory.used_bytes;
  sample.memory_total_bytes = memory.total_bytes;
  if (const auto milliwatts = Number<double>(nvml, "nvmlDeviceGetPowerUsage", handle)) {
    sample.power_watts = *milliwatts / 1000;
  }
  if (const auto milliwatts = Number<double>(nvml, "nvmlDeviceGetEnforcedPowerLimit", handle)) {
    sample.power_limit_watts = *milliwatts / 1000;
  }
  unsigned degrees = 0;
  if (nvml.Call("nvmlDeviceGetTemperature", handle, 0 /* of the chip */, &degrees) == 0) {
    sample.temperature_celsius = degrees;
  }
  sample.sm_clock_hertz = Clock(nvml, "nvmlDeviceGetClockInfo", handle, kClockSm);
  sample.sm_clock_max_hertz = Clock(nvml, "nvmlDeviceGetMaxClockInfo", handle, kClockSm);
  sample.memory_clock_hertz = Clock(nvml, "nvmlDeviceGetClockInfo", handle, kClockMemory);
  sample.clock_limits = ClockLimits(nvml, handle);
  sample.ecc_uncorrected = EccErrors(nvml, handle, 1);
  sample.ecc_corrected = EccErrors(nvml, handle, 0);
  return sample;
}

}  // namespace

std::vector<DeviceSample> NvmlProbe::Take(const std::vector<std::string>& uuids) {
  std::vector<DeviceSample> samples(uuids.size());
  for (size_t i = 0; i < uuids.size(); ++i) samples[i].device = static_cast<int>(i);
  const bool ask_pcie = takes_++ % kPcieEvery == 0;
  const Opened opened = Open();
  Nvml& nvml = *opened.nvml;
  size_t found = 0;
  std::string lost;
  // A slice of a card has its own uuid and few figures of its own.
  const auto take = [&](Handle handle) {
    const std::string uuid = Text(nvml, "nvmlDeviceGetUUID", handle);
    for (size_t i = 0; i < uuids.size(); ++i) {
      if (uuids[i].empty() || WithoutPrefix(uuids[i]) != WithoutPrefix(uuid)) continue;
      ++found;
      samples[i] = SampleCard(nvml, handle);
      samples[i].device = static_cast<int>(i);
      if (ask_pcie) {
        samples[i].pcie_sent = PcieRate(nvml, handle, kPcieSent);
        samples[i].pcie_received = PcieRate(nvml, handle, kPcieReceived);
      }
      const Traffic now{SteadySeconds(), NvlinkBytes(nvml, handle, kNvlinkSent),
                        NvlinkBytes(nvml, handle, kNvlinkReceived)};
      Traffic& before = nvlink_[uuids[i]];
      const double seconds = now.time - before.time;
      // A counter that went back was reset.
      const auto rate = [&](const std::optional<double>& a, const std::optional<double>& b) {
        return a && b && seconds > 0 && *b >= *a ? std::optional((*b - *a) / seconds)
                                                 : std::nullopt;
      };
      samples[i].nvlink_sent = rate(before.sent, now.sent);
      samples[i].nvlink_received = rate(before.received, now.received);
      before = now;
    }
  };
  why_not_ = ForEachCard(
      nvml,
      [&](Handle handle, int) {
        take(handle);
        if (!Mode(nvml, "nvmlDeviceGetMigMode", handle).value_or(false)) return;
        const unsigned slots =
            Number<unsigned>(nvml, "nvmlDeviceGetMaxMigDeviceCount", handle).value_or(0);
        for (unsigned slot = 0; slot < slots; ++slot) {
          Handle slice = nullptr;
          if (nvml.Call("nvmlDeviceGetMigDeviceHandleByIndex", handle, slot, &slice) == 0) {
            take(slice);
          }
        }
      },
      [&](unsigned card, int result) { lost = fmt::format("card {}: {}", card, Explain(result)); });
  if (why_not_.empty() && found < uuids.size()) {
    why_not_ = lost.empty() ? "NVML does not know every device of the run" : lost;
  }
  return samples;
}

const NvmlCard* NvmlReading::Find(std::string_view uuid) const {
  uuid = WithoutPrefix(uuid);
  if (uuid.empty()) return nullptr;
  for (const NvmlCard& card : cards) {
    if (WithoutPrefix(card.uuid) == uuid) return &card;
    for (const NvmlCard& slice : card.slices) {
      if (WithoutPrefix(slice.uuid) == uuid) return &slice;
    }
  }
  return nullptr;
}

NvmlReading ReadNvml() {
  const Opened opened = Open();
  Nvml& nvml = *opened.nvml;
  NvmlReading reading;
  reading.why_not = nvml.why_not();
  if (!reading.why_not.empty()) return reading;
  reading.driver_version = Text(nvml, "nvmlSystemGetDriverVersion");
  if (nvml.Call("nvmlSystemGetCudaDriverVersion_v2", &reading.cuda_version) != 0 &&
      nvml.Call("nvmlSystemGetCudaDriverVersion", &reading.cuda_version) != 0) {
    reading.cuda_version = 0;
  }
  reading.why_not = ForEachCard(
      nvml,
      [&](Handle handle, int index) { reading.cards.push_back(ReadCard(nvml, handle, index)); },
      [&](unsigned index, int result) {
        reading.warnings.push_back(fmt::format("card {}: {}", index, Explain(result)));
      });
  return reading;
}

std::string WhoUses(const NvmlCard& card) {
  constexpr int64_t kNobody = int64_t{64} << 20;
  std::vector<std::string> who;
  int64_t unseen = card.used_bytes.value_or(0), seen = 0;
  for (const NvmlProcess& process : card.processes) {
    unseen -= process.bytes.value_or(0);
    if (process.pid == getpid()) continue;
    seen += process.bytes.value_or(kNobody);
    std::string text = process.name.empty() ? fmt::format("pid {}", process.pid)
                                            : fmt::format("{} (pid {})", process.name, process.pid);
    if (process.bytes) text += " " + HumanBytes(*process.bytes);
    who.push_back(std::move(text));
  }
  unseen = std::max<int64_t>(0, unseen);
  if (seen + unseen < kNobody) return "";
  if (unseen >= kNobody) {
    who.push_back(fmt::format("{} {}", who.empty() ? "programs not visible from here" : "others",
                              HumanBytes(unseen)));
  }
  return fmt::format("{}", fmt::join(who, ", "));
}

}  // namespace flatout::watch
