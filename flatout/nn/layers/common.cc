#include "flatout/nn/layers/common.h"

#include <fmt/format.h>

#include <algorithm>

namespace flatout::nn {

void CheckPositive(std::string_view type, std::string_view argument, int64_t value) {
  if (value <= 0) throw Invalid("{}: {} must be positive, found {}", type, argument, value);
  if (value > kMostSize) {
    throw Invalid("{}: {} must be at most {}, found {}", type, argument, kMostSize, value);
  }
}

void CheckPositive(std::string_view type, std::string_view argument,
                   const std::vector<int64_t>& values) {
  for (const int64_t value : values) {
    if (value <= 0) {
      throw Invalid("{}: {} must be positive, found {}", type, argument,
                    values.size() == 1 ? fmt::format("{}", value) : ir::DimsToString(values));
    }
    CheckPositive(type, argument, value);
  }
}

std::vector<int64_t> PerDimension(std::string_view type, std::string_view argument,
                                  std::vector<int64_t> values, int64_t rank) {
  CheckPositive(type, argument, values);
  if (values.size() == 1) values.assign(static_cast<size_t>(rank), values[0]);
  if (static_cast<int64_t>(values.size()) != rank) {
    throw Invalid("{}: {} needs one number or {}, found {}", type, argument, rank,
                  ir::DimsToString(values));
  }
  return values;
}

void CheckOneOf(std::string_view type, std::string_view argument, const std::string& value,
                const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  throw Invalid("{}: {} must be one of {}; found \"{}\"{}", type, argument,
                fmt::join(allowed, ", "), value, DidYouMean(value, allowed));
}

void CheckChannelsLast(std::string_view type, const std::string& data_format) {
  if (data_format == "channels_last") return;
  throw Invalid(
      "{}: data_format must be \"channels_last\", found \"{}\"; put the channels last, "
      "with a Permute layer if need be",
      type, data_format);
}

void CheckRate(std::string_view type, std::string_view argument, double value, bool one_allowed) {
  if (value >= 0 && (value < 1 || (one_allowed && value == 1))) return;
  throw Invalid("{}: {} must be in [0, 1{}, found {}", type, argument, one_allowed ? "]" : ")",
                value);
}

void CheckRank(const Layer& layer, ir::Value x, int64_t rank) {
  if (x.rank() != rank) {
    throw Invalid("{} needs inputs of rank {}, found {}", layer.type(), rank, Shown(x));
  }
}

void CheckMinRank(const Layer& layer, ir::Value x, int64_t rank) {
  if (x.rank() < rank) {
    throw Invalid("{} needs inputs of rank >= {}, found {}", layer.type(), rank, Shown(x));
  }
}

int64_t FeatureAxis(const Layer& layer, ir::Value x, int64_t axis) {
  const int64_t positive = axis < 0 ? axis + x.rank() : axis;
  if (positive < 0 || positive >= x.rank()) {
    throw Invalid("{}: axis {} does not exist in {}", layer.type(), axis, Shown(x));
  }
  if (positive == 0) {
    throw Invalid("{}: axis {} of {} is the batch; choose another", layer.type(), axis, Shown(x));
  }
  return positive;
}

std::pair<int64_t, int64_t> WindowPadding(const std::string& padding, int64_t size, int64_t window,
                                          int64_t stride) {
  if (padding == "valid") return {0, 0};
  if (padding == "causal") return {window - 1, 0};
  const int64_t outputs = (size + stride - 1) / stride;
  const int64_t total = std::max<int64_t>((outputs - 1) * stride + window - size, 0);
  return {total / 2, total - total / 2};
}

void CheckWindowFits(const Layer& layer, ir::Value x, const std::string& argument,
                     const std::string& padding, const std::vector<int64_t>& window) {
  if (padding != "valid") return;
  for (size_t i = 0; i < window.size(); ++i) {
    if (window[i] > x.dim(static_cast<int64_t>(i) + 1)) {
      throw Invalid(
          "{}: {} covers {} cells, more than the input {} has; use padding = \"same\", a "
          "smaller {} or larger inputs",
          layer.type(), argument, ir::DimsToString(window), Shown(x), argument);
    }
  }
}

ir::Value ToCompute(Context& ctx, ir::Value x) { return ir::Convert(x, ctx.compute_dtype()); }

ir::Value L2Normalize(ir::Value x, const std::vector<int64_t>& axes) {
  // Keras's bound on the norm is 1e-12; under the root, so that the gradient of zeros is finite.
  return x * ir::Rsqrt(ir::Max(ir::ReduceSum(ir::Square(x), axes, true), 1e-24));
}

void AddActivityPenalty(Context& ctx, const Regularizer& regularizer, ir::Value y) {
  if (regularizer.empty()) return;
  ir::Value values = ir::Convert(y, ir::DType::kF32);
  if (const ir::Value mask = RowMask(ctx, y)) values = values * mask;
  ctx.AddLoss(Penalty(regularizer, values));
}

ir::Value RowMask(Context& ctx, ir::Value x) {
  const ir::Value weights = ctx.row_weights();
  if (!weights) return {};
  ir::Dims dims(static_cast<size_t>(x.rank()), 1);
  dims[0] = weights.dim(0);
  return ir::Reshape(weights, dims);
}

}  // namespace flatout::nn
