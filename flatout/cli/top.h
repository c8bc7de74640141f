// A run as lines for a terminal.
#pragma once

#include <string>
#include <vector>

#include "flatout/watch/run_status.h"

namespace flatout::cli {

struct TerminalSize {
  int columns = 100, rows = 0;  // 0 rows: as many as there are lines
};

// No line is wider than the terminal; with too few rows the log gives way first. `colour`: with
// escape sequences for a terminal. What colours tell, words and shapes tell too.
std::vector<std::string> TopLines(const watch::RunStatus& status, const TerminalSize& size,
                                  bool colour);

// The last values of a curve as bars of eighths, "▁▂▅█"; gaps for what is not known.
std::string Sparkline(const std::vector<double>& values, int columns);

}  // namespace flatout::cli
