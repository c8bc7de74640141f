// A CUDA plugin for tests on machines without a GPU: a real CPU plugin (the file that
// FAKE_CUDA_REAL names) behind the manners of the CUDA one. Programs compile and run for real, on
// the CPU; what is played is
//   - the options of PJRT_Client_Create: only those of the CUDA plugin, of the right types, else
//   its
//     errors; each is written as a line "name=value" to the file that FAKE_CUDA_RECORD names;
//   - the devices: the cards of fake_gpus.h that visible_devices picks, one CPU device each;
//   - the allocator: as XLA's BFC allocator with its limit (memory_fraction of what the driver
//   calls
//     the card's memory), its pool (all of the limit at the first allocation, or as needed) and
//     RESOURCE_EXHAUSTED. Arrays count with their bytes in steps of 256; a running program needs
//     its temporaries and those outputs that are not aliased to arguments as well.
// How long things take is told as in fake_time.h.
// FAKE_CUDA_LIMIT makes it disregard the limit asked for and take that many MiB; with
// FAKE_CUDA_EXTRA it finds that many MiB more on each card than the driver says there are.
#include <dlfcn.h>
#include <pjrt_c_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "flatout/xla/testdata/fake_gpus.h"
#include "flatout/xla/testdata/fake_time.h"

namespace {

// ---- errors: the real plugin's, and our own, told apart by their address ----

struct OwnError {
  PJRT_Error_Code code;
  std::string message;
};

const PJRT_Api* real;
std::mutex mutex;
std::map<const void*, OwnError*> errors;

PJRT_Error* MakeError(PJRT_Error_Code code, std::string message) {
  auto* error = new OwnError{code, std::move(message)};
  const std::lock_guard lock(mutex);
  errors[error] = error;
  return reinterpret_cast<PJRT_Error*>(error);
}
OwnError* Own(const void* error) {
  const std::lock_guard lock(mutex);
  const auto at = errors.find(error);
  return at == errors.end() ? nullptr : at->second;
}
void ErrorDestroy(PJRT_Error_Destroy_Args* args) {
  if (OwnError* own = Own(args->error); own != nullptr) {
    {
      const std::lock_guard lock(mutex);
      errors.erase(own);
    }
    delete own;
    return;
  }
  real->PJRT_Error_Destroy(args);
}
void ErrorMessage(PJRT_Error_Message_Args* args) {
  if (OwnError* own = Own(args->error); own != nullptr) {
    args->message = own->message.data();
    args->message_size = own->message.size();
    return;
  }
  real->PJRT_Error_Message(args);
}
PJRT_Error* ErrorGetCode(PJRT_Error_GetCode_Args* args) {
  if (OwnError* own = Own(args->error); own != nullptr) {
    args->code = own->code;
    return nullptr;
  }
  return real->PJRT_Error_GetCode(args);
}

// ---- devices ----

struct Card {
  std::string name;
  int ordinal = 0;
  int64_t free_on_card = 0;  // what others have left of it
  int64_t limit = 0, in_use = 0, peak = 0, pool = 0, largest = 0;
};

bool preallocate = true;
std::vector<Card> cards;  // of the one client, by device number

int IndexOf(PJRT_Device* device) {
  PJRT_Device_GetDescription_Args description{};
  description.struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE;
  description.device = device;
  real->PJRT_Device_GetDescription(&description);
  PJRT_DeviceDescription_Id_Args id{};
  id.struct_size = PJRT_DeviceDescription_Id_Args_STRUCT_SIZE;
  id.device_description = description.device_description;
  real->PJRT_DeviceDescription_Id(&id);
  return id.id;
}

PJRT_Error* PluginAttributes(PJRT_Plugin_Attributes_Args* args) {
  if (PJRT_Error* error = real->PJRT_Plugin_Attributes(args); error != nullptr) return error;
  static std::vector<PJRT_NamedValue> attributes;
  attributes.assign(args->attributes, args->attributes + args->num_attributes);
  PJRT_NamedValue cuda{};
  cuda.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  cuda.name = "cuda_version";
  cuda.name_size = std::strlen(cuda.name);
  cuda.type = PJRT_NamedValue_kInt64;
  cuda.int64_value = 13000;
  cuda.value_size = 1;
  attributes.push_back(cuda);
  args->attributes = attributes.data();
  args->num_attributes = attributes.size();
  return nullptr;
}

void Record(const std::string& line) {
  const char* path = std::getenv("FAKE_CUDA_RECORD");
  if (path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "a"); file != nullptr) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

PJRT_Error* ClientCreate(PJRT_Client_Create_Args* args) {
  double fraction = 0.75;
  preallocate = true;
  std::vector<int64_t> visible;
  bool all = true;
  Record("create");
  for (size_t i = 0; i < args->num_options; ++i) {
    const PJRT_NamedValue& option = args->create_options[i];
    const std::string name(option.name, option.name_size);
    const auto wrong = [&](int expected) {
      return MakeError(PJRT_Error_Code_INVALID_ARGUMENT,
                       "Option passed to PJRT_Client_Create with name " + name +
                           " has type index " + std::to_string(option.type) +
                           " but expected type index is " + std::to_string(expected));
    };
    if (name == "memory_fraction") {
      if (option.type != PJRT_NamedValue_kFloat) return wrong(PJRT_NamedValue_kFloat);
      fraction = static_cast<double>(option.float_value);
      char text[64];
      std::snprintf(text, sizeof(text), "memory_fraction=%.9g", fraction);
      Record(text);
    } else if (name == "preallocate") {
      if (option.type != PJRT_NamedValue_kBool) return wrong(PJRT_NamedValue_kBool);
      preallocate = option.bool_value;
      Record(preallocate ? "preallocate=true" : "preallocate=false");
    } else if (name == "visible_devices") {
      if (option.type != PJRT_NamedValue_kInt64List) return wrong(PJRT_NamedValue_kInt64List);
      visible.assign(option.int64_array_value, option.int64_array_value + option.value_size);
      all = false;
      std::string line = "visible_devices=";
      for (const int64_t ordinal : visible) line += std::to_string(ordinal) + ",";
      Record(line);
    } else {
      return MakeError(PJRT_Error_Code_INVALID_ARGUMENT,
                       "Unexpected option name passed to PJRT_Client_Create: " + name);
    }
  }
  FakeCard there[kFakeMostCards];
  int order[kFakeMostCards];
  const int count = FakeCudaOrder(FakeCards(there), order);
  if (all) {
    for (int i = 0; i < count; ++i) visible.push_back(i);
  }
  cards.clear();
  for (const int64_t ordinal : visible) {
    if (ordinal < 0 || ordinal >= count) continue;
    const FakeCard& on = there[order[ordinal]];
    Card card;
    card.name = on.name;
    card.ordinal = static_cast<int>(ordinal);
    const char* extra = std::getenv("FAKE_CUDA_EXTRA");
    const auto total = static_cast<double>(on.total - on.reserved +
                                           (extra == nullptr ? 0 : std::atoll(extra) << 20));
    card.limit = static_cast<int64_t>(total * fraction);
    if (const char* other = std::getenv("FAKE_CUDA_LIMIT")) card.limit = std::atoll(other) << 20;
    card.free_on_card = on.total - on.reserved - on.used;
    cards.push_back(card);
  }
  if (cards.empty()) {
    return MakeError(PJRT_Error_Code_FAILED_PRECONDITION, "No visible GPU devices.");
  }
  PJRT_NamedValue devices{};
  devices.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  devices.name = "cpu_device_count";
  devices.name_size = std::strlen(devices.name);
  devices.type = PJRT_NamedValue_kInt64;
  devices.int64_value = static_cast<int64_t>(cards.size());
  devices.value_size = 1;
  args->create_options = &devices;
  args->num_options = 1;
  return real->PJRT_Client_Create(args);
}

PJRT_Error* PlatformName(PJRT_Client_PlatformName_Args* args) {
  args->platform_name = "cuda";
  args->platform_name_size = 4;
  return nullptr;
}

PJRT_Error* DescriptionKind(PJRT_DeviceDescription_Kind_Args* args) {
  PJRT_DeviceDescription_Id_Args id{};
  id.struct_size = PJRT_DeviceDescription_Id_Args_STRUCT_SIZE;
  id.device_description = args->device_description;
  if (PJRT_Error* error = real->PJRT_DeviceDescription_Id(&id); error != nullptr) return error;
  const Card& card = cards.at(static_cast<size_t>(id.id));
  args->device_kind = card.name.data();
  args->device_kind_size = card.name.size();
  return nullptr;
}

PJRT_Error* LocalHardwareId(PJRT_Device_LocalHardwareId_Args* args) {
  args->local_hardware_id = cards.at(static_cast<size_t>(IndexOf(args->device))).ordinal;
  return nullptr;
}

PJRT_Error* MemoryStats(PJRT_Device_MemoryStats_Args* args) {
  const int index = IndexOf(args->device);
  const std::lock_guard lock(mutex);
  const Card& card = cards.at(static_cast<size_t>(index));
  args->bytes_in_use = card.in_use;
  args->peak_bytes_in_use = card.peak;
  args->peak_bytes_in_use_is_set = true;
  args->bytes_limit = card.limit;
  args->bytes_limit_is_set = true;
  args->largest_alloc_size = card.largest;
  args->largest_alloc_size_is_set = true;
  args->pool_bytes = card.pool;
  args->pool_bytes_is_set = true;
  return nullptr;
}

// ---- time ----

using fake_time::Clock;
using fake_time::Events;
using fake_time::Milliseconds;
using fake_time::Moment;

// When the device of that number has done all it was told, and when all that was sent to it has
// arrived; arrays that have not.
std::map<int, Moment> device_free, link_free;
std::map<const PJRT_Buffer*, Moment> arrival;

PJRT_Error* EventDestroy(PJRT_Event_Destroy_Args* args) {
  if (Events::Get().Find(args->event) == nullptr) return real->PJRT_Event_Destroy(args);
  Events::Get().Forget(args->event);
  return nullptr;
}
PJRT_Error* EventIsReady(PJRT_Event_IsReady_Args* args) {
  const auto late = Events::Get().Find(args->event);
  if (late == nullptr) return real->PJRT_Event_IsReady(args);
  args->is_ready = false;
  if (late->at > Clock::now()) return nullptr;
  PJRT_Event_IsReady_Args inner = *args;
  inner.event = late->inner;
  PJRT_Error* error = real->PJRT_Event_IsReady(&inner);
  args->is_ready = inner.is_ready;
  return error;
}
PJRT_Error* EventError(PJRT_Event_Error_Args* args) {
  const auto late = Events::Get().Find(args->event);
  PJRT_Event_Error_Args inner = *args;
  if (late != nullptr) inner.event = late->inner;
  return real->PJRT_Event_Error(&inner);
}
PJRT_Error* EventAwait(PJRT_Event_Await_Args* args) {
  const auto late = Events::Get().Find(args->event);
  PJRT_Event_Await_Args inner = *args;
  if (late != nullptr) {
    std::this_thread::sleep_until(late->at);
    inner.event = late->inner;
  }
  return real->PJRT_Event_Await(&inner);
}
PJRT_Error* EventOnReady(PJRT_Event_OnReady_Args* args) {
  const auto late = Events::Get().Find(args->event);
  if (late == nullptr) return real->PJRT_Event_OnReady(args);
  return Events::Get().OnReady(late, args->callback, args->user_arg);
}

PJRT_Error* BufferReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  if (PJRT_Error* error = real->PJRT_Buffer_ReadyEvent(args); error != nullptr) return error;
  Moment at{};
  {
    const std::lock_guard lock(mutex);
    const auto found = arrival.find(args->buffer);
    if (found != arrival.end()) at = found->second;
  }
  args->event = Events::Get().Delay(real, args->event, at);
  return nullptr;
}

PJRT_Error* ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args* args) {
  if (PJRT_Error* error = real->PJRT_Buffer_ToHostBuffer(args); error != nullptr) return error;
  if (args->dst != nullptr && args->dst_size > 1024) {
    args->event =
        Events::Get().Delay(real, args->event, Clock::now() + Milliseconds("FAKE_CUDA_READ_MS"));
  }
  return nullptr;
}

PJRT_Error* Compile(PJRT_Client_Compile_Args* args) {
  std::this_thread::sleep_for(Milliseconds("FAKE_CUDA_COMPILE_MS"));
  return real->PJRT_Client_Compile(args);
}

// Whether `buffer` is one number of that type, and the number.
bool Scalar(PJRT_Buffer* buffer, PJRT_Buffer_Type type, int32_t* value) {
  PJRT_Buffer_ElementType_Args element{};
  element.struct_size = PJRT_Buffer_ElementType_Args_STRUCT_SIZE;
  element.buffer = buffer;
  PJRT_Buffer_Dimensions_Args dimensions{};
  dimensions.struct_size = PJRT_Buffer_Dimensions_Args_STRUCT_SIZE;
  dimensions.buffer = buffer;
  if (real->PJRT_Buffer_ElementType(&element) != nullptr || element.type != type ||
      real->PJRT_Buffer_Dimensions(&dimensions) != nullptr || dimensions.num_dims != 0) {
    return false;
  }
  PJRT_Buffer_ToHostBuffer_Args read{};
  read.struct_size = PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE;
  read.src = buffer;
  read.dst = value;
  read.dst_size = sizeof(*value);
  if (real->PJRT_Buffer_ToHostBuffer(&read) != nullptr) return false;
  PJRT_Event_Await_Args await{};
  await.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE;
  await.event = read.event;
  real->PJRT_Event_Await(&await);
  PJRT_Event_Destroy_Args destroy{};
  destroy.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE;
  destroy.event = read.event;
  real->PJRT_Event_Destroy(&destroy);
  return true;
}

// How long a launch keeps its devices: Flatout's training program ends its arguments with the
// number of steps and the factor of the learning rate, that for evaluation with the number.
struct Duration {
  enum class Kind { kOther, kTraining, kEvaluation } kind = Kind::kOther;
  int32_t steps = 0;
  Clock::duration On(size_t device) const {
    if (kind == Kind::kTraining) return steps * Milliseconds("FAKE_CUDA_STEP_MS", device);
    if (kind == Kind::kEvaluation) return Milliseconds("FAKE_CUDA_EVALUATE_MS", device);
    return {};
  }
};
Duration DurationOf(PJRT_Buffer* const* arguments, size_t count) {
  Duration duration;
  int32_t factor = 0;
  if (count >= 2 && Scalar(arguments[count - 1], PJRT_Buffer_Type_F32, &factor) &&
      Scalar(arguments[count - 2], PJRT_Buffer_Type_S32, &duration.steps)) {
    duration.kind = Duration::Kind::kTraining;
  } else if (count >= 2 && Scalar(arguments[count - 1], PJRT_Buffer_Type_S32, &duration.steps)) {
    duration.kind = Duration::Kind::kEvaluation;
  }
  return duration;
}

// ---- memory ----

struct Held {
  int device;
  int64_t bytes;
};
std::map<PJRT_Buffer*, Held> held;

int64_t Rounded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

int64_t SizeOf(PJRT_Buffer* buffer) {
  PJRT_Buffer_OnDeviceSizeInBytes_Args args{};
  args.struct_size = PJRT_Buffer_OnDeviceSizeInBytes_Args_STRUCT_SIZE;
  args.buffer = buffer;
  if (real->PJRT_Buffer_OnDeviceSizeInBytes(&args) != nullptr) return 0;
  return Rounded(static_cast<int64_t>(args.on_device_size_in_bytes));
}

// Whether `bytes` more fit on the device now; makes the pool large enough. `mutex` is held.
bool Fits(Card& card, int64_t bytes) {
  const int64_t needed = card.in_use + bytes;
  if (needed > card.limit) return false;
  if (card.pool < needed) {
    int64_t pool = preallocate ? card.limit / 256 * 256 : needed;
    // Tries with a tenth less as long as the card has not that much.
    while (pool > card.free_on_card && pool >= needed) pool = pool / 10 * 9;
    if (pool < needed) return false;
    card.pool = pool;
  }
  return true;
}

void Take(PJRT_Buffer* buffer, int device, int64_t bytes) {
  Card& card = cards.at(static_cast<size_t>(device));
  held[buffer] = {device, bytes};
  card.in_use += bytes;
  card.peak = std::max(card.peak, card.in_use);
  card.largest = std::max(card.largest, bytes);
}

void Release(PJRT_Buffer* buffer) {
  arrival.erase(buffer);
  const auto at = held.find(buffer);
  if (at == held.end()) return;
  cards.at(static_cast<size_t>(at->second.device)).in_use -= at->second.bytes;
  held.erase(at);
}

PJRT_Error* OutOfMemory(int64_t bytes) {
  return MakeError(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                   "Out of memory while trying to allocate " + std::to_string(bytes) + " bytes.");
}

void Await(PJRT_Event* event) {
  PJRT_Event_Await_Args args{};
  args.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE;
  args.event = event;
  if (PJRT_Error* error = real->PJRT_Event_Await(&args); error != nullptr) {
    PJRT_Error_Destroy_Args destroy{};
    destroy.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE;
    destroy.error = error;
    real->PJRT_Error_Destroy(&destroy);
  }
}

void BufferDestroyReal(PJRT_Buffer* buffer) {
  PJRT_Buffer_Destroy_Args args{};
  args.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE;
  args.buffer = buffer;
  real->PJRT_Buffer_Destroy(&args);
}

PJRT_Error* BufferFromHost(PJRT_Client_BufferFromHostBuffer_Args* args) {
  if (PJRT_Error* error = real->PJRT_Client_BufferFromHostBuffer(args); error != nullptr) {
    return error;
  }
  const int device = IndexOf(args->device);
  const int64_t bytes = SizeOf(args->buffer);
  const auto per_megabyte = Milliseconds("FAKE_CUDA_COPY_MS_PER_MB", static_cast<size_t>(device));
  bool fits = false;
  Moment arrives{};
  {
    const std::lock_guard lock(mutex);
    fits = Fits(cards.at(static_cast<size_t>(device)), bytes);
    if (fits) {
      Take(args->buffer, device, bytes);
      if (per_megabyte.count() > 0) {
        Moment& free = link_free[device];
        free = std::max(free, Clock::now()) + per_megabyte * bytes / (1 << 20);
        arrives = arrival[args->buffer] = free;
      }
    }
  }
  if (fits) {
    args->done_with_host_buffer = Events::Get().Delay(real, args->done_with_host_buffer, arrives);
    return nullptr;
  }
  Await(args->done_with_host_buffer);
  PJRT_Event_Destroy_Args destroy{};
  destroy.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE;
  destroy.event = args->done_with_host_buffer;
  real->PJRT_Event_Destroy(&destroy);
  BufferDestroyReal(args->buffer);
  return OutOfMemory(bytes);
}

PJRT_Error* BufferDestroy(PJRT_Buffer_Destroy_Args* args) {
  {
    const std::lock_guard lock(mutex);
    Release(args->buffer);
  }
  return real->PJRT_Buffer_Destroy(args);
}

PJRT_Error* BufferDelete(PJRT_Buffer_Delete_Args* args) {
  {
    const std::lock_guard lock(mutex);
    Release(args->buffer);
  }
  return real->PJRT_Buffer_Delete(args);
}

struct Needs {
  int64_t temp = 0, fresh_outputs = 0;
};

Needs NeedsOf(PJRT_LoadedExecutable* loaded) {
  PJRT_LoadedExecutable_GetExecutable_Args get{};
  get.struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE;
  get.loaded_executable = loaded;
  if (real->PJRT_LoadedExecutable_GetExecutable(&get) != nullptr) return {};
  // Plugins of other versions write more than this header's struct holds.
  alignas(16) char block[512] = {};
  auto* stats = reinterpret_cast<PJRT_Executable_GetCompiledMemoryStats_Args*>(block);
  stats->struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE;
  stats->executable = get.executable;
  Needs needs;
  if (real->PJRT_Executable_GetCompiledMemoryStats(stats) == nullptr) {
    needs.temp = Rounded(stats->temp_size_in_bytes);
    needs.fresh_outputs = stats->output_size_in_bytes - stats->alias_size_in_bytes;
  }
  PJRT_Executable_Destroy_Args destroy{};
  destroy.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE;
  destroy.executable = get.executable;
  real->PJRT_Executable_Destroy(&destroy);
  return needs;
}

bool IsDeleted(PJRT_Buffer* buffer) {
  PJRT_Buffer_IsDeleted_Args args{};
  args.struct_size = PJRT_Buffer_IsDeleted_Args_STRUCT_SIZE;
  args.buffer = buffer;
  return real->PJRT_Buffer_IsDeleted(&args) == nullptr && args.is_deleted;
}

size_t NumOutputs(PJRT_LoadedExecutable* loaded) {
  PJRT_LoadedExecutable_GetExecutable_Args get{};
  get.struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE;
  get.loaded_executable = loaded;
  if (real->PJRT_LoadedExecutable_GetExecutable(&get) != nullptr) return 0;
  PJRT_Executable_NumOutputs_Args outputs{};
  outputs.struct_size = PJRT_Executable_NumOutputs_Args_STRUCT_SIZE;
  outputs.executable = get.executable;
  real->PJRT_Executable_NumOutputs(&outputs);
  PJRT_Executable_Destroy_Args destroy{};
  destroy.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE;
  destroy.executable = get.executable;
  real->PJRT_Executable_Destroy(&destroy);
  return outputs.num_outputs;
}

std::vector<int> DevicesOf(PJRT_LoadedExecutable* loaded) {
  PJRT_LoadedExecutable_AddressableDevices_Args list{};
  list.struct_size = PJRT_LoadedExecutable_AddressableDevices_Args_STRUCT_SIZE;
  list.executable = loaded;
  std::vector<int> devices;
  if (real->PJRT_LoadedExecutable_AddressableDevices(&list) != nullptr) return devices;
  for (size_t i = 0; i < list.num_addressable_devices; ++i) {
    devices.push_back(IndexOf(list.addressable_devices[i]));
  }
  return devices;
}

PJRT_Error* Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  const Needs needs = NeedsOf(args->executable);
  const std::vector<int> devices = DevicesOf(args->executable);
  const int64_t bytes = needs.temp + needs.fresh_outputs;
  bool fits = true;
  {
    const std::lock_guard lock(mutex);
    for (const int device : devices) {
      Card& card = cards.at(static_cast<size_t>(device));
      fits = fits && Fits(card, bytes);
      if (fits) card.peak = std::max(card.peak, card.in_use + bytes);
    }
  }
  if (!fits) return OutOfMemory(bytes);
  const Duration duration = DurationOf(args->argument_lists[0], args->num_args);
  if (duration.kind == Duration::Kind::kTraining) {
    std::this_thread::sleep_for(Milliseconds("FAKE_CUDA_LAUNCH_MS"));
  }
  std::vector<Moment> ends(args->num_devices);
  {
    const std::lock_guard lock(mutex);
    for (size_t d = 0; d < args->num_devices; ++d) {
      Moment& free = device_free[devices.at(d)];
      free = std::max(free, Clock::now());
      // Programs wait for their arguments.
      for (size_t a = 0; a < args->num_args; ++a) {
        const auto found = arrival.find(args->argument_lists[d][a]);
        if (found != arrival.end()) free = std::max(free, found->second);
      }
      free += duration.On(static_cast<size_t>(devices.at(d)));
      ends[d] = free;
    }
  }
  if (PJRT_Error* error = real->PJRT_LoadedExecutable_Execute(args); error != nullptr) return error;
  // One launch at a time: several CPU devices deadlock otherwise.
  for (size_t d = 0; d < args->num_devices && args->device_complete_events != nullptr; ++d) {
    if (args->num_devices > 1) Await(args->device_complete_events[d]);
    args->device_complete_events[d] =
        Events::Get().Delay(real, args->device_complete_events[d], ends[d]);
  }
  const size_t outputs = NumOutputs(args->executable);
  for (size_t d = 0; d < args->num_devices; ++d) {
    for (size_t a = 0; a < args->num_args; ++a) {
      PJRT_Buffer* buffer = args->argument_lists[d][a];
      if (!IsDeleted(buffer)) continue;
      const std::lock_guard lock(mutex);
      Release(buffer);
    }
    for (size_t o = 0; o < outputs; ++o) {
      PJRT_Buffer* buffer = args->output_lists[d][o];
      const int64_t bytes = SizeOf(buffer);
      const std::lock_guard lock(mutex);
      Take(buffer, devices.at(d), bytes);
    }
  }
  return nullptr;
}

// ---- the profiler (extension 1; see flatout/xla/profiler.cc) ----
//
// FAKE_CUDA_PROFILE names a file with what it is to have recorded; without it there is no profiler.
// FAKE_CUDA_PROFILER: "filled" (it fills the caller's memory), "own" (it answers with its own, and
// one byte too many, as XLA's does), "create", "start", "stop", "collect" (that call fails).

struct ProfilerError {
  std::string message;
};
struct ErrorArgs {
  size_t struct_size;
  void* priv;
  ProfilerError* error;
  const char* message;
  size_t message_size;
};
struct ProfilerCreateArgs {
  size_t struct_size;
  const char* options;
  size_t options_size;
  void* profiler;
};
struct ProfilerCallArgs {
  size_t struct_size;
  void* profiler;
};
struct ProfilerCollectArgs {
  size_t struct_size;
  void* profiler;
  uint8_t* buffer;
  size_t buffer_size;
};

ProfilerError* FailsAt(const char* call) {
  Record(std::string("profiler ") + call);
  const char* how = std::getenv("FAKE_CUDA_PROFILER");
  if (how == nullptr || std::strcmp(how, call) != 0) return nullptr;
  return new ProfilerError{std::string("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES in ") + call};
}
void ProfilerErrorDestroy(ErrorArgs* args) { delete args->error; }
void ProfilerErrorMessage(ErrorArgs* args) {
  args->message = args->error->message.data();
  args->message_size = args->error->message.size();
}
ProfilerError* ProfilerErrorGetCode(ErrorArgs*) { return nullptr; }
ProfilerError* ProfilerCreate(ProfilerCreateArgs* args) {
  args->profiler = new std::string;
  return FailsAt("create");
}
ProfilerError* ProfilerDestroy(ProfilerCallArgs* args) {
  delete static_cast<std::string*>(args->profiler);
  return FailsAt("destroy");
}
ProfilerError* ProfilerStart(ProfilerCallArgs*) { return FailsAt("start"); }
ProfilerError* ProfilerStop(ProfilerCallArgs*) { return FailsAt("stop"); }
ProfilerError* ProfilerCollect(ProfilerCollectArgs* args) {
  if (ProfilerError* error = FailsAt("collect"); error != nullptr) return error;
  auto& space = *static_cast<std::string*>(args->profiler);
  if (space.empty()) {
    if (std::FILE* file = std::fopen(std::getenv("FAKE_CUDA_PROFILE"), "r"); file != nullptr) {
      char part[4096];
      for (size_t got = 0; (got = std::fread(part, 1, sizeof(part), file)) > 0;) {
        space.append(part, got);
      }
      std::fclose(file);
    }
  }
  const char* how = std::getenv("FAKE_CUDA_PROFILER");
  if (how != nullptr && std::strcmp(how, "own") == 0) {
    args->buffer = reinterpret_cast<uint8_t*>(space.data());
    args->buffer_size = space.size() + 1;
  } else if (args->buffer == nullptr) {
    args->buffer_size = space.size();
  } else {
    std::memcpy(args->buffer, space.data(), space.size());
  }
  return nullptr;
}

PJRT_Extension_Base* FakeProfiler() {
  if (std::getenv("FAKE_CUDA_PROFILE") == nullptr) return nullptr;
  static struct {
    size_t struct_size = sizeof(*this);
    void* priv = nullptr;
    void (*error_destroy)(ErrorArgs*) = ProfilerErrorDestroy;
    void (*error_message)(ErrorArgs*) = ProfilerErrorMessage;
    ProfilerError* (*error_get_code)(ErrorArgs*) = ProfilerErrorGetCode;
    ProfilerError* (*create)(ProfilerCreateArgs*) = ProfilerCreate;
    ProfilerError* (*destroy)(ProfilerCallArgs*) = ProfilerDestroy;
    ProfilerError* (*start)(ProfilerCallArgs*) = ProfilerStart;
    ProfilerError* (*stop)(ProfilerCallArgs*) = ProfilerStop;
    ProfilerError* (*collect)(ProfilerCollectArgs*) = ProfilerCollect;
  } api;
  static struct {
    PJRT_Extension_Base base;
    void* api;
    int64_t context_id;
  } extension;
  extension.base.struct_size = sizeof(extension);
  extension.base.type = static_cast<PJRT_Extension_Type>(1);
  extension.base.next = nullptr;
  extension.api = &api;
  return &extension.base;
}

}  // namespace

extern "C" const PJRT_Api* GetPjrtApi() {
  const char* path = std::getenv("FAKE_CUDA_REAL");
  if (path == nullptr) return nullptr;
  void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return nullptr;
  real = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))();
  static std::vector<uint64_t> table(real->struct_size / 8 + 1);
  std::memcpy(table.data(), real, real->struct_size);
  auto* api = reinterpret_cast<PJRT_Api*>(table.data());
  api->extension_start = FakeProfiler();
  api->PJRT_Error_Destroy = ErrorDestroy;
  api->PJRT_Error_Message = ErrorMessage;
  api->PJRT_Error_GetCode = ErrorGetCode;
  api->PJRT_Plugin_Attributes = PluginAttributes;
  api->PJRT_Client_Create = ClientCreate;
  api->PJRT_Client_PlatformName = PlatformName;
  api->PJRT_DeviceDescription_Kind = DescriptionKind;
  api->PJRT_Device_LocalHardwareId = LocalHardwareId;
  api->PJRT_Device_MemoryStats = MemoryStats;
  api->PJRT_Client_BufferFromHostBuffer = BufferFromHost;
  api->PJRT_Buffer_Destroy = BufferDestroy;
  api->PJRT_Buffer_Delete = BufferDelete;
  api->PJRT_LoadedExecutable_Execute = Execute;
  api->PJRT_Event_Destroy = EventDestroy;
  api->PJRT_Event_IsReady = EventIsReady;
  api->PJRT_Event_Error = EventError;
  api->PJRT_Event_Await = EventAwait;
  api->PJRT_Event_OnReady = EventOnReady;
  api->PJRT_Buffer_ReadyEvent = BufferReadyEvent;
  api->PJRT_Buffer_ToHostBuffer = ToHostBuffer;
  api->PJRT_Client_Compile = Compile;
  return api;
}
