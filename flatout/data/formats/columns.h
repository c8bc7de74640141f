// Typed columns of tables: how a run file declares them, and how the text of a cell becomes a
// value. CSV and JSON lines share this.
//
//   columns = ["age", "income"]                       these, their types inferred
//   [data.columns]                                    or a table: field = type
//   age = "f32"
//   label = { dtype = "i32", bound = 2, missing = 0 }
//   species = { classes = ["cat", "dog"] }            their numbers, i32
//   name = "text"
//   "I*" = { dtype = "f32", missing = 0.0 }           a field for each column that matches
//   dense = { from = ["x1", "x2", "y*"] }             several columns in one field, f32[n]
//   image = { from = "pixel0..pixel783", dtype = "u8", shape = [28, 28, 1] }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/field.h"
#include "flatout/ir/shape.h"

namespace flatout::data {

// One entry of `columns`.
struct ColumnSpec {
  std::string name;               // of the field; a pattern when `from` is empty and it is one
  std::vector<std::string> from;  // names or patterns of columns; empty: the column `name`
  bool packed = false;            // `from` was a list or a pattern: the field has a dimension
  bool inferred = true;           // no type was said
  bool text = false;
  ir::DType dtype = ir::DType::kF32;
  int64_t bound = 0;
  Config missing;                             // kNone: a missing value is an error
  std::vector<std::string> classes;           // labels by name
  std::optional<std::vector<int64_t>> shape;  // of the whole field; kAny for "?" or -1
  Config config;                              // where it was written
};
// From the value of the key `columns`: a list of names or a table. Throws UserError at the place.
std::vector<ColumnSpec> ReadColumns(const Config& value);

// Whether the text names several columns: it has *, ?, [ or a range, "I1..I13".
bool IsPattern(std::string_view text);
// "I1..I3" is I1, I2, I3; "p08..p10" is p08, p09, p10; other texts stay as they are.
std::vector<std::string> ExpandRange(const std::string& text);
// The columns that a name or pattern means, as indices into `names`, in the order of the file (of
// the range, for one); empty when there is none. A column with exactly that name comes first.
std::vector<size_t> MatchColumns(const std::string& pattern, const std::vector<std::string>& names);

// How cells of one field are read.
struct CellType {
  enum class Kind : uint8_t { kF32, kF64, kInteger, kPred, kText, kClasses };
  Kind kind = Kind::kF32;
  ir::DType dtype = ir::DType::kF32;
  int64_t low = 0, high = 0;  // of integers; high is INT64_MAX for u64 without a bound
  int64_t bound = 0;          // as declared
  int size = 4;               // bytes of an element
  bool inferred = false;
  bool text_takes_numbers = true;  // a column declared as text may hold numbers; not in JSON
  bool has_missing = false;
  std::array<std::byte, 8> missing{};
  std::string missing_text;  // for kText
  std::string field;
  std::vector<std::string> classes;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> class_index;

  // Writes an integer that must lie in [low, high]; false if it does not.
  bool Store(int64_t value, std::byte* out) const {
    if (value < low || value > high) return false;
    switch (size) {
      case 1: {
        const auto narrow = static_cast<uint8_t>(value);
        __builtin_memcpy(out, &narrow, 1);
        return true;
      }
      case 2: {
        const auto narrow = static_cast<uint16_t>(value);
        __builtin_memcpy(out, &narrow, 2);
        return true;
      }
      case 4: {
        const auto narrow = static_cast<uint32_t>(value);
        __builtin_memcpy(out, &narrow, 4);
        return true;
      }
      default:
        __builtin_memcpy(out, &value, 8);
        return true;
    }
  }
  // Any text that is not missing, for all kinds but kText. False: `fault` says what was expected
  // and found, and what to do.
  bool Parse(std::string_view text, std::byte* out, std::string& fault) const;
  bool ParseClass(std::string_view text, std::byte* out, std::string& fault) const;
  // The value of a missing cell; false when none was declared.
  bool StoreMissing(std::byte* out) const {
    if (has_missing) __builtin_memcpy(out, missing.data(), static_cast<size_t>(size));
    return has_missing;
  }
  // "i32 in [0, 5)", "f32", "pred (true or false)", "one of the 3 classes".
  std::string Expected() const;
  // What a message adds when the type was inferred.
  std::string InferredHint() const;
};
// Of a spec whose type is known. `missing`: for columns that declare none themselves; kNone: none.
// Throws UserError at the place of a `missing` that does not suit.
CellType MakeCellType(const ColumnSpec& spec, const Config& missing);
// The field of that type with these dimensions; bound is that of the type.
Field MakeField(const CellType& type, std::vector<int64_t> dims);

// The type of a column from a sample of its values: pred (true, false), i32, i64, f32 or text.
class TypeGuess {
 public:
  void Take(std::string_view text);
  // Sets the type, which then holds for all that was taken; text where nothing was.
  void Resolve(ColumnSpec& spec) const;
  // As if what `other` took had been taken here.
  void Join(const TypeGuess& other);

 private:
  bool any_ = false;
  bool pred_ = true, i32_ = true, i64_ = true, f32_ = true;
};

}  // namespace flatout::data
