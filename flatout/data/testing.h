// What this folder's tests share: a scratch folder, and writers of idx and gzip files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/data/source.h"

namespace flatout::data::testing {

// A folder that goes away with the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "flatout-data-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Internal("mkdtemp failed");
    path_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(*this / name, std::ios::binary) << content;
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

// One gzip member.
inline std::string Gzip(const std::string& content) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Records of a source whose fields are all fixed, field f of them into out[f].
inline void ReadInto(const Source& source, std::span<const int64_t> records,
                     std::span<std::byte* const> out) {
  ReadContext context;
  Block block;
  block.Borrow(source.fields(), static_cast<int64_t>(records.size()), out);
  source.Read(context, /*epoch=*/0, records, block);
}

// An idx file's header.
inline std::string IdxHeader(int type, const std::vector<uint32_t>& dims) {
  std::string text = {0, 0, static_cast<char>(type), static_cast<char>(dims.size())};
  for (uint32_t dim : dims) {
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(dim >> shift & 0xff);
  }
  return text;
}

// Values as an idx file stores them.
template <typename T>
std::string BigEndian(const std::vector<T>& values) {
  std::string text;
  for (T value : values) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (size_t i = 0; i < sizeof(T); ++i) text += bytes[sizeof(T) - 1 - i];
  }
  return text;
}

// What the statement's error says; a failed test if it throws no Error of this type.
template <typename E, typename Body>
std::string MessageOf(Body body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace flatout::data::testing
