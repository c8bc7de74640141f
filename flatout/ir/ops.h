// Builders: one function per op, and the small compositions everybody needs.
//
// Names are XLA's. Every builder adds to the graph of its arguments and throws UserError when
// shapes or types do not fit. Element-wise binary builders broadcast as NumPy does (trailing
// dimensions aligned, 1 stretches) by inserting broadcast_in_dim nodes; dtypes must be equal.
// Negative axes count from the end.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flatout/ir/graph.h"

namespace flatout::ir {

using Dims = std::vector<int64_t>;

// --- constants (basic.cc) ---------------------------------------------------------------------
Value Constant(Graph& graph, Literal literal);
// Every element equal to `value`.
Value Full(Graph& graph, const Shape& shape, double value);
Value Scalar(Graph& graph, DType dtype, double value);
// Full / Scalar with the dtype (and graph) of `like`.
Value ScalarLike(Value like, double value);
Value ZerosLike(Value like);
Value ConstantI32(Graph& graph, const Dims& dims, std::span<const int32_t> values);
Value ConstantF32(Graph& graph, const Dims& dims, std::span<const float> values);
// 0, 1, 2... along `axis`.
Value Iota(Graph& graph, const Shape& shape, int64_t axis);
// The value itself, but no gradient flows through.
Value StopGradient(Value x);
// Results equal to the inputs; the compiler moves nothing across (recomputation relies on it).
std::vector<Value> OptimizationBarrier(std::span<const Value> values);

// --- element-wise (elementwise.cc) -------------------------------------------------------------
Value Abs(Value x);
Value Neg(Value x);
Value Sign(Value x);
Value Exp(Value x);
Value Expm1(Value x);
Value Log(Value x);
Value Log1p(Value x);
Value Sqrt(Value x);
Value Rsqrt(Value x);
Value Cbrt(Value x);
Value Sin(Value x);
Value Cos(Value x);
Value Tan(Value x);
Value Tanh(Value x);
Value Logistic(Value x);
Value Erf(Value x);
Value Relu(Value x);  // derivative 0 at 0, unlike Max(x, 0)
Value Floor(Value x);
Value Ceil(Value x);
Value RoundNearestEven(Value x);
Value IsFinite(Value x);  // -> pred
Value Not(Value x);       // logical for pred, bitwise for integers
Value Popcnt(Value x);

Value Add(Value a, Value b);
Value Sub(Value a, Value b);
Value Mul(Value a, Value b);
Value Div(Value a, Value b);
Value Max(Value a, Value b);
Value Min(Value a, Value b);
Value Pow(Value a, Value b);
Value Rem(Value a, Value b);  // sign of the dividend, as C's %
Value Atan2(Value a, Value b);
Value And(Value a, Value b);
Value Or(Value a, Value b);
Value Xor(Value a, Value b);
Value ShiftLeft(Value a, Value b);
Value ShiftRightLogical(Value a, Value b);
Value ShiftRightArithmetic(Value a, Value b);

enum class Comparison { kEq, kNe, kLt, kLe, kGt, kGe };
Value Compare(Value a, Value b, Comparison comparison);   // -> pred
Value Select(Value pred, Value on_true, Value on_false);  // pred broadcasts too
Value Clamp(Value low, Value x, Value high);
Value Convert(Value x, DType dtype);  // the value itself when the dtype is already right
// Integers of any type as i32, for use as indices and classes. What i32 cannot hold becomes its
// nearest end, which lies outside of any bound, not some other index as Convert would make of it.
Value ToIndex(Value x);
Value BitcastConvert(Value x, DType dtype);  // same width

Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator-(Value a);
Value operator+(Value a, double b);
Value operator-(Value a, double b);
Value operator*(Value a, double b);
Value operator/(Value a, double b);
Value operator+(double a, Value b);
Value operator-(double a, Value b);
Value operator*(double a, Value b);
Value operator/(double a, Value b);
Value Square(Value x);
Value Eq(Value a, double b);
Value Gt(Value a, double b);
Value Ge(Value a, double b);
Value Lt(Value a, double b);
Value Max(Value a, double b);
Value Min(Value a, double b);

// --- shape (shape_ops.cc) ----------------------------------------------------------------------
// dims[i] says which result dimension operand dimension i becomes (size 1 stretches).
Value BroadcastInDim(Value x, const Dims& result_dims, const Dims& dims);
// NumPy's broadcast_to.
Value BroadcastTo(Value x, const Dims& result_dims);
Value Reshape(Value x, const Dims& dims);  // one -1 is worked out
Value Transpose(Value x, const Dims& permutation);
Value ExpandDims(Value x, int64_t axis);
Value Squeeze(Value x, int64_t axis);
Value Slice(Value x, const Dims& start, const Dims& limit, const Dims& strides);
// Elements [start, limit) of one axis.
Value SliceAxis(Value x, int64_t axis, int64_t start, int64_t limit, int64_t stride = 1);
// low, high (may be negative: cuts) and interior padding per dimension.
Value Pad(Value x, double value, const Dims& low, const Dims& high, const Dims& interior);
Value Concatenate(std::span<const Value> values, int64_t axis);
Value Stack(std::span<const Value> values, int64_t axis);
std::vector<Value> Split(Value x, int64_t parts, int64_t axis);  // equal parts
Value Reverse(Value x, const Dims& axes);

// --- reductions (reduce.cc) --------------------------------------------------------------------
enum class Reduction { kSum, kProduct, kMax, kMin, kAnd, kOr };
// Axes empty: all of them. keepdims leaves size-1 dimensions, as in NumPy.
Value Reduce(Reduction reduction, Value x, const Dims& axes = {}, bool keepdims = false);
// Sums, means and cumulative sums of bf16 and f16 are added up in float32 and rounded once:
// gradients of biases, and of whatever else was broadcast, are such sums.
Value ReduceSum(Value x, const Dims& axes = {}, bool keepdims = false);
Value ReduceMax(Value x, const Dims& axes = {}, bool keepdims = false);
Value ReduceMin(Value x, const Dims& axes = {}, bool keepdims = false);
Value ReduceProduct(Value x, const Dims& axes = {}, bool keepdims = false);
Value ReduceMean(Value x, const Dims& axes = {}, bool keepdims = false);
// Index (i32) of the largest (smallest) element; the first of equals; NaN wins, as in NumPy.
Value ArgMax(Value x, int64_t axis);
Value ArgMin(Value x, int64_t axis);
Value CumulativeSum(Value x, int64_t axis, bool reverse = false);
Value LogSumExp(Value x, int64_t axis, bool keepdims = false);
// Softmax and log-softmax over `axis`, computed as max-shifted.
Value Softmax(Value x, int64_t axis);
Value LogSoftmax(Value x, int64_t axis);
// Softmax in float32 (or whatever x has), narrowed to `narrow` (bf16, f16). Its gradient is made
// from the narrowed values, as frameworks that compute softmax in 16 bits do it, so that x need not
// be kept for it.
Value Softmax(Value x, int64_t axis, DType narrow);

// --- products (dot.cc, convolution.cc) ----------------------------------------------------------
struct DotDims {
  Dims lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};
// Result: batch dimensions, then the free ones of lhs, then of rhs. `accumulate` is the result's
// dtype when it should be wider than the operands' (bf16 x bf16 -> f32).
Value DotGeneral(Value lhs, Value rhs, const DotDims& dims);
Value DotGeneral(Value lhs, Value rhs, const DotDims& dims, DType accumulate);
// NumPy's matmul for ranks >= 2: last two dimensions multiply, leading ones broadcast.
Value MatMul(Value lhs, Value rhs);

// Convolution over any number of spatial dimensions. Layout strings as in StableHLO's
// dimension_numbers: input and output letters b, f and 0,1,2..., kernel letters i, o and 0,1,2...:
// "b01f_01io->b01f" is channels-last 2-D with Keras kernels.
struct ConvolutionDims {
  std::string layout;
  Dims strides, lhs_dilation, rhs_dilation;
  Dims padding;  // low, high per spatial dimension: {lo0, hi0, lo1, hi1, ...}
  int64_t feature_group_count = 1;
  int64_t batch_group_count = 1;
};
Value Convolution(Value input, Value kernel, const ConvolutionDims& dims);

// --- windows (window.cc) -------------------------------------------------------------------------
struct Window {
  Dims size, strides, dilation;  // one entry per dimension of the operand
  Dims padding;                  // low, high per dimension
  Dims base_dilation;            // empty: all ones
};
Value ReduceWindow(Reduction reduction, Value x, const Window& window);  // sum, max, min
// Adds `source` elements to where in each window of `x` the maximum was: the gradient of max
// pooling.
Value SelectAndScatterAdd(Value x, Value source, const Window& window);

// --- indexing (index.cc) -------------------------------------------------------------------------
// StableHLO's gather and scatter, in the form that one indexed axis takes. Take: NumPy's
// take(x, indices, axis): result dims = x.dims[:axis] + indices.dims + x.dims[axis+1:]. Indices are
// i32 (or any integer) and are clamped into range by the compiler: validate on the host.
Value Take(Value x, Value indices, int64_t axis);
// x with updates added at x[..., indices[...], ...] along `axis`; updates dims are those of
// Take(x, indices, axis). Rows out of range are dropped. Duplicate indices add up.
Value ScatterAdd(Value x, Value indices, Value updates, int64_t axis = 0);
// Where `x` is ScatterAdd of rows (axis 0) into zeros, those rows: for users that can add them to
// their own array without making x.
struct ScatteredRows {
  Value indices, updates;
};
std::optional<ScatteredRows> MatchScatterAddIntoZeros(Value x);
// x times a scalar of its dtype. Of such rows only the rows are multiplied, so that the product is
// recognized, too.
Value ScaleScattered(Value x, Value factor);
// x[i, j, ..., ] picked along the last axis: result[...] = x[..., indices[...]]. indices dims =
// x.dims[:-1]. Built from a comparison with iota (no gather): differentiable, good for labels.
Value PickLast(Value x, Value indices);
// 1 where the class index equals, else 0; a new last dimension of size `depth`.
Value OneHot(Value indices, int64_t depth, DType dtype);
// Start indices are i32 scalars, one per dimension.
Value DynamicSlice(Value x, std::span<const Value> start, const Dims& sizes);
Value DynamicUpdateSlice(Value x, Value update, std::span<const Value> start);
// x[index] of the leading axis (dimension dropped), and x with x[index] = update.
Value DynamicIndex(Value x, Value index);
Value DynamicUpdateIndex(Value x, Value update, Value index);

// --- order (sort.cc) -----------------------------------------------------------------------------
// Sorts all operands along `axis` by the first one; stable. NaN counts as largest.
std::vector<Value> Sort(std::span<const Value> operands, int64_t axis, bool descending = false);
// The k largest of the last axis, in falling order, and their indices (i32).
std::pair<Value, Value> TopK(Value x, int64_t k);

// --- random (random.cc) --------------------------------------------------------------------------
// Compositions of integer ops, so every backend gives the same bits (JAX's, too, for equal keys).
// Threefry-2x32 (Salmon et al. 2011, 20 rounds); `key` is two u32 scalars.
using Key = std::array<Value, 2>;
// The block function itself: key of two scalars, counter of two u32 values of one shape.
Key Threefry2x32(const Key& key, const Key& counter);
Key MakeKey(Graph& graph, uint64_t seed);
// A key for stream `data` of `key`, for example the step or the layer's number.
Key FoldIn(const Key& key, Value data_u32);
Key FoldIn(const Key& key, uint32_t data);
Value RandomBits(const Key& key, const Dims& dims);  // u32
// The same for a part of a larger array of rows: counter word 0 is the row's number, first_row (u32
// scalar) + its index along dimension 0; word 1 counts within the row. So the bits of a row do not
// depend on how the rows are divided.
Value RandomBitsAt(const Key& key, const Dims& dims, Value first_row);
// Random bits (u32) turned into numbers: uniform in [low, high), f32; standard normal, f32 (|z| <
// 5.5); pred, true with probability p.
Value UniformFromBits(Value bits, double low = 0, double high = 1);
Value NormalFromBits(Value bits);
Value BernoulliFromBits(Value bits, double p);
// The same from RandomBits(key, dims).
Value RandomUniform(const Key& key, const Dims& dims, double low = 0, double high = 1);
Value RandomNormal(const Key& key, const Dims& dims);
Value RandomBernoulli(const Key& key, double p, const Dims& dims);
// The inverse of erf on (-1, 1), to single precision.
Value ErfInv(Value x);

// --- control flow (control.cc) -----------------------------------------------------------------
using Body = std::function<std::vector<Value>(Graph& body, std::span<const Value> arguments)>;
// While cond(state) do state = body(state). `cond` returns one pred scalar. Bodies see only their
// arguments: values of the outer graph must be passed in as state. No gradient (see Scan).
std::vector<Value> While(std::span<const Value> state, const Body& cond, const Body& body);
// for i in 0..length-1: (carry, y_i) = body(constants, carry, x_i); x_i is row i of each `xs`
// (leading axis = length), the y_i are stacked likewise. body's arguments come in that order, its
// results carry first. Returns final carry, then stacked ys. reverse runs i from the last to the
// first (ys stay at their own i). Differentiable: the backward pass is a scan too, which recomputes
// the body from the saved carries.
std::vector<Value> Scan(Graph& graph, int64_t length, std::span<const Value> constants,
                        std::span<const Value> carry, std::span<const Value> xs, const Body& body,
                        bool reverse = false);
// pred scalar. Both branches get `arguments` and return the same shapes. Differentiable.
std::vector<Value> Conditional(Value pred, std::span<const Value> arguments, const Body& on_true,
                               const Body& on_false);

// --- between replicas (collective.cc)
// -------------------------------------------------------------- Over all replicas of the launch.
// Several operands travel as one operation.
std::vector<Value> AllReduce(std::span<const Value> values, Reduction reduction, int64_t replicas);
Value AllGather(Value x, int64_t axis, int64_t replicas);
Value ReduceScatter(Value x, int64_t axis, int64_t replicas);  // sum
// source/target pairs {s0, t0, s1, t1, ...}; replicas that no pair names get zeros.
Value CollectivePermute(Value x, const Dims& pairs);
Value ReplicaId(Graph& graph);  // u32 scalar

// --- composites (composite.cc) ----------------------------------------------------------------
// Compositions that go by a name, which a library may compute in one pass (flatout/kernels), and
// whose gradients are written by hand. In float32 where arrays have 16 bits.
//
// -log softmax(logits[..., classes])[index[...]], in float32 or wider. An index out of range counts
// as a logit of 0.
Value SparseCrossEntropy(Value logits, Value index);
// (x - mean) / sqrt(variance + epsilon) gamma + beta over the last axis, of dtype `result`; gamma
// and beta [features] are float32 (or x's own, if that is wider).
Value LayerNormalization(Value x, Value gamma, Value beta, double epsilon, DType result);
// x F(x), F being the distribution function of the standard normal.
Value Gelu(Value x);
// The same over all axes but the last, where rows of the batch have weights: y, and mean and
// variance [features] of the batch. `weight` [batch] and `count`, by which sums over rows and cells
// are divided, carry no gradient.
std::vector<Value> BatchNormalization(Value x, Value gamma, Value beta, Value weight, Value count,
                                      double epsilon, DType result);

// --- library calls (custom.cc)
// ----------------------------------------------------------------------- An XLA FFI custom call
// (api_version 4). `config` holds numbers and strings for backend_config.
std::vector<Value> CustomCall(Graph& graph, std::string target, std::span<const Value> operands,
                              std::vector<Shape> results, Attributes config = {},
                              bool has_side_effect = false);

}  // namespace flatout::ir
