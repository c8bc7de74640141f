// A profile of some steps of a run: what its threads and devices did, moment by moment, and on GPUs
// kernel by kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "flatout/base/stop.h"
#include "flatout/base/trace.h"
#include "flatout/train/observer.h"
#include "flatout/watch/ledger.h"
#include "flatout/xla/profiler.h"

namespace flatout::train {

struct Profile {
  int64_t first_step = 0, steps = 0;
  double seconds = 0;
  trace::Recording recording;  // tracks "training thread", "device 0", input threads, ...
  std::string xspace;          // of the plugin's profiler; empty where it has none
  std::string why_no_kernels;  // why it is, or ""
};

// Watches a run from its third launch on until so many steps have been recorded, and then asks it
// to stop.
class ProfileObserver : public Observer {
 public:
  // `profiler`: of the plugin that trains; nullptr: it has none. `ledger` and `stop` must live
  // longer.
  ProfileObserver(int64_t steps, watch::Ledger& ledger, StopRequest& stop,
                  std::unique_ptr<xla::Profiler> profiler);
  ~ProfileObserver() override;

  bool WantsStep(int64_t step) override { return (void)step, !profile_; }
  void OnProgress(const Progress& progress) override;
  void OnEnd(const RunEnd& end) override;

  // Nothing where the run ended before the steps were there.
  const std::optional<Profile>& profile() const { return profile_; }

 private:
  void Begin(int64_t step);
  void End(int64_t step);

  const int64_t steps_;
  watch::Ledger& ledger_;
  StopRequest& stop_;
  std::unique_ptr<xla::Profiler> profiler_;
  int64_t launches_ = 0;
  std::optional<Profile> running_, profile_;
};

// Where the time went, for people: for each track, or all tracks that differ in a number alone,
// what it did by share of the time.
std::string TimeTable(const Profile& profile);

}  // namespace flatout::train
