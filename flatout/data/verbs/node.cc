#include "flatout/data/verbs/node.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "flatout/base/error.h"

namespace flatout::data::verbs {

// ---- Node ----

Node::Node(std::vector<SourcePtr> inputs, int64_t size, std::vector<Field> fields,
           std::string description)
    : inputs_(std::move(inputs)),
      size_(size),
      fields_(std::move(fields)),
      description_(std::move(description)) {
  for (const SourcePtr& input : inputs_) {
    const auto* node = dynamic_cast<const Node*>(input.get());
    masked_ = masked_ || (node != nullptr && node->masked());
  }
  masked_ = masked_ && std::any_of(fields_.begin(), fields_.end(), [](const Field& field) {
              return field.name == "weight" && !field.text && field.shape.rank() == 1 &&
                     field.shape.dtype == ir::DType::kF32;
            });
}

uint64_t Node::seed() const {
  for (const SourcePtr& input : inputs_) {
    if (const uint64_t seed = input->seed()) return seed;
  }
  return 0;
}

std::optional<BestScore> Node::best_score() const {
  if (inputs_.size() != 1) return std::nullopt;
  return inputs_[0]->best_score();
}

void Node::Read(ReadContext&, int64_t, std::span<const int64_t>, Block&) const {
  throw Internal("{}: a stream was asked for records by number", description_);
}

Stream::Stream(std::vector<SourcePtr> inputs, std::vector<Field> fields, std::string description,
               Opener opener)
    : Node(std::move(inputs), kUnknown, std::move(fields), std::move(description)),
      opener_(std::move(opener)) {}

void StageTotals::Add(const EngineStats& before, const EngineStats& now) {
  std::lock_guard lock(mutex_);
  busy_ += now.busy - before.busy;
  cpu_ += now.cpu - before.cpu;
  for (const auto& [name, time] : now.stages) {
    const auto old = before.stages.find(name);
    const StageTime none, &from = old == before.stages.end() ? none : old->second;
    StageTime& sum = stages_[name];
    sum.seconds += time.seconds - from.seconds;
    sum.records += time.records - from.records;
    sum.bytes += time.bytes - from.bytes;
  }
}

void StageTotals::AddTo(EngineStats& stats) const {
  std::lock_guard lock(mutex_);
  stats.busy += busy_;
  stats.cpu += cpu_;
  for (const auto& [name, time] : stages_) {
    StageTime& sum = stats.stages[name];
    sum.seconds += time.seconds;
    sum.records += time.records;
    sum.bytes += time.bytes;
  }
}

// ---- blocks ----

bool AllFixed(const std::vector<Field>& fields) {
  return std::all_of(fields.begin(), fields.end(),
                     [](const Field& field) { return field.fixed(); });
}

int64_t BlockBytes(const Block& block) {
  int64_t bytes = 0;
  for (size_t f = 0; f < block.fields().size(); ++f) {
    const Field& field = block.fields()[f];
    if (field.fixed()) {
      bytes += block.rows() * block.stride(f);
      continue;
    }
    for (int64_t row = 0; row < block.rows(); ++row) {
      bytes += static_cast<int64_t>(sizeof(Cell)) + block.cell(f, row).bytes;
      if (!field.text || field.shape.dims.empty()) continue;
      for (std::string_view text : block.texts(f, row)) bytes += static_cast<int64_t>(text.size());
    }
  }
  return bytes;
}

int64_t ChunkRows(const std::vector<Field>& fields) {
  // What a dimension that is not known may be: of a text or a list, and of each side of an image.
  constexpr int64_t kChunkBytes = int64_t{1} << 18, kLength = 256, kMostRows = 1024;
  int64_t bytes = 1;
  for (const Field& field : fields) {
    int64_t size = field.text ? kLength : ir::ByteSize(field.shape.dtype);
    for (int64_t dim : field.shape.dims) {
      if (__builtin_mul_overflow(size, dim == kAny ? kLength : dim, &size)) return 1;
    }
    if (__builtin_add_overflow(bytes, size, &bytes)) return 1;
  }
  return std::clamp<int64_t>(kChunkBytes / bytes, 1, kMostRows);
}

int64_t ChunkSize::rows() const {
  if (fixed_) return rows_;
  constexpr int64_t kChunkBytes = int64_t{1} << 18, kMostRows = 1024;
  return std::clamp<int64_t>(kChunkBytes / mean_.load(std::memory_order_relaxed), 1, kMostRows);
}

void ChunkSize::Learn(int64_t records, int64_t bytes) {
  if (fixed_ || records < 1) return;
  // The larger counts at once, the smaller little by little.
  const int64_t now = std::max<int64_t>(bytes / records, 1), old = mean_;
  mean_.store(std::max(now, old - (old - now) / 4), std::memory_order_relaxed);
}

void CopyRows(Block& out, int64_t row, const Block& from, int64_t from_row, int64_t count,
              bool deep) {
  if (AllFixed(out.fields()) && !from.any_bad()) {
    for (size_t f = 0; f < out.fields().size(); ++f) {
      std::memcpy(out.data(f, row), from.data(f, from_row),
                  static_cast<size_t>(count * out.stride(f)));
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) out.CopyRow(row + i, from, from_row + i, deep);
}

int64_t CutRows(Block& block, int64_t rows) {
  if (rows == block.rows()) return rows;
  Block cut;
  cut.Reset(block.fields(), rows);
  CopyRows(cut, 0, block, 0, rows, /*deep=*/false);
  block = std::move(cut);
  return rows;
}

void BorrowRows(Block& part, Block& out, int64_t row, int64_t rows) {
  std::vector<std::byte*> memory(out.fields().size());
  for (size_t f = 0; f < memory.size(); ++f) {
    memory[f] = out.fields()[f].fixed() ? out.data(f, row) : nullptr;
  }
  part.Borrow(out.fields(), rows, memory);
}

void ReadRows(ReadContext& context, const Source& source, int64_t epoch,
              std::span<const int64_t> records, Block& out, int64_t row, Block& part) {
  const auto count = static_cast<int64_t>(records.size());
  if (row == 0 && count == out.rows()) {
    source.Read(context, epoch, records, out);
    return;
  }
  part.set_bad_records(context.bad_records());
  if (AllFixed(out.fields())) {
    BorrowRows(part, out, row, count);
    source.Read(context, epoch, records, part);
    if (!part.any_bad()) return;
    // The rows lie where they belong; what is still missing is the mark.
    for (int64_t i = 0; i < count; ++i) {
      if (part.bad(i)) out.MarkBad(row + i);
    }
    return;
  }
  part.Reset(out.fields(), count);
  source.Read(context, epoch, records, part);
  CopyRows(out, row, part, 0, count, /*deep=*/false);
}

std::exception_ptr ReadUpToError(ReadContext& context, const Source& source, int64_t epoch,
                                 std::span<const int64_t> records, Block& out) {
  out.Reset(source.fields(), static_cast<int64_t>(records.size()));
  out.set_bad_records(context.bad_records());
  std::exception_ptr error;
  try {
    source.Read(context, epoch, records, out);
    return nullptr;
  } catch (...) {
    error = std::current_exception();
  }
  // One by one, to give out what comes before the record that failed.
  Block all, one;
  all.Reset(source.fields(), static_cast<int64_t>(records.size()));
  int64_t rows = 0;
  if (records.size() > 1) {
    try {
      for (size_t i = 0; i < records.size(); ++i) {
        one.Reset(source.fields(), 1);
        one.set_bad_records(context.bad_records());
        source.Read(context, epoch, records.subspan(i, 1), one);
        all.CopyRow(rows, one, 0);
        ++rows;
      }
      error = nullptr;
    } catch (...) {
      error = std::current_exception();
    }
  }
  out.Reset(source.fields(), rows);
  CopyRows(out, 0, all, 0, rows, /*deep=*/true);
  return error;
}

void CopyEntry(Block& out, size_t f, int64_t row, const Block& from, size_t g, int64_t from_row,
               int64_t entry) {
  const Field& field = out.fields()[f];
  const std::span<const int64_t> dims = from.dims(g, from_row).subspan(1);
  int64_t elements = 1;
  for (int64_t dim : dims) elements *= dim;
  if (field.text) {
    const auto texts =
        from.texts(g, from_row)
            .subspan(static_cast<size_t>(entry * elements), static_cast<size_t>(elements));
    if (field.shape.dims.empty()) {
      out.SetText(f, row, texts[0]);
    } else {
      out.SetTexts(f, row, dims, texts);
    }
    return;
  }
  const int64_t bytes = elements * ir::ByteSize(field.shape.dtype);
  const std::byte* source = from.bytes(g, from_row).data() + entry * bytes;
  std::byte* to = field.fixed() ? out.data(f, row) : out.SetCell(f, row, dims);
  if (bytes > 0) std::memcpy(to, source, static_cast<size_t>(bytes));
}

void RowStore::Add(const Block& from, int64_t row, int64_t count) {
  while (count > 0) {
    const auto b = static_cast<size_t>(size_ / per_block_);
    const int64_t at = size_ % per_block_;
    if (b == blocks_.size()) blocks_.emplace_back();
    if (at == 0) blocks_[b].Reset(fields_, per_block_);
    const int64_t rows = std::min(count, per_block_ - at);
    CopyRows(blocks_[b], at, from, row, rows, /*deep=*/true);
    for (size_t f = 0; f < fields_.size(); ++f) {
      for (int64_t i = at; i < at + rows; ++i) {
        bytes_ += static_cast<int64_t>(blocks_[b].bytes(f, i).size());
      }
    }
    size_ += rows;
    row += rows;
    count -= rows;
  }
}

// ---- saved states ----

int64_t TakeState(std::span<const int64_t>& state, int64_t low, int64_t high) {
  if (state.empty() || state[0] < low || state[0] > high) {
    throw Invalid(
        "the saved position does not belong to this stream: {}. The verbs or the data have "
        "changed: bring them back, or start anew",
        state.empty()
            ? std::string("it is too short")
            : fmt::format("it holds {} where {} to {} was expected", state[0], low, high));
  }
  const int64_t value = state[0];
  state = state.subspan(1);
  return value;
}

Feed::Feed(const SourcePtr& source, int64_t epoch, const StreamOptions& options, bool history)
    : cursor_(OpenCursor(source, epoch, options)),
      deterministic_(options.deterministic),
      history_(history),
      most_(ChunkRows(source->fields())) {}

bool Feed::Fill(ReadContext& context, int64_t want) {
  while (row_ == rows_) {
    first_ += rows_;
    row_ = rows_ = 0;
    if (deterministic_) {
      if (!history_) marks_.clear();
      if (marks_.empty() || marks_.back().first != first_) marks_.emplace_back();
      Mark& mark = marks_.back();
      mark.first = first_;
      mark.state.clear();
      cursor_->Save(mark.state);
    }
    rows_ = cursor_->Next(context, std::min(want, most_), block_);
    if (rows_ == 0) return false;
    row_ = std::min(skip_, rows_);
    skip_ -= row_;
  }
  return true;
}

void Feed::SaveAt(int64_t row, std::vector<int64_t>& state) const {
  if (!deterministic_) {
    throw Invalid(
        "an iterator with deterministic = false has no position that could be saved: the order of "
        "its elements comes about while it runs. Set deterministic = true");
  }
  if (row == taken() && row_ == rows_ && skip_ == 0) {
    state.push_back(row);
    state.push_back(0);
    cursor_->Save(state);
    return;
  }
  const auto mark = std::find_if(marks_.rbegin(), marks_.rend(),
                                 [&](const Mark& mark) { return mark.first <= row; });
  if (mark != marks_.rend()) {
    state.push_back(mark->first);
    state.push_back(row - mark->first);
    state.insert(state.end(), mark->state.begin(), mark->state.end());
    return;
  }
  // Restored, and nothing was read since.
  state.push_back(first_);
  state.push_back(row - first_);
  cursor_->Save(state);
}

void Feed::Forget(int64_t before) {
  size_t keep = 0;
  while (keep + 1 < marks_.size() && marks_[keep + 1].first <= before) ++keep;
  marks_.erase(marks_.begin(), marks_.begin() + static_cast<int64_t>(keep));
}

void Feed::Restore(std::span<const int64_t>& state) {
  first_ = TakeState(state, 0, kInfinite);
  skip_ = TakeState(state, 0, kInfinite - first_);
  marks_.clear();
  row_ = rows_ = 0;
  cursor_->Restore(state);
}

}  // namespace flatout::data::verbs
