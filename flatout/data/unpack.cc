#include "flatout/data/unpack.h"

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "flatout/base/error.h"

namespace flatout::data {
namespace {

constexpr size_t kPiece = size_t{1} << 18;

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

// Whether the head of a zlib stream unpacks as far as it goes.
bool UnpacksAsZlib(std::span<const std::byte> head, bool whole) {
  z_stream stream = {};
  if (inflateInit2(&stream, 15) != Z_OK) return false;
  const std::unique_ptr<z_stream, EndInflate> end(&stream);
  std::vector<std::byte> scratch(kPiece);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(head.data()));
  stream.avail_in = static_cast<uInt>(head.size());
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(scratch.data());
    stream.avail_out = static_cast<uInt>(scratch.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END) return true;
    if (result != Z_OK && result != Z_BUF_ERROR) return false;
    if (stream.avail_in == 0 && stream.avail_out > 0) break;
  }
  // It ends early. A few bytes of text may get this far by chance, more hardly.
  constexpr size_t kTelling = 64;
  return !whole || head.size() >= kTelling;
}

}  // namespace

Packing SniffPacking(std::span<const std::byte> head, bool whole) {
  if (head.size() < 2) return Packing::kNone;
  const auto at = [&](size_t i) { return std::to_integer<unsigned>(head[i]); };
  if (at(0) == 0x1f && at(1) == 0x8b) {
    // Deflate is the only method there is, and the upper three flags are reserved (RFC 1952).
    if (head.size() >= 4) {
      return at(2) == 8 && (at(3) & 0xe0) == 0 ? Packing::kGzip : Packing::kNone;
    }
    return Packing::kGzip;
  }
  // Method deflate, a window of at most 32 KiB, the header's check, no preset dictionary (RFC
  // 1950).
  if ((at(0) & 0x0f) == 8 && at(0) >> 4 <= 7 && (at(0) * 256 + at(1)) % 31 == 0 &&
      (at(1) & 0x20) == 0 && UnpacksAsZlib(head, whole)) {
    return Packing::kZlib;
  }
  return Packing::kNone;
}

void Unpack(const std::string& path, Packing packing,
            const std::function<size_t(std::span<std::byte>)>& read,
            const std::function<bool(std::span<const std::byte>)>& write) {
  const char* name = packing == Packing::kGzip ? "gzip" : "zlib";
  z_stream stream = {};
  // 15 bits of window; + 16: a gzip header and trailer. zlib verifies the checksum of both kinds.
  if (inflateInit2(&stream, packing == Packing::kGzip ? 15 + 16 : 15) != Z_OK) {
    throw Internal("inflateInit2 failed");
  }
  const std::unique_ptr<z_stream, EndInflate> end(&stream);
  std::vector<std::byte> input(kPiece), output(kPiece);
  uint64_t taken = 0;     // bytes read so far
  uint64_t unpacked = 0;  // bytes
  int member = 1;
  bool inside = true;
  const auto where = [&] { return taken - stream.avail_in; };
  while (true) {
    if (stream.avail_in == 0) {
      const size_t got = read(input);
      taken += got;
      stream.next_in = reinterpret_cast<Bytef*>(input.data());
      stream.avail_in = static_cast<uInt>(got);
      if (got == 0) {
        if (!inside) return;
        throw BadData(
            "{}: the {} stream is cut: expected more after byte {} (member {}, {} bytes unpacked), "
            "found the end of the file. Fetch the file again",
            path, name, taken, member, unpacked);
      }
    }
    if (!inside) {
      // Another member, or the zero padding that tape writers leave; anything else is garbage.
      if (*stream.next_in == 0) {
        ++stream.next_in;
        --stream.avail_in;
        continue;
      }
      if (packing != Packing::kGzip || *stream.next_in != 0x1f) {
        throw BadData(
            "{}: trailing bytes after {} member {} at byte {}: expected {}the end of the file, "
            "found {:02x}. Fetch the file again, or cut it there",
            path, name, member, where(),
            packing == Packing::kGzip ? "another member (1f 8b) or " : "", *stream.next_in);
      }
      inflateReset(&stream);
      inside = true;
      ++member;
    }
    stream.next_out = reinterpret_cast<Bytef*>(output.data());
    stream.avail_out = static_cast<uInt>(output.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    const size_t made = output.size() - stream.avail_out;
    unpacked += made;
    if (made > 0 && !write(std::span(output).first(made))) return;
    if (result == Z_STREAM_END) {
      inside = false;
    } else if (result == Z_MEM_ERROR) {
      throw UserError(Code::kResourceExhausted,
                      fmt::format("{}: no memory left while unpacking", path));
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw BadData(
          "{}: the {} stream is corrupt near byte {} (member {}, {} bytes unpacked): {}. Fetch the "
          "file again",
          path, name, where(), member, unpacked,
          stream.msg != nullptr ? stream.msg : "unknown error");
    }
  }
}

}  // namespace flatout::data
