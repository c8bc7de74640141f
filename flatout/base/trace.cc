#include "flatout/base/trace.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace flatout::trace {

namespace internal {
std::atomic<bool> recording{false};
}  // namespace internal

namespace {

// One track as it is recorded. Threads lock their own, which nobody else wants meanwhile.
struct Buffer {
  std::mutex mutex;
  Track track;
};

struct Recorder {
  std::mutex mutex;
  double begin = 0;
  std::atomic<size_t> most{0};
  std::vector<std::shared_ptr<Buffer>> threads;
  std::map<std::string, std::shared_ptr<Buffer>, std::less<>> named;
};

Recorder& TheRecorder() {
  static auto* recorder = new Recorder;  // never ends: threads may outlive everything static
  return *recorder;
}

struct ThisThread {
  std::shared_ptr<Buffer> buffer;
  std::string name;
};
thread_local ThisThread this_thread;

Buffer& BufferOfThisThread() {
  if (this_thread.buffer == nullptr) {
    auto buffer = std::make_shared<Buffer>();
    std::array<char, 32> system = {};
    if (this_thread.name.empty() &&
        pthread_getname_np(pthread_self(), system.data(), system.size()) == 0) {
      this_thread.name = system.data();
    }
    buffer->track.name = this_thread.name;
    Recorder& recorder = TheRecorder();
    const std::lock_guard lock(recorder.mutex);
    recorder.threads.push_back(buffer);
    this_thread.buffer = std::move(buffer);
  }
  return *this_thread.buffer;
}

void AddTo(Buffer& buffer, std::string_view name, double begin, double end) {
  Recorder& recorder = TheRecorder();
  const std::lock_guard lock(buffer.mutex);
  if (!On()) return;
  if (buffer.track.events.size() >= recorder.most.load(std::memory_order_relaxed)) {
    ++buffer.track.lost;
    return;
  }
  buffer.track.events.push_back({std::string(name), begin, end});
}

// With the recorder's mutex held.
void Clear(Recorder& recorder) {
  recorder.named.clear();
  // Threads that have ended leave nothing behind.
  std::erase_if(recorder.threads, [](const auto& buffer) { return buffer.use_count() == 1; });
  for (const std::shared_ptr<Buffer>& buffer : recorder.threads) {
    const std::lock_guard lock(buffer->mutex);
    buffer->track.events.clear();
    buffer->track.lost = 0;
  }
}

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

void internal::AddHere(std::string_view name, double begin, double end) {
  AddTo(BufferOfThisThread(), name, begin, end);
}

void Start(size_t most_events) {
  Recorder& recorder = TheRecorder();
  const std::lock_guard lock(recorder.mutex);
  internal::recording = false;
  Clear(recorder);
  recorder.most = most_events;
  recorder.begin = SteadySeconds();
  internal::recording = true;
}

Recording Stop() {
  Recorder& recorder = TheRecorder();
  const std::lock_guard lock(recorder.mutex);
  internal::recording = false;
  Recording recording;
  recording.begin = recorder.begin;
  recording.end = SteadySeconds();
  const auto take = [&](Buffer& buffer) {
    const std::lock_guard own(buffer.mutex);
    if (buffer.track.events.empty()) return;
    Track& track = recording.tracks.emplace_back(buffer.track);
    for (Event& event : track.events) {
      event.begin = std::max(event.begin, recording.begin);
      event.end = std::max(event.end, event.begin);
    }
  };
  for (const auto& [name, buffer] : recorder.named) take(*buffer);
  for (const std::shared_ptr<Buffer>& buffer : recorder.threads) take(*buffer);
  Clear(recorder);
  std::stable_sort(recording.tracks.begin(), recording.tracks.end(),
                   [](const Track& a, const Track& b) { return a.name < b.name; });
  return recording;
}

void NameThread(std::string_view name) {
  this_thread.name = name;
  if (this_thread.buffer == nullptr) return;
  const std::lock_guard lock(this_thread.buffer->mutex);
  this_thread.buffer->track.name = name;
}

void Add(std::string_view track, std::string_view name, double begin, double end) {
  if (!On()) return;
  Recorder& recorder = TheRecorder();
  std::shared_ptr<Buffer> buffer;
  {
    const std::lock_guard lock(recorder.mutex);
    const auto found = recorder.named.find(track);
    if (found != recorder.named.end()) {
      buffer = found->second;
    } else {
      buffer = std::make_shared<Buffer>();
      buffer->track.name = track;
      recorder.named.emplace(track, buffer);
    }
  }
  AddTo(*buffer, name, begin, end);
}

std::string ToChromeTrace(const Recording& recording, std::string_view process) {
  std::string text = fmt::format(
      "{{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
      "{{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {{\"name\": "
      "\"{}\"}}}}",
      Escape(process));
  for (size_t i = 0; i < recording.tracks.size(); ++i) {
    const Track& track = recording.tracks[i];
    text += fmt::format(
        ",\n{{\"ph\": \"M\", \"pid\": 1, \"tid\": {}, \"name\": \"thread_name\", \"args\": "
        "{{\"name\": \"{}\"}}}}",
        i + 1, Escape(track.name));
    // Tracks stand in the order of their numbers.
    text += fmt::format(
        ",\n{{\"ph\": \"M\", \"pid\": 1, \"tid\": {}, \"name\": \"thread_sort_index\", \"args\": "
        "{{\"sort_index\": {}}}}}",
        i + 1, i + 1);
    for (const Event& event : track.events) {
      text += fmt::format(
          ",\n{{\"ph\": \"X\", \"pid\": 1, \"tid\": {}, \"name\": \"{}\", \"ts\": {:.3f}, "
          "\"dur\": {:.3f}}}",
          i + 1, Escape(event.name), 1e6 * (event.begin - recording.begin),
          1e6 * (event.end - event.begin));
    }
  }
  return text + "\n]}\n";
}

}  // namespace flatout::trace
