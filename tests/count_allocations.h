// Every heap allocation of the process while counting is on: this program's own malloc and its kin
// stand in front of the C library's (count_allocations.cc), and shared libraries that are loaded
// later, XLA's plugins among them, call them too. Not for builds with sanitizers, which have their
// own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flatout {

// Counts from its making to Stop. One at a time.
class CountAllocations {
 public:
  // With `callers`, it is also noted who asked for blocks of at least 4 KiB.
  explicit CountAllocations(bool callers = false);
  ~CountAllocations();
  CountAllocations(const CountAllocations&) = delete;
  CountAllocations& operator=(const CountAllocations&) = delete;

  struct Block {
    int64_t bytes = 0;
    int64_t order = 0;           // the count of what happened before it was asked for
    int64_t freed = -1;          // and before it was given back; -1: it was not
    std::vector<void*> callers;  // return addresses, innermost first; empty unless asked for
    // "libx.so+1234 < libx.so+5678 ...": what addr2line takes.
    std::string Callers() const;
  };
  struct Result {
    int64_t peak = 0;   // most bytes asked for since the start and not yet given back
    int64_t live = 0;   // at the end
    int64_t count = 0;  // of allocations
    // Blocks of at least 4 KiB that were alive at the peak, largest first.
    std::vector<Block> at_peak;
    // And every block of at least 4 KiB there was, in order.
    std::vector<Block> all;
  };
  Result Stop();
  // Bytes that were taken and not yet given back just now, since the making, as the C library
  // rounds them; less what was given back of before.
  static int64_t InUse();
};

}  // namespace flatout
