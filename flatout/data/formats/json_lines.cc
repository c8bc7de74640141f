#include "flatout/data/formats/json_lines.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "flatout/base/error.h"
#include "flatout/data/formats/number_text.h"

namespace flatout::data {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The offset of the first byte that is no UTF-8 (RFC 3629: no surrogates, no overlong forms), or
// the size.
size_t InvalidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      ++i;
      continue;
    }
    const size_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    if (c < 0xc2 || c > 0xf4 || text.size() - i <= more) return i;
    uint32_t code = c & (0x3fu >> more);
    for (size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return i;
      code = code << 6 | (next & 0x3fu);
    }
    if ((more == 2 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
        (more == 3 && (code < 0x10000 || code > 0x10ffff))) {
      return i;
    }
    i += more + 1;
  }
  return text.size();
}

char* PutUtf8(char* to, uint32_t code) {
  if (code < 0x80) {
    *to++ = static_cast<char>(code);
  } else if (code < 0x800) {
    *to++ = static_cast<char>(0xc0 | code >> 6);
    *to++ = static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *to++ = static_cast<char>(0xe0 | code >> 12);
    *to++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *to++ = static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *to++ = static_cast<char>(0xf0 | code >> 18);
    *to++ = static_cast<char>(0x80 | (code >> 12 & 0x3f));
    *to++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *to++ = static_cast<char>(0x80 | (code & 0x3f));
  }
  return to;
}

bool Hex4(const char* p, uint32_t& code) {
  code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    const int digit = IsDigit(c)             ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return false;
    code = code << 4 | static_cast<uint32_t>(digit);
  }
  return true;
}

// Walks over a text. Every function leaves p behind what it took, or returns false with a fault.
struct JsonCursor {
  const char* begin;
  const char* end;
  const char* p;
  JsonFault& fault;

  bool Fail(const char* at, std::string what) {
    // The line end that a record goes to is on its line still.
    if (at == end) {
      while (at != begin && IsSpace(at[-1])) --at;
    }
    fault = {static_cast<size_t>(at - begin), std::move(what)};
    return false;
  }
  std::string Here() const {
    if (p == end) return "the end of the line (a record is one line)";
    return ShowText({p, static_cast<size_t>(end - p)}, 16);
  }
  void SkipSpace() {
    while (p != end && IsSpace(*p)) ++p;
  }
  bool Expect(char c, const char* where) {
    SkipSpace();
    if (p != end && *p == c) {
      ++p;
      return true;
    }
    return Fail(p, fmt::format("expected '{}' {}, found {}", c, where, Here()));
  }
  bool Word(std::string_view word) {
    if (static_cast<size_t>(end - p) >= word.size() && std::string_view(p, word.size()) == word) {
      p += word.size();
      return true;
    }
    return Fail(p, fmt::format("expected a JSON value, found {}", Here()));
  }

  // A number by JSON's grammar, which knows neither "01" nor "+1", "1." and ".5".
  bool Number(std::string_view& text) {
    const char* first = p;
    const char* q = p;
    if (q != end && *q == '-') ++q;
    const char* digits = q;
    while (q != end && IsDigit(*q)) ++q;
    bool right = q != digits && (*digits != '0' || q == digits + 1);
    if (right && q != end && *q == '.') {
      digits = ++q;
      while (q != end && IsDigit(*q)) ++q;
      right = q != digits;
    }
    if (right && q != end && (*q == 'e' || *q == 'E')) {
      ++q;
      if (q != end && (*q == '+' || *q == '-')) ++q;
      digits = q;
      while (q != end && IsDigit(*q)) ++q;
      right = q != digits;
    }
    if (!right || (q != end && (IsDigit(*q) || *q == '.'))) {
      return Fail(first, fmt::format("expected a JSON number, found {}", Here()));
    }
    text = {first, static_cast<size_t>(q - first)};
    p = q;
    return true;
  }

  // A string in its quotes, as it is written. `escaped`: whether there are escapes.
  bool RawString(std::string_view& raw, bool& escaped) {
    const char* first = ++p;
    escaped = false;
    bool wide = false;
    for (; p != end; ++p) {
      const auto c = static_cast<unsigned char>(*p);
      if (c == '"') {
        raw = {first, static_cast<size_t>(p - first)};
        ++p;
        if (wide) {
          const size_t wrong = InvalidUtf8(raw);
          if (wrong < raw.size()) {
            return Fail(first + wrong,
                        fmt::format("byte 0x{:02x} is no UTF-8 here: JSON is UTF-8. Convert the "
                                    "file: iconv -f LATIN1 -t UTF-8, if that is what it is",
                                    static_cast<unsigned>(static_cast<unsigned char>(raw[wrong]))));
          }
        }
        return true;
      }
      if (c < 0x20) break;
      wide = wide || c >= 0x80;
      if (c == '\\') {
        escaped = true;
        if (++p == end) break;
      }
    }
    if (p == end || *p == '\n' || *p == '\r') {
      return Fail(first - 1, fmt::format("the string that begins here, {}, has no closing quote on "
                                         "its line",
                                         ShowText({first, static_cast<size_t>(p - first)}, 30)));
    }
    return Fail(p,
                fmt::format("a control character (0x{:02x}) in a string must be written \\u{:04x}",
                            static_cast<unsigned>(static_cast<unsigned char>(*p)),
                            static_cast<unsigned>(static_cast<unsigned char>(*p))));
  }

  // Writes what `raw` (a view of this text) means to `to`, which has room for raw.size() bytes.
  bool Unescape(std::string_view raw, char* to, size_t& size) {
    const char* q = raw.data();
    const char* last = q + raw.size();
    char* out = to;
    while (q != last) {
      if (*q != '\\') {
        *out++ = *q++;
        continue;
      }
      const char* at = q++;
      switch (*q++) {
        case '"':
          *out++ = '"';
          break;
        case '\\':
          *out++ = '\\';
          break;
        case '/':
          *out++ = '/';
          break;
        case 'b':
          *out++ = '\b';
          break;
        case 'f':
          *out++ = '\f';
          break;
        case 'n':
          *out++ = '\n';
          break;
        case 'r':
          *out++ = '\r';
          break;
        case 't':
          *out++ = '\t';
          break;
        case 'u': {
          uint32_t code = 0, low = 0;
          if (last - q < 4 || !Hex4(q, code)) {
            return Fail(at, "expected four hexadecimal digits after \\u");
          }
          q += 4;
          if (code >= 0xd800 && code < 0xe000) {
            // The two halves of one character (UTF-16).
            if (code >= 0xdc00 || last - q < 6 || q[0] != '\\' || q[1] != 'u' ||
                !Hex4(q + 2, low) || low < 0xdc00 || low >= 0xe000) {
              return Fail(at, fmt::format("\\u{:04x} is half a character: expected a pair "
                                          "\\ud800-\\udbff, \\udc00-\\udfff",
                                          code));
            }
            q += 6;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          }
          out = PutUtf8(out, code);
          break;
        }
        default:
          return Fail(at, fmt::format("{} is no JSON escape: expected one of \\\" \\\\ \\/ \\b \\f "
                                      "\\n \\r \\t \\u",
                                      ShowText({at, 2})));
      }
    }
    size = static_cast<size_t>(out - to);
    return true;
  }
  bool String(std::string& text) {
    std::string_view raw;
    bool escaped;
    if (!RawString(raw, escaped)) return false;
    text.assign(raw);
    if (!escaped) return true;
    size_t size = 0;
    if (!Unescape(raw, text.data(), size)) return false;
    text.resize(size);
    return true;
  }

  bool TooDeep(int depth) {
    if (depth <= kJsonDepth) return false;
    Fail(p, fmt::format("values are nested more than {} deep", kJsonDepth));
    return true;
  }

  // Calls member(key) with p at each value of the object that begins here.
  template <typename Member>
  bool Object(std::string& key, const Member& member) {
    ++p;
    SkipSpace();
    if (p != end && *p == '}') {
      ++p;
      return true;
    }
    while (true) {
      SkipSpace();
      if (p == end || *p != '"') {
        return Fail(p, fmt::format("expected a member's name in quotes, found {}", Here()));
      }
      if (!String(key) || !Expect(':', "after a member's name")) return false;
      SkipSpace();
      if (!member(key)) return false;
      SkipSpace();
      if (p != end && *p == ',') {
        ++p;
        continue;
      }
      return Expect('}', "or ',' after a member");
    }
  }
  // Calls item() with p at each value of the array that begins here.
  template <typename Item>
  bool Array(const Item& item) {
    ++p;
    SkipSpace();
    if (p != end && *p == ']') {
      ++p;
      return true;
    }
    while (true) {
      SkipSpace();
      if (!item()) return false;
      SkipSpace();
      if (p != end && *p == ',') {
        ++p;
        continue;
      }
      return Expect(']', "or ',' after a value");
    }
  }

  bool Skip(std::string& key, int depth) {
    if (TooDeep(depth)) return false;
    std::string_view text;
    bool escaped;
    switch (p == end ? '\0' : *p) {
      case '{':
        return Object(key, [&](const std::string&) { return Skip(key, depth + 1); });
      case '[':
        return Array([&] { return Skip(key, depth + 1); });
      case '"':
        if (!RawString(text, escaped)) return false;
        if (!escaped) return true;
        {
          size_t size;
          key.resize(text.size());
          return Unescape(text, key.data(), size);
        }
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        break;
    }
    if (p != end && (*p == '-' || IsDigit(*p))) return Number(text);
    return Word("a JSON value");
  }

  bool Value(JsonValue& value, int depth) {
    if (TooDeep(depth)) return false;
    std::string key;
    switch (p == end ? '\0' : *p) {
      case '{':
        value.kind = JsonValue::Kind::kObject;
        return Object(key, [&](const std::string& name) {
          value.members.emplace_back(name, JsonValue());
          return Value(value.members.back().second, depth + 1);
        });
      case '[':
        value.kind = JsonValue::Kind::kArray;
        return Array([&] { return Value(value.items.emplace_back(), depth + 1); });
      case '"':
        value.kind = JsonValue::Kind::kString;
        return String(value.text);
      case 't':
      case 'f':
        value.kind = JsonValue::Kind::kBool;
        value.text = *p == 't' ? "true" : "false";
        return Word(value.text);
      case 'n':
        return Word("null");
      default:
        break;
    }
    if (p == end || (*p != '-' && !IsDigit(*p))) return Word("a JSON value");
    value.kind = JsonValue::Kind::kNumber;
    std::string_view text;
    if (!Number(text)) return false;
    value.text = text;
    return true;
  }

  bool AtEnd() {
    SkipSpace();
    if (p == end) return true;
    return Fail(p, fmt::format("expected the line's end after the record's object, found {}. Each "
                               "record stands on a line of its own",
                               Here()));
  }
};

}  // namespace

bool ParseJson(std::string_view text, JsonValue& value, JsonFault& fault) {
  value = {};
  JsonCursor cursor = {text.data(), text.data() + text.size(), text.data(), fault};
  cursor.SkipSpace();
  return cursor.Value(value, 1) && cursor.AtEnd();
}

// ---- JsonSample ----

JsonSample::Member& JsonSample::Find(const std::string& path) {
  const auto [it, fresh] = by_path_.emplace(path, members_.size());
  if (fresh) members_.emplace_back().path = path;
  return members_[it->second];
}

void JsonSample::Values(Member& member, const JsonValue& value, size_t axis) {
  switch (value.kind) {
    case JsonValue::Kind::kArray: {
      if (axis == 0 && !member.fresh && member.dims.empty()) return;  // scalars so far
      member.fresh = false;
      const auto count = static_cast<int64_t>(value.items.size());
      if (member.dims.size() <= axis) {
        member.dims.push_back(count);
      } else if (member.dims[axis] != count) {
        member.dims[axis] = kAny;
      }
      for (const JsonValue& item : value.items) Values(member, item, axis + 1);
      return;
    }
    case JsonValue::Kind::kObject:
      member.objects = true;
      return;
    case JsonValue::Kind::kNull:
      return;
    case JsonValue::Kind::kString:
      member.fresh = false;
      member.text = true;
      return;
    default:
      member.fresh = false;
      member.guess.Take(value.text);
      if (value.kind == JsonValue::Kind::kNumber) member.numbers.Take(value.text);
      if (First& first = member.met[KindOf(value)]; first.record < 0) {
        first = {record_, value.text};
      }
  }
}

JsonSample::Met JsonSample::KindOf(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kBool) return kBoolean;
  int64_t whole = 0;
  uint64_t wide = 0;
  float narrow = 0;
  double number = 0;
  if (ParseInteger(value.text, whole) == NumberFault::kRange) {
    if (ParseUnsigned(value.text, wide) == NumberFault::kNone) return kWide;
  } else if (ParseFloat(value.text, narrow) == NumberFault::kNone) {
    return kPlain;
  }
  return ParseFloat(value.text, number) == NumberFault::kNone ? kFloat64 : kTooLarge;
}

void JsonSample::Walk(const std::string& path, const JsonValue& value, int depth) {
  if (value.kind != JsonValue::Kind::kObject) {
    Values(Find(path), value, 0);
    return;
  }
  for (const auto& [name, member] : value.members) {
    Walk(path.empty() ? name : path + "." + name, member, depth + 1);
  }
}

void JsonSample::Take(const JsonValue& record, int64_t number) {
  record_ = number;
  if (record.kind == JsonValue::Kind::kObject) Walk("", record, 0);
}

std::vector<std::string> JsonSample::Paths() const {
  std::vector<std::string> paths;
  for (const Member& member : members_) paths.push_back(member.path);
  return paths;
}

bool JsonSample::IsField(size_t path) const { return !members_[path].objects; }

void JsonSample::ResolveType(const std::vector<size_t>& paths, ColumnSpec& spec) const {
  TypeGuess guess;
  bool text = false;
  for (const size_t path : paths) {
    guess.Join(members_[path].guess);
    text = text || members_[path].text;
  }
  guess.Resolve(spec);
  spec.text = spec.text || text;
}

std::string JsonSample::Unresolved(const std::vector<size_t>& paths,
                                   const std::string& field) const {
  ColumnSpec spec, of_numbers;
  ResolveType(paths, spec);
  if (!spec.text) return "";
  TypeGuess numbers;
  std::array<First, kMetKinds> met;
  for (const size_t path : paths) {
    const Member& member = members_[path];
    if (member.text) return "";
    numbers.Join(member.numbers);
    for (size_t kind = 0; kind < kMetKinds; ++kind) {
      if (met[kind].record < 0) met[kind] = member.met[kind];
    }
  }
  const auto has = [&](Met kind) { return met[kind].record >= 0; };
  if (has(kTooLarge)) {
    return fmt::format(
        "record {}: {} holds {}, which is too large for f64. Correct the file, or leave the member "
        "out: columns = [...] names those to read",
        met[kTooLarge].record, ShowText(field), ShowText(met[kTooLarge].text, 30));
  }
  std::string values;
  for (const First& first : met) {
    if (first.record < 0) continue;
    values += fmt::format("{}{} in record {}", values.empty() ? "" : ", ", ShowText(first.text, 30),
                          first.record);
  }
  if (values.empty()) return "";  // nothing but null
  numbers.Resolve(of_numbers);
  std::string type(ir::Name(of_numbers.dtype));
  if (has(kFloat64) || has(kWide)) {
    // u64 takes no fraction and nothing negative, which the sample does not tell apart: f64 takes
    // all, though not to the last digit.
    type = has(kFloat64) ? "f64" : has(kPlain) ? "f64\" or \"u64" : "u64\" or \"f64";
  }
  return fmt::format(
      "{}: no type can be inferred that holds {}. Declare one: columns = {{ \"{}\" = \"{}\", ... "
      "}}{}",
      ShowText(field), values, field, type, has(kBoolean) ? " (true is 1, false 0)" : "");
}

std::vector<int64_t> JsonSample::Dims(size_t path) const { return members_[path].dims; }

// ---- JsonRowParser ----

void JsonRowParser::Add(const std::string& path, const CellType* type, size_t field,
                        const std::vector<int64_t>& dims, int64_t element) {
  Target target = {path, type, field, dims, element, type->kind != CellType::Kind::kText};
  for (const int64_t dim : dims) target.fixed = target.fixed && dim != kAny;
  Insert(root_, path, static_cast<int>(std::count(path.begin(), path.end(), '.')));
  targets_.push_back(std::move(target));
}

void JsonRowParser::Insert(Node& node, std::string_view path, int dots) {
  auto child = [&](std::string_view name) -> Node& {
    for (Node& other : node.children) {
      if (other.name == name) return other;
    }
    return node.children.emplace_back(Node{std::string(name), {}, {}});
  };
  // A dot may also be part of a member's name: all ways to read the path are tried, unless there
  // are very many.
  constexpr int kMostDots = 8;
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    Insert(child(path.substr(0, dot)), path.substr(dot + 1), dots);
    if (dots > kMostDots) return;
  }
  child(path).targets.push_back(targets_.size());
}

// One record on its way into one row.
class JsonRowReader {
 public:
  JsonRowReader(const JsonRowParser& parser, const RecordText& text, Block& out,
                JsonRowParser::Scratch& scratch, JsonFault& fault)
      : parser_(parser),
        row_(text.row),
        readable_(text.readable),
        resident_(text.resident),
        out_(out),
        scratch_(scratch),
        cursor_{text.text.data(), text.text.data() + text.text.size(), text.text.data(), fault} {}

  bool Run() {
    const size_t count = parser_.targets_.size();
    scratch_.seen.assign(count, 0);
    cursor_.SkipSpace();
    if (cursor_.p == cursor_.end || *cursor_.p != '{') {
      return cursor_.Fail(
          cursor_.p,
          fmt::format("expected a JSON object, {{...}}, found {}{}", cursor_.Here(),
                      cursor_.p != cursor_.end && *cursor_.p == '['
                          ? ". An array is one record after the other when each stands on a line "
                            "of its own: jq -c '.[]' makes it so"
                          : ""));
    }
    if (!Members(parser_.root_, 1)) return false;
    if (!cursor_.AtEnd()) return false;
    for (size_t t = 0; t < count; ++t) {
      if (scratch_.seen[t] == 0 && !Missing(parser_.targets_[t], cursor_.begin, "absent")) {
        return false;
      }
    }
    return true;
  }

 private:
  using Target = JsonRowParser::Target;
  using Node = JsonRowParser::Node;
  using Kind = CellType::Kind;

  bool Members(const Node& node, int depth) {
    if (cursor_.TooDeep(depth)) return false;
    // Members mostly come in the same order, so the search begins behind the last one found.
    const size_t count = node.children.size();
    size_t next = 0;
    return cursor_.Object(scratch_.key, [&](const std::string& key) {
      for (size_t i = 0; i < count; ++i) {
        const Node& child = node.children[next + i < count ? next + i : next + i - count];
        if (child.name != key) continue;
        next = (next + i + 1) % count;
        if (cursor_.p != cursor_.end && *cursor_.p == '{' && !child.children.empty()) {
          // A field that wants a value here gets none: said below, as absent.
          return Members(child, depth + 1);
        }
        if (child.targets.empty()) break;
        const char* first = cursor_.p;
        for (const size_t t : child.targets) {
          const Target& target = parser_.targets_[t];
          if (scratch_.seen[t] != 0) {
            return cursor_.Fail(
                first, fmt::format("the member {} stands there twice", ShowText(target.path)));
          }
          scratch_.seen[t] = 1;
          cursor_.p = first;
          if (!Take(target, depth)) return false;
        }
        return true;
      }
      return cursor_.Skip(scratch_.key, depth + 1);
    });
  }

  bool Fault(const Target& target, const char* at, const std::string& what) {
    return cursor_.Fail(at, fmt::format("{}: {}", ShowText(target.path), what));
  }

  // No value at all for the field.
  bool Missing(const Target& target, const char* at, const char* how) {
    const CellType& type = *target.type;
    if (!type.has_missing) {
      return Fault(target, at,
                   fmt::format("expected {}, found it {}. Say what stands for a missing one: "
                               "columns = {{ \"{}\" = {{ missing = ... }} }}, or missing = 0 for "
                               "all columns",
                               Wanted(target), how, type.field));
    }
    if (target.element >= 0) {
      type.StoreMissing(out_.data(target.field, row_) + target.element * type.size);
    } else if (target.fixed) {
      std::byte* to = out_.data(target.field, row_);
      const int64_t bytes = out_.stride(target.field);
      for (int64_t at_byte = 0; at_byte < bytes; at_byte += type.size) {
        type.StoreMissing(to + at_byte);
      }
    } else if (type.kind == Kind::kText && target.dims.empty()) {
      out_.SetTextView(target.field, row_, type.missing_text);
    } else {
      // An array of unknown length: an empty one.
      const std::vector<int64_t> none(target.dims.size(), 0);
      if (type.kind == Kind::kText) {
        out_.SetTexts(target.field, row_, none, {});
      } else {
        out_.SetCell(target.field, row_, none);
      }
    }
    return true;
  }

  std::string Wanted(const Target& target) const {
    const bool array = target.element < 0 && !target.dims.empty();
    if (!array) return target.type->Expected();
    std::string dims;
    for (const int64_t dim : target.dims) {
      dims += fmt::format("{}{}", dims.empty() ? "" : ",",
                          dim == kAny ? std::string("?") : fmt::format("{}", dim));
    }
    return fmt::format("an array [{}] of {}", dims, target.type->Expected());
  }

  // The value at p becomes the field, or its element.
  bool Take(const Target& target, int depth) {
    const CellType& type = *target.type;
    const char* first = cursor_.p;
    if (first != cursor_.end && *first == 'n') {
      return cursor_.Word("null") && Missing(target, first, "null");
    }
    const bool array = target.element < 0 && !target.dims.empty();
    if (type.kind == Kind::kText) {
      scratch_.texts.clear();
      if (!array) {
        if (!Text(target)) return false;
        if (resident_ || texts_copied_) {
          out_.SetTextView(target.field, row_, scratch_.texts[0]);
        } else {
          out_.SetText(target.field, row_, scratch_.texts[0]);
        }
        return true;
      }
      dims_.fill(kAny);
      if (!Items(target, 0, depth)) return false;
      out_.SetTexts(target.field, row_, {dims_.data(), target.dims.size()}, scratch_.texts);
      return true;
    }
    if (!array) {
      std::byte* to =
          out_.data(target.field, row_) + (target.element >= 0 ? target.element * type.size : 0);
      return Scalar(target, to);
    }
    scratch_.bytes.clear();
    dims_.fill(kAny);
    if (!Items(target, 0, depth)) return false;
    std::byte* to = target.fixed
                        ? out_.data(target.field, row_)
                        : out_.SetCell(target.field, row_, {dims_.data(), target.dims.size()});
    if (!scratch_.bytes.empty()) std::memcpy(to, scratch_.bytes.data(), scratch_.bytes.size());
    return true;
  }

  // The array at p: axis `axis` of the field.
  bool Items(const Target& target, size_t axis, int depth) {
    const char* first = cursor_.p;
    if (first == cursor_.end || *first != '[') {
      return Fault(target, first,
                   fmt::format("expected {}, found {}", Wanted(target), cursor_.Here()));
    }
    if (cursor_.TooDeep(depth)) return false;
    int64_t count = 0;
    const bool right = cursor_.Array([&] {
      ++count;
      if (axis + 1 < target.dims.size()) return Items(target, axis + 1, depth + 1);
      if (target.type->kind == Kind::kText) return Text(target);
      const size_t at = scratch_.bytes.size();
      scratch_.bytes.resize(at + static_cast<size_t>(target.type->size));
      return Scalar(target, scratch_.bytes.data() + at);
    });
    if (!right) return false;
    const int64_t want = target.dims[axis];
    if (want != kAny && count != want) {
      return Fault(target, first,
                   fmt::format("expected {}, found {} values{}{}", Wanted(target), count,
                               target.dims.size() > 1 ? fmt::format(" on axis {}", axis) : "",
                               target.type->inferred
                                   ? fmt::format(". The dimensions were inferred from the first "
                                                 "records; declare them: columns = {{ \"{}\" = {{ "
                                                 "shape = [\"?\"], ... }} }}",
                                                 target.type->field)
                                   : std::string()));
    }
    if (dims_[axis] != kAny && dims_[axis] != count) {
      return Fault(target, first,
                   fmt::format("the array is ragged: {} values here, {} in the one before", count,
                               dims_[axis]));
    }
    dims_[axis] = count;
    // What has no values has no inner dimensions either.
    if (count == 0) {
      for (size_t i = axis + 1; i < target.dims.size(); ++i) {
        if (dims_[i] == kAny) dims_[i] = target.dims[i] == kAny ? 0 : target.dims[i];
      }
    }
    return true;
  }

  // The string at p, to the end of scratch_.texts.
  bool Text(const Target& target) {
    const char* first = cursor_.p;
    texts_copied_ = false;
    if (first != cursor_.end && *first == 'n' && target.type->has_missing) {
      scratch_.texts.push_back(target.type->missing_text);
      texts_copied_ = true;
      return cursor_.Word("null");
    }
    if (first == cursor_.end || *first != '"') {
      return Fault(target, first,
                   fmt::format("expected a string, found {}{}", cursor_.Here(),
                               target.type->inferred
                                   ? ". Some of the first records hold strings, and a field holds "
                                     "strings or numbers: write them all as strings, or leave the "
                                     "member out: columns = [...] names those to read"
                                   : ""));
    }
    std::string_view raw;
    bool escaped;
    if (!cursor_.RawString(raw, escaped)) return false;
    if (escaped) {
      auto* copy = reinterpret_cast<char*>(out_.Allocate(static_cast<int64_t>(raw.size())));
      size_t size;
      if (!cursor_.Unescape(raw, copy, size)) return false;
      raw = {copy, size};
      texts_copied_ = true;
    }
    scratch_.texts.push_back(raw);
    return true;
  }

  // The number, boolean or class at p.
  bool Scalar(const Target& target, std::byte* to) {
    const CellType& type = *target.type;
    const char* first = cursor_.p;
    const char c = first == cursor_.end ? '\0' : *first;
    std::string what;
    if (c == '-' || IsDigit(c)) {
      std::string_view text;
      if (!cursor_.Number(text)) return false;
      const char* last = text.data() + text.size();
      switch (type.kind) {
        case Kind::kF32: {
          float value = 0;
          if (FastFloat(first, readable_, value) != last) break;
          std::memcpy(to, &value, sizeof(value));
          return true;
        }
        case Kind::kF64: {
          double value = 0;
          if (FastFloat(first, readable_, value) != last) break;
          std::memcpy(to, &value, sizeof(value));
          return true;
        }
        case Kind::kInteger: {
          int64_t value = 0;
          if (FastInteger(first, readable_, value) != last || !type.Store(value, to)) break;
          return true;
        }
        default:
          break;
      }
      return type.Parse(text, to, what) || Fault(target, first, what);
    }
    if (c == 't' || c == 'f') {
      const bool value = c == 't';
      if (!cursor_.Word(value ? "true" : "false")) return false;
      switch (type.kind) {
        case Kind::kF32: {
          const float number = value ? 1 : 0;
          std::memcpy(to, &number, sizeof(number));
          return true;
        }
        case Kind::kF64: {
          const double number = value ? 1 : 0;
          std::memcpy(to, &number, sizeof(number));
          return true;
        }
        case Kind::kInteger:
        case Kind::kPred:
          if (type.Store(value ? 1 : 0, to)) return true;
          break;
        default:
          break;
      }
    } else if (c == '"' && type.kind == Kind::kClasses) {
      if (!cursor_.String(scratch_.key)) return false;
      return type.ParseClass(scratch_.key, to, what) || Fault(target, first, what);
    } else if (c == 'n') {
      if (!cursor_.Word("null")) return false;
      if (type.StoreMissing(to)) return true;
    }
    cursor_.p = first;
    return Fault(target, first,
                 fmt::format("expected {}, found {}{}", type.Expected(), cursor_.Here(),
                             !type.inferred ? std::string()
                             : c == '"' ? ". The first records hold none but numbers or booleans, "
                                          "from which its type was inferred, and a field holds "
                                          "strings or numbers: correct the record"
                                        : type.InferredHint()));
  }

  const JsonRowParser& parser_;
  const int64_t row_;
  const char* readable_;
  const bool resident_;
  Block& out_;
  JsonRowParser::Scratch& scratch_;
  JsonCursor cursor_;
  bool texts_copied_ = false;              // the last text needs no copy
  std::array<int64_t, kMostRank> dims_{};  // found so far; kAny: not yet
};

bool JsonRowParser::Parse(const RecordText& text, Block& out, Scratch& scratch,
                          JsonFault& fault) const {
  return JsonRowReader(*this, text, out, scratch, fault).Run();
}

}  // namespace flatout::data
