// RunFacts as JSON text and back.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "flatout/base/error.h"
#include "flatout/watch/verdict.h"

namespace flatout::watch {
namespace {

using Json = nlohmann::ordered_json;

// One list of fields serves both directions: Fields(visitor, value) calls visitor(key, member) for
// each.
template <class V>
void Fields(V& v, Figure& value) {
  v("count", value.count);
  v("sum", value.sum);
  v("least", value.least);
  v("most", value.most);
}
template <class V>
void Fields(V& v, DeviceUse& value) {
  v("device", value.device);
  v("name", value.name);
  v("samples", value.samples);
  v("kernel_active", value.utilization);
  v("memory_active", value.memory_utilization);
  v("memory_used_bytes", value.memory_used_bytes);
  v("power_watts", value.power_watts);
  v("temperature_celsius", value.temperature_celsius);
  v("sm_clock_hertz", value.sm_clock_hertz);
  v("pcie_sent", value.pcie_sent);
  v("pcie_received", value.pcie_received);
  v("nvlink_sent", value.nvlink_sent);
  v("nvlink_received", value.nvlink_received);
  v("memory_total_bytes", value.memory_total_bytes);
  v("ecc_uncorrected", value.ecc_uncorrected);
  v("ecc_corrected", value.ecc_corrected);
  v("power_limit_watts", value.power_limit_watts);
  v("sm_clock_max_hertz", value.sm_clock_max_hertz);
  v("clock_samples", value.clock_samples);
  v("clock_limits", value.clock_limits);
}
template <class V>
void Fields(V& v, InputStage& value) {
  v("name", value.name);
  v("seconds", value.seconds);
  v("records", value.records);
  v("bytes", value.bytes);
}
template <class V>
void Fields(V& v, InputFacts& value) {
  v("workers", value.workers);
  v("workers_tuned", value.workers_tuned);
  v("prefetch", value.depth);
  v("prefetch_tuned", value.depth_tuned);
  v("busy", value.busy);
  v("processor", value.cpu);
  v("queued", value.queued);
  v("idle", value.idle);
  v("queue_fill", value.queue_fill);
  v("stages", value.stages);
  v("tuning", value.decisions);
}
template <class V>
void Fields(V& v, LaunchCost& value) {
  v("per_launch", value.per_launch);
  v("per_step", value.per_step);
}
template <class V>
void Fields(V& v, Roofline& value) {
  v("arithmetic", value.arithmetic);
  v("memory", value.memory);
  v("launches", value.launches);
  v("all_reduce", value.all_reduce);
  v("bf16_speedup", value.bf16_speedup);
}
template <class V>
void Fields(V& v, CheckpointFacts& value) {
  v("saves", value.saves);
  v("automatic", value.automatic);
  v("automatic_seconds", value.automatic_seconds);
}
template <class V>
void Fields(V& v, EvaluationFacts& value) {
  v("validations", value.validations);
  v("epochs", value.epochs);
  v("every", value.every);
}
template <class V>
void Fields(V& v, StepFacts& value) {
  v("median", value.median);
  v("p99", value.p99);
  v("slowest_step", value.slowest_step);
  v("slowest_seconds", value.slowest_seconds);
  v("slowest_cause", value.slowest_cause);
}
template <class V>
void Fields(V& v, LedgerReport& value) {
  v("wall", value.wall);
  for (int i = 0; i < kNumCauses; ++i) {
    v(Name(static_cast<Cause>(i)), value.seconds[static_cast<size_t>(i)]);
  }
  for (int i = 1; i < kNumStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    v(fmt::format("{}_{}", Name(CauseOf(stage)), Name(stage)),
      value.stages[static_cast<size_t>(i)]);
  }
}
template <class V>
void Fields(V& v, RunPart& value) {
  v("when", value.when);
  v("made", value.made);
  v("ledger", value.ledger);
  v("steps", value.steps);
  v("samples", value.samples);
  v("launches", value.launches);
  v("steps_per_launch", value.steps_per_launch);
  v("input", value.input);
  v("cpu_seconds", value.cpu_seconds);
  v("throttled_seconds", value.throttled_seconds);
  v("replica_busy", value.replica_busy);
  v("checkpoint", value.checkpoint);
}
template <class V>
void Fields(V& v, RunFacts& value) {
  v("ledger", value.ledger);
  v("steps", value.steps);
  v("samples", value.samples);
  v("launches", value.launches);
  v("steps_per_launch", value.steps_per_launch);
  v("steps_per_epoch", value.steps_per_epoch);
  v("cores", value.cores);
  v("devices", value.devices);
  v("device_is_cpu", value.device_is_cpu);
  v("device_kind", value.device_kind);
  v("flops_per_sample", value.flops_per_sample);
  v("peak_flops", value.peak_flops);
  v("card", value.card);
  v("compute_dtype", value.compute_dtype);
  v("ceiling_samples_per_second", value.ceiling_samples_per_second);
  v("planned_bytes", value.planned_bytes);
  v("device_peak_bytes", value.device_peak_bytes);
  v("process_peak_bytes", value.process_peak_bytes);
  v("skipped_steps", value.skipped_steps);
  v("loss_scale", value.loss_scale);
  v("input", value.input);
  v("launch_cost", value.launch_cost);
  v("roofline", value.roofline);
  v("replica_busy", value.replica_busy);
  v("device_use", value.device_use);
  v("why_no_device_use", value.why_no_device_use);
  v("cpu_seconds", value.cpu_seconds);
  v("throttled_seconds", value.throttled_seconds);
  v("checkpoint", value.checkpoint);
  v("evaluation", value.evaluation);
  v("compiles", value.compiles);
  v("step_times", value.step_times);
  v("part", value.part);
}

template <class T>
Json Write(const T& value);

template <class T>
Json Write(const std::optional<T>& value) {
  return value ? Write(*value) : Json(nullptr);
}
template <class T>
Json Write(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(Write(value));
  return json;
}
template <class T>
Json Write(const std::map<std::string, T>& values) {
  Json json = Json::object();
  for (const auto& [key, value] : values) json[key] = Write(value);
  return json;
}
template <class T>
Json Write(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return Json(value);
  } else {
    Json json = Json::object();
    T copy = value;  // the list of fields is of one that can be read into
    const auto write = [&](std::string_view key, auto& member) {
      json[std::string(key)] = Write(member);
    };
    Fields(write, copy);
    return json;
  }
}

// What is absent, or null, stays as it is.
template <class T>
void Read(const Json& json, const std::string& path, T& value);

template <class T>
void Read(const Json& json, const std::string& path, std::optional<T>& value) {
  if (json.is_null()) return;
  T read{};
  Read(json, path, read);
  value = std::move(read);
}
template <class T>
void Read(const Json& json, const std::string& path, std::vector<T>& values) {
  if (!json.is_array()) throw BadData("{} is no list", path);
  for (size_t i = 0; i < json.size(); ++i) {
    Read(json[i], fmt::format("{}[{}]", path, i), values.emplace_back());
  }
}
template <class T>
void Read(const Json& json, const std::string& path, std::map<std::string, T>& values) {
  if (!json.is_object()) throw BadData("{} is no table", path);
  for (const auto& [key, value] : json.items()) Read(value, path + "." + key, values[key]);
}
template <class T>
void Read(const Json& json, const std::string& path, T& value) {
  if (json.is_null()) return;
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) throw BadData("{} is neither true nor false", path);
    value = json.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) throw BadData("{} is no text", path);
    value = json.get<std::string>();
  } else if constexpr (std::is_arithmetic_v<T>) {
    if (!json.is_number()) throw BadData("{} is no number", path);
    const double number = json.get<double>();
    if constexpr (std::is_integral_v<T>) {
      // What a whole number of that type cannot hold was not written by us.
      if (!(std::abs(number) < static_cast<double>(std::numeric_limits<T>::max()))) {
        throw BadData("{} is too large a number", path);
      }
    }
    value = json.get<T>();
  } else {
    if (!json.is_object()) throw BadData("{} is no table", path);
    const auto read = [&](std::string_view key, auto& member) {
      const auto found = json.find(std::string(key));
      if (found != json.end()) Read(*found, path + "." + std::string(key), member);
    };
    Fields(read, value);
  }
}

}  // namespace

std::string RunFacts::ToJson() const { return Write(*this).dump(1) + "\n"; }

RunFacts RunFacts::FromJson(const std::string& text, const std::string& origin) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw BadData("{}: no JSON table, or cut short", origin);
  RunFacts facts;
  Read(json, origin, facts);
  return facts;
}

}  // namespace flatout::watch
