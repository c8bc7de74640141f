// Writing the files of a snapshot into a folder that is there. Internal to flatout/checkpoint.
#pragma once

#include <string>

#include "flatout/checkpoint/store.h"

namespace flatout::checkpoint {

// All files but the manifest, each written and synced. The sources are copied out on a thread of
// its own, so that this goes on while the disk writes; a snapshot of one piece is written without.
// Returns what the manifest is to say, without a path. Throws as Store::Write does.
SnapshotInfo WriteFiles(FileSystem& files, const std::string& folder, Snapshot snapshot,
                        const WriteOptions& options, WriteProgress& progress);

// The manifest, written and synced, and the folder synced.
void WriteManifestFile(FileSystem& files, const std::string& folder, const SnapshotInfo& info,
                       WriteProgress& progress);

}  // namespace flatout::checkpoint
