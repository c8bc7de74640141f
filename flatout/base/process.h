// What the kernel says about this process.
#pragma once

#include <cstdint>

namespace flatout {

// Memory in bytes that is resident now, and the most that ever was (VmRSS and VmHWM of
// /proc/self/status). -1 where the kernel does not say: unknown is never shown as 0.
int64_t ResidentBytes();
int64_t PeakResidentBytes();

// CPU seconds that all threads of the process used so far, user and system.
double ProcessCpuSeconds();

// Seconds since the kernel started this process (from /proc/self/stat, in steps of 1/100 s), so
// that loading the program counts too. -1 where the kernel does not say.
double SecondsSinceProcessStart();

}  // namespace flatout
