#include "flatout/checkpoint/manifest.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "flatout/base/file.h"

namespace flatout::checkpoint {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "flatout-checkpoint";

std::string Hex(uint32_t value) { return fmt::format("{:08x}", value); }

// The end of every manifest, of all versions: the checksum of what stands before it. Held against
// the bytes as they are, so that no byte can change without being noticed.
std::string Seal(std::string_view body) {
  return "  \"crc32c\": \"" + Hex(Crc32c(body)) + "\"\n}\n";
}

// Readers below throw what is wrong; ParseManifest adds the path.
const Json& Member(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) throw BadData("\"{}\" is missing", key);
  return *found;
}
int64_t Count(const Json& json, const char* key) {
  const Json& value = Member(json, key);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > INT64_MAX) {
    throw BadData("\"{}\" should be an integer from 0 on, found {}", key, value.dump());
  }
  return value.get<int64_t>();
}
std::string Text(const Json& json, const char* key) {
  const Json& value = Member(json, key);
  if (!value.is_string()) throw BadData("\"{}\" should be a string, found {}", key, value.dump());
  return value.get<std::string>();
}

SavedFile ReadFileEntry(const Json& json, int64_t piece_bytes) {
  SavedFile file;
  file.name = Text(json, "name");
  if (file.name.empty() || file.name.starts_with('.') || file.name.find('/') != file.name.npos) {
    throw BadData("\"{}\" is no name of a file in it", file.name);
  }
  file.bytes = Count(json, "bytes");
  const Json& sums = Member(json, "crc32c");
  const int64_t pieces = (file.bytes + piece_bytes - 1) / piece_bytes;
  if (!sums.is_array() || static_cast<int64_t>(sums.size()) != pieces) {
    throw BadData("{}: expected {} checksums of its {} bytes", file.name, pieces, file.bytes);
  }
  for (const Json& sum : sums) {
    const std::string* digits = sum.get_ptr<const std::string*>();
    if (digits == nullptr || digits->size() != 8 ||
        digits->find_first_not_of("0123456789abcdef") != std::string::npos) {
      throw BadData("{}: {} is no checksum", file.name, sum.dump());
    }
    file.crc32c.push_back(static_cast<uint32_t>(std::stoul(*digits, nullptr, 16)));
  }
  return file;
}

SnapshotInfo ReadInfo(const Json& json) {
  if (Text(json, "format") != kFormat) {
    throw BadData("\"format\" is {}, expected \"{}\"", Member(json, "format").dump(), kFormat);
  }
  SnapshotInfo info;
  const int64_t version = Count(json, "version");
  if (version > kFormatVersion) {
    throw NewerFormat(fmt::format(
        "format version {}, this Flatout reads up to {}; use the newer Flatout that wrote it",
        version, kFormatVersion));
  }
  if (version < 1) throw BadData("\"version\" should be from 1 on, found {}", version);
  info.version = static_cast<int>(version);
  info.step = Count(json, "step");
  info.epoch = Count(json, "epoch");
  info.time = Text(json, "time");
  if (const auto score = json.find("score"); score != json.end()) {
    Score& to = info.score.emplace();
    to.metric = Text(*score, "metric");
    const Json& value = Member(*score, "value");
    if (!value.is_number()) throw BadData("\"value\" should be a number, found {}", value.dump());
    to.value = value.get<double>();
    const Json& larger = Member(*score, "larger_is_better");
    if (!larger.is_boolean()) throw BadData("\"larger_is_better\" should be true or false");
    to.larger_is_better = larger.get<bool>();
  }
  info.piece_bytes = Count(json, "piece_bytes");
  if (info.piece_bytes == 0) throw BadData("\"piece_bytes\" is 0");
  const Json& files = Member(json, "files");
  if (!files.is_array()) throw BadData("\"files\" should be an array");
  for (const Json& file : files) info.files.push_back(ReadFileEntry(file, info.piece_bytes));
  return info;
}

}  // namespace

std::string WriteManifest(const SnapshotInfo& info) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kFormatVersion;
  json["step"] = info.step;
  json["epoch"] = info.epoch;
  json["time"] = info.time;
  // A score that is not finite is none: JSON has no such numbers, and nothing compares to them.
  if (info.score && std::isfinite(info.score->value)) {
    json["score"] = {{"metric", info.score->metric},
                     {"value", info.score->value},
                     {"larger_is_better", info.score->larger_is_better}};
  }
  json["piece_bytes"] = info.piece_bytes;
  json["files"] = Json::array();
  for (const SavedFile& file : info.files) {
    Json sums = Json::array();
    for (const uint32_t sum : file.crc32c) sums.push_back(Hex(sum));
    json["files"].push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"crc32c", std::move(sums)}});
  }
  std::string text = json.dump(2);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n";
  return text + Seal(text);
}

SnapshotInfo ParseManifest(const std::string& path, std::string_view text) {
  const size_t seal = Seal("").size();
  const std::string_view body = text.substr(0, text.size() - std::min(text.size(), seal));
  if (text.substr(body.size()) != Seal(body)) {
    throw BadData("{}: its checksum does not fit its content: it is cut or was changed", path);
  }
  return WithContext(path, [&] {
    const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
    if (!json.is_object()) throw BadData("not a JSON object");
    return ReadInfo(json);
  });
}

std::string ReadWhole(const std::string& path, FileSystem& files) {
  const std::unique_ptr<ReadableFile> file = files.Open(path);
  std::string content(static_cast<size_t>(file->size()), '\0');
  const int64_t got = file->Read(0, std::as_writable_bytes(std::span(content)));
  content.resize(static_cast<size_t>(got));
  return content;
}

}  // namespace flatout::checkpoint
