// flatout/web: a run for those who look at it from outside: the live page, Prometheus's metrics,
// the report. It shows a watch::RunStatus and knows nothing of how one comes about.
//
// Charts are SVG inside HTML, made here so that the live page and the report show the same ones and
// neither needs anything from elsewhere. Colours are CSS variables (page.html), which have values
// for light and dark; they are those of Okabe and Ito, and whatever a colour tells a dash, a
// marker, a pattern or a label tells too. Everything is well-formed XML.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/watch/run_status.h"

namespace flatout::web {

// For text and attributes of HTML and SVG. Bytes that are no UTF-8 and control characters, which
// XML cannot hold, become U+FFFD.
std::string Escape(std::string_view text);

// "0.0123", "12.3", "1.2e-05": four figures.
std::string ShortNumber(double value);
// "1,234", "12.3k", "4.56M": for axes and tiles.
std::string ShortCount(double value);

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x rising; y that are not finite make gaps
  int style = 0;                                  // colour, dash and marker, 0 to 7
  bool marked = false;                            // each point has its marker
  bool thin = false;                              // something behind the others
};

struct LineChart {
  std::string title;    // "loss"
  std::string x_label;  // "step"
  std::vector<Line> lines;
  std::function<std::string(double)> y_text = ShortNumber;
  double least_top = 0;     // the y axis reaches at least to here, where it begins at 0
  bool from_zero = false;   // the y axis begins at 0
  bool may_be_log = false;  // where values span more than a factor of 30
};
// A figure with caption, legend (with the last values) and chart; a word instead of the chart while
// there are no points.
std::string Draw(const LineChart& chart);

// The share of each cause over time, stacked, one step between any two points that have a ledger.
std::string DrawCauses(const std::vector<watch::RunPoint>& points);
// The whole run in one bar, by cause.
std::string DrawCauseBar(const watch::LedgerReport& ledger);
// Bars with labels, one a line: shares in [0, 1] with a text behind each.
struct Bar {
  std::string label, text;
  double share = 0;
  std::string style = "plain";  // a CSS class
};
std::string DrawBars(const std::vector<Bar>& bars);
// The pattern fills that the charts refer to; once in a document.
std::string Patterns();
// The swatch of a cause in a legend or a table.
std::string CauseSwatch(watch::Cause cause);

}  // namespace flatout::web
