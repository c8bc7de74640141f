#include "flatout/watch/run_record.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "flatout/base/error.h"
#include "flatout/base/file.h"

namespace flatout::watch {
namespace {

using Json = nlohmann::json;

// A line longer than that is none of ours.
constexpr size_t kLongestLine = size_t{1} << 20;
// Of run.log so much of its end is read.
constexpr int64_t kLogTail = int64_t{1} << 16;
// A summary.json, facts.json or run.toml that is larger is none of ours.
constexpr int64_t kLargestFile = int64_t{64} << 20;
constexpr double kLargestCount = 9e15;

std::optional<double> Number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

int64_t Count(const Json& object, const char* key, int64_t otherwise = 0) {
  const std::optional<double> value = Number(object, key);
  if (!value || std::abs(*value) > kLargestCount) return otherwise;
  return static_cast<int64_t>(*value);
}

std::string String(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// A table of a file that is written as a whole (summary.json). What is absent, or null, is not
// known; what is of another type than a run writes is an error that names file and key.
class Table {
 public:
  // `where`: the file, and behind a colon the keys of the table in it.
  Table(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) {
      throw BadData("{}: expected a table, found {}", where_, Describe(json));
    }
  }

  std::optional<double> Number(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) Complain(key, "a number", *value);
    return value->get<double>();
  }
  // Nothing but 0 to 1.
  std::optional<double> Share(const char* key) const {
    const std::optional<double> share = Number(key);
    if (share && !(*share >= 0 && *share <= 1)) Complain(key, "a share from 0 to 1", *Find(key));
    return share;
  }
  int64_t Count(const char* key, int64_t otherwise = 0) const {
    const std::optional<double> value = Number(key);
    if (!value) return otherwise;
    if (!(*value >= 0 && *value <= kLargestCount) || *value != std::floor(*value)) {
      Complain(key, "a whole number from 0 on", *Find(key));
    }
    return static_cast<int64_t>(*value);
  }
  std::string String(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr) return "";
    if (!value->is_string()) Complain(key, "a text", *value);
    return value->get<std::string>();
  }
  std::vector<std::string> Strings(const char* key) const {
    std::vector<std::string> all;
    const Json* value = Find(key);
    if (value == nullptr) return all;
    if (!value->is_array()) Complain(key, "a list of texts", *value);
    for (const Json& one : *value) {
      if (!one.is_string()) Complain(key, "a list of texts", one);
      all.push_back(one.get<std::string>());
    }
    return all;
  }
  bool Flag(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) Complain(key, "true or false", *value);
    return value->get<bool>();
  }
  std::vector<Table> Tables(const char* key) const {
    std::vector<Table> all;
    const Json* value = Find(key);
    if (value == nullptr) return all;
    if (!value->is_array()) Complain(key, "a list of tables", *value);
    for (size_t i = 0; i < value->size(); ++i) {
      all.emplace_back((*value)[i], fmt::format("{}[{}]", Below(key), i));
    }
    return all;
  }
  // An empty one where there is none.
  Table Object(const char* key) const {
    static const Json none = Json::object();
    const Json* value = Find(key);
    return {value == nullptr ? none : *value, Below(key)};
  }
  // Those that are known.
  std::map<std::string, double> Numbers() const {
    std::map<std::string, double> all;
    for (const auto& [key, value] : json_.items()) {
      if (const auto number = Number(key.c_str())) all[key] = *number;
    }
    return all;
  }
  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json_.items()) keys.push_back(key);
    return keys;
  }
  bool empty() const { return json_.empty(); }

 private:
  const Json* Find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  std::string Below(const char* key) const {
    return where_ + (where_.ends_with(".json") ? ": " : ".") + key;
  }
  static std::string Describe(const Json& value) {
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > 40) text = text.substr(0, 37) + "...";
    return text;
  }
  [[noreturn]] void Complain(const char* key, const char* expected, const Json& found) const {
    throw BadData("{}: expected {}, found {}", Below(key), expected, Describe(found));
  }

  const Json& json_;
  std::string where_;
};

std::map<std::string, double> Numbers(const Json& object) {
  std::map<std::string, double> all;
  for (const auto& [key, value] : object.items()) {
    if (value.is_number()) all[key] = value.get<double>();
  }
  return all;
}

// Fields of a "log" event that are no metric of the user's.
bool IsOwn(const std::string& key) {
  static const std::set<std::string> own = {"event",         "step",
                                            "epoch",         "loss",
                                            "learning_rate", "samples_per_second",
                                            "full",          "resident_bytes",
                                            "wall_seconds",  "device_bytes",
                                            "loss_scale",    "skipped_steps",
                                            "gradient_norm", "mfu",
                                            "samples",       "cpu_seconds",
                                            "cost"};
  static const char* prefixes[] = {"input_",      "ledger_", "time_", "device_",
                                   "checkpoint_", "cpu_",    "nvml_", "seconds_"};
  if (own.contains(key)) return true;
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](const char* prefix) { return key.starts_with(prefix); });
}

class MetricsReader {
 public:
  explicit MetricsReader(RunStatus& status) : status_(status) {}

  void Read(std::istream& file) {
    std::vector<char> line(kLongestLine + 2);  // with its end
    while (file.getline(line.data(), static_cast<std::streamsize>(line.size())) ||
           file.gcount() > 0) {
      // The last line may still be in the writing.
      const bool too_long = file.fail() && !file.eof();
      if (too_long) {
        file.clear();
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      }
      const bool whole = !file.eof();
      const auto size = static_cast<size_t>(file.gcount()) - (whole ? 1 : 0);
      if (!too_long && size == 0) continue;
      Json event;
      if (!too_long) event = Json::parse(line.data(), line.data() + size, nullptr, false);
      if (!event.is_object()) {
        if (whole) ++bad_;
        continue;
      }
      Take(event);
    }
    if (bad_ > 0) {
      status_.notes.push_back(fmt::format("{} line{} of metrics.jsonl {} not readable and left out",
                                          bad_, bad_ == 1 ? "" : "s", bad_ == 1 ? "was" : "were"));
    }
  }

 private:
  void Take(const Json& event) {
    const std::string kind = String(event, "event");
    if (kind == "log") {
      TakeLog(event);
    } else if (kind == "epoch") {
      TakeEpoch(event);
    } else if (kind == "resume") {
      status_.sessions = std::max(status_.sessions, Count(event, "session", 1));
      // Wall time in the log counts from the start of each process.
      earlier_seconds_ = last_seconds_;
      earlier_ledger_ = ledger_;
    } else if (kind == "end") {
      TakeLedger(event);
    } else if (kind == "test") {
      for (const auto& [key, value] : Numbers(event)) {
        if (key.starts_with("test_")) status_.test[key.substr(5)] = value;
      }
    } else if (kind == "plan") {
      if (const auto bytes = Number(event, "planned_bytes")) status_.planned_bytes = bytes;
    }
  }

  void TakeLog(const Json& event) {
    RunPoint point;
    point.step = Count(event, "step");
    status_.step = std::max<int64_t>(0, point.step);
    status_.epoch = std::max<int64_t>(1, Count(event, "epoch", 1));
    const double wall = Number(event, "wall_seconds").value_or(0);
    point.seconds = std::max(last_seconds_, earlier_seconds_ + wall);
    last_seconds_ = point.seconds;
    point.epoch = static_cast<double>(status_.epoch - 1);
    point.loss = Number(event, "loss");
    point.learning_rate = Number(event, "learning_rate");
    point.samples_per_second = Number(event, "samples_per_second");
    point.full = Number(event, "full");
    point.resident_bytes = Number(event, "resident_bytes");
    point.device_bytes = Number(event, "device_bytes");
    point.input_wait = Number(event, "input_wait");
    point.queue_fill = Number(event, "input_queue_fill");
    for (const auto& [key, value] : Numbers(event)) {
      if (!IsOwn(key)) point.metrics[key] = value;
    }
    TakeLedger(event);
    if (status_.ledger_known) point.ledger = ledger_;
    status_.loss = point.loss;
    status_.metrics = point.metrics;
    status_.learning_rate = point.learning_rate;
    status_.samples_per_second = point.samples_per_second;
    status_.full = point.full;
    status_.resident_bytes = point.resident_bytes;
    status_.loss_scale = Number(event, "loss_scale");
    status_.skipped_steps = Count(event, "skipped_steps");
    if (const auto bytes = Number(event, "device_bytes")) {
      if (status_.devices.empty()) status_.devices.emplace_back();
      status_.devices[0].memory_used_bytes = bytes;
    }
    TakeDevices(event);
    TakeInput(event);
    status_.history.Add(std::move(point));
  }

  // Seconds by cause since the log line before: "seconds_compute" and so on.
  void TakeLedger(const Json& event) {
    bool any = false;
    for (int i = 0; i < kNumCauses; ++i) {
      const std::string key = "seconds_" + std::string(Name(static_cast<Cause>(i)));
      if (const auto seconds = Number(event, key.c_str())) {
        ledger_.seconds[i] += *seconds;
        any = true;
      }
    }
    if (!any) return;
    for (int i = 1; i < kNumStages; ++i) {
      const auto stage = static_cast<Stage>(i);
      const std::string key = fmt::format("seconds_{}_{}", Name(CauseOf(stage)), Name(stage));
      ledger_.stages[i] += Number(event, key.c_str()).value_or(0);
    }
    status_.ledger_known = true;
    ledger_.wall = ledger_.sum();
    status_.ledger = ledger_;
  }

  // "device_0_power_watts" and so on.
  void TakeDevices(const Json& event) {
    const std::string prefix = "device_";
    for (const auto& [key, value] : event.items()) {
      const size_t end = key.find('_', prefix.size());
      if (!key.starts_with(prefix) || end == std::string::npos || !value.is_number()) continue;
      const std::string digits = key.substr(prefix.size(), end - prefix.size());
      if (digits.empty() || digits.size() > 3 ||
          digits.find_first_not_of("0123456789") != std::string::npos) {
        continue;
      }
      const auto index = static_cast<size_t>(std::stoi(digits));
      while (status_.devices.size() <= index) {
        DeviceStatus device;
        device.index = static_cast<int>(status_.devices.size());
        status_.devices.push_back(device);
      }
      DeviceStatus& device = status_.devices[index];
      const std::string what = key.substr(end + 1);
      const double number = value.get<double>();
      if (what == "kernel_active") device.kernel_active = number;
      if (what == "memory_used_bytes") device.memory_used_bytes = number;
      if (what == "power_watts") device.power_watts = number;
      if (what == "temperature_celsius") device.temperature_celsius = number;
      if (what == "sm_clock_hertz") device.clock_hertz = number;
      if (what == "uncorrected_errors")
        device.uncorrected_errors = static_cast<int64_t>(std::clamp(number, 0.0, 9e15));
    }
  }

  void TakeInput(const Json& event) {
    const std::string share = "input_share_", rate = "input_records_per_second_";
    std::vector<InputStage> stages;
    for (const auto& [key, value] : event.items()) {
      if (!key.starts_with(share) || !value.is_number()) continue;
      InputStage stage;
      stage.name = key.substr(share.size());
      stage.seconds = std::max(0.0, value.get<double>());  // its share of the threads' time
      stage.records = 0;
      stages.push_back(std::move(stage));
    }
    if (stages.empty() && !event.contains("input_workers")) return;
    status_.input_known = true;
    status_.input.workers = static_cast<int>(Count(event, "input_workers", 1));
    status_.input.depth = static_cast<int>(Count(event, "input_prefetch"));
    status_.queue_bytes = Number(event, "input_queue_bytes").value_or(0);
    if (stages.empty()) return;
    std::sort(stages.begin(), stages.end(),
              [](const InputStage& a, const InputStage& b) { return a.seconds > b.seconds; });
    status_.input.stages = std::move(stages);
  }

  void TakeEpoch(const Json& event) {
    RunEpoch epoch;
    epoch.epoch = Count(event, "epoch");
    epoch.step = Count(event, "step");
    epoch.seconds = Number(event, "seconds").value_or(0);
    epoch.logs = Numbers(event);
    for (const char* own : {"epoch", "step", "seconds"}) epoch.logs.erase(own);
    status_.last_epoch = epoch.logs;
    // The log line that comes with an epoch's end is of the epoch itself.
    status_.epoch = epoch.epoch + 1;
    status_.step = epoch.step;
    AddEpoch(status_, std::move(epoch));
  }

  RunStatus& status_;
  LedgerReport ledger_, earlier_ledger_;
  double last_seconds_ = 0, earlier_seconds_ = 0;
  int64_t bad_ = 0;
};

void TakeSummary(const Table& summary, RunStatus& status) {
  status.state = summary.String("status");
  status.error = summary.String("error");
  status.step = summary.Count("steps", status.step);
  status.epoch = summary.Count("epochs") + 1;
  status.samples = summary.Count("samples");
  status.skipped_steps = summary.Count("skipped_steps");
  status.sessions = summary.Count("sessions", 1);
  status.loss_scale = summary.Number("loss_scale");
  status.run_full = summary.Share("full");
  status.run_samples_per_second = summary.Number("samples_per_second");
  status.ceiling_samples_per_second = summary.Number("ceiling_samples_per_second");
  status.mfu = summary.Number("mfu");
  status.device = summary.String("device");
  status.replicas = summary.Count("devices", 1);
  status.parameters = summary.Count("parameters");
  status.steps_per_launch = summary.Count("steps_per_launch", 1);
  status.bad_records = summary.Count("bad_records");
  if (summary.Number("compiles")) status.compiles = summary.Count("compiles");
  status.compile_seconds = summary.Number("compile_seconds").value_or(0);
  status.peak_resident_bytes = summary.Number("peak_resident_bytes");
  const Table metrics = summary.Object("metrics");
  for (const auto& [name, value] : metrics.Object("train").Numbers()) {
    status.last_epoch[name] = value;
  }
  for (const auto& [name, value] : metrics.Object("validation").Numbers()) {
    status.last_epoch["val_" + name] = value;
  }
  for (const auto& [name, value] : metrics.Object("test").Numbers()) status.test[name] = value;
  const std::optional<double> wall = summary.Number("wall_seconds");
  const Table ledger = summary.Object("ledger");
  if (!ledger.empty()) {
    status.ledger_known = true;
    for (int i = 0; i < kNumCauses; ++i) {
      const std::string name(Name(static_cast<Cause>(i)));
      status.ledger.seconds[i] = ledger.Number(name.c_str()).value_or(0);
    }
    status.communication_measured = ledger.Number("communication").has_value();
    status.ledger.wall = wall.value_or(status.ledger.sum());
  }
  const Table input = summary.Object("input");
  if (!input.empty()) {
    status.input_known = true;
    status.input.workers = static_cast<int>(input.Count("workers", 1));
    status.input.depth = static_cast<int>(input.Count("prefetch"));
    status.input.busy = input.Number("busy_seconds").value_or(0);
    status.input.cpu = input.Number("processor_seconds").value_or(0);
    status.input.queued = input.Number("queued_seconds").value_or(0);
    status.input.queue_fill = input.Share("queue_fill");
    status.input.stages.clear();
    const Table stages = input.Object("stages");
    for (const std::string& name : stages.Keys()) {
      const Table stage = stages.Object(name.c_str());
      status.input.stages.push_back({name, stage.Number("seconds").value_or(0),
                                     stage.Count("records"), stage.Count("bytes")});
    }
    std::sort(status.input.stages.begin(), status.input.stages.end(),
              [](const InputStage& a, const InputStage& b) { return a.seconds > b.seconds; });
  }
  const Table memory = summary.Object("memory");
  if (const auto bytes = memory.Number("planned_bytes")) status.planned_bytes = bytes;
  if (const auto bytes = memory.Number("peak_bytes")) {
    if (status.devices.empty()) status.devices.emplace_back();
    status.devices[0].memory_peak_bytes = bytes;
  }
  const Table checkpoints = summary.Object("checkpoints");
  status.checkpoints.saved = checkpoints.Count("saved");
  status.checkpoints.failed = checkpoints.Count("failed");
  if (checkpoints.Number("last_step")) {
    status.checkpoints.last_step = checkpoints.Count("last_step");
  }
  status.checkpoints.bytes = checkpoints.Number("bytes").value_or(0);
  status.checkpoints.blocked_seconds = checkpoints.Number("blocked_seconds").value_or(0);
  status.checkpoints.slowed_seconds = checkpoints.Number("slowed_seconds").value_or(0);
  status.checkpoints.write_seconds = checkpoints.Number("write_seconds").value_or(0);
  status.checkpoints.interval_seconds = checkpoints.Number("interval_seconds");
  status.checkpoints.error = checkpoints.String("error");
  if (const std::string limit = summary.String("limit"); !limit.empty()) status.limit = limit;
  status.stage = summary.String("limit_stage");
  status.advice = summary.String("advice");
  status.verdict = summary.Strings("verdict");
  status.advised.clear();
  for (const Table& one : summary.Tables("advised")) {
    Advised& advised = status.advised.emplace_back();
    advised.change = one.String("change");
    advised.limit = one.String("limit");
    advised.step = one.Count("step");
    advised.predicted_gain = one.Number("predicted_gain").value_or(1);
    advised.obtained_gain = one.Number("obtained_gain");
    advised.taken_back = one.Flag("taken_back");
  }
}

// What the run file says that a folder does not say otherwise. A run file that does not parse (the
// folder was tampered with) is a note.
void TakeRunFile(const std::string& path, RunStatus& status) {
  try {
    status.run_file = ReadRegularFile(path, kLargestFile);
    const Config tree = Config::ParseToml(status.run_file, path);
    if (const Config* epochs = tree.FindPath("train.epochs")) status.epochs = epochs->AsInt();
    if (const Config* steps = tree.FindPath("train.max_steps")) status.max_steps = steps->AsInt();
    if (const Config* batch = tree.FindPath("train.global_batch")) {
      status.global_batch = batch->AsInt();
    }
    if (const Config* precision = tree.FindPath("train.precision")) {
      status.precision = precision->AsString();
    }
    if (const Config* model = tree.FindPath("model.builtin")) status.model = model->AsString();
    if (const Config* optimizer = tree.Find("optimizer")) {
      const Config* name = optimizer->is_table() ? optimizer->Find("class") : optimizer;
      if (name != nullptr && name->is_string()) status.optimizer = name->AsString();
    }
    if (const Config* cost = tree.Find("cost")) status.price = ReadCostOptions(*cost);
  } catch (const Error& error) {
    status.notes.push_back(fmt::format("run.toml: {}", error.what()));
  }
  if (status.epochs == 0) status.epochs = 1;
}

// As much of what a verdict is made from as the log and the summary tell. The rest stays unknown.
RunFacts FactsOfLog(const RunStatus& run) {
  RunFacts facts;
  facts.ledger = run.ledger;
  facts.steps = run.step;
  facts.samples = run.samples > 0 ? run.samples : run.step * run.global_batch;
  // Only a summary says how many steps a launch had.
  const bool has_summary = !run.device.empty();
  if (has_summary) facts.launches = run.step / std::max<int64_t>(run.steps_per_launch, 1);
  facts.steps_per_launch = run.steps_per_launch;
  facts.steps_per_epoch = run.steps_per_epoch.value_or(0);
  facts.device_kind = run.device;
  // Only of NVIDIA's cards a log says how long kernels ran.
  const bool cards = std::any_of(run.devices.begin(), run.devices.end(),
                                 [](const DeviceStatus& d) { return d.kernel_active.has_value(); });
  facts.device_is_cpu = !cards && (!has_summary || run.device == "cpu");
  facts.devices = static_cast<int>(run.replicas);
  facts.input = run.input;
  facts.ceiling_samples_per_second = run.ceiling_samples_per_second;
  facts.compiles = run.compiles;
  if (run.planned_bytes) facts.planned_bytes = static_cast<int64_t>(*run.planned_bytes);
  return facts;
}

// What the run judged itself by last: the verdict of one that is at work, or was killed. Without
// that it is judged by its log. What it said itself at its end stays.
void TakeFacts(const std::string& path, RunStatus& status) {
  RunFacts facts;
  if (FileExists(path)) {
    try {
      facts = RunFacts::FromJson(ReadRegularFile(path, kLargestFile), path);
      status.facts_known = true;
    } catch (const Error& error) {
      status.notes.push_back(fmt::format("facts.json is left out: {}", error.what()));
    }
  }
  if (!status.facts_known) facts = FactsOfLog(status);
  const Verdict verdict = Judge(facts);
  if (status.verdict.empty()) {
    status.verdict = verdict.lines;
    status.limit = verdict.limit;
    status.stage = verdict.stage;
    status.advice = verdict.advice;
  }
  if (!status.mfu) status.mfu = verdict.mfu;
  if (!status.run_full) status.run_full = verdict.full;
  if (!status.run_samples_per_second) status.run_samples_per_second = verdict.samples_per_second;
  if (!status.facts_known) return;
  if (status.samples == 0) status.samples = facts.samples;
  if (status.steps_per_epoch.value_or(0) <= 0 && facts.steps_per_epoch > 0) {
    status.steps_per_epoch = facts.steps_per_epoch;
  }
  if (status.input.stages.empty() && !facts.input.stages.empty()) {
    status.input = facts.input;
    status.input_known = true;
  }
  if (!status.ledger_known) {
    status.ledger = facts.ledger;
    status.ledger_known = facts.ledger.sum() > 0;
  }
  status.input.queue_fill = facts.input.queue_fill;
  if (status.device.empty()) status.device = facts.device_kind;
  for (const DeviceUse& use : facts.device_use) {
    for (DeviceStatus& device : status.devices) {
      if (device.index != use.device) continue;
      device.name = use.name;
      if (use.memory_total_bytes) {
        device.memory_limit_bytes = static_cast<double>(*use.memory_total_bytes);
      }
      device.power_limit_watts = use.power_limit_watts;
    }
  }
}

void TakeLog(const std::string& path, RunStatus& status) {
  if (!IsRegularFile(path)) return;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return;
  const auto size = static_cast<int64_t>(file.tellg());
  file.seekg(std::max<int64_t>(0, size - kLogTail));
  std::string line;
  if (size > kLogTail) std::getline(file, line);  // cut
  while (std::getline(file, line)) AddLogLine(status, line);
}

}  // namespace

int64_t TrainingProcess(const std::string& folder) {
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) return 0;
  std::ifstream locks("/proc/locks");
  // "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, place;
    int64_t pid = 0;
    if (!(words >> number >> kind >> mode >> access >> pid >> place) || kind != "FLOCK") continue;
    if (place.substr(place.rfind(':') + 1) != std::to_string(info.st_ino) || pid <= 0) continue;
    return pid;
  }
  return 0;
}

void ReadMetrics(const std::string& path, RunStatus& status) {
  if (!IsRegularFile(path)) return;
  std::ifstream file(path, std::ios::binary);
  if (file) MetricsReader(status).Read(file);
}

RunStatus ReadRunFolder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) {
    throw NotFound("there is no run folder {}; flatout train makes one, runs/<name> unless told",
                   folder);
  }
  if (!fs::is_directory(folder, ignored)) {
    throw Invalid("{} is no folder; give the folder of a run, such as runs/cnn", folder);
  }
  const auto file = [&](const char* name) { return folder + "/" + name; };
  if (!FileExists(file("metrics.jsonl")) && !FileExists(file("run.toml")) &&
      !FileExists(file("summary.json"))) {
    throw NotFound("{} holds no run: it has neither run.toml, metrics.jsonl nor summary.json",
                   folder);
  }
  RunStatus status;
  status.folder = folder;
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path == "." || path == "..") path = fs::weakly_canonical(path, ignored);
  status.name = path.filename().string();
  // The others complain when they are read.
  for (const char* name : {"metrics.jsonl", "run.log"}) {
    if (FileExists(file(name)) && !IsRegularFile(file(name))) {
      status.notes.push_back(
          fmt::format("{} is no file, but a folder, pipe or device: left out", name));
    }
  }
  if (FileExists(file("run.toml"))) TakeRunFile(file("run.toml"), status);
  ReadMetrics(file("metrics.jsonl"), status);
  TakeLog(file("run.log"), status);
  status.pid = TrainingProcess(folder);
  bool ended = false;
  // While a process is at work there, a summary is that of an earlier one.
  if (status.pid == 0 && FileExists(file("summary.json"))) {
    try {
      const std::string path = file("summary.json");
      const Json summary = Json::parse(ReadRegularFile(path, kLargestFile), nullptr, false);
      if (summary.is_object()) {
        RunStatus with_summary = status;  // all of it, or nothing
        TakeSummary({summary, path}, with_summary);
        status = std::move(with_summary);
        ended = true;
      } else {
        status.notes.emplace_back("summary.json is not readable and left out");
      }
    } catch (const Error& error) {
      status.notes.push_back(fmt::format("summary.json is left out: {}", error.what()));
    }
  }
  if (!ended) status.state = status.pid > 0 ? "running" : "ended";
  TakeFacts(file("facts.json"), status);
  if (!status.epoch_history.empty() && !status.steps_per_epoch) {
    const RunEpoch& first = status.epoch_history.front();
    if (first.epoch > 0) status.steps_per_epoch = first.step / first.epoch;
  }
  if (status.steps_per_epoch.value_or(0) > 0 && status.epoch > 0) {
    status.step_in_epoch =
        std::max<int64_t>(0, status.step - (status.epoch - 1) * *status.steps_per_epoch);
  }
  ReadDisk(folder, status);
  status.eta_seconds = EstimateEta(status);
  return status;
}

}  // namespace flatout::watch
