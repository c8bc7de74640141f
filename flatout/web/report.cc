// The report: the sections of the live page as a document that stands on its own, and several runs
// beside each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/web/chart.h"
#include "flatout/web/page.h"
#include "flatout/web/page_source.h"

namespace flatout::web {
namespace {

using watch::Cause;
using watch::RunStatus;

// Metrics that are compared with a chart each.
constexpr size_t kMostCompared = 8;

// Dotted keys and their values as TOML.
void Flatten(const Config& value, const std::string& path,
             std::map<std::string, std::string>& flat) {
  if (value.is_table()) {
    for (const auto& [key, entry] : value.entries()) {
      Flatten(entry, path.empty() ? key : path + "." + key, flat);
    }
    return;
  }
  std::string text = Config::Table({{"x", value}}).ToToml();
  if (const size_t begin = text.find("= "); begin != std::string::npos)
    text = text.substr(begin + 2);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  flat[path] = text;
}

std::map<std::string, std::string> FlatRunFile(const RunStatus& run) {
  std::map<std::string, std::string> flat;
  try {
    Flatten(Config::ParseToml(run.run_file, "run.toml"), "", flat);
  } catch (const Error&) {
    // Its own notes say so.
  }
  return flat;
}

using Cells = std::vector<std::string>;

std::string Row(const std::string& name, const Cells& cells) {
  std::string html = "<tr><td>" + Escape(name) + "</td>";
  for (const std::string& cell : cells) html += "<td class=\"n\">" + Escape(cell) + "</td>";
  return html + "</tr>";
}

template <typename Get>
Cells ForEach(const std::vector<RunStatus>& runs, const Get& get) {
  Cells cells;
  for (const RunStatus& run : runs) cells.push_back(get(run));
  return cells;
}

bool AllEmpty(const Cells& cells) {
  return std::all_of(cells.begin(), cells.end(), [](const std::string& c) { return c.empty(); });
}

std::string Figures(const std::vector<RunStatus>& runs, const Cells& names) {
  std::string html = "<div class=\"scroll\"><table><tr><th>figure</th>";
  for (const std::string& name : names) html += "<th class=\"n\">" + Escape(name) + "</th>";
  html += "</tr>";
  const auto row = [&](const std::string& name, const auto& get) {
    const Cells cells = ForEach(runs, get);
    if (!AllEmpty(cells)) html += Row(name, cells);
  };
  row("state", [](const RunStatus& r) { return r.state; });
  row("steps", [](const RunStatus& r) { return HumanCount(r.step); });
  std::set<std::string> scores, tests;
  for (const RunStatus& run : runs) {
    for (const auto& [name, value] : run.last_epoch) scores.insert(name);
    for (const auto& [name, value] : run.test) tests.insert(name);
  }
  for (const std::string& name : scores) {
    row(name, [&](const RunStatus& r) {
      const auto found = r.last_epoch.find(name);
      return found == r.last_epoch.end() ? "" : ShortNumber(found->second);
    });
  }
  for (const std::string& name : tests) {
    row("test " + name, [&](const RunStatus& r) {
      const auto found = r.test.find(name);
      return found == r.test.end() ? "" : ShortNumber(found->second);
    });
  }
  row("samples per second", [](const RunStatus& r) {
    return r.run_samples_per_second ? ShortCount(*r.run_samples_per_second) : "";
  });
  row("device full",
      [](const RunStatus& r) { return r.run_full ? watch::Percent(*r.run_full) : ""; });
  row("MFU", [](const RunStatus& r) { return r.mfu ? watch::Percent(*r.mfu) : ""; });
  row("limit", [](const RunStatus& r) { return r.limit.value_or(""); });
  row("time",
      [](const RunStatus& r) { return r.ledger_known ? HumanDuration(r.ledger.wall) : ""; });
  for (int i = 0; i < watch::kNumCauses; ++i) {
    row(fmt::format("… {}", Name(static_cast<Cause>(i))), [&](const RunStatus& r) {
      const double wall = r.ledger.sum();
      if (!r.ledger_known || !(wall > 0) || !(r.ledger.seconds[i] > 0)) return std::string();
      return fmt::format("{} ({:.1f} %)", HumanDuration(r.ledger.seconds[i]),
                         100 * r.ledger.seconds[i] / wall);
    });
  }
  row("memory of the process", [](const RunStatus& r) {
    return r.peak_resident_bytes ? HumanBytes(std::llround(*r.peak_resident_bytes)) : "";
  });
  row("cost", [](const RunStatus& r) {
    const auto cost = r.cost();
    return cost && r.ledger_known ? watch::Money(cost->total, cost->currency) : "";
  });
  row("cost per epoch", [](const RunStatus& r) {
    const auto cost = r.cost();
    return cost && cost->per_epoch && r.ledger_known
               ? watch::Money(*cost->per_epoch, cost->currency)
               : "";
  });
  return html + "</table></div>";
}

// The keys of the run files that are not the same everywhere.
std::string Differences(const std::vector<RunStatus>& runs, const Cells& names) {
  std::vector<std::map<std::string, std::string>> files;
  std::set<std::string> keys;
  for (const RunStatus& run : runs) {
    files.push_back(FlatRunFile(run));
    for (const auto& [key, value] : files.back()) keys.insert(key);
  }
  std::string rows;
  for (const std::string& key : keys) {
    Cells cells;
    for (const auto& file : files) {
      const auto found = file.find(key);
      cells.push_back(found == file.end() ? "" : found->second);
    }
    const bool same = std::all_of(cells.begin(), cells.end(),
                                  [&](const std::string& cell) { return cell == cells.front(); });
    if (!same) rows += Row(key, cells);
  }
  if (rows.empty()) return "<p class=\"dim\">The run files say the same.</p>";
  std::string head = "<tr><th>run file</th>";
  for (const std::string& name : names) head += "<th class=\"n\">" + Escape(name) + "</th>";
  return "<div class=\"scroll\"><table>" + head + "</tr>" + rows + "</table></div>";
}

std::string Overlays(const std::vector<RunStatus>& runs, const Cells& names) {
  std::set<std::string> all;
  for (const RunStatus& run : runs) {
    for (const watch::RunEpoch& epoch : run.epoch_history) {
      for (const auto& [name, value] : epoch.logs) all.insert(name);
    }
  }
  std::vector<std::string> scores = {"loss", "val_loss"};
  for (const std::string& name : all) {
    if (name != "loss" && name != "val_loss") scores.push_back(name);
  }
  if (scores.size() > kMostCompared) scores.resize(kMostCompared);
  std::string html = "<div class=\"grid2\">";
  for (const std::string& score : scores) {
    LineChart chart{.title = score, .x_label = "step", .may_be_log = score.ends_with("loss")};
    bool any = false;
    for (size_t i = 0; i < runs.size(); ++i) {
      Line line{.name = names[i], .style = static_cast<int>(i), .marked = true};
      for (const watch::RunEpoch& epoch : runs[i].epoch_history) {
        if (const auto found = epoch.logs.find(score); found != epoch.logs.end()) {
          line.points.emplace_back(static_cast<double>(epoch.step), found->second);
        }
      }
      // Before its first epoch has ended a run has only what it logged on the way.
      if (score == "loss" && line.points.empty()) {
        line.marked = false;
        for (const watch::RunPoint& point : runs[i].history.points()) {
          if (point.loss) line.points.emplace_back(static_cast<double>(point.step), *point.loss);
        }
      }
      any |= !line.points.empty();
      chart.lines.push_back(std::move(line));
    }
    if (any) html += Draw(chart);
  }
  LineChart speed{
      .title = "samples per second", .x_label = "step", .y_text = ShortCount, .from_zero = true};
  for (size_t i = 0; i < runs.size(); ++i) {
    Line line{.name = names[i], .style = static_cast<int>(i)};
    for (const watch::RunPoint& point : runs[i].history.points()) {
      if (point.samples_per_second) {
        line.points.emplace_back(static_cast<double>(point.step), *point.samples_per_second);
      }
    }
    speed.lines.push_back(std::move(line));
  }
  return html + Draw(speed) + "</div>";
}

// Names that tell the runs apart: the folder's name, or the folder where two have one name.
Cells NamesOf(const std::vector<RunStatus>& runs) {
  Cells names;
  for (const RunStatus& run : runs) {
    const auto same = std::count_if(runs.begin(), runs.end(),
                                    [&](const RunStatus& r) { return r.name == run.name; });
    names.push_back(same > 1 && !run.folder.empty() ? run.folder : run.name);
  }
  return names;
}

std::string Comparison(const std::vector<RunStatus>& runs) {
  const Cells names = NamesOf(runs);
  std::string html = fmt::format("<section class=\"card\"><h1>{} runs</h1>", runs.size());
  html += Overlays(runs, names) + "</section><section class=\"card\"><h2>Figures</h2>" +
          Figures(runs, names) + "</section><section class=\"card\"><h2>What differs</h2>" +
          Differences(runs, names) + "</section>";
  html += "<section class=\"card\"><h2>Where the time went</h2>";
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ledger_known) continue;
    html += "<p>" + Escape(names[i]) + "</p>" + DrawCauseBar(runs[i].ledger);
  }
  html += "<ul class=\"legend\">";
  for (int i = 0; i < watch::kNumCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    html += fmt::format("<li>{}{}</li>", CauseSwatch(cause), Name(cause));
  }
  return html + "</ul></section>";
}

std::string OneRun(const RunStatus& run, bool details) {
  std::string html;
  for (const Section& section : Sections(run)) {
    if (section.html.empty()) continue;
    html += fmt::format("<section class=\"{}\">{}</section>\n",
                        section.id == "tiles" ? "tiles" : "card", section.html);
  }
  if (!run.run_file.empty()) {
    html += "<section class=\"card\"><details><summary>run.toml</summary><pre>" +
            Escape(run.run_file) + "</pre></details></section>\n";
  }
  if (!details) return html;
  return "<details class=\"run\"><summary>" + Escape(Title(run)) + "</summary>\n" + html +
         "</details>\n";
}

}  // namespace

std::string Report(const std::vector<RunStatus>& runs) {
  std::string title = runs.size() == 1 ? Title(runs[0]) : fmt::format("{} runs", runs.size());
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta "
      "name=\"color-scheme\" content=\"light dark\"/>\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n{}\n<main>\n",
      Escape(title), kPageCss, Patterns());
  if (runs.size() > 1) html += Comparison(runs);
  for (const RunStatus& run : runs) html += OneRun(run, runs.size() > 1);
  return html + "</main>\n<footer>made by flatout report</footer>\n</body>\n</html>\n";
}

}  // namespace flatout::web
