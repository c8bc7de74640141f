// AsyncSaver: snapshots that training does not wait for. Save hands over what is to be written and
// returns; copying out, writing, syncing and the removal of old ones happen on a thread of their
// own, at a lower priority than training's. Failures are reported, and never thrown into the
// training loop.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flatout/checkpoint/store.h"

namespace flatout::checkpoint {

// How a save ended.
struct SaveResult {
  bool ok = false;
  int64_t step = 0;
  int64_t bytes = 0;
  std::string path;                  // of the new snapshot
  std::string error;                 // unless ok: for people
  bool no_space = false;             // the disk was full
  std::vector<std::string> removed;  // folders of old snapshots
  std::vector<std::string> notes;    // for people: what went wrong with old snapshots
  double seconds = 0;                // from Save to the end
  double copy_seconds = 0;           // copying out of the sources
  double write_seconds = 0;          // writing and syncing (partly at the same time)
};

struct SaverOptions {
  Retention retention;
  WriteOptions write;
  // Bytes per second that saves beside training are held to; 0: as fast as the disk goes.
  double bytes_per_second = 0;
  // Called on the saver's thread at the end of each save, before a waiting Save or Wait goes on.
  // Must not call the saver.
  std::function<void(const SaveResult&)> done;
};

struct SaverStatus {
  bool busy = false;
  int64_t step = 0;         // being written, or else last written
  int64_t bytes_total = 0;  // of that one
  int64_t bytes_done = 0;
  int64_t saves = 0;  // ended well
  int64_t failures = 0;
  std::string last_error;          // of the last save, if it failed; empty once one succeeds again
  std::optional<SaveResult> last;  // the last to end
  double copy_seconds = 0;         // of all, the one in flight included
  double write_seconds = 0;
  std::optional<double> bytes_per_second;  // measured, of recent saves
};

class AsyncSaver {
 public:
  // `store` must outlive it; nobody else may write to it meanwhile.
  AsyncSaver(Store& store, SaverOptions options);
  ~AsyncSaver();  // waits for the save in flight
  AsyncSaver(const AsyncSaver&) = delete;
  AsyncSaver& operator=(const AsyncSaver&) = delete;

  enum class WhenBusy { kWait, kSkip };
  // Hands over. At most one is in flight: with another, this waits for its end or returns false.
  bool Save(Snapshot snapshot, WhenBusy when_busy);
  bool busy() const;
  // Until no save is in flight; false if `seconds` pass before.
  bool Wait(double seconds = std::numeric_limits<double>::infinity());
  // Gives up the save in flight, if there is one; what it wrote is removed. Does not wait.
  void Cancel();
  SaverStatus status() const;
  // From now on, for the save in flight too: 0 lifts the limit, for when training has stopped and
  // time is short.
  void SetBytesPerSecond(double limit);
  // How long writing a snapshot of so many bytes will take at full speed, behind the rest of one in
  // flight or as if there were none (`alone`); from measured rates and fixed costs. Nothing before
  // the first save has ended.
  std::optional<double> EstimateSeconds(int64_t bytes, bool alone = false) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flatout::checkpoint
