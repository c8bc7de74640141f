#include "flatout/checkpoint/safetensors.h"

#include <cstring>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/checkpoint/safetensors_header.h"

namespace flatout::checkpoint {

const HostTensor* TensorFile::Find(std::string_view name) const {
  for (const HostTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

void SaveSafetensors(const std::string& path, const TensorFile& file) {
  SafetensorsHeader header{.tensors = {}, .metadata = file.metadata};
  size_t bytes = 0;
  for (const HostTensor& tensor : file.tensors) {
    if (static_cast<int64_t>(tensor.bytes.size()) != tensor.shape.bytes()) {
      throw Internal("tensor {} of {} has {} bytes", tensor.name, tensor.shape.ToString(),
                     tensor.bytes.size());
    }
    header.tensors.push_back({.name = tensor.name, .shape = tensor.shape});
    bytes += tensor.bytes.size();
  }
  std::string content = WriteSafetensorsHeader(header);
  content.reserve(content.size() + bytes);
  for (const HostTensor& tensor : file.tensors) {
    content.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  AtomicWriteFile(path, content);
}

TensorFile LoadSafetensors(const std::string& path) {
  const std::string content = ReadFile(path);
  const std::string_view view = content;
  const uint64_t length = SafetensorsHeaderLength(path, view, view.size());
  const std::string_view data = view.substr(kSafetensorsLengthBytes + length);
  SafetensorsHeader header =
      ParseSafetensorsHeader(path, view.substr(kSafetensorsLengthBytes, length), data.size());
  TensorFile file;
  file.metadata = std::move(header.metadata);
  for (TensorPlace& place : header.tensors) {
    HostTensor& tensor = file.tensors.emplace_back();
    tensor.name = std::move(place.name);
    tensor.shape = std::move(place.shape);
    const auto* first = reinterpret_cast<const std::byte*>(data.data());
    tensor.bytes.assign(first + place.begin, first + place.end);
  }
  return file;
}

}  // namespace flatout::checkpoint
