// Verbs that take each record by itself: map, apply, filter; where streams begin (from_generator,
// filter over records with numbers), and how those are read ahead on threads.

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <utility>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/thread_pool.h"
#include "flatout/data/engine.h"
#include "flatout/data/order.h"
#include "flatout/data/verbs/node.h"

namespace flatout::data::verbs {
namespace {

// What is done to a record: one of the three.
struct Step {
  std::string name;
  std::vector<Field> fields;  // after it
  Dataset::MapFunction map;
  TransformPtr transform;
  uint64_t seed = 0;  // of the transform
  Dataset::Predicate keep;
};
using StepPtr = std::shared_ptr<const Step>;

// Fills `out`, of as many rows and the step's fields. ordinals[row]: the record's number.
void RunMap(ReadContext& context, const Step& step, int64_t epoch,
            std::span<const int64_t> ordinals, const Block& in, Block& out) {
  const ReadContext::Stage stage(context, step.name, in.rows());
  out.TakeOrigin(in);
  if (step.transform) {
    std::vector<uint64_t> keys;
    if (step.transform->random()) {
      const uint64_t key = Mix(Mix(step.seed) ^ static_cast<uint64_t>(epoch));
      for (int64_t ordinal : ordinals) keys.push_back(Mix(key ^ static_cast<uint64_t>(ordinal)));
    }
    out.TakeOrigin(in);
    if (!out.has_origin()) {
      out.set_origin(
          [numbers = std::vector<int64_t>(ordinals.begin(), ordinals.end())](int64_t row) {
            return fmt::format("record {}", numbers[static_cast<size_t>(row)]);
          });
    }
    step.transform->Apply(in, out, keys);
    out.TakeBad(in);
    return;
  }
  if (!in.any_bad()) {
    step.map(in, out);
    return;
  }
  // A user's function is not to meet rows that hold nothing.
  std::vector<int64_t> good;
  for (int64_t row = 0; row < in.rows(); ++row) {
    if (!in.bad(row)) good.push_back(row);
  }
  Block good_in, good_out;
  good_in.Reset(in.fields(), static_cast<int64_t>(good.size()));
  good_out.Reset(step.fields, static_cast<int64_t>(good.size()));
  good_out.set_bad_records(context.bad_records());
  for (size_t i = 0; i < good.size(); ++i) {
    good_in.CopyRow(static_cast<int64_t>(i), in, good[i], /*deep=*/false);
  }
  if (!good.empty()) step.map(good_in, good_out);
  for (size_t i = 0; i < good.size(); ++i) {
    out.CopyRow(good[i], good_out, static_cast<int64_t>(i), /*deep=*/false);
  }
  out.TakeBad(in);
}

// ---- map over records with numbers ----

class MapNode : public Node {
 public:
  MapNode(SourcePtr input, StepPtr step, const std::string& what)
      : Node({input}, input->size(), step->fields,
             fmt::format("{}, {}", input->description(), what)),
        step_(std::move(step)),
        chunk_(std::min(ChunkRows(input->fields()), ChunkRows(fields_))) {}

  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    const auto rows = static_cast<int64_t>(records.size());
    if (rows <= chunk_ || !AllFixed(fields_)) {
      ReadChunk(context, epoch, records, out);
      return;
    }
    // In pieces that stay in the cache between the reading and the mapping.
    Block& part = context.Scratch(this, 1, fields_, 0);
    for (int64_t begin = 0; begin < rows; begin += chunk_) {
      const int64_t count = std::min(chunk_, rows - begin);
      BorrowRows(part, out, begin, count);
      part.set_bad_records(context.bad_records());
      ReadChunk(context, epoch,
                records.subspan(static_cast<size_t>(begin), static_cast<size_t>(count)), part);
      for (int64_t row = 0; part.any_bad() && row < count; ++row) {
        if (part.bad(row)) out.MarkBad(begin + row);
      }
    }
  }

 private:
  void ReadChunk(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
                 Block& out) const {
    Block& in = context.Scratch(this, 0, input()->fields(), static_cast<int64_t>(records.size()));
    input()->Read(context, epoch, records, in);
    RunMap(context, *step_, epoch, records, in, out);
  }

  StepPtr step_;
  int64_t chunk_;
};

// ---- stages over streams, and the border between the two ----

class StageStream : public Stream {
 public:
  StageStream(SourcePtr input, StepPtr step, const std::string& what);
  const StepPtr& step() const { return step_; }

 private:
  StepPtr step_;
};

// Steps over a source that has a size or is another kind of stream: read, mapped and filtered chunk
// by chunk.
class StageReader {
 public:
  struct Chunk {
    std::vector<int64_t> before, after;  // states of the reader
    int64_t begin = 0, count = 0;        // numbers of its records
    Block input;                         // of a stream: the records
    Block result;
    std::exception_ptr error;  // after the result's rows
    int64_t bytes = 0;
  };

  // `owner` keys the scratch blocks.
  StageReader(SourcePtr base, std::vector<StepPtr> steps, int64_t epoch,
              const StreamOptions& options, const Source* owner)
      : base_(std::move(base)),
        steps_(std::move(steps)),
        epoch_(epoch),
        owner_(owner),
        size_(base_->fields()) {
    if (!base_->indexed()) cursor_ = OpenCursor(base_, epoch, options);
  }

  const std::vector<Field>& fields() const {
    return steps_.empty() ? base_->fields() : steps_.back()->fields;
  }
  int64_t chunk_rows() const { return size_.rows(); }

  // The next chunk, with what must be read in order; false at the end.
  bool Plan(ReadContext& context, int64_t want, Chunk& chunk, bool deterministic) {
    chunk.begin = position_;
    if (deterministic) Save(chunk.before);
    if (cursor_) {
      chunk.count = cursor_->Next(context, want, chunk.input);
    } else {
      chunk.count = std::min(want, base_->size() - position_);
    }
    position_ += chunk.count;
    if (deterministic) Save(chunk.after);
    return chunk.count > 0;
  }
  // The rest of it, on any thread.
  void Make(ReadContext& context, Chunk& chunk) const {
    try {
      Process(context, chunk, 0, chunk.count, chunk.result);
    } catch (...) {
      chunk.error = std::current_exception();
      // One by one, to give out what comes before the record that failed.
      RowStore good(fields());
      try {
        for (int64_t i = 0; chunk.count > 1 && i < chunk.count; ++i) {
          Block one;
          Process(context, chunk, i, 1, one);
          good.Add(one, 0, one.rows());
          if (i + 1 == chunk.count) chunk.error = nullptr;
        }
      } catch (...) {
        chunk.error = std::current_exception();
      }
      chunk.result.Reset(fields(), good.size());
      for (int64_t i = 0; i < good.size(); ++i) {
        good.CopyTo(chunk.result, i, i, /*deep=*/true);
      }
    }
    chunk.input = Block();
    chunk.bytes = BlockBytes(chunk.result);
    size_.Learn(chunk.count, chunk.bytes);
  }
  void Save(std::vector<int64_t>& state) const {
    state.push_back(position_);
    if (cursor_) cursor_->Save(state);
  }
  void Restore(std::span<const int64_t>& state) {
    position_ = TakeState(state, 0, cursor_ ? kInfinite : base_->size());
    if (cursor_) cursor_->Restore(state);
  }

 private:
  // Records [first, first + count) of the chunk.
  void Process(ReadContext& context, Chunk& chunk, int64_t first, int64_t count,
               Block& result) const {
    std::vector<int64_t> ordinals(static_cast<size_t>(count));
    std::iota(ordinals.begin(), ordinals.end(), chunk.begin + first);
    int slot = 0;
    const Block* in = &chunk.input;
    if (!cursor_) {
      Block* block = &result;
      if (steps_.empty()) {
        result.Reset(base_->fields(), count);
        result.set_bad_records(context.bad_records());
      } else {
        block = &context.Scratch(owner_, slot++, base_->fields(), count);
      }
      base_->Read(context, epoch_, ordinals, *block);
      size_.Learn(count, BlockBytes(*block));
      in = block;
    } else if (first != 0 || count != chunk.count) {
      Block& part = context.Scratch(owner_, slot++, base_->fields(), count);
      CopyRows(part, 0, chunk.input, first, count, /*deep=*/false);
      in = &part;
    }
    std::vector<int64_t> kept;  // rows of `in`
    const auto keep_good = [&] {
      kept.clear();
      for (int64_t row = 0; row < in->rows(); ++row) {
        if (!in->bad(row)) kept.push_back(row);
      }
    };
    keep_good();
    for (const StepPtr& step : steps_) {
      if (step->keep) {
        const ReadContext::Stage stage(context, step->name, static_cast<int64_t>(kept.size()));
        std::erase_if(kept, [&](int64_t row) { return !step->keep(*in, row); });
        continue;
      }
      if (kept.empty()) break;
      if (static_cast<int64_t>(kept.size()) < in->rows()) {
        Block& part =
            context.Scratch(owner_, slot++, in->fields(), static_cast<int64_t>(kept.size()));
        for (size_t i = 0; i < kept.size(); ++i) {
          part.CopyRow(static_cast<int64_t>(i), *in, kept[i], /*deep=*/false);
          ordinals[i] = ordinals[static_cast<size_t>(kept[i])];
        }
        ordinals.resize(kept.size());
        in = &part;
      }
      Block& out = context.Scratch(owner_, slot++, step->fields, in->rows());
      RunMap(context, *step, epoch_, ordinals, *in, out);
      in = &out;
      keep_good();
    }
    const auto rows = static_cast<int64_t>(kept.size());
    if (in == &result && rows == in->rows()) return;
    Block chosen;
    chosen.Reset(fields(), rows);
    if (rows > 0 && rows == in->rows()) {
      for (size_t f = 0; f < fields().size(); ++f) chosen.ShareColumn(f, *in, f);
    } else {
      // Copied, so that a few rows do not keep the memory of all.
      for (size_t i = 0; i < kept.size(); ++i) {
        chosen.CopyRow(static_cast<int64_t>(i), *in, kept[i], /*deep=*/true);
      }
    }
    result = std::move(chosen);
  }

  const SourcePtr base_;
  const std::vector<StepPtr> steps_;
  const int64_t epoch_;
  const Source* const owner_;
  mutable ChunkSize size_;
  std::unique_ptr<Cursor> cursor_;  // over base_, where that is a stream
  int64_t position_ = 0;            // records of base_ so far
};

class StageCursor : public Cursor {
 public:
  StageCursor(std::unique_ptr<StageReader> reader, const StreamOptions& options)
      : reader_(std::move(reader)), options_(options) {
    if (options_.deterministic) reader_->Save(at_);
  }
  ~StageCursor() override { AddTotals(); }

  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    while (true) {
      if (chunk_ && row_ < chunk_->result.rows()) {
        const int64_t rows = std::min(want, chunk_->result.rows() - row_);
        if (rows == chunk_->result.rows()) {
          out = std::move(chunk_->result);
          chunk_->result = Block();
          taken_whole_ = true;
        } else {
          out.Reset(reader_->fields(), rows);
          CopyRows(out, 0, chunk_->result, row_, rows, /*deep=*/false);
        }
        row_ += rows;
        return rows;
      }
      if (chunk_) {
        if (chunk_->error) std::rethrow_exception(chunk_->error);
        at_ = chunk_->after;
        chunk_.reset();
      }
      row_ = 0;
      taken_whole_ = false;
      chunk_ = NextChunk(context, want);
      if (!chunk_) {
        out.Reset(reader_->fields(), 0);
        return 0;
      }
      row_ = std::min(skip_, chunk_->result.rows());
      skip_ -= row_;
    }
  }
  void Save(std::vector<int64_t>& state) const override {
    if (!options_.deterministic) {
      throw Invalid("with deterministic = false there is no position that could be saved");
    }
    if (!chunk_) {
      state.push_back(skip_);
      state.insert(state.end(), at_.begin(), at_.end());
      return;
    }
    const bool done = !chunk_->error && (taken_whole_ || row_ == chunk_->result.rows());
    const std::vector<int64_t>& at = done ? chunk_->after : chunk_->before;
    state.push_back(done ? skip_ : row_);
    state.insert(state.end(), at.begin(), at.end());
  }
  void Restore(std::span<const int64_t>& state) override {
    AddTotals();
    counted_ = EngineStats();
    engine_.reset();
    unordered_.reset();
    chunk_.reset();
    skip_ = TakeState(state, 0, kInfinite);
    const std::span<const int64_t> whole = state;
    reader_->Restore(state);
    at_.assign(whole.begin(), whole.end() - static_cast<int64_t>(state.size()));
  }

 private:
  // What workers and the consumer share where chunks are given out as they come.
  struct Unordered {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<Job>> planned;  // that the engine has not given out
    std::deque<bool> made;                     // of planned
    std::deque<std::shared_ptr<StageReader::Chunk>> done;
    int64_t made_before = 0;  // jobs that left `planned` already
    bool ended = false;
  };

  class ChunkJob : public Job {
   public:
    ChunkJob(StageReader& reader, std::shared_ptr<StageReader::Chunk> chunk, Unordered* unordered,
             int64_t number)
        : reader_(reader), chunk(std::move(chunk)), unordered_(unordered), number_(number) {}
    void Run(int, ReadContext& context) override {
      reader_.Make(context, *chunk);
      if (unordered_ == nullptr) return;
      std::lock_guard lock(unordered_->mutex);
      unordered_->done.push_back(chunk);
      unordered_->made[static_cast<size_t>(number_ - unordered_->made_before)] = true;
      unordered_->changed.notify_all();
    }
    int64_t records() const override { return chunk->count; }
    int64_t bytes() const override { return chunk->bytes; }

   private:
    StageReader& reader_;

   public:
    const std::shared_ptr<StageReader::Chunk> chunk;

   private:
    Unordered* const unordered_;
    const int64_t number_;
  };

  class Chunks : public JobSource {
   public:
    Chunks(StageReader& reader, bool deterministic, Unordered* unordered)
        : reader_(reader), deterministic_(deterministic), unordered_(unordered) {}
    std::shared_ptr<Job> Next(ReadContext& context) override {
      auto chunk = std::make_shared<StageReader::Chunk>();
      bool more = false;
      try {
        more = reader_.Plan(context, reader_.chunk_rows(), *chunk, deterministic_);
      } catch (...) {
        End();
        throw;
      }
      if (!more) {
        End();
        return nullptr;
      }
      auto job = std::make_shared<ChunkJob>(reader_, std::move(chunk), unordered_, number_++);
      if (unordered_ != nullptr) {
        std::lock_guard lock(unordered_->mutex);
        unordered_->planned.push_back(job);
        unordered_->made.push_back(false);
      }
      return job;
    }

   private:
    void End() {
      if (unordered_ == nullptr) return;
      std::lock_guard lock(unordered_->mutex);
      unordered_->ended = true;
      unordered_->changed.notify_all();
    }
    StageReader& reader_;
    const bool deterministic_;
    Unordered* const unordered_;
    int64_t number_ = 0;
  };

  std::shared_ptr<StageReader::Chunk> NextChunk(ReadContext& context, int64_t want) {
    if (!options_.parallel) {
      auto chunk = std::make_shared<StageReader::Chunk>();
      if (!reader_->Plan(context, std::min(want, reader_->chunk_rows()), *chunk,
                         options_.deterministic)) {
        return nullptr;
      }
      reader_->Make(context, *chunk);
      return chunk;
    }
    if (!engine_) {
      if (!options_.deterministic) unordered_ = std::make_unique<Unordered>();
      engine_ = std::make_unique<Engine>(
          std::make_shared<Chunks>(*reader_, options_.deterministic, unordered_.get()),
          EngineOptions{.workers = options_.workers,
                        .bytes = options_.bytes,
                        .bad = context.bad_records(),
                        .name = "stage"});
    }
    AddTotals();
    if (!unordered_) {
      const std::shared_ptr<Job> job = engine_->Next();
      return job ? static_cast<ChunkJob&>(*job).chunk : nullptr;
    }
    std::shared_ptr<StageReader::Chunk> chunk;
    size_t drained = 0;  // jobs that the engine can give out without a wait
    {
      std::unique_lock lock(unordered_->mutex);
      unordered_->changed.wait(lock, [&] {
        return !unordered_->done.empty() || (unordered_->ended && unordered_->planned.empty());
      });
      if (!unordered_->done.empty()) {
        chunk = std::move(unordered_->done.front());
        unordered_->done.pop_front();
      }
      while (!unordered_->made.empty() && unordered_->made.front()) {
        unordered_->made.pop_front();
        unordered_->planned.pop_front();
        ++unordered_->made_before;
        ++drained;
      }
    }
    for (size_t i = 0; i < drained; ++i) engine_->Next();
    if (!chunk) engine_->Next();  // throws what ended the stream, if anything did
    return chunk;
  }

  // What the engine has spent since the last call.
  void AddTotals() {
    if (!engine_ || !options_.totals) return;
    EngineStats now = engine_->stats();
    options_.totals->Add(counted_, now);
    counted_ = std::move(now);
  }

  std::unique_ptr<StageReader> reader_;
  const StreamOptions options_;
  EngineStats counted_;
  std::vector<int64_t> at_;  // the reader's state where no chunk is held
  int64_t skip_ = 0;         // rows to pass over after Restore
  std::shared_ptr<StageReader::Chunk> chunk_;
  int64_t row_ = 0;           // next of chunk_
  bool taken_whole_ = false;  // the chunk's result was given out as it is
  std::unique_ptr<Unordered> unordered_;
  std::unique_ptr<Engine> engine_;  // ends before what it works on
};

// The steps above what `stream` reads from, outermost last, and that.
std::pair<SourcePtr, std::vector<StepPtr>> CollectSteps(const StageStream& stream) {
  std::vector<StepPtr> steps = {stream.step()};
  SourcePtr base = stream.input();
  while (const auto* below = dynamic_cast<const StageStream*>(base.get())) {
    steps.push_back(below->step());
    base = below->input();
  }
  std::reverse(steps.begin(), steps.end());
  return {base, steps};
}

StageStream::StageStream(SourcePtr input, StepPtr step, const std::string& what)
    : Stream({input}, step->fields, fmt::format("{}, {}", input->description(), what),
             [](const Stream& stream, int64_t epoch, const StreamOptions& options) {
               auto [base, steps] = CollectSteps(static_cast<const StageStream&>(stream));
               return std::make_unique<StageCursor>(
                   std::make_unique<StageReader>(std::move(base), std::move(steps), epoch, options,
                                                 &stream),
                   options);
             }),
      step_(std::move(step)) {}

SourcePtr AddStep(SourcePtr input, StepPtr step, const std::string& what) {
  if (input->indexed() && !step->keep) {
    return std::make_shared<MapNode>(std::move(input), std::move(step), what);
  }
  return std::make_shared<StageStream>(std::move(input), std::move(step), what);
}

// ---- from_generator, from_function, range ----

class GeneratorCursor : public Cursor {
 public:
  GeneratorCursor(const Stream& stream,
                  const std::function<Dataset::Generator(int64_t epoch)>& start, int64_t epoch)
      : stream_(stream), start_(start), epoch_(epoch) {}

  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    if (error_) std::rethrow_exception(error_);
    if (!generator_) Begin(context);
    out.Reset(stream_.fields(), want);
    out.set_bad_records(context.bad_records());
    int64_t rows = 0, good = 0, bytes = 0;
    try {
      const ReadContext::Stage stage(context, kGenerate, want);
      while (!ended_ && good == 0) {
        if (rows > 0) {  // all bad: again
          out.Reset(stream_.fields(), want);
          rows = bytes = 0;
        }
        while (rows < want && !ended_) {
          if (!generator_(out, rows)) {
            ended_ = true;
            break;
          }
          good += out.bad(rows) ? 0 : 1;
          for (size_t f = 0; f < out.fields().size(); ++f) {
            bytes += static_cast<int64_t>(out.bytes(f, rows).size());
          }
          ++rows;
          ++count_;
          if (bytes > kMostBytes) break;
        }
      }
    } catch (...) {
      error_ = std::current_exception();
      if (good == 0) throw;
    }
    if (good == rows) return CutRows(out, rows);
    Block kept;
    kept.Reset(stream_.fields(), good);
    for (int64_t row = 0, to = 0; row < rows; ++row) {
      if (!out.bad(row)) kept.CopyRow(to++, out, row, /*deep=*/false);
    }
    out = std::move(kept);
    return good;
  }
  void Save(std::vector<int64_t>& state) const override { state.push_back(count_); }
  void Restore(std::span<const int64_t>& state) override {
    count_ = TakeState(state, 0, kInfinite);
    generator_ = nullptr;
    ended_ = false;
    error_ = nullptr;
  }

 private:
  static inline const std::string kGenerate = "generate";
  static constexpr int64_t kMostBytes = int64_t{1} << 18;  // at once, and one record more

  void Begin(ReadContext& context) {
    generator_ = start_(epoch_);
    if (!generator_) throw Invalid("{}: there is nothing to call", stream_.description());
    // What was given out already is made again.
    Block row;
    for (int64_t i = 0; i < count_; ++i) {
      row.Reset(stream_.fields(), 1);
      row.set_bad_records(context.bad_records());
      if (generator_(row, 0)) continue;
      throw Invalid("{}: the saved position is after {} records, found only {} now",
                    stream_.description(), count_, i);
    }
  }

  const Stream& stream_;
  const std::function<Dataset::Generator(int64_t epoch)>& start_;
  const int64_t epoch_;
  int64_t count_ = 0;  // records so far, bad ones too
  Dataset::Generator generator_;
  bool ended_ = false;
  std::exception_ptr error_;
};

class FunctionNode : public Node {
 public:
  FunctionNode(std::vector<Field> fields, int64_t size, Dataset::RecordFunction function,
               const std::string& name)
      : Node({}, size, fields,
             fmt::format("{}: {} records, {}", name,
                         size == kInfinite ? std::string("endless") : fmt::format("{}", size),
                         DescribeFields(fields))),
        name_(name),
        function_(std::move(function)) {}
  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    const ReadContext::Stage stage(context, name_, static_cast<int64_t>(records.size()));
    for (size_t i = 0; i < records.size(); ++i) {
      try {
        function_(records[i], out, static_cast<int64_t>(i));
      } catch (const DataError& error) {
        out.Bad(static_cast<int64_t>(i), error);
      }
    }
  }

 private:
  std::string name_;
  Dataset::RecordFunction function_;
};

void CheckFields(const char* verb, const std::vector<Field>& fields) {
  if (fields.empty()) throw Invalid("{}: expected at least one field", verb);
  for (size_t i = 0; i < fields.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (fields[i].name == fields[j].name) {
        throw Invalid("{}: two fields are called \"{}\"", verb, fields[i].name);
      }
    }
    if (!fields[i].fixed() && fields[i].shape.dims.size() > kMostRank) {
      throw Invalid("{}: field {}: a field that is not fixed has at most {} dimensions", verb,
                    fields[i].ToString(), kMostRank);
    }
  }
}

uint64_t HashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// How many maps lie below: so that two equal random transforms in a row do not draw the same.
uint64_t CountMaps(const SourcePtr& source) {
  uint64_t maps = 0;
  const auto* node = dynamic_cast<const Node*>(source.get());
  while (node != nullptr && !node->inputs().empty()) {
    maps += dynamic_cast<const MapNode*>(node) != nullptr ||
                    dynamic_cast<const StageStream*>(node) != nullptr
                ? 1
                : 0;
    node = dynamic_cast<const Node*>(node->input().get());
  }
  return maps;
}

}  // namespace

std::unique_ptr<Cursor> OpenCursor(const SourcePtr& source, int64_t epoch,
                                   const StreamOptions& options) {
  if (!source->indexed()) {
    if (const auto* stream = dynamic_cast<const Stream*>(source.get())) {
      return stream->OpenWith(epoch, options);
    }
    return source->Open(epoch);
  }
  return std::make_unique<StageCursor>(
      std::make_unique<StageReader>(source, std::vector<StepPtr>(), epoch, options, nullptr),
      options);
}

int CountStages(const SourcePtr& source) {
  if (source->indexed()) return 1;
  if (const auto* stage = dynamic_cast<const StageStream*>(source.get())) {
    const SourcePtr base = CollectSteps(*stage).first;
    return base->indexed() ? 1 : 1 + CountStages(base);
  }
  int stages = 0;
  if (const auto* node = dynamic_cast<const Node*>(source.get())) {
    for (const SourcePtr& input : node->inputs()) stages += CountStages(input);
  }
  return std::max(stages, 1);
}

SourcePtr FromFunction(std::vector<Field> fields, int64_t size, Dataset::RecordFunction function,
                       const std::string& name) {
  CheckFields("FromFunction", fields);
  if (size < 0) throw Invalid("FromFunction: expected a number of records, found {}", size);
  if (!function) throw Invalid("FromFunction: there is nothing to call");
  return std::make_shared<FunctionNode>(std::move(fields), size, std::move(function), name);
}

SourcePtr FromGenerator(std::vector<Field> fields,
                        std::function<Dataset::Generator(int64_t epoch)> start,
                        const std::string& name) {
  CheckFields("FromGenerator", fields);
  if (!start) throw Invalid("FromGenerator: there is nothing to call");
  std::string description = fmt::format("{}: a stream, {}", name, DescribeFields(fields));
  const auto shared =
      std::make_shared<const std::function<Dataset::Generator(int64_t epoch)>>(std::move(start));
  return std::make_shared<Stream>(
      std::vector<SourcePtr>(), std::move(fields), std::move(description),
      [shared](const Stream& stream, int64_t epoch, const StreamOptions&) {
        return std::make_unique<GeneratorCursor>(stream, *shared, epoch);
      });
}

SourcePtr Range(int64_t begin, int64_t end, int64_t step) {
  if (step == 0) throw Invalid("Range: expected a step other than 0");
  const __int128 span = static_cast<__int128>(end) - begin;
  __int128 size = 0;
  if (step > 0 && span > 0) size = (span + step - 1) / step;
  if (step < 0 && span < 0) size = (-span - step - 1) / -static_cast<__int128>(step);
  if (size > kInfinite - 1) {
    throw Invalid("Range: {} to {} are more numbers than can be counted", begin, end);
  }
  return FromFunction(
      {Field{"value", ir::Shape::Scalar(ir::DType::kI64)}}, static_cast<int64_t>(size),
      [begin, step](int64_t record, Block& out, int64_t row) {
        *out.as<int64_t>(0, row) = begin + record * step;
      },
      fmt::format("range {} to {} by {}", begin, end, step));
}

SourcePtr Map(SourcePtr input, std::vector<Field> fields, Dataset::MapFunction function,
              const std::string& name) {
  CheckFields("Map", fields);
  if (!function) throw Invalid("Map: there is nothing to call");
  auto step = std::make_shared<Step>();
  step->name = name;
  step->fields = std::move(fields);
  step->map = std::move(function);
  const std::string what = fmt::format("{} to {}", name, DescribeFields(step->fields));
  return AddStep(std::move(input), std::move(step), what);
}

SourcePtr Apply(SourcePtr input, std::vector<TransformPtr> transforms, uint64_t seed) {
  for (const TransformPtr& transform : transforms) {
    if (!transform) throw Invalid("Apply: a transform is missing");
  }
  for (TransformPtr& transform : Fuse(std::move(transforms))) {
    auto step = std::make_shared<Step>();
    step->name = transform->name();
    step->fields = transform->Fields(input->fields());
    step->seed = seed ^ Mix(HashName(step->name) + CountMaps(input));
    step->transform = std::move(transform);
    CheckFields(step->name.c_str(), step->fields);
    const std::string what = fmt::format("{} to {}", step->name, DescribeFields(step->fields));
    input = AddStep(std::move(input), std::move(step), what);
  }
  return input;
}

SourcePtr Filter(SourcePtr input, Dataset::Predicate predicate, const std::string& name) {
  if (!predicate) throw Invalid("Filter: there is nothing to call");
  auto step = std::make_shared<Step>();
  step->name = name;
  step->fields = input->fields();
  step->keep = std::move(predicate);
  return AddStep(std::move(input), std::move(step), name);
}

SourcePtr FilterNow(SourcePtr input, const Dataset::Predicate& predicate, const std::string& name) {
  if (!predicate) throw Invalid("FilterNow: there is nothing to call");
  if (!input->indexed() || input->size() == kInfinite) {
    throw Invalid("FilterNow: {} has no number of records: use Filter", input->description());
  }
  // Records whose size is not known may be large.
  const int64_t chunk = AllFixed(input->fields())
                            ? ChunkRows(input->fields())
                            : std::min<int64_t>(ChunkRows(input->fields()), 8);
  const int64_t chunks = (input->size() + chunk - 1) / chunk;
  std::vector<std::vector<int64_t>> kept(static_cast<size_t>(chunks));
  std::mutex mutex;
  std::vector<std::unique_ptr<ReadContext>> contexts;  // that nobody uses
  const auto scan = [&](int64_t c) {
    std::unique_ptr<ReadContext> context;
    {
      std::lock_guard lock(mutex);
      if (!contexts.empty()) {
        context = std::move(contexts.back());
        contexts.pop_back();
      }
    }
    if (!context) context = std::make_unique<ReadContext>();
    std::vector<int64_t> records(static_cast<size_t>(std::min(chunk, input->size() - c * chunk)));
    std::iota(records.begin(), records.end(), c * chunk);
    std::vector<int64_t>& chosen = kept[static_cast<size_t>(c)];
    Block block;
    bool whole = true;
    try {
      block.Reset(input->fields(), static_cast<int64_t>(records.size()));
      input->Read(*context, 0, records, block);
    } catch (const DataError&) {
      whole = false;
    }
    for (size_t i = 0; i < records.size(); ++i) {
      if (!whole) {
        // A record that cannot be read stays: whoever reads it learns why, or leaves it out.
        try {
          block.Reset(input->fields(), 1);
          input->Read(*context, 0, std::span<const int64_t>(records).subspan(i, 1), block);
        } catch (const DataError&) {
          chosen.push_back(records[i]);
          continue;
        }
      }
      if (predicate(block, whole ? static_cast<int64_t>(i) : 0)) chosen.push_back(records[i]);
    }
    std::lock_guard lock(mutex);
    contexts.push_back(std::move(context));
  };
  ThreadPool pool(ReadCgroup().cpu.usable, "filter");
  pool.ParallelFor(chunks, scan);
  std::vector<int64_t> records;
  for (const std::vector<int64_t>& part : kept) {
    records.insert(records.end(), part.begin(), part.end());
  }
  return WithContext(name, [&] { return Select(std::move(input), std::move(records)); });
}

SourcePtr RebuildStages(const SourcePtr& stream,
                        const std::function<SourcePtr(const SourcePtr&)>& change) {
  const auto* stage = dynamic_cast<const StageStream*>(stream.get());
  if (stage == nullptr) return nullptr;
  const SourcePtr below =
      stage->input()->indexed() ? change(stage->input()) : RebuildStages(stage->input(), change);
  if (!below) return nullptr;
  return AddStep(below, stage->step(), stage->step()->name);
}

}  // namespace flatout::data::verbs
