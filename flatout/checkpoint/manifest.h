// What the parts of flatout/checkpoint know of a snapshot's folder. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flatout/checkpoint/snapshot.h"

namespace flatout::checkpoint {

inline constexpr const char* kManifest = "manifest.json";
inline constexpr const char* kStateFile = "state.json";
// Lies in a folder that is written or removed in place, for want of a rename.
inline constexpr const char* kMarker = "unfinished";
inline constexpr const char* kTensorSuffix = ".safetensors";
inline constexpr int64_t kPieceBytes = 8 << 20;

// The text of manifest.json.
std::string WriteManifest(const SnapshotInfo& info);
// Reads it back; info.path is left empty. `path` is for messages. Throws DataError for what is no
// manifest or was changed, and NewerFormat.
SnapshotInfo ParseManifest(const std::string& path, std::string_view text);

class NewerFormat : public DataError {
 public:
  using DataError::DataError;
};

// A whole (small) file.
std::string ReadWhole(const std::string& path, FileSystem& files);

}  // namespace flatout::checkpoint
