// A file in the address space, for small reads here and there: several times quicker than pread.
//
// A mapped file has three dangers, which this class takes away:
//   - Where the file was cut or its disk fails, touching a page raises SIGBUS and ends the process.
//     A handler puts zeros there instead and notes it: damaged().
//   - Touched pages count as memory of this process. Now and then they are given back (they stay in
//     the system's cache).
//   - A page that is not in the system's cache is read together with its neighbours, which is slow
//     where records are read in random order. cached() tells whether that is to be expected.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace flatout::data {

class MappedFile {
 public:
  // The first `size` bytes of an open file; nullptr where that is impossible or unwise (network
  // file systems). The descriptor may be closed afterwards.
  static std::unique_ptr<MappedFile> Open(int fd, int64_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Copies out.size() bytes from `offset` on, which must lie within the file. Returns false where
  // some of them could not be read, now or before. Bytes behind a cut in the middle of a page are
  // zeros without being noticed: only for content that has a checksum. Thread-safe.
  bool Copy(int64_t offset, std::span<std::byte> out);
  bool damaged() const { return damaged_.load(std::memory_order_acquire); }

  // Whether the file seems to be in the system's cache as good as whole, by some samples; asked
  // anew once a second.
  bool cached(int fd);

 private:
  friend struct MappedFileAccess;  // the signal handler
  MappedFile(std::byte* data, int64_t size) : data_(data), size_(size) {}

  std::byte* const data_;
  const int64_t size_;
  int slot_ = -1;
  std::atomic<bool> damaged_ = false;
  std::atomic<int64_t> asked_ = 0;  // when cached() last looked, in nanoseconds
  std::atomic<bool> cached_ = false;
};

}  // namespace flatout::data
