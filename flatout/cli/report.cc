// flatout report: runs as one HTML file. flatout top: a run in the terminal. Both read the run
// folder, of a run that is done, that was killed, or that is at work in another process.
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/cli/command.h"
#include "flatout/cli/top.h"
#include "flatout/watch/run_record.h"
#include "flatout/web/page.h"

namespace flatout::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
  std::string out;
};

int Report(const ReportOptions& options) {
  std::vector<watch::RunStatus> runs;
  for (const std::string& folder : options.runs) runs.push_back(watch::ReadRunFolder(folder));
  std::string path = options.out;
  if (path.empty()) path = runs.size() == 1 ? options.runs[0] + "/report.html" : "report.html";
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) path += "/report.html";
  // A run's weights are soon lost to a slip of the keyboard.
  if (FileExists(path) && !(IsRegularFile(path) && ReadRegularFile(path).starts_with("<!"))) {
    throw Invalid("{} is there already and is no report; choose another name (--out)", path);
  }
  const std::string html = web::Report(runs);
  AtomicWriteFile(path, html);
  std::printf("wrote %s (%s): open it in any browser\n",
              std::filesystem::path(path).lexically_normal().c_str(),
              HumanBytes(static_cast<int64_t>(html.size())).c_str());
  for (const watch::RunStatus& run : runs) {
    for (const std::string& note : run.notes) {
      LogWarning("{}: {}", run.folder, note);
    }
  }
  return kExitDone;
}

struct TopOptions {
  std::string run;
  double seconds = 2;
  bool once = false;
};

volatile std::sig_atomic_t interrupted = 0;

// The terminal as it was, whatever ends this.
class RawTerminal {
 public:
  RawTerminal() {
    std::signal(SIGINT, [](int) { interrupted = 1; });
    std::signal(SIGTERM, [](int) { interrupted = 1; });
    if (tcgetattr(STDIN_FILENO, &before_) == 0) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    std::fputs("\033[?1049h\033[?25l", stdout);  // a screen of its own, without cursor
  }
  ~RawTerminal() {
    std::fputs("\033[?25h\033[?1049l", stdout);
    std::fflush(stdout);
    if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  // Waits so long; true when it is time to go.
  bool Quit(double seconds) const {
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, static_cast<int>(seconds * 1000)) > 0) {
      char key = 0;
      if (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q' || key == 4) return true;
    }
    return interrupted != 0;
  }

 private:
  termios before_{};
  bool changed_ = false;
};

TerminalSize Size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    return {size.ws_col, size.ws_row};
  }
  return {};
}

void PrintAll(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

int Top(const TopOptions& options) {
  constexpr double kDay = 24 * 3600;
  if (!(options.seconds > 0 && options.seconds <= kDay)) {
    throw Invalid("--every must be a number of seconds above 0, and at most a day ({}), found {}",
                  kDay, options.seconds);
  }
  watch::RunStatus status = watch::ReadRunFolder(options.run);
  const bool screen = isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0;
  if (options.once || !screen || !status.alive()) {
    TerminalSize size = screen ? Size() : TerminalSize();
    size.rows = 0;  // all of it
    PrintAll(TopLines(status, size, screen));
    return kExitDone;
  }
  {
    const RawTerminal terminal;
    double pause = options.seconds;
    do {
      const TerminalSize size = Size();
      std::string text = "\033[H";
      for (const std::string& line : TopLines(status, size, true)) text += line + "\033[K\r\n";
      text += "\033[J";
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
      if (terminal.Quit(pause)) break;
      const Stopwatch reading;
      status = watch::ReadRunFolder(options.run);
      // A log of weeks takes its time to read; looking on is not to cost the run a core.
      pause = std::max(options.seconds, 20 * reading.Seconds());
    } while (status.alive());
  }
  TerminalSize size = Size();
  size.rows = 0;
  PrintAll(TopLines(status, size, true));  // how it was last stays to be read
  return kExitDone;
}

}  // namespace

void AddReport(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "report", "Write one HTML file about a run, or about several beside each other");
  auto options = std::make_shared<ReportOptions>();
  command
      ->add_option("run", options->runs,
                   "Run folders, such as runs/cnn; of runs that are done, killed or at work")
      ->required();
  command->add_option("-o,--out", options->out,
                      "Where to write (default: report.html in the run folder, in the current "
                      "folder for several runs)");
  command->callback([options, run] { *run = [options] { return Report(*options); }; });
}

void AddTop(CLI::App& app, Run* run) {
  CLI::App* command =
      app.add_subcommand("top", "Show a run in the terminal, as it goes or as it ended");
  auto options = std::make_shared<TopOptions>();
  command->add_option("run", options->run, "Run folder, such as runs/cnn")->required();
  command->add_option("--every", options->seconds, "Seconds between looks (default: 2)");
  command->add_flag("--once", options->once, "Print it once and end");
  command->footer("Ends with q, with Ctrl-C, and when the run does.");
  command->callback([options, run] { *run = [options] { return Top(*options); }; });
}

}  // namespace flatout::cli
