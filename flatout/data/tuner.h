// Tuner: how many workers an engine should have and how many items may wait, from what is measured.
//
// Two questions, asked about ten times a second:
//   - Does the consumer wait? Then more workers may help. How many depends on what the workers do:
//   as
//     long as they wait for a disk themselves (they neither compute nor wait for a core) more of
//     them than cores are worth trying. A change is kept only if more records arrive
//     afterwards; one that does not help is taken back and not tried again for a while, for longer
//     each time.
//   - Do workers stand idle because enough is waiting? Then one fewer does, which leaves the core
//   to
//     the step.
// The depth grows when the consumer had to wait although the queue had been full just before: the
// items' times vary, and a longer queue evens that out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flatout::data {

class Tuner {
 public:
  static constexpr int kMostDepth = 64;

  struct Limits {
    int cores = 1;  // usable by this process
    int max_workers = 4;
    int fixed_workers = 0, fixed_depth = 0;  // 0: tuned
  };
  struct Setting {
    int workers = 1;
    int depth = 2;
    std::string reason;  // "workers 2 -> 3: the step waited 40 % of the time"
  };
  // Totals since the start, except most_depth.
  struct Measured {
    double seconds = 0;  // the time now
    int64_t items = 0, records = 0;
    double wait = 0, busy = 0, cpu = 0, queued = 0, full = 0;  // as EngineStats
    int most_depth = kMostDepth;                               // that the memory budget allows
  };

  static Setting Start(const Limits& limits);
  explicit Tuner(const Limits& limits);
  // A new setting, or nothing to change.
  std::optional<Setting> Observe(const Measured& now);

 private:
  std::optional<Setting> Decide(const Measured& now);
  Setting Change(int workers, int depth, std::string why);

  Limits limits_;
  Setting current_;
  std::optional<Measured> last_;  // at the beginning of the interval
  // A change on trial: what there was before it, and how fast.
  struct Trial {
    Setting before;
    double rate;  // records per second before
  };
  std::optional<Trial> trial_;
  int settle_ = 0;         // intervals that still belong to the change before
  double hold_until_ = 0;  // no further worker before that time
  double hold_seconds_ = 0;
  int idle_intervals_ = 0;  // in a row in which a worker's worth of time was idle
};

}  // namespace flatout::data
