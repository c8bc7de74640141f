// Initializers, with Keras's names and formulas. They run on the host and are counter-based: the
// values are a pure function of (seed, variable's path, element), equal on every backend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/shape.h"

namespace flatout::nn {

// Which initializer, and its arguments (those it does not use keep their defaults).
struct Initializer {
  // Keras's snake_case name: "zeros", "ones", "constant", "random_uniform", "random_normal",
  // "truncated_normal", "glorot_uniform", "glorot_normal", "he_uniform", "he_normal",
  // "lecun_uniform", "lecun_normal", "variance_scaling", "orthogonal", "identity".
  std::string name = "glorot_uniform";
  double value = 0;                               // constant
  double minval = -0.05, maxval = 0.05;           // random_uniform
  double mean = 0, stddev = 0.05;                 // normal kinds
  double scale = 1;                               // variance_scaling
  std::string mode = "fan_in";                    // variance_scaling: fan_in, fan_out, fan_avg
  std::string distribution = "truncated_normal";  // variance_scaling
  double gain = 1;                                // orthogonal, identity
  // The second quarter of the last dimension is one: Keras's unit_forget_bias of the LSTM, whose
  // layer sets it. Not an argument of any initializer.
  bool unit_forget_bias = false;

  Initializer() = default;
  // Not explicit: "zeros" reads well in option structs.
  Initializer(const char* keras_name);       // NOLINT(google-explicit-constructor)
  Initializer(std::string_view keras_name);  // NOLINT(google-explicit-constructor)
  static Initializer Constant(double value);

  template <class V>
  void Visit(V& v) {
    v("value", value);
    v("minval", minval);
    v("maxval", maxval);
    v("mean", mean);
    v("stddev", stddev);
    v("scale", scale);
    v("mode", mode);
    v("distribution", distribution);
    v("gain", gain);
  }
};
// A name in either spelling ("he_normal", "HeNormal"), or a table {class = "...", stddev = ...}.
void ReadConfig(const Config& value, Initializer& field);

// Fills `out` (row-major, shape.size() elements) for the variable called `path`.
void Initialize(const Initializer& initializer, const ir::Shape& shape, uint64_t seed,
                std::string_view path, std::span<float> out);

}  // namespace flatout::nn
