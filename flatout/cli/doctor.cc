// flatout doctor: what this machine has, what is missing, and what to install.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/cli/command.h"
#include "flatout/data/pipeline.h"
#include "flatout/xla/compile_cache.h"
#include "flatout/xla/pjrt.h"

namespace flatout::cli {
namespace {

int problems = 0;

void Good(const std::string& what) { std::printf("  ok       %s\n", what.c_str()); }
void Optional(const std::string& what) { std::printf("  missing  %s\n", what.c_str()); }
void Bad(const std::string& what) {
  std::printf("  PROBLEM  %s\n", what.c_str());
  ++problems;
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
  for (const xla::PluginInfo& info : xla::FindPlugins()) {
    if (!info.why_not.empty()) {
      Optional(fmt::format("plugin {}: {}", info.name, info.why_not));
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
  Good(limits.memory.ToString());
  for (const std::string& warning : limits.warnings) Optional(warning);
  if (const auto throttled = ThrottledSeconds()) {
    Good(fmt::format("held back by the CPU quota so far: {:.1f} s", *throttled));
  }
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
  CLI::App* command =
      app.add_subcommand("doctor", "Say what this machine has, what is missing, what to install");
  command->callback([run] { *run = Doctor; });
}

}  // namespace flatout::cli
