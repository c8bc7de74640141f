#include "tests/memory_cases.h"

#include <fmt/format.h>

#include <random>

#include "flatout/base/config.h"
#include "flatout/base/error.h"

namespace flatout {
namespace {

using ir::DType;
using ir::Shape;

struct Kind {
  std::string toml;  // of the [model] table
  std::vector<std::string> inputs;
  std::vector<Shape> shapes;  // without the batch
  Shape target;
  std::string loss = "{class = 'SparseCategoricalCrossentropy', from_logits = true}";
  std::string metric = "accuracy";
};

Kind KindOf(const std::string& model, int64_t size) {
  const Shape label(DType::kI32, {});
  const Shape gray(DType::kU8, {28, 28}), color(DType::kU8, {32, 32, 3});
  if (model == "mlp") {
    return {fmt::format("builtin = 'mlp'\nunits = {}\ndropout = 0.1", 128 * size + 16),
            {"image"},
            {gray},
            label};
  }
  if (model == "cnn") {
    return {fmt::format("builtin = 'cnn'\nfilters = [{}, {}]\nunits = 64", 8 * size, 16 * size),
            {"image"},
            {gray},
            label};
  }
  if (model == "resnet18") {
    return {fmt::format("builtin = 'resnet18'\nwidth = {}", 8 * size), {"image"}, {color}, label};
  }
  if (model == "transformer") {
    const int64_t length = 32 * size;
    return {fmt::format("builtin = 'transformer'\nlayers = 2\nwidth = {}\nheads = 4\n"
                        "vocabulary = {}",
                        64 * size, 200 * size),
            {"text"},
            {Shape(DType::kI32, {length})},
            Shape(DType::kI32, {length})};
  }
  if (model == "dlrm") {
    return {fmt::format("builtin = 'dlrm'\ntable_size = {}\nwidth = 16", 5000 * size),
            {"numbers", "ids"},
            {Shape(DType::kF32, {13}), Shape(DType::kI32, {8})},
            Shape(DType::kF32, {1}),
            "{class = 'BinaryCrossentropy', from_logits = true}",
            "mse"};
  }
  if (model == "lstm") {
    return {fmt::format("layers = [{{class = 'Embedding', input_dim = 500, output_dim = {0}}}, "
                        "{{class = 'LSTM', units = {0}}}, {{class = 'Dense', units = 10}}]",
                        48 * size),
            {"text"},
            {Shape(DType::kI32, {24})},
            label};
  }
  if (model == "conv1d") {
    return {
        fmt::format("layers = [{{class = 'Conv1D', filters = {0}, kernel_size = 5, activation = "
                    "'relu'}}, {{class = 'BatchNormalization'}}, {{class = 'MaxPooling1D', "
                    "pool_size = 2}}, "
                    "{{class = 'Conv1D', filters = {0}, kernel_size = 3, strides = 2, activation = "
                    "'gelu'}}, {{class = 'GlobalAveragePooling1D'}}, {{class = 'Dropout', rate = "
                    "0.3}}, {{class = 'Dense', units = 10}}]",
                    32 * size),
        {"signal"},
        {Shape(DType::kF32, {256, 4})},
        label};
  }
  if (model == "separable") {
    return {fmt::format(
                "layers = [{{class = 'Rescaling', scale = 0.0039}}, {{class = 'SeparableConv2D', "
                "filters = {0}, kernel_size = 3, padding = 'same', activation = 'relu'}}, "
                "{{class = 'LayerNormalization'}}, {{class = 'AveragePooling2D', pool_size = 2}}, "
                "{{class = "
                "'Conv2D', filters = {0}, kernel_size = 3, strides = 2, activation = 'relu'}}, "
                "{{class = 'Flatten'}}, {{class = 'Dense', units = 10}}]",
                16 * size),
            {"image"},
            {color},
            label};
  }
  throw Internal("no model {} in tests/memory_cases.cc", model);
}

}  // namespace

const std::vector<std::string>& MemoryModels() {
  static const std::vector<std::string> models = {"mlp",  "cnn",  "resnet18", "transformer",
                                                  "dlrm", "lstm", "conv1d",   "separable"};
  return models;
}

MemoryCase MakeMemoryCase(const MemoryChoice& choice) {
  const Kind kind = KindOf(choice.model, choice.size);
  MemoryCase made;
  made.title = fmt::format("{} size {}, {} rows, {}, {}", choice.model, choice.size, choice.rows,
                           choice.optimizer, choice.policy);
  if (choice.steps_per_launch > 1) made.title += fmt::format(", K = {}", choice.steps_per_launch);
  if (choice.micro_rows > 0) made.title += fmt::format(", micro {}", choice.micro_rows);
  const Config table = Config::ParseToml(kind.toml, "memory_cases");
  made.model = std::make_unique<nn::Model>(nn::Model::FromConfig(table, kind.inputs, kind.shapes));
  const auto value = [](const std::string& text) {
    return *Config::ParseToml("x = " + text, "memory_cases").Find("x");
  };
  made.optimizer = optim::OptimizerFromConfig(value(choice.optimizer));
  made.loss = nn::LossFromConfig(value(kind.loss));
  made.metrics.push_back(nn::MetricFromConfig(Config(std::string(kind.metric)), made.loss->name()));
  made.model->SetPolicy(nn::Policy::Named(choice.policy));
  step::StepSpec& spec = made.spec;
  spec.model = made.model.get();
  spec.optimizer = made.optimizer.get();
  spec.loss = made.loss.get();
  spec.metrics = {made.metrics[0].get()};
  spec.policy = nn::Policy::Named(choice.policy);
  for (size_t i = 0; i <= kind.shapes.size(); ++i) {
    Shape shape = i < kind.shapes.size() ? kind.shapes[i] : kind.target;
    shape.dims.insert(shape.dims.begin(), choice.rows);
    spec.field_shapes.push_back(std::move(shape));
    spec.field_names.push_back(i < kind.shapes.size() ? kind.inputs[i] : "target");
    if (i < kind.shapes.size()) spec.input_fields.push_back(static_cast<int>(i));
  }
  spec.target_field = static_cast<int>(kind.shapes.size());
  spec.steps_per_launch = choice.steps_per_launch;
  spec.micro_rows = choice.micro_rows;
  return made;
}

MemoryCase RandomMemoryCase(uint64_t seed) {
  std::mt19937_64 random(seed);
  // Not a distribution of the library's, which may differ between libraries.
  const auto below = [&](uint64_t n) { return random() % n; };
  static const char* const optimizers[] = {
      "'SGD'",
      "{class = 'SGD', momentum = 0.9}",
      "'Adam'",
      "{class = 'AdamW', weight_decay = 0.01, clipnorm = 1.0}",
      "{class = 'RMSprop', momentum = 0.5}",
      "'Adagrad'",
      "{class = 'Adam', use_ema = true, global_clipnorm = 1.0}",
  };
  static const char* const policies[] = {"float32", "mixed_bfloat16", "mixed_float16"};
  MemoryChoice choice;
  choice.model = MemoryModels()[below(MemoryModels().size())];
  choice.size = 1 + static_cast<int64_t>(below(3));
  choice.rows = 1 + static_cast<int64_t>(below(choice.model == "resnet18" ? 32 : 96));
  choice.optimizer = optimizers[below(std::size(optimizers))];
  choice.policy = policies[below(std::size(policies))];
  choice.steps_per_launch = below(3) == 0 ? 1 + static_cast<int64_t>(below(4)) : 1;
  choice.micro_rows = below(3) == 0 ? 1 + static_cast<int64_t>(below(choice.rows)) : 0;
  return MakeMemoryCase(choice);
}

}  // namespace flatout
