#include "flatout/checkpoint/store.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"
#include "flatout/checkpoint/manifest.h"
#include "flatout/checkpoint/snapshot_writer.h"

namespace flatout::checkpoint {
namespace {

constexpr std::string_view kPrefix = "step-";
// Of whatever is not to be kept: being written, being removed, or a test.
constexpr std::string_view kTemporary = "tmp-";

struct Place {
  int64_t step = 0;
  int64_t copy = 1;
  auto operator<=>(const Place&) const = default;
};

std::string NameOf(const Place& place) {
  const std::string name = fmt::format("{}{:09}", kPrefix, place.step);
  return place.copy == 1 ? name : fmt::format("{}-{}", name, place.copy);
}

// Of "step-000001200" or "step-000001200-2"; nothing for names that NameOf would not give: those
// are not ours.
std::optional<Place> ParseName(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  Place place;
  const char* const end = name.data() + name.size();
  const auto step = std::from_chars(name.data() + kPrefix.size(), end, place.step);
  if (step.ec != std::errc() || place.step < 0) return std::nullopt;
  if (step.ptr != end) std::from_chars(step.ptr + 1, end, place.copy);
  return NameOf(place) == name ? std::optional(place) : std::nullopt;
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The errors of file systems that cannot rename a folder: EXDEV and EPERM of some mounts, ENOSYS
// and ENOTSUP of most, EMFILE of gcsfuse (its rename-dir-limit). Not those of a disk that fails.
bool CannotRename(int error) {
  return error == EXDEV || error == EPERM || error == ENOSYS || error == ENOTSUP ||
         error == EMFILE || error == EINVAL;
}

void WriteSmall(FileSystem& files, const std::string& path, std::string_view text) {
  const std::unique_ptr<WritableFile> file = files.Create(path);
  file->Write(std::as_bytes(std::span(text)));
  file->Sync();
  file->Close();
}

void CopyFile(FileSystem& files, const std::string& from, const std::string& to) {
  const std::unique_ptr<ReadableFile> source = files.Open(from);
  const std::unique_ptr<WritableFile> target = files.Create(to, source->size());
  std::vector<std::byte> buffer(
      static_cast<size_t>(std::min<int64_t>(source->size(), kPieceBytes)));
  for (int64_t at = 0; at < source->size();) {
    const int64_t got = source->Read(at, buffer);
    if (got == 0) throw BadData("{}: became shorter while it was copied", from);
    target->Write(std::span(buffer).first(static_cast<size_t>(got)));
    at += got;
  }
  target->Sync();
  target->Close();
}

}  // namespace

Store::Store(std::string folder, FileSystem& files) : folder_(std::move(folder)), files_(files) {
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
}

std::vector<std::string> Store::Prepare(int64_t bytes) {
  std::vector<std::string> notes;
  if (!files_.Stat(folder_)) files_.MakeFolder(folder_);
  // Even if it was there: who made it may have been killed before this.
  const size_t slash = folder_.rfind('/');
  files_.SyncFolder(slash == std::string::npos ? "."
                                               : folder_.substr(0, std::max<size_t>(slash, 1)));
  notes = Clean();
  const std::string test = folder_ + "/" + std::string(kTemporary) + "test";
  const std::string renamed = test + "-renamed";
  files_.MakeFolder(test);
  try {
    WriteSmall(files_, test + "/" + kManifest, "{}\n");
    files_.SyncFolder(test);
    can_rename_ = TryRename(test, renamed);
    files_.SyncFolder(folder_);
  } catch (...) {
    RemoveTree(test);
    throw;
  }
  if (!can_rename_) {
    notes.push_back(fmt::format(
        "{}: folders cannot be renamed there (object storage?); snapshots are written in place, "
        "their manifest last",
        folder_));
  }
  RemoveTree(can_rename_ ? renamed : test);
  const std::optional<int64_t> room = files_.FreeBytes(folder_);
  if (room && *room < bytes) {
    notes.push_back(fmt::format(
        "{}: a snapshot takes about {}, but only {} are free there; free some space, or choose "
        "another --run-dir",
        folder_, HumanBytes(bytes), HumanBytes(*room)));
  }
  return notes;
}

bool Store::TryRename(const std::string& from, const std::string& to) {
  try {
    files_.Rename(from, to);
    return true;
  } catch (const FileError& error) {
    if (CannotRename(error.error())) return false;
    throw;
  }
}

std::string Store::NewName(int64_t step) const {
  Place place{.step = step};
  for (const std::string& name : files_.List(folder_)) {
    const std::optional<Place> other = ParseName(name);
    if (other && other->step == step) place.copy = std::max(place.copy, other->copy + 1);
  }
  return NameOf(place);
}

SnapshotInfo Store::Write(Snapshot snapshot, const WriteOptions& options, WriteProgress* progress) {
  WriteProgress own;
  WriteProgress& told = progress != nullptr ? *progress : own;
  if (!files_.Stat(folder_)) files_.MakeFolder(folder_);
  const std::string name = NewName(snapshot.step);
  const std::string path = folder_ + "/" + name;
  const std::string temporary = folder_ + "/" + std::string(kTemporary) + name;
  const bool in_place = !can_rename_;
  const std::string& at = in_place ? path : temporary;
  // Left by a save that failed and could not be cleaned up after.
  if (files_.Stat(at)) RemoveTree(at);
  SnapshotInfo info;
  bool renamed = false;
  try {
    files_.MakeFolder(at);
    if (in_place) WriteSmall(files_, at + "/" + kMarker, "");
    info = WriteFiles(files_, at, std::move(snapshot), options, told);
    WriteManifestFile(files_, at, info, told);
    if (in_place) {
      files_.SyncFolder(folder_);
      files_.RemoveFile(at + "/" + kMarker);
    } else if (renamed = TryRename(temporary, path); renamed) {
      files_.SyncFolder(folder_);
    } else {
      // The sources are used up, so the files are copied.
      can_rename_ = false;
      files_.MakeFolder(path);
      WriteSmall(files_, path + "/" + kMarker, "");
      for (const SavedFile& file : info.files) {
        CopyFile(files_, temporary + "/" + file.name, path + "/" + file.name);
      }
      WriteManifestFile(files_, path, info, told);
      files_.SyncFolder(folder_);
      files_.RemoveFile(path + "/" + kMarker);
      RemoveTree(temporary);
    }
  } catch (...) {
    // One that got its name is complete, whatever a later call said. What cannot be removed now, a
    // later write or Prepare removes.
    for (const std::string& leftover : {temporary, path}) {
      try {
        if (!renamed && files_.Stat(leftover)) RemoveTree(leftover);
      } catch (const Error&) {
      }
    }
    throw;
  }
  info.path = path;
  known_good_ = path;
  return info;
}

// Manifest first and marker last: whatever is left when this is stopped is no snapshot, and is
// known for a leftover.
void Store::RemoveTree(const std::string& path) {
  std::vector<std::string> names = files_.List(path);
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    const auto rank = [](const std::string& name) {
      return name == kManifest ? 0 : name == kMarker ? 2 : 1;
    };
    return rank(a) < rank(b);
  });
  for (const std::string& name : names) {
    const std::string inner = path + "/" + name;
    const std::optional<FileInfo> info = files_.Stat(inner);
    if (info && info->folder) {
      RemoveTree(inner);
    } else {
      files_.RemoveFile(inner);
    }
  }
  files_.RemoveFolder(path);
}

// A complete snapshot stops being one, on the disk too, before its first file goes.
void Store::Discard(const std::string& path) {
  if (can_rename_) {
    const std::string gone = folder_ + "/" + std::string(kTemporary) + BaseName(path) + "-removed";
    if (files_.Stat(gone)) RemoveTree(gone);
    if (TryRename(path, gone)) {
      files_.SyncFolder(folder_);
      RemoveTree(gone);
      return;
    }
    can_rename_ = false;
  }
  if (!files_.Stat(path + "/" + kMarker)) WriteSmall(files_, path + "/" + kMarker, "");
  files_.SyncFolder(path);
  files_.RemoveFile(path + "/" + kManifest);
  files_.SyncFolder(path);
  RemoveTree(path);
}

std::vector<std::string> Store::Clean() {
  std::vector<std::string> notes;
  for (const std::string& name : files_.List(folder_)) {
    const std::string path = folder_ + "/" + name;
    const std::optional<FileInfo> info = files_.Stat(path);
    if (!info || !info->folder) continue;
    try {
      if (name.starts_with(kTemporary)) {
        RemoveTree(path);
        notes.push_back(path + ": left by a writer that was stopped; removed");
      } else if (ParseName(name)) {
        const Inspection found = Inspect(path, files_);
        if (found.condition == Condition::kUnfinished) {
          RemoveTree(path);
          notes.push_back(path + ": left by a writer that was stopped; removed");
        } else if (found.condition == Condition::kComplete && files_.Stat(path + "/" + kMarker)) {
          files_.RemoveFile(path + "/" + kMarker);
        }
      }
    } catch (const FileError& error) {
      notes.push_back(fmt::format("left by a writer that was stopped: {}", error.what()));
    }
  }
  return notes;
}

Retained Store::Retain(const Retention& retention) {
  std::vector<Inspection> all = List();
  std::erase_if(all, [](const Inspection& one) { return one.condition != Condition::kComplete; });
  if (all.empty()) return {};
  Retained retained;
  const auto is_known = [&](const Inspection& one) { return one.path == known_good_; };
  if (std::none_of(all.begin(), all.end(), is_known)) {
    known_good_.clear();
    for (const Inspection& one : all) {
      const std::vector<std::string> problems = Verify(one.path, files_);
      if (problems.empty()) {
        known_good_ = one.path;
        break;
      }
      retained.problems.push_back(problems.front());
    }
    if (known_good_.empty()) {
      retained.problems.push_back(folder_ + ": no snapshot is good; none is removed");
      return retained;
    }
  }
  std::set<std::string> keep = {known_good_};
  for (size_t i = 0; i < all.size() && std::cmp_less(i, std::max<int64_t>(1, retention.keep_last));
       ++i) {
    keep.insert(all[i].path);
  }
  const Inspection* best = retention.keep_best ? Best(all) : nullptr;
  if (best != nullptr) keep.insert(best->path);
  if (retention.keep_every > 0) {
    // By the multiple that it is the first one after: of one step only the newest, which comes
    // first.
    std::map<int64_t, const Inspection*> first;
    for (const Inspection& one : all) {
      const int64_t multiple = one.info.step / retention.keep_every;
      if (multiple == 0) continue;
      const Inspection*& found = first[multiple];
      if (found == nullptr || one.info.step < found->info.step) found = &one;
    }
    for (const auto& [multiple, one] : first) keep.insert(one->path);
  }
  for (const Inspection& one : all) {
    if (keep.contains(one.path)) continue;
    try {
      Discard(one.path);
      retained.removed.push_back(one.path);
    } catch (const FileError& error) {
      retained.problems.push_back(fmt::format("an old snapshot stays: {}", error.what()));
    }
  }
  return retained;
}

Retained Store::MakeRoom(int64_t bytes, Retention retention) {
  if (!files_.Stat(folder_)) return {};
  const std::optional<int64_t> room = files_.FreeBytes(folder_);
  if (!room || *room >= bytes) return {};
  return RetainLeast(retention);
}

Retained Store::RetainLeast(Retention retention) {
  retention.keep_last = 1;
  return Retain(retention);
}

std::vector<Inspection> Store::List() const {
  if (!files_.Stat(folder_)) return {};
  std::vector<Place> places;
  for (const std::string& name : files_.List(folder_)) {
    if (const std::optional<Place> place = ParseName(name)) places.push_back(*place);
  }
  std::sort(places.rbegin(), places.rend());
  std::vector<Inspection> found;
  for (const Place& place : places) {
    Inspection& one = found.emplace_back(Inspect(folder_ + "/" + NameOf(place), files_));
    if (one.condition == Condition::kComplete && one.info.step != place.step) {
      one.condition = Condition::kDamaged;
      one.problem =
          fmt::format("{}: by its manifest it is a snapshot of step {}; was the folder renamed?",
                      one.path, one.info.step);
    }
  }
  return found;
}

Newest Store::LoadNewest() const {
  Newest newest;
  for (const Inspection& one : List()) {
    if (one.condition != Condition::kComplete) {
      newest.skipped.push_back(one.problem);
      continue;
    }
    try {
      newest.snapshot = Load(one.path, files_);
      return newest;
    } catch (const Error& error) {
      newest.skipped.push_back(error.what());
    }
  }
  return newest;
}

const Inspection* Best(const std::vector<Inspection>& snapshots) {
  const Inspection* best = nullptr;
  const Score* newest = nullptr;
  for (const Inspection& one : snapshots) {
    if (one.condition != Condition::kComplete || !one.info.score) continue;
    // What the newest is measured by; an older run file may have watched something else.
    const Score& score = *one.info.score;
    if (newest == nullptr) newest = &score;
    if (score.metric != newest->metric || score.larger_is_better != newest->larger_is_better) {
      continue;
    }
    // From the newest to the oldest: of equals the one that came first is the best.
    if (best == nullptr || !best->info.score->BetterThan(score)) best = &one;
  }
  return best;
}

}  // namespace flatout::checkpoint
