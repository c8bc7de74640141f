// Config: a tree of values read from a run file (TOML), which remembers where each value stands, so
// that every complaint can name file, line, column and key. FieldReader fills a struct from a table
// and refuses unknown keys, naming the nearest known one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/base/error.h"

namespace flatout {

// Where a value was written. `file` is "--set" or "<text>" for values that no file holds.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  std::string ToString() const;  // "cnn.toml:12:3"
};

class Config {
 public:
  enum class Kind { kNone, kBool, kInt, kFloat, kString, kArray, kTable };
  using Entry = std::pair<std::string, Config>;

  Config() = default;  // kNone
  explicit Config(bool value);
  explicit Config(int64_t value);
  explicit Config(double value);
  explicit Config(std::string value);
  static Config Array(std::vector<Config> items = {});
  static Config Table(std::vector<Entry> entries = {});

  // Parses TOML. `file` is only for messages. Throws UserError with file:line:column.
  static Config ParseToml(std::string_view text, const std::string& file);
  // Reads and parses a TOML file. A missing or unreadable file is a UserError naming it.
  static Config LoadToml(const std::string& path);
  // The tree as TOML text that ParseToml reads back to an equal tree.
  std::string ToToml() const;

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_table() const { return kind_ == Kind::kTable; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_string() const { return kind_ == Kind::kString; }
  // Integers count as numbers; bools do not.
  bool is_number() const { return kind_ == Kind::kInt || kind_ == Kind::kFloat; }
  const Place& place() const { return place_; }
  const std::string& path() const { return path_; }  // "model.layers[2].units"

  // Typed access; each throws UserError "cnn.toml:12:3: model.layers[2].units: expected an integer,
  // found the string \"abc\"".
  bool AsBool() const;
  int64_t AsInt() const;    // a float with an integral value is refused
  double AsDouble() const;  // integers are accepted
  const std::string& AsString() const;
  const std::vector<Config>& items() const;  // array
  std::vector<Config>& items();
  const std::vector<Entry>& entries() const;  // table, in file order
  std::vector<Entry>& entries();

  // The entry called `key`, or nullptr. Only for tables.
  const Config* Find(std::string_view key) const;
  // The value at a dotted path ("train.epochs"), or nullptr.
  const Config* FindPath(std::string_view path) const;
  // Adds or replaces an entry of a table.
  void Set(std::string key, Config value);
  // `--set train.epochs=3`: the right side is TOML, or a plain string where it is not valid TOML.
  // Makes missing tables on the way. Throws UserError for a malformed assignment.
  void SetFromArgument(std::string_view assignment);
  // An error at this value's place: Invalid("{place}: {path}: {message}").
  UserError Complain(std::string_view message) const;
  // "the string \"abc\"", "the integer 3", "an array": for messages.
  std::string Describe() const;

  // Equal kinds and values; places do not count.
  bool operator==(const Config& other) const;

 private:
  friend class ConfigBuilder;            // config.cc
  void Number(const std::string& path);  // sets path_ here and below

  Kind kind_ = Kind::kNone;
  bool bool_ = false;
  int64_t int_ = 0;
  double float_ = 0;
  std::string string_;
  std::vector<Config> items_;
  std::vector<Entry> entries_;
  Place place_;
  std::string path_;
};

// A copy of `table` without the entry `key`.
Config WithoutKey(const Config& table, std::string_view key);

// Reading one value into a field; overload for further types in the type's own namespace (found by
// argument-dependent lookup).
void ReadConfig(const Config& value, bool& field);
void ReadConfig(const Config& value, int64_t& field);
void ReadConfig(const Config& value, double& field);
void ReadConfig(const Config& value, std::string& field);
void ReadConfig(const Config& value, Config& field);  // keeps the tree as it is
template <typename T>
void ReadConfig(const Config& value, std::vector<T>& field) {
  // A single value stands for a list of one, as Keras allows for kernel_size and the like.
  field.clear();
  if (!value.is_array()) {
    ReadConfig(value, field.emplace_back());
    return;
  }
  for (const Config& item : value.items()) ReadConfig(item, field.emplace_back());
}
template <typename T>
void ReadConfig(const Config& value, std::optional<T>& field) {
  ReadConfig(value, field.emplace());
}

// Fills a struct from a table:
//   FieldReader reader(table, "layer Dense");
//   reader.Required("units", options.units);
//   reader("activation", options.activation);   // stays at its default where absent
//   reader.Finish();                            // unknown keys are errors
// Option structs give one template method, so that reading, listing and printing share it:
//   template <class V> void Visit(V& v) { v.Required("units", units); v("use_bias", use_bias); }
class FieldReader {
 public:
  FieldReader(const Config& table, std::string what);

  template <typename T>
  void operator()(std::string_view name, T& field) {
    if (const Config* value = Take(name)) ReadConfig(*value, field);
  }
  template <typename T>
  void Required(std::string_view name, T& field) {
    const Config* value = Take(name);
    if (value == nullptr) MissingKey(name);
    ReadConfig(*value, field);
  }
  // Marks a key as known that the caller reads itself; returns it or nullptr.
  const Config* Take(std::string_view name);
  // Throws for the first key that nobody asked for: place, key, nearest known key, all known keys.
  void Finish() const;

 private:
  [[noreturn]] void MissingKey(std::string_view name) const;

  const Config& table_;
  std::string what_;
  std::vector<std::string> known_;
};

// Reads all of `table` into `options` through its Visit method.
template <typename Options>
void ReadOptions(const Config& table, const std::string& what, Options& options) {
  FieldReader reader(table, what);
  options.Visit(reader);
  reader.Finish();
}

// Complains, where it stands, of a time that is less than `least` seconds or more than a billion
// (30 years; NaN is neither). `key`: of `table`, which need not have it. `least` of 1e-9 stands for
// any time above 0.
void RequireSeconds(const Config& table, std::string_view key, double value, double least = 0);

// The candidate closest to `name` by edit distance, or "" when none is near enough to be a likely
// misspelling.
std::string Nearest(std::string_view name, const std::vector<std::string>& candidates);
// ", did you mean \"filters\"?" or "".
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace flatout
