#include "flatout/checkpoint/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "flatout/base/file.h"

namespace flatout::checkpoint {
namespace {

Code CodeOf(int error) {
  if (error == ENOENT || error == ENOTDIR) return Code::kNotFound;
  if (error == EEXIST || error == ENOTEMPTY) return Code::kAlreadyExists;
  if (error == EACCES || error == EPERM || error == EROFS) return Code::kPermissionDenied;
  return Code::kFailedPrecondition;
}

// What a disk without room says.
bool NoRoom(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

class PosixWritableFile : public WritableFile {
 public:
  PosixWritableFile(std::string path, int64_t bytes) : path_(std::move(path)) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) throw FileError("write", path_, errno);
    // Not posix_fallocate, which writes zeros where the file system cannot reserve.
    if (bytes >= kLarge && fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, bytes) != 0 && NoRoom(errno)) {
      const int error = errno;
      close(fd_);
      unlink(path_.c_str());
      throw FileError("write", path_, error);
    }
  }
  ~PosixWritableFile() override {
    if (fd_ >= 0) close(fd_);
  }

  void Write(std::span<const std::byte> data) override {
    if (static_cast<int64_t>(data.size()) >= kLarge) data = data.subspan(WriteDirectly(data));
    for (size_t done = 0; done < data.size();) {
      const ssize_t wrote = write(fd_, data.data() + done, data.size() - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) throw FileError("write", path_, errno);
      done += static_cast<size_t>(wrote);
    }
    end_ += static_cast<int64_t>(data.size());
    if (static_cast<int64_t>(data.size()) < kLarge) return;
    Range(started_, end_ - started_, SYNC_FILE_RANGE_WRITE);
    started_ = end_;
    if (end_ - finished_ <= kWindow) return;
    const int64_t length = end_ - finished_ - kWindow / 2;
    Range(finished_, length,
          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    posix_fadvise(fd_, finished_, length, POSIX_FADV_DONTNEED);
    finished_ += length;
  }

  void Sync() override {
    if (fsync(fd_) != 0) throw FileError("write", path_, errno);
    if (end_ >= kLarge) posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED);
  }

  void Close() override {
    if (close(std::exchange(fd_, -1)) != 0 && errno != EINTR) {
      throw FileError("write", path_, errno);
    }
  }

 private:
  // Shorter writes are left to the kernel.
  static constexpr int64_t kLarge = 1 << 20;
  // Bytes that may be on their way to the disk.
  static constexpr int64_t kWindow = 64 << 20;
  // What O_DIRECT wants memory and offsets to be multiples of, nearly everywhere.
  static constexpr int64_t kBlock = 4096;

  // Writes whole blocks past the page cache, which costs the processor next to nothing, while
  // file, memory and file system allow it. Returns how many bytes it has written.
  size_t WriteDirectly(std::span<const std::byte> data) {
    const auto address = reinterpret_cast<uintptr_t>(data.data());
    if (!direct_ || address % kBlock != 0 || end_ % kBlock != 0) return 0;
    direct_ = SetDirect(true);
    if (!direct_) return 0;
    const size_t whole = data.size() / kBlock * kBlock;
    size_t done = 0;
    while (done < whole) {
      const ssize_t wrote = write(fd_, data.data() + done, whole - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0 && errno == EINVAL) {
        direct_ = false;  // its blocks are larger than ours
        break;
      }
      if (wrote < 0) throw FileError("write", path_, errno);
      done += static_cast<size_t>(wrote);
      if (wrote % kBlock != 0) break;
    }
    if (!SetDirect(false)) throw FileError("write", path_, errno);
    end_ += static_cast<int64_t>(done);
    started_ = finished_ = end_;
    return done;
  }
  bool SetDirect(bool on) {
    const int flags = fcntl(fd_, F_GETFL);
    return flags >= 0 && fcntl(fd_, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
  }

  void Range(int64_t offset, int64_t length, unsigned flags) {
    if (sync_file_range(fd_, offset, length, flags) == 0) return;
    // An error of the disk is reported once per open file: what is passed over here, fsync would
    // not say again. The others mean that the file system knows no ranges.
    if (errno == EIO || NoRoom(errno)) throw FileError("write", path_, errno);
  }

  std::string path_;
  int fd_ = -1;
  bool direct_ = true;    // as far as is known, the page cache can be passed by
  int64_t end_ = 0;       // written
  int64_t started_ = 0;   // the kernel was told to begin with what is below
  int64_t finished_ = 0;  // what is below is on the disk
};

class PosixReadableFile : public ReadableFile {
 public:
  explicit PosixReadableFile(std::string path) : path_(std::move(path)) {
    // Not to wait for whoever might write to a pipe.
    fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0) throw FileError("read", path_, errno);
    struct stat info {};
    const int error = fstat(fd_, &info) != 0   ? errno
                      : S_ISDIR(info.st_mode)  ? EISDIR
                      : !S_ISREG(info.st_mode) ? ENOTSUP
                                               : 0;
    if (error != 0) {
      close(fd_);
      throw FileError("read", path_, error);
    }
    size_ = info.st_size;
    posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  ~PosixReadableFile() override { close(fd_); }

  int64_t size() const override { return size_; }
  int64_t Read(int64_t offset, std::span<std::byte> to) override {
    // The kernel's own reading ahead is too short to keep a fast disk busy.
    const int64_t wanted = std::min(offset + static_cast<int64_t>(to.size()) + kAhead, size_);
    if (wanted - asked_ >= kAhead / 2) {
      posix_fadvise(fd_, asked_, wanted - asked_, POSIX_FADV_WILLNEED);
      asked_ = wanted;
    }
    size_t done = 0;
    while (done < to.size()) {
      const ssize_t got =
          pread(fd_, to.data() + done, to.size() - done, offset + static_cast<int64_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw FileError("read", path_, errno);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return static_cast<int64_t>(done);
  }

 private:
  // Bytes that may be on their way from the disk.
  static constexpr int64_t kAhead = 32 << 20;

  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
  int64_t asked_ = 0;  // the kernel was told to read what is below
};

class PosixFileSystem : public FileSystem {
 public:
  std::unique_ptr<WritableFile> Create(const std::string& path, int64_t bytes) override {
    return std::make_unique<PosixWritableFile>(path, bytes);
  }
  std::unique_ptr<ReadableFile> Open(const std::string& path) override {
    return std::make_unique<PosixReadableFile>(path);
  }
  void SyncFolder(const std::string& path) override {
    const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) throw FileError("sync the folder", path, errno);
    const int error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    // Some network file systems have no sync for folders.
    if (error != 0 && error != EINVAL && error != ENOTSUP && error != ENOSYS) {
      throw FileError("sync the folder", path, error);
    }
  }
  void Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) != 0) throw FileError("rename", from, errno);
  }
  void MakeFolder(const std::string& path) override {
    if (mkdir(path.c_str(), 0777) != 0) throw FileError("make the folder", path, errno);
  }
  void RemoveFile(const std::string& path) override {
    if (unlink(path.c_str()) != 0) throw FileError("remove", path, errno);
  }
  void RemoveFolder(const std::string& path) override {
    if (rmdir(path.c_str()) != 0) throw FileError("remove the folder", path, errno);
  }
  std::vector<std::string> List(const std::string& path) override {
    DIR* folder = opendir(path.c_str());
    if (folder == nullptr) throw FileError("read the folder", path, errno);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int error = errno;
    closedir(folder);
    if (error != 0) throw FileError("read the folder", path, error);
    std::sort(names.begin(), names.end());
    return names;
  }
  std::optional<FileInfo> Stat(const std::string& path) override {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
      throw FileError("read", path, errno);
    }
    return FileInfo{S_ISDIR(info.st_mode), info.st_size};
  }
  std::optional<int64_t> FreeBytes(const std::string& path) override {
    struct statvfs info {};
    // File systems without a size (object storage) say 0 blocks.
    if (statvfs(path.c_str(), &info) != 0 || info.f_blocks == 0) return std::nullopt;
    return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
  }
};

}  // namespace

FileError::FileError(std::string_view verb, const std::string& path, int error)
    : UserError(CodeOf(error), SystemMessage(verb, path, error)), error_(error) {}

FileSystem& RealFileSystem() {
  static PosixFileSystem files;
  return files;
}

}  // namespace flatout::checkpoint
