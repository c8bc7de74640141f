#include "flatout/xla/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/xla/pjrt.h"

namespace flatout::xla {
namespace {

// The few functions of the CUDA driver API (cuda.h) that are needed. They return a CUresult and
// take a CUdevice, both ints.
struct Functions {
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*total)(size_t*, int) = nullptr;
  int (*uuid)(unsigned char*, int) = nullptr;
  int (*bus_id)(char*, int, int) = nullptr;
};

template <typename F>
void Find(void* library, const char* name, F*& function) {
  if (function == nullptr) function = reinterpret_cast<F*>(dlsym(library, name));
}

// What a CUresult of cuInit means for the user.
std::string Explain(int result) {
  switch (result) {
    case 34:  // CUDA_ERROR_STUB_LIBRARY
      return "the libcuda.so.1 found is the stub that builds link to, not a driver's";
    case 100: {  // CUDA_ERROR_NO_DEVICE
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      if (visible == nullptr) return "the driver sees no GPU";
      return fmt::format("the driver shows no GPU; CUDA_VISIBLE_DEVICES is \"{}\"", visible);
    }
    case 802:  // CUDA_ERROR_SYSTEM_NOT_READY
      return "the GPUs are not ready (CUDA error 802); on machines with NVSwitch the service "
             "nvidia-fabricmanager must run";
    case 803:  // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
      return "the driver's library and its kernel module are of different versions (CUDA error "
             "803); restart the machine after a driver update";
    case 804:  // CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
      return "the CUDA compatibility library does not serve this GPU (CUDA error 804)";
    default:
      return fmt::format("the driver cannot be started (CUDA error {})", result);
  }
}

std::string UuidText(const std::array<unsigned char, 16>& bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace

bool HasNvidiaDriver() {
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

CudaDriver ReadCudaDriver() {
  CudaDriver driver;
  const char* path = std::getenv("FLATOUT_CUDA_LIBRARY");
  if (path == nullptr || *path == 0) path = "libcuda.so.1";
  // Never unloaded: the driver does not take kindly to it, and the plugin uses it too.
  void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = dlerror();
    driver.why_not = fmt::format("no NVIDIA driver is installed here ({})",
                                 why != nullptr ? why : std::string(path) + " cannot be loaded");
    return driver;
  }
  driver.loaded = true;
  Functions f;
  Find(library, "cuInit", f.init);
  Find(library, "cuDriverGetVersion", f.version);
  Find(library, "cuDeviceGetCount", f.count);
  Find(library, "cuDeviceGet", f.get);
  Find(library, "cuDeviceGetName", f.name);
  Find(library, "cuDeviceTotalMem_v2", f.total);
  Find(library, "cuDeviceGetUuid_v2", f.uuid);  // of the MIG instance, where there is one
  Find(library, "cuDeviceGetUuid", f.uuid);
  Find(library, "cuDeviceGetPCIBusId", f.bus_id);
  if (f.init == nullptr || f.count == nullptr || f.get == nullptr || f.total == nullptr) {
    driver.why_not = fmt::format("{} is not a CUDA driver: it lacks cuInit and its like", path);
    return driver;
  }
  if (f.version != nullptr && f.version(&driver.cuda_version) != 0) driver.cuda_version = 0;
  if (const int result = f.init(0); result != 0) {
    driver.why_not = Explain(result);
    return driver;
  }
  int count = 0;
  if (const int result = f.count(&count); result != 0 || count == 0) {
    driver.why_not = Explain(result == 0 ? 100 : result);
    return driver;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CudaDevice device;
    device.ordinal = ordinal;
    int handle = 0;
    size_t total = 0;
    if (f.get(&handle, ordinal) != 0 || f.total(&total, handle) != 0) {
      // The ordinals of the others must stay right, so it is listed, with nothing known of it.
      driver.devices.push_back(std::move(device));
      continue;
    }
    device.total_bytes = static_cast<int64_t>(total);
    std::array<char, 256> text{};
    const auto size = static_cast<int>(text.size()) - 1;
    if (f.name != nullptr && f.name(text.data(), size, handle) == 0) device.name = text.data();
    text.fill(0);
    if (f.bus_id != nullptr && f.bus_id(text.data(), size, handle) == 0) {
      device.pci_bus_id = text.data();
    }
    std::array<unsigned char, 16> uuid{};
    if (f.uuid != nullptr && f.uuid(uuid.data(), handle) == 0) device.uuid = UuidText(uuid);
    driver.devices.push_back(std::move(device));
  }
  return driver;
}

bool IsCudaPlugin(const Plugin& plugin) {
  return plugin.name() == "cuda" || plugin.attributes().contains("cuda_version");
}

int64_t GpuReserveBytes(int64_t total_bytes, int gpus) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  const int64_t reserve = std::max(kGiB, total_bytes / 25) + (gpus > 1 ? kGiB : 0);
  return std::min(reserve, total_bytes / 2);  // slices of a card may be very small
}

namespace {

// The largest float32 whose part of `total` is at most `bytes`, as XLA multiplies them (in double).
float PartOf(int64_t bytes, int64_t total) {
  auto part = static_cast<float>(static_cast<double>(bytes) / static_cast<double>(total));
  while (static_cast<double>(part) * static_cast<double>(total) > static_cast<double>(bytes)) {
    part = std::nextafter(part, 0.0F);
  }
  return part;
}

}  // namespace

std::optional<float> GpuMemoryFraction(const MemoryOptions& options,
                                       std::span<const CudaDevice> gpus) {
  if (options.fraction) {
    const double asked = *options.fraction;
    if (!(asked > 0 && asked <= 1)) {
      throw Invalid("memory {}: a part of the device's memory must be above 0 and at most 1",
                    asked);
    }
    auto part = static_cast<float>(asked);
    if (static_cast<double>(part) > asked) part = std::nextafter(part, 0.0F);
    return part;
  }
  const bool known = !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [](const auto& gpu) {
    return gpu.total_bytes > 0;
  });
  if (!known) {
    if (!options.limit_bytes) return std::nullopt;
    throw UserError(Code::kFailedPrecondition,
                    fmt::format("memory {}: a cap in bytes needs to know how much memory the GPU "
                                "has, which the NVIDIA driver (libcuda.so.1) does not say here; "
                                "give the cap as a part of it, such as 0.5",
                                HumanBytes(*options.limit_bytes)));
  }
  float part = 1;
  for (const CudaDevice& gpu : gpus) {
    const int64_t most = options.limit_bytes.value_or(
        gpu.total_bytes - GpuReserveBytes(gpu.total_bytes, static_cast<int>(gpus.size())));
    if (most < 1) throw Invalid("memory {} B: a cap must be above 0", most);
    if (most > gpu.total_bytes) {
      throw Invalid("memory {}: cuda:{} ({}) has only {}; give at most that, or choose another GPU",
                    HumanBytes(most), gpu.ordinal, gpu.name, HumanBytes(gpu.total_bytes));
    }
    part = std::min(part, PartOf(most, gpu.total_bytes));
  }
  return part;
}

std::string CudaDriverRemedy(int cuda_version) {
  // NVIDIA's table of minor-version compatibility, in the CUDA toolkit's release notes.
  switch (cuda_version / 1000) {
    case 12:
      return "525 or newer";
    case 13:
      return "580 or newer";
    default:
      return "one for CUDA " + CudaVersionToString(cuda_version);
  }
}

std::string CudaVersionToString(int cuda_version) {
  return fmt::format("{}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
}

}  // namespace flatout::xla
