// Plans a run for one card and policy: what fits, in which pieces, how fast, at what price.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "flatout/plan/cost.h"
#include "flatout/plan/estimate.h"
#include "flatout/step/step_program.h"
#include "flatout/xla/cards.h"
#include "flatout/xla/topology.h"

namespace flatout::plan {

// A training program before any compiler has seen it.
struct PlannedProgram {
  std::string stablehlo;
  StepWork work;
  double step_flops = 0;  // of one step on one replica, as the graph counts
};

// The training programs of one run, each built once however many cards it is planned for. May be
// used from any number of threads at once.
class Programs {
 public:
  // Throws what building the program throws.
  std::shared_ptr<const PlannedProgram> Get(const step::StepSpec& spec);
  // PlanMemory's total() of the training program.
  int64_t Bytes(const step::StepSpec& spec, int64_t batches_in_flight,
                const std::optional<xla::ProgramMemory>& compiled = std::nullopt);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const PlannedProgram>> programs_;
  std::map<std::string, int64_t> bytes_;
};

// One line of a plan: a card, a policy and a batch.
struct PlanRow {
  const xla::Card* card = nullptr;  // nullptr: this machine's CPU
  int64_t gpus = 1;
  std::string policy;
  int64_t global_batch = 0;
  int64_t rows = 0;  // of it, on each card

  std::string problem;  // why nothing could be planned, or ""
  bool fits = false;
  std::string advice;           // where it does not fit: what would make it
  int64_t micro_rows = 0;       // rows at once on each card; less than `rows`: accumulated
  std::string recompute;        // "blocks" where it fits only so, else ""
  int64_t largest_rows = 0;     // most rows at once that fit on each card
  bool largest_is_all = false;  // as many as there was sense to ask for; more might fit
  int64_t bytes = 0;            // peak on each card; of one row where nothing fits
  int64_t limit = 0;            // bytes of each card that a run can have
  bool compiled = false;        // bytes by the compiler; else estimated from our graph
  std::optional<StepEstimate> estimate;
  Cost epoch, run;

  std::string card_name() const { return card != nullptr ? card->name : "cpu"; }
};

// Compiles a program and gives its memory; throws UserError UNIMPLEMENTED where the compiler can do
// nothing for the card.
using PlanCompile = std::function<xla::AotProgram(const PlannedProgram& program)>;

struct CardQuestion {
  const xla::Card* card = nullptr;  // nullptr: this machine's CPU, of which speed is not known
  int64_t gpus = 1;
  int64_t memory_limit = 0;       // bytes of each card that a run can have
  int64_t batches_in_flight = 1;  // launches whose input is on the card at once
  // The run's step with the policy to plan for. Field shapes have any number of rows; they and
  // steps_per_launch, replicas and, where it is 0 (auto), micro_rows are set by the planner.
  step::StepSpec spec;
  bool auto_recompute = false;  // recompute blocks where nothing fits without
  std::function<int64_t(int64_t rows)> steps_per_launch;
  std::vector<int64_t> batches;  // global; each must divide by gpus
  int64_t most_rows = 0;         // where the search for the largest batch on a card ends
  PlanCompile compile;           // empty: estimates from our graph instead
  // Called with the program of each row that fits, once it is known to; may be empty.
  std::function<void(const PlannedProgram& program)> keep;
  std::optional<double> records;  // of an epoch
  double epochs = 1;
  std::optional<double> max_steps;  // where a run ends before its epochs do
  std::optional<double> price;      // of a card for an hour
};

// One row for each batch. What goes wrong for a card is said in its rows. Throws only for a run
// that is wrong on every card (shapes that do not fit, say).
std::vector<PlanRow> PlanCard(Programs& programs, const CardQuestion& question);

// Bytes of each card that a run on `gpus` of them can have under train.memory: the cap where there
// is one, else all but what the driver's context and the libraries take (xla::GpuReserveBytes).
int64_t UsableMemory(const xla::Card& card, int64_t gpus, const xla::MemoryOptions& memory);

}  // namespace flatout::plan
