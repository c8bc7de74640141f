// Random numbers from counters: compositions of integer ops, so that the bits are a pure function
// of key and position and the same on every backend. Keys, folding and bits are laid out as JAX
// does (jax.random with threefry_partitionable): the same key gives the same bits there.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "flatout/base/error.h"
#include "flatout/ir/ops.h"

namespace flatout::ir {
namespace {

// Sum of coefficients[i] x^(n-1-i).
Value Polynomial(Value x, std::span<const double> coefficients) {
  Value sum = Full(x.graph(), x.shape(), coefficients[0]);
  for (const double coefficient : coefficients.subspan(1)) sum = sum * x + coefficient;
  return sum;
}

// erfinv(1 - p) for p in (0, 1], after M. Giles, Approximating the erfinv function (2010, single
// precision, relative error about 3e-7). The tail p instead of x = 1 - p keeps the digits of
// log(1 - x^2) = log(p (2 - p)).
Value ErfInvFromTail(Value p) {
  constexpr double kCentre[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                -0.00417768164,  0.246640727,    1.50140941};
  constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                              -0.00367342844,  0.00573950773,  -0.0076224613,
                              0.00943887047,   1.00167406,     2.83297682};
  const Value w = -Log(p * (2.0 - p));
  return Select(Lt(w, 5), Polynomial(w - 2.5, kCentre), Polynomial(Sqrt(w) - 3.0, kTail)) *
         (1.0 - p);
}

}  // namespace

// J. Salmon, M. Moraes, R. Dror, D. Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
Key Threefry2x32(const Key& key, const Key& counter) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Graph& graph = counter[0].graph();
  const Shape& shape = counter[0].shape();
  if (counter[1].shape() != shape || shape.dtype != DType::kU32) {
    throw Invalid("threefry: the counter's words must be u32 of one shape, found {} and {}",
                  shape.ToString(), counter[1].shape().ToString());
  }
  const auto constant = [&](double value) { return Full(graph, shape, value); };
  const auto words = [&](Value word) { return BroadcastTo(word, shape.dims); };
  const Value parity = Scalar(graph, DType::kU32, 0x1BD11BDA);
  const std::array<Value, 3> schedule = {words(key[0]), words(key[1]),
                                         words(Xor(Xor(key[0], key[1]), parity))};
  Value x0 = Add(counter[0], schedule[0]);
  Value x1 = Add(counter[1], schedule[1]);
  for (int group = 0; group < 5; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      x0 = Add(x0, x1);
      x1 = Or(ShiftLeft(x1, constant(rotation)), ShiftRightLogical(x1, constant(32 - rotation)));
      x1 = Xor(x1, x0);
    }
    x0 = Add(x0, schedule[(group + 1) % 3]);
    x1 = Add(x1, Add(schedule[(group + 2) % 3], constant(group + 1)));
  }
  return {x0, x1};
}

Key MakeKey(Graph& graph, uint64_t seed) {
  return {Scalar(graph, DType::kU32, static_cast<double>(seed >> 32)),
          Scalar(graph, DType::kU32, static_cast<double>(seed & 0xFFFFFFFFu))};
}

Key FoldIn(const Key& key, Value data_u32) {
  if (data_u32.shape() != Shape::Scalar(DType::kU32)) {
    throw Invalid("a key folds in a u32 scalar, found {}", data_u32.shape().ToString());
  }
  return Threefry2x32(key, {ScalarLike(data_u32, 0), data_u32});
}

Key FoldIn(const Key& key, uint32_t data) { return FoldIn(key, ScalarLike(key[0], data)); }

// One block per element, its two words joined by xor: twice the arithmetic of using both words for
// elements of their own, but wholly element-wise, so it fuses into whatever uses the bits. On
// XLA:CPU it is as fast (1.5 ms for a million) and compiles three times faster.
Value RandomBits(const Key& key, const Dims& dims) {
  Graph& graph = key[0].graph();
  const Shape flat(DType::kU32, {Shape(DType::kU32, dims).size()});
  if (flat.dims[0] > (int64_t{1} << 32)) {
    throw Invalid("random tensors hold at most 2^32 elements, found {}", DimsToString(dims));
  }
  const Key block = Threefry2x32(key, {Full(graph, flat, 0), Iota(graph, flat, 0)});
  return Reshape(Xor(block[0], block[1]), dims);
}

Value RandomBitsAt(const Key& key, const Dims& dims, Value first_row) {
  if (dims.empty()) throw Invalid("random rows need a dimension of rows, found a scalar");
  if (first_row.shape() != Shape::Scalar(DType::kU32)) {
    throw Invalid("the first row's number must be a u32 scalar, found {}",
                  first_row.shape().ToString());
  }
  Graph& graph = first_row.graph();
  const int64_t rows = dims[0];
  const int64_t columns = rows == 0 ? 0 : Shape(DType::kU32, dims).size() / rows;
  if (columns > (int64_t{1} << 32)) {
    throw Invalid("random rows hold at most 2^32 elements, found {}", DimsToString(dims));
  }
  const Shape matrix(DType::kU32, {rows, columns});
  const Key block = Threefry2x32(key, {Iota(graph, matrix, 0) + first_row, Iota(graph, matrix, 1)});
  return Reshape(Xor(block[0], block[1]), dims);
}

// The upper 24 bits are as many as f32 holds; values are multiples of 2^-24.
Value UniformFromBits(Value bits, double low, double high) {
  if (!(low < high)) throw Invalid("uniform: low must be below high, found {} and {}", low, high);
  const Value upper = ShiftRightLogical(bits, ScalarLike(bits, 8));
  const Value unit = Convert(BitcastConvert(upper, DType::kI32), DType::kF32) * 0x1p-24;
  if (low == 0) return high == 1 ? unit : unit * high;
  // Rounding the sum could reach `high`, which must stay out.
  const double below = std::nextafter(static_cast<float>(high), static_cast<float>(low));
  return Min(unit * (high - low) + low, below);
}

Value ErfInv(Value x) {
  const Value magnitude = ErfInvFromTail(1.0 - Abs(x));
  return Select(Lt(x, 0), -magnitude, magnitude);
}

// By inverting the distribution: z = sqrt(2) erfinv(x). XLA:CPU runs it 2.5 times faster than
// Box-Muller, whose sine and cosine are library calls. z rises with the bits: the uppermost is the
// sign, and x = +-(1 - p) with p an odd multiple of 2^-24 from the next 23 (turned over for the
// upper half), so the tails end at |z| = 5.42.
Value NormalFromBits(Value bits_u32) {
  const Value bits = BitcastConvert(bits_u32, DType::kI32);
  const Value upper_half = ShiftRightArithmetic(bits, ScalarLike(bits, 31));  // all ones or zeros
  const Value magnitude = ShiftRightArithmetic(Xor(bits, upper_half), ScalarLike(bits, 8));
  const Value p = Convert(magnitude, DType::kF32) * 0x1p-23 + 0x1p-24;
  const Value z = ErfInvFromTail(p) * std::sqrt(2.0);
  return Select(Lt(bits, 0), z, -z);
}

Value BernoulliFromBits(Value bits, double p) {
  if (!(p >= 0 && p <= 1)) throw Invalid("bernoulli: p must be between 0 and 1, found {}", p);
  const double threshold = std::round(p * 0x1p32);
  if (threshold >= 0x1p32) return Full(bits.graph(), bits.shape().WithDType(DType::kPred), 1);
  return Compare(bits, ScalarLike(bits, threshold), Comparison::kLt);
}

Value RandomUniform(const Key& key, const Dims& dims, double low, double high) {
  return UniformFromBits(RandomBits(key, dims), low, high);
}

Value RandomNormal(const Key& key, const Dims& dims) {
  return NormalFromBits(RandomBits(key, dims));
}

Value RandomBernoulli(const Key& key, double p, const Dims& dims) {
  return BernoulliFromBits(RandomBits(key, dims), p);
}

}  // namespace flatout::ir
