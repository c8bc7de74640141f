// Verbs that put several records into one, and back: batch, padded_batch, window, unbatch,
// bucket_by_length.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/verbs/node.h"

namespace flatout::data::verbs {
namespace {

using Dims = std::vector<int64_t>;

// ---- one value as an element ----

// The bits of `value` in a float format of so many exponent and fraction bits, rounded to the
// nearest, ties to even (IEEE 754).
uint16_t ToSmallFloat(double value, int exponent_bits, int fraction_bits) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  if (std::isnan(value)) {
    return static_cast<uint16_t>(sign | infinity | (1 << (fraction_bits - 1)));
  }
  value = std::abs(value);
  if (std::isinf(value)) return sign | infinity;
  int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  // In units of the last place; a carry into the next exponent comes out right by addition.
  const double units = std::nearbyint(std::ldexp(value, fraction_bits - exponent));
  const double bits = units + std::ldexp(static_cast<double>(exponent + bias - 1), fraction_bits);
  return sign | static_cast<uint16_t>(std::min(bits, static_cast<double>(infinity)));
}

template <typename T>
std::vector<std::byte> Bytes(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <typename T>
std::vector<std::byte> IntegerBytes(double value, const Field& field) {
  if (value != std::floor(value) || value < static_cast<double>(std::numeric_limits<T>::min()) ||
      value > static_cast<double>(std::numeric_limits<T>::max())) {
    throw Invalid("PaddedBatch: the padding value {} is no value of field {}", value,
                  field.ToString());
  }
  return Bytes(static_cast<T>(value));
}

std::vector<std::byte> ElementBytes(double value, const Field& field) {
  switch (field.shape.dtype) {
    case ir::DType::kPred:
      return IntegerBytes<uint8_t>(value != 0 ? 1 : 0, field);
    case ir::DType::kI8:
      return IntegerBytes<int8_t>(value, field);
    case ir::DType::kI16:
      return IntegerBytes<int16_t>(value, field);
    case ir::DType::kI32:
      return IntegerBytes<int32_t>(value, field);
    case ir::DType::kI64:
      return IntegerBytes<int64_t>(value, field);
    case ir::DType::kU8:
      return IntegerBytes<uint8_t>(value, field);
    case ir::DType::kU16:
      return IntegerBytes<uint16_t>(value, field);
    case ir::DType::kU32:
      return IntegerBytes<uint32_t>(value, field);
    case ir::DType::kU64:
      return IntegerBytes<uint64_t>(value, field);
    case ir::DType::kF16:
      return Bytes(ToSmallFloat(value, 5, 10));
    case ir::DType::kBF16:
      return Bytes(ToSmallFloat(value, 8, 7));
    case ir::DType::kF32:
      return Bytes(static_cast<float>(value));
    case ir::DType::kF64:
      return Bytes(value);
  }
  throw Internal("padding for an unknown dtype of field {}", field.ToString());
}

void FillElements(std::byte* to, int64_t elements, const std::vector<std::byte>& value) {
  if (std::all_of(value.begin(), value.end(), [](std::byte b) { return b == std::byte{0}; })) {
    std::memset(to, 0, static_cast<size_t>(elements) * value.size());
    return;
  }
  for (int64_t i = 0; i < elements; ++i) {
    std::memcpy(to + static_cast<size_t>(i) * value.size(), value.data(), value.size());
  }
}

int64_t Elements(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Copies an array of `from` dimensions into the corner of one of `to` dimensions. `copy(i, j, n)`
// copies n elements from element j of the one to element i of the other.
template <typename Copy>
void CopyCorner(std::span<const int64_t> from, std::span<const int64_t> to, const Copy& copy) {
  if (Elements(from) == 0) return;
  if (std::equal(from.begin(), from.end(), to.begin(), to.end())) {
    copy(int64_t{0}, int64_t{0}, Elements(from));
    return;
  }
  const size_t rank = from.size();
  const int64_t run = from[rank - 1];
  Dims at(rank, 0);
  while (true) {
    int64_t i = 0, j = 0;
    for (size_t d = 0; d < rank; ++d) {
      i = i * to[d] + at[d];
      j = j * from[d] + at[d];
    }
    copy(i, j, run);
    size_t d = rank - 1;
    while (d > 0 && ++at[d - 1] == from[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

// ---- several rows as one ----

struct Padding {
  std::vector<std::pair<std::string, Dims>> shapes;
  std::vector<std::pair<std::string, double>> values;
};

// Puts rows of records together as one record with one more dimension.
class Assembler {
 public:
  // `lead`: the new first dimension, or kAny where it differs. `weight`: with a mask. Without
  // `padding` the records that come together must have equal dimensions.
  Assembler(const char* verb, std::vector<Field> in, int64_t lead, bool weight,
            std::optional<Padding> padding)
      : verb_(verb),
        in_(std::move(in)),
        lead_(lead),
        weight_(weight),
        padding_(std::move(padding)) {
    for (const Field& field : in_) {
      if (weight && field.name == "weight") {
        throw Invalid(
            "{}: a field is called \"weight\", the name of the mask of padding: rename "
            "it, or set drop_remainder",
            verb_);
      }
      Dims target = field.shape.dims;
      if (padding_) target = Target(field);
      targets_.push_back(target);
      const double value = PadValue(field);
      pads_.push_back(field.text ? std::vector<std::byte>() : ElementBytes(value, field));
      direct_ = direct_ && field.fixed() && target == field.shape.dims;
      Field out = field;
      out.shape.dims = std::move(target);
      out.shape.dims.insert(out.shape.dims.begin(), lead);
      if (!out.fixed() && out.shape.dims.size() > kMostRank) {
        throw Invalid(
            "{}: field {} would get {} dimensions; a field that is not fixed has at most "
            "{}",
            verb_, field.ToString(), out.shape.dims.size(), kMostRank);
      }
      int64_t bytes = lead_ == kAny ? 1 : lead_;
      for (int64_t dim : targets_.back()) {
        if (dim != kAny && __builtin_mul_overflow(bytes, std::max<int64_t>(dim, 1), &bytes)) {
          bytes = kInfinite;
        }
      }
      if (bytes > kInfinite / 64) {
        throw Invalid("{}: {} records of {} do not fit any memory", verb_, lead_, field.ToString());
      }
      fields_.push_back(std::move(out));
    }
    if (padding_) {
      for (const auto& [name, dims] : padding_->shapes) FindField(in_, name);
      for (const auto& [name, value] : padding_->values) FindField(in_, name);
    }
    if (weight_) fields_.push_back(Field{"weight", ir::Shape(ir::DType::kF32, {lead})});
  }

  const std::vector<Field>& in() const { return in_; }
  const std::vector<Field>& fields() const { return fields_; }
  bool weight() const { return weight_; }
  // Whether records can be read straight into place.
  bool direct() const { return direct_; }
  // Whether records may come out longer than they went in.
  bool pads() const { return padding_.has_value() && !direct_; }

  // Where the `total` records of row `row` of `out` lie, for direct().
  void Place(Block& out, int64_t row, int64_t total, std::vector<std::byte*>& memory) const {
    memory.resize(in_.size());
    for (size_t f = 0; f < in_.size(); ++f) memory[f] = Room(out, f, row, total, targets_[f]);
  }
  // After that: `count` records were read there, of `rows` that `part` tells about from `first` on.
  void FinishDirect(Block& out, int64_t row, int64_t total, int64_t count, const Block& part,
                    int64_t first) const {
    for (size_t f = 0; f < in_.size() && count < total; ++f) {
      auto* memory = const_cast<std::byte*>(out.bytes(f, row).data());
      const int64_t bytes = in_[f].shape.bytes();
      FillElements(memory + count * bytes, (total - count) * Elements(in_[f].shape.dims), pads_[f]);
    }
    Weigh(out, row, total, count, part, first);
  }
  // Row `row` of `out` is made of rows [first, first + count) of a block. `limit`: what a dimension
  // that is not known is padded to; kAny: the longest. `kept`: texts lie in `out`'s own arena or in
  // a source's memory already.
  void Assemble(const Block& in, int64_t first, int64_t count, int64_t total, Block& out,
                int64_t row, int64_t limit = kAny, bool kept = false) const {
    for (size_t f = 0; f < in_.size(); ++f) {
      const Dims target = Common(in, f, first, count, limit);
      const int64_t elements = Elements(target);
      if (in_[f].text) {
        std::vector<std::string_view> texts(static_cast<size_t>(total * elements));
        for (int64_t r = 0; r < count; ++r) {
          if (in.bad(first + r)) continue;
          if (target.empty()) {
            texts[static_cast<size_t>(r)] = in.text(f, first + r);
            continue;
          }
          const auto from = in.texts(f, first + r);
          CopyCorner(in.dims(f, first + r), target, [&](int64_t i, int64_t j, int64_t n) {
            for (int64_t k = 0; k < n; ++k) {
              texts[static_cast<size_t>(r * elements + i + k)] = from[static_cast<size_t>(j + k)];
            }
          });
        }
        Dims dims = target;
        dims.insert(dims.begin(), total);
        if (kept) {
          out.SetTextViews(f, row, dims, texts);
        } else {
          out.SetTexts(f, row, dims, texts);
        }
        continue;
      }
      std::byte* memory = Room(out, f, row, total, target);
      const auto size = static_cast<int64_t>(pads_[f].size());
      for (int64_t r = 0; r < total; ++r) {
        std::byte* to = memory + r * elements * size;
        if (r >= count || in.bad(first + r)) {
          FillElements(to, elements, pads_[f]);
          continue;
        }
        const std::span<const int64_t> dims = in.dims(f, first + r);
        if (!std::equal(dims.begin(), dims.end(), target.begin(), target.end())) {
          FillElements(to, elements, pads_[f]);
        }
        const std::byte* from = in.bytes(f, first + r).data();
        CopyCorner(dims, target, [&](int64_t i, int64_t j, int64_t n) {
          std::memcpy(to + i * size, from + j * size, static_cast<size_t>(n * size));
        });
      }
    }
    Weigh(out, row, total, count, in, first);
  }

 private:
  Dims Target(const Field& field) const {
    Dims target(field.shape.dims.size(), kAny);
    for (const auto& [name, dims] : padding_->shapes) {
      if (name == field.name) target = dims;
    }
    if (target.size() != field.shape.dims.size()) {
      throw Invalid("{}: field {} has {} dimensions, its padded shape {}", verb_, field.ToString(),
                    field.shape.dims.size(), target.size());
    }
    for (size_t d = 0; d < target.size(); ++d) {
      const int64_t dim = field.shape.dims[d];
      if (target[d] == kAny) target[d] = dim;
      if (target[d] != kAny && (target[d] < 0 || (dim != kAny && target[d] < dim))) {
        throw Invalid("{}: field {} cannot be padded to {}", verb_, field.ToString(),
                      ir::DimsToString(target));
      }
    }
    return target;
  }
  double PadValue(const Field& field) const {
    if (!padding_) return 0;
    for (const auto& [name, value] : padding_->values) {
      if (name != field.name) continue;
      if (field.text) {
        throw Invalid("{}: field {} is padded with empty texts, not with a number", verb_,
                      field.ToString());
      }
      return value;
    }
    return 0;
  }
  // Memory of row `row` of field f of `out`, for `total` records of these dimensions.
  std::byte* Room(Block& out, size_t f, int64_t row, int64_t total, const Dims& target) const {
    if (fields_[f].fixed()) return out.data(f, row);
    Dims dims = target;
    dims.insert(dims.begin(), total);
    return out.SetCell(f, row, dims);
  }
  // The dimensions that the records are padded to.
  Dims Common(const Block& in, size_t f, int64_t first, int64_t count, int64_t limit) const {
    Dims target = targets_[f];
    const bool any = std::find(target.begin(), target.end(), kAny) != target.end();
    if (!any && in_[f].fixed()) return target;
    const Dims asked = target;
    for (int64_t& dim : target) {
      if (dim == kAny) dim = limit == kAny ? 0 : limit;
    }
    bool seen = false;
    for (int64_t r = 0; r < count; ++r) {
      if (in.bad(first + r)) continue;
      const std::span<const int64_t> dims = in.dims(f, first + r);
      for (size_t d = 0; d < dims.size(); ++d) {
        if (!padding_) {
          if (seen && dims[d] != target[d]) {
            throw Invalid(
                "{}: the records that come together differ in field {}: {} and {}. Use "
                "PaddedBatch, "
                "or make them equal first",
                verb_, in_[f].ToString(), ir::DimsToString(target),
                ir::DimsToString(Dims(dims.begin(), dims.end())));
          }
          continue;
        }
        if (asked[d] == kAny && limit == kAny) {
          target[d] = std::max(target[d], dims[d]);
        } else if (dims[d] > target[d]) {
          throw Invalid("{}: a record's field {} is {}, longer than what it is padded to, {}",
                        verb_, in_[f].ToString(), ir::DimsToString(Dims(dims.begin(), dims.end())),
                        ir::DimsToString(target));
        }
      }
      if (!padding_ && !seen) target.assign(dims.begin(), dims.end());
      seen = true;
    }
    return target;
  }
  void Weigh(Block& out, int64_t row, int64_t total, int64_t count, const Block& part,
             int64_t first) const {
    bool bad = false;
    for (int64_t r = 0; part.any_bad() && r < count; ++r) bad = bad || part.bad(first + r);
    if (!weight_) {
      if (!bad) return;
      throw Invalid(
          "{}: a record of a batch is bad and was left out, but without the field \"weight\" "
          "nothing would tell: set drop_remainder = false, or leave bad records out by Filter",
          verb_);
    }
    const size_t f = in_.size();
    auto* weight = reinterpret_cast<float*>(Room(out, f, row, total, {}));
    for (int64_t r = 0; r < total; ++r) {
      weight[r] = r < count && !(bad && part.bad(first + r)) ? 1.0f : 0.0f;
    }
  }

  const char* verb_;
  std::vector<Field> in_, fields_;
  int64_t lead_;
  bool weight_;
  std::optional<Padding> padding_;
  std::vector<Dims> targets_;                 // dimensions of a record, after padding
  std::vector<std::vector<std::byte>> pads_;  // an element of each field
  bool direct_ = true;
};
using AssemblerPtr = std::shared_ptr<const Assembler>;

// How records are grouped: group p is records p * shift + j * stride for j < size.
struct Grouping {
  int64_t size, shift, stride;
  bool drop_remainder;
  bool fill;  // a group that is not full is padded to size

  // How many groups n records make.
  int64_t Count(int64_t n) const {
    if (n == kInfinite) return kInfinite;
    const int64_t needed = drop_remainder ? Span() : 1;
    return n < needed ? 0 : (n - needed) / shift + 1;
  }
  // Records from a full group's first to its last.
  int64_t Span() const { return (size - 1) * stride + 1; }
  // How many records the group that begins at record `begin` of n has.
  int64_t Records(int64_t begin, int64_t n) const {
    if (n == kInfinite || n - begin >= Span()) return size;
    return (n - begin - 1) / stride + 1;
  }
};

// ---- over records with numbers ----

class GroupNode : public Node {
 public:
  GroupNode(SourcePtr input, AssemblerPtr assembler, Grouping grouping, const std::string& what)
      : Node({input}, grouping.Count(input->size()), assembler->fields(),
             fmt::format("{}, {}", input->description(), what)),
        assembler_(std::move(assembler)),
        grouping_(grouping) {
    masked_ = assembler_->weight();
  }
  const Grouping& grouping() const { return grouping_; }
  bool padded() const { return assembler_->pads(); }

  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    const int64_t n = input()->size();
    std::vector<int64_t> wanted;
    Block& part = context.Scratch(this, 0, input()->fields(), 0);
    std::vector<std::byte*> memory;
    for (size_t begin = 0, end = 0; begin < records.size(); begin = end) {
      wanted.clear();
      int64_t count = 0;
      // Full groups that lie one after the other in memory are read at once.
      do {
        const int64_t first = records[end] * grouping_.shift;
        count = grouping_.Records(first, n);
        for (int64_t j = 0; j < count; ++j) wanted.push_back(first + j * grouping_.stride);
        ++end;
      } while (assembler_->direct() && AllFixed(fields_) && end < records.size() &&
               count == grouping_.size &&
               grouping_.Records(records[end] * grouping_.shift, n) == grouping_.size);
      const auto row = static_cast<int64_t>(begin);
      const int64_t total = grouping_.fill ? grouping_.size : count;
      if (assembler_->direct()) {
        assembler_->Place(out, row, total, memory);
        part.Borrow(input()->fields(), static_cast<int64_t>(wanted.size()), memory);
        input()->Read(context, epoch, wanted, part);
        for (size_t r = begin; r < end; ++r) {
          assembler_->FinishDirect(out, static_cast<int64_t>(r), total, count, part,
                                   static_cast<int64_t>(r - begin) * count);
        }
      } else {
        part.Reset(input()->fields(), count);
        const bool join = join_.load(std::memory_order_relaxed);
        if (join) part.JoinArena(out);
        input()->Read(context, epoch, wanted, part);
        assembler_->Assemble(part, 0, count, total, out, row, kAny, join && !part.shares_cells());
        if (join) {
          part.LeaveArena();
        } else {
          join_.store(MostlyText(part), std::memory_order_relaxed);
        }
      }
    }
  }

 private:
  // Whether what a read took memory for is mostly texts that stay: then it may as well be read into
  // the batch's own memory. (A short text beside a picture is rather copied.)
  bool MostlyText(const Block& part) const {
    int64_t texts = 0;
    for (size_t f = 0; f < part.fields().size(); ++f) {
      if (!part.fields()[f].text) continue;
      for (int64_t row = 0; row < part.rows(); ++row) {
        if (part.fields()[f].shape.dims.empty()) {
          texts += part.cell(f, row).bytes;
          continue;
        }
        for (std::string_view text : part.texts(f, row)) texts += std::ssize(text);
      }
    }
    return texts > 0 && 2 * texts >= part.allocated();
  }

  AssemblerPtr assembler_;
  Grouping grouping_;
  mutable std::atomic<bool> join_ = false;
};

// ---- over streams ----

class GroupCursor : public Cursor {
 public:
  GroupCursor(const Stream& stream, int64_t epoch, AssemblerPtr assembler, Grouping grouping,
              const StreamOptions& options)
      : feed_(stream.input(), epoch, options, /*history=*/true),
        assembler_(std::move(assembler)),
        grouping_(grouping),
        rows_(assembler_->in()),
        straight_(assembler_->direct() && AllFixed(assembler_->fields()) && grouping.stride == 1 &&
                  grouping.shift == grouping.size) {}

  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    out.Reset(assembler_->fields(), want);
    int64_t made = 0;
    if (straight_) {
      while (made < want && Fill(context, out, made)) {
        ++made;
        begin_ += grouping_.shift;
        feed_.Forget(begin_);
      }
      return CutRows(out, made);
    }
    while (made < want && Collect(context)) {
      const auto count = static_cast<int64_t>(held_.size());
      const int64_t total = grouping_.fill ? grouping_.size : count;
      Block& part = context.Scratch(assembler_.get(), 0, assembler_->in(), count);
      for (int64_t i = 0; i < count; ++i) {
        rows_.CopyTo(part, i, held_[static_cast<size_t>(i)], /*deep=*/false);
      }
      assembler_->Assemble(part, 0, count, total, out, made++);
      // What the next group shares with this one is kept.
      begin_ += grouping_.shift;
      Drop();
    }
    return CutRows(out, made);
  }
  void Save(std::vector<int64_t>& state) const override {
    // Between two groups with a gap the input stands before the next one.
    const int64_t at = std::min(begin_, feed_.taken());
    state.push_back(begin_ - at);
    feed_.SaveAt(at, state);
  }
  void Restore(std::span<const int64_t>& state) override {
    const int64_t gap = TakeState(state, 0, kInfinite);
    feed_.Restore(state);
    begin_ = feed_.taken() + gap;
    first_ = feed_.taken();
    rows_.Clear();
  }

 private:
  // Makes row `row` of `out` the next group, whose records are fixed and follow each other: they
  // are copied to where they belong. False when there is none.
  bool Fill(ReadContext& context, Block& out, int64_t row) {
    if (!feed_.Fill(context, grouping_.size)) return false;
    assembler_->Place(out, row, grouping_.size, memory_);
    Block& part = context.Scratch(assembler_.get(), 0, assembler_->in(), 0);
    part.Borrow(assembler_->in(), grouping_.size, memory_);
    int64_t count = 0;
    do {
      const int64_t rows = std::min(feed_.rows(), grouping_.size - count);
      CopyRows(part, count, feed_.block(), feed_.row(), rows, /*deep=*/true);
      feed_.Take(rows);
      count += rows;
    } while (count < grouping_.size && feed_.Fill(context, grouping_.size - count));
    if (grouping_.drop_remainder && count < grouping_.size) return false;
    assembler_->FinishDirect(out, row, grouping_.size, count, part, 0);
    return true;
  }
  // Makes held_ the rows of the group that begins at begin_; false when there is none.
  bool Collect(ReadContext& context) {
    held_.clear();
    while (feed_.taken() < begin_) {
      if (!feed_.Fill(context, std::min<int64_t>(begin_ - feed_.taken(), 1024))) return false;
      feed_.Take(std::min(feed_.rows(), begin_ - feed_.taken()));
    }
    if (rows_.size() == 0) first_ = feed_.taken();
    const int64_t end = begin_ + grouping_.Span();
    while (feed_.taken() < end && feed_.Fill(context, end - feed_.taken())) {
      const int64_t count = std::min(feed_.rows(), end - feed_.taken());
      rows_.Add(feed_.block(), feed_.row(), count);
      feed_.Take(count);
    }
    for (int64_t j = 0; j < grouping_.size; ++j) {
      const int64_t record = begin_ + j * grouping_.stride;
      if (record >= feed_.taken()) break;
      held_.push_back(record - first_);
    }
    return !held_.empty() &&
           (!grouping_.drop_remainder || static_cast<int64_t>(held_.size()) == grouping_.size);
  }
  // Forgets what lies before begin_, once that is most of what is held.
  void Drop() {
    const int64_t keep = std::max<int64_t>(0, feed_.taken() - begin_);
    if (keep == 0) {
      rows_.Clear();
    } else if (rows_.size() >= 2 * keep && rows_.size() > grouping_.Span()) {
      RowStore kept(assembler_->in());
      for (int64_t i = rows_.size() - keep; i < rows_.size(); ++i) {
        kept.Add(rows_.block(i), rows_.row(i), 1);
      }
      rows_ = std::move(kept);
      first_ = begin_;
    }
    feed_.Forget(std::min(begin_, feed_.taken()));
  }

  Feed feed_;
  AssemblerPtr assembler_;
  const Grouping grouping_;
  RowStore rows_;
  const bool straight_;
  std::vector<std::byte*> memory_;
  int64_t first_ = 0;          // record of the input that row 0 of rows_ is
  int64_t begin_ = 0;          // first record of the next group
  std::vector<int64_t> held_;  // its rows in rows_
};

// ---- unbatch ----

bool IsMask(const Node* node, const Field& field) {
  return node != nullptr && node->masked() && field.name == "weight";
}

std::vector<Field> UnbatchFields(const SourcePtr& input) {
  std::vector<Field> fields;
  const auto* node = dynamic_cast<const Node*>(input.get());
  for (const Field& field : input->fields()) {
    if (IsMask(node, field)) continue;
    if (field.shape.dims.empty()) {
      throw Invalid("Unbatch: field {} has no first dimension to take apart ({})", field.ToString(),
                    input->description());
    }
    Field& row = fields.emplace_back(field);
    row.shape.dims.erase(row.shape.dims.begin());
  }
  return fields;
}

// All fields have the same fixed first dimension, and all rows count.
class UnbatchNode : public Node {
 public:
  UnbatchNode(SourcePtr input, int64_t rows, int64_t size)
      : Node({input}, size, UnbatchFields(input),
             fmt::format("{}, unbatched", input->description())),
        rows_(rows) {}
  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    // Each batch that is needed is read once.
    std::vector<int64_t> batches;
    std::vector<int64_t> at(records.size());
    for (size_t i = 0; i < records.size(); ++i) {
      const int64_t batch = records[i] / rows_;
      if (batches.empty() || batches.back() != batch) batches.push_back(batch);
      at[i] = static_cast<int64_t>(batches.size()) - 1;
    }
    Block& whole =
        context.Scratch(this, 0, input()->fields(), static_cast<int64_t>(batches.size()));
    input()->Read(context, epoch, batches, whole);
    for (size_t i = 0; i < records.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (whole.bad(at[i])) {
        out.ClearRow(row);
        out.MarkBad(row);
        continue;
      }
      for (size_t f = 0; f < fields_.size(); ++f) {
        CopyEntry(out, f, row, whole, f, at[i], records[i] % rows_);
      }
    }
  }

 private:
  int64_t rows_;
};

class UnbatchCursor : public Cursor {
 public:
  UnbatchCursor(const Stream& stream, int64_t epoch, const StreamOptions& options)
      : stream_(stream), feed_(stream.input(), epoch, options) {
    const auto* node = dynamic_cast<const Node*>(stream.input().get());
    const std::vector<Field>& fields = stream.input()->fields();
    for (size_t f = 0; f < fields.size(); ++f) {
      if (IsMask(node, fields[f])) {
        weight_ = f;
      } else {
        columns_.push_back(f);
      }
    }
  }
  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    out.Reset(stream_.fields(), want);
    int64_t rows = 0;
    while (rows < want && feed_.Fill(context, 1)) {
      const Block& batch = feed_.block();
      const int64_t row = feed_.row(), size = batch.dims(columns_[0], row)[0];
      for (size_t f : columns_) {
        if (batch.dims(f, row)[0] == size) continue;
        throw BadData("{}: the fields of a batch have {} and {} rows", stream_.description(), size,
                      batch.dims(f, row)[0]);
      }
      for (; entry_ < size && rows < want; ++entry_) {
        if (weight_ && batch.bytes(*weight_, row).size() >= static_cast<size_t>(size) * 4) {
          const auto* weight = reinterpret_cast<const float*>(batch.bytes(*weight_, row).data());
          if (weight[entry_] == 0) continue;
        }
        for (size_t f = 0; f < columns_.size(); ++f) {
          CopyEntry(out, f, rows, batch, columns_[f], row, entry_);
        }
        ++rows;
      }
      if (entry_ < size) break;
      entry_ = 0;
      feed_.Take(1);
    }
    return CutRows(out, rows);
  }
  void Save(std::vector<int64_t>& state) const override {
    state.push_back(entry_);
    feed_.Save(state);
  }
  void Restore(std::span<const int64_t>& state) override {
    entry_ = TakeState(state, 0, kInfinite);
    feed_.Restore(state);
  }

 private:
  const Stream& stream_;
  Feed feed_;
  std::vector<size_t> columns_;   // fields of the input that are fields of the result
  std::optional<size_t> weight_;  // the mask among them
  int64_t entry_ = 0;             // next of the batch
};

// ---- bucket_by_length ----

// Records wait in the bucket of their length; a bucket that is full is given out at once, and at
// the end what is left, bucket by bucket.
class BucketCursor : public Cursor {
 public:
  struct Plan {
    BucketOptions options;
    AssemblerPtr assembler;
  };

  BucketCursor(const Stream& stream, int64_t epoch, std::shared_ptr<const Plan> plan,
               const StreamOptions& options)
      : feed_(stream.input(), epoch, options, /*history=*/true), plan_(std::move(plan)) {
    const std::vector<Field>& fields = plan_->assembler->in();
    for (size_t b = 0; b < plan_->options.batch_sizes.size(); ++b) buckets_.emplace_back(fields);
  }

  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    if (replay_) Replay(context);
    out.Reset(plan_->assembler->fields(), want);
    int64_t made = 0;
    while (made < want && !ended_) {
      if (!feed_.Fill(context, kAhead)) {
        ended_ = true;
        break;
      }
      const size_t b = Keep();
      if (static_cast<int64_t>(buckets_[b].numbers.size()) == plan_->options.batch_sizes[b]) {
        Give(b, out, made++);
      }
    }
    while (made < want && ended_ && flushed_ < buckets_.size()) {
      const size_t b = flushed_++;
      if (buckets_[b].numbers.empty()) continue;
      if (plan_->options.drop_remainder) {
        buckets_[b].Clear();
      } else {
        Give(b, out, made++);
      }
    }
    feed_.Forget(Oldest());
    return CutRows(out, made);
  }
  void Save(std::vector<int64_t>& state) const override {
    if (replay_) {
      state.insert(state.end(), replay_->begin(), replay_->end());
      feed_.Save(state);
      return;
    }
    // Where the oldest waiting record stands in the input, how many were read from there on, and
    // which of those wait.
    std::vector<int64_t> waiting;
    for (const Bucket& bucket : buckets_) {
      waiting.insert(waiting.end(), bucket.numbers.begin(), bucket.numbers.end());
    }
    std::sort(waiting.begin(), waiting.end());
    const int64_t oldest = Oldest();
    state.push_back(ended_ ? 1 : 0);
    state.push_back(static_cast<int64_t>(flushed_));
    state.push_back(feed_.taken() - oldest);
    state.push_back(static_cast<int64_t>(waiting.size()));
    for (int64_t number : waiting) state.push_back(number - oldest);
    feed_.SaveAt(oldest, state);
  }
  void Restore(std::span<const int64_t>& state) override {
    const std::span<const int64_t> whole = state;
    TakeState(state, 0, 1);
    TakeState(state, 0, static_cast<int64_t>(buckets_.size()));
    const int64_t read = TakeState(state, 0, kInfinite);
    const int64_t waiting = TakeState(state, 0, read);
    int64_t last = -1;
    for (int64_t i = 0; i < waiting; ++i) last = TakeState(state, last + 1, read - 1);
    replay_.emplace(whole.begin(), whole.end() - static_cast<int64_t>(state.size()));
    feed_.Restore(state);
    for (Bucket& bucket : buckets_) bucket.Clear();
  }

 private:
  struct Bucket {
    explicit Bucket(const std::vector<Field>& fields) : rows(fields) {}
    void Clear() {
      rows.Clear();
      numbers.clear();
    }
    RowStore rows;
    std::vector<int64_t> numbers;  // of the records in the input
  };

  // Puts the next record into its bucket.
  size_t Keep() {
    const BucketOptions& options = plan_->options;
    const int64_t length = options.length(feed_.block(), feed_.row());
    const auto after =
        std::upper_bound(options.boundaries.begin(), options.boundaries.end(), length);
    const auto b = static_cast<size_t>(after - options.boundaries.begin());
    if (options.pad_to_boundary && b == options.boundaries.size()) {
      throw Invalid(
          "BucketByLength: a record has length {}, and with pad_to_boundary the longest is {}: "
          "raise the last boundary, or cut or filter records first",
          length, options.boundaries.empty() ? 0 : options.boundaries.back() - 1);
    }
    buckets_[b].numbers.push_back(feed_.taken());
    buckets_[b].rows.Add(feed_.block(), feed_.row(), 1);
    feed_.Take(1);
    return b;
  }
  void Give(size_t b, Block& out, int64_t row) {
    const BucketOptions& options = plan_->options;
    const int64_t count = buckets_[b].rows.size();
    Block part;
    part.Reset(plan_->assembler->in(), count);
    for (int64_t i = 0; i < count; ++i) buckets_[b].rows.CopyTo(part, i, i, /*deep=*/false);
    const int64_t total = options.drop_remainder ? count : options.batch_sizes[b];
    plan_->assembler->Assemble(part, 0, count, total, out, row,
                               options.pad_to_boundary ? options.boundaries[b] - 1 : kAny);
    buckets_[b].Clear();
  }
  int64_t Oldest() const {
    int64_t oldest = feed_.taken();
    for (const Bucket& bucket : buckets_) {
      if (!bucket.numbers.empty()) oldest = std::min(oldest, bucket.numbers.front());
    }
    return oldest;
  }
  // Reads again what waited when the state was saved.
  void Replay(ReadContext& context) {
    std::span<const int64_t> state = *replay_;
    ended_ = state[0] != 0;
    flushed_ = static_cast<size_t>(state[1]);
    const int64_t begin = feed_.taken(), end = begin + state[2];
    state = state.subspan(4);
    while (feed_.taken() < end) {
      if (!feed_.Fill(context, std::min(end - feed_.taken(), kAhead))) {
        throw Invalid("BucketByLength: the saved position is after {} records, found only {} now",
                      end, feed_.taken());
      }
      if (!state.empty() && begin + state[0] == feed_.taken()) {
        Keep();
        state = state.subspan(1);
      } else {
        feed_.Take(1);
      }
    }
    replay_.reset();
  }

  static constexpr int64_t kAhead = 256;
  Feed feed_;
  std::shared_ptr<const Plan> plan_;
  std::vector<Bucket> buckets_;
  bool ended_ = false;
  size_t flushed_ = 0;  // buckets, at the end
  std::optional<std::vector<int64_t>> replay_;
};

// A stream whose field "weight" is a mask.
class GroupStream : public Stream {
 public:
  GroupStream(SourcePtr input, std::vector<Field> fields, const std::string& what, bool weight,
              Opener opener)
      : Stream({input}, std::move(fields), fmt::format("{}, {}", input->description(), what),
               std::move(opener)) {
    masked_ = weight;
  }
};

SourcePtr Group(SourcePtr input, AssemblerPtr assembler, Grouping grouping,
                const std::string& what) {
  if (input->indexed()) {
    return std::make_shared<GroupNode>(std::move(input), std::move(assembler), grouping, what);
  }
  std::vector<Field> fields = assembler->fields();
  const bool weight = assembler->weight();
  return std::make_shared<GroupStream>(
      std::move(input), std::move(fields), what, weight,
      [assembler, grouping](const Stream& stream, int64_t epoch, const StreamOptions& options) {
        return std::make_unique<GroupCursor>(stream, epoch, assembler, grouping, options);
      });
}

void CheckSize(const char* verb, int64_t size) {
  if (size < 1) throw Invalid("{}: expected a size of at least 1 record, found {}", verb, size);
}

}  // namespace

SourcePtr Batch(SourcePtr input, BatchOptions options) {
  CheckSize("Batch", options.size);
  auto assembler = std::make_shared<const Assembler>("Batch", input->fields(), options.size,
                                                     !options.drop_remainder, std::nullopt);
  return Group(std::move(input), std::move(assembler),
               {options.size, options.size, 1, options.drop_remainder, true},
               fmt::format("batches of {}{}", options.size,
                           options.drop_remainder ? " without the remainder" : ""));
}

SourcePtr PaddedBatch(SourcePtr input, PaddedBatchOptions options) {
  CheckSize("PaddedBatch", options.size);
  auto assembler = std::make_shared<const Assembler>(
      "PaddedBatch", input->fields(), options.size, !options.drop_remainder,
      Padding{std::move(options.shapes), std::move(options.values)});
  const std::string what = fmt::format("padded batches of {}{}: {}", options.size,
                                       options.drop_remainder ? " without the remainder" : "",
                                       DescribeFields(assembler->fields()));
  return Group(std::move(input), std::move(assembler),
               {options.size, options.size, 1, options.drop_remainder, true}, what);
}

SourcePtr Window(SourcePtr input, int64_t size, int64_t shift, int64_t stride,
                 bool drop_remainder) {
  CheckSize("Window", size);
  if (shift < 0 || stride < 1) {
    throw Invalid("Window: expected shift >= 0 and stride >= 1, found {} and {}", shift, stride);
  }
  if (shift == 0) shift = size;
  int64_t span = 0;
  if (__builtin_mul_overflow(size, stride, &span)) {
    throw Invalid("Window: {} records that are {} apart are further than can be counted", size,
                  stride);
  }
  auto assembler = std::make_shared<const Assembler>(
      "Window", input->fields(), drop_remainder ? size : kAny, false, std::nullopt);
  return Group(std::move(input), std::move(assembler), {size, shift, stride, drop_remainder, false},
               fmt::format("windows of {}, shift {}, stride {}{}", size, shift, stride,
                           drop_remainder ? " without the remainder" : ""));
}

SourcePtr Unbatch(SourcePtr input) {
  std::vector<Field> fields = UnbatchFields(input);
  const auto* node = dynamic_cast<const Node*>(input.get());
  // Batches of records with numbers are the records.
  const auto* group = dynamic_cast<const GroupNode*>(input.get());
  if (group != nullptr && !group->padded() && group->grouping().shift == group->grouping().size &&
      group->grouping().stride == 1) {
    if (!group->grouping().drop_remainder || input->size() == kInfinite) return group->input();
    return Take(group->input(), input->size() * group->grouping().size);
  }
  const bool masked = node != nullptr && node->masked();
  if (!input->fields().empty() && input->indexed() && !masked) {
    const int64_t rows = input->fields()[0].shape.dims[0];
    bool same = rows > 0;
    for (const Field& field : input->fields()) same = same && field.shape.dims[0] == rows;
    if (same) {
      int64_t size = 0;
      if (input->size() == kInfinite || __builtin_mul_overflow(input->size(), rows, &size)) {
        size = kInfinite;
      }
      return std::make_shared<UnbatchNode>(std::move(input), rows, size);
    }
  }
  if (fields.empty())
    throw Invalid("Unbatch: {} has no fields to take apart", input->description());
  std::string description = fmt::format("{}, unbatched", input->description());
  return std::make_shared<Stream>(
      std::vector{std::move(input)}, std::move(fields), std::move(description),
      [](const Stream& stream, int64_t epoch, const StreamOptions& options) {
        return std::make_unique<UnbatchCursor>(stream, epoch, options);
      });
}

SourcePtr BucketByLength(SourcePtr input, BucketOptions options) {
  if (!options.length) throw Invalid("BucketByLength: there is no length to call");
  if (options.batch_sizes.size() != options.boundaries.size() + 1) {
    throw Invalid("BucketByLength: expected one batch size more than boundaries, found {} and {}",
                  options.batch_sizes.size(), options.boundaries.size());
  }
  for (int64_t size : options.batch_sizes) CheckSize("BucketByLength", size);
  for (size_t i = 0; i < options.boundaries.size(); ++i) {
    if (options.boundaries[i] < 1 ||
        (i > 0 && options.boundaries[i] <= options.boundaries[i - 1])) {
      throw Invalid("BucketByLength: expected boundaries of at least 1 that rise, found {}",
                    fmt::join(options.boundaries, ", "));
    }
  }
  const bool same = std::all_of(options.batch_sizes.begin(), options.batch_sizes.end(),
                                [&](int64_t size) { return size == options.batch_sizes[0]; });
  auto assembler = std::make_shared<const Assembler>(
      "BucketByLength", input->fields(), same ? options.batch_sizes[0] : kAny,
      !options.drop_remainder, Padding{{}, options.values});
  std::string what =
      fmt::format("bucketed by length at {} in batches of {}", fmt::join(options.boundaries, ", "),
                  fmt::join(options.batch_sizes, ", "));
  std::vector<Field> fields = assembler->fields();
  const bool weight = assembler->weight();
  auto plan = std::make_shared<const BucketCursor::Plan>(std::move(options), std::move(assembler));
  return std::make_shared<GroupStream>(
      std::move(input), std::move(fields), what, weight,
      [plan](const Stream& stream, int64_t epoch, const StreamOptions& options) {
        return std::make_unique<BucketCursor>(stream, epoch, plan, options);
      });
}

}  // namespace flatout::data::verbs
