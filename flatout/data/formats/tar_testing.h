// A writer of tar archives, for tests.
#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace flatout::data::testing {

inline void Sign(std::string& header) {
  std::memset(header.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (char c : header.substr(0, 512)) sum += static_cast<unsigned char>(c);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
}

// One header; `name` of at most 100 bytes.
inline std::string TarHeader(const std::string& name, size_t size, char type = '0',
                             const std::string& prefix = "") {
  std::string header(512, '\0');
  std::memcpy(header.data(), name.data(), name.size());
  std::snprintf(header.data() + 100, 8, "%07o", 0644u);
  std::snprintf(header.data() + 124, 12, "%011zo", size);
  header[156] = type;
  std::memcpy(header.data() + 257,
              "ustar\0"
              "00",
              8);
  std::memcpy(header.data() + 345, prefix.data(), prefix.size());
  Sign(header);
  return header;
}
// Header and content.
inline std::string TarEntry(const std::string& name, const std::string& content, char type = '0',
                            const std::string& prefix = "") {
  std::string entry = TarHeader(name, content.size(), type, prefix) + content;
  entry.resize((entry.size() + 511) / 512 * 512);
  return entry;
}
inline std::string TarEnd() { return std::string(1024, '\0'); }
inline std::string Tar(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string file;
  for (const auto& [name, content] : members) file += TarEntry(name, content);
  return file + TarEnd();
}
// One pax record.
inline std::string PaxRecord(const std::string& key, const std::string& value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) ++length;
  return std::to_string(length) + " " + key + "=" + value + "\n";
}

}  // namespace flatout::data::testing
