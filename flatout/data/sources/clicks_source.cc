#include "flatout/data/sources/clicks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "flatout/data/order.h"
#include "flatout/data/register.h"

namespace flatout::data {
namespace {

const std::string kGenerate = "generate";
constexpr double kSqrt3 = 1.7320508075688772;
// A click is rarer than no click.
constexpr double kBias = -1.0;
// Standard deviations of the logit's dense part and of its sparse part.
constexpr double kDenseScale = 1.0;
constexpr double kSparseScale = 1.2;

// 53 random bits to [0, 1).
double Unit(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }
// Mean 0, variance 1.
double Uniform(uint64_t word) { return (2 * Unit(word) - 1) * kSqrt3; }

}  // namespace

ClicksSource::ClicksSource(const ClicksOptions& options, std::string_view split, int64_t first,
                           int64_t count)
    : options_(options), first_(first), count_(count) {
  fields_ = {Field{"dense", ir::Shape(ir::DType::kF32, {kDense})},
             Field{"sparse", ir::Shape(ir::DType::kI32, {options.tables}), options.table_size},
             Field{"label", ir::Shape::Scalar(ir::DType::kF32), 2}};
  const uint64_t model_key = Mix(static_cast<uint64_t>(options.seed) ^ 0x6d6f64656cu);
  for (int64_t j = 0; j < kDense; ++j) {
    dense_weights_[j] = Uniform(Mix(model_key + static_cast<uint64_t>(j))) * kDenseScale /
                        std::sqrt(static_cast<double>(kDense));
  }
  for (int64_t t = 0; t < options.tables; ++t) {
    table_keys_.push_back(Mix(model_key + 1000 + static_cast<uint64_t>(t)));
  }
  description_ = fmt::format("clicks {}: {} records, {}, {} tables of {} rows", split, count_,
                             DescribeFields(fields_), options.tables, options.table_size);
}

void ClicksSource::Generate(int64_t index, Record& record, int32_t* sparse) const {
  // A counter-based generator: word j of record i is a hash of (seed, i, j).
  uint64_t state =
      Mix(Mix(static_cast<uint64_t>(options_.seed)) ^ static_cast<uint64_t>(first_ + index));
  auto next = [&] { return state = Mix(state); };
  double logit = kBias;
  for (int64_t j = 0; j < kDense; ++j) {
    record.dense[j] = static_cast<float>(Uniform(next()));
    logit += dense_weights_[j] * static_cast<double>(record.dense[j]);
  }
  const double sparse_scale = kSparseScale / std::sqrt(static_cast<double>(options_.tables));
  for (size_t t = 0; t < table_keys_.size(); ++t) {
    double u = Unit(next());
    u *= u;
    u *= u;
    auto id = std::min(static_cast<int64_t>(u * static_cast<double>(options_.table_size)),
                       options_.table_size - 1);
    sparse[t] = static_cast<int32_t>(id);
    logit += Uniform(Mix(table_keys_[t] + static_cast<uint64_t>(id))) * sparse_scale;
  }
  record.probability = 1 / (1 + std::exp(-logit));
  record.label = Unit(next()) < record.probability ? 1.0f : 0.0f;
}

void ClicksSource::Read(ReadContext& context, int64_t, std::span<const int64_t> records,
                        Block& out) const {
  const ReadContext::Stage stage(context, kGenerate, static_cast<int64_t>(records.size()));
  auto* dense = out.as<float>(0);
  auto* sparse = out.as<int32_t>(1);
  auto* label = out.as<float>(2);
  Record record;
  for (int64_t index : records) {
    Generate(index, record, sparse);
    std::copy_n(record.dense, kDense, dense);
    *label++ = record.label;
    dense += kDense;
    sparse += options_.tables;
  }
}

double ClicksSource::TrueProbability(int64_t index) const {
  Record record;
  std::vector<int32_t> sparse(static_cast<size_t>(options_.tables));
  Generate(index, record, sparse.data());
  return record.probability;
}

std::optional<BestScore> ClicksSource::best_score() const {
  std::vector<double> probabilities(static_cast<size_t>(count_));
  std::vector<float> labels(static_cast<size_t>(count_));
  std::vector<int32_t> sparse(static_cast<size_t>(options_.tables));
  double drawn = 0, entropy = 0;
  Record record;
  for (int64_t i = 0; i < count_; ++i) {
    Generate(i, record, sparse.data());
    double p = record.probability;
    probabilities[static_cast<size_t>(i)] = p;
    labels[static_cast<size_t>(i)] = record.label;
    drawn -= std::log(record.label > 0 ? p : 1 - p);
    entropy -= p * std::log(p) + (1 - p) * std::log(1 - p);
  }
  auto n = static_cast<double>(count_);
  return BestScore{drawn / n, entropy / n, AreaUnderRoc(probabilities, labels)};
}

double AreaUnderRoc(std::span<const double> scores, std::span<const float> labels) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  // Mann and Whitney's U: for each positive, the negatives ranked below it, and half of its equals.
  double negatives = 0, positives = 0, pairs = 0;
  for (size_t i = 0; i < order.size();) {
    size_t j = i;
    double tied_negatives = 0, tied_positives = 0;
    for (; j < order.size() && scores[order[j]] == scores[order[i]]; ++j) {
      (labels[order[j]] > 0 ? tied_positives : tied_negatives) += 1;
    }
    pairs += tied_positives * (negatives + tied_negatives / 2);
    negatives += tied_negatives;
    positives += tied_positives;
    i = j;
  }
  if (negatives == 0 || positives == 0) return std::numeric_limits<double>::quiet_NaN();
  return pairs / (negatives * positives);
}

SourcePtr OpenClicksSplit(const ClicksOptions& options, std::string_view split) {
  // The splits are stretches of one sequence: train, validation, test.
  int64_t first = 0;
  int64_t count = options.records;
  if (split != "train") {
    first += options.records;
    count = options.validation_records;
  }
  if (split == "test") {
    first += options.validation_records;
    count = options.test_records;
  }
  if (count == 0) return nullptr;
  return std::make_shared<ClicksSource>(options, split, first, count);
}

std::function<SourcePtr(std::string_view)> OpenClicks(FieldReader& reader) {
  ClicksOptions options;
  options.Visit(reader);
  auto check = [&](const char* key, int64_t value, int64_t least, int64_t most) {
    const Config* where = reader.Take(key);
    if (where != nullptr && (value < least || value > most)) {
      throw where->Complain(fmt::format("expected {} to {}, found {}", least, most, value));
    }
  };
  constexpr int64_t kMost = int64_t{1} << 40;
  check("records", options.records, 1, kMost);
  check("validation_records", options.validation_records, 0, kMost);
  check("test_records", options.test_records, 0, kMost);
  check("tables", options.tables, 1, 1024);
  check("table_size", options.table_size, 1, std::numeric_limits<int32_t>::max());
  return [options](std::string_view split) { return OpenClicksSplit(options, split); };
}

FLATOUT_REGISTER(clicks_source) { RegisterSource("clicks", OpenClicks); }

}  // namespace flatout::data
