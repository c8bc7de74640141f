// A plan for people: the table, and what follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flatout/plan/cost.h"
#include "flatout/plan/planner.h"

namespace flatout::plan {

struct PlanReport {
  std::string run_file;            // as the user named it, for the commands to copy
  int64_t own_batch = 0;           // the run's global batch, of which the recommendation speaks
  std::vector<std::string> sets;   // --set of the command line, to be repeated in the commands
  std::optional<int64_t> records;  // of an epoch
  int64_t epochs = 1;
  Prices prices;
  std::vector<PlanRow> rows;
};

// One line a row, columns as wide as needed, with a header.
std::string FormatTable(const PlanReport& report);

// The rows worth choosing among those that fit and have the run's own batch (or, where none has it,
// the batch nearest to it): indices into report.rows.
struct Choice {
  std::optional<size_t> cheapest;  // least money for an epoch; none without prices or records
  std::optional<size_t> fastest;   // most samples a second
  // The same over all batches, where a larger or smaller one is better by more than a tenth.
  std::optional<size_t> cheapest_any_batch, fastest_any_batch;
};
Choice Choose(const PlanReport& report);

// In words, with the command and the lines of the run file to use.
std::string FormatRecommendation(const PlanReport& report);

// The keys of [train] that a row stands for, in the order of a run file: {"device", "\"cuda\""}...
std::vector<std::pair<std::string, std::string>> TrainKeys(const PlanRow& row);

}  // namespace flatout::plan
