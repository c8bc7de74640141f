// Compiling, loading and running programs.
#include <chrono>
#include <mutex>

#include "flatout/base/error.h"
#include "flatout/xla/api.h"
#include "flatout/xla/cpu_scratch.h"

namespace flatout::xla {

struct ExecutableState {
  ~ExecutableState() {
    if (executable != nullptr) {
      FLATOUT_ARGS(PJRT_Executable_Destroy, args);
      args->executable = executable;
      FLATOUT_CALL_QUIETLY(client->api, PJRT_Executable_Destroy, args);
    }
    if (loaded != nullptr) {
      FLATOUT_ARGS(PJRT_LoadedExecutable_Destroy, args);
      args->executable = loaded;
      FLATOUT_CALL_QUIETLY(client->api, PJRT_LoadedExecutable_Destroy, args);
    }
  }

  std::shared_ptr<ClientState> client;
  PJRT_LoadedExecutable* loaded = nullptr;
  PJRT_Executable* executable = nullptr;
  std::string name;
  std::vector<int> devices;  // index in the client, by replica
  std::vector<ir::Shape> output_shapes;
  std::vector<std::shared_ptr<const ir::Shape>> shared_shapes;  // the same, for the buffers
  double compile_seconds = 0;
  bool from_cache = false;
  std::once_flag scratch_known;  // works it out when it is first asked for
  int64_t scratch = 0;
};

namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// `options` with the devices filled in, checked against the client's.
CompileOptions Complete(const ClientState& client, CompileOptions options) {
  const int have = static_cast<int>(client.devices.size());
  if (options.num_replicas < 1) {
    throw Invalid("a program needs at least 1 replica, found {}", options.num_replicas);
  }
  if (options.num_replicas > have) {
    throw Invalid(
        "{} replicas were asked for, but the {} client has {} device{}; ask for fewer, or "
        "(on CPU) for more logical devices",
        options.num_replicas, client.platform_name, have, have == 1 ? "" : "s");
  }
  // XLA:CPU may take maximum(1, NaN) as 1, which hides where training went wrong; the exact form
  // costs nothing that could be measured.
  if (client.is_cpu) options.env_overrides.emplace("xla_cpu_enable_fast_min_max", "false");
  if (options.device_ids.empty()) {
    for (int i = 0; i < options.num_replicas; ++i) {
      options.device_ids.push_back(client.devices[static_cast<size_t>(i)].id());
    }
  }
  if (static_cast<int>(options.device_ids.size()) != options.num_replicas) {
    throw Invalid("{} device ids were given for {} replicas", options.device_ids.size(),
                  options.num_replicas);
  }
  for (size_t i = 0; i < options.device_ids.size(); ++i) {
    const int id = options.device_ids[i];
    bool known = false;
    for (const Device& device : client.devices) known |= device.id() == id;
    if (!known) {
      throw Invalid("there is no device {} (the {} client has {})", id, client.platform_name, have);
    }
    for (size_t j = 0; j < i; ++j) {
      if (options.device_ids[j] == id) throw Invalid("device {} is given twice", id);
    }
  }
  return options;
}

}  // namespace

std::optional<ProgramMemory> MemoryOf(const PJRT_Api* api, PJRT_Executable* executable) {
  if (!FLATOUT_HAS(api, PJRT_Executable_GetCompiledMemoryStats)) return std::nullopt;
  FLATOUT_ARGS(PJRT_Executable_GetCompiledMemoryStats, args);
  args->executable = executable;
  args->peak_memory_in_bytes = -1;  // older plugins leave it as it is
  if (PJRT_Error* error = api->PJRT_Executable_GetCompiledMemoryStats(args.get());
      error != nullptr) {
    const PluginError said = TakeError(api, error);
    if (said.code == Code::kUnimplemented) return std::nullopt;
    std::rethrow_exception(Translate(said, "asking for a program's memory"));
  }
  ProgramMemory memory;
  memory.argument = args->argument_size_in_bytes;
  memory.output = args->output_size_in_bytes;
  memory.alias = args->alias_size_in_bytes;
  memory.temp = args->temp_size_in_bytes;
  memory.code = args->generated_code_size_in_bytes;
  if (args->peak_memory_in_bytes > 0) memory.peak = args->peak_memory_in_bytes;
  return memory;
}

std::string Serialized(const PJRT_Api* api, PJRT_Executable* executable) {
  FLATOUT_ARGS(PJRT_Executable_Serialize, args);
  args->executable = executable;
  FLATOUT_CALL(api, PJRT_Executable_Serialize, args, "serialising a program");
  std::string bytes(args->serialized_bytes, args->serialized_bytes_size);
  if (args->serialized_executable_deleter != nullptr) {
    args->serialized_executable_deleter(args->serialized_executable);
  }
  return bytes;
}

void Execution::Await() const {
  for (const Event& event : done) event.Await();
}

std::shared_ptr<Executable> Client::Compile(std::string_view stablehlo,
                                            const CompileOptions& options) const {
  const auto begin = Clock::now();
  const PJRT_Api* api = state_->api;
  const CompileOptions complete = Complete(*state_, options);
  const std::string proto = complete.ToProto();
  Padded<PJRT_Program> program(PJRT_Program_STRUCT_SIZE);
  // The plugin takes a char* but only reads here.
  program->code = const_cast<char*>(stablehlo.data());
  program->code_size = stablehlo.size();
  constexpr std::string_view kFormat = "mlir";
  program->format = kFormat.data();
  program->format_size = kFormat.size();
  FLATOUT_ARGS(PJRT_Client_Compile, args);
  args->client = state_->raw;
  args->program = program.get();
  args->compile_options = proto.data();
  args->compile_options_size = proto.size();
  if (!FLATOUT_HAS(api, PJRT_Client_Compile)) ThrowLacks(api, "PJRT_Client_Compile");
  if (PJRT_Error* error = api->PJRT_Client_Compile(args.get()); error != nullptr) {
    ThrowAndDestroy(api, error, "compiling the program", stablehlo);
  }
  return Wrap(args->executable, complete, SecondsSince(begin), false);
}

std::shared_ptr<Executable> Client::Deserialize(std::string_view bytes,
                                                const CompileOptions& options) const {
  const auto begin = Clock::now();
  const CompileOptions complete = Complete(*state_, options);
  FLATOUT_ARGS(PJRT_Executable_DeserializeAndLoad, args);
  args->client = state_->raw;
  args->serialized_executable = bytes.data();
  args->serialized_executable_size = bytes.size();
  FLATOUT_CALL(state_->api, PJRT_Executable_DeserializeAndLoad, args, "loading a compiled program");
  return Wrap(args->loaded_executable, complete, SecondsSince(begin), true);
}

std::shared_ptr<Executable> Client::Wrap(void* loaded, const CompileOptions& options,
                                         double seconds, bool from_cache) const {
  const PJRT_Api* api = state_->api;
  constexpr std::string_view kDoing = "asking about a compiled program";
  auto state = std::make_shared<ExecutableState>();
  state->client = state_;
  state->loaded = static_cast<PJRT_LoadedExecutable*>(loaded);
  state->compile_seconds = seconds;
  state->from_cache = from_cache;
  FLATOUT_ARGS(PJRT_LoadedExecutable_GetExecutable, get);
  get->loaded_executable = state->loaded;
  FLATOUT_CALL(api, PJRT_LoadedExecutable_GetExecutable, get, kDoing);
  state->executable = get->executable;

  FLATOUT_ARGS(PJRT_Executable_Name, name);
  name->executable = state->executable;
  FLATOUT_CALL(api, PJRT_Executable_Name, name, kDoing);
  state->name.assign(name->executable_name, name->executable_name_size);

  FLATOUT_ARGS(PJRT_LoadedExecutable_AddressableDevices, list);
  list->executable = state->loaded;
  FLATOUT_CALL(api, PJRT_LoadedExecutable_AddressableDevices, list, kDoing);
  for (size_t i = 0; i < list->num_addressable_devices; ++i) {
    state->devices.push_back(state_->IndexOf(list->addressable_devices[i]));
  }
  // A program loaded from bytes brings its own devices; they must be the ones asked for.
  std::vector<int> ids;
  for (int index : state->devices) ids.push_back(state_->devices[static_cast<size_t>(index)].id());
  if (ids != options.device_ids) {
    throw Error(Code::kFailedPrecondition,
                fmt::format("the program was compiled for other devices than those asked for "
                            "({} against {}; the first ids are {} and {})",
                            ids.size(), options.device_ids.size(), ids.empty() ? -1 : ids[0],
                            options.device_ids[0]));
  }

  FLATOUT_ARGS(PJRT_Executable_OutputElementTypes, types);
  types->executable = state->executable;
  FLATOUT_CALL(api, PJRT_Executable_OutputElementTypes, types, kDoing);
  FLATOUT_ARGS(PJRT_Executable_OutputDimensions, dimensions);
  dimensions->executable = state->executable;
  FLATOUT_CALL(api, PJRT_Executable_OutputDimensions, dimensions, kDoing);
  const int64_t* dims = dimensions->dims;
  for (size_t i = 0; i < types->num_output_types; ++i) {
    const size_t rank = dimensions->dim_sizes[i];
    ir::Shape shape(FromPjrt(types->output_types[i]), std::vector<int64_t>(dims, dims + rank));
    dims += rank;
    state->shared_shapes.push_back(std::make_shared<const ir::Shape>(shape));
    state->output_shapes.push_back(std::move(shape));
  }
  auto executable = std::shared_ptr<Executable>(new Executable());
  executable->state_ = std::move(state);
  return executable;
}

Executable::~Executable() = default;

const std::string& Executable::name() const { return state_->name; }
int Executable::num_devices() const { return static_cast<int>(state_->devices.size()); }
const std::vector<ir::Shape>& Executable::output_shapes() const { return state_->output_shapes; }
double Executable::compile_seconds() const { return state_->compile_seconds; }
bool Executable::from_cache() const { return state_->from_cache; }

const Device& Executable::device(int i) const {
  if (i < 0 || i >= num_devices()) {
    throw Invalid("program {} runs on {} devices; there is no device {}", name(), num_devices(), i);
  }
  return state_->client->devices[static_cast<size_t>(state_->devices[static_cast<size_t>(i)])];
}

std::optional<ProgramMemory> Executable::memory() const {
  std::optional<ProgramMemory> memory = MemoryOf(state_->client->api, state_->executable);
  if (!memory || !state_->client->is_cpu) return memory;
  std::call_once(state_->scratch_known, [&] {
    try {
      state_->scratch = CpuScratch(Serialize(), CpuFacts::Here()).value_or(0);
    } catch (const Error&) {
      // Not every program can be written down; then nothing more is known of it.
    }
  });
  memory->scratch = state_->scratch;
  return memory;
}

std::string Executable::Serialize() const {
  return Serialized(state_->client->api, state_->executable);
}

Execution Executable::Execute(std::span<const Buffer* const> args,
                              const ExecuteOptions& options) const {
  Execution result;
  Execute(args, result, options);
  return result;
}

void Executable::Execute(std::span<const Buffer* const> args, Execution& result,
                         const ExecuteOptions& options) const {
  const ExecutableState& state = *state_;
  ClientState& client = *state.client;
  const PJRT_Api* api = client.api;
  const size_t devices = state.devices.size();
  const size_t outputs = state.shared_shapes.size();
  if (args.size() % devices != 0) {
    throw Invalid(
        "program {} runs on {} devices, but {} arguments were given, which doesn't divide "
        "among them",
        state.name, devices, args.size());
  }
  const size_t per_device = args.size() / devices;

  // Reused from call to call, so that a launch allocates nothing of its own.
  struct Scratch {
    std::vector<PJRT_Buffer*> arguments, outputs;
    std::vector<PJRT_Buffer* const*> argument_lists;
    std::vector<PJRT_Buffer**> output_lists;
    std::vector<PJRT_Event*> events;
  };
  static thread_local Scratch scratch;
  scratch.arguments.resize(args.size());
  scratch.outputs.assign(devices * outputs, nullptr);
  scratch.argument_lists.resize(devices);
  scratch.output_lists.resize(devices);
  scratch.events.assign(devices, nullptr);
  for (size_t d = 0; d < devices; ++d) {
    for (size_t i = 0; i < per_device; ++i) {
      const Buffer* buffer = args[d * per_device + i];
      if (buffer == nullptr || buffer->raw_ == nullptr) {
        throw Invalid("program {}: argument {} for device {} is empty", state.name, i, d);
      }
      if (buffer->device_ != state.devices[d]) {
        throw Invalid("program {}: argument {} ({}) is on {}, but should be on {}", state.name, i,
                      buffer->shape_->ToString(), buffer->device().description(),
                      device(static_cast<int>(d)).description());
      }
      scratch.arguments[d * per_device + i] = buffer->raw_;
    }
    scratch.argument_lists[d] = scratch.arguments.data() + d * per_device;
    scratch.output_lists[d] = scratch.outputs.data() + d * outputs;
  }

  Padded<PJRT_ExecuteOptions> execute(PJRT_ExecuteOptions_STRUCT_SIZE);
  execute->launch_id = options.launch_id;
  execute->non_donatable_input_indices = options.non_donatable.data();
  execute->num_non_donatable_input_indices = options.non_donatable.size();
  FLATOUT_ARGS(PJRT_LoadedExecutable_Execute, call);
  call->executable = state.loaded;
  call->options = execute.get();
  call->argument_lists = scratch.argument_lists.data();
  call->num_devices = devices;
  call->num_args = per_device;
  call->output_lists = scratch.output_lists.data();
  call->device_complete_events = scratch.events.data();

  const bool gated = devices > 1 && client.gate != nullptr;
  PJRT_Error* error = nullptr;
  if (gated) {
    client.gate->Enter();
    std::lock_guard lock(client.launch_mutex);
    error = api->PJRT_LoadedExecutable_Execute(call.get());
  } else {
    error = api->PJRT_LoadedExecutable_Execute(call.get());
  }
  if (error != nullptr) {
    if (gated) client.gate->Track({});
    PluginError said = TakeError(api, error);
    std::string doing = fmt::format("launching program {}", state.name);
    // The plugin doesn't say which argument is gone.
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i]->IsDeleted()) {
        doing += fmt::format(", argument {}{} {}", i % per_device,
                             devices > 1 ? fmt::format(" of device {}", i / per_device) : "",
                             args[i]->shape_->ToString());
        break;
      }
    }
    std::rethrow_exception(Translate(said, doing));
  }

  // The events first: while the buffers are put in place, nothing may throw before they are owned.
  result.done.resize(devices);
  result.outputs.resize(devices);
  for (size_t d = 0; d < devices; ++d) result.done[d] = Event(state.client, scratch.events[d]);
  if (gated) client.gate->Track(result.done);
  for (size_t d = 0; d < devices; ++d) {
    std::vector<Buffer>& list = result.outputs[d];
    list.resize(outputs);
    for (size_t i = 0; i < outputs; ++i) {
      list[i] = Buffer(state.client, scratch.outputs[d * outputs + i], state.shared_shapes[i],
                       state.devices[d]);
    }
  }
}

}  // namespace flatout::xla
