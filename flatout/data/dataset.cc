#include "flatout/data/dataset.h"

#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/verbs/node.h"

namespace flatout::data {
namespace {

std::vector<SourcePtr> Sources(const std::vector<Dataset>& datasets) {
  std::vector<SourcePtr> sources;
  for (const Dataset& dataset : datasets) sources.push_back(dataset.source());
  return sources;
}

}  // namespace

Dataset Dataset::With(SourcePtr source) const {
  Dataset result = *this;
  result.source_ = std::move(source);
  return result;
}

Dataset Dataset::FromSource(SourcePtr source) {
  if (!source) throw Invalid("a data set needs a source, found none (is the split defined?)");
  return Dataset(std::move(source));
}
Dataset Dataset::FromTensorSlices(std::vector<Array> arrays, const std::string& name) {
  return FromSource(std::make_shared<ArraysSource>(name, std::move(arrays)));
}
Dataset Dataset::FromFunction(std::vector<Field> fields, int64_t size, RecordFunction function,
                              const std::string& name) {
  return Dataset(verbs::FromFunction(std::move(fields), size, std::move(function), name));
}
Dataset Dataset::FromGenerator(std::vector<Field> fields,
                               std::function<Generator(int64_t epoch)> start,
                               const std::string& name) {
  return Dataset(verbs::FromGenerator(std::move(fields), std::move(start), name));
}
Dataset Dataset::Range(int64_t begin, int64_t end, int64_t step) {
  return Dataset(verbs::Range(begin, end, step));
}

Dataset Dataset::Map(std::vector<Field> fields, MapFunction function,
                     const std::string& name) const {
  return With(verbs::Map(source_, std::move(fields), std::move(function), name));
}
Dataset Dataset::Apply(TransformPtr transform, uint64_t seed) const {
  return With(verbs::Apply(source_, {std::move(transform)}, seed));
}
Dataset Dataset::Apply(std::vector<TransformPtr> transforms, uint64_t seed) const {
  return With(verbs::Apply(source_, std::move(transforms), seed));
}
Dataset Dataset::Filter(Predicate predicate, const std::string& name) const {
  return With(verbs::Filter(source_, std::move(predicate), name));
}
Dataset Dataset::FilterNow(Predicate predicate, const std::string& name) const {
  return With(verbs::FilterNow(source_, predicate, name));
}
Dataset Dataset::Select(std::vector<int64_t> records) const {
  return With(verbs::Select(source_, std::move(records)));
}

Dataset Dataset::Shuffle(uint64_t seed) const { return With(verbs::Shuffle(source_, seed)); }
Dataset Dataset::ShuffleWindow(uint64_t seed, int64_t window) const {
  return With(verbs::ShuffleWindow(source_, seed, window));
}
Dataset Dataset::Repeat(int64_t count) const { return With(verbs::Repeat(source_, count)); }
Dataset Dataset::Take(int64_t count) const { return With(verbs::Take(source_, count)); }
Dataset Dataset::Skip(int64_t count) const { return With(verbs::Skip(source_, count)); }
Dataset Dataset::Shard(int64_t num_shards, int64_t index) const {
  return With(verbs::Shard(source_, num_shards, index));
}

Dataset Dataset::Concatenate(const Dataset& other) const {
  return With(verbs::Concatenate({source_, other.source_}));
}
Dataset Dataset::Zip(const std::vector<Dataset>& datasets) {
  SourcePtr source = verbs::Zip(Sources(datasets));
  return datasets[0].With(std::move(source));
}
Dataset Dataset::Interleave(const std::vector<Dataset>& datasets, int64_t cycle_length,
                            int64_t block_length) {
  SourcePtr source = verbs::Interleave(Sources(datasets), cycle_length, block_length);
  return datasets[0].With(std::move(source));
}
Dataset Dataset::SampleFromDatasets(const std::vector<Dataset>& datasets,
                                    std::vector<double> weights, uint64_t seed,
                                    bool stop_on_empty) {
  SourcePtr source = verbs::SampleFromDatasets(Sources(datasets), weights, seed, stop_on_empty);
  return datasets[0].With(std::move(source));
}

Dataset Dataset::Batch(int64_t size, bool drop_remainder) const {
  return With(verbs::Batch(source_, BatchOptions{size, drop_remainder}));
}
Dataset Dataset::PaddedBatch(PaddedBatchOptions options) const {
  return With(verbs::PaddedBatch(source_, std::move(options)));
}
Dataset Dataset::BucketByLength(BucketOptions options) const {
  return With(verbs::BucketByLength(source_, std::move(options)));
}
Dataset Dataset::Unbatch() const { return With(verbs::Unbatch(source_)); }
Dataset Dataset::Rebatch(int64_t size, bool drop_remainder) const {
  return Unbatch().Batch(size, drop_remainder);
}
Dataset Dataset::Window(int64_t size, int64_t shift, int64_t stride, bool drop_remainder) const {
  return With(verbs::Window(source_, size, shift, stride, drop_remainder));
}

Dataset Dataset::Cache(int64_t budget) const { return With(verbs::CacheInMemory(source_, budget)); }
Dataset Dataset::Cache(const std::string& path, const std::string& version) const {
  return With(verbs::CacheInFile(source_, path, version));
}
Dataset Dataset::Prefetch(int depth) const {
  if (depth < 0) {
    throw Invalid("Prefetch: expected a number of elements, or 0 to have it tuned, found {}",
                  depth);
  }
  Dataset result = *this;
  result.prefetch_ = depth;
  return result;
}
Dataset Dataset::WithOptions(DatasetOptions options) const {
  if (options.workers < 0 || options.memory_budget < 0 || options.max_bad_records < 0) {
    throw Invalid(
        "WithOptions: expected workers, memory_budget and max_bad_records >= 0, found {}, {} and "
        "{}",
        options.workers, options.memory_budget, options.max_bad_records);
  }
  Dataset result = *this;
  result.options_ = options;
  return result;
}

Iterator Dataset::MakeIterator() const { return Iterator(*this); }

}  // namespace flatout::data
