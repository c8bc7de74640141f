// Layers that join several inputs into one.
#pragma once

#include <string_view>
#include <vector>

#include "flatout/nn/layer.h"

namespace flatout::nn {

// Joins along `axis`; all other dimensions must be equal.
struct ConcatenateOptions {
  static constexpr std::string_view kType = "Concatenate";
  int64_t axis = -1;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("axis", axis);
    common.Visit(v);
  }
};
LayerPtr Concatenate(ConcatenateOptions options = {});

// Element by element over two or more inputs (Subtract: exactly two). Sizes of 1 stretch; an input
// of lower rank gets dimensions of 1 after the batch, as in Keras.
enum class MergeKind { kAdd, kSubtract, kMultiply, kAverage, kMaximum, kMinimum };
constexpr std::string_view MergeName(MergeKind kind) {
  switch (kind) {
    case MergeKind::kAdd:
      return "Add";
    case MergeKind::kSubtract:
      return "Subtract";
    case MergeKind::kMultiply:
      return "Multiply";
    case MergeKind::kAverage:
      return "Average";
    case MergeKind::kMaximum:
      return "Maximum";
    case MergeKind::kMinimum:
      return "Minimum";
  }
  return "";
}
template <MergeKind kKind>
struct MergeOptions {
  static constexpr std::string_view kType = MergeName(kKind);
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    common.Visit(v);
  }
};
using AddOptions = MergeOptions<MergeKind::kAdd>;
using SubtractOptions = MergeOptions<MergeKind::kSubtract>;
using MultiplyOptions = MergeOptions<MergeKind::kMultiply>;
using AverageOptions = MergeOptions<MergeKind::kAverage>;
using MaximumOptions = MergeOptions<MergeKind::kMaximum>;
using MinimumOptions = MergeOptions<MergeKind::kMinimum>;
LayerPtr Add(AddOptions options = {});
LayerPtr Subtract(SubtractOptions options = {});
LayerPtr Multiply(MultiplyOptions options = {});
LayerPtr Average(AverageOptions options = {});
LayerPtr Maximum(MaximumOptions options = {});
LayerPtr Minimum(MinimumOptions options = {});

// Products of each row of two inputs, summed over axes[0] of the first and axes[1] of the second
// (one number stands for both). With `normalize` both are first divided by their L2 norm there:
// cosine similarity. Two vectors give [batch, 1].
struct DotOptions {
  static constexpr std::string_view kType = "Dot";
  std::vector<int64_t> axes;
  bool normalize = false;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v.Required("axes", axes);
    v("normalize", normalize);
    common.Visit(v);
  }
};
LayerPtr Dot(DotOptions options);

// Dot products of each pair of vectors (DLRM, Naumov et al. 2019; the layer of that name in
// TensorFlow Recommenders). Inputs are [batch, features], one vector, or [batch, count, features],
// several; n vectors in all give [batch, n (n - 1) / 2], ordered (1,0), (2,0), (2,1), ...; with
// self_interaction also each vector with itself.
struct DotInteractionOptions {
  static constexpr std::string_view kType = "DotInteraction";
  bool self_interaction = false;
  CommonOptions common;

  template <class V>
  void Visit(V& v) {
    v("self_interaction", self_interaction);
    common.Visit(v);
  }
};
LayerPtr DotInteraction(DotInteractionOptions options = {});

}  // namespace flatout::nn
