// Trainer::Fitting: one call of Trainer::Fit, from its first launch to its summary. Internal to
// flatout/train. Its parts: the loop and what comes after epochs (fit.cc), going on from snapshots
// and making them (fit_snapshots.cc), and what is told about the run (fit_report.cc).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "flatout/base/clock.h"
#include "flatout/train/launch.h"
#include "flatout/train/monitor.h"
#include "flatout/train/saver.h"
#include "flatout/train/totals.h"
#include "flatout/train/trainer.h"
#include "flatout/watch/sampler.h"
#include "flatout/watch/step_times.h"

namespace flatout::train {

// The sums of two pipelines that came one after the other; what is of now is that of the second.
data::EngineStats Together(const data::EngineStats& earlier, const data::EngineStats& now);

class Trainer::Fitting {
 public:
  Fitting(Trainer& trainer, RunFolder* folder, Observer* observer, StopRequest* stop);

  FitResult Run();
  // What Fit does when something throws: the weights and the summary are kept all the same. A
  // device that ran out of memory takes the weights with it; those saved last stay.
  void Fail(const Error& error, bool state_lost = false);

 private:
  using Bytes = std::vector<std::byte>;

  // ---- the loop (fit.cc) ----

  void Start();
  // The training records in the order of the run file's shuffle.
  data::SourcePtr InOrder() const;
  // Throws unless `monitor` is a figure that this run will have; one from validation needs a
  // validation split, unless `may_lack` it.
  void CheckMonitor(std::string_view key, const std::string& monitor, bool may_lack) const;
  // Ends a wait for input when a stop is asked for meanwhile.
  void Watch(const std::stop_token& end);
  std::optional<data::DeviceLaunch> WaitForInput();
  Launch Plan(data::DeviceLaunch input);
  // Where the records after a launch begin.
  data::IteratorState After(const Launch& launch) const;
  bool MaxStepsReached() const;
  bool StopAsked();
  void RetireAll();
  // Waits for the oldest launch and takes in its results.
  void Retire();
  // Of launches that are in flight for this thread, but over for the devices.
  int64_t StepsEndedInFlight() const;
  // Real rows of a step of the launch, bad records included.
  int64_t RowsOfStep(const Launch& launch, int64_t index) const;
  [[noreturn]] void NotFinite(const Launch& launch, int64_t index, float loss);
  [[noreturn]] void EndlessSkips(const Launch& launch, int64_t index, float scale);
  // Looks at a step before it is done.
  void CheckFinite(const Launch& launch);
  // Ends the run at the step after those done.
  [[noreturn]] void Diverged(const std::string& what, const Launch& launch,
                             const Trainer::Finding& first);
  // Validates and runs what happens after an epoch; true when training is to end.
  bool EndEpoch(bool complete);
  // The monitored figure; nullptr when this epoch has none, for want of a validation.
  static const double* Monitored(const std::map<std::string, double>& logs,
                                 const std::string& name);
  // What Keras's finalize_variable_values does at the end of fit: each trained variable becomes its
  // moving average. Not after a stop, whose run is to go on from where it was.
  void UseAverages();
  FitResult Finish();

  // ---- going on from a snapshot, and making one (fit_snapshots.cc) ----

  void GoOnFrom(const RunState& state);
  RunState MakeState(bool done);
  // Whether the device has room for a second state beside the step while one is written out.
  bool CanShare() const;
  checkpoint::Snapshot MakeSnapshot(bool done, bool share, std::optional<checkpoint::Score> score);
  // All launches have been retired.
  void SaveSnapshot(std::optional<checkpoint::Score> score = std::nullopt);
  // The last one: when this returns it is on the disk, or the user has been told why not, and
  // CheckLastSnapshot will.
  void SaveLastSnapshot(bool done, std::optional<checkpoint::Score> score = std::nullopt);
  // A run whose last snapshot was not saved would do again what it has done: it is not called done.
  void CheckLastSnapshot();
  // Weights or summary could not be written at the end.
  void NotWritten(const Error& error);
  // What tells one moment of a run from another: two snapshots of one would be the same.
  using Moment = std::tuple<int64_t, int64_t, bool, bool>;
  Moment Now(bool done) const { return {launched_steps_, result_.epochs, epoch_ended_, done}; }
  // Seconds until whoever asked for the stop ends the process.
  double GraceLeft() const;
  void TellGrace(double left);
  // A stop, or the last of max_steps, between the epoch's first step and its last. The snapshot
  // comes before the epoch is summed up, so that a run that goes on sums up all of it.
  void EndWithinEpoch();
  static void SaveWeights(const std::string& path, checkpoint::TensorFile file, int64_t step);
  void Save(const std::string& name);
  // A disk that cannot take the weights does not end training; the last good file stays.
  void SaveOrWarn(const std::string& name);
  // The best weights, written behind the steps that follow. At most one such file is under way. It
  // lies beside best.safetensors until a snapshot of that step or a later one is on the disk: a run
  // that goes on from before it may take another way.
  void SaveBest();
  void FinishBest();
  // What is pending of steps up to `step` takes its place.
  void PromoteBest(int64_t step);
  // After a start from a snapshot.
  void FindPendingBest();

  // ---- what is told of it (fit_report.cc) ----

  // Of this process, up to now or to the end of the run; and with those before it.
  watch::LedgerReport ProcessLedger() const;
  watch::LedgerReport Ledger() const;
  double EpochSeconds() const { return epoch_seconds_ + SteadySeconds() - epoch_begin_; }
  Progress MakeProgress();
  // The weights as they are now, for EpochEnd::weights.
  std::function<std::shared_ptr<const checkpoint::TensorFile>()> WeightsForObserver() const;
  void TellEnd();
  // For observers that WantDetails (fit_details.cc).
  RunDetails Details();
  // Shows progress, not more often than a person can see; logs once per interval.
  void Report();
  void BeginInterval();
  void LogToFolder(const Progress& progress);
  // What the input pipeline did since the last log line: how each stage shares the workers' time.
  void AddInput(Fields& fields);
  void LogPlan();
  // At most a second, and at most a tenth of what training took.
  void MeasureCeiling();
  void FillSummary();
  // Of the input pipeline that is at work, or was last; and of all there were.
  data::EngineStats CurrentInput() const;
  data::EngineStats AllInput() const;
  watch::InputFacts InputFacts() const;
  watch::InputFacts FactsOf(const data::EngineStats& stats) const;

  // ---- what it is watched by (fit_watch.cc) ----

  // All that can fail has not; the programs are compiled.
  void BeginWatching();
  // A launch has been retired; `now`: the ledger.
  void NoteLaunch(const Launch& launch, const watch::LedgerReport& now);
  // The run so far.
  watch::RunFacts Facts() const;
  // Completes what is told of the interval that ends now, and begins the next. Facts and verdict
  // take a millisecond, so they may be some seconds old.
  void CloseInterval(Progress& progress);
  // Where the time went, devices and host, for a line of metrics.jsonl.
  void AddWatched(const Progress& progress, Fields& fields);
  // The last line: what came after the last log line.
  void LogEnd();

  // ---- what it changes by itself (fit_advise.cc) ----

  struct Window {  // of training, that is judged
    double begun = 0;
    watch::LedgerReport ledger;
    int64_t steps = 0, samples = 0, launches = 0;
    data::EngineStats input;
  };
  struct Trial {
    watch::Change change;
    int64_t steps_per_launch = 1;  // before
    Config workers, prefetch;      // before
    double before = 0;             // samples/s of training
    bool settling = false;         // what is measured now does not count
    Window begun{};                // when it began
  };
  // A part of the run in which no setting is changed.
  struct Stretch {
    std::string when;  // "since ..."; "" until the first change
    watch::LedgerReport ledger{};
    int64_t steps = 0, samples = 0, launches = 0, saves = 0;
    data::EngineStats input{};
    double cpu_seconds = 0;
    std::optional<double> throttled_seconds{};
    std::vector<double> replica_busy{};
  };
  void BeginWindow();
  watch::RunFacts WindowFacts() const;
  // After a launch: judges the window if it is over, and notes what is to be done.
  void Consider();
  // Between launches: does what Consider noted.
  void Advise();
  // Whether there was anything to change. Throws where that cannot be had.
  bool Apply(const watch::Change& change);
  // `over`: with the run, so that nothing is taken back.
  void EndTrial(double speed, bool over);
  // The run ends within a trial: what it obtained until then.
  void FinishTrial();
  void BeginStretch(std::string when);
  watch::RunPart StretchPart(const watch::RunFacts& facts) const;
  // By which the limit is judged once something was changed: what came since, or where that is too
  // little what was before.
  std::optional<watch::RunPart> JudgedPart(const watch::RunFacts& facts) const;
  void TakeBack();
  bool SetStepsPerLaunch(int64_t steps);
  data::LaunchReader MakeReader() const;
  // Makes input ahead from position_ on, by the pipeline's options as they are now.
  void BeginInput();

  Trainer& t_;
  RunFolder* folder_;
  Observer silent_;
  Observer* observer_;
  StopRequest* stop_;
  FitResult result_;
  std::unique_ptr<data::DevicePrefetcher> input_;
  data::EngineStats input_stats_;
  bool input_ended_ = false;
  data::EngineStats earlier_input_;           // of the pipelines before this one
  std::optional<watch::LedgerReport> ended_;  // the account of this process, once it is closed
  std::deque<Launch> in_flight_;
  std::optional<Launch> last_;
  Totals totals_;
  Best best_;
  std::optional<EarlyStopper> early_;
  std::optional<PlateauReducer> plateau_;
  std::shared_ptr<const std::vector<Bytes>> early_best_;
  bool was_done_ = false;  // in an earlier session, but for what follows the last epoch
  double rate_factor_ = 1;
  double learning_rate_ = 0;
  int64_t steps_per_epoch_ = 0, launched_steps_ = 0, epoch_steps_ = 0, launches_ = 0;
  std::string save_error_;
  bool data_failed_ = false;  // before the run began
  bool kept_ = false;         // the weights, by whoever threw
  int64_t skips_in_row_ = 0;
  std::optional<double> last_scale_;     // that a step used
  std::optional<double> gradient_norm_;  // of the last step, where it is asked for
  double epoch_begin_ = 0, interval_begin_ = 0, shown_ = 0;
  int64_t interval_rows_ = 0, epoch_rows_ = 0;
  data::EngineStats interval_input_;
  watch::LedgerReport interval_ledger_;  // at the last log line; nothing before the first
  watch::Sample interval_sample_;        // the same
  std::unique_ptr<watch::Sampler> sampler_;
  watch::HostSample host_at_start_;  // of training
  watch::StepTimes step_times_;
  watch::LedgerReport launch_ledger_;  // when the last launch was retired
  std::optional<watch::Roofline> roofline_;
  std::optional<watch::LaunchCost> launch_cost_;
  int cores_ = 1;
  int64_t validations_ = 0, epochs_at_start_ = 0;
  Window window_;
  std::optional<Trial> trial_, taking_back_;
  Stretch stretch_;
  std::optional<watch::RunPart> before_change_;
  bool chose_interval_ = false;  // of snapshots
  std::optional<watch::Change> pending_change_;
  double pending_prediction_ = 1, pending_speed_ = 0;
  std::string pending_limit_;
  std::set<watch::Change::Kind> tried_changes_;
  bool measure_launches_ = false;
  std::mutex input_mutex_;  // held while input_ is exchanged, or stopped by another thread
  double judged_ = 0;       // when facts_ and verdict_ were made
  watch::RunFacts facts_;
  watch::Verdict verdict_;
  data::IteratorState position_;  // of the record after the last that was launched
  bool epoch_ended_ = false;      // but not what follows it
  double epoch_seconds_ = 0;      // of this epoch, in sessions before this one
  int64_t sessions_ = 1;
  watch::LedgerReport earlier_ledger_;  // of those sessions
  double computed_ = 0;                 // device seconds that the saver has been told of
  int64_t noted_ahead_ = 0;             // and the steps of launches in flight that were among them
  bool ended_within_epoch_ = false;
  bool stopped_early_ = false;
  std::optional<Moment> saved_;  // of the snapshot handed over last
  std::unique_ptr<Saver> saver_;
  std::vector<int64_t> pending_best_;  // launched steps, ascending
  std::future<void> best_saving_;
  bool best_failed_ = false;
  std::jthread stop_watch_;  // last: ends before what it uses
};

}  // namespace flatout::train
