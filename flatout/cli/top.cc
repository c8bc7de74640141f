#include "flatout/cli/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "flatout/base/text.h"
#include "flatout/web/chart.h"

namespace flatout::cli {
namespace {

using watch::Cause;
using watch::RunStatus;

constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr int kNarrowest = 40;
constexpr size_t kShownLog = 12;

// Columns that a text takes: characters, not bytes; escape sequences take none.
int Columns(const std::string& text) {
  int columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm') ++i;
      continue;
    }
    columns += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 ? 1 : 0;
  }
  return columns;
}

// What a terminal would obey in text from elsewhere (a log line) is shown instead.
std::string Plain(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    plain += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return plain;
}

std::string CutTo(const std::string& text, int columns) {
  if (Columns(text) <= columns) return text;
  std::string cut;
  int used = 0;
  bool escape = false;
  for (const char c : text) {
    if (c == '\033') escape = true;
    const bool starts = !escape && (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (starts && ++used >= columns) break;
    cut += c;
    if (escape && c == 'm') escape = false;
  }
  return cut + "…" + (text.find('\033') != std::string::npos ? "\033[0m" : "");
}

// In lines of so many columns, broken between words; those after the first are indented.
std::vector<std::string> Wrapped(const std::string& text, int columns) {
  const std::string indent = "    ";
  std::vector<std::string> lines(1);
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find(' ', text.find_first_not_of(' ', begin));
    if (end == std::string::npos) end = text.size();
    std::string word = text.substr(begin, end - begin);
    if (Columns(lines.back() + word) > columns && lines.back().size() > indent.size()) {
      lines.push_back(indent);
      word.erase(0, word.find_first_not_of(' '));
    }
    lines.back() += word;
    begin = end;
  }
  return lines;
}

std::string PadTo(const std::string& text, int columns) {
  const int used = Columns(text);
  return used >= columns ? text : text + std::string(static_cast<size_t>(columns - used), ' ');
}

std::string Repeat(const char* text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

std::string BarOf(double share, int columns) {
  const int filled = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns));
  return Repeat("█", filled) + Repeat("░", columns - filled);
}

class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  std::string Bold(const std::string& text) const { return Wrap("1", text); }
  std::string Dim(const std::string& text) const { return Wrap("2", text); }
  std::string Good(const std::string& text) const { return Wrap("1;36", text); }
  std::string Bad(const std::string& text) const { return Wrap("1;33", text); }

 private:
  std::string Wrap(const char* code, const std::string& text) const {
    return colour_ ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }
  bool colour_;
};

std::string Sign(const std::string& state) {
  if (state == "done") return "✓";
  if (state == "failed" || state == "ended") return "✕";
  if (state == "stopped") return "■";
  return "●";
}

template <typename Get>
std::vector<double> Values(const RunStatus& status, const Get& get) {
  std::vector<double> values;
  for (const watch::RunPoint& point : status.history.points()) {
    values.push_back(get(point).value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return values;
}

}  // namespace

std::string Sparkline(const std::vector<double>& values, int columns) {
  if (values.empty() || columns <= 0) return "";
  // Each column is the mean of its share of the values.
  const auto count = std::min<size_t>(values.size(), static_cast<size_t>(columns));
  std::vector<double> means;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = i * values.size() / count, end = (i + 1) * values.size() / count;
    double sum = 0;
    size_t known = 0;
    for (size_t k = begin; k < end; ++k) {
      if (!std::isfinite(values[k])) continue;
      sum += values[k];
      ++known;
    }
    means.push_back(known > 0 ? sum / static_cast<double>(known)
                              : std::numeric_limits<double>::quiet_NaN());
  }
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double mean : means) {
    if (std::isfinite(mean)) low = std::min(low, mean), high = std::max(high, mean);
  }
  std::string line;
  for (const double mean : means) {
    if (!std::isfinite(mean)) {
      line += ' ';
    } else if (high <= low) {
      line += kBlocks[3];
    } else {
      line += kBlocks[std::clamp(static_cast<int>((mean - low) / (high - low) * 8), 0, 7)];
    }
  }
  return line;
}

std::vector<std::string> TopLines(const RunStatus& status, const TerminalSize& size, bool colour) {
  const Painter paint(colour);
  const int width = std::max(size.columns, kNarrowest);
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) { lines.push_back(CutTo(line, width)); };

  // --- the run ---
  const bool bad = status.state == "failed" || status.state == "ended";
  const std::string state = Sign(status.state) + " " + status.state;
  std::string what =
      paint.Bold(Plain(status.name)) + "  " + (bad ? paint.Bad(state) : paint.Good(state));
  if (status.state == "ended") what += "  nobody wrote how: it was killed, or lost its disk";
  if (!status.device.empty()) what += "  " + Plain(status.device);
  if (status.pid > 0 && status.alive()) what += fmt::format("  process {}", status.pid);
  add(what);
  if (!status.error.empty()) add(paint.Bad(Plain(status.error)));

  // --- where it is ---
  if (const auto done = status.progress()) {
    std::string right = fmt::format(" {:5.1f} %  step {}", 100 * *done, HumanCount(status.step));
    if (const auto all = status.steps_in_all()) right += " of " + HumanCount(*all);
    if (status.eta_seconds) right += ", " + HumanDuration(*status.eta_seconds) + " left";
    add(BarOf(*done, std::max(10, width - Columns(right) - 1)) + right);
  } else {
    add(fmt::format("step {}", HumanCount(status.step)));
  }
  std::string figures =
      status.epoch > 0
          ? fmt::format("epoch {} of {}",
                        std::min(status.epoch, std::max<int64_t>(status.epochs, 1)), status.epochs)
          : "";
  const auto figure = [&](const std::string& text) {
    figures += (figures.empty() ? "" : "   ") + text;
  };
  const std::optional<double> speed =
      status.alive() ? status.samples_per_second : status.run_samples_per_second;
  if (speed) figure(HumanCount(std::llround(*speed)) + " samples/s");
  const std::optional<double> full = status.alive() ? status.full : status.run_full;
  // The verdict's own figure; of a run at work that of its last interval, and it is said so.
  figure(full ? "full " + watch::Percent(*full) + (status.alive() ? " of late" : "") : "full n/a");
  if (status.mfu) figure("MFU " + watch::Percent(*status.mfu));
  if (status.resident_bytes) figure("memory " + HumanBytes(std::llround(*status.resident_bytes)));
  if (const auto cost = status.cost(); cost && status.ledger_known) {
    figure("cost " + watch::Money(cost->total, cost->currency));
  }
  add(figures);

  // --- curves ---
  const int name_width = 22, value_width = 12;
  const int spark = std::max(10, width - name_width - value_width - 2);
  const auto curve = [&](const std::string& name, const std::vector<double>& values,
                         const std::string& last) {
    if (values.empty()) return;
    add(PadTo(CutTo(Plain(name), name_width - 1), name_width) +
        PadTo(CutTo(last, value_width - 1), value_width) + Sparkline(values, spark));
  };
  curve("loss", Values(status, [](const auto& p) { return p.loss; }),
        status.loss ? web::ShortNumber(*status.loss) : "");
  size_t shown = 0;
  for (const auto& [name, value] : status.metrics) {
    if (++shown > 3) break;
    const std::string& key = name;
    curve(name,
          Values(status,
                 [&](const watch::RunPoint& p) {
                   const auto found = p.metrics.find(key);
                   return found == p.metrics.end() ? std::optional<double>()
                                                   : std::optional(found->second);
                 }),
          web::ShortNumber(value));
  }
  for (const auto& [name, value] : status.last_epoch) {
    if (!name.starts_with("val_") || shown > 6) continue;
    ++shown;
    std::vector<double> values;
    for (const watch::RunEpoch& epoch : status.epoch_history) {
      const auto found = epoch.logs.find(name);
      values.push_back(found == epoch.logs.end() ? std::numeric_limits<double>::quiet_NaN()
                                                 : found->second);
    }
    curve(name, values, web::ShortNumber(value));
  }
  curve("samples/s", Values(status, [](const auto& p) { return p.samples_per_second; }),
        speed ? web::ShortCount(*speed) : "");

  // --- where the time went ---
  if (status.ledger_known && status.ledger.sum() > 0) {
    add("");
    add(paint.Bold("time by cause") + "  " + HumanDuration(status.ledger.wall) + " in all");
    const auto cost = status.cost();
    for (int i = 0; i < watch::kNumCauses; ++i) {
      const double share = status.ledger.seconds[i] / status.ledger.sum();
      if (share < 0.0005) continue;
      const std::string name(Name(static_cast<Cause>(i)));
      std::string right =
          fmt::format(" {:5.1f} %  {}", 100 * share, HumanDuration(status.ledger.seconds[i]));
      if (cost) right += "  " + watch::Money(cost->by_cause[i], cost->currency);
      if (status.limit && *status.limit == name) right += paint.Bad("  ◀ limit");
      add(PadTo("  " + name, 17) + BarOf(share, std::clamp(width - 60, 8, 40)) + right);
    }
  }

  // --- input ---
  if (status.input_known && !status.input.stages.empty()) {
    add("");
    std::string head = paint.Bold("input") + fmt::format("  {} thread{}", status.input.workers,
                                                         status.input.workers == 1 ? "" : "s");
    if (status.input.queue_fill) {
      head += fmt::format(", queue {:.0f} % full", 100 * *status.input.queue_fill);
    }
    add(head);
    double all = 0;
    for (const watch::InputStage& stage : status.input.stages) all += stage.seconds;
    for (const watch::InputStage& stage : status.input.stages) {
      const double share = all > 0 ? stage.seconds / all : 0;
      if (share < 0.005) continue;
      add(PadTo("  " + CutTo(Plain(stage.name), 14), 17) +
          BarOf(share, std::clamp(width - 60, 8, 40)) + fmt::format(" {:5.1f} %", 100 * share));
    }
  }

  // --- the rest ---
  if (status.checkpoints.last_step) {
    add("");
    add(fmt::format("checkpoint of step {}{}", HumanCount(*status.checkpoints.last_step),
                    status.checkpoints.failed > 0
                        ? fmt::format(", {} failed", status.checkpoints.failed)
                        : ""));
  }
  if (!status.verdict.empty()) {
    add("");
    add(paint.Bold("Is the device running full?"));
    std::vector<std::string> verdict = status.verdict;
    for (const watch::Advised& one : status.advised)
      verdict.push_back("advised: " + one.ToString());
    if (const auto cost = status.cost(); cost && status.ledger_known) {
      verdict.push_back("cost: " + watch::DescribeCost(*cost));
    }
    for (const std::string& line : verdict) {
      for (const std::string& part : Wrapped("  " + Plain(line), width)) add(part);
    }
  }
  for (const std::string& note : status.notes) add(paint.Dim(Plain(note)));

  // --- log, in what is left ---
  size_t room = kShownLog;
  if (size.rows > 0) {
    const size_t used = lines.size() + 2;
    const auto rows = static_cast<size_t>(size.rows);
    room = rows > used + 1 ? std::min(kShownLog * 3, rows - used - 1) : 0;
  }
  if (!status.log.empty() && room > 0) {
    add("");
    const size_t count = std::min(room, status.log.size());
    for (size_t i = status.log.size() - count; i < status.log.size(); ++i) {
      add(paint.Dim(Plain(status.log[i])));
    }
  }
  if (size.rows > 1 && lines.size() >= static_cast<size_t>(size.rows)) {
    lines.resize(static_cast<size_t>(size.rows) - 1);
  }
  return lines;
}

}  // namespace flatout::cli
