#include "flatout/optim/schedule.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <span>

#include "flatout/ir/ops.h"

namespace flatout::optim {
namespace {

using ir::Value;

class Constant : public Schedule {
 public:
  explicit Constant(double rate) : rate_(rate) {}
  Value Rate(Value step) const override { return ir::ScalarLike(step, rate_); }
  bool constant() const override { return true; }
  std::string ToString() const override { return fmt::format("{}", rate_); }

 private:
  double rate_;
};

void RequirePositive(std::string_view schedule, std::string_view name, double value) {
  if (!(value > 0)) throw Invalid("{}: {} must be positive, found {}", schedule, name, value);
}

// rate = initial * decay_rate ^ (step / decay_steps), floored to whole periods for a staircase.
struct ExponentialDecay : Schedule {
  static constexpr std::string_view kType = "ExponentialDecay";
  double initial_learning_rate = 0, decay_steps = 0, decay_rate = 0;
  bool staircase = false;
  template <class V>
  void Visit(V& v) {
    v.Required("initial_learning_rate", initial_learning_rate);
    v.Required("decay_steps", decay_steps);
    v.Required("decay_rate", decay_rate);
    v("staircase", staircase);
  }
  void Check() const { RequirePositive(kType, "decay_steps", decay_steps); }
  std::string ToString() const override { return std::string(kType); }
  Value Rate(Value step) const override {
    Value periods = step / decay_steps;
    if (staircase) periods = ir::Floor(periods);
    return initial_learning_rate * ir::Pow(ir::ScalarLike(step, decay_rate), periods);
  }
};

// values[i] for boundaries[i-1] < step <= boundaries[i].
struct PiecewiseConstantDecay : Schedule {
  static constexpr std::string_view kType = "PiecewiseConstantDecay";
  std::vector<double> boundaries, values;
  template <class V>
  void Visit(V& v) {
    v.Required("boundaries", boundaries);
    v.Required("values", values);
  }
  void Check() const {
    if (values.size() != boundaries.size() + 1) {
      throw Invalid(
          "PiecewiseConstantDecay: needs one value more than boundaries, found {} values "
          "and {} boundaries",
          values.size(), boundaries.size());
    }
    for (size_t i = 1; i < boundaries.size(); ++i) {
      if (boundaries[i] <= boundaries[i - 1]) {
        throw Invalid("PiecewiseConstantDecay: boundaries must rise, found {} after {}",
                      boundaries[i], boundaries[i - 1]);
      }
    }
  }
  std::string ToString() const override { return std::string(kType); }
  Value Rate(Value step) const override {
    Value rate = ir::ScalarLike(step, values[0]);
    for (size_t i = 0; i < boundaries.size(); ++i) {
      rate = ir::Select(ir::Gt(step, boundaries[i]), ir::ScalarLike(step, values[i + 1]), rate);
    }
    return rate;
  }
};

// rate = (initial - end) * (1 - step / decay_steps) ^ power + end; with cycle, decay_steps grows to
// the next multiple that is not yet reached.
struct PolynomialDecay : Schedule {
  static constexpr std::string_view kType = "PolynomialDecay";
  double initial_learning_rate = 0, decay_steps = 0, end_learning_rate = 0.0001, power = 1;
  bool cycle = false;
  template <class V>
  void Visit(V& v) {
    v.Required("initial_learning_rate", initial_learning_rate);
    v.Required("decay_steps", decay_steps);
    v("end_learning_rate", end_learning_rate);
    v("power", power);
    v("cycle", cycle);
  }
  void Check() const { RequirePositive(kType, "decay_steps", decay_steps); }
  std::string ToString() const override { return std::string(kType); }
  Value Rate(Value step) const override {
    Value share;
    if (cycle) {
      const Value periods = ir::Max(ir::Ceil(step / decay_steps), 1.0);
      share = step / (periods * decay_steps);
    } else {
      share = ir::Min(step, decay_steps) / decay_steps;
    }
    return (initial_learning_rate - end_learning_rate) *
               ir::Pow(1.0 - share, ir::ScalarLike(step, power)) +
           end_learning_rate;
  }
};

// rate = initial / (1 + decay_rate * step / decay_steps).
struct InverseTimeDecay : Schedule {
  static constexpr std::string_view kType = "InverseTimeDecay";
  double initial_learning_rate = 0, decay_steps = 0, decay_rate = 0;
  bool staircase = false;
  template <class V>
  void Visit(V& v) {
    v.Required("initial_learning_rate", initial_learning_rate);
    v.Required("decay_steps", decay_steps);
    v.Required("decay_rate", decay_rate);
    v("staircase", staircase);
  }
  void Check() const { RequirePositive(kType, "decay_steps", decay_steps); }
  std::string ToString() const override { return std::string(kType); }
  Value Rate(Value step) const override {
    Value periods = step / decay_steps;
    if (staircase) periods = ir::Floor(periods);
    return initial_learning_rate / (1.0 + decay_rate * periods);
  }
};

// Loshchilov and Hutter 2016, with Keras's linear warm-up: from initial_learning_rate to
// warmup_target in warmup_steps, then half a cosine down to alpha * peak in decay_steps.
struct CosineDecay : Schedule {
  static constexpr std::string_view kType = "CosineDecay";
  double initial_learning_rate = 0, decay_steps = 0, alpha = 0, warmup_steps = 0;
  std::optional<double> warmup_target;
  template <class V>
  void Visit(V& v) {
    v.Required("initial_learning_rate", initial_learning_rate);
    v.Required("decay_steps", decay_steps);
    v("alpha", alpha);
    v("warmup_target", warmup_target);
    v("warmup_steps", warmup_steps);
  }
  void Check() const {
    RequirePositive(kType, "decay_steps", decay_steps);
    if (warmup_target && !(warmup_steps > 0)) {
      throw Invalid("CosineDecay: warmup_target needs warmup_steps > 0, found {}", warmup_steps);
    }
    if (!warmup_target && warmup_steps > 0) {
      throw Invalid("CosineDecay: warmup_steps = {} needs warmup_target, the rate to warm up to",
                    warmup_steps);
    }
  }
  std::string ToString() const override { return std::string(kType); }
  Value Rate(Value step) const override {
    const double peak = warmup_target.value_or(initial_learning_rate);
    const double warmup = warmup_target ? warmup_steps : 0;
    const Value share = ir::Min(ir::Max(step - warmup, 0.0), decay_steps) / decay_steps;
    const Value cosine = 0.5 * (1.0 + ir::Cos(share * std::numbers::pi));
    Value rate = peak * ((1.0 - alpha) * cosine + alpha);
    if (warmup > 0) {
      const Value rising = initial_learning_rate + (peak - initial_learning_rate) * (step / warmup);
      rate = ir::Select(ir::Lt(step, warmup), rising, rate);
    }
    return rate;
  }
};

// Warm restarts: period i lasts first_decay_steps * t_mul^i and starts from initial * m_mul^i.
struct CosineDecayRestarts : Schedule {
  static constexpr std::string_view kType = "CosineDecayRestarts";
  double initial_learning_rate = 0, first_decay_steps = 0, t_mul = 2, m_mul = 1, alpha = 0;
  template <class V>
  void Visit(V& v) {
    v.Required("initial_learning_rate", initial_learning_rate);
    v.Required("first_decay_steps", first_decay_steps);
    v("t_mul", t_mul);
    v("m_mul", m_mul);
    v("alpha", alpha);
  }
  void Check() const {
    RequirePositive(kType, "first_decay_steps", first_decay_steps);
    if (!(t_mul >= 1)) throw Invalid("CosineDecayRestarts: t_mul must be >= 1, found {}", t_mul);
  }
  std::string ToString() const override { return std::string(kType); }
  Value Rate(Value step) const override {
    const Value share = step / first_decay_steps;
    Value restarts, within;
    if (t_mul == 1) {
      restarts = ir::Floor(share);
      within = share - restarts;
    } else {
      // Periods form a geometric series: restarts = floor(log_t(1 - share * (1 - t))).
      restarts = ir::Floor(ir::Log(1.0 - share * (1.0 - t_mul)) / std::log(t_mul));
      const Value power = ir::Pow(ir::ScalarLike(step, t_mul), restarts);
      const Value begun = (1.0 - power) / (1.0 - t_mul);
      within = (share - begun) / power;
    }
    const Value peak = ir::Pow(ir::ScalarLike(step, m_mul), restarts);
    const Value cosine = 0.5 * peak * (1.0 + ir::Cos(within * std::numbers::pi));
    return initial_learning_rate * ((1.0 - alpha) * cosine + alpha);
  }
};

struct ScheduleDef {
  std::string_view type;
  std::shared_ptr<const Schedule> (*make)(const Config& table);
};

template <typename S>
ScheduleDef Def() {
  return {S::kType, [](const Config& table) -> std::shared_ptr<const Schedule> {
            auto schedule = std::make_shared<S>();
            ReadOptions(table, std::string(S::kType), *schedule);
            WithContext(table.place().ToString(), [&] { schedule->Check(); });
            return schedule;
          }};
}

std::span<const ScheduleDef> ScheduleTable() {
  static const ScheduleDef table[] = {Def<ExponentialDecay>(), Def<PiecewiseConstantDecay>(),
                                      Def<PolynomialDecay>(),  Def<InverseTimeDecay>(),
                                      Def<CosineDecay>(),      Def<CosineDecayRestarts>()};
  return table;
}

}  // namespace

std::shared_ptr<const Schedule> ConstantSchedule(double rate) {
  return std::make_shared<Constant>(rate);
}

std::vector<std::string> ScheduleNames() {
  std::vector<std::string> names;
  for (const ScheduleDef& def : ScheduleTable()) names.emplace_back(def.type);
  return names;
}

std::shared_ptr<const Schedule> ScheduleFromConfig(const Config& value) {
  if (value.is_number()) {
    const double rate = value.AsDouble();
    if (!(rate >= 0) || !std::isfinite(rate)) {
      throw value.Complain("a learning rate must be finite and not negative");
    }
    return ConstantSchedule(rate);
  }
  if (!value.is_table()) {
    throw value.Complain(
        fmt::format("expected a number or a schedule such as {{class = "
                    "\"CosineDecay\", ...}}, found {}",
                    value.Describe()));
  }
  const Config* type = value.Find("class");
  if (type == nullptr)
    throw value.Complain("a schedule needs its class, for example \"CosineDecay\"");
  for (const ScheduleDef& def : ScheduleTable()) {
    if (def.type == type->AsString()) return def.make(WithoutKey(value, "class"));
  }
  throw type->Complain(fmt::format("no schedule is called \"{}\"{}", type->AsString(),
                                   DidYouMean(type->AsString(), ScheduleNames())));
}

}  // namespace flatout::optim
