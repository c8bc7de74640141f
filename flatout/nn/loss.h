// Losses, with Keras's names, arguments and defaults.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/graph.h"

namespace flatout::nn {

class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string name() const = 0;  // "sparse_categorical_crossentropy"
  // Whether y_pred are logits, for those that take both.
  virtual bool from_logits() const { return false; }
  // Loss of each sample (or position): y_pred [batch, ..., classes] and y_true of the kind the loss
  // expects (class indices [batch, ...] for sparse ones, else y_pred's shape) give f32[batch, ...].
  // Everything is computed in float32 whatever the dtypes. A missing or extra last dimension of
  // size 1 is mended, as Keras does. The mean over real rows is the caller's: see Sums. A class
  // index outside the classes gives NaN, since no finite loss would tell. Throws UserError for
  // shapes that do not fit.
  virtual ir::Value Call(ir::Value y_true, ir::Value y_pred) const = 0;
  // 1 for each element of Call's result that counts and 0 for those that do not (ignore_class), of
  // the result's shape; none when all count.
  virtual ir::Value ElementWeights(ir::Value y_true, ir::Value y_pred) const;
  // What the step needs: (sum of losses that count, sum of their weights), both f32 scalars. The
  // loss is the quotient, after the replicas have added theirs. row_weights as in WeightedSum.
  std::pair<ir::Value, ir::Value> Sums(ir::Value y_true, ir::Value y_pred,
                                       ir::Value row_weights) const;
};

// A loss from a run file: a name in either spelling ("sparse_categorical_crossentropy",
// "SparseCategoricalCrossentropy") or a table {class = "...", from_logits = true}.
std::unique_ptr<Loss> LossFromConfig(const Config& value);
std::vector<std::string> LossNames();

// Weighted mean over all elements: `values` f32[batch, ...], `row_weights` f32[batch] (or any
// leading dimensions of `values`; none: all 1); returns the pair (sum of weighted values, sum of
// weights), both f32 scalars, so that replicas can add theirs.
std::pair<ir::Value, ir::Value> WeightedSum(ir::Value values, ir::Value row_weights);

// y_true and y_pred of equal rank, by adding or dropping a last dimension of size 1 where their
// ranks differ by one, as Keras does. Values whose ranks cannot be mended so come back as they are.
std::pair<ir::Value, ir::Value> AlignRanks(ir::Value y_true, ir::Value y_pred);
// Class indices for predictions [..., classes]: drops a last dimension of size 1. Throws UserError
// when the shapes do not fit. Indices come back as i32.
ir::Value AlignIndices(ir::Value y_true, ir::Value y_pred);

}  // namespace flatout::nn
