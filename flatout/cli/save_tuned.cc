#include "flatout/cli/save_tuned.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <system_error>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"

namespace flatout::cli {
namespace {

// The byte at which a line begins, counted from 1.
size_t LineBegin(const std::string& text, int line) {
  size_t at = 0;
  for (int i = 1; i < line; ++i) {
    at = text.find('\n', at);
    if (at == std::string::npos) return text.size();
    ++at;
  }
  return at;
}

// The bytes of the value that begins there: a number, or a string in one line.
size_t ValueLength(const std::string& text, size_t begin) {
  const char quote = text[begin];
  if (quote == '"' || quote == '\'') {
    const size_t end = text.find(quote, begin + 1);
    return end == std::string::npos ? 0 : end + 1 - begin;
  }
  size_t end = begin;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                               text[end] == '_' || text[end] == '+' || text[end] == '-')) {
    ++end;
  }
  return end - begin;
}

// Puts the value in the place of the old one, whose place is that of its key; false where the text
// is not what it seems.
bool Replace(std::string& text, const Config& old, int64_t value) {
  const size_t key =
      LineBegin(text, old.place().line) + static_cast<size_t>(std::max(0, old.place().column - 1));
  size_t begin = std::min(text.find('=', key), text.find('\n', key));
  if (begin == std::string::npos || text[begin] != '=') return false;
  begin = text.find_first_not_of(" \t", begin + 1);
  if (begin == std::string::npos) return false;
  const size_t length = ValueLength(text, begin);
  if (length == 0) return false;
  text.replace(begin, length, std::to_string(value));
  return true;
}

// A line below "[data]".
bool Insert(std::string& text, const std::string& key, int64_t value) {
  static const std::regex kHeader(R"(\s*\[\s*data\s*\]\s*(#.*)?\r?)");
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (std::regex_match(text.begin() + static_cast<int64_t>(begin),
                         text.begin() + static_cast<int64_t>(end), kHeader)) {
      const bool returns = end > begin && text[end - 1] == '\r';
      std::string line = key + " = " + std::to_string(value) + (returns ? "\r\n" : "\n");
      if (end == text.size()) line = (returns ? "\r\n" : "\n") + line;
      text.insert(std::min(end + 1, text.size()), line);
      return true;
    }
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::string WithDataKeys(std::string text, const std::string& file,
                         const std::vector<std::pair<std::string, int64_t>>& keys) {
  const auto fail = [&] {
    std::string lines;
    for (const auto& [key, value] : keys) {
      lines += (lines.empty() ? "" : ", ") + fmt::format("{} = {}", key, value);
    }
    return Invalid(
        "{}: its table [data] is written in a way that cannot be changed here; write {} "
        "into it",
        file, lines);
  };
  Config wanted = Config::ParseToml(text, file);
  for (const auto& [key, value] : keys) {
    const Config tree = Config::ParseToml(text, file);
    const Config* old = tree.FindPath("data." + key);
    if (!(old != nullptr ? Replace(text, *old, value) : Insert(text, key, value))) throw fail();
    wanted.SetFromArgument(fmt::format("data.{}={}", key, value));
    // Text can hold what only looks like a table's head: the whole must read as it is meant.
    try {
      if (!(Config::ParseToml(text, file) == wanted)) throw fail();
    } catch (const UserError&) {
      throw fail();
    }
  }
  return text;
}

void SaveDataKeys(const std::string& path,
                  const std::vector<std::pair<std::string, int64_t>>& keys) {
  // Through links: the file itself is replaced, not the link to it.
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  const std::string real = error ? path : file.string();
  AtomicWriteFile(real, WithDataKeys(ReadFile(real), path, keys));
}

}  // namespace flatout::cli
