// The key `filter` of [data]: which records to keep.
//
//   label < 5 and not (width < 32 or height < 32)
//   split == "train" and lang in ["en", "de"]
//   0 <= age < 120 and income is not missing
//   length(tokens) >= 16
//
// Grammar:
//   either     = both { "or" both }
//   both       = negation { "and" negation }
//   negation   = "not" negation | "(" either ")" | test
//   test       = operand { ("==" | "!=" | "<" | "<=" | ">" | ">=") operand }
//              | operand [ "not" ] "in" "[" literal { "," literal } "]"
//              | operand "is" [ "not" ] "missing"
//   operand    = field | "length" "(" field ")" | literal
//   literal    = number | "text" | 'text' | "true" | "false" | "missing" (beside == and != only)
//   field      = a name, which may hold . / : and - inside; any other name in `backquotes`
//
// a < b < c is a < b and b < c. A field alone is true where it is not 0. Text compares by bytes; in
// it \" \' \\ \n and \t stand for themselves. length is the number of bytes of a text, of elements
// of any other field. Missing are NaN and the empty text. Whole numbers compare exactly, others as
// float64; a comparison with NaN is false, except !=.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/data/block.h"
#include "flatout/data/field.h"

namespace flatout::data {

class FilterExpression {
 public:
  // Throws UserError: "column 9: expected ..., found ...".
  static FilterExpression Parse(std::string_view text);

  // Whether a row of a block of these fields is to be kept; may be called from several threads.
  // Throws UserError with the column of a name that no field has (with the nearest), of a field
  // that is neither a number nor a text, and of what cannot be compared.
  using Predicate = std::function<bool(const Block& block, int64_t row)>;
  Predicate Bind(const std::vector<Field>& fields) const;

  // The fields that it names, each once.
  std::vector<std::string> FieldNames() const;

 private:
  struct Node;
  class Parser;
  class Binder;
  std::shared_ptr<const Node> root_;
};

}  // namespace flatout::data
