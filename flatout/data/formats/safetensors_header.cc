#include "flatout/data/formats/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "flatout/base/error.h"
#include "flatout/data/file_bytes.h"

namespace flatout::data {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLengthBytes = 8;

ir::DType ParseName(const std::string& name) {
  using ir::DType;
  static constexpr std::pair<std::string_view, DType> kNames[] = {
      {"BOOL", DType::kPred}, {"I8", DType::kI8},   {"I16", DType::kI16},   {"I32", DType::kI32},
      {"I64", DType::kI64},   {"U8", DType::kU8},   {"U16", DType::kU16},   {"U32", DType::kU32},
      {"U64", DType::kU64},   {"F16", DType::kF16}, {"BF16", DType::kBF16}, {"F32", DType::kF32},
      {"F64", DType::kF64}};
  for (const auto& [known, dtype] : kNames) {
    if (known == name) return dtype;
  }
  throw BadData(
      "its dtype is \"{}\": expected one of BOOL, I8 to I64, U8 to U64, F16, BF16, F32, "
      "F64",
      name);
}

std::vector<int64_t> Counts(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) throw BadData("expected an array \"{}\"", key);
  std::vector<int64_t> counts;
  for (const Json& value : *found) {
    // Not get<>: that would cut 2.5 to 2.
    if (!value.is_number_unsigned() || value.get<uint64_t>() > (uint64_t{1} << 62)) {
      throw BadData("\"{}\": expected integers from 0 on, found {}", key, value.dump());
    }
    counts.push_back(static_cast<int64_t>(value.get<uint64_t>()));
  }
  return counts;
}

SafetensorsEntry ParseEntry(const std::string& name, const Json& json, int64_t data_begin,
                            int64_t data_bytes, int64_t* end) {
  if (!json.is_object()) throw BadData("expected an object");
  const auto dtype = json.find("dtype");
  if (dtype == json.end() || !dtype->is_string()) throw BadData("expected a string \"dtype\"");
  SafetensorsEntry entry;
  entry.name = name;
  entry.shape = ir::Shape(ParseName(dtype->get<std::string>()), Counts(json, "shape"));
  const std::vector<int64_t> offsets = Counts(json, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw BadData("\"data_offsets\": expected a begin and an end");
  }
  if (offsets[1] > data_bytes) {
    throw BadData(
        "its data should end at byte {} of the file, which has {}: it is cut. Fetch it "
        "again",
        data_begin + offsets[1], data_begin + data_bytes);
  }
  int64_t bytes = ir::ByteSize(entry.shape.dtype);
  for (int64_t dim : entry.shape.dims) {
    if (__builtin_mul_overflow(bytes, dim, &bytes)) bytes = -1;
    if (bytes < 0) break;
  }
  if (bytes != offsets[1] - offsets[0]) {
    throw BadData("{}{} does not take the {} bytes from {} to {}", ir::Name(entry.shape.dtype),
                  ir::DimsToString(entry.shape.dims), offsets[1] - offsets[0], offsets[0],
                  offsets[1]);
  }
  entry.offset = data_begin + offsets[0];
  *end = data_begin + offsets[1];
  return entry;
}

}  // namespace

int64_t SafetensorsHeaderBytes(const std::string& path, int64_t size,
                               std::span<const std::byte> head) {
  if (head.size() < kLengthBytes || size < kLengthBytes + 2) {
    throw BadData("{}: the file is short: expected a safetensors header, found {} bytes", path,
                  size);
  }
  uint64_t length = 0;
  std::memcpy(&length, head.data(), kLengthBytes);
  if (length < 2 || length > static_cast<uint64_t>(kMostSafetensorsHeader)) {
    throw BadData(
        "{}: byte 0: a safetensors header of {} bytes: expected 2 to {}. The file is damaged or "
        "no safetensors file",
        path, length, kMostSafetensorsHeader);
  }
  if (static_cast<int64_t>(length) > size - kLengthBytes) {
    throw BadData(
        "{}: byte 0: a safetensors header of {} bytes, but the file has {}: it is cut or no "
        "safetensors file",
        path, length, size);
  }
  return kLengthBytes + static_cast<int64_t>(length);
}

std::vector<SafetensorsEntry> ParseSafetensorsHeader(const std::string& path, int64_t size,
                                                     std::span<const std::byte> head) {
  const int64_t begin = SafetensorsHeaderBytes(path, size, head);
  if (static_cast<int64_t>(head.size()) < begin) {
    throw BadData("{}: expected a safetensors header of {} bytes, found {}: the file is cut", path,
                  begin, head.size());
  }
  const std::string_view text(reinterpret_cast<const char*>(head.data()) + kLengthBytes,
                              static_cast<size_t>(begin - kLengthBytes));
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    // The library's message begins with its own number in brackets.
    std::string_view message = error.what();
    const size_t bracket = message.find("] ");
    if (bracket != std::string_view::npos) message.remove_prefix(bracket + 2);
    throw BadData(
        "{}: the safetensors header is no JSON: {}. The file is damaged or no "
        "safetensors file",
        path, message.substr(0, 200));
  }
  if (!json.is_object()) {
    throw BadData("{}: byte {}: expected a JSON object, the safetensors header", path,
                  kLengthBytes);
  }
  std::vector<SafetensorsEntry> entries;
  std::vector<int64_t> ends;
  for (const auto& [name, value] : json.items()) {
    if (name == "__metadata__") continue;
    try {
      int64_t end = 0;
      entries.push_back(ParseEntry(name, value, begin, size - begin, &end));
      ends.push_back(end);
    } catch (Error& error) {
      error.AddContext(fmt::format("{}: tensor \"{}\"", path, name));
      throw;
    }
  }
  std::vector<size_t> order(entries.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(entries[a].offset, ends[a]) < std::pair(entries[b].offset, ends[b]);
  });
  std::vector<SafetensorsEntry> sorted;
  int64_t at = begin;
  for (size_t i : order) {
    if (entries[i].offset != at) {
      throw BadData(
          "{}: tensor \"{}\" begins at byte {}, but the data before it ends at {}: the tensors "
          "must follow each other without gaps or overlap",
          path, entries[i].name, entries[i].offset, at);
    }
    at = ends[i];
    sorted.push_back(std::move(entries[i]));
  }
  if (at != size) {
    throw BadData("{}: the tensors end at byte {}, but the file at {}", path, at, size);
  }
  return sorted;
}

}  // namespace flatout::data
