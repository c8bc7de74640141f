// Filter expressions of run files: parsed, bound to fields and asked.
#include <limits>
#include <vector>

#include "flatout/data/filter_expression.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

using data::Block;
using data::Field;

namespace {

const std::vector<Field>& Fields() {
  static const std::vector<Field> fields = {Field{"label", ir::Shape{ir::DType::kI32, {}}},
                                            Field{"x", ir::Shape{ir::DType::kF32, {}}},
                                            Field{"a", ir::Shape{ir::DType::kU8, {}}},
                                            Field{"b", ir::Shape{ir::DType::kI64, {}}},
                                            Field{"y", ir::Shape{ir::DType::kF64, {}}},
                                            Field{"age", ir::Shape{ir::DType::kF32, {data::kAny}}},
                                            data::TextField("name"),
                                            data::TextField("words", {data::kAny})};
  return fields;
}

const Block& Rows() {
  static const Block block = [] {
    Block rows;
    rows.Reset(Fields(), 3);
    for (int64_t row = 0; row < 3; ++row) {
      const std::vector<float> ages(static_cast<size_t>(row), 7.5F);
      *rows.as<int32_t>(0, row) = static_cast<int32_t>(row * 5 - 3);
      *rows.as<float>(1, row) = row == 2 ? std::numeric_limits<float>::quiet_NaN() : -1.5F;
      *rows.as<uint8_t>(2, row) = 255;
      *rows.as<int64_t>(3, row) = std::numeric_limits<int64_t>::min() + row;
      *rows.as<double>(4, row) = 1e300;
      const int64_t count[] = {row};
      std::byte* cell = rows.SetCell(5, row, count);
      for (int64_t i = 0; i < row; ++i) reinterpret_cast<float*>(cell)[i] = 7.5F;
      rows.SetText(6, row, row == 0 ? "" : "x");
      const std::vector<std::string_view> words(static_cast<size_t>(row), "word");
      rows.SetTexts(7, row, count, words);
    }
    return rows;
  }();
  return block;
}

}  // namespace

FUZZ_TARGET(bytes) {
  Accepts([&] {
    const data::FilterExpression expression = data::FilterExpression::Parse(Text(bytes));
    (void)expression.FieldNames();
    Accepts([&] {
      const auto keep = expression.Bind(Fields());
      for (int64_t row = 0; row < 3; ++row) FUZZ_CHECK(keep(Rows(), row) == keep(Rows(), row));
    });
  });
}

}  // namespace flatout::fuzz
