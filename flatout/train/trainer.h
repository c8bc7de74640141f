// flatout/train: run files, the compiled programs of a run, and the loop that drives them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flatout/base/stop.h"
#include "flatout/checkpoint/safetensors.h"
#include "flatout/checkpoint/snapshot.h"
#include "flatout/data/device_prefetch.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/metric.h"
#include "flatout/nn/model.h"
#include "flatout/optim/loss_scale.h"
#include "flatout/optim/optimizer.h"
#include "flatout/step/step_program.h"
#include "flatout/train/batch_plan.h"
#include "flatout/train/observer.h"
#include "flatout/train/run_config.h"
#include "flatout/train/run_folder.h"
#include "flatout/train/run_state.h"
#include "flatout/train/runtime.h"
#include "flatout/watch/ledger.h"
#include "flatout/watch/verdict.h"

namespace flatout::train {

// Loss and metrics over a whole split, each real row counted once.
struct Scores {
  bool complete = true;
  int64_t rows = 0;
  double loss = 0;
  std::map<std::string, double> metrics;
  // {"loss": ..., metrics...}, with a prefix such as "val_".
  std::map<std::string, double> All(const std::string& prefix = "") const;
};

// The files of a snapshot: the model's variables; slots and counters; where early stopping keeps
// it, the whole state of the best evaluation.
inline constexpr const char* kWeightsGroup = "weights";
inline constexpr const char* kOptimizerGroup = "optimizer";
inline constexpr const char* kEarlyBestGroup = "early_best";

struct FitResult {
  std::vector<float> losses;                 // of every step
  std::map<std::string, double> last_epoch;  // "loss", "accuracy", "val_loss", ...
  std::optional<Scores> test;
  // Steps that a loss scale skipped are none, and their rows no samples.
  int64_t steps = 0, epochs = 0, samples = 0;
  int64_t skipped_steps = 0;
  std::optional<int64_t> resumed_step;  // the step of the snapshot that the run went on from
  bool restored_best = false;           // the weights are those of the best evaluation
  bool stopped = false;                 // by request (a signal), before the end
  watch::Verdict verdict;
  Summary summary;
};

class Trainer {
 public:
  // Takes the run's options from `config` (its [model] table is not read: `model` is what is
  // trained). Initializes the weights. Throws UserError where model, data, loss and options do not
  // fit each other. `ledger` may be shared with the caller, who then accounts for its own time.
  Trainer(RunConfig config, nn::Model model, Sources sources,
          std::shared_ptr<Runtime> runtime = nullptr,
          std::shared_ptr<watch::Ledger> ledger = nullptr);
  ~Trainer();

  const nn::Model& model() const { return model_; }
  Runtime& runtime() { return *runtime_; }
  watch::Ledger& ledger() { return *ledger_; }

  // Trains, validates after epochs, scores the test split. `folder` (may be null) gets run file,
  // metrics, weights and summary. `stop` (may be null) is looked at after every launch. A loss that
  // is not finite throws UserError naming step and the first layer; the weights before that step
  // are kept; with a loss scale only when skipping the step and lowering the scale does not help.
  // What does not fit the device's memory is found before the first step, and what fails for want
  // of memory all the same throws UserError (exit code 4) with the plan and the batch that would
  // fit. A failed run writes its summary too. What cannot be written once training is over (last
  // snapshot, weights, summary) does not throw: summary.error says it, with its exit code.
  FitResult Fit(RunFolder* folder = nullptr, Observer* observer = nullptr,
                StopRequest* stop = nullptr);
  // Loss and metrics over all records. Where `stop` rises meanwhile the scores are not complete.
  Scores Evaluate(const data::SourcePtr& source, Observer* observer = nullptr,
                  const StopRequest* stop = nullptr);
  // The model's outputs for the first `limit` records (all when negative), f32 [rows, ...].
  std::vector<checkpoint::HostTensor> Predict(const data::SourcePtr& source, int64_t limit = -1);

  // The current weights, and the other way round. Loading checks that names and shapes agree with
  // the model and lists what does not; floats of another precision are converted. The state of a
  // loss scale goes with them, as metadata.
  checkpoint::TensorFile Weights() const;
  void LoadWeights(const checkpoint::TensorFile& weights, const std::string& origin);
  // Goes on from a snapshot: the next Fit continues as if the run had never been interrupted. The
  // number of devices, rows and micro-batches may be others. Throws UserError naming every tensor
  // that is missing, is not expected or has another shape, and where the data are others.
  void Restore(const checkpoint::LoadedSnapshot& snapshot, RunState state);
  // The compiled training program's memory as the compiler sees it, and bytes of the state; for
  // tests and plans. Compiles if that has not happened.
  std::optional<xla::ProgramMemory> TrainProgramMemory();
  int64_t state_bytes() const;
  // How the batch is split to fit the device, and what it takes there. Compiles the training
  // program (and that for evaluation, where there is something to evaluate) if that has not
  // happened. Throws UserError (exit code 4) where not even one row fits.
  const BatchPlan& PlanBatch();

 private:
  struct Launch;
  class Fitting;
  friend class StepTimer;  // step_timer.h

  void ChooseFields();
  // What integer fields may hold must fit the layers that take them, and the outputs.
  void CheckIndices() const;
  void CheckTarget() const;
  // Memory for weights and optimizer state, before any is taken.
  void CheckStateFits() const;
  // A loss over a split that is not finite is an error: names the record that is to blame, if one
  // is.
  void CheckScores(const Scores& scores, const data::SourcePtr& source) const;
  // Lets Normalization layers see the training split.
  void AdaptLayers();
  void InitializeState();
  step::StepSpec SpecFor(int64_t rows, int64_t steps_per_launch) const;
  int64_t ChooseStepsPerLaunch() const;
  void CompileTraining();
  void CompileEvaluation();
  // Bytes that one device can give this run now, its state included.
  std::optional<int64_t> Room() const;
  // Of that, what programs and the launches in flight may take: some is kept for input that is made
  // ahead.
  std::optional<int64_t> ProgramRoom() const;
  int64_t LaunchBytes() const;       // of one launch's fields on one device
  int64_t LaunchesOnDevice() const;  // whose fields are on a device at once
  int64_t PrefetchBytes() const;
  // Splits the batch, compiles, and sets batch_plan_, train_ and train_program_.
  void ChooseBatch();
  // The most rows at once of spec's program that fit into `room` bytes, by our graph times `scale`.
  int64_t RowsThatFit(step::StepSpec spec, int64_t room, double scale) const;
  // Throws: the program of `spec` does not fit.
  [[noreturn]] void DoesNotFit(const step::StepSpec& spec, const plan::MemoryPlan& plan,
                               const std::string& why) const;
  // The same error for a failure while training: what the plan was, what would fit.
  UserError OutOfMemory(const Error& error) const;
  // To every replica, in layout_'s order.
  void UploadState(const std::vector<std::vector<std::byte>>& tensors);
  const xla::Buffer& ScalarI32(int64_t replica, int32_t value);
  const xla::Buffer& ScalarF32(int64_t replica, float value);
  // The run file's pipeline keys, for a reader that ends after so many epochs.
  data::DevicePrefetchOptions PrefetchFor(int64_t epochs) const;
  // What the training program takes, over all replicas, with the state as it is now.
  std::vector<const xla::Buffer*> TrainArguments(const Launch& launch);
  // Runs the training program on a launch's buffers; state_ becomes what it gives, and
  // `execution` keeps the rest. What somebody else holds of the state is left as it is.
  void ExecuteTraining(const Launch& launch, xla::Execution& execution);
  // The same for a launch of its own, and tells the ledger.
  void LaunchTraining(Launch& launch);
  // What is not finite first in step `index` of the launch, with the weights as they are now.
  struct Finding {
    std::string what;  // for a message; empty: all is finite
    bool in_data = false;
    bool in_gradient = false;  // all else is finite
  };
  Finding Diagnose(const Launch& launch, int64_t index);
  // Index in layout_ of a counter.
  size_t CounterIndex(std::string_view name) const;
  // Its value on the first device.
  double Counter(std::string_view name) const;
  std::vector<std::vector<std::byte>> SnapshotState() const;
  // The tensors of a snapshot of this very state, weights and optimizer. `share`: the device's own
  // buffers are handed over, and stay as they are until they have been copied; else host copies
  // made now.
  std::vector<checkpoint::TensorGroup> StateGroups(bool share) const;
  // The weights as they are now, for whoever calls this (once, on any thread) while training goes
  // on: it shares the device's buffers until they have been copied.
  std::function<checkpoint::TensorFile()> DeferredWeights() const;
  std::map<std::string, std::string> WeightsMetadata() const;
  // Seconds of a step of the launch, replayed for so many seconds, and what launches cost.
  double MeasureCeiling(Launch& launch, double seconds, watch::LaunchCost* cost);

  RunConfig config_;
  nn::Model model_;
  Sources sources_;
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<watch::Ledger> ledger_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<nn::Loss> loss_;
  std::vector<std::unique_ptr<nn::Metric>> metrics_;
  std::vector<std::string> metric_names_;  // unique
  std::vector<data::Field> fields_;        // of a record
  std::vector<int> input_fields_;
  int target_field_ = -1;
  nn::Policy policy_;
  optim::LossScale loss_scale_;
  std::unique_ptr<data::BadRecords> bad_records_;  // of all splits
  int64_t rows_ = 0;                               // per replica and step
  int64_t steps_per_launch_ = 1;
  std::optional<int64_t> room_;  // Room() before anything was compiled
  BatchPlan batch_plan_;         // once train_ is there
  int64_t evaluation_micro_rows_ = 0;
  std::optional<plan::MemoryPlan> evaluation_plan_;

  bool weights_loaded_ = false;
  std::optional<RunState> resumed_;                   // for the next Fit
  std::vector<std::vector<std::byte>> resumed_best_;  // its early_best state
  std::vector<step::StateTensor> layout_;
  // [replica][tensor]. A snapshot that is being written shares them; then a step leaves them alone
  // and writes its results elsewhere.
  std::vector<std::vector<std::shared_ptr<xla::Buffer>>> state_;
  step::Program train_program_, evaluate_program_;
  std::shared_ptr<xla::Executable> train_, evaluate_;
  step::DiagnosisProgram diagnosis_program_;
  std::shared_ptr<xla::Executable> diagnosis_;
  std::vector<std::map<int32_t, xla::Buffer>> i32_;  // [replica]
  std::vector<std::map<float, xla::Buffer>> f32_;
  double model_flops_ = 0;  // of one step on one device, without what is computed again
};

}  // namespace flatout::train
