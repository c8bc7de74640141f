#include "flatout/data/transforms/field_transform.h"

#include <algorithm>

namespace flatout::data {

FieldKeys ReadFieldKeys(FieldReader& reader) {
  FieldKeys keys;
  keys.Visit(reader);
  CheckKey(reader, "field", !keys.fields.empty(), "the name of a field, or several");
  CheckKey(reader, "output", keys.output.empty() || keys.fields.size() == 1,
           "one field where the result has a name of its own");
  return keys;
}

std::vector<Field> FieldTransform::Fields(const std::vector<Field>& in) const {
  std::vector<Field> result = in;
  for (const std::string& name : keys_.fields) {
    const size_t f = WithContext(name_, [&] { return FindField(in, name); });
    Field field = WithContext(name_ + ": field " + in[f].ToString(), [&] { return Result(in[f]); });
    const bool in_place = keys_.output.empty() || keys_.output == name;
    field.name = in_place ? name : keys_.output;
    if (in_place) {
      result[f] = std::move(field);
      continue;
    }
    for (const Field& other : in) {
      if (other.name == keys_.output) {
        throw Invalid("{}: output = \"{}\": there is a field of that name already", name_,
                      keys_.output);
      }
    }
    result.push_back(std::move(field));
  }
  return result;
}

void FieldTransform::Apply(const Block& in, Block& out, std::span<const uint64_t>) const {
  const bool in_place = keys_.output.empty() || keys_.output == keys_.fields.front();
  std::vector<uint8_t> changed(in.fields().size(), 0);
  for (const std::string& name : keys_.fields) {
    const size_t f = FindField(in.fields(), name);
    if (in_place) changed[f] = 1;
    Column(in, f, out, in_place ? f : in.fields().size());
  }
  for (size_t f = 0; f < changed.size(); ++f) {
    if (changed[f] == 0) out.ShareColumn(f, in, f);
  }
}

void NeedNumbers(const Field& field) {
  if (field.text) {
    throw Invalid(
        "expected numbers, found text. Use cast to parse it, lookup or hash to number it");
  }
}
void NeedIntegers(const Field& field) {
  NeedNumbers(field);
  if (ir::IsFloat(field.shape.dtype)) {
    throw Invalid("expected integers, found {}. Use cast first", ir::Name(field.shape.dtype));
  }
}
void NeedText(const Field& field) {
  if (!field.text) throw Invalid("expected text, found numbers");
}

std::string Shown(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string shown(text.substr(0, kMost));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  if (text.size() > kMost) shown += "...";
  return "\"" + shown + "\"";
}

void CheckKey(FieldReader& reader, std::string_view key, bool right, std::string_view expected) {
  const Config* value = reader.Take(key);
  if (right) return;
  if (value == nullptr) throw Invalid("{}: expected {}", key, expected);
  throw value->Complain(fmt::format("expected {}, found {}", expected, value->Describe()));
}

}  // namespace flatout::data
