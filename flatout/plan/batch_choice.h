// The largest batch that fits, found by compiling a few programs and running none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "flatout/nn/recompute.h"
#include "flatout/plan/memory_plan.h"
#include "flatout/step/step_program.h"

namespace flatout::plan {

struct BatchQuestion {
  int64_t rows = 0;          // of the batch, per replica; the most that may be chosen
  int64_t memory_limit = 0;  // bytes of one device
  // Bytes that a program of `rows` rows needs, all told: by our graph, quick and rough; and by the
  // compiler, slow and exact (the compiled program's MemoryPlan::total()). A compile that throws
  // UserError(kResourceExhausted) counts as not fitting.
  std::function<int64_t(int64_t rows)> estimate;
  std::function<int64_t(int64_t rows)> compile;
  // Bytes that are there whatever the rows (state, batches in flight); 0 where unknown. Makes the
  // second guess better.
  int64_t fixed = 0;
  // Bytes that any part of the batch needs and the whole does not (sums of gradients); in both
  // functions above.
  int64_t split_extra = 0;
  // True: the choice splits `rows` evenly. With b rows fitting, ceil(rows / b) micro-batches are
  // needed, and as many equal ones cost less padding and memory. False: as many rows as fit.
  bool even_split = true;
  int max_compiles = 3;
};

struct BatchChoice {
  bool fits = false;          // false: not even one row does
  int64_t micro_rows = 0;     // the choice; its program has been compiled and fits
  int64_t micro_batches = 0;  // ceil(rows / micro_rows)
  int64_t bytes = 0;          // that its program needs; of one row where nothing fits
  // Largest number of rows that is expected to fit, from the programs compiled: the choice before
  // it was made even.
  int64_t largest_rows = 0;
  int compiles = 0;
  // Every compile: rows and bytes (-1: the compiler itself said that it doesn't fit), in order.
  std::vector<std::pair<int64_t, int64_t>> tried;
  // "micro-batch 96 of 256 rows: 3.1 GiB of 4 GiB".
  std::string ToString() const;
};

// At least 95 % of the most rows that fit, or an even split into as few micro-batches, within
// max_compiles compiles where memory grows about evenly with the rows. Where it grows so unlike the
// estimate that none of them fits, goes on with fewer rows until one does or one row does not.
BatchChoice ChooseMicroBatch(const BatchQuestion& question);

// The same for `spec`, whose micro_rows is what is chosen (BatchRows stay). `compile` gives the
// compiler's account of the training program of a spec.
BatchChoice ChooseMicroBatch(
    const step::StepSpec& spec, int64_t memory_limit, int64_t batches_in_flight,
    const std::function<xla::ProgramMemory(const step::StepSpec& spec)>& compile);

// What to recompute so that a training program fits.
struct RecomputeChoice {
  bool fits = false;
  nn::Recompute recompute;  // kNone where it fits without; all blocks where nothing fits
  int64_t bytes = 0;        // that its program needs
  int64_t bytes_without = 0;
  double extra_flops = 0;  // of one step, as a share of the step's
  int compiles = 0;
  // "recomputing block1, block2 (4 % more work): 3.1 GiB instead of 4.6 GiB".
  std::string ToString() const;
};
// The blocks of layers that save most for the work they cost, as many as it takes for `spec` (its
// own `recompute` does not count, its micro_rows do) to fit into `memory_limit` bytes. At most
// three compiles, then all blocks. `compile` as above; where it is empty the estimate decides.
RecomputeChoice ChooseRecompute(
    const step::StepSpec& spec, int64_t memory_limit, int64_t batches_in_flight,
    const std::function<xla::ProgramMemory(const step::StepSpec& spec)>& compile);

// For a spec of which not even one row fits in `memory_limit` bytes: what is in the way and what
// would help (recomputation, 16-bit computation, a lighter optimizer, a bigger card), each with the
// bytes it would need by our estimate.
std::string WhatWouldFit(const step::StepSpec& spec, int64_t memory_limit,
                         int64_t batches_in_flight);

}  // namespace flatout::plan
