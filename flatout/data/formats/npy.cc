#include "flatout/data/formats/npy.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/file_bytes.h"

namespace flatout::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMostHeader = 1 << 20;
constexpr size_t kMostDims = 32;                     // NumPy's own limit was 32 for long
constexpr int64_t kMostElements = int64_t{1} << 50;  // more than any file holds

template <typename Word>
Word LittleEndian(std::span<const std::byte> bytes, size_t at) {
  Word word = 0;
  for (size_t i = sizeof(Word); i-- > 0;) {
    word = static_cast<Word>(word << 8 | static_cast<Word>(bytes[at + i]));
  }
  return word;
}

// The Python literal of the header: a dict of strings, booleans, tuples of integers, and, for what
// is refused, lists.
class Literal {
 public:
  Literal(const std::string& where, std::string_view text, int64_t offset)
      : where_(where), text_(text), offset_(offset) {}

  [[noreturn]] void Fail(std::string_view expected) const {
    std::string found =
        at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 20)) : "the header's end";
    for (char& c : found) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    }
    throw BadData("{}: byte {} of the npy header: expected {}, found {}. The file is damaged",
                  where_, offset_ + static_cast<int64_t>(at_), expected, found);
  }
  bool Take(char c) {
    Blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Need(char c) {
    if (!Take(c)) Fail(fmt::format("'{}'", c));
  }
  char Peek() {
    Blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::string_view String() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') Fail("a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) Fail("a string that ends");
    std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }
  bool Bool() {
    Blanks();
    for (std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    }
    Fail("True or False");
  }
  int64_t Count() {
    Blanks();
    int64_t value = 0;
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value)) {
        at_ = begin;
        Fail("a dimension below 2^63");
      }
      ++at_;
    }
    if (at_ == begin) Fail("a dimension (an integer from 0 on)");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 28L
    return value;
  }
  size_t at() const { return at_; }
  std::string_view text() const { return text_; }
  void End() {
    Blanks();
    if (at_ != text_.size()) Fail("nothing after the dict");
  }

 private:
  void Blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' ||
                                  text_[at_] == '\r' || text_[at_] == '\0')) {
      ++at_;
    }
  }
  const std::string& where_;
  std::string_view text_;
  int64_t offset_;
  size_t at_ = 0;
};

std::optional<ir::DType> NumberType(char kind, std::string_view size) {
  struct Row {
    char kind;
    std::string_view size;
    ir::DType dtype;
  };
  using ir::DType;
  static constexpr Row kRows[] = {
      {'b', "1", DType::kPred}, {'i', "1", DType::kI8},  {'i', "2", DType::kI16},
      {'i', "4", DType::kI32},  {'i', "8", DType::kI64}, {'u', "1", DType::kU8},
      {'u', "2", DType::kU16},  {'u', "4", DType::kU32}, {'u', "8", DType::kU64},
      {'f', "2", DType::kF16},  {'f', "4", DType::kF32}, {'f', "8", DType::kF64}};
  for (const Row& row : kRows) {
    if (row.kind == kind && row.size == size) return row.dtype;
  }
  return std::nullopt;
}

void ParseDescr(const std::string& where, std::string_view descr, NpyHeader& header) {
  std::string_view rest = descr;
  char order = '=';
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    order = rest[0];
    rest.remove_prefix(1);
  }
  const char kind = rest.empty() ? '\0' : rest[0];
  std::optional<ir::DType> dtype;
  if (!rest.empty()) dtype = NumberType(kind, rest.substr(1));
  if (!dtype) {
    std::string shown(descr.substr(0, 40));
    for (char& c : shown) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    }
    std::string_view what = "no type of numbers that is known here";
    std::string_view remedy = "Convert it with astype(numpy.float32) and save it again";
    if (kind == 'O') {
      what = "Python objects, which only Python can read";
    } else if (kind == 'U' || kind == 'S' || kind == 'a') {
      what = "strings";
      remedy =
          "Save numbers (numpy.unique(x, return_inverse=True) numbers them), or write the strings "
          "as a csv or text file";
    } else if (kind == 'c') {
      what = "complex numbers";
      remedy = "Save the real and the imaginary part as arrays of their own";
    } else if (kind == 'V') {
      what = "raw bytes (bfloat16 arrays are saved like this too)";
    } else if (kind == 'M' || kind == 'm') {
      what = "dates or time spans";
    }
    throw BadData("{}: the elements are {} (descr '{}'): expected booleans, integers or floats. {}",
                  where, what, shown, remedy);
  }
  header.shape.dtype = *dtype;
  constexpr char kOther = std::endian::native == std::endian::little ? '>' : '<';
  header.swap = order == kOther && ir::ByteSize(*dtype) > 1;
}

}  // namespace

int64_t NpyHeaderBytes(const std::string& where, std::span<const std::byte> head) {
  if (head.size() < kNpyPrefix) {
    throw BadData("{}: the file is short: expected an npy header of at least {} bytes, found {}",
                  where, kNpyPrefix, head.size());
  }
  if (std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0) {
    throw BadData(
        "{}: not an npy file: expected at byte 0 the magic 93 4e 55 4d 50 59, found {}. Name a "
        "file that numpy.save wrote",
        where, HexBytes(head.first(kMagic.size())));
  }
  const auto major = static_cast<int>(head[6]);
  if (major < 1 || major > 3) {
    throw BadData("{}: byte 6: expected an npy format version of 1, 2 or 3, found {}", where,
                  major);
  }
  const bool narrow = major == 1;
  const int64_t length =
      narrow ? int64_t{LittleEndian<uint16_t>(head, 8)} : int64_t{LittleEndian<uint32_t>(head, 8)};
  if (length > kMostHeader) {
    throw BadData(
        "{}: byte 8: the npy header's length is {}: expected at most {}. The file is "
        "damaged, or its structured type has too many columns",
        where, length, kMostHeader);
  }
  return (narrow ? 10 : 12) + length;
}

NpyHeader ParseNpyHeader(const std::string& where, std::span<const std::byte> head, bool records) {
  const int64_t size = NpyHeaderBytes(where, head);
  if (static_cast<int64_t>(head.size()) < size) {
    throw BadData("{}: the file is cut: expected an npy header of {} bytes, found {}", where, size,
                  head.size());
  }
  const int64_t begin = head[6] == std::byte{1} ? 10 : 12;
  Literal literal(where,
                  std::string_view(reinterpret_cast<const char*>(head.data()) + begin,
                                   static_cast<size_t>(size - begin)),
                  begin);
  NpyHeader header;
  header.size = size;
  bool descr = false, order = false, shape = false;
  literal.Need('{');
  while (!literal.Take('}')) {
    const std::string_view key = literal.String();
    literal.Need(':');
    if (key == "descr" && !descr) {
      descr = true;
      if (literal.Peek() == '[') {
        throw BadData(
            "{}: the elements are structured ({}...): expected an array of numbers. Save each "
            "column as an array of its own, as in numpy.save(\"x.npy\", data[\"x\"])",
            where, literal.text().substr(literal.at(), 30));
      }
      ParseDescr(where, literal.String(), header);
    } else if (key == "fortran_order" && !order) {
      order = true;
      header.fortran = literal.Bool();
    } else if (key == "shape" && !shape) {
      shape = true;
      literal.Need('(');
      while (!literal.Take(')')) {
        if (header.shape.dims.size() == kMostDims) {
          literal.Fail(fmt::format("at most {} dimensions", kMostDims));
        }
        header.shape.dims.push_back(literal.Count());
        if (!literal.Take(',') && literal.Peek() != ')') literal.Fail("',' or ')'");
      }
    } else {
      throw BadData(
          "{}: the npy header has the key '{}': expected 'descr', 'fortran_order' and 'shape', "
          "each once. The file is damaged",
          where, key.substr(0, 40));
    }
    if (!literal.Take(',') && literal.Peek() != '}') literal.Fail("',' or '}'");
  }
  literal.End();
  if (!descr || !order || !shape) {
    throw BadData("{}: the npy header lacks '{}'. The file is damaged", where,
                  !descr   ? "descr"
                  : !order ? "fortran_order"
                           : "shape");
  }
  if (records && header.shape.dims.empty()) {
    throw BadData(
        "{}: the array is a single number: expected at least one dimension, the first of which "
        "counts the records",
        where);
  }
  int64_t count = 1;
  for (size_t i = 0; i < header.shape.dims.size(); ++i) {
    const int64_t dim = header.shape.dims[i];
    if (records && dim == 0) {
      throw BadData("{}: dimension {} of {} is zero: {}", where, i, header.shape.ToString(),
                    i == 0 ? "the array holds no records" : "its records hold no values");
    }
    if (__builtin_mul_overflow(count, dim, &count) || count > kMostElements) {
      throw BadData(
          "{}: the shape {} has more elements than any file can hold. The header is "
          "damaged",
          where, ir::DimsToString(header.shape.dims));
    }
  }
  // In one dimension both orders are the same.
  if (header.shape.dims.size() < 2) header.fortran = false;
  return header;
}

// ---- zip ----

namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kDirectoryEnd = 0x06054b50;
constexpr uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr uint32_t kLocator64 = 0x07064b50;
constexpr int64_t kEndBytes = 22, kMostComment = 0xffff, kLocatorBytes = 20, kEnd64Bytes = 56;
constexpr int64_t kEntryBytes = 46, kLocalBytes = 30;
constexpr int64_t kMostDirectory = int64_t{256} << 20;
constexpr int64_t kMostMembers = int64_t{1} << 22;

// An unsigned 64-bit size of the file as a signed one, refused where it cannot be one; `most` is
// negative where there is no room for any.
int64_t FileNumber(const std::string& path, int64_t at, std::string_view what, uint64_t value,
                   int64_t most) {
  if (most < 0 || value > static_cast<uint64_t>(most)) {
    throw BadData("{}: byte {}: the zip {} is {}: expected at most {}. The file is damaged or cut",
                  path, at, what, value, most);
  }
  return static_cast<int64_t>(value);
}

struct DirectoryPlace {
  int64_t offset = 0, bytes = 0, members = 0;
};

DirectoryPlace FindDirectory(const std::string& path, int64_t size, const ReadBytes& read) {
  std::vector<std::byte> scratch;
  const int64_t tail = std::min(size, kEndBytes + kMostComment);
  const int64_t begin = size - tail;
  std::span<const std::byte> bytes = read(begin, tail, scratch);
  int64_t end = -1;
  for (int64_t at = tail - kEndBytes; at >= 0; --at) {
    const auto i = static_cast<size_t>(at);
    if (LittleEndian<uint32_t>(bytes, i) == kDirectoryEnd &&
        at + kEndBytes + LittleEndian<uint16_t>(bytes, i + 20) == tail) {
      end = at;
      break;
    }
  }
  if (end < 0) {
    throw BadData(
        "{}: the zip archive's directory, which stands at its end, is missing: the file of {} "
        "bytes is cut or no archive. Fetch it again, or write it again with numpy.savez",
        path, size);
  }
  const auto i = static_cast<size_t>(end);
  uint64_t disc = LittleEndian<uint16_t>(bytes, i + 4);
  uint64_t members = LittleEndian<uint16_t>(bytes, i + 10);
  uint64_t length = LittleEndian<uint32_t>(bytes, i + 12);
  uint64_t offset = LittleEndian<uint32_t>(bytes, i + 16);
  int64_t limit = begin + end;  // the directory ends before here
  const int64_t locator = limit - kLocatorBytes;
  if (locator >= 0) {
    std::vector<std::byte> more;
    std::span<const std::byte> l = read(locator, kLocatorBytes, more);
    if (LittleEndian<uint32_t>(l, 0) == kLocator64) {
      const int64_t at = FileNumber(path, locator + 8, "zip64 directory end's offset",
                                    LittleEndian<uint64_t>(l, 8), locator - kEnd64Bytes);
      std::span<const std::byte> e = read(at, kEnd64Bytes, more);
      if (LittleEndian<uint32_t>(e, 0) != kDirectoryEnd64) {
        throw BadData("{}: byte {}: expected the zip64 directory end 50 4b 06 06, found {}", path,
                      at, HexBytes(e.first(4)));
      }
      disc = LittleEndian<uint32_t>(e, 16);
      members = LittleEndian<uint64_t>(e, 32);
      length = LittleEndian<uint64_t>(e, 40);
      offset = LittleEndian<uint64_t>(e, 48);
      limit = at;
    }
  }
  if (disc != 0) throw BadData("{}: the zip archive consists of several files", path);
  DirectoryPlace place;
  place.bytes =
      FileNumber(path, begin + end, "directory's length", length, std::min(limit, kMostDirectory));
  place.offset = FileNumber(path, begin + end, "directory's offset", offset, limit - place.bytes);
  place.members = FileNumber(path, begin + end, "number of members", members,
                             std::min(kMostMembers, place.bytes / kEntryBytes));
  return place;
}

}  // namespace

bool LooksLikeZip(std::span<const std::byte> head) {
  if (head.size() < 4) return false;
  const uint32_t word = LittleEndian<uint32_t>(head, 0);
  return word == kLocalHeader || word == kDirectoryEnd;
}

std::vector<ZipMember> ReadZipDirectory(const std::string& path, int64_t size,
                                        const ReadBytes& read) {
  if (size < kEndBytes) {
    throw BadData("{}: the file is short: expected a zip archive of at least {} bytes, found {}",
                  path, kEndBytes, size);
  }
  const DirectoryPlace place = FindDirectory(path, size, read);
  std::vector<std::byte> scratch;
  std::span<const std::byte> bytes = read(place.offset, place.bytes, scratch);
  std::vector<ZipMember> members;
  members.reserve(static_cast<size_t>(place.members));
  size_t at = 0;
  for (int64_t m = 0; m < place.members; ++m) {
    const auto left = static_cast<int64_t>(bytes.size() - at);
    const int64_t here = place.offset + static_cast<int64_t>(at);
    if (left < kEntryBytes || LittleEndian<uint32_t>(bytes, at) != kDirectoryEntry) {
      throw BadData(
          "{}: byte {}: expected entry {} of {} of the zip directory (50 4b 01 02), found {}. The "
          "file is damaged",
          path, here, m, place.members, left < 4 ? "its end" : HexBytes(bytes.subspan(at, 4)));
    }
    const unsigned flags = LittleEndian<uint16_t>(bytes, at + 8);
    const unsigned method = LittleEndian<uint16_t>(bytes, at + 10);
    const size_t name_bytes = LittleEndian<uint16_t>(bytes, at + 28);
    const size_t extra_bytes = LittleEndian<uint16_t>(bytes, at + 30);
    const size_t comment_bytes = LittleEndian<uint16_t>(bytes, at + 32);
    const size_t total = kEntryBytes + name_bytes + extra_bytes + comment_bytes;
    if (static_cast<size_t>(left) < total) {
      throw BadData(
          "{}: byte {}: entry {} of the zip directory takes {} bytes, but {} are left. "
          "The file is damaged",
          path, here, m, total, left);
    }
    ZipMember member;
    member.name.assign(reinterpret_cast<const char*>(bytes.data()) + at + kEntryBytes, name_bytes);
    if ((flags & 1) != 0) {
      throw BadData("{}: member {} is encrypted, which cannot be read here", path, member.name);
    }
    if (method != 0 && method != 8) {
      throw BadData(
          "{}: member {} is packed by zip method {}: expected stored (0) or deflated (8), as "
          "numpy.savez and numpy.savez_compressed write",
          path, member.name, method);
    }
    member.deflated = method == 8;
    member.crc = LittleEndian<uint32_t>(bytes, at + 16);
    uint64_t packed = LittleEndian<uint32_t>(bytes, at + 20);
    uint64_t unpacked = LittleEndian<uint32_t>(bytes, at + 24);
    uint64_t header = LittleEndian<uint32_t>(bytes, at + 42);
    // zip64: the extra field 1 holds those of the three that are all ones, in this order.
    size_t extra = at + kEntryBytes + name_bytes;
    const size_t extra_end = extra + extra_bytes;
    while (extra + 4 <= extra_end) {
      const unsigned id = LittleEndian<uint16_t>(bytes, extra);
      const size_t field_end = extra + 4 + LittleEndian<uint16_t>(bytes, extra + 2);
      extra += 4;
      if (field_end > extra_end) break;
      if (id == 1) {
        for (uint64_t* value : {&unpacked, &packed, &header}) {
          if (*value != 0xffffffff || extra + 8 > field_end) continue;
          *value = LittleEndian<uint64_t>(bytes, extra);
          extra += 8;
        }
      }
      extra = field_end;
    }
    member.packed = FileNumber(path, here, "member's packed size", packed, size);
    // deflate packs to no less than a 1032nd.
    const int64_t most = member.deflated ? member.packed * 1032 + 1024 : member.packed;
    member.size = FileNumber(path, here, "member's size", unpacked, most);
    if (!member.deflated && member.size != member.packed) {
      throw BadData(
          "{}: byte {}: member {} is stored in {} bytes but said to have {}. The file is "
          "damaged",
          path, here, member.name, member.packed, member.size);
    }
    member.header = FileNumber(path, here, "member's offset", header, size - kLocalBytes);
    members.push_back(std::move(member));
    at += total;
  }
  return members;
}

int64_t ZipContentOffset(const std::string& path, int64_t size, const ReadBytes& read,
                         const ZipMember& member) {
  std::vector<std::byte> scratch;
  if (member.header < 0 || member.header > size - kLocalBytes) {
    throw BadData("{}: member {} begins at byte {} of {}: the file is damaged", path, member.name,
                  member.header, size);
  }
  std::span<const std::byte> local = read(member.header, kLocalBytes, scratch);
  if (LittleEndian<uint32_t>(local, 0) != kLocalHeader) {
    throw BadData(
        "{}: byte {}: expected the header of member {} (50 4b 03 04), found {}. The file is "
        "damaged",
        path, member.header, member.name, HexBytes(local.first(4)));
  }
  // The local lengths of name and extra field may differ from the directory's.
  const int64_t content = member.header + kLocalBytes + LittleEndian<uint16_t>(local, 26) +
                          LittleEndian<uint16_t>(local, 28);
  if (content > size - member.packed) {
    throw BadData(
        "{}: member {} should end at byte {}, but the file ends at {}: it is cut. Fetch it again",
        path, member.name, content + member.packed, size);
  }
  return content;
}

std::shared_ptr<const std::byte> UnpackZipMember(const std::string& path, int64_t size,
                                                 const ReadBytes& read, const ZipMember& member) {
  const int64_t offset = ZipContentOffset(path, size, read, member);
  // In pieces, so that neither side's size is bounded by zlib's 32 bits.
  constexpr int64_t kPiece = int64_t{1} << 20;
  std::shared_ptr<std::byte[]> content =
      std::make_shared_for_overwrite<std::byte[]>(static_cast<size_t>(member.size));
  std::vector<std::byte> scratch;
  uLong crc = crc32(0, nullptr, 0);
  auto sum = [&](const std::byte* data, int64_t count) {
    crc = crc32(crc, reinterpret_cast<const Bytef*>(data), static_cast<uInt>(count));
  };
  if (!member.deflated) {
    for (int64_t at = 0; at < member.size; at += kPiece) {
      const int64_t count = std::min(kPiece, member.size - at);
      std::span<const std::byte> bytes = read(offset + at, count, scratch);
      std::memcpy(content.get() + at, bytes.data(), bytes.size());
      sum(bytes.data(), count);
    }
  } else {
    z_stream stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Internal("inflateInit2 failed");
    struct End {
      z_stream* stream;
      ~End() { inflateEnd(stream); }
    } end{&stream};
    int64_t in = 0, out = 0;
    int status = Z_OK;
    std::byte beyond{};
    while (status != Z_STREAM_END) {
      if (stream.avail_in == 0 && in < member.packed) {
        const int64_t count = std::min(kPiece, member.packed - in);
        std::span<const std::byte> bytes = read(offset + in, count, scratch);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
        stream.avail_in = static_cast<uInt>(count);
        in += count;
      }
      // At the end one byte more, to notice content that is longer than said.
      const bool full = out == member.size;
      const int64_t room = full ? 1 : std::min(kPiece, member.size - out);
      std::byte* to = full ? &beyond : content.get() + out;
      stream.next_out = reinterpret_cast<Bytef*>(to);
      stream.avail_out = static_cast<uInt>(room);
      const uInt before = stream.avail_in;
      status = inflate(&stream, Z_NO_FLUSH);
      const int64_t made = room - stream.avail_out;
      const int64_t at = offset + in - stream.avail_in;
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        throw BadData(
            "{}: byte {}: the deflated content of member {} is corrupt: {}. Fetch the "
            "file again",
            path, at, member.name, stream.msg != nullptr ? stream.msg : "wrong data");
      }
      if (full && made > 0) {
        throw BadData("{}: member {} unpacks to more than the {} bytes that the directory says",
                      path, member.name, member.size);
      }
      if (status != Z_STREAM_END && made == 0 && before == stream.avail_in && in == member.packed) {
        throw BadData(
            "{}: byte {}: the deflated content of member {} ends early, after {} of {} bytes. "
            "Fetch the file again",
            path, at, member.name, out, member.size);
      }
      sum(to, made);
      out += full ? 0 : made;
    }
    if (out != member.size) {
      throw BadData("{}: member {} unpacks to {} bytes, but the directory says {}", path,
                    member.name, out, member.size);
    }
  }
  if (static_cast<uint32_t>(crc) != member.crc) {
    throw BadData(
        "{}: member {} (from byte {}) has the checksum {:08x}, but the directory says {:08x}: its "
        "content is damaged. Fetch the file again",
        path, member.name, offset, static_cast<uint32_t>(crc), member.crc);
  }
  return std::shared_ptr<const std::byte>(content, content.get());
}

}  // namespace flatout::data
