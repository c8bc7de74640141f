// flatout doctor RUN: what a run folder tells, of a run that is done, at work, or was killed.
#pragma once

#include <string>

namespace flatout::cli {

// Prints what became of the run in `folder`, whether its device ran full, when it did not, and what
// to change. Reads only. Throws UserError where the folder holds no run. Returns the exit code: 0
// also for a run that failed, since it was explained.
int ExplainRun(const std::string& folder);

}  // namespace flatout::cli
