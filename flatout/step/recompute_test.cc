// Training with recomputed blocks: the bits of training without, in less memory.
#include "flatout/ir/recompute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/nn/layers.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/model.h"
#include "flatout/nn/recompute.h"
#include "flatout/optim/optimizer.h"
#include "flatout/step/step_program.h"
#include "flatout/xla/pjrt.h"

namespace flatout::step {
namespace {

using ir::DType;
using ir::Shape;
using nn::Recompute;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// A model and what it takes: x below `x_end`, classes y below `classes`.
struct Case {
  std::string name;
  std::string model;  // the run file's [model] table
  Shape x, y;
  double x_end = 1;
  double classes = 10;
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"mlp", "builtin = \"mlp\"\nlayers = 5\nunits = 48\ndropout = 0.2",
       Shape(DType::kU8, {16, 8, 8}), Shape(DType::kI32, {16}), 256},
      {"cnn", "builtin = \"cnn\"\nfilters = [8, 8, 8, 8]\nunits = 32\ndropout = 0.25",
       Shape(DType::kU8, {8, 12, 12}), Shape(DType::kI32, {8}), 256},
      {"resnet18", "builtin = \"resnet18\"\nwidth = 8", Shape(DType::kU8, {4, 16, 16, 3}),
       Shape(DType::kI32, {4}), 256},
      {"transformer",
       "builtin = \"transformer\"\nvocabulary = 32\nlayers = 3\nwidth = 32\nheads = 4\n"
       "dropout = 0.1",
       Shape(DType::kI32, {4, 24}), Shape(DType::kI32, {4, 24}), 32, 32},
      {"tied",
       "builtin = \"transformer\"\nvocabulary = 32\nlayers = 2\nwidth = 32\nheads = 4\n"
       "tied = true",
       Shape(DType::kI32, {4, 24}), Shape(DType::kI32, {4, 24}), 32, 32},
      {"recurrent",
       "layers = [{class = \"Embedding\", input_dim = 20, output_dim = 16},"
       "{class = \"LSTM\", units = 16, return_sequences = true, name = \"block1_lstm\"},"
       "{class = \"Dense\", units = 16, activation = \"gelu\", name = \"block1_dense\"},"
       "{class = \"GRU\", units = 16, name = \"block2_gru\"},"
       "{class = \"Dense\", units = 16, activation = \"tanh\", name = \"block2_dense\"},"
       "{class = \"Dense\", units = 10}]",
       Shape(DType::kI32, {8, 12}), Shape(DType::kI32, {8}), 20},
  };
  return cases;
}

nn::Model ModelOf(const std::string& table, Shape x) {
  x.dims.erase(x.dims.begin());
  const Config config = Config::ParseToml("[model]\n" + table, "x.toml");
  return nn::Model::FromConfig(*config.Find("model"), {"x"}, {x});
}

// A layer that is used three times, in two blocks, by hand: run files have no such models.
nn::Model Shared(int64_t width) {
  const nn::Tensor input = nn::Input({width}, DType::kF32, "x");
  const nn::LayerPtr dense =
      nn::Dense({.units = width, .activation = "gelu", .common = {.name = "block1_shared"}});
  nn::Tensor x = dense(input);
  x = nn::LayerNormalization({.common = {.name = "block1_norm"}})(x);
  x = dense(x);
  x = nn::Dense({.units = width, .activation = "tanh", .common = {.name = "block2_dense"}})(x);
  x = nn::Add({.common = {.name = "block2_add"}})({dense(x), x});
  return nn::Model({input}, {nn::Dense({.units = 10})(x)}, "shared");
}

const xla::Client& ClientOf(const std::string& plugin) {
  static std::map<std::string, std::shared_ptr<xla::Client>> clients;
  auto& client = clients[plugin];
  if (!client) client = xla::Client::Create(xla::Plugin::Load(plugin), {});
  return *client;
}

// A training program of a model, run on data that depend on the shapes alone.
class Training {
 public:
  Training(const nn::Model& model, const Shape& x, const Shape& y) : model_(model) {
    optimizer_ = optim::OptimizerFromConfig(Config(std::string("Adam")));
    Config loss = Config::Table();
    loss.Set("class", Config(std::string("SparseCategoricalCrossentropy")));
    loss.Set("from_logits", Config(true));
    loss_ = nn::LossFromConfig(loss);
    spec_.model = &model_;
    spec_.optimizer = optimizer_.get();
    spec_.loss = loss_.get();
    spec_.policy = model_.policy();
    spec_.field_shapes = {x, y};
    spec_.field_names = {"x", "y"};
    spec_.input_fields = {0};
    spec_.target_field = 1;
    spec_.seed = 5;
  }

  StepSpec& spec() { return spec_; }
  Program Build() const { return BuildTrainProgram(spec_); }

  std::shared_ptr<xla::Executable> Compile(const std::string& plugin) const {
    return ClientOf(plugin).Compile(ir::ToStablehlo(*Build().graph), {});
  }

  // The bytes of all results of one launch of all steps: new state, losses and sums.
  std::vector<std::vector<std::byte>> Run(const std::string& plugin, double x_end,
                                          double classes) const {
    const xla::Client& client = ClientOf(plugin);
    std::mt19937 random(11);
    std::vector<xla::Buffer> buffers;
    const auto add = [&](const Shape& shape, const std::function<double(int64_t)>& element) {
      std::vector<std::byte> bytes(static_cast<size_t>(shape.bytes()));
      for (int64_t i = 0; i < shape.size(); ++i) {
        ir::StoreElement(shape.dtype, element(i), bytes.data() + i * ir::ByteSize(shape.dtype));
      }
      buffers.push_back(client.FromHost(bytes.data(), shape, client.devices()[0]));
    };
    for (const StateTensor& tensor : StateLayout(model_, *optimizer_, spec_.loss_scale)) {
      std::vector<float> values(static_cast<size_t>(tensor.shape.size()),
                                static_cast<float>(tensor.initial));
      if (tensor.kind == StateTensor::Kind::kVariable) {
        nn::Initialize(model_.variables()[tensor.variable].initializer, tensor.shape, 3,
                       tensor.name, values);
      }
      add(tensor.shape, [&](int64_t i) { return values[i]; });
    }
    const int64_t steps = spec_.steps_per_launch;
    const auto stacked = [&](Shape shape) {
      shape.dims.insert(shape.dims.begin(), steps);
      return shape;
    };
    const Shape &x = spec_.field_shapes[0], &y = spec_.field_shapes[1];
    const auto draw = [&](double end) {
      return static_cast<double>(random()) / std::pow(2.0, 32) * end;
    };
    add(stacked(x), [&](int64_t) {
      const double value = draw(x_end);
      return ir::IsInteger(x.dtype) ? std::floor(value) : value;
    });
    add(stacked(y), [&](int64_t) { return std::floor(draw(classes)); });
    // The last row is padding.
    const int64_t rows = x.dim(0);
    add(Shape(DType::kF32, {steps, rows}), [&](int64_t i) { return i % rows == rows - 1 ? 0 : 1; });
    add(Shape::Scalar(DType::kI32), [&](int64_t) { return static_cast<double>(steps); });
    add(Shape::Scalar(DType::kF32), [&](int64_t) { return 1; });

    std::vector<const xla::Buffer*> arguments;
    for (const xla::Buffer& buffer : buffers) arguments.push_back(&buffer);
    const xla::Execution run = Compile(plugin)->Execute(arguments);
    run.Await();
    std::vector<std::vector<std::byte>> results;
    for (const xla::Buffer& output : run.outputs[0]) {
      results.push_back(output.ToVector<std::byte>());
    }
    return results;
  }

 private:
  const nn::Model& model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<nn::Loss> loss_;
  StepSpec spec_;
};
