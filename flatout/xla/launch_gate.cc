#include <atomic>
#include <condition_variable>
#include <mutex>

#include "flatout/base/error.h"
#include "flatout/xla/pjrt.h"

namespace flatout::xla {

struct LaunchGate::State {
  std::mutex mutex;
  std::condition_variable changed;
  int depth = 0;
  int in_flight = 0;

  void Leave() {
    {
      std::lock_guard lock(mutex);
      --in_flight;
    }
    changed.notify_all();
  }
};

LaunchGate::LaunchGate(int depth) : state_(std::make_shared<State>()) {
  if (depth < 1) throw Invalid("a launch gate must let at least 1 launch in, found {}", depth);
  state_->depth = depth;
}

void LaunchGate::Enter() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->in_flight < state_->depth; });
  ++state_->in_flight;
}

void LaunchGate::Track(std::span<const Event> done) {
  if (done.empty()) {
    state_->Leave();
    return;
  }
  if (done.size() == 1) {
    done[0].OnReady([state = state_] { state->Leave(); });
    return;
  }
  auto left = std::make_shared<std::atomic<size_t>>(done.size());
  for (const Event& event : done) {
    event.OnReady([state = state_, left] {
      if (left->fetch_sub(1) == 1) state->Leave();
    });
  }
}

void LaunchGate::Drain() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->in_flight == 0; });
}

int LaunchGate::in_flight() const {
  std::lock_guard lock(state_->mutex);
  return state_->in_flight;
}

}  // namespace flatout::xla
