// Element types and shapes of tensors.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace flatout::ir {

// Element types, with the names StableHLO gives them.
enum class DType : uint8_t {
  kPred,  // bool, one byte per element in host buffers
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
};

// Bytes of one element in a host or device buffer.
int64_t ByteSize(DType dtype);
// "f32", "bf16", "i32", "u8", "pred": how people and our dumps write it.
std::string_view Name(DType dtype);
// "f32", "bf16", "i32", "ui8", "i1": how StableHLO writes it.
std::string_view MlirName(DType dtype);
// The DType called `name` in either spelling above or Keras's ("float32", "bool"); throws
// UserError.
DType ParseDType(std::string_view name);
bool IsFloat(DType dtype);
// A float of 16 bits: bf16 or f16.
bool IsLowPrecision(DType dtype);
bool IsInteger(DType dtype);   // signed or unsigned, not pred
bool IsUnsigned(DType dtype);  // kU8..kU64

// The type of a tensor: element type and dimensions, all static, row-major.
struct Shape {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;

  Shape() = default;
  Shape(DType dtype, std::vector<int64_t> dims) : dtype(dtype), dims(std::move(dims)) {}
  static Shape Scalar(DType dtype) { return Shape(dtype, {}); }

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  // Number of elements; 1 for a scalar.
  int64_t size() const;
  int64_t bytes() const { return size() * ByteSize(dtype); }
  // Dimension i; negative i counts from the end, as in NumPy. Throws when out of range.
  int64_t dim(int64_t i) const;
  // Same dimensions with another element type, and the other way round.
  Shape WithDType(DType other) const { return Shape(other, dims); }
  Shape WithDims(std::vector<int64_t> other) const { return Shape(dtype, std::move(other)); }

  bool operator==(const Shape&) const = default;
  // "f32[64,28,28,1]".
  std::string ToString() const;
  // "tensor<64x28x28x1xf32>".
  std::string ToMlir() const;
};

std::string DimsToString(const std::vector<int64_t>& dims);  // "[64,28,28,1]"

}  // namespace flatout::ir
