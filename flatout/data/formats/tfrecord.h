// TFRecord: a file of records of any bytes, each with checksums.
//
// Format, repeated to the end of the file (little-endian; source: TensorFlow's tutorial "TFRecord
// and tf.train.Example" and the comment in its record_writer.h):
//   u64 length
//   u32 masked CRC-32C of those 8 bytes
//   byte data[length]
//   u32 masked CRC-32C of data
// where the mask of c is ((c >> 15) | (c << 17)) + 0xa282ead8. The file may be packed as a whole
// with gzip or zlib. What the bytes mean: example.h.
//
// A file is indexed once by going from length to length; data is checked when it is read. Damage:
//   - a data checksum: that record is bad;
//   - a length checksum, or a file that ends inside a record: nothing tells where the next record
//     begins, so the rest of that file is lost. It counts as one bad record, the last of its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/data/files.h"

namespace flatout::data {

inline constexpr int64_t kTfRecordHeader = 12;  // bytes before the data
inline constexpr int64_t kTfRecordFooter = 4;   // bytes after it

uint32_t MaskedCrc32c(std::span<const std::byte> data);
// Whether these bytes begin with a right length and its checksum.
bool BeginsTfRecord(std::span<const std::byte> head);

// What is wrong at the end of an index.
enum class TfRecordDamage : int64_t {
  kNone = 0,
  kLengthChecksum,  // the length's checksum does not fit
  kCutHeader,       // the file ends inside a header
  kCutData,         // the file ends inside the data or its checksum
};

// Where the records of one file are.
struct TfRecordIndex {
  // Record i is the bytes [offsets[i], offsets[i + 1]), header and footer included; one more offset
  // than records. With damage the last record is what is lost, up to the file's end.
  std::vector<int64_t> offsets = {0};
  TfRecordDamage damage = TfRecordDamage::kNone;

  int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

// Goes through the file's lengths. Does not look at the data. Throws DataError when the file cannot
// be read; damage is in the result.
TfRecordIndex IndexTfRecords(const ByteFile& file);
// The same for a whole file in memory.
TfRecordIndex IndexTfRecords(std::span<const std::byte> content);

// One file with its index. Thread-safe.
class TfRecordFile {
 public:
  // Throws DataError when the file cannot be opened, read or unpacked. An empty file has no
  // records.
  static std::shared_ptr<const TfRecordFile> Open(const std::string& path);

  const ByteFile& file() const { return *file_; }
  const TfRecordIndex& index() const { return index_; }
  int64_t size() const { return index_.size(); }
  int64_t offset(int64_t record) const { return index_.offsets[static_cast<size_t>(record)]; }
  // Bytes of the record with header and footer.
  int64_t extent(int64_t record) const { return offset(record + 1) - offset(record); }
  // Whether the record stands for the lost end of the file. It may be gigabytes: not to be read.
  bool lost(int64_t record) const {
    return index_.damage != TfRecordDamage::kNone && record == size() - 1;
  }
  // What happened there: file, offset, record, kind of damage, bytes lost, remedy.
  DataError Damage(int64_t record) const;
  // The data of a record that is not lost, given its extent() bytes. Throws DataError naming file,
  // offset and record when its checksum is wrong.
  std::span<const std::byte> Check(int64_t record, std::span<const std::byte> framed) const;
  // Reads and checks one record. Throws DataError, also for a lost one.
  std::span<const std::byte> Read(int64_t record, std::vector<std::byte>& scratch) const;
  // "train.tfrecord: record 17 at byte 2040".
  std::string Describe(int64_t record) const;

 private:
  std::shared_ptr<const ByteFile> file_;
  TfRecordIndex index_;
};

enum class TfRecordPacking { kNone, kGzip, kZlib };

// Writes one file. Under a temporary name in the same folder until Close, which syncs and renames,
// so that `path` is never seen half-written; without Close nothing stays. Not thread-safe; several
// writers of different paths may run at once.
class TfRecordWriter {
 public:
  explicit TfRecordWriter(std::string path, TfRecordPacking packing = TfRecordPacking::kNone);
  ~TfRecordWriter();
  TfRecordWriter(const TfRecordWriter&) = delete;
  TfRecordWriter& operator=(const TfRecordWriter&) = delete;

  // Appends one record. Throws UserError (disk full and the like).
  void Write(std::span<const std::byte> data);
  void Write(std::string_view data) {
    Write(std::as_bytes(std::span<const char>(data.data(), data.size())));
  }
  // Ends the file; no Write after it. Throws UserError.
  void Close();

  int64_t records() const { return records_; }
  int64_t bytes() const { return bytes_; }  // unpacked, with headers and footers

 private:
  struct State;
  std::unique_ptr<State> state_;
  int64_t records_ = 0, bytes_ = 0;
};

}  // namespace flatout::data
