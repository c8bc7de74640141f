// What training and evaluation launches share. Internal to flatout/train.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "flatout/data/device_prefetch.h"
#include "flatout/nn/metric.h"
#include "flatout/step/step_program.h"
#include "flatout/train/trainer.h"
#include "flatout/watch/ledger.h"
#include "flatout/xla/pjrt.h"

namespace flatout::train {

// Launches that may be under way at once: one runs, the next waits.
inline constexpr size_t kLaunchesInFlight = 2;

// Loss and metric sums of one split or epoch, added up on the host in float64.
class Totals {
 public:
  // Metrics, and the names they go by; both must outlive this.
  Totals(const std::vector<std::unique_ptr<nn::Metric>>& metrics,
         const std::vector<std::string>& names);

  // Adds a launch's results; results[0] is the program's result number `first`.
  void Add(const step::ResultLayout& layout, const std::vector<xla::Buffer>& results, int first);
  // Mean loss over all real rows so far; NaN before any.
  double loss() const;
  std::map<std::string, double> Metrics() const;

 private:
  const std::vector<std::unique_ptr<nn::Metric>>* metrics_;
  const std::vector<std::string>* names_;
  double loss_ = 0, weight_ = 0;
  std::vector<std::vector<std::vector<double>>> sums_;  // [metric][value][element]
};

// Tells the ledger when all devices of a launch have ended.
void TrackCompletion(const std::shared_ptr<watch::Ledger>& ledger, int64_t id,
                     const std::vector<xla::Event>& done);

// The elements of a tensor as another float type, rounded to nearest.
std::vector<std::byte> ConvertFloats(const std::vector<std::byte>& from, ir::DType from_type,
                                     ir::DType to_type);

// One launch of the training program, from its input until its results have been read.
struct Trainer::Launch {
  data::DeviceLaunch input;
  int64_t steps = 0;  // to run
  int64_t rows = 0;   // real ones in them, without bad records
  float rate_factor = 1;
  xla::Execution run;  // outputs hold the results only: the state has moved on
};

}  // namespace flatout::train
