// Elements of every dtype as C++ values, and conversion between them: what sources of numbers and
// the transforms of tables share.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "flatout/base/error.h"
#include "flatout/ir/shape.h"

namespace flatout::data {

// IEEE 754 binary16. Conversions as in the standard: to the nearest, ties to even.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
};
// The upper half of a float.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

// Calls visit(T{}) with the C++ type of the dtype's elements: bool for pred, int8_t, ..., Half,
// BFloat16, float, double.
template <typename Visit>
decltype(auto) WithElementType(ir::DType dtype, Visit visit) {
  switch (dtype) {
    case ir::DType::kPred:
      return visit(bool{});
    case ir::DType::kI8:
      return visit(int8_t{});
    case ir::DType::kI16:
      return visit(int16_t{});
    case ir::DType::kI32:
      return visit(int32_t{});
    case ir::DType::kI64:
      return visit(int64_t{});
    case ir::DType::kU8:
      return visit(uint8_t{});
    case ir::DType::kU16:
      return visit(uint16_t{});
    case ir::DType::kU32:
      return visit(uint32_t{});
    case ir::DType::kU64:
      return visit(uint64_t{});
    case ir::DType::kF16:
      return visit(Half{});
    case ir::DType::kBF16:
      return visit(BFloat16{});
    case ir::DType::kF32:
      return visit(float{});
    case ir::DType::kF64:
      break;
  }
  return visit(double{});
}

template <typename T>
inline constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The element as a number that arithmetic works with: small floats as float, others as they are.
template <typename T>
auto Number(T value) {
  if constexpr (kIsSmallFloat<T>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

// Element i of memory that need not be aligned.
template <typename T>
T Load(const std::byte* memory, int64_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return memory[i] != std::byte{0};
  } else {
    T value;
    std::memcpy(&value, memory + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
  }
}
template <typename T>
void Store(std::byte* memory, int64_t i, T value) {
  std::memcpy(memory + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

// Converts one element. Floats become integers by leaving out the fraction, as in NumPy and
// TensorFlow; what does not fit (NaN too) gives nothing. Anything but zero is true.
template <typename To, typename From>
std::optional<To> Convert(From from) {
  if constexpr (kIsSmallFloat<From>) {
    return Convert<To>(static_cast<float>(from));
  } else if constexpr (std::is_same_v<To, bool>) {
    return from != From{};
  } else if constexpr (kIsSmallFloat<To>) {
    return To(static_cast<float>(from));
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_floating_point_v<From>) {
    // Both limits as powers of two, which floats hold exactly.
    constexpr int kBits = std::numeric_limits<To>::digits;
    const auto wide = std::trunc(static_cast<double>(from));
    const double above = std::ldexp(1.0, kBits);
    const double least = std::is_signed_v<To> ? -above : 0.0;
    if (!(wide >= least && wide < above)) return std::nullopt;
    return static_cast<To>(wide);
  } else if constexpr (std::is_same_v<From, bool>) {
    return static_cast<To>(from);
  } else {
    if (!std::in_range<To>(from)) return std::nullopt;
    return static_cast<To>(from);
  }
}

// Converts count elements; returns the first that does not fit, or count. Elements after it are not
// written. Neither side need be aligned.
int64_t ConvertElements(ir::DType from_type, const std::byte* from, ir::DType to_type,
                        std::byte* to, int64_t count);
// Turns the bytes of each of count elements round.
void SwapBytes(ir::DType dtype, std::byte* data, int64_t count);
// Element i for messages: "300", "-0.5", "true".
std::string ElementToString(ir::DType dtype, const std::byte* data, int64_t i);
// The first of count integers that lies outside [0, bound), or count. Of floats: that is no whole
// number in there.
int64_t FirstOutOfBound(ir::DType dtype, const std::byte* data, int64_t count, int64_t bound);
// How a message says the limits of a dtype: "-128 to 127".
std::string RangeOf(ir::DType dtype);

}  // namespace flatout::data
