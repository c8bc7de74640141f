#include "flatout/data/launch.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "flatout/base/error.h"

namespace flatout::data {
namespace {

const std::string kAssemble = "assemble";

}  // namespace

LaunchReader::LaunchReader(SourcePtr source, BatchLayout layout)
    : source_(std::move(source)), layout_(layout) {
  if (!source_) throw Invalid("batches need a source, found none (is the split defined?)");
  fields_ = source_->fields();
  if (layout.steps_per_launch < 1 || layout.replicas < 1 || layout.rows < 1) {
    throw Invalid("a batch needs at least 1 step, 1 replica and 1 row, found {}, {} and {}",
                  layout.steps_per_launch, layout.replicas, layout.rows);
  }
  const std::string& what = source_->description();
  if (source_->indexed() && source_->size() < 1) throw BadData("{}: there are no records", what);
  if (layout.drop_remainder && source_->indexed() && source_->size() < layout.global_batch()) {
    throw Invalid("{}: drop_remainder leaves nothing: {} records, global batch {}", what,
                  source_->size(), layout.global_batch());
  }
  for (const Field& field : fields_) {
    if (field.name == "weight") {
      throw Invalid("{}: a field is called \"weight\", the name of the padding mask: rename it",
                    what);
    }
    if (!field.fixed()) {
      throw Invalid(
          "{}: field {} differs in size from record to record, but batches need one shape: bring "
          "it "
          "to one with a transform (resize, pad_or_truncate, lookup, ...), or leave it out with "
          "the "
          "transform \"drop\"",
          what, field.ToString());
    }
  }
  fields_.push_back(Field{"weight", ir::Shape::Scalar(ir::DType::kF32)});
  int64_t rows = 0;
  bool overflow = __builtin_mul_overflow(layout.replicas, layout.rows, &rows) ||
                  __builtin_mul_overflow(rows, layout.steps_per_launch, &rows);
  for (const Field& field : fields_) {
    int64_t bytes = 0;
    overflow = overflow || __builtin_mul_overflow(rows, field.shape.bytes(), &bytes) ||
               __builtin_add_overflow(launch_bytes_, bytes, &launch_bytes_);
  }
  if (overflow) {
    throw Invalid("{}: {} steps of {} x {} rows do not fit any memory", what,
                  layout.steps_per_launch, layout.replicas, layout.rows);
  }
}

ir::Shape LaunchReader::LaunchShape(size_t f) const {
  std::vector<int64_t> dims = {layout_.steps_per_launch, layout_.rows};
  const ir::Shape& record = fields_[f].shape;
  dims.insert(dims.end(), record.dims.begin(), record.dims.end());
  return ir::Shape(record.dtype, std::move(dims));
}

int64_t LaunchReader::steps_per_epoch() const {
  const int64_t size = source_->size();
  if (size == kInfinite || size == kUnknown) return size;
  const int64_t batch = layout_.global_batch();
  return size / batch + (!layout_.drop_remainder && size % batch != 0 ? 1 : 0);
}

IteratorState LaunchReader::Start() const {
  return IteratorState{source_->seed(), 0, 0, source_->size(), {}};
}

IteratorState LaunchReader::CheckState(const IteratorState& state) const {
  const std::string& what = source_->description();
  if (state.size != source_->size()) {
    throw Invalid(
        "{}: the saved position belongs to {} records per epoch, found {} now: the data or its "
        "options have changed. Bring them back, or start anew",
        what, state.size, source_->size());
  }
  if (state.seed != source_->seed()) {
    throw Invalid(
        "{}: the saved position belongs to the order of seed {}, found seed {} now: set the seed "
        "back, or start anew",
        what, state.seed, source_->seed());
  }
  const bool indexed = source_->indexed();
  if (state.epoch < 0 || state.position < 0 || (indexed && state.position > state.size)) {
    throw Invalid("{}: the saved position is out of range: epoch {}, record {} of {}", what,
                  state.epoch, state.position, state.size);
  }
  IteratorState result = state;
  if (!indexed) return result;
  const int64_t rest = state.size - state.position;
  if (rest == 0 || (layout_.drop_remainder && rest < layout_.global_batch())) {
    ++result.epoch;
    result.position = 0;
  }
  return result;
}

LaunchPlan LaunchReader::Plan(const IteratorState& state) const {
  LaunchPlan plan;
  plan.start = plan.next = state;
  plan.epoch = state.epoch;
  const int64_t batch = layout_.global_batch();
  const int64_t rest = source_->size() - state.position;
  const int64_t steps = rest / batch + (!layout_.drop_remainder && rest % batch != 0 ? 1 : 0);
  plan.steps = std::min(steps, layout_.steps_per_launch);
  plan.rows = std::min(rest, plan.steps * batch);
  plan.next.position += plan.rows;
  const int64_t left = rest - plan.rows;
  if (left == 0 || (layout_.drop_remainder && left < batch)) {
    plan.ends_epoch = true;
    ++plan.next.epoch;
    plan.next.position = 0;
  }
  return plan;
}

LaunchReader::Place LaunchReader::PlaceOf(int64_t row) const {
  const int64_t step = row / layout_.global_batch();
  const int64_t in_step = row % layout_.global_batch();
  return {static_cast<size_t>(in_step / layout_.rows),
          static_cast<size_t>(step * layout_.rows + in_step % layout_.rows)};
}

void LaunchReader::Assemble(const LaunchPlan& plan, ReadContext& context,
                            HostLaunch& launch) const {
  launch.set_plan(plan);
  Assemble(plan, 0, layout_.launch_rows(), context, launch);
}

void LaunchReader::Assemble(const LaunchPlan& plan, int64_t begin, int64_t count,
                            ReadContext& context, HostLaunch& launch) const {
  const ReadContext::Stage stage(context, kAssemble,
                                 std::clamp<int64_t>(plan.rows - begin, 0, count));
  const size_t fields = fields_.size() - 1;
  std::vector<std::byte*> out(fields);
  std::vector<int64_t> records;
  // Rows whose neighbours in the order are neighbours in the buffer: of one replica in one step,
  // or, with one replica, all.
  const int64_t run = layout_.replicas == 1 ? layout_.launch_rows() : layout_.rows;
  for (const int64_t end = begin + count; begin < end;) {
    const int64_t here = std::min(end, (begin / run + 1) * run) - begin;
    const int64_t real = std::clamp<int64_t>(plan.rows - begin, 0, here);
    const Place place = PlaceOf(begin);
    for (size_t f = 0; f < fields; ++f) {
      const auto row = static_cast<size_t>(fields_[f].shape.bytes());
      out[f] = launch.data(place.replica, f) + place.index * row;
      std::memset(out[f] + static_cast<size_t>(real) * row, 0,
                  static_cast<size_t>(here - real) * row);
    }
    float* weight = reinterpret_cast<float*>(launch.data(place.replica, fields)) + place.index;
    std::fill_n(weight, real, 1.0f);
    std::fill_n(weight + real, here - real, 0.0f);
    if (real > 0) {
      records.resize(static_cast<size_t>(real));
      std::iota(records.begin(), records.end(), plan.start.position + begin);
      Block block;
      block.Borrow(source_->fields(), real, out);
      block.set_bad_records(context.bad_records());
      source_->Read(context, plan.epoch, records, block);
      for (int64_t row = 0; block.any_bad() && row < real; ++row) {
        if (!block.bad(row)) continue;
        weight[row] = 0;
        launch.bad_rows_.fetch_add(1, std::memory_order_relaxed);
      }
    }
    begin += here;
  }
}

void LaunchReader::CopyRecord(const Block& from, int64_t from_row, int64_t row,
                              HostLaunch& launch) const {
  const Place place = PlaceOf(row);
  const size_t fields = fields_.size() - 1;
  for (size_t f = 0; f < fields; ++f) {
    const auto bytes = static_cast<size_t>(fields_[f].shape.bytes());
    std::memcpy(launch.data(place.replica, f) + place.index * bytes, from.data(f, from_row), bytes);
  }
  reinterpret_cast<float*>(launch.data(place.replica, fields))[place.index] = 1;
}

void LaunchReader::Pad(int64_t row, HostLaunch& launch) const {
  const Place place = PlaceOf(row);
  for (size_t f = 0; f < fields_.size(); ++f) {
    const auto bytes = static_cast<size_t>(fields_[f].shape.bytes());
    std::memset(launch.data(place.replica, f) + place.index * bytes, 0, bytes);
  }
}

void HostLaunch::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{kAlignment});
}

HostLaunch::HostLaunch(const LaunchReader& reader)
    : fields_(std::make_shared<const std::vector<Field>>(reader.fields())) {
  for (size_t f = 0; f < fields_->size(); ++f) shapes_.push_back(reader.LaunchShape(f));
  data_.resize(static_cast<size_t>(reader.layout().replicas));
  for (auto& replica : data_) {
    for (const ir::Shape& shape : shapes_) {
      auto bytes = static_cast<size_t>(shape.bytes());
      void* memory = ::operator new[](bytes, std::align_val_t{kAlignment}, std::nothrow);
      if (memory == nullptr) {
        throw UserError(
            Code::kResourceExhausted,
            fmt::format("no memory for a launch of {} bytes: lower steps_per_launch, the "
                        "batch or data.prefetch",
                        reader.launch_bytes()));
      }
      replica.emplace_back(static_cast<std::byte*>(memory));
    }
  }
}

size_t HostLaunch::Find(std::string_view field, size_t element_bytes) const {
  for (size_t f = 0; f < fields_->size(); ++f) {
    if ((*fields_)[f].name != field) continue;
    if (static_cast<size_t>(ir::ByteSize(shapes_[f].dtype)) != element_bytes) {
      throw Invalid("field {} is {}: its elements were asked for as ones of {} bytes", field,
                    shapes_[f].ToString(), element_bytes);
    }
    return f;
  }
  throw Invalid("no field is called \"{}\": {}", field, DescribeFields(*fields_));
}

}  // namespace flatout::data
