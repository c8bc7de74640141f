// A run as Prometheus metrics: the text exposition format (version 0.0.4), base units, counters
// with _total, labels from small fixed sets (causes, stages, devices, the run's own metrics).
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "flatout/watch/run_status.h"

namespace flatout::web {

struct MetricInfo {
  std::string name;    // "flatout_time_seconds_total"
  std::string type;    // "counter", "gauge"
  std::string labels;  // "cause"; "" without
  std::string help;
};
// All there can be, in the order of the exposition; docs/monitoring.md lists the same.
const std::vector<MetricInfo>& AllMetrics();

// Counters count from the start of the process, as Prometheus's do: a run that goes on begins again
// at 0. What is not known is absent, never 0.
//
// What was given out once must not fall again, but the ledger moves time from one cause to another
// when it learns more. So one of these lives as long as the process, and holds counters at the
// highest they had.
class MetricsWriter {
 public:
  // Thread-safe.
  std::string Write(const watch::RunStatus& status);

 private:
  double Rising(const std::string& key, double value);

  std::mutex mutex_;
  std::map<std::string, double> highest_;
};

}  // namespace flatout::web
