// A library that is loaded before all others (LD_PRELOAD) into a process under test, and makes its
// disk fail, or the process end, at a given call. What changes something below one folder counts:
// files opened for writing, writes, syncs, renames, folders made, names removed.
//
//   FLATOUT_FAULT_FOLDER   an absolute path without links; all else is left alone
//   FLATOUT_FAULT          "kill": SIGKILL (a write gets half of its bytes done first); "slow": 20
//   ms
//                          each; or the name of the error that the call returns: EIO, ENOSPC...
//   FLATOUT_FAULT_CALLS    which calls: some of "open write sync rename mkdir remove"; all of them
//   FLATOUT_FAULT_FROM     the first of those that is hit, counted from 1 (1)
//   FLATOUT_FAULT_COUNT    how many are (all from there on)
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Plan {
  std::string folder, what, calls;
  long from = 1, count = LONG_MAX;
  int error = 0;

  Plan() {
    const auto text = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value == nullptr ? "" : value);
    };
    folder = text("FLATOUT_FAULT_FOLDER");
    what = text("FLATOUT_FAULT");
    calls = text("FLATOUT_FAULT_CALLS");
    if (const std::string first = text("FLATOUT_FAULT_FROM"); !first.empty()) {
      from = std::atol(first.c_str());
    }
    if (const std::string most = text("FLATOUT_FAULT_COUNT"); !most.empty()) {
      count = std::atol(most.c_str());
    }
    const struct {
      const char* name;
      int error;
    } errors[] = {{"EIO", EIO},     {"ENOSPC", ENOSPC}, {"EROFS", EROFS},
                  {"EXDEV", EXDEV}, {"EACCES", EACCES}, {"EDQUOT", EDQUOT}};
    for (const auto& [name, number] : errors) {
      if (what == name) error = number;
    }
    if (!folder.empty() && what != "kill" && what != "slow" && error == 0) {
      std::fprintf(stderr, "disk_faults: FLATOUT_FAULT=%s\n", what.c_str());
      _exit(125);
    }
  }
  bool Concerns(const char* path) const {
    if (folder.empty() || path == nullptr) return false;
    std::string whole = path;
    if (whole[0] != '/') {
      char here[PATH_MAX];
      if (getcwd(here, sizeof(here)) == nullptr) return false;
      whole = std::string(here) + "/" + whole;
    }
    return whole.starts_with(folder) &&
           (whole.size() == folder.size() || whole[folder.size()] == '/');
  }
  bool Concerns(int file) const {
    if (folder.empty()) return false;
    char link[64], path[PATH_MAX];
    std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length < 0) return false;
    path[length] = 0;
    return Concerns(path);
  }
  // Whether this call is hit.
  bool Hits(const char* call) const {
    if (!calls.empty() && calls.find(call) == std::string::npos) return false;
    static std::atomic<long> counted{0};
    const long number = ++counted;
    return number >= from && number - from < count;
  }
};

const Plan& plan() {
  static const Plan the_plan;
  return the_plan;
}

// Whether the call is to fail, with errno set. `half` does half of it, where that is possible.
template <typename Half>
bool Fails(const char* call, Half half) {
  if (!plan().Hits(call)) return false;
  if (plan().what == "kill") {
    half();
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  if (plan().what == "slow") {
    usleep(20000);
    return false;
  }
  errno = plan().error;
  return true;
}
bool Fails(const char* call) {
  return Fails(call, [] {});
}

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int Open(const char* name, const char* path, int flags, mode_t mode) {
  const bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
  if (writes && plan().Concerns(path) && Fails("open")) return -1;
  return Real<int(const char*, int, ...)>(name)(path, flags, mode);
}

mode_t Mode(int flags, va_list list) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = Mode(flags, list);
  va_end(list);
  return Open("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = Mode(flags, list);
  va_end(list);
  return Open("open64", path, flags, mode);
}

ssize_t write(int file, const void* data, size_t size) {
  const auto real = Real<ssize_t(int, const void*, size_t)>("write");
  if (plan().Concerns(file) && Fails("write", [&] { (void)!real(file, data, size / 2); })) {
    return -1;
  }
  return real(file, data, size);
}

int fsync(int file) {
  if (plan().Concerns(file) && Fails("sync")) return -1;
  return Real<int(int)>("fsync")(file);
}

int rename(const char* from, const char* to) {
  if (plan().Concerns(to) && Fails("rename")) return -1;
  return Real<int(const char*, const char*)>("rename")(from, to);
}

int mkdir(const char* path, mode_t mode) {
  if (plan().Concerns(path) && Fails("mkdir")) return -1;
  return Real<int(const char*, mode_t)>("mkdir")(path, mode);
}

int unlink(const char* path) {
  if (plan().Concerns(path) && Fails("remove")) return -1;
  return Real<int(const char*)>("unlink")(path);
}

// What std::filesystem removes whole folders with; the path is below `folder`, or below an open
// one.
int unlinkat(int folder, const char* path, int flags) {
  const bool concerned =
      path[0] == '/' || folder == AT_FDCWD ? plan().Concerns(path) : plan().Concerns(folder);
  if (concerned && Fails("remove")) return -1;
  return Real<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}

int remove(const char* path) {
  if (plan().Concerns(path) && Fails("remove")) return -1;
  return Real<int(const char*)>("remove")(path);
}

int rmdir(const char* path) {
  if (plan().Concerns(path) && Fails("remove")) return -1;
  return Real<int(const char*)>("rmdir")(path);
}

}  // extern "C"
