// flatout doctor: what this machine has, what is missing, and what to install.
#include <sys/statvfs.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"
#include "flatout/cli/command.h"
#include "flatout/cli/doctor_run.h"
#include "flatout/cli/gpus.h"
#include "flatout/data/pipeline.h"
#include "flatout/xla/compile_cache.h"
#include "flatout/xla/pjrt.h"

namespace flatout::cli {
namespace {

int problems = 0;

void Good(const std::string& what) { std::printf("  ok       %s\n", what.c_str()); }
void Optional(const std::string& what) { std::printf("  missing  %s\n", what.c_str()); }
void Note(const std::string& what) { std::printf("  note     %s\n", what.c_str()); }
void Bad(const std::string& what) {
  std::printf("  PROBLEM  %s\n", what.c_str());
  ++problems;
}

// The CUDA that the plugin Flatout installs is built for (deps/cuda13.txt).
constexpr int kPluginCuda = 13000;
// What NCCL, between several GPUs, wants of /dev/shm; Docker gives 64 MiB unless told.
constexpr int64_t kSharedMemoryForNccl = int64_t{512} << 20;
// Less host memory than this leaves no room for batches beside the plugin.
constexpr int64_t kLittleHostMemory = int64_t{1} << 30;

void CheckMemory(const CgroupReading& limits) {
  const MemoryLimit& memory = limits.memory;
  if (memory.usable < 0) {
    Note("memory: neither the machine nor the control group says how much may be used");
    return;
  }
  Good(memory.ToString());
  if (memory.usable < kLittleHostMemory) {
    Bad(fmt::format("{} of host memory is too little to train with{}; give at least 2 GiB",
                    HumanBytes(memory.usable),
                    memory.group > 0 ? " (the container's or control group's limit)" : ""));
  }
}

void CheckCard(const Gpu& gpu) {
  const watch::NvmlCard& card = *gpu.card;
  const std::string label =
      gpu.cuda ? fmt::format("cuda:{}", gpu.cuda->ordinal) : fmt::format("card {}", card.index);
  const std::string what = fmt::format("{} ({})", label, card.name);
  if (card.uncorrected_errors.value_or(0) > 0) {
    Bad(
        fmt::format("{}: {} memory error{} that ECC could not correct since the driver was loaded; "
                    "results may be wrong. Reset the card (nvidia-smi --gpu-reset) or exchange it",
                    what, *card.uncorrected_errors, *card.uncorrected_errors == 1 ? "" : "s"));
  }
  if (card.compute_mode == "prohibited") {
    Bad(fmt::format("{}: compute mode is \"prohibited\"; nvidia-smi --compute-mode=DEFAULT", what));
  }
  if (const std::string who = watch::WhoUses(card); !who.empty()) {
    if (card.compute_mode == "exclusive process" && !card.processes.empty()) {
      Bad(
          fmt::format("{}: one program at a time may use it (compute mode \"exclusive process\"), "
                      "and it is used by {}",
                      what, who));
    } else {
      Note(fmt::format("{}: {} of {} free; used by {}", what,
                       HumanBytes(card.free_bytes.value_or(0)),
                       HumanBytes(card.total_bytes.value_or(0)), who));
    }
  }
  if (card.persistence && !*card.persistence) {
    Note(
        fmt::format("{}: persistence is off, so each start waits for the driver; nvidia-smi "
                    "--persistence-mode=1 as root",
                    what));
  }
}

void CheckGpus() {
  const GpuReading reading = ReadGpus();
  if (reading.gpus.empty()) {
    // A machine without NVIDIA's driver is not wrong; one where it fails is.
    const bool broken = reading.driver.loaded || access("/dev/nvidiactl", F_OK) == 0;
    (broken ? Bad : Optional)("GPU: " + reading.why_not);
    return;
  }
  int usable = 0;
  for (const Gpu& gpu : reading.gpus) {
    if (!gpu.cuda) continue;
    ++usable;
    Good(fmt::format("cuda:{}: {}, {}", gpu.cuda->ordinal, gpu.cuda->name,
                     HumanBytes(gpu.cuda->total_bytes)));
  }
  for (const std::string& warning : reading.nvml.warnings) Bad("GPU: " + warning);
  if (usable == 0) {
    Bad(fmt::format("NVML sees {} card{}, but CUDA none: {}", reading.gpus.size(),
                    reading.gpus.size() == 1 ? "" : "s",
                    reading.driver.why_not.empty() ? "they are hidden" : reading.driver.why_not));
  }
  if (!reading.nvml.why_not.empty()) {
    Note("who uses the GPUs is not known: NVML (libnvidia-ml.so.1): " + reading.nvml.why_not);
  }
  const int cuda = std::max(reading.driver.cuda_version, reading.nvml.cuda_version);
  if (cuda > 0 && cuda / 1000 < kPluginCuda / 1000) {
    Bad(
        fmt::format("the NVIDIA driver{} serves CUDA up to {}, too old for the plugin, which needs "
                    "{}; install driver {}",
                    reading.nvml.driver_version.empty() ? "" : " " + reading.nvml.driver_version,
                    xla::CudaVersionToString(cuda), xla::CudaVersionToString(kPluginCuda),
                    xla::CudaDriverRemedy(kPluginCuda)));
  } else if (cuda > 0) {
    Good(fmt::format("NVIDIA driver {}, CUDA up to {}", reading.nvml.driver_version,
                     xla::CudaVersionToString(cuda)));
  }
  for (const Gpu& gpu : reading.gpus) {
    if (gpu.card != nullptr) CheckCard(gpu);
  }
  for (const xla::PluginInfo& info : xla::FindPlugins()) {
    if (info.name == "cuda" && !info.why_not.empty()) {
      Bad("there are GPUs, but the plugin for them is not installed; run: flatout plugin install "
          "cuda13 --for-running");
    }
  }
  struct statvfs shared {};
  if (usable > 1 && statvfs("/dev/shm", &shared) == 0) {
    const auto bytes =
        static_cast<int64_t>(shared.f_blocks) * static_cast<int64_t>(shared.f_frsize);
    if (bytes < kSharedMemoryForNccl) {
      Note(
          fmt::format("/dev/shm has {}; several GPUs together may need more (docker run "
                      "--shm-size=1g)",
                      HumanBytes(bytes)));
    }
  }
}

// Adds two numbers on a plugin's first device: the whole way from text to result.
void TryPlugin(const xla::PluginInfo& info) {
  const auto plugin = xla::Plugin::Load(info.name);
  const auto client = xla::Client::Create(plugin, {.memory = {.grow = true}});
  const auto program = client->Compile(
      "module @m { func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {\n"
      "  %0 = \"stablehlo.add\"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
      "  \"func.return\"(%0) : (tensor<f32>) -> ()\n} }",
      {});
  const float one = 1, two = 2;
  const ir::Shape scalar = ir::Shape::Scalar(ir::DType::kF32);
  const xla::Buffer a = client->FromHost(&one, scalar, client->devices()[0]);
  const xla::Buffer b = client->FromHost(&two, scalar, client->devices()[0]);
  const float sum = program->Execute({&a, &b}).outputs[0][0].ToVector<float>().at(0);
  if (sum != 3) throw Internal("1 + 2 gave {} on {}", sum, info.name);
  Good(fmt::format(
      "plugin {}: {} device{} of kind \"{}\", PJRT {} (built with {}), loads in {:.2f} s, "
      "compiles and runs",
      info.name, client->devices().size(), client->devices().size() == 1 ? "" : "s",
      client->devices()[0].kind(), plugin->version().ToString(), xla::BuiltWithPjrt().ToString(),
      plugin->load_seconds()));
  if (!plugin->warning().empty()) Optional(plugin->warning());
}

void CheckPlugins() {
  bool any_cpu = false;
  const bool no_gpu = ReadGpus().gpus.empty();
  for (const xla::PluginInfo& info : xla::FindPlugins()) {
    if (!info.why_not.empty()) {
      Optional(fmt::format("plugin {}: {}", info.name, info.why_not));
      continue;
    }
    if (info.name == "cuda" && no_gpu) {
      Good("plugin cuda: installed, for flatout plan; there is no GPU to run on");
      continue;
    }
    try {
      TryPlugin(info);
      any_cpu |= info.name.starts_with("cpu");
    } catch (const Error& error) {
      Bad(fmt::format("plugin {}: {}", info.name, error.what()));
    }
  }
  if (!any_cpu) Bad("no CPU plugin works: run deps/install in the source folder");
}

void CheckCache() {
  const std::string folder = xla::CompileCache::DefaultFolder();
  if (folder.empty()) {
    Optional("compile cache: no home folder; set FLATOUT_CACHE to keep compiled programs");
    return;
  }
  if (folder == "off") {
    Optional("compile cache: switched off by FLATOUT_CACHE=off; every run compiles anew");
    return;
  }
  try {
    MakeDirs(folder);
    const std::string probe = folder + "/doctor-probe";
    AtomicWriteFile(probe, "probe");
    std::remove(probe.c_str());
    Good("compile cache: " + folder);
  } catch (const Error& error) {
    Bad(fmt::format("compile cache: {}; programs will be compiled anew in each run", error.what()));
  }
}

int Doctor() {
  problems = 0;
  std::printf("machine\n");
  const CgroupReading limits = ReadCgroup();
  Good(limits.cpu.ToString());
  CheckMemory(limits);
  for (const std::string& warning : limits.warnings) Optional(warning);
  if (const auto throttled = ThrottledSeconds()) {
    Good(fmt::format("held back by the CPU quota so far: {:.1f} s", *throttled));
  }
  std::printf("GPUs\n");
  CheckGpus();
  std::printf("plugins\n");
  CheckPlugins();
  std::printf("folders and data\n");
  CheckCache();
  try {
    const Config table = Config::Table({{"source", Config(std::string("fashion_mnist"))}});
    Good(data::OpenSource(table, "test")->description());
  } catch (const Error& error) {
    Optional(fmt::format("Fashion-MNIST (for the demo): {}", error.what()));
  }
  if (problems == 0) {
    std::printf("ready to train\n");
    return kExitDone;
  }
  std::printf("%d problem%s\n", problems, problems == 1 ? "" : "s");
  return kExitUsage;
}

}  // namespace

void AddDoctor(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "doctor",
      "Say what this machine has, what is missing, what to install; or explain a run: whether its "
      "device ran full, what limits it, what to change");
  auto folder = std::make_shared<std::string>();
  command->add_option("run", *folder,
                      "A run folder, also of a run that is at work or was killed, for example "
                      "runs/cnn; without it the machine is looked at");
  command->callback([folder, run] {
    *run = folder->empty() ? Run(Doctor) : Run([folder] { return ExplainRun(*folder); });
  });
}

}  // namespace flatout::cli
