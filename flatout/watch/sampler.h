// Sampler: looks at devices and host beside a run, on a thread of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flatout/base/cgroup.h"
#include "flatout/watch/sample.h"

namespace flatout::watch {

struct SamplerOptions {
  double seconds = 1;  // between samples; 0 or less: nothing is sampled
  // The run's devices, in its order; "" where the driver cannot be asked for one. None of them:
  // devices are never asked for (CPU).
  std::vector<std::string> uuids;
  CgroupSource cgroup;
};

// The host now; cheap (some files of /proc and of the control group). The environment variable
// FLATOUT_CGROUP_ROOT stands for an empty source.root.
HostSample SampleHost(CgroupSource source = {});

class Sampler {
 public:
  explicit Sampler(SamplerOptions options);
  // Ends the thread; waits for a sample under way.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // The latest sample; before the first its time is 0.
  Sample latest() const;
  // The devices since the start.
  std::vector<DeviceUse> total() const;
  // The devices since this was called last.
  std::vector<DeviceUse> TakeInterval();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flatout::watch
