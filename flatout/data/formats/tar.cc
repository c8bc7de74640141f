#include "flatout/data/formats/tar.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/data/file_bytes.h"

namespace flatout::data {
namespace {

constexpr int64_t kBlock = 512;
// Of the contents of headers that extend the next one: names and pax records.
constexpr int64_t kMostExtension = int64_t{1} << 20;
// Such headers before one member; more is an archive that was made to be slow.
constexpr int kMostExtensions = 16;

std::string_view Text(std::span<const std::byte> header, size_t at, size_t count) {
  const std::string_view all(reinterpret_cast<const char*>(header.data()) + at, count);
  return all.substr(0, std::min(all.find('\0'), all.size()));
}

bool IsZero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Octal digits between blanks, or base 256 where the first bit is set; nothing where it is neither
// or does not fit.
std::optional<int64_t> ParseNumber(std::span<const std::byte> field) {
  if ((field[0] & std::byte{0x80}) != std::byte{0}) {
    if ((field[0] & std::byte{0x40}) != std::byte{0}) return std::nullopt;  // negative
    int64_t value = static_cast<int64_t>(field[0] & std::byte{0x3f});
    for (size_t i = 1; i < field.size(); ++i) {
      if (value > (int64_t{1} << 54)) return std::nullopt;
      value = value << 8 | static_cast<int64_t>(field[i]);
    }
    return value;
  }
  int64_t value = 0;
  bool ended = false, begun = false;
  for (std::byte b : field) {
    const char c = static_cast<char>(b);
    if (c == ' ' || c == '\0') {
      ended = ended || begun;
      continue;
    }
    if (ended || c < '0' || c > '7') return std::nullopt;
    begun = true;
    value = value << 3 | (c - '0');  // at most 12 digits
  }
  return value;
}

// The sum of the header's bytes with its own field as blanks; older programs added signed bytes.
bool SumIsRight(std::span<const std::byte> header, int64_t* found, int64_t* expected) {
  int64_t sum = 0, signed_sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= 148 && i < 156;
    sum += own ? ' ' : static_cast<int64_t>(header[i]);
    signed_sum += own ? ' ' : static_cast<int64_t>(static_cast<signed char>(header[i]));
  }
  const std::optional<int64_t> stored = ParseNumber(header.subspan(148, 8));
  *found = sum;
  *expected = stored.value_or(-1);
  return stored && (*stored == sum || *stored == signed_sum);
}

struct Extensions {
  std::optional<std::string> name;
  std::optional<int64_t> size;
};

// pax records: "23 path=some/name.jpg\n"; the number counts the whole record.
void ParsePax(const std::string& path, int64_t offset, std::string_view text, bool global,
              Extensions& extensions) {
  size_t at = 0;
  while (at < text.size() && text[at] != '\0') {
    const int64_t here = offset + static_cast<int64_t>(at);
    size_t length = 0;
    const char* begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), length);
    const auto digits = static_cast<size_t>(end - begin);
    if (error != std::errc() || length > text.size() - at || length < digits + 3 || *end != ' ' ||
        text[at + length - 1] != '\n') {
      throw BadData(
          "{}: byte {}: expected a pax record (\"LENGTH key=value\"), found something else: the "
          "archive is damaged",
          path, here);
    }
    const std::string_view record = text.substr(at + digits + 1, length - digits - 2);
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos) {
      throw BadData("{}: byte {}: a pax record without '=': the archive is damaged", path, here);
    }
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key.starts_with("GNU.sparse.")) {
      throw BadData(
          "{}: byte {}: the member is stored as a sparse file, which is not read here. Write the "
          "archive without tar's option --sparse",
          path, here);
    }
    if (!global && key == "path") extensions.name = value;
    if (!global && key == "size") {
      int64_t size = 0;
      const auto [stop, wrong] = std::from_chars(value.data(), value.data() + value.size(), size);
      if (wrong != std::errc() || stop != value.data() + value.size() || size < 0) {
        throw BadData("{}: byte {}: a pax record with an impossible size: the archive is damaged",
                      path, here);
      }
      extensions.size = size;
    }
    at += length;
  }
}

// What follows the end: zeros only, or more that nobody would read.
void CheckEnd(const std::string& path, int64_t size, const ReadBytes& read, int64_t offset) {
  constexpr int64_t kPiece = int64_t{1} << 16;
  std::vector<std::byte> scratch;
  for (int64_t at = offset; at < size; at += kPiece) {
    const int64_t count = std::min(kPiece, size - at);
    std::span<const std::byte> bytes = read(at, count, scratch);
    if (IsZero(bytes)) continue;
    const auto first =
        std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
    throw BadData(
        "{}: byte {}: more data after the archive's end. Archives that were put together with cat "
        "must be named one by one, or joined with tar --concatenate",
        path, at + (first - bytes.begin()));
  }
}

}  // namespace

bool LooksLikeTar(std::span<const std::byte> head) {
  int64_t found, expected;
  return head.size() >= static_cast<size_t>(kBlock) && head[0] != std::byte{0} &&
         SumIsRight(head.first(kBlock), &found, &expected);
}

std::optional<TarMember> ReadTarMember(const std::string& path, int64_t size, const ReadBytes& read,
                                       int64_t offset) {
  Extensions extensions;
  std::vector<std::byte> scratch, more;
  int64_t at = offset;
  for (int depth = 0;; ++depth) {
    if (at > size - kBlock) {
      throw BadData(
          "{}: byte {}: the archive ends without the zeros that end a tar archive ({} bytes are "
          "left): it is cut. Fetch or write it again",
          path, at, size - at);
    }
    if (depth == kMostExtensions) {
      throw BadData("{}: byte {}: more than {} headers before one member: the archive is damaged",
                    path, at, kMostExtensions);
    }
    std::span<const std::byte> header = read(at, kBlock, scratch);
    if (header[0] == std::byte{0} && IsZero(header)) {
      if (depth > 0) {
        throw BadData(
            "{}: byte {}: expected the member that the headers before describe, found "
            "the archive's end: it is damaged",
            path, at);
      }
      // The second header of zeros may be missing; anything else after the first is damage.
      if (at + kBlock <= size - kBlock && !IsZero(read(at + kBlock, kBlock, scratch))) {
        throw BadData(
            "{}: byte {}: a header of zeros amid the archive: expected a member or the end. The "
            "archive is damaged",
            path, at);
      }
      CheckEnd(path, size, read, at + kBlock);
      return std::nullopt;
    }
    int64_t found = 0, expected = 0;
    if (!SumIsRight(header, &found, &expected)) {
      throw BadData(
          "{}: byte {}: expected a tar header, whose bytes add up to {}, found {} ({}...): {}",
          path, at, expected < 0 ? "a number at byte 148" : fmt::format("{}", expected), found,
          HexBytes(header.first(8)),
          at == 0 ? "the file is no tar archive" : "the archive is damaged");
    }
    const char type = static_cast<char>(header[156]);
    const std::optional<int64_t> own_size = ParseNumber(header.subspan(124, 12));
    if (!own_size) {
      throw BadData("{}: byte {}: the member's size is no number: the archive is damaged", path,
                    at + 124);
    }
    const bool posix = std::memcmp(header.data() + 257, "ustar\0", 6) == 0;
    const bool extension = type == 'L' || type == 'K' || type == 'x' || type == 'g';
    int64_t bytes = *own_size;
    if (!extension && extensions.size) bytes = *extensions.size;
    // Links, folders and devices have no content, whatever their size says.
    if (type >= '1' && type <= '6') bytes = 0;
    const int64_t data = at + kBlock;
    if (extension && bytes > kMostExtension) {
      throw BadData(
          "{}: byte {}: a name or pax header of {} bytes: expected at most {}. The "
          "archive is damaged",
          path, at, bytes, kMostExtension);
    }
    if (bytes > size - data) {
      throw BadData(
          "{}: byte {}: the member {} should have {} bytes, but the archive ends after {} of them: "
          "it is cut. Fetch or write it again",
          path, at, fmt::format("\"{}\"", Text(header, 0, 100)), bytes, size - data);
    }
    if (extension) {
      std::span<const std::byte> content = read(data, bytes, more);
      const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
      if (type == 'L') {
        extensions.name = text.substr(0, std::min(text.find('\0'), text.size()));
      } else if (type != 'K') {
        ParsePax(path, data, text, type == 'g', extensions);
      }
    }
    const int64_t next = data + (bytes + kBlock - 1) / kBlock * kBlock;
    if (extension) {
      at = next;
      continue;
    }
    if (type == 'S') {
      throw BadData(
          "{}: byte {}: the member \"{}\" is stored as a sparse file, which is not read here. "
          "Write the archive without tar's option --sparse",
          path, at, Text(header, 0, 100));
    }
    if (type == 'M' || type == 'V') {
      throw BadData(
          "{}: byte {}: the archive is one of several volumes, or has a label: expected a whole "
          "archive without one",
          path, at);
    }
    TarMember member;
    if (extensions.name) {
      member.name = *extensions.name;
    } else {
      if (posix && header[345] != std::byte{0}) {
        member.name = std::string(Text(header, 345, 155)) + "/";
      }
      member.name += Text(header, 0, 100);
    }
    member.regular = type == '0' || type == '\0' || type == '7';
    // V7 marked folders by the slash at the end of their names.
    if (member.name.ends_with('/')) member.regular = false;
    member.begin = offset;
    member.data = data;
    member.size = bytes;
    member.next = std::min(next, size);
    return member;
  }
}

}  // namespace flatout::data
