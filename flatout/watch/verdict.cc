#include "flatout/watch/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "flatout/base/text.h"
#include "flatout/watch/verdict_lines.h"

namespace flatout::watch {
namespace {

// The device alone doing that much better than it did in training means that something held it
// back.
constexpr double kSlowedBy = 1.15;
// Replicas that differ by less are alike.
constexpr double kStraggles = 0.05;
constexpr double kWorthNaming = 0.03;  // shares of training time below this are not worth a change
// Parts of the whole run that stand beside training are its limit from these shares on. Start and
// compile are much of any short run, and nobody can do much about them there.
constexpr double kWorthNamingEvaluation = 0.1;
constexpr double kWorthNamingCompile = 0.3;
constexpr double kWorthNamingStart = 0.3;
constexpr double kLongStart = 30;  // seconds
// What a launch may cost of its steps when their number is chosen, and the most steps.
constexpr double kLaunchShare = 0.02;
constexpr int64_t kMostStepsPerLaunch = 1024;
// Validation may take that share of the run when its frequency is chosen.
constexpr double kEvaluationShare = 0.05;
// Clocks lower than that, in that share of the samples and for a reason that is a fault, are one.
constexpr double kLowClock = 0.95;
constexpr double kOftenLimited = 0.2;
// A kernel that runs for less of the time than this while steps run almost always means gaps
// between kernels.
constexpr double kGapsBetweenKernels = 0.7;
// Memory traffic of a step in bfloat16 over that in float32: activations and gradients are half,
// master weights and statistics stay.
constexpr double kBf16Bytes = 0.55;

double Clamped(double share) { return std::clamp(share, 0.0, 0.999); }

// Time before over time after `saved` seconds of `total` are saved.
double Gain(double total, double saved) { return total > 0 ? 1 / (1 - Clamped(saved / total)) : 1; }

// Something that costs time, and what to do about it.
struct Candidate {
  Cause cause = Cause::kCompute;
  std::string stage, kind, advice;
  std::optional<Change> change;
  double lost = 0;  // seconds
  double gain = 1;
  bool of_run = false;  // lost of the whole run, not of training
};

// Transfers go on beside the workers; they are no stage of theirs.
const InputStage* SlowestStage(const InputFacts& input) {
  const InputStage* slowest = nullptr;
  for (const InputStage& stage : input.stages) {
    if (IsTransfer(stage)) continue;
    if (slowest == nullptr || stage.seconds > slowest->seconds) slowest = &stage;
  }
  return slowest;
}

// Names the slowest stage, one change and what it can gain.
Candidate OfInput(const RunFacts& facts) {
  const InputFacts& input = facts.input;
  const double training = facts.ledger.training();
  Candidate candidate{.cause = Cause::kInput, .kind = "input-bound"};
  candidate.lost = facts.ledger.of(Cause::kInput);
  // Without any wait for input; what the workers then still need counts below.
  candidate.gain = Gain(training, candidate.lost);
  const auto at_most = [&](double gain) { candidate.gain = std::min(candidate.gain, gain); };

  const InputStage* stage = SlowestStage(input);
  candidate.stage = stage != nullptr ? stage->name : "read";
  const double all = WorkerSeconds(input);
  const double share = stage != nullptr && all > 0 ? stage->seconds / all : 1;
  const double waits =
      input.busy > 0 ? std::clamp(1 - (input.cpu + input.queued) / input.busy, 0.0, 1.0) : 0;
  const double queued = input.busy > 0 ? std::clamp(input.queued / input.busy, 0.0, 1.0) : 0;
  const double workers = std::max(1, input.workers);
  const double idle = input.idle / std::max(input.idle + input.busy, 1e-9);
  // Threads that wait for a disk need no core.
  const int64_t cores = facts.cores.value_or(0);
  const double most = (waits > 0.5 ? 4.0 : 1.0) * static_cast<double>(cores);
  if (!input.depth_tuned && input.depth > 0 && idle > 0.2) {
    // The workers could do more: it comes in bursts, which a longer queue evens out.
    candidate.advice = fmt::format(
        "set data.prefetch = \"auto\" (now {}): the workers stood idle {} of the time because the "
        "queue was full, and then it ran empty",
        input.depth, Percent(idle));
    candidate.change = Change{Change::Kind::kPrefetch};
    at_most(1 / Clamped(1 - idle));
  } else if (!input.workers_tuned && most > 1.1 * workers) {
    candidate.advice =
        fmt::format("set data.workers = \"auto\" (now {}, {} cores usable{})", input.workers, cores,
                    waits > 0.5 ? fmt::format("; the workers wait for something else than a core "
                                              "{} of their time, so more of them than cores help",
                                              Percent(waits))
                                : "");
    candidate.change = Change{Change::Kind::kWorkers};
    // Workers add up until the cores, or the step itself, are the limit.
    at_most(most / workers);
  } else if (waits > 0.5) {
    candidate.advice = fmt::format(
        "{} waits for a disk, a network or the like {} of the time: a faster one{}",
        candidate.stage, Percent(waits),
        candidate.stage == "read" ? ", or data.cache = \"memory\" where the data fit" : "");
    at_most(1 / (1 - Clamped(waits)));
  } else if (queued > 0.5) {
    // Alone, the workers would be done that much sooner.
    at_most(1 / (1 - Clamped(queued)));
    candidate.advice = fmt::format(
        "the workers waited {} of their time for a core: see what else {} this machine's cores",
        Percent(queued), facts.device_is_cpu ? "(beside the steps) takes" : "takes");
  } else {
    // Were the stage done once, offline, the workers would have the rest of their time.
    at_most(1 / (1 - Clamped(share)));
    if (candidate.stage == "read" || candidate.stage == "generate") {
      candidate.advice =
          fmt::format("{} takes {} of the workers' time: data.cache = \"memory\" reads only once",
                      candidate.stage, Percent(share));
    } else if (candidate.stage == "assemble") {
      candidate.advice =
          "records are copied into batches most of the time: smaller ones (u8 instead of "
          "f32, with the conversion in the model) would help";
    } else {
      candidate.advice = fmt::format(
          "do {} once instead of in every epoch: flatout data write stores the records as they "
          "are after it",
          candidate.stage);
    }
  }
  return candidate;
}

// What launching cost: the gaps in which the host launched, and what the steps took longer in
// training than they do inside of a launch, up to what launches without steps take.
double LostToLaunches(const RunFacts& facts) {
  double lost = facts.ledger.of(Stage::kLaunch);
  if (facts.launch_cost) {
    const double in_steps = static_cast<double>(facts.steps) * facts.launch_cost->per_step;
    const double in_launches = static_cast<double>(facts.launches) * facts.launch_cost->per_launch;
    lost += std::clamp(facts.ledger.of(Cause::kCompute) - in_steps, 0.0, in_launches);
  }
  return lost;
}

// No launch can be longer than an epoch.
bool LaunchesAreEpochs(const RunFacts& facts) {
  return facts.steps_per_epoch > 0 && facts.steps_per_launch >= facts.steps_per_epoch;
}

std::string LongerEpochs(const RunFacts& facts) {
  return fmt::format(
      "the epochs are too short ({} steps, one launch each) for the device to fill; more data per "
      "epoch would",
      facts.steps_per_epoch);
}

Candidate OfLaunches(const RunFacts& facts) {
  Candidate candidate{.cause = Cause::kHost, .stage = "launch", .kind = "launch-bound"};
  // One launch has nothing before it: what comes between launches is not known.
  if (facts.launches < 2) return candidate;
  candidate.lost = LostToLaunches(facts);
  if (candidate.lost <= 0) return candidate;
  const double training = facts.ledger.training();
  const double steps = static_cast<double>(facts.steps),
               launches = static_cast<double>(facts.launches);
  const double now = steps / launches;
  const double of_launch = candidate.lost / launches;
  const double of_step = std::max((training - candidate.lost) / steps, 1e-9);
  int64_t wanted = 1;
  while (wanted < kMostStepsPerLaunch &&
         of_launch > kLaunchShare * of_step * static_cast<double>(wanted)) {
    wanted *= 2;
  }
  if (facts.steps_per_epoch > 0) wanted = std::min(wanted, facts.steps_per_epoch);
  if (static_cast<double>(wanted) < 1.5 * now) {
    candidate.advice =
        LaunchesAreEpochs(facts)
            ? LongerEpochs(facts)
            : "a larger model or train.global_batch: the steps are too small for this device";
    candidate.gain = 1;
    return candidate;
  }
  candidate.advice =
      fmt::format("raise train.steps_per_launch to {} (now {}): a launch costs {}, a step {}",
                  wanted, facts.steps_per_launch, HumanSeconds(of_launch), HumanSeconds(of_step));
  candidate.change = Change{Change::Kind::kStepsPerLaunch, wanted};
  candidate.gain = Gain(training, candidate.lost * (1 - now / static_cast<double>(wanted)));
  return candidate;
}

Candidate OfHost(const RunFacts& facts) {
  const LedgerReport& ledger = facts.ledger;
  const double training = ledger.training();
  const Stage stage = ledger.LongestStage(Cause::kHost);
  Candidate candidate{.cause = Cause::kHost, .kind = "host-bound"};
  candidate.lost = ledger.of(Cause::kHost) - ledger.of(Stage::kLaunch);
  candidate.gain = Gain(training, candidate.lost);
  const double per_step = ledger.of(Cause::kCompute) / static_cast<double>(facts.steps);
  if (stage != Stage::kNone) {
    candidate.stage = Name(stage);
    candidate.gain = Gain(training, ledger.of(stage));
  }
  if (stage == Stage::kCallbacks) {
    candidate.advice = fmt::format(
        "do less in the callbacks (the program's train::Observer): they take {} for each of {} "
        "launches, while the device waits",
        HumanSeconds(ledger.of(stage) / static_cast<double>(std::max<int64_t>(facts.launches, 1))),
        HumanCount(facts.launches));
  } else if (LaunchesAreEpochs(facts)) {
    candidate.advice = LongerEpochs(facts);
  } else if (stage != Stage::kLog && facts.launches == 1) {
    candidate.advice =
        "train for longer: after one launch it is not known what the host does between launches";
    candidate.gain = 1;
  } else if (stage != Stage::kLog && facts.launches <= 0) {
    candidate.advice =
        "raise train.steps_per_launch, so that the host is waited for more rarely (how many steps "
        "a launch has now is not known)";
  } else if (stage != Stage::kLog && facts.steps / facts.launches < 64) {
    const int64_t wanted = std::max<int64_t>(64, 2 * facts.steps_per_launch);
    candidate.advice = fmt::format("raise train.steps_per_launch (now {}; {} per step)",
                                   facts.steps_per_launch, HumanSeconds(per_step));
    candidate.change = Change{Change::Kind::kStepsPerLaunch, wanted};
  } else {
    candidate.advice = "log less often: raise watch.log_seconds";
  }
  return candidate;
}

// A cause that might be gone as a whole.
Candidate OfAll(const RunFacts& facts, Cause cause, const char* kind, const char* advice) {
  Candidate candidate{.cause = cause, .kind = kind};
  candidate.lost = facts.ledger.of(cause);
  candidate.gain = Gain(facts.ledger.training(), candidate.lost);
  candidate.advice = advice;
  return candidate;
}

Candidate OfCopy(const RunFacts& facts) {
  return OfAll(facts, Cause::kCopy, "copy-bound",
               "send less per sample (u8 instead of f32, conversion in the model)");
}

Candidate OfCommunication(const RunFacts& facts) {
  return OfAll(facts, Cause::kCommunication, "communication-bound",
               "raise train.global_batch, so that each step computes more per exchange");
}

Candidate OfCheckpoints(const RunFacts& facts) {
  const LedgerReport& ledger = facts.ledger;
  const double training = ledger.training();
  Candidate candidate{.cause = Cause::kCheckpoint, .kind = "checkpoint-bound"};
  candidate.lost = ledger.of(Cause::kCheckpoint);
  const Stage stage = ledger.LongestStage(Cause::kCheckpoint);
  if (stage != Stage::kNone) candidate.stage = Name(stage);
  if (facts.checkpoint.automatic) {
    candidate.gain = Gain(training, candidate.lost);
    candidate.advice =
        "snapshots come as often as pays already: a faster disk, or a higher "
        "checkpoint.between_interruptions where runs are interrupted more rarely than that";
    return candidate;
  }
  const double saving = ledger.of(Stage::kSnapshot) + ledger.of(Stage::kSlowed);
  double saved = candidate.lost;
  if (const CheckpointFacts& facts_of = facts.checkpoint;
      facts_of.saves > 0 && saving > 0 && facts_of.automatic_seconds) {
    const double each = saving / static_cast<double>(facts_of.saves);
    // One at the end comes in any case.
    const double left = 1 + std::floor((training - saving) / *facts_of.automatic_seconds);
    saved = std::max(0.0, saving - each * left);
  }
  candidate.gain = Gain(training, saved);
  candidate.advice =
      "save less often: a higher checkpoint.every_steps or every_seconds, or checkpoint.auto = "
      "true, which weighs the cost of a save against the work it protects";
  candidate.change = Change{Change::Kind::kCheckpointInterval};
  return candidate;
}

// One replica takes longer than the others, which wait for it.
Candidate OfStraggler(const RunFacts& facts) {
  Candidate candidate{.cause = Cause::kCompute, .kind = "straggler"};
  const std::optional<Straggler> slow = FindStraggler(facts.replica_busy);
  if (!slow || slow->longer < kStraggles) return candidate;
  candidate.stage = fmt::format("replica {}", slow->replica);
  candidate.lost = std::min(slow->seconds, facts.ledger.of(Cause::kCompute));
  candidate.gain = Gain(facts.ledger.training(), candidate.lost);
  std::string why = "compare its card with the others: another model, clocks, a program beside it";
  for (const DeviceUse& use : facts.device_use) {
    if (use.device != slow->replica) continue;
    if (const std::string limits = ClockLimitsText(use); !limits.empty()) {
      why = fmt::format("its clocks were held back ({})", limits);
    }
  }
  candidate.advice =
      fmt::format("device {} takes {} longer than the others, which wait for it at every step: {}",
                  slow->replica, Percent(slow->longer), why);
  return candidate;
}

// A card that protects itself from heat, or lacks power. That a card reaches its power limit at
// work is as it should be.
Candidate OfClocks(const RunFacts& facts) {
  Candidate candidate{.cause = Cause::kCompute, .stage = "clocks", .kind = "throttled"};
  for (const DeviceUse& use : facts.device_use) {
    double limited = 0;
    std::string reason;
    for (const char* fault : {"thermal", "hardware thermal", "hardware slowdown", "power brake"}) {
      const double share = use.limited_by(fault).value_or(0);
      if (share <= limited) continue;
      limited = share;
      reason = fault;
    }
    const auto clock = use.sm_clock_hertz.mean();
    if (limited < kOftenLimited || !clock || !use.sm_clock_max_hertz) continue;
    const double ratio = *clock / *use.sm_clock_max_hertz;
    const double lost = facts.ledger.of(Cause::kCompute) * (1 - ratio);
    if (ratio >= kLowClock || lost <= candidate.lost) continue;
    candidate.lost = lost;
    candidate.gain = Gain(facts.ledger.training(), lost);
    candidate.advice = fmt::format(
        "device {} slows itself down ({}, {} of the time): {:.0f} of {:.0f} MHz; see to its "
        "cooling and power supply",
        use.device, reason, Percent(limited), *clock / 1e6, *use.sm_clock_max_hertz / 1e6);
  }
  return candidate;
}

// The container's CPU quota holds threads back; it shows as random stalls of input and host, and
// as slow steps of CPU devices.
std::optional<Candidate> OfQuota(const RunFacts& facts, const Candidate& limit) {
  if (!facts.throttled_seconds || *facts.throttled_seconds <= 0) return std::nullopt;
  const double throttled = *facts.throttled_seconds;
  const double training = facts.ledger.training();
  const bool of_gaps = limit.cause == Cause::kInput || limit.cause == Cause::kHost;
  if (!of_gaps && !(limit.cause == Cause::kCompute && facts.device_is_cpu)) return std::nullopt;
  double lost = training * throttled / std::max(throttled + facts.cpu_seconds, 1e-9);
  if (limit.cause == Cause::kInput && facts.input.busy > 0) {
    // The workers' time shrinks by what they were held back.
    lost = training * std::min(throttled / facts.input.busy, 1.0);
  }
  if (of_gaps) lost = std::min(lost, limit.lost);
  if (lost < kWorthNaming * training || lost < 0.5 * limit.lost) return std::nullopt;
  Candidate candidate{.cause = limit.cause, .stage = "CPU quota", .kind = "throttled"};
  candidate.lost = lost;
  candidate.gain = Gain(training, lost);
  candidate.advice = fmt::format(
      "raise the CPU limit of the container or control group: its quota held the threads back for "
      "{:.1f} core-seconds",
      throttled);
  return candidate;
}

Candidate OfEvaluation(const RunFacts& facts) {
  const LedgerReport& ledger = facts.ledger;
  Candidate candidate{.cause = Cause::kEvaluation, .kind = "evaluation-bound", .of_run = true};
  // Flatout's own measuring is short and nothing to change.
  candidate.lost = ledger.of(Cause::kEvaluation) - ledger.of(Stage::kCeiling);
  const Stage stage = ledger.LongestStage(Cause::kEvaluation);
  if (stage != Stage::kNone) candidate.stage = Name(stage);
  const EvaluationFacts& evaluation = facts.evaluation;
  const double validation = ledger.of(Stage::kValidation);
  if (stage == Stage::kValidation && evaluation.validations > 1 && evaluation.every > 0) {
    const double each = validation / static_cast<double>(evaluation.validations);
    const double rest = ledger.wall - validation;
    const auto left = [&](int64_t every) {
      return each * std::ceil(static_cast<double>(evaluation.epochs) / static_cast<double>(every));
    };
    int64_t every = evaluation.every;
    while (every < evaluation.epochs && left(every) > kEvaluationShare * (rest + left(every))) {
      ++every;
    }
    candidate.gain = ledger.wall / (rest + std::min(left(every), validation));
    candidate.advice = fmt::format("validate more rarely: train.evaluate_every = {} (now {})",
                                   every, evaluation.every);
    return candidate;
  }
  candidate.gain = Gain(ledger.wall, candidate.lost);
  candidate.advice =
      stage == Stage::kTest
          ? "the test split takes most of it: train.evaluate_test = false leaves it to flatout "
            "evaluate"
          : "a smaller validation split, or train.evaluate_every";
  return candidate;
}

Candidate OfCompile(const RunFacts& facts) {
  Candidate candidate{.cause = Cause::kCompile, .kind = "compile-bound", .of_run = true};
  candidate.lost = facts.ledger.of(Cause::kCompile);
  candidate.gain = Gain(facts.ledger.wall, candidate.lost);
  if (!facts.compiles) {
    candidate.advice = "run it again: the cache has its programs from now on";
  } else if (*facts.compiles > 0) {
    const bool one = *facts.compiles == 1;
    candidate.advice = fmt::format(
        "run it again: {} program{} compiled for the first time; the cache has {} from now on",
        *facts.compiles, one ? " was" : "s were", one ? "it" : "them");
  } else {
    candidate.advice =
        "longer runs: even taking the programs from the cache is much of so short a one";
  }
  return candidate;
}

Candidate OfStart(const RunFacts& facts) {
  Candidate candidate{.cause = Cause::kStart, .kind = "start-bound", .of_run = true};
  candidate.lost = facts.ledger.of(Cause::kStart);
  candidate.gain = Gain(facts.ledger.wall, candidate.lost);
  candidate.advice =
      "flatout data index, once, where indexing the files takes long; else nothing: longer runs "
      "start no more often";
  return candidate;
}

// Nothing else is worth naming: what the steps themselves wait for.
Candidate OfCompute(const RunFacts& facts, double samples_per_second) {
  Candidate candidate{.cause = Cause::kCompute, .kind = "compute-bound"};
  const double training = facts.ledger.training();
  const double compute = facts.ledger.of(Cause::kCompute);
  const bool f32 = facts.compute_dtype == "float32" || facts.compute_dtype == "f32";
  if (facts.ceiling_samples_per_second &&
      *facts.ceiling_samples_per_second > kSlowedBy * samples_per_second) {
    // The steps themselves took longer than the same steps did alone at the end.
    candidate.stage = candidate.kind = "slowed";
    candidate.gain = *facts.ceiling_samples_per_second / samples_per_second;
    candidate.advice =
        facts.device_is_cpu
            ? "see what else uses this machine's cores: the same steps ran faster at the end"
            : "see what else uses the device: the same steps ran faster at the end";
    return candidate;
  }
  if (facts.device_is_cpu) {
    candidate.advice = "nothing feeds it faster; a GPU, or a smaller model, is the next step";
    return candidate;
  }
  if (!facts.roofline || facts.roofline->step() <= 0) {
    candidate.advice = f32 ? "try train.precision = \"mixed_bfloat16\""
                           : "raise train.global_batch, if the loss allows it";
    return candidate;
  }
  const Roofline& roofline = *facts.roofline;
  const double step = roofline.step();
  double launches = roofline.launches;
  // The driver says whether there are gaps between the kernels; the data sheet only supposes.
  for (const DeviceUse& use : facts.device_use) {
    const std::optional<double> ran = use.utilization.mean();
    if (!ran || *ran <= 0 || compute < 0.9 * training || *ran >= kGapsBetweenKernels) continue;
    launches = std::max(launches, (1 - *ran) * step);
  }
  const double most =
      std::max({roofline.arithmetic, roofline.memory, launches, roofline.all_reduce});
  // By these shares of a step as it was measured.
  const auto after = [&](double left) { return Gain(training, compute * (1 - left / step)); };
  if (most == launches) {
    candidate.kind = "launch-bound";
    candidate.stage = "kernel launches";
    candidate.gain = after(step - 0.75 * std::min(launches, step));
    candidate.advice =
        "four times the train.global_batch, if the loss allows it: the kernels are too small for "
        "the card, which waits for each to start";
  } else if (most == roofline.all_reduce) {
    candidate.kind = "communication-bound";
    candidate.stage = "all-reduce";
    candidate.gain = after(step - 0.5 * roofline.all_reduce);
    candidate.advice =
        "twice the train.global_batch, if the loss allows it: each step computes more for the "
        "same exchange of gradients";
  } else if (f32 && roofline.bf16_speedup > 1) {
    candidate.kind = most == roofline.memory ? "memory-bound" : "compute-bound";
    candidate.stage = most == roofline.memory ? "memory bandwidth" : "arithmetic";
    candidate.gain = after(roofline.arithmetic / roofline.bf16_speedup +
                           kBf16Bytes * roofline.memory + roofline.launches + roofline.all_reduce);
    candidate.advice = "try train.precision = \"mixed_bfloat16\"";
  } else if (most == roofline.memory) {
    candidate.kind = "memory-bound";
    candidate.stage = "memory bandwidth";
    candidate.advice = "a card with more memory bandwidth; faster arithmetic would change nothing";
  } else {
    candidate.stage = "arithmetic";
    candidate.advice = "nothing feeds it faster: a faster card, or more of them";
  }
  return candidate;
}

// "data.workers" of "data.workers = "auto"".
std::string KeyOf(const std::string& change) { return change.substr(0, change.find(" = ")); }

// The facts of the part of the run that the limit is judged by.
RunFacts JudgedBy(const RunFacts& whole) {
  RunFacts facts = whole;
  facts.part.reset();
  if (!whole.part || whole.part->steps <= 0 || !whole.part->ledger.full()) return facts;
  const RunPart& part = *whole.part;
  facts.ledger = part.ledger;
  facts.steps = part.steps;
  facts.samples = part.samples;
  facts.launches = part.launches;
  facts.steps_per_launch = part.steps_per_launch;
  facts.input = part.input;
  facts.cpu_seconds = part.cpu_seconds;
  facts.throttled_seconds = part.throttled_seconds;
  facts.replica_busy = part.replica_busy;
  facts.checkpoint = part.checkpoint;
  facts.part = part;  // its name
  return facts;
}

// What costs most: in training by `facts`, beside it by those of the whole run.
Candidate FindLimit(const RunFacts& facts, const RunFacts& whole, double samples_per_second) {
  const double training = facts.ledger.training();
  Candidate limit;
  for (Candidate& candidate :
       std::vector{OfInput(facts), OfCopy(facts), OfCommunication(facts), OfCheckpoints(facts),
                   OfHost(facts), OfLaunches(facts), OfStraggler(facts), OfClocks(facts)}) {
    if (candidate.lost > limit.lost) limit = std::move(candidate);
  }
  if (limit.lost < kWorthNaming * training) limit = OfCompute(facts, samples_per_second);
  if (auto quota = OfQuota(facts, limit)) limit = std::move(*quota);
  // What stands beside training, where it costs the run more.
  double share = limit.lost / facts.ledger.wall;
  const auto beside = [&](Candidate candidate, double worth) {
    const double its_share = candidate.lost / whole.ledger.wall;
    if (!(its_share > share) || its_share < worth) return;
    share = its_share;
    limit = std::move(candidate);
  };
  beside(OfEvaluation(whole), kWorthNamingEvaluation);
  beside(OfCompile(whole), kWorthNamingCompile);
  if (whole.ledger.of(Cause::kStart) >= kLongStart) beside(OfStart(whole), kWorthNamingStart);
  return limit;
}

}  // namespace

std::string Change::ToString() const {
  switch (kind) {
    case Kind::kWorkers:
      return "data.workers = \"auto\"";
    case Kind::kPrefetch:
      return "data.prefetch = \"auto\"";
    case Kind::kStepsPerLaunch:
      return fmt::format("train.steps_per_launch = {}", value);
    default:
      return "checkpoint.auto = true";
  }
}

std::string Advised::ToString() const {
  return fmt::format("{} at step {}, predicted {:.2f}x, obtained {}{}", change, HumanCount(step),
                     predicted_gain,
                     obtained_gain ? fmt::format("{:.2f}x", *obtained_gain)
                                   : "n/a (the run ended before it showed)",
                     taken_back ? ", taken back" : "");
}

Verdict Judge(const RunFacts& facts) {
  Verdict verdict;
  const double training = facts.ledger.training();
  verdict.full = facts.ledger.full();
  if (!verdict.full || facts.steps == 0) {
    verdict.limit = verdict.kind = "unknown";
    verdict.advice = "train for at least one step";
    verdict.lines.push_back("full: not available, no training step has ended");
    if (facts.steps > 0) {
      verdict.advice = "look at a run folder that has its facts.json or metrics.jsonl";
      verdict.lines.back() = "full: not available, where the time went is not known";
    }
    return verdict;
  }
  verdict.samples_per_second = static_cast<double>(facts.samples) / training;
  const double achieved = facts.flops_per_sample * *verdict.samples_per_second;
  if (facts.peak_flops && facts.flops_per_sample > 0) verdict.mfu = achieved / *facts.peak_flops;

  const RunFacts judged = JudgedBy(facts);
  const double training_judged = judged.ledger.training();
  const double speed_judged = static_cast<double>(judged.samples) / training_judged;
  if (facts.ceiling_samples_per_second.value_or(0) >=
      std::max(*verdict.samples_per_second, speed_judged)) {
    verdict.ceiling_samples_per_second = facts.ceiling_samples_per_second;
  }
  Candidate limit = FindLimit(judged, facts, speed_judged);
  if (const std::string made = judged.part ? judged.part->made : "";
      limit.change && !made.empty() && KeyOf(limit.change->ToString()) == KeyOf(made)) {
    limit.advice = made + " is set already, too late in this run to show what it gives";
    limit.change.reset();
  }
  verdict.limit = Name(limit.cause);
  verdict.stage = std::move(limit.stage);
  verdict.kind = std::move(limit.kind);
  verdict.advice = std::move(limit.advice);
  verdict.change = limit.change;
  verdict.predicted_gain = limit.gain;
  verdict.of_run = limit.of_run;
  const double share = limit.of_run ? limit.lost / facts.ledger.wall : limit.lost / training_judged;
  WriteLines(facts, judged, limit.lost > 0 ? share : 0, verdict);
  return verdict;
}

}  // namespace flatout::watch
