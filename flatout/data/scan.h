// Reads records of a source once, in parallel, to learn something of them: filters, verification,
// statistics.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "flatout/data/source.h"

namespace flatout::data {

struct ScanProgress {
  int64_t done = 0, total = 0;  // records
  int64_t bytes = 0;            // read from files so far, where the stages count them
};

struct ScanOptions {
  std::span<const int64_t> records;  // which; empty: all
  int64_t epoch = 0;
  int workers = 0;            // threads; 0: as many as this process may use cores
  BadRecords* bad = nullptr;  // must outlive the scan; without it the first bad record is thrown
  // A DataError that Read throws (instead of telling it to Block::Bad) for this record. Without it
  // the scan ends with that error. By one thread at a time.
  std::function<void(int64_t record, const DataError& error)> failed;
  // Now and then, by one thread at a time; false ends the scan.
  std::function<bool(const ScanProgress&)> progress;
};

struct ScanResult {
  int64_t records = 0;   // read, bad ones too
  bool complete = true;  // false: progress ended it
  std::map<std::string, StageTime> stages;
  int64_t bytes() const;  // sum over the stages
};

// Reads the records in chunks of some MiB, each on one thread, in no particular order, and calls
// `take` for each chunk from the thread that read it: row i of `block` is records[i], unless
// block.bad(i). Of an indexed source. Throws what reading or `take` throws, after all threads
// ended.
ScanResult Scan(
    const Source& source, const ScanOptions& options,
    const std::function<void(std::span<const int64_t> records, const Block& block)>& take);

}  // namespace flatout::data
