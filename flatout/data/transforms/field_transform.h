// What transforms of tables and text share: one field (or several, each by itself) becomes another.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/data/elements.h"
#include "flatout/data/transform.h"

namespace flatout::data {

// The keys of such transforms:
//   field = "age"             or a list of fields
//   output = "age_bucket"     a new field for the result; by default it takes the field's place
struct FieldKeys {
  std::vector<std::string> fields;
  std::string output;

  template <class V>
  void Visit(V& v) {
    v.Required("field", fields);
    v("output", output);
  }
};
// Reads the keys; throws UserError at their place.
FieldKeys ReadFieldKeys(FieldReader& reader);

class FieldTransform : public Transform {
 public:
  FieldTransform(std::string name, FieldKeys keys)
      : name_(std::move(name)), keys_(std::move(keys)) {}

  const std::string& name() const override { return name_; }
  std::vector<Field> Fields(const std::vector<Field>& in) const override;
  void Apply(const Block& in, Block& out, std::span<const uint64_t> keys) const override;

 protected:
  // The field that `in` becomes; its name does not count. Throws UserError, to which name and field
  // are added, where it does not suit.
  virtual Field Result(const Field& in) const = 0;
  // Fills column g of `out` from column f of `in`; rows that are bad in `in` are to be left alone.
  virtual void Column(const Block& in, size_t f, Block& out, size_t g) const = 0;
  // `error` with the transform's and the field's name, for Block::Bad.
  DataError Bad(const Field& field, const std::string& message) const {
    return BadData("{}: field {}: {}", name_, field.name, message);
  }

 private:
  std::string name_;
  FieldKeys keys_;
};

// Throws UserError unless the elements are numbers (or booleans).
void NeedNumbers(const Field& field);
// Throws UserError unless the elements are integers (or booleans).
void NeedIntegers(const Field& field);
void NeedText(const Field& field);

// The elements of a row of numbers.
struct Elements {
  const std::byte* data;
  int64_t count;
  std::span<const int64_t> dims;
};
inline Elements ElementsOf(const Block& block, size_t f, int64_t row) {
  const Field& field = block.fields()[f];
  if (field.fixed()) return {block.data(f, row), field.shape.size(), field.shape.dims};
  const std::span<const int64_t> dims = block.dims(f, row);
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return {block.cell(f, row).data, count, dims};
}
// Room for a row of numbers of these dimensions.
inline std::byte* PlaceFor(Block& block, size_t f, int64_t row, std::span<const int64_t> dims) {
  return block.fields()[f].fixed() ? block.data(f, row) : block.SetCell(f, row, dims);
}

// Calls body(from, count, to) on runs of elements of a column of numbers that becomes another of
// the same dimensions: all rows at once where both are fixed, else row by row without the bad ones.
template <typename Body>
void ForRuns(const Block& in, size_t f, Block& out, size_t g, Body body) {
  if (in.rows() == 0) return;
  if (in.fields()[f].fixed() && out.fields()[g].fixed()) {
    body(in.data(f), in.rows() * in.fields()[f].shape.size(), out.data(g));
    return;
  }
  for (int64_t row = 0; row < in.rows(); ++row) {
    if (in.bad(row)) continue;
    const Elements from = ElementsOf(in, f, row);
    body(from.data, from.count, PlaceFor(out, g, row, from.dims));
  }
}

// The strings of a row of a text field of any rank.
inline std::span<const std::string_view> StringsOf(const Block& block, size_t f, int64_t row,
                                                   std::string_view& single) {
  if (block.fields()[f].shape.rank() > 0) return block.texts(f, row);
  single = block.text(f, row);
  return {&single, 1};
}

// A string for messages: without control characters, shortened.
std::string Shown(std::string_view text);
// Throws UserError at the key's place unless `right`.
void CheckKey(FieldReader& reader, std::string_view key, bool right, std::string_view expected);

}  // namespace flatout::data
