#include "flatout/data/formats/columns.h"

#include <fnmatch.h>

#include <cstring>
#include <limits>

#include "flatout/base/error.h"
#include "flatout/data/formats/number_text.h"
#include "flatout/data/formats/text_records.h"

namespace flatout::data {
namespace {

using Kind = CellType::Kind;

// true or false as programs write them.
bool ParseWord(std::string_view text, bool& value) {
  if (text == "true" || text == "True" || text == "TRUE") {
    value = true;
  } else if (text == "false" || text == "False" || text == "FALSE") {
    value = false;
  } else {
    return false;
  }
  return true;
}

void SetType(const Config& value, ColumnSpec& spec) {
  const std::string& name = value.AsString();
  if (name == "auto") return;
  spec.inferred = false;
  if (name == "text" || name == "string") {
    spec.text = true;
    return;
  }
  try {
    spec.dtype = ir::ParseDType(name);
  } catch (const UserError&) {
    throw value.Complain(
        fmt::format("expected \"text\", \"auto\" or an element type such as \"f32\", \"i32\", "
                    "\"u8\" or \"pred\", found {}",
                    value.Describe()));
  }
  if (spec.dtype == ir::DType::kF16 || spec.dtype == ir::DType::kBF16) {
    throw value.Complain(
        fmt::format("text is read as \"f32\" or \"f64\", found {}: read \"f32\" "
                    "and convert it by a transform",
                    value.Describe()));
  }
}

ColumnSpec ReadSpec(const std::string& name, const Config& value) {
  ColumnSpec spec;
  spec.name = name;
  spec.config = value;
  if (value.is_string()) {
    SetType(value, spec);
    return spec;
  }
  if (!value.is_table()) {
    throw value.Complain(fmt::format(
        "expected a type such as \"f32\" or a table {{ dtype = \"f32\", ... }}, found {}",
        value.Describe()));
  }
  FieldReader reader(value, "column " + ShowText(name));
  if (const Config* dtype = reader.Take("dtype")) SetType(*dtype, spec);
  if (const Config* from = reader.Take("from")) {
    ReadConfig(*from, spec.from);
    if (spec.from.empty()) throw from->Complain("expected at least one column, found none");
    spec.packed = from->is_array() || IsPattern(spec.from[0]);
  }
  if (const Config* bound = reader.Take("bound")) {
    spec.bound = bound->AsInt();
    if (spec.bound <= 0) {
      throw bound->Complain(fmt::format(
          "expected a positive number (values lie in [0, bound)), found {}", spec.bound));
    }
    if (!spec.inferred && (spec.text || !ir::IsInteger(spec.dtype))) {
      throw bound->Complain(
          fmt::format("a bound is for integers, the type is {}",
                      spec.text ? std::string_view("text") : ir::Name(spec.dtype)));
    }
    if (spec.inferred) {
      spec.inferred = false;
      spec.dtype = ir::DType::kI32;
    }
  }
  if (const Config* classes = reader.Take("classes")) {
    ReadConfig(*classes, spec.classes);
    if (spec.classes.empty()) throw classes->Complain("expected at least one class, found none");
    for (size_t i = 0; i < spec.classes.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (spec.classes[i] == spec.classes[k]) {
          throw classes->Complain(
              fmt::format("the class {} stands there twice, as number {} and {}",
                          ShowText(spec.classes[i]), k, i));
        }
      }
    }
    if (spec.bound != 0) throw classes->Complain("classes and bound exclude each other");
    if (spec.inferred) {
      spec.inferred = false;
      spec.dtype = ir::DType::kI32;
    } else if (spec.text || !ir::IsInteger(spec.dtype)) {
      throw classes->Complain("classes become integers: set dtype = \"i32\" or leave it out");
    }
  }
  if (const Config* missing = reader.Take("missing")) spec.missing = *missing;
  if (const Config* shape = reader.Take("shape")) {
    spec.shape.emplace();
    const std::vector<Config> one = {*shape};
    for (const Config& dim : shape->is_array() ? shape->items() : one) {
      int64_t size = kAny;
      if (!dim.is_string() || dim.AsString() != "?") size = dim.AsInt();
      if (size < 1 && size != kAny) {
        throw dim.Complain(
            fmt::format("expected a positive dimension, or \"?\" for any, found {}", size));
      }
      spec.shape->push_back(size);
    }
  }
  reader.Finish();
  return spec;
}

}  // namespace

std::vector<ColumnSpec> ReadColumns(const Config& value) {
  std::vector<ColumnSpec> specs;
  if (value.is_table()) {
    for (const auto& [name, entry] : value.entries()) specs.push_back(ReadSpec(name, entry));
  } else {
    std::vector<std::string> names;
    ReadConfig(value, names);
    for (size_t i = 0; i < names.size(); ++i) {
      ColumnSpec spec;
      spec.name = names[i];
      spec.config = value.is_array() ? value.items()[i] : value;
      specs.push_back(std::move(spec));
    }
  }
  if (specs.empty()) {
    throw value.Complain("expected at least one column, found none: leave the key out to read all");
  }
  return specs;
}

bool IsPattern(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos ||
         ExpandRange(std::string(text)).size() != 1;
}

std::vector<std::string> ExpandRange(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos) return {text};
  const std::string first = text.substr(0, dots), last = text.substr(dots + 2);
  auto split = [](const std::string& name) {
    size_t i = name.size();
    while (i > 0 && name[i - 1] >= '0' && name[i - 1] <= '9') --i;
    return i;
  };
  const size_t a = split(first), b = split(last);
  int64_t low = 0, high = 0;
  if (first.substr(0, a) != last.substr(0, b) || first.size() - a > 9 || last.size() - b > 9 ||
      ParseInteger(first.substr(a), low) != NumberFault::kNone ||
      ParseInteger(last.substr(b), high) != NumberFault::kNone || low > high ||
      high - low > 1000000) {
    return {text};
  }
  // p08..p10: as many digits as the first has, when it begins with a zero.
  const size_t width = first.size() - a > 1 && first[a] == '0' ? first.size() - a : 0;
  std::vector<std::string> names;
  for (int64_t i = low; i <= high; ++i) {
    names.push_back(fmt::format("{}{:0{}}", first.substr(0, a), i, width));
  }
  return names;
}

std::vector<size_t> MatchColumns(const std::string& pattern,
                                 const std::vector<std::string>& names) {
  std::vector<size_t> found;
  auto exact = [&](const std::string& name) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) {
        found.push_back(i);
        return true;
      }
    }
    return false;
  };
  if (exact(pattern)) return found;
  const std::vector<std::string> range = ExpandRange(pattern);
  if (range.size() > 1) {
    std::unordered_map<std::string_view, size_t> by_name;
    for (size_t i = 0; i < names.size(); ++i) by_name.emplace(names[i], i);
    for (const std::string& name : range) {
      const auto it = by_name.find(name);
      if (it == by_name.end()) return {};
      found.push_back(it->second);
    }
    return found;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (fnmatch(pattern.c_str(), names[i].c_str(), 0) == 0) found.push_back(i);
  }
  return found;
}

bool CellType::ParseClass(std::string_view text, std::byte* out, std::string& fault) const {
  const auto it = class_index.find(text);
  if (it != class_index.end()) return Store(it->second, out);
  fault =
      fmt::format("expected {}, found {}{}", Expected(), ShowText(text), DidYouMean(text, classes));
  return false;
}

bool CellType::Parse(std::string_view text, std::byte* out, std::string& fault) const {
  NumberFault number = NumberFault::kNone;
  switch (kind) {
    case Kind::kF32: {
      float value = 0;
      number = ParseFloat(text, value);
      if (number == NumberFault::kNone) std::memcpy(out, &value, sizeof(value));
      break;
    }
    case Kind::kF64: {
      double value = 0;
      number = ParseFloat(text, value);
      if (number == NumberFault::kNone) std::memcpy(out, &value, sizeof(value));
      break;
    }
    case Kind::kInteger:
      if (dtype == ir::DType::kU64 && bound == 0) {
        uint64_t value = 0;
        number = ParseUnsigned(text, value);
        if (number == NumberFault::kNone) std::memcpy(out, &value, sizeof(value));
      } else {
        int64_t value = 0;
        number = ParseInteger(text, value);
        if (number == NumberFault::kNone && !Store(value, out)) number = NumberFault::kRange;
      }
      break;
    case Kind::kPred: {
      bool value = false;
      if (text == "0" || text == "1") {
        value = text == "1";
      } else if (!ParseWord(text, value)) {
        number = NumberFault::kSyntax;
      }
      if (number == NumberFault::kNone) *out = static_cast<std::byte>(value);
      break;
    }
    case Kind::kClasses:
      return ParseClass(text, out, fault);
    case Kind::kText:
      fault = "text has no fixed size";
      return false;
  }
  if (number == NumberFault::kNone) return true;
  fault = fmt::format("expected {}, found {}", Expected(), ShowText(text));
  if (number == NumberFault::kRange) {
    fault += kind == Kind::kInteger && bound > 0
                 ? fmt::format(": outside [0, {})", bound)
                 : fmt::format(": {} cannot hold it", ir::Name(dtype));
    if (kind == Kind::kInteger && bound == 0) fault += InferredHint();
    return false;
  }
  float any = 0;
  std::string with_point(text);
  for (char& c : with_point) c = c == ',' ? '.' : c;
  const bool spaces = !text.empty() && (text.front() == ' ' || text.front() == '\t' ||
                                        text.back() == ' ' || text.back() == '\t');
  if (spaces) {
    fault += ": there are spaces around it. Remove them";
  } else if (kind == Kind::kInteger && ParseFloat(text, any) == NumberFault::kNone) {
    fault += fmt::format(": it is no integer. Declare \"{}\" as \"f32\"", field);
  } else if (text.find(',') != std::string_view::npos &&
             ParseFloat(with_point, any) == NumberFault::kNone) {
    fault += ": a number has a point, not a comma, before its decimals. Write the file so";
  } else if (text == "NA" || text == "N/A" || text == "nan" || text == "NaN" || text == "NULL" ||
             text == "null" || text == "None" || text == "?" || text == "-") {
    fault += fmt::format(
        ": if that stands for a missing value, set missing_values = [{}] and missing = 0 (or "
        "another value) for \"{}\"",
        ShowText(text), field);
  } else if (text == "inf" || text == "-inf" || text == "Infinity" || text == "-Infinity") {
    fault += ": only finite numbers are data";
  } else {
    fault += InferredHint();
  }
  return false;
}

std::string CellType::Expected() const {
  switch (kind) {
    case Kind::kText:
      return "text";
    case Kind::kPred:
      return "pred (true, false, 0 or 1)";
    case Kind::kClasses: {
      std::string names;
      for (size_t i = 0; i < classes.size() && i < 5; ++i) {
        names += fmt::format("{}{}", i == 0 ? "" : ", ", ShowText(classes[i], 30));
      }
      return fmt::format("one of the {} classes ({}{})", classes.size(), names,
                         classes.size() > 5 ? ", ..." : "");
    }
    case Kind::kInteger:
      if (bound > 0) return fmt::format("an integer in [0, {}) ({})", bound, ir::Name(dtype));
      return fmt::format("an integer ({})", ir::Name(dtype));
    case Kind::kF32:
    case Kind::kF64:
      return fmt::format("a number ({})", ir::Name(dtype));
  }
  return "";
}

std::string CellType::InferredHint() const {
  if (!inferred) return "";
  std::string_view wider = "text";
  if (kind == Kind::kInteger) wider = text_takes_numbers ? "f32\" or \"text" : "i64\" or \"f32";
  if (!text_takes_numbers && kind == Kind::kPred) wider = "i32\" or \"f32";
  if (!text_takes_numbers && kind == Kind::kF32) wider = "f64";
  return fmt::format(
      ". The type was inferred from the first records; declare it: columns = {{ \"{}\" = \"{}\", "
      "... }}",
      field, wider);
}

CellType MakeCellType(const ColumnSpec& spec, const Config& missing) {
  CellType type;
  type.field = spec.name;
  type.dtype = spec.text ? ir::DType::kU8 : spec.dtype;
  type.inferred = spec.inferred;
  type.bound = spec.bound;
  type.size = static_cast<int>(ir::ByteSize(type.dtype));
  if (spec.text) {
    type.kind = Kind::kText;
  } else if (spec.dtype == ir::DType::kPred) {
    type.kind = Kind::kPred;
    type.high = 1;
  } else if (spec.dtype == ir::DType::kF32) {
    type.kind = Kind::kF32;
  } else if (spec.dtype == ir::DType::kF64) {
    type.kind = Kind::kF64;
  } else {
    type.kind = Kind::kInteger;
    const int bits = 8 * type.size;
    const bool is_unsigned = ir::IsUnsigned(spec.dtype);
    type.low = is_unsigned ? 0 : std::numeric_limits<int64_t>::min() >> (64 - bits);
    type.high = bits == 64 ? std::numeric_limits<int64_t>::max()
                           : (int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
    const auto classes = static_cast<int64_t>(spec.classes.size());
    const int64_t bound = classes > 0 ? classes : spec.bound;
    if (bound - 1 > type.high) {
      throw spec.config.Complain(fmt::format("{} cannot hold the values below {}: use a wider type",
                                             ir::Name(spec.dtype), bound));
    }
    if (bound > 0) {
      type.bound = bound;
      type.low = 0;
      type.high = bound - 1;
    }
    if (classes > 0) {
      type.kind = Kind::kClasses;
      type.classes = spec.classes;
      for (int64_t i = 0; i < classes; ++i) {
        type.class_index.emplace(spec.classes[static_cast<size_t>(i)], i);
      }
    }
  }
  const bool own = !spec.missing.is_none();
  const Config& value = own ? spec.missing : missing;
  if (value.is_none()) return type;
  // A default for all columns is left aside where it makes no sense; one's own is an error.
  std::string fault;
  switch (type.kind) {
    case Kind::kText:
      if (value.is_string()) {
        type.missing_text = value.AsString();
        type.has_missing = true;
      } else {
        fault = "expected a text";
      }
      break;
    case Kind::kF32:
    case Kind::kF64:
      if (value.is_number()) {
        const double number = value.AsDouble();
        const auto narrow = static_cast<float>(number);
        if (type.kind == Kind::kF32) {
          std::memcpy(type.missing.data(), &narrow, sizeof(narrow));
        } else {
          std::memcpy(type.missing.data(), &number, sizeof(number));
        }
        type.has_missing = true;
      } else {
        fault = "expected a number";
      }
      break;
    case Kind::kClasses:
      if (value.is_string()) {
        type.has_missing = type.ParseClass(value.AsString(), type.missing.data(), fault);
        break;
      }
      [[fallthrough]];
    case Kind::kInteger:
      if (value.kind() == Config::Kind::kInt && type.Store(value.AsInt(), type.missing.data())) {
        type.has_missing = true;
      } else {
        fault = "expected " + type.Expected();
      }
      break;
    case Kind::kPred:
      if (value.kind() == Config::Kind::kBool) {
        type.missing[0] = static_cast<std::byte>(value.AsBool());
        type.has_missing = true;
      } else if (value.kind() == Config::Kind::kInt &&
                 type.Store(value.AsInt(), type.missing.data())) {
        type.has_missing = true;
      } else {
        fault = "expected true or false";
      }
      break;
  }
  if (!type.has_missing && own) {
    throw value.Complain(fmt::format("{}, found {}", fault, value.Describe()));
  }
  return type;
}

Field MakeField(const CellType& type, std::vector<int64_t> dims) {
  if (type.kind == Kind::kText) return TextField(type.field, std::move(dims));
  Field field;
  field.name = type.field;
  field.shape = ir::Shape(type.dtype, std::move(dims));
  if (type.kind == Kind::kInteger || type.kind == Kind::kClasses) field.bound = type.bound;
  return field;
}

void TypeGuess::Take(std::string_view text) {
  any_ = true;
  bool word;
  pred_ = pred_ && ParseWord(text, word);
  int64_t whole = 0;
  if (i64_) {
    i64_ = ParseInteger(text, whole) == NumberFault::kNone;
    i32_ = i32_ && i64_ && whole >= std::numeric_limits<int32_t>::min() &&
           whole <= std::numeric_limits<int32_t>::max();
  }
  float number;
  // Digits that no i64 holds are a name rather than an amount.
  if (f32_) {
    f32_ = ParseFloat(text, number) == NumberFault::kNone &&
           ParseInteger(text, whole) != NumberFault::kRange;
  }
}

void TypeGuess::Join(const TypeGuess& other) {
  any_ = any_ || other.any_;
  pred_ = pred_ && other.pred_;
  i32_ = i32_ && other.i32_;
  i64_ = i64_ && other.i64_;
  f32_ = f32_ && other.f32_;
}

void TypeGuess::Resolve(ColumnSpec& spec) const {
  spec.inferred = true;
  spec.text = false;
  if (any_ && pred_) {
    spec.dtype = ir::DType::kPred;
  } else if (any_ && i64_) {
    spec.dtype = i32_ ? ir::DType::kI32 : ir::DType::kI64;
  } else if (any_ && f32_) {
    spec.dtype = ir::DType::kF32;
  } else {
    spec.text = true;
  }
}

}  // namespace flatout::data
