// How long a training step takes on a card that is not here: a roofline over the step's kernels.
//
// MeasureWork reads the work off our own graph: which values a GPU compiler would keep in registers
// and which must go through device memory, and so the kernels that are left, with the
// floating-point operations and bytes of each. EstimateStep puts a time to every kernel (the slower
// of its arithmetic at the card's dense peak and its traffic at the card's bandwidth, both times
// the share of it that real kernels reach), adds what it takes to start them and the all-reduce
// between cards, and gives a range. The efficiencies and where they are from stand in Efficiency;
// docs/plan.md says how far to trust the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/xla/cards.h"

namespace flatout::plan {

// One kernel of a program as a GPU compiler would make it: a matrix product, a convolution, or
// element-wise and reducing operations fused.
struct KernelWork {
  double matrix_flops = 0;            // of products and convolutions; 0 for fused kernels
  ir::DType dtype = ir::DType::kF32;  // of the operands of the product
  double tiles = 0;                   // independent pieces of the product, 64 x 64 x 512 each
  double bytes = 0;                   // read from and written to device memory, by one run of it
  double times = 1;                   // runs in one step (the passes of a loop)
  std::string layer;                  // whose it is, or ""
};

// What one training step does on one replica. A loop whose trip count only the launch knows (over
// the steps of a launch) counts once; scans (over micro-batches, time steps) as often as they run.
struct StepWork {
  std::vector<KernelWork> kernels;
  double flops = 0;             // all operations, as ir::Flops counts them
  double matrix_flops = 0;      // of that, products and convolutions
  double bytes = 0;             // device memory traffic
  double launches = 0;          // kernels started
  double all_reduce_bytes = 0;  // of the operands of all-reduces, by one replica
  double all_reduces = 0;
};

StepWork MeasureWork(const ir::Graph& program);

// A figure that is not known exactly.
struct Range {
  double low = 0, likely = 0, high = 0;

  Range operator*(double factor) const { return {low * factor, likely * factor, high * factor}; }
  Range operator+(const Range& other) const {
    return {low + other.low, likely + other.likely, high + other.high};
  }
  // factor / this: low and high change places.
  Range Inverse(double factor = 1) const { return {factor / high, factor / likely, factor / low}; }
};

// What real programs reach of a card's data sheet. Each range goes from a pessimist's to an
// optimist's view. Nothing of this was measured by Flatout on a GPU yet.
struct Efficiency {
  // Share of the dense peak in large products and convolutions. Whole training runs of transformers
  // reach 35 to 60 % of an A100's bf16 peak and 27 to 46 % of an H100's, other kernels included
  // (MosaicML llm-foundry, scripts/train/benchmarking, MPT 125m to 70b); single large products
  // reach more than the runs around them.
  Range matrix = {0.35, 0.55, 0.75};
  // Share of the memory bandwidth. STREAM triad and copies reach 92 % on an H100 (3.09 of
  // 3.35 TB/s); kernels with several inputs and short rows reach less.
  Range memory = {0.6, 0.8, 0.92};
  // Share of the link bandwidth in a ring all-reduce of many MB: NCCL reaches 370 of 450 GB/s on
  // H100 by rings, more with NVLink SHARP (nccl-tests, issue 212), and 208 to 240 of 300 GB/s on
  // A100 (issues 149 and 178).
  Range link = {0.5, 0.75, 0.9};
  // Seconds from the end of one kernel to the start of the next: 4 to 6 us where the host submits
  // each, about 1 us when they are recorded as a CUDA graph, as XLA does for parts of a program.
  Range launch = {6e-6, 3e-6, 1e-6};
  // Seconds per step beside its kernels: the loop over the steps of a launch asks the device after
  // each whether to go on.
  Range step = {60e-6, 25e-6, 8e-6};
  // Seconds for an all-reduce of nothing, for each of its 2 (n - 1) hops.
  Range hop = {12e-6, 6e-6, 3e-6};
};

// What a step waits for most.
enum class Limit { kArithmetic, kMemory, kLaunches, kAllReduce };
// "arithmetic", "memory bandwidth", "kernel launches", "all-reduce".
std::string_view LimitName(Limit limit);

struct StepQuestion {
  const xla::Card* card = nullptr;
  int64_t gpus = 1;
  double samples = 0;  // real rows of a step, on all cards
  double flops_per_sample =
      0;  // of the model, forward and backward, nothing computed twice: for MFU
  ir::DType compute = ir::DType::kF32;  // of the policy: whose peak MFU is a share of
  // The compiler's count of memory traffic in a step, where it gives one: the fused kernels' share
  // of our own count is scaled to meet it, within a factor of 3.
  std::optional<double> compiler_bytes;
};

struct StepEstimate {
  Range seconds;             // of a step, low is the optimist's
  Range samples_per_second;  // all cards together
  Range mfu;                 // 0..1, of `peak_flops`
  double peak_flops = 0;     // of all cards, dense, products of operands of StepQuestion::compute
  // Parts of seconds.likely; they add up to it.
  double arithmetic = 0, memory = 0, launches = 0, all_reduce = 0;
  Limit limit = Limit::kMemory;
};

StepEstimate EstimateStep(const StepWork& work, const StepQuestion& question,
                          const Efficiency& efficiency = {});

// Seconds that a ring all-reduce of `bytes` takes between `gpus` cards: each sends
// 2 (n - 1) / n of the bytes over its link, in 2 (n - 1) hops. 0 for one card.
Range AllReduceSeconds(double bytes, int64_t gpus, double link_bandwidth,
                       const Efficiency& efficiency = {});

// The name of the arithmetic that XLA uses for products of `dtype` on the card: "tf32", "f32",
// "bf16", "f16", "f32 (no bf16 units)".
std::string ArithmeticName(const xla::Card& card, ir::DType dtype);

}  // namespace flatout::plan
