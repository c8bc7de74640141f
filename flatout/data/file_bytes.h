// A whole file in memory, unpacked when it is gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace flatout::data {

struct FileBytes {
  std::shared_ptr<std::byte[]> data;  // 64-byte aligned is not promised
  size_t size = 0;
  bool gzip = false;  // decided by the first two bytes, never by the name

  std::span<const std::byte> bytes() const { return {data.get(), size}; }
};

struct LoadOptions {
  // Called once with the first bytes of the (unpacked) content, 4096 of them or all there are.
  // Returns how many bytes the content must have; reading stops as soon as there are more, so that
  // a small file cannot fill the memory. Throws to refuse the file. Without it any size is taken.
  std::function<int64_t(std::span<const std::byte> head)> expected_size;
  // With expected_size: called once there is memory for all of the content, which will lie there;
  // not where more is expected than the file can hold.
  std::function<void(const std::shared_ptr<std::byte[]>& data)> begun;
  // What to do when the file is missing: "apt-get install dataset-fashion-mnist".
  std::string remedy;
};

// Reads `path`. gzip is recognised by content and may consist of several members. Throws DataError:
// missing (with the nearest name in its folder), unreadable, a cut, corrupt (checksum) or otherwise
// wrong gzip stream with the byte offset in the file. A size other than the expected one is not an
// error here: the content is returned as far as it was read (at most one byte more than expected).
FileBytes LoadFile(const std::string& path, const LoadOptions& options = {});

// "00 00 08 03", for messages.
std::string HexBytes(std::span<const std::byte> bytes);

}  // namespace flatout::data
