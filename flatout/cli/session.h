// What the commands that run a model share: from a run file to a trainer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flatout/train/trainer.h"

namespace flatout::cli {

struct Session {
  std::shared_ptr<watch::Ledger> ledger;
  std::unique_ptr<train::Trainer> trainer;
  train::Sources sources;
};

// Opens data and device at the same time, makes the model for the data's fields, and the trainer.
Session MakeSession(const train::RunConfig& config);

// The model of a run file for data with these fields.
nn::Model MakeModel(const train::RunConfig& config, const std::vector<data::Field>& fields);

// A finished (or stopped) run to score or predict with: `path` is a run folder (its run.toml and
// weights), or a run file when `weights` says where the weights are. `weights`: "best", "last" or a
// path; empty: best where there is one, else last.
struct TrainedRun {
  train::RunConfig config;
  std::string weights_path;
};
TrainedRun FindTrainedRun(const std::string& path, const std::string& weights,
                          const std::vector<std::string>& assignments);

}  // namespace flatout::cli
