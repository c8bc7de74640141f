// Ops that move elements: broadcast, reshape, transpose, slice, pad, concatenate, reverse.
#include <algorithm>
#include <numeric>

#include "flatout/ir/op.h"
#include "flatout/ir/ops.h"
#include "flatout/ir/ops/common.h"
#include "flatout/ir/stablehlo.h"

namespace flatout::ir {
namespace {

std::vector<Shape> OneShape(const Value& like, Dims dims) {
  return {like.shape().WithDims(std::move(dims))};
}

void CheckLength(std::string_view what, const Dims& list, const Shape& shape) {
  if (static_cast<int64_t>(list.size()) != shape.rank()) {
    throw Invalid("{} {} must have one entry per dimension of {}", what, DimsToString(list),
                  shape.ToString());
  }
}

bool IsIdentity(const Dims& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

void CheckPermutation(const Dims& permutation, const Shape& shape) {
  Dims sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  if (static_cast<int64_t>(sorted.size()) != shape.rank() || !IsIdentity(sorted)) {
    throw Invalid("{} is not a permutation of the {} dimensions of {}", DimsToString(permutation),
                  shape.rank(), shape.ToString());
  }
}

const OpDef kBroadcastInDim = {
    .name = "broadcast_in_dim",
    .infer =
        [](const Node& node) {
          const Shape& x = node.input(0).shape();
          const Dims& result = node.attrs().Ints("dims");
          const Dims& map = node.attrs().Ints("broadcast_dimensions");
          CheckLength("broadcast_dimensions", map, x);
          Dims seen;
          for (int64_t i = 0; i < x.rank(); ++i) {
            if (map[i] < 0 || map[i] >= static_cast<int64_t>(result.size()) ||
                std::find(seen.begin(), seen.end(), map[i]) != seen.end()) {
              throw Invalid("broadcast_dimensions {} must name different dimensions of {}",
                            DimsToString(map), DimsToString(result));
            }
            seen.push_back(map[i]);
            if (x.dims[i] != 1 && x.dims[i] != result[map[i]]) {
              throw Invalid("{} does not broadcast to {}: dimension {} is {} against {}",
                            x.ToString(), DimsToString(result), i, x.dims[i], result[map[i]]);
            }
          }
          return OneShape(node.input(0), result);
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          writer.Emit(
              node, "broadcast_in_dim",
              "broadcast_dimensions = " + I64Array(node.attrs().Ints("broadcast_dimensions")));
        },
    .differentiability = Differentiability::kRule,
    // The sum over every result dimension that is new or was stretched.
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          const Shape& x = node.input(0).shape();
          const Dims& map = node.attrs().Ints("broadcast_dimensions");
          Dims axes, kept;
          for (int64_t r = 0; r < dy[0].rank(); ++r) {
            const auto from = std::find(map.begin(), map.end(), r);
            const bool same = from != map.end() && x.dims[from - map.begin()] == dy[0].dim(r);
            (same ? kept : axes).push_back(r);
          }
          Value sum = axes.empty() ? dy[0] : ReduceSum(dy[0], axes);
          Dims order;
          for (const int64_t r : map) {
            const auto at = std::find(kept.begin(), kept.end(), r);
            if (at != kept.end()) order.push_back(at - kept.begin());
          }
          return std::vector<Value>{Reshape(Transpose(sum, order), x.dims)};
        },
};

const OpDef kReshape = {
    .name = "reshape",
    .infer =
        [](const Node& node) {
          const Shape& x = node.input(0).shape();
          const Shape result = x.WithDims(node.attrs().Ints("dims"));
          if (result.size() != x.size()) {
            throw Invalid("{} has {} elements, {} has {}", x.ToString(), x.size(),
                          result.ToString(), result.size());
          }
          return std::vector<Shape>{result};
        },
    .write = [](StablehloWriter& writer, const Node& node) { writer.Emit(node, "reshape"); },
    .differentiability = Differentiability::kRule,
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          return std::vector<Value>{Reshape(dy[0], node.input(0).dims())};
        },
};

const OpDef kTranspose = {
    .name = "transpose",
    .infer =
        [](const Node& node) {
          const Shape& x = node.input(0).shape();
          const Dims& permutation = node.attrs().Ints("permutation");
          CheckPermutation(permutation, x);
          Dims dims;
          for (const int64_t from : permutation) dims.push_back(x.dims[from]);
          return OneShape(node.input(0), dims);
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          writer.Emit(node, "transpose",
                      "permutation = " + I64Array(node.attrs().Ints("permutation")));
        },
    .differentiability = Differentiability::kRule,
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          const Dims& permutation = node.attrs().Ints("permutation");
          Dims inverse(permutation.size());
          for (size_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = i;
          return std::vector<Value>{Transpose(dy[0], inverse)};
        },
};

const OpDef kSlice = {
    .name = "slice",
    .infer =
        [](const Node& node) {
          const Shape& x = node.input(0).shape();
          const Dims& start = node.attrs().Ints("start");
          const Dims& limit = node.attrs().Ints("limit");
          const Dims& strides = node.attrs().Ints("strides");
          CheckLength("start", start, x);
          CheckLength("limit", limit, x);
          CheckLength("strides", strides, x);
          Dims dims;
          for (int64_t i = 0; i < x.rank(); ++i) {
            if (start[i] < 0 || start[i] > limit[i] || limit[i] > x.dims[i] || strides[i] < 1) {
              throw Invalid("[{}, {}) by {} is no range of dimension {} of {}", start[i], limit[i],
                            strides[i], i, x.ToString());
            }
            dims.push_back((limit[i] - start[i] + strides[i] - 1) / strides[i]);
          }
          return OneShape(node.input(0), dims);
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          writer.Emit(node, "slice",
                      "start_indices = " + I64Array(node.attrs().Ints("start")) +
                          ", limit_indices = " + I64Array(node.attrs().Ints("limit")) +
                          ", strides = " + I64Array(node.attrs().Ints("strides")));
        },
    .differentiability = Differentiability::kRule,
    // dy spread out to the places it came from, zeros elsewhere.
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          const Dims& low = node.attrs().Ints("start");
          Dims interior, high;
          for (int64_t i = 0; i < dy[0].rank(); ++i) {
            interior.push_back(node.attrs().Ints("strides")[i] - 1);
            const int64_t n = dy[0].dim(i);
            const int64_t span = n == 0 ? 0 : (n - 1) * (interior[i] + 1) + 1;
            high.push_back(node.input(0).dim(i) - low[i] - span);
          }
          return std::vector<Value>{Pad(dy[0], 0, low, high, interior)};
        },
};

// Inputs: x and the scalar to pad with.
const OpDef kPad = {
    .name = "pad",
    .infer =
        [](const Node& node) {
          const Shape& x = node.input(0).shape();
          const Dims& low = node.attrs().Ints("low");
          const Dims& high = node.attrs().Ints("high");
          const Dims& interior = node.attrs().Ints("interior");
          CheckLength("low", low, x);
          CheckLength("high", high, x);
          CheckLength("interior", interior, x);
          if (node.input(1).shape() != Shape::Scalar(x.dtype)) {
            throw Invalid("the padding value must be a scalar {}, found {}", Name(x.dtype),
                          node.input(1).shape().ToString());
          }
          Dims dims;
          for (int64_t i = 0; i < x.rank(); ++i) {
            const int64_t inner = x.dims[i] + std::max<int64_t>(x.dims[i] - 1, 0) * interior[i];
            dims.push_back(low[i] + inner + high[i]);
            if (interior[i] < 0 || dims[i] < 0) {
              throw Invalid(
                  "padding of {} low, {} high, {} between leaves no size for dimension "
                  "{} of {}",
                  low[i], high[i], interior[i], i, x.ToString());
            }
          }
          return OneShape(node.input(0), dims);
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          writer.Emit(node, "pad",
                      "edge_padding_low = " + I64Array(node.attrs().Ints("low")) +
                          ", edge_padding_high = " + I64Array(node.attrs().Ints("high")) +
                          ", interior_padding = " + I64Array(node.attrs().Ints("interior")));
        },
    .differentiability = Differentiability::kRule,
    // What lies where x went (edges cut off come back as zeros); the padding value gets the rest.
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          const Shape& x = node.input(0).shape();
          Dims low, high, none(x.rank(), 0), strides;
          for (int64_t i = 0; i < x.rank(); ++i) {
            low.push_back(-node.attrs().Ints("low")[i]);
            high.push_back(-node.attrs().Ints("high")[i]);
            strides.push_back(node.attrs().Ints("interior")[i] + 1);
          }
          const Value inner = Pad(dy[0], 0, low, high, none);
          const Value dx = Slice(inner, none, inner.dims(), strides);
          return std::vector<Value>{dx, ReduceSum(dy[0]) - ReduceSum(dx)};
        },
};

const OpDef kConcatenate = {
    .name = "concatenate",
    .infer =
        [](const Node& node) {
          if (node.inputs().empty()) throw Invalid("needs at least one operand");
          const int64_t axis = node.attrs().Int("axis");
          Shape result = node.input(0).shape();
          NormalizeAxis(result, axis);
          for (size_t i = 1; i < node.inputs().size(); ++i) {
            Shape other = node.input(i).shape();
            const int64_t extent = other.rank() == result.rank() ? other.dims[axis] : 0;
            if (other.rank() == result.rank()) other.dims[axis] = result.dims[axis];
            if (other != result) {
              throw Invalid("operands {} and {} differ outside of axis {}",
                            node.input(0).shape().ToString(), node.input(i).shape().ToString(),
                            axis);
            }
            result.dims[axis] += extent;
          }
          return std::vector<Shape>{result};
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          writer.Emit(node, "concatenate", "dimension = " + I64(node.attrs().Int("axis")));
        },
    .differentiability = Differentiability::kRule,
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          const int64_t axis = node.attrs().Int("axis");
          std::vector<Value> gradients;
          int64_t start = 0;
          for (const Value& input : node.inputs()) {
            gradients.push_back(SliceAxis(dy[0], axis, start, start + input.dim(axis)));
            start += input.dim(axis);
          }
          return gradients;
        },
};

const OpDef kReverse = {
    .name = "reverse",
    .infer =
        [](const Node& node) {
          for (const int64_t axis : node.attrs().Ints("axes")) {
            NormalizeAxis(node.input(0).shape(), axis);
          }
          return std::vector<Shape>{node.input(0).shape()};
        },
    .write =
        [](StablehloWriter& writer, const Node& node) {
          writer.Emit(node, "reverse", "dimensions = " + I64Array(node.attrs().Ints("axes")));
        },
    .differentiability = Differentiability::kRule,
    .gradient =
        [](Node& node, std::span<const Value> dy) {
          return std::vector<Value>{Reverse(dy[0], node.attrs().Ints("axes"))};
        },
};

}  // namespace

std::span<const OpDef* const> ShapeOps() {
  static const OpDef* const rows[] = {&kBroadcastInDim, &kReshape, &kTranspose, &kSlice, &kPad,
                                      &kConcatenate,    &kReverse};
  return rows;
}

Value BroadcastInDim(Value x, const Dims& result_dims, const Dims& dims) {
  if (x.dims() == result_dims && IsIdentity(dims)) return x;
  return x.graph()
      .AddNode(kBroadcastInDim, {x}, {{"dims", result_dims}, {"broadcast_dimensions", dims}})
      .output();
}

Value BroadcastTo(Value x, const Dims& result_dims) {
  if (x.dims() == result_dims) return x;
  const int64_t shift = static_cast<int64_t>(result_dims.size()) - x.rank();
  if (shift < 0) {
    InOp(x.graph(), kBroadcastInDim.name, [&] {
      throw Invalid("{} does not broadcast to the lower rank of {}", x.shape().ToString(),
                    DimsToString(result_dims));
    });
  }
  Dims map(x.rank());
  std::iota(map.begin(), map.end(), shift);
  return BroadcastInDim(x, result_dims, map);
}

Value Reshape(Value x, const Dims& dims) {
  Dims result = dims;
  int64_t known = 1, unknown = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1 && unknown < 0) {
      unknown = static_cast<int64_t>(i);
    } else {
      known *= dims[i];
    }
  }
  if (unknown >= 0) {
    if (known <= 0 || x.shape().size() % known != 0) {
      InOp(x.graph(), kReshape.name, [&] {
        throw Invalid("no size for the -1 in {} fits the {} elements of {}", DimsToString(dims),
                      x.shape().size(), x.shape().ToString());
      });
    }
    result[unknown] = x.shape().size() / known;
  }
  if (result == x.dims()) return x;
  return x.graph().AddNode(kReshape, {x}, {{"dims", result}}).output();
}

Value Transpose(Value x, const Dims& permutation) {
  if (static_cast<int64_t>(permutation.size()) == x.rank() && IsIdentity(permutation)) return x;
  return x.graph().AddNode(kTranspose, {x}, {{"permutation", permutation}}).output();
}

Value ExpandDims(Value x, int64_t axis) {
  Dims dims = x.dims();
  // One more place than x has dimensions.
  Shape grown = x.shape();
  grown.dims.push_back(1);
  axis = InOp(x.graph(), "expand_dims", [&] { return NormalizeAxis(grown, axis); });
  dims.insert(dims.begin() + axis, 1);
  return Reshape(x, dims);
}

Value Squeeze(Value x, int64_t axis) {
  Dims dims = x.dims();
  axis = InOp(x.graph(), "squeeze", [&] {
    const int64_t index = NormalizeAxis(x.shape(), axis);
    if (dims[index] != 1) {
      throw Invalid("dimension {} of {} is not 1", index, x.shape().ToString());
    }
    return index;
  });
  dims.erase(dims.begin() + axis);
  return Reshape(x, dims);
}

Value Slice(Value x, const Dims& start, const Dims& limit, const Dims& strides) {
  const bool whole = limit == x.dims() &&
                     std::all_of(start.begin(), start.end(), [](int64_t v) { return v == 0; }) &&
                     std::all_of(strides.begin(), strides.end(), [](int64_t v) { return v == 1; });
  if (whole && start.size() == limit.size() && strides.size() == limit.size()) return x;
  return x.graph()
      .AddNode(kSlice, {x}, {{"start", start}, {"limit", limit}, {"strides", strides}})
      .output();
}

Value SliceAxis(Value x, int64_t axis, int64_t start, int64_t limit, int64_t stride) {
  axis = InOp(x.graph(), kSlice.name, [&] { return NormalizeAxis(x.shape(), axis); });
  Dims starts(x.rank(), 0), limits = x.dims(), strides(x.rank(), 1);
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return Slice(x, starts, limits, strides);
}

Value Pad(Value x, double value, const Dims& low, const Dims& high, const Dims& interior) {
  const auto zero = [](const Dims& list) {
    return std::all_of(list.begin(), list.end(), [](int64_t v) { return v == 0; });
  };
  const auto size = static_cast<size_t>(x.rank());
  if (low.size() == size && high.size() == size && interior.size() == size && zero(low) &&
      zero(high) && zero(interior)) {
    return x;
  }
  return x.graph()
      .AddNode(kPad, {x, ScalarLike(x, value)},
               {{"low", low}, {"high", high}, {"interior", interior}})
      .output();
}

Value Concatenate(std::span<const Value> values, int64_t axis) {
  if (values.empty()) throw Invalid("concatenate: needs at least one operand");
  Graph& graph = values[0].graph();
  axis = InOp(graph, kConcatenate.name, [&] { return NormalizeAxis(values[0].shape(), axis); });
  if (values.size() == 1) return values[0];
  return graph.AddNode(kConcatenate, {values.begin(), values.end()}, {{"axis", axis}}).output();
}

Value Stack(std::span<const Value> values, int64_t axis) {
  if (values.empty()) throw Invalid("stack: needs at least one operand");
  if (axis < 0) axis += values[0].rank() + 1;
  std::vector<Value> rows;
  for (const Value& value : values) rows.push_back(ExpandDims(value, axis));
  return Concatenate(rows, axis);
}

std::vector<Value> Split(Value x, int64_t parts, int64_t axis) {
  axis = InOp(x.graph(), "split", [&] {
    const int64_t index = NormalizeAxis(x.shape(), axis);
    if (parts < 1 || x.dim(index) % parts != 0) {
      throw Invalid("dimension {} of {} does not split into {} equal parts", index,
                    x.shape().ToString(), parts);
    }
    return index;
  });
  const int64_t size = x.dim(axis) / parts;
  std::vector<Value> pieces;
  for (int64_t i = 0; i < parts; ++i) {
    pieces.push_back(SliceAxis(x, axis, i * size, (i + 1) * size));
  }
  return pieces;
}

Value Reverse(Value x, const Dims& axes) {
  if (axes.empty()) return x;
  const Dims sorted =
      InOp(x.graph(), kReverse.name, [&] { return NormalizeAxes(x.shape(), axes); });
  return x.graph().AddNode(kReverse, {x}, {{"axes", sorted}}).output();
}

}  // namespace flatout::ir
