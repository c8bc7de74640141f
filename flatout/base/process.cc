#include "flatout/base/process.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <string>

#include "flatout/base/error.h"
#include "flatout/base/file.h"

namespace flatout {
namespace {

// A "VmRSS:    1234 kB" line of /proc/self/status, in bytes; -1 without one.
int64_t StatusBytes(const std::string& name) {
  std::string status;
  try {
    status = "\n" + ReadFile("/proc/self/status");
  } catch (const Error&) {
    return -1;
  }
  const size_t at = status.find("\n" + name + ":");
  if (at == std::string::npos) return -1;
  int64_t kib = 0;
  if (std::sscanf(status.c_str() + at + 1 + name.size() + 1, "%" SCNd64, &kib) != 1) return -1;
  return kib * 1024;
}

}  // namespace

int64_t ResidentBytes() { return StatusBytes("VmRSS"); }

int64_t PeakResidentBytes() {
  const int64_t peak = StatusBytes("VmHWM");
  if (peak >= 0) return peak;
  struct rusage usage {};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * 1024 : -1;
}

double ProcessCpuSeconds() {
  struct timespec time {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double SecondsSinceProcessStart() {
  std::string stat;
  try {
    stat = ReadFile("/proc/self/stat");
  } catch (const Error&) {
    return -1;
  }
  // The name in field 2 may hold spaces and brackets; field 3 starts after the last bracket. The
  // start time is field 22, in clock ticks since boot.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return -1;
  size_t at = name_end + 1;
  for (int field = 3; field < 22; ++field) {
    at = stat.find(' ', at + 1);
    if (at == std::string::npos) return -1;
  }
  uint64_t ticks = 0;
  if (std::sscanf(stat.c_str() + at, "%" SCNu64, &ticks) != 1) return -1;
  struct timespec now {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 -
         static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace flatout
