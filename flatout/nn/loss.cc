#include "flatout/nn/loss.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/activation.h"

namespace flatout::nn {
namespace {

using ir::Value;

// Keras's backend.epsilon(): how far probabilities are kept from 0 and 1.
constexpr double kEpsilon = 1e-7;

Value F32(Value x) { return ir::Convert(x, ir::DType::kF32); }

Value Clip(Value x, double low, double high) {
  return ir::Clamp(ir::ScalarLike(x, low), x, ir::ScalarLike(x, high));
}

Value ClipProbability(Value p) { return Clip(p, kEpsilon, 1 - kEpsilon); }

// log(1 + exp(x)), derivative 1/2 at 0.
Value Softplus(Value x) { return Activate("softplus", x); }

// Mean over the last dimension; a vector [batch] is its own mean per sample.
Value MeanLast(Value x) { return x.rank() < 2 ? x : ir::ReduceMean(x, {-1}); }

void CheckSameShape(std::string_view loss, Value y_true, Value y_pred) {
  if (y_true.dims() != y_pred.dims()) {
    throw Invalid(
        "loss {}: labels and predictions must have the same shape, found labels {} and predictions "
        "{}; class indices need a sparse_ loss",
        loss, y_true.shape().ToString(), y_pred.shape().ToString());
  }
}

int64_t CheckAxis(std::string_view loss, int64_t axis, Value x) {
  if (axis < -x.rank() || axis >= x.rank()) {
    throw Invalid("loss {}: axis {} is outside predictions of shape {}", loss, axis,
                  x.shape().ToString());
  }
  return axis < 0 ? axis + x.rank() : axis;
}

void CheckSmoothing(std::string_view loss, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1)) {
    throw Invalid("loss {}: label_smoothing must lie in [0, 1], found {}", loss, smoothing);
  }
}

struct NoOptions {
  template <class V>
  void Visit(V&) {}
};

// --- losses over element pairs, averaged over the last dimension ---------------------------------

struct ElementKind {
  std::string_view class_name, name;
  Value (*per_sample)(Value y_true, Value y_pred);
};

// Labels 0 and 1 become -1 and 1 when the whole batch has no others, as Keras has it.
Value HingeLabels(Value y) {
  Value binary = ir::Or(ir::Eq(y, 0), ir::Eq(y, 1));
  Value all = ir::Reduce(ir::Reduction::kAnd, binary);
  return ir::Select(all, y * 2.0 - 1.0, y);
}

constexpr ElementKind kElementKinds[] = {
    {"MeanSquaredError", "mean_squared_error",
     [](Value t, Value p) { return MeanLast(ir::Square(p - t)); }},
    {"MeanAbsoluteError", "mean_absolute_error",
     [](Value t, Value p) { return MeanLast(ir::Abs(p - t)); }},
    {"MeanAbsolutePercentageError", "mean_absolute_percentage_error",
     [](Value t, Value p) {
       return MeanLast(ir::Abs((t - p) / ir::Max(ir::Abs(t), kEpsilon))) * 100.0;
     }},
    {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error",
     [](Value t, Value p) {
       Value difference = ir::Log1p(ir::Max(p, kEpsilon)) - ir::Log1p(ir::Max(t, kEpsilon));
       return MeanLast(ir::Square(difference));
     }},
    // log(cosh(x)) = x + softplus(-2x) - log 2, which cannot overflow.
    {"LogCosh", "log_cosh",
     [](Value t, Value p) {
       Value x = p - t;
       return MeanLast(x + Softplus(x * -2.0) - std::numbers::ln2);
     }},
    {"Poisson", "poisson",
     [](Value t, Value p) { return MeanLast(p - t * ir::Log(p + kEpsilon)); }},
    {"KLDivergence", "kl_divergence",
     [](Value t, Value p) {
       Value truth = Clip(t, kEpsilon, 1);
       return ir::ReduceSum(truth * (ir::Log(truth) - ir::Log(Clip(p, kEpsilon, 1))), {-1});
     }},
    {"Hinge", "hinge",
     [](Value t, Value p) { return MeanLast(ir::Max(1.0 - HingeLabels(t) * p, 0.0)); }},
    {"SquaredHinge", "squared_hinge",
     [](Value t, Value p) { return MeanLast(ir::Square(ir::Max(1.0 - HingeLabels(t) * p, 0.0))); }},
    {"CategoricalHinge", "categorical_hinge",
     [](Value t, Value p) {
       Value positive = ir::ReduceSum(t * p, {-1});
       Value negative = ir::ReduceMax((1.0 - t) * p, {-1});
       return ir::Max(negative - positive + 1.0, 0.0);
     }},
};

class ElementLoss : public Loss {
 public:
  explicit ElementLoss(const ElementKind& kind) : kind_(kind) {}
  std::string name() const override { return std::string(kind_.name); }
  Value Call(Value y_true, Value y_pred) const override {
    auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
    CheckSameShape(kind_.name, t, p);
    return kind_.per_sample(t, p);
  }

 private:
  const ElementKind& kind_;
};

// --- losses with arguments
// ------------------------------------------------------------------------

class HuberLoss : public Loss {
 public:
  struct Options {
    static constexpr std::string_view kClass = "Huber", kName = "huber";
    double delta = 1;
    template <class V>
    void Visit(V& v) {
      v("delta", delta);
    }
  };
  explicit HuberLoss(Options options) : options_(options) {
    if (!(options_.delta > 0)) {
      throw Invalid("loss huber: delta must be positive, found {}", options_.delta);
    }
  }
  std::string name() const override { return "huber"; }
  // Quadratic up to delta, linear beyond.
  Value Call(Value y_true, Value y_pred) const override {
    auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
    CheckSameShape("huber", t, p);
    const double delta = options_.delta;
    Value error = p - t, magnitude = ir::Abs(error);
    Value inside = ir::Compare(magnitude, ir::ScalarLike(magnitude, delta), ir::Comparison::kLe);
    return MeanLast(
        ir::Select(inside, ir::Square(error) * 0.5, magnitude * delta - 0.5 * delta * delta));
  }

 private:
  Options options_;
};

class CosineLoss : public Loss {
 public:
  struct Options {
    static constexpr std::string_view kClass = "CosineSimilarity", kName = "cosine_similarity";
    int64_t axis = -1;
    template <class V>
    void Visit(V& v) {
      v("axis", axis);
    }
  };
  explicit CosineLoss(Options options) : options_(options) {}
  std::string name() const override { return "cosine_similarity"; }
  // -cos of the angle: -1 for equal directions; 0 where either is the zero vector.
  Value Call(Value y_true, Value y_pred) const override {
    auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
    CheckSameShape(name(), t, p);
    const int64_t axis = CheckAxis(name(), options_.axis, p);
    const auto unit = [axis](Value x) {
      Value sum = ir::ReduceSum(ir::Square(x), {axis}, true);
      return x * ir::Rsqrt(ir::Max(sum, kEpsilon * kEpsilon));
    };
    return -ir::ReduceSum(unit(t) * unit(p), {axis});
  }

 private:
  Options options_;
};

class BinaryCrossentropyLoss : public Loss {
 public:
  struct Options {
    static constexpr std::string_view kClass = "BinaryCrossentropy", kName = "binary_crossentropy";
    bool from_logits = false;
    double label_smoothing = 0;
    int64_t axis = -1;
    // Focal form (Lin et al. 2018).
    bool focal = false;
    bool apply_class_balancing = false;
    double alpha = 0.25;
    double gamma = 2;
    template <class V>
    void Visit(V& v) {
      v("from_logits", from_logits);
      v("label_smoothing", label_smoothing);
      v("axis", axis);
    }
  };
  struct FocalOptions : Options {
    static constexpr std::string_view kClass = "BinaryFocalCrossentropy",
                                      kName = "binary_focal_crossentropy";
    FocalOptions() { focal = true; }
    template <class V>
    void Visit(V& v) {
      Options::Visit(v);
      v("apply_class_balancing", apply_class_balancing);
      v("alpha", alpha);
      v("gamma", gamma);
    }
  };
  explicit BinaryCrossentropyLoss(Options options) : options_(options) {
    CheckSmoothing(name(), options_.label_smoothing);
  }
  std::string name() const override {
    return std::string(options_.focal ? FocalOptions::kName : Options::kName);
  }
  bool from_logits() const override { return options_.from_logits; }
  Value Call(Value y_true, Value y_pred) const override {
    auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
    CheckSameShape(name(), t, p);
    if (options_.label_smoothing > 0) {
      t = t * (1 - options_.label_smoothing) + 0.5 * options_.label_smoothing;
    }
    Value loss;
    if (options_.from_logits) {
      // -t log s(x) - (1 - t) log(1 - s(x)) = softplus(x) - t x.
      loss = Softplus(p) - t * p;
    } else {
      p = ClipProbability(p);
      loss = -(t * ir::Log(p) + (1.0 - t) * ir::Log(1.0 - p));
    }
    if (options_.focal) {
      Value probability = options_.from_logits ? ir::Logistic(p) : p;
      Value right = t * probability + (1.0 - t) * (1.0 - probability);
      loss = ir::Pow(1.0 - right, ir::ScalarLike(right, options_.gamma)) * loss;
      if (options_.apply_class_balancing) {
        loss = (t * options_.alpha + (1.0 - t) * (1 - options_.alpha)) * loss;
      }
    }
    if (loss.rank() < 2) return loss;
    return ir::ReduceMean(loss, {CheckAxis(name(), options_.axis, loss)});
  }

 private:
  Options options_;
};

class CategoricalCrossentropyLoss : public Loss {
 public:
  struct Options {
    static constexpr std::string_view kClass = "CategoricalCrossentropy",
                                      kName = "categorical_crossentropy";
    bool from_logits = false;
    double label_smoothing = 0;
    int64_t axis = -1;
    bool focal = false;
    double alpha = 0.25;
    double gamma = 2;
    template <class V>
    void Visit(V& v) {
      v("from_logits", from_logits);
      v("label_smoothing", label_smoothing);
      v("axis", axis);
    }
  };
  struct FocalOptions : Options {
    static constexpr std::string_view kClass = "CategoricalFocalCrossentropy",
                                      kName = "categorical_focal_crossentropy";
    FocalOptions() { focal = true; }
    template <class V>
    void Visit(V& v) {
      Options::Visit(v);
      v("alpha", alpha);
      v("gamma", gamma);
    }
  };
  explicit CategoricalCrossentropyLoss(Options options) : options_(options) {
    CheckSmoothing(name(), options_.label_smoothing);
  }
  std::string name() const override {
    return std::string(options_.focal ? FocalOptions::kName : Options::kName);
  }
  bool from_logits() const override { return options_.from_logits; }
  Value Call(Value y_true, Value y_pred) const override {
    Value t = F32(y_true), p = F32(y_pred);
    CheckSameShape(name(), t, p);
    const int64_t axis = CheckAxis(name(), options_.axis, p);
    if (options_.label_smoothing > 0) {
      t = t * (1 - options_.label_smoothing) +
          options_.label_smoothing / static_cast<double>(p.dim(axis));
    }
    if (!options_.focal) {
      if (options_.from_logits) {
        // sum_c t_c (logsumexp(x) - x_c): the labels need not sum to 1.
        return ir::ReduceSum(t * (ir::LogSumExp(p, axis, true) - p), {axis});
      }
      p = ClipProbability(p / ir::ReduceSum(p, {axis}, true));
      return -ir::ReduceSum(t * ir::Log(p), {axis});
    }
    Value log_probability;
    if (options_.from_logits) {
      log_probability = p - ir::LogSumExp(p, axis, true);
      p = ir::Exp(log_probability);
    } else {
      p = ClipProbability(p / ir::ReduceSum(p, {axis}, true));
      log_probability = ir::Log(p);
    }
    Value factor = ir::Pow(1.0 - p, ir::ScalarLike(p, options_.gamma)) * options_.alpha;
    return -ir::ReduceSum(factor * t * log_probability, {axis});
  }

 private:
  Options options_;
};

class SparseCategoricalCrossentropyLoss : public Loss {
 public:
  struct Options {
    static constexpr std::string_view kClass = "SparseCategoricalCrossentropy",
                                      kName = "sparse_categorical_crossentropy";
    bool from_logits = false;
    std::optional<int64_t> ignore_class;
    int64_t axis = -1;
    template <class V>
    void Visit(V& v) {
      v("from_logits", from_logits);
      v("ignore_class", ignore_class);
      v("axis", axis);
    }
  };
  explicit SparseCategoricalCrossentropyLoss(Options options) : options_(options) {}
  std::string name() const override { return std::string(Options::kName); }
  bool from_logits() const override { return options_.from_logits; }
  Value Call(Value y_true, Value y_pred) const override {
    Value x = ClassesLast(y_pred);
    Value index = AlignIndices(y_true, x);
    const int64_t classes = x.dim(-1);
    Value loss;
    if (options_.from_logits) {
      loss = ir::SparseCrossEntropy(ir::IsLowPrecision(x.dtype()) ? x : F32(x), index);
    } else {
      // log p_y - log sum p: probabilities that do not sum to 1 are scaled so that they do.
      x = F32(x);
      x = ir::Log(ClipProbability(x / ir::ReduceSum(x, {-1}, true)));
      loss = -ir::PickLast(x, index);
    }
    Value valid = ir::And(ir::Ge(index, 0), ir::Lt(index, static_cast<double>(classes)));
    loss = ir::Select(valid, loss,
                      ir::Full(x.graph(), loss.shape(), std::numeric_limits<double>::quiet_NaN()));
    if (!options_.ignore_class) return loss;
    return ir::Select(Ignored(index), ir::ZerosLike(loss), loss);
  }
  Value ElementWeights(Value y_true, Value y_pred) const override {
    if (!options_.ignore_class) return {};
    Value index = AlignIndices(y_true, ClassesLast(y_pred));
    return 1.0 - F32(Ignored(index));
  }

 private:
  Value Ignored(Value index) const {
    return ir::Eq(index, static_cast<double>(*options_.ignore_class));
  }
  // Moves the class axis to the end.
  Value ClassesLast(Value x) const {
    const int64_t axis = CheckAxis(name(), options_.axis, x);
    if (axis == x.rank() - 1) return x;
    ir::Dims order;
    for (int64_t i = 0; i < x.rank(); ++i) {
      if (i != axis) order.push_back(i);
    }
    order.push_back(axis);
    return ir::Transpose(x, order);
  }

  Options options_;
};

// --- the table
// ------------------------------------------------------------------------------------

struct LossRow {
  std::string_view class_name, name;
  std::unique_ptr<Loss> (*make)(const Config* table, const LossRow& row);
};

// Keys "class" and "name" are for everybody; the rest is the loss's own.
template <typename Options>
void ReadLossOptions(const Config* table, std::string_view class_name, Options& options) {
  if (table == nullptr) return;
  FieldReader reader(*table, "loss " + std::string(class_name));
  reader.Take("class");
  options.Visit(reader);
  reader.Finish();
}

template <typename L, typename Options>
constexpr LossRow Row() {
  return {Options::kClass, Options::kName,
          [](const Config* table, const LossRow& row) -> std::unique_ptr<Loss> {
            Options options;
            ReadLossOptions(table, row.class_name, options);
            return std::make_unique<L>(options);
          }};
}

constexpr LossRow kRows[] = {
    Row<SparseCategoricalCrossentropyLoss, SparseCategoricalCrossentropyLoss::Options>(),
    Row<CategoricalCrossentropyLoss, CategoricalCrossentropyLoss::Options>(),
    Row<CategoricalCrossentropyLoss, CategoricalCrossentropyLoss::FocalOptions>(),
    Row<BinaryCrossentropyLoss, BinaryCrossentropyLoss::Options>(),
    Row<BinaryCrossentropyLoss, BinaryCrossentropyLoss::FocalOptions>(),
    Row<HuberLoss, HuberLoss::Options>(),
    Row<CosineLoss, CosineLoss::Options>(),
};

// Keras's short names.
struct Alias {
  std::string_view alias, name;
};
constexpr Alias kAliases[] = {
    {"mse", "mean_squared_error"},
    {"MSE", "mean_squared_error"},
    {"mae", "mean_absolute_error"},
    {"MAE", "mean_absolute_error"},
    {"mape", "mean_absolute_percentage_error"},
    {"MAPE", "mean_absolute_percentage_error"},
    {"msle", "mean_squared_logarithmic_error"},
    {"MSLE", "mean_squared_logarithmic_error"},
    {"bce", "binary_crossentropy"},
    {"BCE", "binary_crossentropy"},
    {"kld", "kl_divergence"},
    {"KLD", "kl_divergence"},
    {"kullback_leibler_divergence", "kl_divergence"},
    {"logcosh", "log_cosh"},
};

std::unique_ptr<Loss> MakeLoss(std::string_view name, const Config* table) {
  for (const Alias& alias : kAliases) {
    if (alias.alias == name) {
      name = alias.name;
      break;
    }
  }
  for (const LossRow& row : kRows) {
    if (row.name == name || row.class_name == name) return row.make(table, row);
  }
  for (const ElementKind& kind : kElementKinds) {
    if (kind.name == name || kind.class_name == name) {
      NoOptions none;
      ReadLossOptions(table, kind.class_name, none);
      return std::make_unique<ElementLoss>(kind);
    }
  }
  return nullptr;
}

}  // namespace

Value Loss::ElementWeights(Value, Value) const { return {}; }

std::pair<Value, Value> Loss::Sums(Value y_true, Value y_pred, Value row_weights) const {
  Value values = Call(y_true, y_pred);
  Value counts = ElementWeights(y_true, y_pred);
  if (!counts) return WeightedSum(values, row_weights);
  // Ignored elements are 0 in `values`; in the sum of weights they must not count either.
  return {WeightedSum(values, row_weights).first, WeightedSum(counts, row_weights).first};
}

std::unique_ptr<Loss> LossFromConfig(const Config& value) {
  const Config* name = &value;
  const Config* table = nullptr;
  if (value.is_table()) {
    table = &value;
    name = value.Find("class");
    if (name == nullptr) {
      throw value.Complain(
          "a loss's table needs its name, for example {class = \"SparseCategoricalCrossentropy\", "
          "from_logits = true}");
    }
  } else if (!value.is_string()) {
    throw value.Complain("expected a loss's name or a table {class = \"...\"}, found " +
                         value.Describe());
  }
  std::unique_ptr<Loss> loss;
  try {
    loss = MakeLoss(name->AsString(), table);
  } catch (UserError& error) {
    if (error.message().find(value.place().ToString()) == std::string::npos) {
      error.AddContext(value.place().ToString());
    }
    throw;
  }
  if (loss != nullptr) return loss;
  std::string all;
  for (const std::string& known : LossNames()) all += (all.empty() ? "" : ", ") + known;
  throw name->Complain("unknown loss \"" + name->AsString() + "\"" +
                       DidYouMean(name->AsString(), LossNames()) + "; known are " + all);
}

std::vector<std::string> LossNames() {
  std::vector<std::string> names;
  for (const LossRow& row : kRows) names.emplace_back(row.name);
  for (const ElementKind& kind : kElementKinds) names.emplace_back(kind.name);
  return names;
}

std::pair<Value, Value> WeightedSum(Value values, Value row_weights) {
  ir::Graph& graph = values.graph();
  if (!row_weights) {
    return {ir::ReduceSum(values),
            ir::Scalar(graph, ir::DType::kF32, static_cast<double>(values.shape().size()))};
  }
  const int64_t rank = row_weights.rank();
  if (rank > values.rank() ||
      !std::equal(row_weights.dims().begin(), row_weights.dims().end(), values.dims().begin())) {
    throw Invalid(
        "weights of shape {} do not fit values of shape {}: they must be its first dimensions",
        row_weights.shape().ToString(), values.shape().ToString());
  }
  int64_t repeats = 1;
  ir::Dims inner;
  for (int64_t i = rank; i < values.rank(); ++i) {
    repeats *= values.dim(i);
    inner.push_back(i);
  }
  // Elements of one row share a weight: sum them first.
  Value rows = inner.empty() ? values : ir::ReduceSum(values, inner);
  Value total = ir::ReduceSum(row_weights);
  return {ir::ReduceSum(rows * row_weights),
          repeats == 1 ? total : total * static_cast<double>(repeats)};
}

std::pair<Value, Value> AlignRanks(Value y_true, Value y_pred) {
  if (y_true.rank() == y_pred.rank() + 1 && y_true.dim(-1) == 1) {
    if (y_pred.rank() == 1) return {y_true, ir::ExpandDims(y_pred, -1)};
    return {ir::Squeeze(y_true, -1), y_pred};
  }
  if (y_pred.rank() == y_true.rank() + 1 && y_pred.dim(-1) == 1) {
    if (y_true.rank() == 1) return {ir::ExpandDims(y_true, -1), y_pred};
    return {y_true, ir::Squeeze(y_pred, -1)};
  }
  return {y_true, y_pred};
}

Value AlignIndices(Value y_true, Value y_pred) {
  if (y_true.rank() == y_pred.rank() && y_true.rank() > 0 && y_true.dim(-1) == 1) {
    y_true = ir::Squeeze(y_true, -1);
  }
  ir::Dims expected(y_pred.dims().begin(), y_pred.dims().end() - (y_pred.rank() > 0 ? 1 : 0));
  if (y_pred.rank() == 0 || y_true.dims() != expected) {
    throw Invalid(
        "class indices must have the predictions' shape without the last dimension, {}, found {} "
        "for predictions {}",
        ir::DimsToString(expected), y_true.shape().ToString(), y_pred.shape().ToString());
  }
  return ir::ToIndex(y_true);
}

}  // namespace flatout::nn
