// What this process may really use: cores and memory, from the control groups (v1 and v2) it runs
// in, its CPU affinity and the machine.
//
// A container with a quota of 4 cores on a machine of 192 sees 192 everywhere but in its control
// group; threads sized to the machine are then throttled (5 to 10 times slower). Limits nest: the
// group's own and those of all groups above it are read, and the tightest counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flatout {

struct CpuLimit {
  int usable = 1;                // threads worth starting; at least 1
  int host = 1;                  // cores of the machine
  int affinity = 1;              // cores this process may be scheduled on
  double quota = 0;              // cores' worth of CPU time; 0 where there is no quota
  std::string ToString() const;  // "cores usable: 4 (quota) of 12"
};

struct MemoryLimit {
  int64_t usable = -1;           // bytes: the tighter of the machine and the groups; -1 unknown
  int64_t host = -1;             // bytes of the machine; -1 unknown
  int64_t group = -1;            // bytes of the tightest group; -1 where there is no limit
  std::string ToString() const;  // "memory usable: 8.00 GiB (limit) of 64.0 GiB"
};

struct CgroupReading {
  CpuLimit cpu;
  MemoryLimit memory;
  // Files that could not be understood, with what they held; what they would limit counts as
  // unlimited.
  std::vector<std::string> warnings;
};

// Where to read; tests put other folders here. `root` stands before every path, so the tree below
// it looks like that of a machine: {root}/proc/self/cgroup, {root}/proc/self/mountinfo,
// {root}/proc/meminfo, {root}/sys/fs/cgroup/...
struct CgroupSource {
  std::string root;
  // For tests; asked from the system where absent.
  std::optional<int> host_cores;
  std::optional<int> affinity_cores;
};

CgroupReading ReadCgroup(const CgroupSource& source = {});

// Core-seconds (summed over cores) that this group and those above it were held back by their CPU
// quotas so far; nothing where the kernel does not count it. Differences of it tell how long a
// phase was throttled.
std::optional<double> ThrottledSeconds(const CgroupSource& source = {});

}  // namespace flatout
