// XSpace: what XLA's profilers record (tsl/profiler/protobuf/xplane.proto), read for the kernels in
// it, and kept where TensorBoard's profile plugin looks for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flatout::watch::profile {

// All runs of one kernel.
struct Kernel {
  std::string name;  // the kernel's own: "loop_fusion_12", "MemcpyH2D"
  std::string op;    // of the program, where the profile says: "convolution.3"
  double seconds = 0;
  int64_t count = 0;
};

// What one device did.
struct DeviceProfile {
  std::string name;           // "/device:GPU:0"
  double begin = 0, end = 0;  // of its first and last event, in seconds from some moment on
  // In which at least one kernel or copy ran; streams run side by side.
  double busy = 0;
  std::vector<Kernel> kernels;  // the longest first
  double seconds() const;       // of all kernels together
};

// The devices of a profile. Throws DataError where it is no XSpace.
std::vector<DeviceProfile> ReadDevices(std::string_view space);

// A table of the `most` longest kernels of each device, for people.
std::string KernelTable(const std::vector<DeviceProfile>& devices, size_t most = 20);

// Writes `space` to folder/plugins/profile/<session>/<host>.xplane.pb, where the profile plugin of
// a TensorBoard that was given `folder` (or one above it) finds it. Returns the path. Throws
// UserError.
std::string WriteProfile(const std::string& folder, const std::string& session,
                         std::string_view space);
// A name for a session: the time, "2026_11_30_18_04_05".
std::string NewSession();

}  // namespace flatout::watch::profile
