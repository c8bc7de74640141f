#include "flatout/plan/batch_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "flatout/base/error.h"
#include "flatout/nn/model.h"
#include "flatout/nn/recompute.h"

namespace flatout::plan {
namespace {

constexpr int64_t kDoesNotFit = std::numeric_limits<int64_t>::max();

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What is known of bytes(rows): an estimate, and some exact points.
class MemoryModel {
 public:
  explicit MemoryModel(const BatchQuestion& question) : question_(question) {}

  void Learn(int64_t rows, int64_t bytes) {
    // A program that the compiler refused says nothing of how memory grows.
    if (bytes != kDoesNotFit) points_[rows] = static_cast<double>(bytes) - Extra(rows);
  }

  // Bytes of `rows` rows. Exact points are joined by the estimate's shape: between two of them, and
  // beyond, bytes are linear in what the estimate says; with one, the part of it that grows with
  // the rows is scaled.
  double Predict(int64_t rows) const { return Even(rows) + Extra(rows); }

  // The most rows in [1, most] of which `Predict` says that they take at most `bytes`; 0: none.
  int64_t Most(double bytes, int64_t most) const {
    // The whole batch may take less than nearly all of it: it needs no sums over micro-batches.
    if (Predict(most) <= bytes) return most;
    int64_t fits = 0, too_many = most;
    while (too_many - fits > 1) {
      const int64_t middle = fits + (too_many - fits) / 2;
      (Predict(middle) <= bytes ? fits : too_many) = middle;
    }
    return fits;
  }

 private:
  // What a part of the batch needs beyond what grows with the rows.
  double Extra(int64_t rows) const {
    return rows < question_.rows ? static_cast<double>(question_.split_extra) : 0;
  }
  double Even(int64_t rows) const {
    const double guess = Estimate(rows);
    if (points_.empty()) return guess;
    if (const auto known = points_.find(rows); known != points_.end()) return known->second;
    if (points_.size() > 1) {
      auto above = points_.upper_bound(rows);
      if (above == points_.end()) --above;
      if (above == points_.begin()) ++above;
      const auto below = std::prev(above);
      const double rise = Estimate(above->first) - Estimate(below->first);
      const double slope = rise > 0 ? (above->second - below->second) / rise : 0;
      if (slope > 0) return below->second + (guess - Estimate(below->first)) * slope;
    }
    // The nearest point.
    auto nearest = points_.begin();
    for (auto i = points_.begin(); i != points_.end(); ++i) {
      if (std::abs(i->first - rows) < std::abs(nearest->first - rows)) nearest = i;
    }
    const double fixed = std::min(static_cast<double>(question_.fixed), nearest->second);
    const double of_rows = Estimate(nearest->first) - fixed;
    if (!(of_rows > 0)) {
      return nearest->second * static_cast<double>(rows) / static_cast<double>(nearest->first);
    }
    return fixed + (guess - fixed) * (nearest->second - fixed) / of_rows;
  }

  double Estimate(int64_t rows) const {
    const auto found = estimates_.find(rows);
    if (found != estimates_.end()) return found->second;
    return estimates_[rows] = static_cast<double>(question_.estimate(rows)) - Extra(rows);
  }

  const BatchQuestion& question_;
  std::map<int64_t, double> points_;
  mutable std::map<int64_t, double> estimates_;  // each one is a graph built and walked
};

// Rows that are chosen where `rows` fit: an even split of the batch into as few pieces, or a round
// number close below.
int64_t Rounded(const BatchQuestion& question, int64_t rows) {
  if (rows >= question.rows) return question.rows;
  if (!question.even_split) {
    // Whole tiles of the matrix units, where they cost less than 2 %.
    for (const int64_t tile : {64, 32, 16, 8}) {
      const int64_t whole = rows - rows % tile;
      if (whole > 0 && (rows - whole) * 50 < rows) return whole;
    }
    return rows;
  }
  const int64_t pieces = CeilDivide(question.rows, rows);
  const int64_t even = CeilDivide(question.rows, pieces);
  // The last piece is shorter than the others by less than one tile when their rows are rounded up
  // to one; that costs no piece and less than 1/32 of the work.
  const int64_t tiled = CeilDivide(even, 8) * 8;
  return tiled <= rows && (tiled - even) * 32 < even ? tiled : even;
}

}  // namespace

std::string BatchChoice::ToString() const {
  if (!fits) {
    return fmt::format("not even 1 row fits: it needs {} ({} compiles)", Bytes(bytes), compiles);
  }
  return fmt::format("{} micro-batch{} of {} row{}: {} ({} compile{})", micro_batches,
                     micro_batches == 1 ? "" : "es", micro_rows, micro_rows == 1 ? "" : "s",
                     Bytes(bytes), compiles, compiles == 1 ? "" : "s");
}

BatchChoice ChooseMicroBatch(const BatchQuestion& question) {
  if (question.rows < 1) throw Internal("a batch of {} rows cannot be split", question.rows);
  BatchChoice choice;
  MemoryModel model(question);
  const double limit = static_cast<double>(question.memory_limit);
  int64_t lowest_failure = question.rows + 1;
  int64_t best = 0;  // rows of the largest program that has been compiled and fits

  const auto compile = [&](int64_t rows) {
    int64_t bytes = kDoesNotFit;
    try {
      bytes = question.compile(rows);
    } catch (const UserError& error) {
      if (error.code() != Code::kResourceExhausted) throw;
    }
    ++choice.compiles;
    choice.tried.emplace_back(rows, bytes == kDoesNotFit ? -1 : bytes);
    model.Learn(rows, bytes);
    if (bytes <= question.memory_limit) {
      if (rows > best) {
        best = rows;
        choice.bytes = bytes;
      }
      return true;
    }
    lowest_failure = std::min(lowest_failure, rows);
    if (best == 0) choice.bytes = bytes == kDoesNotFit ? 0 : bytes;
    return false;
  };

  while (true) {
    const int64_t most = lowest_failure - 1;
    if (most <= best) break;  // the next one up is known not to fit, or there is none
    int64_t next;
    if (choice.compiles < question.max_compiles) {
      const int64_t expected = std::max({model.Most(limit, most), best, int64_t{1}});
      // A little below what is expected to fit, but for the first guess and the whole batch: memory
      // is not quite as even as the model. The last compile allowed must fit.
      const bool exact = choice.compiles == 0 || expected == question.rows;
      const bool must_fit = best == 0 && choice.compiles + 1 == question.max_compiles;
      int64_t aim = exact ? expected : expected - expected / 80;
      if (must_fit) aim = std::max<int64_t>(expected - expected / 40 - (expected > 20), 1);
      // Not so where the next even split below is far.
      if (!must_fit && Rounded(question, aim) * 20 < Rounded(question, expected) * 19) {
        aim = expected;
      }
      if (best > 0) {
        // From one program alone nobody knows how much of its bytes the rows are for. Where much
        // room is left, a second one tells.
        const bool unsure = choice.compiles == 1 && question.fixed == 0 &&
                            static_cast<double>(choice.bytes) < 0.9 * limit;
        if (unsure && expected < best + best / 40 + 1) {
          next = Rounded(question, std::min(most, 2 * best));
        } else {
          // What is left to win is too little for a compile.
          if (best >= expected - expected / 40) break;
          next = Rounded(question, aim);
        }
        if (next <= best) break;
      } else {
        next = Rounded(question, std::max<int64_t>(aim, 1));
      }
    } else {
      if (best > 0) break;
      // Memory is not what the estimate and the programs so far make believe. Whatever it is, fewer
      // rows need less, and one row decides.
      const bool first = choice.compiles == question.max_compiles;
      const int64_t fewer = first ? lowest_failure - lowest_failure / 8 : lowest_failure / 2;
      next = std::clamp<int64_t>(std::min(model.Most(0.95 * limit, most), fewer), 1, most);
    }
    next = std::min(next, most);
    if (compile(next)) {
      if (next == question.rows) break;
    } else if (next == 1) {
      break;
    }
  }

  choice.fits = best > 0;
  if (!choice.fits) return choice;
  choice.micro_rows = best;
  choice.micro_batches = CeilDivide(question.rows, best);
  choice.largest_rows = std::max(best, model.Most(limit, lowest_failure - 1));
  return choice;
}

BatchChoice ChooseMicroBatch(
    const step::StepSpec& spec, int64_t memory_limit, int64_t batches_in_flight,
    const std::function<xla::ProgramMemory(const step::StepSpec& spec)>& compile) {
  const int64_t rows = spec.field_shapes.at(0).dim(0);
  const auto with = [&](int64_t micro_rows) {
    step::StepSpec changed = spec;
    changed.micro_rows = micro_rows >= rows ? 0 : micro_rows;
    return changed;
  };
  BatchQuestion question{.rows = rows, .memory_limit = memory_limit};
  question.estimate = [&](int64_t micro_rows) {
    return PlanMemory(with(micro_rows), batches_in_flight).total();
  };
  question.compile = [&](int64_t micro_rows) {
    const step::StepSpec changed = with(micro_rows);
    return PlanMemory(changed, batches_in_flight, compile(changed)).total();
  };
  const MemoryPlan least = PlanMemory(with(1), batches_in_flight);
  question.fixed = least.total() - least.temporaries();
  // Sums of the gradients over micro-batches, which the whole batch at once does without.
  for (const nn::Variable& variable : spec.model->variables()) {
    if (variable.trainable) question.split_extra += 4 * variable.shape.size();
  }
  return ChooseMicroBatch(question);
}

std::string RecomputeChoice::ToString() const {
  if (recompute.kind == nn::Recompute::Kind::kNone) {
    return fmt::format("nothing recomputed: {}", Bytes(bytes));
  }
  return fmt::format("recomputing {} ({:.0f} % more work): {} instead of {}",
                     fmt::join(recompute.names, ", "), 100 * extra_flops, Bytes(bytes),
                     Bytes(bytes_without));
}

RecomputeChoice ChooseRecompute(
    const step::StepSpec& spec, int64_t memory_limit, int64_t batches_in_flight,
    const std::function<xla::ProgramMemory(const step::StepSpec& spec)>& compile) {
  RecomputeChoice choice;
  const auto need = [&](const nn::Recompute& recompute) {
    step::StepSpec changed = spec;
    changed.recompute = recompute;
    if (!compile) return PlanMemory(changed, batches_in_flight).total();
    ++choice.compiles;
    try {
      return PlanMemory(changed, batches_in_flight, compile(changed)).total();
    } catch (const UserError& error) {
      if (error.code() != Code::kResourceExhausted) throw;
      // The compiler says no more than that; what our graph says is the next best.
      return std::max(memory_limit + 1, PlanMemory(changed, batches_in_flight).total());
    }
  };
  choice.bytes_without = choice.bytes = need(nn::Recompute::None());
  choice.fits = choice.bytes <= memory_limit;
  if (choice.fits) return choice;

  const int64_t rows = spec.field_shapes.at(0).dim(0);
  const int64_t traced = spec.micro_rows > 0 ? std::min(spec.micro_rows, rows) : rows;
  const nn::RecomputePlan plan = nn::PlanRecompute(*spec.model, spec.policy, traced);
  const int64_t too_much = choice.bytes - memory_limit;
  // Its bytes are those of a graph that no compiler has fused. How many of them really go away is
  // seen after the first try.
  double kept_promise = 1;
  for (int tries = 0; tries < 2; ++tries) {
    const nn::Recompute recompute =
        plan.Choose(static_cast<int64_t>(static_cast<double>(too_much) / kept_promise));
    if (recompute == choice.recompute) break;
    choice.recompute = recompute;
    choice.bytes = need(recompute);
    choice.fits = choice.bytes <= memory_limit;
    if (choice.fits || recompute.names.size() == plan.blocks.size()) break;
    const double promised = static_cast<double>(plan.BytesSaved(recompute.names));
    const double saved = static_cast<double>(choice.bytes_without - choice.bytes);
    if (!(promised > 0) || !(saved > 0)) break;
    // A little more than the proportion says: blocks are not all alike.
    kept_promise = 0.95 * saved / promised;
  }
  if (!choice.fits && choice.recompute.names.size() < plan.blocks.size()) {
    std::vector<std::string> all;
    for (const nn::BlockCost& block : plan.blocks) all.push_back(block.name);
    choice.recompute = nn::Recompute::Only(std::move(all));
    choice.bytes = need(choice.recompute);
    choice.fits = choice.bytes <= memory_limit;
  }
  const double forward = spec.model->ForwardFlops() * static_cast<double>(traced);
  // Backward is twice the forward pass.
  if (forward > 0) choice.extra_flops = plan.Flops(choice.recompute.names) / (3 * forward);
  return choice;
}

std::string WhatWouldFit(const step::StepSpec& spec, int64_t memory_limit,
                         int64_t batches_in_flight) {
  step::StepSpec least = spec;
  least.micro_rows = spec.field_shapes.at(0).dim(0) > 1 ? 1 : 0;
  const MemoryPlan plan = PlanMemory(least, batches_in_flight);
  std::string text = fmt::format(
      "even one row at a time needs {} and there are {}: {} of parameters, {} of optimizer state, "
      "{} of gradients, {} of batches, {} of activations and workspace",
      Bytes(plan.total()), Bytes(memory_limit), Bytes(plan.parameters), Bytes(plan.optimizer),
      Bytes(plan.gradients), Bytes(plan.batch), Bytes(plan.activations + plan.workspace));
  std::vector<std::string> fits, helps;
  const auto offer = [&](std::string_view what, int64_t bytes) {
    if (bytes >= plan.total()) return;
    (bytes <= memory_limit ? fits : helps)
        .push_back(fmt::format("{} (about {})", what, Bytes(bytes)));
  };
  const auto total = [&](const step::StepSpec& changed) {
    return PlanMemory(changed, batches_in_flight).total();
  };
  step::StepSpec smaller = least;
  if (spec.recompute.kind == nn::Recompute::Kind::kNone) {
    step::StepSpec changed = least;
    changed.recompute = nn::Recompute::AllBlocks();
    offer("recompute = \"blocks\"", total(changed));
    smaller.recompute = changed.recompute;
  }
  // A policy is the model's as well as the step's: it decides what weights are kept in.
  std::optional<nn::Model> in_16_bits;
  const auto compute_in = [&](const std::string& policy, std::string_view note) {
    nn::Model model = *spec.model;
    step::StepSpec changed = least;
    changed.policy = nn::Policy::Named(policy);
    try {
      model.SetPolicy(changed.policy);
    } catch (const UserError&) {
      return;  // it has a layer that cannot
    }
    changed.model = &model;
    offer(fmt::format("precision = \"{}\"{}", policy, note), total(changed));
    in_16_bits = std::move(model);
    smaller.policy = changed.policy;
    smaller.model = &*in_16_bits;
  };
  if (spec.policy.name == "float32") compute_in("mixed_bfloat16", "");
  if (spec.policy.variable == ir::DType::kF32) {
    compute_in("bfloat16", ", which keeps weights in 16 bits, too,");
  }
  if (spec.steps_per_launch > 1) {
    step::StepSpec changed = least;
    changed.steps_per_launch = 1;
    offer("steps_per_launch = 1", total(changed));
    smaller.steps_per_launch = 1;
  }
  if (plan.batch > plan.total() / 20 && plan.rows > 1) {
    offer("a smaller global_batch or more devices, which hold fewer rows each",
          plan.total() - plan.batch + plan.batch / plan.rows);
  }
  if (plan.optimizer > plan.total() / 20) {
    offer("an optimizer without state, such as SGD", plan.total() - plan.optimizer);
  }
  offer("all of these settings of the run together", total(smaller));
  if (!fits.empty()) text += fmt::format("; what would fit: {}", fmt::join(fits, ", or "));
  if (!helps.empty()) {
    text += fmt::format("; what helps but does not suffice{}: {}", fits.empty() ? "" : " alone",
                        fmt::join(helps, ", "));
  }
  text += fmt::format("; or a device with {}", Bytes(plan.total()));
  return text;
}

}  // namespace flatout::plan
