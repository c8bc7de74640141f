#include "flatout/data/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>

namespace flatout::data {

// What the signal handler looks at: nothing but atomics, as it may come at any time.
struct MappedFileAccess {
  struct Slot {
    std::atomic<std::byte*> begin;  // null: free
    std::atomic<std::byte*> end;
    std::atomic<MappedFile*> file;
  };
  static constexpr int kSlots = 4096;
  static inline Slot slots[kSlots];
  static inline std::mutex mutex;
  static inline std::atomic<int64_t> touched = 0;
  static inline struct sigaction before;

  static void Handle(int signal, siginfo_t* info, void* context) {
    const int saved = errno;
    auto* at = static_cast<std::byte*>(info->si_addr);
    for (Slot& slot : slots) {
      std::byte* begin = slot.begin.load(std::memory_order_acquire);
      std::byte* end = slot.end.load(std::memory_order_acquire);
      // A code of 0 or less: sent by a process, without an address.
      if (info->si_code <= 0 || begin == nullptr || at < begin || at >= end) continue;
      // All that follows is taken for lost too: it is, where the file was cut.
      const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
      auto* from = reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(at) & ~(page - 1));
      void* zeros = mmap(from, static_cast<size_t>(end - from), PROT_READ,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      if (zeros == MAP_FAILED) break;
      if (MappedFile* file = slot.file.load(std::memory_order_acquire)) {
        file->damaged_.store(true, std::memory_order_release);
      }
      errno = saved;
      return;
    }
    errno = saved;
    // Not ours: as if this handler were not there.
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
      before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
      before.sa_handler(signal);
    } else {
      // The instruction is run again and ends the process this time; a sent signal is sent again.
      sigaction(SIGBUS, &before, nullptr);
      if (info->si_code <= 0) raise(signal);
    }
  }

  static bool Install() {
    static const bool installed = [] {
      struct sigaction action = {};
      action.sa_sigaction = Handle;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
      sigemptyset(&action.sa_mask);
      return sigaction(SIGBUS, &action, &before) == 0;
    }();
    return installed;
  }

  static bool Register(MappedFile& file) {
    std::lock_guard lock(mutex);
    for (int i = 0; i < kSlots; ++i) {
      Slot& slot = slots[i];
      if (slot.begin.load() != nullptr) continue;
      slot.file.store(&file);
      slot.end.store(file.data_ + file.size_);
      slot.begin.store(file.data_, std::memory_order_release);
      file.slot_ = i;
      return true;
    }
    return false;
  }
  // Counts bytes touched, roughly, in all files, and gives all pages back when they are many.
  static void Touched(int64_t bytes) {
    constexpr int64_t kMost = int64_t{64} << 20;
    if (touched.fetch_add(bytes, std::memory_order_relaxed) + bytes < kMost) return;
    std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return;  // somebody is at it
    touched.store(0, std::memory_order_relaxed);
    for (Slot& slot : slots) {
      std::byte* begin = slot.begin.load();
      if (begin == nullptr) continue;
      madvise(begin, static_cast<size_t>(slot.end.load() - begin), MADV_DONTNEED);
    }
  }
  static void Unregister(MappedFile& file) {
    if (file.slot_ < 0) return;
    std::lock_guard lock(mutex);
    Slot& slot = slots[file.slot_];
    slot.begin.store(nullptr);
    slot.end.store(nullptr);
    slot.file.store(nullptr);
  }
};

namespace {

// A page fault there may wait for ever, and fails by a signal.
bool IsOnNetwork(int fd) {
  struct statfs system;
  if (fstatfs(fd, &system) != 0) return true;
  // NFS, SMB, CIFS, SMB2, FUSE, Ceph, AFS, 9P, Coda, Lustre, GPFS (statfs(2)).
  constexpr uint32_t kNetwork[] = {0x6969,     0x517b,     0xff534d42, 0xfe534d42,
                                   0x65735546, 0x00c36400, 0x5346414f, 0x01021997,
                                   0x73757245, 0x0bd00bd0, 0x47504653};
  for (uint32_t type : kNetwork) {
    if (static_cast<uint32_t>(system.f_type) == type) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<MappedFile> MappedFile::Open(int fd, int64_t size) {
  struct stat info {};
  if (size <= 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < size ||
      IsOnNetwork(fd) || !MappedFileAccess::Install()) {
    return nullptr;
  }
  void* memory = mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::unique_ptr<MappedFile> file(new MappedFile(static_cast<std::byte*>(memory), size));
  return MappedFileAccess::Register(*file) ? std::move(file) : nullptr;
}

MappedFile::~MappedFile() {
  MappedFileAccess::Unregister(*this);
  munmap(data_, static_cast<size_t>(size_));
}

bool MappedFile::Copy(int64_t offset, std::span<std::byte> out) {
  if (damaged()) return false;
  if (!out.empty()) std::memcpy(out.data(), data_ + offset, out.size());
  // A fault brings its 64 KiB of neighbours with it where they are cached.
  constexpr int64_t kAround = int64_t{1} << 16;
  MappedFileAccess::Touched(static_cast<int64_t>(out.size()) + kAround);
  return !damaged();
}

bool MappedFile::cached(int fd) {
  constexpr int64_t kOften = 1'000'000'000;
  const int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  int64_t asked = asked_.load(std::memory_order_relaxed);
  if (now - asked < kOften || !asked_.compare_exchange_strong(asked, now)) return cached_.load();
  // A read that must not wait gives nothing where the page is not in memory.
  constexpr int kSamples = 64;
  constexpr int kEnough = 60;
  int found = 0;
  for (int i = 0; i < kSamples; ++i) {
    char byte;
    iovec to{&byte, 1};
    if (preadv2(fd, &to, 1, size_ / kSamples * i, RWF_NOWAIT) == 1) ++found;
  }
  cached_.store(found >= kEnough);
  return found >= kEnough;
}

}  // namespace flatout::data
