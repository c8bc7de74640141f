// RunState: all of a run that is not a tensor and that must survive it. Beside the tensors it makes
// a snapshot from which a run goes on as if it had never been interrupted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/block.h"
#include "flatout/data/state.h"
#include "flatout/train/monitor.h"
#include "flatout/train/saver.h"
#include "flatout/train/totals.h"
#include "flatout/watch/ledger.h"

namespace flatout::train {

struct RunState {
  // Counts since the run began.
  int64_t steps = 0;   // updates
  int64_t epochs = 0;  // complete ones, validation included
  int64_t samples = 0;
  int64_t skipped_steps = 0;  // by the loss scale
  int64_t launches = 0;
  int64_t sessions = 1;        // processes that have worked on it
  bool done = false;           // all steps are, unless the run file asks for more
  bool stopped_early = false;  // by early stopping

  // Where it is in the epoch.
  data::IteratorState position;  // of the next record
  int64_t epoch_steps = 0, epoch_rows = 0;
  bool epoch_ended = false;  // all its steps are done, but not yet what follows them
  double epoch_seconds = 0;
  Totals::Sums totals;

  // What callbacks remember.
  double rate_factor = 1, learning_rate = 0;
  MonitorState best;  // of checkpoint.monitor
  std::optional<MonitorState> early_stopping, reduce_lr_on_plateau;
  bool early_best = false;  // the snapshot holds the weights of the best evaluation, too
  std::optional<double> last_scale;
  int64_t skips_in_row = 0;
  std::map<std::string, double> last_epoch;

  watch::LedgerReport ledger;  // of all sessions
  SaveCosts save_costs;        // of its snapshots
  data::BadRecordsState bad_records;
  int64_t metrics_bytes = 0;  // length of metrics.jsonl
  std::string run_file;       // TOML, as used

  // As JSON, every number to the bit.
  std::string ToJson() const;
  // Throws DataError naming `origin` and what is wrong.
  static RunState FromJson(const std::string& text, const std::string& origin);
};

// What differs between the run file of a snapshot and the one that is to go on with it. Some keys
// may differ without a word (where and how fast a run works, what is shown), some are worth saying
// (how it goes on), and with some it would be another run.
struct RunFileChanges {
  std::vector<std::string> noted;    // "train.epochs: 2 was 1"
  std::vector<std::string> refused;  // the same
};
RunFileChanges CompareRunFiles(const Config& saved, const Config& now);

}  // namespace flatout::train
