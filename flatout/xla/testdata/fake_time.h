// The time that the cards of the fake CUDA plugin take, as told by the environment, so that tests
// can slow one thing by a known amount. Everything is in milliseconds; a list gives one value for
// each device, the last holds for those that follow. Read at every call, so that one process can
// play several machines one after the other.
//   FAKE_CUDA_STEP_MS=12,18     a training step on the device (a launch takes that times its steps)
//   FAKE_CUDA_EVALUATE_MS=5     a launch of any other program with an argument that counts steps
//   FAKE_CUDA_LAUNCH_MS=2       the call that launches a training program, on the host
//   FAKE_CUDA_COPY_MS_PER_MB=8  sending to the device, one copy after the other
//   FAKE_CUDA_READ_MS=40        reading back anything larger than 1 KiB
//   FAKE_CUDA_COMPILE_MS=500    compiling a program
// What is played is when events are over; the work itself is done on the CPU, as fast as that goes.
#pragma once

#include <pjrt_c_api.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fake_time {

using Clock = std::chrono::steady_clock;
using Moment = Clock::time_point;

inline Clock::duration Milliseconds(const char* name, size_t device = 0) {
  const char* text = std::getenv(name);
  double value = 0;
  for (size_t i = 0; text != nullptr && *text != 0 && i <= device; ++i) {
    char* end = nullptr;
    value = std::strtod(text, &end);
    if (*end != ',') break;
    text = end + 1;
  }
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(value));
}

// An event of the real plugin that is not over before a moment.
struct LateEvent {
  const PJRT_Api* real;
  PJRT_Event* inner;
  Moment at;
  std::vector<std::pair<PJRT_Event_OnReadyCallback, void*>> callbacks;

  LateEvent(const PJRT_Api* api, PJRT_Event* event, Moment moment)
      : real(api), inner(event), at(moment) {}
  ~LateEvent() {
    PJRT_Event_Destroy_Args args{};
    args.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE;
    args.event = inner;
    real->PJRT_Event_Destroy(&args);
  }
  PJRT_Error* CallWhenOver(PJRT_Event_OnReadyCallback callback, void* user) const {
    PJRT_Event_OnReady_Args args{};
    args.struct_size = PJRT_Event_OnReady_Args_STRUCT_SIZE;
    args.event = inner;
    args.callback = callback;
    args.user_arg = user;
    return real->PJRT_Event_OnReady(&args);
  }
};

// All late events, and the thread on which their callbacks come. Never destroyed: plugins stay.
class Events {
 public:
  static Events& Get() {
    static auto& events = *new Events;
    return events;
  }
  // Takes over `event`; the caller gets what is to be given out in its place.
  PJRT_Event* Delay(const PJRT_Api* real, PJRT_Event* event, Moment at) {
    if (event == nullptr || at <= Clock::now()) return event;
    auto late = std::make_shared<LateEvent>(real, event, at);
    auto* handle = reinterpret_cast<PJRT_Event*>(late.get());
    const std::lock_guard lock(mutex_);
    events_[handle] = std::move(late);
    return handle;
  }
  std::shared_ptr<LateEvent> Find(const PJRT_Event* event) {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(event);
    return found == events_.end() ? nullptr : found->second;
  }
  void Forget(const PJRT_Event* event) {
    std::shared_ptr<LateEvent> last;  // dies outside of the lock
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(event);
    last = std::move(found->second);
    events_.erase(found);
  }
  PJRT_Error* OnReady(const std::shared_ptr<LateEvent>& event, PJRT_Event_OnReadyCallback callback,
                      void* user) {
    std::unique_lock lock(mutex_);
    if (event->at <= Clock::now()) {
      lock.unlock();
      return event->CallWhenOver(callback, user);
    }
    if (event->callbacks.empty()) queue_.emplace(event->at, event);
    event->callbacks.emplace_back(callback, user);
    wake_.notify_all();
    return nullptr;
  }

 private:
  Events() : thread_([this] { Run(); }) { thread_.detach(); }

  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (queue_.empty()) {
        wake_.wait(lock);
        continue;
      }
      if (const Moment at = queue_.begin()->first; at > Clock::now()) {
        wake_.wait_until(lock, at);
        continue;
      }
      const std::shared_ptr<LateEvent> event = queue_.begin()->second;
      queue_.erase(queue_.begin());
      const auto callbacks = std::exchange(event->callbacks, {});
      lock.unlock();
      for (const auto& [callback, user] : callbacks) event->CallWhenOver(callback, user);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<const PJRT_Event*, std::shared_ptr<LateEvent>> events_;
  std::multimap<Moment, std::shared_ptr<LateEvent>> queue_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace fake_time
