// Metrics, with Keras's names, arguments and defaults.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/graph.h"

namespace flatout::nn {

class Loss;

// A metric is sums that the step computes and a formula over them that the host evaluates. Sums of
// steps, launches and replicas add up, so the result over a split is exact for any batch size.
class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::string name() const = 0;  // "accuracy"
  // f32 values (any fixed shapes) to add to the totals. row_weights: f32[batch], 0 for padding (or
  // any first dimensions of what is counted).
  virtual std::vector<ir::Value> Sums(ir::Value y_true, ir::Value y_pred,
                                      ir::Value row_weights) const = 0;
  // The metric from the totals, one vector per value of Sums. NaN when nothing was counted.
  virtual double Result(std::span<const std::vector<double>> totals) const = 0;
};

// "accuracy" picks sparse, categorical or binary accuracy by the loss's name, as Keras does.
std::unique_ptr<Metric> MetricFromConfig(const Config& value, const std::string& loss_name);
// The same beside a loss. Where the loss takes logits, metrics that need to know (cross-entropies,
// perplexity, AUC) take logits too unless their table says otherwise, and "accuracy" of a binary
// loss splits at logit 0, which is probability 1/2. Thresholds of other metrics stay as written.
std::unique_ptr<Metric> MetricFromConfig(const Config& value, const Loss& loss);
std::vector<std::string> MetricNames();

}  // namespace flatout::nn
