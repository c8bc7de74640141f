#include "flatout/train/preemption.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"

namespace flatout::train {
namespace {

// {cloud = "gce", address = "http://127.0.0.1:8080", poll_seconds = 1}
struct Table {
  std::string cloud;
  watch::PreemptionOptions options;

  template <class V>
  void Visit(V& v) {
    v.Required("cloud", cloud);
    v("address", options.address);
    v("poll_seconds", options.poll_seconds);
  }
};

}  // namespace

std::optional<PreemptionSource> ReadPreemption(const CheckpointOptions& options) {
  const Config& value = options.preemption;
  Table table;
  if (value.is_table()) {
    ReadOptions(value, "checkpoint.preemption", table);
  } else {
    table.cloud = value.AsString();
  }
  constexpr double kDay = 24 * 3600;
  if (!(table.options.poll_seconds > 0 && table.options.poll_seconds <= kDay)) {
    throw value.Complain(
        fmt::format("poll_seconds must be positive and at most {} (a day), found {}", kDay,
                    table.options.poll_seconds));
  }
  PreemptionSource source{.options = table.options};
  if (table.cloud == "gce" || table.cloud == "ec2") {
    source.cloud = table.cloud == "gce" ? watch::Cloud::kGce : watch::Cloud::kEc2;
    return source;
  }
  if (table.cloud == "none") return std::nullopt;
  if (table.cloud != "auto") {
    throw value.Complain(
        fmt::format("must be \"auto\", \"none\", \"gce\" or \"ec2\", found \"{}\"{}", table.cloud,
                    DidYouMean(table.cloud, {"auto", "none", "gce", "ec2"})));
  }
  const std::optional<watch::Cloud> cloud = watch::DetectCloud();
  if (!cloud) return std::nullopt;
  source.cloud = *cloud;
  return source;
}

std::unique_ptr<watch::PreemptionWatch> WatchForPreemption(const CheckpointOptions& options,
                                                           StopRequest* stop) {
  const std::optional<PreemptionSource> source = ReadPreemption(options);
  if (!source) return nullptr;
  return std::make_unique<watch::PreemptionWatch>(
      source->cloud, source->options, [stop](const watch::PreemptionNotice& notice) {
        LogWarning("{}: the run is saved and ends{}", notice.what,
                   notice.seconds_left ? "; " + HumanDuration(*notice.seconds_left) + " are left"
                                       : std::string());
        const double deadline = notice.seconds_left ? SteadySeconds() + *notice.seconds_left
                                                    : std::numeric_limits<double>::infinity();
        stop->Ask(notice.cloud == watch::Cloud::kGce ? "a notice of Google Compute Engine"
                                                     : "a notice of Amazon EC2",
                  deadline);
        if (stop->nothing_to_lose) std::_Exit(kExitPreempted);
      });
}

}  // namespace flatout::train
