// cache: records kept in memory or in a file.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/data/verbs/node.h"

namespace flatout::data::verbs {
namespace {

// One bit per record, set once. Thread-safe.
class Bits {
 public:
  explicit Bits(int64_t count)
      : words_(std::make_unique<std::atomic<uint64_t>[]>(static_cast<size_t>(count + 63) / 64)) {}
  bool Get(int64_t i) const {
    return (words_[Word(i)].load(std::memory_order_acquire) >> (i % 64) & 1) != 0;
  }
  // Whether it was not set before.
  bool Set(int64_t i) {
    const uint64_t bit = uint64_t{1} << (i % 64);
    return (words_[Word(i)].fetch_or(bit, std::memory_order_acq_rel) & bit) == 0;
  }

 private:
  static size_t Word(int64_t i) { return static_cast<size_t>(i / 64); }
  std::unique_ptr<std::atomic<uint64_t>[]> words_;
};

// Memory of zeros of which only what is touched is really used.
class Pages {
 public:
  Pages(int64_t bytes, const std::string& what) : bytes_(static_cast<size_t>(bytes)) {
    if (bytes_ == 0) return;
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw UserError(
          Code::kResourceExhausted,
          fmt::format("{}: no memory for a cache of {}: use Cache(path)", what, HumanBytes(bytes)));
    }
    memory_ = static_cast<std::byte*>(memory);
  }
  Pages(Pages&& other) noexcept
      : bytes_(std::exchange(other.bytes_, 0)), memory_(std::exchange(other.memory_, nullptr)) {}
  ~Pages() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  std::byte* data() const { return memory_; }

 private:
  size_t bytes_;
  std::byte* memory_ = nullptr;
};

UserError OverBudget(const std::string& what, int64_t needed, int64_t budget) {
  return UserError(
      Code::kResourceExhausted,
      fmt::format("{}: Cache needs {} of memory and more, allowed are {}: raise the budget, use "
                  "Cache(path), which keeps the records in a file, or cache fewer",
                  what, HumanBytes(needed), HumanBytes(budget)));
}

int64_t MemoryBudget(int64_t asked) {
  if (asked < 0) throw Invalid("Cache: expected a budget in bytes, found {}", asked);
  if (asked > 0) return asked;
  const int64_t usable = ReadCgroup().memory.usable;
  return usable < 0 ? DefaultBudget() : usable / 2;
}

// ---- records with numbers ----

// What both kinds of cache do: give what is there, read and keep what is not.
class CacheNode : public Node {
 public:
  CacheNode(SourcePtr input, const std::string& what)
      : Node({input}, input->size(), input->fields(),
             fmt::format("{}, {}", input->description(), what)) {}

  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    std::vector<int64_t> missing;  // records
    std::vector<int64_t> missing_rows;
    for (size_t i = 0; i < records.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (Load(records[i], out, row)) continue;
      missing.push_back(records[i]);
      missing_rows.push_back(row);
    }
    if (missing.empty()) return;
    // Always as they are in epoch 0, so that what is cached does not depend on when it was read.
    if (missing.size() == records.size()) {
      input()->Read(context, 0, records, out);
      for (size_t i = 0; i < records.size(); ++i) Keep(records[i], out, static_cast<int64_t>(i));
      return;
    }
    Block& part = context.Scratch(this, 0, fields_, static_cast<int64_t>(missing.size()));
    input()->Read(context, 0, missing, part);
    for (size_t i = 0; i < missing.size(); ++i) {
      Keep(missing[i], part, static_cast<int64_t>(i));
      out.CopyRow(missing_rows[i], part, static_cast<int64_t>(i), /*deep=*/false);
    }
  }

 protected:
  // Makes row `row` of `out` the record; false where it is not there.
  virtual bool Load(int64_t record, Block& out, int64_t row) const = 0;
  // Keeps the record that row `row` holds; it may be bad.
  virtual void Keep(int64_t record, const Block& block, int64_t row) const = 0;
};

class MemoryCacheNode : public CacheNode {
 public:
  MemoryCacheNode(SourcePtr input, int64_t budget)
      : CacheNode(std::move(input), "cached in memory"),
        budget_(budget),
        claimed_(size_),
        filled_(size_) {
    int64_t bytes = 0;
    for (const Field& field : fields_) {
      const int64_t row = field.fixed() ? field.shape.bytes() : static_cast<int64_t>(sizeof(Cell));
      int64_t column = 0;
      if (__builtin_mul_overflow(size_, row, &column) ||
          __builtin_add_overflow(bytes, column, &bytes)) {
        bytes = kInfinite;
      }
      if (bytes > budget_) throw OverBudget(this->input()->description(), bytes, budget_);
      row_bytes_.push_back(row);
      columns_.emplace_back(column, this->input()->description());
    }
    used_ = bytes;
  }

 protected:
  bool Load(int64_t record, Block& out, int64_t row) const override {
    if (!filled_.Get(record)) return false;
    for (size_t f = 0; f < fields_.size(); ++f) {
      const std::byte* from = columns_[f].data() + record * row_bytes_[f];
      if (fields_[f].fixed()) {
        std::memcpy(out.data(f, row), from, static_cast<size_t>(row_bytes_[f]));
      } else {
        std::memcpy(&out.cell(f, row), from, sizeof(Cell));
      }
    }
    return true;
  }
  void Keep(int64_t record, const Block& block, int64_t row) const override {
    if (block.bad(row) || !claimed_.Set(record)) return;
    for (size_t f = 0; f < fields_.size(); ++f) {
      std::byte* to = columns_[f].data() + record * row_bytes_[f];
      if (fields_[f].fixed()) {
        std::memcpy(to, block.data(f, row), static_cast<size_t>(row_bytes_[f]));
        continue;
      }
      Cell cell = block.cell(f, row);
      if (fields_[f].text && !fields_[f].shape.dims.empty()) {
        const auto texts = block.texts(f, row);
        auto* views = reinterpret_cast<std::string_view*>(Allocate(cell.bytes));
        for (size_t i = 0; i < texts.size(); ++i) {
          std::byte* copy = Allocate(static_cast<int64_t>(texts[i].size()));
          std::copy_n(texts[i].data(), texts[i].size(), reinterpret_cast<char*>(copy));
          new (views + i) std::string_view(reinterpret_cast<char*>(copy), texts[i].size());
        }
        cell.data = reinterpret_cast<const std::byte*>(views);
      } else {
        std::byte* copy = Allocate(cell.bytes);
        if (cell.bytes > 0) std::memcpy(copy, cell.data, static_cast<size_t>(cell.bytes));
        cell.data = copy;
      }
      std::memcpy(to, &cell, sizeof(Cell));
    }
    filled_.Set(record);
  }

 private:
  std::byte* Allocate(int64_t bytes) const {
    constexpr int64_t kAlignment = 16, kChunk = int64_t{1} << 20;
    bytes = std::max<int64_t>(bytes, 1);
    bytes = (bytes + kAlignment - 1) & ~(kAlignment - 1);
    std::lock_guard lock(mutex_);
    if (used_ + bytes > budget_) throw OverBudget(input()->description(), used_ + bytes, budget_);
    used_ += bytes;
    if (bytes > left_) {
      left_ = std::max(bytes, kChunk);
      at_ = chunks_.emplace_back(left_, input()->description()).data();
    }
    std::byte* result = at_;
    at_ += bytes;
    left_ -= bytes;
    return result;
  }

  const int64_t budget_;
  mutable Bits claimed_, filled_;
  std::vector<int64_t> row_bytes_;
  std::vector<Pages> columns_;  // of fixed fields their bytes, of others a Cell per record
  mutable std::mutex mutex_;
  mutable int64_t used_ = 0;
  mutable std::vector<Pages> chunks_;  // what cells point into
  mutable std::byte* at_ = nullptr;
  mutable int64_t left_ = 0;
};

// ---- the file ----
//
// A header of kHeaderBytes; the records' bytes; an index with an Entry for each record. A record is
// its fields one after the other, each at a multiple of kFieldAlignment: of a fixed field its
// bytes; of another its dimensions, a length in bytes and that; of texts also the length of each.
// Numbers are as this machine has them; the header tells.

constexpr char kMagic[8] = {'F', 'L', 'A', 'T', 'C', 'A', 'C', 'H'};
constexpr uint32_t kVersion = 1, kByteOrder = 0x01020304;
constexpr int64_t kHeaderBytes = 4096, kFieldAlignment = 16;

struct Header {
  char magic[8];
  uint32_t crc;  // CRC-32C of all that follows in this struct
  uint32_t version;
  uint32_t byte_order;
  uint32_t index_crc;
  int64_t records;
  int64_t index_offset;
  int64_t file_bytes;
  char fingerprint[64];  // SHA-256 of what the records are made of
};

struct Entry {
  int64_t offset;  // 0: the record was bad, it is to be read from the input
  int64_t bytes;
  uint32_t crc;  // CRC-32C
  uint32_t reserved;
};

std::string_view View(const void* data, size_t bytes) {
  return {static_cast<const char*>(data), bytes};
}

uint32_t HeaderCrc(const Header& header) {
  constexpr size_t kFrom = offsetof(Header, version);
  return Crc32c(View(reinterpret_cast<const char*>(&header) + kFrom, sizeof(Header) - kFrom));
}

std::string Fingerprint(const Source& input, const std::string& version) {
  Sha256 sum;
  sum.Field(input.description()).Field(DescribeFields(input.fields())).Field(version);
  sum.Field(fmt::format("{} {}", input.size(), input.seed()));
  return sum.HexDigest();
}

void Append(std::string& blob, const void* data, int64_t bytes) {
  blob.append(View(data, static_cast<size_t>(bytes)));
}
void Align(std::string& blob) {
  blob.resize((blob.size() + kFieldAlignment - 1) & ~static_cast<size_t>(kFieldAlignment - 1));
}

std::string Encode(const Block& block, int64_t row) {
  std::string blob;
  for (size_t f = 0; f < block.fields().size(); ++f) {
    const Field& field = block.fields()[f];
    Align(blob);
    if (field.fixed()) {
      Append(blob, block.data(f, row), block.stride(f));
      continue;
    }
    const auto dims = block.dims(f, row);
    Append(blob, dims.data(), static_cast<int64_t>(dims.size_bytes()));
    std::string texts;
    if (field.text && !field.shape.dims.empty()) {
      const auto views = block.texts(f, row);
      const auto count = static_cast<int64_t>(views.size());
      Append(blob, &count, sizeof(count));
      for (std::string_view text : views) {
        const auto size = static_cast<int64_t>(text.size());
        Append(blob, &size, sizeof(size));
        texts += text;
      }
      Align(blob);
      blob += texts;
      continue;
    }
    const auto bytes = block.bytes(f, row);
    const auto size = static_cast<int64_t>(bytes.size());
    Append(blob, &size, sizeof(size));
    Align(blob);
    Append(blob, bytes.data(), size);
  }
  return blob;
}

// The reverse; false where the bytes are no record of these fields. Cells point into `blob`.
bool Decode(std::span<const std::byte> blob, Block& out, int64_t row) {
  size_t at = 0;
  const auto align = [&] { at = (at + kFieldAlignment - 1) & ~size_t{kFieldAlignment - 1}; };
  const auto take = [&](void* to, size_t bytes) {
    if (at > blob.size() || blob.size() - at < bytes) return false;
    if (bytes > 0) std::memcpy(to, blob.data() + at, bytes);
    at += bytes;
    return true;
  };
  for (size_t f = 0; f < out.fields().size(); ++f) {
    const Field& field = out.fields()[f];
    align();
    if (field.fixed()) {
      if (!take(out.data(f, row), static_cast<size_t>(out.stride(f)))) return false;
      continue;
    }
    Cell cell;
    const size_t rank = field.shape.dims.size();
    if (!take(cell.dims.data(), rank * sizeof(int64_t))) return false;
    int64_t size = 0;
    if (!take(&size, sizeof(size)) || size < 0) return false;
    if (field.text && rank > 0) {
      if (static_cast<size_t>(size) > (blob.size() - at) / sizeof(int64_t)) return false;
      std::vector<int64_t> lengths(static_cast<size_t>(size));
      if (!take(lengths.data(), lengths.size() * sizeof(int64_t))) return false;
      align();
      std::vector<std::string_view> texts;
      for (int64_t length : lengths) {
        if (length < 0 || at > blob.size() || blob.size() - at < static_cast<size_t>(length)) {
          return false;
        }
        texts.push_back(View(blob.data() + at, static_cast<size_t>(length)));
        at += static_cast<size_t>(length);
      }
      out.SetTexts(f, row, std::span<const int64_t>(cell.dims).first(rank), texts);
      continue;
    }
    align();
    if (at > blob.size() || blob.size() - at < static_cast<size_t>(size)) return false;
    cell.data = blob.data() + at;
    cell.bytes = size;
    at += static_cast<size_t>(size);
    out.cell(f, row) = cell;
  }
  return true;
}

// A complete file, mapped.
class CacheFile {
 public:
  // The reason why it cannot be used goes to `reason`, "" where there is no such file.
  static std::shared_ptr<const CacheFile> Open(const std::string& path,
                                               const std::string& fingerprint, int64_t records,
                                               std::string& reason) {
    reason.clear();
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      if (errno == ENOENT) return nullptr;
      throw UserError(Code::kNotFound, SystemMessage("read", path, errno));
    }
    struct stat info {};
    void* memory = MAP_FAILED;
    if (fstat(fd, &info) == 0 && info.st_size >= kHeaderBytes) {
      memory = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_SHARED, fd, 0);
    }
    if (memory == MAP_FAILED) {
      close(fd);
      reason = fmt::format("it has {} bytes, too few for its header", info.st_size);
      return nullptr;
    }
    std::shared_ptr<CacheFile> file(new CacheFile());
    file->path_ = path;
    file->fd_ = fd;
    file->memory_ = {static_cast<const std::byte*>(memory), static_cast<size_t>(info.st_size)};
    reason = file->Check(fingerprint, records);
    return reason.empty() ? file : nullptr;
  }
  ~CacheFile() {
    munmap(const_cast<std::byte*>(memory_.data()), memory_.size());
    close(fd_);
  }
  int64_t records() const { return static_cast<int64_t>(entries_.size()); }
  // False where the record must be read from the input: it was bad, or is not what was written.
  bool Load(int64_t record, Block& out, int64_t row) const {
    if (!Whole()) return false;
    const Entry& entry = entries_[static_cast<size_t>(record)];
    if (entry.offset == 0) return false;
    const auto blob =
        memory_.subspan(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.bytes));
    // Once in a run: what the disk gave is then in memory.
    if (!checked_->Get(record)) {
      if (Crc32c(View(blob.data(), blob.size())) != entry.crc) return Damaged(record, entry);
      checked_->Set(record);
    }
    return Decode(blob, out, row) || Damaged(record, entry);
  }

 private:
  std::string Check(const std::string& fingerprint, int64_t records) {
    Header header;
    std::memcpy(&header, memory_.data(), sizeof(header));
    if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) return "it is no cache of records";
    if (header.crc != HeaderCrc(header)) return "its header is damaged";
    if (header.version != kVersion || header.byte_order != kByteOrder) {
      return "another version of this program, or another kind of machine, wrote it";
    }
    if (std::string_view(header.fingerprint, sizeof(header.fingerprint)) != fingerprint) {
      return "it holds other data: the input's description, fields, seed or size have changed";
    }
    const auto size = static_cast<int64_t>(memory_.size());
    if (header.file_bytes != size) {
      return fmt::format("it has {} bytes, expected {}", size, header.file_bytes);
    }
    if (header.records < 0 || (records >= 0 && header.records != records) ||
        header.index_offset < kHeaderBytes || header.index_offset > size ||
        header.index_offset % 8 != 0 ||
        (size - header.index_offset) / static_cast<int64_t>(sizeof(Entry)) < header.records) {
      return "its index is damaged";
    }
    entries_ = {reinterpret_cast<const Entry*>(memory_.data() + header.index_offset),
                static_cast<size_t>(header.records)};
    if (Crc32c(View(entries_.data(), entries_.size_bytes())) != header.index_crc) {
      return "its index is damaged";
    }
    for (const Entry& entry : entries_) {
      if (entry.offset == 0) continue;
      if (entry.offset < kHeaderBytes || entry.bytes < 0 || entry.offset > header.index_offset ||
          header.index_offset - entry.offset < entry.bytes) {
        return "its index is damaged";
      }
    }
    checked_ = std::make_unique<Bits>(header.records);
    return "";
  }
  // Reading mapped memory beyond the end of a file that somebody cut would end the process by a
  // signal. Asking costs a fraction of a microsecond.
  bool Whole() const {
    struct stat info {};
    if (fstat(fd_, &info) == 0 && info.st_size >= static_cast<off_t>(memory_.size())) return true;
    if (!told_.exchange(true)) {
      LogWarning(
          "cache {}: it has {} bytes, {} when it was opened: somebody cut it; its records are read "
          "from their source instead. Delete the file to have it made anew",
          path_, static_cast<int64_t>(info.st_size), memory_.size());
    }
    return false;
  }
  bool Damaged(int64_t record, const Entry& entry) const {
    if (!told_.exchange(true)) {
      LogWarning(
          "cache {}: record {} at byte {} is damaged and is read from its source instead, as are "
          "further ones; delete the file to have it made anew",
          path_, record, entry.offset);
    }
    return false;
  }

  CacheFile() = default;
  int fd_ = -1;
  std::string path_;
  std::span<const std::byte> memory_;
  std::span<const Entry> entries_;
  mutable std::unique_ptr<Bits> checked_;
  mutable std::atomic<bool> told_ = false;
};

// A file in the making: beside the path, locked, renamed when it is complete.
class CacheWriter {
 public:
  CacheWriter(std::string path, std::string fingerprint)
      : path_(std::move(path)), fingerprint_(std::move(fingerprint)) {
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    if (!folder.empty()) MakeDirs(folder.string());
    RemoveLeftovers();
    static std::atomic<int> number = 0;
    partial_ = fmt::format("{}.partial-{}-{}", path_, getpid(), number++);
    fd_ = open(partial_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) throw UserError(Code::kUnavailable, SystemMessage("write", partial_, errno));
    flock(fd_, LOCK_EX | LOCK_NB);
  }
  ~CacheWriter() {
    if (fd_ < 0) return;
    if (!done_) unlink(partial_.c_str());
    close(fd_);
  }
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;

  // Thread-safe.
  Entry Add(const Block& block, int64_t row) {
    const std::string blob = Encode(block, row);
    const auto bytes = static_cast<int64_t>(blob.size());
    const int64_t room = (bytes + kFieldAlignment - 1) & ~(kFieldAlignment - 1);
    const int64_t offset = end_.fetch_add(std::max(room, kFieldAlignment));
    Write(blob, offset);
    return {offset, bytes, Crc32c(blob), 0};
  }
  // The record of an entry that Add returned.
  bool Load(const Entry& entry, Block& out, int64_t row) const {
    std::byte* memory = out.Allocate(entry.bytes);
    for (int64_t at = 0; at < entry.bytes;) {
      const ssize_t got =
          pread(fd_, memory + at, static_cast<size_t>(entry.bytes - at), entry.offset + at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
    }
    return Decode({memory, static_cast<size_t>(entry.bytes)}, out, row);
  }
  std::shared_ptr<const CacheFile> Finish(const std::vector<Entry>& entries) {
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof(kMagic));
    header.version = kVersion;
    header.byte_order = kByteOrder;
    const std::string_view index = View(entries.data(), entries.size() * sizeof(Entry));
    header.index_crc = Crc32c(index);
    header.records = static_cast<int64_t>(entries.size());
    header.index_offset = end_;
    header.file_bytes = header.index_offset + static_cast<int64_t>(index.size());
    std::memcpy(header.fingerprint, fingerprint_.data(),
                std::min(fingerprint_.size(), sizeof(header.fingerprint)));
    header.crc = HeaderCrc(header);
    Write(index, header.index_offset);
    Write(View(&header, sizeof(header)), 0);
    if (fsync(fd_) != 0 || rename(partial_.c_str(), path_.c_str()) != 0) {
      throw UserError(Code::kUnavailable, SystemMessage("write", path_, errno));
    }
    done_ = true;
    std::string reason;
    auto file = CacheFile::Open(path_, fingerprint_, header.records, reason);
    if (!file)
      throw BadData("cache {}: it was written just now and cannot be used: {}", path_, reason);
    return file;
  }

 private:
  void Write(std::string_view bytes, int64_t offset) const {
    while (!bytes.empty()) {
      const ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), offset);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) throw UserError(Code::kUnavailable, SystemMessage("write", partial_, errno));
      bytes.remove_prefix(static_cast<size_t>(put));
      offset += put;
    }
  }
  // Files of runs that were broken off; those of live ones are locked.
  void RemoveLeftovers() const {
    const std::filesystem::path path(path_);
    const std::filesystem::path folder =
        path.parent_path().empty() ? std::filesystem::path(".") : path.parent_path();
    const std::string start = path.filename().string() + ".partial-";
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (!entry.path().filename().string().starts_with(start)) continue;
      const int fd = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
      if (fd < 0) continue;
      if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(entry.path().c_str());
      close(fd);
    }
  }

  const std::string path_, fingerprint_;
  std::string partial_;
  int fd_ = -1;
  std::atomic<int64_t> end_ = kHeaderBytes;
  bool done_ = false;
};

std::shared_ptr<const CacheFile> OpenCacheFile(const std::string& path,
                                               const std::string& fingerprint, int64_t records) {
  std::string reason;
  auto file = CacheFile::Open(path, fingerprint, records, reason);
  if (!reason.empty()) LogWarning("cache {} is made anew: {}", path, reason);
  return file;
}

class FileCacheNode : public CacheNode {
 public:
  FileCacheNode(SourcePtr input, const std::string& path, const std::string& version)
      : CacheNode(std::move(input), "cached in a file"),
        path_(path),
        fingerprint_(Fingerprint(*this->input(), version)),
        claimed_(size_),
        filled_(size_) {
    file_ = OpenCacheFile(path_, fingerprint_, size_);
    complete_ = file_.get();
  }

 protected:
  bool Load(int64_t record, Block& out, int64_t row) const override {
    if (const CacheFile* file = complete_.load(std::memory_order_acquire)) {
      return file->Load(record, out, row);
    }
    if (!filled_.Get(record)) return false;
    std::shared_ptr<CacheWriter> writer;
    {
      std::lock_guard lock(mutex_);
      writer = writer_;
    }
    if (!writer) return file_->Load(record, out, row);  // complete since a moment ago
    const Entry& entry = entries_[static_cast<size_t>(record)];
    return entry.offset != 0 && writer->Load(entry, out, row);
  }
  void Keep(int64_t record, const Block& block, int64_t row) const override {
    if (complete_.load(std::memory_order_acquire) != nullptr) return;
    std::shared_ptr<CacheWriter> writer;
    {
      std::lock_guard lock(mutex_);
      if (file_) return;
      if (!writer_) {
        writer_ = std::make_shared<CacheWriter>(path_, fingerprint_);
        entries_.resize(static_cast<size_t>(size_));
      }
      writer = writer_;
    }
    if (!claimed_.Set(record)) return;
    if (!block.bad(row)) entries_[static_cast<size_t>(record)] = writer->Add(block, row);
    filled_.Set(record);
    if (count_.fetch_add(1) + 1 < size_) return;
    auto file = writer->Finish(entries_);
    std::lock_guard lock(mutex_);
    file_ = std::move(file);
    writer_.reset();
    complete_.store(file_.get(), std::memory_order_release);
  }

 private:
  const std::string path_, fingerprint_;
  mutable Bits claimed_, filled_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const CacheFile> file_;             // set once, kept until the end
  mutable std::atomic<const CacheFile*> complete_ = nullptr;  // file_, to be asked without a lock
  mutable std::shared_ptr<CacheWriter> writer_;
  mutable std::vector<Entry> entries_;
  mutable std::atomic<int64_t> count_ = 0;
};

// ---- streams ----

// All records of a stream, kept.
class KeptStream {
 public:
  virtual ~KeptStream() = default;
  virtual int64_t size() const = 0;
  // Makes row `row` of `out` record `record`.
  virtual void Load(int64_t record, Block& out, int64_t row) const = 0;
};

// A stream in the making.
class StreamKeeper {
 public:
  virtual ~StreamKeeper() = default;
  virtual void Add(const Block& block, int64_t rows) = 0;
  virtual std::shared_ptr<const KeptStream> Finish() = 0;
};

// What the cursors of one cached stream share.
struct StreamCache {
  std::mutex mutex;
  std::shared_ptr<const KeptStream> kept;
  std::function<std::unique_ptr<StreamKeeper>()> begin;

  std::shared_ptr<const KeptStream> Get() {
    std::lock_guard lock(mutex);
    return kept;
  }
};

// The first epoch passes the input through and keeps it; later ones read what was kept.
class CachedCursor : public Cursor {
 public:
  CachedCursor(const Stream& stream, std::shared_ptr<StreamCache> cache,
               const StreamOptions& options)
      : stream_(stream), cache_(std::move(cache)), options_(options) {
    Begin();
  }
  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    while (true) {
      if (kept_) return Give(want, out);
      const int64_t rows = input_->Next(context, want, out);
      if (keeper_) {
        if (rows > 0) {
          keeper_->Add(out, rows);
        } else {
          auto kept = keeper_->Finish();
          keeper_.reset();
          std::lock_guard lock(cache_->mutex);
          if (!cache_->kept) cache_->kept = std::move(kept);
        }
      }
      if (skip_ == 0 || rows == 0) {
        position_ += rows;
        return rows;
      }
      // Passed over on the way to a restored position.
      const int64_t passed = std::min(skip_, rows);
      skip_ -= passed;
      position_ += passed;
      if (passed == rows) continue;
      Block rest;
      rest.Reset(stream_.fields(), rows - passed);
      CopyRows(rest, 0, out, passed, rows - passed, /*deep=*/false);
      out = std::move(rest);
      position_ += rows - passed;
      return rows - passed;
    }
  }
  void Save(std::vector<int64_t>& state) const override {
    const bool from_input = !kept_ && skip_ == 0;
    state.push_back(position_ + skip_);
    state.push_back(from_input ? 1 : 0);
    if (from_input) input_->Save(state);
  }
  void Restore(std::span<const int64_t>& state) override {
    position_ = TakeState(state, 0, kInfinite);
    const bool from_input = TakeState(state, 0, 1) != 0;
    const int64_t position = position_;
    Begin();
    if (from_input) {
      if (!input_) input_ = OpenCursor(stream_.input(), 0, options_);
      input_->Restore(state);
      if (position > 0) keeper_.reset();
      position_ = position;
      if (kept_) input_.reset();
    } else if (kept_) {
      position_ = position;
    } else {
      skip_ = position;
    }
  }

 private:
  void Begin() {
    kept_ = cache_->Get();
    input_.reset();
    keeper_.reset();
    position_ = skip_ = 0;
    if (kept_) return;
    // Always epoch 0, so that what is kept does not depend on when it was read.
    input_ = OpenCursor(stream_.input(), 0, options_);
    keeper_ = cache_->begin();
  }
  int64_t Give(int64_t want, Block& out) {
    const int64_t rows = std::min(want, std::max<int64_t>(0, kept_->size() - position_));
    out.Reset(stream_.fields(), rows);
    for (int64_t row = 0; row < rows; ++row) kept_->Load(position_++, out, row);
    return rows;
  }

  const Stream& stream_;
  std::shared_ptr<StreamCache> cache_;
  const StreamOptions options_;
  std::shared_ptr<const KeptStream> kept_;
  std::unique_ptr<Cursor> input_;
  std::unique_ptr<StreamKeeper> keeper_;
  int64_t position_ = 0, skip_ = 0;
};

class MemoryKept : public KeptStream {
 public:
  explicit MemoryKept(RowStore rows) : rows_(std::move(rows)) {}
  int64_t size() const override { return rows_.size(); }
  void Load(int64_t record, Block& out, int64_t row) const override {
    rows_.CopyTo(out, row, record, /*deep=*/false);
  }

 private:
  RowStore rows_;
};

class MemoryKeeper : public StreamKeeper {
 public:
  MemoryKeeper(const std::vector<Field>& fields, std::string what, int64_t budget)
      : rows_(fields), what_(std::move(what)), budget_(budget) {}
  void Add(const Block& block, int64_t rows) override {
    rows_.Add(block, 0, rows);
    if (rows_.bytes() > budget_) throw OverBudget(what_, rows_.bytes(), budget_);
  }
  std::shared_ptr<const KeptStream> Finish() override {
    return std::make_shared<MemoryKept>(std::move(rows_));
  }

 private:
  RowStore rows_;
  const std::string what_;
  const int64_t budget_;
};

class FileKept : public KeptStream {
 public:
  explicit FileKept(std::shared_ptr<const CacheFile> file) : file_(std::move(file)) {}
  int64_t size() const override { return file_->records(); }
  void Load(int64_t record, Block& out, int64_t row) const override {
    if (file_->Load(record, out, row)) return;
    throw BadData("record {} of a cached stream is damaged: delete the file to have it made anew",
                  record);
  }

 private:
  std::shared_ptr<const CacheFile> file_;
};

class FileKeeper : public StreamKeeper {
 public:
  FileKeeper(const std::string& path, const std::string& fingerprint)
      : writer_(path, fingerprint) {}
  void Add(const Block& block, int64_t rows) override {
    for (int64_t row = 0; row < rows; ++row) entries_.push_back(writer_.Add(block, row));
  }
  std::shared_ptr<const KeptStream> Finish() override {
    return std::make_shared<FileKept>(writer_.Finish(entries_));
  }

 private:
  CacheWriter writer_;
  std::vector<Entry> entries_;
};

SourcePtr CachedStream(SourcePtr input, std::shared_ptr<StreamCache> cache, const char* what) {
  std::vector<Field> fields = input->fields();
  std::string description = fmt::format("{}, {}", input->description(), what);
  return std::make_shared<Stream>(
      std::vector{std::move(input)}, std::move(fields), std::move(description),
      [cache](const Stream& stream, int64_t, const StreamOptions& options) {
        return std::make_unique<CachedCursor>(stream, cache, options);
      });
}

void CheckFinite(const Source& input) {
  if (input.size() == kInfinite) {
    throw Invalid("Cache: an endless data set cannot be kept: put Cache before Repeat");
  }
}

}  // namespace

SourcePtr CacheInMemory(SourcePtr input, int64_t budget) {
  budget = MemoryBudget(budget);
  CheckFinite(*input);
  if (input->indexed()) {
    if (input->size() == 0) return input;
    return std::make_shared<MemoryCacheNode>(std::move(input), budget);
  }
  auto cache = std::make_shared<StreamCache>();
  cache->begin = [fields = input->fields(), what = input->description(), budget] {
    return std::make_unique<MemoryKeeper>(fields, what, budget);
  };
  return CachedStream(std::move(input), std::move(cache), "cached in memory");
}

SourcePtr CacheInFile(SourcePtr input, const std::string& path, const std::string& version) {
  if (path.empty()) throw Invalid("Cache: expected the path of a file, found none");
  CheckFinite(*input);
  if (input->indexed()) {
    if (input->size() == 0) return input;
    return std::make_shared<FileCacheNode>(std::move(input), path, version);
  }
  auto cache = std::make_shared<StreamCache>();
  const std::string fingerprint = Fingerprint(*input, version);
  if (auto file = OpenCacheFile(path, fingerprint, -1)) {
    cache->kept = std::make_shared<FileKept>(std::move(file));
  }
  cache->begin = [path, fingerprint] { return std::make_unique<FileKeeper>(path, fingerprint); };
  return CachedStream(std::move(input), std::move(cache), "cached in a file");
}

}  // namespace flatout::data::verbs
