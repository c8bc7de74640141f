#include "flatout/cli/doctor_run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"
#include "flatout/checkpoint/store.h"
#include "flatout/train/saver.h"
#include "flatout/watch/run_record.h"
#include "flatout/watch/verdict.h"

namespace flatout::cli {
namespace {

using watch::Cause;

// A running training that has written nothing for so long, and for so many of its intervals, is
// worth a look.
constexpr double kSilentSeconds = 60;
constexpr double kSilentIntervals = 6;
// The stretches of a run that are compared.
constexpr size_t kStretches = 4;
constexpr double kWorthTelling = 0.1;  // differences of `full` between them

void Line(const std::string& text) { std::printf("%s\n", text.c_str()); }

// Never rounded up, as in the verdict.
std::string Share(double share) { return fmt::format("{:.0f} %", std::floor(100 * share + 1e-9)); }

// Seconds since the file was written last; nothing where it is not there, or of the future.
std::optional<double> Age(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  const double age = std::difftime(std::time(nullptr), info.st_mtime);
  return age >= 0 ? std::optional(age) : std::nullopt;
}

std::string StepText(const watch::RunStatus& run) {
  std::string text = fmt::format("step {}", HumanCount(run.step));
  if (const auto all = run.steps_in_all()) text += fmt::format(" of {}", HumanCount(*all));
  return text;
}

void TellState(const watch::RunStatus& run, const std::string& folder) {
  const std::string where = StepText(run);
  const std::optional<double> age = Age(folder + "/metrics.jsonl");
  if (run.state == "done") {
    Line(fmt::format("The run in {} is done, after {}.", folder, where));
  } else if (run.state == "stopped") {
    const watch::CheckpointStatus& saves = run.checkpoints;
    Line(fmt::format("The run in {} was stopped at {}; the command that began it goes on from {}.",
                     folder, where,
                     saves.error.empty() ? "there"
                                         : "the newest checkpoint, since the last one could not be "
                                           "saved (" +
                                               saves.error + ")"));
  } else if (run.state == "failed") {
    Line(fmt::format("The run in {} failed at {}: {}", folder, where,
                     run.error.empty() ? "it does not say why" : run.error));
  } else if (run.alive()) {
    Line(fmt::format(
        "The run in {} is at work{}, at {}{}.", folder,
        run.pid > 0 ? fmt::format(" (process {})", run.pid) : "", where,
        age && *age >= 1 ? fmt::format(", which it wrote {} ago", HumanDuration(*age)) : ""));
    double interval = 10;
    try {
      const Config tree = Config::ParseToml(run.run_file, "run.toml");
      if (const Config* seconds = tree.FindPath("watch.log_seconds"))
        interval = seconds->AsDouble();
    } catch (const Error&) {
      // A note of ReadRunFolder's says so.
    }
    if (age && *age > std::max(kSilentSeconds, kSilentIntervals * interval)) {
      Line(fmt::format(
          "It has written nothing for {} although it writes every {:g} s: it compiles or "
          "evaluates for that long, waits for its input, or hangs. A device that shows 100 % "
          "meanwhile proves nothing: waiting for another device looks the same.",
          HumanDuration(*age), interval));
    }
  } else {
    Line(fmt::format(
        "The run in {} ended without a word after {}: it was killed, or the machine went down{}. "
        "The command that began it goes on from the last checkpoint.",
        folder, where, age ? fmt::format(", {} ago or less", HumanDuration(*age)) : ""));
  }
}

// Where `full` changed in the course of the run, and what came in its place.
void TellCourse(const watch::RunStatus& run) {
  std::vector<const watch::RunPoint*> points;
  for (const watch::RunPoint& point : run.history.points()) {
    if (point.ledger) points.push_back(&point);
  }
  if (points.size() < kStretches + 1) return;
  struct Stretch {
    int64_t first = 0, last = 0;
    double full = 0;
    Cause lost = Cause::kHost;
    double share = 0;  // of it
  };
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < kStretches; ++i) {
    const watch::RunPoint& from = *points[i * (points.size() - 1) / kStretches];
    const watch::RunPoint& to = *points[(i + 1) * (points.size() - 1) / kStretches];
    const watch::LedgerReport part = to.ledger->Since(*from.ledger);
    const auto full = part.full();
    if (!full) return;
    Stretch stretch{.first = from.step, .last = to.step, .full = *full};
    for (Cause cause :
         {Cause::kInput, Cause::kCopy, Cause::kCommunication, Cause::kCheckpoint, Cause::kHost}) {
      const double share = part.of(cause) / part.training();
      if (share <= stretch.share) continue;
      stretch.share = share;
      stretch.lost = cause;
    }
    stretches.push_back(stretch);
  }
  const auto [least, most] =
      std::minmax_element(stretches.begin(), stretches.end(),
                          [](const Stretch& a, const Stretch& b) { return a.full < b.full; });
  if (most->full - least->full < kWorthTelling) return;
  Line(
      fmt::format("  course: full {} in steps {} to {}, but {} in steps {} to {}, where {} took {}",
                  Share(most->full), HumanCount(most->first), HumanCount(most->last),
                  Share(least->full), HumanCount(least->first), HumanCount(least->last),
                  watch::Name(least->lost), Share(least->share)));
}

}  // namespace

int ExplainRun(const std::string& folder) {
  const watch::RunStatus run = watch::ReadRunFolder(folder);
  TellState(run, folder);
  // Newest first.
  std::string newest = "It has no checkpoint.";
  for (const auto& one : checkpoint::Store(train::CheckpointFolder(folder)).List()) {
    if (one.condition != checkpoint::Condition::kComplete) continue;
    newest = fmt::format("The newest checkpoint is of step {}.", HumanCount(one.info.step));
    break;
  }
  Line(newest);
  Line("\nIs the device running full?");
  for (const std::string& line : run.verdict) Line("  " + line);
  if (run.limit == "unknown" && !run.advice.empty()) Line("  next: " + run.advice);
  TellCourse(run);
  for (const watch::Advised& advised : run.advised) Line("  advised: " + advised.ToString());
  if (const auto cost = run.cost(); cost && run.ledger_known) {
    Line("  cost: " + watch::DescribeCost(*cost));
  }
  if (!run.facts_known && !FileExists(folder + "/facts.json")) {
    Line("note: there is no facts.json; judged by metrics.jsonl and summary.json alone");
  }
  for (const std::string& note : run.notes) Line("note: " + note);
  return kExitDone;
}

}  // namespace flatout::cli
