#include "flatout/nn/metric.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/activation.h"
#include "flatout/nn/loss.h"

namespace flatout::nn {
namespace {

using ir::Value;
using Totals = std::span<const std::vector<double>>;

// Keras's backend.epsilon().
constexpr double kEpsilon = 1e-7;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Value F32(Value x) { return ir::Convert(x, ir::DType::kF32); }

// 0 where Keras divides "without NaN".
double Ratio(double a, double b) { return b == 0 ? 0 : a / b; }

void CheckSameShape(std::string_view metric, Value y_true, Value y_pred) {
  if (y_true.dims() != y_pred.dims()) {
    throw Invalid(
        "metric {}: labels and predictions must have the same shape, found labels {} and "
        "predictions {}",
        metric, y_true.shape().ToString(), y_pred.shape().ToString());
  }
}

// `weights` (the first dimensions of `like`) as a tensor of like's shape; none: ones.
Value BroadcastWeights(Value weights, Value like) {
  if (!weights) return ir::Full(like.graph(), ir::Shape(ir::DType::kF32, like.dims()), 1);
  ir::Dims dims;
  for (int64_t i = 0; i < weights.rank(); ++i) dims.push_back(i);
  if (weights.rank() > like.rank() ||
      !std::equal(weights.dims().begin(), weights.dims().end(), like.dims().begin())) {
    throw Invalid(
        "weights of shape {} do not fit values of shape {}: they must be its first "
        "dimensions",
        weights.shape().ToString(), like.shape().ToString());
  }
  return ir::BroadcastInDim(F32(weights), like.dims(), dims);
}

// --- means
// ----------------------------------------------------------------------------------------

// The weighted mean of a value per sample, perhaps with a function over it.
class MeanMetric : public Metric {
 public:
  std::vector<Value> Sums(Value y_true, Value y_pred, Value row_weights) const override {
    auto [sum, count] = WeightedSum(Values(y_true, y_pred), row_weights);
    return {sum, count};
  }
  double Result(Totals totals) const override {
    const double count = totals[1][0];
    return count == 0 ? kNaN : Finish(totals[0][0] / count);
  }

 protected:
  virtual Value Values(Value y_true, Value y_pred) const = 0;
  virtual double Finish(double mean) const { return mean; }
};

// A metric without arguments: the mean of one function.
struct PlainKind {
  std::string_view class_name, name;
  Value (*values)(Value y_true, Value y_pred);
  double (*finish)(double mean);
};

Value SparseAccuracy(Value y_true, Value y_pred) {
  Value index = AlignIndices(y_true, y_pred);
  return F32(ir::Compare(ir::ArgMax(y_pred, -1), index, ir::Comparison::kEq));
}

Value CategoricalAccuracy(Value y_true, Value y_pred) {
  CheckSameShape("categorical_accuracy", y_true, y_pred);
  return F32(ir::Compare(ir::ArgMax(y_pred, -1), ir::ArgMax(y_true, -1), ir::Comparison::kEq));
}

Value BinaryAccuracy(Value y_true, Value y_pred, double threshold) {
  auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
  CheckSameShape("binary_accuracy", t, p);
  return F32(ir::Compare(F32(ir::Gt(p, threshold)), t, ir::Comparison::kEq));
}

constexpr PlainKind kPlainKinds[] = {
    {"SparseCategoricalAccuracy", "sparse_categorical_accuracy", SparseAccuracy, nullptr},
    {"CategoricalAccuracy", "categorical_accuracy", CategoricalAccuracy, nullptr},
    // Exact equality of labels and predictions.
    {"Accuracy", "exact_accuracy",
     [](Value y_true, Value y_pred) {
       auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
       CheckSameShape("Accuracy", t, p);
       return F32(ir::Compare(t, p, ir::Comparison::kEq));
     },
     nullptr},
    {"Mean", "mean", [](Value, Value y_pred) { return F32(y_pred); }, nullptr},
    {"RootMeanSquaredError", "root_mean_squared_error",
     [](Value y_true, Value y_pred) {
       auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
       CheckSameShape("root_mean_squared_error", t, p);
       return ir::Square(p - t);
     },
     [](double mean) { return std::sqrt(mean); }},
};

class PlainMetric : public MeanMetric {
 public:
  explicit PlainMetric(const PlainKind& kind) : kind_(kind) {}
  std::string name() const override { return std::string(kind_.name); }

 protected:
  Value Values(Value y_true, Value y_pred) const override { return kind_.values(y_true, y_pred); }
  double Finish(double mean) const override {
    return kind_.finish == nullptr ? mean : kind_.finish(mean);
  }

 private:
  const PlainKind& kind_;
};

// "accuracy": which of the three kinds fits.
class AutoAccuracy : public MeanMetric {
 public:
  AutoAccuracy(std::string loss_name, double threshold)
      : loss_name_(std::move(loss_name)), threshold_(threshold) {}
  std::string name() const override { return "accuracy"; }

 protected:
  Value Values(Value y_true, Value y_pred) const override {
    const bool column = y_pred.rank() < 2 || y_pred.dim(-1) == 1;
    if (loss_name_.starts_with("sparse_")) return SparseAccuracy(y_true, y_pred);
    if (loss_name_.starts_with("binary_")) return BinaryAccuracy(y_true, y_pred, threshold_);
    if (loss_name_.starts_with("categorical_")) return CategoricalAccuracy(y_true, y_pred);
    // Other losses tell nothing of the labels' form: go by the shapes, as Keras does.
    if (column) return BinaryAccuracy(y_true, y_pred, threshold_);
    if (y_true.dims() != y_pred.dims()) return SparseAccuracy(y_true, y_pred);
    return CategoricalAccuracy(y_true, y_pred);
  }

 private:
  std::string loss_name_;
  double threshold_;
};

class BinaryAccuracyMetric : public MeanMetric {
 public:
  struct Options {
    double threshold = 0.5;
    template <class V>
    void Visit(V& v) {
      v("threshold", threshold);
    }
  };
  explicit BinaryAccuracyMetric(Options options) : options_(options) {}
  std::string name() const override { return "binary_accuracy"; }

 protected:
  Value Values(Value y_true, Value y_pred) const override {
    return BinaryAccuracy(y_true, y_pred, options_.threshold);
  }

 private:
  Options options_;
};

// 1 where fewer than k predictions are larger than the label's.
class TopKMetric : public MeanMetric {
 public:
  struct Options {
    int64_t k = 5;
    template <class V>
    void Visit(V& v) {
      v("k", k);
    }
  };
  TopKMetric(Options options, bool sparse) : options_(options), sparse_(sparse) {
    if (options_.k < 1)
      throw Invalid("metric {}: k must be at least 1, found {}", name(), options_.k);
  }
  std::string name() const override {
    return sparse_ ? "sparse_top_k_categorical_accuracy" : "top_k_categorical_accuracy";
  }

 protected:
  Value Values(Value y_true, Value y_pred) const override {
    if (!sparse_) CheckSameShape(name(), y_true, y_pred);
    Value index = sparse_ ? AlignIndices(y_true, y_pred) : ir::ArgMax(y_true, -1);
    Value p = F32(y_pred);
    Value own = ir::ExpandDims(ir::PickLast(p, index), -1);
    Value larger = F32(ir::Compare(p, own, ir::Comparison::kGt));
    Value count = ir::ReduceSum(larger, {-1});
    // As TensorFlow's in_top_k: a label outside the classes or a value that is no number misses.
    Value valid = ir::And(ir::IsFinite(ir::Squeeze(own, -1)),
                          ir::And(ir::Ge(index, 0), ir::Lt(index, static_cast<double>(p.dim(-1)))));
    return F32(ir::And(valid, ir::Lt(count, static_cast<double>(options_.k))));
  }

 private:
  Options options_;
  bool sparse_;
};

// The mean of a loss, as a metric.
class LossMetric : public Metric {
 public:
  LossMetric(std::unique_ptr<Loss> loss, std::string name, double (*finish)(double))
      : loss_(std::move(loss)), name_(std::move(name)), finish_(finish) {}
  std::string name() const override { return name_; }
  std::vector<Value> Sums(Value y_true, Value y_pred, Value row_weights) const override {
    auto [sum, count] = loss_->Sums(y_true, y_pred, row_weights);
    return {sum, count};
  }
  double Result(Totals totals) const override {
    const double count = totals[1][0];
    if (count == 0) return kNaN;
    const double mean = totals[0][0] / count;
    return finish_ == nullptr ? mean : finish_(mean);
  }

 private:
  std::unique_ptr<Loss> loss_;
  std::string name_;
  double (*finish_)(double);
};

struct LossMetricRow {
  std::string_view class_name, name;  // of the metric
  std::string_view loss;              // whose arguments it takes
  double (*finish)(double);
};

constexpr LossMetricRow kLossMetrics[] = {
    {"MeanSquaredError", "mean_squared_error", "mean_squared_error", nullptr},
    {"MeanAbsoluteError", "mean_absolute_error", "mean_absolute_error", nullptr},
    {"MeanAbsolutePercentageError", "mean_absolute_percentage_error",
     "mean_absolute_percentage_error", nullptr},
    {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error",
     "mean_squared_logarithmic_error", nullptr},
    {"LogCoshError", "logcosh", "log_cosh", nullptr},
    {"Poisson", "poisson", "poisson", nullptr},
    {"KLDivergence", "kl_divergence", "kl_divergence", nullptr},
    {"Hinge", "hinge", "hinge", nullptr},
    {"SquaredHinge", "squared_hinge", "squared_hinge", nullptr},
    {"CategoricalHinge", "categorical_hinge", "categorical_hinge", nullptr},
    // The metric is the cosine itself, the loss its negative.
    {"CosineSimilarity", "cosine_similarity", "cosine_similarity",
     [](double mean) { return -mean; }},
    {"BinaryCrossentropy", "binary_crossentropy", "binary_crossentropy", nullptr},
    {"CategoricalCrossentropy", "categorical_crossentropy", "categorical_crossentropy", nullptr},
    {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy",
     "sparse_categorical_crossentropy", nullptr},
    {"Perplexity", "perplexity", "sparse_categorical_crossentropy",
     [](double mean) { return std::exp(mean); }},
};

// --- counts of right and wrong
// --------------------------------------------------------------------

// 1 for the k largest of the last axis, first ones first; else 0.
Value TopKMask(Value x, int64_t k) {
  const int64_t classes = x.dim(-1);
  if (k >= classes) return ir::Full(x.graph(), ir::Shape(ir::DType::kF32, x.dims()), 1);
  Value indices = ir::TopK(x, k).second;  // [..., k]
  return ir::ReduceSum(ir::OneHot(indices, classes, ir::DType::kF32), {-2});
}

// Precision (tp / (tp + fp)) and recall (tp / (tp + fn)).
class PrecisionRecall : public Metric {
 public:
  struct Options {
    std::vector<double> thresholds;
    std::optional<int64_t> top_k;
    std::optional<int64_t> class_id;
    template <class V>
    void Visit(V& v) {
      v("thresholds", thresholds);
      v("top_k", top_k);
      v("class_id", class_id);
    }
  };
  PrecisionRecall(Options options, bool recall) : options_(std::move(options)), recall_(recall) {
    if (options_.thresholds.size() > 1) {
      throw Invalid(
          "metric {}: a metric is one number, so `thresholds` takes one value, found {}; list the "
          "metric once per threshold",
          name(), options_.thresholds.size());
    }
    if (!options_.thresholds.empty() &&
        !(options_.thresholds[0] >= 0 && options_.thresholds[0] <= 1)) {
      throw Invalid("metric {}: thresholds must lie in [0, 1], found {}", name(),
                    options_.thresholds[0]);
    }
    if (options_.top_k && *options_.top_k < 1) {
      throw Invalid("metric {}: top_k must be at least 1, found {}", name(), *options_.top_k);
    }
  }
  std::string name() const override { return recall_ ? "recall" : "precision"; }
  std::vector<Value> Sums(Value y_true, Value y_pred, Value row_weights) const override {
    auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
    CheckSameShape(name(), t, p);
    Value predicted;
    const bool have_threshold = !options_.thresholds.empty();
    if (options_.top_k) {
      if (p.rank() < 2) {
        throw Invalid("metric {}: top_k needs predictions [batch, classes], found {}", name(),
                      p.shape().ToString());
      }
      predicted = TopKMask(p, *options_.top_k);
      if (have_threshold) predicted = predicted * F32(ir::Gt(p, options_.thresholds[0]));
    } else {
      predicted = F32(ir::Gt(p, have_threshold ? options_.thresholds[0] : 0.5));
    }
    Value truth = F32(ir::Not(ir::Eq(t, 0)));
    if (options_.class_id) {
      const int64_t id = *options_.class_id;
      if (p.rank() < 2 || id < 0 || id >= p.dim(-1)) {
        throw Invalid("metric {}: class_id {} is outside predictions of shape {}", name(), id,
                      p.shape().ToString());
      }
      predicted = ir::Squeeze(ir::SliceAxis(predicted, -1, id, id + 1), -1);
      truth = ir::Squeeze(ir::SliceAxis(truth, -1, id, id + 1), -1);
    }
    Value weights = BroadcastWeights(row_weights, truth);
    return {ir::ReduceSum(weights * truth * predicted),
            ir::ReduceSum(weights * (recall_ ? truth : predicted))};
  }
  double Result(Totals totals) const override { return Ratio(totals[0][0], totals[1][0]); }

 private:
  Options options_;
  bool recall_;
};

class F1Metric : public Metric {
 public:
  struct Options {
    std::string average;
    std::optional<double> threshold;
    template <class V>
    void Visit(V& v) {
      v("average", average);
      v("threshold", threshold);
    }
  };
  explicit F1Metric(Options options) : options_(std::move(options)) {
    const std::string& a = options_.average;
    if (a != "micro" && a != "macro" && a != "weighted") {
      throw Invalid(
          "metric f1_score is one number per class unless averaged: set average to \"micro\", "
          "\"macro\" or \"weighted\", found \"{}\"",
          a);
    }
    if (options_.threshold && !(*options_.threshold > 0 && *options_.threshold <= 1)) {
      throw Invalid("metric f1_score: threshold must lie in (0, 1], found {}", *options_.threshold);
    }
  }
  std::string name() const override { return "f1_score"; }
  // Per class: true positives, predicted positives, real positives.
  std::vector<Value> Sums(Value y_true, Value y_pred, Value row_weights) const override {
    auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
    CheckSameShape(name(), t, p);
    if (p.rank() != 2) {
      throw Invalid("metric f1_score needs predictions [batch, classes], found {}",
                    p.shape().ToString());
    }
    // Without a threshold the largest prediction counts as positive.
    Value predicted = options_.threshold
                          ? F32(ir::Gt(p, *options_.threshold))
                          : ir::OneHot(ir::ArgMax(p, -1), p.dim(-1), ir::DType::kF32);
    Value weights = BroadcastWeights(row_weights, t);
    return {ir::ReduceSum(weights * t * predicted, {0}), ir::ReduceSum(weights * predicted, {0}),
            ir::ReduceSum(weights * t, {0})};
  }
  double Result(Totals totals) const override {
    const size_t classes = totals[0].size();
    double tp = 0, predicted = 0, real = 0, sum = 0, weighted = 0;
    for (size_t c = 0; c < classes; ++c) {
      tp += totals[0][c];
      predicted += totals[1][c];
      real += totals[2][c];
      // Keras adds epsilon to each denominator; without it a class nobody has gives 0 / 0.
      const double f1 = 2 * totals[0][c] / (totals[1][c] + totals[2][c] + kEpsilon);
      sum += f1;
      weighted += f1 * totals[2][c];
    }
    if (options_.average == "micro") return 2 * tp / (predicted + real + kEpsilon);
    if (options_.average == "macro") return sum / static_cast<double>(classes);
    return Ratio(weighted, real);
  }

 private:
  Options options_;
};

// Area under the ROC or the precision-recall curve, from counts at fixed thresholds: 0, 1 and
// evenly spaced ones between. PR with interpolation after Davis and Goadrich 2006.
class AucMetric : public Metric {
 public:
  struct Options {
    int64_t num_thresholds = 200;
    std::string curve = "ROC";
    std::string summation_method = "interpolation";
    bool from_logits = false;
    template <class V>
    void Visit(V& v) {
      v("num_thresholds", num_thresholds);
      v("curve", curve);
      v("summation_method", summation_method);
      v("from_logits", from_logits);
    }
  };
  explicit AucMetric(Options options) : options_(std::move(options)) {
    if (options_.num_thresholds < 2) {
      throw Invalid("metric auc: num_thresholds must be at least 2, found {}",
                    options_.num_thresholds);
    }
    if (options_.curve != "ROC" && options_.curve != "PR") {
      throw Invalid("metric auc: curve must be \"ROC\" or \"PR\", found \"{}\"", options_.curve);
    }
    const std::string& method = options_.summation_method;
    if (method != "interpolation" && method != "minoring" && method != "majoring") {
      throw Invalid(
          "metric auc: summation_method must be \"interpolation\", \"minoring\" or \"majoring\", "
          "found \"{}\"",
          method);
    }
  }
  std::string name() const override { return "auc"; }
  // Counts of positives and negatives above each threshold, and of all.
  std::vector<Value> Sums(Value y_true, Value y_pred, Value row_weights) const override {
    auto [t, p] = AlignRanks(F32(y_true), F32(y_pred));
    CheckSameShape(name(), t, p);
    if (options_.from_logits) p = ir::Logistic(p);
    const int64_t n = p.shape().size(), thresholds = options_.num_thresholds;
    Value weights = ir::Reshape(BroadcastWeights(row_weights, p), {n});
    Value positive = weights * ir::Reshape(F32(ir::Not(ir::Eq(t, 0))), {n});
    Value negative = weights - positive;
    // A prediction lies above thresholds 0..bucket, where threshold i is i / (thresholds - 1).
    Value bucket = ir::Ceil(ir::Reshape(p, {n}) * static_cast<double>(thresholds - 1)) - 1.0;
    bucket = ir::Max(bucket, 0.0);
    const ir::Shape table(ir::DType::kF32, {thresholds, n});
    Value above = F32(ir::Compare(ir::BroadcastTo(bucket, table.dims),
                                  ir::Iota(p.graph(), table, 0), ir::Comparison::kGe));
    return {ir::ReduceSum(above * positive, {1}), ir::ReduceSum(above * negative, {1}),
            ir::ReduceSum(positive), ir::ReduceSum(negative)};
  }
  double Result(Totals totals) const override {
    const std::vector<double>& tp = totals[0];
    const std::vector<double>& fp = totals[1];
    const double positives = totals[2][0], negatives = totals[3][0];
    if (positives + negatives == 0) return kNaN;
    const size_t n = tp.size();
    double area = 0;
    if (options_.curve == "PR" && options_.summation_method == "interpolation") {
      for (size_t i = 0; i + 1 < n; ++i) {
        const double dtp = tp[i] - tp[i + 1];
        const double above = tp[i] + fp[i], next = tp[i + 1] + fp[i + 1];
        const double slope = Ratio(dtp, std::max(above - next, 0.0));
        const double intercept = tp[i + 1] - slope * next;
        const double ratio = above > 0 && next > 0 ? above / next : 1;
        area += Ratio(slope * (dtp + intercept * std::log(ratio)), positives);
      }
      return area;
    }
    const auto point = [&](size_t i) -> std::pair<double, double> {
      const double recall = Ratio(tp[i], positives);
      if (options_.curve == "ROC") return {Ratio(fp[i], negatives), recall};
      return {recall, Ratio(tp[i], tp[i] + fp[i])};
    };
    for (size_t i = 0; i + 1 < n; ++i) {
      const auto [x0, y0] = point(i);
      const auto [x1, y1] = point(i + 1);
      const double height = options_.summation_method == "interpolation" ? (y0 + y1) / 2
                            : options_.summation_method == "minoring"    ? std::min(y0, y1)
                                                                         : std::max(y0, y1);
      area += (x0 - x1) * height;
    }
    return area;
  }

 private:
  Options options_;
};

// --- the table
// ------------------------------------------------------------------------------------

template <typename Options>
Options ReadMetricOptions(const Config* table, std::string_view name, Options options = {}) {
  if (table != nullptr) {
    FieldReader reader(*table, "metric " + std::string(name));
    reader.Take("class");
    options.Visit(reader);
    reader.Finish();
  }
  return options;
}

struct NoOptions {
  template <class V>
  void Visit(V&) {}
};

struct MetricRow {
  std::string_view class_name, name;
  // from_logits: what the loss takes.
  std::unique_ptr<Metric> (*make)(const Config* table, bool from_logits);
};

constexpr MetricRow kRows[] = {
    {"BinaryAccuracy", "binary_accuracy",
     [](const Config* table, bool) -> std::unique_ptr<Metric> {
       return std::make_unique<BinaryAccuracyMetric>(
           ReadMetricOptions<BinaryAccuracyMetric::Options>(table, "BinaryAccuracy"));
     }},
    {"SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy",
     [](const Config* table, bool) -> std::unique_ptr<Metric> {
       return std::make_unique<TopKMetric>(
           ReadMetricOptions<TopKMetric::Options>(table, "SparseTopKCategoricalAccuracy"), true);
     }},
    {"TopKCategoricalAccuracy", "top_k_categorical_accuracy",
     [](const Config* table, bool) -> std::unique_ptr<Metric> {
       return std::make_unique<TopKMetric>(
           ReadMetricOptions<TopKMetric::Options>(table, "TopKCategoricalAccuracy"), false);
     }},
    {"AUC", "auc",
     [](const Config* table, bool from_logits) -> std::unique_ptr<Metric> {
       AucMetric::Options options;
       options.from_logits = from_logits;
       return std::make_unique<AucMetric>(ReadMetricOptions(table, "AUC", std::move(options)));
     }},
    {"Precision", "precision",
     [](const Config* table, bool) -> std::unique_ptr<Metric> {
       return std::make_unique<PrecisionRecall>(
           ReadMetricOptions<PrecisionRecall::Options>(table, "Precision"), false);
     }},
    {"Recall", "recall",
     [](const Config* table, bool) -> std::unique_ptr<Metric> {
       return std::make_unique<PrecisionRecall>(
           ReadMetricOptions<PrecisionRecall::Options>(table, "Recall"), true);
     }},
    {"F1Score", "f1_score",
     [](const Config* table, bool) -> std::unique_ptr<Metric> {
       return std::make_unique<F1Metric>(ReadMetricOptions<F1Metric::Options>(table, "F1Score"));
     }},
};

struct Alias {
  std::string_view alias, name;
};
constexpr Alias kAliases[] = {
    {"top_k", "top_k_categorical_accuracy"},
    {"sparse_top_k", "sparse_top_k_categorical_accuracy"},
    {"AUC", "auc"},
    {"mse", "mean_squared_error"},
    {"MSE", "mean_squared_error"},
    {"mae", "mean_absolute_error"},
    {"MAE", "mean_absolute_error"},
    {"mape", "mean_absolute_percentage_error"},
    {"msle", "mean_squared_logarithmic_error"},
    {"rmse", "root_mean_squared_error"},
    {"log_cosh", "logcosh"},
    {"bce", "binary_crossentropy"},
    {"f1", "f1_score"},
};

std::unique_ptr<Metric> MakeMetric(std::string_view name, const Config* table,
                                   const std::string& loss_name, bool from_logits) {
  for (const Alias& alias : kAliases) {
    if (alias.alias == name) {
      name = alias.name;
      break;
    }
  }
  if (name == "accuracy" || name == "acc") {
    ReadMetricOptions<NoOptions>(table, "accuracy");
    return std::make_unique<AutoAccuracy>(loss_name, from_logits ? 0 : 0.5);
  }
  for (const MetricRow& row : kRows) {
    if (row.class_name == name || row.name == name) return row.make(table, from_logits);
  }
  for (const PlainKind& kind : kPlainKinds) {
    if (kind.class_name == name || kind.name == name) {
      ReadMetricOptions<NoOptions>(table, kind.class_name);
      return std::make_unique<PlainMetric>(kind);
    }
  }
  for (const LossMetricRow& row : kLossMetrics) {
    if (row.class_name != name && row.name != name) continue;
    // The same arguments under the loss's class.
    Config config = table != nullptr ? *table : Config::Table();
    config.Set("class", Config(std::string(row.loss)));
    if (from_logits && row.loss.ends_with("_crossentropy") &&
        config.Find("from_logits") == nullptr) {
      config.Set("from_logits", Config(true));
    }
    return std::make_unique<LossMetric>(LossFromConfig(config), std::string(row.name), row.finish);
  }
  return nullptr;
}

std::unique_ptr<Metric> MakeFromConfig(const Config& value, const std::string& loss_name,
                                       bool from_logits) {
  const Config* name = &value;
  const Config* table = nullptr;
  if (value.is_table()) {
    table = &value;
    name = value.Find("class");
    if (name == nullptr) {
      throw value.Complain(
          "a metric's table needs its name, for example {class = \"AUC\", from_logits = true}");
    }
  } else if (!value.is_string()) {
    throw value.Complain("expected a metric's name or a table {class = \"...\"}, found " +
                         value.Describe());
  }
  std::unique_ptr<Metric> metric;
  try {
    metric = MakeMetric(name->AsString(), table, loss_name, from_logits);
  } catch (UserError& error) {
    const std::string place = value.place().ToString();
    if (std::string(error.what()).find(place) == std::string::npos) error.AddContext(place);
    throw;
  }
  if (metric != nullptr) return metric;
  std::string all;
  for (const std::string& known : MetricNames()) all += (all.empty() ? "" : ", ") + known;
  throw name->Complain("unknown metric \"" + name->AsString() + "\"" +
                       DidYouMean(name->AsString(), MetricNames()) + "; known are " + all);
}

}  // namespace

std::unique_ptr<Metric> MetricFromConfig(const Config& value, const std::string& loss_name) {
  return MakeFromConfig(value, loss_name, false);
}

std::unique_ptr<Metric> MetricFromConfig(const Config& value, const Loss& loss) {
  return MakeFromConfig(value, loss.name(), loss.from_logits());
}

std::vector<std::string> MetricNames() {
  std::vector<std::string> names = {"accuracy"};
  for (const MetricRow& row : kRows) names.emplace_back(row.name);
  for (const PlainKind& kind : kPlainKinds) names.emplace_back(kind.name);
  for (const LossMetricRow& row : kLossMetrics) names.emplace_back(row.name);
  return names;
}

}  // namespace flatout::nn
