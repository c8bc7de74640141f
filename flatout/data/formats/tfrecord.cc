#include "flatout/data/formats/tfrecord.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"

namespace flatout::data {
namespace {

static_assert(std::endian::native == std::endian::little, "TFRecord numbers are read as they are");

constexpr int64_t kFrame = kTfRecordHeader + kTfRecordFooter;

uint64_t Length(std::span<const std::byte> header) {
  uint64_t length;
  std::memcpy(&length, header.data(), sizeof(length));
  return length;
}

uint32_t Sum(const std::byte* bytes) {
  uint32_t sum;
  std::memcpy(&sum, bytes, sizeof(sum));
  return sum;
}

bool LengthIsRight(std::span<const std::byte> header) {
  return MaskedCrc32c(header.first(8)) == Sum(header.data() + 8);
}

// Goes through the lengths of `size` bytes. header(offset) gives the bytes there, at least
// kTfRecordHeader of them, valid until the next call.
template <typename Header>
TfRecordIndex Index(int64_t size, Header header) {
  TfRecordIndex index;
  int64_t offset = 0;
  const auto lost = [&](TfRecordDamage damage) {
    index.offsets.push_back(size);
    index.damage = damage;
  };
  while (offset < size) {
    if (size - offset < kTfRecordHeader) {
      lost(TfRecordDamage::kCutHeader);
      break;
    }
    const std::span<const std::byte> bytes = header(offset);
    if (!LengthIsRight(bytes)) {
      lost(TfRecordDamage::kLengthChecksum);
      break;
    }
    const uint64_t length = Length(bytes);
    if (size - offset < kFrame || length > static_cast<uint64_t>(size - offset - kFrame)) {
      lost(TfRecordDamage::kCutData);
      break;
    }
    offset += kFrame + static_cast<int64_t>(length);
    index.offsets.push_back(offset);
  }
  return index;
}

// What a file that is no TFRecord file looks like.
std::string Guess(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const auto& [magic, what] :
       {std::pair(std::string_view("PK\x03\x04"), "a zip archive"),
        std::pair(std::string_view("\x89PNG"), "a PNG image"),
        std::pair(std::string_view("\xff\xd8\xff"), "a JPEG image"),
        std::pair(std::string_view("\x28\xb5\x2f\xfd"), "zstd"),
        std::pair(std::string_view("\x1f\x8b"), "gzip"),
        std::pair(std::string_view("BZh"), "bzip2"), std::pair(std::string_view("PAR1"), "Parquet"),
        std::pair(std::string_view("\x93NUMPY"), "a NumPy array"),
        std::pair(std::string_view("\x89HDF"), "HDF5")}) {
    if (text.starts_with(magic)) return fmt::format("; it begins like {}", what);
  }
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= ' ' && c < '\x7f') || c == '\n' || c == '\r' || c == '\t';
  });
  return printable && !text.empty() ? fmt::format("; it begins like text: \"{}\"", text) : "";
}

constexpr char kAllowance[] = "or let data.max_bad_records allow for it";

}  // namespace

uint32_t MaskedCrc32c(std::span<const std::byte> data) {
  return flatout::MaskedCrc32c({reinterpret_cast<const char*>(data.data()), data.size()});
}

bool BeginsTfRecord(std::span<const std::byte> head) {
  return head.size() >= static_cast<size_t>(kTfRecordHeader) && LengthIsRight(head);
}

TfRecordIndex IndexTfRecords(std::span<const std::byte> content) {
  return Index(static_cast<int64_t>(content.size()), [&](int64_t offset) {
    return content.subspan(static_cast<size_t>(offset), static_cast<size_t>(kTfRecordHeader));
  });
}

TfRecordIndex IndexTfRecords(const ByteFile& file) {
  std::vector<std::byte> scratch;
  if (file.resident()) return IndexTfRecords(file.Read(0, file.size(), scratch));
  // Of small records everything is read; of large ones only the headers, as soon as a call per
  // header costs less than copying what lies between.
  constexpr int64_t kWindow = int64_t{1} << 18;
  constexpr int64_t kLarge = 4096;
  std::span<const std::byte> window;
  int64_t begin = 0, last = -kLarge;
  return Index(file.size(), [&](int64_t offset) {
    const auto end = begin + static_cast<int64_t>(window.size());
    if (offset + kTfRecordHeader > end) {
      const bool large = last >= 0 && offset - last > kLarge;
      begin = offset;
      window = file.Read(offset, std::min(large ? kTfRecordHeader : kWindow, file.size() - offset),
                         scratch);
    }
    last = offset;
    return window.subspan(static_cast<size_t>(offset - begin),
                          static_cast<size_t>(kTfRecordHeader));
  });
}

std::shared_ptr<const TfRecordFile> TfRecordFile::Open(const std::string& path) {
  auto result = std::make_shared<TfRecordFile>();
  result->file_ = ByteFile::Open(path, BeginsTfRecord);
  const ByteFile& file = *result->file_;
  std::vector<int64_t> values = CachedIndex(path, "tfrecord 1", [&] {
    TfRecordIndex index = IndexTfRecords(file);
    index.offsets.push_back(static_cast<int64_t>(index.damage));
    return std::move(index.offsets);
  });
  // The file may have been replaced between opening and looking up.
  if (values.size() >= 2 && values[values.size() - 2] == file.size()) {
    result->index_.damage = static_cast<TfRecordDamage>(values.back());
    values.pop_back();
    result->index_.offsets = std::move(values);
  } else {
    result->index_ = IndexTfRecords(file);
  }
  return result;
}

std::string TfRecordFile::Describe(int64_t record) const {
  return fmt::format("{}: record {} at byte {}{}", file_->path(), record, offset(record),
                     file_->packing().empty() ? "" : " (unpacked)");
}

DataError TfRecordFile::Damage(int64_t record) const {
  const int64_t rest = extent(record);
  std::vector<std::byte> scratch;
  const std::span<const std::byte> header =
      file_->Read(offset(record), std::min(rest, kTfRecordHeader), scratch);
  const std::string where = Describe(record);
  switch (index_.damage) {
    case TfRecordDamage::kCutHeader:
      return BadData(
          "{}: the file is cut inside a record's header: expected {} bytes, found the end of the "
          "file after {}. Fetch or write the file again, {}",
          where, kTfRecordHeader, rest, kAllowance);
    case TfRecordDamage::kCutData:
      return BadData(
          "{}: the file is cut inside a record: expected {} bytes of data and 4 of checksum, found "
          "the end of the file after {}. Fetch or write the file again, {}",
          where, Length(header), std::max<int64_t>(0, rest - kTfRecordHeader), kAllowance);
    case TfRecordDamage::kLengthChecksum: {
      if (record == 0) {
        return BadData(
            "{}: the checksum of the first record's length is wrong: is this a TFRecord file (or "
            "one packed with gzip or zlib)?{} All its {} bytes are lost. Name TFRecord files, or "
            "fetch the file again",
            where, Guess(header), rest);
      }
      return BadData(
          "{}: the checksum of its length is wrong (length {}: expected {:08x}, found {:08x}). "
          "Nothing tells where the next record begins, so the remaining {} bytes of the file are "
          "lost. Fetch or write the file again, {}",
          where, Length(header), MaskedCrc32c(header.first(8)), Sum(header.data() + 8), rest,
          kAllowance);
    }
    case TfRecordDamage::kNone:
      break;
  }
  throw Internal("{}: no damage", where);
}

std::span<const std::byte> TfRecordFile::Check(int64_t record,
                                               std::span<const std::byte> framed) const {
  const size_t length = framed.size() - static_cast<size_t>(kFrame);
  if (Length(framed) != length) {
    throw BadData(
        "{}: its length is {}, but {} when the file was indexed: the file has changed. Let nothing "
        "write to data files during a run",
        Describe(record), Length(framed), length);
  }
  const std::span<const std::byte> data =
      framed.subspan(static_cast<size_t>(kTfRecordHeader), length);
  const uint32_t expected = Sum(data.data() + length);
  const uint32_t found = MaskedCrc32c(data);
  if (found != expected) {
    throw BadData(
        "{}: the checksum of its {} bytes of data is wrong (expected {:08x}, found {:08x}). Fetch "
        "or write the file again, {}",
        Describe(record), length, expected, found, kAllowance);
  }
  return data;
}

std::span<const std::byte> TfRecordFile::Read(int64_t record,
                                              std::vector<std::byte>& scratch) const {
  if (lost(record)) throw Damage(record);
  return Check(record, file_->Read(offset(record), extent(record), scratch));
}

// ---- writing ----

namespace {

constexpr size_t kBuffer = size_t{1} << 18;

UserError CannotWrite(const std::string& path, int error) {
  // Also for a full disk: kResourceExhausted is for memory, which has an exit code of its own.
  return UserError(Code::kFailedPrecondition, SystemMessage("write", path, error));
}

}  // namespace

struct TfRecordWriter::State {
  std::string path, temporary;
  TfRecordPacking packing;
  int fd = -1;
  std::vector<std::byte> pending;  // not written yet; packed if packing
  z_stream stream = {};
  std::vector<std::byte> packed;

  void Flush() {
    for (size_t done = 0; done < pending.size();) {
      const ssize_t wrote = write(fd, pending.data() + done, pending.size() - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) throw CannotWrite(path, errno);
      done += static_cast<size_t>(wrote);
    }
    pending.clear();
  }
  void Append(std::span<const std::byte> bytes) {
    if (packing != TfRecordPacking::kNone) return Deflate(bytes, Z_NO_FLUSH);
    Put(bytes);
  }
  void Deflate(std::span<const std::byte> bytes, int flush) {
    constexpr size_t kMost = size_t{1} << 30;
    do {
      const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kMost));
      bytes = bytes.subspan(piece.size());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
      stream.avail_in = static_cast<uInt>(piece.size());
      do {
        stream.next_out = reinterpret_cast<Bytef*>(packed.data());
        stream.avail_out = static_cast<uInt>(packed.size());
        if (deflate(&stream, flush) == Z_STREAM_ERROR) throw Internal("deflate failed");
        Put(std::span(packed).first(packed.size() - stream.avail_out));
      } while (stream.avail_out == 0);
    } while (!bytes.empty());
  }
  void Put(std::span<const std::byte> bytes) {
    pending.insert(pending.end(), bytes.begin(), bytes.end());
    if (pending.size() >= kBuffer) Flush();
  }
  ~State() {
    if (packing != TfRecordPacking::kNone) deflateEnd(&stream);
    if (fd >= 0) {
      close(fd);
      unlink(temporary.c_str());
    }
  }
};

TfRecordWriter::TfRecordWriter(std::string path, TfRecordPacking packing)
    : state_(std::make_unique<State>()) {
  // Process and counter make the name this writer's own.
  static std::atomic<uint64_t> counter{0};
  State& s = *state_;
  s.packing = TfRecordPacking::kNone;
  s.path = std::move(path);
  s.temporary = fmt::format("{}.{}.{}.tmp", s.path, getpid(), counter++);
  s.fd = open(s.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (s.fd < 0) throw CannotWrite(s.path, errno);
  s.pending.reserve(2 * kBuffer);
  if (packing != TfRecordPacking::kNone) {
    s.packed.resize(kBuffer);
    const int window = packing == TfRecordPacking::kGzip ? 15 + 16 : 15;
    if (deflateInit2(&s.stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw Internal("deflateInit2 failed");
    }
    s.packing = packing;
  }
}

TfRecordWriter::~TfRecordWriter() = default;

void TfRecordWriter::Write(std::span<const std::byte> data) {
  if (state_ == nullptr) throw Internal("Write after Close");
  std::byte header[kTfRecordHeader];
  const uint64_t length = data.size();
  std::memcpy(header, &length, sizeof(length));
  uint32_t sum = MaskedCrc32c(std::span(header).first(8));
  std::memcpy(header + 8, &sum, sizeof(sum));
  state_->Append(header);
  state_->Append(data);
  sum = MaskedCrc32c(data);
  state_->Append(std::as_bytes(std::span(&sum, 1)));
  ++records_;
  bytes_ += kFrame + static_cast<int64_t>(data.size());
}

void TfRecordWriter::Close() {
  if (state_ == nullptr) throw Internal("Close after Close");
  State& s = *state_;
  if (s.packing != TfRecordPacking::kNone) s.Deflate({}, Z_FINISH);
  s.Flush();
  if (fsync(s.fd) != 0) throw CannotWrite(s.path, errno);
  if (rename(s.temporary.c_str(), s.path.c_str()) != 0) throw CannotWrite(s.path, errno);
  const int fd = std::exchange(s.fd, -1);
  if (close(fd) != 0) throw CannotWrite(s.path, errno);
  // Without this the rename itself could be lost in a power cut. Some network file systems have no
  // sync for folders.
  const std::string folder = std::filesystem::path(s.path).parent_path().string();
  const int directory =
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    fsync(directory);
    close(directory);
  }
  state_.reset();
}

}  // namespace flatout::data
