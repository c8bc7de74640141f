// The run file's [watch.tensorboard].
#pragma once

#include <cstdint>

#include "flatout/base/config.h"

namespace flatout::watch::tensorboard {

// Keras's TensorBoard callback has the same names where it has the same things.
struct Options {
  bool enabled = true;
  // How often the batch-level scalars are written: "auto" (about once a second), "epoch" (not at
  // all), or a number of steps.
  Config update_freq = Config(std::string("auto"));
  bool write_graph = true;
  int64_t histogram_freq = 0;  // epochs between histograms of the weights; 0: none
  int64_t image_freq = 0;      // epochs between samples of the input batch; 0: none
  int64_t images = 8;          // rows in such a sample

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled);
    v("update_freq", update_freq);
    v("write_graph", write_graph);
    v("histogram_freq", histogram_freq);
    v("image_freq", image_freq);
    v("images", images);
  }
};

// A table, or true or false for `enabled` alone. Complains of values out of range at their place.
void ReadConfig(const Config& value, Options& field);

}  // namespace flatout::watch::tensorboard
