#include "flatout/checkpoint/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "flatout/ir/graph.h"

namespace flatout::checkpoint {
namespace {

using ir::DType;
using Kind = TensorDifference::Kind;

void CompareValues(const HostTensor& a, const HostTensor& b, TensorDifference* difference) {
  const DType first = a.shape.dtype, second = b.shape.dtype;
  const int64_t first_bytes = ir::ByteSize(first), second_bytes = ir::ByteSize(second);
  const int64_t count = a.shape.size();
  for (int64_t i = 0; i < count; ++i) {
    const std::byte* at = a.bytes.data() + i * first_bytes;
    const std::byte* other = b.bytes.data() + i * second_bytes;
    if (first == second && std::memcmp(at, other, static_cast<size_t>(first_bytes)) == 0) continue;
    const double left = ir::LoadElement(first, at), right = ir::LoadElement(second, other);
    if (first != second && left == right) continue;
    ++difference->values_different;
    // Not std::max, which would lose a NaN.
    const double apart = std::abs(left - right);
    if (std::isnan(apart) || apart > difference->max_difference) difference->max_difference = apart;
  }
}

}  // namespace

std::string_view Name(TensorDifference::Kind kind) {
  switch (kind) {
    case Kind::kSame:
      return "same";
    case Kind::kDiffers:
      return "differs";
    case Kind::kDType:
      return "dtype";
    case Kind::kShape:
      return "shape";
    case Kind::kMissing:
      return "missing";
    case Kind::kExtra:
      return "extra";
  }
  return "";
}

std::vector<TensorDifference> Compare(const TensorFile& first, const TensorFile& second) {
  std::unordered_map<std::string_view, const HostTensor*> others;
  for (const HostTensor& tensor : second.tensors) others.emplace(tensor.name, &tensor);
  std::vector<TensorDifference> differences;
  for (const HostTensor& tensor : first.tensors) {
    TensorDifference& difference = differences.emplace_back();
    difference.name = tensor.name;
    difference.first = tensor.shape;
    const auto found = others.find(tensor.name);
    if (found == others.end()) {
      difference.kind = Kind::kMissing;
      continue;
    }
    const HostTensor& other = *found->second;
    others.erase(found);
    difference.second = other.shape;
    if (tensor.shape.dims != other.shape.dims) {
      difference.kind = Kind::kShape;
    } else if (tensor.shape.dtype != other.shape.dtype) {
      difference.kind = Kind::kDType;
      CompareValues(tensor, other, &difference);
    } else if (tensor.bytes != other.bytes) {
      difference.kind = Kind::kDiffers;
      CompareValues(tensor, other, &difference);
    }
  }
  for (const HostTensor& tensor : second.tensors) {
    const auto found = others.find(tensor.name);
    if (found == others.end() || found->second != &tensor) continue;
    TensorDifference& difference = differences.emplace_back();
    difference.name = tensor.name;
    difference.kind = Kind::kExtra;
    difference.second = tensor.shape;
  }
  return differences;
}

std::vector<std::string> Misfits(const TensorFile& found, const std::vector<WantedTensor>& wanted) {
  std::unordered_map<std::string_view, const HostTensor*> rest;
  for (const HostTensor& tensor : found.tensors) rest.emplace(tensor.name, &tensor);
  std::vector<std::string> misfits;
  for (const WantedTensor& tensor : wanted) {
    const auto other = rest.find(tensor.name);
    if (other == rest.end()) {
      misfits.push_back(fmt::format("{} {} is missing", tensor.name, tensor.shape.ToString()));
      continue;
    }
    if (other->second->shape != tensor.shape) {
      misfits.push_back(fmt::format("{} is {}, expected {}", tensor.name,
                                    other->second->shape.ToString(), tensor.shape.ToString()));
    }
    rest.erase(other);
  }
  for (const HostTensor& tensor : found.tensors) {
    const auto other = rest.find(tensor.name);
    if (other == rest.end() || other->second != &tensor) continue;
    misfits.push_back(fmt::format("{} {} is not expected", tensor.name, tensor.shape.ToString()));
  }
  return misfits;
}

}  // namespace flatout::checkpoint
