// What NVIDIA's management library (NVML, libnvidia-ml.so.1) says of the graphics cards of this
// machine: memory, who uses it, and what may be wrong with a card. It comes with the driver and is
// loaded when first asked for; without it, or where it refuses an answer, values are absent and a
// text says why. Nothing here throws, takes device memory, or needs rights beyond the device files.
//
// NVML numbers cards by PCI bus, all of them; CUDA numbers those that CUDA_VISIBLE_DEVICES leaves,
// in an order of its own. Match them by uuid.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/watch/sample.h"

namespace flatout::watch {

struct NvmlProcess {
  int64_t pid = 0;   // as the host counts, which in a container is not what ps shows
  std::string name;  // "python3"; "" where it is not visible from here (another container's)
  std::optional<int64_t> bytes;  // of device memory; nullopt where the driver doesn't say
};

struct NvmlCard {
  int index = 0;
  std::string name;        // "NVIDIA H100 80GB HBM3"
  std::string uuid;        // "GPU-5e1c0a3d-..."; a slice of a card has "MIG-..."
  std::string pci_bus_id;  // "00000000:17:00.0"
  // Bytes. total = reserved + used + free; `reserved` is the driver's own and no program's.
  std::optional<int64_t> total_bytes, reserved_bytes, used_bytes, free_bytes;
  // Over the last sampling period (1/6 s to 1 s): percent of time in which a kernel ran, or device
  // memory was read or written. "A kernel ran" is not "the card was full".
  std::optional<int> busy_percent, memory_busy_percent;
  std::optional<int> temperature_c;
  std::optional<double> power_w, power_limit_w;
  std::optional<bool> ecc;                          // error correction is on
  std::optional<int64_t> uncorrected_errors;        // since the driver was loaded
  std::optional<bool> persistence;                  // the driver stays up between programs
  std::optional<bool> mig;                          // the card is split into slices
  std::optional<int> compute_major, compute_minor;  // compute capability
  // "default", "exclusive process" (one program at a time), "prohibited" (none); "" unknown.
  std::string compute_mode;
  std::vector<NvmlProcess> processes;  // with memory on the card, most bytes first
  std::string processes_why_not;       // why they are not known, or ""
  std::vector<NvmlCard> slices;        // where mig
};

struct NvmlReading {
  std::string why_not;         // why nothing is known; "" if NVML answered
  std::string driver_version;  // "580.65.06"
  int cuda_version = 0;        // newest CUDA the driver serves: 13010 is 13.1; 0 unknown
  std::vector<NvmlCard> cards;
  std::vector<std::string> warnings;  // cards that gave no answer at all, and why

  // The card or slice of this uuid, with or without "GPU-" or "MIG-"; nullptr if there is none.
  const NvmlCard* Find(std::string_view uuid) const;
};

// Asks now; some milliseconds, the first time some hundred where the driver must wake up. Safe from
// any thread. The environment variable FLATOUT_NVML_LIBRARY names the library where the loader does
// not find libnvidia-ml.so.1.
NvmlReading ReadNvml();

// Reads what changes while a run trains, again and again: a fraction of a millisecond a card, and
// 20 ms more in each direction for the traffic on PCIe, which the driver measures while it is asked
// (therefore only in every fifth Take). For one thread.
class NvmlProbe {
 public:
  // One sample per uuid (with or without "GPU-"), in their order; figures that the driver does not
  // give are absent, all of them for a uuid that NVML does not know. A library that fails, or is
  // not there, is tried again at every Take.
  std::vector<DeviceSample> Take(const std::vector<std::string>& uuids);
  // Why the latest Take knows nothing of a device, or "".
  const std::string& why_not() const { return why_not_; }

 private:
  struct Traffic {  // counters of the Take before
    double time = 0;
    std::optional<double> sent, received;  // bytes
  };
  std::string why_not_;
  std::map<std::string, Traffic> nvlink_;
  int64_t takes_ = 0;
};

// "python3 (pid 4321) 30.2 GiB, pid 77 1.00 GiB, others 2.00 GiB": who uses the card, this process
// left out, with what is in use but nobody's that can be seen; "" where nobody does. Less than 64
// MiB in sum counts as nobody: the driver itself needs some.
std::string WhoUses(const NvmlCard& card);

}  // namespace flatout::watch
