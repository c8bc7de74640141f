// Engine: makes items ahead of their use, in order, on threads, and tunes itself.
//
// An item (a training launch, a chunk of records) is a Job of one or more pieces. Workers take
// pieces, always of the oldest unfinished job first, and run all stages of a piece one after the
// other (read, decode, map, write into the batch) while it is in their cache: there are no queues
// between stages. So there are two things to tune: how many workers there are, and how many items
// may wait. Both follow what is measured (see EngineOptions::tune). The items' order and content
// never depend on either.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "flatout/data/source.h"

namespace flatout::data {

// One item in the making.
class Job {
 public:
  virtual ~Job() = default;
  virtual int pieces() const { return 1; }
  // Makes piece [0, pieces()); called once for each, from several threads at once.
  virtual void Run(int piece, ReadContext& context) = 0;
  // After the last piece, on one of the threads: what must happen to the whole, such as sending it.
  virtual void Finish(ReadContext& context) { (void)context; }
  virtual int64_t records() const = 0;
  // Memory that the item takes. Before it is made: what is known, or 0; after Finish: the truth.
  virtual int64_t bytes() const = 0;
};

// Says what is to be made next. Called by one thread at a time.
class JobSource {
 public:
  virtual ~JobSource() = default;
  // nullptr when there is nothing more. What it throws reaches the consumer in its place.
  virtual std::shared_ptr<Job> Next(ReadContext& context) = 0;
};

struct EngineOptions {
  int workers = 0;      // threads; 0: tuned
  int depth = 0;        // items in the making or waiting; 0: tuned
  int64_t bytes = 0;    // memory of those items; at least one is always made; 0: a share of what
                        // this process may use (DefaultBudget)
  int max_workers = 0;  // for tuning; 0: four times the usable cores (threads that wait for a
                        // slow disk need no core)
  BadRecords* bad = nullptr;  // must outlive the engine
  std::string name = "input";
};

// Seconds since the start are of all workers together, except wait.
struct EngineStats {
  int64_t items = 0;    // given out
  int64_t records = 0;  // in them
  double wait = 0;      // of the consumer, in Next
  double busy = 0;      // of the workers, in pieces
  double cpu = 0;       // of that, on a processor
  double queued = 0;    // of that, waiting for one that others had; the rest waited for disks and
                        // the like
  double full = 0;      // of the workers, because enough was waiting
  double fill = 0;      // mean share of depth that was ready when Next was called
  int workers = 0;      // now
  int depth = 0;        // now
  int64_t bytes = 0;    // of the items in the making or waiting, now
  int64_t most_bytes = 0;  // at any time
  int64_t budget = 0;      // for them
  std::map<std::string, StageTime> stages;
  // What tuning did: "workers 1 -> 2: ...". The last few.
  std::vector<std::string> decisions;

  // Sums since `before`; what is of now stays. All of them where another engine has begun to count
  // anew.
  EngineStats Since(const EngineStats& before) const;
};

// A fifth of the memory that this process may use (cgroup aware), at most 512 MiB, at least 64 MiB.
int64_t DefaultBudget();

class Engine {
 public:
  Engine(std::shared_ptr<JobSource> source, EngineOptions options);
  // Stop().
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Waits for the next item; nullptr at the end or after Stop. Throws what making it threw, and
  // again at every further call.
  std::shared_ptr<Job> Next();
  // Ends the threads, after the pieces they are in. A Next that waits on another thread returns
  // nullptr. May be called from any thread, more than once.
  void Stop();
  // Reaches the consumer at its next call, as if making the next item had thrown it. From any
  // thread.
  void Fail(std::exception_ptr error);
  // Adds to a stage's time, for work that goes on elsewhere (transfers). From any thread.
  void AddTime(const std::string& stage, double seconds);
  EngineStats stats() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace flatout::data
