// Time that never jumps, for measuring.
#pragma once

#include <chrono>

namespace flatout {

// Seconds on a clock that runs steadily, from an arbitrary start. For differences only.
inline double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Counts from when it was made or restarted.
class Stopwatch {
 public:
  double Seconds() const { return SteadySeconds() - start_; }
  void Restart() { start_ = SteadySeconds(); }

 private:
  double start_ = SteadySeconds();
};

}  // namespace flatout
