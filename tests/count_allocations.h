// Every heap allocation of the process while counting is on: this program's own malloc and its kin
// stand in front of the C library's (count_allocations.cc), and shared libraries that are loaded
// later, XLA's plugins among them, call them too. Not for builds with sanitizers, which have their
// own.
#pragma once

#include <cstdint>
#include <vector>

namespace flatout {

// Counts from its making to Stop. One at a time.
class CountAllocations {
 public:
  CountAllocations();
  ~CountAllocations();
  CountAllocations(const CountAllocations&) = delete;
  CountAllocations& operator=(const CountAllocations&) = delete;

  struct Result {
    int64_t peak = 0;   // most bytes asked for since the start and not yet given back
    int64_t live = 0;   // at the end
    int64_t count = 0;  // of allocations
    // Sizes of the blocks of at least 4 KiB that were alive at the peak, largest first.
    std::vector<int64_t> at_peak;
  };
  Result Stop();
};

}  // namespace flatout
