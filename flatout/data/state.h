// Where an iterator stands.
#pragma once

#include <cstdint>
#include <vector>

namespace flatout::data {

// All that is needed to go on, with any batch size, number of threads or workers.
struct IteratorState {
  uint64_t seed = 0;     // of the first Shuffle; 0 where there is none
  int64_t epoch = 0;     // counts from 0
  int64_t position = 0;  // records (elements) of this epoch that were given out
  int64_t size = 0;      // records per epoch, to notice that the data changed; kUnknown for a
                         // stream
  std::vector<int64_t> stream;  // of a stream: what its cursor saved

  bool operator==(const IteratorState&) const = default;
};

}  // namespace flatout::data
