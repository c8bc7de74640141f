// JSON lines: values as trees, held against another parser, and typed fields read from them.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "flatout/data/formats/json_lines.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

using data::Block;
using data::CellType;
using data::ColumnSpec;
using data::Field;
using data::JsonFault;
using data::JsonRowParser;
using data::JsonValue;

namespace {

int Depth(std::string_view text) {
  int depth = 0, most = 0;
  for (char c : text) {
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return most;
}

void Compare(const JsonValue& ours, const nlohmann::json& theirs) {
  switch (ours.kind) {
    case JsonValue::Kind::kNull:
      FUZZ_CHECK(theirs.is_null());
      break;
    case JsonValue::Kind::kBool:
      FUZZ_CHECK(theirs.is_boolean() && theirs.get<bool>() == (ours.text == "true"));
      break;
    case JsonValue::Kind::kNumber:
      FUZZ_CHECK(theirs.is_number());
      break;
    case JsonValue::Kind::kString:
      FUZZ_CHECK(theirs.is_string() && theirs.get_ref<const std::string&>() == ours.text);
      break;
    case JsonValue::Kind::kArray:
      FUZZ_CHECK(theirs.is_array() && theirs.size() == ours.items.size());
      for (size_t i = 0; i < ours.items.size(); ++i) Compare(ours.items[i], theirs[i]);
      break;
    case JsonValue::Kind::kObject:
      FUZZ_CHECK(theirs.is_object());
      if (theirs.size() != ours.members.size()) break;  // a name twice
      for (const auto& [name, value] : ours.members) {
        FUZZ_CHECK(theirs.contains(name));
        Compare(value, theirs[name]);
      }
      break;
  }
}

struct Columns {
  std::vector<CellType> types;
  std::vector<Field> fields;
  std::vector<std::vector<int64_t>> dims = {{}, {data::kAny}, {}, {}, {2, 2}, {}, {data::kAny}, {}};
  std::vector<std::string> paths = {"a", "b", "c", "d.e", "m", "f", "words", "g"};
};

const Columns& Declared() {
  static const Columns columns = [] {
    const Config table = Config::ParseToml(R"(
a = { dtype = "f32", missing = 0.5 }
b = "f64"
c = { dtype = "text", missing = "" }
d = { dtype = "i32", bound = 100, missing = 0 }
m = { dtype = "f32", missing = 0 }
f = { classes = ["x", "y"], missing = "x" }
words = { dtype = "text", missing = "" }
g = { dtype = "u8", missing = 0 }
)",
                                           "fuzz");
    Columns made;
    size_t i = 0;
    for (const ColumnSpec& spec : data::ReadColumns(table)) {
      made.types.push_back(data::MakeCellType(spec, {}));
      made.fields.push_back(data::MakeField(made.types.back(), made.dims[i++]));
    }
    return made;
  }();
  return columns;
}

}  // namespace

FUZZ_TARGET(bytes) {
  const std::string_view text = Text(bytes);
  JsonValue value;
  JsonFault fault;
  const bool fine = data::ParseJson(text, value, fault);
  if (!fine) FUZZ_CHECK(!fault.what.empty() && fault.at <= text.size());
  const int depth = Depth(text);
  // Where both have the same rules: the other one stops at a zero byte, passes over a byte-order
  // mark and has no numbers beyond a double.
  if (text.find('\0') == text.npos && !text.starts_with("\xef") && depth <= data::kJsonDepth / 2 &&
      text.find_first_of("eE") == text.npos && text.size() < 300) {
    const auto theirs = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    FUZZ_CHECK(fine == !theirs.is_discarded());
    if (fine) Compare(value, theirs);
  }
  if (fine) {
    data::JsonSample sample;
    sample.Take(value);
    const std::vector<std::string> paths = sample.Paths();
    for (size_t i = 0; i < paths.size(); ++i) {
      if (!sample.IsField(i)) continue;
      (void)sample.Dims(i);
      ColumnSpec spec;
      sample.ResolveType({i}, spec);
    }
  }

  const Columns& columns = Declared();
  JsonRowParser parser;
  for (size_t i = 0; i < columns.fields.size(); ++i) {
    parser.Add(columns.paths[i], &columns.types[i], i, columns.dims[i]);
  }
  Block block;
  block.Reset(columns.fields, 1);
  JsonRowParser::Scratch scratch;
  // A copy of just this text, so that a sanitizer sees what is read behind it.
  std::vector<char> exact(text.begin(), text.end());
  if (exact.empty() || exact.back() != '\n') exact.push_back('\n');
  data::RecordText row;
  row.text = {exact.data(), exact.size()};
  row.readable = exact.data() + exact.size();
  JsonFault wrong;
  if (!parser.Parse(row, block, scratch, wrong)) {
    FUZZ_CHECK(!wrong.what.empty() && wrong.at <= exact.size());
    return;
  }
  FUZZ_CHECK(fine || depth > data::kJsonDepth);
  FUZZ_CHECK(*block.as<int32_t>(3) >= 0 && *block.as<int32_t>(3) < 100);
  for (size_t f = 0; f < columns.fields.size(); ++f) {
    int64_t count = 1;
    for (int64_t dim : block.dims(f, 0)) count *= dim;
    if (!columns.fields[f].text) {
      FUZZ_CHECK(static_cast<int64_t>(block.bytes(f, 0).size()) ==
                 count * ir::ByteSize(columns.fields[f].shape.dtype));
    } else if (!block.dims(f, 0).empty()) {
      FUZZ_CHECK(static_cast<int64_t>(block.texts(f, 0).size()) == count);
    }
  }
}

}  // namespace flatout::fuzz
