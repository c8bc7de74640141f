// Ctrl-C, SIGTERM and SIGHUP: the first asks the run to stop and keep what was done, the second
// ends the process at once (what was saved last stays). What follows within kEchoSeconds is the
// first once more: timeout(1), systemd and terminals that close send two for one request.
#pragma once

#include "flatout/base/stop.h"

namespace flatout::cli {

inline constexpr double kEchoSeconds = 1;

// Installs the handlers (once) and returns what the first signal asks. Where nothing would be lost
// (StopRequest::nothing_to_lose) the first one ends the process, too, with exit code 6.
StopRequest* StopOnSignals();
// As nohup(1) asks of the programs that it starts: the terminal may go away. It is obeyed.
bool HangUpIsIgnored();

// The run is over, and all that it leaves is written: from now on a signal ends the process on the
// spot, with this exit code (an echo of an earlier one does not).
void EndOnSignals(int exit_code);

}  // namespace flatout::cli
