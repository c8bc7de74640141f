// Finding, loading and checking plugins.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/xla/api.h"
#include "flatout/xla/cuda_driver.h"

namespace flatout::xla {
namespace fs = std::filesystem;
namespace {

struct KnownPlugin {
  std::string_view name;
  std::string_view file;  // below the folder of dependencies
  std::string_view remedy;
};

constexpr std::string_view kInstall =
    "run deps/install, or set FLATOUT_DEPS to the folder it filled";
// "cpu" is the first of the two that is there, the one that measures better first.
constexpr KnownPlugin kCpu081 = {"cpu-0.81",
                                 "xla_cpu_pjrt/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", kInstall};
constexpr KnownPlugin kCpu0115 = {
    "cpu-0.115", "lammps_jax_pjrt_cpu/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", kInstall};
constexpr KnownPlugin kCuda = {"cuda", "xla_cuda13/jax_plugins/xla_cuda13/xla_cuda_plugin.so",
                               "run: flatout plugin install cuda13 (the wheel jax-cuda13-pjrt)"};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

PluginInfo Find(const KnownPlugin& known) {
  PluginInfo info;
  info.name = known.name;
  for (const std::string& folder : PluginFolders()) {
    const std::string path = (fs::path(folder) / known.file).string();
    if (std::find(info.searched.begin(), info.searched.end(), path) != info.searched.end())
      continue;
    info.searched.push_back(path);
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
      info.path = path;
      return info;
    }
  }
  info.why_not = fmt::format("no file at any of these places; {}", known.remedy);
  return info;
}

// The entries of PJRT_NAMES_AND_LIBRARY_PATHS, "name:path,name2:path2".
std::vector<PluginInfo> FromEnvironment() {
  std::vector<PluginInfo> result;
  const std::string text = Environment("PJRT_NAMES_AND_LIBRARY_PATHS");
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find(',', begin);
    if (end == std::string::npos) end = text.size();
    const std::string entry = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t colon = entry.find(':');
    if (entry.empty() || colon == std::string::npos || colon == 0) continue;
    PluginInfo info;
    info.name = entry.substr(0, colon);
    const std::string path = entry.substr(colon + 1);
    info.searched.push_back(path);
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
      info.path = path;
    } else {
      info.why_not = fmt::format("no file at {}, which PJRT_NAMES_AND_LIBRARY_PATHS names", path);
    }
    result.push_back(std::move(info));
  }
  return result;
}

std::string Join(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) text += separator;
    text += item;
  }
  return text;
}

// Before the first dlopen: what a plugin reads from the environment only once.
void SetEnvironmentDefaults(const std::string& path) {
  // All but fatal messages: what XLA logs is also in the errors it returns, and those we show in
  // our own words.
  setenv("TF_CPP_MIN_LOG_LEVEL", "3", /*overwrite=*/0);
  // The CUDA wheels keep their tools beside the plugin; XLA looks elsewhere unless told.
  const fs::path cuda = fs::path(path).parent_path() / "../../nvidia/cu13";
  std::error_code error;
  if (fs::is_directory(cuda, error)) {
    setenv("XLA_FLAGS", ("--xla_gpu_cuda_data_dir=" + cuda.lexically_normal().string()).c_str(), 0);
  }
}

std::string ValueToString(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue_kString:
      return std::string(value.string_value, value.value_size);
    case PJRT_NamedValue_kInt64:
      return std::to_string(value.int64_value);
    case PJRT_NamedValue_kInt64List: {
      std::string text;
      for (size_t i = 0; i < value.value_size; ++i) {
        if (i > 0) text += '.';
        text += std::to_string(value.int64_array_value[i]);
      }
      return text;
    }
    case PJRT_NamedValue_kFloat:
      return fmt::format("{}", value.float_value);
    case PJRT_NamedValue_kBool:
      return value.bool_value ? "true" : "false";
  }
  return "";
}

struct Resolved {
  std::string name, path;
};

Resolved Resolve(std::string_view name_or_path) {
  if (name_or_path.find('/') != std::string_view::npos) {
    const std::string path(name_or_path);
    std::error_code error;
    if (!fs::exists(path, error)) throw NotFound("plugin {}: there is no such file", path);
    if (!fs::is_regular_file(path, error)) throw Invalid("plugin {}: this is not a file", path);
    return {fs::path(path).stem().string(), fs::absolute(path).lexically_normal().string()};
  }
  const std::string name(name_or_path.substr(0, name_or_path.find(':')));
  std::vector<std::string> names;
  for (const PluginInfo& info : FindPlugins()) {
    names.push_back(info.name);
    if (info.name != name) continue;
    if (!info.path.empty()) return {name, info.path};
    std::string message = fmt::format("plugin \"{}\" is not installed: {}", name, info.why_not);
    if (name == "cuda" && !HasNvidiaDriver()) {
      message = fmt::format(
          "device \"{}\": this machine has no NVIDIA GPU or no driver (there is no "
          "/dev/nvidiactl), and "
          "the plugin is not installed either; use device \"cpu\", or on a GPU machine install the "
          "driver and {}",
          name, kCuda.remedy);
    }
    throw NotFound("{}\nsearched:\n  {}", message, Join(info.searched, "\n  "));
  }
  throw NotFound(
      "there is no plugin \"{}\"; known are {}, a path to a plugin, and the names in "
      "PJRT_NAMES_AND_LIBRARY_PATHS (\"name:path,name2:path2\")",
      name, Join(names, ", "));
}

}  // namespace

std::string PluginVersion::ToString() const { return fmt::format("{}.{}", major, minor); }

PluginVersion BuiltWithPjrt() { return {PJRT_API_MAJOR, PJRT_API_MINOR}; }

std::vector<std::string> PluginFolders() {
  std::vector<std::string> folders;
  if (const std::string set = Environment("FLATOUT_DEPS"); !set.empty()) folders.push_back(set);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path folder = program.parent_path();
    folders.push_back((folder / "../../../.deps").lexically_normal().string());
    folders.push_back((folder / "../lib/flatout").lexically_normal().string());
  }
#ifdef FLATOUT_DEFAULT_DEPS
  folders.emplace_back(FLATOUT_DEFAULT_DEPS);
#endif
  return folders;
}

std::vector<PluginInfo> FindPlugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::error_code error;
    const std::string set = Environment("FLATOUT_DEPS");
    if (!set.empty() && !fs::is_directory(set, error)) {
      LogWarning(
          "FLATOUT_DEPS is \"{}\", where there is no folder; plugins are looked for in the usual "
          "places",
          set);
    }
  });
  std::vector<PluginInfo> result = FromEnvironment();
  PluginInfo older = Find(kCpu081), newer = Find(kCpu0115);
  PluginInfo standard = newer.path.empty() ? older : newer;
  standard.name = "cpu";
  if (standard.path.empty()) {
    standard.searched.insert(standard.searched.begin(), newer.searched.begin(),
                             newer.searched.end());
  }
  for (PluginInfo& info : std::vector<PluginInfo>{standard, older, newer, Find(kCuda)}) {
    const bool overridden = std::any_of(result.begin(), result.end(),
                                        [&](const PluginInfo& p) { return p.name == info.name; });
    if (!overridden) result.push_back(std::move(info));
  }
  return result;
}

std::shared_ptr<Plugin> Plugin::Load(std::string_view name_or_path) {
  const Resolved resolved = Resolve(name_or_path);
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, std::shared_ptr<Plugin>>();
  std::lock_guard lock(mutex);
  std::error_code ignored;
  const fs::path canonical = fs::canonical(resolved.path, ignored);
  const std::string path = canonical.empty() ? resolved.path : canonical.string();
  if (auto found = loaded.find(path); found != loaded.end()) return found->second;

  const auto begin = std::chrono::steady_clock::now();
  SetEnvironmentDefaults(path);
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const std::string why = dlerror();
    throw UserError(
        Code::kFailedPrecondition,
        fmt::format("plugin {} cannot be loaded: {}{}", path, why,
                    why.find("libcuda") != std::string::npos
                        ? "; it needs the NVIDIA driver of a GPU machine"
                        : "; is it a complete shared library for this machine? Install it "
                          "anew (deps/install)"));
  }
  using GetApi = const PJRT_Api* (*)();
  const auto get_api = reinterpret_cast<GetApi>(dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) {
    throw UserError(Code::kFailedPrecondition,
                    fmt::format("{} is no PJRT plugin: it has no function GetPjrtApi; expected a "
                                "library such as those that deps/install brings",
                                path));
  }
  const PJRT_Api* api = get_api();
  const PluginVersion ours = BuiltWithPjrt();
  // Even the version may be read only if the table is long enough to have one.
  constexpr size_t kVersionEnd = offsetof(PJRT_Api, pjrt_api_version) + sizeof(PJRT_Api_Version);
  if (api == nullptr || api->struct_size < kVersionEnd) {
    throw UserError(
        Code::kFailedPrecondition,
        fmt::format("plugin {} has an unreadable function table ({} bytes; at least {} expected), "
                    "Flatout was built with PJRT {}; install the plugin that deps/install brings",
                    path, api == nullptr ? 0 : api->struct_size, kVersionEnd, ours.ToString()));
  }
  const PluginVersion theirs{api->pjrt_api_version.major_version,
                             api->pjrt_api_version.minor_version};
  if (theirs.major != ours.major || theirs.minor < kOldestPjrtMinor) {
    throw UserError(
        Code::kFailedPrecondition,
        fmt::format(
            "plugin {} is of PJRT version {}; Flatout was built with {} and takes {}.{} and "
            "newer of the same major version; install the plugin that deps/install brings",
            path, theirs.ToString(), ours.ToString(), ours.major, kOldestPjrtMinor));
  }
  // The functions that nothing goes without. All later ones are checked when they are called.
  if (!FLATOUT_HAS(api, PJRT_Error_Destroy) || !FLATOUT_HAS(api, PJRT_Error_Message) ||
      !FLATOUT_HAS(api, PJRT_Error_GetCode) || !FLATOUT_HAS(api, PJRT_Client_Create) ||
      !FLATOUT_HAS(api, PJRT_LoadedExecutable_Execute) || !FLATOUT_HAS(api, PJRT_Buffer_Destroy)) {
    throw UserError(
        Code::kFailedPrecondition,
        fmt::format(
            "plugin {} says it is of PJRT version {} but its function table ({} bytes) lacks "
            "functions Flatout (PJRT {}) needs; install the plugin that deps/install brings",
            path, theirs.ToString(), api->struct_size, ours.ToString()));
  }

  auto plugin = std::shared_ptr<Plugin>(new Plugin());
  plugin->name_ = resolved.name;
  plugin->path_ = path;
  plugin->version_ = theirs;
  plugin->api_ = api;
  if (theirs.minor > kNewestTestedPjrtMinor) {
    plugin->warning_ = fmt::format(
        "plugin {} is of PJRT version {}, newer than the newest one Flatout was tested "
        "with ({}.{}); if it misbehaves, install the plugin that deps/install brings",
        path, theirs.ToString(), ours.major, kNewestTestedPjrtMinor);
  }
  const std::string doing = "initialising plugin " + path;
  if (FLATOUT_HAS(api, PJRT_Plugin_Initialize)) {
    FLATOUT_ARGS(PJRT_Plugin_Initialize, args);
    FLATOUT_CALL(api, PJRT_Plugin_Initialize, args, doing);
  }
  // Some vendors' plugins have no attributes, or an error in their place.
  if (FLATOUT_HAS(api, PJRT_Plugin_Attributes)) {
    FLATOUT_ARGS(PJRT_Plugin_Attributes, args);
    if (PJRT_Error* error = api->PJRT_Plugin_Attributes(args.get()); error != nullptr) {
      DestroyError(api, error);
    } else if (args->attributes != nullptr) {
      for (size_t i = 0; i < args->num_attributes; ++i) {
        const PJRT_NamedValue& value = args->attributes[i];
        plugin->attributes_[std::string(value.name, value.name_size)] = ValueToString(value);
      }
    }
  }
  plugin->load_seconds_ =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!plugin->warning_.empty()) LogWarning("{}", plugin->warning_);
  loaded[path] = plugin;
  return plugin;
}

Plugin::~Plugin() = default;

namespace {

// From xla/pjrt/c/pjrt_c_api_ffi_extension.h; that header is in none of the wheels.
struct FfiRegisterArgs {
  size_t struct_size;
  const char* target_name;
  size_t target_name_size;
  void* handler;
  const char* platform_name;
  size_t platform_name_size;
  uint32_t traits;
};
struct FfiExtension {
  PJRT_Extension_Base base;
  void* type_register;
  void* user_data_add;
  PJRT_Error* (*register_handler)(FfiRegisterArgs* args);
};

}  // namespace

void Plugin::RegisterFfiHandler(std::string_view target, void* handler, std::string_view platform,
                                uint32_t traits) {
  for (const PJRT_Extension_Base* e = api_->extension_start; e != nullptr; e = e->next) {
    if (e->type != PJRT_Extension_Type_FFI) continue;
    const auto* ffi = reinterpret_cast<const FfiExtension*>(e);
    if (ffi->base.struct_size < sizeof(FfiExtension) || ffi->register_handler == nullptr) break;
    Padded<FfiRegisterArgs> args(sizeof(FfiRegisterArgs));
    args->target_name = target.data();
    args->target_name_size = target.size();
    args->handler = handler;
    args->platform_name = platform.data();
    args->platform_name_size = platform.size();
    args->traits = traits;
    if (PJRT_Error* error = ffi->register_handler(args.get()); error != nullptr) {
      ThrowAndDestroy(api_, error, fmt::format("registering the kernel {}", target));
    }
    return;
  }
  throw UserError(
      Code::kUnimplemented,
      fmt::format("plugin {} (PJRT {}) takes no kernels of ours: it has no FFI extension "
                  "with a register function",
                  path_, version_.ToString()));
}

}  // namespace flatout::xla
