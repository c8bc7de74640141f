// Trains a small convolutional network on Fashion-MNIST from C++, as
// examples/fashion_mnist/cnn.toml does. Expected: test accuracy of 0.91 or more after 2 epochs. An
// argument sets the epochs, a second one limits the records of each split (for a quick look).
#include <cstdio>
#include <cstdlib>

#include "flatout/flatout.h"

using namespace flatout;  // NOLINT: an example

int Run(int argc, char** argv) {
  Config data = Config::ParseToml("source = 'fashion_mnist'\nvalidation_split = 5000", "data");
  if (argc > 2) data.Set("limit", Config(int64_t{std::atoi(argv[2])}));
  const train::Sources sources = train::OpenSources(data);

  const nn::Tensor image = nn::Input({28, 28, 1}, ir::DType::kU8, "image");
  nn::Model model = nn::Model::Sequential(
      image,
      {nn::Rescaling({.scale = {1.0 / 255}}),
       nn::Conv2D({.filters = 32, .kernel_size = {3}, .padding = "same", .activation = "relu"}),
       nn::Conv2D({.filters = 64, .kernel_size = {3}, .padding = "same", .activation = "relu"}),
       nn::MaxPooling2D({.pool_size = {2}}), nn::Flatten({}),
       nn::Dense({.units = 128, .activation = "relu"}), nn::Dense({.units = 10})});
  std::printf("%s", model.Summary().c_str());

  train::RunConfig config;
  config.train.epochs = argc > 1 ? std::atoi(argv[1]) : 2;
  config.train.global_batch = 64;
  config.train.metrics = {Config(std::string("accuracy"))};
  config.optimizer = Config::ParseToml(
      "class = 'Adam'\nlearning_rate = {class = 'CosineDecay', initial_learning_rate = 0.0015, "
      "decay_steps = 1720}",
      "optimizer");
  train::Trainer trainer(config, std::move(model), sources);
  const train::FitResult result = trainer.Fit();

  std::printf("test accuracy %.4f\n", result.test->metrics.at("accuracy"));
  for (const std::string& line : result.verdict.lines) std::printf("%s\n", line.c_str());
  return 0;
}

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
