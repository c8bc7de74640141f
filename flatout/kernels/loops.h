// Loops of our own: what goes over rows or channels, each in as few passes over memory as it can.
// loops.inc holds them; it is compiled once for each instruction set, and LoopsFor gives those that
// this processor runs. Vectors have 16 elements whatever the instruction set, and sums have a fixed
// order: results differ between instruction sets by fused multiply-adds only, and not at all
// between numbers of threads.
#pragma once

#include <stdint.h>

#include <string_view>

namespace flatout::kernels {

// An array of f32 or of bf16.
struct Array {
  void* data;
  bool narrow;
};

// Each does the rows [begin, end) (for elementwise ones: elements) of what its arrays hold; columns
// is the length of a row. Partial sums go to `partial`, which belongs to those rows alone.
struct Loops {
  // Over logits[row, columns]: loss, shift (the largest logit, 0 if that is infinite) and the sum
  // of exp(logit - shift). An index out of range picks 0.
  void (*cross_entropy)(Array logits, const int32_t* index, float* loss, float* shift, float* sum,
                        int64_t columns, int64_t begin, int64_t end);
  // dx = (exp(logit - shift) / sum - onehot) by.
  void (*cross_entropy_gradient)(Array logits, const int32_t* index, const float* shift,
                                 const float* sum, const float* by, Array dx, int64_t columns,
                                 int64_t begin, int64_t end);
  // `causal_rows` > 0: row r sees the columns up to r % causal_rows, the others get 0.
  void (*softmax)(const float* x, Array y, int64_t columns, int64_t causal_rows, int64_t begin,
                  int64_t end);
  void (*softmax_gradient)(Array y, Array dy, Array dx, int64_t columns, int64_t begin,
                           int64_t end);
  void (*layer_norm)(Array x, const float* gamma, const float* beta, float epsilon, Array y,
                     float* mean, float* deviation, int64_t columns, int64_t begin, int64_t end);
  // partial: sums over the rows for gamma, then for beta.
  void (*layer_norm_gradient)(Array x, const float* gamma, const float* mean,
                              const float* deviation, Array dy, Array dx, float* partial,
                              int64_t columns, int64_t begin, int64_t end);
  void (*gelu)(Array x, Array y, int64_t begin, int64_t end);
  void (*gelu_gradient)(Array x, Array dy, Array dx, int64_t begin, int64_t end);
  // partial: mean of each column over these rows, then sums of squared distances from it.
  void (*moments)(Array x, float* partial, int64_t columns, int64_t begin, int64_t end);
  // y = (x - mean) factor + offset by columns, (+ residual), (then relu).
  void (*scale)(Array x, const float* mean, const float* factor, const float* offset,
                const Array* residual, bool relu, Array y, int64_t columns, int64_t begin,
                int64_t end);
  // partial: sums over the rows of dy (x - mean) deviation, then of dy. Where `result` is given, dy
  // counts only where it is above 0.
  void (*channel_sums)(Array x, Array dy, const Array* result, const float* mean,
                       const float* deviation, float* partial, int64_t columns, int64_t begin,
                       int64_t end);
  // dx = factor dy + a (x - mean) + b by columns.
  void (*channel_gradient)(Array x, Array dy, const Array* result, const float* mean,
                           const float* factor, const float* a, const float* b, Array dx,
                           int64_t columns, int64_t begin, int64_t end);
  // partial: sums over the rows.
  void (*column_sums)(Array x, float* partial, int64_t columns, int64_t begin, int64_t end);
};

// The best of those that a processor limited to oneDNN's instruction set `isa` ("avx2",
// "avx512_core_amx"...) runs.
const Loops& LoopsFor(std::string_view isa);

extern const Loops kLoopsBase, kLoopsAvx2, kLoopsAvx512;

}  // namespace flatout::kernels
