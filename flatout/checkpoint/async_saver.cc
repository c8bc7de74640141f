#include "flatout/checkpoint/async_saver.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/trace.h"
#include "flatout/checkpoint/manifest.h"

namespace flatout::checkpoint {
namespace {

// Estimates are from the slowest of so many saves.
constexpr size_t kRemembered = 5;
// How much further down than the process the saver's threads stand (nice(2)). Far enough that steps
// go first, and not so far that on busy processors nothing is ever saved.
constexpr int kNiceness = 4;

}  // namespace

struct AsyncSaver::State {
  State(Store& store, SaverOptions options) : store(store), options(std::move(options)) {}

  void Run() {
    // On Linux each thread has a niceness of its own, which the threads that it starts inherit.
    const auto self = static_cast<id_t>(gettid());
    errno = 0;
    const int nice = getpriority(PRIO_PROCESS, self);
    if (errno == 0) setpriority(PRIO_PROCESS, self, nice + kNiceness);
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return waiting || quit; });
      if (!waiting) return;
      Snapshot snapshot = std::move(*waiting);
      waiting.reset();
      lock.unlock();
      const SaveResult result = SaveOne(std::move(snapshot));
      if (options.done) {
        try {
          options.done(result);
        } catch (...) {
          // Nobody is there to take it; training must not end for it.
        }
      }
      lock.lock();
      End(result);
      busy = false;
      changed.notify_all();
    }
  }

  SaveResult SaveOne(Snapshot snapshot) {
    const trace::Span span("write snapshot");
    SaveResult result;
    result.step = snapshot.step;
    const auto failed = [&](std::string message) { result.error = std::move(message); };
    const auto retain = [&](const std::function<Retained()>& act) {
      try {
        Retained old = act();
        std::ranges::move(old.removed, std::back_inserter(result.removed));
        std::ranges::move(old.problems, std::back_inserter(result.notes));
      } catch (const std::exception& error) {
        result.notes.push_back(fmt::format("old snapshots stay: {}", error.what()));
      }
    };
    retain([&] { return store.MakeRoom(snapshot.disk_bytes(), options.retention); });
    if (!result.removed.empty()) {
      result.notes.push_back(fmt::format(
          "{}: too little room for another snapshot; {} older than the last were removed",
          store.folder(), result.removed.size()));
    }
    try {
      const SnapshotInfo info = store.Write(std::move(snapshot), options.write, &progress);
      result.ok = true;
      result.path = info.path;
      result.bytes = info.bytes();
    } catch (const FileError& error) {
      result.no_space = error.error() == ENOSPC || error.error() == EDQUOT;
      failed(error.what());
    } catch (const std::bad_alloc&) {
      failed("out of memory on the host while a snapshot was copied out");
    } catch (const std::exception& error) {
      failed(error.what());
    } catch (...) {
      failed("a source of a tensor threw something unknown");
    }
    result.seconds = SteadySeconds() - begin;
    result.copy_seconds = progress.copy_seconds;
    result.write_seconds = progress.write_seconds;
    if (result.ok) {
      retain([&] { return store.Retain(options.retention); });
    } else if (result.no_space) {
      // The next one finds more room than this one did.
      retain([&] { return store.RetainLeast(options.retention); });
    }
    return result;
  }

  void End(const SaveResult& result) {
    copied += result.copy_seconds;
    written += result.write_seconds;
    if (result.ok) {
      ++saves;
      recent.push_back(result);
      if (recent.size() > kRemembered) recent.pop_front();
    } else {
      ++failures;
    }
    last = result;
  }

  // Of a snapshot at full speed: what a limit kept waiting is in neither part.
  static double FullSpeed(const SaveResult& save) { return save.copy_seconds + save.write_seconds; }

  Store& store;
  const SaverOptions options;
  WriteProgress progress;  // of the save in flight, or of the last

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  bool busy = false, quit = false;
  std::optional<Snapshot> waiting;
  int64_t step = 0;
  double begin = 0;  // of the save in flight
  int64_t saves = 0, failures = 0;
  double copied = 0, written = 0;  // seconds, of ended saves
  std::optional<SaveResult> last;
  std::deque<SaveResult> recent;  // that ended well

  std::thread thread;
};

AsyncSaver::AsyncSaver(Store& store, SaverOptions options)
    : state_(std::make_unique<State>(store, std::move(options))) {
  state_->progress.bytes_per_second = state_->options.bytes_per_second;
  state_->thread = std::thread([state = state_.get()] { state->Run(); });
}

AsyncSaver::~AsyncSaver() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->quit = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

bool AsyncSaver::Save(Snapshot snapshot, WhenBusy when_busy) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  if (s.busy && when_busy == WhenBusy::kSkip) return false;
  s.changed.wait(lock, [&] { return !s.busy; });
  s.busy = true;
  s.step = snapshot.step;
  s.begin = SteadySeconds();
  s.progress.bytes_total = snapshot.bytes();
  s.progress.bytes_done = 0;
  s.progress.copy_seconds = 0;
  s.progress.write_seconds = 0;
  s.progress.cancel = false;
  s.waiting = std::move(snapshot);
  // Else the saver would wake only to wait for the lock.
  lock.unlock();
  s.changed.notify_all();
  return true;
}

bool AsyncSaver::busy() const {
  const std::lock_guard lock(state_->mutex);
  return state_->busy;
}

bool AsyncSaver::Wait(double seconds) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  const auto idle = [&] { return !s.busy; };
  // Longer than any wait that could matter, and within what the clock can count.
  constexpr double kMost = 1e8;
  if (seconds > kMost) {
    s.changed.wait(lock, idle);
    return true;
  }
  return s.changed.wait_for(lock, std::chrono::duration<double>(std::max(seconds, 0.0)), idle);
}

void AsyncSaver::Cancel() {
  const std::lock_guard lock(state_->mutex);
  if (state_->busy) state_->progress.cancel = true;
}

SaverStatus AsyncSaver::status() const {
  const State& s = *state_;
  const std::lock_guard lock(s.mutex);
  SaverStatus status;
  status.busy = s.busy;
  status.step = s.step;
  status.bytes_total = s.progress.bytes_total;
  status.bytes_done = s.progress.bytes_done;
  status.saves = s.saves;
  status.failures = s.failures;
  if (s.last && !s.last->ok) status.last_error = s.last->error;
  status.last = s.last;
  status.copy_seconds = s.copied;
  status.write_seconds = s.written;
  if (s.busy) {
    status.copy_seconds += s.progress.copy_seconds;
    status.write_seconds += s.progress.write_seconds;
  }
  double seconds = 0;
  int64_t bytes = 0;
  for (const SaveResult& save : s.recent) {
    seconds += save.write_seconds;
    bytes += save.bytes;
  }
  if (seconds > 0) status.bytes_per_second = static_cast<double>(bytes) / seconds;
  return status;
}

void AsyncSaver::SetBytesPerSecond(double limit) { state_->progress.bytes_per_second = limit; }

std::optional<double> AsyncSaver::EstimateSeconds(int64_t bytes, bool alone) const {
  const State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.recent.empty()) return std::nullopt;
  // The slowest, as if most of it were fixed costs when this one is smaller, and none when larger.
  double estimate = 0, rate = std::numeric_limits<double>::infinity();
  for (const SaveResult& save : s.recent) {
    const double full = State::FullSpeed(save);
    const double larger =
        static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(save.bytes, 1));
    estimate = std::max(estimate, full * std::max(1.0, larger));
    if (full > 0) rate = std::min(rate, static_cast<double>(save.bytes) / full);
  }
  if (s.busy && !alone) {
    const int64_t left = s.progress.bytes_total - s.progress.bytes_done;
    estimate += static_cast<double>(std::max<int64_t>(left, 0)) / rate;
  }
  return estimate;
}

}  // namespace flatout::checkpoint
