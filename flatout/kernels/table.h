// The table that decides: from which size on the library is faster than XLA. docs/kernels.md says
// what it was measured on.
#pragma once

#include <cstdint>
#include <string>

#include "flatout/kernels/spec.h"

namespace flatout::kernels {

// What there is to compare with.
struct XlaFacts {
  // Products by YNNPACK, as in the plugin of PJRT 0.115, not by Eigen, as in that of 0.81.
  bool ynnpack = false;
};

// "" where the library is the faster one, else why it is not.
std::string WhyNotFaster(const MatmulSpec& spec, const XlaFacts& xla);
std::string WhyNotFaster(const ConvolutionSpec& spec, const XlaFacts& xla);
std::string WhyNotFaster(const LoopSpec& spec, const XlaFacts& xla);

double Flops(const MatmulSpec& spec);
double Flops(const ConvolutionSpec& spec);
double Flops(const LoopSpec& spec);

}  // namespace flatout::kernels
