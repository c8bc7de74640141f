#include "flatout/plan/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "flatout/base/text.h"

namespace flatout::plan {
namespace {

// A larger batch is worth a word only if it is better by more than this.
constexpr double kWorthSaying = 0.1;

// Seconds of training beside which what comes before it is not small.
constexpr double kShortRun = 60;

using Cells = std::vector<std::string>;

// "2.1 ms (1.2-3.9)": all three in the unit of the likely one.
std::string DurationRange(const Range& seconds) {
  const std::string likely = RoughDuration(seconds.likely);
  const std::string unit = likely.substr(likely.rfind(' ') + 1);
  const double scale = unit == "us"    ? 1e6
                       : unit == "ms"  ? 1e3
                       : unit == "min" ? 1.0 / 60
                       : unit == "h"   ? 1.0 / 3600
                       : unit == "d"   ? 1.0 / 86400
                                       : 1;
  return fmt::format("{} ({}-{})", likely, Rough(seconds.low * scale), Rough(seconds.high * scale));
}

std::string MoneyRange(const Prices& prices, const Range& money) {
  const std::string likely = prices.Money(money.likely);
  return fmt::format("{} ({}-{})", likely, Rough(money.low), Rough(money.high));
}

std::string PercentRange(const Range& share) {
  return fmt::format("{} % ({}-{})", Rough(share.likely * 100), Rough(share.low * 100),
                     Rough(share.high * 100));
}

std::string Fits(const PlanRow& row) {
  if (!row.problem.empty()) return "?";
  if (!row.fits) return "no";
  if (!row.recompute.empty()) return "recomputing";
  return row.micro_rows < row.rows ? "in pieces" : "yes";
}

Cells Line(const PlanReport& report, const PlanRow& row) {
  Cells cells = {row.card_name(), std::to_string(row.gpus), row.policy,
                 HumanCount(row.global_batch), Fits(row)};
  if (!row.problem.empty()) {
    cells.push_back(row.problem.substr(0, row.problem.find('\n')));
    return cells;
  }
  const std::string mark = row.compiled ? "" : "~";
  if (!row.fits && row.bytes == std::numeric_limits<int64_t>::max()) {
    cells.push_back("too much by far");
  } else {
    cells.push_back(fmt::format("{}{} of {}", mark, HumanBytes(row.bytes), HumanBytes(row.limit)));
  }
  if (!row.fits) return cells;
  cells.push_back(row.micro_rows < row.rows ? HumanCount(row.micro_rows) : "all");
  cells.push_back(
      fmt::format("{}{}{}", mark, HumanCount(row.largest_rows), row.largest_is_all ? "+" : ""));
  if (!row.estimate) {
    cells.insert(cells.end(), {"not known", "", "", ""});
    return cells;
  }
  const StepEstimate& estimate = *row.estimate;
  cells.push_back(DurationRange(estimate.seconds));
  cells.push_back(Rough(estimate.samples_per_second.likely));
  cells.push_back(PercentRange(estimate.mfu));
  cells.push_back(std::string(LimitName(estimate.limit)));
  if (!report.records) return cells;
  cells.push_back(RoughDuration(row.epoch.hours.likely * 3600));
  if (row.epoch.money) cells.push_back(MoneyRange(report.prices, *row.epoch.money));
  return cells;
}

// Length in characters rather than bytes: currencies.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Better of two rows by `value`, smaller is better.
template <typename Value>
std::optional<size_t> Least(const PlanReport& report, const Value& value,
                            std::optional<int64_t> batch) {
  std::optional<size_t> best;
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const PlanRow& row = report.rows[i];
    if (!row.fits || !row.estimate || (batch && row.global_batch != *batch)) continue;
    const std::optional<double> now = value(row);
    if (!now) continue;
    if (!best || *now < *value(report.rows[*best])) best = i;
  }
  return best;
}

std::optional<double> MoneyOf(const PlanRow& row) {
  return row.epoch.money ? std::optional(row.epoch.money->likely) : std::nullopt;
}
std::optional<double> SecondsPerSample(const PlanRow& row) {
  return row.estimate->seconds.likely / static_cast<double>(row.global_batch);
}

// The batch nearest to the run's own among the rows that fit.
std::optional<int64_t> BatchToCompare(const PlanReport& report) {
  std::optional<int64_t> nearest;
  for (const PlanRow& row : report.rows) {
    if (!row.fits || !row.estimate) continue;
    if (!nearest ||
        std::abs(row.global_batch - report.own_batch) < std::abs(*nearest - report.own_batch)) {
      nearest = row.global_batch;
    }
  }
  return nearest;
}

std::string Named(const PlanRow& row) {
  return fmt::format("{}{} with {}, batch {}{}", row.gpus > 1 ? fmt::format("{} x ", row.gpus) : "",
                     row.card_name(), row.policy, HumanCount(row.global_batch),
                     row.recompute.empty() ? "" : ", recomputing blocks");
}

std::string Figures(const PlanReport& report, const PlanRow& row) {
  std::string text = fmt::format("{} samples/s", Rough(row.estimate->samples_per_second.likely));
  if (!report.records) return text;
  text += fmt::format(", an epoch in {}", RoughDuration(row.epoch.hours.likely * 3600));
  if (row.epoch.money) text += " for " + MoneyRange(report.prices, *row.epoch.money);
  if (report.epochs > 1) {
    text +=
        fmt::format("; {} epochs in {}", report.epochs, RoughDuration(row.run.hours.likely * 3600));
    if (row.run.money) text += " for " + report.prices.Money(row.run.money->likely);
  }
  return text;
}

std::string Commands(const PlanReport& report, const PlanRow& row) {
  std::string command = "flatout train " + report.run_file;
  for (const std::string& set : report.sets) command += fmt::format(" --set '{}'", set);
  std::string lines = "    [train]\n";
  for (const auto& [key, value] : TrainKeys(row)) {
    std::string plain = value;
    if (plain.starts_with('"')) plain = plain.substr(1, plain.size() - 2);
    command += fmt::format(" --set train.{}={}", key, plain);
    lines += fmt::format("    {} = {}\n", key, value);
  }
  return fmt::format("    {}\n  or in the run file:\n{}", command, lines);
}

// Ranges that meet leave the order open.
bool Overlap(const Range& a, const Range& b) { return a.low <= b.high && b.low <= a.high; }

}  // namespace

std::string FormatTable(const PlanReport& report) {
  Cells header = {"card",         "GPUs",         "policy", "batch",     "fits", "memory of a card",
                  "rows at once", "most at once", "step",   "samples/s", "MFU",  "limited by"};
  if (report.records) header.push_back("epoch");
  if (report.records && !report.prices.empty()) header.push_back("cost of an epoch");
  std::vector<Cells> lines = {header};
  for (const PlanRow& row : report.rows) lines.push_back(Line(report, row));
  std::vector<size_t> widths(header.size(), 0);
  for (const Cells& cells : lines) {
    for (size_t i = 0; i < cells.size(); ++i) {
      // What is wrong with a card runs over the columns that it leaves empty.
      if (&cells != &lines.front() && i + 1 == cells.size() && i == 5) continue;
      widths[i] = std::max(widths[i], Width(cells[i]));
    }
  }
  std::string text;
  for (const Cells& cells : lines) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      line += cells[i];
      if (i + 1 < cells.size()) {
        line.append(widths[i] - std::min(widths[i], Width(cells[i])), ' ');
      }
    }
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

Choice Choose(const PlanReport& report) {
  Choice choice;
  const std::optional<int64_t> batch = BatchToCompare(report);
  if (!batch) return choice;
  choice.cheapest = Least(report, MoneyOf, batch);
  choice.fastest = Least(report, SecondsPerSample, batch);
  const auto better = [&](std::optional<size_t> own, const auto& value) -> std::optional<size_t> {
    const std::optional<size_t> any = Least(report, value, std::nullopt);
    if (!any || !own || report.rows[*any].global_batch == *batch) return std::nullopt;
    if (*value(report.rows[*any]) > (1 - kWorthSaying) * *value(report.rows[*own])) {
      return std::nullopt;
    }
    return any;
  };
  choice.cheapest_any_batch = better(choice.cheapest, MoneyOf);
  choice.fastest_any_batch = better(choice.fastest, SecondsPerSample);
  return choice;
}

std::string FormatRecommendation(const PlanReport& report) {
  const Choice choice = Choose(report);
  std::string text;
  if (!choice.fastest) {
    const bool some_fit = std::any_of(report.rows.begin(), report.rows.end(),
                                      [](const PlanRow& row) { return row.fits; });
    const bool some_planned = std::any_of(report.rows.begin(), report.rows.end(),
                                          [](const PlanRow& row) { return row.problem.empty(); });
    if (some_fit || !some_planned) return "";
    text = "Nothing fits.\n";
    const PlanRow* said = nullptr;
    for (const PlanRow& row : report.rows) {
      // Once for each card and policy: the batch makes no difference to the advice.
      if (row.advice.empty()) continue;
      if (said != nullptr && said->card == row.card && said->policy == row.policy) continue;
      text += fmt::format("{}: {}\n", Named(row), row.advice);
      said = &row;
    }
    return text;
  }
  const PlanRow& fastest = report.rows[*choice.fastest];
  const PlanRow& best = choice.cheapest ? report.rows[*choice.cheapest] : fastest;
  if (choice.cheapest && *choice.cheapest == *choice.fastest) {
    text += fmt::format("Cheapest and fastest: {}: {}.\n", Named(best), Figures(report, best));
  } else {
    if (choice.cheapest) {
      text += fmt::format("Cheapest: {}: {}.\n", Named(best), Figures(report, best));
    }
    text += fmt::format("Fastest: {}: {}.\n", Named(fastest), Figures(report, fastest));
  }
  // The runner-up on another card.
  std::optional<size_t> next;
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const PlanRow& row = report.rows[i];
    if (!row.fits || !row.estimate || row.card == best.card) continue;
    if (row.global_batch != best.global_batch) continue;
    const auto value = [&](const PlanRow& of) {
      return choice.cheapest ? MoneyOf(of) : SecondsPerSample(of);
    };
    if (!value(row)) continue;
    if (!next || *value(row) < *value(report.rows[*next])) next = i;
  }
  if (next) {
    const PlanRow& second = report.rows[*next];
    const bool overlap = choice.cheapest
                             ? Overlap(*best.epoch.money, *second.epoch.money)
                             : Overlap(best.estimate->seconds, second.estimate->seconds);
    if (overlap) {
      text += fmt::format(
          "The estimates for {} and {} overlap, so their order is likely, not certain; a few "
          "minutes on each tell.\n",
          Named(best), Named(second));
    }
  }
  const std::optional<size_t> other =
      choice.cheapest ? choice.cheapest_any_batch : choice.fastest_any_batch;
  if (other) {
    const PlanRow& row = report.rows[*other];
    text += fmt::format(
        "Another batch would do better: {}: {}. That changes the training itself: the learning "
        "rate "
        "has to follow, and the result must be checked.\n",
        Named(row), Figures(report, row));
  }
  if (report.records && best.run.hours.likely * 3600 < kShortRun) {
    text +=
        "The steps of this run are over within a minute: start and compile will take longer than "
        "they do, on any card.\n";
  }
  text += "To train so:\n" + Commands(report, best);
  return text;
}

std::vector<std::pair<std::string, std::string>> TrainKeys(const PlanRow& row) {
  std::vector<std::pair<std::string, std::string>> keys = {
      {"device", row.card == nullptr ? "\"cpu\"" : "\"cuda\""},
      {"devices", std::to_string(row.gpus)},
      {"precision", fmt::format("\"{}\"", row.policy)},
      {"global_batch", std::to_string(row.global_batch)}};
  if (row.micro_rows > 0 && row.micro_rows < row.rows) {
    keys.emplace_back("micro_batch", std::to_string(row.micro_rows));
  }
  if (!row.recompute.empty()) keys.emplace_back("recompute", fmt::format("\"{}\"", row.recompute));
  return keys;
}

}  // namespace flatout::plan
