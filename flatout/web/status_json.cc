#include <cmath>
#include <nlohmann/json.hpp>

#include "flatout/web/page.h"

namespace flatout::web {
namespace {

using Json = nlohmann::ordered_json;
using watch::RunStatus;

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <typename T>
Json Known(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_same_v<T, double>) {
    return Number(*value);
  } else {
    return *value;
  }
}

Json Numbers(const std::map<std::string, double>& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = Number(value);
  return json;
}

Json LedgerJson(const watch::LedgerReport& ledger, bool communication_measured) {
  Json json = Json::object();
  for (int i = 0; i < watch::kNumCauses; ++i) {
    const auto cause = static_cast<watch::Cause>(i);
    const bool unknown = cause == watch::Cause::kCommunication && !communication_measured;
    json[std::string(Name(cause))] = unknown ? Json(nullptr) : Number(ledger.seconds[i]);
  }
  return json;
}

Json InputJson(const RunStatus& status) {
  const watch::InputFacts& input = status.input;
  Json json;
  json["workers"] = input.workers;
  json["prefetch"] = input.depth;
  json["queue_fill"] = Known(input.queue_fill);
  json["queue_bytes"] = Number(status.queue_bytes);
  json["wait_seconds"] = Number(status.input_wait_seconds);
  json["stages"] = Json::object();
  for (const watch::InputStage& stage : input.stages) {
    json["stages"][stage.name] = {
        {"seconds", Number(stage.seconds)},
        {"records", stage.records > 0 ? Json(stage.records) : Json(nullptr)}};
  }
  return json;
}

Json DeviceJson(const watch::DeviceStatus& device) {
  Json json;
  json["index"] = device.index;
  json["name"] = device.name;
  json["memory_used_bytes"] = Known(device.memory_used_bytes);
  json["memory_limit_bytes"] = Known(device.memory_limit_bytes);
  json["memory_peak_bytes"] = Known(device.memory_peak_bytes);
  json["kernel_active"] = Known(device.kernel_active);
  json["power_watts"] = Known(device.power_watts);
  json["power_limit_watts"] = Known(device.power_limit_watts);
  json["temperature_celsius"] = Known(device.temperature_celsius);
  json["clock_hertz"] = Known(device.clock_hertz);
  json["throttled"] = device.throttled ? Json(*device.throttled) : Json(nullptr);
  return json;
}

Json PointJson(const watch::RunPoint& point) {
  Json json;
  json["step"] = point.step;
  json["epoch"] = Number(point.epoch);
  json["seconds"] = Number(point.seconds);
  json["loss"] = Known(point.loss);
  json["metrics"] = Numbers(point.metrics);
  json["learning_rate"] = Known(point.learning_rate);
  json["samples_per_second"] = Known(point.samples_per_second);
  json["full"] = Known(point.full);
  return json;
}

}  // namespace

std::string StatusJson(const RunStatus& status) {
  Json json;
  json["name"] = status.name;
  json["state"] = status.state;
  json["error"] = status.error.empty() ? Json(nullptr) : Json(status.error);
  json["folder"] = status.folder;
  json["host"] = status.host;
  json["pid"] = status.pid;
  json["device"] = status.device;
  json["devices_used"] = status.replicas;
  json["model"] = status.model;
  json["parameters"] = status.parameters;
  json["optimizer"] = status.optimizer;
  json["precision"] = status.precision;
  json["global_batch"] = status.global_batch;
  json["steps_per_launch"] = status.steps_per_launch;
  json["step"] = status.step;
  json["steps"] = Known(status.steps_in_all());
  json["epoch"] = status.epoch;
  json["epochs"] = status.epochs;
  json["samples"] = status.samples;
  json["skipped_steps"] = status.skipped_steps;
  json["sessions"] = status.sessions;
  json["progress"] = Known(status.progress());
  json["eta_seconds"] = Known(status.eta_seconds);
  json["progress_age_seconds"] = Known(status.progress_age_seconds);
  json["loss"] = Known(status.loss);
  json["metrics"] = Numbers(status.metrics);
  json["last_epoch"] = Numbers(status.last_epoch);
  json["test"] = Numbers(status.test);
  json["learning_rate"] = Known(status.learning_rate);
  json["loss_scale"] = Known(status.loss_scale);
  json["samples_per_second"] = Known(status.samples_per_second);
  json["full"] = Known(status.full);
  json["run_full"] = Known(status.run_full);
  json["mfu"] = Known(status.mfu);
  json["limit"] = Known(status.limit);
  json["limit_stage"] = status.stage.empty() ? Json(nullptr) : Json(status.stage);
  json["verdict"] = status.verdict;
  json["ledger"] = status.ledger_known ? LedgerJson(status.ledger, status.communication_measured)
                                       : Json(nullptr);
  json["wall_seconds"] = status.ledger_known ? Number(status.ledger.wall) : Json(nullptr);
  json["input"] = status.input_known ? InputJson(status) : Json(nullptr);
  json["devices"] = Json::array();
  for (const watch::DeviceStatus& device : status.devices) {
    json["devices"].push_back(DeviceJson(device));
  }
  json["planned_bytes"] = Known(status.planned_bytes);
  json["resident_bytes"] = Known(status.resident_bytes);
  json["disk_free_bytes"] = Known(status.disk_free_bytes);
  const watch::CheckpointStatus& saves = status.checkpoints;
  json["checkpoints"] = {{"saved", saves.saved},
                         {"failed", saves.failed},
                         {"last_step", Known(saves.last_step)},
                         {"age_seconds", Known(saves.age_seconds)},
                         {"bytes", Number(saves.bytes)},
                         {"blocked_seconds", Number(saves.blocked_seconds)},
                         {"error", saves.error.empty() ? Json(nullptr) : Json(saves.error)}};
  json["cost"] = nullptr;
  if (const auto cost = status.cost(); cost && status.ledger_known) {
    json["cost"] = {{"currency", cost->currency},
                    {"per_hour", Number(cost->per_hour)},
                    {"total", Number(cost->total)},
                    {"per_epoch", Known(cost->per_epoch)},
                    {"by_cause", Json::object()}};
    for (int i = 0; i < watch::kNumCauses; ++i) {
      json["cost"]["by_cause"][std::string(Name(static_cast<watch::Cause>(i)))] =
          Number(cost->by_cause[i]);
    }
  }
  json["history"] = Json::array();
  for (const watch::RunPoint& point : status.history.points()) {
    json["history"].push_back(PointJson(point));
  }
  json["epoch_history"] = Json::array();
  for (const watch::RunEpoch& epoch : status.epoch_history) {
    json["epoch_history"].push_back({{"epoch", epoch.epoch},
                                     {"step", epoch.step},
                                     {"seconds", Number(epoch.seconds)},
                                     {"logs", Numbers(epoch.logs)}});
  }
  json["log"] = std::vector<std::string>(status.log.begin(), status.log.end());
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flatout::web
