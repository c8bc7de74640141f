// The GPUs of this machine, as the CUDA driver numbers them and NVML knows them: what `flatout
// devices` shows and `flatout doctor` checks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flatout/watch/nvml.h"
#include "flatout/xla/cuda_driver.h"

namespace flatout::cli {

struct Gpu {
  std::optional<xla::CudaDevice> cuda;  // absent: a card that CUDA does not show
  const watch::NvmlCard* card =
      nullptr;  // nullptr: NVML does not know it; else in GpuReading::nvml
};

struct GpuReading {
  GpuReading() = default;
  GpuReading(GpuReading&&) = default;  // a vector's elements stay where they are
  GpuReading(const GpuReading&) = delete;
  GpuReading& operator=(const GpuReading&) = delete;

  xla::CudaDriver driver;
  watch::NvmlReading nvml;
  std::vector<Gpu> gpus;
  std::string why_not;  // why there are none, or ""
};

// Never throws; takes no device memory.
GpuReading ReadGpus();

}  // namespace flatout::cli
