// Convolution over any number of spatial dimensions, and its gradients as convolutions.
#include <algorithm>
#include <string>
#include <string_view>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

// Where batch (or kernel output), feature (or kernel input) and spatial dimensions lie in one of
// the three tensors.
struct Places {
  int64_t outer = -1;  // b, or o of a kernel
  int64_t inner = -1;  // f, or i of a kernel
  Dims spatial;
};

struct Layout {
  Places input, kernel, output;
};

Places ParsePlaces(std::string_view text, char outer, char inner, std::string_view layout) {
  Places places;
  places.spatial.assign(text.size() < 2 ? 0 : text.size() - 2, -1);
  for (size_t i = 0; i < text.size(); ++i) {
    int64_t* place = nullptr;
    if (text[i] == outer) {
      place = &places.outer;
    } else if (text[i] == inner) {
      place = &places.inner;
    } else if (text[i] >= '0' && text[i] - '0' < static_cast<int>(places.spatial.size())) {
      place = &places.spatial[text[i] - '0'];
    }
    if (place == nullptr || *place != -1) {
      throw Invalid(
          "layout \"{}\": \"{}\" must hold '{}', '{}' and the digits from 0, each once; an example "
          "is \"b01f_01io->b01f\"",
          layout, text, outer, inner);
    }
    *place = static_cast<int64_t>(i);
  }
  if (places.outer == -1 || places.inner == -1) {
    throw Invalid("layout \"{}\": \"{}\" lacks '{}' or '{}'", layout, text, outer, inner);
  }
  return places;
}

Layout ParseLayout(std::string_view layout) {
  const size_t kernel = layout.find('_');
  const size_t output = layout.find("->");
  if (kernel == std::string_view::npos || output == std::string_view::npos || output < kernel) {
    throw Invalid("layout \"{}\" must read input_kernel->output, as in \"b01f_01io->b01f\"",
                  layout);
  }
  Layout parsed;
  parsed.input = ParsePlaces(layout.substr(0, kernel), 'b', 'f', layout);
  parsed.kernel = ParsePlaces(layout.substr(kernel + 1, output - kernel - 1), 'o', 'i', layout);
  parsed.output = ParsePlaces(layout.substr(output + 2), 'b', 'f', layout);
  if (parsed.input.spatial.size() != parsed.kernel.spatial.size() ||
      parsed.input.spatial.size() != parsed.output.spatial.size()) {
    throw Invalid(
        "layout \"{}\": input, kernel and output must have the same number of spatial "
        "dimensions",
        layout);
  }
  return parsed;
}

std::string PlacesText(const Places& places, char outer, char inner) {
  std::string text(places.spatial.size() + 2, '?');
  text[places.outer] = outer;
  text[places.inner] = inner;
  for (size_t i = 0; i < places.spatial.size(); ++i) {
    text[places.spatial[i]] = static_cast<char>('0' + i);
  }
  return text;
}

std::string LayoutText(const Layout& layout) {
  return PlacesText(layout.input, 'b', 'f') + "_" + PlacesText(layout.kernel, 'o', 'i') + "->" +
         PlacesText(layout.output, 'b', 'f');
}

// Extent of `size` elements that lie `step` apart.
int64_t Spread(int64_t size, int64_t step) { return size == 0 ? 0 : (size - 1) * step + 1; }

std::vector<Shape> InferConvolution(const Node& node) {
  const Shape& input = node.input(0).shape();
  const Shape& kernel = node.input(1).shape();
  const Attributes& attrs = node.attrs();
  const Layout layout = ParseLayout(attrs.String("layout"));
  const int64_t spatial = static_cast<int64_t>(layout.input.spatial.size());
  if (input.rank() != spatial + 2 || kernel.rank() != spatial + 2) {
    throw Invalid("layout \"{}\" wants input and kernel of rank {}, found {} and {}",
                  attrs.String("layout"), spatial + 2, input.ToString(), kernel.ToString());
  }
  if (input.dtype != kernel.dtype || !IsFloat(input.dtype)) {
    throw Invalid("input and kernel must be of one floating-point type, found {} and {}",
                  input.ToString(), kernel.ToString());
  }
  for (const char* name : {"strides", "lhs_dilation", "rhs_dilation"}) {
    const Dims& values = attrs.Ints(name);
    if (static_cast<int64_t>(values.size()) != spatial ||
        std::any_of(values.begin(), values.end(), [](int64_t v) { return v < 1; })) {
      throw Invalid("{} must be {} positive numbers, found {}", name, spatial,
                    DimsToString(values));
    }
  }
  const Dims& padding = attrs.Ints("padding");
  if (static_cast<int64_t>(padding.size()) != 2 * spatial) {
    throw Invalid("padding must be {} numbers (low and high per spatial dimension), found {}",
                  2 * spatial, DimsToString(padding));
  }
  const int64_t feature_groups = attrs.Int("feature_group_count");
  const int64_t batch_groups = attrs.Int("batch_group_count");
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1)) {
    throw Invalid(
        "feature_group_count and batch_group_count must be positive and one of them 1, "
        "found {} and {}",
        feature_groups, batch_groups);
  }
  const int64_t batch = input.dims[layout.input.outer];
  const int64_t features = input.dims[layout.input.inner];
  const int64_t kernel_in = kernel.dims[layout.kernel.inner];
  const int64_t kernel_out = kernel.dims[layout.kernel.outer];
  if (features != kernel_in * feature_groups) {
    throw Invalid("input {} has {} features, but kernel {} with {} feature group(s) takes {}",
                  input.ToString(), features, kernel.ToString(), feature_groups,
                  kernel_in * feature_groups);
  }
  if (kernel_out % feature_groups != 0 || kernel_out % batch_groups != 0) {
    throw Invalid("kernel {} gives {} features, which {} groups do not divide", kernel.ToString(),
                  kernel_out, std::max(feature_groups, batch_groups));
  }
  if (batch % batch_groups != 0) {
    throw Invalid("input {} has batch {}, which {} batch groups do not divide", input.ToString(),
                  batch, batch_groups);
  }
  Dims dims(spatial + 2);
  dims[layout.output.outer] = batch / batch_groups;
  dims[layout.output.inner] = kernel_out;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t extent =
        Spread(input.dims[layout.input.spatial[i]], attrs.Ints("lhs_dilation")[i]) +
        padding[2 * i] + padding[2 * i + 1];
    const int64_t window =
        Spread(kernel.dims[layout.kernel.spatial[i]], attrs.Ints("rhs_dilation")[i]);
    if (window < 1) throw Invalid("kernel {} has an empty spatial dimension", kernel.ToString());
    if (extent < 0) {
      throw Invalid("padding {} cuts more than there is of input {}", DimsToString(padding),
                    input.ToString());
    }
    dims[layout.output.spatial[i]] =
        extent < window ? 0 : (extent - window) / attrs.Ints("strides")[i] + 1;
  }
  return {Shape(input.dtype, dims)};
}

// A 1x1 convolution that touches every position once is a product over the features. XLA:CPU runs
// it as a GEMM either way, but the dot compiles faster and fuses with what follows.
bool IsPointwise(const Node& node, const Layout& layout) {
  const Attributes& attrs = node.attrs();
  if (attrs.Int("feature_group_count") != 1 || attrs.Int("batch_group_count") != 1) return false;
  for (const char* name : {"strides", "lhs_dilation"}) {
    for (int64_t value : attrs.Ints(name)) {
      if (value != 1) return false;
    }
  }
  for (int64_t value : attrs.Ints("padding")) {
    if (value != 0) return false;
  }
  for (int64_t place : layout.kernel.spatial) {
    if (node.input(1).dim(place) != 1) return false;
  }
  // The product's result has the input's dimensions in order, features last.
  const int64_t last = node.input(0).rank() - 1;
  return layout.input.inner == last && layout.output.inner == last &&
         layout.input.outer == layout.output.outer && layout.input.spatial == layout.output.spatial;
}

constexpr std::string_view kPrecision =
    "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]";

void WritePointwise(StablehloWriter& writer, const Node& node, const Layout& layout) {
  const Shape& input = node.input(0).shape();
  const Shape& kernel = node.input(1).shape();
  const bool in_first = layout.kernel.inner < layout.kernel.outer;
  const int64_t in = kernel.dims[layout.kernel.inner];
  const int64_t out = kernel.dims[layout.kernel.outer];
  const Shape matrix = kernel.WithDims(in_first ? Dims{in, out} : Dims{out, in});
  const std::string flat =
      writer.EmitRaw("reshape", {writer.Ref(node.input(1))}, {kernel}, {matrix});
  writer.Bind(node, writer.EmitRaw("dot_general", {writer.Ref(node.input(0)), flat},
                                   {input, matrix}, {node.shape()},
                                   fmt::format("dot_dimension_numbers = #stablehlo.dot<"
                                               "lhs_contracting_dimensions = [{}], "
                                               "rhs_contracting_dimensions = [{}]>, {}",
                                               input.rank() - 1, in_first ? 0 : 1, kPrecision)));
}

std::string Letters(const Places& places, char outer, char inner) {
  std::string text = "[";
  for (char letter : PlacesText(places, outer, inner)) {
    if (text.size() > 1) text += ", ";
    text += letter;
  }
  return text + "]";
}

// The order of `from`'s dimensions that puts outer, spatial and inner where `to` has them.
Dims OrderOf(const Places& from, const Places& to) {
  Dims order(from.spatial.size() + 2);
  order[to.outer] = from.outer;
  order[to.inner] = from.inner;
  for (size_t i = 0; i < from.spatial.size(); ++i) order[to.spatial[i]] = from.spatial[i];
  return order;
}

bool InOrder(const Dims& order) { return std::is_sorted(order.begin(), order.end()); }

// b01f_01io->b01f for two spatial dimensions.
Layout CanonicalLayout(size_t spatial) {
  Layout layout;
  const auto rank = static_cast<int64_t>(spatial) + 2;
  layout.input.outer = 0;
  layout.input.inner = rank - 1;
  layout.kernel.outer = rank - 1;
  layout.kernel.inner = rank - 2;
  for (int64_t i = 0; i < rank - 2; ++i) {
    layout.input.spatial.push_back(i + 1);
    layout.kernel.spatial.push_back(i);
  }
  layout.output = layout.input;
  return layout;
}

std::string Transposed(StablehloWriter& writer, const std::string& name, const Shape& shape,
                       const Dims& order, Shape& result) {
  Dims dims;
  for (int64_t axis : order) dims.push_back(shape.dims[axis]);
  result = shape.WithDims(dims);
  if (InOrder(order)) return name;
  return writer.EmitRaw("transpose", {name}, {shape}, {result},
                        fmt::format("permutation = {}", I64Array(order)));
}

// XLA:CPU's fast convolutions want one layout, channels last. It transposes others itself, but only
// outside of loops: inside one (where our steps run) they would take a plain loop nest, 50 times
// slower. So the transposes are written out.
void WriteConvolution(StablehloWriter& writer, const Node& node) {
  const Attributes& attrs = node.attrs();
  const Layout layout = ParseLayout(attrs.String("layout"));
  if (IsPointwise(node, layout)) return WritePointwise(writer, node, layout);
  const Layout canonical = CanonicalLayout(layout.input.spatial.size());
  Shape input, kernel, output;
  const std::string lhs = Transposed(writer, writer.Ref(node.input(0)), node.input(0).shape(),
                                     OrderOf(layout.input, canonical.input), input);
  const std::string rhs = Transposed(writer, writer.Ref(node.input(1)), node.input(1).shape(),
                                     OrderOf(layout.kernel, canonical.kernel), kernel);
  const Dims to_output = OrderOf(canonical.output, layout.output);
  output = node.shape();
  for (size_t i = 0; i < to_output.size(); ++i) output.dims[to_output[i]] = node.shape().dims[i];
  const Dims no_reversal(layout.input.spatial.size(), 0);
  const std::string result = writer.EmitRaw(
      "convolution", {lhs, rhs}, {input, kernel}, {output},
      fmt::format("window_strides = {}, padding = {}, lhs_dilation = {}, rhs_dilation = {}, "
                  "window_reversal = {}, dimension_numbers = #stablehlo.conv<{}x{}->{}>, "
                  "feature_group_count = {}, batch_group_count = {}, {}",
                  I64Array(attrs.Ints("strides")), I64Matrix(attrs.Ints("padding"), 2),
                  I64Array(attrs.Ints("lhs_dilation")), I64Array(attrs.Ints("rhs_dilation")),
                  BoolArray(no_reversal), Letters(canonical.input, 'b', 'f'),
                  Letters(canonical.kernel, 'o', 'i'), Letters(canonical.output, 'b', 'f'),
                  I64(attrs.Int("feature_group_count")), I64(attrs.Int("batch_group_count")),
                  kPrecision));
  Shape final;
  writer.Bind(node, Transposed(writer, result, output, to_output, final));
}

// Multiply-adds count 2. Taps that fall on padding are counted, zeros that lhs_dilation puts
// between the input's elements are not (so a gradient counts what its forward convolution does).
double ConvolutionFlops(const Node& node) {
  const Layout layout = ParseLayout(node.attrs().String("layout"));
  const Shape& kernel = node.input(1).shape();
  double taps = static_cast<double>(kernel.dims[layout.kernel.inner]);
  for (int64_t place : layout.kernel.spatial) taps *= static_cast<double>(kernel.dims[place]);
  for (int64_t dilation : node.attrs().Ints("lhs_dilation")) {
    taps /= static_cast<double>(dilation);
  }
  return 2 * static_cast<double>(node.shape().size()) * taps;
}

// Splits `groups` off the front of dimension `from` and puts it in front of dimension `to`.
Value MoveGroups(Value x, int64_t groups, int64_t from, int64_t to) {
  Dims dims = x.dims();
  dims[from] /= groups;
  dims.insert(dims.begin() + from, groups);  // the group is now dimension `from`
  const Value split = Reshape(x, dims);
  Dims order;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i == to) order.push_back(from);
    order.push_back(i < from ? i : i + 1);
  }
  Dims merged = x.dims();
  merged[from] /= groups;
  merged[to] *= groups;
  return Reshape(Transpose(split, order), merged);
}

// With input x (dilated by d), kernel w (dilated by r), strides s and padding (lo, hi):
//   y[n] = sum_k x'[s n + r k - lo] w[k],  x' being x with d - 1 zeros between its elements.
// By the input: dx'[m] = sum over s n + r k - lo = m of dy[n] w[k]. Reversing w (k -> K - 1 - k)
// this is a convolution of dy dilated by s with padding r (K - 1) - lo in front; only every d-th of
// its outputs belongs to an element of x, so its stride is d. The padding behind makes the size
// come out right.
Value GradientByInput(const Node& node, const Layout& layout, Value dy) {
  const Attributes& attrs = node.attrs();
  Value kernel = node.input(1);
  const Shape& input = node.input(0).shape();
  const int64_t feature_groups = attrs.Int("feature_group_count");
  const int64_t batch_groups = attrs.Int("batch_group_count");
  const int64_t groups = std::max(feature_groups, batch_groups);
  ConvolutionDims dims;
  dims.strides = attrs.Ints("lhs_dilation");
  dims.lhs_dilation = attrs.Ints("strides");
  dims.rhs_dilation = attrs.Ints("rhs_dilation");
  for (size_t i = 0; i < layout.input.spatial.size(); ++i) {
    const int64_t in = Spread(input.dims[layout.input.spatial[i]], attrs.Ints("lhs_dilation")[i]);
    const int64_t window = Spread(kernel.dim(layout.kernel.spatial[i]), dims.rhs_dilation[i]);
    const int64_t out = Spread(dy.dim(layout.output.spatial[i]), attrs.Ints("strides")[i]);
    const int64_t low = window - 1 - attrs.Ints("padding")[2 * i];
    dims.padding.push_back(low);
    dims.padding.push_back(in + window - 1 - out - low);
  }
  // The kernel's output features become its inputs: per group, so the groups move over.
  if (groups > 1) kernel = MoveGroups(kernel, groups, layout.kernel.outer, layout.kernel.inner);
  dims.feature_group_count = groups;
  Layout transposed{layout.output, layout.kernel, layout.input};
  std::swap(transposed.kernel.outer, transposed.kernel.inner);
  dims.layout = LayoutText(transposed);
  Dims reversed;
  for (int64_t place : layout.kernel.spatial) {
    if (kernel.dim(place) > 1) reversed.push_back(place);
  }
  Value dx = Convolution(dy, reversed.empty() ? kernel : Reverse(kernel, reversed), dims);
  if (batch_groups > 1) {
    dx = MoveGroups(dx, batch_groups, layout.input.inner, layout.input.outer);
  }
  return dx;
}

// By the kernel: dw[k] = sum_n x'[s n + r k - lo] dy[n], a convolution of x (dilated by d) with the
// kernel dy (dilated by s), stride r, padding lo in front; batch is what is summed over and
// features are what is kept, so both swap roles. Feature groups become batch groups and the other
// way round.
Value GradientByKernel(const Node& node, const Layout& layout, Value dy) {
  const Attributes& attrs = node.attrs();
  const Shape& input = node.input(0).shape();
  const Shape& kernel = node.input(1).shape();
  ConvolutionDims dims;
  dims.strides = attrs.Ints("rhs_dilation");
  dims.lhs_dilation = attrs.Ints("lhs_dilation");
  dims.rhs_dilation = attrs.Ints("strides");
  for (size_t i = 0; i < layout.input.spatial.size(); ++i) {
    const int64_t in = Spread(input.dims[layout.input.spatial[i]], dims.lhs_dilation[i]);
    const int64_t window = Spread(kernel.dims[layout.kernel.spatial[i]], dims.strides[i]);
    const int64_t out = Spread(dy.dim(layout.output.spatial[i]), dims.rhs_dilation[i]);
    const int64_t low = attrs.Ints("padding")[2 * i];
    dims.padding.push_back(low);
    dims.padding.push_back(out - in + window - 1 - low);
  }
  dims.feature_group_count = attrs.Int("batch_group_count");
  dims.batch_group_count = attrs.Int("feature_group_count");
  Layout transposed{layout.input, layout.output, layout.kernel};
  std::swap(transposed.input.outer, transposed.input.inner);
  // dy is the kernel: its batch is the input letter i, its features the output letter o. The result
  // is w: its i is the batch letter b, its o the feature letter f.
  std::swap(transposed.kernel.outer, transposed.kernel.inner);
  std::swap(transposed.output.outer, transposed.output.inner);
  dims.layout = LayoutText(transposed);
  return Convolution(node.input(0), dy, dims);
}

std::vector<Value> ConvolutionGradient(Node& node, std::span<const Value> dy) {
  const Layout layout = ParseLayout(node.attrs().String("layout"));
  if (node.shape().size() == 0) return {Value(), Value()};
  return {GradientByInput(node, layout, dy[0]), GradientByKernel(node, layout, dy[0])};
}

const OpDef kConvolution = {
    .name = "convolution",
    .infer = InferConvolution,
    .write = WriteConvolution,
    .differentiability = Differentiability::kRule,
    .gradient = ConvolutionGradient,
    .flops = ConvolutionFlops,
};

}  // namespace

std::span<const OpDef* const> ConvolutionOps() {
  static const OpDef* const table[] = {&kConvolution};
  return table;
}

Value Convolution(Value input, Value kernel, const ConvolutionDims& dims) {
  return input.graph()
      .AddNode(kConvolution, {input, kernel},
               {{"layout", dims.layout},
                {"strides", dims.strides},
                {"padding", dims.padding},
                {"lhs_dilation", dims.lhs_dilation},
                {"rhs_dilation", dims.rhs_dilation},
                {"feature_group_count", dims.feature_group_count},
                {"batch_group_count", dims.batch_group_count}})
      .output();
}

}  // namespace flatout::ir
