// Snapshots: the whole state of a run at one step, as a folder that is either complete or is not
// taken for one.
//
//   step-000001200/
//     weights.safetensors    one file for each group of tensors; other tools read them
//     optimizer.safetensors
//     state.json             everything else: the caller's JSON document
//     manifest.json          format version, step, time, and of every file its size and checksums
//
// The manifest is written last and closes with a checksum of itself; so each byte of the folder is
// under some checksum (CRC-32C, which finds every error of up to 32 bits in a row). A file is
// summed in pieces of 8 MiB, so that a message can say where it is damaged.
//
// Format versions: 1, the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/checkpoint/file_system.h"
#include "flatout/checkpoint/safetensors.h"
#include "flatout/ir/shape.h"

namespace flatout::checkpoint {

inline constexpr int kFormatVersion = 1;

// A tensor to be saved, wherever it lies.
struct TensorSource {
  std::string name;
  ir::Shape shape;
  // Copies the bytes from `offset` on, row-major, into `to`. It is called in order of offsets, by
  // one thread at a time, for every byte once; then the function is destroyed, and what it holds
  // with it. What it throws fails the save.
  std::function<void(int64_t offset, std::span<std::byte> to)> read;
};

// Of bytes on the host, which `bytes` keeps alive.
TensorSource HostSource(std::string name, ir::Shape shape,
                        std::shared_ptr<const std::vector<std::byte>> bytes);
// The same of any memory, which `owner` keeps as it is.
TensorSource HostSource(std::string name, ir::Shape shape, std::span<const std::byte> bytes,
                        std::shared_ptr<const void> owner);
// Of something that can only be copied out as a whole, as device buffers are: `fetch` is called
// once with shape.bytes() to fill, straight in the writer's own memory where the tensor fits in
// there.
TensorSource WholeSource(std::string name, ir::Shape shape,
                         std::function<void(std::span<std::byte> whole)> fetch);

// The tensors of one file, <name>.safetensors.
struct TensorGroup {
  std::string name;  // "weights", "optimizer"
  std::vector<TensorSource> tensors;
  std::map<std::string, std::string> metadata;  // "__metadata__" of the file
};

// How good the weights are, by what best weights are told from others.
struct Score {
  std::string metric;  // "val_loss"
  double value = 0;
  bool larger_is_better = false;

  // Whether this one is better than `other`; a NaN never is. Scores of other metrics do not
  // compare.
  bool BetterThan(const Score& other) const;
};

// What is to be saved.
struct Snapshot {
  int64_t step = 0;   // steps done
  int64_t epoch = 0;  // epochs done
  std::vector<TensorGroup> groups;
  std::string state = "{}";    // JSON
  std::optional<Score> score;  // of these very weights

  // Of all tensors.
  int64_t bytes() const;
  // What it takes on a disk, at most: headers, state, manifest and rounding to blocks included.
  int64_t disk_bytes() const;
};

struct SavedFile {
  std::string name;
  int64_t bytes = 0;
  std::vector<uint32_t> crc32c;  // of each piece
};

// What a manifest says.
struct SnapshotInfo {
  std::string path;  // the folder
  int version = kFormatVersion;
  int64_t step = 0;
  int64_t epoch = 0;
  std::string time;  // "2026-11-30T14:05:12Z", when it was written
  std::optional<Score> score;
  int64_t piece_bytes = 0;  // of each checksum
  std::vector<SavedFile> files;

  int64_t bytes() const;  // of all files but the manifest
  const SavedFile* Find(std::string_view name) const;
};

enum class Condition {
  kComplete,
  kUnfinished,   // its writer was killed; nobody needs it
  kDamaged,      // something is missing, cut or changed
  kNewerFormat,  // of a later Flatout
  kUnreadable,   // permissions, or the disk fails
};
std::string_view Name(Condition condition);

// What a look at the manifest and at the files' sizes says; no other file is read.
struct Inspection {
  std::string path;
  Condition condition = Condition::kComplete;
  std::string problem;  // unless complete: what is wrong, and with which file
  SnapshotInfo info;    // when complete
  int64_t bytes = 0;    // of all files there, whatever they are
};
Inspection Inspect(const std::string& path, FileSystem& files = RealFileSystem());

// Reads every byte and returns all that is wrong: file, bytes from and to, tensors in them; nothing
// when all is right. Throws nothing but bad_alloc.
std::vector<std::string> Verify(const std::string& path, FileSystem& files = RealFileSystem());

// A snapshot in memory, every byte of it verified.
struct LoadedSnapshot {
  SnapshotInfo info;
  std::map<std::string, TensorFile> groups;  // by the group's name
  std::string state;

  // Throws DataError where there is no such group.
  const TensorFile& Group(const std::string& name) const;
};
// `only`: these groups alone are read and verified; empty for all. Throws DataError naming file,
// place and what was found (damaged, unfinished, a newer format), UserError where it cannot be
// read.
LoadedSnapshot Load(const std::string& path, FileSystem& files = RealFileSystem(),
                    const std::vector<std::string>& only = {});

}  // namespace flatout::checkpoint
