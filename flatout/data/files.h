// Files as the sources see them: found by pattern, read at any offset whatever their packing, and
// with an index of their records that is built once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/source.h"

namespace flatout::data {

// The files that the patterns name, sorted by name, each once. A pattern is a path, a glob
// (*, ?, [a-z], and ** for any folders), or a folder (all its files that do not begin with "." or
// "_"). Throws DataError for a pattern that names nothing, with the nearest name there.
std::vector<std::string> ExpandFiles(const std::vector<std::string>& patterns);

// "d/trian.csv: no such file; the nearest name there is d/train.csv", and the remedy if any.
DataError NoSuchFile(const std::string& path, const std::string& remedy = "");

// A file that can be read at any offset. gzip (any number of members) and zlib are recognised by
// content, never by name, and unpacked once: into memory when that is small, else into a file of
// the cache folder that goes when nobody uses it. Thread-safe.
class ByteFile {
 public:
  // Throws DataError: missing (with the nearest name), unreadable, or a cut or corrupt stream with
  // its byte offset. `is_plain`: looks at the first bytes and says that they are surely not packed,
  // although they may look so.
  static std::shared_ptr<const ByteFile> Open(
      const std::string& path,
      const std::function<bool(std::span<const std::byte> head)>& is_plain = {});
  virtual ~ByteFile() = default;

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }  // bytes, unpacked
  // "" or "gzip" or "zlib".
  const std::string& packing() const { return packing_; }
  // Bytes [offset, offset + count) of the unpacked content, which must lie within it: a view that
  // lives as long as the file where the content is in memory, else read into `scratch`. Throws
  // DataError when the file cannot be read or has become shorter.
  virtual std::span<const std::byte> Read(int64_t offset, int64_t count,
                                          std::vector<std::byte>& scratch) const = 0;
  // The same into the caller's memory: out.size() bytes from `offset` on.
  virtual void ReadInto(int64_t offset, std::span<std::byte> out) const = 0;
  // Whether Read gives views that live as long as the file.
  virtual bool resident() const = 0;

 protected:
  std::string path_;
  int64_t size_ = 0;
  std::string packing_;
};

// The index of one file: any numbers that tell where its records are. Taken from the cache folder
// (the index/ beside the compiled programs) when the file there has the same path, size, times of
// change, number on the disk and `kind`, else made by `build` and stored. `kind` names the format
// and every option that the index depends on.
std::vector<int64_t> CachedIndex(const std::string& path, std::string_view kind,
                                 const std::function<std::vector<int64_t>()>& build);
// Runs build(i) for each file on as many threads as this process has cores.
void ForEachFile(size_t files, const std::function<void(size_t)>& build);

// ---- the keys that file sources share ----
//   files = ["train-*.tfrecord"]       the training split (validation_split takes from its end)
//   validation_files, test_files       further splits
//   validation_split = 0.1             a share of the training records (0 to 1), or their number
//   limit = 1000                       the first so many records of each split; 0: all
struct SplitOptions {
  std::vector<std::string> files, validation_files, test_files;
  double validation_split = 0;
  int64_t limit = 0;

  template <class V>
  void Visit(V& v) {
    v("files", files);
    v("validation_files", validation_files);
    v("test_files", test_files);
    v("validation_split", validation_split);
    v("limit", limit);
  }
  // Throws UserError at the place of a value out of range. To be called in the opener.
  void Check(FieldReader& reader) const;
};
// The split of a source whose files are opened by `open` (called with ExpandFiles of the split's
// patterns); nullptr when the options do not define it. `name` is for messages.
SourcePtr OpenSplit(const std::string& name, const SplitOptions& options, std::string_view split,
                    const std::function<SourcePtr(const std::vector<std::string>& files)>& open);

}  // namespace flatout::data
