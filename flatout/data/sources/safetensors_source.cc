// The source "safetensors": arrays of safetensors files.
#include <algorithm>
#include <utility>

#include "flatout/data/formats/safetensors_header.h"
#include "flatout/data/formats/stored_array.h"
#include "flatout/data/register.h"

namespace flatout::data {
namespace {

struct Opened {
  std::shared_ptr<const ByteFile> file;
  std::vector<SafetensorsEntry> entries;
};

Opened OpenFile(const std::string& path) {
  Opened opened;
  // The first byte of the JSON tells it from a packed file whose magic the length looks like.
  opened.file = ByteFile::Open(path, [](std::span<const std::byte> head) {
    return head.size() > 8 && head[8] == std::byte{'{'} && head[7] == std::byte{0};
  });
  std::vector<std::byte> scratch;
  const int64_t size = opened.file->size();
  const int64_t header =
      SafetensorsHeaderBytes(path, size, opened.file->Read(0, std::min<int64_t>(8, size), scratch));
  opened.entries = ParseSafetensorsHeader(path, size, opened.file->Read(0, header, scratch));
  return opened;
}

StoredArray Open(const std::string& path, const std::string& name) {
  Opened opened = OpenFile(path);
  const SafetensorsEntry* found = nullptr;
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : opened.entries) {
    names.push_back(entry.name);
    if (entry.name == name || (name.empty() && opened.entries.size() == 1)) found = &entry;
  }
  if (found == nullptr && name.empty()) {
    throw BadData("{}: the file has {} tensors: name it in `file`, and its tensors in `fields`",
                  path, names.size());
  }
  if (found == nullptr) {
    std::string list;
    for (size_t i = 0; i < names.size() && i < 20; ++i) {
      list += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", names[i]);
    }
    throw BadData("{}: there is no tensor \"{}\" in the file{}. It has {}", path, name,
                  DidYouMean(name, names), list.empty() ? "none" : list);
  }
  StoredArray array;
  array.where = fmt::format("{}: {}", path, found->name);
  array.file = opened.file;
  array.offset = found->offset;
  array.shape = found->shape;
  if (array.shape.dims.empty()) {
    throw BadData(
        "{}: the tensor is a single number: expected at least one dimension, the first of which "
        "counts the records",
        array.where);
  }
  if (array.shape.size() == 0) {
    throw BadData("{}: the tensor {} holds no values", array.where, array.shape.ToString());
  }
  return array;
}

std::vector<std::string> List(const std::string& path) {
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : OpenFile(path).entries) names.push_back(entry.name);
  if (names.empty()) throw BadData("{}: the file holds no tensors", path);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

FLATOUT_REGISTER(safetensors_source) {
  RegisterSource("safetensors", [](FieldReader& reader) {
    return OpenStoredArrays(reader, StoredArrayFormat{"safetensors", Open, List});
  });
}

}  // namespace flatout::data
