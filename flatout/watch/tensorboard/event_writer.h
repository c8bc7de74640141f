// EventWriter: event files that a thread of its own writes, so that training never waits for a
// disk.
//
// A folder holds one run; TensorBoard shows folders below it as runs "run/train" and so on. Each
// file is a TFRecord file of events (event.h), appended to with single writes as events come, so
// that a process killed at any point leaves a file that reads to its last whole event.
//
// Whatever goes wrong (no permission, a full disk, an I/O error) is told once and ends nothing:
// what could not be written is left out, and the file stays readable. After a full disk events are
// written again as soon as there is room.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace flatout::watch::tensorboard {

// A record of a TFRecord file: length, its masked CRC-32C, the data, theirs.
std::string FrameRecord(std::string_view data);

// Where the bytes go; tests put a disk in its place that fails.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Appends all of `bytes`, or nothing: what was written in part is taken back. Returns an errno; 0
  // when all is well.
  virtual int Append(std::string_view bytes) = 0;
  // Whether a failure left half an event behind: nothing can be appended to it any more.
  virtual bool broken() const = 0;
};
// Makes the file at `path`, which must not exist; sets `error` to an errno and returns nullptr
// where it cannot.
using OpenSink = std::function<std::unique_ptr<EventSink>(const std::string& path, int& error)>;
std::unique_ptr<EventSink> OpenEventFile(const std::string& path, int& error);

// What a resumed run keeps of the events of earlier sessions: those of steps up to `step`; of tags
// that count in epochs (event files of Keras's callback have both), those of epochs before
// `epochs`.
struct Keep {
  int64_t step = 0;
  int64_t epochs = 0;
};
// Whether the steps of a tag's events are epochs, counted from 0: "epoch_loss", and the histograms
// of weights, "dense/kernel/histogram".
bool CountsEpochs(std::string_view tag);
// Leaves out of the event files in `folder` what `keep` does not keep, what a session writes anew
// (hyperparameters, the graph), and half events at a file's end. Files are replaced whole: at every
// instant the old or the new one is there. Returns how many events were left out. Throws UserError.
int64_t TrimEvents(const std::string& folder, const Keep& keep);
// Removes the event files in `folder`; where there are none, or no folder, that is no error.
void RemoveEvents(const std::string& folder);

struct EventWriterOptions {
  // Events wait that long for more, at most. What has been written when a process is killed stays:
  // a run that goes on from a snapshot should find the events up to it.
  double flush_seconds = 0;
  size_t queue_bytes = size_t{64} << 20;  // of events that are waiting; more are left out
  OpenSink open = OpenEventFile;
};

class EventWriter {
 public:
  // `folder`: of the run. Nothing is made before the first event.
  explicit EventWriter(std::string folder, EventWriterOptions options = {});
  // Writes what is waiting.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // An encoded event for the file of `run` ("train"; "": of the folder itself). Thread-safe, never
  // waits for the disk.
  void Write(const std::string& run, std::string event);
  // Has the thread call `make`, whose work is too much for the caller, in order with the events; it
  // may call Write. An Error that it throws is told like those of the disk. `bytes`: of memory that
  // it holds.
  void Post(std::function<void()> make, size_t bytes = 0);
  // Waits until all of that has been written, or could not be.
  void Flush();

  // What went wrong first, as it was told; empty: nothing.
  std::string trouble() const;
  // Events that could not be written, or found no room to wait.
  int64_t lost() const;

 private:
  struct Item {
    std::string run, event;
    std::function<void()> make;
    size_t bytes = 0;
  };
  struct File {
    std::unique_ptr<EventSink> sink;
    std::string path;
    bool hopeless = false;  // no file can be made
  };

  void Run();
  void WriteAll(std::map<std::string, std::pair<std::string, int64_t>>& pending);
  void Append(const std::string& run, const std::string& bytes, int64_t events);
  bool Open(const std::string& run, File& file);
  void Tell(const std::string& what);

  const std::string folder_;
  const EventWriterOptions options_;
  std::map<std::string, File> files_;  // of the thread
  int64_t numbered_ = 0;               // files made

  mutable std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::vector<Item> queue_;
  size_t queued_ = 0;  // bytes, those being written included
  bool busy_ = false, flush_ = false, stop_ = false;
  std::string trouble_;
  int64_t lost_ = 0;
  std::thread thread_;  // last
};

}  // namespace flatout::watch::tensorboard
