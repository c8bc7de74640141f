#include "flatout/web/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "flatout/base/text.h"

namespace flatout::web {
namespace {

using watch::Cause;
using watch::kNumCauses;
using watch::LedgerReport;
using watch::RunPoint;

// Of a chart, in the units of its view box. On a phone it is shown at two thirds of that, so text
// is not small here.
constexpr double kWidth = 560, kHeight = 250;
constexpr double kLeft = 62, kRight = 14, kTop = 10, kBottom = 42;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
// Values that span more than this are shown on a logarithmic axis, where that is allowed.
constexpr double kWideRange = 30;
// Intervals that a stacked chart shows at most; more are joined.
constexpr size_t kMostIntervals = 150;

constexpr int kMostTicks = 20;

constexpr int kStyles = 8;
constexpr const char* kDashes[kStyles] = {"", "7 4", "2 3", "10 3 2 3",
                                          "", "7 4", "2 3", "10 3 2 3"};

// Stacked from the bottom: what one pays for first.
constexpr Cause kOrder[kNumCauses] = {Cause::kCompute,       Cause::kInput,      Cause::kCopy,
                                      Cause::kCommunication, Cause::kCheckpoint, Cause::kHost,
                                      Cause::kEvaluation,    Cause::kCompile,    Cause::kStart};

// Coordinates to a tenth: enough for the eye, and short.
std::string At(double value) { return fmt::format("{:.1f}", value); }

// The marker of a style around a point: circle, square, triangle, diamond.
std::string Marker(int style, double x, double y, double size = 3.2) {
  const std::string name = fmt::format("class=\"m s{}\"", style % kStyles);
  switch (style % 4) {
    case 0:
      return fmt::format("<circle {} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", name, x, y, size);
    case 1:
      return fmt::format("<rect {} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                         name, x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
    case 2:
      return fmt::format("<path {} d=\"M{:.1f} {:.1f}l{:.1f} {:.1f}h{:.1f}z\"/>", name, x,
                         y - size * 1.2, size * 1.2, size * 2.1, -size * 2.4);
    default:
      return fmt::format(
          "<path {} d=\"M{:.1f} {:.1f}l{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}z\"/>", name, x,
          y - size * 1.3, size * 1.3, size * 1.3, -size * 1.3, size * 1.3, -size * 1.3,
          -size * 1.3);
  }
}

// 1, 2 or 5 times a power of ten, so that about `count` of them fit.
double NiceStep(double span, int count) {
  const double raw = span / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<double> ticks;

  // In [0, 1] for what lies inside.
  double Place(double value) const {
    if (logarithmic) return std::log(value / low) / std::log(high / low);
    return (value - low) / (high - low);
  }
};

// What is larger has no room on an axis: the span of two such would be infinite.
bool Drawable(double value) { return std::abs(value) <= 1e300; }

Axis LinearAxis(double low, double high, int count) {
  // Spans that are next to nothing have no steps that a double could hold.
  const double size = std::max(std::abs(low), std::abs(high));
  if (!(high - low > std::max(1e-300, 1e-12 * size))) {
    const double room = std::max(std::abs(high) * 0.1, 1e-6);
    low -= low == 0 ? 0 : room;
    high += room;
  }
  const double step = NiceStep(high - low, count);
  Axis axis;
  axis.low = low;
  axis.high = high;
  // Not by adding up: a step may be less than what a double of that size can tell apart.
  const double first = std::ceil(low / step - 1e-9) * step;
  for (int i = 0; first + i * step <= high + step * 1e-9 && i < kMostTicks; ++i) {
    const double tick = first + i * step;
    axis.ticks.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return axis;
}

// Rounded outwards to its ticks, so that the uppermost line has a name.
Axis ValueAxis(double low, double high, bool from_zero, bool may_be_log) {
  Axis axis;
  if (may_be_log && low > 0 && high / low > kWideRange) {
    axis.logarithmic = true;
    axis.low = low / 1.1;
    axis.high = high * 1.1;
    const double decades = std::log10(axis.high / axis.low);
    const int first = static_cast<int>(std::floor(std::log10(axis.low)));
    const int last = static_cast<int>(std::ceil(std::log10(axis.high)));
    const int stride = std::max(1, static_cast<int>(decades / 5));
    for (int power = first; power <= last; power += stride) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double tick = factor * std::pow(10, power);
        if ((factor == 1 || decades < 2.5) && tick >= axis.low && tick <= axis.high) {
          axis.ticks.push_back(tick);
        }
      }
    }
    return axis;
  }
  if (from_zero) low = std::min(low, 0.0);
  axis = LinearAxis(low, high, 4);
  const double step = NiceStep(axis.high - axis.low, 4);
  axis.low = std::floor(axis.low / step + 1e-9) * step;
  axis.high = std::ceil(axis.high / step - 1e-9) * step;
  axis.ticks.clear();
  for (int i = 0; axis.low + i * step <= axis.high + step / 2 && i < kMostTicks; ++i) {
    const double tick = axis.low + i * step;
    axis.ticks.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return axis;
}

double X(const Axis& axis, double value) { return kLeft + axis.Place(value) * kPlotWidth; }
double Y(const Axis& axis, double value) { return kTop + (1 - axis.Place(value)) * kPlotHeight; }

std::string OpenSvg(const std::string& label) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">", kWidth,
                     kHeight, Escape(label));
}

std::string Grid(const Axis& x, const std::function<std::string(double)>& x_text,
                 const std::string& x_label, const Axis& y,
                 const std::function<std::string(double)>& y_text) {
  std::string svg = "<g class=\"grid\">";
  for (const double tick : y.ticks) {
    const double at = Y(y, tick);
    if (at < kTop - 0.5 || at > kTop + kPlotHeight + 0.5) continue;
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1:.1f}h{2:.1f}\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>",
        kLeft, at, kPlotWidth, kLeft - 7, at + 4.5, Escape(y_text(tick)));
  }
  for (const double tick : x.ticks) {
    const double at = X(x, tick);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", at,
                       kTop + kPlotHeight + 18, Escape(x_text(tick)));
  }
  svg += fmt::format(
      "<path class=\"axis\" d=\"M{:.1f} {:.1f}h{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"middle\">{}</text></g>",
      kLeft, kTop + kPlotHeight, kPlotWidth, kLeft + kPlotWidth / 2, kHeight - 5, Escape(x_label));
  return svg;
}

std::string NoData(const std::string& title) {
  return fmt::format("<p class=\"nothing\">{}: nothing yet</p>", Escape(title));
}

// "1.5 h" and the like, in one unit for a whole axis.
struct TimeUnit {
  double seconds;
  const char* name;
};
TimeUnit UnitFor(double span) {
  if (span > 3 * 86400) return {86400, "days"};
  if (span > 3 * 3600) return {3600, "hours"};
  if (span > 180) return {60, "minutes"};
  return {1, "seconds"};
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  constexpr const char* kReplacement = "\xEF\xBF\xBD";
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      ++i;
      switch (c) {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '"':
          out += "&quot;";
          break;
        case '\'':
          out += "&#39;";
          break;
        case '\n':
        case '\t':
          out += static_cast<char>(c);
          break;
        default:
          if (c < 0x20 || c == 0x7f) {
            out += kReplacement;
          } else {
            out += static_cast<char>(c);
          }
      }
      continue;
    }
    // RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
    size_t length = 0;
    unsigned char low = 0x80, high = 0xBF;
    if (c >= 0xC2 && c <= 0xDF) length = 2;
    if (c >= 0xE0 && c <= 0xEF) length = 3;
    if (c >= 0xF0 && c <= 0xF4) length = 4;
    if (c == 0xE0) low = 0xA0;
    if (c == 0xED) high = 0x9F;
    if (c == 0xF0) low = 0x90;
    if (c == 0xF4) high = 0x8F;
    bool good = length > 0 && i + length <= text.size();
    for (size_t k = 1; good && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      good = k == 1 ? next >= low && next <= high : next >= 0x80 && next <= 0xBF;
    }
    // U+FFFE and U+FFFF are no characters of XML.
    if (good && length == 3 && text.substr(i, 2) == "\xEF\xBF" &&
        static_cast<unsigned char>(text[i + 2]) >= 0xBE) {
      good = false;
      i += 2;
    }
    if (good) {
      out += text.substr(i, length);
      i += length;
    } else {
      out += kReplacement;
      ++i;
    }
  }
  return out;
}

std::string ShortNumber(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "∞" : "-∞";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e6 || size < 1e-3) return fmt::format("{:.3g}", value);
  return fmt::format("{:.4g}", value);
}

std::string ShortCount(double value) {
  if (!std::isfinite(value)) return ShortNumber(value);
  const double size = std::abs(value);
  if (size >= 1e12) return fmt::format("{:.3g}", value);
  if (size >= 1e9) return fmt::format("{:.3g}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.3g}k", value / 1e3);
  if (size >= 100 || value == std::floor(value)) return HumanCount(std::llround(value));
  return fmt::format("{:.3g}", value);
}

std::string Draw(const LineChart& chart) {
  double x_low = std::numeric_limits<double>::infinity(), x_high = -x_low;
  double y_low = x_low, y_high = -x_low;
  for (const Line& line : chart.lines) {
    for (const auto& [x, y] : line.points) {
      if (!Drawable(x) || !Drawable(y)) continue;
      x_low = std::min(x_low, x), x_high = std::max(x_high, x);
      y_low = std::min(y_low, y), y_high = std::max(y_high, y);
    }
  }
  std::string html = "<figure><figcaption>" + Escape(chart.title) + "</figcaption>";
  if (!std::isfinite(x_low)) return html + NoData(chart.title) + "</figure>";
  const Axis x = LinearAxis(x_low, x_high, 5);
  if (chart.from_zero) y_high = std::max(y_high, chart.least_top);
  const Axis y = ValueAxis(y_low, y_high, chart.from_zero, chart.may_be_log);
  std::string legend = "<ul class=\"legend\">", svg, label = chart.title;
  for (const Line& line : chart.lines) {
    std::string path, markers, last;
    bool open = false;
    for (const auto& [px, py] : line.points) {
      if (!Drawable(px) || !Drawable(py) || (y.logarithmic && py <= 0)) {
        open = false;
        if (!std::isfinite(py)) last = ShortNumber(py);
        continue;
      }
      path += (open ? "L" : "M") + At(X(x, px)) + " " + At(Y(y, py));
      open = true;
      last = chart.y_text(py);
      if (line.marked || line.points.size() == 1) {
        markers += Marker(line.style, X(x, px), Y(y, py));
      }
    }
    if (path.empty()) continue;
    const int style = line.style % kStyles;
    // What is alone needs no telling apart.
    const std::string dash = kDashes[style][0] == 0 || chart.lines.size() == 1
                                 ? ""
                                 : fmt::format(" stroke-dasharray=\"{}\"", kDashes[style]);
    svg += fmt::format("<path class=\"line s{}{}\" d=\"{}\"{}><title>{}</title></path>{}", style,
                       line.thin ? " thin" : "", path, dash, Escape(line.name), markers);
    legend += fmt::format(
        "<li><svg class=\"swatch\" viewBox=\"0 0 28 12\"><path class=\"line s{}\" d=\"M1 6h26\"{}/>"
        "{}</svg>{} <b>{}</b></li>",
        style, dash, line.marked ? Marker(style, 14, 6) : "", Escape(line.name), Escape(last));
    label += fmt::format(", {} now {}", line.name, last);
  }
  html += legend + "</ul>" + OpenSvg(label) + Grid(x, ShortCount, chart.x_label, y, chart.y_text) +
          svg + "</svg>";
  if (y.logarithmic) html += "<p class=\"hint\">logarithmic scale</p>";
  return html + "</figure>";
}

std::string DrawCauses(const std::vector<RunPoint>& points) {
  const std::string title = "time by cause";
  std::string html = "<figure><figcaption>" + title + "</figcaption>";
  // The moments that the steps lie between; the first interval begins with the run.
  std::vector<std::pair<double, LedgerReport>> moments = {{0, LedgerReport()}};
  for (const RunPoint& point : points) {
    if (!point.ledger) continue;
    // The axis is the ledger's own time, so that it cannot jump.
    const double wall = point.ledger->sum();
    if (wall > moments.back().first) moments.emplace_back(wall, *point.ledger);
  }
  if (moments.size() < 2) return html + NoData(title) + "</figure>";
  const size_t stride = (moments.size() - 1 + kMostIntervals - 1) / kMostIntervals;
  if (stride > 1) {
    size_t kept = 0;
    for (size_t i = 0; i < moments.size(); ++i) {
      if (i % stride == 0 || i + 1 == moments.size()) moments[kept++] = moments[i];
    }
    moments.resize(kept);
  }
  const double end = moments.back().first;
  const TimeUnit unit = UnitFor(end);
  const Axis x = LinearAxis(0, end / unit.seconds, 5);
  const Axis y = LinearAxis(0, 1, 4);
  std::vector<double> floor(moments.size() - 1, 0);
  std::string svg;
  LedgerReport total = moments.back().second;
  for (const Cause cause : kOrder) {
    if (!(total.of(cause) > 0)) continue;
    std::string upper, lower;
    for (size_t i = 0; i + 1 < moments.size(); ++i) {
      const double span = moments[i + 1].first - moments[i].first;
      const double share = std::clamp(
          (moments[i + 1].second.of(cause) - moments[i].second.of(cause)) / span, 0.0, 1.0);
      const double left = X(x, moments[i].first / unit.seconds);
      const double right = X(x, moments[i + 1].first / unit.seconds);
      const double bottom = floor[i], top = std::min(1.0, bottom + share);
      floor[i] = top;
      upper += (upper.empty() ? "M" : "L") + At(left) + " " + At(Y(y, top)) + "H" + At(right);
      lower = "L" + At(right) + " " + At(Y(y, bottom)) + "H" + At(left) + lower;
    }
    svg += fmt::format(
        "<path class=\"area\" fill=\"url(#p-{0})\" d=\"{1}{2}z\"><title>{0}: {3:.1f} "
        "%</title></path>",
        Name(cause), upper, lower, 100 * total.of(cause) / end);
  }
  const auto percent = [](double value) { return fmt::format("{:.0f} %", 100 * value); };
  html += OpenSvg("share of the time by cause") + Grid(x, ShortCount, unit.name, y, percent) + svg +
          "</svg></figure>";
  return html;
}

std::string DrawCauseBar(const LedgerReport& ledger) {
  const double wall = ledger.sum();
  if (!(wall > 0)) return "";
  std::string svg =
      "<svg class=\"bar\" viewBox=\"0 0 1000 44\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"time of the whole run by cause\">";
  double at = 0;
  for (const Cause cause : kOrder) {
    const double width = 1000 * ledger.of(cause) / wall;
    if (width < 0.5) continue;
    svg += fmt::format(
        "<rect class=\"area\" x=\"{:.1f}\" y=\"0\" width=\"{:.1f}\" height=\"44\" "
        "fill=\"url(#p-{})\"><title>{}: {:.1f} %</title></rect>",
        at, width, Name(cause), Name(cause), width / 10);
    at += width;
  }
  return svg + "</svg>";
}

std::string DrawBars(const std::vector<Bar>& bars) {
  std::string html = "<div class=\"bars\">";
  for (const Bar& bar : bars) {
    html += fmt::format(
        "<div class=\"label\">{}</div><div class=\"track\"><div class=\"fill {}\" "
        "style=\"width:{:.1f}%\"></div></div><div class=\"value\">{}</div>",
        Escape(bar.label), bar.style, 100 * std::clamp(bar.share, 0.0, 1.0), Escape(bar.text));
  }
  return html + "</div>";
}

std::string Patterns() {
  // One ground colour for each cause, and marks on it: what the colours tell, the marks tell too.
  struct Pattern {
    Cause cause;
    int size;
    const char* marks;
  };
  const Pattern patterns[] = {
      {Cause::kCompute, 8, ""},
      {Cause::kInput, 8, "<path class=\"mark\" d=\"M-2 2l4-4M0 8l8-8M6 10l4-4\"/>"},
      {Cause::kCopy, 8,
       "<circle class=\"dot\" cx=\"2\" cy=\"2\" r=\"1.3\"/><circle class=\"dot\" "
       "cx=\"6\" cy=\"6\" r=\"1.3\"/>"},
      {Cause::kCommunication, 8, "<path class=\"mark\" d=\"M0 4h8M4 0v8\"/>"},
      {Cause::kCheckpoint, 8, "<path class=\"mark\" d=\"M-2 6l4 4M0 0l8 8M6 -2l4 4\"/>"},
      {Cause::kHost, 6, "<path class=\"mark\" d=\"M0 3h6\"/>"},
      {Cause::kEvaluation, 6, "<path class=\"mark\" d=\"M3 0v6\"/>"},
      {Cause::kCompile, 8, "<path class=\"mark\" d=\"M0 0l8 8M0 8l8-8\"/>"},
      {Cause::kStart, 10, "<circle class=\"dot\" cx=\"5\" cy=\"5\" r=\"1\"/>"},
  };
  std::string svg = "<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>";
  for (const Pattern& pattern : patterns) {
    svg += fmt::format(
        "<pattern id=\"p-{0}\" width=\"{1}\" height=\"{1}\" patternUnits=\"userSpaceOnUse\"><rect "
        "width=\"{1}\" height=\"{1}\" class=\"c-{0}\"/>{2}</pattern>",
        Name(pattern.cause), pattern.size, pattern.marks);
  }
  return svg + "</defs></svg>";
}

std::string CauseSwatch(Cause cause) {
  return fmt::format(
      "<svg class=\"swatch\" viewBox=\"0 0 24 12\"><rect class=\"area\" width=\"24\" "
      "height=\"12\" fill=\"url(#p-{})\"/></svg>",
      Name(cause));
}

}  // namespace flatout::web
