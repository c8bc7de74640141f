#include "flatout/optim/loss_scale.h"

#include <fmt/format.h>

#include <cmath>

#include "flatout/ir/ops.h"

namespace flatout::optim {

using ir::DType;
using ir::Value;

std::string LossScale::ToString() const {
  switch (kind) {
    case Kind::kNone:
      return "none";
    case Kind::kStatic:
      return fmt::format("static {}", initial);
    case Kind::kDynamic:
      if (*this == Dynamic()) return "dynamic";
      return fmt::format("dynamic, from {}, doubled every {} steps", initial, growth_steps);
  }
  throw Internal("loss scale of kind {}", static_cast<int>(kind));
}

void ReadConfig(const Config& value, LossScale& field) {
  const auto check_scale = [](const Config& at, double scale) {
    if (!(scale >= kLeastLossScale) || !(scale <= kMostLossScale)) {
      throw at.Complain(
          fmt::format("a loss scale must be at least 1 and at most 2^64, found {}", scale));
    }
  };
  if (value.is_string()) {
    const std::string& name = value.AsString();
    if (name == "dynamic") {
      field = LossScale::Dynamic();
    } else if (name == "none") {
      field = LossScale::None();
    } else {
      throw value.Complain(
          fmt::format("no loss scale is called \"{}\"{} (known: dynamic, none, a number such as "
                      "1024, or a table {{initial = 1024, growth_steps = 500}})",
                      name, DidYouMean(name, {"dynamic", "none"})));
    }
  } else if (value.is_number()) {
    field = LossScale::Static(value.AsDouble());
    check_scale(value, field.initial);
  } else if (value.is_table()) {
    field = LossScale::Dynamic();
    FieldReader reader(value, "loss_scale");
    if (const Config* initial = reader.Take("initial")) {
      field.initial = initial->AsDouble();
      check_scale(*initial, field.initial);
    }
    if (const Config* steps = reader.Take("growth_steps")) {
      field.growth_steps = steps->AsInt();
      if (field.growth_steps < 1 || field.growth_steps > INT32_MAX) {
        throw steps->Complain(fmt::format("growth_steps must be between 1 and {}, found {}",
                                          INT32_MAX, field.growth_steps));
      }
    }
    reader.Finish();
  } else {
    throw value.Complain(
        fmt::format("expected a loss scale (\"dynamic\", \"none\", a number, or a table such as "
                    "{{initial = 1024}}), found {}",
                    value.Describe()));
  }
}

std::vector<Slot> LossScaleCounters(const LossScale& options) {
  if (!options.enabled()) return {};
  const ir::Shape count = ir::Shape::Scalar(DType::kI32);
  return {{"loss_scale", ir::Shape::Scalar(DType::kF32), options.initial},
          {"loss_scale_good_steps", count, 0},
          {"loss_scale_skipped", count, 0}};
}

Value ScaleLoss(Value loss, Value scale) { return ir::Convert(loss, DType::kF32) * scale; }

std::vector<Value> UnscaleGradients(std::span<const Value> gradients, Value scale) {
  std::vector<Value> unscaled;
  // Exact for powers of two, which a dynamic scale is unless the user starts it elsewhere.
  const Value factor = 1.0 / scale;
  for (const Value& gradient : gradients) {
    const auto rows = ir::MatchScatterAddIntoZeros(gradient);
    if (rows && gradient.dtype() != DType::kF32) {
      const Value zeros = ir::Full(gradient.graph(), ir::Shape(DType::kF32, gradient.dims()), 0);
      unscaled.push_back(
          ir::ScatterAdd(zeros, rows->indices, ir::Convert(rows->updates, DType::kF32) * factor));
    } else {
      unscaled.push_back(ir::ScaleScattered(ir::Convert(gradient, DType::kF32), factor));
    }
  }
  return unscaled;
}

Value AllFinite(std::span<const Value> gradients) {
  if (gradients.empty()) throw Internal("no gradients to check");
  Value all;
  for (Value gradient : gradients) {
    if (const auto rows = ir::MatchScatterAddIntoZeros(gradient)) gradient = rows->updates;
    const Value finite = ir::Reduce(ir::Reduction::kAnd, ir::IsFinite(gradient));
    all = all ? ir::And(all, finite) : finite;
  }
  return all;
}

LossScaleState NextLossScale(const LossScale& options, const LossScaleState& state, Value finite,
                             Value counts) {
  if (!options.enabled()) throw Internal("a step without a loss scale has no state of it");
  const auto one = [](Value like) { return ir::ScalarLike(like, 1); };
  const auto zero = [](Value like) { return ir::ScalarLike(like, 0); };
  LossScaleState next = state;
  next.skipped = state.skipped + ir::Select(finite, zero(state.skipped), one(state.skipped));
  if (options.kind == LossScale::Kind::kDynamic) {
    // Keras grows in the step that makes the count full, and starts to count anew.
    const Value full =
        ir::Ge(state.good_steps + one(state.good_steps), static_cast<double>(options.growth_steps));
    const Value grown = ir::Min(state.scale * 2.0, kMostLossScale);
    const Value fallen = ir::Max(state.scale * 0.5, kLeastLossScale);
    next.scale = ir::Select(finite, ir::Select(full, grown, state.scale), fallen);
    next.good_steps = ir::Select(ir::And(finite, ir::Not(full)),
                                 state.good_steps + one(state.good_steps), zero(state.good_steps));
  }
  if (counts) {
    next.scale = ir::Select(counts, next.scale, state.scale);
    next.good_steps = ir::Select(counts, next.good_steps, state.good_steps);
    next.skipped = ir::Select(counts, next.skipped, state.skipped);
  }
  return next;
}

}  // namespace flatout::optim
