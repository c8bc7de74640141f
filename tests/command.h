// The flatout command as tests run it: a process in a folder, what it prints, how it ends. Programs
// that use this are given FLATOUT_BINARY (tests/CMakeLists.txt).
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace flatout::testing {

inline std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// How a process ended, and what it had printed.
struct Outcome {
  int exit_code = -1;  // -signal when a signal ended it
  std::string out, err;
  nlohmann::json Json() const { return nlohmann::json::parse(out); }
};

// `flatout ARGUMENTS` in a folder, with `environment` ("NAME=value") besides the test's own. What
// it prints is kept in memory, so that no file of it lies anywhere.
class Process {
 public:
  Process(const std::filesystem::path& folder, std::vector<std::string> arguments,
          std::vector<std::string> environment = {}) {
    arguments.insert(arguments.begin(), FLATOUT_BINARY);
    std::vector<char*> argv, envp;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    // Of two values of one name the first is found.
    for (std::string& value : environment) envp.push_back(value.data());
    for (char** value = environ; *value != nullptr; ++value) envp.push_back(*value);
    envp.push_back(nullptr);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ > 0) {
      close(null);
      return;
    }
    // The child: only what is safe between fork and exec.
    if (chdir(folder.c_str()) != 0 || dup2(null, 0) < 0 || dup2(out_.file, 1) < 0 ||
        dup2(err_.file, 2) < 0) {
      _exit(126);
    }
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  ~Process() {
    if (!ended_) End(SIGKILL);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const { kill(pid_, signal); }
  // What it has printed so far.
  std::string out() const { return out_.Read(); }
  std::string err() const { return err_.Read(); }
  // Until standard output holds `text`; false when the process ended before.
  bool WaitFor(const std::string& text) {
    while (out().find(text) == std::string::npos) {
      if (HasEnded()) return out().find(text) != std::string::npos;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }
  // Waits for its end.
  Outcome Wait() {
    while (!ended_) {
      if (waitpid(pid_, &status_, 0) == pid_) ended_ = true;
    }
    return {WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_), out(), err()};
  }
  Outcome End(int signal) {
    Signal(signal);
    return Wait();
  }

 private:
  // A file in memory.
  struct Memory {
    Memory() : file(memfd_create("output", MFD_CLOEXEC)) {
      if (file < 0) throw std::runtime_error("memfd_create failed");
    }
    ~Memory() { close(file); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    std::string Read() const {
      std::string text;
      std::array<char, 1 << 14> part;
      for (;;) {
        const ssize_t got = pread(file, part.data(), part.size(), static_cast<off_t>(text.size()));
        if (got <= 0) return text;
        text.append(part.data(), static_cast<size_t>(got));
      }
    }
    int file;
  };

  bool HasEnded() {
    if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
    return ended_;
  }

  Memory out_, err_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

inline Outcome RunFlatout(const std::filesystem::path& folder, std::vector<std::string> arguments,
                          std::vector<std::string> environment = {}) {
  return Process(folder, std::move(arguments), std::move(environment)).Wait();
}

}  // namespace flatout::testing
