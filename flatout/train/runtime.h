// Runtime: the device side of a run: plugin, client, chosen devices, compile cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flatout/train/options.h"
#include "flatout/xla/compile_cache.h"
#include "flatout/xla/pjrt.h"

namespace flatout::train {

class Runtime {
 public:
  // Loads the plugin that options.device names and makes a client with options.devices devices.
  // Throws UserError: no such plugin or device, fewer devices than asked for.
  explicit Runtime(const TrainOptions& options);

  xla::Client& client() { return *client_; }
  std::shared_ptr<xla::Client> shared_client() const { return client_; }
  // One per replica.
  const std::vector<xla::Device>& devices() const { return devices_; }
  int64_t replicas() const { return static_cast<int64_t>(devices_.size()); }
  xla::CompileCache& cache() { return cache_; }
  // "2 x cpu (PJRT 0.115)".
  std::string Describe() const;

  // Bytes that all of this run's arrays and programs together may take on one device (on the
  // smallest where they differ). GPUs: what the plugin's allocator says it may take. CPU: the cap
  // of train.memory, else the process's usable memory divided by the number of devices; XLA does
  // not hold to it there, whoever plans does. nullopt: unknown.
  std::optional<int64_t> memory_limit() const;
  // Of that, what is not taken now, on the device with the least. nullopt: unknown.
  std::optional<int64_t> free_memory() const;
  // Compiles for all replicas, through the cache.
  std::shared_ptr<xla::Executable> Compile(const std::string& stablehlo);
  // For one device.
  std::shared_ptr<xla::Executable> CompileForOne(const std::string& stablehlo);

 private:
  void PlanCpuMemory(const Config& asked);

  std::shared_ptr<xla::Plugin> plugin_;
  std::shared_ptr<xla::Client> client_;
  std::vector<xla::Device> devices_;
  xla::CompileCache cache_;
  xla::MemoryOptions memory_;         // as asked for
  std::optional<int64_t> cpu_limit_;  // bytes per device that plans count with, CPU only
};

}  // namespace flatout::train
