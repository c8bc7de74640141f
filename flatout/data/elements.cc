#include "flatout/data/elements.h"

#include <fmt/format.h>

#include <utility>

namespace flatout::data {

Half::Half(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(word >> 16 & 0x8000);
  const uint32_t magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) {  // NaN: quiet, with what fits of its payload
    bits = static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  } else if (magnitude >= 0x477ff000) {  // 65520 and more round to infinity
    bits = static_cast<uint16_t>(sign | 0x7c00);
  } else if (magnitude < 0x38800000) {  // below 2^-14: subnormal or zero
    // Adding 0.5 puts the value's last 10 bits (units of 2^-24) at the end of the significand,
    // rounded as the sum is.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  } else {
    const uint32_t odd = magnitude >> 13 & 1;
    bits = static_cast<uint16_t>(sign | ((magnitude + 0xfff + odd - 0x38000000) >> 13));
  }
}

Half::operator float() const {
  const uint32_t sign = uint32_t{bits} >> 15 << 31;
  const uint32_t exponent = bits >> 10 & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

BFloat16::BFloat16(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  if ((word & 0x7fffffff) > 0x7f800000) {
    bits = static_cast<uint16_t>(word >> 16 | 0x40);
  } else {
    bits = static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
}

int64_t ConvertElements(ir::DType from_type, const std::byte* from, ir::DType to_type,
                        std::byte* to, int64_t count) {
  if (from_type == to_type) {
    if (count > 0) std::memcpy(to, from, static_cast<size_t>(count * ir::ByteSize(to_type)));
    return count;
  }
  return WithElementType(from_type, [&]<typename From>(From) {
    return WithElementType(to_type, [&]<typename To>(To) {
      for (int64_t i = 0; i < count; ++i) {
        const std::optional<To> value = Convert<To>(Load<From>(from, i));
        if (!value) return i;
        Store<To>(to, i, *value);
      }
      return count;
    });
  });
}

namespace {
template <typename Word>
void SwapWords(std::byte* data, int64_t count, Word (*swap)(Word)) {
  for (int64_t i = 0; i < count; ++i) Store<Word>(data, i, swap(Load<Word>(data, i)));
}
}  // namespace

void SwapBytes(ir::DType dtype, std::byte* data, int64_t count) {
  switch (ir::ByteSize(dtype)) {
    case 2:
      return SwapWords<uint16_t>(
          data, count, +[](uint16_t w) { return __builtin_bswap16(w); });
    case 4:
      return SwapWords<uint32_t>(
          data, count, +[](uint32_t w) { return __builtin_bswap32(w); });
    case 8:
      return SwapWords<uint64_t>(
          data, count, +[](uint64_t w) { return __builtin_bswap64(w); });
    default:
      return;
  }
}

std::string ElementToString(ir::DType dtype, const std::byte* data, int64_t i) {
  return WithElementType(
      dtype, [&]<typename T>(T) { return fmt::format("{}", Number(Load<T>(data, i))); });
}

int64_t FirstOutOfBound(ir::DType dtype, const std::byte* data, int64_t count, int64_t bound) {
  return WithElementType(dtype, [&]<typename T>(T) {
    for (int64_t i = 0; i < count; ++i) {
      const auto value = Number(Load<T>(data, i));
      if constexpr (std::is_floating_point_v<decltype(value)>) {
        if (!(value >= 0 && static_cast<double>(value) < static_cast<double>(bound) &&
              value == std::floor(value))) {
          return i;
        }
      } else if constexpr (std::is_same_v<T, bool>) {
        if (static_cast<int64_t>(value) >= bound) return i;
      } else {
        if (std::cmp_less(value, 0) || std::cmp_greater_equal(value, bound)) return i;
      }
    }
    return count;
  });
}

std::string RangeOf(ir::DType dtype) {
  return WithElementType(dtype, []<typename T>(T) -> std::string {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return fmt::format("{} to {}", std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    } else {
      return "any number";
    }
  });
}

}  // namespace flatout::data
