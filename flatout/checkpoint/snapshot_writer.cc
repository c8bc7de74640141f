#include "flatout/checkpoint/snapshot_writer.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/checkpoint/manifest.h"
#include "flatout/checkpoint/safetensors_header.h"

namespace flatout::checkpoint {
namespace {

constexpr size_t kPageBytes = 4096;
// How often a throttled write looks whether the limit was lifted.
constexpr double kLookSeconds = 0.02;

struct Free {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Buffer = std::unique_ptr<std::byte, Free>;

Buffer NewBuffer(size_t bytes) {
  // Page-aligned: the kernel copies whole pages.
  const size_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, rounded)));
  if (buffer == nullptr) throw std::bad_alloc();
  return buffer;
}

// Up to kPieceBytes of one file.
struct Piece {
  Buffer buffer;
  size_t bytes = 0;
  size_t file = 0;
  uint32_t crc = 0;
  bool last = false;  // of its file

  std::span<const std::byte> data() const { return {buffer.get(), bytes}; }
};

std::string_view Chars(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file's bytes, as they are to be.
struct FilePlan {
  std::string name;
  int64_t bytes = 0;
  std::string head;  // of a safetensors file: its header; else all of it
  std::vector<TensorSource> tensors;
};

std::vector<FilePlan> PlanFiles(Snapshot& snapshot) {
  std::vector<FilePlan> plans;
  for (TensorGroup& group : snapshot.groups) {
    FilePlan& plan = plans.emplace_back();
    plan.name = group.name + kTensorSuffix;
    SafetensorsHeader header{.tensors = {}, .metadata = std::move(group.metadata)};
    for (const TensorSource& tensor : group.tensors) {
      header.tensors.push_back({.name = tensor.name, .shape = tensor.shape});
      plan.bytes += tensor.shape.bytes();
    }
    plan.head = WriteSafetensorsHeader(header);
    plan.bytes += static_cast<int64_t>(plan.head.size());
    plan.tensors = std::move(group.tensors);
  }
  FilePlan& state = plans.emplace_back();
  state.name = kStateFile;
  state.head = std::move(snapshot.state);
  state.bytes = static_cast<int64_t>(state.head.size());
  return plans;
}

// Cuts the planned files into pieces, one after the other.
class Copier {
 public:
  Copier(std::vector<FilePlan>& plans, WriteProgress& progress)
      : plans_(plans), progress_(progress) {}

  // Fills `piece`, whose buffer holds kPieceBytes or its file's bytes; false when all is done.
  bool Next(Piece& piece) {
    if (file_ == plans_.size()) return false;
    FilePlan& plan = plans_[file_];
    const auto size = static_cast<size_t>(std::min<int64_t>(kPieceBytes, plan.bytes - at_));
    const std::span<std::byte> to(piece.buffer.get(), size);
    size_t filled = 0;
    while (filled < size) {
      if (head_ < plan.head.size()) {
        const size_t take = std::min(size - filled, plan.head.size() - head_);
        std::memcpy(to.data() + filled, plan.head.data() + head_, take);
        head_ += take;
        filled += take;
        continue;
      }
      TensorSource& tensor = plan.tensors[tensor_];
      const int64_t left = tensor.shape.bytes() - tensor_at_;
      const auto take = static_cast<size_t>(std::min(left, static_cast<int64_t>(size - filled)));
      if (take > 0) {
        const Stopwatch clock;
        tensor.read(tensor_at_, to.subspan(filled, take));
        progress_.copy_seconds += clock.Seconds();
        filled += take;
        tensor_at_ += static_cast<int64_t>(take);
      }
      if (tensor_at_ == tensor.shape.bytes()) {
        tensor.read = nullptr;  // and with it the memory it held
        ++tensor_;
        tensor_at_ = 0;
      }
    }
    piece.bytes = size;
    piece.file = file_;
    piece.crc = Crc32c(Chars(to));
    at_ += static_cast<int64_t>(size);
    piece.last = at_ == plan.bytes;
    if (piece.last) {
      plan.tensors.clear();
      ++file_;
      at_ = tensor_at_ = 0;
      head_ = tensor_ = 0;
    }
    return true;
  }

 private:
  std::vector<FilePlan>& plans_;
  WriteProgress& progress_;
  size_t file_ = 0;
  int64_t at_ = 0;  // bytes of the file cut off so far
  size_t head_ = 0;
  size_t tensor_ = 0;
  int64_t tensor_at_ = 0;
};

// Pieces that one thread fills while another writes.
class Pipeline {
 public:
  Pipeline(Copier& copier, size_t buffers) : copier_(copier) {
    for (size_t i = 0; i < buffers; ++i) free_.emplace_back();
    thread_ = std::thread([this] { Fill(); });
  }
  ~Pipeline() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // The next piece; nothing after the last. Throws what the copier threw.
  std::optional<Piece> Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !full_.empty() || ended_; });
    if (full_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return std::nullopt;
    }
    Piece piece = std::move(full_.front());
    full_.pop_front();
    return piece;
  }
  void GiveBack(Piece piece) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(piece.buffer));
    }
    changed_.notify_all();
  }

 private:
  void Fill() {
    try {
      while (true) {
        Piece piece;
        {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return !free_.empty() || stop_; });
          if (stop_) break;
          // What was used last is still in the processor's cache.
          piece.buffer = std::move(free_.back());
          free_.pop_back();
        }
        if (piece.buffer == nullptr) piece.buffer = NewBuffer(kPieceBytes);
        const bool filled = copier_.Next(piece);
        const std::lock_guard lock(mutex_);
        if (!filled) break;
        full_.push_back(std::move(piece));
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  Copier& copier_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Buffer> free_;  // empty ones are yet to be made
  std::deque<Piece> full_;
  bool stop_ = false, ended_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

void ThrowIfCancelled(const WriteProgress& progress) {
  if (progress.cancel) throw UserError(Code::kCancelled, "the snapshot was given up");
}

// Holds the rate to progress.bytes_per_second, which may change at any time.
class Throttle {
 public:
  explicit Throttle(const WriteProgress& progress) : progress_(progress) {}
  // Before writing the next `bytes`.
  void Wait(size_t bytes) {
    double limit = progress_.bytes_per_second;
    const double now = SteadySeconds();
    next_ = std::max(next_, now);
    while (limit > 0) {
      const double left = next_ - SteadySeconds();
      if (left <= 0) break;
      ThrowIfCancelled(progress_);
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, kLookSeconds)));
      limit = progress_.bytes_per_second;
    }
    if (limit > 0) next_ += static_cast<double>(bytes) / limit;
  }

 private:
  const WriteProgress& progress_;
  double next_ = 0;  // when the next piece may go
};

// Adds the time until its end.
class Writing {
 public:
  explicit Writing(WriteProgress& progress) : progress_(progress) {}
  ~Writing() { progress_.write_seconds += clock_.Seconds(); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  WriteProgress& progress_;
  const Stopwatch clock_;
};

class FilesWriter {
 public:
  FilesWriter(FileSystem& files, std::string folder, const std::vector<FilePlan>& plans,
              WriteProgress& progress)
      : files_(files),
        folder_(std::move(folder)),
        plans_(plans),
        progress_(progress),
        throttle_(progress) {}

  void Write(const Piece& piece) {
    ThrowIfCancelled(progress_);
    throttle_.Wait(piece.bytes);
    const Writing writing(progress_);
    if (file_ == nullptr) {
      const FilePlan& plan = plans_[piece.file];
      file_ = files_.Create(folder_ + "/" + plan.name, plan.bytes);
      saved.push_back({.name = plan.name, .bytes = plan.bytes, .crc32c = {}});
    }
    if (piece.bytes > 0) {
      file_->Write(piece.data());
      saved.back().crc32c.push_back(piece.crc);
    }
    progress_.bytes_done += static_cast<int64_t>(piece.bytes);
    if (!piece.last) return;
    file_->Sync();
    file_->Close();
    file_ = nullptr;
  }

  std::vector<SavedFile> saved;

 private:
  FileSystem& files_;
  const std::string folder_;
  const std::vector<FilePlan>& plans_;
  WriteProgress& progress_;
  Throttle throttle_;
  std::unique_ptr<WritableFile> file_;
};

std::string UtcTime() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, length};
}

}  // namespace

SnapshotInfo WriteFiles(FileSystem& files, const std::string& folder, Snapshot snapshot,
                        const WriteOptions& options, WriteProgress& progress) {
  SnapshotInfo info;
  info.step = snapshot.step;
  info.epoch = snapshot.epoch;
  info.time = UtcTime();
  info.score = snapshot.score;
  info.piece_bytes = kPieceBytes;
  std::vector<FilePlan> plans = PlanFiles(snapshot);
  int64_t total = 0, largest = 0;
  for (const FilePlan& plan : plans) {
    total += plan.bytes;
    largest = std::max(largest, plan.bytes);
  }
  progress.bytes_total = total;
  Copier copier(plans, progress);
  FilesWriter writer(files, folder, plans, progress);
  if (total <= kPieceBytes) {
    // Not worth a thread.
    Piece piece{.buffer = NewBuffer(static_cast<size_t>(std::max<int64_t>(largest, 1)))};
    while (copier.Next(piece)) writer.Write(piece);
  } else {
    const auto pieces = static_cast<size_t>(
        std::clamp<int64_t>(options.staging_bytes / kPieceBytes, 2, total / kPieceBytes + 2));
    Pipeline pipeline(copier, pieces);
    while (std::optional<Piece> piece = pipeline.Take()) {
      writer.Write(*piece);
      pipeline.GiveBack(std::move(*piece));
    }
  }
  info.files = std::move(writer.saved);
  return info;
}

void WriteManifestFile(FileSystem& files, const std::string& folder, const SnapshotInfo& info,
                       WriteProgress& progress) {
  const Writing writing(progress);
  const std::string text = WriteManifest(info);
  const std::unique_ptr<WritableFile> file = files.Create(folder + "/" + kManifest);
  file->Write(std::as_bytes(std::span(text)));
  file->Sync();
  file->Close();
  files.SyncFolder(folder);
}

}  // namespace flatout::checkpoint
