// flatout/optim: optimizers and learning-rate schedules, with Keras's names, arguments and
// defaults.
//
// An optimizer adds the update of every trainable variable to the training step's graph. Its state
// (slots) is a list of tensors beside the variables; the step donates both, so updates are in
// place.
//
// Slots and all arithmetic are float32 whatever the variable's dtype. A bfloat16 or float16
// variable is widened first and rounded once, after everything has been added to it: an update
// below half of its last bit leaves it as it is, but what slots have gathered of such updates is
// not lost.
//
// SGD without momentum and Adagrad update only the rows of an embedding that the batch touches, to
// the values that going over the whole table gives; all others move every row, as their formulas
// say, unless SGD with momentum, Adam or AdamW are `lazy`: then rows that the batch does not touch
// stand still, with their slots, until it does. (TensorFlow Addons' LazyAdam and PyTorch's
// SparseAdam do the same.) Weight decay and moving averages still go over every row.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/graph.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/context.h"
#include "flatout/optim/schedule.h"

namespace flatout::optim {

// One tensor of optimizer state, float32, every element `initial` at first.
struct Slot {
  std::string name;  // "momentum"
  ir::Shape shape;
  double initial = 0;
};

// Arguments that every optimizer has (Keras's Optimizer base class).
struct CommonOptions {
  Config learning_rate;  // number or schedule; none: the optimizer's default
  std::optional<double> weight_decay;
  // Variables whose path contains one of these are not decayed.
  std::vector<std::string> exclude_from_weight_decay;
  // Each gradient scaled down to this L2 norm; all of them together; each element clamped.
  std::optional<double> clipnorm, global_clipnorm, clipvalue;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency;

  template <class V>
  void Visit(V& v) {
    v("learning_rate", learning_rate);
    v("weight_decay", weight_decay);
    v("exclude_from_weight_decay", exclude_from_weight_decay);
    v("clipnorm", clipnorm);
    v("global_clipnorm", global_clipnorm);
    v("clipvalue", clipvalue);
    v("use_ema", use_ema);
    v("ema_momentum", ema_momentum);
    v("ema_overwrite_frequency", ema_overwrite_frequency);
  }
};

class Optimizer {
 public:
  Optimizer(std::string type, CommonOptions common, double default_learning_rate);
  virtual ~Optimizer() = default;

  const std::string& type() const { return type_; }  // "Adam"
  const Schedule& schedule() const { return *schedule_; }
  bool uses_ema() const { return common_.use_ema; }

  // State for one variable: the algorithm's own slots, and "average" last when an EMA is kept.
  std::vector<Slot> Slots(const nn::Variable& variable) const;

  struct Result {
    std::vector<ir::Value> values;              // new variables
    std::vector<std::vector<ir::Value>> slots;  // new state, as Slots orders it
    ir::Value learning_rate;                    // f32 scalar that was used
    ir::Value gradient_norm;                    // f32 scalar, before clipping
  };
  // The whole update: clipping, decay, algorithm, EMA. Values, gradients of any float dtype; the
  // new values come in the dtype of the old ones. `step` is the count of updates applied before
  // this one (i32 scalar); `rate_factor` multiplies the schedule's rate (f32 scalar, none: 1).
  // Where `proceed` (pred scalar, none: true) is false, values and slots stay as they were.
  Result Apply(std::span<const nn::Variable* const> variables, std::span<const ir::Value> values,
               std::span<const ir::Value> gradients, std::span<const std::vector<ir::Value>> slots,
               ir::Value step, ir::Value rate_factor, ir::Value proceed = {}) const;

 protected:
  struct Update {
    ir::Value value, gradient;     // of the variable's shape, float32
    std::vector<ir::Value> slots;  // in: old, out: new; changed by SetSlot
    ir::Value rate;                // f32 scalar
    ir::Value t;                   // f32 scalar: number of this update, from 1
    ir::Value proceed;             // pred scalar or none
    bool guarded = false;          // out: Step has seen to `proceed` itself

    // Makes `next` the new value of slot i, but for the old one where `proceed` is false, and
    // returns what it became. Steps that go on with that leave the compiler one reader of the old
    // value, which it can then overwrite in place; reading the unguarded value makes it compute
    // that twice, from a copy of the old.
    ir::Value SetSlot(size_t i, ir::Value next) {
      slots[i] = proceed ? ir::Select(proceed, next, slots[i]) : next;
      return slots[i];
    }
    // Adds `change(old rows)` to the rows of slot i, whose indices are different from each other or
    // outside of it, in place; returns what the rows became.
    template <typename Change>
    ir::Value MoveRows(size_t i, const ir::ScatteredRows& rows, Change change) {
      slots[i] =
          ir::ScatterAdd(slots[i], rows.indices, change(ir::Take(slots[i], rows.indices, 0)));
      return ir::Take(slots[i], rows.indices, 0);
    }
  };
  virtual std::vector<Slot> OwnSlots(const nn::Variable& variable) const = 0;
  // Replaces update.value; sets every slot.
  virtual void Step(Update& update) const = 0;

 private:
  std::string type_;
  CommonOptions common_;
  std::shared_ptr<const Schedule> schedule_;
};

// An optimizer from a run file's [optimizer] table {class = "Adam", learning_rate = 0.001, ...} or
// a name. Unknown classes and arguments are UserErrors with the nearest known name.
std::unique_ptr<Optimizer> OptimizerFromConfig(const Config& value);
std::vector<std::string> OptimizerNames();

}  // namespace flatout::optim
