#include "flatout/nn/layers/merging.h"

#include <algorithm>
#include <limits>

#include "flatout/ir/ops.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using Values = std::vector<ir::Value>;
constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();

std::string AllShown(std::span<const ir::Value> values) {
  std::string result;
  for (const ir::Value value : values) result += (result.empty() ? "" : ", ") + Shown(value);
  return result;
}

// Inputs of one dtype stay as they are; mixed ones meet in the compute dtype.
Values SameDType(Context& ctx, std::span<const ir::Value> inputs) {
  Values result(inputs.begin(), inputs.end());
  const bool mixed = std::any_of(inputs.begin(), inputs.end(), [&](ir::Value value) {
    return value.dtype() != inputs[0].dtype();
  });
  if (mixed) {
    for (ir::Value& value : result) value = ToCompute(ctx, value);
  }
  return result;
}

class ConcatenateLayer : public Layer {
 public:
  explicit ConcatenateLayer(ConcatenateOptions options)
      : Layer(ConcatenateOptions::kType, options.common), options_(std::move(options)) {}
  int64_t max_inputs() const override { return kAnyNumber; }

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    const Values values = SameDType(ctx, inputs);
    const int64_t axis = FeatureAxis(*this, values[0], options_.axis);
    for (const ir::Value value : values) {
      bool fits = value.rank() == values[0].rank();
      for (int64_t i = 0; fits && i < value.rank(); ++i) {
        fits = i == axis || value.dim(i) == values[0].dim(i);
      }
      if (!fits) {
        throw Invalid(
            "Concatenate along axis {} needs inputs that are equal in all other "
            "dimensions, found {}",
            options_.axis, AllShown(inputs));
      }
    }
    return {ir::Concatenate(values, axis)};
  }

 private:
  ConcatenateOptions options_;
};

class MergeLayer : public Layer {
 public:
  MergeLayer(MergeKind kind, CommonOptions common)
      : Layer(MergeName(kind), std::move(common)), kind_(kind) {}
  int64_t min_inputs() const override { return 2; }
  int64_t max_inputs() const override { return kind_ == MergeKind::kSubtract ? 2 : kAnyNumber; }

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    Values values = SameDType(ctx, inputs);
    int64_t rank = 0;
    for (const ir::Value value : values) rank = std::max(rank, value.rank());
    for (ir::Value& value : values) {
      ir::Dims dims = value.dims();
      dims.insert(dims.begin() + 1, static_cast<size_t>(rank - value.rank()), 1);
      value = ir::Reshape(value, dims);
      // The sum of an average may lie outside of float16's range.
      if (kind_ == MergeKind::kAverage) value = ir::Convert(value, ir::DType::kF32);
    }
    for (int64_t i = 0; i < rank; ++i) {
      int64_t size = 1;
      for (const ir::Value value : values) {
        if (value.dim(i) == 1 && i > 0) continue;
        if (size != 1 && value.dim(i) != size) {
          throw Invalid("{} needs inputs of one shape (sizes of 1 stretch), found {}", type(),
                        AllShown(inputs));
        }
        size = value.dim(i);
      }
    }
    ir::Value result = values[0];
    for (size_t i = 1; i < values.size(); ++i) result = Join(result, values[i]);
    if (kind_ == MergeKind::kAverage) {
      result = ToCompute(ctx, result / static_cast<double>(values.size()));
    }
    return {result};
  }

 private:
  ir::Value Join(ir::Value a, ir::Value b) const {
    switch (kind_) {
      case MergeKind::kAdd:
      case MergeKind::kAverage:
        return ir::Add(a, b);
      case MergeKind::kSubtract:
        return ir::Sub(a, b);
      case MergeKind::kMultiply:
        return ir::Mul(a, b);
      case MergeKind::kMaximum:
        return ir::Max(a, b);
      case MergeKind::kMinimum:
        return ir::Min(a, b);
    }
    return {};
  }

  MergeKind kind_;
};

class DotLayer : public Layer {
 public:
  explicit DotLayer(DotOptions options)
      : Layer(DotOptions::kType, options.common), options_(std::move(options)) {}
  int64_t min_inputs() const override { return 2; }
  int64_t max_inputs() const override { return 2; }

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    ir::Value a = ToCompute(ctx, inputs[0]);
    ir::Value b = ToCompute(ctx, inputs[1]);
    const int64_t axis_a = FeatureAxis(*this, a, options_.axes.front());
    const int64_t axis_b = FeatureAxis(*this, b, options_.axes.back());
    if (a.dim(axis_a) != b.dim(axis_b)) {
      throw Invalid("Dot: axes {} of {} and {} of {} must be of one size", options_.axes.front(),
                    Shown(a), options_.axes.back(), Shown(b));
    }
    if (options_.normalize) {
      a = ToCompute(ctx, L2Normalize(ir::Convert(a, ir::DType::kF32), {axis_a}));
      b = ToCompute(ctx, L2Normalize(ir::Convert(b, ir::DType::kF32), {axis_b}));
    }
    ir::DotDims dims;
    dims.lhs_batch = {0};
    dims.rhs_batch = {0};
    dims.lhs_contract = {axis_a};
    dims.rhs_contract = {axis_b};
    const ir::Value y = ir::DotGeneral(a, b, dims);
    return {y.rank() == 1 ? ir::Reshape(y, {y.dim(0), 1}) : y};
  }

 private:
  DotOptions options_;
};

class DotInteractionLayer : public Layer {
 public:
  explicit DotInteractionLayer(DotInteractionOptions options)
      : Layer(DotInteractionOptions::kType, options.common), options_(std::move(options)) {}
  int64_t max_inputs() const override { return kAnyNumber; }

  Values Call(Context& ctx, std::span<const ir::Value> inputs) const override {
    Values values;
    for (const ir::Value input : inputs) {
      if (input.rank() < 2 || input.rank() > 3 || input.dim(-1) != inputs[0].dim(-1)) {
        throw Invalid(
            "DotInteraction needs inputs [batch, features] or [batch, count, features] "
            "with equal features, found {}",
            AllShown(inputs));
      }
      const ir::Value x = ToCompute(ctx, input);
      values.push_back(x.rank() == 3 ? x : ir::ExpandDims(x, 1));
    }
    const ir::Value all = ir::Concatenate(values, 1);
    if (all.dim(1) < 2) throw Invalid("DotInteraction needs at least two vectors, found one");
    ir::DotDims dims;
    dims.lhs_batch = {0};
    dims.rhs_batch = {0};
    dims.lhs_contract = {2};
    dims.rhs_contract = {2};
    const ir::Value products = ir::DotGeneral(all, all, dims);
    // The lower triangle, row by row.
    const int64_t batch = all.dim(0);
    Values rows;
    const int64_t first = options_.self_interaction ? 0 : 1;
    for (int64_t i = first; i < all.dim(1); ++i) {
      const int64_t count = i + 1 - first;
      const ir::Value row = ir::Slice(products, {0, i, 0}, {batch, i + 1, count}, {1, 1, 1});
      rows.push_back(ir::Reshape(row, {batch, count}));
    }
    return {ir::Concatenate(rows, 1)};
  }

 private:
  DotInteractionOptions options_;
};

template <MergeKind kKind>
LayerPtr MakeMerge(MergeOptions<kKind> options) {
  return std::make_shared<MergeLayer>(kKind, std::move(options.common));
}

}  // namespace

LayerPtr Concatenate(ConcatenateOptions options) {
  return std::make_shared<ConcatenateLayer>(std::move(options));
}
LayerPtr Add(AddOptions options) { return MakeMerge(std::move(options)); }
LayerPtr Subtract(SubtractOptions options) { return MakeMerge(std::move(options)); }
LayerPtr Multiply(MultiplyOptions options) { return MakeMerge(std::move(options)); }
LayerPtr Average(AverageOptions options) { return MakeMerge(std::move(options)); }
LayerPtr Maximum(MaximumOptions options) { return MakeMerge(std::move(options)); }
LayerPtr Minimum(MinimumOptions options) { return MakeMerge(std::move(options)); }

LayerPtr Dot(DotOptions options) {
  if (options.axes.empty() || options.axes.size() > 2) {
    throw Invalid("Dot: axes must be one number or two, found {}", ir::DimsToString(options.axes));
  }
  return std::make_shared<DotLayer>(std::move(options));
}

LayerPtr DotInteraction(DotInteractionOptions options) {
  return std::make_shared<DotInteractionLayer>(std::move(options));
}

std::span<const LayerDef> MergingLayers() {
  static const std::vector<LayerDef> table = {
      MakeLayerDef<ConcatenateOptions, &Concatenate>("Concatenate"),
      MakeLayerDef<AddOptions, &Add>("Add"),
      MakeLayerDef<SubtractOptions, &Subtract>("Subtract"),
      MakeLayerDef<MultiplyOptions, &Multiply>("Multiply"),
      MakeLayerDef<AverageOptions, &Average>("Average"),
      MakeLayerDef<MaximumOptions, &Maximum>("Maximum"),
      MakeLayerDef<MinimumOptions, &Minimum>("Minimum"),
      MakeLayerDef<DotOptions, &Dot>("Dot"),
      MakeLayerDef<DotInteractionOptions, &DotInteraction>("DotInteraction"),
  };
  return table;
}

}  // namespace flatout::nn
