// The header of .npy files.
#include <algorithm>

#include "flatout/data/formats/npy.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

FUZZ_TARGET(bytes) {
  Accepts([&] {
    const int64_t size =
        data::NpyHeaderBytes("x.npy", bytes.first(std::min(bytes.size(), data::kNpyPrefix)));
    FUZZ_CHECK(size >= 10);
  });
  Accepts([&] {
    const data::NpyHeader header = data::ParseNpyHeader("x.npy", bytes);
    FUZZ_CHECK(header.size >= 10 && header.size <= static_cast<int64_t>(bytes.size()));
    FUZZ_CHECK(!header.shape.dims.empty());
    // The element count fits a file.
    int64_t total = ir::ByteSize(header.shape.dtype);
    for (int64_t dim : header.shape.dims) {
      FUZZ_CHECK(dim >= 0);
      FUZZ_CHECK(!__builtin_mul_overflow(total, dim, &total));
    }
  });
}

}  // namespace flatout::fuzz
