// Errors of a plugin in the user's terms.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "flatout/base/error.h"

namespace flatout::xla {

// What a plugin said.
struct PluginError {
  Code code = Code::kUnknown;
  std::string message;
};

// The flatout::Error for it:
//   no memory           UserError RESOURCE_EXHAUSTED, exit code 4, with what to do
//   unreadable program  InternalError with line, column and the text of that line of `program`
//   donated argument, wrong option, no GPU, other version: UserError with the plugin's code
//   all else            Error with the plugin's code
// `doing` is what was going on ("compiling the program"). The plugin's own words are kept at the
// end of the message, without their advice on StableHLO versions unless the version is the matter.
std::exception_ptr Translate(const PluginError& error, std::string_view doing,
                             std::string_view program = {});

}  // namespace flatout::xla
