// Iterator and Element of dataset.h.

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/dataset.h"
#include "flatout/data/engine.h"
#include "flatout/data/verbs/node.h"

namespace flatout::data {
namespace {

// Blocks that wait to be used again.
class BlockPool {
 public:
  Block Get() {
    std::lock_guard lock(mutex_);
    if (blocks_.empty()) return Block();
    Block block = std::move(blocks_.back());
    blocks_.pop_back();
    return block;
  }
  void Give(Block block) {
    std::lock_guard lock(mutex_);
    if (blocks_.size() < kMost) blocks_.push_back(std::move(block));
  }

 private:
  static constexpr size_t kMost = 4;
  std::mutex mutex_;
  std::vector<Block> blocks_;
};

// Some elements in a row, of one epoch.
class Chunk : public Job {
 public:
  Chunk(const Source& source, std::shared_ptr<BlockPool> pool,
        std::shared_ptr<verbs::ChunkSize> size)
      : source_(source), pool_(std::move(pool)), size_(std::move(size)), block(pool_->Get()) {}
  ~Chunk() override {
    // Large records are rare ones mostly; their memory is not to be held for small ones.
    constexpr int64_t kLarge = int64_t{1} << 24;
    if (bytes_ <= kLarge || verbs::AllFixed(block.fields())) pool_->Give(std::move(block));
  }

  void Run(int, ReadContext& context) override {
    if (source_.indexed()) {
      std::vector<int64_t> positions(static_cast<size_t>(count));
      std::iota(positions.begin(), positions.end(), begin);
      error = verbs::ReadUpToError(context, source_, epoch, positions, block);
    }
    bytes_ = verbs::BlockBytes(block);
    size_->Learn(block.rows(), bytes_);
  }
  int64_t records() const override { return count; }
  int64_t bytes() const override { return bytes_; }

 private:
  const Source& source_;
  std::shared_ptr<BlockPool> pool_;
  std::shared_ptr<verbs::ChunkSize> size_;
  int64_t bytes_ = 0;

 public:
  int64_t epoch = 0;
  int64_t begin = 0, count = 0;  // positions
  bool ends_epoch = false;       // after these
  std::vector<int64_t> before;   // of a stream: the cursor's state
  int64_t skip = 0;              // rows that were given out before a Restore
  Block block;
  std::exception_ptr error;  // after the block's rows
};

// Says what comes next, epoch after epoch.
class Chunks : public JobSource {
 public:
  // `ahead`: a stream's end is looked for early, so that the last chunk of an epoch says that it
  // is.
  Chunks(SourcePtr source, const IteratorState& start, int64_t rows, bool ahead,
         verbs::StreamOptions options)
      : source_(std::move(source)),
        most_rows_(rows),
        ahead_(ahead),
        options_(options),
        epoch_(start.epoch) {
    if (source_->indexed()) {
      position_ = start.position;
      return;
    }
    if (start.stream.empty()) return;
    cursor_ = verbs::OpenCursor(source_, epoch_, options_);
    std::span<const int64_t> state = start.stream;
    skip_ = verbs::TakeState(state, 0, kInfinite);
    cursor_->Restore(state);
    if (!state.empty()) {
      throw Invalid("{}: the saved position belongs to other verbs: it has {} numbers more",
                    source_->description(), state.size());
    }
  }

  std::shared_ptr<Job> Next(ReadContext& context) override {
    if (!source_->indexed()) {
      std::shared_ptr<Chunk> chunk = next_ ? std::exchange(next_, nullptr) : Pull(context);
      if (!ahead_ || !chunk || chunk->error || chunk->ends_epoch) return chunk;
      next_ = Pull(context);
      if (next_ && next_->ends_epoch) {
        chunk->ends_epoch = true;
        next_.reset();
      }
      return chunk;
    }
    auto chunk = std::make_shared<Chunk>(*source_, pool_, size_);
    chunk->epoch = epoch_;
    chunk->begin = position_;
    chunk->count = std::min(Rows(), source_->size() - position_);
    position_ += chunk->count;
    chunk->ends_epoch = position_ == source_->size();
    if (chunk->ends_epoch) {
      ++epoch_;
      position_ = 0;
    }
    return chunk;
  }

 private:
  int64_t Rows() const { return std::min(most_rows_, size_->rows()); }
  // The next elements of a stream; at the end of an epoch none, and a word that it ends.
  std::shared_ptr<Chunk> Pull(ReadContext& context) {
    if (failed_) return nullptr;
    auto result = std::make_shared<Chunk>(*source_, pool_, size_);
    Chunk& chunk = *result;
    chunk.epoch = epoch_;
    if (!cursor_) cursor_ = verbs::OpenCursor(source_, epoch_, options_);
    if (options_.deterministic) cursor_->Save(chunk.before);
    chunk.skip = std::exchange(skip_, 0);
    try {
      chunk.count = cursor_->Next(context, std::max(Rows(), chunk.skip + 1), chunk.block);
      // What is passed over may take more than one piece.
      while (chunk.count > 0 && chunk.count <= chunk.skip) {
        const int64_t passed = chunk.count;
        chunk.before.clear();
        cursor_->Save(chunk.before);
        chunk.skip -= passed;
        chunk.count = cursor_->Next(context, std::max(Rows(), chunk.skip + 1), chunk.block);
      }
    } catch (...) {
      chunk.error = std::current_exception();
      chunk.count = 0;
      if (options_.deterministic && most_rows_ > 1) OneByOne(context, chunk);
      if (chunk.count == 0) chunk.block.Reset(source_->fields(), 0);
    }
    failed_ = chunk.error != nullptr;
    chunk.ends_epoch = chunk.count == 0 && !failed_;
    if (chunk.ends_epoch) {
      ++epoch_;
      cursor_.reset();
    }
    return result;
  }
  // After an error: what comes before the element that failed.
  void OneByOne(ReadContext& context, Chunk& chunk) {
    verbs::RowStore good(source_->fields());
    try {
      cursor_ = verbs::OpenCursor(source_, chunk.epoch, options_);
      std::span<const int64_t> state = chunk.before;
      cursor_->Restore(state);
      Block one;
      while (cursor_->Next(context, 1, one) > 0) good.Add(one, 0, 1);
    } catch (...) {
      chunk.error = std::current_exception();
    }
    chunk.count = good.size();
    chunk.block.Reset(source_->fields(), chunk.count);
    for (int64_t i = 0; i < chunk.count; ++i) good.CopyTo(chunk.block, i, i, /*deep=*/true);
  }

  const SourcePtr source_;
  const int64_t most_rows_;
  const bool ahead_;
  const verbs::StreamOptions options_;
  const std::shared_ptr<BlockPool> pool_ = std::make_shared<BlockPool>();
  const std::shared_ptr<verbs::ChunkSize> size_ =
      std::make_shared<verbs::ChunkSize>(source_->fields());
  int64_t epoch_;
  int64_t position_ = 0;
  std::unique_ptr<Cursor> cursor_;
  int64_t skip_ = 0;
  bool failed_ = false;
  std::shared_ptr<Chunk> next_;  // of a stream that is read ahead
};

}  // namespace

// ---- Element ----

std::span<const int64_t> Element::Dims(std::string_view field) const {
  return block_->dims(FindField(block_->fields(), field), row_);
}

std::span<const std::byte> Element::Bytes(std::string_view field, size_t element_bytes) const {
  const size_t f = FindField(block_->fields(), field);
  const Field& found = block_->fields()[f];
  if (found.text) {
    throw Invalid("field {} is text: ask for it by Text or Texts", found.ToString());
  }
  if (static_cast<size_t>(ir::ByteSize(found.shape.dtype)) != element_bytes) {
    throw Invalid("field {} was asked for as elements of {} bytes", found.ToString(),
                  element_bytes);
  }
  return block_->bytes(f, row_);
}

std::string_view Element::Text(std::string_view field) const {
  const size_t f = FindField(block_->fields(), field);
  const Field& found = block_->fields()[f];
  if (!found.text || !found.shape.dims.empty()) {
    throw Invalid("field {} was asked for as one text", found.ToString());
  }
  return block_->text(f, row_);
}

std::vector<std::string_view> Element::Texts(std::string_view field) const {
  const size_t f = FindField(block_->fields(), field);
  const Field& found = block_->fields()[f];
  if (!found.text) throw Invalid("field {} was asked for as text", found.ToString());
  if (found.shape.dims.empty()) return {block_->text(f, row_)};
  const auto texts = block_->texts(f, row_);
  return {texts.begin(), texts.end()};
}

// ---- Iterator ----

struct Iterator::State {
  explicit State(Dataset given)
      : dataset(std::move(given)),
        source(dataset.source()),
        bad(dataset.options_.max_bad_records),
        context(&bad) {
    at.seed = source->seed();
    at.size = source->size();
  }

  void Begin() {
    const bool ahead = dataset.prefetch_.has_value();
    const DatasetOptions& options = dataset.options_;
    int64_t budget = options.memory_budget > 0 ? options.memory_budget : DefaultBudget();
    verbs::StreamOptions stream;
    stream.parallel = ahead;
    stream.deterministic = options.deterministic || !ahead;
    stream.workers = options.workers;
    stream.totals = totals;
    if (!source->indexed()) {
      // Half for the elements, half for the stages that they come from.
      budget = std::max<int64_t>(budget / 2, 1);
      stream.bytes = std::max<int64_t>(budget / verbs::CountStages(source), 1);
    }
    int64_t rows = verbs::ChunkRows(source->fields());
    if (!ahead && !source->indexed()) rows = 1;
    const int64_t depth = dataset.prefetch_.value_or(0);
    if (depth > 0) rows = std::min(rows, depth);
    chunks = std::make_shared<Chunks>(source, at, rows, ahead, stream);
    if (!ahead) return;
    engine = std::make_unique<Engine>(
        chunks, EngineOptions{.workers = options.workers,
                              .depth = static_cast<int>((depth + rows - 1) / rows),
                              .bytes = budget,
                              .bad = &bad,
                              .name = "dataset"});
  }
  std::shared_ptr<Chunk> Fetch() {
    if (!chunks) Begin();
    auto next = std::static_pointer_cast<Chunk>(engine ? engine->Next() : chunks->Next(context));
    if (!engine) next->Run(0, context);
    return next;
  }
  void Reset() {
    engine.reset();
    chunks.reset();
    chunk.reset();
    row = 0;
  }

  const Dataset dataset;
  const SourcePtr source;
  BadRecords bad;
  const std::shared_ptr<verbs::StageTotals> totals = std::make_shared<verbs::StageTotals>();
  ReadContext context;  // without an engine
  IteratorState at;     // of the next element; `stream` as of the last Restore
  std::shared_ptr<Chunks> chunks;
  std::shared_ptr<Chunk> chunk;
  int64_t row = 0;  // next of the chunk
  std::optional<Element> element;
  std::unique_ptr<Engine> engine;
};

Iterator::Iterator(Dataset dataset) : state_(std::make_unique<State>(std::move(dataset))) {}
Iterator::~Iterator() = default;
Iterator::Iterator(Iterator&&) noexcept = default;

const Element* Iterator::Next() {
  State& s = *state_;
  while (true) {
    if (s.chunk) {
      while (s.row < s.chunk->block.rows()) {
        const int64_t row = s.row++;
        ++s.at.position;
        if (s.chunk->block.bad(row)) continue;
        return &s.element.emplace(&s.chunk->block, row);
      }
      if (s.chunk->error) std::rethrow_exception(s.chunk->error);
      if (s.chunk->ends_epoch) {
        ++s.at.epoch;
        s.at.position = 0;
        s.at.stream.clear();
        s.chunk.reset();
        return nullptr;
      }
    }
    s.chunk = s.Fetch();
    s.row = s.chunk->skip;
  }
}

IteratorState Iterator::state() const {
  const State& s = *state_;
  IteratorState state = s.at;
  if (s.source->indexed()) return state;
  if (s.dataset.prefetch_ && !s.dataset.options_.deterministic) {
    throw Invalid(
        "{}: with deterministic = false there is no position that could be saved: the order of the "
        "elements comes about while they are made. Set deterministic = true",
        s.source->description());
  }
  if (s.chunk) {
    state.stream = {s.row};
    state.stream.insert(state.stream.end(), s.chunk->before.begin(), s.chunk->before.end());
  }
  return state;
}

void Iterator::Restore(const IteratorState& state) {
  State& s = *state_;
  const std::string& what = s.source->description();
  if (state.size != s.source->size()) {
    const auto text = [](int64_t size) {
      return size == kUnknown    ? std::string("a stream")
             : size == kInfinite ? std::string("endless records")
                                 : fmt::format("{} records", size);
    };
    throw Invalid(
        "{}: the saved position belongs to {}, found {}: the data or the verbs have changed. Bring "
        "them back, or start anew",
        what, text(state.size), text(s.source->size()));
  }
  if (state.seed != s.source->seed()) {
    throw Invalid(
        "{}: the saved position belongs to the order of seed {}, found seed {}: set the seed back, "
        "or start anew",
        what, state.seed, s.source->seed());
  }
  const bool stream = !s.source->indexed();
  if (state.epoch < 0 || state.position < 0 || (!stream && state.position > state.size) ||
      (stream ? state.position > 0 && state.stream.empty() : !state.stream.empty())) {
    throw Invalid("{}: the saved position is out of range: epoch {}, element {}", what, state.epoch,
                  state.position);
  }
  s.Reset();
  s.at = state;
  // A state that does not fit is found now, not at the next element.
  s.Begin();
}

EngineStats Iterator::stats() const {
  if (!state_->engine) return {};
  EngineStats stats = state_->engine->stats();
  state_->totals->AddTo(stats);
  return stats;
}

int64_t Iterator::bad_records() const { return state_->bad.count(); }

}  // namespace flatout::data
