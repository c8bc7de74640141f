// Batches in the layout of a training launch: K steps for R replicas of B rows each.
//
// One launch of the training program runs up to K steps on R replicas. Its input is, per replica
// and field, one buffer of shape [K, B, ...]. The global batch of a step is R * B records that
// stand one after the other in the source's order; replica r takes the r-th part of B. So which
// record stands in which step is the same for any K, any R with the same R * B, and any thread
// count. A bad record that is allowed becomes a row of zeros with weight 0, in its place.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "flatout/data/source.h"
#include "flatout/data/state.h"

namespace flatout::data {

class HostLaunch;

struct BatchLayout {
  int64_t steps_per_launch = 1;  // K
  int64_t replicas = 1;          // R
  int64_t rows = 1;              // B, of one replica in one step
  bool drop_remainder = false;   // leave out what does not fill a global batch

  int64_t global_batch() const { return replicas * rows; }
  int64_t launch_rows() const { return steps_per_launch * global_batch(); }
};

// What one launch is made of; of a source with a size, a pure function of the state it starts from.
struct LaunchPlan {
  IteratorState start;
  IteratorState next;  // after it
  int64_t epoch = 0;
  int64_t steps = 0;        // real ones, 1..K; the buffers' further steps are zeros, not to be run
  int64_t rows = 0;         // real ones, of all steps and replicas
  bool ends_epoch = false;  // a launch never crosses an epoch's border
};

class LaunchReader {
 public:
  // Throws UserError: no records, or fewer than one global batch with drop_remainder, a field
  // called "weight" or one that is not fixed, or a launch too large for the memory to address.
  LaunchReader(SourcePtr source, BatchLayout layout);

  const SourcePtr& source() const { return source_; }
  const BatchLayout& layout() const { return layout_; }
  // The fields of the source and, last, "weight" f32: 1 for a record, 0 for a padding row.
  const std::vector<Field>& fields() const { return fields_; }
  // [K, B, ...] of field f.
  ir::Shape LaunchShape(size_t f) const;
  // Bytes of one launch, all replicas.
  int64_t launch_bytes() const { return launch_bytes_; }
  // Steps per epoch; kInfinite for an endless source, kUnknown for a stream.
  int64_t steps_per_epoch() const;

  // The beginning of epoch 0.
  IteratorState Start() const;
  // The state, where it fits this source. Throws UserError otherwise: another seed, another number
  // of records, a position outside the epoch.
  IteratorState CheckState(const IteratorState& state) const;

  // ---- sources with a size ----
  LaunchPlan Plan(const IteratorState& state) const;
  // Reads rows [begin, begin + count) of the plan's launch_rows(), padding included, into the
  // buffers. Thread-safe for rows that do not overlap.
  void Assemble(const LaunchPlan& plan, int64_t begin, int64_t count, ReadContext& context,
                HostLaunch& launch) const;
  // All of them.
  void Assemble(const LaunchPlan& plan, ReadContext& context, HostLaunch& launch) const;

  // ---- streams ----
  // Row `row` of the launch from row `from_row` of a block of the stream's records, or padding.
  void CopyRecord(const Block& from, int64_t from_row, int64_t row, HostLaunch& launch) const;
  void Pad(int64_t row, HostLaunch& launch) const;

 private:
  struct Place {
    size_t replica;
    size_t index;  // in [K, B]
  };
  Place PlaceOf(int64_t row) const;

  SourcePtr source_;
  BatchLayout layout_;
  std::vector<Field> fields_;
  int64_t launch_bytes_ = 0;
};

// The host memory of one launch. Reusable.
class HostLaunch {
 public:
  static constexpr size_t kAlignment = 64;

  explicit HostLaunch(const LaunchReader& reader);

  const LaunchPlan& plan() const { return plan_; }
  void set_plan(LaunchPlan plan) {
    plan_ = std::move(plan);
    bad_rows_ = 0;
  }
  // Rows of the plan that turned out to be bad records and were left out.
  int64_t bad_rows() const { return bad_rows_; }
  const std::vector<Field>& fields() const { return *fields_; }
  // [K, B, ...]
  const ir::Shape& shape(size_t field) const { return shapes_[field]; }
  std::byte* data(size_t replica, size_t field) const { return data_[replica][field].get(); }
  // Values of a field by name, of one replica: K * B * ... of them. Throws when there is no such
  // field or T has another size than its elements.
  template <typename T>
  std::span<const T> Values(std::string_view field, size_t replica = 0) const {
    size_t f = Find(field, sizeof(T));
    return {reinterpret_cast<const T*>(data(replica, f)), static_cast<size_t>(shapes_[f].size())};
  }

 private:
  friend class LaunchReader;
  size_t Find(std::string_view field, size_t element_bytes) const;
  struct Free {
    void operator()(std::byte* memory) const;
  };

  LaunchPlan plan_;
  std::atomic<int64_t> bad_rows_ = 0;
  std::shared_ptr<const std::vector<Field>> fields_;
  std::vector<ir::Shape> shapes_;
  std::vector<std::vector<std::unique_ptr<std::byte[], Free>>> data_;  // [replica][field]
};

}  // namespace flatout::data
