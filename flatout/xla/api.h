// Private to this folder: calling the PJRT C API safely. Every argument block is zeroed and padded,
// because plugins of other versions may write more than this header's struct holds; every function
// is checked to lie inside the table the plugin has.
#pragma once

#include <pjrt_c_api.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "flatout/xla/error_text.h"
#include "flatout/xla/pjrt.h"

namespace flatout::xla {

template <typename T>
class Padded {
 public:
  explicit Padded(size_t struct_size) {
    std::memset(raw_, 0, sizeof(raw_));
    (*this)->struct_size = struct_size;
  }
  T* operator->() { return reinterpret_cast<T*>(raw_); }
  T* get() { return reinterpret_cast<T*>(raw_); }

 private:
  alignas(T) alignas(16) std::byte raw_[sizeof(T) + 64 < 256 ? 256 : sizeof(T) + 64];
};

// FLATOUT_ARGS(PJRT_Buffer_Delete, args); args->buffer = ...
#define FLATOUT_ARGS(function, name) \
  ::flatout::xla::Padded<function##_Args> name(function##_Args_STRUCT_SIZE)

// Whether the plugin's table holds the function at all.
#define FLATOUT_HAS(api, function)                                                 \
  ((api)->struct_size >= offsetof(PJRT_Api, function) + sizeof((api)->function) && \
   (api)->function != nullptr)

// Calls a function that may fail and throws its translated error; `doing` says what was going on
// ("compiling the program").
#define FLATOUT_CALL(api, function, args, doing)                                   \
  do {                                                                             \
    if (!FLATOUT_HAS(api, function)) ::flatout::xla::ThrowLacks((api), #function); \
    if (PJRT_Error* error_ = (api)->function((args).get()); error_ != nullptr)     \
      ::flatout::xla::ThrowAndDestroy((api), error_, (doing));                     \
  } while (false)

// The same where nothing may be thrown: the error, if any, is dropped.
#define FLATOUT_CALL_QUIETLY(api, function, args)                                \
  do {                                                                           \
    if (FLATOUT_HAS(api, function)) {                                            \
      if (PJRT_Error* error_ = (api)->function((args).get()); error_ != nullptr) \
        ::flatout::xla::DestroyError((api), error_);                             \
    }                                                                            \
  } while (false)

void DestroyError(const PJRT_Api* api, PJRT_Error* error) noexcept;
// Code and text of an error, which is destroyed.
PluginError TakeError(const PJRT_Api* api, PJRT_Error* error);
[[noreturn]] void ThrowAndDestroy(const PJRT_Api* api, PJRT_Error* error, std::string_view doing,
                                  std::string_view program = {});
[[noreturn]] void ThrowLacks(const PJRT_Api* api, std::string_view function);

// Everything a client's buffers, events and executables need to outlive it.
struct ClientState {
  ~ClientState();

  std::shared_ptr<Plugin> plugin;
  const PJRT_Api* api = nullptr;
  PJRT_Client* raw = nullptr;
  ClientOptions options;
  std::vector<Device> devices;
  std::string platform_name, platform_version;
  bool is_cpu = false;
  double create_seconds = 0;
  // Launches over several CPU devices pass through here, one at a time.
  std::unique_ptr<LaunchGate> gate;
  std::mutex launch_mutex;

  int IndexOf(PJRT_Device* device) const;
};

// What a compiled program takes, where the plugin says, and the program as bytes.
std::optional<ProgramMemory> MemoryOf(const PJRT_Api* api, PJRT_Executable* executable);
std::string Serialized(const PJRT_Api* api, PJRT_Executable* executable);

PJRT_Buffer_Type ToPjrt(ir::DType dtype);
ir::DType FromPjrt(PJRT_Buffer_Type type);

}  // namespace flatout::xla
