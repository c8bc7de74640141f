// Whole models against Keras (tests/recorded/models.json): output, loss and every named gradient;
// ten losses and the final weights of training by the compiled training step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "flatout/ir/gradient.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/model.h"
#include "flatout/optim/optimizer.h"
#include "flatout/step/step_program.h"
#include "tests/recorded.h"

namespace flatout::testing {
namespace {

using nlohmann::json;

const json& Cases() {
  static const json recorded = LoadRecorded("models.json");
  return recorded.at("cases");
}

std::unique_ptr<nn::Loss> BuildLoss(const json& one) {
  Config table = ToConfig(one.at("loss").at("config"));
  table.Set("class", ToConfig(one.at("loss").at("class")));
  return nn::LossFromConfig(table);
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
  const auto loss_function = BuildLoss(one);
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

// The training program of one model, loss and optimizer, every step on the recorded batch.
class Training {
 public:
  Training(const json& one, const std::string& optimizer)
      : recorded_(one.at(optimizer)),
        x_(ReadTensor(one.at("x"))),
        y_(ReadTensor(one.at("y"))),
        model_(BuildModel(one, x_.shape)),
        loss_(BuildLoss(one)) {
    Config table = ToConfig(recorded_.at("config"));
    table.Set("class", ToConfig(recorded_.at("optimizer")));
    optimizer_ = optim::OptimizerFromConfig(table);
    step::StepSpec spec;
    spec.model = &model_;
    spec.optimizer = optimizer_.get();
    spec.loss = loss_.get();
    spec.field_shapes = {x_.shape, y_.shape};
    spec.field_names = {"x", "y"};
    spec.input_fields = {0};
    spec.target_field = 1;
    spec.steps_per_launch = steps();
    layout_ = step::StateLayout(model_, *optimizer_);
    program_ = step::BuildTrainProgram(spec);
    weights_ = one.at("weights");
  }

  int64_t steps() const { return static_cast<int64_t>(recorded_.at("losses").size()); }
  const step::ResultLayout& results() const { return program_.results; }
  const std::vector<step::StateTensor>& layout() const { return layout_; }

  // One launch of `steps` steps from the recorded weights.
  std::vector<HostTensor> Run(int64_t steps) const {
    std::vector<HostTensor> arguments;
    for (const step::StateTensor& tensor : layout_) {
      HostTensor value{tensor.shape, std::vector<double>(static_cast<size_t>(tensor.shape.size()),
                                                         tensor.initial)};
      if (tensor.kind == step::StateTensor::Kind::kVariable) {
        for (const json& weight : weights_) {
          if (weight.at("name") == tensor.name) value = ReadTensor(weight.at("value"));
        }
      }
      arguments.push_back(std::move(value));
    }
    arguments.push_back(Repeated(x_));
    arguments.push_back(Repeated(y_));
    const int64_t rows = x_.shape.dim(0);
    arguments.push_back({ir::Shape(ir::DType::kF32, {this->steps(), rows}),
                         std::vector<double>(static_cast<size_t>(this->steps() * rows), 1)});
    arguments.push_back({ir::Shape::Scalar(ir::DType::kI32), {static_cast<double>(steps)}});
    arguments.push_back({ir::Shape::Scalar(ir::DType::kF32), {1}});
    return RunGraph(*program_.graph, arguments);
  }

 private:
  HostTensor Repeated(const HostTensor& tensor) const {
    HostTensor result{tensor.shape, {}};
    result.shape.dims.insert(result.shape.dims.begin(), steps());
    for (int64_t i = 0; i < steps(); ++i) {
      result.data.insert(result.data.end(), tensor.data.begin(), tensor.data.end());
    }
    return result;
  }

  const json& recorded_;
  HostTensor x_, y_;
  nn::Model model_;
  std::unique_ptr<nn::Loss> loss_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::vector<step::StateTensor> layout_;
  step::Program program_;
  json weights_;
};

// Ten steps in one launch.
void ExpectTrainsAsKeras(const json& one, const std::string& optimizer) {
  const Training training(one, optimizer);
  const std::vector<HostTensor> results = training.Run(training.steps());
  const json& losses = one.at(optimizer).at("losses");
  for (size_t i = 0; i < losses.size(); ++i) {
    const double expected = losses[i].get<double>();
    EXPECT_NEAR(results[training.results().losses].data[i], expected, 1e-4 * expected)
        << optimizer << " loss " << i;
  }
  const json& finals = one.at(optimizer).at("final_weights");
  size_t compared = 0;
  for (size_t i = 0; i < training.layout().size(); ++i) {
    const step::StateTensor& tensor = training.layout()[i];
    if (tensor.kind == step::StateTensor::Kind::kCounter) {
      const double expected = tensor.name == "step" ? static_cast<double>(training.steps()) : 0;
      EXPECT_EQ(results[i].data[0], expected) << tensor.name;
    }
    if (tensor.kind != step::StateTensor::Kind::kVariable || !finals.contains(tensor.name)) {
      continue;
    }
    ExpectClose(results[i], ReadTensor(finals.at(tensor.name)), 1e-4,
                optimizer + ": " + tensor.name + " after training");
    ++compared;
  }
  EXPECT_EQ(compared, finals.size());
}

TEST_P(RecordedModelTest, TrainsAsKerasWithSgd) { ExpectTrainsAsKeras(Cases()[GetParam()], "sgd"); }

TEST_P(RecordedModelTest, TrainsAsKerasWithAdam) {
  ExpectTrainsAsKeras(Cases()[GetParam()], "adam");
}

// SGD's momentum after one step is -rate * gradient: what the compiled step differentiated.
TEST_P(RecordedModelTest, CompiledStepHasKerasGradients) {
  const json& one = Cases()[GetParam()];
  const Training training(one, "sgd");
  const std::vector<HostTensor> results = training.Run(1);
  const double rate = one.at("sgd").at("config").at("learning_rate").get<double>();
  size_t compared = 0;
  for (size_t i = 0; i < training.layout().size(); ++i) {
    const step::StateTensor& tensor = training.layout()[i];
    if (tensor.kind != step::StateTensor::Kind::kSlot) continue;
    const std::string variable = training.layout()[static_cast<size_t>(tensor.variable)].name;
    ASSERT_EQ(tensor.name, variable + "/momentum");
    HostTensor gradient = results[i];
    for (double& value : gradient.data) value /= -rate;
    ExpectClose(gradient, ReadTensor(one.at("first_gradients").at(variable)), 1e-5,
                variable + " gradient");
    ++compared;
  }
  EXPECT_EQ(compared, one.at("first_gradients").size());
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedModelTest, ::testing::Range(size_t{0}, Cases().size()),
                         [](const auto& info) {
                           return Cases()[info.param].at("name").template get<std::string>();
                         });

}  // namespace
}  // namespace flatout::testing
