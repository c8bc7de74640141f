#include "flatout/base/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>
#include <variant>

#include "flatout/base/file.h"

// toml++ is a header; this is the one file that compiles it.
#include <toml++/toml.h>

namespace flatout {
namespace {

bool IsBareKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

// A TOML basic string. Bytes above 0x7f go through as they are: TOML is UTF-8.
std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

std::string QuoteKey(std::string_view key) {
  return IsBareKey(key) ? std::string(key) : Quote(key);
}

std::string Join(const std::string& path, std::string_view key) {
  return path.empty() ? QuoteKey(key) : path + "." + QuoteKey(key);
}

// Line number `line` of `text`, counted from 1, without its end.
std::string_view LineOf(std::string_view text, int line) {
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

// One step of a dotted path: a key, or an index into an array.
using Step = std::variant<std::string, size_t>;

// Splits "model.layers[2].units" or `data."odd key".path`. Nothing where it is malformed.
std::optional<std::vector<Step>> SplitPath(std::string_view text) {
  std::vector<Step> steps;
  size_t i = 0;
  bool want_key = true;
  while (i < text.size() || want_key) {
    if (want_key) {
      std::string key;
      if (i < text.size() && (text[i] == '"' || text[i] == '\'')) {
        const char quote = text[i++];
        while (i < text.size() && text[i] != quote) {
          if (quote == '"' && text[i] == '\\' && i + 1 < text.size()) ++i;
          key += text[i++];
        }
        if (i == text.size()) return std::nullopt;
        ++i;
      } else {
        while (i < text.size() && IsBareKey(text.substr(i, 1))) key += text[i++];
        if (key.empty()) return std::nullopt;
      }
      steps.emplace_back(std::move(key));
      want_key = false;
    } else if (text[i] == '.') {
      ++i;
      want_key = true;
    } else if (text[i] == '[') {
      size_t index = 0;
      size_t digits = 0;
      for (++i; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i) {
        index = index * 10 + static_cast<size_t>(text[i] - '0');
        if (++digits > 9) return std::nullopt;
      }
      if (digits == 0 || i == text.size() || text[i] != ']') return std::nullopt;
      ++i;
      steps.emplace_back(index);
    } else {
      return std::nullopt;
    }
  }
  return steps;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string FormatFloat(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);  // the shortest that reads back to the same number
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string WriteInline(const Config& value);

std::string WriteInlineTable(const Config& table) {
  std::string out;
  for (const auto& [key, entry] : table.entries()) {
    if (entry.is_none()) continue;
    out += (out.empty() ? "" : ", ") + QuoteKey(key) + " = " + WriteInline(entry);
  }
  return out.empty() ? "{}" : "{ " + out + " }";
}

std::string WriteInline(const Config& value) {
  switch (value.kind()) {
    case Config::Kind::kNone:
      throw Internal("{}: an empty value has no form in TOML", value.path());
    case Config::Kind::kBool:
      return value.AsBool() ? "true" : "false";
    case Config::Kind::kInt:
      return fmt::format("{}", value.AsInt());
    case Config::Kind::kFloat:
      return FormatFloat(value.AsDouble());
    case Config::Kind::kString:
      return Quote(value.AsString());
    case Config::Kind::kArray: {
      std::string out = "[";
      for (const Config& item : value.items()) {
        if (out.size() > 1) out += ", ";
        out += WriteInline(item);
      }
      return out + "]";
    }
    case Config::Kind::kTable:
      return WriteInlineTable(value);
  }
  return {};
}

// Arrays of nothing but tables are written as [[name]] sections.
bool IsTableArray(const Config& value) {
  if (!value.is_array() || value.items().empty()) return false;
  return std::all_of(value.items().begin(), value.items().end(),
                     [](const Config& item) { return item.is_table(); });
}

// Writes the entries of the table called `path`: plain ones first, since after the header of a
// subtable they would belong to it. In tables of tables ([data.columns]: the fields of a record)
// the order means something: there, what stands before a plain entry stays before it, in one line.
void WriteSections(const Config& table, const std::string& path, std::string& out) {
  const std::vector<Config::Entry>& entries = table.entries();
  size_t in_lines = 0;  // so many from the front on, if they are tables
  if (path.find('.') != std::string::npos) {
    for (size_t i = 0; i < entries.size(); ++i) {
      const Config& entry = entries[i].second;
      if (!entry.is_none() && !entry.is_table() && !IsTableArray(entry)) in_lines = i + 1;
    }
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto& [key, entry] = entries[i];
    if (entry.is_none() || ((entry.is_table() || IsTableArray(entry)) && i >= in_lines)) continue;
    out += QuoteKey(key) + " = " + WriteInline(entry) + "\n";
  }
  for (size_t i = in_lines; i < entries.size(); ++i) {
    const auto& [key, entry] = entries[i];
    const std::string name = Join(path, key);
    if (entry.is_table()) {
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", name);
      WriteSections(entry, name, out);
    } else if (IsTableArray(entry)) {
      for (const Config& item : entry.items()) {
        out += fmt::format("{}[[{}]]\n", out.empty() ? "" : "\n", name);
        WriteSections(item, name, out);
      }
    }
  }
}

}  // namespace

// Turns a toml++ tree into a Config.
class ConfigBuilder {
 public:
  explicit ConfigBuilder(const std::string& file) : file_(file) {}

  Config Parse(std::string_view text) const {
    try {
      const toml::table table = toml::parse(text, file_);
      Config root = Build(table);
      root.place_ = {.file = file_, .line = 1, .column = 1};
      root.Number("");
      return root;
    } catch (const toml::parse_error& error) {
      const Place place = At(error.source().begin);
      std::string what(error.description());
      if (!what.empty()) what[0] = static_cast<char>(std::tolower(what[0]));
      std::string message = fmt::format("{}: this is not valid TOML: {}", place.ToString(), what);
      const std::string_view line = LineOf(text, place.line);
      if (!line.empty() && line.size() <= 200) message += fmt::format("\n    {}", line);
      message += "\n(text needs quotes: key = \"text\"; true and false are written small)";
      throw UserError(Code::kInvalidArgument, std::move(message));
    }
  }

  // Gives `value` and all below it the place `place`.
  static void Move(Config& value, const Place& place) {
    value.place_ = place;
    for (Config& item : value.items_) Move(item, place);
    for (auto& [key, entry] : value.entries_) Move(entry, place);
  }

 private:
  Place At(const toml::source_position& position) const {
    return {.file = file_,
            .line = static_cast<int>(position.line),
            .column = static_cast<int>(position.column)};
  }

  Config Build(const toml::node& node) const {
    Config value = BuildValue(node);
    value.place_ = At(node.source().begin);
    return value;
  }

  Config BuildValue(const toml::node& node) const {
    switch (node.type()) {
      case toml::node_type::table: {
        std::vector<std::tuple<toml::source_position, std::string, Config>> found;
        for (const auto& [key, child] : *node.as_table()) {
          Config value = Build(child);
          // A complaint about an entry points to its key, where the reader looks first.
          const toml::source_position at = key.source().begin;
          if (at.line > 0) value.place_ = At(at);
          found.emplace_back(at, std::string(key.str()), std::move(value));
        }
        // toml++ sorts by name; file order is back by place.
        std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
          const auto& left = std::get<0>(a);
          const auto& right = std::get<0>(b);
          return std::tie(left.line, left.column) < std::tie(right.line, right.column);
        });
        Config table = Config::Table();
        for (auto& [at, key, value] : found) {
          table.entries_.emplace_back(std::move(key), std::move(value));
        }
        return table;
      }
      case toml::node_type::array: {
        Config array = Config::Array();
        for (const toml::node& child : *node.as_array()) array.items_.push_back(Build(child));
        return array;
      }
      case toml::node_type::string:
        return Config(node.as_string()->get());
      case toml::node_type::integer:
        return Config(node.as_integer()->get());
      case toml::node_type::floating_point:
        return Config(node.as_floating_point()->get());
      case toml::node_type::boolean:
        return Config(node.as_boolean()->get());
      default:
        throw Invalid("{}: dates and times are not used here; write it as text: \"...\"",
                      At(node.source().begin).ToString());
    }
  }

  const std::string& file_;
};

std::string Place::ToString() const {
  if (line <= 0) return file;
  if (column <= 0) return fmt::format("{}:{}", file, line);
  return fmt::format("{}:{}:{}", file, line, column);
}

Config::Config(bool value) : kind_(Kind::kBool), bool_(value) {}
Config::Config(int64_t value) : kind_(Kind::kInt), int_(value) {}
Config::Config(double value) : kind_(Kind::kFloat), float_(value) {}
Config::Config(std::string value) : kind_(Kind::kString), string_(std::move(value)) {}

Config Config::Array(std::vector<Config> items) {
  Config array;
  array.kind_ = Kind::kArray;
  array.items_ = std::move(items);
  array.Number("");
  return array;
}

Config Config::Table(std::vector<Entry> entries) {
  Config table;
  table.kind_ = Kind::kTable;
  for (Entry& entry : entries) table.Set(std::move(entry.first), std::move(entry.second));
  return table;
}

Config Config::ParseToml(std::string_view text, const std::string& file) {
  return ConfigBuilder(file).Parse(text);
}

Config Config::LoadToml(const std::string& path) { return ParseToml(ReadFile(path), path); }

std::string Config::ToToml() const {
  if (!is_table()) return WriteInline(*this);
  std::string out;
  WriteSections(*this, "", out);
  return out;
}

namespace {

// Digits, perhaps signed and with _ between them, that are more than 64 bits hold.
bool IsTooLarge(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits.push_back(c);
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc::result_out_of_range && end == digits.data() + digits.size();
}

}  // namespace

bool Config::AsBool() const {
  if (kind_ != Kind::kBool) {
    throw Complain(fmt::format("expected true or false, found {}", Describe()));
  }
  return bool_;
}

int64_t Config::AsInt() const {
  if (kind_ != Kind::kInt) {
    // What --set cannot read as a TOML integer it takes for text.
    const bool too_large = kind_ == Kind::kString && IsTooLarge(string_);
    throw Complain(fmt::format(
        "expected an integer, found {}{}", Describe(),
        too_large ? ", which does not fit 64 bits (at most 9223372036854775807 either side of 0)"
                  : ""));
  }
  return int_;
}

double Config::AsDouble() const {
  if (kind_ == Kind::kInt) return static_cast<double>(int_);
  if (kind_ != Kind::kFloat) {
    throw Complain(fmt::format("expected a number, found {}", Describe()));
  }
  return float_;
}

const std::string& Config::AsString() const {
  if (kind_ != Kind::kString) {
    throw Complain(fmt::format("expected a string in quotes, found {}", Describe()));
  }
  return string_;
}

const std::vector<Config>& Config::items() const {
  if (kind_ != Kind::kArray) {
    throw Complain(fmt::format("expected an array, found {}", Describe()));
  }
  return items_;
}

std::vector<Config>& Config::items() {
  std::ignore = static_cast<const Config*>(this)->items();
  return items_;
}

const std::vector<Config::Entry>& Config::entries() const {
  if (kind_ != Kind::kTable) {
    throw Complain(fmt::format("expected a table, found {}", Describe()));
  }
  return entries_;
}

std::vector<Config::Entry>& Config::entries() {
  std::ignore = static_cast<const Config*>(this)->entries();
  return entries_;
}

const Config* Config::Find(std::string_view key) const {
  for (const auto& [name, value] : entries()) {
    if (name == key) return &value;
  }
  return nullptr;
}

const Config* Config::FindPath(std::string_view path) const {
  const auto steps = SplitPath(path);
  if (!steps) throw Internal("\"{}\" is not a dotted path", path);
  const Config* at = this;
  for (const Step& step : *steps) {
    if (const auto* key = std::get_if<std::string>(&step)) {
      at = at->is_table() ? at->Find(*key) : nullptr;
    } else {
      const size_t index = std::get<size_t>(step);
      at = at->is_array() && index < at->items_.size() ? &at->items_[index] : nullptr;
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

void Config::Set(std::string key, Config value) {
  std::ignore = entries();  // refuses what is no table
  value.Number(Join(path_, key));
  for (auto& [name, entry] : entries_) {
    if (name != key) continue;
    entry = std::move(value);
    return;
  }
  entries_.emplace_back(std::move(key), std::move(value));
}

void Config::SetFromArgument(std::string_view assignment) {
  // The first "=" outside quotes ends the key.
  size_t equals = 0;
  char quote = 0;
  for (; equals < assignment.size(); ++equals) {
    const char c = assignment[equals];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '=') {
      break;
    }
  }
  const std::string file = "--set";
  if (equals >= assignment.size()) {
    throw Invalid("--set {}: expected key=value, as in train.epochs=3, found no \"=\"", assignment);
  }
  const std::string_view name = Trim(assignment.substr(0, equals));
  const std::string_view text = Trim(assignment.substr(equals + 1));
  const auto steps = SplitPath(name);
  if (!steps) {
    throw Invalid("--set {}: \"{}\" is not a key such as train.epochs or model.layers[0].units",
                  assignment, name);
  }

  Config value;
  try {
    Config parsed = ParseToml(fmt::format("v = {}", text), file);
    // Text with a line break could hold further keys; it is then no single value.
    if (parsed.entries_.size() == 1) value = std::move(parsed.entries_[0].second);
  } catch (const UserError&) {
    value = Config();
  }
  if (value.is_none()) {
    // Plain text. It is read once more in quotes, since that is how the run folder keeps it.
    try {
      value = *ParseToml("v = " + Quote(text), file).Find("v");
    } catch (const UserError&) {
      throw Invalid("--set {}: the value is not UTF-8 text", name);
    }
  }
  ConfigBuilder::Move(value, {.file = file});

  Config* at = this;
  for (size_t i = 0; i < steps->size(); ++i) {
    const bool last = i + 1 == steps->size();
    if (const auto* key = std::get_if<std::string>(&(*steps)[i])) {
      if (!at->is_table()) {
        throw Invalid("--set {}: {} is {} ({}), so it has no \"{}\"", assignment,
                      at->path_.empty() ? "the run file" : at->path_, at->Describe(),
                      at->place_.ToString(), *key);
      }
      if (last) {
        at->Set(*key, std::move(value));
        return;
      }
      if (at->Find(*key) == nullptr) {
        Config table = Table();
        table.place_.file = file;
        at->Set(*key, std::move(table));
      }
      at = const_cast<Config*>(at->Find(*key));
    } else {
      const size_t index = std::get<size_t>((*steps)[i]);
      if (!at->is_array()) {
        throw Invalid("--set {}: {} is {}, so it has no element [{}]", assignment, at->path_,
                      at->Describe(), index);
      }
      if (index >= at->items_.size()) {
        throw Invalid("--set {}: {} has {} elements, [0] is the first; [{}] does not exist",
                      assignment, at->path_, at->items_.size(), index);
      }
      if (last) {
        value.Number(at->items_[index].path_);
        at->items_[index] = std::move(value);
        return;
      }
      at = &at->items_[index];
    }
  }
}

UserError Config::Complain(std::string_view message) const {
  std::string text;
  for (const std::string& part : {place_.ToString(), path_}) {
    if (!part.empty()) text += part + ": ";
  }
  text += message;
  return UserError(Code::kInvalidArgument, std::move(text));
}

std::string Config::Describe() const {
  switch (kind_) {
    case Kind::kNone:
      return "nothing";
    case Kind::kBool:
      return bool_ ? "true" : "false";
    case Kind::kInt:
      return fmt::format("the integer {}", int_);
    case Kind::kFloat:
      return fmt::format("the number {}", FormatFloat(float_));
    case Kind::kString:
      if (string_.size() > 80) {
        // Cut between characters, not inside one.
        size_t end = 77;
        while (end > 0 && (static_cast<unsigned char>(string_[end]) & 0xc0) == 0x80) --end;
        return fmt::format("the string {}...", Quote(string_.substr(0, end)));
      }
      return fmt::format("the string {}", Quote(string_));
    case Kind::kArray:
      return "an array";
    case Kind::kTable:
      return "a table";
  }
  return {};
}

bool Config::operator==(const Config& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kNone:
      return true;
    case Kind::kBool:
      return bool_ == other.bool_;
    case Kind::kInt:
      return int_ == other.int_;
    case Kind::kFloat:
      return float_ == other.float_ || (std::isnan(float_) && std::isnan(other.float_));
    case Kind::kString:
      return string_ == other.string_;
    case Kind::kArray:
      return items_ == other.items_;
    case Kind::kTable:
      // The order of keys means nothing in TOML.
      return entries_.size() == other.entries_.size() &&
             std::all_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
               const Config* twin = other.Find(entry.first);
               return twin != nullptr && entry.second == *twin;
             });
  }
  return false;
}

void Config::Number(const std::string& path) {
  path_ = path;
  for (size_t i = 0; i < items_.size(); ++i) items_[i].Number(fmt::format("{}[{}]", path, i));
  for (auto& [key, value] : entries_) value.Number(Join(path, key));
}

void ReadConfig(const Config& value, bool& field) { field = value.AsBool(); }
void ReadConfig(const Config& value, int64_t& field) { field = value.AsInt(); }
void ReadConfig(const Config& value, double& field) { field = value.AsDouble(); }
void ReadConfig(const Config& value, std::string& field) { field = value.AsString(); }
void ReadConfig(const Config& value, Config& field) { field = value; }

void RequireSeconds(const Config& table, std::string_view key, double value, double least) {
  constexpr double kMost = 1e9;
  if (value >= least && value <= kMost) return;
  const std::string range = least > 0 && least < 1e-6
                                ? "above 0 and of at most 1,000,000,000"
                                : fmt::format("from {:g} to 1,000,000,000", least);
  const Config* entry = table.Find(key);
  throw entry != nullptr
      ? entry->Complain(fmt::format("must be a number of seconds {}, found {}", range, value))
      : table.Complain(
            fmt::format("{} must be a number of seconds {}, found {}", key, range, value));
}

FieldReader::FieldReader(const Config& table, std::string what)
    : table_(table), what_(std::move(what)) {
  if (!table.is_table()) {
    throw table.Complain(fmt::format("{}: expected a table, found {}", what_, table.Describe()));
  }
}

const Config* FieldReader::Take(std::string_view name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.emplace_back(name);
  return table_.Find(name);
}

void FieldReader::Finish() const {
  for (const auto& [key, value] : table_.entries()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    throw value.Complain(fmt::format(
        "unknown key \"{}\" in {}{}; known keys: {}", key, what_, DidYouMean(key, known_),
        known_.empty() ? "none" : fmt::format("{}", fmt::join(known_, ", "))));
  }
}

void FieldReader::MissingKey(std::string_view name) const {
  // A misspelt key is the likeliest reason.
  std::vector<std::string> keys;
  for (const auto& [key, value] : table_.entries()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) keys.push_back(key);
  }
  const std::string near = Nearest(name, keys);
  throw table_.Complain(
      fmt::format("{} needs the key \"{}\", which is missing{}", what_, name,
                  near.empty() ? "" : fmt::format(" (is \"{}\" a misspelling of it?)", near)));
}

std::string Nearest(std::string_view name, const std::vector<std::string>& candidates) {
  // Case and the choice of "_" or "-" count for nothing: conv2d is near Conv2D, batch-size near
  // batch_size.
  const auto fold = [](std::string_view text) {
    std::string folded;
    for (const char c : text) {
      if (c != '_' && c != '-') folded += static_cast<char>(std::tolower(c));
    }
    return folded;
  };
  // Edit distance with swaps of neighbours (optimal string alignment).
  const auto distance = [](const std::string& a, const std::string& b) {
    std::vector<size_t> before(b.size() + 1);
    std::vector<size_t> last(b.size() + 1);
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      row[0] = i;
      for (size_t j = 1; j <= b.size(); ++j) {
        const size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
        row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
          row[j] = std::min(row[j], before[j - 2] + 1);
        }
      }
      std::swap(before, last);
      std::swap(last, row);
    }
    return last[b.size()];
  };
  const std::string wanted = fold(name);
  std::string best;
  size_t best_distance = std::numeric_limits<size_t>::max();
  for (const std::string& candidate : candidates) {
    const std::string folded = fold(candidate);
    const size_t d = distance(wanted, folded);
    if (d <= std::max(wanted.size(), folded.size()) / 3 && d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string near = Nearest(name, candidates);
  return near.empty() ? "" : fmt::format(", did you mean \"{}\"?", near);
}

Config WithoutKey(const Config& table, std::string_view key) {
  Config copy = table;
  std::erase_if(copy.entries(), [&](const Config::Entry& entry) { return entry.first == key; });
  return copy;
}

}  // namespace flatout
