#include "tests/count_allocations.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <functional>
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

void Note(void* block, int64_t bytes) {
  if (block == nullptr || !counting.load(std::memory_order_relaxed)) return;
  const size_t at = happened.fetch_add(1, std::memory_order_relaxed);
  if (at < kMostHappenings) happenings[at] = {block, bytes};
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

CountAllocations::CountAllocations() {
  happened = 0;
  counting = true;
}

CountAllocations::~CountAllocations() { counting = false; }

CountAllocations::Result CountAllocations::Stop() {
  counting = false;
  const size_t count = happened;
  if (count > kMostHappenings) throw std::length_error("more allocations than can be counted");
  Result result;
  std::unordered_map<void*, int64_t> blocks;
  const auto replay = [&](size_t end) {
    blocks.clear();
    result.live = 0;
    size_t highest = 0;
    for (size_t i = 0; i < end; ++i) {
      const auto found = blocks.find(happenings[i].block);
      if (found != blocks.end()) {
        result.live -= found->second;
        blocks.erase(found);
      }
      if (happenings[i].bytes < 0) continue;
      blocks[happenings[i].block] = happenings[i].bytes;
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
  replay(highest);
  for (const auto& [block, bytes] : blocks) {
    if (bytes >= 4096) result.at_peak.push_back(bytes);
  }
  std::sort(result.at_peak.begin(), result.at_peak.end(), std::greater<>());
  result.live = live;
  for (size_t i = 0; i < count; ++i) result.count += happenings[i].bytes >= 0;
  return result;
}

}  // namespace flatout
