#include "flatout/data/unpack.h"

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include <algorithm>
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

namespace {

// What isal_inflate complains of (isa-l/igzip_lib.h).
const char* Describe(int result) {
  switch (result) {
    case ISAL_INVALID_BLOCK:
      return "no such kind of block";
    case ISAL_INVALID_SYMBOL:
      return "no such symbol";
    case ISAL_INVALID_LOOKBACK:
      return "a distance that reaches back before the beginning";
    case ISAL_INVALID_WRAPPER:
      return "a header that is none";
    case ISAL_UNSUPPORTED_METHOD:
      return "a method that is not deflate";
    case ISAL_INCORRECT_CHECKSUM:
      return "its checksum or its length does not match";
    case ISAL_NEED_DICT:
      return "it needs a preset dictionary";
    default:
      return "unknown error";
  }
}

}  // namespace

void Unpack(const std::string& path, Packing packing,
            const std::function<size_t(std::span<std::byte>)>& read,
            const std::function<bool(std::span<const std::byte>)>& write) {
  const char* name = packing == Packing::kGzip ? "gzip" : "zlib";
  // ISA-L verifies header and checksum of both kinds; it is twice as fast as zlib.
  const auto stream = std::make_unique<inflate_state>();
  const auto begin = [&] {
    isal_inflate_init(stream.get());
    stream->crc_flag = packing == Packing::kGzip ? ISAL_GZIP : ISAL_ZLIB;
  };
  begin();
  // ISA-L takes in up to 8 bytes more than a member has. They are given back, to a place in the
  // buffer; so the end of the piece before stands in front of each.
  constexpr size_t kAhead = sizeof(stream->read_in);
  std::vector<std::byte> input(kAhead + kPiece), output(kPiece);
  const std::span<std::byte> piece = std::span(input).subspan(kAhead);
  size_t in_piece = 0;
  uint64_t taken = 0;     // bytes read so far
  uint64_t unpacked = 0;  // bytes
  int member = 1;
  bool inside = true;
  const auto where = [&] { return taken - stream->avail_in; };
  while (true) {
    if (stream->avail_in == 0) {
      if (in_piece >= kAhead) {
        std::copy_n(piece.begin() + static_cast<ptrdiff_t>(in_piece - kAhead), kAhead,
                    input.begin());
      } else {
        std::copy_n(input.begin() + static_cast<ptrdiff_t>(in_piece), kAhead, input.begin());
      }
      in_piece = read(piece);
      taken += in_piece;
      stream->next_in = reinterpret_cast<uint8_t*>(piece.data());
      stream->avail_in = static_cast<uint32_t>(in_piece);
      if (in_piece == 0 && !inside) return;
    }
    if (!inside) {
      // Another member, or the zero padding that tape writers leave; anything else is garbage.
      if (*stream->next_in == 0) {
        ++stream->next_in;
        --stream->avail_in;
        continue;
      }
      if (packing != Packing::kGzip || *stream->next_in != 0x1f) {
        throw BadData(
            "{}: trailing bytes after {} member {} at byte {}: expected {}the end of the file, "
            "found {:02x}. Fetch the file again, or cut it there",
            path, name, member, where(),
            packing == Packing::kGzip ? "another member (1f 8b) or " : "", *stream->next_in);
      }
      uint8_t* const next = stream->next_in;
      const uint32_t available = stream->avail_in;
      begin();
      stream->next_in = next;
      stream->avail_in = available;
      inside = true;
      ++member;
    }
    stream->next_out = reinterpret_cast<uint8_t*>(output.data());
    stream->avail_out = static_cast<uint32_t>(output.size());
    const bool at_end = stream->avail_in == 0;
    const int result = isal_inflate(stream.get());
    const size_t made = output.size() - stream->avail_out;
    unpacked += made;
    if (made > 0 && !write(std::span(output).first(made))) return;
    if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT && result != ISAL_OUT_OVERFLOW) {
      throw BadData(
          "{}: the {} stream is corrupt near byte {} (member {}, {} bytes unpacked): {}. Fetch the "
          "file again",
          path, name, where(), member, unpacked, Describe(result));
    }
    if (stream->block_state == ISAL_BLOCK_FINISH) {
      inside = false;
      const auto ahead = static_cast<uint32_t>(std::max(stream->read_in_length, 0)) / 8;
      stream->next_in -= ahead;
      stream->avail_in += ahead;
    } else if (at_end && made == 0) {
      throw BadData(
          "{}: the {} stream is cut: expected more after byte {} (member {}, {} bytes unpacked), "
          "found the end of the file. Fetch the file again",
          path, name, taken, member, unpacked);
    }
  }
}

}  // namespace flatout::data
