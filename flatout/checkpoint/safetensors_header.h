// The beginning of a safetensors file: 8 bytes of length, then JSON. Internal to
// flatout/checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/ir/shape.h"

namespace flatout::checkpoint {

inline constexpr size_t kSafetensorsLengthBytes = 8;

// A tensor's place in the file, without its bytes.
struct TensorPlace {
  std::string name;
  ir::Shape shape;
  uint64_t begin = 0, end = 0;  // within the data, which follows the header
};

struct SafetensorsHeader {
  std::vector<TensorPlace> tensors;  // in the header's order
  std::map<std::string, std::string> metadata;
};

// Length and JSON, padded so that the data begins at a multiple of 8 bytes; the tensors lie one
// after the other, in this order; their begin and end are set. Throws InternalError for a name that
// comes twice.
std::string WriteSafetensorsHeader(SafetensorsHeader& header);

// Bytes of the JSON, from the first 8 bytes of a file of `size` bytes.
uint64_t SafetensorsHeaderLength(const std::string& path, std::string_view first, uint64_t size);

// Parses and checks the JSON of a file whose data is `data_bytes` long: dtypes, shapes, and that
// the tensors fill the data without holes or overlap.
SafetensorsHeader ParseSafetensorsHeader(const std::string& path, std::string_view json,
                                         uint64_t data_bytes);

}  // namespace flatout::checkpoint
