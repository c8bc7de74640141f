#include "flatout/checkpoint/snapshot.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/checkpoint/manifest.h"
#include "flatout/checkpoint/safetensors_header.h"

namespace flatout::checkpoint {
namespace {

// How many tensors of a damaged range a message names.
constexpr size_t kMostNames = 3;

std::string_view Chars(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string BaseName(const std::string& path) {
  const std::string_view trimmed = std::string_view(path).substr(0, path.find_last_not_of('/') + 1);
  return std::string(trimmed.substr(trimmed.find_last_of('/') + 1));
}

// A file of a snapshot, from beginning to end; every piece is held against its checksum when its
// last byte has been read.
class SummedReader {
 public:
  SummedReader(const std::string& folder, const SavedFile& saved, int64_t piece_bytes,
               FileSystem& files)
      : path_(folder + "/" + saved.name),
        saved_(saved),
        piece_bytes_(piece_bytes),
        file_(files.Open(path_)) {
    if (file_->size() != saved.bytes) {
      throw BadData("{}: {} bytes long, expected {}", path_, file_->size(), saved.bytes);
    }
  }

  const std::string& path() const { return path_; }
  int64_t rest() const { return saved_.bytes - at_; }

  void Read(std::span<std::byte> to) {
    if (static_cast<int64_t>(to.size()) > rest()) {
      throw BadData("{}: {} bytes long, too short for what it says of itself", path_, saved_.bytes);
    }
    while (!to.empty()) {
      const int64_t piece = at_ / piece_bytes_;
      const int64_t end = std::min((piece + 1) * piece_bytes_, saved_.bytes);
      const auto take = std::min(to.size(), static_cast<size_t>(end - at_));
      const std::span<std::byte> part = to.first(take);
      if (file_->Read(at_, part) != static_cast<int64_t>(take)) {
        throw BadData("{}: became shorter while it was read", path_);
      }
      crc_ = Crc32c(Chars(part), crc_);
      at_ += static_cast<int64_t>(take);
      if (at_ == end) {
        const uint32_t expected = saved_.crc32c[static_cast<size_t>(piece)];
        if (crc_ != expected) {
          throw BadData(
              "{}: bytes {} to {} were changed: their checksum is {:08x}, expected {:08x}", path_,
              piece * piece_bytes_, end - 1, crc_, expected);
        }
        crc_ = 0;
      }
      to = to.subspan(take);
    }
  }

 private:
  const std::string path_;
  const SavedFile& saved_;
  const int64_t piece_bytes_;
  const std::unique_ptr<ReadableFile> file_;
  int64_t at_ = 0;
  uint32_t crc_ = 0;
};

// The tensors of a safetensors file; nothing where its header makes no sense.
std::vector<TensorPlace> TensorsOf(const std::string& path, FileSystem& files,
                                   int64_t* data_begin) {
  try {
    const std::unique_ptr<ReadableFile> file = files.Open(path);
    std::string first(kSafetensorsLengthBytes, '\0');
    if (file->Read(0, std::as_writable_bytes(std::span(first))) != std::ssize(first)) return {};
    const auto size = static_cast<uint64_t>(file->size());
    std::string json(SafetensorsHeaderLength(path, first, size), '\0');
    if (file->Read(kSafetensorsLengthBytes, std::as_writable_bytes(std::span(json))) !=
        std::ssize(json)) {
      return {};
    }
    *data_begin = static_cast<int64_t>(kSafetensorsLengthBytes + json.size());
    return ParseSafetensorsHeader(path, json, size - static_cast<uint64_t>(*data_begin)).tensors;
  } catch (const Error&) {
    return {};
  }
}

// ", in which lie dense/kernel, dense/bias and 4 more", or "".
std::string TensorsWithin(const std::string& path, FileSystem& files, int64_t begin, int64_t end) {
  int64_t data = 0;
  std::vector<std::string> names;
  for (const TensorPlace& place : TensorsOf(path, files, &data)) {
    if (data + static_cast<int64_t>(place.begin) < end &&
        data + static_cast<int64_t>(place.end) > begin) {
      names.push_back(place.name);
    }
  }
  if (names.empty()) return "";
  const size_t more = names.size() - std::min(names.size(), kMostNames);
  names.resize(names.size() - more);
  return fmt::format(" (in which lie {}{})", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

// All that is wrong with one file.
void VerifyFile(const SnapshotInfo& info, const SavedFile& saved, FileSystem& files,
                std::vector<std::string>* problems) {
  const std::string path = info.path + "/" + saved.name;
  try {
    const std::unique_ptr<ReadableFile> file = files.Open(path);
    if (file->size() != saved.bytes) {
      problems->push_back(
          fmt::format("{}: {} bytes long, expected {}", path, file->size(), saved.bytes));
    }
    std::vector<std::byte> buffer(
        static_cast<size_t>(std::min({info.piece_bytes, saved.bytes, int64_t{kPieceBytes}})));
    for (size_t piece = 0; piece < saved.crc32c.size(); ++piece) {
      const int64_t begin = static_cast<int64_t>(piece) * info.piece_bytes;
      const int64_t end = std::min(begin + info.piece_bytes, saved.bytes);
      if (end > file->size()) break;  // cut: said already
      uint32_t crc = 0;
      for (int64_t at = begin; at < end;) {
        const auto part = std::span(buffer).first(
            static_cast<size_t>(std::min(end - at, static_cast<int64_t>(buffer.size()))));
        const int64_t got = file->Read(at, part);
        if (got == 0) break;
        crc = Crc32c(Chars(part.first(static_cast<size_t>(got))), crc);
        at += got;
      }
      if (crc == saved.crc32c[piece]) continue;
      problems->push_back(fmt::format(
          "{}: bytes {} to {}{} were changed: their checksum is {:08x}, expected {:08x}", path,
          begin, end - 1, TensorsWithin(path, files, begin, end), crc, saved.crc32c[piece]));
    }
  } catch (const Error& error) {
    problems->push_back(error.what());
  }
}

std::string LoadText(const SnapshotInfo& info, const SavedFile& saved, FileSystem& files) {
  SummedReader reader(info.path, saved, info.piece_bytes, files);
  std::string text(static_cast<size_t>(saved.bytes), '\0');
  reader.Read(std::as_writable_bytes(std::span(text)));
  return text;
}

TensorFile LoadTensors(const SnapshotInfo& info, const SavedFile& saved, FileSystem& files) {
  try {
    SummedReader reader(info.path, saved, info.piece_bytes, files);
    std::string first(std::min<size_t>(kSafetensorsLengthBytes, saved.bytes), '\0');
    reader.Read(std::as_writable_bytes(std::span(first)));
    const auto size = static_cast<uint64_t>(saved.bytes);
    std::string json(SafetensorsHeaderLength(reader.path(), first, size), '\0');
    reader.Read(std::as_writable_bytes(std::span(json)));
    SafetensorsHeader header =
        ParseSafetensorsHeader(reader.path(), json, static_cast<uint64_t>(reader.rest()));
    TensorFile file;
    file.metadata = std::move(header.metadata);
    file.tensors.resize(header.tensors.size());
    // Read in the order in which they lie, kept in the header's.
    std::vector<size_t> order(header.tensors.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return header.tensors[a].begin < header.tensors[b].begin;
    });
    for (const size_t i : order) {
      HostTensor& tensor = file.tensors[i];
      tensor.name = std::move(header.tensors[i].name);
      tensor.shape = std::move(header.tensors[i].shape);
      tensor.bytes.resize(static_cast<size_t>(tensor.shape.bytes()));
      reader.Read(tensor.bytes);
    }
    return file;
  } catch (const DataError&) {
    // A header that was changed fails before its checksum does, which says more.
    std::vector<std::string> problems;
    VerifyFile(info, saved, files, &problems);
    if (problems.empty()) throw;
    throw DataError(problems.front());
  }
}

// Throws what is wrong; see Inspect.
SnapshotInfo ReadInfo(const std::string& path, FileSystem& files) {
  const std::string manifest = path + "/" + kManifest;
  SnapshotInfo info = ParseManifest(manifest, ReadWhole(manifest, files));
  info.path = path;
  return info;
}

void CheckSizes(const SnapshotInfo& info, FileSystem& files) {
  for (const SavedFile& file : info.files) {
    const std::optional<FileInfo> found = files.Stat(info.path + "/" + file.name);
    if (!found) throw BadData("{}/{} is missing", info.path, file.name);
    if (found->bytes != file.bytes) {
      throw BadData("{}/{}: {} bytes long, expected {}", info.path, file.name, found->bytes,
                    file.bytes);
    }
  }
}

}  // namespace

TensorSource HostSource(std::string name, ir::Shape shape,
                        std::shared_ptr<const std::vector<std::byte>> bytes) {
  const std::span<const std::byte> all = *bytes;
  return HostSource(std::move(name), std::move(shape), all, std::move(bytes));
}

TensorSource HostSource(std::string name, ir::Shape shape, std::span<const std::byte> bytes,
                        std::shared_ptr<const void> owner) {
  if (static_cast<int64_t>(bytes.size()) != shape.bytes()) {
    throw Internal("tensor {} of {} has {} bytes", name, shape.ToString(), bytes.size());
  }
  auto read = [bytes, owner = std::move(owner)](int64_t offset, std::span<std::byte> to) {
    std::memcpy(to.data(), bytes.data() + offset, to.size());
  };
  return {std::move(name), std::move(shape), std::move(read)};
}

TensorSource WholeSource(std::string name, ir::Shape shape,
                         std::function<void(std::span<std::byte> whole)> fetch) {
  const auto size = static_cast<size_t>(shape.bytes());
  auto read = [size, fetch = std::move(fetch), whole = std::vector<std::byte>()](
                  int64_t offset, std::span<std::byte> to) mutable {
    if (to.size() == size) {
      fetch(to);
      return;
    }
    if (whole.empty()) {
      whole.resize(size);
      fetch(whole);
    }
    std::memcpy(to.data(), whole.data() + offset, to.size());
  };
  return {std::move(name), std::move(shape), std::move(read)};
}

bool Score::BetterThan(const Score& other) const {
  if (metric != other.metric || larger_is_better != other.larger_is_better) return false;
  return larger_is_better ? value > other.value : value < other.value;
}

int64_t Snapshot::bytes() const {
  int64_t bytes = 0;
  for (const TensorGroup& group : groups) {
    for (const TensorSource& tensor : group.tensors) bytes += tensor.shape.bytes();
  }
  return bytes;
}

int64_t Snapshot::disk_bytes() const {
  // A tensor's entry in a header; a file's name, rounding and share of the folder; checksums.
  constexpr int64_t kTensor = 256, kFile = 16 << 10, kChecksum = 16;
  int64_t total = static_cast<int64_t>(state.size()) + 3 * kFile;
  for (const TensorGroup& group : groups) {
    total += kFile;
    for (const TensorSource& tensor : group.tensors) {
      total += kTensor + static_cast<int64_t>(tensor.name.size());
    }
  }
  return total + bytes() + bytes() / kPieceBytes * kChecksum;
}

int64_t SnapshotInfo::bytes() const {
  int64_t bytes = 0;
  for (const SavedFile& file : files) bytes += file.bytes;
  return bytes;
}

const SavedFile* SnapshotInfo::Find(std::string_view name) const {
  for (const SavedFile& file : files) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

std::string_view Name(Condition condition) {
  switch (condition) {
    case Condition::kComplete:
      return "complete";
    case Condition::kUnfinished:
      return "unfinished";
    case Condition::kDamaged:
      return "damaged";
    case Condition::kNewerFormat:
      return "newer format";
    case Condition::kUnreadable:
      return "unreadable";
  }
  return "";
}

Inspection Inspect(const std::string& path, FileSystem& files) {
  Inspection found{.path = path};
  const auto is = [&](Condition condition, std::string problem) {
    found.condition = condition;
    found.problem = std::move(problem);
    found.info = {};
    return found;
  };
  try {
    const std::vector<std::string> names = files.List(path);
    bool manifest = false, marker = false;
    for (const std::string& name : names) {
      manifest |= name == kManifest;
      marker |= name == kMarker;
      if (const auto file = files.Stat(path + "/" + name)) found.bytes += file->bytes;
    }
    const std::string unfinished = path + " is unfinished: its writer was stopped";
    if (!manifest && (marker || names.empty() || BaseName(path).starts_with("tmp-"))) {
      return is(Condition::kUnfinished, unfinished);
    }
    if (!manifest) return is(Condition::kDamaged, path + "/" + kManifest + " is missing");
    try {
      found.info = ReadInfo(path, files);
      CheckSizes(found.info, files);
    } catch (const NewerFormat& error) {
      return is(Condition::kNewerFormat, error.what());
    } catch (const DataError& error) {
      if (marker) return is(Condition::kUnfinished, unfinished);
      return is(Condition::kDamaged, error.what());
    }
    return found;
  } catch (const FileError& error) {
    return is(Condition::kUnreadable, error.what());
  }
}

std::vector<std::string> Verify(const std::string& path, FileSystem& files) {
  try {
    const SnapshotInfo info = ReadInfo(path, files);
    std::vector<std::string> problems;
    for (const SavedFile& file : info.files) VerifyFile(info, file, files, &problems);
    return problems;
  } catch (const Error& error) {
    const Inspection found = Inspect(path, files);
    return {found.problem.empty() ? error.what() : found.problem};
  }
}

const TensorFile& LoadedSnapshot::Group(const std::string& name) const {
  const auto found = groups.find(name);
  if (found == groups.end()) {
    throw BadData("{}: there is no {}{} in this snapshot", info.path, name, kTensorSuffix);
  }
  return found->second;
}

LoadedSnapshot Load(const std::string& path, FileSystem& files,
                    const std::vector<std::string>& only) {
  const Inspection found = Inspect(path, files);
  if (found.condition == Condition::kUnreadable) {
    throw UserError(Code::kFailedPrecondition, found.problem);
  }
  if (found.condition != Condition::kComplete) throw DataError(found.problem);
  LoadedSnapshot snapshot;
  snapshot.info = found.info;
  for (const SavedFile& file : found.info.files) {
    if (file.name == kStateFile) {
      snapshot.state = LoadText(found.info, file, files);
      continue;
    }
    if (!file.name.ends_with(kTensorSuffix)) continue;
    const std::string name = file.name.substr(0, file.name.rfind(kTensorSuffix));
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    snapshot.groups[name] = LoadTensors(found.info, file, files);
  }
  return snapshot;
}

}  // namespace flatout::checkpoint
