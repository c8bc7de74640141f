#include "flatout/data/sources/clicks.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "flatout/data/pipeline.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::HasSubstr;

struct Table {
  std::vector<float> dense, label;
  std::vector<int32_t> sparse;
};

Table ReadAll(const Source& source, std::vector<int64_t> indices = {}) {
  if (indices.empty()) {
    for (int64_t i = 0; i < source.size(); ++i) indices.push_back(i);
  }
  Table table;
  table.dense.resize(indices.size() * 13);
  table.sparse.resize(indices.size() * static_cast<size_t>(source.fields()[1].shape.dims[0]));
  table.label.resize(indices.size());
  std::byte* out[] = {reinterpret_cast<std::byte*>(table.dense.data()),
                      reinterpret_cast<std::byte*>(table.sparse.data()),
                      reinterpret_cast<std::byte*>(table.label.data())};
  testing::ReadInto(source, indices, out);
  return table;
}

ClicksOptions Small() {
  return {.records = 20000, .validation_records = 3000, .test_records = 20000, .table_size = 1000};
}

TEST(Clicks, PureFunctionOfSeedAndIndex) {
  SourcePtr source = OpenClicksSplit(Small(), "train");
  Table all = ReadAll(*source);
  Table some = ReadAll(*source, {17, 3, 17});
  for (int j = 0; j < 13; ++j) {
    EXPECT_EQ(some.dense[static_cast<size_t>(j)], all.dense[static_cast<size_t>(17 * 13 + j)]);
    EXPECT_EQ(some.dense[static_cast<size_t>(13 + j)], all.dense[static_cast<size_t>(3 * 13 + j)]);
  }
  EXPECT_EQ(some.label[2], all.label[17]);
  ClicksOptions other = Small();
  other.seed = 2;
  EXPECT_NE(ReadAll(*OpenClicksSplit(other, "train"), {17}).dense, ReadAll(*source, {17}).dense);
  // The splits are different records.
  EXPECT_NE(ReadAll(*OpenClicksSplit(Small(), "test"), {17}).dense, ReadAll(*source, {17}).dense);
  EXPECT_EQ(OpenClicksSplit(Small(), "validation")->size(), 3000);
}

TEST(Clicks, Distributions) {
  Table all = ReadAll(*OpenClicksSplit(Small(), "train"));
  double sum = 0, squares = 0;
  for (float x : all.dense) {
    sum += x;
    squares += static_cast<double>(x) * x;
  }
  auto n = static_cast<double>(all.dense.size());
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.01);
  // P(id = 0) = T^(-1/4), and P(id < k) = (k / T)^(1/4).
  double zero = 0, below100 = 0;
  for (int32_t id : all.sparse) {
    ASSERT_GE(id, 0);
    ASSERT_LT(id, 1000);
    zero += id == 0;
    below100 += id < 100;
  }
  n = static_cast<double>(all.sparse.size());
  EXPECT_NEAR(zero / n, std::pow(1000, -0.25), 0.01);
  EXPECT_NEAR(below100 / n, std::pow(0.1, 0.25), 0.01);
}

TEST(Clicks, LabelsFollowTheTrueProbability) {
  ClicksSource source(Small(), "train", 0, 20000);
  Table all = ReadAll(source);
  // In each tenth of the probabilities the labels' mean is the probabilities' mean.
  std::map<int, std::array<double, 3>> bins;
  for (int64_t i = 0; i < source.size(); ++i) {
    double p = source.TrueProbability(i);
    ASSERT_GT(p, 0);
    ASSERT_LT(p, 1);
    auto& bin = bins[static_cast<int>(p * 10)];
    bin[0] += 1;
    bin[1] += p;
    bin[2] += all.label[static_cast<size_t>(i)];
  }
  EXPECT_GE(bins.size(), 9u);
  for (const auto& [tenth, bin] : bins) {
    EXPECT_NEAR(bin[2], bin[1], 4 * std::sqrt(bin[0] * 0.25) + 1) << tenth;
  }
}

// The model is one of the kind the header states: a logistic regression on one-hot ids, fitted by
// nothing but the differences of the true logits, gives the same weight for the same id everywhere.
TEST(Clicks, LogitIsAdditive) {
  ClicksOptions options = Small();
  options.tables = 1;
  options.table_size = 2;
  ClicksSource source(options, "train", 0, 2000);
  Table all = ReadAll(source);
  // Solve logit = b + w . dense + v[id] by least squares: 15 unknowns, exact up to float rounding.
  constexpr int kUnknowns = 15;
  std::vector<std::vector<double>> a(kUnknowns, std::vector<double>(kUnknowns + 1));
  auto row = [&](int64_t i) {
    std::vector<double> x(all.dense.begin() + i * 13, all.dense.begin() + (i + 1) * 13);
    x.push_back(all.sparse[static_cast<size_t>(i)] == 0 ? 1 : 0);
    x.push_back(all.sparse[static_cast<size_t>(i)] == 1 ? 1 : 0);
    return x;
  };
  auto logit = [&](int64_t i) {
    double p = source.TrueProbability(i);
    return std::log(p / (1 - p));
  };
  for (int64_t i = 0; i < 1000; ++i) {
    std::vector<double> x = row(i);
    for (size_t r = 0; r < kUnknowns; ++r) {
      for (size_t c = 0; c < kUnknowns; ++c) a[r][c] += x[r] * x[c];
      a[r][kUnknowns] += x[r] * logit(i);
    }
  }
  for (size_t p = 0; p < kUnknowns; ++p) {
    for (size_t r = 0; r < kUnknowns; ++r) {
      if (r == p) continue;
      double factor = a[r][p] / a[p][p];
      for (size_t c = p; c <= kUnknowns; ++c) a[r][c] -= factor * a[p][c];
    }
  }
  for (int64_t i = 1000; i < 2000; ++i) {
    std::vector<double> x = row(i);
    double predicted = 0;
    for (size_t r = 0; r < kUnknowns; ++r) predicted += x[r] * a[r][kUnknowns] / a[r][r];
    ASSERT_NEAR(predicted, logit(i), 1e-5);
  }
}

TEST(Clicks, BestScoreAgainstBruteForce) {
  ClicksSource source(Small(), "test", 23000, 2000);
  Table all = ReadAll(source);
  double loss = 0, entropy = 0, pairs = 0, won = 0;
  std::vector<double> p;
  for (int64_t i = 0; i < 2000; ++i) p.push_back(source.TrueProbability(i));
  for (size_t i = 0; i < 2000; ++i) {
    loss += all.label[i] == 1 ? -std::log(p[i]) : -std::log1p(-p[i]);
    entropy += -p[i] * std::log(p[i]) - (1 - p[i]) * std::log1p(-p[i]);
    for (size_t j = 0; j < 2000; ++j) {
      if (all.label[i] == 1 && all.label[j] == 0) {
        pairs += 1;
        won += p[i] > p[j] ? 1 : p[i] == p[j] ? 0.5 : 0;
      }
    }
  }
  BestScore best = *source.best_score();
  EXPECT_NEAR(best.log_loss, loss / 2000, 1e-12);
  EXPECT_NEAR(best.expected_log_loss, entropy / 2000, 1e-12);
  EXPECT_NEAR(best.auc, won / pairs, 1e-12);
  // Far from chance on both sides, so that a model has something to learn and cannot be perfect.
  EXPECT_GT(best.auc, 0.75);
  EXPECT_LT(best.auc, 0.95);
}

TEST(Clicks, Auc) {
  std::vector<double> scores = {0.1, 0.4, 0.4, 0.8};
  EXPECT_EQ(AreaUnderRoc(scores, std::vector<float>{0, 0, 1, 1}), 3.5 / 4);
  EXPECT_EQ(AreaUnderRoc(scores, std::vector<float>{0, 0, 0, 1}), 1);
  EXPECT_EQ(AreaUnderRoc(scores, std::vector<float>{1, 0, 0, 0}), 0);
  EXPECT_TRUE(std::isnan(AreaUnderRoc(scores, std::vector<float>{1, 1, 1, 1})));
}

TEST(Clicks, Table) {
  SourcePtr source =
      OpenSource(Config::ParseToml("source = 'clicks'\nrecords = 10\ntables = 3\ntest_records = 0",
                                   "run.toml"),
                 "train");
  EXPECT_EQ(source->size(), 10);
  EXPECT_EQ(source->fields()[1], (Field{"sparse", ir::Shape(ir::DType::kI32, {3}), 100000}));
  for (const char* bad : {"records = 0", "test_records = -1", "tables = 0", "table_size = 0",
                          "table_size = 3000000000", "rows = 5"}) {
    Config table = Config::ParseToml(std::string("source = 'clicks'\n") + bad, "run.toml");
    EXPECT_THAT(testing::MessageOf<UserError>([&] { OpenSource(table, "train"); }),
                HasSubstr("run.toml:2"));
  }
  EXPECT_EQ(
      OpenSource(Config::ParseToml("source = 'clicks'\ntest_records = 0", "run.toml"), "test"),
      nullptr);
}

}  // namespace
}  // namespace flatout::data
