#include "flatout/nn/layers/preprocessing.h"

#include <algorithm>
#include <cmath>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"
#include "flatout/nn/layers/common.h"

namespace flatout::nn {
namespace {

using ir::Dims;
using ir::Value;

// Numbers as a constant of `dims`, in the dtype of `like`.
Value ConstantLike(Value like, const Dims& dims, const std::vector<double>& numbers) {
  const std::vector<float> values(numbers.begin(), numbers.end());
  return ir::Convert(ir::ConstantF32(like.graph(), dims, values), like.dtype());
}

class RescalingLayer : public Layer {
 public:
  explicit RescalingLayer(RescalingOptions options)
      : Layer(RescalingOptions::kType, options.common), options_(std::move(options)) {
    if (options_.scale.empty() || options_.offset.empty()) {
      throw Invalid("{}: scale and offset need at least one number each", type());
    }
  }
  // In float32, and rounded once: integers beyond 256 (bfloat16) or 65504 (float16) are inputs,
  // too.
  bool autocast() const override { return false; }
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value x = ir::Convert(inputs[0], ir::DType::kF32);
    x = x * Numbers("scale", options_.scale, x);
    if (options_.offset != std::vector<double>{0.0}) {
      x = x + Numbers("offset", options_.offset, x);
    }
    return {ToCompute(ctx, x)};
  }

 private:
  Value Numbers(std::string_view argument, const std::vector<double>& numbers, Value x) const {
    if (numbers.size() == 1) return ir::ScalarLike(x, numbers[0]);
    const auto count = static_cast<int64_t>(numbers.size());
    if (x.rank() < 2 || x.dim(-1) != count) {
      throw Invalid("{}: {} has {} numbers, so the last dimension must be {}, found {}", type(),
                    argument, count, count, Shown(x));
    }
    return ConstantLike(x, {count}, numbers);
  }

  RescalingOptions options_;
};

// Mean and variance per kept entry over all samples, merged batch by batch (Chan et al. 1979):
// exact however many samples there are.
class MomentsAccumulator : public Adaptable::Accumulator {
 public:
  // kept[i]: dimension i of the sample is kept.
  MomentsAccumulator(const ir::Shape& sample, const std::vector<bool>& kept) {
    group_of_.resize(static_cast<size_t>(sample.size()));
    int64_t groups = 1;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (kept[i]) groups *= sample.dims[i];
    }
    for (int64_t element = 0; element < sample.size(); ++element) {
      int64_t rest = element, group = 0, stride = 1;
      for (size_t i = kept.size(); i-- > 0;) {
        const int64_t index = rest % sample.dims[i];
        rest /= sample.dims[i];
        if (!kept[i]) continue;
        group += index * stride;
        stride *= sample.dims[i];
      }
      group_of_[static_cast<size_t>(element)] = static_cast<size_t>(group);
    }
    mean_.resize(static_cast<size_t>(groups), 0);
    squares_.resize(static_cast<size_t>(groups), 0);
    per_group_ = static_cast<double>(sample.size()) / static_cast<double>(groups);
  }

  void Add(std::span<const float> values, int64_t rows) override {
    const size_t size = group_of_.size();
    if (rows < 1) return;
    if (values.size() != size * static_cast<size_t>(rows)) {
      throw Internal("adapt: {} numbers given for {} samples of {}", values.size(), rows, size);
    }
    const double added = per_group_ * static_cast<double>(rows);
    std::vector<double> mean(mean_.size(), 0), squares(mean_.size(), 0);
    for (size_t i = 0; i < values.size(); ++i) mean[group_of_[i % size]] += values[i];
    for (double& m : mean) m /= added;
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t g = group_of_[i % size];
      const double difference = values[i] - mean[g];
      squares[g] += difference * difference;
    }
    const double total = count_ + added;
    for (size_t g = 0; g < mean_.size(); ++g) {
      const double delta = mean[g] - mean_[g];
      mean_[g] += delta * added / total;
      squares_[g] += squares[g] + delta * delta * count_ * added / total;
    }
    count_ = total;
  }

  std::vector<std::pair<std::string, std::vector<float>>> Finish() const override {
    if (count_ == 0) {
      throw Invalid(
          "Normalization: no data to find mean and variance from; give mean and variance, "
          "or a training split with samples");
    }
    std::vector<float> variance;
    for (double s : squares_) variance.push_back(static_cast<float>(s / count_));
    return {{"mean", std::vector<float>(mean_.begin(), mean_.end())},
            {"variance", std::move(variance)}};
  }

 private:
  std::vector<size_t> group_of_;  // of each element of a sample
  double per_group_ = 1, count_ = 0;
  std::vector<double> mean_, squares_;
};

class NormalizationLayer : public Layer, public Adaptable {
 public:
  explicit NormalizationLayer(NormalizationOptions options)
      : Layer(NormalizationOptions::kType, options.common), options_(std::move(options)) {
    if (options_.mean.has_value() != options_.variance.has_value()) {
      throw Invalid("{}: mean and variance go together; found only {}", type(),
                    options_.mean ? "mean" : "variance");
    }
    if (!options_.variance) return;
    for (double variance : *options_.variance) {
      if (!(variance >= 0)) {
        throw Invalid("{}: variance must be at least 0, found {}", type(), variance);
      }
    }
  }

  bool needs_data() const override { return !options_.mean; }
  std::unique_ptr<Accumulator> StartAdapt(const ir::Shape& sample) const override {
    std::vector<bool> kept = Kept(sample.rank() + 1);
    kept.erase(kept.begin());
    return std::make_unique<MomentsAccumulator>(sample, kept);
  }

  // In float32: a large mean would cost a lower precision all its bits.
  bool autocast() const override { return false; }
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    const Value x = ir::Convert(inputs[0], ir::DType::kF32);
    const std::vector<bool> kept = Kept(x.rank());
    Dims dims, spread;
    for (int64_t i = 0; i < x.rank(); ++i) {
      const bool keep = kept[static_cast<size_t>(i)];
      if (keep) dims.push_back(x.dim(i));
      spread.push_back(keep ? x.dim(i) : 1);
    }
    Value mean, variance;
    if (options_.mean) {
      mean = Given("mean", *options_.mean, x, spread);
      variance = Given("variance", *options_.variance, x, spread);
    } else {
      mean = ir::Reshape(ctx.State("mean", dims, "zeros"), spread);
      variance = ir::Reshape(ctx.State("variance", dims, "ones"), spread);
    }
    // Keras's epsilon keeps constant columns finite.
    Value deviation = ir::Max(ir::Sqrt(variance), 1e-7);
    return {ToCompute(ctx, options_.invert ? mean + x * deviation : (x - mean) / deviation)};
  }

 private:
  // Which dimensions of an input of that rank have their own mean.
  std::vector<bool> Kept(int64_t rank) const {
    std::vector<bool> kept(static_cast<size_t>(rank), false);
    for (int64_t axis : options_.axis) {
      const int64_t a = axis < 0 ? axis + rank : axis;
      if (a < 1 || a >= rank) {
        throw Invalid(
            "{}: axis {} is outside inputs of rank {} (the batch is axis 0 and cannot be "
            "kept)",
            type(), axis, rank);
      }
      kept[static_cast<size_t>(a)] = true;
    }
    return kept;
  }
  Value Given(std::string_view argument, const std::vector<double>& numbers, Value x,
              const Dims& spread) const {
    int64_t count = 1;
    for (int64_t d : spread) count *= d;
    if (numbers.size() == 1) return ir::ScalarLike(x, numbers[0]);
    if (static_cast<int64_t>(numbers.size()) != count) {
      throw Invalid("{}: {} needs 1 or {} numbers for {}, found {}", type(), argument, count,
                    Shown(x), numbers.size());
    }
    return ConstantLike(x, spread, numbers);
  }

  NormalizationOptions options_;
};

// Keras's encodings of tokens [batch, ...] as vectors of `depth`. Counted in float32.
Value Encode(const Layer& layer, Value tokens, int64_t depth, const std::string& mode,
             Value weights) {
  constexpr ir::DType kDType = ir::DType::kF32;
  if (mode == "one_hot") {
    if (tokens.rank() > 1 && tokens.dim(-1) == 1) tokens = ir::Squeeze(tokens, -1);
    return ir::OneHot(tokens, depth, kDType);
  }
  if (tokens.rank() == 1) {
    tokens = ir::ExpandDims(tokens, -1);
    if (weights) weights = ir::ExpandDims(weights, -1);
  }
  Value hot = ir::OneHot(tokens, depth, kDType);
  if (mode == "multi_hot") return ir::ReduceMax(hot, {-2});
  if (weights) {
    if (weights.dims() != tokens.dims()) {
      throw Invalid("{}: weights must have the tokens' shape, found {} and {}", layer.type(),
                    Shown(weights), Shown(tokens));
    }
    hot = hot * ir::ExpandDims(ir::Convert(weights, kDType), -1);
  }
  return ir::ReduceSum(hot, {-2});
}

class CategoryEncodingLayer : public Layer {
 public:
  explicit CategoryEncodingLayer(CategoryEncodingOptions options)
      : Layer(CategoryEncodingOptions::kType, options.common), options_(std::move(options)) {
    CheckPositive(type(), "num_tokens", options_.num_tokens);
    CheckOneOf(type(), "output_mode", options_.output_mode, {"multi_hot", "one_hot", "count"});
  }
  int64_t max_inputs() const override { return options_.output_mode == "count" ? 2 : 1; }
  bool autocast() const override { return false; }
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value tokens = ir::Convert(inputs[0], ir::DType::kI32);
    return {ToCompute(ctx, Encode(*this, tokens, options_.num_tokens, options_.output_mode,
                                  inputs.size() > 1 ? inputs[1] : Value()))};
  }

 private:
  CategoryEncodingOptions options_;
};

class DiscretizationLayer : public Layer {
 public:
  explicit DiscretizationLayer(DiscretizationOptions options)
      : Layer(DiscretizationOptions::kType, options.common), options_(std::move(options)) {
    CheckOneOf(type(), "output_mode", options_.output_mode,
               {"int", "one_hot", "multi_hot", "count"});
    const auto& b = options_.bin_boundaries;
    if (b.empty()) throw Invalid("{}: bin_boundaries must hold at least one number", type());
    for (size_t i = 1; i < b.size(); ++i) {
      if (!(b[i - 1] < b[i])) {
        throw Invalid("{}: bin_boundaries must rise, found {} before {}", type(), b[i - 1], b[i]);
      }
    }
  }
  bool autocast() const override { return false; }
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value x = ir::Convert(inputs[0], ir::DType::kF32);
    const auto count = static_cast<int64_t>(options_.bin_boundaries.size());
    Value boundaries = ConstantLike(x, {count}, options_.bin_boundaries);
    Value above = ir::Compare(ir::ExpandDims(x, -1), boundaries, ir::Comparison::kGe);
    Value bin = ir::ReduceSum(ir::Convert(above, ir::DType::kI32), {-1});
    if (options_.output_mode == "int") return {bin};
    return {ToCompute(ctx, Encode(*this, bin, count + 1, options_.output_mode, {}))};
  }

 private:
  DiscretizationOptions options_;
};

// [from, to]: how much of each source pixel every target pixel takes. Centres at half numbers.
std::vector<double> ResizeMatrix(int64_t from, int64_t to, bool nearest) {
  std::vector<double> matrix(static_cast<size_t>(from * to), 0);
  const auto at = [&](int64_t source, int64_t target) -> double& {
    return matrix[static_cast<size_t>(std::clamp<int64_t>(source, 0, from - 1) * to + target)];
  };
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    if (nearest) {
      at(static_cast<int64_t>(std::floor(centre)), i) = 1;
      continue;
    }
    const double low = std::floor(centre - 0.5), share = centre - 0.5 - low;
    at(static_cast<int64_t>(low), i) += 1 - share;
    at(static_cast<int64_t>(low) + 1, i) += share;
  }
  return matrix;
}

class ResizingLayer : public Layer {
 public:
  explicit ResizingLayer(ResizingOptions options)
      : Layer(ResizingOptions::kType, options.common), options_(std::move(options)) {
    CheckPositive(type(), "height", options_.height);
    CheckPositive(type(), "width", options_.width);
    CheckOneOf(type(), "interpolation", options_.interpolation, {"bilinear", "nearest"});
    CheckChannelsLast(type(), options_.data_format);
  }
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value x = ToCompute(ctx, inputs[0]);
    CheckRank(*this, x, 4);
    return {ResizeImages(x, options_.height, options_.width, options_.interpolation,
                         options_.crop_to_aspect_ratio)};
  }

 private:
  ResizingOptions options_;
};

class CenterCropLayer : public Layer {
 public:
  explicit CenterCropLayer(CenterCropOptions options)
      : Layer(CenterCropOptions::kType, options.common), options_(std::move(options)) {
    CheckPositive(type(), "height", options_.height);
    CheckPositive(type(), "width", options_.width);
    CheckChannelsLast(type(), options_.data_format);
  }
  std::vector<Value> Call(Context& ctx, std::span<const Value> inputs) const override {
    Value x = ToCompute(ctx, inputs[0]);
    CheckRank(*this, x, 4);
    const int64_t down = x.dim(1) - options_.height, right = x.dim(2) - options_.width;
    if (down < 0 || right < 0) {
      return {ResizeImages(x, options_.height, options_.width, "bilinear", true)};
    }
    x = ir::SliceAxis(x, 1, down / 2, down / 2 + options_.height);
    return {ir::SliceAxis(x, 2, right / 2, right / 2 + options_.width)};
  }

 private:
  CenterCropOptions options_;
};

}  // namespace

Value ResizeImages(Value images, int64_t height, int64_t width, const std::string& interpolation,
                   bool crop_to_aspect_ratio) {
  Value x = images;
  if (crop_to_aspect_ratio) {
    // The largest window of the target's aspect, centred; sizes rounded down as Keras does.
    const int64_t crop_height = std::clamp<int64_t>(x.dim(2) * height / width, 1, x.dim(1));
    const int64_t crop_width = std::clamp<int64_t>(x.dim(1) * width / height, 1, x.dim(2));
    const int64_t top = (x.dim(1) - crop_height) / 2, left = (x.dim(2) - crop_width) / 2;
    x = ir::SliceAxis(x, 1, top, top + crop_height);
    x = ir::SliceAxis(x, 2, left, left + crop_width);
  }
  if (x.dim(1) == height && x.dim(2) == width) return x;
  const bool nearest = interpolation == "nearest";
  // Separable: one product with a constant matrix per direction. [b, H, W, C] -> [b, W, C, h] ->
  // [b, C, h, w].
  Value rows = ConstantLike(x, {x.dim(1), height}, ResizeMatrix(x.dim(1), height, nearest));
  Value columns = ConstantLike(x, {x.dim(2), width}, ResizeMatrix(x.dim(2), width, nearest));
  Value y = ir::DotGeneral(x, rows, {{}, {}, {1}, {0}});
  y = ir::DotGeneral(y, columns, {{}, {}, {1}, {0}});
  return ir::Transpose(y, {0, 2, 3, 1});
}

LayerPtr Rescaling(RescalingOptions options) {
  return std::make_shared<RescalingLayer>(std::move(options));
}
LayerPtr Normalization(NormalizationOptions options) {
  return std::make_shared<NormalizationLayer>(std::move(options));
}
LayerPtr CategoryEncoding(CategoryEncodingOptions options) {
  return std::make_shared<CategoryEncodingLayer>(std::move(options));
}
LayerPtr Discretization(DiscretizationOptions options) {
  return std::make_shared<DiscretizationLayer>(std::move(options));
}
LayerPtr Resizing(ResizingOptions options) {
  return std::make_shared<ResizingLayer>(std::move(options));
}
LayerPtr CenterCrop(CenterCropOptions options) {
  return std::make_shared<CenterCropLayer>(std::move(options));
}

std::span<const LayerDef> PreprocessingLayers() {
  static const LayerDef table[] = {
      MakeLayerDef<RescalingOptions, &Rescaling>("Rescaling"),
      MakeLayerDef<NormalizationOptions, &Normalization>("Normalization"),
      MakeLayerDef<CategoryEncodingOptions, &CategoryEncoding>("CategoryEncoding"),
      MakeLayerDef<DiscretizationOptions, &Discretization>("Discretization"),
      MakeLayerDef<ResizingOptions, &Resizing>("Resizing"),
      MakeLayerDef<CenterCropOptions, &CenterCrop>("CenterCrop"),
  };
  return table;
}

}  // namespace flatout::nn
