// What TensorBoard shows of a run, written as it goes to the run folder's tensorboard/ folder.
// docs/tensorboard.md lists the tags.
//
// As Keras's TensorBoard callback has it there are two runs, train and validation (and test, where
// the test split is scored), with tags by epoch ("epoch_loss", whose steps are epochs from 0) and
// by batch ("batch_loss", "evaluation_loss_vs_iterations", whose steps are updates). Flatout's own
// are below full/, time/ and memory/. The folder itself holds the run file, the verdict and the
// hyperparameters.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "flatout/nn/model.h"
#include "flatout/train/observer.h"
#include "flatout/train/run_config.h"
#include "flatout/watch/tensorboard/event.h"
#include "flatout/watch/tensorboard/event_writer.h"
#include "flatout/watch/tensorboard/options.h"

namespace flatout::train {

class TensorBoardObserver : public Observer {
 public:
  // `model` must live longer. `sources`: those that the run trains on, for image_freq. Throws
  // UserError where the run file's [watch.tensorboard] is wrong.
  TensorBoardObserver(const RunConfig& config, const nn::Model& model, const Sources& sources);
  ~TensorBoardObserver() override;

  void OnStart(const RunStart& start) override;
  bool WantsStep(int64_t step) override;
  void OnProgress(const Progress& progress) override;
  void OnLog(const Progress& progress) override;
  bool WantsWeights(int64_t epoch) override;
  void OnEpochEnd(const EpochEnd& end) override;
  void OnEnd(const RunEnd& end) override;

  // nullptr before OnStart, for a run without a folder, and where no thread could be started.
  watch::tensorboard::EventWriter* writer() { return writer_.get(); }

 private:
  using Event = watch::tensorboard::Event;

  // An event of now; and hands it over, for a run of TensorBoard's.
  static Event At(int64_t step);
  void Write(const std::string& run, const Event& event);
  void WriteBatch(const Progress& progress);
  void WritePerformance(const Progress& progress);
  void WriteRunFile(const RunStart& start);
  void WriteImages(int64_t epoch, int64_t step);

  const RunConfig config_;
  const nn::Model& model_;
  const Sources sources_;
  watch::tensorboard::Options options_;
  int64_t update_steps_ = 0;  // 0: about once a second; below: not at all
  std::unique_ptr<watch::tensorboard::EventWriter> writer_;
  std::optional<int64_t> resumed_step_;
  bool several_replicas_ = false;
  std::set<std::string> begun_;                      // runs that have an event of this session
  int64_t batch_step_ = -1, performance_step_ = -1;  // written last
  int64_t next_step_ = 0;                            // to be written, by update_freq
  double batch_time_ = 0, epoch_time_ = 0;           // SteadySeconds of what was written last
  int64_t epoch_step_ = 0;                           // at which the epoch began
};

}  // namespace flatout::train
