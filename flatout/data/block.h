// Block: a chunk of records in memory, field by field. What sources fill and transforms change.
//
// A field that is fixed (field.h) is one run of memory, row after row, which may be the very buffer
// that is sent to the device. Any other field is a Cell per row: a pointer and dimensions. A cell's
// bytes lie in the block's own arena, in another block whose column it shares, or in the memory of
// a source, which outlives every block (so nothing is copied out of a mapped file).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/data/field.h"

namespace flatout::data {

// The value of one row in a column that is not fixed. Fields that are not fixed have at most
// kMostRank dimensions.
inline constexpr size_t kMostRank = 4;
struct Cell {
  const std::byte* data = nullptr;        // row-major elements; of text: see Block::text and texts
  int64_t bytes = 0;                      // that data takes; of a text of rank 0: its length
  std::array<int64_t, kMostRank> dims{};  // the first field.shape.rank() count
};

// What a BadRecords knows, to be written down and handed to that of a later session.
struct BadRecordsState {
  int64_t count = 0;                  // all that were bad
  std::vector<std::string> messages;  // the first hundred, in the order in which they were found
  // The errors after those, by 16 hexadecimal digits each (farmhash's Fingerprint64); the first
  // 100,000, so that the state stays small. Ones beyond are in `count` alone: they count again when
  // they are met again.
  std::vector<std::string> others;
};

// Counts the bad records that a run goes on without. Thread-safe.
class BadRecords {
 public:
  // Told each bad record once, by one thread at a time, instead of a warning in the log.
  using Listener = std::function<void(const DataError&)>;
  // `allowed`: how many may be bad before reading fails; 0: the first one fails.
  explicit BadRecords(int64_t allowed = 0, Listener listener = {})
      : allowed_(allowed), listener_(std::move(listener)) {}
  // Throws the error when more than `allowed` records are bad; else notes it, logs a warning for
  // the first few, and returns. The same error again (in a later epoch) does not count twice.
  void Report(const DataError& error);
  int64_t count() const;
  int64_t allowed() const { return allowed_; }
  // The first hundred, in the order in which they were found.
  std::vector<std::string> messages() const;
  // What is known now, and going on from it: an error that is part of `state` does not count, and
  // is not told, again. An error is known by its text, and so by its file's path. Restore forgets
  // what was known before; throws DataError when `state` is none that state() gives.
  BadRecordsState state() const;
  void Restore(const BadRecordsState& state);

 private:
  struct State;
  const int64_t allowed_;
  const Listener listener_;
  std::shared_ptr<State> state_ = MakeState();
  static std::shared_ptr<State> MakeState();
};

class Block {
 public:
  Block() = default;
  Block(Block&&) noexcept = default;
  Block& operator=(Block&&) noexcept = default;

  // Makes room for `rows` rows in memory of its own (kept from one use to the next). Fixed fields
  // hold anything afterwards, others are empty cells with dims 0.
  void Reset(const std::vector<Field>& fields, int64_t rows);
  // The same, with fixed field f in the caller's memory memory[f], rows * shape.bytes() bytes.
  // nullptr: memory of its own.
  void Borrow(const std::vector<Field>& fields, int64_t rows, std::span<std::byte* const> memory);

  int64_t rows() const { return rows_; }
  const std::vector<Field>& fields() const { return fields_; }

  // ---- fixed fields ----
  // Row `row` of field f; the rows lie one after the other.
  std::byte* data(size_t f, int64_t row = 0) {
    return columns_[f].memory + row * columns_[f].stride;
  }
  const std::byte* data(size_t f, int64_t row = 0) const {
    return columns_[f].memory + row * columns_[f].stride;
  }
  template <typename T>
  T* as(size_t f, int64_t row = 0) {
    return reinterpret_cast<T*>(data(f, row));
  }
  template <typename T>
  const T* as(size_t f, int64_t row = 0) const {
    return reinterpret_cast<const T*>(data(f, row));
  }
  int64_t stride(size_t f) const { return columns_[f].stride; }  // bytes of a row

  // ---- fields that are not fixed ----
  Cell& cell(size_t f, int64_t row) { return columns_[f].cells[static_cast<size_t>(row)]; }
  const Cell& cell(size_t f, int64_t row) const {
    return columns_[f].cells[static_cast<size_t>(row)];
  }
  // Sets the cell's dims and gives it room for its elements in the arena, to be written now.
  // Not for text.
  std::byte* SetCell(size_t f, int64_t row, std::span<const int64_t> dims);
  // Text of rank 0: copies it into the arena.
  void SetText(size_t f, int64_t row, std::string_view text);
  // Text of rank 0 that outlives the block (a source's memory): no copy.
  void SetTextView(size_t f, int64_t row, std::string_view text);
  std::string_view text(size_t f, int64_t row) const {
    const Cell& c = cell(f, row);
    return {reinterpret_cast<const char*>(c.data), static_cast<size_t>(c.bytes)};
  }
  // Text of rank >= 1: the strings themselves are copied into the arena.
  void SetTexts(size_t f, int64_t row, std::span<const int64_t> dims,
                std::span<const std::string_view> texts);
  // The same, of strings that live as long as this block: in its arena, or a source's memory.
  void SetTextViews(size_t f, int64_t row, std::span<const int64_t> dims,
                    std::span<const std::string_view> texts);
  std::span<const std::string_view> texts(size_t f, int64_t row) const;

  // ---- both kinds ----
  // The dimensions of row `row` of field f, and its bytes (not for text of rank >= 1).
  std::span<const int64_t> dims(size_t f, int64_t row) const;
  std::span<const std::byte> bytes(size_t f, int64_t row) const;

  // Memory of this block until the next Reset; 64-byte aligned.
  std::byte* Allocate(int64_t bytes);
  // Until the next Reset or LeaveArena, Allocate takes from `owner`'s memory: what is read into
  // this block can become part of `owner` without a copy. For two blocks in one thread's hands.
  void JoinArena(Block& owner);
  void LeaveArena() { arena_.reset(); }
  int64_t allocated() const;  // bytes that Allocate gave out since the last Reset
  // Whether cells may point into memory of blocks that neither this one nor its arena keeps.
  bool shares_cells() const { return !shared_.empty(); }

  // ---- whole columns and rows ----
  // Column f becomes column g of `from`, which has as many rows. Nothing is copied unless this
  // block's column is borrowed memory.
  void ShareColumn(size_t f, const Block& from, size_t g);
  // Row `row` becomes row `from_row` of a block with the same fields; cells are copied into this
  // block's arena only if `deep`, else they share `from`'s.
  void CopyRow(int64_t row, const Block& from, int64_t from_row, bool deep = true);
  // Row `row` becomes all zeros: fixed fields zero bytes, cells without elements.
  void ClearRow(int64_t row);

  // ---- bad records ----
  // Where bad records are counted; without one (the default) the first is thrown.
  void set_bad_records(BadRecords* policy) { policy_ = policy; }
  BadRecords* bad_records() const { return policy_; }
  // Row `row` cannot be read: throws the error, with the row's origin in front, or counts it,
  // clears the row and marks it.
  void Bad(int64_t row, const DataError& error);
  // Tells where a row comes from, for messages: a file, a record. Set by the source that reads it,
  // until the next Reset; transforms hand it on by TakeOrigin, so that what they find bad is named.
  using Origin = std::function<std::string(int64_t row)>;
  void set_origin(Origin origin) { origin_ = std::make_shared<const Origin>(std::move(origin)); }
  bool has_origin() const { return origin_ != nullptr; }
  void TakeOrigin(const Block& from) { origin_ = from.origin_; }
  // Marks row `row` as bad, and nothing else: what was read into its memory has been told already.
  void MarkBad(int64_t row);
  bool bad(int64_t row) const { return !bad_.empty() && bad_[static_cast<size_t>(row)] != 0; }
  bool any_bad() const { return !bad_.empty(); }
  // Marks as bad what is bad in `from` (of as many rows), as a transform must for its output.
  void TakeBad(const Block& from);

 private:
  class Arena;
  struct Column {
    std::byte* memory = nullptr;  // fixed
    int64_t stride = 0;
    bool borrowed = false;
    std::shared_ptr<std::byte[]> own;    // memory points into it unless borrowed or shared
    std::shared_ptr<std::byte[]> alias;  // another block's own, where the column is shared
    int64_t capacity = 0;                // bytes of own
    std::vector<Cell> cells;             // not fixed
  };
  Arena& arena();

  std::vector<Field> fields_;
  int64_t rows_ = 0;
  std::vector<Column> columns_;
  std::shared_ptr<Arena> arena_;
  std::vector<std::shared_ptr<Arena>> shared_;  // arenas that cells point into
  BadRecords* policy_ = nullptr;
  std::shared_ptr<const Origin> origin_;
  std::vector<uint8_t> bad_;  // empty: none
};

}  // namespace flatout::data
