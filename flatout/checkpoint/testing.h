// For tests of what saves snapshots: file systems that fail, and snapshots that can be told apart.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/checkpoint/file_system.h"
#include "flatout/checkpoint/store.h"

namespace flatout::checkpoint {

// A folder that goes with the test.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& what = "checkpoint") {
    std::string name =
        (std::filesystem::temp_directory_path() / ("flatout-" + what + "-XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr) throw Internal("mkdtemp failed");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

enum class Call {
  kCreate,
  kWrite,
  kSync,
  kClose,
  kOpen,
  kRead,
  kSyncFolder,
  kRename,
  kMakeFolder,
  kRemoveFile,
  kRemoveFolder,
  kList,
  kStat,
};
inline bool Changes(Call call) {
  return call != Call::kOpen && call != Call::kRead && call != Call::kList && call != Call::kStat;
}

// Passes everything on to another file system, and calls a hook before and after each call, which
// may throw (the call fails), wait, or end the process. A write also has a middle, with half of it
// done.
class FaultFileSystem : public FileSystem {
 public:
  enum class When { kBefore, kMiddle, kAfter };
  using Hook = std::function<void(Call call, const std::string& path, When when)>;

 private:
  template <typename Body>
  auto Around(Call call, const std::string& path, Body body) {
    Tell(call, path, When::kBefore);
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      Tell(call, path, When::kAfter);
    } else {
      auto result = body();
      Tell(call, path, When::kAfter);
      return result;
    }
  }
  void Tell(Call call, const std::string& path, When when) const {
    if (hook_) hook_(call, path, when);
  }

 public:
  explicit FaultFileSystem(FileSystem& under = RealFileSystem()) : under_(under) {}
  // Not while it is in use.
  void SetHook(Hook hook) { hook_ = std::move(hook); }
  // The errno of each attempt to rename a folder; 0: it works.
  void SetRenameError(int error) { rename_error_ = error; }
  void SetFreeBytes(std::optional<int64_t> bytes) { free_ = bytes; }

  std::unique_ptr<WritableFile> Create(const std::string& path, int64_t bytes) override {
    return Around(Call::kCreate, path, [&]() -> std::unique_ptr<WritableFile> {
      return std::make_unique<Writable>(*this, path, under_.Create(path, bytes));
    });
  }
  std::unique_ptr<ReadableFile> Open(const std::string& path) override {
    return Around(Call::kOpen, path, [&]() -> std::unique_ptr<ReadableFile> {
      return std::make_unique<Readable>(*this, path, under_.Open(path));
    });
  }
  void SyncFolder(const std::string& path) override {
    Around(Call::kSyncFolder, path, [&] { under_.SyncFolder(path); });
  }
  void Rename(const std::string& from, const std::string& to) override {
    Around(Call::kRename, from, [&] {
      if (rename_error_ != 0) throw FileError("rename", from, rename_error_);
      under_.Rename(from, to);
    });
  }
  void MakeFolder(const std::string& path) override {
    Around(Call::kMakeFolder, path, [&] { under_.MakeFolder(path); });
  }
  void RemoveFile(const std::string& path) override {
    Around(Call::kRemoveFile, path, [&] { under_.RemoveFile(path); });
  }
  void RemoveFolder(const std::string& path) override {
    Around(Call::kRemoveFolder, path, [&] { under_.RemoveFolder(path); });
  }
  std::vector<std::string> List(const std::string& path) override {
    return Around(Call::kList, path, [&] { return under_.List(path); });
  }
  std::optional<FileInfo> Stat(const std::string& path) override {
    return Around(Call::kStat, path, [&] { return under_.Stat(path); });
  }
  std::optional<int64_t> FreeBytes(const std::string& path) override {
    return free_ ? free_ : under_.FreeBytes(path);
  }

 private:
  class Writable : public WritableFile {
   public:
    Writable(FaultFileSystem& owner, std::string path, std::unique_ptr<WritableFile> file)
        : owner_(owner), path_(std::move(path)), file_(std::move(file)) {}
    void Write(std::span<const std::byte> data) override {
      owner_.Around(Call::kWrite, path_, [&] {
        const size_t half = data.size() / 2;
        file_->Write(data.first(half));
        owner_.Tell(Call::kWrite, path_, When::kMiddle);
        file_->Write(data.subspan(half));
      });
    }
    void Sync() override {
      owner_.Around(Call::kSync, path_, [&] { file_->Sync(); });
    }
    void Close() override {
      owner_.Around(Call::kClose, path_, [&] { file_->Close(); });
    }

   private:
    FaultFileSystem& owner_;
    const std::string path_;
    const std::unique_ptr<WritableFile> file_;
  };
  class Readable : public ReadableFile {
   public:
    Readable(FaultFileSystem& owner, std::string path, std::unique_ptr<ReadableFile> file)
        : owner_(owner), path_(std::move(path)), file_(std::move(file)) {}
    int64_t size() const override { return file_->size(); }
    int64_t Read(int64_t offset, std::span<std::byte> to) override {
      return owner_.Around(Call::kRead, path_, [&] { return file_->Read(offset, to); });
    }

   private:
    FaultFileSystem& owner_;
    const std::string path_;
    const std::unique_ptr<ReadableFile> file_;
  };

  FileSystem& under_;
  Hook hook_;
  std::atomic<int> rename_error_{0};
  std::optional<int64_t> free_;
};

// Says that it synced, and did not.
class LyingFileSystem : public FaultFileSystem {
 public:
  // Whether it lies at a call (kSync or kSyncFolder) on a path.
  using Lies = std::function<bool(Call call, const std::string& path)>;
  explicit LyingFileSystem(
      FileSystem& under, Lies lies = [](Call, const std::string&) { return true; })
      : FaultFileSystem(under), lies_(std::move(lies)) {}
  std::unique_ptr<WritableFile> Create(const std::string& path, int64_t bytes) override {
    auto file = FaultFileSystem::Create(path, bytes);
    if (!lies_(Call::kSync, path)) return file;
    return std::make_unique<Unsynced>(std::move(file));
  }
  void SyncFolder(const std::string& path) override {
    if (!lies_(Call::kSyncFolder, path)) FaultFileSystem::SyncFolder(path);
  }

 private:
  class Unsynced : public WritableFile {
   public:
    explicit Unsynced(std::unique_ptr<WritableFile> under) : under_(std::move(under)) {}
    void Write(std::span<const std::byte> data) override { under_->Write(data); }
    void Sync() override {}
    void Close() override { under_->Close(); }

   private:
    const std::unique_ptr<WritableFile> under_;
  };

  const Lies lies_;
};

// --- snapshots -----------------------------------------------------------------------------------

// What byte `index` of a tensor of a snapshot is: no two steps, tensors or places are alike.
inline std::byte ByteOf(uint64_t seed, int64_t step, uint64_t tensor, uint64_t index) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(step) * 0xbf58476d1ce4e5b9u +
               tensor * 0x94d049bb133111ebu + index / 8;
  x = (x ^ x >> 31) * 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  return static_cast<std::byte>(x >> index % 8 * 8);
}

inline std::vector<std::byte> BytesOf(uint64_t seed, int64_t step, uint64_t tensor, int64_t size) {
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = ByteOf(seed, step, tensor, i);
  return bytes;
}

// The shapes of a small model's state; `rows` makes it larger.
inline std::vector<std::pair<std::string, ir::Shape>> ShapesOf(int64_t rows) {
  using ir::DType;
  return {{"dense/kernel", ir::Shape(DType::kF32, {rows, 4})},
          {"dense/bias", ir::Shape(DType::kF32, {4})},
          {"norm/moving_mean", ir::Shape(DType::kBF16, {3})},
          {"empty", ir::Shape(DType::kF32, {0, 2})},
          {"step", ir::Shape::Scalar(DType::kI64)}};
}

inline std::string StateOf(uint64_t seed, int64_t step) {
  return fmt::format("{{\"step\": {}, \"seed\": {}}}\n", step, seed);
}

// The snapshot of a step: two groups of the shapes above.
inline Snapshot MakeSnapshot(int64_t step, int64_t rows = 5, uint64_t seed = 1) {
  Snapshot snapshot;
  snapshot.step = step;
  snapshot.epoch = step / 10;
  uint64_t number = 0;
  for (const char* name : {"weights", "optimizer"}) {
    TensorGroup& group = snapshot.groups.emplace_back();
    group.name = name;
    group.metadata["of"] = std::to_string(step);
    for (const auto& [tensor, shape] : ShapesOf(rows)) {
      group.tensors.push_back(HostSource(
          tensor, shape,
          std::make_shared<std::vector<std::byte>>(BytesOf(seed, step, number++, shape.bytes()))));
    }
  }
  snapshot.state = StateOf(seed, step);
  return snapshot;
}

// What is wrong with a loaded snapshot, or "".
inline std::string Difference(const LoadedSnapshot& loaded, int64_t step, int64_t rows = 5,
                              uint64_t seed = 1) {
  if (loaded.info.step != step) {
    return fmt::format("it is of step {}, expected {}", loaded.info.step, step);
  }
  if (loaded.state != StateOf(seed, step)) return "its state is " + loaded.state;
  if (loaded.groups.size() != 2) return fmt::format("it has {} groups", loaded.groups.size());
  uint64_t number = 0;
  for (const char* name : {"weights", "optimizer"}) {
    const TensorFile& group = loaded.Group(name);
    const auto shapes = ShapesOf(rows);
    if (group.tensors.size() != shapes.size()) {
      return fmt::format("{} has {} tensors", name, group.tensors.size());
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
      const HostTensor& tensor = group.tensors[i];
      if (tensor.name != shapes[i].first || tensor.shape != shapes[i].second) {
        return fmt::format("{} has {} {}", name, tensor.name, tensor.shape.ToString());
      }
      if (tensor.bytes != BytesOf(seed, step, number++, tensor.shape.bytes())) {
        return fmt::format("{} {} has other bytes", name, tensor.name);
      }
    }
  }
  return "";
}

}  // namespace flatout::checkpoint
