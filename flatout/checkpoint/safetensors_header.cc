#include "flatout/checkpoint/safetensors_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "flatout/base/error.h"

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
static_assert(
    [] {
      for (size_t i = 0; i < kDTypes.size(); ++i) {
        if (static_cast<size_t>(kDTypes[i].dtype) != i) return false;
      }
      return true;
    }(),
    "the table is indexed by dtype");
constexpr size_t kAlignment = 8;

// A size or offset of the header: an integer from 0 on.
uint64_t Count(const Json& value) {
  // Not get<>: that would cut 2.5 to 2.
  if (!value.is_number_unsigned()) {
    throw BadData("expected an integer from 0 on, found {}", value.dump());
  }
  return value.get<uint64_t>();
}

// Of an entry's array, checked.
std::vector<uint64_t> Counts(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) throw BadData("expected an array \"{}\"", key);
  std::vector<uint64_t> counts;
  for (const Json& value : *found) counts.push_back(Count(value));
  return counts;
}

// Bytes of a tensor; more than `most` where that does not fit 64 bits.
uint64_t TensorBytes(const std::vector<uint64_t>& dims, DType dtype, uint64_t most) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  uint64_t bytes = static_cast<uint64_t>(ir::ByteSize(dtype));
  for (uint64_t dim : dims) {
    if (dim > most / bytes) return most + 1;
    bytes *= dim;
  }
  return bytes;
}

// One entry of the header; messages get file and tensor from the caller.
TensorPlace ReadPlace(const std::string& name, const Json& entry, uint64_t data_bytes) {
  if (!entry.is_object()) throw BadData("expected an object, found {}", entry.dump());
  TensorPlace place;
  place.name = name;
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) throw BadData("expected a string \"dtype\"");
  const auto row = std::find_if(kDTypes.begin(), kDTypes.end(), [&](const Row& candidate) {
    return candidate.name == dtype->get_ref<const std::string&>();
  });
  if (row == kDTypes.end()) throw BadData("unknown dtype {}", dtype->dump());
  const std::vector<uint64_t> dims = Counts(entry, "shape");
  const std::vector<uint64_t> offsets = Counts(entry, "data_offsets");
  if (offsets.size() != 2) {
    throw BadData("expected two data_offsets, found {}", offsets.size());
  }
  if (offsets[0] > offsets[1]) {
    throw BadData("its data should begin at byte {} and end at byte {}", offsets[0], offsets[1]);
  }
  if (offsets[1] > data_bytes) {
    throw BadData("its data should end at byte {}, but there are only {}: the file is cut",
                  offsets[1], data_bytes);
  }
  place.shape = ir::Shape(row->dtype, {dims.begin(), dims.end()});
  const uint64_t bytes = TensorBytes(dims, row->dtype, data_bytes);
  if (bytes != offsets[1] - offsets[0]) {
    throw BadData("{} does not take the {} bytes from {} to {}", place.shape.ToString(),
                  offsets[1] - offsets[0], offsets[0], offsets[1]);
  }
  place.begin = offsets[0];
  place.end = offsets[1];
  return place;
}

}  // namespace

std::string WriteSafetensorsHeader(SafetensorsHeader& header) {
  Json json = Json::object();
  if (!header.metadata.empty()) json["__metadata__"] = header.metadata;
  uint64_t offset = 0;
  // Not json.contains: an ordered object is searched from end to end.
  std::set<std::string_view> names = {"__metadata__"};
  for (TensorPlace& place : header.tensors) {
    if (!names.insert(place.name).second) throw Internal("two tensors are called {}", place.name);
    place.begin = offset;
    place.end = offset += static_cast<uint64_t>(place.shape.bytes());
    Json entry = {{"dtype", kDTypes[static_cast<size_t>(place.shape.dtype)].name},
                  {"shape", place.shape.dims},
                  {"data_offsets", {place.begin, place.end}}};
    json.get_ref<Json::object_t&>().emplace_back(place.name, std::move(entry));
  }
  std::string text = json.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  std::string content(kSafetensorsLengthBytes, '\0');
  const uint64_t length = text.size();
  std::memcpy(content.data(), &length, kSafetensorsLengthBytes);
  return content + text;
}

uint64_t SafetensorsHeaderLength(const std::string& path, std::string_view first, uint64_t size) {
  if (first.size() < kSafetensorsLengthBytes) {
    throw BadData("{}: not a safetensors file: {} bytes long, expected at least 8", path, size);
  }
  uint64_t length;
  std::memcpy(&length, first.data(), kSafetensorsLengthBytes);
  if (length > size - kSafetensorsLengthBytes) {
    throw BadData(
        "{}: byte 0: the header should be {} bytes long, but only {} follow: the file is "
        "cut or no safetensors file",
        path, length, size - kSafetensorsLengthBytes);
  }
  return length;
}

SafetensorsHeader ParseSafetensorsHeader(const std::string& path, std::string_view text,
                                         uint64_t data_bytes) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) throw BadData("{}: byte 8: the header is not a JSON object", path);
  SafetensorsHeader header;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& item : json.items()) {
    const std::string& name = item.key();
    const Json& entry = item.value();
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) {
          throw BadData("{}: the header's \"__metadata__\" should hold strings only, found {}",
                        path, value.dump());
        }
        header.metadata[key] = value.get<std::string>();
      }
      continue;
    }
    WithContext(fmt::format("{}: tensor {}", path, name), [&] {
      header.tensors.push_back(ReadPlace(name, entry, data_bytes));
      ranges.emplace_back(header.tensors.back().begin, header.tensors.back().end);
    });
  }
  // As the format asks: the tensors fill the data without holes, overlap or a rest.
  std::sort(ranges.begin(), ranges.end());
  uint64_t end = 0;
  for (const auto& [begin, next] : ranges) {
    if (begin != end) {
      throw BadData("{}: header: tensors {} at byte {} of the data", path,
                    begin < end ? "overlap" : "leave a hole", std::min(begin, end));
    }
    end = next;
  }
  if (end != data_bytes) {
    throw BadData("{}: {} bytes follow the last tensor, expected none", path, data_bytes - end);
  }
  return header;
}

}  // namespace flatout::checkpoint
