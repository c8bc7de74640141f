// Every loss of tests/recorded/losses.json: value, values per sample and gradient as Keras has
// them. Cases of one loss share one program. Then what Keras cannot record: extremes and bad input.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/loss.h"
#include "tests/recorded.h"

namespace flatout::nn {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::HostTensor;

const std::map<std::string, std::vector<json>>& CasesByLoss() {
  static const std::map<std::string, std::vector<json>> cases = [] {
    std::map<std::string, std::vector<json>> result;
    const json file = testing::LoadRecorded("losses.json");
    for (const json& one : file.at("cases")) {
      result[one.at("loss").get<std::string>()].push_back(one);
    }
    return result;
  }();
  return cases;
}

std::unique_ptr<Loss> LossOf(const json& recorded) {
  Config config = testing::ToConfig(recorded.at("config"));
  if (config.is_array()) config = Config::Table();
  config.Set("class", Config(recorded.at("loss").get<std::string>()));
  return LossFromConfig(config);
}

class RecordedLoss : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedLoss, EqualsKeras) {
  ir::Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<ir::Value> outputs;
  const auto parameter = [&](const json& tensor, const char* name) {
    inputs.push_back(testing::ReadTensor(tensor));
    return graph.AddParameter(inputs.back().shape, name);
  };
  const std::vector<json>& cases = CasesByLoss().at(GetParam());
  for (const json& recorded : cases) {
    const std::unique_ptr<Loss> loss = LossOf(recorded);
    ir::Value y_true = parameter(recorded.at("y_true"), "y_true");
    ir::Value y_pred = parameter(recorded.at("y_pred"), "y_pred");
    ir::Value weights;
    if (!recorded.at("sample_weight").is_null()) {
      weights = parameter(recorded.at("sample_weight"), "weights");
    }
    ir::Value per_sample = loss->Call(y_true, y_pred);
    auto [sum, count] = loss->Sums(y_true, y_pred, weights);
    // Keras divides by the number of elements, not by the sum of their weights; elements of an
    // ignored class count neither way.
    ir::Value value = weights ? sum / static_cast<double>(per_sample.shape().size()) : sum / count;
    if (weights) per_sample = per_sample * weights;
    const ir::Value at[] = {y_pred};
    outputs.insert(outputs.end(), {value, per_sample, ir::Gradient(value, at)[0]});
  }
  graph.SetOutputs(outputs);
  const std::vector<HostTensor> found = testing::RunGraph(graph, inputs);
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto name = cases[i].at("name").get<std::string>();
    testing::ExpectClose(found[3 * i], {{}, {cases[i].at("value").get<double>()}}, 1e-5,
                         name + ": value");
    testing::ExpectClose(found[3 * i + 1], testing::ReadTensor(cases[i].at("per_sample")), 1e-5,
                         name + ": per sample");
    testing::ExpectClose(found[3 * i + 2], testing::ReadTensor(cases[i].at("gradient")), 1e-6,
                         name + ": gradient");
  }
}

std::vector<std::string> RecordedLosses() {
  std::vector<std::string> names;
  for (const auto& [name, cases] : CasesByLoss()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedLoss, ::testing::ValuesIn(RecordedLosses()),
                         [](const auto& info) { return info.param; });

TEST(LossTest, EveryLossIsRecorded) {
  std::vector<std::string> recorded;
  for (const auto& [name, cases] : CasesByLoss()) {
    recorded.push_back(LossFromConfig(Config(name))->name());
  }
  for (const std::string& name : LossNames()) EXPECT_THAT(recorded, ::testing::Contains(name));
}

// Loss per sample and gradient of their sum.
std::pair<HostTensor, HostTensor> ValueAndGradient(const Config& config, const HostTensor& y_true,
                                                   const HostTensor& y_pred) {
  ir::Graph graph;
  ir::Value t = graph.AddParameter(y_true.shape, "y_true");
  ir::Value p = graph.AddParameter(y_pred.shape, "y_pred");
  ir::Value loss = LossFromConfig(config)->Call(t, p);
  const ir::Value at[] = {p};
  graph.SetOutputs({loss, ir::Gradient(ir::ReduceSum(loss), at)[0]});
  const HostTensor inputs[] = {y_true, y_pred};
  std::vector<HostTensor> found = testing::RunGraph(graph, inputs);
  return {found[0], found[1]};
}

Config FromLogits(const std::string& name) {
  return Config::Table({{"class", Config(name)}, {"from_logits", Config(true)}});
}

const ir::Shape kIndices(ir::DType::kI32, {2});

TEST(LossTest, HugeLogitsGiveFiniteLossAndGradient) {
  const HostTensor logits = {ir::Shape(ir::DType::kF32, {2, 3}), {1e4, -1e4, 0, -1e4, 1e4, 1e4}};
  for (const char* name : {"CategoricalCrossentropy", "BinaryCrossentropy",
                           "BinaryFocalCrossentropy", "CategoricalFocalCrossentropy"}) {
    const HostTensor labels = {logits.shape, {0, 1, 0, 1, 0, 0}};
    const auto [loss, gradient] = ValueAndGradient(FromLogits(name), labels, logits);
    for (double value : loss.data) EXPECT_TRUE(std::isfinite(value)) << name;
    for (double value : gradient.data) EXPECT_TRUE(std::isfinite(value)) << name;
  }
  const auto [loss, gradient] =
      ValueAndGradient(FromLogits("SparseCategoricalCrossentropy"), {kIndices, {1, 0}}, logits);
  testing::ExpectClose(loss, {ir::Shape(ir::DType::kF32, {2}), {2e4, 2e4 + std::log(2.0)}}, 1e-7,
                       "loss");
  testing::ExpectClose(gradient, {logits.shape, {1, -1, 0, -1, 0.5, 0.5}}, 1e-6, "gradient");
}

TEST(LossTest, ZeroLogitsHaveTheRightGradient) {
  // Where implementations with max(x, 0) disagree: a model's first step often stands exactly here.
  const HostTensor zeros = {ir::Shape(ir::DType::kF32, {1, 2}), {0, 0}};
  const auto [loss, gradient] =
      ValueAndGradient(FromLogits("BinaryCrossentropy"), {zeros.shape, {0, 1}}, zeros);
  EXPECT_NEAR(loss.data[0], std::log(2.0), 1e-6);
  testing::ExpectClose(gradient, {zeros.shape, {0.25, -0.25}}, 1e-7, "gradient");
}

TEST(LossTest, ClassOutsideGivesNaN) {
  const HostTensor logits = {ir::Shape(ir::DType::kF32, {2, 3}), {0, 1, 2, 0, 1, 2}};
  for (double outside : {3.0, -1.0}) {
    const auto [loss, gradient] = ValueAndGradient(FromLogits("SparseCategoricalCrossentropy"),
                                                   {kIndices, {outside, 2}}, logits);
    EXPECT_TRUE(std::isnan(loss.data[0]));
    EXPECT_TRUE(std::isfinite(loss.data[1]));
  }
}

TEST(LossTest, LowPrecisionComputesInFloat32) {
  const HostTensor logits = {ir::Shape(ir::DType::kBF16, {2, 3}), {8, 0.5, -2, 1, 3, 2}};
  const auto [loss, gradient] =
      ValueAndGradient(FromLogits("SparseCategoricalCrossentropy"), {kIndices, {0, 1}}, logits);
  EXPECT_EQ(loss.shape.dtype, ir::DType::kF32);
  EXPECT_EQ(gradient.shape.dtype, ir::DType::kBF16);
  const double expected = std::log(std::exp(8.0) + std::exp(0.5) + std::exp(-2.0)) - 8;
  EXPECT_NEAR(loss.data[0], expected, 1e-6);
}

TEST(LossTest, PaddingRowsDoNotCount) {
  ir::Graph graph;
  ir::Value t = graph.AddParameter(ir::Shape(ir::DType::kF32, {3, 2}), "t");
  ir::Value p = graph.AddParameter(ir::Shape(ir::DType::kF32, {3, 2}), "p");
  ir::Value w = graph.AddParameter(ir::Shape(ir::DType::kF32, {3}), "w");
  auto [sum, count] = LossFromConfig(Config(std::string("mse")))->Sums(t, p, w);
  graph.SetOutputs({sum, count});
  const HostTensor inputs[] = {
      {t.shape(), {0, 0, 0, 0, 0, 0}}, {t.shape(), {1, 1, 2, 2, 100, 100}}, {w.shape(), {1, 1, 0}}};
  const std::vector<HostTensor> found = testing::RunGraph(graph, inputs);
  EXPECT_DOUBLE_EQ(found[0].data[0], 5);
  EXPECT_DOUBLE_EQ(found[1].data[0], 2);
}

std::string MessageOf(const std::string& toml) {
  try {
    const Config config = Config::ParseToml(toml, "run.toml");
    LossFromConfig(*config.Find("loss"));
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LossTest, BadArgumentsAreNamed) {
  EXPECT_THAT(MessageOf("loss = \"sparse_categorical_crossentrop\""),
              AllOf(HasSubstr("run.toml:1"),
                    HasSubstr("did you mean \"sparse_categorical_crossentropy\"")));
  EXPECT_THAT(MessageOf("loss = {class = \"Huber\", delta = -1.0}"),
              AllOf(HasSubstr("run.toml:1"), HasSubstr("delta must be positive, found -1")));
  EXPECT_THAT(MessageOf("loss = {class = \"Huber\", dleta = 1.0}"),
              AllOf(HasSubstr("dleta"), HasSubstr("did you mean \"delta\"")));
  EXPECT_THAT(MessageOf("loss = {from_logits = true}"), HasSubstr("class"));
  EXPECT_THAT(MessageOf("loss = 3"), HasSubstr("expected a loss's name"));
}

TEST(LossTest, ShapesThatDoNotFitAreNamed) {
  ir::Graph graph;
  ir::Value labels = graph.AddParameter(ir::Shape(ir::DType::kI32, {4}), "t");
  ir::Value logits = graph.AddParameter(ir::Shape(ir::DType::kF32, {4, 10}), "p");
  const auto message = [&](const char* name, ir::Value t, ir::Value p) -> std::string {
    try {
      LossFromConfig(Config(std::string(name)))->Call(t, p);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message("categorical_crossentropy", labels, logits),
              AllOf(HasSubstr("labels f32[4]"), HasSubstr("f32[4,10]"), HasSubstr("sparse_")));
  EXPECT_THAT(message("sparse_categorical_crossentropy", logits, logits), HasSubstr("[4]"));
}

}  // namespace
}  // namespace flatout::nn
