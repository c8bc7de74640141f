// What a record is made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/ir/shape.h"

namespace flatout::data {

// A dimension that differs from record to record.
inline constexpr int64_t kAny = -1;

// One named tensor of a record.
struct Field {
  std::string name;
  ir::Shape shape;    // of one record; no batch dimension; dimensions may be kAny
  int64_t bound = 0;  // integer values lie in [0, bound): classes, vocabulary, rows; 0: not known
  bool text = false;  // the elements are byte strings; shape.dtype is kU8 and says nothing then

  // Whether every record takes the same shape.bytes() bytes: no text and no kAny.
  bool fixed() const;
  // "image u8[?,?,3]", "label i32[]", "name text[]".
  std::string ToString() const;
  bool operator==(const Field&) const = default;
};

// A field of byte strings; one string per record unless dims say otherwise.
Field TextField(std::string name, std::vector<int64_t> dims = {});

// "image u8[28,28,1], label i32[]".
std::string DescribeFields(const std::vector<Field>& fields);
// The index of the field called `name`. Throws UserError naming those there are, and the nearest.
size_t FindField(const std::vector<Field>& fields, std::string_view name);

}  // namespace flatout::data
