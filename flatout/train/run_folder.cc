#include "flatout/train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"

namespace flatout::train {
namespace {

using Json = nlohmann::ordered_json;

// There from before an old run's files are removed until the new run's are there.
constexpr const char* kReplacing = "replacing";
constexpr const char* kPendingBest = "best.pending-";
// For how long another process may still hold a folder.
constexpr double kLockSeconds = 2;
constexpr const char* kLog = "metrics.jsonl";
constexpr const char* kFacts = "facts.json";
constexpr const char* kFiles[] = {
    "run.toml",         kLog,          kFacts,    "summary.json", "weights.safetensors",
    "best.safetensors", "checkpoints", "run.log", "report.html"};

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json Optional(const std::optional<double>& value) { return value ? Number(*value) : Json(nullptr); }

}  // namespace

namespace {

// The process that holds a lock on the folder, as /proc/locks tells; "" where it doesn't.
std::string LockHolder(int folder) {
  struct stat info {};
  if (fstat(folder, &info) != 0) return "";
  std::ifstream locks("/proc/locks");
  // "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, place;
    long pid = 0;
    if (!(words >> number >> kind >> mode >> access >> pid >> place) || kind != "FLOCK") continue;
    if (place.substr(place.rfind(':') + 1) != std::to_string(info.st_ino) || pid <= 0) continue;
    std::string name;
    std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), name);
    return fmt::format("process {}{}", pid, name.empty() ? "" : " (" + name + ")");
  }
  return "";
}

// The folder itself is locked. The kernel lets go when the process ends, however it ends. A file
// system that cannot lock folders (some network ones) does without. Returns the descriptor that
// holds the lock, or a negative number.
int Lock(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return file;
  const double begin = SteadySeconds();
  while (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (SteadySeconds() - begin < kLockSeconds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    const std::string holder = LockHolder(file);
    close(file);
    throw UserError(Code::kAlreadyExists,
                    fmt::format("another run is writing to {}{}; wait for it, or choose another "
                                "--run-dir",
                                path, holder.empty() ? "" : ": " + holder));
  }
  return file;
}

}  // namespace

RunFolder::RunFolder(std::string path, Existing existing) : path_(std::move(path)) {
  for (std::filesystem::path part = path_; !part.empty() && !FileExists(part.string());
       part = part.parent_path()) {
    made_.push_back(part.string());
  }
  MakeDirs(path_);
  lock_ = Lock(path_);
  for (const char* name : kFiles) holds_old_run_ |= FileExists(File(name));
  holds_old_run_ |= IsBeingReplaced(path_);
  if (holds_old_run_ && existing == Existing::kRefuse) {
    if (lock_ >= 0) close(lock_);
    throw UserError(Code::kAlreadyExists,
                    fmt::format("{} holds a run already; choose another --run-dir, or replace that "
                                "run with --overwrite",
                                path_));
  }
}

RunFolder::~RunFolder() {
  // Of a run that never began nothing is left, but what somebody has put there meanwhile.
  for (const std::string& folder : made_) rmdir(folder.c_str());
  if (lock_ >= 0) close(lock_);
}

void RunFolder::CheckFree(const std::string& path) {
  if (const int file = Lock(path); file >= 0) close(file);
}

std::string RunFolder::NewPath(const std::string& name) {
  std::string path = "runs/" + name;
  for (int i = 2; FileExists(path); ++i) path = fmt::format("runs/{}-{}", name, i);
  return path;
}

std::string RunFolder::PendingBest(int64_t step) {
  return fmt::format("{}{:09}.safetensors", kPendingBest, step);
}

std::vector<int64_t> RunFolder::PendingBests() const {
  std::vector<int64_t> steps;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPendingBest)) continue;
    const int64_t step = std::atoll(name.c_str() + std::string_view(kPendingBest).size());
    if (name == PendingBest(step)) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

bool RunFolder::IsBeingReplaced(const std::string& path) {
  return FileExists(path + "/" + kReplacing);
}

void RunFolder::Begin(const Config& tree, std::optional<int64_t> resumed_log_bytes) {
  const bool replaces = (holds_old_run_ || IsBeingReplaced(path_)) && !resumed_log_bytes;
  if (replaces) {
    // Whoever finds this knows that the rest is no run to go on with.
    AtomicWriteFile(File(kReplacing), "another run takes this folder\n");
    std::error_code ignored;
    for (const char* name : kFiles) std::filesystem::remove_all(File(name), ignored);
    for (const int64_t step : PendingBests()) {
      std::filesystem::remove(File(PendingBest(step)), ignored);
    }
  }
  holds_old_run_ = false;
  made_.clear();
  // What a killed process was about to put in place (AtomicWriteFile, SaveSafetensors).
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool ours = std::any_of(std::begin(kFiles), std::end(kFiles), [&](const char* file) {
      return name.starts_with(std::string(file) + ".");
    });
    if (ours && name.ends_with(".tmp")) std::filesystem::remove(entry.path(), ignored);
  }
  if (resumed_log_bytes && log_bytes() > *resumed_log_bytes &&
      truncate(File(kLog).c_str(), *resumed_log_bytes) != 0) {
    LogWarning("{}; it will hold lines of steps that are done again",
               SystemMessage("shorten", File(kLog), errno));
  }
  AtomicWriteFile(File("run.toml"), tree.ToToml());
  if (replaces) {
    std::filesystem::remove(File(kReplacing), ignored);
    if (lock_ >= 0) fsync(lock_);  // the folder's own descriptor
  }
}

int64_t RunFolder::log_bytes() const {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(File(kLog), error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

void RunFolder::WriteFacts(const watch::RunFacts& facts) {
  if (holds_old_run_) return;
  const std::string path = File(kFacts), draft = path + ".tmp";
  std::ofstream(draft, std::ios::binary) << facts.ToJson();
  // A draft that was cut short is seen by whoever reads it; the last whole one would be old.
  std::error_code ignored;
  std::filesystem::rename(draft, path, ignored);
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
  const std::string path = File(kLog);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const int64_t before = log_bytes();
  const ssize_t count = file >= 0 ? write(file, text.data(), text.size()) : -1;
  const bool written = count == static_cast<ssize_t>(text.size());
  const int error = count < 0 ? errno : ENOSPC;  // what is cut short says nothing
  // Half a line would spoil the next one.
  const bool mended = written || count <= 0 || ftruncate(file, before) == 0;
  if (!written && !log_failed_) {
    LogWarning("{}; training goes on without a full metrics.jsonl{}",
               SystemMessage("write", path, error), mended ? "" : ", whose last line is cut short");
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
    if (stage.records > 0) entry["records"] = stage.records;
    if (stage.bytes > 0) entry["bytes"] = stage.bytes;
  }
  json["tuning"] = input.decisions;
  return json;
}

Json CostJson(const watch::Cost& cost) {
  Json json;
  json["currency"] = cost.currency;
  json["price_per_hour"] = cost.per_hour;
  json["total"] = cost.total;
  json["per_epoch"] = Optional(cost.per_epoch);
  json["by_cause"] = Json::object();
  for (int i = 0; i < watch::kNumCauses; ++i) {
    json["by_cause"][std::string(watch::Name(static_cast<watch::Cause>(i)))] = cost.by_cause[i];
  }
  return json;
}

Json SavesJson(const Saver::Stats& saves) {
  Json json;
  json["saved"] = saves.saves;
  json["failed"] = saves.failures;
  json["last_step"] = saves.last_step >= 0 ? Json(saves.last_step) : Json(nullptr);
  json["bytes"] = saves.bytes;
  json["blocked_seconds"] = saves.blocked;
  json["slowed_seconds"] = saves.slowed;
  json["write_seconds"] = saves.write_seconds;
  json["interval_seconds"] = Optional(saves.interval);
  if (!saves.error.empty()) json["error"] = saves.error;
  return json;
}

Json StepsJson(const watch::StepFacts& times) {
  if (!times.median) return nullptr;
  return {{"median", Optional(times.median)},
          {"p99", Optional(times.p99)},
          {"slowest", times.slowest_seconds},
          {"slowest_step", times.slowest_step},
          {"slowest_cause", times.slowest_cause}};
}

// What is not known is null.
Json DevicesJson(const watch::RunFacts& facts) {
  Json json = Json::array();
  for (const watch::DeviceUse& use : facts.device_use) {
    Json& one = json.emplace_back();
    one["name"] = use.name;
    one["kernel_active"] = Optional(use.utilization.mean());
    one["memory_active"] = Optional(use.memory_utilization.mean());
    one["memory_used_bytes"] = Optional(use.memory_used_bytes.max());
    one["power_watts"] = Optional(use.power_watts.mean());
    one["power_limit_watts"] = Optional(use.power_limit_watts);
    one["temperature_celsius"] = Optional(use.temperature_celsius.max());
    one["sm_clock_hertz"] = Optional(use.sm_clock_hertz.mean());
    one["sm_clock_max_hertz"] = Optional(use.sm_clock_max_hertz);
    one["uncorrected_errors"] = use.ecc_uncorrected ? Json(*use.ecc_uncorrected) : Json(nullptr);
    one["clock_limits"] = use.clock_samples > 0 ? Json::object() : Json(nullptr);
    for (const auto& [reason, count] : use.clock_limits) {
      one["clock_limits"][reason] = Optional(use.limited_by(reason));
    }
  }
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
    json["scratch"] = plan.training.scratch;
    json["batch"] = plan.training.batch;
    json["results"] = plan.training.results;
    json["code"] = plan.training.code;
    json["training"] = plan.training.total();
    json["evaluation"] = plan.evaluation ? Json(plan.evaluation->total()) : Json(nullptr);
    json["micro_batch"] = plan.micro_rows;
    json["micro_batches"] = plan.micro_batches();
    json["loss_blocks"] = plan.training.loss_blocks;
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
  json["replica_seconds"] = summary.facts.replica_busy;
  json["step_seconds"] = StepsJson(summary.facts.step_times);
  json["device_use"] = DevicesJson(summary.facts);
  json["input"] = InputJson(summary.input);
  json["bad_records"] = summary.bad_records;
  if (summary.bad_records > 0) json["bad_record_messages"] = summary.bad_record_messages;
  json["verdict"] = summary.verdict;
  json["limit"] = summary.limit;
  json["limit_stage"] = summary.limit_stage;
  json["kind"] = summary.kind;
  json["advice"] = summary.advice;
  json["predicted_gain"] = summary.predicted_gain;
  json["advised"] = Json::array();
  for (const watch::Advised& advice : summary.advised) {
    json["advised"].push_back({{"change", advice.change},
                               {"limit", advice.limit},
                               {"step", advice.step},
                               {"predicted_gain", advice.predicted_gain},
                               {"obtained_gain", Optional(advice.obtained_gain)},
                               {"taken_back", advice.taken_back}});
  }
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
  json["sessions"] = summary.sessions;
  json["checkpoints"] = SavesJson(summary.saves);
  json["compiles"] = summary.compiles;
  json["compile_seconds"] = summary.compile_seconds;
  json["cost"] = summary.cost ? CostJson(*summary.cost) : Json(nullptr);
  AtomicWriteFile(File("summary.json"), json.dump(2) + "\n");
}

}  // namespace flatout::train
