// Clients, devices, events and buffers.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "flatout/base/error.h"
#include "flatout/xla/api.h"
#include "flatout/xla/cuda_driver.h"

namespace flatout::xla {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr std::array<std::pair<ir::DType, PJRT_Buffer_Type>, 13> kTypes = {{
    {ir::DType::kPred, PJRT_Buffer_Type_PRED},
    {ir::DType::kI8, PJRT_Buffer_Type_S8},
    {ir::DType::kI16, PJRT_Buffer_Type_S16},
    {ir::DType::kI32, PJRT_Buffer_Type_S32},
    {ir::DType::kI64, PJRT_Buffer_Type_S64},
    {ir::DType::kU8, PJRT_Buffer_Type_U8},
    {ir::DType::kU16, PJRT_Buffer_Type_U16},
    {ir::DType::kU32, PJRT_Buffer_Type_U32},
    {ir::DType::kU64, PJRT_Buffer_Type_U64},
    {ir::DType::kF16, PJRT_Buffer_Type_F16},
    {ir::DType::kBF16, PJRT_Buffer_Type_BF16},
    {ir::DType::kF32, PJRT_Buffer_Type_F32},
    {ir::DType::kF64, PJRT_Buffer_Type_F64},
}};

// The options of PJRT_Client_Create; keeps what they point to.
class CreateOptions {
 public:
  void Int(std::string_view name, int64_t value) {
    Add(name, PJRT_NamedValue_kInt64).int64_value = value;
  }
  void Bool(std::string_view name, bool value) {
    Add(name, PJRT_NamedValue_kBool).bool_value = value;
  }
  void Float(std::string_view name, float value) {
    Add(name, PJRT_NamedValue_kFloat).float_value = value;
  }
  void List(std::string_view name, const std::vector<int64_t>& value) {
    PJRT_NamedValue& added = Add(name, PJRT_NamedValue_kInt64List);
    added.int64_array_value = value.data();
    added.value_size = value.size();
  }
  const std::vector<PJRT_NamedValue>& values() const { return values_; }

 private:
  PJRT_NamedValue& Add(std::string_view name, PJRT_NamedValue_Type type) {
    PJRT_NamedValue& value = values_.emplace_back();
    std::memset(&value, 0, sizeof(value));
    value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    value.name = name.data();
    value.name_size = name.size();
    value.type = type;
    value.value_size = 1;
    return value;
  }
  std::vector<PJRT_NamedValue> values_;
};

// The GPUs that a client of these options will have, of those the driver shows; empty where that
// is not known. Throws where it is known that there can be none.
std::vector<CudaDevice> ChosenGpus(const Plugin& plugin, const std::vector<int64_t>& visible) {
  const CudaDriver driver = ReadCudaDriver();
  if (!driver.loaded && !HasNvidiaDriver()) {
    throw UserError(Code::kFailedPrecondition,
                    "device \"cuda\": this machine has no NVIDIA GPU, or its driver is not loaded "
                    "(there is no /dev/nvidiactl). Inside a container, start it with GPU access "
                    "(docker run --gpus all); otherwise use device \"cpu\"");
  }
  // Without the library the plugin has its say; it looks for it in the same way.
  if (!driver.loaded) return {};
  if (driver.devices.empty()) {
    throw UserError(Code::kFailedPrecondition,
                    fmt::format("device \"cuda\": no GPU can be used: {}; flatout doctor says more",
                                driver.why_not));
  }
  if (const auto built = plugin.attributes().find("cuda_version");
      built != plugin.attributes().end() && driver.cuda_version > 0) {
    const int needed = std::atoi(built->second.c_str());
    if (driver.cuda_version / 1000 < needed / 1000) {
      throw UserError(
          Code::kFailedPrecondition,
          fmt::format(
              "device \"cuda\": the NVIDIA driver serves CUDA up to {}, but plugin {} needs "
              "{}; install a newer driver ({})",
              CudaVersionToString(driver.cuda_version), plugin.path(), CudaVersionToString(needed),
              CudaDriverRemedy(needed)));
    }
  }
  if (visible.empty()) return driver.devices;
  std::vector<CudaDevice> chosen;
  for (const int64_t ordinal : visible) {
    if (ordinal < 0 || ordinal >= static_cast<int64_t>(driver.devices.size())) {
      throw NotFound("device \"cuda:{}\": this machine has {} GPU{}, numbered from 0", ordinal,
                     driver.devices.size(), driver.devices.size() == 1 ? "" : "s");
    }
    chosen.push_back(driver.devices[static_cast<size_t>(ordinal)]);
  }
  return chosen;
}

}  // namespace

void KeepMemoryBetweenLaunches() {
  constexpr int kKept = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kKept);
  mallopt(M_TRIM_THRESHOLD, kKept);
  // Further arenas are made of pieces of 64 MiB, each of which goes back to the kernel when it is
  // empty, whatever the threshold.
  mallopt(M_ARENA_MAX, 1);
}

PJRT_Buffer_Type ToPjrt(ir::DType dtype) { return kTypes[static_cast<size_t>(dtype)].second; }

ir::DType FromPjrt(PJRT_Buffer_Type type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  throw UserError(Code::kUnimplemented,
                  fmt::format("arrays of PJRT element type {} are not supported", int{type}));
}

namespace {

struct ByteUnit {
  std::string_view name;
  double bytes;
};
// Decreasing, for ToString; exact names only: "10Gb" are gigabits to some and "10G" is two things.
constexpr ByteUnit kByteUnits[] = {
    {"TiB", 1099511627776.0},
    {"TB", 1e12},
    {"GiB", 1073741824.0},
    {"GB", 1e9},
    {"MiB", 1048576.0},
    {"MB", 1e6},
    {"KiB", 1024},
    {"kB", 1e3},
    {"B", 1},
};

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

constexpr std::string_view kMemoryForms =
    "expected \"all\", \"grow\" (on demand), a cap as a size (\"10GiB\", \"8000MiB\") or as a part "
    "of "
    "the device's memory (0.5), or growth and cap together (\"grow,10GiB\")";

// One cap: "10GiB" or "0.5".
void ParseCap(std::string_view text, std::string_view whole, MemoryOptions& result) {
  const auto wrong = [&](const std::string& why) {
    return Invalid("memory \"{}\": {}; {}", whole, why, kMemoryForms);
  };
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || std::isnan(number)) {
    throw wrong(fmt::format("\"{}\" is neither a word it knows nor a number", text));
  }
  if (result.fraction || result.limit_bytes) throw wrong("it has two caps");
  const std::string_view unit =
      Trim(std::string_view(end, static_cast<size_t>(text.data() + text.size() - end)));
  const bool too_large = error == std::errc::result_out_of_range || !std::isfinite(number);
  if (!too_large && number <= 0) throw wrong("a cap must be above 0");
  if (unit.empty()) {
    if (too_large || number > 1) {
      throw wrong(
          fmt::format("a number without a unit is a part of the device's memory, at most 1; "
                      "did you mean \"{}GiB\"?",
                      text));
    }
    result.fraction = number;
    return;
  }
  for (const ByteUnit& known : kByteUnits) {
    if (unit != known.name) continue;
    const double bytes = number * known.bytes;
    if (too_large || bytes >= 9e18) throw wrong("no device has that much");
    if (bytes < 1) throw wrong("that is less than a byte");
    result.limit_bytes = static_cast<int64_t>(bytes);
    return;
  }
  throw wrong(
      fmt::format("\"{}\" is no unit; known are B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, "
                  "GB, TB (of 1000)",
                  unit));
}

}  // namespace

MemoryOptions MemoryOptions::Parse(std::string_view text) {
  MemoryOptions result;
  if (Trim(text) == "all") return result;
  for (std::string_view rest = text;;) {
    const size_t comma = rest.find(',');
    const std::string_view part = Trim(rest.substr(0, comma));
    if (part == "grow" && !result.grow) {
      result.grow = true;
    } else if (part == "all" || part == "grow" || part.empty()) {
      throw Invalid("memory \"{}\" is not understood; {}", text, kMemoryForms);
    } else {
      ParseCap(part, text, result);
    }
    if (comma == std::string_view::npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

std::string MemoryOptions::ToString() const {
  std::string cap;
  if (limit_bytes) {
    for (const ByteUnit& unit : kByteUnits) {
      const auto bytes = static_cast<int64_t>(unit.bytes);
      if (*limit_bytes % bytes != 0) continue;
      cap = fmt::format("{}{}", *limit_bytes / bytes, unit.name);
      break;
    }
  } else if (fraction) {
    cap = fmt::format("{}", *fraction);
  }
  if (!grow) return cap.empty() ? "all" : cap;
  return cap.empty() ? "grow" : "grow," + cap;
}

void ReadConfig(const Config& value, MemoryOptions& field) {
  if (!value.is_string() && !value.is_number()) {
    throw value.Complain(fmt::format("{}, found {}", kMemoryForms, value.Describe()));
  }
  try {
    field = MemoryOptions::Parse(value.is_string() ? value.AsString()
                                                   : fmt::format("{}", value.AsDouble()));
  } catch (const UserError& error) {
    // The key's name stands there already.
    std::string_view message = error.message();
    constexpr std::string_view kKey = "memory ";
    if (message.starts_with(kKey)) message.remove_prefix(kKey.size());
    throw value.Complain(message);
  }
}

// ---- Client ----

ClientState::~ClientState() {
  if (raw == nullptr) return;
  FLATOUT_ARGS(PJRT_Client_Destroy, args);
  args->client = raw;
  FLATOUT_CALL_QUIETLY(api, PJRT_Client_Destroy, args);
}

int ClientState::IndexOf(PJRT_Device* device) const {
  FLATOUT_ARGS(PJRT_Device_GetDescription, args);
  args->device = device;
  FLATOUT_CALL(api, PJRT_Device_GetDescription, args, "asking for a device");
  FLATOUT_ARGS(PJRT_DeviceDescription_Id, id);
  id->device_description = args->device_description;
  FLATOUT_CALL(api, PJRT_DeviceDescription_Id, id, "asking for a device");
  for (const Device& known : devices) {
    if (known.id() == id->id) return known.index();
  }
  throw Internal("device {} is not one of this process", id->id);
}

std::shared_ptr<Client> Client::Create(std::shared_ptr<Plugin> plugin,
                                       const ClientOptions& options) {
  const auto begin = Clock::now();
  if (options.cpu_device_count < 1 || options.cpu_device_count > 1024) {
    throw Invalid("the number of CPU devices must be from 1 to 1024, found {}",
                  options.cpu_device_count);
  }
  if (options.launches_in_flight < 0) {
    throw Invalid("launches_in_flight must be 0 (off) or more, found {}",
                  options.launches_in_flight);
  }
  CreateOptions create;
  const bool cuda = IsCudaPlugin(*plugin);
  if (cuda) {
    const std::vector<CudaDevice> gpus = ChosenGpus(*plugin, options.visible_devices);
    create.Bool("preallocate", !options.memory.grow);
    if (const auto fraction = GpuMemoryFraction(options.memory, gpus)) {
      create.Float("memory_fraction", *fraction);
    }
    if (!options.visible_devices.empty()) create.List("visible_devices", options.visible_devices);
  } else {
    if (options.memory.fraction || options.memory.limit_bytes) {
      throw Invalid(
          "plugin {} is not for CUDA and keeps to no memory limit; limit the process or container",
          plugin->path());
    }
    if (!options.visible_devices.empty()) {
      throw Invalid("visible_devices chooses among GPUs; plugin {} is not for CUDA",
                    plugin->path());
    }
    create.Int("cpu_device_count", options.cpu_device_count);
    KeepMemoryBetweenLaunches();
  }

  auto state = std::make_shared<ClientState>();
  state->plugin = plugin;
  state->api = plugin->api();
  state->options = options;
  const PJRT_Api* api = state->api;
  const std::string doing = fmt::format("starting the devices of plugin {}", plugin->path());
  FLATOUT_ARGS(PJRT_Client_Create, args);
  args->create_options = create.values().data();
  args->num_options = create.values().size();
  if (!FLATOUT_HAS(api, PJRT_Client_Create)) ThrowLacks(api, "PJRT_Client_Create");
  PJRT_Error* error = api->PJRT_Client_Create(args.get());
  if (error != nullptr) {
    const PluginError said = TakeError(api, error);
    // Plugins for other devices know nothing of cpu_device_count, and need not.
    const bool foreign = !cuda && said.message.find("cpu_device_count") != std::string::npos;
    if (!foreign) std::rethrow_exception(Translate(said, doing));
    args->num_options = 0;
    FLATOUT_CALL(api, PJRT_Client_Create, args, doing);
  }
  state->raw = args->client;

  FLATOUT_ARGS(PJRT_Client_PlatformName, name);
  name->client = state->raw;
  FLATOUT_CALL(api, PJRT_Client_PlatformName, name, doing);
  state->platform_name.assign(name->platform_name, name->platform_name_size);
  FLATOUT_ARGS(PJRT_Client_PlatformVersion, version);
  version->client = state->raw;
  FLATOUT_CALL(api, PJRT_Client_PlatformVersion, version, doing);
  state->platform_version.assign(version->platform_version, version->platform_version_size);
  state->is_cpu = state->platform_name == "cpu" || state->platform_name == "Host";

  FLATOUT_ARGS(PJRT_Client_AddressableDevices, list);
  list->client = state->raw;
  FLATOUT_CALL(api, PJRT_Client_AddressableDevices, list, doing);
  for (size_t i = 0; i < list->num_addressable_devices; ++i) {
    Device device;
    device.raw_ = list->addressable_devices[i];
    device.client_ = state.get();
    device.index_ = static_cast<int>(i);
    FLATOUT_ARGS(PJRT_Device_GetDescription, description);
    description->device = device.raw_;
    FLATOUT_CALL(api, PJRT_Device_GetDescription, description, doing);
    FLATOUT_ARGS(PJRT_DeviceDescription_Id, id);
    id->device_description = description->device_description;
    FLATOUT_CALL(api, PJRT_DeviceDescription_Id, id, doing);
    device.id_ = id->id;
    FLATOUT_ARGS(PJRT_DeviceDescription_Kind, kind);
    kind->device_description = description->device_description;
    FLATOUT_CALL(api, PJRT_DeviceDescription_Kind, kind, doing);
    device.kind_.assign(kind->device_kind, kind->device_kind_size);
    FLATOUT_ARGS(PJRT_DeviceDescription_ToString, text);
    text->device_description = description->device_description;
    FLATOUT_CALL(api, PJRT_DeviceDescription_ToString, text, doing);
    device.description_.assign(text->to_string, text->to_string_size);
    FLATOUT_ARGS(PJRT_Device_LocalHardwareId, local);
    local->device = device.raw_;
    if (FLATOUT_HAS(api, PJRT_Device_LocalHardwareId)) {
      if (PJRT_Error* unknown = api->PJRT_Device_LocalHardwareId(local.get()); unknown != nullptr) {
        DestroyError(api, unknown);
      } else {
        device.local_hardware_id_ = local->local_hardware_id;
      }
    }
    state->devices.push_back(std::move(device));
  }
  if (state->devices.empty()) {
    throw UserError(Code::kNotFound, fmt::format("plugin {} has no devices", plugin->path()));
  }
  if (state->is_cpu && options.launches_in_flight > 0) {
    state->gate = std::make_unique<LaunchGate>(options.launches_in_flight);
  }
  state->create_seconds = SecondsSince(begin);
  auto client = std::shared_ptr<Client>(new Client());
  client->state_ = std::move(state);
  return client;
}

Client::~Client() = default;

const Plugin& Client::plugin() const { return *state_->plugin; }
const ClientOptions& Client::options() const { return state_->options; }
const std::vector<Device>& Client::devices() const { return state_->devices; }
const std::string& Client::platform_name() const { return state_->platform_name; }
const std::string& Client::platform_version() const { return state_->platform_version; }
bool Client::is_cpu() const { return state_->is_cpu; }
double Client::create_seconds() const { return state_->create_seconds; }

void Client::CheckSize(size_t bytes, const ir::Shape& shape) {
  if (static_cast<int64_t>(bytes) != shape.bytes()) {
    throw Invalid("{} bytes were given for an array {} of {} bytes", bytes, shape.ToString(),
                  shape.bytes());
  }
}

Buffer Client::FromHost(const void* data, const ir::Shape& shape, const Device& device,
                        HostSemantics semantics, Event* host_free) const {
  const PJRT_Api* api = state_->api;
  if (device.client_ != state_.get()) throw Invalid("the device is not one of this client");
  for (int64_t dim : shape.dims) {
    if (dim < 0) throw Invalid("an array cannot have the shape {}", shape.ToString());
  }
  if (data == nullptr && shape.bytes() > 0) throw Invalid("no data given for {}", shape.ToString());
  FLATOUT_ARGS(PJRT_Client_BufferFromHostBuffer, args);
  args->client = state_->raw;
  args->data = data;
  args->type = ToPjrt(shape.dtype);
  args->dims = shape.dims.data();
  args->num_dims = shape.dims.size();
  args->device = device.raw_;
  switch (semantics) {
    case HostSemantics::kCopy:
      args->host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
      break;
    case HostSemantics::kUntilTransferCompletes:
      args->host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
      break;
    case HostSemantics::kZeroCopy:
      args->host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy;
      break;
  }
  // The description is made only where it is needed: this runs for every batch.
  if (!FLATOUT_HAS(api, PJRT_Client_BufferFromHostBuffer)) {
    ThrowLacks(api, "PJRT_Client_BufferFromHostBuffer");
  }
  if (PJRT_Error* error = api->PJRT_Client_BufferFromHostBuffer(args.get()); error != nullptr) {
    ThrowAndDestroy(api, error, fmt::format("sending {} to {}", shape.ToString(), device.kind()));
  }
  Event done(state_, args->done_with_host_buffer);
  Buffer buffer(state_, args->buffer, std::make_shared<const ir::Shape>(shape), device.index());
  if (host_free != nullptr) *host_free = std::move(done);
  return buffer;
}

// ---- Device ----

std::optional<DeviceMemoryStats> Device::memory_stats() const {
  const PJRT_Api* api = client_->api;
  if (!FLATOUT_HAS(api, PJRT_Device_MemoryStats)) return std::nullopt;
  FLATOUT_ARGS(PJRT_Device_MemoryStats, args);
  args->device = raw_;
  if (PJRT_Error* error = api->PJRT_Device_MemoryStats(args.get()); error != nullptr) {
    const PluginError said = TakeError(api, error);
    // "Not supported" is an answer; anything else is an error.
    if (said.code == Code::kUnimplemented ||
        said.message.find("not supported") != std::string::npos) {
      return std::nullopt;
    }
    std::rethrow_exception(Translate(said, "asking for the device's memory"));
  }
  DeviceMemoryStats stats;
  stats.bytes_in_use = args->bytes_in_use;
  if (args->peak_bytes_in_use_is_set) stats.peak_bytes_in_use = args->peak_bytes_in_use;
  if (args->bytes_limit_is_set) stats.bytes_limit = args->bytes_limit;
  if (args->largest_alloc_size_is_set) stats.largest_alloc = args->largest_alloc_size;
  if (args->pool_bytes_is_set) stats.pool_bytes = args->pool_bytes;
  return stats;
}

// ---- Event ----

Event::Event(Event&& other) noexcept
    : client_(std::move(other.client_)), raw_(std::exchange(other.raw_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this == &other) return *this;
  Event ended(std::move(*this));  // destroyed at the end of this function
  client_ = std::move(other.client_);
  raw_ = std::exchange(other.raw_, nullptr);
  return *this;
}

Event::~Event() {
  if (raw_ == nullptr) return;
  FLATOUT_ARGS(PJRT_Event_Destroy, args);
  args->event = raw_;
  FLATOUT_CALL_QUIETLY(client_->api, PJRT_Event_Destroy, args);
}

void Event::Await() const {
  if (raw_ == nullptr) return;
  FLATOUT_ARGS(PJRT_Event_Await, args);
  args->event = raw_;
  FLATOUT_CALL(client_->api, PJRT_Event_Await, args, "running on the device");
}

bool Event::IsReady() const {
  if (raw_ == nullptr) return true;
  FLATOUT_ARGS(PJRT_Event_IsReady, args);
  args->event = raw_;
  FLATOUT_CALL(client_->api, PJRT_Event_IsReady, args, "asking whether the device is done");
  return args->is_ready;
}

namespace {

// What a plugin's callback finds at its user_arg. It does not keep the client: letting go of the
// last hold on it here would destroy the client on one of its own threads, which then waits for
// itself. The client's end waits for its callbacks instead.
struct Waiter {
  const PJRT_Api* api;  // plugins are never unloaded
  std::function<void(std::exception_ptr)> callback;
};

void Wake(PJRT_Error* error, void* argument) {
  const std::unique_ptr<Waiter> waiter(static_cast<Waiter*>(argument));
  std::exception_ptr failure;
  if (error != nullptr) {
    failure = Translate(TakeError(waiter->api, error), "running on the device");
  }
  waiter->callback(failure);
}

}  // namespace

void Event::OnDone(std::function<void(std::exception_ptr)> callback) const {
  if (raw_ == nullptr) {
    callback(nullptr);
    return;
  }
  const PJRT_Api* api = client_->api;
  auto waiter = std::make_unique<Waiter>(Waiter{api, std::move(callback)});
  if (!FLATOUT_HAS(api, PJRT_Event_OnReady)) ThrowLacks(api, "PJRT_Event_OnReady");
  FLATOUT_ARGS(PJRT_Event_OnReady, args);
  args->event = raw_;
  args->callback = Wake;
  args->user_arg = waiter.get();
  if (PJRT_Error* error = api->PJRT_Event_OnReady(args.get()); error != nullptr) {
    // The plugin won't call: somebody may be counting on it, so this does.
    waiter->callback(Translate(TakeError(api, error), "waiting for the device"));
    return;
  }
  static_cast<void>(waiter.release());  // Wake's now
}

void Event::OnReady(std::function<void()> callback) const {
  OnDone([callback = std::move(callback)](const std::exception_ptr&) { callback(); });
}

// ---- Buffer ----

Buffer::Buffer(Buffer&& other) noexcept
    : client_(std::move(other.client_)),
      shape_(std::move(other.shape_)),
      raw_(std::exchange(other.raw_, nullptr)),
      device_(other.device_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  Destroy();
  client_ = std::move(other.client_);
  shape_ = std::move(other.shape_);
  raw_ = std::exchange(other.raw_, nullptr);
  device_ = other.device_;
  return *this;
}

Buffer::~Buffer() { Destroy(); }

void Buffer::Destroy() noexcept {
  if (raw_ == nullptr) return;
  FLATOUT_ARGS(PJRT_Buffer_Destroy, args);
  args->buffer = std::exchange(raw_, nullptr);
  FLATOUT_CALL_QUIETLY(client_->api, PJRT_Buffer_Destroy, args);
}

namespace {

// Copies the elements of an array whose dimensions lie in the order `minor_to_major` to row-major
// order.
void ToRowMajor(const std::byte* source, const std::vector<int64_t>& minor_to_major,
                const ir::Shape& shape, std::byte* destination) {
  const auto width = static_cast<size_t>(ir::ByteSize(shape.dtype));
  const size_t rank = shape.dims.size();
  std::vector<int64_t> strides(rank), at(rank, 0);  // in elements of the source
  int64_t stride = 1;
  for (int64_t dim : minor_to_major) {
    strides[static_cast<size_t>(dim)] = stride;
    stride *= shape.dims[static_cast<size_t>(dim)];
  }
  int64_t offset = 0;
  for (int64_t i = 0, size = shape.size(); i < size; ++i) {
    std::memcpy(destination + static_cast<size_t>(i) * width,
                source + static_cast<size_t>(offset) * width, width);
    // The next index, the last dimension fastest.
    for (size_t d = rank; d-- > 0;) {
      offset += strides[d];
      if (++at[d] < shape.dims[d]) break;
      offset -= strides[d] * shape.dims[d];
      at[d] = 0;
    }
  }
}

void CheckNotEmpty(const void* raw) {
  if (raw == nullptr) throw Invalid("this buffer object is empty (moved from, or never filled)");
}

}  // namespace

const ir::Shape& Buffer::shape() const {
  CheckNotEmpty(raw_);
  return *shape_;
}

const Device& Buffer::device() const {
  CheckNotEmpty(raw_);
  return client_->devices[static_cast<size_t>(device_)];
}

Event Buffer::ToHostAsync(void* destination, size_t size) const {
  CheckNotEmpty(raw_);
  if (static_cast<int64_t>(size) != shape_->bytes()) {
    throw Invalid("reading {} takes {} bytes, but room for {} was given", shape_->ToString(),
                  shape_->bytes(), size);
  }
  if (size == 0) return ReadyEvent();
  // PJRT 0.81 on CPU disregards the layout that is asked for and copies in the device's order, so
  // only the order that is there already is ever asked for, and anything else is put right here.
  const std::vector<int64_t> order = minor_to_major();
  const auto rank = static_cast<size_t>(shape_->rank());
  std::vector<int64_t> row_major(rank);
  for (size_t i = 0; i < rank; ++i) row_major[i] = static_cast<int64_t>(rank - 1 - i);
  const bool reorder = order.size() == rank && order != row_major;
  Padded<PJRT_Buffer_MemoryLayout> layout(PJRT_Buffer_MemoryLayout_STRUCT_SIZE);
  layout->struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  layout->type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout->tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  layout->tiled.minor_to_major = reorder ? order.data() : row_major.data();
  layout->tiled.minor_to_major_size = rank;
  std::vector<std::byte> staging(reorder ? size : 0);
  FLATOUT_ARGS(PJRT_Buffer_ToHostBuffer, args);
  args->src = raw_;
  args->host_layout = layout.get();
  args->dst = reorder ? staging.data() : destination;
  args->dst_size = size;
  FLATOUT_CALL(client_->api, PJRT_Buffer_ToHostBuffer, args, "reading an array from the device");
  Event done(client_, args->event);
  if (!reorder) return done;
  done.Await();
  ToRowMajor(staging.data(), order, *shape_, static_cast<std::byte*>(destination));
  return Event();
}

void Buffer::ToHost(void* destination, size_t size) const {
  ToHostAsync(destination, size).Await();
}

std::optional<HostView> Buffer::ViewOnHost() const {
  CheckNotEmpty(raw_);
  if (!client_->is_cpu || shape_->bytes() == 0 ||
      !FLATOUT_HAS(client_->api, PJRT_Buffer_OpaqueDeviceMemoryDataPointer)) {
    return std::nullopt;
  }
  const std::vector<int64_t> order = minor_to_major();
  if (order.size() != static_cast<size_t>(shape_->rank()) ||
      !std::is_sorted(order.rbegin(), order.rend())) {
    return std::nullopt;
  }
  ReadyEvent().Await();
  HostView view(client_, raw_);
  FLATOUT_ARGS(PJRT_Buffer_OpaqueDeviceMemoryDataPointer, args);
  args->buffer = raw_;
  FLATOUT_CALL(client_->api, PJRT_Buffer_OpaqueDeviceMemoryDataPointer, args,
               "asking where an array lies");
  view.bytes_ = {static_cast<const std::byte*>(args->device_memory_ptr),
                 static_cast<size_t>(shape_->bytes())};
  return view;
}

HostView::HostView(std::shared_ptr<ClientState> client, PJRT_Buffer* raw)
    : client_(std::move(client)), raw_(raw) {
  FLATOUT_ARGS(PJRT_Buffer_IncreaseExternalReferenceCount, args);
  args->buffer = raw_;
  FLATOUT_CALL(client_->api, PJRT_Buffer_IncreaseExternalReferenceCount, args,
               "holding an array in its place");
}

HostView::HostView(HostView&& other) noexcept
    : client_(std::move(other.client_)),
      raw_(std::exchange(other.raw_, nullptr)),
      bytes_(std::exchange(other.bytes_, {})) {}

HostView::~HostView() {
  if (raw_ == nullptr) return;
  FLATOUT_ARGS(PJRT_Buffer_DecreaseExternalReferenceCount, args);
  args->buffer = raw_;
  FLATOUT_CALL_QUIETLY(client_->api, PJRT_Buffer_DecreaseExternalReferenceCount, args);
}

std::vector<int64_t> Buffer::minor_to_major() const {
  CheckNotEmpty(raw_);
  if (!FLATOUT_HAS(client_->api, PJRT_Buffer_GetMemoryLayout)) return {};
  FLATOUT_ARGS(PJRT_Buffer_GetMemoryLayout, args);
  args->buffer = raw_;
  FLATOUT_CALL(client_->api, PJRT_Buffer_GetMemoryLayout, args, "asking for a layout");
  if (args->layout.type != PJRT_Buffer_MemoryLayout_Type_Tiled) return {};
  const int64_t* order = args->layout.tiled.minor_to_major;
  return std::vector<int64_t>(order, order + args->layout.tiled.minor_to_major_size);
}

bool Buffer::IsDeleted() const {
  CheckNotEmpty(raw_);
  FLATOUT_ARGS(PJRT_Buffer_IsDeleted, args);
  args->buffer = raw_;
  FLATOUT_CALL(client_->api, PJRT_Buffer_IsDeleted, args, "asking whether a buffer is deleted");
  return args->is_deleted;
}

void Buffer::Delete() {
  CheckNotEmpty(raw_);
  FLATOUT_ARGS(PJRT_Buffer_Delete, args);
  args->buffer = raw_;
  FLATOUT_CALL(client_->api, PJRT_Buffer_Delete, args, "deleting a buffer");
}

int64_t Buffer::OnDeviceBytes() const {
  CheckNotEmpty(raw_);
  FLATOUT_ARGS(PJRT_Buffer_OnDeviceSizeInBytes, args);
  args->buffer = raw_;
  FLATOUT_CALL(client_->api, PJRT_Buffer_OnDeviceSizeInBytes, args, "asking for a buffer's size");
  return static_cast<int64_t>(args->on_device_size_in_bytes);
}

Event Buffer::ReadyEvent() const {
  CheckNotEmpty(raw_);
  FLATOUT_ARGS(PJRT_Buffer_ReadyEvent, args);
  args->buffer = raw_;
  FLATOUT_CALL(client_->api, PJRT_Buffer_ReadyEvent, args, "waiting for an array");
  return Event(client_, args->event);
}

Buffer Buffer::CopyTo(const Device& device) const {
  CheckNotEmpty(raw_);
  if (device.client_ != client_.get())
    throw Invalid("the device is not one of the buffer's client");
  FLATOUT_ARGS(PJRT_Buffer_CopyToDevice, args);
  args->buffer = raw_;
  args->dst_device = device.raw_;
  FLATOUT_CALL(client_->api, PJRT_Buffer_CopyToDevice, args, "copying an array between devices");
  return Buffer(client_, args->dst_buffer, shape_, device.index());
}

}  // namespace flatout::xla
