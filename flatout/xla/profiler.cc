#include "flatout/xla/profiler.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "flatout/base/proto.h"
#include "flatout/xla/api.h"

namespace flatout::xla {
namespace {

// From xla/backends/profiler/plugin/profiler_c_api.h and xla/pjrt/c/pjrt_c_api_profiler_extension.h
// (version 1 of both); those headers are in none of the wheels.
struct PluginProfiler;
struct PluginProfilerError;

struct ErrorDestroyArgs {
  size_t struct_size;
  void* priv;
  PluginProfilerError* error;
};
struct ErrorMessageArgs {
  size_t struct_size;
  void* priv;
  const PluginProfilerError* error;
  const char* message;  // out
  size_t message_size;  // out
};
struct ErrorGetCodeArgs {
  size_t struct_size;
  void* priv;
  const PluginProfilerError* error;
  int code;  // out
};
struct CreateArgs {
  size_t struct_size;
  const char* options;  // a ProfileOptions message
  size_t options_size;
  PluginProfiler* profiler;  // out
};
struct ProfilerArgs {  // of destroy, start, stop
  size_t struct_size;
  PluginProfiler* profiler;
};
struct CollectArgs {
  size_t struct_size;
  PluginProfiler* profiler;
  uint8_t* buffer;     // in and out
  size_t buffer_size;  // out
};
struct ProfilerApi {
  size_t struct_size;
  void* priv;
  void (*error_destroy)(ErrorDestroyArgs*);
  void (*error_message)(ErrorMessageArgs*);
  PluginProfilerError* (*error_get_code)(ErrorGetCodeArgs*);
  PluginProfilerError* (*create)(CreateArgs*);
  PluginProfilerError* (*destroy)(ProfilerArgs*);
  PluginProfilerError* (*start)(ProfilerArgs*);
  PluginProfilerError* (*stop)(ProfilerArgs*);
  PluginProfilerError* (*collect_data)(CollectArgs*);
};
struct ProfilerExtension {
  PJRT_Extension_Base base;
  const ProfilerApi* api;
  int64_t context_id;  // of another use of the struct
};
constexpr int kProfilerExtension = 1;

const ProfilerApi* FindApi(const Plugin& plugin) {
  const PJRT_Api* pjrt = plugin.api();
  for (const PJRT_Extension_Base* e = pjrt->extension_start; e != nullptr; e = e->next) {
    if (static_cast<int>(e->type) != kProfilerExtension) continue;
    const auto* extension = reinterpret_cast<const ProfilerExtension*>(e);
    if (extension->base.struct_size < offsetof(ProfilerExtension, api) + sizeof(extension->api) ||
        extension->api == nullptr) {
      return nullptr;
    }
    const ProfilerApi* api = extension->api;
    const bool whole = api->struct_size >= sizeof(ProfilerApi) && api->error_destroy != nullptr &&
                       api->error_message != nullptr && api->create != nullptr &&
                       api->destroy != nullptr && api->start != nullptr && api->stop != nullptr &&
                       api->collect_data != nullptr;
    return whole ? api : nullptr;
  }
  return nullptr;
}

// The XSpace without what a plugin put behind it: some versions count one byte too many, a zero,
// which is the tag of no field.
std::string_view Trimmed(std::string_view space) {
  ProtoReader reader(space);
  size_t end = 0;
  try {
    while (reader.Next()) end = reader.position();
  } catch (const DataError&) {
    if (end + 1 == space.size() && space.back() == '\0') return space.substr(0, end);
    throw;
  }
  return space;
}

}  // namespace

struct Profiler::State {
  void Check(PluginProfilerError* error, std::string_view doing) const {
    if (error == nullptr) return;
    Padded<ErrorMessageArgs> message(sizeof(ErrorMessageArgs));
    message->priv = api->priv;
    message->error = error;
    api->error_message(message.get());
    std::string text = message->message == nullptr
                           ? "no reason given"
                           : std::string(message->message, message->message_size);
    Padded<ErrorDestroyArgs> destroy(sizeof(ErrorDestroyArgs));
    destroy->priv = api->priv;
    destroy->error = error;
    api->error_destroy(destroy.get());
    throw UserError(
        Code::kUnavailable,
        fmt::format("{}: the profiler of plugin {} says: {}. It needs the CUPTI library of CUDA "
                    "(flatout plugin install cuda13 --for-running) and, in containers, the right "
                    "to use the GPU's counters (--cap-add=SYS_ADMIN, or the driver's option "
                    "NVreg_RestrictProfilingToAdminUsers=0)",
                    doing, plugin->path(), text));
  }

  std::shared_ptr<Plugin> plugin;
  const ProfilerApi* api = nullptr;
  PluginProfiler* profiler = nullptr;
};

bool Profiler::Has(const Plugin& plugin) { return FindApi(plugin) != nullptr; }

Profiler::Profiler(std::shared_ptr<Plugin> plugin) : state_(std::make_unique<State>()) {
  state_->api = FindApi(*plugin);
  if (state_->api == nullptr) {
    throw UserError(Code::kUnimplemented,
                    fmt::format("plugin {} (PJRT {}) has no profiler that Flatout can use",
                                plugin->path(), plugin->version().ToString()));
  }
  state_->plugin = std::move(plugin);
  // ProfileOptions (tsl/profiler/protobuf/profiler_options.proto): what jax.profiler asks for.
  ProtoWriter options;
  options.Int(5, 1);      // version
  options.Int(2, 2);      // host_tracer_level: what the runtime itself does
  options.Int(3, 1);      // device_tracer_level: kernels and copies
  options.Int(4, 0);      // python_tracer_level
  options.Bool(7, true);  // enable_hlo_proto: which kernel belongs to which op
  Padded<CreateArgs> args(sizeof(CreateArgs));
  args->options = options.bytes().data();
  args->options_size = options.bytes().size();
  state_->Check(state_->api->create(args.get()), "preparing to profile");
  state_->profiler = args->profiler;
}

Profiler::~Profiler() {
  if (state_->profiler == nullptr) return;
  Padded<ProfilerArgs> args(sizeof(ProfilerArgs));
  args->profiler = state_->profiler;
  try {
    state_->Check(state_->api->destroy(args.get()), "ending the profile");
  } catch (const Error&) {
    // There is nothing left to lose.
  }
}

void Profiler::Start() {
  Padded<ProfilerArgs> args(sizeof(ProfilerArgs));
  args->profiler = state_->profiler;
  state_->Check(state_->api->start(args.get()), "starting to profile");
}

void Profiler::Stop() {
  Padded<ProfilerArgs> args(sizeof(ProfilerArgs));
  args->profiler = state_->profiler;
  state_->Check(state_->api->stop(args.get()), "stopping to profile");
}

std::string Profiler::Collect() {
  Padded<CollectArgs> args(sizeof(CollectArgs));
  args->profiler = state_->profiler;
  state_->Check(state_->api->collect_data(args.get()), "collecting the profile");
  // Some plugins answer with memory of their own, others with the size and fill ours.
  if (args->buffer != nullptr) {
    return std::string(Trimmed({reinterpret_cast<const char*>(args->buffer), args->buffer_size}));
  }
  std::string space(args->buffer_size, '\0');
  if (!space.empty()) {
    args->buffer = reinterpret_cast<uint8_t*>(space.data());
    state_->Check(state_->api->collect_data(args.get()), "collecting the profile");
  }
  return std::string(Trimmed(space));
}

}  // namespace flatout::xla
