#include "flatout/watch/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "flatout/base/text.h"

namespace flatout::watch {
namespace {

// The device alone doing that much better than it did in training means that something held it
// back.
constexpr double kSlowedBy = 1.15;
constexpr double kWorthNaming = 0.03;  // shares of training time below this are not worth a change

std::string Percent(double share) {
  // 99.96 % is not full: never round up to 100.
  const double percent = std::floor(share * 1000) / 10;
  return fmt::format("{:.1f} %", percent);
}

std::string Flops(double flops) {
  if (flops >= 1e12) return fmt::format("{:.2f} TFLOP/s", flops / 1e12);
  return fmt::format("{:.1f} GFLOP/s", flops / 1e9);
}

std::string Milliseconds(double seconds) {
  const double ms = seconds * 1e3;
  return ms < 10     ? fmt::format("{:.2f} ms", ms)
         : ms < 1000 ? fmt::format("{:.1f} ms", ms)
                     : fmt::format("{:.2f} s", seconds);
}

struct Loss {
  Cause cause;
  double share;
};

// Transfers go on beside the workers; they are no stage of theirs.
bool IsTransfer(const InputStage& stage) { return stage.name == "transfer"; }

double WorkerSeconds(const InputFacts& input) {
  double seconds = 0;
  for (const InputStage& stage : input.stages) seconds += IsTransfer(stage) ? 0 : stage.seconds;
  return seconds;
}

const InputStage* SlowestStage(const InputFacts& input) {
  const InputStage* slowest = nullptr;
  for (const InputStage& stage : input.stages) {
    if (IsTransfer(stage)) continue;
    if (slowest == nullptr || stage.seconds > slowest->seconds) slowest = &stage;
  }
  return slowest;
}

// Names the slowest stage, one change and what it can gain; predicted_gain holds what input costs
// at most.
void AdviseOnInput(const RunFacts& facts, Verdict& verdict) {
  const InputFacts& input = facts.input;
  const InputStage* stage = SlowestStage(input);
  verdict.stage = stage != nullptr ? stage->name : "read";
  const double all = WorkerSeconds(input);
  const double share = stage != nullptr && all > 0 ? stage->seconds / all : 1;
  const double waits =
      input.busy > 0 ? std::clamp(1 - (input.cpu + input.queued) / input.busy, 0.0, 1.0) : 0;
  const double queued = input.busy > 0 ? input.queued / input.busy : 0;
  if (!input.workers_tuned && (input.workers < facts.cores || waits > 0.5)) {
    verdict.advice = fmt::format("set data.workers = \"auto\" (now {}, {} cores usable{})",
                                 input.workers, facts.cores,
                                 waits > 0.5 ? fmt::format("; the workers wait for something else "
                                                           "than a core {} of their time, so more "
                                                           "of them than cores help",
                                                           Percent(waits))
                                             : "");
    // Workers add up until the cores, or the step itself, are the limit.
    const double most = waits > 0.5 ? 4.0 * facts.cores : static_cast<double>(facts.cores);
    verdict.predicted_gain =
        std::min(verdict.predicted_gain, most / static_cast<double>(std::max(1, input.workers)));
    return;
  }
  if (waits > 0.5) {
    verdict.advice = fmt::format(
        "{} waits for a disk, a network or the like {} of the time: a faster one{}", verdict.stage,
        Percent(waits),
        verdict.stage == "read" ? ", or data.cache = \"memory\" where the data fit" : "");
    return;
  }
  if (queued > 0.5) {
    // Alone, the workers would be done that much sooner.
    verdict.predicted_gain = std::min(verdict.predicted_gain, 1 / (1 - std::min(queued, 0.999)));
    verdict.advice = fmt::format(
        "the workers waited {} of their time for a core: see what else {} this machine's cores",
        Percent(queued), facts.device_is_cpu ? "(beside the steps) takes" : "takes");
    return;
  }
  // Were the stage done once, offline, the workers would have the rest of their time.
  verdict.predicted_gain = std::min(verdict.predicted_gain, 1 / (1 - std::min(share, 0.999)));
  if (verdict.stage == "read" || verdict.stage == "generate") {
    verdict.advice =
        fmt::format("{} takes {} of the workers' time: data.cache = \"memory\" reads only once",
                    verdict.stage, Percent(share));
  } else if (verdict.stage == "assemble") {
    verdict.advice =
        "records are copied into batches most of the time: smaller ones (u8 instead of "
        "f32, with the conversion in the model) would help";
  } else {
    verdict.advice = fmt::format(
        "do {} once instead of in every epoch: flatout data write stores the records as they are "
        "after it",
        verdict.stage);
  }
}

// "input: 2 workers (tuned), 1.9 of 2 cores busy, queue 12 % full; of their time decode_image 71 %
// (1,204 records/s each), read 20 % (310 MB/s each)".
std::string InputLine(const RunFacts& facts, double training) {
  const InputFacts& input = facts.input;
  const double all = WorkerSeconds(input);
  std::string line =
      fmt::format("input: {} worker{}{}, {:.1f} of {} core{} busy", input.workers,
                  input.workers == 1 ? "" : "s", input.workers_tuned ? " (tuned)" : "",
                  input.cpu / training, facts.cores, facts.cores == 1 ? "" : "s");
  if (input.queue_fill) line += fmt::format(", queue {} full", Percent(*input.queue_fill));
  const char* separator = "; of the workers' time ";
  for (const InputStage& stage : input.stages) {
    if (IsTransfer(stage) || stage.seconds < 0.01 * all) continue;
    line += fmt::format(
        "{}{} {} ({} records/s{} each)", separator, stage.name, Percent(stage.seconds / all),
        HumanCount(std::llround(stage.records_per_second())),
        stage.bytes > 0
            ? fmt::format(", {:.0f} MB/s", static_cast<double>(stage.bytes) / stage.seconds / 1e6)
            : "");
    separator = ", ";
  }
  return line;
}

// "memory: planned 1.90 GiB, peak 1.88 GiB". Devices without statistics share the process's memory;
// its peak holds more than what was planned: the program itself, the compiler, the input.
std::string MemoryLine(const RunFacts& facts) {
  if (!facts.planned_bytes && !facts.device_peak_bytes) return "";
  const std::string planned =
      facts.planned_bytes ? HumanBytes(*facts.planned_bytes) : "not available";
  std::string line = fmt::format("memory: planned {}{}, peak ", planned,
                                 facts.devices > 1 ? " on each device" : "");
  if (facts.device_peak_bytes) return line + HumanBytes(*facts.device_peak_bytes);
  line += "not available from the device";
  if (facts.process_peak_bytes && *facts.process_peak_bytes > 0) {
    line +=
        fmt::format("; the whole process took {} at most", HumanBytes(*facts.process_peak_bytes));
  }
  return line;
}

std::string LossScaleLine(const RunFacts& facts) {
  if (!facts.loss_scale) return "";
  if (facts.skipped_steps == 0) {
    return fmt::format("loss scale: {:.7g}, no step skipped", *facts.loss_scale);
  }
  return fmt::format(
      "loss scale: {:.7g}; {} of {} steps skipped ({}), their gradients had overflowed; not "
      "counted "
      "as steps",
      *facts.loss_scale, HumanCount(facts.skipped_steps),
      HumanCount(facts.steps + facts.skipped_steps),
      Percent(static_cast<double>(facts.skipped_steps) /
              static_cast<double>(facts.steps + facts.skipped_steps)));
}

}  // namespace

Verdict Judge(const RunFacts& facts) {
  Verdict verdict;
  const LedgerReport& ledger = facts.ledger;
  const double training = ledger.training();
  verdict.full = ledger.full();
  if (!verdict.full || facts.steps == 0) {
    verdict.limit = "unknown";
    verdict.advice = "train for at least one step";
    verdict.lines.push_back("full: not available, no training step has ended");
    return verdict;
  }
  verdict.samples_per_second = static_cast<double>(facts.samples) / training;
  const double achieved = facts.flops_per_sample * static_cast<double>(facts.samples) / training;
  if (facts.peak_flops && facts.flops_per_sample > 0) verdict.mfu = achieved / *facts.peak_flops;

  // The largest loss beside compute is the limit, if it is worth naming.
  Loss largest{Cause::kCompute, 0};
  for (Cause cause :
       {Cause::kInput, Cause::kCopy, Cause::kCommunication, Cause::kCheckpoint, Cause::kHost}) {
    const double share = ledger.of(cause) / training;
    if (share > largest.share) largest = {cause, share};
  }
  if (largest.share < kWorthNaming) largest = {Cause::kCompute, *verdict.full};
  verdict.limit = Name(largest.cause);
  verdict.predicted_gain =
      largest.cause == Cause::kCompute ? 1 : 1 / (1 - std::min(largest.share, 0.999));

  const double per_step = ledger.of(Cause::kCompute) / static_cast<double>(facts.steps);
  switch (largest.cause) {
    case Cause::kInput: {
      AdviseOnInput(facts, verdict);
      break;
    }
    case Cause::kCopy:
      verdict.advice = "send less per sample (u8 instead of f32, conversion in the model)";
      break;
    case Cause::kCommunication:
      verdict.advice = "raise train.global_batch, so that each step computes more per exchange";
      break;
    case Cause::kCheckpoint:
      verdict.advice =
          "save less often: a higher checkpoint.every_steps or every_seconds, or checkpoint.auto = "
          "true, which weighs the cost of a save against the work it protects";
      break;
    case Cause::kHost:
      if (facts.steps_per_epoch > 0 && facts.steps_per_launch >= facts.steps_per_epoch) {
        verdict.advice = fmt::format(
            "the epochs are too short ({} steps, one launch each) for the device to fill; more "
            "data "
            "per epoch would",
            facts.steps_per_epoch);
      } else if (facts.launches > 0 && facts.steps / facts.launches < 64) {
        verdict.advice = fmt::format("raise train.steps_per_launch (now {}; {} per step)",
                                     facts.steps_per_launch, Milliseconds(per_step));
      } else {
        verdict.advice = "log less often: raise watch.log_seconds";
      }
      break;
    default:
      if (facts.ceiling_samples_per_second &&
          *facts.ceiling_samples_per_second > kSlowedBy * *verdict.samples_per_second) {
        // The steps themselves took longer than the same steps did alone at the end.
        verdict.stage = "slowed";
        verdict.predicted_gain = *facts.ceiling_samples_per_second / *verdict.samples_per_second;
        verdict.advice =
            facts.device_is_cpu
                ? "see what else uses this machine's cores: the same steps ran faster at the end"
                : "see what else uses the device: the same steps ran faster at the end";
      } else if (facts.device_is_cpu) {
        verdict.advice = "nothing feeds it faster; a GPU, or a smaller model, is the next step";
      } else if (facts.compute_dtype == "float32") {
        verdict.advice = "try train.precision = \"mixed_bfloat16\"";
      } else {
        verdict.advice = "raise train.global_batch, if the loss allows it";
      }
  }

  std::vector<std::string>& lines = verdict.lines;
  lines.push_back(fmt::format("full: {} of the training time the device ran steps ({} of {})",
                              Percent(*verdict.full), HumanDuration(ledger.of(Cause::kCompute)),
                              HumanDuration(training)));
  std::string speed = fmt::format("speed: {} samples/s, {} per step",
                                  HumanCount(std::llround(*verdict.samples_per_second)),
                                  Milliseconds(training / static_cast<double>(facts.steps)));
  // Below what was achieved it is no ceiling: something else took the machine meanwhile.
  if (facts.ceiling_samples_per_second &&
      *facts.ceiling_samples_per_second >= *verdict.samples_per_second) {
    speed += fmt::format("; the device alone, fed from memory, does {} samples/s",
                         HumanCount(std::llround(*facts.ceiling_samples_per_second)));
  }
  lines.push_back(speed);
  if (facts.flops_per_sample <= 0) {
    lines.push_back("MFU: not available, the FLOPs of a sample are not known");
  } else if (verdict.mfu) {
    const std::string whose =
        facts.card.empty()
            ? ""
            : fmt::format(" of {}{}",
                          facts.devices > 1 ? std::to_string(facts.devices) + " x " : "",
                          facts.card);
    lines.push_back(fmt::format("MFU: {} ({} of {} dense {}{}, {} FLOPs per sample)",
                                Percent(*verdict.mfu), Flops(achieved), Flops(*facts.peak_flops),
                                facts.compute_dtype, whose,
                                HumanCount(std::llround(facts.flops_per_sample))));
  } else {
    lines.push_back(fmt::format("MFU: not available, the peak of \"{}\" is not known ({} {} done)",
                                facts.device_kind, Flops(achieved), facts.compute_dtype));
  }
  if (const std::string memory = MemoryLine(facts); !memory.empty()) lines.push_back(memory);
  if (const std::string scale = LossScaleLine(facts); !scale.empty()) lines.push_back(scale);
  std::string where = "time:";
  for (int i = 0; i < kNumCauses; ++i) {
    const Cause cause = static_cast<Cause>(i);
    if (cause == Cause::kCommunication && facts.devices > 1 && ledger.of(cause) == 0) {
      where += " communication not measured (inside compute),";
      continue;
    }
    const double seconds = ledger.of(cause);
    if (seconds < 0.0005 * ledger.wall && cause != Cause::kInput) continue;
    where +=
        fmt::format(" {} {:.2f} s ({}),", Name(cause), seconds, Percent(seconds / ledger.wall));
  }
  where.back() = ';';
  lines.push_back(where + fmt::format(" wall {:.2f} s", ledger.wall));
  if (WorkerSeconds(facts.input) > 0) lines.push_back(InputLine(facts, training));
  if (verdict.stage == "slowed") {
    lines.push_back(
        fmt::format("limit: compute, slowed by other work. Next: {}; predicted gain up to "
                    "{:.2f}x",
                    verdict.advice, verdict.predicted_gain));
  } else if (largest.cause == Cause::kCompute) {
    lines.push_back(fmt::format("limit: compute. Next: {}", verdict.advice));
  } else {
    lines.push_back(
        fmt::format("limit: {}{}, {} of the training time. Next: {}; predicted gain up to {:.2f}x",
                    verdict.limit, verdict.stage.empty() ? "" : " (" + verdict.stage + ")",
                    Percent(largest.share), verdict.advice, verdict.predicted_gain));
  }
  return verdict;
}

}  // namespace flatout::watch
