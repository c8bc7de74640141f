// How a node becomes a call. First every region is looked over: which nodes the library computes,
// and what it computes along with them (a bias, a relu, transposes of operands and results). Then
// the graph is copied, with calls in place of those nodes.
#include "flatout/kernels/lower.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/kernels/calls.h"
#include "flatout/kernels/table.h"

namespace flatout::kernels {
namespace {

using ir::Graph;
using ir::Node;
using ir::Shape;
using ir::Value;

// Sizes up to which the library's 32-bit offsets hold.
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

bool InRange(const Shape& shape) { return shape.size() > 0 && shape.size() <= kMostElements; }

Dims RowMajor(const Dims& dims) {
  Dims strides(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

bool IsIdentity(const Dims& permutation) {
  return std::is_sorted(permutation.begin(), permutation.end());
}

Dims Inverse(const Dims& permutation) {
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[permutation[i]] = static_cast<int64_t>(i);
  }
  return inverse;
}

Dims Permuted(const Dims& values, const Dims& permutation) {
  Dims result;
  for (const int64_t i : permutation) result.push_back(values[i]);
  return result;
}

// A value of the graph as a call takes it: transposed first, if that is needed.
struct Operand {
  Value value;
  Dims permutation;  // empty: none
};

// A call that replaces nodes.
struct Call {
  std::string_view target;
  std::vector<int64_t> numbers;
  std::vector<Operand> operands;
  Shape result;      // of the call
  Dims reverse;      // axes of the result to turn round afterwards
  Dims permutation;  // then; empty: none
  // Further results, and of which node's outputs they (and the first) take the place; empty: the
  // first output of the node that the call is filed under.
  std::vector<Shape> more_results;
  std::vector<Value> stands_for;
};

std::string SizeText(const Dims& dims) {
  std::string text;
  for (const int64_t dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

// ---- products -----------------------------------------------------------------------------------

// An array and where its dimensions lie in memory; a transpose that makes them is looked through.
struct View {
  Value value;
  Dims dims, strides;
};

View ViewOf(Value value, bool look_through) {
  std::vector<const Dims*> permutations;  // outermost first
  Value source = value;
  while (look_through && source.node()->name() == "transpose") {
    permutations.push_back(&source.node()->attrs().Ints("permutation"));
    source = source.node()->input(0);
  }
  Dims strides = RowMajor(source.dims());
  for (size_t i = permutations.size(); i-- > 0;) strides = Permuted(strides, *permutations[i]);
  return {source, value.dims(), strides};
}

struct Group {
  int64_t size = 1, stride = 1;
};

// The listed dimensions as one, if they lie in memory like one.
std::optional<Group> Collapse(const Dims& list, const Dims& dims, const Dims& strides) {
  Group group;
  bool first = true;
  for (size_t i = list.size(); i-- > 0;) {
    const int64_t size = dims[list[i]], stride = strides[list[i]];
    if (size == 1) continue;
    if (first) {
      group = {size, stride};
      first = false;
    } else if (stride == group.size * group.stride) {
      group.size *= size;
    } else {
      return std::nullopt;
    }
  }
  return group;
}

Dims FreeDims(size_t rank, const Dims& batch, const Dims& contract) {
  Dims free;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i) {
    if (std::find(batch.begin(), batch.end(), i) == batch.end() &&
        std::find(contract.begin(), contract.end(), i) == contract.end()) {
      free.push_back(i);
    }
  }
  return free;
}

// A dimension of size 1 may have any stride; one that makes the matrix dense is liked best.
void TidyMatrix(int64_t rows, int64_t columns, int64_t& row_stride, int64_t& column_stride) {
  if (rows == 1 && columns == 1) {
    row_stride = column_stride = 1;
  } else if (rows == 1) {
    row_stride = column_stride == 1 ? columns : 1;
  } else if (columns == 1) {
    column_stride = row_stride == 1 ? rows : 1;
  }
}

struct Product {
  MatmulSpec spec;
  Value a, b;
};

// node as a product of matrices with strides; `c_strides` are those of the result's dimensions.
std::optional<Product> AsMatmul(const Node& node, bool look_through, const Dims& c_strides) {
  const ir::Attributes& attrs = node.attrs();
  const View lhs = ViewOf(node.input(0), look_through);
  const View rhs = ViewOf(node.input(1), look_through);
  const Dims &lhs_batch = attrs.Ints("lhs_batch"), &rhs_batch = attrs.Ints("rhs_batch");
  const Dims &lhs_contract = attrs.Ints("lhs_contract"), &rhs_contract = attrs.Ints("rhs_contract");
  const Dims lhs_free = FreeDims(lhs.dims.size(), lhs_batch, lhs_contract);
  const Dims rhs_free = FreeDims(rhs.dims.size(), rhs_batch, rhs_contract);
  const Dims& c_dims = node.shape().dims;
  const auto range = [](size_t begin, size_t count) {
    Dims list(count);
    std::iota(list.begin(), list.end(), static_cast<int64_t>(begin));
    return list;
  };
  const size_t batch = lhs_batch.size();
  const auto a_m = Collapse(lhs_free, lhs.dims, lhs.strides);
  const auto a_k = Collapse(lhs_contract, lhs.dims, lhs.strides);
  const auto b_k = Collapse(rhs_contract, rhs.dims, rhs.strides);
  const auto b_n = Collapse(rhs_free, rhs.dims, rhs.strides);
  const auto c_m = Collapse(range(batch, lhs_free.size()), c_dims, c_strides);
  const auto c_n = Collapse(range(batch + lhs_free.size(), rhs_free.size()), c_dims, c_strides);
  if (!a_m || !a_k || !b_k || !b_n || !c_m || !c_n) return std::nullopt;

  Product product;
  product.a = lhs.value;
  product.b = rhs.value;
  MatmulSpec& spec = product.spec;
  spec.in = lhs.value.dtype();
  spec.out = node.shape().dtype;
  spec.m = a_m->size;
  spec.k = a_k->size;
  spec.n = b_n->size;
  const auto a_batch = Collapse(lhs_batch, lhs.dims, lhs.strides);
  const auto b_batch = Collapse(rhs_batch, rhs.dims, rhs.strides);
  const auto c_batch = Collapse(range(0, batch), c_dims, c_strides);
  if (a_batch && b_batch && c_batch) {
    if (a_batch->size > 1) {
      spec.batch = {a_batch->size};
      spec.a_strides = {a_batch->stride};
      spec.b_strides = {b_batch->stride};
      spec.c_strides = {c_batch->stride};
    }
  } else {
    for (size_t i = 0; i < batch; ++i) {
      if (c_dims[i] == 1) continue;
      spec.batch.push_back(c_dims[i]);
      spec.a_strides.push_back(lhs.strides[lhs_batch[i]]);
      spec.b_strides.push_back(rhs.strides[rhs_batch[i]]);
      spec.c_strides.push_back(c_strides[i]);
    }
  }
  int64_t am = a_m->stride, ak = a_k->stride, bk = b_k->stride, bn = b_n->stride;
  int64_t cm = c_m->stride, cn = c_n->stride;
  TidyMatrix(spec.m, spec.k, am, ak);
  TidyMatrix(spec.k, spec.n, bk, bn);
  TidyMatrix(spec.m, spec.n, cm, cn);
  spec.a_strides.insert(spec.a_strides.end(), {am, ak});
  spec.b_strides.insert(spec.b_strides.end(), {bk, bn});
  spec.c_strides.insert(spec.c_strides.end(), {cm, cn});
  if (cn != 1 && cm == 1) {
    // The result lies by columns: its transpose is the product of the transposes.
    std::swap(product.a, product.b);
    std::swap(spec.m, spec.n);
    std::swap(spec.a_strides, spec.b_strides);
    for (Dims* strides : {&spec.a_strides, &spec.b_strides, &spec.c_strides}) {
      std::swap(strides->end()[-1], strides->end()[-2]);
    }
  }
  // Each matrix must be dense along one side, the result along its rows.
  const auto unit = [](const Dims& strides) {
    return strides.end()[-1] == 1 || strides.end()[-2] == 1;
  };
  if (!unit(spec.a_strides) || !unit(spec.b_strides) || spec.c_strides.back() != 1) {
    return std::nullopt;
  }
  return product;
}

std::string Describe(const MatmulSpec& spec) {
  Dims sizes = spec.batch;
  sizes.insert(sizes.end(), {spec.m, spec.n, spec.k});
  const auto transposed = [](const Dims& strides) { return strides.back() == 1 ? "n" : "t"; };
  return fmt::format("product {} {}{} {}{}{}{}", SizeText(sizes), transposed(spec.a_strides),
                     transposed(spec.b_strides), ir::Name(spec.in),
                     spec.in == spec.out ? "" : fmt::format("->{}", ir::Name(spec.out)),
                     spec.bias ? " bias" : "", spec.relu ? " relu" : "");
}

// ---- convolutions -------------------------------------------------------------------------------

// Where dimensions lie, read from a layout that shape inference has accepted ("b01f_01io->b01f").
struct Places {
  int64_t outer = -1, inner = -1;
  Dims spatial;
};

Places PlacesOf(std::string_view text, char outer, char inner) {
  Places places;
  places.spatial.resize(text.size() - 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == outer) {
      places.outer = static_cast<int64_t>(i);
    } else if (text[i] == inner) {
      places.inner = static_cast<int64_t>(i);
    } else {
      places.spatial[text[i] - '0'] = static_cast<int64_t>(i);
    }
  }
  return places;
}

struct Layout {
  Places input, kernel, output;
};

Layout LayoutOf(std::string_view text) {
  const size_t kernel = text.find('_'), output = text.find("->");
  return {PlacesOf(text.substr(0, kernel), 'b', 'f'),
          PlacesOf(text.substr(kernel + 1, output - kernel - 1), 'o', 'i'),
          PlacesOf(text.substr(output + 2), 'b', 'f')};
}

// The permutation that brings `first`, the spatial dimensions and `last` into that order; empty
// where they are.
Dims ToOrder(int64_t first, const Dims& spatial, int64_t last) {
  Dims permutation = {first};
  permutation.insert(permutation.end(), spatial.begin(), spatial.end());
  permutation.push_back(last);
  if (IsIdentity(permutation)) permutation.clear();
  return permutation;
}

bool AllOne(const Dims& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 1; });
}

Dims SizesAt(const Shape& shape, const Dims& places) {
  Dims sizes;
  for (const int64_t place : places) sizes.push_back(shape.dims[place]);
  return sizes;
}

// Sets the padding of a forward convolution from what lies in front; false where the library cannot
// have it.
bool SetPadding(ConvolutionSpec& spec, const Dims& low) {
  for (size_t i = 0; i < low.size(); ++i) {
    const int64_t window = (spec.kernel[i] - 1) * spec.dilation[i] + 1;
    const int64_t reach = (spec.out_size[i] - 1) * spec.strides[i] + window;
    if (low[i] < 0 || low[i] >= window) return false;
    const int64_t high = std::max<int64_t>(0, reach - spec.in_size[i] - low[i]);
    // The library's own count of outputs must be ours.
    if ((spec.in_size[i] + low[i] + high - window) / spec.strides[i] + 1 != spec.out_size[i] ||
        high >= window + spec.strides[i]) {
      return false;
    }
    spec.pad_low.push_back(low[i]);
    spec.pad_high.push_back(high);
  }
  return true;
}

// The kernel that `value` is the mirror image of along all of `axes` longer than 1, or none.
Value MirrorOf(Value value, const Dims& axes) {
  const Node& node = *value.node();
  if (node.name() != "reverse") return Value();
  Dims long_axes;
  for (const int64_t axis : axes) {
    if (value.dim(axis) > 1) long_axes.push_back(axis);
  }
  Dims reversed;
  for (const int64_t axis : node.attrs().Ints("axes")) {
    if (value.dim(axis) > 1) reversed.push_back(axis);
  }
  std::sort(long_axes.begin(), long_axes.end());
  std::sort(reversed.begin(), reversed.end());
  return long_axes == reversed ? node.input(0) : Value();
}

struct Convolved {
  ConvolutionSpec spec;
  Call call;
};

void SetKernelStrides(ConvolutionSpec& spec, const Places& places, const Dims& dims) {
  const Dims strides = RowMajor(dims);
  spec.kernel_out_stride = strides[places.outer];
  spec.kernel_in_stride = strides[places.inner];
  for (const int64_t place : places.spatial) spec.kernel_strides.push_back(strides[place]);
}

// A gradient by the kernel: what is summed over is the input's first dimension in memory, what is
// kept its last (see ir/ops/convolution.cc). With lhs_dilation the roles of input and gradient are
// exchanged, and the result comes out mirrored.
std::optional<Convolved> AsGradientByWeights(const Node& node, const Layout& layout) {
  using Direction = ConvolutionSpec::Direction;
  const ir::Attributes& attrs = node.attrs();
  const Shape &input = node.input(0).shape(), &kernel = node.input(1).shape();
  const Shape& output = node.shape();
  if (attrs.Int("feature_group_count") != 1) return std::nullopt;
  const bool mirrored = !AllOne(attrs.Ints("lhs_dilation"));
  Convolved result;
  ConvolutionSpec& spec = result.spec;
  spec.direction = Direction::kByWeights;
  spec.in = input.dtype;
  spec.out = output.dtype;
  spec.batch = input.dims[layout.input.inner];
  spec.dilation = attrs.Ints("strides");
  spec.kernel = SizesAt(output, layout.output.spatial);
  Dims low;
  Operand x{node.input(0), ToOrder(layout.input.inner, layout.input.spatial, layout.input.outer)};
  Operand y{node.input(1),
            ToOrder(layout.kernel.inner, layout.kernel.spatial, layout.kernel.outer)};
  Places places = layout.output;  // outer: the input's channels, inner: the output's
  if (!mirrored) {
    spec.strides = attrs.Ints("rhs_dilation");
    spec.groups = attrs.Int("batch_group_count");
    spec.in_channels = input.dims[layout.input.outer];
    spec.out_channels = kernel.dims[layout.kernel.outer];
    spec.in_size = SizesAt(input, layout.input.spatial);
    spec.out_size = SizesAt(kernel, layout.kernel.spatial);
    for (size_t i = 0; i < spec.kernel.size(); ++i) low.push_back(attrs.Ints("padding")[2 * i]);
    std::swap(places.outer, places.inner);  // as a kernel has them: outer is the output's
    result.call.operands = {x, y};
  } else {
    // w[k] = sum over q of x[q] dy[s q + low - r k]; with k turned round this is the gradient by
    // the kernel of a convolution of dy with stride s whose output is x.
    if (attrs.Int("batch_group_count") != 1 || !AllOne(attrs.Ints("rhs_dilation"))) {
      return std::nullopt;
    }
    spec.strides = attrs.Ints("lhs_dilation");
    spec.in_channels = kernel.dims[layout.kernel.outer];
    spec.out_channels = input.dims[layout.input.outer];
    spec.in_size = SizesAt(kernel, layout.kernel.spatial);
    spec.out_size = SizesAt(input, layout.input.spatial);
    for (size_t i = 0; i < spec.kernel.size(); ++i) {
      low.push_back((spec.kernel[i] - 1) * spec.dilation[i] - attrs.Ints("padding")[2 * i]);
      if (spec.kernel[i] > 1) result.call.reverse.push_back(layout.output.spatial[i]);
    }
    result.call.operands = {y, x};
  }
  if (!SetPadding(spec, low)) return std::nullopt;
  SetKernelStrides(spec, places, output.dims);
  result.call.result = output;
  return result;
}

// Forward convolutions, and gradients by the input, which are convolutions with a mirrored kernel
// over a spread-out gradient.
std::optional<Convolved> AsForwardOrByData(const Node& node, const Layout& layout) {
  using Direction = ConvolutionSpec::Direction;
  const ir::Attributes& attrs = node.attrs();
  if (attrs.Int("batch_group_count") != 1) return std::nullopt;
  const Shape &input = node.input(0).shape(), &kernel = node.input(1).shape();
  const Shape& output = node.shape();
  const Dims& lhs_dilation = attrs.Ints("lhs_dilation");
  const Value mirror = MirrorOf(node.input(1), layout.kernel.spatial);
  const bool spread = !AllOne(lhs_dilation);
  const bool by_data = AllOne(attrs.Ints("strides")) &&
                       (mirror || (spread && AllOne(SizesAt(kernel, layout.kernel.spatial))));
  if (spread && !by_data) return std::nullopt;
  Convolved result;
  ConvolutionSpec& spec = result.spec;
  spec.in = input.dtype;
  spec.out = output.dtype;
  spec.groups = attrs.Int("feature_group_count");
  spec.batch = input.dims[layout.input.outer];
  spec.kernel = SizesAt(kernel, layout.kernel.spatial);
  spec.dilation = attrs.Ints("rhs_dilation");
  Dims low;
  Places places = layout.kernel;
  Value weights = node.input(1);
  if (by_data) {
    if (mirror) weights = mirror;
    spec.direction = Direction::kByData;
    spec.strides = lhs_dilation;
    spec.in_channels = output.dims[layout.output.inner];
    spec.out_channels = input.dims[layout.input.inner];
    spec.in_size = SizesAt(output, layout.output.spatial);
    spec.out_size = SizesAt(input, layout.input.spatial);
    for (size_t i = 0; i < spec.kernel.size(); ++i) {
      low.push_back((spec.kernel[i] - 1) * spec.dilation[i] - attrs.Ints("padding")[2 * i]);
    }
    std::swap(places.outer, places.inner);
  } else {
    spec.strides = attrs.Ints("strides");
    spec.in_channels = input.dims[layout.input.inner];
    spec.out_channels = output.dims[layout.output.inner];
    spec.in_size = SizesAt(input, layout.input.spatial);
    spec.out_size = SizesAt(output, layout.output.spatial);
    for (size_t i = 0; i < spec.kernel.size(); ++i) low.push_back(attrs.Ints("padding")[2 * i]);
  }
  if (!SetPadding(spec, low)) return std::nullopt;
  SetKernelStrides(spec, places, kernel.dims);
  result.call.operands = {
      {node.input(0), ToOrder(layout.input.outer, layout.input.spatial, layout.input.inner)},
      {weights, {}}};
  const Dims order = ToOrder(layout.output.outer, layout.output.spatial, layout.output.inner);
  result.call.result = output;
  if (!order.empty()) {
    result.call.result.dims = Permuted(output.dims, order);
    result.call.permutation = Inverse(order);
  }
  return result;
}

std::optional<Convolved> AsConvolution(const Node& node) {
  const Layout layout = LayoutOf(node.attrs().String("layout"));
  const size_t spatial = layout.input.spatial.size();
  if (spatial < 1 || spatial > 3) return std::nullopt;
  const int64_t last = node.input(0).rank() - 1;
  const bool summed_first = layout.input.inner == 0 && layout.input.outer == last;
  std::optional<Convolved> result = summed_first ? AsGradientByWeights(node, layout) : std::nullopt;
  if (!result) result = AsForwardOrByData(node, layout);
  return result;
}

std::string Describe(const ConvolutionSpec& spec) {
  using Direction = ConvolutionSpec::Direction;
  Dims x = {spec.batch};
  x.insert(x.end(), spec.in_size.begin(), spec.in_size.end());
  x.push_back(spec.in_channels);
  return fmt::format("convolution{} {} to {}, kernel {}, strides {}, {} group{}, {}{}{}{}",
                     spec.direction == Direction::kForward  ? ""
                     : spec.direction == Direction::kByData ? " by data"
                                                            : " by weights",
                     SizeText(x), spec.out_channels, SizeText(spec.kernel), SizeText(spec.strides),
                     spec.groups, spec.groups == 1 ? "" : "s", ir::Name(spec.in),
                     spec.in == spec.out ? "" : fmt::format("->{}", ir::Name(spec.out)),
                     spec.bias ? " bias" : "", spec.relu ? " relu" : "");
}

// ---- the pass -----------------------------------------------------------------------------------

class Region {
 public:
  Region(const Graph& graph, Choice choice, const XlaFacts& xla, std::vector<Decision>* decisions)
      : graph_(graph), choice_(choice), xla_(xla), decisions_(decisions) {
    const std::vector<bool> live = graph.LiveNodes();
    for (const auto& node : graph.nodes()) {
      if (live[node->id()]) LookForLoop(*node);
    }
    // From here on the nodes that loops stand for do not count, as far as nothing else reads them.
    needed_ = Needed();
    uses_.resize(graph.nodes().size(), 0);
    users_.resize(graph.nodes().size(), nullptr);
    for (const auto& node : graph.nodes()) {
      if (!needed_[node->id()]) continue;
      for (const Value& input : InputsOf(*node)) {
        ++uses_[input.node()->id()];
        users_[input.node()->id()] = node.get();
      }
    }
    for (const Value& output : graph.outputs()) {
      ++uses_[output.node()->id()];
      users_[output.node()->id()] = nullptr;
    }
    for (const auto& node : graph.nodes()) {
      if (!needed_[node->id()]) continue;
      if (loops_.contains(node.get())) CallLoop(*node);
      if (node->name() == "dot_general") LookAtDot(*node);
      if (node->name() == "convolution") LookAtConvolution(*node);
    }
    for (auto& [root, call] : calls_) {
      if (call.stands_for.empty()) {
        call.stands_for = {Value(const_cast<Node*>(root), 0)};
      }
      for (const Value& value : call.stands_for) call_of_[value.node()] = &call;
    }
  }

  // The nodes and outputs of the graph in `to`, which has its parameters.
  void CopyInto(Graph& to) {
    copies_.resize(graph_.nodes().size());
    for (size_t i = 0; i < graph_.parameters().size(); ++i) {
      copies_[graph_.parameters()[i].node()->id()] = {to.parameters()[i]};
    }
    needed_ = Needed();
    for (const auto& node : graph_.nodes()) {
      if (needed_[node->id()]) Copy(to, *node);
    }
    std::vector<Value> outputs;
    for (const Value& output : graph_.outputs()) outputs.push_back(CopyOf(output));
    to.SetOutputs(std::move(outputs));
  }

  static std::unique_ptr<Graph> Lowered(const Graph& graph, Choice choice, const XlaFacts& xla,
                                        std::vector<Decision>* decisions) {
    auto to = std::make_unique<Graph>(graph.name());
    for (size_t i = 0; i < graph.parameters().size(); ++i) {
      to->AddParameter(graph.parameters()[i].shape(), graph.parameter_name(i));
    }
    Region(graph, choice, xla, decisions).CopyInto(*to);
    for (size_t i = 0; i < graph.parameters().size(); ++i) {
      if (graph.donated_output(i) >= 0) to->Donate(static_cast<int>(i), graph.donated_output(i));
    }
    return to;
  }

 private:
  Value CopyOf(Value value) const { return copies_[value.node()->id()].at(value.index()); }

  // A call is put where the first of the nodes is that it stands for; what it reads may come later
  // in the graph (a residual that is added), and is copied before it.
  void Copy(Graph& to, const Node& node) {
    if (!copies_[node.id()].empty()) return;
    if (const auto found = call_of_.find(&node); found != call_of_.end()) {
      const Call& call = *found->second;
      for (const Operand& operand : call.operands) Copy(to, *operand.value.node());
      const ir::Scope scope = ir::Scope::Exactly(to, node.scope());
      const std::vector<Value> results = Emit(to, call);
      for (size_t i = 0; i < call.stands_for.size(); ++i) {
        const Value& value = call.stands_for[i];
        std::vector<Value>& copy = copies_[value.node()->id()];
        copy.resize(value.node()->num_outputs());
        copy[value.index()] = results[i];
      }
      return;
    }
    for (const Value& input : node.inputs()) {
      if (copies_[input.node()->id()].empty()) Copy(to, *input.node());
    }
    const ir::Scope scope = ir::Scope::Exactly(to, node.scope());
    std::vector<Value> inputs;
    for (const Value& input : node.inputs()) inputs.push_back(CopyOf(input));
    std::vector<std::unique_ptr<Graph>> regions;
    for (size_t i = 0; i < node.num_regions(); ++i) {
      regions.push_back(Lowered(node.region(i), choice_, xla_, decisions_));
    }
    Node& copy = to.AddNode(node.op(), std::move(inputs), node.attrs(), std::move(regions));
    for (size_t i = 0; i < copy.num_outputs(); ++i) {
      copies_[node.id()].push_back(copy.output(static_cast<int>(i)));
    }
  }

  std::vector<Value> Emit(Graph& to, const Call& call) const {
    std::vector<Value> operands;
    for (const Operand& operand : call.operands) {
      Value value = CopyOf(operand.value);
      if (!operand.permutation.empty()) value = ir::Transpose(value, operand.permutation);
      operands.push_back(value);
    }
    std::vector<Shape> shapes = {call.result};
    shapes.insert(shapes.end(), call.more_results.begin(), call.more_results.end());
    std::vector<Value> results =
        ir::CustomCall(to, std::string(call.target), operands, shapes, {{"numbers", call.numbers}});
    if (!call.reverse.empty()) results[0] = ir::Reverse(results[0], call.reverse);
    if (!call.permutation.empty()) results[0] = ir::Transpose(results[0], call.permutation);
    return results;
  }

  // What a node reads, once loops take the place of what they stand for.
  std::vector<Value> InputsOf(const Node& node) const {
    std::vector<Value> inputs;
    if (const auto call = call_of_.find(&node); call != call_of_.end()) {
      for (const Operand& operand : call->second->operands) inputs.push_back(operand.value);
    } else if (const auto loop = loops_.find(&node); loop != loops_.end()) {
      inputs = loop->second.operands;
    } else {
      inputs.assign(node.inputs().begin(), node.inputs().end());
    }
    return inputs;
  }

  // What the outputs need once the calls are in place.
  std::vector<bool> Needed() const {
    std::vector<bool> needed(graph_.nodes().size(), false);
    std::vector<const Node*> stack;
    const auto need = [&](const Node* node) {
      if (needed[node->id()]) return;
      needed[node->id()] = true;
      stack.push_back(node);
    };
    for (const Value& output : graph_.outputs()) need(output.node());
    for (const auto& node : graph_.nodes()) {
      if (node->op().has_side_effect) need(node.get());
      if (const ir::Attribute* effect = node->attrs().Find("has_side_effect")) {
        if (std::get<bool>(*effect)) need(node.get());
      }
    }
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (const Value& input : InputsOf(*node)) need(input.node());
    }
    return needed;
  }

  // The one node that uses `node`'s only result, or nullptr.
  const Node* OnlyUser(const Node& node) const {
    if (node.num_outputs() != 1 || uses_[node.id()] != 1) return nullptr;
    return users_[node.id()];
  }

  // If `user` adds to `node` one number per channel (`channels`, the last dimension): that vector.
  static Value BiasOf(const Node* user, const Node& node, int64_t channels) {
    if (user == nullptr || user->name() != "add") return Value();
    const Value other = user->input(0).node() == &node ? user->input(1) : user->input(0);
    const Node& broadcast = *other.node();
    if (broadcast.name() != "broadcast_in_dim") return Value();
    const Value vector = broadcast.input(0);
    if (vector.rank() != 1 || vector.dim(0) != channels ||
        broadcast.attrs().Ints("broadcast_dimensions") != Dims{node.shape().rank() - 1}) {
      return Value();
    }
    return vector;
  }

  // What follows a product or forward convolution and can be computed along with it.
  struct Fused {
    Value bias;
    const Node* bias_node = nullptr;  // adds it
    const Node* relu_node = nullptr;
  };
  Fused FusedWith(const Node& node, int64_t channels) const {
    Fused fused;
    const Node* end = &node;
    fused.bias = BiasOf(OnlyUser(node), node, channels);
    if (fused.bias) end = fused.bias_node = OnlyUser(node);
    const Node* next = OnlyUser(*end);
    if (next != nullptr && next->name() == "relu") fused.relu_node = next;
    return fused;
  }

  // Whether the library computes `spec`, with as much of `fused` as it can (spec says which).
  // Tells `decisions_`.
  template <typename Spec>
  bool Decide(const Node& node, std::string_view target, Spec& spec, const Fused& fused) {
    Decision decision;
    decision.scope = node.scope();
    decision.flops = Flops(spec);
    if (choice_ == Choice::kAuto) decision.why = WhyNotFaster(spec, xla_);
    Kernel* kernel = nullptr;
    if (decision.why.empty()) {
      const bool bias = fused.bias_node != nullptr, relu = fused.relu_node != nullptr;
      // From the most that might be had to nothing besides.
      for (const auto& [with_bias, with_relu] :
           {std::pair(bias, relu), std::pair(bias, false), std::pair(false, false)}) {
        spec.bias = with_bias;
        spec.relu = with_relu;
        kernel = FindKernel(target, Encode(spec), &decision.why);
        if (kernel != nullptr) break;
      }
    }
    decision.what = Describe(spec);
    decision.library = kernel != nullptr;
    if (kernel != nullptr) {
      decision.implementation = kernel->implementation;
      decision.why.clear();
    }
    if (decisions_ != nullptr) decisions_->push_back(std::move(decision));
    return kernel != nullptr;
  }

  // The last node that a call of `spec` stands for.
  template <typename Spec>
  static const Node* RootOf(const Node* node, const Spec& spec, const Fused& fused) {
    return spec.relu ? fused.relu_node : spec.bias ? fused.bias_node : node;
  }

  void Refuse(const Node& node, std::string why) {
    if (decisions_ == nullptr) return;
    Decision decision;
    decision.scope = node.scope();
    decision.what = fmt::format("{} {} by {}", node.name(), node.input(0).shape().ToString(),
                                node.input(1).shape().ToString());
    decision.why = std::move(why);
    decision.flops = node.op().flops(node);
    decisions_->push_back(std::move(decision));
  }

  // Why no call can compute the node, whatever it is; "" if one might.
  static std::string WhyNever(const Node& node) {
    const ir::DType in = node.input(0).dtype(), out = node.shape().dtype;
    if (in != ir::DType::kF32 && in != ir::DType::kBF16) {
      return fmt::format("oneDNN has no kernels for {}", ir::Name(in));
    }
    if (out != in && out != ir::DType::kF32) {
      return fmt::format("oneDNN has no kernels for {}", ir::Name(out));
    }
    for (const Shape& shape : {node.input(0).shape(), node.input(1).shape(), node.shape()}) {
      if (shape.size() == 0) return "there is nothing to compute";
      if (!InRange(shape)) {
        return fmt::format("{} has more elements than the library's 32-bit offsets reach",
                           shape.ToString());
      }
    }
    return "";
  }

  void LookAtDot(const Node& node) {
    if (std::string why = WhyNever(node); !why.empty()) return Refuse(node, why);
    Call call;
    call.target = kMatmulTarget;
    const Node* const user = OnlyUser(node);
    // Transposes of the result cost nothing if the product is written that way.
    const Node* root = &node;
    Fused fused;
    std::optional<Product> product;
    std::vector<const Dims*> permutations;
    for (const Node* next = user; next != nullptr && next->name() == "transpose";
         next = OnlyUser(*next)) {
      permutations.push_back(&next->attrs().Ints("permutation"));
      root = next;
    }
    if (root != &node) {
      Dims strides = RowMajor(root->shape().dims);
      for (size_t i = permutations.size(); i-- > 0;) {
        strides = Permuted(strides, Inverse(*permutations[i]));
      }
      product = AsMatmul(node, true, strides);
    }
    if (!product) {
      root = &node;
      const Dims plain = RowMajor(node.shape().dims);
      product = AsMatmul(node, true, plain);
      if (!product) product = AsMatmul(node, false, plain);
      if (!product) return Refuse(node, "no layout of it suits the library");
      if (node.shape().rank() > 0 && product->spec.n == node.shape().dims.back()) {
        fused = FusedWith(node, product->spec.n);
      }
    }
    if (!Decide(node, kMatmulTarget, product->spec, fused)) return;
    call.operands = {{product->a, {}}, {product->b, {}}};
    if (product->spec.bias) call.operands.push_back({fused.bias, {}});
    root = RootOf(root, product->spec, fused);
    call.numbers = Encode(product->spec);
    call.result = root->shape();
    calls_[root] = std::move(call);
  }

  void LookAtConvolution(const Node& node) {
    if (std::string why = WhyNever(node); !why.empty()) return Refuse(node, why);
    std::optional<Convolved> convolved = AsConvolution(node);
    if (!convolved) return Refuse(node, "the library has no convolution of this form");
    ConvolutionSpec& spec = convolved->spec;
    Call& call = convolved->call;
    Fused fused;
    if (spec.direction == ConvolutionSpec::Direction::kForward && call.permutation.empty()) {
      fused = FusedWith(node, spec.out_channels);
    }
    if (!Decide(node, kConvolutionTarget, spec, fused)) return;
    if (spec.bias) call.operands.push_back({fused.bias, {}});
    call.target = kConvolutionTarget;
    call.numbers = Encode(spec);
    calls_[RootOf(&node, spec, fused)] = std::move(call);
  }

  // ---- loops ----

  // What a loop reads, and what it computes without anything else.
  struct LoopOf {
    LoopSpec spec;
    std::vector<Value> operands;
  };

  static int64_t Columns(Value x) { return x.rank() == 0 ? 1 : x.dims().back(); }

  // Sums over all dimensions but the last of an array that is in memory anyway: the gradients of
  // biases.
  std::optional<LoopOf> AsColumnSums(const Node& node) const {
    if (node.name() != "reduce" || node.attrs().String("kind") != "add" ||
        node.shape().rank() != 1 || node.shape().dtype != ir::DType::kF32) {
      return std::nullopt;
    }
    Value x = node.input(0);
    const int64_t columns = x.dim(-1);
    const Dims& axes = node.attrs().Ints("axes");
    if (std::find(axes.begin(), axes.end(), x.rank() - 1) != axes.end()) return std::nullopt;
    if (x.node()->name() == "convert") x = x.node()->input(0);
    Value made = x;
    while (made.node()->name() == "reshape") made = made.node()->input(0);
    if (made.node()->name() != "dot_general" && !loops_.contains(made.node())) return std::nullopt;
    LoopOf of;
    of.spec.loop = Loop::kColumnSums;
    of.spec.x = x.dtype();
    of.spec.columns = columns;
    of.spec.rows = columns == 0 ? 0 : x.shape().size() / columns;
    of.operands = {x};
    return of;
  }

  // `node` as a loop, if it is one.
  static std::optional<LoopOf> AsLoop(const Node& node) {
    LoopOf of;
    if (node.name() == "narrowed_softmax") {
      const Value x = node.input(1);
      if (node.attrs().Int("axis") != x.rank() - 1 || x.dtype() != ir::DType::kF32) {
        return std::nullopt;
      }
      of.spec.loop = Loop::kSoftmax;
      of.operands = {x};
    } else if (node.name() == "composite") {
      static const std::map<std::string_view, Loop> kinds = {
          {"sparse_cross_entropy", Loop::kCrossEntropy},
          {"sparse_cross_entropy_gradient", Loop::kCrossEntropyGradient},
          {"softmax", Loop::kSoftmax},
          {"softmax_gradient", Loop::kSoftmaxGradient},
          {"layer_normalization", Loop::kLayerNorm},
          {"layer_normalization_gradient", Loop::kLayerNormGradient},
          {"gelu", Loop::kGelu},
          {"gelu_gradient", Loop::kGeluGradient},
          {"batch_normalization", Loop::kBatchNorm},
          {"batch_normalization_gradient", Loop::kBatchNormGradient},
      };
      const auto kind = kinds.find(node.attrs().String("kind"));
      if (kind == kinds.end()) return std::nullopt;
      of.spec.loop = kind->second;
      of.operands.assign(node.inputs().begin() + node.attrs().Int("results"), node.inputs().end());
    } else {
      return std::nullopt;
    }
    LoopSpec& spec = of.spec;
    const std::vector<Value>& operands = of.operands;
    // Of the array that the rows are of; and which is the other of that shape.
    Value x = operands[0];
    spec.y = node.shape().dtype;
    bool fits = true;
    switch (spec.loop) {
      case Loop::kCrossEntropy:
      case Loop::kCrossEntropyGradient:
        fits = operands[1].dtype() == ir::DType::kI32;
        spec.y = x.dtype();
        break;
      case Loop::kSoftmax:
        fits = x.dtype() == ir::DType::kF32;
        break;
      case Loop::kSoftmaxGradient:
        // x is what comes out, y and the cotangent what goes in.
        fits = operands[1].dtype() == operands[0].dtype();
        spec.y = operands[0].dtype();
        break;
      case Loop::kLayerNormGradient:
        spec.y = operands[4].dtype();
        break;
      case Loop::kGelu:
      case Loop::kGeluGradient:
        fits = operands.back().dtype() == x.dtype();
        break;
      case Loop::kBatchNorm:
        spec.cells = CellsOf(x);
        break;
      case Loop::kBatchNormGradient:
        spec.cells = CellsOf(x);
        spec.y = operands[6].dtype();
        break;
      default:
        break;
    }
    spec.x = spec.loop == Loop::kSoftmaxGradient ? node.shape().dtype : x.dtype();
    if (node.attrs().Has("epsilon")) spec.epsilon = node.attrs().Double("epsilon");
    spec.columns = Columns(x);
    spec.rows = spec.columns == 0 ? 0 : x.shape().size() / spec.columns;
    // Weights and statistics are f32.
    for (const Value& operand : operands) {
      if (operand.shape().dims == x.dims() || operand.dtype() == ir::DType::kI32) continue;
      fits = fits && operand.dtype() == ir::DType::kF32;
    }
    if (!fits || x.rank() == 0) return std::nullopt;
    return of;
  }

  // Of channels last: how many rows belong to one of the batch.
  static int64_t CellsOf(Value x) {
    int64_t cells = 1;
    for (int64_t i = 1; i + 1 < x.rank(); ++i) cells *= x.dim(i);
    return cells;
  }

  static std::string_view LoopName(Loop loop) {
    switch (loop) {
      case Loop::kCrossEntropy:
        return "cross-entropy";
      case Loop::kCrossEntropyGradient:
        return "gradient of cross-entropy";
      case Loop::kSoftmax:
        return "softmax";
      case Loop::kSoftmaxGradient:
        return "gradient of softmax";
      case Loop::kLayerNorm:
        return "layer normalization";
      case Loop::kLayerNormGradient:
        return "gradient of layer normalization";
      case Loop::kGelu:
        return "gelu";
      case Loop::kGeluGradient:
        return "gradient of gelu";
      case Loop::kBatchNorm:
        return "batch normalization";
      case Loop::kBatchNormGradient:
        return "gradient of batch normalization";
      case Loop::kColumnSums:
        return "sums of columns";
    }
    return "";
  }
  static std::string DescribeLoop(const LoopSpec& spec) {
    return fmt::format("{} {}x{}, {}{}{}{}{}", LoopName(spec.loop), spec.rows, spec.columns,
                       ir::Name(spec.x),
                       spec.x == spec.y ? "" : fmt::format(" {}", ir::Name(spec.y)),
                       spec.causal_rows > 0 ? " causal" : "", spec.residual ? " sum" : "",
                       spec.relu ? " relu" : "");
  }

  void LookForLoop(const Node& node) {
    std::optional<LoopOf> of = AsLoop(node);
    if (!of) of = AsColumnSums(node);
    if (!of) return;
    Decision decision;
    decision.scope = node.scope();
    decision.what = DescribeLoop(of->spec);
    decision.flops = Flops(of->spec);
    if (of->spec.rows == 0) decision.why = "there is nothing to compute";
    if (decision.why.empty() && choice_ == Choice::kAuto) {
      decision.why = WhyNotFaster(of->spec, xla_);
    }
    if (decision.why.empty()) {
      const Kernel* kernel = FindKernel(kLoopTarget, Encode(of->spec), &decision.why);
      if (kernel != nullptr) {
        decision.library = true;
        decision.implementation = kernel->implementation;
        loops_[&node] = *of;
      }
    }
    if (decisions_ != nullptr) decisions_->push_back(std::move(decision));
  }

  // Whether `value` is made, directly or not, from what `node` computes.
  static bool DependsOn(Value value, const Node& node) {
    std::vector<const Node*> stack = {value.node()};
    std::set<const Node*> seen;
    while (!stack.empty()) {
      const Node* at = stack.back();
      stack.pop_back();
      if (at->id() < node.id() || !seen.insert(at).second) continue;
      if (at == &node) return true;
      for (const Value& input : at->inputs()) stack.push_back(input.node());
    }
    return false;
  }

  // The node that alone reads this output of `node`, or nullptr.
  const Node* OnlyReader(const Node& node, int output) const {
    const Node* reader = nullptr;
    for (size_t i = node.id() + 1; i < graph_.nodes().size(); ++i) {
      if (!needed_[i]) continue;
      for (const Value& input : InputsOf(*graph_.nodes()[i])) {
        if (input.node() != &node || input.index() != output) continue;
        if (reader != nullptr) return nullptr;
        reader = graph_.nodes()[i].get();
      }
    }
    for (const Value& value : graph_.outputs()) {
      if (value.node() == &node && value.index() == output) return nullptr;
    }
    return reader;
  }

  void CallLoop(const Node& node) {
    LoopOf& of = loops_.at(&node);
    LoopSpec& spec = of.spec;
    Call call;
    call.target = kLoopTarget;
    call.result = node.shape();
    std::vector<Value> stands_for;
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      stands_for.emplace_back(const_cast<Node*>(&node), static_cast<int>(i));
      if (i > 0) call.more_results.push_back(node.shape(static_cast<int>(i)));
    }
    if (spec.loop == Loop::kBatchNorm) {
      // (+ residual), relu.
      const Node* user = OnlyReader(node, 0);
      const Node* sum = nullptr;
      Value residual;
      if (user != nullptr && user->name() == "add") {
        const bool first = user->input(0).node() == &node;
        const Value other = user->input(first ? 1 : 0);
        if (other.shape() == node.shape() && !claimed_.contains(user) && !DependsOn(other, node)) {
          residual = other;
          sum = user;
          user = OnlyUser(*user);
        }
      }
      if (user != nullptr && user->name() == "relu") {
        claimed_.insert(sum);
        spec.relu = true;
        if (residual) {
          spec.residual = true;
          of.operands.push_back(residual);
        }
        stands_for[0] = Value(const_cast<Node*>(user), 0);
      }
    }
    if (spec.loop == Loop::kBatchNormGradient) {
      // The relu behind it lets through what belongs to results above 0.
      const Node& select = *of.operands[6].node();
      if (select.name() == "select" && OnlyUser(select) == &node && IsZero(select.input(2))) {
        const Node& above = *select.input(0).node();
        if (above.name() == "compare" && above.attrs().String("direction") == "GT" &&
            IsZero(above.input(1)) && above.input(0).shape() == select.shape() &&
            select.input(1).shape() == select.shape()) {
          spec.relu = true;
          of.operands[6] = select.input(1);
          of.operands.push_back(above.input(0));
        }
      }
    }
    if (spec.loop == Loop::kSoftmax) {
      if (const Node* mask = CausalSelect(of.operands[0])) {
        spec.causal_rows = node.shape().dims[node.shape().rank() - 2];
        of.operands[0] = mask->input(1);
        masks_[&node] = mask->input(0);
      }
    }
    if (spec.loop == Loop::kSoftmaxGradient) {
      // Where the mask lets nothing through, the result is 0 anyway; and it may be written narrow.
      const Node* softmax = of.operands[0].node();
      if (softmax->name() == "optimization_barrier") {
        softmax = softmax->input(of.operands[0].index()).node();
      }
      const Node* end = &node;
      const Node* user = OnlyUser(node);
      const auto mask = masks_.find(softmax);
      if (mask != masks_.end() && user != nullptr && user->name() == "select" &&
          user->input(0) == mask->second && user->input(1).node() == &node &&
          IsZero(user->input(2))) {
        end = user;
        user = OnlyUser(*user);
      }
      if (user != nullptr && user->name() == "convert" && spec.x == ir::DType::kF32 &&
          user->shape().dtype == ir::DType::kBF16) {
        end = user;
        spec.x = ir::DType::kBF16;
      }
      call.result = end->shape();
      stands_for[0] = Value(const_cast<Node*>(end), 0);
    }
    call.numbers = Encode(spec);
    for (const Value& operand : of.operands) call.operands.push_back({operand, {}});
    call.stands_for = std::move(stands_for);
    calls_[&node] = std::move(call);
  }

  // The select that hides from each row [.., row, column] the columns beyond its own, if x is one.
  static const Node* CausalSelect(Value x) {
    const Node& select = *x.node();
    if (select.name() != "select" || x.rank() < 2) return nullptr;
    const Node* mask = select.input(0).node();
    if (mask->name() == "broadcast_in_dim") {
      const Dims& to = mask->attrs().Ints("broadcast_dimensions");
      if (to != Dims{x.rank() - 2, x.rank() - 1}) return nullptr;
      mask = mask->input(0).node();
    }
    if (mask->name() != "compare" || mask->attrs().String("direction") != "GE" ||
        mask->shape().dims != Dims{x.dim(x.rank() - 2), x.dim(x.rank() - 1)}) {
      return nullptr;
    }
    const Node &row = *mask->input(0).node(), &column = *mask->input(1).node();
    if (row.name() != "iota" || column.name() != "iota" || row.attrs().Int("axis") != 0 ||
        column.attrs().Int("axis") != 1) {
      return nullptr;
    }
    // What is so low that its share is 0 beside any score.
    const Node* low = select.input(2).node();
    while (low->name() == "broadcast_in_dim") low = low->input(0).node();
    if (low->name() != "constant") return nullptr;
    const ir::Literal& literal = low->attrs().Data("value");
    constexpr double kLow = -1e29;
    return literal.splat && literal.At(0) <= kLow ? &select : nullptr;
  }

  // A constant 0, perhaps broadcast.
  static bool IsZero(Value value) {
    const Node* node = value.node();
    while (node->name() == "broadcast_in_dim") node = node->input(0).node();
    if (node->name() != "constant") return false;
    const ir::Literal& literal = node->attrs().Data("value");
    return literal.splat && literal.At(0) == 0;
  }

  const Graph& graph_;
  Choice choice_;
  XlaFacts xla_;
  std::vector<Decision>* decisions_;
  std::vector<bool> needed_;
  std::vector<int> uses_;
  std::vector<const Node*> users_;
  std::map<const Node*, LoopOf> loops_;
  std::set<const Node*> claimed_;       // sums that a call computes
  std::map<const Node*, Value> masks_;  // of causal softmax
  std::map<const Node*, Call> calls_;   // by the node they were found at
  std::map<const Node*, const Call*> call_of_;
  std::vector<std::vector<Value>> copies_;
};

}  // namespace

std::unique_ptr<Graph> LowerGraph(const Graph& graph, Choice choice, const XlaFacts& xla,
                                  std::vector<Decision>* decisions) {
  return Region::Lowered(graph, choice, xla, decisions);
}

}  // namespace flatout::kernels
