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

namespace {

// Of names, shapes and contents, in the file's order: nothing in the format guards them.
constexpr const char* kChecksum = "crc32c";

std::string Checksum(const TensorFile& file) {
  uint32_t sum = 0;
  for (const HostTensor& tensor : file.tensors) {
    sum = Crc32c(tensor.name + " " + tensor.shape.ToString() + "\n", sum);
    sum = Crc32c({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()}, sum);
  }
  return fmt::format("{:08x}", sum);
}

}  // namespace

void SaveSafetensors(const std::string& path, const TensorFile& file) {
  SafetensorsHeader header{.tensors = {}, .metadata = file.metadata};
  header.metadata[kChecksum] = Checksum(file);
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
  // Files of other programs have none.
  if (const auto expected = file.metadata.extract(kChecksum)) {
    if (const std::string found = Checksum(file); found != expected.mapped()) {
      throw BadData(
          "{}: it is damaged: the checksum of its tensors is {}, it was written with {}. Take "
          "another copy, or export the weights from a snapshot (flatout checkpoint export)",
          path, found, expected.mapped());
    }
  }
  return file;
}

}  // namespace flatout::checkpoint
