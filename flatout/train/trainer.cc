#include "flatout/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <future>
#include <limits>
#include <numeric>

#include "flatout/base/cgroup.h"
#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/base/process.h"
#include "flatout/base/text.h"
#include "flatout/data/dataset.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/nn/layers/preprocessing.h"
#include "flatout/train/launch.h"

namespace flatout::train {
namespace {

using Bytes = std::vector<std::byte>;
using watch::Cause;
using watch::Phase;

// A launch should be long enough that starting it costs nothing beside it, and short enough that
// progress, signals and logs stay prompt.
constexpr double kLaunchSeconds = 0.03;
constexpr int64_t kMostStepsPerLaunch = 64;
constexpr int64_t kMostLaunchBytes = int64_t{16} << 20;
// Rough speeds, only to choose steps_per_launch before anything has run.
constexpr double kGuessedCpuFlops = 1e11;
constexpr double kGuessedGpuFlops = 2e13;

// The index of `name` in the fields; throws naming what there is.
int FieldFor(const std::vector<data::Field>& fields, const std::string& name,
             std::string_view key) {
  return WithContext(fmt::format("train.{}", key),
                     [&] { return static_cast<int>(data::FindField(fields, name)); });
}

}  // namespace

std::map<std::string, double> Scores::All(const std::string& prefix) const {
  std::map<std::string, double> all;
  all[prefix + "loss"] = loss;
  for (const auto& [name, value] : metrics) all[prefix + name] = value;
  return all;
}

// ---- making a trainer ----

Trainer::Trainer(RunConfig config, nn::Model model, Sources sources,
                 std::shared_ptr<Runtime> runtime, std::shared_ptr<watch::Ledger> ledger)
    : config_(std::move(config)),
      model_(std::move(model)),
      sources_(std::move(sources)),
      runtime_(std::move(runtime)),
      ledger_(std::move(ledger)) {
  if (ledger_ == nullptr) ledger_ = std::make_shared<watch::Ledger>(SecondsSinceProcessStart());
  if (runtime_ == nullptr) runtime_ = std::make_shared<Runtime>(config_.train);
  CheckTrainOptions(config_.train);
  bad_records_ = std::make_unique<data::BadRecords>(config_.pipeline.max_bad_records);
  optimizer_ = optim::OptimizerFromConfig(config_.optimizer);
  if (config_.train.reduce_lr_on_plateau && !optimizer_->schedule().constant()) {
    throw Invalid(
        "train.reduce_lr_on_plateau needs a constant learning rate; the optimizer's is a "
        "schedule");
  }
  loss_ = nn::LossFromConfig(config_.train.loss);
  for (const Config& metric : config_.train.metrics) {
    metrics_.push_back(nn::MetricFromConfig(metric, *loss_));
    // A second metric of one name gets a number, as in Keras.
    std::string name = metrics_.back()->name();
    for (int i = 1; std::count(metric_names_.begin(), metric_names_.end(), name) > 0; ++i) {
      name = fmt::format("{}_{}", metrics_.back()->name(), i);
    }
    metric_names_.push_back(name);
  }
  policy_ = nn::Policy::Named(config_.train.precision);

  const int64_t replicas = runtime_->replicas();
  const int64_t batch = config_.train.global_batch;
  if (batch % replicas != 0) {
    throw Invalid("train.global_batch = {} does not divide over {} devices; {} or {} would", batch,
                  replicas, std::max(batch / replicas, int64_t{1}) * replicas,
                  (batch / replicas + 1) * replicas);
  }
  rows_ = batch / replicas;
  ChooseFields();
  CheckIndices();
  CheckTarget();
  steps_per_launch_ = ChooseStepsPerLaunch();
  layout_ = step::StateLayout(model_, *optimizer_);
  CheckStateFits();
  i32_.resize(replicas);
  f32_.resize(replicas);
  InitializeState();
}

Trainer::~Trainer() = default;

void Trainer::ChooseFields() {
  const data::SourcePtr any = sources_.train        ? sources_.train
                              : sources_.validation ? sources_.validation
                                                    : sources_.test;
  if (any == nullptr) throw Invalid("there is no data: no split of [data] holds records");
  fields_ = any->fields();
  const TrainOptions& options = config_.train;
  target_field_ = options.target.empty() ? static_cast<int>(fields_.size()) - 1
                                         : FieldFor(fields_, options.target, "target");
  if (options.inputs.empty()) {
    for (int i = 0; i < static_cast<int>(fields_.size()); ++i) {
      if (i != target_field_) input_fields_.push_back(i);
    }
  } else {
    for (const std::string& name : options.inputs) {
      input_fields_.push_back(FieldFor(fields_, name, "inputs"));
    }
  }
  if (input_fields_.size() != model_.inputs().size()) {
    throw Invalid(
        "the model takes {} inputs, the data gives {} ({}); name them with train.inputs and "
        "train.target",
        model_.inputs().size(), input_fields_.size(), data::DescribeFields(fields_));
  }
  for (size_t i = 0; i < input_fields_.size(); ++i) {
    const data::Field& field = fields_[input_fields_[i]];
    const ir::Shape& wanted = model_.inputs()[i].shape();
    if (field.shape != wanted) {
      throw Invalid("model input {} is {}, the data's field \"{}\" is {}", i, wanted.ToString(),
                    field.name, field.shape.ToString());
    }
  }
}

void Trainer::CheckIndices() const {
  for (size_t i = 0; i < input_fields_.size(); ++i) {
    const data::Field& field = fields_[input_fields_[i]];
    const nn::LayerPtr layer = model_.IndexedBy(static_cast<int>(i));
    if (field.bound == 0 || !layer || field.bound <= layer->index_bound()) continue;
    throw Invalid(
        "the data's field \"{}\" holds indices from 0 to {}, but layer {} has only {} rows; "
        "give it {}",
        field.name, field.bound - 1, layer->name(), layer->index_bound(), field.bound);
  }
}

void Trainer::CheckTarget() const {
  // Class indices must fit the outputs: XLA would clamp or give NaN far from the cause.
  const data::Field& target = fields_[target_field_];
  const ir::Shape& output = model_.outputs()[0].shape();
  if (!loss_->name().starts_with("sparse") || target.bound == 0 || output.rank() == 0) return;
  if (output.dims.back() < target.bound) {
    throw Invalid(
        "the data's field \"{}\" has {} classes (0 to {}), but the model's output {} has "
        "only {}; give the last layer {} units",
        target.name, target.bound, target.bound - 1, output.ToString(), output.dims.back(),
        target.bound);
  }
}

void Trainer::CheckStateFits() const {
  // On CPU devices the state of every replica lies in this process's memory, and once more while it
  // is made. GPUs say themselves when theirs does not suffice.
  if (!runtime_->client().is_cpu()) return;
  const int64_t usable = ReadCgroup().memory.usable;
  const double needed =
      static_cast<double>(state_bytes()) * static_cast<double>(runtime_->replicas() + 1);
  if (usable < 0 || needed <= static_cast<double>(usable)) return;
  const auto largest = std::max_element(layout_.begin(), layout_.end(),
                                        [](const step::StateTensor& a, const step::StateTensor& b) {
                                          return a.shape.bytes() < b.shape.bytes();
                                        });
  throw UserError(
      Code::kResourceExhausted,
      fmt::format(
          "the weights and the optimizer's state take {} on {} device{} (and one copy while "
          "they are made), but this process may use {}; the largest tensor is {} {} of {}. "
          "Make that layer smaller, or choose an optimizer with less state",
          HumanBytes(state_bytes()), runtime_->replicas(), runtime_->replicas() == 1 ? "" : "s",
          HumanBytes(usable), largest->name, largest->shape.ToString(),
          HumanBytes(largest->shape.bytes())));
}

void Trainer::CheckScores(const Scores& scores, const data::SourcePtr& source) const {
  if (scores.rows == 0) throw BadData("{}: all records are bad", source->description());
  if (std::isfinite(scores.loss)) return;
  // Is it a record? Labels outside the classes give NaN, and so do values that are not finite.
  const ir::Dims& output = model_.outputs()[0].shape().dims;
  const int64_t classes =
      loss_->name().starts_with("sparse") && !output.empty() ? output.back() : 0;
  data::ReadContext context(bad_records_.get());
  data::Block block;
  const int64_t records = source->indexed() ? source->size() : 0;
  for (int64_t record = 0; record < records; ++record) {
    block.Reset(fields_, 1);
    block.set_bad_records(bad_records_.get());
    source->Read(context, /*epoch=*/0, std::vector<int64_t>{record}, block);
    if (block.bad(0)) continue;
    for (size_t f = 0; f < fields_.size(); ++f) {
      const ir::Shape& shape = fields_[f].shape;
      for (int64_t i = 0; i < shape.size(); ++i) {
        const double value =
            ir::LoadElement(shape.dtype, block.data(f) + i * ir::ByteSize(shape.dtype));
        const bool outside = classes > 0 && static_cast<int>(f) == target_field_ &&
                             (value < 0 || value >= static_cast<double>(classes));
        if (!std::isfinite(value) || outside) {
          throw BadData(
              "{}: record {}: field \"{}\" holds {}{}", source->description(), record,
              fields_[f].name, value,
              outside ? fmt::format(", but the model has the classes 0 to {}", classes - 1) : "");
        }
      }
    }
  }
  throw UserError(Code::kFailedPrecondition,
                  fmt::format("the loss over {} is {}: the weights have diverged. Lower "
                              "optimizer.learning_rate, or clip gradients "
                              "(optimizer.global_clipnorm = 1.0)",
                              source->description(), std::isnan(scores.loss) ? "NaN" : "infinite"));
}

void Trainer::AdaptLayers() {
  constexpr int64_t kChunk = 1024;
  const std::vector<std::pair<nn::LayerPtr, int>> layers = model_.LayersToAdapt();
  if (layers.empty() || weights_loaded_) return;
  std::vector<Bytes> state = SnapshotState();
  for (const auto& [layer, input] : layers) {
    const int index = input_fields_[input];
    const ir::Shape& sample = fields_[index].shape;
    const auto accumulator = dynamic_cast<const nn::Adaptable&>(*layer).StartAdapt(sample);
    data::ReadContext context(bad_records_.get());
    data::Block chunk;
    const std::unique_ptr<data::Cursor> cursor = sources_.train->Open(/*epoch=*/0);
    while (const int64_t records = cursor->Next(context, kChunk, chunk)) {
      std::vector<float> values(records * sample.size());
      const int64_t element = ir::ByteSize(sample.dtype);
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(
            ir::LoadElement(sample.dtype, chunk.data(index) + static_cast<int64_t>(i) * element));
      }
      accumulator->Add(values, records);
    }
    for (const auto& [name, values] : accumulator->Finish()) {
      for (size_t i = 0; i < layout_.size(); ++i) {
        if (layout_[i].name != layer->name() + "/" + name) continue;
        if (state[i].size() != values.size() * sizeof(float)) {
          throw Internal("{} adapts to {} values of {}", layout_[i].name, values.size(),
                         layout_[i].shape.ToString());
        }
        std::memcpy(state[i].data(), values.data(), state[i].size());
      }
    }
  }
  UploadState(state);
}

void Trainer::InitializeState() {
  std::vector<Bytes> tensors(layout_.size());
  const auto fill = [&](size_t i) {
    const step::StateTensor& tensor = layout_[i];
    tensors[i].resize(tensor.shape.bytes());
    if (tensor.kind == step::StateTensor::Kind::kVariable) {
      const nn::Variable& variable = model_.variables()[tensor.variable];
      nn::Initialize(variable.initializer, variable.shape, config_.train.seed, variable.path,
                     {reinterpret_cast<float*>(tensors[i].data()),
                      static_cast<size_t>(variable.shape.size())});
    } else if (tensor.initial != 0) {
      const auto value = static_cast<float>(tensor.initial);
      for (int64_t e = 0; e < tensor.shape.size(); ++e) {
        std::memcpy(tensors[i].data() + e * sizeof(float), &value, sizeof(float));
      }
    }
  };
  for (size_t i = 0; i < layout_.size(); ++i) fill(i);
  UploadState(tensors);
}

void Trainer::UploadState(const std::vector<Bytes>& tensors) {
  state_.clear();
  for (const xla::Device& device : runtime_->devices()) {
    std::vector<xla::Buffer>& buffers = state_.emplace_back();
    for (size_t i = 0; i < tensors.size(); ++i) {
      buffers.push_back(runtime_->client().FromHost(tensors[i].data(), layout_[i].shape, device));
    }
  }
}

std::vector<Bytes> Trainer::SnapshotState() const {
  std::vector<Bytes> tensors;
  for (const xla::Buffer& buffer : state_.at(0)) {
    Bytes& bytes = tensors.emplace_back(buffer.shape().bytes());
    buffer.ToHost(bytes.data(), bytes.size());
  }
  return tensors;
}

int64_t Trainer::state_bytes() const {
  int64_t bytes = 0;
  for (const step::StateTensor& tensor : layout_) bytes += tensor.shape.bytes();
  return bytes;
}

step::StepSpec Trainer::SpecFor(int64_t rows, int64_t steps_per_launch) const {
  step::StepSpec spec;
  spec.model = &model_;
  spec.optimizer = optimizer_.get();
  spec.loss = loss_.get();
  for (const auto& metric : metrics_) spec.metrics.push_back(metric.get());
  spec.policy = policy_;
  for (const data::Field& field : fields_) {
    ir::Shape shape = field.shape;
    shape.dims.insert(shape.dims.begin(), rows);
    spec.field_shapes.push_back(shape);
    spec.field_names.push_back(field.name);
  }
  spec.input_fields = input_fields_;
  spec.target_field = target_field_;
  spec.steps_per_launch = steps_per_launch;
  spec.replicas = runtime_->replicas();
  spec.seed = config_.train.seed;
  return spec;
}

int64_t Trainer::ChooseStepsPerLaunch() const {
  const Config& option = config_.train.steps_per_launch;
  if (!option.is_string()) return option.AsInt();
  const double flops = 3 * model_.ForwardFlops() * static_cast<double>(rows_);
  const double speed = runtime_->client().is_cpu() ? kGuessedCpuFlops : kGuessedGpuFlops;
  int64_t row_bytes = sizeof(float);
  for (const data::Field& field : fields_) row_bytes += field.shape.bytes();
  const auto by_time = static_cast<int64_t>(kLaunchSeconds * speed / std::max(flops, 1.0));
  const int64_t by_bytes = kMostLaunchBytes / (row_bytes * rows_);
  int64_t steps = std::clamp<int64_t>(std::min(by_time, by_bytes), 1, kMostStepsPerLaunch);
  if (sources_.train != nullptr && sources_.train->indexed()) {
    const int64_t batch = config_.train.global_batch;
    steps = std::min(steps, (sources_.train->size() + batch - 1) / batch);
  }
  return steps;
}

void Trainer::CompileTraining() {
  if (train_ != nullptr) return;
  const Phase phase(*ledger_, Cause::kCompile);
  const bool evaluates = sources_.validation != nullptr || sources_.test != nullptr;
  std::future<void> evaluation;
  if (evaluates && evaluate_ == nullptr) {
    evaluation = std::async(std::launch::async, [this] { CompileEvaluation(); });
  }
  train_program_ = step::BuildTrainProgram(SpecFor(rows_, steps_per_launch_));
  train_ = runtime_->Compile(ir::ToStablehlo(
      *train_program_.graph, {.num_replicas = static_cast<int>(runtime_->replicas())}));
  if (evaluation.valid()) evaluation.get();
}

void Trainer::CompileEvaluation() {
  if (evaluate_ != nullptr) return;
  evaluate_program_ = step::BuildEvaluateProgram(SpecFor(rows_, steps_per_launch_));
  evaluate_ = runtime_->Compile(ir::ToStablehlo(
      *evaluate_program_.graph, {.num_replicas = static_cast<int>(runtime_->replicas())}));
}

std::optional<xla::ProgramMemory> Trainer::TrainProgramMemory() {
  CompileTraining();
  return train_->memory();
}

const xla::Buffer& Trainer::ScalarI32(int64_t replica, int32_t value) {
  xla::Buffer& buffer = i32_[replica][value];
  if (!buffer) {
    buffer = runtime_->client().FromHost(&value, ir::Shape::Scalar(ir::DType::kI32),
                                         runtime_->devices()[replica]);
  }
  return buffer;
}

const xla::Buffer& Trainer::ScalarF32(int64_t replica, float value) {
  xla::Buffer& buffer = f32_[replica][value];
  if (!buffer) {
    buffer = runtime_->client().FromHost(&value, ir::Shape::Scalar(ir::DType::kF32),
                                         runtime_->devices()[replica]);
  }
  return buffer;
}

// ---- scoring and predicting ----

data::DevicePrefetchOptions Trainer::PrefetchFor(int64_t epochs) const {
  data::DevicePrefetchOptions options;
  options.depth = config_.pipeline.prefetch_depth();
  options.bytes = config_.pipeline.prefetch_bytes();
  options.workers = config_.pipeline.worker_threads();
  options.bad = bad_records_.get();
  options.end_epoch = epochs;
  return options;
}

Scores Trainer::Evaluate(const data::SourcePtr& source, Observer* observer,
                         const std::atomic<bool>* stop) {
  if (source->fields() != fields_ &&
      data::DescribeFields(source->fields()) != data::DescribeFields(fields_)) {
    throw Invalid("{} does not fit the model, which takes {}", source->description(),
                  data::DescribeFields(fields_));
  }
  {
    const Phase phase(*ledger_, Cause::kCompile);
    CompileEvaluation();
  }
  const Phase phase(*ledger_, Cause::kEvaluation);
  data::LaunchReader reader(
      source,
      {.steps_per_launch = steps_per_launch_, .replicas = runtime_->replicas(), .rows = rows_});
  const int64_t steps = reader.steps_per_epoch();
  const data::DevicePrefetchOptions options = PrefetchFor(/*epochs=*/1);
  const data::IteratorState start = reader.Start();
  data::DevicePrefetcher input(runtime_->shared_client(), runtime_->devices(), std::move(reader),
                               start, options);
  Totals totals(metrics_, metric_names_);
  Scores scores;
  int64_t done = 0;
  std::deque<std::pair<data::DeviceLaunch, xla::Execution>> in_flight;
  const auto retire = [&] {
    in_flight.front().second.Await();
    totals.Add(evaluate_program_.results, in_flight.front().second.outputs[0], 0);
    done += in_flight.front().first.plan.steps;
    in_flight.pop_front();
    if (observer != nullptr) observer->OnEvaluation(done, steps);
  };
  const size_t num_variables = model_.variables().size();
  while (std::optional<data::DeviceLaunch> launch = input.Next()) {
    std::vector<const xla::Buffer*> args;
    for (int64_t r = 0; r < runtime_->replicas(); ++r) {
      for (size_t i = 0; i < num_variables; ++i) args.push_back(&state_[r][i]);
      for (const xla::Buffer& buffer : launch->buffers[r]) args.push_back(&buffer);
      args.push_back(&ScalarI32(r, static_cast<int32_t>(launch->plan.steps)));
    }
    if (stop != nullptr && stop->load()) {
      scores.complete = false;
      break;
    }
    const int64_t id = ledger_->Launched(Cause::kEvaluation);
    xla::Execution run = evaluate_->Execute(args);
    TrackCompletion(ledger_, id, run.done);
    scores.rows += launch->plan.rows - launch->bad_rows;
    in_flight.emplace_back(std::move(*launch), std::move(run));
    if (in_flight.size() >= kLaunchesInFlight) retire();
  }
  while (!in_flight.empty()) retire();
  scores.loss = totals.loss();
  scores.metrics = totals.Metrics();
  if (scores.complete) CheckScores(scores, source);
  return scores;
}

std::vector<checkpoint::HostTensor> Trainer::Predict(const data::SourcePtr& source, int64_t limit) {
  step::StepSpec spec = SpecFor(rows_, 1);
  spec.replicas = 1;
  const step::Program program = step::BuildPredictProgram(spec);
  std::shared_ptr<xla::Executable> executable;
  {
    const Phase phase(*ledger_, Cause::kCompile);
    executable = runtime_->CompileForOne(ir::ToStablehlo(*program.graph));
  }
  const Phase phase(*ledger_, Cause::kEvaluation);
  const data::SourcePtr some =
      limit >= 0 ? data::Dataset::FromSource(source).Take(limit).source() : source;
  std::vector<checkpoint::HostTensor> outputs(program.results.num_outputs);
  for (int o = 0; o < program.results.num_outputs; ++o) {
    outputs[o].name = o == 0 ? "output" : fmt::format("output_{}", o);
    outputs[o].shape = program.graph->outputs()[o].shape();
    outputs[o].shape.dims[0] = 0;
  }
  data::LaunchReader reader(some, {.rows = rows_});
  // A bad record cannot be left out here: outputs and records would no longer match.
  data::DevicePrefetchOptions options;
  options.end_epoch = 1;
  const data::IteratorState start = reader.Start();
  data::DevicePrefetcher input(runtime_->shared_client(), {runtime_->devices()[0]},
                               std::move(reader), start, options);
  // Launch buffers are [1, B, ...]; the program takes [B, ...]: copied through the host, which is
  // cheap beside what predictions are used for.
  const auto next = [&] {
    return WithContext("predictions leave no record out, whatever data.max_bad_records says",
                       [&] { return input.Next(); });
  };
  while (std::optional<data::DeviceLaunch> launch = next()) {
    std::vector<const xla::Buffer*> args;
    for (size_t i = 0; i < model_.variables().size(); ++i) args.push_back(&state_[0][i]);
    std::vector<xla::Buffer> slices;
    for (int field : input_fields_) {
      const xla::Buffer& buffer = launch->buffers[0][field];
      Bytes bytes(buffer.shape().bytes());
      buffer.ToHost(bytes.data(), bytes.size());
      slices.push_back(runtime_->client().FromHost(bytes.data(), spec.field_shapes[field],
                                                   runtime_->devices()[0]));
    }
    for (const xla::Buffer& slice : slices) args.push_back(&slice);
    const xla::Execution run = executable->Execute(args);
    for (int o = 0; o < program.results.num_outputs; ++o) {
      Bytes bytes(run.outputs[0][o].shape().bytes());
      run.outputs[0][o].ToHost(bytes.data(), bytes.size());
      const int64_t row_bytes = static_cast<int64_t>(bytes.size()) / rows_;
      bytes.resize(row_bytes * launch->plan.rows);
      outputs[o].bytes.insert(outputs[o].bytes.end(), bytes.begin(), bytes.end());
      outputs[o].shape.dims[0] += launch->plan.rows;
    }
  }
  return outputs;
}

// ---- weights ----

checkpoint::TensorFile Trainer::Weights() const {
  checkpoint::TensorFile file;
  for (size_t i = 0; i < model_.variables().size(); ++i) {
    const xla::Buffer& buffer = state_.at(0)[i];
    checkpoint::HostTensor& tensor = file.tensors.emplace_back();
    tensor.name = layout_[i].name;
    tensor.shape = layout_[i].shape;
    tensor.bytes.resize(tensor.shape.bytes());
    buffer.ToHost(tensor.bytes.data(), tensor.bytes.size());
  }
  return file;
}

void Trainer::LoadWeights(const checkpoint::TensorFile& weights, const std::string& origin) {
  std::vector<std::string> problems;
  std::vector<Bytes> state = SnapshotState();
  for (size_t i = 0; i < model_.variables().size(); ++i) {
    const checkpoint::HostTensor* tensor = weights.Find(layout_[i].name);
    if (tensor == nullptr) {
      problems.push_back(
          fmt::format("{} {} is missing", layout_[i].name, layout_[i].shape.ToString()));
    } else if (tensor->shape != layout_[i].shape) {
      problems.push_back(fmt::format("{} is {}, the model has {}", layout_[i].name,
                                     tensor->shape.ToString(), layout_[i].shape.ToString()));
    } else {
      state[i] = tensor->bytes;
    }
  }
  for (const checkpoint::HostTensor& tensor : weights.tensors) {
    const bool known =
        std::any_of(model_.variables().begin(), model_.variables().end(),
                    [&](const nn::Variable& variable) { return variable.path == tensor.name; });
    if (!known) {
      problems.push_back(
          fmt::format("{} {} is not in the model", tensor.name, tensor.shape.ToString()));
    }
  }
  if (!problems.empty()) {
    throw Invalid("{} does not fit the model: {}", origin, fmt::join(problems, "; "));
  }
  UploadState(state);
  weights_loaded_ = true;
}

}  // namespace flatout::train
