#include "flatout/train/batch_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "flatout/base/text.h"
#include "flatout/train/launch.h"

namespace flatout::train {
namespace {

// A launch should be long enough that starting it costs nothing beside it, and short enough that
// progress, signals and logs stay prompt.
constexpr double kLaunchSeconds = 0.03;
constexpr int64_t kMostStepsPerLaunch = 64;
constexpr int64_t kMostLaunchBytes = int64_t{16} << 20;
// And it takes no more than such a part of the device's memory, several being there at once.
constexpr int64_t kLaunchPart = 50;
// Launches that the input pipeline has ready on the device, where it is tuned: what it starts with.
constexpr int64_t kLaunchesAhead = 2;
// Rough speeds, only to choose steps_per_launch before anything has run.
constexpr double kGuessedCpuFlops = 1e11;
constexpr double kGuessedGpuFlops = 2e13;

}  // namespace

int64_t BatchPlan::bytes() const {
  return std::max(training.total(), evaluation ? evaluation->total() : 0);
}

std::string BatchPlan::ToString() const {
  const std::string each = training.replicas > 1 ? " on each device" : "";
  std::string line =
      fmt::format("memory: {} of {}{}", HumanBytes(bytes()),
                  room ? HumanBytes(*room) : "a device that does not say how much it has", each);
  if (micro_rows < rows) {
    line +=
        fmt::format("; micro-batch {} x {} (batch {}{})", micro_rows, micro_batches(), rows, each);
  } else {
    line += fmt::format("; the whole batch of {}{} at once", rows, each);
  }
  if (training.loss_blocks > 1)
    line += fmt::format("; the loss in {} blocks", training.loss_blocks);
  if (recompute.kind == nn::Recompute::Kind::kBlocks) {
    line += "; recomputed for the gradients: " + recompute.ToString();
  }
  if (evaluation && evaluation->total() > training.total()) {
    line += fmt::format(
        "; training alone takes {}, evaluation, whose input is there beside training's, the rest",
        HumanBytes(training.total()));
  }
  return line;
}

int64_t LaunchesOnDevice(const data::PipelineOptions& pipeline) {
  const int64_t depth = pipeline.prefetch_depth();
  return static_cast<int64_t>(kLaunchesInFlight) + 1 + (depth > 0 ? depth : kLaunchesAhead);
}

int64_t StepsPerLaunch(const TrainOptions& options, const LaunchQuestion& question) {
  // Every step is looked into before the next one begins.
  if (options.check_finite) return 1;
  if (!options.steps_per_launch.is_string()) return options.steps_per_launch.AsInt();
  const double flops = question.row_flops * static_cast<double>(question.rows);
  const double speed = question.cpu ? kGuessedCpuFlops : kGuessedGpuFlops;
  const double by_time = kLaunchSeconds * speed / std::max(flops, 1.0);
  const int64_t most_bytes =
      question.room ? std::min(kMostLaunchBytes, *question.room / kLaunchPart) : kMostLaunchBytes;
  const int64_t row_bytes = question.row_bytes + static_cast<int64_t>(sizeof(float));
  const int64_t by_bytes = most_bytes / (row_bytes * question.rows);
  int64_t steps = static_cast<int64_t>(std::min<double>(by_time, kMostStepsPerLaunch));
  steps = std::max<int64_t>(std::min(steps, by_bytes), 1);
  if (question.records) {
    const int64_t batch = question.global_batch;
    steps = std::min(steps, (*question.records + batch - 1) / batch);
  }
  return std::max<int64_t>(steps, 1);
}

}  // namespace flatout::train
