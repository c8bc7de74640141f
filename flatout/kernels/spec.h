// What a library call computes, as numbers: the pass writes them into the program, the handler
// makes the kernel from them. A compiled program that comes from the cache carries all it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/ir/shape.h"

namespace flatout::kernels {

using Dims = std::vector<int64_t>;

// c[batch, m, n] = sum over k of a[batch, m, k] b[batch, k, n] (+ bias[n]) (then relu). Strides are
// in elements and say where the array of the program has each of these dimensions.
struct MatmulSpec {
  ir::DType in = ir::DType::kF32, out = ir::DType::kF32;
  Dims batch;
  int64_t m = 0, n = 0, k = 0;
  Dims a_strides, b_strides, c_strides;  // batch, then (m, k), (k, n), (m, n)
  bool bias = false, relu = false;

  template <class V>
  void Visit(V& v) {
    v(in), v(out), v(batch), v(m), v(n), v(k), v(a_strides), v(b_strides), v(c_strides);
    v(bias), v(relu);
  }
};

// A convolution as a network has it going forward, and which of its arrays is computed from the
// other two. Activations are channels last; the kernel lies anywhere (strides in elements).
struct ConvolutionSpec {
  enum class Direction { kForward, kByData, kByWeights };
  Direction direction = Direction::kForward;
  // Of the operands, and of the result.
  ir::DType in = ir::DType::kF32, out = ir::DType::kF32;
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  Dims in_size, out_size, kernel;  // per spatial dimension
  Dims strides, dilation, pad_low, pad_high;
  int64_t kernel_out_stride = 0, kernel_in_stride = 0;
  Dims kernel_strides;
  bool bias = false, relu = false;  // forward only

  template <class V>
  void Visit(V& v) {
    v(direction), v(in), v(out), v(batch), v(in_channels), v(out_channels), v(groups);
    v(in_size), v(out_size), v(kernel), v(strides), v(dilation), v(pad_low), v(pad_high);
    v(kernel_out_stride), v(kernel_in_stride), v(kernel_strides), v(bias), v(relu);
  }
};

// A loop of our own (loops.h) over x[rows, columns]; see the table in loop_kernels.cc for operands
// and results.
enum class Loop {
  kCrossEntropy,
  kCrossEntropyGradient,
  kSoftmax,
  kSoftmaxGradient,
  kLayerNorm,
  kLayerNormGradient,
  kGelu,
  kGeluGradient,
  kBatchNorm,
  kBatchNormGradient,
  kColumnSums,
};
struct LoopSpec {
  Loop loop = Loop::kCrossEntropy;
  // Of x, and of what has its shape: the result of a forward loop, the cotangent of a gradient.
  ir::DType x = ir::DType::kF32, y = ir::DType::kF32;
  int64_t rows = 0, columns = 0;
  int64_t cells = 1;        // batch normalization: rows of x that share a weight
  int64_t causal_rows = 0;  // softmax: see loops.h
  double epsilon = 0;
  bool relu = false, residual = false;

  template <class V>
  void Visit(V& v) {
    v(loop), v(x), v(y), v(rows), v(columns), v(cells), v(causal_rows), v(epsilon);
    v(relu), v(residual);
  }
};

// Names of the calls.
inline constexpr std::string_view kMatmulTarget = "flatout.onednn.matmul";
inline constexpr std::string_view kConvolutionTarget = "flatout.onednn.convolution";
inline constexpr std::string_view kLoopTarget = "flatout.loop";

template <typename Spec>
std::vector<int64_t> Encode(Spec spec);
// Throws InternalError when the numbers are not what Encode wrote.
template <typename Spec>
Spec Decode(std::span<const int64_t> numbers);

// A kernel that is ready to run, kept for the process's life.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Elements of each operand and result, which the caller's arrays must have.
  std::vector<int64_t> operand_sizes, result_sizes;
  std::string implementation;  // "brgconv:avx512_core"
  int64_t scratch_bytes = 0;
  // One thread at a time.
  virtual void Run(std::span<void* const> operands, std::span<void* const> results,
                   char* scratch) = 0;
};

// nullptr where the library has nothing (or nothing fast) for it; why_not says what.
std::unique_ptr<Kernel> MakeMatmul(const MatmulSpec& spec, std::string* why_not);
std::unique_ptr<Kernel> MakeConvolution(const ConvolutionSpec& spec, std::string* why_not);
std::unique_ptr<Kernel> MakeLoop(const LoopSpec& spec, std::string* why_not);

}  // namespace flatout::kernels
