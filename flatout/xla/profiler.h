// A plugin's own profiler: what ran on its devices, kernel by kernel. The CUDA plugin has one (PJRT
// extension 1, which drives CUPTI), the CPU plugins have none.
#pragma once

#include <memory>
#include <string>

#include "flatout/xla/pjrt.h"

namespace flatout::xla {

class Profiler {
 public:
  // Whether the plugin has one that this can use.
  static bool Has(const Plugin& plugin);

  // Throws UserError where the plugin has none, or cannot start it (CUPTI missing, no permission to
  // use the counters).
  explicit Profiler(std::shared_ptr<Plugin> plugin);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // From Start to Stop everything is recorded. Once each.
  void Start();
  void Stop();
  // What was recorded, after Stop: an XSpace (xplane.h of flatout/watch/profile reads it).
  std::string Collect();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flatout::xla
