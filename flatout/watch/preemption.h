// Clouds that are about to take the machine away, and say so.
//
// Google Compute Engine: instance/preempted turns TRUE about 30 s before a Spot or preemptible VM
// ends; instance/maintenance-event turns TERMINATE_ON_HOST_MAINTENANCE for VMs with GPUs, which
// cannot be moved (Compute Engine docs, "Spot VMs", "Host maintenance events"). Amazon EC2:
// spot/instance-action appears two minutes before a Spot instance is stopped, hibernated or
// terminated (EC2 User Guide, "Spot Instance interruption notices"); it is read with a session
// token (IMDSv2). Kubernetes and SageMaker send SIGTERM instead.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "flatout/base/config.h"

namespace flatout::watch {

enum class Cloud { kGce, kEc2 };

struct PreemptionNotice {
  Cloud cloud = Cloud::kGce;
  std::string what;                    // "a preemption notice of Google Compute Engine (TRUE)"
  std::optional<double> seconds_left;  // until the machine goes, as far as the cloud says
};

struct PreemptionOptions {
  // Where the metadata server is: "http://host:port". Empty: $GCE_METADATA_HOST or
  // $AWS_EC2_METADATA_SERVICE_ENDPOINT, which the clouds' own libraries know too, else the cloud's.
  std::string address;
  double poll_seconds = 2;
};

// What this machine says it is (its DMI tables, below `dmi`); nothing on other machines, so that
// they are never asked.
std::optional<Cloud> DetectCloud(const std::string& dmi = "/sys/class/dmi/id");

// Asks once. Nothing where there is no notice. Throws UserError (kUnavailable) where the server
// does not answer as that cloud's does.
std::optional<PreemptionNotice> AskForNotice(Cloud cloud, const std::string& address);

// The address that options and environment give for the cloud's metadata server.
std::string MetadataAddress(Cloud cloud, const PreemptionOptions& options);

// Asks again and again on a thread of its own; calls `on_notice` on it, once, and ends. A server
// that does not answer is warned about once.
class PreemptionWatch {
 public:
  PreemptionWatch(Cloud cloud, const PreemptionOptions& options,
                  std::function<void(const PreemptionNotice&)> on_notice);
  ~PreemptionWatch();
  PreemptionWatch(const PreemptionWatch&) = delete;
  PreemptionWatch& operator=(const PreemptionWatch&) = delete;

 private:
  void Run(Cloud cloud, const std::string& address, double poll_seconds);

  std::function<void(const PreemptionNotice&)> on_notice_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace flatout::watch
