#include "flatout/cli/signals.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "flatout/base/error.h"

namespace flatout::cli {
namespace {

StopRequest stop;

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
  if (stop.asked.load()) {
    Write("\nflatout: stopped at once\n");
    _exit(128 + signal);
  }
  stop.Ask(SignalName(signal));
  if (stop.nothing_to_lose.load()) {
    Write("\nflatout: stopped before the first step; nothing is lost\n");
    _exit(kExitPreempted);
  }
  Write("\nflatout: stopping after the steps under way and saving; once more stops at once\n");
}

}  // namespace

StopRequest* StopOnSignals() {
  struct sigaction action {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);  // the terminal or connection went away
  return &stop;
}

}  // namespace flatout::cli
