#include "flatout/nn/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flatout/nn/layers.h"

namespace flatout::nn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

template <typename Body>
std::string ErrorOf(Body&& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

const ir::Shape kImage(ir::DType::kU8, {28, 28, 1});

Model FromToml(const std::string& text, const std::vector<std::string>& names = {"image"},
               const std::vector<ir::Shape>& shapes = {kImage}) {
  const Config config = Config::ParseToml(text, "x.toml");
  return Model::FromConfig(*config.Find("model"), names, shapes);
}

std::string TomlError(const std::string& layers) {
  return ErrorOf([&] { FromToml("[model]\nlayers = [\n" + layers + "\n]\n"); });
}

TEST(SnakeCaseTest, NamesAsKerasMakesThem) {
  EXPECT_EQ(SnakeCase("Dense"), "dense");
  EXPECT_EQ(SnakeCase("Conv2D"), "conv2d");
  EXPECT_EQ(SnakeCase("Conv2DTranspose"), "conv2d_transpose");
  EXPECT_EQ(SnakeCase("GlobalAveragePooling2D"), "global_average_pooling2d");
  EXPECT_EQ(SnakeCase("LSTM"), "lstm");
  EXPECT_EQ(SnakeCase("ReLU"), "re_lu");
  EXPECT_EQ(SnakeCase("PReLU"), "p_re_lu");
  EXPECT_EQ(SnakeCase("MultiHeadAttention"), "multi_head_attention");
  EXPECT_EQ(SnakeCase("RMSNormalization"), "rms_normalization");
}

TEST(ModelTest, NamesLayersInOrder) {
  const Model model = Model::Sequential(
      Input({4}), {Dense({.units = 3}), Dense({.units = 2, .common = {.name = "dense_1"}}),
                   Dense({.units = 2}), Activation({.activation = "relu"})});
  std::vector<std::string> names;
  for (const LayerPtr& layer : model.layers()) names.push_back(layer->name());
  EXPECT_THAT(names, ElementsAre("dense", "dense_1", "dense_2", "activation"));
  std::vector<std::string> paths;
  for (const Variable& variable : model.variables()) paths.push_back(variable.path);
  EXPECT_THAT(paths, ElementsAre("dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias",
                                 "dense_2/kernel", "dense_2/bias"));
}

TEST(ModelTest, FrozenLayersHaveNoTrainableVariables) {
  const Model model =
      Model::Sequential(Input({4}), {Dense({.units = 3, .common = {.trainable = false}}),
                                     BatchNormalization(), Dense({.units = 2})});
  EXPECT_EQ(model.parameters(), 15 + 12 + 8);
  EXPECT_EQ(model.trainable_parameters(), 6 + 8);
}

TEST(ModelTest, FunctionalWithSeveralInputsFromARunFile) {
  const Model model = FromToml(R"([model]
layers = [
  {class = "Embedding", input_dim = 50, output_dim = 8, inputs = "id", name = "table"},
  {class = "Dense", units = 8, inputs = "features"},
  {class = "Multiply", inputs = ["table", "dense"], name = "both"},
  {class = "Dense", units = 1},
]
)",
                               {"id", "features"},
                               {ir::Shape(ir::DType::kI32, {}), ir::Shape(ir::DType::kF32, {13})});
  EXPECT_EQ(model.outputs()[0].shape(), ir::Shape(ir::DType::kF32, {1}));
  EXPECT_EQ(model.parameters(), 400 + 14 * 8 + 9);
  EXPECT_EQ(model.name(), "functional");
}

TEST(ModelTest, ShapeErrorsNamePlaceLayerAndShape) {
  EXPECT_THAT(TomlError(R"({class = "Dense", units = 10},
{class = "Conv2D", filters = 8, kernel_size = 3},
{class = "Conv1D", filters = 8, kernel_size = 3})"),
              AllOf(StartsWith("x.toml:5:"), HasSubstr("layer conv1d: "),
                    HasSubstr("Conv1D needs inputs of rank 3, found f32[None,26,26,8]")));
  EXPECT_THAT(TomlError(R"({class = "Reshape", target_shape = [7, 11]})"),
              AllOf(HasSubstr("layer reshape: "), HasSubstr("[7,11]"), HasSubstr("784"),
                    HasSubstr("u8[None,28,28,1]")));
  EXPECT_THAT(TomlError(R"({class = "Conv2D", filters = 8, kernel_size = 30})"),
              AllOf(HasSubstr("[30,30]"), HasSubstr("same")));
  // What the graph's own checks say shows no made-up batch either.
  const std::string graph_error = ErrorOf([] {
    class Bad : public Layer {
     public:
      Bad() : Layer("Bad", {}) {}
      std::vector<ir::Value> Call(Context&, std::span<const ir::Value> inputs) const override {
        return {ir::MatMul(inputs[0], inputs[0])};
      }
    };
    LayerPtr(std::make_shared<Bad>())(Input({7}));
  });
  EXPECT_THAT(graph_error, AllOf(HasSubstr("layer bad"), HasSubstr("[None,7]"),
                                 Not(HasSubstr(std::to_string(kProbeBatch)))));
}

TEST(ModelTest, UnknownNamesGetTheNearest) {
  EXPECT_THAT(TomlError(R"({class = "Dens", units = 10})"),
              AllOf(StartsWith("x.toml:3:"), HasSubstr("did you mean \"Dense\"?")));
  EXPECT_THAT(TomlError(R"({class = "Conv2D", fliters = 10, kernel_size = 3})"),
              AllOf(StartsWith("x.toml:3:"), HasSubstr("Conv2D"), HasSubstr("fliters"),
                    HasSubstr("filters")));
  EXPECT_THAT(TomlError(R"({class = "Dense", units = 10, activation = "rellu"})"),
              AllOf(StartsWith("x.toml:3:"), HasSubstr("relu")));
  EXPECT_THAT(TomlError(R"({class = "Dense", units = 10, inputs = "imagee"})"),
              AllOf(HasSubstr("imagee"), HasSubstr("did you mean \"image\"?")));
  EXPECT_THAT(ErrorOf([] { FromToml("[model]\nbuiltin = \"cnnn\"\n"); }),
              AllOf(StartsWith("x.toml:2:"), HasSubstr("did you mean \"cnn\"?")));
  EXPECT_THAT(ErrorOf([] { FromToml("[model]\nbuiltin = \"cnn\"\nclases = 3\n"); }),
              AllOf(StartsWith("x.toml:"), HasSubstr("classes")));
}

TEST(ModelTest, SizesMustBePositive) {
  const std::vector<std::pair<std::string, std::string>> kBad = {
      {R"({class = "Dense", units = 0})", "Dense: units must be positive, found 0"},
      {R"({class = "Dense", units = -3})", "Dense: units must be positive, found -3"},
      {R"({class = "Conv2D", filters = 0, kernel_size = 3})",
       "Conv2D: filters must be positive, found 0"},
      {R"({class = "Conv2D", filters = 8, kernel_size = [3, 0]})",
       "Conv2D: kernel_size must be positive, found [3,0]"},
      {R"({class = "Conv2D", filters = 8, kernel_size = [3, 3, 3]})",
       "Conv2D: kernel_size needs one number or 2, found [3,3,3]"},
      {R"({class = "Conv2D", filters = 8, kernel_size = 3, strides = -1})",
       "Conv2D: strides must be positive, found -1"},
      {R"({class = "Conv2D", filters = 9, kernel_size = 3, groups = 2})", "groups = 2"},
      {R"({class = "Conv2D", filters = 8, kernel_size = 3, padding = "causal"})",
       "Conv2D: padding must be one of valid, same"},
      {R"({class = "Conv2D", filters = 8, kernel_size = 3, data_format = "channels_first"})",
       "data_format must be \"channels_last\""},
      {R"({class = "MaxPooling2D", pool_size = 0})",
       "MaxPooling2D: pool_size must be positive, found 0"},
      {R"({class = "Embedding", input_dim = 0, output_dim = 2})",
       "Embedding: input_dim must be positive, found 0"},
      {R"({class = "Dropout", rate = 1.5})", "Dropout: rate must be in [0, 1], found 1.5"},
      {R"({class = "BatchNormalization", epsilon = 0.0})",
       "BatchNormalization: epsilon must be positive, found 0"},
      {R"({class = "Permute", dims = [1, 3]})", "Permute: dims must hold each of 1..2 once"},
      {R"({class = "Cropping2D", cropping = -1})", "none of them negative; found [[-1]]"},
      {R"({class = "Cropping2D", cropping = 14})", "leaves nothing of dimension 1"},
      {R"({class = "RepeatVector", n = 0})", "RepeatVector: n must be positive, found 0"},
      {R"({class = "Dense", units = 3, dtype = "float31"})", "float32"},
  };
  for (const auto& [layer, message] : kBad) {
    EXPECT_THAT(TomlError(layer), AllOf(StartsWith("x.toml:"), HasSubstr(message))) << layer;
  }
}

TEST(ModelTest, WrongGraphsAreRefused) {
  const Tensor a = Input({2}, ir::DType::kF32, "a");
  const Tensor b = Input({2}, ir::DType::kF32, "b");
  EXPECT_THAT(ErrorOf([&] {
                Model({a, b}, {Dense({.units = 1})(a)});
              }),
              HasSubstr("nothing uses the input \"b\""));
  EXPECT_THAT(ErrorOf([&] { Model({a}, {Add()({a, b})}); }), HasSubstr("\"b\""));
  EXPECT_THAT(ErrorOf([&] {
                Model({a}, {Dense({.units = 1, .common = {.name = "same"}})(
                               Dense({.units = 1, .common = {.name = "same"}})(a))});
              }),
              HasSubstr("two layers are called \"same\""));
  EXPECT_THAT(ErrorOf([&] { Add()(a); }), HasSubstr("Add takes at least 2 inputs, found 1"));
  EXPECT_THAT(ErrorOf([&] {
                Dense({.units = 1})({a, b});
              }),
              HasSubstr("Dense takes 1 input, found 2"));
  EXPECT_THAT(ErrorOf([&] { Concatenate({.axis = 0})({a, b}); }), HasSubstr("is the batch"));
  EXPECT_THAT(ErrorOf([&] { Add()({a, Input({3})}); }), HasSubstr("f32[None,2], f32[None,3]"));
}

TEST(ModelTest, SummaryAsKerasPrintsIt) {
  const Model model = FromToml("[model]\nbuiltin = \"cnn\"\n");
  EXPECT_EQ(model.Summary(), R"(Model: "cnn"
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓
┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩
│ rescaling (Rescaling)           │ (None, 28, 28, 1)      │             0 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ conv2d (Conv2D)                 │ (None, 28, 28, 32)     │           320 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ conv2d_1 (Conv2D)               │ (None, 28, 28, 64)     │        18,496 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ max_pooling2d (MaxPooling2D)    │ (None, 14, 14, 64)     │             0 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ flatten (Flatten)               │ (None, 12544)          │             0 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ dense (Dense)                   │ (None, 128)            │     1,605,760 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ dense_1 (Dense)                 │ (None, 10)             │         1,290 │
└─────────────────────────────────┴────────────────────────┴───────────────┘
 Total params: 1,625,866 (6.20 MB)
 Trainable params: 1,625,866 (6.20 MB)
 Non-trainable params: 0 (0.00 B)
)");
}

TEST(ModelTest, FunctionalSummaryShowsConnections) {
  const Tensor x = Input({4}, ir::DType::kF32, "x");
  const Model model({x}, {Add()({Dense({.units = 4})(x), x})});
  EXPECT_THAT(model.Summary(),
              AllOf(HasSubstr("x (InputLayer)"), HasSubstr("Connected to"), HasSubstr("dense, x")));
}

TEST(ModelTest, ForwardFlopsOfOneSample) {
  const Model model = Model::Sequential(Input({100}), {Dense({.units = 10, .use_bias = false})});
  EXPECT_EQ(model.ForwardFlops(), 2.0 * 100 * 10);
}

TEST(BuiltinTest, ParametersOfTheKnownModels) {
  const auto parameters = [](const std::string& keys, const std::vector<std::string>& names,
                             const std::vector<ir::Shape>& shapes) {
    return FromToml("[model]\n" + keys, names, shapes).parameters();
  };
  EXPECT_EQ(parameters("builtin = \"mlp\"\n", {"image"}, {kImage}), 669706);
  // torchvision's resnet18 with a 3x3 stem and 10 classes, plus 4800 + 4800 moving statistics.
  EXPECT_EQ(
      parameters("builtin = \"resnet18\"\n", {"image"}, {ir::Shape(ir::DType::kU8, {32, 32, 3})}),
      11173962 + 9600);
  const ir::Shape tokens(ir::DType::kI32, {128});
  const int64_t block = 2 * 512 + 4 * (256 * 256 + 256) + 256 * 1024 + 1024 + 1024 * 256 + 256;
  EXPECT_EQ(parameters("builtin = \"transformer\"\n", {"tokens"}, {tokens}),
            256 * 256 + 128 * 256 + 4 * block + 512 + 256 * 256 + 256);
  EXPECT_EQ(parameters("builtin = \"transformer\"\ntied = true\n", {"tokens"}, {tokens}),
            256 * 256 + 128 * 256 + 4 * block + 512);
  EXPECT_EQ(parameters("builtin = \"dlrm\"\n", {"dense", "sparse"},
                       {ir::Shape(ir::DType::kF32, {13}), ir::Shape(ir::DType::kI32, {8})}),
            8 * 100000 * 32 + 14 * 64 + 65 * 32 + (32 + 36 + 1) * 256 + 257);
}

TEST(BuiltinTest, LayersIsANumberOrAList) {
  EXPECT_EQ(FromToml("[model]\nbuiltin = \"mlp\"\nlayers = 1\nunits = 4\n").parameters(),
            785 * 4 + 50);
  EXPECT_THAT(ErrorOf([] { FromToml("[model]\nbuiltin = \"mlp\"\nlayers = [{}]\n"); }),
              HasSubstr("not both"));
}

TEST(BuiltinTest, DataThatDoesNotFitIsExplained) {
  EXPECT_THAT(ErrorOf([] {
                FromToml("[model]\nbuiltin = \"transformer\"\n", {"x"},
                         {ir::Shape(ir::DType::kF32, {3})});
              }),
              AllOf(HasSubstr("tokens"), HasSubstr("f32[3]")));
  EXPECT_THAT(ErrorOf([] { FromToml("[model]\nbuiltin = \"dlrm\"\n"); }),
              AllOf(HasSubstr("two inputs"), HasSubstr("image u8[28,28,1]")));
}

TEST(LayerArguments, HugeNumbersAreErrorsAndDoNotWrapAround) {
  const auto message = [](const std::string& layer) {
    const Config table = Config::ParseToml("layer = " + layer, "x.toml");
    try {
      Model::Sequential(Input({8, 8, 1}), {LayerFromConfig(*table.Find("layer"))});
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("no error was thrown");
  };
  const std::string huge = "9223372036854775807";
  for (const std::string& layer :
       {"{class = 'Dense', units = " + huge + "}",
        "{class = 'Conv2D', filters = 1, padding = 'same', kernel_size = " + huge + "}",
        "{class = 'ZeroPadding2D', padding = " + huge + "}",
        "{class = 'Cropping2D', cropping = " + huge + "}",
        "{class = 'UpSampling2D', size = " + huge + "}",
        "{class = 'Embedding', input_dim = " + huge + ", output_dim = " + huge + "}"}) {
    EXPECT_THAT(message(layer), testing::HasSubstr(huge)) << layer;
  }
}

}  // namespace
}  // namespace flatout::nn
