#include "tests/count_allocations.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <unordered_map>

// The C library's own, under the names that it keeps for those who replace the others.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);
}

namespace {

// What happened, in order. A log rather than a table: writing it needs no lock and no memory.
struct Happening {
  void* block;
  int64_t bytes;  // -1: freed
};
constexpr size_t kMostHappenings = size_t{1} << 22;
Happening happenings[kMostHappenings];
std::atomic<size_t> happened = 0;
std::atomic<bool> counting = false;
std::atomic<int64_t> in_use = 0;

// Who asked for the large ones.
constexpr int64_t kLarge = 4096;
constexpr int kFrames = 24, kOwnFrames = 3;
struct Callers {
  size_t happening;
  int count;
  std::array<void*, kFrames> frames;
};
constexpr size_t kMostCallers = size_t{1} << 16;
Callers callers[kMostCallers];
std::atomic<size_t> called = 0;
std::atomic<bool> noting_callers = false;

void Note(void* block, int64_t bytes) {
  if (block == nullptr || !counting.load(std::memory_order_relaxed)) return;
  const size_t at = happened.fetch_add(1, std::memory_order_relaxed);
  if (at >= kMostHappenings) return;
  happenings[at] = {block, bytes};
  const auto usable = static_cast<int64_t>(malloc_usable_size(block));
  in_use.fetch_add(bytes < 0 ? -usable : usable, std::memory_order_relaxed);
  if (bytes < kLarge || !noting_callers.load(std::memory_order_relaxed)) return;
  const size_t entry = called.fetch_add(1, std::memory_order_relaxed);
  if (entry >= kMostCallers) return;
  callers[entry].happening = at;
  callers[entry].count = backtrace(callers[entry].frames.data(), kFrames);
}

void* Noted(void* block, size_t bytes) {
  Note(block, static_cast<int64_t>(bytes));
  return block;
}

}  // namespace

extern "C" {

void* malloc(size_t size) { return Noted(__libc_malloc(size), size); }
void* calloc(size_t count, size_t size) { return Noted(__libc_calloc(count, size), count * size); }
void* realloc(void* block, size_t size) {
  Note(block, -1);
  return Noted(__libc_realloc(block, size), size);
}
void free(void* block) {
  Note(block, -1);
  __libc_free(block);
}
void* memalign(size_t alignment, size_t size) {
  return Noted(__libc_memalign(alignment, size), size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return Noted(__libc_memalign(alignment, size), size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  void* block = __libc_memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *result = Noted(block, size);
  return 0;
}

}  // extern "C"

namespace flatout {

CountAllocations::CountAllocations(bool with_callers) {
  if (with_callers) {
    // The first backtrace loads what it needs, and that allocates.
    void* frame = nullptr;
    backtrace(&frame, 1);
  }
  noting_callers = with_callers;
  called = 0;
  happened = 0;
  in_use = 0;
  counting = true;
}

CountAllocations::~CountAllocations() { counting = false; }

int64_t CountAllocations::InUse() { return in_use; }

std::string CountAllocations::Block::Callers() const {
  std::string text;
  for (void* const address : callers) {
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) continue;
    const std::string path = info.dli_fname;
    if (!text.empty()) text += " < ";
    text += fmt::format("{}+{:x}", path.substr(path.rfind('/') + 1),
                        static_cast<char*>(address) - static_cast<char*>(info.dli_fbase) - 1);
  }
  return text;
}

CountAllocations::Result CountAllocations::Stop() {
  counting = false;
  const size_t count = happened;
  if (count > kMostHappenings || called > kMostCallers) {
    throw std::length_error("more allocations than can be counted");
  }
  std::unordered_map<size_t, std::vector<void*>> callers_of;
  for (size_t i = 0; i < called; ++i) {
    const auto begin = callers[i].frames.begin();
    callers_of[callers[i].happening].assign(begin + std::min(kOwnFrames, callers[i].count),
                                            begin + callers[i].count);
  }
  Result result;
  std::unordered_map<void*, size_t> blocks;  // happenings that made them
  const auto bytes_of = [](size_t happening) { return happenings[happening].bytes; };
  const auto block_of = [&](size_t happening) {
    const auto found = callers_of.find(happening);
    return Block{.bytes = bytes_of(happening),
                 .order = static_cast<int64_t>(happening),
                 .callers = found == callers_of.end() ? std::vector<void*>() : found->second};
  };
  std::unordered_map<size_t, size_t> freed;
  const auto replay = [&](size_t end) {
    blocks.clear();
    result.live = 0;
    size_t highest = 0;
    for (size_t i = 0; i < end; ++i) {
      const auto found = blocks.find(happenings[i].block);
      if (found != blocks.end()) {
        result.live -= bytes_of(found->second);
        freed[found->second] = i;
        blocks.erase(found);
      }
      if (happenings[i].bytes < 0) continue;
      blocks[happenings[i].block] = i;
      result.live += happenings[i].bytes;
      if (result.live > result.peak) {
        result.peak = result.live;
        highest = i + 1;
      }
    }
    return highest;
  };
  const size_t highest = replay(count);
  const int64_t live = result.live;
  const std::unordered_map<size_t, size_t> freed_at = freed;
  replay(highest);
  for (const auto& [block, happening] : blocks) {
    if (bytes_of(happening) >= kLarge) result.at_peak.push_back(block_of(happening));
  }
  std::sort(result.at_peak.begin(), result.at_peak.end(), [](const Block& a, const Block& b) {
    return std::pair(-a.bytes, a.order) < std::pair(-b.bytes, b.order);
  });
  result.live = live;
  for (size_t i = 0; i < count; ++i) {
    result.count += happenings[i].bytes >= 0;
    if (happenings[i].bytes < kLarge) continue;
    result.all.push_back(block_of(i));
    if (const auto found = freed_at.find(i); found != freed_at.end()) {
      result.all.back().freed = static_cast<int64_t>(found->second);
    }
  }
  return result;
}

}  // namespace flatout
