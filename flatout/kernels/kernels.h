// flatout/kernels: library kernels for CPU programs, and who computes what.
//
// XLA:CPU is good at everything that goes element by element and poor at convolution gradients and
// large products. oneDNN is the other way round. A Lowering takes a program's graph and puts calls
// into the library where that is faster: XLA FFI custom calls, which run inside the compiled
// program, in loops as well. One table (table.h) says from which size on, by op, dtype and
// processor; docs/kernels.md shows it and what it was measured on.
//
//   const kernels::Lowering lowering(client);                  // FLATOUT_KERNELS decides
//   options.cache_salt = lowering.cache_salt();
//   client.Compile(lowering.ToStablehlo(graph), options);
//
// The library is loaded when a Lowering first needs it and found where plugins are. Without it, or
// on devices other than CPUs, graphs come out as they went in. Results depend on nothing but
// operands, shapes, library, processor and number of threads: the same from run to run and from
// launch to launch, bit for bit.
//
// Threads: a Lowering is immutable. Calls may come from any number of XLA's threads; they run one
// after the other, each on all of the library's threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/xla/pjrt.h"

namespace flatout::kernels {

enum class Choice {
  kXla,     // XLA does everything
  kOneDnn,  // the library does everything it can, worth it or not; for tests and measurements
  kAuto,    // whoever is faster
};
// "xla", "onednn", "auto"; throws UserError for other words.
Choice ParseChoice(std::string_view text);
// $FLATOUT_KERNELS, else kAuto.
Choice ChoiceFromEnvironment();

// One op that was looked at.
struct Decision {
  std::string scope, what;  // "conv2d_1", "convolution by weights 64x28x28x32 3x3 f32"
  bool library = false;
  std::string implementation;  // of the library: "brgconv:avx512_core"
  std::string why;             // why XLA does it
  double flops = 0;
};

class Lowering {
 public:
  // For programs of `client`. Registers the handlers with its plugin the first time and proves by
  // compiling a small program that the plugin took them. Where the library is missing or the plugin
  // takes no handlers, it warns once per process and leaves everything to XLA.
  explicit Lowering(const xla::Client& client, Choice choice = ChoiceFromEnvironment());

  // False: graphs stay as they are.
  bool active() const { return active_; }
  // A copy of `graph` with calls in it. `decisions`, if given, gets one entry per op looked at.
  std::unique_ptr<ir::Graph> Lower(const ir::Graph& graph,
                                   std::vector<Decision>* decisions = nullptr) const;
  // ir::ToStablehlo of that.
  std::string ToStablehlo(const ir::Graph& graph, const ir::StablehloOptions& options = {}) const;
  // For CompileOptions::cache_salt: choice, library, version, instruction set and threads; "" where
  // XLA does everything.
  const std::string& cache_salt() const { return cache_salt_; }
  // "oneDNN 3.2.0 (avx512_core_amx, 2 threads)" or "XLA alone (FLATOUT_KERNELS=xla)".
  const std::string& description() const { return description_; }

 private:
  Choice choice_;
  bool active_ = false;
  bool ynnpack_ = false;  // XLA's products are those of its newer versions
  std::string cache_salt_, description_;
};

// Bytes of memory that all library calls of this process share for their temporaries: as much as
// the largest of them has needed so far.
int64_t ScratchBytes();

}  // namespace flatout::kernels
