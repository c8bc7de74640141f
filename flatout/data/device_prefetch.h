// Launches made ahead and sent to the devices ahead: what the training loop takes its input from.
//
//   data::DevicePrefetcher input(client, devices, reader, reader.Start(), {.depth = 4});
//   while (auto launch = input.Next()) Train(launch->buffers, launch->plan.steps);
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "flatout/data/prefetch.h"
#include "flatout/xla/pjrt.h"

namespace flatout::data {

// One launch on its devices.
struct DeviceLaunch {
  LaunchPlan plan;
  int64_t bad_rows = 0;  // of plan.rows, left out
  // [replica][field], each [K, B, ...] of LaunchReader::fields() (the last is "weight"). The
  // transfers may still be under way; an execution waits for them by itself.
  std::vector<std::vector<xla::Buffer>> buffers;
};

struct DevicePrefetchOptions : PrefetchOptions {
  // On a CPU client the device buffer is the host buffer itself instead of a copy of it; the host
  // memory is reused when the launch's buffers are gone and no execution reads them any more. Not
  // for programs that are given the batch as a donated argument. No effect on other clients.
  bool zero_copy = true;
};

class DevicePrefetcher {
 public:
  // `devices`: one per replica of the reader's layout. The client must outlive this object.
  DevicePrefetcher(std::shared_ptr<const xla::Client> client, std::vector<xla::Device> devices,
                   LaunchReader reader, IteratorState start, DevicePrefetchOptions options);

  // Waits for the next launch; nothing when end_epoch is reached or after Stop. Throws what reading
  // or sending threw.
  std::optional<DeviceLaunch> Next();
  void Stop() { prefetcher_->Stop(); }
  const LaunchReader& reader() const { return prefetcher_->reader(); }
  EngineStats stats() const { return prefetcher_->stats(); }

 private:
  std::unique_ptr<Prefetcher> prefetcher_;
};

}  // namespace flatout::data
