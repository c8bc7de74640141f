// RunConfig: a run file, read and checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/pipeline.h"
#include "flatout/data/source.h"
#include "flatout/train/options.h"
#include "flatout/watch/cost.h"

namespace flatout::train {

struct RunConfig {
  Config tree;       // the run file with every --set applied; as used, as kept in the run folder
  std::string name;  // of the run file without folder and ending, for messages and run folders
  Config model = Config::Table();
  Config data = Config::Table();
  Config optimizer = Config(std::string("Adam"));
  data::PipelineOptions pipeline;
  TrainOptions train;
  CheckpointOptions checkpoint;
  WatchOptions watch;
  watch::CostOptions cost;
};

// Reads a run file and applies assignments ("train.epochs=3") in order. Unknown tables and keys,
// wrong types and values out of range are UserErrors with file:line:column and the nearest known
// key.
RunConfig LoadRunConfig(const std::string& path, const std::vector<std::string>& assignments);
// The same from a tree.
RunConfig ReadRunConfig(Config tree, std::string name);

// Throws UserError for values out of range, at their place in `table` where they stand there.
void CheckTrainOptions(const TrainOptions& options, const Config& table = Config::Table());

// The splits of a data set. train may be absent where a run only evaluates.
struct Sources {
  data::SourcePtr train, validation, test;
};
// Opens the splits of the run's [data]. Fields that differ in size from record to record are left
// out unless train.inputs or train.target name them: no batch can hold them.
Sources OpenSources(const RunConfig& config);
// The same for a [data] table alone.
Sources OpenSources(const Config& data_table);

}  // namespace flatout::train
