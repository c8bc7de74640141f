#include "flatout/data/files.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/base/thread_pool.h"
#include "flatout/data/require.h"
#include "flatout/data/unpack.h"
#include "flatout/xla/compile_cache.h"

namespace flatout::data {
namespace fs = std::filesystem;
namespace {

// ---- finding files ----

constexpr std::string_view kWild = "*?[";

bool IsWild(std::string_view text) { return text.find_first_of(kWild) != std::string_view::npos; }

// The names in a folder, sorted; none where it cannot be read, for which `error` gives the reason.
std::vector<std::string> NamesIn(const fs::path& folder, std::error_code& error) {
  std::vector<std::string> names;
  fs::directory_iterator it(folder.empty() ? fs::path(".") : folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path.empty() ? fs::path(".") : path, ignored);
}

// What is there instead of `name` in `folder`: "; the nearest name there is d/other.csv".
std::string Instead(const fs::path& folder, const std::string& name) {
  const std::string shown = folder.empty() ? "." : folder.string();
  if (!IsFolder(folder)) return fmt::format("; the folder {} does not exist either", shown);
  std::error_code error;
  const std::vector<std::string> names = NamesIn(folder, error);
  if (error) return fmt::format("; the folder {} cannot be read: {}", shown, error.message());
  if (names.empty()) return fmt::format("; the folder {} is empty", shown);
  std::string nearest = Nearest(name, names);
  // A file whose name only gained or lost a suffix is what was meant more often than not.
  for (const std::string& other : names) {
    if (!nearest.empty()) break;
    if (other.starts_with(name) || name.starts_with(other)) nearest = other;
  }
  if (!nearest.empty()) {
    return fmt::format("; the nearest name there is {}", (folder / nearest).string());
  }
  return fmt::format("; nothing in {} has a similar name ({} there, such as {})", shown,
                     names.size() == 1 ? "1 name is" : fmt::format("{} names are", names.size()),
                     names.front());
}

class Globber {
 public:
  Globber(const std::string& pattern, std::vector<std::string>& found)
      : pattern_(pattern), found_(found) {
    for (const fs::path& part : fs::path(pattern)) {
      if (!part.empty()) parts_.push_back(part.string());
    }
  }

  void Run() {
    Walk(fs::path(), 0, 0);
    if (hits_ > 0) return;
    const std::string& part = parts_[deepest_];
    const std::string folder = deepest_folder_.empty() ? "." : deepest_folder_.string();
    throw BadData("{}: the pattern names no file: {}{}", pattern_,
                  IsWild(part) ? fmt::format("nothing in {} matches {}", folder, part)
                               : fmt::format("{} has no {}", folder, part),
                  Instead(deepest_folder_, part));
  }

 private:
  void Walk(const fs::path& folder, size_t part, int depth) {
    // Links may lead in circles.
    constexpr int kDeepest = 64;
    if (depth > kDeepest) return;
    if (part == parts_.size()) return;
    const std::string& name = parts_[part];
    const bool last = part + 1 == parts_.size();
    if (part > deepest_ || (part == deepest_ && deepest_folder_.empty())) {
      deepest_ = part;
      deepest_folder_ = folder;
    }
    if (name == "**") {
      if (!last) Walk(folder, part + 1, depth);
      for (const std::string& entry : Names(folder)) {
        if (entry.front() == '.') continue;
        const fs::path path = folder / entry;
        if (IsFolder(path)) {
          Walk(path, part, depth + 1);
        } else if (last) {
          Take(path);
        }
      }
      return;
    }
    if (!IsWild(name)) {
      const fs::path path = folder / name;
      if (last) {
        std::error_code ignored;
        if (fs::exists(path, ignored) && !IsFolder(path)) Take(path);
      } else if (IsFolder(path)) {
        Walk(path, part + 1, depth + 1);
      }
      return;
    }
    for (const std::string& entry : Names(folder)) {
      if (fnmatch(name.c_str(), entry.c_str(), FNM_PERIOD) != 0) continue;
      const fs::path path = folder / entry;
      if (IsFolder(path)) {
        if (!last) Walk(path, part + 1, depth + 1);
      } else if (last) {
        Take(path);
      }
    }
  }

  // A folder that cannot be read may hold files that the pattern means.
  static std::vector<std::string> Names(const fs::path& folder) {
    std::error_code error;
    std::vector<std::string> names = NamesIn(folder, error);
    if (error) {
      throw BadData("{}: the folder cannot be read: {}", folder.empty() ? "." : folder.string(),
                    error.message());
    }
    return names;
  }

  void Take(const fs::path& path) {
    ++hits_;
    found_.push_back(path.lexically_normal().string());
  }

  const std::string& pattern_;
  std::vector<std::string>& found_;
  std::vector<std::string> parts_;
  size_t hits_ = 0;
  size_t deepest_ = 0;  // the last part that was looked for
  fs::path deepest_folder_;
};

void FilesOfFolder(const std::string& folder, std::vector<std::string>& found) {
  size_t files = 0, folders = 0;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  if (error) throw BadData("{}: the folder cannot be read: {}", folder, error.message());
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.front() == '.' || name.front() == '_') continue;
    if (IsFolder(it->path())) {
      ++folders;
      continue;
    }
    ++files;
    found.push_back(it->path().lexically_normal().string());
  }
  if (files == 0) {
    throw BadData("{}: the folder holds no files{}", folder,
                  folders == 0 ? ""
                               : fmt::format(", but {} folders: write {}/** for the files in them",
                                             folders, folder));
  }
}

// ---- reading files ----

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Descriptor OpenToRead(const std::string& path) {
  // Without O_NONBLOCK a pipe that nobody writes to would be waited for here; it makes no
  // difference to files.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() >= 0) return file;
  if (errno == ENOENT || errno == ENOTDIR) throw NoSuchFile(path);
  const int error = errno;
  throw BadData(
      "{}: cannot be opened: {}{}", path, std::strerror(error),
      error == EMFILE || error == ENFILE ? ". Raise the limit of open files (ulimit -n)" : "");
}

// Files held open at once. A data set may have more shards than a process may have open files;
// those beyond the share are opened for each read.
class OpenFiles {
 public:
  static bool Take() {
    if (count_.fetch_add(1) < Share()) return true;
    --count_;
    return false;
  }
  static void Return() { --count_; }

 private:
  static int64_t Share() {
    static const int64_t share = [] {
      rlimit limit{};
      if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return int64_t{512};
      if (limit.rlim_cur < limit.rlim_max) {
        // The lower limit is there for programs that use select(); this one does not.
        rlimit raised = limit;
        raised.rlim_cur = std::min<rlim_t>(limit.rlim_max, 1 << 16);
        if (raised.rlim_cur > limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0) {
          limit = raised;
        }
      }
      return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, 1 << 16)) / 2;
    }();
    return share;
  }
  static inline std::atomic<int64_t> count_{0};
};

// Fills `out` from `offset` on, as far as the file goes.
size_t ReadAt(const std::string& path, int fd, int64_t offset, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        pread(fd, out.data() + done, out.size() - done, offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw BadData("{}: reading failed at byte {}: {}", path, offset + static_cast<int64_t>(done),
                    std::strerror(errno));
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

// What makes a file the same file as before. Copying with all attributes, unpacking and touch can
// give another file the size and the time of change of an old one, but not its number on the disk
// and the time at which that was last changed.
struct Stamp {
  int64_t size = -1, seconds = 0, nanoseconds = 0;  // of the content's last change
  int64_t inode = 0, inode_seconds = 0, inode_nanoseconds = 0;

  Stamp() = default;
  explicit Stamp(const struct stat& info)
      : size(info.st_size),
        seconds(info.st_mtim.tv_sec),
        nanoseconds(info.st_mtim.tv_nsec),
        inode(static_cast<int64_t>(info.st_ino)),
        inode_seconds(info.st_ctim.tv_sec),
        inode_nanoseconds(info.st_ctim.tv_nsec) {}
  bool operator==(const Stamp&) const = default;
};

std::optional<Stamp> StampOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return Stamp(info);
}

// A file on disk, read with pread. Not mapped: a mapped file that somebody shortens ends the
// process with SIGBUS instead of an error, and its pages count as this process's memory. (Giving
// them back now and then costs more than pread does: measured 14 us against 3 us for a record of
// 800 bytes. Only a file that stays mapped as a whole is quicker to read here and there.)
class PlainFile : public ByteFile {
 public:
  PlainFile(std::string path, Descriptor file, int64_t size) {
    path_ = std::move(path);
    size_ = size;
    held_ = OpenFiles::Take();
    if (held_) file_ = std::move(file);
  }
  // A file without a name: it must stay open.
  PlainFile(std::string path, Descriptor file, int64_t size, std::string packing) {
    path_ = std::move(path);
    size_ = size;
    packing_ = std::move(packing);
    file_ = std::move(file);
  }
  ~PlainFile() override {
    if (held_) OpenFiles::Return();
  }

  std::span<const std::byte> Read(int64_t offset, int64_t count,
                                  std::vector<std::byte>& scratch) const override {
    CheckRange(offset, count);
    if (scratch.size() < static_cast<size_t>(count)) scratch.resize(static_cast<size_t>(count));
    const std::span<std::byte> out = std::span(scratch).first(static_cast<size_t>(count));
    ReadInto(offset, out);
    return out;
  }

  void ReadInto(int64_t offset, std::span<std::byte> out) const override {
    CheckRange(offset, static_cast<int64_t>(out.size()));
    size_t got;
    if (file_.get() >= 0) {
      got = ReadAt(path_, file_.get(), offset, out);
    } else {
      const Descriptor file = OpenToRead(path_);
      got = ReadAt(path_, file.get(), offset, out);
    }
    if (got < out.size()) {
      const std::optional<Stamp> stamp = StampOf(path_);
      throw BadData(
          "{}: the file has become shorter while it was in use: expected {} bytes, found {}. Let "
          "nothing write to data files during a run",
          path_, size_, stamp ? stamp->size : offset + static_cast<int64_t>(got));
    }
  }
  bool resident() const override { return false; }

 private:
  void CheckRange(int64_t offset, int64_t count) const {
    if (offset < 0 || count < 0 || count > size_ || offset > size_ - count) {
      throw Internal("{}: bytes {} + {} are outside the file's {}", path_, offset, count, size_);
    }
  }

  Descriptor file_;
  bool held_ = false;
};

// Memory of all unpacked files together.
std::atomic<int64_t> resident_bytes{0};
constexpr int64_t kMostResident = int64_t{64} << 20;  // of one file

int64_t ResidentShare() {
  static const int64_t share = [] {
    const int64_t usable = ReadCgroup().memory.usable;
    return usable > 0 ? usable / 8 : int64_t{1} << 30;
  }();
  return share;
}

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;

class MemoryFile : public ByteFile {
 public:
  MemoryFile(std::string path, std::string packing, Memory memory, int64_t size)
      : memory_(std::move(memory)) {
    path_ = std::move(path);
    packing_ = std::move(packing);
    size_ = size;
    resident_bytes += size_;
  }
  ~MemoryFile() override { resident_bytes -= size_; }

  std::span<const std::byte> Read(int64_t offset, int64_t count,
                                  std::vector<std::byte>&) const override {
    if (offset < 0 || count < 0 || count > size_ || offset > size_ - count) {
      throw Internal("{}: bytes {} + {} are outside the content's {}", path_, offset, count, size_);
    }
    return {memory_.get() + offset, static_cast<size_t>(count)};
  }
  void ReadInto(int64_t offset, std::span<std::byte> out) const override {
    std::vector<std::byte> none;
    const std::span<const std::byte> from = Read(offset, static_cast<int64_t>(out.size()), none);
    if (!out.empty()) std::memcpy(out.data(), from.data(), out.size());
  }
  bool resident() const override { return true; }

 private:
  Memory memory_;
};

// "" when there is none.
std::string CacheFolder(std::string_view part) {
  const std::string folder = xla::CompileCache::DefaultFolder();
  if (folder.empty() || folder == "off") return "";
  return folder + "/" + std::string(part);
}

// A file without a name, in the cache folder or else where temporary files go. It vanishes when it
// is closed, however this process ends.
Descriptor NamelessFile(std::string& folder) {
  folder = CacheFolder("unpacked");
  if (!folder.empty()) {
    try {
      MakeDirs(folder);
    } catch (const Error&) {
      folder.clear();  // a read-only home is no reason to fail
    }
  }
  std::error_code ignored;
  if (folder.empty()) folder = fs::temp_directory_path(ignored).string();
  Descriptor file(open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (file.get() >= 0) return file;
  // Not all file systems know O_TMPFILE.
  std::string name = folder + "/flatout-XXXXXX";
  Descriptor named(mkostemp(name.data(), O_CLOEXEC));
  if (named.get() < 0) {
    throw UserError(Code::kFailedPrecondition, SystemMessage("write", folder, errno));
  }
  unlink(name.c_str());
  return named;
}

// Takes unpacked content: into memory as long as it is small, then into a file.
class Store {
 public:
  explicit Store(const std::string& path) : path_(path) {}

  bool Add(std::span<const std::byte> piece) {
    if (file_.get() < 0) {
      const int64_t after = size_ + static_cast<int64_t>(piece.size());
      if (after <= kMostResident && resident_bytes + after <= ResidentShare()) {
        Grow(after);
        std::memcpy(memory_.get() + size_, piece.data(), piece.size());
        size_ = after;
        return true;
      }
      file_ = NamelessFile(folder_);
      Append({memory_.get(), static_cast<size_t>(size_)});
      memory_.reset();
    }
    Append(piece);
    size_ += static_cast<int64_t>(piece.size());
    return true;
  }

  std::shared_ptr<const ByteFile> Finish(const std::string& packing) {
    if (file_.get() >= 0) {
      return std::make_shared<PlainFile>(path_, std::move(file_), size_, packing);
    }
    if (size_ < capacity_) {
      // Gives back what growing took too much.
      if (void* fit =
              std::realloc(memory_.get(), static_cast<size_t>(std::max<int64_t>(size_, 1)))) {
        memory_.release();
        memory_.reset(static_cast<std::byte*>(fit));
      }
    }
    return std::make_shared<MemoryFile>(path_, packing, std::move(memory_), size_);
  }

 private:
  void Grow(int64_t wanted) {
    if (wanted <= capacity_) return;
    const int64_t capacity = std::max<int64_t>({wanted, 2 * capacity_, 4096});
    void* larger = std::realloc(memory_.get(), static_cast<size_t>(capacity));
    if (larger == nullptr) {
      throw UserError(
          Code::kResourceExhausted,
          fmt::format("{}: no memory left for its content ({} so far)", path_, HumanBytes(size_)));
    }
    memory_.release();
    memory_.reset(static_cast<std::byte*>(larger));
    capacity_ = capacity;
  }

  void Append(std::span<const std::byte> piece) {
    while (!piece.empty()) {
      const ssize_t wrote = write(file_.get(), piece.data(), piece.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) {
        throw UserError(
            Code::kFailedPrecondition,
            fmt::format(
                "{}: its unpacked content ({} so far) does not fit: {}. FLATOUT_CACHE names "
                "another folder for it; plain files need none",
                path_, HumanBytes(size_), SystemMessage("write in", folder_, errno)));
      }
      piece = piece.subspan(static_cast<size_t>(wrote));
    }
  }

  const std::string& path_;
  Memory memory_;
  int64_t capacity_ = 0;
  int64_t size_ = 0;
  Descriptor file_;
  std::string folder_;
};

std::string FullPath(const std::string& path) {
  std::error_code error;
  fs::path full = fs::weakly_canonical(path, error);
  return error ? path : full.string();
}

// Unpacked files that somebody holds: the splits of one data set read the same ones.
class UnpackedFiles {
 public:
  static std::shared_ptr<const ByteFile> Find(const std::string& path, const Stamp& stamp) {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(path);
    if (it == entries_.end() || !(it->second.stamp == stamp)) return nullptr;
    return it->second.file.lock();
  }
  static void Add(const std::string& path, const Stamp& stamp,
                  const std::shared_ptr<const ByteFile>& file) {
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const auto& entry) { return entry.second.file.expired(); });
    entries_[path] = Entry{stamp, file};
  }

 private:
  struct Entry {
    Stamp stamp;
    std::weak_ptr<const ByteFile> file;
  };
  static inline std::mutex mutex_;
  static inline std::map<std::string, Entry> entries_;
};

// ---- cached indices ----

// A file is kMagic, the key, '\n', the number of values, their bytes, the CRC-32C of all before it.
constexpr std::string_view kMagic = "flatout index 1\n";

template <typename T>
void AppendBytes(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::optional<std::vector<int64_t>> LoadIndex(const std::string& path, const std::string& key) {
  std::string content;
  try {
    if (!FileExists(path)) return std::nullopt;
    content = ReadFile(path);
  } catch (const Error&) {
    return std::nullopt;
  }
  const size_t header = kMagic.size() + key.size() + sizeof(int64_t);
  if (content.size() < header + sizeof(uint32_t)) return std::nullopt;
  const std::string_view all(content);
  if (!all.starts_with(kMagic) || all.substr(kMagic.size(), key.size()) != key) return std::nullopt;
  int64_t count;
  std::memcpy(&count, all.data() + header - sizeof(count), sizeof(count));
  const size_t bytes = content.size() - header - sizeof(uint32_t);
  if (count < 0 || bytes % sizeof(int64_t) != 0 ||
      static_cast<uint64_t>(count) != bytes / sizeof(int64_t)) {
    return std::nullopt;
  }
  uint32_t sum;
  std::memcpy(&sum, all.data() + header + bytes, sizeof(sum));
  if (Crc32c(all.substr(0, header + bytes)) != sum) return std::nullopt;
  std::vector<int64_t> values(static_cast<size_t>(count));
  if (count > 0) std::memcpy(values.data(), all.data() + header, bytes);
  return values;
}

void StoreIndex(const std::string& folder, const std::string& path, const std::string& key,
                std::span<const int64_t> values) {
  try {
    MakeDirs(folder);
    std::string content(kMagic);
    content.reserve(kMagic.size() + key.size() + 16 + values.size_bytes());
    content += key;
    AppendBytes(content, static_cast<int64_t>(values.size()));
    content.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    AppendBytes(content, Crc32c(content));
    AtomicWriteFile(path, content);
  } catch (const Error& error) {
    // The index is made again next time.
    LogDebug("the index of a data file was not kept: {}", error.what());
  }
}

// ---- splits ----

// Records [begin, begin + size) of another source.
class RangeSource : public Source {
 public:
  RangeSource(std::string description, SourcePtr whole, int64_t begin, int64_t size)
      : description_(std::move(description)),
        whole_(std::move(whole)),
        begin_(begin),
        size_(size) {}

  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return whole_->fields(); }
  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    if (begin_ == 0) return whole_->Read(context, epoch, records, out);
    std::vector<int64_t> moved(records.begin(), records.end());
    for (int64_t& record : moved) record += begin_;
    whole_->Read(context, epoch, moved, out);
  }
  std::unique_ptr<Cursor> Open(int64_t epoch) const override {
    return whole_->indexed() ? Source::Open(epoch) : whole_->Open(epoch);
  }
  const std::string& description() const override { return description_; }
  uint64_t seed() const override { return whole_->seed(); }
  std::optional<BestScore> best_score() const override { return whole_->best_score(); }

 private:
  const std::string description_;
  const SourcePtr whole_;
  const int64_t begin_, size_;
};

}  // namespace

std::vector<std::string> ExpandFiles(const std::vector<std::string>& patterns) {
  std::vector<std::string> found;
  for (const std::string& pattern : patterns) {
    if (pattern.empty()) throw BadData("a file's name is empty: expected a path or a pattern");
    std::error_code ignored;
    // A name that is there is meant as it is, whatever signs it holds.
    if (IsFolder(pattern)) {
      FilesOfFolder(pattern, found);
    } else if (fs::exists(pattern, ignored)) {
      found.push_back(fs::path(pattern).lexically_normal().string());
    } else if (IsWild(pattern)) {
      Globber(pattern, found).Run();
    } else {
      throw NoSuchFile(pattern);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

DataError NoSuchFile(const std::string& path, const std::string& remedy) {
  const fs::path name(path);
  const std::string hint =
      path.find("://") == std::string::npos
          ? Instead(name.parent_path(), name.filename().string())
          : "; it looks like an address: copy the data to a disk, or mount the store as a folder";
  return BadData("{}: no such file{}{}{}", path, hint, remedy.empty() ? "" : ". Remedy: ", remedy);
}

std::shared_ptr<const ByteFile> ByteFile::Open(
    const std::string& path, const std::function<bool(std::span<const std::byte>)>& is_plain) {
  Descriptor file = OpenToRead(path);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) {
    throw BadData("{}: cannot be examined: {}", path, std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) throw BadData("{}: expected a file, found a folder", path);
  const int fd = file.get();
  if (!S_ISREG(info.st_mode)) {
    throw BadData(
        "{}: expected a file, found a pipe or device, which cannot be read here and there and may "
        "have no end: write what it gives to a file first",
        path);
  }
  std::vector<std::byte> head(
      static_cast<size_t>(std::min<int64_t>(info.st_size, static_cast<int64_t>(kSniffBytes))));
  head.resize(ReadAt(path, fd, 0, head));
  const bool whole = static_cast<int64_t>(head.size()) == info.st_size;
  const Packing packing = is_plain && is_plain(head) ? Packing::kNone : SniffPacking(head, whole);
  if (packing == Packing::kNone) {
    return std::make_shared<PlainFile>(path, std::move(file), info.st_size);
  }
  const std::string full = FullPath(path);
  const Stamp stamp(info);
  if (std::shared_ptr<const ByteFile> held = UnpackedFiles::Find(full, stamp)) return held;
  Store store(path);
  int64_t offset = 0;
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  Unpack(
      path, packing,
      [&](std::span<std::byte> out) {
        const size_t got = ReadAt(path, fd, offset, out);
        offset += static_cast<int64_t>(got);
        return got;
      },
      [&](std::span<const std::byte> piece) { return store.Add(piece); });
  std::shared_ptr<const ByteFile> unpacked =
      store.Finish(packing == Packing::kGzip ? "gzip" : "zlib");
  UnpackedFiles::Add(full, stamp, unpacked);
  return unpacked;
}

std::vector<int64_t> CachedIndex(const std::string& path, std::string_view kind,
                                 const std::function<std::vector<int64_t>()>& build) {
  const std::string folder = CacheFolder("index");
  std::optional<Stamp> stamp = StampOf(path);
  if (folder.empty() || !stamp) return build();
  const std::string full = FullPath(path);
  Sha256 name;
  name.Field(full).Field(kind);
  const std::string entry = fmt::format("{}/{}.index", folder, name.HexDigest());
  const auto key = [&](const Stamp& s) {
    return fmt::format("{} {}.{:09} {} {}.{:09} {} {}\n", s.size, s.seconds, s.nanoseconds, s.inode,
                       s.inode_seconds, s.inode_nanoseconds, kind, full);
  };
  if (std::optional<std::vector<int64_t>> known = LoadIndex(entry, key(*stamp))) return *known;
  std::vector<int64_t> values = build();
  // Times of change come in steps of some milliseconds: a file written just now could be written
  // again without a new time. Waiting out the step rules that out.
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  constexpr int64_t kStep = 20'000'000;
  const int64_t age = now() - (stamp->seconds * 1'000'000'000 + stamp->nanoseconds);
  if (age >= 0 && age < kStep) std::this_thread::sleep_for(std::chrono::nanoseconds(kStep - age));
  if (StampOf(path) == stamp) StoreIndex(folder, entry, key(*stamp), values);
  return values;
}

void ForEachFile(size_t files, const std::function<void(size_t)>& build) {
  // Of several errors the first file's is thrown, whatever the threads' timing.
  std::mutex mutex;
  size_t failed = files;
  std::exception_ptr error;
  const auto run = [&](int64_t index) {
    const auto i = static_cast<size_t>(index);
    {
      std::lock_guard lock(mutex);
      if (i > failed) return;
    }
    try {
      build(i);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (i < failed) {
        failed = i;
        error = std::current_exception();
      }
    }
  };
  const auto threads = static_cast<int>(
      std::min<size_t>(files, static_cast<size_t>(std::max(1, ReadCgroup().cpu.usable))));
  if (threads <= 1) {
    for (size_t i = 0; i < files; ++i) run(static_cast<int64_t>(i));
  } else {
    ThreadPool(threads - 1, "index").ParallelFor(static_cast<int64_t>(files), run);
  }
  if (error) std::rethrow_exception(error);
}

void SplitOptions::Check(FieldReader& reader) const {
  const double split = validation_split;
  const Config* place = reader.Take("validation_split");
  Require(place, split >= 0 && (split < 1 || split == std::floor(split)) && split < 1e15,
          "a share of the training records (0 to 1) or a whole number of them");
  Require(reader.Take("limit"), limit >= 0, "a number of records, or 0 for all");
  for (const auto& [key, list] :
       {std::pair("files", &files), std::pair("validation_files", &validation_files),
        std::pair("test_files", &test_files)}) {
    const Config* value = reader.Take(key);
    Require(value, !list->empty(), "at least one file or pattern");
    Require(value, std::find(list->begin(), list->end(), "") == list->end(),
            "names of files or patterns, none of them empty");
  }
  if (split > 0 && place != nullptr) {
    if (files.empty()) throw place->Complain("there are no training files to take records from");
    if (!validation_files.empty()) {
      throw place->Complain("validation_files are given too: one of the two decides");
    }
  }
  if (files.empty() && validation_files.empty() && test_files.empty()) {
    throw Invalid(
        "data: expected `files` (or validation_files, test_files) with the files to read, found "
        "none of them");
  }
}

SourcePtr OpenSplit(const std::string& name, const SplitOptions& options, std::string_view split,
                    const std::function<SourcePtr(const std::vector<std::string>&)>& open) {
  const bool held_out = options.validation_files.empty() && options.validation_split > 0;
  const bool from_train = split == "train" || (split == "validation" && held_out);
  const std::vector<std::string>& patterns = from_train              ? options.files
                                             : split == "validation" ? options.validation_files
                                                                     : options.test_files;
  if (patterns.empty()) return nullptr;
  const std::vector<std::string> files = ExpandFiles(patterns);
  const SourcePtr whole = open(files);
  const std::string first = files.size() == 1
                                ? files.front()
                                : fmt::format("{} and {} more", files.front(), files.size() - 1);
  int64_t size = whole->size();
  int64_t begin = 0;
  if (size == kUnknown || size == kInfinite) {
    if ((from_train && held_out) || options.limit > 0) {
      throw Invalid("{}: {} needs a known number of records, which this source ({}) has not", name,
                    options.limit > 0 ? "limit" : "validation_split", whole->description());
    }
  } else {
    if (size == 0) throw BadData("{} {}: no records in {}", name, split, first);
    if (from_train && held_out) {
      const double asked = options.validation_split;
      const int64_t held =
          asked < 1 ? std::llround(asked * static_cast<double>(size)) : static_cast<int64_t>(asked);
      if (held <= 0 || held >= size) {
        throw BadData(
            "{}: validation_split = {} takes {} of the {} training records in {}: both splits need "
            "at least one",
            name, asked, held, size, first);
      }
      begin = split == "train" ? 0 : size - held;
      size = split == "train" ? size - held : held;
    }
    if (options.limit > 0) size = std::min(size, options.limit);
  }
  std::string description = fmt::format(
      "{} {}: {} from {} {}, {}", name, split,
      size == kUnknown || size == kInfinite ? std::string("a stream of records")
                                            : fmt::format("{} records", size),
      files.size(), files.size() == 1 ? "file" : "files", DescribeFields(whole->fields()));
  return std::make_shared<RangeSource>(std::move(description), whole, begin, size);
}

}  // namespace flatout::data
