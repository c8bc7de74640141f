#include "flatout/optim/optimizer.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "flatout/ir/ops.h"

namespace flatout::optim {

using ir::Value;

Optimizer::Optimizer(std::string type, CommonOptions common, double default_learning_rate)
    : type_(std::move(type)), common_(std::move(common)) {
  schedule_ = common_.learning_rate.is_none() ? ConstantSchedule(default_learning_rate)
                                              : ScheduleFromConfig(common_.learning_rate);
  const int clips = common_.clipnorm.has_value() + common_.global_clipnorm.has_value() +
                    common_.clipvalue.has_value();
  if (clips > 1) {
    throw Invalid("{}: at most one of clipnorm, global_clipnorm and clipvalue may be set", type_);
  }
  for (const auto& limit : {common_.clipnorm, common_.global_clipnorm, common_.clipvalue}) {
    if (limit && !(*limit > 0))
      throw Invalid("{}: a clip limit must be positive, found {}", type_, *limit);
  }
  if (common_.weight_decay && !(*common_.weight_decay >= 0)) {
    throw Invalid("{}: weight_decay must not be negative, found {}", type_, *common_.weight_decay);
  }
  if (common_.use_ema && !(common_.ema_momentum >= 0 && common_.ema_momentum <= 1)) {
    throw Invalid("{}: ema_momentum must lie in [0, 1], found {}", type_, common_.ema_momentum);
  }
  if (common_.ema_overwrite_frequency && *common_.ema_overwrite_frequency < 1) {
    throw Invalid("{}: ema_overwrite_frequency must be at least 1, found {}", type_,
                  *common_.ema_overwrite_frequency);
  }
}

std::vector<Slot> Optimizer::Slots(const nn::Variable& variable) const {
  std::vector<Slot> slots = OwnSlots(variable);
  if (common_.use_ema) slots.push_back({"average", variable.shape.WithDType(ir::DType::kF32), 0});
  return slots;
}

namespace {

Value F32(Value x) { return ir::Convert(x, ir::DType::kF32); }

Value SumOfSquares(Value x) { return ir::ReduceSum(ir::Square(F32(x))); }

// limit / max(norm, limit): 1 below the limit.
Value ClipFactor(Value norm, double limit) { return limit / ir::Max(norm, limit); }

// The rows of a table that its gradient touches, where that gradient is rows scattered into zeros
// (an embedding's). They go straight into variable and slots: no table-sized gradient is ever made,
// nor a table-sized copy to stand still. Where the step must not proceed, the rows' indices lie
// outside of the table, so that they are dropped.
template <class Update>
std::optional<ir::ScatteredRows> TouchedRows(const Update& u) {
  std::optional<ir::ScatteredRows> rows = ir::MatchScatterAddIntoZeros(u.gradient);
  if (!rows) return rows;
  Value& indices = rows->indices;
  if (indices.dtype() != ir::DType::kI64) indices = ir::Convert(indices, ir::DType::kI32);
  if (u.proceed) {
    const Value outside = ir::ScalarLike(indices, static_cast<double>(u.value.dim(0)));
    indices = ir::Select(u.proceed, indices, outside);
  }
  return rows;
}

// The same rows with each index once and what belongs to it added up, in the order in which a dense
// gradient would add; the places that this leaves over have an index outside of the `table_rows`.
ir::ScatteredRows SumDuplicates(const ir::ScatteredRows& rows, int64_t table_rows) {
  const int64_t count = rows.indices.shape().size();
  ir::Dims dims(rows.updates.dims().begin() + rows.indices.rank(), rows.updates.dims().end());
  dims.insert(dims.begin(), count);
  Value indices = ir::Reshape(rows.indices, {count});
  if (indices.dtype() != ir::DType::kI64) indices = ir::Convert(indices, ir::DType::kI32);
  const Value updates = ir::Reshape(rows.updates, dims);
  if (count < 2) return {indices, updates};
  ir::Graph& graph = indices.graph();
  const ir::Shape places(ir::DType::kI32, {count});
  const std::vector<Value> sorted =
      ir::Sort(std::vector<Value>{indices, ir::Iota(graph, places, 0)}, 0);
  const Value ids = sorted[0];
  const Value begins =
      ir::Convert(ir::Compare(ir::SliceAxis(ids, 0, 0, count - 1), ir::SliceAxis(ids, 0, 1, count),
                              ir::Comparison::kNe),
                  ir::DType::kI32);
  // Number of the run of equal indices that each sorted row belongs to.
  const Value first = ir::Full(graph, places.WithDims({1}), 0);
  const Value run = ir::CumulativeSum(ir::Concatenate(std::vector<Value>{first, begins}, 0), 0);
  const Value begins_run =
      ir::Concatenate(std::vector<Value>{ir::Full(graph, places.WithDims({1}), 1), begins}, 0);
  const Value outside = ir::ScalarLike(ids, static_cast<double>(table_rows));
  const Value own = (ids - outside) * ir::Convert(begins_run, ids.dtype());
  return {outside + ir::ScatterAdd(ir::ZerosLike(ids), run, own),
          ir::ScatterAdd(ir::ZerosLike(updates), run, ir::Take(updates, sorted[1], 0))};
}

// Below so many rows of the table for each row of the gradient, adding up duplicates costs more
// than going over the whole table.
constexpr int64_t kTableRowsPerRow = 16;

bool IsLargeTable(const ir::ScatteredRows& rows, Value table) {
  return table.dim(0) >= kTableRowsPerRow * rows.indices.shape().size();
}

// A gradient whose elements are the sums of what belongs to them: of a large table's rows those
// that are there several times are added up.
Value Summed(Value gradient) {
  const auto rows = ir::MatchScatterAddIntoZeros(gradient);
  if (!rows || !IsLargeTable(*rows, gradient)) return gradient;
  const ir::ScatteredRows sums = SumDuplicates(*rows, gradient.dim(0));
  return ir::ScatterAdd(gradient.node()->input(0), sums.indices, sums.updates);
}

// Of a gradient that is Summed, rows or not; `f` takes 0 to 0.
template <typename F>
Value Elementwise(Value gradient, F f) {
  const auto rows = ir::MatchScatterAddIntoZeros(gradient);
  if (!rows || !IsLargeTable(*rows, gradient)) return f(gradient);
  return ir::ScatterAdd(gradient.node()->input(0), rows->indices, f(rows->updates));
}

Value SumOfSquaresOfGradient(Value summed) {
  const auto rows = ir::MatchScatterAddIntoZeros(summed);
  return SumOfSquares(rows && IsLargeTable(*rows, summed) ? rows->updates : summed);
}

}  // namespace

Optimizer::Result Optimizer::Apply(std::span<const nn::Variable* const> variables,
                                   std::span<const Value> values, std::span<const Value> gradients,
                                   std::span<const std::vector<Value>> slots, Value step,
                                   Value rate_factor, Value proceed) const {
  Result result;
  ir::Graph& graph = step.graph();
  const ir::Scope scope(graph, "optimizer");
  const Value step_f32 = ir::Convert(step, ir::DType::kF32);
  result.learning_rate = schedule_->Rate(step_f32);
  if (rate_factor) result.learning_rate = result.learning_rate * rate_factor;

  Value squares = ir::Scalar(graph, ir::DType::kF32, 0);
  std::vector<Value> own_squares;
  const bool clips = common_.clipnorm || common_.global_clipnorm || common_.clipvalue;
  std::vector<Value> summed;
  for (const Value& gradient : gradients) {
    summed.push_back(Summed(F32(gradient)));
    own_squares.push_back(SumOfSquaresOfGradient(summed.back()));
    squares = squares + own_squares.back();
  }
  result.gradient_norm = ir::Sqrt(squares);

  for (size_t i = 0; i < variables.size(); ++i) {
    const ir::Scope variable_scope(graph, variables[i]->path);
    Update update;
    update.value = F32(values[i]);
    update.gradient = clips ? summed[i] : F32(gradients[i]);
    update.slots = slots[i];
    update.rate = result.learning_rate;
    update.t = step_f32 + 1.0;
    update.proceed = proceed;
    if (common_.clipnorm) {
      update.gradient = ir::ScaleScattered(update.gradient,
                                           ClipFactor(ir::Sqrt(own_squares[i]), *common_.clipnorm));
    } else if (common_.global_clipnorm) {
      update.gradient = ir::ScaleScattered(
          update.gradient, ClipFactor(result.gradient_norm, *common_.global_clipnorm));
    } else if (common_.clipvalue) {
      update.gradient = Elementwise(update.gradient, [&](Value x) {
        return ir::Min(ir::Max(x, -*common_.clipvalue), *common_.clipvalue);
      });
    }
    Value average;
    if (common_.use_ema) {
      average = update.slots.back();
      update.slots.pop_back();
    }
    const bool excluded =
        std::any_of(common_.exclude_from_weight_decay.begin(),
                    common_.exclude_from_weight_decay.end(), [&](const std::string& part) {
                      return variables[i]->path.find(part) != std::string::npos;
                    });
    const bool decays = common_.weight_decay && *common_.weight_decay > 0 && !excluded;
    if (decays) {
      // Decoupled decay (Loshchilov and Hutter 2017), applied before the step as Keras does.
      update.value = update.value - update.value * (update.rate * *common_.weight_decay);
    }
    Step(update);
    // What Step guarded is only what it did itself.
    bool guarded = update.guarded && !decays;
    if (common_.use_ema) {
      // The first average is the variable itself, so that no bias towards zero needs correcting.
      const Value first = ir::Compare(step, ir::ScalarLike(step, 0), ir::Comparison::kEq);
      const Value momentum = ir::Select(first, ir::Scalar(graph, ir::DType::kF32, 0),
                                        ir::Scalar(graph, ir::DType::kF32, common_.ema_momentum));
      const Value next = momentum * average + (1.0 - momentum) * update.value;
      average = proceed ? ir::Select(proceed, next, average) : next;
      update.slots.push_back(average);
      if (common_.ema_overwrite_frequency) {
        const Value left =
            ir::Rem(step + 1.0,
                    ir::ScalarLike(step, static_cast<double>(*common_.ema_overwrite_frequency)));
        update.value = ir::Select(ir::Eq(left, 0), average, update.value);
        guarded = false;
      }
    }
    // The one rounding of 16-bit variables.
    update.value = ir::Convert(update.value, values[i].dtype());
    if (proceed && !guarded) update.value = ir::Select(proceed, update.value, values[i]);
    result.values.push_back(update.value);
    result.slots.push_back(std::move(update.slots));
  }
  return result;
}

namespace {

void RequireUnit(std::string_view type, std::string_view name, double value) {
  if (!(value >= 0 && value < 1)) {
    throw Invalid("{}: {} must lie in [0, 1), found {}", type, name, value);
  }
}

void RequireNotNegative(std::string_view type, std::string_view name, double value) {
  if (!(value >= 0)) throw Invalid("{}: {} must not be negative, found {}", type, name, value);
}

Slot Like(const nn::Variable& variable, std::string name, double initial = 0) {
  return {std::move(name), variable.shape.WithDType(ir::DType::kF32), initial};
}

// x moved towards target: x + (target - x) * share, which rounds as Keras does.
Value Toward(Value x, Value target, double share) { return x + (target - x) * share; }

// base^t for a scalar t.
Value PowT(Value t, double base) { return ir::Pow(ir::ScalarLike(t, base), t); }

// What a lazy update moves: the rows of an embedding that the batch touches, each once. All other
// rows stand still, where the formulas would have them go on with their momentum.
template <class Update>
std::optional<ir::ScatteredRows> LazyRows(const Update& u) {
  const auto touched = TouchedRows(u);
  if (!touched) return std::nullopt;
  return SumDuplicates(*touched, u.value.dim(0));
}

// --- SGD ----------------------------------------------------------------------------------------

struct SgdOptions {
  static constexpr std::string_view kType = "SGD";
  static constexpr double kRate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  bool lazy = false;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("momentum", momentum);
    v("nesterov", nesterov);
    v("lazy", lazy);
    common.Visit(v);
  }
  void Check() const {
    if (!(momentum >= 0 && momentum <= 1)) {
      throw Invalid("SGD: momentum must lie in [0, 1], found {}", momentum);
    }
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    if (momentum == 0) return {};
    return {Like(variable, "momentum")};
  }
  template <class Update>
  void Step(Update& u) const {
    if (momentum == 0) {
      if (const auto rows = TouchedRows(u)) {
        u.value = ir::ScatterAdd(u.value, rows->indices, rows->updates * (-u.rate));
        u.guarded = true;
        return;
      }
      u.value = u.value - u.gradient * u.rate;
      return;
    }
    if (const auto rows = lazy ? LazyRows(u) : std::nullopt) {
      const Value scaled = rows->updates * u.rate;
      const Value m =
          u.MoveRows(0, *rows, [&](Value old) { return old * (momentum - 1) - scaled; });
      u.value = ir::ScatterAdd(u.value, rows->indices, nesterov ? m * momentum - scaled : m);
      u.guarded = true;
      return;
    }
    const Value scaled = u.gradient * u.rate;
    const Value m = u.SetSlot(0, u.slots[0] * momentum - scaled);
    u.value = nesterov ? u.value + m * momentum - scaled : u.value + m;
  }
};

// --- Adam and its kin ----------------------------------------------------------------------------

// Kingma and Ba 2014, in the "epsilon hat" form of section 2.1; amsgrad: Reddi et al. 2018.
struct AdamOptions {
  static constexpr std::string_view kType = "Adam";
  static constexpr double kRate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false, lazy = false;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    v("epsilon", epsilon);
    v("amsgrad", amsgrad);
    v("lazy", lazy);
    common.Visit(v);
  }
  void Check() const {
    RequireUnit("Adam", "beta_1", beta_1);
    RequireUnit("Adam", "beta_2", beta_2);
    RequireNotNegative("Adam", "epsilon", epsilon);
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    std::vector<Slot> slots = {Like(variable, "momentum"), Like(variable, "velocity")};
    if (amsgrad) slots.push_back(Like(variable, "velocity_hat"));
    return slots;
  }
  template <class Update>
  void Step(Update& u) const {
    const Value alpha = u.rate * ir::Sqrt(1.0 - PowT(u.t, beta_2)) / (1.0 - PowT(u.t, beta_1));
    if (const auto rows = lazy ? LazyRows(u) : std::nullopt) {
      const Value g = rows->updates;
      const Value m = u.MoveRows(0, *rows, [&](Value old) { return (g - old) * (1 - beta_1); });
      Value v =
          u.MoveRows(1, *rows, [&](Value old) { return (ir::Square(g) - old) * (1 - beta_2); });
      if (amsgrad) v = u.MoveRows(2, *rows, [&](Value old) { return ir::Max(v - old, 0); });
      u.value = ir::ScatterAdd(u.value, rows->indices, -(m * alpha) / (ir::Sqrt(v) + epsilon));
      u.guarded = true;
      return;
    }
    const Value m = u.SetSlot(0, Toward(u.slots[0], u.gradient, 1 - beta_1));
    Value v = u.SetSlot(1, Toward(u.slots[1], ir::Square(u.gradient), 1 - beta_2));
    if (amsgrad) v = u.SetSlot(2, ir::Max(u.slots[2], v));
    u.value = u.value - (m * alpha) / (ir::Sqrt(v) + epsilon);
  }
};

struct AdamWOptions : AdamOptions {
  static constexpr std::string_view kType = "AdamW";
  AdamWOptions() { common.weight_decay = 0.004; }
};

// Adam with the infinity norm (Kingma and Ba 2014, section 7.1).
struct AdamaxOptions {
  static constexpr std::string_view kType = "Adamax";
  static constexpr double kRate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    v("epsilon", epsilon);
    common.Visit(v);
  }
  void Check() const {
    RequireUnit("Adamax", "beta_1", beta_1);
    RequireUnit("Adamax", "beta_2", beta_2);
    RequireNotNegative("Adamax", "epsilon", epsilon);
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    return {Like(variable, "momentum"), Like(variable, "norm")};
  }
  template <class Update>
  void Step(Update& u) const {
    const Value m = u.SetSlot(0, Toward(u.slots[0], u.gradient, 1 - beta_1));
    const Value norm = u.SetSlot(1, ir::Max(u.slots[1] * beta_2, ir::Abs(u.gradient)));
    u.value = u.value - u.rate * m / ((1.0 - PowT(u.t, beta_1)) * (norm + epsilon));
  }
};

// Dozat 2015: Adam with Nesterov momentum and its momentum schedule.
struct NadamOptions {
  static constexpr std::string_view kType = "Nadam";
  static constexpr double kRate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    v("epsilon", epsilon);
    common.Visit(v);
  }
  void Check() const {
    RequireUnit("Nadam", "beta_1", beta_1);
    RequireUnit("Nadam", "beta_2", beta_2);
    RequireNotNegative("Nadam", "epsilon", epsilon);
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    return {Like(variable, "momentum"),
            Like(variable, "velocity"),
            {"u_product", ir::Shape::Scalar(ir::DType::kF32), 1}};
  }
  template <class Update>
  void Step(Update& u) const {
    const Value now = beta_1 * (1.0 - 0.5 * PowT(u.t, 0.96));
    const Value next = beta_1 * (1.0 - 0.5 * PowT(u.t + 1.0, 0.96));
    const Value product = u.SetSlot(2, u.slots[2] * now);
    const Value m = u.SetSlot(0, Toward(u.slots[0], u.gradient, 1 - beta_1));
    const Value v = u.SetSlot(1, Toward(u.slots[1], ir::Square(u.gradient), 1 - beta_2));
    const Value m_hat =
        next * m / (1.0 - product * next) + (1.0 - now) * u.gradient / (1.0 - product);
    const Value v_hat = v / (1.0 - PowT(u.t, beta_2));
    u.value = u.value - m_hat * u.rate / (ir::Sqrt(v_hat) + epsilon);
  }
};

// You et al. 2019: Adam's update scaled by the ratio of norms per variable.
struct LambOptions {
  static constexpr std::string_view kType = "Lamb";
  static constexpr double kRate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    v("epsilon", epsilon);
    common.Visit(v);
  }
  void Check() const {
    RequireUnit("Lamb", "beta_1", beta_1);
    RequireUnit("Lamb", "beta_2", beta_2);
    RequireNotNegative("Lamb", "epsilon", epsilon);
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    return {Like(variable, "momentum"), Like(variable, "velocity")};
  }
  template <class Update>
  void Step(Update& u) const {
    const Value m = u.SetSlot(0, Toward(u.slots[0], u.gradient, 1 - beta_1));
    const Value v = u.SetSlot(1, Toward(u.slots[1], ir::Square(u.gradient), 1 - beta_2));
    const Value direction =
        (m / (1.0 - PowT(u.t, beta_1))) / (ir::Sqrt(v / (1.0 - PowT(u.t, beta_2))) + epsilon);
    const Value weight_norm = ir::Sqrt(SumOfSquares(u.value));
    const Value direction_norm = ir::Sqrt(SumOfSquares(direction));
    const Value one = ir::ScalarLike(weight_norm, 1);
    const Value both = ir::And(ir::Gt(weight_norm, 0), ir::Gt(direction_norm, 0));
    const Value ratio = ir::Select(both, weight_norm / ir::Select(both, direction_norm, one), one);
    u.value = u.value - ratio * u.rate * direction;
  }
};

// Chen et al. 2023: the sign of an interpolated momentum.
struct LionOptions {
  static constexpr std::string_view kType = "Lion";
  static constexpr double kRate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.99;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    common.Visit(v);
  }
  void Check() const {
    RequireUnit("Lion", "beta_1", beta_1);
    RequireUnit("Lion", "beta_2", beta_2);
    if (beta_1 <= 0) throw Invalid("Lion: beta_1 must be positive, found {}", beta_1);
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    return {Like(variable, "momentum")};
  }
  template <class Update>
  void Step(Update& u) const {
    const Value m = u.slots[0];
    u.value = u.value - u.rate * ir::Sign(m * beta_1 + u.gradient * (1 - beta_1));
    u.SetSlot(0, m * beta_2 + u.gradient * (1 - beta_2));
  }
};

// --- the Adagrad family --------------------------------------------------------------------------

// Hinton 2012 (lecture 6e); centered: Graves 2013.
struct RmspropOptions {
  static constexpr std::string_view kType = "RMSprop";
  static constexpr double kRate = 0.001;
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("rho", rho);
    v("momentum", momentum);
    v("epsilon", epsilon);
    v("centered", centered);
    common.Visit(v);
  }
  void Check() const {
    RequireUnit("RMSprop", "rho", rho);
    RequireUnit("RMSprop", "momentum", momentum);
    RequireNotNegative("RMSprop", "epsilon", epsilon);
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    std::vector<Slot> slots = {Like(variable, "velocity")};
    if (momentum > 0) slots.push_back(Like(variable, "momentum"));
    if (centered) slots.push_back(Like(variable, "average_gradient"));
    return slots;
  }
  template <class Update>
  void Step(Update& u) const {
    size_t next = 0;
    const Value velocity =
        u.SetSlot(next, u.slots[next] * rho + ir::Square(u.gradient) * (1 - rho));
    ++next;
    const size_t momentum_slot = momentum > 0 ? next++ : 0;
    Value denominator = velocity + epsilon;
    if (centered) {
      const Value mean = u.SetSlot(next, u.slots[next] * rho + u.gradient * (1 - rho));
      denominator = velocity - ir::Square(mean) + epsilon;
    }
    Value change = u.rate * u.gradient * ir::Rsqrt(denominator);
    if (momentum > 0) {
      change = u.SetSlot(momentum_slot, u.slots[momentum_slot] * momentum + change);
    }
    u.value = u.value - change;
  }
};

// Duchi et al. 2011.
struct AdagradOptions {
  static constexpr std::string_view kType = "Adagrad";
  static constexpr double kRate = 0.001;
  double initial_accumulator_value = 0.1, epsilon = 1e-7;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("initial_accumulator_value", initial_accumulator_value);
    v("epsilon", epsilon);
    common.Visit(v);
  }
  void Check() const {
    RequireNotNegative("Adagrad", "initial_accumulator_value", initial_accumulator_value);
    RequireNotNegative("Adagrad", "epsilon", epsilon);
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    return {Like(variable, "accumulator", initial_accumulator_value)};
  }
  template <class Update>
  void Step(Update& u) const {
    const auto step = [&](Value gradient, Value accumulator) {
      return u.rate * gradient / ir::Sqrt(accumulator + epsilon);
    };
    if (const auto touched = TouchedRows(u); touched && IsLargeTable(*touched, u.value)) {
      const ir::ScatteredRows rows = SumDuplicates(*touched, u.value.dim(0));
      // The rows themselves stand still where `proceed` is false: see TouchedRows.
      u.slots[0] = ir::ScatterAdd(u.slots[0], rows.indices, ir::Square(rows.updates));
      const Value accumulator = ir::Take(u.slots[0], rows.indices, 0);
      u.value = ir::ScatterAdd(u.value, rows.indices, -step(rows.updates, accumulator));
      u.guarded = true;
      return;
    }
    u.value = u.value - step(u.gradient, u.SetSlot(0, u.slots[0] + ir::Square(u.gradient)));
  }
};

// McMahan et al. 2013: follow the regularized leader, with the shrinkage of Keras. Divides by the
// learning rate, so a schedule must not start from 0.
struct FtrlOptions {
  static constexpr std::string_view kType = "Ftrl";
  static constexpr double kRate = 0.001;
  double learning_rate_power = -0.5, initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0, l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0, beta = 0;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("learning_rate_power", learning_rate_power);
    v("initial_accumulator_value", initial_accumulator_value);
    v("l1_regularization_strength", l1_regularization_strength);
    v("l2_regularization_strength", l2_regularization_strength);
    v("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength);
    v("beta", beta);
    common.Visit(v);
  }
  void Check() const {
    if (!(learning_rate_power <= 0)) {
      throw Invalid("Ftrl: learning_rate_power must not be positive, found {}",
                    learning_rate_power);
    }
    RequireNotNegative("Ftrl", "initial_accumulator_value", initial_accumulator_value);
    RequireNotNegative("Ftrl", "l1_regularization_strength", l1_regularization_strength);
    RequireNotNegative("Ftrl", "l2_regularization_strength", l2_regularization_strength);
    RequireNotNegative("Ftrl", "l2_shrinkage_regularization_strength",
                       l2_shrinkage_regularization_strength);
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    return {Like(variable, "accumulator", initial_accumulator_value), Like(variable, "linear")};
  }
  template <class Update>
  void Step(Update& u) const {
    const auto scale = [&](Value x) { return ir::Pow(x, ir::ScalarLike(x, -learning_rate_power)); };
    const Value accumulator = u.slots[0] + ir::Square(u.gradient);
    const Value scaled = scale(accumulator);
    const Value gradient = u.gradient + u.value * (2 * l2_shrinkage_regularization_strength);
    const Value linear = u.slots[1] + gradient - (scaled - scale(u.slots[0])) / u.rate * u.value;
    const Value quadratic =
        scaled / u.rate + 2.0 * (l2_regularization_strength + beta / (2.0 * u.rate));
    const Value clipped =
        ir::Min(ir::Max(linear, -l1_regularization_strength), l1_regularization_strength);
    u.SetSlot(0, accumulator);
    u.SetSlot(1, linear);
    u.value = (clipped - linear) / quadratic;
  }
};

// Zeiler 2012.
struct AdadeltaOptions {
  static constexpr std::string_view kType = "Adadelta";
  static constexpr double kRate = 0.001;
  double rho = 0.95, epsilon = 1e-7;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("rho", rho);
    v("epsilon", epsilon);
    common.Visit(v);
  }
  void Check() const {
    RequireUnit("Adadelta", "rho", rho);
    RequireNotNegative("Adadelta", "epsilon", epsilon);
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    return {Like(variable, "accumulated_grad"), Like(variable, "accumulated_delta")};
  }
  template <class Update>
  void Step(Update& u) const {
    const auto rms = [&](Value x) { return ir::Sqrt(x + epsilon); };
    const Value grads = u.SetSlot(0, u.slots[0] * rho + ir::Square(u.gradient) * (1 - rho));
    const Value delta = -(rms(u.slots[1]) * u.gradient / rms(grads));
    u.SetSlot(1, u.slots[1] * rho + ir::Square(delta) * (1 - rho));
    u.value = u.value + u.rate * delta;
  }
};

// Shazeer and Stern 2018: second moments kept as row and column means.
struct AdafactorOptions {
  static constexpr std::string_view kType = "Adafactor";
  static constexpr double kRate = 0.001;
  double beta_2_decay = -0.8, epsilon_1 = 1e-30, epsilon_2 = 1e-3, clip_threshold = 1;
  bool relative_step = true;
  CommonOptions common;
  template <class V>
  void Visit(V& v) {
    v("beta_2_decay", beta_2_decay);
    v("epsilon_1", epsilon_1);
    v("epsilon_2", epsilon_2);
    v("clip_threshold", clip_threshold);
    v("relative_step", relative_step);
    common.Visit(v);
  }
  void Check() const {
    if (!(clip_threshold > 0)) {
      throw Invalid("Adafactor: clip_threshold must be positive, found {}", clip_threshold);
    }
  }
  bool constant_rate() const {
    return common.learning_rate.is_none() || common.learning_rate.is_number();
  }
  std::vector<Slot> Slots(const nn::Variable& variable) const {
    const ir::Dims& dims = variable.shape.dims;
    if (dims.size() < 2) return {Like(variable, "velocity")};
    ir::Dims rows(dims.begin(), dims.end() - 1);
    ir::Dims columns = rows;
    columns.back() = dims.back();
    return {{"r", ir::Shape(ir::DType::kF32, rows), 0},
            {"c", ir::Shape(ir::DType::kF32, columns), 0}};
  }
  template <class Update>
  void Step(Update& u) const {
    const Value limit = 1.0 / ir::Sqrt(u.t);
    const Value rate = relative_step && constant_rate() ? ir::Min(u.rate, limit) : u.rate;
    const Value rho = ir::Min(rate, limit);
    const auto rms = [](Value x) { return ir::Sqrt(ir::ReduceMean(ir::Square(x))); };
    const Value alpha = ir::Max(rms(u.value), epsilon_2) * rho;
    const Value squares = ir::Square(u.gradient) + epsilon_1;
    const Value beta = 1.0 - ir::Pow(u.t, ir::ScalarLike(u.t, beta_2_decay));
    const auto mix = [&](Value old, Value now) { return beta * old + (1.0 - beta) * now; };
    Value velocity;
    if (u.value.rank() >= 2) {
      const Value r = u.SetSlot(0, mix(u.slots[0], ir::ReduceMean(squares, {-1})));
      const Value c = u.SetSlot(1, mix(u.slots[1], ir::ReduceMean(squares, {-2})));
      velocity = ir::ExpandDims(r / ir::ReduceMean(r, {-1}, true), -1) * ir::ExpandDims(c, -2);
    } else {
      velocity = u.SetSlot(0, mix(u.slots[0], squares));
    }
    const Value scaled = u.gradient * ir::Rsqrt(velocity);
    u.value = u.value - alpha * (scaled / ir::Max(rms(scaled) / clip_threshold, 1.0));
  }
};

// --- the table -----------------------------------------------------------------------------------

template <typename Options>
class OptimizerOf : public Optimizer {
 public:
  explicit OptimizerOf(Options options)
      : Optimizer(std::string(Options::kType), options.common, Options::kRate),
        options_(std::move(options)) {}

 protected:
  std::vector<Slot> OwnSlots(const nn::Variable& variable) const override {
    return options_.Slots(variable);
  }
  void Step(Update& update) const override { options_.Step(update); }

 private:
  Options options_;
};

struct OptimizerDef {
  std::string_view type;
  std::unique_ptr<Optimizer> (*make)(const Config& table);
};

template <typename Options>
OptimizerDef Def() {
  return {Options::kType, [](const Config& table) -> std::unique_ptr<Optimizer> {
            Options options;
            ReadOptions(table, "optimizer " + std::string(Options::kType), options);
            return WithContext(table.place().ToString(), [&] {
              options.Check();
              return std::make_unique<OptimizerOf<Options>>(std::move(options));
            });
          }};
}

std::span<const OptimizerDef> OptimizerTable() {
  static const OptimizerDef table[] = {
      Def<SgdOptions>(),       Def<AdamOptions>(),     Def<AdamWOptions>(),  Def<RmspropOptions>(),
      Def<AdagradOptions>(),   Def<AdadeltaOptions>(), Def<AdamaxOptions>(), Def<NadamOptions>(),
      Def<AdafactorOptions>(), Def<LambOptions>(),     Def<LionOptions>(),   Def<FtrlOptions>()};
  return table;
}

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::vector<std::string> OptimizerNames() {
  std::vector<std::string> names;
  for (const OptimizerDef& def : OptimizerTable()) names.emplace_back(def.type);
  return names;
}

std::unique_ptr<Optimizer> OptimizerFromConfig(const Config& value) {
  // A table without a class only changes what Adam is given, the optimizer that is used by default.
  static const Config kDefault(std::string("Adam"));
  const Config* type = value.is_table() ? value.Find("class") : &value;
  if (type == nullptr) type = &kDefault;
  for (const OptimizerDef& def : OptimizerTable()) {
    if (SameName(def.type, type->AsString())) {
      return def.make(value.is_table() ? WithoutKey(value, "class") : Config::Table());
    }
  }
  throw type->Complain(fmt::format("no optimizer is called \"{}\"{}", type->AsString(),
                                   DidYouMean(type->AsString(), OptimizerNames())));
}

}  // namespace flatout::optim
