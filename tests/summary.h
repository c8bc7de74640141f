// summary.json of a run that the command made, held to what every run is held to.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/command.h"

namespace flatout::testing {

// Reads it; the parts of its ledger must be the wall time within 0.5 %.
inline nlohmann::json ReadSummary(const std::filesystem::path& run) {
  nlohmann::json summary = nlohmann::json::parse(ReadAll(run / "summary.json"));
  double seconds = 0;
  for (const auto& [cause, part] : summary["ledger"].items()) {
    if (part.is_number()) seconds += part.get<double>();
  }
  const double wall = summary["wall_seconds"];
  EXPECT_NEAR(seconds, wall, 0.005 * wall) << run;
  return summary;
}

}  // namespace flatout::testing
