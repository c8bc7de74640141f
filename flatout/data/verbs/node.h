// The nodes behind the verbs of dataset.h: sources on top of sources. Internal to flatout/data.
//
// A verb whose inputs all have a size becomes a node that does arithmetic on positions: order.cc
// (shuffle, repeat, take, skip, shard, select), combine.cc (concatenate, zip, interleave, sample),
// group.cc (batch, padded_batch, window, unbatch), stage.cc (map). Over a stream the same verb is a
// Stream with a cursor of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flatout/data/dataset.h"
#include "flatout/data/source.h"

namespace flatout::data::verbs {

// Where the time of the parallel stages went. Thread-safe.
class StageTotals {
 public:
  // What `now` has more than `before`, of one engine.
  void Add(const EngineStats& before, const EngineStats& now);
  // Adds all of it to an engine's own.
  void AddTo(EngineStats& stats) const;

 private:
  mutable std::mutex mutex_;
  double busy_ = 0, cpu_ = 0;
  std::map<std::string, StageTime> stages_;
};

// How a stream is read: DatasetOptions, as its cursors need it.
struct StreamOptions {
  bool parallel = true;  // ahead, on threads; false: on demand, by the caller's thread
  bool deterministic = true;
  int workers = 0;                      // of each parallel stage; 0: tuned
  int64_t bytes = 0;                    // that may wait at each parallel stage; 0: DefaultBudget()
  std::shared_ptr<StageTotals> totals;  // to be added to, where given
};

class Node : public Source {
 public:
  Node(std::vector<SourcePtr> inputs, int64_t size, std::vector<Field> fields,
       std::string description);

  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }
  // Of the first input that has one.
  uint64_t seed() const override;
  // Of the only input.
  std::optional<BestScore> best_score() const override;
  // Of streams: an error.
  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override;

  const std::vector<SourcePtr>& inputs() const { return inputs_; }
  const SourcePtr& input() const { return inputs_[0]; }
  // Whether the field "weight" is the one that Batch adds.
  bool masked() const { return masked_; }

 protected:
  std::vector<SourcePtr> inputs_;
  int64_t size_;
  std::vector<Field> fields_;
  std::string description_;
  bool masked_ = false;
};

// A node that can only be read in order.
class Stream : public Node {
 public:
  using Opener = std::function<std::unique_ptr<Cursor>(const Stream& stream, int64_t epoch,
                                                       const StreamOptions& options)>;
  Stream(std::vector<SourcePtr> inputs, std::vector<Field> fields, std::string description,
         Opener opener);
  std::unique_ptr<Cursor> Open(int64_t epoch) const override { return OpenWith(epoch, {}); }
  std::unique_ptr<Cursor> OpenWith(int64_t epoch, const StreamOptions& options) const {
    return opener_(*this, epoch, options);
  }

 private:
  Opener opener_;
};

// A cursor over any source; over one with a size it reads ahead where options.parallel.
std::unique_ptr<Cursor> OpenCursor(const SourcePtr& source, int64_t epoch,
                                   const StreamOptions& options);
// How many parallel stages OpenCursor(source) makes.
int CountStages(const SourcePtr& source);

// ---- blocks ----

// Whether all fields are.
bool AllFixed(const std::vector<Field>& fields);
// Memory that the rows of a block take, without what they share with files.
int64_t BlockBytes(const Block& block);
// About how many records of these fields are worth reading at once: 256 KiB of them, 1 to 1024.
int64_t ChunkRows(const std::vector<Field>& fields);
// Rows [row, row + count) of `out` become those of `from` from from_row on; `deep` as in CopyRow.
void CopyRows(Block& out, int64_t row, const Block& from, int64_t from_row, int64_t count,
              bool deep);
// How many records are worth reading at once, where their size is learnt while they are read.
// Thread-safe.
class ChunkSize {
 public:
  explicit ChunkSize(const std::vector<Field>& fields)
      : fixed_(AllFixed(fields)), rows_(ChunkRows(fields)) {}
  int64_t rows() const;
  // So many records took so much.
  void Learn(int64_t records, int64_t bytes);

 private:
  const bool fixed_;
  const int64_t rows_;
  // Bytes of a record; at first a guess on the safe side.
  std::atomic<int64_t> mean_ = int64_t{1} << 16;
};
// Leaves the first `rows` rows of the block; returns how many.
int64_t CutRows(Block& block, int64_t rows);
// Makes `part`, which has as many fixed fields as `out`, rows [row, row + rows) of it, in its
// memory.
void BorrowRows(Block& part, Block& out, int64_t row, int64_t rows);
// Reads the records into rows [row, ...) of `out`; `part` is scratch for that.
void ReadRows(ReadContext& context, const Source& source, int64_t epoch,
              std::span<const int64_t> records, Block& out, int64_t row, Block& part);
// Reads as many of the records as can be read, one after the other, into `out`; what stopped it, if
// anything did. `out` is Reset to the records before that.
std::exception_ptr ReadUpToError(ReadContext& context, const Source& source, int64_t epoch,
                                 std::span<const int64_t> records, Block& out);
// Field f of row `row` becomes entry `entry` along the first dimension of field g of another row.
void CopyEntry(Block& out, size_t f, int64_t row, const Block& from, size_t g, int64_t from_row,
               int64_t entry);

// Rows that are kept, copied from other blocks; grows as they come.
class RowStore {
 public:
  explicit RowStore(std::vector<Field> fields)
      : fields_(std::move(fields)), per_block_(ChunkRows(fields_)) {}
  // Adds rows [row, row + count) of a block of the same fields.
  void Add(const Block& from, int64_t row, int64_t count);
  int64_t size() const { return size_; }
  const Block& block(int64_t i) const { return blocks_[static_cast<size_t>(i / per_block_)]; }
  int64_t row(int64_t i) const { return i % per_block_; }  // of block(i)
  // Row `row` of `out` becomes row i.
  void CopyTo(Block& out, int64_t row, int64_t i, bool deep) const {
    CopyRows(out, row, block(i), this->row(i), 1, deep);
  }
  int64_t bytes() const { return bytes_; }
  // Keeps the memory for what is added next.
  void Clear() { size_ = bytes_ = 0; }

 private:
  std::vector<Field> fields_;
  int64_t per_block_;
  std::vector<Block> blocks_;
  int64_t size_ = 0, bytes_ = 0;
};

// ---- saved states ----

// Takes the next number off the state, which must lie in [low, high]. Throws UserError.
int64_t TakeState(std::span<const int64_t>& state, int64_t low, int64_t high);

// The rows of a cursor, one by one, with a state before each of them.
class Feed {
 public:
  // `history`: states before rows that were taken already can be saved as well, back to the last
  // Forget.
  Feed(const SourcePtr& source, int64_t epoch, const StreamOptions& options, bool history = false);

  // Whether there is a row; reads on, up to `want` of them, where there is none.
  bool Fill(ReadContext& context, int64_t want);
  const Block& block() const { return block_; }
  int64_t row() const { return row_; }  // of block(): the next one
  int64_t rows() const { return rows_ - row_; }
  void Take(int64_t count) { row_ += count; }
  // How many were taken since the beginning of the epoch.
  int64_t taken() const { return first_ + row_ + skip_; }

  void Save(std::vector<int64_t>& state) const { SaveAt(taken(), state); }
  // The state before row `row` of the epoch.
  void SaveAt(int64_t row, std::vector<int64_t>& state) const;
  void Forget(int64_t before);
  void Restore(std::span<const int64_t>& state);

 private:
  struct Mark {
    int64_t first;  // row of the epoch
    std::vector<int64_t> state;
  };
  std::unique_ptr<Cursor> cursor_;
  bool deterministic_, history_;
  int64_t most_;  // rows that are asked for at once
  Block block_;
  int64_t first_ = 0;  // row of the epoch that row 0 of block_ is
  int64_t row_ = 0, rows_ = 0;
  int64_t skip_ = 0;  // rows to pass over after Restore
  std::vector<Mark> marks_;
};

// ---- the verbs ----

SourcePtr FromFunction(std::vector<Field> fields, int64_t size, Dataset::RecordFunction function,
                       const std::string& name);
SourcePtr FromGenerator(std::vector<Field> fields,
                        std::function<Dataset::Generator(int64_t epoch)> start,
                        const std::string& name);
SourcePtr Range(int64_t begin, int64_t end, int64_t step);

SourcePtr Map(SourcePtr input, std::vector<Field> fields, Dataset::MapFunction function,
              const std::string& name);
SourcePtr Apply(SourcePtr input, std::vector<TransformPtr> transforms, uint64_t seed);
SourcePtr Filter(SourcePtr input, Dataset::Predicate predicate, const std::string& name);
SourcePtr FilterNow(SourcePtr input, const Dataset::Predicate& predicate, const std::string& name);
// The stream made by Filter and Map with its first input, which has a size, replaced by what
// `change` makes of it; nullptr when it is no such stream.
SourcePtr RebuildStages(const SourcePtr& stream,
                        const std::function<SourcePtr(const SourcePtr&)>& change);

SourcePtr Select(SourcePtr input, std::vector<int64_t> records);
SourcePtr Shuffle(SourcePtr input, uint64_t seed);
SourcePtr ShuffleWindow(SourcePtr input, uint64_t seed, int64_t window);
SourcePtr Repeat(SourcePtr input, int64_t count);
SourcePtr Take(SourcePtr input, int64_t count);
SourcePtr Skip(SourcePtr input, int64_t count);
SourcePtr Shard(SourcePtr input, int64_t num_shards, int64_t index);

SourcePtr Concatenate(std::vector<SourcePtr> inputs);
SourcePtr Zip(std::vector<SourcePtr> inputs);
SourcePtr Interleave(std::vector<SourcePtr> inputs, int64_t cycle_length, int64_t block_length);
SourcePtr SampleFromDatasets(std::vector<SourcePtr> inputs, const std::vector<double>& weights,
                             uint64_t seed, bool stop_on_empty);

SourcePtr Batch(SourcePtr input, BatchOptions options);
SourcePtr PaddedBatch(SourcePtr input, PaddedBatchOptions options);
SourcePtr Window(SourcePtr input, int64_t size, int64_t shift, int64_t stride, bool drop_remainder);
SourcePtr Unbatch(SourcePtr input);
SourcePtr BucketByLength(SourcePtr input, BucketOptions options);

SourcePtr CacheInMemory(SourcePtr input, int64_t budget);
SourcePtr CacheInFile(SourcePtr input, const std::string& path, const std::string& version);

}  // namespace flatout::data::verbs
