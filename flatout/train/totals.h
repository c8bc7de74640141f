// Totals: loss and metrics of an epoch or a split, added up over its launches.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flatout/nn/metric.h"
#include "flatout/step/step_program.h"
#include "flatout/xla/pjrt.h"

namespace flatout::train {

// Loss and metric sums of one split or epoch, added up on the host in float64.
class Totals {
 public:
  // Metrics, and the names they go by; both must outlive this.
  Totals(const std::vector<std::unique_ptr<nn::Metric>>& metrics,
         const std::vector<std::string>& names);

  // Adds a launch's results; results[0] is the program's result number `first`.
  void Add(const step::ResultLayout& layout, const std::vector<xla::Buffer>& results, int first);
  // The sums themselves, and the other way round (of the same metrics).
  struct Sums {
    double loss = 0, weight = 0;
    std::vector<std::vector<std::vector<double>>> metrics;  // [metric][value][element]
  };
  const Sums& sums() const { return sums_; }
  void Restore(Sums sums) { sums_ = std::move(sums); }
  // Mean loss over all real rows so far; NaN before any.
  double loss() const;
  std::map<std::string, double> Metrics() const;

 private:
  const std::vector<std::unique_ptr<nn::Metric>>* metrics_;
  const std::vector<std::string>* names_;
  Sums sums_;
};

}  // namespace flatout::train
