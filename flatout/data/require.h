// Checks of the keys of [data].
#pragma once

#include <string_view>

#include "flatout/base/config.h"

namespace flatout::data {

// Throws UserError at the value's place unless it is right: "expected {rule}, found {value}".
// nullptr is a key that was not given: its default is right.
inline void Require(const Config* value, bool right, std::string_view rule) {
  if (value != nullptr && !right) {
    throw value->Complain(fmt::format("expected {}, found {}", rule, value->Describe()));
  }
}

}  // namespace flatout::data
