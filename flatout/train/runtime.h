// Runtime: the device side of a run: plugin, client, chosen devices, their memory, compile cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/kernels/kernels.h"
#include "flatout/train/options.h"
#include "flatout/xla/compile_cache.h"
#include "flatout/xla/cuda_driver.h"
#include "flatout/xla/pjrt.h"

namespace flatout::train {

class Runtime {
 public:
  // Loads the plugin that options.device names and makes a client with options.devices devices,
  // which may take the memory that options.memory says. Of several GPUs only those chosen are
  // touched. What the plugin makes of the memory options is checked: it may never take more than
  // the cap (else this throws); less, and other programs on the card, are warned of.
  // Throws UserError: no such plugin or device, fewer devices than asked for, a memory option that
  // makes no sense or is more than the card has; with exit code 4 when other programs have so much
  // of the card that what was asked for cannot be had, naming them where NVML does.
  explicit Runtime(const TrainOptions& options);

  xla::Client& client() { return *client_; }
  std::shared_ptr<xla::Client> shared_client() const { return client_; }
  // One per replica.
  const std::vector<xla::Device>& devices() const { return devices_; }
  int64_t replicas() const { return static_cast<int64_t>(devices_.size()); }
  xla::CompileCache& cache() { return cache_; }
  // "1 x NVIDIA H100 80GB HBM3 (plugin cuda, PJRT 0.116; memory: 10.0 GiB of 79.1 GiB, on demand)".
  std::string Describe() const;
  // Compiles for all replicas, through the cache; on CPUs with library kernels where they are
  // faster (flatout/kernels).
  std::shared_ptr<xla::Executable> Compile(const ir::Graph& graph);
  // For one device.
  std::shared_ptr<xla::Executable> CompileForOne(const ir::Graph& graph);
  // Who computes what on this runtime's devices.
  const kernels::Lowering& lowering() const { return *lowering_; }

  // Bytes that all of this run's arrays and programs together may take on one device (on the
  // smallest where they differ). GPUs: what the plugin's allocator may take or, where it takes all
  // at once, has got. CPU: the cap of train.memory, else the process's usable memory divided by the
  // number of devices; XLA does not hold to it there, whoever plans does. nullopt: unknown.
  std::optional<int64_t> memory_limit() const;
  // Of that, what is not taken now, on the device with the least; on GPUs no more than the card has
  // free, where NVML tells. nullopt: unknown.
  std::optional<int64_t> free_memory() const;

 private:
  // What is known of one GPU's memory, in bytes.
  struct GpuMemory {
    std::string label, uuid;       // "cuda:0"; uuid as NVML knows it, "" if unknown
    int64_t total = 0;             // what the driver calls the card's memory; 0 unknown
    std::optional<int64_t> limit;  // what the plugin's allocator says it may take
    std::optional<int64_t> got;    // what it has taken at once, without `grow`
    std::string others;            // who else used the card at the start
  };

  // What to ask of a CUDA client so that it takes the memory asked for on the GPUs of `ordinals`
  // (empty: all). Fills gpus_.
  xla::MemoryOptions GpuOptions(const xla::CudaDriver& driver, const std::vector<int64_t>& ordinals,
                                const Config& asked);
  // The most that the cap lets the plugin take on GPU i; nullopt where there is no cap or the
  // card's memory is unknown.
  std::optional<int64_t> Most(size_t i) const;
  // Creates the CUDA client, once more if what the driver and what XLA call the card's memory
  // differ so that the cap would not be held.
  void CreateCudaClient(xla::ClientOptions& options);
  // Compares what the plugin took with what was asked for.
  void CheckGpuMemory(const xla::MemoryOptions& given, const Config& asked);
  void PlanCpuMemory(const Config& asked);
  std::string DescribeMemory() const;

  std::shared_ptr<xla::Plugin> plugin_;
  std::shared_ptr<xla::Client> client_;
  std::vector<xla::Device> devices_;
  std::unique_ptr<kernels::Lowering> lowering_;
  xla::CompileCache cache_;
  xla::MemoryOptions memory_;         // as asked for
  std::vector<GpuMemory> gpus_;       // one per device; empty for other plugins
  std::optional<int64_t> cpu_limit_;  // per device, for plans; CPU only
};

}  // namespace flatout::train
