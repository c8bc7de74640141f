// The header of a safetensors file: eight bytes of length (little-endian), then JSON that names
// each tensor's dtype, shape and bytes; the data follows. Source: the format's own README.
// (checkpoint/safetensors.h reads whole files of parameters; this finds arrays of records.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flatout/ir/shape.h"

namespace flatout::data {

struct SafetensorsEntry {
  std::string name;
  ir::Shape shape;
  int64_t offset = 0;  // of its first byte in the file
};

inline constexpr int64_t kMostSafetensorsHeader = int64_t{100} << 20;
// The bytes of length and header. `head`: the first eight bytes or more. `size`: of the file.
// Throws DataError.
int64_t SafetensorsHeaderBytes(const std::string& path, int64_t size,
                               std::span<const std::byte> head);
// The tensors, by offset. `head` is the whole header. Throws DataError: no such file, a wrong or
// cut header, an unknown dtype, bytes that overlap, have gaps, or lie outside the file.
std::vector<SafetensorsEntry> ParseSafetensorsHeader(const std::string& path, int64_t size,
                                                     std::span<const std::byte> head);

}  // namespace flatout::data
