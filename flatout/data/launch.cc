#include "flatout/data/launch.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"

namespace flatout::data {

LaunchReader::LaunchReader(Dataset dataset, BatchLayout layout)
    : dataset_(std::move(dataset)), layout_(layout), fields_(dataset_.fields()) {
  if (layout.steps_per_launch < 1 || layout.replicas < 1 || layout.rows < 1) {
    throw Invalid("a batch needs at least 1 step, 1 replica and 1 row, found {}, {} and {}",
                  layout.steps_per_launch, layout.replicas, layout.rows);
  }
  const std::string& what = dataset_.source()->description();
  if (dataset_.size() < 1)
    throw BadData("{}: no records are left after take, skip and shard", what);
  if (layout.drop_remainder && dataset_.size() < layout.global_batch()) {
    throw Invalid("{}: drop_remainder leaves nothing: {} records, global batch {}", what,
                  dataset_.size(), layout.global_batch());
  }
  for (const Field& field : fields_) {
    if (field.name == "weight") {
      throw Invalid("{}: a field is called \"weight\", the name of the padding mask: rename it",
                    what);
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
  if (dataset_.size() == kInfinite) return kInfinite;
  int64_t batch = layout_.global_batch();
  return dataset_.size() / batch +
         (!layout_.drop_remainder && dataset_.size() % batch != 0 ? 1 : 0);
}

IteratorState LaunchReader::Start() const {
  return IteratorState{dataset_.order().seed(), 0, 0, dataset_.size()};
}

IteratorState LaunchReader::CheckState(const IteratorState& state) const {
  const std::string& what = dataset_.source()->description();
  if (state.size != dataset_.size()) {
    throw Invalid(
        "{}: the saved position belongs to {} records per epoch, found {} now: the data or its "
        "options "
        "have changed. Bring them back, or start anew",
        what, state.size, dataset_.size());
  }
  if (state.seed != dataset_.order().seed()) {
    throw Invalid(
        "{}: the saved position belongs to the order of seed {}, found seed {} now: set the seed "
        "back, "
        "or start anew",
        what, state.seed, dataset_.order().seed());
  }
  if (state.epoch < 0 || state.position < 0 || state.position > state.size) {
    throw Invalid("{}: the saved position is out of range: epoch {}, record {} of {}", what,
                  state.epoch, state.position, state.size);
  }
  IteratorState result = state;
  int64_t rest = state.size - state.position;
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
  const int64_t rest = dataset_.size() - state.position;
  int64_t steps = rest / batch + (!layout_.drop_remainder && rest % batch != 0 ? 1 : 0);
  plan.steps = std::min(steps, layout_.steps_per_launch);
  plan.rows = std::min(rest, plan.steps * batch);
  plan.next.position += plan.rows;
  int64_t left = rest - plan.rows;
  if (left == 0 || (layout_.drop_remainder && left < batch)) {
    plan.ends_epoch = true;
    ++plan.next.epoch;
    plan.next.position = 0;
  }
  return plan;
}

AssembleTimes LaunchReader::Assemble(const LaunchPlan& plan, HostLaunch& launch) const {
  Stopwatch all;
  AssembleTimes times;
  launch.plan_ = plan;
  const auto rows = static_cast<size_t>(layout_.rows);
  const auto real = static_cast<size_t>(plan.rows);
  const size_t fields = fields_.size() - 1;
  std::vector<int64_t>& indices = launch.indices_;
  indices.resize(real);
  std::iota(indices.begin(), indices.end(), plan.start.position);
  dataset_.order().Map(plan.epoch, indices);
  std::vector<std::byte*> out(fields);
  const auto steps = static_cast<size_t>(layout_.steps_per_launch);
  const auto replicas = static_cast<size_t>(layout_.replicas);
  // With one replica the steps lie one after the other in the buffer, as in the order: one piece.
  const size_t piece = replicas == 1 ? rows * steps : rows;
  for (size_t r = 0; r < replicas; ++r) {
    auto* weight = reinterpret_cast<float*>(launch.data(r, fields));
    for (size_t k = 0; k * piece < rows * steps; ++k) {
      const size_t begin = std::min(real, (k * replicas + r) * piece);
      const size_t count = std::min(piece, real - begin);
      for (size_t f = 0; f < fields; ++f) {
        const auto row = static_cast<size_t>(fields_[f].shape.bytes());
        out[f] = launch.data(r, f) + k * piece * row;
        std::memset(out[f] + count * row, 0, (piece - count) * row);
      }
      std::fill_n(weight + k * piece, count, 1.0f);
      std::fill_n(weight + k * piece + count, piece - count, 0.0f);
      if (count == 0) continue;
      Stopwatch reading;
      dataset_.source()->Read(std::span<const int64_t>(indices).subspan(begin, count), out);
      times.read += reading.Seconds();
    }
  }
  times.other = all.Seconds() - times.read;
  return times;
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
                        "batch or prefetch",
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
