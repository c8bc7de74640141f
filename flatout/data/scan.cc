#include "flatout/data/scan.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <vector>

#include "flatout/base/cgroup.h"
#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/thread_pool.h"

namespace flatout::data {
namespace {

constexpr int64_t kFirstChunk = 8;        // records
constexpr int64_t kLargestChunk = 4096;   // records
constexpr int64_t kChunkBytes = 4 << 20;  // wanted for a chunk
constexpr double kProgressSeconds = 0.1;

int64_t BytesOf(const Block& block) {
  int64_t bytes = 0;
  for (size_t f = 0; f < block.fields().size(); ++f) {
    if (block.fields()[f].fixed()) {
      bytes += block.rows() * block.stride(f);
      continue;
    }
    for (int64_t row = 0; row < block.rows(); ++row) bytes += block.cell(f, row).bytes;
  }
  return bytes;
}

}  // namespace

int64_t ScanResult::bytes() const {
  int64_t bytes = 0;
  for (const auto& [name, time] : stages) bytes += time.bytes;
  return bytes;
}

ScanResult Scan(
    const Source& source, const ScanOptions& options,
    const std::function<void(std::span<const int64_t> records, const Block& block)>& take) {
  if (!source.indexed()) throw Internal("{}: a stream cannot be scanned", source.description());
  const bool all = options.records.empty();
  const int64_t total = all ? source.size() : static_cast<int64_t>(options.records.size());
  std::atomic<int64_t> next{0}, chunk_records{kFirstChunk};
  std::atomic<bool> stop{false};
  std::mutex mutex;  // guards all below
  ScanResult result;
  double shown = SteadySeconds();

  const auto work = [&](int64_t) {
    ReadContext context(options.bad);
    Block block;
    std::vector<int64_t> records;
    const auto fill = [&](std::span<const int64_t> part) {
      block.Reset(source.fields(), static_cast<int64_t>(part.size()));
      block.set_bad_records(options.bad);
      source.Read(context, options.epoch, part, block);
    };
    const auto read = [&] {
      try {
        fill(records);
      } catch (const DataError&) {
        if (!options.failed) throw;
        // One by one, to find out which of them it is.
        for (const int64_t& record : records) {
          try {
            fill({&record, 1});
          } catch (const DataError& error) {
            std::lock_guard lock(mutex);
            options.failed(record, error);
            continue;
          }
          take({&record, 1}, block);
        }
        return;
      }
      take(records, block);
    };
    while (!stop) {
      const int64_t want = chunk_records;
      const int64_t begin = next.fetch_add(want);
      if (begin >= total) return;
      const int64_t count = std::min(want, total - begin);
      records.resize(static_cast<size_t>(count));
      if (all) {
        std::iota(records.begin(), records.end(), begin);
      } else {
        std::copy_n(options.records.begin() + begin, count, records.begin());
      }
      try {
        read();
      } catch (...) {
        stop = true;
        throw;
      }
      const int64_t each =
          std::max<int64_t>(1, BytesOf(block) / std::max<int64_t>(1, block.rows()));
      chunk_records = std::clamp<int64_t>(kChunkBytes / each, 1, kLargestChunk);
      const std::map<std::string, StageTime> times = context.TakeTimes();
      std::lock_guard lock(mutex);
      result.records += count;
      for (const auto& [name, time] : times) {
        StageTime& sum = result.stages[name];
        sum.seconds += time.seconds;
        sum.records += time.records;
        sum.bytes += time.bytes;
      }
      const double now = SteadySeconds();
      if (options.progress && (now - shown >= kProgressSeconds || result.records == total)) {
        shown = now;
        if (!options.progress({.done = result.records, .total = total, .bytes = result.bytes()})) {
          result.complete = result.records == total;
          stop = true;
        }
      }
    }
  };
  const int cores = std::max(1, ReadCgroup().cpu.usable);
  const auto threads = static_cast<int>(std::clamp<int64_t>(
      options.workers > 0 ? options.workers : cores, 1, std::max<int64_t>(total, 1)));
  if (threads == 1) {
    work(0);
  } else {
    // The caller works too.
    ThreadPool(threads - 1, "scan").ParallelFor(threads, work);
  }
  return result;
}

}  // namespace flatout::data
