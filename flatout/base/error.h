// flatout::Error: what every failure in Flatout is, and how its message is built.
//
// An error has a code (the set PJRT and absl use), a message, and context that is added on the way
// up ("layer conv2d_1", "examples/cnn.toml:12:3"). A user error (bad input, bad run file, no
// memory, lost peer) says what happened, where, what was expected, what was found and what to do.
// An internal error is a fault of Flatout's own and asks for a report.
#pragma once

#include <fmt/core.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flatout {

// Same numbers as absl::StatusCode and PJRT_Error_Code.
enum class Code {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
};

std::string_view CodeName(Code code);

// The process exit codes that scripts may rely on (design.md section 5).
enum ExitCode : int {
  kExitDone = 0,
  kExitUsage = 2,
  kExitBadData = 3,
  kExitOutOfMemory = 4,
  kExitPeerLost = 5,
  kExitPreempted = 6,
  kExitInternal = 70,
};

// The base of everything Flatout throws.
class Error : public std::exception {
 public:
  Error(Code code, std::string message);

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  // Outermost first: {"run cnn.toml", "layer conv2d_1"}.
  const std::vector<std::string>& context() const { return context_; }
  // "run cnn.toml: layer conv2d_1: message".
  const char* what() const noexcept override { return what_.c_str(); }

  // Puts one more piece of context in front. Used as
  //   catch (Error& e) { e.AddContext("layer " + name); throw; }
  // What stands in front already is not said twice.
  void AddContext(std::string context);

  // What the process should exit with when this error ends it. Bad data has its own code, so that a
  // scheduler can tell it from a wrong command line.
  int exit_code() const { return exit_code_; }
  Error& set_exit_code(int code) {
    exit_code_ = code;
    return *this;
  }

 private:
  void Rebuild();

  Code code_;
  int exit_code_;
  std::string message_;
  std::vector<std::string> context_;
  std::string what_;
};

// Something the user can mend: input, run file, options, the machine.
class UserError : public Error {
 public:
  using Error::Error;
};

// Training data that cannot be read or makes no sense; exit code 3.
class DataError : public UserError {
 public:
  explicit DataError(std::string message);
};

// A fault of Flatout's own. The message asks the user to report it.
class InternalError : public Error {
 public:
  explicit InternalError(std::string message);
};

// throw Invalid("units must be positive, found {}", units);
template <typename... Args>
UserError Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return UserError(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
UserError NotFound(fmt::format_string<Args...> format, Args&&... args) {
  return UserError(Code::kNotFound, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
DataError BadData(fmt::format_string<Args...> format, Args&&... args) {
  return DataError(fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
InternalError Internal(fmt::format_string<Args...> format, Args&&... args) {
  return InternalError(fmt::format(format, std::forward<Args>(args)...));
}

// Runs `body` and adds `context` to any Error that leaves it.
template <typename Body>
decltype(auto) WithContext(std::string_view context, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& error) {
    error.AddContext(std::string(context));
    throw;
  }
}

}  // namespace flatout
