#include "flatout/data/dataset.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "flatout/base/text.h"
#include "flatout/data/launch.h"
#include "flatout/data/order.h"
#include "flatout/data/prefetch.h"

namespace flatout::data {
namespace {

using OrderPtr = std::shared_ptr<const RecordOrder>;

class InOrder : public RecordOrder {
 public:
  explicit InOrder(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  void Map(int64_t, std::span<int64_t>) const override {}
  uint64_t seed() const override { return 0; }

 private:
  int64_t size_;
};

class Shuffled : public RecordOrder {
 public:
  Shuffled(OrderPtr input, uint64_t seed) : input_(std::move(input)), seed_(seed) {}
  int64_t size() const override { return input_->size(); }
  uint64_t seed() const override { return seed_; }
  void Map(int64_t epoch, std::span<int64_t> positions) const override {
    Get(epoch)->Apply(positions);
    input_->Map(epoch, positions);
  }

 private:
  // Around an epoch's border two of them are in use; making one can cost a small table.
  std::shared_ptr<const Permutation> Get(int64_t epoch) const {
    std::lock_guard lock(mutex_);
    auto& slot = recent_[static_cast<size_t>(epoch) % 2];
    if (!slot.second || slot.first != epoch) {
      slot = {epoch, std::make_shared<const Permutation>(seed_, epoch, size())};
    }
    return slot.second;
  }

  OrderPtr input_;
  uint64_t seed_;
  mutable std::mutex mutex_;
  mutable std::pair<int64_t, std::shared_ptr<const Permutation>> recent_[2];
};

class Repeated : public RecordOrder {
 public:
  Repeated(OrderPtr input, int64_t count) : input_(std::move(input)), count_(count) {
    int64_t once = input_->size();
    if (count_ < 0 || __builtin_mul_overflow(once, count_, &size_)) size_ = kInfinite;
  }
  int64_t size() const override { return size_; }
  uint64_t seed() const override { return input_->seed(); }
  void Map(int64_t epoch, std::span<int64_t> positions) const override {
    const int64_t once = input_->size();
    const int64_t base = size_ == kInfinite ? 0 : epoch * count_;
    // Neighbours mostly fall into the same pass over the input.
    for (size_t begin = 0; begin < positions.size();) {
      const int64_t pass = positions[begin] / once;
      size_t end = begin;
      while (end < positions.size() && positions[end] / once == pass) positions[end++] %= once;
      input_->Map(base + pass, positions.subspan(begin, end - begin));
      begin = end;
    }
  }

 private:
  OrderPtr input_;
  int64_t count_;
  int64_t size_ = 0;
};

// Position p stands for position first + p * step of the input: Take, Skip and Shard.
class Strided : public RecordOrder {
 public:
  Strided(OrderPtr input, int64_t first, int64_t step, int64_t size)
      : input_(std::move(input)), first_(first), step_(step), size_(size) {}
  int64_t size() const override { return size_; }
  uint64_t seed() const override { return input_->seed(); }
  void Map(int64_t epoch, std::span<int64_t> positions) const override {
    for (int64_t& position : positions) position = first_ + position * step_;
    input_->Map(epoch, positions);
  }

 private:
  OrderPtr input_;
  int64_t first_;
  int64_t step_;
  int64_t size_;
};

class MappedSource : public Source {
 public:
  MappedSource(SourcePtr input, std::vector<Field> fields, Dataset::MapFunction function)
      : input_(std::move(input)), fields_(std::move(fields)), function_(std::move(function)) {
    description_ = input_->description() + ", mapped to " + DescribeFields(fields_);
  }
  int64_t size() const override { return input_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }
  void Read(std::span<const int64_t> indices, std::span<std::byte* const> out) const override {
    // Chunks that stay in the cache between the reading and the mapping.
    constexpr int64_t kChunkBytes = 1 << 18;
    int64_t record_bytes = 1;
    for (const Field& field : input_->fields()) record_bytes += field.shape.bytes();
    const auto chunk = static_cast<size_t>(std::max<int64_t>(1, kChunkBytes / record_bytes));
    std::vector<std::vector<std::byte>> memory(input_->fields().size());
    std::vector<std::byte*> from, to(out.begin(), out.end());
    for (size_t f = 0; f < memory.size(); ++f) {
      memory[f].resize(std::min(chunk, indices.size()) *
                       static_cast<size_t>(input_->fields()[f].shape.bytes()));
      from.push_back(memory[f].data());
    }
    for (size_t begin = 0; begin < indices.size(); begin += chunk) {
      std::span<const int64_t> part =
          indices.subspan(begin, std::min(chunk, indices.size() - begin));
      input_->Read(part, from);
      auto records = static_cast<int64_t>(part.size());
      function_(Chunk{records, from}, Chunk{records, to});
      for (size_t f = 0; f < to.size(); ++f) to[f] += records * fields_[f].shape.bytes();
    }
  }

 private:
  SourcePtr input_;
  std::vector<Field> fields_;
  Dataset::MapFunction function_;
  std::string description_;
};

}  // namespace

Dataset Dataset::FromSource(SourcePtr source) {
  if (!source) throw Invalid("a data set needs a source, found none (is the split defined?)");
  int64_t size = source->size();
  return Dataset(std::move(source), std::make_shared<InOrder>(size));
}

Dataset Dataset::FromTensorSlices(std::vector<Array> arrays, const std::string& name) {
  return FromSource(std::make_shared<ArraysSource>(name, std::move(arrays)));
}

Dataset Dataset::Shuffle(uint64_t seed) const {
  if (size() == kInfinite) {
    throw Invalid("an endless data set cannot be shuffled: put Shuffle before Repeat");
  }
  if (size() == 0) return *this;
  return Dataset(source_, std::make_shared<Shuffled>(order_, seed));
}

Dataset Dataset::Repeat(int64_t count) const {
  if (size() == kInfinite) return *this;
  if (size() == 0) return *this;
  return Dataset(source_, std::make_shared<Repeated>(order_, count));
}

Dataset Dataset::Take(int64_t count) const {
  if (count < 0) throw Invalid("Take: expected a number of records, found {}", count);
  return Dataset(source_, std::make_shared<Strided>(order_, 0, 1, std::min(count, size())));
}

Dataset Dataset::Skip(int64_t count) const {
  if (count < 0) throw Invalid("Skip: expected a number of records, found {}", count);
  int64_t rest = size() == kInfinite ? kInfinite : std::max<int64_t>(0, size() - count);
  return Dataset(source_, std::make_shared<Strided>(order_, count, 1, rest));
}

Dataset Dataset::Shard(int64_t num_shards, int64_t index) const {
  if (num_shards < 1 || index < 0 || index >= num_shards) {
    throw Invalid("Shard: expected an index from 0 to num_shards - 1, found index {} of {} shards",
                  index, num_shards);
  }
  int64_t size = this->size();
  if (size != kInfinite) size = size > index ? (size - index - 1) / num_shards + 1 : 0;
  return Dataset(source_, std::make_shared<Strided>(order_, index, num_shards, size));
}

Dataset Dataset::Map(std::vector<Field> fields, MapFunction function) const {
  if (fields.empty()) throw Invalid("Map: expected at least one field of the result");
  return Dataset(std::make_shared<MappedSource>(source_, std::move(fields), std::move(function)),
                 order_);
}

BatchedDataset Dataset::Batch(int64_t batch_size, bool drop_remainder) const {
  if (batch_size < 1) throw Invalid("Batch: expected a positive batch size, found {}", batch_size);
  return BatchedDataset(*this, batch_size, drop_remainder);
}

BatchedDataset BatchedDataset::Prefetch(int depth, int workers) const {
  if (depth < 0 || workers < 1) {
    throw Invalid("Prefetch: expected depth >= 0 and workers >= 1, found {} and {}", depth,
                  workers);
  }
  BatchedDataset result = *this;
  result.depth_ = depth;
  result.workers_ = workers;
  return result;
}

int64_t BatchedDataset::size() const {
  if (dataset_.size() == kInfinite) return kInfinite;
  return (dataset_.size() + (drop_remainder_ ? 0 : batch_size_ - 1)) / batch_size_;
}

Iterator BatchedDataset::MakeIterator() const { return Iterator(*this); }

Iterator::Iterator(BatchedDataset dataset) : dataset_(std::move(dataset)) {
  reader_ = std::make_unique<LaunchReader>(dataset_.dataset_,
                                           BatchLayout{.steps_per_launch = 1,
                                                       .replicas = 1,
                                                       .rows = dataset_.batch_size_,
                                                       .drop_remainder = dataset_.drop_remainder_});
  state_ = reader_->Start();
}
Iterator::~Iterator() = default;
Iterator::Iterator(Iterator&&) noexcept = default;

const HostLaunch* Iterator::Next() {
  if (at_epoch_end_) {
    at_epoch_end_ = false;
    current_.reset();
    return nullptr;
  }
  if (dataset_.depth_ == 0) {
    if (!current_) current_ = std::make_shared<HostLaunch>(*reader_);
    reader_->Assemble(reader_->Plan(state_), *current_);
  } else {
    if (!prefetcher_) {
      prefetcher_ = std::make_unique<Prefetcher>(
          *reader_, state_,
          PrefetchOptions{.depth = dataset_.depth_, .workers = dataset_.workers_});
    }
    // The one given out before goes back to the pool first.
    current_.reset();
    current_ = prefetcher_->Next()->host;
  }
  state_ = current_->plan().next;
  at_epoch_end_ = current_->plan().ends_epoch;
  return current_.get();
}

void Iterator::Restore(const IteratorState& state) {
  IteratorState checked = reader_->CheckState(state);
  prefetcher_.reset();
  current_.reset();
  at_epoch_end_ = false;
  state_ = checked;
}

void PipelineOptions::Check(const Config& table) const {
  auto check = [&](const char* key, bool right, const char* rule) {
    if (const Config* value = table.Find(key); value != nullptr && !right) {
      throw value->Complain(fmt::format("expected {}, found {}", rule, value->Describe()));
    }
  };
  check("prefetch", prefetch >= 1 && prefetch <= 1024, "1 to 1024 launches");
  check("workers", workers >= 1 && workers <= 1024, "1 to 1024 threads");
  check("prefetch_memory", ParseBytes(prefetch_memory).value_or(0) > 0,
        "a size such as \"256MiB\"");
}

int64_t PipelineOptions::prefetch_bytes() const { return ParseBytes(prefetch_memory).value_or(0); }

PipelineOptions ReadPipelineOptions(const Config& table) {
  PipelineOptions options;
  FieldReader reader(table, "data");
  options.Visit(reader);
  options.Check(table);
  return options;
}

}  // namespace flatout::data
