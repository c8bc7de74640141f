#include "flatout/train/step_timer.h"

#include <limits>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/data/dataset.h"
#include "flatout/train/launch.h"

namespace flatout::train {
namespace {

data::LaunchReader MakeReader(const data::SourcePtr& source, int64_t steps_per_launch,
                              int64_t replicas, int64_t rows) {
  return {source, {.steps_per_launch = steps_per_launch, .replicas = replicas, .rows = rows}};
}

}  // namespace

StepTimer::StepTimer(Trainer& trainer)
    : trainer_(trainer), loss_(std::numeric_limits<double>::quiet_NaN()) {
  if (trainer_.sources_.train == nullptr) throw Invalid("there is no training split to train on");
  const data::PipelineOptions& pipeline = trainer_.config_.pipeline;
  const data::Dataset all = data::Dataset::FromSource(trainer_.sources_.train);
  // Shuffled as a run would be: batches of one class tell nothing of the loss.
  source_ = pipeline.shuffle ? all.Shuffle(trainer_.config_.train.seed).source() : all.source();
  next_ =
      MakeReader(source_, trainer_.steps_per_launch_, trainer_.runtime_->replicas(), trainer_.rows_)
          .Start();
  trainer_.AdaptLayers();
  trainer_.PlanBatch();
  state_ = trainer_.SnapshotState();
  trainer_.state_.clear();
}

StepTimer::~StepTimer() = default;

int64_t StepTimer::steps_per_launch() const { return trainer_.steps_per_launch_; }
const BatchPlan& StepTimer::plan() const { return trainer_.batch_plan_; }
std::optional<xla::ProgramMemory> StepTimer::memory() const { return trainer_.train_->memory(); }

double StepTimer::RunOne(data::DeviceLaunch input) {
  for (const std::vector<xla::Buffer>& buffers : input.buffers) {
    for (const xla::Buffer& buffer : buffers) buffer.ReadyEvent().Await();
  }
  Trainer::Launch launch;
  launch.steps = input.plan.steps;
  launch.input = std::move(input);
  const double begin = SteadySeconds();
  trainer_.LaunchTraining(launch);
  launch.run.Await();
  const double seconds = SteadySeconds() - begin;

  const step::ResultLayout& results = trainer_.train_program_.results;
  const int first = trainer_.train_program_.num_state;
  const auto losses = launch.run.outputs[0].at(results.losses - first).ToVector<float>();
  double sum = 0;
  for (int64_t i = 0; i < launch.steps; ++i) sum += losses[i];
  loss_ = sum / static_cast<double>(launch.steps);
  if (results.skipped >= 0) {
    const auto skipped = launch.run.outputs[0].at(results.skipped - first).ToVector<int32_t>();
    for (int64_t i = 0; i < launch.steps; ++i) skipped_ += skipped[i];
  }
  steps_ += launch.steps;
  return seconds;
}

std::vector<double> StepTimer::Run(int64_t launches) {
  trainer_.UploadState(state_);
  // All batches are read first: threads that read would take the cores that a CPU device runs on.
  std::vector<data::DeviceLaunch> inputs;
  {
    data::DevicePrefetchOptions options = trainer_.PrefetchFor(data::kInfinite);
    options.depth = 1;
    data::DevicePrefetcher prefetcher(trainer_.runtime_->shared_client(),
                                      trainer_.runtime_->devices(),
                                      MakeReader(source_, trainer_.steps_per_launch_,
                                                 trainer_.runtime_->replicas(), trainer_.rows_),
                                      next_, options);
    int64_t full = 0;
    while (full < launches + 1) {
      std::optional<data::DeviceLaunch> input = prefetcher.Next();
      if (!input) throw Invalid("the training split has no more records");
      next_ = input->plan.next;
      if (input->plan.steps == trainer_.steps_per_launch_) ++full;
      inputs.push_back(std::move(*input));
      // A split of fewer steps than a launch has only such.
      if (inputs.size() > static_cast<size_t>(4 * (launches + 1))) break;
    }
    prefetcher.Stop();
  }
  std::vector<double> seconds;
  bool warm = false;
  const bool any_full = [&] {
    for (const data::DeviceLaunch& input : inputs) {
      if (input.plan.steps == trainer_.steps_per_launch_) return true;
    }
    return false;
  }();
  for (data::DeviceLaunch& input : inputs) {
    const int64_t steps = input.plan.steps;
    const double taken = RunOne(std::move(input));
    if (any_full && steps != trainer_.steps_per_launch_) continue;
    if (warm) {
      seconds.push_back(taken / static_cast<double>(steps));
    } else {
      warm_up_seconds_ = taken;
      warm = true;
    }
  }
  state_ = trainer_.SnapshotState();
  trainer_.state_.clear();
  return seconds;
}

}  // namespace flatout::train
