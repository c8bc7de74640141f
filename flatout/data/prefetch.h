// Launches made ahead of their use, on threads.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "flatout/data/engine.h"
#include "flatout/data/launch.h"

namespace flatout::data {

struct PrefetchOptions {
  int depth = 0;      // launches in the making or waiting; 0: tuned
  int64_t bytes = 0;  // that those may take; at least one is always made; 0: DefaultBudget()
  int workers = 0;    // threads; 0: tuned
  int64_t end_epoch = std::numeric_limits<int64_t>::max();  // the first epoch not to be made
  BadRecords* bad = nullptr;                                // must outlive the Prefetcher
};

// Gives the launches from `start` on, in order, whatever the number of workers. The next epoch's
// are made before this one ends. What a worker throws reaches the consumer in the place of the
// launch that failed, and again at every further call.
class Prefetcher {
 public:
  struct Item {
    LaunchPlan plan;
    int64_t bad_rows = 0;              // of plan.rows, left out
    std::shared_ptr<HostLaunch> host;  // goes back to the pool when the last holder lets go
    std::shared_ptr<void> payload;     // what `upload` returned; then host is empty
  };
  // For uploads that go on after Upload returned. Thread-safe, also after the Prefetcher is gone.
  class TransferLog {
   public:
    virtual ~TransferLog() = default;
    virtual void Add(double seconds) = 0;             // to the stage "transfer"
    virtual void Fail(std::exception_ptr error) = 0;  // reaches the consumer at its next call
  };
  // Called on a worker thread with an assembled launch; may keep it as long as it needs the memory.
  using Upload = std::function<std::shared_ptr<void>(std::shared_ptr<HostLaunch>,
                                                     const std::shared_ptr<TransferLog>&)>;

  Prefetcher(LaunchReader reader, IteratorState start, PrefetchOptions options, Upload upload = {});
  // Stop().
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Waits for the next launch; nothing when end_epoch is reached or after Stop.
  std::optional<Item> Next();
  // Ends the threads, after the record reads they are in. A Next that waits on another thread
  // returns nothing. May be called from any thread, more than once.
  void Stop();
  const LaunchReader& reader() const { return *reader_; }
  EngineStats stats() const { return engine_->stats(); }

 private:
  class Launches;
  class Log;
  std::shared_ptr<const LaunchReader> reader_;
  std::shared_ptr<Log> log_;
  std::shared_ptr<Launches> launches_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace flatout::data
