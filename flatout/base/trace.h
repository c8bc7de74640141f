// Spans of time, thread by thread, for `flatout profile`: who did what from when to when.
//
//   trace::Start();
//   { const trace::Span span("decode"); ... }          // on any thread
//   trace::Add("device 0", "compute", begin, end);     // of something that is no thread
//   const trace::Recording recording = trace::Stop();
//
// Nothing is recorded unless somebody asked for it: then a Span costs one load of an atomic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/clock.h"

namespace flatout::trace {

struct Event {
  std::string name;
  double begin = 0, end = 0;  // SteadySeconds
};

// What one thread, or one thing with a name, did.
struct Track {
  std::string name;           // "training thread", "input 1", "device 0"
  std::vector<Event> events;  // in the order in which they ended
  int64_t lost = 0;           // events beyond the most that are kept
};

struct Recording {
  double begin = 0, end = 0;
  std::vector<Track> tracks;  // those with events, by name
};

namespace internal {
extern std::atomic<bool> recording;
void AddHere(std::string_view name, double begin, double end);
}  // namespace internal

inline bool On() { return internal::recording.load(std::memory_order_relaxed); }

// Begins a recording, of at most so many events on each track. One at a time: starting another
// drops what was recorded.
void Start(size_t most_events = size_t{1} << 18);
// Ends it and returns it. What is under way now is left out; what began before Start begins there.
Recording Stop();

// The name of this thread's track from now on; before, that which the system knows it by.
void NameThread(std::string_view name);

// Something that this thread did; and something on a track of that name, from any thread.
inline void AddHere(std::string_view name, double begin, double end) {
  if (On()) internal::AddHere(name, begin, end);
}
void Add(std::string_view track, std::string_view name, double begin, double end);

// What this thread does as long as the span lives. `name` must live as long.
class Span {
 public:
  explicit Span(std::string_view name) : name_(name), begin_(On() ? SteadySeconds() : -1) {}
  ~Span() {
    if (begin_ >= 0) AddHere(name_, begin_, SteadySeconds());
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  std::string_view name_;
  double begin_;
};

// Chrome's trace format, which Perfetto (ui.perfetto.dev) and chrome://tracing show: JSON, times in
// microseconds since the recording began.
std::string ToChromeTrace(const Recording& recording, std::string_view process);

}  // namespace flatout::trace
