// How a verdict is put into words, and figures that both its finding and its wording need. Internal
// to flatout/watch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flatout/watch/verdict.h"

namespace flatout::watch {

// "0.31 ms", "12.5 ms", "2.31 s".
std::string HumanSeconds(double seconds);

// Transfers go on beside the workers; they are no stage of theirs.
bool IsTransfer(const InputStage& stage);
// Of all workers in their stages.
double WorkerSeconds(const InputFacts& input);

// The replica whose device was busy longest, where the others waited for it.
struct Straggler {
  int replica = 0;
  double seconds = 0;  // busier than the busiest of the others
  double longer = 0;   // the same as a share of theirs
};
std::optional<Straggler> FindStraggler(const std::vector<double>& busy);

// "thermal 40.0 %, power cap 12.0 %", or "".
std::string ClockLimitsText(const DeviceUse& use);

// Fills verdict.lines from the rest of it. `judged`: the facts of the part of the run that the
// limit was judged by, all of them where it was the whole. `share`: what the limit costs of its
// training time (or of the whole run, of_run); 0 where it is compute.
void WriteLines(const RunFacts& facts, const RunFacts& judged, double share, Verdict& verdict);

}  // namespace flatout::watch
