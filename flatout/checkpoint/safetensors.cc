#include "flatout/checkpoint/safetensors.h"

#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "flatout/base/error.h"
#include "flatout/base/file.h"

namespace flatout::checkpoint {
namespace {

using ir::DType;
using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

struct Row {
  DType dtype;
  std::string_view name;
};
constexpr std::array<Row, 13> kDTypes = {{{DType::kPred, "BOOL"},
                                          {DType::kI8, "I8"},
                                          {DType::kI16, "I16"},
                                          {DType::kI32, "I32"},
                                          {DType::kI64, "I64"},
                                          {DType::kU8, "U8"},
                                          {DType::kU16, "U16"},
                                          {DType::kU32, "U32"},
                                          {DType::kU64, "U64"},
                                          {DType::kF16, "F16"},
                                          {DType::kBF16, "BF16"},
                                          {DType::kF32, "F32"},
                                          {DType::kF64, "F64"}}};
constexpr size_t kLengthBytes = 8;
constexpr size_t kAlignment = 8;

}  // namespace

const HostTensor* TensorFile::Find(std::string_view name) const {
  for (const HostTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

void SaveSafetensors(const std::string& path, const TensorFile& file) {
  Json header = Json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  size_t offset = 0;
  for (const HostTensor& tensor : file.tensors) {
    if (static_cast<int64_t>(tensor.bytes.size()) != tensor.shape.bytes()) {
      throw Internal("tensor {} of {} has {} bytes", tensor.name, tensor.shape.ToString(),
                     tensor.bytes.size());
    }
    header[tensor.name] = {{"dtype", kDTypes[static_cast<size_t>(tensor.shape.dtype)].name},
                           {"shape", tensor.shape.dims},
                           {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  std::string content(kLengthBytes, '\0');
  const uint64_t length = text.size();
  std::memcpy(content.data(), &length, kLengthBytes);
  content.reserve(kLengthBytes + text.size() + offset);
  content += text;
  for (const HostTensor& tensor : file.tensors) {
    content.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  AtomicWriteFile(path, content);
}

TensorFile LoadSafetensors(const std::string& path) {
  const std::string content = ReadFile(path);
  if (content.size() < kLengthBytes) {
    throw BadData("{}: not a safetensors file: {} bytes long, expected at least 8", path,
                  content.size());
  }
  uint64_t length;
  std::memcpy(&length, content.data(), kLengthBytes);
  if (length > content.size() - kLengthBytes) {
    throw BadData("{}: byte 0: the header should be {} bytes long, but only {} follow: the file is "
                  "cut or no safetensors file",
                  path, length, content.size() - kLengthBytes);
  }
  const Json header =
      Json::parse(content.begin() + kLengthBytes,
                  content.begin() + kLengthBytes + static_cast<int64_t>(length), nullptr, false);
  if (!header.is_object()) throw BadData("{}: byte 8: the header is not a JSON object", path);
  const std::string_view data = std::string_view(content).substr(kLengthBytes + length);
  TensorFile file;
  for (const auto& [name, entry] : header.items()) {
    try {
      if (name == "__metadata__") {
        file.metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      HostTensor tensor;
      tensor.name = name;
      tensor.shape.dims = entry.at("shape").get<std::vector<int64_t>>();
      const std::string dtype = entry.at("dtype").get<std::string>();
      bool known = false;
      for (const Row& row : kDTypes) {
        if (row.name == dtype) {
          tensor.shape.dtype = row.dtype;
          known = true;
        }
      }
      if (!known) throw BadData("{}: tensor {}: unknown dtype {}", path, name, dtype);
      const auto offsets = entry.at("data_offsets").get<std::array<uint64_t, 2>>();
      if (offsets[0] > offsets[1] || offsets[1] > data.size()) {
        throw BadData("{}: tensor {} should end at byte {} of the data, but there are only {}: the "
                      "file is cut",
                      path, name, offsets[1], data.size());
      }
      if (static_cast<int64_t>(offsets[1] - offsets[0]) != tensor.shape.bytes()) {
        throw BadData("{}: tensor {} of {} takes {} bytes, found {}", path, name,
                      tensor.shape.ToString(), tensor.shape.bytes(), offsets[1] - offsets[0]);
      }
      const auto* bytes = reinterpret_cast<const std::byte*>(data.data());
      tensor.bytes.assign(bytes + offsets[0], bytes + offsets[1]);
      file.tensors.push_back(std::move(tensor));
    } catch (const nlohmann::json::exception& error) {
      throw BadData("{}: header entry \"{}\" is malformed: {}", path, name, error.what());
    }
  }
  return file;
}

}  // namespace flatout::checkpoint
