// Training steps of many kinds, for the tests of memory plans.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "flatout/nn/loss.h"
#include "flatout/nn/metric.h"
#include "flatout/nn/model.h"
#include "flatout/optim/optimizer.h"
#include "flatout/step/step_program.h"

namespace flatout {

// A step with all that its spec points to.
struct MemoryCase {
  std::string title;  // "cnn 37 rows Adam mixed_bfloat16 K=2"
  std::unique_ptr<nn::Model> model;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<nn::Loss> loss;
  std::vector<std::unique_ptr<nn::Metric>> metrics;
  step::StepSpec spec;
};

// The kinds of models: "mlp", "cnn", "resnet18", "transformer", "dlrm" (built in), "lstm",
// "conv1d", "separable".
const std::vector<std::string>& MemoryModels();

struct MemoryChoice {
  std::string model = "mlp";
  int64_t size = 1;  // 1: a few MiB; 2 and 3: wider
  int64_t rows = 32;
  std::string optimizer = "'Adam'";  // TOML: a name or a table
  std::string policy = "float32";
  int64_t steps_per_launch = 1;
  int64_t micro_rows = 0;
};
MemoryCase MakeMemoryCase(const MemoryChoice& choice);

// Model, size, rows, optimizer, policy, steps per launch and micro-batch drawn from `seed`.
MemoryCase RandomMemoryCase(uint64_t seed);

}  // namespace flatout
