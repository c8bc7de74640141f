#include "flatout/cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/data/source.h"

namespace flatout::cli {
namespace {

using train::EpochEnd;
using train::Progress;
using train::RunStart;

std::string Rate(double samples_per_second) {
  return HumanCount(std::llround(samples_per_second)) + " samples/s";
}

std::string Full(const std::optional<double>& full) {
  return full ? "full " + watch::Percent(*full) : "full n/a";
}

// Rows or steps; those of a stream show only when it ends.
std::string Count(int64_t count) {
  return count < 0 || count == data::kInfinite ? "?" : HumanCount(count);
}

std::string Steps(int64_t steps) {
  return steps < 0 || steps == data::kInfinite ? "?" : std::to_string(steps);
}

std::string Figure(const std::string& name, double value) {
  return fmt::format("{} {:.4f}", name, value);
}

class Plain : public Lines {
 protected:
  void Line(const std::string& line) override {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
};

// Redraws one line; everything else goes above it.
class Bar : public Plain {
 public:
  Bar() { SetLogSink(&Bar::Log, this); }
  ~Bar() override {
    Clear();
    SetLogSink(nullptr, nullptr);
  }
  void OnProgress(const Progress& progress) override {
    const bool known = progress.steps_per_epoch > 0 && progress.steps_per_epoch != data::kInfinite;
    const double share = known ? static_cast<double>(progress.step_in_epoch) /
                                     static_cast<double>(progress.steps_per_epoch)
                               : 0;
    std::string left = fmt::format("epoch {}/{} ", progress.epoch, progress.epochs);
    std::string right = fmt::format(" {}/{} {}", progress.step_in_epoch,
                                    Steps(progress.steps_per_epoch), Figure("loss", progress.loss));
    for (const auto& [name, value] : progress.metrics) right += " " + Figure(name, value);
    right += fmt::format(" {} {}", Rate(progress.samples_per_second), Full(progress.full));
    if (share > 0 && share < 1) {
      right += fmt::format(" {} left", HumanDuration(progress.epoch_seconds * (1 - share) / share));
    }
    Draw(left, share, right);
  }
  void OnEvaluation(int64_t step, int64_t steps) override {
    Draw("evaluating ",
         static_cast<double>(step) / static_cast<double>(std::max<int64_t>(steps, 1)),
         fmt::format(" {}/{}", step, Steps(steps)));
  }
  void OnLog(const Progress&) override {}  // the bar shows it all

 protected:
  void Line(const std::string& line) override {
    Clear();
    Plain::Line(line);
  }

 private:
  static constexpr size_t kWidest = 24, kNarrowest = 8;

  static size_t Columns() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 100;
  }

  static void Log(LogLevel level, const std::string& line, void* context) {
    (void)level;
    static_cast<Bar*>(context)->Clear();
    std::fprintf(stderr, "%s\n", line.c_str());
  }

  void Draw(const std::string& left, double share, const std::string& right) {
    const size_t columns = Columns();
    const size_t used = left.size() + right.size() + 3;
    const size_t width = columns > used ? std::min(columns - used, kWidest) : 0;
    std::string line = left;
    if (width >= kNarrowest) {
      const auto filled = static_cast<size_t>(std::floor(share * static_cast<double>(width)));
      line += "[";
      for (size_t i = 0; i < width; ++i) line += i < filled ? '=' : i == filled ? '>' : ' ';
      line += "]";
    }
    line += right;
    if (line.size() >= columns) line.resize(columns - 1);
    std::printf("\r\033[K%s", line.c_str());
    std::fflush(stdout);
    drawn_ = true;
  }

  void Clear() {
    if (!drawn_) return;
    std::printf("\r\033[K");
    std::fflush(stdout);
    drawn_ = false;
  }

  bool drawn_ = false;
};

}  // namespace

void Lines::OnStart(const RunStart& run) {
  Line(fmt::format("run {} on {}: {}, {} parameters, {} with rate {}, {}, {}", run.name, run.device,
                   run.model, HumanCount(run.parameters), run.optimizer, run.learning_rate,
                   run.loss, run.precision));
  Line(fmt::format(
      "data: {} train, {} validation, {} test rows; {} epoch{} of {} steps; global "
      "batch {} = {} device{} x {}; up to {} step{} per launch",
      Count(run.train_rows), Count(run.validation_rows), Count(run.test_rows), run.epochs,
      run.epochs == 1 ? "" : "s", Count(run.steps_per_epoch), run.global_batch, run.replicas,
      run.replicas == 1 ? "" : "s", run.rows_per_replica, run.steps_per_launch,
      run.steps_per_launch == 1 ? "" : "s"));
  if (!run.folder.empty()) Line("run folder: " + run.folder);
}

void Lines::OnLog(const Progress& progress) {
  std::string line =
      fmt::format("epoch {}/{} step {}/{} (in all {}): {}", progress.epoch, progress.epochs,
                  progress.step_in_epoch, Steps(progress.steps_per_epoch), progress.step,
                  Figure("loss", progress.loss));
  for (const auto& [name, value] : progress.metrics) line += ", " + Figure(name, value);
  line += fmt::format(", rate {:.4g}, {}, {}, memory {}", progress.learning_rate,
                      Rate(progress.samples_per_second), Full(progress.full),
                      progress.resident_bytes >= 0 ? HumanBytes(progress.resident_bytes) : "n/a");
  if (progress.device_bytes)
    line += fmt::format(", on the device {}", HumanBytes(*progress.device_bytes));
  Line(line);
}

void Lines::OnEpochEnd(const EpochEnd& end) {
  std::string line =
      fmt::format("epoch {}/{} in {}:", end.epoch, end.epochs, HumanDuration(end.seconds));
  const char* separator = " ";
  for (const auto& [name, value] : end.logs) {
    line += separator + Figure(name, value);
    separator = ", ";
  }
  if (!end.note.empty()) line += " (" + end.note + ")";
  Line(line);
}

std::unique_ptr<train::Observer> MakeConsole(const std::string& mode) {
  if (mode == "none") return std::make_unique<train::Observer>();
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  if (mode == "bar" || (mode == "auto" && isatty(STDOUT_FILENO) != 0 && !dumb)) {
    return std::make_unique<Bar>();
  }
  return std::make_unique<Plain>();
}

}  // namespace flatout::cli
