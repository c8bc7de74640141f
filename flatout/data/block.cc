#include "flatout/data/block.h"

#include <farmhash.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "flatout/base/log.h"

namespace flatout::data {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMostMessages = 100;
constexpr size_t kMostOthers = 100000;
constexpr int64_t kMostWarnings = 5;

// From here on memory comes from the system, and goes back to it at once: among pieces that live
// for different times, and on several threads, malloc's heaps would come to hold much more than is
// used. Sanitizers see only what malloc gives.
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kMapped = std::numeric_limits<int64_t>::max();
#else
constexpr int64_t kMapped = int64_t{1} << 20;
#endif

std::shared_ptr<std::byte[]> AllocateAligned(int64_t bytes) {
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* memory = nullptr;
  if (bytes >= kMapped) {
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) memory = nullptr;
  } else {
    memory = ::operator new[](size, std::align_val_t{kAlignment}, std::nothrow);
  }
  if (memory == nullptr) {
    throw UserError(Code::kResourceExhausted,
                    fmt::format("no memory for {} bytes of records: lower the batch, "
                                "data.prefetch_memory or data.workers",
                                bytes));
  }
  if (bytes >= kMapped) {
    return {static_cast<std::byte*>(memory), [size](std::byte* p) { munmap(p, size); }};
  }
  return {static_cast<std::byte*>(memory),
          [](std::byte* p) { ::operator delete[](p, std::align_val_t{kAlignment}); }};
}

}  // namespace

// ---- BadRecords ----

struct BadRecords::State {
  mutable std::mutex mutex;
  std::unordered_map<uint64_t, int64_t> seen;  // fingerprint: how many there were with it
  int64_t count = 0;                           // of seen, and of those that others had no room for
  std::vector<std::string> messages;
  std::vector<std::string> others;
};

std::shared_ptr<BadRecords::State> BadRecords::MakeState() { return std::make_shared<State>(); }

void BadRecords::Report(const DataError& error) {
  int64_t count = 0;
  {
    std::lock_guard lock(state_->mutex);
    const uint64_t fingerprint = util::Fingerprint64(std::string_view(error.what()));
    const auto [seen, fresh] = state_->seen.emplace(fingerprint, state_->count + 1);
    count = seen->second;
    if (fresh) ++state_->count;
    // One that was too many is so every time.
    if (!fresh && count <= allowed_) return;
    if (fresh && state_->messages.size() < kMostMessages) {
      state_->messages.emplace_back(error.what());
    } else if (fresh && state_->others.size() < kMostOthers) {
      state_->others.push_back(fmt::format("{:016x}", fingerprint));
    }
    if (listener_ && count <= allowed_) listener_(error);
  }
  if (count > allowed_) {
    if (allowed_ == 0) throw error;
    DataError last = error;
    last.AddContext(
        fmt::format("more than max_bad_records = {} records are bad; the last one", allowed_));
    throw last;
  }
  if (listener_) return;
  if (count <= kMostWarnings) LogWarning("bad record left out: {}", error.what());
  if (count == kMostWarnings && allowed_ > kMostWarnings) {
    LogWarning("further bad records are only counted");
  }
}

int64_t BadRecords::count() const {
  std::lock_guard lock(state_->mutex);
  return state_->count;
}

std::vector<std::string> BadRecords::messages() const {
  std::lock_guard lock(state_->mutex);
  return state_->messages;
}

BadRecordsState BadRecords::state() const {
  std::lock_guard lock(state_->mutex);
  return {state_->count, state_->messages, state_->others};
}

void BadRecords::Restore(const BadRecordsState& state) {
  std::unordered_map<uint64_t, int64_t> seen;
  for (const std::string& message : state.messages) {
    seen.emplace(util::Fingerprint64(message), static_cast<int64_t>(seen.size()) + 1);
  }
  for (const std::string& other : state.others) {
    uint64_t fingerprint = 0;
    const char* end = other.data() + other.size();
    const auto [last, fault] = std::from_chars(other.data(), end, fingerprint, 16);
    if (fault != std::errc() || last != end || other.size() != 16) {
      throw BadData(
          "bad records of an earlier session: expected 16 hexadecimal digits, found \"{}\"", other);
    }
    seen.emplace(fingerprint, static_cast<int64_t>(seen.size()) + 1);
  }
  const auto known = static_cast<int64_t>(seen.size());
  if (state.count < known) {
    throw BadData("bad records of an earlier session: expected a count of at least {}, found {}",
                  known, state.count);
  }
  std::lock_guard lock(state_->mutex);
  state_->seen = std::move(seen);
  state_->count = state.count;
  state_->messages = state.messages;
  state_->others = state.others;
}

// ---- Arena ----

// Memory that is given out piece by piece and taken back as a whole.
class Block::Arena {
 public:
  std::byte* Allocate(int64_t bytes) {
    const int64_t rounded =
        (bytes + static_cast<int64_t>(kAlignment) - 1) & ~(static_cast<int64_t>(kAlignment) - 1);
    if (taken_ == 0 || chunks_[taken_ - 1].size - used_ < rounded) return FromAnother(rounded);
    std::byte* result = chunks_[taken_ - 1].memory.get() + used_;
    used_ += rounded;
    return result;
  }
  int64_t allocated() const {
    int64_t bytes = used_;
    for (size_t i = 0; i + 1 < taken_; ++i) bytes += chunks_[i].size;
    return bytes;
  }
  // What only one use in a while needs is not kept for ever: chunks that the last use did not take
  // go, and of the others as many as are more than most uses need.
  void Clear() {
    chunks_.resize(taken_);
    int64_t kept = 0;
    std::erase_if(chunks_, [&](const Chunk& chunk) {
      if (kept + chunk.size > kKept) return true;
      kept += chunk.size;
      return false;
    });
    taken_ = 0;
    used_ = 0;
  }

 private:
  static constexpr int64_t kSmallest = int64_t{1} << 14;
  static constexpr int64_t kLargest = int64_t{1} << 22;  // unless one piece needs more
  static constexpr int64_t kKept = int64_t{1} << 24;     // bytes from one use to the next
  struct Chunk {
    std::shared_ptr<std::byte[]> memory;
    int64_t size;
  };

  // From a chunk of the last use that is large enough and not much too large, else a new one.
  std::byte* FromAnother(int64_t rounded) {
    const bool alone = rounded > kLargest / 4;
    size_t best = chunks_.size();
    for (size_t i = taken_; i < chunks_.size(); ++i) {
      const int64_t size = chunks_[i].size;
      if (size < rounded || (alone && size / 2 > rounded)) continue;
      if (best == chunks_.size() || size < chunks_[best].size) best = i;
    }
    if (best == chunks_.size()) {
      int64_t largest = kSmallest / 2;
      for (const Chunk& chunk : chunks_) largest = std::max(largest, chunk.size);
      const int64_t size = alone ? rounded : std::max(rounded, std::min(largest * 2, kLargest));
      chunks_.push_back({AllocateAligned(size), size});
    }
    std::swap(chunks_[taken_], chunks_[best]);
    ++taken_;
    // A large piece has its chunk for itself: what is left of the one before goes on being used.
    if (alone && taken_ > 1) {
      std::swap(chunks_[taken_ - 1], chunks_[taken_ - 2]);
      return chunks_[taken_ - 2].memory.get();
    }
    used_ = rounded;
    return chunks_[taken_ - 1].memory.get();
  }

  std::vector<Chunk> chunks_;  // the first taken_ are in use
  size_t taken_ = 0;
  int64_t used_ = 0;  // bytes of the last of those
};

// ---- Block ----

Block::Arena& Block::arena() {
  if (!arena_) arena_ = std::make_shared<Arena>();
  return *arena_;
}

std::byte* Block::Allocate(int64_t bytes) { return arena().Allocate(bytes); }

void Block::JoinArena(Block& owner) {
  owner.arena();
  arena_ = owner.arena_;
}

int64_t Block::allocated() const { return arena_ ? arena_->allocated() : 0; }

void Block::Reset(const std::vector<Field>& fields, int64_t rows) { Borrow(fields, rows, {}); }

void Block::Borrow(const std::vector<Field>& fields, int64_t rows,
                   std::span<std::byte* const> memory) {
  if (&fields != &fields_ && fields != fields_) fields_ = fields;
  rows_ = rows;
  bad_.clear();
  origin_.reset();
  shared_.clear();
  // Another block may still look into the arena: then it is theirs from now on.
  if (arena_ && arena_.use_count() > 1) arena_.reset();
  if (arena_) arena_->Clear();
  columns_.resize(fields_.size());
  for (size_t f = 0; f < fields_.size(); ++f) {
    Column& column = columns_[f];
    column.alias.reset();
    column.borrowed = false;
    if (!fields_[f].fixed()) {
      if (fields_[f].shape.dims.size() > kMostRank) {
        throw Invalid("field {}: a field that is not fixed has at most {} dimensions",
                      fields_[f].ToString(), kMostRank);
      }
      column.memory = nullptr;
      column.stride = 0;
      column.cells.assign(static_cast<size_t>(rows), Cell{});
      continue;
    }
    column.cells.clear();
    column.stride = fields_[f].shape.bytes();
    if (f < memory.size() && memory[f] != nullptr) {
      column.memory = memory[f];
      column.borrowed = true;
      continue;
    }
    const int64_t bytes = rows * column.stride;
    if (bytes > column.capacity || column.own.use_count() > 1 || column.own == nullptr) {
      column.own.reset();
      column.own = AllocateAligned(bytes);
      column.capacity = bytes;
    }
    column.memory = column.own.get();
  }
}

std::byte* Block::SetCell(size_t f, int64_t row, std::span<const int64_t> dims) {
  Cell& c = cell(f, row);
  int64_t bytes = ir::ByteSize(fields_[f].shape.dtype);
  for (size_t i = 0; i < dims.size(); ++i) {
    c.dims[i] = dims[i];
    bytes *= dims[i];
  }
  std::byte* memory = Allocate(bytes);
  c.data = memory;
  c.bytes = bytes;
  return memory;
}

void Block::SetText(size_t f, int64_t row, std::string_view text) {
  std::byte* memory = Allocate(static_cast<int64_t>(text.size()));
  if (!text.empty()) std::memcpy(memory, text.data(), text.size());
  Cell& c = cell(f, row);
  c.data = memory;
  c.bytes = static_cast<int64_t>(text.size());
}

void Block::SetTextView(size_t f, int64_t row, std::string_view text) {
  Cell& c = cell(f, row);
  c.data = reinterpret_cast<const std::byte*>(text.data());
  c.bytes = static_cast<int64_t>(text.size());
}

void Block::SetTexts(size_t f, int64_t row, std::span<const int64_t> dims,
                     std::span<const std::string_view> texts) {
  size_t total = 0;
  for (std::string_view text : texts) total += text.size();
  auto* memory = reinterpret_cast<char*>(Allocate(static_cast<int64_t>(total)));
  std::vector<std::string_view> copies(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].empty()) std::memcpy(memory, texts[i].data(), texts[i].size());
    copies[i] = {memory, texts[i].size()};
    memory += texts[i].size();
  }
  SetTextViews(f, row, dims, copies);
}

void Block::SetTextViews(size_t f, int64_t row, std::span<const int64_t> dims,
                         std::span<const std::string_view> texts) {
  auto* views = reinterpret_cast<std::string_view*>(
      Allocate(static_cast<int64_t>(texts.size() * sizeof(std::string_view))));
  std::uninitialized_copy(texts.begin(), texts.end(), views);
  Cell& c = cell(f, row);
  c.data = reinterpret_cast<const std::byte*>(views);
  c.bytes = static_cast<int64_t>(texts.size() * sizeof(std::string_view));
  std::copy(dims.begin(), dims.end(), c.dims.begin());
}

std::span<const std::string_view> Block::texts(size_t f, int64_t row) const {
  const Cell& c = cell(f, row);
  return {reinterpret_cast<const std::string_view*>(c.data),
          static_cast<size_t>(c.bytes) / sizeof(std::string_view)};
}

std::span<const int64_t> Block::dims(size_t f, int64_t row) const {
  const std::vector<int64_t>& dims = fields_[f].shape.dims;
  if (fields_[f].fixed()) return dims;
  return std::span<const int64_t>(cell(f, row).dims).first(dims.size());
}

std::span<const std::byte> Block::bytes(size_t f, int64_t row) const {
  if (fields_[f].fixed()) return {data(f, row), static_cast<size_t>(columns_[f].stride)};
  const Cell& c = cell(f, row);
  return {c.data, static_cast<size_t>(c.bytes)};
}

void Block::ShareColumn(size_t f, const Block& from, size_t g) {
  Column& to = columns_[f];
  const Column& source = from.columns_[g];
  if (from.rows_ != rows_ || from.fields_[g].fixed() != fields_[f].fixed() ||
      source.stride != to.stride) {
    throw Internal("column {} of {} rows cannot become column {} of {} rows",
                   from.fields_[g].ToString(), from.rows_, fields_[f].ToString(), rows_);
  }
  if (!fields_[f].fixed()) {
    to.cells = source.cells;
    if (from.arena_) shared_.push_back(from.arena_);
    shared_.insert(shared_.end(), from.shared_.begin(), from.shared_.end());
    return;
  }
  if (to.borrowed || source.borrowed) {
    std::memcpy(to.memory, source.memory, static_cast<size_t>(rows_ * to.stride));
    return;
  }
  to.alias = source.alias ? source.alias : source.own;
  to.memory = source.memory;
}

void Block::CopyRow(int64_t row, const Block& from, int64_t from_row, bool deep) {
  for (size_t f = 0; f < fields_.size(); ++f) {
    if (fields_[f].fixed()) {
      std::memcpy(data(f, row), from.data(f, from_row), static_cast<size_t>(columns_[f].stride));
      continue;
    }
    const Cell& source = from.cell(f, from_row);
    if (!deep) {
      cell(f, row) = source;
    } else if (fields_[f].text && !fields_[f].shape.dims.empty()) {
      SetTexts(f, row, from.dims(f, from_row), from.texts(f, from_row));
    } else {
      Cell& to = cell(f, row);
      to = source;
      std::byte* memory = Allocate(source.bytes);
      if (source.bytes > 0) std::memcpy(memory, source.data, static_cast<size_t>(source.bytes));
      to.data = memory;
    }
  }
  if (!deep) {
    // Rows mostly come one after the other from the same block.
    const auto keep = [&](const std::shared_ptr<Arena>& arena) {
      if (arena && (shared_.empty() || shared_.back() != arena) &&
          std::find(shared_.begin(), shared_.end(), arena) == shared_.end()) {
        shared_.push_back(arena);
      }
    };
    keep(from.arena_);
    for (const std::shared_ptr<Arena>& arena : from.shared_) keep(arena);
  }
  if (from.bad(from_row)) {
    bad_.resize(static_cast<size_t>(rows_));
    bad_[static_cast<size_t>(row)] = 1;
  }
}

void Block::ClearRow(int64_t row) {
  for (size_t f = 0; f < fields_.size(); ++f) {
    if (fields_[f].fixed()) {
      std::memset(data(f, row), 0, static_cast<size_t>(columns_[f].stride));
    } else {
      cell(f, row) = Cell{};
    }
  }
}

void Block::Bad(int64_t row, const DataError& error) {
  DataError told = error;
  if (origin_) {
    const std::string where = (*origin_)(row);
    // Sources name the place themselves.
    if (std::string_view(told.what()).find(where) == std::string_view::npos) told.AddContext(where);
  }
  if (policy_ == nullptr) throw told;
  policy_->Report(told);
  ClearRow(row);
  bad_.resize(static_cast<size_t>(rows_));
  bad_[static_cast<size_t>(row)] = 1;
}

void Block::MarkBad(int64_t row) {
  bad_.resize(static_cast<size_t>(rows_));
  bad_[static_cast<size_t>(row)] = 1;
}

void Block::TakeBad(const Block& from) {
  if (from.bad_.empty()) return;
  bad_.resize(static_cast<size_t>(rows_));
  for (int64_t row = 0; row < rows_; ++row) {
    if (!from.bad(row) || bad_[static_cast<size_t>(row)] != 0) continue;
    ClearRow(row);
    bad_[static_cast<size_t>(row)] = 1;
  }
}

}  // namespace flatout::data
