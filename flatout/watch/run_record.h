// A run folder, read back: of a run that is done, that was killed, or that is at work now in
// another process. Nothing in it is taken for whole: files may be missing, cut anywhere, or grow
// while they are read.
#pragma once

#include <string>

#include "flatout/watch/run_status.h"

namespace flatout::watch {

// Reads metrics.jsonl, summary.json, run.toml and run.log of a run folder. Lines that cannot be
// understood are left out and counted in `notes`; the last, if it has no end yet, without a word.
// Throws UserError where there is no such folder, or where it holds no run.
RunStatus ReadRunFolder(const std::string& folder);

// The curves of metrics.jsonl alone, for a run that goes on: history, epochs.
void ReadMetrics(const std::string& path, RunStatus& status);

// The process that is training in the folder (it holds the lock on it, see train::RunFolder), as
// /proc/locks tells; 0 where nobody is, or nobody says.
int64_t TrainingProcess(const std::string& folder);

}  // namespace flatout::watch
