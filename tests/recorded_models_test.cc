// Whole models against Keras (tests/recorded/models.json): output, loss and every named gradient.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/model.h"
#include "tests/recorded.h"

namespace flatout::testing {
namespace {

using nlohmann::json;

const json& Cases() {
  static const json recorded = LoadRecorded("models.json");
  return recorded.at("cases");
}

nn::Model BuildModel(const json& one, const ir::Shape& input) {
  std::vector<Config> layers;
  for (const json& row : one.at("layers")) {
    Config layer = ToConfig(row.at("config"));
    for (const auto& [key, value] : row.at("call").items()) layer.Set(key, ToConfig(value));
    layer.Set("class", ToConfig(row.at("class")));
    layer.Set("name", ToConfig(row.at("name")));
    layer.Set("inputs", ToConfig(row.at("inputs")));
    layers.push_back(std::move(layer));
  }
  Config table = Config::Table();
  table.Set("layers", Config::Array(std::move(layers)));
  ir::Shape row = input;
  row.dims.erase(row.dims.begin());
  return nn::Model::FromConfig(table, {"input"}, {row});
}

class RecordedModelTest : public ::testing::TestWithParam<size_t> {};

TEST_P(RecordedModelTest, EqualsKeras) {
  const json& one = Cases()[GetParam()];
  const HostTensor x = ReadTensor(one.at("x"));
  const HostTensor y = ReadTensor(one.at("y"));
  const nn::Model model = BuildModel(one, x.shape);

  std::map<std::string, HostTensor> weights;
  std::vector<std::string> theirs, ours;
  for (const json& weight : one.at("weights")) {
    theirs.push_back(weight.at("name").get<std::string>());
    weights[theirs.back()] = ReadTensor(weight.at("value"));
  }
  for (const nn::Variable& variable : model.variables()) ours.push_back(variable.path);
  ASSERT_THAT(ours, ::testing::ElementsAreArray(theirs));

  ir::Graph graph("main");
  std::vector<HostTensor> arguments = {x, y};
  const ir::Value input = graph.AddParameter(x.shape, "x");
  const ir::Value label = graph.AddParameter(y.shape, "y");
  nn::Context infer(graph, {});
  nn::Context train(graph, {.training = true});
  std::vector<ir::Value> trained;
  std::vector<std::string> names;
  for (const nn::Variable& variable : model.variables()) {
    const ir::Value value = graph.AddParameter(variable.shape, variable.path);
    arguments.push_back(weights.at(variable.path));
    infer.Bind(variable.path, value);
    train.Bind(variable.path, value);
    if (!variable.trainable) continue;
    trained.push_back(value);
    names.push_back(variable.path);
  }
  Config loss_table = ToConfig(one.at("loss").at("config"));
  loss_table.Set("class", ToConfig(one.at("loss").at("class")));
  const auto loss_function = nn::LossFromConfig(loss_table);
  const std::vector<ir::Value> inputs = {input};
  const ir::Value loss = ir::ReduceMean(loss_function->Call(label, model.Call(train, inputs)[0]));
  std::vector<ir::Value> outputs = {model.Call(infer, inputs)[0], loss};
  for (const ir::Value gradient : ir::Gradient(loss, trained)) outputs.push_back(gradient);
  graph.SetOutputs(outputs);
  const std::vector<HostTensor> results = RunGraph(graph, arguments);

  ExpectClose(results[0], ReadTensor(one.at("inference_output")), 1e-5, "inference output");
  const HostTensor first_loss{ir::Shape::Scalar(ir::DType::kF32),
                              {one.at("sgd").at("losses")[0].get<double>()}};
  ExpectClose(results[1], first_loss, 1e-5, "loss");
  EXPECT_EQ(one.at("first_gradients").size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    ExpectClose(results[i + 2], ReadTensor(one.at("first_gradients").at(names[i])), 1e-5,
                names[i] + " gradient");
  }
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedModelTest, ::testing::Range(size_t{0}, Cases().size()),
                         [](const auto& info) {
                           return Cases()[info.param].at("name").template get<std::string>();
                         });

}  // namespace
}  // namespace flatout::testing
