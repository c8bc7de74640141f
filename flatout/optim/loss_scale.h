// The loss scale: keeps small gradients of float16 from becoming zero.
//
// The loss is multiplied by a scale before it is differentiated, and the gradients are divided by
// it in float32 before anything else looks at them. A step whose gradients are not finite is
// skipped: no variable, slot or step counter changes. The dynamic scale then falls to half, and
// doubles after `growth_steps` steps in a row whose gradients were finite (Micikevicius et al.
// 2018, section 3.2; Keras's LossScaleOptimizer). Everything is part of the compiled step, in
// float32.
//
// In the step, once the replicas have added up their gradients:
//   loss is differentiated as ScaleLoss(loss, state.scale); accumulated gradients stay scaled;
//   gradients = UnscaleGradients(gradients, state.scale);
//   finite = AllFinite(gradients);
//   next = NextLossScale(options, state, finite, counts);   // the new state
//   optimizer.Apply(..., proceed = counts and finite);      // clips the unscaled gradients
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/graph.h"
#include "flatout/nn/context.h"
#include "flatout/optim/optimizer.h"

namespace flatout::optim {

struct LossScale {
  // kNone: gradients are used as they come. kStatic: the scale stays at `initial`; steps whose
  // gradients are not finite are skipped all the same. kDynamic: as above.
  enum class Kind { kNone, kStatic, kDynamic };
  Kind kind = Kind::kNone;
  double initial = 32768;       // 2^15
  int64_t growth_steps = 2000;  // kDynamic

  bool enabled() const { return kind != Kind::kNone; }
  bool operator==(const LossScale&) const = default;

  static LossScale None() { return {}; }
  static LossScale Dynamic() { return {.kind = Kind::kDynamic}; }
  static LossScale Static(double scale) { return {.kind = Kind::kStatic, .initial = scale}; }
  // What "auto" means: dynamic where something computes in float16, else none.
  static LossScale Auto(bool uses_float16) { return uses_float16 ? Dynamic() : None(); }

  // "dynamic", "none", "static 1024" or "dynamic, from 1024, doubled every 500 steps": for people.
  std::string ToString() const;
};
// "dynamic", "none", a number (static), or a table {initial = 1024, growth_steps = 500} (dynamic).
// "auto" is the reader's own affair: see LossScale::Auto. Scales must be finite and at least 1,
// growth_steps at least 1.
void ReadConfig(const Config& value, LossScale& field);

// The dynamic scale never falls below kLeastLossScale nor rises above kMostLossScale (gradients
// that are all zero would otherwise let it grow until it is no number).
inline constexpr double kLeastLossScale = 1;
inline constexpr double kMostLossScale = 18446744073709551616.0;  // 2^64

// The counters of the training state that a loss scale needs, none where it is not enabled, in the
// order of LossScaleState: "loss_scale" (f32), "loss_scale_good_steps" (i32: finite steps since the
// scale last changed), "loss_scale_skipped" (i32: steps skipped since the run's beginning).
std::vector<Slot> LossScaleCounters(const LossScale& options);

// Scalars of those counters.
struct LossScaleState {
  ir::Value scale;       // f32
  ir::Value good_steps;  // i32
  ir::Value skipped;     // i32
};

// loss * scale, f32. The loss is an f32 scalar.
ir::Value ScaleLoss(ir::Value loss, ir::Value scale);
// Each gradient as f32 (whatever its dtype) divided by the scale. Rows scattered into zeros (an
// embedding's gradient) stay so.
std::vector<ir::Value> UnscaleGradients(std::span<const ir::Value> gradients, ir::Value scale);
// pred scalar: no gradient holds an infinity or NaN. There must be at least one.
ir::Value AllFinite(std::span<const ir::Value> gradients);
// The state after a step. `finite`: pred scalar of AllFinite, equal on all replicas. `counts` (pred
// scalar, none: true): false where the step is none for other reasons (a batch without rows, a run
// that has halted); then the state stays as it is.
LossScaleState NextLossScale(const LossScale& options, const LossScaleState& state,
                             ir::Value finite, ir::Value counts = {});

}  // namespace flatout::optim
