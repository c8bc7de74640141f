#include "flatout/data/prefetch.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"

namespace flatout::data {
namespace {

// Host memory that is not in use. Outlives the Prefetcher where transfers still hold launches.
class Pool {
 public:
  std::unique_ptr<HostLaunch> Take(const LaunchReader& reader) {
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<HostLaunch> launch = std::move(free_.back());
        free_.pop_back();
        return launch;
      }
    }
    return std::make_unique<HostLaunch>(reader);
  }
  void Give(std::unique_ptr<HostLaunch> launch) {
    std::lock_guard lock(mutex_);
    if (!closed_) free_.push_back(std::move(launch));
  }
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    free_.clear();
  }

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::unique_ptr<HostLaunch>> free_;
};

}  // namespace

struct Prefetcher::State : TransferLog, std::enable_shared_from_this<Prefetcher::State> {
  State(LaunchReader reader, PrefetchOptions options, Upload upload)
      : reader(std::move(reader)), options(options), upload(std::move(upload)) {}

  struct Made {
    Item item;
    std::exception_ptr error;
  };

  void Add(double seconds) override {
    std::lock_guard lock(mutex);
    stats.transfer += seconds;
  }
  void Fail(std::exception_ptr error) override {
    std::lock_guard lock(mutex);
    if (!failure) failure = std::move(error);
    Halt();
  }
  // With the mutex held.
  void Halt() {
    stopping = true;
    changed.notify_all();
  }

  void Work() {
    std::unique_lock lock(mutex);
    while (true) {
      if (!stopping && Full()) {
        Stopwatch idle;
        changed.wait(lock, [&] { return stopping || !Full(); });
        stats.full += idle.Seconds();
      }
      if (stopping || planned.epoch >= options.end_epoch) return;
      const LaunchPlan plan = reader.Plan(planned);
      planned = plan.next;
      const int64_t number = begun++;
      lock.unlock();
      Made made;
      AssembleTimes times;
      try {
        made.item.plan = plan;
        std::unique_ptr<HostLaunch> memory = pool->Take(reader);
        times = reader.Assemble(plan, *memory);
        std::shared_ptr<HostLaunch> host(memory.release(), [pool = pool](HostLaunch* launch) {
          pool->Give(std::unique_ptr<HostLaunch>(launch));
        });
        if (upload) {
          made.item.payload = upload(std::move(host), shared_from_this());
        } else {
          made.item.host = std::move(host);
        }
      } catch (...) {
        made.error = std::current_exception();
      }
      lock.lock();
      stats.read += times.read;
      stats.assemble += times.other;
      const bool failed = made.error != nullptr;
      ready.emplace(number, std::move(made));
      changed.notify_all();
      // Nothing after a failed launch is ever asked for.
      if (failed) planned.epoch = options.end_epoch;
    }
  }
  bool Full() const { return begun - given >= stats.depth; }

  const LaunchReader reader;
  const PrefetchOptions options;
  Upload upload;  // empty once the workers have ended
  const std::shared_ptr<Pool> pool = std::make_shared<Pool>();

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  IteratorState planned;          // where the next launch to be begun starts
  int64_t begun = 0, given = 0;   // launches
  std::map<int64_t, Made> ready;  // by number
  std::exception_ptr failure;
  PrefetchStats stats;
  double fill_sum = 0;
  int64_t calls = 0;
  std::mutex joining;
  std::vector<std::thread> threads;
};

Prefetcher::Prefetcher(LaunchReader reader, IteratorState start, PrefetchOptions options,
                       Upload upload) {
  if (options.depth < 1 || options.workers < 1) {
    throw Invalid("prefetch needs depth >= 1 and workers >= 1, found {} and {}", options.depth,
                  options.workers);
  }
  state_ = std::make_shared<State>(std::move(reader), options, std::move(upload));
  State& state = *state_;
  state.planned = state.reader.CheckState(start);
  state.stats.launch_bytes = state.reader.launch_bytes();
  state.stats.depth = static_cast<int>(std::clamp<int64_t>(
      options.bytes / std::max<int64_t>(1, state.stats.launch_bytes), 1, options.depth));
  int workers = std::min(options.workers, state.stats.depth);
  try {
    for (int i = 0; i < workers; ++i) state.threads.emplace_back([&state] { state.Work(); });
  } catch (...) {
    Stop();
    throw;
  }
}

Prefetcher::~Prefetcher() { Stop(); }

std::optional<Prefetcher::Item> Prefetcher::Next() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.fill_sum += static_cast<double>(state.ready.size()) / state.stats.depth;
  ++state.calls;
  auto ended = [&] {
    return state.stopping ||
           (state.given == state.begun && state.planned.epoch >= state.options.end_epoch);
  };
  Stopwatch waiting;
  state.changed.wait(lock, [&] { return state.ready.contains(state.given) || ended(); });
  state.stats.wait += waiting.Seconds();
  if (state.failure) std::rethrow_exception(state.failure);
  if (state.stopping) return std::nullopt;
  auto it = state.ready.find(state.given);
  if (it == state.ready.end()) return std::nullopt;
  if (it->second.error) {
    state.failure = it->second.error;
    state.Halt();
    std::rethrow_exception(state.failure);
  }
  Item item = std::move(it->second.item);
  state.ready.erase(it);
  ++state.given;
  ++state.stats.launches;
  state.stats.records += item.plan.rows;
  state.changed.notify_all();
  return item;
}

void Prefetcher::Stop() {
  State& state = *state_;
  {
    std::lock_guard lock(state.mutex);
    state.Halt();
  }
  {
    std::lock_guard lock(state.joining);
    for (std::thread& thread : state.threads) {
      if (thread.joinable()) thread.join();
    }
    state.threads.clear();
    // It may hold a client, which must not live on in what transfers still hold of this: the last
    // of them ends on one of the client's own threads.
    state.upload = nullptr;
  }
  // Outside the locks: letting launches go runs code of the device.
  std::map<int64_t, State::Made> dropped;
  {
    std::lock_guard lock(state.mutex);
    dropped.swap(state.ready);
  }
  dropped.clear();
  state.pool->Close();
}

const LaunchReader& Prefetcher::reader() const { return state_->reader; }

PrefetchStats Prefetcher::stats() const {
  std::lock_guard lock(state_->mutex);
  PrefetchStats stats = state_->stats;
  if (state_->calls > 0) stats.fill = state_->fill_sum / static_cast<double>(state_->calls);
  return stats;
}

}  // namespace flatout::data
