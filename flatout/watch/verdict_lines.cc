#include "flatout/watch/verdict_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flatout/base/text.h"

namespace flatout::watch {
namespace {

// A step is shown as the slowest when it took that many times the median.
constexpr double kMuchSlower = 3;
// A driver that says that kernels ran for less of the time than this, while steps ran nearly
// always, contradicts the ledger.
constexpr double kContradiction = 0.5;

std::string Flops(double flops) {
  if (flops >= 1e12) return fmt::format("{:.2f} TFLOP/s", flops / 1e12);
  return fmt::format("{:.1f} GFLOP/s", flops / 1e9);
}

std::string Rate(double samples_per_second) {
  return HumanCount(std::llround(samples_per_second)) + " samples/s";
}

std::string Speed(const RunFacts& facts, const Verdict& verdict) {
  const double now = *verdict.samples_per_second;
  std::string line =
      fmt::format("speed: {}, {} per step", Rate(now),
                  HumanSeconds(facts.ledger.training() / static_cast<double>(facts.steps)));
  const char* separator = "; ";
  if (verdict.ceiling_samples_per_second) {
    line += fmt::format("; the device alone, fed from memory, does {}",
                        Rate(*verdict.ceiling_samples_per_second));
    separator = ", ";
  }
  if (facts.roofline && facts.roofline->step() > 0) {
    const double per_step = static_cast<double>(facts.samples) / static_cast<double>(facts.steps);
    line += fmt::format("{}the card by its data sheet {}", separator,
                        Rate(per_step / facts.roofline->step()));
  }
  return line;
}

std::string Mfu(const RunFacts& facts, const Verdict& verdict) {
  if (facts.flops_per_sample <= 0) return "MFU: not available, the FLOPs of a sample are not known";
  const double achieved = facts.flops_per_sample * *verdict.samples_per_second;
  if (!verdict.mfu) {
    return fmt::format("MFU: not available, the peak of \"{}\" is not known ({} {} done)",
                       facts.device_kind, Flops(achieved), facts.compute_dtype);
  }
  const std::string whose =
      facts.card.empty()
          ? ""
          : fmt::format(" of {}{}", facts.devices > 1 ? std::to_string(facts.devices) + " x " : "",
                        facts.card);
  return fmt::format("MFU: {} ({} of {} dense {}{}, {} FLOPs per sample)", Percent(*verdict.mfu),
                     Flops(achieved), Flops(*facts.peak_flops), facts.compute_dtype, whose,
                     HumanCount(std::llround(facts.flops_per_sample)));
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
  const int64_t all = facts.steps + facts.skipped_steps;
  return fmt::format(
      "loss scale: {:.7g}; {} of {} steps skipped ({}), their gradients had overflowed; not "
      "counted as steps",
      *facts.loss_scale, HumanCount(facts.skipped_steps), HumanCount(all),
      Percent(static_cast<double>(facts.skipped_steps) / static_cast<double>(all)));
}

std::string TimeLine(const RunFacts& facts) {
  const LedgerReport& ledger = facts.ledger;
  std::string line = "time:";
  for (int i = 0; i < kNumCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    const double seconds = ledger.of(cause);
    if (cause == Cause::kCommunication && facts.devices > 1 && seconds == 0) {
      line += " communication not measured (inside compute),";
      continue;
    }
    if (seconds < 0.0005 * ledger.wall && cause != Cause::kInput) continue;
    line += fmt::format(" {} {:.2f} s ({}),", Name(cause), seconds, Percent(seconds / ledger.wall));
  }
  line.back() = ';';
  return line + fmt::format(" wall {:.2f} s", ledger.wall);
}

// "of 2 cores"; "cores" where their number is not known.
std::string OfCores(const RunFacts& facts) {
  if (!facts.cores) return "cores";
  return fmt::format("of {} core{}", *facts.cores, *facts.cores == 1 ? "" : "s");
}

// Over the training time; what was done beside it (while programs compiled, in a validation) makes
// no more of them than there are.
double CoresBusy(const RunFacts& facts, double cpu_seconds) {
  const double cores = cpu_seconds / facts.ledger.training();
  return facts.cores ? std::min(cores, static_cast<double>(*facts.cores)) : cores;
}

// "1,204 records/s, 310 MB/s": of one worker, where it is known.
std::string RatesOf(const InputStage& stage) {
  std::string rates;
  if (stage.records > 0) {
    rates = HumanCount(std::llround(stage.records_per_second())) + " records/s";
  }
  if (stage.bytes > 0) {
    rates += fmt::format("{}{:.0f} MB/s", rates.empty() ? "" : ", ",
                         static_cast<double>(stage.bytes) / stage.seconds / 1e6);
  }
  return rates;
}

// "input: 2 workers (tuned), 1.9 of 2 cores busy, queue 12 % full; of their time decode_image 71 %
// (1,204 records/s each), read 20 % (310 MB/s each)". What is not known is left out.
std::string InputLine(const RunFacts& facts) {
  const InputFacts& input = facts.input;
  const double all = WorkerSeconds(input);
  if (all <= 0) return "";
  std::string line =
      fmt::format("input{}: {} worker{}{}", facts.part ? " " + facts.part->when : "", input.workers,
                  input.workers == 1 ? "" : "s", input.workers_tuned ? " (tuned)" : "");
  if (input.busy > 0) {
    line += fmt::format(", {:.1f} {} busy", CoresBusy(facts, input.cpu), OfCores(facts));
  }
  if (input.queue_fill) line += fmt::format(", queue {} full", Percent(*input.queue_fill));
  const char* separator = "; of the workers' time ";
  for (const InputStage& stage : input.stages) {
    if (IsTransfer(stage) || stage.seconds < 0.01 * all) continue;
    const std::string rates = RatesOf(stage);
    line += fmt::format("{}{} {}{}", separator, stage.name, Percent(stage.seconds / all),
                        rates.empty() ? "" : " (" + rates + " each)");
    separator = ", ";
  }
  return line;
}

// Only where one stands out: the mean says the rest.
std::string StepsLine(const RunFacts& facts) {
  const StepFacts& times = facts.step_times;
  if (!times.median || times.slowest_seconds < kMuchSlower * *times.median) return "";
  return fmt::format(
      "steps: half of them within {}, 99 % within {}; the slowest took {}, at step "
      "{}, most of it {}",
      HumanSeconds(*times.median), HumanSeconds(times.p99.value_or(*times.median)),
      HumanSeconds(times.slowest_seconds), HumanCount(times.slowest_step), times.slowest_cause);
}

std::string ReplicaLine(const RunFacts& facts) {
  const std::optional<Straggler> slow = FindStraggler(facts.replica_busy);
  if (!slow || slow->longer < 0.01) return "";
  return fmt::format("replicas: device {} is the slowest, busy {:.2f} s, {} longer than the next",
                     slow->replica, facts.replica_busy[static_cast<size_t>(slow->replica)],
                     Percent(slow->longer));
}

std::string OrUnknown(const std::optional<double>& value, const char* format, double scale = 1) {
  return value ? fmt::format(fmt::runtime(format), *value * scale) : "n/a";
}

void AddDevices(const RunFacts& facts, const Verdict& verdict, std::vector<std::string>& lines) {
  if (facts.device_is_cpu) return;
  if (facts.device_use.empty()) {
    lines.push_back(
        fmt::format("devices: clocks, power and temperature n/a{}",
                    facts.why_no_device_use.empty() ? "" : ": " + facts.why_no_device_use));
    return;
  }
  for (const DeviceUse& use : facts.device_use) {
    const auto ran = use.utilization.mean();
    std::string line = fmt::format(
        "device {}: a kernel ran {} of the time (which is not how full it was), {} of {} W, {} C, "
        "clock {} of {} MHz",
        use.device, ran ? Percent(*ran) : "n/a", OrUnknown(use.power_watts.mean(), "{:.0f}"),
        OrUnknown(use.power_limit_watts, "{:.0f}"),
        OrUnknown(use.temperature_celsius.max(), "{:.0f}"),
        OrUnknown(use.sm_clock_hertz.mean(), "{:.0f}", 1e-6),
        OrUnknown(use.sm_clock_max_hertz, "{:.0f}", 1e-6));
    if (const std::string limits = ClockLimitsText(use); !limits.empty()) {
      line += ", held back by " + limits;
    }
    if (use.pcie_received.mean() || use.pcie_sent.mean()) {
      line += fmt::format(", PCIe {} GB/s in, {} out",
                          OrUnknown(use.pcie_received.mean(), "{:.2f}", 1e-9),
                          OrUnknown(use.pcie_sent.mean(), "{:.2f}", 1e-9));
    }
    if (use.nvlink_received.mean() || use.nvlink_sent.mean()) {
      line += fmt::format(", NVLink {} GB/s in, {} out",
                          OrUnknown(use.nvlink_received.mean(), "{:.2f}", 1e-9),
                          OrUnknown(use.nvlink_sent.mean(), "{:.2f}", 1e-9));
    }
    if (use.ecc_uncorrected.value_or(0) > 0) {
      line += fmt::format("; {} memory errors that ECC could not correct: results may be wrong",
                          *use.ecc_uncorrected);
    }
    lines.push_back(std::move(line));
    // Two sources, one of which is wrong or says something.
    if (ran && use.utilization.count >= 3 && *verdict.full > 0.9 && *ran < kContradiction) {
      lines.push_back(
          *ran == 0
              ? fmt::format("device {}: the driver says that no kernel ran while steps did: its "
                            "figure is not to be believed here",
                            use.device)
              : fmt::format("device {}: steps ran nearly all of the time, but kernels only {} of "
                            "it: they wait for something between kernels (the host, or each other)",
                            use.device, Percent(*ran)));
    }
  }
}

std::string CpuLine(const RunFacts& facts) {
  if (facts.throttled_seconds.value_or(0) <= 0.01 * facts.ledger.training()) return "";
  return fmt::format("cpu: {:.1f} {} busy; the CPU quota held threads back for {:.1f} core-seconds",
                     CoresBusy(facts, facts.cpu_seconds), OfCores(facts), *facts.throttled_seconds);
}

// `when`: "since ...", of a part of the run; "" of the whole.
std::string LimitLine(double share, const std::string& when, const Verdict& verdict) {
  if (verdict.kind == "slowed") {
    return fmt::format(
        "limit: compute, slowed by other work. Next: {}; predicted gain up to {:.2f}x",
        verdict.advice, verdict.predicted_gain);
  }
  const std::string stage = verdict.stage.empty() ? "" : " (" + verdict.stage + ")";
  std::string line = fmt::format("limit: {}{}", verdict.limit, stage);
  const std::string of_part = when.empty() || verdict.of_run ? "" : " " + when;
  if (share > 0) {
    line += fmt::format(", {} of the {}{}", Percent(share),
                        verdict.of_run ? "whole run" : "training time", of_part);
  } else if (!of_part.empty()) {
    line += "," + of_part;
  }
  line += ". Next: " + verdict.advice;
  if (verdict.predicted_gain > 1.005) {
    line += fmt::format("; predicted gain up to {:.2f}x{}", verdict.predicted_gain,
                        verdict.of_run ? " of the whole run" : "");
  }
  return line;
}

}  // namespace

std::string Percent(double share) {
  const double percent = std::floor(share * 1000 + 1e-9) / 10;
  return fmt::format("{:.1f} %", percent);
}

std::string HumanSeconds(double seconds) {
  const double ms = seconds * 1e3;
  return ms < 10     ? fmt::format("{:.2f} ms", ms)
         : ms < 1000 ? fmt::format("{:.1f} ms", ms)
                     : fmt::format("{:.2f} s", seconds);
}

bool IsTransfer(const InputStage& stage) { return stage.name == "transfer"; }

double WorkerSeconds(const InputFacts& input) {
  double seconds = 0;
  for (const InputStage& stage : input.stages) seconds += IsTransfer(stage) ? 0 : stage.seconds;
  return seconds;
}

std::optional<Straggler> FindStraggler(const std::vector<double>& busy) {
  if (busy.size() < 2) return std::nullopt;
  const auto slowest = std::max_element(busy.begin(), busy.end());
  double next = 0;
  for (auto it = busy.begin(); it != busy.end(); ++it) {
    if (it != slowest) next = std::max(next, *it);
  }
  if (next <= 0) return std::nullopt;
  return Straggler{.replica = static_cast<int>(slowest - busy.begin()),
                   .seconds = *slowest - next,
                   .longer = *slowest / next - 1};
}

std::string ClockLimitsText(const DeviceUse& use) {
  std::vector<std::pair<double, std::string>> limits;
  for (const auto& [reason, count] : use.clock_limits) {
    limits.emplace_back(use.limited_by(reason).value_or(0), reason);
  }
  std::sort(limits.rbegin(), limits.rend());
  std::string text;
  for (const auto& [share, reason] : limits) {
    if (share >= 0.01)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, Percent(share));
  }
  return text;
}

void WriteLines(const RunFacts& facts, const RunFacts& judged, double share, Verdict& verdict) {
  std::vector<std::string>& lines = verdict.lines;
  const auto add = [&](std::string line) {
    if (!line.empty()) lines.push_back(std::move(line));
  };
  add(fmt::format("full: {} of the training time the device ran steps ({} of {})",
                  Percent(*verdict.full), HumanDuration(facts.ledger.of(Cause::kCompute)),
                  HumanDuration(facts.ledger.training())));
  add(Speed(facts, verdict));
  add(Mfu(facts, verdict));
  add(MemoryLine(facts));
  add(LossScaleLine(facts));
  add(TimeLine(facts));
  add(InputLine(judged));
  add(StepsLine(facts));
  add(ReplicaLine(facts));
  AddDevices(facts, verdict, lines);
  add(CpuLine(facts));
  add(LimitLine(share, judged.part ? judged.part->when : "", verdict));
}

}  // namespace flatout::watch
