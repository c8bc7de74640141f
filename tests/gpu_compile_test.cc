// Every built-in model's training step, under every policy, for one card and for eight, compiled
// for GPUs that are not here: what XLA's GPU compiler refuses, or needs much more memory for, is
// found before anyone rents anything. (That the programs compute the right numbers there only a GPU
// can show; on CPU devices other tests do.)
//
// Results are kept in the build folder, by the hash of the program, so that a second run compiles
// only what changed. FLATOUT_GPU_COMPILE=all compiles everything for every card.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/model.h"
#include "flatout/optim/optimizer.h"
#include "flatout/step/step_program.h"
#include "flatout/xla/topology.h"

namespace flatout {
namespace {

using ir::DType;
using ir::Shape;

// A built-in model with what it is trained on: as few layers as have all kernels (compiling takes
// the time), and large enough that these are of the kind that real sizes have.
struct Workload {
  std::string name;
  std::string options;    // of the model, TOML
  std::string optimizer;  // TOML
  std::string loss;
  std::vector<std::string> field_names;
  std::vector<Shape> fields;  // without the batch; the last one is the target
  int64_t rows = 0;           // of one replica
};

const std::vector<Workload>& Workloads() {
  static const std::vector<Workload> workloads = {
      {"mlp",
       "",
       "class = \"Adam\"",
       "loss = {class = \"SparseCategoricalCrossentropy\", from_logits = true}",
       {"image", "label"},
       {{DType::kU8, {28, 28}}, {DType::kI32, {}}},
       128},
      {"cnn",
       "",
       "class = \"Adam\"",
       "loss = {class = \"SparseCategoricalCrossentropy\", from_logits = true}",
       {"image", "label"},
       {{DType::kU8, {28, 28, 1}}, {DType::kI32, {}}},
       64},
      {"resnet18",
       "",
       "class = \"SGD\"\nmomentum = 0.9\nweight_decay = 0.0005",
       "loss = {class = \"SparseCategoricalCrossentropy\", from_logits = true}",
       {"image", "label"},
       {{DType::kU8, {32, 32, 3}}, {DType::kI32, {}}},
       32},
      {"transformer",
       "vocabulary = 8192\nlayers = 1\ndropout = 0.1",
       "class = \"AdamW\"\nglobal_clipnorm = 1.0",
       "loss = {class = \"SparseCategoricalCrossentropy\", from_logits = true}",
       {"tokens", "targets"},
       {{DType::kI32, {128}}, {DType::kI32, {128}}},
       8},
      {"dlrm",
       "",
       "class = \"SGD\"",
       "loss = {class = \"BinaryCrossentropy\", from_logits = true}",
       {"dense", "sparse", "label"},
       {{DType::kF32, {13}}, {DType::kI32, {8}}, {DType::kF32, {}}},
       1024},
  };
  return workloads;
}

struct Step {
  std::string stablehlo;
  int64_t state_bytes = 0, batch_bytes = 0;  // of one replica
};

// A workload's training step.
Step TrainingStep(const Workload& workload, const std::string& policy, int replicas, int64_t rows) {
  const nn::BuiltinModel* builtin = nullptr;
  for (const nn::BuiltinModel& model : nn::BuiltinModels()) {
    if (model.name == workload.name) builtin = &model;
  }
  if (builtin == nullptr) throw Internal("no built-in model {}", workload.name);
  const int inputs = static_cast<int>(workload.fields.size()) - 1;
  nn::Model model = builtin->make(Config::ParseToml(workload.options, "options"),
                                  {workload.field_names.begin(), workload.field_names.end() - 1},
                                  {workload.fields.begin(), workload.fields.end() - 1});
  model.SetPolicy(nn::Policy::Named(policy));
  const auto optimizer =
      optim::OptimizerFromConfig(Config::ParseToml(workload.optimizer, "optimizer"));
  const Config loss_config = Config::ParseToml(workload.loss, "loss");
  const auto loss = nn::LossFromConfig(*loss_config.Find("loss"));
  step::StepSpec spec;
  spec.model = &model;
  spec.optimizer = optimizer.get();
  spec.loss = loss.get();
  spec.policy = nn::Policy::Named(policy);
  spec.loss_scale = optim::LossScale::Auto(spec.policy.compute == DType::kF16);
  spec.field_names = workload.field_names;
  for (const Shape& field : workload.fields) {
    std::vector<int64_t> dims = {rows};
    dims.insert(dims.end(), field.dims.begin(), field.dims.end());
    spec.field_shapes.emplace_back(field.dtype, dims);
  }
  for (int i = 0; i < inputs; ++i) spec.input_fields.push_back(i);
  spec.target_field = inputs;
  spec.replicas = replicas;
  Step result;
  result.stablehlo = ir::ToStablehlo(*step::BuildTrainProgram(spec).graph);
  for (const step::StateTensor& tensor : step::StateLayout(model, *optimizer, spec.loss_scale)) {
    result.state_bytes += tensor.shape.bytes();
  }
  result.batch_bytes = rows * 4;  // the weights of the rows
  for (const Shape& field : spec.field_shapes) result.batch_bytes += field.bytes();
  return result;
}

xla::AotProgram CompileFor(const std::string& card, const std::string& stablehlo, int replicas) {
  const auto topology =
      xla::Topology::Create(xla::LoadPlanningPlugin(), xla::FindCard(card), replicas);
  return topology->Compile(stablehlo,
                           {.num_replicas = replicas, .cache_folder = GPU_COMPILE_CACHE});
}

struct Case {
  const Workload* workload;
  std::string policy;
  int replicas;
  std::string card;
};

// Each model under each policy, 20 programs, their cards and numbers of replicas dealt out so that
// each model and each policy also meets every card with every number of replicas. All of the 80
// combinations are compiled on request (make check-gpu-compile).
std::vector<Case> Cases() {
  const char* set = std::getenv("FLATOUT_GPU_COMPILE");
  const bool all = set != nullptr && std::string_view(set) == "all";
  constexpr std::array<std::pair<int, const char*>, 4> places = {
      {{1, "h100"}, {8, "a100-80"}, {8, "h100"}, {1, "a100-80"}}};
  const std::vector<std::string> policies = {"float32", "mixed_bfloat16", "mixed_float16",
                                             "bfloat16"};
  std::vector<Case> cases;
  for (size_t w = 0; w < Workloads().size(); ++w) {
    for (size_t p = 0; p < policies.size(); ++p) {
      for (size_t i = 0; i < places.size(); ++i) {
        if (!all && i != (w + p) % places.size()) continue;
        const auto& [replicas, card] = places[i];
        cases.push_back({&Workloads()[w], policies[p], replicas, card});
      }
    }
  }
  return cases;
}

std::string CaseName(const ::testing::TestParamInfo<Case>& info) {
  std::string name = fmt::format("{}_{}_x{}_{}", info.param.workload->name, info.param.policy,
                                 info.param.replicas, info.param.card);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class GpuCompile : public ::testing::TestWithParam<Case> {};

TEST_P(GpuCompile, TrainingStep) {
  const Case& c = GetParam();
  const Step step = TrainingStep(*c.workload, c.policy, c.replicas, c.workload->rows);
  EXPECT_EQ(step.stablehlo.find("stablehlo.all_reduce") != std::string::npos, c.replicas > 1);
  const xla::AotProgram program = CompileFor(c.card, step.stablehlo, c.replicas);
  const xla::ProgramMemory& memory = program.memory;
  // The state is updated in place, and nothing else comes in but the batch and two scalars.
  EXPECT_EQ(memory.alias, step.state_bytes);
  EXPECT_GE(memory.argument, step.state_bytes + step.batch_bytes);
  EXPECT_LE(memory.argument, step.state_bytes + step.batch_bytes + 1024);
  EXPECT_GE(memory.output, step.state_bytes);
  EXPECT_GT(memory.temp, 0);
  // Small models at small batches: anything near this is a blow-up in the compiler.
  EXPECT_LT(memory.total(), int64_t{2} << 30) << HumanBytes(memory.total());
}

INSTANTIATE_TEST_SUITE_P(All, GpuCompile, ::testing::ValuesIn(Cases()), CaseName);

// Bytes that a step needs on an H100 beside state, batch and results.
double TempBytes(const Workload& workload, const std::string& policy) {
  const Step step = TrainingStep(workload, policy, 1, workload.rows);
  return static_cast<double>(CompileFor("h100", step.stablehlo, 1).memory.temp);
}

const Workload& Find(std::string_view name) {
  for (const Workload& workload : Workloads()) {
    if (workload.name == name) return workload;
  }
  throw Internal("no workload {}", name);
}

// At equal batch, all in all; the figures stand in docs/plugins.md.
void ExpectFortyPercentLess(const Workload& workload) {
  const double full = TempBytes(workload, "float32");
  for (const char* policy : {"mixed_bfloat16", "mixed_float16"}) {
    const double half = TempBytes(workload, policy);
    std::printf("%s: %.1f MB in float32, %.1f MB in %s: %.1f %% less\n", workload.name.c_str(),
                full / 1e6, half / 1e6, policy, 100 * (1 - half / full));
    EXPECT_LE(half, 0.6 * full) << policy;
  }
}

TEST(GpuMemory, HalfPrecisionNeedsFortyPercentLessForResNet) {
  Workload resnet = Find("resnet18");
  resnet.rows = 128;
  ExpectFortyPercentLess(resnet);
}

TEST(GpuMemory, HalfPrecisionNeedsFortyPercentLessForATransformer) {
  Workload transformer = Find("transformer");
  transformer.options = "vocabulary = 8192\nlayers = 4";
  transformer.optimizer = "class = \"Adam\"";
  transformer.rows = 32;
  ExpectFortyPercentLess(transformer);
}

TEST(GpuCompileErrors, ACardThatTheCompilerKnowsNoMoreIsNamed) {
  const Step step = TrainingStep(Workloads()[0], "float32", 1, 8);
  try {
    CompileFor("v100", step.stablehlo, 1);
    FAIL() << "compiled for a V100";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kUnimplemented);
    EXPECT_EQ(error.exit_code(), kExitUsage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("v100"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("Volta"));
  }
}

TEST(GpuCompileErrors, EveryOtherCardIsCompiledFor) {
  Workload small = Find("mlp");
  small.options = "layers = 1\nunits = 16";
  const Step step = TrainingStep(small, "mixed_float16", 1, 8);
  for (const xla::Card& card : xla::Cards()) {
    if (!card.compiler_issue.empty()) continue;
    EXPECT_GT(CompileFor(card.name, step.stablehlo, 1).memory.total(), 0) << card.name;
  }
}

}  // namespace
}  // namespace flatout
