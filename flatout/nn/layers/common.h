// Shared by the layer families: checks of arguments and small pieces of computation.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/nn/layer.h"

namespace flatout::nn {

// No size of a layer is larger: sums and products with it then do not overflow.
inline constexpr int64_t kMostSize = int64_t{1} << 40;

// Throws "Dense: units must be positive, found 0".
void CheckPositive(std::string_view type, std::string_view argument, int64_t value);
void CheckPositive(std::string_view type, std::string_view argument,
                   const std::vector<int64_t>& values);
// One number for each of `rank` dimensions: a single one stands for all. All must be positive.
std::vector<int64_t> PerDimension(std::string_view type, std::string_view argument,
                                  std::vector<int64_t> values, int64_t rank);
// Throws unless `value` is one of `allowed`.
void CheckOneOf(std::string_view type, std::string_view argument, const std::string& value,
                const std::vector<std::string>& allowed);
// Data is channels-last here; says so when asked for something else.
void CheckChannelsLast(std::string_view type, const std::string& data_format);
// A share in [0, 1], or in [0, 1) where 1 makes no sense.
void CheckRate(std::string_view type, std::string_view argument, double value,
               bool one_allowed = false);
// Throws "Conv2D needs inputs of rank 4, found f32[None,28]".
void CheckRank(const Layer& layer, ir::Value x, int64_t rank);
void CheckMinRank(const Layer& layer, ir::Value x, int64_t rank);
// `axis` of x counted from 0; throws when there is no such axis, or when it is the batch's.
int64_t FeatureAxis(const Layer& layer, ir::Value x, int64_t axis);
// Padding {low, high} of one dimension: 0 for "valid"; TensorFlow's rule for "same"; for "causal"
// all at the low end. `window` is the extent of the kernel with its dilation.
std::pair<int64_t, int64_t> WindowPadding(const std::string& padding, int64_t size, int64_t window,
                                          int64_t stride);
// Throws when a "valid" window does not fit into the spatial dimensions of x.
void CheckWindowFits(const Layer& layer, ir::Value x, const std::string& argument,
                     const std::string& padding, const std::vector<int64_t>& window);
// Converts integers (images as bytes) to what the layer computes in.
ir::Value ToCompute(Context& ctx, ir::Value x);
// x / ||x|| over `axes` together; vectors of zeros stay zeros.
ir::Value L2Normalize(ir::Value x, const std::vector<int64_t>& axes);
// Adds the activity penalty of y's real rows to the loss.
void AddActivityPenalty(Context& ctx, const Regularizer& regularizer, ir::Value y);
// 1 for real rows and 0 for padding, as f32[batch, 1, 1, ...] of x's rank; none when all are real.
ir::Value RowMask(Context& ctx, ir::Value x);

}  // namespace flatout::nn
