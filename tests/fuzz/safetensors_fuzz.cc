// The header of safetensors files.
#include <algorithm>
#include <vector>

#include "flatout/data/formats/safetensors_header.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

FUZZ_TARGET(bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  Accepts([&] {
    const int64_t head = data::SafetensorsHeaderBytes("x.safetensors", size, bytes);
    FUZZ_CHECK(head >= 8 && head <= size);
    const std::vector<data::SafetensorsEntry> entries =
        data::ParseSafetensorsHeader("x.safetensors", size, bytes.first(static_cast<size_t>(head)));
    // Side by side, within the file.
    int64_t at = head;
    for (const data::SafetensorsEntry& entry : entries) {
      for (int64_t dim : entry.shape.dims) FUZZ_CHECK(dim >= 0);
      FUZZ_CHECK(entry.offset == at);
      FUZZ_CHECK(entry.shape.bytes() >= 0 && entry.shape.bytes() <= size - at);
      at += entry.shape.bytes();
    }
  });
}

}  // namespace flatout::fuzz
