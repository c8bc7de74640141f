#include "flatout/train/batch_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "flatout/base/text.h"

namespace flatout::train {

int64_t BatchPlan::bytes() const {
  return std::max(training.total(), evaluation ? evaluation->total() : 0);
}

std::string BatchPlan::ToString() const {
  const std::string each = training.replicas > 1 ? " on each device" : "";
  std::string line =
      fmt::format("memory: {} of {}{}", HumanBytes(bytes()),
                  room ? HumanBytes(*room) : "a device that does not say how much it has", each);
  if (micro_rows < rows) {
    line +=
        fmt::format("; micro-batch {} x {} (batch {}{})", micro_rows, micro_batches(), rows, each);
  } else {
    line += fmt::format("; the whole batch of {}{} at once", rows, each);
  }
  if (recompute.kind == nn::Recompute::Kind::kBlocks) {
    line += "; recomputed for the gradients: " + recompute.ToString();
  }
  return line;
}

}  // namespace flatout::train
