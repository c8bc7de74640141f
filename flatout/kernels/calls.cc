#include "flatout/kernels/calls.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

#include "flatout/base/error.h"
#include "flatout/kernels/kernels.h"
#include "xla/ffi/api/c_api.h"

namespace flatout::kernels {
namespace {

struct Entry {
  std::unique_ptr<Kernel> kernel;
  std::string why_not;
};

// What a call is known by: its target's number, then its numbers.
using Key = std::vector<int64_t>;

struct KeyHash {
  using is_transparent = void;
  size_t operator()(std::span<const int64_t> key) const {
    uint64_t hash = 0x9E3779B97F4A7C15ULL;
    for (const int64_t number : key) {
      hash = (hash ^ static_cast<uint64_t>(number)) * 0xFF51AFD7ED558CCDULL;
      hash ^= hash >> 32;
    }
    return hash;
  }
};
struct KeyEqual {
  using is_transparent = void;
  bool operator()(std::span<const int64_t> a, std::span<const int64_t> b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
};

using Table = std::unordered_map<Key, Entry, KeyHash, KeyEqual>;

// Everything that calls share. Never destroyed: XLA's threads may still be running at exit.
struct Shared {
  std::mutex table_mutex;
  std::map<std::string, Table, std::less<>> tables;  // by target
  // Held while a kernel runs: the library's threads are one team, and the memory is one.
  std::mutex run_mutex;
  char* scratch = nullptr;
  int64_t scratch_bytes = 0;
};

Shared& TheShared() {
  static Shared& shared = *new Shared;
  return shared;
}

constexpr size_t kAlignment = 4096;

// With run_mutex held.
char* ScratchOf(Shared& shared, int64_t bytes) {
  if (bytes > shared.scratch_bytes) {
    std::free(shared.scratch);
    shared.scratch_bytes = 0;
    const size_t size = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    shared.scratch = static_cast<char*>(std::aligned_alloc(kAlignment, size));
    if (shared.scratch == nullptr) {
      throw UserError(Code::kResourceExhausted,
                      fmt::format("no memory left: a library kernel needs {} bytes; choose a "
                                  "smaller batch, or set FLATOUT_KERNELS=xla",
                                  size));
    }
    shared.scratch_bytes = static_cast<int64_t>(size);
  }
  return shared.scratch;
}

XLA_FFI_Error* MakeError(const XLA_FFI_Api* api, const Error& error) {
  XLA_FFI_Error_Create_Args args = {};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  const std::string message = error.what();
  args.message = message.c_str();
  args.errc = static_cast<XLA_FFI_Error_Code>(error.code());
  return api->XLA_FFI_Error_Create(&args);
}

std::span<const int64_t> NumbersOf(const XLA_FFI_CallFrame& frame) {
  constexpr std::string_view kName = "numbers";
  for (int64_t i = 0; i < frame.attrs.size; ++i) {
    const XLA_FFI_ByteSpan& name = *frame.attrs.names[i];
    if (std::string_view(name.ptr, name.len) != kName) continue;
    if (frame.attrs.types[i] != XLA_FFI_AttrType_ARRAY) break;
    const auto& array = *static_cast<const XLA_FFI_Array*>(frame.attrs.attrs[i]);
    if (array.dtype != XLA_FFI_DataType_S64) break;
    return {static_cast<const int64_t*>(array.data), array.size};
  }
  throw Internal("a call of a library kernel lacks its numbers");
}

int64_t SizeOf(const XLA_FFI_Buffer& buffer) {
  int64_t size = 1;
  for (int64_t i = 0; i < buffer.rank; ++i) size *= buffer.dims[i];
  return size;
}

constexpr size_t kMostArrays = 8;

struct Arrays {
  void* data[kMostArrays];
  size_t count = 0;
};

Arrays Collect(void* const* items, int64_t count, const std::vector<int64_t>& expected,
               std::string_view what) {
  if (count != static_cast<int64_t>(expected.size()) || expected.size() > kMostArrays) {
    throw Internal("a library kernel of {} {}s got {}", expected.size(), what, count);
  }
  Arrays arrays;
  for (int64_t i = 0; i < count; ++i) {
    const auto& buffer = *static_cast<const XLA_FFI_Buffer*>(items[i]);
    if (SizeOf(buffer) != expected[i]) {
      throw Internal("{} {} of a library kernel has {} elements, expected {}", what, i,
                     SizeOf(buffer), expected[i]);
    }
    arrays.data[arrays.count++] = buffer.data;
  }
  return arrays;
}

void Execute(std::string_view target, const XLA_FFI_CallFrame& frame) {
  std::string why_not;
  Kernel* kernel = FindKernel(target, NumbersOf(frame), &why_not);
  if (kernel == nullptr) {
    throw Internal("{}: there is no kernel for a call that was chosen: {}", target, why_not);
  }
  const Arrays operands =
      Collect(frame.args.args, frame.args.size, kernel->operand_sizes, "operand");
  const Arrays results = Collect(frame.rets.rets, frame.rets.size, kernel->result_sizes, "result");
  Shared& shared = TheShared();
  const std::lock_guard lock(shared.run_mutex);
  kernel->Run({operands.data, operands.count}, {results.data, results.count},
              ScratchOf(shared, kernel->scratch_bytes));
}

XLA_FFI_Error* Handle(std::string_view target, XLA_FFI_CallFrame* frame) {
  // XLA asks every handler once which version of the interface it was made for.
  if (frame->extension_start != nullptr &&
      frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    auto* extension = reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame->extension_start);
    extension->metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    extension->metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    extension->metadata->traits = 0;
    return nullptr;
  }
  if (frame->stage != XLA_FFI_ExecutionStage_EXECUTE) return nullptr;
  try {
    Execute(target, *frame);
    return nullptr;
  } catch (const Error& error) {
    return MakeError(frame->api, error);
  } catch (const std::exception& error) {
    return MakeError(frame->api, Internal("{}: {}", target, error.what()));
  }
}

template <const std::string_view& kTarget>
XLA_FFI_Error* HandlerOf(XLA_FFI_CallFrame* frame) {
  return Handle(kTarget, frame);
}

template <const std::string_view& kTarget>
Handler Row() {
  return {kTarget, reinterpret_cast<void*>(&HandlerOf<kTarget>)};
}

Entry Make(std::string_view target, std::span<const int64_t> numbers) {
  Entry entry;
  if (target == kMatmulTarget) {
    entry.kernel = MakeMatmul(Decode<MatmulSpec>(numbers), &entry.why_not);
  } else if (target == kConvolutionTarget) {
    entry.kernel = MakeConvolution(Decode<ConvolutionSpec>(numbers), &entry.why_not);
  } else if (target == kLoopTarget) {
    entry.kernel = MakeLoop(Decode<LoopSpec>(numbers), &entry.why_not);
  } else {
    throw Internal("there is no library kernel called {}", target);
  }
  return entry;
}

}  // namespace

std::span<const Handler> Handlers() {
  static const Handler handlers[] = {Row<kMatmulTarget>(), Row<kConvolutionTarget>(),
                                     Row<kLoopTarget>()};
  return handlers;
}

Kernel* FindKernel(std::string_view target, std::span<const int64_t> numbers,
                   std::string* why_not) {
  Shared& shared = TheShared();
  // Held while a kernel is made, too: whoever else wants it would have to wait for it anyway.
  const std::lock_guard lock(shared.table_mutex);
  auto table = shared.tables.find(target);
  if (table == shared.tables.end()) table = shared.tables.emplace(target, Table()).first;
  auto found = table->second.find(numbers);
  if (found == table->second.end()) {
    found = table->second.emplace(Key(numbers.begin(), numbers.end()), Make(target, numbers)).first;
  }
  if (found->second.kernel == nullptr) *why_not = found->second.why_not;
  return found->second.kernel.get();
}

int64_t ScratchBytes() {
  Shared& shared = TheShared();
  const std::lock_guard lock(shared.table_mutex);
  int64_t most = 0;
  for (const auto& [target, table] : shared.tables) {
    for (const auto& [key, entry] : table) {
      if (entry.kernel != nullptr) most = std::max(most, entry.kernel->scratch_bytes);
    }
  }
  return most;
}

}  // namespace flatout::kernels
