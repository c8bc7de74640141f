// flatout devices: what there is to train on.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/cli/command.h"
#include "flatout/xla/pjrt.h"

namespace flatout::cli {
namespace {

std::string Bytes(const std::optional<int64_t>& bytes) {
  return bytes ? HumanBytes(*bytes) : "not available";
}

void PrintDevices(const std::string& name) {
  const auto client = xla::Client::Create(xla::Plugin::Load(name), {.memory = {.grow = true}});
  for (const xla::Device& device : client->devices()) {
    std::printf("  %s:%d  %s", client->is_cpu() ? "cpu" : name.c_str(), device.index(),
                device.kind().c_str());
    if (const auto memory = device.memory_stats()) {
      std::printf(", memory limit %s, in use %s", Bytes(memory->bytes_limit).c_str(),
                  Bytes(memory->bytes_in_use).c_str());
    } else if (!client->is_cpu()) {
      std::printf(", memory not available");
    }
    std::printf("\n");
  }
}

int Devices() {
  const CgroupReading limits = ReadCgroup();
  std::printf("%s; %s\n", limits.cpu.ToString().c_str(), limits.memory.ToString().c_str());
  for (const std::string& warning : limits.warnings)
    std::printf("  warning: %s\n", warning.c_str());
  for (const xla::PluginInfo& info : xla::FindPlugins()) {
    if (!info.why_not.empty()) {
      std::printf("%s: %s\n", info.name.c_str(), info.why_not.c_str());
      continue;
    }
    std::printf("%s: %s\n", info.name.c_str(), info.path.c_str());
    try {
      PrintDevices(info.name);
    } catch (const Error& error) {
      std::printf("  not usable: %s\n", error.what());
    }
  }
  std::printf(
      "Choose with device = \"cpu\" or \"cuda:0\" in a run file's [train], and devices = 2 or "
      "\"all\" for several.\nCPU devices are logical: as many as devices asks for.\n");
  return kExitDone;
}

}  // namespace

void AddDevices(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand("devices", "List the devices of this machine");
  command->callback([run] { *run = Devices; });
}

}  // namespace flatout::cli
