// Layers that act on training only: dropout and noise. Without training they return their input.
//
// The bits are a pure function of the run's seed, the step, the order of layers and the sample's
// row in the global batch. `seed` gives a layer a stream of its own on top of that.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "flatout/nn/layer.h"
#include "flatout/nn/layers/convolution.h"

namespace flatout::nn {

// Sets a share `rate` of the elements to zero and divides the others by 1 - rate. noise_shape says
// along which dimensions (1) the choice is shared; -1 stands for the input's size.
struct DropoutOptions {
  static constexpr std::string_view kType = "Dropout";
  double rate = 0;
  std::vector<int64_t> noise_shape;
  std::optional<int64_t> seed;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("rate", rate);
    v("noise_shape", noise_shape);
    v("seed", seed);
    common.Visit(v);
  }
};
LayerPtr Dropout(DropoutOptions options);

// Drops whole channels of [batch, spatial..., channels].
template <int kRank>
struct SpatialDropoutOptions {
  static constexpr std::string_view kType =
      OfRank(kRank, "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D");
  double rate = 0;
  std::string data_format = "channels_last";
  std::optional<int64_t> seed;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("rate", rate);
    if constexpr (kRank > 1) v("data_format", data_format);
    v("seed", seed);
    common.Visit(v);
  }
};
using SpatialDropout1DOptions = SpatialDropoutOptions<1>;
using SpatialDropout2DOptions = SpatialDropoutOptions<2>;
using SpatialDropout3DOptions = SpatialDropoutOptions<3>;
LayerPtr SpatialDropout1D(SpatialDropout1DOptions options);
LayerPtr SpatialDropout2D(SpatialDropout2DOptions options);
LayerPtr SpatialDropout3D(SpatialDropout3DOptions options);

// x + stddev * N(0, 1).
struct GaussianNoiseOptions {
  static constexpr std::string_view kType = "GaussianNoise";
  double stddev = 0;
  std::optional<int64_t> seed;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("stddev", stddev);
    v("seed", seed);
    common.Visit(v);
  }
};
LayerPtr GaussianNoise(GaussianNoiseOptions options);

// x * N(1, sqrt(rate / (1 - rate))) (Srivastava et al. 2014).
struct GaussianDropoutOptions {
  static constexpr std::string_view kType = "GaussianDropout";
  double rate = 0;
  std::optional<int64_t> seed;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("rate", rate);
    v("seed", seed);
    common.Visit(v);
  }
};
LayerPtr GaussianDropout(GaussianDropoutOptions options);

// Dropout for SELU: keeps mean and variance (Klambauer et al. 2017).
struct AlphaDropoutOptions {
  static constexpr std::string_view kType = "AlphaDropout";
  double rate = 0;
  std::vector<int64_t> noise_shape;
  std::optional<int64_t> seed;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("rate", rate);
    v("noise_shape", noise_shape);
    v("seed", seed);
    common.Visit(v);
  }
};
LayerPtr AlphaDropout(AlphaDropoutOptions options);

// The input itself; l1 * sum|x| + l2 * sum x^2 is added to the loss.
struct ActivityRegularizationOptions {
  static constexpr std::string_view kType = "ActivityRegularization";
  double l1 = 0;
  double l2 = 0;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("l1", l1);
    v("l2", l2);
    common.Visit(v);
  }
};
LayerPtr ActivityRegularization(ActivityRegularizationOptions options = {});

}  // namespace flatout::nn
