#include "flatout/watch/tensorboard/event_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/watch/tensorboard/event.h"

namespace flatout::watch::tensorboard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr size_t kHeader = 12, kFooter = 4;

void AppendNumber(std::string& text, uint64_t value, size_t bytes) {
  char raw[sizeof(value)];
  std::memcpy(raw, &value, sizeof(value));  // little-endian, as on x86_64
  text.append(raw, bytes);
}

uint64_t Number(const char* from, size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

double WallTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A file of the system.
class FileSink : public EventSink {
 public:
  explicit FileSink(int file) : file_(file) {}
  ~FileSink() override { close(file_); }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  int Append(std::string_view bytes) override {
    size_t written = 0;
    while (written < bytes.size()) {
      const ssize_t got = write(file_, bytes.data() + written, bytes.size() - written);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        const int error = got < 0 ? errno : EIO;
        if (written > 0 && ftruncate(file_, size_) != 0) broken_ = true;
        return error;
      }
      written += static_cast<size_t>(got);
    }
    size_ += static_cast<off_t>(bytes.size());
    return 0;
  }
  bool broken() const override { return broken_; }

 private:
  int file_;
  off_t size_ = 0;
  bool broken_ = false;
};

// The event files in a folder, in the order in which TensorBoard reads them.
std::vector<std::string> EventFiles(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    if (ignored) break;
    std::string name = at->path().filename().string();
    if (name.starts_with(kPrefix)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Reads a file's records one after the other.
class Records {
 public:
  explicit Records(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rbe")) {
    if (file_ == nullptr) {
      throw UserError(Code::kUnavailable, SystemMessage("read", path, errno));
    }
  }
  ~Records() { std::fclose(file_); }
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  // The next whole record, as it is in the file; false at the end, and where the rest is broken.
  bool Next(std::string& framed) {
    char header[kHeader];
    const size_t got = std::fread(header, 1, kHeader, file_);
    if (got == 0 && std::feof(file_) != 0) return false;
    broken_ = true;
    if (got != kHeader || MaskedCrc32c({header, 8}) != Number(header + 8, 4)) return Fail();
    const uint64_t size = Number(header, 8);
    framed.assign(header, kHeader);
    // Nobody believes a length before that much has been read.
    constexpr uint64_t kPiece = uint64_t{1} << 20;
    for (uint64_t left = size + kFooter; left > 0;) {
      const auto piece = static_cast<size_t>(std::min(left, kPiece));
      const size_t begin = framed.size();
      framed.resize(begin + piece);
      if (std::fread(framed.data() + begin, 1, piece, file_) != piece) return Fail();
      left -= piece;
    }
    if (MaskedCrc32c(Data(framed)) != Number(framed.data() + kHeader + size, 4)) return Fail();
    broken_ = false;
    return true;
  }
  // Whether what ended the records was no end of the file.
  bool broken() const { return broken_; }

  static std::string_view Data(std::string_view framed) {
    return framed.substr(kHeader, framed.size() - kHeader - kFooter);
  }

 private:
  bool Fail() const {
    if (std::ferror(file_) != 0) {
      throw UserError(Code::kUnavailable, SystemMessage("read", path_, errno));
    }
    return false;
  }

  const std::string path_;
  std::FILE* file_;
  bool broken_ = false;
};

// Whether the event stays in the file of a run that goes on.
bool Stays(std::string_view data, const Keep& keep) {
  const ReadEvent event = DecodeEvent(data);
  if (event.graph) return false;
  for (const std::string& tag : event.tags) {
    if (tag.starts_with("_hparams_/")) return false;
    if (CountsEpochs(tag) ? event.step >= keep.epochs : event.step > keep.step) return false;
  }
  return true;
}

// Replaces one file; returns how many events were left out.
int64_t TrimFile(const std::string& path, const Keep& keep) {
  Records records(path);
  std::string framed, kept;
  int64_t left_out = 0;
  bool changed = false;
  // Event files are some megabytes; what stays is held in memory until it is written.
  while (records.Next(framed)) {
    bool stays = false;
    try {
      stays = Stays(Records::Data(framed), keep);
    } catch (const DataError&) {
      // Its checksums fit, but it is no event: nobody can read it.
    }
    if (stays) {
      kept += framed;
    } else {
      ++left_out;
      changed = true;
    }
  }
  if (!changed && !records.broken()) return 0;
  AtomicWriteFile(path, kept);
  return left_out;
}

}  // namespace

std::string FrameRecord(std::string_view data) {
  std::string framed;
  framed.reserve(data.size() + kHeader + kFooter);
  AppendNumber(framed, data.size(), 8);
  AppendNumber(framed, MaskedCrc32c(framed), 4);
  framed += data;
  AppendNumber(framed, MaskedCrc32c(data), 4);
  return framed;
}

std::unique_ptr<EventSink> OpenEventFile(const std::string& path, int& error) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    error = errno;
    return nullptr;
  }
  return std::make_unique<FileSink>(file);
}

bool CountsEpochs(std::string_view tag) {
  return tag.starts_with("epoch_") || tag.ends_with("/histogram");
}

int64_t TrimEvents(const std::string& folder, const Keep& keep) {
  int64_t left_out = 0;
  for (const std::string& name : EventFiles(folder)) {
    left_out += TrimFile(folder + "/" + name, keep);
  }
  return left_out;
}

void RemoveEvents(const std::string& folder) {
  for (const std::string& name : EventFiles(folder)) {
    std::error_code ignored;
    fs::remove(folder + "/" + name, ignored);
  }
}

EventWriter::EventWriter(std::string folder, EventWriterOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {
  thread_ = std::thread([this] { Run(); });
}

EventWriter::~EventWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void EventWriter::Write(const std::string& run, std::string event) {
  const size_t bytes = event.size() + kHeader + kFooter;
  std::string message;
  {
    const std::lock_guard lock(mutex_);
    if (queued_ + bytes > options_.queue_bytes) {
      ++lost_;
      message = fmt::format("TensorBoard: {} of events wait for {}, which takes them too slowly",
                            options_.queue_bytes, folder_);
    } else {
      queued_ += bytes;
      queue_.push_back({.run = run, .event = std::move(event), .make = {}, .bytes = bytes});
    }
  }
  if (!message.empty()) Tell(message);
  changed_.notify_all();
}

void EventWriter::Post(std::function<void()> make, size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    queued_ += bytes;
    queue_.push_back({.run = {}, .event = {}, .make = std::move(make), .bytes = bytes});
  }
  changed_.notify_all();
}

void EventWriter::Flush() {
  std::unique_lock lock(mutex_);
  flush_ = true;
  changed_.notify_all();
  idle_.wait(lock, [this] { return queue_.empty() && !busy_; });
  flush_ = false;
}

std::string EventWriter::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

int64_t EventWriter::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

void EventWriter::Tell(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (!trouble_.empty()) return;
    trouble_ = what;
  }
  LogWarning("{}; training goes on", what);
}

void EventWriter::Run() {
  pthread_setname_np(pthread_self(), "tensorboard");
  const auto pause = std::chrono::duration<double>(options_.flush_seconds);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !queue_.empty() || stop_; });
    if (queue_.empty() && stop_) return;
    // More may come that can go with it.
    changed_.wait_for(lock, pause, [this] { return stop_ || flush_; });
    std::vector<Item> items = std::exchange(queue_, {});
    busy_ = true;
    lock.unlock();
    size_t done = 0;
    std::map<std::string, std::pair<std::string, int64_t>> pending;  // by run: bytes and events
    for (Item& item : items) {
      done += item.bytes;
      if (item.make) {
        WriteAll(pending);
        try {
          item.make();
        } catch (const Error& error) {
          Tell(fmt::format("TensorBoard: {}", error.what()));
        } catch (const std::bad_alloc&) {
          Tell("TensorBoard: no memory for events");
        }
        item.make = {};
        continue;
      }
      auto& [bytes, events] = pending[item.run];
      bytes += FrameRecord(item.event);
      ++events;
    }
    WriteAll(pending);
    lock.lock();
    queued_ -= done;
    busy_ = false;
    if (queue_.empty()) idle_.notify_all();
  }
}

void EventWriter::WriteAll(std::map<std::string, std::pair<std::string, int64_t>>& pending) {
  for (const auto& [run, what] : pending) Append(run, what.first, what.second);
  pending.clear();
}

void EventWriter::Append(const std::string& run, const std::string& bytes, int64_t events) {
  File& file = files_[run];
  if (file.sink != nullptr && file.sink->broken()) file.sink = nullptr;
  int error = 0;
  if (file.sink != nullptr || Open(run, file)) {
    error = file.sink->Append(bytes);
    if (error == 0) return;
    Tell(fmt::format("TensorBoard: {}", SystemMessage("write", file.path, error)));
  }
  const std::lock_guard lock(mutex_);
  lost_ += events;
}

bool EventWriter::Open(const std::string& run, File& file) {
  if (file.hopeless) return false;
  const std::string folder = run.empty() ? folder_ : folder_ + "/" + run;
  try {
    MakeDirs(folder);
  } catch (const Error& error) {
    file.hopeless = true;
    Tell(fmt::format("TensorBoard: {}", error.what()));
    return false;
  }
  const double now = WallTime();
  auto seconds = static_cast<int64_t>(now);
  // TensorBoard reads files by name and never goes back to one before: ours must be the last, also
  // where the clock has gone backwards.
  for (const std::string& name : EventFiles(folder)) {
    const int64_t other = std::atoll(name.c_str() + kPrefix.size());
    seconds = std::max(seconds, other + 1);
  }
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == 0) host = {"localhost"};
  file.path = fmt::format("{}/{}{:010d}.{}.{}.{}.v2", folder, kPrefix, seconds, host.data(),
                          getpid(), numbered_++);
  int error = 0;
  file.sink = options_.open(file.path, error);
  if (file.sink != nullptr) {
    error = file.sink->Append(FrameRecord(Event::FileVersion(now)));
    if (error == 0) return true;
    // An empty file is no event file: the next try makes another.
    file.sink = nullptr;
    unlink(file.path.c_str());
    if (error != ENOSPC && error != EDQUOT && error != EFBIG) file.hopeless = true;
  } else {
    file.hopeless = error != ENOSPC && error != EDQUOT && error != EMFILE && error != ENFILE;
  }
  Tell(fmt::format("TensorBoard: {}", SystemMessage("write", file.path, error)));
  return false;
}

}  // namespace flatout::watch::tensorboard
