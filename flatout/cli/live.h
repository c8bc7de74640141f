// What a run shows of itself while it trains: the status that the live page and Prometheus read,
// the server and the pusher where the run file asks for them, and the run folder's run.log.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flatout/train/observer.h"
#include "flatout/train/run_config.h"
#include "flatout/watch/ledger.h"
#include "flatout/watch/run_status.h"

namespace flatout::cli {

class Live : public train::Observer {
 public:
  // Opens the port and begins to push. `folder` is the run's; where a run in it goes on, the curves
  // begin with what it had. Throws UserError where the port cannot be had.
  Live(const train::RunConfig& config, std::shared_ptr<watch::Ledger> ledger,
       const std::string& folder, bool resumes);
  // Pushes a last time, unless that has been done, and serves no more.
  ~Live() override;

  // What to tell the user: where the page is. May be empty.
  const std::vector<std::string>& messages() const;
  // The run is over: pushes a last time, where that is asked for, and no more.
  void PushLast();
  // For how long the page is to be served after the run (watch.http.linger_seconds); 0 without one.
  double linger_seconds() const;

  void OnStart(const train::RunStart& start) override;
  void OnProgress(const train::Progress& progress) override;
  void OnLog(const train::Progress& progress) override;
  void OnEvaluation(int64_t step, int64_t steps) override;
  void OnEpochEnd(const train::EpochEnd& end) override;
  void OnMessage(const std::string& message) override;
  void OnEnd(const train::RunEnd& end) override;
  bool WantsDetails() override;
  void OnDetails(const train::RunDetails& details) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flatout::cli
