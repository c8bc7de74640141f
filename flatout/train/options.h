// TrainOptions: what a run file's [train], [checkpoint] and [watch] tables may say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/web/options.h"

namespace flatout::train {

// Stops when `monitor` has not got better by min_delta for `patience` evaluations (Keras's
// EarlyStopping).
struct EarlyStopping {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int64_t patience = 0;
  std::string mode = "auto";  // "min", "max", "auto": max for accuracies and the like
  std::optional<double> baseline;
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;

  template <class V>
  void Visit(V& v) {
    v("monitor", monitor);
    v("min_delta", min_delta);
    v("patience", patience);
    v("mode", mode);
    v("baseline", baseline);
    v("restore_best_weights", restore_best_weights);
    v("start_from_epoch", start_from_epoch);
  }
};

// Multiplies the learning rate by `factor` when `monitor` has stopped getting better (Keras's
// ReduceLROnPlateau). Only with a constant rate.
struct ReduceLrOnPlateau {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int64_t patience = 10;
  std::string mode = "auto";
  double min_delta = 1e-4;
  int64_t cooldown = 0;
  double min_lr = 0;

  template <class V>
  void Visit(V& v) {
    v("monitor", monitor);
    v("factor", factor);
    v("patience", patience);
    v("mode", mode);
    v("min_delta", min_delta);
    v("cooldown", cooldown);
    v("min_lr", min_lr);
  }
};

struct TrainOptions {
  int64_t epochs = 1;
  std::optional<int64_t> max_steps;  // stop after that many updates, whatever the epoch
  int64_t global_batch = 32;         // rows of one update, over all devices
  std::string device = "cpu";        // a plugin: "cpu", "cuda", a path; "cuda:1" picks one device
  Config devices = Config(int64_t{1});  // a number, or "all"
  uint64_t seed = 0;
  std::string precision = "float32";
  // "auto": dynamic where the policy computes in float16, else none. Otherwise as optim::LossScale
  // reads it: "dynamic", "none", a number, {initial = ..., growth_steps = ...}.
  Config loss_scale = Config(std::string("auto"));
  // Rows of one micro-batch on each device; "auto": all its rows of the batch where they fit into
  // its memory, else the most that do.
  Config micro_batch = Config(std::string("auto"));
  // Into how many blocks the rows of the last layer's result are divided for the loss; "auto": by
  // their size.
  Config loss_blocks = Config(std::string("auto"));
  // As nn::Recompute reads it: "none", "blocks", names of blocks; "auto": only where memory asks
  // for it.
  Config recompute = Config(std::string("auto"));
  // Device memory that this process may take: "all", "grow", "10GiB", 0.5, "grow,10GiB".
  Config memory = Config(std::string("all"));
  bool check_finite = false;  // look into every step for the first value that is not finite
  Config steps_per_launch = Config(std::string("auto"));
  // Keras's classes and arguments; by default the models' outputs are logits of integer classes.
  Config loss = Config::Table({{"class", Config(std::string("SparseCategoricalCrossentropy"))},
                               {"from_logits", Config(true)}});
  std::vector<Config> metrics;
  std::string target;               // the data field to predict; empty: the last one
  std::vector<std::string> inputs;  // the fields the model takes, in order; empty: all others
  int64_t evaluate_every = 1;       // epochs between validations; 0: never
  std::optional<EarlyStopping> early_stopping;
  std::optional<ReduceLrOnPlateau> reduce_lr_on_plateau;
  bool evaluate_test = true;  // score the test split at the end, where there is one

  template <class V>
  void Visit(V& v) {
    v("epochs", epochs);
    v("max_steps", max_steps);
    v("global_batch", global_batch);
    v("device", device);
    v("devices", devices);
    int64_t signed_seed = static_cast<int64_t>(seed);
    v("seed", signed_seed);
    seed = static_cast<uint64_t>(signed_seed);
    v("precision", precision);
    v("loss_scale", loss_scale);
    v("micro_batch", micro_batch);
    v("loss_blocks", loss_blocks);
    v("recompute", recompute);
    v("memory", memory);
    v("check_finite", check_finite);
    v("steps_per_launch", steps_per_launch);
    v("loss", loss);
    v("metrics", metrics);
    v("target", target);
    v("inputs", inputs);
    v("evaluate_every", evaluate_every);
    v("early_stopping", early_stopping);
    v("reduce_lr_on_plateau", reduce_lr_on_plateau);
    v("evaluate_test", evaluate_test);
  }
};

// Snapshots of the run, from which it goes on after whatever ended it, and the best weights.
struct CheckpointOptions {
  int64_t every_steps = 0;   // save that often; 0: not by steps
  double every_seconds = 0;  // 0: not by seconds
  // As often as costs least time in all, from what a save was measured to cost and how often runs
  // are interrupted. Without it and the two keys above a run saves only when it ends or is stopped.
  // Default: true unless one of the two is set.
  std::optional<bool> automatic;            // "auto"
  double between_interruptions = 4 * 3600;  // mean seconds of running, as long as nothing is known
  int64_t keep_last = 2;
  bool keep_best = true;      // the snapshot that is best in `monitor`, besides
  int64_t keep_every = 0;     // and those whose step is a multiple of this; 0: none
  double grace_seconds = 30;  // between SIGTERM and the end, where nobody says
  // Notices of the cloud: "auto" (where this machine is one of its), "none", "gce", "ec2", or
  // {cloud = "gce", address = "http://...", poll_seconds = 2}.
  Config preemption = Config(std::string("auto"));
  std::string monitor = "val_loss";  // what best.safetensors is best in
  std::string mode = "auto";

  bool saves_automatically() const {
    return automatic.value_or(every_steps == 0 && every_seconds == 0);
  }

  template <class V>
  void Visit(V& v) {
    v("every_steps", every_steps);
    v("every_seconds", every_seconds);
    v("auto", automatic);
    v("between_interruptions", between_interruptions);
    v("keep_last", keep_last);
    v("keep_best", keep_best);
    v("keep_every", keep_every);
    v("grace_seconds", grace_seconds);
    v("preemption", preemption);
    v("monitor", monitor);
    v("mode", mode);
  }
};

struct WatchOptions {
  double log_seconds = 10;        // a plain log line that often
  std::string progress = "auto";  // "bar", "plain", "none"; auto: bar on a terminal
  bool ceiling = true;            // measure the device alone at the end (at most a second)
  bool gradient_norm = false;     // work out the norm of all gradients in every step
  bool advise = false;            // make changes that promise more speed, while training
  double sample_seconds = 1;      // look at devices and host that often; 0: never
  // Event files for TensorBoard in the run's folder: true, false, or a table
  // (watch/tensorboard/options.h).
  Config tensorboard = Config(true);
  std::optional<web::HttpOptions> http;          // the live page and /metrics
  std::optional<web::PushOptions> push_gateway;  // of Prometheus

  template <class V>
  void Visit(V& v) {
    v("log_seconds", log_seconds);
    v("progress", progress);
    v("ceiling", ceiling);
    v("gradient_norm", gradient_norm);
    v("advise", advise);
    v("sample_seconds", sample_seconds);
    v("tensorboard", tensorboard);
    v("http", http);
    v("push_gateway", push_gateway);
  }
};

void ReadConfig(const Config& value, EarlyStopping& field);
void ReadConfig(const Config& value, ReduceLrOnPlateau& field);

}  // namespace flatout::train
