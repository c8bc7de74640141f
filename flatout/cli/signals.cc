#include "flatout/cli/signals.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>

namespace flatout::cli {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may only use lock-free atomics");

void Write(const char* message) {
  // Nothing can be done about a failure here.
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, message, std::strlen(message));
}

void Handle(int signal) {
  if (stop.exchange(true)) {
    Write("\nflatout: stopped at once\n");
    _exit(128 + signal);
  }
  Write("\nflatout: stopping after the steps under way and saving; once more stops at once\n");
}

}  // namespace

const std::atomic<bool>* StopFlag() {
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
