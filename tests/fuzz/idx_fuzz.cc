// idx files.
#include "flatout/data/sources/idx.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

FUZZ_TARGET(bytes) {
  const MemoryFile file(bytes);
  Accepts([&] {
    const data::IdxFile idx = data::ReadIdx(file.path());
    FUZZ_CHECK(!idx.shape.dims.empty());
    const int64_t size = idx.shape.bytes();
    FUZZ_CHECK(size >= 0);
    volatile int sum = 0;
    for (int64_t i = 0; i < size; ++i) sum = sum + static_cast<int>(idx.data.get()[i]);
  });
}

}  // namespace flatout::fuzz
