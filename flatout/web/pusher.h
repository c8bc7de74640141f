// Metrics for runs that are over before Prometheus asks: sent to its Pushgateway, every few seconds
// and at the end.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "flatout/watch/run_status.h"
#include "flatout/web/metrics.h"
#include "flatout/web/options.h"

namespace flatout::web {

class Pusher {
 public:
  // `board` and `metrics` must outlive it. Never throws for what the gateway does: it is warned
  // about once, and tried again.
  Pusher(const PushOptions& options, const watch::StatusBoard& board, MetricsWriter& metrics);
  // Pushes a last time, for at most a few seconds.
  ~Pusher();
  Pusher(const Pusher&) = delete;
  Pusher& operator=(const Pusher&) = delete;

  // The path of the run's group: "/metrics/job/flatout/instance/host/run/cnn".
  static std::string Path(const std::string& job, const std::string& instance,
                          const std::string& run);

 private:
  void Work();
  void Push();

  const PushOptions options_;
  const watch::StatusBoard& board_;
  MetricsWriter& metrics_;
  bool failed_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace flatout::web
