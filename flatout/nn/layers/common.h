// Shared by the layer families: checks of arguments and small pieces of computation.
#pragma once

#include <string_view>
#include <vector>

#include "flatout/nn/layer.h"

namespace flatout::nn {

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
// Converts integers (images as bytes) to what the layer computes in.
ir::Value ToCompute(Context& ctx, ir::Value x);
// Adds the activity penalty of y's real rows to the loss.
void AddActivityPenalty(Context& ctx, const Regularizer& regularizer, ir::Value y);
// 1 for real rows and 0 for padding, as f32[batch, 1, 1, ...] of x's rank; none when all are real.
ir::Value RowMask(Context& ctx, ir::Value x);

}  // namespace flatout::nn
