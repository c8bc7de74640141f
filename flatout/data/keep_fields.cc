#include "flatout/data/keep_fields.h"

#include <algorithm>
#include <utility>

#include "flatout/base/error.h"

namespace flatout::data {
namespace {

void ShareColumns(const Block& from, const std::vector<size_t>& kept, Block& out) {
  for (size_t f = 0; f < kept.size(); ++f) out.ShareColumn(f, from, kept[f]);
  out.TakeBad(from);
}

class KeptCursor : public Cursor {
 public:
  KeptCursor(std::unique_ptr<Cursor> input, const std::vector<size_t>& kept,
             const std::vector<Field>& fields)
      : input_(std::move(input)), kept_(kept), fields_(fields) {}
  int64_t Next(ReadContext& context, int64_t want, Block& out) override {
    const int64_t rows = input_->Next(context, want, block_);
    out.Reset(fields_, rows);
    ShareColumns(block_, kept_, out);
    return rows;
  }
  void Save(std::vector<int64_t>& state) const override { input_->Save(state); }
  void Restore(std::span<const int64_t>& state) override { input_->Restore(state); }

 private:
  std::unique_ptr<Cursor> input_;
  const std::vector<size_t>& kept_;
  const std::vector<Field>& fields_;
  Block block_;
};

class KeptFields : public Source {
 public:
  KeptFields(SourcePtr input, const std::vector<std::string>& names) : input_(std::move(input)) {
    for (const std::string& name : names) {
      kept_.push_back(FindField(input_->fields(), name));
      fields_.push_back(input_->fields()[kept_.back()]);
      if (std::count(names.begin(), names.end(), name) > 1) {
        throw Invalid("field \"{}\" is named twice", name);
      }
    }
    description_ = input_->description() + ", of which " + DescribeFields(fields_);
  }
  int64_t size() const override { return input_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }
  uint64_t seed() const override { return input_->seed(); }
  std::optional<BestScore> best_score() const override { return input_->best_score(); }
  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    // Fixed fields that stay are read into their place, the others into scratch memory.
    std::vector<std::byte*> memory(input_->fields().size(), nullptr);
    for (size_t f = 0; f < kept_.size(); ++f) {
      if (fields_[f].fixed()) memory[kept_[f]] = out.data(f);
    }
    // With the fields, so that the block keeps its memory from call to call.
    Block& in = context.Scratch(this, 0, input_->fields(), 0);
    in.Borrow(input_->fields(), static_cast<int64_t>(records.size()), memory);
    in.set_bad_records(out.bad_records());
    input_->Read(context, epoch, records, in);
    for (size_t f = 0; f < kept_.size(); ++f) {
      if (!fields_[f].fixed()) out.ShareColumn(f, in, kept_[f]);
    }
    out.TakeBad(in);
  }
  std::unique_ptr<Cursor> Open(int64_t epoch) const override {
    if (indexed()) return Source::Open(epoch);
    return std::make_unique<KeptCursor>(input_->Open(epoch), kept_, fields_);
  }

 private:
  SourcePtr input_;
  std::vector<size_t> kept_;
  std::vector<Field> fields_;
  std::string description_;
};

}  // namespace

SourcePtr KeepFields(SourcePtr source, const std::vector<std::string>& names) {
  return std::make_shared<KeptFields>(std::move(source), names);
}

}  // namespace flatout::data
