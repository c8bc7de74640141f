// How often to save: by steps, by seconds, or as often as loses least time.
#pragma once

#include <cstdint>
#include <optional>

namespace flatout::checkpoint {

// Seconds of training between two snapshots for which saving and lost work together cost least,
// when a snapshot costs `cost` seconds of training and interruptions come at random, `between`
// seconds apart in the mean. Daly's higher-order estimate:
//   t = sqrt(2 c m) (1 + sqrt(c / 2m) / 3 + (c / 2m) / 9) - c   for c < 2m, else t = m.
// J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps",
// Future Generation Computer Systems 22 (2006) 303-312, eq. 37. Its first term is J. W. Young, "A
// first order approximation to the optimum checkpoint interval", CACM 17 (1974) 530-531. Both
// arguments are positive.
double DalyInterval(double cost, double between);

// The share of wall time that is lost with a snapshot every `interval` seconds of training: saving,
// work done again, and `restart` seconds after each interruption. Daly 2006, eq. 20:
//   wall / work = (m / t) exp(r / m) (exp((t + c) / m) - 1);   lost = 1 - work / wall.
double LostShare(double interval, double cost, double between, double restart);

// The mean time between interruptions from what was seen, `interruptions` in `seconds` of running.
// What was assumed holds while there are none, and for little as soon as there is one: snapshots
// that are too frequent cost a few percent, too rare ones cost all that was done since. (The mean
// of a gamma distribution's rate, whose prior is a twentieth of an interruption; never longer than
// both the assumed time and the time seen.)
double TimeBetweenInterruptions(int64_t interruptions, double seconds, double assumed);

struct IntervalOptions {
  int64_t every_steps = 0;   // 0: not by steps
  double every_seconds = 0;  // 0: not by seconds
  bool automatic = false;
};

// What has been measured.
struct IntervalFacts {
  double cost = 0;          // seconds of training that a snapshot costs: blocked and slowed
  double save_seconds = 0;  // from handing over to being on the disk
  double between = 0;       // mean seconds between interruptions
};

// Seconds between snapshots with automatic: Daly's, but no less than it takes to write one twice
// (else the disk would never rest, and saves would queue) and no less than a quarter of a second,
// which only runs that are interrupted every few seconds come near.
double AutomaticSeconds(const IntervalFacts& facts);

// Whether a snapshot is due at `step`, when the last one was handed over at `last_step`, `seconds`
// ago. Steps may be counted several at a time: passing a multiple of every_steps is enough. With
// automatic and nothing measured (cost and save_seconds 0), two seconds after the start, so that
// the cost is known and there is something to go on from.
bool SaveDue(const IntervalOptions& options, const IntervalFacts& facts, int64_t step,
             int64_t last_step, double seconds);

}  // namespace flatout::checkpoint
