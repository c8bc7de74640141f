#include "flatout/xla/topology.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/xla/api.h"
#include "flatout/xla/compile_cache.h"

namespace flatout::xla {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostGpus = 1024;

// A cache file is kMagic, the CRC-32C of its name and the rest as 8 hexadecimal digits, '\n', lines
// "name number" up to an empty one, and the program if it was kept.
constexpr std::string_view kMagic = "flatout plan 1\n";

// What PJRT_Compile gave, destroyed in the end.
struct Compiled {
  const PJRT_Api* api;
  PJRT_Executable* executable;
  ~Compiled() {
    FLATOUT_ARGS(PJRT_Executable_Destroy, args);
    args->executable = executable;
    FLATOUT_CALL_QUIETLY(api, PJRT_Executable_Destroy, args);
  }
};

// The compiler's counts where the plugin has them; some answer with an error in their place.
void ReadCosts(const PJRT_Api* api, PJRT_Executable* executable, AotProgram& program) {
  if (!FLATOUT_HAS(api, PJRT_Executable_GetCostAnalysis)) return;
  FLATOUT_ARGS(PJRT_Executable_GetCostAnalysis, args);
  args->executable = executable;
  if (PJRT_Error* error = api->PJRT_Executable_GetCostAnalysis(args.get()); error != nullptr) {
    DestroyError(api, error);
    return;
  }
  for (size_t i = 0; i < args->num_properties; ++i) {
    const PJRT_NamedValue& value = args->properties[i];
    if (value.type != PJRT_NamedValue_kFloat) continue;
    const std::string_view name(value.name, value.name_size);
    // XLA counts -1 for what it cannot know.
    if (!(value.float_value >= 0)) continue;
    if (name == "flops") program.flops = value.float_value;
    if (name == "bytes accessed") program.bytes_accessed = value.float_value;
  }
}

std::string Line(std::string_view name, auto value) { return fmt::format("{} {}\n", name, value); }

std::string ToText(const AotProgram& program) {
  const ProgramMemory& memory = program.memory;
  std::string text = Line("argument", memory.argument) + Line("output", memory.output) +
                     Line("alias", memory.alias) + Line("temp", memory.temp) +
                     Line("code", memory.code);
  if (memory.peak) text += Line("peak", *memory.peak);
  if (program.flops) text += Line("flops", *program.flops);
  if (program.bytes_accessed) text += Line("bytes_accessed", *program.bytes_accessed);
  text += Line("compile_seconds", program.compile_seconds);
  return text + "\n" + program.serialized;
}

// nullopt for text that ToText did not write. The checksum was right, so this is another version.
std::optional<AotProgram> FromText(std::string_view text) {
  std::map<std::string, std::string, std::less<>> lines;
  while (!text.empty() && text.front() != '\n') {
    const size_t end = text.find('\n');
    const size_t blank = text.find(' ');
    if (end == std::string_view::npos || blank > end) return std::nullopt;
    lines.emplace(text.substr(0, blank), text.substr(blank + 1, end - blank - 1));
    text.remove_prefix(end + 1);
  }
  if (text.empty()) return std::nullopt;
  AotProgram program;
  const auto integer = [&](std::string_view name, int64_t& field) {
    const auto found = lines.find(name);
    if (found != lines.end()) field = std::atoll(found->second.c_str());
    return found != lines.end();
  };
  const auto number = [&](std::string_view name) {
    const auto found = lines.find(name);
    return found == lines.end() ? std::nullopt : std::optional(std::atof(found->second.c_str()));
  };
  ProgramMemory& memory = program.memory;
  if (!integer("argument", memory.argument) || !integer("output", memory.output) ||
      !integer("alias", memory.alias) || !integer("temp", memory.temp) ||
      !integer("code", memory.code)) {
    return std::nullopt;
  }
  if (int64_t peak = 0; integer("peak", peak)) memory.peak = peak;
  program.flops = number("flops");
  program.bytes_accessed = number("bytes_accessed");
  program.compile_seconds = number("compile_seconds").value_or(0);
  program.serialized = text.substr(1);
  program.from_cache = true;
  return program;
}

std::string Checksum(const std::string& name, std::string_view rest) {
  return fmt::format("{:08x}", Crc32c(rest, Crc32c(name)));
}

// nullopt where there is no such entry, or a damaged one, which is removed.
std::optional<AotProgram> Load(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  constexpr size_t kHeader = kMagic.size() + 9;
  try {
    const std::string bytes = ReadFile(path);
    const std::string_view whole = bytes;
    if (whole.size() > kHeader && whole.starts_with(kMagic)) {
      const std::string_view rest = whole.substr(kHeader);
      if (whole.substr(kMagic.size(), 8) == Checksum(fs::path(path).filename(), rest)) {
        if (std::optional<AotProgram> program = FromText(rest)) {
          // Used now: the cache's limit takes the least recently used first. No matter if the
          // folder is read-only.
          utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
          return program;
        }
      }
    }
  } catch (const Error&) {
    return std::nullopt;  // gone or not for us to read: compile
  }
  LogWarning("plan cache: {} is damaged; the program is compiled anew", path);
  fs::remove(path, error);
  return std::nullopt;
}

void Store(const std::string& path, const AotProgram& program) {
  try {
    const std::string rest = ToText(program);
    MakeDirs(fs::path(path).parent_path());
    AtomicWriteFile(
        path, fmt::format("{}{}\n", kMagic, Checksum(fs::path(path).filename(), rest)) + rest);
  } catch (const Error& error) {
    static bool said = false;
    if (!std::exchange(said, true)) {
      LogWarning(
          "plan cache: {}; the next plan compiles again (FLATOUT_CACHE chooses another "
          "folder)",
          error.what());
    }
  }
}

}  // namespace

struct Topology::State {
  ~State() {
    if (raw == nullptr) return;
    FLATOUT_ARGS(PJRT_TopologyDescription_Destroy, args);
    args->topology = raw;
    FLATOUT_CALL_QUIETLY(plugin->api(), PJRT_TopologyDescription_Destroy, args);
  }
  std::shared_ptr<Plugin> plugin;
  const Card* card = nullptr;
  int gpus = 1;
  PJRT_TopologyDescription* raw = nullptr;
};

std::shared_ptr<Plugin> LoadPlanningPlugin() {
  for (const PluginInfo& info : FindPlugins()) {
    if (info.name != "cuda" || !info.path.empty()) continue;
    std::string searched;
    for (const std::string& path : info.searched) searched += "\n  " + path;
    throw NotFound(
        "planning for GPUs needs XLA's CUDA plugin (no GPU, driver or toolkit), which is not "
        "installed; run: flatout plugin install cuda13\nsearched:{}",
        searched);
  }
  return Plugin::Load("cuda");
}

Topology::Topology(std::unique_ptr<State> state) : state_(std::move(state)) {}
Topology::~Topology() = default;
const Card& Topology::card() const { return *state_->card; }
int Topology::gpus() const { return state_->gpus; }
const Plugin& Topology::plugin() const { return *state_->plugin; }

std::shared_ptr<Topology> Topology::Create(std::shared_ptr<Plugin> plugin, const Card& card,
                                           int gpus) {
  if (gpus < 1 || gpus > kMostGpus) {
    throw Invalid("a plan is for 1 to {} GPUs, found {}", kMostGpus, gpus);
  }
  const PJRT_Api* api = plugin->api();
  if (!FLATOUT_HAS(api, PJRT_Compile) || !FLATOUT_HAS(api, PJRT_TopologyDescription_Create)) {
    ThrowLacks(api, "PJRT_Compile");
  }
  auto state = std::make_unique<State>();
  state->plugin = std::move(plugin);
  state->card = &card;
  state->gpus = gpus;
  const std::string config = card.TargetConfig();
  const std::string shape = fmt::format("1x1x{}", gpus);  // slices x hosts x GPUs
  PJRT_NamedValue options[2] = {};
  const auto set = [](PJRT_NamedValue& option, std::string_view name, const std::string& value) {
    option.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    option.name = name.data();
    option.name_size = name.size();
    option.type = PJRT_NamedValue_kString;
    option.string_value = value.data();
    option.value_size = value.size();
  };
  set(options[0], "target_config", config);
  set(options[1], "topology", shape);
  FLATOUT_ARGS(PJRT_TopologyDescription_Create, args);
  args->topology_name = card.name.data();
  args->topology_name_size = card.name.size();
  args->create_options = options;
  args->num_options = 2;
  if (PJRT_Error* error = api->PJRT_TopologyDescription_Create(args.get()); error != nullptr) {
    const PluginError said = TakeError(api, error);
    throw UserError(
        Code::kUnimplemented,
        fmt::format("plugin {} cannot be asked about the card {} ({}): {}; install the one Flatout "
                    "was tested with: flatout plugin install cuda13",
                    state->plugin->path(), card.name, card.title, said.message));
  }
  state->raw = args->topology;
  return std::shared_ptr<Topology>(new Topology(std::move(state)));
}

namespace {

CompileOptions Complete(const AotOptions& options) {
  CompileOptions complete;
  complete.num_replicas = options.num_replicas;
  complete.env_overrides = options.env_overrides;
  // There is no card to time kernels on.
  complete.env_overrides.emplace("xla_gpu_autotune_level", "0");
  return complete;
}

}  // namespace

std::string Topology::Key(std::string_view stablehlo, const AotOptions& options) const {
  Sha256 sum;
  sum.Field(kMagic).Field(stablehlo).Field(Complete(options).ToProto());
  sum.Field(state_->card->TargetConfig()).Field(fmt::format("{}", state_->gpus));
  const Plugin& plugin = *state_->plugin;
  sum.Field(plugin.version().ToString());
  for (const auto& [name, value] : plugin.attributes()) sum.Field(name).Field(value);
  struct stat info {};
  if (stat(plugin.path().c_str(), &info) == 0) sum.Field(fmt::format("{}", info.st_size));
  return sum.HexDigest() + ".plan";
}

std::string Topology::WriteCache(const std::string& folder, std::string_view stablehlo,
                                 const AotOptions& options) const {
  AotOptions keep = options;
  keep.keep_serialized = true;
  const AotProgram program = Compile(stablehlo, keep);
  // As train::Runtime asks for it there: no flags of its own, the first devices.
  CompileOptions there;
  there.num_replicas = options.num_replicas;
  for (int i = 0; i < options.num_replicas; ++i) there.device_ids.push_back(i);
  const std::vector<std::string> kinds(static_cast<size_t>(options.num_replicas),
                                       state_->card->device_kinds.front());
  return CompileCache::StoreForDevices(folder, *state_->plugin, kinds, stablehlo, there,
                                       program.serialized);
}

AotProgram Topology::Compile(std::string_view stablehlo, const AotOptions& options) const {
  const State& state = *state_;
  if (options.num_replicas < 1 || options.num_replicas > state.gpus) {
    throw Invalid("a program for {} GPUs has 1 to {} replicas, found {}", state.gpus, state.gpus,
                  options.num_replicas);
  }
  // Not tried: the plugin (0.116) has been seen to crash when one of several kernels that are
  // compiled at the same time is refused.
  if (!state.card->compiler_issue.empty()) {
    throw UserError(Code::kUnimplemented,
                    fmt::format("nothing can be compiled for the card {} ({}): {}",
                                state.card->name, state.card->title, state.card->compiler_issue));
  }
  std::string folder =
      options.cache_folder.empty() ? CompileCache::DefaultFolder() : options.cache_folder;
  std::string path;
  if (!folder.empty() && folder != "off") {
    path = (fs::path(folder) / Key(stablehlo, options)).string();
    if (std::optional<AotProgram> found = Load(path)) {
      if (!options.keep_serialized || !found->serialized.empty()) return *std::move(found);
    }
  }

  const auto begin = Clock::now();
  const PJRT_Api* api = state.plugin->api();
  const std::string proto = Complete(options).ToProto();
  Padded<PJRT_Program> program(PJRT_Program_STRUCT_SIZE);
  // The plugin takes a char* but only reads here.
  program->code = const_cast<char*>(stablehlo.data());
  program->code_size = stablehlo.size();
  constexpr std::string_view kFormat = "mlir";
  program->format = kFormat.data();
  program->format_size = kFormat.size();
  FLATOUT_ARGS(PJRT_Compile, args);
  args->topology = state.raw;
  args->program = program.get();
  args->compile_options = proto.data();
  args->compile_options_size = proto.size();
  const std::string doing = fmt::format("compiling the program for {}", state.card->title);
  if (PJRT_Error* error = api->PJRT_Compile(args.get()); error != nullptr) {
    const PluginError said = TakeError(api, error);
    std::rethrow_exception(Translate(said, doing, stablehlo));
  }
  const Compiled compiled{api, args->executable};
  AotProgram result;
  result.compile_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const std::optional<ProgramMemory> memory = MemoryOf(api, compiled.executable);
  if (!memory) {
    throw UserError(Code::kUnimplemented,
                    fmt::format("plugin {} does not say how much memory a program takes; install "
                                "the one Flatout was tested with: flatout plugin install cuda13",
                                state.plugin->path()));
  }
  result.memory = *memory;
  ReadCosts(api, compiled.executable, result);
  if (options.keep_serialized) result.serialized = Serialized(api, compiled.executable);
  if (!path.empty()) Store(path, result);
  return result;
}

}  // namespace flatout::xla
