#include "flatout/plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flatout/base/error.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/plan/batch_choice.h"
#include "flatout/plan/memory_plan.h"
#include "flatout/xla/cuda_driver.h"

namespace flatout::plan {
namespace {

// The spec for a batch of `rows` rows on each card.
step::StepSpec SpecFor(const CardQuestion& question, int64_t rows) {
  step::StepSpec spec = question.spec;
  for (ir::Shape& shape : spec.field_shapes) shape.dims.at(0) = rows;
  spec.steps_per_launch = question.steps_per_launch ? question.steps_per_launch(rows) : 1;
  spec.replicas = question.gpus;
  return spec;
}

// What tells the programs of one run apart.
std::string KeyOf(const step::StepSpec& spec) {
  return fmt::format("{} rows {} micro {} steps {} replicas {} recompute {} scale {}",
                     spec.policy.name, spec.field_shapes.at(0).dim(0), spec.micro_rows,
                     spec.steps_per_launch, spec.replicas, spec.recompute.ToString(),
                     spec.loss_scale.ToString());
}

class CardPlanner {
 public:
  CardPlanner(Programs& programs, const CardQuestion& question)
      : programs_(programs), question_(question) {}

  PlanRow Row(int64_t global_batch) {
    PlanRow row;
    row.card = question_.card;
    row.gpus = question_.gpus;
    row.policy = question_.spec.policy.name;
    row.global_batch = global_batch;
    row.rows = global_batch / question_.gpus;
    row.limit = question_.memory_limit;
    row.compiled = static_cast<bool>(question_.compile);
    if (question_.card != nullptr && !question_.compile) problem_ = question_.card->compiler_issue;
    if (!problem_.empty()) {
      row.problem = problem_;
      return row;
    }
    step::StepSpec spec = SpecFor(question_, row.rows);
    try {
      Fit(spec, row);
      if (!row.fits && question_.auto_recompute) {
        PlanRow again = row;
        spec.recompute = nn::Recompute::AllBlocks();
        Fit(spec, again);
        if (again.fits) {
          row = again;
          row.recompute = "blocks";
        } else {
          spec.recompute = nn::Recompute::None();
        }
      }
      if (!row.fits) {
        row.advice = Advice(spec);
        return row;
      }
      FindLargest(row, spec.recompute);
    } catch (const Error& error) {
      // Not a matter of this batch: the compiler does not know the card, or it has a fault.
      if (!question_.compile || !compiling_) throw;
      problem_ = error.message();
      row.problem = problem_;
      row.fits = false;
      return row;
    }
    Time(spec, row);
    if (question_.keep) question_.keep(*programs_.Get(spec));
    return row;
  }

 private:
  // What the compiler says of a spec's program; throws RESOURCE_EXHAUSTED where it does not fit.
  const xla::AotProgram& Compile(const step::StepSpec& spec) {
    const auto [found, added] = compiled_.try_emplace(KeyOf(spec));
    if (!added) return found->second;
    const auto program = programs_.Get(spec);
    compiling_ = true;
    try {
      found->second = question_.compile(*program);
    } catch (...) {
      compiled_.erase(found);
      throw;
    }
    compiling_ = false;
    return found->second;
  }

  int64_t Bytes(const step::StepSpec& spec) {
    std::optional<xla::ProgramMemory> compiled;
    if (question_.compile) compiled = Compile(spec).memory;
    return programs_.Bytes(spec, question_.batches_in_flight, compiled);
  }
  // INT64_MAX where the compiler itself says that it is too much.
  int64_t BytesOrTooMany(const step::StepSpec& spec) {
    try {
      return Bytes(spec);
    } catch (const UserError& error) {
      if (error.code() != Code::kResourceExhausted) throw;
      compiling_ = false;
      return INT64_MAX;
    }
  }

  // Whether the batch fits whole, else in which pieces; sets row and spec.micro_rows.
  void Fit(step::StepSpec& spec, PlanRow& row) {
    const int64_t asked = question_.spec.micro_rows;
    spec.micro_rows = asked < row.rows ? asked : 0;
    row.micro_rows = spec.micro_rows > 0 ? spec.micro_rows : row.rows;
    row.bytes = BytesOrTooMany(spec);
    row.fits = row.bytes <= row.limit;
    if (row.fits || asked > 0 || row.rows == 1) return;
    const BatchChoice choice =
        question_.compile
            ? ChooseMicroBatch(spec, row.limit, question_.batches_in_flight,
                               [&](const step::StepSpec& tried) { return Compile(tried).memory; })
            : ChooseMicroBatch({.rows = row.rows,
                                .memory_limit = row.limit,
                                .estimate = [&](int64_t rows) { return Estimate(spec, rows); },
                                .compile = [&](int64_t rows) { return Estimate(spec, rows); }});
    compiling_ = false;
    row.fits = choice.fits;
    row.bytes = choice.bytes;
    row.micro_rows = choice.micro_rows;
    spec.micro_rows = choice.micro_rows;
  }

  int64_t Estimate(step::StepSpec spec, int64_t micro_rows) const {
    spec.micro_rows = micro_rows;
    return programs_.Bytes(spec, question_.batches_in_flight);
  }

  // What would help, and which cards are large enough.
  std::string Advice(step::StepSpec spec) {
    std::string text = WhatWouldFit(spec, question_.memory_limit, question_.batches_in_flight);
    const int64_t needed = Estimate(spec, 1);
    std::vector<std::string> names;
    for (const xla::Card& card : xla::Cards()) {
      if (UsableMemory(card, question_.gpus, {}) >= needed) names.push_back(card.name);
    }
    if (!names.empty()) text += fmt::format("; that have: {}", fmt::join(names, ", "));
    text += "; more cards do not help, since each holds the whole model and its state";
    return text;
  }

  // The most rows at once, asked once for all batches of this card and policy.
  void FindLargest(PlanRow& row, const nn::Recompute& recompute) {
    if (largest_ < 0 || recompute != largest_for_) {
      const auto spec_of = [&](int64_t rows) {
        step::StepSpec spec = SpecFor(question_, rows);
        spec.micro_rows = 0;
        spec.recompute = recompute;
        return spec;
      };
      BatchQuestion ask;
      ask.rows = std::max(question_.most_rows, row.micro_rows);
      ask.memory_limit = row.limit;
      ask.even_split = false;
      ask.estimate = [&](int64_t rows) {
        return programs_.Bytes(spec_of(rows), question_.batches_in_flight);
      };
      ask.compile = [&](int64_t rows) { return Bytes(spec_of(rows)); };
      if (!question_.compile) ask.compile = ask.estimate;
      const BatchChoice choice = ChooseMicroBatch(ask);
      compiling_ = false;
      largest_ = choice.largest_rows;
      largest_is_all_ = choice.largest_rows >= ask.rows;
      largest_for_ = recompute;
    }
    row.largest_rows = std::max(largest_, row.micro_rows);
    row.largest_is_all = largest_is_all_;
  }

  void Time(const step::StepSpec& spec, PlanRow& row) {
    if (question_.card == nullptr) return;
    StepQuestion ask;
    ask.card = question_.card;
    ask.gpus = question_.gpus;
    ask.samples = static_cast<double>(row.global_batch);
    ask.compute = spec.policy.compute;
    const auto program = programs_.Get(spec);
    // The model's own work: neither pieces nor recomputation add to it.
    step::StepSpec plain = SpecFor(question_, row.rows);
    plain.micro_rows = 0;
    plain.recompute = nn::Recompute::None();
    ask.flops_per_sample = programs_.Get(plain)->step_flops / static_cast<double>(row.rows);
    // The compiler counts the body of a loop once, so that its count means a step only where the
    // batch is not split.
    if (question_.compile && row.micro_rows == row.rows) {
      ask.compiler_bytes = Compile(spec).bytes_accessed;
    }
    row.estimate = EstimateStep(program->work, ask);
    if (!question_.records) return;
    const double steps = std::ceil(*question_.records / static_cast<double>(row.global_batch));
    row.epoch = CostOf(steps, row.estimate->seconds, row.gpus, question_.price);
    const double all = std::min(steps * question_.epochs, question_.max_steps.value_or(INFINITY));
    row.run = CostOf(all, row.estimate->seconds, row.gpus, question_.price);
  }

  Programs& programs_;
  const CardQuestion& question_;
  std::string problem_;     // of the first batch; the others have it, too
  bool compiling_ = false;  // the compiler has the word: errors are its own
  std::map<std::string, xla::AotProgram> compiled_;
  int64_t largest_ = -1;
  bool largest_is_all_ = false;
  nn::Recompute largest_for_;
};

}  // namespace

std::shared_ptr<const PlannedProgram> Programs::Get(const step::StepSpec& spec) {
  const std::string key = KeyOf(spec);
  {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find(key);
    if (found != programs_.end()) return found->second;
  }
  const step::Program program = step::BuildTrainProgram(spec);
  auto planned = std::make_shared<PlannedProgram>();
  planned->stablehlo =
      ir::ToStablehlo(*program.graph, {.num_replicas = static_cast<int>(spec.replicas)});
  planned->work = MeasureWork(*program.graph);
  planned->step_flops = program.step_flops;
  const std::lock_guard lock(mutex_);
  return programs_.try_emplace(key, std::move(planned)).first->second;
}

int64_t Programs::Bytes(const step::StepSpec& spec, int64_t batches_in_flight,
                        const std::optional<xla::ProgramMemory>& compiled) {
  std::string key = fmt::format("{}; {} in flight", KeyOf(spec), batches_in_flight);
  if (compiled) {
    key += fmt::format("; {} + {} - {} + {} + {}", compiled->argument, compiled->output,
                       compiled->alias, compiled->temp, compiled->code);
  }
  {
    const std::lock_guard lock(mutex_);
    const auto found = bytes_.find(key);
    if (found != bytes_.end()) return found->second;
  }
  const int64_t bytes = PlanMemory(spec, batches_in_flight, compiled).total();
  const std::lock_guard lock(mutex_);
  return bytes_.try_emplace(key, bytes).first->second;
}

std::vector<PlanRow> PlanCard(Programs& programs, const CardQuestion& question) {
  CardPlanner planner(programs, question);
  std::vector<PlanRow> rows;
  for (const int64_t batch : question.batches) rows.push_back(planner.Row(batch));
  return rows;
}

int64_t UsableMemory(const xla::Card& card, int64_t gpus, const xla::MemoryOptions& memory) {
  if (memory.limit_bytes) return std::min(card.memory_bytes, *memory.limit_bytes);
  if (memory.fraction) {
    return static_cast<int64_t>(*memory.fraction * static_cast<double>(card.memory_bytes));
  }
  return card.memory_bytes - xla::GpuReserveBytes(card.memory_bytes, static_cast<int>(gpus));
}

}  // namespace flatout::plan
