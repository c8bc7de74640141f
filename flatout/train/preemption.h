// A run that stops in time when its cloud is about to take the machine away.
#pragma once

#include <memory>
#include <optional>

#include "flatout/base/stop.h"
#include "flatout/train/options.h"
#include "flatout/watch/preemption.h"

namespace flatout::train {

// Which cloud to ask, and where.
struct PreemptionSource {
  watch::Cloud cloud = watch::Cloud::kGce;
  watch::PreemptionOptions options;
};
// What checkpoint.preemption says; nothing: nobody is to be asked. Complains at its place.
std::optional<PreemptionSource> ReadPreemption(const CheckpointOptions& options);

// Begins to ask, as checkpoint.preemption says; a notice sets `stop`, or, where there is nothing to
// lose, ends the process with exit code 6. nullptr where nobody is to be asked. `stop` must outlive
// what is returned.
std::unique_ptr<watch::PreemptionWatch> WatchForPreemption(const CheckpointOptions& options,
                                                           StopRequest* stop);

}  // namespace flatout::train
