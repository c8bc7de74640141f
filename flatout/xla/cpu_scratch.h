// What XLA:CPU's libraries allocate while a program runs, beside what the compiler accounts for.
//
// Eigen, oneDNN and YNNPACK, which multiply matrices and convolve for XLA:CPU, pack their operands
// into memory that they take from the C library and give back at once. No account of the compiler
// holds it, and it may be more than all the rest. It can be worked out: a compiled program in its
// serialised form lists what runs (XLA calls the pieces thunks) and which memory each piece reads
// and writes; what may run side by side follows from that as it does for XLA, and what one product
// packs follows from its sizes, the processor's caches and the number of threads.
//
// Sources of the formulas: Eigen's tensor contraction on a thread pool
// (TensorContractionThreadPool.h, TensorContractionBlocking.h, GeneralBlockPanelKernel.h) with the
// block sizes of XLA's eigen_contraction_kernel.h; XLA's convolution_thunk_internal.h,
// execution_graph.cc and thunk_executor.cc; thunk.proto for the format. YNNPACK's are measured.
// docs/memory.md says how near it comes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flatout::xla {

// What the libraries go by. Caches in bytes, as Eigen reads them: of one core, the third of all.
struct CpuFacts {
  int64_t l1 = 32 << 10, l2 = 256 << 10, l3 = 2 << 20;
  int threads = 1;  // of XLA's pool
  // This machine's, with the processors that this process may use.
  static CpuFacts Here();
};

// Bytes that Eigen packs the operands of an m x k by k x n product of float32 into (sizes as Eigen
// sees them: column-major; XLA's row-major products come with m and n swapped).
int64_t ContractionScratch(int64_t m, int64_t n, int64_t k, const CpuFacts& cpu);

// The most that a run of the program takes so at once, with XLA's own records of the run. `program`
// is what Executable::Serialize of a CPU plugin gives. nullopt where it is not understood.
std::optional<int64_t> CpuScratch(std::string_view program, const CpuFacts& cpu);

}  // namespace flatout::xla
