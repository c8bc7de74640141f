// StopRequest: somebody wants a run to end early and to keep what was done.
#pragma once

#include <atomic>
#include <limits>

#include "flatout/base/clock.h"

namespace flatout {

// Set by signal handlers, by threads that watch for notices, by tests; looked at by whoever works.
// All members are lock-free, so that a signal handler may use them.
struct StopRequest {
  std::atomic<bool> asked{false};
  // Who asked, for messages: "SIGTERM", "a preemption notice of Google Compute Engine". A string
  // that lives as long as the process.
  std::atomic<const char*> reason{"a request"};
  // SteadySeconds() at which the machine may be gone; infinity where nobody has said.
  std::atomic<double> deadline{std::numeric_limits<double>::infinity()};
  // SteadySeconds() at which it was asked; 0: not yet.
  std::atomic<double> asked_at{0};
  // While true, ending the process on the spot would lose nothing: the run has not begun, or it is
  // over. Whoever asks then need not wait for somebody to look.
  std::atomic<bool> nothing_to_lose{false};

  // The first one counts.
  void Ask(const char* why, double until = std::numeric_limits<double>::infinity()) {
    if (asked.load()) return;
    reason.store(why);
    deadline.store(until);
    asked_at.store(SteadySeconds());
    asked.store(true);
  }
};
static_assert(std::atomic<const char*>::is_always_lock_free &&
              std::atomic<double>::is_always_lock_free);

}  // namespace flatout
