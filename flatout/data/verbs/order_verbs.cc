// Verbs that change which record stands where: select, shuffle, repeat, take, skip, shard.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/order.h"
#include "flatout/data/verbs/node.h"

namespace flatout::data::verbs {
namespace {

// Position p is the record Map(p) of the input.
class Positions : public Node {
 public:
  using Node::Node;
  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    std::vector<int64_t> mapped(records.begin(), records.end());
    Map(epoch, mapped);
    input()->Read(context, epoch, mapped, out);
  }
  virtual void Map(int64_t epoch, std::span<int64_t> positions) const = 0;
};

class SelectNode : public Positions {
 public:
  SelectNode(SourcePtr input, std::vector<int64_t> records)
      : Positions({input}, static_cast<int64_t>(records.size()), input->fields(),
                  fmt::format("{}, {} selected", input->description(), records.size())),
        records_(std::move(records)) {}
  void Map(int64_t, std::span<int64_t> positions) const override {
    for (int64_t& position : positions) position = records_[static_cast<size_t>(position)];
  }

 private:
  std::vector<int64_t> records_;
};

// Position p is record first + p * step: take, skip and shard.
class Strided : public Positions {
 public:
  Strided(SourcePtr input, int64_t first, int64_t step, int64_t size, const std::string& what)
      : Positions({input}, size, input->fields(),
                  fmt::format("{}, {}", input->description(), what)),
        first_(first),
        step_(step) {}
  void Map(int64_t, std::span<int64_t> positions) const override {
    for (int64_t& position : positions) position = first_ + position * step_;
  }

 private:
  int64_t first_, step_;
};

// A permutation of the positions, another one in each epoch.
template <typename Order>
class Permuted : public Positions {
 public:
  using Make = std::function<std::shared_ptr<const Order>(int64_t epoch)>;
  Permuted(SourcePtr input, uint64_t seed, const std::string& what, Make make)
      : Positions({input}, input->size(), input->fields(),
                  fmt::format("{}, {}", input->description(), what)),
        seed_(seed),
        make_(std::move(make)) {}
  uint64_t seed() const override { return seed_; }
  void Map(int64_t epoch, std::span<int64_t> positions) const override {
    Get(epoch)->Apply(positions);
  }

 private:
  // Around an epoch's border two of them are in use; making one can cost a small table.
  std::shared_ptr<const Order> Get(int64_t epoch) const {
    std::lock_guard lock(mutex_);
    auto& slot = recent_[static_cast<size_t>(epoch) % 2];
    if (!slot.second || slot.first != epoch) slot = {epoch, make_(epoch)};
    return slot.second;
  }

  uint64_t seed_;
  Make make_;
  mutable std::mutex mutex_;
  mutable std::array<std::pair<int64_t, std::shared_ptr<const Order>>, 2> recent_;
};

class RepeatNode : public Node {
 public:
  RepeatNode(SourcePtr input, int64_t count, int64_t size)
      : Node({input}, size, input->fields(),
             fmt::format(
                 "{}, repeated {}", input->description(),
                 size == kInfinite ? std::string("without end") : fmt::format("{} times", count))),
        count_(count) {}
  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    const int64_t once = input()->size();
    const int64_t base = size_ == kInfinite ? 0 : epoch * count_;
    Block& part = context.Scratch(this, 0, fields_, 0);
    std::vector<int64_t> positions;
    // Neighbours mostly fall into the same pass over the input.
    for (size_t begin = 0, end = 0; begin < records.size(); begin = end) {
      const int64_t pass = records[begin] / once;
      positions.clear();
      while (end < records.size() && records[end] / once == pass) {
        positions.push_back(records[end++] - pass * once);
      }
      ReadRows(context, *input(), base + pass, positions, out, static_cast<int64_t>(begin), part);
    }
  }

 private:
  int64_t count_;
};

// ---- over streams ----

// Some of the positions: from `skip` on every step-th, `take` of them at most.
class StridedCursor : public Cursor {
 public:
  StridedCursor(const Stream& stream, int64_t epoch, const StreamOptions& options, int64_t skip,
                int64_t step, int64_t take)
      : feed_(stream.input(), epoch, options), skip_(skip), step_(step), take_(take) {}

  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    if (given_ == take_ || !Pass(context)) {
      out.Reset(feed_.block().fields(), 0);
      return 0;
    }
    int64_t rows = 0;
    want = std::min(want, take_ - given_);
    if (step_ == 1) {
      if (!feed_.Fill(context, want)) return End(out);
      rows = std::min(want, feed_.rows());
      out.Reset(feed_.block().fields(), rows);
      CopyRows(out, 0, feed_.block(), feed_.row(), rows, /*deep=*/false);
      feed_.Take(rows);
    } else {
      int64_t ask = 0;
      if (__builtin_mul_overflow(want, step_, &ask)) ask = kInfinite;
      if (!feed_.Fill(context, std::min<int64_t>(ask, 1024))) return End(out);
      rows = std::min(want, (feed_.rows() - 1) / step_ + 1);
      out.Reset(feed_.block().fields(), rows);
      for (int64_t i = 0; i < rows; ++i) {
        CopyRows(out, i, feed_.block(), feed_.row() + i * step_, 1, /*deep=*/false);
      }
      const int64_t passed = std::min(rows * step_, feed_.rows());
      pass_ = rows * step_ - passed;
      feed_.Take(passed);
    }
    given_ += rows;
    return rows;
  }
  void Save(std::vector<int64_t>& state) const override {
    state.push_back(given_);
    state.push_back(started_ ? pass_ : -1);
    feed_.Save(state);
  }
  void Restore(std::span<const int64_t>& state) override {
    given_ = TakeState(state, 0, take_);
    pass_ = TakeState(state, -1, kInfinite);
    started_ = pass_ >= 0;
    feed_.Restore(state);
  }

 private:
  // Goes to the next row that is to be given out.
  bool Pass(ReadContext& context) {
    if (!started_) {
      started_ = true;
      pass_ = skip_;
    }
    while (pass_ > 0) {
      if (!feed_.Fill(context, std::min<int64_t>(pass_, 1024))) return false;
      const int64_t rows = std::min(pass_, feed_.rows());
      feed_.Take(rows);
      pass_ -= rows;
    }
    return true;
  }
  int64_t End(Block& out) {
    out.Reset(feed_.block().fields(), 0);
    return 0;
  }

  Feed feed_;
  const int64_t skip_, step_, take_;
  int64_t given_ = 0, pass_ = 0;
  bool started_ = false;
};

SourcePtr StridedStream(SourcePtr input, int64_t skip, int64_t step, int64_t take,
                        const std::string& what) {
  std::vector<Field> fields = input->fields();
  std::string description = fmt::format("{}, {}", input->description(), what);
  return std::make_shared<Stream>(
      std::vector{std::move(input)}, std::move(fields), std::move(description),
      [=](const Stream& stream, int64_t epoch, const StreamOptions& options) {
        return std::make_unique<StridedCursor>(stream, epoch, options, skip, step, take);
      });
}

class RepeatCursor : public Cursor {
 public:
  RepeatCursor(const Stream& stream, int64_t epoch, int64_t count, const StreamOptions& options)
      : stream_(stream), base_(count < 0 ? 0 : epoch * count), count_(count), options_(options) {
    Open();
  }
  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    while (count_ < 0 || pass_ < count_) {
      const int64_t rows = input_->Next(context, want, out);
      if (rows > 0) {
        given_ = 1;
        return rows;
      }
      // An endless repetition of nothing would never return.
      if (count_ < 0 && given_ == 0) break;
      ++pass_;
      given_ = 0;
      Open();
    }
    out.Reset(stream_.fields(), 0);
    return 0;
  }
  void Save(std::vector<int64_t>& state) const override {
    state.push_back(pass_);
    state.push_back(given_);
    input_->Save(state);
  }
  void Restore(std::span<const int64_t>& state) override {
    pass_ = TakeState(state, 0, count_ < 0 ? kInfinite : count_);
    given_ = TakeState(state, 0, 1);
    Open();
    input_->Restore(state);
  }

 private:
  void Open() { input_ = OpenCursor(stream_.input(), base_ + pass_, options_); }

  const Stream& stream_;
  const int64_t base_, count_;
  const StreamOptions options_;
  int64_t pass_ = 0;
  int64_t given_ = 0;  // whether this pass gave anything: 0 or 1
  std::unique_ptr<Cursor> input_;
};

// Collects a window, then gives it out permuted.
class WindowCursor : public Cursor {
 public:
  WindowCursor(const Stream& stream, int64_t epoch, uint64_t seed, int64_t window,
               const StreamOptions& options)
      : feed_(stream.input(), epoch, options, /*history=*/true),
        fields_(stream.fields()),
        seed_(seed),
        epoch_(epoch),
        window_(window),
        rows_(fields_) {}

  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    if (at_ == static_cast<int64_t>(order_.size())) {
      if (!order_.empty()) ++number_;
      order_.clear();
      at_ = 0;
    }
    if (order_.empty()) {
      Collect(context);
      at_ = std::min(skip_, static_cast<int64_t>(order_.size()));
      skip_ = 0;
    }
    const int64_t rows = std::min(want, static_cast<int64_t>(order_.size()) - at_);
    out.Reset(fields_, rows);
    for (int64_t i = 0; i < rows; ++i) {
      rows_.CopyTo(out, i, order_[static_cast<size_t>(at_++)], /*deep=*/false);
    }
    return rows;
  }
  void Save(std::vector<int64_t>& state) const override {
    const bool done = at_ == static_cast<int64_t>(order_.size()) && skip_ == 0;
    state.push_back(number_ + (done && !order_.empty() ? 1 : 0));
    state.push_back(done ? 0 : at_ + skip_);
    if (done) {
      feed_.Save(state);
    } else {
      feed_.SaveAt(begin_, state);
    }
  }
  void Restore(std::span<const int64_t>& state) override {
    number_ = TakeState(state, 0, kInfinite);
    skip_ = TakeState(state, 0, window_);
    order_.clear();
    at_ = 0;
    feed_.Restore(state);
    begin_ = feed_.taken();
  }

 private:
  void Collect(ReadContext& context) {
    begin_ = feed_.taken();
    feed_.Forget(begin_);
    rows_.Clear();
    while (rows_.size() < window_ && feed_.Fill(context, window_ - rows_.size())) {
      const int64_t rows = std::min(window_ - rows_.size(), feed_.rows());
      rows_.Add(feed_.block(), feed_.row(), rows);
      feed_.Take(rows);
    }
    const int64_t count = rows_.size();
    if (count == 0) return;
    order_.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) order_[static_cast<size_t>(i)] = i;
    WindowPermutation::Within(seed_, epoch_, number_, count).Apply(order_);
  }

  Feed feed_;
  const std::vector<Field>& fields_;
  const uint64_t seed_;
  const int64_t epoch_, window_;
  RowStore rows_;
  std::vector<int64_t> order_;  // rows of rows_, as they are given out; empty: to be collected
  int64_t at_ = 0;              // next of order_
  int64_t number_ = 0;          // of the window
  int64_t begin_ = 0;           // row of the input at which the window begins
  int64_t skip_ = 0;            // rows of the window to pass over after Restore
};

// A stream that is shuffled says so by its seed.
class ShuffledStream : public Stream {
 public:
  ShuffledStream(SourcePtr input, uint64_t seed, int64_t window)
      : Stream({input}, input->fields(),
               fmt::format("{}, shuffled in windows of {} (seed {})", input->description(), window,
                           seed),
               [seed, window](const Stream& stream, int64_t epoch, const StreamOptions& options) {
                 return std::make_unique<WindowCursor>(stream, epoch, seed, window, options);
               }),
        seed_(seed) {}
  uint64_t seed() const override { return seed_; }

 private:
  uint64_t seed_;
};

void CheckFinite(const char* verb, const Source& input) {
  if (input.size() == kInfinite) {
    throw Invalid("{}: an endless data set cannot be shuffled: put {} before Repeat", verb, verb);
  }
}

}  // namespace

SourcePtr Select(SourcePtr input, std::vector<int64_t> records) {
  if (!input->indexed()) {
    throw Invalid("Select: {} is a stream, its records have no numbers", input->description());
  }
  for (int64_t record : records) {
    if (record < 0 || record >= input->size()) {
      throw Invalid("Select: expected record numbers from 0 to {}, found {} ({})",
                    input->size() - 1, record, input->description());
    }
  }
  return std::make_shared<SelectNode>(std::move(input), std::move(records));
}

SourcePtr Shuffle(SourcePtr input, uint64_t seed) {
  if (!input->indexed()) {
    SourcePtr result =
        RebuildStages(input, [seed](const SourcePtr& records) { return Shuffle(records, seed); });
    if (result) return result;
    throw Invalid(
        "Shuffle: {} is a stream, whose records can only be read in order: put Shuffle before the "
        "verb that makes it one, or use ShuffleWindow",
        input->description());
  }
  CheckFinite("Shuffle", *input);
  if (input->size() == 0) return input;
  const int64_t size = input->size();
  return std::make_shared<Permuted<Permutation>>(
      std::move(input), seed, fmt::format("shuffled (seed {})", seed),
      [=](int64_t epoch) { return std::make_shared<const Permutation>(seed, epoch, size); });
}

SourcePtr ShuffleWindow(SourcePtr input, uint64_t seed, int64_t window) {
  if (window < 1) {
    throw Invalid("ShuffleWindow: expected a window of at least 1 record, found {}", window);
  }
  if (!input->indexed()) return std::make_shared<ShuffledStream>(std::move(input), seed, window);
  CheckFinite("ShuffleWindow", *input);
  if (input->size() == 0) return input;
  const int64_t size = input->size();
  return std::make_shared<Permuted<WindowPermutation>>(
      std::move(input), seed, fmt::format("shuffled in windows of {} (seed {})", window, seed),
      [=](int64_t epoch) {
        return std::make_shared<const WindowPermutation>(seed, epoch, size, window);
      });
}

SourcePtr Repeat(SourcePtr input, int64_t count) {
  if (!input->indexed()) {
    std::vector<Field> fields = input->fields();
    std::string description = fmt::format("{}, repeated", input->description());
    if (count >= 0) description += fmt::format(" {} times", count);
    return std::make_shared<Stream>(
        std::vector{std::move(input)}, std::move(fields), std::move(description),
        [count](const Stream& stream, int64_t epoch, const StreamOptions& options) {
          return std::make_unique<RepeatCursor>(stream, epoch, count, options);
        });
  }
  if (input->size() == kInfinite && count != 0) return input;
  if (count == 0) return Take(std::move(input), 0);
  if (input->size() == 0) return input;
  int64_t size = 0;
  if (count < 0 || __builtin_mul_overflow(input->size(), count, &size)) size = kInfinite;
  return std::make_shared<RepeatNode>(std::move(input), count, size);
}

SourcePtr Take(SourcePtr input, int64_t count) {
  if (count < 0) throw Invalid("Take: expected a number of records, found {}", count);
  const std::string what = fmt::format("the first {}", count);
  if (!input->indexed()) return StridedStream(std::move(input), 0, 1, count, what);
  const int64_t size = std::min(count, input->size());
  return std::make_shared<Strided>(std::move(input), 0, 1, size, what);
}

SourcePtr Skip(SourcePtr input, int64_t count) {
  if (count < 0) throw Invalid("Skip: expected a number of records, found {}", count);
  const std::string what = fmt::format("without the first {}", count);
  if (!input->indexed()) return StridedStream(std::move(input), count, 1, kInfinite, what);
  int64_t size = input->size();
  if (size != kInfinite) size = std::max<int64_t>(0, size - count);
  return std::make_shared<Strided>(std::move(input), count, 1, size, what);
}

SourcePtr Shard(SourcePtr input, int64_t num_shards, int64_t index) {
  if (num_shards < 1 || index < 0 || index >= num_shards) {
    throw Invalid("Shard: expected an index from 0 to num_shards - 1, found index {} of {} shards",
                  index, num_shards);
  }
  const std::string what = fmt::format("shard {} of {}", index, num_shards);
  if (!input->indexed()) {
    return StridedStream(std::move(input), index, num_shards, kInfinite, what);
  }
  int64_t size = input->size();
  if (size != kInfinite) size = size > index ? (size - index - 1) / num_shards + 1 : 0;
  return std::make_shared<Strided>(std::move(input), index, num_shards, size, what);
}

}  // namespace flatout::data::verbs
