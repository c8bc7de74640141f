// flatout_bench: times the bare compiled training step of one of the five workloads
// (bench/README.md), or a foreign StableHLO step on the same plugin, or both in turn.
//
//   flatout_bench --workload mlp --steps 100
//   flatout_bench --workload mlp --steps 100 --mlir jax_mlp.mlir            (the foreign step)
//   flatout_bench --workload mlp --steps 100 --beside jax_mlp.mlir          (both, in turn, one
//   process)
//   flatout_bench --workload mlp --steps 100 --beside-xla                   (the same without
//   library kernels) flatout_bench --workload mlp --steps 100 --accumulate 8                 (steps
//   of 8 micro-batches against as many steps of one, in turn)
//
// Prints one JSON object as its last line: workload, version, ms_per_step (one number per step, in
// milliseconds from the launch until the loss is on the host, divided by the steps of the launch),
// loss (of every step since the start of training, warm-up included), and with --beside also
// "beside" (the same for the other step) and "ratio" (its median time / our median time, over
// rounds run in turn). With --accumulate the times are per micro-batch, "beside" is the step
// without accumulation, and so "ratio" is above 1 where accumulating is faster.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/base/process.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/kernels/kernels.h"
#include "flatout/nn/initializer.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/model.h"
#include "flatout/optim/optimizer.h"
#include "flatout/step/step_program.h"
#include "flatout/xla/compile_cache.h"
#include "flatout/xla/cuda_driver.h"
#include "flatout/xla/pjrt.h"

namespace flatout {
namespace {

using ir::DType;
using ir::Shape;
using Clock = std::chrono::steady_clock;

constexpr int kWarmUpLaunches = 3;
// Rounds of --beside: long enough that the caches hold the step that runs, short enough that a busy
// moment of the machine meets both.
constexpr int64_t kStepsPerRound = 3;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NotFound("{}: cannot be read", path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// Processor time of all threads of this process so far. On a busy machine it says more than the
// clock.
double CpuMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// A training step whose state lives on the device: launched with all its arguments, the first of
// which are replaced by the first results.
class Contestant {
 public:
  Contestant(std::shared_ptr<xla::Executable> executable, std::vector<xla::Buffer> arguments,
             int num_state, int loss, int64_t steps)
      : executable_(std::move(executable)),
        arguments_(std::move(arguments)),
        num_state_(num_state),
        loss_(loss),
        steps_(steps) {}

  int64_t steps_per_launch() const { return steps_; }
  const xla::Executable& executable() const { return *executable_; }

  // One launch; adds to ms_per_step, cpu_ms_per_step and loss.
  void Launch() {
    pointers_.clear();
    for (const xla::Buffer& argument : arguments_) pointers_.push_back(&argument);
    const auto begin = Clock::now();
    const double cpu_begin = CpuMilliseconds();
    executable_->Execute(pointers_, run_);
    std::vector<float> losses(steps_);
    run_.outputs[0][loss_].ToHost(losses.data(), losses.size() * sizeof(float));
    run_.Await();
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin;
    const double cpu = CpuMilliseconds() - cpu_begin;
    for (int i = 0; i < num_state_; ++i) arguments_[i] = std::move(run_.outputs[0][i]);
    for (int64_t i = 0; i < steps_; ++i) {
      ms_per_step.push_back(elapsed.count() / static_cast<double>(steps_));
      cpu_ms_per_step.push_back(cpu / static_cast<double>(steps_));
      loss.push_back(losses[i]);
    }
  }

  // At least `steps` steps, in whole launches.
  void Run(int64_t steps) {
    for (int64_t done = 0; done < steps; done += steps_) Launch();
  }

  void WarmUp() {
    for (int i = 0; i < kWarmUpLaunches; ++i) Launch();
    Forget();
  }

  void Forget() {
    ms_per_step.clear();
    cpu_ms_per_step.clear();
  }

  std::vector<double> ms_per_step, cpu_ms_per_step;
  std::vector<float> loss;

 private:
  std::shared_ptr<xla::Executable> executable_;
  std::vector<xla::Buffer> arguments_;
  std::vector<const xla::Buffer*> pointers_;
  xla::Execution run_;
  int num_state_, loss_;
  int64_t steps_;
};

// ---- our step
// -------------------------------------------------------------------------------------------------

struct FieldSpec {
  std::string name;
  Shape shape;      // of one row
  int64_t classes;  // integers are drawn from 0..classes-1, floats from a normal distribution
};

struct Workload {
  std::string_view name;
  std::string_view model, loss, optimizer;  // TOML
  int64_t batch;
  std::vector<FieldSpec> fields;  // the last one is the target
};

const std::vector<Workload>& Workloads() {
  static const std::string_view kSparse =
      "class = \"SparseCategoricalCrossentropy\"\nfrom_logits = true";
  static const std::string_view kAdam = "class = \"Adam\"";
  static const std::vector<Workload> table = {
      {"mlp",
       "builtin = \"mlp\"",
       kSparse,
       kAdam,
       128,
       {{"x", Shape(DType::kF32, {784}), 0}, {"y", Shape(DType::kI32, {}), 10}}},
      {"cnn",
       "builtin = \"cnn\"",
       kSparse,
       kAdam,
       64,
       {{"x", Shape(DType::kF32, {28, 28, 1}), 0}, {"y", Shape(DType::kI32, {}), 10}}},
      {"rn",
       "builtin = \"resnet18\"",
       kSparse,
       "class = \"SGD\"\nlearning_rate = 0.01\nmomentum = 0.9",
       32,
       {{"x", Shape(DType::kF32, {32, 32, 3}), 0}, {"y", Shape(DType::kI32, {}), 10}}},
      {"tr",
       "builtin = \"transformer\"\nvocabulary = 8192",
       kSparse,
       kAdam,
       8,
       {{"x", Shape(DType::kI32, {128}), 8192}, {"y", Shape(DType::kI32, {128}), 8192}}},
      {"dl",
       "builtin = \"dlrm\"",
       "class = \"BinaryCrossentropy\"\nfrom_logits = true",
       "class = \"SGD\"\nlearning_rate = 0.01",
       1024,
       {{"dense", Shape(DType::kF32, {13}), 0},
        {"ids", Shape(DType::kI32, {8}), 100000},
        {"y", Shape(DType::kI32, {}), 2}}},
  };
  return table;
}

const Workload& FindWorkload(const std::string& name) {
  for (const Workload& workload : Workloads()) {
    if (workload.name == name) return workload;
  }
  throw Invalid("unknown workload \"{}\"; known: mlp, cnn, rn, tr, dl", name);
}

// The objects a step is made from, kept together because StepSpec refers to them.
struct OurStep {
  nn::Model model;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<nn::Loss> loss;
  step::StepSpec spec;
};

// What may differ between our steps of one workload.
struct StepOptions {
  int64_t steps_per_launch = 1;
  std::string precision = "float32";
  int64_t micro_batches = 1;  // of the workload's batch each
  int64_t loss_blocks = 0;    // 0: as many as the program chooses
  kernels::Choice kernels = kernels::ChoiceFromEnvironment();
};

std::unique_ptr<OurStep> MakeStep(const Workload& workload, const StepOptions& options) {
  const auto parse = [](std::string_view text) { return Config::ParseToml(text, "workload"); };
  std::vector<std::string> names;
  std::vector<Shape> shapes;
  for (size_t i = 0; i + 1 < workload.fields.size(); ++i) {
    names.push_back(workload.fields[i].name);
    shapes.push_back(workload.fields[i].shape);
  }
  std::unique_ptr<OurStep> step(
      new OurStep{nn::Model::FromConfig(parse(workload.model), names, shapes),
                  optim::OptimizerFromConfig(parse(workload.optimizer)),
                  nn::LossFromConfig(parse(workload.loss)),
                  {}});
  step->model.SetPolicy(nn::Policy::Named(options.precision));
  step::StepSpec& spec = step->spec;
  spec.model = &step->model;
  spec.optimizer = step->optimizer.get();
  spec.loss = step->loss.get();
  spec.policy = nn::Policy::Named(options.precision);
  for (const FieldSpec& field : workload.fields) {
    Shape shape = field.shape;
    shape.dims.insert(shape.dims.begin(), workload.batch * options.micro_batches);
    spec.field_shapes.push_back(shape);
    spec.field_names.push_back(field.name);
  }
  for (size_t i = 0; i < names.size(); ++i) spec.input_fields.push_back(static_cast<int>(i));
  spec.target_field = static_cast<int>(names.size());
  spec.steps_per_launch = options.steps_per_launch;
  spec.micro_rows = options.micro_batches > 1 ? workload.batch : 0;
  spec.loss_blocks = options.loss_blocks;
  return step;
}

// The batch is drawn once and repeated for every step of a launch, as the rivals repeat theirs.
xla::Buffer MakeField(const xla::Client& client, const FieldSpec& field, int64_t batch,
                      int64_t steps, std::mt19937_64& random) {
  Shape shape = field.shape;
  shape.dims.insert(shape.dims.begin(), {steps, batch});
  const int64_t rows = shape.size() / steps;
  std::vector<float> floats;
  std::vector<int32_t> integers;
  if (field.classes == 0) {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < rows; ++i) floats.push_back(normal(random));
    for (int64_t i = rows; i < shape.size(); ++i) floats.push_back(floats[i - rows]);
    return client.FromVector(floats, shape);
  }
  std::uniform_int_distribution<int32_t> uniform(0, static_cast<int32_t>(field.classes - 1));
  for (int64_t i = 0; i < rows; ++i) integers.push_back(uniform(random));
  for (int64_t i = rows; i < shape.size(); ++i) integers.push_back(integers[i - rows]);
  return client.FromVector(integers, shape);
}

std::unique_ptr<Contestant> OurContestant(const xla::Client& client, xla::CompileCache& cache,
                                          const Workload& workload, const StepOptions& step_options,
                                          xla::CompileOptions options, const std::string& dump) {
  const int64_t steps = step_options.steps_per_launch;
  const int64_t batch = workload.batch * step_options.micro_batches;
  const std::unique_ptr<OurStep> step = MakeStep(workload, step_options);
  const step::Program program = step::BuildTrainProgram(step->spec);
  const kernels::Lowering lowering(client, step_options.kernels);
  options.cache_salt = lowering.cache_salt();
  const std::string text = lowering.ToStablehlo(*program.graph);
  if (!dump.empty()) std::ofstream(dump) << text;
  std::shared_ptr<xla::Executable> executable = cache.Compile(client, text, options);

  std::vector<xla::Buffer> arguments;
  for (const step::StateTensor& tensor : step::StateLayout(step->model, *step->optimizer)) {
    if (tensor.kind == step::StateTensor::Kind::kCounter) {
      arguments.push_back(client.FromVector(std::vector<int32_t>{0}, tensor.shape));
      continue;
    }
    std::vector<float> values(tensor.shape.size(), static_cast<float>(tensor.initial));
    if (tensor.kind == step::StateTensor::Kind::kVariable) {
      const nn::Variable& variable = step->model.variables()[tensor.variable];
      nn::Initialize(variable.initializer, variable.shape, 0, variable.path, values);
    }
    std::vector<std::byte> bytes(tensor.shape.bytes());
    for (size_t i = 0; i < values.size(); ++i) {
      ir::StoreElement(tensor.shape.dtype, values[i],
                       bytes.data() + i * ir::ByteSize(tensor.shape.dtype));
    }
    arguments.push_back(client.FromHost(bytes.data(), tensor.shape, client.devices()[0]));
  }
  std::mt19937_64 random(0);
  for (const FieldSpec& field : workload.fields) {
    arguments.push_back(MakeField(client, field, batch, steps, random));
  }
  arguments.push_back(client.FromVector(std::vector<float>(steps * batch, 1.0f),
                                        Shape(DType::kF32, {steps, batch})));
  arguments.push_back(client.FromVector(std::vector<int32_t>{static_cast<int32_t>(steps)},
                                        Shape::Scalar(DType::kI32)));
  arguments.push_back(client.FromVector(std::vector<float>{1.0f}, Shape::Scalar(DType::kF32)));
  return std::make_unique<Contestant>(std::move(executable), std::move(arguments),
                                      program.num_state, program.results.losses, steps);
}

// ---- a foreign step
// -------------------------------------------------------------------------------------------

// "128x784xf32" or "i32".
Shape ParseTensor(std::string_view text) {
  Shape shape;
  for (size_t at = text.find('x'); at != std::string_view::npos && text[0] >= '0' && text[0] <= '9';
       at = text.find('x')) {
    shape.dims.push_back(std::stoll(std::string(text.substr(0, at))));
    text.remove_prefix(at + 1);
  }
  shape.dtype = ir::ParseDType(text);
  return shape;
}

// The types of @main's arguments, in order.
std::vector<Shape> ArgumentShapes(const std::string& text, const std::string& path) {
  const size_t begin = text.find("@main(");
  const size_t end = begin == std::string::npos ? begin : text.find(") -> ", begin);
  if (end == std::string::npos)
    throw BadData("{}: no function @main with arguments and results", path);
  std::vector<Shape> shapes;
  const std::string_view signature(text.data() + begin, end - begin);
  constexpr std::string_view kTensor = ": tensor<";
  for (size_t at = signature.find(kTensor); at != std::string_view::npos;
       at = signature.find(kTensor, at)) {
    at += kTensor.size();
    shapes.push_back(ParseTensor(signature.substr(at, signature.find('>', at) - at)));
  }
  return shapes;
}

// A program written by step_jax.py --mlir: its last result is the loss, the others are the new
// state, which the first arguments hold. FILE.arguments has the arguments' bytes one after the
// other.
std::unique_ptr<Contestant> ForeignContestant(const xla::Client& client, xla::CompileCache& cache,
                                              const std::string& path,
                                              const xla::CompileOptions& options) {
  const std::string text = ReadAll(path);
  std::shared_ptr<xla::Executable> executable = cache.Compile(client, text, options);
  const std::string bytes = ReadAll(path + ".arguments");
  std::vector<xla::Buffer> arguments;
  size_t at = 0;
  for (const Shape& shape : ArgumentShapes(text, path)) {
    const auto size = static_cast<size_t>(shape.bytes());
    if (at + size > bytes.size()) {
      throw BadData(
          "{}.arguments: {} bytes are fewer than @main's arguments need; write both anew with "
          "bench/rivals/step_jax.py --mlir",
          path, bytes.size());
    }
    arguments.push_back(client.FromHost(bytes.data() + at, shape, client.devices()[0]));
    at += size;
  }
  if (at != bytes.size()) {
    throw BadData("{}.arguments: {} bytes, but @main's arguments need {}", path, bytes.size(), at);
  }
  const int results = static_cast<int>(executable->output_shapes().size());
  return std::make_unique<Contestant>(std::move(executable), std::move(arguments), results - 1,
                                      results - 1, 1);
}

// ---- main
// -----------------------------------------------------------------------------------------------------

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

nlohmann::json Describe(const Contestant& contestant) {
  nlohmann::json result = {{"ms_per_step", contestant.ms_per_step},
                           {"cpu_ms_per_step", contestant.cpu_ms_per_step},
                           {"loss", contestant.loss}};
  if (const auto memory = contestant.executable().memory()) {
    result["memory"] = {{"argument", memory->argument},
                        {"output", memory->output},
                        {"alias", memory->alias},
                        {"temp", memory->temp}};
  }
  return result;
}

int Main(int argc, char** argv) {
  if (!xla::HasNvidiaDriver()) xla::KeepMemoryBetweenLaunches();
  std::string name, plugin_name = "cpu", mlir, beside, dump, precision = "float32", cache_folder;
  int64_t steps = 0, steps_per_launch = 1, accumulate = 1, loss_blocks = 0;
  bool beside_xla = false;
  std::vector<std::string> flags;
  CLI::App app("Times the bare compiled training step of one workload.");
  app.add_option("--workload", name, "mlp, cnn, rn, tr or dl")->required();
  app.add_option("--steps", steps, "steps to time")->required()->check(CLI::PositiveNumber);
  app.add_option("--plugin", plugin_name, "cpu, cpu-0.81, cpu-0.115 or a path")
      ->capture_default_str();
  app.add_option("--steps-per-launch", steps_per_launch, "steps that one launch runs on the device")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--precision", precision, "precision policy")->capture_default_str();
  CLI::Option* const foreign =
      app.add_option("--mlir", mlir, "run this foreign StableHLO step instead of ours");
  CLI::Option* const turn =
      app.add_option("--beside", beside, "run this foreign step in turn with ours");
  app.add_option("--accumulate", accumulate,
                 "steps of so many micro-batches of the workload's batch, in turn with as many "
                 "steps of one")
      ->check(CLI::PositiveNumber)
      ->excludes(foreign)
      ->excludes(turn);
  app.add_option("--loss-blocks", loss_blocks,
                 "blocks in which head and loss are computed; 0: as the program chooses")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--beside-xla", beside_xla, "run in turn with our step as XLA alone computes it")
      ->excludes(foreign)
      ->excludes(turn);
  app.add_option("--dump", dump, "write our StableHLO to this file");
  app.add_option("--xla-flag", flags, "NAME=VALUE, an XLA flag for the programs compiled");
  app.add_option("--cache", cache_folder, "folder of the compile cache, or off");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Workload& workload = FindWorkload(name);
  const auto plugin = xla::Plugin::Load(plugin_name);
  const auto client = xla::Client::Create(plugin, {});
  xla::CompileCache cache({.folder = cache_folder});
  xla::CompileOptions options;
  for (const std::string& flag : flags) {
    const size_t equals = flag.find('=');
    if (equals == std::string::npos) throw Invalid("--xla-flag {}: expected NAME=VALUE", flag);
    options.env_overrides[flag.substr(0, equals)] = flag.substr(equals + 1);
  }
  const auto ours = [&](int64_t per_launch, int64_t micro_batches,
                        kernels::Choice choice = kernels::ChoiceFromEnvironment()) {
    return OurContestant(*client, cache, workload,
                         {.steps_per_launch = per_launch,
                          .precision = precision,
                          .micro_batches = micro_batches,
                          .loss_blocks = loss_blocks,
                          .kernels = choice},
                         options, dump);
  };
  const std::unique_ptr<Contestant> contestant =
      mlir.empty() ? ours(steps_per_launch, accumulate)
                   : ForeignContestant(*client, cache, mlir, options);
  contestant->WarmUp();
  nlohmann::json result;
  if (beside.empty() && accumulate == 1 && !beside_xla) {
    contestant->Run(steps);
    result = Describe(*contestant);
  } else {
    // With --accumulate one launch of the other goes over as many rows as one of ours.
    const auto other = beside_xla       ? ours(steps_per_launch, accumulate, kernels::Choice::kXla)
                       : beside.empty() ? ours(steps_per_launch * accumulate, 1)
                                        : ForeignContestant(*client, cache, beside, options);
    other->WarmUp();
    const int64_t round = std::max(kStepsPerRound, contestant->steps_per_launch());
    // The first step of a round finds the other's data in the caches; it does not count.
    struct Times {
      std::vector<double> wall, cpu;
    };
    const auto measure = [&](Contestant& runner, int64_t count, Times& times) {
      runner.Launch();
      runner.Forget();
      runner.Run(count);
      const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(times.wall, runner.ms_per_step);
      append(times.cpu, runner.cpu_ms_per_step);
    };
    Times our_times, other_times;
    for (int64_t done = 0; done < steps; done += round) {
      measure(*contestant, round, our_times);
      measure(*other, beside_xla ? round : round * accumulate, other_times);
    }
    for (std::vector<double>* times : {&our_times.wall, &our_times.cpu}) {
      for (double& time : *times) time /= static_cast<double>(accumulate);
    }
    contestant->ms_per_step = our_times.wall;
    contestant->cpu_ms_per_step = our_times.cpu;
    other->ms_per_step = other_times.wall;
    other->cpu_ms_per_step = other_times.cpu;
    result = Describe(*contestant);
    result["beside"] = Describe(*other);
    result["ratio"] = Median(other_times.wall) / Median(our_times.wall);
    result["cpu_ratio"] = Median(other_times.cpu) / Median(our_times.cpu);
    fmt::print(
        "{} on {}: ours {:.3f} ms (processor {:.3f}), beside {:.3f} ms (processor {:.3f}), ratio "
        "{:.3f} "
        "(processor {:.3f})\n",
        name, plugin_name, Median(our_times.wall), Median(our_times.cpu), Median(other_times.wall),
        Median(other_times.cpu), Median(other_times.wall) / Median(our_times.wall),
        Median(other_times.cpu) / Median(our_times.cpu));
  }
  result["workload"] = name;
  result["peak_bytes"] = PeakResidentBytes();
  result["version"] =
      fmt::format("{}, {} per launch, {} (PJRT {})", mlir.empty() ? "flatout" : "foreign",
                  contestant->steps_per_launch(), plugin->name(), plugin->version().ToString());
  std::cout << result.dump() << std::endl;
  return 0;
}

}  // namespace
}  // namespace flatout

int main(int argc, char** argv) {
  try {
    return flatout::Main(argc, argv);
  } catch (const flatout::Error& error) {
    fmt::print(stderr, "flatout_bench: {}\n", error.what());
    return error.exit_code();
  }
}
