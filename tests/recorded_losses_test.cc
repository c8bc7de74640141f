// Every loss of tests/recorded/losses.json: value, values per sample and gradient as Keras has
// them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/loss.h"
#include "tests/recorded.h"

namespace flatout::nn {
namespace {

using nlohmann::json;
using testing::HostTensor;

std::vector<json> Cases() {
  return testing::LoadRecorded("losses.json").at("cases").get<std::vector<json>>();
}

class RecordedLoss : public ::testing::TestWithParam<json> {};

TEST_P(RecordedLoss, EqualsKeras) {
  const json& recorded = GetParam();
  Config config = testing::ToConfig(recorded.at("config"));
  config.Set("class", Config(recorded.at("loss").get<std::string>()));
  const std::unique_ptr<Loss> loss = LossFromConfig(config);

  std::vector<HostTensor> inputs = {testing::ReadTensor(recorded.at("y_true")),
                                    testing::ReadTensor(recorded.at("y_pred"))};
  ir::Graph graph;
  ir::Value y_true = graph.AddParameter(inputs[0].shape, "y_true");
  ir::Value y_pred = graph.AddParameter(inputs[1].shape, "y_pred");
  ir::Value weights;
  if (!recorded.at("sample_weight").is_null()) {
    inputs.push_back(testing::ReadTensor(recorded.at("sample_weight")));
    weights = graph.AddParameter(inputs[2].shape, "weights");
  }
  ir::Value per_sample = loss->Call(y_true, y_pred);
  auto [sum, count] = loss->Sums(y_true, y_pred, weights);
  // Keras divides by the number of elements, not by the sum of their weights; elements of an
  // ignored class count neither way.
  const auto elements = static_cast<double>(per_sample.shape().size());
  ir::Value value = weights ? sum / elements : sum / count;
  if (weights) per_sample = per_sample * weights;
  const ir::Value at[] = {y_pred};
  graph.SetOutputs({value, per_sample, ir::Gradient(value, at)[0]});
  const std::vector<HostTensor> found = testing::RunGraph(graph, inputs);

  testing::ExpectClose(found[0], {{}, {recorded.at("value").get<double>()}}, 1e-5, "value");
  testing::ExpectClose(found[1], testing::ReadTensor(recorded.at("per_sample")), 1e-5,
                       "per sample");
  testing::ExpectClose(found[2], testing::ReadTensor(recorded.at("gradient")), 1e-6, "gradient");
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedLoss, ::testing::ValuesIn(Cases()), [](const auto& info) {
  return info.param.at("name").template get<std::string>();
});

TEST(RecordedLoss, EveryLossIsRecorded) {
  std::vector<std::string> recorded;
  for (const json& c : Cases()) {
    Config table = Config::Table();
    table.Set("class", Config(c.at("loss").get<std::string>()));
    recorded.push_back(LossFromConfig(table)->name());
  }
  for (const std::string& name : LossNames()) EXPECT_THAT(recorded, ::testing::Contains(name));
}

}  // namespace
}  // namespace flatout::nn
