// The table that decides: from which size on the library is faster than XLA. docs/kernels.md says
// what it was measured on.
#pragma once

#include <cstdint>
#include <string>

#include "flatout/kernels/spec.h"

namespace flatout::kernels {

// "" where the library is the faster one, else why it is not.
std::string WhyNotFaster(const MatmulSpec& spec);
std::string WhyNotFaster(const ConvolutionSpec& spec);

double Flops(const MatmulSpec& spec);
double Flops(const ConvolutionSpec& spec);

}  // namespace flatout::kernels
