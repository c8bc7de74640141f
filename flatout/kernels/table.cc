#include "flatout/kernels/table.h"

#include <algorithm>

#include "flatout/base/error.h"

namespace flatout::kernels {
namespace {

std::string Below(double flops, double limit) {
  if (flops >= limit) return "";
  return fmt::format("{:.3g} floating-point operations are too few (from {:.3g} on)", flops, limit);
}

}  // namespace

double Flops(const MatmulSpec& spec) {
  double flops =
      2.0 * static_cast<double>(spec.m) * static_cast<double>(spec.n) * static_cast<double>(spec.k);
  for (int64_t dim : spec.batch) flops *= static_cast<double>(dim);
  return flops;
}

double Flops(const ConvolutionSpec& spec) {
  double flops = 2.0 * static_cast<double>(spec.batch) * static_cast<double>(spec.out_channels) *
                 static_cast<double>(spec.in_channels / spec.groups);
  for (int64_t size : spec.out_size) flops *= static_cast<double>(size);
  for (int64_t size : spec.kernel) flops *= static_cast<double>(size);
  return flops;
}

// Of a loop: its elements, which is what it takes its time for.
double Flops(const LoopSpec& spec) {
  return static_cast<double>(spec.rows) * static_cast<double>(spec.columns);
}

// Each call wakes the library's threads, which costs tens of microseconds where they have gone to
// sleep. YNNPACK's float32 products of two matrices are as good as the library's up to rather large
// ones; several at once (attention) it reads after transposes that the library does without.
std::string WhyNotFaster(const MatmulSpec& spec, const XlaFacts& xla) {
  const bool equal = xla.ynnpack && spec.in == ir::DType::kF32 && spec.batch.empty();
  return Below(Flops(spec), equal ? 3e8 : 2e7);
}

std::string WhyNotFaster(const ConvolutionSpec& spec, const XlaFacts&) {
  // A gradient by an input of few channels (an image, which seldom needs one) uses a part of each
  // vector only.
  constexpr int64_t kFewChannels = 4;
  if (spec.direction == ConvolutionSpec::Direction::kByData && spec.groups == 1 &&
      spec.in_channels < kFewChannels) {
    return fmt::format("{} input channels are too few for a gradient by data", spec.in_channels);
  }
  // Tiles of 16-bit kernels take longer to set up.
  return Below(Flops(spec), spec.in == ir::DType::kF32 ? 1e6 : 1e7);
}

std::string WhyNotFaster(const LoopSpec& spec, const XlaFacts&) {
  constexpr double kFewElements = 1 << 18;
  if (Flops(spec) < kFewElements) {
    return fmt::format("{:.3g} elements are too few (from {:.3g} on)", Flops(spec), kFewElements);
  }
  // Each batch row of such an array is a piece of its own.
  constexpr int64_t kFewCells = 16;
  if ((spec.loop == Loop::kBatchNorm || spec.loop == Loop::kBatchNormGradient) &&
      spec.cells < kFewCells) {
    return fmt::format("{} cells of a row and channel are too few (from {} on)", spec.cells,
                       kFewCells);
  }
  return "";
}

}  // namespace flatout::kernels
