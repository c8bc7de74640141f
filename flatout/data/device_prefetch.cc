#include "flatout/data/device_prefetch.h"

#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"

namespace flatout::data {
namespace {

// Notes the time from its making until the last transfer lets go of it.
class TransferTimer {
 public:
  explicit TransferTimer(std::shared_ptr<Prefetcher::TransferLog> log) : log_(std::move(log)) {}
  ~TransferTimer() { log_->Add(watch_.Seconds()); }
  TransferTimer(const TransferTimer&) = delete;
  TransferTimer& operator=(const TransferTimer&) = delete;
  void Fail(std::exception_ptr error) { log_->Fail(std::move(error)); }

 private:
  std::shared_ptr<Prefetcher::TransferLog> log_;
  Stopwatch watch_;
};

// What the worker threads call.
class Uploader {
 public:
  Uploader(std::shared_ptr<const xla::Client> client, std::vector<xla::Device> devices,
           xla::HostSemantics semantics)
      : client_(std::move(client)), devices_(std::move(devices)), semantics_(semantics) {}

  std::shared_ptr<void> operator()(const std::shared_ptr<HostLaunch>& host,
                                   const std::shared_ptr<Prefetcher::TransferLog>& log) const {
    auto launch = std::make_shared<DeviceLaunch>();
    launch->plan = host->plan();
    auto timer = std::make_shared<TransferTimer>(log);
    for (size_t r = 0; r < devices_.size(); ++r) {
      std::vector<xla::Buffer>& buffers = launch->buffers.emplace_back();
      for (size_t f = 0; f < host->fields().size(); ++f) {
        xla::Event host_free;
        buffers.push_back(client_->FromHost(host->data(r, f), host->shape(f), devices_[r],
                                            semantics_, &host_free));
        // The callbacks hold what must live until then: the host memory, and the timer.
        host_free.OnReady([host] {});
        buffers.back().ReadyEvent().OnDone([timer](std::exception_ptr error) {
          if (error) timer->Fail(std::move(error));
        });
      }
    }
    return launch;
  }

 private:
  std::shared_ptr<const xla::Client> client_;
  std::vector<xla::Device> devices_;
  xla::HostSemantics semantics_;
};

}  // namespace

DevicePrefetcher::DevicePrefetcher(std::shared_ptr<const xla::Client> client,
                                   std::vector<xla::Device> devices, LaunchReader reader,
                                   IteratorState start, DevicePrefetchOptions options) {
  if (static_cast<int64_t>(devices.size()) != reader.layout().replicas) {
    throw Internal("{} devices were given for {} replicas", devices.size(),
                   reader.layout().replicas);
  }
  auto semantics = options.zero_copy && client->is_cpu()
                       ? xla::HostSemantics::kZeroCopy
                       : xla::HostSemantics::kUntilTransferCompletes;
  prefetcher_ =
      std::make_unique<Prefetcher>(std::move(reader), start, options,
                                   Uploader(std::move(client), std::move(devices), semantics));
}

std::optional<DeviceLaunch> DevicePrefetcher::Next() {
  std::optional<Prefetcher::Item> item = prefetcher_->Next();
  if (!item) return std::nullopt;
  DeviceLaunch launch = std::move(*std::static_pointer_cast<DeviceLaunch>(item->payload));
  launch.bad_rows = item->bad_rows;
  return launch;
}

}  // namespace flatout::data
