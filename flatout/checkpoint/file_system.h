// FileSystem: all that saving and loading snapshots asks of a disk. The real one is POSIX; tests
// put another in its place that runs full, fails, is slow, cannot rename, or ends the process
// between any two calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/error.h"

namespace flatout::checkpoint {

// A system call that failed. The message names path, reason and remedy, as those of base/file.h.
class FileError : public UserError {
 public:
  // `verb` as in "cannot write out/a.json: ..."; `error` is an errno.
  FileError(std::string_view verb, const std::string& path, int error);
  int error() const { return error_; }

 private:
  int error_;
};

// A new file, written from its beginning to its end. What was not closed is not complete.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // Appends all of `data`. Large pieces in page-aligned memory go past the page cache where that is
  // possible; else the kernel is told to begin writing at once and to forget pages that are on the
  // disk, so that a large file neither fills the cache nor leaves all its work to Sync.
  virtual void Write(std::span<const std::byte> data) = 0;
  virtual void Sync() = 0;   // fsync
  virtual void Close() = 0;  // reports what the system kept to itself until now (NFS: a full disk)
};

class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  virtual int64_t size() const = 0;
  // Fills `to` from `offset` on; fewer bytes only at the end of the file. Returns how many.
  virtual int64_t Read(int64_t offset, std::span<std::byte> to) = 0;
};

struct FileInfo {
  bool folder = false;
  int64_t bytes = 0;
};

// Paths are as the system takes them. Every failure is a FileError. Thread-safe.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // A file that must not exist yet. `bytes`: how long it will be, if that is known: a disk that has
  // not got the room then says so now and not after an hour.
  virtual std::unique_ptr<WritableFile> Create(const std::string& path, int64_t bytes = 0) = 0;
  virtual std::unique_ptr<ReadableFile> Open(const std::string& path) = 0;
  // fsync of a folder: what was made, renamed and removed in it is on the disk after that. Where
  // the file system knows no such thing it does nothing.
  virtual void SyncFolder(const std::string& path) = 0;
  virtual void Rename(const std::string& from, const std::string& to) = 0;
  // Its parent exists, and it does not.
  virtual void MakeFolder(const std::string& path) = 0;
  virtual void RemoveFile(const std::string& path) = 0;
  virtual void RemoveFolder(const std::string& path) = 0;              // an empty one
  virtual std::vector<std::string> List(const std::string& path) = 0;  // names, sorted
  virtual std::optional<FileInfo> Stat(const std::string& path) = 0;   // nothing: there is none
  // Bytes that this user can still write there; nothing where the system does not say.
  virtual std::optional<int64_t> FreeBytes(const std::string& path) = 0;
};

FileSystem& RealFileSystem();

}  // namespace flatout::checkpoint
