// Generated clicks: a recommender's data set whose best possible score is known.
//
// Record i is a pure function of (seed, i), so no file is needed and any record can be read at
// once.
//   dense  f32[13]     uniform in [-sqrt(3), sqrt(3)): mean 0, variance 1
//   sparse i32[tables] ids; id k of a table of T rows is drawn as floor(T u^4), so that its
//                      probability falls like k^(-3/4), the shape of Zipf's law
//   label  f32         1 with probability p, else 0:
//                      logit(p) = bias + sum_j w_j dense_j + sum_t v_t[sparse_t]
// The weights w and v[t][id] are computed from the seed by a hash, so tables of any size cost no
// memory. p is known, and with it the score that no model can beat in expectation: BestScore.
#pragma once

#include <functional>
#include <string>

#include "flatout/data/source.h"

namespace flatout::data {

struct ClicksOptions {
  int64_t records = 1000000;  // of train
  int64_t validation_records = 50000;
  int64_t test_records = 50000;
  int64_t tables = 8;
  int64_t table_size = 100000;  // rows of each table
  int64_t seed = 1;             // of the data, not of the order

  template <class V>
  void Visit(V& v) {
    v("records", records);
    v("validation_records", validation_records);
    v("test_records", test_records);
    v("tables", tables);
    v("table_size", table_size);
    v("seed", seed);
  }
};

class ClicksSource : public Source {
 public:
  static constexpr int64_t kDense = 13;

  // Records first..first+count-1 of the endless sequence that the seed defines.
  ClicksSource(const ClicksOptions& options, std::string_view split, int64_t first, int64_t count);

  int64_t size() const override { return count_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override;
  const std::string& description() const override { return description_; }
  // Reads all records once: O(N log N).
  std::optional<BestScore> best_score() const override;

  // P(label = 1) of record i.
  double TrueProbability(int64_t index) const;

 private:
  struct Record {
    float dense[kDense];
    float label;
    double probability;
  };
  void Generate(int64_t index, Record& record, int32_t* sparse) const;

  ClicksOptions options_;
  int64_t first_;
  int64_t count_;
  double dense_weights_[kDense];
  std::vector<uint64_t> table_keys_;
  std::vector<Field> fields_;
  std::string description_;
};

// Area under the ROC curve, ties counting half. NaN when all labels are equal.
double AreaUnderRoc(std::span<const double> scores, std::span<const float> labels);

SourcePtr OpenClicksSplit(const ClicksOptions& options, std::string_view split);
std::function<SourcePtr(std::string_view)> OpenClicks(FieldReader& reader);

}  // namespace flatout::data
