// Writers of .npy files and zip archives, for tests.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace flatout::data::testing {

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename Word>
std::string Little(Word word) {
  return BytesOf(std::vector<Word>{word});
}

// A file as numpy.save writes it.
inline std::string Npy(const std::string& literal, const std::string& data, int major = 1) {
  std::string header = literal;
  const size_t prefix = major == 1 ? 10 : 12;
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  file += major == 1 ? Little(static_cast<uint16_t>(header.size()))
                     : Little(static_cast<uint32_t>(header.size()));
  return file + header + data;
}
inline std::string Npy(const std::string& descr, const std::string& shape, const std::string& data,
                       bool fortran = false) {
  return Npy("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                 ", 'shape': " + shape + ", }",
             data);
}

struct ZipEntry {
  std::string name, content;
  bool deflated = false;
  bool zip64 = false;       // sizes and offset in extra fields
  bool descriptor = false;  // sizes after the content, as streams are written
};
inline std::string Deflate(const std::string& content) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
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
inline std::string Zip(const std::vector<ZipEntry>& entries, const std::string& comment = "") {
  std::string file, directory;
  for (const ZipEntry& entry : entries) {
    const std::string packed = entry.deflated ? Deflate(entry.content) : entry.content;
    const auto crc =
        static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
                                    static_cast<uInt>(entry.content.size())));
    const std::string common = Little(static_cast<uint16_t>(entry.descriptor ? 8 : 0)) +
                               Little(static_cast<uint16_t>(entry.deflated ? 8 : 0)) +
                               Little(uint32_t{0});
    auto sizes = [&](bool known) {
      if (!known) return Little(uint32_t{0}) + Little(uint32_t{0}) + Little(uint32_t{0});
      return Little(crc) + Little(entry.zip64 ? ~0u : static_cast<uint32_t>(packed.size())) +
             Little(entry.zip64 ? ~0u : static_cast<uint32_t>(entry.content.size()));
    };
    const size_t offset = file.size();
    std::string extra, local_extra;
    if (entry.zip64) {
      const std::string both = Little(static_cast<uint64_t>(entry.content.size())) +
                               Little(static_cast<uint64_t>(packed.size()));
      extra =
          Little(uint16_t{1}) + Little(uint16_t{24}) + both + Little(static_cast<uint64_t>(offset));
      local_extra = Little(uint16_t{1}) + Little(uint16_t{16}) + both;
    }
    const std::string name_bytes = Little(static_cast<uint16_t>(entry.name.size()));
    file += "PK\3\4" + Little(uint16_t{20}) + common + sizes(!entry.descriptor) + name_bytes +
            Little(static_cast<uint16_t>(local_extra.size())) + entry.name + local_extra + packed;
    if (entry.descriptor) {
      file += "PK\7\10" + Little(crc) + Little(static_cast<uint32_t>(packed.size())) +
              Little(static_cast<uint32_t>(entry.content.size()));
    }
    directory += "PK\1\2" + Little(uint16_t{20}) + Little(uint16_t{20}) + common + sizes(true) +
                 name_bytes + Little(static_cast<uint16_t>(extra.size())) + Little(uint16_t{0}) +
                 Little(uint16_t{0}) + Little(uint16_t{0}) + Little(uint32_t{0}) +
                 Little(entry.zip64 ? ~0u : static_cast<uint32_t>(offset)) + entry.name + extra;
  }
  const auto count = Little(static_cast<uint16_t>(entries.size()));
  return file + directory + "PK\5\6" + Little(uint32_t{0}) + count + count +
         Little(static_cast<uint32_t>(directory.size())) +
         Little(static_cast<uint32_t>(file.size())) +
         Little(static_cast<uint16_t>(comment.size())) + comment;
}

}  // namespace flatout::data::testing
