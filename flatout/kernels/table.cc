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
  double flops = 2.0 * static_cast<double>(spec.m) * static_cast<double>(spec.n) *
                 static_cast<double>(spec.k);
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

std::string WhyNotFaster(const MatmulSpec& spec) { return Below(Flops(spec), 1e6); }

std::string WhyNotFaster(const ConvolutionSpec& spec) { return Below(Flops(spec), 1e5); }

}  // namespace flatout::kernels
