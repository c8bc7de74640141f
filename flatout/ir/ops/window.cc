// Reductions over sliding windows (pooling) and their gradients.
//
// XLA:CPU runs select_and_scatter one element at a time: 43 ms for the gradient of 2x2 max pooling
// over 64x28x28x64, where the compositions below take 2 ms. They find, per window, which tap held
// the maximum (the first one where several are equal, as TensorFlow and PyTorch have it) and send
// the gradient there.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

// Above this many taps per window, a chain of selects costs more than the alternatives.
constexpr int64_t kMaxTapsTiled = 16;
constexpr int64_t kMaxTapsOverlapping = 32;

int64_t Spread(int64_t size, int64_t step) { return size == 0 ? 0 : (size - 1) * step + 1; }

// Tensors are small in rank and this code is not hot: a Window of full lists is easiest to handle.
Window Complete(Window window, int64_t rank) {
  if (window.strides.empty()) window.strides.assign(rank, 1);
  if (window.dilation.empty()) window.dilation.assign(rank, 1);
  if (window.base_dilation.empty()) window.base_dilation.assign(rank, 1);
  if (window.padding.empty()) window.padding.assign(2 * rank, 0);
  return window;
}

Attributes ToAttributes(const Window& window) {
  return {{"size", window.size},
          {"strides", window.strides},
          {"dilation", window.dilation},
          {"base_dilation", window.base_dilation},
          {"padding", window.padding}};
}

Window FromAttributes(const Attributes& attrs) {
  Window window;
  window.size = attrs.Ints("size");
  window.strides = attrs.Ints("strides");
  window.dilation = attrs.Ints("dilation");
  window.base_dilation = attrs.Ints("base_dilation");
  window.padding = attrs.Ints("padding");
  return window;
}

Dims WindowedDims(const Shape& x, const Window& window) {
  const size_t rank = x.dims.size();
  const auto positive = [&](const Dims& values, const char* what) {
    if (values.size() != rank ||
        std::any_of(values.begin(), values.end(), [](int64_t v) { return v < 1; })) {
      throw Invalid("window {} must be {} positive numbers for {}, found {}", what, rank,
                    x.ToString(), DimsToString(values));
    }
  };
  positive(window.size, "size");
  positive(window.strides, "strides");
  positive(window.dilation, "dilation");
  positive(window.base_dilation, "base dilation");
  if (window.padding.size() != 2 * rank ||
      std::any_of(window.padding.begin(), window.padding.end(), [](int64_t v) { return v < 0; })) {
    throw Invalid("window padding must be {} numbers of at least 0 for {}, found {}", 2 * rank,
                  x.ToString(), DimsToString(window.padding));
  }
  Dims dims;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = Spread(x.dims[i], window.base_dilation[i]) + window.padding[2 * i] +
                           window.padding[2 * i + 1];
    const int64_t reach = Spread(window.size[i], window.dilation[i]);
    dims.push_back(extent < reach ? 0 : (extent - reach) / window.strides[i] + 1);
  }
  return dims;
}

int64_t Taps(const Window& window) {
  int64_t taps = 1;
  for (int64_t size : window.size) taps *= size;
  return taps;
}

Reduction ReductionOf(const Node& node) {
  const std::string& name = node.attrs().String("reduction");
  if (name == "sum") return Reduction::kSum;
  return name == "max" ? Reduction::kMax : Reduction::kMin;
}

// What leaves a maximum (minimum) as it is.
double Identity(Reduction reduction, DType dtype) {
  if (reduction == Reduction::kSum) return 0;
  const bool max = reduction == Reduction::kMax;
  if (IsFloat(dtype))
    return max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (IsUnsigned(dtype) && max) return 0;
  const int bits = static_cast<int>(8 * ByteSize(dtype)) - (IsUnsigned(dtype) ? 0 : 1);
  double limit = 1;
  for (int i = 0; i < bits; ++i) limit *= 2;
  return max ? -limit : limit - 1;
}

std::vector<Shape> InferReduceWindow(const Node& node) {
  const Shape& x = node.input(0).shape();
  if (x.dtype == DType::kPred) {
    throw Invalid("windows reduce numbers, found {}", x.ToString());
  }
  return {x.WithDims(WindowedDims(x, FromAttributes(node.attrs())))};
}

std::string WindowText(const Window& window) {
  return fmt::format(
      "window_dimensions = {}, window_strides = {}, base_dilations = {}, "
      "window_dilations = {}, padding = {}",
      I64Array(window.size), I64Array(window.strides), I64Array(window.base_dilation),
      I64Array(window.dilation), I64Matrix(window.padding, 2));
}

// The same window along dimensions [begin, end) only.
Window Only(const Window& window, size_t begin, size_t end) {
  Window only = window;
  for (size_t i = 0; i < window.size.size(); ++i) {
    if (i >= begin && i < end) continue;
    only.size[i] = only.strides[i] = only.dilation[i] = only.base_dilation[i] = 1;
    only.padding[2 * i] = only.padding[2 * i + 1] = 0;
  }
  return only;
}

bool Overlaps(const Window& window, size_t i) {
  return window.size[i] > 1 && window.strides[i] < Spread(window.size[i], window.dilation[i]);
}

// Windows that overlap along several dimensions are reduced one dimension after the other, last
// first: the values are shared between windows, so the work falls from the product of the sizes to
// their sum (3x3, stride 2 over 32x56x56x64 on XLA:CPU: 7.4 ms in one op, 1.6 ms in two).
void WriteReduceWindow(StablehloWriter& writer, const Node& node) {
  const Window window = FromAttributes(node.attrs());
  const Reduction reduction = ReductionOf(node);
  const std::string_view op = reduction == Reduction::kSum   ? "add"
                              : reduction == Reduction::kMax ? "maximum"
                                                             : "minimum";
  Shape shape = node.input(0).shape();
  const Shape scalar = Shape::Scalar(shape.dtype);
  const std::string init = writer.Splat(scalar, Identity(reduction, shape.dtype));
  std::vector<Window> steps;
  size_t overlapping = 0;
  for (size_t i = 0; i < window.size.size(); ++i) overlapping += Overlaps(window, i) ? 1 : 0;
  if (overlapping < 2) {
    steps = {window};
  } else {
    for (size_t i = window.size.size(); i-- > 0;) {
      const Window step = Only(window, i, i + 1);
      if (WindowedDims(shape, step) != shape.dims || window.size[i] > 1)
        steps.push_back(step);
      else if (window.padding[2 * i] > 0)
        steps.push_back(step);
    }
  }
  std::string name = writer.Ref(node.input(0));
  for (const Window& step : steps) {
    const Shape result = shape.WithDims(WindowedDims(shape, step));
    name = writer.EmitRaw("reduce_window", {name, init}, {shape, scalar}, {result},
                          WindowText(step), {writer.BinaryRegion(shape.dtype, op)});
    shape = result;
  }
  writer.Bind(node, name);
}

double ReduceWindowFlops(const Node& node) {
  const int64_t taps = Taps(FromAttributes(node.attrs()));
  return IsFloat(node.shape().dtype) ? static_cast<double>(node.shape().size() * (taps - 1)) : 0;
}

// --- gradient of sums ---------------------------------------------------------------------------

// y[n] = sum_k x'[s n + d k - lo], x' being x spread by b. So x[m] collects dy from every n with
// s n + d k - lo = b m: windows of the same form over dy spread by s, stride b.
Value SumGradient(const Shape& x, const Window& window, Value dy) {
  Dims low, high, interior;
  Window back = window;
  back.padding.assign(window.padding.size(), 0);
  back.base_dilation.assign(window.size.size(), 1);
  back.strides = window.base_dilation;
  for (size_t i = 0; i < window.size.size(); ++i) {
    const int64_t reach = Spread(window.size[i], window.dilation[i]);
    low.push_back(reach - 1 - window.padding[2 * i]);
    high.push_back(Spread(x.dims[i], window.base_dilation[i]) + reach - 1 -
                   Spread(dy.dim(i), window.strides[i]) - low[i]);
    interior.push_back(window.strides[i] - 1);
  }
  return ReduceWindow(Reduction::kSum, Pad(dy, 0, low, high, interior), back);
}

// --- windows that tile --------------------------------------------------------------------------

bool Tiles(const Window& window) {
  for (size_t i = 0; i < window.size.size(); ++i) {
    if (window.strides[i] != window.size[i] || window.base_dilation[i] != 1) return false;
    if (window.dilation[i] != 1 && window.size[i] != 1) return false;
  }
  return true;
}

// How x becomes whole windows and back: padded (or cut) to n * size per dimension, then every
// windowed dimension split in two.
struct Tiling {
  Dims low, high;  // for Pad; high is negative where a remainder is cut off
  Dims padded;     // n * size
  Dims split;      // n0, size0, n1, size1...; no size dimension where the size is 1
  Dims kept;       // the same with every size 1: broadcasts against `split`
  Dims axes;       // of the sizes in `split`
  Dims sizes;      // and how large they are
};

Tiling MakeTiling(const Shape& x, const Window& window, const Dims& windows) {
  Tiling tiling;
  for (size_t i = 0; i < windows.size(); ++i) {
    const int64_t size = window.size[i];
    tiling.low.push_back(window.padding[2 * i]);
    tiling.padded.push_back(windows[i] * size);
    tiling.high.push_back(tiling.padded[i] - x.dims[i] - tiling.low[i]);
    tiling.split.push_back(windows[i]);
    tiling.kept.push_back(windows[i]);
    if (size == 1) continue;
    tiling.axes.push_back(static_cast<int64_t>(tiling.split.size()));
    tiling.sizes.push_back(size);
    tiling.split.push_back(size);
    tiling.kept.push_back(1);
  }
  return tiling;
}

bool IsZero(const Dims& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; });
}

Value Tile(const Tiling& tiling, Value x, double pad) {
  if (!IsZero(tiling.low) || !IsZero(tiling.high)) {
    x = Pad(x, pad, tiling.low, tiling.high, Dims(tiling.low.size(), 0));
  }
  return Reshape(x, tiling.split);
}

Value Untile(const Tiling& tiling, Value x) {
  x = Reshape(x, tiling.padded);
  if (IsZero(tiling.low) && IsZero(tiling.high)) return x;
  Dims low = tiling.low, high = tiling.high;
  for (size_t i = 0; i < low.size(); ++i) {
    low[i] = -low[i];
    high[i] = -high[i];
  }
  return Pad(x, 0, low, high, Dims(low.size(), 0));
}

Value SumGradientTiled(const Shape& x, const Window& window, Value dy) {
  const Tiling tiling = MakeTiling(x, window, dy.dims());
  return Untile(tiling, BroadcastTo(Reshape(dy, tiling.kept), tiling.split));
}

// Number of each tap within its window, row-major, over the split dimensions.
Value TapNumbers(Graph& graph, const Tiling& tiling) {
  Value numbers;
  int64_t step = 1;
  for (size_t a = tiling.axes.size(); a-- > 0;) {
    Value along = Iota(graph, Shape(DType::kI32, tiling.split), tiling.axes[a]);
    if (step > 1) along = Mul(along, ScalarLike(along, static_cast<double>(step)));
    numbers = numbers ? Add(numbers, along) : along;
    step *= tiling.sizes[a];
  }
  return numbers;
}

// Where the tap has the number `first` (dimensions `kept`) of its window: where first minus
// TapNumbers is 0. In a loop XLA would compute TapNumbers once before it and read that array, as
// large as x, in every round; so small steps are taken off one by one, which depends on `first` from
// the start.
Value IsTap(Graph& graph, const Tiling& tiling, Value first) {
  constexpr int64_t kMostSubtractions = 8;
  Value rest = BroadcastTo(first, tiling.split);
  int64_t step = 1;
  for (size_t a = tiling.axes.size(); a-- > 0;) {
    const Value along = Iota(graph, Shape(DType::kI32, tiling.split), tiling.axes[a]);
    if (step > kMostSubtractions) {
      rest = Sub(rest, Mul(along, ScalarLike(along, static_cast<double>(step))));
    } else {
      for (int64_t i = 0; i < step; ++i) rest = Sub(rest, along);
    }
    step *= tiling.sizes[a];
  }
  return Compare(rest, ScalarLike(rest, 0), Comparison::kEq);
}

Value ExtremeGradientTiled(Value x, Value y, const Window& window, double pad, Value dy) {
  Graph& graph = x.graph();
  const Tiling tiling = MakeTiling(x.shape(), window, y.dims());
  const int64_t taps = Taps(window);
  if (taps == 1) return Untile(tiling, Reshape(dy, tiling.split));
  const Value tiled = Tile(tiling, x, pad);
  Value first;  // number of the first tap that equals the maximum
  if (taps <= kMaxTapsTiled) {
    first = Full(graph, Shape(DType::kI32, y.dims()), static_cast<double>(taps - 1));
    for (int64_t tap = taps - 2; tap >= 0; --tap) {
      Value at = tiled;
      int64_t rest = tap;
      for (size_t a = tiling.axes.size(); a-- > 0;) {
        const int64_t offset = rest % tiling.sizes[a];
        rest /= tiling.sizes[a];
        at = SliceAxis(at, tiling.axes[a], offset, offset + 1);
      }
      first = Select(Compare(Reshape(at, y.dims()), y, Comparison::kEq),
                     ScalarLike(first, static_cast<double>(tap)), first);
    }
    first = Reshape(first, tiling.kept);
  } else {
    const Value numbers = TapNumbers(graph, tiling);
    const Value none = ScalarLike(numbers, static_cast<double>(taps - 1));
    const Value equal = Compare(tiled, Reshape(y, tiling.kept), Comparison::kEq);
    first = ReduceMin(Select(equal, numbers, none), tiling.axes, /*keepdims=*/true);
  }
  const Value here = IsTap(graph, tiling, first);
  return Untile(tiling, Select(here, Reshape(dy, tiling.kept), ScalarLike(dy, 0)));
}

// --- windows that overlap -----------------------------------------------------------------------

// Position p of padded x is tap o = dilation k of window n when p = s n + o. With p = s q + phase
// the taps of one phase are those with o % s = phase, and they hold window q - o / s: so per phase
// the gradient is a sum of shifted pieces, and x is its phases interleaved.
struct Phases {
  Window window;
  Dims x, y;       // dimensions
  Dims quotients;  // values of q per dimension

  // The sum over the taps whose offsets leave `phase`, shifted to where they belong; none without
  // such taps.
  template <typename Piece>
  Value Sum(const Dims& phase, const Piece& piece) const {
    Value sum;
    const size_t rank = x.size();
    for (int64_t tap = 0; tap < Taps(window); ++tap) {
      int64_t rest = tap;
      Dims low(rank), high(rank);
      bool mine = true;
      for (size_t i = rank; i-- > 0;) {
        const int64_t offset = rest % window.size[i] * window.dilation[i];
        rest /= window.size[i];
        mine = mine && offset % window.strides[i] == phase[i];
        low[i] = offset / window.strides[i];
        high[i] = quotients[i] - y[i] - low[i];
      }
      if (!mine) continue;
      const Value shifted = Pad(piece(tap), 0, low, high, Dims(rank, 0));
      sum = sum ? Add(sum, shifted) : shifted;
    }
    return sum;
  }

  // Phases of dimensions [i, rank) interleaved, those before i fixed in `phase`.
  template <typename Piece>
  Value Interleave(size_t i, Dims& phase, const Value& zeros, const Piece& piece) const {
    if (i == x.size()) {
      const Value sum = Sum(phase, piece);
      return sum ? sum : zeros;
    }
    const int64_t stride = window.strides[i];
    std::vector<Value> parts;
    for (phase[i] = 0; phase[i] < stride; ++phase[i]) {
      parts.push_back(Interleave(i + 1, phase, zeros, piece));
    }
    phase[i] = 0;
    if (stride == 1) return parts[0];
    const Value stacked = Stack(parts, static_cast<int64_t>(i) + 1);
    Dims dims = parts[0].dims();
    dims[i] *= stride;
    return Reshape(stacked, dims);
  }
};

Value ExtremeGradientOverlapping(Value x, Value y, const Window& window, double pad, Value dy) {
  Graph& graph = x.graph();
  const size_t rank = x.dims().size();
  const int64_t taps = Taps(window);
  Phases phases{window, x.dims(), y.dims(), {}};
  Dims low, high;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = x.dim(i) + window.padding[2 * i] + window.padding[2 * i + 1];
    phases.quotients.push_back((extent + window.strides[i] - 1) / window.strides[i]);
    low.push_back(window.padding[2 * i]);
    high.push_back(window.padding[2 * i + 1]);
  }
  const Value padded = IsZero(low) && IsZero(high) ? x : Pad(x, pad, low, high, Dims(rank, 0));
  Value first = Full(graph, Shape(DType::kI32, y.dims()), static_cast<double>(taps - 1));
  for (int64_t tap = taps - 2; tap >= 0; --tap) {
    int64_t rest = tap;
    Dims start(rank), limit(rank);
    for (size_t i = rank; i-- > 0;) {
      start[i] = rest % window.size[i] * window.dilation[i];
      rest /= window.size[i];
      limit[i] = start[i] + Spread(y.dim(i), window.strides[i]);
    }
    const Value at = Slice(padded, start, limit, window.strides);
    first =
        Select(Compare(at, y, Comparison::kEq), ScalarLike(first, static_cast<double>(tap)), first);
  }
  // Every phase reads it: without the barrier XLA fuses, and repeats, the comparisons above into
  // each of them (7 ms against 79 for 3x3, stride 2 over 32x56x56x64).
  first = OptimizationBarrier(std::span<const Value>(&first, 1))[0];
  std::vector<Value> pieces;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const Value here = Compare(first, ScalarLike(first, static_cast<double>(tap)), Comparison::kEq);
    pieces.push_back(Select(here, dy, ScalarLike(dy, 0)));
  }
  Dims phase(rank, 0);
  const Value zeros = Full(graph, Shape(dy.dtype(), phases.quotients), 0);
  const Value whole = phases.Interleave(0, phase, zeros, [&](int64_t tap) { return pieces[tap]; });
  Dims limit(rank);
  for (size_t i = 0; i < rank; ++i) limit[i] = low[i] + x.dim(i);
  return Slice(whole, low, limit, Dims(rank, 1));
}

Value ExtremeGradient(Reduction reduction, Value x, Value y, const Window& window, Value dy) {
  const double pad = Identity(reduction, x.dtype());
  if (std::any_of(window.base_dilation.begin(), window.base_dilation.end(),
                  [](int64_t dilation) { return dilation != 1; })) {
    // The holes between x's elements hold the identity, and what lands there is dropped.
    const size_t rank = window.size.size();
    Window plain = window;
    plain.base_dilation.assign(rank, 1);
    Dims interior;
    for (int64_t dilation : window.base_dilation) interior.push_back(dilation - 1);
    const Value spread = Pad(x, pad, Dims(rank, 0), Dims(rank, 0), interior);
    return Slice(ExtremeGradient(reduction, spread, y, plain, dy), Dims(rank, 0), spread.dims(),
                 window.base_dilation);
  }
  if (Tiles(window)) return ExtremeGradientTiled(x, y, window, pad, dy);
  if (Taps(window) <= kMaxTapsOverlapping) {
    return ExtremeGradientOverlapping(x, y, window, pad, dy);
  }
  // One dimension after the other, last first, so that ties still go to the first in row-major
  // order: the sum of the sizes instead of their product.
  size_t windowed = 0, last = 0;
  for (size_t i = 0; i < window.size.size(); ++i) {
    if (window.size[i] == 1) continue;
    ++windowed;
    last = i;
  }
  if (windowed > 1) {
    const Window inner = Only(window, last, window.size.size());
    const Window outer = Only(window, 0, last);
    const Value between = ReduceWindow(reduction, x, inner);
    return ExtremeGradient(reduction, x, between, inner,
                           ExtremeGradient(reduction, between, y, outer, dy));
  }
  if (reduction == Reduction::kMin) return SelectAndScatterAdd(Neg(x), dy, window);
  return SelectAndScatterAdd(x, dy, window);
}

std::vector<Value> ReduceWindowGradient(Node& node, std::span<const Value> dy) {
  const Window window = FromAttributes(node.attrs());
  const Reduction reduction = ReductionOf(node);
  const Value x = node.input(0);
  if (node.shape().size() == 0) return {Value()};
  if (reduction == Reduction::kSum) {
    if (Tiles(window)) return {SumGradientTiled(x.shape(), window, dy[0])};
    return {SumGradient(x.shape(), window, dy[0])};
  }
  return {ExtremeGradient(reduction, x, node.output(), window, dy[0])};
}

// --- select_and_scatter -------------------------------------------------------------------------

std::vector<Shape> InferSelectAndScatter(const Node& node) {
  const Window window = FromAttributes(node.attrs());
  const Shape& x = node.input(0).shape();
  for (size_t i = 0; i < window.size.size(); ++i) {
    if (window.dilation[i] != 1 || window.base_dilation[i] != 1) {
      throw Invalid("select_and_scatter knows no dilation");
    }
  }
  const Shape expected = x.WithDims(WindowedDims(x, window));
  if (node.input(1).shape() != expected) {
    throw Invalid("source must be {} for {}, found {}", expected.ToString(), x.ToString(),
                  node.input(1).shape().ToString());
  }
  return {x};
}

void WriteSelectAndScatter(StablehloWriter& writer, const Node& node) {
  const Window window = FromAttributes(node.attrs());
  const Shape& x = node.input(0).shape();
  const Shape& source = node.input(1).shape();
  const Shape scalar = Shape::Scalar(x.dtype);
  const std::string zero = writer.Splat(scalar, 0);
  const std::string select = writer.Region(
      {scalar, scalar}, [&](std::span<const std::string> names) -> StablehloWriter::Returns {
        const Shape pred = Shape::Scalar(DType::kPred);
        return {{writer.EmitRaw("compare", {names[0], names[1]}, {scalar, scalar}, {pred},
                                "comparison_direction = #stablehlo<comparison_direction GE>"),
                 pred}};
      });
  const std::string scatter = writer.BinaryRegion(x.dtype, "add");
  writer.Bind(node, writer.EmitRaw("select_and_scatter",
                                   {writer.Ref(node.input(0)), writer.Ref(node.input(1)), zero},
                                   {x, source, scalar}, {x},
                                   fmt::format("window_dimensions = {}, window_strides = {}, "
                                               "padding = {}",
                                               I64Array(window.size), I64Array(window.strides),
                                               I64Matrix(window.padding, 2)),
                                   {select, scatter}));
}

double SelectAndScatterFlops(const Node& node) {
  return static_cast<double>(node.input(1).shape().size());
}

const OpDef kReduceWindow = {
    .name = "reduce_window",
    .infer = InferReduceWindow,
    .write = WriteReduceWindow,
    .differentiability = Differentiability::kRule,
    .gradient = ReduceWindowGradient,
    .flops = ReduceWindowFlops,
};

const OpDef kSelectAndScatter = {
    .name = "select_and_scatter",
    .infer = InferSelectAndScatter,
    .write = WriteSelectAndScatter,
    .differentiability = Differentiability::kNone,
    .flops = SelectAndScatterFlops,
};

}  // namespace

std::span<const OpDef* const> WindowOps() {
  static const OpDef* const table[] = {&kReduceWindow, &kSelectAndScatter};
  return table;
}

Value ReduceWindow(Reduction reduction, Value x, const Window& window) {
  std::string name;
  switch (reduction) {
    case Reduction::kSum:
      name = "sum";
      break;
    case Reduction::kMax:
      name = "max";
      break;
    case Reduction::kMin:
      name = "min";
      break;
    default:
      throw Invalid("windows are reduced by sum, max or min only");
  }
  Attributes attrs = ToAttributes(Complete(window, x.rank()));
  attrs.Set("reduction", name);
  return x.graph().AddNode(kReduceWindow, {x}, std::move(attrs)).output();
}

Value SelectAndScatterAdd(Value x, Value source, const Window& window) {
  return x.graph()
      .AddNode(kSelectAndScatter, {x, source}, ToAttributes(Complete(window, x.rank())))
      .output();
}

}  // namespace flatout::ir
