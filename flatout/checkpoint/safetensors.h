// flatout/checkpoint: keeping what was learned.
//
// Weights are kept as safetensors files (8 bytes of header length, a JSON header, then the raw
// little-endian tensors), which other tools read. Files are written whole or not at all.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "flatout/ir/shape.h"

namespace flatout::checkpoint {

struct HostTensor {
  std::string name;
  ir::Shape shape;
  std::vector<std::byte> bytes;  // row-major
};

struct TensorFile {
  std::vector<HostTensor> tensors;              // in file order
  std::map<std::string, std::string> metadata;  // "__metadata__"
  // The tensor called `name`, or nullptr.
  const HostTensor* Find(std::string_view name) const;
};

// Writes atomically: temporary name, fsync, rename, and a checksum as metadata "crc32c". Throws
// UserError naming path and reason (full disk, no permission) and leaves what was there before.
void SaveSafetensors(const std::string& path, const TensorFile& file);
// Reads and checks a file: header, dtypes, offsets, sizes, and the checksum where it has one (which
// is not part of the metadata that is returned). Throws DataError naming path, byte offset, what
// was expected and found.
TensorFile LoadSafetensors(const std::string& path);

}  // namespace flatout::checkpoint
