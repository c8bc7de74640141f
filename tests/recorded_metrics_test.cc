// Every metric of tests/recorded/metrics.json: the result after each batch as Keras has it. Cases
// of one metric share one program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "flatout/nn/loss.h"
#include "flatout/nn/metric.h"
#include "tests/recorded.h"

namespace flatout::nn {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::HostTensor;

const std::map<std::string, std::vector<json>>& CasesByMetric() {
  static const std::map<std::string, std::vector<json>> cases = [] {
    std::map<std::string, std::vector<json>> result;
    const json file = testing::LoadRecorded("metrics.json");
    for (const json& one : file.at("cases")) {
      result[one.at("metric").get<std::string>()].push_back(one);
    }
    return result;
  }();
  return cases;
}

class RecordedMetric : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedMetric, EqualsKeras) {
  // One metric over one recording: where its sums stand among the outputs, and what should come.
  struct Check {
    std::string name;
    std::unique_ptr<Metric> metric;
    std::vector<size_t> first_output;  // of each batch
    size_t sums = 0;
    std::vector<double> expected;  // after each batch
  };
  ir::Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<ir::Value> outputs;
  std::vector<Check> checks;
  for (const json& recorded : CasesByMetric().at(GetParam())) {
    Config config = testing::ToConfig(recorded.at("config"));
    config.Set("class", Config(GetParam()));
    const size_t first_check = checks.size();
    const auto name = recorded.at("name").get<std::string>();
    if (recorded.at("result").is_array()) {
      // Several thresholds make several numbers in Keras; here each is a metric of its own.
      EXPECT_THROW(MetricFromConfig(config, ""), UserError);
      const std::vector<Config> thresholds = config.Find("thresholds")->items();
      for (size_t i = 0; i < thresholds.size(); ++i) {
        config.Set("thresholds", thresholds[i]);
        checks.push_back({name, MetricFromConfig(config, ""), {}, 0, {}});
        for (const json& result : recorded.at("results")) {
          checks.back().expected.push_back(result.at(i).get<double>());
        }
      }
    } else {
      checks.push_back({name, MetricFromConfig(config, ""), {}, 0, {}});
      for (const json& result : recorded.at("results")) {
        checks.back().expected.push_back(result.get<double>());
      }
    }
    for (const json& batch : recorded.at("batches")) {
      const auto optional = [&](const char* key) {
        if (batch.at(key).is_null()) return ir::Value();
        inputs.push_back(testing::ReadTensor(batch.at(key)));
        return graph.AddParameter(inputs.back().shape, key);
      };
      ir::Value y_true = optional("y_true"), y_pred = optional("y_pred");
      ir::Value weights = optional("sample_weight");
      for (size_t i = first_check; i < checks.size(); ++i) {
        const std::vector<ir::Value> sums = checks[i].metric->Sums(y_true, y_pred, weights);
        checks[i].first_output.push_back(outputs.size());
        checks[i].sums = sums.size();
        outputs.insert(outputs.end(), sums.begin(), sums.end());
      }
    }
  }
  graph.SetOutputs(outputs);
  const std::vector<HostTensor> found = testing::RunGraph(graph, inputs);
  for (const Check& check : checks) {
    ASSERT_EQ(check.first_output.size(), check.expected.size());
    std::vector<std::vector<double>> totals(check.sums);
    for (size_t batch = 0; batch < check.expected.size(); ++batch) {
      for (size_t s = 0; s < check.sums; ++s) {
        const std::vector<double>& sum = found[check.first_output[batch] + s].data;
        totals[s].resize(sum.size(), 0);
        for (size_t e = 0; e < sum.size(); ++e) totals[s][e] += sum[e];
      }
      EXPECT_NEAR(check.metric->Result(totals), check.expected[batch],
                  1e-5 * std::max(1.0, std::abs(check.expected[batch])))
          << check.name << " after batch " << batch;
    }
  }
}

std::vector<std::string> RecordedMetrics() {
  std::vector<std::string> names;
  for (const auto& [name, cases] : CasesByMetric()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedMetric, ::testing::ValuesIn(RecordedMetrics()),
                         [](const auto& info) { return info.param; });

// The result over one batch.
double Result(const Metric& metric, const HostTensor& y_true, const HostTensor& y_pred) {
  ir::Graph graph;
  ir::Value t = graph.AddParameter(y_true.shape, "y_true");
  ir::Value p = graph.AddParameter(y_pred.shape, "y_pred");
  graph.SetOutputs(metric.Sums(t, p, {}));
  const HostTensor inputs[] = {y_true, y_pred};
  std::vector<std::vector<double>> totals;
  for (const HostTensor& sum : testing::RunGraph(graph, inputs)) totals.push_back(sum.data);
  return metric.Result(totals);
}

const ir::Shape kTable(ir::DType::kF32, {4, 3});
const HostTensor kOneHot = {kTable, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}};
const HostTensor kScores = {kTable, {0.9, 0.1, 0, 0.2, 0.7, 0.1, 0.6, 0.3, 0.1, 0.2, 0.3, 0.5}};

TEST(MetricTest, AccuracyFollowsTheLoss) {
  const Config accuracy(std::string("accuracy"));
  const HostTensor indices = {ir::Shape(ir::DType::kI32, {4}), {0, 1, 2, 0}};
  EXPECT_DOUBLE_EQ(
      Result(*MetricFromConfig(accuracy, "sparse_categorical_crossentropy"), indices, kScores),
      0.5);
  EXPECT_DOUBLE_EQ(
      Result(*MetricFromConfig(accuracy, "categorical_crossentropy"), kOneHot, kScores), 0.5);
  // Per element at 0.5: 12 elements, of which [2][0], [2][2] and [3][0] are wrong.
  EXPECT_DOUBLE_EQ(Result(*MetricFromConfig(accuracy, "binary_crossentropy"), kOneHot, kScores),
                   0.75);
  // Other losses: by the shapes.
  EXPECT_DOUBLE_EQ(Result(*MetricFromConfig(accuracy, "mean_squared_error"), indices, kScores),
                   0.5);
}

TEST(MetricTest, F1ScoreAverages) {
  // Largest score per row: 0, 1, 0, 2. Class 0: tp 1, predicted 2, real 2; class 1: 1, 1, 1;
  // class 2: 0, 1, 1.
  const auto f1 = [&](const char* average) {
    return Result(*MetricFromConfig(Config::Table({{"class", Config(std::string("F1Score"))},
                                                   {"average", Config(std::string(average))}}),
                                    ""),
                  kOneHot, kScores);
  };
  EXPECT_NEAR(f1("micro"), 0.5, 1e-6);
  EXPECT_NEAR(f1("macro"), (0.5 + 1 + 0) / 3, 1e-6);
  EXPECT_NEAR(f1("weighted"), (2 * 0.5 + 1 + 0) / 4, 1e-6);
}

TEST(MetricTest, LogitsOfTheLossAreLogitsOfTheMetrics) {
  const auto binary = LossFromConfig(Config::Table(
      {{"class", Config(std::string("BinaryCrossentropy"))}, {"from_logits", Config(true)}}));
  const ir::Shape shape(ir::DType::kF32, {4, 1});
  const HostTensor labels = {shape, {0, 1, 0, 1}};
  const HostTensor logits = {shape, {-2, 0.3, 0.4, 3}};
  HostTensor probabilities = logits;
  for (double& p : probabilities.data) p = 1 / (1 + std::exp(-p));
  const auto plain = LossFromConfig(Config(std::string("binary_crossentropy")));
  for (const char* name : {"accuracy", "auc", "binary_crossentropy"}) {
    const Config metric{std::string(name)};
    EXPECT_NEAR(Result(*MetricFromConfig(metric, *binary), labels, logits),
                Result(*MetricFromConfig(metric, *plain), labels, probabilities), 1e-5)
        << name;
  }
  EXPECT_DOUBLE_EQ(
      Result(*MetricFromConfig(Config(std::string("accuracy")), *binary), labels, logits), 0.75);
  // What the table says wins.
  const Config said =
      Config::Table({{"class", Config(std::string("AUC"))}, {"from_logits", Config(false)}});
  EXPECT_NEAR(Result(*MetricFromConfig(said, *binary), labels, probabilities),
              Result(*MetricFromConfig(said, *plain), labels, probabilities), 1e-9);
}

TEST(MetricTest, NothingCountedIsNaN) {
  const auto accuracy = MetricFromConfig(Config(std::string("accuracy")), "");
  const std::vector<std::vector<double>> totals = {{0}, {0}};
  EXPECT_TRUE(std::isnan(accuracy->Result(totals)));
}

std::string MessageOf(const std::string& toml) {
  try {
    const Config config = Config::ParseToml(toml, "run.toml");
    MetricFromConfig(*config.Find("metric"), "");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MetricTest, BadArgumentsAreNamed) {
  EXPECT_THAT(MessageOf("metric = \"acuracy\""),
              AllOf(HasSubstr("run.toml:1"), HasSubstr("did you mean \"accuracy\"")));
  EXPECT_THAT(MessageOf("metric = {class = \"AUC\", curve = \"ROK\"}"),
              AllOf(HasSubstr("run.toml:1"), HasSubstr("ROK")));
  EXPECT_THAT(MessageOf("metric = {class = \"AUC\", kurve = \"ROC\"}"), HasSubstr("kurve"));
  EXPECT_THAT(MessageOf("metric = \"f1_score\""), HasSubstr("average"));
  EXPECT_THAT(MessageOf("metric = {class = \"top_k\", k = 0}"), HasSubstr("at least 1"));
}

}  // namespace
}  // namespace flatout::nn
