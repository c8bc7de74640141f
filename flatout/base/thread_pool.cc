#include "flatout/base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "flatout/base/error.h"

namespace flatout {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> queue;
  bool stopping = false;
  std::vector<std::thread> threads;

  void Work() {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return stopping || !queue.empty(); });
      if (stopping) return;
      std::function<void()> task = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      task();          // throws nothing: Submit and ParallelFor catch what their bodies throw
      task = nullptr;  // what it holds is freed outside the lock
      lock.lock();
    }
  }

  void Stop() noexcept {
    std::deque<std::function<void()>> dropped;
    {
      const std::lock_guard lock(mutex);
      stopping = true;
      dropped.swap(queue);
    }
    wake.notify_all();
    dropped.clear();  // breaks the promises first: a running task may be waiting for one of them
    for (std::thread& thread : threads) thread.join();
  }
};

ThreadPool::ThreadPool(int threads, const std::string& name) : state_(std::make_shared<State>()) {
  if (threads < 1) throw Internal("a thread pool of {} threads", threads);
  State* state = state_.get();
  try {
    for (int i = 0; i < threads; ++i) {
      state->threads.emplace_back([state] { state->Work(); });
      pthread_setname_np(state->threads.back().native_handle(), name.substr(0, 15).c_str());
    }
  } catch (const std::system_error& error) {
    state->Stop();
    throw UserError(Code::kResourceExhausted,
                    fmt::format("cannot start thread {} of {}: {} (raise the limit on processes: "
                                "ulimit -u, or the container's pids limit)",
                                state->threads.size() + 1, threads, error.code().message()));
  }
}

ThreadPool::~ThreadPool() { state_->Stop(); }

int ThreadPool::size() const { return static_cast<int>(state_->threads.size()); }

void ThreadPool::Post(std::function<void()> task) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->queue.push_back(std::move(task));
  }
  state_->wake.notify_one();
}

namespace {

// One ParallelFor: handed to helpers by shared_ptr, since a helper may begin after the call is over
// and must then find that nothing is left.
struct Loop {
  int64_t count = 0;
  const std::function<void(int64_t)>* body = nullptr;  // valid while an index is open
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::condition_variable finished;
  int64_t done = 0;
  std::exception_ptr error;

  void Run() {
    while (true) {
      const int64_t index = next.fetch_add(1);
      if (index >= count) return;
      std::exception_ptr caught;
      try {
        (*body)(index);
      } catch (...) {
        caught = std::current_exception();
      }
      int64_t closed = 1;
      if (caught) {
        // Takes all that nobody has begun, and counts it as done.
        const int64_t rest = next.exchange(count);
        if (rest < count) closed += count - rest;
      }
      const std::lock_guard lock(mutex);
      if (caught && !error) error = caught;
      done += closed;
      if (done == count) finished.notify_all();
    }
  }
};

}  // namespace

void ThreadPool::ParallelFor(int64_t count, const std::function<void(int64_t)>& body) {
  if (count <= 0) return;
  auto loop = std::make_shared<Loop>();
  loop->count = count;
  loop->body = &body;
  const int64_t helpers = std::min<int64_t>(size(), count - 1);
  for (int64_t i = 0; i < helpers; ++i) Post([loop] { loop->Run(); });
  loop->Run();
  std::unique_lock lock(loop->mutex);
  loop->finished.wait(lock, [&] { return loop->done == loop->count; });
  // Taken out, so that a helper that comes late does not free it on its thread.
  if (const std::exception_ptr error = std::exchange(loop->error, nullptr)) {
    std::rethrow_exception(error);
  }
}

}  // namespace flatout
