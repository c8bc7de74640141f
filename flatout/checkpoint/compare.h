// What two sets of tensors have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flatout/checkpoint/safetensors.h"

namespace flatout::checkpoint {

struct TensorDifference {
  enum class Kind {
    kSame,     // bit for bit
    kDiffers,  // same shape and dtype, other values
    kDType,    // same dimensions, another dtype
    kShape,    // other dimensions
    kMissing,  // in the first alone
    kExtra,    // in the second alone
  };
  std::string name;
  Kind kind = Kind::kSame;
  std::optional<ir::Shape> first, second;
  // Of kDiffers and kDType, in float64: the largest |first - second|, and how many values differ.
  // NaNs differ from everything but NaNs of the same bits; a difference with one is NaN.
  double max_difference = 0;
  int64_t values_different = 0;
};
std::string_view Name(TensorDifference::Kind kind);

// In the first's order, then what the second has besides.
std::vector<TensorDifference> Compare(const TensorFile& first, const TensorFile& second);

// What does not fit where `wanted` is the model's: one line each: "dense/kernel f32[784,10] is
// missing", "... is f32[784,12], expected f32[784,10]", "... is not expected". Empty: all fits.
struct WantedTensor {
  std::string name;
  ir::Shape shape;
};
std::vector<std::string> Misfits(const TensorFile& found, const std::vector<WantedTensor>& wanted);

}  // namespace flatout::checkpoint
