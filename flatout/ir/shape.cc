#include "flatout/ir/shape.h"

#include <array>

#include "flatout/base/error.h"

namespace flatout::ir {
namespace {

struct DTypeRow {
  DType dtype;
  int64_t bytes;
  std::string_view name, mlir, keras;
};

constexpr std::array<DTypeRow, 13> kDTypes = {{
    {DType::kPred, 1, "pred", "i1", "bool"},
    {DType::kI8, 1, "i8", "i8", "int8"},
    {DType::kI16, 2, "i16", "i16", "int16"},
    {DType::kI32, 4, "i32", "i32", "int32"},
    {DType::kI64, 8, "i64", "i64", "int64"},
    {DType::kU8, 1, "u8", "ui8", "uint8"},
    {DType::kU16, 2, "u16", "ui16", "uint16"},
    {DType::kU32, 4, "u32", "ui32", "uint32"},
    {DType::kU64, 8, "u64", "ui64", "uint64"},
    {DType::kF16, 2, "f16", "f16", "float16"},
    {DType::kBF16, 2, "bf16", "bf16", "bfloat16"},
    {DType::kF32, 4, "f32", "f32", "float32"},
    {DType::kF64, 8, "f64", "f64", "float64"},
}};

const DTypeRow& Row(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }

}  // namespace

int64_t ByteSize(DType dtype) { return Row(dtype).bytes; }
std::string_view Name(DType dtype) { return Row(dtype).name; }
std::string_view MlirName(DType dtype) { return Row(dtype).mlir; }

DType ParseDType(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (name == row.name || name == row.mlir || name == row.keras) return row.dtype;
  }
  throw Invalid(
      "unknown dtype \"{}\"; expected one of float32, float16, bfloat16, float64, int8 to "
      "int64, uint8 to uint64, bool",
      name);
}

bool IsFloat(DType dtype) { return dtype >= DType::kF16; }
bool IsLowPrecision(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }
bool IsInteger(DType dtype) { return dtype >= DType::kI8 && dtype <= DType::kU64; }
bool IsUnsigned(DType dtype) { return dtype >= DType::kU8 && dtype <= DType::kU64; }

int64_t Shape::size() const {
  int64_t size = 1;
  for (int64_t dim : dims) size *= dim;
  return size;
}

int64_t Shape::dim(int64_t i) const {
  const int64_t index = i < 0 ? i + rank() : i;
  if (index < 0 || index >= rank()) {
    throw Invalid("dimension {} is out of range for {}", i, ToString());
  }
  return dims[index];
}

std::string DimsToString(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

std::string Shape::ToString() const { return std::string(Name(dtype)) + DimsToString(dims); }

std::string Shape::ToMlir() const {
  std::string text = "tensor<";
  for (int64_t dim : dims) text += std::to_string(dim) + "x";
  text += MlirName(dtype);
  return text + ">";
}

}  // namespace flatout::ir
