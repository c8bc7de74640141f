// Which source reads a file: told by its first bytes.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/cli/data.h"
#include "flatout/data/files.h"
#include "flatout/data/formats/tfrecord.h"
#include "flatout/data/unpack.h"

namespace flatout::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHead = 1 << 16;  // bytes looked at, unpacked

struct Head {
  std::string bytes;  // unpacked
  data::Packing packing = data::Packing::kNone;
};

Head ReadHead(const std::string& path) {
  // Opening a pipe would wait for one who writes into it.
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    throw BadData(
        "{}: expected a file, found a pipe or device: write what it gives to a file first", path);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadData("{}: cannot be read", path);
  Head head;
  head.bytes.resize(kHead);
  file.read(head.bytes.data(), static_cast<std::streamsize>(kHead));
  head.bytes.resize(static_cast<size_t>(file.gcount()));
  const auto bytes = std::as_bytes(std::span(head.bytes.data(), head.bytes.size()));
  if (data::BeginsTfRecord(bytes)) return head;
  const bool whole = head.bytes.size() < kHead;
  head.packing = data::SniffPacking(bytes.first(std::min(bytes.size(), data::kSniffBytes)), whole);
  if (head.packing == data::Packing::kNone) return head;
  file.clear();
  file.seekg(0);
  std::string unpacked;
  data::Unpack(
      path, head.packing,
      [&](std::span<std::byte> out) {
        file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
        return static_cast<size_t>(file.gcount());
      },
      [&](std::span<const std::byte> piece) {
        unpacked.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        return unpacked.size() < kHead;
      });
  head.bytes = unpacked.substr(0, kHead);
  return head;
}

bool IsText(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t' && byte != '\f';
  });
}

// The size that a safetensors header says, if this may be one.
bool IsSafetensors(std::string_view head) {
  if (head.size() < 10 || head[8] != '{') return false;
  uint64_t size = 0;
  std::memcpy(&size, head.data(), sizeof(size));
  return size >= 2 && size < (uint64_t{1} << 32);
}

enum class Kind {
  kTfRecord,
  kIdx,
  kNpy,
  kNpz,
  kSafetensors,
  kTar,
  kImage,
  kParquet,
  kJsonLines,
  kCsv,
  kLines,
};

// The last line is left out where the head ends inside it.
std::vector<std::string_view> FirstLines(std::string_view text, size_t most) {
  std::vector<std::string_view> lines;
  while (lines.size() < most) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      if (lines.empty()) lines.push_back(text);
      break;
    }
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

bool LooksLikeTable(std::string_view text) {
  const std::vector<std::string_view> lines = FirstLines(text, 5);
  for (const char delimiter : {',', '\t', ';'}) {
    const auto count = [&](std::string_view line) {
      return std::count(line.begin(), line.end(), delimiter);
    };
    const auto first = count(lines.front());
    if (first > 0 && std::all_of(lines.begin(), lines.end(), [&](std::string_view line) {
          return line.empty() || line == "\r" || count(line) > 0;
        })) {
      return true;
    }
  }
  return false;
}

Kind KindOf(const std::string& path, std::string_view head) {
  const auto begins = [&](std::string_view magic) { return head.starts_with(magic); };
  if (head.empty()) throw BadData("{}: the file is empty", path);
  if (data::BeginsTfRecord(std::as_bytes(std::span(head.data(), head.size())))) {
    return Kind::kTfRecord;
  }
  if (begins("\x93NUMPY")) return Kind::kNpy;
  if (begins("PAR1")) return Kind::kParquet;
  if (begins("PK\x03\x04")) return Kind::kNpz;
  if (begins("\xff\xd8\xff") || begins("\x89PNG") || begins("GIF8") ||
      (begins("RIFF") && head.substr(8, 4) == "WEBP")) {
    return Kind::kImage;
  }
  if (head.size() > 262 && head.substr(257, 5) == "ustar") return Kind::kTar;
  if (IsSafetensors(head)) return Kind::kSafetensors;
  if (head.size() >= 8 && head[0] == 0 && head[1] == 0 && head[2] >= 8 && head[2] <= 14 &&
      head[3] >= 1 && head[3] <= 8) {
    return Kind::kIdx;
  }
  const std::pair<std::string_view, std::string_view> foreign[] = {
      {"\x89HDF", "an HDF5 file; save its arrays as .npy, .npz or safetensors"},
      {"ARROW1", "an Arrow file; export it as CSV or JSON lines"},
      {"\x28\xb5\x2f\xfd", "packed with zstd; unpack it first (zstd -d)"},
      {"BZh", "packed with bzip2; unpack it first (bunzip2)"},
      {"\xfd"
       "7zXZ",
       "packed with xz; unpack it first (unxz)"},
  };
  for (const auto& [magic, what] : foreign) {
    if (begins(magic)) throw BadData("{}: no source reads it: this is {}", path, what);
  }
  if (begins("\xef\xbb\xbf")) head.remove_prefix(3);
  if (!IsText(head)) {
    throw BadData(
        "{}: it begins like none of the known kinds of file. Name the source with --source; "
        "flatout data verify --source ... says what is wrong with it",
        path);
  }
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && head[first] == '{') return Kind::kJsonLines;
  return LooksLikeTable(head) ? Kind::kCsv : Kind::kLines;
}

std::string_view SourceOf(Kind kind) {
  switch (kind) {
    case Kind::kTfRecord:
      return "tfrecord";
    case Kind::kIdx:
      return "idx";
    case Kind::kNpy:
    case Kind::kNpz:
      return "numpy";
    case Kind::kSafetensors:
      return "safetensors";
    case Kind::kTar:
      return "webdataset";
    case Kind::kImage:
      return "image_folder";
    case Kind::kParquet:
      return "parquet";
    case Kind::kJsonLines:
      return "jsonl";
    case Kind::kCsv:
      return "csv";
    case Kind::kLines:
      return "lines";
  }
  throw Internal("a kind of file without a source");
}

// A folder of folders of files is one class per folder.
bool IsFolderOfFolders(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return false;
  bool folders = false;
  for (fs::directory_iterator it(path, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(".") || name.starts_with("_")) continue;
    if (!it->is_directory(error)) return false;
    folders = true;
  }
  return folders;
}

Config Strings(const std::vector<std::string>& values) {
  std::vector<Config> items;
  for (const std::string& value : values) items.emplace_back(value);
  return Config::Array(std::move(items));
}

}  // namespace

std::string PackingOf(const std::string& path) {
  switch (ReadHead(path).packing) {
    case data::Packing::kNone:
      return "";
    case data::Packing::kGzip:
      return "gzip";
    case data::Packing::kZlib:
      return "zlib";
  }
  return "";
}

Config GuessSource(const std::vector<std::string>& patterns) {
  const auto table = [](std::string_view source) {
    return Config::Table({{"source", Config(std::string(source))}});
  };
  if (patterns.size() == 1 && IsFolderOfFolders(patterns[0])) {
    Config result = table("image_folder");
    result.Set("path", Config(patterns[0]));
    return result;
  }
  const std::vector<std::string> files = data::ExpandFiles(patterns);
  std::optional<Kind> kind;
  std::exception_ptr unknown;
  for (const std::string& file : files) {
    Kind one;
    try {
      one = KindOf(file, ReadHead(file).bytes);
    } catch (const DataError&) {
      // One that is empty, cut or damaged takes its kind from the others; opening it tells.
      if (!unknown) unknown = std::current_exception();
      continue;
    }
    if (kind && SourceOf(*kind) != SourceOf(one)) {
      throw Invalid("{} and {} are of different kinds ({} and {}); name files of one kind",
                    files.front(), file, SourceOf(*kind), SourceOf(one));
    }
    kind = one;
  }
  if (!kind) std::rethrow_exception(unknown);
  Config result = table(SourceOf(*kind));
  switch (*kind) {
    case Kind::kIdx: {
      // Images have more than one dimension, labels one.
      for (const std::string& file : files) {
        const bool labels = ReadHead(file).bytes[3] == 1;
        const char* key = labels ? "train_labels" : "train_images";
        if (result.Find(key) != nullptr) {
          throw Invalid(
              "{}: idx files are read in pairs of images and labels; name one of each, or "
              "write a run file",
              file);
        }
        result.Set(key, Config(file));
      }
      break;
    }
    case Kind::kNpy: {
      Config fields = Config::Table();
      for (const std::string& file : files) {
        fields.Set(fs::path(file).stem().string(), Config(file));
      }
      result.Set("fields", std::move(fields));
      break;
    }
    case Kind::kNpz:
    case Kind::kSafetensors:
      if (files.size() > 1) {
        throw Invalid("{} and {}: one file of this kind at a time; others go into a run file",
                      files[0], files[1]);
      }
      result.Set("file", Config(files[0]));
      break;
    default:
      result.Set("files", Strings(patterns));
  }
  return result;
}

}  // namespace flatout::cli
