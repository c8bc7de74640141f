// CudaDriver: what the NVIDIA driver (libcuda.so.1) says of the GPUs a CUDA client would see, asked
// before a client exists and without a context, so that it takes no device memory.
//
// XLA's cap is a part of each card's memory; to turn bytes into that part, the card's memory must
// be known first. NVML (watch/nvml.h) knows more, but numbers cards differently and counts memory
// that no program can have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace flatout::xla {

class Plugin;
struct MemoryOptions;

struct CudaDevice {
  int ordinal = 0;          // as "cuda:0" and visible_devices count: after CUDA_VISIBLE_DEVICES
  std::string name;         // "NVIDIA H100 80GB HBM3"
  std::string uuid;         // "5e1c0a3d-...", without NVML's prefix "GPU-" or "MIG-"; may be empty
  std::string pci_bus_id;   // "0000:17:00.0"; may be empty
  int64_t total_bytes = 0;  // of which XLA's memory_fraction is a part
};

struct CudaDriver {
  bool loaded = false;   // there is a libcuda.so.1
  std::string why_not;   // why there are no devices; "" if there are
  int cuda_version = 0;  // newest CUDA it serves: 13010 is 13.1; 0 unknown
  std::vector<CudaDevice> devices;
};

// Never throws. The environment variable FLATOUT_CUDA_LIBRARY names the library where the loader
// does not find libcuda.so.1.
CudaDriver ReadCudaDriver();
// Whether the kernel's side of the driver is there (a device file); says nothing of what it can do.
bool HasNvidiaDriver();

// Whether the plugin drives NVIDIA GPUs, under whichever name it was loaded.
bool IsCudaPlugin(const Plugin& plugin);

// Bytes of a card that are left to the driver's context, the libraries' code and (between several
// GPUs) NCCL's buffers, which XLA's allocator does not count, where no cap says otherwise: 4 % and
// at least 1 GiB, with 1 GiB more for several GPUs. A rule of thumb, not measured.
int64_t GpuReserveBytes(int64_t total_bytes, int gpus);

// What to give XLA as memory_fraction, one number for all `gpus`, so that on none of them the
// allocator may take more than the options say; on the smaller of different cards it may then take
// less. Rounded down where float32 cannot say it exactly. nullopt: leave it at XLA's default
// (0.75), since there is no cap and the cards' memory is not known. Throws UserError for a cap that
// is larger than a card, naming the card, and for a cap in bytes where the memory is not known.
std::optional<float> GpuMemoryFraction(const MemoryOptions& options,
                                       std::span<const CudaDevice> gpus);

// "580 or newer": the Linux driver that the first CUDA of this major version needs.
std::string CudaDriverRemedy(int cuda_version);
// "13.1" of 13010.
std::string CudaVersionToString(int cuda_version);

}  // namespace flatout::xla
