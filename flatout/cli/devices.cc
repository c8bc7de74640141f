// flatout devices: what there is to train on, how much memory it has, and who else uses it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/cli/command.h"
#include "flatout/cli/gpus.h"
#include "flatout/watch/nvml.h"
#include "flatout/xla/cuda_driver.h"
#include "flatout/xla/pjrt.h"

namespace flatout::cli {

GpuReading ReadGpus() {
  GpuReading reading;
  reading.driver = xla::ReadCudaDriver();
  reading.nvml = watch::ReadNvml();
  for (const xla::CudaDevice& device : reading.driver.devices) {
    reading.gpus.push_back({.cuda = device, .card = reading.nvml.Find(device.uuid)});
  }
  // Cards that CUDA does not show, because it is told not to or because it does not work.
  for (const watch::NvmlCard& card : reading.nvml.cards) {
    const auto is_it = [&](const Gpu& gpu) {
      return gpu.card == &card ||
             std::any_of(card.slices.begin(), card.slices.end(),
                         [&](const watch::NvmlCard& slice) { return gpu.card == &slice; });
    };
    if (std::none_of(reading.gpus.begin(), reading.gpus.end(), is_it)) {
      reading.gpus.push_back({.cuda = std::nullopt, .card = &card});
    }
  }
  if (!reading.gpus.empty()) return reading;
  reading.why_not = reading.driver.loaded ? reading.driver.why_not : reading.nvml.why_not;
  if (access("/dev/nvidiactl", F_OK) == 0 && !reading.driver.loaded) {
    reading.why_not +=
        "; but the driver's device files are here: in a container, let it have the driver's "
        "libraries too (docker run --gpus all, NVIDIA_DRIVER_CAPABILITIES=compute,utility)";
  }
  return reading;
}

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json OrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string Size(const std::optional<int64_t>& bytes) {
  return bytes ? HumanBytes(*bytes) : "not known";
}
std::string OnOff(bool value) { return value ? "on" : "off"; }

// ---- GPUs ----

void PrintCard(const Gpu& gpu) {
  const watch::NvmlCard& card = *gpu.card;
  if (card.free_bytes) {
    std::printf("      memory  %s", Size(card.total_bytes).c_str());
    if (card.reserved_bytes) {
      std::printf(", of which the driver keeps %s", Size(card.reserved_bytes).c_str());
    }
    std::printf("; %s in use, %s free\n", Size(card.used_bytes).c_str(),
                Size(card.free_bytes).c_str());
  } else {
    std::printf("      memory  NVML does not say\n");
  }
  const std::string who = watch::WhoUses(card);
  if (!who.empty()) {
    std::printf("      used by %s\n", who.c_str());
  } else if (!card.processes_why_not.empty()) {
    std::printf("      used by not known: %s\n", card.processes_why_not.c_str());
  } else if (card.free_bytes) {
    std::printf("      used by nobody\n");
  }
  std::vector<std::string> state;
  if (card.busy_percent)
    state.push_back(fmt::format("kernels run {} % of the time", *card.busy_percent));
  if (card.temperature_c) state.push_back(fmt::format("{} C", *card.temperature_c));
  if (card.power_w) {
    state.push_back(card.power_limit_w
                        ? fmt::format("{:.0f} of {:.0f} W", *card.power_w, *card.power_limit_w)
                        : fmt::format("{:.0f} W", *card.power_w));
  }
  if (card.ecc) state.push_back("ECC " + OnOff(*card.ecc));
  if (card.uncorrected_errors.value_or(0) > 0) {
    state.push_back(fmt::format("{} uncorrected memory error{}", *card.uncorrected_errors,
                                *card.uncorrected_errors == 1 ? "" : "s"));
  }
  if (card.persistence) state.push_back("persistence " + OnOff(*card.persistence));
  if (!card.compute_mode.empty() && card.compute_mode != "default") {
    state.push_back("compute mode " + card.compute_mode);
  }
  if (!state.empty())
    std::printf("      state   %s\n", fmt::format("{}", fmt::join(state, ", ")).c_str());
  for (const watch::NvmlCard& slice : card.slices) {
    std::printf("      slice   %s, %s, %s free, %s\n", slice.name.c_str(),
                Size(slice.total_bytes).c_str(), Size(slice.free_bytes).c_str(),
                slice.uuid.c_str());
  }
}

void PrintGpus(const GpuReading& reading) {
  if (reading.gpus.empty()) {
    std::printf("GPUs: none. %s\n", reading.why_not.c_str());
    return;
  }
  std::printf("GPUs:");
  if (!reading.nvml.driver_version.empty()) {
    std::printf(" NVIDIA driver %s", reading.nvml.driver_version.c_str());
  }
  const int cuda = std::max(reading.driver.cuda_version, reading.nvml.cuda_version);
  if (cuda > 0) std::printf(", CUDA up to %s", xla::CudaVersionToString(cuda).c_str());
  std::printf("\n");
  const auto several = static_cast<int>(reading.driver.devices.size());
  for (const Gpu& gpu : reading.gpus) {
    const std::string& name = gpu.cuda ? gpu.cuda->name : gpu.card->name;
    if (gpu.cuda) {
      std::printf("  cuda:%d  %s", gpu.cuda->ordinal, name.c_str());
    } else {
      std::printf("  card %d  %s", gpu.card->index, name.c_str());
    }
    if (gpu.card != nullptr && gpu.card->compute_major) {
      std::printf(", compute capability %d.%d", *gpu.card->compute_major,
                  gpu.card->compute_minor.value_or(0));
    }
    std::printf("\n");
    if (!gpu.cuda) {
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      std::printf("      hidden  %s\n",
                  !reading.driver.why_not.empty() ? reading.driver.why_not.c_str()
                  : gpu.card->mig.value_or(false) ? "it is split into slices (MIG)"
                  : visible != nullptr
                      ? fmt::format("CUDA_VISIBLE_DEVICES is \"{}\"", visible).c_str()
                      : "CUDA does not show it");
    }
    if (gpu.card != nullptr) PrintCard(gpu);
    if (gpu.cuda && gpu.cuda->total_bytes > 0) {
      const int64_t total = gpu.cuda->total_bytes;
      const int64_t reserve = xla::GpuReserveBytes(total, 1);
      // What others use comes off, as in train::Runtime.
      const bool shared = gpu.card != nullptr && !watch::WhoUses(*gpu.card).empty();
      const int64_t left = shared ? gpu.card->free_bytes.value_or(total) : total;
      std::printf("      a run   has %s; with memory = \"all\" it takes %s\n",
                  HumanBytes(total).c_str(),
                  HumanBytes(std::max<int64_t>(0, left - reserve)).c_str());
    }
  }
  for (const std::string& warning : reading.nvml.warnings) {
    std::printf("  warning: %s\n", warning.c_str());
  }
  if (!reading.nvml.why_not.empty()) {
    std::printf("  who uses them is not known: NVML (libnvidia-ml.so.1): %s\n",
                reading.nvml.why_not.c_str());
  }
  if (several > 1) {
    std::printf("  with several of them in one run, \"all\" leaves 1.00 GiB more on each\n");
  }
}

Json CardJson(const watch::NvmlCard& card) {
  Json json = {{"index", card.index},
               {"name", card.name},
               {"uuid", OrNull(card.uuid)},
               {"pci_bus_id", OrNull(card.pci_bus_id)},
               {"total_bytes", OrNull(card.total_bytes)},
               {"reserved_bytes", OrNull(card.reserved_bytes)},
               {"used_bytes", OrNull(card.used_bytes)},
               {"free_bytes", OrNull(card.free_bytes)},
               {"busy_percent", OrNull(card.busy_percent)},
               {"memory_busy_percent", OrNull(card.memory_busy_percent)},
               {"temperature_c", OrNull(card.temperature_c)},
               {"power_w", OrNull(card.power_w)},
               {"power_limit_w", OrNull(card.power_limit_w)},
               {"ecc", OrNull(card.ecc)},
               {"uncorrected_errors", OrNull(card.uncorrected_errors)},
               {"persistence", OrNull(card.persistence)},
               {"mig", OrNull(card.mig)},
               {"compute_mode", OrNull(card.compute_mode)}};
  json["compute_capability"] =
      card.compute_major
          ? Json(fmt::format("{}.{}", *card.compute_major, card.compute_minor.value_or(0)))
          : Json(nullptr);
  json["processes"] = card.processes_why_not.empty() ? Json::array() : Json(nullptr);
  for (const watch::NvmlProcess& process : card.processes) {
    json["processes"].push_back(
        {{"pid", process.pid}, {"name", OrNull(process.name)}, {"bytes", OrNull(process.bytes)}});
  }
  if (!card.slices.empty()) {
    for (const watch::NvmlCard& slice : card.slices) json["slices"].push_back(CardJson(slice));
  }
  return json;
}

Json GpusJson(const GpuReading& reading) {
  const int cuda = std::max(reading.driver.cuda_version, reading.nvml.cuda_version);
  Json json = {{"why_not", OrNull(reading.why_not)},
               {"driver_version", OrNull(reading.nvml.driver_version)},
               {"cuda_version", cuda > 0 ? Json(xla::CudaVersionToString(cuda)) : Json(nullptr)},
               {"nvml", reading.nvml.why_not.empty() ? Json("works") : Json(reading.nvml.why_not)},
               {"warnings", reading.nvml.warnings},
               {"list", Json::array()}};
  for (const Gpu& gpu : reading.gpus) {
    Json one = {
        {"device", gpu.cuda ? Json(fmt::format("cuda:{}", gpu.cuda->ordinal)) : Json(nullptr)},
        {"kind", gpu.cuda ? gpu.cuda->name : gpu.card->name},
        {"usable_bytes",
         gpu.cuda && gpu.cuda->total_bytes > 0 ? Json(gpu.cuda->total_bytes) : Json(nullptr)},
        {"card", gpu.card != nullptr ? CardJson(*gpu.card) : Json(nullptr)}};
    json["list"].push_back(std::move(one));
  }
  return json;
}

// ---- plugins ----

// The devices of a plugin that is not for NVIDIA GPUs; those are listed without starting a client,
// which would take memory on each of them. Throws what the plugin's client throws.
struct PluginDevices {
  bool is_cpu = false, is_cuda = false;
  std::shared_ptr<xla::Client> client;
};
PluginDevices OpenPlugin(const std::string& name) {
  PluginDevices result;
  const auto plugin = xla::Plugin::Load(name);
  result.is_cuda = xla::IsCudaPlugin(*plugin);
  if (result.is_cuda) return result;
  result.client = xla::Client::Create(plugin, {});
  result.is_cpu = result.client->is_cpu();
  return result;
}

void PrintPlugins() {
  std::printf("plugins:\n");
  for (const xla::PluginInfo& info : xla::FindPlugins()) {
    if (!info.why_not.empty()) {
      std::printf("  %s: %s\n", info.name.c_str(), info.why_not.c_str());
      continue;
    }
    std::printf("  %s: %s\n", info.name.c_str(), info.path.c_str());
    try {
      const PluginDevices opened = OpenPlugin(info.name);
      if (opened.is_cuda || opened.client == nullptr) continue;  // listed above
      for (const xla::Device& device : opened.client->devices()) {
        std::printf("      %s:%d  %s", opened.is_cpu ? "cpu" : info.name.c_str(), device.index(),
                    device.kind().c_str());
        if (const auto memory = device.memory_stats()) {
          std::printf(", memory limit %s, in use %s", Size(memory->bytes_limit).c_str(),
                      Size(memory->bytes_in_use).c_str());
        } else if (!opened.is_cpu) {
          std::printf(", memory not known");
        }
        std::printf("\n");
      }
    } catch (const Error& error) {
      std::printf("      not usable: %s\n", error.what());
    }
  }
}

Json PluginsJson() {
  Json plugins = Json::array();
  for (const xla::PluginInfo& info : xla::FindPlugins()) {
    Json plugin = {{"name", info.name},
                   {"path", OrNull(info.path)},
                   {"why_not", OrNull(info.why_not)},
                   {"devices", Json::array()}};
    if (info.why_not.empty()) {
      try {
        const PluginDevices opened = OpenPlugin(info.name);
        if (opened.client != nullptr) {
          for (const xla::Device& device : opened.client->devices()) {
            const auto memory = device.memory_stats();
            plugin["devices"].push_back(
                {{"device",
                  fmt::format("{}:{}", opened.is_cpu ? "cpu" : info.name, device.index())},
                 {"kind", device.kind()},
                 {"bytes_limit", memory ? OrNull(memory->bytes_limit) : Json(nullptr)},
                 {"bytes_in_use", memory ? OrNull(memory->bytes_in_use) : Json(nullptr)}});
          }
        }
      } catch (const Error& error) {
        plugin["why_not"] = error.what();
      }
    }
    plugins.push_back(std::move(plugin));
  }
  return plugins;
}

int Devices(bool as_json) {
  const CgroupReading limits = ReadCgroup();
  const GpuReading gpus = ReadGpus();
  if (as_json) {
    const auto bytes = [](int64_t value) { return value < 0 ? Json(nullptr) : Json(value); };
    const Json json = {{"cpu",
                        {{"cores_usable", limits.cpu.usable},
                         {"cores", limits.cpu.host},
                         {"memory_usable_bytes", bytes(limits.memory.usable)},
                         {"memory_bytes", bytes(limits.memory.host)},
                         {"warnings", limits.warnings}}},
                       {"gpus", GpusJson(gpus)},
                       {"plugins", PluginsJson()}};
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return kExitDone;
  }
  std::printf("CPU: %s; %s\n", limits.cpu.ToString().c_str(), limits.memory.ToString().c_str());
  for (const std::string& warning : limits.warnings) {
    std::printf("  warning: %s\n", warning.c_str());
  }
  PrintGpus(gpus);
  PrintPlugins();
  std::printf(
      "Choose with device = \"cpu\" or \"cuda:0\" in a run file's [train], and devices = 2 or "
      "\"all\" for several.\nCPU devices are logical: as many as devices asks for, which share the "
      "memory.\nWhat a run takes of a GPU is set by memory: \"all\", \"grow\", \"10GiB\", 0.5, "
      "\"grow,10GiB\".\n");
  return kExitDone;
}

}  // namespace

void AddDevices(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "devices", "List the devices of this machine, their memory and who uses them");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "For programs: everything as JSON, unknown values null");
  command->callback([run, as_json] { *run = [as_json] { return Devices(*as_json); }; });
}

}  // namespace flatout::cli
