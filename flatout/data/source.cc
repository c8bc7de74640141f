#include "flatout/data/source.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/trace.h"
#include "flatout/data/registry.h"

namespace flatout::data {
namespace {

// The records of a source with a size, one after the other.
class IndexedCursor : public Cursor {
 public:
  IndexedCursor(const Source& source, int64_t epoch) : source_(source), epoch_(epoch) {}

  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    while (position_ < source_.size()) {
      const int64_t count = std::min(want, source_.size() - position_);
      records_.resize(static_cast<size_t>(count));
      std::iota(records_.begin(), records_.end(), position_);
      position_ += count;
      out.Reset(source_.fields(), count);
      out.set_bad_records(context.bad_records());
      source_.Read(context, epoch_, records_, out);
      if (!out.any_bad()) return count;
      if (const int64_t good = DropBad(out)) return good;
    }
    out.Reset(source_.fields(), 0);
    return 0;
  }
  void Save(std::vector<int64_t>& state) const override { state.push_back(position_); }
  void Restore(std::span<const int64_t>& state) override {
    if (state.empty() || state[0] < 0 || state[0] > source_.size()) {
      throw Invalid("{}: the saved position does not fit the data", source_.description());
    }
    position_ = state[0];
    state = state.subspan(1);
  }

 private:
  static int64_t DropBad(Block& block) {
    int64_t good = 0;
    for (int64_t row = 0; row < block.rows(); ++row) good += block.bad(row) ? 0 : 1;
    Block kept;
    kept.Reset(block.fields(), good);
    kept.set_bad_records(block.bad_records());
    for (int64_t row = 0, to = 0; row < block.rows(); ++row) {
      if (!block.bad(row)) kept.CopyRow(to++, block, row);
    }
    block = std::move(kept);
    return good;
  }

  const Source& source_;
  const int64_t epoch_;
  int64_t position_ = 0;
  std::vector<int64_t> records_;
};

registry::Kinds<SourceOpener>& Kinds() {
  static registry::Kinds<SourceOpener> kinds("a source");
  return kinds;
}

}  // namespace

Block& ReadContext::Scratch(const void* owner, int slot, const std::vector<Field>& fields,
                            int64_t rows) {
  Block& block = scratch_[{owner, slot}];
  block.Reset(fields, rows);
  block.set_bad_records(bad_);
  return block;
}

ReadContext::Stage::Stage(ReadContext& context, const std::string& name, int64_t records)
    : context_(context),
      name_(name),
      records_(records),
      begin_(SteadySeconds()),
      inner_before_(std::exchange(context.inner_, 0)) {}

ReadContext::Stage::~Stage() {
  const double end = SteadySeconds();
  const double seconds = end - begin_;
  trace::AddHere(name_, begin_, end);
  StageTime& time = context_.times_[name_];
  time.seconds += seconds - context_.inner_;
  time.records += records_;
  time.bytes += bytes_;
  context_.inner_ = inner_before_ + seconds;
}

std::map<std::string, StageTime> ReadContext::TakeTimes() { return std::exchange(times_, {}); }

std::unique_ptr<Cursor> Source::Open(int64_t epoch) const {
  if (!indexed()) throw Internal("{}: a stream without a cursor", description());
  return std::make_unique<IndexedCursor>(*this, epoch);
}

void RegisterSource(std::string name, SourceOpener opener) {
  Kinds().Add(std::move(name), std::move(opener));
}

std::vector<std::string> SourceKinds() { return Kinds().Names(); }

SourceOpener FindSource(const std::string& name) { return Kinds().Find(name); }

}  // namespace flatout::data
