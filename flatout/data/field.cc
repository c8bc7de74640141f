#include "flatout/data/field.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "flatout/base/config.h"
#include "flatout/base/error.h"

namespace flatout::data {

bool Field::fixed() const {
  return !text && std::find(shape.dims.begin(), shape.dims.end(), kAny) == shape.dims.end();
}

std::string Field::ToString() const {
  std::string result = name + " " + (text ? "text" : std::string(ir::Name(shape.dtype))) + "[";
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (i > 0) result += ",";
    result += shape.dims[i] == kAny ? "?" : std::to_string(shape.dims[i]);
  }
  return result + "]";
}

Field TextField(std::string name, std::vector<int64_t> dims) {
  return Field{std::move(name), ir::Shape(ir::DType::kU8, std::move(dims)), 0, true};
}

std::string DescribeFields(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) text += (text.empty() ? "" : ", ") + field.ToString();
  return text;
}

size_t FindField(const std::vector<Field>& fields, std::string_view name) {
  std::vector<std::string> names;
  for (size_t f = 0; f < fields.size(); ++f) {
    if (fields[f].name == name) return f;
    names.push_back(fields[f].name);
  }
  throw Invalid("no field is called \"{}\"{}; there are {}", name, DidYouMean(name, names),
                DescribeFields(fields));
}

}  // namespace flatout::data
