#include "flatout/cli/compare_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/cli/session.h"
#include "flatout/train/step_timer.h"
#include "flatout/xla/cards.h"

namespace flatout::cli {
namespace {

// float16 variables gain nothing over mixed_float16 that bfloat16 does not show.
constexpr const char* kPolicies[] = {"float32", "mixed_bfloat16", "mixed_float16", "bfloat16"};
constexpr int64_t kMostLaunches = 20;
// Differences below this are none: clocks, other processes, the layout of memory.
constexpr double kNoise = 0.03;
// What weights of 16 bits must gain over float32 ones to be worth their lost updates.
constexpr double kWorthPure = 0.1;

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

double PeakOf(const PrecisionSetting& setting, ir::DType dtype) {
  for (const auto& [known, peak] : setting.peaks) {
    if (known == dtype) return peak;
  }
  return 0;
}

// "2.1 times as fast", "30 % faster".
std::string Faster(double factor) {
  if (factor >= 1.95) return fmt::format("{:.1f} times as fast as float32", factor);
  return fmt::format("{:.0f} % faster than float32", (factor - 1) * 100);
}
std::string Slower(double factor) {
  if (factor <= 1 / 1.95) return fmt::format("takes {:.1f} times as long", 1 / factor);
  return fmt::format("takes {:.0f} % longer", (1 / factor - 1) * 100);
}

std::string Less(const PolicyTiming& one, const PolicyTiming& base) {
  if (!one.memory || !base.memory || *base.memory <= 0) return "";
  const double part = 1 - static_cast<double>(*one.memory) / static_cast<double>(*base.memory);
  if (std::abs(part) < 0.01) return "";
  return fmt::format(", with {:.0f} % {} memory", std::abs(part) * 100, part > 0 ? "less" : "more");
}

std::string Why(const PrecisionSetting& setting, const PolicyTiming& low, bool faster) {
  if (setting.is_cpu) {
    return faster
               ? "half the bytes move between the step's operations"
               : "XLA has no faster kernels for 16-bit products on CPUs: it converts the operands "
                 "to float32 and the results back";
  }
  const double f32 = PeakOf(setting, ir::DType::kF32), peak = PeakOf(setting, low.compute);
  std::string units;
  if (f32 > 0 && peak > 0) {
    units = fmt::format("this card multiplies {} {:.3g} times as fast as float32",
                        ir::Name(low.compute), peak / f32);
  }
  if (faster) {
    return units.empty() ? "products have 16-bit operands and half the bytes move" : units;
  }
  if (f32 > 0 && peak > 0 && peak <= f32) {
    return fmt::format("this card has no faster way to multiply {}", ir::Name(low.compute));
  }
  return units.empty()
             ? "the step's time is not in products or in moving data"
             : units +
                   ", but the step's time is not in products: small layers wait for launches "
                   "and memory. A larger batch gives the card more to do";
}

}  // namespace

double PolicyTiming::median() const { return Quantile(seconds_per_step, 0.5); }

double PolicyTiming::spread() const {
  return (Quantile(seconds_per_step, 0.75) - Quantile(seconds_per_step, 0.25)) / 2 / median();
}

std::string PrecisionReport(const PrecisionSetting& setting,
                            const std::vector<PolicyTiming>& timings) {
  const PolicyTiming* base = nullptr;
  for (const PolicyTiming& one : timings) {
    if (one.policy == "float32" && one.error.empty()) base = &one;
  }
  if (base == nullptr) throw Internal("no measurement of float32 to compare with");
  std::string text = fmt::format(
      "precision on {}\nbatch {}, {} rounds of {} launches of {} steps per policy, in turns\n\n",
      setting.device, setting.global_batch, setting.rounds, setting.launches,
      setting.steps_per_launch);
  text += fmt::format("  {:<15} {:>10} {:>8} {:>12} {:>8} {:>10}  {}\n", "policy", "ms/step",
                      "spread", "samples/s", "speed", "memory", "loss");
  for (const PolicyTiming& one : timings) {
    if (!one.error.empty()) {
      text += fmt::format("  {:<15} not measured: {}\n", one.policy,
                          one.error.substr(0, one.error.find('\n')));
      continue;
    }
    std::string loss = fmt::format("{:.4g} after {} steps", one.loss, one.steps);
    if (one.skipped > 0) loss += fmt::format(", {} skipped", one.skipped);
    if (one.micro_rows < one.rows) loss += fmt::format("; micro-batch {}", one.micro_rows);
    text += fmt::format(
        "  {:<15} {:>10.3f} {:>8} {:>12} {:>7.2f}x {:>10}  {}\n", one.policy, one.median() * 1e3,
        fmt::format("{:.0f} %", one.spread() * 100),
        HumanCount(std::llround(static_cast<double>(setting.global_batch) / one.median())),
        base->median() / one.median(), one.memory ? HumanBytes(*one.memory) : "unknown", loss);
  }
  text += '\n';

  // The fastest of the others; among equals the one that comes first, which asks for least: float16
  // needs a loss scale, and bfloat16 loses small updates.
  const auto beats = [](const PolicyTiming& one, const PolicyTiming& other) {
    const bool pure = nn::Policy::Named(one.policy).variable != ir::DType::kF32;
    const double gain = std::max(pure ? kWorthPure : kNoise, one.spread() + other.spread());
    return one.median() < other.median() * (1 - gain);
  };
  const PolicyTiming* best = nullptr;
  for (const PolicyTiming& one : timings) {
    if (!one.error.empty() || &one == base || !std::isfinite(one.loss)) continue;
    if (best == nullptr || beats(one, *best)) best = &one;
  }
  const auto advise = [&](const std::string& policy) {
    if (policy == setting.current) {
      return fmt::format("The run file has it: train.precision = \"{}\".", policy);
    }
    return fmt::format("Write train.precision = \"{}\" into the run file.", policy);
  };
  if (best == nullptr) return text + "Only float32 works here. " + advise("float32") + "\n";
  const double factor = base->median() / best->median();
  const double noise = std::max(kNoise, base->spread() + best->spread());
  const std::string why = Why(setting, *best, factor > 1);
  if (factor > 1 + noise) {
    text += fmt::format("{} is {}{}: {}. {}", best->policy, Faster(factor), Less(*best, *base), why,
                        advise(best->policy));
  } else if (factor < 1 - noise) {
    text += fmt::format("float32 is the fastest here; {} {}{}: {}. {}", best->policy,
                        Slower(factor), Less(*best, *base), why, advise("float32"));
  } else {
    text += fmt::format(
        "No policy is faster than float32 by more than the {:.0f} % that this "
        "measurement can tell; {} is as fast{}: {}. {}",
        noise * 100, best->policy, Less(*best, *base), why, advise("float32"));
  }
  return text + "\n";
}

int ComparePrecision(const train::RunConfig& config, const ComparePrecisionOptions& options) {
  auto runtime = std::make_shared<train::Runtime>(config.train);
  train::Sources sources = train::OpenSources(config);
  if (sources.train == nullptr) throw Invalid("there is no training split to measure with");
  const std::vector<data::Field> fields = sources.train->fields();
  // Only training is compared.
  sources.validation = sources.test = nullptr;

  struct Contender {
    std::unique_ptr<train::Trainer> trainer;
    std::unique_ptr<train::StepTimer> timer;
    PolicyTiming timing;
  };
  std::vector<Contender> contenders;
  PrecisionSetting setting;
  setting.device = runtime->Describe();
  setting.is_cpu = runtime->client().is_cpu();
  if (const xla::Card* card = xla::CardOfDevice(runtime->devices()[0].kind())) {
    for (const ir::DType dtype : {ir::DType::kF32, ir::DType::kBF16, ir::DType::kF16}) {
      setting.peaks.emplace_back(dtype, card->MatmulPeak(dtype));
    }
  }
  setting.global_batch = config.train.global_batch;
  setting.rounds = options.rounds;
  setting.current = config.train.precision;
  // What goes wrong with a lower precision is a line of the table; float32 must work.
  const auto attempt = [&](Contender& one, const auto& body) {
    if (!one.timing.error.empty()) return;
    try {
      body();
    } catch (const Error& error) {
      if (one.timing.policy == "float32") throw;
      one.timing.error = error.message();
      one.timer.reset();
      one.trainer.reset();
    }
  };

  double slowest = 0;
  for (const char* policy : kPolicies) {
    Contender& one = contenders.emplace_back();
    one.timing.policy = policy;
    one.timing.compute = nn::Policy::Named(policy).compute;
    std::fprintf(stderr, "compiling the training step in %s\n", policy);
    attempt(one, [&] {
      train::RunConfig own = config;
      own.train.precision = policy;
      one.trainer = std::make_unique<train::Trainer>(own, MakeModel(own, fields), sources, runtime);
      one.timer = std::make_unique<train::StepTimer>(*one.trainer);
      one.timer->Run(0);  // the first launch of a program is slower than all others
      slowest = std::max(slowest, one.timer->warm_up_seconds());
      setting.steps_per_launch = one.timer->steps_per_launch();
    });
  }
  // More than one of a round unless they are very long: one alone may be the one that was
  // disturbed.
  setting.launches =
      std::clamp<int64_t>(static_cast<int64_t>(options.round_seconds / std::max(slowest, 1e-9)),
                          slowest < 2 * options.round_seconds ? 2 : 1, kMostLaunches);
  for (int64_t round = 0; round < options.rounds; ++round) {
    std::fprintf(stderr, "round %lld of %lld\n", static_cast<long long>(round + 1),
                 static_cast<long long>(options.rounds));
    // Every other round backwards: what grows or cools down with time then hits all alike.
    std::vector<Contender*> order;
    for (Contender& one : contenders) order.push_back(&one);
    if (round % 2 == 1) std::reverse(order.begin(), order.end());
    for (Contender* one : order) {
      attempt(*one, [&] {
        const std::vector<double> seconds = one->timer->Run(setting.launches);
        one->timing.seconds_per_step.insert(one->timing.seconds_per_step.end(), seconds.begin(),
                                            seconds.end());
      });
    }
  }
  std::vector<PolicyTiming> timings;
  for (Contender& one : contenders) {
    if (one.timer != nullptr) {
      if (const auto memory = one.timer->memory()) one.timing.memory = memory->total();
      one.timing.rows = one.timer->plan().rows;
      one.timing.micro_rows = one.timer->plan().micro_rows;
      one.timing.loss = one.timer->loss();
      one.timing.steps = one.timer->steps();
      one.timing.skipped = one.timer->skipped();
    }
    timings.push_back(one.timing);
  }
  std::printf("%s", PrecisionReport(setting, timings).c_str());
  return kExitDone;
}

}  // namespace flatout::cli
