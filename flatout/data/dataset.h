// Dataset: tf.data's verbs.
//
//   auto train = data::Dataset::FromSource(source)
//                    .Shuffle(seed)
//                    .Apply(data::MakeTransform(...))
//                    .Batch(128);
//   data::Iterator it = train.Prefetch().MakeIterator();
//   for (int epoch = 0; epoch < 3; ++epoch)
//     while (const data::Element* batch = it.Next()) Use(batch->Values<float>("image"));
//
// A Dataset is a small value around a Source; every verb gives a new one, and nothing is read
// before an Iterator asks. Most verbs are arithmetic on positions: a shuffle costs no memory and
// has no pause between epochs, any position can be reached at once, and the iterator's state is a
// few bytes. Verbs that cannot know how many records there will be (Filter, FromGenerator,
// BucketByLength, Unbatch of what is not fixed) give a stream: size() is kUnknown, it is read in
// order, and its state says where in its input it stands.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flatout/data/arrays.h"
#include "flatout/data/engine.h"
#include "flatout/data/source.h"
#include "flatout/data/state.h"
#include "flatout/data/transform.h"

namespace flatout::data {

class Iterator;

struct BatchOptions {
  int64_t size = 1;
  // Leave out what does not fill the last batch. Otherwise that batch is padded with zero rows, so
  // that all batches have one shape; the field "weight" f32[size] is 1 for records, 0 for padding.
  bool drop_remainder = false;
};

struct PaddedBatchOptions : BatchOptions {
  // Dimensions of the padded records, by field; kAny there, or a field that is not named: the
  // longest in the batch.
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes;
  // What to pad numbers with, by field; 0 otherwise.
  std::vector<std::pair<std::string, double>> values;
};

struct BucketOptions {
  // The length of a record, from a block that holds it at `row`.
  std::function<int64_t(const Block& block, int64_t row)> length;
  std::vector<int64_t>
      boundaries;  // rising; bucket i holds lengths < boundaries[i], the last all else
  std::vector<int64_t> batch_sizes;  // boundaries.size() + 1 of them
  bool pad_to_boundary = false;      // to boundary - 1; longer records are an error then
  bool drop_remainder = false;
  std::vector<std::pair<std::string, double>> values;  // as PaddedBatchOptions
};

struct DatasetOptions {
  bool deterministic = true;  // false: a parallel stream gives its chunks as they come
  int workers = 0;            // threads; 0: tuned
  int64_t memory_budget = 0;  // bytes for everything that waits; 0: DefaultBudget()
  int64_t max_bad_records = 0;
};

class Dataset {
 public:
  // ---- where records come from ----
  static Dataset FromSource(SourcePtr source);
  // The first dimension of each array counts the records.
  static Dataset FromTensorSlices(std::vector<Array> arrays, const std::string& name = "arrays");
  // Record i is what `function` writes into row `row` of the block; called from several threads.
  using RecordFunction = std::function<void(int64_t record, Block& out, int64_t row)>;
  static Dataset FromFunction(std::vector<Field> fields, int64_t size, RecordFunction function,
                              const std::string& name = "function");
  // A stream. `start(epoch)` gives a callable that writes the next record into row `row` and
  // returns true, or returns false at the end; one thread calls it. Going on from a saved state
  // runs it again up to there.
  using Generator = std::function<bool(Block& out, int64_t row)>;
  static Dataset FromGenerator(std::vector<Field> fields,
                               std::function<Generator(int64_t epoch)> start,
                               const std::string& name = "generator");
  static Dataset Range(int64_t begin, int64_t end, int64_t step = 1);  // field "value" i64[]

  const SourcePtr& source() const { return source_; }
  operator const SourcePtr&() const { return source_; }
  // Elements per epoch, kInfinite after Repeat(), kUnknown for a stream.
  int64_t size() const { return source_->size(); }
  const std::vector<Field>& fields() const { return source_->fields(); }

  // ---- each record by itself ----
  // Fills a block of `fields` from a block of records; called from several threads, must depend on
  // nothing but its input. Bad records of the input are left out of the result by themselves.
  using MapFunction = std::function<void(const Block& in, Block& out)>;
  Dataset Map(std::vector<Field> fields, MapFunction function,
              const std::string& name = "map") const;
  // A built-in map. `seed` is for random ones, which draw from (seed, epoch, record).
  Dataset Apply(TransformPtr transform, uint64_t seed = 0) const;
  Dataset Apply(std::vector<TransformPtr> transforms, uint64_t seed = 0) const;
  // A stream of the records for which it is true.
  using Predicate = std::function<bool(const Block& block, int64_t row)>;
  Dataset Filter(Predicate predicate, const std::string& name = "filter") const;
  // The same as an indexed data set: reads all records once now, in parallel, to learn which.
  Dataset FilterNow(Predicate predicate, const std::string& name = "filter") const;
  // The records with these numbers, in this order. Repeats are allowed.
  Dataset Select(std::vector<int64_t> records) const;

  // ---- order ----
  // A full permutation of what is before it, another one in each epoch (order.h). Of a stream made
  // by Filter or Map: of the records before them, which comes to the same.
  Dataset Shuffle(uint64_t seed) const;
  // A permutation within each run of `window` records, and of the runs: for media on which reading
  // here and there is slow. For any stream: within runs only.
  Dataset ShuffleWindow(uint64_t seed, int64_t window) const;
  // One epoch of the result is `count` of the input's, each shuffled anew; endless when negative.
  Dataset Repeat(int64_t count = -1) const;
  // The first `count` positions, or all when there are fewer; count >= 0.
  Dataset Take(int64_t count) const;
  Dataset Skip(int64_t count) const;
  // Positions index, index + num_shards, ...: the shards of all indices are disjoint and complete.
  Dataset Shard(int64_t num_shards, int64_t index) const;
  Dataset Concatenate(const Dataset& other) const;
  // Side by side; the names must differ. As long as the shortest.
  static Dataset Zip(const std::vector<Dataset>& datasets);
  // Takes block_length records in turn from each of cycle_length data sets, the next one where one
  // has ended (as tf.data's interleave).
  static Dataset Interleave(const std::vector<Dataset>& datasets, int64_t cycle_length,
                            int64_t block_length = 1);
  // Mixes data sets by weight; each gives its records in its own order. Until the first ends, or,
  // with stop_on_empty = false, until all have.
  static Dataset SampleFromDatasets(const std::vector<Dataset>& datasets,
                                    std::vector<double> weights, uint64_t seed,
                                    bool stop_on_empty = true);

  // ---- several records in one ----
  Dataset Batch(int64_t size, bool drop_remainder = false) const;
  Dataset PaddedBatch(PaddedBatchOptions options) const;
  // Batches of records of like length (tf.data's bucket_by_sequence_length). A stream.
  Dataset BucketByLength(BucketOptions options) const;
  // Each batch's rows one by one; rows of weight 0 that Batch added are left out.
  Dataset Unbatch() const;
  // Unbatch and Batch.
  Dataset Rebatch(int64_t size, bool drop_remainder = false) const;
  // Element p is the `size` records from p * shift on, each `stride` after the one before, as a
  // batch without weight; the last may be shorter unless drop_remainder.
  Dataset Window(int64_t size, int64_t shift = 0, int64_t stride = 1,
                 bool drop_remainder = false) const;

  // ---- engine ----
  // Keeps records in memory as they are read for the first time; they are read once. `budget`
  // bytes at most; more than that is an error that names Cache(path).
  Dataset Cache(int64_t budget = 0) const;
  // In a file that is mapped into memory; kept and used again while the input's description and
  // size agree. Written to the side and renamed, so that a broken-off run leaves nothing wrong.
  // `version`: what the description does not tell, such as a map's parameters or the files' dates;
  // where it changes the file is made anew. Either cache holds the input as it is in epoch 0.
  Dataset Cache(const std::string& path, const std::string& version = "") const;
  // Iterators make elements ahead, `depth` of them (0: tuned). Without it they are made on demand.
  Dataset Prefetch(int depth = 0) const;
  Dataset WithOptions(DatasetOptions options) const;

  Iterator MakeIterator() const;

 private:
  friend class Iterator;
  explicit Dataset(SourcePtr source) : source_(std::move(source)) {}
  Dataset With(SourcePtr source) const;

  SourcePtr source_;
  DatasetOptions options_;
  std::optional<int> prefetch_;
};

// One element: a record, or after Batch a batch.
class Element {
 public:
  explicit Element(const Block* block, int64_t row) : block_(block), row_(row) {}
  // Values of a field by name, in row-major order. Throws UserError when there is no such field or
  // T has another size than its elements.
  template <typename T>
  std::span<const T> Values(std::string_view field) const {
    std::span<const std::byte> bytes = Bytes(field, sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  std::span<const int64_t> Dims(std::string_view field) const;
  std::string_view Text(std::string_view field) const;                // text of rank 0
  std::vector<std::string_view> Texts(std::string_view field) const;  // text of any rank
  const Block& block() const { return *block_; }
  int64_t row() const { return row_; }

 private:
  std::span<const std::byte> Bytes(std::string_view field, size_t element_bytes) const;
  const Block* block_;
  int64_t row_;
};

class Iterator {
 public:
  explicit Iterator(Dataset dataset);
  ~Iterator();
  Iterator(Iterator&&) noexcept;

  // The next element, valid until the next call; nullptr once at the end of each epoch, after which
  // the next epoch begins. Bad records that are allowed are left out. Throws what reading threw.
  const Element* Next();
  // After the elements given out so far. Restoring it into an iterator over the same data gives
  // exactly the elements that would have followed.
  IteratorState state() const;
  // Throws UserError when the state is of other data or another seed.
  void Restore(const IteratorState& state);
  // Zeros without Prefetch.
  EngineStats stats() const;
  // Bad records left out so far.
  int64_t bad_records() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flatout::data
