#include "flatout/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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
#include "flatout/checkpoint/compare.h"
#include "flatout/data/dataset.h"
#include "flatout/data/engine.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/nn/layers/preprocessing.h"
#include "flatout/plan/batch_choice.h"
#include "flatout/train/launch.h"

namespace flatout::train {
namespace {

using Bytes = std::vector<std::byte>;
using watch::Cause;
using watch::Phase;

// The part of the device's memory for input that is made ahead, where the run file leaves it open.
constexpr int64_t kPrefetchPart = 10;
// A micro-batch of fewer rows keeps no device busy; recomputing is the better way to save memory.
constexpr int64_t kFewRows = 8;

// Its statistics are those of a micro-batch, so that splitting the batch changes what is computed.
bool HasBatchStatistics(const nn::Model& model) {
  return std::any_of(
      model.variables().begin(), model.variables().end(),
      [](const nn::Variable& variable) { return variable.path.ends_with("/moving_variance"); });
}

bool IsAuto(const Config& value) { return value.is_string() && value.AsString() == "auto"; }

// Whether that tensor of the state belongs to a loss scale, of whatever kind.
bool IsLossScaleCounter(std::string_view name) {
  const std::vector<optim::Slot> counters = optim::LossScaleCounters(optim::LossScale::Dynamic());
  return std::any_of(counters.begin(), counters.end(),
                     [&](const optim::Slot& counter) { return counter.name == name; });
}

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
  model_.SetPolicy(policy_);
  if (IsAuto(config_.train.loss_scale)) {
    loss_scale_ = optim::LossScale::Auto(model_.computes_in(ir::DType::kF16));
  } else {
    ReadConfig(config_.train.loss_scale, loss_scale_);
  }

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
  layout_ = step::StateLayout(model_, *optimizer_, loss_scale_);
  CheckStateFits();
  i32_.resize(replicas);
  f32_.resize(replicas);
  InitializeState();
  room_ = Room();
  steps_per_launch_ = ChooseStepsPerLaunch();
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
  if (!loss_->name().starts_with("sparse")) return;
  if (ir::IsFloat(target.shape.dtype)) {
    throw Invalid(
        "the loss {} takes classes, which are integers, but the data's field \"{}\" is {}; declare "
        "an integer type for it, or set train.loss (MeanSquaredError, say, for numbers)",
        loss_->name(), target.name, target.ToString());
  }
  if (target.bound == 0 || output.rank() == 0) return;
  if (output.dims.back() < target.bound) {
    throw Invalid(
        "the data's field \"{}\" has {} classes (0 to {}), but the model's output {} has "
        "only {}; give the last layer {} units",
        target.name, target.bound, target.bound - 1, output.ToString(), output.dims.back(),
        target.bound);
  }
}

void Trainer::CheckStateFits() const {
  const auto complain = [&](const std::string& needed, const std::string& given) {
    const auto largest = std::max_element(
        layout_.begin(), layout_.end(), [](const step::StateTensor& a, const step::StateTensor& b) {
          return a.shape.bytes() < b.shape.bytes();
        });
    throw UserError(
        Code::kResourceExhausted,
        fmt::format("the weights and the optimizer's state take {} {}, but {}; the largest tensor "
                    "is {} {} of {}. Make that layer smaller, or choose an optimizer with less "
                    "state",
                    HumanBytes(state_bytes()), needed, given, largest->name,
                    largest->shape.ToString(), HumanBytes(largest->shape.bytes())));
  };
  const int64_t replicas = runtime_->replicas();
  const std::optional<int64_t> free = runtime_->free_memory();
  if (free && state_bytes() > *free) {
    const std::optional<int64_t> limit = runtime_->memory_limit();
    complain("on each device",
             fmt::format("of the {} that train.memory = {} leaves this run on one only {} are free",
                         HumanBytes(limit.value_or(*free)),
                         config_.train.memory.is_string()
                             ? '"' + config_.train.memory.AsString() + '"'
                             : fmt::format("{}", config_.train.memory.AsDouble()),
                         HumanBytes(*free)));
  }
  // On CPU devices the state of every replica lies in this process's memory, and once more while it
  // is made.
  if (!runtime_->client().is_cpu()) return;
  const int64_t usable = ReadCgroup().memory.usable;
  const double needed = static_cast<double>(state_bytes()) * static_cast<double>(replicas + 1);
  if (usable < 0 || needed <= static_cast<double>(usable)) return;
  complain(fmt::format("on {} device{} (and one copy while they are made)", replicas,
                       replicas == 1 ? "" : "s"),
           fmt::format("this process may use {}", HumanBytes(usable)));
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
        if (layout_[i].shape.size() != static_cast<int64_t>(values.size())) {
          throw Internal("{} adapts to {} values of {}", layout_[i].name, values.size(),
                         layout_[i].shape.ToString());
        }
        const ir::DType dtype = layout_[i].shape.dtype;
        for (size_t v = 0; v < values.size(); ++v) {
          ir::StoreElement(dtype, values[v], state[i].data() + v * ir::ByteSize(dtype));
        }
      }
    }
  }
  UploadState(state);
}

void Trainer::InitializeState() {
  std::vector<Bytes> tensors(layout_.size());
  for (size_t i = 0; i < layout_.size(); ++i) {
    const step::StateTensor& tensor = layout_[i];
    const ir::DType dtype = tensor.shape.dtype;
    if (tensor.kind == step::StateTensor::Kind::kVariable) {
      // Initializers give float32; variables of another type get the nearest.
      const nn::Variable& variable = model_.variables()[tensor.variable];
      Bytes values(variable.shape.size() * sizeof(float));
      nn::Initialize(
          variable.initializer, variable.shape, config_.train.seed, variable.path,
          {reinterpret_cast<float*>(values.data()), static_cast<size_t>(variable.shape.size())});
      tensors[i] = dtype == ir::DType::kF32 ? std::move(values)
                                            : ConvertFloats(values, ir::DType::kF32, dtype);
      continue;
    }
    tensors[i].resize(tensor.shape.bytes());
    if (tensor.initial == 0) continue;
    for (int64_t e = 0; e < tensor.shape.size(); ++e) {
      ir::StoreElement(dtype, tensor.initial, tensors[i].data() + e * ir::ByteSize(dtype));
    }
  }
  UploadState(tensors);
}

void Trainer::UploadState(const std::vector<Bytes>& tensors) {
  state_.clear();
  for (const xla::Device& device : runtime_->devices()) {
    std::vector<std::shared_ptr<xla::Buffer>>& buffers = state_.emplace_back();
    for (size_t i = 0; i < tensors.size(); ++i) {
      buffers.push_back(std::make_shared<xla::Buffer>(
          runtime_->client().FromHost(tensors[i].data(), layout_[i].shape, device)));
    }
  }
}

std::vector<Bytes> Trainer::SnapshotState() const {
  std::vector<Bytes> tensors;
  for (const auto& buffer : state_.at(0)) {
    Bytes& bytes = tensors.emplace_back(buffer->shape().bytes());
    buffer->ToHost(bytes.data(), bytes.size());
  }
  return tensors;
}

std::vector<checkpoint::TensorGroup> Trainer::StateGroups(bool share) const {
  std::vector<checkpoint::TensorGroup> groups(2);
  groups[0].name = kWeightsGroup;
  groups[0].metadata = WeightsMetadata();
  groups[1].name = kOptimizerGroup;
  for (size_t i = 0; i < layout_.size(); ++i) {
    const bool variable = layout_[i].kind == step::StateTensor::Kind::kVariable;
    std::shared_ptr<const xla::Buffer> buffer = state_.at(0)[i];
    std::vector<checkpoint::TensorSource>& into = groups[variable ? 0 : 1].tensors;
    if (std::optional<xla::HostView> view = share ? buffer->ViewOnHost() : std::nullopt) {
      // Where the host can read the device's memory nothing is copied but to the file.
      struct Held {
        std::shared_ptr<const xla::Buffer> buffer;
        xla::HostView view;  // last: ends first
      };
      auto held = std::make_shared<Held>(std::move(buffer), *std::move(view));
      const std::span<const std::byte> bytes = held->view.bytes();
      into.push_back(
          checkpoint::HostSource(layout_[i].name, layout_[i].shape, bytes, std::move(held)));
    } else if (share) {
      into.push_back(checkpoint::WholeSource(
          layout_[i].name, layout_[i].shape,
          [buffer](std::span<std::byte> whole) { buffer->ToHost(whole.data(), whole.size()); }));
    } else {
      auto bytes = std::make_shared<Bytes>(layout_[i].shape.bytes());
      buffer->ToHost(bytes->data(), bytes->size());
      into.push_back(checkpoint::HostSource(layout_[i].name, layout_[i].shape, std::move(bytes)));
    }
  }
  return groups;
}

void Trainer::Restore(const checkpoint::LoadedSnapshot& snapshot, RunState state) {
  const checkpoint::TensorFile& weights = snapshot.Group(kWeightsGroup);
  const checkpoint::TensorFile& optimizer = snapshot.Group(kOptimizerGroup);
  std::vector<Bytes> tensors = SnapshotState();
  std::vector<std::string> problems;
  const auto take = [&](const checkpoint::TensorFile& file, bool variables) {
    std::vector<checkpoint::WantedTensor> wanted;
    std::vector<std::string> ignored;
    for (size_t i = 0; i < layout_.size(); ++i) {
      const step::StateTensor& tensor = layout_[i];
      if ((tensor.kind == step::StateTensor::Kind::kVariable) != variables) continue;
      const checkpoint::HostTensor* found = file.Find(tensor.name);
      // A loss scale may be new, another precision have other floats.
      if (found == nullptr && IsLossScaleCounter(tensor.name)) continue;
      ir::Shape shape = tensor.shape;
      if (found != nullptr && ir::IsFloat(shape.dtype) && ir::IsFloat(found->shape.dtype)) {
        shape.dtype = found->shape.dtype;
      }
      wanted.push_back({tensor.name, shape});
      // A scale that the run file fixes stays what it says.
      const bool fixed =
          tensor.name == "loss_scale" && loss_scale_.kind == optim::LossScale::Kind::kStatic;
      if (found != nullptr && found->shape == shape && !fixed) {
        tensors[i] = ConvertFloats(found->bytes, shape.dtype, tensor.shape.dtype);
      }
    }
    checkpoint::TensorFile rest = file;
    std::erase_if(rest.tensors, [&](const checkpoint::HostTensor& tensor) {
      return IsLossScaleCounter(tensor.name) &&
             std::none_of(wanted.begin(), wanted.end(),
                          [&](const auto& one) { return one.name == tensor.name; });
    });
    for (std::string& problem : checkpoint::Misfits(rest, wanted)) {
      problems.push_back(std::move(problem));
    }
  };
  take(weights, true);
  take(optimizer, false);
  if (!problems.empty()) {
    throw Invalid(
        "{} is of another model or optimizer: {}. Bring the run file back to what it "
        "was, or start anew with --fresh --overwrite",
        snapshot.info.path, fmt::join(problems, "; "));
  }
  resumed_best_.clear();
  if (state.early_best) {
    const checkpoint::TensorFile& best = snapshot.Group(kEarlyBestGroup);
    for (const step::StateTensor& tensor : layout_) {
      const checkpoint::HostTensor* found = best.Find(tensor.name);
      if (found == nullptr || found->shape != tensor.shape) {
        throw BadData("{}: the best weights lack {} {}", snapshot.info.path, tensor.name,
                      tensor.shape.ToString());
      }
      resumed_best_.push_back(found->bytes);
    }
  }
  bad_records_->Restore(state.bad_records);
  UploadState(tensors);
  weights_loaded_ = true;
  resumed_ = std::move(state);
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
  spec.loss_scale = loss_scale_;
  spec.gradient_norm = config_.watch.gradient_norm;
  if (!IsAuto(config_.train.loss_blocks)) spec.loss_blocks = config_.train.loss_blocks.AsInt();
  return spec;
}

size_t Trainer::CounterIndex(std::string_view name) const {
  for (size_t i = 0; i < layout_.size(); ++i) {
    if (layout_[i].kind == step::StateTensor::Kind::kCounter && layout_[i].name == name) return i;
  }
  throw Internal("the state has no counter {}", name);
}

double Trainer::Counter(std::string_view name) const {
  const xla::Buffer& buffer = *state_.at(0)[CounterIndex(name)];
  Bytes bytes(buffer.shape().bytes());
  buffer.ToHost(bytes.data(), bytes.size());
  return ir::LoadElement(buffer.shape().dtype, bytes.data());
}

int64_t Trainer::ChooseStepsPerLaunch() const {
  LaunchQuestion question{.row_flops = 3 * model_.ForwardFlops(),
                          .rows = rows_,
                          .cpu = runtime_->client().is_cpu(),
                          .room = room_,
                          .global_batch = config_.train.global_batch};
  for (const data::Field& field : fields_) question.row_bytes += field.shape.bytes();
  if (sources_.train != nullptr && sources_.train->indexed()) {
    question.records = sources_.train->size();
  }
  return StepsPerLaunch(config_.train, question);
}

// ---- memory ----

std::optional<int64_t> Trainer::Room() const {
  const std::optional<int64_t> limit = runtime_->memory_limit();
  std::optional<int64_t> free = runtime_->free_memory();
  if (!limit || !free) return std::nullopt;
  if (!state_.empty()) *free += state_bytes();
  // Weights are saved from a copy on the host, which is where CPU devices have theirs.
  if (runtime_->client().is_cpu()) *free -= state_bytes() / runtime_->replicas();
  return std::max<int64_t>(std::min(*limit, *free), 0);
}

int64_t Trainer::LaunchBytes() const {
  int64_t row_bytes = sizeof(float);  // its weight
  for (const data::Field& field : fields_) row_bytes += field.shape.bytes();
  return steps_per_launch_ * rows_ * row_bytes;
}

int64_t Trainer::LaunchesOnDevice() const { return train::LaunchesOnDevice(config_.pipeline); }

int64_t Trainer::PrefetchBytes() const {
  const int64_t set = config_.pipeline.prefetch_bytes();
  if (set > 0 || !room_) return set;
  // Of all devices together, as the pipeline counts.
  return std::min(data::DefaultBudget(),
                  std::max<int64_t>(*room_ / kPrefetchPart * runtime_->replicas(), 1));
}

std::optional<int64_t> Trainer::ProgramRoom() const {
  if (!room_) return std::nullopt;
  // Plans count the launches that are ahead at the beginning; the pipeline may make more of them.
  const int64_t ahead = LaunchesOnDevice() - static_cast<int64_t>(kLaunchesInFlight) - 1;
  const int64_t depth = config_.pipeline.prefetch_depth();
  const int64_t budget = PrefetchBytes() / runtime_->replicas();
  const int64_t more = depth > 0 ? 0 : std::max<int64_t>(0, budget - ahead * LaunchBytes());
  return std::max<int64_t>(*room_ - more, 0);
}

const BatchPlan& Trainer::PlanBatch() {
  CompileTraining();
  return batch_plan_;
}

void Trainer::CompileTraining() {
  if (train_ != nullptr) return;
  const Phase phase(*ledger_, Cause::kCompile);
  const bool evaluates = sources_.validation != nullptr || sources_.test != nullptr;
  std::future<void> evaluation;
  if (evaluates && evaluate_ == nullptr) {
    evaluation = std::async(std::launch::async, [this] { CompileEvaluation(); });
  }
  ChooseBatch();
  if (evaluation.valid()) evaluation.get();
  batch_plan_.evaluation = evaluation_plan_;
}

void Trainer::ChooseBatch() {
  const TrainOptions& options = config_.train;
  const std::optional<int64_t> room = ProgramRoom();
  const int64_t launches = LaunchesOnDevice();
  nn::Recompute recompute;
  ReadConfig(options.recompute, recompute);
  const bool choose_recompute = recompute.kind == nn::Recompute::Kind::kAuto;
  step::StepSpec spec = SpecFor(rows_, steps_per_launch_);
  spec.recompute = choose_recompute ? nn::Recompute::None() : recompute;

  struct Compiled {
    step::Program program;
    std::shared_ptr<xla::Executable> executable;
  };
  std::map<std::pair<int64_t, std::string>, Compiled> compiled;
  int compiles = 0;
  const auto compile = [&](step::StepSpec of) -> Compiled& {
    if (of.micro_rows >= rows_) of.micro_rows = 0;
    Compiled& entry = compiled[{of.micro_rows, of.recompute.ToString()}];
    if (entry.executable != nullptr) return entry;
    ++compiles;
    entry.program = step::BuildTrainProgram(of);
    entry.executable = runtime_->Compile(*entry.program.graph);
    return entry;
  };
  // Bytes of `of` by our graph alone.
  const auto estimate = [&](const step::StepSpec& of) {
    return plan::PlanMemory(of, launches).total();
  };
  const auto memory_of = [&](const step::StepSpec& of) {
    const std::optional<xla::ProgramMemory> memory = compile(of).executable->memory();
    if (memory) return *memory;
    // The compiler keeps it to itself: our estimate is all there is.
    const plan::MemoryPlan guess = plan::PlanMemory(of, launches);
    return xla::ProgramMemory{.argument = guess.parameters + guess.optimizer,
                              .output = 0,
                              .alias = 0,
                              .temp = guess.temporaries(),
                              .code = 0,
                              .peak = {}};
  };
  const auto take = [&](const step::StepSpec& of) {
    Compiled& entry = compile(of);
    batch_plan_.rows = rows_;
    batch_plan_.micro_rows = of.micro_rows > 0 ? std::min(of.micro_rows, rows_) : rows_;
    batch_plan_.recompute = of.recompute;
    batch_plan_.room = room_;
    batch_plan_.compiles = compiles;
    batch_plan_.training = plan::PlanMemory(of, launches, entry.executable->memory());
    train_program_ = std::move(entry.program);
    train_ = std::move(entry.executable);
    // What the model needs is counted without what is done twice to save memory.
    model_flops_ = train_program_.step_flops;
    if (of.recompute.kind == nn::Recompute::Kind::kBlocks) {
      model_flops_ = step::BuildTrainProgram(SpecFor(rows_, 1)).step_flops;
    }
  };

  const bool fixed = !IsAuto(options.micro_batch);
  if (fixed) spec.micro_rows = std::min(options.micro_batch.AsInt(), rows_);
  if (!room) {
    take(spec);
    return;
  }
  if (fixed) {
    if (choose_recompute) {
      spec.recompute = plan::ChooseRecompute(spec, *room, launches, memory_of).recompute;
    }
    // Far too large is known without asking the compiler.
    plan::MemoryPlan plan = plan::PlanMemory(spec, launches);
    if (plan.total() <= 2 * *room) {
      take(spec);
      if (batch_plan_.training.total() <= *room) return;
      train_ = nullptr;
      plan = batch_plan_.training;
    }
    DoesNotFit(spec, plan, fmt::format("train.micro_batch = {}", spec.micro_rows));
  }

  // Recomputing is work, and what our graph makes believe is no reason for it: the compiler's
  // account of the programs without is asked first.
  const auto choose = [&] { return plan::ChooseMicroBatch(spec, *room, launches, memory_of); };
  if (choose_recompute && HasBatchStatistics(model_)) {
    // Better than to split a batch that statistics are taken of. But a batch that is far too large
    // even so isn't compiled to see it.
    step::StepSpec all = spec;
    all.recompute = nn::Recompute::AllBlocks();
    if (estimate(all) <= *room + *room / 2) {
      const plan::RecomputeChoice whole = plan::ChooseRecompute(spec, *room, launches, memory_of);
      if (whole.fits) spec.recompute = whole.recompute;
    }
  }
  plan::BatchChoice choice = choose();
  if (choose_recompute && spec.recompute.kind == nn::Recompute::Kind::kNone &&
      (!choice.fits || choice.micro_rows < std::min(rows_, kFewRows))) {
    // Of what our graph says of recomputing, so much is to be expected as was of the last program.
    double scale = 1;
    if (const auto [rows, bytes] = choice.tried.back(); bytes > 0) {
      step::StepSpec tried = spec;
      tried.micro_rows = rows < rows_ ? rows : 0;
      scale = static_cast<double>(estimate(tried)) / static_cast<double>(bytes);
    }
    step::StepSpec few = spec;
    few.micro_rows = std::min(rows_, kFewRows);
    const auto of_estimate = static_cast<int64_t>(scale * static_cast<double>(*room));
    spec.recompute = plan::ChooseRecompute(few, of_estimate, launches, {}).recompute;
    if (spec.recompute.kind == nn::Recompute::Kind::kNone) {
      spec.recompute = nn::Recompute::AllBlocks();
    }
    const plan::BatchChoice second = choose();
    if (second.fits && (!choice.fits || second.micro_rows > choice.micro_rows)) {
      choice = second;
    } else {
      spec.recompute = nn::Recompute::None();
    }
  }
  if (!choice.fits) {
    spec.micro_rows = 1;
    DoesNotFit(spec, plan::PlanMemory(spec, launches), "training, even one row at a time,");
  }
  spec.micro_rows = choice.micro_rows < rows_ ? choice.micro_rows : 0;
  take(spec);
  if (spec.micro_rows > 0 && HasBatchStatistics(model_)) {
    LogWarning(
        "the batch is split into micro-batches of {} rows to fit the device's memory, and batch "
        "normalization takes its statistics from each of them; set train.micro_batch to say how "
        "many rows you want",
        spec.micro_rows);
  }
}

int64_t Trainer::RowsThatFit(step::StepSpec spec, int64_t room, double scale) const {
  int64_t fits = 0, fails = rows_ + 1;
  while (fails - fits > 1) {
    spec.micro_rows = fits + (fails - fits) / 2;
    const auto bytes = static_cast<double>(plan::PlanMemory(spec, LaunchesOnDevice()).total());
    (scale * bytes <= static_cast<double>(room) ? fits : fails) = spec.micro_rows;
  }
  return fits;
}

void Trainer::DoesNotFit(const step::StepSpec& spec, const plan::MemoryPlan& plan,
                         const std::string& why) const {
  const int64_t room = *ProgramRoom();
  plan::OutOfMemory failure;
  failure.device = runtime_->Describe();
  failure.limit = room;
  failure.rows_that_fit = RowsThatFit(spec, room, 1);
  std::string message =
      fmt::format("{} does not fit the memory that a device has for it; nothing has been run.\n{}",
                  why, plan::FormatOutOfMemory(plan, failure));
  if (*failure.rows_that_fit == 0) {
    message += '\n' + plan::WhatWouldFit(spec, room, LaunchesOnDevice());
  }
  throw UserError(Code::kResourceExhausted, message);
}

UserError Trainer::OutOfMemory(const Error& error) const {
  step::StepSpec spec = SpecFor(rows_, steps_per_launch_);
  spec.recompute = batch_plan_.recompute;
  spec.micro_rows = batch_plan_.micro_rows;
  const plan::MemoryPlan guess = plan::PlanMemory(spec, LaunchesOnDevice());
  const bool planned = batch_plan_.rows > 0;
  const plan::MemoryPlan& plan = planned ? batch_plan_.training : guess;
  plan::OutOfMemory failure;
  failure.device = runtime_->Describe();
  failure.said = error.message();
  // What the device could give just now: less than at the beginning where another process grew.
  failure.limit = Room();
  if (failure.limit) {
    // The estimate goes by what the compiled program took, as far as there is one. What has just
    // failed is no answer, whatever it says.
    const double scale = static_cast<double>(plan.total()) /
                         static_cast<double>(std::max<int64_t>(guess.total(), 1));
    failure.rows_that_fit = std::min(RowsThatFit(spec, *failure.limit, scale), plan.micro_rows / 2);
  }
  UserError result(Code::kResourceExhausted, plan::FormatOutOfMemory(plan, failure));
  for (auto it = error.context().rbegin(); it != error.context().rend(); ++it) {
    result.AddContext(*it);
  }
  return result;
}

void Trainer::CompileEvaluation() {
  if (evaluate_ != nullptr) return;
  step::StepSpec spec = SpecFor(rows_, steps_per_launch_);
  // Beside training's own launches there are as many for evaluation.
  const int64_t launches = 2 * LaunchesOnDevice();
  const std::optional<int64_t> room = ProgramRoom();
  // Halved until it fits: by our estimate, then by the compiler's account.
  int64_t rows = rows_;
  const auto halve = [&] { spec.micro_rows = rows = (rows + 1) / 2; };
  while (room && rows > 1 && plan::PlanEvaluation(spec, launches).total() > *room) halve();
  for (;;) {
    evaluate_program_ = step::BuildEvaluateProgram(spec);
    std::shared_ptr<xla::Executable> program = runtime_->Compile(*evaluate_program_.graph);
    evaluation_plan_ = plan::PlanEvaluation(spec, launches, program->memory());
    if (!room || evaluation_plan_->total() <= *room) {
      evaluate_ = std::move(program);
      evaluation_micro_rows_ = rows;
      return;
    }
    if (rows == 1) break;
    halve();
  }
  DoesNotFit(spec, *evaluation_plan_, "evaluation");
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
  options.bytes = PrefetchBytes();
  options.workers = config_.pipeline.worker_threads();
  options.bad = bad_records_.get();
  options.end_epoch = epochs;
  return options;
}

Scores Trainer::Evaluate(const data::SourcePtr& source, Observer* observer,
                         const StopRequest* stop) {
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
      for (size_t i = 0; i < num_variables; ++i) args.push_back(state_[r][i].get());
      for (const xla::Buffer& buffer : launch->buffers[r]) args.push_back(&buffer);
      args.push_back(&ScalarI32(r, static_cast<int32_t>(launch->plan.steps)));
    }
    if (stop != nullptr && stop->asked.load()) {
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
  // As many rows at a time as training takes, or fewer where they do not fit without it.
  int64_t rows = rows_;
  const std::optional<int64_t> room = ProgramRoom();
  while (room && rows > 1 &&
         plan::PlanEvaluation(SpecFor(rows, 1), LaunchesOnDevice()).total() > *room) {
    rows = (rows + 1) / 2;
  }
  step::StepSpec spec = SpecFor(rows, 1);
  spec.replicas = 1;
  const step::Program program = step::BuildPredictProgram(spec);
  std::shared_ptr<xla::Executable> executable;
  {
    const Phase phase(*ledger_, Cause::kCompile);
    executable = runtime_->CompileForOne(*program.graph);
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
  data::LaunchReader reader(some, {.rows = rows});
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
    for (size_t i = 0; i < model_.variables().size(); ++i) args.push_back(state_[0][i].get());
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
      const int64_t row_bytes = static_cast<int64_t>(bytes.size()) / rows;
      bytes.resize(row_bytes * launch->plan.rows);
      outputs[o].bytes.insert(outputs[o].bytes.end(), bytes.begin(), bytes.end());
      outputs[o].shape.dims[0] += launch->plan.rows;
    }
  }
  return outputs;
}

// ---- weights ----

checkpoint::TensorFile Trainer::Weights() const { return DeferredWeights()(); }

std::function<checkpoint::TensorFile()> Trainer::DeferredWeights() const {
  checkpoint::TensorFile file;
  std::vector<std::shared_ptr<const xla::Buffer>> buffers;
  for (size_t i = 0; i < model_.variables().size(); ++i) {
    buffers.push_back(state_.at(0)[i]);
    file.tensors.push_back({layout_[i].name, layout_[i].shape, {}});
  }
  file.metadata = WeightsMetadata();
  return [file = std::move(file), buffers = std::move(buffers)]() mutable {
    for (size_t i = 0; i < buffers.size(); ++i) {
      Bytes& bytes = file.tensors[i].bytes;
      bytes.resize(static_cast<size_t>(file.tensors[i].shape.bytes()));
      buffers[i]->ToHost(bytes.data(), bytes.size());
      buffers[i] = nullptr;  // its memory may be written to again
    }
    return std::move(file);
  };
}

std::map<std::string, std::string> Trainer::WeightsMetadata() const {
  std::map<std::string, std::string> metadata = {{"format", "flatout"}};
  for (const optim::Slot& counter : optim::LossScaleCounters(loss_scale_)) {
    // Scales are powers of two, or what the run file says: a float has it exactly.
    metadata[counter.name] = fmt::format("{}", static_cast<float>(Counter(counter.name)));
    if (counter.shape.dtype == ir::DType::kI32) {
      metadata[counter.name] = std::to_string(static_cast<int64_t>(Counter(counter.name)));
    }
  }
  return metadata;
}

namespace {

// The value of a loss scale's counter that a weights file holds.
double ReadCounter(const std::string& name, const std::string& text, ir::DType dtype,
                   const std::string& origin) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = dtype == ir::DType::kI32;
  const double least = whole ? 0 : optim::kLeastLossScale;
  const double most = whole ? std::numeric_limits<int32_t>::max() : optim::kMostLossScale;
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most &&
      (!whole || value == std::floor(value))) {
    return value;
  }
  throw BadData("{}: its metadata give {} as \"{}\"; expected a {}number from {:g} to {:g}", origin,
                name, text, whole ? "whole " : "", least, most);
}

}  // namespace

void Trainer::LoadWeights(const checkpoint::TensorFile& weights, const std::string& origin) {
  std::vector<std::string> problems;
  std::vector<Bytes> state = SnapshotState();
  for (size_t i = 0; i < model_.variables().size(); ++i) {
    const ir::Shape& wanted = layout_[i].shape;
    const checkpoint::HostTensor* tensor = weights.Find(layout_[i].name);
    if (tensor == nullptr) {
      problems.push_back(fmt::format("{} {} is missing", layout_[i].name, wanted.ToString()));
      continue;
    }
    const bool floats = ir::IsFloat(tensor->shape.dtype) && ir::IsFloat(wanted.dtype);
    if (tensor->shape.dims != wanted.dims || (tensor->shape.dtype != wanted.dtype && !floats)) {
      problems.push_back(fmt::format("{} is {}, the model has {}", layout_[i].name,
                                     tensor->shape.ToString(), wanted.ToString()));
    } else {
      state[i] = ConvertFloats(tensor->bytes, tensor->shape.dtype, wanted.dtype);
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
  // A dynamic scale goes on from where it was; one that the run file fixes stays what it says.
  if (loss_scale_.kind == optim::LossScale::Kind::kDynamic) {
    for (const optim::Slot& counter : optim::LossScaleCounters(loss_scale_)) {
      const auto found = weights.metadata.find(counter.name);
      if (found == weights.metadata.end()) continue;
      const ir::DType dtype = counter.shape.dtype;
      ir::StoreElement(dtype, ReadCounter(counter.name, found->second, dtype, origin),
                       state[CounterIndex(counter.name)].data());
    }
  }
  UploadState(state);
  weights_loaded_ = true;
}

}  // namespace flatout::train
