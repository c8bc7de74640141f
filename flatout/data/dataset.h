// Dataset: tf.data's verbs over a record index.
//
//   auto train = data::Dataset::FromSource(source).Shuffle(seed).Batch(128).Prefetch(4);
//   data::Iterator it = train.MakeIterator();
//   for (int epoch = 0; epoch < 3; ++epoch)
//     while (const data::HostLaunch* batch = it.Next()) Use(batch->Values<uint8_t>("image"));
//
// A Dataset is a small value: a source, and a function from (epoch, position) to a record. Verbs
// return new ones. Nothing is read and nothing is buffered before an Iterator asks, so a shuffle
// costs no memory, has no pause between epochs, and any position can be reached at once.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/arrays.h"
#include "flatout/data/source.h"

namespace flatout::data {

class Iterator;
class LaunchReader;
class Prefetcher;
class HostLaunch;
class BatchedDataset;

// Where an iterator stands: all that is needed to go on, with any batch size or number of workers.
struct IteratorState {
  uint64_t seed = 0;     // of the first Shuffle; 0 where there is none
  int64_t epoch = 0;     // counts from 0
  int64_t position = 0;  // records of this epoch that were given out
  int64_t size = 0;      // records per epoch, to notice that the data changed

  bool operator==(const IteratorState&) const = default;
};

// Which record stands at which position of an epoch.
class RecordOrder {
 public:
  virtual ~RecordOrder() = default;
  // Records per epoch; kInfinite after Repeat() without a count.
  virtual int64_t size() const = 0;
  // Replaces positions (each in [0, size())) by record numbers. Thread-safe.
  virtual void Map(int64_t epoch, std::span<int64_t> positions) const = 0;
  // The first Shuffle's seed on the way to the source.
  virtual uint64_t seed() const = 0;
};
inline constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max();

// A chunk of records, field by field, for Map.
struct Chunk {
  int64_t records;
  std::span<std::byte* const> fields;  // fields[f]: records * shape.bytes() bytes
};

class Dataset {
 public:
  // Records 0..N-1 of the source, in their order.
  static Dataset FromSource(SourcePtr source);
  // As tf.data's from_tensor_slices: the first dimension of each array counts the records.
  static Dataset FromTensorSlices(std::vector<Array> arrays, const std::string& name = "arrays");

  // Records per epoch, kInfinite after Repeat().
  int64_t size() const { return order_->size(); }
  const std::vector<Field>& fields() const { return source_->fields(); }
  const SourcePtr& source() const { return source_; }
  const RecordOrder& order() const { return *order_; }

  // A full permutation of what is before it, another one in each epoch (order.h).
  Dataset Shuffle(uint64_t seed) const;
  // One epoch of the result is `count` of the input's, each shuffled anew; endless when negative.
  Dataset Repeat(int64_t count = -1) const;
  // The first `count` positions, or all when there are fewer; count >= 0.
  Dataset Take(int64_t count) const;
  Dataset Skip(int64_t count) const;
  // Positions index, index + num_shards, ...: the shards of all indices are disjoint and complete.
  Dataset Shard(int64_t num_shards, int64_t index) const;
  // Each record changed by `function`, which gets a chunk of records and fills a chunk of `fields`.
  // It is called from several threads and must depend on nothing but its input.
  using MapFunction = std::function<void(const Chunk& in, const Chunk& out)>;
  Dataset Map(std::vector<Field> fields, MapFunction function) const;

  // Batches of `batch_size` records. The last one is padded with zero rows of weight 0, so that it
  // has the same shape; with drop_remainder it is left out.
  BatchedDataset Batch(int64_t batch_size, bool drop_remainder = false) const;

 private:
  Dataset(SourcePtr source, std::shared_ptr<const RecordOrder> order)
      : source_(std::move(source)), order_(std::move(order)) {}
  SourcePtr source_;
  std::shared_ptr<const RecordOrder> order_;
};

class BatchedDataset {
 public:
  // Batches are made on `workers` threads, up to `depth` of them ahead. The order stays the same.
  BatchedDataset Prefetch(int depth, int workers = 1) const;
  // Batches per epoch, kInfinite after Repeat().
  int64_t size() const;
  const Dataset& dataset() const { return dataset_; }
  Iterator MakeIterator() const;

 private:
  friend class Dataset;
  friend class Iterator;
  BatchedDataset(Dataset dataset, int64_t batch_size, bool drop_remainder)
      : dataset_(std::move(dataset)), batch_size_(batch_size), drop_remainder_(drop_remainder) {}
  Dataset dataset_;
  int64_t batch_size_;
  bool drop_remainder_;
  int depth_ = 0;
  int workers_ = 1;
};

class Iterator {
 public:
  explicit Iterator(BatchedDataset dataset);
  ~Iterator();
  Iterator(Iterator&&) noexcept;

  // The next batch, valid until the next call; nullptr once at the end of each epoch, after which
  // the next epoch begins. Throws what reading threw.
  const HostLaunch* Next();
  // After the batches given out so far. Restoring it into an iterator over the same records gives
  // exactly the batches that would have followed.
  const IteratorState& state() const { return state_; }
  // Throws UserError when the state is of other data or another seed.
  void Restore(const IteratorState& state);

 private:
  BatchedDataset dataset_;
  std::unique_ptr<LaunchReader> reader_;
  std::unique_ptr<Prefetcher> prefetcher_;
  std::shared_ptr<HostLaunch> current_;
  IteratorState state_;
  bool at_epoch_end_ = false;
};

// The keys of [data] that are about the pipeline, whatever the source.
struct PipelineOptions {
  bool shuffle = true;                     // the training split only
  int64_t prefetch = 4;                    // launches made ahead of the step
  std::string prefetch_memory = "256MiB";  // that they may take in all
  int64_t workers = 1;                     // threads that make them

  template <class V>
  void Visit(V& v) {
    v("shuffle", shuffle);
    v("prefetch", prefetch);
    v("prefetch_memory", prefetch_memory);
    v("workers", workers);
  }
  // Throws UserError with the place of a value out of range.
  void Check(const Config& table) const;
  int64_t prefetch_bytes() const;
};
// These keys of the table; the others are left to OpenSource.
PipelineOptions ReadPipelineOptions(const Config& table);

}  // namespace flatout::data
