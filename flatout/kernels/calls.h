// The running side: XLA's calls, the kernels they stand for, and the memory these share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/kernels/spec.h"

namespace flatout::kernels {

struct Handler {
  std::string_view target;
  void* function;  // an XLA_FFI_Handler*
};
// Every handler there is.
std::span<const Handler> Handlers();

// The kernel of that call, made on the first request and kept; nullptr where there is none, and
// `why_not` says so. From any thread.
Kernel* FindKernel(std::string_view target, std::span<const int64_t> numbers, std::string* why_not);

}  // namespace flatout::kernels
