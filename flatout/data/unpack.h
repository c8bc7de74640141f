// gzip and zlib streams, piece by piece.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace flatout::data {

enum class Packing { kNone, kGzip, kZlib };

// Bytes of a file's beginning that SniffPacking wants to see.
inline constexpr size_t kSniffBytes = 4096;

// How the content that begins with `head` is packed (`whole`: that is all of it). A zlib header is
// two bytes that ordinary text may begin with ("H,", "x^"), so what follows it must unpack.
Packing SniffPacking(std::span<const std::byte> head, bool whole);

// Unpacks a stream. `read` fills the memory it is given from the front and returns how many bytes,
// 0 at the end. `write` gets the content in pieces and returns false when it wants no more. A gzip
// file may have several members and zeros behind them. Throws DataError for a cut or corrupt stream
// (checksums included), or for other bytes behind it, naming `path` and the byte offset in the
// packed file.
void Unpack(const std::string& path, Packing packing,
            const std::function<size_t(std::span<std::byte>)>& read,
            const std::function<bool(std::span<const std::byte>)>& write);

}  // namespace flatout::data
