#include "flatout/train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"

namespace flatout::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFiles[] = {"run.toml", "metrics.jsonl", "summary.json",
                                  "weights.safetensors", "best.safetensors"};

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json Optional(const std::optional<double>& value) { return value ? Number(*value) : Json(nullptr); }

}  // namespace

RunFolder::RunFolder(std::string path, bool overwrite) : path_(std::move(path)) {
  MakeDirs(path_);
  // The folder itself is locked. The kernel lets go when the process ends, however it ends. A file
  // system that cannot lock folders (some network ones) does without.
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(lock_);
    throw UserError(Code::kAlreadyExists,
                    fmt::format("another run is writing to {}; wait for it, or choose another "
                                "--run-dir",
                                path_));
  }
  for (const char* name : kFiles) holds_old_run_ |= FileExists(File(name));
  if (holds_old_run_ && !overwrite) {
    if (lock_ >= 0) close(lock_);
    throw UserError(Code::kAlreadyExists,
                    fmt::format("{} holds a run already; choose another --run-dir, or replace that "
                                "run with --overwrite",
                                path_));
  }
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) close(lock_);
}

std::string RunFolder::NewPath(const std::string& name) {
  std::string path = "runs/" + name;
  for (int i = 2; FileExists(path); ++i) path = fmt::format("runs/{}-{}", name, i);
  return path;
}

void RunFolder::Begin(const Config& tree) {
  if (holds_old_run_) {
    for (const char* name : kFiles) {
      std::error_code ignored;
      std::filesystem::remove(File(name), ignored);
    }
    holds_old_run_ = false;
  }
  AtomicWriteFile(File("run.toml"), tree.ToToml());
}

void RunFolder::Log(const std::string& event, const Fields& fields) {
  Json line = {{"event", event}};
  for (const auto& [name, value] : fields) {
    // Counts read better without a fraction.
    if (std::isfinite(value) && value == std::floor(value) && std::abs(value) < 1e15) {
      line[name] = static_cast<int64_t>(value);
    } else {
      line[name] = Number(value);
    }
  }
  const std::string text = line.dump() + "\n";
  const std::string path = File("metrics.jsonl");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written && !log_failed_) {
    LogWarning("{}; training goes on without a full metrics.jsonl",
               SystemMessage("write", path, errno));
    log_failed_ = true;
  }
  if (file >= 0) close(file);
}

namespace {

Json InputJson(const watch::InputFacts& input) {
  Json json;
  json["workers"] = input.workers;
  json["prefetch"] = input.depth;
  json["queue_fill"] = Optional(input.queue_fill);
  json["busy_seconds"] = input.busy;
  json["processor_seconds"] = input.cpu;
  json["queued_seconds"] = input.queued;
  json["stages"] = Json::object();
  for (const watch::InputStage& stage : input.stages) {
    Json& entry = json["stages"][stage.name];
    entry["seconds"] = stage.seconds;
    entry["records"] = stage.records;
    if (stage.bytes > 0) entry["bytes"] = stage.bytes;
  }
  json["tuning"] = input.decisions;
  return json;
}

Json MemoryJson(const Summary& summary) {
  const auto bytes = [](const std::optional<int64_t>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  Json json = Json::object();
  if (summary.plan) {
    const BatchPlan& plan = *summary.plan;
    json["planned_bytes"] = plan.bytes();
    json["limit_bytes"] = bytes(plan.room);
    json["peak_bytes"] = bytes(summary.peak_device_bytes);
    json["parameters"] = plan.training.parameters;
    json["gradients"] = plan.training.gradients;
    json["optimizer"] = plan.training.optimizer;
    json["activations"] = plan.training.activations;
    json["workspace"] = plan.training.workspace;
    json["batch"] = plan.training.batch;
    json["evaluation"] = plan.evaluation ? Json(plan.evaluation->total()) : Json(nullptr);
    json["micro_batch"] = plan.micro_rows;
    json["micro_batches"] = plan.micro_batches();
    json["recompute"] = plan.recompute.ToString();
  }
  return json;
}

}  // namespace

void RunFolder::WriteSummary(const Summary& summary) {
  if (holds_old_run_) return;
  Json json;
  json["status"] = summary.status;
  if (!summary.error.empty()) json["error"] = summary.error;
  json["exit_code"] = summary.exit_code;
  json["steps"] = summary.steps;
  json["epochs"] = summary.epochs;
  json["samples"] = summary.samples;
  json["metrics"] = Json::object();
  for (const auto& [split, values] : summary.metrics) {
    for (const auto& [name, value] : values) json["metrics"][split][name] = Number(value);
  }
  json["full"] = Optional(summary.full);
  json["samples_per_second"] = Optional(summary.samples_per_second);
  json["ceiling_samples_per_second"] = Optional(summary.ceiling_samples_per_second);
  json["mfu"] = Optional(summary.mfu);
  json["flops_per_sample"] =
      summary.flops_per_sample > 0 ? Number(summary.flops_per_sample) : Json(nullptr);
  json["ledger"] = Json::object();
  for (int i = 0; i < watch::kNumCauses; ++i) {
    const auto cause = static_cast<watch::Cause>(i);
    const bool unknown = cause == watch::Cause::kCommunication && !summary.communication_measured;
    json["ledger"][std::string(watch::Name(cause))] =
        unknown ? Json(nullptr) : Number(summary.ledger.of(cause));
  }
  json["wall_seconds"] = summary.ledger.wall;
  json["input"] = InputJson(summary.input);
  json["bad_records"] = summary.bad_records;
  if (summary.bad_records > 0) json["bad_record_messages"] = summary.bad_record_messages;
  json["verdict"] = summary.verdict;
  json["first_step_seconds"] =
      summary.first_step_seconds > 0 ? Number(summary.first_step_seconds) : Json(nullptr);
  json["steps_per_launch"] = summary.steps_per_launch;
  json["devices"] = summary.devices;
  json["device"] = summary.device;
  json["parameters"] = summary.parameters;
  json["peak_resident_bytes"] =
      summary.peak_resident_bytes >= 0 ? Json(summary.peak_resident_bytes) : Json(nullptr);
  json["memory"] = summary.plan ? MemoryJson(summary) : Json(nullptr);
  json["skipped_steps"] = summary.skipped_steps;
  json["loss_scale"] = Optional(summary.loss_scale);
  json["compiles"] = summary.compiles;
  json["compile_seconds"] = summary.compile_seconds;
  AtomicWriteFile(File("summary.json"), json.dump(2) + "\n");
}

}  // namespace flatout::train
