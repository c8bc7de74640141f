// flatout/xla: compiling and running programs through the PJRT C API, and nothing else of XLA.
//
// A Plugin is a shared library with XLA (or another compiler) in it. A Client is the set of devices
// a plugin drives. A Buffer is an array on a device, an Executable a compiled program, an Event the
// end of something that runs on its own. The text that goes in is StableHLO; CompileCache (in
// compile_cache.h) keeps compiled programs on disk.
//
//   auto plugin = xla::Plugin::Load("cpu");
//   auto client = xla::Client::Create(plugin, {.cpu_device_count = 1});
//   auto program = client->Compile(stablehlo_text, {});
//   xla::Buffer x = client->FromHost(data, shape, client->devices()[0]);
//   xla::Execution run = program->Execute({&x});
//   run.outputs[0][0].ToHost(result, bytes);   // waits
//
// Threads: Plugin, Client, Executable and CompileCache may be used from any number of threads at
// once. A Buffer or an Event may be read (const methods) from several threads; moving, donating or
// destroying it while another thread uses it is the caller's fault. Destructors never throw.
//
// Errors: everything throws flatout::Error. The code of a plugin's error is kept; its message is
// rewritten (see error_text.h): lack of memory is a UserError with exit code 4, a program the
// compiler refuses is an InternalError that shows the offending line.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/shape.h"

// The plugin's own types; only sources of this folder look inside them.
struct PJRT_Api;
struct PJRT_Buffer;
struct PJRT_Device;
struct PJRT_Event;

namespace flatout::xla {

class Client;

// XLA:CPU takes a launch's temporaries from the C library and gives them back when it ends. Blocks
// of that size would go back to the kernel, and the next launch would have every page of them
// cleared and mapped again: up to a third of all processor time of a small convolutional network's
// step. After this they are kept, between launches, for as long as the process lives. A Client of
// CPU devices sees to it; but threads that have allocated before keep their own part of the heap
// (arena), so a program that will have one calls this before it starts threads.
void KeepMemoryBetweenLaunches();
class Executable;
class LaunchGate;
struct ClientState;
struct ExecutableState;

// ---- Plugin ----

struct PluginVersion {
  int major = 0;
  int minor = 0;
  std::string ToString() const;  // "0.115"
};

// The header this was built with, the oldest minor it accepts and the newest it was tested with.
// A newer plugin is used with a warning.
PluginVersion BuiltWithPjrt();
inline constexpr int kOldestPjrtMinor = 29;
inline constexpr int kNewestTestedPjrtMinor = 116;

// One entry of the answer to "which plugins has this machine?".
struct PluginInfo {
  std::string name;     // "cpu", "cpu-0.81", "cpu-0.115", "cuda", or one from the environment
  std::string path;     // the file found, or ""
  std::string why_not;  // "" if found; else what is missing and the remedy
  std::vector<std::string> searched;  // every path looked at, in order
};
// Every plugin known by name, found or not. Looks at files only, loads nothing.
std::vector<PluginInfo> FindPlugins();
// Where plugins are searched, in order: $FLATOUT_DEPS, then places beside this program.
std::vector<std::string> PluginFolders();

class Plugin {
 public:
  // `name_or_path`: "cpu" (the default CPU plugin), "cpu-0.81", "cpu-0.115", "cuda", "cuda:0" and
  // the like (the part after the colon is dropped), a name listed in the environment variable
  // PJRT_NAMES_AND_LIBRARY_PATHS ("name:path,name2:path2"; wins over the built-in names), or a path
  // (anything with a '/'). Each file is loaded once per process and never unloaded. Sets
  // TF_CPP_MIN_LOG_LEVEL and XLA_FLAGS where absent, so the first call should come before other
  // threads read the environment. Throws UserError when the plugin is missing, is not a PJRT plugin
  // or has an unusable version, naming the places searched and the remedy.
  static std::shared_ptr<Plugin> Load(std::string_view name_or_path);
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  PluginVersion version() const { return version_; }
  // What the plugin says of itself: "xla_version" -> "2", "stablehlo_current_version" -> "1.20.0",
  // "stablehlo_minimum_version", "cuda_version". May be empty.
  const std::map<std::string, std::string>& attributes() const { return attributes_; }
  // Seconds it took to load and initialise.
  double load_seconds() const { return load_seconds_; }
  // Something the user should know ("newer than tested"), or "".
  const std::string& warning() const { return warning_; }

  // Registers an XLA FFI handler (an XLA_FFI_Handler*) under `target` for `platform` ("Host",
  // "CUDA"); `traits` as in XLA_FFI_Handler_TraitsBits. A handler made for another FFI version may
  // be refused without an error: prove it by compiling a program that calls it. Registering the
  // same target twice is an error of the plugin. Throws UserError when the plugin has no FFI
  // extension.
  void RegisterFfiHandler(std::string_view target, void* handler,
                          std::string_view platform = "Host", uint32_t traits = 0);

  // The raw function table, for what is not wrapped here. Check struct_size before use.
  const PJRT_Api* api() const { return api_; }

 private:
  Plugin() = default;

  std::string name_, path_, warning_;
  PluginVersion version_;
  std::map<std::string, std::string> attributes_;
  double load_seconds_ = 0;
  const PJRT_Api* api_ = nullptr;
};

// ---- Client and devices ----

// Device memory that this process may take, on each device. Without a cap on GPUs: all but what the
// driver and libraries need beside XLA's arrays. On CPU nothing is ever reserved, and a cap is a
// limit for whoever plans (train::Runtime); Client::Create refuses it there.
struct MemoryOptions {
  bool grow = false;                   // on demand; false: take it all (up to the cap) at once
  std::optional<double> fraction;      // cap: a part of the device's memory, in (0, 1]
  std::optional<int64_t> limit_bytes;  // cap in bytes; not together with `fraction`
  // Reads "all", "grow", "10GiB", "0.5", "grow,10GiB", "grow,0.5". Units are B, KiB, MiB, GiB, TiB
  // (powers of 1024) and kB, MB, GB, TB (of 1000). Throws UserError saying what is wrong with it.
  static MemoryOptions Parse(std::string_view text);
  // What Parse reads: "all", "grow,10GiB", "0.5"; bytes in the largest unit that divides them.
  std::string ToString() const;
  bool operator==(const MemoryOptions&) const = default;
};
// `memory = "grow,10GiB"` or `memory = 0.5`; complains at the value's place.
void ReadConfig(const Config& value, MemoryOptions& field);

struct ClientOptions {
  int cpu_device_count = 1;              // logical devices of a CPU client; others ignore it
  MemoryOptions memory;                  // GPU
  std::vector<int64_t> visible_devices;  // GPU ordinals; empty: all
  // Launches of a program over several devices that may be in flight at once on a CPU client; more
  // than two can deadlock in XLA's in-process collectives. 0 switches the gate off.
  int launches_in_flight = 2;
};

// What a device's allocator says, in bytes; nullopt where the plugin doesn't say.
struct DeviceMemoryStats {
  std::optional<int64_t> bytes_in_use, peak_bytes_in_use, bytes_limit, largest_alloc, pool_bytes;
};

// A device of a client; a small value that is valid as long as the client lives.
class Device {
 public:
  int id() const { return id_; }        // global, as device assignments use it
  int index() const { return index_; }  // position in Client::devices()
  int local_hardware_id() const { return local_hardware_id_; }
  const std::string& kind() const { return kind_; }  // "cpu", "NVIDIA H100 80GB HBM3"
  const std::string& description() const { return description_; }
  // nullopt where the plugin keeps no statistics (CPU).
  std::optional<DeviceMemoryStats> memory_stats() const;

 private:
  friend class Buffer;
  friend class Client;
  PJRT_Device* raw_ = nullptr;
  ClientState* client_ = nullptr;
  int id_ = 0, index_ = 0, local_hardware_id_ = -1;
  std::string kind_, description_;
};

// ---- Event ----

// The end of something asynchronous. A default-made Event is over already.
class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  // Waits; throws the translated error if what ran failed. May be called again.
  void Await() const;
  // Never waits. True also when what ran failed.
  bool IsReady() const;
  // Calls `callback` once, on a thread of the plugin or (if over already) on this one. It must not
  // throw, block or call Await, and must not hold what may be the last of a Client, Buffer,
  // Executable or Event: a client cannot end on a thread of its own. The Event itself may be
  // destroyed before that; the client's end waits for callbacks.
  void OnReady(std::function<void()> callback) const;
  // The same, told whether it failed: nullptr, or the translated error.
  void OnDone(std::function<void(std::exception_ptr)> callback) const;

 private:
  friend class Buffer;
  friend class Client;
  friend class Executable;
  Event(std::shared_ptr<ClientState> client, PJRT_Event* raw)
      : client_(std::move(client)), raw_(raw) {}
  std::shared_ptr<ClientState> client_;
  PJRT_Event* raw_ = nullptr;
};

// ---- Buffer ----

// Reads an array in device memory without a copy. The Buffer must outlive it, and must not be
// donated meanwhile.
class HostView {
 public:
  HostView(HostView&& other) noexcept;
  HostView& operator=(HostView&&) = delete;
  ~HostView();
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  friend class Buffer;
  HostView(std::shared_ptr<ClientState> client, PJRT_Buffer* raw);

  std::shared_ptr<ClientState> client_;
  PJRT_Buffer* raw_;
  std::span<const std::byte> bytes_;
};

// An array on one device. Owns it. A donated buffer stays a valid object that IsDeleted().
class Buffer {
 public:
  Buffer() = default;  // empty
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  explicit operator bool() const { return raw_ != nullptr; }
  const ir::Shape& shape() const;
  const Device& device() const;
  // Copies the contents to `destination` in row-major order, whatever the device's layout, and
  // waits. `size` must be shape().bytes(). Throws Invalid for a wrong size or a deleted buffer.
  void ToHost(void* destination, size_t size) const;
  // The same without waiting (but an array that is not row-major on the device is waited for);
  // `destination` must stay valid until the event is over.
  Event ToHostAsync(void* destination, size_t size) const;
  template <typename T>
  std::vector<T> ToVector() const {
    std::vector<T> result(static_cast<size_t>(shape().bytes()) / sizeof(T));
    ToHost(result.data(), result.size() * sizeof(T));
    return result;
  }
  // The contents where they lie, waited for; nothing where the host cannot read the device's memory
  // or they are not row-major there.
  std::optional<HostView> ViewOnHost() const;
  // The order of its dimensions in device memory, fastest first; {1, 0} is row-major. Empty where
  // the layout is not of that kind.
  std::vector<int64_t> minor_to_major() const;
  // True once donated to an execution (or deleted).
  bool IsDeleted() const;
  // Frees the device memory now; the object stays, deleted.
  void Delete();
  // Bytes it takes on the device, padding included.
  int64_t OnDeviceBytes() const;
  // Over when the contents exist (the program that makes them, or the transfer, has ended).
  Event ReadyEvent() const;
  // A copy on another device of the same client.
  Buffer CopyTo(const Device& device) const;

 private:
  friend class Client;
  friend class Executable;
  Buffer(std::shared_ptr<ClientState> client, PJRT_Buffer* raw,
         std::shared_ptr<const ir::Shape> shape, int device)
      : client_(std::move(client)), shape_(std::move(shape)), raw_(raw), device_(device) {}
  void Destroy() noexcept;

  std::shared_ptr<ClientState> client_;
  std::shared_ptr<const ir::Shape> shape_;
  PJRT_Buffer* raw_ = nullptr;
  int device_ = 0;
};

// Until when FromHost's source must stay unchanged and alive.
enum class HostSemantics {
  kCopy,                    // only during the call
  kUntilTransferCompletes,  // until the host_free event
  kZeroCopy,                // until host_free, which comes when the buffer is gone: the buffer may
                            // use the source's memory as its own (CPU; 64-byte aligned sources)
};

// ---- Executable ----

struct CompileOptions {
  int num_replicas = 1;
  // Global ids of the devices, one per replica; empty: the first num_replicas of the client.
  std::vector<int> device_ids;
  // XLA flags for this program alone, "xla_cpu_enable_fast_math" -> "false"; the texts "true",
  // "false", integers and decimals are passed as such.
  std::map<std::string, std::string> env_overrides;
  // Anything else that changes what the program means, for the compile cache's key (for example the
  // version of custom-call handlers).
  std::string cache_salt;

  // The CompileOptionsProto of XLA, serialised (field numbers of
  // xla/pjrt/proto/compile_options.proto).
  std::string ToProto() const;
};

// The compiler's own account, in bytes, per device; nullopt where it doesn't say.
struct ProgramMemory {
  int64_t argument = 0, output = 0, alias = 0, temp = 0, code = 0;
  std::optional<int64_t> peak;
  // What the libraries that multiply for XLA:CPU take besides, by our own count (cpu_scratch.h); 0
  // where it isn't known, and on GPUs.
  int64_t scratch = 0;
  // What a run takes beyond nothing, by the compiler: code + arguments + outputs - aliased +
  // temporaries.
  int64_t total() const { return code + argument + output - alias + temp; }
};

struct ExecuteOptions {
  // Arguments that must survive although the program says they may be donated.
  std::span<const int64_t> non_donatable;
  // A number that ends up in profiles.
  int launch_id = 0;
};

// What one Execute gave. May be passed to Execute again, which then reuses the vectors.
struct Execution {
  std::vector<std::vector<Buffer>> outputs;  // [device][output]
  std::vector<Event> done;                   // [device]
  // Waits for all devices; throws the first error.
  void Await() const;
};

class Executable {
 public:
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Starts the program on each of its devices and returns before it ends. `args` are
  // [device][argument], flattened: num_devices() * n pointers to buffers that live on the right
  // device. Donated arguments are deleted when this returns. Throws for a wrong number of
  // arguments, a deleted buffer, or when the launch fails; failures while running come out of
  // `done` and of the outputs. On a CPU client with several devices it waits while two launches are
  // in flight.
  void Execute(std::span<const Buffer* const> args, Execution& result,
               const ExecuteOptions& options = {}) const;
  Execution Execute(std::span<const Buffer* const> args, const ExecuteOptions& options = {}) const;
  Execution Execute(std::initializer_list<const Buffer*> args,
                    const ExecuteOptions& options = {}) const {
    return Execute(std::span<const Buffer* const>(args.begin(), args.size()), options);
  }

  const std::string& name() const;
  int num_devices() const;
  // Where replica i runs.
  const Device& device(int i) const;
  const std::vector<ir::Shape>& output_shapes() const;
  // nullopt where the plugin doesn't say.
  std::optional<ProgramMemory> memory() const;
  // The compiled program as bytes that Client::Deserialize of the same plugin on the same kind of
  // machine takes back.
  std::string Serialize() const;
  double compile_seconds() const;  // or to load it from the cache
  bool from_cache() const;

 private:
  friend class Client;
  Executable() = default;
  std::shared_ptr<ExecutableState> state_;
};

class Client {
 public:
  // Throws UserError naming the plugin and what is wrong: no GPU, a bad option, no memory.
  static std::shared_ptr<Client> Create(std::shared_ptr<Plugin> plugin,
                                        const ClientOptions& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Plugin& plugin() const;
  const ClientOptions& options() const;
  const std::vector<Device>& devices() const;  // those of this process
  const std::string& platform_name() const;    // "cpu", "cuda"
  const std::string& platform_version() const;
  bool is_cpu() const;
  double create_seconds() const;

  // Sends `shape.bytes()` bytes, row-major, to the device. Returns before the transfer has ended.
  // `host_free`, if given, is over when the source may be changed or freed.
  Buffer FromHost(const void* data, const ir::Shape& shape, const Device& device,
                  HostSemantics semantics = HostSemantics::kCopy, Event* host_free = nullptr) const;
  template <typename T>
  Buffer FromVector(const std::vector<T>& data, const ir::Shape& shape) const {
    CheckSize(data.size() * sizeof(T), shape);
    return FromHost(data.data(), shape, devices()[0]);
  }

  // Compiles StableHLO text (or bytecode). Throws InternalError with the offending line when the
  // text is not valid, UserError for lack of memory or options that don't fit the devices.
  std::shared_ptr<Executable> Compile(std::string_view stablehlo,
                                      const CompileOptions& options) const;
  // Takes back what Executable::Serialize gave; `options` as they were. Throws when it doesn't fit.
  std::shared_ptr<Executable> Deserialize(std::string_view bytes,
                                          const CompileOptions& options) const;

 private:
  Client() = default;
  static void CheckSize(size_t bytes, const ir::Shape& shape);
  std::shared_ptr<Executable> Wrap(void* loaded, const CompileOptions& options, double seconds,
                                   bool from_cache) const;
  std::shared_ptr<ClientState> state_;
};

// ---- Pacing ----

// Lets at most `depth` launches be in flight: Enter() waits for room, Track() says what to wait
// for. A launch counts as ended when all its events are over, failed or not.
class LaunchGate {
 public:
  explicit LaunchGate(int depth);
  // Waits until fewer than depth launches are in flight, and counts one more.
  void Enter();
  // The launch that Enter() let in has these events. An empty span ends it at once (also: the
  // launch failed).
  void Track(std::span<const Event> done);
  // Waits until none is in flight.
  void Drain();
  int in_flight() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace flatout::xla
