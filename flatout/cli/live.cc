#include "flatout/cli/live.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <functional>
#include <mutex>
#include <optional>

#include "flatout/base/cgroup.h"
#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/process.h"
#include "flatout/cli/console.h"
#include "flatout/data/source.h"
#include "flatout/watch/run_record.h"
#include "flatout/web/pusher.h"
#include "flatout/web/server.h"

namespace flatout::cli {
namespace {

using train::EpochEnd;
using train::Progress;
using train::RunDetails;
using train::RunEnd;
using train::RunStart;
using watch::RunPoint;
using watch::RunStatus;

// How often a status is published, and a point added to the curves.
constexpr double kPublishSeconds = 1;
// How often the verdict so far is made; it takes a millisecond.
constexpr double kDetailSeconds = 2;
// A run.log that is longer than that has something to say that nobody will read.
constexpr int64_t kLongestLog = int64_t{64} << 20;

// The console's lines with the time before them, for run.log and for the live page.
class LogFile : public Lines {
 public:
  using Take = std::function<void(const std::string&)>;
  explicit LogFile(Take take) : take_(std::move(take)) { SetLogCopy(&LogFile::Copy, this); }
  ~LogFile() override {
    SetLogCopy(nullptr, nullptr);
    if (file_ >= 0) close(file_);
  }

  // From here on lines go to the file, those before too.
  void Open(const std::string& path) {
    std::string problem;
    {
      const std::lock_guard lock(mutex_);
      path_ = path;
      file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
      if (file_ < 0) problem = SystemMessage("write", path, errno);
      for (const std::string& line : early_) Write(line);
      early_.clear();
    }
    if (!problem.empty()) LogWarning("{}; the run goes on without a run.log", problem);
  }

 protected:
  void Line(const std::string& text) override {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    const std::string line = fmt::format("{:%Y-%m-%d %H:%M:%S} {}", local, text);
    {
      const std::lock_guard lock(mutex_);
      if (path_.empty()) {
        early_.push_back(line);
      } else {
        Write(line);
      }
    }
    take_(line);
  }

 private:
  static void Copy(LogLevel level, const std::string& line, void* context) {
    const char* name = level == LogLevel::kWarning ? "warning: "
                       : level == LogLevel::kError ? "error: "
                                                   : "";
    static_cast<LogFile*>(context)->Line(name + line);
  }

  // Needs mutex_. A disk that is full loses lines, no more.
  void Write(const std::string& line) {
    if (file_ < 0 || written_ > kLongestLog) return;
    const std::string text = line + "\n";
    if (write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
      written_ += static_cast<int64_t>(text.size());
    }
  }

  const Take take_;
  std::mutex mutex_;
  std::string path_;
  int file_ = -1;
  int64_t written_ = 0;
  std::vector<std::string> early_;
};

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::optional<double> Finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

struct Live::State {
  State(const train::RunConfig& config, std::shared_ptr<watch::Ledger> its_ledger,
        const std::string& folder)
      : http(config.watch.http.value_or(web::HttpOptions())),
        ledger(std::move(its_ledger)),
        board([this](RunStatus& status) { Refresh(status); }),
        log([this](const std::string& line) { TakeLine(line); }) {
    status.name = config.name;
    status.folder = folder;
    status.host = HostName();
    status.pid = getpid();
    status.price = config.cost;
    status.epochs = config.train.epochs;
    status.max_steps = config.train.max_steps;
    status.run_file = config.tree.ToToml();
    status.usable_cores = static_cast<double>(ReadCgroup().cpu.usable);
  }

  // On the threads of those who read: what goes on between two publications.
  void Refresh(RunStatus& copy) const {
    const double now = SteadySeconds();
    if (const double at = progressed_at; at > 0) copy.progress_age_seconds = now - at;
    if (copy.alive()) {
      copy.process_ledger = ledger->Report();
      copy.ledger = copy.earlier_ledger;
      copy.ledger += copy.process_ledger;
      copy.run_full = copy.ledger.full();
    }
    copy.ledger_known = true;
    copy.uptime_seconds = SecondsSinceProcessStart();
    copy.checkpoints.age_seconds = saved_at > 0 ? now - saved_at : copy.uptime_seconds;
    copy.cpu_seconds = ProcessCpuSeconds();
    if (const int64_t bytes = ResidentBytes(); bytes >= 0) {
      copy.resident_bytes = static_cast<double>(bytes);
    }
    if (const int64_t bytes = PeakResidentBytes(); bytes >= 0) {
      copy.peak_resident_bytes = static_cast<double>(bytes);
    }
    copy.throttled_seconds = ThrottledSeconds();
    watch::ReadDisk(copy.folder.empty() ? "." : copy.folder, copy);
    copy.eta_seconds = watch::EstimateEta(copy);
    const std::lock_guard lock(lines_mutex);
    copy.log = lines;
  }

  // Whether anybody can look.
  bool shown() const { return server != nullptr || pusher != nullptr; }

  void TakeLine(const std::string& line) {
    const std::lock_guard lock(lines_mutex);
    lines.push_back(line);
    while (lines.size() > watch::kLogLines) lines.pop_front();
  }

  void Publish() {
    if (!shown()) return;
    published_at = SteadySeconds();
    board.Publish(status);
  }

  void TakeProgress(const Progress& progress) {
    progressed_at = SteadySeconds();
    status.state = "training";
    status.epoch = progress.epoch;
    status.epochs = progress.epochs;
    if (progress.steps_per_epoch > 0 && progress.steps_per_epoch != data::kInfinite) {
      status.steps_per_epoch = progress.steps_per_epoch;
    }
    status.step = progress.step;
    status.step_in_epoch = progress.step_in_epoch;
    status.process_steps = progress.step - first_step;
    // How many records a run that goes on had seen is told with its first step.
    if (!first_samples) first_samples = first_step > 0 ? progress.samples : 0;
    status.samples = progress.samples;
    status.process_samples = progress.samples - *first_samples;
    status.loss = progress.loss;
    status.metrics = progress.metrics;
    status.learning_rate = Finite(progress.learning_rate);
    status.loss_scale = progress.loss_scale;
    status.skipped_steps = progress.skipped_steps;
    status.samples_per_second = Finite(progress.samples_per_second);
    status.full = progress.full;
  }

  void AddPoint(const Progress& progress) {
    pointed_at = SteadySeconds();
    RunPoint point;
    point.step = progress.step;
    point.epoch = status.epochs_done();
    point.ledger = status.earlier_ledger;
    *point.ledger += ledger->Report();
    point.seconds = point.ledger->wall;
    point.loss = Finite(progress.loss);
    for (const auto& [name, value] : progress.metrics) {
      if (std::isfinite(value)) point.metrics[name] = value;
    }
    point.learning_rate = status.learning_rate;
    point.samples_per_second = status.samples_per_second;
    point.full = progress.full;
    point.queue_fill = status.input.queue_fill;
    point.input_wait = input_wait;
    if (progress.resident_bytes >= 0) {
      point.resident_bytes = static_cast<double>(progress.resident_bytes);
    }
    if (progress.device_bytes) point.device_bytes = static_cast<double>(*progress.device_bytes);
    status.history.Add(std::move(point));
  }

  const web::HttpOptions http;
  const std::shared_ptr<watch::Ledger> ledger;

  RunStatus status;  // of the training thread
  int64_t first_step = 0;
  std::optional<int64_t> first_samples;
  double published_at = 0, pointed_at = 0, detailed_at = 0;
  std::optional<double> input_wait;
  double waited = 0;

  // What other threads look at.
  std::atomic<double> progressed_at = 0, saved_at = 0;
  mutable std::mutex lines_mutex;
  std::deque<std::string> lines;

  watch::StatusBoard board;
  web::MetricsWriter metrics;
  LogFile log;
  std::unique_ptr<web::Pusher> pusher;
  std::unique_ptr<web::StatusServer> server;  // last: it reads the rest
  std::vector<std::string> messages;
};

Live::Live(const train::RunConfig& config, std::shared_ptr<watch::Ledger> ledger,
           const std::string& folder, bool resumes)
    : state_(std::make_unique<State>(config, std::move(ledger), folder)) {
  State& state = *state_;
  if (resumes) {
    RunStatus earlier;
    watch::ReadMetrics(folder + "/metrics.jsonl", earlier);
    state.status.history = earlier.history;
    state.status.epoch_history = earlier.epoch_history;
    state.status.last_epoch = earlier.last_epoch;
    state.status.step = earlier.step;
    state.status.epoch = earlier.epoch;
  }
  state.board.Publish(state.status);
  if (state.http.port > 0) {
    state.server = std::make_unique<web::StatusServer>(state.http, state.board, state.metrics);
    state.messages.push_back(
        fmt::format("live page: {0} (Prometheus: {0}metrics)", state.server->url()));
    if (const std::string note = state.server->note(); !note.empty()) {
      state.messages.push_back("live page: " + note);
    }
  }
  if (const auto& push = config.watch.push_gateway; push && !push->address.empty()) {
    state.pusher = std::make_unique<web::Pusher>(*push, state.board, state.metrics);
  }
}

Live::~Live() = default;

const std::vector<std::string>& Live::messages() const { return state_->messages; }

void Live::PushLast() { state_->pusher.reset(); }

double Live::linger_seconds() const {
  return state_->server == nullptr ? 0 : state_->http.linger_seconds;
}

void Live::OnStart(const RunStart& start) {
  State& state = *state_;
  RunStatus& status = state.status;
  status.device = start.device;
  status.model = start.model;
  status.parameters = start.parameters;
  status.epochs = start.epochs;
  if (start.steps_per_epoch > 0 && start.steps_per_epoch != data::kInfinite) {
    status.steps_per_epoch = start.steps_per_epoch;
  }
  status.global_batch = start.global_batch;
  status.replicas = start.replicas;
  status.steps_per_launch = start.steps_per_launch;
  status.optimizer = start.optimizer;
  status.learning_rate_schedule = start.learning_rate;
  status.precision = start.precision;
  status.loss_name = start.loss;
  status.communication_measured = start.replicas == 1;
  state.first_step = start.resumed_step.value_or(0);
  status.step = state.first_step;
  status.epoch = start.resumed_epochs + 1;
  status.state = "training";
  if (!start.folder.empty()) {
    status.folder = start.folder;
    state.log.Open(start.folder + "/run.log");
  }
  state.log.OnStart(start);
  state.progressed_at = SteadySeconds();
  state.Publish();
}

void Live::OnProgress(const Progress& progress) {
  State& state = *state_;
  if (!state.shown()) return;
  state.TakeProgress(progress);
  const double now = SteadySeconds();
  if (now - state.pointed_at >= kPublishSeconds) state.AddPoint(progress);
  if (now - state.published_at >= kPublishSeconds) state.Publish();
}

void Live::OnLog(const Progress& progress) { state_->log.OnLog(progress); }

void Live::OnEvaluation(int64_t step, int64_t steps) {
  State& state = *state_;
  (void)step, (void)steps;
  state.progressed_at = SteadySeconds();
  if (state.status.state == "evaluating") return;
  state.status.state = "evaluating";
  state.Publish();
}

void Live::OnEpochEnd(const EpochEnd& end) {
  State& state = *state_;
  state.log.OnEpochEnd(end);
  state.status.last_epoch = end.logs;
  watch::AddEpoch(state.status,
                  {.epoch = end.epoch, .step = end.step, .seconds = end.seconds, .logs = end.logs});
  if (state.shown()) state.AddPoint(end.progress);
  state.status.state = "training";
  state.Publish();
}

void Live::OnMessage(const std::string& message) { state_->log.OnMessage(message); }

void Live::OnEnd(const RunEnd& end) {
  State& state = *state_;
  RunStatus& status = state.status;
  status.state = end.status;
  status.error = end.error;
  status.step = end.step;
  status.process_steps = end.step - state.first_step;
  status.test = end.test;
  status.run_full = end.full;
  status.run_samples_per_second = end.samples_per_second;
  status.mfu = end.mfu;
  if (!end.verdict.empty()) status.verdict = end.verdict;
  status.process_ledger = end.ledger;
  status.ledger = status.earlier_ledger;
  status.ledger += status.process_ledger;
  status.eta_seconds.reset();
  state.log.OnMessage(end.error.empty() ? end.status : end.status + ": " + end.error);
  for (const std::string& line : end.verdict) state.log.OnMessage(line);
  state.Publish();
}

bool Live::WantsDetails() {
  return state_->shown() && SteadySeconds() - state_->detailed_at >= kDetailSeconds;
}

void Live::OnDetails(const RunDetails& details) {
  State& state = *state_;
  RunStatus& status = state.status;
  const double now = SteadySeconds();
  const double since = now - state.detailed_at;
  if (state.detailed_at > 0 && since > 0) {
    state.input_wait = std::clamp((details.input_wait - state.waited) / since, 0.0, 1.0);
  }
  state.waited = details.input_wait;
  state.detailed_at = now;
  const watch::RunFacts& facts = details.facts;
  status.samples = facts.samples;
  status.sessions = details.sessions;
  status.earlier_ledger = details.earlier_ledger;
  status.ledger_known = true;
  status.input = facts.input;
  status.input_known = true;
  status.input_wait_seconds = details.input_wait;
  status.queue_bytes = static_cast<double>(details.queue_bytes);
  status.queue_budget_bytes = static_cast<double>(details.queue_budget);
  status.devices = details.devices;
  if (facts.planned_bytes) status.planned_bytes = static_cast<double>(*facts.planned_bytes);
  if (details.checkpoints.saved > status.checkpoints.saved) state.saved_at = now;
  status.checkpoints = details.checkpoints;
  status.bad_records = details.bad_records;
  status.compiles = details.compiles;
  status.compile_seconds = details.compile_seconds;
  const watch::Verdict verdict = watch::Judge(facts);
  status.run_full = verdict.full;
  status.run_samples_per_second = verdict.samples_per_second;
  status.mfu = verdict.mfu;
  status.limit = verdict.limit;
  status.stage = verdict.stage;
  status.verdict = verdict.lines;
}

}  // namespace flatout::cli
