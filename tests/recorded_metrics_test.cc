// Every metric of tests/recorded/metrics.json: the result after each batch as Keras has it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "flatout/nn/metric.h"
#include "tests/recorded.h"

namespace flatout::nn {
namespace {

using nlohmann::json;
using testing::HostTensor;

std::vector<json> Cases() {
  return testing::LoadRecorded("metrics.json").at("cases").get<std::vector<json>>();
}

class RecordedMetric : public ::testing::TestWithParam<json> {};

// The metric's result after each batch of the recording.
std::vector<double> Results(const Metric& metric, const json& recorded) {
  std::vector<double> results;
  std::vector<std::vector<double>> totals;
  for (const json& batch : recorded.at("batches")) {
    std::vector<HostTensor> inputs = {testing::ReadTensor(batch.at("y_pred"))};
    ir::Graph graph;
    ir::Value y_pred = graph.AddParameter(inputs[0].shape, "y_pred");
    const auto optional = [&](const char* name) {
      if (batch.at(name).is_null()) return ir::Value();
      inputs.push_back(testing::ReadTensor(batch.at(name)));
      return graph.AddParameter(inputs.back().shape, name);
    };
    ir::Value y_true = optional("y_true");
    ir::Value weights = optional("sample_weight");
    graph.SetOutputs(metric.Sums(y_true, y_pred, weights));
    const std::vector<HostTensor> sums = testing::RunGraph(graph, inputs);
    totals.resize(sums.size());
    for (size_t s = 0; s < sums.size(); ++s) {
      totals[s].resize(sums[s].data.size(), 0);
      for (size_t e = 0; e < totals[s].size(); ++e) totals[s][e] += sums[s].data[e];
    }
    results.push_back(metric.Result(totals));
  }
  return results;
}

void ExpectNear(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-5 * std::max(1.0, std::abs(expected[i])))
        << "after batch " << i;
  }
}

TEST_P(RecordedMetric, EqualsKeras) {
  const json& recorded = GetParam();
  Config config = testing::ToConfig(recorded.at("config"));
  config.Set("class", Config(recorded.at("metric").get<std::string>()));
  if (recorded.at("result").is_array()) {
    // Several thresholds make several numbers in Keras; here each is a metric of its own.
    EXPECT_THROW(MetricFromConfig(config, ""), UserError);
    const std::vector<Config> thresholds = config.Find("thresholds")->items();
    for (size_t i = 0; i < thresholds.size(); ++i) {
      std::vector<double> expected;
      for (const json& result : recorded.at("results")) {
        expected.push_back(result.at(i).get<double>());
      }
      config.Set("thresholds", thresholds[i]);
      ExpectNear(Results(*MetricFromConfig(config, ""), recorded), expected);
    }
    return;
  }
  std::vector<double> expected;
  for (const json& result : recorded.at("results")) {
    expected.push_back(result.get<double>());
  }
  ExpectNear(Results(*MetricFromConfig(config, ""), recorded), expected);
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedMetric, ::testing::ValuesIn(Cases()), [](const auto& info) {
  return info.param.at("name").template get<std::string>();
});

}  // namespace
}  // namespace flatout::nn
