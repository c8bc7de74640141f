// Normalization layers. Statistics are computed in float32 whatever the compute dtype.
#pragma once

#include <string_view>
#include <vector>

#include "flatout/nn/initializer.h"
#include "flatout/nn/layer.h"

namespace flatout::nn {

// (x - mean) / sqrt(variance + epsilon) * gamma + beta for each index of `axis`. In training mean
// and variance are the batch's (padding rows do not count) and the moving ones follow: moving =
// moving * momentum + batch * (1 - momentum). Otherwise, and when trainable is false, the moving
// ones are used. With replicas each normalizes by its own rows, or all by the global batch when
// `synchronized`; the moving statistics follow the mean over all replicas either way. Weights
// gamma, beta, moving_mean, moving_variance, each [size of axis].
struct BatchNormalizationOptions {
  static constexpr std::string_view kType = "BatchNormalization";
  int64_t axis = -1;
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros";
  Initializer moving_variance_initializer = "ones";
  Regularizer beta_regularizer, gamma_regularizer;
  bool synchronized = false;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("axis", axis);
    v("momentum", momentum);
    v("epsilon", epsilon);
    v("center", center);
    v("scale", scale);
    v("beta_initializer", beta_initializer);
    v("gamma_initializer", gamma_initializer);
    v("moving_mean_initializer", moving_mean_initializer);
    v("moving_variance_initializer", moving_variance_initializer);
    v("beta_regularizer", beta_regularizer);
    v("gamma_regularizer", gamma_regularizer);
    v("synchronized", synchronized);
    common.Visit(v);
  }
};
LayerPtr BatchNormalization(BatchNormalizationOptions options = {});

// Normalizes each sample over `axis` (one or several). Weights gamma, beta of those axes' sizes.
struct LayerNormalizationOptions {
  static constexpr std::string_view kType = "LayerNormalization";
  std::vector<int64_t> axis = {-1};
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer, gamma_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("axis", axis);
    v("epsilon", epsilon);
    v("center", center);
    v("scale", scale);
    v("beta_initializer", beta_initializer);
    v("gamma_initializer", gamma_initializer);
    v("beta_regularizer", beta_regularizer);
    v("gamma_regularizer", gamma_regularizer);
    common.Visit(v);
  }
};
LayerPtr LayerNormalization(LayerNormalizationOptions options = {});

// Normalizes each sample over all its dimensions, `axis` divided into `groups` (-1: one for each
// channel). Weights gamma, beta [size of axis].
struct GroupNormalizationOptions {
  static constexpr std::string_view kType = "GroupNormalization";
  int64_t groups = 32;
  int64_t axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer, gamma_regularizer;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("groups", groups);
    v("axis", axis);
    v("epsilon", epsilon);
    v("center", center);
    v("scale", scale);
    v("beta_initializer", beta_initializer);
    v("gamma_initializer", gamma_initializer);
    v("beta_regularizer", beta_regularizer);
    v("gamma_regularizer", gamma_regularizer);
    common.Visit(v);
  }
};
LayerPtr GroupNormalization(GroupNormalizationOptions options = {});

// x / sqrt(mean(x^2) + epsilon) * scale over `axis`. Weight scale.
struct RMSNormalizationOptions {
  static constexpr std::string_view kType = "RMSNormalization";
  std::vector<int64_t> axis = {-1};
  double epsilon = 1e-6;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("axis", axis);
    v("epsilon", epsilon);
    common.Visit(v);
  }
};
LayerPtr RMSNormalization(RMSNormalizationOptions options = {});

// Divides by the L2 norm over `axis`.
struct UnitNormalizationOptions {
  static constexpr std::string_view kType = "UnitNormalization";
  std::vector<int64_t> axis = {-1};
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("axis", axis);
    common.Visit(v);
  }
};
LayerPtr UnitNormalization(UnitNormalizationOptions options = {});

}  // namespace flatout::nn
