// Verbs with several inputs: concatenate, zip, interleave, sample_from_datasets.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/order.h"
#include "flatout/data/verbs/node.h"

namespace flatout::data::verbs {
namespace {

bool AllIndexed(const std::vector<SourcePtr>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const SourcePtr& input) { return input->indexed(); });
}

void CheckSameFields(const char* verb, const std::vector<SourcePtr>& inputs) {
  if (inputs.empty()) throw Invalid("{}: expected at least one data set, found none", verb);
  for (const SourcePtr& input : inputs) {
    if (input->fields() == inputs[0]->fields()) continue;
    throw Invalid("{}: the data sets must have the same fields, found {} ({}) and {} ({})", verb,
                  DescribeFields(inputs[0]->fields()), inputs[0]->description(),
                  DescribeFields(input->fields()), input->description());
  }
}

std::string Together(const char* verb, const std::vector<SourcePtr>& inputs) {
  constexpr size_t kNamed = 4;
  std::string text = fmt::format("{} of", verb);
  for (size_t i = 0; i < std::min(inputs.size(), kNamed); ++i) {
    text += fmt::format("{} [{}]", i == 0 ? "" : ",", inputs[i]->description());
  }
  if (inputs.size() > kNamed) text += fmt::format(" and {} more", inputs.size() - kNamed);
  return text;
}

// Each position is a record of one of the inputs, which all have the same fields.
class Mixed : public Node {
 public:
  using Node::Node;

  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    std::vector<Place> places(records.size());
    Locate(epoch, records, places);
    size_t runs = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      runs += i == 0 || places[i].input != places[i - 1].input ? 1 : 0;
    }
    std::vector<int64_t> wanted;
    // Long runs are read to where they belong.
    constexpr size_t kLongRun = 16;
    if (runs * kLongRun <= places.size() || runs <= 1) {
      Block& part = context.Scratch(this, 0, fields_, 0);
      for (size_t begin = 0, end = 0; begin < places.size(); begin = end) {
        wanted.clear();
        while (end < places.size() && places[end].input == places[begin].input) {
          wanted.push_back(places[end++].record);
        }
        ReadRows(context, *inputs_[places[begin].input], epoch, wanted, out,
                 static_cast<int64_t>(begin), part);
      }
      return;
    }
    // Of short ones, all that one input has to give is read at once and copied row by row.
    std::vector<size_t> rows(places.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    std::stable_sort(rows.begin(), rows.end(),
                     [&](size_t a, size_t b) { return places[a].input < places[b].input; });
    for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      const size_t input = places[rows[begin]].input;
      wanted.clear();
      while (end < rows.size() && places[rows[end]].input == input) {
        wanted.push_back(places[rows[end++]].record);
      }
      Block& part = context.Scratch(this, 1, fields_, static_cast<int64_t>(wanted.size()));
      inputs_[input]->Read(context, epoch, wanted, part);
      for (size_t i = begin; i < end; ++i) {
        out.CopyRow(static_cast<int64_t>(rows[i]), part, static_cast<int64_t>(i - begin),
                    /*deep=*/false);
      }
    }
  }

 protected:
  struct Place {
    size_t input = 0;
    int64_t record = 0;
  };
  virtual void Locate(int64_t epoch, std::span<const int64_t> records,
                      std::span<Place> places) const = 0;
};

// ---- concatenate ----

class ConcatenateNode : public Mixed {
 public:
  ConcatenateNode(std::vector<SourcePtr> inputs, std::vector<int64_t> begins, int64_t size)
      : Mixed(inputs, size, inputs[0]->fields(), Together("concatenation", inputs)),
        begins_(std::move(begins)) {}

 protected:
  void Locate(int64_t, std::span<const int64_t> records, std::span<Place> places) const override {
    for (size_t i = 0; i < records.size(); ++i) {
      const auto after = std::upper_bound(begins_.begin(), begins_.end(), records[i]);
      const auto input = static_cast<size_t>(after - begins_.begin()) - 1;
      places[i] = {input, records[i] - begins_[input]};
    }
  }

 private:
  std::vector<int64_t> begins_;  // position of each input's first record
};

class ConcatenateCursor : public Cursor {
 public:
  ConcatenateCursor(const Stream& stream, int64_t epoch, const StreamOptions& options)
      : stream_(stream), epoch_(epoch), options_(options) {
    Open();
  }
  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    while (true) {
      if (const int64_t rows = cursor_->Next(context, want, out)) return rows;
      if (at_ + 1 == stream_.inputs().size()) return 0;
      ++at_;
      Open();
    }
  }
  void Save(std::vector<int64_t>& state) const override {
    state.push_back(static_cast<int64_t>(at_));
    cursor_->Save(state);
  }
  void Restore(std::span<const int64_t>& state) override {
    at_ =
        static_cast<size_t>(TakeState(state, 0, static_cast<int64_t>(stream_.inputs().size()) - 1));
    Open();
    cursor_->Restore(state);
  }

 private:
  void Open() { cursor_ = OpenCursor(stream_.inputs()[at_], epoch_, options_); }

  const Stream& stream_;
  const int64_t epoch_;
  const StreamOptions options_;
  size_t at_ = 0;
  std::unique_ptr<Cursor> cursor_;
};

// ---- zip ----

std::vector<Field> ZipFields(const std::vector<SourcePtr>& inputs) {
  if (inputs.empty()) throw Invalid("Zip: expected at least one data set, found none");
  std::vector<Field> fields;
  for (const SourcePtr& input : inputs) {
    for (const Field& field : input->fields()) {
      for (const Field& other : fields) {
        if (other.name == field.name) {
          throw Invalid("Zip: two of the data sets have a field called \"{}\": rename one by Map",
                        field.name);
        }
      }
      fields.push_back(field);
    }
  }
  return fields;
}

class ZipNode : public Node {
 public:
  ZipNode(std::vector<SourcePtr> inputs, int64_t size)
      : Node(inputs, size, ZipFields(inputs), Together("zip", inputs)) {}

  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    const auto rows = static_cast<int64_t>(records.size());
    std::vector<int64_t> bad;  // in any input
    size_t first = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<Field>& fields = inputs_[i]->fields();
      // Fixed fields are read to where they belong.
      Block& part = context.Scratch(this, static_cast<int>(i), fields, 0);
      std::vector<std::byte*> memory(fields.size());
      for (size_t f = 0; f < fields.size(); ++f) {
        memory[f] = fields[f].fixed() ? out.data(first + f) : nullptr;
      }
      part.Borrow(fields, rows, memory);
      inputs_[i]->Read(context, epoch, records, part);
      for (size_t f = 0; f < fields.size(); ++f) {
        if (!fields[f].fixed()) out.ShareColumn(first + f, part, f);
      }
      first += fields.size();
      for (int64_t row = 0; part.any_bad() && row < rows; ++row) {
        if (part.bad(row)) bad.push_back(row);
      }
    }
    for (int64_t row : bad) {
      out.ClearRow(row);
      out.MarkBad(row);
    }
  }
};

class ZipCursor : public Cursor {
 public:
  ZipCursor(const Stream& stream, int64_t epoch, const StreamOptions& options) : stream_(stream) {
    for (const SourcePtr& input : stream.inputs()) {
      feeds_.emplace_back(input, epoch, options);
    }
  }
  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    int64_t rows = want;
    for (Feed& feed : feeds_) {
      if (!feed.Fill(context, want)) {
        out.Reset(stream_.fields(), 0);
        return 0;
      }
      rows = std::min(rows, feed.rows());
    }
    out.Reset(stream_.fields(), rows);
    size_t first = 0;
    for (size_t i = 0; i < feeds_.size(); ++i) {
      Feed& feed = feeds_[i];
      const std::vector<Field>& fields = stream_.inputs()[i]->fields();
      Block& part = context.Scratch(&stream_, static_cast<int>(i), fields, rows);
      CopyRows(part, 0, feed.block(), feed.row(), rows, /*deep=*/false);
      for (size_t f = 0; f < fields.size(); ++f) out.ShareColumn(first + f, part, f);
      first += fields.size();
      feed.Take(rows);
    }
    return rows;
  }
  void Save(std::vector<int64_t>& state) const override {
    for (const Feed& feed : feeds_) feed.Save(state);
  }
  void Restore(std::span<const int64_t>& state) override {
    for (Feed& feed : feeds_) feed.Restore(state);
  }

 private:
  const Stream& stream_;
  std::deque<Feed> feeds_;
};

// ---- interleave ----
//
// As tf.data's InterleaveDataset: cycle_length slots are visited in turn. An empty slot takes the
// next data set that has not begun; a slot gives up to block_length records at a visit; when it is
// asked for one more than its data set has, it becomes empty and the turn passes on.

class InterleaveNode : public Mixed {
 public:
  InterleaveNode(std::vector<SourcePtr> inputs, int64_t cycle_length, int64_t block_length)
      : Mixed(inputs, 0, inputs[0]->fields(),
              fmt::format("{} (cycle {}, block {})", Together("interleaving", inputs), cycle_length,
                          block_length)) {
    struct Slot {
      bool open = false;
      size_t input = 0;
      int64_t record = 0;
    };
    std::vector<Slot> slots(std::min(static_cast<size_t>(cycle_length), inputs_.size()));
    size_t next = 0, at = 0, open = 0;
    const auto left = [&](const Slot& slot) {
      const int64_t size = inputs_[slot.input]->size();
      return size == kInfinite ? kInfinite : size - slot.record;
    };
    while (next < inputs_.size() || open > 0) {
      // As many whole rounds at once as all open slots last, once no slot is to be filled.
      if (at == 0 && (next == inputs_.size() || open == slots.size())) {
        int64_t rounds = kInfinite;
        for (const Slot& slot : slots) {
          if (slot.open && left(slot) != kInfinite) {
            rounds = std::min(rounds, left(slot) / block_length);
          }
        }
        if (rounds > 0) {
          Segment segment{size_, block_length, {}};
          for (Slot& slot : slots) {
            if (!slot.open) continue;
            segment.slots.push_back({slot.input, slot.record});
            if (rounds != kInfinite) slot.record += rounds * block_length;
          }
          const auto count = static_cast<int64_t>(segment.slots.size());
          segments_.push_back(std::move(segment));
          int64_t records = 0;
          if (rounds == kInfinite ||
              __builtin_mul_overflow(rounds * block_length, count, &records) ||
              __builtin_add_overflow(size_, records, &size_)) {
            size_ = kInfinite;
            return;
          }
          continue;
        }
      }
      Slot& slot = slots[at];
      if (!slot.open && next < inputs_.size()) {
        slot = {true, next++, 0};
        ++open;
      }
      if (slot.open) {
        const int64_t records = std::min(block_length, left(slot));
        if (records > 0) {
          segments_.push_back({size_, records, {{slot.input, slot.record}}});
          slot.record += records;
          size_ += records;
        }
        if (records < block_length) {
          slot.open = false;
          --open;
        }
      }
      at = (at + 1) % slots.size();
    }
  }

 protected:
  void Locate(int64_t, std::span<const int64_t> records, std::span<Place> places) const override {
    for (size_t i = 0; i < records.size(); ++i) {
      auto after = std::upper_bound(
          segments_.begin(), segments_.end(), records[i],
          [](int64_t position, const Segment& segment) { return position < segment.first; });
      const Segment& segment = *--after;
      const auto slots = static_cast<int64_t>(segment.slots.size());
      const int64_t at = records[i] - segment.first;
      const int64_t turn = at / segment.block, round = turn / slots;
      const auto& [input, record] = segment.slots[static_cast<size_t>(turn % slots)];
      places[i] = {input, record + round * segment.block + at % segment.block};
    }
  }

 private:
  // From position `first` on, rounds of `block` records of each slot in turn.
  struct Segment {
    int64_t first;
    int64_t block;
    std::vector<std::pair<size_t, int64_t>> slots;  // input, and its record in the first round
  };
  std::vector<Segment> segments_;
};

class InterleaveCursor : public Cursor {
 public:
  InterleaveCursor(const Stream& stream, int64_t epoch, int64_t cycle_length, int64_t block_length,
                   const StreamOptions& options)
      : stream_(stream),
        epoch_(epoch),
        block_length_(block_length),
        options_(options),
        slots_(std::min(static_cast<size_t>(cycle_length), stream.inputs().size())) {}

  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    const size_t inputs = stream_.inputs().size();
    out.Reset(stream_.fields(), want);
    int64_t rows = 0;
    while (rows < want && (next_ < inputs || open_ > 0)) {
      Slot& slot = slots_[at_];
      if (!slot.feed && next_ < inputs) {
        Open(slot, next_++);
        ++open_;
      }
      if (slot.feed) {
        const int64_t most = std::min(want - rows, block_length_ - given_);
        if (slot.feed->Fill(context, most)) {
          const int64_t count = std::min(most, slot.feed->rows());
          CopyRows(out, rows, slot.feed->block(), slot.feed->row(), count, /*deep=*/false);
          slot.feed->Take(count);
          rows += count;
          given_ += count;
          if (given_ < block_length_) continue;
        } else {
          slot.feed.reset();
          --open_;
        }
      }
      given_ = 0;
      at_ = (at_ + 1) % slots_.size();
    }
    return CutRows(out, rows);
  }
  void Save(std::vector<int64_t>& state) const override {
    state.push_back(static_cast<int64_t>(next_));
    state.push_back(static_cast<int64_t>(at_));
    state.push_back(given_);
    for (const Slot& slot : slots_) {
      state.push_back(slot.feed ? static_cast<int64_t>(slot.input) : -1);
      if (slot.feed) slot.feed->Save(state);
    }
  }
  void Restore(std::span<const int64_t>& state) override {
    const auto inputs = static_cast<int64_t>(stream_.inputs().size());
    next_ = static_cast<size_t>(TakeState(state, 0, inputs));
    at_ = static_cast<size_t>(TakeState(state, 0, static_cast<int64_t>(slots_.size()) - 1));
    given_ = TakeState(state, 0, block_length_);
    open_ = 0;
    for (Slot& slot : slots_) {
      const int64_t input = TakeState(state, -1, inputs - 1);
      slot.feed.reset();
      if (input < 0) continue;
      Open(slot, static_cast<size_t>(input));
      slot.feed->Restore(state);
      ++open_;
    }
  }

 private:
  struct Slot {
    size_t input = 0;
    std::unique_ptr<Feed> feed;
  };
  void Open(Slot& slot, size_t input) {
    slot.input = input;
    slot.feed = std::make_unique<Feed>(stream_.inputs()[input], epoch_, options_);
  }

  const Stream& stream_;
  const int64_t epoch_, block_length_;
  const StreamOptions options_;
  std::vector<Slot> slots_;
  size_t next_ = 0, at_ = 0, open_ = 0;
  int64_t given_ = 0;  // of the block of the slot at at_
};

// ---- sample_from_datasets ----

// Which data set each position draws from. The positions are cut into blocks of kBlock; in each,
// data set d comes up in proportion to its weight, exactly to within one, in random order. How far
// the rounding of each block is off follows a low-discrepancy sequence, so that over kPeriod blocks
// the proportions are exact to one in a million. Blocks and periods make it possible to count, for
// any position, how many draws of each data set come before it.
class Draws {
 public:
  static constexpr int64_t kBlock = 256, kPeriod = 4096;

  Draws(const std::vector<double>& weights, uint64_t seed) : seed_(seed) {
    double sum = 0;
    for (double weight : weights) sum += weight;
    // In units of 1 / (kBlock * kPeriod).
    constexpr double kUnits = static_cast<double>(kBlock) * static_cast<double>(kPeriod);
    double before = 0;
    bounds_.push_back(0);
    for (double weight : weights) {
      before += weight;
      bounds_.push_back(static_cast<int64_t>(std::llround(before / sum * kUnits)));
    }
    bounds_.back() = kBlock * kPeriod;
    const size_t n = inputs();
    prefix_.assign(static_cast<size_t>(kPeriod + 1) * n, 0);
    for (int64_t b = 0; b < kPeriod; ++b) {
      for (size_t d = 0; d < n; ++d) {
        prefix_[static_cast<size_t>(b + 1) * n + d] =
            prefix_[static_cast<size_t>(b) * n + d] + End(d + 1, b) - End(d, b);
      }
    }
  }
  size_t inputs() const { return bounds_.size() - 1; }
  // How often input d comes up in a whole period.
  int64_t InPeriod(size_t d) const { return bounds_[d + 1] - bounds_[d]; }
  // How often input d comes up before block b.
  int64_t Before(size_t d, int64_t b) const {
    return b / kPeriod * InPeriod(d) + prefix_[static_cast<size_t>(b % kPeriod) * inputs() + d];
  }
  // The inputs of block b's positions.
  std::vector<uint32_t> Block(int64_t b) const {
    std::vector<uint32_t> sorted;
    sorted.reserve(kBlock);
    for (size_t d = 0; d < inputs(); ++d) {
      const int64_t count = End(d + 1, b) - End(d, b);
      sorted.insert(sorted.end(), static_cast<size_t>(count), static_cast<uint32_t>(d));
    }
    const Permutation order(seed_, b, kBlock);
    std::vector<uint32_t> draws(kBlock);
    for (int64_t i = 0; i < kBlock; ++i) {
      draws[static_cast<size_t>(i)] = sorted[static_cast<size_t>(order[i])];
    }
    return draws;
  }

 private:
  // How many of block b's points lie below bound d. Point j of block b lies at j * kPeriod + the
  // bits of b in reverse, so that all points of a period are different.
  int64_t End(size_t d, int64_t b) const {
    int64_t offset = 0;
    for (int64_t bit = 1, mirror = kPeriod / 2; bit < kPeriod; bit *= 2, mirror /= 2) {
      if (b % kPeriod & bit) offset += mirror;
    }
    return bounds_[d] <= offset ? 0 : (bounds_[d] - offset + kPeriod - 1) / kPeriod;
  }

  uint64_t seed_;
  std::vector<int64_t> bounds_;
  std::vector<int64_t> prefix_;  // [block of the period][input]
};

class SampleNode : public Mixed {
 public:
  SampleNode(std::vector<SourcePtr> inputs, std::vector<double> weights, uint64_t seed,
             bool stop_on_empty)
      : Mixed(inputs, 0, inputs[0]->fields(),
              fmt::format("{} (weights {}, seed {})", Together("sample", inputs),
                          fmt::join(weights, ", "), seed)),
        seed_(seed),
        draws_(weights, seed) {
    const size_t n = inputs_.size();
    std::vector<bool> live(n);
    for (size_t d = 0; d < n; ++d) live[d] = draws_.InPeriod(d) > 0;
    int64_t draw = 0;
    std::vector<int64_t> given(n, 0);
    while (true) {
      // Which of those that are left ends first: the draw that asks it for one more than it has.
      int64_t end = kInfinite;
      size_t ended = n;
      for (size_t d = 0; d < n; ++d) {
        if (!live[d] || inputs_[d]->size() == kInfinite) continue;
        const int64_t at = FindDraw(d, inputs_[d]->size());
        if (at < end) {
          end = at;
          ended = d;
        }
      }
      Segment segment{size_, draw, live, std::find(live.begin(), live.end(), false) == live.end(),
                      0};
      for (size_t d = 0; d < n; ++d) {
        if (live[d]) segment.before += given[d] = Count(d, draw);
      }
      segments_.push_back(segment);
      if (ended == n) {
        const bool any = std::find(live.begin(), live.end(), true) != live.end();
        if (any) size_ = kInfinite;
        return;
      }
      for (size_t d = 0; d < n; ++d) {
        if (live[d]) size_ += Count(d, end) - given[d];
      }
      if (stop_on_empty) return;
      live[ended] = false;
      draw = end;
    }
  }
  uint64_t seed() const override { return seed_ != 0 ? seed_ : Node::seed(); }

 protected:
  void Locate(int64_t, std::span<const int64_t> records, std::span<Place> places) const override {
    std::shared_ptr<const Table> table;
    for (size_t i = 0; i < records.size(); ++i) {
      const auto after = std::upper_bound(
          segments_.begin(), segments_.end(), records[i],
          [](int64_t position, const Segment& segment) { return position < segment.first; });
      const Segment& segment = *(after - 1);
      // The number of the draw among those of live inputs, counted from draw 0.
      const int64_t target = records[i] - segment.first + segment.before;
      const int64_t block = BlockOf(segment, target);
      if (!table || table->block != block) table = GetTable(block);
      int64_t rest = target - LiveBefore(segment, block);
      if (segment.all) {
        const auto j = static_cast<size_t>(rest);
        places[i] = {table->draws[j], draws_.Before(table->draws[j], block) + table->ranks[j]};
        continue;
      }
      for (size_t j = 0; j < table->draws.size(); ++j) {
        const size_t d = table->draws[j];
        if (!segment.live[d] || rest-- > 0) continue;
        places[i] = {d, draws_.Before(d, block) + table->ranks[j]};
        break;
      }
    }
  }

 private:
  // From position `first` on, draws from `draw` on, but only those of live inputs.
  struct Segment {
    int64_t first;
    int64_t draw;
    std::vector<bool> live;
    bool all;        // are live
    int64_t before;  // draws of the live inputs before `draw`
  };
  struct Table {
    int64_t block = -1;
    std::vector<uint32_t> draws;
    std::vector<uint16_t> ranks;  // how many of the same input stand before it in the block
  };

  std::shared_ptr<const Table> GetTable(int64_t block) const {
    {
      std::lock_guard lock(mutex_);
      const auto found = tables_.find(block);
      if (found != tables_.end()) return found->second;
    }
    auto table = std::make_shared<Table>();
    table->block = block;
    table->draws = draws_.Block(block);
    std::vector<uint16_t> seen(inputs_.size(), 0);
    for (uint32_t d : table->draws) table->ranks.push_back(seen[d]++);
    std::lock_guard lock(mutex_);
    if (tables_.size() >= kMostTables) tables_.clear();
    tables_.emplace(block, table);
    return table;
  }
  int64_t LiveBefore(const Segment& segment, int64_t block) const {
    int64_t count = 0;
    for (size_t d = 0; d < inputs_.size(); ++d) {
      if (segment.live[d]) count += draws_.Before(d, block);
    }
    return count;
  }
  // The block in which the live draw number `target` stands.
  int64_t BlockOf(const Segment& segment, int64_t target) const {
    int64_t in_period = 0;
    for (size_t d = 0; d < inputs_.size(); ++d) {
      if (segment.live[d]) in_period += draws_.InPeriod(d);
    }
    const int64_t period = target / in_period;
    int64_t low = period * Draws::kPeriod, high = low + Draws::kPeriod;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (LiveBefore(segment, middle) <= target ? low : high) = middle;
    }
    return low;
  }
  // How often input d comes up before the draw.
  int64_t Count(size_t d, int64_t draw) const {
    int64_t count = draws_.Before(d, draw / Draws::kBlock);
    if (draw % Draws::kBlock == 0) return count;
    const std::shared_ptr<const Table> table = GetTable(draw / Draws::kBlock);
    for (int64_t j = 0; j < draw % Draws::kBlock; ++j) {
      count += table->draws[static_cast<size_t>(j)] == d ? 1 : 0;
    }
    return count;
  }
  // The draw at which input d comes up for the (rank + 1)-th time.
  int64_t FindDraw(size_t d, int64_t rank) const {
    const int64_t period = rank / draws_.InPeriod(d);
    if (period > kInfinite / (Draws::kBlock * Draws::kPeriod) - 2) return kInfinite - 1;
    int64_t low = period * Draws::kPeriod, high = low + Draws::kPeriod;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (draws_.Before(d, middle) <= rank ? low : high) = middle;
    }
    const std::shared_ptr<const Table> table = GetTable(low);
    int64_t rest = rank - draws_.Before(d, low);
    for (size_t j = 0; j < table->draws.size(); ++j) {
      if (table->draws[j] == d && rest-- == 0) return low * Draws::kBlock + static_cast<int64_t>(j);
    }
    throw Internal("draw {} of input {} is not in block {}", rank, d, low);
  }

  static constexpr size_t kMostTables = 4096;
  uint64_t seed_;
  Draws draws_;
  std::vector<Segment> segments_;
  mutable std::mutex mutex_;
  // Of a million records; a shuffle behind the mix asks for them again and again.
  mutable std::unordered_map<int64_t, std::shared_ptr<const Table>> tables_;
};

class SampleCursor : public Cursor {
 public:
  SampleCursor(const Stream& stream, int64_t epoch, std::shared_ptr<const Draws> draws,
               bool stop_on_empty, const StreamOptions& options)
      : stream_(stream), draws_(std::move(draws)), stop_on_empty_(stop_on_empty) {
    for (size_t d = 0; d < stream.inputs().size(); ++d) {
      feeds_.emplace_back(stream.inputs()[d], epoch, options);
      live_.push_back(draws_->InPeriod(d) > 0);
    }
  }
  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    out.Reset(stream_.fields(), want);
    int64_t rows = 0;
    while (rows < want && std::find(live_.begin(), live_.end(), true) != live_.end()) {
      if (table_.empty() || draw_ / Draws::kBlock != block_) {
        block_ = draw_ / Draws::kBlock;
        table_ = draws_->Block(block_);
      }
      const size_t d = table_[static_cast<size_t>(draw_ % Draws::kBlock)];
      if (live_[d] && !feeds_[d].Fill(context, want)) {
        live_[d] = false;
        if (stop_on_empty_) live_.assign(live_.size(), false);
      }
      if (live_[d]) {
        CopyRows(out, rows++, feeds_[d].block(), feeds_[d].row(), 1, /*deep=*/false);
        feeds_[d].Take(1);
      }
      ++draw_;
    }
    return CutRows(out, rows);
  }
  void Save(std::vector<int64_t>& state) const override {
    state.push_back(draw_);
    for (size_t d = 0; d < feeds_.size(); ++d) {
      state.push_back(live_[d] ? 1 : 0);
      feeds_[d].Save(state);
    }
  }
  void Restore(std::span<const int64_t>& state) override {
    draw_ = TakeState(state, 0, kInfinite);
    table_.clear();
    for (size_t d = 0; d < feeds_.size(); ++d) {
      live_[d] = TakeState(state, 0, 1) != 0;
      feeds_[d].Restore(state);
    }
  }

 private:
  const Stream& stream_;
  std::shared_ptr<const Draws> draws_;
  const bool stop_on_empty_;
  std::deque<Feed> feeds_;
  std::vector<bool> live_;
  int64_t draw_ = 0, block_ = -1;
  std::vector<uint32_t> table_;
};

class SampleStream : public Stream {
 public:
  SampleStream(std::vector<SourcePtr> inputs, std::vector<double> weights, uint64_t seed,
               bool stop_on_empty)
      : Stream(inputs, inputs[0]->fields(),
               fmt::format("{} (weights {}, seed {})", Together("sample", inputs),
                           fmt::join(weights, ", "), seed),
               [draws = std::make_shared<const Draws>(weights, seed), stop_on_empty](
                   const Stream& stream, int64_t epoch, const StreamOptions& options) {
                 return std::make_unique<SampleCursor>(stream, epoch, draws, stop_on_empty,
                                                       options);
               }),
        seed_(seed) {}
  uint64_t seed() const override { return seed_ != 0 ? seed_ : Node::seed(); }

 private:
  uint64_t seed_;
};

}  // namespace

SourcePtr Concatenate(std::vector<SourcePtr> inputs) {
  CheckSameFields("Concatenate", inputs);
  if (inputs.size() == 1) return inputs[0];
  if (!AllIndexed(inputs)) {
    std::vector<Field> fields = inputs[0]->fields();
    std::string description = Together("concatenation", inputs);
    return std::make_shared<Stream>(
        std::move(inputs), std::move(fields), std::move(description),
        [](const Stream& stream, int64_t epoch, const StreamOptions& options) {
          return std::make_unique<ConcatenateCursor>(stream, epoch, options);
        });
  }
  std::vector<int64_t> begins;
  int64_t size = 0;
  for (const SourcePtr& input : inputs) {
    begins.push_back(size);
    if (input->size() == kInfinite || __builtin_add_overflow(size, input->size(), &size)) {
      size = kInfinite;  // what comes after it is never reached
      break;
    }
  }
  return std::make_shared<ConcatenateNode>(std::move(inputs), std::move(begins), size);
}

SourcePtr Zip(std::vector<SourcePtr> inputs) {
  std::vector<Field> fields = ZipFields(inputs);
  if (!AllIndexed(inputs)) {
    std::string description = Together("zip", inputs);
    return std::make_shared<Stream>(
        std::move(inputs), std::move(fields), std::move(description),
        [](const Stream& stream, int64_t epoch, const StreamOptions& options) {
          return std::make_unique<ZipCursor>(stream, epoch, options);
        });
  }
  int64_t size = kInfinite;
  for (const SourcePtr& input : inputs) size = std::min(size, input->size());
  return std::make_shared<ZipNode>(std::move(inputs), size);
}

SourcePtr Interleave(std::vector<SourcePtr> inputs, int64_t cycle_length, int64_t block_length) {
  CheckSameFields("Interleave", inputs);
  if (cycle_length < 1 || block_length < 1) {
    throw Invalid(
        "Interleave: expected cycle_length and block_length of at least 1, found {} and "
        "{}",
        cycle_length, block_length);
  }
  if (!AllIndexed(inputs)) {
    std::vector<Field> fields = inputs[0]->fields();
    std::string description = fmt::format(
        "{} (cycle {}, block {})", Together("interleaving", inputs), cycle_length, block_length);
    return std::make_shared<Stream>(
        std::move(inputs), std::move(fields), std::move(description),
        [=](const Stream& stream, int64_t epoch, const StreamOptions& options) {
          return std::make_unique<InterleaveCursor>(stream, epoch, cycle_length, block_length,
                                                    options);
        });
  }
  return std::make_shared<InterleaveNode>(std::move(inputs), cycle_length, block_length);
}

SourcePtr SampleFromDatasets(std::vector<SourcePtr> inputs, const std::vector<double>& weights,
                             uint64_t seed, bool stop_on_empty) {
  CheckSameFields("SampleFromDatasets", inputs);
  if (weights.size() != inputs.size()) {
    throw Invalid("SampleFromDatasets: expected a weight for each of {} data sets, found {}",
                  inputs.size(), weights.size());
  }
  double sum = 0;
  for (double weight : weights) {
    if (!(weight >= 0) || !std::isfinite(weight)) {
      throw Invalid("SampleFromDatasets: expected weights >= 0, found {}", weight);
    }
    sum += weight;
  }
  if (!(sum > 0) || !std::isfinite(sum)) {
    throw Invalid("SampleFromDatasets: expected weights with a sum above 0, found {}",
                  fmt::join(weights, ", "));
  }
  for (double weight : weights) {
    if (weight > 0 && weight / sum < 2e-6) {
      throw Invalid(
          "SampleFromDatasets: the weight {} is below two millionths of the sum {}: that "
          "is finer than draws can follow; use 0 or more",
          weight, sum);
    }
  }
  if (!AllIndexed(inputs)) {
    return std::make_shared<SampleStream>(std::move(inputs), weights, seed, stop_on_empty);
  }
  return std::make_shared<SampleNode>(std::move(inputs), weights, seed, stop_on_empty);
}

}  // namespace flatout::data::verbs
