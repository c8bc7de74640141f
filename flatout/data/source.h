// flatout/data: from files to batches on the device.
//
// A record index is the base of everything. A Source knows its N records and can read record i, so
//   - the order of training is a pure function of (seed, epoch, position): order.h;
//   - tf.data's verbs (shuffle, repeat, take, skip, shard, interleave, ...) are arithmetic on
//     positions, and an iterator's state is a few bytes, exact at every record: dataset.h;
//   - a batch is assembled by reading its records straight into the buffer that is sent to the
//     device, in chunks, by any number of threads, with the same result: launch.h;
//   - a thread pool does that ahead of the step, bounded in bytes, tuned while it runs: prefetch.h.
//
// What lives where:
//   field.h, block.h    what a record is, and a chunk of them in memory
//   files.h             file patterns, files as bytes (plain, gzip, zlib), cached record indices
//   formats/            parsers and writers of file formats, from bytes; image/ those of pictures
//   sources/            one kind of file or generator each; all are opened by OpenSource
//   transform.h         built-in maps; transforms/ holds them
//   dataset.h           tf.data's verbs; verbs/ the nodes behind them
//   pipeline.h          the [data] table of a run file: source, transforms, filter, cache
//   launch.h, prefetch.h, device_prefetch.h    batches for the training program, made ahead
//
// Bad data is a DataError (exit code 3) that names file, byte offset or record, what was expected
// and what was found; up to data.max_bad_records of them may be left out instead (block.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/block.h"
#include "flatout/data/field.h"
#include "flatout/ir/shape.h"

namespace flatout::data {

class Cursor;

// The best score that any model can reach in expectation; known only for generated data.
struct BestScore {
  double log_loss;           // nats per record, of the true probabilities against the drawn labels
  double expected_log_loss;  // the same with the labels averaged out (entropy of the labels)
  double auc;                // area under the ROC curve of the true probabilities
};

// Sizes that are no number of records.
inline constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kUnknown = -2;  // a stream: only reading it through tells

// Seconds and amounts by stage; the sum over all that a ReadContext did.
struct StageTime {
  double seconds = 0;  // without the stages inside it
  int64_t records = 0;
  int64_t bytes = 0;  // read from files, where the stage does that
};

// What one thread reads with: scratch memory that is used again for chunk after chunk, the count of
// bad records, and where the time goes. Not thread-safe; each thread has its own.
class ReadContext {
 public:
  explicit ReadContext(BadRecords* bad = nullptr) : bad_(bad) {}
  ReadContext(const ReadContext&) = delete;
  ReadContext& operator=(const ReadContext&) = delete;

  // A block that belongs to (owner, slot), Reset to these rows; it keeps its memory between calls.
  // Not to be asked for twice while in use.
  Block& Scratch(const void* owner, int slot, const std::vector<Field>& fields, int64_t rows);
  BadRecords* bad_records() const { return bad_; }

  // Times a stage; the time of a stage within it is the inner one's. By name: two stages of one
  // name are one.
  class Stage {
   public:
    Stage(ReadContext& context, const std::string& name, int64_t records);
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    void AddBytes(int64_t bytes) { bytes_ += bytes; }

   private:
    ReadContext& context_;
    const std::string& name_;
    int64_t records_, bytes_ = 0;
    double begin_, inner_before_;
  };
  // Since the last call.
  std::map<std::string, StageTime> TakeTimes();

 private:
  BadRecords* bad_;
  std::map<std::pair<const void*, int>, Block> scratch_;
  std::map<std::string, StageTime> times_;
  double inner_ = 0;  // seconds of the stages that ended inside the current one
};

// N records, each of which can be read by its number; or a stream, which can only be read in order.
// Data sets are sources too: sources on top of sources.
class Source {
 public:
  virtual ~Source() = default;

  // Records per epoch, N >= 0; kInfinite; kUnknown for a stream.
  virtual int64_t size() const = 0;
  // The tensors of a record, the same for all records.
  virtual const std::vector<Field>& fields() const = 0;
  // Reads records (each in [0, N), in any order, repeats allowed) as they are in `epoch`: row i of
  // `out`, which has records.size() rows of fields(), becomes record records[i]. Safe to call from
  // several threads at once, with a context and block for each. Files do not change from epoch to
  // epoch; shuffles and random transforms do. A bad record is told to out.Bad. Throws DataError.
  // Not for streams.
  virtual void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
                    Block& out) const = 0;
  // Reads the whole of one epoch in order. Sources with a size have a cursor over their records.
  virtual std::unique_ptr<Cursor> Open(int64_t epoch) const;
  bool indexed() const { return size() != kUnknown; }
  // One line for people: "fashion_mnist train: 55000 records, image u8[28,28,1], label i32[]".
  virtual const std::string& description() const = 0;
  // The first shuffle's seed on the way to the files; 0 where there is none.
  virtual uint64_t seed() const { return 0; }
  virtual std::optional<BestScore> best_score() const { return std::nullopt; }
};
using SourcePtr = std::shared_ptr<const Source>;

// Reads one epoch of a source in order.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // Resets `out` to the next rows, at most `want` >= 1 of them, and returns how many; 0 when the
  // epoch is over. A stream leaves bad records out.
  virtual int64_t Next(ReadContext& context, int64_t want, Block& out) = 0;
  // Where it stands, as a few numbers that Restore of a cursor on the same source and epoch takes
  // from the front of `state`. The records that follow are then the same.
  virtual void Save(std::vector<int64_t>& state) const = 0;
  virtual void Restore(std::span<const int64_t>& state) = 0;
};

// ---- kinds of source by name (sources/*.cc) ----

// The names of the splits that a source may have.
inline constexpr std::string_view kSplits[] = {"train", "validation", "test"};

// Reads the source's own keys of [data] through the reader, does not call Finish. The result opens
// a split, or gives nullptr when the table does not define that split.
using SourceOpener = std::function<std::function<SourcePtr(std::string_view split)>(FieldReader&)>;
// Makes one more kind of source known. Throws when the name is taken.
void RegisterSource(std::string name, SourceOpener opener);
// All known kinds, sorted.
std::vector<std::string> SourceKinds();
// The opener of that kind; empty when there is none.
SourceOpener FindSource(const std::string& name);

}  // namespace flatout::data
