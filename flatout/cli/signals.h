// Ctrl-C, SIGTERM and SIGHUP: the first asks the run to stop and keep what was learned, the second
// ends the process at once.
#pragma once

#include <atomic>

namespace flatout::cli {

// Installs the handlers (once) and returns the flag that the first signal sets.
const std::atomic<bool>* StopFlag();

}  // namespace flatout::cli
