// What keeping the ledger costs: the calls that Fit makes for one launch, without the launch.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "flatout/base/clock.h"
#include "flatout/watch/ledger.h"
#include "flatout/watch/sampler.h"
#include "flatout/watch/step_times.h"

namespace {

using flatout::SteadySeconds;
using namespace flatout::watch;

// The moments of a launch in the order in which Fit meets them, two launches being under way.
void OneLaunch(Ledger& ledger, StepTimes& times, LedgerReport& before, int64_t& running,
               int64_t step) {
  { const Phase input(ledger, Cause::kInput); }
  {
    const Phase launch(ledger, Cause::kHost, Stage::kLaunch);
    const int64_t id = ledger.Launched(Cause::kCompute);
    ledger.Completed(running);
    running = id;
  }
  {
    const Phase results(ledger, Cause::kHost, Stage::kResults);
    const LedgerReport now = ledger.Report();
    times.Add(step, 1, now.Since(before));
    before = now;
    { const Phase callbacks(ledger, Cause::kHost, Stage::kCallbacks); }
  }
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  constexpr int kLaunches = 20000, kRepeats = 21;
  std::vector<double> seconds;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Ledger ledger(0);
    StepTimes times;
    ledger.Enter(Cause::kHost);
    LedgerReport before = ledger.Report();
    int64_t running = ledger.Launched(Cause::kCompute);
    const double begin = SteadySeconds();
    for (int i = 0; i < kLaunches; ++i) OneLaunch(ledger, times, before, running, i + 1);
    seconds.push_back((SteadySeconds() - begin) / kLaunches);
  }
  const double ledger = Median(seconds);
  std::printf("ledger: %.2f us for each launch (median of %d times %d launches; fastest %.2f)\n",
              ledger * 1e6, kRepeats, kLaunches,
              *std::min_element(seconds.begin(), seconds.end()) * 1e6);
  std::printf("that is 0.5 %% of launches of %.2f ms, and less of longer ones\n",
              ledger / 0.005 * 1e3);

  std::vector<double> samples;
  for (int i = 0; i < 201; ++i) {
    const double begin = SteadySeconds();
    SampleHost();
    samples.push_back(SteadySeconds() - begin);
  }
  std::printf("a sample of the host: %.2f ms, on a thread of its own\n", Median(samples) * 1e3);
  return 0;
}
