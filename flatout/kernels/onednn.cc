#include "flatout/kernels/onednn.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/xla/pjrt.h"

namespace flatout::kernels {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFile = "onednn/onednn_cpu_gomp-2023.2.0.data/data/lib/libdnnl.so.3";
// The oldest library whose functions and rules are the ones this is written for.
constexpr int kMajor = 3, kMinor = 2;

std::string IsaName(dnnl_cpu_isa_t isa) {
  switch (isa) {
    case dnnl_cpu_isa_sse41:
      return "sse41";
    case dnnl_cpu_isa_avx:
      return "avx";
    case dnnl_cpu_isa_avx2:
      return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
      return "avx2_vnni";
    case dnnl_cpu_isa_avx2_vnni_2:
      return "avx2_vnni_2";
    case dnnl_cpu_isa_avx512_core:
      return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_fp16:
      return "avx512_core_fp16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "avx512_core_amx";
    case dnnl_cpu_isa_avx512_core_amx_fp16:
      return "avx512_core_amx_fp16";
    default:
      return fmt::format("isa {:#x}", static_cast<unsigned>(isa));
  }
}

struct Loaded {
  OneDnn library;
  bool usable = false;
  std::string why_not;
};

std::string FindLibrary(std::string& why_not) {
  std::error_code error;
  if (const char* set = std::getenv("FLATOUT_ONEDNN"); set != nullptr && *set != '\0') {
    if (fs::is_regular_file(set, error)) return set;
    why_not = fmt::format("FLATOUT_ONEDNN is \"{}\", where there is no file", set);
    return "";
  }
  std::string searched;
  for (const std::string& folder : xla::PluginFolders()) {
    const std::string path = (fs::path(folder) / kFile).string();
    if (fs::is_regular_file(path, error)) return path;
    searched += "\n  " + path;
  }
  why_not = fmt::format(
      "oneDNN is at none of these places; run deps/install, or name libdnnl.so.3 in "
      "FLATOUT_ONEDNN:{}",
      searched);
  return "";
}

// What libgomp reads once, when it is loaded: as many threads as this process may really use, and
// no spinning of threads that wait (they would take the cores from XLA's threads).
void SetOpenMpDefaults(int threads) {
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), /*overwrite=*/0);
  setenv("OMP_DYNAMIC", "false", 0);
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
}

void Load(Loaded& loaded) {
  OneDnn& library = loaded.library;
  const std::string path = FindLibrary(loaded.why_not);
  if (path.empty()) return;
  SetOpenMpDefaults(ReadCgroup().cpu.usable);
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    loaded.why_not = fmt::format("{} cannot be loaded: {}", path, dlerror());
    return;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function != nullptr) return true;
    loaded.why_not =
        fmt::format("{} is no oneDNN {}.{}: it has no function {}", path, kMajor, kMinor, name);
    return false;
  };
#define FLATOUT_FIND(name) \
  if (!find(library.name, "dnnl_" #name)) return;
  FLATOUT_ONEDNN_FUNCTIONS(FLATOUT_FIND)
#undef FLATOUT_FIND
  const dnnl_version_t* version = library.version();
  library.version_text = fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
  if (version->major != kMajor || version->minor < kMinor ||
      version->cpu_runtime != DNNL_RUNTIME_OMP) {
    loaded.why_not = fmt::format(
        "{} is oneDNN {}{}; expected {}.{} or a later {}.x with OpenMP threads", path,
        library.version_text, version->cpu_runtime != DNNL_RUNTIME_OMP ? " without OpenMP" : "",
        kMajor, kMinor, kMajor);
    return;
  }
  int (*max_threads)() = nullptr;
  if (!find(max_threads, "omp_get_max_threads")) return;
  library.threads = max_threads();
  if (!find(library.set_threads, "omp_set_num_threads")) return;
  library.parallel = reinterpret_cast<decltype(library.parallel)>(dlsym(handle, "GOMP_parallel"));
  library.path = path;
  library.isa = IsaName(library.get_effective_cpu_isa());
  if (library.engine_create(&library.engine, dnnl_cpu, 0) != dnnl_success ||
      library.stream_create(&library.stream, library.engine, dnnl_stream_default_flags) !=
          dnnl_success) {
    loaded.why_not = fmt::format("{} makes no engine for this processor", path);
    return;
  }
  loaded.usable = true;
}

const Loaded& TheLibrary() {
  // Never destroyed: primitives of caches that outlive main() use it.
  static const Loaded& loaded = *[] {
    auto* result = new Loaded;
    Load(*result);
    return result;
  }();
  return loaded;
}

}  // namespace

const OneDnn* OneDnn::Get() {
  const Loaded& loaded = TheLibrary();
  return loaded.usable ? &loaded.library : nullptr;
}

const std::string& OneDnn::why_not() { return TheLibrary().why_not; }

void Check(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) return;
  if (status == dnnl_out_of_memory) {
    throw UserError(Code::kResourceExhausted,
                    fmt::format("oneDNN: no memory left for {}; choose a smaller batch", what));
  }
  throw Internal("oneDNN: {} failed with status {}", what, static_cast<int>(status));
}

dnnl_data_type_t ToOneDnn(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kF32:
      return dnnl_f32;
    case ir::DType::kBF16:
      return dnnl_bf16;
    default:
      throw Internal("no oneDNN kernel takes {}", ir::Name(dtype));
  }
}

MemoryDesc Strided(ir::DType dtype, const Dims& dims, const Dims& strides) {
  MemoryDesc desc;
  Check(
      OneDnn::Get()->memory_desc_create_with_strides(desc.put(), static_cast<int>(dims.size()),
                                                     dims.data(), ToOneDnn(dtype), strides.data()),
      "memory description");
  return desc;
}

MemoryDesc AnyLayout(ir::DType dtype, const Dims& dims) {
  MemoryDesc desc;
  Check(
      OneDnn::Get()->memory_desc_create_with_tag(desc.put(), static_cast<int>(dims.size()),
                                                 dims.data(), ToOneDnn(dtype), dnnl_format_tag_any),
      "memory description");
  return desc;
}

std::string ImplementationOf(const PrimitiveDesc& desc) {
  const char* text = nullptr;
  Check(OneDnn::Get()->primitive_desc_query(desc.get(), dnnl_query_impl_info_str, 0, &text),
        "name of an implementation");
  return text == nullptr ? "" : text;
}

PrimitiveAttr Attr(bool relu) {
  const OneDnn& library = *OneDnn::Get();
  PrimitiveAttr attr;
  Check(library.primitive_attr_create(attr.put()), "attributes");
  Check(library.primitive_attr_set_scratchpad_mode(attr.get(), dnnl_scratchpad_mode_user),
        "attributes");
  if (relu) {
    // The library's own relu makes 0 of NaN, which would hide from a training step that it has gone
    // wrong. x clip(s x, 0, 1) with a huge s is relu too, and keeps NaN (and makes NaN of -inf,
    // which no activation should be either).
    constexpr float kSteep = 1e38F;
    PostOps ops;
    Check(library.post_ops_create(ops.put()), "attributes");
    Check(library.post_ops_append_eltwise(ops.get(), dnnl_eltwise_hardswish, kSteep, 0),
          "attributes");
    Check(library.primitive_attr_set_post_ops(attr.get(), ops.get()), "attributes");
  }
  return attr;
}

int Plan::At(Place place, int64_t index, const MemoryDesc& desc) {
  const OneDnn& library = *OneDnn::Get();
  Slot slot{place, index, {}};
  Check(library.memory_create(slot.memory.put(), desc.get(), library.engine, DNNL_MEMORY_NONE),
        "memory");
  slots_.push_back(std::move(slot));
  return static_cast<int>(slots_.size()) - 1;
}

int Plan::Scratch(const_dnnl_memory_desc_t desc) {
  const OneDnn& library = *OneDnn::Get();
  Slot slot{Place::kScratch, scratch_bytes_, {}};
  Check(library.memory_create(slot.memory.put(), desc, library.engine, DNNL_MEMORY_NONE), "memory");
  slots_.push_back(std::move(slot));
  const auto bytes = static_cast<int64_t>(library.memory_desc_get_size(desc));
  scratch_bytes_ += (bytes + 63) / 64 * 64;
  return static_cast<int>(slots_.size()) - 1;
}

void Plan::Add(const PrimitiveDesc& desc, std::vector<std::pair<int, int>> args) {
  const OneDnn& library = *OneDnn::Get();
  Step step;
  Check(library.primitive_create(step.primitive.put(), desc.get()), "primitive");
  const_dnnl_memory_desc_t pad =
      library.primitive_desc_query_md(desc.get(), dnnl_query_scratchpad_md, 0);
  if (pad != nullptr && library.memory_desc_get_size(pad) > 0) {
    args.emplace_back(DNNL_ARG_SCRATCHPAD, Scratch(pad));
  }
  for (const auto& [arg, slot] : args) step.args.push_back({arg, slots_[slot].memory.get()});
  steps_.push_back(std::move(step));
  implementation_ = ImplementationOf(desc);
}

void Plan::AddReorder(int from, const_dnnl_memory_desc_t from_desc, int to,
                      const_dnnl_memory_desc_t to_desc) {
  const OneDnn& library = *OneDnn::Get();
  const PrimitiveAttr attr = Attr();
  PrimitiveDesc desc;
  Check(library.reorder_primitive_desc_create(desc.put(), from_desc, library.engine, to_desc,
                                              library.engine, attr.get()),
        "reorder");
  std::string kept = implementation_;
  Add(desc, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  implementation_ = std::move(kept);
}

void Plan::Run(std::span<void* const> operands, std::span<void* const> results, char* scratch) {
  const OneDnn& library = *OneDnn::Get();
  for (const Slot& slot : slots_) {
    void* data = slot.place == Place::kOperand  ? operands[slot.index]
                 : slot.place == Place::kResult ? results[slot.index]
                                                : scratch + slot.index;
    Check(library.memory_set_data_handle(slot.memory.get(), data), "memory");
  }
  for (const Step& step : steps_) {
    Check(library.primitive_execute(step.primitive.get(), library.stream,
                                    static_cast<int>(step.args.size()), step.args.data()),
          implementation_.c_str());
  }
  Check(library.stream_wait(library.stream), "waiting");
}

}  // namespace flatout::kernels
