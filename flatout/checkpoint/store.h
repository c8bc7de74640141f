// Store: the folder RUN/checkpoints with a run's snapshots.
//
// A snapshot is written under a temporary name; each file is synced, then the folder; it is renamed
// to step-000001200, and the folder above is synced. A process that dies at any instant, or a power
// cut, leaves all complete snapshots as they were. Where folders cannot be renamed (object storage
// that is mounted as a file system), it is written in place with a marker beside it until the
// manifest, the last file, is there; either way only a folder with a valid manifest is taken for a
// snapshot. A step that has a snapshot already gets another, step-000001200-2: nothing is ever
// written over.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flatout/checkpoint/snapshot.h"

namespace flatout::checkpoint {

// What is kept when a new snapshot is complete.
struct Retention {
  int64_t keep_last = 3;  // the newest, at least 1
  bool keep_best = true;  // the best by score, besides
  // The first at or after each multiple of so many steps, for good; 0: none. (Runs do several steps
  // at a time, and need not stop at a multiple.)
  int64_t keep_every = 0;
};

// What became of old snapshots.
struct Retained {
  std::vector<std::string> removed;   // folders
  std::vector<std::string> problems;  // for people: what is damaged, and what could not be removed
};

// Of one write: read by any thread while it goes on, and steered.
struct WriteProgress {
  std::atomic<int64_t> bytes_total{0};
  std::atomic<int64_t> bytes_done{0};       // written, not yet synced
  std::atomic<double> copy_seconds{0};      // in TensorSource::read
  std::atomic<double> write_seconds{0};     // in writes and syncs
  std::atomic<double> bytes_per_second{0};  // write no faster than this; 0: as fast as it goes
  std::atomic<bool> cancel{false};          // give up at the next piece: Write throws kCancelled
};

struct WriteOptions {
  // Host memory that what is copied out may take while it waits for the disk. At least two pieces
  // (16 MiB) are used; the more, the sooner the sources (and their device memory) are free.
  int64_t staging_bytes = 64 << 20;
};

// The newest snapshot that could be loaded.
struct Newest {
  std::optional<LoadedSnapshot> snapshot;
  std::vector<std::string> skipped;  // newer ones that could not, and why; one line each
};

class Store {
 public:
  explicit Store(std::string folder, FileSystem& files = RealFileSystem());

  const std::string& folder() const { return folder_; }

  // --- for the one process that writes here (which holds the run folder's lock) ---

  // To be called before the first step: makes the folder, removes what killed writers left, and
  // writes, syncs, renames and removes something small, so that a disk that cannot take a snapshot
  // says so now. Returns lines for the user: what was removed, that folders cannot be renamed, that
  // there is less room than `bytes` need. Throws FileError where nothing can be written.
  std::vector<std::string> Prepare(int64_t bytes = 0);

  // Writes a snapshot; when it returns, it is on the disk. Throws FileError (full disk,
  // input/output error, no permission), kCancelled, and what the sources throw; what was there
  // before stays, and what was written of this one is removed. `snapshot` is used up: each source
  // is destroyed as soon as it is copied.
  SnapshotInfo Write(Snapshot snapshot, const WriteOptions& options = {},
                     WriteProgress* progress = nullptr);

  // Removes complete snapshots that need not be kept. The last good one is never removed: unless
  // this Store wrote one that is there, the newest are verified, byte by byte, until one is good,
  // and nothing happens when none is. Damaged ones and those of a newer format are left alone.
  Retained Retain(const Retention& retention);
  // Before a snapshot of `bytes` is written: where there is no room for it beside the old ones, all
  // of those go but the last good one, the best and every nth, as `retention` has it.
  Retained MakeRoom(int64_t bytes, Retention retention);
  // Lets them go, room or not.
  Retained RetainLeast(Retention retention);

  // --- for everybody; changes nothing ---

  // Newest first: by step, and of one step the one written last. Empty where there is no folder.
  std::vector<Inspection> List() const;
  Newest LoadNewest() const;

 private:
  std::string NewName(int64_t step) const;
  std::vector<std::string> Clean();
  void RemoveTree(const std::string& path);
  void Discard(const std::string& path);
  bool TryRename(const std::string& from, const std::string& to);

  std::string folder_;
  FileSystem& files_;
  bool can_rename_ = true;
  std::string known_good_;  // the path of the newest that this Store wrote
};

// The best by score among these; nullptr when none has one.
const Inspection* Best(const std::vector<Inspection>& snapshots);

}  // namespace flatout::checkpoint
