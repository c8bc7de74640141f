// oneDNN, loaded when it is first needed: its functions, and pieces of work made from them.
// Only sources of this folder include this; kernels.h is for everybody.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flatout/ir/shape.h"
#include "oneapi/dnnl/dnnl.h"

namespace flatout::kernels {

// The functions of the library that are used, without their prefix "dnnl_".
#define FLATOUT_ONEDNN_FUNCTIONS(F)                     \
  F(version)                                            \
  F(get_effective_cpu_isa)                              \
  F(engine_create)                                      \
  F(stream_create)                                      \
  F(stream_wait)                                        \
  F(memory_desc_create_with_strides)                    \
  F(memory_desc_create_with_tag)                        \
  F(memory_desc_clone)                                  \
  F(memory_desc_destroy)                                \
  F(memory_desc_equal)                                  \
  F(memory_desc_get_size)                               \
  F(memory_create)                                      \
  F(memory_destroy)                                     \
  F(memory_set_data_handle)                             \
  F(primitive_attr_create)                              \
  F(primitive_attr_destroy)                             \
  F(primitive_attr_set_scratchpad_mode)                 \
  F(primitive_attr_set_post_ops)                        \
  F(post_ops_create)                                    \
  F(post_ops_destroy)                                   \
  F(post_ops_append_eltwise)                            \
  F(matmul_primitive_desc_create)                       \
  F(convolution_forward_primitive_desc_create)          \
  F(convolution_backward_data_primitive_desc_create)    \
  F(convolution_backward_weights_primitive_desc_create) \
  F(reorder_primitive_desc_create)                      \
  F(primitive_desc_query)                               \
  F(primitive_desc_query_md)                            \
  F(primitive_desc_destroy)                             \
  F(primitive_create)                                   \
  F(primitive_destroy)                                  \
  F(primitive_execute)

struct OneDnn {
#define FLATOUT_FIELD(name) decltype(&dnnl_##name) name = nullptr;
  FLATOUT_ONEDNN_FUNCTIONS(FLATOUT_FIELD)
#undef FLATOUT_FIELD

  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  std::string path, version_text, isa;
  int threads = 1;
  // OpenMP's, for the thread that calls: the size of its teams from then on.
  void (*set_threads)(int) = nullptr;
  // libgomp's: runs `function` on each thread of the team. nullptr where the library's OpenMP is
  // another.
  void (*parallel)(void (*function)(void*), void* data, unsigned threads, unsigned flags) = nullptr;

  // The library, loaded on the first call, once per process; nullptr where there is none that can
  // be used, and why_not says so.
  static const OneDnn* Get();
  static const std::string& why_not();
};

// Throws InternalError naming `what` unless `status` is success.
void Check(dnnl_status_t status, const char* what);

// Owner of one of the library's objects.
template <typename Object, typename Destroy>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Object object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_ != nullptr) Destroy()(object_);
  }
  Object get() const { return object_; }
  Object* put() { return &object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object object_ = nullptr;
};
#define FLATOUT_OWNED(Name, object, function)                       \
  struct Destroy##Name {                                            \
    void operator()(object o) const { OneDnn::Get()->function(o); } \
  };                                                                \
  using Name = Owned<object, Destroy##Name>;
FLATOUT_OWNED(MemoryDesc, dnnl_memory_desc_t, memory_desc_destroy)
FLATOUT_OWNED(Memory, dnnl_memory_t, memory_destroy)
FLATOUT_OWNED(PostOps, dnnl_post_ops_t, post_ops_destroy)
FLATOUT_OWNED(PrimitiveAttr, dnnl_primitive_attr_t, primitive_attr_destroy)
FLATOUT_OWNED(PrimitiveDesc, dnnl_primitive_desc_t, primitive_desc_destroy)
FLATOUT_OWNED(Primitive, dnnl_primitive_t, primitive_destroy)
#undef FLATOUT_OWNED

using Dims = std::vector<int64_t>;

dnnl_data_type_t ToOneDnn(ir::DType dtype);  // f32 and bf16
MemoryDesc Strided(ir::DType dtype, const Dims& dims, const Dims& strides);
// The primitive says which layout it likes best.
MemoryDesc AnyLayout(ir::DType dtype, const Dims& dims);
// "brgconv:avx512_core_amx", "ref:any".
std::string ImplementationOf(const PrimitiveDesc& desc);
// Calls body(0) to body(count - 1) on the library's threads, each when a thread is free; returns
// when all are done.
template <typename Body>
void ForEach(int64_t count, const Body& body) {
  const OneDnn& library = *OneDnn::Get();
  struct Shared {
    const Body& body;
    const int64_t count;
    // `done` says what libgomp's own means say already, for tools that do not see those.
    std::atomic<int64_t> next = 0, done = 0;
  } shared{body, count};
  const auto work = [](void* data) {
    auto& of = *static_cast<Shared*>(data);
    for (int64_t i = of.next++; i < of.count; i = of.next++) of.body(i);
    ++of.done;
  };
  if (count <= 1 || library.threads <= 1 || library.parallel == nullptr) {
    work(&shared);
  } else {
    shared.next = 0;
    library.parallel(work, &shared, 0, 0);
    static_cast<void>(shared.done.load());
  }
}

// Attributes every primitive here has: scratch memory comes from us. `relu` is applied to what is
// written.
PrimitiveAttr Attr(bool relu = false);

// Primitives one after the other on operands, results and scratch memory of one call. Run may be
// called by one thread at a time only.
class Plan {
 public:
  enum class Place { kOperand, kResult, kScratch };
  // Memory at operand or result `index`, described by `desc`; returns its number.
  int At(Place place, int64_t index, const MemoryDesc& desc);
  // Memory of that description in the scratch memory.
  int Scratch(const_dnnl_memory_desc_t desc);
  // `args` are (DNNL_ARG_SRC..., number) pairs; the primitive's own scratchpad is added.
  void Add(const PrimitiveDesc& desc, std::vector<std::pair<int, int>> args);
  // From memory `from` to memory `to`.
  void AddReorder(int from, const_dnnl_memory_desc_t from_desc, int to,
                  const_dnnl_memory_desc_t to_desc);

  // Bytes of scratch memory that Run wants, 64-byte aligned.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  const std::string& implementation() const { return implementation_; }
  void Run(std::span<void* const> operands, std::span<void* const> results, char* scratch);

 private:
  struct Slot {
    Place place;
    int64_t index;  // or offset
    Memory memory;
  };
  struct Step {
    Primitive primitive;
    std::vector<dnnl_exec_arg_t> args;
  };
  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  int64_t scratch_bytes_ = 0;
  std::string implementation_;  // of the last primitive that is no reorder
};

}  // namespace flatout::kernels
