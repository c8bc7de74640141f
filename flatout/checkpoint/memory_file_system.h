// A disk in memory, for tests, that knows what a power cut would leave of it: of a file what was
// synced, and any part of what was not; of a folder its entries as of its last sync, or as of any
// change since.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "flatout/checkpoint/file_system.h"

namespace flatout::checkpoint {

class MemoryFileSystem : public FileSystem {
 public:
  MemoryFileSystem() : root_(std::make_shared<Node>(true)) {}

  // From now on each call fails, until PowerOn or Reboot.
  void CutPower() { off_ = true; }
  // Nothing was lost: only the writer was killed.
  void PowerOn() { off_ = false; }
  // What is left of the disk, drawn from `random`.
  void Reboot(std::mt19937_64& random) {
    off_ = false;
    Settle(*root_, random);
  }

  std::unique_ptr<WritableFile> Create(const std::string& path, int64_t) override {
    const std::lock_guard lock(mutex_);
    auto [folder, name] = Parent(path);
    if (folder->entries.contains(name)) throw FileError("write", path, EEXIST);
    auto node = std::make_shared<Node>(false);
    folder->entries[name] = node;
    folder->Changed();
    return std::make_unique<File>(*this, path, node);
  }
  std::unique_ptr<ReadableFile> Open(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const std::shared_ptr<Node> node = Get(path);
    if (node->folder) throw FileError("read", path, EISDIR);
    return std::make_unique<File>(*this, path, node);
  }
  void SyncFolder(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    Node& node = *GetFolder(path);
    node.since_sync = {node.entries};
  }
  void Rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    const std::shared_ptr<Node> node = Get(from);
    auto [folder, name] = Parent(from);
    auto [other, other_name] = Parent(to);
    if (folder != other) throw FileError("rename", from, EXDEV);
    if (other->entries.contains(other_name)) throw FileError("rename", from, ENOTEMPTY);
    folder->entries.erase(name);
    folder->entries[other_name] = node;
    folder->Changed();
  }
  void MakeFolder(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    auto [folder, name] = Parent(path);
    if (folder->entries.contains(name)) throw FileError("make the folder", path, EEXIST);
    folder->entries[name] = std::make_shared<Node>(true);
    folder->Changed();
  }
  void RemoveFile(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (Get(path)->folder) throw FileError("remove", path, EISDIR);
    Erase(path);
  }
  void RemoveFolder(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (!GetFolder(path)->entries.empty()) throw FileError("remove", path, ENOTEMPTY);
    Erase(path);
  }
  std::vector<std::string> List(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, node] : GetFolder(path)->entries) names.push_back(name);
    return names;
  }
  std::optional<FileInfo> Stat(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const std::shared_ptr<Node> node = Find(path);
    if (node == nullptr) return std::nullopt;
    return FileInfo{node->folder, static_cast<int64_t>(node->content.size())};
  }
  std::optional<int64_t> FreeBytes(const std::string&) override { return std::nullopt; }

 private:
  struct Node {
    explicit Node(bool folder) : folder(folder), since_sync(1) {}
    void Changed() { since_sync.push_back(entries); }

    const bool folder;
    std::vector<std::byte> content, synced;
    std::map<std::string, std::shared_ptr<Node>> entries;
    // The entries as of the last sync, and after each change since.
    std::vector<std::map<std::string, std::shared_ptr<Node>>> since_sync;
  };

  class File : public WritableFile, public ReadableFile {
   public:
    File(MemoryFileSystem& disk, std::string path, std::shared_ptr<Node> node)
        : disk_(disk), path_(std::move(path)), node_(std::move(node)) {}
    void Write(std::span<const std::byte> data) override {
      const std::lock_guard lock(disk_.mutex_);
      disk_.CheckPower(path_);
      node_->content.insert(node_->content.end(), data.begin(), data.end());
    }
    void Sync() override {
      const std::lock_guard lock(disk_.mutex_);
      disk_.CheckPower(path_);
      node_->synced = node_->content;
    }
    void Close() override {}
    int64_t size() const override { return static_cast<int64_t>(node_->content.size()); }
    int64_t Read(int64_t offset, std::span<std::byte> to) override {
      const std::lock_guard lock(disk_.mutex_);
      disk_.CheckPower(path_);
      const auto from = std::min(static_cast<size_t>(offset), node_->content.size());
      const size_t count = std::min(to.size(), node_->content.size() - from);
      std::copy_n(node_->content.begin() + static_cast<int64_t>(from), count, to.begin());
      return static_cast<int64_t>(count);
    }

   private:
    MemoryFileSystem& disk_;
    const std::string path_;
    const std::shared_ptr<Node> node_;
  };

  void CheckPower(const std::string& path) const {
    if (off_) throw FileError("write", path, EIO);
  }
  std::shared_ptr<Node> Find(const std::string& path) const {
    CheckPower(path);
    std::shared_ptr<Node> node = root_;
    for (size_t at = 0; at < path.size() && node != nullptr;) {
      const size_t slash = std::min(path.find('/', at), path.size());
      const std::string name = path.substr(at, slash - at);
      at = slash + 1;
      if (name.empty()) continue;
      const auto found = node->entries.find(name);
      node = found == node->entries.end() ? nullptr : found->second;
    }
    return node;
  }
  std::shared_ptr<Node> Get(const std::string& path) const {
    std::shared_ptr<Node> node = Find(path);
    if (node == nullptr) throw FileError("read", path, ENOENT);
    return node;
  }
  std::shared_ptr<Node> GetFolder(const std::string& path) const {
    std::shared_ptr<Node> node = Get(path);
    if (!node->folder) throw FileError("read", path, ENOTDIR);
    return node;
  }
  std::pair<std::shared_ptr<Node>, std::string> Parent(const std::string& path) const {
    const size_t slash = path.rfind('/');
    return {GetFolder(slash == std::string::npos ? "" : path.substr(0, slash)),
            path.substr(slash + 1)};
  }
  void Erase(const std::string& path) {
    auto [folder, name] = Parent(path);
    folder->entries.erase(name);
    folder->Changed();
  }
  static void Settle(Node& node, std::mt19937_64& random) {
    if (node.folder) {
      node.entries = node.since_sync[random() % node.since_sync.size()];
      node.since_sync = {node.entries};
      for (const auto& [name, inner] : node.entries) Settle(*inner, random);
      return;
    }
    if (node.content.size() > node.synced.size()) {
      const size_t more = random() % (node.content.size() - node.synced.size() + 1);
      const size_t begin = node.synced.size();
      node.content.resize(begin + more);
      // A length may reach the disk before the bytes do.
      if (more > 0 && random() % 2 == 0) {
        const size_t from = begin + random() % more;
        std::fill(node.content.begin() + static_cast<int64_t>(from), node.content.end(),
                  std::byte{0});
      }
    }
    node.synced = node.content;
  }

  std::mutex mutex_;
  const std::shared_ptr<Node> root_;
  bool off_ = false;
};

}  // namespace flatout::checkpoint
