#include "flatout/cli/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <limits>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"

namespace flatout::cli {
namespace {

StopRequest stop;
// SteadySeconds() at the first signal.
std::atomic<double> first_signal{std::numeric_limits<double>::infinity()};
std::atomic<int> end_code{-1};  // once the run is over
static_assert(std::atomic<int>::is_always_lock_free);

void Write(const char* message) {
  // Nothing can be done about a failure here.
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, message, std::strlen(message));
}

const char* SignalName(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "SIGTERM";
  }
}

void Handle(int signal) {
  const double now = SteadySeconds();
  const int code = end_code.load();
  if (now < first_signal.load()) {
    first_signal.store(now);
  } else if (now - first_signal.load() < kEchoSeconds) {
    return;
  } else if (code < 0) {
    Write("\nflatout: stopped at once\n");
    _exit(128 + signal);
  }
  if (code >= 0) _exit(code);
  // A cloud's notice, which is followed by a signal when the machine shuts down.
  const bool known = stop.asked.load();
  stop.Ask(SignalName(signal));
  if (stop.nothing_to_lose.load()) {
    Write("\nflatout: stopped before the first step; nothing is lost\n");
    _exit(kExitPreempted);
  }
  if (known) return;
  Write("\nflatout: stopping after the steps under way and saving; once more stops at once\n");
}

}  // namespace

bool HangUpIsIgnored() {
  struct sigaction action {};
  return sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

StopRequest* StopOnSignals() {
  struct sigaction action {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  if (!HangUpIsIgnored()) sigaction(SIGHUP, &action, nullptr);
  return &stop;
}

void EndOnSignals(int exit_code) { end_code.store(exit_code); }

}  // namespace flatout::cli
