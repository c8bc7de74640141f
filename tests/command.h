// Running the flatout command from tests, and ending it in the middle. The program needs
// FLATOUT_BINARY and FLATOUT_DEPS_FOLDER (tests/CMakeLists.txt).
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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
};

// A folder for one test, with the cache of compiled programs in it, in which commands run.
class Workplace {
 public:
  Workplace() {
    std::string name = (std::filesystem::temp_directory_path() / "flatout-command-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = name;
    setenv("FLATOUT_CACHE", (folder_ / "cache").c_str(), 1);
    setenv("FLATOUT_DEPS", FLATOUT_DEPS_FOLDER, 0);
    std::filesystem::create_directories(folder_ / "work");
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  std::filesystem::path Path(const std::string& name) const { return folder_ / "work" / name; }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
  }

  // `flatout ARGUMENTS` under way.
  class Process {
   public:
    ~Process() {
      if (pid_ > 0) End(SIGKILL);
    }
    Process(Process&& other) noexcept
        : pid_(std::exchange(other.pid_, -1)), out_(other.out_), err_(other.err_) {}
    pid_t pid() const { return pid_; }
    void Signal(int signal) const { kill(pid_, signal); }
    // What it has printed so far.
    std::string out() const { return ReadAll(out_); }
    std::string err() const { return ReadAll(err_); }
    // Waits for its end.
    Outcome Wait() {
      int status = 0;
      while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
      }
      pid_ = -1;
      return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), out(), err()};
    }
    Outcome End(int signal) {
      Signal(signal);
      return Wait();
    }
    // Until `text` stands in what it printed to either side; false when it ended before.
    bool WaitForText(const std::string& text) {
      for (;;) {
        const bool ended =
            waitid(P_PID, pid_, &info_, WEXITED | WNOHANG | WNOWAIT) == 0 && info_.si_pid == pid_;
        if ((out() + err()).find(text) != std::string::npos) return true;
        if (ended) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }

   private:
    friend class Workplace;
    Process(pid_t pid, std::filesystem::path out, std::filesystem::path err)
        : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}
    pid_t pid_;
    siginfo_t info_{};
    std::filesystem::path out_, err_;
  };

  Process Start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), FLATOUT_BINARY);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string number = std::to_string(count_++);
    const std::filesystem::path out = folder_ / ("out" + number), err = folder_ / ("err" + number);
    const std::string work = (folder_ / "work").string();
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid == 0) {
      const int flags = O_WRONLY | O_CREAT | O_TRUNC;
      if (chdir(work.c_str()) != 0 || dup2(open(out.c_str(), flags, 0644), 1) < 0 ||
          dup2(open(err.c_str(), flags, 0644), 2) < 0) {
        _exit(126);
      }
      execv(argv[0], argv.data());
      _exit(127);
    }
    return {pid, out, err};
  }
  Outcome Run(std::vector<std::string> arguments) { return Start(std::move(arguments)).Wait(); }

 private:
  std::filesystem::path folder_;
  int count_ = 0;
};

}  // namespace flatout::testing
