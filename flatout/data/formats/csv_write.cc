#include "flatout/data/formats/csv_write.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "flatout/base/error.h"
#include "flatout/ir/graph.h"

namespace flatout::data {
namespace {

void AppendText(std::string_view text, std::string& line) {
  // A text that is empty needs its quotes: without them it would be a missing value.
  if (!text.empty() && text.find_first_of("\",\r\n#") == std::string_view::npos &&
      text.front() != ' ' && text.back() != ' ') {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

template <typename T>
void AppendNumber(T value, std::string& line) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  line.append(digits, end);
}

template <typename T>
T Load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

void AppendElement(ir::DType dtype, const std::byte* data, std::string& line) {
  switch (dtype) {
    case ir::DType::kF32:
      return AppendNumber(Load<float>(data), line);
    case ir::DType::kF64:
      return AppendNumber(Load<double>(data), line);
    case ir::DType::kF16:
    case ir::DType::kBF16:
      return AppendNumber(static_cast<float>(ir::LoadElement(dtype, data)), line);
    case ir::DType::kI64:
      return AppendNumber(Load<int64_t>(data), line);
    case ir::DType::kU64:
      return AppendNumber(Load<uint64_t>(data), line);
    case ir::DType::kPred:
      line += Load<uint8_t>(data) != 0 ? "true" : "false";
      return;
    default:
      return AppendNumber(static_cast<int64_t>(ir::LoadElement(dtype, data)), line);
  }
}

// The source takes nothing but finite numbers: nan and inf in text are mostly faults.
void CheckFinite(const Field& field, const std::byte* data) {
  const double value = ir::LoadElement(field.shape.dtype, data);
  if (std::isfinite(value)) return;
  throw Invalid(
      "field {} holds {}, which cannot be written as CSV: the source \"csv\" reads finite numbers "
      "only. Write TFRecord (--format tfrecord), or leave such records out (filter)",
      field.ToString(), value);
}

void CheckField(const Field& field) {
  if (field.fixed() || (field.text && field.shape.dims.empty())) return;
  throw Invalid(
      "field {} cannot be written as CSV: a column holds one number or one text. Bring it to one "
      "size first (pad_or_truncate), leave it out (drop), or write TFRecord",
      field.ToString());
}

}  // namespace

std::string CsvHeader(const std::vector<Field>& fields) {
  std::string line;
  for (const Field& field : fields) {
    CheckField(field);
    if (field.shape.dims.empty()) {
      if (!line.empty()) line += ',';
      AppendText(field.name, line);
      continue;
    }
    for (int64_t i = 0; i < field.shape.size(); ++i) {
      if (!line.empty()) line += ',';
      AppendText(field.name + std::to_string(i), line);
    }
  }
  return line + "\n";
}

void AppendCsvRow(const Block& block, int64_t row, std::string& text) {
  const std::vector<Field>& fields = block.fields();
  for (size_t f = 0; f < fields.size(); ++f) {
    if (f > 0) text += ',';
    if (fields[f].text) {
      AppendText(block.text(f, row), text);
      continue;
    }
    const ir::Shape& shape = fields[f].shape;
    const int64_t element = ir::ByteSize(shape.dtype);
    for (int64_t i = 0; i < shape.size(); ++i) {
      if (i > 0) text += ',';
      const std::byte* data = block.data(f, row) + i * element;
      if (ir::IsFloat(shape.dtype)) CheckFinite(fields[f], data);
      AppendElement(shape.dtype, data, text);
    }
  }
  text += '\n';
}

Config CsvColumnsFor(const std::vector<Field>& fields) {
  Config columns = Config::Table();
  for (const Field& field : fields) {
    CheckField(field);
    if (field.text) {
      columns.Set(field.name, Config(std::string("text")));
      continue;
    }
    Config column = Config::Table();
    const ir::Shape& shape = field.shape;
    if (!shape.dims.empty()) {
      column.Set("from", Config(fmt::format("{0}0..{0}{1}", field.name, shape.size() - 1)));
    }
    column.Set("dtype", Config(std::string(ir::Name(shape.dtype))));
    if (shape.dims.size() > 1) {
      std::vector<Config> dims;
      for (const int64_t dim : shape.dims) dims.emplace_back(dim);
      column.Set("shape", Config::Array(std::move(dims)));
    }
    if (field.bound > 0 && ir::IsInteger(shape.dtype)) column.Set("bound", Config(field.bound));
    columns.Set(field.name, std::move(column));
  }
  return columns;
}

}  // namespace flatout::data
