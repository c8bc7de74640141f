#include "flatout/web/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "flatout/base/text.h"
#include "flatout/web/chart.h"
#include "flatout/web/page_source.h"

namespace flatout::web {
namespace {

using watch::Cause;
using watch::kNumCauses;
using watch::RunEpoch;
using watch::RunPoint;
using watch::RunStatus;

// Metrics that get a chart of their own.
constexpr size_t kMostMetrics = 12;

// Shapes beside the colours.
struct StateLook {
  const char *sign, *style;
};
StateLook LookOf(const std::string& state) {
  if (state == "done") return {"✓", "good"};
  if (state == "failed") return {"✕", "bad"};
  if (state == "ended") return {"✕", "bad"};
  if (state == "stopped") return {"■", "idle"};
  return {"●", "good"};
}

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string Bytes(double bytes) { return HumanBytes(std::llround(std::clamp(bytes, 0.0, 9e18))); }
std::string Duration(double seconds) { return HumanDuration(std::max(0.0, seconds)); }

std::string Tile(const std::string& name, const std::string& big, const std::string& more = "") {
  return fmt::format(
      "<div class=\"tile\"><div class=\"name\">{}</div><div class=\"big\">{}</div><div "
      "class=\"more\">{}</div></div>",
      Escape(name), Escape(big), Escape(more));
}

std::string Heading(const std::string& text) { return "<h2>" + Escape(text) + "</h2>"; }

std::string Head(const RunStatus& status) {
  const StateLook look = LookOf(status.state);
  std::string html =
      fmt::format("<div class=\"head\"><h1>{}</h1><span class=\"state {}\">{} {}</span></div>",
                  Escape(status.name), look.style, look.sign, Escape(status.state));
  std::vector<std::string> facts;
  if (!status.model.empty()) {
    facts.push_back(status.parameters > 0 ? fmt::format("{}, {} parameters", status.model,
                                                        HumanCount(status.parameters))
                                          : status.model);
  } else if (status.parameters > 0) {
    facts.push_back(HumanCount(status.parameters) + " parameters");
  }
  if (!status.device.empty()) facts.push_back("on " + status.device);
  if (!status.optimizer.empty()) {
    facts.push_back(status.optimizer + (status.learning_rate_schedule.empty()
                                            ? ""
                                            : " with rate " + status.learning_rate_schedule));
  }
  if (!status.precision.empty()) facts.push_back(status.precision);
  if (status.global_batch > 0) {
    facts.push_back(fmt::format("batch {}", HumanCount(status.global_batch)));
  }
  if (!status.host.empty()) facts.push_back("host " + status.host);
  if (!status.folder.empty()) facts.push_back("folder " + status.folder);
  html +=
      fmt::format("<p class=\"dim\">{}</p>", Escape(fmt::format("{}", fmt::join(facts, " · "))));
  if (!status.error.empty()) html += "<p class=\"error\">" + Escape(status.error) + "</p>";
  if (const auto done = status.progress()) {
    html += fmt::format(
        "<div class=\"progress\" role=\"progressbar\" aria-valuenow=\"{0:.0f}\" "
        "aria-valuemin=\"0\" aria-valuemax=\"100\"><div style=\"width:{0:.1f}%\"></div></div>",
        100 * *done);
  }
  for (const std::string& note : status.notes) {
    html += "<p class=\"hint\">" + Escape(note) + "</p>";
  }
  return html;
}

std::string Tiles(const RunStatus& status) {
  std::string html;
  const std::optional<double> full = status.alive() ? status.full : status.run_full;
  html += Tile("device full", full ? watch::Percent(*full) : "n/a",
               status.alive() && status.run_full ? "whole run " + watch::Percent(*status.run_full)
                                                 : "share of training time");
  const std::optional<double> speed =
      status.alive() ? status.samples_per_second : status.run_samples_per_second;
  std::string ceiling;
  if (status.ceiling_samples_per_second) {
    ceiling = "device alone " + ShortCount(*status.ceiling_samples_per_second);
  }
  html += Tile("samples per second", speed ? ShortCount(*speed) : "n/a", ceiling);
  const auto in_epoch = [&](const std::string& name) {
    const auto found = status.last_epoch.find(name);
    return found == status.last_epoch.end() ? std::optional<double>() : found->second;
  };
  const std::optional<double> loss = status.loss ? status.loss : in_epoch("loss");
  const auto val_loss = in_epoch("val_loss");
  html += Tile("loss", loss ? ShortNumber(*loss) : "n/a",
               val_loss ? "validation " + ShortNumber(*val_loss) : "");
  std::map<std::string, double> metrics = status.metrics;
  if (metrics.empty()) {
    for (const auto& [name, value] : status.last_epoch) {
      if (name != "loss" && !name.starts_with("val_")) metrics[name] = value;
    }
  }
  size_t count = 0;
  for (const auto& [name, value] : metrics) {
    if (++count > 2) break;
    const auto validation = in_epoch("val_" + name);
    html +=
        Tile(name, ShortNumber(value), validation ? "validation " + ShortNumber(*validation) : "");
  }
  if (status.epoch > 0) {
    const int64_t shown = std::min(status.epoch, std::max<int64_t>(status.epochs, 1));
    std::string step = "step " + HumanCount(status.step);
    if (const auto all = status.steps_in_all()) step += " of " + HumanCount(*all);
    html += Tile("epoch", fmt::format("{} of {}", shown, std::max(status.epochs, shown)), step);
  } else {
    html += Tile("step", HumanCount(status.step));
  }
  if (status.alive()) {
    html += Tile("time left", status.eta_seconds ? Duration(*status.eta_seconds) : "n/a",
                 status.ledger_known ? "so far " + Duration(status.ledger.wall) : "");
  } else if (status.ledger_known) {
    html += Tile("took", Duration(status.ledger.wall),
                 status.sessions > 1 ? fmt::format("{} sessions", status.sessions) : "");
  }
  if (const auto cost = status.cost(); cost && status.ledger_known) {
    html += Tile("cost so far", watch::Money(cost->total, cost->currency),
                 cost->per_epoch ? watch::Money(*cost->per_epoch, cost->currency) + " per epoch"
                                 : watch::Money(cost->per_hour, cost->currency) + " per hour");
  }
  for (const auto& [name, value] : status.test) html += Tile("test " + name, ShortNumber(value));
  return html;
}

std::string VerdictHtml(const RunStatus& status) {
  if (status.verdict.empty()) return "";
  std::string html = Heading("Is the device running full?") + "<ul class=\"verdict\">";
  for (const std::string& line : status.verdict) {
    const bool limit = line.find("limit") < 3;
    html += fmt::format("<li{}>{}</li>", limit ? " class=\"limit\"" : "", Escape(line));
  }
  for (const watch::Advised& advised : status.advised) {
    html += "<li>advised: " + Escape(advised.ToString()) + "</li>";
  }
  if (const auto cost = status.cost(); cost && status.ledger_known) {
    html += "<li>cost: " + Escape(watch::DescribeCost(*cost)) + "</li>";
  }
  return html + "</ul>";
}

using Points = std::vector<std::pair<double, double>>;

template <typename Get>
Points PointsOf(const RunStatus& status, const Get& get) {
  Points points;
  for (const RunPoint& point : status.history.points()) {
    if (const std::optional<double> value = get(point)) {
      points.emplace_back(static_cast<double>(point.step), *value);
    }
  }
  return points;
}

Points EpochPoints(const RunStatus& status, const std::string& name) {
  Points points;
  for (const RunEpoch& epoch : status.epoch_history) {
    if (const auto found = epoch.logs.find(name); found != epoch.logs.end()) {
      points.emplace_back(static_cast<double>(epoch.step), found->second);
    }
  }
  return points;
}

LineChart Scores(const RunStatus& status, const std::string& name, bool may_be_log) {
  LineChart chart{.title = name, .x_label = "step", .may_be_log = may_be_log};
  chart.lines.push_back({.name = "so far in the epoch",
                         .points = PointsOf(status,
                                            [&](const RunPoint& point) -> std::optional<double> {
                                              if (name == "loss") return point.loss;
                                              const auto found = point.metrics.find(name);
                                              if (found == point.metrics.end()) return {};
                                              return found->second;
                                            }),
                         .style = 6,
                         .thin = true});
  chart.lines.push_back(
      {.name = "training", .points = EpochPoints(status, name), .style = 0, .marked = true});
  chart.lines.push_back({.name = "validation",
                         .points = EpochPoints(status, "val_" + name),
                         .style = 1,
                         .marked = true});
  return chart;
}

std::string Curves(const RunStatus& status) {
  if (status.history.empty() && status.epoch_history.empty()) return "";
  std::string html =
      Heading("Curves") + "<div class=\"grid2\">" + Draw(Scores(status, "loss", true));
  std::set<std::string> names;
  for (const auto& [name, value] : status.metrics) names.insert(name);
  for (const auto& [name, value] : status.last_epoch) {
    const std::string bare = name.starts_with("val_") ? name.substr(4) : name;
    if (bare != "loss") names.insert(bare);
  }
  size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kMostMetrics) break;
    html += Draw(Scores(status, name, false));
  }
  html += Draw({.title = "samples per second",
                .x_label = "step",
                .lines = {{.name = "since the point before",
                           .points = PointsOf(
                               status, [](const RunPoint& p) { return p.samples_per_second; }),
                           .style = 2}},
                .y_text = ShortCount,
                .from_zero = true});
  html += Draw({.title = "device full",
                .x_label = "step",
                .lines = {{.name = "since the point before",
                           .points = PointsOf(status, [](const RunPoint& p) { return p.full; }),
                           .style = 0}},
                .y_text = [](double v) { return fmt::format("{:.4g} %", 100 * v); },
                .least_top = 1,
                .from_zero = true});
  const Points rates = PointsOf(status, [](const RunPoint& p) { return p.learning_rate; });
  if (std::any_of(rates.begin(), rates.end(),
                  [&](const auto& p) { return p.second != rates.front().second; })) {
    html += Draw({.title = "learning rate",
                  .x_label = "step",
                  .lines = {{.name = "of the step", .points = rates, .style = 3}},
                  .from_zero = true});
  }
  return html + "</div>";
}

std::string Time(const RunStatus& status) {
  if (!status.ledger_known) return "";
  const double wall = status.ledger.sum();
  if (!(wall > 0)) return "";
  std::string html =
      Heading("Where the time went") + DrawCauseBar(status.ledger) + "<div class=\"grid2\">";
  html += DrawCauses(status.history.points());
  const auto cost = status.cost();
  html +=
      "<div class=\"scroll\"><table><tr><th>cause</th><th class=\"n\">time</th><th "
      "class=\"n\">share</th>";
  if (cost) html += "<th class=\"n\">" + Escape(cost->currency) + "</th>";
  html += "</tr>";
  for (int i = 0; i < kNumCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    const bool unknown = cause == Cause::kCommunication && !status.communication_measured;
    const double seconds = status.ledger.seconds[i];
    if (!unknown && seconds <= 0 && cause != Cause::kInput) continue;
    const bool worst = status.limit && *status.limit == Name(cause);
    html += fmt::format("<tr{}><td>{} {}{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>",
                        worst ? " class=\"worst\"" : "", CauseSwatch(cause), Name(cause),
                        worst ? " ◀ limit" : "", unknown ? "in compute" : Duration(seconds),
                        unknown ? "" : Percent(seconds / wall));
    if (cost) {
      html += fmt::format("<td class=\"n\">{}</td>", unknown ? "" : ShortNumber(cost->by_cause[i]));
    }
    html += "</tr>";
  }
  html += fmt::format("<tr><td>in all</td><td class=\"n\">{}</td><td></td>", Duration(wall));
  if (cost) html += fmt::format("<td class=\"n\">{}</td>", ShortNumber(cost->total));
  return html + "</tr></table></div></div>";
}

std::string Input(const RunStatus& status) {
  const watch::InputFacts& input = status.input;
  if (!status.input_known) return "";
  std::string html = Heading("Input") + "<div class=\"grid2\"><div>";
  std::vector<Bar> bars;
  double all = 0;
  for (const watch::InputStage& stage : input.stages) all += stage.seconds;
  for (size_t i = 0; i < input.stages.size(); ++i) {
    const watch::InputStage& stage = input.stages[i];
    std::string text = all > 0 ? Percent(stage.seconds / all) : "";
    if (stage.records > 0 && stage.seconds > 0) {
      text += fmt::format(", {} records/s a thread", ShortCount(stage.records_per_second()));
    }
    const bool limit = status.stage == stage.name ||
                       (status.stage.empty() && status.limit && *status.limit == "input" && i == 0);
    bars.push_back({limit ? "▶ " + stage.name : stage.name, text, all > 0 ? stage.seconds / all : 0,
                    limit ? "slow" : "plain"});
  }
  if (!bars.empty()) {
    html += "<p class=\"hint\">share of the input threads' time, by stage</p>" + DrawBars(bars);
  }
  std::vector<Bar> queue;
  if (input.queue_fill) {
    queue.push_back(
        {"queue fill",
         fmt::format("{} of {} launches ready", Percent(*input.queue_fill), input.depth),
         *input.queue_fill, "queue"});
  }
  if (status.queue_budget_bytes > 0) {
    queue.push_back(
        {"queue memory",
         fmt::format("{} of {}", Bytes(status.queue_bytes), Bytes(status.queue_budget_bytes)),
         status.queue_bytes / status.queue_budget_bytes, "plain"});
  }
  if (!queue.empty()) {
    html += "<p class=\"hint\">what waits in front of the device</p>" + DrawBars(queue);
  }
  html += fmt::format("<p class=\"dim\">{} thread{}{}{}</p>", input.workers,
                      input.workers == 1 ? "" : "s", input.workers_tuned ? ", tuned" : "",
                      status.bad_records > 0
                          ? fmt::format("; {} bad records left out", HumanCount(status.bad_records))
                          : "");
  for (const std::string& decision : input.decisions) {
    html += "<p class=\"hint\">" + Escape(decision) + "</p>";
  }
  html += "</div>";
  const Points wait = PointsOf(status, [](const RunPoint& p) { return p.input_wait; });
  const Points fill = PointsOf(status, [](const RunPoint& p) { return p.queue_fill; });
  if (wait.size() > 1 || fill.size() > 1) {
    html += Draw({.title = "waiting for input",
                  .x_label = "step",
                  .lines = {{.name = "share of the time waited", .points = wait, .style = 4},
                            {.name = "queue fill", .points = fill, .style = 5}},
                  .y_text = [](double v) { return fmt::format("{:.3g} %", 100 * v); },
                  .least_top = 0.1,
                  .from_zero = true});
  }
  return html + "</div>";
}

std::string Devices(const RunStatus& status) {
  std::string rows;
  const auto cell = [](const std::optional<double>& value, const auto& text) {
    return fmt::format("<td class=\"n\">{}</td>", value ? Escape(text(*value)) : "n/a");
  };
  for (const watch::DeviceStatus& device : status.devices) {
    // Of the CPU nobody says any of this.
    if (!device.memory_used_bytes && !device.memory_peak_bytes && !device.kernel_active &&
        !device.power_watts && !device.temperature_celsius && !device.throttled) {
      continue;
    }
    rows += fmt::format(
        "<tr><td>{}</td>",
        Escape(fmt::format("{}: {}", device.index, device.name.empty() ? "device" : device.name)));
    rows += fmt::format(
        "<td class=\"n\">{}</td>",
        device.memory_used_bytes
            ? Escape(Bytes(*device.memory_used_bytes) +
                     (device.memory_limit_bytes ? " of " + Bytes(*device.memory_limit_bytes) : ""))
            : "n/a");
    rows += cell(device.memory_peak_bytes, Bytes);
    rows += cell(device.kernel_active, Percent);
    rows += cell(device.power_watts, [&](double watts) {
      return device.power_limit_watts
                 ? fmt::format("{:.0f} of {:.0f} W", watts, *device.power_limit_watts)
                 : fmt::format("{:.0f} W", watts);
    });
    rows += cell(device.temperature_celsius, [](double c) { return fmt::format("{:.0f} °C", c); });
    rows += cell(device.clock_hertz, [](double hz) { return fmt::format("{:.0f} MHz", hz / 1e6); });
    std::string slow = "n/a";
    if (device.throttled) {
      slow = device.throttled->empty() ? "no"
                                       : fmt::format("▼ {}", fmt::join(*device.throttled, ", "));
    }
    rows += "<td>" + Escape(slow) + "</td></tr>";
  }
  std::string html;
  if (!rows.empty()) {
    html +=
        "<div class=\"scroll\"><table><tr><th>device</th><th class=\"n\">memory</th><th "
        "class=\"n\">most</th><th class=\"n\" title=\"share of the time in which some kernel "
        "ran; no measure of how full the device was\">a kernel ran</th><th "
        "class=\"n\">power</th><th class=\"n\">temperature</th><th class=\"n\">clock</th>"
        "<th>held back</th></tr>" +
        rows + "</table></div>";
  }
  std::vector<std::string> facts;
  if (status.planned_bytes) facts.push_back("planned for a device " + Bytes(*status.planned_bytes));
  if (status.resident_bytes) {
    std::string text = "process " + Bytes(*status.resident_bytes);
    if (status.peak_resident_bytes) text += ", most " + Bytes(*status.peak_resident_bytes);
    facts.push_back(text);
  } else if (status.peak_resident_bytes) {
    facts.push_back("process at most " + Bytes(*status.peak_resident_bytes));
  }
  if (status.usable_cores)
    facts.push_back(fmt::format("{:.3g} usable cores", *status.usable_cores));
  if (status.throttled_seconds && *status.throttled_seconds >= 0.05) {
    facts.push_back("held back by the CPU quota for " + Duration(*status.throttled_seconds));
  }
  if (status.disk_free_bytes && status.alive()) {
    facts.push_back("disk " + Bytes(*status.disk_free_bytes) + " free");
  }
  if (!facts.empty()) {
    html += "<p class=\"dim\">" + Escape(fmt::format("{}", fmt::join(facts, " · "))) + "</p>";
  }
  return html.empty() ? "" : Heading("Devices and memory") + html;
}

std::string Checkpoints(const RunStatus& status) {
  const watch::CheckpointStatus& saves = status.checkpoints;
  if (saves.saved == 0 && saves.failed == 0 && !saves.last_step) {
    return status.alive() && status.step > 0
               ? Heading("Checkpoints") + "<p class=\"dim\">none yet</p>"
               : "";
  }
  std::string html = Heading("Checkpoints") + "<div class=\"scroll\"><table>";
  const auto row = [&](const std::string& name, const std::string& value) {
    html += "<tr><td>" + Escape(name) + "</td><td class=\"n\">" + Escape(value) + "</td></tr>";
  };
  if (saves.last_step) {
    row("last", fmt::format("step {}{}", HumanCount(*saves.last_step),
                            saves.age_seconds ? ", " + Duration(*saves.age_seconds) + " ago" : ""));
  }
  row("saved", HumanCount(saves.saved));
  if (saves.failed > 0) row("✕ failed", HumanCount(saves.failed));
  if (saves.bytes > 0) row("size", Bytes(saves.bytes));
  if (saves.interval_seconds) row("chosen interval", Duration(*saves.interval_seconds));
  row("training stood still", Duration(saves.blocked_seconds));
  row("training was slowed by", Duration(saves.slowed_seconds));
  row("written beside it in", Duration(saves.write_seconds));
  html += "</table></div>";
  if (!saves.error.empty()) html += "<p class=\"error\">" + Escape(saves.error) + "</p>";
  return html;
}

std::string Log(const RunStatus& status) {
  if (status.log.empty()) return "";
  std::string html = Heading("Log") + "<pre class=\"log\" tabindex=\"0\">";
  for (const std::string& line : status.log) html += Escape(line) + "\n";
  return html + "</pre>";
}

std::string Replace(std::string text, const std::string& key, std::string_view value) {
  const std::string mark = "{{" + key + "}}";
  for (size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
  return text;
}

// The tiles have cards of their own.
const char* ClassOf(const std::string& id) { return id == "tiles" ? "tiles" : "card"; }

}  // namespace

std::vector<Section> Sections(const RunStatus& status) {
  return {{"head", Head(status)},
          {"tiles", Tiles(status)},
          {"verdict", VerdictHtml(status)},
          {"curves", Curves(status)},
          {"time", Time(status)},
          {"input", Input(status)},
          {"devices", Devices(status)},
          {"checkpoints", Checkpoints(status)},
          {"log", Log(status)}};
}

std::string Title(const RunStatus& status) {
  const StateLook look = LookOf(status.state);
  std::string title = fmt::format("{} {}", look.sign, status.state);
  if (const auto done = status.progress(); done && status.alive()) {
    title += fmt::format(" · {:.0f} %", 100 * *done);
  }
  return title + " · " + status.name;
}

std::string LivePage(const std::string& nonce) {
  std::string sections;
  for (const Section& section : Sections(RunStatus())) {
    sections += fmt::format("<section id=\"{}\" class=\"{}\"></section>\n", section.id,
                            ClassOf(section.id));
  }
  std::string page(kPageHtml);
  page = Replace(page, "style", kPageCss);
  page = Replace(page, "sections", sections);
  page = Replace(page, "patterns", Patterns());
  page = Replace(page, "script", kPageScript);
  return Replace(page, "nonce", nonce);
}

std::string SectionsJson(const RunStatus& status) {
  nlohmann::ordered_json json;
  json["title"] = Title(status);
  for (const Section& section : Sections(status)) json["sections"][section.id] = section.html;
  // What is not UTF-8 (a folder's name) is replaced.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace flatout::web
