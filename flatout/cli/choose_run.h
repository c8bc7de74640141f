// Which run folder `flatout train` works in, and whether it goes on with what is there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flatout/train/run_config.h"
#include "flatout/train/run_folder.h"
#include "flatout/train/run_state.h"

namespace flatout::cli {

struct RunChoice {
  std::string path;
  train::RunFolder::Existing existing = train::RunFolder::Existing::kRefuse;
  bool done = false;           // the run there has nothing left to be done
  bool stopped_early = false;  // by early stopping
  bool changed = false;        // the run file asks for something else than before: more epochs, say
  std::vector<std::string> messages;  // why it is this folder, for people
};

struct RunWishes {
  std::string run_dir;  // empty: a folder below runs/ by the run file's name
  bool fresh = false;   // never go on with a run
  bool overwrite = false;
};

// A run that was interrupted is gone on with: the one in run_dir, or else the latest of the run
// file's name below runs/, if nothing in the run file has changed that matters. Changes nothing on
// the disk. Throws UserError where the run in run_dir cannot go on with this run file (naming all
// keys that differ), or must not be overwritten.
RunChoice ChooseRun(const train::RunConfig& config, const RunWishes& wishes);

// The state of a run folder's newest snapshot, not verified; nothing where there is none.
std::optional<train::RunState> PeekState(const std::string& run_folder);

}  // namespace flatout::cli
