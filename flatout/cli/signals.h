// Ctrl-C, SIGTERM and SIGHUP: the first asks the run to stop and keep what was done, the second
// ends the process at once (what was saved last stays).
#pragma once

#include "flatout/base/stop.h"

namespace flatout::cli {

// Installs the handlers (once) and returns what the first signal asks. Where nothing would be lost
// (StopRequest::nothing_to_lose) the first one ends the process, too, with exit code 6.
StopRequest* StopOnSignals();

}  // namespace flatout::cli
