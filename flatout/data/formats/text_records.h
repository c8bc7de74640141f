// Text files as numbered records: an index of where each record begins, reading by number with
// neighbours in one read, and file:line:column for messages. CSV, JSON lines and plain lines are
// built on it.
//
// The index of a file is made in one pass over its chunks in parallel. Where quotes may hold line
// ends, whether a chunk begins inside quotes is known only when all chunks before it are done; so a
// chunk notes the records for both cases, and the right list is taken afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/data/block.h"
#include "flatout/data/files.h"
#include "flatout/data/source.h"

namespace flatout::data {

// How records are told apart. A line ends with LF or CRLF.
struct RecordScan {
  enum class Blank {
    kKeep,       // a blank line is a record
    kSkipEmpty,  // lines without any character are not
    kSkipSpace,  // nor are those of spaces and tabs only
  };
  char quote = 0;        // line ends inside a pair of these end no record; 0: none
  char comment = 0;      // lines that begin with it are no records; 0: none
  bool lone_cr = false;  // CR alone ends a line too
  Blank blank = Blank::kKeep;

  // Distinct for distinct values, for the index cache.
  std::string ToString() const;
};

// Where the records of one file are; 4.5 bytes per record. Record i is the bytes [begin(i),
// end(i)): its line end and the skipped lines after it are part of it, a byte-order mark is part of
// none.
class RecordIndex {
 public:
  RecordIndex() = default;
  // From Encode's words; `valid` is false when they are none.
  static RecordIndex Decode(std::vector<int64_t> words, bool& valid);
  // `begins` rise; lines[k]: how many lines begin before byte k * kLineStep.
  static std::vector<int64_t> Encode(const std::vector<int64_t>& begins, int64_t bytes,
                                     const std::vector<int64_t>& lines);

  int64_t size() const { return records_; }
  int64_t begin(int64_t record) const {
    if (record == records_) return bytes_;
    if (wide_) return words_[static_cast<size_t>(at_ + record)];
    const int64_t* group = words_.data() + at_ + record / kGroup * kGroupWords;
    const int64_t place = record % kGroup;
    if (place == 0) return group[0];
    const auto pair = static_cast<uint64_t>(group[1 + (place - 1) / 2]);
    return group[0] + static_cast<int64_t>((place - 1) % 2 == 0 ? pair & 0xffffffff : pair >> 32);
  }
  int64_t end(int64_t record) const { return begin(record + 1); }
  // Asks the processor for what begin and end will look at.
  void Prefetch(int64_t record) const {
    const int64_t at = wide_ ? record : record / kGroup * kGroupWords + record % kGroup / 2;
    __builtin_prefetch(words_.data() + at_ + at);
  }
  int64_t bytes() const { return bytes_; }  // of the file, unpacked
  // Lines that begin before byte step * kLineStep.
  int64_t lines(int64_t step) const { return words_[static_cast<size_t>(kHead + step)]; }

  // As the index cache keeps it; what Decode takes.
  const std::vector<int64_t>& words() const { return words_; }

  static constexpr int64_t kLineStep = int64_t{1} << 20;  // also the size of a chunk

 private:
  static constexpr int64_t kHead = 4, kGroup = 16, kGroupWords = 9;
  std::vector<int64_t> words_;
  int64_t records_ = 0, bytes_ = 0, at_ = 0;
  bool wide_ = false;
};

// The index of the content that `read` gives: bytes [offset, offset + count) of `bytes` in all, as
// ByteFile::Read. `parallel`: on as many threads as this process has cores. Throws DataError for
// UTF-16 and UTF-32, with `path`.
RecordIndex IndexRecords(const std::string& path, int64_t bytes,
                         const std::function<std::span<const std::byte>(
                             int64_t offset, int64_t count, std::vector<std::byte>& scratch)>& read,
                         const RecordScan& scan, bool parallel);
// The same of text in memory.
RecordIndex IndexRecords(std::string_view text, const RecordScan& scan);

// A record as RecordFiles::Read hands it out.
struct RecordText {
  int64_t row = 0;                 // of the block
  size_t file = 0;                 // number of the file
  int64_t record = 0;              // number in the file, counted from 0 after the skipped ones
  int64_t offset = 0;              // of its first byte in the (unpacked) file
  std::string_view text;           // ends with a line end, which is added where the file has none
  const char* readable = nullptr;  // memory may be looked at up to here, >= the end of text
  bool resident = false;           // text lives as long as the files
};

// Records of several files, one file after the other.
class RecordFiles {
 public:
  // Opens and indexes them; `kind` names the format for the index cache. `map`: plain files of
  // local disks may be mapped into memory.
  RecordFiles(const std::vector<std::string>& paths, const RecordScan& scan,
              const std::string& kind, bool map = true);

  size_t files() const { return files_.size(); }
  const std::string& path(size_t file) const { return files_[file].bytes->path(); }
  // Leaves out the first `count` records of a file (headers); to be called before any Read.
  void Skip(size_t file, int64_t count);
  int64_t size() const { return begin_.back(); }
  int64_t bytes() const;  // of all files, unpacked
  // Records of one file, with those left out.
  int64_t records_in_file(size_t file) const { return files_[file].index.size(); }
  // The text of record `record` of that file, counted from its first byte: with headers; at most
  // kMostRecordBytes of it. `offset`: of its first byte.
  std::string Text(size_t file, int64_t record, int64_t* offset = nullptr) const;

  // Calls use(text) for each of the records (in [0, size())), in an order that makes reading
  // cheap; row is the place in `records`. A record that is too long is told to out.Bad. Returns how
  // many bytes the records took. Throws DataError when a file was changed since it was opened.
  int64_t Read(ReadContext& context, std::span<const int64_t> records, Block& out,
               const std::function<void(const RecordText&)>& use) const;
  // "file:line:column" of a byte of a file; both count from 1, columns in characters (UTF-8).
  std::string Where(size_t file, int64_t offset) const;

  // Longer records are refused: they come from damaged files.
  static constexpr int64_t kMostRecordBytes = int64_t{256} << 20;

 private:
  class Mapping;
  struct File {
    std::shared_ptr<const ByteFile> bytes;
    // Plain files of local disks: a system call for each record of a shuffled batch would take
    // longer than parsing it does.
    std::shared_ptr<const Mapping> mapping;
    RecordIndex index;
    int64_t skip = 0;
  };
  RecordScan scan_;
  std::vector<File> files_;
  std::vector<int64_t> begin_;  // first record of each file, and the total
};

// Text for messages: in quotes, control characters escaped, cut after `most` bytes.
std::string ShowText(std::string_view text, size_t most = 60);

}  // namespace flatout::data
