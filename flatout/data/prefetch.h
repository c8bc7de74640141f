// Launches made ahead of their use, on threads.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "flatout/data/launch.h"

namespace flatout::data {

struct PrefetchOptions {
  int depth = 4;                       // launches in the making or waiting
  int64_t bytes = int64_t{256} << 20;  // that those may take; at least one is always made
  int workers = 1;                     // threads
  int64_t end_epoch = std::numeric_limits<int64_t>::max();  // the first epoch not to be made
};

// Since the start. Seconds are of all workers together, except wait.
struct PrefetchStats {
  int64_t launches = 0;  // given out
  int64_t records = 0;   // in them
  double wait = 0;       // of the consumer, in Next
  double read = 0;       // in Source::Read
  double assemble = 0;   // order, padding, weights
  double transfer = 0;   // from the hand-over to the device until all of the launch is there
  double full = 0;       // of the workers, because `depth` launches were waiting
  double fill = 0;       // mean share of `depth` that was ready when Next was called
  int depth = 0;         // as used, after the limit in bytes
  int64_t launch_bytes = 0;
};

// Gives the launches from `start` on, in order, whatever the number of workers. The next epoch's
// are made before this one ends. What a worker throws reaches the consumer in the place of the
// launch that failed, and again at every further call.
class Prefetcher {
 public:
  struct Item {
    LaunchPlan plan;
    std::shared_ptr<HostLaunch> host;  // goes back to the pool when the last holder lets go
    std::shared_ptr<void> payload;     // what `upload` returned; then host is empty
  };
  // For uploads that go on after Upload returned. Thread-safe, also after the Prefetcher is gone.
  class TransferLog {
   public:
    virtual ~TransferLog() = default;
    virtual void Add(double seconds) = 0;
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
  const LaunchReader& reader() const;
  PrefetchStats stats() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace flatout::data
