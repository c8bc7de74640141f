// Batches in the layout of a training launch: K steps for R replicas of B rows each.
//
// One launch of the training program runs up to K steps on R replicas. Its input is, per replica
// and field, one buffer of shape [K, B, ...]. The global batch of a step is R * B records that
// stand one after the other in the data set's order; replica r takes the r-th part of B. So which
// record stands in which step is the same for any K, any R with the same R * B, and any thread
// count.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "flatout/data/dataset.h"

namespace flatout::data {

struct BatchLayout {
  int64_t steps_per_launch = 1;  // K
  int64_t replicas = 1;          // R
  int64_t rows = 1;              // B, of one replica in one step
  bool drop_remainder = false;   // leave out what does not fill a global batch

  int64_t global_batch() const { return replicas * rows; }
};

// What one launch is made of; a pure function of the state it starts from.
struct LaunchPlan {
  IteratorState start;
  IteratorState next;  // after it
  int64_t epoch = 0;
  int64_t steps = 0;        // real ones, 1..K; the buffers' further steps are zeros, not to be run
  int64_t rows = 0;         // real ones, of all steps and replicas
  bool ends_epoch = false;  // a launch never crosses an epoch's border
};

// Seconds spent on one launch.
struct AssembleTimes {
  double read = 0;   // in Source::Read
  double other = 0;  // order, padding, weights
};

class LaunchReader {
 public:
  // Throws UserError: no records, or fewer than one global batch with drop_remainder, a field
  // called "weight", or a launch too large for the memory to address.
  LaunchReader(Dataset dataset, BatchLayout layout);

  const Dataset& dataset() const { return dataset_; }
  const BatchLayout& layout() const { return layout_; }
  // The fields of the data set and, last, "weight" f32: 1 for a record, 0 for a padding row.
  const std::vector<Field>& fields() const { return fields_; }
  // [K, B, ...] of field f.
  ir::Shape LaunchShape(size_t f) const;
  // Bytes of one launch, all replicas.
  int64_t launch_bytes() const { return launch_bytes_; }
  // Steps per epoch; kInfinite for an endless data set.
  int64_t steps_per_epoch() const;

  // The beginning of epoch 0.
  IteratorState Start() const;
  // The state, where it fits this data set. Throws UserError otherwise: another seed, another
  // number of records, a position outside the epoch.
  IteratorState CheckState(const IteratorState& state) const;
  LaunchPlan Plan(const IteratorState& state) const;
  // Reads the plan's records into the buffers. Thread-safe for different `launch`es.
  AssembleTimes Assemble(const LaunchPlan& plan, HostLaunch& launch) const;

 private:
  Dataset dataset_;
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
  std::shared_ptr<const std::vector<Field>> fields_;
  std::vector<ir::Shape> shapes_;
  std::vector<std::vector<std::unique_ptr<std::byte[], Free>>> data_;  // [replica][field]
  std::vector<int64_t> indices_;                                       // scratch
};

}  // namespace flatout::data
