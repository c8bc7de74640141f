// What training and evaluation launches share. Internal to flatout/train.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "flatout/data/device_prefetch.h"
#include "flatout/train/totals.h"
#include "flatout/train/trainer.h"
#include "flatout/watch/ledger.h"
#include "flatout/xla/pjrt.h"

namespace flatout::train {

// Launches that may be under way at once: one runs, the next waits.
inline constexpr size_t kLaunchesInFlight = 2;

// Tells the ledger when the devices of a launch have ended, one for each of its replicas.
void TrackCompletion(const std::shared_ptr<watch::Ledger>& ledger, int64_t id,
                     const std::vector<xla::Event>& done);

// The elements of a tensor as another float type, rounded to nearest.
std::vector<std::byte> ConvertFloats(const std::vector<std::byte>& from, ir::DType from_type,
                                     ir::DType to_type);

// One launch of the training program, from its input until its results have been read.
struct Trainer::Launch {
  data::DeviceLaunch input;
  int64_t steps = 0;  // to run
  int64_t rows = 0;   // real ones in them, without bad records
  float rate_factor = 1;
  xla::Execution run;  // outputs hold the results only: the state has moved on
};

}  // namespace flatout::train
