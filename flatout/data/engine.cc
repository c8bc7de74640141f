#include "flatout/data/engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "flatout/base/cgroup.h"
#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/data/tuner.h"

namespace flatout::data {
namespace {

constexpr size_t kKeptDecisions = 32;

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// How long this thread was ready to run while others had the processors, as far as the kernel says
// (proc(5), schedstat: nanoseconds on a processor, nanoseconds waiting for one, ...).
class RunDelay {
 public:
  RunDelay() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ~RunDelay() {
    if (file_ >= 0) close(file_);
  }
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;
  double Seconds() const {
    char text[96];
    const ssize_t size = file_ < 0 ? -1 : pread(file_, text, sizeof(text) - 1, 0);
    if (size <= 0) return 0;
    text[size] = 0;
    char* rest = nullptr;
    std::strtoull(text, &rest, 10);
    return static_cast<double>(std::strtoull(rest, nullptr, 10)) * 1e-9;
  }

 private:
  int file_;
};

}  // namespace

EngineStats EngineStats::Since(const EngineStats& before) const {
  EngineStats since = *this;
  if (busy < before.busy || items < before.items) return since;
  since.items -= before.items;
  since.records -= before.records;
  since.wait -= before.wait;
  since.busy -= before.busy;
  since.cpu -= before.cpu;
  since.queued -= before.queued;
  since.full -= before.full;
  for (auto& [name, stage] : since.stages) {
    const auto found = before.stages.find(name);
    if (found == before.stages.end()) continue;
    stage.seconds -= found->second.seconds;
    stage.records -= found->second.records;
    stage.bytes -= found->second.bytes;
  }
  return since;
}

int64_t DefaultBudget() {
  const int64_t usable = ReadCgroup().memory.usable;
  constexpr int64_t kLeast = int64_t{64} << 20, kMost = int64_t{512} << 20;
  return usable < 0 ? kLeast : std::clamp(usable / 5, kLeast, kMost);
}

struct Engine::State {
  // One item from its planning until it is given out.
  struct Slot {
    std::shared_ptr<Job> job;
    int pieces = 0, begun = 0, ended = 0;
    int64_t bytes = 0;  // as counted in `bytes`
    bool ready = false;
    std::exception_ptr error;
  };

  State(std::shared_ptr<JobSource> source, const EngineOptions& options)
      : source(std::move(source)), options(options) {}

  void Work(int index);
  std::shared_ptr<Slot> SlotWithWork();
  bool MayPlan() const;
  void Plan(std::unique_lock<std::mutex>& lock, ReadContext& context);
  void RunPiece(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Slot>& slot,
                ReadContext& context, const RunDelay& delay);
  void Account(Slot& slot, int64_t bytes);
  void Tune();
  void Apply(const Tuner::Setting& setting);
  void Spawn();
  bool Ended() const { return stopping || (window.empty() && exhausted && !planning); }

  // With the mutex held.
  void Halt() {
    stopping = true;
    changed.notify_all();
    delivered.notify_all();
  }

  const std::shared_ptr<JobSource> source;
  const EngineOptions options;
  std::unique_ptr<Tuner> tuner;

  mutable std::mutex mutex;
  std::condition_variable changed;    // for workers
  std::condition_variable delivered;  // for the consumer
  bool stopping = false, planning = false, exhausted = false;
  std::deque<std::shared_ptr<Slot>> window;  // in order; the front is given out next
  int ready = 0;                             // slots that are
  int workers = 1, depth = 2;                // as tuned
  int64_t budget = 0, bytes = 0;             // of the window
  int64_t largest = 0;                       // item so far
  std::exception_ptr failure;
  EngineStats stats;
  double fill_sum = 0;
  int64_t calls = 0;
  std::mutex joining;
  std::vector<std::thread> threads;
};

// The oldest item that has a piece nobody has begun.
std::shared_ptr<Engine::State::Slot> Engine::State::SlotWithWork() {
  for (const std::shared_ptr<Slot>& slot : window) {
    if (slot->begun < slot->pieces && !slot->error) return slot;
  }
  return nullptr;
}

bool Engine::State::MayPlan() const {
  if (planning || exhausted) return false;
  if (window.empty()) return true;
  if (static_cast<int>(window.size()) >= depth) return false;
  // An item whose size is not known yet is taken to be as large as the largest so far.
  return bytes + std::max<int64_t>(largest, 1) <= budget;
}

void Engine::State::Account(Slot& slot, int64_t now) {
  bytes += now - slot.bytes;
  slot.bytes = now;
  stats.most_bytes = std::max(stats.most_bytes, bytes);
}

void Engine::State::Plan(std::unique_lock<std::mutex>& lock, ReadContext& context) {
  planning = true;
  lock.unlock();
  auto slot = std::make_shared<Slot>();
  try {
    slot->job = source->Next(context);
    if (slot->job) slot->pieces = std::max(1, slot->job->pieces());
  } catch (...) {
    slot->error = std::current_exception();
  }
  const int64_t size = slot->job ? slot->job->bytes() : 0;
  lock.lock();
  planning = false;
  if (slot->error || !slot->job) exhausted = true;
  if (slot->error) slot->ready = true, ++ready;
  if (slot->error || slot->job) {
    window.push_back(slot);
    Account(*slot, size > 0 ? size : largest);
  }
  delivered.notify_all();
  changed.notify_all();
}

void Engine::State::RunPiece(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Slot>& slot,
                             ReadContext& context, const RunDelay& delay) {
  const int piece = slot->begun++;
  lock.unlock();
  const Stopwatch wall;
  const double cpu = ThreadCpuSeconds();
  const double delayed = delay.Seconds();
  std::exception_ptr error;
  try {
    slot->job->Run(piece, context);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error && !slot->error) slot->error = error;
  bool last = ++slot->ended == (slot->error ? slot->begun : slot->pieces);
  // A piece that failed keeps the others from being begun; the one that ends last reports it.
  if (last && !slot->error) {
    lock.unlock();
    try {
      slot->job->Finish(context);
    } catch (...) {
      error = std::current_exception();
    }
    const int64_t size = error ? 0 : slot->job->bytes();
    lock.lock();
    if (error) slot->error = error;
    largest = std::max(largest, size);
    Account(*slot, size);
  }
  // The time that has passed is read last, and is shared out: what the kernel counts by other
  // clocks, and while these lines wait for a processor themselves, is never more than that.
  const double used = ThreadCpuSeconds() - cpu, waited = delay.Seconds() - delayed;
  const double passed = wall.Seconds();
  stats.busy += passed;
  stats.cpu += std::clamp(used, 0.0, passed);
  stats.queued += std::clamp(waited, 0.0, passed - std::clamp(used, 0.0, passed));
  for (const auto& [name, time] : context.TakeTimes()) {
    StageTime& sum = stats.stages[name];
    sum.seconds += time.seconds;
    sum.records += time.records;
    sum.bytes += time.bytes;
  }
  if (!last || slot->ready) return;
  slot->ready = true;
  ++ready;
  // Nothing after a failed item is ever asked for.
  if (slot->error) exhausted = true;
  if (window.front() == slot) delivered.notify_all();
}

void Engine::State::Work(int index) {
  ReadContext context(options.bad);
  const RunDelay delay;
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (index < workers) {
      if (std::shared_ptr<Slot> slot = SlotWithWork()) {
        RunPiece(lock, slot, context, delay);
        continue;
      }
      if (MayPlan()) {
        Plan(lock, context);
        continue;
      }
    }
    // Enough is waiting: that is what "full" means. Waiting for a plan, or at the end, is not.
    const bool full = index < workers && !planning && !exhausted;
    const Stopwatch idle;
    changed.wait(lock);
    if (full) stats.full += idle.Seconds();
  }
}

void Engine::State::Spawn() {
  while (static_cast<int>(threads.size()) < workers && !stopping) {
    const int index = static_cast<int>(threads.size());
    threads.emplace_back([this, index] {
      pthread_setname_np(pthread_self(),
                         fmt::format("{:.12}-{}", options.name, index).substr(0, 15).c_str());
      Work(index);
    });
  }
}

void Engine::State::Apply(const Tuner::Setting& setting) {
  if (setting.workers == workers && setting.depth == depth) return;
  stats.decisions.push_back(setting.reason);
  if (stats.decisions.size() > kKeptDecisions) stats.decisions.erase(stats.decisions.begin());
  workers = setting.workers;
  depth = setting.depth;
  Spawn();
  changed.notify_all();
}

// With the mutex held, by the consumer.
void Engine::State::Tune() {
  if (!tuner) return;
  Tuner::Measured now;
  now.seconds = SteadySeconds();
  now.items = stats.items;
  now.records = stats.records;
  now.wait = stats.wait;
  now.busy = stats.busy;
  now.cpu = stats.cpu;
  now.queued = stats.queued;
  now.full = stats.full;
  // More items than the budget holds cannot be made.
  now.most_depth = static_cast<int>(
      std::clamp<int64_t>(budget / std::max<int64_t>(largest, 1), 1, Tuner::kMostDepth));
  if (const auto setting = tuner->Observe(now)) Apply(*setting);
}

Engine::Engine(std::shared_ptr<JobSource> source, EngineOptions options) {
  if (options.workers < 0 || options.depth < 0 || options.bytes < 0) {
    throw Invalid("the input engine needs workers, depth and bytes >= 0, found {}, {} and {}",
                  options.workers, options.depth, options.bytes);
  }
  state_ = std::make_shared<State>(std::move(source), options);
  State& state = *state_;
  state.budget = options.bytes > 0 ? options.bytes : DefaultBudget();
  const int cores = ReadCgroup().cpu.usable;
  Tuner::Limits limits;
  limits.cores = cores;
  limits.fixed_workers = options.workers;
  limits.fixed_depth = options.depth;
  limits.max_workers = options.max_workers > 0 ? options.max_workers : 4 * cores;
  const Tuner::Setting start = Tuner::Start(limits);
  state.workers = start.workers;
  state.depth = start.depth;
  if (options.workers == 0 || options.depth == 0) state.tuner = std::make_unique<Tuner>(limits);
  try {
    std::lock_guard lock(state.mutex);
    state.Spawn();
  } catch (...) {
    Stop();
    throw;
  }
}

Engine::~Engine() { Stop(); }

std::shared_ptr<Job> Engine::Next() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.fill_sum += std::min(1.0, static_cast<double>(state.ready) / state.depth);
  ++state.calls;
  const Stopwatch waiting;
  state.delivered.wait(lock, [&] {
    return (!state.window.empty() && state.window.front()->ready) || state.Ended();
  });
  state.stats.wait += waiting.Seconds();
  if (state.failure) std::rethrow_exception(state.failure);
  if (state.Ended()) return nullptr;
  const std::shared_ptr<State::Slot> slot = state.window.front();
  if (slot->error) {
    state.failure = slot->error;
    state.Halt();
    std::rethrow_exception(state.failure);
  }
  state.window.pop_front();
  --state.ready;
  state.bytes -= slot->bytes;
  ++state.stats.items;
  state.stats.records += slot->job->records();
  state.Tune();
  state.changed.notify_all();
  return std::move(slot->job);
}

void Engine::Stop() {
  State& state = *state_;
  {
    std::lock_guard lock(state.mutex);
    state.Halt();
  }
  std::lock_guard joining(state.joining);
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(state.mutex);
    threads.swap(state.threads);
  }
  for (std::thread& thread : threads) thread.join();
  // Outside the lock: letting items go runs code of the device.
  std::deque<std::shared_ptr<State::Slot>> dropped;
  {
    std::lock_guard lock(state.mutex);
    dropped.swap(state.window);
    state.ready = 0;
    state.bytes = 0;
  }
}

void Engine::Fail(std::exception_ptr error) {
  std::lock_guard lock(state_->mutex);
  if (!state_->failure) state_->failure = std::move(error);
  state_->Halt();
}

void Engine::AddTime(const std::string& stage, double seconds) {
  std::lock_guard lock(state_->mutex);
  state_->stats.stages[stage].seconds += seconds;
}

EngineStats Engine::stats() const {
  const State& state = *state_;
  std::lock_guard lock(state.mutex);
  EngineStats stats = state.stats;
  if (state.calls > 0) stats.fill = state.fill_sum / static_cast<double>(state.calls);
  stats.workers = state.workers;
  stats.depth = state.depth;
  stats.bytes = state.bytes;
  stats.budget = state.budget;
  return stats;
}

}  // namespace flatout::data
