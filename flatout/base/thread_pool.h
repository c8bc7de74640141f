// ThreadPool: a fixed number of threads that run tasks in the order in which they came.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace flatout {

class ThreadPool {
 public:
  // `threads` at least 1. `name` shows in debuggers and in top -H (15 characters of it).
  explicit ThreadPool(int threads, const std::string& name = "flatout");
  // Finishes what is running, drops what has not begun (its futures report a broken promise),
  // joins. Never throws.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Runs `task` on a thread of the pool. What it throws reaches whoever calls get() on the future.
  template <typename Task>
  std::future<std::invoke_result_t<Task>> Submit(Task task) {
    // std::function wants copyable tasks; a packaged_task only moves.
    auto packaged =
        std::make_shared<std::packaged_task<std::invoke_result_t<Task>()>>(std::move(task));
    auto future = packaged->get_future();
    Post([packaged] { (*packaged)(); });
    return future;
  }

  // Runs body(i) for every i in [0, count), on the pool's threads and the caller's, and returns
  // when all are done. If bodies throw, no new ones begin and the first exception is thrown here.
  // May be called from inside a task: the caller works on its own indices, so it cannot wait for
  // itself.
  void ParallelFor(int64_t count, const std::function<void(int64_t)>& body);

 private:
  struct State;
  void Post(std::function<void()> task);

  std::shared_ptr<State> state_;
};

}  // namespace flatout
