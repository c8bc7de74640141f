// flatout/plan: what a run needs before it runs: memory, batch, time and cost.
//
// A MemoryPlan says which bytes a training (or evaluation) program takes on one device, by what
// they are for and by layer. It comes in two strengths. Without the compiler it is an estimate from
// our own graph: state and batch are exact, activations and workspace follow from a walk over the
// graph's lifetimes that knows what compilers fuse (liveness.h). With the compiler's ProgramMemory
// the totals are the compiler's, and only the split of its temporaries by kind and layer is ours,
// scaled to their sum. docs/memory.md says how far each number can be trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flatout/ir/shape.h"
#include "flatout/step/step_program.h"
#include "flatout/xla/pjrt.h"

namespace flatout::plan {

// Bytes of one layer on one device.
struct LayerBytes {
  std::string layer;        // "conv2d_1"; "loss", "metrics", "optimizer", "batch" for the rest
  int64_t parameters = 0;   // trainable and not
  int64_t gradients = 0;    // alive at the step's peak, accumulators included
  int64_t optimizer = 0;    // slots
  int64_t activations = 0;  // values of the forward pass alive at the step's peak
  int64_t workspace = 0;    // all else that is alive at the peak
  int64_t total() const { return parameters + gradients + optimizer + activations + workspace; }
};

// One tensor that is in memory at the step's peak.
struct TensorBytes {
  std::string what;   // "the output of layer conv2d_1", "the gradient of dense/kernel",
                      // "dense/kernel", "dense/kernel's velocity", "the batch's field image"
  std::string layer;  // "" where it belongs to none
  ir::Shape shape;
  int64_t bytes = 0;
};

struct MemoryPlan {
  std::string program;     // "training", "evaluation"
  int64_t rows = 0;        // of the batch of one step, per device
  int64_t micro_rows = 0;  // of the program's inner pass; rows where the batch is not split
  int64_t loss_blocks = 1;  // in which head and loss go over the rows of a pass
  int64_t replicas = 1;
  int64_t batches_in_flight = 1;
  std::string policy;

  // Bytes on one device.
  int64_t parameters = 0;   // all variables and the counters
  int64_t gradients = 0;    // alive at the peak
  int64_t optimizer = 0;    // slots
  int64_t activations = 0;  // of the forward pass, alive at the peak
  int64_t workspace = 0;    // other temporaries of the compiled program
  int64_t batch = 0;        // the fields of all launches in flight
  int64_t results = 0;      // what launches in flight return: losses, sums
  int64_t code = 0;         // of the compiled program, where the compiler says
  // What the CPU's libraries take while they multiply and convolve, and XLA's records of its
  // arrays (xla/cpu_scratch.h): only with the compiler's account of a CPU program.
  int64_t scratch = 0;

  std::vector<LayerBytes> layers;    // in order of the model; layers without bytes left out
  std::vector<TensorBytes> largest;  // ten, by bytes
  // The compiler's account, if it was given; then total() is exact for its program, but for what is
  // in `scratch`.
  std::optional<xla::ProgramMemory> compiled;

  int64_t temporaries() const { return gradients + activations + workspace; }
  // What one device must have.
  int64_t total() const {
    return parameters + optimizer + batch + results + code + scratch + temporaries();
  }
  // A table for people. With a limit (bytes), also how much room is left or missing.
  std::string ToString(std::optional<int64_t> limit = std::nullopt) const;
};

// The plan of spec's training program on one device. `batches_in_flight` launches have their fields
// on the device at once (at least 1). `compiled` is the memory() of that very program.
MemoryPlan PlanMemory(const step::StepSpec& spec, int64_t batches_in_flight = 1,
                      std::optional<xla::ProgramMemory> compiled = std::nullopt);
// The same of its evaluation program, with the optimizer's state resident beside it.
MemoryPlan PlanEvaluation(const step::StepSpec& spec, int64_t batches_in_flight = 1,
                          std::optional<xla::ProgramMemory> compiled = std::nullopt);

// A real failure, for people: what the device said, the plan, its ten largest tensors and what
// would fit.
struct OutOfMemory {
  std::string device;                    // "cuda:0 (NVIDIA L4)"
  std::string said;                      // the runtime's own message, or ""
  std::optional<int64_t> limit;          // bytes the device may give, or could give just now
  std::optional<int64_t> others;         // bytes that other processes hold
  std::optional<int64_t> rows_that_fit;  // micro-batch rows by ChooseMicroBatch; 0: none
};
std::string FormatOutOfMemory(const MemoryPlan& plan, const OutOfMemory& failure);

// "1.5 GiB", "312 MiB", "17 KiB", "96 B".
std::string Bytes(int64_t bytes);

}  // namespace flatout::plan
