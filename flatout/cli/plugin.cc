// flatout plugin: which plugins there are, and installing the one for GPUs.
#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"
#include "flatout/cli/command.h"
#include "flatout/xla/cuda_driver.h"
#include "flatout/xla/pjrt.h"

extern char** environ;

namespace flatout::cli {

// deps/cuda13.txt and deps/cuda13_running.txt, written into a source file by CMake.
extern const std::string_view kCuda13Pins, kCuda13RunningPins;

namespace {
namespace fs = std::filesystem;

// Below the folder of dependencies; deps/cuda13.txt names it, too.
constexpr std::string_view kFolder = "xla_cuda13";
constexpr std::string_view kLibrary = "jax_plugins/xla_cuda13/xla_cuda_plugin.so";
// What NVIDIA's wheels must have put where the plugin's run path looks.
constexpr std::string_view kRunningLibraries[] = {"nvidia/cu13/lib/libcublas.so.13",
                                                  "nvidia/cudnn/lib/libcudnn.so.9",
                                                  "nvidia/nccl/lib/libnccl.so.2"};
// deps/install's mark of a complete folder: the hash of its wheel. The second one holds the hash of
// the list of libraries for running.
constexpr std::string_view kMark = ".flatout-wheel";
constexpr std::string_view kRunningMark = ".flatout-running";
// Room for downloads and what is unpacked, measured and rounded up.
constexpr int64_t kPlanningRoom = int64_t{1} << 30;
constexpr int64_t kRunningRoom = int64_t{8} << 30;

struct Options {
  std::string name;
  std::string wheels;
  bool for_running = false;
};

// The pins without their comments, as a pip requirements file.
std::string Requirements(std::string_view pins) {
  std::istringstream lines{std::string(pins)};
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (!line.empty()) result += line + "\n";
  }
  return result;
}

// "jax-cuda13-pjrt==0.12.0.1" of each line.
std::vector<std::string> Names(const std::string& requirements) {
  std::istringstream lines(requirements);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);)
    names.push_back(line.substr(0, line.find(' ')));
  return names;
}

// The hash of the one wheel that planning needs.
std::string PlanningHash() {
  const std::string line = Requirements(kCuda13Pins);
  const size_t at = line.find("sha256:") + 7;
  return line.substr(at, 64);
}

std::string FirstWord(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  std::istringstream text(ReadFile(path));
  std::string word;
  text >> word;
  return word;
}

struct Installed {
  bool planning = false, running = false;
};
Installed LookAt(const fs::path& folder) {
  Installed found;
  std::error_code error;
  found.planning =
      FirstWord(folder / kMark) == PlanningHash() && fs::is_regular_file(folder / kLibrary, error);
  found.running =
      found.planning && FirstWord(folder / kRunningMark) == Sha256Hex(kCuda13RunningPins);
  return found;
}

// $FLATOUT_DEPS, else the first of the searched folders that is there, else ../lib/flatout beside
// the command.
std::string InstallFolder() {
  const std::vector<std::string> folders = xla::PluginFolders();
  std::error_code error;
  if (const char* set = std::getenv("FLATOUT_DEPS"); set != nullptr && *set != '\0') return set;
  for (const std::string& folder : folders) {
    if (fs::is_directory(folder, error)) return folder;
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / "../lib/flatout").lexically_normal().string();
}

// Held while a folder of dependencies is changed, by deps/install as well.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder) {
    const std::string path = folder + "/.lock";
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) throw UserError(Code::kPermissionDenied, SystemMessage("write", path, errno));
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      std::printf("another installation is at work in %s; waiting for it\n", folder.c_str());
      std::fflush(stdout);
      while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
      }
    }
  }
  ~FolderLock() { close(file_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

// A folder that is removed again unless it was put into place.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) {
    fs::remove_all(path_);  // of a run that was killed; the lock says that nobody uses it
    MakeDirs(path_.string());
  }
  ~Unfinished() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Runs a program with what it says on standard error; its exit status, or -1 when there is none of
// that name.
int RunChild(const std::vector<std::string>& command, const std::string& temporary) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // Everything lands in the one folder that is removed if something fails.
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with("TMPDIR=")) continue;
    environment.emplace_back(*entry);
  }
  environment.push_back("TMPDIR=" + temporary);
  std::vector<char*> variables;
  for (std::string& entry : environment) variables.push_back(entry.data());
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, words[0], &actions, nullptr, words.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void CheckRoom(const std::string& folder, int64_t needed) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error || static_cast<int64_t>(space.available) >= needed) return;
  throw UserError(
      Code::kFailedPrecondition,
      fmt::format("the disk of {} has {} free; {} are needed while installing; free some space, or "
                  "set FLATOUT_DEPS to a folder on another disk",
                  folder, HumanBytes(static_cast<int64_t>(space.available)), HumanBytes(needed)));
}

// Fetches and unpacks the pinned wheels into `target`; pip checks every hash.
void Fetch(const std::string& requirements, const fs::path& target, const std::string& wheels,
           const std::string& again) {
  const fs::path list = target / "requirements.txt";
  AtomicWriteFile(list.string(), requirements);
  const fs::path temporary = target / "tmp";
  MakeDirs(temporary.string());
  std::vector<std::string> command = {"python3",
                                      "-m",
                                      "pip",
                                      "--disable-pip-version-check",
                                      "install",
                                      "--quiet",
                                      "--no-deps",
                                      "--no-compile",
                                      "--no-cache-dir",
                                      "--root-user-action=ignore",
                                      "--require-hashes",
                                      "--only-binary=:all:",
                                      "--target",
                                      (target / "unpacked").string(),
                                      "--requirement",
                                      list.string()};
  if (!wheels.empty()) {
    for (const char* word : {"--no-index", "--find-links"}) command.emplace_back(word);
    command.push_back(wheels);
  }
  const int status = RunChild(command, temporary.string());
  if (status == 0) return;
  if (status < 0 || status == 127) {
    throw UserError(Code::kFailedPrecondition,
                    "installing a plugin takes python3 with pip, and there is no python3; install "
                    "it (Debian: apt-get install python3-pip), nothing else of Flatout needs it");
  }
  std::string names;
  for (const std::string& name : Names(requirements)) names += " " + name;
  if (!wheels.empty()) {
    throw UserError(
        Code::kUnavailable,
        fmt::format("pip could not install from {} (its message is above, exit status {}); the "
                    "folder must hold these wheels, unchanged:{}",
                    wheels, status, names));
  }
  throw UserError(
      Code::kUnavailable,
      fmt::format(
          "pip could not fetch the plugin (its message is above, exit status {}); nothing was "
          "changed. Check the network, the proxy and pip's settings (python3 -m pip config list), "
          "then run again. Or fetch the wheels on a machine with network,\n"
          "  python3 -m pip download --no-deps --only-binary=:all: --dest wheels{}\n"
          "copy the folder here and run\n  {} --wheels wheels",
          status, names, again));
}

// Puts `from` at `to`, which may exist, so that at every instant a complete folder is there.
void Swap(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::exists(to, error)) {
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return;
    fs::remove_all(to);  // a file system that cannot exchange
  }
  if (rename(from.c_str(), to.c_str()) != 0) {
    throw UserError(Code::kFailedPrecondition, SystemMessage("rename", from.string(), errno));
  }
}

void PrintState(const fs::path& folder, const xla::Plugin& plugin, bool running) {
  std::string cuda;
  if (const auto found = plugin.attributes().find("cuda_version");
      found != plugin.attributes().end()) {
    cuda = ", CUDA " + xla::CudaVersionToString(std::atoi(found->second.c_str()));
  }
  std::printf("plugin cuda: PJRT %s%s, loads in %.2f s\n  %s\n",
              plugin.version().ToString().c_str(), cuda.c_str(), plugin.load_seconds(),
              (folder / kLibrary).c_str());
  std::printf("  for planning (flatout plan) on any machine: ready\n");
  if (running) {
    std::printf("  for running on a GPU: NVIDIA's libraries are beside it; %s\n",
                xla::HasNvidiaDriver() ? "a driver is here, see flatout devices"
                                       : "this machine has no NVIDIA driver");
  } else {
    std::printf(
        "  for running on a GPU it also needs NVIDIA's libraries (3 GB):\n"
        "    flatout plugin install cuda13 --for-running\n");
  }
}

int Install(const Options& options) {
  if (options.name != "cuda13") {
    throw NotFound("there is no plugin \"{}\" to install{}; known is cuda13 (XLA for NVIDIA GPUs)",
                   options.name, DidYouMean(options.name, {"cuda13"}));
  }
  std::error_code error;
  if (!options.wheels.empty() && !fs::is_directory(options.wheels, error)) {
    throw NotFound("--wheels {}: there is no such folder", options.wheels);
  }
  const std::string deps = InstallFolder();
  MakeDirs(deps);
  const fs::path folder = fs::path(deps) / kFolder;
  const FolderLock lock(deps);
  const Installed before = LookAt(folder);
  if (before.planning && (before.running || !options.for_running)) {
    const auto plugin = xla::Plugin::Load((folder / kLibrary).string());
    std::printf("installed already\n");
    PrintState(folder, *plugin, before.running);
    return kExitDone;
  }

  std::string requirements = Requirements(kCuda13Pins);
  if (options.for_running) requirements += Requirements(kCuda13RunningPins);
  CheckRoom(deps, options.for_running ? kRunningRoom : kPlanningRoom);
  const Unfinished unfinished(fs::path(deps) / ".unfinished-cuda13");
  std::printf("fetching %zu wheel%s%s\n", Names(requirements).size(),
              Names(requirements).size() == 1 ? "" : "s",
              options.for_running ? " (about 2 GB)" : " (135 MB)");
  std::fflush(stdout);
  Fetch(requirements, unfinished.path(), options.wheels,
        options.for_running ? "flatout plugin install cuda13 --for-running"
                            : "flatout plugin install cuda13");
  const fs::path unpacked = unfinished.path() / "unpacked";
  std::vector<std::string> expected = {std::string(kLibrary)};
  if (options.for_running) {
    expected.insert(expected.end(), std::begin(kRunningLibraries), std::end(kRunningLibraries));
  }
  for (const std::string& file : expected) {
    if (!fs::is_regular_file(unpacked / file, error)) {
      throw Internal("the pinned wheels have no {}", file);
    }
  }
  // Loaded before it gets its place: what does not load is not left behind.
  const auto plugin = xla::Plugin::Load((unpacked / kLibrary).string());
  AtomicWriteFile((unpacked / kMark).string(), PlanningHash() + "\n");
  if (options.for_running) {
    AtomicWriteFile((unpacked / kRunningMark).string(), Sha256Hex(kCuda13RunningPins) + "\n");
  }
  Swap(unpacked, folder);
  std::printf("installed into %s, hashes checked\n", folder.c_str());
  PrintState(folder, *plugin, options.for_running);
  return kExitDone;
}

int List() {
  for (const xla::PluginInfo& info : xla::FindPlugins()) {
    if (info.path.empty()) {
      std::printf("%-10s not installed: %s\n", info.name.c_str(), info.why_not.c_str());
      continue;
    }
    std::string note;
    if (info.path.ends_with(kLibrary)) {
      const fs::path folder = info.path.substr(0, info.path.size() - kLibrary.size());
      note = LookAt(folder).running ? " (planning and running)" : " (planning)";
    }
    std::printf("%-10s %s%s\n", info.name.c_str(), info.path.c_str(), note.c_str());
  }
  std::printf("flatout doctor tries each of them.\n");
  return kExitDone;
}

}  // namespace

void AddPlugin(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand("plugin", "List and install plugins for devices");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "List the plugins of this machine");
  list->callback([run] { *run = List; });
  CLI::App* install = command->add_subcommand(
      "install", "Fetch the pinned plugin for NVIDIA GPUs, check and unpack it");
  auto options = std::make_shared<Options>();
  install->add_option("name", options->name, "cuda13")->required();
  install->add_flag("--for-running", options->for_running,
                    "Also NVIDIA's libraries, for training on a GPU (planning needs none)");
  install->add_option("--wheels", options->wheels,
                      "Take the wheels from this folder, without network");
  install->callback([options, run] { *run = [options] { return Install(*options); }; });
}

}  // namespace flatout::cli
