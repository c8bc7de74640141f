// Losses, with Keras's names, arguments and defaults.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/graph.h"

namespace flatout::nn {

class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string name() const = 0;  // "sparse_categorical_crossentropy"
  // Loss of each element: y_pred f32[batch, ..., classes] and y_true of the kind the loss expects
  // (class indices [batch, ...] for sparse ones, else y_pred's shape) give f32[batch, ...]. Predictions
  // of a lower precision are converted to float32 first. The mean over real rows is the caller's.
  virtual ir::Value Call(ir::Value y_true, ir::Value y_pred) const = 0;
};

// A loss from a run file: a name in either spelling ("sparse_categorical_crossentropy",
// "SparseCategoricalCrossentropy") or a table {class = "...", from_logits = true}.
std::unique_ptr<Loss> LossFromConfig(const Config& value);
std::vector<std::string> LossNames();

// Weighted mean over all elements: `values` f32[batch, ...], `row_weights` f32[batch]; returns the
// pair (sum of weighted values, sum of weights), both f32 scalars, so that replicas can add theirs.
std::pair<ir::Value, ir::Value> WeightedSum(ir::Value values, ir::Value row_weights);

}  // namespace flatout::nn
